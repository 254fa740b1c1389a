/* Runs on lanes through local memory what normally runs on NVIDIA's lanes: every form of the single-pass scan, reduce
   and histogram, with sub-groups of 8, 16, 32 and 64 lanes. The library must not have given the lanes up.
   PoCL 3.1 cannot run barriers that only some groups or loops reach: SINGLE_PASS_AHEAD hangs or is wrong there, and
   hangs on Intel's CPU runtime, but runs on Oclgrind. So only the simulator tests it, with groups of at most 32
   work-items; on CPUs the library refuses it.
      cc -O2 test_lanes.c -o test_lanes -lcmocka -lOpenCL -lm */
#include "lanes.h"

typedef struct scan_case {
    const char       *what;
    gpuscan_type      src, dst;
    gpuscan_op        op;
    gpuscan_scan_kind kind;
    gpuscan_strategy  strategy;
    unsigned          lane_elements; /* elements of a row for each lane */
    unsigned          rows, init, in_place;
    int               few;        /* few-tiles form; -1: another strategy */
    unsigned          src_offset; /* 0: aligned: sums 16 bytes at a time */
} scan_case;

#define FEW   GPUSCAN_STRATEGY_SINGLE_PASS
#define AHEAD GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD
static const scan_case scans[] = {
    {"few tiles", GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, FEW, 1500, 1, 1, 0, 1, 3},
    {"many tiles", GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, FEW, 8500, 1, 0, 0, 0, 3},
    {"few tiles, rows", GPUSCAN_TYPE_I32, GPUSCAN_TYPE_I32, GPUSCAN_OP_MIN, GPUSCAN_INCLUSIVE, FEW, 300, 3, 1, 0, 1, 3},
    {"many tiles, rows", GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, GPUSCAN_OP_ADD, GPUSCAN_INCLUSIVE, FEW, 1500, 3, 1, 0, 0,
     3},
    {"in place", GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_XOR, GPUSCAN_INCLUSIVE, FEW, 900, 1, 0, 1, 1, 3},
    {"bytes in words", GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, GPUSCAN_INCLUSIVE, FEW, 2900, 1, 1, 0, 1, 0},
    {"bytes to u32", GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, AHEAD, 2500, 1, 0, 0, -1, 0},
    {"ahead", GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, AHEAD, 4100, 1, 1, 0, -1, 3},
    {"ahead, rows", GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U16, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, AHEAD, 2100, 2, 1, 0, -1, 3},
    {"ahead, doubles", GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F64, GPUSCAN_OP_ADD, GPUSCAN_INCLUSIVE, AHEAD, 900, 1, 0, 0, -1,
     3},
    {"several passes", GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_MAX, GPUSCAN_INCLUSIVE,
     GPUSCAN_STRATEGY_MULTI_PASS, 5000, 1, 1, 0, -1, 3},
    {"bytes, several passes", GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE,
     GPUSCAN_STRATEGY_MULTI_PASS, 20000, 1, 1, 0, -1, 0},
    {"whole rows", GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, GPUSCAN_STRATEGY_MULTI_PASS,
     1, 70, 1, 0, -1, 3},
    {"whole rows of floats", GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, GPUSCAN_OP_ADD, GPUSCAN_INCLUSIVE,
     GPUSCAN_STRATEGY_MULTI_PASS, 20, 13, 0, 0, -1, 5},
    {"whole rows of bytes", GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, GPUSCAN_INCLUSIVE,
     GPUSCAN_STRATEGY_MULTI_PASS, 9, 51, 1, 0, -1, 0},
};

/* Tiles and windows grow with the width. The simulator takes half a millisecond an element, so it gets up to a window
   of tiles and one more. More tiles than the form FEW allows take it 20 s, so it runs them only with the narrowest
   lanes and in rows. */
static uint64_t scan_count(const scan_case *c, uint32_t width) {
    return (uint64_t)c->lane_elements * width / (test.is_small && c->few != 0 ? 256 / width : 1) + 7;
}

static int scan_in_run(const scan_case *c, size_t width, size_t number) {
    if (!test_has_type(c->src) || (c->in_place && (!test.info.has_fence || test.is_small)))
        return 0;
    if (test.is_small && test.share > 8 && (number + test.seed) % 2 != 0) /* a slow simulator: the seed picks half */
        return 0;
    if (test.is_small && c->few == 0)
        return c->rows > 1 && width == 0 && width_in_run(width, number);
    return (test.is_small || c->strategy != AHEAD) && width_in_run(width, number);
}

