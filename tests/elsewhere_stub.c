/* A stub of OpenCL for machines without any: one platform, STUB_DEVICES devices of version STUB_VERSION, objects without
   anything behind them. Kernels are not run; buffers hold what is written. */
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* All objects are of this kind: bytes are a buffer's. */
typedef struct stub {
    int references;
    size_t size;
    cl_mem_flags flags;
    unsigned char *bytes;
} stub;

static char platform, device, context_tag;

static void *make(size_t size, cl_int *status) {
    stub *object = (stub *)calloc(1, sizeof *object + size);
    if (object) {
        object->references = 1;
        object->size = size;
        object->bytes = (unsigned char *)(object + 1);
    }
    if (status)
        *status = object ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return object;
}

static cl_int retain(void *object) {
    ((stub *)object)->references++;
    return CL_SUCCESS;
}

static cl_int release(void *object) {
    if (--((stub *)object)->references == 0)
        free(object);
    return CL_SUCCESS;
}

static cl_int give(const void *from, size_t bytes, size_t size, void *value, size_t *needed) {
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

static cl_int give_text(const char *text, size_t size, void *value, size_t *needed) {
    return give(text, strlen(text) + 1, size, value, needed);
}

static cl_int give_uint(cl_uint number, size_t size, void *value, size_t *needed) {
    return give(&number, sizeof number, size, value, needed);
}

static cl_int give_ulong(cl_ulong number, size_t size, void *value, size_t *needed) {
    return give(&number, sizeof number, size, value, needed);
}

static cl_int give_size(size_t number, size_t size, void *value, size_t *needed) {
    return give(&number, sizeof number, size, value, needed);
}

static cl_int give_pointer(const void *pointer, size_t size, void *value, size_t *needed) {
    return give(&pointer, sizeof pointer, size, value, needed);
}

static cl_int done(cl_event *event) {
    cl_int status = CL_SUCCESS;
    if (event)
        *event = (cl_event)make(0, &status);
    return status;
}

cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id *ids, cl_uint *found) {
    if (ids && count)
        ids[0] = (cl_platform_id)&platform;
    if (found)
        *found = 1;
    return CL_SUCCESS;
}
cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t size, void *value,
                                     size_t *needed) {
    (void)id;
    (void)what;
    return give_text("stub platform", size, value, needed);
}
cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id id, cl_device_type type, cl_uint count, cl_device_id *ids,
                                  cl_uint *found) {
    const char *devices = getenv("STUB_DEVICES");
    int there = devices == NULL || atoi(devices) > 0;
    (void)id;
    (void)type;
    if (ids && count && there)
        ids[0] = (cl_device_id)&device;
    if (found)
        *found = (cl_uint)there;
    return there ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}
