/* An OpenCL that only pretends: one platform with one device that answers what fake.device holds. It counts objects,
   stores what is written to buffers, and runs no kernels. programs.c puts it into the library's table, elsewhere_stub.c
   makes a loader of it, and test_devices.c uses only the answers (FAKE_SAYS_ONLY). */
#ifndef TEST_FAKE_H
#define TEST_FAKE_H

#include "opencl.h"
#include <stdint.h>
#include <stdlib.h>

/* A device's answers. It does not answer what is 0 or NULL. */
typedef struct fake_device {
    const char *file, *name, *vendor, *platform, *version, *language, *extensions; /* file: for programs.c */
    cl_uint vendor_id;
    cl_device_type type;
    size_t group;
    cl_ulong local;
    cl_uint units;
    int has_f64;
    cl_uint capability; /* NVIDIA's, times 10 */
    cl_uint clock;
    cl_ulong cache;
    cl_uint wave; /* work-items of a sub-group; 0: AMD 64, Intel 8, 16 or 32 */
} fake_device;

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static inline size_t fake_text_size(const char *text) {
    return text ? strlen(text) + 1 : 0;
}

/* Returns 1 if the device answers; *code is then the call's result. Returns 0 if it has no answer. */
static inline int fake_says(const fake_device *d, cl_device_info asked, size_t size, void *value, size_t *needed,
                            cl_int *code) {
    const cl_device_fp_config f64 = 63;
    const cl_uint major = d->capability / 10, minor = d->capability % 10, warp = 32, wave = d->wave ? d->wave : 64;
    const size_t sizes[3] = {d->wave ? d->wave : 8, 16, 32}, multiple = d->wave;
    const cl_uint registers = d->capability < 30 ? 32768 : 65536;
    const cl_ulong atomics = 127; /* all of them, from 3.0 on */
    const int is_amd = d->extensions && strstr(d->extensions, "cl_amd");
    const int has_sizes = d->extensions && strstr(d->extensions, "cl_intel_required_subgroup_size");
    const int is_3 = d->extensions && d->version && strncmp(d->version, "OpenCL 3", 8) == 0;
    /* Intel's driver for GPUs reports language version 1.2, but has 3.0's features */
    const int is_neo = is_3 && strstr(d->version, "NEO");
    const int is_c_3 = is_neo || (is_3 && d->language && strncmp(d->language, "OpenCL C 3", 10) == 0);
    const struct {
        cl_device_info asked;
        const void *said;
        size_t size;
    } answers[] = {
        {CL_DEVICE_NAME, d->name, fake_text_size(d->name)},
        {CL_DEVICE_VENDOR, d->vendor, fake_text_size(d->vendor)},
        {CL_DEVICE_VERSION, d->version, fake_text_size(d->version)},
        {CL_DEVICE_OPENCL_C_VERSION, d->language, fake_text_size(d->language)},
        {CL_DEVICE_EXTENSIONS, d->extensions, fake_text_size(d->extensions)},
        {CL_DEVICE_VENDOR_ID, &d->vendor_id, d->vendor_id ? sizeof d->vendor_id : 0},
        {CL_DEVICE_TYPE, &d->type, d->type ? sizeof d->type : 0},
        {CL_DEVICE_MAX_WORK_GROUP_SIZE, &d->group, d->group ? sizeof d->group : 0},
        {CL_DEVICE_LOCAL_MEM_SIZE, &d->local, d->local ? sizeof d->local : 0},
        {CL_DEVICE_MAX_COMPUTE_UNITS, &d->units, d->units ? sizeof d->units : 0},
        {CL_DEVICE_MAX_CLOCK_FREQUENCY, &d->clock, d->clock ? sizeof d->clock : 0},
        {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, &d->cache, d->cache ? sizeof d->cache : 0},
        {0x1032 /* CL_DEVICE_DOUBLE_FP_CONFIG */, &f64, d->has_f64 ? sizeof f64 : 0},
        {0x1063 /* CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES */, &atomics, is_3 ? sizeof atomics : 0},
        {0x1064 /* CL_DEVICE_ATOMIC_FENCE_CAPABILITIES */, &atomics, is_c_3 ? sizeof atomics : 0},
        {0x4000 /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV */, &major, d->capability ? sizeof major : 0},
        {0x4001 /* CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV */, &minor, d->capability ? sizeof minor : 0},
        {0x4002 /* CL_DEVICE_REGISTERS_PER_BLOCK_NV */, &registers, d->capability ? sizeof registers : 0},
        {0x4003 /* CL_DEVICE_WARP_SIZE_NV */, &warp, d->capability ? sizeof warp : 0},
        {0x4043 /* CL_DEVICE_WAVEFRONT_WIDTH_AMD */, &wave, is_amd ? sizeof wave : 0},
        {0x1067 /* CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE */, &multiple, is_3 ? sizeof multiple : 0},
        {0x4108 /* CL_DEVICE_SUB_GROUP_SIZES_INTEL */, sizes, !has_sizes ? 0 : d->wave ? sizeof *sizes : sizeof sizes},
    };
    size_t i;
    for (i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].asked == asked && answers[i].size) {
            *code = answer(answers[i].said, answers[i].size, size, value, needed);
            return 1;
        }
    return 0;
}

