/* Scratch and prepare: sizes that suffice, scratch used again, calls that only enqueue, and calls that build first.
      cc -O2 tests/test_prepare.c -o build/test_prepare -lcmocka -lOpenCL -lm -lpthread && build/test_prepare */
#include "calls.h"

/* Checks that the size from the query is enough and that the bytes around it stay. The scratch starts as garbage. */
static void test_scratch(void **state) {
    int which, s, round;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++)
        TEST_EACH_STRATEGY(s) {
            gpuscan_call call = call_on(NULL);
            gpuscan_result result;
            uint64_t size = UINT64_MAX;
            unsigned ran;
            test_buffer scratch;
            job j;
            job_new(&j, which, many + 17);
            call.strategy = (gpuscan_strategy)s;
            test_case("scratch of a %s, %s", job_names[which], test_strategy_name(call.strategy));
            result = job_scratch_size(test.gs, &j, &call, &size);
            if (!job_ran(&j, result, call.strategy)) {
                job_free(&j);
                continue;
            }
            scratch = test_buffer_new(CL_MEM_READ_WRITE, 1, size + 64);
            test_buffer_set(&scratch, 64, size, NULL);
            call.scratch = scratch.at;
            call.scratch_size = size;
            if (size == 0)
                call.scratch.mem = NULL;
            ran = test.ran[s];
            for (round = 0; round < 3; round++) {
                job_right(test.gs, &j, &call);
                test_buffer_get(&scratch); /* checks the guards */
            }
            if (size && test.ran[s] != ran) {
                /* a second object with the same scratch must rely on nothing that the first left there */
                gpuscan_desc desc;
                gpuscan *gs = NULL, *whole = test.gs;
                memset(&desc, 0, sizeof desc);
                desc.context = test.context;
                desc.device = test.device;
                desc.queue = test.queue;
                test_ok(gpuscan_create(&gs, &desc));
                test.gs = gs;
                job_right(gs, &j, &call);
                test.gs = whole;
                test_destroy(gs);
                job_right(test.gs, &j, &call);
                test_buffer_get(&scratch);
                call.scratch_size = size - 1;
                test_expect(job_start(test.gs, &j, &call), GPUSCAN_ERROR_SCRATCH_TOO_SMALL);
            }
            test_buffer_free(&scratch);
            job_free(&j);
        }
}

/* Uses one scratch for many kinds of calls in turn: what a call leaves there must not mislead the next. */
static void test_scratch_reuse(void **state) {
    gpuscan_call call = call_on(NULL);
    uint64_t size = 0, largest = 0;
    int i, s, which, rounds = (int)test_size(20, 200, 2000);
    job jobs[JOB_DEVICE_END];
    cl_int status = CL_SUCCESS;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job_new(&jobs[which], which, many / 3 + 50);
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
            call.strategy = (gpuscan_strategy)s;
            if (test_takes_strategy(s) &&
                job_scratch_size(test.gs, &jobs[which], &call, &size) == GPUSCAN_SUCCESS && size > largest)
                largest = size;
        }
    }
    call.scratch.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)largest + 64, NULL, &status);
    test_cl(status);
    for (i = 0; i < rounds; i++) {
        gpuscan_result result;
        which = (int)test_below(JOB_DEVICE_END);
        do
            call.strategy = (gpuscan_strategy)test_below(GPUSCAN_STRATEGY_COUNT);
        while (!test_takes_strategy((int)call.strategy));
        test_case("call %d in shared scratch: %s, %s", i, job_names[which], test_strategy_name(call.strategy));
        job_reset(&jobs[which]);
        result = job_start(test.gs, &jobs[which], &call);
        if (!job_ran(&jobs[which], result, call.strategy))
            continue;
        test_cl(clFinish(test.queue));
        job_done(&jobs[which]);
    }
    for (which = 0; which < JOB_DEVICE_END; which++)
        job_free(&jobs[which]);
    clReleaseMemObject(call.scratch.mem);
}

