/* Makes each OpenCL call and each host allocation of a public function fail in turn, alone or with all later ones.
   After each failure, checks the exact result, unchanged outputs, *event NULL, no leaks, and that the same object then
   succeeds. Sees only OpenCL calls made through the library's table. */
#include "layer.h"
#include "jobs.h"

#include <unistd.h>

/* A new object, or one that has run the same call before; then other queues, an event to wait for, the caller's
   scratch. */
typedef enum situation { COLD, WARM, UNORDERED, TWO_QUEUES, WAITING, SCRATCH, SITUATIONS } situation;
static const char *const situation_names[] = {"cold", "warm", "out of order", "two queues", "waiting", "with scratch"};

static uint64_t n;                         /* elements of a call */
static cl_command_queue unordered, second; /* besides the test's */
static uint32_t without, lanes;            /* of the object's limits */
static unsigned kernels;                   /* launches of a call without a fault */
static unsigned faults, tolerated_faults;
static int sets_blob; /* its programs may fail to load */
static unsigned short entry[LAYER_LOG]; /* entry points that a call without a fault uses, in order */

/* Codes that these entry points may return; all others run out of something. */
static const struct {
    int function;
    cl_int codes[4];
} plausible[] = {
    {LAYER_clGetPlatformIDs, {CL_OUT_OF_HOST_MEMORY, -1001, 0, 0}},
    {LAYER_clGetDeviceIDs, {CL_DEVICE_NOT_FOUND, CL_OUT_OF_RESOURCES, 0, 0}},
    {LAYER_clGetDeviceInfo, {CL_INVALID_VALUE, CL_OUT_OF_HOST_MEMORY, 0, 0}},
    {LAYER_clCreateContext, {CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_HOST_MEMORY, 0, 0}},
    {LAYER_clCreateCommandQueue, {CL_OUT_OF_RESOURCES, CL_INVALID_QUEUE_PROPERTIES, 0, 0}},
    {LAYER_clCreateBuffer, {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, CL_INVALID_BUFFER_SIZE, 0}},
    {LAYER_clBuildProgram, {CL_BUILD_PROGRAM_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_COMPILER_NOT_AVAILABLE, 0}},
    {LAYER_clCreateProgramWithBinary, {CL_INVALID_BINARY, CL_OUT_OF_HOST_MEMORY, 0, 0}},
    {LAYER_clCreateKernel, {CL_INVALID_KERNEL_NAME, CL_OUT_OF_RESOURCES, CL_INVALID_PROGRAM_EXECUTABLE, 0}},
    {LAYER_clSetKernelArg, {CL_INVALID_ARG_SIZE, CL_OUT_OF_HOST_MEMORY, 0, 0}},
    {LAYER_clWaitForEvents, {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES, 0, 0}},
    {LAYER_clFinish, {CL_OUT_OF_RESOURCES, CL_INVALID_COMMAND_QUEUE, 0, 0}},
    {LAYER_clEnqueueNDRangeKernel,
     {CL_OUT_OF_RESOURCES, CL_INVALID_WORK_GROUP_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_INVALID_KERNEL_ARGS}},
    {LAYER_clEnqueueReadBuffer, {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, 0, 0}},
    {LAYER_clEnqueueWriteBuffer, {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES, 0, 0}},
    {LAYER_clEnqueueMapBuffer, {CL_MAP_FAILURE, CL_OUT_OF_HOST_MEMORY, 0, 0}},
};

static cl_int plausible_code(int function, int which) {
    static const cl_int others[4] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, 0, 0};
    size_t i;
    for (i = 0; i < sizeof plausible / sizeof *plausible; i++)
        if (plausible[i].function == function)
            return which < 4 ? plausible[i].codes[which] : 0;
    return which < 4 ? others[which] : 0;
}

/* Returns the result of a failure that the library cannot avoid. */
static gpuscan_result result_of(int function, cl_int code, int custom) {
    if (function == LAYER_clBuildProgram && code == CL_BUILD_PROGRAM_FAILURE)
        return custom ? GPUSCAN_ERROR_CUSTOM_SOURCE : GPUSCAN_ERROR_BUILD;
    if (function == LAYER_clGetPlatformIDs && code == -1001)
        return GPUSCAN_ERROR_NO_PLATFORM;
    if (function == LAYER_clGetDeviceIDs)
        return GPUSCAN_ERROR_NO_DEVICE;
    return code;
}

/* How the library may treat an entry point's failure. IS_NOTHING: ignores it: released objects are gone, a refused
   binary is built from source, a missing build log is left out. MAY_BE_NOTHING: reports it or goes on: a feature that a
   device does not report is missing; an event of unknown status is waited for. EXACT: reports it. */
typedef enum weight { EXACT, MAY_BE_NOTHING, IS_NOTHING } weight;

