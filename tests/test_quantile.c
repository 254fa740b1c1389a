/* gpuscan_quantile and gpuscan_quantile_host against the reference, and ranks against sorted samples.
      cc -O2 tests/test_quantile.c -o build/test_quantile -lcmocka -lOpenCL -lm && build/test_quantile */
#include "quantiles.h"

static void check(quantile_case c) {
    test_strategies(&quantiles, &c, (int)GPUSCAN_STRATEGY_MULTI_PASS, (int)GPUSCAN_STRATEGY_MULTI_PASS);
    test_strategies(&quantiles, &c, (int)GPUSCAN_STRATEGY_CPU_MULTI_PASS, (int)GPUSCAN_STRATEGY_CPU_MULTI_PASS);
}

static int ascending(const void *a, const void *b) {
    return (int)*(const unsigned char *)a - (int)*(const unsigned char *)b;
}

/* Uses a row for each count of samples from 0 on: the bin of a rank must be that of the sorted sample. */
static void ranks_of_sorted_samples(void **state) {
    static const double   fractions[] = {0, 1, 0.5, 0.1, 1.0 / 3, 0.001, 0.9999999999999999, 1e-300, 0.75};
    enum { FRACTIONS = sizeof fractions / sizeof fractions[0], BINS = 64 };
    uint64_t              most = test_size(40, 1000, 1000), n, i;
    uint32_t             *counts = (uint32_t *)test_alloc((most + 1) * BINS * 4), *got;
    unsigned char        *samples = (unsigned char *)test_alloc(most * most + 1);
    gpuscan_quantile_desc d;
    uint32_t              k;
    (void)state;
    test_case("ranks of sorted samples");
    got = (uint32_t *)test_alloc((most + 1) * FRACTIONS * 4);
    memset(counts, 0, (size_t)((most + 1) * BINS * 4));
    for (n = 0; n <= most; n++) {
        for (i = 0; i < n; i++) {
            samples[n * most - most + i] = (unsigned char)test_below(BINS);
            counts[n * BINS + samples[n * most - most + i]]++;
        }
        if (n)
            qsort(samples + (n - 1) * most, (size_t)n, 1, ascending);
    }
    memset(&d, 0, sizeof d);
    d.bins = BINS;
    d.rows = most + 1;
    d.fractions = fractions;
    d.fraction_count = FRACTIONS;
    test_ok(gpuscan_quantile_host(test.gs, counts, got, &d));
    for (n = 0; n <= most; n++)
        for (k = 0; k < FRACTIONS; k++) {
            uint64_t rank = 1;
            while (rank < n && (long double)rank < (long double)fractions[k] * (long double)n) /* 53 + 10 bits: exact */
                rank++;
            if (got[n * FRACTIONS + k] != (n ? samples[(n - 1) * most + rank - 1] : (uint32_t)BINS))
                fail_msg("%s: fraction %.17g of %u samples", test.what, fractions[k], (unsigned)n);
        }
    free(counts);
    free(samples);
    free(got);
}

/* Fractions next to each other in double, and totals that doubles cannot hold. */
static void exact_ranks(void **state) {
    static const uint64_t totals[] = {3, 10, 1000, (UINT64_C(1) << 53) - 1, (UINT64_C(1) << 53) + 1,
                                      UINT64_C(0x7fffffffffffffff), UINT64_MAX};
    size_t                t, i;
    (void)state;
    for (t = 0; t < sizeof totals / sizeof totals[0]; t++)
        for (i = 0; i < 20; i++) {
            double        fractions[3];
            uint64_t      counts[4], rank;
            uint32_t      got[3], k;
            gpuscan_quantile_desc d;
            fractions[1] = i == 0 ? 0.1 : i == 1 ? 1 - ldexp(1, -53) : i == 2 ? ldexp(1, -64) : test_unit();
            fractions[0] = nextafter(fractions[1], 0);
            fractions[2] = nextafter(fractions[1], 1);
            rank = ref_rank(fractions[1], totals[t]); /* bins end just before, at and after it */
            counts[0] = rank - 1;
            counts[1] = 1;
            counts[2] = rank < totals[t];
            counts[3] = totals[t] - rank - counts[2];
            test_case("rank %" PRIu64 " of %" PRIu64, rank, totals[t]);
            memset(&d, 0, sizeof d);
            d.bins = 4;
            d.counter_type = GPUSCAN_TYPE_U64;
            d.fractions = fractions;
            d.fraction_count = 3;
            d.call.strategy = i % 2 ? GPUSCAN_STRATEGY_MULTI_PASS : test_strategy_here(GPUSCAN_STRATEGY_CPU_MULTI_PASS);
            test_ok(gpuscan_quantile_host(test.gs, counts, got, &d));
            for (k = 0; k < 3; k++) {
                uint64_t of = ref_rank(fractions[k], totals[t]), sum = 0;
                uint32_t bin = 0;
                while (sum + counts[bin] < of)
                    sum += counts[bin++];
                if (got[k] != bin)
                    fail_msg("%s: bin %u instead of %u for %.17g", test.what, (unsigned)got[k], (unsigned)bin,
                             fractions[k]);
            }
        }
}

