/* An OpenCL entry-point table between the library and the driver, and an allocator: both count what is alive, and both
   can be told to fail. For one thread at a time. */
#ifndef TEST_LAYER_H
#define TEST_LAYER_H

#include "harness.h"

enum { LAYER_OBJECTS = 4096, LAYER_LOG = 65536 };

/* The entry points by number, in the order of the list. */
#define LAYER_INDEX(name, result, parameters) LAYER_##name,
enum { GPUSCAN_OPENCL_FUNCTIONS(LAYER_INDEX) LAYER_FUNCTIONS };
#undef LAYER_INDEX

#define LAYER_NAME(name, result, parameters) #name,
static const char *const layer_names[] = {GPUSCAN_OPENCL_FUNCTIONS(LAYER_NAME) NULL};
#undef LAYER_NAME

typedef struct layer_object {
    void *handle;
    int references; /* those taken through the table */
    int maker;      /* the entry point it came from */
} layer_object;

static struct layer_state {
    gpuscan_opencl driver, table;
    layer_object objects[LAYER_OBJECTS];
    size_t object_count;
    unsigned calls[LAYER_FUNCTIONS]; /* since layer_reset */
    unsigned call;                   /* all of them */
    unsigned short log[LAYER_LOG];   /* which entry point each was */

    unsigned fail_at; /* this call fails, counted from 1; 0: none */
    int fail_on;      /* so do all later ones */
    cl_int fail_code; /* with this */
    int fail_gives;   /* and what it would have made is made all the same */
    int failed;       /* the entry point that failed first, or -1 */

    unsigned allocations, allocation_fail_at;
    int allocation_fail_on, allocation_failed;
    size_t allocated;   /* blocks alive */
    uint64_t bytes;     /* and their size */
    const char *misuse; /* the first: a release too many, a block that is none, a write past its end */
} layer;

static inline void layer_misuse(const char *what) {
    if (layer.misuse == NULL)
        layer.misuse = what;
}

/* ---- faults and counts ------------------------------------------------------------------------------------------- */

/* Releases are carried out even when they report a failure: a driver that keeps the object would leak by itself. */
static inline cl_int layer_enter(int function) {
    unsigned call = ++layer.call;
    layer.calls[function]++;
    if (call <= LAYER_LOG)
        layer.log[call - 1] = (unsigned short)function;
    if (layer.fail_at == 0 || call < layer.fail_at || (call > layer.fail_at && !layer.fail_on))
        return CL_SUCCESS;
    if (layer.failed < 0)
        layer.failed = function;
    return layer.fail_code;
}

static inline layer_object *layer_find(void *handle) {
    size_t i;
    for (i = 0; i < layer.object_count; i++)
        if (layer.objects[i].handle == handle)
            return &layer.objects[i];
    return NULL;
}

static inline void layer_hold(void *handle, int maker) {
    layer_object *object;
    if (handle == NULL)
        return;
    object = layer_find(handle);
    if (object == NULL) {
        if (layer.object_count == LAYER_OBJECTS) {
            layer_misuse("more OpenCL objects than the layer can count");
            return;
        }
        object = &layer.objects[layer.object_count++];
        object->handle = handle;
        object->references = 0;
        object->maker = maker;
    }
    object->references++;
}

static inline void layer_drop(void *handle) {
    layer_object *object = layer_find(handle);
    if (object == NULL) {
        layer_misuse("an OpenCL object was released that the library does not hold");
        return;
    }
    if (--object->references == 0)
        *object = layer.objects[--layer.object_count];
}

