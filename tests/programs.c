/* Writes every program that the library would build, for devices of all sorts that need not be there: the library runs
   on an OpenCL that only pretends. tests/compile.sh then gives the programs to clang. And checks what only such a
   device, or another C library, comes to.

       cc tests/programs.c -o programs && ./programs FOLDER

   A file FOLDER/DEVICE-N.cl holds the build options as its first line, behind two slashes, and the text. */
#define CL_TARGET_OPENCL_VERSION 120
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A C library may fail to print. */
static int print_fails;
static int print(char *text, size_t size, const char *format, va_list arguments) {
    return print_fails ? -1 : vsnprintf(text, size, format, arguments);
}

#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN__TEST_PASSES(got, expected, bytes) ((void)(got), (void)(expected), (bytes) > 0) /* nothing is run here */
#define vsnprintf print
#include "../gpuscan.h"
#undef vsnprintf

#include "answer.h"

typedef struct device {
    const char *file, *name, *vendor, *platform, *version, *language, *extensions;
    cl_uint vendor_id;
    cl_device_type type;
    size_t group;
    cl_ulong local;
    cl_uint units;
    int has_f64;
    cl_uint capability; /* of NVIDIA's, times 10 */
} device;

#define ATOMICS32                                                                                                      \
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics "           \
    "cl_khr_local_int32_extended_atomics cl_khr_byte_addressable_store "
#define ATOMICS64 "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "

static const device devices[] = {
    {"pocl", "pthread-haswell-AMD EPYC", "AuthenticAMD", "Portable Computing Language", "OpenCL 3.0 PoCL HSTR: pthread",
     "OpenCL C 1.2 PoCL", ATOMICS32 ATOMICS64 "cl_khr_fp64 cl_khr_3d_image_writes cl_khr_fp16", 0x8086,
     CL_DEVICE_TYPE_CPU, 4096, 524288, 16, 1, 0},
    {"intel-cpu", "Intel(R) Xeon(R) Processor", "Intel(R) Corporation", "Intel(R) OpenCL", "OpenCL 3.0 (Build 0)",
     "OpenCL C 3.0 ", ATOMICS32 ATOMICS64 "cl_khr_fp64 cl_khr_subgroups cl_intel_subgroups", 0x8086, CL_DEVICE_TYPE_CPU,
     8192, 32768, 64, 1, 0},
    {"nvidia", "NVIDIA H200", "NVIDIA Corporation", "NVIDIA CUDA", "OpenCL 3.0 CUDA", "OpenCL C 1.2 ",
     ATOMICS32 ATOMICS64 "cl_khr_fp64 cl_nv_compiler_options cl_nv_device_attribute_query cl_nv_pragma_unroll", 0x10DE,
     CL_DEVICE_TYPE_GPU, 1024, 49152, 132, 1, 90},
    {"nvidia-old", "GeForce GTX 580", "NVIDIA Corporation", "NVIDIA CUDA", "OpenCL 1.2 CUDA", "OpenCL C 1.2 ",
     ATOMICS32 "cl_khr_fp64 cl_nv_device_attribute_query", 0x10DE, CL_DEVICE_TYPE_GPU, 1024, 49152, 16, 1, 20},
    {"amd", "gfx90a", "Advanced Micro Devices, Inc.", "AMD Accelerated Parallel Processing", "OpenCL 2.0 ",
     "OpenCL C 2.0 ", ATOMICS32 ATOMICS64 "cl_khr_fp64 cl_khr_subgroups cl_amd_device_attribute_query", 0x1002,
     CL_DEVICE_TYPE_GPU, 256, 65536, 104, 1, 0},
    {"intel", "Intel(R) Arc(TM) A770 Graphics", "Intel(R) Corporation", "Intel(R) OpenCL Graphics", "OpenCL 3.0 NEO ",
     "OpenCL C 1.2 ", ATOMICS32 ATOMICS64 "cl_khr_subgroups cl_intel_subgroups cl_intel_required_subgroup_size", 0x8086,
     CL_DEVICE_TYPE_GPU, 1024, 65536, 512, 0, 0},
    {"arm", "Mali-G78 r0p1", "ARM", "ARM Platform", "OpenCL 3.0 v1.r32p1", "OpenCL C 3.0 v1.r32p1",
     ATOMICS32 ATOMICS64 "cl_khr_fp16 cl_khr_subgroups", 0x13B5, CL_DEVICE_TYPE_GPU, 512, 32768, 20, 0, 0},
    {"apple", "Apple M2", "Apple", "Apple", "OpenCL 1.2 ", "OpenCL C 1.2 ", ATOMICS32, 0x1027F00, CL_DEVICE_TYPE_GPU,
     256, 32768, 10, 0, 0},
    {"plain", "Some GPU", "Somebody", "Some OpenCL", "OpenCL 1.2 ", "OpenCL C 1.2 ", ATOMICS32, 0, CL_DEVICE_TYPE_GPU,
     64, 1024, 1, 0, 0},
};