static weight weight_of(int function) {
    switch (function) {
    case LAYER_clReleaseContext:
    case LAYER_clReleaseCommandQueue:
    case LAYER_clReleaseMemObject:
    case LAYER_clReleaseProgram:
    case LAYER_clReleaseKernel:
    case LAYER_clReleaseEvent:
    case LAYER_clCreateProgramWithBinary:
    case LAYER_clGetProgramBuildInfo:
        return IS_NOTHING;
    case LAYER_clGetDeviceInfo:
    case LAYER_clGetPlatformInfo:
    case LAYER_clGetEventInfo:
    case LAYER_clRetainEvent: /* after the last command: too late to fail */
        return MAY_BE_NOTHING;
    default:
        return EXACT;
    }
}

/* ---- programs that are built once -------------------------------------------------------------------------------- */

/* PoCL takes most of this test's time to build programs that it has built before. So the driver below the layer keeps
   the programs of the test's context, and gives a text's program again once it is built. */
enum { KEPT = 64 };
static struct kept_program {
    char *text, *options; /* options: NULL: it is not built */
    cl_program program;
} kept[KEPT], *latest; /* latest: of the program that was created last; NULL: it is not to be kept */

static cl_program CL_API_CALL create_kept(cl_context context, cl_uint count, const char **lines, const size_t *lengths,
                                          cl_int *status) {
    static char text[1 << 20];
    size_t length = 0;
    cl_uint i;
    latest = NULL;
    if (context != test.context)
        return clCreateProgramWithSource(context, count, lines, lengths, status);
    for (i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s", lines[i]);
    assert_true(length < sizeof text);
    for (latest = kept; latest->text && strcmp(latest->text, text) != 0; latest++)
        assert_true(latest < kept + KEPT - 1);
    if (latest->text == NULL)
        latest->text = strdup(text);
    if (latest->options)
        *status = clRetainProgram(latest->program);
    else
        latest->program = clCreateProgramWithSource(context, count, lines, lengths, status);
    return latest->program;
}

static cl_int CL_API_CALL build_kept(cl_program program, cl_uint count, const cl_device_id *devices,
                                     const char *options, void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    const int is_kept = latest && latest->program == program;
    cl_int status;
    if (is_kept && latest->options) {
        assert_string_equal(options, latest->options);
        return CL_SUCCESS;
    }
    status = clBuildProgram(program, count, devices, options, notify, user);
    if (is_kept && status == CL_SUCCESS) {
        latest->options = strdup(options);
        status = clRetainProgram(program);
    }
    return status;
}

static void open_layer(void) {
    layer_open();
    layer.driver.clCreateProgramWithSource = create_kept;
    layer.driver.clBuildProgram = build_kept;
}

/* ---- one call with one fault ------------------------------------------------------------------------------------- */

typedef struct fault {
    int allocation; /* fails instead of a call */
    unsigned at;
    int on; /* and all later ones */
    cl_int code;
} fault;

static void arm(const fault *f) {
    layer_reset();
    if (f->allocation) {
        layer.allocation_fail_at = f->at;
        layer.allocation_fail_on = f->on;
    } else {
        layer.fail_at = f->at;
        layer.fail_on = f->on;
        layer.fail_code = f->code;
        layer.fail_gives = f->at % 2; /* every second failing call also returns its object */
    }
}

/* Records the calls since layer_reset and returns their number. */
static unsigned remember(void) {
    if (layer.call >= LAYER_LOG)
        fail_msg("%s: %u calls", test.what, layer.call);
    memcpy(entry, layer.log, layer.call * sizeof *entry);
    entry[layer.call] = 0;
    kernels = layer.calls[LAYER_clEnqueueNDRangeKernel];
    return layer.call;
}

static int struck(const fault *f) {
    return f->allocation ? layer.allocation_failed : layer.failed >= 0;
}

static void describe(const char *what, situation when, const fault *f) {
    if (f->allocation)
        test_case("%s, %s, allocation %u fails%s", what, situation_names[when], f->at, f->on ? " and all later" : "");
    else
        test_case("%s, %s, call %u (%s) fails%s with %d", what, situation_names[when], f->at,
                  layer_names[entry[f->at - 1]], f->on ? " and all later" : "", (int)f->code);
}

/* Checks the result after a fault. Returns 1 if the call succeeded in spite of it. */
static int survived(gpuscan_result result, const fault *f, int custom) {
    gpuscan_result wanted;
    faults++;
    if (f->allocation) {
        if (result != GPUSCAN_SUCCESS)
            test_expect(result, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY);
        return result == GPUSCAN_SUCCESS;
    }
    if (sets_blob) {
        test_expect(result, GPUSCAN_SUCCESS);
        assert_string_equal(gpuscan_error(test.gs), "");
    }
    if (result == GPUSCAN_SUCCESS && (sets_blob || weight_of(layer.failed) != EXACT)) {
        tolerated_faults++;
        return 1;
    }
    if (result == GPUSCAN_SUCCESS && lanes && test_get_refusals(test.gs).count > 0) {
        tolerated_faults++; /* rebuilt without lanes */
        return 1;
    }
    if (f->on && weight_of(layer.failed) == IS_NOTHING)
        return 0; /* a later failing call decided */
    if (layer.failed == LAYER_clGetDeviceInfo &&
        (result == GPUSCAN_ERROR_DEVICE_TOO_OLD || result == GPUSCAN_ERROR_NO_DEVICE))
        return 0; /* a device without name, version or compiler */
    if (weight_of(layer.failed) == IS_NOTHING)
        test_expect(result, GPUSCAN_SUCCESS);
    if (f->on && weight_of(layer.failed) == MAY_BE_NOTHING && result != GPUSCAN_SUCCESS)
        return 0;
    wanted = result_of(layer.failed, f->code, custom);
    test_expect(result, wanted);
    return 0;
}

static gpuscan *open_layered(void) {
    gpuscan_desc desc = layer_desc();
    gpuscan *gs = NULL;
    open_layer();
    desc.limits.without = without;
    desc.limits.lanes = lanes;
    test_ok(gpuscan_create(&gs, &desc));
    return gs;
}

static void finish_all(void) {
    test_cl(clFinish(test.queue));
    test_cl(clFinish(unordered));
    test_cl(clFinish(second));
}

static void works_now(gpuscan *gs, job *j, const gpuscan_call *call) {
    layer_reset();
    job_reset(j);
    test_ok(job_start(gs, j, call));
    finish_all();
    job_done(j);
}

static void expect_error_text(gpuscan *gs) {
    if (strcmp(gpuscan_error(gs), "") == 0)
        fail_msg("%s: gpuscan_error is empty", test.what);
}

/* Sets what used the object's scratch last, the same before every call. */
static void before_call(gpuscan *gs, job *j, gpuscan_call call, situation when) {
    if (when == TWO_QUEUES)
        call.queue = NULL;
    if (when == TWO_QUEUES || when == UNORDERED)
        works_now(gs, j, &call);
}

/* Returns 1 if the fault struck. */
static int faulty_call(gpuscan **gs, job *j, gpuscan_call call, situation when, const fault *f) {
    cl_event event = (cl_event)j;
    gpuscan_result result;
    int hit;
    if (*gs == NULL)
        *gs = open_layered();
    test.gs = *gs;
    before_call(*gs, j, call, when);
    job_reset(j);
    if (j->which < JOB_DEVICE_END)
        call.event = &event;
    arm(f);
    result = job_start(*gs, j, &call);
    hit = struck(f);
    layer.fail_at = layer.allocation_fail_at = 0;
    finish_all();
    if (hit ? survived(result, f, j->which == JOB_SCAN_CUSTOM) : 1) {
        test_ok(result);
        job_done(j);
        if (call.event) {
            layer_taken(event);
            clReleaseEvent(event);
        }
    } else {
        /* a host array used in place holds the result when only the wait for it fails */
        if (j->which >= JOB_DEVICE_END && layer.calls[LAYER_clEnqueueNDRangeKernel] == kernels)
            job_guards(j);
        else
            job_untouched(j);
        expect_error_text(*gs);
        if (call.event && event != NULL)
            fail_msg("%s: *event is not NULL", test.what);
        call.event = NULL;
        works_now(*gs, j, &call);
    }
    if (layer.misuse)
        fail_msg("%s: %s", test.what, layer.misuse);
    if (when == COLD) {
        gpuscan_destroy(*gs);
        *gs = NULL;
        test.gs = NULL;
        layer_expect_empty();
    }
    return hit;
}

/* Tries every fault of one job. */
static void all_faults(int which, gpuscan_strategy strategy, situation when, int on) {
    gpuscan *gs = NULL, *whole = test.gs;
    gpuscan_call call;
    gpuscan_result result;
    fault f;
    job j;
    unsigned calls, k;
    int is_large;
    char name[100];
    cl_event gate = NULL, event = NULL;
    cl_mem scratch = NULL;
    cl_int status = CL_SUCCESS;
    memset(&call, 0, sizeof call);
    call.strategy = strategy;
    if (when == UNORDERED)
        call.queue = unordered;
    if (when == TWO_QUEUES)
        call.queue = second;
    if (when == WAITING || when == UNORDERED) {
        gate = clCreateUserEvent(test.context, &status);
        test_cl(status);
        test_cl(clSetUserEventStatus(gate, CL_COMPLETE));
        call.wait_count = 1;
        call.wait_list = &gate;
    }
    if (when == SCRATCH) {
        call.scratch.mem = scratch = clCreateBuffer(test.context, CL_MEM_READ_WRITE, 1 << 22, NULL, &status);
        test_cl(status);
    }
    snprintf(name, sizeof name, "%s, %s", job_names[which], test_strategy_name(strategy));
    /* a CPU's tiles are large, and the job should have two */
    is_large = which == JOB_SCAN &&
               (strategy == GPUSCAN_STRATEGY_CPU_SINGLE_PASS || strategy == GPUSCAN_STRATEGY_CPU_MULTI_PASS);
    job_new(&j, which, is_large && !test.is_small ? 70000 : n);

    /* without a fault: records the calls */
    gs = open_layered();
    test.gs = gs;
    test_case("%s, %s, no fault", name, situation_names[when]);
    if (when != COLD) {
        result = job_start(gs, &j, &call);
        if (!job_ran(&j, result, strategy))
            goto done;
    }
    finish_all();
    before_call(gs, &j, call, when);
    finish_all();
    layer_reset();
    job_reset(&j);
    call.event = which < JOB_DEVICE_END ? &event : NULL; /* as in faulty_call */
    result = job_start(gs, &j, &call);
    call.event = NULL;
    if (!job_ran(&j, result, strategy))
        goto done;
    calls = remember();
    finish_all();
    if (event) {
        layer_taken(event);
        clReleaseEvent(event);
    }
    if (when == COLD) {
        gpuscan_destroy(gs);
        gs = NULL;
        layer_expect_empty();
    }

    memset(&f, 0, sizeof f);
    f.on = on;
    for (k = 1; k <= calls + 1; k++) {
        int code;
        f.at = k;
        for (code = 0; code < 4; code++) {
            f.code = k <= calls ? plausible_code(entry[k - 1], code) : CL_OUT_OF_RESOURCES;
            if (f.code == 0)
                break;
            /* the short run tries one code a call, and a third of those that go on failing */
            if (when == COLD && !test.is_long && k <= calls && (code != (int)(k % 2) || (on && k % 3)))
                continue;
            describe(name, when, &f);
            if (!faulty_call(&gs, &j, call, when, &f) && k <= calls && when != TWO_QUEUES) /* here polls a marker */
                fail_msg("%s: the call to fail was never made", test.what);
            if (k > calls)
                break;
        }
    }
    f.allocation = 1;
    for (k = 1;; k++) {
        f.at = k;
        describe(name, when, &f);
        if (!faulty_call(&gs, &j, call, when, &f))
            break;
    }
done:
    gpuscan_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
    job_free(&j);
    if (gate)
        clReleaseEvent(gate);
    if (scratch)
        clReleaseMemObject(scratch);
}

static int is_part_of_small(int which) {
    return which == JOB_SCAN || which == JOB_REDUCE_RESULT || which == JOB_EDGES || which == JOB_SCAN_HOST;
}

static void test_calls_warm(void **state) {
    int which, s, on;
    (void)state;
    for (which = 0; which < JOB_END; which++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
            for (on = 0; on < 2; on++)
                if (test.is_small
                        ? is_part_of_small(which) && s == 0
                        : (which >= JOB_DEVICE_END && s == 0 && test_takes_one_of(4, (uint64_t)(which + on))) ||
                              test_share((uint64_t)(which + s), s ? 4 : 2))
                    all_faults(which, (gpuscan_strategy)s, WARM, on);
}

/* Host arrays that are copied instead of used in place. */
static void test_calls_copied(void **state) {
    int which;
    (void)state;
    without = GPUSCAN_WITHOUT_ZERO_COPY;
    for (which = JOB_DEVICE_END; which < JOB_END; which++)
        if (test_takes_one_of(2, (uint64_t)which))
            all_faults(which, GPUSCAN_STRATEGY_AUTO, WARM, 0);
    without = 0;
}

/* Queues, events and scratch, each with its own faults. */
static void test_calls_enqueued(void **state) {
    static const int kinds[] = {JOB_SCAN, JOB_REDUCE_RESULT, JOB_EDGES, JOB_SORT};
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_SINGLE_PASS};
    int when;
    size_t k, s;
    (void)state;
    for (when = UNORDERED; when < SITUATIONS; when++)
        for (k = 0; k < 4; k++)
            for (s = 0; s < 3; s++)
                if (k == 3 && s != 1 - (size_t)when % 2) { /* a sort has many commands: one strategy */
                } else if (test.share > 8 && (k + s + (size_t)when * 3 + test.seed) % 12 != 0) { /* another seed */
                } else if (!test.is_small || (k + s) % 3 == 0) {
                    all_faults(kinds[k], strategies[s], (situation)when, 0);
                    all_faults(kinds[k], strategies[s], (situation)when, 1);
                }
}

static void test_calls_cold(void **state) {
    int which, on;
    (void)state;
    for (which = 0; which < JOB_END; which++)
        for (on = 0; on < 2; on++)
            if (test.is_small ? is_part_of_small(which) && !on : test_share((uint64_t)which, on ? 4 : 2))
                all_faults(which, GPUSCAN_STRATEGY_AUTO, COLD, on);
}

static void test_strategies_cold(void **state) {
    static const int kinds[] = {JOB_SCAN, JOB_REDUCE, JOB_EDGES};
    int s;
    size_t i;
    (void)state;
    if (test.is_small)
        skip();
    for (i = 0; i < 3; i++)
        for (s = 1; s < GPUSCAN_STRATEGY_COUNT; s++)
            if (test.is_long || (s == 1 + (int)i && test_takes_one_of(2, i)))
                all_faults(kinds[i], (gpuscan_strategy)s, COLD, 0);
}

/* Fails every call and allocation of self-tests. A large share tries all operations; otherwise the seed chooses one. */
static void test_self_tests(void **state) {
    static const struct {
        int              kind;
        gpuscan_strategy strategy;
        uint32_t         lanes;
    } of[] = {{JOB_SCAN_CUSTOM, GPUSCAN_STRATEGY_SINGLE_PASS, 0}, {JOB_HISTOGRAM, GPUSCAN_STRATEGY_SINGLE_PASS, 0},
              {JOB_ARGMIN, GPUSCAN_STRATEGY_SINGLE_PASS, 0},      {JOB_UNIFORM_ADD, GPUSCAN_STRATEGY_MULTI_PASS, 8},
              {JOB_SORT, GPUSCAN_STRATEGY_MULTI_PASS, 8},         {JOB_INTEGRAL, GPUSCAN_STRATEGY_MULTI_PASS, 8},
              {JOB_IMAGE, GPUSCAN_STRATEGY_MULTI_PASS, 8},        {JOB_QUANTILE, GPUSCAN_STRATEGY_MULTI_PASS, 8}};
    const size_t many = sizeof of / sizeof *of;
    size_t i;
    (void)state;
    if (test.is_small)
        skip();
    for (i = 0; i < many; i++)
        if (test.share <= 8 || (i + test.seed) % many == 0) {
            lanes = of[i].lanes;
            all_faults(of[i].kind, of[i].strategy, COLD, 0);
        }
    lanes = 0;
}

/* Quantiles whose groups share bins keep sums in scratch: the object's, allocated anew, or the caller's. */
static void test_large_quantiles(void **state) {
    gpuscan *gs;
    gpuscan_call call;
    gpuscan_info info;
    uint64_t scratch = 0;
    job j;
    (void)state;
    if (test.is_small)
        skip();
    lanes = 32;
    gs = open_layered();
    memset(&call, 0, sizeof call);
    call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
    job_new(&j, JOB_QUANTILE_LARGE, n);
    test_ok(job_scratch_size(gs, &j, &call, &scratch));
    test_ok(gpuscan_get_info(gs, &info));
    job_free(&j);
    gpuscan_destroy(gs);
    layer_expect_empty();
    assert_int_equal(scratch > 0, info.has_fence);
    if (test_takes_one_of(2, 0))
        all_faults(JOB_QUANTILE_LARGE, GPUSCAN_STRATEGY_MULTI_PASS, COLD, 0);
    if (test_takes_one_of(2, 1))
        all_faults(JOB_QUANTILE_LARGE, GPUSCAN_STRATEGY_MULTI_PASS, SCRATCH, 0);
    lanes = 0;
}

/* ---- the other functions ----------------------------------------------------------------------------------------- */

enum { DO_CREATE, DO_CREATE_ALONE, DO_PREPARE, DO_SCRATCH_SIZE, DO_INFO, DO_GET_BLOB, DO_SET_BLOB, DO_END };
static const char *const do_names[] = {
    "create", "create without a context", "prepare", "scratch_size", "get_info", "get_blob", "set_blob"};

/* A function's inputs besides the object, and its outputs. */
static struct {
    job j;
    unsigned char *blob;
    size_t blob_size;
    unsigned char *copy;
    size_t capacity;
    uint64_t size;
    gpuscan_info info;
} with;

static gpuscan_result do_it(int what, gpuscan **gs) {
    gpuscan_call call;
    gpuscan_desc desc = layer_desc();
    memset(&call, 0, sizeof call);
    switch (what) {
    case DO_CREATE:
        return gpuscan_create(gs, &desc);
    case DO_CREATE_ALONE:
        desc.context = NULL;
        desc.device = NULL;
        desc.queue = NULL;
        desc.device_name = test.info.device_name;
        return gpuscan_create(gs, &desc);
    case DO_PREPARE:
        return job_prepare(*gs, &with.j, &call);
    case DO_SCRATCH_SIZE:
        return job_scratch_size(*gs, &with.j, &call, &with.size);
    case DO_INFO:
        return gpuscan_get_info(*gs, &with.info);
    case DO_GET_BLOB:
        with.capacity = with.blob_size + 1000;
        return gpuscan_get_blob(*gs, with.copy, &with.capacity);
    default:
        return gpuscan_set_blob(*gs, with.blob, with.blob_size);
    }
}

/* Returns the object to use: none for create, one that has run the job for get_blob, otherwise a new one. */
static gpuscan *before(int what) {
    gpuscan *gs;
    gpuscan_call call;
    memset(&call, 0, sizeof call);
    if (what == DO_CREATE || what == DO_CREATE_ALONE) {
        open_layer();
        return NULL;
    }
    gs = open_layered();
    if (what == DO_GET_BLOB)
        test_ok(job_start(gs, &with.j, &call));
    test_cl(clFinish(test.queue));
    job_reset(&with.j);
    return gs;
}

static int faulty_function(int what, const fault *f) {
    gpuscan *gs = before(what);
    gpuscan_call call;
    gpuscan_result result;
    int hit, creates = what == DO_CREATE || what == DO_CREATE_ALONE;
    memset(&call, 0, sizeof call);
    test.gs = gs;
    with.size = 0;
    if (creates)
        gs = (gpuscan *)&with; /* the call must overwrite it */
    arm(f);
    result = do_it(what, &gs);
    hit = struck(f);
    layer.fail_at = layer.allocation_fail_at = 0;
    if (!hit || survived(result, f, 0))
        test_ok(result);
    else if (creates) {
        if (gs != NULL)
            fail_msg("%s: *gs is not NULL", test.what);
        layer_expect_empty();
        test_ok(do_it(what, &gs));
    } else {
        expect_error_text(gs);
        job_untouched(&with.j);
        test_ok(do_it(what, &gs));
    }
    test.gs = gs;
    job_reset(&with.j);
    if (what != DO_CREATE_ALONE) /* the job's buffers belong to the test's context */
        works_now(gs, &with.j, &call);
    gpuscan_destroy(gs);
    test.gs = NULL;
    layer_expect_empty();
    return hit;
}

/* Tries every fault of one function. */
static void all_function_faults(int what, int on) {
    gpuscan *gs;
    fault f;
    unsigned calls, k;
    memset(&f, 0, sizeof f);
    f.on = on;
    test_case("%s, no fault", do_names[what]);
    gs = before(what);
    test.gs = gs;
    layer_reset();
    test_ok(do_it(what, &gs));
    calls = remember();
    gpuscan_destroy(gs);
    layer_expect_empty();
    for (k = 1; k <= calls; k++) {
        int code;
        for (code = 0; code < 4; code++) {
            f.at = k;
            f.code = plausible_code(entry[k - 1], code);
            if (f.code == 0)
                break;
            if (test.share > 8 && code != (int)((k + test.seed) % 2)) /* another seed's */
                continue;
            describe(do_names[what], COLD, &f);
            if (!faulty_function(what, &f))
                fail_msg("%s: the call to fail was never made", test.what);
        }
    }
    f.allocation = 1;
    for (f.at = 1;; f.at++) {
        describe(do_names[what], COLD, &f);
        if (!faulty_function(what, &f))
            break;
    }
}

static void test_functions(void **state) {
    gpuscan *whole = test.gs, *gs;
    gpuscan_call call;
    int what;
    (void)state;
    memset(&call, 0, sizeof call);
    memset(&with, 0, sizeof with);
    job_new(&with.j, JOB_SCAN, n);
    test_case("a blob");
    gs = open_layered();
    test.gs = gs;
    test_ok(job_start(gs, &with.j, &call));
    test_ok(gpuscan_get_blob(gs, NULL, &with.blob_size));
    with.blob = (unsigned char *)test_alloc(with.blob_size);
    with.copy = (unsigned char *)test_alloc(with.blob_size + 1000);
    test_ok(gpuscan_get_blob(gs, with.blob, &with.blob_size));
    gpuscan_destroy(gs);
    test.gs = whole;
    for (what = 0; what < DO_END; what++) {
        int on; /* a large share tries both, otherwise the seed chooses one */
        sets_blob = what == DO_SET_BLOB;
        for (on = 0; on < (test.is_small ? 1 : 2); on++)
            if (test.is_small || test_takes_one_of(2, (uint64_t)(what + on))) {
                all_function_faults(what, on);
                test.gs = whole;
            }
    }
    sets_blob = 0;
    free(with.blob);
    free(with.copy);
    job_free(&with.j);
}

/* prepare and scratch_size of the other operations. */
static void test_prepare(void **state) {
    static const int kinds[] = {JOB_UNIFORM_ADD, JOB_REDUCE, JOB_HISTOGRAM};
    gpuscan *whole = test.gs;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!test_takes_one_of(sizeof kinds / sizeof *kinds, i))
            continue;
        memset(&with, 0, sizeof with);
        job_new(&with.j, kinds[i], kinds[i] == JOB_REDUCE ? 600000 : n); /* needs scratch */
        all_function_faults(DO_PREPARE, 0);
        all_function_faults(DO_SCRATCH_SIZE, 0);
        test.gs = whole;
        job_free(&with.j);
    }
}

