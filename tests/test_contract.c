/* How calls run, apart from what they compute: objects and what they hold, queues, events, scratch, prepare, blobs,
   custom texts, words, memory, threads. */
#include "layer.h"
#include "opencl.h"
#include "jobs.h"

#include <pthread.h>
#include <unistd.h>

static uint64_t n; /* elements of a large call */

static gpuscan_call call_on(cl_command_queue queue) {
    gpuscan_call call;
    memset(&call, 0, sizeof call);
    call.queue = queue;
    return call;
}

static cl_command_queue new_queue(cl_command_queue_properties properties) {
    cl_int status = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(test.context, test.device, properties, &status);
    test_cl(status);
    return queue;
}

static cl_event user_event(void) {
    cl_int status = CL_SUCCESS;
    cl_event event = clCreateUserEvent(test.context, &status);
    test_cl(status);
    return event;
}

static int event_status(cl_event event) {
    cl_int status = 0;
    test_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

/* An object through the layer, on the test's context, device and queue. */
static gpuscan *layered(void) {
    gpuscan_desc desc = layer_desc();
    gpuscan *gs = NULL;
    layer_open();
    desc.opencl = &layer.table;
    test_ok(gpuscan_create(&gs, &desc));
    return gs;
}

/* A host call that is right shows that the object works: it needs a queue, buffers, programs. */
static void object_works(gpuscan *gs) {
    cl_uint src[300], dst[300];
    cl_uint i;
    gpuscan_result result;
    for (i = 0; i < 300; i++)
        src[i] = 2;
    memset(dst, 0x5A, sizeof dst);
    result = gpuscan_scan_host(gs, src, dst, 300, NULL);
    if (result != GPUSCAN_SUCCESS)
        fail_msg("%s: %s: %s", test.what, gpuscan_result_string(result), gpuscan_error(gs));
    for (i = 0; i < 300; i++)
        if (dst[i] != 2 * i)
            fail_msg("%s: %u at %u", test.what, (unsigned)dst[i], (unsigned)i);
}

/* The job runs by this call and is right in the end. 0: the device refuses the strategy. */
static int job_right(gpuscan *gs, job *j, const gpuscan_call *call) {
    job_reset(j);
    if (!job_ran(j, job_start(gs, j, call), call->strategy))
        return 0;
    test_cl(clFinish(call->queue ? call->queue : test.queue));
    job_done(j);
    return 1;
}

static int open_contract(void **state) {
    if (test_open(state) != 0)
        return -1;
    n = test_size(3000, 100000, 1000000);
    alarm(test.is_small ? 3000 : 900); /* a call that hangs ends the program instead of the machine's patience */
    return 0;
}

/* ---- create and destroy ------------------------------------------------------------------------------------------ */

static void create_fails(gpuscan_desc desc, gpuscan_result wanted) {
    gpuscan *gs = test.gs;
    char error[200];
    memset(error, 0x5A, sizeof error);
    desc.error = error;
    desc.error_size = sizeof error - 1;
    test_expect(gpuscan_create(&gs, &desc), wanted);
    if (gs != NULL)
        fail_msg("%s: *gs is not NULL", test.what);
    if (memchr(error, '\0', sizeof error - 1) == NULL || error[0] == '\0' || error[sizeof error - 1] != 0x5A)
        fail_msg("%s: desc.error is no text of at most error_size bytes", test.what);
}

static void create_works(gpuscan_desc desc) {
    gpuscan *gs = NULL;
    char error[500] = "";
    desc.error = error;
    desc.error_size = sizeof error;
    if (gpuscan_create(&gs, &desc) != GPUSCAN_SUCCESS)
        fail_msg("%s: %s", test.what, error);
    if (strcmp(gpuscan_error(gs), "") != 0)
        fail_msg("%s: a new object has the error \"%s\"", test.what, gpuscan_error(gs));
    object_works(gs);
    test_destroy(gs);
}

static void test_create(void **state) {
    const char *name_before = getenv("GPUSCAN_DEVICE");
    char saved[256] = "", part[8] = "";
    cl_int status = CL_SUCCESS;
    cl_context other = clCreateContext(NULL, 1, &test.device, NULL, NULL, &status);
    cl_command_queue other_queue = clCreateCommandQueue(other, test.device, 0, &status);
    gpuscan_opencl holes;
    gpuscan_desc desc, zero;
    gpuscan *gs = NULL;
    size_t i;
    (void)state;
    test_cl(status);
    if (name_before)
        snprintf(saved, sizeof saved, "%s", name_before);
    memset(&zero, 0, sizeof zero);

    test_case("NULL desc");
    test_ok(gpuscan_create(&gs, NULL));
    object_works(gs);
    test_destroy(gs);
    test_case("zero desc");
    create_works(zero);
    test_case("context");
    desc = zero;
    desc.context = test.context;
    create_works(desc);
    test_case("context and device");
    desc.device = test.device;
    create_works(desc);
    test_case("context, device and queue");
    desc.queue = test.queue;
    create_works(desc);
    test_case("queue of another context");
    desc.queue = other_queue;
    create_fails(desc, GPUSCAN_ERROR_INVALID_CONTEXT);

    /* by name: the first few letters of this device's */
    snprintf(part, sizeof part, "%s", test.info.device_name);
    test_case("device_name \"%s\"", part);
    desc = zero;
    desc.device_name = part;
    create_works(desc);
    test_case("device_name of nothing");
    desc.device_name = "no device has this name";
    create_fails(desc, GPUSCAN_ERROR_NO_DEVICE);
    test_case("GPUSCAN_DEVICE \"%s\"", part);
    setenv("GPUSCAN_DEVICE", part, 1);
    create_works(zero);
    test_case("GPUSCAN_DEVICE of nothing");
    setenv("GPUSCAN_DEVICE", "no device has this name", 1);
    create_fails(zero, GPUSCAN_ERROR_NO_DEVICE);
    test_case("device_name goes before GPUSCAN_DEVICE");
    desc.device_name = part;
    create_works(desc);
    test_case("a context goes before GPUSCAN_DEVICE");
    desc = zero;
    desc.context = test.context;
    create_works(desc);
    if (name_before)
        setenv("GPUSCAN_DEVICE", saved, 1);
    else
        unsetenv("GPUSCAN_DEVICE");

    test_case("half an allocator");
    desc = layer_desc();
    layer_open();
    desc.opencl = NULL;
    desc.allocator.release = NULL;
    create_fails(desc, GPUSCAN_ERROR_INVALID_ARGUMENT);
    desc.allocator.release = layer_free;
    desc.allocator.allocate = NULL;
    create_fails(desc, GPUSCAN_ERROR_INVALID_ARGUMENT);

    /* each entry point missing in turn */
    for (i = 0; i < LAYER_FUNCTIONS; i++) {
        test_case("no %s", layer_names[i]);
        holes = layer.driver;
        memset((char *)&holes + i * sizeof holes.clFinish, 0, sizeof holes.clFinish);
        desc = zero;
        desc.opencl = &holes;
        create_fails(desc, GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    test_case("a queue without a context");
    desc = zero;
    desc.queue = test.queue;
    create_fails(desc, GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_case("a device alone");
    desc.queue = NULL;
    desc.device = test.device;
    create_works(desc);

    /* error buffers of every size */
    for (i = 0; i < 40; i++) {
        char error[64];
        memset(error, 0x5A, sizeof error);
        test_case("error_size %zu", i);
        desc = zero;
        desc.device_name = "no device has this name";
        desc.error = error;
        desc.error_size = i;
        test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_NO_DEVICE);
        if (error[i] != 0x5A || (i > 0 && memchr(error, '\0', i) == NULL))
            fail_msg("%s: overrun or not terminated", test.what);
    }
    clReleaseCommandQueue(other_queue);
    clReleaseContext(other);
}

/* No platform, no device, no compiler: as an entry-point table shows them. */
static cl_int CL_API_CALL no_platforms(cl_uint count, cl_platform_id *ids, cl_uint *found) {
    (void)count;
    (void)ids;
    if (found)
        *found = 0;
    return -1001; /* what the loader says of it */
}

static cl_int CL_API_CALL zero_platforms(cl_uint count, cl_platform_id *ids, cl_uint *found) {
    (void)count;
    (void)ids;
    if (found)
        *found = 0;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL no_devices(cl_platform_id id, cl_device_type type, cl_uint count, cl_device_id *ids,
                                     cl_uint *found) {
    (void)id;
    (void)type;
    (void)count;
    (void)ids;
    if (found)
        *found = 0;
    return CL_DEVICE_NOT_FOUND;
}

/* One answer of clGetDeviceInfo replaced. */
static struct {
    cl_device_info what;
    const void *value;
    size_t size;
} replaced;

static cl_int CL_API_CALL other_device_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                                            size_t *needed) {
    if (what != replaced.what)
        return layer.driver.clGetDeviceInfo(id, what, size, value, needed);
    return answer(replaced.value, replaced.size, size, value, needed);
}

static void replace_info(cl_device_info what, const void *value, size_t size) {
    replaced.what = what;
    replaced.value = value;
    replaced.size = size;
}

static void test_no_device(void **state) {
    static const cl_bool no = CL_FALSE;
    gpuscan_desc desc;
    (void)state;
    layer_open();
    memset(&desc, 0, sizeof desc);
    desc.opencl = &layer.driver;
    layer.driver.clGetPlatformIDs = no_platforms;
    test_case("the loader finds no platform");
    create_fails(desc, GPUSCAN_ERROR_NO_PLATFORM);
    layer.driver.clGetPlatformIDs = zero_platforms;
    test_case("no platforms");
    create_fails(desc, GPUSCAN_ERROR_NO_PLATFORM);
    layer_open();
    layer.driver.clGetDeviceIDs = no_devices;
    test_case("no devices");
    create_fails(desc, GPUSCAN_ERROR_NO_DEVICE);

    layer_open();
    layer.table = layer.driver;
    layer.table.clGetDeviceInfo = other_device_info;
    desc.opencl = &layer.table;
    desc.context = test.context;
    test_case("OpenCL 1.1");
    replace_info(CL_DEVICE_VERSION, "OpenCL 1.1 old", sizeof "OpenCL 1.1 old");
    create_fails(desc, GPUSCAN_ERROR_DEVICE_TOO_OLD);
    test_case("OpenCL 1.0");
    replace_info(CL_DEVICE_VERSION, "OpenCL 1.0 older", sizeof "OpenCL 1.0 older");
    create_fails(desc, GPUSCAN_ERROR_DEVICE_TOO_OLD);
    test_case("no compiler");
    replace_info(CL_DEVICE_COMPILER_AVAILABLE, &no, sizeof no);
    create_fails(desc, GPUSCAN_ERROR_DEVICE_TOO_OLD);
    test_case("OpenCL 10.2");
    replace_info(CL_DEVICE_VERSION, "OpenCL 10.2 new", sizeof "OpenCL 10.2 new");
    create_works(desc);
    layer_open();
}

static void test_info(void **state) {
    gpuscan_desc desc;
    gpuscan_info info;
    gpuscan *gs = NULL;
    size_t most = 0;
    (void)state;
    test_case("info");
    assert_ptr_equal(test.info.context, test.context);
    assert_ptr_equal(test.info.device, test.device);
    assert_ptr_equal(test.info.queue, test.queue);
    assert_non_null(test.info.device_name);
    assert_non_null(test.info.platform_name);
    assert_non_null(test.info.profile);
    assert_true(strlen(test.info.device_name) > 0 && strlen(test.info.platform_name) > 0 &&
                strlen(test.info.profile) > 0);
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    assert_in_range(test.info.work_group_size, 1, most);
    assert_in_range(test.info.scan_strategy, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_COUNT - 1);
    assert_in_range(test.info.reduce_strategy, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_COUNT - 1);
    assert_in_range(test.info.histogram_strategy, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_COUNT - 1);

    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.limits.work_group_size = 16;
    desc.limits.local_memory = 2048;
    desc.limits.without = GPUSCAN_WITHOUT_INT64_ATOMICS | GPUSCAN_WITHOUT_F64 | GPUSCAN_WITHOUT_LANES |
                          GPUSCAN_WITHOUT_FENCE | GPUSCAN_WITHOUT_ZERO_COPY;
    test_ok(gpuscan_create(&gs, &desc));
    test_ok(gpuscan_get_info(gs, &info));
    assert_null(info.queue);
    assert_in_range(info.work_group_size, 1, 16);
    assert_in_range(info.local_memory, 0, 2048);
    assert_false(info.has_f64 || info.has_int64_atomics || info.has_fence || info.has_lanes || info.has_zero_copy);
    object_works(gs);
    test_ok(gpuscan_get_info(gs, &info));
    assert_non_null(info.queue);
    test_destroy(gs);
}

/* What a device may lack, held back in turn: every operation is still right. */
static void test_limits(void **state) {
    static const struct {
        size_t group;
        uint64_t local;
        uint32_t without;
    } limits[] = {{1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {32, 0, 0}, {64, 1024, 0}, {0, 1, 0},  {0, 1024, 0},  {0, 16384, 0},
                  {0, 0, 1}, {0, 0, 4}, {0, 0, 8}, {0, 0, 16}, {0, 0, 31},    {1, 1, 31}, {48, 4096, 29}};
    uint64_t size = test_size(1500, 20000, 100000);
    size_t i;
    int which;
    (void)state;
    for (which = 0; which < JOB_END; which++) {
        job j;
        job_new(&j, which, size);
        for (i = 0; i < sizeof limits / sizeof *limits; i++) {
            gpuscan_call call = call_on(NULL);
            gpuscan_desc desc;
            gpuscan *gs = NULL, *whole = test.gs;
            if (!test.is_long && i % 8 != (size_t)which % 8) /* each is a program to build */
                continue;
            memset(&desc, 0, sizeof desc);
            desc.context = test.context;
            desc.device = test.device;
            desc.queue = test.queue;
            desc.limits.work_group_size = limits[i].group;
            desc.limits.local_memory = limits[i].local;
            desc.limits.without = limits[i].without;
            test_ok(gpuscan_create(&gs, &desc));
            test.gs = gs;
            test_case("%s, groups of %zu, %" PRIu64 " bytes of local memory, without %u", job_names[which],
                      limits[i].group, limits[i].local, (unsigned)limits[i].without);
            job_right(gs, &j, &call);
            test.gs = whole;
            test_destroy(gs);
        }
        job_free(&j);
    }
}

/* Less local memory than one work-item of a group needs: groups of one, which get what they need all the same. */
static void test_no_local_memory(void **state) {
    gpuscan_call call = call_on(NULL);
    gpuscan_desc desc = layer_desc();
    gpuscan *gs = NULL, *whole = test.gs;
    job j;
    (void)state;
    layer_open();
    desc.limits.local_memory = 1;
    call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
    test_ok(gpuscan_create(&gs, &desc));
    test.gs = gs;
    test_case("groups that have a byte of local memory");
    job_new(&j, JOB_SCAN, 300);
    assert_true(job_right(gs, &j, &call));
    assert_int_equal(gs->programs->key.group, 1);
    assert_int_equal(gs->programs->key.rows, 1);
    job_free(&j);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* The object keeps what it was given: the caller releases context and queue at once. */
static void test_retained(void **state) {
    cl_int status = CL_SUCCESS;
    cl_context context = clCreateContext(NULL, 1, &test.device, NULL, NULL, &status);
    cl_command_queue queue = clCreateCommandQueue(context, test.device, 0, &status);
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    cl_uint before = 0, references = 0;
    (void)state;
    test_cl(status);
    layer_open();
    memset(&desc, 0, sizeof desc);
    desc.context = context;
    desc.device = test.device;
    desc.queue = queue;
    test_case("context and queue released by the caller");
    test_ok(gpuscan_create(&gs, &desc));
    memset(&desc, 0x5A, sizeof desc); /* nor does it look at the desc again */
    test_cl(clReleaseCommandQueue(queue));
    test_cl(clReleaseContext(context));
    object_works(gs);
    test_destroy(gs);

    /* and gives back what it took */
    test_case("reference counts");
    test_cl(clGetCommandQueueInfo(test.queue, CL_QUEUE_REFERENCE_COUNT, sizeof before, &before, NULL));
    desc = layer_desc();
    desc.opencl = NULL;
    test_ok(gpuscan_create(&gs, &desc));
    object_works(gs);
    test_destroy(gs);
    test_cl(clGetCommandQueueInfo(test.queue, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references, NULL));
    assert_int_equal(references, before);
}

/* The table is copied, and so is the allocator: the caller's structs may go away. */
static void test_copied(void **state) {
    gpuscan_opencl *table = (gpuscan_opencl *)test_alloc(sizeof *table);
    gpuscan_desc desc = layer_desc();
    gpuscan *gs = NULL;
    char *name = (char *)test_alloc(strlen(test.info.device_name) + 1);
    (void)state;
    layer_open();
    memcpy(name, test.info.device_name, strlen(test.info.device_name) + 1);
    *table = layer.table;
    desc.opencl = table;
    desc.context = NULL;
    desc.device = NULL;
    desc.queue = NULL;
    desc.device_name = name;
    test_case("copies");
    test_ok(gpuscan_create(&gs, &desc));
    memset(table, 0x5A, sizeof *table);
    memset(name, 0x5A, strlen(test.info.device_name));
    memset(&desc, 0x5A, sizeof desc);
    free(table);
    free(name);
    object_works(gs);
    test_destroy(gs);
    layer_expect_empty();
}

/* ---- events and queues ------------------------------------------------------------------------------------------- */

/* A call behind a user event does not begin before it; the inputs are read when it runs, host values during the call.
   Waits on none, one and many events. */
static void test_wait_lists(void **state) {
    static const cl_uint counts[] = {0, 1, 2, 40};
    cl_command_queue side = new_queue(0);
    size_t c;
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job j;
        job_new(&j, which, n);
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
            if (counts[c] && j.in.element) { /* not yet what it will be */
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
                    fail_msg("%s: complete before the last that it waits for", test.what);
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

/* The event is enough for another queue to read the outputs, with every strategy. */
static void test_event_to_queue(void **state) {
    cl_command_queue side = new_queue(0);
    int which, s;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job j;
        job_new(&j, which, n);
        if (which != JOB_REDUCE_RESULT)
            for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
                cl_event event = NULL;
                gpuscan_call call = call_on(NULL);
                unsigned char *got = (unsigned char *)test_alloc(job_out_bytes(&j));
                call.event = &event;
                call.strategy = (gpuscan_strategy)s;
                test_case("%s, %s, its event taken by another queue", job_names[which],
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
        job_free(&j);
    }
    clReleaseCommandQueue(side);
}

/* Many calls at once on a queue without order, each with its own buffers and the object's scratch: the library keeps
   calls that share scratch apart. */
static void many_at_once(cl_command_queue first, cl_command_queue second) {
    enum { CALLS = 12 };
    static const int kinds[] = {JOB_SCAN, JOB_REDUCE, JOB_SCAN_PLACE, JOB_VALUES, JOB_SCAN_ROWS, JOB_EDGES};
    int s, i, refused = 0;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        job jobs[CALLS];
        cl_event ends[CALLS];
        int ended = 0;
        test_case("many calls, %s", test_strategy_name((gpuscan_strategy)s));
        for (i = 0; i < CALLS; i++)
            job_new(&jobs[i], kinds[i % 6], n / 2 + 1000 * (uint64_t)i);
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

static int has_unordered(void) {
    cl_command_queue_properties properties = 0;
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

static void test_out_of_order(void **state) {
    cl_command_queue queue;
    cl_event events[9];
    job j;
    uint64_t i, count;
    cl_uint *data, *expected;
    (void)state;
    if (!has_unordered())
        skip();
    queue = new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    many_at_once(queue, queue);

    /* in place, nine times over, each call behind the event of the one before */
    test_case("a chain of scans");
    job_new(&j, JOB_SCAN_SMALL, n);
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
    cl_command_queue first = new_queue(0), second = new_queue(0);
    (void)state;
    many_at_once(first, second);
    clReleaseCommandQueue(first);
    clReleaseCommandQueue(second);
}

static void test_profiling(void **state) {
    cl_command_queue queue = new_queue(CL_QUEUE_PROFILING_ENABLE);
    int which;
    (void)state;
    for (which = 0; which < JOB_END; which++) {
        cl_event event = NULL;
        gpuscan_call call = call_on(queue);
        cl_ulong end = 0;
        job j;
        job_new(&j, which, n);
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

/* Elements that are none: the call is legal, its event completes, and only totals are written. */
static void test_nothing(void **state) {
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

    test_case("nothing behind an event, and no event for it: what comes later in the queue waits");
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

/* The caller lets go of everything while the call still waits: buffers, scratch, queue, and the object itself. */
static void test_released_early(void **state) {
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        cl_command_queue queue = new_queue(0);
        cl_event gate = user_event(), event = NULL;
        gpuscan_call call = call_on(queue);
        gpuscan_desc desc;
        gpuscan *gs = NULL;
        job j;
        uint64_t size = 0;
        cl_int status = CL_SUCCESS;
        cl_mem kept;
        job_new(&j, which, n);
        test_case("%s, all released while it waits", job_names[which]);
        memset(&desc, 0, sizeof desc);
        desc.context = test.context;
        desc.device = test.device;
        test_ok(gpuscan_create(&gs, &desc));
        call.wait_count = 1;
        call.wait_list = &gate;
        call.event = &event;
        test_ok(job_scratch_size(gs, &j, &call, &size));
        if (which % 2 && size) { /* every other time with scratch of its own */
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
        /* the inputs are gone; the outputs are right */
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

/* PoCL (3.1) aborts the process when an event fails that two commands wait for, one through the other. */
static int is_too_much_for_driver(unsigned commands) {
    return commands > 1 && strstr(test.info.platform_name, "Portable Computing Language") != NULL;
}

/* Whether the first output holds what it should. */
static int is_done(job *j) {
    if (j->out.element == 0)
        return j->result[1] == j->result_wanted;
    return memcmp(test_buffer_get(&j->out), j->out_wanted, (size_t)job_out_bytes(j)) == 0;
}

/* An event that has failed before the call: refused, since some drivers would wait for ever. One that fails while the
   call waits: drivers stop the call, or run it all the same. Either way nothing hangs, and the next call is right. */
static void failed_event(gpuscan *gs, int which, gpuscan_strategy strategy, int later) {
    cl_command_queue queue = new_queue(0);
    cl_event gate = user_event(), event = NULL;
    gpuscan_call call = call_on(queue);
    job j;
    job_new(&j, which, n / 4 + 100);
    test_case("%s, %s, behind an event that fails %s", job_names[which], test_strategy_name(strategy),
              later ? "afterwards" : "before");
    call.strategy = strategy;
    job_right(gs, &j, &call);
    layer_reset();
    if (!job_right(gs, &j, &call) || (later && is_too_much_for_driver(layer.calls[LAYER_clEnqueueNDRangeKernel] +
                                                                      layer.calls[LAYER_clEnqueueReadBuffer] +
                                                                      layer.calls[LAYER_clEnqueueFillBuffer])))
        goto done;
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
        if (is_done(&j)) /* not by the event's status: Intel's runtime says complete of what it left out */
            job_done(&j);
        else if (status < 0)
            job_untouched(&j);
        else /* and runs what comes after it */
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
done:
    clReleaseEvent(gate);
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
            for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
                if (!(test.is_small && (which + s) % 3) &&
                    !(which == JOB_UNIFORM_ADD && s != GPUSCAN_STRATEGY_AUTO && s != GPUSCAN_STRATEGY_MULTI_PASS))
                    failed_event(gs, which, (gpuscan_strategy)s, later);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* ---- scratch and prepare ----------------------------------------------------------------------------------------- */

/* Exactly as many bytes as the query says are enough, and those around them stay. The buffer starts out as garbage. */
static void test_scratch(void **state) {
    int which, s, round;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
            gpuscan_call call = call_on(NULL);
            gpuscan_result result;
            uint64_t size = UINT64_MAX;
            unsigned ran;
            test_buffer scratch;
            job j;
            job_new(&j, which, n + 17);
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
                test_buffer_get(&scratch); /* looks at the guards */
            }
            if (size && test.ran[s] != ran) {
                /* a second object with the same scratch: nothing of the first may be believed */
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

/* Scratch that many kinds of calls have used in turn: what one leaves there must not mislead the next. */
static void test_scratch_reuse(void **state) {
    gpuscan_call call = call_on(NULL);
    uint64_t size = 0, largest = 0;
    int i, s, which, rounds = (int)test_size(20, 200, 2000);
    job jobs[JOB_DEVICE_END];
    cl_int status = CL_SUCCESS;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job_new(&jobs[which], which, n / 3 + 50);
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
            call.strategy = (gpuscan_strategy)s;
            if (job_scratch_size(test.gs, &jobs[which], &call, &size) == GPUSCAN_SUCCESS && size > largest)
                largest = size;
        }
    }
    call.scratch.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)largest + 64, NULL, &status);
    test_cl(status);
    for (i = 0; i < rounds; i++) {
        gpuscan_result result;
        which = (int)test_below(JOB_DEVICE_END);
        call.strategy = (gpuscan_strategy)test_below(GPUSCAN_STRATEGY_COUNT);
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

/* After prepare a call only enqueues, with the caller's scratch and with the object's, and the desc given to prepare
   may lack the buffers. */
static void test_prepare(void **state) {
    int which, s, own;
    (void)state;
    for (own = 0; own < 2; own++)
        for (which = 0; which < JOB_DEVICE_END; which++)
            for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
                gpuscan_call call = call_on(NULL);
                gpuscan *gs, *whole = test.gs;
                job j, bare;
                uint64_t size = 0;
                cl_int status = CL_SUCCESS;
                gpuscan_result result;
                if (test.is_small && (which + s) % 3)
                    continue;
                gs = layered();
                job_new(&j, which, n);
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
                if (which == JOB_SCAN_PLACE && !job_ran(&j, result, call.strategy)) /* only the call knows that it is */
                    goto next;
                test_ok(result);
                if (forbidden_after_prepare())
                    fail_msg("%s: %u allocations and calls that are not for enqueuing (the first: %s)", test.what,
                             forbidden_after_prepare(), layer_names[layer.log[0]]);
                test_cl(clFinish(test.queue));
                job_done(&j);
                /* and again, once all is warm */
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

/* A call without prepare builds what it needs once. */
static void test_cold(void **state) {
    gpuscan *gs = layered(), *whole = test.gs;
    int which;
    (void)state;
    test.gs = gs;
    for (which = 0; which < JOB_END; which++) {
        gpuscan_call call = call_on(NULL);
        job j;
        job_new(&j, which, n);
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

/* Buffers that the host may not touch: the library leaves them to kernels and copies. */
static void test_no_host_access(void **state) {
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        gpuscan_call call = call_on(NULL);
        test_buffer *hidden[3];
        cl_mem open[3];
        job j;
        int i;
        job_new(&j, which, n);
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
        j.scan.init_buffer.mem = j.more.at.mem;
        j.scan.count_buffer.mem = j.still.at.mem;
        j.add.addend.mem = j.in.at.mem;
        j.reduce.src.mem = j.in.at.mem;
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

/* ---- two contexts, two threads ----------------------------------------------------------------------------------- */

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
                job_new(&j, which, n);
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

/* Two threads, each with an object of its own on one context. A thread only counts what is wrong: cmocka's checks are
   for the main one. */
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
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (i = 0; i < THREADS; i++) {
        if (workers[i].result != GPUSCAN_SUCCESS || workers[i].wrong)
            fail_msg("thread %d: %s: %s, %d wrong values", i, gpuscan_result_string(workers[i].result),
                     gpuscan_error(workers[i].gs), workers[i].wrong);
        test_destroy(workers[i].gs);
    }
}

/* ---- blobs ------------------------------------------------------------------------------------------------------- */

/* All programs of two jobs as a blob; malloc'ed. */
static unsigned char *make_blob(size_t *size) {
    gpuscan *gs = layered(), *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    unsigned char *blob;
    size_t capacity = 7;
    int which;
    test.gs = gs;
    for (which = JOB_SCAN; which <= JOB_REDUCE; which += JOB_REDUCE - JOB_SCAN) {
        job j;
        job_new(&j, which, n);
        job_right(gs, &j, &call);
        job_free(&j);
    }
    *size = 0;
    test_ok(gpuscan_get_blob(gs, NULL, size));
    assert_true(*size > 100);
    blob = (unsigned char *)test_alloc(*size + 16);
    memset(blob, 0x5A, *size + 16);
    test_expect(gpuscan_get_blob(gs, blob, &capacity), GPUSCAN_ERROR_INVALID_ARGUMENT);
    assert_true(capacity == *size);
    capacity = *size - 1;
    test_expect(gpuscan_get_blob(gs, blob, &capacity), GPUSCAN_ERROR_INVALID_ARGUMENT);
    for (capacity = 0; capacity < *size + 16; capacity++)
        assert_int_equal(blob[capacity], 0x5A);
    capacity = *size + 10;
    test_ok(gpuscan_get_blob(gs, blob, &capacity));
    assert_true(capacity == *size);
    for (; capacity < *size + 16; capacity++)
        assert_int_equal(blob[capacity], 0x5A);
    test_destroy(gs);
    test.gs = whole;
    return blob;
}

/* A blob right behind a call: PoCL up to 5.0 aborts where it is asked for a program that runs, or is still compiled. */
static void test_blob_of_running(void **state) {
    gpuscan *whole = test.gs;
    cl_int made = CL_SUCCESS;
    cl_command_queue side = clCreateCommandQueue(test.context, test.device, 0, &made);
    int which;
    (void)state;
    test_cl(made);
    for (which = 0; which < JOB_DEVICE_END; which++) {
        gpuscan *gs = layered();
        gpuscan_call call = call_on(which % 2 ? side : NULL), prepared = call_on(NULL);
        size_t size = 0, capacity;
        unsigned char *blob;
        cl_event event = NULL;
        cl_int status = CL_QUEUED;
        job j;
        test.gs = gs;
        test_case("a blob right behind %s", job_names[which]);
        job_new(&j, which, which == JOB_SCAN_SMALL ? 1000 : test_size(10000, 1000000, 1000000));
        test_cl(clFinish(test.queue)); /* another queue is to find the job's data there */
        call.event = &event;
        test_ok(job_start(gs, &j, &call));
        layer_taken(event);
        call.event = NULL;
        prepared.strategy = GPUSCAN_STRATEGY_SINGLE_PASS; /* whose self-test is no call */
        if (which == JOB_SCAN || which == JOB_REDUCE_RESULT)
            job_ran(&j, job_prepare(gs, &j, &prepared), prepared.strategy);
        layer_reset();
        test_ok(gpuscan_get_blob(gs, NULL, &size));
        assert_int_equal(layer.calls[LAYER_clFinish], 1);
        assert_ptr_equal(gs->last_queue, which % 2 ? side : test.queue);
        test_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        assert_int_equal(status, CL_COMPLETE);
        test_cl(clReleaseEvent(event));
        job_done(&j);
        job_reset(&j);
        test_cl(clFinish(test.queue));
        test_ok(job_start(gs, &j, &call));
        blob = (unsigned char *)test_alloc(size);
        capacity = size;
        test_ok(gpuscan_get_blob(gs, blob, &capacity));
        assert_true(capacity == size);
        job_done(&j);
        job_free(&j);
        free(blob);
        test_destroy(gs);
        layer_expect_empty();
    }
    test.gs = whole;
    clReleaseCommandQueue(side);
}

static void test_blob(void **state) {
    size_t size, second_size = 0;
    unsigned char *blob, *second;
    gpuscan *gs, *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    int which;
    (void)state;
    test_case("a blob");
    blob = make_blob(&size);
    gs = layered();
    test.gs = gs;
    test_ok(gpuscan_set_blob(gs, blob, size));
    memset(blob, 0x5A, size); /* copied */
    for (which = JOB_SCAN; which <= JOB_REDUCE; which += JOB_REDUCE - JOB_SCAN) {
        job j;
        job_new(&j, which, n);
        test_case("%s from a blob", job_names[which]);
        job_right(gs, &j, &call);
        job_free(&j);
    }
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 0);
    assert_true(layer.calls[LAYER_clCreateProgramWithBinary] > 0);
    /* what is not in it is built, and then goes into the next blob */
    {
        job j;
        job_new(&j, JOB_HISTOGRAM, n);
        test_case("a histogram besides the blob");
        job_right(gs, &j, &call);
        assert_true(layer.calls[LAYER_clCreateProgramWithSource] > 0);
        test_ok(gpuscan_get_blob(gs, NULL, &second_size));
        second = (unsigned char *)test_alloc(second_size);
        test_ok(gpuscan_get_blob(gs, second, &second_size));
        test_destroy(gs);
        layer_expect_empty();
        gs = layered();
        test.gs = gs;
        test_ok(gpuscan_set_blob(gs, second, second_size));
        job_right(gs, &j, &call);
        job_free(&j);
        job_new(&j, JOB_SCAN, n);
        job_right(gs, &j, &call);
        job_free(&j);
        assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 0);
    }
    test_destroy(gs);

    test_case("a blob of programs whose texts are as long, and others");
    {
        gpuscan__blob_header header;
        gpuscan__blob_entry entry;
        uint64_t at = sizeof header;
        job j;
        memcpy(&header, second, sizeof header);
        for (; at < second_size; at += gpuscan__padded(entry.prefix_length) + gpuscan__padded(entry.binary_size)) {
            memcpy(&entry, second + at, sizeof entry);
            at += sizeof entry;
            second[at] ^= 1;
        }
        header.checksum = gpuscan__hash(GPUSCAN__HASH_START, second + sizeof header, second_size - sizeof header);
        memcpy(second, &header, sizeof header);
        gs = layered();
        test.gs = gs;
        test_ok(gpuscan_set_blob(gs, second, second_size));
        layer_reset();
        job_new(&j, JOB_SCAN, n);
        job_right(gs, &j, &call);
        job_free(&j);
        assert_int_equal(layer.calls[LAYER_clCreateProgramWithBinary], 0);
        assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 1);
        test_destroy(gs);
    }
    test.gs = whole;
    layer_expect_empty();
    free(second);
    free(blob);
}

/* What a driver may say of a program's devices and binaries. */
static struct {
    cl_device_id devices[3];
    size_t count, sizes[3];
} said;

static cl_int CL_API_CALL odd_program_info(cl_program id, cl_program_info what, size_t size, void *value,
                                           size_t *needed) {
    size_t i;
    if (what == CL_PROGRAM_DEVICES)
        return answer(said.devices, said.count * sizeof *said.devices, size, value, needed);
    if (what == CL_PROGRAM_BINARY_SIZES)
        return answer(said.sizes, said.count * sizeof *said.sizes, size, value, needed);
    if (what != CL_PROGRAM_BINARIES)
        return clGetProgramInfo(id, what, size, value, needed);
    for (i = 0; i < said.count; i++)
        if (said.sizes[i])
            memset(((unsigned char **)value)[i], (int)(1 + i), said.sizes[i]);
    return CL_SUCCESS;
}

/* Programs of other devices, of several, without a binary: a blob that can be used, or a failure. */
static void test_odd_binaries(void **state) {
    const cl_device_id own = test.device, other = (cl_device_id)&said;
    const struct {
        const char *what;
        size_t count;
        cl_device_id devices[3];
        size_t sizes[3];
        gpuscan_result result;
        int binary; /* which it is */
    } cases[] = {
        {"of one device", 1, {own}, {40}, GPUSCAN_SUCCESS, 0},
        {"of another device", 2, {other, other}, {40, 40}, CL_OUT_OF_RESOURCES, 0},
        {"of no device", 0, {own}, {40}, CL_OUT_OF_RESOURCES, 0},
        {"without a binary", 2, {other, own}, {0, 0}, CL_OUT_OF_RESOURCES, 0},
        {"of the second device", 3, {other, own, other}, {50, 40, 30}, GPUSCAN_SUCCESS, 1},
        {"whose only binary is the second", 3, {other, other, own}, {0, 40, 0}, GPUSCAN_SUCCESS, 1},
    };
    gpuscan *gs = layered();
    size_t i;
    (void)state;
    object_works(gs);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpuscan__blob_entry entry;
        unsigned char *blob, *binary;
        size_t size = 0, b;
        test_case("a program %s", cases[i].what);
        said.count = cases[i].count;
        memcpy(said.devices, cases[i].devices, sizeof said.devices);
        memcpy(said.sizes, cases[i].sizes, sizeof said.sizes);
        gs->cl.clGetProgramInfo = odd_program_info;
        test_expect(gpuscan_get_blob(gs, NULL, &size), cases[i].result);
        if (cases[i].result != GPUSCAN_SUCCESS) {
            assert_string_not_equal(gpuscan_error(gs), "");
            object_works(gs);
            continue;
        }
        blob = (unsigned char *)test_alloc(size);
        test_ok(gpuscan_get_blob(gs, blob, &size));
        memcpy(&entry, blob + sizeof(gpuscan__blob_header), sizeof entry);
        assert_int_equal(entry.binary_size, cases[i].sizes[cases[i].binary]);
        binary = blob + sizeof(gpuscan__blob_header) + sizeof entry + gpuscan__padded(entry.prefix_length);
        for (b = 0; b < entry.binary_size; b++)
            assert_int_equal(binary[b], 1 + cases[i].binary);
        test_ok(gpuscan_set_blob(gs, blob, size));
        free(blob);
    }
    test_destroy(gs);
    layer_expect_empty();
}

static void blob_refused(gpuscan *gs, const void *blob, size_t size) {
    test_expect(gpuscan_set_blob(gs, blob, size), GPUSCAN_ERROR_BLOB);
    if (strcmp(gpuscan_error(gs), "") == 0)
        fail_msg("%s: refused without words", test.what);
}

static cl_program CL_API_CALL refuse_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                            const size_t *sizes, const unsigned char **binaries, cl_int *each,
                                            cl_int *status) {
    (void)context;
    (void)count;
    (void)devices;
    (void)sizes;
    (void)binaries;
    if (each)
        *each = CL_INVALID_BINARY;
    if (status)
        *status = CL_INVALID_BINARY;
    return NULL;
}

/* Makes the program, and says of the device's binary that it is none. */
static cl_program CL_API_CALL doubt_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                           const size_t *sizes, const unsigned char **binaries, cl_int *each,
                                           cl_int *status) {
    cl_program program = layer_clCreateProgramWithBinary(context, count, devices, sizes, binaries, each, status);
    *each = CL_INVALID_BINARY;
    return program;
}

static void test_bad_blob(void **state) {
    static const char other[] = "another driver 99.9";
    size_t size, length, step, empty = 0;
    unsigned char *blob, *copy;
    gpuscan *gs, *whole = test.gs;
    gpuscan_desc desc;
    gpuscan_call call = call_on(NULL);
    job j;
    (void)state;
    test_case("a blob");
    blob = make_blob(&size);
    gs = layered();
    test.gs = gs;
    step = size / (size_t)test_size(100, 2000, 100000) + 1;
    for (length = 0; length < size; length += length < 300 || length + 300 > size ? 1 : step) {
        test_case("a blob of %zu bytes cut to %zu", size, length);
        copy = (unsigned char *)test_alloc(length); /* of that size, for the address sanitizer */
        memcpy(copy, blob, length);
        blob_refused(gs, copy, length);
        free(copy);
    }
    copy = (unsigned char *)test_alloc(size + 1);
    memcpy(copy, blob, size);
    copy[size] = 0;
    test_case("a blob with a byte too many");
    blob_refused(gs, copy, size + 1);
    for (length = 0; length < size; length += length < 300 || length + 300 > size ? 1 : step) {
        test_case("a blob of %zu bytes, byte %zu flipped", size, length);
        copy[length] ^= (unsigned char)(1 << length % 8);
        blob_refused(gs, copy, size);
        copy[length] ^= (unsigned char)(1 << length % 8);
    }
    for (length = 0; length < 200; length++) {
        size_t k, noise = (size_t)test_below(5000);
        test_case("noise of %zu bytes", noise);
        test_random_bytes(copy, noise < size ? noise : size);
        k = noise < size ? noise : size;
        blob_refused(gs, copy, k);
        memcpy(copy, blob, k < 64 ? k : 64); /* and behind a true beginning */
        if (k > 64)
            blob_refused(gs, copy, k);
    }
    /* a right checksum over entries that do not fit */
    for (length = 0; length < 5; length++) {
        const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX / 2, 1u << 20, 0, size};
        gpuscan__blob_header header;
        gpuscan__blob_entry entry;
        int which;
        for (which = 0; which < 3; which++) {
            memcpy(copy, blob, size);
            memcpy(&header, copy, sizeof header);
            memcpy(&entry, copy + sizeof header, sizeof entry);
            if (which == 0)
                entry.prefix_length = lengths[length] ? lengths[length] : size;
            else if (which == 1)
                entry.binary_size = lengths[length];
            else
                header.entries += (uint32_t)length + 1;
            memcpy(copy + sizeof header, &entry, sizeof entry);
            header.checksum = gpuscan__hash(GPUSCAN__HASH_START, copy + sizeof header, size - sizeof header);
            memcpy(copy, &header, sizeof header);
            test_case("a blob whose %s is wrong, with a right checksum", which == 0   ? "prefix"
                                                                         : which == 1 ? "binary"
                                                                                      : "number of entries");
            blob_refused(gs, copy, size);
        }
    }
    /* nothing has changed: programs get built from source */
    job_new(&j, JOB_SCAN, n);
    test_case("a scan after bad blobs");
    layer_reset();
    job_right(gs, &j, &call);
    assert_true(layer.calls[LAYER_clCreateProgramWithSource] > 0);
    test_destroy(gs);
    layer_expect_empty();

    /* a blob of nothing is a blob */
    gs = layered();
    test.gs = gs;
    test_case("a blob of no programs");
    test_ok(gpuscan_get_blob(gs, NULL, &empty));
    free(copy);
    copy = (unsigned char *)test_alloc(empty);
    test_ok(gpuscan_get_blob(gs, copy, &empty));
    test_ok(gpuscan_set_blob(gs, copy, empty));
    job_right(gs, &j, &call);
    test_destroy(gs);
    layer_expect_empty();

    /* another driver, another device */
    for (length = 0; length < 2; length++) {
        desc = layer_desc();
        layer_open();
        layer.table.clGetDeviceInfo = other_device_info;
        replace_info(length ? CL_DEVICE_NAME : CL_DRIVER_VERSION, other, sizeof other);
        test_case("a blob of another %s", length ? "device" : "driver");
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        blob_refused(gs, blob, size);
        job_right(gs, &j, &call);
        test_destroy(gs);
    }

    /* the driver does not take its own binary: built from source */
    for (length = 0; length < 2; length++) {
        desc = layer_desc();
        layer_open();
        layer.table.clCreateProgramWithBinary = length ? doubt_binary : refuse_binary;
        test_case("a driver that %s binaries", length ? "doubts" : "refuses");
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        test_ok(gpuscan_set_blob(gs, blob, size));
        job_right(gs, &j, &call);
        assert_true(layer.calls[LAYER_clCreateProgramWithSource] > 0);
        test_destroy(gs);
        layer_expect_empty();
    }
    test.gs = whole;
    free(copy);
    free(blob);
    job_free(&j);
}

/* ---- custom texts ------------------------------------------------------------------------------------------------ */

/* Says how long the log is, and then does not give it. */
static cl_int CL_API_CALL no_log(cl_program id, cl_device_id device, cl_program_build_info what, size_t size,
                                 void *value, size_t *needed) {
    if (what == CL_PROGRAM_BUILD_LOG && value)
        return CL_OUT_OF_RESOURCES;
    return clGetProgramBuildInfo(id, device, what, size, value, needed);
}

static void test_custom_errors(void **state) {
    gpuscan_custom custom = job_custom;
    gpuscan_call call = call_on(NULL);
    gpuscan_result result;
    job j;
    gpuscan_scan_desc desc;
    cl_event event = NULL;
    (void)state;
    job_new(&j, JOB_SCAN_CUSTOM, 1000);
    desc = j.scan;
    desc.call = call;
    desc.custom = &custom;
    desc.call.event = &event;

    test_case("a custom operator that names nothing");
    custom.combine = "no_such_function_anywhere(a, b)";
    event = (cl_event)&j;
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    if (strstr(gpuscan_error(test.gs), "no_such_function_anywhere") == NULL)
        fail_msg("%s: no build log in \"%s\"", test.what, gpuscan_error(test.gs));
    assert_null(event);
    job_untouched(&j);
    test_case("a build log that cannot be had");
    test.gs->cl.clGetProgramBuildInfo = no_log;
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    test.gs->cl.clGetProgramBuildInfo = clGetProgramBuildInfo;
    job_untouched(&j);
    test_case("a custom text that is none");
    custom = job_custom;
    custom.source = "this is not C ;;; {{{";
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    test_expect(gpuscan_scan_prepare(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    job_untouched(&j);
    test_case("a custom type that is none");
    custom = job_custom;
    custom.type = "no_such_type";
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    test_case("a custom conversion that does not compile");
    custom = job_custom;
    custom.convert = "x +";
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    job_untouched(&j);

    test_case("a custom size that is not the device's");
    custom = job_custom;
    custom.size = 12;
    desc.count = 300;
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SIZE);
    if (strcmp(gpuscan_error(test.gs), "") == 0)
        fail_msg("%s: no words", test.what);
    assert_null(event);
    job_untouched(&j);
    custom.size = 4;
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SIZE);
    job_untouched(&j);
    custom.size = 8;

    /* the same pointers with other text, and other pointers with the same text */
    test_case("the right text afterwards");
    result = gpuscan_scan(test.gs, &desc);
    test_ok(result);
    clReleaseEvent(event);
    test_cl(clFinish(test.queue));
    call = call_on(NULL);
    job_right(test.gs, &j, &call);
    job_free(&j);
}

static const char *build_log;

static cl_int CL_API_CALL this_log(cl_program id, cl_device_id device, cl_program_build_info what, size_t size,
                                   void *value, size_t *needed) {
    (void)id;
    (void)device;
    (void)what;
    return answer_text(build_log, size, value, needed);
}

static cl_int CL_API_CALL no_build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                   void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    (void)program;
    (void)count;
    (void)devices;
    (void)options;
    (void)notify;
    (void)user;
    return CL_BUILD_PROGRAM_FAILURE;
}

/* What a build that failed is called, by its log: only a custom text's own check of its size is CUSTOM_SIZE. */
static void test_build_logs(void **state) {
    static const struct {
        int custom;
        const char *log;
        gpuscan_result result;
        const char *words;
    } cases[] = {
        {1, "gpuscan_custom_size_differs: an array of negative size", GPUSCAN_ERROR_CUSTOM_SIZE, "custom->size"},
        {1, "near gpuscan_custom_size_differs something is missing", GPUSCAN_ERROR_CUSTOM_SOURCE, "is missing"},
        {1, "an array of negative size", GPUSCAN_ERROR_CUSTOM_SOURCE, "negative size"},
        {1, "", GPUSCAN_ERROR_CUSTOM_SOURCE, "(none)"},
        {0, "", GPUSCAN_ERROR_BUILD, "(none)"},
        {0, "gpuscan_custom_size_differs: an array of negative size", GPUSCAN_ERROR_BUILD, "negative size"},
    };
    gpuscan_call call = call_on(NULL);
    gpuscan *whole = test.gs, *gs;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        job j;
        job_new(&j, cases[i].custom ? JOB_SCAN_CUSTOM : JOB_SCAN, 1000);
        gs = layered();
        test.gs = gs;
        test_case("the build log \"%s\" of a%s scan", cases[i].log, cases[i].custom ? " custom" : "");
        gs->cl.clBuildProgram = no_build;
        gs->cl.clGetProgramBuildInfo = this_log;
        build_log = cases[i].log;
        test_expect(job_start(gs, &j, &call), cases[i].result);
        if (strstr(gpuscan_error(gs), cases[i].words) == NULL)
            fail_msg("%s: no \"%s\" in \"%s\"", test.what, cases[i].words, gpuscan_error(gs));
        job_untouched(&j);
        gs->cl.clBuildProgram = layer.table.clBuildProgram;
        if (i == 0) /* each is a program to build */
            job_right(gs, &j, &call);
        job_free(&j);
        test_destroy(gs);
        layer_expect_empty();
    }
    test.gs = whole;
}

/* The same types and operator with a conversion, without, and with the unused parts of a custom filled in: none is
   taken for another. */
static void test_custom_or_not(void **state) {
    static const gpuscan_custom twice = {NULL, NULL, 0, NULL, NULL, "2u * x"};
    static const gpuscan_custom filled = {NULL, "no_such_type", 12, "a + b", "0u", NULL};
    static const struct {
        const gpuscan_custom *custom;
        gpuscan_op op;
        cl_uint step;
    } calls[] = {{&twice, GPUSCAN_OP_ADD, 2},
                 {NULL, GPUSCAN_OP_ADD, 1},
                 {&twice, GPUSCAN_OP_ADD, 2},
                 {&filled, GPUSCAN_OP_ADD, 1},
                 {&filled, GPUSCAN_OP_CUSTOM, 1}};
    gpuscan *gs = layered();
    cl_uint src[300], dst[300], i;
    size_t c;
    (void)state;
    for (i = 0; i < 300; i++)
        src[i] = 1;
    for (c = 0; c < sizeof calls / sizeof *calls; c++) {
        gpuscan_scan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.op = calls[c].op;
        desc.custom = calls[c].custom;
        test_case("call %zu, steps of %u", c, (unsigned)calls[c].step);
        test_ok(gpuscan_scan_host(gs, src, dst, 300, &desc));
        for (i = 0; i < 300; i++)
            if (dst[i] != calls[c].step * i)
                fail_msg("%s: %u at %u", test.what, (unsigned)dst[i], (unsigned)i);
    }
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 3);
    test_destroy(gs);
    layer_expect_empty();
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static struct {
    int messages[4];
    char last[4][300];
    void *user;
} heard;

static void hear(gpuscan_log_level level, const char *message, void *user) {
    heard.user = user;
    if (level >= GPUSCAN_LOG_ERROR && level <= GPUSCAN_LOG_INFO) {
        heard.messages[level]++;
        snprintf(heard.last[level], sizeof heard.last[level], "%s", message);
    } else
        heard.messages[0]++;
}

static void test_logger(void **state) {
    gpuscan_desc desc = layer_desc();
    char error[200] = "";
    gpuscan *gs = NULL;
    gpuscan_scan_desc scan;
    (void)state;
    layer_open();
    memset(&heard, 0, sizeof heard);
    desc.logger.log = hear;
    desc.logger.user = &desc;
    test_case("the logger");
    test_ok(gpuscan_create(&gs, &desc));
    object_works(gs);
    assert_ptr_equal(heard.user, &desc);
    assert_true(heard.messages[GPUSCAN_LOG_INFO] > 0); /* a program was built */
    assert_int_equal(heard.messages[GPUSCAN_LOG_ERROR], 0);
    memset(&scan, 0, sizeof scan);
    scan.kind = (gpuscan_scan_kind)9;
    heard.messages[GPUSCAN_LOG_ERROR] = 0;
    test_expect(gpuscan_scan(gs, &scan), GPUSCAN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(heard.messages[GPUSCAN_LOG_ERROR], 1);
    if (strcmp(heard.last[GPUSCAN_LOG_ERROR], gpuscan_error(gs)) != 0)
        fail_msg("the logger heard \"%s\", gpuscan_error says \"%s\"", heard.last[GPUSCAN_LOG_ERROR],
                 gpuscan_error(gs));
    test_destroy(gs);
    assert_int_equal(heard.messages[0], 0);

    /* create's own failures, with and without somebody to hear of them */
    memset(&desc, 0, sizeof desc);
    desc.device_name = "no device has this name";
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_NO_DEVICE);
    desc.error = error;
    desc.allocator.allocate = layer_allocate;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_INVALID_ARGUMENT);
    assert_string_equal(error, "");
    desc.error_size = sizeof error;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_INVALID_ARGUMENT);
    assert_non_null(strstr(error, "allocator"));
    desc.error = NULL;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_INVALID_ARGUMENT);
    error[0] = 0;
    memset(&heard, 0, sizeof heard);
    memset(&desc, 0, sizeof desc);
    desc.device_name = "no device has this name";
    desc.logger.log = hear;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_NO_DEVICE);
    assert_int_equal(heard.messages[GPUSCAN_LOG_ERROR], 1);
    memset(&heard, 0, sizeof heard);
    desc = layer_desc();
    desc.logger.log = hear;
    desc.error = error;
    desc.error_size = sizeof error;
    layer_reset();
    layer.allocation_fail_at = 1;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(heard.messages[GPUSCAN_LOG_ERROR], 1);
    assert_string_equal(error, heard.last[GPUSCAN_LOG_ERROR]);
    layer_reset();
    layer.allocation_fail_at = 1;
    desc.error_size = 0;
    error[0] = 'x';
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(heard.messages[GPUSCAN_LOG_ERROR], 2);
    assert_int_equal(error[0], 'x');
    layer_reset();
}

static void test_result_strings(void **state) {
    static const gpuscan_result results[] = {GPUSCAN_SUCCESS,
                                             GPUSCAN_ERROR_INVALID_ARGUMENT,
                                             GPUSCAN_ERROR_INVALID_TYPE,
                                             GPUSCAN_ERROR_INVALID_OPERATOR,
                                             GPUSCAN_ERROR_INVALID_CONTEXT,
                                             GPUSCAN_ERROR_INVALID_BUFFER,
                                             GPUSCAN_ERROR_BUFFER_TOO_SMALL,
                                             GPUSCAN_ERROR_BUFFER_ACCESS,
                                             GPUSCAN_ERROR_OVERLAP,
                                             GPUSCAN_ERROR_SIZE_OVERFLOW,
                                             GPUSCAN_ERROR_INVALID_BINS,
                                             GPUSCAN_ERROR_SCRATCH_TOO_SMALL,
                                             GPUSCAN_ERROR_INVALID_EVENT,
                                             GPUSCAN_ERROR_NO_OPENCL,
                                             GPUSCAN_ERROR_NO_PLATFORM,
                                             GPUSCAN_ERROR_NO_DEVICE,
                                             GPUSCAN_ERROR_DEVICE_TOO_OLD,
                                             GPUSCAN_ERROR_UNSUPPORTED_TYPE,
                                             GPUSCAN_ERROR_UNSUPPORTED_STRATEGY,
                                             GPUSCAN_ERROR_OUT_OF_HOST_MEMORY,
                                             GPUSCAN_ERROR_CUSTOM_SOURCE,
                                             GPUSCAN_ERROR_CUSTOM_SIZE,
                                             GPUSCAN_ERROR_BLOB,
                                             GPUSCAN_ERROR_BUILD,
                                             CL_DEVICE_NOT_FOUND,
                                             CL_MEM_OBJECT_ALLOCATION_FAILURE,
                                             CL_OUT_OF_RESOURCES,
                                             CL_OUT_OF_HOST_MEMORY,
                                             CL_BUILD_PROGRAM_FAILURE,
                                             CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                                             CL_INVALID_VALUE,
                                             CL_INVALID_CONTEXT,
                                             CL_INVALID_COMMAND_QUEUE,
                                             CL_INVALID_MEM_OBJECT,
                                             CL_INVALID_BINARY,
                                             CL_INVALID_KERNEL_ARGS,
                                             CL_INVALID_WORK_GROUP_SIZE,
                                             CL_INVALID_EVENT_WAIT_LIST,
                                             CL_INVALID_BUFFER_SIZE};
    const size_t count = sizeof results / sizeof *results;
    const char *unknown = gpuscan_result_string(-123456);
    size_t i, k;
    int r;
    (void)state;
    assert_non_null(unknown);
    for (i = 0; i < count; i++) {
        const char *text = gpuscan_result_string(results[i]);
        assert_non_null(text);
        if (strlen(text) < 3 || strcmp(text, unknown) == 0)
            fail_msg("%d is called \"%s\"", (int)results[i], text);
        for (k = 0; k < i; k++)
            if (strcmp(text, gpuscan_result_string(results[k])) == 0)
                fail_msg("%d and %d are both called \"%s\"", (int)results[i], (int)results[k], text);
    }
    for (r = -3000; r < 10; r++)
        assert_non_null(gpuscan_result_string(r));
    assert_non_null(gpuscan_result_string(INT32_MIN));
    assert_non_null(gpuscan_result_string(INT32_MAX));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Every job again and again: as many objects and bytes after the last round as after the second. */
static void test_no_growth(void **state) {
    gpuscan *gs = layered(), *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    job jobs[JOB_END];
    size_t objects = 0, blocks = 0;
    uint64_t bytes = 0;
    int which, round, rounds = (int)test_size(4, 150, 2000);
    (void)state;
    test.gs = gs;
    for (which = 0; which < JOB_END; which++)
        job_new(&jobs[which], which, test_size(500, 5000, 5000));
    for (round = 0; round < rounds; round++) {
        for (which = 0; which < JOB_END; which++) {
            cl_event event = NULL;
            test_case("%s, round %d", job_names[which], round);
            call.event = which < JOB_DEVICE_END ? &event : NULL;
            if (which < JOB_DEVICE_END || round % 10 == 0)
                test_ok(job_start(gs, &jobs[which], &call));
            if (event) {
                layer_taken(event);
                clReleaseEvent(event);
            }
        }
        test_cl(clFinish(test.queue));
        if (round == 1) {
            objects = layer.object_count;
            blocks = layer.allocated;
            bytes = layer.bytes;
            assert_true(objects > 0 && blocks > 0);
        }
    }
    test_case("after %d rounds", rounds);
    assert_int_equal(layer.object_count, objects);
    assert_int_equal(layer.allocated, blocks);
    assert_true(layer.bytes == bytes);
    for (which = 0; which < JOB_END; which++)
        job_free(&jobs[which]);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* Objects come and go, each with some work: nothing of them stays. */
static void test_create_destroy(void **state) {
    int i, rounds = (int)test_size(3, 50, 1000);
    (void)state;
    for (i = 0; i < rounds; i++) {
        gpuscan *gs, *whole = test.gs;
        gpuscan_call call = call_on(NULL);
        job j;
        test_case("object %d", i);
        gs = layered();
        test.gs = gs;
        job_new(&j, i % JOB_END, 2000);
        job_right(gs, &j, &call);
        job_free(&j);
        test_destroy(gs);
        test.gs = whole;
        layer_expect_empty();
    }
}

static cl_int CL_API_CALL other_devices(cl_context id, cl_context_info what, size_t size, void *value, size_t *needed) {
    if (what != CL_CONTEXT_DEVICES)
        return clGetContextInfo(id, what, size, value, needed);
    *(cl_device_id *)value = (cl_device_id)value;
    *needed = sizeof(cl_device_id);
    return CL_SUCCESS;
}

/* A device that the context does not have; a choice by no name. */
static void test_which_device(void **state) {
    gpuscan_desc desc = layer_desc();
    const char *wanted = getenv("GPUSCAN_DEVICE");
    char kept[200] = "";
    gpuscan *gs = NULL;
    (void)state;
    layer_open();
    test_case("a device of another context");
    layer.table.clGetContextInfo = other_devices;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_INVALID_CONTEXT);
    assert_null(gs);
    layer_expect_empty();

    test_case("GPUSCAN_DEVICE is empty");
    if (wanted)
        snprintf(kept, sizeof kept, "%s", wanted);
    setenv("GPUSCAN_DEVICE", "", 1);
    test_ok(gpuscan_create(&gs, NULL));
    test_destroy(gs);
    if (wanted)
        setenv("GPUSCAN_DEVICE", kept, 1);
    else
        unsetenv("GPUSCAN_DEVICE");
}

/* Host-array calls hand an event to a caller who asks for one: it has happened. */
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

/* What has a queue of its own needs no default one. */
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
        job_new(&j, kinds[i], n);
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

/* Nothing to scan, and no src: the total is init, by every strategy. */
static void test_empty_scan(void **state) {
    test_buffer total = test_buffer_new(CL_MEM_READ_WRITE, 4, 16);
    const cl_uint init = 77;
    int s;
    (void)state;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        gpuscan_scan_desc desc;
        memset(&desc, 0, sizeof desc);
        test_case("a scan of nothing, %s", test_strategy_name((gpuscan_strategy)s));
        test_buffer_set(&total, 0, 1, NULL);
        desc.total = total.at;
        desc.init = &init;
        desc.call.strategy = (gpuscan_strategy)s;
        if (!test_scan_ran(&desc))
            continue;
        assert_int_equal(*(const cl_uint *)test_buffer_get(&total), 77);
    }
    test_buffer_free(&total);
}

/* The object's state words begin anew when their tags run out. */
static void test_epochs(void **state) {
    gpuscan_call call = call_on(NULL);
    gpuscan *gs = layered(), *whole = test.gs;
    int s, i, round;
    job j;
    (void)state;
    test.gs = gs;
    job_new(&j, JOB_SCAN, n);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_create),         TEST(test_no_device),
        TEST(test_info),           TEST(test_limits),
        TEST(test_retained),       TEST(test_copied),
        TEST(test_wait_lists),     TEST(test_event_to_queue),
        TEST(test_out_of_order),   TEST(test_two_queues),
        TEST(test_profiling),      TEST(test_nothing),
        TEST(test_released_early), TEST(test_scratch),
        TEST(test_scratch_reuse),  TEST(test_prepare),
        TEST(test_cold),           TEST(test_no_host_access),
        TEST(test_two_contexts),   TEST(test_two_threads),
        TEST(test_blob),           TEST(test_bad_blob),
        TEST(test_custom_errors),  TEST(test_logger),
        TEST(test_result_strings), TEST(test_no_growth),
        TEST(test_create_destroy), TEST(test_blob_of_running),
        TEST(test_failed_event),   TEST(test_host_events),
        TEST(test_empty_scan),     TEST(test_epochs),
        TEST(test_which_device),   TEST(test_prepare_with_queue),
        TEST(test_build_logs),     TEST(test_custom_or_not),
        TEST(test_odd_binaries),   TEST(test_no_local_memory),
    };
    cmocka_set_test_filter(getenv("GPUSCAN_TEST_ONLY"));
    return cmocka_run_group_tests_name("contract", tests, open_contract, test_close);
}