static inline cl_int fake_uint(cl_uint number, size_t size, void *value, size_t *needed) {
    return answer(&number, sizeof number, size, value, needed);
}

static inline cl_int fake_ulong(cl_ulong number, size_t size, void *value, size_t *needed) {
    return answer(&number, sizeof number, size, value, needed);
}

static inline cl_int fake_size(size_t number, size_t size, void *value, size_t *needed) {
    return answer(&number, sizeof number, size, value, needed);
}

static inline cl_int fake_pointer(const void *pointer, size_t size, void *value, size_t *needed) {
    return answer(&pointer, sizeof pointer, size, value, needed);
}

#ifndef FAKE_SAYS_ONLY

/* Buffers, images, programs, queues, kernels and events. size: of a buffer, or of a kernel's local memory; bytes: a
   buffer's data, or a program's text; format: of an image. */
typedef struct fake_object {
    int references, is_image;
    cl_image_format format;
    size_t size;
    cl_mem_flags flags;
    unsigned char *bytes;
} fake_object;

static struct fake_state {
    const fake_device *device;  /* NULL: none */
    char handle;                /* the platform, the device and the context */
    unsigned launches, objects; /* objects: alive */
    size_t widest;              /* work-items of the largest launch */
    size_t local_bytes;         /* of all arguments set */
    int forgets;                /* buffers store nothing and take no memory: reads give zeros */
    void (*built)(const char *text, const char *options);
} fake;

#define FAKE_HANDLE(type) ((type)(void *)&fake.handle)
#define FAKE_LARGEST ((cl_ulong)64 << 30) /* bytes of a buffer */

/* ---- objects ----------------------------------------------------------------------------------------------------- */

static void *fake_make(size_t size, cl_int *status) {
    fake_object *object = (fake_object *)calloc(1, sizeof *object + size);
    if (object) {
        object->references = 1;
        object->size = size;
        object->bytes = (unsigned char *)(object + 1);
        fake.objects++;
    }
    if (status)
        *status = object ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return object;
}

static cl_int fake_retain(void *object) {
    if (object != &fake.handle)
        ((fake_object *)object)->references++;
    return CL_SUCCESS;
}

static cl_int fake_release(void *object) {
    if (object != &fake.handle && --((fake_object *)object)->references == 0) {
        fake.objects--;
        free(object);
    }
    return CL_SUCCESS;
}

static cl_int fake_done(cl_event *event) {
    cl_int status = CL_SUCCESS;
    if (event)
        *event = (cl_event)fake_make(0, &status);
    return status;
}

static unsigned char *fake_bytes(cl_mem buffer, size_t offset) {
    return ((fake_object *)(void *)buffer)->bytes + offset;
}

