/* gpuscan.h - v0.1.0 - prefix sum, reduction and histogram on any OpenCL device - MIT-0 or public domain

   Do this in ONE C or C++ file, and include the header without the define everywhere else:

       #define GPUSCAN_IMPLEMENTATION
       #include "gpuscan.h"

   A whole program (Linux: cc sum.c -ldl; macOS: cc sum.c -framework OpenCL; Windows: cl sum.c):

       #include <stdio.h>
       int main(void) {
           uint32_t   flags[8] = {3, 1, 7, 0, 4, 1, 6, 3}, offsets[8];
           gpuscan   *gs = NULL;
           gpuscan_result r = gpuscan_create(&gs, NULL);                    the best device there is
           if (r == 0) r = gpuscan_scan_host(gs, flags, offsets, 8, NULL);  exclusive prefix sum of u32
           if (r == 0) printf("%u\n", (unsigned)offsets[7]);                22
           else        printf("%s\n", gpuscan_result_string(r));
           gpuscan_destroy(gs);
           return r != 0;
       }
*/
#ifndef GPUSCAN_H
#define GPUSCAN_H

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

#ifndef GPUSCAN_API
#ifdef GPUSCAN_STATIC
#define GPUSCAN_API static
#else
#define GPUSCAN_API extern
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* [TYPES] ---------------------------------------------------------------------------------------------------------- */

/* The library's object: one for one context and device. One thread at a time uses it; distinct objects are
   independent, also on a shared context. */
typedef struct gpuscan gpuscan;

/* 0 is success, -1 to -1999 are OpenCL's own codes, passed through; the library's own come in classes of 100.
   gpuscan_result_string() names each of them. */
typedef int32_t gpuscan_result;

enum {
    GPUSCAN_SUCCESS = 0,
    /* the caller's arguments */
    GPUSCAN_ERROR_INVALID_ARGUMENT  = -2000, /* NULL where it is not allowed, an unknown enum value, fields that clash */
    GPUSCAN_ERROR_INVALID_TYPE      = -2001, /* the type does not fit the operation */
    GPUSCAN_ERROR_INVALID_OPERATOR  = -2002, /* the operator does not fit the type or the operation */
    GPUSCAN_ERROR_INVALID_CONTEXT   = -2003, /* a queue, buffer or event of another context or device */
    GPUSCAN_ERROR_INVALID_BUFFER    = -2004, /* a missing buffer, or no buffer at all (an image, say) */
    GPUSCAN_ERROR_BUFFER_TOO_SMALL  = -2005, /* offset + count goes past the end of a buffer */
    GPUSCAN_ERROR_BUFFER_ACCESS     = -2006, /* an output that kernels may not write, an input that they may not read */
    GPUSCAN_ERROR_OVERLAP           = -2007, /* ranges overlap that may not */
    GPUSCAN_ERROR_SIZE_OVERFLOW     = -2008, /* a size that does not fit 64 bits or the host's size_t */
    GPUSCAN_ERROR_INVALID_BINS      = -2009, /* no bins, an empty range, or a float range too fine for its type */
    GPUSCAN_ERROR_SCRATCH_TOO_SMALL = -2010, /* the caller's scratch is smaller than the size query says */
    GPUSCAN_ERROR_INVALID_EVENT     = -2011, /* a wait list that is inconsistent or holds no event */
    /* the machine */
    GPUSCAN_ERROR_NO_OPENCL         = -2100, /* no OpenCL loader on this machine, or it lacks entry points */
    GPUSCAN_ERROR_NO_PLATFORM       = -2101, /* a loader, but no OpenCL driver */
    GPUSCAN_ERROR_NO_DEVICE         = -2102, /* drivers, but no device (of the name that was asked for) */
    GPUSCAN_ERROR_DEVICE_TOO_OLD    = -2103, /* the device is below OpenCL 1.2, or has no compiler */
    /* what this device cannot do */
    GPUSCAN_ERROR_UNSUPPORTED_TYPE     = -2200, /* f64 without double precision */
    GPUSCAN_ERROR_UNSUPPORTED_STRATEGY = -2201, /* the strategy that was forced does not fit the device or the call */
    /* host memory */
    GPUSCAN_ERROR_OUT_OF_HOST_MEMORY = -2300, /* the allocator returned NULL */
    /* custom types and operators */
    GPUSCAN_ERROR_CUSTOM_SOURCE = -2400, /* the custom text does not compile: gpuscan_error() holds the build log */
    GPUSCAN_ERROR_CUSTOM_SIZE   = -2401, /* the custom type's size on the device is not the one given */
    /* blobs */
    GPUSCAN_ERROR_BLOB = -2500, /* truncated, damaged, or of another device, driver or version: programs get rebuilt */
    /* the library itself */
    GPUSCAN_ERROR_BUILD = -2600 /* the device's compiler refuses the library's own kernels: please report the log */
};