/* An object that the library handed to the caller (an event). */
static inline void layer_taken(void *handle) {
    layer_drop(handle);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* An entry point that only reports a status. */
#define LAYER_STATUS(name, parameters, arguments)                                                                      \
    static cl_int CL_API_CALL layer_##name parameters {                                                                \
        cl_int failure = layer_enter(LAYER_##name);                                                                    \
        return failure ? failure : layer.driver.name arguments;                                                        \
    }
/* One that makes an object and reports through its last parameter. */
#define LAYER_MAKE(name, type, parameters, arguments)                                                                  \
    static type CL_API_CALL layer_##name parameters {                                                                  \
        cl_int failure = layer_enter(LAYER_##name);                                                                    \
        type made = NULL;                                                                                              \
        if (failure == CL_SUCCESS || layer.fail_gives)                                                                 \
            made = layer.driver.name arguments;                                                                        \
        if (failure != CL_SUCCESS && status)                                                                           \
            *status = failure;                                                                                         \
        layer_hold(made, LAYER_##name);                                                                                \
        return made;                                                                                                   \
    }
#define LAYER_RETAIN(name, type)                                                                                       \
    static cl_int CL_API_CALL layer_##name(type object) {                                                              \
        cl_int status = layer_enter(LAYER_##name);                                                                     \
        if (status == CL_SUCCESS)                                                                                      \
            status = layer.driver.name(object);                                                                        \
        if (status == CL_SUCCESS)                                                                                      \
            layer_hold(object, LAYER_##name);                                                                          \
        return status;                                                                                                 \
    }
#define LAYER_RELEASE(name, type)                                                                                      \
    static cl_int CL_API_CALL layer_##name(type object) {                                                              \
        cl_int failure = layer_enter(LAYER_##name), status;                                                            \
        layer_drop(object);                                                                                            \
        status = layer.driver.name(object);                                                                            \
        return failure ? failure : status;                                                                             \
    }
/* One that enqueues and may give an event; when it fails, one of something that does nothing. */
#define LAYER_ENQUEUE(name, parameters, arguments)                                                                     \
    static cl_int CL_API_CALL layer_##name parameters {                                                                \
        cl_int failure = layer_enter(LAYER_##name), status = failure;                                                  \
        if (failure == CL_SUCCESS)                                                                                     \
            status = layer.driver.name arguments;                                                                      \
        else if (layer.fail_gives && event)                                                                            \
            status = layer.driver.clEnqueueMarkerWithWaitList(queue, waits, wait, event);                              \
        if (status == CL_SUCCESS && event)                                                                             \
            layer_hold(*event, LAYER_##name);                                                                          \
        return failure ? failure : status;                                                                             \
    }

LAYER_STATUS(clGetPlatformIDs, (cl_uint count, cl_platform_id *ids, cl_uint *found), (count, ids, found))
LAYER_STATUS(clGetPlatformInfo, (cl_platform_id id, cl_platform_info what, size_t size, void *value, size_t *needed),
             (id, what, size, value, needed))
LAYER_STATUS(clGetDeviceIDs, (cl_platform_id id, cl_device_type type, cl_uint count, cl_device_id *ids, cl_uint *found),
             (id, type, count, ids, found))
LAYER_STATUS(clGetDeviceInfo, (cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed),
             (id, what, size, value, needed))
LAYER_MAKE(clCreateContext, cl_context,
           (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
            void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *status),
           (properties, count, devices, notify, user, status))
LAYER_RETAIN(clRetainContext, cl_context)
LAYER_RELEASE(clReleaseContext, cl_context)
LAYER_STATUS(clGetContextInfo, (cl_context id, cl_context_info what, size_t size, void *value, size_t *needed),
             (id, what, size, value, needed))
LAYER_MAKE(clCreateCommandQueue, cl_command_queue,
           (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *status),
           (context, device, properties, status))
LAYER_RETAIN(clRetainCommandQueue, cl_command_queue)
LAYER_RELEASE(clReleaseCommandQueue, cl_command_queue)
LAYER_STATUS(clGetCommandQueueInfo,
             (cl_command_queue id, cl_command_queue_info what, size_t size, void *value, size_t *needed),
             (id, what, size, value, needed))
LAYER_MAKE(clCreateBuffer, cl_mem, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status),
           (context, flags, size, host, status))
LAYER_RETAIN(clRetainMemObject, cl_mem)
LAYER_RELEASE(clReleaseMemObject, cl_mem)
LAYER_STATUS(clGetMemObjectInfo, (cl_mem id, cl_mem_info what, size_t size, void *value, size_t *needed),
             (id, what, size, value, needed))
LAYER_MAKE(clCreateProgramWithSource, cl_program,
           (cl_context context, cl_uint count, const char **lines, const size_t *lengths, cl_int *status),
           (context, count, lines, lengths, status))
LAYER_MAKE(clCreateProgramWithBinary, cl_program,
           (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes,
            const unsigned char **binaries, cl_int *each, cl_int *status),
           (context, count, devices, sizes, binaries, each, status))
LAYER_RELEASE(clReleaseProgram, cl_program)
LAYER_STATUS(clBuildProgram,
             (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
              void(CL_CALLBACK *notify)(cl_program, void *), void *user),
             (program, count, devices, options, notify, user))
LAYER_STATUS(clGetProgramInfo, (cl_program id, cl_program_info what, size_t size, void *value, size_t *needed),
             (id, what, size, value, needed))
LAYER_STATUS(clGetProgramBuildInfo,
             (cl_program id, cl_device_id device, cl_program_build_info what, size_t size, void *value, size_t *needed),
             (id, device, what, size, value, needed))
LAYER_MAKE(clCreateKernel, cl_kernel, (cl_program program, const char *name, cl_int *status), (program, name, status))
LAYER_RELEASE(clReleaseKernel, cl_kernel)
LAYER_STATUS(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
             (kernel, index, size, value))
LAYER_STATUS(clGetKernelWorkGroupInfo,
             (cl_kernel id, cl_device_id device, cl_kernel_work_group_info what, size_t size, void *value,
              size_t *needed),
             (id, device, what, size, value, needed))
LAYER_STATUS(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
LAYER_STATUS(clGetEventInfo, (cl_event id, cl_event_info what, size_t size, void *value, size_t *needed),
             (id, what, size, value, needed))
LAYER_RETAIN(clRetainEvent, cl_event)
LAYER_RELEASE(clReleaseEvent, cl_event)
LAYER_STATUS(clFlush, (cl_command_queue queue), (queue))
LAYER_STATUS(clFinish, (cl_command_queue queue), (queue))
LAYER_ENQUEUE(clEnqueueReadBuffer,
              (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *host,
               cl_uint waits, const cl_event *wait, cl_event *event),
              (queue, buffer, blocking, offset, size, host, waits, wait, event))
LAYER_ENQUEUE(clEnqueueWriteBuffer,
              (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *host,
               cl_uint waits, const cl_event *wait, cl_event *event),
              (queue, buffer, blocking, offset, size, host, waits, wait, event))
LAYER_ENQUEUE(clEnqueueFillBuffer,
              (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset,
               size_t size, cl_uint waits, const cl_event *wait, cl_event *event),
              (queue, buffer, pattern, pattern_size, offset, size, waits, wait, event))
static void *CL_API_CALL layer_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                  cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                                                  const cl_event *wait, cl_event *event, cl_int *status) {
    cl_int failure = layer_enter(LAYER_clEnqueueMapBuffer);
    void *mapped = NULL;
    if (failure == CL_SUCCESS || layer.fail_gives)
        mapped =
            layer.driver.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits, wait, event, status);
    if (failure != CL_SUCCESS && status)
        *status = failure;
    if (mapped && event)
        layer_hold(*event, LAYER_clEnqueueMapBuffer);
    return mapped;
}
LAYER_ENQUEUE(clEnqueueUnmapMemObject,
              (cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint waits, const cl_event *wait,
               cl_event *event),
              (queue, buffer, mapped, waits, wait, event))
LAYER_ENQUEUE(clEnqueueNDRangeKernel,
              (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
               const size_t *local, cl_uint waits, const cl_event *wait, cl_event *event),
              (queue, kernel, dimensions, offset, global, local, waits, wait, event))
LAYER_ENQUEUE(clEnqueueMarkerWithWaitList,
              (cl_command_queue queue, cl_uint waits, const cl_event *wait, cl_event *event),
              (queue, waits, wait, event))

/* ---- the allocator ----------------------------------------------------------------------------------------------- */

/* Each block: its size and a word that marks it as one, the memory, and bytes behind it that must stay. */
enum { LAYER_HEADER = 32, LAYER_TAIL = 16 };
static const uint64_t layer_mark = UINT64_C(0xB10CB10CB10CB10C);

static void *layer_allocate(size_t size, void *user) {
    unsigned call = ++layer.allocations;
    unsigned char *block;
    uint64_t header[2];
    if (user != &layer)
        layer_misuse("the allocator got another user pointer");
    if (layer.allocation_fail_at && call >= layer.allocation_fail_at &&
        (call == layer.allocation_fail_at || layer.allocation_fail_on)) {
        layer.allocation_failed = 1;
        return NULL;
    }
    block = (unsigned char *)malloc(LAYER_HEADER + size + LAYER_TAIL);
    if (block == NULL)
        return NULL;
    header[0] = layer_mark;
    header[1] = size;
    memcpy(block, header, sizeof header);
    memset(block + LAYER_HEADER, 0xA5, size + LAYER_TAIL); /* not zero: the library must not count on it */
    layer.allocated++;
    layer.bytes += size;
    return block + LAYER_HEADER;
}

static void layer_free(void *memory, void *user) {
    unsigned char *block = (unsigned char *)memory - LAYER_HEADER;
    uint64_t header[2];
    int i;
    if (user != &layer)
        layer_misuse("the allocator got another user pointer");
    if (memory == NULL) {
        layer_misuse("NULL was released");
        return;
    }
    memcpy(header, block, sizeof header);
    if (header[0] != layer_mark) {
        layer_misuse("host memory was released that is none of the allocator's");
        return;
    }
    for (i = 0; i < LAYER_TAIL; i++)
        if (block[LAYER_HEADER + header[1] + (size_t)i] != 0xA5)
            layer_misuse("host memory was written past its end");
    layer.allocated--;
    layer.bytes -= header[1];
    memset(block, 0xDD, LAYER_HEADER + (size_t)header[1] + LAYER_TAIL);
    free(block);
}

/* ---- use --------------------------------------------------------------------------------------------------------- */

/* Counts start at 0 and nothing fails; what is alive stays counted. */
static inline void layer_reset(void) {
    memset(layer.calls, 0, sizeof layer.calls);
    layer.call = 0;
    layer.fail_at = 0;
    layer.fail_on = 0;
    layer.fail_code = CL_SUCCESS;
    layer.fail_gives = 0;
    layer.failed = -1;
    layer.allocations = 0;
    layer.allocation_fail_at = 0;
    layer.allocation_fail_on = 0;
    layer.allocation_failed = 0;
}

static inline void layer_open(void) {
    memset(&layer, 0, sizeof layer);
#define LAYER_FILL(name, result, parameters)                                                                           \
    layer.driver.name = name;                                                                                          \
    layer.table.name = layer_##name;
    GPUSCAN_OPENCL_FUNCTIONS(LAYER_FILL)
#undef LAYER_FILL
    layer_reset();
}

/* A desc on the test's context, device and queue that goes through the layer. */
static inline gpuscan_desc layer_desc(void) {
    gpuscan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    desc.queue = test.queue;
    desc.opencl = &layer.table;
    desc.allocator.allocate = layer_allocate;
    desc.allocator.release = layer_free;
    desc.allocator.user = &layer;
    return desc;
}

/* Nothing may be alive any more, and nothing went wrong on the way. */
static inline void layer_expect_empty(void) {
    if (layer.misuse)
        fail_msg("%s: %s", test.what, layer.misuse);
    if (layer.object_count)
        fail_msg("%s: %zu OpenCL objects are left, the first from %s with %d references", test.what, layer.object_count,
                 layer_names[layer.objects[0].maker], layer.objects[0].references);
    if (layer.allocated)
        fail_msg("%s: %zu blocks of host memory are left", test.what, layer.allocated);
}

#endif /* TEST_LAYER_H */