static struct {
    const device *now; /* the device that is pretended */
    const char *folder;
    char *text; /* of the program made last */
    uint64_t seen[4096];
    size_t seen_count;
    unsigned written;
    int handle; /* every object is this one, but for buffers */
    int buffers[16];
    unsigned next;
    unsigned launches;
    size_t local_bytes; /* of the arguments set last, in all */
} fake;

/* ---- an OpenCL that only pretends -------------------------------------------------------------------------------- */

#define HANDLE(type) ((type)(void *)&fake.handle)

static cl_int answer_number(uint64_t value, size_t length, size_t size, void *out, size_t *needed) {
    cl_uint small = (cl_uint)value;
    return length == 4 ? answer(&small, 4, size, out, needed) : answer(&value, 8, size, out, needed);
}

static cl_int CL_API_CALL fake_clGetPlatformIDs(cl_uint count, cl_platform_id *ids, cl_uint *found) {
    if (ids && count)
        ids[0] = HANDLE(cl_platform_id);
    if (found)
        *found = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t size, void *value,
                                                 size_t *needed) {
    (void)id;
    switch (what) {
    case CL_PLATFORM_VERSION:
        return answer_text(fake.now->version, size, value, needed);
    case CL_PLATFORM_VENDOR:
        return answer_text(fake.now->vendor, size, value, needed);
    case CL_PLATFORM_EXTENSIONS:
        return answer_text(fake.now->extensions, size, value, needed);
    case CL_PLATFORM_PROFILE:
        return answer_text("FULL_PROFILE", size, value, needed);
    default:
        return answer_text(fake.now->platform, size, value, needed);
    }
}

