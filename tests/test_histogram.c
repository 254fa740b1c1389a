/* gpuscan_histogram and gpuscan_histogram_host against the reference: bins, samples, images, weights, limits, scratch.
      cc -O2 tests/test_histogram.c -o build/test_histogram -lcmocka -lOpenCL -lm && build/test_histogram */
/* Clears the caller's scratch in small pieces. */
#define GPUSCAN__FILL_MOST ((size_t)5000)
#include "histograms.h"

static void check_all_strategies(const histogram_case *c) {
    test_all_strategies(&histograms, c);
}

/* Checks a case with one strategy, another each time. */
static void check_turning(const histogram_case *c) {
    test_one_strategy(&histograms, c, test_next_strategy());
}

/* Checks a case with one treatment of samples outside, and an open or closed end: others each time. */
static void check_outside(histogram_case c) {
    unsigned turn = test.turn, i;
    for (i = 0; i < (test.is_long ? 6 : 1); i++, turn++) {
        c.d.outside = (gpuscan_outside)(turn % 3);
        c.d.closed = turn / 3 % 2 != 0;
        check_turning(&c);
    }
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static void every_length(void **state) {
    uint64_t               last = test_size(500, 4097, 4097), n, k, counts_done;
    unsigned char         *data = (unsigned char *)test_alloc(last);
    uint32_t               counts[256];
    test_buffer            in = test_buffer_new(CL_MEM_READ_ONLY, 1, last), out = test_buffer_new(0, 4, 256);
    gpuscan_histogram_desc d;
    int                    s;
    (void)state;
    test_random_bytes(data, (size_t)last);
    test_buffer_set(&in, 1, last, data);
    memset(&d, 0, sizeof d);
    TEST_EACH_STRATEGY(s) {
        memset(counts, 0, sizeof counts);
        for (n = 0, counts_done = 0; n <= last; n += n < 40 ? 1 : test_size(31, 1, 1)) {
            for (k = counts_done; k < n; k++)
                counts[data[k]]++;
            counts_done = n;
            test_case("histogram of %" PRIu64 " u8, %s", n, test_strategy_name((gpuscan_strategy)s));
            test_buffer_set(&out, n % 4, 256, NULL);
            d.samples = in.at;
            d.counts = out.at;
            d.count = n;
            d.call.strategy = (gpuscan_strategy)s;
            if (!test_histogram_ran(&d))
                break;
            test_same(GPUSCAN_TYPE_U32, test_buffer_get(&out), counts, 256);
        }
    }
    test_buffer_free(&in);
    test_buffer_free(&out);
    free(data);
}

static void edges_and_random_lengths(void **state) {
    uint64_t       top = test_size(11, 21, 25), k, i;
    histogram_case c = a_histogram(GPUSCAN_TYPE_U8, 0, 0);
    int            off;
    (void)state;
    for (k = 6; k <= top; k++)
        for (off = -1; off <= 1; off++) {
            c.d.count = (UINT64_C(1) << k) + (uint64_t)(int64_t)off;
            check_all_strategies(&c);
        }
    for (i = 0; i < test_size(3, 30, 100); i++) {
        c.d.count = test_below(UINT64_C(1) << (6 + test_below(top - 6)));
        c.samples_offset = test_below(20);
        c.counts_offset = test_below(20);
        check_all_strategies(&c);
    }
    c.d.count = test_size(20000, (UINT64_C(1) << 24) + 12345, 100000000);
    check_all_strategies(&c);
}

/* Counts more samples in one bin than 32 bits hold, or 2^32 if buffers end there; only in the long run. */
static void more_than_32_bits(void **state) {
    const uint64_t         least = UINT64_C(1) << 32, past = test.largest_buffer < least + 77777 ? 0 : 77777;
    const uint64_t         count = least + past, others = past ? 9 : 0;
    uint64_t              *counts;
    unsigned char          three = 3, fives[9];
    gpuscan_histogram_desc d;
    test_buffer            out;
    cl_int                 status = CL_SUCCESS;
    cl_mem                 mem;
    int                    s;
    (void)state;
    if (!test.is_long || test.is_small || test.largest_buffer < count || test.device_memory < 2 * count)
        skip();
    mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)count, NULL, &status);
    test_cl(status);
    out = test_buffer_new(CL_MEM_WRITE_ONLY, 8, 256);
    test_fill_buffer(mem, &three, 1, count);
    memset(fives, 5, sizeof fives);
    if (others)
        test_cl(clEnqueueWriteBuffer(test.queue, mem, CL_TRUE, (size_t)(count - 9), 9, fives, 0, NULL, NULL));
    memset(&d, 0, sizeof d);
    d.samples.mem = mem;
    d.count = count;
    d.counter_type = GPUSCAN_TYPE_U64;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        test_case("histogram of %" PRIu64 " bytes, %s", count, test_strategy_name((gpuscan_strategy)s));
        test_buffer_set(&out, 1, 256, NULL);
        d.counts = out.at;
        d.call.strategy = (gpuscan_strategy)s;
        if (!test_histogram_ran(&d))
            continue;
        counts = (uint64_t *)test_buffer_get(&out);
        if (counts[3] != count - others || counts[5] != others || counts[4] != 0)
            fail_msg("%s: %" PRIu64 " %" PRIu64 " %" PRIu64, test.what, counts[3], counts[4], counts[5]);
    }
    test_buffer_free(&out);
    clReleaseMemObject(mem);
}

/* Uses so many short rows that groups take fixed shares of them instead of drawing pieces: a sample in each, another
   value in the gaps. */
static void many_short_rows(void **state) {
    const uint64_t         rows = (UINT64_C(1) << 26) + 100;
    const cl_ushort        pattern[2] = {3, 7};
    gpuscan_histogram_desc d;
    test_buffer            out;
    cl_int                 status = CL_SUCCESS;
    cl_mem                 mem;
    uint32_t              *counts;
    int                    k;
    (void)state;
    if (test.is_small || test.largest_buffer < rows * 4)
        skip();
    mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)rows * 4, NULL, &status);
    test_cl(status);
    out = test_buffer_new(CL_MEM_WRITE_ONLY, 4, 16);
    test_fill_buffer(mem, pattern, 4, rows * 4);
    test_case("histogram of %" PRIu64 " rows of one sample", rows);
    memset(&d, 0, sizeof d);
    test_buffer_set(&out, 1, 16, NULL);
    d.samples.mem = mem;
    d.sample_type = GPUSCAN_TYPE_U16;
    d.form = GPUSCAN_BINS_VALUES;
    d.bins = 16;
    d.rows = rows;
    d.count = 1;
    d.pitch = 2;
    d.counts = out.at;
    test_ok(gpuscan_histogram(test.gs, &d));
    counts = (uint32_t *)test_buffer_get(&out);
    for (k = 0; k < 16; k++)
        if (counts[k] != (k == 3 ? rows : 0))
            fail_msg("%s: %u in bin %d", test.what, (unsigned)counts[k], k);
    test_buffer_free(&out);
    clReleaseMemObject(mem);
}

/* ---- bins -------------------------------------------------------------------------------------------------------- */

/* Divides the whole range of every integer type into few bins and many, also more than it has values. */
static void whole_range_of_integers(void **state) {
    static const uint32_t bins[] = {1, 2, 3, 7, 16, 100, 255, 256, 257, 1000, 4096, 30011, 65536, 70000, 200003};
    histogram_case        c;
    int                   type;
    size_t                b;
    (void)state;
    TEST_EACH_TYPE(type, REF_SIGNED | REF_UNSIGNED)
        for (b = 0; b < sizeof bins / sizeof bins[0] - (test.is_small ? 4 : 0); b++) {
            if (!test_share(b + (size_t)type, 8))
                continue;
            c = a_histogram((gpuscan_type)type, bins[b], test_size(400, 10007, 50021));
            if (b % 3 == 2) {
                c.d.outside = GPUSCAN_OUTSIDE_COUNT;
                c.d.closed = 1;
            }
            check_turning(&c);
        }
    c = a_histogram(GPUSCAN_TYPE_U8, 0, test_size(400, 100003, 100003));
    check_all_strategies(&c);
    c = a_histogram(GPUSCAN_TYPE_U64, 100, 400); /* all but two values: the long division carries */
    c.d.lower.u = 1;
    c.d.upper.u = UINT64_MAX;
    check_turning(&c);
}

