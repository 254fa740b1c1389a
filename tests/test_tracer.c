/* The tracer reports every command of a call by name, with an event that has times, and no internal commands.
      cc -O2 tests/test_tracer.c -o build/test_tracer -lcmocka -lOpenCL -lm -lpthread && build/test_tracer */
#include "calls.h"

enum { MOST = 64 };

static struct {
    const char *names[MOST];
    cl_event events[MOST];
    unsigned count;
} trace;

static void trace_command(const char *name, cl_event event, void *user) {
    if (user != &trace || trace.count == MOST)
        return;
    trace.names[trace.count] = name;
    trace.events[trace.count++] = clRetainEvent(event) == CL_SUCCESS ? event : NULL;
}

static void trace_reset(void) {
    while (trace.count > 0)
        clReleaseEvent(trace.events[--trace.count]);
}

static cl_ulong time_of(cl_event event, cl_profiling_info what) {
    cl_ulong time = 0;
    test_cl(clGetEventProfilingInfo(event, what, sizeof time, &time, NULL));
    return time;
}

/* Returns the commands that the library has enqueued since layer_reset. */
static unsigned enqueued(void) {
    return layer.calls[LAYER_clEnqueueNDRangeKernel] + layer.calls[LAYER_clEnqueueFillBuffer] +
           layer.calls[LAYER_clEnqueueWriteBuffer] + layer.calls[LAYER_clEnqueueReadBuffer] +
           layer.calls[LAYER_clEnqueueMarkerWithWaitList];
}

/* Traces a job with the object's scratch or the caller's, with and without the caller's event. */
static void traced_job(gpuscan *gs, cl_command_queue queue, int which, gpuscan_strategy strategy, cl_mem scratch) {
    gpuscan_call call = call_on(queue);
    cl_event event = NULL;
    unsigned i, kernels = 0;
    job j;
    job_new(&j, which, many / 3);
    call.strategy = strategy;
    call.scratch.mem = scratch;
    call.event = which % 2 ? &event : NULL;
    test_case("%s, %s, %s scratch", job_names[which], test_strategy_name(strategy), scratch ? "the caller's" : "own");
    if (!job_ran(&j, job_prepare(gs, &j, &call), strategy)) {
        job_free(&j);
        return;
    }
    if (trace.count)
        fail_msg("%s: prepare is traced: %s", test.what, trace.names[0]);
    layer_reset();
    job_reset(&j);
    if (job_ran(&j, job_start(gs, &j, &call), strategy)) {
        test_cl(clFinish(queue));
        job_done(&j);
        if (trace.count == 0 || trace.count != enqueued())
            fail_msg("%s: %u commands traced, %u enqueued", test.what, trace.count, enqueued());
        for (i = 0; i < trace.count; i++) {
            cl_ulong begin = time_of(trace.events[i], CL_PROFILING_COMMAND_START);
            cl_ulong end = time_of(trace.events[i], CL_PROFILING_COMMAND_END);
            cl_uint references = 0;
            if (end < begin || (i > 0 && begin < time_of(trace.events[i - 1], CL_PROFILING_COMMAND_END)))
                fail_msg("%s: %s out of order", test.what, trace.names[i]);
            if (!trace.names[i] || !trace.names[i][0])
                fail_msg("%s: a command without a name", test.what);
            kernels += strncmp(trace.names[i], "gpuscan_", 8) == 0;
            test_cl(clGetEventInfo(trace.events[i], CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL));
            assert_true(references >= 1);
        }
        if (kernels != layer.calls[LAYER_clEnqueueNDRangeKernel])
            fail_msg("%s: %u kernels have a kernel's name, %u were launched", test.what, kernels,
                     layer.calls[LAYER_clEnqueueNDRangeKernel]);
        if (call.event && event != trace.events[trace.count - 1])
            fail_msg("%s: the call's event is not that of its last command", test.what);
    }
    if (event) {
        layer_taken(event);
        clReleaseEvent(event);
    }
    trace_reset();
    job_free(&j);
}

static void test_tracer(void **state) {
    static const cl_command_queue_properties kinds[] = {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    cl_command_queue_properties can = 0;
    cl_int status = CL_SUCCESS;
    cl_mem scratch = clCreateBuffer(test.context, CL_MEM_READ_WRITE, 1 << 22, NULL, &status);
    int kind, which, s, own;
    (void)state;
    test_cl(status);
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof can, &can, NULL));
    for (kind = 0; kind < 2; kind++) {
        gpuscan_desc desc = layer_desc();
        gpuscan *gs = NULL, *whole = test.gs;
        cl_command_queue queue;
        if ((can & kinds[kind]) != kinds[kind])
            continue;
        queue = test_queue_new(kinds[kind] | CL_QUEUE_PROFILING_ENABLE);
        layer_open();
        desc.tracer.command = trace_command;
        desc.tracer.user = &trace;
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        for (which = 0; which < JOB_DEVICE_END; which++)
            for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
                for (own = 0; own < 2; own++)
                    if (s == 0 ? (which + kind) % 2 == own : (which + s + own) % 16 == kind)
                        traced_job(gs, queue, which, (gpuscan_strategy)s, own ? NULL : scratch);
        test_destroy(gs);
        test.gs = whole;
        layer_expect_empty();
        clReleaseCommandQueue(queue);
    }
    clReleaseMemObject(scratch);
}

/* A call with nothing to compute: its marker is a command, too. */
static void test_marker(void **state) {
    gpuscan_desc desc = layer_desc();
    gpuscan_scan_desc scan;
    gpuscan *gs = NULL;
    (void)state;
    layer_open();
    desc.tracer.command = trace_command;
    desc.tracer.user = &trace;
    test_case("a scan of nothing");
    test_ok(gpuscan_create(&gs, &desc));
    memset(&scan, 0, sizeof scan);
    test_ok(gpuscan_scan(gs, &scan));
    test_cl(clFinish(test.queue));
    assert_int_equal(trace.count, 1);
    assert_string_equal(trace.names[0], "clEnqueueMarkerWithWaitList");
    trace_reset();
    test_destroy(gs);
    layer_expect_empty();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_tracer), TEST(test_marker)};
    test_select();
    return cmocka_run_group_tests_name("tracer", tests, open_calls, test_close);
}