/* Element types. DEFAULT is what the field's comment says. F16 is storage only: it is computed in f32. */
typedef enum gpuscan_type {
    GPUSCAN_TYPE_DEFAULT = 0,
    GPUSCAN_TYPE_I8,
    GPUSCAN_TYPE_U8,
    GPUSCAN_TYPE_I16,
    GPUSCAN_TYPE_U16,
    GPUSCAN_TYPE_I32,
    GPUSCAN_TYPE_U32,
    GPUSCAN_TYPE_I64,
    GPUSCAN_TYPE_U64,
    GPUSCAN_TYPE_F16,
    GPUSCAN_TYPE_F32,
    GPUSCAN_TYPE_F64,
    GPUSCAN_TYPE_CUSTOM, /* the type that desc.custom describes */
    GPUSCAN_TYPE_COUNT
} gpuscan_type;

/* Operators. Integers wrap around; MIN and MAX of floats ignore NaN as C's fmin and fmax do; AND, OR and XOR are for
   integers. ARGMIN and ARGMAX are for gpuscan_reduce alone and give the index of the first smallest or largest. */
typedef enum gpuscan_op {
    GPUSCAN_OP_ADD = 0,
    GPUSCAN_OP_MIN,
    GPUSCAN_OP_MAX,
    GPUSCAN_OP_MUL,
    GPUSCAN_OP_AND,
    GPUSCAN_OP_OR,
    GPUSCAN_OP_XOR,
    GPUSCAN_OP_CUSTOM, /* the operator that desc.custom describes */
    GPUSCAN_OP_ARGMIN,
    GPUSCAN_OP_ARGMAX,
    GPUSCAN_OP_COUNT
} gpuscan_op;

/* How a call is computed. AUTO takes what the device profile says; the others force one, for tests and comparisons.
   Every strategy gives the same integers; floats are the same bits from run to run within one strategy.

                      scan                                   reduce                       histogram
   MULTI_PASS         sums of chunks, scan of the sums,      partial results, then a      bins in global memory
                      scan of the chunks: nothing assumed    second launch combines them
   SINGLE_PASS        one launch, decoupled look-back        one launch, the last group   bins in local memory, merged
                                                             to arrive combines           into global memory
   SINGLE_PASS_AHEAD  the same, with half of the groups      as SINGLE_PASS               as SINGLE_PASS
                      summing tiles ahead of the scan
   CPU_MULTI_PASS     MULTI_PASS, a work-item a group        MULTI_PASS, likewise         tables of one work-item each,
                                                                                          merged into global memory
   CPU_SINGLE_PASS    SINGLE_PASS, a work-item a group       SINGLE_PASS, likewise        as CPU_MULTI_PASS */
typedef enum gpuscan_strategy {
    GPUSCAN_STRATEGY_AUTO = 0,
    GPUSCAN_STRATEGY_MULTI_PASS,
    GPUSCAN_STRATEGY_SINGLE_PASS,
    GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
    GPUSCAN_STRATEGY_CPU_MULTI_PASS,
    GPUSCAN_STRATEGY_CPU_SINGLE_PASS,
    GPUSCAN_STRATEGY_COUNT
} gpuscan_strategy;

/* A buffer and where its data begins, in elements of that buffer's type. mem NULL: not given. */
typedef struct gpuscan_buffer {
    cl_mem   mem;
    uint64_t offset;
} gpuscan_buffer;

/* A custom type, operator or conversion, in OpenCL C 1.2. The texts are trusted: they are compiled and run as they
   are. The library reads them during a call only, and recognises equal texts.

       static const gpuscan_custom affine = {
           "typedef struct { float scale, shift; } affine;\n"
           "affine compose(affine a, affine b) {\n"
           "    affine c; c.scale = a.scale * b.scale; c.shift = a.shift * b.scale + b.shift; return c; }\n"
           "affine none(void) { affine c; c.scale = 1.0f; c.shift = 0.0f; return c; }\n",
           "affine", 8, "compose(a, b)", "none()", NULL};                                                           */
