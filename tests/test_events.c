/* Wait lists, events, queues in order and out of order, profiling, early releases, and events that fail.
      cc -O2 tests/test_events.c -o build/test_events -lcmocka -lOpenCL -lm -lpthread && build/test_events */
#include "calls.h"

/* Checks that a call behind a user event does not begin before it, with no, one and many events. Inputs are read when
   the call runs, host values during the call. */
static void test_wait_lists(void **state) {
    static const cl_uint counts[] = {0, 1, 2, 40};
    cl_command_queue side = test_queue_new(0);
    size_t c;
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job j;
        job_new(&j, which, many);
        for (c = 0; c < sizeof counts / sizeof *counts; c++) {
            cl_event wait[40], event = NULL;
            gpuscan_call call = call_on(NULL);
            gpuscan_result result;
            cl_int init = job_init;
            cl_uint i;
            test_case("%s behind %u events", job_names[which], (unsigned)counts[c]);
            job_reset(&j);
            for (i = 0; i < counts[c]; i++)
                wait[i] = user_event();
            call.wait_count = counts[c];
            call.wait_list = counts[c] ? wait : NULL;
            call.event = &event;
            if (which == JOB_SCAN)
                j.scan.init = &init;
            if (counts[c] && j.in.element) { /* the final value comes later */
                static const cl_uint wrong = 0xFFFFFFFF;
                test_cl(clEnqueueWriteBuffer(test.queue, j.in.at.mem, CL_TRUE, (size_t)j.in.at.offset * j.in.element, 1,
                                             &wrong, 0, NULL, NULL));
                test_cl(clFinish(test.queue));
            }
            result = job_start(test.gs, &j, &call);
            init = -1;
            test_ok(result);
            if (event == NULL)
                fail_msg("%s: no event", test.what);
            if (counts[c]) {
                test_cl(clFlush(test.queue));
                if (event_status(event) == CL_COMPLETE)
                    fail_msg("%s: complete before what it waits for", test.what);
                if (j.in.element)
                    test_cl(clEnqueueWriteBuffer(side, j.in.at.mem, CL_TRUE, (size_t)j.in.at.offset * j.in.element, 1,
                                                 j.in_data, 0, NULL, NULL));
                test_cl(clFinish(side));
                for (i = 0; i + 1 < counts[c]; i++)
                    test_cl(clSetUserEventStatus(wait[i], CL_COMPLETE));
                if (event_status(event) == CL_COMPLETE)
                    fail_msg("%s: complete before the last event it waits for", test.what);
                test_cl(clSetUserEventStatus(wait[counts[c] - 1], CL_COMPLETE));
            }
            test_cl(clWaitForEvents(1, &event));
            assert_int_equal(event_status(event), CL_COMPLETE);
            job_done(&j);
            test_cl(clReleaseEvent(event));
            for (i = 0; i < counts[c]; i++)
                test_cl(clReleaseEvent(wait[i]));
            if (which == JOB_SCAN)
                j.scan.init = &job_init;
        }
        job_free(&j);
    }
    clReleaseCommandQueue(side);
}

/* Checks with every strategy that a queue which waits for the event may read the outputs. */
static void test_event_to_queue(void **state) {
    cl_command_queue side = test_queue_new(0);
    int which, s;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job j;
        job_new(&j, which, many);
        if (which != JOB_REDUCE_RESULT) {
            TEST_EACH_STRATEGY(s) {
                cl_event event = NULL;
                gpuscan_call call = call_on(NULL);
                unsigned char *got = (unsigned char *)test_alloc(job_out_bytes(&j));
                call.event = &event;
                call.strategy = (gpuscan_strategy)s;
                test_case("%s, %s, another queue waits for its event", job_names[which],
                          test_strategy_name(call.strategy));
                job_reset(&j);
                if (job_ran(&j, job_start(test.gs, &j, &call), call.strategy)) {
                    test_cl(clFlush(test.queue));
                    test_cl(clEnqueueReadBuffer(side, j.out.at.mem, CL_TRUE, (size_t)j.out.at.offset * j.out.element,
                                                (size_t)job_out_bytes(&j), got, 1, &event, NULL));
                    test_same_bytes(got, j.out_wanted, j.out.element, j.out.count);
                    test_cl(clReleaseEvent(event));
                    job_done(&j);
                }
                free(got);
            }
        }
        job_free(&j);
    }
    clReleaseCommandQueue(side);
}

/* Runs many calls at once on out-of-order queues, each with its own buffers and the object's scratch: the library must
   order calls that share scratch. */
