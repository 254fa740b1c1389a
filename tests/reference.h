/* The reference: what gpuscan.h documents, written again as plain loops on the host. It shares only enums and descs
   with the library.

   A value of any builtin type is held in 64 bits: integers sign- or zero-extended, floats as a double that holds an
   f16 or f32 exactly. The sum or product of two f32 is the same rounded from double as rounded once. */
#ifndef TEST_REFERENCE_H
#define TEST_REFERENCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../gpuscan.h"

/* ---- types ------------------------------------------------------------------------------------------------------- */

typedef union ref_value {
    uint64_t bits;
    double   real;
} ref_value;

static inline ref_value ref_bits(uint64_t bits) {
    ref_value v;
    v.bits = bits;
    return v;
}

static inline ref_value ref_real(double real) {
    ref_value v;
    v.real = real;
    return v;
}

/* Switches over the library's enums have no default: a new type or operator does not compile (-Wswitch) until it is
   here, too. Any other value ends the program. */

enum { REF_UNSIGNED = 1, REF_SIGNED = 2, REF_FLOAT = 4, REF_NUMBERS = 7 };

/* Returns one of these; 0: no number. */
static inline unsigned ref_kind(gpuscan_type type) {
    switch (type) {
    case GPUSCAN_TYPE_U8:
    case GPUSCAN_TYPE_U16:
    case GPUSCAN_TYPE_U32:
    case GPUSCAN_TYPE_U64:
        return REF_UNSIGNED;
    case GPUSCAN_TYPE_I8:
    case GPUSCAN_TYPE_I16:
    case GPUSCAN_TYPE_I32:
    case GPUSCAN_TYPE_I64:
        return REF_SIGNED;
    case GPUSCAN_TYPE_F16:
    case GPUSCAN_TYPE_F32:
    case GPUSCAN_TYPE_F64:
        return REF_FLOAT;
    case GPUSCAN_TYPE_DEFAULT:
    case GPUSCAN_TYPE_CUSTOM:
    case GPUSCAN_TYPE_COUNT:
        break;
    }
    return 0;
}

static inline int ref_is_float(gpuscan_type type) {
    return ref_kind(type) == REF_FLOAT;
}

static inline int ref_is_signed(gpuscan_type type) {
    return ref_kind(type) == REF_SIGNED;
}

static inline size_t ref_size(gpuscan_type type) {
    switch (type) {
    case GPUSCAN_TYPE_I8:
    case GPUSCAN_TYPE_U8:
        return 1;
    case GPUSCAN_TYPE_I16:
    case GPUSCAN_TYPE_U16:
    case GPUSCAN_TYPE_F16:
        return 2;
    case GPUSCAN_TYPE_DEFAULT: /* u32 in most cases */
    case GPUSCAN_TYPE_I32:
    case GPUSCAN_TYPE_U32:
    case GPUSCAN_TYPE_F32:
        return 4;
    case GPUSCAN_TYPE_I64:
    case GPUSCAN_TYPE_U64:
    case GPUSCAN_TYPE_F64:
        return 8;
    case GPUSCAN_TYPE_CUSTOM:
    case GPUSCAN_TYPE_COUNT:
        break;
    }
    abort();
}

static inline float ref_half_to_float(uint16_t half) {
    int    exponent = (half >> 10) & 31, mantissa = half & 1023;
    double value;
    if (exponent == 31)
        value = mantissa ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(mantissa, -24);
    else
        value = ldexp(1024 + mantissa, exponent - 25);
    return (float)(half & 0x8000 ? -value : value);
}

/* Rounds to the nearest f16, ties to even. */
static inline uint16_t ref_float_to_half(float value) {
    unsigned sign = signbit(value) ? 0x8000u : 0;
    double   magnitude = fabs((double)value), steps, whole;
    int      exponent;
    if (isnan(value))
        return 0x7E00;
    if (magnitude >= 65520.0) /* half a step above the largest rounds to infinity */
        return (uint16_t)(sign | 0x7C00u);
    if (magnitude == 0.0)
        return (uint16_t)sign;
    exponent = ilogb(magnitude); /* steps are 2^(exponent - 10), below the normal range 2^-24 */
    if (exponent < -14)
        exponent = -14;
    steps = ldexp(magnitude, 10 - exponent);
    whole = floor(steps);
    if (steps - whole > 0.5 || (steps - whole == 0.5 && fmod(whole, 2.0) == 1.0))
        whole += 1.0;
    /* normal numbers have 1024 to 2048 steps; 2048 rightly carries into the exponent */
    return (uint16_t)(sign | (unsigned)((exponent + 14) * 1024 + (int)whole));
}