typedef struct gpuscan_custom {
    const char *source;   /* declarations, put before the kernels; NULL: none */
    const char *type;     /* the type's name, for GPUSCAN_TYPE_CUSTOM; size in bytes must be the device's sizeof */
    size_t      size;
    const char *combine;  /* an associative expression of a and b, a before b, for GPUSCAN_OP_CUSTOM */
    const char *identity; /* an expression e with combine(e, x) = combine(x, e) = x, for GPUSCAN_OP_CUSTOM */
    const char *convert;  /* an expression of x (a source element) and i (its ulong index in the row) that gives a
                             destination element; NULL: C's conversion. Works with every operator. Scan, reduce. */
} gpuscan_custom;

/* How a call is enqueued; the same in every desc. */
typedef struct gpuscan_call {
    cl_command_queue queue;        /* NULL: the object's queue. In-order or out-of-order */
    cl_uint          wait_count;   /* the commands of the call wait for these events */
    const cl_event  *wait_list;
    cl_event        *event;        /* out, may be NULL: completes with the call; the caller releases it. NULL after
                                      a failure */
    gpuscan_buffer   scratch;      /* device memory for intermediate results; here the offset is in bytes, a multiple
                                      of 64. mem NULL: the object's own, which grows when it must. Calls that share
                                      scratch must not overlap in time; with the object's own the library sees to it */
    uint64_t         scratch_size; /* bytes from the offset on that may be used; 0: up to the end of the buffer */
    gpuscan_strategy strategy;
} gpuscan_call;

/* Host memory. Both functions, or neither. allocate returns NULL when it fails, otherwise memory aligned for any
   type; release is never called with NULL. */
typedef struct gpuscan_allocator {
    void *(*allocate)(size_t size, void *user);
    void (*release)(void *memory, void *user);
    void *user;
} gpuscan_allocator;

typedef enum gpuscan_log_level { GPUSCAN_LOG_ERROR = 1, GPUSCAN_LOG_WARNING, GPUSCAN_LOG_INFO } gpuscan_log_level;

/* Gets each failure in words, and what the library decides (programs built, variants refused). Silent when NULL. */
typedef struct gpuscan_logger {
    void (*log)(gpuscan_log_level level, const char *message, void *user);
    void *user;
} gpuscan_logger;

/* What to hold back of a device, to test how the library gets along without it. Zero: hold back nothing. */
enum {
    GPUSCAN_WITHOUT_INT64_ATOMICS = 1, /* 64-bit atomics */
    GPUSCAN_WITHOUT_F64           = 2, /* double precision */
    GPUSCAN_WITHOUT_LANES         = 4, /* the vendor's lane and memory instructions (PTX) */
    GPUSCAN_WITHOUT_FENCE         = 8, /* fences of device scope */
    GPUSCAN_WITHOUT_ZERO_COPY     = 16 /* host arrays used in place by host-array calls */
};
typedef struct gpuscan_limits {
    size_t   work_group_size; /* work-items a group at most; 0: the device's limit */
    uint64_t local_memory;    /* bytes of local memory a group at most; 0: the device's limit */
    uint32_t without;         /* a sum of GPUSCAN_WITHOUT_... */
} gpuscan_limits;

/* The OpenCL entry points that the library calls: X(name, result type, parameters). A program that brings its own
   table (to inject faults, count objects or trace) fills a gpuscan_opencl with this list. */
