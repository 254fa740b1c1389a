/* cc -shared -fPIC tests/cl_layer.c -o layer.so; then OPENCL_LAYERS=layer.so in the environment of a program that uses
   an ICD loader which knows layers (ocl-icd 2.3, Khronos' loader 3.0). See cl_layer.h.

   It shares nothing with tests/layer.h: the one counts inside of the library's own table, the other outside. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>
#include <string.h>

#include "cl_layer.h"

static cl_layer_control control;
static struct _cl_icd_dispatch layer;
static const struct _cl_icd_dispatch *next;

cl_layer_control *cl_layer(void);
cl_layer_control *cl_layer(void) {
    return &control;
}

static cl_int fails(const char *name) {
    unsigned call;
    if (!control.armed)
        return CL_SUCCESS;
    call = ++control.calls;
    if (control.fail_at == 0 || call < control.fail_at || (call > control.fail_at && !control.fail_on))
        return CL_SUCCESS;
    if (control.failed == NULL)
        control.failed = name;
    return control.fail_code;
}

/* A call that reports a status; live: what it adds to the references when it succeeds. */
#define STATUS(name, live_more, parameters, arguments)                                                                 \
    static cl_int CL_API_CALL layer_##name parameters {                                                                \
        cl_int status = fails(#name);                                                                                  \
        if (status == CL_SUCCESS) {                                                                                    \
            status = next->name arguments;                                                                             \
            if (status == CL_SUCCESS)                                                                                  \
                control.live += (live_more);                                                                           \
        }                                                                                                              \
        return status;                                                                                                 \
    }
/* A release is carried out even where it reports a failure. */
#define RELEASE(name, type)                                                                                            \
    static cl_int CL_API_CALL layer_##name(type object) {                                                              \
        cl_int failure = fails(#name), status = next->name(object);                                                    \
        if (status == CL_SUCCESS)                                                                                      \
            control.live--;                                                                                            \
        return failure ? failure : status;                                                                             \
    }
#define MAKE(name, type, parameters, arguments)                                                                        \
    static type CL_API_CALL layer_##name parameters {                                                                  \
        cl_int failure = fails(#name);                                                                                 \
        type made = NULL;                                                                                              \
        if (failure == CL_SUCCESS)                                                                                     \
            made = next->name arguments;                                                                               \
        else if (status)                                                                                               \
            *status = failure;                                                                                         \
        if (made)                                                                                                      \
            control.live++;                                                                                            \
        return made;                                                                                                   \
    }
#define INFO(name, type, what_type)                                                                                    \
    STATUS(name, 0, (type id, what_type what, size_t size, void *value, size_t *needed),                               \
           (id, what, size, value, needed))
#define INFO_OF(name, type, what_type)                                                                                 \
    STATUS(name, 0, (type id, cl_device_id device, what_type what, size_t size, void *value, size_t *needed),          \
           (id, device, what, size, value, needed))

STATUS(clGetPlatformIDs, 0, (cl_uint count, cl_platform_id *ids, cl_uint *found), (count, ids, found))
INFO(clGetPlatformInfo, cl_platform_id, cl_platform_info)
STATUS(clGetDeviceIDs, 0, (cl_platform_id id, cl_device_type type, cl_uint count, cl_device_id *ids, cl_uint *found),
       (id, type, count, ids, found))
INFO(clGetDeviceInfo, cl_device_id, cl_device_info)
MAKE(clCreateContext, cl_context,
     (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
      void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *status),
     (properties, count, devices, notify, user, status))
STATUS(clRetainContext, 1, (cl_context object), (object))
RELEASE(clReleaseContext, cl_context)
INFO(clGetContextInfo, cl_context, cl_context_info)
MAKE(clCreateCommandQueue, cl_command_queue,
     (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *status),
     (context, device, properties, status))
STATUS(clRetainCommandQueue, 1, (cl_command_queue object), (object))
RELEASE(clReleaseCommandQueue, cl_command_queue)
INFO(clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info)
MAKE(clCreateBuffer, cl_mem, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status),
     (context, flags, size, host, status))
STATUS(clRetainMemObject, 1, (cl_mem object), (object))
RELEASE(clReleaseMemObject, cl_mem)
INFO(clGetMemObjectInfo, cl_mem, cl_mem_info)
MAKE(clCreateProgramWithSource, cl_program,
     (cl_context context, cl_uint count, const char **lines, const size_t *lengths, cl_int *status),
     (context, count, lines, lengths, status))
MAKE(clCreateProgramWithBinary, cl_program,
     (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes,
      const unsigned char **binaries, cl_int *each, cl_int *status),
     (context, count, devices, sizes, binaries, each, status))
RELEASE(clReleaseProgram, cl_program)
STATUS(clBuildProgram, 0,
       (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
        void(CL_CALLBACK *notify)(cl_program, void *), void *user),
       (program, count, devices, options, notify, user))