static cl_int CL_API_CALL fake_clGetDeviceIDs(cl_platform_id id, cl_device_type type, cl_uint count, cl_device_id *ids,
                                              cl_uint *found) {
    (void)id;
    if (type != CL_DEVICE_TYPE_ALL && !(type & fake.now->type))
        return CL_DEVICE_NOT_FOUND;
    if (ids && count)
        ids[0] = HANDLE(cl_device_id);
    if (found)
        *found = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t size, void *value,
                                               size_t *needed) {
    const device *d = fake.now;
    const cl_platform_id platform = HANDLE(cl_platform_id);
    size_t items[3];
    (void)id;
    items[0] = items[1] = items[2] = d->group;
    switch (what) {
    case CL_DEVICE_NAME:
        return answer_text(d->name, size, value, needed);
    case CL_DEVICE_VENDOR:
        return answer_text(d->vendor, size, value, needed);
    case CL_DEVICE_VERSION:
        return answer_text(d->version, size, value, needed);
    case CL_DEVICE_OPENCL_C_VERSION:
        return answer_text(d->language, size, value, needed);
    case CL_DEVICE_EXTENSIONS:
        return answer_text(d->extensions, size, value, needed);
    case CL_DRIVER_VERSION:
        return answer_text("1.0", size, value, needed);
    case CL_DEVICE_PROFILE:
        return answer_text("FULL_PROFILE", size, value, needed);
    case CL_DEVICE_PLATFORM:
        return answer(&platform, sizeof platform, size, value, needed);
    case CL_DEVICE_VENDOR_ID:
        return answer_number(d->vendor_id, 4, size, value, needed);
    case CL_DEVICE_TYPE:
        return answer_number(d->type, 8, size, value, needed);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return answer(&d->group, sizeof d->group, size, value, needed);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return answer(items, sizeof items, size, value, needed);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return answer_number(d->local, 8, size, value, needed);
    case CL_DEVICE_LOCAL_MEM_TYPE:
        return answer_number(d->type == CL_DEVICE_TYPE_CPU ? CL_GLOBAL : CL_LOCAL, 4, size, value, needed);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return answer_number(d->units, 4, size, value, needed);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return answer_number(1500, 4, size, value, needed);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return answer_number(UINT64_C(16) << 30, 8, size, value, needed);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return answer_number(UINT64_C(8) << 30, 8, size, value, needed);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        return answer_number(UINT64_C(4) << 20, 8, size, value, needed);
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        return answer_number(d->has_f64 ? 63 : 0, 8, size, value, needed);
    case CL_DEVICE_SINGLE_FP_CONFIG:
        return answer_number(63, 8, size, value, needed);
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
        return answer_number(CL_TRUE, 4, size, value, needed);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return answer_number(d->type == CL_DEVICE_TYPE_CPU, 4, size, value, needed);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return answer_number(3, 4, size, value, needed);
    case CL_DEVICE_ADDRESS_BITS:
        return answer_number(64, 4, size, value, needed);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return answer_number(1024, 4, size, value, needed);
    case 0x4000: /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, then MINOR, then the warp size */
        return d->capability ? answer_number(d->capability / 10, 4, size, value, needed) : CL_INVALID_VALUE;
    case 0x4001:
        return d->capability ? answer_number(d->capability % 10, 4, size, value, needed) : CL_INVALID_VALUE;
    case 0x4002: /* the registers of a work-group */
        return d->capability ? answer_number(d->capability < 30 ? 32768 : 65536, 4, size, value, needed)
                             : CL_INVALID_VALUE;
    case 0x4003:
        return d->capability ? answer_number(32, 4, size, value, needed) : CL_INVALID_VALUE;
    case 0x4043: /* CL_DEVICE_WAVEFRONT_WIDTH_AMD */
        return strstr(d->extensions, "cl_amd") ? answer_number(64, 4, size, value, needed) : CL_INVALID_VALUE;
    case 0x105C: /* CL_DEVICE_MAX_NUM_SUB_GROUPS */
        return answer_number(8, 4, size, value, needed);
    case 0x1063: /* CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES: all of them, from 3.0 on */
        return strncmp(d->version, "OpenCL 3", 8) == 0 ? answer_number(127, 8, size, value, needed) : CL_INVALID_VALUE;
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_context CL_API_CALL fake_clCreateContext(
    const cl_context_properties *properties, cl_uint count, const cl_device_id *ids,
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *status) {
    (void)properties;
    (void)count;
    (void)ids;
    (void)notify;
    (void)user;
    if (status)
        *status = CL_SUCCESS;
    return HANDLE(cl_context);
}

static cl_int CL_API_CALL fake_clGetContextInfo(cl_context id, cl_context_info what, size_t size, void *value,
                                                size_t *needed) {
    const cl_device_id ids = HANDLE(cl_device_id);
    (void)id;
    if (what == CL_CONTEXT_NUM_DEVICES)
        return answer_number(1, 4, size, value, needed);
    return answer(&ids, sizeof ids, size, value, needed);
}

static cl_command_queue CL_API_CALL fake_clCreateCommandQueue(cl_context context, cl_device_id id,
                                                              cl_command_queue_properties properties, cl_int *status) {
    (void)context;
    (void)id;
    (void)properties;
    if (status)
        *status = CL_SUCCESS;
    return HANDLE(cl_command_queue);
}

static cl_int CL_API_CALL fake_clGetCommandQueueInfo(cl_command_queue id, cl_command_queue_info what, size_t size,
                                                     void *value, size_t *needed) {
    const void *handle = &fake.handle;
    (void)id;
    if (what == CL_QUEUE_PROPERTIES)
        return answer_number(0, 8, size, value, needed);
    return answer(&handle, sizeof handle, size, value, needed);
}

static cl_mem CL_API_CALL fake_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                              cl_int *status) {
    (void)context;
    (void)flags;
    (void)size;
    (void)host;
    if (status)
        *status = CL_SUCCESS;
    return (cl_mem)(void *)&fake.buffers[fake.next++ % 16]; /* the library looks for overlaps */
}

static cl_int CL_API_CALL fake_clGetMemObjectInfo(cl_mem id, cl_mem_info what, size_t size, void *value,
                                                  size_t *needed) {
    const void *handle = &fake.handle, *none = NULL;
    (void)id;
    switch (what) {
    case CL_MEM_TYPE:
        return answer_number(CL_MEM_OBJECT_BUFFER, 4, size, value, needed);
    case CL_MEM_FLAGS:
        return answer_number(CL_MEM_READ_WRITE, 8, size, value, needed);
    case CL_MEM_CONTEXT:
        return answer(&handle, sizeof handle, size, value, needed);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return answer(&none, sizeof none, size, value, needed);
    default:
        return answer_number(UINT64_C(1) << 32, 8, size, value, needed);
    }
}

static cl_program CL_API_CALL fake_clCreateProgramWithSource(cl_context context, cl_uint count, const char **lines,
                                                             const size_t *lengths, cl_int *status) {
    size_t size = 1, length;
    cl_uint i;
    char *end;
    (void)context;
    for (i = 0; i < count; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(lines[i]);
    free(fake.text);
    end = fake.text = (char *)malloc(size);
    for (i = 0; end && i < count; i++, end += length) {
        length = lengths && lengths[i] ? lengths[i] : strlen(lines[i]);
        memcpy(end, lines[i], length);
    }
    if (end)
        *end = '\0';
    if (status)
        *status = CL_SUCCESS;
    return HANDLE(cl_program);
}

static cl_program CL_API_CALL fake_clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *ids,
                                                             const size_t *sizes, const unsigned char **binaries,
                                                             cl_int *each, cl_int *status) {
    (void)context;
    (void)count;
    (void)ids;
    (void)sizes;
    (void)binaries;
    (void)each;
    if (status)
        *status = CL_INVALID_BINARY;
    return NULL;
}

static uint64_t hash(uint64_t value, const char *text) {
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return value;
}

/* The place where all is collected. */
static cl_int CL_API_CALL fake_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *ids,
                                              const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                              void *user) {
    uint64_t value = hash(hash(UINT64_C(14695981039346656037), fake.text), options ? options : "");
    char path[1000];
    size_t i;
    FILE *file;
    (void)program;
    (void)count;
    (void)ids;
    (void)notify;
    (void)user;
    for (i = 0; i < fake.seen_count; i++)
        if (fake.seen[i] == value)
            return CL_SUCCESS;
    if (fake.seen_count < sizeof fake.seen / sizeof *fake.seen)
        fake.seen[fake.seen_count++] = value;
    snprintf(path, sizeof path, "%s/%s-%u.cl", fake.folder, fake.now->file, ++fake.written);
    file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(1);
    }
    fprintf(file, "// %s\n%s", options ? options : "", fake.text);
    fclose(file);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_clGetProgramInfo(cl_program id, cl_program_info what, size_t size, void *value,
                                                size_t *needed) {
    const size_t none = 0;
    (void)id;
    (void)what;
    return answer(&none, sizeof none, size, value, needed);
}

