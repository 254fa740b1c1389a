/* One histogram, checked against the reference, with guards around all that it writes. The tests of histograms share
   it. */
#ifndef TEST_HISTOGRAMS_H
#define TEST_HISTOGRAMS_H

#include "harness.h"

/* An expression of a pixel, for the device and for the host. */
typedef struct histogram_expression {
    gpuscan_custom custom;  /* convert NULL: the sample itself */
    gpuscan_type   type;    /* of a channel; CUSTOM: of bytes */
    uint32_t       channels;
    gpuscan_type   value_type;
    const char    *weight;
    ref_value (*value_of)(const unsigned char *pixel, uint64_t i);
    uint64_t (*weight_of)(const unsigned char *pixel, uint64_t i);
} histogram_expression;

static inline ref_value luma_of(const unsigned char *c, uint64_t i) {
    (void)i;
    return ref_bits((uint64_t)(77 * c[0] + 150 * c[1] + 29 * c[2] + 128) >> 8);
}

static inline uint64_t alpha_of(const unsigned char *c, uint64_t i) {
    return c[3] % 4u * (i % 3);
}

/* Returns NaN if the channels differ by much, otherwise a whole number, so that nothing is rounded. */
static inline ref_value mean_of(const unsigned char *c, uint64_t i) {
    double a = ref_load(GPUSCAN_TYPE_F16, c, 0).real, b = ref_load(GPUSCAN_TYPE_F16, c, 1).real;
    (void)i;
    return ref_real(a - b > 4096 ? (double)NAN : (a + b) / 2);
}

static inline ref_value packed_of(const unsigned char *c, uint64_t i) {
    uint16_t a = (uint16_t)(c[0] | c[1] << 8);
    return ref_bits((uint64_t)((int64_t)(int16_t)a * 3 - (int64_t)c[2] - (int64_t)(i % 100)));
}

static inline uint64_t last_of(const unsigned char *c, uint64_t i) {
    (void)i;
    return c[2];
}

static inline uint64_t fifth_of(const unsigned char *c, uint64_t i) {
    (void)c;
    return i % 5;
}

/* The weights include 0. */
static const histogram_expression expressions[] = {
    {{"#define luma(c) (77 * (c).x + 150 * (c).y + 29 * (c).z + 128 >> 8)\n", NULL, 0, NULL, NULL, "luma(x)", NULL,
      NULL, NULL},
     GPUSCAN_TYPE_U8, 3, GPUSCAN_TYPE_DEFAULT, NULL, luma_of, NULL},
    {{NULL, NULL, 0, NULL, NULL, "77 * x.x + 150 * x.y + 29 * x.z + 128 >> 8", NULL, NULL, NULL},
     GPUSCAN_TYPE_U8, 4, GPUSCAN_TYPE_I32, "x.w % 4 * (i % 3)", luma_of, alpha_of},
    {{NULL, NULL, 0, NULL, NULL, "x.x - x.y > 4096 ? NAN : (x.x + x.y) / 2", NULL, NULL, NULL},
     GPUSCAN_TYPE_F16, 2, GPUSCAN_TYPE_F16, NULL, mean_of, NULL},
    {{"typedef struct { uchar low, high, last; } packed;\n", "packed", 3, NULL, NULL,
      "(short)(x.low | x.high << 8) * 3l - x.last - (long)(i % 100)", NULL, NULL, NULL},
     GPUSCAN_TYPE_CUSTOM, 1, GPUSCAN_TYPE_I64, "x.last", packed_of, last_of},
    {{NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL},
     GPUSCAN_TYPE_U16, 1, GPUSCAN_TYPE_DEFAULT, "i % 5", NULL, fifth_of}};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