/* Lanes of the last program store side by side. how: SPREADS, by way of local memory, or SHIFTS, by exchanged words. */
static void check_stores(const char *how) {
    char line[64];
    snprintf(line, sizeof line, "#define GPUSCAN_%s 1\n", how);
    if (!strstr(test.gs->programs->parts[GPUSCAN__PART_TEXT].data, line))
        fail_msg("%s: no %s", test.what, how);
}

static void check_scan(const scan_case *c, uint32_t width) {
    const uint64_t count = scan_count(c, width), all = count * c->rows;
    const size_t src_size = ref_size(c->src), dst_size = ref_size(c->dst);
    unsigned char *in = (unsigned char *)test_alloc(all * src_size);
    unsigned char *wanted = (unsigned char *)test_alloc(all * dst_size);
    unsigned char *totals = (unsigned char *)test_alloc(c->rows * dst_size), init[8];
    ref_value start = test_init_value(c->dst, c->op);
    test_buffer src = test_buffer_new(CL_MEM_READ_WRITE, src_size, all), dst, total;
    gpuscan_scan_desc d;
    const gpuscan__key *key;
    gpuscan__scan_key own;
    const int reverse = (int)test_below(2);
    uint64_t r;
    test_case("lanes of %u: %s%s", (unsigned)width, c->what, reverse ? ", reversed" : "");
    dst = test_buffer_new(CL_MEM_READ_WRITE, dst_size, all);
    total = test_buffer_new(CL_MEM_READ_WRITE, dst_size, c->rows);
    test_fill(c->src, c->op, in, all);
    ref_store(c->dst, init, 0, start);
    for (r = 0; r < c->rows; r++)
        ref_store(c->dst, totals, r,
                  ref_scan(c->dst, wanted + r * count * dst_size, c->src, in + r * count * src_size, count, c->op,
                           c->kind, c->init ? &start : NULL));
    for (r = 0; r < c->rows && reverse; r++) {
        ref_reverse(in + r * count * src_size, count, src_size);
        ref_reverse(wanted + r * count * dst_size, count, dst_size);
    }
    test_buffer_set(&src, c->src_offset, all, in);
    test_buffer_set(&dst, 5, all, NULL);
    test_buffer_set(&total, 1, c->rows, NULL);
    memset(&d, 0, sizeof d);
    d.src = src.at;
    d.dst = c->in_place ? src.at : dst.at;
    d.total = total.at;
    d.count = count;
    d.rows = c->rows;
    d.src_type = c->src;
    d.dst_type = c->dst;
    d.op = c->op;
    d.kind = c->kind;
    d.reverse = (uint32_t)reverse;
    d.init = c->init ? init : NULL;
    d.call.strategy = c->strategy;
    test_ok(gpuscan_scan(test.gs, &d));
    test_same_bytes(test_buffer_get(c->in_place ? &src : &dst), wanted, dst_size, all);
    test_same_bytes(test_buffer_get(&total), totals, dst_size, c->rows);
    key = last_key();
    assert_int_equal(key->strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, c->strategy == AHEAD);
    memcpy(&own, key->own, sizeof own);
    assert_int_equal(own.whole_rows != 0, c->strategy == GPUSCAN_STRATEGY_MULTI_PASS && c->rows > 1);
    if (c->few >= 0)
        assert_int_equal(key->few != 0, c->few);
    if (c->strategy != FEW && !own.whole_rows && !(reverse && (5 - c->src_offset) * dst_size % 16 == 0))
        check_stores(reverse ? "SPREADS" : "SHIFTS"); /* dst is not aligned, or not when src is */
    test_buffer_free(&src);
    test_buffer_free(&dst);
    test_buffer_free(&total);
    free(in);
    free(wanted);
    free(totals);
}

static void test_scans(void **state) {
    size_t w, i;
    (void)state;
    for (w = 0; w < width_count(); w++) {
        with_width(widths[w]);
        for (i = 0; i < sizeof scans / sizeof *scans; i++)
            if (scan_in_run(&scans[i], w, i))
                check_scan(&scans[i], widths[w]);
    }
}