/* Cuts bits to an integer type and extends them to 64. */
static inline ref_value ref_wrap(gpuscan_type type, uint64_t bits) {
    unsigned width = (unsigned)(8 * ref_size(type));
    if (width < 64) {
        bits &= (UINT64_C(1) << width) - 1;
        if (ref_is_signed(type) && (bits >> (width - 1)) != 0)
            bits |= ~UINT64_C(0) << width;
    }
    return ref_bits(bits);
}

static inline ref_value ref_load(gpuscan_type type, const void *data, uint64_t index) {
    const unsigned char *at = (const unsigned char *)data + (size_t)index * ref_size(type);
    uint8_t              b1;
    uint16_t             b2;
    uint32_t             b4;
    uint64_t             b8;
    float                f;
    double               d;
    switch (type) {
    case GPUSCAN_TYPE_F64:
        memcpy(&d, at, 8);
        return ref_real(d);
    case GPUSCAN_TYPE_F32:
        memcpy(&f, at, 4);
        return ref_real((double)f);
    case GPUSCAN_TYPE_F16:
        memcpy(&b2, at, 2);
        return ref_real((double)ref_half_to_float(b2));
    case GPUSCAN_TYPE_I8:
    case GPUSCAN_TYPE_U8:
        memcpy(&b1, at, 1);
        return ref_wrap(type, b1);
    case GPUSCAN_TYPE_I16:
    case GPUSCAN_TYPE_U16:
        memcpy(&b2, at, 2);
        return ref_wrap(type, b2);
    case GPUSCAN_TYPE_DEFAULT:
    case GPUSCAN_TYPE_I32:
    case GPUSCAN_TYPE_U32:
        memcpy(&b4, at, 4);
        return ref_wrap(type, b4);
    case GPUSCAN_TYPE_I64:
    case GPUSCAN_TYPE_U64:
        memcpy(&b8, at, 8);
        return ref_bits(b8);
    case GPUSCAN_TYPE_CUSTOM:
    case GPUSCAN_TYPE_COUNT:
        break;
    }
    abort();
}

static inline void ref_store(gpuscan_type type, void *data, uint64_t index, ref_value v) {
    unsigned char *at = (unsigned char *)data + (size_t)index * ref_size(type);
    uint8_t        b1 = (uint8_t)(v.bits & 0xFF);
    uint16_t       b2 = (uint16_t)(v.bits & 0xFFFF);
    uint32_t       b4 = (uint32_t)(v.bits & 0xFFFFFFFF);
    float          f;
    switch (type) {
    case GPUSCAN_TYPE_F64:
        memcpy(at, &v.real, 8);
        return;
    case GPUSCAN_TYPE_F32:
        f = (float)v.real;
        memcpy(at, &f, 4);
        return;
    case GPUSCAN_TYPE_F16:
        b2 = ref_float_to_half((float)v.real);
        memcpy(at, &b2, 2);
        return;
    case GPUSCAN_TYPE_I8:
    case GPUSCAN_TYPE_U8:
        memcpy(at, &b1, 1);
        return;
    case GPUSCAN_TYPE_I16:
    case GPUSCAN_TYPE_U16:
        memcpy(at, &b2, 2);
        return;
    case GPUSCAN_TYPE_DEFAULT:
    case GPUSCAN_TYPE_I32:
    case GPUSCAN_TYPE_U32:
        memcpy(at, &b4, 4);
        return;
    case GPUSCAN_TYPE_I64:
    case GPUSCAN_TYPE_U64:
        memcpy(at, &v.bits, 8);
        return;
    case GPUSCAN_TYPE_CUSTOM:
    case GPUSCAN_TYPE_COUNT:
        break;
    }
    abort();
}

/* Converts as C does. A float that the integer type cannot hold has no result. */
static inline ref_value ref_convert(gpuscan_type to, gpuscan_type from, ref_value v) {
    if (to == GPUSCAN_TYPE_F64 && !ref_is_float(from))
        return ref_real(ref_is_signed(from) ? (double)(int64_t)v.bits : (double)v.bits);
    if (to == GPUSCAN_TYPE_F64)
        return v;
    if (ref_is_float(to) && !ref_is_float(from)) /* straight to f32: through f64 it would round twice */
        return ref_real((double)(ref_is_signed(from) ? (float)(int64_t)v.bits : (float)v.bits));
    if (ref_is_float(to))
        return ref_real((double)(float)v.real);
    if (ref_is_float(from))
        return ref_wrap(to, v.real < 0 ? (uint64_t)(int64_t)v.real : (uint64_t)v.real);
    return ref_wrap(to, v.bits);
}