#define GPUSCAN_OPENCL_FUNCTIONS(X)                                                                                    \
    X(clGetPlatformIDs, cl_int, (cl_uint, cl_platform_id *, cl_uint *))                                                \
    X(clGetPlatformInfo, cl_int, (cl_platform_id, cl_platform_info, size_t, void *, size_t *))                         \
    X(clGetDeviceIDs, cl_int, (cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *))                    \
    X(clGetDeviceInfo, cl_int, (cl_device_id, cl_device_info, size_t, void *, size_t *))                               \
    X(clCreateContext, cl_context,                                                                                     \
      (const cl_context_properties *, cl_uint, const cl_device_id *,                                                   \
       void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *))                             \
    X(clRetainContext, cl_int, (cl_context))                                                                           \
    X(clReleaseContext, cl_int, (cl_context))                                                                          \
    X(clGetContextInfo, cl_int, (cl_context, cl_context_info, size_t, void *, size_t *))                               \
    X(clCreateCommandQueue, cl_command_queue, (cl_context, cl_device_id, cl_command_queue_properties, cl_int *))       \
    X(clRetainCommandQueue, cl_int, (cl_command_queue))                                                                \
    X(clReleaseCommandQueue, cl_int, (cl_command_queue))                                                               \
    X(clGetCommandQueueInfo, cl_int, (cl_command_queue, cl_command_queue_info, size_t, void *, size_t *))              \
    X(clCreateBuffer, cl_mem, (cl_context, cl_mem_flags, size_t, void *, cl_int *))                                    \
    X(clRetainMemObject, cl_int, (cl_mem))                                                                             \
    X(clReleaseMemObject, cl_int, (cl_mem))                                                                            \
    X(clGetMemObjectInfo, cl_int, (cl_mem, cl_mem_info, size_t, void *, size_t *))                                     \
    X(clCreateProgramWithSource, cl_program, (cl_context, cl_uint, const char **, const size_t *, cl_int *))           \
    X(clCreateProgramWithBinary, cl_program,                                                                           \
      (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *))         \
    X(clReleaseProgram, cl_int, (cl_program))                                                                          \
    X(clBuildProgram, cl_int,                                                                                          \
      (cl_program, cl_uint, const cl_device_id *, const char *, void(CL_CALLBACK *)(cl_program, void *), void *))      \
    X(clGetProgramInfo, cl_int, (cl_program, cl_program_info, size_t, void *, size_t *))                               \
    X(clGetProgramBuildInfo, cl_int, (cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *))      \
    X(clCreateKernel, cl_kernel, (cl_program, const char *, cl_int *))                                                 \
    X(clReleaseKernel, cl_int, (cl_kernel))                                                                            \
    X(clSetKernelArg, cl_int, (cl_kernel, cl_uint, size_t, const void *))                                              \
    X(clGetKernelWorkGroupInfo, cl_int, (cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void *, size_t *))\
    X(clWaitForEvents, cl_int, (cl_uint, const cl_event *))                                                            \
    X(clGetEventInfo, cl_int, (cl_event, cl_event_info, size_t, void *, size_t *))                                     \
    X(clRetainEvent, cl_int, (cl_event))                                                                               \
    X(clReleaseEvent, cl_int, (cl_event))                                                                              \
    X(clFlush, cl_int, (cl_command_queue))                                                                             \
    X(clFinish, cl_int, (cl_command_queue))                                                                            \
    X(clEnqueueReadBuffer, cl_int,                                                                                     \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))              \
    X(clEnqueueWriteBuffer, cl_int,                                                                                    \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *))        \
    X(clEnqueueFillBuffer, cl_int,                                                                                     \
      (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))         \
    X(clEnqueueMapBuffer, void *,                                                                                      \
      (cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event *, cl_event *,         \
       cl_int *))                                                                                                      \
    X(clEnqueueUnmapMemObject, cl_int, (cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *))      \
    X(clEnqueueNDRangeKernel, cl_int,                                                                                  \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,                  \
       const cl_event *, cl_event *))                                                                                  \
    X(clEnqueueMarkerWithWaitList, cl_int, (cl_command_queue, cl_uint, const cl_event *, cl_event *))

#define GPUSCAN__FIELD(name, result, parameters) result(CL_API_CALL *name) parameters;
typedef struct gpuscan_opencl {
    GPUSCAN_OPENCL_FUNCTIONS(GPUSCAN__FIELD)
} gpuscan_opencl;
#undef GPUSCAN__FIELD

/* What gpuscan_create needs to know. All zero: the best device (GPUs before other accelerators before CPUs, then by
   compute units times clock), or the first whose name contains the environment variable GPUSCAN_DEVICE. */
