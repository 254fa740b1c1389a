/* Properties that hold bit by bit for floats with every strategy:
   - A result is init, or the operator's start value, combined with the elements from the left. Sums start with +0 like
   a loop in C, so a sum of -0 is +0 unless init is -0. MIN and MAX skip NaN; if all values are
   NaN, init included, they give the identity, an infinity.
   - In scans, the total is the last inclusive element, exclusive[i + 1] is inclusive[i], sums of non-negative elements
   never decrease, and adding 0 changes no sum.
   Also checks that sums of one sign are as exact as the header says, for any count and few work-items.
      cc -O2 test_floats.c -o test_floats -lcmocka -lOpenCL -lm */
#include "harness.h"

/* Elements of one value, so that every order gives these bits. */
typedef struct float_case {
    const char *what;
    gpuscan_op  op;
    int         has_init;
    double      element, init, result;
} float_case;

static const gpuscan_type types[] = {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64};
static const uint64_t     counts[] = {1, 2, 15, 16, 17, 33, 255, 1000, 5003};

static void check(const float_case *c, gpuscan_type type, uint64_t n, gpuscan_strategy strategy) {
    size_t              size = ref_size(type);
    unsigned char      *in = (unsigned char *)test_alloc(n * size), *got = (unsigned char *)test_alloc(n * size);
    unsigned char       init[8], wanted[8], result[8];
    gpuscan_scan_desc   scan;
    gpuscan_reduce_desc reduce;
    gpuscan_result      r;
    uint64_t            i;
    memset(&scan, 0, sizeof scan);
    memset(&reduce, 0, sizeof reduce);
    for (i = 0; i < n; i++)
        ref_store(type, in, i, ref_real(c->element));
    ref_store(type, init, 0, ref_real(c->init));
    ref_store(type, wanted, 0, ref_real(c->result));
    scan.src_type = reduce.src_type = type;
    scan.op = reduce.op = c->op;
    scan.kind = GPUSCAN_INCLUSIVE;
    scan.init = reduce.init = c->has_init ? init : NULL;
    scan.call.strategy = reduce.call.strategy = strategy;
    test_case("%s, %s, %s, %u elements", c->what, test_type_name(type), test_strategy_name(strategy), (unsigned)n);
    r = gpuscan_reduce_host(test.gs, in, result, n, &reduce);
    if (r != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
        test_ok(r);
        test_same_bytes(result, wanted, size, 1);
    }
    r = gpuscan_scan_host(test.gs, in, got, n, &scan);
    if (r != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
        test_ok(r);
        for (i = 0; i < n; i++)
            test_same_bytes(got + i * size, wanted, size, 1);
    }
    free(in);
    free(got);
}

static void test_starts(void **state) {
    const double     nan = (double)NAN, large = (double)INFINITY;
    const float_case cases[] = {{"-0", GPUSCAN_OP_ADD, 0, -0.0, 0.0, 0.0},
                                {"-0 after -0", GPUSCAN_OP_ADD, 1, -0.0, -0.0, -0.0},
                                {"-0 after +0", GPUSCAN_OP_ADD, 1, -0.0, 0.0, 0.0},
                                {"+0 after -0", GPUSCAN_OP_ADD, 1, 0.0, -0.0, 0.0},
                                {"the least of NaN", GPUSCAN_OP_MIN, 0, nan, 0.0, large},
                                {"the largest of NaN", GPUSCAN_OP_MAX, 0, nan, 0.0, -large},
                                {"the least of NaN after NaN", GPUSCAN_OP_MIN, 1, nan, nan, large},
                                {"the largest of NaN after NaN", GPUSCAN_OP_MAX, 1, nan, nan, -large},
                                {"the least of NaN after 3", GPUSCAN_OP_MIN, 1, nan, 3.0, 3.0},
                                {"the largest of NaN after 3", GPUSCAN_OP_MAX, 1, nan, 3.0, 3.0}};
    size_t           c, t, n;
    int              s;
    (void)state;
    for (t = 0; t < sizeof types / sizeof *types; t++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
            if (!test_share(t * GPUSCAN_STRATEGY_COUNT + (size_t)s, 1) ||
                (types[t] == GPUSCAN_TYPE_F64 && !test.info.has_f64))
                continue;
            for (c = 0; c < sizeof cases / sizeof *cases; c++)
                for (n = 0; n < sizeof counts / sizeof *counts; n++)
                    check(&cases[c], types[t], counts[n], (gpuscan_strategy)s);
        }
}

/* Elements whose sums round differently in every order. */
typedef enum spread { EVEN, WIDE, SPARSE, ZEROS, TENTHS, SIGNED, SPREADS } spread;
static const char *const spread_names[SPREADS] = {"[0, 1)", "2^-20 to 2^20",      "runs of 0",
                                                  "-0",     "0.1", "of both signs and 0"};

static double spread_value(spread s, gpuscan_type type) {
    static uint64_t zeros; /* remaining in a run */
    switch (s) {
    case WIDE: /* f16 is no wider */
        return ldexp(1 + test_unit(), (int)test_below(type == GPUSCAN_TYPE_F16 ? 16 : 41) -
                                          (type == GPUSCAN_TYPE_F16 ? 14 : 20));
    case SPARSE: /* so that runs span and end at all borders */
        if (zeros == 0 && test_below(3) == 0)
            zeros = test_below(test_below(8) ? 9 : 3000) + 1;
        if (zeros > 0)
            return --zeros % 2 ? 0.0 : -0.0;
        return test_unit() * 100;
    case ZEROS:
        return test_below(300) ? -0.0 : test_below(2) ? 0.0 : test_unit();
    case TENTHS:
        return 0.1;
    case SIGNED:
        return test_below(3) ? test_unit() - 0.5 : 0;
    case EVEN:
    case SPREADS:
        break;
    }
    return test_unit();
}

