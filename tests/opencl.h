/* Facts of OpenCL for the tests: the parameters of each entry point, and how a query is answered. The layers that count
   and fail calls (layer.h, cl_layer.c) and the OpenCL that only pretends (fake.h) are made from it. */
#ifndef TEST_OPENCL_H
#define TEST_OPENCL_H

#include <CL/cl.h>
#include <string.h>

#define OPENCL_INFO(X, name, type, what)                                                                               \
    X(STATUS, name, cl_int, (type id, what asked, size_t size, void *value, size_t *needed),                           \
      (id, asked, size, value, needed))
#define OPENCL_INFO_OF(X, name, type, what)                                                                            \
    X(STATUS, name, cl_int, (type id, cl_device_id device, what asked, size_t size, void *value, size_t *needed),      \
      (id, device, asked, size, value, needed))

/* X(kind, name, result, parameters, arguments). STATUS: returns a status. MAKE: makes an object, reports through
   status. RETAIN, RELEASE: take an object. ENQUEUE, MAP: take queue, waits and wait, and may return an event. */
#define OPENCL_CALLS(X)                                                                                                \
    X(STATUS, clGetPlatformIDs, cl_int, (cl_uint count, cl_platform_id * ids, cl_uint * found), (count, ids, found))   \
    OPENCL_INFO(X, clGetPlatformInfo, cl_platform_id, cl_platform_info)                                                \
    X(STATUS, clGetDeviceIDs, cl_int,                                                                                  \
      (cl_platform_id id, cl_device_type type, cl_uint count, cl_device_id * ids, cl_uint * found),                    \
      (id, type, count, ids, found))                                                                                   \
    OPENCL_INFO(X, clGetDeviceInfo, cl_device_id, cl_device_info)                                                      \
    X(MAKE, clCreateContext, cl_context,                                                                               \
      (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,                            \
       void(CL_CALLBACK * notify)(const char *, const void *, size_t, void *), void *user, cl_int *status),            \
      (properties, count, devices, notify, user, status))                                                              \
    X(RETAIN, clRetainContext, cl_int, (cl_context object), (object))                                                  \
    X(RELEASE, clReleaseContext, cl_int, (cl_context object), (object))                                                \
    OPENCL_INFO(X, clGetContextInfo, cl_context, cl_context_info)                                                      \
    X(MAKE, clCreateCommandQueue, cl_command_queue,                                                                    \
      (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int * status),              \
      (context, device, properties, status))                                                                           \
    X(RETAIN, clRetainCommandQueue, cl_int, (cl_command_queue object), (object))                                       \
    X(RELEASE, clReleaseCommandQueue, cl_int, (cl_command_queue object), (object))                                     \
    OPENCL_INFO(X, clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info)                                     \
    X(MAKE, clCreateBuffer, cl_mem, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status), \
      (context, flags, size, host, status))                                                                            \
    X(RETAIN, clRetainMemObject, cl_int, (cl_mem object), (object))                                                    \
    X(RELEASE, clReleaseMemObject, cl_int, (cl_mem object), (object))                                                  \
    OPENCL_INFO(X, clGetMemObjectInfo, cl_mem, cl_mem_info)                                                            \
    X(MAKE, clCreateProgramWithSource, cl_program,                                                                     \
      (cl_context context, cl_uint count, const char **lines, const size_t *lengths, cl_int *status),                  \
      (context, count, lines, lengths, status))                                                                        \
    X(MAKE, clCreateProgramWithBinary, cl_program,                                                                     \
      (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *sizes,                            \
       const unsigned char **binaries, cl_int *each, cl_int *status),                                                  \
      (context, count, devices, sizes, binaries, each, status))                                                        \
    X(RELEASE, clReleaseProgram, cl_int, (cl_program object), (object))                                                \
    X(STATUS, clBuildProgram, cl_int,                                                                                  \
      (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,                            \
       void(CL_CALLBACK * notify)(cl_program, void *), void *user),                                                    \
      (program, count, devices, options, notify, user))                                                                \
    OPENCL_INFO(X, clGetProgramInfo, cl_program, cl_program_info)                                                      \
    OPENCL_INFO_OF(X, clGetProgramBuildInfo, cl_program, cl_program_build_info)                                        \
    X(MAKE, clCreateKernel, cl_kernel, (cl_program program, const char *name, cl_int *status),                         \
      (program, name, status))                                                                                         \
    X(RELEASE, clReleaseKernel, cl_int, (cl_kernel object), (object))                                                  \
    X(STATUS, clSetKernelArg, cl_int, (cl_kernel kernel, cl_uint index, size_t size, const void *value),               \
      (kernel, index, size, value))                                                                                    \
    OPENCL_INFO_OF(X, clGetKernelWorkGroupInfo, cl_kernel, cl_kernel_work_group_info)                                  \
    X(STATUS, clWaitForEvents, cl_int, (cl_uint count, const cl_event *events), (count, events))                       \
    OPENCL_INFO(X, clGetEventInfo, cl_event, cl_event_info)                                                            \
    X(RETAIN, clRetainEvent, cl_int, (cl_event object), (object))                                                      \
    X(RELEASE, clReleaseEvent, cl_int, (cl_event object), (object))                                                    \
    X(STATUS, clFlush, cl_int, (cl_command_queue queue), (queue))                                                      \
    X(STATUS, clFinish, cl_int, (cl_command_queue queue), (queue))                                                     \
    X(ENQUEUE, clEnqueueReadBuffer, cl_int,                                                                            \
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *host, cl_uint waits, \
       const cl_event *wait, cl_event *event),                                                                         \
      (queue, buffer, blocking, offset, size, host, waits, wait, event))                                               \
    X(ENQUEUE, clEnqueueWriteBuffer, cl_int,                                                                           \
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *host,          \
       cl_uint waits, const cl_event *wait, cl_event *event),                                                          \
      (queue, buffer, blocking, offset, size, host, waits, wait, event))                                               \
    X(ENQUEUE, clEnqueueFillBuffer, cl_int,                                                                            \
      (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset, size_t size,    \
       cl_uint waits, const cl_event *wait, cl_event *event),                                                          \
      (queue, buffer, pattern, pattern_size, offset, size, waits, wait, event))                                        \
    X(MAP, clEnqueueMapBuffer, void *,                                                                                 \
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset, size_t size,        \
       cl_uint waits, const cl_event *wait, cl_event *event, cl_int *status),                                          \
      (queue, buffer, blocking, flags, offset, size, waits, wait, event, status))                                      \
    X(ENQUEUE, clEnqueueUnmapMemObject, cl_int,                                                                        \
      (cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint waits, const cl_event *wait, cl_event *event),     \
      (queue, buffer, mapped, waits, wait, event))                                                                     \
    X(ENQUEUE, clEnqueueNDRangeKernel, cl_int,                                                                         \
      (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,       \
       const size_t *local, cl_uint waits, const cl_event *wait, cl_event *event),                                     \
      (queue, kernel, dimensions, offset, global, local, waits, wait, event))                                          \
    X(ENQUEUE, clEnqueueMarkerWithWaitList, cl_int,                                                                    \
      (cl_command_queue queue, cl_uint waits, const cl_event *wait, cl_event *event), (queue, waits, wait, event))     \
    OPENCL_INFO(X, clGetImageInfo, cl_mem, cl_image_info)                                                              \
    X(MAKE, clCreateImage, cl_mem,                                                                                     \
      (cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc, void *host,   \
       cl_int *status),                                                                                                \
      (context, flags, format, desc, host, status))

static inline cl_int answer(const void *value, size_t length, size_t size, void *out, size_t *needed) {
    if (needed)
        *needed = length;
    if (out && size < length)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, length);
    return CL_SUCCESS;
}

static inline cl_int answer_text(const char *text, size_t size, void *out, size_t *needed) {
    return answer(text, strlen(text) + 1, size, out, needed);
}

#endif /* TEST_OPENCL_H */
