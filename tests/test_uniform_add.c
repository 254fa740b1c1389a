/* gpuscan_uniform_add and gpuscan_uniform_add_host against the reference. Races show only in wrong results.
      cc -O2 tests/test_uniform_add.c -o build/test_uniform_add -lcmocka -lOpenCL -lm && build/test_uniform_add */
#include "uniform_adds.h"

static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                              GPUSCAN_STRATEGY_CPU_MULTI_PASS};
enum { STRATEGIES = 3 };

/* Checks a case with the strategies from first to last. */
static void check_add(add_case c, int first, int last) {
    int s;
    for (s = first; s <= last; s++)
        test_strategies(&uniform_adds, &c, (int)strategies[s], (int)strategies[s]);
}

static void check_all_strategies(add_case c) {
    check_add(c, 0, STRATEGIES - 1);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void every_length(void **state) {
    static const uint64_t blocks[] = {1, 2, 3, 16, 100, 256, 1000};
    uint64_t              n, last = test_size(300, 4097, 4097), step = test_size(19, 1, 1);
    (void)state;
    for (n = 0; n <= last; n += n < 40 ? 1 : step)
        check_all_strategies(an_add(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, n, blocks[n % 7]));
}

static void edges_and_random_lengths(void **state) {
    uint64_t k, i, top = test_size(11, 21, 24);
    add_case c;
    int      off;
    (void)state;
    for (k = 6; k <= top; k++)
        for (off = -1; off <= 1; off++)
            check_all_strategies(an_add(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, (UINT64_C(1) << k) + (uint64_t)(int64_t)off,
                                        1 + test_below(5000)));
    for (i = 0; i < test_size(4, 60, 300); i++) {
        c = an_add(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_below(UINT64_C(1) << (5 + test_below(top - 6))), 1);
        c.block = 1 + test_below(UINT64_C(1) << test_below(20));
        c.dst_offset = test_below(20);
        c.addend_offset = test_below(20);
        check_all_strategies(c);
    }
}

/* Blocks near the sizes of groups and tiles, larger than the whole, and larger than 32 bits hold. */
static void blocks(void **state) {
    static const uint64_t sizes[] = {1,
                                     2,
                                     3,
                                     5,
                                     15,
                                     16,
                                     17,
                                     63,
                                     64,
                                     65,
                                     255,
                                     256,
                                     257,
                                     511,
                                     1023,
                                     1024,
                                     1025,
                                     4095,
                                     4096,
                                     4097,
                                     16384,
                                     65535,
                                     65536,
                                     100000,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 40) + 1,
                                     UINT64_MAX};
    size_t                i;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_all_strategies(an_add(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_size(1000, 100003, 1000003), sizes[i]));
        check_all_strategies(an_add(GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, test_size(500, 33333, 100003), sizes[i]));
    }
}

/* All types and operators: by default sums take all strategies, the other operators one of two in turn. */
static void types_and_operators(void **state) {
    int      type, op, all, one;
    add_case c;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        TEST_EACH_OP(op, REF_BUILTIN) {
            if (!test_has_type((gpuscan_type)type) || !test_op_fits((gpuscan_type)type, (gpuscan_op)op) ||
                !test_pair_in_run((gpuscan_type)type, (gpuscan_op)op))
                continue;
            all = test.is_long || (op == GPUSCAN_OP_ADD && !test.is_small);
            one = 1 + (type + op) % 2;
            c = an_add((gpuscan_type)type, (gpuscan_op)op, test_size(300, 20011, 100003), 37);
            c.dst_offset = (uint64_t)op;
            c.addend_offset = (uint64_t)type;
            check_add(c, all ? 0 : one, all ? STRATEGIES - 1 : one);
        }
}

static void offsets(void **state) {
    static const uint64_t     at[] = {0, 1, 3, 4, 7, 8, 11, 12, 16};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U64};
    add_case                  c;
    size_t                    t, i, j;
    (void)state;
    for (t = 0; t < (test.is_small ? 1 : 4); t++)
        for (i = 0; i < 9; i++)
            for (j = 0; j < 9; j++) {
                c = an_add(types[t], GPUSCAN_OP_ADD, t % 2 ? 1009 : 333, 5 + i + j);
                c.dst_offset = at[i];
                c.addend_offset = at[j];
                if (!test.is_small || i == j)
                    check_all_strategies(c);
            }
}

static void device_counts(void **state) {
    const uint64_t count = test_size(500, 10007, 10007);
    const uint64_t values[] = {0, 1, 36, 37, 38, count - 1, count, count + 1, UINT32_MAX, (UINT64_C(1) << 32) + 1};
    add_case       c;
    size_t         v;
    (void)state;
    for (v = 0; v < sizeof values / sizeof values[0]; v++) {
        c = an_add(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, count, 37);
        c.device_count = values[v];
        c.count_type = GPUSCAN_TYPE_U64;
        check_all_strategies(c);
        c.count_type = GPUSCAN_TYPE_U32;
        c.device_count = values[v] & UINT32_MAX;
        check_all_strategies(c);
    }
}

/* Checks that the addend is the left operand: operators that do not commute, and types of all sizes. */
static void custom_operators(void **state) {
    static const test_operator *const operators[] = {&op_matrix_product, &op_brackets_match, &op_affine_compose,
                                                     &op_marked_sum,     &op_seven_sum,      &op_last,
                                                     &op_three,          &op_twelve,         &op_forty};
    add_case                          c;
    size_t                            o, n;
    (void)state;
    for (o = 0; o < sizeof operators / sizeof operators[0]; o++)
        for (n = 0; n < 3; n++) {
            c = an_add(operators[o]->type, GPUSCAN_OP_CUSTOM,
                       n == 0   ? 1
                       : n == 1 ? 255
                                : test_size(600, 30011, 100003),
                       n == 1 ? 3 : 100);
            c.custom = operators[o];
            c.dst_offset = n;
            c.addend_offset = o;
            check_all_strategies(c);
        }
}