typedef struct layout {
    uint64_t rows, count, src_gap, dst_gap, src_offset, dst_offset;
    unsigned init, in_place, counted; /* init: 1: 0.7, 2: -0 (of sums). counted: a smaller count on the device */
} layout;

/* Scans into dst and returns its elements, or NULL if refused. */
static const unsigned char *sums(gpuscan_scan_desc *d, gpuscan_scan_kind kind, test_buffer *src, const void *in,
                                 test_buffer *dst, const layout *l) {
    test_buffer *out = l->in_place ? src : dst;
    test_buffer_set(src, l->src_offset, (l->rows - 1) * (l->count + l->src_gap) + l->count, in);
    if (!l->in_place)
        test_buffer_set(dst, l->dst_offset, (l->rows - 1) * (l->count + l->dst_gap) + l->count, NULL);
    d->kind = kind;
    d->src = src->at;
    d->dst = out->at;
    return test_scan_ran(d) ? (const unsigned char *)test_buffer_get(out) : NULL;
}

/* log(exp(a) + exp(b)) */
static const gpuscan_custom log_sum = {NULL, NULL, 0, "a == b ? a + M_LN2_F : fmax(a, b) + log1p(exp(-fabs(a - b)))",
                                       "-INFINITY", NULL, NULL, NULL, NULL};

/* Returns the sum after element i of `in`, a zero: `before`, or +0 if that is -0 and the element is +0. */
static const unsigned char *after_zero(gpuscan_type type, const unsigned char *before, const unsigned char *in,
                                       uint64_t i) {
    static const unsigned char zero[8] = {0};
    return ref_load(type, before, 0).real == 0 && !signbit(ref_load(type, in, i).real) ? zero : before;
}

static void check_sums(gpuscan_type type, gpuscan_strategy strategy, gpuscan_op op, spread s, const layout *l) {
    const size_t         size = ref_size(type);
    const uint64_t       src_pitch = l->count + l->src_gap;
    const uint64_t       dst_pitch = l->in_place ? src_pitch : l->count + l->dst_gap;
    const uint64_t       all = l->rows * (src_pitch > dst_pitch ? src_pitch : dst_pitch);
    const uint64_t       count = l->counted ? l->count - l->count / 3 : l->count;
    unsigned char       *in = (unsigned char *)test_alloc(all * size), *kept = (unsigned char *)test_alloc(all * size);
    const unsigned char *got, *total;
    unsigned char        init[8];
    test_buffer          src = test_buffer_new(CL_MEM_READ_WRITE, size, all), dst, totals, counter;
    gpuscan_scan_desc    d;
    uint64_t             i, r;
    memset(&d, 0, sizeof d);
    dst = test_buffer_new(CL_MEM_READ_WRITE, size, all);
    totals = test_buffer_new(CL_MEM_READ_WRITE, size, l->rows);
    counter = test_count_buffer(l->counted ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT, count);
    for (i = 0; i < all; i++)
        ref_store(type, in, i, ref_real(spread_value(s, type)));
    ref_store(type, init, 0,
              ref_real(l->init == 1              ? 0.7
                       : op == GPUSCAN_OP_MUL    ? 1
                       : op == GPUSCAN_OP_CUSTOM ? -(double)INFINITY
                       : l->init                 ? -0.0
                                                 : 0));
    d.count = l->count;
    d.rows = l->rows;
    d.src_pitch = src_pitch;
    d.dst_pitch = dst_pitch;
    d.src_type = type;
    d.op = op;
    d.custom = op == GPUSCAN_OP_CUSTOM ? &log_sum : NULL;
    d.init = l->init ? init : NULL;
    d.count_buffer = counter.at;
    d.count_type = l->counted ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
    d.call.strategy = strategy;
    test_case("%s of %s, %s, %s, %u rows of %u elements, offsets %u and %u%s%s%s", test_op_name(op), spread_names[s],
              test_type_name(type), test_strategy_name(strategy), (unsigned)l->rows, (unsigned)count,
              (unsigned)l->src_offset, (unsigned)l->dst_offset, l->init == 1 ? ", init" : l->init ? ", init -0" : "",
              l->in_place ? ", in place" : "", l->counted ? ", counted" : "");
    test_buffer_set(&totals, 1, l->rows, NULL);
    d.total = totals.at;
    if ((got = sums(&d, GPUSCAN_INCLUSIVE, &src, in, &dst, l)) != NULL) {
        memcpy(kept, got, (size_t)((l->rows - 1) * dst_pitch + l->count) * size);
        total = (const unsigned char *)test_buffer_get(&totals);
        for (r = 0; r < l->rows; r++) {
            const unsigned char *row = kept + r * dst_pitch * size;
            test_same_bytes(total + r * size, row + (count - 1) * size, size, 1);
            for (i = 0; op == GPUSCAN_OP_ADD && i < count; i++)
                if (ref_load(type, in, r * src_pitch + i).real == 0)
                    test_same_bytes(row + i * size,
                                    after_zero(type, i ? row + (i - 1) * size : init, in, r * src_pitch + i), size, 1);
            for (i = 1; s != SIGNED && op == GPUSCAN_OP_ADD && i < count; i++)
                if (!(ref_load(type, row, i).real >= ref_load(type, row, i - 1).real))
                    fail_msg("%s: element %u of row %u decreases: %.17g after %.17g", test.what, (unsigned)i,
                             (unsigned)r, ref_load(type, row, i).real, ref_load(type, row, i - 1).real);
        }
    }
    if (got && (got = sums(&d, GPUSCAN_EXCLUSIVE, &src, in, &dst, l)) != NULL)
        for (r = 0; r < l->rows; r++) {
            test_same_bytes(got + r * dst_pitch * size, init, size, 1);
            test_same_bytes(got + (r * dst_pitch + 1) * size, kept + r * dst_pitch * size, size, count - 1);
            total = (const unsigned char *)test_buffer_get(&totals);
            test_same_bytes(total + r * size, kept + (r * dst_pitch + count - 1) * size, size, 1);
        }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    test_buffer_free(&totals);
    test_buffer_free(&counter);
    free(in);
    free(kept);
}