/* ---- operators --------------------------------------------------------------------------------------------------- */

enum { REF_ARITHMETIC = 1, REF_EXTREME = 2, REF_BITS = 4, REF_BUILTIN = 7, REF_ARG = 8, REF_CUSTOM = 16 };

/* Returns one of these; REF_BUILTIN is the sum of those that combine two elements. */
static inline unsigned ref_op_kind(gpuscan_op op) {
    switch (op) {
    case GPUSCAN_OP_ADD:
    case GPUSCAN_OP_MUL:
        return REF_ARITHMETIC;
    case GPUSCAN_OP_MIN:
    case GPUSCAN_OP_MAX:
        return REF_EXTREME;
    case GPUSCAN_OP_AND:
    case GPUSCAN_OP_OR:
    case GPUSCAN_OP_XOR:
        return REF_BITS;
    case GPUSCAN_OP_ARGMIN:
    case GPUSCAN_OP_ARGMAX:
        return REF_ARG;
    case GPUSCAN_OP_CUSTOM:
        return REF_CUSTOM;
    case GPUSCAN_OP_COUNT:
        break;
    }
    return 0;
}

static inline int ref_is_arg(gpuscan_op op) {
    return ref_op_kind(op) == REF_ARG;
}

static inline ref_value ref_smallest(gpuscan_type type) {
    if (ref_is_float(type))
        return ref_real(-(double)INFINITY);
    return ref_is_signed(type) ? ref_wrap(type, UINT64_C(1) << (8 * ref_size(type) - 1)) : ref_bits(0);
}

static inline ref_value ref_largest(gpuscan_type type) {
    if (ref_is_float(type))
        return ref_real((double)INFINITY);
    return ref_bits(~UINT64_C(0) >> (64 - 8 * ref_size(type) + (ref_is_signed(type) ? 1 : 0)));
}

static inline ref_value ref_identity(gpuscan_type type, gpuscan_op op) {
    switch (op) {
    case GPUSCAN_OP_MIN:
        return ref_largest(type);
    case GPUSCAN_OP_MAX:
        return ref_smallest(type);
    case GPUSCAN_OP_MUL:
        return ref_is_float(type) ? ref_real(1.0) : ref_bits(1);
    case GPUSCAN_OP_AND:
        return ref_wrap(type, ~UINT64_C(0));
    case GPUSCAN_OP_ADD:
        return ref_is_float(type) ? ref_real(0.0) : ref_bits(0);
    case GPUSCAN_OP_OR:
    case GPUSCAN_OP_XOR:
        return ref_bits(0);
    case GPUSCAN_OP_CUSTOM:
    case GPUSCAN_OP_ARGMIN:
    case GPUSCAN_OP_ARGMAX:
    case GPUSCAN_OP_COUNT:
        break;
    }
    abort();
}

static inline int ref_less(gpuscan_type type, ref_value a, ref_value b) {
    if (ref_is_float(type))
        return a.real < b.real;
    return ref_is_signed(type) ? (int64_t)a.bits < (int64_t)b.bits : a.bits < b.bits;
}

/* Rounds to the nearest f32 or f64. */
static inline ref_value ref_round(gpuscan_type type, double real) {
    return ref_real(type == GPUSCAN_TYPE_F64 ? real : (double)(float)real);
}

