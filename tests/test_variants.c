/* Checks that a variant which gives wrong results on a device is found by its self-test and given up. The faulty device
   is the real one with launches that do nothing.
      cc -O2 test_variants.c -o test_variants -lcmocka -lOpenCL -lm */
#include "harness.h"

static struct {
    gpuscan_opencl real;
    unsigned dropped, left_to_drop;
} broken;

static cl_int CL_API_CALL drop_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                      const size_t *offset, const size_t *global, const size_t *local,
                                      cl_uint wait_count, const cl_event *wait_list, cl_event *event) {
    if (broken.left_to_drop == 0)
        return broken.real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count,
                                                  wait_list, event);
    broken.left_to_drop--;
    broken.dropped++;
    return event ? broken.real.clEnqueueMarkerWithWaitList(queue, wait_count, wait_list, event) : CL_SUCCESS;
}

static gpuscan *open_broken(unsigned launches) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    memset(&desc, 0, sizeof(desc));
    test_real_opencl(&broken.real);
    desc.opencl = &broken.real;
    assert_int_equal(gpuscan_create(&gs, &desc), GPUSCAN_SUCCESS);
    gs->cl.clEnqueueNDRangeKernel = drop_launch;
    broken.dropped = 0;
    broken.left_to_drop = launches;
    return gs;
}

static void check_scan(gpuscan *gs, gpuscan_strategy strategy, gpuscan_result expected) {
    uint32_t src[1000], dst[1000], sum = 0;
    gpuscan_scan_desc desc;
    unsigned i;
    memset(&desc, 0, sizeof(desc));
    memset(dst, 0xee, sizeof(dst));
    desc.call.strategy = strategy;
    for (i = 0; i < 1000; i++)
        src[i] = i * 2654435761u;
    assert_int_equal(gpuscan_scan_host(gs, src, dst, 1000, &desc), expected);
    for (i = 0; i < 1000; i++) {
        assert_int_equal(dst[i], expected == GPUSCAN_SUCCESS ? sum : 0xeeeeeeeeu);
        sum += src[i];
    }
}

/* Checks that the object reports how many variants it gave up, which ones, and why. */
static void expect_refusals(gpuscan *gs) {
    test_refusals r = test_get_refusals(gs);
    assert_in_range(r.count, 1, 2); /* the lanes, if there are any, and the strategy */
    assert_true(r.strategies >> GPUSCAN_STRATEGY_SINGLE_PASS & 1);
    assert_true(strlen(r.why) > 0);
}