/* The first call after a blob: its programs are loaded, and the object itself does not test them. */
static void test_from_blob(void **state) {
    gpuscan *whole = test.gs, *gs;
    gpuscan_call call;
    fault f;
    unsigned calls, k;
    (void)state;
    memset(&call, 0, sizeof call);
    memset(&with, 0, sizeof with);
    memset(&f, 0, sizeof f);
    job_new(&with.j, JOB_REDUCE, n);
    test_case("a blob");
    gs = open_layered();
    test.gs = gs;
    test_ok(job_start(gs, &with.j, &call));
    test_ok(gpuscan_get_blob(gs, NULL, &with.blob_size));
    with.blob = (unsigned char *)test_alloc(with.blob_size);
    test_ok(gpuscan_get_blob(gs, with.blob, &with.blob_size));
    gpuscan_destroy(gs);

    gs = open_layered();
    test_ok(gpuscan_set_blob(gs, with.blob, with.blob_size));
    assert_true(layer.calls[LAYER_clCreateProgramWithBinary] > 0);
    layer_reset();
    test.gs = gs;
    test_ok(job_start(gs, &with.j, &call));
    calls = remember();
    gpuscan_destroy(gs);
    for (k = 1; k <= calls; k++) {
        int code;
        for (code = 0; code < 4; code++) {
            gpuscan_result result;
            f.at = k;
            f.code = plausible_code(entry[k - 1], code);
            if (f.code == 0)
                break;
            describe("reduce from a blob", COLD, &f);
            gs = open_layered();
            test.gs = gs;
            test_ok(gpuscan_set_blob(gs, with.blob, with.blob_size));
            job_reset(&with.j);
            arm(&f);
            result = job_start(gs, &with.j, &call);
            layer.fail_at = 0;
            test_cl(clFinish(test.queue));
            if (layer.failed < 0)
                fail_msg("%s: the call to fail was never made", test.what);
            if (survived(result, &f, 0))
                job_done(&with.j);
            else
                job_untouched(&with.j);
            job_reset(&with.j);
            works_now(gs, &with.j, &call);
            gpuscan_destroy(gs);
            layer_expect_empty();
        }
    }
    test.gs = whole;
    free(with.blob);
    job_free(&with.j);
}