static inline ref_value ref_combine(gpuscan_type type, gpuscan_op op, ref_value a, ref_value b) {
    if (ref_op_kind(op) == REF_EXTREME && ref_is_float(type) && isnan(a.real))
        return b;
    if (ref_op_kind(op) == REF_EXTREME && ref_is_float(type) && isnan(b.real))
        return a;
    switch (op) {
    case GPUSCAN_OP_ADD:
        return ref_is_float(type) ? ref_round(type, a.real + b.real) : ref_wrap(type, a.bits + b.bits);
    case GPUSCAN_OP_MUL:
        return ref_is_float(type) ? ref_round(type, a.real * b.real) : ref_wrap(type, a.bits * b.bits);
    case GPUSCAN_OP_MIN:
        return ref_less(type, b, a) ? b : a;
    case GPUSCAN_OP_MAX:
        return ref_less(type, a, b) ? b : a;
    case GPUSCAN_OP_AND:
        return ref_bits(a.bits & b.bits);
    case GPUSCAN_OP_OR:
        return ref_bits(a.bits | b.bits);
    case GPUSCAN_OP_XOR:
        return ref_bits(a.bits ^ b.bits);
    case GPUSCAN_OP_CUSTOM:
    case GPUSCAN_OP_ARGMIN:
    case GPUSCAN_OP_ARGMAX:
    case GPUSCAN_OP_COUNT:
        break;
    }
    abort();
}

/* ---- scan, uniform add, reduce ----------------------------------------------------------------------------------- */

/* Returns init, or if it is NULL the operator's start. MIN and MAX of floats ignore an init that is NaN. */
static inline ref_value ref_start(gpuscan_type type, gpuscan_op op, const ref_value *init) {
    if (!init || (ref_op_kind(op) == REF_EXTREME && ref_is_float(type) && isnan(init->real)))
        return ref_identity(type, op);
    return *init;
}

/* Reverses the order of `count` elements of `size` bytes. */
static inline void ref_reverse(void *elements, uint64_t count, size_t size) {
    unsigned char *first = (unsigned char *)elements, *last = first + (size_t)count * size, kept[256];
    for (; count >= 2; count -= 2, first += size) {
        last -= size;
        memcpy(kept, first, size);
        memcpy(first, last, size);
        memcpy(last, kept, size);
    }
}

/* Scans one row. init may be NULL. Returns the total. */
static inline ref_value ref_scan(gpuscan_type to, void *dst, gpuscan_type from, const void *src, uint64_t count,
                                 gpuscan_op op, gpuscan_scan_kind kind, const ref_value *init) {
    ref_value running = ref_start(to, op, init), next;
    uint64_t  i;
    for (i = 0; i < count; i++) {
        next = ref_combine(to, op, running, ref_convert(to, from, ref_load(from, src, i)));
        ref_store(to, dst, i, kind == GPUSCAN_INCLUSIVE ? next : running);
        running = next;
    }
    return running;
}

static inline ref_value ref_reduce(gpuscan_type to, gpuscan_type from, const void *src, uint64_t count, gpuscan_op op,
                                   const ref_value *init) {
    ref_value running = ref_start(to, op, init);
    uint64_t  i;
    for (i = 0; i < count; i++)
        running = ref_combine(to, op, running, ref_convert(to, from, ref_load(from, src, i)));
    return running;
}

/* Returns the index of the first smallest or largest element but NaN; if there is none, the index type's largest
   value. */
static inline ref_value ref_arg(gpuscan_type index_type, gpuscan_type type, const void *src, uint64_t count,
                                gpuscan_op op) {
    ref_value best = ref_bits(0), v;
    uint64_t  i, found = ~UINT64_C(0);
    for (i = 0; i < count; i++) {
        v = ref_load(type, src, i);
        if (ref_is_float(type) && isnan(v.real))
            continue;
        if (found == ~UINT64_C(0) || (op == GPUSCAN_OP_ARGMIN ? ref_less(type, v, best) : ref_less(type, best, v))) {
            best = v;
            found = i;
        }
    }
    return ref_wrap(index_type, found);
}

static inline void ref_uniform_add(gpuscan_type type, void *dst, const void *addend, uint64_t count, uint64_t block,
                                   gpuscan_op op) {
    uint64_t i;
    for (i = 0; i < count; i++)
        ref_store(type, dst, i, ref_combine(type, op, ref_load(type, addend, i / block), ref_load(type, dst, i)));
}

/* A custom operator: c = a combined with b. */
typedef void (*ref_operator)(const void *a, const void *b, void *c);

/* Scans with a custom operator. start: init, or the identity. dst may be NULL. Writes the total: reduces, too. */
static inline void ref_scan_custom(size_t size, void *dst, const void *src, uint64_t count, ref_operator combine,
                                   gpuscan_scan_kind kind, const void *start, void *total) {
    const unsigned char *in = (const unsigned char *)src;
    unsigned char       *out = (unsigned char *)dst, *running = (unsigned char *)total;
    unsigned char        next[256];
    uint64_t             i;
    memcpy(running, start, size);
    for (i = 0; i < count; i++, in += size) {
        combine(running, in, next);
        if (out) {
            memcpy(out, kind == GPUSCAN_INCLUSIVE ? next : running, size);
            out += size;
        }
        memcpy(running, next, size);
    }
}

