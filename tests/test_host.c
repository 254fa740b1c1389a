/* Calls with host arrays on slow drivers, simulated: writes that land late, launches that begin only when something
   waits for them; and arrays at any address, or two arrays at one.
      cc -O2 tests/test_host.c -o build/test_host -lcmocka -lOpenCL -lm -lpthread && build/test_host */
#include "calls.h"

/* The jobs with host arrays, also a scan in place and a histogram with all its arrays. */
enum { FORM_IN_PLACE = JOB_END, FORM_EDGES, FORM_END };

static const char *form_name(int form) {
    return form == FORM_IN_PLACE ? "scan_host in place"
           : form == FORM_EDGES ? "histogram_host, edges"
                                : job_names[form];
}

/* Makes a form's job and its host arrays. */
static void form_new(job *j, int form, uint64_t n) {
    job_new(j, form == FORM_IN_PLACE ? JOB_SCAN_PLACE : form == FORM_EDGES ? JOB_EDGES : form, n);
    if (form >= JOB_END)
        j->host_out = (unsigned char *)test_alloc(job_out_bytes(j) + 2 * TEST_GUARD);
    if (form == FORM_IN_PLACE) {
        const gpuscan_buffer none = {NULL, 0};
        j->scan.src = j->scan.dst = none;
        j->scan.count = 0;
    }
    if (form == FORM_EDGES) {
        const gpuscan_buffer none = {NULL, 0};
        j->histogram.samples = j->histogram.counts = j->histogram.edges = j->histogram.weights = none;
        j->histogram.host_edges = j->more_data;
        j->histogram.host_weights = j->still_data;
        j->histogram.count = 0;
    }
    job_reset(j);
}

static gpuscan_result form_start(gpuscan *gs, job *j, int form, const gpuscan_call *call) {
    unsigned char *out = j->host_out + TEST_GUARD;
    j->scan.call = j->histogram.call = *call;
    if (form == FORM_IN_PLACE)
        return gpuscan_scan_host(gs, out, out, j->count, &j->scan);
    if (form == FORM_EDGES)
        return gpuscan_histogram_host(gs, j->in_data, out, j->count, &j->histogram);
    return job_start(gs, j, call);
}

/* Opens an object through the layer, so that the test can replace driver functions. */
static gpuscan *limited(uint32_t without) {
    gpuscan_desc desc = layer_desc();
    gpuscan *gs = NULL;
    desc.limits.without = without;
    test_ok(gpuscan_create(&gs, &desc));
    return gs;
}

/* ---- writes that land late --------------------------------------------------------------------------------------- */

/* Simulates late writes. When a blocking write returns, it has only read the host's memory: in an out-of-order queue
   its bytes land when its event is waited for, when the queue is finished, or at the latest after the call. */
enum { LATE_MOST = 64 };
typedef struct late_write_of {
    cl_mem mem;
    size_t offset, size;
    void *bytes;
    cl_event event; /* NULL: none requested */
} late_write_of;

static struct late_state {
    unsigned count;
    late_write_of writes[LATE_MOST];
} late;

static void late_land(unsigned i) {
    late_write_of *w = &late.writes[i];
    if (!w->bytes)
        return;
    test_cl(clEnqueueWriteBuffer(test.queue, w->mem, CL_TRUE, w->offset, w->size, w->bytes, 0, NULL, NULL));
    test_cl(clFinish(test.queue));
    if (w->event) {
        test_cl(clSetUserEventStatus(w->event, CL_COMPLETE));
        test_cl(clReleaseEvent(w->event));
    }
    test_cl(clReleaseMemObject(w->mem));
    free(w->bytes);
    w->bytes = NULL;
}

static void late_land_of(cl_uint count, const cl_event *events) {
    cl_uint i;
    unsigned k;
    for (i = 0; i < count; i++)
        for (k = 0; k < late.count; k++)
            if (late.writes[k].event == events[i])
                late_land(k);
}

static void late_land_all(void) {
    unsigned k;
    for (k = 0; k < late.count; k++)
        late_land(k);
    late.count = 0;
}