/* A call's fields except its buffers, and the data for them. */
typedef struct histogram_case {
    gpuscan_histogram_desc d;
    const void            *samples; /* NULL: many near the edges, the others anywhere */
    const void            *edges;   /* NULL: with GPUSCAN_BINS_EDGES spread evenly over the type */
    const void            *weights;
    uint64_t               samples_offset, counts_offset, edges_offset, weights_offset;
    uint64_t               device_count; /* with d.count_type */
    test_scratch_choice    scratch;
    int                    events;      /* waits for an event, and returns one */
    int                    is_weighted; /* by random weights if weights is NULL */
    unsigned               expression;  /* 1 + number of an expression, whose types and channels the call has */
} histogram_case;

static inline histogram_case a_histogram(gpuscan_type type, uint32_t bins, uint64_t count) {
    histogram_case c;
    memset(&c, 0, sizeof c);
    c.d.sample_type = type;
    c.d.bins = bins;
    c.d.count = count;
    return c;
}

static inline uint64_t at_least_one(uint64_t number) {
    return number ? number : 1;
}

static inline size_t element_size(const histogram_case *c) {
    gpuscan_type type = c->d.sample_type ? c->d.sample_type : GPUSCAN_TYPE_U8;
    return type == GPUSCAN_TYPE_CUSTOM ? expressions[c->expression - 1].custom.size : ref_size(type);
}

/* Returns the bytes from row to row. */
static inline uint64_t row_bytes(const histogram_case *c) {
    const gpuscan_histogram_desc *d = &c->d;
    return d->pitch_bytes ? d->pitch_bytes
                          : (d->pitch ? d->pitch : d->count) * at_least_one(d->channels) * element_size(c);
}

/* Returns the whole samples, or weights, that the rows span. */
static inline uint64_t samples_span(const histogram_case *c) {
    uint64_t size = element_size(c);
    return ((at_least_one(c->d.rows) - 1) * row_bytes(c) + c->d.count * at_least_one(c->d.channels) * size + size - 1) /
           size;
}

static inline uint64_t weights_span(const gpuscan_histogram_desc *d) {
    return (at_least_one(d->rows) - 1) * (d->weights_pitch ? d->weights_pitch : d->count) + d->count;
}

/* Returns floor(k * width / bins). width 0 stands for 2^64; k * width / bins must then stay below it. */
static inline uint64_t edge_of(uint64_t width, uint32_t k, uint32_t bins) {
    uint64_t high, low, digit, rest, quotient;
    if (width == 0) {
        high = k;
        low = 0;
    } else {
        ref_multiply(width, k, &high, &low);
    }
    rest = high % bins;
    digit = (rest << 32) | (low >> 32);
    quotient = digit / bins << 32;
    digit = (digit % bins << 32) | (low & 0xFFFFFFFF);
    return quotient | digit / bins;
}

/* Returns bins + 1 edges: integers from the type's first to its last value, floats 1/8 apart around 0. */
static inline unsigned char *spread_edges(gpuscan_type type, uint32_t bins) {
    unsigned char *edges = (unsigned char *)test_alloc(((uint64_t)bins + 1) * ref_size(type));
    uint64_t       width = ref_largest(type).bits - ref_smallest(type).bits;
    uint32_t       k;
    for (k = 0; k <= bins; k++)
        ref_store(type, edges, k,
                  ref_is_float(type) ? ref_real(((double)k - (double)bins / 2) / 8)
                                     : ref_bits(ref_smallest(type).bits + edge_of(width, k, bins)));
    return edges;
}

/* Returns the float next to this one, in the direction -1, 0 or 1. */
static inline ref_value float_beside(gpuscan_type type, double real, int direction) {
    double towards = direction < 0 ? -(double)INFINITY : (double)INFINITY;
    int    half;
    if (type == GPUSCAN_TYPE_F16) {
        half = ref_float_to_half((float)real) + direction * (real < 0 ? -1 : 1);
        return ref_real((double)ref_half_to_float((uint16_t)(half & 0xFFFF)));
    }
    if (direction == 0)
        return ref_real(real);
    return ref_real(type == GPUSCAN_TYPE_F32 ? (double)nextafterf((float)real, (float)towards)
                                             : nextafter(real, towards));
}

static inline int keeps_subnormals(void) {
    cl_device_fp_config config = 0;
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL));
    return (config & CL_FP_DENORM) != 0;
}