/* ---- histogram --------------------------------------------------------------------------------------------------- */

/* A sample's bin, or one of these. */
#define REF_BELOW   (-1)
#define REF_ABOVE   (-2)
#define REF_NOWHERE (-3)

/* Computes a * b as high * 2^64 + low. */
static inline void ref_multiply(uint64_t a, uint32_t b, uint64_t *high, uint64_t *low) {
    uint64_t bottom = (a & 0xFFFFFFFF) * b, top = (a >> 32) * b + (bottom >> 32);
    *low = (top << 32) | (bottom & 0xFFFFFFFF);
    *high = top >> 32;
}

/* Returns floor(x * bins / width), the largest k with k * width <= x * bins. width 0 stands for 2^64. */
static inline uint32_t ref_even_bin(uint64_t x, uint32_t bins, uint64_t width) {
    uint64_t xh, xl, kh, kl;
    uint32_t k = 0, above = bins, middle;
    ref_multiply(x, bins, &xh, &xl);
    while (above - k > 1) {
        middle = k + (above - k) / 2;
        if (width == 0) {
            kh = middle;
            kl = 0;
        } else {
            ref_multiply(width, middle, &kh, &kl);
        }
        if (kh < xh || (kh == xh && kl <= xl))
            k = middle;
        else
            above = middle;
    }
    return k;
}

static inline int64_t ref_integer_bin(const gpuscan_histogram_desc *desc, gpuscan_type type, uint32_t bins,
                                      ref_value s) {
    int       whole = desc->lower.u == 0 && desc->upper.u == 0;
    ref_value lower = ref_bits(desc->lower.u), upper = ref_bits(desc->upper.u);
    if (desc->form == GPUSCAN_BINS_VALUES) {
        if (ref_less(type, s, lower))
            return REF_BELOW;
        return s.bits - lower.bits < bins ? (int64_t)(s.bits - lower.bits) : REF_ABOVE;
    }
    if (whole) { /* upper is one more than the largest value: 0 for 64 bits, whose width is 2^64 */
        lower = ref_smallest(type);
        return ref_even_bin(s.bits - lower.bits, bins, ref_largest(type).bits - lower.bits + 1);
    }
    if (ref_less(type, s, lower))
        return REF_BELOW;
    if (desc->closed && s.bits == upper.bits)
        return (int64_t)bins - 1;
    if (!ref_less(type, s, upper))
        return REF_ABOVE;
    return ref_even_bin(s.bits - lower.bits, bins, upper.bits - lower.bits);
}

/* Returns the bins + 1 edges of even float bins. They ascend, except for f32 with more than 2^24 bins, where the last
   but one may exceed the last; no sample lies there. */
static inline double *ref_even_edges(gpuscan_type type, uint32_t bins, double lower, double upper) {
    double  *edges = (double *)malloc(((size_t)bins + 1) * sizeof *edges);
    double   step;
    uint32_t k;
    if (edges == NULL)
        abort();
    if (lower == 0 && upper == 0)
        upper = 1;
    if (type != GPUSCAN_TYPE_F64) {
        lower = (double)(float)lower;
        upper = (double)(float)upper;
    }
    step = isinf(upper - lower) ? upper / bins - lower / bins : (upper - lower) / bins;
    edges[0] = lower; /* also if the step of one bin overflows */
    for (k = 1; k < bins; k++)
        edges[k] = type == GPUSCAN_TYPE_F64 ? fma(k, step, lower) : (double)fmaf((float)k, (float)step, (float)lower);
    edges[bins] = upper;
    return edges;
}

/* Returns the last bin k with edges[k] <= s < edges[k + 1]. */
static inline int64_t ref_edge_bin(gpuscan_type type, const ref_value *edges, uint32_t bins, int closed, ref_value s) {
    uint32_t k = 0, above = bins, middle;
    if (ref_is_float(type) && isnan(s.real))
        return REF_NOWHERE;
    if (ref_less(type, s, edges[0]))
        return REF_BELOW;
    if (!ref_less(type, s, edges[bins])) {
        if (closed && !ref_less(type, edges[bins], s))
            return (int64_t)bins - 1;
        return REF_ABOVE;
    }
    while (above - k > 1) {
        middle = k + (above - k) / 2;
        if (ref_less(type, s, edges[middle]))
            above = middle;
        else
            k = middle;
    }
    return k;
}

