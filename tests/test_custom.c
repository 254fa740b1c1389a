/* cc -O2 tests/test_custom.c -o build/test_custom -lcmocka -lOpenCL -lm -lpthread && build/test_custom
   Custom types and operators: texts that do not compile, sizes that are not right, build logs. */
#include "calls.h"

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
    /* where fast variants prove themselves, the custom operator's stand-in is one more */
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], test.info.has_lanes ? 4 : 3);
    test_destroy(gs);
    layer_expect_empty();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_custom_errors), TEST(test_build_logs), TEST(test_custom_or_not)};
    test_select();
    return cmocka_run_group_tests_name("custom", tests, open_calls, test_close);
}
