/* One integral image, checked against the reference, with guards around all that it writes. The tests of integral
   images share it. */
#ifndef TEST_INTEGRALS_H
#define TEST_INTEGRALS_H

#include "harness.h"

/* A call's fields except its buffers, and the data for them. Floats are small integers, so that all sums are exact. */
typedef struct integral_case {
    gpuscan_type        src_type, dst_type; /* default: as the desc's */
    uint64_t            width, height, images;
    uint32_t            channels;
    gpuscan_scan_kind   kind;
    int                 square;
    int                 in_bytes;                     /* pitches are in bytes, and gaps in channels */
    uint64_t            src_gap, dst_gap;             /* pixels between rows, */
    uint64_t            src_image_gap, dst_image_gap; /* and between images */
    uint64_t            src_offset, dst_offset;       /* up to TEST_OFFSET_MAX */
    test_scratch_choice scratch;
    int                 events; /* waits for an event, and returns one */
} integral_case;

static inline integral_case an_integral(gpuscan_type src, gpuscan_type dst, uint64_t width, uint64_t height) {
    integral_case c;
    memset(&c, 0, sizeof c);
    c.src_type = src;
    c.dst_type = dst;
    c.width = width;
    c.height = height;
    return c;
}

static inline void name_integral(const integral_case *c, gpuscan_strategy strategy) {
    test_case("integral of %" PRIu64 " x %" PRIu64 " x %u %s to %s, %" PRIu64 " images, %s%s, %sgaps %" PRIu64
              " %" PRIu64 " %" PRIu64 " %" PRIu64 ", offsets %" PRIu64 " %" PRIu64 ", %s",
              c->width, c->height, (unsigned)c->channels, c->src_type ? test_type_name(c->src_type) : "default",
              c->dst_type ? test_type_name(c->dst_type) : "default", c->images, c->kind ? "inclusive" : "exclusive",
              c->square ? " of squares" : "", c->in_bytes ? "in bytes " : "", c->src_gap, c->dst_gap,
              c->src_image_gap, c->dst_image_gap, c->src_offset, c->dst_offset, test_strategy_name(strategy));
}

static inline gpuscan_type integral_src(gpuscan_type type) {
    return type ? type : GPUSCAN_TYPE_U8;
}

static inline gpuscan_type integral_dst(gpuscan_type src, gpuscan_type dst) {
    if (dst)
        return dst;
    return ref_is_float(integral_src(src))    ? GPUSCAN_TYPE_F32
           : ref_is_signed(integral_src(src)) ? GPUSCAN_TYPE_I32
                                              : GPUSCAN_TYPE_U32;
}

/* The layout of pixels, whose channels follow each other. */
typedef struct integral_layout {
    uint64_t width, height, pitch, image_pitch, count; /* width and height in pixels, the others in numbers */
} integral_layout;

static inline integral_layout integral_layout_of(const integral_case *c, uint64_t more, uint64_t gap,
                                                 uint64_t image_gap) {
    uint64_t        channels = c->channels ? c->channels : 1, images = c->images ? c->images : 1;
    integral_layout at;
    at.width = (c->width + more) * channels;
    at.height = c->height + more;
    at.pitch = (c->width + more) * channels + gap * (c->in_bytes ? 1 : channels);
    at.image_pitch = at.height * at.pitch;
    if (image_gap) /* whole pixels */
        at.image_pitch = ((at.image_pitch + channels - 1) / channels + image_gap) * channels;
    at.count = at.width && at.height ? (images - 1) * at.image_pitch + (at.height - 1) * at.pitch + at.width : 0;
    return at;
}