/* Returns the counters of a channel. */
static inline uint64_t ref_counters(const gpuscan_histogram_desc *desc) {
    return (uint64_t)(desc->bins ? desc->bins : 256) + (desc->outside == GPUSCAN_OUTSIDE_COUNT ? 2 : 0);
}

/* Returns the channels of the mask. */
static inline uint32_t ref_channels(const gpuscan_histogram_desc *desc) {
    uint32_t channels = desc->channels ? desc->channels : 1, c, n = 0;
    for (c = 0; c < channels; c++)
        n += desc->channel_mask == 0 || ((desc->channel_mask >> c) & 1) != 0;
    return n;
}

/* Return the tiles of a row, and all tiles. */
static inline uint64_t ref_tiles_across(const gpuscan_histogram_desc *desc) {
    return desc->tile_width && desc->count ? (desc->count - 1) / desc->tile_width + 1 : 1;
}

static inline uint64_t ref_tiles(const gpuscan_histogram_desc *desc) {
    uint64_t rows = desc->rows ? desc->rows : 1;
    return ref_tiles_across(desc) * (desc->tile_height ? (rows - 1) / desc->tile_height + 1 : 1);
}

/* Counts as the call would. samples, edges and weights: the contents of the device's buffers from their offsets on;
   counts: in counter_type, its contents before the call. Counts the first count pixels of each row, at most the desc's.
   Reads no buffer of the desc, and knows neither expressions nor bounds of single channels. */
static inline void ref_histogram_alike(const gpuscan_histogram_desc *desc, uint64_t count, const void *samples,
                                    const void *edges, const void *weights, void *counts) {
    gpuscan_type type = desc->sample_type ? desc->sample_type : GPUSCAN_TYPE_U8;
    gpuscan_type edge_type = type == GPUSCAN_TYPE_F16 ? GPUSCAN_TYPE_F32 : type;
    gpuscan_type counter_type = desc->counter_type ? desc->counter_type : GPUSCAN_TYPE_U32;
    gpuscan_type weight_type = desc->weight_type ? desc->weight_type : GPUSCAN_TYPE_U32;
    uint32_t     bins = desc->bins ? desc->bins : 256, channels = desc->channels ? desc->channels : 1, c, k;
    uint64_t     rows = desc->rows && count ? desc->rows : 1, pitch = desc->pitch ? desc->pitch : desc->count;
    uint64_t     row = desc->pitch_bytes ? desc->pitch_bytes / ref_size(type) : pitch * channels, tile;
    uint64_t     weights_pitch = desc->weights_pitch ? desc->weights_pitch : desc->count;
    uint64_t     counters = ref_counters(desc), r, p, i, channel;
    ref_value   *table = NULL, s, weight;
    double      *even = NULL;
    int64_t      bin;

    if (desc->form == GPUSCAN_BINS_EDGES || (desc->form == GPUSCAN_BINS_EVEN && ref_is_float(type))) {
        table = (ref_value *)malloc(((size_t)bins + 1) * sizeof *table);
        if (table == NULL)
            abort();
        if (desc->form == GPUSCAN_BINS_EVEN)
            even = ref_even_edges(type, bins, desc->lower.f, desc->upper.f);
        for (k = 0; k <= bins; k++)
            table[k] = even ? ref_real(even[k]) : ref_load(edge_type, edges, k);
        free(even);
    }
    if (!desc->accumulate)
        for (i = 0; i < counters * ref_channels(desc) * ref_tiles(desc); i++)
            ref_store(counter_type, counts, i, ref_bits(0));
    for (r = 0; r < rows; r++)
        for (p = 0; p < count; p++) {
            tile = (desc->tile_height ? r / desc->tile_height : 0) * ref_tiles_across(desc) +
                   (desc->tile_width ? p / desc->tile_width : 0);
            for (c = 0, channel = 0; c < channels; c++) {
                if (desc->channel_mask != 0 && ((desc->channel_mask >> c) & 1) == 0)
                    continue;
                s = ref_load(type, samples, r * row + p * channels + c);
                bin = table ? ref_edge_bin(type, table, bins, desc->closed, s) : ref_integer_bin(desc, type, bins, s);
                if (bin == REF_BELOW && desc->outside != GPUSCAN_OUTSIDE_DROP)
                    bin = desc->outside == GPUSCAN_OUTSIDE_CLAMP ? 0 : (int64_t)bins;
                if (bin == REF_ABOVE && desc->outside != GPUSCAN_OUTSIDE_DROP)
                    bin = desc->outside == GPUSCAN_OUTSIDE_CLAMP ? (int64_t)bins - 1 : (int64_t)bins + 1;
                if (bin >= 0) {
                    weight = weights ? ref_load(weight_type, weights, r * weights_pitch + p) : ref_bits(1);
                    i = (tile * ref_channels(desc) + channel) * counters + (uint64_t)bin;
                    ref_store(counter_type, counts, i, ref_bits(ref_load(counter_type, counts, i).bits + weight.bits));
                }
                channel++;
            }
        }
    free(table);
}

