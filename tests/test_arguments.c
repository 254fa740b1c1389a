/* Makes every argument of every public function wrong in turn. Checks the exact result, a message that names the
   argument, unchanged outputs and guards, *event NULL, and that the next correct call works, by simple results. */
#include "harness.h"
#include "opencl.h"

enum { N = 100, ROWS = 3, PITCH = 120, BINS = 10 };

static struct {
    cl_context context; /* another context on the same device, with its queue */
    cl_command_queue queue;
    cl_event event;     /* of that context */
    cl_event own_event; /* of the tested context */
    cl_mem image;       /* NULL: the device has no images */
    gpuscan_buffer foreign, read_only, write_only, tiny;
    test_buffer in, out, total, counts, ok;
    test_buffer parent; /* two overlapping sub-buffers, and one that ends before the parent */
    gpuscan_buffer left, right;
    uint64_t left_begin, right_begin, left_size, right_size; /* bytes */
    gpuscan_buffer scratch, parts;                           /* large; nothing checks the bytes of parts */
    gpuscan_buffer at_2, at_4, part_at_2; /* host memory 2 or 4 bytes behind a line, or a part */
    unsigned char *memory;
    uint64_t scratch_size;
    unsigned refusals;
} f;

static gpuscan_buffer at(gpuscan_buffer buffer, uint64_t offset) {
    buffer.offset = offset;
    return buffer;
}

static gpuscan_buffer of(cl_mem mem) {
    gpuscan_buffer buffer;
    buffer.mem = mem;
    buffer.offset = 0;
    return buffer;
}

static const gpuscan_buffer none = {NULL, 0};

static gpuscan_buffer new_buffer(cl_context context, cl_mem_flags flags, size_t size) {
    cl_int status = CL_SUCCESS;
    void *zeros = calloc(size, 1); /* a simulator reports values that were never set */
    gpuscan_buffer buffer = of(clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, size, zeros, &status));
    test_cl(status);
    free(zeros);
    return buffer;
}

static gpuscan_buffer new_host_buffer(unsigned char *memory, size_t size) {
    cl_int status = CL_SUCCESS;
    gpuscan_buffer buffer = of(clCreateBuffer(test.context, CL_MEM_USE_HOST_PTR, size, memory, &status));
    test_cl(status);
    return buffer;
}

static gpuscan_buffer new_sub_buffer(cl_mem parent, uint64_t begin, uint64_t size) {
    cl_buffer_region region;
    cl_int status = CL_SUCCESS;
    gpuscan_buffer buffer;
    region.origin = (size_t)begin;
    region.size = (size_t)size;
    buffer = of(clCreateSubBuffer(parent, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    test_cl(status);
    return buffer;
}

/* Checks what a refused call must not change. */
static void untouched(void) {
    test_buffer_untouched(&f.out);
    test_buffer_untouched(&f.total);
    test_buffer_untouched(&f.counts);
    test_buffer_untouched(&f.parent);
}

static int open_all(void **state) {
    cl_image_format format;
    cl_image_desc image;
    cl_uint bits = 0, input[N];
    cl_bool images = CL_FALSE;
    cl_int status = CL_SUCCESS;
    uint64_t align;
    int i;
    if (test_open(state) != 0)
        return -1;
    memset(&f, 0, sizeof f);
    f.context = clCreateContext(NULL, 1, &test.device, NULL, NULL, &status);
    test_cl(status);
    f.queue = clCreateCommandQueue(f.context, test.device, 0, &status);
    test_cl(status);
    f.event = clCreateUserEvent(f.context, &status);
    test_cl(status);
    test_cl(clSetUserEventStatus(f.event, CL_COMPLETE));
    f.own_event = clCreateUserEvent(test.context, &status);
    test_cl(status);
    test_cl(clSetUserEventStatus(f.own_event, CL_COMPLETE));

    f.foreign = new_buffer(f.context, CL_MEM_READ_WRITE, 65536);
    f.read_only = new_buffer(test.context, CL_MEM_READ_ONLY, 65536);
    f.write_only = new_buffer(test.context, CL_MEM_WRITE_ONLY, 65536);
    f.tiny = new_buffer(test.context, CL_MEM_READ_WRITE, 2);
    f.scratch = new_buffer(test.context, CL_MEM_READ_WRITE, 1 << 20);
    f.scratch_size = 1 << 20;
    f.parts = new_buffer(test.context, CL_MEM_READ_WRITE, 1 << 20);

    f.in = test_buffer_new(CL_MEM_READ_WRITE, 4, 4096);
    f.out = test_buffer_new(CL_MEM_READ_WRITE, 4, 4096);
    f.total = test_buffer_new(CL_MEM_READ_WRITE, 4, 16);
    f.counts = test_buffer_new(CL_MEM_READ_WRITE, 4, 4096);
    f.ok = test_buffer_new(CL_MEM_READ_WRITE, 4, N);
    for (i = 0; i < N; i++)
        input[i] = 1;
    test_buffer_set(&f.in, 0, N, input);

    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL));
    align = bits / 8 > 128 ? bits / 8 : 128;
    f.parent = test_buffer_new(CL_MEM_READ_WRITE, 1, 16 * align + 4096);
    f.left_begin = align;
    f.left_size = 8 * align;
    f.right_begin = 4 * align;
    f.right_size = 8 * align;
    f.memory = (unsigned char *)calloc(3, 65536);
    assert_non_null(f.memory);
    f.at_2 = new_host_buffer(f.memory + 64 - (uintptr_t)f.memory % 64 + 2, 65536);
    f.at_4 = new_host_buffer(f.memory + 2 * 65536 - (uintptr_t)f.memory % 64 + 4, 65000);
    f.part_at_2 = new_sub_buffer(f.at_2.mem, align, 32768);
    f.left = new_sub_buffer(f.parent.at.mem, f.left_begin, f.left_size);
    f.right = new_sub_buffer(f.parent.at.mem, f.right_begin, f.right_size);

    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL));
    if (images) {
        memset(&format, 0, sizeof format);
        memset(&image, 0, sizeof image);
        format.image_channel_order = CL_RGBA;
        format.image_channel_data_type = CL_UNORM_INT8;
        image.image_type = CL_MEM_OBJECT_IMAGE2D;
        image.image_width = image.image_height = 64;
        f.image = clCreateImage(test.context, CL_MEM_READ_WRITE, &format, &image, NULL, &status);
        if (status != CL_SUCCESS)
            f.image = NULL;
    }
    return 0;
}

static int close_all(void **state) {
    gpuscan_buffer *buffers[] = {&f.foreign, &f.read_only, &f.write_only, &f.tiny, &f.scratch, &f.parts,
                                 &f.left,    &f.right,     &f.part_at_2,  &f.at_2, &f.at_4};
    size_t i;
    for (i = 0; i < sizeof buffers / sizeof *buffers; i++)
        clReleaseMemObject(buffers[i]->mem);
    if (f.image)
        clReleaseMemObject(f.image);
    free(f.memory);
    test_buffer_free(&f.in);
    test_buffer_free(&f.out);
    test_buffer_free(&f.total);
    test_buffer_free(&f.counts);
    test_buffer_free(&f.ok);
    test_buffer_free(&f.parent);
    clReleaseEvent(f.event);
    clReleaseEvent(f.own_event);
    clReleaseCommandQueue(f.queue);
    clReleaseContext(f.context);
    return test_close(state);
}

static int begin(void **state) {
    test_begin(state);
    test_buffer_set(&f.out, 8, 4096, NULL);
    test_buffer_set(&f.total, 8, 16, NULL);
    test_buffer_set(&f.counts, 8, 4096, NULL);
    test_buffer_set(&f.parent, 0, 16 * (f.right_begin / 4) + 4096, NULL);
    return 0;
}

#define CASE(function) TEST_BEGUN_BY(function, begin)

/* ---- correct descs, in which each case changes one member -------------------------------------------------------- */

static gpuscan_scan_desc scan_desc(void) {
    gpuscan_scan_desc d;
    memset(&d, 0, sizeof d);
    d.src = f.in.at;
    d.dst = f.out.at;
    d.count = N;
    return d;
}

static gpuscan_uniform_add_desc uniform_add_desc(void) {
    gpuscan_uniform_add_desc d;
    memset(&d, 0, sizeof d);
    d.dst = f.out.at;
    d.addend = f.in.at;
    d.count = N;
    d.block = 10;
    return d;
}

static gpuscan_reduce_desc reduce_desc(void) {
    gpuscan_reduce_desc d;
    memset(&d, 0, sizeof d);
    d.src = f.in.at;
    d.dst = f.total.at;
    d.count = N;
    return d;
}

static gpuscan_histogram_desc histogram_desc(void) {
    gpuscan_histogram_desc d;
    memset(&d, 0, sizeof d);
    d.samples = f.in.at;
    d.counts = f.counts.at;
    d.count = N;
    d.bins = BINS;
    return d;
}

/* Selects elements that are their own flags. */
static gpuscan_select_desc select_desc(void) {
    gpuscan_select_desc d;
    memset(&d, 0, sizeof d);
    d.src = d.flags = f.in.at;
    d.flag_type = GPUSCAN_TYPE_U32;
    d.dst = f.out.at;
    d.count = N;
    return d;
}

/* Stores each run's first key and the sum of its keys. */
static gpuscan_runs_desc runs_desc(void) {
    gpuscan_runs_desc d;
    memset(&d, 0, sizeof d);
    d.keys = d.src = f.in.at;
    d.keys_dst = f.out.at;
    d.dst = f.counts.at;
    d.count = N;
    return d;
}

/* Payloads of 8 bytes an element, which tests change through the desc's pointer. */
static gpuscan_payload sort_payloads[GPUSCAN_MAX_PAYLOADS + 1];

static gpuscan_sort_desc sort_desc(void) {
    gpuscan_sort_desc d;
    int i;
    memset(&d, 0, sizeof d);
    memset(sort_payloads, 0, sizeof sort_payloads);
    for (i = 0; i <= GPUSCAN_MAX_PAYLOADS; i++) {
        sort_payloads[i].src = f.parts;
        sort_payloads[i].dst = f.counts.at;
        sort_payloads[i].dst.offset /= 2;
        sort_payloads[i].size = 8;
    }
    d.src = f.in.at;
    d.dst = f.out.at;
    d.count = N;
    return d;
}

/* 10 x 5 pixels of u32. */
static gpuscan_integral_desc integral_desc(void) {
    gpuscan_integral_desc d;
    memset(&d, 0, sizeof d);
    d.src = f.in.at;
    d.dst = f.out.at;
    d.src_type = GPUSCAN_TYPE_U32;
    d.width = 10;
    d.height = 5;
    return d;
}

static double quantile_fractions[GPUSCAN_MAX_FRACTIONS + 1]; /* tests change them through the desc's pointer */

static gpuscan_quantile_desc quantile_desc(void) {
    gpuscan_quantile_desc d;
    memset(&d, 0, sizeof d);
    memset(quantile_fractions, 0, sizeof quantile_fractions);
    quantile_fractions[0] = 0.25;
    quantile_fractions[1] = 0.5;
    d.counts = f.in.at;
    d.dst = f.total.at;
    d.bins = N;
    d.fractions = quantile_fractions;
    d.fraction_count = 2;
    return d;
}

/* ---- checks after a refusal -------------------------------------------------------------------------------------- */

/* Checks that the object still works: scans ones into 0 1 2 ... */
static void works(void) {
    gpuscan_scan_desc d = scan_desc();
    const cl_uint *got;
    cl_uint i;
    test_buffer_set(&f.ok, 3, N, NULL);
    d.dst = f.ok.at;
    test_ok(gpuscan_scan(test.gs, &d));
    got = (const cl_uint *)test_buffer_get(&f.ok);
    for (i = 0; i < N; i++)
        if (got[i] != i)
            fail_msg("%s: the next correct call gives %u at %u", test.what, (unsigned)got[i], (unsigned)i);
}

static void names(const char *word) {
    const char *text = gpuscan_error(test.gs);
    if (text == NULL || strstr(text, word) == NULL)
        fail_msg("%s: gpuscan_error does not name \"%s\": \"%s\"", test.what, word, text ? text : "NULL");
}

static void refused(gpuscan_result got, gpuscan_result wanted, cl_event event, const char *word) {
    test_expect(got, wanted);
    names(word);
    if (event != NULL)
        fail_msg("%s: *event is not NULL", test.what);
    if (test.is_small && f.refusals++ % 16) /* a simulator is slow */
        return;
    untouched();
    works();
}

/* Defines the checks of an operation: the call refuses d, and so do its prepare and its size query, with and without
   the main buffers; or the call accepts d. */
#define REFUSALS_OF(operation, in, out)                                                                                \
    static void operation##_without_buffers(gpuscan_##operation##_desc *d) {                                           \
        d->in = none;                                                                                                  \
        d->out = none;                                                                                                 \
    }                                                                                                                  \
    static void operation##_refuses(gpuscan_##operation##_desc d, gpuscan_result wanted, const char *word,             \
                                    const char *what) {                                                                \
        cl_event event = f.event;                                                                                      \
        gpuscan_result result;                                                                                         \
        d.call.event = &event;                                                                                         \
        test_case("gpuscan_" #operation ": %s", what);                                                                 \
        result = gpuscan_##operation(test.gs, &d);                                                                     \
        refused(result, wanted, event, word);                                                                          \
    }                                                                                                                  \
    static void operation##_refuses_anywhere(gpuscan_##operation##_desc d, gpuscan_result wanted, const char *word,    \
                                             const char *what) {                                                       \
        uint64_t size = 12345;                                                                                         \
        operation##_refuses(d, wanted, word, what);                                                                    \
        test_case("gpuscan_" #operation "_prepare: %s", what);                                                         \
        refused(gpuscan_##operation##_prepare(test.gs, &d), wanted, NULL, word);                                       \
        test_case("gpuscan_" #operation "_scratch_size: %s", what);                                                    \
        refused(gpuscan_##operation##_scratch_size(test.gs, &d, &size), wanted, NULL, word);                           \
        operation##_without_buffers(&d);                                                                               \
        test_case("gpuscan_" #operation "_prepare without buffers: %s", what);                                         \
        refused(gpuscan_##operation##_prepare(test.gs, &d), wanted, NULL, word);                                       \
        test_case("gpuscan_" #operation "_scratch_size without buffers: %s", what);                                    \
        refused(gpuscan_##operation##_scratch_size(test.gs, &d, &size), wanted, NULL, word);                           \
    }                                                                                                                  \
    static void operation##_accepts(gpuscan_##operation##_desc d, const char *what) {                                  \
        test_case("gpuscan_" #operation ": %s", what);                                                                 \
        test_ok(gpuscan_##operation(test.gs, &d));                                                                     \
        test_cl(clFinish(test.queue));                                                                                 \
        begin(NULL);                                                                                                   \
    }
REFUSALS_OF(scan, src, dst)
REFUSALS_OF(uniform_add, addend, dst)
REFUSALS_OF(reduce, src, dst)
REFUSALS_OF(histogram, samples, counts)
REFUSALS_OF(select, src, dst)
REFUSALS_OF(runs, keys, keys_dst)
REFUSALS_OF(sort, src, dst)
REFUSALS_OF(integral, src, dst)
REFUSALS_OF(quantile, counts, dst)

/* The call refuses d after these statements; before them d is correct. */
#define REFUSED(operation, result, word, ...)                                                                          \
    do {                                                                                                               \
        gpuscan_##operation##_desc d = operation##_desc();                                                             \
        __VA_ARGS__;                                                                                                   \
        operation##_refuses(d, result, word, #__VA_ARGS__);                                                            \
    } while (0)
#define REFUSED_ANYWHERE(operation, result, word, ...)                                                                 \
    do {                                                                                                               \
        gpuscan_##operation##_desc d = operation##_desc();                                                             \
        __VA_ARGS__;                                                                                                   \
        operation##_refuses_anywhere(d, result, word, #__VA_ARGS__);                                                   \
    } while (0)
#define ACCEPTED(operation, ...)                                                                                       \
    do {                                                                                                               \
        gpuscan_##operation##_desc d = operation##_desc();                                                             \
        __VA_ARGS__;                                                                                                   \
        operation##_accepts(d, #__VA_ARGS__);                                                                          \
    } while (0)

/* Checks that the size query refuses d without buffers. */
#define REFUSED_SIZE(operation, result, word, ...)                                                                     \
    do {                                                                                                               \
        gpuscan_##operation##_desc d = operation##_desc();                                                             \
        uint64_t size = 12345;                                                                                         \
        operation##_without_buffers(&d);                                                                               \
        __VA_ARGS__;                                                                                                   \
        test_case("gpuscan_" #operation "_scratch_size without buffers: %s", #__VA_ARGS__);                            \
        refused(gpuscan_##operation##_scratch_size(test.gs, &d, &size), result, NULL, word);                           \
    } while (0)

/* Checks that the size query accepts d without buffers. */
#define ACCEPTED_SIZE(operation, ...)                                                                                  \
    do {                                                                                                               \
        gpuscan_##operation##_desc d = operation##_desc();                                                             \
        uint64_t size = 12345;                                                                                         \
        operation##_without_buffers(&d);                                                                               \
        __VA_ARGS__;                                                                                                   \
        test_case("gpuscan_" #operation "_scratch_size without buffers: %s", #__VA_ARGS__);                            \
        test_ok(gpuscan_##operation##_scratch_size(test.gs, &d, &size));                                               \
    } while (0)

static gpuscan_type no_type(int value) {
    return (gpuscan_type)value;
}

/* ---- members that every operation has ---------------------------------------------------------------------------- */

/* Refusals of queue, events, strategy and scratch, which are one struct in all operations. */
#define QUEUE_REFUSALS(operation)                                                                                      \
    do {                                                                                                               \
        cl_event one[1], two[2];                                                                                       \
        two[0] = one[0] = f.own_event;                                                                                 \
        two[1] = NULL;                                                                                                 \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_CONTEXT, "queue", d.call.queue = f.queue);                            \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_EVENT, "wait_list", d.call.wait_count = 1);                           \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_EVENT, "wait_", d.call.wait_list = one);                              \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_EVENT, "wait_list", d.call.wait_list = two; d.call.wait_count = 2);   \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_CONTEXT, "wait_list", d.call.wait_list = &f.event;                    \
                d.call.wait_count = 1);                                                                                \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "strategy",                                        \
                         d.call.strategy = (gpuscan_strategy)GPUSCAN_STRATEGY_COUNT);                                  \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "strategy",                                        \
                         d.call.strategy = (gpuscan_strategy)-1);                                                      \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_CONTEXT, "scratch", d.call.scratch = f.foreign);                      \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_ACCESS, "scratch", d.call.scratch = f.read_only);                      \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_ACCESS, "scratch", d.call.scratch = f.write_only);                     \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_ACCESS, "scratch", d.call.scratch = f.at_4);                           \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "scratch", d.call.scratch = at(f.scratch, 32));             \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "scratch", d.call.scratch = at(f.scratch, 2 << 20));        \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "scratch", d.call.scratch = f.scratch;                      \
                d.call.scratch_size = f.scratch_size + 1);                                                             \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "scratch_size", d.call.scratch_size = 64);                  \
        REFUSED(operation, GPUSCAN_ERROR_SIZE_OVERFLOW, "scratch", d.call.scratch = at(f.scratch, 64);                 \
                d.call.scratch_size = UINT64_MAX);                                                                     \
        if (f.image) {                                                                                                 \
            REFUSED(operation, GPUSCAN_ERROR_INVALID_BUFFER, "scratch", d.call.scratch = of(f.image));                 \
        }                                                                                                              \
    } while (0)

/* The same refusals, and those of a count on the device. */
#define CALL_REFUSALS(operation)                                                                                       \
    do {                                                                                                               \
        QUEUE_REFUSALS(operation);                                                                                     \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_TYPE, "count_type", d.count_type = GPUSCAN_TYPE_I32);        \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_TYPE, "count_type", d.count_type = GPUSCAN_TYPE_F32);        \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_TYPE, "count_type", d.count_type = GPUSCAN_TYPE_CUSTOM);     \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "count_type", d.count_type = no_type(99));         \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_CONTEXT, "count_buffer", d.count_buffer = f.foreign);                 \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_ACCESS, "count_buffer", d.count_buffer = f.write_only);                \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "count_buffer", d.count_buffer = f.tiny);                   \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "count_buffer",                                             \
                d.count_buffer = at(f.read_only, 65536 / 4));                                                          \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "count_buffer",                                             \
                d.count_buffer = at(f.read_only, 65536 / 8);                                                           \
                d.count_type = GPUSCAN_TYPE_U64);                                                                      \
        REFUSED(operation, GPUSCAN_ERROR_SIZE_OVERFLOW, "count_buffer", d.count_buffer = at(f.read_only, UINT64_MAX)); \
        if (f.image)                                                                                                   \
            REFUSED(operation, GPUSCAN_ERROR_INVALID_BUFFER, "count_buffer", d.count_buffer = of(f.image));            \
    } while (0)

static void test_scan_call(void **state) {
    (void)state;
    CALL_REFUSALS(scan);
}

static void test_uniform_add_call(void **state) {
    (void)state;
    CALL_REFUSALS(uniform_add);
}

static void test_reduce_call(void **state) {
    (void)state;
    CALL_REFUSALS(reduce);
}

static void test_histogram_call(void **state) {
    (void)state;
    CALL_REFUSALS(histogram);
}

static void test_select_call(void **state) {
    (void)state;
    CALL_REFUSALS(select);
}

static void test_runs_call(void **state) {
    (void)state;
    CALL_REFUSALS(runs);
}