static void many_at_once(cl_command_queue first, cl_command_queue second) {
    enum { CALLS = 12 };
    static const int kinds[] = {JOB_SCAN, JOB_REDUCE, JOB_SCAN_PLACE, JOB_VALUES, JOB_SCAN_ROWS, JOB_EDGES};
    int s, i, refused = 0;
    TEST_EACH_STRATEGY(s) {
        job jobs[CALLS];
        cl_event ends[CALLS];
        int ended = 0;
        test_case("many calls, %s", test_strategy_name((gpuscan_strategy)s));
        for (i = 0; i < CALLS; i++)
            job_new(&jobs[i], kinds[i % 6], many / 2 + 1000 * (uint64_t)i);
        for (i = 0; i < CALLS && !refused; i++) {
            gpuscan_call call = call_on(i % 2 ? second : first);
            call.strategy = (gpuscan_strategy)s;
            call.event = &ends[i];
            refused = !job_ran(&jobs[i], job_start(test.gs, &jobs[i], &call), call.strategy);
            if (!refused) {
                test_cl(clFlush(call.queue));
                ended++;
            }
        }
        if (ended) /* rusticl's clFinish (Mesa 22.3) returns before the work of two queues has ended */
            test_cl(clWaitForEvents((cl_uint)ended, ends));
        while (ended > 0)
            clReleaseEvent(ends[--ended]);
        test_cl(clFinish(first));
        test_cl(clFinish(second));
        for (i = 0; i < CALLS; i++) {
            test_case("call %d of many, %s, %s", i, job_names[kinds[i % 6]], test_strategy_name((gpuscan_strategy)s));
            if (!refused)
                job_done(&jobs[i]);
            job_free(&jobs[i]);
        }
        refused = 0;
    }
}

static void test_out_of_order(void **state) {
    cl_command_queue queue;
    cl_event events[9];
    job j;
    uint64_t i, count;
    cl_uint *data, *expected;
    (void)state;
    if (!test_has_unordered())
        skip();
    queue = test_queue_new(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    many_at_once(queue, queue);

    /* nine times in place, each behind the event of the call before */
    test_case("a chain of scans");
    job_new(&j, JOB_SCAN_SMALL, many);
    count = j.count;
    data = (cl_uint *)test_alloc(count * 4);
    expected = (cl_uint *)test_alloc(count * 4);
    memcpy(expected, j.in_data, (size_t)count * 4);
    test_buffer_set(&j.out, 7, count, expected);
    for (i = 0; i < 9; i++) {
        gpuscan_scan_desc desc;
        cl_uint sum = 0;
        uint64_t k;
        memset(&desc, 0, sizeof desc);
        desc.src = desc.dst = j.out.at;
        desc.count = count;
        desc.kind = GPUSCAN_INCLUSIVE;
        desc.call.queue = queue;
        desc.call.event = &events[i];
        desc.call.wait_count = i > 0;
        desc.call.wait_list = i > 0 ? &events[i - 1] : NULL;
        test_ok(gpuscan_scan(test.gs, &desc));
        for (k = 0; k < count; k++)
            expected[k] = sum += expected[k];
    }
    test_cl(clFlush(queue));
    test_cl(clWaitForEvents(1, &events[8]));
    test_same_bytes(test_buffer_get(&j.out), expected, 4, count);
    for (i = 0; i < 9; i++)
        test_cl(clReleaseEvent(events[i]));
    free(data);
    free(expected);
    job_free(&j);
    clReleaseCommandQueue(queue);
}

static void test_two_queues(void **state) {
    cl_command_queue first = test_queue_new(0), second = test_queue_new(0);
    (void)state;
    many_at_once(first, second);
    clReleaseCommandQueue(first);
    clReleaseCommandQueue(second);
}

static void test_profiling(void **state) {
    cl_command_queue queue = test_queue_new(CL_QUEUE_PROFILING_ENABLE);
    int which;
    (void)state;
    for (which = 0; which < JOB_END; which++) {
        cl_event event = NULL;
        gpuscan_call call = call_on(queue);
        cl_ulong end = 0;
        job j;
        job_new(&j, which, many);
        test_case("%s on a profiling queue", job_names[which]);
        if (which < JOB_DEVICE_END)
            call.event = &event;
        job_right(test.gs, &j, &call);
        if (event) {
            test_cl(clWaitForEvents(1, &event));
            test_cl(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
            assert_true(end > 0);
            clReleaseEvent(event);
        }
        job_free(&j);
    }
    clReleaseCommandQueue(queue);
}

/* ---- flushes ----------------------------------------------------------------------------------------------------- */

/* Records which queues hold commands that were not flushed: a queue that waits for them may wait for ever. */
static struct {
    cl_command_queue queue[2];
    int held[2];
    cl_event gate; /* each launch waits for it, so that none ends early */
} flushes;

static void flushes_note(cl_command_queue queue, int held) {
    int q;
    for (q = 0; q < 2; q++)
        if (flushes.queue[q] == queue)
            flushes.held[q] = held;
}

static cl_int CL_API_CALL flushes_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local,
                                         cl_uint waits, const cl_event *wait, cl_event *event) {
    cl_event list[8];
    if (queue != flushes.queue[0] && queue != flushes.queue[1]) /* a self-test's queue */
        return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
    assert_true(waits < 8);
    if (waits)
        memcpy(list, wait, waits * sizeof *list);
    list[waits] = flushes.gate;
    flushes_note(queue, 1);
    return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits + 1, list, event);
}