/* Scratch that the host may not access, or only read or write. Kernels and fills replace writes; calls that need a read
   are refused before anything is enqueued. The flags are the buffer's or its parent's. */
static void scratch_flags(gpuscan *gs, cl_mem_flags flags, gpuscan_strategy strategy, int inside) {
    int which, reads = (flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY)) != 0;
    for (which = 0; which < JOB_END; which++) {
        int to_host = which == JOB_REDUCE_RESULT || which == JOB_REDUCE_HOST;
        gpuscan_call call = call_on(NULL);
        cl_buffer_region region = {0, 1 << 22};
        cl_int status = CL_SUCCESS;
        cl_mem mem, part = NULL;
        gpuscan_result result;
        job j;
        job_new(&j, which, many);
        mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE | flags, region.size, NULL, &status);
        test_cl(status);
        if (inside)
            part = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
        test_cl(status);
        call.scratch.mem = inside ? part : mem;
        call.scratch.offset = 192;
        call.strategy = strategy;
        test_case("%s, %s, scratch with the host flags 0x%x%s", job_names[which], test_strategy_name(strategy),
                  (unsigned)flags, inside ? " of its parent" : "");
        layer_reset();
        result = job_start(gs, &j, &call);
        if (to_host && reads && result != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
            test_expect(result, GPUSCAN_ERROR_BUFFER_ACCESS);
            assert_int_equal(layer.calls[LAYER_clEnqueueNDRangeKernel] + layer.calls[LAYER_clEnqueueFillBuffer], 0);
            job_untouched(&j);
            call.scratch.mem = NULL; /* runs with the object's scratch */
            result = job_start(gs, &j, &call);
        }
        if (job_ran(&j, result, strategy)) {
            test_cl(clFinish(test.queue));
            job_done(&j);
        }
        if (part)
            clReleaseMemObject(part);
        clReleaseMemObject(mem);
        job_free(&j);
    }
}

static void test_scratch_flags(void **state) {
    static const cl_mem_flags flags[] = {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY};
    gpuscan *gs = layered(), *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    size_t f;
    int s, which;
    (void)state;
    test.gs = gs;
    for (which = 0; which < JOB_END; which++) /* builds and self-tests first, so that only the calls' own work counts */
        TEST_EACH_STRATEGY(s) {
            job j;
            call.strategy = (gpuscan_strategy)s;
            job_new(&j, which, many);
            job_ran(&j, job_start(gs, &j, &call), call.strategy);
            test_cl(clFinish(test.queue));
            job_free(&j);
        }
    for (f = 0; f < sizeof flags / sizeof *flags; f++)
        TEST_EACH_STRATEGY(s)
            scratch_flags(gs, flags[f], (gpuscan_strategy)s, s % 2);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

static unsigned forbidden_after_prepare(void) {
    static const int functions[] = {LAYER_clCreateContext,
                                    LAYER_clCreateCommandQueue,
                                    LAYER_clCreateBuffer,
                                    LAYER_clCreateProgramWithSource,
                                    LAYER_clCreateProgramWithBinary,
                                    LAYER_clBuildProgram,
                                    LAYER_clCreateKernel,
                                    LAYER_clFinish,
                                    LAYER_clWaitForEvents,
                                    LAYER_clEnqueueMapBuffer};
    unsigned count = layer.allocations;
    size_t i;
    for (i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (layer.calls[functions[i]])
            print_error("%s: %s\n", test.what, layer_names[functions[i]]);
        count += layer.calls[functions[i]];
    }
    return count;
}

static size_t largest_made;

static cl_mem CL_API_CALL measured_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                          cl_int *status) {
    largest_made = size > largest_made ? size : largest_made;
    return layer_clCreateBuffer(context, flags, size, host, status);
}