static const uint64_t lengths[] = {1,    2,    7,    15,    16,    17,     63,     64,      65,
                                   127,  255,  257,  1000,  4097,  16385,  33000,  100003,  1048577};
static const layout   layouts[] = {{3, 1001, 5, 2, 3, 1, 1, 0, 0}, {2, 40007, 1, 9, 0, 0, 0, 0, 0},
                                   {3000, 7, 0, 0, 0, 5, 2, 0, 0}, {3000, 32, 1, 0, 1, 0, 0, 0, 0},
                                   {40, 3000, 0, 1, 0, 0, 1, 0, 0}, {1, 70001, 0, 0, 5, 3, 1, 0, 0},
                                   {1, 70001, 0, 0, 2, 2, 0, 1, 0}, {2, 5003, 3, 0, 0, 0, 2, 1, 0},
                                   {1, 90001, 0, 0, 0, 0, 1, 0, 1}};

/* Checks one strategy with one type, hence two programs. scale: divides the counts. */
static void check_strategy(gpuscan_type type, gpuscan_strategy strategy, gpuscan_op op, uint64_t scale) {
    size_t   n;
    unsigned s = (unsigned)test_below(SPREADS);
    for (n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        layout l = {1, 0, 0, 0, 0, 0, 0, 0, 0};
        l.count = lengths[n];
        l.init = (unsigned)test_below(3);
        if (l.count <= 1048577 / scale)
            check_sums(type, strategy, op, (spread)(s++ % SPREADS), &l);
    }
    for (n = 0; n < sizeof layouts / sizeof *layouts; n++)
        if (layouts[n].rows * layouts[n].count <= 1048577 / scale)
            check_sums(type, strategy, op, (spread)(s++ % SPREADS), &layouts[n]);
}

