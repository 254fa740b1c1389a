/* Quantiles of histograms, checked against the reference, with guards around all that they write. The tests of
   quantiles share them. */
#ifndef TEST_QUANTILES_H
#define TEST_QUANTILES_H

#include "harness.h"

/* The counters' values. */
typedef enum quantile_counts {
    COUNTS_SOME = 0, /* 0 to 9, every third is 0 */
    COUNTS_NONE,
    COUNTS_ONE,  /* one sample */
    COUNTS_LARGE /* totals above 32 bits; u64 counters up to 2^62 */
} quantile_counts;

/* A call's fields except its buffers, and the data for them. Of several histograms every second one is empty. */
typedef struct quantile_case {
    gpuscan_type          counter_type, cdf_type; /* cdf_type DEFAULT: counter_type */
    uint32_t              bins;
    uint64_t              rows, gap;
    gpuscan_quantile_form form;
    double                fractions[GPUSCAN_MAX_FRACTIONS];
    uint32_t              fraction_count; /* 0: 5 usual ones, for MEAN 4 */
    double                lower, upper;
    int                   has_edges, has_cdf;
    quantile_counts       counts;
    uint64_t              counts_offset, edges_offset, cdf_offset, dst_offset;
    int                   events;
    test_scratch_choice   scratch;
} quantile_case;

static inline quantile_case a_quantile(gpuscan_quantile_form form, uint32_t bins, quantile_counts counts) {
    quantile_case c;
    memset(&c, 0, sizeof c);
    c.form = form;
    c.bins = bins;
    c.counts = counts;
    return c;
}

static inline void name_quantile(const quantile_case *c, gpuscan_strategy strategy) {
    test_case("quantiles, form %d of %u bins (%s, kind %d), %" PRIu64 " rows, gap %" PRIu64 ", %u fractions%s%s, %s",
              (int)c->form, (unsigned)c->bins, c->counter_type ? test_type_name(c->counter_type) : "default",
              (int)c->counts, c->rows, c->gap, (unsigned)c->fraction_count, c->has_edges ? ", edges" : "",
              c->has_cdf ? ", cdf" : "", test_strategy_name(strategy));
}

__extension__ typedef unsigned __int128 quantile_wide;

/* Returns the rank, by a 128-bit division. */
static inline uint64_t ref_rank(double fraction, uint64_t total) {
    int           exponent = 0;
    double        mantissa = frexp(fraction, &exponent); /* [1/2, 1), or 0 */
    quantile_wide product = (quantile_wide)(uint64_t)ldexp(mantissa, 53) * total, power;
    uint64_t      rank;
    if (exponent < -70) /* so small a fraction is less than one sample */
        return 1;
    power = (quantile_wide)1 << (53 - exponent);
    rank = (uint64_t)(product / power + (product % power != 0));
    return rank ? rank : 1;
}

static inline float ref_place(const quantile_case *c, const float *edges, uint64_t bin) {
    uint64_t bins = c->bins ? c->bins : 256;
    float    lower = (float)c->lower, upper = c->lower == 0 && c->upper == 0 ? (float)bins : (float)c->upper;
    if (edges)
        return edges[bin];
    return bin == bins ? upper : fmaf((float)bin, (float)(((double)upper - (double)lower) / (double)bins), lower);
}

/* Returns one result: a bin, or a number in the form's way. */
static inline double ref_quantile(const quantile_case *c, const float *edges, const uint64_t *counts, double fraction,
                                  double last) {
    uint64_t bins = c->bins ? c->bins : 256, total = 0, before = 0, b, from, to;
    double   sum = 0, samples = 0;
    for (b = 0; b < bins; b++)
        total += counts[b];
    if (total == 0)
        return c->form == GPUSCAN_QUANTILE_BIN ? (double)bins : -1;
    from = ref_rank(fraction, total);
    to = ref_rank(last, total);
    for (b = 0; b < bins; before += counts[b++]) {
        double low = ref_place(c, edges, b), high = ref_place(c, edges, b + 1);
        if (c->form != GPUSCAN_QUANTILE_MEAN) {
            if (counts[b] == 0 || before + counts[b] < from)
                continue;
            return c->form == GPUSCAN_QUANTILE_BIN
                       ? (double)b
                       : low + (double)(from - before) / (double)counts[b] * (high - low);
        }
        if (before + counts[b] >= from && before < to && counts[b]) {
            uint64_t first = before + 1 > from ? before + 1 : from, end = before + counts[b];
            end = end < to ? end : to;
            samples += (double)(end - first + 1);
            sum += (double)(end - first + 1) * (low + high) / 2;
        }
    }
    return sum / samples;
}

/* A case with its buffers, their data, and the expected results. */
typedef struct quantile_set {
    quantile_case         c;
    gpuscan_quantile_desc d;
    gpuscan_type          counter, cdf_type;
    uint64_t              rows, bins, pitch, span, results;
    test_buffer           counts, edges, cdf, dst;
    unsigned char        *counters, *cdf_before, *cdf_wanted;
    float                *places;
    double               *wanted;
    test_extras           extras;
} quantile_set;