typedef struct gpuscan_desc {
    cl_context            context;     /* NULL: the library makes one. Retained */
    cl_device_id          device;      /* NULL: the context's first device */
    cl_command_queue      queue;       /* for calls that name none. NULL: an in-order queue of the library. Retained */
    const char           *device_name; /* with context NULL: a part of the device's or its platform's name */
    const gpuscan_opencl *opencl;      /* NULL: the ICD loader, or with GPUSCAN_LINK_OPENCL what is linked. Copied */
    gpuscan_allocator     allocator;   /* zero: malloc and free */
    gpuscan_logger        logger;
    gpuscan_limits        limits;
    char                 *error;       /* out: gpuscan_create's own failure in words, at most error_size bytes */
    size_t                error_size;
} gpuscan_desc;

/* What the library made of a desc and a device. The strings live as long as the object. */
typedef struct gpuscan_info {
    cl_context       context;
    cl_device_id     device;
    cl_command_queue queue;           /* NULL until the library's own is needed */
    const char      *device_name;
    const char      *platform_name;
    const char      *profile;         /* the row of the profile table, "NVIDIA GPU" say */
    size_t           work_group_size; /* the largest that is used */
    uint64_t         local_memory;
    int              has_f64, has_int64_atomics, has_fence, has_lanes, has_zero_copy;
    gpuscan_strategy scan_strategy, reduce_strategy, histogram_strategy; /* what AUTO stands for, for large counts */
} gpuscan_info;

typedef enum gpuscan_scan_kind {
    GPUSCAN_EXCLUSIVE = 0, /* dst[i] = init op src[0] op ... op src[i - 1] */
    GPUSCAN_INCLUSIVE      /* dst[i] = init op src[0] op ... op src[i] */
} gpuscan_scan_kind;

/* Prefix sum. Row r reads count elements from src.offset + r * src_pitch and writes as many from
   dst.offset + r * dst_pitch. src and dst may be the same range of one buffer with types of one size; any other
   overlap of what is written with what is read or written is an error. */
typedef struct gpuscan_scan_desc {
    gpuscan_buffer        src, dst;
    uint64_t              count;        /* elements a row; 0 is legal: only the totals are written */
    gpuscan_type          src_type;     /* default: u32 */
    gpuscan_type          dst_type;     /* default: as src_type. The arithmetic is the destination's (f32 for f16) */
    gpuscan_op            op;
    gpuscan_scan_kind     kind;
    const gpuscan_custom *custom;
    const void           *init;         /* one dst_type element on the host, read during the call. NULL: none */
    gpuscan_buffer        init_buffer;  /* or one dst_type element on the device; one a call, used by every row */
    gpuscan_buffer        total;        /* out, dst_type, one element a row: init op all elements of the row */
    uint64_t              rows;         /* independent scans; 0: 1 */
    uint64_t              src_pitch;    /* elements from row to row, at least count; 0: count */
    uint64_t              dst_pitch;
    gpuscan_buffer        count_buffer; /* optional: the count, read on the device when the call runs, clamped to count */
    gpuscan_type          count_type;   /* u32 (default) or u64 */
    gpuscan_call          call;
} gpuscan_scan_desc;

/* dst[i] = addend[i / block] op dst[i]: the second half of every multi-level scan. dst must not overlap addend. */
typedef struct gpuscan_uniform_add_desc {
    gpuscan_buffer        dst;
    gpuscan_buffer        addend;       /* dst's type, ceil(count / block) elements */
    uint64_t              count;
    uint64_t              block;        /* elements an addend, at least 1 */
    gpuscan_type          type;         /* default: u32 */
    gpuscan_op            op;
    const gpuscan_custom *custom;
    gpuscan_buffer        count_buffer;
    gpuscan_type          count_type;
    gpuscan_call          call;         /* strategy: AUTO, MULTI_PASS or CPU_MULTI_PASS */
} gpuscan_uniform_add_desc;

/* init op src[0] op ... op src[count - 1], into dst or result. Of no elements: init, or the operator's identity; for
   ARGMIN and ARGMAX the largest value of dst_type. Floats: NaN is no candidate for ARGMIN and ARGMAX. */