static cl_int CL_API_CALL fake_clGetProgramBuildInfo(cl_program id, cl_device_id of, cl_program_build_info what,
                                                     size_t size, void *value, size_t *needed) {
    (void)id;
    (void)of;
    (void)what;
    return answer_text("", size, value, needed);
}

static cl_kernel CL_API_CALL fake_clCreateKernel(cl_program program, const char *name, cl_int *status) {
    (void)program;
    (void)name;
    if (status)
        *status = CL_SUCCESS;
    return HANDLE(cl_kernel);
}

static cl_int CL_API_CALL fake_clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    (void)kernel;
    (void)index;
    if (value == NULL)
        fake.local_bytes += size;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_clGetKernelWorkGroupInfo(cl_kernel id, cl_device_id of, cl_kernel_work_group_info what,
                                                        size_t size, void *value, size_t *needed) {
    const size_t preferred = 32;
    (void)id;
    (void)of;
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return answer(&fake.now->group, sizeof(size_t), size, value, needed);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return answer(&preferred, sizeof(size_t), size, value, needed);
    default:
        return answer_number(0, 8, size, value, needed);
    }
}

static cl_int CL_API_CALL fake_clWaitForEvents(cl_uint count, const cl_event *events) {
    (void)count;
    (void)events;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_clGetEventInfo(cl_event id, cl_event_info what, size_t size, void *value,
                                              size_t *needed) {
    const void *handle = &fake.handle;
    (void)id;
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS)
        return answer_number(CL_COMPLETE, 4, size, value, needed);
    return answer(&handle, sizeof handle, size, value, needed);
}