static inline uint64_t quantile_count(const quantile_set *s, uint64_t row, uint64_t b) {
    const quantile_case *c = &s->c;
    if (row % 2 || c->counts == COUNTS_NONE)
        return 0;
    if (c->counts == COUNTS_ONE)
        return b == (s->bins - 1) / 2;
    if (test_below(3) == 0)
        return 0;
    if (c->counts == COUNTS_LARGE)
        return s->counter == GPUSCAN_TYPE_U64 ? test_random() / (4 * s->bins) : test_random() & UINT32_MAX;
    return test_below(10);
}

static inline void quantile_data(quantile_set *s) {
    quantile_case *c = &s->c;
    uint64_t      *row = (uint64_t *)test_alloc(s->bins * 8), r, b, k;
    test_random_bytes(s->counters, (size_t)(s->span * ref_size(s->counter)));
    for (r = 0; r < s->rows; r++) {
        uint64_t sum = 0;
        for (b = 0; b < s->bins; b++) {
            row[b] = quantile_count(s, r, b);
            sum += row[b];
            ref_store(s->counter, s->counters, r * s->pitch + b, ref_bits(row[b]));
            ref_store(s->cdf_type, s->cdf_wanted, r * s->pitch + b, ref_wrap(s->cdf_type, sum));
        }
        for (k = 0; k < s->results; k++)
            s->wanted[r * s->results + k] =
                c->form == GPUSCAN_QUANTILE_MEAN
                    ? ref_quantile(c, s->places, row, c->fractions[2 * k], c->fractions[2 * k + 1])
                    : ref_quantile(c, s->places, row, c->fractions[k], c->fractions[k]);
    }
    free(row);
}

static inline void *quantile_set_up(const void *given) {
    static const double usual[] = {0, 0.5, 0.25, 1, 0.999}, pairs[] = {0, 1, 0.25, 0.9};
    quantile_set       *s = (quantile_set *)test_alloc(sizeof *s);
    quantile_case      *c = &s->c;
    uint64_t            i;
    memset(s, 0, sizeof *s);
    *c = *(const quantile_case *)given;
    if (c->fraction_count == 0) {
        c->fraction_count = c->form == GPUSCAN_QUANTILE_MEAN ? 4 : 5;
        memcpy(c->fractions, c->form == GPUSCAN_QUANTILE_MEAN ? pairs : usual, c->fraction_count * sizeof *usual);
    }
    s->counter = c->counter_type ? c->counter_type : GPUSCAN_TYPE_U32;
    s->cdf_type = c->cdf_type ? c->cdf_type : s->counter;
    s->bins = c->bins ? c->bins : 256;
    s->rows = c->rows ? c->rows : 1;
    s->pitch = s->bins + c->gap;
    s->span = (s->rows - 1) * s->pitch + s->bins;
    s->results = c->form == GPUSCAN_QUANTILE_MEAN ? c->fraction_count / 2 : c->fraction_count;
    s->counters = (unsigned char *)test_alloc(s->span * ref_size(s->counter));
    s->cdf_before = (unsigned char *)test_alloc(s->span * ref_size(s->cdf_type));
    s->cdf_wanted = (unsigned char *)test_alloc(s->span * ref_size(s->cdf_type));
    s->wanted = (double *)test_alloc(s->rows * s->results * sizeof *s->wanted);
    if (c->has_edges) {
        s->places = (float *)test_alloc((s->bins + 1) * 4);
        for (i = 0; i <= s->bins; i++)
            s->places[i] = (float)i * (float)i / (float)s->bins - 3;
    }
    test_random_bytes(s->cdf_before, (size_t)(s->span * ref_size(s->cdf_type)));
    memcpy(s->cdf_wanted, s->cdf_before, (size_t)(s->span * ref_size(s->cdf_type)));
    quantile_data(s);
    s->counts = test_buffer_new(CL_MEM_READ_ONLY, ref_size(s->counter), s->span);
    s->dst = test_buffer_new(CL_MEM_WRITE_ONLY, 4, s->rows * s->results);
    test_buffer_set(&s->counts, c->counts_offset, s->span, s->counters);
    if (c->has_edges) {
        s->edges = test_buffer_new(CL_MEM_READ_ONLY, 4, s->bins + 1);
        test_buffer_set(&s->edges, c->edges_offset, s->bins + 1, s->places);
        s->d.edges = s->edges.at;
    }
    if (c->has_cdf)
        s->cdf = test_buffer_new(CL_MEM_WRITE_ONLY, ref_size(s->cdf_type), s->span);
    s->d.counts = s->counts.at;
    s->d.counter_type = c->counter_type;
    s->d.bins = c->bins;
    s->d.rows = c->rows;
    s->d.pitch = c->gap ? s->pitch : 0;
    s->d.fractions = c->fractions;
    s->d.fraction_count = c->fraction_count;
    s->d.form = c->form;
    s->d.lower = c->lower;
    s->d.upper = c->upper;
    s->d.empty = -1;
    s->d.cdf_type = c->cdf_type;
    return s;
}