static cl_int CL_API_CALL late_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                     size_t size, const void *host, cl_uint waits, const cl_event *wait,
                                     cl_event *event) {
    cl_command_queue_properties properties = 0;
    late_write_of *w = &late.writes[late.count];
    test_cl(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    late_land_of(waits, wait);
    if (!(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
        return clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, host, waits, wait, event);
    assert_true(late.count < LATE_MOST);
    late.count++;
    w->mem = buffer;
    w->offset = offset;
    w->size = size;
    w->bytes = test_alloc(size);
    memcpy(w->bytes, host, size);
    w->event = event ? user_event() : NULL;
    test_cl(clRetainMemObject(buffer));
    if (event) {
        test_cl(clRetainEvent(w->event));
        *event = w->event;
    }
    return CL_SUCCESS;
}

static cl_int CL_API_CALL late_wait(cl_uint count, const cl_event *events) {
    late_land_of(count, events);
    return clWaitForEvents(count, events);
}

static cl_int CL_API_CALL late_finish(cl_command_queue queue) {
    late_land_all();
    return clFinish(queue);
}

static cl_int CL_API_CALL late_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                      const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                      const cl_event *wait, cl_event *event) {
    late_land_of(waits, wait);
    return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

static void late_open(void) {
    memset(&late, 0, sizeof late);
    layer_open();
    layer.driver.clEnqueueWriteBuffer = late_write;
    layer.driver.clWaitForEvents = late_wait;
    layer.driver.clFinish = late_finish;
    layer.driver.clEnqueueNDRangeKernel = late_launch;
}

static cl_command_queue queue_without_order(void) {
    cl_command_queue_properties properties = 0;
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    return properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE ? test_queue_new(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
                                                               : NULL;
}

/* Checks that each form's copies land before its kernels run, also in an out-of-order queue. */
static void test_late_writes(void **state) {
    cl_command_queue queue = queue_without_order();
    gpuscan *gs, *whole = test.gs;
    int form, ordered;
    uint64_t n;
    (void)state;
    if (!queue)
        skip();
    late_open();
    test.gs = gs = limited(GPUSCAN_WITHOUT_ZERO_COPY);
    for (form = JOB_DEVICE_END; form < FORM_END; form++)
        for (ordered = 0; ordered < 2; ordered++)
            for (n = 1; n <= many; n = n * 90 + 7) {
                gpuscan_call call = call_on(ordered ? test.queue : queue);
                job j;
                form_new(&j, form, n);
                test_case("%s of %" PRIu64 ", writes land late, %s", form_name(form), n,
                          ordered ? "in order" : "without order");
                test_ok(form_start(gs, &j, form, &call));
                late_land_all();
                job_done(&j);
                job_free(&j);
            }
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
    clReleaseCommandQueue(queue);
}

/* ---- launches that begin late ------------------------------------------------------------------------------------ */

/* Delays launches in the caller's queue until something waits: for the event, the queue, a copy or a map. */
enum { GATED_MOST = 64 };
static struct gated_state {
    cl_command_queue queue;
    cl_event gate;
    int open;
    unsigned count;
    cl_event launches[GATED_MOST];
} gated;

static void gated_go(void) {
    if (!gated.open)
        test_cl(clSetUserEventStatus(gated.gate, CL_COMPLETE));
    gated.open = 1;
}

static cl_int CL_API_CALL gated_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                       const cl_event *wait, cl_event *event) {
    cl_event list[8], made = NULL;
    cl_int code;
    if (queue != gated.queue)
        return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
    assert_true(waits < 8 && gated.count < GATED_MOST);
    if (waits)
        memcpy(list, wait, waits * sizeof *list);
    list[waits] = gated.gate;
    code = clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits + 1, list, &made);
    test_cl(code);
    gated.launches[gated.count++] = made;
    if (event) {
        test_cl(clRetainEvent(made));
        *event = made;
    }
    return code;
}

static cl_int CL_API_CALL gated_wait(cl_uint count, const cl_event *events) {
    gated_go();
    return clWaitForEvents(count, events);
}

static cl_int CL_API_CALL gated_finish(cl_command_queue queue) {
    if (queue == gated.queue)
        gated_go();
    return clFinish(queue);
}

static cl_int CL_API_CALL gated_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                     size_t size, void *host, cl_uint waits, const cl_event *wait, cl_event *event) {
    if (blocking)
        gated_go();
    return clEnqueueReadBuffer(queue, buffer, blocking, offset, size, host, waits, wait, event);
}

static void *CL_API_CALL gated_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                   size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                                   cl_int *status) {
    if (blocking)
        gated_go();
    return clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits, wait, event, status);
}