/* A preparation of a selection in place whose scratch is given creates no second scratch for all outputs. */
static void test_in_place_twice(void **state) {
    enum { COUNT = 300000 };
    gpuscan *gs = layered();
    gpuscan_select_desc desc;
    uint64_t size;
    cl_int status;
    (void)state;
    gs->cl.clCreateBuffer = measured_buffer; /* scratch_size and prepare may launch the kernels */
    largest_made = 0;
    memset(&desc, 0, sizeof desc);
    desc.count = COUNT;
    desc.src.mem = desc.dst.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, COUNT * 4, NULL, &status);
    test_cl(status);
    test_ok(gpuscan_select_scratch_size(gs, &desc, &size));
    assert_true(size >= COUNT * 4);
    desc.call.scratch.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)size, NULL, &status);
    test_cl(status);
    test_ok(gpuscan_select_prepare(gs, &desc));
    assert_true(largest_made > 0 && largest_made < COUNT * 4);
    clReleaseMemObject(desc.call.scratch.mem);
    clReleaseMemObject(desc.src.mem);
    test_destroy(gs);
    layer_expect_empty();
}

/* A single pass in place needs a fence. The preparation and the query must refuse what the call refuses. */
static void test_in_place_without_fence(void **state) {
    gpuscan_limits limits;
    gpuscan_scan_desc scan;
    uint64_t size;
    cl_int status;
    (void)state;
    memset(&limits, 0, sizeof limits);
    memset(&scan, 0, sizeof scan);
    limits.without = GPUSCAN_WITHOUT_FENCE;
    test_limit(&limits);
    scan.count = 1000;
    scan.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    scan.src.mem = scan.dst.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, 4000, NULL, &status);
    test_cl(status);
    assert_int_equal(gpuscan_scan_prepare(test.gs, &scan), GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    assert_int_equal(gpuscan_scan_scratch_size(test.gs, &scan, &size), GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    assert_int_equal(gpuscan_scan(test.gs, &scan), GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    clReleaseMemObject(scan.src.mem);
}

/* Selections in place (of src, flags or a payload) through different handles of one memory. The library must detect it
   by the bytes: the query's scratch must suffice, and the call must run the prepared program. A selection of flags is
   not in place if only src and flags are one buffer. */
static void test_in_place_by_bytes(void **state) {
    enum { COUNT = 3000, ELEMENT = 4 };
    size_t align = 0;
    int what, side;
    cl_uint bits = 0;
    (void)state;
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL));
    align = bits / 8;
    for (what = 0; what < 4; what++)
        for (side = 0; side < 4; side++) { /* which of source and destination are sub-buffers */
            gpuscan *gs = layered(), *whole = test.gs;
            cl_buffer_region region = {0, COUNT * ELEMENT};
            gpuscan_select_desc desc = {0};
            gpuscan_payload payload = {{NULL, 0}, {NULL, 0}, ELEMENT};
            gpuscan_buffer from = {NULL, 0}, to = {NULL, 0}, flags = {NULL, 0};
            cl_mem mem, parts[2];
            cl_int status = CL_SUCCESS;
            uint64_t size = 0, apart = 0;
            region.origin = align;
            mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, align + COUNT * ELEMENT, NULL, &status);
            test_cl(status);
            flags.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, COUNT * ELEMENT, NULL, &status);
            test_cl(status);
            parts[0] = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
            test_cl(status);
            parts[1] = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
            test_cl(status);
            from.mem = side & 1 ? parts[0] : mem;
            from.offset = side & 1 ? 0 : align / ELEMENT;
            to.mem = side & 2 ? parts[1] : mem;
            to.offset = side & 2 ? 0 : align / ELEMENT;
            test_case("a selection in place of %s, by sub-buffers %d",
                      what == 0 ? "src" : what == 1 ? "flags" : what == 2 ? "a payload" : "nothing, by src", side);
            desc.count = COUNT;
            desc.flags = what == 1 || what == 3 ? from : flags;
            desc.flag_type = GPUSCAN_TYPE_U32;
            desc.src = what == 0 || what == 3 ? from : what == 1 ? flags : desc.src;
            desc.dst = what == 2 ? desc.dst : what == 3 ? flags : to;
            payload.src = from;
            payload.dst = to;
            desc.payloads = what == 2 ? &payload : NULL;
            desc.payload_count = what == 2;
            test_ok(gpuscan_select_scratch_size(gs, &desc, &size));
            test_ok(gpuscan_select_prepare(gs, &desc));
            desc.call.scratch.mem =
                clCreateBuffer(test.context, CL_MEM_READ_WRITE, size ? (size_t)size : 1, NULL, &status);
            test_cl(status);
            layer_reset();
            test_ok(gpuscan_select(gs, &desc));
            assert_int_equal(forbidden_after_prepare(), 0);
            test_cl(clFinish(test.queue));
            desc.src = desc.dst; /* not in place: needs less */
            desc.flags.mem = desc.dst.mem = payload.dst.mem = NULL;
            test_ok(gpuscan_select_scratch_size(gs, &desc, &apart));
            assert_true(what == 3 || apart + COUNT * ELEMENT <= size);
            clReleaseMemObject(desc.call.scratch.mem);
            clReleaseMemObject(parts[0]);
            clReleaseMemObject(parts[1]);
            clReleaseMemObject(flags.mem);
            clReleaseMemObject(mem);
            test_destroy(gs);
            test.gs = whole;
            layer_expect_empty();
    }
}