/* Compares bins exactly, and numbers up to rounding: for even bins the last one, for edges also that of sums. */
static inline void check_results(const quantile_set *s, const void *got) {
    double   low = ref_place(&s->c, s->places, 0), high = ref_place(&s->c, s->places, s->bins);
    double   near = 6e-7 * (fabs(low) + fabs(high));
    uint64_t i;
    for (i = 0; i < s->rows * s->results; i++) {
        ref_value bin = ref_load(GPUSCAN_TYPE_U32, got, i), value = ref_load(GPUSCAN_TYPE_F32, got, i);
        if (s->c.form == GPUSCAN_QUANTILE_BIN ? (double)bin.bits != s->wanted[i]
                                              : !(fabs(value.real - s->wanted[i]) <= near))
            fail_msg("%s: result %" PRIu64 " is %.9g instead of %.9g", test.what, i,
                     s->c.form == GPUSCAN_QUANTILE_BIN ? (double)bin.bits : value.real, s->wanted[i]);
    }
}

static inline int quantile_run(void *set, gpuscan_strategy strategy) {
    quantile_set  *s = (quantile_set *)set;
    uint64_t       size = 0;
    gpuscan_result query;
    int            ran;
    name_quantile(&s->c, strategy);
    test_buffer_set(&s->dst, s->c.dst_offset, s->rows * s->results, NULL);
    s->d.dst = s->dst.at;
    if (s->c.has_cdf) {
        test_buffer_set(&s->cdf, s->c.cdf_offset, s->span, s->cdf_before);
        s->d.cdf = s->cdf.at;
    }
    s->d.call.strategy = strategy;
    query = gpuscan_quantile_scratch_size(test.gs, &s->d, &size);
    test_extras_begin(&s->extras, &s->d.call, size ? s->c.scratch : SCRATCH_OBJECT, s->c.events, query, size);
    ran = test_quantile_ran(&s->d);
    test_extras_end(&s->extras, &s->d.call, ran);
    if (ran)
        check_results(s, test_buffer_get(&s->dst));
    else
        test_buffer_untouched(&s->dst);
    if (s->c.has_cdf)
        test_same(s->cdf_type, test_buffer_get(&s->cdf), ran ? s->cdf_wanted : s->cdf_before, s->span);
    return ran;
}

static inline void quantile_take_down(void *set) {
    quantile_set *s = (quantile_set *)set;
    test_same_bytes(test_buffer_get(&s->counts), s->counters, ref_size(s->counter), s->span);
    test_buffer_free(&s->counts);
    test_buffer_free(&s->dst);
    if (s->c.has_edges)
        test_buffer_free(&s->edges);
    if (s->c.has_cdf)
        test_buffer_free(&s->cdf);
    free(s->counters);
    free(s->cdf_before);
    free(s->cdf_wanted);
    free(s->places);
    free(s->wanted);
    free(s);
}

static inline void code_quantile_case(const void *given) {
    const quantile_case *c = (const quantile_case *)given;
    const code_field     fields[] = {{"counter_type", CODE_TYPE, "", c->counter_type},
                                     {"cdf_type", CODE_TYPE, "", c->cdf_type},
                                     {"bins", CODE_NUMBER, "", c->bins},
                                     {"rows", CODE_NUMBER, "", c->rows},
                                     {"gap", CODE_NUMBER, "", c->gap},
                                     {"form", CODE_CAST, "(gpuscan_quantile_form)", (uint64_t)c->form},
                                     {"fraction_count", CODE_NUMBER, "", c->fraction_count},
                                     {"has_edges", CODE_NUMBER, "", (uint64_t)c->has_edges},
                                     {"has_cdf", CODE_NUMBER, "", (uint64_t)c->has_cdf},
                                     {"counts", CODE_CAST, "(quantile_counts)", (uint64_t)c->counts},
                                     {"counts_offset", CODE_NUMBER, "", c->counts_offset},
                                     {"edges_offset", CODE_NUMBER, "", c->edges_offset},
                                     {"cdf_offset", CODE_NUMBER, "", c->cdf_offset},
                                     {"dst_offset", CODE_NUMBER, "", c->dst_offset},
                                     {"events", CODE_NUMBER, "", (uint64_t)c->events},
                                     {"scratch", CODE_CAST, "(test_scratch_choice)", (uint64_t)c->scratch}};
    uint32_t             k;
    code_fields("c", fields, sizeof fields / sizeof *fields);
    code_add("    c.lower = %.17g;\n    c.upper = %.17g;\n", c->lower, c->upper);
    for (k = 0; k < c->fraction_count; k++)
        code_add("    c.fractions[%u] = %.17g;\n", (unsigned)k, c->fractions[k]);
}

static const test_operation quantiles = {"quantiles",  "quantile_case",    quantile_set_up,
                                         quantile_run, quantile_take_down, code_quantile_case};

#endif /* TEST_QUANTILES_H */