static void gated_open(void) {
    layer_open();
    layer.driver.clEnqueueNDRangeKernel = gated_launch;
    layer.driver.clWaitForEvents = gated_wait;
    layer.driver.clFinish = gated_finish;
    layer.driver.clEnqueueReadBuffer = gated_read;
    layer.driver.clEnqueueMapBuffer = gated_map;
}

static void gated_begin(cl_command_queue queue) {
    memset(&gated, 0, sizeof gated);
    gated.queue = queue;
    gated.gate = user_event();
}

/* Returns the number of unfinished launches, then finishes them and releases all. */
static unsigned gated_end(void) {
    unsigned i, running = 0;
    for (i = 0; i < gated.count; i++)
        running += event_status(gated.launches[i]) > CL_COMPLETE;
    gated_go();
    test_cl(clFinish(gated.queue));
    for (i = 0; i < gated.count; i++)
        test_cl(clReleaseEvent(gated.launches[i]));
    test_cl(clReleaseEvent(gated.gate));
    return running;
}

/* Makes every OpenCL call of a call fail in turn. When it returns, nothing may run that uses the caller's arrays,
   except after a clFinish that fails. */
static void fail_each(gpuscan *gs, job *j, int form, const gpuscan_call *call) {
    unsigned at = 0, calls, launches, running;
    gpuscan_result result;
    do {
        test_case("%s, %s, call %u fails", form_name(form), test_strategy_name(call->strategy), at);
        job_reset(j);
        gated_begin(call->queue);
        layer_reset();
        layer.fail_at = at;
        layer.fail_code = CL_OUT_OF_RESOURCES;
        layer.fail_gives = (int)(at & 1);
        result = form_start(gs, j, form, call);
        calls = layer.call;
        launches = gated.count;
        running = layer.failed == LAYER_clFinish ? 0 : gated_end();
        if (layer.failed == LAYER_clFinish)
            gated_end();
        if (running)
            fail_msg("%s (%s): %u of %u launches still run when the call has returned %d", test.what,
                     layer.failed < 0 ? "none" : layer_names[layer.failed], running, launches, (int)result);
        if (at == 0)
            job_done(j);
        layer_reset();
    } while (at++ < calls);
}

/* Failures after a launch: of the next launch, of the wait, of the copy back. */
static void test_nothing_left_running(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_CPU_MULTI_PASS};
    cl_command_queue queues[2];
    gpuscan *gs, *whole = test.gs;
    int form, copied, q;
    size_t s;
    (void)state;
    queues[0] = test_queue_new(0);
    queues[1] = queue_without_order();
    for (copied = 0; copied < 2; copied++) {
        gated_open();
        test.gs = gs = limited(copied ? GPUSCAN_WITHOUT_ZERO_COPY : 0);
        for (form = JOB_DEVICE_END; form < FORM_END; form++)
            for (s = 0; s < sizeof strategies / sizeof *strategies; s++)
                for (q = 0; q < 2 && queues[q]; q++) {
                    gpuscan_call call = call_on(queues[q]);
                    job j;
                    call.strategy = test_strategy_here(strategies[s]);
                    form_new(&j, form, test_size(300, 20000, 100000));
                    gated_begin(queues[q]);
                    gated_go(); /* builds the programs, without a gate */
                    test_case("%s", form_name(form));
                    test_ok(form_start(gs, &j, form, &call));
                    gated_end();
                    fail_each(gs, &j, form, &call);
                    job_free(&j);
                }
        gated_begin(test.queue);
        gated_go();
        test_destroy(gs);
        test.gs = whole;
        gated_end();
        layer_expect_empty();
    }
    for (q = 0; q < 2; q++)
        if (queues[q])
            clReleaseCommandQueue(queues[q]);
}

/* ---- arrays at any address --------------------------------------------------------------------------------------- */

/* Returns the largest power of two that divides a size; no type of that size has a larger alignment. */
static size_t alignment_of(size_t size) {
    size_t power = 1;
    while (size % (2 * power) == 0)
        power *= 2;
    return power;
}

static struct {
    size_t alignment; /* of the call's elements, the least */
    unsigned taken;   /* arrays that the device uses in place */
} address;

static cl_mem CL_API_CALL address_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                         cl_int *status) {
    if (flags & CL_MEM_USE_HOST_PTR) {
        if ((uintptr_t)host % address.alignment != 0)
            fail_msg("%s: the device uses an array misaligned by %u bytes, its alignment is %u",
                     test.what, (unsigned)((uintptr_t)host % address.alignment), (unsigned)address.alignment);
        address.taken++;
    }
    return clCreateBuffer(context, flags, size, host, status);
}