/* Refusals of a buffer that is read or written: n elements of 4 bytes from its offset on. */
#define BUFFER_REFUSALS(operation, field, bytes, bad_access)                                                           \
    do {                                                                                                               \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_CONTEXT, #field, d.field = f.foreign);                                \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_ACCESS, #field, d.field = bad_access);                                 \
        if ((bytes) == 4) { /* misaligned host memory, and aligned */                           \
            REFUSED(operation, GPUSCAN_ERROR_BUFFER_ACCESS, #field, d.field = f.at_2);                                 \
            REFUSED(operation, GPUSCAN_ERROR_BUFFER_ACCESS, #field, d.field = at(f.part_at_2, 3));                     \
            ACCEPTED(operation, d.field = at(f.at_4, 3));                                                              \
        }                                                                                                              \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, #field, d.field = f.tiny);                                  \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, #field, d.field = at(f.scratch, (1 << 20) / (bytes)));      \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, #field, d.field = at(f.scratch, UINT64_C(1) << 32));        \
        REFUSED(operation, GPUSCAN_ERROR_SIZE_OVERFLOW, #field, d.field = at(f.scratch, UINT64_MAX));                  \
        REFUSED(operation, GPUSCAN_ERROR_SIZE_OVERFLOW, #field, d.field = at(f.scratch, UINT64_MAX / (bytes)));        \
        REFUSED(operation, (bytes) == 1 ? GPUSCAN_ERROR_BUFFER_TOO_SMALL : GPUSCAN_ERROR_SIZE_OVERFLOW, #field,        \
                d.field = at(f.scratch, UINT64_C(1) << 63));                                                           \
        if (f.image)                                                                                                   \
            REFUSED(operation, GPUSCAN_ERROR_INVALID_BUFFER, #field, d.field = of(f.image));                           \
    } while (0)

/* Checks that a buffer which ends exactly where the data do is large enough; one element later it is not. */
#define LAST_FIT(operation, field, elements)                                                                           \
    do {                                                                                                               \
        ACCEPTED(operation, d.field = at(f.scratch, (1 << 20) / 4 - (elements)));                                      \
        REFUSED(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, #field,                                                     \
                d.field = at(f.scratch, (1 << 20) / 4 - (elements) + 1));                                              \
    } while (0)

static void test_scan_buffers(void **state) {
    (void)state;
    BUFFER_REFUSALS(scan, src, 4, f.write_only);
    BUFFER_REFUSALS(scan, dst, 4, f.read_only);
    BUFFER_REFUSALS(scan, total, 4, f.read_only);
    BUFFER_REFUSALS(scan, init_buffer, 4, f.write_only);
    REFUSED(scan, GPUSCAN_ERROR_INVALID_BUFFER, "src", d.src.mem = NULL);
    REFUSED(scan, GPUSCAN_ERROR_INVALID_BUFFER, "dst", d.dst.mem = NULL);
    LAST_FIT(scan, src, N);
    LAST_FIT(scan, dst, N);
    LAST_FIT(scan, total, 1);
    LAST_FIT(scan, init_buffer, 1);
    /* a sub-buffer ends before its parent */
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.src = at(f.left, f.left_size / 4 - N + 1));
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.left, f.left_size / 4 - N + 1));
    /* rows: one element too many, only in the last row */
    ACCEPTED(scan, d.dst = at(f.scratch, (1 << 18) - (ROWS - 1) * PITCH - N); d.rows = ROWS; d.dst_pitch = PITCH);
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 18) - (ROWS - 1) * PITCH - N + 1);
            d.rows = ROWS; d.dst_pitch = PITCH);
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.src = at(f.scratch, (1 << 18) - (ROWS - 1) * PITCH - N + 1);
            d.rows = ROWS; d.src_pitch = PITCH);
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "total", d.total = at(f.scratch, (1 << 18) - ROWS + 1);
            d.rows = ROWS);
    /* sizes follow from the types */
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 17) - N + 1);
            d.dst_type = GPUSCAN_TYPE_U64);
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.src = at(f.scratch, (1 << 20) - N + 1);
            d.src_type = GPUSCAN_TYPE_U8; d.dst_type = GPUSCAN_TYPE_U32);
    ACCEPTED(scan, d.src = at(f.scratch, (1 << 20) - N); d.src_type = GPUSCAN_TYPE_U8; d.dst_type = GPUSCAN_TYPE_U32);
    /* outputs may be write-only and inputs read-only */
    ACCEPTED(scan, d.src = f.read_only; d.dst = f.write_only; d.init_buffer = at(f.read_only, 4000);
             d.total = at(f.write_only, 4000); d.count_buffer = at(f.read_only, 5000));
}

static void test_uniform_add_buffers(void **state) {
    (void)state;
    BUFFER_REFUSALS(uniform_add, dst, 4, f.read_only);
    BUFFER_REFUSALS(uniform_add, addend, 4, f.write_only);
    REFUSED(uniform_add, GPUSCAN_ERROR_BUFFER_ACCESS, "dst", d.dst = f.write_only); /* it is read, too */
    REFUSED(uniform_add, GPUSCAN_ERROR_INVALID_BUFFER, "dst", d.dst.mem = NULL);
    REFUSED(uniform_add, GPUSCAN_ERROR_INVALID_BUFFER, "addend", d.addend.mem = NULL);
    LAST_FIT(uniform_add, dst, N);
    LAST_FIT(uniform_add, addend, N / 10);
    /* a partial block needs its addend */
    ACCEPTED(uniform_add, d.addend = at(f.scratch, (1 << 18) - 15); d.block = 7);
    REFUSED(uniform_add, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "addend", d.addend = at(f.scratch, (1 << 18) - 14);
            d.block = 7);
    ACCEPTED(uniform_add, d.addend = at(f.scratch, (1 << 18) - 1); d.block = UINT64_MAX);
    ACCEPTED(uniform_add, d.addend = at(f.scratch, (1 << 18) - 1); d.block = N);
}

static void test_reduce_buffers(void **state) {
    (void)state;
    BUFFER_REFUSALS(reduce, src, 4, f.write_only);
    BUFFER_REFUSALS(reduce, dst, 4, f.read_only);
    BUFFER_REFUSALS(reduce, init_buffer, 4, f.write_only);
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_BUFFER, "src", d.src.mem = NULL);
    LAST_FIT(reduce, src, N);
    LAST_FIT(reduce, dst, 1);
    LAST_FIT(reduce, init_buffer, 1);
    ACCEPTED(reduce, d.src = f.read_only; d.dst = f.write_only; d.init_buffer = at(f.read_only, 4000));
    /* u64 indices take twice the bytes */
    REFUSED(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.op = GPUSCAN_OP_ARGMIN; d.dst = at(f.scratch, 1 << 17));
    ACCEPTED(reduce, d.op = GPUSCAN_OP_ARGMIN; d.dst = at(f.scratch, (1 << 17) - 1));
    ACCEPTED(reduce, d.op = GPUSCAN_OP_ARGMAX; d.dst = at(f.scratch, (1 << 18) - 1); d.dst_type = GPUSCAN_TYPE_U32);
    /* an index that does not fit u32 or equals the mark for none; other sums of that count go to u32 */
    REFUSED_SIZE(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.op = GPUSCAN_OP_ARGMIN; d.dst_type = GPUSCAN_TYPE_U32;
                 d.count = UINT64_C(1) << 32);
    REFUSED_SIZE(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.op = GPUSCAN_OP_ARGMAX; d.dst_type = GPUSCAN_TYPE_U32;
                 d.count = UINT64_C(1) << 40);
    REFUSED(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.op = GPUSCAN_OP_ARGMAX; d.dst_type = GPUSCAN_TYPE_U32;
            d.count = UINT64_C(1) << 32);
    ACCEPTED_SIZE(reduce, d.op = GPUSCAN_OP_ARGMAX; d.dst_type = GPUSCAN_TYPE_U32; d.count = UINT32_MAX);
    ACCEPTED_SIZE(reduce, d.op = GPUSCAN_OP_ARGMIN; d.count = UINT64_C(1) << 32);
    ACCEPTED_SIZE(reduce, d.dst_type = GPUSCAN_TYPE_U32; d.count = UINT64_C(1) << 32);
}

static void test_histogram_buffers(void **state) {
    const uint64_t end = 1 << 20;
    (void)state;
    BUFFER_REFUSALS(histogram, samples, 1, f.write_only);
    BUFFER_REFUSALS(histogram, counts, 4, f.read_only);
    BUFFER_REFUSALS(histogram, weights, 4, f.write_only);
    REFUSED(histogram, GPUSCAN_ERROR_INVALID_BUFFER, "samples", d.samples.mem = NULL);
    REFUSED(histogram, GPUSCAN_ERROR_INVALID_BUFFER, "counts", d.counts.mem = NULL);
    LAST_FIT(histogram, counts, BINS);
    LAST_FIT(histogram, weights, N);
    ACCEPTED(histogram, d.samples = at(f.scratch, end - N));
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "samples", d.samples = at(f.scratch, end - N + 1));
    /* channels, rows and pitch */
    ACCEPTED(histogram, d.samples = at(f.scratch, end - 3 * (2 * PITCH + N)); d.channels = 3; d.rows = ROWS;
             d.pitch = PITCH);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "samples",
            d.samples = at(f.scratch, end - 3 * (2 * PITCH + N) + 1);
            d.channels = 3; d.rows = ROWS; d.pitch = PITCH);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "weights",
            d.weights = at(f.scratch, end / 4 - (2 * PITCH + N) + 1);
            d.rows = ROWS; d.weights_pitch = PITCH);
    /* counters of the channels in the mask, and two more each with OUTSIDE_COUNT */
    ACCEPTED(histogram, d.counts = at(f.scratch, end / 4 - 3 * BINS); d.channels = 3);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts", d.counts = at(f.scratch, end / 4 - 3 * BINS + 1);
            d.channels = 3);
    ACCEPTED(histogram, d.counts = at(f.scratch, end / 4 - 2 * BINS); d.channels = 3; d.channel_mask = 5);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts", d.counts = at(f.scratch, end / 4 - 2 * BINS + 1);
            d.channels = 3; d.channel_mask = 5);
    ACCEPTED(histogram, d.counts = at(f.scratch, end / 4 - BINS - 2); d.outside = GPUSCAN_OUTSIDE_COUNT);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts", d.counts = at(f.scratch, end / 4 - BINS - 1);
            d.outside = GPUSCAN_OUTSIDE_COUNT);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts", d.counts = at(f.scratch, end / 8 - BINS + 1);
            d.counter_type = GPUSCAN_TYPE_U64);
    /* counters with a stride end with the last of them */
    ACCEPTED(histogram, d.counts = at(f.scratch, end / 4 - 5 * (BINS - 1) - 1); d.counts_stride = 5);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts", d.counts = at(f.scratch, end / 4 - 5 * (BINS - 1));
            d.counts_stride = 5);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "counts_stride", d.counts_stride = UINT32_MAX;
                     d.bins = 1 << 28; d.tile_height = 1; d.rows = 32);
    /* edges */
    REFUSED(histogram, GPUSCAN_ERROR_INVALID_BUFFER, "edges", d.form = GPUSCAN_BINS_EDGES);
    REFUSED(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "form", d.edges = at(f.scratch, end - BINS - 1));
    ACCEPTED(histogram, d.form = GPUSCAN_BINS_EDGES; d.edges = at(f.scratch, end - BINS - 1));
    REFUSED(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_edges", d.form = GPUSCAN_BINS_EDGES; d.edges = f.scratch;
            d.host_edges = &end);
    REFUSED(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_weights", d.host_weights = &end);
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_I8; d.bins = 256);
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_U32; d.bins = 1); /* all values in one bin */
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_U32; d.bins = 1; d.upper.u = UINT64_C(1) << 32);
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 0; d.upper.f = 1e-32);
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 1e6; d.upper.f = 1e6 + 1);
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = -1e37; d.upper.f = 1e37);
    ACCEPTED(histogram, d.form = GPUSCAN_BINS_VALUES; d.sample_type = GPUSCAN_TYPE_I64; d.count = N / 2;
             d.lower.i = INT64_MAX - 3); /* bins beyond the type's range stay empty */
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "edges", d.form = GPUSCAN_BINS_EDGES;
            d.edges = at(f.scratch, end - BINS));
    ACCEPTED(histogram, d.form = GPUSCAN_BINS_EDGES; d.sample_type = GPUSCAN_TYPE_F16;
             d.edges = at(f.scratch, end / 4 - BINS - 1));
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "edges", d.form = GPUSCAN_BINS_EDGES;
            d.sample_type = GPUSCAN_TYPE_F16; d.edges = at(f.scratch, end / 4 - BINS));
    REFUSED(histogram, GPUSCAN_ERROR_INVALID_CONTEXT, "edges", d.form = GPUSCAN_BINS_EDGES; d.edges = f.foreign);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_ACCESS, "edges", d.form = GPUSCAN_BINS_EDGES; d.edges = f.write_only);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "edges", d.form = GPUSCAN_BINS_EDGES;
            d.edges = at(f.scratch, UINT64_MAX - BINS + 1));
    if (f.image)
        REFUSED(histogram, GPUSCAN_ERROR_INVALID_BUFFER, "edges", d.form = GPUSCAN_BINS_EDGES; d.edges = of(f.image));
    /* counters that accumulate are read */
    ACCEPTED(histogram, d.counts = f.write_only);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_ACCESS, "counts", d.counts = f.write_only; d.accumulate = 1);
    ACCEPTED(histogram, d.samples = f.read_only; d.weights = at(f.read_only, 1000));
}

/* ---- types, operators, clashes ----------------------------------------------------------------------------------- */

static const gpuscan_custom pair = {"typedef struct { uint a, b; } pair;\n"
                                    "pair plus(pair x, pair y) { x.a += y.a; x.b += y.b; return x; }\n"
                                    "pair zero(void) { pair z; z.a = 0; z.b = 0; return z; }\n",
                                    "pair",
                                    8,
                                    "plus(a, b)",
                                    "zero()",
                                    NULL, NULL, NULL, NULL};

static gpuscan_custom pair_but(const char *type, size_t size, const char *combine, const char *identity) {
    gpuscan_custom custom = pair;
    custom.type = type;
    custom.size = size;
    custom.combine = combine;
    custom.identity = identity;
    return custom;
}

/* Refusals common to scan and reduce. */
#define TYPE_REFUSALS(operation)                                                                                       \
    do {                                                                                                               \
        gpuscan_custom custom;                                                                                         \
        int op;                                                                                                        \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_type", d.src_type = GPUSCAN_TYPE_COUNT);      \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_type", d.src_type = no_type(-1));             \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_type", d.dst_type = GPUSCAN_TYPE_COUNT);      \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_type", d.dst_type = no_type(1000000));        \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "op", d.op = GPUSCAN_OP_COUNT);                    \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "op", d.op = (gpuscan_op)-1);                      \
        TEST_EACH_OP(op, REF_BITS) {                                                                                   \
            REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = (gpuscan_op)op;                   \
                             d.dst_type = GPUSCAN_TYPE_F32);                                                           \
            REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = (gpuscan_op)op;                   \
                             d.src_type = GPUSCAN_TYPE_F16);                                                           \
        }                                                                                                              \
        /* no custom, or half of one */                                                                           \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.op = GPUSCAN_OP_CUSTOM);               \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.src_type = GPUSCAN_TYPE_CUSTOM);       \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.dst_type = GPUSCAN_TYPE_CUSTOM);       \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "type", CUSTOM(NULL, 8, "plus(a, b)", "zero()"));  \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "size",                                            \
                         CUSTOM("pair", 0, "plus(a, b)", "zero()"));                                                   \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "size",                                            \
                         CUSTOM("pair", 1025, "plus(a, b)", "zero()"));                                                \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "combine", CUSTOM("pair", 8, NULL, "zero()"));     \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "identity",                                        \
                         CUSTOM("pair", 8, "plus(a, b)", NULL));                                                       \
        /* built-in operators do not combine custom types */                                                       \
        TEST_EACH_OP(op, REF_BUILTIN)                                                                                  \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_OPERATOR, "op", CUSTOM("pair", 8, "plus(a, b)", "zero()");   \
                         d.op = (gpuscan_op)op);                                                                       \
    } while (0)
#define CUSTOM(type, size, combine, identity)                                                                          \
    custom = pair_but(type, size, combine, identity);                                                                  \
    d.custom = &custom;                                                                                                \
    d.src_type = GPUSCAN_TYPE_CUSTOM;                                                                                  \
    d.op = GPUSCAN_OP_CUSTOM

static void test_scan_types(void **state) {
    int t;
    cl_uint one = 1;
    (void)state;
    TYPE_REFUSALS(scan);
    for (t = 0; t <= GPUSCAN_TYPE_CUSTOM; t++) {
        REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_ARGMIN;
                         d.src_type = (gpuscan_type)t);
        REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_ARGMAX;
                         d.src_type = d.dst_type = (gpuscan_type)t);
    }
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "kind", d.kind = (gpuscan_scan_kind)2);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "kind", d.kind = (gpuscan_scan_kind)-1);
    REFUSED(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "init", d.init = &one; d.init_buffer = f.scratch);
}

static void test_reduce_types(void **state) {
    cl_uint one = 1, result = 77;
    int arg;
    (void)state;
    TYPE_REFUSALS(reduce);
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "init", d.init = &one; d.init_buffer = f.scratch);
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "result", d.result = &result);
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_BUFFER, "dst", d.dst.mem = NULL);
    assert_int_equal(result, 77);
    TEST_EACH_OP(arg, REF_ARG) {
        static const gpuscan_type wrong[] = {GPUSCAN_TYPE_I8,  GPUSCAN_TYPE_U8,  GPUSCAN_TYPE_I16,
                                             GPUSCAN_TYPE_U16, GPUSCAN_TYPE_I32, GPUSCAN_TYPE_I64,
                                             GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_CUSTOM};
        gpuscan_custom custom;
        size_t t;
        for (t = 0; t < sizeof wrong / sizeof *wrong; t++)
            REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_TYPE, "dst_type", d.op = (gpuscan_op)arg;
                             d.dst_type = wrong[t]; d.custom = &pair);
        REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_TYPE, "ARGMIN", CUSTOM("pair", 8, "plus(a, b)", "zero()");
                         d.op = (gpuscan_op)arg);
        REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_TYPE, "convert", CUSTOM("pair", 8, "plus(a, b)", "zero()");
                         d.dst_type = GPUSCAN_TYPE_U32);
        /* conversions that an index would not use; other custom members are ignored */
        for (t = GPUSCAN_TYPE_I8; t < GPUSCAN_TYPE_CUSTOM; t++)
            if (t != GPUSCAN_TYPE_F64 || test.info.has_f64)
                REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "convert", d.op = (gpuscan_op)arg;
                                 custom = pair; custom.convert = "x + 1"; d.custom = &custom;
                                 d.src_type = (gpuscan_type)t; d.src = f.scratch);
        ACCEPTED(reduce, d.op = (gpuscan_op)arg; d.custom = &pair; d.dst_type = GPUSCAN_TYPE_U32);
        REFUSED(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "init", d.op = (gpuscan_op)arg; d.init = &one);
        REFUSED(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "init", d.op = (gpuscan_op)arg; d.init_buffer = f.scratch);
    }
}

static void test_uniform_add_types(void **state) {
    int t;
    gpuscan_custom custom;
    int op;
    (void)state;
#define ADD_CUSTOM(name, size, combine, identity)                                                                      \
    custom = pair_but(name, size, combine, identity);                                                                  \
    d.custom = &custom;                                                                                                \
    d.type = GPUSCAN_TYPE_CUSTOM;                                                                                      \
    d.op = GPUSCAN_OP_CUSTOM
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "type", d.type = GPUSCAN_TYPE_COUNT);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "type", d.type = no_type(-1));
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "op", d.op = GPUSCAN_OP_COUNT);
    /* the custom of the scan whose second step this is */
    custom = pair;
    custom.convert = "no_such_function(x)";
    ACCEPTED(uniform_add, d.custom = &custom);
    for (t = 0; t <= GPUSCAN_TYPE_CUSTOM; t++) {
        REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_ARGMIN;
                         d.type = (gpuscan_type)t);
        REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_ARGMAX;
                         d.type = (gpuscan_type)t);
    }
    TEST_EACH_OP(op, REF_BITS)
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = (gpuscan_op)op;
                     d.type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.op = GPUSCAN_OP_CUSTOM);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "type", ADD_CUSTOM(NULL, 8, "plus(a, b)", "zero()"));
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "size",
                     ADD_CUSTOM("pair", 0, "plus(a, b)", "zero()"));
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "size",
                     ADD_CUSTOM("pair", 1025, "plus(a, b)", "zero()"));
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "combine", ADD_CUSTOM("pair", 8, NULL, "zero()"));
    TEST_EACH_OP(op, REF_BUILTIN)
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_OPERATOR, "op", ADD_CUSTOM("pair", 8, "plus(a, b)", "zero()");
                     d.op = (gpuscan_op)op);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_INVALID_ARGUMENT, "block", d.block = 0);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "strategy",
                     d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "strategy",
                     d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "strategy",
                     d.call.strategy = GPUSCAN_STRATEGY_CPU_SINGLE_PASS);
}