/* Integer ranges of all widths and positions, up to the type's limits and beyond. */
static void ranges_of_integers(void **state) {
    static const struct {
        gpuscan_type type;
        int64_t      lower, upper;
        uint32_t     bins;
    } ranges[] = {{GPUSCAN_TYPE_U8, 10, 20, 10},
                  {GPUSCAN_TYPE_U8, 10, 20, 3},
                  {GPUSCAN_TYPE_U8, 10, 11, 1},
                  {GPUSCAN_TYPE_U8, 0, 255, 255},
                  {GPUSCAN_TYPE_U8, 0, 256, 64},
                  {GPUSCAN_TYPE_U8, 100, 1000, 90},
                  {GPUSCAN_TYPE_U8, 0, 10, 1000},
                  {GPUSCAN_TYPE_U8, 300, 400, 5},
                  {GPUSCAN_TYPE_I8, -128, 127, 17},
                  {GPUSCAN_TYPE_I8, -1000, 1000, 40},
                  {GPUSCAN_TYPE_I8, -100, -50, 7},
                  {GPUSCAN_TYPE_I8, -7, 0, 7},
                  {GPUSCAN_TYPE_I16, -32768, 32768, 1024},
                  {GPUSCAN_TYPE_I16, -5, 5, 3},
                  {GPUSCAN_TYPE_U16, 1, 65535, 777},
                  {GPUSCAN_TYPE_I32, INT32_MIN, INT32_MAX, 1000},
                  {GPUSCAN_TYPE_I32, -1000000007, 999999937, 333},
                  {GPUSCAN_TYPE_I32, INT64_C(-3000000000), INT64_C(3000000000), 600},
                  {GPUSCAN_TYPE_U32, 0, UINT32_MAX, 65537},
                  {GPUSCAN_TYPE_U32, 0, INT64_C(0x100000000), 3},
                  {GPUSCAN_TYPE_U32, 4000000000, 4294967296, 100},
                  {GPUSCAN_TYPE_I64, INT64_MIN, INT64_MAX, 12345},
                  {GPUSCAN_TYPE_I64, -3, 3, 100},
                  {GPUSCAN_TYPE_I64, INT64_C(-5000000000), INT64_C(7000000000), 77},
                  {GPUSCAN_TYPE_I64, INT64_MAX - 1000, INT64_MAX, 10},
                  {GPUSCAN_TYPE_U64, 1, -1, 99991},
                  {GPUSCAN_TYPE_U64, INT64_MAX, -1, 12},
                  {GPUSCAN_TYPE_U64, 0, INT64_C(1000000000000), 1000},
                  {GPUSCAN_TYPE_U64, 7, INT64_C(0x10000000007), 1000},
                  {GPUSCAN_TYPE_U32, 3, 70003, 100000}};
    histogram_case c;
    size_t         r;
    (void)state;
    for (r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        if (!test_share(r, 3))
            continue;
        c = a_histogram(ranges[r].type, ranges[r].bins, test_size(300, 5003, 20011));
        c.d.lower.i = ranges[r].lower;
        c.d.upper.i = ranges[r].upper;
        check_outside(c);
    }
}

/* Closed ranges that end one past the type's last value: a sample that wraps around to the end is not inside. */
static void closed_past_the_type(void **state) {
    static const struct {
        gpuscan_type type;
        int64_t      lower, upper;
    } ranges[] = {{GPUSCAN_TYPE_U32, 4000000000, INT64_C(0x100000000)},
                  {GPUSCAN_TYPE_I32, 1, INT64_C(0x80000000)},
                  {GPUSCAN_TYPE_U8, 10, 256},
                  {GPUSCAN_TYPE_I8, -100, 128},
                  {GPUSCAN_TYPE_U16, 65000, 65536}};
    histogram_case c;
    size_t         r;
    (void)state;
    for (r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        c = a_histogram(ranges[r].type, 100, 3001);
        c.d.lower.i = ranges[r].lower;
        c.d.upper.i = ranges[r].upper;
        c.d.outside = GPUSCAN_OUTSIDE_CLAMP;
        c.d.closed = 1;
        check_turning(&c);
    }
}

/* Random ranges, from 1 value to all values of the type. */
static void random_ranges_of_integers(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I64};
    histogram_case            c;
    ref_value                 a, b;
    uint64_t                  i;
    (void)state;
    for (i = 0; i < test_size(8, 10, 500); i++) {
        c = a_histogram(types[i % 4], 1 + (uint32_t)test_below(UINT64_C(1) << (1 + test_below(16))), 3000);
        a = ref_wrap(types[i % 4], test_random());
        b = ref_wrap(types[i % 4], test_below(2) ? test_random() : a.bits + 1 + test_below(1000));
        if (a.bits == b.bits || (a.bits == 0 && b.bits == 0))
            continue;
        c.d.lower.u = ref_less(types[i % 4], a, b) ? a.bits : b.bits;
        c.d.upper.u = ref_less(types[i % 4], a, b) ? b.bits : a.bits;
        c.d.outside = (gpuscan_outside)test_below(3);
        c.d.closed = (int)test_below(2);
        check_turning(&c);
    }
}

/* Even bins of floats: every edge and its neighbours, NaN, infinities, zeros of both signs, the largest numbers. */
static void even_bins_of_floats(void **state) {
    static const struct {
        double   lower, upper;
        uint32_t bins;
    } ranges[] = {{0, 0, 10},         {0, 0, 256},   {0, 0, 1},       {0, 0, 3},
                  {0, 1, 1000},       {-1, 1, 7},    {-1, 1, 2},      {0.125, 0.75, 49},
                  {-1000, 1000, 333}, {0, 255, 255}, {-8, -7, 16},    {0, 65504, 1024},
                  {-65504, 65504, 9}, {1, 1024, 64}, {-0.25, 3, 100}, {0, 1, 60000}};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F16};
    histogram_case            c;
    size_t                    t, r;
    (void)state;
    for (t = 0; t < 3; t++)
        for (r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
            if (!test_has_type(types[t]) || !(t > 0 ? test_share(r + t, 3) : test_takes_one_of(4, r)))
                continue;
            c = a_histogram(types[t], ranges[r].bins, test_size(300, 5003, 20011));
            c.d.lower.f = ranges[r].lower;
            c.d.upper.f = ranges[r].upper;
            check_outside(c);
        }
    /* bounds that the type rounds, rounded by the test */
    c = a_histogram(GPUSCAN_TYPE_F32, 17, test_size(300, 5003, 20011));
    c.d.lower.f = (double)0.1f;
    c.d.upper.f = (double)0.7f;
    check_outside(c);
    c.d.lower.f = -(double)FLT_MAX;
    c.d.upper.f = (double)FLT_MAX;
    check_outside(c);
    if (!test_has_type(GPUSCAN_TYPE_F64))
        return;
    c.d.sample_type = GPUSCAN_TYPE_F64;
    c.d.lower.f = 0.1;
    c.d.upper.f = 0.7;
    check_outside(c);
    c.d.lower.f = -DBL_MAX; /* the difference overflows */
    c.d.upper.f = DBL_MAX;
    check_outside(c);
}

/* Bounds that the type rounds, zeros of both signs, and a difference that overflows. */
static void rounded_bounds(void **state) {
    static const struct {
        double   lower, upper;
        uint32_t bins;
    } ranges[] = {{1.00000004, 1.0000009, 5}, {0.1, 0.7, 17},           {0.1, 0.7, 1000},   {-0.7, -0.1, 333},
                  {16777217, 16777231, 3},    {1e-30 / 3, 1e-30, 7},    {0.0, -0.0, 10},    {-0.0, 0.0, 10},
                  {-0.0, -0.0, 10},           {-3e38, 3e38, 1},         {-3e38, 3e38, 3},   {-3e38, 3e38, 4099},
                  {1e38, 3.4e38, 1},          {-3.402823466e38, 3.402823466e38, 1},
                  {-3.402823466e38, 3.402823466e38, 2}, {-3.402823466e38, 3.402823466e38, 100}};
    static const double       ends[][2] = {{-DBL_MAX, DBL_MAX}, {-DBL_MAX, DBL_MAX / 2}, {-1e308, 1e308}};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F16};
    histogram_case            c;
    size_t                    t, r;
    (void)state;
    for (t = 0; t < 3; t++)
        for (r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
            if (!test_has_type(types[t]) || !test_share(r + t, 3))
                continue;
            c = a_histogram(types[t], ranges[r].bins, test_size(300, 5003, 20011));
            c.d.lower.f = ranges[r].lower;
            c.d.upper.f = ranges[r].upper;
            check_outside(c);
        }
    c = a_histogram(GPUSCAN_TYPE_F32, 5, test_size(300, 5003, 20011)); /* for each run */
    c.d.lower.f = ranges[0].lower;
    c.d.upper.f = ranges[0].upper;
    check_turning(&c);
    c.d.lower.f = -0.0;
    c.d.upper.f = 0.0;
    check_turning(&c);
    c = a_histogram(GPUSCAN_TYPE_F64, 1, test_size(300, 5003, 20011));
    for (r = 0; r < (test.info.has_f64 ? 6 : 0); r++) {
        c.d.lower.f = ends[r / 2][0];
        c.d.upper.f = ends[r / 2][1];
        c.d.bins = r % 2 ? 77 : 1;
        if (r == 0 || test_share(r, 1))
            check_outside(c);
    }
}

