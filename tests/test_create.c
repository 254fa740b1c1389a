/* Objects: create, destroy, info, limits, retained references, and no leaks, as far as the library's table counts them.
      cc -O2 tests/test_create.c -o build/test_create -lcmocka -lOpenCL -lm -lpthread && build/test_create */
#include "calls.h"

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
        fail_msg("%s: desc.error is not a string of at most error_size bytes", test.what);
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
    char *wanted, part[8] = "";
    cl_int status = CL_SUCCESS;
    cl_context other = clCreateContext(NULL, 1, &test.device, NULL, NULL, &status);
    cl_command_queue other_queue = clCreateCommandQueue(other, test.device, 0, &status);
    gpuscan_opencl holes;
    gpuscan_desc desc, zero;
    gpuscan *gs = NULL;
    size_t i;
    (void)state;
    test_cl(status);
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

    /* by name: the first letters of this device's */
    snprintf(part, sizeof part, "%s", test.info.device_name);
    test_case("device_name \"%s\"", part);
    desc = zero;
    desc.device_name = part;
    create_works(desc);
    test_case("device_name that matches no device");
    desc.device_name = "no device has this name";
    create_fails(desc, GPUSCAN_ERROR_NO_DEVICE);
    { /* the message lists the names */
        char error[2000] = "";
        desc.error = error;
        desc.error_size = sizeof error;
        test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_NO_DEVICE);
        if (!strstr(error, "no device has this name") || !strstr(error, test.info.device_name) ||
            !strstr(error, test.info.platform_name))
            fail_msg("%s: \"%s\" does not name the devices", test.what, error);
        desc.error = NULL;
    }
    test_case("GPUSCAN_DEVICE \"%s\"", part);
    wanted = test_want_device(part);
    create_works(zero);
    test_case("GPUSCAN_DEVICE that matches no device");
    free(test_want_device("no device has this name"));
    create_fails(zero, GPUSCAN_ERROR_NO_DEVICE);
    test_case("device_name takes precedence over GPUSCAN_DEVICE");
    desc.device_name = part;
    create_works(desc);
    test_case("a context takes precedence over GPUSCAN_DEVICE");
    desc = zero;
    desc.context = test.context;
    create_works(desc);
    test_want_back(wanted);

    test_case("half an allocator");
    desc = layer_desc();
    layer_open();
    desc.opencl = NULL;
    desc.allocator.release = NULL;
    create_fails(desc, GPUSCAN_ERROR_INVALID_ARGUMENT);
    desc.allocator.release = layer_free;
    desc.allocator.allocate = NULL;
    create_fails(desc, GPUSCAN_ERROR_INVALID_ARGUMENT);

    /* each entry point missing, and each alone: the library takes missing ones from the loader and calls given ones */
    for (i = 0; i < 2 * LAYER_FUNCTIONS; i++) {
        size_t at = i / 2 * sizeof holes.clFinish;
        gpuscan_info info;
        test_case(i % 2 ? "%s alone" : "no %s", layer_names[i / 2]);
        layer_reset();
        holes = layer.driver;
        memset((char *)&holes + (i % 2 ? 0 : at), 0, i % 2 ? sizeof holes : sizeof holes.clFinish);
        memcpy((char *)&holes + at, (const char *)(i % 2 ? &layer.table : &holes) + at, sizeof holes.clFinish);
        desc = zero;
        desc.opencl = &holes;
        test_ok(gpuscan_create(&gs, &desc));
        test_ok(gpuscan_get_info(gs, &info));
        if (memcmp((const char *)info.opencl + at, (const char *)(i % 2 ? &layer.table : &layer.driver) + at,
                   sizeof holes.clFinish) != 0)
            fail_msg("%s: another is called", test.what);
        if (i % 20 == 0)
            object_works(gs);
        test_destroy(gs);
    }
    test_case("a table of nothing");
    memset(&holes, 0, sizeof holes);
    create_works(desc);
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