static void bins_and_forms(void **state) {
    static const uint32_t bins[] = {0, 1, 2, 3, 7, 100, 255, 257, 1000, 2049, 4096, 10007, 65536};
    quantile_case         c;
    size_t                b;
    int                   form;
    (void)state;
    for (b = 0; b < sizeof bins / sizeof bins[0]; b++)
        for (form = 0; form < 3; form++) {
            if (test.is_small && (bins[b] > 300 || (b + (size_t)form) % 2))
                continue;
            c = a_quantile((gpuscan_quantile_form)form, bins[b],
                           (b + (size_t)form) % 4 == 3 ? COUNTS_ONE : COUNTS_SOME);
            c.has_cdf = b % 2 == 0;
            c.has_edges = b % 3 == 1 && form != GPUSCAN_QUANTILE_BIN;
            if (b % 3 == 2) {
                c.lower = -2.5;
                c.upper = 100;
            }
            if (bins[b] <= 1000 || test.is_long) /* a GPU's form builds a program for each class of sizes */
                check(c);
            else
                test_strategies(&quantiles, &c, (int)GPUSCAN_STRATEGY_AUTO, (int)GPUSCAN_STRATEGY_AUTO);
        }
}

static void rows_and_gaps(void **state) {
    quantile_case c;
    uint64_t      i;
    (void)state;
    for (i = 0; i < test_size(3, 24, 24); i++) {
        c = a_quantile((gpuscan_quantile_form)(i % 3), 1 + (uint32_t)test_below(250),
                       i % 7 == 6 ? COUNTS_NONE : i % 5 == 4 ? COUNTS_LARGE : COUNTS_SOME);
        c.rows = 1 + test_below(9);
        c.gap = test_below(2) * test_below(20);
        c.counter_type = i % 4 == 3 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.cdf_type = i % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.has_cdf = i % 3 != 1;
        c.counts_offset = test_below(8);
        c.cdf_offset = test_below(8);
        c.dst_offset = test_below(8);
        c.events = i % 2 == 0;
        check(c);
    }
}

/* The most fractions allowed, in any order. */
static void many_fractions(void **state) {
    quantile_case c;
    uint32_t      k;
    int           form;
    (void)state;
    for (form = 0; form < 3; form++) {
        c = a_quantile((gpuscan_quantile_form)form, 250, COUNTS_SOME);
        c.rows = 3;
        c.fraction_count = GPUSCAN_MAX_FRACTIONS;
        for (k = 0; k < GPUSCAN_MAX_FRACTIONS; k++)
            c.fractions[k] = test_unit();
        for (k = 0; k < GPUSCAN_MAX_FRACTIONS; k += 2)
            if (c.fractions[k] > c.fractions[k + 1])
                c.fractions[k + 1] = c.fractions[k];
        check(c);
    }
}

static void large_totals(void **state) {
    quantile_case c;
    int           form, wide;
    (void)state;
    for (form = 0; form < 3; form++)
        for (wide = 0; wide < 2; wide++) {
            c = a_quantile((gpuscan_quantile_form)form, 200, COUNTS_LARGE);
            c.counter_type = wide ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
            c.cdf_type = GPUSCAN_TYPE_U64;
            c.has_cdf = 1;
            check(c);
            c.has_edges = form != GPUSCAN_QUANTILE_BIN;
            check(c);
        }
}