/* Bins so fine that edges coincide and a guess is far from the sample's bin. */
static void bins_finer_than_the_type(void **state) {
    static const struct {
        gpuscan_type type;
        double       lower, upper;
        uint32_t     bins;
    } ranges[] = {{GPUSCAN_TYPE_F32, 1000000, 1000001, 5000},       {GPUSCAN_TYPE_F32, 1000000, 1000001, 1 << 20},
                  {GPUSCAN_TYPE_F32, -1000001, -1000000, 300},      {GPUSCAN_TYPE_F32, 16777215, 16777219, 1000},
                  {GPUSCAN_TYPE_F16, 2047, 2049, 70000},            {GPUSCAN_TYPE_F64, 1, 1 + 8 * DBL_EPSILON, 64},
                  {GPUSCAN_TYPE_F64, 1e16, 1e16 + 20, 1000},        {GPUSCAN_TYPE_F64, -1e16, 40 - 1e16, 3000},
                  {GPUSCAN_TYPE_F32, 1, 1 + (double)FLT_EPSILON, 9}};
    histogram_case c;
    size_t         r;
    (void)state;
    for (r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        if (!test_has_type(ranges[r].type) || !test_share(r, 1))
            continue;
        c = a_histogram(ranges[r].type, ranges[r].bins, test_size(300, 5003, 20011));
        c.d.lower.f = ranges[r].lower;
        c.d.upper.f = ranges[r].upper;
        check_outside(c);
    }
}

/* Checks that the library's self-test expects each sample in the right counter: a wrong one would make it give up a
   working strategy. Runs nothing on the device. */
static void self_test_of_bins(void **state) {
    gpuscan__histogram_plan plan;
    gpuscan_histogram_desc  d;
    gpuscan__test_bins      of;
    gpuscan_bound           given[2];
    ref_value               edges[501], s;
    double                 *even = NULL;
    uint64_t                counts[503], i, j, k, x, bits;
    int64_t                 bin;
    int                     type;
    (void)state;
    for (i = 0; i < test_size(200, 2000, 20000); i++)
        TEST_EACH_TYPE(type, REF_NUMBERS) {
            memset(&plan, 0, sizeof plan);
            memset(&d, 0, sizeof d);
            plan.binned_type = (gpuscan_type)type;
            plan.bins = 1 + (uint32_t)test_below(500);
            plan.key.outside = GPUSCAN_OUTSIDE_COUNT;
            plan.key.closed = (uint32_t)(d.closed = (int)test_below(2));
            if (ref_is_float(plan.binned_type)) {
                of = gpuscan__test_bins_of(&plan, 0);
                given[0].f = (double)(int64_t)of.lower / GPUSCAN__TEST_UNITS;
                given[1].f = (double)(int64_t)(of.lower + of.range) / GPUSCAN__TEST_UNITS;
                test_ok(gpuscan__float_bins(test.gs, &plan, given, plan.bounds));
                even = ref_even_edges(plan.binned_type, plan.bins, given[0].f, given[1].f);
                for (k = 0; k <= plan.bins; k++)
                    edges[k] = ref_real(even[k]);
                free(even);
            } else {
                given[0].u = gpuscan__wrap(plan.binned_type, test_random());
                given[1].u = given[0].u + 1 + test_random() % (UINT64_C(1) << test_below(62));
                if (test_below(4) == 0)
                    given[0].u = given[1].u = 0;
                d.lower = given[0];
                d.upper = given[1];
                if (gpuscan__integer_bins(test.gs, &plan, given, plan.bounds) != GPUSCAN_SUCCESS)
                    continue; /* the upper bound has overflowed */
                of = gpuscan__test_bins_of(&plan, 0);
            }
            test_case("%u bins of %s from %lld on", (unsigned)plan.bins, test_type_name(plan.binned_type),
                      (long long)of.lower);
            for (j = 0; j < 20; j++) {
                memset(counts, 0, sizeof counts);
                x = gpuscan__test_value(&plan, &of, test_random());
                gpuscan__test_count(&plan, &of, x, 1, counts);
                bits = gpuscan__test_value_bits(plan.binned_type, x);
                s = ref_load(plan.binned_type, &bits, 0);
                bin = ref_is_float(plan.binned_type) ? ref_edge_bin(plan.binned_type, edges, plan.bins, d.closed, s)
                                                     : ref_integer_bin(&d, plan.binned_type, plan.bins, s);
                bin = bin == REF_BELOW ? (int64_t)plan.bins : bin == REF_ABOVE ? (int64_t)plan.bins + 1 : bin;
                if (counts[bin] != 1)
                    fail_msg("%s: value %lld is not expected in counter %d", test.what, (long long)x, (int)bin);
            }
        }
}

/* More bins than f32 has numbers for. */
static void more_bins_than_floats(void **state) {
    static const struct {
        gpuscan_type type;
        double       lower, upper;
        uint32_t     bins;
    } ranges[] = {{GPUSCAN_TYPE_F32, 0, 1, 17587232},         {GPUSCAN_TYPE_F32, 0, 1, (1 << 24) + 1},
                  {GPUSCAN_TYPE_F32, -1, 1, (1 << 24) + 3},   {GPUSCAN_TYPE_F16, 0, 1, (1 << 24) + 4},
                  {GPUSCAN_TYPE_F64, 0, 1, (1 << 24) + 3},    {GPUSCAN_TYPE_F32, 3, 1e6, 17587235},
                  {GPUSCAN_TYPE_F32, 0, 3, (1 << 25) - 1}};
    histogram_case c;
    size_t         r;
    (void)state;
    if (test.is_small)
        skip();
    for (r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        if (!test_has_type(ranges[r].type) || (r > 0 && !test_share(r, 1)))
            continue;
        c = a_histogram(ranges[r].type, ranges[r].bins, 5003);
        c.d.lower.f = ranges[r].lower;
        c.d.upper.f = ranges[r].upper;
        c.d.outside = GPUSCAN_OUTSIDE_COUNT;
        c.d.closed = r % 2 == 0;
        c.scratch = SCRATCH_CALLER;
        test_strategies(&histograms, &c, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_MULTI_PASS);
        c.d.outside = (gpuscan_outside)(r % 2);
        c.d.closed = r % 2 == 1;
        test_strategies(&histograms, &c, GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS);
    }
}

/* Ranges of 2^21 bins whose difference overflows, or that have more bins than f32 has numbers. */
static void wide_and_fine_ranges(void **state) {
    static const double ranges[][2] = {{-1e38, 1e38}, {-3e38, 3e38}, {1000000, 1000001}, {-1, 1 - 0.0625}};
    histogram_case      c = a_histogram(GPUSCAN_TYPE_F32, 1 << 21, 100003);
    size_t              r;
    (void)state;
    if (test.is_small)
        skip();
    for (r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        c.d.lower.f = ranges[r][0];
        c.d.upper.f = ranges[r][1];
        test_strategies(&histograms, &c, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_MULTI_PASS);
    }
}