static void test_order(void **state) {
    size_t t;
    int    s;
    (void)state;
    for (t = 0; t < sizeof types / sizeof *types; t++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
            if (test_has_type(types[t]) && (types[t] == GPUSCAN_TYPE_F32 || test_share(t + (size_t)s, 3)))
                check_strategy(types[t], (gpuscan_strategy)s, GPUSCAN_OP_ADD, test_size(256, 1, 1));
    if (!test.is_small) {
        check_strategy(GPUSCAN_TYPE_F32, test_pair_strategy(GPUSCAN_TYPE_F32, GPUSCAN_OP_MUL), GPUSCAN_OP_MUL, 8);
        check_strategy(GPUSCAN_TYPE_F32, test_pair_strategy(GPUSCAN_TYPE_F32, GPUSCAN_OP_CUSTOM), GPUSCAN_OP_CUSTOM, 8);
        check_strategy(GPUSCAN_TYPE_F32, GPUSCAN_STRATEGY_AUTO, GPUSCAN_OP_MUL, 1);
    }
}

/* Checks one column of results: the order of sums, the bits of an exclusive scan, and the error of sums of one sign. */
static void check_column(gpuscan_type type, spread s, const unsigned char *in, const unsigned char *inclusive,
                         const unsigned char *exclusive, uint64_t column, uint64_t columns, uint64_t count) {
    const double bound = type == GPUSCAN_TYPE_F64 ? 2e-15 : type == GPUSCAN_TYPE_F16 ? 5e-4 : 1e-6;
    const size_t size = ref_size(type);
    double       sum = 0, lost = 0;
    uint64_t     i;
    for (i = 0; i < count; i++) {
        uint64_t at = i * columns + column;
        double   x = ref_load(type, in, at).real, before = sum, y = ref_load(type, inclusive, at).real;
        if (i > 0)
            test_same_bytes(exclusive + at * size, inclusive + (at - columns) * size, size, 1);
        if (i > 0 && x == 0)
            test_same_bytes(inclusive + at * size, inclusive + (at - columns) * size, size, 1);
        if (s == SIGNED)
            continue;
        if (i > 0 && !(y >= ref_load(type, inclusive, at - columns).real))
            fail_msg("%s: line %u of column %u decreases", test.what, (unsigned)i, (unsigned)column);
        sum += x;
        lost += before >= x ? (before - sum) + x : (x - sum) + before;
        if (!(fabs((y - sum) - lost) <= bound * sum))
            fail_msg("%s: line %u of column %u: %.17g instead of %.17g", test.what, (unsigned)i, (unsigned)column, y,
                     sum);
    }
}

/* Scans columns three times: inclusive and exclusive, and inclusive again for the same bits. */
static void check_columns(gpuscan_type type, gpuscan_strategy strategy, spread s, uint64_t columns, uint64_t count) {
    const size_t      size = ref_size(type);
    const uint64_t    all = columns * count;
    unsigned char    *in = (unsigned char *)test_alloc(all * size), *out[3];
    gpuscan_scan_desc d;
    uint64_t          i;
    int               k, ran = 1;
    memset(&d, 0, sizeof d);
    for (i = 0; i < all; i++)
        ref_store(type, in, i, ref_real(spread_value(s, type)));
    d.src_type = type;
    d.along = GPUSCAN_ALONG_COLUMNS;
    d.rows = columns;
    d.call.strategy = strategy;
    test_case("columns: %s, %s, %s, %u lines of %u", spread_names[s], test_type_name(type),
              test_strategy_name(strategy), (unsigned)count, (unsigned)columns);
    for (k = 0; k < 3; k++) {
        out[k] = (unsigned char *)test_alloc(all * size);
        d.kind = k == 1 ? GPUSCAN_EXCLUSIVE : GPUSCAN_INCLUSIVE;
        ran = ran && test_ran(gpuscan_scan_host(test.gs, in, out[k], count, &d), strategy, test_scan_refusal(&d));
    }
    if (ran)
        test_same_bytes(out[2], out[0], size, all);
    for (i = 0; ran && i < columns; i += 1 + columns / 8)
        check_column(type, s, in, out[0], out[1], i, columns, count);
    for (k = 0; k < 3; k++)
        free(out[k]);
    free(in);
}

static void test_columns(void **state) {
    static const uint64_t shapes[][2] = {{3, 70001}, {7, 2003}, {33, 9001}, {300, 777}, {1030, 60}, {9, 33}};
    size_t                t, n;
    int                   s;
    (void)state;
    for (t = 0; t < sizeof types / sizeof *types; t++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
            for (n = 0; n < sizeof shapes / sizeof *shapes && test_has_type(types[t]); n++)
                if (test_share(t + (size_t)s + n, 1)) {
                    spread how = (spread)test_below(SPREADS);
                    if (types[t] == GPUSCAN_TYPE_F16) /* larger sums would be infinite */
                        how = EVEN;
                    check_columns(types[t], (gpuscan_strategy)s, how, shapes[n][0],
                                  test_size(shapes[n][1] / 64 + 1, shapes[n][1], shapes[n][1]));
                }
}

/* The bound for all strategies at gpuscan_scan_desc, with data that lose much: 1, and then so little that 1 does not
   change if it is added, once per line of the first block and then once per block, band or batch. Each column supposes
   another number of lines per block. */
static void test_columns_bound(void **state) {
    enum { COLUMNS = 65, LINES = 8000, LEAST = 20 };
    const float little = ldexpf(1, -24);
    float *in = (float *)test_alloc(COLUMNS * LINES * sizeof(float));
    float *out = (float *)test_alloc(COLUMNS * LINES * sizeof(float));
    unsigned i, column, group;
    int s;
    (void)state;
    for (i = 0; i < COLUMNS * LINES; i++) {
        unsigned line = i / COLUMNS, block = LEAST + i % COLUMNS;
        int seen = line < block || (line < 4 * block ? line % block == 0 : line % (4 * block) == 0);
        in[i] = line == 0 ? 1 : seen ? little : 0;
    }
    for (group = 64; group <= 256; group *= 2)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
            gpuscan_limits limits;
            gpuscan_scan_desc d;
            memset(&limits, 0, sizeof limits);
            memset(&d, 0, sizeof d);
            limits.work_group_size = group;
            test_limit(&limits);
            d.src_type = GPUSCAN_TYPE_F32;
            d.along = GPUSCAN_ALONG_COLUMNS;
            d.kind = GPUSCAN_INCLUSIVE;
            d.rows = COLUMNS - (group == 64 ? 32 : 0); /* just above half a group */
            d.call.strategy = (gpuscan_strategy)s;
            d.src_pitch = d.dst_pitch = COLUMNS;
            test_case("bound along columns: groups of %u, %s", group, test_strategy_name(d.call.strategy));
            if (!test_ran(gpuscan_scan_host(test.gs, in, out, LINES, &d), d.call.strategy, test_scan_refusal(&d)))
                continue;
            for (column = 0; column < d.rows; column++) {
                double sum = 0;
                for (i = column; i < COLUMNS * LINES; i += COLUMNS) {
                    sum += (double)in[i];
                    if (!(fabs((double)out[i] - sum) <= 5e-6 * sum))
                        fail_msg("%s: line %u of column %u: %.9g instead of %.9g", test.what, i / COLUMNS, column,
                                 (double)out[i], sum);
                }
            }
        }
    free(in);
    free(out);
}

/* What is summed: all elements, segments by keys, or runs of equal keys. */
typedef enum summed { SUMMED_ALL, SUMMED_SEGMENTS, SUMMED_RUNS, SUMMED_FORMS } summed;
static const char *const summed_names[SUMMED_FORMS] = {"all", "segments", "runs"};

/* Makes keys in runs of about `every` equal neighbours; 0: all equal. */
static uint32_t *keys_of(uint64_t count, uint32_t every) {
    uint32_t *keys = (uint32_t *)test_alloc(count * sizeof *keys);
    uint64_t  i;
    for (i = 0; i < count; i++)
        keys[i] = i == 0 ? 0 : keys[i - 1] + (every && test_random() % every == 0);
    return keys;
}

static void scan_by_keys(gpuscan_scan_desc *d, const uint32_t *keys) {
    d->segments.form = GPUSCAN_SEGMENTS_KEYS;
    d->segments.type = GPUSCAN_TYPE_U32;
    d->segments.host_data = keys;
}

/* Fills got with the inclusive sums of in, or with the sums of its *counted runs. Returns whether the strategy ran. */
static int sum_into(void *got, summed form, gpuscan_type type, gpuscan_strategy strategy, const gpuscan_custom *custom,
                    const void *in, const uint32_t *keys, uint64_t count, uint64_t *counted) {
    gpuscan_scan_desc scan;
    gpuscan_runs_desc runs;
    memset(&scan, 0, sizeof scan);
    memset(&runs, 0, sizeof runs);
    scan.kind = GPUSCAN_INCLUSIVE;
    scan.src_type = runs.src_type = type;
    scan.custom = runs.custom = custom;
    scan.call.strategy = runs.call.strategy = strategy;
    runs.host_src = in;
    runs.host_dst = got;
    if (form == SUMMED_SEGMENTS)
        scan_by_keys(&scan, keys);
    *counted = count;
    return form == SUMMED_RUNS ? test_ran(gpuscan_runs_host(test.gs, keys, NULL, count, counted, &runs), strategy,
                                          test_runs_refusal(&runs))
                               : test_ran(gpuscan_scan_host(test.gs, in, got, count, &scan), strategy,
                                          test_scan_refusal(&scan));
}

/* Compares sums of elements of one sign with sums of doubles, less what these lose. Elements are equal, so that
   roundings add up, or any of [0, element). every: mean length of runs of equal keys; 0: all equal. */
static void check_scan_error(gpuscan_type type, gpuscan_strategy strategy, summed form, uint64_t count, double element,
                             int any, uint32_t every) {
    const double      bound = type == GPUSCAN_TYPE_F64 ? 2e-15 : 1e-6;
    const double      stored = type == GPUSCAN_TYPE_F16 ? 1.0 / 2048 : 0; /* only the result's rounding */
    const size_t      size = ref_size(type);
    unsigned char    *in = (unsigned char *)test_alloc(count * size), *got = (unsigned char *)test_alloc(count * size);
    uint32_t         *keys = keys_of(count, every);
    double            sum = 0, lost = 0, error, worst = 0;
    uint64_t          i, at = 0, run = 0, counted = 0;
    int               ran;
    for (i = 0; i < count; i++)
        ref_store(type, in, i, ref_real(any ? test_unit() * element : element));
    test_case("%s%g, %s, %s, %s of about %u, %u elements", any ? "up to " : "", element, test_type_name(type),
              test_strategy_name(strategy), summed_names[form], (unsigned)every, (unsigned)count);
    ran = sum_into(got, form, type, strategy, NULL, in, keys, count, &counted);
    for (i = 0; ran && i < count; i++) {
        double x = ref_load(type, in, i).real, before;
        if (form != SUMMED_ALL && i > 0 && keys[i] != keys[i - 1]) {
            sum = lost = 0;
            run++;
        }
        before = sum;
        sum += x;
        lost += before >= x ? (before - sum) + x : (x - sum) + before;
        if (form == SUMMED_RUNS && i + 1 < count && keys[i + 1] == keys[i])
            continue;
        error = fabs((ref_load(type, got, form == SUMMED_RUNS ? run : i).real - sum) - lost) / sum;
        if (!(error <= worst)) {
            worst = error;
            at = i;
        }
    }
    if (!(worst <= bound + stored))
        fail_msg("%s: the sum at element %u has an error of %g", test.what, (unsigned)at, worst);
    if (ran && form == SUMMED_RUNS)
        assert_int_equal(counted, run + 1);
    free(in);
    free(got);
    free(keys);
}

/* Scales f16, whose sums end at 65504. */
static void check_scan_errors(gpuscan_type type, gpuscan_strategy strategy, summed form, uint64_t count) {
    const double scale = type == GPUSCAN_TYPE_F16 ? 1.0 / 1024 : 1;
    check_scan_error(type, strategy, form, count, 0.1 * scale, 0, 0);
    check_scan_error(type, strategy, form, count + 77, scale, 1, 0);
    if (form != SUMMED_ALL) {
        check_scan_error(type, strategy, form, count, 0.1 * scale, 0, 100000);
        check_scan_error(type, strategy, form, count / 8, 0.1 * scale, 0, 300);
    }
}

static void test_errors_of_scans(void **state) {
    size_t t;
    int    s, form;
    (void)state;
    for (t = 0; t < sizeof types / sizeof *types; t++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
            for (form = 0; form < SUMMED_FORMS; form++)
                if (test_has_type(types[t]) &&
                    (types[t] == GPUSCAN_TYPE_F32 || test_share(t + (size_t)(s + form), 6)))
                    check_scan_errors(types[t], (gpuscan_strategy)s, (summed)form,
                                      test_size(1000, form == SUMMED_ALL ? 2000003 : 600011, 40000003));
}

/* Keeps tiles from publishing, so that others compute their sums: the bits must not change. */
static void check_late_tiles(gpuscan_type type, gpuscan_strategy strategy, summed form, uint32_t every,
                             uint32_t lanes) {
    static const gpuscan_custom silent = {"#define GPUSCAN_TEST_SILENT(tile) ((tile) % 3u != 1u)\n"
                                          "#define GPUSCAN_TEST_DELAY(tile)\n",
                                          NULL, 0, NULL, NULL, "x", NULL, NULL, NULL};
    const uint64_t    count = test_size(300, 200003, 600011);
    const size_t      size = ref_size(type);
    unsigned char    *in = (unsigned char *)test_alloc(count * size), *out = (unsigned char *)test_alloc(count * size);
    unsigned char    *wanted = (unsigned char *)test_alloc(count * size);
    uint32_t         *keys = keys_of(count, every);
    uint64_t          i, sums, again;
    for (i = 0; i < count; i++)
        ref_store(type, in, i, ref_real(spread_value(i % 2 ? EVEN : SPARSE, type)));
    test_case("late tiles, %s, %s, %s of %u, %u lanes", test_type_name(type), test_strategy_name(strategy),
              summed_names[form], (unsigned)every, (unsigned)lanes);
    if (sum_into(out, form, type, strategy, NULL, in, keys, count, &sums)) {
        memcpy(wanted, out, (size_t)count * size); /* both calls write to out: bits may depend on its alignment */
        memset(out, 0xff, (size_t)count * size);
        assert_true(sum_into(out, form, type, strategy, &silent, in, keys, count, &again) && again == sums);
        test_same_bytes(out, wanted, size, sums);
        test_uses_hook(test.gs, "SILENT");
    }
    free(in);
    free(out);
    free(wanted);
    free(keys);
}

static void test_late_tiles(void **state) {
    static const uint32_t lanes[] = {0, 8, 32};
    gpuscan_limits        limits;
    size_t                w, t, form;
    int                   s;
    (void)state;
    memset(&limits, 0, sizeof limits);
    for (w = 0; w < sizeof lanes / sizeof *lanes; w++) {
        limits.lanes = lanes[w];
        test_limit(&limits);
        for (t = 0; t < sizeof types / sizeof *types; t++)
            for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
                for (form = 0; form < SUMMED_FORMS; form++)
                    if (test_is_single_pass((gpuscan_strategy)s) && !test_is_refused((gpuscan_strategy)s) &&
                        test_has_type(types[t]) &&
                        test_share(w + t + (size_t)s + form / 2 * 3, form == SUMMED_RUNS ? 24 : 12)) {
                        check_late_tiles(types[t], (gpuscan_strategy)s, (summed)form, 100000, lanes[w]);
                        if (form != SUMMED_ALL)
                            check_late_tiles(types[t], (gpuscan_strategy)s, (summed)form, 50, lanes[w]);
                    }
    }
}

/* Late tiles of structs whose number in a tile would be odd, with results that a CPU stores past its caches. */
static void test_late_tiles_of_structs(void **state) {
    static const char text[] = "#define GPUSCAN_TEST_SILENT(tile) ((tile) % 3u != 1u)\n"
                               "#define GPUSCAN_TEST_DELAY(tile)\n"
                               "typedef struct { float x, y, z; } triple;\n";
    gpuscan_custom    custom = {strstr(text, "typedef"), "triple", 12, NULL, NULL, "x.x", NULL, NULL, NULL};
    const uint64_t    count = test_size(6000, 60000, 600000), cache = test.gs->device.cache;
    const uint32_t    chunk = test.gs->device.profile.cpu.chunk, ahead = test.gs->device.profile.cpu.prefetch_dst;
    float            *in = (float *)test_alloc(count * 12), *out = (float *)test_alloc(count * 4);
    float            *wanted = (float *)test_alloc(count * 4);
    gpuscan_scan_desc d;
    uint64_t          i;
    (void)state;
    for (i = 0; i < 3 * count; i++)
        in[i] = (float)(test_unit() + 1e-3);
    test_chunk(4096);
    test.gs->device.profile.cpu.prefetch_dst = 0;
    test.gs->device.cache = 0;
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_CUSTOM;
    d.dst_type = GPUSCAN_TYPE_F32;
    d.custom = &custom;
    d.kind = GPUSCAN_INCLUSIVE;
    d.call.strategy = GPUSCAN_STRATEGY_CPU_SINGLE_PASS;
    test_case("late tiles of structs");
    if (test_ran(gpuscan_scan_host(test.gs, in, out, count, &d), d.call.strategy, test_scan_refusal(&d))) {
        memcpy(wanted, out, (size_t)count * 4);
        custom.source = text;
        test_ok(gpuscan_scan_host(test.gs, in, out, count, &d));
        test_same_bytes(out, wanted, 4, count);
    }
    test.gs->device.cache = cache;
    test.gs->device.profile.cpu.prefetch_dst = ahead;
    test_chunk(chunk);
    free(in);
    free(out);
    free(wanted);
}

/* The same properties of host arrays. */
static void test_order_of_host_arrays(void **state) {
    const uint64_t    count = test_size(300, 300007, 4000037);
    float            *in = (float *)test_alloc(count * 4), *inclusive = (float *)test_alloc(count * 4);
    float            *out = (float *)test_alloc(count * 4); /* for both, so that alignments are equal */
    gpuscan_scan_desc d;
    uint64_t          i;
    int               s;
    (void)state;
    for (i = 0; i < count; i++)
        in[i] = (float)spread_value((spread)(i * 5 / count % SIGNED), GPUSCAN_TYPE_F32);
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        if (!test_share((uint64_t)s, 2))
            continue;
        test_case("host arrays, %s", test_strategy_name((gpuscan_strategy)s));
        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_F32;
        d.kind = GPUSCAN_INCLUSIVE;
        d.call.strategy = (gpuscan_strategy)s;
        if (!test_ran(gpuscan_scan_host(test.gs, in, out, count, &d), (gpuscan_strategy)s, test_scan_refusal(&d)))
            continue;
        memcpy(inclusive, out, (size_t)count * 4);
        d.kind = GPUSCAN_EXCLUSIVE;
        test_ok(gpuscan_scan_host(test.gs, in, out, count, &d));
        test_same_bytes(out + 1, inclusive, 4, count - 1);
        for (i = 1; i < count; i++)
            if (!(inclusive[i] >= inclusive[i - 1]))
                fail_msg("%s: element %u decreases", test.what, (unsigned)i);
    }
    free(in);
    free(inclusive);
    free(out);
}

/* Checks segments of about `length` elements, each by itself. */
static void check_segments(gpuscan_strategy strategy, uint64_t count, uint64_t length, const float *init) {
    float            *in = (float *)test_alloc(count * 4), *inclusive = (float *)test_alloc(count * 4);
    float            *exclusive = (float *)test_alloc(count * 4), before;
    uint32_t         *keys = (uint32_t *)test_alloc(count * 4);
    gpuscan_scan_desc d;
    uint64_t          i;
    for (i = 0; i < count; i++) {
        in[i] = (float)spread_value(count % 2 ? WIDE : SPARSE, GPUSCAN_TYPE_F32);
        keys[i] = i == 0 ? 7 : test_below(length) ? keys[i - 1] : keys[i - 1] + 1;
    }
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_F32;
    d.init = init;
    d.kind = GPUSCAN_INCLUSIVE;
    scan_by_keys(&d, keys);
    d.call.strategy = strategy;
    test_case("segments of about %u of %u elements%s, %s", (unsigned)length, (unsigned)count, init ? ", init" : "",
              test_strategy_name(strategy));
    if (test_ran(gpuscan_scan_host(test.gs, in, inclusive, count, &d), strategy, test_scan_refusal(&d))) {
        d.kind = GPUSCAN_EXCLUSIVE;
        test_ok(gpuscan_scan_host(test.gs, in, exclusive, count, &d));
        for (i = 0; i < count; i++) {
            before = i > 0 && keys[i] == keys[i - 1] ? inclusive[i - 1] : init ? *init : 0;
            test_same_bytes(&exclusive[i], &before, 4, 1);
            if (!(inclusive[i] >= before) || (in[i] == 0 && inclusive[i] != before))
                fail_msg("%s: element %u is %.9g after %.9g", test.what, (unsigned)i, (double)inclusive[i],
                         (double)before);
        }
    }
    free(in);
    free(inclusive);
    free(exclusive);
    free(keys);
}

static void check_segments_of_lengths(gpuscan_strategy strategy, uint64_t count) {
    static const uint64_t segments[] = {3, 50, 1000, 1000000};
    const float           init = 0.7f;
    size_t                n;
    for (n = 0; n < sizeof segments / sizeof *segments; n++)
        check_segments(strategy, count + n, segments[n], n % 2 ? &init : NULL);
}

static void test_order_of_segments(void **state) {
    int s;
    (void)state;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
        if (test_share((uint64_t)s, 3))
            check_segments_of_lengths((gpuscan_strategy)s, test_size(300, 20011, 300007));
}

/* The same with lanes by local memory; test_lanes.c says what PoCL cannot run. */
static void test_order_of_lanes(void **state) {
    static const uint32_t         widths[] = {8, 16, 32, 64};
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_SINGLE_PASS,
                                                  GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD};
    gpuscan_limits limits;
    size_t         w, s, t;
    (void)state;
    memset(&limits, 0, sizeof limits);
    for (w = 0; w < sizeof widths / sizeof *widths - (test.is_small ? 1 : 0); w++) {
        limits.lanes = widths[w];
        test_limit(&limits);
        for (s = 0; s < sizeof strategies / sizeof *strategies - (test.is_small ? 0 : 1); s++) {
            t = (w + s + test.seed) % (sizeof types / sizeof *types);
            if (test_has_type(types[t]) && test_share(w + s, 4)) {
                check_strategy(types[t], strategies[s], GPUSCAN_OP_ADD, test_size(256, 8, 4));
                check_scan_errors(types[t], strategies[s], (summed)(test_random() % SUMMED_FORMS),
                                  test_size(500, 200003, 2000003));
                if (strategies[s] == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD) /* a tile may load its end value */
                    check_strategy(types[t], strategies[s], GPUSCAN_OP_MUL, 256);
            }
            if (strategies[s] == GPUSCAN_STRATEGY_MULTI_PASS && test_share(w, 2))
                check_segments_of_lengths(strategies[s], test_size(300, 20011, 20011));
        }
    }
}