/* Fills samples at and beside the edges, within and around the range, all over the type, and special floats. */
static inline void fill_samples(const histogram_case *c, void *samples, uint64_t count) {
    const gpuscan_histogram_desc *d = &c->d;
    gpuscan_type                  type = d->sample_type ? d->sample_type : GPUSCAN_TYPE_U8;
    uint32_t                      bins = d->bins ? d->bins : 256, k;
    int                           is_float = ref_is_float(type), beside;
    int                           whole = is_float ? d->lower.f == 0 && d->upper.f == 0 /* -0.0, too */
                                                   : d->lower.u == 0 && d->upper.u == 0;
    int                           flushes = type == GPUSCAN_TYPE_F32 && !keeps_subnormals();
    double                        lower = whole ? 0 : d->lower.f, upper = whole ? 1 : d->upper.f, *even = NULL;
    uint64_t                      bottom = whole && d->form == GPUSCAN_BINS_EVEN ? ref_smallest(type).bits : d->lower.u;
    uint64_t     width = whole ? ref_largest(type).bits - ref_smallest(type).bits + 1 : d->upper.u - d->lower.u, i;
    const double special[] = {(double)NAN,
                              (double)INFINITY,
                              -(double)INFINITY,
                              0.0,
                              -0.0,
                              65504.0,
                              -65504.0,
                              1e-5,
                              ldexp(1, -14),
                              type == GPUSCAN_TYPE_F32   ? (double)FLT_MAX
                              : type == GPUSCAN_TYPE_F64 ? DBL_MAX
                                                         : 1.0};
    ref_value    v;
    if (is_float && d->form == GPUSCAN_BINS_EVEN)
        even = ref_even_edges(type, bins, d->lower.f, d->upper.f);
    for (i = 0; i < count; i++) {
        k = (uint32_t)test_below((uint64_t)bins + 1);
        if (test_below(8) == 0) /* the first and the last edges */
            k = bins < 8 ? k : k % 8 < 4 ? k % 8 : bins + 4 - k % 8;
        beside = (int)test_below(3) - 1;
        v.bits = test_random();
        switch (test_below(4)) {
        case 0: /* an edge */
        case 1:
            if (d->form == GPUSCAN_BINS_EDGES)
                v = ref_load(type == GPUSCAN_TYPE_F16 ? GPUSCAN_TYPE_F32 : type, c->edges, k);
            else if (is_float)
                v.real = even[k];
            else if (d->form == GPUSCAN_BINS_VALUES)
                v.bits = d->lower.u + k;
            else
                v.bits = bottom + (width == 0 && k == bins ? 0 : edge_of(width, k, bins));
            v = is_float ? float_beside(type, v.real, beside) : ref_bits(v.bits + (uint64_t)(int64_t)beside);
            break;
        case 2: /* the range and what is around it */
            if (is_float)
                v.real = (1.5 * test_unit() - 0.25) * (upper * 0.5 - lower * 0.5) * 2 + lower;
            else if (d->form == GPUSCAN_BINS_VALUES)
                v.bits = d->lower.u - 5 + test_below((uint64_t)bins + 10);
            else if (width != 0)
                v.bits = bottom - width / 8 + test_below(width + width / 4 ? width + width / 4 : width);
            break;
        default: /* anything */
            if (is_float)
                v.real = test_below(2) ? special[test_below(sizeof special / sizeof special[0])]
                                       : ldexp(test_unit() - 0.5, (int)test_below(20));
            break;
        }
        if (flushes && v.real != 0 && fabs(v.real) < (double)FLT_MIN)
            v.real = v.real < 0 ? -(double)FLT_MIN : (double)FLT_MIN;
        ref_store(type, samples, i, v);
    }
    free(even);
}

