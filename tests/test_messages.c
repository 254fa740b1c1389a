/* Messages: the logger, error texts, and the names of result codes.
      cc -O2 tests/test_messages.c -o build/test_messages -lcmocka -lOpenCL -lm -lpthread && build/test_messages */
#include "calls.h"

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

    /* failures of create, with and without a logger */
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

/* Checks the message of a lost context. Drivers then report that a queue is invalid although nobody has released it. */
static void test_lost_context(void **state) {
    static const cl_int codes[] = {CL_INVALID_COMMAND_QUEUE, -9999, CL_OUT_OF_RESOURCES};
    size_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        const cl_uint one = 1;
        gpuscan_reduce_desc reduce;
        gpuscan_desc desc;
        gpuscan *gs = NULL;
        cl_uint sum = 0;
        layer_open();
        desc = layer_desc();
        test_ok(gpuscan_create(&gs, &desc));
        layer_reset();
        memset(&reduce, 0, sizeof reduce);
        layer.fail_at = 1;
        layer.fail_on = 1;
        layer.fail_code = codes[i];
        test_case("all calls fail with %d", (int)codes[i]);
        test_expect(gpuscan_reduce_host(gs, &one, &sum, 1, &reduce), codes[i]);
        if ((strstr(gpuscan_error(gs), "its context is lost") != NULL) != (i < 2))
            fail_msg("%s: \"%s\"", test.what, gpuscan_error(gs));
        layer_reset();
        test_destroy(gs);
    }
}

static int refuses_buffers;
static cl_mem CL_API_CALL refused_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                         cl_int *status) {
    if (!refuses_buffers)
        return layer_clCreateBuffer(context, flags, size, host, status);
    *status = CL_INVALID_BUFFER_SIZE;
    return NULL;
}

/* A buffer too large for the device, in a self-test and later in a call: the message must state the largest size. */
static void test_buffer_size(void **state) {
    static const cl_uint src[300] = {1};
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    cl_uint dst[300];
    char most[64];
    int pass;
    (void)state;
    layer_open();
    layer.table.clCreateBuffer = refused_buffer;
    desc = layer_desc();
    desc.limits.without = GPUSCAN_WITHOUT_ZERO_COPY;
    test_ok(gpuscan_create(&gs, &desc));
    snprintf(most, sizeof most, "takes up to %" PRIu64, test.largest_buffer);
    for (pass = 0; pass < 2; pass++) {
        test_case("no buffers, pass %d", pass);
        refuses_buffers = 1;
        test_expect(gpuscan_scan_host(gs, src, dst, 300, NULL), CL_INVALID_BUFFER_SIZE);
        refuses_buffers = 0;
        if (strstr(gpuscan_error(gs), most) == NULL)
            fail_msg("%s: \"%s\" does not say \"%s\"", test.what, gpuscan_error(gs), most);
        object_works(gs);
    }
    test_destroy(gs);
    layer_expect_empty();
}

static void test_result_strings(void **state) {
#define CODE(name, value, text) name,
    static const gpuscan_result results[] = {GPUSCAN_RESULTS(CODE) CL_DEVICE_NOT_FOUND,
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
#undef CODE
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
                fail_msg("%d and %d have the same name \"%s\"", (int)results[i], (int)results[k], text);
    }
    for (r = -3000; r < 10; r++)
        assert_non_null(gpuscan_result_string(r));
    assert_non_null(gpuscan_result_string(INT32_MIN));
    assert_non_null(gpuscan_result_string(INT32_MAX));
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_logger), TEST(test_lost_context), TEST(test_buffer_size),
                                       TEST(test_result_strings)};
    test_select();
    return cmocka_run_group_tests_name("messages", tests, open_calls, test_close);
}