/* ---- errors of reductions ---------------------------------------------------------------------------------------- */

/* The addends. A struct holds four floats, each another multiple of the value. */
typedef struct addend {
    const char           *name;
    gpuscan_type          from, to;
    const gpuscan_custom *custom;
    unsigned              floats;
    double                bound, scale; /* of relative errors; of values, so that f16 sums stay finite */
} addend;

static const gpuscan_custom plus = {NULL, NULL, 0, "a + b", "0", NULL, NULL, NULL, NULL};
static const gpuscan_custom plus_four = {
    "typedef struct { float x, y, z, w; } four;\n"
    "four add(four a, four b) { a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w; return a; }\n"
    "four none(void) { four a; a.x = a.y = a.z = a.w = 0; return a; }\n",
    "four", 16, "add(a, b)", "none()", NULL, NULL, NULL, NULL};
static const addend addends[] = {
    {"f32", GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, NULL, 1, 1e-6, 1},
    {"f64", GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F64, NULL, 1, 2e-15, 1},
    {"f16", GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F16, NULL, 1, 1.0 / 2048 + 1e-6, 1.0 / 1024},
    {"f16 to f32", GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32, NULL, 1, 1e-6, 1},
    {"custom f32", GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, &plus, 1, 1e-6, 1},
    {"structs", GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, &plus_four, 4, 1e-6, 1}};