static inline void name_histogram(const histogram_case *c, gpuscan_strategy strategy) {
    static const char *const            forms[] = {"even", "edges", "values"};
    static const char *const            outsides[] = {"drop", "clamp", "count"};
    const gpuscan_histogram_desc *const d = &c->d;
    test_case("histogram of %" PRIu64 " %s, %u %s bins from %" PRIx64 " to %" PRIx64
              "%s, %s, counters %s%s, stride %u, rows %" PRIu64 " pitch %" PRIu64
              ", channels %u mask %u, weights %s pitch %" PRIu64 ", offsets %" PRIu64 " %" PRIu64 " %" PRIu64
              " %" PRIu64 ", device count %" PRIu64 " (%s), expression %u, tiles of %" PRIu64 " x %" PRIu64
              ", pitch of %" PRIu64 " bytes, %s edges' pitch %" PRIu64 ", %s",
              d->count, test_type_name(d->sample_type), d->bins, forms[d->form], d->lower.u, d->upper.u,
              d->closed ? " closed" : "", outsides[d->outside], test_type_name(d->counter_type),
              d->accumulate ? " accumulated" : "", d->counts_stride, d->rows, d->pitch, d->channels, d->channel_mask,
              c->weights ? test_type_name(d->weight_type) : "none", d->weights_pitch, c->samples_offset,
              c->counts_offset, c->edges_offset, c->weights_offset, c->device_count,
              d->count_type ? test_type_name(d->count_type) : "none", c->expression, d->tile_width, d->tile_height,
              d->pitch_bytes, d->channel_bounds ? "channels' bounds," : "", d->edges_pitch,
              test_strategy_name(strategy));
}

/* The histogram for the reference, which knows no expressions: their values and weights. */
typedef struct histogram_plain {
    gpuscan_histogram_desc d;
    unsigned char         *values, *amounts; /* NULL: the case's own */
} histogram_plain;

static inline void apply_expression(const histogram_case *c, const unsigned char *samples, histogram_plain *plain) {
    const histogram_expression *e = &expressions[c->expression - 1];
    gpuscan_histogram_desc     *d = &plain->d;
    gpuscan_type  value_type = e->value_type ? e->value_type : e->type;
    gpuscan_type  weight_type = d->weight_type ? d->weight_type : GPUSCAN_TYPE_U32;
    uint64_t      rows = at_least_one(d->rows), pixel_size = e->channels * element_size(c), r, p;
    unsigned char space[64];
    if (value_type == GPUSCAN_TYPE_F16)
        value_type = GPUSCAN_TYPE_F32;
    if (e->value_of)
        plain->values = (unsigned char *)test_alloc(rows * d->count * ref_size(value_type) + 1);
    if (e->weight_of)
        plain->amounts = (unsigned char *)test_alloc(rows * d->count * ref_size(weight_type) + 1);
    for (r = 0; r < rows; r++)
        for (p = 0; p < d->count; p++) {
            memcpy(space, samples + r * row_bytes(c) + p * pixel_size, (size_t)pixel_size);
            if (e->value_of)
                ref_store(value_type, plain->values, r * d->count + p, e->value_of(space, p));
            if (e->weight_of)
                ref_store(weight_type, plain->amounts, r * d->count + p, ref_bits(e->weight_of(space, p)));
        }
    if (e->weight_of)
        d->weights_pitch = 0;
    if (!e->value_of)
        return;
    d->sample_type = value_type;
    d->channels = 1;
    d->pitch = d->pitch_bytes = 0;
}

/* A case with its buffers, their data, and the expected results. */
typedef struct histogram_set {
    histogram_case c;
    gpuscan_type   type, counter;
    size_t         size; /* bytes of an element */
    uint64_t       span, counters; /* elements of samples, and of counts */
    unsigned char *samples, *wanted, *before, *edges, *weights; /* the last two are NULL if the case has none */
    test_buffer    in, out, table, weighing, number;
    test_extras    extras;
} histogram_set;