static cl_mem fake_buffer(cl_mem_flags flags, size_t size, cl_int *status) {
    fake_object *object;
    if (size == 0 || size > FAKE_LARGEST) {
        *status = CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    object = (fake_object *)fake_make(fake.forgets ? 0 : size, status);
    if (object) {
        object->size = size;
        object->flags = flags;
    }
    return (cl_mem)(void *)object;
}

static void fake_fill(unsigned char *bytes, const void *pattern, size_t pattern_size, size_t size) {
    size_t i, done = pattern_size < size ? pattern_size : size, step;
    for (i = 0; i < done; i++)
        bytes[i] = ((const unsigned char *)pattern)[i];
    for (; done < size; done += step) { /* whole patterns, doubled in each step */
        step = done < size - done ? done : size - done;
        memcpy(bytes + done, bytes, step);
    }
}

static cl_program fake_program(cl_uint count, const char **lines, const size_t *lengths, cl_int *status) {
    fake_object *object;
    size_t size = 1, length, at = 0;
    cl_uint i;
    for (i = 0; i < count; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(lines[i]);
    object = (fake_object *)fake_make(size, status);
    for (i = 0; object && i < count; i++, at += length) {
        length = lengths && lengths[i] ? lengths[i] : strlen(lines[i]);
        memcpy(object->bytes + at, lines[i], length);
    }
    return (cl_program)(void *)object;
}

static cl_int fake_build(cl_program program, const char *options) {
    const char *text = (const char *)((fake_object *)(void *)program)->bytes;
    if (fake.built && *text)
        fake.built(text, options ? options : "");
    return CL_SUCCESS;
}

static int fake_is_of(cl_device_type type) {
    return fake.device && (type & fake.device->type) != 0;
}

static cl_int fake_device_info(cl_device_info asked, size_t size, void *value, size_t *needed) {
    const fake_device *d = fake.device;
    size_t items[3];
    cl_int code;
    items[0] = items[1] = items[2] = d->group;
    if (fake_says(d, asked, size, value, needed, &code))
        return code;
    switch (asked) {
    case CL_DRIVER_VERSION:
        return answer_text("1.0", size, value, needed);
    case CL_DEVICE_PLATFORM:
        return fake_pointer(&fake.handle, size, value, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return answer(items, sizeof items, size, value, needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return fake_ulong(FAKE_LARGEST, size, value, needed);
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_IMAGE_SUPPORT:
        return fake_uint(CL_TRUE, size, value, needed);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return fake_uint(d->type == CL_DEVICE_TYPE_CPU, size, value, needed);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int fake_buffer_info(const void *id, cl_mem_info asked, size_t size, void *value, size_t *needed) {
    const fake_object *object = (const fake_object *)id;
    switch (asked) {
    case CL_MEM_TYPE:
        return fake_uint(object->is_image ? CL_MEM_OBJECT_IMAGE2D : CL_MEM_OBJECT_BUFFER, size, value, needed);
    case CL_MEM_SIZE:
        return fake_size(object->size, size, value, needed);
    case CL_MEM_FLAGS:
        return fake_ulong(object->flags, size, value, needed);
    default:
        return fake_pointer(asked == CL_MEM_CONTEXT ? &fake.handle : NULL, size, value, needed);
    }
}

static cl_mem fake_image(cl_mem_flags flags, const cl_image_format *format, cl_int *status) {
    fake_object *object = (fake_object *)fake_make(0, status);
    if (object) {
        object->is_image = 1;
        object->flags = flags;
        object->format = *format;
    }
    return (cl_mem)(void *)object;
}

/* Every image has 16384 x 16384 pixels. */
static cl_int fake_image_info(const void *id, cl_image_info asked, size_t size, void *value, size_t *needed) {
    if (asked == CL_IMAGE_FORMAT)
        return answer(&((const fake_object *)id)->format, sizeof(cl_image_format), size, value, needed);
    return asked == CL_IMAGE_NUM_SAMPLES ? fake_uint(0, size, value, needed) : fake_size(16384, size, value, needed);
}

static cl_int fake_program_info(cl_program_info asked, size_t size, void *value, size_t *needed) {
    if (asked == CL_PROGRAM_BINARY_SIZES)
        return fake_size(5, size, value, needed);
    if (asked == CL_PROGRAM_DEVICES)
        return fake_pointer(&fake.handle, size, value, needed);
    if (size < sizeof(unsigned char *))
        return CL_INVALID_VALUE;
    memcpy(*(unsigned char **)value, "12345", 5);
    return CL_SUCCESS;
}

/* ---- the entry points -------------------------------------------------------------------------------------------- */

/* What each function does, with the parameters of opencl.h. */
#define FAKE_IDS(type, there, none)                                                                                    \
    if (ids && count && (there))                                                                                       \
        ids[0] = FAKE_HANDLE(type);                                                                                    \
    if (found)                                                                                                         \
        *found = (there) != 0;                                                                                         \
    return (there) ? CL_SUCCESS : (none);
#define FAKE_THE_HANDLE(type)                                                                                          \
    if (status)                                                                                                        \
        *status = CL_SUCCESS;                                                                                          \
    return FAKE_HANDLE(type);

#define FAKE_clGetPlatformIDs  FAKE_IDS(cl_platform_id, 1, CL_SUCCESS)
#define FAKE_clGetPlatformInfo return answer_text(fake.device ? fake.device->platform : "none", size, value, needed);
#define FAKE_clGetDeviceIDs    FAKE_IDS(cl_device_id, fake_is_of(type), CL_DEVICE_NOT_FOUND)
#define FAKE_clGetDeviceInfo   return fake_device_info(asked, size, value, needed);
#define FAKE_clCreateContext   FAKE_THE_HANDLE(cl_context)
#define FAKE_clRetainContext   return CL_SUCCESS;
#define FAKE_clReleaseContext  return CL_SUCCESS;
#define FAKE_clGetContextInfo                                                                                          \
    return asked == CL_CONTEXT_NUM_DEVICES ? fake_uint(1, size, value, needed)                                         \
                                           : fake_pointer(&fake.handle, size, value, needed);
#define FAKE_clCreateCommandQueue  return (cl_command_queue)fake_make(0, status);
#define FAKE_clRetainCommandQueue  return fake_retain(object);
#define FAKE_clReleaseCommandQueue return fake_release(object);
#define FAKE_clGetCommandQueueInfo                                                                                     \
    return asked == CL_QUEUE_PROPERTIES ? fake_ulong(0, size, value, needed)                                           \
                                        : fake_pointer(&fake.handle, size, value, needed);
#define FAKE_clCreateBuffer            return fake_buffer(flags, size, status);
#define FAKE_clRetainMemObject         return fake_retain(object);
#define FAKE_clReleaseMemObject        return fake_release(object);
#define FAKE_clGetMemObjectInfo        return fake_buffer_info((void *)id, asked, size, value, needed);
#define FAKE_clCreateProgramWithSource return fake_program(count, lines, lengths, status);
#define FAKE_clCreateProgramWithBinary                                                                                 \
    if (each)                                                                                                          \
        *each = CL_SUCCESS;                                                                                            \
    return fake_program(0, NULL, NULL, status);
#define FAKE_clReleaseProgram      return fake_release(object);
#define FAKE_clBuildProgram        return fake_build(program, options);
#define FAKE_clGetProgramInfo      return fake_program_info(asked, size, value, needed);
#define FAKE_clGetProgramBuildInfo return answer_text("", size, value, needed);
#define FAKE_clCreateKernel        return (cl_kernel)fake_make(0, status);
#define FAKE_clReleaseKernel       return fake_release(object);
#define FAKE_clSetKernelArg                                                                                            \
    fake.local_bytes += value ? 0 : size;                                                                              \
    ((fake_object *)(void *)kernel)->size = value ? ((fake_object *)(void *)kernel)->size : size;                      \
    return size ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
#define FAKE_clGetKernelWorkGroupInfo                                                                                  \
    if (asked == CL_KERNEL_WORK_GROUP_SIZE)                                                                            \
        return fake_size(fake.device->group, size, value, needed);                                                     \
    return fake_size(asked == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE ? 32 : 0, size, value, needed);
#define FAKE_clWaitForEvents return count && events ? CL_SUCCESS : CL_INVALID_VALUE;
#define FAKE_clGetEventInfo                                                                                            \
    return asked == CL_EVENT_CONTEXT ? fake_pointer(&fake.handle, size, value, needed)                                 \
                                     : fake_uint(CL_COMPLETE, size, value, needed);
#define FAKE_clRetainEvent  return fake_retain(object);
#define FAKE_clReleaseEvent return fake_release(object);
#define FAKE_clFlush        return CL_SUCCESS;
#define FAKE_clFinish       return CL_SUCCESS;
#define FAKE_clEnqueueReadBuffer                                                                                       \
    if (fake.forgets)                                                                                                  \
        memset(host, 0, size);                                                                                         \
    else                                                                                                               \
        memcpy(host, fake_bytes(buffer, offset), size);                                                                \
    return fake_done(event);
#define FAKE_clEnqueueWriteBuffer                                                                                      \
    if (!fake.forgets)                                                                                                 \
        memcpy(fake_bytes(buffer, offset), host, size);                                                                \
    return fake_done(event);
#define FAKE_clEnqueueFillBuffer                                                                                       \
    if (!fake.forgets)                                                                                                 \
        fake_fill(fake_bytes(buffer, offset), pattern, pattern_size, size);                                            \
    return fake_done(event);
#define FAKE_clEnqueueMapBuffer                                                                                        \
    if (status)                                                                                                        \
        *status = fake_done(event);                                                                                    \
    return fake_bytes(buffer, offset);
#define FAKE_clEnqueueUnmapMemObject return fake_done(event);
#define FAKE_clEnqueueNDRangeKernel                                                                                    \
    fake.launches++;                                                                                                   \
    fake.widest = global[0] > fake.widest ? global[0] : fake.widest;                                                   \
    return global[0] && local[0] && global[0] % local[0] == 0 ? fake_done(event) : CL_INVALID_WORK_GROUP_SIZE;
#define FAKE_clEnqueueMarkerWithWaitList return fake_done(event);
#define FAKE_clGetImageInfo              return fake_image_info((void *)id, asked, size, value, needed);
#define FAKE_clCreateImage               return fake_image(flags, format, status);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define FAKE_CALL(kind, name, result, parameters, arguments)                                                           \
    static result CL_API_CALL fake_##name parameters {                                                                 \
        FAKE_##name                                                                                                    \
    }
OPENCL_CALLS(FAKE_CALL)
#pragma GCC diagnostic pop

#endif /* FAKE_SAYS_ONLY */

#endif /* TEST_FAKE_H */