/* ---- drivers whose answers contradict each other ----------------------------------------------------------------- */

enum { STEP_CREATE, STEP_SCAN, STEP_GET_BLOB };

static struct {
    gpuscan *gs;
    gpuscan_strategy strategy;
    unsigned char *blob;
    size_t size;
    int struck_blob; /* the fault hit gpuscan_set_blob */
} odd;

static gpuscan_result step(int which) {
    static cl_uint in[5000], out[5000];
    gpuscan_desc desc = layer_desc();
    gpuscan_scan_desc scan;
    gpuscan_result result;
    cl_uint i;
    switch (which) {
    case STEP_CREATE:
        gpuscan_destroy(odd.gs);
        desc.context = NULL;
        desc.queue = NULL;
        result = gpuscan_create(&odd.gs, &desc);
        if (result == GPUSCAN_SUCCESS && odd.blob) {
            int struck_before = layer.failed >= 0;
            result = gpuscan_set_blob(odd.gs, odd.blob, odd.size);
            odd.struck_blob = !struck_before && layer.failed >= 0;
        }
        return result;
    case STEP_SCAN:
        for (i = 0; i < 5000; i++) {
            in[i] = 3;
            out[i] = 77;
        }
        memset(&scan, 0, sizeof scan);
        scan.call.strategy = odd.strategy;
        result = gpuscan_scan_host(odd.gs, in, out, 5000, &scan);
        for (i = 0; i < 5000 && result == GPUSCAN_SUCCESS; i++)
            if (out[i] != 3 * i)
                fail_msg("%s: %u at %u", test.what, (unsigned)out[i], (unsigned)i);
        return result;
    default:
        test_ok(gpuscan_get_blob(odd.gs, NULL, &odd.size));
        odd.blob = (unsigned char *)test_alloc(odd.size);
        return gpuscan_get_blob(odd.gs, odd.blob, &odd.size);
    }
}