/* What only takes an object. */
#define FAKE_OBJECT(name, type)                                                                                        \
    static cl_int CL_API_CALL fake_##name(type object) {                                                               \
        (void)object;                                                                                                  \
        return CL_SUCCESS;                                                                                             \
    }
FAKE_OBJECT(clRetainContext, cl_context)
FAKE_OBJECT(clReleaseContext, cl_context)
FAKE_OBJECT(clRetainCommandQueue, cl_command_queue)
FAKE_OBJECT(clReleaseCommandQueue, cl_command_queue)
FAKE_OBJECT(clRetainMemObject, cl_mem)
FAKE_OBJECT(clReleaseMemObject, cl_mem)
FAKE_OBJECT(clReleaseProgram, cl_program)
FAKE_OBJECT(clReleaseKernel, cl_kernel)
FAKE_OBJECT(clRetainEvent, cl_event)
FAKE_OBJECT(clReleaseEvent, cl_event)
FAKE_OBJECT(clFlush, cl_command_queue)
FAKE_OBJECT(clFinish, cl_command_queue)

static cl_int done(cl_uint waits, const cl_event *wait, cl_event *event) {
    (void)waits;
    (void)wait;
    if (event)
        *event = HANDLE(cl_event);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                   size_t offset, size_t size, void *host, cl_uint waits,
                                                   const cl_event *wait, cl_event *event) {
    (void)queue;
    (void)buffer;
    (void)blocking;
    (void)offset;
    memset(host, 0, size);
    return done(waits, wait, event);
}

static cl_int CL_API_CALL fake_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                    size_t offset, size_t size, const void *host, cl_uint waits,
                                                    const cl_event *wait, cl_event *event) {
    (void)queue;
    (void)buffer;
    (void)blocking;
    (void)offset;
    (void)size;
    (void)host;
    return done(waits, wait, event);
}

static cl_int CL_API_CALL fake_clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                                                   size_t pattern_size, size_t offset, size_t size, cl_uint waits,
                                                   const cl_event *wait, cl_event *event) {
    (void)queue;
    (void)buffer;
    (void)pattern;
    (void)pattern_size;
    (void)offset;
    (void)size;
    return done(waits, wait, event);
}