/* Subnormal samples beside an edge at 0, on devices that keep them. */
static void subnormal_floats(void **state) {
    static const float tiny[] = {1e-40f, -1e-40f, 1.4e-45f, -1.4e-45f, 0.0f, -0.0f, 1e-38f, -1e-38f};
    histogram_case     c = a_histogram(GPUSCAN_TYPE_F32, 2, 8);
    (void)state;
    if (!keeps_subnormals())
        skip();
    c.samples = tiny;
    c.d.lower.f = -1;
    c.d.upper.f = 1;
    check_all_strategies(&c);
    c.d.bins = 1;
    c.d.lower.f = 0;
    c.d.outside = GPUSCAN_OUTSIDE_COUNT;
    check_all_strategies(&c);
}

/* Makes ascending edges of a type, many of them twice. */
static void fill_edges(gpuscan_type type, void *edges, uint32_t count) {
    ref_value v, w;
    uint32_t  i, j;
    for (i = 0; i < count; i++) {
        v = ref_wrap(type, test_random());
        if (ref_is_float(type))
            v.real = floor((test_unit() - 0.5) * 4000) / 8;
        for (j = i; j > 0; j--) { /* insert it in order */
            w = ref_load(type, edges, j - 1);
            if (!ref_less(type, v, w))
                break;
            ref_store(type, edges, j, w);
        }
        ref_store(type, edges, j, v);
    }
    for (i = 1; i < count; i++)
        if (test_below(4) == 0)
            ref_store(type, edges, i, ref_load(type, edges, i - 1));
}

static void explicit_edges(void **state) {
    static const uint32_t bins[] = {1, 2, 5, 33, 256, 1000, 4000};
    unsigned char         edges[4001 * 8];
    gpuscan_type          edge;
    histogram_case        c;
    int                   type;
    size_t                b;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        for (b = 0; b < (test.is_small ? 4 : sizeof bins / sizeof bins[0]); b++) {
            if (!test_has_type((gpuscan_type)type) || !test_share(b + (size_t)type, 5))
                continue;
            edge = type == GPUSCAN_TYPE_F16 ? GPUSCAN_TYPE_F32 : (gpuscan_type)type;
            fill_edges(edge, edges, bins[b] + 1);
            if (b % 2) { /* the type's limits, too */
                ref_store(edge, edges, 0, ref_smallest(edge));
                ref_store(edge, edges, bins[b], ref_largest(edge));
            }
            c = a_histogram((gpuscan_type)type, bins[b], test_size(300, 5003, 20011));
            c.d.form = GPUSCAN_BINS_EDGES;
            c.edges = edges;
            c.edges_offset = b;
            check_outside(c);
        }
}

/* Uses so many samples that searches begin in cells. Edges are random, crowded at one end, at the type's limits or
   infinite, or all equal except the ends. */
static void many_samples_between_edges(void **state) {
    static const uint32_t bins[] = {33, 100, 257, 1000, 2048, 2049};
    unsigned char         edges[2050 * 8];
    unsigned              seen = 0;
    int                   type, crowd;
    (void)state;
    if (test.is_small)
        skip();
    TEST_EACH_TYPE(type, REF_NUMBERS)
        for (crowd = 0; crowd < 4; crowd++) {
            gpuscan_type   edge = type == GPUSCAN_TYPE_F16 ? GPUSCAN_TYPE_F32 : (gpuscan_type)type;
            uint32_t       number = bins[(unsigned)(type + crowd) % 6], k;
            histogram_case c = a_histogram((gpuscan_type)type, number, GPUSCAN__CELLS_FROM + 3);
            if (!test_has_type((gpuscan_type)type) || !test_share((uint64_t)(4 * type + crowd), 8))
                continue;
            fill_edges(edge, edges, number + 1);
            if (crowd == 1)
                ref_store(edge, edges, number, ref_largest(edge));
            if (crowd == 2 || crowd == 3) {
                ref_store(edge, edges, 0, ref_is_float(edge) ? ref_real(-(double)INFINITY) : ref_smallest(edge));
                ref_store(edge, edges, number, ref_is_float(edge) ? ref_real((double)INFINITY) : ref_largest(edge));
            }
            for (k = 1; crowd == 3 && k < number; k++)
                ref_store(edge, edges, k, ref_load(edge, edges, number / 2));
            c.d.form = GPUSCAN_BINS_EDGES;
            c.d.outside = (gpuscan_outside)(test.turn++ % 3);
            c.d.closed = crowd & 1;
            c.edges = edges;
            test_one_strategy(&histograms, &c, GPUSCAN_STRATEGY_SINGLE_PASS);
            seen++;
        }
    if (test.share == 1)
        assert_true(seen > 0);
}

/* Edges that are all equal, or equal at both ends: those bins stay empty, except the last one when it is closed. */
static void equal_edges(void **state) {
    static const int32_t edges[][5] = {{5, 5, 5, 5, 5}, {5, 5, 5, 5, 6}, {4, 5, 5, 5, 5}, {4, 4, 5, 6, 6}};
    static const int32_t samples[] = {3, 4, 5, 5, 6, 6, 6, 7};
    histogram_case       c = a_histogram(GPUSCAN_TYPE_I32, 4, 8);
    size_t               i;
    (void)state;
    c.d.form = GPUSCAN_BINS_EDGES;
    c.samples = samples;
    for (i = 0; i < 4; i++) {
        c.edges = edges[i];
        check_outside(c);
    }
}

static void one_bin_per_value(void **state) {
    static const struct {
        gpuscan_type type;
        int64_t      lower;
        uint32_t     bins;
    } ranges[] = {{GPUSCAN_TYPE_U8, 0, 256},         {GPUSCAN_TYPE_U8, 0, 1000},
                  {GPUSCAN_TYPE_U8, 250, 3},         {GPUSCAN_TYPE_U8, 250, 30},
                  {GPUSCAN_TYPE_I8, -128, 256},      {GPUSCAN_TYPE_I8, -5, 11},
                  {GPUSCAN_TYPE_I16, -32768, 65536}, {GPUSCAN_TYPE_U16, 0, 65536},
                  {GPUSCAN_TYPE_U16, 65000, 1},      {GPUSCAN_TYPE_I32, -1000, 2001},
                  {GPUSCAN_TYPE_I32, INT32_MIN, 10}, {GPUSCAN_TYPE_I32, INT32_MAX, 10},
                  {GPUSCAN_TYPE_U32, 4294967290, 6}, {GPUSCAN_TYPE_U32, 0, 300},
                  {GPUSCAN_TYPE_I64, INT64_MIN, 4},  {GPUSCAN_TYPE_I64, INT64_MAX - 3, 9},
                  {GPUSCAN_TYPE_U64, -9, 100},       {GPUSCAN_TYPE_U64, 0, 77}};
    histogram_case c;
    size_t         r;
    (void)state;
    for (r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        if (!test_share(r, 3))
            continue;
        c = a_histogram(ranges[r].type, ranges[r].bins, test_size(300, 5003, 20011));
        c.d.form = GPUSCAN_BINS_VALUES;
        c.d.lower.i = ranges[r].lower;
        check_outside(c);
    }
    /* bins that begin just below the end of 64 bits, far from samples of fewer bits */
    for (r = 0; r < 8; r++) {
        if (!test_share(r, 1))
            continue;
        c = a_histogram((gpuscan_type)(GPUSCAN_TYPE_I8 + r), 10, 300);
        c.d.form = GPUSCAN_BINS_VALUES;
        c.d.lower.u = (ref_is_signed(c.d.sample_type) ? (uint64_t)INT64_MAX : UINT64_MAX) - 3;
        check_outside(c);
        c.d.lower.u = UINT64_MAX; /* to the signed -1 */
        check_outside(c);
    }
    c = a_histogram(GPUSCAN_TYPE_U8, 10, 300);
    c.d.form = GPUSCAN_BINS_VALUES;
    c.d.lower.u = UINT64_MAX;
    check_turning(&c);
    /* 64 bits from the type's smallest value on: nothing wraps around */
    c = a_histogram(GPUSCAN_TYPE_U64, 77, 300);
    c.d.form = GPUSCAN_BINS_VALUES;
    check_turning(&c);
}