/* Does the same for each channel that has its own bounds or edges. */
static inline void ref_histogram_dense(const gpuscan_histogram_desc *desc, uint64_t count, const void *samples,
                                       const void *edges, const void *weights, void *counts) {
    gpuscan_type type = desc->sample_type ? desc->sample_type : GPUSCAN_TYPE_U8;
    size_t       edge = ref_size(type == GPUSCAN_TYPE_F16 ? GPUSCAN_TYPE_F32 : type);
    size_t       counter = desc->counter_type == GPUSCAN_TYPE_U64 ? 8 : 4, bytes = (size_t)ref_counters(desc) * counter;
    uint32_t     channels = desc->channels ? desc->channels : 1, c, slot = 0, slots = ref_channels(desc);
    uint64_t     tiles = ref_tiles(desc), t;
    unsigned char *one, *all = (unsigned char *)counts;
    if (!desc->channel_bounds && !desc->edges_pitch) {
        ref_histogram_alike(desc, count, samples, edges, weights, counts);
        return;
    }
    one = (unsigned char *)malloc((size_t)tiles * bytes);
    if (one == NULL)
        abort();
    for (c = 0; c < channels; c++) {
        gpuscan_histogram_desc own = *desc;
        if (desc->channel_mask != 0 && ((desc->channel_mask >> c) & 1) == 0)
            continue;
        own.channel_mask = 1u << c;
        if (desc->channel_bounds) {
            own.lower = desc->channel_bounds[2 * c];
            own.upper = desc->channel_bounds[2 * c + 1];
        }
        for (t = 0; t < tiles; t++)
            memcpy(one + t * bytes, all + (t * slots + slot) * bytes, bytes);
        ref_histogram_alike(&own, count, samples,
                            edges ? (const unsigned char *)edges + c * desc->edges_pitch * edge : NULL, weights, one);
        for (t = 0; t < tiles; t++)
            memcpy(all + (t * slots + slot) * bytes, one + t * bytes, bytes);
        slot++;
    }
    free(one);
}

/* Return the distance of neighbouring counters, and the elements from the first to the last counter. */
static inline uint64_t ref_stride(const gpuscan_histogram_desc *desc) {
    return desc->counts_stride ? desc->counts_stride : 1;
}

static inline uint64_t ref_counters_span(const gpuscan_histogram_desc *desc, uint64_t counters) {
    return (counters - 1) * ref_stride(desc) + 1;
}

/* Does the same for counters that lie counts_stride apart. */
static inline void ref_histogram_to(const gpuscan_histogram_desc *desc, uint64_t count, const void *samples,
                                    const void *edges, const void *weights, void *counts) {
    size_t         size = desc->counter_type == GPUSCAN_TYPE_U64 ? 8 : 4, step = (size_t)ref_stride(desc) * size;
    uint64_t       counters = ref_counters(desc) * ref_channels(desc) * ref_tiles(desc), k;
    unsigned char *dense = (unsigned char *)malloc((size_t)counters * size), *apart = (unsigned char *)counts;
    if (dense == NULL)
        abort();
    for (k = 0; k < counters; k++)
        memcpy(dense + k * size, apart + k * step, size);
    ref_histogram_dense(desc, count, samples, edges, weights, dense);
    for (k = 0; k < counters; k++)
        memcpy(apart + k * step, dense + k * size, size);
    free(dense);
}

static inline void ref_histogram(const gpuscan_histogram_desc *desc, const void *samples, const void *edges,
                                 const void *weights, void *counts) {
    ref_histogram_to(desc, desc->count, samples, edges, weights, counts);
}

#endif /* TEST_REFERENCE_H */