typedef enum amounts { ALL_TENTHS, ALL_THIRDS, ALL_1E_8, RANDOM_UNIT, ASCENDING, ONE_LARGE, AMOUNTS } amounts;
static const char *const amount_names[AMOUNTS] = {"0.1", "1/3", "1e-8", "[0, 1)", "ascending", "one large, many small"};

static double amount(amounts a, uint64_t i, uint64_t n) {
    const double constants[] = {0.1, 1.0 / 3, 1e-8};
    return a < RANDOM_UNIT ? constants[a]
           : a == RANDOM_UNIT ? test_unit()
           : a == ASCENDING   ? (double)(i + 1) / (double)n
           : i == 0           ? fmin((double)n / 2, 60000) /* fits f16 */
                              : 0.7;
}

/* A single result; a few long rows or many short ones; one long segment among short ones, or several long ones. */
typedef enum shape { ONE, LONG_ROWS, ROWS, ONE_LONG, LONG_SEGMENTS, SHAPES } shape;
static const char *const shape_names[SHAPES] = {"one result", "3 rows", "rows of 1500",
                                                "a long segment among short ones", "5 segments"};

/* Writes the segments' offsets and returns the number of segments; at[] gets one offset more. */
static uint64_t shape_offsets(shape s, uint64_t n, uint32_t *at) {
    uint64_t i, segments = s == ONE_LONG ? n / 64 : 5;
    for (i = 0; i <= segments; i++)
        at[i] = (uint32_t)(s == LONG_SEGMENTS         ? n * i / segments
                           : i <= segments / 2        ? 8 * i
                                                      : n - 8 * (segments - i));
    return segments;
}