/* Opens an object with only a device, scans, and repeats both from a blob. Returns the number of failed steps; each
   succeeds when repeated. */
static int steps(const fault *f) {
    static const int order[] = {STEP_CREATE, STEP_SCAN, STEP_GET_BLOB, STEP_CREATE, STEP_SCAN};
    size_t i;
    int failures = 0;
    open_layer();
    if (f) {
        arm(f);
        layer.fail_gives = 1;
    }
    for (i = 0; i < sizeof order / sizeof *order; i++) {
        gpuscan_result result = step(order[i]);
        if (result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
            odd.strategy = GPUSCAN_STRATEGY_AUTO;
            result = step(order[i]);
        }
        if (result == GPUSCAN_SUCCESS)
            continue;
        test_expect(result, f ? f->code : GPUSCAN_SUCCESS);
        failures++;
        if (odd.gs)
            expect_error_text(odd.gs);
        test_ok(step(order[i]));
    }
    assert_int_equal(layer.calls[LAYER_clEnqueueMapBuffer], layer.calls[LAYER_clEnqueueUnmapMemObject]);
    gpuscan_destroy(odd.gs);
    odd.gs = NULL;
    free(odd.blob);
    odd.blob = NULL;
    layer_expect_empty();
    return failures;
}

/* Checks that an object which the driver returns together with an error is released, and that the call fails. */
static void test_objects_with_errors(void **state) {
    static const int creators[] = {
        LAYER_clCreateContext,           LAYER_clCreateCommandQueue,      LAYER_clCreateBuffer,
        LAYER_clCreateProgramWithSource, LAYER_clCreateProgramWithBinary, LAYER_clCreateKernel,
        LAYER_clEnqueueMapBuffer};
    unsigned calls, k, met[sizeof creators / sizeof *creators];
    size_t i;
    int failures;
    fault f;
    (void)state;
    memset(&f, 0, sizeof f);
    memset(met, 0, sizeof met);
    odd.strategy = GPUSCAN_STRATEGY_SINGLE_PASS; /* has a self-test */
    test_case("objects without errors");
    assert_int_equal(steps(NULL), 0);
    calls = remember();
    f.code = CL_OUT_OF_HOST_MEMORY;
    for (k = 1; k <= calls; k++)
        for (i = 0; i < sizeof creators / sizeof *creators; i++)
            if (entry[k - 1] == creators[i] && met[i]++ < 12) {
                f.at = k;
                test_case("call %u, %s, returns an object and an error", k, layer_names[creators[i]]);
                odd.struck_blob = 0;
                failures = steps(&f);
                assert_int_equal(failures, !odd.struck_blob); /* a blob that cannot be loaded is built from source */
                assert_int_equal(layer.failed, creators[i]);
            }
    for (i = 0; i < sizeof creators / sizeof *creators; i++)
        assert_true(met[i] > 0 || creators[i] == LAYER_clEnqueueMapBuffer); /* not every device maps */
}