/* Means and values between edges near the limits of f32, of many samples: their sums and differences overflow f32. */
static void large_edges(void **state) {
    static const float    edges[5] = {-3e38f, -1e38f, 0, 1e38f, 3e38f}, ends[2] = {-3e38f, 3e38f};
    static const uint32_t counts[4] = {4000000000u, 4000000000u, 4000000000u, 4000000000u};
    static const double   all[2] = {0, 1}, half[2] = {0.5, 0.75}, upper[2] = {0.5 + 1e-10, 1};
    gpuscan_quantile_desc d;
    float                 got[2];
    int                   s;
    (void)state;
    for (s = 0; s < 2; s++) {
        test_case("large edges, %d", s);
        memset(&d, 0, sizeof d);
        d.bins = 4;
        d.host_edges = edges;
        d.fraction_count = 2;
        d.form = GPUSCAN_QUANTILE_MEAN;
        d.fractions = all;
        d.call.strategy = s ? GPUSCAN_STRATEGY_MULTI_PASS : test_strategy_here(GPUSCAN_STRATEGY_CPU_MULTI_PASS);
        test_ok(gpuscan_quantile_host(test.gs, counts, got, &d));
        assert_true(got[0] == 0);
        d.fractions = upper;
        test_ok(gpuscan_quantile_host(test.gs, counts, got, &d));
        assert_true(got[0] > 1.2499e38f && got[0] < 1.2501e38f);
        d.bins = 1; /* from the first edge to the last */
        d.host_edges = edges + 3;
        d.form = GPUSCAN_QUANTILE_VALUE;
        d.fractions = half;
        test_ok(gpuscan_quantile_host(test.gs, counts, got, &d));
        assert_true(got[0] > 1.9999e38f && got[0] < 2.0001e38f);
        d.host_edges = ends;
        test_ok(gpuscan_quantile_host(test.gs, counts, got, &d));
        assert_true(got[0] == 0 && got[1] > 1.4999e38f && got[1] < 1.5001e38f);
        d.host_edges = NULL; /* of even bins the width must fit f32 */
        d.lower = ends[0];
        d.upper = ends[1];
        test_expect(gpuscan_quantile_host(test.gs, counts, got, &d), GPUSCAN_ERROR_INVALID_BINS);
    }
}

/* Samples beside an infinite edge count as infinite: they decide a mean, which is NaN if both infinities are in it. */
static void infinite_edges(void **state) {
    static const float    edges[4] = {-INFINITY, -1, 1, INFINITY};
    static const uint32_t counts[3] = {2, 2, 2};
    static const uint64_t many[2] = {1, UINT64_C(1) << 62};
    static const double   fractions[] = {0, 0.3, 0.5, 0.75, 0, 0.5, 0.5, 0.6, 0.5, 1, 0, 1};
    static const float    values[4] = {-INFINITY, -1, 0, INFINITY}, means[3] = {-INFINITY, 0, INFINITY};
    gpuscan_quantile_desc d;
    float                 got[4];
    int                   s;
    (void)state;
    for (s = 0; s < 2; s++) {
        test_case("infinite edges, %d", s);
        memset(&d, 0, sizeof d);
        d.bins = 3;
        d.host_edges = edges;
        d.fractions = fractions;
        d.fraction_count = 4;
        d.form = GPUSCAN_QUANTILE_VALUE;
        d.call.strategy = s ? GPUSCAN_STRATEGY_MULTI_PASS : test_strategy_here(GPUSCAN_STRATEGY_CPU_MULTI_PASS);
        test_ok(gpuscan_quantile_host(test.gs, counts, got, &d));
        test_same_bytes(got, values, 4, 4);
        d.fractions = fractions + 4;
        d.fraction_count = 8;
        d.form = GPUSCAN_QUANTILE_MEAN;
        test_ok(gpuscan_quantile_host(test.gs, counts, got, &d));
        test_same_bytes(got, means, 4, 3);
        assert_true(isnan(got[3]));
        d.bins = 2; /* among many samples a single one is beside the infinite edge */
        d.counter_type = GPUSCAN_TYPE_U64;
        d.fractions = fractions + 10;
        d.fraction_count = 2;
        test_ok(gpuscan_quantile_host(test.gs, many, got, &d));
        test_same_bytes(got, means, 4, 1);
    }
}

/* More histograms than a device has units; a sub-group takes several at once, and the last ones do not fill it. */
static quantile_case several_small(uint32_t bins) {
    quantile_case c = a_quantile(bins % 2 ? GPUSCAN_QUANTILE_VALUE : GPUSCAN_QUANTILE_BIN, bins, COUNTS_SOME);
    c.rows = 301;
    c.has_cdf = 1;
    return c;
}