static void test_histogram_types(void **state) {
    static const gpuscan_type no_counters[] = {GPUSCAN_TYPE_I8,  GPUSCAN_TYPE_U8,    GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U16,
                                               GPUSCAN_TYPE_I32, GPUSCAN_TYPE_I64,   GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32,
                                               GPUSCAN_TYPE_F64, GPUSCAN_TYPE_CUSTOM};
    static const gpuscan_type no_weights[] = {GPUSCAN_TYPE_I8,  GPUSCAN_TYPE_I16,   GPUSCAN_TYPE_I32,
                                              GPUSCAN_TYPE_I64, GPUSCAN_TYPE_F16,   GPUSCAN_TYPE_F32,
                                              GPUSCAN_TYPE_F64, GPUSCAN_TYPE_CUSTOM};
    static const gpuscan_type floats[] = {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64};
    size_t t;
    static const gpuscan_custom value = {NULL, NULL, 0, NULL, NULL, "x", NULL, NULL, NULL};
    static const gpuscan_custom wrong_value = {NULL, NULL, 0, NULL, NULL, "no_such_name", NULL, NULL, NULL};
    static const gpuscan_bound bounds[] = {{0}, {9}, {7}, {7}}; /* the second channel's range is empty */
    gpuscan_custom of_pair = pair, of_wrong_pair;
    (void)state;
    of_pair.convert = "x.a";
    of_wrong_pair = of_pair;
    of_wrong_pair.size = 4;
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_TYPE, "sample_type", d.sample_type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "sample_type", d.sample_type = GPUSCAN_TYPE_COUNT);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "sample_type", d.sample_type = no_type(-7));
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "counter_type", d.counter_type = no_type(99));
    for (t = 0; t < sizeof no_counters / sizeof *no_counters; t++)
        REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_TYPE, "counter_type", d.counter_type = no_counters[t]);
    for (t = 0; t < sizeof no_weights / sizeof *no_weights; t++)
        REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_TYPE, "weight_type", d.weight_type = no_weights[t];
                         d.weights = f.scratch);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "weight_type", d.weight_type = no_type(99);
                     d.weights = f.scratch);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "form", d.form = (gpuscan_bins)3);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "form", d.form = (gpuscan_bins)-1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "outside", d.outside = (gpuscan_outside)3);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "outside", d.outside = (gpuscan_outside)-1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channels", d.channels = 5);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channels", d.channels = UINT32_MAX);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channel_bounds", d.channel_bounds = bounds;
                     d.upper.u = 5);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channel_bounds", d.channel_bounds = bounds;
                     d.form = GPUSCAN_BINS_EDGES; d.edges = f.scratch);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.channel_bounds = bounds; d.channels = 2);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "edges_pitch", d.edges_pitch = BINS + 1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "edges_pitch", d.edges_pitch = BINS;
                     d.form = GPUSCAN_BINS_EDGES; d.edges = f.scratch);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "edges_pitch", d.edges_pitch = UINT64_MAX / 2;
                     d.form = GPUSCAN_BINS_EDGES; d.edges = f.scratch; d.channels = 3; d.count = 1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "value_type", d.value_type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "value_type", d.value_type = no_type(99);
                     d.custom = &value);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_TYPE, "value_type", d.value_type = GPUSCAN_TYPE_CUSTOM;
                     d.custom = &value);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_TYPE, "sample_type", d.sample_type = GPUSCAN_TYPE_CUSTOM;
                     d.custom = &value);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_TYPE, "form", d.form = GPUSCAN_BINS_VALUES; d.custom = &value;
                     d.value_type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->type", d.sample_type = GPUSCAN_TYPE_CUSTOM;
                     d.value_type = GPUSCAN_TYPE_U8; d.custom = &value);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channels", d.sample_type = GPUSCAN_TYPE_CUSTOM;
                     d.value_type = GPUSCAN_TYPE_U8; d.custom = &of_pair; d.channels = 2);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channel_mask", d.custom = &value; d.channels = 3;
                     d.channel_mask = 1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channel_mask", d.weight = "i"; d.channel_mask = 1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "weight", d.weight = "i"; d.channels = 2);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "weight", d.weight = "i"; d.weights = f.scratch);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_CUSTOM_SOURCE, "log", d.weight = "no_such_name");
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_CUSTOM_SOURCE, "log", d.custom = &wrong_value);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_CUSTOM_SIZE, "size", d.sample_type = GPUSCAN_TYPE_CUSTOM;
                     d.value_type = GPUSCAN_TYPE_U8; d.custom = &of_wrong_pair; d.count = 4);
    if (!test_has_type(GPUSCAN_TYPE_F64))
        REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "value_type", d.value_type = GPUSCAN_TYPE_F64;
                         d.custom = &value);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channel_mask", d.channel_mask = 2);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channel_mask", d.channels = 3; d.channel_mask = 8);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "channel_mask", d.channels = 4;
                     d.channel_mask = UINT32_MAX);
    for (t = 0; t < sizeof floats / sizeof *floats; t++)
        if (test_has_type(floats[t]))
            REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_TYPE, "form", d.form = GPUSCAN_BINS_VALUES;
                             d.sample_type = floats[t]);
}

static void test_histogram_bins(void **state) {
    int i, t;
    (void)state;
    /* empty ranges */
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.lower.u = 5; d.upper.u = 5);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.lower.u = 6; d.upper.u = 5);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_I32; d.lower.i = 5;
                     d.upper.i = -5);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_U64;
                     d.lower.u = UINT64_MAX; d.upper.u = UINT64_MAX);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 1;
                     d.upper.f = 1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 1;
                     d.upper.f = -1);
    /* equal once rounded to the sample type */
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 1;
                     d.upper.f = 1 + 1e-12);
    for (i = 0; i < 5; i++) { /* NaNs of both signs, quiet and signalling; infinity */
        static const uint64_t no_numbers[] = {UINT64_C(0x7FF8) << 48, UINT64_C(0xFFF8) << 48,
                                              (UINT64_C(0x7FF) << 52) + 1, UINT64_MAX, UINT64_C(0xFFF) << 52};
        for (t = 0; t < (test.info.has_f64 ? 2 : 1); t++) {
            REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "lower",
                             d.sample_type = t ? GPUSCAN_TYPE_F64 : GPUSCAN_TYPE_F32; d.lower.u = no_numbers[i];
                             d.upper.f = 1);
            REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper",
                             d.sample_type = t ? GPUSCAN_TYPE_F64 : GPUSCAN_TYPE_F16; d.lower.f = -1;
                             d.upper.u = no_numbers[i]);
        }
    }
    /* zeros of both signs: the default range */
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = -0.0);
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F32; d.upper.f = -0.0);
    /* NaN or infinite */
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "lower", d.sample_type = GPUSCAN_TYPE_F32;
                     d.lower.f = (double)NAN; d.upper.f = 1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 0;
                     d.upper.f = (double)NAN);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 0;
                     d.upper.f = (double)INFINITY);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "lower", d.sample_type = GPUSCAN_TYPE_F32;
                     d.lower.f = -(double)INFINITY; d.upper.f = 0);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 0;
                     d.upper.f = 1e300); /* infinite as f32 */
    /* steps below the type's normal numbers; steps below the distance of neighbours merely leave bins empty */
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 0;
                     d.upper.f = 1e-37; d.bins = 256);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F16; d.lower.f = 0;
                     d.upper.f = 1e-37; d.bins = 256);
    if (test.info.has_f64) {
        REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "upper", d.sample_type = GPUSCAN_TYPE_F64;
                         d.lower.f = 0; d.upper.f = 1e-307; d.bins = 256);
        ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F64; d.lower.f = 1; d.upper.f = 1 + 8 * DBL_EPSILON;
                 d.bins = 64);
        ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F64; d.lower.f = 0; d.upper.f = 1e-37; d.bins = 256);
    }
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 1; d.upper.f = 1 + 8.0 / (1 << 23); d.bins = 64);
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = 1; d.upper.f = 1 + 8.0 / (1 << 23); d.bins = 8);
    ACCEPTED(histogram, d.sample_type = GPUSCAN_TYPE_F32; d.lower.f = -(double)FLT_MAX; d.upper.f = (double)FLT_MAX);
}

/* ---- select ------------------------------------------------------------------------------------------------------ */

static gpuscan_payload one_payload[9];

static const gpuscan_payload *payload_of(size_t size, gpuscan_buffer src, gpuscan_buffer dst) {
    memset(one_payload, 0, sizeof one_payload);
    one_payload[0].src = src;
    one_payload[0].dst = dst;
    one_payload[0].size = size;
    return one_payload;
}

static void test_select_buffers(void **state) {
    const uint64_t last = (1 << 18) - N;
    (void)state;
    BUFFER_REFUSALS(select, src, 4, f.write_only);
    BUFFER_REFUSALS(select, dst, 4, f.read_only);
    BUFFER_REFUSALS(select, flags, 4, f.write_only);
    BUFFER_REFUSALS(select, indices, 4, f.read_only);
    BUFFER_REFUSALS(select, selected.count, 4, f.read_only);
    BUFFER_REFUSALS(select, selected.dispatch, 4, f.read_only);
    LAST_FIT(select, src, N);
    LAST_FIT(select, dst, N);
    LAST_FIT(select, flags, N);
    LAST_FIT(select, indices, N);
    LAST_FIT(select, selected.count, 1);
    LAST_FIT(select, selected.dispatch, 3);
    REFUSED(select, GPUSCAN_ERROR_INVALID_BUFFER, "src", d.src.mem = NULL);
    REFUSED(select, GPUSCAN_ERROR_INVALID_BUFFER, "flags", d.flags.mem = NULL);
    ACCEPTED(select, d.src.mem = NULL; d.dst.mem = NULL; d.indices = f.scratch); /* nothing reads src */
    ACCEPTED(select, d.dst.mem = NULL; d.selected.count = f.parts);
    REFUSED(select, GPUSCAN_ERROR_INVALID_BUFFER, "output", d.dst.mem = NULL);
    /* capacity, words of bits, other sizes */
    ACCEPTED(select, d.dst = at(f.scratch, last + N - 3); d.capacity = 3);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, last + N - 3); d.capacity = 4);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, last + 1); d.capacity = UINT64_MAX);
    ACCEPTED(select, d.flags = at(f.scratch, last + N - (N + 31) / 32); d.by = GPUSCAN_SELECT_BITS);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "flags", d.flags = at(f.scratch, last + N - (N + 31) / 32 + 1);
            d.by = GPUSCAN_SELECT_BITS);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "indices", d.indices = at(f.scratch, (1 << 17) - N + 1);
            d.index_type = GPUSCAN_TYPE_U64);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "selected.count", d.selected.count = at(f.scratch, 1 << 17);
            d.selected.count_type = GPUSCAN_TYPE_U64);
    ACCEPTED(select, d.payloads = payload_of(12, f.scratch, at(f.scratch, N)); d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "payloads[0].dst",
            d.payloads = payload_of(1024, f.scratch, at(f.scratch, 1024 - N + 1)); d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "payloads[0].src",
            d.payloads = payload_of(1024, at(f.scratch, 1024 - N + 1), f.parts); d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_INVALID_BUFFER, "payloads[0].dst", d.payloads = payload_of(4, f.scratch, none);
            d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_ACCESS, "payloads[0].dst",
            d.payloads = payload_of(4, f.scratch, f.read_only); d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_INVALID_CONTEXT, "payloads[0].src",
            d.payloads = payload_of(4, f.foreign, f.scratch); d.payload_count = 1);
    ACCEPTED(select, d.src = d.flags = f.read_only; d.dst = f.write_only);
}

static void test_select_types(void **state) {
    static const gpuscan_custom none_of_it = {NULL, NULL, 8, NULL, NULL, NULL, NULL, NULL, NULL};
    static const gpuscan_custom sized = {NULL, NULL, 0, NULL, NULL, NULL, "x", NULL, NULL};
    static const gpuscan_custom wrong = {NULL, NULL, 0, NULL, NULL, NULL, "x + no_such_name", NULL, NULL};
    (void)state;
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "type", d.type = no_type(99));
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "flag_type", d.flag_type = no_type(-3));
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_TYPE, "flag_type", d.flag_type = GPUSCAN_TYPE_I32);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_TYPE, "flag_type", d.flag_type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_TYPE, "flag_type", d.flag_type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_TYPE, "flag_type", d.by = GPUSCAN_SELECT_BITS;
                     d.flag_type = GPUSCAN_TYPE_U8);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "by", d.by = (gpuscan_select_by)3);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "by", d.by = (gpuscan_select_by)-1);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "index_type", d.index_type = no_type(99));
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_TYPE, "index_type", d.index_type = GPUSCAN_TYPE_I32);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_TYPE, "selected.count_type",
                     d.selected.count_type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "selected.count_type",
                     d.selected.count_type = no_type(40));
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->size", d.type = GPUSCAN_TYPE_CUSTOM;
                     d.custom = &sized);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.by = GPUSCAN_SELECT_PREDICATE;
                     d.flags = none; d.flag_type = GPUSCAN_TYPE_DEFAULT);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->select", d.by = GPUSCAN_SELECT_PREDICATE;
                     d.flags = none; d.flag_type = GPUSCAN_TYPE_DEFAULT; d.custom = &none_of_it);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "flags", d.by = GPUSCAN_SELECT_PREDICATE;
                     d.custom = &sized);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_CUSTOM_SOURCE, "no_such_name", d.by = GPUSCAN_SELECT_PREDICATE;
                     d.flags = none; d.flag_type = GPUSCAN_TYPE_DEFAULT; d.custom = &wrong);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "payload_count", d.payloads = one_payload;
                     d.payload_count = 9);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads", d.payload_count = 1);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads[0].size",
                     d.payloads = payload_of(0, f.scratch, f.parts); d.payload_count = 1);
    REFUSED_ANYWHERE(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads[0].size",
                     d.payloads = payload_of(1025, f.scratch, f.parts); d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_indices", d.host_indices = one_payload);
    /* only moved: f64 needs no support, a custom type no name or predicate */
    ACCEPTED(select, d.type = GPUSCAN_TYPE_CUSTOM; d.custom = &none_of_it; d.src = f.scratch; d.dst = f.parts);
    ACCEPTED(select, d.type = GPUSCAN_TYPE_F64; d.src = f.scratch; d.dst = f.parts);
}

static void test_select_overflow(void **state) {
    const uint64_t half = UINT64_C(1) << 63;
    (void)state;
    REFUSED(select, GPUSCAN_ERROR_SIZE_OVERFLOW, "", d.count = UINT64_MAX);
    REFUSED(select, GPUSCAN_ERROR_SIZE_OVERFLOW, "", d.count = half);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "", d.count = (half >> 2) - 1; d.src.offset = d.dst.offset = 0);
    REFUSED(select, GPUSCAN_ERROR_SIZE_OVERFLOW, "indices", d.count = half >> 2; d.type = GPUSCAN_TYPE_U8;
            d.flag_type = GPUSCAN_TYPE_U8; d.indices = f.scratch; d.index_type = GPUSCAN_TYPE_U64);
    REFUSED(select, GPUSCAN_ERROR_SIZE_OVERFLOW, "index_type", d.count = (UINT64_C(1) << 32) + 1;
            d.indices = f.scratch);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "", d.count = UINT64_C(1) << 32; d.indices = f.scratch);
    REFUSED(select, GPUSCAN_ERROR_SIZE_OVERFLOW, "selected.count_type", d.count = UINT64_C(1) << 32;
            d.selected.count = f.scratch);
    REFUSED(select, GPUSCAN_ERROR_SIZE_OVERFLOW, "selected.dispatch", d.count = UINT64_C(1) << 32;
            d.selected.dispatch = f.scratch; d.selected.dispatch_items = d.selected.dispatch_limit = 1);
    REFUSED(select, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "", d.count = UINT32_MAX; d.selected.dispatch = f.scratch;
            d.selected.dispatch_items = d.selected.dispatch_limit = 1);
    REFUSED(select, GPUSCAN_ERROR_SIZE_OVERFLOW, "payloads[0].src", d.count = half >> 5;
            d.payloads = payload_of(64, f.scratch, f.parts); d.payload_count = 1);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void test_runs_buffers(void **state) {
    const uint64_t last = (1 << 18) - N;
    (void)state;
    BUFFER_REFUSALS(runs, keys, 4, f.write_only);
    BUFFER_REFUSALS(runs, src, 4, f.write_only);
    BUFFER_REFUSALS(runs, keys_dst, 4, f.read_only);
    BUFFER_REFUSALS(runs, starts, 4, f.read_only);
    BUFFER_REFUSALS(runs, lengths, 4, f.read_only);
    BUFFER_REFUSALS(runs, dst, 4, f.read_only);
    BUFFER_REFUSALS(runs, runs.count, 4, f.read_only);
    BUFFER_REFUSALS(runs, runs.dispatch, 4, f.read_only);
    BUFFER_REFUSALS(runs, count_buffer, 4, f.write_only);
    LAST_FIT(runs, keys, N);
    LAST_FIT(runs, src, N);
    LAST_FIT(runs, keys_dst, N);
    LAST_FIT(runs, starts, N);
    LAST_FIT(runs, lengths, N);
    LAST_FIT(runs, dst, N);
    LAST_FIT(runs, runs.count, 1);
    LAST_FIT(runs, runs.dispatch, 3);
    REFUSED(runs, GPUSCAN_ERROR_INVALID_BUFFER, "keys", d.keys.mem = NULL);
    REFUSED(runs, GPUSCAN_ERROR_INVALID_BUFFER, "src", d.src.mem = NULL);
    ACCEPTED(runs, d.src.mem = d.dst.mem = NULL);
    ACCEPTED(runs, d.dst.mem = NULL); /* nothing reads src */
    ACCEPTED(runs, d.keys_dst.mem = NULL);
    ACCEPTED(runs, d.keys_dst.mem = d.dst.mem = NULL; d.runs.count = f.parts);
    REFUSED(runs, GPUSCAN_ERROR_INVALID_BUFFER, "output", d.keys_dst.mem = d.dst.mem = NULL);
    ACCEPTED(runs, d.keys.mem = d.src.mem = NULL; d.count = 0);
    /* capacity, other sizes */
    ACCEPTED(runs, d.keys_dst = at(f.scratch, last + N - 3); d.capacity = 3);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "keys_dst", d.keys_dst = at(f.scratch, last + N - 3); d.capacity = 4);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "starts", d.starts = at(f.scratch, (1 << 17) - N + 1);
            d.index_type = GPUSCAN_TYPE_U64);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "lengths", d.lengths = at(f.scratch, (1 << 17) - N + 1);
            d.index_type = GPUSCAN_TYPE_U64);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 17) - N + 1);
            d.dst_type = GPUSCAN_TYPE_U64);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.src = at(f.scratch, (1 << 17) - N + 1);
            d.src_type = GPUSCAN_TYPE_U64; d.dst_type = GPUSCAN_TYPE_U32);
    ACCEPTED(runs, d.payloads = payload_of(12, f.scratch, at(f.scratch, N)); d.payload_count = 1);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "payloads[0].dst",
            d.payloads = payload_of(1024, f.scratch, at(f.scratch, 1024 - N + 1)); d.payload_count = 1);
    REFUSED(runs, GPUSCAN_ERROR_INVALID_BUFFER, "payloads[0].src", d.payloads = payload_of(4, none, f.scratch);
            d.payload_count = 1);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_ACCESS, "payloads[0].dst", d.payloads = payload_of(4, f.scratch, f.read_only);
            d.payload_count = 1);
    ACCEPTED(runs, d.keys = d.src = f.read_only; d.keys_dst = f.write_only);
}

static void test_runs_types(void **state) {
    static const gpuscan_custom none_of_it = {NULL, "uint", 4, NULL, NULL, NULL, NULL, NULL, NULL};
    static const gpuscan_custom unsized = {NULL, "uint", 0, NULL, NULL, NULL, NULL, "a == b", NULL};
    static const gpuscan_custom nameless = {NULL, NULL, 4, NULL, NULL, NULL, NULL, "a == b", NULL};
    static const gpuscan_custom wrong = {NULL, "uint", 4, NULL, NULL, NULL, NULL, "a == no_such_name", NULL};
    static const gpuscan_custom large = {NULL, "uint", 8, NULL, NULL, NULL, NULL, "a == b", NULL};
    static const gpuscan_custom equal = {NULL, "uint", 4, NULL, NULL, NULL, NULL, "a == b", NULL};
    (void)state;
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "key_type", d.key_type = no_type(99));
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_type", d.src_type = no_type(-3));
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_type", d.dst_type = no_type(77));
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "op", d.op = (gpuscan_op)99);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_ARGMIN);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_ARGMAX);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_XOR; d.dst_type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.op = GPUSCAN_OP_CUSTOM);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.key_type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->equal", d.key_type = GPUSCAN_TYPE_CUSTOM;
                     d.custom = &none_of_it);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->size", d.key_type = GPUSCAN_TYPE_CUSTOM;
                     d.custom = &unsized);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->type", d.key_type = GPUSCAN_TYPE_CUSTOM;
                     d.custom = &nameless);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "bitwise", d.key_type = GPUSCAN_TYPE_CUSTOM;
                     d.custom = &equal; d.bitwise = 1);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_CUSTOM_SOURCE, "no_such_name", d.key_type = GPUSCAN_TYPE_CUSTOM;
                     d.custom = &wrong);
    REFUSED(runs, GPUSCAN_ERROR_CUSTOM_SIZE, "custom->size", d.key_type = GPUSCAN_TYPE_CUSTOM; d.custom = &large;
            d.keys = f.scratch; d.keys_dst = f.parts);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "index_type", d.index_type = no_type(99));
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_TYPE, "index_type", d.index_type = GPUSCAN_TYPE_I32);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_TYPE, "count_type", d.count_type = GPUSCAN_TYPE_I32);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_TYPE, "runs.count_type", d.runs.count_type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "runs.count_type", d.runs.count_type = no_type(40));
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "payload_count", d.payloads = one_payload;
                     d.payload_count = 9);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads", d.payload_count = 1);
    REFUSED_ANYWHERE(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads[0].size",
                     d.payloads = payload_of(1025, f.scratch, f.parts); d.payload_count = 1);
    REFUSED(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_src", d.host_src = one_payload);
    REFUSED(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_starts", d.host_starts = one_payload);
    REFUSED(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_lengths", d.host_lengths = one_payload);
    REFUSED(runs, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_dst", d.host_dst = one_payload);
    ACCEPTED(runs, d.key_type = GPUSCAN_TYPE_CUSTOM; d.custom = &equal);
    ACCEPTED(runs, d.bitwise = 1);
    /* keys are only compared and moved: f64 is not needed */
    ACCEPTED(runs, d.key_type = GPUSCAN_TYPE_F64; d.keys = f.scratch; d.keys_dst = f.parts);
}

static void test_runs_overflow(void **state) {
    const uint64_t half = UINT64_C(1) << 63;
    (void)state;
    REFUSED(runs, GPUSCAN_ERROR_SIZE_OVERFLOW, "", d.count = UINT64_MAX);
    REFUSED(runs, GPUSCAN_ERROR_SIZE_OVERFLOW, "", d.count = half);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "",
            d.count = (half >> 2) - 1; d.keys.offset = d.src.offset = d.keys_dst.offset = d.dst.offset = 0);
    REFUSED(runs, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.count = half >> 2; d.key_type = d.src_type = GPUSCAN_TYPE_U8;
            d.dst_type = GPUSCAN_TYPE_U64);
    REFUSED(runs, GPUSCAN_ERROR_SIZE_OVERFLOW, "index_type", d.count = (UINT64_C(1) << 32) + 1; d.starts = f.scratch);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "", d.count = UINT64_C(1) << 32; d.starts = f.scratch);
    REFUSED(runs, GPUSCAN_ERROR_SIZE_OVERFLOW, "index_type", d.count = UINT64_C(1) << 32; d.lengths = f.scratch);
    REFUSED(runs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "", d.count = UINT32_MAX; d.lengths = f.scratch);
    REFUSED(runs, GPUSCAN_ERROR_SIZE_OVERFLOW, "runs.count_type", d.count = UINT64_C(1) << 32;
            d.runs.count = f.scratch);
    REFUSED(runs, GPUSCAN_ERROR_SIZE_OVERFLOW, "runs.dispatch", d.count = UINT64_C(1) << 32;
            d.runs.dispatch = f.scratch; d.runs.dispatch_items = d.runs.dispatch_limit = 1);
    REFUSED(runs, GPUSCAN_ERROR_SIZE_OVERFLOW, "payloads[0].src", d.count = half >> 5;
            d.payloads = payload_of(64, f.scratch, f.parts); d.payload_count = 1);
}

/* ---- pitches, rows and sizes near the end of 64 bits ------------------------------------------------------------- */

static void test_pitches(void **state) {
    const uint64_t end = 1 << 20;
    (void)state;
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch", d.src_pitch = N - 1; d.rows = 2);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_pitch", d.dst_pitch = N - 1; d.rows = 2);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_pitch", d.dst_pitch = 1);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitch", d.pitch = N - 1; d.rows = 2);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "weights_pitch", d.weights_pitch = N - 1; d.rows = 2;
                     d.weights = f.scratch);
    ACCEPTED(scan, d.reverse = 1);
    ACCEPTED(scan, d.reverse = 1; d.src_pitch = N; d.dst_pitch = N + 1; d.rows = 2; d.src = f.scratch);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "reverse", d.reverse = 2);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "reverse", d.reverse = UINT32_MAX);