/* Scans in several parts: scans each part, scans the totals, and adds them with a uniform add. */
static void completes_a_scan(void **state) {
    uint64_t                 part = test_size(100, 1000, 1000), parts = test_size(7, 131, 131), count = part * parts;
    op_matrix               *data = (op_matrix *)test_alloc(count * sizeof *data), last;
    test_buffer              dst = test_buffer_new(CL_MEM_READ_WRITE, sizeof *data, count);
    test_buffer              totals = test_buffer_new(CL_MEM_READ_WRITE, sizeof *data, parts);
    gpuscan_scan_desc        scan;
    gpuscan_uniform_add_desc add;
    (void)state;
    test_case("a scan of %" PRIu64 " matrices in parts", count);
    op_matrix_fill(data, count);
    test_buffer_set(&dst, 1, count, data);
    test_buffer_set(&totals, 1, parts, NULL);
    memset(&scan, 0, sizeof scan);
    scan.src = scan.dst = dst.at;
    scan.count = part;
    scan.rows = parts;
    scan.src_type = GPUSCAN_TYPE_CUSTOM;
    scan.op = GPUSCAN_OP_CUSTOM;
    scan.custom = &op_matrix_product.custom;
    scan.kind = GPUSCAN_INCLUSIVE;
    scan.total = totals.at;
    test_ok(gpuscan_scan(test.gs, &scan));
    scan.src = scan.dst = totals.at;
    scan.count = parts;
    scan.rows = 0;
    scan.kind = GPUSCAN_EXCLUSIVE;
    scan.total.mem = NULL;
    scan.total.offset = 0;
    test_ok(gpuscan_scan(test.gs, &scan));
    memset(&add, 0, sizeof add);
    add.dst = dst.at;
    add.addend = totals.at;
    add.count = count;
    add.block = part;
    add.type = GPUSCAN_TYPE_CUSTOM;
    add.op = GPUSCAN_OP_CUSTOM;
    add.custom = &op_matrix_product.custom;
    test_ok(gpuscan_uniform_add(test.gs, &add));
    ref_scan_custom(sizeof *data, data, data, count, op_matrix_combine, GPUSCAN_INCLUSIVE, &op_matrix_identity, &last);
    test_same_bytes(test_buffer_get(&dst), data, sizeof *data, count);
    test_buffer_free(&dst);
    test_buffer_free(&totals);
    free(data);
}

static void limited_devices(void **state) {
    static const gpuscan_limits limits[] = {{1, 0, 0, 0}, {100, 1024, 31, 0}};
    size_t                      i;
    (void)state;
    for (i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        test_limit(&limits[i]);
        check_all_strategies(an_add(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_size(500, 70001, 300007), 99));
    }
}

static void host_arrays(void **state) {
    static const uint64_t    counts[] = {0, 1, 99, 100, 101, 5003, 100003};
    uint64_t                 most = test_size(5003, 100003, 100003);
    uint32_t                *data = (uint32_t *)test_alloc(most * 4), *addend = (uint32_t *)test_alloc(most * 4);
    uint32_t                *out = (uint32_t *)test_alloc(most * 4), *wanted = (uint32_t *)test_alloc(most * 4);
    gpuscan_uniform_add_desc d;
    size_t                   n;
    (void)state;
    test_fill(GPUSCAN_TYPE_F32, GPUSCAN_OP_MUL, data, most);
    test_fill(GPUSCAN_TYPE_F32, GPUSCAN_OP_MUL, addend, most);
    for (n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        if (counts[n] > most)
            continue;
        test_case("uniform add of %" PRIu64 " on the host's arrays", counts[n]);
        memcpy(out, data, (size_t)most * 4);
        memcpy(wanted, data, (size_t)most * 4);
        ref_uniform_add(GPUSCAN_TYPE_U32, wanted, addend, counts[n], 100, GPUSCAN_OP_ADD);
        test_ok(gpuscan_uniform_add_host(test.gs, addend, out, counts[n], 100, NULL));
        test_same(GPUSCAN_TYPE_U32, out, wanted, most);
        memset(&d, 0, sizeof d);
        d.type = GPUSCAN_TYPE_F32;
        d.op = GPUSCAN_OP_MUL;
        memcpy(out, data, (size_t)most * 4);
        memcpy(wanted, data, (size_t)most * 4);
        ref_uniform_add(GPUSCAN_TYPE_F32, wanted, addend, counts[n], 7, GPUSCAN_OP_MUL);
        test_ok(gpuscan_uniform_add_host(test.gs, addend, out, counts[n], 7, &d));
        test_same(GPUSCAN_TYPE_F32, out, wanted, most);
    }
    free(data);
    free(addend);
    free(out);
    free(wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_length),     TEST(edges_and_random_lengths),
                                       TEST(blocks),           TEST(types_and_operators),
                                       TEST(offsets),          TEST(device_counts),
                                       TEST(custom_operators), TEST(completes_a_scan),
                                       TEST(limited_devices),  TEST(host_arrays)};
    test_select();
    return cmocka_run_group_tests_name("uniform add", tests, test_open, test_close);
}