/* 2^24 bins, and sizes near the limits of local memory. */
static void many_bins(void **state) {
    static const uint32_t sizes[] = {1023, 2048, 4097, 8191, 8192, 8193, 12288, 16384, 24576, 65535, 1 << 18};
    histogram_case        c;
    size_t                i;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0] - (test.is_small ? 4 : 0); i++) {
        c = a_histogram(GPUSCAN_TYPE_U32, sizes[i], test_size(500, 50021, 100003));
        if (test_share(i, 2))
            check_turning(&c);
        c.d.counter_type = GPUSCAN_TYPE_U64;
        if (test_share(i + 1, 2))
            check_turning(&c);
    }
    c = a_histogram(GPUSCAN_TYPE_U32, test.is_small ? 1 << 16 : 1 << 24, test_size(1000, 300007, 1000003));
    check_all_strategies(&c);
    c.d.outside = GPUSCAN_OUTSIDE_COUNT;
    c.d.form = GPUSCAN_BINS_VALUES;
    c.d.lower.u = 12345;
    check_turning(&c);
    c.d.form = GPUSCAN_BINS_EVEN;
    c.d.sample_type = GPUSCAN_TYPE_F32;
    c.d.lower.f = 0;
    c.d.upper.f = 1;
    check_turning(&c);
    c.d.bins = (1 << 20) + 1; /* too many to guess by a product */
    check_turning(&c);
    c.d.bins = test.is_small ? 1 << 16 : 1 << 24;
    c.d.sample_type = GPUSCAN_TYPE_U8; /* most bins hold no value */
    c.d.lower.u = 0;
    c.d.upper.u = 0;
    check_turning(&c);
}

/* All samples in one bin, in two bins, or in order: the worst cases for atomics. */
static void crowded_bins(void **state) {
    uint64_t       count = test_size(1500, 300007, 1000003), i;
    unsigned char *data = (unsigned char *)test_alloc(count);
    histogram_case c = a_histogram(GPUSCAN_TYPE_U8, 256, count);
    (void)state;
    c.samples = data;
    memset(data, 77, (size_t)count);
    check_all_strategies(&c);
    for (i = 0; i < count; i++)
        data[i] = i % 2 ? 255 : 0;
    check_all_strategies(&c);
    for (i = 0; i < count; i++)
        data[i] = (unsigned char)(i * 256 / count);
    check_all_strategies(&c);
    for (i = 0; i < count; i++)
        data[i] = (unsigned char)(i & 255);
    check_all_strategies(&c);
    for (i = 0; i < count; i++) /* runs of 66 samples, broken at changing positions */
        data[i] = i % 67 ? 77 : 3;
    check_all_strategies(&c);
    c = a_histogram(GPUSCAN_TYPE_U16, 100, count / 2);
    c.samples = data;
    for (i = 0; i < count / 2; i++)
        ref_store(GPUSCAN_TYPE_U16, data, i, ref_bits(i % 67 ? 7777 : 3333));
    check_all_strategies(&c);
    free(data);
}

static gpuscan_bound a_bound(gpuscan_type type, int number) {
    gpuscan_bound bound;
    if (ref_is_float(type))
        bound.f = number;
    else
        bound.i = number;
    return bound;
}

/* Checks that samples outside all bins leave nothing behind the bins, where a later histogram with more bins counts. */
static void more_bins_than_before(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_I32, GPUSCAN_TYPE_F32};
    size_t                    t;
    int                       s;
    (void)state;
    for (t = 0; t < sizeof types / sizeof types[0]; t++) {
        histogram_case few = a_histogram(types[t], 11, 5003), more = a_histogram(types[t], 200, 1009);
        few.d.lower = more.d.lower = a_bound(types[t], 20);
        few.d.upper = a_bound(types[t], 31);
        more.d.upper = a_bound(types[t], 220);
        TEST_EACH_STRATEGY(s)
            if (t == 0 || test_share((uint64_t)s + t, 3)) {
                test_strategies(&histograms, &few, s, s);
                test_strategies(&histograms, &more, s, s);
            }
    }
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* Odd and empty widths, heights, pitches, channels and masks. */
static void images(void **state) {
    static const struct {
        uint64_t width, height, gap;
    } sizes[] = {{0, 1, 0},   {0, 7, 3},   {1, 1, 0},    {1, 9, 0},     {3, 5, 1},     {17, 13, 0},
                 {64, 2, 64}, {333, 3, 7}, {641, 47, 3}, {1001, 77, 0}, {1, 70001, 1}, {4096, 31, 0}};
    histogram_case c;
    size_t         i;
    uint32_t       channels, mask;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0] - (test.is_small ? 4 : 0); i++)
        for (channels = 1; channels <= 4; channels++)
            for (mask = 0; mask < 1u << channels; mask++) {
                /* the same for all sizes */
                if (mask ? !test_share(channels + mask, 1) : !test_takes_one_of(2, channels))
                    continue;
                c = a_histogram(GPUSCAN_TYPE_U8, 50, sizes[i].width);
                c.d.rows = sizes[i].height;
                c.d.pitch = sizes[i].gap ? sizes[i].width + sizes[i].gap : 0;
                c.d.channels = channels;
                c.d.channel_mask = mask;
                c.samples_offset = i % 5;
                c.counts_offset = mask;
                test.turn = channels + mask; /* the same for all sizes */
                if (mask == 0)
                    check_all_strategies(&c);
                else
                    check_turning(&c);
            }
    /* a bin for each byte: three channels do not divide a vector */
    c = a_histogram(GPUSCAN_TYPE_U8, 256, 1001);
    c.d.channels = 3;
    test_strategies(&histograms, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
    c.d.channels = 4;
    c.d.sample_type = GPUSCAN_TYPE_I8;
    test_strategies(&histograms, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
    /* other samples, and counters for values outside */
    c = a_histogram(GPUSCAN_TYPE_F32, 33, test_size(19, 333, 333));
    c.d.rows = 9;
    c.d.pitch = 350;
    c.d.channels = 3;
    c.d.channel_mask = 5;
    check_outside(c);
    c.d.sample_type = GPUSCAN_TYPE_U16;
    c.d.lower.u = 1000;
    c.d.upper.u = 60000;
    check_outside(c);
}

/* Samples of every size: a vector holds less than a pixel, whole pixels, or a fraction more. */
static void channels_of_all_types(void **state) {
    static const struct {
        uint32_t channels, mask;
    } layouts[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {4, 9}, {4, 12}, {4, 4}, {3, 6}, {2, 2}, {4, 7}};
    histogram_case c;
    int            type;
    size_t         i;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        for (i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
            int is_large = ref_size((gpuscan_type)type) == 8 && layouts[i].channels == 4;
            if (!test_has_type((gpuscan_type)type) || !test_share(i + (size_t)type, is_large ? 1 : 4))
                continue;
            c = a_histogram((gpuscan_type)type, 33, test_size(61, 1501, 1501));
            c.d.channels = layouts[i].channels;
            c.d.channel_mask = layouts[i].mask;
            c.d.rows = 3;
            c.d.pitch = i % 2 ? c.d.count + 1 : 0;
            c.samples_offset = i % 5;
            c.d.outside = (gpuscan_outside)(i % 3);
            if (is_large)
                check_all_strategies(&c);
            else
                check_turning(&c);
        }
}

static void offsets(void **state) {
    static const uint64_t     at[] = {0, 1, 3, 4, 7, 8, 11, 12, 16};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_I64};
    uint8_t                   weights[1009];
    float                     edges[4] = {0, 0.25f, 0.5f, 1};
    histogram_case            c;
    size_t                    t, i, j;
    (void)state;
    test_random_bytes(weights, sizeof weights);
    for (t = 0; t < (test.is_small ? 1 : 4); t++)
        for (i = 0; i < 9; i++)
            for (j = 0; j < 9; j++) {
                c = a_histogram(types[t], 100, 1009);
                c.samples_offset = at[i];
                c.counts_offset = at[j];
                if (test.is_small && i != j)
                    continue;
                if (t == 0)
                    check_all_strategies(&c);
                else
                    check_turning(&c);
            }
    for (i = 0; i < 9; i++) {
        c = a_histogram(GPUSCAN_TYPE_F32, 3, 1009);
        c.d.form = GPUSCAN_BINS_EDGES;
        c.d.weight_type = GPUSCAN_TYPE_U8;
        c.edges = edges;
        c.weights = weights;
        c.edges_offset = at[i];
        c.weights_offset = at[8 - i];
        check_turning(&c);
    }
}