#define ALONG(...) d.along = GPUSCAN_ALONG_COLUMNS; d.rows = N / 4; d.count = 4; __VA_ARGS__
    ACCEPTED(scan, ALONG(d.reverse = 1));
    ACCEPTED(scan, ALONG(d.src_pitch = N / 4 + 1; d.dst_pitch_bytes = N; d.src = f.scratch));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "along", d.along = (gpuscan_along)2);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch", ALONG(d.src_pitch = N / 4 - 1));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_pitch_bytes", ALONG(d.dst_pitch_bytes = N - 4));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", ALONG(d.src_pitch = UINT64_MAX / 4));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", ALONG(d.dst_pitch = UINT64_MAX / 8));
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", ALONG(d.count = 4 * end));
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "total", ALONG(d.total = f.tiny));
#undef ALONG
    ACCEPTED(scan, d.src_pitch = N; d.dst_pitch = N + 1; d.rows = 2; d.src = f.scratch);
    ACCEPTED(scan, d.src_pitch_bytes = 4 * N; d.dst_pitch_bytes = 4 * N + 4; d.rows = 2; d.src = f.scratch);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch_bytes",
                     d.src_pitch_bytes = 4 * N - 4; d.rows = 2);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_pitch_bytes",
                     d.dst_pitch_bytes = 4 * N + 2; d.rows = 2);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "both", d.src_pitch_bytes = 4 * N; d.src_pitch = N);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "both", d.dst_pitch_bytes = 4 * N; d.dst_pitch = N);
    ACCEPTED(histogram, d.pitch = N; d.rows = 2; d.samples = f.scratch);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitch_bytes", d.pitch_bytes = N - 1; d.rows = 2);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitch_bytes", d.pitch_bytes = N + 1; d.rows = 2;
                     d.pitch = N);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitch_bytes", d.pitch_bytes = 3 * N - 1;
                     d.channels = 3; d.count = N);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitch_bytes", d.pitch_bytes = 4 * N + 2;
                     d.sample_type = GPUSCAN_TYPE_F32; d.rows = 2; d.count = N / 2);
    ACCEPTED(histogram, d.count = 101; d.rows = 3; d.channels = 3; d.pitch_bytes = 304; d.samples = f.scratch);
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "samples", d.count = 101; d.rows = 3; d.channels = 3;
            d.pitch_bytes = 304; d.samples = at(f.scratch, end - (2 * 304 + 303) + 1));
    ACCEPTED(histogram, d.count = 101; d.rows = 3; d.channels = 3; d.pitch_bytes = 304;
             d.samples = at(f.scratch, end - (2 * 304 + 303)));
    /* one histogram a picture tile, 3 x 2 tiles */
    ACCEPTED(histogram, d.count = N - 1; d.rows = 3; d.samples = f.scratch; d.tile_width = N / 3; d.tile_height = 2;
             d.bins = 4; d.counts = at(f.scratch, end / 4 - 6 * 4));
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts", d.count = N - 1; d.rows = 3; d.samples = f.scratch;
            d.tile_width = N / 3; d.tile_height = 2; d.bins = 4; d.counts = at(f.scratch, end / 4 - 6 * 4 + 1));
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "tile", d.tile_width = 1; d.tile_height = 1;
                     d.rows = UINT64_MAX / N; d.bins = 536870909);
}

static void test_scan_overflow(void **state) {
    const uint64_t half = UINT64_C(1) << 63;
    (void)state;
    /* one element below an overflow: only too large for the buffer */
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.count = (half >> 2) - 1; d.dst.offset = 0);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half >> 1);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = UINT64_MAX);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.src.offset = UINT64_MAX - N + 1);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.dst.offset = UINT64_MAX - N + 1);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.src_type = GPUSCAN_TYPE_U8; d.src.offset = UINT64_MAX - N + 1);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.rows = 3; d.dst_pitch = half);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.rows = 3; d.src_pitch = half);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "pitch", d.rows = half; d.dst_pitch = UINT64_MAX; d.src_pitch = N);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "rows", d.rows = UINT64_MAX);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "rows", d.rows = half);
    /* 2^64 + 8 would wrap around to 8 */
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.rows = 2; d.dst_pitch = UINT64_MAX - N + 9);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.rows = 5; d.src_pitch = half >> 1);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "total", d.total = at(f.scratch, UINT64_MAX - 1); d.rows = 2);
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "", d.count = 0; d.rows = UINT64_MAX; d.total = at(f.scratch, 2));
}

/* Segments of a scan. BY: the correct call with segments of a form; offsets are in f.parts. */
#define BY(by, of, ...)                                                                                                \
    d.segments.form = GPUSCAN_SEGMENTS_##by;                                                                           \
    d.segments.data = of;                                                                                              \
    d.segments.count = d.segments.form == GPUSCAN_SEGMENTS_OFFSETS ? 10 : 0;                                           \
    __VA_ARGS__
static void test_scan_segments(void **state) {
    uint32_t numbers[2] = {0, 1};
    int      type;
    (void)state;
    ACCEPTED(scan, BY(OFFSETS, f.parts, (void)0));
    ACCEPTED(scan, BY(OFFSETS, f.parts, d.segments.type = GPUSCAN_TYPE_U64));
    ACCEPTED(scan, BY(OFFSETS, none, d.segments.count = 0));
    ACCEPTED(scan, BY(HEADS, f.parts, (void)0));
    ACCEPTED(scan, BY(KEYS, f.parts, (void)0));
    ACCEPTED(scan, BY(KEYS, f.parts, d.rows = 1));
    ACCEPTED(scan, BY(HEADS, f.parts, d.reverse = 1));
    for (type = GPUSCAN_TYPE_DEFAULT; type < GPUSCAN_TYPE_CUSTOM; type++) {
        ACCEPTED(scan, BY(KEYS, f.parts, d.segments.type = (gpuscan_type)type; d.count = N / 2));
        if (type == GPUSCAN_TYPE_U8 || type == GPUSCAN_TYPE_U16 || type == GPUSCAN_TYPE_U32 || type == GPUSCAN_TYPE_U64)
            ACCEPTED(scan, BY(HEADS, f.parts, d.segments.type = (gpuscan_type)type; d.count = N / 2));
        else if (type != GPUSCAN_TYPE_DEFAULT)
            REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_TYPE, "segments.type",
                             BY(HEADS, f.parts, d.segments.type = (gpuscan_type)type));
    }
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments", BY(NONE, f.parts, (void)0));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments", d.segments.count = 1);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments", d.segments.data.offset = 1);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments", d.segments.host_data = numbers);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.form",
                     BY(KEYS, f.parts, d.segments.form = (gpuscan_segment_form)4));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.form",
                     BY(KEYS, f.parts, d.segments.form = (gpuscan_segment_form)-1));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "rows", BY(KEYS, f.parts, d.rows = 2; d.count = 10));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitches", BY(HEADS, f.parts, d.src_pitch = N));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitches", BY(HEADS, f.parts, d.dst_pitch_bytes = 4 * N));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitches", BY(OFFSETS, f.parts, d.dst_pitch = N));
    REFUSED(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "total", BY(KEYS, f.parts, d.total = at(f.scratch, 2)));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_TYPE, "segments.type",
                     BY(OFFSETS, f.parts, d.segments.type = GPUSCAN_TYPE_I32));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_TYPE, "segments.type",
                     BY(KEYS, f.parts, d.segments.type = GPUSCAN_TYPE_CUSTOM));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_TYPE, "segments.type",
                     BY(HEADS, f.parts, d.segments.type = GPUSCAN_TYPE_CUSTOM));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.type",
                     BY(KEYS, f.parts, d.segments.type = no_type(99)));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.count", BY(KEYS, f.parts, d.segments.count = 1));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.count", BY(HEADS, f.parts, d.segments.count = 1));
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "segments.count",
                     BY(OFFSETS, f.parts, d.segments.count = UINT64_MAX));
    REFUSED(scan, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_data", BY(KEYS, f.parts, d.segments.host_data = numbers));
    REFUSED(scan, GPUSCAN_ERROR_INVALID_BUFFER, "segments.data", BY(OFFSETS, none, (void)0));
    REFUSED(scan, GPUSCAN_ERROR_INVALID_BUFFER, "segments.data", BY(KEYS, none, (void)0));
    REFUSED(scan, GPUSCAN_ERROR_INVALID_BUFFER, "segments.data", BY(HEADS, none, (void)0));
    REFUSED(scan, GPUSCAN_ERROR_INVALID_CONTEXT, "segments.data", BY(KEYS, f.foreign, (void)0));
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_ACCESS, "segments.data", BY(HEADS, f.write_only, (void)0));
    REFUSED(scan, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "segments.data", BY(KEYS, f.tiny, (void)0));
    REFUSED(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "segments.data", BY(KEYS, at(f.parts, UINT64_MAX), (void)0));
    REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "dst and segments.data", BY(KEYS, f.out.at, (void)0));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.form", d.segments.form = GPUSCAN_SEGMENTS_KEYS);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.form",
                     d.segments.form = GPUSCAN_SEGMENTS_HEADS);
}

/* Rows, src_pitch and segments of a reduction. CUT: the correct call with 10 segments by offsets in f.parts. */
#define CUT(...)                                                                                                       \
    d.dst = at(f.scratch, 100);                                                                                        \
    d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;                                                                        \
    d.segments.data = f.parts;                                                                                         \
    d.segments.count = 10;                                                                                             \
    __VA_ARGS__
static void test_reduce_segments(void **state) {
    const uint64_t huge = UINT64_C(1) << 62;
    uint32_t numbers[2] = {0, 1};
    (void)state;
    ACCEPTED(reduce, d.dst = at(f.scratch, 100); d.rows = ROWS; d.count = N / ROWS);
    ACCEPTED(reduce, d.dst = at(f.scratch, 100); d.rows = ROWS; d.count = 10; d.src_pitch = 20);
    ACCEPTED(reduce, d.rows = 1; d.src_pitch = N);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch", d.rows = ROWS; d.src_pitch = N - 1);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch", d.src_pitch = 1);
    REFUSED(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.rows = 1 << 20; d.dst = f.scratch);
    REFUSED(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.rows = 1000000; d.count = 0);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.rows = huge; d.count = 1);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.rows = 5; d.src_pitch = huge);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.rows = UINT64_MAX; d.count = 0);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.rows = huge / 2; d.count = 0);
    REFUSED(reduce, GPUSCAN_ERROR_OVERLAP, "src and dst", d.src = at(f.scratch, 0); d.dst = at(f.scratch, 29);
            d.rows = ROWS; d.count = 10);

    ACCEPTED(reduce, CUT());
    ACCEPTED(reduce, CUT(d.segments.type = GPUSCAN_TYPE_U64));
    ACCEPTED(reduce, CUT(d.segments.count = 0; d.dst = none; d.segments.data = none));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments", CUT(d.segments.form =
                                                                                GPUSCAN_SEGMENTS_NONE));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments", d.segments.count = 1);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments", d.segments.data.offset = 1);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments", d.segments.host_data = numbers);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.form",
                     CUT(d.segments.form = (gpuscan_segment_form)99));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.form",
                     CUT(d.segments.form = (gpuscan_segment_form)-1));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "rows", CUT(d.rows = 2));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "rows", CUT(d.src_pitch = N));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_TYPE, "segments.type", CUT(d.segments.type = GPUSCAN_TYPE_I32));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_TYPE, "segments.type", CUT(d.segments.type = GPUSCAN_TYPE_CUSTOM));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.type", CUT(d.segments.type = no_type(99)));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "segments.count", CUT(d.segments.count = UINT64_MAX));
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "segments.count", CUT(d.segments.count = huge));
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_data", CUT(d.segments.host_data = numbers));
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_BUFFER, "segments.data", CUT(d.segments.data = none));
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_CONTEXT, "segments.data", CUT(d.segments.data = f.foreign));
    REFUSED(reduce, GPUSCAN_ERROR_BUFFER_ACCESS, "segments.data", CUT(d.segments.data = f.write_only));
    REFUSED(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "segments.data", CUT(d.segments.data = f.tiny));
    REFUSED(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "segments.data", CUT(d.segments.data.offset = UINT64_MAX));
    REFUSED(reduce, GPUSCAN_ERROR_OVERLAP, "segments.data and dst", CUT(d.segments.data = at(f.scratch, 109)));
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_BUFFER, "dst", CUT(d.dst = none));
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "init", CUT(d.op = GPUSCAN_OP_ARGMIN; d.init = numbers));
}

static void test_other_overflow(void **state) {
    const uint64_t half = UINT64_C(1) << 63;
    (void)state;
    REFUSED(uniform_add, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = UINT64_MAX);
    REFUSED(uniform_add, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half);
    REFUSED(uniform_add, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half; d.block = half);
    REFUSED(uniform_add, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.dst.offset = UINT64_MAX - 5);
    REFUSED(uniform_add, GPUSCAN_ERROR_SIZE_OVERFLOW, "addend", d.addend.offset = UINT64_MAX - 5);
    REFUSED(uniform_add, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.count = (half >> 2) - 1; d.block = half;
            d.dst.offset = 0);
    REFUSED(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = UINT64_MAX);
    REFUSED(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half);
    REFUSED(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.count = (half >> 2) - 1; d.src.offset = 0);
    REFUSED(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.src.offset = UINT64_MAX - 5);
    REFUSED(reduce, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.dst.offset = UINT64_MAX);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "samples", d.samples.offset = UINT64_MAX);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "samples", d.samples.offset = UINT64_MAX - N + 1);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half; d.channels = 2);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = UINT64_MAX; d.samples.offset = 1);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "samples", d.rows = 3; d.pitch = half);
    ACCEPTED(histogram, d.rows = 1; d.pitch = UINT64_MAX; d.sample_type = GPUSCAN_TYPE_U16);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "rows", d.rows = UINT64_MAX);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "weights", d.weights = f.scratch; d.rows = 3; d.pitch = N;
            d.weights_pitch = half);
    REFUSED(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "counts", d.counts.offset = UINT64_MAX - 3);
    /* the most bins, in 4 channels of 8-byte counters: nothing wraps around in 32 bits */
    REFUSED(histogram, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts", d.bins = 536870909; d.channels = 4;
            d.counter_type = GPUSCAN_TYPE_U64; d.outside = GPUSCAN_OUTSIDE_COUNT; d.samples = f.scratch);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "bins", d.bins = 536870910);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_BINS, "bins", d.bins = UINT32_MAX;
                     d.outside = GPUSCAN_OUTSIDE_COUNT);
}

/* ---- overlaps ---------------------------------------------------------------------------------------------------- */

/* Checks each pair of a written range and another, in one buffer and in sub-buffers of one parent. Ranges that overlap
   by one element are refused; adjacent ranges are accepted. a and b are fields; a begins one element before b ends, or
   where b ends. Sizes are in bytes; all lie within the part that left and right share. */
#define OVERLAPS(operation, a, a_element, b, b_element, b_size, ...)                                                   \
    do {                                                                                                               \
        const uint64_t shared = f.right_begin, ends = shared + (b_size);                                               \
        REFUSED(operation, GPUSCAN_ERROR_OVERLAP, #a, __VA_ARGS__; d.b = at(f.parent.at, shared / (b_element));        \
                d.a = at(f.parent.at, (ends - (a_element)) / (a_element)));                                            \
        REFUSED(operation, GPUSCAN_ERROR_OVERLAP, #b, __VA_ARGS__; d.b = at(f.parent.at, shared / (b_element));        \
                d.a = at(f.parent.at, (ends - (a_element)) / (a_element)));                                            \
        REFUSED(operation, GPUSCAN_ERROR_OVERLAP, #a, __VA_ARGS__;                                                     \
                d.b = at(f.left, (shared - f.left_begin) / (b_element));                                               \
                d.a = at(f.right, (ends - (a_element)-f.right_begin) / (a_element)));                                  \
        REFUSED(operation, GPUSCAN_ERROR_OVERLAP, #a, __VA_ARGS__; d.b = at(f.right, 0);                               \
                d.a = at(f.parent.at, (ends - (a_element)) / (a_element)));                                            \
        REFUSED(operation, GPUSCAN_ERROR_OVERLAP, #a, __VA_ARGS__; d.b = at(f.parent.at, shared / (b_element));        \
                d.a = at(f.left, (ends - (a_element)-f.left_begin) / (a_element)));                                    \
        ACCEPTED(operation, __VA_ARGS__; d.b = at(f.parent.at, shared / (b_element));                                  \
                 d.a = at(f.parent.at, ends / (a_element)));                                                           \
        if (strstr(test.info.platform_name, "NVIDIA")) /* crashes when it releases buffers that overlapped */      \
            break;                                                                                                     \
        ACCEPTED(operation, __VA_ARGS__; d.b = at(f.left, (shared - f.left_begin) / (b_element));                      \
                 d.a = at(f.right, (ends - f.right_begin) / (a_element)));                                             \
    } while (0)

/* Checks that scratch may not overlap a field if the call needs scratch; behind the field it is accepted. */
#define SCRATCH_OVERLAPS(operation, field, ...)                                                                        \
    do {                                                                                                               \
        uint64_t bytes = 0;                                                                                            \
        {                                                                                                              \
            gpuscan_##operation##_desc d = operation##_desc();                                                         \
            __VA_ARGS__;                                                                                               \
            d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;                                                             \
            test_ok(gpuscan_##operation##_scratch_size(test.gs, &d, &bytes));                                          \
        }                                                                                                              \
        if (bytes) {                                                                                                   \
            REFUSED(operation, GPUSCAN_ERROR_OVERLAP, "scratch", __VA_ARGS__;                                          \
                    d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS; d.field = f.scratch; d.call.scratch = f.scratch);   \
            REFUSED(operation, GPUSCAN_ERROR_OVERLAP, #field, __VA_ARGS__;                                             \
                    d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS; d.field = at(f.scratch, 1);                         \
                    d.call.scratch = f.scratch);                                                                       \
            ACCEPTED(operation, __VA_ARGS__; d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS; d.field = f.scratch;       \
                     d.call.scratch = at(f.scratch, 1 << 19));                                                         \
        }                                                                                                              \
    } while (0)

/* Returns whether two ranges share a byte. The rows' sizes and pitches are in bytes. */
static int bytes_meet(uint64_t a, uint64_t a_row, uint64_t a_pitch, uint64_t b, uint64_t b_row, uint64_t b_pitch,
                      uint64_t a_rows, uint64_t b_rows) {
    uint64_t i, k;
    for (i = 0; i < a_rows; i++)
        for (k = 0; k < b_rows; k++)
            if (a + i * a_pitch < b + k * b_pitch + b_row && b + k * b_pitch < a + i * a_pitch + a_row)
                return 1;
    return 0;
}

/* Ranges with rows in each other's gaps. Rows that share a byte must be refused. Otherwise the call is accepted if one
   pitch divides the other and each row keeps its position in it; then the result must be right. */
static void test_rows_in_gaps(void **state) {
    enum { SOME_ROWS = 3, MOST = 64, TRIES = 3000 };
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};
    test_buffer both = test_buffer_new(CL_MEM_READ_WRITE, 8, MOST * SOME_ROWS);
    const gpuscan_strategy forced = (gpuscan_strategy)(1 + test_below(GPUSCAN_STRATEGY_COUNT - 1)); /* one a run */
    unsigned accepted = 0, refused = 0, t;
    (void)state;
    for (t = 0; t < TRIES; t++) {
        unsigned char in[MOST * SOME_ROWS * 8], wanted[MOST * SOME_ROWS * 8];
        const unsigned char *out;
        gpuscan_scan_desc desc;
        uint64_t src_size, dst_size, total_size, r, i;
        int src_dst, total_src, total_dst, same;
        gpuscan_result result;
        memset(&desc, 0, sizeof desc);
        desc.src_type = types[test_below(4)];
        desc.dst_type = types[test_takes_all_strategies() ? test_below(4) : (test.seed + 2 * test_below(2)) % 4];
        src_size = gpuscan_type_size(desc.src_type);
        dst_size = total_size = gpuscan_type_size(desc.dst_type);
        desc.src.mem = desc.dst.mem = desc.total.mem = both.at.mem;
        desc.rows = SOME_ROWS;
        desc.count = 1 + test_below(6);
        desc.src_pitch = (8 + 8 * test_below(3)) * 8 / src_size;
        desc.dst_pitch = test_below(4) ? desc.src_pitch * src_size / dst_size : desc.count + test_below(20);
        desc.src.offset = test_below(16);
        desc.dst.offset = test_below(32);
        desc.total.offset = test_below(48);
        if (desc.src_pitch < desc.count || desc.dst_pitch < desc.count)
            continue;
        desc.call.strategy = test_below(2) ? forced : GPUSCAN_STRATEGY_AUTO;
        src_dst = bytes_meet(desc.src.offset * src_size, desc.count * src_size, desc.src_pitch * src_size,
                             desc.dst.offset * dst_size, desc.count * dst_size, desc.dst_pitch * dst_size, SOME_ROWS,
                             SOME_ROWS);
        total_src = bytes_meet(desc.src.offset * src_size, desc.count * src_size, desc.src_pitch * src_size,
                               desc.total.offset * total_size, SOME_ROWS * total_size, 0, SOME_ROWS, 1);
        total_dst = bytes_meet(desc.dst.offset * dst_size, desc.count * dst_size, desc.dst_pitch * dst_size,
                               desc.total.offset * total_size, SOME_ROWS * total_size, 0, SOME_ROWS, 1);
        same = desc.src.offset * src_size == desc.dst.offset * dst_size && src_size == dst_size &&
               desc.src_pitch == desc.dst_pitch;
        for (i = 0; i < sizeof in; i++)
            in[i] = (unsigned char)(i * 7 + t);
        test_cl(clEnqueueWriteBuffer(test.queue, both.at.mem, CL_TRUE, 0, sizeof in, in, 0, NULL, NULL));
        test_case("try %u: %u rows of %u, sizes %u and %u, pitches %u and %u, at %u, %u and %u", t, (unsigned)SOME_ROWS,
                  (unsigned)desc.count, (unsigned)src_size, (unsigned)dst_size, (unsigned)desc.src_pitch,
                  (unsigned)desc.dst_pitch, (unsigned)desc.src.offset, (unsigned)desc.dst.offset,
                  (unsigned)desc.total.offset);
        result = gpuscan_scan(test.gs, &desc);
        if ((src_dst && !same) || total_src || total_dst) {
            test_expect(result, GPUSCAN_ERROR_OVERLAP);
            refused++;
            continue;
        }
        if (result == GPUSCAN_ERROR_OVERLAP) /* the library compares only the pitches */
            continue;
        if (result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY && (same || test_device_refusal(desc.call.strategy)))
            continue;
        test_ok(result);
        accepted += !same;
        memcpy(wanted, in, sizeof in);
        for (r = 0; r < SOME_ROWS; r++) {
            uint64_t sum = 0, x;
            for (i = 0; i < desc.count; i++) {
                memcpy(wanted + (desc.dst.offset + r * desc.dst_pitch + i) * dst_size, &sum, dst_size);
                x = 0;
                memcpy(&x, in + (desc.src.offset + r * desc.src_pitch + i) * src_size, src_size);
                sum += x;
            }
            memcpy(wanted + (desc.total.offset + r) * dst_size, &sum, dst_size);
        }
        test_cl(clFinish(test.queue));
        out = in;
        test_cl(clEnqueueReadBuffer(test.queue, both.at.mem, CL_TRUE, 0, sizeof in, in, 0, NULL, NULL));
        for (i = 0; i < sizeof in; i++)
            if (out[i] != wanted[i])
                fail_msg("%s: byte %u", test.what, (unsigned)i);
    }
    print_message("%u accepted, %u refused\n", accepted, refused);
    assert_true(accepted > TRIES / 100 && refused > TRIES / 100);
    test_buffer_free(&both);
}