typedef struct gpuscan_reduce_desc {
    gpuscan_buffer        src;
    gpuscan_buffer        dst;         /* one dst_type element; exactly one of dst and result must be given */
    void                 *result;      /* or host memory for it, written by the time that the event completes */
    uint64_t              count;
    gpuscan_type          src_type;    /* default: u32 */
    gpuscan_type          dst_type;    /* default: as src_type; ARGMIN, ARGMAX: u64 (default) or u32 */
    gpuscan_op            op;
    const gpuscan_custom *custom;
    const void           *init;        /* as in gpuscan_scan_desc; not for ARGMIN and ARGMAX */
    gpuscan_buffer        init_buffer;
    gpuscan_buffer        count_buffer;
    gpuscan_type          count_type;
    gpuscan_call          call;
} gpuscan_reduce_desc;

typedef enum gpuscan_bins {
    GPUSCAN_BINS_EVEN = 0, /* bins of equal width over [lower, upper) */
    GPUSCAN_BINS_EDGES,    /* bin k is [edges[k], edges[k + 1]) */
    GPUSCAN_BINS_VALUES    /* integers: bin k holds the samples that equal lower + k */
} gpuscan_bins;

typedef enum gpuscan_outside {
    GPUSCAN_OUTSIDE_DROP = 0, /* samples in no bin are not counted */
    GPUSCAN_OUTSIDE_CLAMP,    /* they count in the first or last bin */
    GPUSCAN_OUTSIDE_COUNT     /* counter [bins] counts those below, [bins + 1] those above */
} gpuscan_outside;

/* A bound in the sample type's own kind: i for signed integers, u for unsigned ones, f for floats. */
typedef union gpuscan_bound {
    int64_t  i;
    uint64_t u;
    double   f;
} gpuscan_bound;

/* Histogram. Pixel p of row r has its channel c at samples.offset + (r * pitch + p) * channels + c. The counters of
   the mask's channels follow each other in counts, bins (or with OUTSIDE_COUNT bins + 2) for each.
   EVEN, integers: bin = floor((s - lower) * bins / (upper - lower)), exact over the whole range of every type; with
   lower and upper both 0 the range is the type's whole range. EVEN, floats: edge[k] = fma(k, step, lower) in the
   sample type (f32 for f16) for k < bins, edge[bins] = upper, with step = (upper - lower) / bins rounded once from
   double (for f64: upper / bins - lower / bins where the difference overflows); with both 0 the range is [0, 1).
   NaN is never counted. */
typedef struct gpuscan_histogram_desc {
    gpuscan_buffer  samples;
    gpuscan_buffer  counts;        /* out */
    uint64_t        count;         /* pixels a row; 0 is legal */
    gpuscan_type    sample_type;   /* default: u8. Any builtin type */
    gpuscan_type    counter_type;  /* u32 (default) or u64 */
    uint32_t        bins;          /* 0: 256 */
    gpuscan_bins    form;
    gpuscan_bound   lower, upper;
    int             closed;        /* not 0: the upper bound (the last edge) belongs to the last bin */
    gpuscan_outside outside;
    int             accumulate;    /* not 0: add to what counts holds instead of overwriting it */
    gpuscan_buffer  edges;         /* EDGES: bins + 1 ascending values of the sample type (f32 for f16) */
    gpuscan_buffer  weights;       /* optional, one a pixel: what each of its samples counts, at (r * weights_pitch + p) */
    gpuscan_type    weight_type;   /* u8, u16, u32 (default) or u64; sums wrap like the counters */
    uint32_t        channels;      /* interleaved, 1 to 4; 0: 1 */
    uint32_t        channel_mask;  /* bit c: count channel c; 0: all */
    uint64_t        rows;          /* 0: 1 */
    uint64_t        pitch;         /* pixels from row to row, at least count; 0: count */
    uint64_t        weights_pitch; /* likewise */
    gpuscan_buffer  count_buffer;
    gpuscan_type    count_type;
    const void     *host_edges;    /* for gpuscan_histogram_host: edges and weights as host arrays */
    const void     *host_weights;
    gpuscan_call    call;
} gpuscan_histogram_desc;

/* [FUNCTIONS] ------------------------------------------------------------------------------------------------------ */

/* Opens an object; *gs is NULL after a failure. desc may be NULL. Builds nothing yet. */
GPUSCAN_API gpuscan_result gpuscan_create(gpuscan **gs, const gpuscan_desc *desc);

/* Releases everything that the object holds. Calls that are still running are completed by OpenCL. NULL is legal. */
GPUSCAN_API void gpuscan_destroy(gpuscan *gs);

/* What the object runs on and what it decided. */
GPUSCAN_API gpuscan_result gpuscan_get_info(const gpuscan *gs, gpuscan_info *info);