/* Checks an operator that does not commute, with all strategies. */
static void check_custom(gpuscan_strategy strategy, uint64_t count) {
    const test_operator *op = &op_affine_compose;
    const size_t size = test_operator_size(op);
    unsigned char *in = (unsigned char *)test_alloc(count * size), *wanted = (unsigned char *)test_alloc(count * size);
    unsigned char *got = (unsigned char *)test_alloc(count * size), total[64];
    gpuscan_scan_desc d;
    gpuscan_reduce_desc reduce;
    op->fill(in, count);
    ref_scan_custom(size, wanted, in, count, op->combine, GPUSCAN_INCLUSIVE, op->identity, total);
    memset(&d, 0, sizeof d);
    d.src_type = d.dst_type = op->type;
    d.op = GPUSCAN_OP_CUSTOM;
    d.custom = &op->custom;
    d.kind = GPUSCAN_INCLUSIVE;
    d.call.strategy = strategy;
    test_ok(gpuscan_scan_host(test.gs, in, got, count, &d));
    test_same_bytes(got, wanted, size, count);
    last_key();
    if (strategy != AHEAD) {
        memset(&reduce, 0, sizeof reduce);
        reduce.src_type = op->type;
        reduce.op = GPUSCAN_OP_CUSTOM;
        reduce.custom = &op->custom;
        reduce.call.strategy = strategy == FEW && !test.info.has_fence ? GPUSCAN_STRATEGY_MULTI_PASS : strategy;
        test_ok(gpuscan_reduce_host(test.gs, in, got, count, &reduce));
        test_same_bytes(got, total, size, 1);
        last_key();
    }
    free(in);
    free(wanted);
    free(got);
}

/* A simulator, which detects races, always runs a case with several sub-groups in a carrying group. */
static void test_custom(void **state) {
    static const gpuscan_strategy strategies[] = {FEW, AHEAD, GPUSCAN_STRATEGY_MULTI_PASS};
    size_t w, s;
    (void)state;
    for (w = 0; w < width_count(); w++) {
        with_width(widths[w]);
        for (s = 0; s < 3; s++)
            if ((test.is_small || strategies[s] != AHEAD) &&
                (width_in_run(w, s) || (test.is_simulator && w == 0 && strategies[s] == GPUSCAN_STRATEGY_MULTI_PASS))) {
                test_case("lanes of %u: affine functions, %s", (unsigned)widths[w], test_strategy_name(strategies[s]));
                check_custom(strategies[s], test_size(1001, 3001, 3001));
            }
    }
}

/* Structs that lanes store side by side, by way of local memory: sums of words, each checked. */
static void check_pieces(uint32_t words, gpuscan_scan_kind kind, uint64_t count) {
    uint32_t        *in = (uint32_t *)test_alloc(count * words * 4), *got = (uint32_t *)test_alloc(count * words * 4);
    uint32_t        *wanted = (uint32_t *)test_alloc(count * words * 4), sums[32];
    char             source[500], type[20];
    gpuscan_custom   custom;
    gpuscan_scan_desc d;
    uint64_t         i;
    uint32_t         w;
    memset(sums, 0, sizeof sums);
    for (i = 0; i < count; i++)
        for (w = 0; w < words; w++) {
            in[i * words + w] = (uint32_t)test_random();
            if (kind == GPUSCAN_EXCLUSIVE)
                wanted[i * words + w] = sums[w];
            sums[w] += in[i * words + w];
            if (kind == GPUSCAN_INCLUSIVE)
                wanted[i * words + w] = sums[w];
        }
    snprintf(source, sizeof source,
             "typedef struct { uint v[%u]; } words;\n"
             "words add(words a, words b) { for (int k = 0; k < %u; k++) a.v[k] += b.v[k]; return a; }\n"
             "words none(void) { words a; for (int k = 0; k < %u; k++) a.v[k] = 0; return a; }\n",
             (unsigned)words, (unsigned)words, (unsigned)words);
    snprintf(type, sizeof type, "words");
    memset(&custom, 0, sizeof custom);
    custom.source = source;
    custom.type = type;
    custom.size = words * 4;
    custom.combine = "add(a, b)";
    custom.identity = "none()";
    memset(&d, 0, sizeof d);
    d.src_type = d.dst_type = GPUSCAN_TYPE_CUSTOM;
    d.op = GPUSCAN_OP_CUSTOM;
    d.custom = &custom;
    d.kind = kind;
    d.call.strategy = test.is_small && words <= 16 ? AHEAD : GPUSCAN_STRATEGY_MULTI_PASS; /* AHEAD: up to 64 bytes */
    test_ok(gpuscan_scan_host(test.gs, in, got, count, &d));
    test_same_bytes(got, wanted, words * 4, count);
    last_key();
    check_stores("SPREADS");
    free(in);
    free(got);
    free(wanted);
}