/* Checks one by one which rows are accepted: pitches of 16 or more u32, rows of 4. */
static void test_rows_in_gaps_accepted(void **state) {
    uint64_t at_dst, at_total, p;
    (void)state;
    for (p = 16; p <= 48; p += 16) /* the smaller pitch divides the larger */
        for (at_dst = 0; at_dst <= 32; at_dst++) {
            int apart = at_dst % 16 >= 4 && at_dst % 16 <= 12;
            test_case("dst at %u, pitch %u", (unsigned)at_dst, (unsigned)p);
            if (apart || (at_dst == 0 && p == 16))
                ACCEPTED(scan, d.src = d.dst = f.parent.at; d.dst.offset += at_dst; d.count = 4; d.rows = 2;
                         d.src_pitch = 16; d.dst_pitch = p);
            else if (at_dst < 20) /* beyond src's end they never meet */
                REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "dst", d.src = d.dst = f.parent.at; d.dst.offset += at_dst;
                        d.count = 4; d.rows = 2; d.src_pitch = 16; d.dst_pitch = p);
        }
    for (at_total = 0; at_total <= 20; at_total++) { /* two totals */
        test_case("totals at %u", (unsigned)at_total);
        if ((at_total % 16 >= 4 && at_total % 16 <= 14) || at_total >= 20)
            ACCEPTED(scan, d.dst = d.total = f.parent.at; d.total.offset += at_total; d.count = 4; d.rows = 2;
                     d.dst_pitch = 16);
        else
            REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "total", d.dst = d.total = f.parent.at; d.total.offset += at_total;
                    d.count = 4; d.rows = 2; d.dst_pitch = 16);
    }
    /* counters between the rows of samples, and of weights */
    ACCEPTED(histogram, d.samples = d.counts = f.parent.at; d.counts.offset += 4; d.count = 8; d.rows = 3; d.pitch = 64;
             d.bins = 4);
    REFUSED(histogram, GPUSCAN_ERROR_OVERLAP, "counts", d.samples = d.counts = f.parent.at; d.counts.offset += 4;
            d.count = 8; d.rows = 3; d.pitch = 64; d.bins = 13);
    REFUSED(histogram, GPUSCAN_ERROR_OVERLAP, "counts", d.samples = d.counts = f.parent.at; d.counts.offset += 1;
            d.count = 8; d.rows = 3; d.pitch = 64; d.bins = 4);
    /* overlaps are reported even if the forced strategy never runs in place */
    REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "dst", d.src = f.parent.at; d.dst = at(f.parent.at, 1);
            d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD);
    REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "dst", d.src = f.parent.at; d.dst = at(f.parent.at, 1);
            d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS);
    REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "total", d.total = d.dst;
            d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD);
    if (test.info.has_fence && !test.is_simulator)
        ACCEPTED(scan, d.src = f.parent.at; d.dst = f.parent.at;
                 d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD);
    else
        REFUSED(scan, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "in place", d.src = f.parent.at; d.dst = f.parent.at;
                d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD);
}

static void test_scan_overlap(void **state) {
    (void)state;
    OVERLAPS(scan, dst, 4, src, 4, 64, d.count = 16);
    OVERLAPS(scan, src, 4, dst, 4, 64, d.count = 16);
    OVERLAPS(scan, total, 4, dst, 4, 64, d.count = 16);
    OVERLAPS(scan, total, 4, src, 4, 64, d.count = 16);
    OVERLAPS(scan, dst, 4, total, 4, 4, d.count = 16);
    OVERLAPS(scan, total, 4, src, 1, 64, d.count = 64; d.src_type = GPUSCAN_TYPE_U8; d.dst_type = GPUSCAN_TYPE_U32);
    OVERLAPS(scan, dst, 4, init_buffer, 4, 4, d.count = 16);
    OVERLAPS(scan, init_buffer, 4, dst, 4, 64, d.count = 16);
    OVERLAPS(scan, total, 4, init_buffer, 4, 4, d.count = 16);
    OVERLAPS(scan, dst, 4, count_buffer, 4, 4, d.count = 16);
    OVERLAPS(scan, count_buffer, 4, dst, 4, 64, d.count = 16);
    OVERLAPS(scan, dst, 4, count_buffer, 8, 8, d.count = 16; d.count_type = GPUSCAN_TYPE_U64);
    OVERLAPS(scan, total, 4, count_buffer, 4, 4, d.count = 16);
    OVERLAPS(scan, total, 4, dst, 4, 64 + 4 * 20, d.count = 16; d.rows = 2; d.dst_pitch = 20);
    /* overlaps by one byte of the last element */
    OVERLAPS(scan, dst, 1, src, 4, 64, d.count = 16; d.dst_type = GPUSCAN_TYPE_U8);
    SCRATCH_OVERLAPS(scan, dst, d.count = 20000; d.src = f.parts);
    SCRATCH_OVERLAPS(scan, src, d.count = 20000; d.dst = f.parts);
    SCRATCH_OVERLAPS(scan, total, d.count = 20000; d.src = d.dst = f.parts);
    SCRATCH_OVERLAPS(scan, init_buffer, d.count = 20000; d.src = d.dst = f.parts);
    SCRATCH_OVERLAPS(scan, count_buffer, d.count = 20000; d.src = d.dst = f.parts);
    ACCEPTED(scan, d.src = f.scratch; d.dst = at(f.scratch, N); d.call.scratch = at(f.scratch, 8192));
    /* unneeded scratch may lie anywhere */
    ACCEPTED(scan, d.dst = f.parent.at; d.call.scratch = at(f.parent.at, 128);
             d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS);

    /* the same range of one buffer, also through a sub-buffer */
    ACCEPTED(scan, d.src = f.parent.at; d.dst = f.parent.at);
    ACCEPTED(scan, d.src = at(f.right, 1); d.dst = at(f.right, 1));
    ACCEPTED(scan, d.src = f.parent.at; d.dst = f.parent.at; d.rows = 2; d.src_pitch = 200; d.dst_pitch = 200);
    ACCEPTED(scan, d.src = f.parent.at; d.dst = f.parent.at; d.dst_type = GPUSCAN_TYPE_F32);
    /* types of two sizes, or rows at two pitches, are not the same range */
    REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "dst", d.src = f.parent.at; d.dst = f.parent.at;
            d.dst_type = GPUSCAN_TYPE_U64);
    REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "dst", d.src = f.parent.at; d.dst = f.parent.at; d.src_type = GPUSCAN_TYPE_U8;
            d.dst_type = GPUSCAN_TYPE_U32);
    REFUSED(scan, GPUSCAN_ERROR_OVERLAP, "dst", d.src = f.parent.at; d.dst = f.parent.at; d.rows = 2; d.src_pitch = 200;
            d.dst_pitch = 201);
    /* inputs may share memory */
    ACCEPTED(scan, d.src = f.parent.at; d.init_buffer = at(f.parent.at, 3); d.count_buffer = at(f.parent.at, 5));
}

static void test_uniform_add_overlap(void **state) {
    (void)state;
    OVERLAPS(uniform_add, dst, 4, addend, 4, 8, d.count = 20);
    OVERLAPS(uniform_add, addend, 4, dst, 4, 80, d.count = 20);
    OVERLAPS(uniform_add, dst, 4, count_buffer, 4, 4, d.count = 20);
    OVERLAPS(uniform_add, count_buffer, 4, dst, 4, 80, d.count = 20);
    REFUSED(uniform_add, GPUSCAN_ERROR_OVERLAP, "dst", d.dst = d.addend; d.block = 1);
}

static void test_integral_call(void **state) {
    (void)state;
    QUEUE_REFUSALS(integral);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "strategy",
                     d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS);
}

static void test_integral_buffers(void **state) {
    (void)state;
    BUFFER_REFUSALS(integral, src, 4, f.write_only);
    BUFFER_REFUSALS(integral, dst, 4, f.read_only);
    REFUSED(integral, GPUSCAN_ERROR_INVALID_BUFFER, "src", d.src.mem = NULL);
    REFUSED(integral, GPUSCAN_ERROR_INVALID_BUFFER, "dst", d.dst.mem = NULL);
    LAST_FIT(integral, src, 50);
    LAST_FIT(integral, dst, 66);
    ACCEPTED(integral, d.src = f.read_only; d.dst = f.write_only);
    /* without pixels an exclusive table is zeros, an inclusive one empty */
    ACCEPTED(integral, d.src.mem = NULL; d.width = 0);
    ACCEPTED(integral, d.src.mem = NULL; d.height = 0);
    ACCEPTED(integral, d.src.mem = d.dst.mem = NULL; d.height = 0; d.kind = GPUSCAN_INCLUSIVE);
    REFUSED(integral, GPUSCAN_ERROR_INVALID_BUFFER, "dst", d.dst.mem = NULL; d.height = 0);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 18) - 5); d.height = 0);
    /* kinds, pitches, channels, images, types */
    ACCEPTED(integral, d.dst = at(f.scratch, (1 << 18) - 50); d.kind = GPUSCAN_INCLUSIVE);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 18) - 49);
            d.kind = GPUSCAN_INCLUSIVE);
    ACCEPTED(integral, d.src = at(f.scratch, (1 << 18) - 4 * 13 - 10); d.src_pitch = 13);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.src = at(f.scratch, (1 << 18) - 4 * 13 - 9);
            d.src_pitch = 13);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 18) - 5 * 13 - 10);
            d.dst_pitch = 13);
    ACCEPTED(integral, d.src = at(f.scratch, (1 << 18) - 150); d.channels = 3);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.src = at(f.scratch, (1 << 18) - 149); d.channels = 3);
    ACCEPTED(integral, d.src = at(f.scratch, (1 << 18) - 60 - 50); d.images = 2; d.src_image_pitch = 60);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.src = at(f.scratch, (1 << 18) - 60 - 49); d.images = 2;
            d.src_image_pitch = 60);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 18) - 70 - 65); d.images = 2;
            d.dst_image_pitch = 70);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 17) - 65);
            d.dst_type = GPUSCAN_TYPE_U64);
}

static void test_integral_types(void **state) {
    const uint64_t large = UINT64_C(1) << 33;
    (void)state;
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_type", d.src_type = GPUSCAN_TYPE_COUNT);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_type", d.dst_type = no_type(-1));
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_TYPE, "src_type", d.src_type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_TYPE, "dst_type", d.dst_type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_TYPE, "dst_type", d.dst_type = GPUSCAN_TYPE_U16);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_TYPE, "dst_type", d.dst_type = GPUSCAN_TYPE_F16);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_TYPE, "dst_type", d.src_type = GPUSCAN_TYPE_F32;
                     d.dst_type = GPUSCAN_TYPE_U32);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "kind", d.kind = (gpuscan_scan_kind)2);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "channels", d.channels = 5);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch", d.src_pitch = 9);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_pitch", d.dst_pitch = 10); /* 11 elements a row */
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_image_pitch", d.src_image_pitch = 49);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_image_pitch", d.dst_image_pitch = 65);
    ACCEPTED(integral, d.src_image_pitch = 50; d.dst_image_pitch = 66; d.dst_pitch = 11; d.src_pitch = 10);
    ACCEPTED(integral, d.src_pitch_bytes = 40; d.dst_pitch_bytes = 44);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch_bytes", d.src_pitch_bytes = 36);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_pitch_bytes", d.dst_pitch_bytes = 40);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch_bytes", d.src_pitch_bytes = 42);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst_pitch_bytes", d.dst_pitch_bytes = 45);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "both", d.src_pitch_bytes = 40; d.src_pitch = 10);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "both", d.dst_pitch_bytes = 44; d.dst_pitch = 11);
    REFUSED_SIZE(integral, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.src_pitch_bytes = UINT64_MAX - 3);
    REFUSED(integral, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src", d.channels = 3; d.dst = f.scratch;
            d.src = at(f.scratch, (1 << 18) - 4 * 31 - 29); d.src_pitch_bytes = 124); /* not a whole number of pixels */
    ACCEPTED(integral, d.channels = 3; d.src = at(f.scratch, (1 << 18) - 4 * 31 - 30); d.src_pitch_bytes = 124);
    REFUSED_SIZE(integral, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.width = d.height = large);
    REFUSED_SIZE(integral, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.width = UINT64_MAX);
    REFUSED_SIZE(integral, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.height = UINT64_MAX);
    REFUSED_SIZE(integral, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.images = UINT64_MAX);
    REFUSED_SIZE(integral, GPUSCAN_ERROR_SIZE_OVERFLOW, "src", d.src_pitch = UINT64_MAX);
    REFUSED_SIZE(integral, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.images = 2; d.dst_image_pitch = UINT64_MAX);
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

static cl_mem new_image(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_channel_order order) {
    cl_image_format format;
    cl_image_desc image;
    cl_int status;
    cl_mem made;
    memset(&image, 0, sizeof image);
    format.image_channel_order = order;
    format.image_channel_data_type = CL_FLOAT;
    image.image_type = type;
    image.image_width = image.image_height = 8;
    image.image_depth = type == CL_MEM_OBJECT_IMAGE3D ? 8 : 0;
    image.image_array_size = type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? 8 : 0;
    made = clCreateImage(context, flags, &format, &image, NULL, &status);
    return status == CL_SUCCESS ? made : NULL;
}

/* What the fake driver reports of f.image. */
static struct {
    cl_image_format format;
    cl_uint samples;
    cl_mem parent;
} said;

static cl_int CL_API_CALL image_info(cl_mem mem, cl_image_info what, size_t size, void *value, size_t *needed) {
    if (what == CL_IMAGE_FORMAT && said.format.image_channel_order)
        return answer(&said.format, sizeof said.format, size, value, needed);
    if (what == CL_IMAGE_NUM_SAMPLES)
        return answer(&said.samples, sizeof said.samples, size, value, needed);
    return clGetImageInfo(mem, what, size, value, needed);
}

static cl_int CL_API_CALL image_parent(cl_mem mem, cl_mem_info what, size_t size, void *value, size_t *needed) {
    if (mem == f.image && what == CL_MEM_ASSOCIATED_MEMOBJECT)
        return answer(&said.parent, sizeof said.parent, size, value, needed);
    return clGetMemObjectInfo(mem, what, size, value, needed);
}

/* 64 x 64 pixels of four normalised channels. field: of the operation; type_field: the pixels' type. */
#define IMAGE_REFUSALS(operation, field, type_field, width_field, height_field, buffer_field, pitch_field)             \
    static void operation##_images(void) {                                                                             \
        static const cl_channel_type types[] = {CL_UNORM_INT24, 0x1234};                                               \
        const cl_mem_object_type others[] = {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE3D,                             \
                                             CL_MEM_OBJECT_IMAGE2D_ARRAY};                                             \
        cl_mem image;                                                                                                  \
        size_t i;                                                                                                      \
        ACCEPTED(operation, OF_IMAGE(field, buffer_field, width_field, height_field));                                 \
        ACCEPTED(operation, OF_IMAGE(field, buffer_field, width_field, height_field); d.field.x = d.field.y = 63;      \
                 d.width_field = d.height_field = 1; d.channels = 2; d.type_field = GPUSCAN_TYPE_F32);                 \
        ACCEPTED(operation, OF_IMAGE(field, buffer_field, width_field, height_field); d.field.x = d.field.y = 100;     \
                 d.width_field = 0);                                                                                   \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, #field,                                            \
                         OF_IMAGE(field, buffer_field, width_field, height_field);                                     \
                         d.width_field = 65);                                                                          \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, #field,                                            \
                         OF_IMAGE(field, buffer_field, width_field, height_field);                                     \
                         d.height_field = 65);                                                                         \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, #field,                                            \
                         OF_IMAGE(field, buffer_field, width_field, height_field);                                     \
                         d.field.x = 1);                                                                               \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_BUFFER_TOO_SMALL, #field,                                            \
                         OF_IMAGE(field, buffer_field, width_field, height_field);                                     \
                         d.field.y = UINT64_MAX);                                                                      \
        REFUSED(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, #field,                                                     \
                OF_IMAGE(field, buffer_field, width_field, height_field);                                              \
                d.buffer_field = f.in.at);                                                                             \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, #field,                                            \
                         OF_IMAGE(field, buffer_field, width_field, height_field);                                     \
                         d.pitch_field = 64);                                                                          \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_ARGUMENT, "channels",                                        \
                         OF_IMAGE(field, buffer_field, width_field, height_field);                                     \
                         d.channels = 5);                                                                              \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_TYPE, #type_field,                                           \
                         OF_IMAGE(field, buffer_field, width_field, height_field);                                     \
                         d.type_field = GPUSCAN_TYPE_U8);                                                              \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_IMAGE, #field,                                               \
                         OF_IMAGE(field, buffer_field, width_field, height_field);                                     \
                         d.field.mem = f.in.at.mem);                                                                   \
        for (i = 0; i < sizeof others / sizeof *others; i++)                                                           \
            if ((image = new_image(test.context, CL_MEM_READ_WRITE, others[i], CL_RGBA)) != NULL) {                    \
                REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_IMAGE, #field,                                       \
                                 OF_IMAGE(field, buffer_field, width_field, height_field);                             \
                                 d.field.mem = image);                                                                 \
                clReleaseMemObject(image);                                                                             \
            }                                                                                                          \
        if ((image = new_image(f.context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, CL_RGBA)) != NULL) {               \
            REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_CONTEXT, #field,                                         \
                             OF_IMAGE(field, buffer_field, width_field, height_field);                                 \
                             d.field.mem = image);                                                                     \
            clReleaseMemObject(image);                                                                                 \
        }                                                                                                              \
        if ((image = new_image(test.context, CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D, CL_RGBA)) != NULL) {            \
            REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_BUFFER_ACCESS, #field,                                           \
                             OF_IMAGE(field, buffer_field, width_field, height_field);                                 \
                             d.field.mem = image);                                                                     \
            clReleaseMemObject(image);                                                                                 \
        }                                                                                                              \
        memset(&said, 0, sizeof said);                                                                                 \
        test.gs->cl.clGetImageInfo = image_info;                                                                       \
        for (i = 0; i < 3; i++) {                                                                                      \
            said.format.image_channel_order = i < 2 ? CL_RGBA : CL_DEPTH;                                              \
            said.format.image_channel_data_type = i < 2 ? types[i] : CL_FLOAT;                                         \
            REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_IMAGE, "channel order",                                  \
                             OF_IMAGE(field, buffer_field, width_field, height_field));                                \
        }                                                                                                              \
        said.format.image_channel_order = 0;                                                                           \
        said.samples = 4;                                                                                              \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_INVALID_IMAGE, "samples",                                            \
                         OF_IMAGE(field, buffer_field, width_field, height_field));                                    \
        test.gs->cl.clGetImageInfo = clGetImageInfo;                                                                   \
        test.gs->device.images = 0;                                                                                    \
        REFUSED_ANYWHERE(operation, GPUSCAN_ERROR_UNSUPPORTED_IMAGE, #field,                                           \
                         OF_IMAGE(field, buffer_field, width_field, height_field));                                    \
        test.gs->device.images = 1;                                                                                    \
    }