static void device_counts(void **state) {
    const uint64_t count = test_size(500, 10007, 10007);
    const uint64_t values[] = {0, 1, count / 2, count - 1, count, count + 1, UINT32_MAX, (UINT64_C(1) << 32) + 1};
    uint16_t      *weights = (uint16_t *)test_alloc(3 * count * 2);
    histogram_case c;
    size_t         v;
    (void)state;
    test_random_bytes(weights, (size_t)(3 * count) * 2);
    for (v = 0; v < sizeof values / sizeof values[0]; v++) {
        c = a_histogram(GPUSCAN_TYPE_U8, 64, count);
        c.d.count_type = GPUSCAN_TYPE_U64;
        c.device_count = values[v];
        check_all_strategies(&c);
        c.d.count_type = GPUSCAN_TYPE_U32;
        c.device_count = values[v] & UINT32_MAX;
        c.d.rows = 3;
        c.d.channels = 2;
        check_turning(&c);
        c.d.weight_type = GPUSCAN_TYPE_U16;
        c.weights = weights;
        check_turning(&c);
    }
    free(weights);
}

/* ---- counters and weights ---------------------------------------------------------------------------------------- */

/* Weights of all types into counters of both, in rows with their own pitch; sums wrap in u32 and pass 2^32 in u64. */
/* Each channel of the mask has bounds, or edges, of its own. */
static void bounds_of_channels(void **state) {
    static const unsigned limits[6] = {0, 256, 10, 110, 100, 200};
    gpuscan_bound         bounds[6];
    int                   by_edges, k;
    (void)state;
    memset(bounds, 0, sizeof bounds);
    for (k = 0; k < 6; k++)
        bounds[k].u = limits[k];
    for (by_edges = 0; by_edges < 2; by_edges++) {
        histogram_case c = a_histogram(GPUSCAN_TYPE_U8, 100, test_size(70, 1001, 5003));
        c.d.channels = 3;
        c.d.channel_mask = 5;
        c.d.rows = 3;
        c.d.outside = GPUSCAN_OUTSIDE_COUNT;
        if (by_edges) {
            c.d.form = GPUSCAN_BINS_EDGES;
            c.d.edges_pitch = c.d.bins + 2;
        } else {
            c.d.channel_bounds = bounds;
        }
        check_all_strategies(&c);
    }
}

static void weights_and_counters(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};
    uint64_t                  width = test_size(30, 999, 999);
    void                     *weights = test_alloc(7 * (width + 5) * 8);
    histogram_case            c;
    size_t                    t;
    int                       wide, accumulate;
    (void)state;
    test_random_bytes(weights, (size_t)(7 * (width + 5)) * 8);
    for (t = 0; t < 4; t++)
        for (wide = 0; wide < 2; wide++)
            for (accumulate = 0; accumulate < 2; accumulate++) {
                if (!test_share(t + (unsigned)(wide + accumulate), 1))
                    continue;
                c = a_histogram(GPUSCAN_TYPE_U8, 100, width);
                c.d.rows = 7;
                c.d.pitch = width + 1;
                c.d.weights_pitch = accumulate ? width + 5 : 0;
                c.d.weight_type = t == 2 && wide ? GPUSCAN_TYPE_DEFAULT : types[t];
                c.d.counter_type = wide ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
                c.d.accumulate = accumulate;
                c.weights = weights;
                c.weights_offset = t;
                if (types[t] == GPUSCAN_TYPE_U64)
                    check_all_strategies(&c);
                else
                    check_turning(&c);
                c.d.channels = 3;
                c.d.channel_mask = 6;
                c.d.outside = GPUSCAN_OUTSIDE_COUNT;
                c.d.lower.u = 20;
                c.d.upper.u = 220;
                check_turning(&c);
            }
    /* rows without gaps whose weights have gaps */
    c = a_histogram(GPUSCAN_TYPE_U8, 100, width);
    c.d.rows = 7;
    c.d.weights_pitch = width + 5;
    c.d.weight_type = GPUSCAN_TYPE_U16;
    c.weights = weights;
    check_turning(&c);
    /* far more bins than words of local memory, since drivers keep some spare */
    c = a_histogram(GPUSCAN_TYPE_U32, (uint32_t)(test.info.local_memory / 2), 6 * width);
    c.d.weight_type = GPUSCAN_TYPE_U8;
    c.d.counter_type = GPUSCAN_TYPE_U64;
    c.weights = weights;
    test_one_strategy(&histograms, &c, GPUSCAN_STRATEGY_MULTI_PASS);
    free(weights);
}

/* Accumulates counters call after call, and uses u64 counters without weights, for each type of samples. */
static void accumulated_counters(void **state) {
    histogram_case c;
    int            type, wide;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        for (wide = 0; wide < 2; wide++) {
            if (!test_has_type((gpuscan_type)type) || !test_takes_one_of(4, (uint64_t)(type / 2 + wide)))
                continue;
            c = a_histogram((gpuscan_type)type, 77, test_size(300, 5003, 20011));
            c.d.counter_type = wide ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
            c.d.accumulate = 1;
            c.d.outside = (gpuscan_outside)(type % 3);
            if (type == GPUSCAN_TYPE_U8)
                check_all_strategies(&c);
            else
                check_turning(&c);
        }
}

/* Counters that are members of structs: wherever samples are counted and sums are added up, also on one group, in
   tables too large for local memory, and in tiles that share groups or do not. */
static void counters_apart(void **state) {
    static const struct {
        gpuscan_type type;
        uint32_t     bins, stride, tile;
        uint64_t     count, rows;
    } ways[] = {{GPUSCAN_TYPE_U8, 256, 2, 0, 3001, 0},    {GPUSCAN_TYPE_U8, 30, 5, 0, 50, 0},
                {GPUSCAN_TYPE_I32, 100, 3, 0, 40009, 0},  {GPUSCAN_TYPE_F32, 9, 1, 0, 5003, 0},
                {GPUSCAN_TYPE_U16, 20000, 4, 0, 9001, 0}, {GPUSCAN_TYPE_U32, 5000, 7, 0, 30, 0},
                {GPUSCAN_TYPE_U8, 256, 3, 64, 200, 40},   {GPUSCAN_TYPE_I16, 12, 2, 5, 21, 11}};
    histogram_case c;
    size_t         w;
    int            twist;
    (void)state;
    for (w = 0; w < sizeof ways / sizeof *ways; w++)
        for (twist = 0; twist < 2; twist++) {
            c = a_histogram(ways[w].type, ways[w].bins, ways[w].count);
            c.d.rows = ways[w].rows;
            c.d.counts_stride = ways[w].stride;
            c.d.tile_width = c.d.tile_height = ways[w].tile;
            c.d.accumulate = twist;
            c.d.counter_type = (w + (size_t)twist) % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
            c.d.outside = twist ? GPUSCAN_OUTSIDE_COUNT : GPUSCAN_OUTSIDE_DROP;
            c.counts_offset = w % 4;
            c.is_weighted = twist && w % 3 == 0;
            check_turning(&c);
        }
    c = a_histogram(GPUSCAN_TYPE_U8, 77, 3001);
    c.d.counts_stride = 3;
    check_all_strategies(&c);
}

/* ---- scratch, limits, host arrays -------------------------------------------------------------------------------- */

static void scratch_of_the_caller(void **state) {
    static const uint32_t bins[] = {256, 5000, 100000, 9};
    static const uint64_t counts[] = {0, 1, 70001, 1000, 300007};
    uint64_t              most = test_size(1000, 300007, 300007), size, i;
    unsigned char        *data = (unsigned char *)test_alloc(most * 2), *garbage;
    uint32_t             *wanted = (uint32_t *)test_alloc(100000 * 4);
    test_buffer           in = test_buffer_new(CL_MEM_READ_ONLY, 2, most), out = test_buffer_new(0, 4, 100000), scratch;
    gpuscan_histogram_desc d;
    size_t                 n, b;
    int                    s, kind;
    (void)state;
    test_random_bytes(data, (size_t)most * 2);
    test_buffer_set(&in, 1, most, data);
    TEST_EACH_STRATEGY(s)
        for (b = 0; b < sizeof bins / sizeof bins[0]; b++)
            for (n = 0; n < sizeof counts / sizeof counts[0]; n++) {
                kind = (int)(n + b) % 3;
                memset(&d, 0, sizeof d);
                d.samples = in.at;
                d.count = counts[n] < most ? counts[n] : most;
                d.sample_type = GPUSCAN_TYPE_U16;
                d.bins = bins[b];
                d.call.strategy = (gpuscan_strategy)s;
                test_buffer_set(&out, 2, d.bins, NULL);
                d.counts = out.at;
                test_case("histogram of %" PRIu64 " u16, %u bins, with the caller's scratch, %s, garbage %d", d.count,
                          d.bins, test_strategy_name(d.call.strategy), kind);
                if (!test_ran(gpuscan_histogram_scratch_size(test.gs, &d, &size), d.call.strategy,
                              test_histogram_refusal(&d)))
                    continue;
                scratch = test_buffer_new(CL_MEM_READ_WRITE, 1, size);
                garbage = (unsigned char *)test_alloc(size);
                for (i = 0; i < size; i++)
                    garbage[i] = (unsigned char)(kind == 0 ? 255 : kind == 1 ? i % 4 == 0 : test_random() & 255);
                test_buffer_set(&scratch, 64, size, garbage);
                d.call.scratch = scratch.at;
                d.call.scratch_size = size;
                if (test_histogram_ran(&d)) {
                    ref_histogram(&d, data, NULL, NULL, wanted);
                    test_same(GPUSCAN_TYPE_U32, test_buffer_get(&out), wanted, d.bins);
                    test_buffer_get(&scratch); /* checks its guards */
                }
                test_buffer_free(&scratch);
                free(garbage);
            }
    test_buffer_free(&in);
    test_buffer_free(&out);
    free(data);
    free(wanted);
}