/* Computes the table from each row's sum so far and the row above. dst: its contents before the call. */
static inline void ref_integral(const integral_case *c, const void *src, void *dst) {
    gpuscan_type    from = integral_src(c->src_type), to = integral_dst(c->src_type, c->dst_type);
    uint64_t        more = c->kind == GPUSCAN_EXCLUSIVE, channels = c->channels ? c->channels : 1, image, x, y;
    integral_layout in = integral_layout_of(c, 0, c->src_gap, c->src_image_gap);
    integral_layout out = integral_layout_of(c, more, c->dst_gap, c->dst_image_gap);
    for (image = 0; image < (c->images ? c->images : 1); image++)
        for (y = 0; y < out.height; y++) {
            uint64_t  at = image * out.image_pitch + y * out.pitch;
            ref_value sum[4];
            memset(sum, 0, sizeof sum);
            for (x = 0; x < out.width; x++) {
                ref_value *own = &sum[x % channels], value;
                if (more && (y == 0 || x < channels)) {
                    ref_store(to, dst, at + x, *own);
                    continue;
                }
                value = ref_load(from, src, image * in.image_pitch + (y - more) * in.pitch + x - more * channels);
                value = ref_convert(to, from, value);
                if (c->square)
                    value = ref_combine(to, GPUSCAN_OP_MUL, value, value);
                *own = ref_combine(to, GPUSCAN_OP_ADD, *own, value);
                ref_store(to, dst, at + x,
                          y == 0 ? *own
                                 : ref_combine(to, GPUSCAN_OP_ADD, *own, ref_load(to, dst, at - out.pitch + x)));
            }
        }
}

static inline void fill_pixels(gpuscan_type type, gpuscan_type to, void *data, uint64_t count) {
    uint64_t i;
    if (ref_is_float(type) || ref_is_float(to))
        for (i = 0; i < count; i++)
            ref_store(type, data, i,
                      ref_is_float(type) ? ref_real((double)test_below(8) - (ref_is_float(to) ? 3 : 0))
                                         : ref_bits(test_below(8)));
    else
        test_random_bytes(data, (size_t)(count * ref_size(type)));
}

/* A case with its buffers, their data, and the expected results. */
typedef struct integral_set {
    integral_case         c;
    gpuscan_integral_desc d;
    gpuscan_type          src_type, dst_type;
    integral_layout       in, out;
    test_buffer           src, dst;
    unsigned char        *pixels, *before, *wanted;
    test_extras           extras;
} integral_set;

static inline void *integral_set_up(const void *given) {
    integral_set  *s = (integral_set *)test_alloc(sizeof *s);
    integral_case *c = &s->c;
    uint64_t       channels;
    memset(s, 0, sizeof *s);
    *c = *(const integral_case *)given;
    channels = c->channels ? c->channels : 1;
    s->src_type = integral_src(c->src_type);
    s->dst_type = integral_dst(c->src_type, c->dst_type);
    s->in = integral_layout_of(c, 0, c->src_gap, c->src_image_gap);
    s->out = integral_layout_of(c, c->kind == GPUSCAN_EXCLUSIVE, c->dst_gap, c->dst_image_gap);
    s->pixels = (unsigned char *)test_alloc(s->in.count * ref_size(s->src_type));
    s->before = (unsigned char *)test_alloc(s->out.count * ref_size(s->dst_type));
    s->wanted = (unsigned char *)test_alloc(s->out.count * ref_size(s->dst_type));
    fill_pixels(s->src_type, s->dst_type, s->pixels, s->in.count);
    test_random_bytes(s->before, (size_t)(s->out.count * ref_size(s->dst_type)));
    memcpy(s->wanted, s->before, (size_t)(s->out.count * ref_size(s->dst_type)));
    ref_integral(c, s->pixels, s->wanted);
    s->src = test_buffer_new(CL_MEM_READ_ONLY, ref_size(s->src_type), s->in.count);
    s->dst = test_buffer_new(CL_MEM_WRITE_ONLY, ref_size(s->dst_type), s->out.count);
    test_buffer_set(&s->src, c->src_offset, s->in.count, s->pixels);
    s->d.src = s->src.at;
    s->d.width = c->width;
    s->d.height = c->height;
    s->d.images = c->images;
    s->d.channels = c->channels;
    s->d.src_type = c->src_type;
    s->d.dst_type = c->dst_type;
    s->d.kind = c->kind;
    s->d.square = c->square;
    if (c->in_bytes) {
        s->d.src_pitch_bytes = s->in.pitch * ref_size(s->src_type);
        s->d.dst_pitch_bytes = s->out.pitch * ref_size(s->dst_type);
    } else {
        s->d.src_pitch = c->src_gap ? s->in.pitch / channels : 0;
        s->d.dst_pitch = c->dst_gap ? s->out.pitch / channels : 0;
    }
    s->d.src_image_pitch = c->src_image_gap ? s->in.image_pitch / channels : 0;
    s->d.dst_image_pitch = c->dst_image_gap ? s->out.image_pitch / channels : 0;
    return s;
}