#define DEFAULT_TYPE(field)  DEFAULT_TYPE_##field
#define DEFAULT_TYPE_samples_image d.sample_type = GPUSCAN_TYPE_DEFAULT
#define DEFAULT_TYPE_src_image     d.src_type = GPUSCAN_TYPE_DEFAULT
#define ROOM(field)          ROOM_##field
#define ROOM_samples_image   (void)0
#define ROOM_src_image       d.dst = f.scratch
#define OF_IMAGE(field, buffer_field, width_field, height_field)                                                       \
    d.field.mem = f.image;                                                                                             \
    memset(&d.buffer_field, 0, sizeof d.buffer_field);                                                                 \
    DEFAULT_TYPE(field);                                                                                               \
    d.channels = 1;                                                                                                    \
    ROOM(field);                                                                                                       \
    d.width_field = d.height_field = 64
IMAGE_REFUSALS(histogram, samples_image, sample_type, count, rows, samples, pitch)
IMAGE_REFUSALS(integral, src_image, src_type, width, height, src, src_pitch)

static void reduce_images(void) {
    const cl_mem image = f.image;
#define OF_PIXELS d.src_image.mem = image; d.src.mem = NULL; d.src.offset = 0; d.count = 64 * 64; d.dst = f.scratch
    ACCEPTED(reduce, OF_PIXELS);
    ACCEPTED(reduce, OF_PIXELS; d.src_type = GPUSCAN_TYPE_F32; d.src_width = 64);
    ACCEPTED(reduce, OF_PIXELS; d.src_width = 16; d.src_image.x = 48; d.count = 16 * 64 - 5);
    ACCEPTED(reduce, OF_PIXELS; d.src_image.x = 48; d.src_image.y = 63; d.count = 16);
    ACCEPTED(reduce, OF_PIXELS; d.src_image.x = 60; d.src_width = 1000; d.count = 4);
    ACCEPTED(reduce, OF_PIXELS; d.count = 0; d.src_image.x = 99);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src_image", OF_PIXELS; d.count++);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src_image", OF_PIXELS; d.src_width = 65);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src_image", OF_PIXELS; d.src_width = 63);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src_image", OF_PIXELS; d.src_image.x = 64; d.count = 1);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src_image", OF_PIXELS; d.src_image.y = UINT64_MAX);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src_image", OF_PIXELS; d.src_image.x = UINT64_MAX);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "src_image", OF_PIXELS; d.count = UINT64_MAX / 8);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_image", OF_PIXELS; d.rows = 2);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_image", OF_PIXELS; d.src_pitch = 64 * 64);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_image", OF_PIXELS;
                     d.segments.form = GPUSCAN_SEGMENTS_OFFSETS);
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_image", OF_PIXELS; d.src = f.in.at);
    REFUSED(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_image", OF_PIXELS; d.src.offset = 1);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_width", d.src_width = N);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_TYPE, "src_type", OF_PIXELS; d.src_type = GPUSCAN_TYPE_U32);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_TYPE, "src_type", OF_PIXELS; d.src_type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_OPERATOR, "op", OF_PIXELS; d.op = GPUSCAN_OP_XOR);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_INVALID_IMAGE, "src_image", OF_PIXELS; d.src_image.mem = f.in.at.mem);
#undef OF_PIXELS
}

static void test_images(void **state) {
    static const gpuscan_custom near_one = {NULL, NULL, 0, NULL, NULL, "near(1, 0)", NULL, NULL, NULL}, nothing = {0};
    unsigned char picture[8] = {0};
    uint32_t counts[BINS];
    (void)state;
    if (!f.image)
        return;
    histogram_images();
    integral_images();
    reduce_images();
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", d.custom = &near_one);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom", OF_IMAGE(src_image, src, width, height);
                     d.custom = &nothing);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_TYPE, "dst_type", OF_IMAGE(src_image, src, width, height);
                     d.dst_type = GPUSCAN_TYPE_U32);
    ACCEPTED(integral, OF_IMAGE(src_image, src, width, height); d.custom = &near_one; d.dst_type = GPUSCAN_TYPE_U32);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitch_bytes", d.samples_image.mem = f.image;
                     d.samples.mem = NULL; d.samples.offset = 0; d.pitch_bytes = 256);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_INVALID_TYPE, "sample_type", d.samples_image.mem = f.image;
                     d.samples.mem = NULL; d.samples.offset = 0; d.count = 64; d.sample_type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_INVALID_ARGUMENT, "src_image", d.src_image.mem = f.image;
                     d.src.mem = NULL; d.src.offset = 0; d.images = 2);
    /* the image's buffer is written */
    said.parent = f.scratch.mem;
    test.gs->cl.clGetMemObjectInfo = image_parent;
    REFUSED(integral, GPUSCAN_ERROR_OVERLAP, "src_image", d.src_image.mem = f.image; d.src.mem = NULL;
            d.src.offset = 0; d.src_type = GPUSCAN_TYPE_F32; d.dst = f.scratch);
    /* or a part of it */
    said.parent = f.left.mem;
    REFUSED(integral, GPUSCAN_ERROR_OVERLAP, "src_image", d.src_image.mem = f.image; d.src.mem = NULL;
            d.src.offset = 0; d.src_type = GPUSCAN_TYPE_F32; d.dst = f.parent.at);
    test.gs->cl.clGetMemObjectInfo = clGetMemObjectInfo;
    {
        gpuscan_histogram_desc d;
        gpuscan_integral_desc e;
        gpuscan_reduce_desc r;
        memset(&d, 0, sizeof d);
        memset(&e, 0, sizeof e);
        memset(&r, 0, sizeof r);
        d.samples_image.mem = e.src_image.mem = r.src_image.mem = f.image;
        test_case("a _host form with an image");
        test_expect(gpuscan_histogram_host(test.gs, picture, counts, 8, &d), GPUSCAN_ERROR_INVALID_ARGUMENT);
        names("samples_image");
        test_expect(gpuscan_integral_host(test.gs, picture, counts, 2, 2, &e), GPUSCAN_ERROR_INVALID_ARGUMENT);
        names("src_image");
        test_expect(gpuscan_reduce_host(test.gs, picture, counts, 8, &r), GPUSCAN_ERROR_INVALID_ARGUMENT);
        names("src_image");
    }
}

static void test_integral_overlap(void **state) {
    (void)state;
    OVERLAPS(integral, dst, 4, src, 4, 64, d.width = 16; d.height = 1; d.kind = GPUSCAN_INCLUSIVE);
    OVERLAPS(integral, src, 4, dst, 4, 64, d.width = 16; d.height = 1; d.kind = GPUSCAN_INCLUSIVE);
    SCRATCH_OVERLAPS(integral, src, d.width = 300; d.height = 12);
    SCRATCH_OVERLAPS(integral, dst, d.width = 300; d.height = 12; d.src = f.parts);
    REFUSED(integral, GPUSCAN_ERROR_OVERLAP, "dst", d.dst = d.src; d.kind = GPUSCAN_INCLUSIVE); /* not in place */
    /* side by side: rows in each other's gaps */
    ACCEPTED(integral, d.src = at(f.scratch, 0); d.dst = at(f.scratch, 10); d.src_pitch = d.dst_pitch = 21);
    REFUSED(integral, GPUSCAN_ERROR_OVERLAP, "dst", d.src = at(f.scratch, 0); d.dst = at(f.scratch, 10);
            d.src_pitch = d.dst_pitch = 20);
}

static void test_quantile_call(void **state) {
    (void)state;
    QUEUE_REFUSALS(quantile);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "strategy",
                     d.call.strategy = GPUSCAN_STRATEGY_CPU_SINGLE_PASS);
}

static void test_quantile_buffers(void **state) {
    (void)state;
    BUFFER_REFUSALS(quantile, counts, 4, f.write_only);
    BUFFER_REFUSALS(quantile, dst, 4, f.read_only);
    BUFFER_REFUSALS(quantile, cdf, 4, f.read_only);
    BUFFER_REFUSALS(quantile, edges, 4, f.write_only);
    REFUSED(quantile, GPUSCAN_ERROR_INVALID_BUFFER, "counts", d.counts.mem = NULL);
    REFUSED(quantile, GPUSCAN_ERROR_INVALID_BUFFER, "dst", d.dst.mem = NULL);
    LAST_FIT(quantile, counts, N);
    LAST_FIT(quantile, dst, 2);
    LAST_FIT(quantile, cdf, N);
    LAST_FIT(quantile, edges, N + 1);
    ACCEPTED(quantile, d.dst = at(f.scratch, (1 << 18) - 1); d.form = GPUSCAN_QUANTILE_MEAN);
    REFUSED(quantile, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 18) - 5); d.rows = 3;
            d.counts = f.parts);
    REFUSED(quantile, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "cdf", d.cdf = at(f.scratch, (1 << 17) - N + 1);
            d.cdf_type = GPUSCAN_TYPE_U64);
    REFUSED(quantile, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts", d.counts = at(f.scratch, (1 << 17) - N + 1);
            d.counter_type = GPUSCAN_TYPE_U64);
    REFUSED(quantile, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "counts",
            d.counts = at(f.scratch, (1 << 18) - (ROWS - 1) * PITCH - N + 1); d.rows = ROWS; d.pitch = PITCH);
}

static void test_quantile_types(void **state) {
    (void)state;
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_TYPE, "counter_type", d.counter_type = GPUSCAN_TYPE_I32);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "counter_type", d.counter_type = no_type(50));
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_TYPE, "cdf_type", d.cdf_type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "form", d.form = (gpuscan_quantile_form)3);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "pitch", d.pitch = N - 1);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fractions", d.fractions = NULL);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fraction_count", d.fraction_count = 0);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fraction_count",
                     d.fraction_count = GPUSCAN_MAX_FRACTIONS + 1);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fractions[1]", quantile_fractions[1] = NAN);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fractions[0]", quantile_fractions[0] = -1e-300);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fractions[1]", quantile_fractions[1] = nextafter(1, 2));
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fractions[1]", quantile_fractions[1] = INFINITY);
    ACCEPTED(quantile, quantile_fractions[0] = -0.0; quantile_fractions[1] = 1);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fraction_count", d.form = GPUSCAN_QUANTILE_MEAN;
                     d.fraction_count = 3);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "fractions[0]", d.form = GPUSCAN_QUANTILE_MEAN;
                     quantile_fractions[0] = 0.75);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_BINS, "lower", d.form = GPUSCAN_QUANTILE_VALUE; d.lower = 1);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_BINS, "upper", d.form = GPUSCAN_QUANTILE_VALUE; d.upper = NAN);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_BINS, "upper", d.form = GPUSCAN_QUANTILE_MEAN; d.upper = 1e300);
    REFUSED_ANYWHERE(quantile, GPUSCAN_ERROR_INVALID_BINS, "lower", d.form = GPUSCAN_QUANTILE_MEAN;
                     d.lower = d.upper = 5);
    ACCEPTED(quantile, d.form = GPUSCAN_QUANTILE_VALUE; d.lower = -1);
    ACCEPTED(quantile, d.upper = NAN); /* BIN ignores bounds */
    REFUSED(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_edges", d.host_edges = quantile_fractions);
    REFUSED(quantile, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_cdf", d.host_cdf = quantile_fractions);
    REFUSED_SIZE(quantile, GPUSCAN_ERROR_SIZE_OVERFLOW, "counts", d.rows = UINT64_MAX);
    REFUSED_SIZE(quantile, GPUSCAN_ERROR_SIZE_OVERFLOW, "counts", d.rows = 3; d.pitch = UINT64_C(1) << 62);
}

static void test_quantile_overlap(void **state) {
    (void)state;
    OVERLAPS(quantile, dst, 4, counts, 4, 64, d.bins = 16; d.fraction_count = 1);
    OVERLAPS(quantile, cdf, 4, counts, 4, 64, d.bins = 16);
    OVERLAPS(quantile, counts, 4, cdf, 4, 64, d.bins = 16);
    OVERLAPS(quantile, dst, 4, cdf, 4, 64, d.bins = 16; d.fraction_count = 1);
    OVERLAPS(quantile, dst, 4, edges, 4, 68, d.bins = 16; d.fraction_count = 1);
}

static void test_sort_call(void **state) {
    (void)state;
    CALL_REFUSALS(sort);
}

static void test_sort_buffers(void **state) {
    (void)state;
    BUFFER_REFUSALS(sort, src, 4, f.write_only);
    BUFFER_REFUSALS(sort, dst, 4, f.read_only);
    BUFFER_REFUSALS(sort, permutation, 4, f.read_only);
    REFUSED(sort, GPUSCAN_ERROR_INVALID_BUFFER, "src", d.src.mem = NULL);
    REFUSED(sort, GPUSCAN_ERROR_INVALID_BUFFER, "dst", d.dst.mem = NULL);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "src", d.src = f.read_only; d.may_destroy_src = 1);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "dst", d.dst = f.write_only); /* passes read it, too */
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "permutation", d.permutation = f.write_only);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "payloads[0].dst", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].dst = f.write_only);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "payloads[0].src", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].src = f.at_4; sort_payloads[0].size = 16); /* moves in words of 16 bytes */
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "src", d.src = f.at_4; d.key_type = GPUSCAN_TYPE_U64);
    ACCEPTED(sort, d.src = f.read_only);
    ACCEPTED(sort, d.dst.mem = NULL; d.permutation = f.counts.at);
    ACCEPTED(sort, d.dst.mem = NULL; d.payloads = sort_payloads; d.payload_count = 1);
    ACCEPTED(sort, d.src.mem = d.dst.mem = NULL; d.count = 0);
    LAST_FIT(sort, src, N);
    LAST_FIT(sort, dst, N);
    LAST_FIT(sort, permutation, N);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "dst", d.dst = at(f.scratch, (1 << 18) - N);
            d.key_type = GPUSCAN_TYPE_F64);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "permutation", d.permutation = at(f.scratch, (1 << 17) - N + 1);
            d.index_type = GPUSCAN_TYPE_U64);
    REFUSED(sort, GPUSCAN_ERROR_INVALID_BUFFER, "payloads[0].src", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].src.mem = NULL);
    REFUSED(sort, GPUSCAN_ERROR_INVALID_BUFFER, "payloads[0].dst", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].dst.mem = NULL);
    REFUSED(sort, GPUSCAN_ERROR_INVALID_CONTEXT, "payloads[0].src", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].src = f.foreign);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "payloads[0].src", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].src = f.write_only);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "payloads[0].dst", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].dst = f.read_only);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_ACCESS, "payloads[0].src", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].src = f.read_only; d.may_destroy_src = 1);
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "payloads[0].src", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].src = at(f.parts, (1 << 17) - N + 1));
    REFUSED(sort, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "payloads[0].dst", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].dst = f.tiny);
}

static void test_sort_types(void **state) {
    gpuscan_custom custom = {NULL, "uint", 4, NULL, NULL, NULL, NULL, NULL, "x"};
    uint32_t bits;
    (void)state;
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "key_type", d.key_type = GPUSCAN_TYPE_COUNT);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "key_type", d.key_type = no_type(-1));
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_TYPE, "key_type", d.key_type = GPUSCAN_TYPE_CUSTOM);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_TYPE, "key_type",
                     d.key_type = GPUSCAN_TYPE_CUSTOM; d.custom = &custom);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_TYPE, "index_type", d.index_type = GPUSCAN_TYPE_I32);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "index_type", d.index_type = no_type(77));
    for (bits = 8; bits <= 64; bits *= 2) {
        static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_F16, GPUSCAN_TYPE_I32, GPUSCAN_TYPE_F64};
        gpuscan_type type = types[bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3];
        REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "bit_end", d.key_type = type; d.bit_end = bits + 1);
        REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "bit_begin", d.key_type = type; d.bit_begin = bits);
        REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "bit_begin", d.key_type = type; d.bit_begin = ~0u);
        REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "bit_end", d.key_type = type; d.bit_end = UINT32_MAX);
        REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "bit_begin", d.key_type = type; d.bit_begin = 5;
                         d.bit_end = 5);
        REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "bit_begin", d.key_type = type; d.bit_begin = 6;
                         d.bit_end = 2);
    }
    ACCEPTED(sort, d.bit_begin = 31);
    ACCEPTED(sort, d.bit_begin = 31; d.bit_end = 32);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "payload_count", d.payloads = sort_payloads;
                     d.payload_count = GPUSCAN_MAX_PAYLOADS + 1);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads", d.payload_count = 1);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads[0].size", d.payloads = sort_payloads;
                     d.payload_count = 1; sort_payloads[0].size = 0);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads[7].size", d.payloads = sort_payloads;
                     d.payload_count = 8; sort_payloads[7].size = 1025);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->key", d.custom = &custom; custom.key = NULL);
    custom.key = "x";
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->type", d.custom = &custom; custom.type = NULL);
    custom.type = "uint";
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->size", d.custom = &custom; custom.size = 0);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->size", d.custom = &custom; custom.size = 1025);
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_CUSTOM_SIZE, "custom->size", d.custom = &custom; custom.size = 8);
    custom.size = 4;
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_CUSTOM_SOURCE, "log", d.custom = &custom; custom.key = "no_such_name");
    custom.key = "x";
    ACCEPTED(sort, d.custom = &custom);
    REFUSED_SIZE(sort, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = UINT64_MAX);
    REFUSED_SIZE(sort, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = UINT64_C(1) << 62; d.key_type = GPUSCAN_TYPE_U8);
    REFUSED_SIZE(sort, GPUSCAN_ERROR_SIZE_OVERFLOW, "index_type", d.count = UINT64_C(1) << 32;
                 d.index_type = GPUSCAN_TYPE_U32);
    REFUSED_SIZE(sort, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = UINT64_C(1) << 57;
                 d.payloads = sort_payloads; d.payload_count = 1; sort_payloads[0].size = 1000);
    ACCEPTED_SIZE(sort, d.count = UINT64_C(1) << 40; d.index_type = GPUSCAN_TYPE_U64);
}

static void test_sort_overlap(void **state) {
    (void)state;
    OVERLAPS(sort, dst, 4, src, 4, 64, d.count = 16);
    OVERLAPS(sort, src, 4, dst, 4, 64, d.count = 16);
    OVERLAPS(sort, permutation, 4, src, 4, 64, d.count = 16);
    OVERLAPS(sort, dst, 4, permutation, 4, 64, d.count = 16);
    OVERLAPS(sort, dst, 4, count_buffer, 4, 4, d.count = 16);
    OVERLAPS(sort, count_buffer, 4, permutation, 4, 64, d.count = 16);
    SCRATCH_OVERLAPS(sort, src, d.count = 2000);
    SCRATCH_OVERLAPS(sort, dst, d.count = 2000; d.src = f.parts);
    SCRATCH_OVERLAPS(sort, count_buffer, d.count = 2000; d.src = f.parts);
    REFUSED(sort, GPUSCAN_ERROR_OVERLAP, "payloads[0].dst", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].dst = at(d.dst, 10));
    REFUSED(sort, GPUSCAN_ERROR_OVERLAP, "payloads[1].dst", d.payloads = sort_payloads; d.payload_count = 2);
    REFUSED(sort, GPUSCAN_ERROR_OVERLAP, "payloads[0].dst", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].dst = at(f.parts, 1));
    /* a payload may be in place, and the keys may, but not across */
    REFUSED(sort, GPUSCAN_ERROR_OVERLAP, "payloads[0].dst", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].size = 4; sort_payloads[0].dst = d.src);
    ACCEPTED(sort, d.payloads = sort_payloads; d.payload_count = 1; sort_payloads[0].dst = sort_payloads[0].src);
    ACCEPTED(sort, d.src = d.dst = f.parent.at);
    ACCEPTED(sort, d.src = d.dst = at(f.right, 1));
    /* inputs may share memory, unless the sort may destroy them */
    ACCEPTED(sort, d.payloads = sort_payloads; d.payload_count = 1; sort_payloads[0].size = 4;
             sort_payloads[0].src = d.src);
    REFUSED(sort, GPUSCAN_ERROR_OVERLAP, "src", d.payloads = sort_payloads; d.payload_count = 1;
            sort_payloads[0].size = 4; sort_payloads[0].src = d.src; d.may_destroy_src = 1);
}

static void test_reduce_overlap(void **state) {
    (void)state;
    OVERLAPS(reduce, dst, 4, src, 4, 64, d.count = 16);
    OVERLAPS(reduce, src, 4, dst, 4, 4, d.count = 16);
    OVERLAPS(reduce, dst, 4, init_buffer, 4, 4, d.count = 16);
    OVERLAPS(reduce, dst, 4, count_buffer, 4, 4, d.count = 16);
    SCRATCH_OVERLAPS(reduce, dst, d.count = 20000; d.src = f.parts);
    SCRATCH_OVERLAPS(reduce, src, d.count = 20000);
    SCRATCH_OVERLAPS(reduce, init_buffer, d.count = 20000; d.src = f.parts);
    SCRATCH_OVERLAPS(reduce, count_buffer, d.count = 20000; d.src = f.parts);
}

