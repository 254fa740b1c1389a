/* Two contexts, and two threads with an object each. Races show only in wrong results, or under a sanitizer.
      cc -O2 tests/test_threads.c -o build/test_threads -lcmocka -lOpenCL -lm -lpthread && build/test_threads */
#include "calls.h"

#include <pthread.h>

static void test_two_contexts(void **state) {
    cl_int status = CL_SUCCESS;
    cl_context contexts[2];
    cl_command_queue queues[2];
    gpuscan *gs[2];
    gpuscan_desc desc;
    cl_context context = test.context;
    cl_command_queue queue = test.queue;
    gpuscan *whole = test.gs;
    int i, round;
    (void)state;
    for (i = 0; i < 2; i++) {
        contexts[i] = clCreateContext(NULL, 1, &test.device, NULL, NULL, &status);
        test_cl(status);
        queues[i] = clCreateCommandQueue(contexts[i], test.device, 0, &status);
        test_cl(status);
        memset(&desc, 0, sizeof desc);
        desc.context = contexts[i];
        desc.queue = queues[i];
        test_ok(gpuscan_create(&gs[i], &desc));
    }
    for (round = 0; round < 2; round++)
        for (i = 0; i < 2; i++) {
            gpuscan_call call = call_on(NULL);
            int which;
            test.context = contexts[i];
            test.queue = queues[i];
            test.gs = gs[i];
            for (which = 0; which < JOB_DEVICE_END; which += 2) {
                job j;
                job_new(&j, which, many);
                test_case("%s on context %d", job_names[which], i);
                job_right(gs[i], &j, &call);
                job_free(&j);
            }
        }
    test.context = context;
    test.queue = queue;
    test.gs = whole;
    for (i = 0; i < 2; i++) {
        test_destroy(gs[i]);
        clReleaseCommandQueue(queues[i]);
        clReleaseContext(contexts[i]);
    }
}

/* Two threads, each with its own object on one context. A thread only counts errors, since cmocka's checks work in the
   main thread only. */
typedef struct worker {
    gpuscan *gs;
    uint64_t count;
    int rounds, wrong;
    gpuscan_result result;
} worker;

static void *work(void *user) {
    worker *w = (worker *)user;
    cl_uint *src = (cl_uint *)malloc((size_t)w->count * 4), *dst = (cl_uint *)malloc((size_t)w->count * 4);
    cl_uint counts[256], sum, total;
    uint64_t i;
    int r;
    for (r = 0; r < w->rounds && src && dst; r++) {
        for (i = 0; i < w->count; i++)
            src[i] = (cl_uint)(i * 7 + (uint64_t)r) & 255;
        memset(dst, 0x5A, (size_t)w->count * 4);
        w->result = gpuscan_scan_host(w->gs, src, dst, w->count, NULL);
        for (sum = 0, i = 0; i < w->count; sum += src[i], i++)
            w->wrong += dst[i] != sum;
        if (w->result == GPUSCAN_SUCCESS)
            w->result = gpuscan_reduce_host(w->gs, src, &total, w->count, NULL);
        w->wrong += total != sum;
        if (w->result == GPUSCAN_SUCCESS)
            w->result = gpuscan_histogram_host(w->gs, src, counts, 4 * w->count, NULL);
        for (sum = 0, i = 0; i < 256; i++)
            sum += counts[i];
        w->wrong += sum != 4 * w->count;
        if (w->result != GPUSCAN_SUCCESS)
            break;
    }
    free(src);
    free(dst);
    return NULL;
}

static void test_two_threads(void **state) {
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    worker workers[THREADS];
    gpuscan_desc desc;
    int i;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    test_case("two threads");
    for (i = 0; i < THREADS; i++) {
        memset(&workers[i], 0, sizeof workers[i]);
        workers[i].count = test_size(500, 50000, 50000) + (uint64_t)i * 100;
        workers[i].rounds = (int)test_size(2, 20, 200);
        test_ok(gpuscan_create(&workers[i].gs, &desc));
    }
    call_code.is_off = 1;
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    call_code.is_off = 0;
    for (i = 0; i < THREADS; i++) {
        if (workers[i].result != GPUSCAN_SUCCESS || workers[i].wrong)
            fail_msg("thread %d: %s: %s, %d wrong values", i, gpuscan_result_string(workers[i].result),
                     gpuscan_error(workers[i].gs), workers[i].wrong);
        test_destroy(workers[i].gs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_two_contexts), TEST(test_two_threads)};
    test_select();
    return cmocka_run_group_tests_name("threads", tests, open_calls, test_close);
}