cl_int CL_API_CALL clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed) {
    static const size_t sizes[3] = {256, 256, 256};
    const char *version = getenv("STUB_VERSION");
    (void)id;
    switch (what) {
    case CL_DEVICE_TYPE:
        return give_ulong(CL_DEVICE_TYPE_ACCELERATOR, size, value, needed);
    case CL_DEVICE_NAME:
        return give_text("stub", size, value, needed);
    case CL_DEVICE_VERSION:
        return give_text(version ? version : "OpenCL 1.2 stub", size, value, needed);
    case CL_DEVICE_OPENCL_C_VERSION:
        return give_text("OpenCL C 1.2", size, value, needed);
    case CL_DRIVER_VERSION:
        return give_text("1", size, value, needed);
    case CL_DEVICE_EXTENSIONS:
        return give_text("cl_khr_int64_base_atomics", size, value, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return give(sizes, sizeof sizes, size, value, needed);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return give_size(256, size, value, needed);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return give_ulong(32768, size, value, needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return give_ulong((cl_ulong)1 << 30, size, value, needed);
    case CL_DEVICE_PLATFORM:
        return give_pointer(&platform, size, value, needed);
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_MAX_COMPUTE_UNITS:
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return give_uint(1, size, value, needed);
    default:
        return give_ulong(0, size, value, needed);
    }
}
cl_context CL_API_CALL clCreateContext(const cl_context_properties *properties, cl_uint count,
                                       const cl_device_id *devices,
                                       void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                       void *user, cl_int *status) {
    (void)properties;
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    if (status)
        *status = CL_SUCCESS;
    return (cl_context)&context_tag;
}
cl_int CL_API_CALL clRetainContext(cl_context object) {
    (void)object;
    return CL_SUCCESS;
}
cl_int CL_API_CALL clReleaseContext(cl_context object) {
    (void)object;
    return CL_SUCCESS;
}
cl_int CL_API_CALL clGetContextInfo(cl_context id, cl_context_info what, size_t size, void *value, size_t *needed) {
    (void)id;
    (void)what;
    return give_pointer(&device, size, value, needed);
}
cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id id,
                                                  cl_command_queue_properties properties, cl_int *status) {
    (void)context;
    (void)id;
    (void)properties;
    return (cl_command_queue)make(0, status);
}
cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue object) {
    return retain(object);
}
cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue object) {
    return release(object);
}
cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue id, cl_command_queue_info what, size_t size, void *value,
                                         size_t *needed) {
    (void)id;
    if (what == CL_QUEUE_CONTEXT)
        return give_pointer(&context_tag, size, value, needed);
    if (what == CL_QUEUE_DEVICE)
        return give_pointer(&device, size, value, needed);
    return give_ulong(0, size, value, needed);
}
cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status) {
    stub *object = (stub *)make(size, status);
    (void)context;
    (void)host;
    if (object)
        object->flags = flags;
    return (cl_mem)object;
}
cl_int CL_API_CALL clRetainMemObject(cl_mem object) {
    return retain(object);
}
cl_int CL_API_CALL clReleaseMemObject(cl_mem object) {
    return release(object);
}
cl_int CL_API_CALL clGetMemObjectInfo(cl_mem id, cl_mem_info what, size_t size, void *value, size_t *needed) {
    const stub *object = (const stub *)(void *)id;
    switch (what) {
    case CL_MEM_TYPE:
        return give_uint(CL_MEM_OBJECT_BUFFER, size, value, needed);
    case CL_MEM_SIZE:
        return give_size(object->size, size, value, needed);
    case CL_MEM_FLAGS:
        return give_ulong(object->flags, size, value, needed);
    case CL_MEM_CONTEXT:
        return give_pointer(&context_tag, size, value, needed);
    default:
        return give_pointer(NULL, size, value, needed);
    }
}
cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **lines,
                                                 const size_t *lengths, cl_int *status) {
    (void)context;
    (void)count;
    (void)lines;
    (void)lengths;
    return (cl_program)make(0, status);
}
cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                                 const size_t *sizes, const unsigned char **binaries, cl_int *each,
                                                 cl_int *status) {
    (void)context;
    (void)count;
    (void)devices;
    (void)sizes;
    (void)binaries;
    if (each)
        *each = CL_SUCCESS;
    return (cl_program)make(0, status);
}
cl_int CL_API_CALL clReleaseProgram(cl_program object) {
    return release(object);
}
cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                  void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    (void)program;
    (void)count;
    (void)devices;
    (void)options;
    (void)notify;
    (void)user;
    return CL_SUCCESS;
}
cl_int CL_API_CALL clGetProgramInfo(cl_program id, cl_program_info what, size_t size, void *value, size_t *needed) {
    (void)id;
    if (what == CL_PROGRAM_BINARY_SIZES)
        return give_size(5, size, value, needed);
    if (what == CL_PROGRAM_DEVICES)
        return give_pointer(&device, size, value, needed);
    if (size < sizeof(unsigned char *))
        return CL_INVALID_VALUE;
    memcpy(*(unsigned char **)value, "12345", 5);
    return CL_SUCCESS;
}
cl_int CL_API_CALL clGetProgramBuildInfo(cl_program id, cl_device_id of, cl_program_build_info what, size_t size,
                                         void *value, size_t *needed) {
    (void)id;
    (void)of;
    (void)what;
    return give_text("", size, value, needed);
}
cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *status) {
    (void)program;
    (void)name;
    return (cl_kernel)make(0, status);
}
cl_int CL_API_CALL clReleaseKernel(cl_kernel object) {
    return release(object);
}
cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    (void)kernel;
    (void)index;
    (void)value;
    return size ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
}
cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel id, cl_device_id of, cl_kernel_work_group_info what, size_t size,
                                            void *value, size_t *needed) {
    (void)id;
    (void)of;
    (void)what;
    return give_size(256, size, value, needed);
}
cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event *events) {
    return count && events ? CL_SUCCESS : CL_INVALID_VALUE;
}
cl_int CL_API_CALL clGetEventInfo(cl_event id, cl_event_info what, size_t size, void *value, size_t *needed) {
    (void)id;
    if (what == CL_EVENT_CONTEXT)
        return give_pointer(&context_tag, size, value, needed);
    return give_uint(CL_COMPLETE, size, value, needed);
}
cl_int CL_API_CALL clRetainEvent(cl_event object) {
    return retain(object);
}
cl_int CL_API_CALL clReleaseEvent(cl_event object) {
    return release(object);
}
cl_int CL_API_CALL clFlush(cl_command_queue queue) {
    (void)queue;
    return CL_SUCCESS;
}
cl_int CL_API_CALL clFinish(cl_command_queue queue) {
    (void)queue;
    return CL_SUCCESS;
}
cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void *host, cl_uint waits, const cl_event *wait, cl_event *event) {
    (void)queue;
    (void)blocking;
    (void)waits;
    (void)wait;
    memcpy(host, ((stub *)buffer)->bytes + offset, size);
    return done(event);
}
cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t size, const void *host, cl_uint waits, const cl_event *wait,
                                        cl_event *event) {
    (void)queue;
    (void)blocking;
    (void)waits;
    (void)wait;
    memcpy(((stub *)buffer)->bytes + offset, host, size);
    return done(event);
}
cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
                                       size_t offset, size_t size, cl_uint waits, const cl_event *wait,
                                       cl_event *event) {
    size_t i;
    (void)queue;
    (void)waits;
    (void)wait;
    for (i = 0; i < size; i++)
        ((stub *)buffer)->bytes[offset + i] = ((const unsigned char *)pattern)[i % pattern_size];
    return done(event);
}
void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                                     cl_int *status) {
    (void)queue;
    (void)blocking;
    (void)flags;
    (void)size;
    (void)waits;
    (void)wait;
    if (status)
        *status = done(event);
    return ((stub *)buffer)->bytes + offset;
}
cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint waits,
                                           const cl_event *wait, cl_event *event) {
    (void)queue;
    (void)buffer;
    (void)mapped;
    (void)waits;
    (void)wait;
    return done(event);
}
cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                          const size_t *offset, const size_t *global, const size_t *local,
                                          cl_uint waits, const cl_event *wait, cl_event *event) {
    (void)queue;
    (void)kernel;
    (void)dimensions;
    (void)offset;
    (void)waits;
    (void)wait;
    return global[0] && local[0] && global[0] % local[0] == 0 ? done(event) : CL_INVALID_WORK_GROUP_SIZE;
}
cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event *wait,
                                               cl_event *event) {
    (void)queue;
    (void)waits;
    (void)wait;
    return done(event);
}