/* In place, all outputs must equal their input, and dst may be shorter; other overlaps are refused. */
static void test_select_overlap(void **state) {
    (void)state;
    OVERLAPS(select, dst, 4, src, 4, 40 * 4, d.count = 40; d.flags = f.in.at);
    OVERLAPS(select, indices, 4, src, 4, 40 * 4, d.count = 40; d.flags = f.in.at);
    OVERLAPS(select, selected.count, 4, src, 4, 40 * 4, d.count = 40; d.flags = f.in.at);
    OVERLAPS(select, selected.dispatch, 4, src, 4, 40 * 4, d.count = 40; d.flags = f.in.at;
             d.selected.dispatch_items = 7);
    ACCEPTED(select, d.src = d.flags = d.dst = f.parts);
    ACCEPTED(select, d.src = d.flags = d.dst = f.parts; d.capacity = 10);
    /* an output's size follows from capacity, and the message says so */
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "capacity", d.dst = f.parts; d.indices = at(f.parts, 10); d.capacity = 11);
    ACCEPTED(select, d.dst = f.parts; d.indices = at(f.parts, 10); d.capacity = 10);
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "dst", d.src = d.flags = d.dst = f.parts; d.dst.offset = 1);
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "dst", d.flags = d.dst = f.parts; d.flag_type = GPUSCAN_TYPE_U8);
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "dst", d.flags = d.dst = f.parts; d.by = GPUSCAN_SELECT_BITS);
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "indices", d.dst = d.indices = f.parts);
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "selected.dispatch", d.selected.count = d.selected.dispatch = f.parts);
    ACCEPTED(select, d.payloads = payload_of(4, f.parts, f.parts); d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "payloads[0].dst", d.payloads = payload_of(4, f.parts, at(f.parts, 1));
            d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "payloads[0].dst", d.dst = f.parts;
            d.payloads = payload_of(4, f.scratch, f.parts); d.payload_count = 1);
    REFUSED(select, GPUSCAN_ERROR_OVERLAP, "payloads[0].dst", d.src = f.parts;
            d.payloads = payload_of(4, f.scratch, f.parts); d.payload_count = 1);
}

/* Outputs may overlap nothing; inputs may overlap each other. */
static void test_runs_overlap(void **state) {
    (void)state;
    OVERLAPS(runs, keys_dst, 4, keys, 4, 40 * 4, d.count = 40; d.src = f.parts);
    OVERLAPS(runs, starts, 4, keys, 4, 40 * 4, d.count = 40; d.src = f.parts);
    OVERLAPS(runs, lengths, 4, keys, 4, 40 * 4, d.count = 40; d.src = f.parts);
    OVERLAPS(runs, dst, 4, keys, 4, 40 * 4, d.count = 40; d.src = f.parts);
    OVERLAPS(runs, dst, 4, src, 4, 40 * 4, d.count = 40; d.keys = f.parts);
    OVERLAPS(runs, runs.count, 4, keys, 4, 40 * 4, d.count = 40; d.src = f.parts);
    OVERLAPS(runs, runs.dispatch, 4, keys, 4, 40 * 4, d.count = 40; d.src = f.parts; d.runs.dispatch_items = 7);
    REFUSED(runs, GPUSCAN_ERROR_OVERLAP, "keys_dst", d.keys = d.keys_dst = f.parts); /* not in place */
    REFUSED(runs, GPUSCAN_ERROR_OVERLAP, "dst", d.src = d.dst = f.parts);
    REFUSED(runs, GPUSCAN_ERROR_OVERLAP, "lengths", d.starts = d.lengths = f.parts);
    REFUSED(runs, GPUSCAN_ERROR_OVERLAP, "capacity", d.starts = f.parts; d.lengths = at(f.parts, 10); d.capacity = 11);
    ACCEPTED(runs, d.starts = f.parts; d.lengths = at(f.parts, 10); d.capacity = 10);
    REFUSED(runs, GPUSCAN_ERROR_OVERLAP, "runs.dispatch", d.runs.count = d.runs.dispatch = f.parts);
    REFUSED(runs, GPUSCAN_ERROR_OVERLAP, "payloads[0].dst", d.payloads = payload_of(4, f.parts, f.parts);
            d.payload_count = 1);
    ACCEPTED(runs, d.payloads = payload_of(4, f.in.at, f.parts); d.payload_count = 1);
}

static void test_histogram_overlap(void **state) {
    (void)state;
    OVERLAPS(histogram, counts, 4, samples, 1, 16, d.count = 16);
    OVERLAPS(histogram, samples, 1, counts, 4, 4 * BINS, d.count = 16);
    OVERLAPS(histogram, counts, 4, weights, 4, 64, d.count = 16);
    OVERLAPS(histogram, weights, 4, counts, 4, 4 * BINS, d.count = 16);
    OVERLAPS(histogram, counts, 4, edges, 1, 12, d.count = 16; d.bins = 11; d.form = GPUSCAN_BINS_EDGES);
    OVERLAPS(histogram, counts, 4, count_buffer, 4, 4, d.count = 16);
    OVERLAPS(histogram, count_buffer, 4, counts, 4, 4 * BINS, d.count = 16);
    ACCEPTED(histogram, d.counts = f.scratch; d.counts_stride = 2; d.count_buffer = at(f.scratch, 1)); /* between two */
    REFUSED(histogram, GPUSCAN_ERROR_OVERLAP, "counts", d.counts = f.scratch; d.counts_stride = 2;
            d.count_buffer = at(f.scratch, 2));
    SCRATCH_OVERLAPS(histogram, samples, d.count = 20000);
    SCRATCH_OVERLAPS(histogram, counts, d.count = 20000; d.samples = f.parts);
    SCRATCH_OVERLAPS(histogram, weights, d.count = 20000; d.samples = f.parts);
    SCRATCH_OVERLAPS(histogram, count_buffer, d.count = 20000; d.samples = f.parts);
    SCRATCH_OVERLAPS(histogram, edges, d.count = 20000; d.samples = f.parts; d.form = GPUSCAN_BINS_EDGES);
}

/* ---- scratch of the caller --------------------------------------------------------------------------------------- */

/* Checks with every strategy and a large count that the size query's answer is enough and one byte less is not. */
#define SCRATCH(operation, large)                                                                                      \
    do {                                                                                                               \
        int s;                                                                                                         \
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {                                                                 \
            uint64_t size = UINT64_MAX;                                                                                \
            gpuscan_result result;                                                                                     \
            {                                                                                                          \
                gpuscan_##operation##_desc d = operation##_desc();                                                     \
                large;                                                                                                 \
                d.call.strategy = (gpuscan_strategy)s;                                                                 \
                test_case(#operation "_scratch_size, %s", test_strategy_name(d.call.strategy));                        \
                result = gpuscan_##operation##_scratch_size(test.gs, &d, &size);                                       \
                if (!test_ran(result, d.call.strategy, test_##operation##_refusal(&d)))                                \
                    continue;                                                                                          \
            }                                                                                                          \
            if (size == 0)                                                                                             \
                continue;                                                                                              \
            needed++;                                                                                                  \
            if (size > f.scratch_size)                                                                                 \
                fail_msg("%s: %" PRIu64 " bytes", test.what, size);                                                    \
            ACCEPTED(operation, large; d.call.strategy = (gpuscan_strategy)s; d.call.scratch = at(f.scratch, 64);      \
                     d.call.scratch_size = size);                                                                      \
            ACCEPTED(operation, large; d.call.strategy = (gpuscan_strategy)s;                                          \
                     d.call.scratch = at(f.scratch, (f.scratch_size - size) / 64 * 64));                               \
            REFUSED(operation, GPUSCAN_ERROR_SCRATCH_TOO_SMALL, "scratch", large;                                      \
                    d.call.strategy = (gpuscan_strategy)s; d.call.scratch = f.scratch;                                 \
                    d.call.scratch_size = size - 1);                                                                   \
            REFUSED(operation, GPUSCAN_ERROR_SCRATCH_TOO_SMALL, "scratch", large;                                      \
                    d.call.strategy = (gpuscan_strategy)s;                                                             \
                    d.call.scratch = at(f.scratch, (f.scratch_size - size) / 64 * 64 + 64));                           \
        }                                                                                                              \
    } while (0)

static void test_scratch_sizes(void **state) {
    const uint64_t count = test_size(10000, 100000, 100000);
    gpuscan_buffer src = new_buffer(test.context, CL_MEM_READ_WRITE, (size_t)count * 4);
    gpuscan_buffer dst = new_buffer(test.context, CL_MEM_READ_WRITE, (size_t)count * 4);
    int needed = 0;
    (void)state;
    SCRATCH(scan, d.src = src; d.dst = dst; d.count = count);
    if (needed == 0)
        fail_msg("no strategy of a scan of %" PRIu64 " elements needs scratch", count);
    SCRATCH(reduce, d.src = src; d.count = count);
    SCRATCH(uniform_add, d.dst = dst; d.addend = src; d.count = count);
    SCRATCH(histogram, d.samples = src; d.count = 4 * count);
    SCRATCH(sort, d.src = src; d.dst = dst; d.count = count / 2);
    SCRATCH(sort, d.src = d.dst = dst; d.count = count / 2; d.bit_end = 7);
    SCRATCH(integral, d.src = src; d.dst = dst; d.width = 200; d.height = count / 201 - 1);
    SCRATCH(quantile, d.counts = src; d.bins = 1000);
    test_cl(clFinish(test.queue));
    clReleaseMemObject(src.mem);
    clReleaseMemObject(dst.mem);
}

/* Counts beyond 64 bits, without buffers, whose sizes would be refused first. */
static void test_size_overflow(void **state) {
    const uint64_t half = UINT64_C(1) << 63;
    (void)state;
    REFUSED_SIZE(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half; d.rows = 8;
                 d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS);
    REFUSED_SIZE(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "larger than any buffer",
                 d.count = half; d.src_type = d.dst_type = GPUSCAN_TYPE_U8);
    REFUSED_SIZE(scan, GPUSCAN_ERROR_SIZE_OVERFLOW, "tiles", d.count = half >> 7;
                 d.src_type = d.dst_type = GPUSCAN_TYPE_U8; d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS);
    REFUSED_SIZE(scan, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "2^30 tiles", d.count = half >> 9;
                 d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS);
    REFUSED_SIZE(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half; d.channels = 4;
                 d.sample_type = GPUSCAN_TYPE_U8);
    REFUSED_SIZE(histogram, GPUSCAN_ERROR_SIZE_OVERFLOW, "count", d.count = half; d.rows = 2; d.pitch = half);
}

/* In a single pass, a bin's 64-bit word has a count of 44 bits and other state; from 2^42 samples on it has 32 bits. */
static void test_many_samples(void **state) {
    gpuscan_histogram_desc d = histogram_desc();
    uint64_t size = 0;
    (void)state;
    histogram_without_buffers(&d);
    d.bins = 256;
    d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    d.count = (UINT64_C(1) << 42) - 1;
    test_case("scratch of 2^42 - 1 samples");
    test_ok(gpuscan_histogram_scratch_size(test.gs, &d, &size));
    assert_int_equal(size, test.info.has_int64_atomics ? 256 + 256 * 8 : 256 + 256 * 4);
    test_case("scratch of 2^42 samples");
    d.count++;
    test_ok(gpuscan_histogram_scratch_size(test.gs, &d, &size));
    assert_int_equal(size, 256 + 256 * 4);
}

/* ---- handles that are not memory objects ------------------------------------------------------------------------- */

static cl_int CL_API_CALL no_mem_object(cl_mem mem, cl_mem_info what, size_t size, void *value, size_t *needed) {
    (void)mem;
    (void)what;
    (void)size;
    (void)value;
    (void)needed;
    return CL_INVALID_MEM_OBJECT;
}

static void test_invalid_handle(void **state) {
    gpuscan_scan_desc d = scan_desc();
    (void)state;
    test_case("an invalid handle");
    test.gs->cl.clGetMemObjectInfo = no_mem_object;
    test_expect(gpuscan_scan(test.gs, &d), GPUSCAN_ERROR_INVALID_BUFFER);
    names("not a memory object");
    test.gs->cl.clGetMemObjectInfo = clGetMemObjectInfo;
    untouched();
    works();
}

/* ---- buffers and queues that only other drivers have ------------------------------------------------------------- */

/* Describes an image of a buffer, and fails to report its offset. */
static cl_int CL_API_CALL image_of_buffer(cl_mem mem, cl_mem_info what, size_t size, void *value, size_t *needed) {
    const cl_mem_object_type type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    if (what == CL_MEM_TYPE)
        return answer(&type, sizeof type, size, value, needed);
    if (what == CL_MEM_ASSOCIATED_MEMOBJECT)
        return answer(&f.parent.at.mem, sizeof(cl_mem), size, value, needed);
    if (what == CL_MEM_OFFSET)
        return CL_INVALID_VALUE;
    return clGetMemObjectInfo(mem, what, size, value, needed);
}

static cl_int CL_API_CALL queue_of_other(cl_command_queue queue, cl_command_queue_info what, size_t size, void *value,
                                         size_t *needed) {
    const void *other = &f;
    if (what == CL_QUEUE_DEVICE)
        return answer(&other, sizeof other, size, value, needed);
    return clGetCommandQueueInfo(queue, what, size, value, needed);
}

static void test_objects_of_other_drivers(void **state) {
    gpuscan_scan_desc d = scan_desc();
    cl_int status = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(test.context, test.device, 0, &status);
    gpuscan_opencl table;
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    (void)state;
    test_cl(status);
    test_case("an image of a buffer");
    test.gs->cl.clGetMemObjectInfo = image_of_buffer;
    test_expect(gpuscan_scan(test.gs, &d), GPUSCAN_ERROR_INVALID_BUFFER);
    names("not a buffer");
    test.gs->cl.clGetMemObjectInfo = clGetMemObjectInfo;
    untouched();
    works();

    test_case("a queue of the context's other device");
    d.call.queue = queue;
    test.gs->cl.clGetCommandQueueInfo = queue_of_other;
    test_expect(gpuscan_scan(test.gs, &d), GPUSCAN_ERROR_INVALID_CONTEXT);
    names("call.queue");
    memset(&desc, 0, sizeof desc);
    table = test.gs->cl;
    desc.opencl = &table;
    desc.context = test.context;
    desc.device = test.device;
    desc.queue = queue;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_INVALID_CONTEXT);
    assert_null(gs);
    test.gs->cl.clGetCommandQueueInfo = clGetCommandQueueInfo;
    untouched();
    works();
    d.dst = f.ok.at;
    test_ok(gpuscan_scan(test.gs, &d));
    test_cl(clFinish(queue));
    clReleaseCommandQueue(queue);
}

/* ---- preparations ignore buffers -------------------------------------------------------------------------------- */

/* Checks that preparations succeed, without a message, although the call refuses the buffer `to` as its `buffer`. */
#define IGNORED(operation, buffer, to)                                                                                 \
    do {                                                                                                               \
        gpuscan_##operation##_desc d = operation##_desc();                                                             \
        uint64_t size = 12345, usual = 54321;                                                                          \
        test_ok(gpuscan_##operation##_scratch_size(test.gs, &d, &usual));                                              \
        d.buffer = to;                                                                                                 \
        test_case("gpuscan_" #operation "_prepare and _scratch_size with " #buffer " = " #to);                         \
        if (gpuscan_##operation(test.gs, &d) == GPUSCAN_SUCCESS)                                                       \
            fail_msg("%s: the call accepts the buffer", test.what);                                                    \
        test_ok(gpuscan_##operation##_prepare(test.gs, &d));                                                           \
        assert_string_equal(gpuscan_error(test.gs), "");                                                               \
        test_ok(gpuscan_##operation##_scratch_size(test.gs, &d, &size));                                               \
        assert_string_equal(gpuscan_error(test.gs), "");                                                               \
        assert_true(size >= usual);                                                                                    \
    } while (0)
#define IGNORED_BUFFERS(operation, in, out)                                                                            \
    do {                                                                                                               \
        IGNORED(operation, in, f.foreign);                                                                             \
        IGNORED(operation, in, f.write_only);                                                                          \
        IGNORED(operation, in, f.tiny);                                                                                \
        IGNORED(operation, out, f.foreign);                                                                            \
        IGNORED(operation, out, f.read_only);                                                                          \
        IGNORED(operation, out, f.tiny);                                                                               \
        IGNORED(operation, out.offset, UINT64_MAX);                                                                    \
        if (f.image)                                                                                                   \
            IGNORED(operation, in.mem, f.image);                                                                       \
    } while (0)

static void test_ignored_buffers(void **state) {
    gpuscan_select_desc select = select_desc();
    gpuscan_sort_desc sort = sort_desc();
    gpuscan_payload payload = {0};
    uint64_t apart = 1, alike = 2;
    (void)state;
    IGNORED_BUFFERS(scan, src, dst);
    IGNORED_BUFFERS(uniform_add, addend, dst);
    IGNORED_BUFFERS(reduce, src, dst);
    IGNORED_BUFFERS(histogram, samples, counts);
    IGNORED_BUFFERS(select, flags, dst);
    IGNORED_BUFFERS(runs, keys, keys_dst);
    IGNORED_BUFFERS(sort, src, dst);
    IGNORED_BUFFERS(integral, src, dst);
    IGNORED_BUFFERS(quantile, counts, dst);
    test_case("elements that are their own flags do not make a selection one in place");
    test_ok(gpuscan_select_scratch_size(test.gs, &select, &alike));
    select.src = f.ok.at;
    test_ok(gpuscan_select_scratch_size(test.gs, &select, &apart));
    assert_int_equal(alike, apart);
    test_case("an overlap that the call refuses does not hide that a payload is in place");
    select = select_desc();
    select.payloads = &payload;
    select.payload_count = 1;
    payload.size = 4;
    payload.src = payload.dst = f.parts;
    select.dst = select.src;
    select.dst.offset++;
    test_ok(gpuscan_select_scratch_size(test.gs, &select, &alike));
    assert_true(apart < alike);
    test_case("valid buffers show whether a sort is in place");
    sort.src = f.parts;
    sort.dst = f.scratch;
    sort.count = 200000;
    sort.may_destroy_src = 1;
    test_ok(gpuscan_sort_scratch_size(test.gs, &sort, &apart));
    sort.dst = sort.src;
    test_ok(gpuscan_sort_scratch_size(test.gs, &sort, &alike));
    assert_true(apart < alike);
}

/* ---- no double precision, strategies that the device refuses ----------------------------------------------------- */

static void test_unsupported(void **state) {
    static const gpuscan_custom wide = {
        "typedef struct { uint v[20]; } wide;\n"
        "wide join(wide a, wide b) { for (int i = 0; i < 20; i++) a.v[i] += b.v[i]; return a; }\n"
        "wide zero(void) { wide z; for (int i = 0; i < 20; i++) z.v[i] = 0; return z; }\n",
        "wide",
        80,
        "join(a, b)",
        "zero()",
        NULL, NULL, NULL, NULL};
    static const gpuscan_custom key = {NULL, "uint", 4, NULL, NULL, NULL, NULL, NULL, "x"};
    gpuscan_desc desc;
    gpuscan *gs = NULL, *whole = test.gs;
    (void)state;
    /* elements too large to publish between groups */
    REFUSED_SIZE(scan, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "strategy", d.src_type = GPUSCAN_TYPE_CUSTOM;
                 d.op = GPUSCAN_OP_CUSTOM; d.custom = &wide; d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS);
    REFUSED_SIZE(reduce, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "strategy", d.src_type = GPUSCAN_TYPE_CUSTOM;
                 d.op = GPUSCAN_OP_CUSTOM; d.custom = &wide; d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS);
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    desc.queue = test.queue;
    desc.limits.without = GPUSCAN_WITHOUT_F64;
    test_ok(gpuscan_create(&gs, &desc));
    test.gs = gs;
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "src_type", d.src_type = GPUSCAN_TYPE_F64);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "src_type", d.src_type = GPUSCAN_TYPE_F64;
                     d.dst_type = GPUSCAN_TYPE_F32);
    REFUSED_ANYWHERE(scan, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "dst_type", d.dst_type = GPUSCAN_TYPE_F64);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "src_type", d.src_type = GPUSCAN_TYPE_F64);
    REFUSED_ANYWHERE(reduce, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "dst_type", d.dst_type = GPUSCAN_TYPE_F64);
    REFUSED_ANYWHERE(uniform_add, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "type", d.type = GPUSCAN_TYPE_F64);
    REFUSED_ANYWHERE(histogram, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "sample_type", d.sample_type = GPUSCAN_TYPE_F64);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "src_type", d.src_type = GPUSCAN_TYPE_F64);
    REFUSED_ANYWHERE(integral, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "dst_type", d.dst_type = GPUSCAN_TYPE_F64);
    ACCEPTED_SIZE(quantile, d.form = GPUSCAN_QUANTILE_MEAN); /* its fractions lie on the host */
    REFUSED_ANYWHERE(sort, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "key_type", d.key_type = GPUSCAN_TYPE_F64; d.custom = &key);
    ACCEPTED_SIZE(sort, d.key_type = GPUSCAN_TYPE_F64); /* a sort moves only bits of keys */
    test.gs = whole;
    test_destroy(gs);
}

/* ---- functions beside the operations ----------------------------------------------------------------------------- */

#define NO_OBJECT(operation)                                                                                           \
    do {                                                                                                               \
        gpuscan_##operation##_desc d = operation##_desc();                                                             \
        cl_event event = f.event;                                                                                      \
        uint64_t size = 5;                                                                                             \
        d.call.event = &event;                                                                                         \
        test_case("no object or no desc: " #operation);                                                                \
        test_expect(gpuscan_##operation(NULL, &d), GPUSCAN_ERROR_INVALID_ARGUMENT);                                    \
        if (event != NULL)                                                                                             \
            fail_msg("%s: *event is not NULL", test.what);                                                             \
        test_expect(gpuscan_##operation(NULL, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);                                  \
        refused(gpuscan_##operation(test.gs, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT, NULL, "desc");                     \
        test_expect(gpuscan_##operation##_prepare(NULL, &d), GPUSCAN_ERROR_INVALID_ARGUMENT);                          \
        refused(gpuscan_##operation##_prepare(test.gs, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT, NULL, "desc");           \
        test_expect(gpuscan_##operation##_scratch_size(NULL, &d, &size), GPUSCAN_ERROR_INVALID_ARGUMENT);              \
        refused(gpuscan_##operation##_scratch_size(test.gs, NULL, &size), GPUSCAN_ERROR_INVALID_ARGUMENT, NULL,        \
                "desc");                                                                                               \
        refused(gpuscan_##operation##_scratch_size(test.gs, &d, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT, NULL, "size");  \
    } while (0)

static void test_null_object(void **state) {
    gpuscan_info info;
    size_t blob_size = 0;
    (void)state;
    NO_OBJECT(scan);
    NO_OBJECT(uniform_add);
    NO_OBJECT(reduce);
    NO_OBJECT(histogram);
    NO_OBJECT(sort);
    NO_OBJECT(integral);
    NO_OBJECT(quantile);
    test_case("no object");
    test_expect(gpuscan_scan_host(NULL, &blob_size, &info, 1, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_uniform_add_host(NULL, &blob_size, &info, 1, 1, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_reduce_host(NULL, &blob_size, &info, 1, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_histogram_host(NULL, &blob_size, &info, 1, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_sort_host(NULL, &blob_size, &info, NULL, 1, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_integral_host(NULL, &blob_size, &info, 1, 1, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_quantile_host(NULL, &blob_size, &info, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_create(NULL, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_destroy(NULL);
    test_expect(gpuscan_get_info(NULL, &info), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_get_info(test.gs, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_get_blob(NULL, NULL, &blob_size), GPUSCAN_ERROR_INVALID_ARGUMENT);
    refused(gpuscan_get_blob(test.gs, NULL, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT, NULL, "size");
    test_expect(gpuscan_set_blob(NULL, "", 0), GPUSCAN_ERROR_INVALID_ARGUMENT);
    refused(gpuscan_set_blob(test.gs, NULL, 10), GPUSCAN_ERROR_INVALID_ARGUMENT, NULL, "blob");
    if (gpuscan_error(NULL) == NULL)
        fail_msg("gpuscan_error(NULL) is NULL");
}

static void test_type_sizes(void **state) {
    int t;
    (void)state;
    for (t = 0; t < GPUSCAN_TYPE_COUNT; t++)
        assert_int_equal(gpuscan_type_size((gpuscan_type)t), ref_kind((gpuscan_type)t) ? ref_size((gpuscan_type)t) : 0);
    assert_int_equal(gpuscan_type_size(GPUSCAN_TYPE_COUNT), 0);
    assert_int_equal(gpuscan_type_size(no_type(-1)), 0);
    assert_int_equal(gpuscan_type_size(no_type(1 << 30)), 0);
}

/* Knows each name; not one in other letters, with a part missing or doubled, or with others around it. */
static void test_type_names(void **state) {
    static const char *const names[][8] = {{NULL},
                                           {"i8", "int8", "int8_t", "char", "signed char"},
                                           {"u8", "uint8", "uint8_t", "uchar", "unsigned char"},
                                           {"i16", "int16", "int16_t", "short", "short int", "signed short"},
                                           {"u16", "uint16", "uint16_t", "ushort", "unsigned short"},
                                           {"i32", "int32", "int32_t", "int", "signed", "signed int"},
                                           {"u32", "uint32", "uint32_t", "uint", "unsigned", "unsigned int"},
                                           {"i64", "int64", "int64_t", "long", "long int", "long long"},
                                           {"u64", "uint64", "uint64_t", "ulong", "unsigned long", "unsigned long long",
                                            "unsigned long long int"},
                                           {"f16", "float16", "half"},
                                           {"f32", "float32", "float"},
                                           {"f64", "float64", "double"}};
    static const char *const others[] = {"", ",", " ", "f", "floa", "loat", "floats", "Float", "float,", ",float",
                                         "float,double", "float32,float", " float", "float ", "unsigned  int", "u128",
                                         "float2", "void", "custom", "unsigned float", "GPUSCAN_TYPE_F32"};
    gpuscan_type type;
    size_t       t, n;
    (void)state;
    for (t = 1; t < sizeof names / sizeof *names; t++)
        for (n = 0; n < 8 && names[t][n]; n++) {
            assert_int_equal(gpuscan_type_from_name(names[t][n], &type), GPUSCAN_SUCCESS);
            assert_int_equal(type, t);
        }
    for (n = 0; n < sizeof others / sizeof *others; n++) {
        type = GPUSCAN_TYPE_F32;
        assert_int_equal(gpuscan_type_from_name(others[n], &type), GPUSCAN_ERROR_INVALID_TYPE);
        assert_int_equal(type, GPUSCAN_TYPE_DEFAULT);
    }
    type = GPUSCAN_TYPE_F32;
    assert_int_equal(gpuscan_type_from_name(NULL, &type), GPUSCAN_ERROR_INVALID_ARGUMENT);
    assert_int_equal(type, GPUSCAN_TYPE_DEFAULT);
    assert_int_equal(gpuscan_type_from_name("float", NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
}

/* ---- host arrays ------------------------------------------------------------------------------------------------- */

static struct {
    cl_uint src[ROWS * PITCH], dst[ROWS * PITCH], result[4], counts[BINS + 2], addend[N];
    cl_uint guard;
} host;

static void host_reset(void) {
    memset(&host, 0x5A, sizeof host);
}

/* Checks that the call is refused and that no byte of the host's memory changes. */
static void host_refused(gpuscan_result got, gpuscan_result wanted, const char *word) {
    const unsigned char *bytes = (const unsigned char *)&host;
    size_t i;
    refused(got, wanted, NULL, word);
    for (i = 0; i < sizeof host; i++)
        if (bytes[i] != 0x5A)
            fail_msg("%s: host memory was written", test.what);
}

#define HOST(operation, call, result, word, ...)                                                                       \
    do {                                                                                                               \
        gpuscan_##operation##_desc d;                                                                                  \
        memset(&d, 0, sizeof d);                                                                                       \
        __VA_ARGS__;                                                                                                   \
        test_case(#call ", %s", #__VA_ARGS__);                                                                         \
        host_refused(call, result, word);                                                                              \
    } while (0)

#define SCAN_HOST(result, word, ...)                                                                                   \
    HOST(scan, gpuscan_scan_host(test.gs, host.src, host.dst, N, &d), result, word, __VA_ARGS__)
#define ADD_HOST(result, word, ...)                                                                                    \
    HOST(uniform_add, gpuscan_uniform_add_host(test.gs, host.addend, host.dst, N, 10, &d), result, word, __VA_ARGS__)
#define REDUCE_HOST(wanted, word, ...)                                                                                 \
    HOST(reduce, gpuscan_reduce_host(test.gs, host.src, host.result, N, &d), wanted, word, __VA_ARGS__)
#define HISTOGRAM_HOST(result, word, ...)                                                                              \
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, host.counts, N, &d), result, word, d.bins = BINS;        \
         __VA_ARGS__)

static void test_host(void **state) {
    const uint64_t half = UINT64_C(1) << 63;
    cl_uint one = 1;
    (void)state;
    host_reset();
    HOST(scan, gpuscan_scan_host(test.gs, NULL, host.dst, N, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "src", (void)0);
    HOST(scan, gpuscan_scan_host(test.gs, host.src, NULL, N, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", (void)0);
    HOST(scan, gpuscan_scan_host(test.gs, NULL, NULL, N, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT, "", (void)d);
    HOST(scan, gpuscan_scan_host(test.gs, host.src, host.dst, half, &d), GPUSCAN_ERROR_SIZE_OVERFLOW, "count", (void)0);
    HOST(scan, gpuscan_scan_host(test.gs, host.src, host.dst, UINT64_MAX, &d), GPUSCAN_ERROR_SIZE_OVERFLOW, "count",
         (void)0);
    /* src equals dst or lies apart */
    HOST(scan, gpuscan_scan_host(test.gs, host.src, host.src + 1, N, &d), GPUSCAN_ERROR_OVERLAP, "dst", (void)0);
    HOST(scan, gpuscan_scan_host(test.gs, host.src + N - 1, host.src, N, &d), GPUSCAN_ERROR_OVERLAP, "dst", (void)0);
    HOST(scan, gpuscan_scan_host(test.gs, host.src, host.src, N, &d), GPUSCAN_ERROR_OVERLAP, "dst",
         d.dst_type = GPUSCAN_TYPE_U64);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "count", d.count = N);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src", d.src = f.in.at);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst = f.out.at);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src", d.src.offset = 1);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst.offset = 1);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src_type", d.src_type = GPUSCAN_TYPE_COUNT);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "kind", d.kind = (gpuscan_scan_kind)7);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_ARGMIN);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "init", d.init = &one; d.init_buffer = f.scratch);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src_pitch", d.rows = 2; d.src_pitch = 1);
    HOST(scan, gpuscan_scan_host(test.gs, host.src, host.src, 10, &d), GPUSCAN_ERROR_OVERLAP, "dst", d.rows = 2;
         d.dst_pitch = 11); /* in place, but with other rows */
    SCAN_HOST(GPUSCAN_ERROR_SIZE_OVERFLOW, "rows", d.rows = half);
    SCAN_HOST(GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", d.rows = 3; d.dst_pitch = half);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_CONTEXT, "total", d.total = f.foreign);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_CONTEXT, "queue", d.call.queue = f.queue);
    SCAN_HOST(GPUSCAN_ERROR_INVALID_EVENT, "wait_list", d.call.wait_count = 3);
    HOST(scan, gpuscan_scan_host(test.gs, host.src, host.dst, half / 2, &d), GPUSCAN_ERROR_SIZE_OVERFLOW, "src",
         (void)0);

    HOST(uniform_add, gpuscan_uniform_add_host(test.gs, NULL, host.dst, N, 10, &d), GPUSCAN_ERROR_INVALID_ARGUMENT,
         "addend", (void)0);
    HOST(uniform_add, gpuscan_uniform_add_host(test.gs, host.addend, NULL, N, 10, &d), GPUSCAN_ERROR_INVALID_ARGUMENT,
         "dst", (void)0);
    HOST(uniform_add, gpuscan_uniform_add_host(test.gs, host.addend, host.dst, N, 0, &d),
         GPUSCAN_ERROR_INVALID_ARGUMENT, "block", (void)0);
    HOST(uniform_add, gpuscan_uniform_add_host(test.gs, host.dst + 3, host.dst, N, 10, &d), GPUSCAN_ERROR_OVERLAP,
         "dst", (void)0);
    HOST(uniform_add, gpuscan_uniform_add_host(test.gs, host.addend, host.dst, half, half, &d),
         GPUSCAN_ERROR_SIZE_OVERFLOW, "count", (void)0);
    ADD_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "count", d.count = N);
    ADD_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "block", d.block = 10);
    ADD_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst = f.out.at);
    ADD_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst.offset = 1);
    ADD_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "addend", d.addend.offset = 1);
    ADD_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "addend", d.addend = f.in.at);
    ADD_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "type", d.type = GPUSCAN_TYPE_COUNT);
    ADD_HOST(GPUSCAN_ERROR_INVALID_OPERATOR, "op", d.op = GPUSCAN_OP_ARGMAX);
    ADD_HOST(GPUSCAN_ERROR_INVALID_CONTEXT, "queue", d.call.queue = f.queue);
    HOST(uniform_add, gpuscan_uniform_add_host(test.gs, host.addend, host.dst, half / 2, half, &d),
         GPUSCAN_ERROR_SIZE_OVERFLOW, "dst", (void)0);

    HOST(reduce, gpuscan_reduce_host(test.gs, NULL, host.result, N, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "src",
         (void)0);
    HOST(reduce, gpuscan_reduce_host(test.gs, host.src, NULL, N, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "result",
         (void)0);
    HOST(reduce, gpuscan_reduce_host(test.gs, host.src, host.result, half, &d), GPUSCAN_ERROR_SIZE_OVERFLOW, "count",
         (void)0);
    REDUCE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "count", d.count = N);
    REDUCE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src", d.src = f.in.at);
    REDUCE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst = f.out.at);
    REDUCE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst.offset = 1);
    REDUCE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src", d.src.offset = 1);
    REDUCE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "result", d.result = &one);
    REDUCE_HOST(GPUSCAN_ERROR_INVALID_TYPE, "dst_type", d.op = GPUSCAN_OP_ARGMIN; d.dst_type = GPUSCAN_TYPE_F32);
    REDUCE_HOST(GPUSCAN_ERROR_INVALID_CONTEXT, "queue", d.call.queue = f.queue);
    HOST(reduce, gpuscan_reduce_host(test.gs, host.src, host.result, half / 2, &d), GPUSCAN_ERROR_SIZE_OVERFLOW, "src",
         (void)0);

    HOST(histogram, gpuscan_histogram_host(test.gs, NULL, host.counts, N, &d), GPUSCAN_ERROR_INVALID_ARGUMENT,
         "samples", d.bins = BINS);
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, NULL, N, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "counts",
         d.bins = BINS);
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, host.counts, half, &d), GPUSCAN_ERROR_SIZE_OVERFLOW,
         "count", d.bins = BINS;
         d.sample_type = GPUSCAN_TYPE_U32);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "count", d.count = N);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "samples", d.samples = f.in.at);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "counts", d.counts = f.counts.at);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "edges", d.edges = f.in.at);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "weights", d.weights = f.in.at);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "samples", d.samples.offset = 1);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "counts", d.counts.offset = 1);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "edges", d.edges.offset = 1);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "weights", d.weights.offset = 1);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "edges", d.form = GPUSCAN_BINS_EDGES);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "form", d.host_edges = &one);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "channels", d.channels = 9);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_BINS, "upper", d.lower.u = 9; d.upper.u = 3);
    HISTOGRAM_HOST(GPUSCAN_ERROR_INVALID_CONTEXT, "queue", d.call.queue = f.queue);
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, host.src + N - 1, N, &d), GPUSCAN_ERROR_OVERLAP,
         "overlap", d.bins = BINS;
         d.sample_type = GPUSCAN_TYPE_U32);
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, host.counts, N, &d), GPUSCAN_ERROR_OVERLAP, "weights",
         d.bins = BINS;
         d.host_weights = host.counts);
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, host.counts, N, &d), GPUSCAN_ERROR_OVERLAP, "weights",
         d.bins = BINS; d.weight_type = GPUSCAN_TYPE_U8;
         d.host_weights = (const unsigned char *)host.counts - N + 1);
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, host.counts, N, &d), GPUSCAN_ERROR_OVERLAP, "edges",
         d.bins = BINS; d.form = GPUSCAN_BINS_EDGES; d.sample_type = GPUSCAN_TYPE_U16;
         d.host_edges = (const unsigned char *)host.counts + BINS * 4 - 1);
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, host.counts, N, &d), GPUSCAN_ERROR_OVERLAP, "edges",
         d.bins = BINS; d.form = GPUSCAN_BINS_EDGES; d.sample_type = GPUSCAN_TYPE_F16;
         d.host_edges = (const unsigned char *)host.counts - BINS * 4 - 3);
    HOST(histogram, gpuscan_histogram_host(test.gs, host.src, host.counts, half / 2, &d), GPUSCAN_ERROR_SIZE_OVERFLOW,
         "samples", d.bins = BINS;
         d.sample_type = GPUSCAN_TYPE_U32);
}