static cl_int CL_API_CALL flushes_marker(cl_command_queue queue, cl_uint waits, const cl_event *wait,
                                         cl_event *event) {
    flushes_note(queue, 1);
    return clEnqueueMarkerWithWaitList(queue, waits, wait, event);
}

static cl_int CL_API_CALL flushes_flush(cl_command_queue queue) {
    flushes_note(queue, 0);
    return clFlush(queue);
}

/* Checks that a call whose scratch another queue uses flushes that queue, in order or not. A call in the same queue
   must not flush. */
static void test_flushes(void **state) {
    gpuscan *gs = layered(), *whole = test.gs;
    int first, second, same, which;
    (void)state;
    test.gs = gs;
    layer.driver.clEnqueueNDRangeKernel = flushes_launch;
    layer.driver.clEnqueueMarkerWithWaitList = flushes_marker;
    layer.driver.clFlush = flushes_flush;
    gs->cl = layer.table;
    for (which = 0; which < 2 * 2 * 2 * 2; which++) {
        int kind = which & 8 ? JOB_REDUCE : JOB_SCAN;
        gpuscan_call call;
        job j[2];
        int q;
        first = which & 1;
        second = which >> 1 & 1;
        same = which >> 2 & 1;
        if ((first || second) && !test_has_unordered())
            continue;
        memset(&flushes, 0, sizeof flushes);
        for (q = 0; q < 2; q++)
            job_new(&j[q], kind, 100000); /* more than a tile at any test size: needs scratch */
        call = call_on(NULL);
        call.strategy = GPUSCAN_STRATEGY_MULTI_PASS; /* uses scratch */
        test_ok(job_start(gs, &j[0], &call)); /* builds the program */
        test_cl(clFinish(test.queue));
        job_reset(&j[0]);
        flushes.queue[0] = test_queue_new(first ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
        flushes.queue[1] =
            same ? flushes.queue[0] : test_queue_new(second ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
        flushes.gate = user_event();
        test_case("%s in a queue %s order, then in %s %s order", job_names[kind], first ? "without" : "with",
                  same ? "the same" : "one", second ? "without" : "with");
        for (q = 0; q < 2; q++) {
            layer_reset();
            call.queue = flushes.queue[q];
            test_ok(job_start(gs, &j[q], &call));
            if (q == 1 && !same && flushes.held[0])
                fail_msg("%s: waits for a queue that was not flushed", test.what);
            if (q == 1 && same)
                assert_int_equal(layer.calls[LAYER_clFlush], 0);
        }
        for (q = 0; q < 2; q++)
            test_cl(clFlush(flushes.queue[q]));
        test_cl(clSetUserEventStatus(flushes.gate, CL_COMPLETE));
        for (q = 0; q < 2; q++)
            test_cl(clFinish(flushes.queue[q]));
        for (q = 0; q < 2; q++) {
            job_done(&j[q]);
            job_free(&j[q]);
        }
        test_cl(clReleaseEvent(flushes.gate));
        test_cl(clReleaseCommandQueue(flushes.queue[0]));
        if (!same)
            test_cl(clReleaseCommandQueue(flushes.queue[1]));
    }
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* Counts of 0: the call is legal, its event completes, and it writes only totals. */
static void test_count_0(void **state) {
    gpuscan_scan_desc scan;
    gpuscan_uniform_add_desc add;
    gpuscan_reduce_desc reduce;
    gpuscan_histogram_desc histogram;
    test_buffer in = job_buffer(4, 64), out = job_buffer(4, 300), total = job_buffer(4, 1);
    cl_event event = NULL;
    cl_uint init = 42, *got, zeros[256];
    (void)state;
    memset(zeros, 0, sizeof zeros);
    test_buffer_set(&in, 3, 64, NULL);
    test_buffer_set(&out, 3, 256, NULL);
    test_buffer_set(&total, 3, 1, NULL);

    test_case("a scan of nothing");
    memset(&scan, 0, sizeof scan);
    scan.src = in.at;
    scan.dst = out.at;
    scan.call.event = &event;
    test_ok(gpuscan_scan(test.gs, &scan));
    test_cl(clWaitForEvents(1, &event));
    test_cl(clReleaseEvent(event));
    test_buffer_untouched(&out);
    scan.total = total.at;
    scan.init = &init;
    test_ok(gpuscan_scan(test.gs, &scan));
    test_cl(clWaitForEvents(1, &event));
    test_cl(clReleaseEvent(event));
    test_buffer_untouched(&out);
    got = (cl_uint *)test_buffer_get(&total);
    assert_int_equal(got[0], 42);

    test_case("a uniform add to nothing");
    memset(&add, 0, sizeof add);
    add.addend = in.at;
    add.dst = out.at;
    add.block = 3;
    add.call.event = &event;
    test_ok(gpuscan_uniform_add(test.gs, &add));
    test_cl(clWaitForEvents(1, &event));
    test_cl(clReleaseEvent(event));
    test_buffer_untouched(&out);

    test_case("a reduction of nothing");
    memset(&reduce, 0, sizeof reduce);
    reduce.src = in.at;
    reduce.dst = total.at;
    reduce.op = GPUSCAN_OP_MIN;
    reduce.call.event = &event;
    test_ok(gpuscan_reduce(test.gs, &reduce));
    test_cl(clWaitForEvents(1, &event));
    test_cl(clReleaseEvent(event));
    got = (cl_uint *)test_buffer_get(&total);
    assert_int_equal(got[0], UINT32_MAX);

    test_case("a histogram of nothing");
    memset(&histogram, 0, sizeof histogram);
    histogram.samples = in.at;
    histogram.counts = out.at;
    histogram.call.event = &event;
    test_ok(gpuscan_histogram(test.gs, &histogram));
    test_cl(clWaitForEvents(1, &event));
    test_cl(clReleaseEvent(event));
    test_same_bytes(test_buffer_get(&out), zeros, 4, 256);

    test_case("an empty call behind an event, without its own event: later commands wait");
    {
        gpuscan *gs = layered();
        cl_event gate = user_event(), later = NULL;
        scan.total.mem = NULL;
        scan.call.event = NULL;
        scan.call.wait_count = 1;
        scan.call.wait_list = &gate;
        layer_reset();
        test_ok(gpuscan_scan(gs, &scan));
        assert_int_equal(layer.calls[LAYER_clEnqueueMarkerWithWaitList], 1);
        assert_int_equal(layer.calls[LAYER_clEnqueueNDRangeKernel], 0);
        test_cl(clEnqueueMarkerWithWaitList(test.queue, 0, NULL, &later));
        test_cl(clFlush(test.queue));
        assert_true(event_status(later) > CL_COMPLETE);
        test_cl(clSetUserEventStatus(gate, CL_COMPLETE));
        test_cl(clWaitForEvents(1, &later));
        test_cl(clReleaseEvent(later));
        test_cl(clReleaseEvent(gate));
        test_destroy(gs);
        layer_expect_empty();
    }

    test_case("host arrays of nothing");
    test_ok(gpuscan_scan_host(test.gs, zeros, zeros, 0, NULL));
    test_ok(gpuscan_reduce_host(test.gs, zeros, &init, 0, NULL));
    assert_int_equal(init, 0);
    test_ok(gpuscan_uniform_add_host(test.gs, zeros, zeros, 0, 5, NULL));
    memset(zeros, 0x5A, sizeof zeros);
    test_ok(gpuscan_histogram_host(test.gs, &init, zeros, 0, NULL));
    assert_true(zeros[0] == 0 && zeros[255] == 0);
    test_buffer_free(&in);
    test_buffer_free(&out);
    test_buffer_free(&total);
}

/* The caller releases buffers, scratch, queue and the object while the call still waits. */
static void test_released_early(void **state) {
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        cl_command_queue queue = test_queue_new(0);
        cl_event gate = user_event(), event = NULL;
        gpuscan_call call = call_on(queue);
        gpuscan_desc desc;
        gpuscan *gs = NULL;
        job j;
        uint64_t size = 0;
        cl_int status = CL_SUCCESS;
        cl_mem kept;
        job_new(&j, which, many);
        test_case("%s, all released while it waits", job_names[which]);
        memset(&desc, 0, sizeof desc);
        desc.context = test.context;
        desc.device = test.device;
        test_ok(gpuscan_create(&gs, &desc));
        call.wait_count = 1;
        call.wait_list = &gate;
        call.event = &event;
        test_ok(job_scratch_size(gs, &j, &call, &size));
        if (which % 2 && size) { /* every other job with the caller's scratch */
            call.scratch.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)size, NULL, &status);
            test_cl(status);
        }
        test_ok(job_start(gs, &j, &call));
        test_cl(clFlush(queue));
        test_destroy(gs);
        if (call.scratch.mem)
            test_cl(clReleaseMemObject(call.scratch.mem));
        test_cl(clReleaseCommandQueue(queue));
        if (j.in.at.mem)
            test_cl(clReleaseMemObject(j.in.at.mem));
        test_cl(clSetUserEventStatus(gate, CL_COMPLETE));
        test_cl(clWaitForEvents(1, &event));
        /* the inputs are released; the outputs must be right */
        j.in.at.mem = NULL;
        kept = j.out.at.mem;
        if (kept)
            test_same_bytes(test_buffer_get(&j.out), j.out_wanted, j.out.element, j.out.count);
        if (which == JOB_REDUCE_RESULT)
            assert_true(j.result[1] == j.result_wanted);
        test_cl(clReleaseEvent(event));
        test_cl(clReleaseEvent(gate));
        job_free(&j);
    }
}

