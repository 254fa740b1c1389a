/* cc -O2 test_floats.c -o test_floats -lcmocka -lOpenCL -lm
   What holds for floats with every strategy, bit by bit: a result is init, or what the operator starts with, combined
   with the elements from the left. Sums start with +0 as C's loops do, so that a sum of -0 is +0 unless init is -0;
   MIN and MAX pass over NaN, and of NaN alone they are the identity, an infinity. */
#include "harness.h"

/* Of one value each, so that every order gives these bits. */
typedef struct float_case {
    const char *what;
    gpuscan_op  op;
    double      element, init, result; /* init NaN: none */
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
    scan.init = reduce.init = isnan(c->init) ? NULL : init;
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
    const double     none = (double)NAN, large = (double)INFINITY;
    const float_case cases[] = {{"-0", GPUSCAN_OP_ADD, -0.0, none, 0.0},
                                {"-0 after -0", GPUSCAN_OP_ADD, -0.0, -0.0, -0.0},
                                {"-0 after +0", GPUSCAN_OP_ADD, -0.0, 0.0, 0.0},
                                {"+0 after -0", GPUSCAN_OP_ADD, 0.0, -0.0, 0.0},
                                {"the least of NaN", GPUSCAN_OP_MIN, none, none, large},
                                {"the largest of NaN", GPUSCAN_OP_MAX, none, none, -large},
                                {"the least of NaN after 3", GPUSCAN_OP_MIN, none, 3.0, 3.0},
                                {"the largest of NaN after 3", GPUSCAN_OP_MAX, none, 3.0, 3.0}};
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

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_starts)};
    test_select();
    return cmocka_run_group_tests_name("floats", tests, test_open, test_close);
}