/* Checks that after prepare a call only enqueues, with the caller's scratch and the object's. The desc given to prepare
   may lack the buffers. */
static void test_prepare(void **state) {
    int which, s, own;
    (void)state;
    for (own = 0; own < 2; own++)
        for (which = 0; which < JOB_DEVICE_END; which++)
            TEST_EACH_STRATEGY(s) {
                gpuscan_call call = call_on(NULL);
                gpuscan *gs, *whole = test.gs;
                job j, bare;
                uint64_t size = 0;
                cl_int status = CL_SUCCESS;
                gpuscan_result result;
                if (test.is_small && (which + s) % 3)
                    continue;
                gs = layered();
                job_new(&j, which, many);
                call.strategy = (gpuscan_strategy)s;
                test_case("%s, %s, prepared, scratch of the %s", job_names[which], test_strategy_name(call.strategy),
                          own ? "object" : "caller");
                bare = j;
                bare.scan.src.mem = bare.scan.dst.mem = NULL;
                bare.add.dst.mem = bare.add.addend.mem = NULL;
                bare.reduce.src.mem = NULL;
                bare.histogram.samples.mem = bare.histogram.counts.mem = NULL;
                test.gs = gs;
                if (!own) {
                    result = job_scratch_size(gs, &j, &call, &size);
                    if (result == GPUSCAN_SUCCESS && size) {
                        call.scratch.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)size, NULL, &status);
                        test_cl(status);
                    }
                }
                result = job_prepare(gs, s % 2 ? &bare : &j, &call);
                if (!job_ran(&j, result, call.strategy))
                    goto next;
                job_untouched(&j);
                layer_reset();
                result = job_start(gs, &j, &call);
                if (which == JOB_SCAN_PLACE && !job_ran(&j, result, call.strategy)) /* prepare cannot know it */
                    goto next;
                test_ok(result);
                if (forbidden_after_prepare())
                    fail_msg("%s: %u allocations and calls that do not enqueue (the first: %s)", test.what,
                             forbidden_after_prepare(), layer_names[layer.log[0]]);
                test_cl(clFinish(test.queue));
                job_done(&j);
                /* and again with everything built */
                layer_reset();
                job_reset(&j);
                test_ok(job_start(gs, &j, &call));
                assert_int_equal(forbidden_after_prepare(), 0);
                test_cl(clFinish(test.queue));
                job_done(&j);
            next:
                if (call.scratch.mem)
                    clReleaseMemObject(call.scratch.mem);
                job_free(&j);
                test_destroy(gs);
                test.gs = whole;
                layer_expect_empty();
            }
}