/* PoCL (3.1) aborts the process when an event fails for which one command waits directly and another through it. */
static int is_too_much_for_driver(unsigned commands) {
    return commands > 1 && test_is_pocl();
}

/* Returns whether the first output is complete. */
static int is_done(job *j) {
    if (j->out.element == 0)
        return j->result[1] == j->result_wanted;
    return memcmp(test_buffer_get(&j->out), j->out_wanted, (size_t)job_out_bytes(j)) == 0;
}

/* Calls that wait for a failed event. One that has failed before the call is refused, since some drivers would wait for
   ever. If it fails during the wait, drivers stop or run the call: nothing may hang, and the next call must succeed. */
static void failed_event(gpuscan *gs, int which, gpuscan_strategy strategy, int later) {
    cl_command_queue queue = test_queue_new(0);
    cl_event gate = NULL, event = NULL;
    gpuscan_call call = call_on(queue);
    job j;
    job_new(&j, which, many / 4 + 100);
    test_case("%s, %s, behind an event that fails %s", job_names[which], test_strategy_name(strategy),
              later ? "afterwards" : "before");
    call.strategy = strategy;
    job_right(gs, &j, &call);
    layer_reset();
    if (!job_right(gs, &j, &call) || (later && is_too_much_for_driver(layer.calls[LAYER_clEnqueueNDRangeKernel] +
                                                                      layer.calls[LAYER_clEnqueueReadBuffer] +
                                                                      layer.calls[LAYER_clEnqueueFillBuffer])))
        goto done;
    gate = user_event(); /* always set: otherwise NVIDIA's driver keeps the context */
    call.wait_count = 1;
    call.wait_list = &gate;
    call.event = &event;
    job_reset(&j);
    if (later) {
        cl_int status = CL_SUCCESS;
        test_ok(job_start(gs, &j, &call));
        test_cl(clSetUserEventStatus(gate, -5));
        clWaitForEvents(1, &event);
        test_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        if (is_done(&j)) /* by the data: Intel's runtime calls skipped commands complete */
            job_done(&j);
        else if (status < 0)
            job_untouched(&j);
        else /* otherwise it runs what follows */
            job_guards(&j);
        layer_taken(event);
        clReleaseEvent(event);
    } else {
        test_cl(clSetUserEventStatus(gate, -5));
        test_expect(job_start(gs, &j, &call), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        assert_null(event);
        job_untouched(&j);
    }
    call = call_on(NULL);
    call.strategy = strategy;
    job_right(gs, &j, &call);
    call.queue = queue;
    job_right(gs, &j, &call);
    clReleaseEvent(gate);
done:
    clReleaseCommandQueue(queue);
    job_free(&j);
}

static void test_failed_event(void **state) {
    gpuscan *gs = layered(), *whole = test.gs;
    int which, s, later;
    (void)state;
    test.gs = gs;
    for (later = 0; later < 2; later++)
        for (which = 0; which < JOB_DEVICE_END; which++)
            TEST_EACH_STRATEGY(s)
                if (!(test.is_small && (which + s) % 3) &&
                    !(which == JOB_UNIFORM_ADD && s != GPUSCAN_STRATEGY_AUTO && s != GPUSCAN_STRATEGY_MULTI_PASS))
                    failed_event(gs, which, (gpuscan_strategy)s, later);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* Host-array calls return an event if asked; it has completed. */
static void test_host_events(void **state) {
    cl_uint in[100], out[100], i;
    gpuscan_scan_desc scan;
    gpuscan_uniform_add_desc add;
    gpuscan_reduce_desc reduce;
    gpuscan_histogram_desc histogram;
    cl_event events[4] = {NULL, NULL, NULL, NULL};
    (void)state;
    for (i = 0; i < 100; i++)
        in[i] = out[i] = i % 4;
    memset(&scan, 0, sizeof scan);
    memset(&add, 0, sizeof add);
    memset(&reduce, 0, sizeof reduce);
    memset(&histogram, 0, sizeof histogram);
    scan.call.event = &events[0];
    add.call.event = &events[1];
    reduce.call.event = &events[2];
    histogram.call.event = &events[3];
    histogram.bins = 4;
    histogram.upper.u = 4;
    histogram.sample_type = GPUSCAN_TYPE_U32;
    test_case("events of host-array calls");
    test_ok(gpuscan_scan_host(test.gs, in, out, 100, &scan));
    assert_int_equal(out[99], 147);
    test_ok(gpuscan_uniform_add_host(test.gs, in, out, 100, 30, &add));
    assert_int_equal(out[99], 150);
    test_ok(gpuscan_reduce_host(test.gs, in, out, 100, &reduce));
    assert_int_equal(out[0], 150);
    test_ok(gpuscan_histogram_host(test.gs, in, out, 100, &histogram));
    for (i = 0; i < 4; i++) {
        cl_int status = CL_QUEUED;
        assert_int_equal(out[i], 25);
        assert_non_null(events[i]);
        test_cl(clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        assert_int_equal(status, CL_COMPLETE);
        test_cl(clReleaseEvent(events[i]));
    }
}

static cl_ulong event_time(cl_event event, cl_profiling_info what) {
    cl_ulong time = 0;
    test_cl(clGetEventProfilingInfo(event, what, sizeof time, &time, NULL));
    return time;
}

/* Checks that an event has the times of the call's last command; a marker before the call times all of it. */
static void test_times(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_CPU_MULTI_PASS};
    cl_command_queue queue = test_queue_new(CL_QUEUE_PROFILING_ENABLE);
    size_t s;
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job j;
        job_new(&j, which, many);
        for (s = 0; s < sizeof strategies / sizeof *strategies; s++) {
            gpuscan_call call = call_on(queue);
            cl_event before = NULL, done = NULL;
            cl_ulong begin, start, end;
            call.event = &done;
            call.strategy = strategies[s];
            test_case("%s, strategy %d", job_names[which], (int)call.strategy);
            job_reset(&j);
            test_cl(clEnqueueMarkerWithWaitList(queue, 0, NULL, &before));
            if (job_ran(&j, job_start(test.gs, &j, &call), call.strategy)) {
                test_cl(clFinish(queue));
                job_done(&j);
                begin = event_time(before, CL_PROFILING_COMMAND_END);
                start = event_time(done, CL_PROFILING_COMMAND_START);
                end = event_time(done, CL_PROFILING_COMMAND_END);
                if (begin > start || start > end)
                    fail_msg("%s: the marker ended at %llu, the last command ran from %llu to %llu", test.what,
                             (unsigned long long)begin, (unsigned long long)start, (unsigned long long)end);
                test_cl(clReleaseEvent(done));
            }
            test_cl(clReleaseEvent(before));
        }
        job_free(&j);
    }
    test_cl(clReleaseCommandQueue(queue));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_wait_lists),     TEST(test_event_to_queue), TEST(test_out_of_order),
                                       TEST(test_two_queues),     TEST(test_profiling),      TEST(test_count_0),
                                       TEST(test_released_early), TEST(test_failed_event),   TEST(test_host_events),
                                        TEST(test_times), TEST(test_flushes)};
    test_select();
    return cmocka_run_group_tests_name("events", tests, open_calls, test_close);
}