/* A vendor's instructions are given up first, and the object is right without them. */
static void test_wrong_variant(void **state) {
    gpuscan *gs = open_broken(2);
    gpuscan_info info;
    (void)state;
    assert_int_equal(gpuscan_get_info(gs, &info), GPUSCAN_SUCCESS);
    check_scan(gs, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    assert_true(broken.dropped > 0);
    broken.left_to_drop = 0;
    check_scan(gs, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY); /* stays given up */
    check_scan(gs, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_SUCCESS);
    check_scan(gs, GPUSCAN_STRATEGY_AUTO, GPUSCAN_SUCCESS);
    assert_int_equal(gpuscan_get_info(gs, &info), GPUSCAN_SUCCESS);
    assert_false(info.has_lanes);
    expect_refusals(gs);
    gpuscan_destroy(gs);
}

static void check_reduce(gpuscan *gs, gpuscan_strategy strategy, gpuscan_result expected) {
    uint32_t src[1000], result = 0xeeeeeeeeu, sum = 0;
    gpuscan_reduce_desc desc;
    unsigned i;
    memset(&desc, 0, sizeof(desc));
    desc.call.strategy = strategy;
    for (i = 0; i < 1000; i++)
        sum += src[i] = i * 2654435761u;
    assert_int_equal(gpuscan_reduce_host(gs, src, &result, 1000, &desc), expected);
    assert_int_equal(result, expected == GPUSCAN_SUCCESS ? sum : 0xeeeeeeeeu);
}

static void test_wrong_reduce(void **state) {
    gpuscan *gs = open_broken(2);
    gpuscan_info info;
    (void)state;
    assert_int_equal(gpuscan_get_info(gs, &info), GPUSCAN_SUCCESS);
    if (!info.has_fence) { /* refused without a test */
        gpuscan_destroy(gs);
        skip();
    }
    check_reduce(gs, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    assert_true(broken.dropped > 0);
    broken.left_to_drop = 0;
    check_reduce(gs, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    check_reduce(gs, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_SUCCESS);
    check_reduce(gs, GPUSCAN_STRATEGY_AUTO, GPUSCAN_SUCCESS);
    expect_refusals(gs);
    gpuscan_destroy(gs);
}

/* Checks that a right variant is tested once for a program, and kept. */
static void test_right_variant(void **state) {
    gpuscan *gs = open_broken(0);
    (void)state;
    check_scan(gs, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_SUCCESS);
    check_scan(gs, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_SUCCESS);
    assert_int_equal(test_get_refusals(gs).count, 0);
    gpuscan_destroy(gs);
}

/* Checks that right variants for other data, and for texts that share a stand-in, are kept, too. */
static void test_right_operators(void **state) {
    static const gpuscan_custom texts[] = {{NULL, NULL, 0, "a + b", "0u", NULL, NULL, NULL, NULL},
                                           {NULL, NULL, 0, "a ^ b", "0u", NULL, NULL, NULL, NULL}};
    static const struct {
        gpuscan_type src, dst;
        gpuscan_op op;
    } cases[] = {{GPUSCAN_TYPE_F16, GPUSCAN_TYPE_I16, GPUSCAN_OP_OR},
                 {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U32, GPUSCAN_OP_AND},
                 {GPUSCAN_TYPE_F64, GPUSCAN_TYPE_U64, GPUSCAN_OP_XOR}};
    static const unsigned char in[1000 * 8] = {0};
    unsigned char out[1000 * 8];
    gpuscan *gs = open_broken(0);
    gpuscan_scan_desc desc;
    gpuscan_info info;
    size_t i;
    (void)state;
    assert_int_equal(gpuscan_get_info(gs, &info), GPUSCAN_SUCCESS);
    memset(&desc, 0, sizeof desc);
    desc.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    desc.op = GPUSCAN_OP_CUSTOM;
    for (i = 0; i < 2; i++) {
        desc.custom = &texts[i];
        assert_int_equal(gpuscan_scan_host(gs, in, out, 1000, &desc), GPUSCAN_SUCCESS);
    }
    desc.custom = NULL;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        desc.src_type = cases[i].src;
        desc.dst_type = cases[i].dst;
        desc.op = cases[i].op;
        if (cases[i].src != GPUSCAN_TYPE_F64 || info.has_f64)
            assert_int_equal(gpuscan_scan_host(gs, in, out, 1000, &desc), GPUSCAN_SUCCESS);
    }
    assert_int_equal(test_get_refusals(gs).count, 0);
    gpuscan_destroy(gs);
}

/* If no strategy is right, calls must fail, forced or not, and write nothing. */
static void test_wrong_everywhere(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_AUTO};
    gpuscan *gs = open_broken(UINT_MAX);
    size_t i, k;
    (void)state;
    for (i = 0; i < 2 * sizeof(strategies) / sizeof(*strategies); i++) {
        uint32_t keys[300] = {2, 1}, sorted[300], counts[4];
        gpuscan_sort_desc sort;
        gpuscan_histogram_desc histogram;
        memset(&sort, 0, sizeof(sort));
        memset(&histogram, 0, sizeof(histogram));
        memset(sorted, 0xee, sizeof(sorted));
        memset(counts, 0xee, sizeof(counts));
        sort.call.strategy = histogram.call.strategy = strategies[i / 2];
        histogram.sample_type = GPUSCAN_TYPE_U32;
        histogram.bins = 4;
        if (i == 3) /* what failed stays given up */
            broken.left_to_drop = 0;
        assert_int_equal(gpuscan_sort_host(gs, keys, sorted, NULL, 300, &sort), GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
        assert_int_equal(gpuscan_histogram_host(gs, keys, counts, 300, &histogram),
                         GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
        assert_true(strlen(gpuscan_error(gs)) > 0);
        for (k = 0; k < 300 + 4; k++)
            assert_int_equal(k < 300 ? sorted[k] : counts[k - 300], 0xeeeeeeeeu);
    }
    assert_true(broken.dropped > 0);
    assert_true(test_get_refusals(gs).count >= 2); /* one for each operation */
    gpuscan_destroy(gs);
}

/* With little local memory, bins must still be counted. With less than a work-item's scan needs, the scan is built as
   usual and not for a count on the device. */
static void test_little_local_memory(void **state) {
    static const unsigned char samples[1000] = {0};
    uint32_t counts[256], sums[250];
    gpuscan *gs = NULL;
    gpuscan_desc desc;
    gpuscan_histogram_desc histogram;
    gpuscan_scan_desc scan;
    (void)state;
    memset(&desc, 0, sizeof desc);
    memset(&histogram, 0, sizeof histogram);
    desc.limits.local_memory = 400;
    assert_int_equal(gpuscan_create(&gs, &desc), GPUSCAN_SUCCESS);
    histogram.bins = 50;
    histogram.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    assert_int_equal(gpuscan_histogram_host(gs, samples, counts, 1000, &histogram), GPUSCAN_SUCCESS);
    assert_int_equal(counts[0], 1000);
    gpuscan_destroy(gs);
    memset(&scan, 0, sizeof scan);
    desc.limits.local_memory = 16;
    assert_int_equal(gpuscan_create(&gs, &desc), GPUSCAN_SUCCESS);
    scan.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
    assert_int_equal(gpuscan_scan_host(gs, samples, sums, 250, &scan), GPUSCAN_SUCCESS);
    assert_int_equal(gs->programs->key.counted, 0);
    gpuscan_destroy(gs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_variant),
        cmocka_unit_test(test_wrong_reduce),
        cmocka_unit_test(test_right_variant),
        cmocka_unit_test(test_right_operators),
        cmocka_unit_test(test_wrong_everywhere),
        cmocka_unit_test(test_little_local_memory),
    };
    return cmocka_run_group_tests_name("variants", tests, NULL, NULL);
}