static void *CL_API_CALL fake_clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                 cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                                                 const cl_event *wait, cl_event *event, cl_int *status) {
    (void)queue;
    (void)buffer;
    (void)blocking;
    (void)flags;
    (void)offset;
    (void)size;
    (void)waits;
    (void)wait;
    (void)event;
    if (status)
        *status = CL_MAP_FAILURE;
    return NULL;
}

static cl_int CL_API_CALL fake_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *mapped,
                                                       cl_uint waits, const cl_event *wait, cl_event *event) {
    (void)queue;
    (void)buffer;
    (void)mapped;
    return done(waits, wait, event);
}

static cl_int CL_API_CALL fake_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                                      const size_t *offset, const size_t *global, const size_t *local,
                                                      cl_uint waits, const cl_event *wait, cl_event *event) {
    (void)queue;
    (void)kernel;
    (void)dimensions;
    (void)offset;
    (void)global;
    (void)local;
    fake.launches++;
    return done(waits, wait, event);
}

static cl_int CL_API_CALL fake_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint waits, const cl_event *wait,
                                                           cl_event *event) {
    (void)queue;
    return done(waits, wait, event);
}

/* ---- all that there is to build ---------------------------------------------------------------------------------- */

static const gpuscan_custom affine = {
    "typedef struct { float scale, shift; } affine;\n"
    "affine compose(affine a, affine b) {\n"
    "    affine c; c.scale = a.scale * b.scale; c.shift = a.shift * b.scale + b.shift; return c; }\n"
    "affine none(void) { affine c; c.scale = 1.0f; c.shift = 0.0f; return c; }\n",
    "affine",
    8,
    "compose(a, b)",
    "none()",
    NULL};
static const gpuscan_custom large = {
    "typedef struct { uint v[5]; } five;\n"
    "five join(five a, five b) { int i; for (i = 0; i < 5; i++) a.v[i] += b.v[i]; return a; }\n"
    "five zero(void) { five z; int i; for (i = 0; i < 5; i++) z.v[i] = 0; return z; }\n",
    "five",
    20,
    "join(a, b)",
    "zero()",
    NULL};
static const gpuscan_custom converted = {NULL, NULL, 0, NULL, NULL, "x > 3 ? (uint)i : 0u"};

static const gpuscan_opencl *table;
static size_t group; /* a limit of the objects' */
static int failures;

/* A new object for each: what one of them is given up for concerns no other. */
static gpuscan *fresh(void) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    char error[200] = "";
    memset(&desc, 0, sizeof desc);
    desc.opencl = table;
    desc.limits.work_group_size = group;
    desc.error = error;
    desc.error_size = sizeof error;
    if (gpuscan_create(&gs, &desc) != GPUSCAN_SUCCESS) {
        fprintf(stderr, "%s: %s\n", fake.now->file, error);
        exit(1);
    }
    return gs;
}

/* UNSUPPORTED is an answer; anything else means that this program asks for what is not allowed. */
static void done_with(gpuscan *gs, gpuscan_result result, const char *what) {
    if (result != GPUSCAN_SUCCESS && result != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY &&
        result != GPUSCAN_ERROR_UNSUPPORTED_TYPE) {
        fprintf(stderr, "%s: %s: %s: %s\n", fake.now->file, what, gpuscan_result_string(result), gpuscan_error(gs));
        failures++;
    }
    gpuscan_destroy(gs);
}

static void prepare_scan(const gpuscan_scan_desc *desc) {
    gpuscan *gs = fresh();
    done_with(gs, gpuscan_scan_prepare(gs, desc), "scan");
}

static void prepare_uniform_add(const gpuscan_uniform_add_desc *desc) {
    gpuscan *gs = fresh();
    done_with(gs, gpuscan_uniform_add_prepare(gs, desc), "uniform add");
}