static void test_pieces(void **state) {
    static const uint32_t words[] = {3, 5, 6, 7, 8, 10, 12, 14, 20};
    size_t                k;
    (void)state;
    for (k = 0; k < sizeof words / sizeof *words; k++)
        if (test_share(k, 9)) {
            with_width(widths[(k + test.seed / 9) % width_count()]);
            test_case("lanes of %u: structs of %u words", (unsigned)test.limits.lanes, (unsigned)words[k]);
            check_pieces(words[k], k % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE, test_size(700, 3001, 3001));
        }
}

/* Late tiles: three in seven do not publish, among them the first and neighbours; from a row's seventh tile on none
   does, so that a look-back spans several windows. The lanes that wait compute the missing sums. Elements become runs
   by their index in the row: none may be lost, swapped, repeated or taken from elsewhere. */
static const char late_text[] =
    "bool is_silent(uint tile) { return tile * 5u % 7u < 3u || tile % 65u > 5u; }\n"
    "#define GPUSCAN_TEST_SILENT(tile) is_silent(tile)\n"
    "#define GPUSCAN_TEST_DELAY(tile)\n"
    "#define GPUSCAN_TEST_STORED(tile) (is_silent(tile) ? 0 : GPUSCAN_PREFIX_WORDS)\n"
    "#define GPUSCAN_TEST_ADDED(tile) GPUSCAN_PREFIX_WORDS\n"
    "#define GPUSCAN_TEST_PAUSE(p)\n"
    "run run_at(uint x, ulong i) { run c; c.first = c.last = x - 3 * (uint)i; return c; }\n";

/* Scans two rows with the count on the device; for a look-back, the host allows more tiles than the form FEW takes.
   Counts: with a partial last tile, 0, two full tiles, and then, on more units, counts for which each group gets a
   small tile. */
static void check_late(gpuscan_strategy strategy, uint32_t width, int look_back) {
    const uint64_t most = (uint64_t)(test.is_small ? 80 : 200) * width - 3;
    const uint64_t pitch = look_back ? (test.is_small ? 4 : 8) * UINT64_C(260) * width : most, all = 2 * pitch;
    op_run *wanted = (op_run *)test_alloc(all * sizeof *wanted), totals[2];
    cl_uint *in = (cl_uint *)test_alloc(all * sizeof *in);
    test_buffer src = test_buffer_new(CL_MEM_READ_ONLY, sizeof *in, all);
    test_buffer dst = test_buffer_new(CL_MEM_READ_WRITE, sizeof *wanted, all);
    test_buffer total = test_buffer_new(CL_MEM_READ_WRITE, sizeof *totals, 2);
    gpuscan_custom custom = op_run_join.custom;
    gpuscan_scan_desc d;
    const cl_uint units = test.gs->device.units;
    char text[2000];
    uint64_t i, r;
    int k;
    snprintf(text, sizeof text, "%s%s", custom.source, late_text);
    custom.source = text;
    custom.convert = "run_at(x, i)";
    for (r = 0; r < 2; r++)
        for (i = 0; i < pitch; i++)
            in[r * pitch + i] = (cl_uint)(1000000 * (r + 1) + 4 * i);
    test_buffer_set(&src, 3, all, in);
    memset(&d, 0, sizeof d);
    d.src = src.at;
    d.src_pitch = d.dst_pitch = pitch;
    d.count_type = GPUSCAN_TYPE_U64;
    d.rows = 2;
    d.src_type = GPUSCAN_TYPE_U32;
    d.dst_type = GPUSCAN_TYPE_CUSTOM;
    d.op = GPUSCAN_OP_CUSTOM;
    d.custom = &custom;
    d.kind = GPUSCAN_INCLUSIVE;
    d.call.strategy = strategy;
    test.gs->device.profile.facts.polls = 3;
    for (k = 0; k < 5; k++) {
        const uint64_t tile = k == 0 ? 0 : last_key()->tile, step = k == 0 ? 0 : tile / last_key()->vectors;
        const uint64_t n = k == 0 ? most : k == 1 ? 0 : k == 2 ? 2 * tile : k == 3 ? 6 * tile + 3 : 6 * step + 1;
        test_buffer count = test_count_buffer(GPUSCAN_TYPE_U64, n);
        test_buffer_set(&dst, 5, all, NULL);
        test_buffer_set(&total, 1, 2, NULL);
        memcpy(wanted, test_buffer_get(&dst), all * sizeof *wanted);
        for (r = 0; r < 2; r++) {
            totals[r] = op_run_identity;
            for (i = 0; i < n; i++) {
                totals[r].first = (uint32_t)(1000000 * (r + 1));
                totals[r].last = totals[r].first + (uint32_t)i;
                wanted[r * pitch + i] = totals[r];
            }
        }
        d.count = n || look_back ? pitch : 1; /* no tile beside the empty one */
        d.dst = dst.at;
        d.total = total.at;
        d.count_buffer = count.at;
        test.gs->device.units = k < 3 ? units : 14;
        test_ok(gpuscan_scan(test.gs, &d));
        test_same_bytes(test_buffer_get(&dst), wanted, sizeof *wanted, all);
        test_same_bytes(test_buffer_get(&total), totals, sizeof *totals, 2);
        test_buffer_free(&count);
    }
    test.gs->device.units = units;
    test_uses_hook(test.gs, "SILENT");
    if (strategy == FEW)
        assert_int_equal(last_key()->few == 0, look_back);
    if (strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD) /* a few groups take all tiles */
        assert_true(last_key()->counted);
    test_buffer_free(&src);
    test_buffer_free(&dst);
    test_buffer_free(&total);
    free(in);
    free(wanted);
}