/* Returns the address `behind` bytes above a multiple of 4096; the caller frees *block. */
static unsigned char *at_address(void **block, uint64_t size, size_t behind) {
    unsigned char *bytes = (unsigned char *)test_alloc(size + 2 * 4096);
    *block = bytes;
    return bytes + (4096 - (uintptr_t)bytes % 4096) + behind;
}

/* A type made of lanes of a builtin type, added lane by lane. */
typedef struct lanes_type {
    const char *name, *source, *identity;
    gpuscan_type lane;
    unsigned lanes, stride; /* stride: lanes with padding */
} lanes_type;

static const lanes_type lanes_types[] = {
    {"uchar16", NULL, "(uchar16)(0)", GPUSCAN_TYPE_U8, 16, 16},
    {"short8", NULL, "(short8)(0)", GPUSCAN_TYPE_I16, 8, 8},
    {"int3", NULL, "(int3)(0)", GPUSCAN_TYPE_I32, 3, 4},
    {"float4", NULL, "(float4)(0)", GPUSCAN_TYPE_F32, 4, 4},
    {"float8", NULL, "(float8)(0)", GPUSCAN_TYPE_F32, 8, 8},
    {"uint16", NULL, "(uint16)(0)", GPUSCAN_TYPE_U32, 16, 16},
    {"ulong2", NULL, "(ulong2)(0)", GPUSCAN_TYPE_U64, 2, 2},
    {"ulong4", NULL, "(ulong4)(0)", GPUSCAN_TYPE_U64, 4, 4},
    {"long16", NULL, "(long16)(0)", GPUSCAN_TYPE_I64, 16, 16},
    {"double2", NULL, "(double2)(0)", GPUSCAN_TYPE_F64, 2, 2},
    {"double4", NULL, "(double4)(0)", GPUSCAN_TYPE_F64, 4, 4},
    {"double16", NULL, "(double16)(0)", GPUSCAN_TYPE_F64, 16, 16},
    {"lanes_three", "typedef struct { uint x, y, z; } lanes_three;\n"
                    "lanes_three lanes_add(lanes_three a, lanes_three b) {\n"
                    "    lanes_three c; c.x = a.x + b.x; c.y = a.y + b.y; c.z = a.z + b.z; return c; }\n"
                    "lanes_three lanes_zero(void) { lanes_three c; c.x = c.y = c.z = 0; return c; }\n",
     "lanes_zero()", GPUSCAN_TYPE_U32, 3, 3},
    {"lanes_more", "typedef struct { uint4 v; uint last; } lanes_more;\n"
                   "lanes_more lanes_add(lanes_more a, lanes_more b) {\n"
                   "    lanes_more c; c.v = a.v + b.v; c.last = a.last + b.last; return c; }\n"
                   "lanes_more lanes_zero(void) { lanes_more c; c.v = (uint4)(0); c.last = 0; return c; }\n",
     "lanes_zero()", GPUSCAN_TYPE_U32, 5, 8},
};

/* Computes the expected inclusive scan; the total is its last element. */
static void lanes_expect(const lanes_type *t, const unsigned char *src, unsigned char *dst, uint64_t n) {
    uint64_t i;
    unsigned l;
    for (i = 0; i < n; i++)
        for (l = 0; l < t->lanes; l++) {
            ref_value x = ref_load(t->lane, src, i * t->stride + l);
            ref_value sum = ref_is_float(t->lane) ? ref_real(0) : ref_bits(0);
            if (i)
                sum = ref_load(t->lane, dst, (i - 1) * t->stride + l);
            sum = ref_is_float(t->lane) ? ref_real(sum.real + x.real) : ref_wrap(t->lane, sum.bits + x.bits);
            ref_store(t->lane, dst, i * t->stride + l, sum);
        }
}

/* Compares the lanes that are used. */
static void lanes_same(const lanes_type *t, const unsigned char *got, const unsigned char *wanted, uint64_t n) {
    size_t size = ref_size(t->lane);
    uint64_t i;
    for (i = 0; i < n; i++)
        test_same(t->lane, got + i * t->stride * size, wanted + i * t->stride * size, t->lanes);
}