static void several_at_once(void **state) {
    static const uint32_t bins[] = {1, 3, 10, 16, 33, 100, 500, 1000};
    quantile_case         c;
    size_t                b;
    (void)state;
    for (b = 0; b < sizeof bins / sizeof bins[0]; b++) {
        if (test.is_small && b % 3 != test.seed % 3)
            continue;
        c = several_small(bins[b]);
        c.gap = b % 3;
        c.counter_type = b % 4 == 1 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.cdf_type = b % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.counts_offset = b % 5;
        check(c);
    }
}

/* Histograms shared by several groups. The last group may have fewer bins. With 300,001 bins a work-item takes two. */
static void large_histograms(void **state) {
    static const gpuscan_limits limits[] = {{0, 0, 0, 32}, {0, 0, 0, 0}};
    static const uint32_t       bins[] = {16385, 65536, 300001, 16777217};
    quantile_case               c;
    size_t                      l, b;
    (void)state;
    for (l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        test_limit(&limits[l]);
        for (b = 0; b < sizeof bins / sizeof bins[0]; b++) {
            if (test.is_small || (bins[b] > 1000000 && !test.is_long))
                continue;
            c = a_quantile((gpuscan_quantile_form)(b % 2), bins[b], b == 1 ? COUNTS_LARGE : COUNTS_SOME);
            c.rows = bins[b] > 1000000 ? 1 : 3;
            c.gap = b;
            c.counts_offset = b;
            c.dst_offset = 1;
            c.events = (int)(b % 2);
            c.scratch = (test_scratch_choice)(b % 3);
            if (l == 0)
                test_strategies(&quantiles, &c, (int)GPUSCAN_STRATEGY_MULTI_PASS, (int)GPUSCAN_STRATEGY_MULTI_PASS);
            else
                test_strategies(&quantiles, &c, (int)GPUSCAN_STRATEGY_AUTO, (int)GPUSCAN_STRATEGY_AUTO);
            c.counts = COUNTS_NONE;
            if (b == 0)
                test_strategies(&quantiles, &c, (int)GPUSCAN_STRATEGY_AUTO, (int)GPUSCAN_STRATEGY_AUTO);
        }
    }
}

/* Checks what self-tests expect, for few bins, too: a wrong expectation would make the library give up a program. */
static void expectations_of_self_tests(void **state) {
    uint64_t              sums[100], counts[100], total;
    double                fractions[12];
    unsigned char         results[12 * 4];
    gpuscan_quantile_desc d;
    quantile_case         c;
    uint32_t              bins, b, k, form, bin;
    float                 real;
    (void)state;
    memset(&d, 0, sizeof d);
    d.fraction_count = 12;
    for (bins = 2; bins <= 100; bins++)
        for (form = 0; form <= GPUSCAN_QUANTILE_MEAN; form++) {
            test_case("form %u of %u bins", (unsigned)form, (unsigned)bins);
            for (b = 0, total = 0; b < bins; b++) {
                counts[b] = b == 0 || test_below(4) ? UINT64_C(1) << test_below(3) : 0;
                sums[b] = total += counts[b];
            }
            c = a_quantile(d.form = (gpuscan_quantile_form)form, d.bins = bins, COUNTS_SOME);
            gpuscan__test_ranks(&d, sums, fractions, results);
            for (k = 0; k < (d.form == GPUSCAN_QUANTILE_MEAN ? 6 : 12); k++) {
                uint32_t at = d.form == GPUSCAN_QUANTILE_MEAN ? 2 * k : k, to = at + (d.form == GPUSCAN_QUANTILE_MEAN);
                double   wanted = ref_quantile(&c, NULL, counts, fractions[at], fractions[to]);
                memcpy(&bin, results + k * 4, 4);
                memcpy(&real, results + k * 4, 4);
                if (d.form == GPUSCAN_QUANTILE_BIN ? bin != (uint32_t)wanted : real != (float)wanted)
                    fail_msg("%s: result %u is not expected to be %g", test.what, (unsigned)k, wanted);
            }
        }
}

/* Without a fence of device scope no group may wait for another's sums, so a single group takes a large histogram. */
static void without_a_fence(void **state) {
    static const gpuscan_limits limits[] = {{0, 0, GPUSCAN_WITHOUT_FENCE, 32}, {0, 0, 0, 32}};
    size_t                      l;
    (void)state;
    for (l = 0; l < 2; l++) {
        gpuscan_quantile_desc d;
        double                middle = 0.5;
        uint64_t              size = 0;
        gpuscan_info          info;
        memset(&d, 0, sizeof d);
        test_limit(&limits[l]);
        test_ok(gpuscan_get_info(test.gs, &info));
        d.bins = 100000;
        d.fractions = &middle;
        d.fraction_count = 1;
        d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
        test_ok(gpuscan_quantile_scratch_size(test.gs, &d, &size));
        assert_int_equal(size > 0, info.has_fence);
    }
}