/* Entry points of a loader that finds no platform, no device or no compiler. */
static cl_int CL_API_CALL no_platforms(cl_uint count, cl_platform_id *ids, cl_uint *found) {
    (void)count;
    (void)ids;
    if (found)
        *found = 0;
    return -1001; /* the loader's code for it */
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

/* Takes features from the device, in various combinations: every operation must still be right. */
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
            if (!test.is_long && i % 8 != (size_t)which % 8) /* each builds a program */
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

/* Limits local memory to less than one work-item needs: groups of one still get what they need. */
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
    test_case("groups with 1 byte of local memory");
    job_new(&j, JOB_SCAN, 300);
    assert_true(job_right(gs, &j, &call));
    assert_int_equal(gs->programs->key.group, 1);
    assert_int_equal(gs->programs->key.vectors, 1);
    job_free(&j);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* Checks that the object retains context and queue: the caller releases both at once. */
static void test_retained(void **state) {
    cl_int status = CL_SUCCESS;
    cl_context context = clCreateContext(NULL, 1, &test.device, NULL, NULL, &status);
    cl_command_queue queue = clCreateCommandQueue(context, test.device, 0, &status);
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    cl_uint before = 0, references = 0, tries = 0;
    const struct timespec millisecond = {0, 1000000};
    (void)state;
    test_cl(status);
    layer_open();
    memset(&desc, 0, sizeof desc);
    desc.context = context;
    desc.device = test.device;
    desc.queue = queue;
    test_case("context and queue released by the caller");
    test_ok(gpuscan_create(&gs, &desc));
    memset(&desc, 0x5A, sizeof desc); /* nor does the object use the desc again */
    test_cl(clReleaseCommandQueue(queue));
    test_cl(clReleaseContext(context));
    object_works(gs);
    test_destroy(gs);

    /* and releases what it retained */
    test_case("reference counts");
    test_cl(clGetCommandQueueInfo(test.queue, CL_QUEUE_REFERENCE_COUNT, sizeof before, &before, NULL));
    desc = layer_desc();
    desc.opencl = NULL;
    test_ok(gpuscan_create(&gs, &desc));
    object_works(gs);
    test_destroy(gs);
    do { /* a driver's thread may hold a finished command, and with it the queue, a little longer */
        test_cl(clFinish(test.queue));
        test_cl(clGetCommandQueueInfo(test.queue, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references, NULL));
        if (references != before)
            nanosleep(&millisecond, NULL);
    } while (references != before && ++tries < 20000);
    assert_int_equal(references, before);
}

/* Checks that the object copies the table and the allocator: the caller's structs may go away. */
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

/* Runs every job again and again: the last round must hold as many objects and bytes as the second. */
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

/* Creates and destroys objects, each with some work: nothing may remain. */
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

/* Asks for a device that the context lacks, and for devices without a name. */
static void test_which_device(void **state) {
    gpuscan_desc desc = layer_desc();
    char *wanted;
    gpuscan *gs = NULL;
    (void)state;
    layer_open();
    test_case("a device of another context");
    layer.table.clGetContextInfo = other_devices;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_INVALID_CONTEXT);
    assert_null(gs);
    layer_expect_empty();

    test_case("GPUSCAN_DEVICE is empty");
    wanted = test_want_device("");
    test_ok(gpuscan_create(&gs, NULL));
    test_destroy(gs);
    test_want_back(wanted);
}

static struct {
    unsigned programs, loud;
} builds;

static cl_int CL_API_CALL build_quietly(cl_program program, cl_uint count, const cl_device_id *devices,
                                        const char *options, void(CL_CALLBACK *done)(cl_program, void *), void *user) {
    builds.programs++;
    builds.loud += strncmp(options, "-w", 2) != 0 || (options[2] != '\0' && options[2] != ' ');
    return layer.driver.clBuildProgram(program, count, devices, options, done, user);
}

/* Checks that compilers which print warnings are asked not to, for every program. */
static void test_warnings_disabled(void **state) {
    gpuscan_desc desc = layer_desc();
    gpuscan *gs = NULL, *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    int which;
    (void)state;
    layer_open();
    layer.table.clBuildProgram = build_quietly;
    test_ok(gpuscan_create(&gs, &desc));
    test.gs = gs;
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job j;
        test_case("%s, warnings of the compiler", job_names[which]);
        job_new(&j, which, 500);
        job_right(gs, &j, &call);
        job_free(&j);
    }
    assert_true(builds.programs >= 4);
    assert_int_equal(builds.loud, 0);
    test_destroy(gs);
    test.gs = whole;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_create),      TEST(test_no_device),       TEST(test_info),
                                       TEST(test_limits),      TEST(test_no_local_memory), TEST(test_retained),
                                       TEST(test_copied),      TEST(test_no_growth),       TEST(test_create_destroy),
                                       TEST(test_which_device), TEST(test_warnings_disabled)};
    test_select();
    return cmocka_run_group_tests_name("create", tests, open_calls, test_close);
}