/* Clears much scratch in pieces: the first failure must end it. */
static void test_clearing(void **state) {
    gpuscan_histogram_desc desc;
    gpuscan *gs;
    unsigned calls, k, writes;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.count = 1000;
    desc.bins = 1 << 20;
    desc.sample_type = GPUSCAN_TYPE_U32;
    test_case("4 MiB of scratch");
    gs = open_layered();
    layer_reset();
    test_ok(gpuscan_histogram_prepare(gs, &desc));
    writes = layer.calls[LAYER_clEnqueueWriteBuffer];
    assert_true(writes > 4);
    calls = remember();
    gpuscan_destroy(gs);
    layer_expect_empty();
    for (k = 1; k <= calls && entry[k - 1] != LAYER_clEnqueueWriteBuffer; k++)
        ;
    test_case("4 MiB of scratch whose clearing fails");
    gs = open_layered();
    layer_reset();
    layer.fail_at = k + 1;
    layer.fail_code = CL_OUT_OF_RESOURCES;
    test_expect(gpuscan_histogram_prepare(gs, &desc), CL_OUT_OF_RESOURCES);
    assert_int_equal(layer.failed, LAYER_clEnqueueWriteBuffer);
    assert_int_equal(layer.calls[LAYER_clEnqueueWriteBuffer], 2);
    expect_error_text(gs);
    layer_reset();
    test_ok(gpuscan_histogram_prepare(gs, &desc));
    assert_int_equal(layer.calls[LAYER_clEnqueueWriteBuffer], writes);
    gpuscan_destroy(gs);
    layer_expect_empty();
}

static int open_faults(void **state) {
    cl_command_queue_properties properties = 0;
    cl_int status = CL_SUCCESS;
    if (test_open(state) != 0)
        return -1;
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    unordered =
        clCreateCommandQueue(test.context, test.device, properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
    test_cl(status);
    second = clCreateCommandQueue(test.context, test.device, 0, &status);
    test_cl(status);
    n = test_size(600, 6000, 6000);
    alarm(3000);
    return 0;
}

static int close_faults(void **state) {
    clReleaseCommandQueue(unordered);
    clReleaseCommandQueue(second);
    print_message("%u faults, %u of them tolerated\n", faults, tolerated_faults);
    return test_close(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_calls_warm), TEST(test_calls_enqueued),      TEST(test_calls_cold),   TEST(test_strategies_cold),
        TEST(test_functions),  TEST(test_from_blob),           TEST(test_calls_copied), TEST(test_prepare),
        TEST(test_clearing),   TEST(test_objects_with_errors), TEST(test_self_tests), TEST(test_large_quantiles),
    };
    cmocka_set_test_filter(getenv("GPUSCAN_TEST_ONLY"));
    return cmocka_run_group_tests_name("faults", tests, open_faults, close_faults);
}