/* Small groups, little local memory, no 64-bit atomics. */
static void limited_devices(void **state) {
    static const gpuscan_limits limits[] = {
        {1, 0, 0, 0}, {16, 1024, GPUSCAN_WITHOUT_LANES, 0}, {0, 4096, GPUSCAN_WITHOUT_INT64_ATOMICS, 0},
        {100, 512, 31, 0}};
    uint64_t       count = test_size(500, 70001, 300007);
    uint64_t      *weights = (uint64_t *)test_alloc(count * 8);
    histogram_case c;
    size_t         i;
    (void)state;
    test_random_bytes(weights, (size_t)count * 8);
    for (i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (!test_share(i, 1))
            continue;
        test_limit(&limits[i]);
        c = a_histogram(GPUSCAN_TYPE_U8, 256, count);
        check_all_strategies(&c);
        c.d.bins = 5000;
        check_turning(&c);
        c.d.bins = 256;
        c.d.counter_type = GPUSCAN_TYPE_U64;
        c.d.accumulate = 1;
        if (i == 3)
            check_all_strategies(&c);
        else
            check_turning(&c);
        c.weights = weights;
        c.d.weight_type = GPUSCAN_TYPE_U64;
        check_turning(&c);
        if (i != 2)
            continue;
        c.d.weight_type = GPUSCAN_TYPE_U32; /* every second sum overflows a low half */
        c.d.bins = 3;
        test_one_strategy(&histograms, &c, GPUSCAN_STRATEGY_SINGLE_PASS);
    }
    free(weights);
}

/* Bytes counted by value: a bin for each, with and without counters for values outside, in the forms that channels and
   local memory require. */
static void bytes_by_value(void **state) {
    static const uint64_t limits[] = {0, 16384, 8192};
    gpuscan_limits        limit;
    histogram_case        c;
    unsigned              outside;
    uint32_t              channels;
    size_t                l;
    (void)state;
    memset(&limit, 0, sizeof limit);
    for (l = 0; l < sizeof limits / sizeof *limits; l++) {
        limit.local_memory = limits[l];
        test_limit(&limit);
        for (channels = 1; channels <= 4; channels++)
            for (outside = 0; outside < 3; outside++) {
                int always = (l == 0 && channels == 1 && outside == 2) || (l == 2 && channels == 3 && outside == 0);
                if (!always && !test_share(l + channels + outside, 1))
                    continue;
                c = a_histogram(outside == 1 ? GPUSCAN_TYPE_I8 : GPUSCAN_TYPE_U8, 256, 5001);
                c.d.channels = channels;
                c.d.channel_mask = outside == 1 && channels > 1 ? 2 : 0;
                c.d.outside = (gpuscan_outside)outside;
                test_strategies(&histograms, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
            }
    }
}

/* Samples of 8 and 16 bits in more bins than they have values. */
static void more_bins_than_values(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U16, GPUSCAN_TYPE_I16, GPUSCAN_TYPE_F16, GPUSCAN_TYPE_I8};
    size_t                    t;
    (void)state;
    for (t = 0; t < sizeof types / sizeof *types; t++) {
        histogram_case c = a_histogram(types[t], test.is_small ? 70000 : 100000, test_size(301, 20011, 1000003));
        c.d.outside = t == 2 ? GPUSCAN_OUTSIDE_COUNT : GPUSCAN_OUTSIDE_DROP;
        if (t == 3 || test_share(t, 6))
            test_strategies(&histograms, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
    }
}

static size_t largest_local; /* bytes of a local argument */

static cl_int CL_API_CALL watched_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    if (value == NULL && size > largest_local)
        largest_local = size;
    return clSetKernelArg(kernel, index, size, value);
}

/* Bytes on the CPU's strategies, whose tables may or may not fit. Programs must not be confused, and no local argument
   may exceed the limit. */
static void little_local_memory(void **state) {
    static const uint64_t limits[] = {16384, 8192, 4096, 1024};
    static const uint32_t bins[] = {16, 250, 256, 1000};
    gpuscan_opencl        table;
    gpuscan_limits        limit;
    histogram_case        c;
    size_t                l, b;
    uint32_t              channels;
    (void)state;
    test_real_opencl(&table);
    table.clSetKernelArg = watched_argument;
    memset(&limit, 0, sizeof limit);
    for (l = 0; l < 4; l++) {
        limit.local_memory = limits[l];
        test.limited_opencl = &table;
        test_limit(&limit);
        test.limited_opencl = NULL;
        largest_local = 0;
        for (channels = 1; channels <= 4; channels++)
            for (b = 0; b < 4; b++) {
                if (!test_share(l + channels + b, 1))
                    continue;
                c = a_histogram(b % 2 ? GPUSCAN_TYPE_I8 : GPUSCAN_TYPE_U8, bins[b], test_size(500, 20011, 20011));
                c.d.channels = channels;
                c.samples_offset = b;
                test_strategies(&histograms, &c, GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN_STRATEGY_CPU_SINGLE_PASS);
                c.d.channel_mask = 1u << (channels - 1);
                test_strategies(&histograms, &c, GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS);
                if (largest_local > limits[l])
                    fail_msg("%s: %zu bytes of local memory, limit %" PRIu64, test.what, largest_local,
                             limits[l]);
            }
    }
}

/* Checks that a call without samples uses the scratch size of its query and the program of its prepare, with or without
   weights, and that the same desc does for host arrays. */
static void no_samples(void **state) {
    gpuscan_histogram_desc d;
    uint32_t               counts[256], weights[4] = {1, 2, 3, 4};
    unsigned char          samples[4] = {0, 1, 1, 255};
    test_buffer            weighing = test_buffer_new(CL_MEM_READ_ONLY, 4, 4);
    test_buffer            out = test_buffer_new(0, 4, 256), scratch;
    uint64_t               size, i;
    unsigned               programs;
    int                    s, from_host;
    (void)state;
    test_buffer_set(&weighing, 1, 4, weights);
    TEST_EACH_STRATEGY(s)
        for (from_host = 0; from_host < 2; from_host++) {
            test_case("histogram of nothing, weighted, %s%s", test_strategy_name((gpuscan_strategy)s),
                      from_host ? ", host arrays" : "");
            memset(&d, 0, sizeof d);
            d.call.strategy = (gpuscan_strategy)s;
            if (from_host)
                d.host_weights = weights;
            else
                d.weights = weighing.at;
            test_ok(gpuscan_histogram_scratch_size(test.gs, &d, &size));
            programs = test_programs(test.gs);
            scratch = test_buffer_new(CL_MEM_READ_WRITE, 1, size);
            test_buffer_set(&scratch, 0, size, NULL);
            d.call.scratch = scratch.at;
            d.call.scratch_size = size;
            test_buffer_set(&out, 0, 256, NULL);
            if (from_host) {
                test_ok(gpuscan_histogram_host(test.gs, samples, counts, 0, &d));
            } else {
                d.counts = out.at;
                test_ok(gpuscan_histogram(test.gs, &d));
                memcpy(counts, test_buffer_get(&out), sizeof counts);
            }
            for (i = 0; i < 256; i++)
                assert_int_equal(counts[i], 0);
            test_buffer_get(&scratch);
            if (test_programs(test.gs) != programs)
                fail_msg("%s: %u programs instead of %u", test.what, test_programs(test.gs), programs);
            if (from_host) { /* a few samples need no more */
                test_ok(gpuscan_histogram_host(test.gs, samples, counts, 4, &d));
                assert_int_equal(counts[0], 1);
                assert_int_equal(counts[1], 5);
                assert_int_equal(counts[255], 4);
                test_buffer_get(&scratch);
                if (test_programs(test.gs) != programs)
                    fail_msg("%s: a call with samples uses another program", test.what);
            }
            test_buffer_free(&scratch);
        }
    test_buffer_free(&weighing);
    test_buffer_free(&out);
}