static float multiple_of(double value, unsigned k) {
    return (float)(value * (k + 1));
}

/* Returns the sum of elements [first, last), with an error near 2^-100 of it: sum and rounding errors stay apart. */
static double exact_sum(const addend *x, const unsigned char *in, uint64_t first, uint64_t last, unsigned k) {
    double   sum = 0, error = 0;
    uint64_t i;
    for (i = first; i < last; i++) {
        double value = ref_load(x->custom ? GPUSCAN_TYPE_F32 : x->from, in, i * x->floats + k).real, next = sum + value;
        volatile double back = next - sum;
        error += value < sum ? value - back : sum - (next - value);
        sum = next;
    }
    return sum + error;
}

static void check_sum_error(const addend *x, gpuscan_strategy strategy, amounts a, shape s, uint64_t n,
                            const char *grid) {
    const size_t        from_size = x->custom ? 4 * x->floats : ref_size(x->from);
    const size_t        size = x->custom ? from_size : ref_size(x->to);
    unsigned char      *in = (unsigned char *)test_alloc(n * from_size), *got, *again;
    uint32_t           *at = (uint32_t *)test_alloc((n / 64 + 8) * 4);
    uint64_t            results = s == LONG_ROWS ? 3 : s == ROWS ? n / 1500 : 1, count = n / results, i;
    unsigned            k;
    gpuscan_reduce_desc d;
    memset(&d, 0, sizeof d);
    for (i = 0; i < n; i++)
        for (k = 0; k < x->floats; k++) {
            double value = amount(a, i % count, count) * x->scale;
            ref_store(x->custom ? GPUSCAN_TYPE_F32 : x->from, in, i * x->floats + k,
                      ref_real(x->custom ? (double)multiple_of(value, k) : value));
        }
    d.src_type = x->from;
    d.dst_type = x->to;
    d.op = x->custom ? GPUSCAN_OP_CUSTOM : GPUSCAN_OP_ADD;
    d.custom = x->custom;
    d.rows = results;
    d.call.strategy = strategy;
    if (s >= ONE_LONG) {
        results = shape_offsets(s, n, at);
        d.rows = 0;
        d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        d.segments.type = GPUSCAN_TYPE_U32;
        d.segments.count = results;
        d.segments.host_data = at;
    }
    got = (unsigned char *)test_alloc(results * size);
    again = (unsigned char *)test_alloc(results * size);
    test_case("sums of %u %s, %s, %s, %s, %s", (unsigned)n, x->name, amount_names[a], shape_names[s],
              test_strategy_name(strategy), grid);
    if (test_ran(gpuscan_reduce_host(test.gs, in, got, count, &d), strategy, test_reduce_refusal(&d))) {
        test_ok(gpuscan_reduce_host(test.gs, in, again, count, &d));
        test_same_bytes(again, got, size, results);
        for (i = 0; i < results; i++)
            for (k = 0; k < x->floats; k++) {
                uint64_t first = s >= ONE_LONG ? at[i] : i * count, last = s >= ONE_LONG ? at[i + 1] : first + count;
                double   wanted = exact_sum(x, in, first, last, k);
                double   sum = ref_load(x->custom ? GPUSCAN_TYPE_F32 : x->to, got, i * x->floats + k).real;
                if (!(fabs(sum - wanted) <= wanted * x->bound))
                    fail_msg("%s: result %u is %.17g, not %.17g: an error of %.2g", test.what, (unsigned)i, sum, wanted,
                             fabs(sum - wanted) / wanted);
            }
    }
    free(in);
    free(at);
    free(got);
    free(again);
}