static inline void *histogram_set_up(const void *given) {
    histogram_set         *s = (histogram_set *)test_alloc(sizeof *s);
    histogram_case        *c = &s->c;
    histogram_plain        plain;
    gpuscan_type           edge, weight;
    uint64_t               edges, weights, counted, i;
    memset(s, 0, sizeof *s);
    *c = *(const histogram_case *)given;
    if (c->expression) {
        const histogram_expression *e = &expressions[c->expression - 1];
        c->d.sample_type = e->type;
        c->d.value_type = e->value_type;
        c->d.channels = e->channels;
        c->d.channel_mask = 0;
        c->d.custom = &e->custom;
        c->d.weight = e->weight;
        if (e->weight)
            c->is_weighted = 0;
    }
    s->type = c->d.value_type    ? c->d.value_type
              : c->d.sample_type ? c->d.sample_type
                                 : GPUSCAN_TYPE_U8; /* of values */
    s->counter = c->d.counter_type ? c->d.counter_type : GPUSCAN_TYPE_U32;
    s->span = samples_span(c);
    s->counters =
        ref_counters(&c->d) * (c->expression && c->d.channels > 1 ? 1 : ref_channels(&c->d)) * ref_tiles(&c->d);
    s->counters = ref_counters_span(&c->d, s->counters);
    edge = s->type == GPUSCAN_TYPE_F16 ? GPUSCAN_TYPE_F32 : s->type;
    edges = c->d.form == GPUSCAN_BINS_EDGES ? (c->d.bins ? c->d.bins : 256) + UINT64_C(1) : 0;
    if (edges)
        edges += (at_least_one(c->d.channels) - 1) * c->d.edges_pitch;
    weight = c->d.weight_type ? c->d.weight_type : GPUSCAN_TYPE_U32;
    weights = c->weights || c->is_weighted ? weights_span(&c->d) : 0;
    if (edges && !c->edges) {
        c->edges = s->edges = spread_edges(edge, c->d.bins ? c->d.bins : 256);
        if (c->d.edges_pitch) { /* further channels' edges are closer together; zeros lie between them */
            unsigned char *apart = (unsigned char *)test_alloc(edges * ref_size(edge));
            memset(apart, 0, (size_t)edges * ref_size(edge));
            for (i = 0; i < edges; i++)
                if (i % c->d.edges_pitch <= c->d.bins) {
                    ref_value v = ref_load(edge, s->edges, i % c->d.edges_pitch);
                    if (ref_is_float(edge))
                        v.real /= (double)(i / c->d.edges_pitch + 1);
                    else
                        v.bits /= i / c->d.edges_pitch + 1;
                    ref_store(edge, apart, i, v);
                }
            free(s->edges);
            c->edges = s->edges = apart;
        }
    }
    if (c->is_weighted && !c->weights) {
        c->weights = s->weights = (unsigned char *)test_alloc(weights * ref_size(weight));
        test_random_bytes(s->weights, (size_t)weights * ref_size(weight));
    }
    s->size = element_size(c);
    s->samples = (unsigned char *)test_alloc(s->span * s->size);
    s->wanted = (unsigned char *)test_alloc(s->counters * ref_size(s->counter));
    s->before = (unsigned char *)test_alloc(s->counters * ref_size(s->counter));
    if (c->samples)
        memcpy(s->samples, c->samples, (size_t)s->span * s->size);
    else if (!c->expression)
        fill_samples(c, s->samples, s->span);
    else if (c->d.sample_type != GPUSCAN_TYPE_F16)
        test_random_bytes(s->samples, (size_t)s->span * s->size);
    else
        for (i = 0; i < s->span; i++) /* whole numbers */
            ref_store(GPUSCAN_TYPE_F16, s->samples, i, ref_real((double)test_below(4097) * 2 - 2048));
    s->in = test_buffer_new(CL_MEM_READ_ONLY, s->size, s->span);
    s->out = test_buffer_new(c->d.accumulate ? CL_MEM_READ_WRITE : CL_MEM_WRITE_ONLY, ref_size(s->counter),
                             s->counters);
    s->table = test_buffer_new(CL_MEM_READ_ONLY, ref_size(edge), edges);
    s->weighing = test_buffer_new(CL_MEM_READ_ONLY, ref_size(weight), weights);
    test_buffer_set(&s->in, c->samples_offset, s->span, s->samples);
    test_buffer_set(&s->table, c->edges_offset, edges, c->edges);
    test_buffer_set(&s->weighing, c->weights_offset, weights, c->weights);
    c->d.samples = s->in.at;
    if (edges)
        c->d.edges = s->table.at;
    if (c->weights)
        c->d.weights = s->weighing.at;
    counted = c->d.count;
    if (c->d.count_type) {
        s->number = test_count_buffer(c->d.count_type, c->device_count);
        c->d.count_buffer = s->number.at;
        counted = c->device_count < c->d.count ? c->device_count : c->d.count;
    }
    memset(&plain, 0, sizeof plain);
    plain.d = c->d;
    if (c->expression)
        apply_expression(c, s->samples, &plain);
    test_random_bytes(s->before, (size_t)s->counters * ref_size(s->counter));
    memcpy(s->wanted, s->before, (size_t)s->counters * ref_size(s->counter));
    ref_histogram_to(&plain.d, counted, plain.values ? plain.values : s->samples, c->edges,
                     plain.amounts ? plain.amounts : c->weights, s->wanted);
    free(plain.values);
    free(plain.amounts);
    return s;
}