/* Checks that a call without prepare builds once what it needs. */
static void test_without_prepare(void **state) {
    gpuscan *gs = layered(), *whole = test.gs;
    int which;
    (void)state;
    test.gs = gs;
    for (which = 0; which < JOB_END; which++) {
        gpuscan_call call = call_on(NULL);
        job j;
        job_new(&j, which, many);
        test_case("%s, cold and warm", job_names[which]);
        job_right(gs, &j, &call);
        layer_reset();
        job_right(gs, &j, &call);
        assert_int_equal(layer.calls[LAYER_clBuildProgram], 0);
        assert_int_equal(layer.calls[LAYER_clCreateKernel], 0);
        job_free(&j);
    }
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* A rehearsal launches fewer groups than the call. What the others would have stored must not be read. */
static gpuscan_custom groups_seen = {"uint seen(uint a, uint b) { if (a | b) printf(\"read\\n\"); return a + b; }\n",
                                     NULL, 0, "seen(a, b)", "0u", NULL, NULL, NULL, NULL};
static void test_many_groups(void **state) {
    int segments;
    (void)state;
    for (segments = 0; segments < 2; segments++) {
        gpuscan *gs = layered();
        gpuscan_reduce_desc desc = {0};
        gpuscan_result result;
        gpuscan__program *program;
        desc.count = (uint64_t)1 << 32;
        desc.op = GPUSCAN_OP_CUSTOM;
        desc.custom = &groups_seen;
        desc.segments.form = segments ? GPUSCAN_SEGMENTS_OFFSETS : GPUSCAN_SEGMENTS_NONE;
        desc.segments.count = segments ? 100000 : 0;
        desc.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
        test_case("many groups, %s", segments ? "segments" : "one result");
        result = gpuscan_reduce_prepare(gs, &desc);
        assert_true(result == GPUSCAN_SUCCESS || result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
        for (program = gs->programs; program; program = program->next) {
            const gpuscan__text *text = &program->parts[GPUSCAN__PART_RECORDING];
            const gpuscan__recorded *launch = (const gpuscan__recorded *)(const void *)text->data;
            size_t count = text->length / sizeof *launch, i;
            for (i = 1; i < count; i++) { /* the second kernel's */
                gpuscan__reduce_numbers numbers;
                memcpy(&numbers, launch[i].values + launch[i].used - sizeof numbers, sizeof numbers);
                assert_in_range(segments ? numbers.split_groups : numbers.groups, 0,
                                launch[0].global / launch[0].group);
            }
        }
        test_destroy(gs);
        layer_expect_empty();
    }
}

/* Checks that histograms with other numbers of bins share a program, wherever the counters lie. */
static void test_other_bins(void **state) {
    static const uint32_t bins[][3] = {{1001, 1000, 1002}, {6000, 6001, 6002}, {33, 34, 40}, {3, 2, 5}};
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS};
    enum { MOST = 6002 };
    uint32_t samples[100], *counts = (uint32_t *)test_alloc((MOST + 64) * sizeof *counts);
    gpuscan *gs = layered();
    size_t c, i, k;
    (void)state;
    for (k = 0; k < 100; k++)
        samples[k] = (uint32_t)(k % 7);
    for (c = 0; c < 8; c++)
        for (i = 0; i < 3; i++) {
            gpuscan_histogram_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.sample_type = GPUSCAN_TYPE_U32;
            desc.bins = bins[c / 2][i];
            desc.call.strategy = strategies[c % 2];
            test_case("%u bins, %s", (unsigned)desc.bins, test_strategy_name(desc.call.strategy));
            layer_reset();
            desc.upper.u = desc.bins;
            memset(counts, 0x5a, (MOST + 64) * sizeof *counts);
            test_ok(gpuscan_histogram_host(gs, samples, counts, 100, &desc));
            for (k = 0; k < desc.bins + 64; k++)
                assert_int_equal(counts[k], k >= desc.bins ? 0x5a5a5a5au : k < 7 ? 14 + (k < 2) : 0);
            if (i > 0)
                assert_int_equal(layer.calls[LAYER_clBuildProgram], 0);
        }
    free(counts);
    test_destroy(gs);
    layer_expect_empty();
}

/* Checks that after a range is prepared no count of it has a kernel to launch that was not launched. */
static void test_range(void **state) {
    static const uint64_t counts[] = {1, 100, 256, 300, 2000, 20000, 1 << 20};
    int s;
    (void)state;
    TEST_EACH_STRATEGY(s) {
        gpuscan *gs = layered();
        gpuscan_sort_desc desc = {0};
        gpuscan_result result;
        gpuscan__program *program;
        size_t bytes, i;
        test_case("a sort of all counts, %s", test_strategy_name((gpuscan_strategy)s));
        desc.key_type = GPUSCAN_TYPE_U32;
        desc.count = counts[6];
        desc.call.counts_from = 1;
        desc.call.strategy = (gpuscan_strategy)s;
        result = gpuscan_sort_prepare(gs, &desc);
        for (bytes = 0, program = gs->programs; program; program = program->next)
            bytes += program->parts[GPUSCAN__PART_RECORDING].length;
        layer_reset();
        desc.call.counts_from = 0;
        for (i = 0; result == GPUSCAN_SUCCESS && i < sizeof counts / sizeof *counts; i++) {
            desc.count = counts[i];
            test_ok(gpuscan_sort_prepare(gs, &desc));
        }
        assert_int_equal(layer.calls[LAYER_clBuildProgram], 0);
        for (program = gs->programs; program; program = program->next)
            bytes -= program->parts[GPUSCAN__PART_RECORDING].length;
        assert_int_equal(bytes, 0);
        test_destroy(gs);
        layer_expect_empty();
    }
}

/* Buffers that the host may not access: the library must use kernels and copies only. */
static void test_no_host_access(void **state) {
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        gpuscan_call call = call_on(NULL);
        test_buffer *hidden[3];
        cl_mem open[3];
        job j;
        int i;
        job_new(&j, which, many);
        hidden[0] = &j.in;
        hidden[1] = &j.more;
        hidden[2] = &j.still;
        test_case("%s from CL_MEM_HOST_NO_ACCESS", job_names[which]);
        for (i = 0; i < 3; i++) {
            cl_int status = CL_SUCCESS;
            cl_mem mem;
            open[i] = hidden[i]->at.mem;
            if (hidden[i]->element == 0)
                continue;
            mem = clCreateBuffer(test.context, CL_MEM_READ_ONLY | CL_MEM_HOST_NO_ACCESS, hidden[i]->capacity, NULL,
                                 &status);
            test_cl(status);
            test_cl(clEnqueueCopyBuffer(test.queue, open[i], mem, 0, 0, hidden[i]->capacity, 0, NULL, NULL));
            hidden[i]->at.mem = mem;
        }
        if (which != JOB_SCAN_PLACE)
            j.scan.src.mem = j.in.at.mem;
        if (which == JOB_SCAN_SEGMENTS)
            j.scan.segments.data.mem = j.more.at.mem;
        else
            j.scan.init_buffer.mem = j.more.at.mem;
        j.scan.count_buffer.mem = j.still.at.mem;
        j.add.addend.mem = j.in.at.mem;
        j.reduce.src.mem = j.in.at.mem;
        if (which == JOB_SEGMENTS)
            j.reduce.segments.data.mem = j.more.at.mem;
        else
            j.reduce.init_buffer.mem = j.more.at.mem;
        j.reduce.count_buffer.mem = j.still.at.mem;
        j.histogram.samples.mem = j.in.at.mem;
        j.histogram.edges.mem = j.more.at.mem;
        j.histogram.weights.mem = j.still.at.mem;
        test_ok(job_start(test.gs, &j, &call));
        test_cl(clFinish(test.queue));
        for (i = 0; i < 3; i++)
            if (hidden[i]->element) {
                clReleaseMemObject(hidden[i]->at.mem);
                hidden[i]->at.mem = open[i];
            }
        job_done(&j);
        job_free(&j);
    }
}