static void limited_devices(void **state) {
    static const gpuscan_limits limits[] = {{100, 1024, 23, 0}, {0, 0, 0, 32}};
    size_t                      l;
    (void)state;
    for (l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        if (test.is_small && l != test.seed % 2)
            continue;
        test_limit(&limits[l]);
        check(a_quantile((gpuscan_quantile_form)((l + 1) % 3), 1000, COUNTS_SOME));
        check(a_quantile((gpuscan_quantile_form)((l + 2) % 3), 1000, COUNTS_SOME));
        check(several_small((uint32_t)(10 + 90 * l)));
    }
}

/* The median of bytes by a histogram and a quantile on the device, as programs use them. */
static void after_a_histogram(void **state) {
    const uint64_t         count = test_size(1000, 100001, 100001);
    unsigned char         *samples = (unsigned char *)test_alloc(count);
    const double           half = 0.5;
    test_buffer            in = test_buffer_new(CL_MEM_READ_ONLY, 1, count), counts, dst;
    gpuscan_histogram_desc histogram;
    gpuscan_quantile_desc  d;
    (void)state;
    test_case("the median of bytes");
    test_random_bytes(samples, (size_t)count);
    counts = test_buffer_new(CL_MEM_READ_WRITE, 4, 256);
    dst = test_buffer_new(CL_MEM_WRITE_ONLY, 4, 1);
    test_buffer_set(&in, 0, count, samples);
    test_buffer_set(&counts, 0, 256, NULL);
    test_buffer_set(&dst, 3, 1, NULL);
    memset(&histogram, 0, sizeof histogram);
    histogram.samples = in.at;
    histogram.counts = counts.at;
    histogram.count = count;
    test_ok(gpuscan_histogram(test.gs, &histogram));
    memset(&d, 0, sizeof d);
    d.counts = counts.at;
    d.dst = dst.at;
    d.fractions = &half;
    d.fraction_count = 1;
    test_ok(gpuscan_quantile(test.gs, &d));
    qsort(samples, (size_t)count, 1, ascending);
    if (*(uint32_t *)test_buffer_get(&dst) != samples[(count + 1) / 2 - 1])
        fail_msg("%s", test.what);
    test_buffer_free(&in);
    test_buffer_free(&counts);
    test_buffer_free(&dst);
    free(samples);
}

/* A mean far from both bounds and near 0, as of signed 16-bit samples: only the last rounding may show. */
static void mean_near_zero(void **state) {
    static const double   fractions[] = {0, 1};
    uint32_t             *counts = (uint32_t *)test_alloc(65536 * 4);
    gpuscan_quantile_desc d;
    float                 got = 0;
    int                   s;
    (void)state;
    memset(counts, 0, 65536 * 4);
    counts[32767] = 22;
    counts[32768] = 15;
    counts[32769] = 18;
    memset(&d, 0, sizeof d);
    d.bins = 65536;
    d.lower = -32768.5;
    d.upper = 32767.5;
    d.fractions = fractions;
    d.fraction_count = 2;
    d.form = GPUSCAN_QUANTILE_MEAN;
    for (s = 0; s < 2; s++) {
        d.call.strategy = s ? GPUSCAN_STRATEGY_MULTI_PASS : test_strategy_here(GPUSCAN_STRATEGY_CPU_MULTI_PASS);
        test_case("a mean near 0, %s", test_strategy_name(d.call.strategy));
        test_ok(gpuscan_quantile_host(test.gs, counts, &got, &d));
        if (!(fabs((double)got + 4.0 / 55) < 1e-7))
            fail_msg("%s: %.9g instead of %.9g", test.what, (double)got, -4.0 / 55);
    }
    free(counts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(ranks_of_sorted_samples), TEST(exact_ranks),          TEST(bins_and_forms),   TEST(rows_and_gaps),
        TEST(many_fractions),          TEST(large_totals),         TEST(large_edges),      TEST(several_at_once),
        TEST(large_histograms),        TEST(expectations_of_self_tests), TEST(without_a_fence),  TEST(limited_devices),
        TEST(after_a_histogram),       TEST(mean_near_zero),       TEST(infinite_edges)};
    test_select();
    return cmocka_run_group_tests_name("quantile", tests, test_open, test_close);
}