/* Compares all counters, and what surrounds them, with the reference. */
static inline int histogram_run(void *set, gpuscan_strategy strategy) {
    histogram_set *s = (histogram_set *)set;
    gpuscan_result query = GPUSCAN_SUCCESS;
    uint64_t       scratch = 0;
    int            ran;
    name_histogram(&s->c, strategy);
    test_buffer_set(&s->out, s->c.counts_offset, s->counters, s->before);
    s->c.d.counts = s->out.at;
    s->c.d.call.strategy = strategy;
    if (s->c.scratch)
        query = gpuscan_histogram_scratch_size(test.gs, &s->c.d, &scratch);
    test_extras_begin(&s->extras, &s->c.d.call, s->c.scratch, s->c.events, query, scratch);
    ran = test_histogram_ran(&s->c.d);
    test_extras_end(&s->extras, &s->c.d.call, ran);
    test_same(s->counter, test_buffer_get(&s->out), ran ? s->wanted : s->before, s->counters);
    return ran;
}

static inline void histogram_take_down(void *set) {
    histogram_set *s = (histogram_set *)set;
    test_same_bytes(test_buffer_get(&s->in), s->samples, s->size, s->span);
    test_buffer_free(&s->in);
    test_buffer_free(&s->out);
    test_buffer_free(&s->table);
    test_buffer_free(&s->weighing);
    test_buffer_free(&s->number);
    free(s->samples);
    free(s->wanted);
    free(s->before);
    free(s->edges);
    free(s->weights);
    free(s);
}

static inline void code_histogram_case(const void *given) {
    const histogram_case *c = (const histogram_case *)given;
    const code_field      fields[] = {{"samples_offset", CODE_NUMBER, "", c->samples_offset},
                                      {"counts_offset", CODE_NUMBER, "", c->counts_offset},
                                      {"edges_offset", CODE_NUMBER, "", c->edges_offset},
                                      {"weights_offset", CODE_NUMBER, "", c->weights_offset},
                                      {"device_count", CODE_NUMBER, "", c->device_count},
                                      {"scratch", CODE_CAST, "(test_scratch_choice)", c->scratch},
                                      {"events", CODE_NUMBER, "", (uint64_t)c->events},
                                      {"is_weighted", CODE_NUMBER, "", (uint64_t)c->is_weighted},
                                      {"expression", CODE_NUMBER, "", c->expression}};
    code_histogram_fields("c.d", &c->d);
    code_fields("c", fields, sizeof fields / sizeof *fields);
    if (c->samples || c->edges || c->weights)
        code_add("    /* c.samples, c.edges or c.weights: the test's */\n");
}

static const test_operation histograms = {"histograms",  "histogram_case",    histogram_set_up,
                                          histogram_run, histogram_take_down, code_histogram_case};

#endif /* TEST_HISTOGRAMS_H */