INFO(clGetProgramInfo, cl_program, cl_program_info)
INFO_OF(clGetProgramBuildInfo, cl_program, cl_program_build_info)
MAKE(clCreateKernel, cl_kernel, (cl_program program, const char *name, cl_int *status), (program, name, status))
RELEASE(clReleaseKernel, cl_kernel)
STATUS(clSetKernelArg, 0, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
       (kernel, index, size, value))
INFO_OF(clGetKernelWorkGroupInfo, cl_kernel, cl_kernel_work_group_info)
STATUS(clWaitForEvents, 0, (cl_uint count, const cl_event *events), (count, events))
INFO(clGetEventInfo, cl_event, cl_event_info)
STATUS(clRetainEvent, 1, (cl_event object), (object))
RELEASE(clReleaseEvent, cl_event)
STATUS(clFlush, 0, (cl_command_queue queue), (queue))
STATUS(clFinish, 0, (cl_command_queue queue), (queue))
STATUS(clEnqueueReadBuffer, event != NULL,
       (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *host, cl_uint waits,
        const cl_event *wait, cl_event *event),
       (queue, buffer, blocking, offset, size, host, waits, wait, event))
STATUS(clEnqueueWriteBuffer, event != NULL,
       (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *host,
        cl_uint waits, const cl_event *wait, cl_event *event),
       (queue, buffer, blocking, offset, size, host, waits, wait, event))
STATUS(clEnqueueFillBuffer, event != NULL,
       (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset, size_t size,
        cl_uint waits, const cl_event *wait, cl_event *event),
       (queue, buffer, pattern, pattern_size, offset, size, waits, wait, event))
static void *CL_API_CALL layer_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                  cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                                                  const cl_event *wait, cl_event *event, cl_int *status) {
    cl_int failure = fails("clEnqueueMapBuffer");
    void *mapped = NULL;
    if (failure == CL_SUCCESS)
        mapped = next->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits, wait, event, status);
    else if (status)
        *status = failure;
    if (mapped && event)
        control.live++;
    return mapped;
}
STATUS(clEnqueueUnmapMemObject, event != NULL,
       (cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint waits, const cl_event *wait, cl_event *event),
       (queue, buffer, mapped, waits, wait, event))
STATUS(clEnqueueNDRangeKernel, event != NULL,
       (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
        const size_t *local, cl_uint waits, const cl_event *wait, cl_event *event),
       (queue, kernel, dimensions, offset, global, local, waits, wait, event))
STATUS(clEnqueueMarkerWithWaitList, event != NULL,
       (cl_command_queue queue, cl_uint waits, const cl_event *wait, cl_event *event), (queue, waits, wait, event))

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed) {
    static const char name[] = "gpuscan's tests";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *from = what == CL_LAYER_API_VERSION ? (const void *)&version : (const void *)name;
    size_t bytes = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
    if (what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME)
        return CL_INVALID_VALUE;
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, from, bytes);
    if (needed)
        *needed = bytes;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const struct _cl_icd_dispatch *target, cl_uint *layer_count,
                                            const struct _cl_icd_dispatch **dispatch) {
    size_t size = (size_t)count * sizeof(void *);
    if (target == NULL || layer_count == NULL || dispatch == NULL)
        return CL_INVALID_VALUE;
    next = target;
    memcpy(&layer, target, size < sizeof layer ? size : sizeof layer);
#define PUT(name) layer.name = layer_##name;
    PUT(clGetPlatformIDs)
    PUT(clGetPlatformInfo)
    PUT(clGetDeviceIDs)
    PUT(clGetDeviceInfo)
    PUT(clCreateContext)
    PUT(clRetainContext)
    PUT(clReleaseContext)
    PUT(clGetContextInfo)
    PUT(clCreateCommandQueue)
    PUT(clRetainCommandQueue)
    PUT(clReleaseCommandQueue)
    PUT(clGetCommandQueueInfo)
    PUT(clCreateBuffer)
    PUT(clRetainMemObject)
    PUT(clReleaseMemObject)
    PUT(clGetMemObjectInfo)
    PUT(clCreateProgramWithSource)
    PUT(clCreateProgramWithBinary)
    PUT(clReleaseProgram)
    PUT(clBuildProgram)
    PUT(clGetProgramInfo)
    PUT(clGetProgramBuildInfo)
    PUT(clCreateKernel)
    PUT(clReleaseKernel)
    PUT(clSetKernelArg)
    PUT(clGetKernelWorkGroupInfo)
    PUT(clWaitForEvents)
    PUT(clGetEventInfo)
    PUT(clRetainEvent)
    PUT(clReleaseEvent)
    PUT(clFlush)
    PUT(clFinish)
    PUT(clEnqueueReadBuffer)
    PUT(clEnqueueWriteBuffer)
    PUT(clEnqueueFillBuffer)
    PUT(clEnqueueMapBuffer)
    PUT(clEnqueueUnmapMemObject)
    PUT(clEnqueueNDRangeKernel)
    PUT(clEnqueueMarkerWithWaitList)
    *layer_count = sizeof layer / sizeof(void *);
    *dispatch = &layer;
    return CL_SUCCESS;
}