static void test_late(void **state) {
    static const char *const forms[] = {"few", "look-back", "ahead"};
    size_t w, form;
    (void)state;
    for (w = 0; w < width_count(); w++) {
        with_width(widths[w]);
        for (form = 0; form < 3; form++)
            if ((test.is_small || form < 2) && width_in_run(w, form)) {
                test_case("lanes of %u: late tiles, %s", (unsigned)widths[w], forms[form]);
                check_late(form == 2 ? AHEAD : FEW, widths[w], form == 1);
            }
    }
}

static void check_reduce(gpuscan_type src, gpuscan_type dst, gpuscan_op op, uint64_t count) {
    unsigned char *in = (unsigned char *)test_alloc(count * ref_size(src)), got[8], wanted[8];
    gpuscan_reduce_desc d;
    test_fill(src, op, in, count);
    memset(&d, 0, sizeof d);
    d.src_type = src;
    d.dst_type = dst;
    d.op = op;
    d.call.strategy = test.info.has_fence ? GPUSCAN_STRATEGY_SINGLE_PASS : GPUSCAN_STRATEGY_MULTI_PASS;
    ref_store(dst, wanted, 0,
              ref_is_arg(op) ? ref_arg(dst, src, in, count, op) : ref_reduce(dst, src, in, count, op, NULL));
    test_ok(gpuscan_reduce_host(test.gs, in, got, count, &d));
    test_same_bytes(got, wanted, ref_size(dst), 1);
    last_key();
    free(in);
}

static void test_reduce(void **state) {
    size_t w;
    (void)state;
    for (w = 0; w < width_count(); w++) {
        if (test.is_small && !width_in_run(w, 0))
            continue;
        with_width(widths[w]);
        test_case("lanes of %u: reduce", (unsigned)widths[w]);
        check_reduce(GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, 70001);
        check_reduce(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, 50003);
        check_reduce(GPUSCAN_TYPE_I64, GPUSCAN_TYPE_I64, GPUSCAN_OP_MAX, 5003);
        check_reduce(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U64, GPUSCAN_OP_ARGMIN, 5003);
    }
}

static void test_ahead_is_refused(void **state) {
    static const cl_uint one[2] = {1, 1};
    cl_uint sums[2];
    size_t w;
    (void)state;
    if (!test_is_cpu() || test.is_simulator)
        skip();
    for (w = 0; w < width_count(); w++) {
        gpuscan_scan_desc d;
        memset(&d, 0, sizeof d);
        d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD;
        with_width(widths[w]);
        test_case("ahead on lanes of %u", (unsigned)widths[w]);
        test_expect(gpuscan_scan_host(test.gs, one, sums, 2, &d), GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    }
}

static void test_widths(void **state) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    char error[256] = "";
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.limits.lanes = 12;
    desc.error = error;
    desc.error_size = sizeof error;
    assert_int_equal(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(error, "lanes"));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_scans), TEST(test_custom), TEST(test_pieces), TEST(test_late),
                                       TEST(test_reduce), TEST(test_widths),
                                       TEST(test_ahead_is_refused)};
    test_select();
    return cmocka_run_group_tests_name("lanes", tests, test_open, test_close);
}