/* Picture tiles of whole vectors, in arrays that begin anywhere, with every strategy. */
static void host_tiles(void **state) {
    enum { WIDTH = 96, HEIGHT = 50 };
    unsigned char *bytes = (unsigned char *)test_alloc(WIDTH * HEIGHT + 16);
    uint32_t       got[6 * 256], wanted[6 * 256];
    unsigned       begin, s;
    (void)state;
    test_random_bytes(bytes, WIDTH * HEIGHT + 16);
    TEST_EACH_STRATEGY(s)
        for (begin = 0; begin < 16; begin += 5) {
            gpuscan_histogram_desc d;
            gpuscan_result         r;
            memset(&d, 0, sizeof d);
            d.rows = HEIGHT;
            d.tile_width = 32;
            d.tile_height = 40;
            d.call.strategy = (gpuscan_strategy)s;
            test_case("histograms of tiles from byte %u on, %s", begin, test_strategy_name(d.call.strategy));
            memset(got, 0xEE, sizeof got);
            r = gpuscan_histogram_host(test.gs, bytes + begin, got, WIDTH, &d);
            if (r == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
                continue;
            test_ok(r);
            d.count = WIDTH;
            ref_histogram(&d, bytes + begin, NULL, NULL, wanted);
            test_same(GPUSCAN_TYPE_U32, got, wanted, 6 * 256);
        }
    free(bytes);
}

static void host_arrays(void **state) {
    static const uint64_t  counts[] = {0, 1, 2, 1000, 4097, 100003};
    static const float     edges[] = {-1, 0, 0, 0.5f, 2};
    uint64_t               most = test_size(4097, 100003, 100003), got64[3 * 6], wanted64[3 * 6], i;
    unsigned char         *bytes = (unsigned char *)test_alloc(most * 3);
    float                 *reals = (float *)test_alloc(most * 4);
    uint16_t              *weights = (uint16_t *)test_alloc(most * 2);
    uint32_t               got[3 * 256], wanted[3 * 256];
    uint16_t               halves[1000];
    gpuscan_histogram_desc d, reference;
    size_t                 n;
    (void)state;
    test_random_bytes(bytes, (size_t)most * 3);
    test_random_bytes(weights, (size_t)most * 2);
    for (i = 0; i < most; i++)
        reals[i] = i % 97 == 0 ? NAN : (float)(test_unit() * 4 - 1.5);
    for (n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        if (counts[n] > most)
            continue;
        test_case("histogram of %" PRIu64 " on the host's arrays", counts[n]);
        memset(&reference, 0, sizeof reference);
        reference.count = counts[n];
        ref_histogram(&reference, bytes, NULL, NULL, wanted);
        memset(got, 0xEE, sizeof got);
        test_ok(gpuscan_histogram_host(test.gs, bytes, got, counts[n], NULL));
        test_same(GPUSCAN_TYPE_U32, got, wanted, 256);

        /* three channels, accumulated */
        memset(&d, 0, sizeof d);
        d.channels = 3;
        d.accumulate = 1;
        memset(got, 1, sizeof got);
        memset(wanted, 1, sizeof wanted);
        reference = d;
        reference.count = counts[n];
        ref_histogram(&reference, bytes, NULL, NULL, wanted);
        test_ok(gpuscan_histogram_host(test.gs, bytes, got, counts[n], &d));
        test_same(GPUSCAN_TYPE_U32, got, wanted, 3 * 256);

        /* edges and weights */
        memset(&d, 0, sizeof d);
        d.sample_type = GPUSCAN_TYPE_F32;
        d.counter_type = GPUSCAN_TYPE_U64;
        d.weight_type = GPUSCAN_TYPE_U16;
        d.bins = 4;
        d.form = GPUSCAN_BINS_EDGES;
        d.outside = GPUSCAN_OUTSIDE_COUNT;
        d.host_edges = edges;
        d.host_weights = weights;
        reference = d;
        reference.count = counts[n];
        ref_histogram(&reference, reals, edges, weights, wanted64);
        test_ok(gpuscan_histogram_host(test.gs, reals, got64, counts[n], &d));
        test_same(GPUSCAN_TYPE_U64, got64, wanted64, 6);
    }
    test_case("halves on the host's arrays, whose edges are floats");
    for (i = 0; i < 1000; i++)
        halves[i] = (uint16_t)ref_float_to_half(reals[i]);
    memset(&d, 0, sizeof d);
    d.sample_type = GPUSCAN_TYPE_F16;
    d.bins = 4;
    d.form = GPUSCAN_BINS_EDGES;
    d.host_edges = edges;
    reference = d;
    reference.count = 1000;
    ref_histogram(&reference, halves, edges, NULL, wanted);
    test_ok(gpuscan_histogram_host(test.gs, halves, got, 1000, &d));
    test_same(GPUSCAN_TYPE_U32, got, wanted, 4);

    test_case("rows on the host's arrays");
    memset(&d, 0, sizeof d);
    d.rows = 11;
    d.pitch = 90;
    d.channels = 3;
    d.channel_mask = 5;
    d.weights_pitch = 70;
    d.weight_type = GPUSCAN_TYPE_U16;
    d.host_weights = weights;
    reference = d;
    reference.count = 67;
    ref_histogram(&reference, bytes, NULL, weights, wanted);
    test_ok(gpuscan_histogram_host(test.gs, bytes, got, 67, &d));
    test_same(GPUSCAN_TYPE_U32, got, wanted, 2 * 256);

    test_case("counters in structs of the host's, whose other members stay");
    memset(&d, 0, sizeof d);
    d.bins = 100;
    d.counts_stride = 3;
    reference = d;
    reference.count = 1000;
    memset(got, 0xCD, (99 * 3 + 1) * 4);
    memset(wanted, 0xCD, (99 * 3 + 1) * 4);
    ref_histogram(&reference, bytes, NULL, NULL, wanted);
    test_ok(gpuscan_histogram_host(test.gs, bytes, got, 1000, &d));
    test_same(GPUSCAN_TYPE_U32, got, wanted, 99 * 3 + 1);
    free(bytes);
    free(reals);
    free(weights);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_length),
                                       TEST(edges_and_random_lengths),
                                       TEST(more_than_32_bits),
                                       TEST(many_short_rows),
                                       TEST(whole_range_of_integers),
                                       TEST(ranges_of_integers),
                                       TEST(closed_past_the_type),
                                       TEST(random_ranges_of_integers),
                                       TEST(even_bins_of_floats),
                                       TEST(rounded_bounds),
                                       TEST(bins_finer_than_the_type),
                                       TEST(self_test_of_bins),
                                       TEST(more_bins_than_floats),
                                       TEST(wide_and_fine_ranges),
                                       TEST(subnormal_floats),
                                       TEST(explicit_edges),
                                       TEST(many_samples_between_edges),
                                       TEST(equal_edges),
                                       TEST(one_bin_per_value),
                                       TEST(many_bins),
                                       TEST(crowded_bins),
                                       TEST(more_bins_than_before),
                                       TEST(images),
                                       TEST(channels_of_all_types),
                                       TEST(offsets),
                                       TEST(device_counts),
                                       TEST(bounds_of_channels), TEST(weights_and_counters),
                                       TEST(accumulated_counters), TEST(counters_apart),
                                       TEST(scratch_of_the_caller),
                                       TEST(limited_devices), TEST(bytes_by_value), TEST(more_bins_than_values),
                                       TEST(little_local_memory),
                                       TEST(no_samples),
                                       TEST(host_arrays), TEST(host_tiles)};
    test_select();
    return cmocka_run_group_tests_name("histogram", tests, test_open, test_close);
}