/* Grids: the device's own; one work-item, which takes the most steps; lanes of one unit; for a CPU, many groups. */
typedef struct grid {
    const char *name;
    uint32_t    units, group, lanes;
} grid;
static const grid grids[] = {{"all units", 0, 0, 0},
                             {"1 work-item", 1, 1, 0},
                             {"1 unit, 8 lanes", 1, 64, 8},
                             {"200 units", 200, 0, 0}};

static void test_errors_of_sums(void **state) {
    const uint64_t n = test_size(4007, 200003, 16000057);
    size_t         g, x, s, a;
    int            strategy;
    (void)state;
    for (g = 0; g < sizeof grids / sizeof *grids; g++) {
        gpuscan_limits limits;
        memset(&limits, 0, sizeof limits);
        limits.work_group_size = grids[g].group;
        limits.lanes = grids[g].lanes;
        test_limit(&limits);
        if (grids[g].units)
            test.gs->device.units = grids[g].units;
        if (grids[g].group == 1) {
            test.gs->device.profile.reduce.per_unit = 1;
            test.gs->device.profile.segments.per_unit = 1;
        }
        for (x = 0; x < sizeof addends / sizeof *addends; x++)
            for (strategy = 0; strategy < GPUSCAN_STRATEGY_COUNT; strategy++)
                for (s = 0; s < SHAPES; s++)
                    for (a = 0; a < AMOUNTS && test_has_type(addends[x].from) &&
                                test_share(((g * 6 + x) * GPUSCAN_STRATEGY_COUNT + (size_t)strategy) * SHAPES + s, 8);
                         a++)
                        if (addends[x].from != GPUSCAN_TYPE_F16 || a != ALL_1E_8) /* f16 has no normal number there */
                            check_sum_error(&addends[x], (gpuscan_strategy)strategy, (amounts)a, (shape)s, n,
                                        grids[g].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_starts), TEST(test_order), TEST(test_columns),
                                       TEST(test_columns_bound),
                                       TEST(test_errors_of_scans), TEST(test_errors_of_sums), TEST(test_late_tiles),
                                       TEST(test_late_tiles_of_structs), TEST(test_order_of_host_arrays),
                                       TEST(test_order_of_segments), TEST(test_order_of_lanes)};
    test_select();
    return cmocka_run_group_tests_name("floats", tests, test_open, test_close);
}
