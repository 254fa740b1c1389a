/* Makes OpenCL calls fail from outside the library: the k-th call of a public function fails in a layer of the ICD
   loader, for k = 1, 2, ... until the function succeeds. After each, checks the result, *event, the outputs, that no
   object leaks, and that the same call then succeeds. Tests nothing when the loader does not support layers.
      cc -shared -fPIC tests/cl_layer.c -o layer.so
      cc tests/under_layer.c -o under_layer -lcmocka -lOpenCL -lm -ldl
      OPENCL_LAYERS=./layer.so ./under_layer */
#include "harness.h"
#include "jobs.h"

#include "cl_layer.h"

#include <dlfcn.h>

static cl_layer_control *control;
static gpuscan_call call;
static job jobs[JOB_END];
static unsigned char *blob;
static size_t blob_size;
static unsigned faults, tolerated;

enum { CREATE, CREATE_ALONE, PREPARE, SIZE, COLD, WARM, GET_BLOB, SET_BLOB, FROM_BLOB, ACTS };
static const char *const act_names[ACTS] = {"create",      "create alone", "prepare",  "scratch size",    "first call",
                                            "second call", "get_blob",     "set_blob", "call from a blob"};

/* Prepares the act, then do_act runs it. */
static gpuscan *prepare_act(int act, job *j) {
    gpuscan *gs = NULL;
    gpuscan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    desc.queue = test.queue;
    if (act == CREATE || act == CREATE_ALONE)
        return NULL;
    test_ok(gpuscan_create(&gs, &desc));
    call.event = NULL;
    if (act == WARM || act == GET_BLOB) {
        test_ok(job_start(gs, j, &call));
        test_cl(clFinish(test.queue));
    }
    if (act == FROM_BLOB)
        test_ok(gpuscan_set_blob(gs, blob, blob_size));
    job_reset(j);
    return gs;
}

static gpuscan_result do_act(int act, job *j, gpuscan **gs, cl_event *event) {
    gpuscan_desc desc;
    uint64_t size = 0;
    size_t capacity = blob_size + 4096;
    unsigned char *room;
    gpuscan_result r;
    memset(&desc, 0, sizeof desc);
    call.event = j->which < JOB_DEVICE_END ? event : NULL;
    switch (act) {
    case CREATE:
        desc.context = test.context;
        desc.device = test.device;
        desc.queue = test.queue;
        return gpuscan_create(gs, &desc);
    case CREATE_ALONE:
        desc.device_name = test.info.device_name;
        return gpuscan_create(gs, &desc);
    case PREPARE:
        return job_prepare(*gs, j, &call);
    case SIZE:
        return job_scratch_size(*gs, j, &call, &size);
    case GET_BLOB:
        room = (unsigned char *)test_alloc(capacity);
        r = gpuscan_get_blob(*gs, room, &capacity);
        free(room);
        return r;
    case SET_BLOB:
        return gpuscan_set_blob(*gs, blob, blob_size);
    default:
        return job_start(*gs, j, &call);
    }
}

/* Returns whether the library may ignore a failure of this function; see test_faults.c. */
static int is_tolerable(const char *function) {
    static const char *const names[] = {"clReleaseContext", "clReleaseCommandQueue", "clReleaseMemObject",
                                        "clReleaseProgram", "clReleaseKernel",       "clReleaseEvent",
                                        "clRetainEvent",    "clGetDeviceInfo",       "clGetPlatformInfo",
                                        "clGetEventInfo",   "clGetProgramBuildInfo", "clCreateProgramWithBinary"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], function) == 0)
            return 1;
    return 0;
}

static int is_allowed(gpuscan_result r, cl_int code, int act) {
    if (r == code)
        return 1;
    if (strcmp(control->failed, "clGetDeviceIDs") == 0)
        return r == GPUSCAN_ERROR_NO_DEVICE;
    if (strcmp(control->failed, "clGetDeviceInfo") == 0)
        return r == GPUSCAN_ERROR_DEVICE_TOO_OLD || r == GPUSCAN_ERROR_NO_DEVICE;
    return act == SET_BLOB && r == GPUSCAN_SUCCESS; /* a blob that cannot be loaded is built from source when needed */
}