/* A result in a few words; never NULL. */
GPUSCAN_API const char *gpuscan_result_string(gpuscan_result result);

/* The object's last failure in words: the argument, the OpenCL call, the build log. "" if there was none; valid until
   the next call on the object. */
GPUSCAN_API const char *gpuscan_error(const gpuscan *gs);

/* A type's size in bytes; 0 for DEFAULT, CUSTOM and unknown values. */
GPUSCAN_API size_t gpuscan_type_size(gpuscan_type type);

/* The operations on device buffers. They check every argument, enqueue and return; the last command enqueued is the
   only one that writes outputs, so after a failure the outputs are as they were. The first call that needs a program
   builds it (a second or less), unless prepare or a blob did. */
GPUSCAN_API gpuscan_result gpuscan_scan(gpuscan *gs, const gpuscan_scan_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_uniform_add(gpuscan *gs, const gpuscan_uniform_add_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_reduce(gpuscan *gs, const gpuscan_reduce_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_histogram(gpuscan *gs, const gpuscan_histogram_desc *desc);

/* Builds what a call with this desc will need, so that the call itself neither builds nor allocates (with the caller's
   scratch; with the object's own, the scratch is allocated here). Buffers, queue and events in the desc may be left
   out: where they are, in-place use is assumed possible. */
GPUSCAN_API gpuscan_result gpuscan_scan_prepare(gpuscan *gs, const gpuscan_scan_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_uniform_add_prepare(gpuscan *gs, const gpuscan_uniform_add_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_reduce_prepare(gpuscan *gs, const gpuscan_reduce_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_histogram_prepare(gpuscan *gs, const gpuscan_histogram_desc *desc);

/* The bytes of scratch that a call with this desc needs at most; buffers may be left out. May be 0. */
GPUSCAN_API gpuscan_result gpuscan_scan_scratch_size(gpuscan *gs, const gpuscan_scan_desc *desc, uint64_t *size);
GPUSCAN_API gpuscan_result gpuscan_uniform_add_scratch_size(gpuscan *gs, const gpuscan_uniform_add_desc *desc,
                                                            uint64_t *size);
GPUSCAN_API gpuscan_result gpuscan_reduce_scratch_size(gpuscan *gs, const gpuscan_reduce_desc *desc, uint64_t *size);
GPUSCAN_API gpuscan_result gpuscan_histogram_scratch_size(gpuscan *gs, const gpuscan_histogram_desc *desc,
                                                          uint64_t *size);

/* The operations on host arrays: blocking, on the whole arrays. desc may be NULL; where it is given, its count, src,
   dst, samples, counts, edges, weights and result are not used and must be zero, and all else holds. src may equal dst.
   The arrays hold rows * pitch elements (the last row only count). result receives one element, counts
   bins * channels counters. uniform_add's addend holds ceil(count / block) elements. */
GPUSCAN_API gpuscan_result gpuscan_scan_host(gpuscan *gs, const void *src, void *dst, uint64_t count,
                                             const gpuscan_scan_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_uniform_add_host(gpuscan *gs, const void *addend, void *dst, uint64_t count,
                                                    uint64_t block, const gpuscan_uniform_add_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_reduce_host(gpuscan *gs, const void *src, void *result, uint64_t count,
                                               const gpuscan_reduce_desc *desc);
GPUSCAN_API gpuscan_result gpuscan_histogram_host(gpuscan *gs, const void *samples, void *counts, uint64_t count,
                                                  const gpuscan_histogram_desc *desc);

/* The programs built so far, for the next start. get: *size is the capacity on entry (blob NULL: ignored) and the size
   needed on return; a capacity that is too small is GPUSCAN_ERROR_INVALID_ARGUMENT. set: copies what it needs; a blob
   that is damaged, or of another device, driver or version, is GPUSCAN_ERROR_BLOB and changes nothing. Blobs are
   trusted like programs: their checksum finds damage, not malice. */
GPUSCAN_API gpuscan_result gpuscan_get_blob(gpuscan *gs, void *blob, size_t *size);
GPUSCAN_API gpuscan_result gpuscan_set_blob(gpuscan *gs, const void *blob, size_t size);

#ifdef __cplusplus
}
#endif
#endif /* GPUSCAN_H */