#define SORT_HOST(result, word, ...)                                                                                   \
    HOST(sort, gpuscan_sort_host(test.gs, host.src, host.dst, NULL, N, &d), result, word, __VA_ARGS__)

static void test_sort_host(void **state) {
    const uint64_t half = UINT64_C(1) << 63;
    (void)state;
    host_reset();
    HOST(sort, gpuscan_sort_host(test.gs, NULL, host.dst, NULL, N, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "src", (void)0);
    HOST(sort, gpuscan_sort_host(test.gs, host.src, NULL, NULL, N, &d), GPUSCAN_ERROR_INVALID_BUFFER, "dst", (void)0);
    HOST(sort, gpuscan_sort_host(test.gs, host.src, host.dst, NULL, half, &d), GPUSCAN_ERROR_SIZE_OVERFLOW, "count",
         (void)0);
    HOST(sort, gpuscan_sort_host(test.gs, host.src, host.src + 1, NULL, N, &d), GPUSCAN_ERROR_OVERLAP, "dst", (void)0);
    HOST(sort, gpuscan_sort_host(test.gs, host.src, host.dst, host.dst + N - 1, N, &d), GPUSCAN_ERROR_OVERLAP,
         "permutation", (void)0);
    HOST(sort, gpuscan_sort_host(test.gs, host.src, NULL, host.src, N, &d), GPUSCAN_ERROR_OVERLAP, "permutation",
         (void)0);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "count", d.count = N);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src", d.src = f.in.at);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst = f.out.at);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "permutation", d.permutation = f.out.at);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "permutation", d.permutation.offset = 1);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src", d.src.offset = 1);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst.offset = 1);
    SORT_HOST(GPUSCAN_ERROR_INVALID_TYPE, "key_type", d.key_type = GPUSCAN_TYPE_CUSTOM);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "bit_begin", d.bit_begin = 32);
    SORT_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads", d.payload_count = 2);
    SORT_HOST(GPUSCAN_ERROR_INVALID_CONTEXT, "queue", d.call.queue = f.queue);
}

#define INTEGRAL_HOST(result, word, ...)                                                                               \
    HOST(integral, gpuscan_integral_host(test.gs, host.src, host.dst, 9, 9, &d), result, word, __VA_ARGS__)
#define QUANTILE_HOST(result, word, ...)                                                                               \
    HOST(quantile, gpuscan_quantile_host(test.gs, host.src, host.dst, &d), result, word,                               \
         d.fractions = quantile_fractions; d.fraction_count = 2; d.bins = 50; __VA_ARGS__)

static void test_table_host(void **state) {
    (void)state;
    host_reset();
    HOST(integral, gpuscan_integral_host(test.gs, NULL, host.dst, 9, 9, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "src",
         (void)0);
    HOST(integral, gpuscan_integral_host(test.gs, host.src, NULL, 9, 9, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "dst",
         (void)0);
    HOST(integral, gpuscan_integral_host(test.gs, host.src, host.src, 9, 9, &d), GPUSCAN_ERROR_OVERLAP, "dst", (void)0);
    INTEGRAL_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "width", d.width = 9);
    INTEGRAL_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "height", d.height = 9);
    INTEGRAL_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "src", d.src = f.in.at);
    INTEGRAL_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "dst", d.dst.offset = 1);
    INTEGRAL_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "channels", d.channels = 9);
    INTEGRAL_HOST(GPUSCAN_ERROR_INVALID_CONTEXT, "queue", d.call.queue = f.queue);
    HOST(quantile, gpuscan_quantile_host(test.gs, host.src, host.dst, NULL), GPUSCAN_ERROR_INVALID_ARGUMENT,
         "fractions", (void)d);
    HOST(quantile, gpuscan_quantile_host(test.gs, NULL, host.dst, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "counts",
         d.fractions = quantile_fractions; d.fraction_count = 1);
    QUANTILE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "counts", d.counts = f.in.at);
    QUANTILE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "edges", d.edges = f.in.at);
    QUANTILE_HOST(GPUSCAN_ERROR_INVALID_ARGUMENT, "cdf", d.cdf.offset = 3);
    QUANTILE_HOST(GPUSCAN_ERROR_OVERLAP, "cdf", d.host_cdf = host.dst);
    QUANTILE_HOST(GPUSCAN_ERROR_OVERLAP, "edges", d.host_edges = host.dst);
}

static void test_kept_host(void **state) {
    uint64_t kept;
    (void)state;
    host_reset();
    HOST(select, gpuscan_select_host(test.gs, NULL, host.src, host.dst, N, &kept, &d), GPUSCAN_ERROR_INVALID_ARGUMENT,
         "src", (void)0);
    HOST(select, gpuscan_select_host(test.gs, host.src, NULL, host.dst, N, &kept, &d), GPUSCAN_ERROR_INVALID_ARGUMENT,
         "flags", (void)0);
    HOST(runs, gpuscan_runs_host(test.gs, NULL, host.dst, N, &kept, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "keys",
         (void)0);
    HOST(runs, gpuscan_runs_host(test.gs, host.src, NULL, N, &kept, &d), GPUSCAN_ERROR_INVALID_ARGUMENT, "src",
         d.host_dst = host.dst);
    HOST(runs, gpuscan_runs_host(test.gs, host.src, host.dst, N, &kept, &d), GPUSCAN_ERROR_OVERLAP, "lengths",
         d.host_lengths = host.dst);
}

/* The same with host arrays that are copied: all arguments are checked before the first copy. */
static void test_host_copied(void **state) {
    gpuscan_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.without = GPUSCAN_WITHOUT_ZERO_COPY;
    test_limit(&limits);
    test_host(state);
    test_sort_host(state);
    test_table_host(state);
    test_kept_host(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(test_null_object),      CASE(test_type_sizes),     CASE(test_type_names),
        CASE(test_scan_call),      CASE(test_uniform_add_call),
        CASE(test_reduce_call),    CASE(test_histogram_call),
        CASE(test_scan_buffers),   CASE(test_uniform_add_buffers),
        CASE(test_reduce_buffers), CASE(test_histogram_buffers),
        CASE(test_scan_types),     CASE(test_uniform_add_types),
        CASE(test_reduce_types),   CASE(test_histogram_types),
        CASE(test_histogram_bins), CASE(test_pitches),
        CASE(test_scan_overflow),  CASE(test_other_overflow),
        CASE(test_rows_in_gaps),   CASE(test_rows_in_gaps_accepted),
        CASE(test_scan_overlap),   CASE(test_uniform_add_overlap),
        CASE(test_reduce_overlap), CASE(test_histogram_overlap),
        CASE(test_scan_segments),
        CASE(test_reduce_segments),
        CASE(test_scratch_sizes),  CASE(test_unsupported), CASE(test_ignored_buffers),
        CASE(test_host),           CASE(test_host_copied),
        CASE(test_size_overflow),  CASE(test_invalid_handle),
        CASE(test_select_call),    CASE(test_select_buffers),
        CASE(test_select_types),   CASE(test_select_overflow),
        CASE(test_select_overlap), CASE(test_runs_call),
        CASE(test_runs_buffers),   CASE(test_runs_types),
        CASE(test_runs_overflow),  CASE(test_runs_overlap),
        CASE(test_many_samples),   CASE(test_objects_of_other_drivers),
        CASE(test_sort_call),      CASE(test_sort_buffers),
        CASE(test_sort_types),     CASE(test_sort_overlap),
        CASE(test_sort_host),      CASE(test_table_host),
        CASE(test_integral_call),  CASE(test_integral_buffers),
        CASE(test_integral_types), CASE(test_images), CASE(test_integral_overlap),
        CASE(test_quantile_call),  CASE(test_quantile_buffers),
        CASE(test_quantile_types), CASE(test_quantile_overlap),
        CASE(test_kept_host),
    };
    cmocka_set_test_filter(getenv("GPUSCAN_TEST_ONLY"));
    return cmocka_run_group_tests_name("arguments", tests, open_all, close_all);
}