static void check_lanes_type(gpuscan *gs, const lanes_type *t, gpuscan_strategy strategy) {
    enum { N = 70 };
    size_t lane = ref_size(t->lane), size = lane * t->stride, behind;
    unsigned char *src = (unsigned char *)job_zeros(N * size), *wanted = (unsigned char *)test_alloc(N * size);
    gpuscan_custom custom;
    uint64_t i;
    memset(&custom, 0, sizeof custom);
    custom.source = t->source;
    custom.type = t->name;
    custom.size = size;
    custom.combine = t->source ? "lanes_add(a, b)" : "a + b";
    custom.identity = t->identity;
    for (i = 0; i < N * t->stride; i++)
        ref_store(t->lane, src, i, ref_is_float(t->lane) ? ref_real((double)test_below(9)) : ref_bits(test_random()));
    lanes_expect(t, src, wanted, N);
    address.alignment = alignment_of(size);
    for (behind = 0; behind < 2 * address.alignment + 17; behind += behind < 17 ? 1 : 8) {
        gpuscan_scan_desc scan;
        gpuscan_reduce_desc reduce;
        void *in_block, *out_block;
        unsigned char *in = at_address(&in_block, N * size, behind), *out = at_address(&out_block, N * size, behind);
        unsigned char total[256];
        memcpy(in, src, N * size);
        memset(&scan, 0, sizeof scan);
        memset(&reduce, 0, sizeof reduce);
        scan.src_type = scan.dst_type = reduce.src_type = reduce.dst_type = GPUSCAN_TYPE_CUSTOM;
        scan.op = reduce.op = GPUSCAN_OP_CUSTOM;
        scan.custom = reduce.custom = &custom;
        scan.kind = GPUSCAN_INCLUSIVE;
        scan.call.strategy = strategy;
        test_case("%s, %s, %u bytes behind a multiple of 4096", t->name, test_strategy_name(strategy),
                  (unsigned)behind);
        address.taken = 0;
        test_ok(gpuscan_scan_host(gs, in, out, N, &scan));
        lanes_same(t, out, wanted, N);
        if (behind % address.alignment == 0 && test.info.has_zero_copy)
            assert_int_equal(address.taken, 2);
        scan.call.strategy = GPUSCAN_STRATEGY_AUTO; /* not every strategy works in place */
        test_ok(gpuscan_scan_host(gs, in, in, N, &scan));
        lanes_same(t, in, wanted, N);
        memcpy(in, src, N * size);
        test_ok(gpuscan_reduce_host(gs, in, total, N, &reduce));
        lanes_same(t, total, wanted + (N - 1) * size, 1);
        free(in_block);
        free(out_block);
    }
    free(src);
    free(wanted);
}

static gpuscan *open_at_addresses(void) {
    layer_open();
    layer.driver.clCreateBuffer = address_buffer;
    return limited(0);
}