/* Makes the k-th call fail, and with `on` all later ones. Returns 0 if there is no k-th call. */
static int one_fault(int act, job *j, unsigned k, int on) {
    static const cl_int codes[] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE};
    cl_int code = codes[k % 3];
    cl_event event = (cl_event)j;
    gpuscan *gs = prepare_act(act, j);
    gpuscan_result r;
    long live = control->live;
    int struck, ran = act == COLD || act == WARM || act == FROM_BLOB;
    test_case("%s of %s, call %u fails%s", act_names[act], job_names[j->which], k, on ? " and all later" : "");
    control->calls = 0;
    control->fail_at = k;
    control->fail_on = on;
    control->fail_code = code;
    control->failed = NULL;
    control->armed = 1;
    r = do_act(act, j, &gs, &event);
    control->armed = 0;
    test.gs = gs;
    struck = control->failed != NULL;
    if (struck)
        test_case("%s: %s", test.what, control->failed);
    test_cl(clFinish(test.queue));
    if (gs && gs->queue)
        test_cl(clFinish(gs->queue));
    if (!struck || (r == GPUSCAN_SUCCESS && (is_tolerable(control->failed) || is_allowed(r, code, act)))) {
        tolerated += (unsigned)struck;
        test_ok(r);
        if (ran) {
            job_done(j);
            if (call.event)
                test_cl(clReleaseEvent(event));
        }
    } else {
        if (!is_allowed(r, code, act) && !(on && is_tolerable(control->failed) && r != GPUSCAN_SUCCESS))
            fail_msg("%s: %d instead of %d", test.what, (int)r, (int)code);
        if (ran && call.event && event != NULL)
            fail_msg("%s: *event is not NULL", test.what);
        if (act == CREATE || act == CREATE_ALONE) {
            if (gs != NULL || control->live != live)
                fail_msg("%s: %ld objects are left", test.what, control->live - live);
        } else {
            if (strcmp(gpuscan_error(gs), "") == 0)
                fail_msg("%s: no words", test.what);
            if (j->which < JOB_DEVICE_END)
                job_untouched(j);
        }
        event = NULL;
        job_reset(j);
        r = do_act(act, j, &gs, &event);
        test.gs = gs;
        test_ok(r);
        test_cl(clFinish(test.queue));
        if (ran) {
            job_done(j);
            if (call.event)
                test_cl(clReleaseEvent(event));
        }
    }
    gpuscan_destroy(gs);
    test.gs = NULL;
    faults += (unsigned)struck;
    return struck;
}

static void test_every_fault(void **state) {
    static const int few[] = {JOB_REDUCE_RESULT, JOB_SCAN_HOST};
    int i, act, on, which, count = test.is_long ? JOB_END : 2;
    unsigned k, skipped;
    gpuscan *whole = test.gs;
    (void)state;
    if (control == NULL)
        skip();
    for (i = 0; i < count; i++) {
        gpuscan *gs;
        which = test.is_long ? i : few[i];
        job_new(&jobs[which], which, 2000);
        gs = prepare_act(WARM, &jobs[which]);
        blob_size = 0;
        test_ok(gpuscan_get_blob(gs, NULL, &blob_size));
        free(blob);
        blob = (unsigned char *)test_alloc(blob_size);
        test_ok(gpuscan_get_blob(gs, blob, &blob_size));
        gpuscan_destroy(gs);
        for (act = 0; act < ACTS; act++)
            for (on = 0; on < 2; on++) {
                long live = control->live;
                if (i > 0 && act < PREPARE)
                    continue;
                if (!test.is_long && ((on && act != COLD && act != WARM) || (i > 0 && act != COLD && act != WARM)))
                    continue;
                /* one call in four of those that build programs, as the seed says */
                skipped = test.is_long || act == WARM || act == CREATE ? 0 : 3;
                for (k = 1 + (unsigned)test.seed % (skipped + 1); one_fault(act, &jobs[which], k, on); k++)
                    k += skipped;
                if (control->live != live)
                    fail_msg("%s: %ld objects are left", test.what, control->live - live);
            }
        job_free(&jobs[which]);
    }
    test.gs = whole;
    free(blob);
    print_message("%u faults in the loader, %u of them tolerated\n", faults, tolerated);
}

/* Opens the layer that the environment names, so that the loader and this program share one count. */
static int open_under_layer(void **state) {
    const char *path = getenv("OPENCL_LAYERS");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    union {
        void *object;
        cl_layer_get function;
    } symbol;
    symbol.object = library ? dlsym(library, "cl_layer") : NULL;
    if (symbol.object)
        control = symbol.function();
    if (test_open(state) != 0)
        return -1;
    if (control && control->live == 0) {
        print_message("the loader does not know layers\n");
        control = NULL;
    }
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_every_fault)};
    return cmocka_run_group_tests_name("under_layer", tests, open_under_layer, test_close);
}