static inline int integral_run(void *set, gpuscan_strategy strategy) {
    integral_set  *s = (integral_set *)set;
    gpuscan_result query = GPUSCAN_SUCCESS;
    uint64_t       scratch = 0;
    int            ran;
    name_integral(&s->c, strategy);
    test_buffer_set(&s->dst, s->c.dst_offset, s->out.count, s->before);
    s->d.dst = s->dst.at;
    s->d.call.strategy = strategy;
    if (s->c.scratch)
        query = gpuscan_integral_scratch_size(test.gs, &s->d, &scratch);
    test_extras_begin(&s->extras, &s->d.call, s->c.scratch, s->c.events, query, scratch);
    ran = test_integral_ran(&s->d);
    test_extras_end(&s->extras, &s->d.call, ran);
    test_same(s->dst_type, test_buffer_get(&s->dst), ran ? s->wanted : s->before, s->out.count);
    return ran;
}

static inline void integral_take_down(void *set) {
    integral_set *s = (integral_set *)set;
    test_same_bytes(test_buffer_get(&s->src), s->pixels, ref_size(s->src_type), s->in.count);
    test_buffer_free(&s->src);
    test_buffer_free(&s->dst);
    free(s->pixels);
    free(s->before);
    free(s->wanted);
    free(s);
}

static inline void code_integral_case(const void *given) {
    const integral_case *c = (const integral_case *)given;
    const code_field     fields[] = {{"src_type", CODE_TYPE, "", c->src_type},
                                     {"dst_type", CODE_TYPE, "", c->dst_type},
                                     {"width", CODE_NUMBER, "", c->width},
                                     {"height", CODE_NUMBER, "", c->height},
                                     {"images", CODE_NUMBER, "", c->images},
                                     {"channels", CODE_NUMBER, "", c->channels},
                                     {"kind", CODE_CAST, "(gpuscan_scan_kind)", (uint64_t)c->kind},
                                     {"square", CODE_NUMBER, "", (uint64_t)c->square},
                                     {"in_bytes", CODE_NUMBER, "", (uint64_t)c->in_bytes},
                                     {"src_gap", CODE_NUMBER, "", c->src_gap},
                                     {"dst_gap", CODE_NUMBER, "", c->dst_gap},
                                     {"src_image_gap", CODE_NUMBER, "", c->src_image_gap},
                                     {"dst_image_gap", CODE_NUMBER, "", c->dst_image_gap},
                                     {"src_offset", CODE_NUMBER, "", c->src_offset},
                                     {"dst_offset", CODE_NUMBER, "", c->dst_offset},
                                     {"scratch", CODE_CAST, "(test_scratch_choice)", c->scratch},
                                     {"events", CODE_NUMBER, "", (uint64_t)c->events}};
    code_fields("c", fields, sizeof fields / sizeof *fields);
}

static const test_operation integrals = {"integrals",  "integral_case",    integral_set_up,
                                         integral_run, integral_take_down, code_integral_case};

#endif /* TEST_INTEGRALS_H */