/* Checks that the device uses an array in place only if the address fits the alignment of its type. */
static void test_custom_addresses(void **state) {
    gpuscan *gs = open_at_addresses(), *whole = test.gs;
    size_t t;
    (void)state;
    test.gs = gs;
    for (t = 0; t < sizeof lanes_types / sizeof *lanes_types; t++)
        if (test_has_type(lanes_types[t].lane) && test_takes_one_of(4, t)) {
            gpuscan_strategy strategy = test_next_strategy();
            if (test_device_refusal(strategy) || ref_size(lanes_types[t].lane) * lanes_types[t].stride > 64)
                strategy = GPUSCAN_STRATEGY_MULTI_PASS;
            check_lanes_type(gs, &lanes_types[t], strategy);
        }
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

static void check_builtin_type(gpuscan *gs, gpuscan_type type, gpuscan_strategy strategy) {
    enum { N = 3000, BLOCK = 9 };
    size_t size = ref_size(type), behind;
    unsigned char *src = (unsigned char *)test_alloc(N * size), *wanted = (unsigned char *)test_alloc(N * size);
    int real = ref_is_float(type);
    ref_value sum = real ? ref_real(0) : ref_bits(0);
    cl_uint counts_wanted[10] = {0};
    uint64_t i;
    for (i = 0; i < N; i++) { /* sums that f16 holds exactly */
        ref_value x = real ? ref_real((double)(test_below(40) == 0)) : ref_bits(test_random() & 127);
        ref_store(type, src, i, x);
        sum = real ? ref_real(sum.real + x.real) : ref_wrap(type, sum.bits + x.bits);
        ref_store(type, wanted, i, sum);
        if (real ? x.real < 10 : x.bits < 10)
            counts_wanted[real ? (uint64_t)x.real : x.bits]++;
    }
    address.alignment = size;
    for (behind = 0; behind < 34; behind++) {
        gpuscan_scan_desc scan;
        gpuscan_reduce_desc reduce;
        gpuscan_uniform_add_desc add;
        gpuscan_histogram_desc histogram;
        void *in_block, *out_block, *more_block;
        unsigned char *in = at_address(&in_block, N * size, behind), *out = at_address(&out_block, N * size, behind);
        unsigned char *more = at_address(&more_block, N * size, behind), total[8];
        cl_uint counts[10];
        memcpy(in, src, N * size);
        memset(&scan, 0, sizeof scan);
        memset(&reduce, 0, sizeof reduce);
        memset(&add, 0, sizeof add);
        memset(&histogram, 0, sizeof histogram);
        scan.src_type = reduce.src_type = scan.dst_type = reduce.dst_type = add.type = histogram.sample_type = type;
        scan.kind = GPUSCAN_INCLUSIVE;
        scan.call.strategy = strategy;
        test_case("%s, %s, %u bytes behind a multiple of 4096", test_type_name(type), test_strategy_name(strategy),
                  (unsigned)behind);
        test_ok(gpuscan_scan_host(gs, in, out, N, &scan));
        test_same(type, out, wanted, N);
        test_ok(gpuscan_reduce_host(gs, in, total, N, &reduce));
        test_same(type, total, wanted + (N - 1) * size, 1);
        memcpy(more, in, N * size); /* more += in, one addend each */
        test_ok(gpuscan_uniform_add_host(gs, in, more, N, 1, &add));
        for (i = 0; i < N; i++) {
            ref_value x = ref_load(type, src, i);
            ref_store(type, out, i, real ? ref_real(2 * x.real) : ref_wrap(type, 2 * x.bits));
        }
        test_same(type, more, out, N);
        if (behind < 9) {
            histogram.form = real ? GPUSCAN_BINS_EVEN : GPUSCAN_BINS_VALUES;
            histogram.bins = 10;
            if (real) {
                histogram.lower.f = 0;
                histogram.upper.f = 10;
            }
            address.alignment = size < 4 ? size : 4; /* of counts, too */
            test_ok(gpuscan_histogram_host(gs, in, counts, N, &histogram));
            test_same_bytes(counts, counts_wanted, 4, 10);
            address.alignment = size;
        }
        free(in_block);
        free(out_block);
        free(more_block);
    }
    free(src);
    free(wanted);
}

static void test_builtin_addresses(void **state) {
    static const gpuscan_strategy groups[] = {GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_SINGLE_PASS};
    gpuscan *gs = open_at_addresses(), *whole = test.gs;
    int type;
    size_t s;
    (void)state;
    test.gs = gs;
    for (type = GPUSCAN_TYPE_I8; type < GPUSCAN_TYPE_CUSTOM; type++)
        for (s = 0; s < 2; s++)
            if (test_has_type((gpuscan_type)type) && !test_device_refusal(groups[s]) &&
                test_takes_one_of(4, (uint64_t)type) &&
                (s == (size_t)(type + (int)(test.seed / 2 % 2)) % 2 || type == GPUSCAN_TYPE_U32))
                check_builtin_type(gs, (gpuscan_type)type, groups[s]);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* ---- arrays at one address --------------------------------------------------------------------------------------- */

enum { SHARED_SELECT, SHARED_SCAN, SHARED_WEIGHTS, SHARED_RUNS, SHARED_END, SHARED_COUNT = 777 };

/* Makes a call that reads two arrays with elements of different sizes. */
static void shared_call(gpuscan *gs, int form, const void *bytes, const void *words, cl_uint *out) {
    uint64_t selected = 0;
    memset(out, 0, SHARED_COUNT * sizeof *out);
    if (form == SHARED_SELECT) {
        gpuscan_select_desc desc = {0};
        desc.type = GPUSCAN_TYPE_U8;
        desc.flag_type = GPUSCAN_TYPE_U32;
        test_ok(gpuscan_select_host(gs, bytes, words, out, SHARED_COUNT, &selected, &desc));
    } else if (form == SHARED_SCAN) {
        gpuscan_scan_desc desc = {0};
        desc.segments.form = GPUSCAN_SEGMENTS_HEADS;
        desc.segments.type = GPUSCAN_TYPE_U32;
        desc.segments.host_data = words;
        desc.src_type = GPUSCAN_TYPE_U8;
        desc.dst_type = GPUSCAN_TYPE_U32;
        test_ok(gpuscan_scan_host(gs, bytes, out, SHARED_COUNT, &desc));
    } else if (form == SHARED_WEIGHTS) {
        gpuscan_histogram_desc desc = {0};
        desc.host_weights = words;
        test_ok(gpuscan_histogram_host(gs, bytes, out, SHARED_COUNT, &desc));
    } else {
        gpuscan_runs_desc desc = {0};
        desc.key_type = GPUSCAN_TYPE_U8;
        desc.host_src = words;
        desc.host_dst = out;
        test_ok(gpuscan_runs_host(gs, bytes, NULL, SHARED_COUNT, &selected, &desc));
    }
}

/* Checks that inputs may share an address with a shorter or longer input. */
static void test_shared_address(void **state) {
    static cl_uint words[SHARED_COUNT], apart[SHARED_COUNT], wanted[SHARED_COUNT], out[SHARED_COUNT];
    int form, i;
    (void)state;
    for (i = 0; i < SHARED_COUNT; i++)
        words[i] = apart[i] = test_below(3) ? (cl_uint)test_below(1 << 30) : 0;
    for (form = 0; form < 2 * SHARED_END; form++) {
        gpuscan *gs = limited(form < SHARED_END ? 0 : GPUSCAN_WITHOUT_ZERO_COPY);
        test_case("two arrays at one address, form %d", form % SHARED_END);
        shared_call(gs, form % SHARED_END, apart, words, wanted);
        shared_call(gs, form % SHARED_END, words, words, out);
        assert_memory_equal(out, wanted, sizeof out);
        test_destroy(gs);
        layer_expect_empty();
    }
}

/* A reduction's result is an output like others: refused within src or the offsets, accepted beside them. */
static void test_result_within(void **state) {
    static cl_ulong arena[40]; /* 10 elements of src, or 3 offsets, from element 16 on */
    const gpuscan_reduce_desc none = {0};
    int by_offsets, at;
    (void)state;
    for (by_offsets = 0; by_offsets < 2; by_offsets++)
        for (at = 0; at + 2 < 40; at++) {
            static const cl_ulong elsewhere[10] = {1, 2, 3};
            int length = by_offsets ? 3 : 10, results = by_offsets ? 2 : 1;
            gpuscan_reduce_desc desc = none;
            memset(arena, 0, sizeof arena);
            desc.src_type = GPUSCAN_TYPE_U64;
            desc.segments.form = by_offsets ? GPUSCAN_SEGMENTS_OFFSETS : GPUSCAN_SEGMENTS_NONE;
            desc.segments.type = by_offsets ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
            desc.segments.count = by_offsets ? 2 : 0;
            desc.segments.host_data = by_offsets ? &arena[16] : NULL;
            test_case("a result %d words from %s", at - 16, by_offsets ? "offsets" : "src");
            test_expect(gpuscan_reduce_host(test.gs, by_offsets ? elsewhere : &arena[16], &arena[at], 10, &desc),
                        at + results > 16 && at < 16 + length ? GPUSCAN_ERROR_OVERLAP : GPUSCAN_SUCCESS);
        }
}

/* Checks that a strategy which the call does not allow is refused before any array is copied. */
static void test_refused_first(void **state) {
    gpuscan *gs = layered();
    gpuscan_reduce_desc desc = {0};
    uint32_t src[100] = {0}, sum = 0;
    (void)state;
    gs->device.fence = GPUSCAN__FENCE_NONE; /* a reduction in one pass needs one */
    desc.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    layer_reset();
    test_expect(gpuscan_reduce_host(gs, src, &sum, 100, &desc), GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    assert_int_equal(layer.calls[LAYER_clCreateBuffer], 0);
    test_destroy(gs);
    layer_expect_empty();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_refused_first), TEST(test_late_writes),
                                       TEST(test_nothing_left_running),
                                       TEST(test_custom_addresses), TEST(test_builtin_addresses),
                                       TEST(test_shared_address), TEST(test_result_within)};
    test_select();
    return cmocka_run_group_tests_name("host", tests, open_calls, test_close);
}