static void prepare_reduce(const gpuscan_reduce_desc *desc) {
    gpuscan *gs = fresh();
    done_with(gs, gpuscan_reduce_prepare(gs, desc), "reduce");
}

static void prepare_histogram(const gpuscan_histogram_desc *desc) {
    gpuscan *gs = fresh();
    done_with(gs, gpuscan_histogram_prepare(gs, desc), "histogram");
}

/* The operations on elements; with every strategy, or as the device's profile has it, large and small. */
static void elements(gpuscan_type src, gpuscan_type dst, gpuscan_op op, const gpuscan_custom *custom, int strategies) {
    gpuscan_scan_desc scan;
    gpuscan_reduce_desc reduce;
    gpuscan_uniform_add_desc add;
    int s;
    memset(&scan, 0, sizeof scan);
    memset(&reduce, 0, sizeof reduce);
    memset(&add, 0, sizeof add);
    scan.src_type = reduce.src_type = src;
    scan.dst_type = reduce.dst_type = add.type = dst;
    scan.op = reduce.op = add.op = op;
    scan.custom = reduce.custom = add.custom = custom;
    scan.kind = op == GPUSCAN_OP_ADD ? GPUSCAN_EXCLUSIVE : GPUSCAN_INCLUSIVE;
    scan.count = reduce.count = add.count = 1000;
    add.block = 1024;
    if (op < GPUSCAN_OP_ARGMIN)
        prepare_scan(&scan);
    scan.count = reduce.count = add.count = UINT64_C(1) << 26;
    for (s = 0; s < (strategies ? (int)GPUSCAN_STRATEGY_COUNT : 1); s++) {
        scan.call.strategy = reduce.call.strategy = add.call.strategy = (gpuscan_strategy)s;
        prepare_reduce(&reduce);
        if (op >= GPUSCAN_OP_ARGMIN)
            continue;
        prepare_scan(&scan);
        if (src == dst && custom != &converted)
            prepare_uniform_add(&add);
    }
}

static void histogram(gpuscan_type samples, gpuscan_type counters, gpuscan_bins form, uint32_t bins, uint32_t channels,
                      int weights, int strategies) {
    gpuscan_histogram_desc desc;
    int s;
    memset(&desc, 0, sizeof desc);
    desc.count = UINT64_C(1) << 26;
    desc.sample_type = samples;
    desc.counter_type = counters;
    desc.form = form;
    desc.bins = bins;
    desc.channels = channels;
    if (weights)
        desc.weights.mem = HANDLE(cl_mem);
    for (s = 0; s < (strategies ? (int)GPUSCAN_STRATEGY_COUNT : 1); s++) {
        desc.call.strategy = (gpuscan_strategy)s;
        prepare_histogram(&desc);
    }
    desc.outside = GPUSCAN_OUTSIDE_COUNT;
    desc.closed = 1;
    prepare_histogram(&desc);
    desc.count = 1000; /* the form for few samples */
    desc.call.strategy = GPUSCAN_STRATEGY_AUTO;
    prepare_histogram(&desc);
}

