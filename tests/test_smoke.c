/* Every operation with every strategy at a few lengths, in few programs, for implementations that compile or run too
   slowly for all tests.
      cc -O2 test_smoke.c -o test_smoke -lcmocka -lOpenCL -lm -lpthread -ldl */
#include "jobs.h"

static void check_job(int which, uint64_t n) {
    int s, round;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        gpuscan_call call;
        job j;
        if (which == JOB_UNIFORM_ADD && s != GPUSCAN_STRATEGY_AUTO && s != GPUSCAN_STRATEGY_MULTI_PASS)
            continue;
        /* a slow simulator runs each job and each strategy, but a quarter of their pairs, chosen by the seed; for host
           arrays, which launch the same kernels, only AUTO */
        if (test.is_small && test.share > 1 && s != GPUSCAN_STRATEGY_AUTO &&
            (which >= JOB_DEVICE_END || ((uint64_t)(s + which) + test.seed / 2) % 4))
            continue;
        memset(&call, 0, sizeof call);
        call.strategy = (gpuscan_strategy)s;
        test_case("%s of %" PRIu64 ", %s", job_names[which], n, test_strategy_name(call.strategy));
        job_new(&j, which, n);
        for (round = 0; round < 2; round++) { /* the second call finds the first one's scratch */
            job_reset(&j);
            if (!job_ran(&j, job_start(test.gs, &j, &call), call.strategy))
                break;
            test_cl(clFinish(test.queue));
            job_done(&j);
        }
        job_free(&j);
    }
}

static void operations(void **state) {
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++)
        /* here and below, another seed runs the others */
        if (test_takes_one_of(test.is_small ? 4 : 2, (uint64_t)which))
            check_job(which, which == JOB_SCAN_SMALL ? 1000 : test_size(3001, 70001, 1000003));
}

static void host_arrays(void **state) {
    int which;
    (void)state;
    for (which = JOB_DEVICE_END; which < JOB_END; which++)
        if (test_takes_one_of(2, (uint64_t)which))
            check_job(which, 1009);
}

/* The same programs at other lengths: one, two, near a group and a tile, many tiles. */
static void lengths(void **state) {
    static const uint64_t counts[] = {1, 2, 31, 63, 255, 256, 257, 1023, 1025, 2048, 4097, 8191, 32767, 33333};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof counts / sizeof counts[0] - (test.is_small ? 3 : 0); i++) {
        static const int which[] = {JOB_SCAN_SMALL, JOB_REDUCE_RESULT, JOB_HISTOGRAM};
        size_t           k;
        for (k = 0; k < 3; k++)
            if (test_takes_one_of(2, i + k))
                check_job(which[k], counts[i]);
    }
}

/* An integral image with groups of two sub-groups, which exchange sums even without lanes. */
static void two_subgroups(void **state) {
    uint32_t group = test.gs->device.profile.integral_group, width = test.gs->device.lane_width;
    gpuscan_call call;
    job j;
    (void)state;
    if (!test.info.has_lanes)
        test.gs->device.lane_width = 8;
    test.gs->device.profile.integral_group = 2 * test.gs->device.lane_width;
    memset(&call, 0, sizeof call);
    call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
    test_case("%s, groups of two sub-groups", job_names[JOB_INTEGRAL]);
    job_new(&j, JOB_INTEGRAL, 1009);
    job_reset(&j);
    if (job_ran(&j, job_start(test.gs, &j, &call), call.strategy)) {
        test_cl(clFinish(test.queue));
        job_done(&j);
    }
    job_free(&j);
    test.gs->device.profile.integral_group = group;
    test.gs->device.lane_width = width;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(operations), TEST(host_arrays), TEST(lengths), TEST(two_subgroups)};
    test_select();
    return cmocka_run_group_tests_name("smoke", tests, test_open, test_close);
}