/* Checks that calls with their own queue need no default queue. */
static void test_prepare_with_queue(void **state) {
    static const int kinds[] = {JOB_SCAN, JOB_UNIFORM_ADD, JOB_REDUCE, JOB_HISTOGRAM};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        gpuscan_desc desc = layer_desc();
        gpuscan_call call = call_on(test.queue);
        gpuscan *gs = NULL, *whole = test.gs;
        job j;
        layer_open();
        desc.queue = NULL;
        test_case("prepare with a queue: %s", job_names[kinds[i]]);
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        job_new(&j, kinds[i], many);
        test_ok(job_prepare(gs, &j, &call));
        assert_null(gs->queue);
        job_right(gs, &j, &call);
        assert_null(gs->queue);
        job_free(&j);
        test_destroy(gs);
        test.gs = whole;
        layer_expect_empty();
    }
}

/* Checks that the object's state words are cleared when their tags run out. */
static void test_epochs(void **state) {
    gpuscan_call call = call_on(NULL);
    gpuscan *gs = layered(), *whole = test.gs;
    int s, i, round;
    job j;
    (void)state;
    test.gs = gs;
    job_new(&j, JOB_SCAN, many);
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        call.strategy = (gpuscan_strategy)s;
        test_case("the last tags, %s", test_strategy_name(call.strategy));
        if (!job_right(gs, &j, &call))
            continue;
        for (i = 0; i < GPUSCAN__SCRATCHES; i++)
            if (gs->scratch[i].epoch)
                gs->scratch[i].epoch = (i == GPUSCAN__WORDS32 ? (1u << 14) : (1u << 30)) - 3;
        for (round = 0; round < 4; round++)
            job_right(gs, &j, &call);
        for (i = 0; i < GPUSCAN__SCRATCHES; i++)
            assert_true(gs->scratch[i].epoch < (i == GPUSCAN__WORDS32 ? 1u << 14 : 1u << 30));
    }
    job_free(&j);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* A preparation launches kernels with small stand-ins for buffers: a tile of the caller's picture lies past them. */
static void test_prepare_tiles(void **state) {
    gpuscan_histogram_desc d;
    int                    s;
    (void)state;
    TEST_EACH_STRATEGY(s) {
        gpuscan_result result;
        memset(&d, 0, sizeof d);
        d.count = 65536;
        d.rows = 4096;
        d.tile_width = 64;
        d.tile_height = 2048;
        d.call.strategy = (gpuscan_strategy)s;
        test_case("tiles prepared, %s", test_strategy_name(d.call.strategy));
        result = gpuscan_histogram_prepare(test.gs, &d);
        if (result != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
            test_ok(result);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_scratch), TEST(test_scratch_reuse),  TEST(test_prepare),
                                       TEST(test_without_prepare), TEST(test_no_host_access), TEST(test_epochs),
                                       TEST(test_prepare_with_queue), TEST(test_scratch_flags),
                                       TEST(test_in_place_by_bytes), TEST(test_in_place_twice),
                                       TEST(test_in_place_without_fence), TEST(test_other_bins),
                                       TEST(test_range), TEST(test_many_groups), TEST(test_prepare_tiles)};
    test_select();
    return cmocka_run_group_tests_name("prepare", tests, open_calls, test_close);
}