static void everything(void) {
    elements(GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, NULL, 1);
    elements(GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F64, GPUSCAN_OP_ADD, NULL, 1);
    elements(GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &large, 1);
    elements(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, GPUSCAN_OP_MAX, NULL, 0);
    elements(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, NULL, 0);
    elements(GPUSCAN_TYPE_I8, GPUSCAN_TYPE_I64, GPUSCAN_OP_MIN, NULL, 0);
    elements(GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I16, GPUSCAN_OP_ADD, NULL, 0);
    elements(GPUSCAN_TYPE_U16, GPUSCAN_TYPE_F32, GPUSCAN_OP_MUL, NULL, 0);
    elements(GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F16, GPUSCAN_OP_ADD, NULL, 0);
    elements(GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, GPUSCAN_OP_XOR, NULL, 0);
    elements(GPUSCAN_TYPE_F64, GPUSCAN_TYPE_I32, GPUSCAN_OP_AND, NULL, 0);
    elements(GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_OR, &converted, 0);
    elements(GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &affine, 0);
    elements(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U64, GPUSCAN_OP_ARGMIN, NULL, 1);
    elements(GPUSCAN_TYPE_I8, GPUSCAN_TYPE_U32, GPUSCAN_OP_ARGMAX, NULL, 0);
    histogram(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 256, 1, 0, 1);
    histogram(GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U64, GPUSCAN_BINS_EVEN, 65536, 1, 0, 0);
    histogram(GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 100, 1, 0, 0);
    histogram(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 256, 1, 0, 1);
    histogram(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 256, 4, 1, 0);
    histogram(GPUSCAN_TYPE_F64, GPUSCAN_TYPE_U64, GPUSCAN_BINS_EDGES, 1000, 2, 1, 0);
    histogram(GPUSCAN_TYPE_F16, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EDGES, 20, 1, 0, 0);
    histogram(GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U32, GPUSCAN_BINS_VALUES, 1u << 24, 1, 0, 0);
}

/* ---- what only a device that is not here comes to ---------------------------------------------------------------- */

static void expect(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s: %s\n", fake.now->file, what);
        failures++;
    }
}

/* A histogram's bins lie in local memory: with NVIDIA's instructions the kernel declares it, elsewhere it is an
   argument. */
static void local_bins(int declared) {
    gpuscan *gs = fresh();
    gpuscan_histogram_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.count = UINT64_C(1) << 26;
    desc.samples.mem = (cl_mem)(void *)&fake.buffers[14];
    desc.counts.mem = (cl_mem)(void *)&fake.buffers[15];
    desc.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    fake.local_bytes = 0;
    expect(gpuscan_histogram(gs, &desc) == GPUSCAN_SUCCESS, "a histogram is refused"); /* and its self-test is launched */
    fake.launches = 0;
    expect(gpuscan_histogram(gs, &desc) == GPUSCAN_SUCCESS && fake.launches == 1, "a histogram is not launched");
    expect(declared ? fake.local_bytes == 0 : fake.local_bytes >= 1024, "local memory for bins");
    gpuscan_destroy(gs);
}

/* A failure that cannot be put into words is at least named. */
static void without_words(void) {
    gpuscan *gs = fresh();
    gpuscan_scan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kind = (gpuscan_scan_kind)9;
    expect(gpuscan_scan(gs, &desc) == GPUSCAN_ERROR_INVALID_ARGUMENT && strstr(gpuscan_error(gs), "kind"), "words");
    print_fails = 1;
    expect(gpuscan_scan(gs, &desc) == GPUSCAN_ERROR_INVALID_ARGUMENT && !strstr(gpuscan_error(gs), "kind") &&
               strstr(gpuscan_error(gs), gpuscan_result_string(GPUSCAN_ERROR_INVALID_ARGUMENT)),
           "a failure without words");
    print_fails = 0;
    gpuscan_destroy(gs);
}

int main(int argc, char **argv) {
    gpuscan_opencl functions;
    size_t d;
    if (argc != 2) {
        fprintf(stderr, "usage: programs FOLDER\n");
        return 2;
    }
    fake.folder = argv[1];
#define FILL(name, result, parameters) functions.name = fake_##name;
    GPUSCAN_OPENCL_FUNCTIONS(FILL)
#undef FILL
    table = &functions;
    for (d = 0; d < sizeof devices / sizeof *devices; d++) {
        fake.now = &devices[d];
        everything();
        if (strcmp(fake.now->file, "nvidia") == 0) {
            group = 16; /* less than a sub-group */
            elements(GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, GPUSCAN_OP_ADD, NULL, 0);
            group = 0;
            local_bins(1);
        }
        if (strcmp(fake.now->file, "amd") == 0)
            local_bins(0);
    }
    without_words();
    free(fake.text);
    printf("%u programs\n", fake.written);
    return failures > 0;
}
