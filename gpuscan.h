/* gpuscan.h - v0.2.0 - prefix sum, reduction, histogram, selection on any OpenCL device - MIT-0 or public domain

   Do this in ONE C or C++ file, and include the header without the define everywhere else:

       #define GPUSCAN_IMPLEMENTATION
       #include "gpuscan.h"

   A whole program: the exclusive prefix sum of eight flags. It prints 22.

       #include <stdio.h>
       int main(void) {
           uint32_t flags[8] = {3, 1, 7, 0, 4, 1, 6, 3}, offsets[8];
           gpuscan *gs = NULL;
           gpuscan_result r = gpuscan_create(&gs, NULL);
           if (r == 0) r = gpuscan_scan_host(gs, flags, offsets, 8, NULL);
           if (r == 0) printf("%u\n", (unsigned)offsets[7]);
           else printf("%s\n", gpuscan_result_string(r));
           gpuscan_destroy(gs);
           return r != 0;
       }

   COMPILE     Linux: cc sum.c (-ldl with a glibc before 2.34)    macOS: cc sum.c -framework OpenCL
               Windows: cl sum.c, or gcc sum.c of MinGW-w64       C99 or C++11; the interface alone is C89 but for
               <stdint.h>. OpenCL's headers must be there; its loader is opened at run time, so nothing is linked.

   MACROS      before the include that has GPUSCAN_IMPLEMENTATION; all are optional:
               GPUSCAN_STATIC              everything is static: the library is private to this file
               GPUSCAN_API                 what stands before public functions (default: extern); before the other
                                           includes, too
               GPUSCAN_LINK_OPENCL         link OpenCL (-lOpenCL) instead of loading it; also in programs that call
                                           OpenCL themselves and link it
               CL_TARGET_OPENCL_VERSION    as in Khronos' headers, 120 or higher; the library needs no more than 1.2.
                                           Default: 300, their newest, so that what includes them later finds all; and
                                           then CL_USE_DEPRECATED_OPENCL_1_2_APIS, for clCreateCommandQueue

   STEP BY STEP
               1. gpuscan_create: NULL opens the best device there is (GPUSCAN_DEVICE in the environment picks one by a
                  part of its name); an engine passes its own context, device and queue.
               2. Fill a desc. Its zero value is the default everywhere: memset or = {0} (C++: = {}), then set what
                  matters, by name.
               3. gpuscan_scan(gs, &desc) enqueues and returns. Wait lists come in and an event goes out as in OpenCL.
               4. gpuscan_scan_prepare(gs, &desc) at load time builds the programs, so that the call need not.
               The _host forms, as in the program above, take arrays and block; they need nothing of OpenCL.

   WITH BUFFERS
               The same eight flags in buffers on the device, in a program that calls OpenCL itself. It prints 22, too.
               Linux: cc buffers.c -lOpenCL

       #define GPUSCAN_LINK_OPENCL
       #define GPUSCAN_IMPLEMENTATION
       #include "gpuscan.h"
       #include <stdio.h>
       int main(void) {
           uint32_t flags[8] = {3, 1, 7, 0, 4, 1, 6, 3}, offsets[8] = {0};
           gpuscan *gs = NULL;
           gpuscan_info info;
           gpuscan_scan_desc scan = {0};
           // 1. Create: the object has a context and a device, or is given yours.
           gpuscan_result r = gpuscan_create(&gs, NULL);
           if (r == 0) r = gpuscan_get_info(gs, &info);
           if (r != 0) return 1;
           // 2. Buffers and a queue. What stays zero is the default: u32, exclusive, add, offset 0, no events.
           scan.call.queue = clCreateCommandQueue(info.context, info.device, 0, NULL);
           scan.src.mem = clCreateBuffer(info.context, CL_MEM_COPY_HOST_PTR, sizeof flags, flags, NULL);
           scan.dst.mem = clCreateBuffer(info.context, CL_MEM_READ_WRITE, sizeof offsets, NULL, NULL);
           scan.count = 8;
           // 3. Call: it checks, enqueues and returns. gpuscan_error says in words what it refuses.
           r = gpuscan_scan(gs, &scan);
           if (r != 0) printf("%s\n", gpuscan_error(gs));
           // 4. Read: the queue is in-order, so this comes after the scan.
           clEnqueueReadBuffer(scan.call.queue, scan.dst.mem, CL_TRUE, 0, sizeof offsets, offsets, 0, NULL, NULL);
           printf("%u\n", (unsigned)offsets[7]);
           clReleaseMemObject(scan.src.mem);
           clReleaseMemObject(scan.dst.mem);
           clReleaseCommandQueue(scan.call.queue);
           gpuscan_destroy(gs);
           return r != 0;
       }

   ERRORS      Functions that can fail return a gpuscan_result: 0, an OpenCL code, or one of the library's own, which
               are -2000 and below. gpuscan_error(gs) says in words which argument or call it was; gpuscan_create, which
               has no object then, says it in its desc's error. All arguments are checked before anything is enqueued in
               the call's queue (by a _host form: anything but copies of its arrays). After a failure the outputs are as
               they were (those of a _host form as long as the device did not fail while it ran), *event is NULL,
               nothing has leaked and the object works on. The library never prints, aborts or exits (a driver's
               compiler may print).

   EVENTS      A call is one command or several, in order: kernels, a clearing of scratch, the read of a result. The
               wait list holds for all of them. The event is the last one's: once it has completed the whole call has,
               but its profiling times are those of the last command alone. (To time a call, enqueue a marker before it
               and take the time from the marker's end; the desc's tracer gets every command's event.) A call does not
               flush its queue: clFlush it, as always, before another queue waits for the event.

   LIFETIMES   When a call has returned, its desc and all that the desc points to may go: init, custom texts, wait list.
               Buffers, queue and events may be released, as after any enqueue (a user event once its status is set).
               Only these must live on: what result of gpuscan_reduce points to, and the memory of buffers with
               CL_MEM_USE_HOST_PTR, until the event has completed or the queue is finished; the functions of logger,
               tracer, allocator and opencl, and their user pointers, until gpuscan_destroy.

   MEMORY      Device: the object keeps scratch for its largest call so far, and a quarter more. A sort needs about as
               much as it sorts (see gpuscan_sort; it may have src instead). A scan needs about
               1/1000 of its data (of elements of 64 bytes up to 1/64), a histogram up to 8 bytes a bin; on a CPU, where
               bins do not fit local memory or weights go to u64 counters, up to 64 MiB or one table of counters. A
               selection needs as little as a scan, but in place as much as its outputs besides. A call may bring its
               own scratch, see gpuscan_scan_scratch_size. Calls in several queues that use the object's
               scratch wait for each other.
               Host, through the desc's allocator: the object, its programs, a blob that was set; and for a while what
               building, trying out, growing scratch (up to 1 MiB) and gpuscan_get_blob need. A call that need not build
               or grow allocates nothing (but a buffer for an init on the host that is too large for an argument: more
               than CL_DEVICE_MAX_PARAMETER_SIZE less 256 bytes).
               The queues of the last call and of the last one that used the object's scratch stay retained until
               others take their place, or the end.

   THREADS     No global state. One thread at a time uses an object; objects are independent, also on one context. The
               logger's, the tracer's and the allocator's functions must not call the object. After fork() a child must
               not use its parent's objects. Where the parent has used OpenCL, gpuscan_create in the child can hang, or
               succeed and the first call hang (with PoCL 3.1 it does: a driver's threads are not there in the child).

   DETERMINISM The same call on the same device gives the same bits in every run, for floats too. Integer results are
               the same on every device and with every strategy. Operators need to be associative, not commutative.

   TRUST       Custom texts and blobs are run as they are: take them only from whom you would take a program. Sizes,
               offsets and counts are checked; a count read on the device is clamped to the count of the desc.

   VERSIONS    GPUSCAN_VERSION is this file's number, GPUSCAN_VERSION_STRING its name, and gpuscan_version() the number
               of the implementation that is linked or loaded. Structs have no version or size field, and will not get
               one: compile all files of a program with the same gpuscan.h. A later one may have more fields at the end
               of a struct, and more values before the end of an enum; what is there keeps its name, and a new field's
               zero does what was done before. So fill structs by name and zero the rest. Enums are 4 bytes (with gcc's
               -fshort-enums less: in all files or none). What cannot include this file (a binding in another language)
               compares gpuscan_version(), and its structs' sizes with gpuscan_struct_size("gpuscan_scan_desc").

   LIBRARY     A shared library that has the public functions and nothing else:
                   cc -O2 -shared -fPIC -fvisibility=hidden -DGPUSCAN_IMPLEMENTATION \
                      '-DGPUSCAN_API=__attribute__((visibility("default")))' -x c gpuscan.h -o libgpuscan.so
               (Windows: GPUSCAN_API=__declspec(dllexport), and __declspec(dllimport) in the programs that use it.)
               Where a package has installed the header, it is #include <gpuscan.h>. A plug-in defines GPUSCAN_STATIC,
               or compiles with -fvisibility=hidden, so that two plug-ins of different versions do not meet.

   DOES NOT    scan by segments; use several devices in one call; scan along columns; take SVM pointers,
               images or SPIR-V. Two halves of a scan on two devices are joined by gpuscan_uniform_add.

   SECTIONS    search for the name in brackets:
               [TYPES] [FUNCTIONS] [IMPLEMENTATION] [OPENCL ENTRY POINTS] [EMBEDDED KERNELS]
               [DEVICE NUMBERS] [RESULT TEXTS AND LOGGING] [HOST MEMORY] [TYPES AND OPERATORS] [OPERATIONS]
               [DEVICE PROFILE] [PROGRAM CACHE] [SCRATCH] [LAUNCHING] [ARGUMENTS] [PLANNING] [CALLS] [SELF-TEST]
               [HOST ARRAYS] [SCAN] [UNIFORM ADD] [REDUCE] [HISTOGRAM] [SELECT] [SORT] [PUBLIC ENTRY POINTS] [LICENCE].
               The kernels are edited in kernels.cl.inc; tools/embed brings them here.

   CHANGES     0.2.0  gpuscan_select, and what it uses: payloads, tallies, custom->select;
                      gpuscan_reduce: rows, src_pitch, segments by offsets;
                      gpuscan_sort: a stable radix sort of keys of every builtin type and of custom types by a key,
                      with payloads and permutation; GPUSCAN_VERSION, gpuscan_version, gpuscan_struct_size; gpuscan_desc: library; tables of entry
                      points may have gaps, gpuscan_info: opencl; gpuscan_desc: tracer, for the times of all commands;
                      gpuscan_X_prepare launches what it built, so that no driver compiles in the first call; programs
                      are built without the compiler's warnings; gpuscan_info: refused, refusals, refusal; sums start
                      with +0, MIN and MAX of NaN alone are the identity; a histogram's bounds are rounded to the
                      samples' type first; custom->convert may give floats below 0 to signed integers; scans of floats
                      that are not negative do not decrease, and totals are the last elements; on GPUs short rows,
                      images with gaps, bytes over a range, several channels, odd offsets, in place, argmin and uniform
                      add take from 2/3 to 1/600 of the time, on CPUs short rows, argmin, structs, edges, many bins and
                      samples of 16 bits from 2/3 to 1/20; executables that hold the implementation are a quarter
                      smaller
               0.1.0  scan, uniform add, reduce, histogram
*/
#ifndef GPUSCAN_H
#define GPUSCAN_H

/* 10000 * major + 100 * minor + patch. */
#define GPUSCAN_VERSION        200
#define GPUSCAN_VERSION_STRING "0.2.0"

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#endif
#ifdef __has_include
#if defined(__APPLE__) && !__has_include(<OpenCL/opencl.h>)
#error "OpenCL/opencl.h is missing: install Xcode's command line tools (xcode-select --install)"
#include <OpenCL/cl.h> /* missing too, so the compiler stops here; gcc passes over a file it was asked for before */
#elif !defined(__APPLE__) && !__has_include(<CL/cl.h>)
#error "CL/cl.h is missing: install opencl-headers (Debian, Fedora, Arch, Homebrew), elsewhere Khronos' OpenCL-Headers"
#include <CL/opencl.h>
#endif
#endif
#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif
#ifndef CL_VERSION_1_2
#error "gpuscan.h needs what OpenCL 1.2 declares: CL_TARGET_OPENCL_VERSION is below 120, or OpenCL's headers are older"
#define GPUSCAN__IMPLEMENTED /* the implementation would only repeat that */
#endif

#ifndef GPUSCAN_API
#if defined(GPUSCAN_STATIC) && defined(__GNUC__)
#define GPUSCAN_API __attribute__((unused)) static
#elif defined(GPUSCAN_STATIC)
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
   gpuscan_result_string names each of them. */
typedef int32_t gpuscan_result;

/* The list that makes the codes and their texts: X(name, value, in a few words). */
#define GPUSCAN_RESULTS(X)        \
    X(GPUSCAN_SUCCESS, 0, "success")                                                                                   \
    /* the caller's arguments */                                                                                       \
    /* NULL where it must not be, an unknown enum value, fields that clash */                                          \
    X(GPUSCAN_ERROR_INVALID_ARGUMENT, -2000, "invalid argument")                                                       \
    /* the type does not fit the operation */                                                                          \
    X(GPUSCAN_ERROR_INVALID_TYPE, -2001, "invalid type")                                                               \
    /* the operator does not fit the type or the operation */                                                          \
    X(GPUSCAN_ERROR_INVALID_OPERATOR, -2002, "invalid operator")                                                       \
    /* a queue, buffer or event of another context or device */                                                        \
    X(GPUSCAN_ERROR_INVALID_CONTEXT, -2003, "an object of another context or device")                                  \
    /* a missing buffer, or no buffer at all (an image, say) */                                                        \
    X(GPUSCAN_ERROR_INVALID_BUFFER, -2004, "missing or invalid buffer")                                                \
    /* offset + count goes past the end of a buffer */                                                                 \
    X(GPUSCAN_ERROR_BUFFER_TOO_SMALL, -2005, "buffer too small")                                                       \
    /* an output that kernels may not write, an input that they may not read */                                        \
    X(GPUSCAN_ERROR_BUFFER_ACCESS, -2006, "a buffer that kernels may not use in this way")                             \
    /* ranges overlap that may not */                                                                                  \
    X(GPUSCAN_ERROR_OVERLAP, -2007, "ranges overlap")                                                                  \
    /* a size that does not fit 64 bits or the host's size_t */                                                        \
    X(GPUSCAN_ERROR_SIZE_OVERFLOW, -2008, "size overflow")                                                             \
    /* too many bins, an empty range, or one too fine for its float type */                                            \
    X(GPUSCAN_ERROR_INVALID_BINS, -2009, "invalid bins")                                                               \
    /* the caller's scratch is smaller than the size query says */                                                     \
    X(GPUSCAN_ERROR_SCRATCH_TOO_SMALL, -2010, "scratch too small")                                                     \
    /* wait_count and wait_list do not agree, or an event is NULL */                                                   \
    X(GPUSCAN_ERROR_INVALID_EVENT, -2011, "invalid event or wait list")                                                \
    /* the machine */                                                                                                  \
    /* no OpenCL loader on this machine, or it lacks entry points */                                                   \
    X(GPUSCAN_ERROR_NO_OPENCL, -2100, "no OpenCL loader")                                                              \
    /* a loader, but no OpenCL driver */                                                                               \
    X(GPUSCAN_ERROR_NO_PLATFORM, -2101, "no OpenCL platform")                                                          \
    /* drivers, but no device (of the name that was asked for) */                                                      \
    X(GPUSCAN_ERROR_NO_DEVICE, -2102, "no OpenCL device, or none of the name asked for")                               \
    /* the device is below OpenCL 1.2, or has no compiler */                                                           \
    X(GPUSCAN_ERROR_DEVICE_TOO_OLD, -2103, "the device is below OpenCL 1.2 or has no compiler")                        \
    /* what this device cannot do */                                                                                   \
    /* f64 without double precision */                                                                                 \
    X(GPUSCAN_ERROR_UNSUPPORTED_TYPE, -2200, "the device does not support the type")                                   \
    /* the strategy that was forced does not fit the device or the call */                                             \
    X(GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, -2201, "the strategy does not fit the device or the call")                   \
    /* host memory */                                                                                                  \
    /* the allocator returned NULL */                                                                                  \
    X(GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, -2300, "out of host memory")                                                   \
    /* custom types and operators */                                                                                   \
    /* the custom text does not compile: gpuscan_error has the build log */                                            \
    X(GPUSCAN_ERROR_CUSTOM_SOURCE, -2400, "the custom source does not compile")                                        \
    /* the custom type's size on the device is not the one given */                                                    \
    X(GPUSCAN_ERROR_CUSTOM_SIZE, -2401, "the custom type has another size on the device")                              \
    /* blobs */                                                                                                        \
    /* truncated, damaged, or of another device, driver or version: programs get rebuilt */                            \
    X(GPUSCAN_ERROR_BLOB, -2500, "a blob that is damaged or of another device, driver or version")                     \
    /* the library itself */                                                                                           \
    /* the device's compiler refuses the library's own kernels: please report the log */                               \
    X(GPUSCAN_ERROR_BUILD, -2600, "the device's compiler refuses the kernels")

#define GPUSCAN__RESULT(name, value, text) name = value,
enum { GPUSCAN_RESULTS(GPUSCAN__RESULT) GPUSCAN__RESULT_AFTER_LAST };
#undef GPUSCAN__RESULT

/* Element types. DEFAULT is what the field's comment says. F16 is a storage type: elements, init and total are 2 bytes
   each, and the arithmetic is in f32. */
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

/* Operators. Integers wrap around. Sums of floats start with +0, as C's loops do. MIN and MAX of floats ignore NaN as
   C's fmin and fmax do; of NaN alone they are an infinity, their identity. AND, OR and XOR are for integers. ARGMIN and
   ARGMAX are for gpuscan_reduce only: the index of the smallest or largest element. */
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

   A selection is computed as a scan is. Where a single pass does not fit its call AUTO takes MULTI_PASS.

                      scan                                   reduce                       histogram
   MULTI_PASS         sums of chunks, scan of the sums,      partial results, then a      bins in global memory
                      scan of the chunks: nothing assumed    second launch combines them
   SINGLE_PASS        one launch, decoupled look-back        one launch, the last group   bins in local memory, merged
                                                             to arrive combines           into global memory
   SINGLE_PASS_AHEAD  the same, with half of the groups      as SINGLE_PASS               as SINGLE_PASS
                      summing tiles ahead of the scan
                      (the first three, of many rows of up
                      to 32 elements: one a work-item)
   CPU_MULTI_PASS     MULTI_PASS, a work-item a group        MULTI_PASS, likewise         tables of one work-item each,
                                                                                          merged into global memory
   CPU_SINGLE_PASS    SINGLE_PASS, a work-item a group       SINGLE_PASS, likewise        as CPU_MULTI_PASS

   A sort: MULTI_PASS has three launches for 4 bits of the keys; SINGLE_PASS (and _AHEAD) one for 8 bits, whose tiles
   look back, and one before all; CPU_MULTI_PASS (and CPU_SINGLE_PASS) three for 8 bits, a work-item a group. Few
   elements are sorted in one launch. */
typedef enum gpuscan_strategy {
    GPUSCAN_STRATEGY_AUTO = 0,
    GPUSCAN_STRATEGY_MULTI_PASS,
    GPUSCAN_STRATEGY_SINGLE_PASS,
    GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
    GPUSCAN_STRATEGY_CPU_MULTI_PASS,
    GPUSCAN_STRATEGY_CPU_SINGLE_PASS,
    GPUSCAN_STRATEGY_COUNT
} gpuscan_strategy;

/* A buffer, and where its data begins, in elements of that buffer's type. mem NULL: not given. The library retains no
   buffer of a call. */
typedef struct gpuscan_buffer {
    cl_mem   mem;
    uint64_t offset;
} gpuscan_buffer;

/* A custom type, operator or conversion, in OpenCL C 1.2. The texts are trusted: they are compiled and run as they
   are. The library reads them during a call only, and recognises equal texts. They may have several lines, which a
   build log counts as those of "custom" (source), "custom type", "custom combine", "custom identity", "custom
   convert", "custom select", "custom equal" and "custom key". Names are the caller's but for those that begin with
   gpuscan or GPUSCAN; the expressions see source, and as variables what is said of each. Macros of source hold in the
   kernels, too, unless their names begin with a lower-case letter. Floats are not contracted (FP_CONTRACT OFF) where
   source does not say otherwise.

       static const gpuscan_custom affine = {
           "typedef struct { float scale, shift; } affine;\n"
           "affine compose(affine a, affine b) {\n"
           "    affine c; c.scale = a.scale * b.scale; c.shift = a.shift * b.scale + b.shift; return c; }\n"
           "affine none(void) { affine c; c.scale = 1.0f; c.shift = 0.0f; return c; }\n",
           "affine", 8, "compose(a, b)", "none()", NULL, NULL, NULL, NULL};                                          */
typedef struct gpuscan_custom {
    const char *source;   /* declarations, put before the kernels; NULL: none */
    const char *type;     /* the type's name, for GPUSCAN_TYPE_CUSTOM; size in bytes must be the device's sizeof */
    size_t      size;     /* 1 to 1024 */
    const char *combine;  /* an associative expression of a and b, a being the earlier, for GPUSCAN_OP_CUSTOM */
    const char *identity; /* an expression e with combine(e, x) = combine(x, e) = x, for GPUSCAN_OP_CUSTOM */
    const char *convert;  /* an expression of x (a source element; f16: as a float) and i (its ulong index in the row)
                             that gives a destination element; NULL: C's conversion. ARGMIN and ARGMAX refuse it;
                             gpuscan_uniform_add, which has nothing to convert, takes the custom of a scan and leaves
                             this unused */
    const char *select;   /* an expression of x and i, as in convert, for gpuscan_select: what is not 0 selects x */
    const char *equal;    /* for a later version, and not used by this one: an expression of a and b, not 0 where b
                             belongs to a's run */
    const char *key;      /* likewise: an expression of x and i, the key by which x is sorted */
} gpuscan_custom;

/* One more array that follows what gpuscan_select keeps or gpuscan_sort sorts: the elements of src go to dst as the
   call's own elements do.
   Offsets are in elements of size bytes. src and dst may be the same range. */
typedef struct gpuscan_payload {
    gpuscan_buffer src, dst;
    size_t         size; /* bytes an element, 1 to 1024 */
} gpuscan_payload;

enum { GPUSCAN_MAX_PAYLOADS = 8 }; /* of a call */

/* How many there were, left on the device: as a number, and as the arguments of an indirect dispatch over the elements
   that were written. Either, both or none. */
typedef struct gpuscan_tally {
    gpuscan_buffer count;          /* out: one element of count_type; a word in an indirect draw's arguments, say */
    gpuscan_type   count_type;     /* u32 (default) or u64; with u32 the desc's count must be below 2^32 */
    gpuscan_buffer dispatch;       /* out: three u32, the work-groups x y z for the elements written; for none 0 1 1 */
    uint32_t       dispatch_items; /* elements a work-group; 0: 64 */
    uint32_t       dispatch_limit; /* the largest x; of more groups y = ceil(groups / limit) and x = ceil(groups / y).
                                      0: 65535 */
} gpuscan_tally;

/* How a call is enqueued; the same in every desc. */
typedef struct gpuscan_call {
    cl_command_queue queue;        /* NULL: the object's queue. In-order or out-of-order */
    cl_uint          wait_count;   /* the call's commands wait for these events, of the object's context. If one has
                                      failed already, the call returns CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.
                                      If one fails later, the commands do not run and end with that status, on drivers
                                      that do as OpenCL says */
    const cl_event  *wait_list;
    cl_event        *event;        /* out, may be NULL: of the call's last command, so it completes with the call; its
                                      profiling times are that command's alone, see EVENTS. The caller releases it.
                                      *event is NULL after a failure */
    gpuscan_buffer   scratch;      /* device memory for intermediate results; here the offset is in bytes, a multiple
                                      of 64. What it holds before does not matter. mem NULL: the object's own, which
                                      grows when it must. Calls that share scratch must not run at the same time; for
                                      the object's own the library makes them wait */
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

/* Gets each command of a call once it is enqueued, in order: name is the kernel's, or says what else it is ("clearing
   the caller's scratch", "clEnqueueReadBuffer of the result", "clEnqueueMarkerWithWaitList"); both arguments are the
   library's, so retain the event to look at it later. Its times need a queue with CL_QUEUE_PROFILING_ENABLE. What the
   library enqueues for itself (self-tests, clearing of its own scratch) is not among them, nor a _host form's copies. */
typedef struct gpuscan_tracer {
    void (*command)(const char *name, cl_event event, void *user);
    void *user;
} gpuscan_tracer;

/* What to hold back of a device, to test how the library gets along without it. Zero: hold back nothing. */
enum {
    GPUSCAN_WITHOUT_INT64_ATOMICS = 1, /* 64-bit atomics */
    GPUSCAN_WITHOUT_F64           = 2, /* double precision */
    GPUSCAN_WITHOUT_LANES         = 4, /* the vendor's lane and memory instructions (PTX) */
    GPUSCAN_WITHOUT_FENCE         = 8, /* fences of device scope */
    GPUSCAN_WITHOUT_ZERO_COPY     = 16 /* host arrays used in place by host-array calls */
};
typedef struct gpuscan_limits {
    size_t   work_group_size; /* work-items a group at most, rounded down to a power of two; 0: the device's limit */
    uint64_t local_memory;    /* bytes of local memory a group at most; 0: the device's limit */
    uint32_t without;         /* a sum of GPUSCAN_WITHOUT_... */
    uint32_t lanes;           /* not 0: lanes of this width (8, 16, 32 or 64) through local memory in place of the
                                 device's own: a slow stand-in for a vendor's instructions, for tests */
} gpuscan_limits;

/* The OpenCL entry points that the library calls: X(name, result type, parameters). A program that brings its own
   table (to inject faults, count objects or trace) fills a gpuscan_opencl with this list, or what it likes of it: what
   is NULL comes from the loader, or is what is linked. All are of OpenCL 1.2; the library will do without a later one
   where a loader has it not. */
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

/* What gpuscan_create needs to know. All zero: the first device whose name, or platform's name, contains the
   environment variable GPUSCAN_DEVICE; where that is not set, the best: GPUs before other accelerators before CPUs, and
   among equals by compute units times clock. */
typedef struct gpuscan_desc {
    cl_context            context;     /* NULL: the library makes one. Retained */
    cl_device_id          device;      /* NULL: the context's first device; without a context: as device_name says */
    cl_command_queue      queue;       /* for calls that name none; needs context. NULL: an in-order queue of the
                                          library. Retained */
    const char           *device_name; /* a part of the device's or its platform's name, instead of GPUSCAN_DEVICE; not
                                          used where context or device is given */
    const gpuscan_opencl *opencl;      /* NULL, and entries that are NULL: the ICD loader's, or with
                                          GPUSCAN_LINK_OPENCL what is linked. Copied */
    gpuscan_allocator     allocator;   /* zero: malloc and free */
    gpuscan_logger        logger;
    gpuscan_limits        limits;
    char                 *error;       /* out: gpuscan_create's own failure in words, at most error_size bytes */
    size_t                error_size;
    const char           *library;     /* path or name of the OpenCL library to load; NULL or "": the ICD loader's usual
                                          names. With GPUSCAN_LINK_OPENCL it is INVALID_ARGUMENT */
    gpuscan_tracer        tracer;      /* NULL: none, and commands have no more events than they need */
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
    gpuscan_strategy scan_strategy, reduce_strategy, histogram_strategy; /* what AUTO stands for on such a device, for
                                                                            large counts; a call may need another */
    uint32_t         refused;  /* strategies that are not used here, by some operation at least: a sum of
                                  1 << GPUSCAN_STRATEGY_... */
    uint32_t         refusals; /* how often a strategy or the vendor's instructions were given up, because a program was
                                  not built or failed its self-test: please report it */
    const char      *refusal;  /* why, the last time; "" */
    const gpuscan_opencl *opencl; /* the entry points that the object calls; they live as long as it does */
    gpuscan_strategy sort_strategy;
} gpuscan_info;
#define GPUSCAN_INFO_HAS_REFUSALS 1

typedef enum gpuscan_scan_kind {
    GPUSCAN_EXCLUSIVE = 0, /* dst[i] = init op src[0] op ... op src[i - 1] */
    GPUSCAN_INCLUSIVE      /* dst[i] = init op src[0] op ... op src[i] */
} gpuscan_scan_kind;

/* What gpuscan_scan computes. */
typedef struct gpuscan_scan_desc {
    gpuscan_buffer        src, dst;
    uint64_t              count;        /* elements a row; 0 is legal: only the totals are written */
    gpuscan_type          src_type;     /* default: u32 */
    gpuscan_type          dst_type;     /* default: as src_type. The arithmetic is the destination's (f32 for f16) */
    gpuscan_op            op;
    gpuscan_scan_kind     kind;
    const gpuscan_custom *custom;
    const void           *init;         /* one dst_type element on the host, read before the call returns. NULL: the
                                           operator's identity (MIN and MAX of floats: an infinity) */
    gpuscan_buffer        init_buffer;  /* or, instead, one dst_type element on the device; every row begins with it */
    gpuscan_buffer        total;        /* out, dst_type, one element a row: init op all elements of the row */
    uint64_t              rows;         /* independent scans; 0: 1 */
    uint64_t              src_pitch;    /* elements from row to row, at least count; 0: count */
    uint64_t              dst_pitch;
    gpuscan_buffer        count_buffer; /* optional: one count_type element, the count, read when the call runs; the
                                           count above is its upper bound */
    gpuscan_type          count_type;   /* u32 (default) or u64 */
    gpuscan_call          call;
} gpuscan_scan_desc;

/* What gpuscan_uniform_add computes. */
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

typedef enum gpuscan_segment_form {
    GPUSCAN_SEGMENTS_NONE = 0,
    GPUSCAN_SEGMENTS_OFFSETS /* segment s is the elements [data[s], data[s + 1]) */
} gpuscan_segment_form;

/* How src is cut into segments. */
typedef struct gpuscan_segments {
    gpuscan_segment_form form;
    gpuscan_buffer       data;      /* OFFSETS: count + 1 ascending numbers of elements, from src.offset on */
    gpuscan_type         type;      /* of data: u32 (default) or u64 */
    uint64_t             count;     /* segments; 0 is legal: nothing is written */
    const void          *host_data; /* for gpuscan_reduce_host only: data as a host array */
} gpuscan_segments;

/* What gpuscan_reduce computes. */
typedef struct gpuscan_reduce_desc {
    gpuscan_buffer        src;
    gpuscan_buffer        dst;         /* dst_type, one element a row or segment; exactly one of dst and result must be
                                          given */
    void                 *result;      /* or host memory for them, which must stay until the event has completed */
    uint64_t              count;       /* elements, where there are rows of each */
    gpuscan_type          src_type;    /* default: u32 */
    gpuscan_type          dst_type;    /* default: as src_type; ARGMIN, ARGMAX: u64 (default) or u32 */
    gpuscan_op            op;
    const gpuscan_custom *custom;
    const void           *init;        /* as in gpuscan_scan_desc; not for ARGMIN and ARGMAX */
    gpuscan_buffer        init_buffer;
    gpuscan_buffer        count_buffer;
    gpuscan_type          count_type;
    gpuscan_call          call;
    uint64_t              rows;        /* independent reductions; 0: 1 */
    uint64_t              src_pitch;   /* elements from row to row, at least count; 0: count */
    gpuscan_segments      segments;    /* or, instead of rows, segments of src */
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

/* A bound of bins: set i for signed integers, u for unsigned ones, f for floats (f16, too). The library cannot notice
   that the wrong one was set. Integer bounds may lie outside the type. */
typedef union gpuscan_bound {
    int64_t  i;
    uint64_t u;
    double   f;
} gpuscan_bound;

/* What gpuscan_histogram computes. */
typedef struct gpuscan_histogram_desc {
    gpuscan_buffer  samples;
    gpuscan_buffer  counts;        /* out */
    uint64_t        count;         /* pixels a row; 0 is legal */
    gpuscan_type    sample_type;   /* default: u8. Any builtin type */
    gpuscan_type    counter_type;  /* u32 (default) or u64 */
    uint32_t        bins;          /* 0: 256; at most 536870909 */
    gpuscan_bins    form;
    gpuscan_bound   lower, upper;  /* EVEN: both; VALUES: lower */
    int             closed;        /* not 0: the upper bound (last edge) belongs to the last bin. VALUES ignores it */
    gpuscan_outside outside;
    int             accumulate;    /* not 0: add to what counts holds instead of overwriting it */
    gpuscan_buffer  edges;         /* EDGES: bins + 1 ascending values of the sample type (f32 for f16) */
    gpuscan_buffer  weights;       /* optional, one a pixel: what each of its samples counts; missing: 1 */
    gpuscan_type    weight_type;   /* u8, u16, u32 (default) or u64; sums wrap like the counters */
    uint32_t        channels;      /* interleaved, 1 to 4; 0: 1 */
    uint32_t        channel_mask;  /* bit c: count channel c; 0: all */
    uint64_t        rows;          /* 0: 1 */
    uint64_t        pitch;         /* pixels from row to row, at least count; 0: count */
    uint64_t        weights_pitch; /* likewise */
    gpuscan_buffer  count_buffer;
    gpuscan_type    count_type;
    const void     *host_edges;    /* for gpuscan_histogram_host only: edges and weights as host arrays */
    const void     *host_weights;
    gpuscan_call    call;
    const gpuscan_custom *custom;  /* optional: its convert gives the value that is counted, one of each pixel */
    gpuscan_type    value_type;    /* of that value, of the bounds and of edges; default: as sample_type. f16 stands for
                                      f32 */
    const char     *weight;        /* optional, instead of weights: an expression, as convert is, that gives a
                                      weight_type, what the pixel counts */
} gpuscan_histogram_desc;

/* Who decides what gpuscan_select keeps. */
typedef enum gpuscan_select_by {
    GPUSCAN_SELECT_FLAGS = 0, /* element i is kept where flags[i] is not 0 */
    GPUSCAN_SELECT_BITS,      /* where bit i % 32 of the u32 flags[i / 32] is 1 */
    GPUSCAN_SELECT_PREDICATE  /* where custom->select is not 0 */
} gpuscan_select_by;

/* What gpuscan_select computes. */
typedef struct gpuscan_select_desc {
    gpuscan_buffer         src, dst;     /* either may be left out where only indices or payloads are wanted */
    uint64_t               count;        /* elements; 0 is legal: only the tally is written */
    gpuscan_type           type;         /* of src and dst; default: u32 */
    gpuscan_select_by      by;
    int                    invert;       /* not 0: the others are kept */
    gpuscan_buffer         flags;        /* FLAGS: count of them, BITS: ceil(count / 32) words */
    gpuscan_type           flag_type;    /* FLAGS: u8 (default), u16, u32 or u64 */
    const gpuscan_custom  *custom;       /* PREDICATE: its select; a custom type's size */
    gpuscan_buffer         indices;      /* out, optional: the i of each element that is kept */
    gpuscan_type           index_type;   /* u32 (default) or u64 */
    const gpuscan_payload *payloads;     /* payload_count of them, 0 to 8 */
    uint32_t               payload_count;
    uint64_t               capacity;     /* elements that dst, indices and each payload's dst have room for; what is
                                            beyond is counted and not written. 0: count */
    gpuscan_tally          selected;     /* out, optional: how many are kept */
    gpuscan_buffer         count_buffer;
    gpuscan_type           count_type;
    void                  *host_indices; /* for gpuscan_select_host only: indices as a host array */
    gpuscan_call           call;
} gpuscan_select_desc;

/* What gpuscan_sort computes. */
typedef struct gpuscan_sort_desc {
    gpuscan_buffer         src;
    gpuscan_buffer         dst;           /* out; mem NULL: only the permutation or payloads are wanted */
    uint64_t               count;
    gpuscan_type           key_type;      /* any builtin type; default: u32 */
    int                    descending;    /* not 0: the largest first; equal keys keep their order all the same */
    uint32_t               bit_begin;     /* only these bits of the key's code count: from bit_begin */
    uint32_t               bit_end;       /* to below bit_end; 0: to the last */
    const gpuscan_payload *payloads;      /* arrays that are brought into the same order */
    uint32_t               payload_count; /* 0 to GPUSCAN_MAX_PAYLOADS */
    gpuscan_buffer         permutation;   /* out, optional, index_type: the result's element p was element
                                             permutation[p] of src */
    gpuscan_type           index_type;    /* u32 (default) or u64 */
    int                    may_destroy_src; /* not 0: src and the payloads' src may be overwritten, in place of scratch */
    const gpuscan_custom  *custom;        /* NULL: the elements are keys. Else they are of custom->type, and sorted by
                                             custom->key, which gives a key_type (f16: a float) of x and i */
    gpuscan_buffer         count_buffer;
    gpuscan_type           count_type;
    gpuscan_call           call;
} gpuscan_sort_desc;

/* [FUNCTIONS] ------------------------------------------------------------------------------------------------------ */

/* Opens an object on one context and device. Builds nothing yet.

   gs     out: the object, NULL after a failure; gpuscan_destroy closes it
   desc   NULL or all zero: the best device there is

   Returns GPUSCAN_ERROR_NO_OPENCL (also where a table of entry points has gaps and there is no loader to fill them
   from), NO_PLATFORM or NO_DEVICE where there is none, or none of the name that was asked for; DEVICE_TOO_OLD;
   INVALID_ARGUMENT (gs is NULL, a queue without a context, one allocator function without the other, a library where
   OpenCL is linked); INVALID_CONTEXT (a device or queue that is not of the context); OUT_OF_HOST_MEMORY; or what OpenCL
   said. */
GPUSCAN_API gpuscan_result gpuscan_create(gpuscan **gs, const gpuscan_desc *desc);

/* Releases everything that the object holds; NULL is legal. It does not wait: calls that still run are completed by
   OpenCL, which keeps what they use. */
GPUSCAN_API void gpuscan_destroy(gpuscan *gs);

/* Says what the object runs on and what it decided. INVALID_ARGUMENT where gs or info is NULL. */
GPUSCAN_API gpuscan_result gpuscan_get_info(const gpuscan *gs, gpuscan_info *info);

/* A result in a few words, of OpenCL's codes their names; "unknown result" for other numbers. Never NULL. */
GPUSCAN_API const char *gpuscan_result_string(gpuscan_result result);

/* The last call's failure in words: the argument, the OpenCL call, the build log (almost 8,000 characters of it; the
   logger gets all). "" if it did not fail, and for a NULL gs. Valid until the next call on the object. */
GPUSCAN_API const char *gpuscan_error(const gpuscan *gs);

/* A builtin type's size in bytes; 0 for DEFAULT, CUSTOM and unknown values. */
GPUSCAN_API size_t gpuscan_type_size(gpuscan_type type);

/* The GPUSCAN_VERSION of the implementation, which is the header's where both are compiled together. */
GPUSCAN_API uint32_t gpuscan_version(void);

/* The bytes of a public struct or union in the implementation, by its name, "gpuscan_scan_desc" say; 0 for NULL and for
   what it does not know. For bindings, which write the structs down again. */
GPUSCAN_API size_t gpuscan_struct_size(const char *name);

/* The operations. Each has four functions, of which this holds; what is particular to each stands with it.

   gpuscan_X(gs, desc) works on device buffers: it checks every argument, enqueues and returns. It waits for the device
   only to build a program that it needs for the first time (a second or less), to try that out on a few numbers where
   the device might not keep a promise, and to clear the object's scratch when that grows; gpuscan_X_prepare does all
   this ahead. Programs differ by operation, types, operator, kind, custom texts, strategy and a class of sizes; those
   of selections also by the outputs and their sizes, and those of histograms by bins, form, a class of bounds,
   channels, mask, outside, closed, weights and counters.
     Buffers       Buffers or sub-buffers of the object's context. Offsets are in elements of the buffer's own type. A
                   buffer must reach to its last element, that of the last row. What is written must not overlap
                   anything else that the call reads or writes, its scratch included. Inputs may overlap each other.
                   Rows may lie in the gaps of other rows (src and dst side by side in one buffer), and an output in
                   one gap, where the pitches show it: modulo their greatest common divisor, in bytes, each range's
                   rows lie in one place, and the places are apart. Otherwise what lies between rows counts as part of
                   a range.
     count_buffer  One number of count_type: the count is read on the device when the call runs, and one above the
                   desc's count counts as that. Sizes, pitches and scratch go by the desc's count.
     Scratch       call.scratch, or the object's own. Kernels must be allowed to read and write its buffer, and for a
                   reduction to result the host to read it.
     Returns       0; INVALID_ARGUMENT, INVALID_TYPE or INVALID_OPERATOR for what does not fit together,
                   UNSUPPORTED_TYPE for f64 where the device has none; INVALID_BUFFER (missing, or an image),
                   INVALID_CONTEXT, BUFFER_TOO_SMALL, BUFFER_ACCESS, OVERLAP or SIZE_OVERFLOW for buffers;
                   SCRATCH_TOO_SMALL; UNSUPPORTED_STRATEGY where one was forced; INVALID_EVENT or
                   CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST for the wait list; CUSTOM_SOURCE or CUSTOM_SIZE for
                   custom texts; BUILD; OUT_OF_HOST_MEMORY; or what OpenCL said. Only the last command that is enqueued
                   writes outputs, so after any of these the outputs are as they were.

   gpuscan_X_prepare(gs, desc) builds and tries out what a call with this desc will need, and unless call.scratch is
   given grows the object's scratch, so that the call neither builds nor allocates. It also launches the call's kernels
   once, on buffers of its own and a count of 0, since some drivers compile at a kernel's first launch in some shape
   (not with more than 64 MiB of counters or edges). It enqueues nothing in the caller's queue. count, types and the
   like must be the call's; buffers (but for a histogram's weights and a selection's outputs), events and queue may be
   left out; *event becomes NULL. Where strategy is AUTO, a scan in place and one that is not are both prepared. Returns
   what the call would, but for what concerns buffers and events.

   gpuscan_X_scratch_size(gs, desc, size) gives the bytes of scratch that a call with this desc needs at most, from
   call.scratch.offset on; it may be 0. It builds and tries out the program, whose groups decide the size. Otherwise as
   gpuscan_X_prepare; size NULL is INVALID_ARGUMENT, and *size is 0 after a failure.

   gpuscan_X_host works on host arrays, and blocks until the result is there. desc may be NULL; in it, the fields that
   the arrays and numbers among the arguments replace must be zero, else it is INVALID_ARGUMENT, as a missing array is.
   All else holds: total, init_buffer, count_buffer and scratch are device buffers, and an event, complete, is the
   caller's to release. The arrays may be read before the wait list's events have completed; the kernels wait for those.
   The arrays hold rows * pitch elements, the last row only count; what lies between the rows stays as it was. An output
   must not overlap an input. They may lie at any address; a CPU uses those in place that begin at a multiple of their
   type's size (custom types: of the largest power of two that divides it) and copies the others. A failure of the
   device once it runs, or when the results are fetched, leaves what the outputs hold unknown; nothing uses the arrays
   any more when the call has returned. */

/* Prefix sum: every row by itself, dst[i] = init op src[0] op ... op src[i - 1], or with GPUSCAN_INCLUSIVE up to
   src[i].

   src           row r is count elements of src_type from src.offset + r * src_pitch on
   dst           out: row r is count elements of dst_type from dst.offset + r * dst_pitch on
   init          one dst_type element on the host, or in init_buffer; every row begins with it
   total         out, optional: one dst_type element a row, init op all elements of the row
   count_buffer  the elements of each row; what lies in dst past them stays as it was
   aliasing      in place: src and dst may be the same range of one buffer, if their types have one size and, where
                 there are several rows, their pitches are equal
   scratch       about 1/1000 of the data
   count 0       src and dst may be missing; only the totals are written: init, or the identity
   conversion    source elements become dst_type (for f16: f32) before they are combined, by custom->convert where it is
                 given, else as C converts
   floats        are combined in another order than C's loop does, and by each strategy in its own. But with all of them
                 the total is the last inclusive element, and of two calls that differ in kind alone element i + 1 of
                 the exclusive one is element i of the inclusive one, bit for bit, with custom operators, too (MIN and
                 MAX: but for the sign of a zero); and an ADD of what is not negative, after any init, never decreases
   returns       UNSUPPORTED_STRATEGY: a single pass was forced that does not work on the device, on elements of more
                 than 64 bytes, or in place on a device without fences of device scope; or
                 its tiles, at least one a row, are more than a launch can have. AUTO takes another strategy by itself.
                 INVALID_ARGUMENT: a pitch is smaller than count
   methods       MULTI_PASS: Blelloch, "Prefix sums and their applications", 1990. SINGLE_PASS: Merrill and Garland,
                 "Single-pass parallel prefix scan with decoupled look-back", 2016, and Smith, Levien and Owens,
                 "Decoupled fallback", 2025. Within a sub-group: Sklansky, "Conditional-sum addition logic", 1960 */
GPUSCAN_API gpuscan_result gpuscan_scan(gpuscan *gs, const gpuscan_scan_desc *desc);

/* Builds what a scan with this desc will need. */
GPUSCAN_API gpuscan_result gpuscan_scan_prepare(gpuscan *gs, const gpuscan_scan_desc *desc);

/* The bytes of scratch that a scan with this desc needs at most. */
GPUSCAN_API gpuscan_result gpuscan_scan_scratch_size(gpuscan *gs, const gpuscan_scan_desc *desc, uint64_t *size);

/* A scan of the array src into the array dst, of count elements a row. src may equal dst, if the types have one size
   and the rows lie alike; any other overlap is GPUSCAN_ERROR_OVERLAP. src, dst and count of the desc must be zero. */
GPUSCAN_API gpuscan_result gpuscan_scan_host(gpuscan *gs, const void *src, void *dst, uint64_t count,
                                             const gpuscan_scan_desc *desc);

/* Combines each block of dst with its addend: dst[i] = addend[i / block] op dst[i], the second half of every scan in
   several pieces. The addend is the left operand.

   dst           in and out: count elements of type from dst.offset on
   addend        ceil(count / block) elements of type from addend.offset on
   count_buffer  the elements of dst; what lies past them stays as it was
   aliasing      none: dst and addend must not overlap
   scratch       none
   count 0       dst and addend may be missing; nothing is written
   conversion    none: custom may be that of the scan whose second half this is, and its convert is not used
   returns       INVALID_ARGUMENT: block is 0. UNSUPPORTED_STRATEGY: any but AUTO, MULTI_PASS and CPU_MULTI_PASS
   method        Harris, Sengupta and Owens, "Parallel prefix sum (scan) with CUDA", GPU Gems 3, 2007 */
GPUSCAN_API gpuscan_result gpuscan_uniform_add(gpuscan *gs, const gpuscan_uniform_add_desc *desc);

/* Builds what a uniform add with this desc will need. */
GPUSCAN_API gpuscan_result gpuscan_uniform_add_prepare(gpuscan *gs, const gpuscan_uniform_add_desc *desc);

/* The bytes of scratch that a uniform add needs: 0. Builds nothing. */
GPUSCAN_API gpuscan_result gpuscan_uniform_add_scratch_size(gpuscan *gs, const gpuscan_uniform_add_desc *desc,
                                                            uint64_t *size);

/* A uniform add on the array dst of count elements, with the array addend of ceil(count / block). They must not
   overlap. dst, addend, count and block of the desc must be zero. */
GPUSCAN_API gpuscan_result gpuscan_uniform_add_host(gpuscan *gs, const void *addend, void *dst, uint64_t count,
                                                    uint64_t block, const gpuscan_uniform_add_desc *desc);

/* Reduction: init op src[0] op ... op src[count - 1], of all elements, of each row, or of each segment. With ARGMIN or
   ARGMAX the index of the smallest or largest element, the first of equals, counted from the row's first element, or
   with segments from src.offset; NaN is no candidate.

   src           row r is count elements of src_type from src.offset + r * src_pitch on
   dst           out: one dst_type element a row or segment, from dst.offset on
   result        or, instead of dst: as many in host memory, which must stay until the call is done
   segments      optional, instead of rows: segment s is the elements [data[s], data[s + 1]) of src. They need not cover
                 src, and may be empty: the result is init or the identity, for ARGMIN and ARGMAX as below. Offsets that
                 descend or lie beyond count give wrong results, but nothing else happens
   init          one dst_type element on the host, or in init_buffer, for each row or segment; not for ARGMIN and ARGMAX
   count_buffer  the elements of each row, or with segments those of src
   aliasing      none: dst must overlap nothing else
   scratch       some values a compute unit, and result's. Where neither dst nor result is given to
                 gpuscan_reduce_prepare or _scratch_size, there is enough for either
   count 0       src may be missing; each result is init, or the identity, or for ARGMIN and ARGMAX, as where all
                 elements are NaN, the largest value of dst_type
   conversion    as in gpuscan_scan; with segments i counts from src.offset. ARGMIN and ARGMAX compare source elements
                 as they are (f16: as f32)
   returns       INVALID_ARGUMENT: dst and result are both given; init or custom->convert for ARGMIN or ARGMAX;
                 src_pitch is smaller than count; segments with rows or src_pitch, without a form, or with host_data,
                 which is for gpuscan_reduce_host. INVALID_TYPE: segments.type is neither u32 nor u64. INVALID_BUFFER:
                 neither dst nor result. UNSUPPORTED_STRATEGY: a single pass was forced that does not work on the
                 device, or on elements of more than 64 bytes. SIZE_OVERFLOW: count is above 2^32 - 1 and the index's
                 dst_type u32, whose largest value means that there is none
   method        each group sums a share, in order where the operator is custom; the last group to arrive combines the
                 shares in order, as in the CUDA programming guide's example of memory fences; or a second launch does.
                 Rows and segments are shared by elements and ends alike, so that none is too long or too short: Merrill
                 and Garland, "Merge-based parallel sparse matrix-vector multiplication", 2016 */
GPUSCAN_API gpuscan_result gpuscan_reduce(gpuscan *gs, const gpuscan_reduce_desc *desc);

/* Builds what a reduction with this desc will need. */
GPUSCAN_API gpuscan_result gpuscan_reduce_prepare(gpuscan *gs, const gpuscan_reduce_desc *desc);

/* The bytes of scratch that a reduction with this desc needs at most. */
GPUSCAN_API gpuscan_result gpuscan_reduce_scratch_size(gpuscan *gs, const gpuscan_reduce_desc *desc, uint64_t *size);

/* A reduction of the array src of count elements, or of rows of so many, into as many dst_type elements at result as
   there are rows or segments. src, dst, count and result of the desc must be zero; offsets are a buffer,
   segments.data, or an array, segments.host_data. */
GPUSCAN_API gpuscan_result gpuscan_reduce_host(gpuscan *gs, const void *src, void *result, uint64_t count,
                                               const gpuscan_reduce_desc *desc);

/* Histogram: counts the samples that fall into each bin, for each channel of the mask by itself.

   samples       pixel p of row r has its channel c at samples.offset + (r * pitch + p) * channels + c, of sample_type
   counts        out: counters of counter_type from counts.offset on; bins of them (with OUTSIDE_COUNT bins + 2) for the
                 first channel of the mask, then for its next. All are written, or with accumulate added to
   weights       optional: what pixel p of row r counts, at weights.offset + r * weights_pitch + p, of weight_type
   edges         EDGES only: bins + 1 ascending values from edges.offset on, of sample_type (f32 for f16). In another
                 order the counts are wrong, but nothing else happens
   count_buffer  the pixels of each row
   aliasing      none: counts must overlap nothing else
   scratch       up to 8 bytes a counter; on a CPU, where the bins do not fit local memory or weights go to u64
                 counters, up to 64 MiB or one table. gpuscan_histogram_prepare and _scratch_size must be given weights
                 (or host_weights) where the call has them: both programs and scratch differ
   count 0       samples may be missing; the counters are 0, or with accumulate stay
   bins          EVEN, integers: floor((s - lower) * bins / (upper - lower)), exact over the whole range of every type.
                 With lower and upper both 0 the range is that of the type
                 EVEN, floats: bin k is [edge[k], edge[k + 1]), with edge[k] = fma(k, step, lower) in the sample type
                 (f32 for f16) for k < bins, and edge[bins] = upper. lower and upper are rounded to that type first, and
                 k is, which matters to f32 above 2^24. step = (upper - lower) / bins is computed in double and rounded
                 once to that type; where the difference overflows it is upper / bins - lower / bins. With lower and
                 upper both 0 the range is [0, 1). Bins finer than the type's numbers are legal: of bins whose edges
                 are equal only the last one is not empty
                 NaN is never counted, in no bin and not as outside. Counters wrap around
   returns       INVALID_ARGUMENT: more than 4 channels, a mask of channels that are not there, a pitch smaller than
                 count, edges without EDGES, or host_edges or host_weights, which are for gpuscan_histogram_host.
                 INVALID_BINS: too many bins, a range that is empty (floats: once rounded) or not finite, a step of
                 floats below the type's normal numbers, which devices may take for 0.
                 INVALID_TYPE: VALUES with floats, custom samples. UNSUPPORTED_STRATEGY: SINGLE_PASS or _AHEAD was
                 forced where the bins do not fit local memory, or with weights and u64 counters. AUTO takes another
                 strategy by itself
   methods       tables of each group's own, added up at the end: Podlozhnyuk, "Histogram calculation in CUDA", 2007.
                 Division by multiplication: Granlund and Montgomery, "Division by invariant integers using
                 multiplication", 1994 */
GPUSCAN_API gpuscan_result gpuscan_histogram(gpuscan *gs, const gpuscan_histogram_desc *desc);

/* Builds what a histogram with this desc will need. */
GPUSCAN_API gpuscan_result gpuscan_histogram_prepare(gpuscan *gs, const gpuscan_histogram_desc *desc);

/* The bytes of scratch that a histogram with this desc needs at most. */
GPUSCAN_API gpuscan_result gpuscan_histogram_scratch_size(gpuscan *gs, const gpuscan_histogram_desc *desc,
                                                          uint64_t *size);

/* A histogram of the array samples, of count pixels a row, into the array counts of as many counters as
   gpuscan_histogram writes. They must not overlap. Edges and weights are the desc's host_edges and host_weights; its
   samples, counts, edges, weights and count must be zero. (For gpuscan_histogram_prepare and _scratch_size a copy of it
   names the count.) */
GPUSCAN_API gpuscan_result gpuscan_histogram_host(gpuscan *gs, const void *samples, void *counts, uint64_t count,
                                                  const gpuscan_histogram_desc *desc);

/* Selection (stream compaction): dst gets the elements of src that are kept, in their order, and with them go their
   indices and the elements of up to 8 more arrays, the payloads.

   src           count elements of type from src.offset on. With FLAGS and BITS it may be left out where dst is
   dst           out, optional: those that are kept, from dst.offset on
   flags         FLAGS: count elements of flag_type, which may be src's own. BITS: ceil(count / 32) u32, of which the
                 lowest bit is the first
   indices       out, optional: of each element that is kept its place in src, from src.offset on counted
   payloads      of each, count elements from src.offset on are read, and what is kept of them goes to dst
   capacity      what dst, indices and the payloads' dst have room for; count where it is 0 or above count. What is kept
                 beyond is counted and not written, and the first capacity elements are what they would be anyway
   selected      out, optional: how many are kept, and a dispatch over those that are written
   count_buffer  the elements of src, flags and the payloads' src
   aliasing      in place: dst may be the range of src, or of flags of elements as large, and each payload's dst that of
                 its src; with a capacity the range's beginning. What lies past what is written stays as it was
   scratch       about 1/1000 of the data; in place as much more as all outputs have room for
   prepare       must be given those of dst and indices that the call has (with neither, and no payloads, it is dst),
                 and where the call is in place the buffers that show it; so must scratch_size
   count 0       src, flags, dst, indices and the payloads may be missing; the tally is 0
   returns       INVALID_ARGUMENT: PREDICATE without custom->select or with flags. INVALID_TYPE: flags of another type.
                 SIZE_OVERFLOW: indices above 2^32 - 1, or counts, that their type does not hold; a dispatch whose y
                 does not fit. UNSUPPORTED_STRATEGY: a single pass was forced that does not work on the device, or its
                 tiles are more than a launch can have; AUTO takes another strategy by itself
   method        a scan of what each element says, 1 or 0, whose sums are the places: Blelloch, "Prefix sums and their
                 applications", 1990; the elements of a tile are listed in local memory before they are moved: Billeter,
                 Olsson and Assarsson, "Efficient stream compaction on wide SIMD many-core architectures", 2009 */
GPUSCAN_API gpuscan_result gpuscan_select(gpuscan *gs, const gpuscan_select_desc *desc);

/* Builds what a selection with this desc will need. */
GPUSCAN_API gpuscan_result gpuscan_select_prepare(gpuscan *gs, const gpuscan_select_desc *desc);

/* The bytes of scratch that a selection with this desc needs at most. */
GPUSCAN_API gpuscan_result gpuscan_select_scratch_size(gpuscan *gs, const gpuscan_select_desc *desc, uint64_t *size);

/* A selection of the arrays src and flags, of count elements, into the array dst, and how many are kept into selected,
   which may be NULL. flags must be NULL with PREDICATE; dst may be NULL, and src where nothing needs it. dst may equal
   src, or flags of elements as large. The indices are the desc's host_indices; its src, dst, flags, indices, count and
   selected.count must be zero. Payloads are device buffers here, too. */
GPUSCAN_API gpuscan_result gpuscan_select_host(gpuscan *gs, const void *src, const void *flags, void *dst,
                                               uint64_t count, uint64_t *selected, const gpuscan_select_desc *desc);

/* Sorts elements by their keys; elements of equal keys keep their order (a stable sort).

   src           count keys of key_type from src.offset on, or elements of custom->type
   dst           out: the same, sorted
   payloads      of each, dst gets the elements of src in the order of the sorted keys
   permutation   out: where each sorted element was, counted from src.offset
   count_buffer  the elements; what lies in dst, in payloads and in permutation past them stays as it was
   order         integers as numbers. Floats from -infinity to infinity, -0 and +0 as equals; NaN comes after all
                 numbers, in its order in src, descending too. All keys keep their bits. bit_begin and bit_end count bits
                 of the code by which keys are compared: integers with the sign bit turned round; of floats, as integers
                 of their size, all bits of negative ones and the sign bit of others, -0 as +0; descending: all bits
                 turned round; and of NaN all ones
   aliasing      in place: src and dst may be the same range, and the src and dst of each payload
   scratch       as much as the keys, and as much as one payload of 4 or 8 bytes; for another payload, several, a
                 permutation or a custom type two indices of 4 bytes an element (of 8 from 2^32 elements on) instead, or
                 one beside a permutation of that size; for what is then brought to its place in place, as much as that,
                 if it is more than the keys'. Twice the keys where dst is left out. With may_destroy_src less: neither
                 keys nor a payload of 4 or 8 bytes need any, if they are not in place. In gpuscan_sort_prepare and
                 _scratch_size permutation counts as given where index_type is, and where src and dst are given they
                 must be valid, since they tell what is in place
   count 0       all buffers may be missing; nothing is written
   returns       INVALID_ARGUMENT: bit_begin is not below bit_end, or bit_end above the key's bits; custom without key;
                 payloads and payload_count. INVALID_TYPE: a custom key_type. INVALID_BUFFER: neither dst nor payloads
                 nor permutation. SIZE_OVERFLOW: count is above 2^32 - 1 and index_type u32. UNSUPPORTED_STRATEGY: one
                 was forced that does not work on the device. Not only the last command writes outputs: after a failed
                 call dst (in place: src) and payloads may hold the elements in another order, or, where they are not in
                 place, anything
   method        least significant digit first: Knuth, "The Art of Computer Programming", volume 3, 5.2.5; in parallel:
                 Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009. On CPUs:
                 Polychroniou and Ross, "A comprehensive study of main-memory partitioning", 2014 */
GPUSCAN_API gpuscan_result gpuscan_sort(gpuscan *gs, const gpuscan_sort_desc *desc);

/* Builds what a sort with this desc will need. */
GPUSCAN_API gpuscan_result gpuscan_sort_prepare(gpuscan *gs, const gpuscan_sort_desc *desc);

/* The bytes of scratch that a sort with this desc needs at most. */
GPUSCAN_API gpuscan_result gpuscan_sort_scratch_size(gpuscan *gs, const gpuscan_sort_desc *desc, uint64_t *size);

/* A sort of the array src of count elements into the array dst, and of their places into the array permutation of
   index_type; one of both may be NULL. src may equal dst; any other overlap is GPUSCAN_ERROR_OVERLAP. Payloads stay on
   the device, and src as it was. src, dst, permutation and count of the desc must be zero. */
GPUSCAN_API gpuscan_result gpuscan_sort_host(gpuscan *gs, const void *src, void *dst, void *permutation,
                                             uint64_t count, const gpuscan_sort_desc *desc);

/* Hands out the object's programs, built from source or taken from a blob, for the next start: of what was prepared or
   called, all that the driver puts into a program's binary.

   blob   out: memory for it, or NULL to learn the size
   size   in: the bytes at blob, not used where that is NULL; out: the bytes that the blob has

   INVALID_ARGUMENT: gs or size is NULL, or *size is too small (it then says how many are needed).
   It may take a second (PoCL). It first finishes the queue of the object's last call, since drivers may go on compiling
   until a program has run: do not call it while that queue waits for an event that this thread is still to set. Finish
   other queues, and those of other objects, yourself: PoCL up to 5.0 aborts where it is asked for one that runs. */
GPUSCAN_API gpuscan_result gpuscan_get_blob(gpuscan *gs, void *blob, size_t *size);

/* Sets the blob from which programs are taken that are not built yet; one that was set before is forgotten, and
   programs that are there stay. What the blob does not hold, or the driver refuses, is built from source. The blob is
   copied. A program of it is loaded when gpuscan_X_prepare or a call first needs it: prepare, and the call will not.

   GPUSCAN_ERROR_BLOB: it is truncated, damaged, or of another device, driver or version of the library.
   INVALID_ARGUMENT: gs or blob is NULL. OUT_OF_HOST_MEMORY. After a failure the object is as it was.
   A blob is trusted like a program: its checksum finds damage, not malice. */
GPUSCAN_API gpuscan_result gpuscan_set_blob(gpuscan *gs, const void *blob, size_t size);

#ifdef __cplusplus
}
#endif
#endif /* GPUSCAN_H */

/* [IMPLEMENTATION] ------------------------------------------------------------------------------------------------- */
#if defined(GPUSCAN_IMPLEMENTATION) && !defined(GPUSCAN__IMPLEMENTED)
#define GPUSCAN__IMPLEMENTED

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GPUSCAN_LINK_OPENCL
#ifdef _WIN32
#ifndef _WINDOWS_ /* what windows.h would declare, without windows.h */
#ifdef __cplusplus
extern "C" {
#endif
struct HINSTANCE__;
__declspec(dllimport) struct HINSTANCE__ *__stdcall LoadLibraryA(const char *name);
typedef intptr_t(__stdcall *gpuscan__farproc)(void);
__declspec(dllimport) gpuscan__farproc __stdcall GetProcAddress(struct HINSTANCE__ *library, const char *name);
__declspec(dllimport) int __stdcall FreeLibrary(struct HINSTANCE__ *library);
#ifdef __cplusplus
}
#endif
#endif
#else
#include <dlfcn.h>
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define GPUSCAN__UNUSED __attribute__((unused))
#define GPUSCAN__PRINTF(text, first) __attribute__((format(printf, text, first)))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* clCreateCommandQueue is OpenCL 1.2's */
#pragma GCC diagnostic ignored "-Wshadow" /* a program may call its types and functions as locals are called here */
#else
#define GPUSCAN__UNUSED
#define GPUSCAN__PRINTF(text, first)
#endif
#ifdef _MSC_VER
#pragma warning(push)
#pragma warning(disable : 4996 4459)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GPUSCAN__COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* [OPENCL ENTRY POINTS] -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset; /* of the function in gpuscan_opencl */
} gpuscan__entry_points[] = {
#define GPUSCAN__ENTRY_POINT(name, result, parameters) {#name, offsetof(gpuscan_opencl, name)},
    GPUSCAN_OPENCL_FUNCTIONS(GPUSCAN__ENTRY_POINT)
#undef GPUSCAN__ENTRY_POINT
};

/* Whether a table has an entry point. */
static int gpuscan__has_entry(const gpuscan_opencl *cl, size_t i) {
    void (*function)(void);
    memcpy(&function, (const char *)cl + gpuscan__entry_points[i].offset, sizeof(function));
    return function != NULL;
}

/* The first that a table lacks; NULL: none. */
static const char *gpuscan__lacking(const gpuscan_opencl *cl) {
    size_t i;
    for (i = 0; i < GPUSCAN__COUNT_OF(gpuscan__entry_points); i++)
        if (!gpuscan__has_entry(cl, i))
            return gpuscan__entry_points[i].name;
    return NULL;
}

/* Why a table stays without some entry point: the library that was looked for, and what it lacks; NULL: all. */
typedef struct gpuscan__missing {
    const char *library, *entry;
} gpuscan__missing;

#ifdef GPUSCAN_LINK_OPENCL
#define GPUSCAN__LOADS 0

static gpuscan_result gpuscan__load_opencl(gpuscan_opencl *cl, const char *wanted, void **library,
                                           gpuscan__missing *missing) {
    (void)wanted;
    *library = NULL;
    missing->library = missing->entry = NULL;
#define GPUSCAN__LINK(name, result, parameters)                                                                        \
    if (!cl->name)                                                                                                     \
        cl->name = name;
    GPUSCAN_OPENCL_FUNCTIONS(GPUSCAN__LINK)
#undef GPUSCAN__LINK
    return GPUSCAN_SUCCESS;
}

static void gpuscan__unload_opencl(void *library) {
    (void)library;
}

#else
#define GPUSCAN__LOADS 1

#ifdef _WIN32
typedef intptr_t(__stdcall *gpuscan__symbol)(void);

static void *gpuscan__open_library(const char *name) {
    return (void *)LoadLibraryA(name);
}
static gpuscan__symbol gpuscan__find_symbol(void *library, const char *name) {
    return (gpuscan__symbol)GetProcAddress((struct HINSTANCE__ *)library, name);
}
static void gpuscan__close_library(void *library) {
    FreeLibrary((struct HINSTANCE__ *)library);
}
#else
typedef void *gpuscan__symbol;

static void *gpuscan__open_library(const char *name) {
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}
static gpuscan__symbol gpuscan__find_symbol(void *library, const char *name) {
    return dlsym(library, name);
}
static void gpuscan__close_library(void *library) {
    dlclose(library);
}
#endif

static const char *const gpuscan__library_names[] = {
#if defined(_WIN32)
    "OpenCL.dll",
#elif defined(__APPLE__)
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
#else
    "libOpenCL.so.1", "libOpenCL.so",
#endif
};

static void gpuscan__unload_opencl(void *library) {
    if (library)
        gpuscan__close_library(library);
}

/* Fills what a table lacks. wanted: the library, or NULL. */
static gpuscan_result gpuscan__load_opencl(gpuscan_opencl *cl, const char *wanted, void **library,
                                           gpuscan__missing *missing) {
    const char *const *names = wanted ? &wanted : gpuscan__library_names;
    size_t count = wanted ? 1 : GPUSCAN__COUNT_OF(gpuscan__library_names), i;
    *library = NULL;
    for (i = 0; i < count && !*library; i++)
        *library = gpuscan__open_library(names[i]);
    missing->library = names[0];
    missing->entry = NULL;
    if (!*library)
        return GPUSCAN_ERROR_NO_OPENCL;
    for (i = 0; i < GPUSCAN__COUNT_OF(gpuscan__entry_points); i++) {
        gpuscan__symbol symbol;
        if (gpuscan__has_entry(cl, i))
            continue;
        symbol = gpuscan__find_symbol(*library, gpuscan__entry_points[i].name);
        if (!symbol) {
            missing->entry = gpuscan__entry_points[i].name;
            gpuscan__close_library(*library);
            *library = NULL;
            return GPUSCAN_ERROR_NO_OPENCL;
        }
        /* ISO C has no cast from object to function pointers */
        memcpy((char *)cl + gpuscan__entry_points[i].offset, &symbol, sizeof(symbol));
    }
    return GPUSCAN_SUCCESS;
}
#endif

/* Later versions' names, so that headers of OpenCL 1.2 suffice. */
#define GPUSCAN__CL_DEVICE_OPENCL_C_FEATURES 0x106F
#define GPUSCAN__CL_NAME_VERSION_NAME_SIZE 64
typedef struct gpuscan__cl_name_version {
    cl_uint version;
    char name[GPUSCAN__CL_NAME_VERSION_NAME_SIZE];
} gpuscan__cl_name_version;

/* [EMBEDDED KERNELS] ----------------------------------------------------------------------------------------------- */

static const char *gpuscan__kernels[] = {
/* kernels.cl.inc: begin */
    "/* gpuscan's device code, OpenCL C 1.2: the one source of every kernel, for all types, operators and devices. The host\n"
    "   puts #defines before it and compiles one program for each combination that is used: see [PROGRAM CACHE] and\n"
    "   [DEVICE NUMBERS] in gpuscan.h. tools/embed copies this text there.\n"
    "\n"
    "   SECTIONS    search for the name in brackets. Each uses those before it.\n"
    "               [PLANTED DEFECTS]\n"
    "               [BARRIERS AND MEMORY] [LANES] [ELEMENTS] [PACKED ELEMENTS] [STATE WORDS] [LANE SCANS] [GROUP TILES]\n"
    "               [CPU TILES] [MULTI-PASS SCAN] [SCAN ROWS] [SINGLE-PASS SCAN] [SCAN AHEAD] [SCAN FEW] [SELECT]\n"
    "               [UNIFORM ADD] [REDUCE] [REDUCE SEGMENTS] [HISTOGRAM BINS] [HISTOGRAM COUNTERS]\n"
    "               [HISTOGRAM CPU] [HISTOGRAM] [SORT KEYS] [SORT GATHER] [SORT PASSES] [SORT CPU]\n"
    "               [SORT GROUP] [SORT SWEEP]\n"
    "\n"
    "   WORDS       of this file, and what else they are called:\n"
    "     row         a row of the caller's data; rows are scanned or counted each by itself (a segment of equal length)\n"
    "     part        of a row, in the multi-pass scan: some neighbouring tiles\n"
    "     tile        the elements that a group (on a CPU a work-item) takes at a time (a block's or CTA's tile)\n"
    "     vector      VECTOR neighbouring elements that a lane loads at once; it holds ITEM_VECTORS of them, so its \"items\n"
    "                 per thread\" are VECTOR * ITEM_VECTORS\n"
    "     sub-group   a warp, a wave; its work-items are lanes\n"
    "     window      the tiles that the lanes of a sub-group look at together; without lanes one tile\n"
    "     aggregate   the sum of a tile; prefix: the sum of everything up to its end (the inclusive prefix of a look-back)\n"
    "     look-back   the decoupled look-back of Merrill and Garland; state words: its tile descriptors\n"
    "     base        what precedes a row's first element: init, or the identity\n"
    "     span        [first, last) of a row, which one work-item of a CPU takes\n"
    "     copies      of a group's bins in local memory (a privatised histogram, replicated against conflicts)\n"
    "     slice       of the bins, where all of them do not fit local memory: a group counts one slice\n"
    "     range       of sample values: [lower, upper)\n"
    "     accumulator a bin's sum in global memory, which all groups add to\n"
    "\n",
    "   ORDER       in which a scan combines, since floats tell. Whatever stands at an element is what was finished before a\n"
    "               block of elements, op the block's own inclusive scan at the element; and what precedes the next block is\n"
    "               just this at the block's end, with all bits. Blocks follow each other in a chain, or as Sklansky joins\n"
    "               them: of two halves the second gets the first one's last sum. (Steps that shift by 1, 2, 4, ..., of Kogge\n"
    "               and Stone, give neighbours different trees.) So the total is the last inclusive element, an exclusive\n"
    "               scan is the inclusive one moved by an element, and as fl(p + s) grows with s, sums of what is not\n"
    "               negative do not decrease. One level is not so: a lane's vector begins with what precedes it and goes on\n"
    "               element by element, but ends in what the next lane begins with, and none of its elements may exceed that\n"
    "               if all rise. ANY_ORDER: integers, MIN and MAX, which do not tell, so whatever is fastest.\n"
    "\n"
    "   DEFINES     GPUSCAN_..., by the host:\n"
    "     GROUP           work-items a group              CPU      one work-item a group, chunks shaped for a cache\n"
    "     LANES           work-items a sub-group          PTX      NVIDIA's memory and arithmetic instructions\n"
    "     VECTOR          elements a vector               FENCE    the device fence: FENCE_...\n"
    "     ITEM_VECTORS    vectors a work-item             WORD     bits of a state word: 32, 64 or 128\n"
    "     TILE            elements a tile                 POLLS    polls before a late tile is summed by who waits for it\n"
    "     LANES_KIND      how they exchange: LANES_...    AHEAD, FEW   forms of the single-pass scan\n"
    "     REGISTERS       registers a work-item that the build options allow on NVIDIA; 0: not said\n"
    "     PACKED          bytes of a small integer, of which a word's are added at once; 0: elements one by one\n"
    "     PIPE            how the histogram loads: PIPE_...\n"
    "     TICKETS         counters for tickets before the state words and the accumulators\n"
    "     PREFETCH_SRC, PREFETCH_DST   bytes ahead on a CPU; 0: not\n"
    "     ANY_ORDER       results do not depend on the order\n"
    "     BITS, INVERT    select: src is words of flags; what is not marked is kept\n"
    "     OUTPUTS, OUTPUTS_GATHERED, INDEX_SIZE   select: what is written: see [SELECT]\n"
    "     STAGES, PLACES, LIST_AT   select: what is listed of a tile, and the bytes of local memory before it\n"
    "     MOVES           select: the outputs are put into scratch first\n"
    "     FLOAT_SUM       floats are added: sums of what is not negative rise                                             */\n"
    "\n",
    "/* Pragmas that hold in custom texts, too, stand before those: see [PROGRAM CACHE]. */\n"
    "#if GPUSCAN_WORD == 64 || GPUSCAN_COUNTER_ATOMICS == 64\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
    "#endif\n"
    "\n"
    "/* What a kernel is told in numbers is one argument, a struct of 64-bit integers: every further argument costs the host\n"
    "   time (an H200's, for 16 of them: 0.7 us a launch). The host defines GPUSCAN_..._NUMBERS, the structs' members, and\n"
    "   all constants that it shares with the kernels: GPUSCAN_FLAG_... (the last of each kernel's numbers),\n"
    "   GPUSCAN_FENCE_..., GPUSCAN_BIN_MODE_..., GPUSCAN_PIPE_..., GPUSCAN_ARRIVALS_..., GPUSCAN_BINS_... and\n"
    "   GPUSCAN_OUTSIDE_... */\n"
    "\n"
    "/* [PLANTED DEFECTS] ------------------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* Mistakes that tests build in, one at a time, to see that they are seen: a test puts\n"
    "   \"#define GPUSCAN_TEST_PLANT GPUSCAN_TEST_PLANT_...\" before the program. */\n"
    "#define GPUSCAN_TEST_PLANT_SUMS_TAIL         1 /* scan_sums loses a part's last element */\n"
    "#define GPUSCAN_TEST_PLANT_CARRIES           2 /* scan_carries loses the parts before */\n"
    "#define GPUSCAN_TEST_PLANT_PARTS_TAIL        3 /* scan_parts leaves a part's last element out */\n"
    "#define GPUSCAN_TEST_PLANT_STORE_OVERRUN     4 /* a tile of a group stores one element too many */\n"
    "#define GPUSCAN_TEST_PLANT_LOOK_BACK         5 /* the look-back finds nothing before the tile */\n"
    "#define GPUSCAN_TEST_PLANT_AHEAD             6 /* scan_ahead's folding loses the windows before */\n"
    "#define GPUSCAN_TEST_PLANT_FEW               7 /* scan_few loses the first window */\n"
    "#define GPUSCAN_TEST_PLANT_SPAN_TAIL         8 /* a CPU's span loses its last element */\n"
    "#define GPUSCAN_TEST_PLANT_UNIFORM_ADD       9 /* the next block begins an element late */\n"
    "#define GPUSCAN_TEST_PLANT_REDUCE_ENDS      10 /* reduce loses what no vector holds */\n"
    "#define GPUSCAN_TEST_PLANT_REDUCE_GROUP     11 /* the last group's partial result is lost */\n"
    "#define GPUSCAN_TEST_PLANT_BIN              12 /* each sample counts a bin further on */\n"
    "#define GPUSCAN_TEST_PLANT_HISTOGRAM_GROUP  13 /* group 0 hands over no counts */\n"
    "#define GPUSCAN_TEST_PLANT_HISTOGRAM_FINISH 14 /* the last bin is not moved to counts */\n"
    "#define GPUSCAN_TEST_PLANT_BARRIER          15 /* values are read before they are there: a data race */\n"
    "#define GPUSCAN_TEST_PLANT_REDUCE_OVERRUN   16 /* the result is written far behind dst */\n"
    "#define GPUSCAN_TEST_PLANT_LAST_ROW         17 /* scan_rows leaves the last row out */\n"
    "#define GPUSCAN_TEST_PLANT_BLOCKS_TAIL      18 /* a CPU's histogram leaves out the samples behind whole blocks */\n"
    "#define GPUSCAN_TEST_PLANT_REDUCE_TILES     19 /* a group's tiles are combined in the wrong order */\n"
    "#define GPUSCAN_TEST_PLANT_REDUCE_ORDER     20 /* the groups' partial results are combined in the wrong order */\n"
    "#define GPUSCAN_TEST_PLANT_BARRIER_COUNTS   21 /* bins are summed before all samples are counted: a data race */\n"
    "#define GPUSCAN_TEST_PLANT_SAMPLE_ROWS      22 /* a step into the next row of samples goes one vector too far */\n"
    "#define GPUSCAN_TEST_PLANT_UNALIGNED        23 /* a whole vector that is not aligned begins an element late */\n"
    "#define GPUSCAN_TEST_PLANT_SELECT_TAIL      24 /* select loses a tile's last kept element */\n"
    "#define GPUSCAN_TEST_PLANT_SEGMENT_JOIN     25 /* what other groups have of a segment is lost */\n"
    "#define GPUSCAN_TEST_PLANT_SORT_ORDER       26 /* equal digits are brought into the reverse order */\n"
    "#define GPUSCAN_TEST_PLANT_SORT_TAIL        27 /* a part's, or the last tile's, last element is not sorted */\n"
    "#define GPUSCAN_TEST_PLANT_SORT_GATHER      28 /* what goes by index is taken from the next element */\n"
    "#define GPUSCAN_TEST_PLANT_SORT_PLACES      29 /* a digit's places begin where another part's elements lie */\n"
    "#define GPUSCAN_TEST_PLANT_SORT_NAN         30 /* NaN are sorted by their bits */\n"
    "#ifndef GPUSCAN_TEST_PLANT\n"
    "#define GPUSCAN_TEST_PLANT 0\n"
    "#endif\n"
    "#define GPUSCAN_PLANTED(name) (GPUSCAN_TEST_PLANT == GPUSCAN_TEST_PLANT_##name)\n"
    "\n",
    "/* [BARRIERS AND MEMORY] -------------------------------------------------------------------------------------------- */\n"
    "\n"
    "#if GPUSCAN_GROUP == 1\n"
    "#define GPUSCAN_BARRIER()\n"
    "#else\n"
    "#define GPUSCAN_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)\n"
    "#endif\n"
    "#define GPUSCAN_ITEM ((uint)get_local_id(0))\n"
    "\n"
    "/* A kernel whose registers the build options limit must not name its group's size: NVIDIA's compiler would then choose\n"
    "   the registers by itself, and spills, or loads late what was asked for early. */\n"
    "#if GPUSCAN_REGISTERS\n"
    "#define GPUSCAN_GROUP_ATTRIBUTE\n"
    "#else\n"
    "#define GPUSCAN_GROUP_ATTRIBUTE __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1)))\n"
    "#endif\n"
    "\n"
    "/* Local memory is an argument, not declared (but on NVIDIA): PoCL 3.1 confuses __local variables whose address is\n"
    "   folded into a constant expression. */\n"
    "\n"
    "/* Orders this work-item's global accesses before and after it for the whole device; mem_fence only promises that for\n"
    "   the work-group. */\n"
    "static inline void gpuscan_device_fence(void) {\n"
    "#if GPUSCAN_FENCE == GPUSCAN_FENCE_PTX\n"
    "    __asm__ volatile(\"fence.acq_rel.gpu;\" ::: \"memory\");\n"
    "#elif GPUSCAN_FENCE == GPUSCAN_FENCE_OPENCL2\n"
    "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);\n"
    "#else\n"
    "    mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* CPUs: bytes of a cache line, and stores past the caches. */\n"
    "#define GPUSCAN_LINE 64\n"
    "#ifdef __has_builtin\n"
    "#if __has_builtin(__builtin_nontemporal_store)\n"
    "#define GPUSCAN_HAS_STREAM_STORE 1\n"
    "#endif\n"
    "#endif\n"
    "\n"
    "/* How 16 bytes are loaded that are read once. After L1::no_allocate an H200's second-level cache keeps other things,\n"
    "   unless the load names a policy for it: 32 MiB that are summed again and again take 16.5 us, without it 12.5. Samples\n"
    "   of several channels take it: past the first level they are faster by a fourteenth. */\n"
    "#if defined(GPUSCAN_CHANNELS) && GPUSCAN_CHANNELS > 1\n"
    "#define GPUSCAN_LOAD_ONCE \"ld.global.nc.L1::no_allocate.v4.u32 \"\n"
    "#else\n"
    "#define GPUSCAN_LOAD_ONCE \"ld.global.nc.v4.u32 \"\n"
    "#endif\n"
    "\n"
    "static inline uint4 gpuscan_load_once(global const uint4 *p) {\n"
    "#if GPUSCAN_PTX\n"
    "    uint4 x;\n"
    "    __asm__ volatile(GPUSCAN_LOAD_ONCE \"{%0, %1, %2, %3}, [%4];\"\n"
    "                     : \"=r\"(x.x), \"=r\"(x.y), \"=r\"(x.z), \"=r\"(x.w)\n"
    "                     : \"l\"(p));\n"
    "    return x;\n"
    "#else\n"
    "    return *p;\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* The same where there is something to load, else 0: without a branch, so that several are in flight. */\n"
    "static inline uint4 gpuscan_load_once_if(bool there, global const uint4 *p) {\n"
    "#if GPUSCAN_PTX\n"
    "    uint x = 0, y = 0, z = 0, w = 0;\n"
    "    __asm__ volatile(\"{ .reg .pred p; setp.ne.u32 p, %5, 0;\"\n"
    "                     \" @p \" GPUSCAN_LOAD_ONCE \"{%0, %1, %2, %3}, [%4]; }\"\n"
    "                     : \"+r\"(x), \"+r\"(y), \"+r\"(z), \"+r\"(w)\n"
    "                     : \"l\"(p), \"r\"((uint)there));\n"
    "    return (uint4)(x, y, z, w);\n"
    "#else\n"
    "    return there ? *p : (uint4)(0);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Loops over what a lane holds in registers: unrolled, since registers have no index. Compilers for CPUs know better,\n"
    "   and their compile time matters. */\n"
    "#if GPUSCAN_PTX\n"
    "#define GPUSCAN_UNROLL _Pragma(\"unroll\")\n"
    "#else\n"
    "#define GPUSCAN_UNROLL\n"
    "#endif\n"
    "\n"
    "/* Loops that must not be unrolled, since what they call is long. */\n"
    "#if GPUSCAN_PTX\n"
    "#define GPUSCAN_ROLLED _Pragma(\"unroll 1\")\n"
    "#else\n"
    "#define GPUSCAN_ROLLED\n"
    "#endif\n"
    "\n"
    "/* Functions whose arrays are to stay in registers. */\n"
    "#if GPUSCAN_PTX\n"
    "#define GPUSCAN_INLINE static inline __attribute__((always_inline))\n"
    "#else\n"
    "#define GPUSCAN_INLINE static inline\n"
    "#endif\n"
    "\n"
    "static inline ulong gpuscan_count(ulong count, global const uint *count_buffer, ulong count_offset, uint flags) {\n"
    "    if (flags & GPUSCAN_FLAG_COUNT_U32)\n"
    "        return min(count, (ulong)count_buffer[count_offset]);\n"
    "    if (flags & GPUSCAN_FLAG_COUNT_U64) {\n"
    "        ulong low = count_buffer[2 * count_offset], high = count_buffer[2 * count_offset + 1];\n"
    "#ifdef __ENDIAN_LITTLE__\n"
    "        return min(count, high << 32 | low);\n"
    "#else\n"
    "        return min(count, low << 32 | high);\n"
    "#endif\n"
    "    }\n"
    "    return count;\n"
    "}\n"
    "\n"
    "/* How many elements of src say of count elements whether they are kept, or are counted themselves. */\n"
    "static inline ulong gpuscan_units(ulong count) {\n"
    "#if GPUSCAN_BITS\n"
    "    return count / 32 + (count % 32 != 0);\n"
    "#else\n"
    "    return count;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* The tickets' counters stand before the words, or accumulators, that a kernel gets: each buffer among a kernel's\n"
    "   arguments costs the host time. */\n"
    "#define GPUSCAN_COUNTERS(p) ((global uint *)(p) - GPUSCAN_TICKETS)\n"
    "\n",
    "/* The next number of a counter that is 0 before the launch and after it: whoever takes the last number puts it back.\n"
    "   The same for every work-item of the group. */\n"
    "static inline uint gpuscan_ticket(global uint *counter, uint tickets, local uint *shared) {\n"
    "#if GPUSCAN_GROUP == 1\n"
    "    uint ticket = atomic_inc(counter);\n"
    "    if (ticket == tickets - 1)\n"
    "        atomic_xchg(counter, 0u);\n"
    "    return ticket;\n"
    "#else\n"
    "    if (GPUSCAN_ITEM == 0) {\n"
    "        uint ticket = atomic_inc(counter);\n"
    "        if (ticket == tickets - 1)\n"
    "            atomic_xchg(counter, 0u);\n"
    "        *shared = ticket;\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "    return *shared;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* [LANES] ---------------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* What the work-items of a sub-group hand to each other without the group's barriers. A kind is a block of four\n"
    "   functions and a macro, of which all else is made: a number of another lane (gpuscan_uint_up: of d lanes before, or\n"
    "   the lane's own where there is none; gpuscan_uint_xor; gpuscan_uint_at), gpuscan_vote, a bit for each lane whose\n"
    "   argument is not 0, and GPUSCAN_LANES_SYNC, after which lanes see what others wrote to local memory. memory: a word a\n"
    "   work-item, for LOCAL. The lines below say of each kind whether its sub-groups may exchange while others do not.\n"
    "\n"
    "     PTX        NVIDIA's instructions\n"
    "     SUBGROUPS  OpenCL's sub-groups and their shuffles and ballots, on a device whose sub-groups have LANES work-items\n"
    "     LOCAL      local memory and the group's barriers: a slow stand-in for tests. All work-items of a group must come to\n"
    "                each exchange, so the single-pass scans, which look back in branches and loops of a sub-group's own, are\n"
    "                given groups of one sub-group\n"
    "     NONE       no lanes: a window is one work-item, and a group's tiles are scanned through local memory\n"
    "\n"
    "   A window: lanes of one sub-group that work together in branches and loops of their own. */\n"
    "#if GPUSCAN_LANES_KIND == GPUSCAN_LANES_PTX || GPUSCAN_LANES_KIND == GPUSCAN_LANES_SUBGROUPS\n"
    "#define GPUSCAN_HAS_LANES    1\n"
    "#define GPUSCAN_LANES_APART  1 /* a sub-group may exchange while the others do not */\n"
    "#define GPUSCAN_WINDOW       GPUSCAN_LANES\n"
    "#elif GPUSCAN_LANES_KIND == GPUSCAN_LANES_LOCAL\n"
    "#define GPUSCAN_HAS_LANES    1\n"
    "#define GPUSCAN_LANES_APART  0\n"
    "#define GPUSCAN_WINDOW       GPUSCAN_LANES\n"
    "#else\n"
    "#define GPUSCAN_HAS_LANES    0\n"
    "#define GPUSCAN_LANES_APART  0\n"
    "#define GPUSCAN_WINDOW       1\n"
    "#endif\n"
    "\n",
    "#define GPUSCAN_SUBGROUPS   (GPUSCAN_GROUP / GPUSCAN_LANES)\n"
    "#define GPUSCAN_LANE        (GPUSCAN_ITEM % GPUSCAN_LANES)\n"
    "#define GPUSCAN_SUBGROUP    (GPUSCAN_ITEM / GPUSCAN_LANES)\n"
    "#define GPUSCAN_WINDOW_LANE (GPUSCAN_HAS_LANES ? GPUSCAN_LANE : 0u)\n"
    "\n"
    "/* A bit a lane of a window. */\n"
    "#if GPUSCAN_WINDOW > 32\n"
    "typedef ulong gpuscan_ballot_t;\n"
    "#define GPUSCAN_BALLOT_BITS 64u\n"
    "#define GPUSCAN_BALLOT_ONES 0xfffffffffffffffful\n"
    "#else\n"
    "typedef uint gpuscan_ballot_t;\n"
    "#define GPUSCAN_BALLOT_BITS 32u\n"
    "#define GPUSCAN_BALLOT_ONES 0xffffffffu\n"
    "#endif\n"
    "#define GPUSCAN_BALLOT_UP_TO(lane) (GPUSCAN_BALLOT_ONES >> (GPUSCAN_BALLOT_BITS - 1u - (lane)))\n"
    "#define GPUSCAN_BALLOT_ALL         GPUSCAN_BALLOT_UP_TO(GPUSCAN_WINDOW - 1u)\n"
    "\n"
    "static inline uint gpuscan_lowest(gpuscan_ballot_t bits) {\n"
    "    return (uint)(GPUSCAN_BALLOT_BITS - 1u - clz(bits & (0u - bits)));\n"
    "}\n"
    "\n"
    "#if GPUSCAN_LANES_KIND == GPUSCAN_LANES_PTX\n"
    "#if GPUSCAN_LANES != 32\n"
    "#error \"NVIDIA's sub-groups have 32 lanes\"\n"
    "#endif\n"
    "#define GPUSCAN_LAST_LANE \"0x1f\"\n"
    "#define GPUSCAN_ALL_LANES \"0xffffffff\"\n"
    "#define GPUSCAN_LANE_FUNCTION(name, mode, clamp)                                                                       \\\n"
    "    static inline uint name(uint x, uint lane, local uint *memory) {                                                   \\\n"
    "        uint y;                                                                                                        \\\n"
    "        __asm__ volatile(\"shfl.sync.\" mode \".b32 %0, %1, %2, \" clamp \", \" GPUSCAN_ALL_LANES \";\"                        \\\n"
    "                         : \"=r\"(y)                                                                                     \\\n"
    "                         : \"r\"(x), \"r\"(lane));                                                                         \\\n"
    "        return y;                                                                                                      \\\n"
    "    }\n"
    "GPUSCAN_LANE_FUNCTION(gpuscan_uint_up, \"up\", \"0\")\n"
    "GPUSCAN_LANE_FUNCTION(gpuscan_uint_xor, \"bfly\", GPUSCAN_LAST_LANE)\n"
    "GPUSCAN_LANE_FUNCTION(gpuscan_uint_at, \"idx\", GPUSCAN_LAST_LANE)\n"
    "\n",
    "static inline gpuscan_ballot_t gpuscan_vote(int predicate, local uint *memory) {\n"
    "    uint lanes;\n"
    "    __asm__ volatile(\"{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.ballot.b32 %0, p, \" GPUSCAN_ALL_LANES \"; }\"\n"
    "                     : \"=r\"(lanes)\n"
    "                     : \"r\"(predicate));\n"
    "    return lanes;\n"
    "}\n"
    "#define GPUSCAN_LANES_SYNC() __asm__ volatile(\"bar.warp.sync \" GPUSCAN_ALL_LANES \";\" ::: \"memory\")\n"
    "\n"
    "#elif GPUSCAN_LANES_KIND == GPUSCAN_LANES_SUBGROUPS\n"
    "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
    "static inline uint gpuscan_uint_at(uint x, uint lane, local uint *memory) {\n"
    "    return sub_group_shuffle(x, lane);\n"
    "}\n"
    "static inline uint gpuscan_uint_up(uint x, uint d, local uint *memory) {\n"
    "    return sub_group_shuffle(x, GPUSCAN_LANE >= d ? GPUSCAN_LANE - d : GPUSCAN_LANE);\n"
    "}\n"
    "static inline uint gpuscan_uint_xor(uint x, uint d, local uint *memory) {\n"
    "    return sub_group_shuffle_xor(x, d);\n"
    "}\n"
    "static inline gpuscan_ballot_t gpuscan_vote(int predicate, local uint *memory) {\n"
    "    uint4 lanes = sub_group_ballot(predicate);\n"
    "#if GPUSCAN_LANES > 32\n"
    "    return (ulong)lanes.y << 32 | lanes.x;\n"
    "#else\n"
    "    return lanes.x;\n"
    "#endif\n"
    "}\n"
    "#define GPUSCAN_LANES_SYNC() sub_group_barrier(CLK_LOCAL_MEM_FENCE)\n"
    "\n"
    "#elif GPUSCAN_LANES_KIND == GPUSCAN_LANES_LOCAL\n"
    "static inline uint gpuscan_uint_at(uint x, uint lane, local uint *memory) {\n"
    "    memory[GPUSCAN_ITEM] = x;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    x = memory[GPUSCAN_SUBGROUP * GPUSCAN_LANES + lane];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    return x;\n"
    "}\n"
    "static inline uint gpuscan_uint_up(uint x, uint d, local uint *memory) {\n"
    "    return gpuscan_uint_at(x, GPUSCAN_LANE >= d ? GPUSCAN_LANE - d : GPUSCAN_LANE, memory);\n"
    "}\n"
    "static inline uint gpuscan_uint_xor(uint x, uint d, local uint *memory) {\n"
    "    return gpuscan_uint_at(x, GPUSCAN_LANE ^ d, memory);\n"
    "}\n"
    "static inline gpuscan_ballot_t gpuscan_vote(int predicate, local uint *memory) {\n"
    "    gpuscan_ballot_t lanes = 0;\n"
    "    memory[GPUSCAN_ITEM] = predicate != 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint lane = 0; lane < GPUSCAN_LANES; lane++)\n"
    "        lanes |= (gpuscan_ballot_t)memory[GPUSCAN_SUBGROUP * GPUSCAN_LANES + lane] << lane;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    return lanes;\n"
    "}\n"
    "#define GPUSCAN_LANES_SYNC() barrier(CLK_LOCAL_MEM_FENCE)\n"
    "#elif GPUSCAN_LANES_KIND != GPUSCAN_LANES_NONE\n"
    "#error \"this kind of lanes has no block here\"\n"
    "#endif\n"
    "\n",
    "/* How the rest calls them. Whoever does has the group's local memory at hand, which is called `shared` everywhere. */\n"
    "#if GPUSCAN_LANES_KIND != GPUSCAN_LANES_LOCAL\n"
    "#define GPUSCAN_LANES_MEMORY 0\n"
    "#elif defined(GPUSCAN_T) || defined(GPUSCAN_SORT)\n"
    "#define GPUSCAN_LANES_MEMORY shared->lanes\n"
    "#else\n"
    "#define GPUSCAN_LANES_MEMORY (shared + GPUSCAN_LOCAL_WORDS)\n"
    "#endif\n"
    "#if GPUSCAN_HAS_LANES\n"
    "#define gpuscan_lane_at(x, lane) gpuscan_uint_at(x, lane, GPUSCAN_LANES_MEMORY)\n"
    "#define gpuscan_lane_xor(x, d)   gpuscan_uint_xor(x, d, GPUSCAN_LANES_MEMORY)\n"
    "#define gpuscan_ballot(x)        gpuscan_vote(x, GPUSCAN_LANES_MEMORY)\n"
    "#else\n"
    "#define gpuscan_lane_at(x, lane) (x)\n"
    "#define gpuscan_shuffle(x, lane) (x)\n"
    "#define gpuscan_ballot(x)        ((x) ? 1u : 0u)\n"
    "#define GPUSCAN_LANES_SYNC()\n"
    "#endif\n"
    "\n"
    "#ifdef GPUSCAN_T /* everything but the histogram */\n"
    "/* [ELEMENTS] ------------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "#if GPUSCAN_ARG /* argmin, argmax: the best value so far and where it stands */\n"
    "typedef struct {\n"
    "    union {\n"
    "        GPUSCAN_VALUE value;\n"
    "        ulong whole; /* no padding, which would be handed on uninitialised */\n"
    "    } best;\n"
    "    ulong index;\n"
    "} gpuscan_arg;\n"
    "\n"
    "#define GPUSCAN_ARG_NONE 0xfffffffffffffffful\n"
    "\n"
    "static inline gpuscan_arg gpuscan_arg_make(GPUSCAN_VALUE value, ulong index) {\n"
    "    gpuscan_arg arg;\n"
    "    arg.best.whole = 0;\n"
    "    arg.best.value = value;\n"
    "    arg.index = value == value ? index : GPUSCAN_ARG_NONE; /* NaN is no candidate */\n"
    "    return arg;\n"
    "}\n"
    "\n"
    "static inline gpuscan_arg gpuscan_arg_pick(gpuscan_arg a, gpuscan_arg b) {\n"
    "    if (b.index == GPUSCAN_ARG_NONE)\n"
    "        return a;\n"
    "    if (a.index == GPUSCAN_ARG_NONE)\n"
    "        return b;\n"
    "    if (a.best.value == b.best.value)\n"
    "        return a.index < b.index ? a : b;\n"
    "    return GPUSCAN_ARG_BEFORE(a.best.value, b.best.value) ? a : b;\n"
    "}\n"
    "#endif\n"
    "\n"
    "typedef GPUSCAN_T gpuscan_t;     /* what is computed with */\n"
    "typedef GPUSCAN_SRC gpuscan_src; /* what src holds */\n"
    "typedef GPUSCAN_DST gpuscan_dst; /* what dst holds */\n"
    "\n"
    "static inline gpuscan_t gpuscan_combine(gpuscan_t a, gpuscan_t b) {\n"
    "    return GPUSCAN_COMBINE;\n"
    "}\n"
    "\n",
    "/* What stands where nothing is: combined with x it gives x, with all its bits. */\n"
    "static inline gpuscan_t gpuscan_identity(void) {\n"
    "    return GPUSCAN_IDENTITY;\n"
    "}\n"
    "\n"
    "/* A source element as a number of the arithmetic's type; i is its index in the row. */\n"
    "static inline gpuscan_t gpuscan_convert(gpuscan_src element, ulong i) {\n"
    "#if GPUSCAN_SRC_F16\n"
    "    float x = vload_half(0, (private const half *)&element);\n"
    "#else\n"
    "    gpuscan_src x = element;\n"
    "#endif\n"
    "    return GPUSCAN_CONVERT;\n"
    "}\n"
    "\n"
    "static inline gpuscan_t gpuscan_from_dst(gpuscan_dst x) {\n"
    "#if GPUSCAN_DST_F16\n"
    "    return vload_half(0, (private const half *)&x);\n"
    "#else\n"
    "    return x;\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline gpuscan_dst gpuscan_to_dst(gpuscan_t x) {\n"
    "#if GPUSCAN_DST_F16\n"
    "    ushort bits;\n"
    "    vstore_half(x, 0, (private half *)&bits);\n"
    "    return bits;\n"
    "#else\n"
    "    return x;\n"
    "#endif\n"
    "}\n"
    "\n"
    "#if GPUSCAN_INIT_BY_VALUE\n"
    "typedef gpuscan_dst gpuscan_init;\n"
    "#else /* too large for an argument: the host brings it in a buffer */\n"
    "typedef uchar gpuscan_init;\n"
    "#endif\n"
    "\n"
    "/* What stands before the first element, always: init, or what the operator starts with. So a sum of -0 alone is +0,\n"
    "   as in C's loop, and a minimum of NaN alone is the identity, whoever computes it. */\n"
    "static inline gpuscan_t gpuscan_base(gpuscan_init init_value, global const gpuscan_dst *init_buffer, ulong init_offset,\n"
    "                                     uint flags) {\n"
    "#if GPUSCAN_INIT_BY_VALUE\n"
    "    if (flags & GPUSCAN_FLAG_INIT)\n"
    "        return gpuscan_from_dst(init_value);\n"
    "#endif\n"
    "    if (flags & GPUSCAN_FLAG_INIT_BUFFER)\n"
    "        return gpuscan_from_dst(init_buffer[init_offset]);\n"
    "    return GPUSCAN_START;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_PACKED && defined(__ENDIAN_LITTLE__)\n"
    "#define GPUSCAN_PACKED_HERE 1\n"
    "#else\n"
    "#define GPUSCAN_PACKED_HERE 0\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_PACKED_HERE\n"
    "/* [PACKED ELEMENTS] ------------------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* Four bytes or two 16-bit numbers of a word, added modulo 2^8 or 2^16. */\n"
    "\n"
    "/* Adds a word's elements to a sum. */\n"
    "static inline uint gpuscan_packed_sum(uint word, uint sum) {\n"
    "#if GPUSCAN_PTX && GPUSCAN_PACKED == 1 && GPUSCAN_PACKED_SIGNED\n"
    "    __asm__(\"dp4a.s32.s32 %0, %1, %2, %0;\" : \"+r\"(sum) : \"r\"(word), \"r\"(0x01010101u));\n"
    "    return sum;\n"
    "#elif GPUSCAN_PTX && GPUSCAN_PACKED == 1\n"
    "    __asm__(\"dp4a.u32.u32 %0, %1, %2, %0;\" : \"+r\"(sum) : \"r\"(word), \"r\"(0x01010101u));\n"
    "    return sum;\n"
    "#elif GPUSCAN_PTX && GPUSCAN_PACKED_SIGNED\n"
    "    __asm__(\"dp2a.lo.s32.s32 %0, %1, %2, %0;\" : \"+r\"(sum) : \"r\"(word), \"r\"(0x0101u));\n"
    "    return sum;\n"
    "#elif GPUSCAN_PTX\n"
    "    __asm__(\"dp2a.lo.u32.u32 %0, %1, %2, %0;\" : \"+r\"(sum) : \"r\"(word), \"r\"(0x0101u));\n"
    "    return sum;\n"
    "#elif GPUSCAN_PACKED == 1 && GPUSCAN_PACKED_SIGNED\n"
    "    char4 x = as_char4(word);\n"
    "    return sum + (uint)(x.x + x.y + x.z + x.w);\n"
    "#elif GPUSCAN_PACKED == 1\n"
    "    uchar4 x = as_uchar4(word);\n"
    "    return sum + x.x + x.y + x.z + x.w;\n"
    "#elif GPUSCAN_PACKED_SIGNED\n"
    "    short2 x = as_short2(word);\n"
    "    return sum + (uint)(x.x + x.y);\n"
    "#else\n"
    "    ushort2 x = as_ushort2(word);\n"
    "    return sum + x.x + x.y;\n"
    "#endif\n"
    "}\n"
    "\n",
    "static inline uint gpuscan_packed_sum4(uint4 x, uint sum) {\n"
    "    return gpuscan_packed_sum(x.w, gpuscan_packed_sum(x.z, gpuscan_packed_sum(x.y, gpuscan_packed_sum(x.x, sum))));\n"
    "}\n"
    "\n"
    "/* Bytes 0 and 2 of both, or their lower halves, side by side: a's first. */\n"
    "static inline uint gpuscan_packed_join(uint a, uint b) {\n"
    "#if GPUSCAN_PTX\n"
    "    uint x;\n"
    "    __asm__(\"prmt.b32 %0, %1, %2, %3;\" : \"=r\"(x) : \"r\"(a), \"r\"(b), \"n\"(GPUSCAN_PACKED == 1 ? 0x6240 : 0x5410));\n"
    "    return x;\n"
    "#elif GPUSCAN_PACKED == 1\n"
    "    return (a & 0x00ff00ffu) | (b & 0x00ff00ffu) << 8;\n"
    "#else\n"
    "    return (a & 0xffffu) | b << 16;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* A word's prefix sums after what precedes it, *before, which moves past the word. */\n"
    "static inline uint gpuscan_packed_scan(uint word, uint *before) {\n"
    "#if GPUSCAN_PACKED == 1\n"
    "    /* Two sums at a time, 16 bits apart: at the bytes 1 and 3, and from them at the bytes before. */\n"
    "    uint odd = word >> 8 & 0x00ff00ffu, at_odd = (word & 0x00ff00ffu) + odd, at_even, first = *before & 0xffu;\n"
    "    at_odd += at_odd << 16;\n"
    "    at_odd += first * 0x10001u;\n"
    "    at_even = at_odd - odd;\n"
    "    *before = at_odd >> 16;\n"
    "    return GPUSCAN_INCLUSIVE ? gpuscan_packed_join(at_even, at_odd)\n"
    "                             : gpuscan_packed_join(at_odd << 16 | first, at_even);\n"
    "#else\n"
    "    uint first = *before, second = first + word, third = second + (word >> 16); /* their lower halves count */\n"
    "    *before = third;\n"
    "    return GPUSCAN_INCLUSIVE ? gpuscan_packed_join(second, third) : gpuscan_packed_join(first, second);\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* [STATE WORDS] ---------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* Values that one group hands to another within a launch (the tile descriptors of a decoupled look-back). */\n"
    "\n"
    "/* For tests, which define them in a custom text: tiles that publish nothing, and what makes a tile late; how many words\n"
    "   of a tile's value are stored before whoever stores them stops, how many a fallback adds before it stops, and a pause\n"
    "   before word p. */\n"
    "#ifndef GPUSCAN_TEST_SILENT\n"
    "#define GPUSCAN_TEST_SILENT(tile) false\n"
    "#define GPUSCAN_TEST_DELAY(tile)\n"
    "#endif\n"
    "#ifndef GPUSCAN_TEST_STORED\n"
    "#define GPUSCAN_TEST_STORED(tile) GPUSCAN_VALUE_WORDS\n"
    "#define GPUSCAN_TEST_ADDED(tile)  GPUSCAN_VALUE_WORDS\n"
    "#define GPUSCAN_TEST_PAUSE(p)\n"
    "#endif\n"
    "\n",
    "/* A word holds a tag and a payload, some of a value's bits, and is stored and loaded as one, so a reader sees both or\n"
    "   neither. The tag is the call's epoch and a flag: words of earlier calls read as empty, and nothing needs to be\n"
    "   cleared.\n"
    "\n"
    "       64 bits:  [ epoch 30 | flag 2 | 32 bits of the value ]      a value of n bytes takes ceil(n / 4) words\n"
    "       32 bits:  [ epoch 14 | flag 2 | 16 bits of the value ]      ceil(n / 2) words\n"
    "      128 bits:  two words of 64, each with its tag, loaded and stored together, for values of 8 bytes: a reader that\n"
    "                 sees them apart sees different tags, and reads again\n"
    "\n"
    "   One word a value: aggregate and prefix share it, the prefix replaces the aggregate. Several words: each has a slot\n"
    "   of its own, written once, so that a reader never waits for a writer that was stopped half-way.                    */\n"
    "#if GPUSCAN_WORD\n"
    "\n"
    "#define GPUSCAN_EMPTY     0u\n"
    "#define GPUSCAN_AGGREGATE 1u /* the sum of the tile */\n"
    "#define GPUSCAN_PREFIX    2u /* the sum of everything up to the tile's end */\n"
    "\n"
    "#if GPUSCAN_WORD == 32\n"
    "typedef uint gpuscan_word;\n"
    "typedef ushort gpuscan_payload;\n"
    "#define GPUSCAN_TAG_SHIFT                             16\n"
    "#define GPUSCAN_WORD_ADD(p, x)                        atomic_add(p, x)\n"
    "#define GPUSCAN_WORD_EXCHANGE(p, x)                   atomic_xchg(p, x)\n"
    "#define GPUSCAN_WORD_COMPARE_EXCHANGE(p, expected, x) atomic_cmpxchg(p, expected, x)\n"
    "#elif GPUSCAN_WORD == 64\n"
    "typedef ulong gpuscan_word;\n"
    "typedef uint gpuscan_payload;\n"
    "#define GPUSCAN_TAG_SHIFT                             32\n"
    "#define GPUSCAN_WORD_ADD(p, x)                        atom_add(p, x)\n"
    "#define GPUSCAN_WORD_EXCHANGE(p, x)                   atom_xchg(p, x)\n"
    "#define GPUSCAN_WORD_COMPARE_EXCHANGE(p, expected, x) atom_cmpxchg(p, expected, x)\n"
    "#else\n"
    "typedef ulong2 gpuscan_word;\n"
    "typedef ulong gpuscan_payload;\n"
    "#endif\n"
    "\n"
    "#define GPUSCAN_VALUE_WORDS ((GPUSCAN_T_SIZE + (int)sizeof(gpuscan_payload) - 1) / (int)sizeof(gpuscan_payload))\n"
    "#define GPUSCAN_SLOTS (GPUSCAN_VALUE_WORDS == 1 ? 1 : 2)\n"
    "\n"
    "typedef union {\n"
    "    gpuscan_t value;\n"
    "    gpuscan_payload payload[GPUSCAN_VALUE_WORDS];\n"
    "} gpuscan_payloads;\n"
    "\n",
    "static inline gpuscan_word gpuscan_word_load(global gpuscan_word *p) {\n"
    "#if GPUSCAN_WORD == 128\n"
    "    ulong tag, value;\n"
    "    __asm__ volatile(\"ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];\" : \"=l\"(tag), \"=l\"(value) : \"l\"(p) : \"memory\");\n"
    "    return (ulong2)(tag, value);\n"
    "#elif GPUSCAN_PTX && GPUSCAN_WORD == 64\n"
    "    ulong word;\n"
    "    __asm__ volatile(\"ld.relaxed.gpu.global.u64 %0, [%1];\" : \"=l\"(word) : \"l\"(p) : \"memory\");\n"
    "    return word;\n"
    "#else\n"
    "    return GPUSCAN_WORD_ADD((volatile global gpuscan_word *)p, 0); /* OpenCL 1.2 has no atomic load */\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline void gpuscan_word_store(global gpuscan_word *p, gpuscan_word word) {\n"
    "#if GPUSCAN_WORD == 128\n"
    "    __asm__ volatile(\"st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};\" ::\"l\"(p), \"l\"(word.x), \"l\"(word.y) : \"memory\");\n"
    "#elif GPUSCAN_PTX && GPUSCAN_WORD == 64\n"
    "    __asm__ volatile(\"st.relaxed.gpu.global.u64 [%0], %1;\" ::\"l\"(p), \"l\"(word) : \"memory\");\n"
    "#else\n"
    "    GPUSCAN_WORD_EXCHANGE((volatile global gpuscan_word *)p, word);\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline gpuscan_word gpuscan_word_make(uint tag, gpuscan_payload payload) {\n"
    "#if GPUSCAN_WORD == 128\n"
    "    return (ulong2)((ulong)tag << 32 | (uint)payload, (ulong)tag << 32 | payload >> 32);\n"
    "#else\n"
    "    return (gpuscan_word)tag << GPUSCAN_TAG_SHIFT | payload;\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline uint gpuscan_word_tag(gpuscan_word word) {\n"
    "#if GPUSCAN_WORD == 128\n"
    "    return word.x >> 32 == word.y >> 32 ? (uint)(word.x >> 32) : GPUSCAN_EMPTY;\n"
    "#else\n"
    "    return (uint)(word >> GPUSCAN_TAG_SHIFT);\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline gpuscan_payload gpuscan_word_payload(gpuscan_word word) {\n"
    "#if GPUSCAN_WORD == 128\n"
    "    return word.y << 32 | (uint)word.x;\n"
    "#else\n"
    "    return (gpuscan_payload)word;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Each tile's words, slot by slot. */\n"
    "static inline global gpuscan_word *gpuscan_slot(global gpuscan_word *states, uint tile, uint flag) {\n"
    "    uint slot = flag == GPUSCAN_PREFIX ? GPUSCAN_SLOTS - 1 : 0;\n"
    "    return states + ((ulong)tile * GPUSCAN_SLOTS + slot) * GPUSCAN_VALUE_WORDS;\n"
    "}\n"
    "\n"
    "/* A value's words: all, but in tests. */\n"
    "static inline void gpuscan_words_store(global gpuscan_word *slot, uint tag, gpuscan_t value, int words) {\n"
    "    gpuscan_payloads payloads;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int p = 0; p < GPUSCAN_VALUE_WORDS; p++)\n"
    "        payloads.payload[p] = 0;\n"
    "    payloads.value = value;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int p = 0; p < words; p++) {\n"
    "        GPUSCAN_TEST_PAUSE(p);\n"
    "        gpuscan_word_store(slot + p, gpuscan_word_make(tag, payloads.payload[p]));\n"
    "    }\n"
    "}\n"
    "\n",
    "/* Whether the value is there; it is left alone where it is not. */\n"
    "static inline bool gpuscan_words_load(global gpuscan_word *slot, uint tag, gpuscan_t *value) {\n"
    "    gpuscan_payloads payloads;\n"
    "    bool there = true;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int p = 0; p < GPUSCAN_VALUE_WORDS; p++) {\n"
    "        gpuscan_word word = gpuscan_word_load(slot + p);\n"
    "        payloads.payload[p] = gpuscan_word_payload(word);\n"
    "        there = there && gpuscan_word_tag(word) >> 2 == tag >> 2; /* a slot's flags all mean the same */\n"
    "    }\n"
    "    if (there)\n"
    "        *value = payloads.value;\n"
    "    return there;\n"
    "}\n"
    "\n"
    "static inline void gpuscan_publish(global gpuscan_word *states, uint tile, uint epoch, uint flag, gpuscan_t value) {\n"
    "    gpuscan_words_store(gpuscan_slot(states, tile, flag), epoch << 2 | flag, value,\n"
    "                        GPUSCAN_TEST_STORED(tile));\n"
    "}\n"
    "\n"
    "/* The flag of a tile, and its value unless it is empty. */\n"
    "static inline uint gpuscan_observe(global gpuscan_word *states, uint tile, uint epoch, gpuscan_t *value) {\n"
    "#if GPUSCAN_ONE_WORD\n"
    "    gpuscan_payloads payloads;\n"
    "    gpuscan_word word = gpuscan_word_load(gpuscan_slot(states, tile, GPUSCAN_PREFIX));\n"
    "    uint tag = gpuscan_word_tag(word);\n"
    "    payloads.payload[0] = gpuscan_word_payload(word);\n"
    "    *value = payloads.value;\n"
    "    return tag >> 2 == epoch ? tag & 3u : GPUSCAN_EMPTY;\n"
    "#else\n"
    "    for (uint flag = GPUSCAN_PREFIX; flag != GPUSCAN_EMPTY; flag--)\n"
    "        if (gpuscan_words_load(gpuscan_slot(states, tile, flag), epoch << 2 | flag, value))\n"
    "            return flag;\n"
    "    return GPUSCAN_EMPTY;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Publishes a late tile's aggregate for it: the words that are missing, since whoever wrote the others, the tile or\n"
    "   another that waits, may have been stopped; they hold the same bits. So a tile is there after one fallback. In place\n"
    "   the tile may have overwritten its data while they were summed, but it publishes first: so the sum is used only where\n"
    "   neither of the tile's values is there afterwards. tests/look_back.pml is a model of this. */\n"
    "static inline void gpuscan_publish_for(global gpuscan_word *states, uint tile, uint epoch, gpuscan_t value) {\n"
    "    global gpuscan_word *slot = gpuscan_slot(states, tile, GPUSCAN_AGGREGATE);\n"
    "    gpuscan_payloads payloads;\n"
    "    int words = GPUSCAN_TEST_ADDED(tile);\n"
    "    for (int p = 0; p < GPUSCAN_VALUE_WORDS; p++)\n"
    "        payloads.payload[p] = 0;\n"
    "    payloads.value = value;\n"
    "    gpuscan_device_fence();\n"
    "#if !GPUSCAN_ONE_WORD\n"
    "    if (gpuscan_observe(states, tile, epoch, &value) != GPUSCAN_EMPTY)\n"
    "        return;\n"
    "#endif\n"
    "    for (int p = 0; p < GPUSCAN_VALUE_WORDS && words > 0; p++) {\n"
    "        gpuscan_word seen = gpuscan_word_load(slot + p);\n"
    "        gpuscan_word word = gpuscan_word_make(epoch << 2 | GPUSCAN_AGGREGATE, payloads.payload[p]);\n"
    "        if (gpuscan_word_tag(seen) >> 2 == epoch)\n"
    "            continue;\n"
    "#if GPUSCAN_WORD == 128\n"
    "        gpuscan_word_store(slot + p, word);\n"
    "#else\n"
    "        GPUSCAN_WORD_COMPARE_EXCHANGE((volatile global gpuscan_word *)(slot + p), seen, word);\n"
    "#endif\n"
    "        words--;\n"
    "    }\n"
    "}\n"
    "\n",
    "#endif /* GPUSCAN_WORD */\n"
    "\n"
    "/* [LANE SCANS] ----------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "#if !GPUSCAN_CPU\n"
    "\n"
    "#define GPUSCAN_LEVELS /* log2(LANES) */                                                                              \\\n"
    "    (GPUSCAN_LANES >= 64   ? 6                                                                                         \\\n"
    "     : GPUSCAN_LANES >= 32 ? 5                                                                                         \\\n"
    "     : GPUSCAN_LANES >= 16 ? 4                                                                                         \\\n"
    "     : GPUSCAN_LANES >= 8  ? 3                                                                                         \\\n"
    "                           : GPUSCAN_LANES / 2)\n"
    "\n"
    "#if GPUSCAN_SELECT /* elements of 8 bytes are listed behind it: the driver aligns it as its type says */\n"
    "#define GPUSCAN_SHARED_ALIGNED __attribute__((aligned(8)))\n"
    "#else\n"
    "#define GPUSCAN_SHARED_ALIGNED\n"
    "#endif\n"
    "typedef struct {\n"
    "    gpuscan_t sums[GPUSCAN_SUBGROUPS];\n"
    "    gpuscan_t prefix; /* LOADS_AFTER: where a tile is scanned, everything up to its end */\n"
    "#if GPUSCAN_FEW\n"
    "    gpuscan_t windows[GPUSCAN_FEW / GPUSCAN_LANES];\n"
    "#endif\n"
    "#if !GPUSCAN_HAS_LANES\n"
    "    gpuscan_t exchange[2 * GPUSCAN_ITEM_VECTORS * GPUSCAN_GROUP]; /* from one half to the other and back */\n"
    "#endif\n"
    "    uint ticket;\n"
    "    uint turn;\n"
    "#if GPUSCAN_LANES_KIND == GPUSCAN_LANES_LOCAL\n"
    "    uint lanes[GPUSCAN_GROUP];\n"
    "#endif\n"
    "} GPUSCAN_SHARED_ALIGNED gpuscan_shared;\n"
    "\n"
    "#if GPUSCAN_HAS_LANES\n"
    "/* The same for values, 32 bits at a time. */\n"
    "#define GPUSCAN_T_UINTS ((GPUSCAN_T_SIZE + 3) / 4)\n"
    "typedef union {\n"
    "    gpuscan_t value;\n"
    "    uint uints[GPUSCAN_T_UINTS];\n"
    "} gpuscan_uints;\n"
    "\n"
    "#define GPUSCAN_SHUFFLE(name, of_uint)                                                                                 \\\n"
    "    static inline gpuscan_t name##_by(gpuscan_t value, uint lane, local uint *memory) {                                \\\n"
    "        gpuscan_uints in, out;                                                                                         \\\n"
    "        in.uints[GPUSCAN_T_UINTS - 1] = 0;                                                                             \\\n"
    "        in.value = value;                                                                                              \\\n"
    "        for (int p = 0; p < GPUSCAN_T_UINTS; p++)                                                                      \\\n"
    "            out.uints[p] = of_uint(in.uints[p], lane, memory);                                                         \\\n"
    "        return out.value;                                                                                              \\\n"
    "    }\n"
    "GPUSCAN_SHUFFLE(gpuscan_shuffle_up, gpuscan_uint_up)\n"
    "GPUSCAN_SHUFFLE(gpuscan_shuffle_xor, gpuscan_uint_xor)\n"
    "GPUSCAN_SHUFFLE(gpuscan_shuffle, gpuscan_uint_at)\n"
    "/* One of both, by words: a choice of whole structs is one of addresses, which takes them out of registers (NVIDIA). */\n"
    "static inline gpuscan_t gpuscan_pick(bool first, gpuscan_t a, gpuscan_t b) {\n"
    "    gpuscan_uints x, y;\n"
    "    x.uints[GPUSCAN_T_UINTS - 1] = y.uints[GPUSCAN_T_UINTS - 1] = 0;\n"
    "    x.value = a;\n"
    "    y.value = b;\n"
    "    for (int p = 0; p < GPUSCAN_T_UINTS; p++)\n"
    "        x.uints[p] = first ? x.uints[p] : y.uints[p];\n"
    "    return x.value;\n"
    "}\n"
    "\n",
    "/* A lane's value and another lane's; upper: that lane stands before it. */\n"
    "static inline gpuscan_t gpuscan_combine_lanes(bool upper, gpuscan_t own, gpuscan_t other) {\n"
    "#if GPUSCAN_ANY_ORDER\n"
    "    return gpuscan_combine(own, other);\n"
    "#else\n"
    "    return gpuscan_combine(gpuscan_pick(upper, other, own), gpuscan_pick(upper, own, other));\n"
    "#endif\n"
    "}\n"
    "#define gpuscan_shuffle_up(x, d)  gpuscan_shuffle_up_by(x, d, GPUSCAN_LANES_MEMORY)\n"
    "#define gpuscan_shuffle_xor(x, d) gpuscan_shuffle_xor_by(x, d, GPUSCAN_LANES_MEMORY)\n"
    "#define gpuscan_shuffle(x, lane)  gpuscan_shuffle_by(x, lane, GPUSCAN_LANES_MEMORY)\n"
    "#endif\n"
    "\n"
    "/* A window's inclusive scan.\n"
    "   Hillis and Steele, \"Data parallel algorithms\", 1986: the tree has log2(lanes) levels and keeps the order. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_window_scan(gpuscan_t x, local gpuscan_shared *shared) {\n"
    "#if GPUSCAN_HAS_LANES\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = 1; d < GPUSCAN_WINDOW; d *= 2) {\n"
    "        gpuscan_t left = gpuscan_shuffle_up(x, d);\n"
    "        if (GPUSCAN_WINDOW_LANE >= d)\n"
    "            x = gpuscan_combine(left, x);\n"
    "    }\n"
    "#endif\n"
    "    return x;\n"
    "}\n"
    "\n"
    "/* Where a tile ends with what the folding group has found and not with its own prefix and sum, no result need be the\n"
    "   one before it and a sum: see [SCAN AHEAD]. Sums of floats could fall from one tile to the next. */\n"
    "#if GPUSCAN_AHEAD && GPUSCAN_HAS_LANES && !GPUSCAN_ANY_ORDER && !GPUSCAN_FLOAT_SUM\n"
    "#define GPUSCAN_LOADS_AFTER 1\n"
    "#else\n"
    "#define GPUSCAN_LOADS_AFTER 0\n"
    "#endif\n"
    "\n"
    "/* A window's inclusive scan of sums after what precedes them, of which each result must be the one before it and a sum,\n"
    "   with all its bits: so from lane to lane. Else begun before what precedes is known. */\n"
    "#define GPUSCAN_WINDOW_TREE (GPUSCAN_ANY_ORDER || GPUSCAN_LOADS_AFTER)\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_window_begin(gpuscan_t sum, local gpuscan_shared *shared) {\n"
    "    return GPUSCAN_WINDOW_TREE ? gpuscan_window_scan(sum, shared) : sum;\n"
    "}\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_window_end(gpuscan_t prefix, gpuscan_t sum, local gpuscan_shared *shared) {\n"
    "#if GPUSCAN_WINDOW_TREE || !GPUSCAN_HAS_LANES\n"
    "    return gpuscan_combine(prefix, sum);\n"
    "#else\n"
    "    gpuscan_t end = prefix;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint l = 0; l < GPUSCAN_WINDOW; l++) {\n"
    "        prefix = gpuscan_combine(prefix, gpuscan_shuffle(sum, l));\n"
    "        if (l == GPUSCAN_LANE)\n"
    "            end = prefix;\n"
    "    }\n"
    "    return end;\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* For each vector k: the lane's inclusive prefix within the sub-group, in place of x, its exclusive one, and the\n"
    "   sub-group's sum. All vectors take a step of the tree together, so that their latencies overlap.\n"
    "   Sklansky, \"Conditional-sum addition logic\", 1960: of 2d lanes the upper half adds the lower half's sum. */\n"
    "#define GPUSCAN_LOWER_HALF(lane, d) (((lane) | (2 * (d) - 1)) ^ (d)) /* its last lane, for a lane of the upper half */\n"
    "/* Whether a lane of the upper half does so: what it sums begins at most reach lanes before it. */\n"
    "#define GPUSCAN_REACHES(lane, d, reach) (((lane) & (d)) && ((lane) & ((d) - 1)) < (reach))\n"
    "/* reach: for each vector; 0: all lanes are summed. */\n"
    "GPUSCAN_INLINE void gpuscan_lanes_scan_rows(gpuscan_t *x, const uint *reach, gpuscan_t *before, gpuscan_t *sum,\n"
    "                                            local gpuscan_shared *shared) {\n"
    "    uint lane = GPUSCAN_LANE;\n"
    "#if GPUSCAN_HAS_LANES\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = 1; d < GPUSCAN_LANES; d *= 2)\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "#if GPUSCAN_ANY_ORDER /* as fast, and for 64 bits faster: Hillis and Steele's */\n"
    "            gpuscan_t left = gpuscan_shuffle_up(x[k], d);\n"
    "            if (lane >= d && (reach == 0 || reach[k] >= d))\n"
    "#else\n"
    "            gpuscan_t left = gpuscan_shuffle(x[k], GPUSCAN_LOWER_HALF(lane, d));\n"
    "            if (GPUSCAN_REACHES(lane, d, reach ? reach[k] : GPUSCAN_LANES))\n"
    "#endif\n"
    "                x[k] = gpuscan_combine(left, x[k]);\n"
    "        }\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "        before[k] = gpuscan_shuffle_up(x[k], 1);\n"
    "        if (lane == 0)\n"
    "            before[k] = gpuscan_identity();\n"
    "    }\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        sum[k] = gpuscan_shuffle(x[k], GPUSCAN_LANES - 1);\n"
    "#else\n"
    "    local gpuscan_t *from = shared->exchange + GPUSCAN_ITEM, *to = from + GPUSCAN_ITEM_VECTORS * GPUSCAN_GROUP;\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        from[k * GPUSCAN_GROUP] = x[k];\n"
    "    if (!GPUSCAN_PLANTED(BARRIER))\n"
    "        GPUSCAN_BARRIER();\n"
    "    for (uint d = 1; d < GPUSCAN_LANES; d *= 2) {\n"
    "        local gpuscan_t *swap = from;\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS * GPUSCAN_GROUP; k += GPUSCAN_GROUP)\n"
    "            to[k] = GPUSCAN_REACHES(lane, d, reach ? reach[k / GPUSCAN_GROUP] : GPUSCAN_LANES)\n"
    "                        ? gpuscan_combine(from[k - (int)lane + (int)GPUSCAN_LOWER_HALF(lane, d)], from[k])\n"
    "                        : from[k];\n"
    "        from = to;\n"
    "        to = swap;\n"
    "        GPUSCAN_BARRIER();\n"
    "    }\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "        x[k] = from[k * GPUSCAN_GROUP];\n"
    "        sum[k] = from[k * GPUSCAN_GROUP - (int)lane + GPUSCAN_LANES - 1];\n"
    "        before[k] = lane == 0 ? gpuscan_identity() : from[k * GPUSCAN_GROUP - (lane == 0 ? 0 : 1)];\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "#endif\n"
    "}\n"
    "\n",
    "GPUSCAN_INLINE void gpuscan_lanes_scan(gpuscan_t *x, gpuscan_t *before, gpuscan_t *sum, local gpuscan_shared *shared) {\n"
    "    gpuscan_lanes_scan_rows(x, 0, before, sum, shared);\n"
    "}\n"
    "\n"
    "/* In how many lanes different vectors are summed while each step leaves a lane half of those that it has, as often as\n"
    "   ITEM_VECTORS can be halved; and the vectors that a lane has left after the step of d lanes. */\n"
    "#define GPUSCAN_VECTORS_EVEN  (GPUSCAN_ITEM_VECTORS & -GPUSCAN_ITEM_VECTORS)\n"
    "#define GPUSCAN_VECTORS_APART (uint)(GPUSCAN_VECTORS_EVEN < GPUSCAN_LANES ? GPUSCAN_VECTORS_EVEN : GPUSCAN_LANES)\n"
    "#define GPUSCAN_VECTORS_KEPT(d)                                                                                        \\\n"
    "    (GPUSCAN_ITEM_VECTORS / (int)(2 * (d) < GPUSCAN_VECTORS_APART ? 2 * (d) : GPUSCAN_VECTORS_APART))\n"
    "\n"
    "/* The sums alone: the same tree, hence the same bits. Of two vectors a lane keeps one and hands the other to its\n"
    "   neighbour, so that both sum: 4 + 2 + 1 + 1 + 1 exchanges for eight vectors and 32 lanes, and not 5 * 8. */\n"
    "GPUSCAN_INLINE void gpuscan_lanes_sum(const gpuscan_t *x, gpuscan_t *sum, local gpuscan_shared *shared) {\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    gpuscan_t kept[GPUSCAN_ITEM_VECTORS];\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        kept[k] = x[k];\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = 1; d < GPUSCAN_LANES; d *= 2) {\n"
    "        bool upper = (GPUSCAN_LANE & d) != 0;\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_VECTORS_KEPT(d); k++) {\n"
    "            if (2 * d <= GPUSCAN_VECTORS_APART) {\n"
    "                gpuscan_t other = gpuscan_shuffle_xor(gpuscan_pick(upper, kept[2 * k], kept[2 * k + 1]), d);\n"
    "                kept[k] = gpuscan_combine_lanes(upper, gpuscan_pick(upper, kept[2 * k + 1], kept[2 * k]), other);\n"
    "            } else {\n"
    "                kept[k] = gpuscan_combine_lanes(upper, kept[k], gpuscan_shuffle_xor(kept[k], d));\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ITEM_VECTORS; k++) /* the lowest bits of the lanes that hold it say which it is */\n"
    "        sum[k] = gpuscan_shuffle(kept[k / GPUSCAN_VECTORS_APART], k % GPUSCAN_VECTORS_APART);\n"
    "#else\n"
    "    gpuscan_t scanned[GPUSCAN_ITEM_VECTORS], before[GPUSCAN_ITEM_VECTORS];\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        scanned[k] = x[k];\n"
    "    gpuscan_lanes_scan(scanned, before, sum, shared);\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* The same for one value a lane. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_lanes_sum_one(gpuscan_t x, local gpuscan_shared *shared) {\n"
    "#if GPUSCAN_HAS_LANES\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = 1; d < GPUSCAN_LANES; d *= 2)\n"
    "        x = gpuscan_combine_lanes((GPUSCAN_LANE & d) != 0, x, gpuscan_shuffle_xor(x, d));\n"
    "    return x;\n"
    "#else\n"
    "    gpuscan_t values[GPUSCAN_ITEM_VECTORS], sum[GPUSCAN_ITEM_VECTORS];\n"
    "    values[0] = x;\n"
    "    for (int k = 1; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        values[k] = gpuscan_identity();\n"
    "    gpuscan_lanes_sum(values, sum, shared);\n"
    "    return sum[0];\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* From what gpuscan_group_share has put there: the sum of the sub-groups before this one, and of all. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_group_before(gpuscan_t *total, local gpuscan_shared *shared) {\n"
    "    gpuscan_t before = gpuscan_identity(), all;\n"
    "#if GPUSCAN_HAS_LANES && GPUSCAN_ANY_ORDER\n"
    "    all = gpuscan_identity();\n"
    "    if (GPUSCAN_LANE < GPUSCAN_SUBGROUPS)\n"
    "        all = shared->sums[GPUSCAN_LANE];\n"
    "    all = gpuscan_window_scan(all, shared);\n"
    "    before = gpuscan_shuffle(all, GPUSCAN_SUBGROUP == 0 ? 0 : GPUSCAN_SUBGROUP - 1);\n"
    "    if (GPUSCAN_SUBGROUP == 0)\n"
    "        before = gpuscan_identity();\n"
    "    *total = gpuscan_shuffle(all, GPUSCAN_SUBGROUPS - 1);\n"
    "#else\n"
    "    all = shared->sums[0];\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint s = 1; s < GPUSCAN_SUBGROUPS; s++) {\n"
    "        if (s == GPUSCAN_SUBGROUP)\n"
    "            before = all;\n"
    "        all = gpuscan_combine(all, shared->sums[s]);\n"
    "    }\n"
    "    *total = all;\n"
    "#endif\n"
    "    return before;\n"
    "}\n"
    "\n"
    "static inline void gpuscan_group_share(gpuscan_t sum, local gpuscan_shared *shared) {\n"
    "    if (GPUSCAN_LANE == 0)\n"
    "        shared->sums[GPUSCAN_SUBGROUP] = sum;\n"
    "    GPUSCAN_BARRIER();\n"
    "}\n"
    "\n"
    "/* From each sub-group's sum: the sum of the sub-groups before this one, and of all. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_group_prefix(gpuscan_t sum, gpuscan_t *total, local gpuscan_shared *shared) {\n"
    "    gpuscan_t before;\n"
    "    gpuscan_group_share(sum, shared);\n"
    "    before = gpuscan_group_before(total, shared);\n"
    "#if !GPUSCAN_SCAN_SINGLE_PASS\n"
    "    GPUSCAN_BARRIER(); /* the group's next tile writes there again */\n"
    "#endif\n"
    "    return before;\n"
    "}\n"
    "\n",
    "/* [GROUP TILES] ---------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* Each sub-group owns ITEM_VECTORS * LANES * VECTOR consecutive elements. A lane's vectors are not neighbours: all\n"
    "   lanes' vectors k lie side by side, so that every load and store of a sub-group is contiguous and nothing has to be\n"
    "   transposed (a striped arrangement of vectors):\n"
    "\n"
    "       vector 0:  lane 0: e0 e1 e2 e3 | lane 1: e4 e5 e6 e7 | ... | lane 31: e124 ... e127\n"
    "       vector 1:  lane 0: e128 ...                                                                                   */\n"
    "\n"
    "#if GPUSCAN_SRC_NARROW && defined(__ENDIAN_LITTLE__) && defined(GPUSCAN_SRC_RAW) && GPUSCAN_SRC_RAW_SIZE >= 4\n"
    "#define GPUSCAN_SRC_WORDS 1\n"
    "#endif\n"
    "#if GPUSCAN_DST_NARROW && defined(__ENDIAN_LITTLE__) && defined(GPUSCAN_DST_RAW) && GPUSCAN_DST_RAW_SIZE >= 4\n"
    "#define GPUSCAN_DST_WORDS 1\n"
    "#endif\n"
    "typedef union {\n"
    "    gpuscan_src element[GPUSCAN_VECTOR];\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "    GPUSCAN_SRC_RAW raw;\n"
    "#endif\n"
    "#if GPUSCAN_PACKED_HERE || GPUSCAN_SRC_WORDS\n"
    "    uint word[GPUSCAN_SRC_RAW_SIZE / 4];\n"
    "#endif\n"
    "} gpuscan_src_vector;\n"
    "\n"
    "typedef union {\n"
    "    gpuscan_dst element[GPUSCAN_VECTOR];\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "    GPUSCAN_DST_RAW raw;\n"
    "#endif\n"
    "#if (GPUSCAN_PACKED_HERE && GPUSCAN_PACKED_DST) || GPUSCAN_DST_WORDS\n"
    "    uint word[GPUSCAN_DST_RAW_SIZE / 4];\n"
    "#endif\n"
    "} gpuscan_dst_vector;\n"
    "\n"
    "/* Element v of a vector. Small ones are cut out of words: arrays of them do not stay in registers (NVIDIA). */\n"
    "#define GPUSCAN_PART_SHIFT(type, v)        ((v) * (uint)sizeof(type) % 4 * 8)\n"
    "#define GPUSCAN_PART_MASK(type)            (sizeof(type) == 1 ? 0xffu : 0xffffu)\n"
    "#define GPUSCAN_PART_WORD(vector, type, v) (vector)->word[(v) * (uint)sizeof(type) / 4]\n"
    "static inline gpuscan_src gpuscan_src_at(const gpuscan_src_vector *vector, uint v) {\n"
    "#if GPUSCAN_SRC_WORDS\n"
    "    return (gpuscan_src)(GPUSCAN_PART_WORD(vector, gpuscan_src, v) >> GPUSCAN_PART_SHIFT(gpuscan_src, v));\n"
    "#else\n"
    "    return vector->element[v];\n"
    "#endif\n"
    "}\n"
    "static inline void gpuscan_src_put(gpuscan_src_vector *vector, uint v, gpuscan_src x) {\n"
    "#if GPUSCAN_SRC_WORDS\n"
    "    uint mask = GPUSCAN_PART_MASK(gpuscan_src), shift = GPUSCAN_PART_SHIFT(gpuscan_src, v);\n"
    "    uint word = GPUSCAN_PART_WORD(vector, gpuscan_src, v) & ~(mask << shift);\n"
    "    GPUSCAN_PART_WORD(vector, gpuscan_src, v) = word | ((uint)x & mask) << shift;\n"
    "#else\n"
    "    vector->element[v] = x;\n"
    "#endif\n"
    "}\n"
    "static inline gpuscan_dst gpuscan_dst_at(const gpuscan_dst_vector *vector, uint v) {\n"
    "#if GPUSCAN_DST_WORDS\n"
    "    return (gpuscan_dst)(GPUSCAN_PART_WORD(vector, gpuscan_dst, v) >> GPUSCAN_PART_SHIFT(gpuscan_dst, v));\n"
    "#else\n"
    "    return vector->element[v];\n"
    "#endif\n"
    "}\n"
    "/* In ascending order of v: each word's first clears it. */\n"
    "static inline void gpuscan_dst_put(gpuscan_dst_vector *vector, uint v, gpuscan_dst x) {\n"
    "#if GPUSCAN_DST_WORDS\n"
    "    uint part = ((uint)x & GPUSCAN_PART_MASK(gpuscan_dst)) << GPUSCAN_PART_SHIFT(gpuscan_dst, v);\n"
    "    uint word = GPUSCAN_PART_SHIFT(gpuscan_dst, v) == 0 ? 0 : GPUSCAN_PART_WORD(vector, gpuscan_dst, v);\n"
    "    GPUSCAN_PART_WORD(vector, gpuscan_dst, v) = word | part;\n"
    "#else\n"
    "    vector->element[v] = x;\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* Where lanes exchange fast, only one of both is kept. */\n"
    "#define GPUSCAN_BEFORE_FROM_END (GPUSCAN_LANES_APART && !GPUSCAN_ANY_ORDER && !GPUSCAN_SCAN_ROWS)\n"
    "\n"
    "typedef struct {\n"
    "    gpuscan_src_vector vector[GPUSCAN_ITEM_VECTORS];\n"
    "#if !GPUSCAN_BEFORE_FROM_END\n"
    "    gpuscan_t before[GPUSCAN_ITEM_VECTORS]; /* what precedes each vector among the sub-group's elements */\n"
    "#endif\n"
    "    gpuscan_t group; /* what precedes the sub-group's elements; put before them already unless ANY_ORDER */\n"
    "#if !GPUSCAN_ANY_ORDER\n"
    "    gpuscan_t end[GPUSCAN_ITEM_VECTORS]; /* as before, and the vector: what precedes the next lane's */\n"
    "#endif\n"
    "    uint rising; /* FLOAT_SUM: a bit for each vector without a negative element */\n"
    "#if GPUSCAN_SELECT\n"
    "    uint mask[GPUSCAN_ITEM_VECTORS]; /* a bit for each element of a vector that is kept: see [SELECT] */\n"
    "#endif\n"
    "} gpuscan_tile;\n"
    "\n"
    "/* How long what is loaded is wanted: until it is read again (KEEP), or not after this (LAST). Where a device has no\n"
    "   such hints, or none for vectors of this size, all loads are alike. */\n"
    "#if GPUSCAN_PTX\n"
    "static inline ulong gpuscan_policy_keep(void) {\n"
    "    ulong policy;\n"
    "    __asm__ volatile(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(policy));\n"
    "    return policy;\n"
    "}\n"
    "static inline ulong gpuscan_policy_last(void) {\n"
    "    ulong policy;\n"
    "    __asm__ volatile(\"createpolicy.fractional.L2::evict_first.b64 %0, 1.0;\" : \"=l\"(policy));\n"
    "    return policy;\n"
    "}\n"
    "static inline ulong gpuscan_policy_normal(void) {\n"
    "    ulong policy;\n"
    "    __asm__ volatile(\"createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;\" : \"=l\"(policy));\n"
    "    return policy;\n"
    "}\n"
    "#else\n"
    "#define gpuscan_policy_keep()   0\n"
    "#define gpuscan_policy_last()   0\n"
    "#define gpuscan_policy_normal() 0\n"
    "#endif\n"
    "\n"
    "#define GPUSCAN_LOAD_HINTED \"ld.global.L1::no_allocate.L2::cache_hint.\"\n"
    "static inline uint4 gpuscan_load_hinted(global const uint4 *p, ulong policy) {\n"
    "#if GPUSCAN_PTX\n"
    "    uint4 x;\n"
    "    __asm__ volatile(GPUSCAN_LOAD_HINTED \"v4.u32 {%0, %1, %2, %3}, [%4], %5;\"\n"
    "                     : \"=r\"(x.x), \"=r\"(x.y), \"=r\"(x.z), \"=r\"(x.w)\n"
    "                     : \"l\"(p), \"l\"(policy));\n"
    "    return x;\n"
    "#else\n"
    "    return *p;\n"
    "#endif\n"
    "}\n"
    "\n",
    "#ifdef GPUSCAN_SRC_RAW\n"
    "static inline GPUSCAN_SRC_RAW gpuscan_load_vector(global const gpuscan_src *p, ulong policy) {\n"
    "#if GPUSCAN_PTX && GPUSCAN_SRC_RAW_SIZE == 16 && GPUSCAN_SRC_RAW_ULONGS\n"
    "    ulong2 x;\n"
    "    __asm__ volatile(GPUSCAN_LOAD_HINTED \"v2.u64 {%0, %1}, [%2], %3;\" : \"=l\"(x.x), \"=l\"(x.y) : \"l\"(p), \"l\"(policy));\n"
    "    return x;\n"
    "#elif GPUSCAN_PTX && GPUSCAN_SRC_RAW_SIZE == 16\n"
    "    return gpuscan_load_hinted((global const uint4 *)p, policy);\n"
    "#elif GPUSCAN_PTX && GPUSCAN_SRC_RAW_SIZE == 8 && !GPUSCAN_SRC_RAW_ULONGS\n"
    "    uint2 x;\n"
    "    __asm__ volatile(GPUSCAN_LOAD_HINTED \"v2.u32 {%0, %1}, [%2], %3;\" : \"=r\"(x.x), \"=r\"(x.y) : \"l\"(p), \"l\"(policy));\n"
    "    return x;\n"
    "#elif GPUSCAN_PTX && GPUSCAN_SRC_RAW_SIZE == 32\n"
    "    uint8 x;\n"
    "    x.lo = gpuscan_load_hinted((global const uint4 *)p, policy);\n"
    "    x.hi = gpuscan_load_hinted((global const uint4 *)p + 1, policy);\n"
    "    return x;\n"
    "#elif GPUSCAN_PTX && GPUSCAN_SRC_RAW_SIZE == 4\n"
    "    uint x;\n"
    "    __asm__ volatile(GPUSCAN_LOAD_HINTED \"u32 %0, [%1], %2;\" : \"=r\"(x) : \"l\"(p), \"l\"(policy));\n"
    "    return x;\n"
    "#else\n"
    "    return *(global const GPUSCAN_SRC_RAW *)p;\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* What is not read again soon, past the cache where that can be said. */\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "#if GPUSCAN_PTX\n"
    "static inline void gpuscan_store_past(global uint4 *p, uint4 x) {\n"
    "    __asm__ volatile(\"st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};\" ::\"l\"(p), \"r\"(x.x), \"r\"(x.y), \"r\"(x.z), \"r\"(x.w)\n"
    "                     : \"memory\");\n"
    "}\n"
    "#endif\n"
    "static inline void gpuscan_store_vector(global gpuscan_dst *p, GPUSCAN_DST_RAW x) {\n"
    "#if GPUSCAN_PTX && GPUSCAN_DST_RAW_SIZE == 32\n"
    "    gpuscan_store_past((global uint4 *)p, x.lo);\n"
    "    gpuscan_store_past((global uint4 *)p + 1, x.hi);\n"
    "#elif GPUSCAN_PTX && GPUSCAN_DST_RAW_SIZE == 16 && GPUSCAN_DST_RAW_ULONGS\n"
    "    __asm__ volatile(\"st.global.cs.v2.u64 [%0], {%1, %2};\" ::\"l\"(p), \"l\"(x.x), \"l\"(x.y) : \"memory\");\n"
    "#elif GPUSCAN_PTX && GPUSCAN_DST_RAW_SIZE == 16\n"
    "    gpuscan_store_past((global uint4 *)p, x);\n"
    "#else\n"
    "    *(global GPUSCAN_DST_RAW *)p = x;\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "\n"
    "#define GPUSCAN_VECTOR_STRIDE (GPUSCAN_LANES * GPUSCAN_VECTOR)\n"
    "\n",
    "/* Vectors of 16 bytes that are not aligned so: the lanes load or store the aligned ones and hand each other the rest.\n"
    "   An element at a time, stores write each 32 bytes several times (H200, u32, dst an element off: 353 us instead of\n"
    "   150). Only where the host sees such offsets: more code costs small scans time. */\n"
    "#if GPUSCAN_SHIFTS && GPUSCAN_PTX && GPUSCAN_SRC_RAW_SIZE == 16\n"
    "#define GPUSCAN_SHIFTS_SRC 1\n"
    "#else\n"
    "#define GPUSCAN_SHIFTS_SRC 0\n"
    "#endif\n"
    "#if GPUSCAN_SHIFTS && GPUSCAN_PTX && GPUSCAN_DST_RAW_SIZE == 16\n"
    "#define GPUSCAN_SHIFTS_DST 1\n"
    "#else\n"
    "#define GPUSCAN_SHIFTS_DST 0\n"
    "#endif\n"
    "#if GPUSCAN_SHIFTS_SRC || GPUSCAN_SHIFTS_DST\n"
    "/* The last `bytes` bytes of a, and then b. */\n"
    "GPUSCAN_INLINE uint4 gpuscan_shifted(uint4 a, uint4 b, uint bytes) {\n"
    "    uint bits = bytes % 4 * 8, z0, z1, z2, z3, z4;\n"
    "    /* whole words first: z0 to z4 begin with the one that the bytes begin in, or end before */\n"
    "    bool by_two = bytes & 8, by_one = bytes & 4;\n"
    "    uint y0 = by_two ? a.x : a.z, y1 = by_two ? a.y : a.w, y2 = by_two ? a.z : b.x, y3 = by_two ? a.w : b.y;\n"
    "    uint y4 = by_two ? b.x : b.z, y5 = by_two ? b.y : b.w;\n"
    "    z0 = by_one ? y0 : y1;\n"
    "    z1 = by_one ? y1 : y2;\n"
    "    z2 = by_one ? y2 : y3;\n"
    "    z3 = by_one ? y3 : y4;\n"
    "    z4 = by_one ? y4 : y5;\n"
    "    if (bits == 0)\n"
    "        return (uint4)(z1, z2, z3, z4);\n"
    "    return (uint4)(z0 >> (32 - bits) | z1 << bits, z1 >> (32 - bits) | z2 << bits, z2 >> (32 - bits) | z3 << bits,\n"
    "                   z3 >> (32 - bits) | z4 << bits);\n"
    "}\n"
    "\n"
    "/* Of another lane of the sub-group. */\n"
    "GPUSCAN_INLINE uint4 gpuscan_shuffle_vector(uint4 x, uint lane) {\n"
    "    return (uint4)(gpuscan_uint_at(x.x, lane, 0), gpuscan_uint_at(x.y, lane, 0), gpuscan_uint_at(x.z, lane, 0),\n"
    "                   gpuscan_uint_at(x.w, lane, 0));\n"
    "}\n"
    "#endif\n"
    "#if GPUSCAN_SHIFTS_SRC\n"
    "typedef union {\n"
    "    GPUSCAN_SRC_RAW raw;\n"
    "    uint4 words;\n"
    "} gpuscan_src_words;\n"
    "\n"
    "/* past: the bytes by which each vector begins behind an aligned one. */\n"
    "GPUSCAN_INLINE void gpuscan_tile_fetch_shifted(gpuscan_tile *tile, global const gpuscan_src *from, uint past,\n"
    "                                               ulong policy) {\n"
    "    global const uint4 *aligned = (global const uint4 *)((global const uchar *)from - past);\n"
    "    uint4 loaded[GPUSCAN_ITEM_VECTORS], behind = (uint4)(0);\n"
    "    uint lane = GPUSCAN_LANE;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        loaded[k] = gpuscan_load_hinted(aligned + k * GPUSCAN_LANES, policy);\n"
    "    if (lane == GPUSCAN_LANES - 1) /* behind the sub-group's last */\n"
    "        behind = gpuscan_load_hinted(aligned + (GPUSCAN_ITEM_VECTORS - 1) * GPUSCAN_LANES + 1, policy);\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = GPUSCAN_ITEM_VECTORS - 1; k >= 0; k--) {\n"
    "        gpuscan_src_words out;\n"
    "        uint4 next = gpuscan_shuffle_vector(lane == 0 ? behind : loaded[k], (lane + 1) % GPUSCAN_LANES);\n"
    "        if (k == GPUSCAN_ITEM_VECTORS - 1 && lane == GPUSCAN_LANES - 1)\n"
    "            next = behind;\n"
    "        out.words =\n"
    "            gpuscan_shifted(loaded[k], next, 16 - past - (GPUSCAN_PLANTED(UNALIGNED) ? sizeof(gpuscan_src) : 0));\n"
    "        tile->vector[k].raw = out.raw;\n"
    "        behind = loaded[k]; /* the first lane's comes behind the last lane's before */\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "#if GPUSCAN_SHIFTS_DST\n"
    "typedef union {\n"
    "    GPUSCAN_DST_RAW raw;\n"
    "    uint4 words;\n"
    "} gpuscan_dst_words;\n"
    "\n",
    "/* Stores vector k; before: the lane's vector k - 1. */\n"
    "GPUSCAN_INLINE void gpuscan_vector_store_shifted(global gpuscan_dst *to, uint past, int k,\n"
    "                                                 const gpuscan_dst_vector *vector, GPUSCAN_DST_RAW before) {\n"
    "    uint lane = GPUSCAN_LANE, own = GPUSCAN_VECTOR - past / (uint)sizeof(gpuscan_dst); /* elements in its aligned one */\n"
    "    gpuscan_dst_words out, last;\n"
    "    uint4 handed;\n"
    "    out.raw = vector->raw;\n"
    "    last.raw = before;\n"
    "    handed = lane == GPUSCAN_LANES - 1 ? last.words : out.words; /* the first lane's comes from the last */\n"
    "    handed = gpuscan_shuffle_vector(handed, (lane + GPUSCAN_LANES - 1) % GPUSCAN_LANES);\n"
    "    if (k != 0 || lane != 0) {\n"
    "        gpuscan_dst_words shifted;\n"
    "        shifted.words = gpuscan_shifted(handed, out.words, past);\n"
    "        gpuscan_store_vector((global gpuscan_dst *)((global uchar *)to - past), shifted.raw);\n"
    "    } else { /* what is before belongs to others */\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "            if (v < own)\n"
    "                to[v] = gpuscan_dst_at(vector, v);\n"
    "    }\n"
    "    if (k == GPUSCAN_ITEM_VECTORS - 1 && lane == GPUSCAN_LANES - 1) {\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "            if (v >= own)\n"
    "                to[v] = gpuscan_dst_at(vector, v);\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* Where in the tile a lane's first vector begins: what is called `own` below. */\n"
    "static inline uint gpuscan_lane_first(uint subgroup, uint lane) {\n"
    "    return subgroup * (GPUSCAN_ITEM_VECTORS * GPUSCAN_VECTOR_STRIDE) + lane * GPUSCAN_VECTOR;\n"
    "}\n"
    "#define GPUSCAN_OWN_FIRST gpuscan_lane_first(GPUSCAN_SUBGROUP, GPUSCAN_LANE)\n"
    "\n"
    "/* Elements of the tile that begins at first; 32 bits, since a lane compares often with it. */\n"
    "static inline uint gpuscan_tile_left(ulong first, ulong count) {\n"
    "    return first >= count ? 0 : (uint)min(count - first, (ulong)GPUSCAN_TILE);\n"
    "}\n"
    "\n"
    "/* A vector of which left elements are there, or of a buffer that is not aligned for whole vectors. */\n"
    "GPUSCAN_INLINE void gpuscan_vector_fetch(gpuscan_src_vector *vector, global const gpuscan_src *from, uint left) {\n"
    "#if GPUSCAN_PACKED_HERE /* what is not there is 0, which adds nothing */\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint w = 0; w < GPUSCAN_SRC_RAW_SIZE / 4; w++) {\n"
    "        uint word = 0;\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint v = 0; v < 4 / GPUSCAN_PACKED; v++)\n"
    "            if (w * (4 / GPUSCAN_PACKED) + v < left)\n"
    "                word |= (from[w * (4 / GPUSCAN_PACKED) + v] & (GPUSCAN_PACKED == 1 ? 0xffu : 0xffffu))\n"
    "                        << 8 * GPUSCAN_PACKED * v;\n"
    "        vector->word[w] = word;\n"
    "    }\n"
    "#else\n"
    "    gpuscan_src_vector padded;\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "    padded.raw = (GPUSCAN_SRC_RAW)(0);\n"
    "#endif\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "        if (v < left)\n"
    "            gpuscan_src_put(&padded, v, from[v]);\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "    vector->raw = padded.raw;\n"
    "#else\n"
    "    *vector = padded;\n"
    "#endif\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* How many elements are left past some of the tile's: more than a vector's count as a whole vector. */\n"
    "static inline uint gpuscan_left_past(uint left, uint past) {\n"
    "    return left > past ? left - past : 0;\n"
    "}\n"
    "\n"
    "/* Full tiles load and store all vectors under one branch: with a guard for each, one waits for the other. In part of a\n"
    "   tile whole vectors are worth the guard from four elements on (H200, 2^28 bytes in rows of 20,000 u32: 145 us, an\n"
    "   element at a time 164; in rows of 5000 u64: 168 and 144). */\n"
    "#define GPUSCAN_PART_VECTORS (GPUSCAN_VECTOR >= 4)\n"
    "GPUSCAN_INLINE void gpuscan_tile_fetch_by(gpuscan_tile *tile, global const gpuscan_src *src, ulong first, ulong count,\n"
    "                                          uint own, ulong policy) {\n"
    "    global const gpuscan_src *from = src + first + own;\n"
    "    uint left = gpuscan_tile_left(first, count);\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "    if (left == GPUSCAN_TILE && ((size_t)src & (GPUSCAN_SRC_RAW_SIZE - 1)) == 0) {\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            tile->vector[k].raw = gpuscan_load_vector(from + k * GPUSCAN_VECTOR_STRIDE, policy);\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "#if GPUSCAN_SHIFTS_SRC\n"
    "    if (left == GPUSCAN_TILE) {\n"
    "        gpuscan_tile_fetch_shifted(tile, from, (uint)(size_t)src & 15, policy);\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    if (GPUSCAN_PLANTED(UNALIGNED) && left == GPUSCAN_TILE)\n"
    "        from++;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "        uint there = gpuscan_left_past(left, own + k * GPUSCAN_VECTOR_STRIDE);\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "        if (GPUSCAN_PART_VECTORS && there >= GPUSCAN_VECTOR && ((size_t)src & (GPUSCAN_SRC_RAW_SIZE - 1)) == 0)\n"
    "            tile->vector[k].raw = gpuscan_load_vector(from + k * GPUSCAN_VECTOR_STRIDE, policy);\n"
    "        else\n"
    "#endif\n"
    "            gpuscan_vector_fetch(&tile->vector[k], from + k * GPUSCAN_VECTOR_STRIDE, there);\n"
    "    }\n"
    "}\n"
    "\n"
    "GPUSCAN_INLINE void gpuscan_tile_fetch(gpuscan_tile *tile, global const gpuscan_src *src, ulong first, ulong count,\n"
    "                                       uint own) {\n"
    "    gpuscan_tile_fetch_by(tile, src, first, count, own, gpuscan_policy_normal());\n"
    "}\n"
    "\n",
    "#if GPUSCAN_SELECT\n"
    "#if GPUSCAN_FLAG_BYTES && defined(__ENDIAN_LITTLE__) && GPUSCAN_SRC_WORDS\n"
    "/* Of a word's four bytes those that are not 0, as four bits: the highest bits of the bytes come together by a\n"
    "   multiplication. */\n"
    "static inline uint gpuscan_nibble(uint word) {\n"
    "    uint high = (word | ((word & 0x7f7f7f7fu) + 0x7f7f7f7fu)) & 0x80808080u;\n"
    "    return (high * 0x00204081u) >> 28;\n"
    "}\n"
    "#define GPUSCAN_NIBBLES 1\n"
    "#endif\n"
    "\n"
    "/* A bit for each element of a vector that is kept, and of a word of flags. */\n"
    "GPUSCAN_INLINE uint gpuscan_vector_mask(const gpuscan_src_vector *vector, ulong i) {\n"
    "    uint mask = 0;\n"
    "#if GPUSCAN_BITS\n"
    "    mask = GPUSCAN_INVERT ? ~vector->element[0] : vector->element[0];\n"
    "#elif GPUSCAN_NIBBLES\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint w = 0; w < GPUSCAN_SRC_RAW_SIZE / 4; w++)\n"
    "        mask |= gpuscan_nibble(vector->word[w]) << 4 * w;\n"
    "    if (GPUSCAN_INVERT)\n"
    "        mask ^= 0xffffu >> (16 - GPUSCAN_VECTOR);\n"
    "#else\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "        mask |= (gpuscan_convert(gpuscan_src_at(vector, v), i + v) != 0 ? 1u : 0u) << v;\n"
    "#endif\n"
    "    return mask;\n"
    "}\n"
    "\n"
    "/* How many they are. */\n"
    "GPUSCAN_INLINE uint gpuscan_vector_count(const gpuscan_src_vector *vector, ulong i) {\n"
    "#if GPUSCAN_BITS || GPUSCAN_NIBBLES\n"
    "    return popcount(gpuscan_vector_mask(vector, i));\n"
    "#else\n"
    "    uint sum = 0;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "        sum += gpuscan_convert(gpuscan_src_at(vector, v), i + v) != 0 ? 1u : 0u;\n"
    "    return sum;\n"
    "#endif\n"
    "}\n"
    "\n"
    "GPUSCAN_INLINE uint gpuscan_vector_mask_left(const gpuscan_src_vector *vector, ulong i, uint left) {\n"
    "#if GPUSCAN_BITS\n"
    "    return left > 0 ? gpuscan_vector_mask(vector, i) : 0;\n"
    "#else\n"
    "    uint mask = 0;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "        if (v < left)\n"
    "            mask |= (gpuscan_convert(gpuscan_src_at(vector, v), i + v) != 0 ? 1u : 0u) << v;\n"
    "    return mask;\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* The sum of a lane's vector that begins at element i. The second: of the left elements that are there. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_vector_sum(const gpuscan_src_vector *vector, ulong i) {\n"
    "#if GPUSCAN_SELECT\n"
    "    return popcount(gpuscan_vector_mask(vector, i));\n"
    "#elif GPUSCAN_PACKED_HERE\n"
    "    uint sum = 0;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int w = 0; w < GPUSCAN_SRC_RAW_SIZE / 4; w++)\n"
    "        sum = gpuscan_packed_sum(vector->word[w], sum);\n"
    "    return (gpuscan_t)sum;\n"
    "#else\n"
    "    gpuscan_t sum = gpuscan_convert(gpuscan_src_at(vector, 0), i);\n"
    "GPUSCAN_UNROLL\n"
    "    for (int v = 1; v < GPUSCAN_VECTOR; v++)\n"
    "        sum = gpuscan_combine(sum, gpuscan_convert(gpuscan_src_at(vector, v), i + v));\n"
    "    return sum;\n"
    "#endif\n"
    "}\n"
    "\n",
    "GPUSCAN_INLINE gpuscan_t gpuscan_vector_sum_left(const gpuscan_src_vector *vector, ulong i, uint left) {\n"
    "#if GPUSCAN_SELECT\n"
    "    return popcount(gpuscan_vector_mask_left(vector, i, left));\n"
    "#elif GPUSCAN_PACKED_HERE\n"
    "    return gpuscan_vector_sum(vector, i);\n"
    "#else\n"
    "    gpuscan_t sum = gpuscan_identity();\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "        if (v < left) {\n"
    "            gpuscan_t x = gpuscan_convert(gpuscan_src_at(vector, v), i + v);\n"
    "            sum = v == 0 ? x : gpuscan_combine(sum, x);\n"
    "        }\n"
    "    return sum;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* 1 where no element is negative, of those that are there. */\n"
    "GPUSCAN_INLINE uint gpuscan_vector_rises(const gpuscan_src_vector *vector, ulong i, uint left) {\n"
    "    bool rises = true;\n"
    "#if GPUSCAN_FLOAT_SUM\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "        if (v < left)\n"
    "            rises = rises && gpuscan_convert(gpuscan_src_at(vector, v), i + v) >= 0;\n"
    "#endif\n"
    "    return rises;\n"
    "}\n"
    "\n"
    "/* The sum of each of a lane's vectors, and whether its elements rise. */\n"
    "GPUSCAN_INLINE void gpuscan_tile_lane_sums(gpuscan_tile *tile, ulong first, ulong count, uint own, gpuscan_t *sums) {\n"
    "    ulong at = first + own;\n"
    "    uint left = gpuscan_tile_left(first, count);\n"
    "    tile->rising = 0;\n"
    "#if GPUSCAN_SELECT\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "        uint there = gpuscan_left_past(left, own + k * GPUSCAN_VECTOR_STRIDE);\n"
    "        tile->mask[k] = left == GPUSCAN_TILE\n"
    "                            ? gpuscan_vector_mask(&tile->vector[k], at + k * GPUSCAN_VECTOR_STRIDE)\n"
    "                            : gpuscan_vector_mask_left(&tile->vector[k], at + k * GPUSCAN_VECTOR_STRIDE, there);\n"
    "        sums[k] = popcount(tile->mask[k]);\n"
    "    }\n"
    "#else\n"
    "    if (GPUSCAN_PACKED_HERE || left == GPUSCAN_TILE) {\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            sums[k] = gpuscan_vector_sum(&tile->vector[k], at + k * GPUSCAN_VECTOR_STRIDE);\n"
    "            tile->rising |= gpuscan_vector_rises(&tile->vector[k], at + k * GPUSCAN_VECTOR_STRIDE, GPUSCAN_VECTOR) << k;\n"
    "        }\n"
    "    } else {\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            uint there = gpuscan_left_past(left, own + k * GPUSCAN_VECTOR_STRIDE);\n"
    "            sums[k] = gpuscan_vector_sum_left(&tile->vector[k], at + k * GPUSCAN_VECTOR_STRIDE, there);\n"
    "            tile->rising |= gpuscan_vector_rises(&tile->vector[k], at + k * GPUSCAN_VECTOR_STRIDE, there) << k;\n"
    "        }\n"
    "    }\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* Scans the sub-group's elements of a fetched tile; returns their sum. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_tile_scan_subgroup(gpuscan_tile *tile, ulong first, ulong count,\n"
    "                                               local gpuscan_shared *shared) {\n"
    "    gpuscan_t x[GPUSCAN_ITEM_VECTORS], sum[GPUSCAN_ITEM_VECTORS], carry;\n"
    "#if GPUSCAN_BEFORE_FROM_END\n"
    "    gpuscan_t before[GPUSCAN_ITEM_VECTORS];\n"
    "#else\n"
    "    gpuscan_t *before = tile->before;\n"
    "#endif\n"
    "    gpuscan_tile_lane_sums(tile, first, count, GPUSCAN_OWN_FIRST, x);\n"
    "    gpuscan_lanes_scan(x, before, sum, shared);\n"
    "    carry = sum[0];\n"
    "#if !GPUSCAN_ANY_ORDER\n"
    "    tile->group = gpuscan_identity();\n"
    "    tile->end[0] = x[0];\n"
    "#endif\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 1; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "#if !GPUSCAN_BEFORE_FROM_END\n"
    "        before[k] = gpuscan_combine(carry, before[k]);\n"
    "#endif\n"
    "#if !GPUSCAN_ANY_ORDER\n"
    "        tile->end[k] = gpuscan_combine(carry, x[k]);\n"
    "#endif\n"
    "        carry = gpuscan_combine(carry, sum[k]);\n"
    "    }\n"
    "    return carry;\n"
    "}\n"
    "\n"
    "/* Puts something before the sub-group's elements of a scanned tile. */\n"
    "GPUSCAN_INLINE void gpuscan_tile_after(gpuscan_tile *tile, gpuscan_t outer) {\n"
    "#if GPUSCAN_ANY_ORDER\n"
    "    tile->group = outer;\n"
    "#else\n"
    "    tile->group = gpuscan_combine(outer, tile->group);\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "#if !GPUSCAN_BEFORE_FROM_END\n"
    "        tile->before[k] = gpuscan_combine(outer, tile->before[k]);\n"
    "#endif\n"
    "        tile->end[k] = gpuscan_combine(outer, tile->end[k]);\n"
    "    }\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Scans a fetched tile as far as it goes without what precedes the tile; returns the tile's sum. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_tile_scan(gpuscan_tile *tile, ulong first, ulong count, local gpuscan_shared *shared) {\n"
    "    gpuscan_t total;\n"
    "    gpuscan_t sum = gpuscan_tile_scan_subgroup(tile, first, count, shared);\n"
    "    gpuscan_tile_after(tile, gpuscan_group_prefix(sum, &total, shared));\n"
    "    return total;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_PACKED_HERE\n"
    "/* What a lane adds to a tile's sum, where the order does not matter. Full tiles are loaded 16 bytes at a time, even\n"
    "   where gpuscan_src_vector is smaller. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_tile_lane_sum(global const gpuscan_src *src, ulong first, ulong count, ulong policy) {\n"
    "    const uint bytes = GPUSCAN_ITEM_VECTORS * GPUSCAN_SRC_RAW_SIZE, rounds = bytes / 16, rest = bytes % 16;\n"
    "    global const uint4 *from = (global const uint4 *)(src + first) + GPUSCAN_ITEM;\n"
    "    gpuscan_t sum = 0;\n"
    "    if (gpuscan_tile_left(first, count) == GPUSCAN_TILE && ((size_t)from & 15) == 0) {\n"
    "        uint4 loaded[GPUSCAN_ITEM_VECTORS];\n"
    "        uint packed = 0;\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < rounds; k++)\n"
    "            loaded[k] = gpuscan_load_hinted(from + k * GPUSCAN_GROUP, policy);\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < rounds; k++)\n"
    "            packed = gpuscan_packed_sum4(loaded[k], packed);\n"
    "        if (GPUSCAN_ITEM * 16 < rest * GPUSCAN_GROUP)\n"
    "            packed = gpuscan_packed_sum4(gpuscan_load_hinted(from + rounds * GPUSCAN_GROUP, policy), packed);\n"
    "        sum = (gpuscan_t)packed;\n"
    "    } else {\n"
    "        gpuscan_tile tile;\n"
    "        gpuscan_t x[GPUSCAN_ITEM_VECTORS];\n"
    "        gpuscan_tile_fetch_by(&tile, src, first, count, GPUSCAN_OWN_FIRST, policy);\n"
    "        gpuscan_tile_lane_sums(&tile, first, count, GPUSCAN_OWN_FIRST, x);\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            sum += x[k];\n"
    "    }\n"
    "    return sum;\n"
    "}\n"
    "#endif\n"
    "\n",
    "/* The sum of all of a sub-group's vectors, from each lane's, with the bits of gpuscan_tile_scan_subgroup's. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_subgroup_sum(const gpuscan_t *x, local gpuscan_shared *shared) {\n"
    "#if GPUSCAN_ANY_ORDER\n"
    "    gpuscan_t lane_sum = x[0];\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 1; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        lane_sum = gpuscan_combine(lane_sum, x[k]);\n"
    "    return gpuscan_lanes_sum_one(lane_sum, shared);\n"
    "#else\n"
    "    gpuscan_t sum[GPUSCAN_ITEM_VECTORS], carry;\n"
    "    gpuscan_lanes_sum(x, sum, shared);\n"
    "    carry = sum[0];\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 1; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        carry = gpuscan_combine(carry, sum[k]);\n"
    "    return carry;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* The sum of a tile alone, with the bits of gpuscan_tile_scan's. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_tile_sum_by(global const gpuscan_src *src, ulong first, ulong count, ulong policy,\n"
    "                                            local gpuscan_shared *shared) {\n"
    "    gpuscan_t total;\n"
    "#if GPUSCAN_PACKED_HERE\n"
    "    gpuscan_group_prefix(gpuscan_lanes_sum_one(gpuscan_tile_lane_sum(src, first, count, policy), shared), &total,\n"
    "                         shared);\n"
    "#else\n"
    "    gpuscan_tile tile;\n"
    "    gpuscan_t x[GPUSCAN_ITEM_VECTORS];\n"
    "    gpuscan_tile_fetch_by(&tile, src, first, count, GPUSCAN_OWN_FIRST, policy);\n"
    "#if GPUSCAN_SELECT\n"
    "    /* A number for each vector is enough, and of all vectors their sum. One group_prefix for both cases: PoCL 3.1 makes\n"
    "       a loop without end of barriers on either side of an if. */\n"
    "    gpuscan_t all = 0;\n"
    "    if (gpuscan_tile_left(first, count) == GPUSCAN_TILE) {\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            all += gpuscan_vector_count(&tile.vector[k], first + GPUSCAN_OWN_FIRST + k * GPUSCAN_VECTOR_STRIDE);\n"
    "    } else {\n"
    "        gpuscan_tile_lane_sums(&tile, first, count, GPUSCAN_OWN_FIRST, x);\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            all += x[k];\n"
    "    }\n"
    "    gpuscan_group_prefix(gpuscan_lanes_sum_one(all, shared), &total, shared);\n"
    "#else\n"
    "    gpuscan_tile_lane_sums(&tile, first, count, GPUSCAN_OWN_FIRST, x);\n"
    "    gpuscan_group_prefix(gpuscan_subgroup_sum(x, shared), &total, shared);\n"
    "#endif\n"
    "#endif\n"
    "    return total;\n"
    "}\n"
    "\n",
    "GPUSCAN_INLINE gpuscan_t gpuscan_tile_sum(global const gpuscan_src *src, ulong first, ulong count,\n"
    "                                         local gpuscan_shared *shared) {\n"
    "    return gpuscan_tile_sum_by(src, first, count, gpuscan_policy_normal(), shared);\n"
    "}\n"
    "\n"
    "/* The same sum, with the same bits, by one window alone: no other work-item of the group takes part. It is seldom\n"
    "   needed, so it is short rather than fast. */\n"
    "#if GPUSCAN_HAS_LANES\n"
    "static inline gpuscan_t gpuscan_tile_sum_alone(global const gpuscan_src *src, ulong first, ulong count,\n"
    "                                               local gpuscan_shared *shared) {\n"
    "    gpuscan_t total = gpuscan_identity();\n"
    "    GPUSCAN_ROLLED for (uint s = 0; s < GPUSCAN_SUBGROUPS; s++) {\n"
    "        gpuscan_t carry = gpuscan_identity();\n"
    "        GPUSCAN_ROLLED for (uint k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            ulong i = first + gpuscan_lane_first(s, GPUSCAN_LANE) + k * GPUSCAN_VECTOR_STRIDE;\n"
    "            uint left = gpuscan_tile_left(i, count);\n"
    "            gpuscan_src_vector vector;\n"
    "            gpuscan_t sum;\n"
    "            gpuscan_vector_fetch(&vector, src + i, left);\n"
    "            sum = gpuscan_window_scan(gpuscan_vector_sum_left(&vector, i, left), shared);\n"
    "            sum = gpuscan_shuffle(sum, GPUSCAN_LANES - 1);\n"
    "            carry = k == 0 ? sum : gpuscan_combine(carry, sum);\n"
    "        }\n"
    "        total = s == 0 ? carry : gpuscan_combine(total, carry);\n"
    "    }\n"
    "    return total;\n"
    "}\n"
    "#else\n"
    "static inline gpuscan_t gpuscan_tile_sum_alone(global const gpuscan_src *src, ulong first, ulong count,\n"
    "                                               local gpuscan_shared *shared) {\n"
    "    gpuscan_t total = gpuscan_identity();\n"
    "    for (uint s = 0; s < GPUSCAN_SUBGROUPS; s++) {\n"
    "        gpuscan_t carry = gpuscan_identity();\n"
    "        /* tree[l] holds the sum of 2^l lanes that waits for its right-hand neighbour */\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            gpuscan_t tree[GPUSCAN_LEVELS + 1];\n"
    "            for (uint lane = 0; lane < GPUSCAN_LANES; lane++) {\n"
    "                ulong i = first + gpuscan_lane_first(s, lane) + k * GPUSCAN_VECTOR_STRIDE;\n"
    "                gpuscan_t x = gpuscan_identity();\n"
    "                int level = 0;\n"
    "                for (int v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "                    if (i + v < count) {\n"
    "                        gpuscan_t next = gpuscan_convert(src[i + v], i + v);\n"
    "                        x = v == 0 ? next : gpuscan_combine(x, next);\n"
    "                    }\n"
    "                for (; lane >> level & 1; level++)\n"
    "                    x = gpuscan_combine(tree[level], x);\n"
    "                tree[level] = x;\n"
    "            }\n"
    "            carry = k == 0 ? tree[GPUSCAN_LEVELS] : gpuscan_combine(carry, tree[GPUSCAN_LEVELS]);\n"
    "        }\n"
    "        total = s == 0 ? carry : gpuscan_combine(total, carry);\n"
    "    }\n"
    "    return total;\n"
    "}\n"
    "#endif\n"
    "\n",
    "#if GPUSCAN_PACKED_HERE && GPUSCAN_PACKED_DST\n"
    "GPUSCAN_INLINE void gpuscan_vector_scan_packed(gpuscan_dst_vector *out, const gpuscan_src_vector *vector,\n"
    "                                              gpuscan_t before) {\n"
    "    uint running = before;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int w = 0; w < GPUSCAN_SRC_RAW_SIZE / 4; w++)\n"
    "        out->word[w] = gpuscan_packed_scan(vector->word[w], &running);\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* Tells a scanned tile what precedes it among tiles that were summed without what precedes them all: *prefix. *sum is\n"
    "   the tile's, and becomes that of all of them up to its end. */\n"
    "GPUSCAN_INLINE void gpuscan_tile_within(gpuscan_tile *tile, gpuscan_t outer, gpuscan_t *prefix, gpuscan_t *sum) {\n"
    "#if GPUSCAN_ANY_ORDER\n"
    "    *prefix = gpuscan_combine(*prefix, outer);\n"
    "#else\n"
    "    gpuscan_tile_after(tile, outer);\n"
    "    *sum = gpuscan_combine(outer, *sum);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* What stands before a lane's vector and at its end, and what none of its elements may exceed: see ORDER. */\n"
    "typedef struct {\n"
    "    gpuscan_t before;\n"
    "#if !GPUSCAN_ANY_ORDER\n"
    "    gpuscan_t end;\n"
    "#endif\n"
    "#if GPUSCAN_FLOAT_SUM\n"
    "    gpuscan_t most;\n"
    "#endif\n"
    "} gpuscan_vector_ends;\n"
    "\n"
    "/* Of vector k, of which there elements are left; prefix: what precedes the tile; ANY_ORDER: and the sub-group; last:\n"
    "   the end of vector k - 1, of this one afterwards. */\n"
    "GPUSCAN_INLINE gpuscan_vector_ends gpuscan_tile_ends(const gpuscan_tile *tile, gpuscan_t prefix, int k, uint there,\n"
    "                                                     gpuscan_t *last, local gpuscan_shared *shared) {\n"
    "    gpuscan_vector_ends ends;\n"
    "#if GPUSCAN_BEFORE_FROM_END\n"
    "    /* the last lane hands on what it had before: to the first, whose vectors come after it */\n"
    "    gpuscan_t handed = gpuscan_pick(GPUSCAN_LANE != GPUSCAN_LANES - 1, tile->end[k], *last);\n"
    "    ends.before = gpuscan_shuffle(handed, (GPUSCAN_LANE + GPUSCAN_LANES - 1) % GPUSCAN_LANES);\n"
    "    ends.before = gpuscan_combine(prefix, ends.before);\n"
    "    *last = tile->end[k];\n"
    "#else\n"
    "    ends.before = gpuscan_combine(prefix, tile->before[k]);\n"
    "#endif\n"
    "#if !GPUSCAN_ANY_ORDER\n"
    "    ends.end = gpuscan_combine(prefix, tile->end[k]);\n"
    "#endif\n"
    "#if GPUSCAN_LOADS_AFTER\n"
    "    if (there <= GPUSCAN_VECTOR)\n"
    "        ends.end = shared->prefix;\n"
    "#endif\n"
    "#if GPUSCAN_FLOAT_SUM\n"
    "    ends.most = tile->rising >> k & 1 ? ends.end : NAN; /* fmin passes over it */\n"
    "#endif\n"
    "    return ends;\n"
    "}\n"
    "\n",
    "/* What is stored of a vector's running sum, up to its last element or not. */\n"
    "GPUSCAN_INLINE gpuscan_dst gpuscan_vector_place(const gpuscan_vector_ends *ends, gpuscan_t running, bool is_last) {\n"
    "#if !GPUSCAN_ANY_ORDER\n"
    "    if (is_last)\n"
    "        return gpuscan_to_dst(ends->end);\n"
    "#endif\n"
    "#if GPUSCAN_FLOAT_SUM\n"
    "    running = fmin(running, ends->most);\n"
    "#endif\n"
    "    return gpuscan_to_dst(running);\n"
    "}\n"
    "\n"
    "/* Vector k of a scanned tile, as many elements as are there. */\n"
    "GPUSCAN_INLINE void gpuscan_tile_vector(gpuscan_dst_vector *out, const gpuscan_tile *tile,\n"
    "                                        const gpuscan_vector_ends *ends, ulong at, int k, uint there) {\n"
    "#if GPUSCAN_PACKED_HERE && GPUSCAN_PACKED_DST\n"
    "    gpuscan_vector_scan_packed(out, &tile->vector[k], ends->before);\n"
    "#else\n"
    "    gpuscan_t running = ends->before;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "        if (v < there) {\n"
    "            gpuscan_t next = gpuscan_combine(\n"
    "                running, gpuscan_convert(gpuscan_src_at(&tile->vector[k], v), at + k * GPUSCAN_VECTOR_STRIDE + v));\n"
    "            gpuscan_dst_put(out, v, GPUSCAN_INCLUSIVE ? gpuscan_vector_place(ends, next, v + 1 == there)\n"
    "                                                      : gpuscan_vector_place(ends, running, false));\n"
    "            running = next;\n"
    "        }\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Writes a scanned tile, now that what precedes it is known. */\n"
    "GPUSCAN_INLINE void gpuscan_tile_store(const gpuscan_tile *tile, global const gpuscan_src *src, global gpuscan_dst *dst,\n"
    "                                      ulong first, ulong count, gpuscan_t prefix, uint flags,\n"
    "                                      local gpuscan_shared *shared) {\n"
    "    uint own = GPUSCAN_OWN_FIRST;\n"
    "    ulong at = first + own;\n"
    "    uint left = gpuscan_tile_left(first, GPUSCAN_PLANTED(STORE_OVERRUN) ? count + 1 : count);\n"
    "    global gpuscan_dst *to = dst + at;\n"
    "    gpuscan_t last = tile->group; /* the end of the lane's vector before: the first has none */\n"
    "#if GPUSCAN_ANY_ORDER\n"
    "    if (GPUSCAN_SUBGROUP != 0)\n"
    "        prefix = gpuscan_combine(prefix, tile->group);\n"
    "#endif\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "    uint past = (uint)(size_t)dst & (GPUSCAN_DST_RAW_SIZE - 1);\n"
    "    if (left == GPUSCAN_TILE && (past == 0 || GPUSCAN_SHIFTS_DST)) {\n"
    "        gpuscan_dst_vector out;\n"
    "#if GPUSCAN_SHIFTS_DST\n"
    "        GPUSCAN_DST_RAW before = (GPUSCAN_DST_RAW)(0);\n"
    "#endif\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            uint there = k + 1 < GPUSCAN_ITEM_VECTORS ? GPUSCAN_TILE : left - own - k * GPUSCAN_VECTOR_STRIDE;\n"
    "            gpuscan_vector_ends ends = gpuscan_tile_ends(tile, prefix, k, there, &last, shared);\n"
    "            gpuscan_tile_vector(&out, tile, &ends, at, k, GPUSCAN_VECTOR);\n"
    "#if GPUSCAN_SHIFTS_DST\n"
    "            if (past != 0) {\n"
    "                gpuscan_vector_store_shifted(to + k * GPUSCAN_VECTOR_STRIDE, past, k, &out, before);\n"
    "                before = out.raw;\n"
    "                continue;\n"
    "            }\n"
    "#endif\n"
    "            gpuscan_store_vector(to + k * GPUSCAN_VECTOR_STRIDE, out.raw);\n"
    "        }\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "        uint there = gpuscan_left_past(left, own + k * GPUSCAN_VECTOR_STRIDE);\n"
    "        gpuscan_vector_ends ends = gpuscan_tile_ends(tile, prefix, k, there, &last, shared);\n"
    "        gpuscan_dst_vector out;\n"
    "        gpuscan_tile_vector(&out, tile, &ends, at, k, min(there, (uint)GPUSCAN_VECTOR));\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "        if (GPUSCAN_PART_VECTORS && there >= GPUSCAN_VECTOR && past == 0)\n"
    "            gpuscan_store_vector(to + k * GPUSCAN_VECTOR_STRIDE, out.raw);\n"
    "        else\n"
    "#endif\n"
    "GPUSCAN_UNROLL\n"
    "            for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "                if (v < there)\n"
    "                    to[k * GPUSCAN_VECTOR_STRIDE + v] = gpuscan_dst_at(&out, v);\n"
    "    }\n"
    "}\n"
    "\n",
    "#else /* GPUSCAN_CPU */\n"
    "/* [CPU TILES] ------------------------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* Tiles of one work-item: chunks that fit a core's cache. */\n"
    "\n"
    "/* The chunk is read twice, to sum it and to scan it, but the second time from the cache. */\n"
    "\n"
    "#if GPUSCAN_PREFETCH_SRC && defined(__has_builtin)\n"
    "#if __has_builtin(__builtin_prefetch)\n"
    "#define GPUSCAN_PREFETCH(p, bytes, write) __builtin_prefetch((const void *)((size_t)(p) + (bytes)), write, 3)\n"
    "#endif\n"
    "#endif\n"
    "#ifndef GPUSCAN_PREFETCH\n"
    "#define GPUSCAN_PREFETCH(p, bytes, write)\n"
    "#endif\n"
    "\n"
    "typedef struct {\n"
    "    uint ticket;\n"
    "    uint head; /* of the row at hand: see gpuscan_span_head */\n"
    "} gpuscan_shared;\n"
    "\n"
    "#ifdef __has_builtin\n"
    "#if __has_builtin(__builtin_shufflevector)\n"
    "#define GPUSCAN_HAS_SHUFFLEVECTOR 1\n"
    "#endif\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_WIDE > 1\n"
    "#define GPUSCAN_PASTE_(a, b) a##b\n"
    "#define GPUSCAN_PASTE(a, b)  GPUSCAN_PASTE_(a, b)\n"
    "#define GPUSCAN_WIDEN(type)  GPUSCAN_PASTE(type, GPUSCAN_WIDE)\n"
    "\n"
    "typedef GPUSCAN_WIDEN(GPUSCAN_T) gpuscan_wide;\n"
    "typedef union {\n"
    "    gpuscan_wide all;\n"
    "    gpuscan_t element[GPUSCAN_WIDE];\n"
    "} gpuscan_wide_elements;\n"
    "\n"
    "static inline gpuscan_wide gpuscan_combine_wide(gpuscan_wide a, gpuscan_wide b) {\n"
    "    return GPUSCAN_COMBINE;\n"
    "}\n"
    "\n"
    "static inline gpuscan_wide gpuscan_load_wide(global const gpuscan_src *src, ulong i) {\n"
    "#if GPUSCAN_CONVERT_IS_CUSTOM\n"
    "    gpuscan_wide_elements x;\n"
    "    for (int v = 0; v < GPUSCAN_WIDE; v++)\n"
    "        x.element[v] = gpuscan_convert(src[i + v], i + v);\n"
    "    return x.all;\n"
    "#elif GPUSCAN_SRC_F16 /* by way of a vector: some drivers' vload_half16 wants src + i aligned to one */\n"
    "#if GPUSCAN_HAS_SHUFFLEVECTOR\n"
    "    typedef GPUSCAN_WIDEN(ushort) unaligned __attribute__((aligned(sizeof(ushort))));\n"
    "    GPUSCAN_WIDEN(ushort) x = *(global const unaligned *)(src + i);\n"
    "#else\n"
    "    GPUSCAN_WIDEN(ushort) x = GPUSCAN_PASTE(vload, GPUSCAN_WIDE)(0, src + i);\n"
    "#endif\n"
    "    return GPUSCAN_CONVERT_WIDE(GPUSCAN_PASTE(vload_half, GPUSCAN_WIDE)(0, (private const half *)&x));\n"
    "#else\n"
    "    return GPUSCAN_CONVERT_WIDE(GPUSCAN_PASTE(vload, GPUSCAN_WIDE)(0, src + i));\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* x0 x1 ... becomes id x0 x1 ... and so on: lanes move up by 1, 2, 4, 8, in one instruction of two registers. What\n"
    "   moves up by 1 may come after another vector's last lane. */\n"
    "#if GPUSCAN_HAS_SHUFFLEVECTOR && GPUSCAN_WIDE == 16\n"
    "#define GPUSCAN_UP1(id, x)                                                                                             \\\n"
    "    __builtin_shufflevector(id, x, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)\n"
    "#define GPUSCAN_UP2(x)  __builtin_shufflevector(id, x, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29)\n"
    "#define GPUSCAN_UP4(x)  __builtin_shufflevector(id, x, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)\n"
    "#define GPUSCAN_UP8(x)  __builtin_shufflevector(id, x, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)\n"
    "#elif GPUSCAN_HAS_SHUFFLEVECTOR\n"
    "#define GPUSCAN_UP1(id, x) __builtin_shufflevector(id, x, 7, 8, 9, 10, 11, 12, 13, 14)\n"
    "#define GPUSCAN_UP2(x)     __builtin_shufflevector(id, x, 6, 7, 8, 9, 10, 11, 12, 13)\n"
    "#define GPUSCAN_UP4(x)     __builtin_shufflevector(id, x, 4, 5, 6, 7, 8, 9, 10, 11)\n"
    "#elif GPUSCAN_WIDE == 16\n"
    "#define GPUSCAN_UP1(id, x) (gpuscan_wide)(id.sf, x.s0, x.s12, x.s3456, x.s789abcde)\n"
    "#define GPUSCAN_UP2(x)     (gpuscan_wide)(id.s01, x.s01, x.s2345, x.s6789abcd)\n"
    "#define GPUSCAN_UP4(x)     (gpuscan_wide)(id.s0123, x.s0123, x.s456789ab)\n"
    "#define GPUSCAN_UP8(x)     (gpuscan_wide)(id.s01234567, x.s01234567)\n"
    "#else\n"
    "#define GPUSCAN_UP1(id, x) (gpuscan_wide)(id.s7, x.s0, x.s12, x.s3456)\n"
    "#define GPUSCAN_UP2(x)     (gpuscan_wide)(id.s01, x.s01, x.s2345)\n"
    "#define GPUSCAN_UP4(x)     (gpuscan_wide)(id.s0123, x.s0123)\n"
    "#endif\n"
    "\n"
    "/* The last of d lanes in the d lanes behind them, likewise, for Sklansky's order: see gpuscan_lanes_scan. */\n"
    "#if GPUSCAN_HAS_SHUFFLEVECTOR && GPUSCAN_WIDE == 16\n"
    "#define GPUSCAN_LOWER1(x) __builtin_shufflevector(id, x, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30)\n"
    "#define GPUSCAN_LOWER2(x) __builtin_shufflevector(id, x, 0, 1, 17, 17, 4, 5, 21, 21, 8, 9, 25, 25, 12, 13, 29, 29)\n"
    "#define GPUSCAN_LOWER4(x) __builtin_shufflevector(id, x, 0, 1, 2, 3, 19, 19, 19, 19, 8, 9, 10, 11, 27, 27, 27, 27)\n"
    "#define GPUSCAN_LOWER8(x) __builtin_shufflevector(id, x, 0, 1, 2, 3, 4, 5, 6, 7, 23, 23, 23, 23, 23, 23, 23, 23)\n"
    "#elif GPUSCAN_HAS_SHUFFLEVECTOR\n"
    "#define GPUSCAN_LOWER1(x) __builtin_shufflevector(id, x, 0, 8, 2, 10, 4, 12, 6, 14)\n"
    "#define GPUSCAN_LOWER2(x) __builtin_shufflevector(id, x, 0, 1, 9, 9, 4, 5, 13, 13)\n"
    "#define GPUSCAN_LOWER4(x) __builtin_shufflevector(id, x, 0, 1, 2, 3, 11, 11, 11, 11)\n"
    "#elif GPUSCAN_WIDE == 16\n"
    "#define GPUSCAN_LOWER1(x)                                                                                              \\\n"
    "    (gpuscan_wide)(id.s0, x.s0, id.s2, x.s2, id.s4, x.s4, id.s6, x.s6, id.s8, x.s8, id.sa, x.sa, id.sc, x.sc, id.se,   \\\n"
    "                   x.se)\n"
    "#define GPUSCAN_LOWER2(x) (gpuscan_wide)(id.s01, x.s11, id.s45, x.s55, id.s89, x.s99, id.scd, x.sdd)\n"
    "#define GPUSCAN_LOWER4(x) (gpuscan_wide)(id.s0123, x.s3333, id.s89ab, x.sbbbb)\n"
    "#define GPUSCAN_LOWER8(x) (gpuscan_wide)(id.s01234567, x.s77777777)\n"
    "#else\n"
    "#define GPUSCAN_LOWER1(x) (gpuscan_wide)(id.s0, x.s0, id.s2, x.s2, id.s4, x.s4, id.s6, x.s6)\n"
    "#define GPUSCAN_LOWER2(x) (gpuscan_wide)(id.s01, x.s11, id.s45, x.s55)\n"
    "#define GPUSCAN_LOWER4(x) (gpuscan_wide)(id.s0123, x.s3333)\n"
    "#endif\n"
    "#if GPUSCAN_WIDE == 16\n"
    "#define GPUSCAN_LAST(x) x.sf\n"
    "#else\n"
    "#define GPUSCAN_LAST(x) x.s7\n"
    "#endif\n"
    "\n",
    "/* Through memory: of a constant, LLVM makes masks and several instructions for each of the shuffles. */\n"
    "static inline gpuscan_wide gpuscan_identity_wide(void) {\n"
    "    volatile gpuscan_t id = gpuscan_identity();\n"
    "    return (gpuscan_wide)(id);\n"
    "}\n"
    "\n"
    "static inline gpuscan_wide gpuscan_scan_wide(gpuscan_wide x, gpuscan_wide id) {\n"
    "#if GPUSCAN_ANY_ORDER\n"
    "    x = gpuscan_combine_wide(GPUSCAN_UP1(id, x), x);\n"
    "    x = gpuscan_combine_wide(GPUSCAN_UP2(x), x);\n"
    "    x = gpuscan_combine_wide(GPUSCAN_UP4(x), x);\n"
    "#if GPUSCAN_WIDE == 16\n"
    "    x = gpuscan_combine_wide(GPUSCAN_UP8(x), x);\n"
    "#endif\n"
    "#else\n"
    "    x = gpuscan_combine_wide(GPUSCAN_LOWER1(x), x);\n"
    "    x = gpuscan_combine_wide(GPUSCAN_LOWER2(x), x);\n"
    "    x = gpuscan_combine_wide(GPUSCAN_LOWER4(x), x);\n"
    "#if GPUSCAN_WIDE == 16\n"
    "    x = gpuscan_combine_wide(GPUSCAN_LOWER8(x), x);\n"
    "#endif\n"
    "#endif\n"
    "    return x;\n"
    "}\n"
    "\n"
    "static inline void gpuscan_store_wide(global gpuscan_dst *dst, ulong i, gpuscan_wide x, bool stream) {\n"
    "    GPUSCAN_WIDEN(GPUSCAN_DST) y;\n"
    "#if GPUSCAN_DST_F16\n"
    "    GPUSCAN_PASTE(vstore_half, GPUSCAN_WIDE)(x, 0, (private half *)&y);\n"
    "#else\n"
    "    y = GPUSCAN_TO_DST_WIDE(x);\n"
    "#endif\n"
    "#if GPUSCAN_HAS_STREAM_STORE\n"
    "    if (stream) {\n"
    "        __builtin_nontemporal_store(y, (global GPUSCAN_WIDEN(GPUSCAN_DST) *)(dst + i));\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "#if GPUSCAN_HAS_SHUFFLEVECTOR /* where vstore is made of pieces */\n"
    "    typedef GPUSCAN_WIDEN(GPUSCAN_DST) unaligned __attribute__((aligned(sizeof(gpuscan_dst))));\n"
    "    *(global unaligned *)(dst + i) = y;\n"
    "#else\n"
    "    GPUSCAN_PASTE(vstore, GPUSCAN_WIDE)(y, 0, dst + i);\n"
    "#endif\n"
    "}\n"
    "#endif /* GPUSCAN_WIDE > 1 */\n"
    "\n"
    "#if GPUSCAN_WIDE > 1\n"
    "#define GPUSCAN_STEP (4 * GPUSCAN_WIDE)\n"
    "\n"
    "/* A span's sum under way: i runs to end, a step at a time. */\n"
    "#if GPUSCAN_ANY_ORDER || GPUSCAN_REDUCE\n"
    "/* Lane by lane, as only a commutative operator may: two vectors a step from either half of a span, since a core reads\n"
    "   two streams faster than one. */\n"
    "typedef struct {\n"
    "    gpuscan_wide a, b, c, d;\n"
    "    ulong i, end, stride, last;\n"
    "} gpuscan_wide_sum;\n"
    "\n"
    "/* Whether a span is summed like this. Its sum has the same bits wherever it is made, so all ask here. */\n"
    "static inline bool gpuscan_is_wide(ulong first, ulong last) {\n"
    "    return first + 2 * GPUSCAN_STEP <= last;\n"
    "}\n"
    "\n",
    "/* Of [first, last), at least a step. */\n"
    "static inline gpuscan_wide_sum gpuscan_wide_sum_begin(global const gpuscan_src *src, ulong first, ulong last,\n"
    "                                                      uint head) {\n"
    "    gpuscan_wide_sum sum;\n"
    "    ulong stride = (last - first) / GPUSCAN_STEP * (GPUSCAN_STEP / 2);\n"
    "    sum.a = gpuscan_load_wide(src, first);\n"
    "    sum.b = gpuscan_load_wide(src, first + GPUSCAN_WIDE);\n"
    "    sum.c = gpuscan_load_wide(src, first + stride);\n"
    "    sum.d = gpuscan_load_wide(src, first + stride + GPUSCAN_WIDE);\n"
    "    sum.i = first + GPUSCAN_STEP / 2;\n"
    "    sum.end = first + stride;\n"
    "    sum.stride = stride;\n"
    "    sum.last = last;\n"
    "    return sum;\n"
    "}\n"
    "static inline void gpuscan_wide_sum_step(gpuscan_wide_sum *sum, global const gpuscan_src *src) {\n"
    "    for (uint k = 0; k < 2 * GPUSCAN_WIDE * sizeof(gpuscan_src); k += GPUSCAN_LINE) {\n"
    "        GPUSCAN_PREFETCH(src + sum->i, GPUSCAN_PREFETCH_SRC + k, 0);\n"
    "        GPUSCAN_PREFETCH(src + sum->i + sum->stride, GPUSCAN_PREFETCH_SRC + k, 0);\n"
    "    }\n"
    "    sum->a = gpuscan_combine_wide(sum->a, gpuscan_load_wide(src, sum->i));\n"
    "    sum->b = gpuscan_combine_wide(sum->b, gpuscan_load_wide(src, sum->i + GPUSCAN_WIDE));\n"
    "    sum->c = gpuscan_combine_wide(sum->c, gpuscan_load_wide(src, sum->i + sum->stride));\n"
    "    sum->d = gpuscan_combine_wide(sum->d, gpuscan_load_wide(src, sum->i + sum->stride + GPUSCAN_WIDE));\n"
    "    sum->i += GPUSCAN_STEP / 2;\n"
    "}\n"
    "static inline gpuscan_t gpuscan_wide_sum_end(gpuscan_wide_sum *sum, global const gpuscan_src *src) {\n"
    "    gpuscan_wide_elements x;\n"
    "    gpuscan_t all;\n"
    "    while (sum->i < sum->end)\n"
    "        gpuscan_wide_sum_step(sum, src);\n"
    "    x.all = gpuscan_combine_wide(gpuscan_combine_wide(sum->a, sum->b), gpuscan_combine_wide(sum->c, sum->d));\n"
    "    all = x.element[0];\n"
    "    for (int v = 1; v < GPUSCAN_WIDE; v++)\n"
    "        all = gpuscan_combine(all, x.element[v]);\n"
    "    for (ulong i = sum->end + sum->stride; i < sum->last; i++)\n"
    "        all = gpuscan_combine(all, gpuscan_convert(src[i], i));\n"
    "    return all;\n"
    "}\n"
    "\n"
    "#else\n"
    "/* In the order in which the span is scanned, with all bits of the last element there: see gpuscan_span_scan_ahead. */\n"
    "typedef struct {\n"
    "    gpuscan_wide sum, id; /* its last lane; the identity */\n"
    "    ulong i, end, last;\n"
    "} gpuscan_wide_sum;\n"
    "\n",
    "static inline bool gpuscan_is_wide(ulong first, ulong last) {\n"
    "    return true;\n"
    "}\n"
    "\n"
    "static inline gpuscan_wide_sum gpuscan_wide_sum_begin(global const gpuscan_src *src, ulong first, ulong last,\n"
    "                                                      uint head) {\n"
    "    gpuscan_wide_sum sum;\n"
    "    gpuscan_t start = gpuscan_identity();\n"
    "    for (sum.i = first; sum.i < min(first + head, last); sum.i++)\n"
    "        start = gpuscan_combine(start, gpuscan_convert(src[sum.i], sum.i));\n"
    "    sum.sum = (gpuscan_wide)(start);\n"
    "    sum.id = gpuscan_identity_wide();\n"
    "    sum.end = sum.i + (last - sum.i) / GPUSCAN_STEP * GPUSCAN_STEP;\n"
    "    sum.last = last;\n"
    "    return sum;\n"
    "}\n"
    "/* Neighbours' sums, a's and then b's. */\n"
    "static inline gpuscan_wide gpuscan_pairs(gpuscan_wide a, gpuscan_wide b) {\n"
    "    return gpuscan_combine_wide((gpuscan_wide)(a.even, b.even), (gpuscan_wide)(a.odd, b.odd));\n"
    "}\n"
    "static inline void gpuscan_wide_sum_step(gpuscan_wide_sum *sum, global const gpuscan_src *src) {\n"
    "    gpuscan_wide id = sum->id, x;\n"
    "    for (uint k = 0; k < GPUSCAN_STEP * sizeof(gpuscan_src); k += GPUSCAN_LINE)\n"
    "        GPUSCAN_PREFETCH(src + sum->i, GPUSCAN_PREFETCH_SRC + k, 0);\n"
    "    x = gpuscan_pairs(gpuscan_pairs(gpuscan_load_wide(src, sum->i), gpuscan_load_wide(src, sum->i + GPUSCAN_WIDE)),\n"
    "                      gpuscan_pairs(gpuscan_load_wide(src, sum->i + 2 * GPUSCAN_WIDE),\n"
    "                                    gpuscan_load_wide(src, sum->i + 3 * GPUSCAN_WIDE)));\n"
    "    sum->sum = gpuscan_combine_wide(sum->sum, gpuscan_scan_wide(x, id));\n"
    "    sum->i += GPUSCAN_STEP;\n"
    "}\n"
    "static inline gpuscan_t gpuscan_wide_sum_end(gpuscan_wide_sum *sum, global const gpuscan_src *src) {\n"
    "    gpuscan_t all;\n"
    "    ulong i;\n"
    "    while (sum->i < sum->end)\n"
    "        gpuscan_wide_sum_step(sum, src);\n"
    "    for (i = sum->end; i + GPUSCAN_WIDE <= sum->last; i += GPUSCAN_WIDE)\n"
    "        sum->sum = gpuscan_combine_wide(sum->sum, gpuscan_scan_wide(gpuscan_load_wide(src, i), sum->id));\n"
    "    all = GPUSCAN_LAST(sum->sum);\n"
    "    for (; i < sum->last; i++)\n"
    "        all = gpuscan_combine(all, gpuscan_convert(src[i], i));\n"
    "    return all;\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "\n",
    "/* The elements of a span before those that are scanned a vector at a time, if it has so many: streaming stores need\n"
    "   whole vectors at their alignment. All tiles of a row have the same. */\n"
    "static inline uint gpuscan_span_head(global const gpuscan_dst *dst, ulong first, uint flags) {\n"
    "#if GPUSCAN_WIDE > 1\n"
    "    size_t mask = GPUSCAN_WIDE * sizeof(gpuscan_dst) - 1, past = (size_t)(dst + first) & mask;\n"
    "    if ((flags & GPUSCAN_FLAG_STREAM) && past)\n"
    "        return (uint)((mask + 1 - past) / sizeof(gpuscan_dst));\n"
    "#endif\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "/* The sum of elements [first, last), one by one; in a reduction of many, a quarter each in turn. */\n"
    "static inline gpuscan_t gpuscan_elements_sum(global const gpuscan_src *src, ulong first, ulong last) {\n"
    "    gpuscan_t sum;\n"
    "    if (first >= last)\n"
    "        return gpuscan_identity();\n"
    "#if GPUSCAN_REDUCE\n"
    "    if (last - first >= 8) {\n"
    "        ulong quarter = (last - first) / 4, i = first, end = first + quarter;\n"
    "        gpuscan_t a = gpuscan_convert(src[i], i);\n"
    "        gpuscan_t b = gpuscan_convert(src[i + quarter], i + quarter);\n"
    "        gpuscan_t c = gpuscan_convert(src[i + 2 * quarter], i + 2 * quarter);\n"
    "        gpuscan_t d = gpuscan_convert(src[i + 3 * quarter], i + 3 * quarter);\n"
    "        while (++i < end) {\n"
    "            a = gpuscan_combine(a, gpuscan_convert(src[i], i));\n"
    "            b = gpuscan_combine(b, gpuscan_convert(src[i + quarter], i + quarter));\n"
    "            c = gpuscan_combine(c, gpuscan_convert(src[i + 2 * quarter], i + 2 * quarter));\n"
    "            d = gpuscan_combine(d, gpuscan_convert(src[i + 3 * quarter], i + 3 * quarter));\n"
    "        }\n"
    "        sum = gpuscan_combine(gpuscan_combine(a, b), gpuscan_combine(c, d));\n"
    "        for (i = first + 4 * quarter; i < last; i++)\n"
    "            sum = gpuscan_combine(sum, gpuscan_convert(src[i], i));\n"
    "        return sum;\n"
    "    }\n"
    "#endif\n"
    "    sum = gpuscan_convert(src[first], first);\n"
    "    for (ulong i = first + 1; i < last; i++)\n"
    "        sum = gpuscan_combine(sum, gpuscan_convert(src[i], i));\n"
    "    return sum;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_ARG_WIDE > 1\n"
    "/* argmin, argmax: of a block first its best value, by vectors, which carry no indices; and only where that comes before\n"
    "   the best so far, where it stands. */\n"
    "#define GPUSCAN_WIDEN_ARG_(type, width) type##width\n"
    "#define GPUSCAN_WIDEN_ARG(type, width)  GPUSCAN_WIDEN_ARG_(type, width)\n"
    "#define GPUSCAN_ARG_STEP                (4 * GPUSCAN_ARG_WIDE)\n"
    "#define GPUSCAN_ARG_BLOCK               (4096 / sizeof(gpuscan_src)) /* elements */\n"
    "typedef GPUSCAN_WIDEN_ARG(GPUSCAN_VALUE, GPUSCAN_ARG_WIDE) gpuscan_values;\n"
    "\n",
    "static inline gpuscan_values gpuscan_values_load(global const gpuscan_src *src, ulong i) {\n"
    "#if GPUSCAN_SRC_F16\n"
    "    return GPUSCAN_WIDEN_ARG(vload_half, GPUSCAN_ARG_WIDE)(0, (global const half *)(src + i));\n"
    "#else\n"
    "    return GPUSCAN_WIDEN_ARG(vload, GPUSCAN_ARG_WIDE)(0, src + i);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* NaN is never picked; of equal values it does not matter which. */\n"
    "static inline gpuscan_values gpuscan_values_pick(gpuscan_values a, gpuscan_values b) {\n"
    "    return GPUSCAN_ARG_BEFORE(b, a) ? b : a;\n"
    "}\n"
    "\n"
    "/* Of elements [first, first + BLOCK): the best so far, or of them the first that comes before it. */\n"
    "static inline gpuscan_t gpuscan_arg_block(global const gpuscan_src *src, ulong first, gpuscan_t best) {\n"
    "    gpuscan_values a = (gpuscan_values)(GPUSCAN_ARG_WORST), b = a, c = a, d = a;\n"
    "    union {\n"
    "        gpuscan_values all;\n"
    "        GPUSCAN_VALUE element[GPUSCAN_ARG_WIDE];\n"
    "    } values;\n"
    "    ulong i, last = first + GPUSCAN_ARG_BLOCK;\n"
    "    for (i = first; i < last; i += GPUSCAN_ARG_STEP) {\n"
    "        for (uint at = 0; at < GPUSCAN_ARG_STEP * sizeof(gpuscan_src); at += GPUSCAN_LINE)\n"
    "            GPUSCAN_PREFETCH(src + i, GPUSCAN_PREFETCH_SRC + at, 0);\n"
    "        a = gpuscan_values_pick(a, gpuscan_values_load(src, i));\n"
    "        b = gpuscan_values_pick(b, gpuscan_values_load(src, i + GPUSCAN_ARG_WIDE));\n"
    "        c = gpuscan_values_pick(c, gpuscan_values_load(src, i + 2 * GPUSCAN_ARG_WIDE));\n"
    "        d = gpuscan_values_pick(d, gpuscan_values_load(src, i + 3 * GPUSCAN_ARG_WIDE));\n"
    "    }\n"
    "    a = gpuscan_values_pick(gpuscan_values_pick(a, b), gpuscan_values_pick(c, d));\n"
    "    if (best.index != GPUSCAN_ARG_NONE && !any(GPUSCAN_ARG_BEFORE(a, (gpuscan_values)(best.best.value))))\n"
    "        return best;\n"
    "    values.all = a;\n"
    "    for (uint v = 1; v < GPUSCAN_ARG_WIDE; v++)\n"
    "        if (GPUSCAN_ARG_BEFORE(values.element[v], values.element[0]))\n"
    "            values.element[0] = values.element[v];\n"
    "    for (i = first; i < last; i++) { /* in vain if all are NaN */\n"
    "        gpuscan_t x = gpuscan_convert(src[i], i);\n"
    "        if (x.best.value == values.element[0])\n"
    "            return gpuscan_combine(best, x);\n"
    "    }\n"
    "    return best;\n"
    "}\n"
    "\n",
    "static inline gpuscan_t gpuscan_arg_sum(global const gpuscan_src *src, ulong first, ulong last) {\n"
    "    gpuscan_t best = gpuscan_identity();\n"
    "    ulong i = first;\n"
    "    for (; i + GPUSCAN_ARG_BLOCK <= last; i += GPUSCAN_ARG_BLOCK)\n"
    "        best = gpuscan_arg_block(src, i, best);\n"
    "    for (; i < last; i++)\n"
    "        best = gpuscan_combine(best, gpuscan_convert(src[i], i));\n"
    "    return best;\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* The same as fast as it goes; head: where the span is scanned, too, its gpuscan_span_head. */\n"
    "static inline gpuscan_t gpuscan_span_sum(global const gpuscan_src *src, ulong first, ulong last, uint head) {\n"
    "#if GPUSCAN_WIDE > 1\n"
    "    if (gpuscan_is_wide(first, last)) {\n"
    "        gpuscan_wide_sum wide = gpuscan_wide_sum_begin(src, first, last, head);\n"
    "        return gpuscan_wide_sum_end(&wide, src);\n"
    "    }\n"
    "#endif\n"
    "#if GPUSCAN_ARG_WIDE > 1\n"
    "    return gpuscan_arg_sum(src, first, last);\n"
    "#endif\n"
    "    return gpuscan_elements_sum(src, first, last);\n"
    "}\n"
    "\n"
    "/* A span of a row, to be summed. */\n"
    "typedef struct {\n"
    "    global const gpuscan_src *src;\n"
    "    ulong first, last;\n"
    "    uint head;\n"
    "    gpuscan_t sum; /* out */\n"
    "} gpuscan_span;\n"
    "\n"
    "/* What elements are scanned after: what precedes the span, and what of the span precedes them. They stay apart where\n"
    "   the span's last element must be what precedes the span and the span's sum, with all bits; else the second has all. */\n"
    "#if GPUSCAN_WIDE > 1\n"
    "/* In all lanes. */\n"
    "typedef struct {\n"
    "    gpuscan_wide prefix, before;\n"
    "} gpuscan_wide_before;\n"
    "\n"
    "static inline void gpuscan_scan_store(global gpuscan_dst *dst, ulong i, gpuscan_wide x,\n"
    "                                      const gpuscan_wide_before *after, bool apart, bool stream) {\n"
    "    if (GPUSCAN_PREFETCH_DST) /* the host asks for streams only where this is 0 */\n"
    "        GPUSCAN_PREFETCH(dst + i, GPUSCAN_PREFETCH_DST, 1);\n"
    "    x = gpuscan_combine_wide(after->before, x);\n"
    "    gpuscan_store_wide(dst, i, apart ? gpuscan_combine_wide(after->prefix, x) : x, stream);\n"
    "}\n"
    "\n"
    "/* One vector; after->before moves past it. */\n"
    "static inline void gpuscan_scan_vector(global const gpuscan_src *src, global gpuscan_dst *dst, ulong i, gpuscan_wide id,\n"
    "                                       gpuscan_wide_before *after, bool apart, bool stream) {\n"
    "    gpuscan_wide x = gpuscan_scan_wide(gpuscan_load_wide(src, i), id);\n"
    "    gpuscan_wide sum = (gpuscan_wide)(GPUSCAN_LAST(x));\n"
    "    gpuscan_scan_store(dst, i, GPUSCAN_INCLUSIVE ? x : GPUSCAN_UP1(id, x), after, apart, stream);\n"
    "    after->before = gpuscan_combine_wide(after->before, sum);\n"
    "}\n"
    "\n",
    "/* Four of them, among which the order is that within a vector. */\n"
    "static inline void gpuscan_scan_step(global const gpuscan_src *src, global gpuscan_dst *dst, ulong i, gpuscan_wide id,\n"
    "                                     gpuscan_wide_before *after, bool apart, bool stream) {\n"
    "    gpuscan_wide a = gpuscan_scan_wide(gpuscan_load_wide(src, i), id);\n"
    "    gpuscan_wide b = gpuscan_scan_wide(gpuscan_load_wide(src, i + GPUSCAN_WIDE), id);\n"
    "    gpuscan_wide c = gpuscan_scan_wide(gpuscan_load_wide(src, i + 2 * GPUSCAN_WIDE), id);\n"
    "    gpuscan_wide d = gpuscan_scan_wide(gpuscan_load_wide(src, i + 3 * GPUSCAN_WIDE), id);\n"
    "    gpuscan_wide lower, sum;\n"
    "    b = gpuscan_combine_wide((gpuscan_wide)(GPUSCAN_LAST(a)), b);\n"
    "    d = gpuscan_combine_wide((gpuscan_wide)(GPUSCAN_LAST(c)), d);\n"
    "    lower = (gpuscan_wide)(GPUSCAN_LAST(b));\n"
    "    c = gpuscan_combine_wide(lower, c);\n"
    "    d = gpuscan_combine_wide(lower, d);\n"
    "    sum = (gpuscan_wide)(GPUSCAN_LAST(d));\n"
    "    gpuscan_scan_store(dst, i, GPUSCAN_INCLUSIVE ? a : GPUSCAN_UP1(id, a), after, apart, stream);\n"
    "    gpuscan_scan_store(dst, i + GPUSCAN_WIDE, GPUSCAN_INCLUSIVE ? b : GPUSCAN_UP1(a, b), after, apart, stream);\n"
    "    gpuscan_scan_store(dst, i + 2 * GPUSCAN_WIDE, GPUSCAN_INCLUSIVE ? c : GPUSCAN_UP1(b, c), after, apart, stream);\n"
    "    gpuscan_scan_store(dst, i + 3 * GPUSCAN_WIDE, GPUSCAN_INCLUSIVE ? d : GPUSCAN_UP1(c, d), after, apart, stream);\n"
    "    after->before = gpuscan_combine_wide(after->before, sum);\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* Elements [first, last) of a span, one by one; returns what precedes the next. */\n"
    "static inline gpuscan_t gpuscan_elements_scan(global const gpuscan_src *src, global gpuscan_dst *dst, ulong first,\n"
    "                                              ulong last, gpuscan_t prefix, gpuscan_t before, bool apart) {\n"
    "    for (ulong i = first; i < last; i++) {\n"
    "        gpuscan_t next = gpuscan_combine(before, gpuscan_convert(src[i], i));\n"
    "        gpuscan_t x = GPUSCAN_INCLUSIVE ? next : before;\n"
    "        dst[i] = gpuscan_to_dst(apart ? gpuscan_combine(prefix, x) : x);\n"
    "        before = next;\n"
    "    }\n"
    "    return before;\n"
    "}\n"
    "\n",
    "/* Elements [i, last) of a span, vectors first; stream: dst is aligned for such stores. */\n"
    "static inline gpuscan_t gpuscan_vectors_scan(global const gpuscan_src *src, global gpuscan_dst *dst, ulong i,\n"
    "                                             ulong last, gpuscan_t prefix, gpuscan_t before, bool apart, bool stream) {\n"
    "#if GPUSCAN_WIDE > 1\n"
    "    if (i + GPUSCAN_WIDE <= last) {\n"
    "        gpuscan_wide id = gpuscan_identity_wide();\n"
    "        gpuscan_wide_before after;\n"
    "        after.prefix = (gpuscan_wide)(prefix);\n"
    "        after.before = (gpuscan_wide)(before);\n"
    "        if (apart)\n"
    "            for (; i + GPUSCAN_STEP <= last; i += GPUSCAN_STEP)\n"
    "                gpuscan_scan_step(src, dst, i, id, &after, true, stream);\n"
    "        else /* not by one loop: of a flag, LLVM makes an identity to add */\n"
    "            for (; i + GPUSCAN_STEP <= last; i += GPUSCAN_STEP)\n"
    "                gpuscan_scan_step(src, dst, i, id, &after, false, stream);\n"
    "        for (; i + GPUSCAN_WIDE <= last; i += GPUSCAN_WIDE)\n"
    "            gpuscan_scan_vector(src, dst, i, id, &after, apart, stream);\n"
    "        before = GPUSCAN_LAST(after.before);\n"
    "    }\n"
    "#endif\n"
    "    return gpuscan_elements_scan(src, dst, i, last, prefix, before, apart);\n"
    "}\n"
    "\n"
    "/* Scans a span after prefix; returns prefix and all its elements combined. */\n"
    "static inline gpuscan_t gpuscan_span_scan(const gpuscan_span *span, global gpuscan_dst *dst, gpuscan_t prefix,\n"
    "                                          bool apart, uint flags) {\n"
    "    ulong i = min(span->first + span->head, span->last);\n"
    "    gpuscan_t before = apart ? gpuscan_identity() : prefix;\n"
    "    bool stream = (flags & GPUSCAN_FLAG_STREAM) && gpuscan_span_head(dst, i, flags) == 0;\n"
    "    before = gpuscan_elements_scan(span->src, dst, span->first, i, prefix, before, apart);\n"
    "    before = gpuscan_vectors_scan(span->src, dst, i, span->last, prefix, before, apart, stream);\n"
    "    return apart ? gpuscan_combine(prefix, before) : before;\n"
    "}\n"
    "\n"
    "/* The same, but sums the span ahead meanwhile, with the bits of gpuscan_span_sum, so that a core's loads and stores\n"
    "   share its time. */\n"
    "static inline void gpuscan_span_scan_ahead(const gpuscan_span *span, global gpuscan_dst *dst, gpuscan_t prefix,\n"
    "                                           bool apart, uint flags, gpuscan_span *ahead) {\n"
    "    global const gpuscan_src *src = span->src;\n"
    "    ulong last = span->last, i = min(span->first + span->head, last);\n"
    "    gpuscan_t before = apart ? gpuscan_identity() : prefix;\n"
    "    before = gpuscan_elements_scan(src, dst, span->first, i, prefix, before, apart);\n"
    "#if GPUSCAN_WIDE > 1\n"
    "    bool stream = (flags & GPUSCAN_FLAG_STREAM) && gpuscan_span_head(dst, i, flags) == 0;\n"
    "    bool wide = gpuscan_is_wide(ahead->first, ahead->last);\n"
    "    gpuscan_wide_sum sum;\n"
    "    if (wide) {\n"
    "        gpuscan_wide id = gpuscan_identity_wide();\n"
    "        gpuscan_wide_before after;\n"
    "        sum = gpuscan_wide_sum_begin(ahead->src, ahead->first, ahead->last, ahead->head);\n"
    "        after.prefix = (gpuscan_wide)(prefix);\n"
    "        after.before = (gpuscan_wide)(before);\n"
    "        for (; i + GPUSCAN_STEP <= last && sum.i < sum.end; i += GPUSCAN_STEP) {\n"
    "            gpuscan_wide_sum_step(&sum, ahead->src);\n"
    "            gpuscan_scan_step(src, dst, i, id, &after, apart, stream);\n"
    "        }\n"
    "        before = GPUSCAN_LAST(after.before);\n"
    "    }\n"
    "    gpuscan_vectors_scan(src, dst, i, last, prefix, before, apart, stream);\n"
    "    if (wide)\n"
    "        ahead->sum = gpuscan_wide_sum_end(&sum, ahead->src);\n"
    "    else\n"
    "        ahead->sum = gpuscan_elements_sum(ahead->src, ahead->first, ahead->last);\n"
    "#else /* an element of each in turn, so that neither waits for the other */\n"
    "    ulong k = ahead->first;\n"
    "    gpuscan_t sum = gpuscan_identity();\n"
    "    if (k < ahead->last) {\n"
    "        sum = gpuscan_convert(ahead->src[k], k);\n"
    "        k++;\n"
    "    }\n"
    "    for (ulong end = i + min(last - i, ahead->last - k); i < end; i++, k++) {\n"
    "        gpuscan_t next = gpuscan_combine(before, gpuscan_convert(src[i], i));\n"
    "        gpuscan_t x = GPUSCAN_INCLUSIVE ? next : before;\n"
    "        sum = gpuscan_combine(sum, gpuscan_convert(ahead->src[k], k));\n",
    "        dst[i] = gpuscan_to_dst(apart ? gpuscan_combine(prefix, x) : x);\n"
    "        before = next;\n"
    "    }\n"
    "    gpuscan_elements_scan(src, dst, i, last, prefix, before, apart);\n"
    "    for (; k < ahead->last; k++)\n"
    "        sum = gpuscan_combine(sum, gpuscan_convert(ahead->src[k], k));\n"
    "    ahead->sum = sum;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Rows shorter than this are scanned an element at a time (u32, 31 elements: so 1.50 x a C loop, by vectors 1.68; f32\n"
    "   2.2 and 1.8). */\n"
    "#define GPUSCAN_SHORT_ROW 16\n"
    "\n"
    "/* Scans rows of count elements after base; totals: of the first of them, or NULL. */\n"
    "static inline void gpuscan_rows_scan(global const gpuscan_src *src, ulong src_pitch, global gpuscan_dst *dst,\n"
    "                                     ulong dst_pitch, ulong count, ulong rows, gpuscan_t base, uint flags,\n"
    "                                     global gpuscan_dst *totals) {\n"
    "    for (ulong row = 0; row < rows; row++) {\n"
    "        gpuscan_t total;\n"
    "        if (count < GPUSCAN_SHORT_ROW) {\n"
    "            total = gpuscan_elements_scan(src, dst, 0, count, base, base, false);\n"
    "        } else {\n"
    "            gpuscan_span span;\n"
    "            span.src = src;\n"
    "            span.first = 0;\n"
    "            span.last = count;\n"
    "            span.head = gpuscan_span_head(dst, 0, flags);\n"
    "            total = gpuscan_span_scan(&span, dst, base, false, flags);\n"
    "        }\n"
    "        if (flags & GPUSCAN_FLAG_TOTAL)\n"
    "            totals[row] = gpuscan_to_dst(total);\n"
    "        src += src_pitch;\n"
    "        dst += dst_pitch;\n"
    "    }\n"
    "}\n"
    "\n"
    "static inline gpuscan_t gpuscan_tile_sum_alone(global const gpuscan_src *src, ulong first, ulong count,\n"
    "                                               local gpuscan_shared *shared) {\n"
    "    return gpuscan_span_sum(src, first, min(first + GPUSCAN_TILE, count), shared->head);\n"
    "}\n"
    "#endif /* GPUSCAN_CPU */\n"
    "\n"
    "/* [MULTI-PASS SCAN] ------------------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* Each row is cut into parts of part_tiles tiles; a group takes units (row, part), one after the other.\n"
    "\n"
    "       scan_sums       sums[unit] = sum of the part\n"
    "       scan_carries    sums[unit] = init op the sums of the row's parts before\n"
    "       scan_parts      scans the part after its carry\n"
    "\n",
    "   A row of one part needs only the last. Blelloch, \"Prefix sums and their applications\", 1990.                      */\n"
    "#if GPUSCAN_SCAN_MULTI_PASS || GPUSCAN_SELECT_MULTI_PASS\n"
    "\n"
    "typedef struct {\n"
    "    GPUSCAN_SCAN_SUMS_NUMBERS\n"
    "} gpuscan_scan_sums_numbers;\n"
    "\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_scan_sums(global const gpuscan_src *src, global const uint *count_buffer, global gpuscan_t *sums,\n"
    "                  gpuscan_scan_sums_numbers numbers,\n"
    "    local gpuscan_shared *shared) {\n"
    "    uint parts = (uint)numbers.parts, part_tiles = (uint)numbers.part_tiles;\n"
    "    ulong count = gpuscan_units(gpuscan_count(numbers.count, count_buffer, numbers.count_offset,\n"
    "                                              (uint)numbers.flags));\n"
    "    for (ulong unit = get_group_id(0); unit < numbers.rows * parts; unit += get_num_groups(0)) {\n"
    "        global const gpuscan_src *row = src + numbers.src_offset + unit / parts * numbers.src_pitch;\n"
    "        ulong first = (ulong)(unit % parts) * part_tiles * GPUSCAN_TILE;\n"
    "        ulong last = min(count, first + (ulong)part_tiles * GPUSCAN_TILE);\n"
    "        gpuscan_t sum = gpuscan_identity();\n"
    "        if (GPUSCAN_PLANTED(SUMS_TAIL) && last > first)\n"
    "            last--;\n"
    "#if GPUSCAN_CPU\n"
    "        sum = gpuscan_span_sum(row, min(first, last), last, 0);\n"
    "#else\n"
    "        for (ulong at = first; at < last; at += GPUSCAN_TILE) {\n"
    "            gpuscan_t tile = gpuscan_tile_sum(row, at, last, shared);\n"
    "            sum = at == first ? tile : gpuscan_combine(sum, tile);\n"
    "        }\n"
    "#endif\n"
    "        if (GPUSCAN_ITEM == 0)\n"
    "            sums[numbers.sums_offset + unit] = sum;\n"
    "    }\n"
    "}\n"
    "\n"
    "typedef struct {\n"
    "    GPUSCAN_SCAN_CARRIES_NUMBERS\n"
    "} gpuscan_scan_carries_numbers;\n"
    "\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_scan_carries(global gpuscan_t *sums, gpuscan_init init_value, global const gpuscan_dst *init_buffer,\n"
    "                     gpuscan_scan_carries_numbers numbers,\n"
    "    local gpuscan_shared *shared) {\n"
    "    gpuscan_t base = gpuscan_base(init_value, init_buffer, numbers.init_offset, (uint)numbers.flags);\n"
    "    uint parts = (uint)numbers.parts;\n"
    "    for (ulong row = get_group_id(0); row < numbers.rows; row += get_num_groups(0)) {\n"
    "        global gpuscan_t *sum = sums + numbers.sums_offset + row * parts;\n"
    "        gpuscan_t running = base;\n"
    "#if GPUSCAN_CPU || GPUSCAN_ANY_ORDER\n"
    "        uint share = (parts + GPUSCAN_GROUP - 1) / GPUSCAN_GROUP;\n"
    "        uint first = min(GPUSCAN_ITEM * share, parts), last = min(first + share, parts);\n"
    "#if !GPUSCAN_CPU\n"
    "        gpuscan_t x[GPUSCAN_ITEM_VECTORS], before[GPUSCAN_ITEM_VECTORS], all[GPUSCAN_ITEM_VECTORS], total, group;\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            x[k] = gpuscan_identity();\n"
    "        for (uint i = first; i < last; i++)\n"
    "            x[0] = i == first ? sum[i] : gpuscan_combine(x[0], sum[i]);\n"
    "        gpuscan_lanes_scan(x, before, all, shared);\n"
    "        group = gpuscan_group_prefix(all[0], &total, shared);\n"
    "        running = gpuscan_combine(gpuscan_combine(base, group), before[0]);\n"
    "#endif\n"
    "        for (uint i = first; i < last; i++) {\n"
    "            gpuscan_t next = gpuscan_combine(running, sum[i]);\n"
    "            sum[i] = GPUSCAN_PLANTED(CARRIES) ? base : running;\n"
    "            running = next;\n"
    "        }\n"
    "#else /* one after the other, by every sub-group, or work-item, alike */\n"
    "        for (uint from = 0; from < parts; from += GPUSCAN_HAS_LANES ? GPUSCAN_LANES : GPUSCAN_GROUP) {\n"
    "            uint i = from + (GPUSCAN_HAS_LANES ? GPUSCAN_LANE : GPUSCAN_ITEM);\n"
    "            gpuscan_t x = i < parts ? sum[i] : gpuscan_identity(), before = running;\n"
    "#if GPUSCAN_HAS_LANES\n"
    "            x = gpuscan_window_end(running, x, shared);\n"
    "            before = gpuscan_shuffle_up(x, 1);\n"
    "            if (GPUSCAN_LANE == 0)\n"
    "                before = running;\n"
    "            running = gpuscan_shuffle(x, GPUSCAN_LANES - 1);\n"
    "            GPUSCAN_BARRIER();\n"
    "#else\n"
    "            shared->exchange[GPUSCAN_ITEM] = x;\n"
    "            GPUSCAN_BARRIER();\n"
    "            for (uint j = 0; j < min(parts - from, (uint)GPUSCAN_GROUP); j++) {\n"
    "                if (j == GPUSCAN_ITEM)\n",
    "                    before = running;\n"
    "                running = gpuscan_combine(running, shared->exchange[j]);\n"
    "            }\n"
    "            GPUSCAN_BARRIER();\n"
    "#endif\n"
    "            if (i < parts && GPUSCAN_ITEM == i - from)\n"
    "                sum[i] = GPUSCAN_PLANTED(CARRIES) ? base : before;\n"
    "        }\n"
    "#endif\n"
    "    }\n"
    "}\n"
    "\n"
    "#if GPUSCAN_SCAN_MULTI_PASS\n"
    "typedef struct {\n"
    "    GPUSCAN_SCAN_PARTS_NUMBERS\n"
    "} gpuscan_scan_parts_numbers;\n"
    "\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_scan_parts(global const gpuscan_src *src, global gpuscan_dst *dst, global const uint *count_buffer,\n"
    "                   global const gpuscan_t *carries, gpuscan_init init_value, global const gpuscan_dst *init_buffer,\n"
    "                   global gpuscan_dst *totals, gpuscan_scan_parts_numbers numbers,\n"
    "    local gpuscan_shared *shared) {\n"
    "    uint parts = (uint)numbers.parts, part_tiles = (uint)numbers.part_tiles, flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "#if GPUSCAN_CPU\n"
    "    if (parts == 1) { /* neighbouring rows: a core's lines are its own */\n"
    "        ulong group = get_group_id(0), groups = get_num_groups(0);\n"
    "        ulong share = numbers.rows / groups, more = numbers.rows % groups;\n"
    "        ulong row = group * share + min(group, more);\n"
    "        if (GPUSCAN_PLANTED(PARTS_TAIL) && count > 0)\n"
    "            count--;\n"
    "        gpuscan_rows_scan(src + numbers.src_offset + row * numbers.src_pitch, numbers.src_pitch,\n"
    "                          dst + numbers.dst_offset + row * numbers.dst_pitch, numbers.dst_pitch, count,\n"
    "                          share + (group < more ? 1 : 0),\n"
    "                          gpuscan_base(init_value, init_buffer, numbers.init_offset, flags), flags,\n"
    "                          totals + numbers.total_offset + row);\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    for (ulong unit = get_group_id(0); unit < numbers.rows * parts; unit += get_num_groups(0)) {\n"
    "        ulong row = unit / parts;\n"
    "        uint part = (uint)(unit % parts);\n"
    "        global const gpuscan_src *from = src + numbers.src_offset + row * numbers.src_pitch;\n"
    "        global gpuscan_dst *to = dst + numbers.dst_offset + row * numbers.dst_pitch;\n"
    "        ulong first = (ulong)part * part_tiles * GPUSCAN_TILE;\n"
    "        ulong last = min(count, first + (ulong)part_tiles * GPUSCAN_TILE);\n"
    "        gpuscan_t carry;\n"
    "        if (GPUSCAN_PLANTED(PARTS_TAIL) && last > first)\n"
    "            last--;\n"
    "        if (flags & GPUSCAN_FLAG_CARRIES)\n"
    "            carry = carries[numbers.carries_offset + unit];\n"
    "        else\n"
    "            carry = gpuscan_base(init_value, init_buffer, numbers.init_offset, flags);\n"
    "#if GPUSCAN_CPU\n"
    "        bool apart = !GPUSCAN_ANY_ORDER && (flags & GPUSCAN_FLAG_CARRIES) != 0;\n"
    "        if (first < last) {\n"
    "            gpuscan_span span;\n"
    "            span.src = from;\n"
    "            span.first = first;\n"
    "            span.last = last;\n"
    "            span.head = apart ? 0 : gpuscan_span_head(to, first, flags); /* gpuscan_scan_sums knew of none */\n"
    "            carry = gpuscan_span_scan(&span, to, carry, apart, flags);\n"
    "        }\n"
    "#else\n"
    "        gpuscan_t part_sum = gpuscan_identity();\n"
    "        for (ulong at = first; at < last; at += GPUSCAN_TILE) {\n"
    "            gpuscan_tile tile;\n"
    "            gpuscan_t sum, prefix = carry;\n"
    "            gpuscan_tile_fetch(&tile, from, at, last, GPUSCAN_OWN_FIRST);\n"
    "            sum = gpuscan_tile_scan(&tile, at, last, shared);\n"
    "            gpuscan_tile_within(&tile, part_sum, &prefix, &sum);\n"
    "            gpuscan_tile_store(&tile, from, to, at, last, prefix, flags, shared);\n"
    "            part_sum = GPUSCAN_ANY_ORDER ? gpuscan_combine(part_sum, sum) : sum;\n"
    "        }\n"
    "        carry = gpuscan_combine(carry, part_sum);\n"
    "#endif\n"
    "        if (part == parts - 1 && (flags & GPUSCAN_FLAG_TOTAL) && GPUSCAN_ITEM == 0)\n"
    "            totals[numbers.total_offset + row] = gpuscan_to_dst(carry);\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "\n",
    "#if GPUSCAN_SCAN_ROWS\n"
    "/* [SCAN ROWS] ------------------------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* Rows of at most a tile: a group scans a tile of whole rows, so nothing passes between groups. Their elements are\n"
    "   numbered through, LENGTH for a row: its pitch, where both pitches are the same and little of it is a gap; else its\n"
    "   elements, rounded up to whole vectors. In the first case the tile begins at a vector's alignment, perhaps a few\n"
    "   elements before the first row. The lanes scan the tails of their vectors, which begin at the last row's first\n"
    "   element: where that is follows from the column alone, so no flags are handed on. Such a scan of segments costs no\n"
    "   more steps than another. Sengupta, Harris, Zhang and Owens, \"Scan primitives for GPU computing\", 2007. */\n"
    "typedef struct {\n"
    "    GPUSCAN_SCAN_ROWS_NUMBERS\n"
    "} gpuscan_scan_rows_numbers;\n"
    "\n"
    "typedef struct {\n"
    "    global const gpuscan_src *src; /* of the tile's first row */\n"
    "    global gpuscan_dst *dst;\n"
    "    ulong src_pitch, dst_pitch;\n"
    "    uint row_length, inverse; /* and 2^32 / row_length, rounded up */\n"
    "    uint rows, count;     /* whole rows; elements of each */\n"
    "    uint before;          /* elements before the first row, and */\n"
    "    uint rows_before;     /* how many rows they are */\n"
    "    bool dense;           /* without gaps */\n"
    "} gpuscan_row_tile;\n"
    "\n"
    "/* Where an element stands; rows before the first have numbers beyond all others. */\n"
    "typedef struct {\n"
    "    uint row, column;\n"
    "} gpuscan_place;\n"
    "\n"
    "static inline gpuscan_place gpuscan_place_of(const gpuscan_row_tile *tile, uint i) {\n"
    "    uint n = i + tile->rows_before * tile->row_length - tile->before;\n"
    "    uint row = tile->row_length == 1 ? n : mul_hi(n, tile->inverse); /* or one too many */\n"
    "    gpuscan_place place;\n"
    "    row -= row * tile->row_length > n ? 1 : 0;\n"
    "    place.row = row - tile->rows_before;\n"
    "    place.column = n - row * tile->row_length;\n"
    "    return place;\n"
    "}\n"
    "\n"
    "static inline void gpuscan_place_next(const gpuscan_row_tile *tile, gpuscan_place *place) {\n"
    "    if (++place->column == tile->row_length) {\n"
    "        place->column = 0;\n"
    "        place->row++;\n"
    "    }\n"
    "}\n"
    "\n",
    "static inline bool gpuscan_place_is_element(const gpuscan_row_tile *tile, gpuscan_place place) {\n"
    "    return place.row < tile->rows && place.column < tile->count;\n"
    "}\n"
    "\n"
    "/* Whether the vector that begins there is in one row; whether, as element i of the tile, it is all elements, side by\n"
    "   side. */\n"
    "static inline bool gpuscan_place_in_row(const gpuscan_row_tile *tile, gpuscan_place place) {\n"
    "    return place.row < tile->rows && place.column + GPUSCAN_VECTOR <= tile->count;\n"
    "}\n"
    "static inline bool gpuscan_place_is_vector(const gpuscan_row_tile *tile, gpuscan_place place, uint i) {\n"
    "    return gpuscan_place_in_row(tile, place) || (tile->dense && i >= tile->before &&\n"
    "                                                 i + GPUSCAN_VECTOR <= tile->before + tile->rows * tile->row_length);\n"
    "}\n"
    "\n"
    "/* Whether element i lies behind the tile's rows. */\n"
    "static inline bool gpuscan_is_behind_rows(const gpuscan_row_tile *tile, uint i) {\n"
    "    return i >= tile->before + tile->rows * tile->row_length;\n"
    "}\n"
    "\n"
    "GPUSCAN_INLINE void gpuscan_row_vector_fetch(gpuscan_src_vector *vector, const gpuscan_row_tile *tile,\n"
    "                                             gpuscan_place place, uint i) {\n"
    "    gpuscan_src_vector padded;\n"
    "    if (gpuscan_is_behind_rows(tile, i))\n"
    "        return;\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "    global const gpuscan_src *from = tile->src + place.row * tile->src_pitch + place.column;\n"
    "    if (gpuscan_place_is_vector(tile, place, i) && ((size_t)from & (GPUSCAN_SRC_RAW_SIZE - 1)) == 0) {\n"
    "        vector->raw = gpuscan_load_vector(from, gpuscan_policy_normal());\n"
    "        return;\n"
    "    }\n"
    "    padded.raw = (GPUSCAN_SRC_RAW)(0);\n"
    "#endif\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++) {\n"
    "        if (gpuscan_place_is_element(tile, place))\n"
    "            gpuscan_src_put(&padded, v, tile->src[place.row * tile->src_pitch + place.column]);\n"
    "        gpuscan_place_next(tile, &place);\n"
    "    }\n"
    "    *vector = padded;\n"
    "}\n"
    "\n"
    "/* The sum of a vector's last elements that are in one row; the column of the last. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_row_vector_sum(const gpuscan_src_vector *vector, const gpuscan_row_tile *tile,\n"
    "                                                gpuscan_place place, uint i, uint *last, uint *rises) {\n"
    "    gpuscan_t sum = gpuscan_identity();\n"
    "    *rises = 1;\n"
    "    *last = 0;\n"
    "    if (gpuscan_is_behind_rows(tile, i))\n"
    "        return sum;\n"
    "    if (gpuscan_place_in_row(tile, place)) {\n"
    "        *last = place.column + GPUSCAN_VECTOR - 1;\n"
    "        *rises = gpuscan_vector_rises(vector, place.column, GPUSCAN_VECTOR);\n"
    "        return gpuscan_vector_sum(vector, place.column);\n"
    "    }\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++) {\n"
    "        if (place.column == 0) {\n"
    "            sum = gpuscan_identity();\n"
    "            *rises = 1;\n"
    "        }\n"
    "        if (gpuscan_place_is_element(tile, place)) {\n"
    "            gpuscan_t x = gpuscan_convert(gpuscan_src_at(vector, v), place.column);\n"
    "            sum = gpuscan_combine(sum, x);\n"
    "#if GPUSCAN_FLOAT_SUM\n"
    "            *rises = *rises && x >= 0;\n"
    "#endif\n"
    "        }\n"
    "        *last = place.column;\n"
    "        gpuscan_place_next(tile, &place);\n"
    "    }\n"
    "    return sum;\n"
    "}\n"
    "\n",
    "/* Scans what it can of the tile's vectors without the other sub-groups; returns the sum of its last row's elements. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_row_tile_scan_subgroup(gpuscan_tile *data, const gpuscan_row_tile *tile,\n"
    "                                                        const gpuscan_place *places, local gpuscan_shared *shared) {\n"
    "    gpuscan_t x[GPUSCAN_ITEM_VECTORS], sum[GPUSCAN_ITEM_VECTORS], carry = gpuscan_identity();\n"
    "    uint reach[GPUSCAN_ITEM_VECTORS], rising = 0;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "        uint rises;\n"
    "        x[k] = gpuscan_row_vector_sum(&data->vector[k], tile, places[k],\n"
    "                                      GPUSCAN_OWN_FIRST + k * GPUSCAN_VECTOR_STRIDE, &reach[k], &rises);\n"
    "        reach[k] /= GPUSCAN_VECTOR; /* vectors before this one that the row's elements at its end are in */\n"
    "        rising |= rises << k;\n"
    "    }\n"
    "    gpuscan_lanes_scan_rows(x, reach, data->before, sum, shared);\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "        uint end = (GPUSCAN_SUBGROUP * GPUSCAN_ITEM_VECTORS + k + 1) * GPUSCAN_VECTOR_STRIDE;\n"
    "        uint behind = (places[k].column + GPUSCAN_VECTOR - 1) / GPUSCAN_VECTOR;\n"
    "        if (behind == 0)\n"
    "            data->before[k] = gpuscan_identity();\n"
    "        else if (behind > GPUSCAN_LANE)\n"
    "            data->before[k] = gpuscan_combine(carry, data->before[k]);\n"
    "#if !GPUSCAN_ANY_ORDER\n"
    "        data->end[k] = reach[k] > GPUSCAN_LANE ? gpuscan_combine(carry, x[k]) : x[k];\n"
    "#endif\n"
    "        carry = gpuscan_place_of(tile, end - 1).column >= GPUSCAN_VECTOR_STRIDE ? gpuscan_combine(carry, sum[k])\n"
    "                                                                                : sum[k];\n"
    "    }\n"
    "    data->rising = rising;\n"
    "    return carry;\n"
    "}\n"
    "\n"
    "/* From each sub-group's sum of its last row: the sum of what precedes this sub-group in the row that it begins with. */\n"
    "#define GPUSCAN_SUBGROUP_TILE (GPUSCAN_ITEM_VECTORS * GPUSCAN_VECTOR_STRIDE)\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_row_group_before(const gpuscan_row_tile *tile, local gpuscan_shared *shared) {\n"
    "    gpuscan_t before = gpuscan_identity();\n"
    "#if GPUSCAN_HAS_LANES && GPUSCAN_ANY_ORDER\n"
    "    uint lane = GPUSCAN_LANE, reach = gpuscan_place_of(tile, (lane + 1) * GPUSCAN_SUBGROUP_TILE - 1).column;\n"
    "    gpuscan_t x = gpuscan_identity();\n"
    "    reach /= GPUSCAN_SUBGROUP_TILE;\n"
    "    if (lane < GPUSCAN_SUBGROUPS)\n"
    "        x = shared->sums[lane];\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = 1; d < GPUSCAN_SUBGROUPS; d *= 2) {\n"
    "        gpuscan_t left = gpuscan_shuffle(x, GPUSCAN_LOWER_HALF(lane, d) % GPUSCAN_LANES);\n"
    "        if (GPUSCAN_REACHES(lane, d, reach))\n"
    "            x = gpuscan_combine(left, x);\n"
    "    }\n"
    "    x = gpuscan_shuffle(x, GPUSCAN_SUBGROUP == 0 ? 0 : GPUSCAN_SUBGROUP - 1);\n"
    "    if (GPUSCAN_SUBGROUP != 0)\n"
    "        before = x;\n"
    "#else\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint s = 0; s < GPUSCAN_SUBGROUPS - 1; s++)\n"
    "        if (s < GPUSCAN_SUBGROUP) {\n"
    "            uint last = gpuscan_place_of(tile, (s + 1) * GPUSCAN_SUBGROUP_TILE - 1).column;\n"
    "            before = last >= GPUSCAN_SUBGROUP_TILE ? gpuscan_combine(before, shared->sums[s]) : shared->sums[s];\n"
    "        }\n"
    "#endif\n"
    "    return before;\n"
    "}\n"
    "\n",
    "/* What stands at a vector's ends: see gpuscan_tile_ends. */\n"
    "GPUSCAN_INLINE gpuscan_vector_ends gpuscan_row_tile_ends(const gpuscan_tile *data, gpuscan_t base, gpuscan_place place,\n"
    "                                                         uint last, int k) {\n"
    "    uint number = k * GPUSCAN_LANES + GPUSCAN_LANE; /* of the vector in the sub-group's tile */\n"
    "    gpuscan_vector_ends ends;\n"
    "    ends.before = data->before[k];\n"
    "    if ((place.column + GPUSCAN_VECTOR - 1) / GPUSCAN_VECTOR > number)\n"
    "        ends.before = gpuscan_combine(data->group, ends.before);\n"
    "    ends.before = gpuscan_combine(base, ends.before);\n"
    "#if !GPUSCAN_ANY_ORDER\n"
    "    ends.end = last / GPUSCAN_VECTOR > number ? gpuscan_combine(data->group, data->end[k]) : data->end[k];\n"
    "    ends.end = gpuscan_combine(base, ends.end);\n"
    "#if GPUSCAN_FLOAT_SUM\n"
    "    ends.most = data->rising >> k & 1 ? ends.end : NAN;\n"
    "#endif\n"
    "#endif\n"
    "    return ends;\n"
    "}\n"
    "\n"
    "GPUSCAN_INLINE void gpuscan_row_vector_store(const gpuscan_tile *data, const gpuscan_row_tile *tile,\n"
    "                                             gpuscan_place place, uint i, int k, gpuscan_t base,\n"
    "                                             global gpuscan_dst *totals, uint flags) {\n"
    "    if (gpuscan_is_behind_rows(tile, i))\n"
    "        return;\n"
    "    gpuscan_place first = place, at = gpuscan_place_of(tile, i + GPUSCAN_VECTOR - 1);\n"
    "    gpuscan_vector_ends ends = gpuscan_row_tile_ends(data, base, place, at.column, k);\n"
    "    global gpuscan_dst *to = tile->dst + place.row * tile->dst_pitch + place.column;\n"
    "    gpuscan_t running = ends.before;\n"
    "    gpuscan_dst_vector out;\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "    if (gpuscan_place_in_row(tile, place) && place.row == at.row && ((size_t)to & (GPUSCAN_DST_RAW_SIZE - 1)) == 0) {\n"
    "        gpuscan_dst end;\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint v = 0; v < GPUSCAN_VECTOR; v++) {\n"
    "            gpuscan_t next =\n"
    "                gpuscan_combine(running, gpuscan_convert(gpuscan_src_at(&data->vector[k], v), place.column + v));\n"
    "            end = gpuscan_vector_place(&ends, next, v + 1 == GPUSCAN_VECTOR);\n"
    "            gpuscan_dst_put(&out, v, GPUSCAN_INCLUSIVE ? end : gpuscan_vector_place(&ends, running, false));\n"
    "            running = next;\n"
    "        }\n"
    "        gpuscan_store_vector(to, out.raw);\n"
    "        if ((flags & GPUSCAN_FLAG_TOTAL) && at.column + 1 == tile->count)\n"
    "            totals[at.row] = end;\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++) {\n"
    "        gpuscan_t next;\n"
    "        if (place.column == 0)\n"
    "            running = base;\n"
    "        next = gpuscan_combine(running, gpuscan_convert(gpuscan_src_at(&data->vector[k], v), place.column));\n"
    "        {\n"
    "            bool is_tail = place.row == at.row, is_last = v + 1 == GPUSCAN_VECTOR;\n"
    "            gpuscan_dst inclusive =\n"
    "                is_tail ? gpuscan_vector_place(&ends, next, is_last) : gpuscan_to_dst(next);\n"
    "            gpuscan_dst exclusive =\n"
    "                is_tail ? gpuscan_vector_place(&ends, running, false) : gpuscan_to_dst(running);\n"
    "            gpuscan_dst_put(&out, v, GPUSCAN_INCLUSIVE ? inclusive : exclusive);\n"
    "            if ((flags & GPUSCAN_FLAG_TOTAL) && place.column + 1 == tile->count && place.row < tile->rows)\n"
    "                totals[place.row] = inclusive;\n"
    "        }\n"
    "        running = next;\n"
    "        gpuscan_place_next(tile, &place);\n"
    "    }\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "    if (gpuscan_place_is_vector(tile, first, i) && ((size_t)to & (GPUSCAN_DST_RAW_SIZE - 1)) == 0) {\n"
    "        gpuscan_store_vector(to, out.raw);\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    place = first;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < GPUSCAN_VECTOR; v++) {\n"
    "        if (gpuscan_place_is_element(tile, place))\n"
    "            tile->dst[place.row * tile->dst_pitch + place.column] = gpuscan_dst_at(&out, v);\n"
    "        gpuscan_place_next(tile, &place);\n"
    "    }\n"
    "}\n"
    "\n",
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_scan_rows(global const gpuscan_src *src, global gpuscan_dst *dst, global const uint *count_buffer,\n"
    "                  gpuscan_init init_value, global const gpuscan_dst *init_buffer, global gpuscan_dst *totals,\n"
    "                  gpuscan_scan_rows_numbers numbers, local gpuscan_shared *shared) {\n"
    "    uint flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    gpuscan_t base = gpuscan_base(init_value, init_buffer, numbers.init_offset, flags);\n"
    "    gpuscan_row_tile tile;\n"
    "    tile.row_length = (uint)numbers.length;\n"
    "    tile.inverse = 0xffffffffu / tile.row_length + 1;\n"
    "    tile.count = (uint)count;\n"
    "    tile.src_pitch = numbers.src_pitch;\n"
    "    tile.dst_pitch = numbers.dst_pitch;\n"
    "    tile.dense = count == numbers.length && numbers.src_pitch == count && numbers.dst_pitch == count;\n"
    "    for (ulong row = get_group_id(0) * numbers.tile_rows; row < numbers.rows;\n"
    "         row += get_num_groups(0) * numbers.tile_rows) {\n"
    "        gpuscan_tile data;\n"
    "        gpuscan_place places[GPUSCAN_ITEM_VECTORS];\n"
    "        tile.src = src + numbers.src_offset + row * numbers.src_pitch;\n"
    "        tile.dst = dst + numbers.dst_offset + row * numbers.dst_pitch;\n"
    "        tile.rows = (uint)min(numbers.tile_rows, numbers.rows - row);\n"
    "        if (GPUSCAN_PLANTED(LAST_ROW))\n"
    "            tile.rows--;\n"
    "        tile.before = 0;\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "        if (numbers.src_pitch == numbers.length && numbers.dst_pitch == numbers.length)\n"
    "            tile.before = ((uint)(size_t)tile.src & (GPUSCAN_SRC_RAW_SIZE - 1)) / sizeof(gpuscan_src);\n"
    "        if (tile.before + tile.rows * tile.row_length > GPUSCAN_TILE) /* the host took the rows for aligned */\n"
    "            tile.before = 0;\n"
    "#endif\n"
    "        tile.rows_before = (tile.before + tile.row_length - 1) / tile.row_length;\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            uint i = GPUSCAN_OWN_FIRST + k * GPUSCAN_VECTOR_STRIDE;\n"
    "            places[k] = gpuscan_place_of(&tile, i);\n"
    "            gpuscan_row_vector_fetch(&data.vector[k], &tile, places[k], i);\n"
    "        }\n"
    "        if ((flags & GPUSCAN_FLAG_TOTAL) && count == 0)\n"
    "            for (uint i = GPUSCAN_ITEM; i < tile.rows; i += GPUSCAN_GROUP)\n"
    "                totals[numbers.total_offset + row + i] = gpuscan_to_dst(base);\n"
    "        gpuscan_group_share(gpuscan_row_tile_scan_subgroup(&data, &tile, places, shared), shared);\n"
    "        data.group = gpuscan_row_group_before(&tile, shared);\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            gpuscan_row_vector_store(&data, &tile, places[k], GPUSCAN_OWN_FIRST + k * GPUSCAN_VECTOR_STRIDE, k, base,\n"
    "                                     totals + numbers.total_offset + row, flags);\n"
    "        GPUSCAN_BARRIER(); /* the next tile writes shared again */\n"
    "    }\n"
    "}\n"
    "\n",
    "/* Rows of a few bytes: a work-item scans a row. */\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_scan_rows_by_item(global const gpuscan_src *src, global gpuscan_dst *dst, global const uint *count_buffer,\n"
    "                          gpuscan_init init_value, global const gpuscan_dst *init_buffer,\n"
    "                          global gpuscan_dst *totals, gpuscan_scan_rows_numbers numbers,\n"
    "                          local gpuscan_shared *shared) {\n"
    "    uint flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    gpuscan_t base = gpuscan_base(init_value, init_buffer, numbers.init_offset, flags);\n"
    "    src += numbers.src_offset;\n"
    "    dst += numbers.dst_offset;\n"
    "    for (ulong row = get_global_id(0); row < numbers.rows - (GPUSCAN_PLANTED(LAST_ROW) ? 1 : 0);\n"
    "         row += get_global_size(0)) {\n"
    "        global const gpuscan_src *from = src + row * numbers.src_pitch;\n"
    "        global gpuscan_dst *to = dst + row * numbers.dst_pitch;\n"
    "        gpuscan_t sum = base;\n"
    "        for (ulong i = 0; i < count; i++) {\n"
    "            gpuscan_t next = gpuscan_combine(sum, gpuscan_convert(from[i], i));\n"
    "            to[i] = gpuscan_to_dst(GPUSCAN_INCLUSIVE ? next : sum);\n"
    "            sum = next;\n"
    "        }\n"
    "        if (flags & GPUSCAN_FLAG_TOTAL)\n"
    "            totals[numbers.total_offset + row] = gpuscan_to_dst(sum);\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* [SINGLE-PASS SCAN] ----------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* One tile a group, each datum read once and written once. A tile publishes its sum (aggregate), looks back over the\n"
    "   tiles before it to the nearest one that has published everything up to its end (prefix), and publishes its own.\n"
    "   Merrill and Garland, \"Single-pass parallel prefix scan with decoupled look-back\", 2016. Tickets number the tiles in\n"
    "   the order in which groups start, so that a tile only waits for groups that run or have run.\n"
    "\n"
    "   Prefixes are combined in tile order: prefix[t] = prefix[t - 1] op aggregate[t], whichever prefix was found, so that\n"
    "   floats come out with the same bits whatever the timing.\n"
    "\n",
    "   A group that waits too long sums the late tile itself and publishes that for it, so nothing can hang on a group that\n"
    "   does not run. Smith, Levien and Owens, \"Decoupled fallback\", 2025.                                                */\n"
    "#if GPUSCAN_SCAN_SINGLE_PASS || GPUSCAN_SELECT_SINGLE_PASS\n"
    "\n"
    "#define GPUSCAN_NONE 0xffffffffu\n"
    "\n"
    "#if GPUSCAN_SCAN_SINGLE_PASS\n"
    "typedef struct {\n"
    "    GPUSCAN_SCAN_NUMBERS\n"
    "} gpuscan_scan_numbers;\n"
    "\n"
    "#define GPUSCAN_SCAN_PARAMETERS                                                                                       \\\n"
    "    global const gpuscan_src *src, global gpuscan_dst *dst, global const uint *count_buffer,                          \\\n"
    "        global gpuscan_word *states, gpuscan_init init_value, global const gpuscan_dst *init_buffer,                  \\\n"
    "        global gpuscan_dst *totals, gpuscan_scan_numbers numbers, local gpuscan_shared *shared\n"
    "\n"
    "/* What all single-pass kernels end with: the row's total, by the tile that holds the row's end; and, where a group\n"
    "   takes a tile, the tile's elements. prefix: what precedes the tile; after: everything up to its end; sum: its own. */\n"
    "GPUSCAN_INLINE void gpuscan_total_store(global gpuscan_dst *totals, ulong total_offset, ulong row,\n"
    "                                       ulong first, ulong count, gpuscan_t after, uint flags) {\n"
    "    if ((flags & GPUSCAN_FLAG_TOTAL) && first + GPUSCAN_TILE >= count && GPUSCAN_ITEM == 0)\n"
    "        totals[total_offset + row] = gpuscan_to_dst(after);\n"
    "}\n"
    "#if !GPUSCAN_CPU\n"
    "GPUSCAN_INLINE void gpuscan_scan_end(const gpuscan_tile *data, global const gpuscan_src *src, global gpuscan_dst *dst,\n"
    "                                    global gpuscan_dst *totals, ulong total_offset, ulong row,\n"
    "                                    ulong first, ulong count, gpuscan_t prefix, gpuscan_t sum, uint flags,\n"
    "                                    local gpuscan_shared *shared) {\n"
    "#if GPUSCAN_LOADS_AFTER\n"
    "    gpuscan_t after = shared->prefix;\n"
    "#else\n"
    "    gpuscan_t after = gpuscan_combine(prefix, sum);\n"
    "#endif\n"
    "    gpuscan_total_store(totals, total_offset, row, first, count, after, flags);\n"
    "    gpuscan_tile_store(data, src, dst, first, count, prefix, flags, shared);\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "\n",
    "#if !GPUSCAN_AHEAD && !GPUSCAN_FEW\n"
    "/* A tile's own state: first its sum, which for a row's first tile is all that there is; once what precedes it is known,\n"
    "   everything up to its end. */\n"
    "static inline void gpuscan_publish_sum(global gpuscan_word *states, uint tile, uint row_first, uint epoch,\n"
    "                                       gpuscan_t base, gpuscan_t sum) {\n"
    "    if (GPUSCAN_TEST_SILENT(tile))\n"
    "        return;\n"
    "    if (tile != row_first)\n"
    "        gpuscan_publish(states, tile, epoch, GPUSCAN_AGGREGATE, sum);\n"
    "    else\n"
    "        gpuscan_publish(states, tile, epoch, GPUSCAN_PREFIX, gpuscan_combine(base, sum));\n"
    "}\n"
    "static inline void gpuscan_publish_prefix(global gpuscan_word *states, uint tile, uint row_first, uint epoch,\n"
    "                                          gpuscan_t value) {\n"
    "    if (!GPUSCAN_TEST_SILENT(tile) && tile != row_first)\n"
    "        gpuscan_publish(states, tile, epoch, GPUSCAN_PREFIX, value);\n"
    "}\n"
    "\n"
    "/* What precedes tile, by one sub-group (WINDOW lanes); base stands before tile first. Returns GPUSCAN_NONE, or the\n"
    "   tile that is late. */\n"
    "static inline uint gpuscan_look_back(global gpuscan_word *states, uint first, uint tile, uint epoch, gpuscan_t base,\n"
    "                                     gpuscan_t *prefix, local gpuscan_shared *shared) {\n"
    "    uint lane = GPUSCAN_WINDOW_LANE;\n"
    "    uint end = tile; /* [end, tile): aggregates that are there, without a prefix among them when they were seen */\n"
    "    uint flag, nearest;\n"
    "    gpuscan_t value, sum;\n"
    "    for (;;) { /* lane l looks at tile end - 1 - l */\n"
    "        uint polls = 0;\n"
    "        gpuscan_ballot_t prefixes;\n"
    "        for (;;) {\n"
    "            gpuscan_ballot_t ready, needed;\n"
    "            flag = GPUSCAN_PREFIX;\n"
    "            value = base;\n"
    "            if (lane < end - first)\n"
    "                flag = gpuscan_observe(states, end - 1 - lane, epoch, &value);\n"
    "            ready = gpuscan_ballot(flag != GPUSCAN_EMPTY);\n"
    "            prefixes = gpuscan_ballot(flag == GPUSCAN_PREFIX);\n"
    "            nearest = prefixes ? gpuscan_lowest(prefixes) : GPUSCAN_WINDOW - 1;\n"
    "            needed = GPUSCAN_BALLOT_UP_TO(nearest);\n"
    "            if ((ready & needed) == needed)\n"
    "                break;\n"
    "            if (++polls > GPUSCAN_POLLS)\n"
    "                return end - 1 - gpuscan_lowest(~ready & needed);\n"
    "        }\n"
    "        if (prefixes)\n"
    "            break;\n"
    "        end -= GPUSCAN_WINDOW;\n"
    "    }\n"
    "    sum = gpuscan_shuffle(value, nearest);\n"
    "    for (;;) { /* forwards again, in tile order */\n"
    "        for (uint l = nearest; l-- > 0;) {\n"
    "            gpuscan_t x = gpuscan_shuffle(value, l);\n"
    "            sum = gpuscan_lane_at(flag, l) == GPUSCAN_PREFIX ? x : gpuscan_combine(sum, x);\n"
    "        }\n"
    "        if (end == tile)\n"
    "            break;\n"
    "        end += GPUSCAN_WINDOW;\n"
    "        nearest = GPUSCAN_WINDOW;\n"
    "        flag = gpuscan_observe(states, end - 1 - lane, epoch, &value);\n"
    "    }\n"
    "    *prefix = GPUSCAN_PLANTED(LOOK_BACK) ? base : sum;\n"
    "    return GPUSCAN_NONE;\n"
    "}\n"
    "\n",
    "/* The same for the whole group, which finds it in shared->prefix after its next barrier. The sub-group that looks back\n"
    "   sums late tiles itself until it gets through: not the whole group, since barriers that only some groups reach are\n"
    "   more than some compilers can do. */\n"
    "static inline gpuscan_t gpuscan_tile_prefix(global gpuscan_word *states, uint first, uint tile, uint epoch,\n"
    "                                            gpuscan_t base, global const gpuscan_src *src, ulong count,\n"
    "                                            local gpuscan_shared *shared) {\n"
    "    gpuscan_t prefix = base;\n"
    "    if (GPUSCAN_ITEM < GPUSCAN_WINDOW) {\n"
    "        uint late = gpuscan_look_back(states, first, tile, epoch, base, &prefix, shared);\n"
    "        while (late != GPUSCAN_NONE) {\n"
    "            gpuscan_t sum = gpuscan_tile_sum_alone(src, (ulong)(late - first) * GPUSCAN_TILE, count, shared);\n"
    "            if (GPUSCAN_ITEM == 0)\n"
    "                gpuscan_publish_for(states, late, epoch, sum);\n"
    "            late = gpuscan_look_back(states, first, tile, epoch, base, &prefix, shared);\n"
    "        }\n"
    "#if !GPUSCAN_CPU\n"
    "        if (GPUSCAN_ITEM == 0)\n"
    "            shared->prefix = prefix;\n"
    "#endif\n"
    "    }\n"
    "    return prefix;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_CPU\n"
    "/* The next tile that holds elements, or is its row's first, or GPUSCAN_NONE: each group draws one number too many. */\n"
    "static inline uint gpuscan_draw_tile(global uint *tickets, uint tiles, uint row_tiles, ulong count,\n"
    "                                     local gpuscan_shared *shared) {\n"
    "    for (;;) {\n"
    "        uint tile = gpuscan_ticket(tickets, tiles + (uint)get_num_groups(0), &shared->ticket);\n"
    "        if (tile >= tiles)\n"
    "            return GPUSCAN_NONE;\n"
    "        if (tile % row_tiles == 0 || (ulong)(tile % row_tiles) * GPUSCAN_TILE < count)\n"
    "            return tile;\n"
    "    }\n"
    "}\n"
    "\n"
    "#if GPUSCAN_SCAN_SINGLE_PASS\n"
    "static inline gpuscan_span gpuscan_tile_span(uint tile, uint row_tiles, global const gpuscan_src *src,\n"
    "                                              ulong src_pitch, global const gpuscan_dst *dst, ulong dst_pitch,\n"
    "                                              ulong count, uint flags) {\n"
    "    gpuscan_span span;\n"
    "    span.first = span.last = 0;\n"
    "    span.head = 0;\n"
    "    span.src = src;\n"
    "    if (tile != GPUSCAN_NONE) {\n"
    "        span.src += tile / row_tiles * src_pitch;\n"
    "        span.first = (ulong)(tile % row_tiles) * GPUSCAN_TILE;\n"
    "        span.last = min(span.first + GPUSCAN_TILE, count) - (GPUSCAN_PLANTED(SPAN_TAIL) ? 1 : 0);\n"
    "        span.head = gpuscan_span_head(dst + tile / row_tiles * dst_pitch, span.first, flags);\n"
    "    }\n"
    "    span.sum = gpuscan_identity();\n"
    "    return span;\n"
    "}\n"
    "\n",
    "/* One work-item takes tile after tile, and sums its next one while it scans the one it has. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_scan_look_back_cpu(GPUSCAN_SCAN_PARAMETERS) {\n"
    "    uint tiles = (uint)numbers.tiles, row_tiles = (uint)numbers.row_tiles, tile;\n"
    "    uint epoch = (uint)numbers.epoch, flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    gpuscan_t base = gpuscan_base(init_value, init_buffer, numbers.init_offset, flags);\n"
    "    gpuscan_span span;\n"
    "    states += numbers.states_offset;\n"
    "    src += numbers.src_offset;\n"
    "    dst += numbers.dst_offset;\n"
    "    tile = gpuscan_draw_tile(GPUSCAN_COUNTERS(states), tiles, row_tiles, count, shared);\n"
    "    span = gpuscan_tile_span(tile, row_tiles, src, numbers.src_pitch, dst, numbers.dst_pitch, count, flags);\n"
    "    span.sum = gpuscan_span_sum(span.src, span.first, span.last, span.head);\n"
    "    while (tile != GPUSCAN_NONE) {\n"
    "        uint row = tile / row_tiles, row_first = row * row_tiles;\n"
    "        global gpuscan_dst *to = dst + row * numbers.dst_pitch;\n"
    "        uint next;\n"
    "        gpuscan_span next_span;\n"
    "        gpuscan_t prefix, after;\n"
    "        shared->head = span.head;\n"
    "        GPUSCAN_TEST_DELAY(tile);\n"
    "        gpuscan_publish_sum(states, tile, row_first, epoch, base, span.sum);\n"
    "        if ((global const void *)span.src == (global const void *)to) /* see gpuscan_publish_for */\n"
    "            gpuscan_device_fence();\n"
    "        prefix = gpuscan_tile_prefix(states, row_first, tile, epoch, base, span.src, count, shared);\n"
    "        after = gpuscan_combine(prefix, span.sum);\n"
    "        gpuscan_publish_prefix(states, tile, row_first, epoch, after);\n"
    "        gpuscan_total_store(totals, numbers.total_offset, row, span.first, count, after, flags);\n"
    "        next = gpuscan_draw_tile(GPUSCAN_COUNTERS(states), tiles, row_tiles, count, shared);\n"
    "        next_span = gpuscan_tile_span(next, row_tiles, src, numbers.src_pitch, dst, numbers.dst_pitch, count, flags);\n"
    "        gpuscan_span_scan_ahead(&span, to, prefix, !GPUSCAN_ANY_ORDER, flags, &next_span);\n"
    "        tile = next;\n"
    "        span = next_span;\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n",
    "#elif GPUSCAN_SCAN_SINGLE_PASS\n"
    "/* One group takes one tile. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_scan_look_back(GPUSCAN_SCAN_PARAMETERS) {\n"
    "    gpuscan_tile data;\n"
    "    gpuscan_t base, sum, prefix;\n"
    "    uint tile =\n"
    "        gpuscan_ticket(GPUSCAN_COUNTERS(states + numbers.states_offset), (uint)get_num_groups(0), &shared->ticket);\n"
    "    uint row_tiles = (uint)numbers.row_tiles, epoch = (uint)numbers.epoch, flags = (uint)numbers.flags;\n"
    "    states += numbers.states_offset;\n"
    "    ulong row = tile / row_tiles;\n"
    "    uint row_first = (uint)row * row_tiles;\n"
    "    ulong first = (ulong)(tile - row_first) * GPUSCAN_TILE;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    if (first >= count && tile != row_first) /* past a count read on the device: nothing waits for this tile */\n"
    "        return;\n"
    "    src += numbers.src_offset + row * numbers.src_pitch;\n"
    "    dst += numbers.dst_offset + row * numbers.dst_pitch;\n"
    "    base = gpuscan_base(init_value, init_buffer, numbers.init_offset, flags);\n"
    "    gpuscan_tile_fetch(&data, src, first, count, GPUSCAN_OWN_FIRST);\n"
    "    sum = gpuscan_tile_scan(&data, first, count, shared);\n"
    "    GPUSCAN_TEST_DELAY(tile);\n"
    "    if (GPUSCAN_ITEM == 0) {\n"
    "        gpuscan_publish_sum(states, tile, row_first, epoch, base, sum);\n"
    "        if ((global const void *)src == (global const void *)dst) /* see gpuscan_publish_for */\n"
    "            gpuscan_device_fence();\n"
    "    }\n"
    "    gpuscan_tile_prefix(states, row_first, tile, epoch, base, src, count, shared);\n"
    "    GPUSCAN_BARRIER();\n"
    "    prefix = shared->prefix;\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        gpuscan_publish_prefix(states, tile, row_first, epoch, gpuscan_combine(prefix, sum));\n"
    "    gpuscan_scan_end(&data, src, dst, totals, numbers.total_offset, row, first, count, prefix, sum,\n"
    "                     flags, shared);\n"
    "}\n"
    "#endif\n"
    "\n"
    "#else /* AHEAD or FEW */\n"
    "\n"
    "/* A row of the data and its tiles' states: sums, and what stands at their ends. Each word is written once a call, or\n"
    "   again with the same bits, so that a tile's sum stays there for whoever has to fall back on it. */\n"
    "typedef struct {\n"
    "    global const gpuscan_src *src;\n"
    "    ulong count;\n"
    "    global gpuscan_word *sums, *prefixes;\n"
    "    uint tag;\n"
    "} gpuscan_scan_row;\n"
    "\n",
    "static inline bool gpuscan_state_load(global gpuscan_word *states, uint tile, uint tag, gpuscan_t *value) {\n"
    "    return gpuscan_words_load(states + (ulong)tile * GPUSCAN_VALUE_WORDS, tag, value);\n"
    "}\n"
    "static inline void gpuscan_state_store(global gpuscan_word *states, uint tile, uint tag, gpuscan_t value) {\n"
    "    gpuscan_words_store(states + (ulong)tile * GPUSCAN_VALUE_WORDS, tag, value, GPUSCAN_TEST_STORED(tile));\n"
    "}\n"
    "\n"
    "/* The tag of a tile's sum that another group publishes, or the one that scans it: more than its own. */\n"
    "#define GPUSCAN_TAG_FOR(tag) ((tag) ^ (GPUSCAN_AGGREGATE | GPUSCAN_PREFIX))\n"
    "\n"
    "/* The sums of tiles [from, to), no more than a window's, for gpuscan_window_end. Those that are late are summed and\n"
    "   published here. In place a tile may have overwritten its data meanwhile, but it publishes before it does. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_window_sums(const gpuscan_scan_row *row, uint from, uint to,\n"
    "                                            local gpuscan_shared *shared) {\n"
    "    uint tile = from + GPUSCAN_WINDOW_LANE;\n"
    "    gpuscan_ballot_t late;\n"
    "    gpuscan_t sum = gpuscan_identity();\n"
    "    bool there = tile >= to || gpuscan_state_load(row->sums, tile, row->tag, &sum);\n"
    "    for (late = ~gpuscan_ballot(there) & GPUSCAN_BALLOT_ALL; late; late &= late - 1) {\n"
    "        uint l = gpuscan_lowest(late);\n"
    "        gpuscan_t x = gpuscan_tile_sum_alone(row->src, (ulong)(from + l) * GPUSCAN_TILE, row->count,\n"
    "                                             shared);\n"
    "        gpuscan_device_fence();\n"
    "        if (GPUSCAN_WINDOW_LANE == l && !gpuscan_state_load(row->sums, tile, row->tag, &sum)) {\n"
    "            sum = x;\n"
    "            gpuscan_state_store(row->sums, tile, GPUSCAN_TAG_FOR(row->tag), sum);\n"
    "        }\n"
    "    }\n"
    "    return gpuscan_window_begin(sum, shared);\n"
    "}\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_AHEAD\n"
    "/* [SCAN AHEAD] ----------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* Every tile is read twice, the second time from the cache, and nobody waits. One group folds; half of the\n"
    "   others sum tiles, `ahead` tiles before the other half scans them. They never wait and bring the tiles into the cache.\n"
    "   The folding group alone turns their sums into prefixes, and a scanning group reads one prefix. In order of groups:\n"
    "\n",
    "       fold | sum 0 ... ahead-1 | sum ahead, scan 0, sum ahead+1, scan 1, ... | scan the last ahead tiles\n"
    "\n"
    "   From a row's first tile on, as many tiles as a sub-group has lanes (without lanes: one) are a window:\n"
    "\n"
    "       prefix(t) = prefix(t - 1) op sum(t)\n"
    "\n"
    "   or, but for sums of floats, the prefix before t's window op the scan of its sums at t, which takes the folding group\n"
    "   an eighth of the time (H200, 2^28 bytes of structs of 16 bytes: 178 us, by a chain 220). So floats come out with the\n"
    "   same bits whatever the timing, and whoever computes it; and since a tile takes over both prefix(t - 1) and prefix(t),\n"
    "   it begins where the one before ends. Whoever waits too long does: all waits end. */\n"
    "\n"
    "#define GPUSCAN_FOLDERS (GPUSCAN_HAS_LANES ? GPUSCAN_SUBGROUPS : 1)\n"
    "#if GPUSCAN_PTX /* groups start in this order; if not, it only takes longer */\n"
    "#define GPUSCAN_START_ORDER() ((uint)get_group_id(0))\n"
    "#else\n"
    "#define GPUSCAN_START_ORDER()                                                                                          \\\n"
    "    gpuscan_ticket(GPUSCAN_COUNTERS(states + numbers.states_offset), (uint)get_num_groups(0), &shared->ticket)\n"
    "#endif\n"
    "\n"
    "/* Whose turn it is to continue the prefix: what was written to local memory before the turn passed is there after. */\n"
    "static inline uint gpuscan_turn_load(local uint *turn) {\n"
    "#if GPUSCAN_PTX\n"
    "    uint x;\n"
    "    __asm__ volatile(\"ld.acquire.cta.shared.u32 %0, [%1];\" : \"=r\"(x) : \"r\"((uint)(size_t)turn) : \"memory\");\n"
    "    return x;\n"
    "#else\n"
    "    return *turn;\n"
    "#endif\n"
    "}\n"
    "static inline void gpuscan_turn_store(local uint *turn, uint x) {\n"
    "#if GPUSCAN_PTX\n"
    "    __asm__ volatile(\"st.release.cta.shared.u32 [%0], %1;\" ::\"r\"((uint)(size_t)turn), \"r\"(x) : \"memory\");\n"
    "#else\n"
    "    *turn = x;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* The prefixes begin with a cache line, too. */\n"
    "static inline uint gpuscan_states_of(uint tiles) {\n"
    "    return (tiles + (GPUSCAN_STATES_ALIGN - 1)) & ~(GPUSCAN_STATES_ALIGN - 1u);\n"
    "}\n"
    "\n"
    "static inline gpuscan_scan_row gpuscan_scan_row_at(uint r, uint row_tiles, uint tiles, global const gpuscan_src *src,\n"
    "                                         ulong src_pitch, ulong count, global gpuscan_word *states, uint epoch) {\n"
    "    gpuscan_scan_row row;\n"
    "    row.src = src + r * src_pitch;\n"
    "    row.count = count;\n"
    "    row.sums = states + (ulong)r * row_tiles * GPUSCAN_VALUE_WORDS;\n"
    "    row.prefixes = row.sums + (ulong)(gpuscan_states_of(tiles)) * GPUSCAN_VALUE_WORDS;\n"
    "    row.tag = epoch << 2 | GPUSCAN_AGGREGATE;\n"
    "    return row;\n"
    "}\n"
    "\n",
    "/* LOADS_AFTER: what stands at a tile's end goes to those of its elements that end it, which see it after the next\n"
    "   GPUSCAN_LANES_SYNC. All sub-groups find the same. */\n"
    "GPUSCAN_INLINE void gpuscan_after_share(gpuscan_t after, local gpuscan_shared *shared) {\n"
    "    if (GPUSCAN_LANE == 0)\n"
    "        shared->prefix = after;\n"
    "}\n"
    "\n"
    "/* What precedes a tile that is not its row's first. */\n"
    "GPUSCAN_INLINE bool gpuscan_prefix_load(const gpuscan_scan_row *row, uint tile, gpuscan_t *prefix,\n"
    "                                       local gpuscan_shared *shared) {\n"
    "#if GPUSCAN_LOADS_AFTER\n"
    "    gpuscan_t after;\n"
    "    if (!gpuscan_state_load(row->prefixes, tile, row->tag, &after))\n"
    "        return false;\n"
    "    gpuscan_after_share(after, shared);\n"
    "#endif\n"
    "    return gpuscan_state_load(row->prefixes, tile - 1, row->tag, prefix);\n"
    "}\n"
    "\n"
    "/* What precedes a tile that is not its row's first, by one window, where the folding group is late. */\n"
    "GPUSCAN_INLINE gpuscan_t gpuscan_own_prefix(const gpuscan_scan_row *row, uint tile, gpuscan_t base,\n"
    "                                           local gpuscan_shared *shared) {\n"
    "    uint last = (tile - 1) / GPUSCAN_WINDOW, w = last;\n"
    "    gpuscan_t prefix = base;\n"
    "    for (; w > 0; w--) {\n"
    "        gpuscan_t x;\n"
    "        bool there = gpuscan_state_load(row->prefixes, w * GPUSCAN_WINDOW - 1, row->tag, &x);\n"
    "        if (gpuscan_ballot(!there) == 0) {\n"
    "            prefix = x;\n"
    "            break;\n"
    "        }\n"
    "    }\n"
    "    for (;; w++) {\n"
    "        uint from = w * GPUSCAN_WINDOW;\n"
    "        gpuscan_t sums = gpuscan_window_sums(row, from, min(tile, from + GPUSCAN_WINDOW), shared);\n"
    "        sums = gpuscan_window_end(prefix, sums, shared);\n"
    "        prefix = gpuscan_shuffle(sums, (w == last ? tile - 1 : GPUSCAN_WINDOW - 1) % GPUSCAN_WINDOW);\n"
    "        if (w == last)\n"
    "            return prefix;\n"
    "        if (GPUSCAN_WINDOW_LANE == 0)\n"
    "            gpuscan_state_store(row->prefixes, from + GPUSCAN_WINDOW - 1, row->tag, prefix);\n"
    "    }\n"
    "}\n"
    "\n"
    "/* The folding group's windows take turns. Each of its sub-groups waits for the sums of a window of tiles and scans them\n"
    "   before its turn comes; then it only combines them with the prefix that the sub-group before it has handed on through\n"
    "   local memory. While it has the turn, it publishes what is known of its window so far. */\n"
    "GPUSCAN_INLINE void gpuscan_fold(global const gpuscan_src *src, ulong src_pitch, ulong count, uint tiles,\n"
    "                                uint row_tiles, global gpuscan_word *states, uint epoch, gpuscan_t base,\n"
    "                                local gpuscan_shared *shared) {\n"
    "    uint live = (uint)max((ulong)1, count / GPUSCAN_TILE + (count % GPUSCAN_TILE != 0)); /* tiles of a row */\n"
    "    uint row_windows = (live + GPUSCAN_WINDOW - 1) / GPUSCAN_WINDOW, windows = tiles / row_tiles * row_windows;\n"
    "    uint lane = GPUSCAN_WINDOW_LANE;\n"
    "    if (GPUSCAN_ITEM == 0) {\n"
    "        shared->prefix = base;\n"
    "        shared->turn = 0;\n"
    "    }\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    GPUSCAN_BARRIER();\n"
    "#endif\n"
    "    if (GPUSCAN_ITEM >= GPUSCAN_FOLDERS * GPUSCAN_WINDOW)\n"
    "        return;\n"
    "    for (uint w = GPUSCAN_ITEM / GPUSCAN_WINDOW; w < windows; w += GPUSCAN_FOLDERS) {\n"
    "        uint r = w / row_windows, from = (w - r * row_windows) * GPUSCAN_WINDOW, tile = from + lane;\n"
    "        gpuscan_scan_row row = gpuscan_scan_row_at(r, row_tiles, tiles, src, src_pitch, count, states, epoch);\n"
    "        gpuscan_t sum = gpuscan_identity(), prefix = base, sums;\n"
    "        uint done = 0, polls = 0; /* tiles of the window that are published */\n"
    "        bool there = tile >= live, mine = false;\n"
    "        while (done < GPUSCAN_WINDOW) {\n"
    "            if (!there)\n"
    "                there = gpuscan_state_load(row.sums, tile, row.tag, &sum);\n"
    "            gpuscan_ballot_t missing = ~gpuscan_ballot(there) & GPUSCAN_BALLOT_ALL;\n"
    "            uint known = missing ? gpuscan_lowest(missing) : GPUSCAN_WINDOW;\n"
    "            bool late = mine && polls++ > GPUSCAN_POLLS; /* all wait for this window */\n"
    "            if (late) {\n"
    "                sums = gpuscan_window_sums(&row, from, min(live, from + GPUSCAN_WINDOW), shared);\n"
    "                known = GPUSCAN_WINDOW;\n"
    "            } else if (known == done && mine) {\n",
    "                continue;\n"
    "            } else {\n"
    "                sums = gpuscan_window_begin(sum, shared);\n"
    "            }\n"
    "            if (!mine) {\n"
    "                /* Whoever has the turn passes it on after so many polls and sums at most: this wait ends. */\n"
    "                bool turned = gpuscan_ballot(gpuscan_turn_load(&shared->turn) != w) == 0;\n"
    "                while (!turned && known == GPUSCAN_WINDOW)\n"
    "                    turned = gpuscan_ballot(gpuscan_turn_load(&shared->turn) != w) == 0;\n"
    "                if (!turned)\n"
    "                    continue;\n"
    "                mine = true;\n"
    "                if (from != 0)\n"
    "                    prefix = GPUSCAN_PLANTED(AHEAD) ? base : shared->prefix;\n"
    "                GPUSCAN_LANES_SYNC(); /* before the last lane writes there */\n"
    "            }\n"
    "            sums = gpuscan_window_end(prefix, sums, shared);\n"
    "            if (known == GPUSCAN_WINDOW && lane == GPUSCAN_WINDOW - 1) {\n"
    "                shared->prefix = sums;\n"
    "                gpuscan_turn_store(&shared->turn, w + 1);\n"
    "            }\n"
    "            if (!GPUSCAN_TEST_SILENT(tile) && lane >= done && lane < known && tile < live)\n"
    "                gpuscan_state_store(row.prefixes, tile, row.tag, sums);\n"
    "            done = known;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n"
    "/* In place a tile is overwritten only once its sum is published: so whoever sums it for that has read it, or, if that\n"
    "   takes too long, whoever scans it publishes the sum, and whoever reads it after that finds that it is there. Words\n"
    "   that have room for a value publish by a maximum: late sums, which may be of what has been overwritten, have the lower\n"
    "   flag and change nothing (H200, u32, 2^28 bytes: 150 us, with a fence and a second look 162). */\n"
    "#if GPUSCAN_PTX && GPUSCAN_ONE_WORD && GPUSCAN_WORD == 64\n"
    "#define GPUSCAN_SUM_BY_MAXIMUM 1\n"
    "#else\n"
    "#define GPUSCAN_SUM_BY_MAXIMUM 0\n"
    "#endif\n"
    "static inline void gpuscan_ahead_publish(const gpuscan_scan_row *row, uint tile, gpuscan_t sum, bool in_place) {\n"
    "    gpuscan_t x;\n"
    "    if (GPUSCAN_TEST_SILENT(tile) || GPUSCAN_ITEM != 0)\n"
    "        return;\n"
    "#if GPUSCAN_SUM_BY_MAXIMUM\n"
    "    if (in_place) {\n"
    "        gpuscan_payloads payloads;\n"
    "        payloads.payload[0] = 0;\n"
    "        payloads.value = sum;\n"
    "        __asm__ volatile(\"red.relaxed.gpu.global.max.u64 [%0], %1;\" ::\"l\"(row->sums + tile),\n"
    "                         \"l\"(gpuscan_word_make(row->tag, payloads.payload[0]))\n"
    "                         : \"memory\");\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    if (in_place) {\n"
    "        gpuscan_device_fence();\n"
    "        if (gpuscan_state_load(row->sums, tile, row->tag, &x))\n"
    "            return;\n"
    "    }\n"
    "    gpuscan_state_store(row->sums, tile, row->tag, sum);\n"
    "}\n"
    "GPUSCAN_INLINE void gpuscan_ahead_await_sum(const gpuscan_scan_row *row, uint tile, gpuscan_t sum, bool there) {\n"
    "    gpuscan_t x;\n"
    "    for (uint polls = 0; !there && polls < GPUSCAN_POLLS; polls++)\n"
    "        there = gpuscan_state_load(row->sums, tile, row->tag, &x);\n"
    "    if (there)\n"
    "        return;\n"
    "    gpuscan_state_store(row->sums, tile, GPUSCAN_TAG_FOR(row->tag), sum);\n"
    "    gpuscan_device_fence();\n"
    "}\n"
    "\n",
    "/* What a group does, by its place in the order above: it sums a tile, or scans it; the first folds. */\n"
    "typedef struct {\n"
    "    uint tile;\n"
    "    bool sums_only;\n"
    "} gpuscan_ahead_role;\n"
    "\n"
    "GPUSCAN_INLINE gpuscan_ahead_role gpuscan_ahead_role_of(uint order, uint tiles, uint ahead) {\n"
    "    gpuscan_ahead_role role;\n"
    "    role.tile = order - 1;\n"
    "    role.sums_only = role.tile < ahead;\n"
    "    if (!role.sums_only) {\n"
    "        uint past = role.tile - ahead;\n"
    "        role.sums_only = past < 2 * (tiles - ahead) && (past & 1) == 0;\n"
    "        role.tile = past >= 2 * (tiles - ahead) ? role.tile - tiles : past / 2 + (role.sums_only ? ahead : 0);\n"
    "    }\n"
    "    return role;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_SCAN_SINGLE_PASS\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_scan_ahead(GPUSCAN_SCAN_PARAMETERS) {\n"
    "    gpuscan_tile data;\n"
    "    gpuscan_t base, sum, prefix;\n"
    "    uint order = GPUSCAN_START_ORDER(), tile;\n"
    "    uint tiles = (uint)numbers.tiles, row_tiles = (uint)numbers.row_tiles, ahead = (uint)numbers.ahead;\n"
    "    uint epoch = (uint)numbers.epoch, flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    bool sums_only, there, summed, in_place;\n"
    "    states += numbers.states_offset;\n"
    "    src += numbers.src_offset;\n"
    "    dst += numbers.dst_offset;\n"
    "    in_place = (global const void *)src == (global const void *)dst;\n"
    "    base = gpuscan_base(init_value, init_buffer, numbers.init_offset, flags);\n"
    "    if (order == 0) {\n"
    "        gpuscan_fold(src, numbers.src_pitch, count, tiles, row_tiles, states, epoch, base, shared);\n"
    "        return;\n"
    "    }\n"
    "    gpuscan_ahead_role role = gpuscan_ahead_role_of(order, tiles, ahead);\n"
    "    tile = role.tile;\n"
    "    sums_only = role.sums_only;\n"
    "    uint r = tile / row_tiles;\n"
    "    gpuscan_scan_row row = gpuscan_scan_row_at(r, row_tiles, tiles, src, numbers.src_pitch, count, states, epoch);\n"
    "    tile -= r * row_tiles;\n"
    "    ulong first = (ulong)tile * GPUSCAN_TILE;\n"
    "    if (first >= count && tile != 0) /* past a count read on the device: nothing waits for this tile */\n"
    "        return;\n"
    "#if GPUSCAN_HAS_LANES /* elsewhere no barriers that only some groups reach */\n"
    "    if (sums_only) {\n"
    "        sum = gpuscan_tile_sum_by(row.src, first, count, gpuscan_policy_keep(), shared);\n"
    "        GPUSCAN_TEST_DELAY(tile);\n"
    "        gpuscan_ahead_publish(&row, tile, sum, in_place);\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    gpuscan_tile_fetch_by(&data, row.src, first, count, GPUSCAN_OWN_FIRST, gpuscan_policy_last());\n"
    "    there = tile == 0;\n"
    "    prefix = base;\n"
    "    if (!there && GPUSCAN_ITEM < GPUSCAN_FOLDERS * GPUSCAN_WINDOW) /* beside the loads */\n"
    "        there = gpuscan_prefix_load(&row, tile, &prefix, shared);\n"
    "    summed = true;\n"
    "    if (in_place)\n"
    "        summed = gpuscan_state_load(row.sums, tile, row.tag, &sum);\n"
    "    sum = gpuscan_tile_scan(&data, first, count, shared);\n"
    "#if !GPUSCAN_HAS_LANES\n"
    "    if (sums_only) {\n"
    "        GPUSCAN_TEST_DELAY(tile);\n"
    "        gpuscan_ahead_publish(&row, tile, sum, in_place);\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    if (GPUSCAN_ITEM < GPUSCAN_FOLDERS * GPUSCAN_WINDOW) {\n"
    "        for (uint polls = 0; !there && polls < GPUSCAN_POLLS; polls++)\n"
    "            there = gpuscan_prefix_load(&row, tile, &prefix, shared);\n"
    "        if (gpuscan_ballot(!there)) {\n"
    "#if GPUSCAN_LOADS_AFTER\n"
    "            gpuscan_after_share(gpuscan_own_prefix(&row, tile + 1, base, shared), shared);\n"
    "#endif\n"
    "            prefix = gpuscan_own_prefix(&row, tile, base, shared);\n"
    "#if GPUSCAN_HAS_LANES /* seldom: the tile is scanned anew, so that none of it has to be kept meanwhile */\n"
    "            gpuscan_tile_fetch_by(&data, row.src, first, count, GPUSCAN_OWN_FIRST, gpuscan_policy_last());\n"
    "            gpuscan_tile_scan_subgroup(&data, first, count, shared);\n"
    "            gpuscan_tile_after(&data, gpuscan_group_before(&sum, shared));\n"
    "#endif\n"
    "        }\n"
    "    }\n"
    "#if GPUSCAN_LOADS_AFTER\n"
    "    if (tile == 0)\n"
    "        gpuscan_after_share(gpuscan_combine(base, sum), shared);\n"
    "    GPUSCAN_LANES_SYNC();\n"
    "#endif\n"
    "#if !GPUSCAN_HAS_LANES\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        shared->prefix = prefix;\n"
    "    GPUSCAN_BARRIER();\n"
    "    prefix = shared->prefix;\n"
    "#endif\n"
    "    if (!summed)\n",
    "        gpuscan_ahead_await_sum(&row, tile, sum, summed);\n"
    "    dst += r * numbers.dst_pitch;\n"
    "    gpuscan_scan_end(&data, row.src, dst, totals, numbers.total_offset, r, first, count, prefix, sum,\n"
    "                     flags, shared);\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_FEW\n"
    "/* [SCAN FEW] ------------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* So few tiles (at most GPUSCAN_FEW) that all groups run at once, with lane instructions. Each reads the sums of\n"
    "   all tiles before its own, a window's in each sub-group; nobody publishes a prefix. Of the windows before its own each\n"
    "   is added whole; what precedes a tile in its own is added to its elements before they are. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_scan_few(GPUSCAN_SCAN_PARAMETERS) {\n"
    "    gpuscan_tile data;\n"
    "    gpuscan_scan_row row;\n"
    "    gpuscan_t sum, prefix;\n"
    "    uint row_tiles = (uint)numbers.row_tiles, flags = (uint)numbers.flags;\n"
    "    uint tile = (uint)get_group_id(0), r = tile / row_tiles;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    row.src = src + numbers.src_offset + r * numbers.src_pitch;\n"
    "    row.count = count;\n"
    "    row.sums = states + numbers.states_offset + (ulong)r * row_tiles * GPUSCAN_VALUE_WORDS;\n"
    "    row.tag = (uint)numbers.epoch << 2 | GPUSCAN_AGGREGATE;\n"
    "    dst += numbers.dst_offset + r * numbers.dst_pitch;\n"
    "    tile -= r * row_tiles;\n"
    "    ulong first = (ulong)tile * GPUSCAN_TILE;\n"
    "    if (first >= count && tile != 0)\n"
    "        return;\n"
    "    gpuscan_tile_fetch(&data, row.src, first, count, GPUSCAN_OWN_FIRST);\n"
    "    prefix = gpuscan_base(init_value, init_buffer, numbers.init_offset, flags);\n"
    "    sum = gpuscan_tile_scan(&data, first, count, shared);\n"
    "    if (GPUSCAN_ITEM == 0 && first + GPUSCAN_TILE < count) {\n"
    "        gpuscan_state_store(row.sums, tile, row.tag, sum);\n"
    "        if ((global const void *)row.src == (global const void *)dst)\n"
    "            gpuscan_device_fence();\n"
    "    }\n"
    "    if ((global const void *)row.src == (global const void *)dst) /* the sum is there first: see gpuscan_window_sums */\n"
    "        GPUSCAN_BARRIER();\n"
    "    if (tile != 0) {\n"
    "        for (uint from = GPUSCAN_SUBGROUP * GPUSCAN_WINDOW; from < tile; from += GPUSCAN_GROUP) {\n"
    "            uint t = from + GPUSCAN_LANE;\n"
    "            gpuscan_t x = gpuscan_identity();\n"
    "            bool there = t >= tile;\n"
    "            for (uint polls = 0; !there && polls < GPUSCAN_POLLS; polls++)\n"
    "                there = gpuscan_state_load(row.sums, t, row.tag, &x);\n"
    "            if (gpuscan_ballot(!there))\n"
    "                x = gpuscan_window_sums(&row, from, min(tile, from + GPUSCAN_WINDOW), shared);\n"
    "            else\n"
    "                x = gpuscan_window_begin(x, shared);\n"
    "            x = gpuscan_window_end(gpuscan_identity(), x, shared);\n"
    "            if (t == min(tile, from + GPUSCAN_WINDOW) - 1)\n"
    "                shared->windows[from / GPUSCAN_WINDOW] = x;\n"
    "        }\n"
    "        GPUSCAN_BARRIER();\n"
    "        for (uint w = GPUSCAN_PLANTED(FEW) ? 1 : 0; w < tile / GPUSCAN_WINDOW; w++)\n"
    "            prefix = gpuscan_combine(prefix, shared->windows[w]);\n"
    "        if (tile % GPUSCAN_WINDOW != 0 && tile >= (GPUSCAN_PLANTED(FEW) ? GPUSCAN_WINDOW : 0))\n"
    "            gpuscan_tile_within(&data, shared->windows[tile / GPUSCAN_WINDOW], &prefix, &sum);\n"
    "    }\n"
    "    gpuscan_scan_end(&data, row.src, dst, totals, numbers.total_offset, r, first, count, prefix, sum,\n"
    "                     flags, shared);\n"
    "}\n"
    "#endif\n"
    "#endif /* GPUSCAN_SCAN_SINGLE_PASS or GPUSCAN_SELECT_SINGLE_PASS */\n"
    "\n",
    "/* [SELECT] --------------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* src is what decides: the flags, or the elements that a predicate looks at. gpuscan_convert makes 1 of what is kept,\n"
    "   0 of what is not, and the sums of these numbers before an element are its place in the outputs. With BITS an element\n"
    "   of src is a word of 32 flags, a unit, and its number says how many of them are kept; those past count are cut off\n"
    "   where the count ends: no place depends on them.\n"
    "\n"
    "   A tile's kept elements are first listed in local memory, by their places in the tile, so that every output is written\n"
    "   by neighbouring work-items side by side, and nothing is read that is not kept:\n"
    "\n"
    "       kept         0 1 1 0 0 1 ...          places       1 2 5 ...\n"
    "       output       to[prefix + j] = from[first + places[j]]\n"
    "\n"
    "   The outputs are the elements, unless only indices or payloads are wanted, and the payloads: GPUSCAN_OUTPUTS(X), made\n"
    "   by the host, says X(number, word, words) of each, whose elements are so many words. Offsets are in words.\n"
    "\n"
    "   Nothing that is read is written here: in place, outputs go to scratch, and gpuscan_select_move brings them home. */\n"
    "#if GPUSCAN_SELECT\n"
    "\n"
    "typedef struct {\n"
    "    GPUSCAN_SELECT_NUMBERS\n"
    "} gpuscan_select_numbers;\n"
    "\n"
    "#if GPUSCAN_INDEX_SIZE == 8\n"
    "typedef ulong gpuscan_index;\n"
    "#else\n"
    "typedef uint gpuscan_index;\n"
    "#endif\n"
    "#if GPUSCAN_INDEX_SIZE\n"
    "#define GPUSCAN_INDEX_PARAMETER global gpuscan_index *indices,\n"
    "#else\n"
    "#define GPUSCAN_INDEX_PARAMETER\n"
    "#endif\n"
    "#define GPUSCAN_UNIT (GPUSCAN_BITS ? 32u : 1u) /* elements */\n"
    "\n"
    "#define GPUSCAN_OUTPUT_PARAMETER(k, word, words) global const word *from##k, global word *to##k,\n"
    "#define GPUSCAN_SELECT_OUTPUTS                                                                                         \\\n"
    "    GPUSCAN_OUTPUTS(GPUSCAN_OUTPUT_PARAMETER) GPUSCAN_INDEX_PARAMETER global uint *tally, global uint *dispatch,       \\\n"
    "        gpuscan_select_numbers numbers\n"
    "#define GPUSCAN_SELECT_PARAMETERS(state)                                                                               \\\n"
    "    global const gpuscan_src *src, global const uint *count_buffer, global state *states, GPUSCAN_SELECT_OUTPUTS,      \\\n"
    "        local gpuscan_shared *shared\n"
    "\n",
    "/* Where the outputs are. */\n"
    "#define GPUSCAN_OUTPUT_FIELD(k, word, words) global const word *from##k; global word *to##k;\n"
    "typedef struct {\n"
    "    GPUSCAN_OUTPUTS(GPUSCAN_OUTPUT_FIELD)\n"
    "    global gpuscan_index *indices;\n"
    "    ulong capacity;\n"
    "} gpuscan_outputs;\n"
    "\n"
    "#define GPUSCAN_OUTPUT_SET(k, word, words)                                                                             \\\n"
    "    outputs.from##k = from##k + numbers.from##k##_offset;                                                              \\\n"
    "    outputs.to##k = to##k + numbers.to##k##_offset;\n"
    "#if GPUSCAN_INDEX_SIZE\n"
    "#define GPUSCAN_INDEX_SET outputs.indices = indices + numbers.indices_offset;\n"
    "#else\n"
    "#define GPUSCAN_INDEX_SET outputs.indices = 0;\n"
    "#endif\n"
    "#define GPUSCAN_OUTPUTS_OF(outputs)                                                                                    \\\n"
    "    gpuscan_outputs outputs;                                                                                           \\\n"
    "    GPUSCAN_OUTPUTS(GPUSCAN_OUTPUT_SET)                                                                                \\\n"
    "    GPUSCAN_INDEX_SET                                                                                                  \\\n"
    "    outputs.capacity = numbers.capacity\n"
    "\n"
    "static inline void gpuscan_put_ulong(global uint *p, ulong i, ulong x) {\n"
    "#ifdef __ENDIAN_LITTLE__\n"
    "    p[2 * i] = (uint)x;\n"
    "    p[2 * i + 1] = (uint)(x >> 32);\n"
    "#else\n"
    "    p[2 * i] = (uint)(x >> 32);\n"
    "    p[2 * i + 1] = (uint)x;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* How many there were, and the work-groups for those that are written. */\n"
    "static inline void gpuscan_tally_store(global uint *tally, global uint *dispatch, gpuscan_select_numbers numbers,\n"
    "                                       ulong total) {\n"
    "    uint flags = (uint)numbers.flags;\n"
    "    if (flags & GPUSCAN_FLAG_TALLY_U32)\n"
    "        tally[numbers.tally_offset] = (uint)total;\n"
    "    if (flags & GPUSCAN_FLAG_TALLY_U64)\n"
    "        gpuscan_put_ulong(tally, numbers.tally_offset, total);\n"
    "    if (flags & GPUSCAN_FLAG_DISPATCH) {\n"
    "        ulong written = min(total, numbers.capacity);\n"
    "        ulong groups = written / numbers.items + (written % numbers.items != 0), y = 1;\n"
    "        if (groups > numbers.limit) {\n"
    "            y = groups / numbers.limit + (groups % numbers.limit != 0);\n"
    "            groups = groups / y + (groups % y != 0);\n"
    "        }\n"
    "        dispatch[numbers.dispatch_offset] = (uint)groups;\n"
    "        dispatch[numbers.dispatch_offset + 1] = (uint)y;\n"
    "        dispatch[numbers.dispatch_offset + 2] = 1;\n"
    "    }\n"
    "}\n"
    "\n",
    "/* What the last word of flags, of a tile that ends with it, says of elements past the count. */\n"
    "static inline gpuscan_t gpuscan_past_count(global const gpuscan_src *src, ulong first, ulong count) {\n"
    "#if GPUSCAN_BITS\n"
    "    ulong units = gpuscan_units(count);\n"
    "    if (count % 32 != 0 && first < units && units - first <= GPUSCAN_TILE)\n"
    "        return popcount((GPUSCAN_INVERT ? ~src[units - 1] : src[units - 1]) >> (uint)(count % 32));\n"
    "#endif\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_CPU\n"
    "static inline bool gpuscan_is_kept(global const gpuscan_src *src, ulong i) {\n"
    "#if GPUSCAN_BITS\n"
    "    return ((src[i / 32] >> (uint)(i % 32)) & 1u) != GPUSCAN_INVERT;\n"
    "#else\n"
    "    return gpuscan_convert(src[i], i) != 0;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* How many of units [first, last) are kept. Of a predicate LLVM makes vectors where the loop is plain and long. */\n"
    "static inline gpuscan_t gpuscan_kept_sum(global const gpuscan_src *src, ulong first, ulong last) {\n"
    "#if GPUSCAN_CONVERT_IS_CUSTOM\n"
    "    return gpuscan_elements_sum(src, first, last);\n"
    "#else\n"
    "    return gpuscan_span_sum(src, first, last, 0);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Elements are looked at in blocks: a byte each, not 0 where it is kept. */\n"
    "#define GPUSCAN_KEEP_STEP  16\n"
    "#define GPUSCAN_KEEP_BLOCK 256\n"
    "typedef union {\n"
    "    uchar byte[GPUSCAN_KEEP_BLOCK];\n"
    "    uchar16 step[GPUSCAN_KEEP_BLOCK / GPUSCAN_KEEP_STEP];\n"
    "} gpuscan_keeps;\n"
    "/* NVIDIA's compiler would unroll these loops, at length; this form is not for its devices. */\n"
    "#ifdef __NVPTX__\n"
    "#define GPUSCAN_KEEP_LOOP _Pragma(\"unroll 1\")\n"
    "#else\n"
    "#define GPUSCAN_KEEP_LOOP\n"
    "#endif\n"
    "static inline void gpuscan_look(gpuscan_keeps *keeps, global const gpuscan_src *src, ulong i) {\n"
    "GPUSCAN_KEEP_LOOP\n"
    "    for (uint v = 0; v < GPUSCAN_KEEP_BLOCK; v++)\n"
    "        keeps->byte[v] = gpuscan_is_kept(src, i + v);\n"
    "}\n"
    "\n"
    "/* Where the processor moves the kept lanes of a register together. */\n"
    "#if defined(__AVX512F__) && defined(__SSE2__) && defined(__has_builtin)\n"
    "#if __has_builtin(__builtin_ia32_pmovmskb128) && __has_builtin(__builtin_ia32_compresssi512_mask) &&                   \\\n"
    "    __has_builtin(__builtin_ia32_compressdi512_mask)\n"
    "#define GPUSCAN_COMPRESSES 1\n"
    "/* A bit for each of a step's elements that is kept. */\n"
    "static inline uint gpuscan_step_mask(uchar16 step) {\n"
    "    return (ushort)__builtin_ia32_pmovmskb128(as_char16(step != (uchar16)(0)));\n"
    "}\n"
    "typedef int16 gpuscan_any_int16 __attribute__((aligned(4)));\n"
    "typedef long8 gpuscan_any_long8 __attribute__((aligned(8)));\n"
    "static inline uint gpuscan_keep16(global uint *to, int16 x, uint mask) {\n"
    "    *(global gpuscan_any_int16 *)to = __builtin_ia32_compresssi512_mask(x, (int16)(0), (ushort)mask);\n"
    "    return popcount(mask);\n"
    "}\n"
    "static inline uint gpuscan_keep8(global ulong *to, long8 x, uint mask) {\n"
    "    *(global gpuscan_any_long8 *)to = __builtin_ia32_compressdi512_mask(x, (long8)(0), (uchar)mask);\n"
    "    return popcount(mask);\n"
    "}\n"
    "static inline uint gpuscan_keep_words(global uint *to, global const uint *from, uint mask) {\n"
    "    return gpuscan_keep16(to, *(global const gpuscan_any_int16 *)from, mask);\n"
    "}\n"
    "static inline uint gpuscan_keep_doubles(global ulong *to, global const ulong *from, uint mask) {\n"
    "    uint first = gpuscan_keep8(to, *(global const gpuscan_any_long8 *)from, mask & 0xffu);\n"
    "    return first + gpuscan_keep8(to + first, *(global const gpuscan_any_long8 *)(from + 8), mask >> 8);\n"
    "}\n"
    "static inline uint gpuscan_keep_indices(global gpuscan_index *to, ulong i, uint mask) {\n"
    "#if GPUSCAN_INDEX_SIZE == 8\n"
    "    const long8 lanes = (long8)(0, 1, 2, 3, 4, 5, 6, 7);\n"
    "    uint first = gpuscan_keep8(to, lanes + (long)i, mask & 0xffu);\n"
    "    return first + gpuscan_keep8(to + first, lanes + (long)(i + 8), mask >> 8);\n"
    "#else\n"
    "    const int16 lanes = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);\n"
    "    return gpuscan_keep16(to, lanes + (int)i, mask);\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "#ifndef GPUSCAN_COMPRESSES\n"
    "#define GPUSCAN_COMPRESSES                   0\n"
    "#define gpuscan_step_mask(step)              0u\n"
    "#define gpuscan_keep_words(to, from, mask)   0u\n"
    "#define gpuscan_keep_doubles(to, from, mask) 0u\n"
    "#define gpuscan_keep_indices(to, i, mask)    0u\n"
    "#endif\n"
    "\n",
    "/* So many outputs of [first, last), of which kept are kept, block by block as long as there is room for a whole one:\n"
    "   small elements are then written whether they are kept or not, and the next one over what is not. compress: of a step,\n"
    "   by its mask; copy: of element i to place j. */\n"
    "#define GPUSCAN_KEEP(compresses, compress, plain, copy)                                                                \\\n"
    "    {                                                                                                                  \\\n"
    "        ulong i = first, j = 0;                                                                                        \\\n"
    "        if (plain)                                                                                                     \\\n"
    "            for (; i + GPUSCAN_KEEP_BLOCK <= last && j + GPUSCAN_KEEP_BLOCK <= kept;) {                                \\\n"
    "                gpuscan_keeps keeps;                                                                                   \\\n"
    "                gpuscan_look(&keeps, src, i);                                                                          \\\n"
    "                if (compresses) {                                                                                      \\\n"
    "                    for (uint step = 0; step < GPUSCAN_KEEP_BLOCK / GPUSCAN_KEEP_STEP; step++) {                       \\\n"
    "                        uint mask = gpuscan_step_mask(keeps.step[step]);                                               \\\n"
    "                        j += compress;                                                                                 \\\n"
    "                        i += GPUSCAN_KEEP_STEP;                                                                        \\\n"
    "                    }                                                                                                  \\\n"
    "                } else {                                                                                               \\\n"
    "                    GPUSCAN_KEEP_LOOP                                                                                  \\\n"
    "                    for (uint v = 0; v < GPUSCAN_KEEP_BLOCK; v++, i++) {                                               \\\n"
    "                        copy;                                                                                          \\\n"
    "                        j += keeps.byte[v];                                                                            \\\n"
    "                    }                                                                                                  \\\n"
    "                }                                                                                                      \\\n"
    "            }                                                                                                          \\\n"
    "        for (; j < kept; i++)                                                                                          \\\n"
    "            if (gpuscan_is_kept(src, i)) {                                                                             \\\n"
    "                copy;                                                                                                  \\\n"
    "                j++;                                                                                                   \\\n"
    "            }                                                                                                          \\\n"
    "    }\n"
    "#define GPUSCAN_OUTPUT_SPAN(k, word, words)                                                                            \\\n"
    "    {                                                                                                                  \\\n"
    "        global const word *from = outputs->from##k;                                                                    \\\n"
    "        global word *to = outputs->to##k + prefix * (words);                                                           \\\n"
    "        GPUSCAN_KEEP(GPUSCAN_COMPRESSES && (sizeof(word) == 4 || sizeof(word) == 8),                                   \\\n",
    "                     sizeof(word) == 4                                                                                 \\\n"
    "                         ? gpuscan_keep_words((global uint *)(to + j), (global const uint *)(from + i), mask)          \\\n"
    "                         : gpuscan_keep_doubles((global ulong *)(to + j), (global const ulong *)(from + i), mask),     \\\n"
    "                     (words) == 1, for (uint w = 0; w < (words); w++) to[j * (words) + w] = from[i * (words) + w])     \\\n"
    "    }\n"
    "\n"
    "/* Writes what is kept of units [first, last), of which sum are, after what precedes them. */\n"
    "static inline void gpuscan_select_span(global const gpuscan_src *src, const gpuscan_outputs *outputs, ulong first,\n"
    "                                       ulong last, ulong count, ulong prefix, ulong sum) {\n"
    "    ulong kept = outputs->capacity > prefix ? min(sum, outputs->capacity - prefix) : 0;\n"
    "    first *= GPUSCAN_UNIT;\n"
    "    last = min(last * GPUSCAN_UNIT, count);\n"
    "    if (GPUSCAN_PLANTED(SELECT_TAIL) && kept > 0)\n"
    "        kept--;\n"
    "    GPUSCAN_OUTPUTS(GPUSCAN_OUTPUT_SPAN)\n"
    "#if GPUSCAN_INDEX_SIZE\n"
    "    global gpuscan_index *to = outputs->indices + prefix;\n"
    "    GPUSCAN_KEEP(GPUSCAN_COMPRESSES, gpuscan_keep_indices(to + j, i, mask), 1, to[j] = (gpuscan_index)i)\n"
    "#endif\n"
    "}\n"
    "#else\n"
    "\n"
    "typedef ushort gpuscan_place; /* of an element in its tile */\n"
    "\n"
    "/* What is listed in local memory of a tile: places, where some output needs them, and with STAGES the kept elements\n"
    "   themselves, which the predicate has loaded. TILE * UNIT of each. */\n"
    "typedef struct {\n"
    "#if GPUSCAN_STAGES\n"
    "    local GPUSCAN_STAGED *elements;\n"
    "#endif\n"
    "    local gpuscan_place *places;\n"
    "} gpuscan_list;\n"
    "\n"
    "static inline gpuscan_list gpuscan_list_of(local gpuscan_shared *shared) {\n"
    "    gpuscan_list list;\n"
    "#if GPUSCAN_STAGES\n"
    "    list.elements = (local GPUSCAN_STAGED *)((local uchar *)shared + GPUSCAN_LIST_AT);\n"
    "    list.places = (local gpuscan_place *)(list.elements + GPUSCAN_TILE);\n"
    "#else\n"
    "    list.places = (local gpuscan_place *)((local uchar *)shared + GPUSCAN_LIST_AT);\n"
    "#endif\n"
    "    return list;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_STAGES\n"
    "typedef union {\n"
    "    gpuscan_src element;\n"
    "    GPUSCAN_STAGED staged;\n"
    "} gpuscan_staged_element;\n"
    "static inline GPUSCAN_STAGED gpuscan_staged(gpuscan_src x) {\n"
    "    gpuscan_staged_element y;\n"
    "    y.element = x;\n"
    "    return y.staged;\n"
    "}\n"
    "#endif\n"
    "\n",
    "/* Lists what is kept of a scanned tile, which begins at unit first. */\n"
    "GPUSCAN_INLINE void gpuscan_select_list(const gpuscan_tile *tile, ulong first, ulong count, gpuscan_list list) {\n"
    "#if GPUSCAN_STAGES || GPUSCAN_PLACES /* else only the number is wanted, and there is no memory for lists */\n"
    "    uint own = GPUSCAN_OWN_FIRST;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "        uint j = (uint)tile->before[k] + (GPUSCAN_SUBGROUP != 0 ? (uint)tile->group : 0u), mask = tile->mask[k];\n"
    "        uint at = (own + k * GPUSCAN_VECTOR_STRIDE) * GPUSCAN_UNIT;\n"
    "#if GPUSCAN_BITS\n"
    "        if (count <= first * 32 + at)\n"
    "            mask = 0;\n"
    "        else if (count - first * 32 - at < 32)\n"
    "            mask &= (1u << (uint)(count % 32)) - 1;\n"
    "#endif\n"
    "#if GPUSCAN_STAGES\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "            if (mask >> v & 1) {\n"
    "                list.elements[j] = gpuscan_staged(gpuscan_src_at(&tile->vector[k], v));\n"
    "                if (GPUSCAN_PLACES)\n"
    "                    list.places[j] = (gpuscan_place)(at + v);\n"
    "                j++;\n"
    "            }\n"
    "#else\n"
    "        for (; mask; mask &= mask - 1)\n"
    "            list.places[j++] = (gpuscan_place)(at + 31u - clz(mask & (0u - mask)));\n"
    "#endif\n"
    "    }\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Output words [0, words) of a tile, to[j] = from(j), by the group: so many of a work-item at a time that their loads\n"
    "   are in flight together, from a multiple of 128 bytes on. */\n"
    "#if GPUSCAN_PTX\n"
    "#define GPUSCAN_DEPTH 8\n"
    "#define GPUSCAN_OUTPUT_LOOP(word, to, words, load)                                                                     \\\n"
    "    {                                                                                                                  \\\n"
    "        uint past = (uint)((size_t)(to) / sizeof(word)) & (128u / (uint)sizeof(word) - 1u), all = (uint)(words);       \\\n"
    "        for (uint at = GPUSCAN_ITEM; at < all + past; at += GPUSCAN_GROUP * GPUSCAN_DEPTH) {                           \\\n"
    "            word loaded[GPUSCAN_DEPTH];                                                                                \\\n"
    "            GPUSCAN_UNROLL                                                                                             \\\n"
    "            for (uint u = 0; u < GPUSCAN_DEPTH; u++) {                                                                 \\\n"
    "                uint j = at + u * GPUSCAN_GROUP - past;                                                                \\\n"
    "                if (j < all)                                                                                           \\\n"
    "                    loaded[u] = load;                                                                                  \\\n"
    "            }                                                                                                          \\\n"
    "            GPUSCAN_UNROLL                                                                                             \\\n"
    "            for (uint u = 0; u < GPUSCAN_DEPTH; u++) {                                                                 \\\n"
    "                uint j = at + u * GPUSCAN_GROUP - past;                                                                \\\n"
    "                if (j < all)                                                                                           \\\n"
    "                    (to)[j] = loaded[u];                                                                               \\\n"
    "            }                                                                                                          \\\n"
    "        }                                                                                                              \\\n"
    "    }\n"
    "#else\n"
    "#define GPUSCAN_OUTPUT_LOOP(word, to, words, load)                                                                     \\\n"
    "    for (uint j = GPUSCAN_ITEM; j < (words); j += GPUSCAN_GROUP)                                                       \\\n"
    "        (to)[j] = load;\n"
    "#endif\n"
    "\n",
    "#define GPUSCAN_OUTPUT_TILE(k, word, words)                                                                            \\\n"
    "    {                                                                                                                  \\\n"
    "        global const word *from = outputs->from##k + first * (words);                                                  \\\n"
    "        global word *to = outputs->to##k + prefix * (words);                                                           \\\n"
    "        GPUSCAN_OUTPUT_LOOP(word, to, kept *(words), from[(ulong)list.places[j / (words)] * (words) + j % (words)])    \\\n"
    "    }\n"
    "\n"
    "/* Writes what is listed, sum elements, after what precedes the tile. */\n"
    "GPUSCAN_INLINE void gpuscan_select_write(const gpuscan_outputs *outputs, ulong first, ulong prefix, uint sum,\n"
    "                                        gpuscan_list list) {\n"
    "    uint kept = outputs->capacity > prefix ? (uint)min((ulong)sum, outputs->capacity - prefix) : 0;\n"
    "    first *= GPUSCAN_UNIT;\n"
    "    if (GPUSCAN_PLANTED(SELECT_TAIL) && kept > 0)\n"
    "        kept--;\n"
    "#if GPUSCAN_STAGES\n"
    "    GPUSCAN_OUTPUT_LOOP(GPUSCAN_STAGED, outputs->to0 + prefix, kept, list.elements[j])\n"
    "#endif\n"
    "    GPUSCAN_OUTPUTS_GATHERED(GPUSCAN_OUTPUT_TILE)\n"
    "#if GPUSCAN_INDEX_SIZE\n"
    "    GPUSCAN_OUTPUT_LOOP(gpuscan_index, outputs->indices + prefix, kept, (gpuscan_index)(first + list.places[j]))\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_SELECT_MULTI_PASS\n"
    "/* As gpuscan_scan_parts, after gpuscan_scan_sums and gpuscan_scan_carries. states: the carries. */\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_select_parts(GPUSCAN_SELECT_PARAMETERS(const gpuscan_t)) {\n"
    "    uint parts = (uint)numbers.parts, part_tiles = (uint)numbers.part_tiles, flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    ulong units = gpuscan_units(count);\n"
    "    GPUSCAN_OUTPUTS_OF(outputs);\n"
    "    src += numbers.src_offset;\n"
    "    for (uint part = (uint)get_group_id(0); part < parts; part += (uint)get_num_groups(0)) {\n"
    "        ulong first = (ulong)part * part_tiles * GPUSCAN_TILE;\n"
    "        ulong last = min(units, first + (ulong)part_tiles * GPUSCAN_TILE);\n"
    "        gpuscan_t before = flags & GPUSCAN_FLAG_CARRIES ? states[numbers.states_offset + part] : 0;\n"
    "#if GPUSCAN_CPU\n"
    "        /* a tile at a time, which is still in the cache when it is read again */\n"
    "        for (ulong at = first; at < last; at += GPUSCAN_TILE) {\n"
    "            ulong end = min(last, at + GPUSCAN_TILE);\n"
    "            gpuscan_t sum = gpuscan_kept_sum(src, at, end) - gpuscan_past_count(src, at, count);\n"
    "            gpuscan_select_span(src, &outputs, at, end, count, before, sum);\n"
    "            before += sum;\n"
    "        }\n"
    "#else\n"
    "        for (ulong at = first; at < last; at += GPUSCAN_TILE) {\n"
    "            gpuscan_tile tile;\n"
    "            gpuscan_t sum;\n"
    "            gpuscan_tile_fetch(&tile, src, at, last, GPUSCAN_OWN_FIRST);\n"
    "            sum = gpuscan_tile_scan(&tile, at, last, shared) - gpuscan_past_count(src, at, count);\n"
    "            gpuscan_select_list(&tile, at, count, gpuscan_list_of(shared));\n"
    "            GPUSCAN_BARRIER();\n"
    "            gpuscan_select_write(&outputs, at, before, (uint)sum, gpuscan_list_of(shared));\n"
    "            GPUSCAN_BARRIER(); /* the next tile's are listed there */\n"
    "            before += sum;\n"
    "        }\n"
    "#endif\n"
    "        if (GPUSCAN_ITEM == 0 && (units == 0 ? part == 0 : first < units && last == units))\n"
    "            gpuscan_tally_store(tally, dispatch, numbers, before);\n"
    "    }\n"
    "}\n"
    "\n",
    "#elif GPUSCAN_CPU\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_select_look_back_cpu(GPUSCAN_SELECT_PARAMETERS(gpuscan_word)) {\n"
    "    uint tiles = (uint)numbers.tiles, epoch = (uint)numbers.epoch, tile;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, (uint)numbers.flags);\n"
    "    ulong units = gpuscan_units(count);\n"
    "    GPUSCAN_OUTPUTS_OF(outputs);\n"
    "    states += numbers.states_offset;\n"
    "    src += numbers.src_offset;\n"
    "    shared->head = 0;\n"
    "    while ((tile = gpuscan_draw_tile(GPUSCAN_COUNTERS(states), tiles, tiles, units, shared)) != GPUSCAN_NONE) {\n"
    "        ulong first = (ulong)tile * GPUSCAN_TILE, last = min(first + GPUSCAN_TILE, units);\n"
    "        gpuscan_t sum = gpuscan_kept_sum(src, first, last), prefix;\n"
    "        GPUSCAN_TEST_DELAY(tile);\n"
    "        gpuscan_publish_sum(states, tile, 0, epoch, 0, sum);\n"
    "        prefix = gpuscan_tile_prefix(states, 0, tile, epoch, 0, src, units, shared);\n"
    "        gpuscan_publish_prefix(states, tile, 0, epoch, prefix + sum);\n"
    "        sum -= gpuscan_past_count(src, first, count);\n"
    "        gpuscan_select_span(src, &outputs, first, last, count, prefix, sum);\n"
    "        if (last == units)\n"
    "            gpuscan_tally_store(tally, dispatch, numbers, (ulong)prefix + sum);\n"
    "    }\n"
    "}\n"
    "\n"
    "#elif GPUSCAN_AHEAD\n"
    "/* As gpuscan_scan_ahead. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_select_ahead(GPUSCAN_SELECT_PARAMETERS(gpuscan_word)) {\n"
    "    gpuscan_tile data;\n"
    "    gpuscan_t sum, prefix = 0;\n"
    "    uint order = GPUSCAN_START_ORDER();\n"
    "    uint tiles = (uint)numbers.tiles, epoch = (uint)numbers.epoch;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, (uint)numbers.flags);\n"
    "    ulong units = gpuscan_units(count);\n"
    "    bool there;\n"
    "    states += numbers.states_offset;\n"
    "    src += numbers.src_offset;\n"
    "    if (order == 0) {\n"
    "        gpuscan_fold(src, 0, units, tiles, tiles, states, epoch, 0, shared);\n"
    "#if GPUSCAN_HAS_LANES\n"
    "        return;\n"
    "#else\n"
    "        order = 1; /* sums the first tile, too: PoCL 3.1 is wrong where a group returns here */\n"
    "#endif\n"
    "    }\n"
    "    gpuscan_ahead_role role = gpuscan_ahead_role_of(order, tiles, (uint)numbers.ahead);\n"
    "    uint tile = role.tile;\n"
    "    bool sums_only = role.sums_only;\n"
    "    gpuscan_scan_row row = gpuscan_scan_row_at(0, tiles, tiles, src, 0, units, states, epoch);\n"
    "    ulong first = (ulong)tile * GPUSCAN_TILE;\n"
    "#if GPUSCAN_HAS_LANES /* elsewhere no barriers that only some groups reach */\n"
    "    if (first >= units && tile != 0) /* past a count read on the device: nothing waits for this tile */\n"
    "        return;\n"
    "    if (sums_only) {\n"
    "        sum = gpuscan_tile_sum_by(src, first, units, gpuscan_policy_keep(), shared);\n"
    "        GPUSCAN_TEST_DELAY(tile);\n"
    "        gpuscan_ahead_publish(&row, tile, sum, false);\n"
    "        return;\n"
    "    }\n"
    "#endif\n"
    "    gpuscan_tile_fetch_by(&data, src, first, units, GPUSCAN_OWN_FIRST, gpuscan_policy_last());\n"
    "    there = tile == 0;\n"
    "    if (!there && GPUSCAN_ITEM < GPUSCAN_WINDOW) /* beside the loads */\n"
    "        there = gpuscan_state_load(row.prefixes, tile - 1, row.tag, &prefix);\n"
    "    sum = gpuscan_tile_scan(&data, first, units, shared);\n"
    "#if !GPUSCAN_HAS_LANES /* and none returns: tiles past the count are summed only, too */\n"
    "    sums_only = sums_only || (first >= units && tile != 0);\n"
    "    if (sums_only) {\n"
    "        GPUSCAN_TEST_DELAY(tile);\n"
    "        gpuscan_ahead_publish(&row, tile, sum, false);\n"
    "        there = true;\n"
    "    }\n"
    "#endif\n"
    "    gpuscan_select_list(&data, first, count, gpuscan_list_of(shared));\n"
    "    if (GPUSCAN_ITEM < GPUSCAN_WINDOW) {\n"
    "        for (uint polls = 0; !there && polls < GPUSCAN_POLLS; polls++)\n"
    "            there = gpuscan_state_load(row.prefixes, tile - 1, row.tag, &prefix);\n"
    "        if (gpuscan_ballot(!there))\n"
    "            prefix = gpuscan_own_prefix(&row, tile, 0, shared);\n"
    "    }\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        shared->prefix = prefix;\n"
    "    GPUSCAN_BARRIER();\n"
    "    prefix = shared->prefix;\n"
    "    sum = sums_only ? 0 : sum - gpuscan_past_count(src, first, count);\n"
    "    if (GPUSCAN_ITEM == 0 && !sums_only && first + GPUSCAN_TILE >= units)\n"
    "        gpuscan_tally_store(tally, dispatch, numbers, (ulong)prefix + sum);\n",
    "    GPUSCAN_OUTPUTS_OF(outputs);\n"
    "    gpuscan_select_write(&outputs, first, prefix, (uint)sum, gpuscan_list_of(shared));\n"
    "}\n"
    "\n"
    "#else\n"
    "/* As gpuscan_scan_look_back: one group takes one tile. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_select_look_back(GPUSCAN_SELECT_PARAMETERS(gpuscan_word)) {\n"
    "    gpuscan_tile data;\n"
    "    gpuscan_t sum, prefix;\n"
    "    uint epoch = (uint)numbers.epoch, tile;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, (uint)numbers.flags);\n"
    "    ulong units = gpuscan_units(count);\n"
    "    states += numbers.states_offset;\n"
    "    src += numbers.src_offset;\n"
    "    tile = gpuscan_ticket(GPUSCAN_COUNTERS(states), (uint)get_num_groups(0), &shared->ticket);\n"
    "    ulong first = (ulong)tile * GPUSCAN_TILE;\n"
    "    if (first >= units && tile != 0) /* past a count read on the device: nothing waits for this tile */\n"
    "        return;\n"
    "    gpuscan_tile_fetch(&data, src, first, units, GPUSCAN_OWN_FIRST);\n"
    "    sum = gpuscan_tile_scan(&data, first, units, shared);\n"
    "    GPUSCAN_TEST_DELAY(tile);\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        gpuscan_publish_sum(states, tile, 0, epoch, 0, sum);\n"
    "    gpuscan_select_list(&data, first, count, gpuscan_list_of(shared));\n"
    "    gpuscan_tile_prefix(states, 0, tile, epoch, 0, src, units, shared);\n"
    "    GPUSCAN_BARRIER();\n"
    "    prefix = shared->prefix;\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        gpuscan_publish_prefix(states, tile, 0, epoch, prefix + sum);\n"
    "    sum -= gpuscan_past_count(src, first, count);\n"
    "    if (GPUSCAN_ITEM == 0 && first + GPUSCAN_TILE >= units)\n"
    "        gpuscan_tally_store(tally, dispatch, numbers, (ulong)prefix + sum);\n"
    "    GPUSCAN_OUTPUTS_OF(outputs);\n"
    "    gpuscan_select_write(&outputs, first, prefix, (uint)sum, gpuscan_list_of(shared));\n"
    "}\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_MOVES\n"
    "/* Brings the outputs from scratch to where they belong. total: how many there were, as two words. */\n"
    "#define GPUSCAN_OUTPUT_MOVE(k, word, words)                                                                            \\\n"
    "    for (ulong j = get_global_id(0); j < kept * (words); j += get_global_size(0))                                      \\\n"
    "        outputs.to##k[j] = outputs.from##k[j];\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_select_move(global const uint *total, global const uchar *indices_from, GPUSCAN_SELECT_OUTPUTS) {\n"
    "    ulong all = gpuscan_count(0xfffffffffffffffful, total, numbers.count_offset, GPUSCAN_FLAG_COUNT_U64);\n"
    "    ulong kept = min(all, numbers.capacity);\n"
    "    GPUSCAN_OUTPUTS_OF(outputs);\n"
    "    GPUSCAN_OUTPUTS(GPUSCAN_OUTPUT_MOVE)\n"
    "#if GPUSCAN_INDEX_SIZE\n"
    "    global const gpuscan_index *from = (global const gpuscan_index *)indices_from + numbers.src_offset;\n"
    "    for (ulong j = get_global_id(0); j < kept; j += get_global_size(0))\n"
    "        outputs.indices[j] = from[j];\n"
    "#endif\n"
    "    if (get_global_id(0) == 0)\n"
    "        gpuscan_tally_store(tally, dispatch, numbers, all);\n"
    "}\n"
    "#endif\n"
    "#endif /* GPUSCAN_SELECT */\n"
    "\n",
    "/* [UNIFORM ADD] ---------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "#if GPUSCAN_UNIFORM_ADD\n"
    "typedef struct {\n"
    "    GPUSCAN_UNIFORM_ADD_NUMBERS\n"
    "} gpuscan_uniform_add_numbers;\n"
    "\n"
    "#if GPUSCAN_CPU\n"
    "/* A group's one work-item takes TILE consecutive elements at a time, addend by addend. */\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_uniform_add(global gpuscan_dst *dst, global const gpuscan_dst *addends, global const uint *count_buffer,\n"
    "                    gpuscan_uniform_add_numbers numbers) {\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, (uint)numbers.flags);\n"
    "    ulong block = numbers.block;\n"
    "    dst += numbers.dst_offset;\n"
    "    addends += numbers.addend_offset;\n"
    "    for (ulong first = (ulong)get_group_id(0) * GPUSCAN_TILE; first < count;\n"
    "         first += (ulong)get_num_groups(0) * GPUSCAN_TILE) {\n"
    "        ulong last = min(first + GPUSCAN_TILE, count);\n"
    "        ulong index = first / block, left = block - (first - index * block); /* of this addend's block */\n"
    "        if (block == 1) { /* in a loop that vectorises */\n"
    "            for (ulong i = first; i < last; i++)\n"
    "                dst[i] = gpuscan_to_dst(gpuscan_combine(gpuscan_from_dst(addends[i]), gpuscan_from_dst(dst[i])));\n"
    "            continue;\n"
    "        }\n"
    "        for (ulong i = first; i < last; left = block) {\n"
    "            ulong end = min(left, last - i) + i;\n"
    "            gpuscan_t addend = gpuscan_from_dst(addends[index++]);\n"
    "#if GPUSCAN_WIDE > 1\n"
    "            if (end - i < 8 * GPUSCAN_WIDE) { /* the loop that a compiler makes of what follows takes more at a time */\n"
    "                gpuscan_wide add = (gpuscan_wide)(addend);\n"
    "                for (; i + GPUSCAN_WIDE <= end; i += GPUSCAN_WIDE)\n"
    "                    gpuscan_store_wide(dst, i, gpuscan_combine_wide(add, gpuscan_load_wide(dst, i)), false);\n"
    "            }\n"
    "#endif\n"
    "            for (; i < end; i++)\n"
    "                dst[i] = gpuscan_to_dst(gpuscan_combine(addend, gpuscan_from_dst(dst[i])));\n"
    "        }\n"
    "    }\n"
    "}\n"
    "#else\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "static inline void gpuscan_addend_add(gpuscan_dst_vector *vector, const gpuscan_dst_vector *of, int v,\n"
    "                                      gpuscan_t addend) {\n"
    "    gpuscan_dst_put(vector, v, gpuscan_to_dst(gpuscan_combine(addend, gpuscan_from_dst(gpuscan_dst_at(of, v)))));\n"
    "}\n"
    "\n",
    "/* Adds to a vector whose first element is number past of its block. */\n"
    "static inline GPUSCAN_DST_RAW gpuscan_addends_add(GPUSCAN_DST_RAW raw, global const gpuscan_dst *addends, ulong past,\n"
    "                                                  ulong block) {\n"
    "    gpuscan_dst_vector vector, of;\n"
    "    gpuscan_t addend = gpuscan_from_dst(*addends);\n"
    "    of.raw = raw;\n"
    "    if (GPUSCAN_PLANTED(UNIFORM_ADD))\n"
    "        block++;\n"
    "    if (block - past >= GPUSCAN_VECTOR) {\n"
    "GPUSCAN_UNROLL\n"
    "        for (int v = 0; v < GPUSCAN_VECTOR; v++)\n"
    "            gpuscan_addend_add(&vector, &of, v, addend);\n"
    "        return vector.raw;\n"
    "    }\n"
    "    uint left = (uint)(block - past); /* less than VECTOR */\n"
    "GPUSCAN_UNROLL\n"
    "    for (int v = 0; v < GPUSCAN_VECTOR; v++) {\n"
    "        if (left == 0) {\n"
    "            left = (uint)min(block, (ulong)GPUSCAN_VECTOR);\n"
    "            addend = gpuscan_from_dst(*++addends);\n"
    "        }\n"
    "        left--;\n"
    "        gpuscan_addend_add(&vector, &of, v, addend);\n"
    "    }\n"
    "    return vector.raw;\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* step / block; block is uniform, and the division of 64 bits long. */\n"
    "static inline ulong gpuscan_block_of(ulong step, ulong block) {\n"
    "    if (step < block)\n"
    "        return 0;\n"
    "    return block > 0xffffffffu ? 1 : step > 0xffffffffu ? step / block : (uint)step / (uint)block;\n"
    "}\n"
    "\n"
    "/* A group takes GROUP * ITEM_VECTORS aligned vectors of dst at a time; what none holds, at both ends, all share. */\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_uniform_add(global gpuscan_dst *dst, global const gpuscan_dst *addends, global const uint *count_buffer,\n"
    "                    gpuscan_uniform_add_numbers numbers) {\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, (uint)numbers.flags);\n"
    "    ulong block = numbers.block, head = 0, vectors = 0;\n"
    "    dst += numbers.dst_offset;\n"
    "    addends += numbers.addend_offset;\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "    uint past = (uint)((size_t)dst & (sizeof(GPUSCAN_DST_RAW) - 1));\n"
    "    if (past % sizeof(gpuscan_dst) == 0) {\n"
    "        head = min((ulong)((sizeof(GPUSCAN_DST_RAW) - past) / sizeof(gpuscan_dst) % GPUSCAN_VECTOR), count);\n"
    "        vectors = (count - head) / GPUSCAN_VECTOR;\n"
    "    }\n"
    "#endif\n"
    "    for (ulong i = get_global_id(0); i < count - vectors * GPUSCAN_VECTOR; i += get_global_size(0)) {\n"
    "        ulong at = i < head ? i : i + vectors * GPUSCAN_VECTOR;\n"
    "        dst[at] = gpuscan_to_dst(gpuscan_combine(gpuscan_from_dst(addends[at / block]), gpuscan_from_dst(dst[at])));\n"
    "    }\n"
    "#ifdef GPUSCAN_DST_RAW\n"
    "    for (ulong first = (ulong)get_group_id(0) * GPUSCAN_GROUP * GPUSCAN_ITEM_VECTORS; first < vectors;\n"
    "         first += (ulong)get_num_groups(0) * GPUSCAN_GROUP * GPUSCAN_ITEM_VECTORS) {\n"
    "        global GPUSCAN_DST_RAW *to = (global GPUSCAN_DST_RAW *)(dst + head) + first + GPUSCAN_ITEM;\n"
    "        ulong element = head + first * GPUSCAN_VECTOR, index = element / block, begin = element - index * block;\n"
    "        GPUSCAN_DST_RAW loaded[GPUSCAN_ITEM_VECTORS];\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            if (first + k * GPUSCAN_GROUP + GPUSCAN_ITEM < vectors)\n"
    "                loaded[k] = to[k * GPUSCAN_GROUP];\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            if (first + k * GPUSCAN_GROUP + GPUSCAN_ITEM < vectors) {\n"
    "                ulong step = begin + (k * GPUSCAN_GROUP + GPUSCAN_ITEM) * GPUSCAN_VECTOR;\n"
    "                ulong blocks = gpuscan_block_of(step, block);\n"
    "                to[k * GPUSCAN_GROUP] =\n"
    "                    gpuscan_addends_add(loaded[k], addends + index + blocks, step - blocks * block, block);\n"
    "            }\n"
    "    }\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "\n",
    "/* [REDUCE] --------------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "#if GPUSCAN_REDUCE\n"
    "#if GPUSCAN_ARG\n"
    "#define GPUSCAN_RESULT(x) ((GPUSCAN_RESULT_TYPE)(x).index)\n"
    "typedef GPUSCAN_RESULT_TYPE gpuscan_result_t;\n"
    "#else\n"
    "#define GPUSCAN_RESULT(x) gpuscan_to_dst(x)\n"
    "typedef gpuscan_dst gpuscan_result_t;\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_COMMUTATIVE && !GPUSCAN_CPU\n"
    "/* An operator that commutes: every work-item sums vectors, ITEM_VECTORS loads in flight, in steps of the whole grid;\n"
    "   then the group sums its work-items. Which elements a work-item takes is fixed by count and groups. */\n"
    "typedef struct {\n"
    "    gpuscan_t sums[GPUSCAN_HAS_LANES ? GPUSCAN_SUBGROUPS : GPUSCAN_GROUP];\n"
    "    uint ticket;\n"
    "#if GPUSCAN_LANES_KIND == GPUSCAN_LANES_LOCAL\n"
    "    uint lanes[GPUSCAN_GROUP];\n"
    "#endif\n"
    "} gpuscan_reduce_shared;\n"
    "\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "typedef union {\n"
    "    gpuscan_src element[GPUSCAN_VECTOR];\n"
    "    uint4 raw;\n"
    "} gpuscan_raw_vector;\n"
    "\n"
    "#if GPUSCAN_ARG\n"
    "/* What a work-item has found so far: the best value and the first vector that holds it, by its first element, else\n"
    "   ARG_NONE. Where in the vector is looked up at the end: so an element costs a comparison. */\n"
    "typedef struct {\n"
    "    GPUSCAN_VALUE best;\n"
    "    ulong at;\n"
    "} gpuscan_item_best;\n"
    "\n"
    "static inline GPUSCAN_VALUE gpuscan_value(gpuscan_src element) {\n"
    "    return gpuscan_convert(element, 0).best.value;\n"
    "}\n"
    "\n"
    "static inline GPUSCAN_VALUE gpuscan_better(GPUSCAN_VALUE a, GPUSCAN_VALUE b) {\n"
    "    return GPUSCAN_ARG_BEFORE(b, a) || a != a ? b : a; /* NaN is no candidate */\n"
    "}\n"
    "\n"
    "static inline gpuscan_item_best gpuscan_raw_vector_add(gpuscan_item_best found, uint4 raw, ulong i) {\n"
    "    gpuscan_raw_vector vector;\n"
    "    vector.raw = raw;\n"
    "    GPUSCAN_VALUE best = gpuscan_value(vector.element[0]);\n"
    "GPUSCAN_UNROLL\n"
    "    for (int v = 1; v < GPUSCAN_VECTOR; v++)\n"
    "        best = gpuscan_better(best, gpuscan_value(vector.element[v]));\n"
    "    if (GPUSCAN_ARG_BEFORE(best, found.best) || (found.at == GPUSCAN_ARG_NONE && best == best)) {\n"
    "        found.best = best;\n"
    "        found.at = i;\n"
    "    }\n"
    "    return found;\n"
    "}\n"
    "\n",
    "static inline gpuscan_t gpuscan_item_found(gpuscan_item_best found, global const gpuscan_src *src) {\n"
    "    if (found.at == GPUSCAN_ARG_NONE)\n"
    "        return gpuscan_identity();\n"
    "    while (gpuscan_value(src[found.at]) != found.best)\n"
    "        found.at++;\n"
    "    return gpuscan_arg_make(found.best, found.at);\n"
    "}\n"
    "#else\n"
    "typedef gpuscan_t gpuscan_item_best;\n"
    "\n"
    "static inline gpuscan_t gpuscan_raw_vector_add(gpuscan_t sum, uint4 raw, ulong i) {\n"
    "#if GPUSCAN_PACKED_HERE\n"
    "    return (gpuscan_t)gpuscan_packed_sum4(raw, sum);\n"
    "#else\n"
    "    gpuscan_raw_vector vector;\n"
    "    vector.raw = raw;\n"
    "    gpuscan_t x = gpuscan_convert(vector.element[0], i);\n"
    "GPUSCAN_UNROLL\n"
    "    for (int v = 1; v < GPUSCAN_VECTOR; v++)\n"
    "        x = gpuscan_combine(x, gpuscan_convert(vector.element[v], i + v));\n"
    "    return gpuscan_combine(sum, x);\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "\n"
    "/* Of count elements from begin on. */\n"
    "static inline gpuscan_t gpuscan_item_sum(global const gpuscan_src *src, ulong begin, ulong count, uint group,\n"
    "                                         uint groups) {\n"
    "    ulong first = (ulong)group * GPUSCAN_GROUP + GPUSCAN_ITEM, stride = (ulong)groups * GPUSCAN_GROUP;\n"
    "    ulong head = 0, vectors = 0, i;\n"
    "    gpuscan_t sum = gpuscan_identity();\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "    uint past = (uint)((size_t)(src + begin) & (sizeof(uint4) - 1));\n"
    "    if (past % sizeof(gpuscan_src) == 0) {\n"
    "        head = (sizeof(uint4) - past) / sizeof(gpuscan_src) % GPUSCAN_VECTOR;\n"
    "        head = min(head, count);\n"
    "        vectors = (count - head) / GPUSCAN_VECTOR;\n"
    "    }\n"
    "#endif\n"
    "    /* what no aligned vector holds: a few elements at both ends */\n"
    "    for (i = first; i < (GPUSCAN_PLANTED(REDUCE_ENDS) ? 0 : count - vectors * GPUSCAN_VECTOR); i += stride) {\n"
    "        ulong at = begin + (i < head ? i : i + vectors * GPUSCAN_VECTOR);\n"
    "        sum = gpuscan_combine(sum, gpuscan_convert(src[at], at));\n"
    "    }\n"
    "#ifdef GPUSCAN_SRC_RAW\n"
    "    head += begin;\n"
    "    {\n"
    "        global const uint4 *from = (global const uint4 *)(src + head);\n"
    "        uint4 loaded[GPUSCAN_ITEM_VECTORS];\n"
    "#if GPUSCAN_ARG\n"
    "        gpuscan_item_best found = {gpuscan_identity().best.value, GPUSCAN_ARG_NONE};\n"
    "#else\n"
    "        gpuscan_item_best found = sum;\n"
    "#endif\n"
    "        for (i = first; i + (GPUSCAN_ITEM_VECTORS - 1) * stride < vectors; i += GPUSCAN_ITEM_VECTORS * stride) {\n"
    "GPUSCAN_UNROLL\n"
    "            for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "                loaded[k] = gpuscan_load_once(from + i + k * stride);\n"
    "GPUSCAN_UNROLL\n"
    "            for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "                found = gpuscan_raw_vector_add(found, loaded[k], head + (i + k * stride) * GPUSCAN_VECTOR);\n"
    "        }\n"
    "        if (i < vectors) {\n"
    "            /* what is left, again all at once */\n"
    "GPUSCAN_UNROLL\n"
    "            for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "                loaded[k] = gpuscan_load_once_if(i + k * stride < vectors, from + (i + k * stride));\n"
    "GPUSCAN_UNROLL\n"
    "            for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "                if (i + k * stride < vectors)\n"
    "                    found = gpuscan_raw_vector_add(found, loaded[k], head + (i + k * stride) * GPUSCAN_VECTOR);\n"
    "        }\n"
    "#if GPUSCAN_ARG\n"
    "        sum = gpuscan_combine(sum, gpuscan_item_found(found, src));\n"
    "#else\n"
    "        sum = found;\n"
    "#endif\n"
    "    }\n"
    "#endif\n"
    "    return sum;\n"
    "}\n"
    "\n",
    "#if (GPUSCAN_GROUP & (GPUSCAN_GROUP - 1)) != 0\n"
    "#error \"a reduction halves its group: the profile's must be a power of two\"\n"
    "#endif\n"
    "/* The group's sum of one value a work-item. A barrier must stand between two of them. */\n"
    "static inline gpuscan_t gpuscan_items_sum(gpuscan_t x, local gpuscan_reduce_shared *shared) {\n"
    "#if GPUSCAN_HAS_LANES\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = GPUSCAN_LANES / 2; d > 0; d /= 2)\n"
    "        x = gpuscan_combine(x, gpuscan_shuffle_xor(x, d));\n"
    "    if (GPUSCAN_LANE == 0)\n"
    "        shared->sums[GPUSCAN_SUBGROUP] = x;\n"
    "    GPUSCAN_BARRIER();\n"
    "    x = shared->sums[GPUSCAN_LANE % GPUSCAN_SUBGROUPS];\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = GPUSCAN_SUBGROUPS / 2; d > 0; d /= 2)\n"
    "        x = gpuscan_combine(x, gpuscan_shuffle_xor(x, d));\n"
    "    return x;\n"
    "#else\n"
    "    shared->sums[GPUSCAN_ITEM] = x;\n"
    "    for (uint d = GPUSCAN_GROUP / 2; d > 0; d /= 2) {\n"
    "        GPUSCAN_BARRIER();\n"
    "        if (GPUSCAN_ITEM < d)\n"
    "            shared->sums[GPUSCAN_ITEM] =\n"
    "                gpuscan_combine(shared->sums[GPUSCAN_ITEM], shared->sums[GPUSCAN_ITEM + d]);\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "    return shared->sums[0];\n"
    "#endif\n"
    "}\n"
    "\n"
    "#else\n"
    "/* Else a group takes neighbouring tiles, of which each sub-group sums neighbouring elements in order. */\n"
    "typedef gpuscan_shared gpuscan_reduce_shared;\n"
    "\n"
    "static inline gpuscan_t gpuscan_tiles_sum(global const gpuscan_src *src, ulong count, ulong tile, ulong tiles,\n"
    "                                          local gpuscan_shared *shared) {\n"
    "#if GPUSCAN_CPU\n"
    "    return gpuscan_span_sum(src, min(tile * GPUSCAN_TILE, count), min(tiles * GPUSCAN_TILE, count), 0);\n"
    "#else\n"
    "    const ulong part = GPUSCAN_ITEM_VECTORS * GPUSCAN_VECTOR_STRIDE; /* of a tile, for a sub-group */\n"
    "    ulong first = tile * GPUSCAN_TILE + GPUSCAN_SUBGROUP * (tiles - tile) * part;\n"
    "    gpuscan_t total = gpuscan_identity(), all;\n"
    "    for (ulong t = tile; t < tiles; t++, first += part) {\n"
    "        gpuscan_tile data;\n"
    "        gpuscan_t x[GPUSCAN_ITEM_VECTORS], sum;\n"
    "        gpuscan_tile_fetch(&data, src, first, count, GPUSCAN_LANE * GPUSCAN_VECTOR);\n"
    "        gpuscan_tile_lane_sums(&data, first, count, GPUSCAN_LANE * GPUSCAN_VECTOR, x);\n"
    "        sum = gpuscan_subgroup_sum(x, shared);\n"
    "        if (GPUSCAN_PLANTED(REDUCE_TILES) && t != tile)\n"
    "            total = gpuscan_combine(sum, total);\n"
    "        else\n"
    "            total = t == tile ? sum : gpuscan_combine(total, sum);\n"
    "    }\n"
    "    gpuscan_group_prefix(total, &all, shared);\n"
    "    return all;\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "\n",
    "/* Partial results go through state words where a group of the same launch reads them, else through plain memory. */\n"
    "#if GPUSCAN_WORD\n"
    "typedef gpuscan_word gpuscan_partial;\n"
    "#else\n"
    "typedef gpuscan_t gpuscan_partial;\n"
    "#endif\n"
    "\n"
    "static inline void gpuscan_partial_store(global gpuscan_partial *partials, uint i, uint epoch, gpuscan_t value) {\n"
    "#if GPUSCAN_WORD\n"
    "    gpuscan_publish(partials, i, epoch, GPUSCAN_AGGREGATE, value);\n"
    "#else\n"
    "    partials[i] = value;\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline gpuscan_t gpuscan_partial_load(global gpuscan_partial *partials, uint i, uint epoch) {\n"
    "#if GPUSCAN_WORD\n"
    "    gpuscan_t value = gpuscan_identity();\n"
    "#if GPUSCAN_PTX\n"
    "    /* No fence: the group stored the words before it took its ticket, so they are on their way. If they never came,\n"
    "       say because two calls share a scratch, the launch fails rather than leave them out. */\n"
    "    for (uint polls = 0; gpuscan_observe(partials, i, epoch, &value) == GPUSCAN_EMPTY; polls++)\n"
    "        if (polls == 1u << 22)\n"
    "            __asm__ volatile(\"trap;\");\n"
    "#else\n"
    "    gpuscan_observe(partials, i, epoch, &value);\n"
    "#endif\n"
    "    return value;\n"
    "#else\n"
    "    return partials[i];\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* The sum of all partial results: by all work-items where the operator commutes; else in order, by one sub-group, or\n"
    "   without lanes by one work-item: no barriers. */\n"
    "static inline gpuscan_t gpuscan_partials_sum(global gpuscan_partial *partials, uint count, uint epoch,\n"
    "                                             local gpuscan_reduce_shared *shared) {\n"
    "    gpuscan_t total = gpuscan_identity();\n"
    "    if (GPUSCAN_PLANTED(REDUCE_GROUP))\n"
    "        count--;\n"
    "#if GPUSCAN_COMMUTATIVE && !GPUSCAN_CPU\n"
    "    for (uint i = GPUSCAN_ITEM; i < count; i += GPUSCAN_GROUP)\n"
    "        total = gpuscan_combine(total, gpuscan_partial_load(partials, i, epoch));\n"
    "    return gpuscan_items_sum(total, shared);\n"
    "#else\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    uint share = (count + GPUSCAN_LANES - 1) / GPUSCAN_LANES;\n"
    "    uint first = min(GPUSCAN_ITEM * share, count), last = min(first + share, count);\n"
    "    if (GPUSCAN_LANES_APART && GPUSCAN_ITEM >= GPUSCAN_LANES) /* else the others have nothing to add */\n"
    "        return total;\n"
    "#else\n"
    "    uint first = 0, last = GPUSCAN_ITEM == 0 ? count : 0;\n"
    "#endif\n"
    "    for (uint i = first; i < last; i++) {\n"
    "        gpuscan_t x = gpuscan_partial_load(partials, i, epoch);\n"
    "        if (GPUSCAN_PLANTED(REDUCE_ORDER) && i != first)\n"
    "            total = gpuscan_combine(x, total);\n"
    "        else\n"
    "            total = i == first ? x : gpuscan_combine(total, x);\n"
    "    }\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    {\n"
    "        gpuscan_t x[GPUSCAN_ITEM_VECTORS], sum[GPUSCAN_ITEM_VECTORS];\n"
    "        x[0] = total;\n"
    "        for (int k = 1; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            x[k] = gpuscan_identity();\n"
    "        gpuscan_lanes_sum(x, sum, shared);\n"
    "        total = sum[0];\n"
    "    }\n"
    "#endif\n"
    "    return total;\n"
    "#endif\n"
    "}\n"
    "\n",
    "static inline void gpuscan_reduce_write(gpuscan_t sum, global gpuscan_result_t *dst, gpuscan_init init_value,\n"
    "                                        global const gpuscan_dst *init_buffer, ulong init_offset, uint flags) {\n"
    "    sum = gpuscan_combine(gpuscan_base(init_value, init_buffer, init_offset, flags), sum);\n"
    "    dst[GPUSCAN_PLANTED(REDUCE_OVERRUN) ? 1000000 : 0] = GPUSCAN_RESULT(sum);\n"
    "}\n"
    "\n"
    "#if GPUSCAN_SEGMENTS\n"
    "/* [REDUCE SEGMENTS] ------------------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* Rows, or segments by offsets: one result each. Elements and the segments' ends are the steps of one path, in order:\n"
    "\n"
    "       segments   a a a | b | | d d d d ...       (the third is empty)\n"
    "       path       a a a A b B C d d d d ...       a capital: a segment ends, and its result is due\n"
    "\n"
    "   So a segment of one element and one of 10^8 cost what their steps cost, and an empty one costs a step. Groups take\n"
    "   equal shares of the path. A segment that several of them hold is joined in order: the last group to arrive does, from\n"
    "   what each has at its first end (the head) and after its last (the tail); or, where no group may wait for another, a\n"
    "   launch before sums the tails. Shares of whole rows have nothing to join.\n"
    "   Merrill and Garland, \"Merge-based parallel sparse matrix-vector multiplication\", 2016. */\n"
    "\n"
    "#if GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_U64\n"
    "typedef ulong gpuscan_offset;\n"
    "#else\n"
    "typedef uint gpuscan_offset;\n"
    "#endif\n"
    "\n"
    "/* All elements are numbered through, those of rows without the gaps between them. */\n"
    "typedef struct {\n"
    "    global const gpuscan_src *src;\n"
    "    global const gpuscan_offset *offsets;\n"
    "    ulong segments, begin, last; /* of the elements that are in segments */\n"
    "    ulong row_length, pitch;     /* rows: elements each has, and from one to the next */\n"
    "} gpuscan_path;\n"
    "\n"
    "typedef struct {\n"
    "    GPUSCAN_REDUCE_SEGMENTS_NUMBERS\n"
    "} gpuscan_reduce_segments_numbers;\n"
    "\n"
    "static inline gpuscan_path gpuscan_path_of(global const gpuscan_src *src, global const gpuscan_offset *offsets,\n"
    "                                           global const uint *count_buffer,\n"
    "                                           const gpuscan_reduce_segments_numbers *numbers) {\n"
    "    ulong count = gpuscan_count(numbers->count, count_buffer, numbers->count_offset, (uint)numbers->flags);\n"
    "    gpuscan_path path;\n"
    "    path.src = src + numbers->src_offset;\n"
    "    path.segments = numbers->segments;\n"
    "    path.pitch = numbers->src_pitch;\n"
    "    path.row_length = count;\n"
    "#if GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS\n"
    "    path.offsets = offsets;\n"
    "    path.begin = 0;\n"
    "    path.last = path.segments * count;\n"
    "#else\n"
    "    path.offsets = offsets + numbers->offsets_offset;\n"
    "    path.begin = min((ulong)path.offsets[0], count);\n"
    "    path.last = max(path.begin, min((ulong)path.offsets[path.segments], count));\n"
    "#endif\n"
    "    return path;\n"
    "}\n"
    "\n",
    "/* Where a segment ends. Wrong offsets are put into the range. */\n"
    "static inline ulong gpuscan_segment_end(const gpuscan_path *path, ulong segment) {\n"
    "#if GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS\n"
    "    return (segment + 1) * path->row_length;\n"
    "#else\n"
    "    return min(max((ulong)path->offsets[segment + 1], path->begin), path->last);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* What a segment's elements are numbered from for conversions and as results: the row's first, or src; and where that\n"
    "   is. */\n"
    "static inline ulong gpuscan_segment_zero(const gpuscan_path *path, ulong segment) {\n"
    "    return GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS ? segment * path->row_length : 0;\n"
    "}\n"
    "static inline global const gpuscan_src *gpuscan_segment_src(const gpuscan_path *path, ulong segment) {\n"
    "    return GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS ? path->src + segment * path->pitch : path->src;\n"
    "}\n"
    "\n"
    "static inline ulong gpuscan_path_steps(const gpuscan_path *path) {\n"
    "    return path->segments + (path->last - path->begin);\n"
    "}\n"
    "\n"
    "/* The step at which a segment ends. */\n"
    "static inline ulong gpuscan_end_step(const gpuscan_path *path, ulong segment) {\n"
    "    return segment + (gpuscan_segment_end(path, segment) - path->begin);\n"
    "}\n"
    "\n"
    "/* Results, and where a group leaves what others join. */\n"
    "typedef struct {\n"
    "    global gpuscan_result_t *dst;\n"
    "    gpuscan_t base;\n"
    "    global gpuscan_partial *partials; /* each group's head and tail */\n"
    "    uint group, epoch;\n"
    "    bool stream; /* the results exceed the cache */\n"
    "} gpuscan_outlet;\n"
    "\n"
    "/* A place on the path. */\n"
    "typedef struct {\n"
    "    ulong segment, element; /* the segment at hand, the next element */\n"
    "    ulong steps;            /* that are left */\n"
    "    gpuscan_t carry;        /* the sum of the segment so far */\n"
    "    bool open;              /* the segment may have begun in another group's share */\n"
    "    uint ends;              /* how many the tile before had */\n"
    "    uint turn;              /* 0 and 1, tile by tile */\n"
    "} gpuscan_walk;\n"
    "\n"
    "#if GPUSCAN_CPU\n"
    "typedef struct {\n"
    "    uint ticket, found;\n"
    "} gpuscan_segment_shared;\n"
    "#define GPUSCAN_SEGMENT_TILE GPUSCAN_TILE\n"
    "#else\n"
    "#define GPUSCAN_SEGMENT_TILE (GPUSCAN_GROUP * GPUSCAN_SEGMENT_ITEMS)\n"
    "#define GPUSCAN_SEGMENT_SUMS (GPUSCAN_HAS_LANES ? GPUSCAN_SUBGROUPS : GPUSCAN_GROUP)\n"
    "typedef struct {\n"
    "    gpuscan_t sums[GPUSCAN_SEGMENT_SUMS];\n"
    "    gpuscan_reduce_shared reduce;\n"
    "    uint closed[GPUSCAN_SEGMENT_SUMS];\n"
    "    gpuscan_t tail; /* of a tile: the sum behind its last end */\n"
    "    uint ticket, found;\n"
    "    uint cut[2], ends[2]; /* of this tile and the next: the first long segment, how many end */\n"
    "    ushort steps[GPUSCAN_SEGMENT_TILE + 1]; /* at which the tile's segments end */\n"
    "#if GPUSCAN_SEGMENT_STAGED\n"
    "    gpuscan_src elements[GPUSCAN_SEGMENT_TILE + GPUSCAN_SEGMENT_TILE / 32]; /* see gpuscan_staged */\n"
    "#endif\n"
    "} gpuscan_segment_shared;\n"
    "#endif\n"
    "\n",
    "static inline void gpuscan_outlet_write(const gpuscan_outlet *out, ulong segment, gpuscan_t sum) {\n"
    "    out->dst[segment] = GPUSCAN_RESULT(gpuscan_combine(out->base, sum));\n"
    "}\n"
    "\n"
    "/* How many segments end before a step. Where loads take long, all work-items look, at as many places, where among them\n"
    "   it lies; elsewhere each by itself, since PoCL takes minutes to build the barriers of such a loop. */\n"
    "static inline ulong gpuscan_path_at(const gpuscan_path *path, ulong step, local gpuscan_segment_shared *all) {\n"
    "#if GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS\n"
    "    return step / (path->row_length + 1);\n"
    "#else\n"
    "    ulong before = 0, left = step > 0 ? path->segments : 0;\n"
    "    while (left > 0) {\n"
    "#if GPUSCAN_LANES_APART\n"
    "        ulong apart = left / (GPUSCAN_GROUP + 1) + 1, at = (GPUSCAN_ITEM + 1) * apart - 1, found;\n"
    "        if (GPUSCAN_ITEM == 0)\n"
    "            all->found = 0;\n"
    "        GPUSCAN_BARRIER();\n"
    "        if (at < left && gpuscan_end_step(path, before + at) < step)\n"
    "            atomic_inc(&all->found);\n"
    "        GPUSCAN_BARRIER();\n"
    "        found = all->found * apart;\n"
    "        GPUSCAN_BARRIER();\n"
    "        before += found;\n"
    "        left = min(left - found, apart - 1);\n"
    "#else\n"
    "        ulong middle = left / 2;\n"
    "        if (gpuscan_end_step(path, before + middle) < step) {\n"
    "            before += middle + 1;\n"
    "            left -= middle + 1;\n"
    "        } else {\n"
    "            left = middle;\n"
    "        }\n"
    "#endif\n"
    "    }\n"
    "    return before;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* The sum of some neighbours of one segment. */\n"
    "static inline gpuscan_t gpuscan_stretch_sum(const gpuscan_path *path, ulong segment, ulong first, ulong last,\n"
    "                                            local gpuscan_segment_shared *all) {\n"
    "    global const gpuscan_src *src = gpuscan_segment_src(path, segment);\n"
    "    ulong zero = gpuscan_segment_zero(path, segment), i = first - zero, end = last - zero;\n"
    "#if GPUSCAN_CPU\n"
    "    return gpuscan_span_sum(src, i, end, 0);\n"
    "#elif GPUSCAN_COMMUTATIVE\n"
    "    gpuscan_t sum = gpuscan_items_sum(gpuscan_item_sum(src, i, end - i, 0, 1), &all->reduce);\n"
    "    GPUSCAN_BARRIER();\n"
    "    return sum;\n"
    "#else\n"
    "    gpuscan_t sum = gpuscan_identity();\n"
    "    for (; i < end && i % GPUSCAN_VECTOR != 0; i++) /* tiles begin with a vector */\n"
    "        sum = gpuscan_combine(sum, gpuscan_convert(src[i], i));\n"
    "    for (; i < end; i += GPUSCAN_TILE)\n"
    "        sum = gpuscan_combine(sum, gpuscan_tile_sum(src, i, end, &all->reduce));\n"
    "    return sum;\n"
    "#endif\n"
    "}\n"
    "\n",
    "#if GPUSCAN_CPU\n"
    "static inline gpuscan_t gpuscan_items_carry(gpuscan_t x, uint closed, gpuscan_t *carry,\n"
    "                                            local gpuscan_segment_shared *all) {\n"
    "    gpuscan_t before = *carry;\n"
    "    *carry = closed ? x : gpuscan_combine(before, x);\n"
    "    return before;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_WIDE > 1\n"
    "/* Short segments, WIDE at a time: each is summed lane by lane, and the lanes of all are joined together. */\n"
    "#if GPUSCAN_T_SIZE == 8\n"
    "typedef GPUSCAN_WIDEN(long) gpuscan_wide_mask;\n"
    "#elif GPUSCAN_T_SIZE == 4\n"
    "typedef GPUSCAN_WIDEN(int) gpuscan_wide_mask;\n"
    "#elif GPUSCAN_T_SIZE == 2\n"
    "typedef GPUSCAN_WIDEN(short) gpuscan_wide_mask;\n"
    "#else\n"
    "typedef GPUSCAN_WIDEN(char) gpuscan_wide_mask;\n"
    "#endif\n"
    "#if GPUSCAN_WIDE == 16\n"
    "#define GPUSCAN_WIDE_LANES (gpuscan_wide_mask)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)\n"
    "#else\n"
    "#define GPUSCAN_WIDE_LANES (gpuscan_wide_mask)(0, 1, 2, 3, 4, 5, 6, 7)\n"
    "#endif\n"
    "#define GPUSCAN_SHORT_SEGMENT (128 * GPUSCAN_WIDE) /* longer ones are worth a sum of their own */\n"
    "\n"
    "/* WIDE neighbouring segments: rows of one length, or where each begins and ends. */\n"
    "typedef struct {\n"
    "    global const gpuscan_src *src; /* the first row, or what the offsets count from */\n"
    "    global const gpuscan_offset *offsets;\n"
    "    ulong pitch, last; /* last: the next segment's first element */\n"
    "    uint most;         /* elements of the longest */\n"
    "    gpuscan_wide sums[GPUSCAN_WIDE];\n"
    "} gpuscan_batch;\n"
    "\n"
    "/* The first lanes of a vector, and the identity in the others. */\n"
    "static inline gpuscan_wide gpuscan_first_lanes(gpuscan_wide x, gpuscan_wide id, uint lanes) {\n"
    "    return select(id, x, GPUSCAN_WIDE_LANES < (gpuscan_wide_mask)(min(lanes, (uint)GPUSCAN_WIDE)));\n"
    "}\n"
    "\n"
    "static inline global const gpuscan_src *gpuscan_batch_src(const gpuscan_batch *batch, uint s) {\n"
    "    return batch->src + (GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS ? s * batch->pitch : (ulong)batch->offsets[s]);\n"
    "}\n"
    "static inline uint gpuscan_batch_length(const gpuscan_batch *batch, uint s) {\n"
    "    return GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS ? batch->most\n"
    "                                                     : (uint)(batch->offsets[s + 1] - batch->offsets[s]);\n"
    "}\n"
    "\n",
    "/* A segment of any length, lane by lane; what is behind it is loaded, too, and left out. */\n"
    "static inline gpuscan_wide gpuscan_batch_long(const gpuscan_batch *batch, uint s, gpuscan_wide id) {\n"
    "    global const gpuscan_src *src = gpuscan_batch_src(batch, s);\n"
    "    uint i = 0, count = gpuscan_batch_length(batch, s);\n"
    "    gpuscan_wide sum = id;\n"
    "    for (; i + GPUSCAN_WIDE <= count; i += GPUSCAN_WIDE) {\n"
    "        for (uint k = 0; k < GPUSCAN_WIDE * sizeof(gpuscan_src); k += GPUSCAN_LINE)\n"
    "            GPUSCAN_PREFETCH(src + i, GPUSCAN_PREFETCH_SRC + k, 0);\n"
    "        sum = gpuscan_combine_wide(sum, gpuscan_load_wide(src, i));\n"
    "    }\n"
    "    return gpuscan_combine_wide(sum, gpuscan_first_lanes(gpuscan_load_wide(src, i), id, count - i));\n"
    "}\n"
    "\n"
    "/* The same of one vector, and of one or two. */\n"
    "static inline gpuscan_wide gpuscan_batch_one(const gpuscan_batch *batch, uint s, gpuscan_wide id) {\n"
    "    global const gpuscan_src *src = gpuscan_batch_src(batch, s);\n"
    "    GPUSCAN_PREFETCH(src, GPUSCAN_PREFETCH_SRC, 0);\n"
    "    return gpuscan_first_lanes(gpuscan_load_wide(src, 0), id, gpuscan_batch_length(batch, s));\n"
    "}\n"
    "static inline gpuscan_wide gpuscan_batch_two(const gpuscan_batch *batch, uint s, gpuscan_wide id) {\n"
    "    global const gpuscan_src *src = gpuscan_batch_src(batch, s);\n"
    "    uint count = gpuscan_batch_length(batch, s), more = max(count, (uint)GPUSCAN_WIDE) - GPUSCAN_WIDE;\n"
    "    GPUSCAN_PREFETCH(src, GPUSCAN_PREFETCH_SRC, 0);\n"
    "    return gpuscan_combine_wide(gpuscan_first_lanes(gpuscan_load_wide(src, 0), id, count),\n"
    "                                gpuscan_first_lanes(gpuscan_load_wide(src, GPUSCAN_WIDE), id, more));\n"
    "}\n"
    "\n"
    "/* And what is there already. */\n"
    "static inline gpuscan_wide gpuscan_batch_there(const gpuscan_batch *batch, uint s, gpuscan_wide id) {\n"
    "    return batch->sums[s];\n"
    "}\n"
    "\n"
    "/* A tree that sums each vector's lanes and puts the sums side by side: a step halves the lanes that each of two has and\n"
    "   joins the two, in such an order that the shuffles are cheap and lane s is the sum of vector s. */\n"
    "#define GPUSCAN_TREE_STEP(name, half, d, lower, upper)                                                                 \\\n"
    "    static inline gpuscan_wide name(const gpuscan_batch *batch, uint s, gpuscan_wide id) {                             \\\n"
    "        gpuscan_wide a = half(batch, s, id), b = half(batch, s + d, id);                                               \\\n"
    "        return gpuscan_combine_wide((gpuscan_wide)lower, (gpuscan_wide)upper);                                         \\\n"
    "    }\n"
    "#if GPUSCAN_WIDE == 16\n"
    "#define GPUSCAN_TREE(leaf)                                                                                             \\\n"
    "    GPUSCAN_TREE_STEP(leaf##_2, leaf, 4, (a.lo, b.lo), (a.hi, b.hi))                                                   \\\n"
    "    GPUSCAN_TREE_STEP(leaf##_4, leaf##_2, 8, (a.s0123, a.s89ab, b.s0123, b.s89ab),                                     \\\n"
    "                      (a.s4567, a.scdef, b.s4567, b.scdef))                                                            \\\n"
    "    GPUSCAN_TREE_STEP(leaf##_8, leaf##_4, 1, (a.s01, b.s01, a.s45, b.s45, a.s89, b.s89, a.scd, b.scd),                 \\\n"
    "                      (a.s23, b.s23, a.s67, b.s67, a.sab, b.sab, a.sef, b.sef))                                        \\\n"
    "    GPUSCAN_TREE_STEP(leaf##_all, leaf##_8, 2, (a.s02, b.s02, a.s46, b.s46, a.s8a, b.s8a, a.sce, b.sce),               \\\n"
    "                      (a.s13, b.s13, a.s57, b.s57, a.s9b, b.s9b, a.sdf, b.sdf))\n"
    "#else\n"
    "#define GPUSCAN_TREE(leaf)                                                                                             \\\n"
    "    GPUSCAN_TREE_STEP(leaf##_2, leaf, 2, (a.lo, b.lo), (a.hi, b.hi))                                                   \\\n"
    "    GPUSCAN_TREE_STEP(leaf##_4, leaf##_2, 4, (a.s01, a.s45, b.s01, b.s45), (a.s23, a.s67, b.s23, b.s67))               \\\n"
    "    GPUSCAN_TREE_STEP(leaf##_all, leaf##_4, 1, (a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6),                       \\\n"
    "                      (a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7))\n"
    "#endif\n"
    "GPUSCAN_TREE(gpuscan_batch_one)\n"
    "GPUSCAN_TREE(gpuscan_batch_two)\n",
    "GPUSCAN_TREE(gpuscan_batch_there)\n"
    "\n"
    "static inline gpuscan_wide gpuscan_batch_sum(gpuscan_batch *batch, gpuscan_wide id) {\n"
    "    if (batch->most <= GPUSCAN_WIDE)\n"
    "        return gpuscan_batch_one_all(batch, 0, id);\n"
    "    if (batch->most <= 2 * GPUSCAN_WIDE)\n"
    "        return gpuscan_batch_two_all(batch, 0, id);\n"
    "    for (uint s = 0; s < GPUSCAN_WIDE; s++)\n"
    "        batch->sums[s] = gpuscan_batch_long(batch, s, id);\n"
    "    return gpuscan_batch_there_all(batch, 0, id);\n"
    "}\n"
    "\n"
    "/* Whether the next WIDE segments are short and in the share, and two vectors more may be loaded behind them. Offsets\n"
    "   that descend are taken for those of a long one. */\n"
    "static inline bool gpuscan_batch_begin(gpuscan_batch *batch, const gpuscan_path *path, const gpuscan_walk *walk) {\n"
    "    gpuscan_offset most = 0;\n"
    "    if (GPUSCAN_CONVERT_IS_CUSTOM || walk->segment + GPUSCAN_WIDE > path->segments)\n"
    "        return false;\n"
    "    batch->src = gpuscan_segment_src(path, walk->segment);\n"
    "    batch->pitch = path->pitch;\n"
    "#if GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS\n"
    "    if (path->row_length > GPUSCAN_SHORT_SEGMENT)\n"
    "        return false;\n"
    "    most = (uint)path->row_length;\n"
    "    batch->last = walk->element + GPUSCAN_WIDE * path->row_length;\n"
    "#else\n"
    "    batch->offsets = path->offsets + walk->segment;\n"
    "    if (batch->offsets[0] != walk->element)\n"
    "        return false;\n"
    "    for (uint s = 0; s < GPUSCAN_WIDE; s++)\n"
    "        most = max(most, (gpuscan_offset)(batch->offsets[s + 1] - batch->offsets[s]));\n"
    "    batch->last = batch->offsets[GPUSCAN_WIDE];\n"
    "#endif\n"
    "    batch->most = (uint)most;\n"
    "    return most <= GPUSCAN_SHORT_SEGMENT && batch->last + 2 * GPUSCAN_WIDE <= path->last &&\n"
    "           batch->last - walk->element + GPUSCAN_WIDE <= walk->steps;\n"
    "}\n"
    "#endif\n"
    "\n"
    "static inline void gpuscan_walk_on(const gpuscan_path *path, gpuscan_walk *walk, const gpuscan_outlet *out,\n"
    "                                   local gpuscan_segment_shared *all) {\n"
    "#if GPUSCAN_WIDE > 1\n"
    "    gpuscan_wide id = gpuscan_identity_wide();\n"
    "    gpuscan_batch batch;\n"
    "    ulong first = walk->segment;\n"
    "    bool whole = false; /* the segment at hand begins with the next element */\n"
    "#endif\n"
    "    while (walk->steps > 0 && walk->segment < path->segments) {\n"
    "        ulong end = max(gpuscan_segment_end(path, walk->segment), walk->element);\n"
    "        ulong elements = min(end - walk->element, walk->steps);\n"
    "#if GPUSCAN_WIDE > 1\n"
    "        bool aligned = gpuscan_span_head(out->dst, walk->segment, GPUSCAN_FLAG_STREAM) == 0;\n"
    "        /* streaming stores: the first of the share go one by one up to a vector's alignment */\n"
    "        if (whole && (!out->stream || aligned || walk->segment - first > GPUSCAN_WIDE) &&\n"
    "            gpuscan_batch_begin(&batch, path, walk)) {\n"
    "            gpuscan_wide sums = gpuscan_combine_wide((gpuscan_wide)(out->base), gpuscan_batch_sum(&batch, id));\n"
    "            if (GPUSCAN_PREFETCH_DST)\n"
    "                GPUSCAN_PREFETCH(out->dst + walk->segment, GPUSCAN_PREFETCH_DST, 1);\n"
    "            gpuscan_store_wide(out->dst, walk->segment, sums, out->stream && aligned);\n"
    "            walk->segment += GPUSCAN_WIDE;\n"
    "            walk->steps -= batch.last - walk->element + GPUSCAN_WIDE;\n"
    "            walk->element = batch.last;\n"
    "            continue;\n"
    "        }\n"
    "#endif\n"
    "        if (elements > 0)\n"
    "            walk->carry = gpuscan_combine(walk->carry, gpuscan_stretch_sum(path, walk->segment, walk->element,\n"
    "                                                                           walk->element + elements, all));\n"
    "        walk->element += elements;\n"
    "        walk->steps -= elements;\n"
    "        if (walk->steps == 0)\n"
    "            break;\n"
    "        if (walk->open)\n"
    "            gpuscan_partial_store(out->partials, 2 * out->group, out->epoch, walk->carry);\n"
    "        else\n"
    "            gpuscan_outlet_write(out, walk->segment, walk->carry);\n"
    "        walk->open = false;\n"
    "        walk->carry = gpuscan_identity();\n"
    "        walk->segment++;\n"
    "        walk->steps--;\n"
    "#if GPUSCAN_WIDE > 1\n"
    "        whole = true;\n"
    "#endif\n"
    "    }\n"
    "}\n"
    "\n",
    "#else\n"
    "/* What precedes each work-item since the last end: x is its own sum since its last end, or of all that it has where it\n"
    "   has no end (closed: 0). *carry: what precedes the first work-item; afterwards what the last leaves. A barrier must\n"
    "   stand between two of them. */\n"
    "static inline gpuscan_t gpuscan_items_carry(gpuscan_t x, uint closed, gpuscan_t *carry,\n"
    "                                            local gpuscan_segment_shared *all) {\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    local gpuscan_reduce_shared *shared = &all->reduce;\n"
    "    gpuscan_t sum = *carry, group = sum, before;\n"
    "    uint closed_before;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = 1; d < GPUSCAN_LANES; d *= 2) {\n"
    "        gpuscan_t left = gpuscan_shuffle_up(x, d);\n"
    "        uint left_closed = gpuscan_uint_up(closed, d, GPUSCAN_LANES_MEMORY);\n"
    "        if (GPUSCAN_LANE >= d) {\n"
    "            x = closed ? x : gpuscan_combine(left, x);\n"
    "            closed |= left_closed;\n"
    "        }\n"
    "    }\n"
    "    before = gpuscan_shuffle_up(x, 1);\n"
    "    closed_before = gpuscan_uint_up(closed, 1, GPUSCAN_LANES_MEMORY);\n"
    "    if (GPUSCAN_LANE == GPUSCAN_LANES - 1) {\n"
    "        all->sums[GPUSCAN_SUBGROUP] = x;\n"
    "        all->closed[GPUSCAN_SUBGROUP] = closed;\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (uint s = 0; s < GPUSCAN_SUBGROUPS; s++) {\n"
    "        if (s == GPUSCAN_SUBGROUP)\n"
    "            group = sum;\n"
    "        sum = all->closed[s] ? all->sums[s] : gpuscan_combine(sum, all->sums[s]);\n"
    "    }\n"
    "    *carry = sum;\n"
    "    if (GPUSCAN_LANE == 0)\n"
    "        return group;\n"
    "    return closed_before ? before : gpuscan_combine(group, before);\n"
    "#else\n"
    "    gpuscan_t first = *carry;\n"
    "    all->sums[GPUSCAN_ITEM] = x;\n"
    "    all->closed[GPUSCAN_ITEM] = closed;\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (uint d = 1; d < GPUSCAN_GROUP; d *= 2) {\n"
    "        uint left = GPUSCAN_ITEM >= d ? GPUSCAN_ITEM - d : GPUSCAN_ITEM;\n"
    "        gpuscan_t left_sum = all->sums[left];\n"
    "        uint left_closed = all->closed[left];\n"
    "        GPUSCAN_BARRIER();\n"
    "        if (GPUSCAN_ITEM >= d) {\n"
    "            x = closed ? x : gpuscan_combine(left_sum, x);\n"
    "            closed |= left_closed;\n"
    "            all->sums[GPUSCAN_ITEM] = x;\n"
    "            all->closed[GPUSCAN_ITEM] = closed;\n"
    "        }\n"
    "        GPUSCAN_BARRIER();\n"
    "    }\n"
    "    x = all->sums[GPUSCAN_GROUP - 1];\n"
    "    *carry = all->closed[GPUSCAN_GROUP - 1] ? x : gpuscan_combine(first, x);\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        return first;\n"
    "    x = all->sums[GPUSCAN_ITEM - 1];\n"
    "    return all->closed[GPUSCAN_ITEM - 1] ? x : gpuscan_combine(first, x);\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* Element i behind the walk's. */\n"
    "static inline gpuscan_src gpuscan_walk_element(const gpuscan_path *path, const gpuscan_walk *walk, uint i) {\n"
    "    ulong at = walk->element + i;\n"
    "#if GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS\n"
    "    if (path->pitch != path->row_length) {\n"
    "        ulong column = at - walk->segment * path->row_length, rows; /* of the row at hand, and then on */\n"
    "        if (path->row_length > GPUSCAN_SEGMENT_TILE)\n"
    "            rows = column >= path->row_length ? 1 : 0;\n"
    "        else\n"
    "            rows = (uint)column / (uint)path->row_length;\n"
    "        at += (walk->segment + rows) * (path->pitch - path->row_length);\n"
    "    }\n"
    "#endif\n"
    "    return path->src[at];\n"
    "}\n"
    "\n"
    "/* Longer segments are summed by the whole group, as a reduction does it. */\n"
    "#define GPUSCAN_SEGMENT_LONG (!GPUSCAN_HAS_LANES || GPUSCAN_SEGMENT_ITEMS <= 4 ? GPUSCAN_GROUP : 4 * GPUSCAN_GROUP)\n"
    "\n"
    "/* Where in local memory a tile's element is: work-items that read at distances of a power of two meet in no bank. */\n"
    "static inline uint gpuscan_staged(uint i) {\n"
    "    return i + i / 32;\n"
    "}\n"
    "#define GPUSCAN_STAGED_GROUP (GPUSCAN_GROUP % 32 == 0 ? GPUSCAN_GROUP + GPUSCAN_GROUP / 32 : 0)\n"
    "\n"
    "/* Loads the tile's elements: all at once, without a branch for each. What is behind the last is the last again. */\n"
    "GPUSCAN_INLINE void gpuscan_walk_stage(const gpuscan_path *path, const gpuscan_walk *walk,\n"
    "                                       local gpuscan_segment_shared *all) {\n"
    "#if GPUSCAN_SEGMENT_STAGED\n"
    "    gpuscan_src loaded[GPUSCAN_SEGMENT_ITEMS];\n"
    "    ulong left = path->last > walk->element ? path->last - walk->element : 0;\n"
    "    if (left == 0)\n"
    "        return;\n"
    "#if GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS\n"
    "    bool dense = path->pitch == path->row_length;\n"
    "#else\n"
    "    bool dense = true;\n"
    "#endif\n"
    "    if (dense && left >= GPUSCAN_SEGMENT_TILE) {\n"
    "        global const gpuscan_src *from = path->src + walk->element + GPUSCAN_ITEM;\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_SEGMENT_ITEMS; k++)\n"
    "            loaded[k] = from[k * GPUSCAN_GROUP];\n"
    "    } else {\n"
    "        uint last = (uint)min(left, (ulong)GPUSCAN_SEGMENT_TILE) - 1;\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_SEGMENT_ITEMS; k++)\n"
    "            loaded[k] = gpuscan_walk_element(path, walk, min(k * GPUSCAN_GROUP + GPUSCAN_ITEM, last));\n"
    "    }\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_SEGMENT_ITEMS; k++)\n"
    "        all->elements[GPUSCAN_STAGED_GROUP ? gpuscan_staged(GPUSCAN_ITEM) + k * GPUSCAN_STAGED_GROUP\n"
    "                                           : gpuscan_staged(k * GPUSCAN_GROUP + GPUSCAN_ITEM)] = loaded[k];\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* Where on the tile's path its segment x ends, and the one before it; GPUSCAN_NEVER: behind the tile. */\n"
    "#define GPUSCAN_NEVER 0xffffu\n"
    "static inline uint gpuscan_walk_end(const gpuscan_path *path, const gpuscan_walk *walk, uint x, uint *before) {\n"
    "    ulong left = path->segments - walk->segment;\n"
    "#if GPUSCAN_SEGMENTS == GPUSCAN_SEGMENTS_ROWS\n"
    "    uint each = (uint)min(path->row_length, (ulong)GPUSCAN_NEVER) + 1;\n"
    "    uint first = (uint)min((walk->segment + 1) * path->row_length - walk->element, (ulong)GPUSCAN_NEVER);\n"
    "    *before = x > left ? GPUSCAN_NEVER : first + x * each - each;\n"
    "    return x >= left ? GPUSCAN_NEVER : min(first + x * each, GPUSCAN_NEVER);\n"
    "#else\n"
    "    gpuscan_offset first = (gpuscan_offset)walk->element, last = (gpuscan_offset)path->last;\n"
    "    global const gpuscan_offset *offsets = path->offsets + walk->segment;\n"
    "    *before = GPUSCAN_NEVER;\n"
    "    if (x > left)\n"
    "        return GPUSCAN_NEVER;\n"
    "    *before = x - 1 + (uint)min(min(max(offsets[x], first), last) - first, (gpuscan_offset)GPUSCAN_NEVER);\n"
    "    if (x == left)\n"
    "        return GPUSCAN_NEVER;\n"
    "    return min(x + (uint)min(min(max(offsets[x + 1], first), last) - first, (gpuscan_offset)GPUSCAN_NEVER),\n"
    "               GPUSCAN_NEVER);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* For the next tile. */\n"
    "static inline void gpuscan_tile_clear(uint turn, local gpuscan_segment_shared *all) {\n"
    "    if (GPUSCAN_ITEM == 0) {\n"
    "        all->cut[turn] = GPUSCAN_NEVER;\n"
    "        all->ends[turn] = 0;\n"
    "    }\n"
    "}\n"
    "\n"
    "/* Of all segments that end in the tile's steps, and one more. Whoever sees the last and the first long one, says so. */\n"
    "static inline void gpuscan_walk_ends(const gpuscan_path *path, const gpuscan_walk *walk, uint steps,\n"
    "                                     local gpuscan_segment_shared *all) {\n"
    "    uint there = 0, most = walk->ends / GPUSCAN_GROUP * GPUSCAN_GROUP + GPUSCAN_GROUP;\n"
    "    do {\n"
    "        for (uint x = there + GPUSCAN_ITEM; x < min(most, (uint)GPUSCAN_SEGMENT_TILE + 1); x += GPUSCAN_GROUP) {\n"
    "            uint before = 0, end = gpuscan_walk_end(path, walk, x, &before);\n"
    "            all->steps[x] = (ushort)end;\n"
    "            if (x > 0 && before < steps) {\n"
    "                if (end >= steps)\n"
    "                    atomic_max(&all->ends[walk->turn], x);\n"
    "                if (end - before > GPUSCAN_SEGMENT_LONG) /* or wrong offsets descend */\n"
    "                    atomic_min(&all->cut[walk->turn], x);\n"
    "            }\n"
    "        }\n"
    "        there = min(most, (uint)GPUSCAN_SEGMENT_TILE + 1);\n"
    "        most += GPUSCAN_GROUP;\n"
    "        GPUSCAN_BARRIER();\n"
    "    } while (there <= GPUSCAN_SEGMENT_TILE && all->steps[there - 1] < steps);\n"
    "}\n"
    "\n",
    "static inline gpuscan_src gpuscan_tile_element(const gpuscan_path *path, const gpuscan_walk *walk, uint i,\n"
    "                                               local gpuscan_segment_shared *all) {\n"
    "#if GPUSCAN_SEGMENT_STAGED\n"
    "    return all->elements[gpuscan_staged(i)];\n"
    "#else\n"
    "    return gpuscan_walk_element(path, walk, i);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* The sum of what a work-item has of a piece, elements [first, last) of the tile; at: the number of the first. */\n"
    "static inline gpuscan_t gpuscan_piece_sum(const gpuscan_path *path, const gpuscan_walk *walk, uint first, uint last,\n"
    "                                          ulong at, local gpuscan_segment_shared *all) {\n"
    "    gpuscan_t sum = gpuscan_identity();\n"
    "    uint i = first;\n"
    "    for (; i + 4 <= last; i += 4, at += 4) {\n"
    "        gpuscan_src element[4];\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < 4; k++)\n"
    "            element[k] = gpuscan_tile_element(path, walk, i + k, all);\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < 4; k++)\n"
    "            sum = gpuscan_combine(sum, gpuscan_convert(element[k], at + k));\n"
    "    }\n"
    "    for (; i < last; i++, at++)\n"
    "        sum = gpuscan_combine(sum, gpuscan_convert(gpuscan_tile_element(path, walk, i, all), at));\n"
    "    return sum;\n"
    "}\n"
    "\n"
    "/* The sums of 1 << bits neighbours, in order. The first has it. */\n"
    "static inline gpuscan_t gpuscan_neighbours_sum(gpuscan_t x, uint bits, local gpuscan_segment_shared *all) {\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    local gpuscan_reduce_shared *shared = &all->reduce;\n"
    "    for (uint d = 1; d >> bits == 0; d *= 2) {\n"
    "        gpuscan_t other = gpuscan_shuffle_xor(x, d);\n"
    "        x = (GPUSCAN_LANE & d) ? gpuscan_combine(other, x) : gpuscan_combine(x, other);\n"
    "    }\n"
    "#endif\n"
    "    return x;\n"
    "}\n"
    "#define GPUSCAN_PIECE_MOST (GPUSCAN_HAS_LANES ? GPUSCAN_LANES : 1) /* work-items a piece; barriers would cost more */\n"
    "\n"
    "/* A tile of steps, up to the first long segment. Its pieces are the segments that end there and what is behind; one\n"
    "   work-item takes each, or 1 << bits of them, as many as there are for it. */\n"
    "GPUSCAN_INLINE void gpuscan_walk_tile(const gpuscan_path *path, gpuscan_walk *walk, const gpuscan_outlet *out,\n"
    "                                      local gpuscan_segment_shared *all) {\n"
    "    uint steps = (uint)min(walk->steps, (ulong)GPUSCAN_SEGMENT_TILE), bits = 0, cut, ends, elements;\n"
    "    gpuscan_walk_stage(path, walk, all);\n"
    "    gpuscan_walk_ends(path, walk, steps, all);\n"
    "    ends = all->ends[walk->turn];\n"
    "    cut = all->cut[walk->turn];\n"
    "    if (cut <= ends) {\n"
    "        ends = cut;\n"
    "        steps = all->steps[cut - 1] + 1;\n"
    "    }\n"
    "    elements = (uint)min((ulong)(steps - ends), path->last > walk->element ? path->last - walk->element : 0);\n"
    "    while ((2u << bits) <= GPUSCAN_PIECE_MOST && ((ends + 1) << bits) * 2 <= GPUSCAN_GROUP)\n"
    "        bits++;\n"
    "    for (uint piece = GPUSCAN_ITEM >> bits, base_piece = 0; base_piece <= ends;\n"
    "         piece += GPUSCAN_GROUP >> bits, base_piece += GPUSCAN_GROUP >> bits) {\n"
    "        uint lane = GPUSCAN_ITEM & ((1u << bits) - 1), first = 0, last = 0, share;\n"
    "        ulong at;\n"
    "        gpuscan_t sum;\n"
    "        if (piece <= ends) {\n"
    "            last = piece < ends ? min(all->steps[piece] - piece, elements) : elements;\n"
    "            first = piece > 0 ? min(all->steps[piece - 1] + 1 - piece, last) : 0;\n"
    "        }\n"
    "        share = (last - first + (1u << bits) - 1) >> bits;\n"
    "        first = min(first + lane * share, last);\n"
    "        at = walk->element + first - gpuscan_segment_zero(path, walk->segment + piece);\n"
    "        sum = gpuscan_piece_sum(path, walk, first, min(first + share, last), at, all);\n"
    "        sum = gpuscan_neighbours_sum(sum, bits, all);\n"
    "        if (lane == 0 && piece <= ends) {\n"
    "            if (piece == 0)\n"
    "                sum = gpuscan_combine(walk->carry, sum);\n"
    "            if (piece == ends)\n"
    "                all->tail = sum;\n"
    "            else if (piece == 0 && walk->open)\n"
    "                gpuscan_partial_store(out->partials, 2 * out->group, out->epoch, sum);\n"
    "            else\n"
    "                gpuscan_outlet_write(out, walk->segment + piece, sum);\n"
    "        }\n"
    "    }\n"
    "    walk->turn = 1 - walk->turn;\n"
    "    gpuscan_tile_clear(walk->turn, all);\n"
    "    GPUSCAN_BARRIER();\n",
    "    walk->carry = all->tail;\n"
    "    walk->open = walk->open && ends == 0;\n"
    "    walk->ends = ends;\n"
    "    walk->segment += ends;\n"
    "    walk->element += steps - ends;\n"
    "    walk->steps -= steps;\n"
    "}\n"
    "\n"
    "/* Tiles of short segments, long ones each by itself. */\n"
    "static inline void gpuscan_walk_on(const gpuscan_path *path, gpuscan_walk *walk, const gpuscan_outlet *out,\n"
    "                                   local gpuscan_segment_shared *all) {\n"
    "    gpuscan_tile_clear(walk->turn, all);\n"
    "    GPUSCAN_BARRIER();\n"
    "    while (walk->steps > 0) {\n"
    "        ulong end = walk->segment < path->segments ? gpuscan_segment_end(path, walk->segment) : 0, elements = 0;\n"
    "        if (end > walk->element)\n"
    "            elements = min(end - walk->element, walk->steps);\n"
    "        if (elements < GPUSCAN_SEGMENT_LONG) {\n"
    "            gpuscan_walk_tile(path, walk, out, all);\n"
    "            continue;\n"
    "        }\n"
    "        walk->carry = gpuscan_combine(walk->carry, gpuscan_stretch_sum(path, walk->segment, walk->element,\n"
    "                                                                       walk->element + elements, all));\n"
    "        walk->element += elements;\n"
    "        walk->steps -= elements;\n"
    "        if (walk->steps == 0)\n"
    "            break;\n"
    "        if (GPUSCAN_ITEM == 0 && walk->open)\n"
    "            gpuscan_partial_store(out->partials, 2 * out->group, out->epoch, walk->carry);\n"
    "        else if (GPUSCAN_ITEM == 0)\n"
    "            gpuscan_outlet_write(out, walk->segment, walk->carry);\n"
    "        walk->open = false;\n"
    "        walk->ends = 0;\n"
    "        walk->carry = gpuscan_identity();\n"
    "        walk->segment++;\n"
    "        walk->steps--;\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* A group's first end, where others join what they have of its segment: 0 if it has none, else the segment's number\n"
    "   and 1. In state words behind the heads and tails, which are no values of the operator's type; or in plain memory. */\n"
    "#if GPUSCAN_WORD\n"
    "#define GPUSCAN_MARK_WORDS (8 / (uint)sizeof(gpuscan_payload))\n"
    "static inline global gpuscan_word *gpuscan_mark(global gpuscan_partial *partials, uint group) {\n"
    "    ulong before = (ulong)get_num_groups(0) * 2 * GPUSCAN_SLOTS * GPUSCAN_VALUE_WORDS;\n"
    "    return partials + before + group * GPUSCAN_MARK_WORDS;\n"
    "}\n"
    "static inline void gpuscan_mark_store(global gpuscan_partial *partials, global ulong *marks, uint group, uint epoch,\n"
    "                                      ulong mark) {\n"
    "    for (uint p = 0; p < GPUSCAN_MARK_WORDS; p++)\n"
    "        gpuscan_word_store(gpuscan_mark(partials, group) + p,\n"
    "                           gpuscan_word_make(epoch << 2 | GPUSCAN_AGGREGATE,\n"
    "                                             (gpuscan_payload)(mark >> p * 64 / GPUSCAN_MARK_WORDS)));\n"
    "}\n"
    "static inline ulong gpuscan_mark_load(global gpuscan_partial *partials, global ulong *marks, uint group) {\n"
    "    ulong mark = 0;\n"
    "    for (uint p = 0; p < GPUSCAN_MARK_WORDS; p++)\n"
    "        mark |= (ulong)gpuscan_word_payload(gpuscan_word_load(gpuscan_mark(partials, group) + p))\n"
    "                << p * 64 / GPUSCAN_MARK_WORDS;\n"
    "    return mark;\n"
    "}\n"
    "#else\n"
    "static inline void gpuscan_mark_store(global gpuscan_partial *partials, global ulong *marks, uint group, uint epoch,\n"
    "                                      ulong mark) {\n"
    "    marks[group] = mark;\n"
    "}\n"
    "static inline ulong gpuscan_mark_load(global gpuscan_partial *partials, global ulong *marks, uint group) {\n"
    "    return marks[group];\n"
    "}\n"
    "#endif\n"
    "\n",
    "/* Some groups' tails since the last end among them. */\n"
    "static inline gpuscan_t gpuscan_tails_sum(global gpuscan_partial *partials, global ulong *marks, uint first, uint last,\n"
    "                                          uint epoch, uint *closed) {\n"
    "    gpuscan_t sum = gpuscan_identity();\n"
    "    *closed = 0;\n"
    "    for (uint g = first; g < last; g++) {\n"
    "        gpuscan_t tail = gpuscan_partial_load(partials, 2 * g + 1, epoch);\n"
    "        if (gpuscan_mark_load(partials, marks, g) != 0) {\n"
    "            sum = tail;\n"
    "            *closed = 1;\n"
    "        } else {\n"
    "            sum = gpuscan_combine(sum, tail);\n"
    "        }\n"
    "    }\n"
    "    return sum;\n"
    "}\n"
    "\n"
    "/* What precedes each work-item's share of the groups before count; *carry: what all of them leave. */\n"
    "static inline gpuscan_t gpuscan_tails_before(global gpuscan_partial *partials, global ulong *marks, uint count,\n"
    "                                             uint epoch, uint *first, uint *last, gpuscan_t *carry,\n"
    "                                             local gpuscan_segment_shared *all) {\n"
    "    uint share = (count + GPUSCAN_GROUP - 1) / GPUSCAN_GROUP, closed;\n"
    "    gpuscan_t sum;\n"
    "    *first = min(GPUSCAN_ITEM * share, count);\n"
    "    *last = min(*first + share, count);\n"
    "    sum = gpuscan_tails_sum(partials, marks, *first, *last, epoch, &closed);\n"
    "    *carry = gpuscan_identity();\n"
    "    return gpuscan_items_carry(sum, closed, carry, all);\n"
    "}\n"
    "\n"
    "/* A group's share of the path; group_rows: of whole rows, so many, or 0. */\n"
    "static inline gpuscan_walk gpuscan_walk_begin(const gpuscan_path *path, ulong group_rows,\n"
    "                                              local gpuscan_segment_shared *all) {\n"
    "    ulong steps = gpuscan_path_steps(path), groups = get_num_groups(0), share, first;\n"
    "    gpuscan_walk walk;\n"
    "    share = group_rows ? group_rows * (path->row_length + 1)\n"
    "                       : max((steps + groups - 1) / groups, (ulong)GPUSCAN_SEGMENT_TILE);\n"
    "    first = min(get_group_id(0) * share, steps);\n"
    "    walk.steps = min(share, steps - first);\n"
    "    walk.segment = walk.steps > 0 ? gpuscan_path_at(path, first, all) : path->segments;\n"
    "    walk.element = path->begin + (first - walk.segment);\n"
    "    walk.carry = gpuscan_identity();\n"
    "    walk.open = false;\n"
    "    walk.ends = 0;\n"
    "    walk.turn = 0;\n"
    "    return walk;\n"
    "}\n"
    "\n",
    "kernel GPUSCAN_GROUP_ATTRIBUTE void\n"
    "gpuscan_reduce_segments(global const gpuscan_src *src, global const gpuscan_offset *offsets,\n"
    "                        global const uint *count_buffer, global gpuscan_partial *partials, global ulong *marks,\n"
    "                        global gpuscan_result_t *dst, gpuscan_init init_value, global const gpuscan_dst *init_buffer,\n"
    "                        gpuscan_reduce_segments_numbers numbers,\n"
    "    local gpuscan_segment_shared *all) {\n"
    "    uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0), flags = (uint)numbers.flags, first, last;\n"
    "    bool joins = groups > 1 && numbers.group_rows == 0;\n"
    "    gpuscan_path path = gpuscan_path_of(src, offsets, count_buffer, &numbers);\n"
    "    gpuscan_walk walk = gpuscan_walk_begin(&path, numbers.group_rows, all);\n"
    "    ulong segment = walk.segment;\n"
    "    gpuscan_outlet out;\n"
    "    partials += numbers.partials_offset;\n"
    "    marks += numbers.marks_offset;\n"
    "    out.dst = dst + numbers.dst_offset;\n"
    "    out.base = gpuscan_base(init_value, init_buffer, numbers.init_offset, flags);\n"
    "    out.partials = partials;\n"
    "    out.group = group;\n"
    "    out.epoch = (uint)numbers.epoch;\n"
    "    out.stream = flags & GPUSCAN_FLAG_STREAM;\n"
    "#if GPUSCAN_WORD\n"
    "    walk.open = joins;\n"
    "    gpuscan_walk_on(&path, &walk, &out, all);\n"
    "    if (!joins)\n"
    "        return;\n"
    "    if (GPUSCAN_ITEM == 0) {\n"
    "        gpuscan_partial_store(partials, 2 * group + 1, out.epoch, walk.carry);\n"
    "        gpuscan_mark_store(partials, marks, group, out.epoch, walk.segment != segment ? segment + 1 : 0);\n"
    "    }\n"
    "    gpuscan_device_fence(); /* by all: one of them may have stored the head */\n"
    "    GPUSCAN_BARRIER();\n"
    "    if (gpuscan_ticket(GPUSCAN_COUNTERS(partials), groups, &all->ticket) != groups - 1)\n"
    "        return;\n"
    "    gpuscan_device_fence();\n"
    "    {\n"
    "        gpuscan_t sum = gpuscan_tails_before(partials, marks, groups, out.epoch, &first, &last, &walk.carry, all);\n"
    "        for (uint g = first; g < last; g++) {\n"
    "            gpuscan_t tail = gpuscan_partial_load(partials, 2 * g + 1, out.epoch);\n"
    "            ulong mark = gpuscan_mark_load(partials, marks, g);\n"
    "            if (mark != 0) {\n"
    "                gpuscan_t head = gpuscan_partial_load(partials, 2 * g, out.epoch);\n"
    "                gpuscan_outlet_write(&out, mark - 1,\n"
    "                                     GPUSCAN_PLANTED(SEGMENT_JOIN) ? head : gpuscan_combine(sum, head));\n"
    "                sum = tail;\n"
    "            } else {\n"
    "                sum = gpuscan_combine(sum, tail);\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "#else\n"
    "    if (joins) {\n"
    "        gpuscan_tails_before(partials, marks, group, 0, &first, &last, &walk.carry, all);\n"
    "        GPUSCAN_BARRIER();\n"
    "        if (GPUSCAN_PLANTED(SEGMENT_JOIN))\n"
    "            walk.carry = gpuscan_identity();\n"
    "    }\n"
    "    gpuscan_walk_on(&path, &walk, &out, all);\n"
    "#endif\n"
    "}\n"
    "\n",
    "#if !GPUSCAN_WORD\n"
    "/* The launch before, where there is something to join: each group's tail. It reads no more than is behind the last end,\n"
    "   which is little unless segments are long. */\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_reduce_tails(global const gpuscan_src *src, global const gpuscan_offset *offsets,\n"
    "                     global const uint *count_buffer, global gpuscan_partial *partials, global ulong *marks,\n"
    "                     gpuscan_reduce_segments_numbers numbers,\n"
    "    local gpuscan_segment_shared *all) {\n"
    "    uint group = (uint)get_group_id(0);\n"
    "    gpuscan_path path = gpuscan_path_of(src, offsets, count_buffer, &numbers);\n"
    "    gpuscan_walk walk = gpuscan_walk_begin(&path, 0, all);\n"
    "    ulong step = walk.segment + (walk.element - path.begin) + walk.steps;\n"
    "    ulong segment = walk.steps > 0 ? gpuscan_path_at(&path, step, all) : walk.segment;\n"
    "    ulong first = walk.element, last = min(path.begin + (step - segment), path.last);\n"
    "    gpuscan_t tail;\n"
    "    if (segment > walk.segment)\n"
    "        first = max(first, gpuscan_segment_end(&path, segment - 1));\n"
    "    tail = first < last ? gpuscan_stretch_sum(&path, segment, first, last, all) : gpuscan_identity();\n"
    "    if (GPUSCAN_ITEM == 0) {\n"
    "        gpuscan_partial_store(partials + numbers.partials_offset, 2 * group + 1, 0, tail);\n"
    "        gpuscan_mark_store(partials, marks + numbers.marks_offset, group, 0,\n"
    "                           segment > walk.segment ? walk.segment + 1 : 0);\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "#else\n"
    "/* [REDUCE], one result ------------------------------------------------------------------------------------------- */\n"
    "\n"
    "typedef struct {\n"
    "    GPUSCAN_REDUCE_NUMBERS\n"
    "} gpuscan_reduce_numbers;\n"
    "\n"
    "/* One group writes the result at once. Of several the last to arrive combines the partial results where they are state\n"
    "   words, else a launch of gpuscan_reduce_finish does. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void\n"
    "gpuscan_reduce(global const gpuscan_src *src, global const uint *count_buffer, global gpuscan_partial *partials,\n"
    "               global gpuscan_result_t *dst, gpuscan_init init_value, global const gpuscan_dst *init_buffer,\n"
    "               gpuscan_reduce_numbers numbers,\n"
    "    local gpuscan_reduce_shared *shared) {\n"
    "    uint group = (uint)get_group_id(0), groups = (uint)get_num_groups(0);\n"
    "    uint epoch = (uint)numbers.epoch, flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    gpuscan_t sum;\n"
    "    src += numbers.src_offset;\n"
    "    partials += numbers.partials_offset;\n"
    "#if GPUSCAN_COMMUTATIVE && !GPUSCAN_CPU\n"
    "    sum = gpuscan_items_sum(gpuscan_item_sum(src, 0, count, group, groups), shared);\n"
    "#else\n"
    "    ulong tiles = count / GPUSCAN_TILE + (count % GPUSCAN_TILE != 0);\n"
    "    sum = gpuscan_tiles_sum(src, count, min(group * numbers.group_tiles, tiles),\n"
    "                            min((group + 1) * numbers.group_tiles, tiles), shared);\n"
    "#endif\n"
    "    if (groups > 1) {\n"
    "        if (GPUSCAN_ITEM == 0) {\n"
    "            gpuscan_partial_store(partials, group, epoch, sum);\n"
    "#if GPUSCAN_WORD && !GPUSCAN_PTX\n"
    "            gpuscan_device_fence();\n"
    "#endif\n"
    "        }\n"
    "#if !GPUSCAN_WORD\n"
    "        return;\n"
    "#else\n"
    "        if (gpuscan_ticket(GPUSCAN_COUNTERS(partials), groups, &shared->ticket) != groups - 1)\n"
    "            return;\n"
    "#if !GPUSCAN_PTX\n"
    "        gpuscan_device_fence();\n"
    "#endif\n"
    "        sum = gpuscan_partials_sum(partials, groups, epoch, shared);\n"
    "#endif\n"
    "    }\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        gpuscan_reduce_write(sum, dst + numbers.dst_offset, init_value, init_buffer, numbers.init_offset, flags);\n"
    "}\n"
    "\n",
    "#if !GPUSCAN_WORD\n"
    "typedef struct {\n"
    "    GPUSCAN_REDUCE_FINISH_NUMBERS\n"
    "} gpuscan_reduce_finish_numbers;\n"
    "\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_reduce_finish(global gpuscan_partial *partials, global gpuscan_result_t *dst, gpuscan_init init_value,\n"
    "                      global const gpuscan_dst *init_buffer, gpuscan_reduce_finish_numbers numbers,\n"
    "    local gpuscan_reduce_shared *shared) {\n"
    "    gpuscan_t sum = gpuscan_partials_sum(partials + numbers.partials_offset, (uint)numbers.count, 0, shared);\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        gpuscan_reduce_write(sum, dst + numbers.dst_offset, init_value, init_buffer, numbers.init_offset,\n"
    "                             (uint)numbers.flags);\n"
    "}\n"
    "#endif\n"
    "#endif /* GPUSCAN_SEGMENTS */\n"
    "#endif\n"
    "\n"
    "#endif /* GPUSCAN_T */\n"
    "\n"
    "#ifdef GPUSCAN_SAMPLE\n"
    "/* [HISTOGRAM BINS] ------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* Counters are summed in accumulators that are 0 before the call and after it: every group adds its counts to them\n"
    "   (from local memory, or sample by sample), and whoever finishes moves them to counts and zeroes them again. */\n"
    "\n"
    "/* Offsets and pitches count elements. What is loaded and put into one bin is a sample: an element, or all channels of a\n"
    "   pixel, where the caller's expressions make something of it. */\n"
    "typedef GPUSCAN_SAMPLE gpuscan_element;\n"
    "#if GPUSCAN_PIXEL_CHANNELS > 1\n"
    "typedef struct {\n"
    "    gpuscan_element channel[GPUSCAN_PIXEL_CHANNELS];\n"
    "} gpuscan_sample;\n"
    "#else\n"
    "typedef gpuscan_element gpuscan_sample;\n"
    "#endif\n"
    "typedef GPUSCAN_BINNED gpuscan_binned; /* what is put into the bin: the sample, or what the expression gives */\n"
    "typedef GPUSCAN_COUNTER gpuscan_counter;\n"
    "#define GPUSCAN_SAMPLES_AT(samples, elements)                                                                         \\\n"
    "    ((global const gpuscan_sample *)((global const gpuscan_element *)(samples) + (elements)))\n"
    "\n"
    "/* A pixel as the expressions see it. */\n"
    "#if GPUSCAN_PIXEL_CHANNELS\n"
    "#define GPUSCAN_PIXEL_LOAD_(load, channels) load##channels\n"
    "#define GPUSCAN_PIXEL_LOAD(load, channels)  GPUSCAN_PIXEL_LOAD_(load, channels)\n"
    "static inline GPUSCAN_PIXEL gpuscan_pixel_of(gpuscan_sample s) {\n"
    "#if GPUSCAN_PIXEL_F16 && GPUSCAN_PIXEL_CHANNELS == 1\n"
    "    return vload_half(0, (private const half *)&s);\n"
    "#elif GPUSCAN_PIXEL_F16\n"
    "    return GPUSCAN_PIXEL_LOAD(vload_half, GPUSCAN_PIXEL_CHANNELS)(0, (private const half *)&s);\n"
    "#elif GPUSCAN_PIXEL_CHANNELS == 1\n"
    "    return s;\n"
    "#else\n"
    "    return GPUSCAN_PIXEL_LOAD(vload, GPUSCAN_PIXEL_CHANNELS)(0, s.channel);\n"
    "#endif\n"
    "}\n"
    "#else\n"
    "#define gpuscan_pixel_of(s) (s)\n"
    "#endif\n"
    "\n",
    "/* What sample s, number i of its row, gives, and what it counts. The host defines the expressions' functions. */\n"
    "#if GPUSCAN_CONVERTED\n"
    "#define GPUSCAN_BINNED_OF(s, i) gpuscan_custom_convert(gpuscan_pixel_of(s), i)\n"
    "#else\n"
    "#define GPUSCAN_BINNED_OF(s, i) (s)\n"
    "#endif\n"
    "#if GPUSCAN_WEIGHED\n"
    "#define GPUSCAN_WEIGHT_OF(s, i, weights) gpuscan_custom_weight(gpuscan_pixel_of(s), i)\n"
    "#elif GPUSCAN_WEIGHTED\n"
    "#define GPUSCAN_WEIGHT_OF(s, i, weights) (weights)[(i) / GPUSCAN_CHANNELS]\n"
    "#else\n"
    "#define GPUSCAN_WEIGHT_OF(s, i, weights) 1\n"
    "#endif\n"
    "\n"
    "#define GPUSCAN_NO_BIN       0xffffffffu\n"
    "#define GPUSCAN_CHANNEL_BINS (GPUSCAN_BINS + (GPUSCAN_OUTSIDE == GPUSCAN_OUTSIDE_COUNT ? 2 : 0))\n"
    "\n"
    "/* The bin of a sample that is known to be outside. */\n"
    "static inline uint gpuscan_outside(bool below) {\n"
    "#if GPUSCAN_OUTSIDE == GPUSCAN_OUTSIDE_DROP\n"
    "    return GPUSCAN_NO_BIN;\n"
    "#elif GPUSCAN_OUTSIDE == GPUSCAN_OUTSIDE_CLAMP\n"
    "    return below ? 0 : GPUSCAN_BINS - 1;\n"
    "#else\n"
    "    return below ? GPUSCAN_BINS : GPUSCAN_BINS + 1;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Where the edges are while samples are compared with them: in local memory, if they fit there; and where between the\n"
    "   first and the last a search begins and ends, for each of EDGE_CELLS cells of equal width. */\n"
    "#if GPUSCAN_LOCAL_EDGES\n"
    "typedef struct {\n"
    "    local const GPUSCAN_EDGE *at;\n"
    "    GPUSCAN_EDGE first, last;\n"
    "#if GPUSCAN_EDGE_CELLS\n"
    "    local const uint *cells;\n"
    "    GPUSCAN_EDGE_REAL scale; /* cells a unit */\n"
    "#endif\n"
    "} gpuscan_edges;\n"
    "#define GPUSCAN_EDGE_PLACE(k)     ((k) + (k) / 32) /* searches begin with multiples of large steps: in several banks */\n"
    "#define GPUSCAN_EDGE_AT(edges, k) (edges).at[GPUSCAN_EDGE_PLACE(k)]\n"
    "#define GPUSCAN_EDGE_FIRST(edges) (edges).first\n"
    "#define GPUSCAN_EDGE_LAST(edges)  (edges).last\n"
    "#else\n"
    "typedef global const GPUSCAN_EDGE *gpuscan_edges;\n"
    "#define GPUSCAN_EDGE_AT(edges, k) (edges)[k]\n"
    "#define GPUSCAN_EDGE_FIRST(edges) (edges)[0]\n"
    "#define GPUSCAN_EDGE_LAST(edges)  (edges)[GPUSCAN_BINS]\n"
    "#endif\n"
    "\n"
    "/* A sample as it is compared with edges. */\n"
    "static inline GPUSCAN_EDGE gpuscan_edge_value(gpuscan_binned sample) {\n"
    "#if GPUSCAN_SAMPLE_F16\n"
    "    return vload_half(0, (private const half *)&sample);\n"
    "#else\n"
    "    return sample;\n"
    "#endif\n"
    "}\n"
    "\n",
    "#if GPUSCAN_LOCAL_EDGES && GPUSCAN_EDGE_CELLS\n"
    "#if !GPUSCAN_SAMPLE_IS_FLOAT\n"
    "static inline GPUSCAN_EDGE_REAL gpuscan_edge_distance(GPUSCAN_EDGE from, GPUSCAN_EDGE to) {\n"
    "    return sizeof(GPUSCAN_EDGE) == 8 ? (GPUSCAN_EDGE_REAL)((ulong)to - (ulong)from)\n"
    "                                     : (GPUSCAN_EDGE_REAL)((uint)to - (uint)from);\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* A sample's cell. Every step is monotone, however it rounds: so edges in lower cells lie below the sample, edges in\n"
    "   higher ones above it, and only those of its own cell must be compared. */\n"
    "static inline uint gpuscan_edge_cell(GPUSCAN_EDGE s, gpuscan_edges edges) {\n"
    "#if GPUSCAN_SAMPLE_IS_FLOAT\n"
    "    GPUSCAN_EDGE_REAL at = s - edges.first;\n"
    "#else\n"
    "    GPUSCAN_EDGE_REAL at = gpuscan_edge_distance(edges.first, s);\n"
    "#endif\n"
    "    at = fmax(at * edges.scale, (GPUSCAN_EDGE_REAL)0); /* NaN, of infinite edges, is cell 0 */\n"
    "    return (uint)fmin(at, (GPUSCAN_EDGE_REAL)(GPUSCAN_EDGE_CELLS - 1));\n"
    "}\n"
    "\n"
    "/* The bins that begin in lower cells, but for the first. */\n"
    "static inline uint gpuscan_edges_below(uint cell, gpuscan_edges edges) {\n"
    "    uint low = 0, high = GPUSCAN_BINS - 1;\n"
    "    while (low < high) {\n"
    "        uint middle = (low + high + 1) / 2;\n"
    "        if (gpuscan_edge_cell(GPUSCAN_EDGE_AT(edges, middle), edges) < cell)\n"
    "            low = middle;\n"
    "        else\n"
    "            high = middle - 1;\n"
    "    }\n"
    "    return low;\n"
    "}\n"
    "\n"
    "/* By all work-items of the group, once the edges are there. */\n"
    "static inline void gpuscan_cells_make(gpuscan_edges *edges, local uint *cells) {\n"
    "#if GPUSCAN_SAMPLE_IS_FLOAT\n"
    "    GPUSCAN_EDGE_REAL range = edges->last - edges->first;\n"
    "#else\n"
    "    GPUSCAN_EDGE_REAL range = gpuscan_edge_distance(edges->first, edges->last);\n"
    "#endif\n"
    "    edges->scale = GPUSCAN_EDGE_CELLS / range;\n"
    "    if (!(range > 0) || isinf(range) || isinf(edges->scale))\n"
    "        edges->scale = 0; /* one cell for all */\n"
    "    edges->cells = cells;\n"
    "    for (uint k = GPUSCAN_ITEM; k < GPUSCAN_EDGE_CELLS; k += GPUSCAN_GROUP)\n"
    "        cells[k] = gpuscan_edges_below(k, *edges) | gpuscan_edges_below(k + 1, *edges) << 16;\n"
    "}\n"
    "\n"
    "/* The last bin that begins at s or below it, of a sample that is not outside. */\n"
    "static inline uint gpuscan_edge_bin(GPUSCAN_EDGE s, gpuscan_edges edges) {\n"
    "    uint cell = edges.cells[gpuscan_edge_cell(s, edges)], low = cell & 0xffff, high = cell >> 16;\n"
    "    while (low < high) {\n"
    "        uint middle = (low + high + 1) / 2;\n"
    "        if (GPUSCAN_EDGE_AT(edges, middle) <= s)\n"
    "            low = middle;\n"
    "        else\n"
    "            high = middle - 1;\n"
    "    }\n"
    "    return low;\n"
    "}\n"
    "#else\n"
    "/* The last bin that begins at s or below it, of a sample that is not outside: bit by bit, without branches. */\n"
    "static inline uint gpuscan_edge_bin(GPUSCAN_EDGE s, gpuscan_edges edges) {\n"
    "    uint bin = 0;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint step = GPUSCAN_EDGE_STEP; step > 0; step /= 2) {\n"
    "        uint next = min(bin + step, (uint)GPUSCAN_BINS);\n"
    "        bin = next < GPUSCAN_BINS && GPUSCAN_EDGE_AT(edges, next) <= s ? next : bin;\n"
    "    }\n"
    "    return bin;\n"
    "}\n"
    "#endif\n"
    "\n",
    "#if GPUSCAN_SAMPLE_IS_FLOAT\n"
    "typedef GPUSCAN_SAMPLE_FLOAT gpuscan_real;\n"
    "\n"
    "/* 1.5 * 2^23 or 2^52, where the distance of neighbours is 1 */\n"
    "#define GPUSCAN_MAGIC         (GPUSCAN_REAL_SIZE == 8 ? 6755399441055744.0f : 12582912.0f)\n"
    "#define GPUSCAN_AS_INTEGER(x) GPUSCAN_REAL_AS(x)\n"
    "\n"
    "#define GPUSCAN_BIN_PARAMETERS gpuscan_real lower, gpuscan_real upper, gpuscan_real step, gpuscan_real inverse\n"
    "#define GPUSCAN_BIN_ARGUMENTS  lower, upper, step, inverse\n"
    "\n"
    "static inline gpuscan_real gpuscan_real_of(gpuscan_binned x) {\n"
    "#if GPUSCAN_SAMPLE_F16\n"
    "    return vload_half(0, (private const half *)&x);\n"
    "#else\n"
    "    return x;\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline gpuscan_real gpuscan_even_edge(uint k, gpuscan_real step, gpuscan_real lower) {\n"
    "    return fma((gpuscan_real)k, step, lower);\n"
    "}\n"
    "\n"
    "static inline uint gpuscan_bin(gpuscan_binned sample, GPUSCAN_BIN_PARAMETERS, gpuscan_edges edges) {\n"
    "    gpuscan_real s = gpuscan_real_of(sample);\n"
    "#if GPUSCAN_FORM == GPUSCAN_BINS_EDGES\n"
    "    lower = GPUSCAN_EDGE_FIRST(edges);\n"
    "    upper = GPUSCAN_EDGE_LAST(edges);\n"
    "#endif\n"
    "    bool inside = (s >= lower) & (GPUSCAN_CLOSED ? s <= upper : s < upper);        /* NaN is not, nor anywhere else */\n"
    "    uint elsewhere = s == s ? gpuscan_outside(s < lower) : GPUSCAN_NO_BIN;\n"
    "#if GPUSCAN_FORM == GPUSCAN_BINS_EDGES\n"
    "    if (!inside)\n"
    "        return elsewhere;\n"
    "    return gpuscan_edge_bin(s, edges);\n"
    "#else\n"
    "    /* A guess by multiplication, put right by the edges themselves: edge[k] = fma(k, step, lower). */\n"
    "#if GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_NEAREST\n"
    "    /* The guess errs by less than half a bin: rounded to nearest it is right or one too large. */\n"
    "    gpuscan_real magic = GPUSCAN_MAGIC; /* added, it leaves the integer in the lowest bits */\n"
    "    gpuscan_real at = fma(s - lower, inverse, magic), last = magic + (gpuscan_real)(GPUSCAN_BINS - 1);\n"
    "    at = GPUSCAN_CPU ? (at < last ? at : last) : fmin(at, last); /* fmin, which knows NaN, takes a CPU longer */\n"
    "    uint nearest = (uint)GPUSCAN_AS_INTEGER(at) - (uint)GPUSCAN_AS_INTEGER(magic);\n"
    "    nearest -= s < fma(at - magic, step, lower) ? 1 : 0;\n"
    "    return inside ? nearest : elsewhere; /* chosen late: no branch */\n"
    "#else\n"
    "    if (!inside)\n"
    "        return elsewhere;\n"
    "    if (GPUSCAN_CLOSED && s == upper) /* so many bins that k is rounded: the last one's lower edge may lie above it */\n"
    "        return GPUSCAN_BINS - 1;\n"
    "    /* The guess is far off where s - lower overflows, or where edges are equal. From it on in steps that double, and\n"
    "       what they enclose is bisected: edge[low] <= s, and s < edge[high] unless high is BINS. */\n"
    "    gpuscan_real guess = fmin((s - lower) * inverse, (gpuscan_real)(GPUSCAN_BINS - 1)); /* may round BINS - 1 up */\n"
    "    uint low = min((uint)guess, (uint)GPUSCAN_BINS - 1), high = low + 1;\n"
    "    for (uint leap = 1; low > 0 && s < gpuscan_even_edge(low, step, lower); leap *= 2) {\n"
    "        high = low;\n"
    "        low -= min(low, leap);\n"
    "    }\n"
    "    for (uint leap = 1; high < GPUSCAN_BINS && s >= gpuscan_even_edge(high, step, lower); leap *= 2) {\n"
    "        low = high;\n"
    "        high += min(GPUSCAN_BINS - high, leap);\n"
    "    }\n"
    "    while (high - low > 1) {\n"
    "        uint middle = low + (high - low) / 2;\n"
    "        if (gpuscan_even_edge(middle, step, lower) <= s)\n"
    "            low = middle;\n"
    "        else\n"
    "            high = middle;\n"
    "    }\n"
    "    return low;\n"
    "#endif\n"
    "#endif\n"
    "}\n"
    "\n",
    "#else /* integers */\n"
    "typedef GPUSCAN_OFFSET gpuscan_offset; /* unsigned, holds s - lower for every s in range */\n"
    "\n"
    "/* range: upper - lower, as gpuscan_offset; factor: see GPUSCAN_BIN_MODE */\n"
    "#define GPUSCAN_BIN_PARAMETERS ulong lower, ulong upper, ulong range, ulong factor\n"
    "#define GPUSCAN_BIN_ARGUMENTS  lower, upper, range, factor\n"
    "\n"
    "/* floor(x * BINS / range), exactly, for x < range:\n"
    "     VALUE             bin = x                    one bin a value\n"
    "     SHIFT             x >> factor                range / BINS is a power of two\n"
    "     MULTIPLY          mul_hi(x, factor)          factor = ceil(2^64 * BINS / range), range <= 2^32: the error stays\n"
    "                                                  below x / 2^64 < 1 / range, which cannot reach the next integer; or\n"
    "                                                  range = 2^64 and factor = BINS, where it is exact by definition\n"
    "     MULTIPLY_16       x * factor >> 32           samples of 16 bits at most, BINS < range <= 2^16; factor =\n"
    "                                                  ceil(2^32 * BINS / range) < 2^32, the error is below x / 2^32\n"
    "     MULTIPLY_16_MANY  the same                   BINS >= range: factor and the product need 64 bits\n"
    "     MULTIPLY_CHECKED  mul_hi(x, factor) or + 1   factor = floor(2^64 * BINS / range): at most one too small\n"
    "     DIVIDE            x * BINS / range           BINS >= range                                                      */\n"
    "static inline uint gpuscan_even_bin(gpuscan_offset x, ulong range, ulong factor) {\n"
    "#if GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_VALUE\n"
    "    return (uint)x;\n"
    "#elif GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_SHIFT\n"
    "    return (uint)(x >> (uint)factor);\n"
    "#elif GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_MULTIPLY_16\n"
    "    return (uint)((ulong)x * (uint)factor >> 32);\n"
    "#elif GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_MULTIPLY_16_MANY\n"
    "    return (uint)((ulong)x * factor >> 32);\n"
    "#elif GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_MULTIPLY && GPUSCAN_OFFSET_SIZE == 4 && !GPUSCAN_CPU\n"
    "    return (uint)(((ulong)x * (uint)(factor >> 32) + mul_hi(x, (uint)factor)) >> 32);\n"
    "#elif GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_MULTIPLY\n"
    "    if (sizeof(x) == 4) /* the same from 32-bit factors */\n"
    "        return (uint)(((ulong)x * (factor >> 32) + ((ulong)x * (uint)factor >> 32)) >> 32);\n"
    "    return (uint)mul_hi((ulong)x, factor);\n"
    "#elif GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_MULTIPLY_CHECKED\n"
    "    ulong bin = mul_hi((ulong)x, factor), next = bin + 1;\n"
    "    ulong high = mul_hi(next, range), x_high = mul_hi((ulong)x, (ulong)GPUSCAN_BINS); /* next * range <= x * BINS ? */\n"
    "    bool up = high < x_high || (high == x_high && next * range <= (ulong)x * GPUSCAN_BINS);\n"
    "    return (uint)(up ? next : bin);\n"
    "#else\n"
    "    return (uint)((ulong)x * GPUSCAN_BINS / range);\n"
    "#endif\n"
    "}\n"
    "\n",
    "static inline uint gpuscan_bin(gpuscan_binned s, GPUSCAN_BIN_PARAMETERS, gpuscan_edges edges) {\n"
    "#if GPUSCAN_FORM == GPUSCAN_BINS_EDGES\n"
    "    if (s < GPUSCAN_EDGE_FIRST(edges))\n"
    "        return gpuscan_outside(true);\n"
    "    if (GPUSCAN_CLOSED ? s > GPUSCAN_EDGE_LAST(edges) : s >= GPUSCAN_EDGE_LAST(edges))\n"
    "        return gpuscan_outside(false);\n"
    "    return gpuscan_edge_bin(s, edges);\n"
    "#else\n"
    "    /* One unsigned comparison finds both sides: below lower the difference wraps around to more than any range. */\n"
    "    gpuscan_offset x = (gpuscan_offset)s - (gpuscan_offset)lower;\n"
    "#if !GPUSCAN_RANGE_ALL\n"
    "    if (x >= (gpuscan_offset)range) {\n"
    "        if (GPUSCAN_CLOSED && x == (gpuscan_offset)range)\n"
    "            return GPUSCAN_BINS - 1;\n"
    "        return gpuscan_outside(GPUSCAN_BELOW(s, lower));\n"
    "    }\n"
    "#endif\n"
    "    return gpuscan_even_bin(x, range, factor);\n"
    "#endif\n"
    "}\n"
    "#endif /* integers */\n"
    "\n"
    "/* [HISTOGRAM COUNTERS] --------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* 64-bit counters where there are no 64-bit atomics: two halves, and whoever overflows the low one carries. */\n"
    "static inline void gpuscan_add_split(volatile global uint *low, volatile global uint *high, ulong amount) {\n"
    "    uint add = (uint)amount, carry = (uint)(amount >> 32);\n"
    "    if (atomic_add(low, add) > 0xffffffffu - add)\n"
    "        carry++;\n"
    "    if (carry)\n"
    "        atomic_add(high, carry);\n"
    "}\n"
    "\n"
    "static inline void gpuscan_add_global(global gpuscan_counter *counter, gpuscan_counter amount) {\n"
    "#if GPUSCAN_COUNTER_SIZE == 4\n"
    "    atomic_add((volatile global uint *)counter, amount);\n"
    "#elif GPUSCAN_COUNTER_ATOMICS == 64\n"
    "    atom_add((volatile global ulong *)counter, amount);\n"
    "#elif defined(__ENDIAN_LITTLE__)\n"
    "    gpuscan_add_split((volatile global uint *)counter, (volatile global uint *)counter + 1, amount);\n"
    "#else\n"
    "    gpuscan_add_split((volatile global uint *)counter + 1, (volatile global uint *)counter, amount);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Local counters are 32 bits: a group is given fewer than 2^32 samples. Weighted sums of 64 bits have their low half\n"
    "   there, and whoever overflows it carries to the sum in global memory. */\n"
    "#if GPUSCAN_WEIGHTED && GPUSCAN_COUNTER_SIZE == 8\n"
    "#define GPUSCAN_CARRIES 1\n"
    "#else\n"
    "#define GPUSCAN_CARRIES 0\n"
    "#endif\n"
    "static inline void gpuscan_add_local(local uint *counter, gpuscan_counter amount, global gpuscan_counter *sum) {\n"
    "#if GPUSCAN_CARRIES\n"
    "    uint add = (uint)amount;\n"
    "    ulong carry = amount >> 32;\n"
    "    if (atomic_add((volatile local uint *)counter, add) > 0xffffffffu - add)\n"
    "        carry++;\n"
    "    if (carry)\n"
    "        gpuscan_add_global(sum, carry << 32);\n"
    "#elif GPUSCAN_GROUP == 1\n"
    "    *counter += (uint)amount;\n"
    "#elif !GPUSCAN_WEIGHTED\n"
    "    atomic_inc((volatile local uint *)counter);\n"
    "#else\n"
    "    atomic_add((volatile local uint *)counter, (uint)amount);\n"
    "#endif\n"
    "}\n"
    "\n",
    "#if GPUSCAN_WEIGHTED\n"
    "typedef GPUSCAN_WEIGHT gpuscan_weight;\n"
    "#else\n"
    "typedef uint gpuscan_weight;\n"
    "#endif\n"
    "\n"
    "typedef union {\n"
    "    gpuscan_sample element[GPUSCAN_VECTOR];\n"
    "    GPUSCAN_SAMPLE_RAW raw;\n"
    "} gpuscan_samples;\n"
    "#define GPUSCAN_HAS_VECTORS (GPUSCAN_VECTOR * GPUSCAN_SAMPLE_SIZE == 16) /* else samples are loaded one by one */\n"
    "\n"
    "/* Where channel c's counters begin, or nothing where the mask leaves it out. */\n"
    "#define GPUSCAN_CHANNEL_ON(c)   ((GPUSCAN_CHANNEL_MASK >> (c)) & 1u)\n"
    "#define GPUSCAN_CHANNEL_SLOT(c) popcount(GPUSCAN_CHANNEL_MASK &((1u << (c)) - 1u))\n"
    "\n"
    "/* Takes what an accumulator holds and leaves 0. Exchanged, not read, since other groups of the same launch have written\n"
    "   it by atomics. */\n"
    "static inline gpuscan_counter gpuscan_take(global gpuscan_counter *accumulator) {\n"
    "#if GPUSCAN_COUNTER_SIZE == 4\n"
    "    return atomic_xchg((volatile global uint *)accumulator, 0u);\n"
    "#else\n"
    "    volatile global uint *half_words = (volatile global uint *)accumulator;\n"
    "    ulong a = atomic_xchg(half_words, 0u), b = atomic_xchg(half_words + 1, 0u);\n"
    "#ifdef __ENDIAN_LITTLE__\n"
    "    return b << 32 | a;\n"
    "#else\n"
    "    return a << 32 | b;\n"
    "#endif\n"
    "#endif\n"
    "}\n"
    "\n"
    "typedef struct {\n"
    "    GPUSCAN_HISTOGRAM_NUMBERS\n"
    "} gpuscan_histogram_numbers;\n"
    "\n"
    "/* What each sample is compared with stays an argument of its own type. */\n"
    "#define GPUSCAN_HISTOGRAM_PARAMETERS                                                                                  \\\n"
    "    global const gpuscan_sample *samples, global const uint *count_buffer, global const gpuscan_weight *weights,      \\\n"
    "        global const GPUSCAN_EDGE *edges_buffer, GPUSCAN_BIN_PARAMETERS, global gpuscan_counter *accumulators,        \\\n"
    "        global gpuscan_counter *counts, gpuscan_histogram_numbers numbers\n"
    "\n"
    "/* [HISTOGRAM CPU] -------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "#if GPUSCAN_CPU\n"
    "/* One work-item a group, with tables of its own: no atomics but to hand them over, and no branch that depends on the\n"
    "   samples. A table has one more counter, for samples that no bin takes.\n"
    "\n",
    "   Groups draw pieces until none is left: a driver may hand half of the groups to the thread that comes first (PoCL),\n"
    "   and threads are not equally fast. Each has one piece where a group's counters of 32 bits could not hold all samples;\n"
    "   and of bytes of one channel, whose loop gets 13 % slower within another one (PoCL's LLVM 15). */\n"
    "\n"
    "#define GPUSCAN_BLOCK  (GPUSCAN_CHANNELS == 3 ? 96 : 64)               /* elements, whole pixels */\n"
    "#define GPUSCAN_PIECE  (65536 / sizeof(gpuscan_sample) / GPUSCAN_BLOCK) /* blocks */\n"
    "#define GPUSCAN_DRAW   (!GPUSCAN_BYTE_TABLES || GPUSCAN_CHANNELS > 1)\n"
    "#define GPUSCAN_STRIDE (GPUSCAN_ALL_BINS + 1) /* counters from one table to the next */\n"
    "\n"
    "#if GPUSCAN_BYTE_TABLES\n"
    "/* Bytes are counted by value, and the values put into bins at the end. Neighbours go to different tables, or each add\n"
    "   would wait for the one before; a table belongs to one channel. */\n"
    "\n"
    "#ifdef __ENDIAN_LITTLE__\n"
    "#define GPUSCAN_BYTE(word, j) (uchar)((word) >> 8 * (j))\n"
    "#define GPUSCAN_BYTE_SHIFT(word, bits) ((word) >> (bits))\n"
    "#else\n"
    "#define GPUSCAN_BYTE(word, j) (uchar)((word) >> (56 - 8 * (j)))\n"
    "#define GPUSCAN_BYTE_SHIFT(word, bits) ((word) << (bits))\n"
    "#endif\n"
    "\n"
    "typedef struct __attribute__((packed)) {\n"
    "    ulong word;\n"
    "} gpuscan_unaligned; /* a load of one instruction; vload8 would go through a vector register */\n"
    "\n"
    "#define GPUSCAN_BLOCK_WORDS (GPUSCAN_BLOCK / 8)\n"
    "\n"
    "/* Counts word k of a block and returns the next one, which is loaded first. Two bytes at a time; sixteen is 16, but not\n"
    "   to the compiler, which else would shift and mask for each byte. */\n"
    "static inline ulong gpuscan_count_word(global const gpuscan_unaligned *words, uint k, ulong word, uint first,\n"
    "                                       uint sixteen, local uint *tables) {\n"
    "    ulong next = words[min(k + 1, (uint)GPUSCAN_BLOCK_WORDS - 1)].word;\n"
    "    tables[(first + 0) % GPUSCAN_BYTE_TABLES * 256 + GPUSCAN_BYTE(word, 0)]++;\n"
    "    tables[(first + 1) % GPUSCAN_BYTE_TABLES * 256 + GPUSCAN_BYTE(word, 1)]++;\n"
    "    word = GPUSCAN_BYTE_SHIFT(word, sixteen);\n"
    "    tables[(first + 2) % GPUSCAN_BYTE_TABLES * 256 + GPUSCAN_BYTE(word, 0)]++;\n"
    "    tables[(first + 3) % GPUSCAN_BYTE_TABLES * 256 + GPUSCAN_BYTE(word, 1)]++;\n"
    "    word = GPUSCAN_BYTE_SHIFT(word, sixteen);\n"
    "    tables[(first + 4) % GPUSCAN_BYTE_TABLES * 256 + GPUSCAN_BYTE(word, 0)]++;\n"
    "    tables[(first + 5) % GPUSCAN_BYTE_TABLES * 256 + GPUSCAN_BYTE(word, 1)]++;\n"
    "    word = GPUSCAN_BYTE_SHIFT(word, sixteen);\n"
    "    tables[(first + 6) % GPUSCAN_BYTE_TABLES * 256 + GPUSCAN_BYTE(word, 0)]++;\n"
    "    tables[(first + 7) % GPUSCAN_BYTE_TABLES * 256 + GPUSCAN_BYTE(word, 1)]++;\n"
    "    return next;\n"
    "}\n"
    "\n",
    "static inline void gpuscan_count_bytes(global const gpuscan_sample *from, uint sixteen, local uint *tables) {\n"
    "    global const gpuscan_unaligned *words = (global const gpuscan_unaligned *)from;\n"
    "    ulong a = words[0].word;\n"
    "#if GPUSCAN_CHANNELS == 1\n"
    "    ulong b = words[GPUSCAN_BLOCK_WORDS - 1].word;\n"
    "    if (a == b && a == rotate(a, 8ul)) { /* a run? */\n"
    "        ulong differ = 0;\n"
    "        for (uint k = 1; k < GPUSCAN_BLOCK_WORDS - 1; k++)\n"
    "            differ |= a ^ words[k].word;\n"
    "        if (differ == 0) {\n"
    "            tables[GPUSCAN_BYTE(a, 0)] += GPUSCAN_BLOCK;\n"
    "            return;\n"
    "        }\n"
    "    }\n"
    "#endif\n"
    "    ulong word = a;\n"
    "    _Pragma(\"unroll 1\") for (uint k = 0; k < GPUSCAN_BLOCK_WORDS; k += GPUSCAN_CHANNELS == 3 ? 3 : 1) {\n"
    "        word = gpuscan_count_word(words, k, word, 0, sixteen, tables);\n"
    "        if (GPUSCAN_CHANNELS == 3) { /* whose places in a word repeat after three */\n"
    "            word = gpuscan_count_word(words, k + 1, word, 8, sixteen, tables);\n"
    "            word = gpuscan_count_word(words, k + 2, word, 16, sixteen, tables);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_COPIES\n"
    "typedef local uint *gpuscan_table;\n"
    "#else\n"
    "typedef global gpuscan_counter *gpuscan_table;\n"
    "#endif\n"
    "\n"
    "static inline uint gpuscan_channel_counter(uint bin, uint channel) {\n"
    "    /* min, not a selection: compilers load its constant with a mask, and a load that is masked out never brings its\n"
    "       page in, which makes it very slow. */\n"
    "    bin = min(bin, (uint)GPUSCAN_CHANNEL_BINS);\n"
    "    if (GPUSCAN_CHANNELS == 1)\n"
    "        return bin;\n"
    "    if (!GPUSCAN_CHANNEL_ON(channel) || bin == GPUSCAN_CHANNEL_BINS)\n"
    "        return GPUSCAN_ALL_BINS;\n"
    "    return bin + GPUSCAN_CHANNEL_SLOT(channel) * GPUSCAN_CHANNEL_BINS;\n"
    "}\n"
    "\n"
    "/* The counter of a sample: gpuscan_bin, but of even bins of integers without branches. */\n"
    "static inline uint gpuscan_counter_of(gpuscan_binned sample, uint channel, GPUSCAN_BIN_PARAMETERS,\n"
    "                                      gpuscan_edges edges) {\n"
    "    uint bin;\n"
    "#if GPUSCAN_FORM == GPUSCAN_BINS_EDGES || GPUSCAN_SAMPLE_IS_FLOAT\n"
    "    bin = gpuscan_bin(sample, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "#else\n"
    "    gpuscan_offset x = (gpuscan_offset)sample - (gpuscan_offset)lower;\n"
    "    bin = gpuscan_even_bin(x, range, factor);\n"
    "#if !GPUSCAN_RANGE_ALL\n"
    "    bin = x >= (gpuscan_offset)range ? gpuscan_outside(GPUSCAN_BELOW(sample, lower)) : bin;\n"
    "    bin = GPUSCAN_CLOSED && x == (gpuscan_offset)range ? GPUSCAN_BINS - 1 : bin;\n"
    "#endif\n"
    "#endif\n"
    "    return gpuscan_channel_counter(bin, channel);\n"
    "}\n"
    "\n",
    "/* How much sample j of a block counts, and where. Tables in local memory have a counter for samples that no bin takes;\n"
    "   of others, which may be counts itself, nothing is added to the first one. */\n"
    "#if GPUSCAN_WEIGHTED\n"
    "#define GPUSCAN_AMOUNT(j) weights[(j) / GPUSCAN_CHANNELS]\n"
    "#else\n"
    "#define GPUSCAN_AMOUNT(j) 1\n"
    "#endif\n"
    "#if !GPUSCAN_COPIES\n"
    "#define GPUSCAN_COUNT_AT(at, j, amount)                                                                                \\\n"
    "    table[(at) < GPUSCAN_ALL_BINS ? (at) : 0] += (at) < GPUSCAN_ALL_BINS ? (amount) : 0\n"
    "#elif GPUSCAN_COPIES > 1 && !GPUSCAN_WEIGHTED\n"
    "/* powers of two, at most 8; a sum of 32 bits would have to wrap before it is an address */\n"
    "#define GPUSCAN_COUNT_AT(at, j, amount) (table + (j) % GPUSCAN_COPIES * GPUSCAN_STRIDE)[at] += 1\n"
    "#else\n"
    "#define GPUSCAN_COUNT_AT(at, j, amount) table[at] += (amount)\n"
    "#endif\n"
    "#define GPUSCAN_COUNT(v, j) GPUSCAN_COUNT_AT(counter[v + j], v + j, GPUSCAN_AMOUNT(v + j))\n"
    "\n"
    "/* What is put into bins of a block: where it lies, or converted first. */\n"
    "#if GPUSCAN_CONVERTED\n"
    "typedef private const gpuscan_binned *gpuscan_block_t;\n"
    "#else\n"
    "typedef global const gpuscan_sample *gpuscan_block_t;\n"
    "#endif\n"
    "#if GPUSCAN_WEIGHED\n"
    "typedef private const gpuscan_weight *gpuscan_weights_t;\n"
    "#else\n"
    "typedef global const gpuscan_weight *gpuscan_weights_t;\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_BIN_WIDE > 1\n"
    "/* gpuscan_bin of so many samples at once, of even bins that take no branches: not every compiler makes vectors of a\n"
    "   loop. */\n"
    "#define GPUSCAN_BIN_WIDEN_(type, width) type##width\n"
    "#define GPUSCAN_BIN_WIDEN(type, width)  GPUSCAN_BIN_WIDEN_(type, width)\n"
    "#define GPUSCAN_BIN_VECTOR(type)        GPUSCAN_BIN_WIDEN(type, GPUSCAN_BIN_WIDE)\n"
    "typedef GPUSCAN_BIN_VECTOR(uint) gpuscan_bins;\n"
    "typedef GPUSCAN_BIN_VECTOR(int) gpuscan_masks;\n"
    "\n"
    "/* gpuscan_outside of those that are. */\n"
    "static inline gpuscan_bins gpuscan_outside_wide(gpuscan_masks below) {\n"
    "    return below ? (gpuscan_bins)(gpuscan_outside(true)) : (gpuscan_bins)(gpuscan_outside(false));\n"
    "}\n"
    "\n"
    "#if GPUSCAN_SAMPLE_IS_FLOAT\n"
    "typedef GPUSCAN_BIN_VECTOR(GPUSCAN_SAMPLE_FLOAT) gpuscan_reals;\n"
    "#if GPUSCAN_REAL_SIZE == 8\n"
    "#define GPUSCAN_REAL_MASKS(x) GPUSCAN_BIN_VECTOR(convert_int)(x)\n"
    "#define GPUSCAN_REAL_BITS(x)  GPUSCAN_BIN_VECTOR(convert_uint)(GPUSCAN_BIN_VECTOR(as_ulong)(x))\n"
    "#else\n"
    "#define GPUSCAN_REAL_MASKS(x) (x)\n"
    "#define GPUSCAN_REAL_BITS(x)  GPUSCAN_BIN_VECTOR(as_uint)(x)\n"
    "#endif\n"
    "\n",
    "static inline gpuscan_bins gpuscan_bin_wide(gpuscan_block_t from, GPUSCAN_BIN_PARAMETERS) {\n"
    "#if GPUSCAN_SAMPLE_F16\n"
    "    GPUSCAN_BIN_VECTOR(ushort) halves = GPUSCAN_BIN_VECTOR(vload)(0, from);\n"
    "    gpuscan_reals s = GPUSCAN_BIN_VECTOR(vload_half)(0, (private const half *)&halves);\n"
    "#else\n"
    "    gpuscan_reals s = GPUSCAN_BIN_VECTOR(vload)(0, from);\n"
    "#endif\n"
    "    gpuscan_real magic = GPUSCAN_MAGIC;\n"
    "    gpuscan_reals last = (gpuscan_reals)(magic + (gpuscan_real)(GPUSCAN_BINS - 1));\n"
    "    gpuscan_reals at = fma(s - lower, (gpuscan_reals)(inverse), (gpuscan_reals)(magic));\n"
    "    gpuscan_bins nearest;\n"
    "    gpuscan_masks inside;\n"
    "    at = at < last ? at : last;\n"
    "    nearest = GPUSCAN_REAL_BITS(at) - (uint)GPUSCAN_AS_INTEGER(magic);\n"
    "    nearest -= GPUSCAN_REAL_MASKS(s < fma(at - magic, (gpuscan_reals)(step), (gpuscan_reals)(lower)))\n"
    "                   ? (gpuscan_bins)(1)\n"
    "                   : (gpuscan_bins)(0);\n"
    "    inside = GPUSCAN_REAL_MASKS((s >= lower) & (GPUSCAN_CLOSED ? s <= upper : s < upper));\n"
    "    return inside ? nearest\n"
    "                  : GPUSCAN_REAL_MASKS(s == s) ? gpuscan_outside_wide(GPUSCAN_REAL_MASKS(s < lower))\n"
    "                                               : (gpuscan_bins)(GPUSCAN_NO_BIN);\n"
    "}\n"
    "\n"
    "#else\n"
    "static inline gpuscan_bins gpuscan_bin_wide(gpuscan_block_t from, GPUSCAN_BIN_PARAMETERS) {\n"
    "#if GPUSCAN_SAMPLE_IS_SIGNED\n"
    "    gpuscan_masks s = GPUSCAN_BIN_VECTOR(convert_int)(GPUSCAN_BIN_VECTOR(vload)(0, from));\n"
    "    gpuscan_bins x = GPUSCAN_BIN_VECTOR(as_uint)(s) - (uint)lower;\n"
    "    gpuscan_masks below = s < (int)lower;\n"
    "#else\n"
    "    gpuscan_bins s = GPUSCAN_BIN_VECTOR(convert_uint)(GPUSCAN_BIN_VECTOR(vload)(0, from)), x = s - (uint)lower;\n"
    "    gpuscan_masks below = s < (uint)lower;\n"
    "#endif\n"
    "    gpuscan_bins bin;\n"
    "#if GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_VALUE\n"
    "    bin = x;\n"
    "#elif GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_SHIFT\n"
    "    bin = x >> (uint)factor;\n"
    "#else\n"
    "    GPUSCAN_BIN_VECTOR(ulong) product = GPUSCAN_BIN_VECTOR(convert_ulong)(x);\n"
    "#if GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_MULTIPLY_16\n"
    "    product = product * (ulong)(uint)factor;\n"
    "#elif GPUSCAN_BIN_MODE == GPUSCAN_BIN_MODE_MULTIPLY_16_MANY\n"
    "    product = product * factor;\n"
    "#else\n"
    "    product = product * (factor >> 32) + (product * (ulong)(uint)factor >> 32);\n"
    "#endif\n"
    "    bin = GPUSCAN_BIN_VECTOR(convert_uint)(product >> 32);\n"
    "#endif\n"
    "#if !GPUSCAN_RANGE_ALL\n"
    "    bin = x >= (uint)range ? gpuscan_outside_wide(below) : bin;\n"
    "#if GPUSCAN_CLOSED\n"
    "    bin = x == (uint)range ? (gpuscan_bins)(GPUSCAN_BINS - 1) : bin;\n"
    "#endif\n"
    "#endif\n"
    "    return bin;\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "\n",
    "/* The counters of a block's samples, in loops that vectorise; those of edges step by step of the search. */\n"
    "static inline void gpuscan_block_counters(gpuscan_block_t from, uint *counter, GPUSCAN_BIN_PARAMETERS,\n"
    "                                          gpuscan_edges edges) {\n"
    "#if GPUSCAN_FORM == GPUSCAN_BINS_EDGES\n"
    "    GPUSCAN_EDGE s[GPUSCAN_BLOCK], first = GPUSCAN_EDGE_FIRST(edges), end = GPUSCAN_EDGE_LAST(edges);\n"
    "    for (uint v = 0; v < GPUSCAN_BLOCK; v++) {\n"
    "        s[v] = gpuscan_edge_value(from[v]);\n"
    "        counter[v] = 0;\n"
    "    }\n"
    "    for (uint leap = GPUSCAN_EDGE_STEP; leap > 0; leap /= 2)\n"
    "        for (uint v = 0; v < GPUSCAN_BLOCK; v++) {\n"
    "            uint next = counter[v] + leap, at = min(next, (uint)GPUSCAN_BINS);\n"
    "            bool up = (next < GPUSCAN_BINS) & (GPUSCAN_EDGE_AT(edges, at) <= s[v]); /* BINS has one: no branch */\n"
    "            counter[v] = up ? next : counter[v];\n"
    "        }\n"
    "    for (uint v = 0; v < GPUSCAN_BLOCK; v++) {\n"
    "        uint bin = counter[v];\n"
    "        bin = (GPUSCAN_CLOSED ? s[v] > end : s[v] >= end) ? gpuscan_outside(false) : bin;\n"
    "        bin = s[v] < first ? gpuscan_outside(true) : bin;\n"
    "#if GPUSCAN_SAMPLE_IS_FLOAT\n"
    "        bin = s[v] == s[v] ? bin : GPUSCAN_NO_BIN;\n"
    "#endif\n"
    "        counter[v] = gpuscan_channel_counter(bin, v % GPUSCAN_CHANNELS);\n"
    "    }\n"
    "#elif GPUSCAN_BIN_WIDE > 1\n"
    "    for (uint v = 0; v < GPUSCAN_BLOCK; v += GPUSCAN_BIN_WIDE) {\n"
    "        gpuscan_bins bins = gpuscan_bin_wide(from + v, GPUSCAN_BIN_ARGUMENTS);\n"
    "        if (GPUSCAN_CHANNELS == 1)\n"
    "            bins = min(bins, (gpuscan_bins)(GPUSCAN_CHANNEL_BINS));\n"
    "        GPUSCAN_BIN_VECTOR(vstore)(bins, 0, counter + v);\n"
    "    }\n"
    "    for (uint v = 0; v < (GPUSCAN_CHANNELS > 1 ? GPUSCAN_BLOCK : 0); v++)\n"
    "        counter[v] = gpuscan_channel_counter(counter[v], v % GPUSCAN_CHANNELS);\n"
    "#else\n"
    "    for (uint v = 0; v < GPUSCAN_BLOCK; v++)\n"
    "        counter[v] = gpuscan_counter_of(from[v], v % GPUSCAN_CHANNELS, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Bins first, then counters. The block begins with the row's sample i. */\n"
    "static inline void gpuscan_count_block(global const gpuscan_sample *row, ulong i,\n"
    "                                       global const gpuscan_weight *row_weights, gpuscan_table table,\n"
    "                                       GPUSCAN_BIN_PARAMETERS, gpuscan_edges edges) {\n"
    "    uint counter[GPUSCAN_BLOCK];\n"
    "#if GPUSCAN_CONVERTED\n"
    "    gpuscan_binned from[GPUSCAN_BLOCK];\n"
    "    for (uint v = 0; v < GPUSCAN_BLOCK; v++)\n"
    "        from[v] = GPUSCAN_BINNED_OF(row[i + v], i + v);\n"
    "#else\n"
    "    gpuscan_block_t from = row + i;\n"
    "#endif\n"
    "#if GPUSCAN_WEIGHED\n"
    "    gpuscan_weight weights[GPUSCAN_BLOCK];\n"
    "    for (uint v = 0; v < GPUSCAN_BLOCK; v++)\n"
    "        weights[v] = GPUSCAN_WEIGHT_OF(row[i + v], i + v, 0);\n"
    "#else\n"
    "    gpuscan_weights_t weights = row_weights + i / GPUSCAN_CHANNELS;\n"
    "#endif\n"
    "    gpuscan_block_counters(from, counter, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "#if !GPUSCAN_WEIGHTED && GPUSCAN_CHANNELS == 1\n"
    "    if (counter[0] == counter[GPUSCAN_BLOCK - 1] && counter[0] == counter[GPUSCAN_BLOCK / 2 + 1]) { /* a run? */\n"
    "        uint differ = 0;\n"
    "        for (uint v = 1; v < GPUSCAN_BLOCK; v++)\n"
    "            differ |= counter[0] ^ counter[v];\n"
    "        if (differ == 0) {\n"
    "            if (GPUSCAN_COPIES != 0 || counter[0] < GPUSCAN_ALL_BINS)\n"
    "                table[counter[0]] += GPUSCAN_BLOCK;\n"
    "            return;\n"
    "        }\n"
    "    }\n"
    "#endif\n"
    "    for (uint v = 0; v < GPUSCAN_BLOCK; v += 8) {\n"
    "        GPUSCAN_COUNT(v, 0);\n"
    "        GPUSCAN_COUNT(v, 1);\n"
    "        GPUSCAN_COUNT(v, 2);\n"
    "        GPUSCAN_COUNT(v, 3);\n"
    "        GPUSCAN_COUNT(v, 4);\n"
    "        GPUSCAN_COUNT(v, 5);\n"
    "        GPUSCAN_COUNT(v, 6);\n"
    "        GPUSCAN_COUNT(v, 7);\n"
    "    }\n"
    "}\n"
    "\n",
    "#define GPUSCAN_TABLES(flags) (GPUSCAN_COPIES ? 1u : (flags) >> GPUSCAN_FLAG_TABLES_SHIFT)\n"
    "\n"
    "/* Counts sample i, which is not part of a block. */\n"
    "static inline void gpuscan_count_one(global const gpuscan_sample *row, ulong i, global const gpuscan_weight *weights,\n"
    "                                     gpuscan_table table, GPUSCAN_BIN_PARAMETERS, gpuscan_edges edges) {\n"
    "    uint counter = gpuscan_counter_of(GPUSCAN_BINNED_OF(row[i], i), (uint)(i % GPUSCAN_CHANNELS),\n"
    "                                      GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "    GPUSCAN_COUNT_AT(counter, i, GPUSCAN_WEIGHT_OF(row[i], i, weights));\n"
    "}\n"
    "\n"
    "/* Moves the sums of the accumulators' tables, in bins [first, last), to counts and zeroes them. atomics: by which other\n"
    "   groups of the same launch have added to them. What is in counts is read only if it is part of the sum: the buffer may\n"
    "   be for writing only. */\n"
    "static inline void gpuscan_histogram_move(global gpuscan_counter *accumulators, global gpuscan_counter *counts,\n"
    "                                          ulong first, ulong last, uint flags, bool atomics) {\n"
    "    bool adds = (flags & (GPUSCAN_FLAG_ACCUMULATE | GPUSCAN_FLAG_IN_COUNTS)) != 0;\n"
    "    gpuscan_counter sums[64];\n"
    "    if (GPUSCAN_PLANTED(HISTOGRAM_FINISH) && last == GPUSCAN_ALL_BINS)\n"
    "        last--;\n"
    "    for (; first < last; first += min(last - first, 64ul)) {\n"
    "        uint bins = (uint)min(last - first, 64ul);\n"
    "        for (uint k = 0; k < bins; k++)\n"
    "            sums[k] = atomics ? gpuscan_take(accumulators + first + k) : 0;\n"
    "        for (uint t = 0; t < GPUSCAN_TABLES(flags) && !atomics; t++) {\n"
    "            global gpuscan_counter *table = accumulators + t * (ulong)GPUSCAN_ALL_BINS + first;\n"
    "            for (uint k = 0; k < bins; k++) {\n"
    "                sums[k] += table[k];\n"
    "                table[k] = 0;\n"
    "            }\n"
    "        }\n"
    "        if (adds)\n"
    "            for (uint k = 0; k < bins; k++)\n"
    "                sums[k] += counts[first + k];\n"
    "        for (uint k = 0; k < bins; k++)\n"
    "            counts[first + k] = sums[k];\n"
    "    }\n"
    "}\n"
    "\n"
    "/* Of more bins each group has a table in the accumulators; but the first one may count in counts. */\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_histogram(GPUSCAN_HISTOGRAM_PARAMETERS, local uint *shared /* the tables */) {\n"
    "    ulong group = get_group_id(0), groups = get_num_groups(0), rows = numbers.rows;\n"
    "    uint flags = (uint)numbers.flags;\n"
    "    accumulators += numbers.accumulators_offset;\n"
    "    counts += numbers.counts_offset;\n"
    "    gpuscan_edges edges = edges_buffer + numbers.edges_offset;\n"
    "    samples = GPUSCAN_SAMPLES_AT(samples, numbers.samples_offset);\n"
    "    weights += numbers.weights_offset;\n"
    "#if GPUSCAN_BYTE_TABLES\n"
    "    volatile uint opaque = 16;\n"
    "    uint sixteen = opaque; /* see gpuscan_count_word */\n"
    "    for (uint k = 0; k < GPUSCAN_BYTE_TABLES * 256; k++)\n"
    "        shared[k] = 0;\n"
    "#elif GPUSCAN_COPIES\n"
    "    gpuscan_table table = shared;\n"
    "    for (uint k = 0; k < GPUSCAN_COPIES * GPUSCAN_STRIDE; k++)\n"
    "        shared[k] = 0;\n"
    "#else\n"
    "    bool in_counts = (flags & GPUSCAN_FLAG_IN_COUNTS) != 0;\n"
    "    gpuscan_table table = accumulators + (group - (in_counts ? 1 : 0)) * GPUSCAN_ALL_BINS;\n"
    "    if (in_counts && group == 0) {\n"
    "        table = counts;\n"
    "        for (ulong k = 0; k < GPUSCAN_ALL_BINS && !(flags & GPUSCAN_FLAG_ACCUMULATE); k++)\n"
    "            counts[k] = 0;\n"
    "    }\n"
    "#endif\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags) * GPUSCAN_CHANNELS;\n"
    "    ulong row_blocks = count / GPUSCAN_BLOCK + (count % GPUSCAN_BLOCK != 0), blocks = row_blocks * rows;\n"
    "    bool draw = GPUSCAN_DRAW && groups > 1 && blocks < 0xffffffffu / GPUSCAN_BLOCK;\n"
    "    uint pieces = draw ? (uint)(blocks / GPUSCAN_PIECE) + 1 : (uint)groups, piece = (uint)group;\n"
    "    for (;;) {\n"
    "        if (draw) /* each draws one too many */\n"
    "            piece = gpuscan_ticket(GPUSCAN_COUNTERS(accumulators) + 1, pieces + (uint)groups, shared);\n"
    "        if (piece >= pieces)\n"
    "            break;\n"
    "        ulong block = blocks / pieces * piece + min((ulong)piece, blocks % pieces);\n",
    "        ulong end = blocks / pieces * (piece + 1) + min((ulong)piece + 1, blocks % pieces);\n"
    "        while (block < end) {\n"
    "            ulong row = block / row_blocks, first = (block - row * row_blocks) * GPUSCAN_BLOCK;\n"
    "            ulong last = min(first + (end - block) * GPUSCAN_BLOCK, count), i = first;\n"
    "            global const gpuscan_sample *from = GPUSCAN_SAMPLES_AT(samples, row * numbers.pitch);\n"
    "            global const gpuscan_weight *weight = weights + row * numbers.weights_pitch;\n"
    "            block += (last - first + GPUSCAN_BLOCK - 1) / GPUSCAN_BLOCK;\n"
    "            if (GPUSCAN_PLANTED(BLOCKS_TAIL))\n"
    "                last -= (last - first) % GPUSCAN_BLOCK;\n"
    "#if GPUSCAN_BYTE_TABLES\n"
    "            for (; i + GPUSCAN_BLOCK <= last; i += GPUSCAN_BLOCK)\n"
    "                gpuscan_count_bytes(from + i, sixteen, shared);\n"
    "            for (; i < last; i++)\n"
    "                shared[(uint)(i % GPUSCAN_CHANNELS) * 256 + (uchar)from[i]]++;\n"
    "#else\n"
    "            for (; i + GPUSCAN_BLOCK <= last; i += GPUSCAN_BLOCK)\n"
    "                gpuscan_count_block(from, i, weight, table, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "            for (; i < last; i++)\n"
    "                gpuscan_count_one(from, i, weight, table, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "#endif\n"
    "        }\n"
    "        if (!draw)\n"
    "            break;\n"
    "    }\n"
    "#if GPUSCAN_COPIES\n"
    "    bool alone = groups == 1; /* then there is nobody to hand over to */\n"
    "#if GPUSCAN_BYTE_TABLES\n"
    "    for (uint k = 0; k < 256 * GPUSCAN_CHANNELS; k++) {\n"
    "        uint sum = 0, counter;\n"
    "        for (uint t = k / 256; t < GPUSCAN_BYTE_TABLES; t += GPUSCAN_CHANNELS)\n"
    "            sum += shared[t * 256 + k % 256];\n"
    "        counter = gpuscan_counter_of((gpuscan_sample)(k % 256), k / 256, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "        if (sum == 0 || counter >= GPUSCAN_ALL_BINS)\n"
    "            continue;\n"
    "        if (alone)\n"
    "            accumulators[counter] += sum;\n"
    "        else\n"
    "            gpuscan_add_global(accumulators + counter, sum);\n"
    "    }\n"
    "#else\n"
    "    for (uint k = 0; k < GPUSCAN_ALL_BINS - (GPUSCAN_PLANTED(HISTOGRAM_FINISH) && alone ? 1 : 0); k++) {\n"
    "        uint sum = 0;\n"
    "        for (uint t = 0; t < GPUSCAN_COPIES; t++)\n"
    "            sum += shared[t * GPUSCAN_STRIDE + k];\n"
    "        if (alone)\n"
    "            counts[k] = (flags & GPUSCAN_FLAG_ACCUMULATE) ? counts[k] + sum : sum;\n"
    "        else if (sum)\n"
    "            gpuscan_add_global(accumulators + k, sum);\n"
    "    }\n"
    "    if (alone)\n"
    "        return;\n"
    "#endif\n"
    "#endif\n"
    "    if (!(flags & GPUSCAN_FLAG_FINISH))\n"
    "        return;\n"
    "    if (groups > 1) {\n"
    "        gpuscan_device_fence();\n"
    "        if (gpuscan_ticket(GPUSCAN_COUNTERS(accumulators), (uint)groups, shared) != groups - 1)\n"
    "            return;\n"
    "        gpuscan_device_fence();\n"
    "    }\n"
    "    gpuscan_histogram_move(accumulators, counts, 0, GPUSCAN_ALL_BINS, flags, GPUSCAN_COPIES != 0 && groups > 1);\n"
    "}\n"
    "\n",
    "#else /* a group of many work-items */\n"
    "/* [HISTOGRAM] ------------------------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* Adds to a counter in global memory. Lanes that add to the same one at the same time do so once: where all samples are\n"
    "   in one bin, the counter's own pace would be that of all. */\n"
    "static inline void gpuscan_add_global_once(global gpuscan_counter *accumulators, uint bin, gpuscan_weight weight) {\n"
    "#if GPUSCAN_PTX && !GPUSCAN_WEIGHTED\n"
    "    uint active, same, lane;\n"
    "    __asm__ volatile(\"activemask.b32 %0;\" : \"=r\"(active));\n"
    "    __asm__ volatile(\"match.any.sync.b32 %0, %1, %2;\" : \"=r\"(same) : \"r\"(bin), \"r\"(active));\n"
    "    __asm__ volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"
    "    if (lane == (uint)(31 - clz(same & (0u - same))))\n"
    "        gpuscan_add_global(accumulators + bin, popcount(same));\n"
    "#else\n"
    "    gpuscan_add_global(accumulators + bin, weight);\n"
    "#endif\n"
    "}\n"
    "\n"
    "#if GPUSCAN_BY_VALUE\n"
    "/* Bytes are counted by value, and the values put into bins at the end: no sample is compared with anything, and few\n"
    "   bins are no fewer counters. GPUSCAN_BY_VALUE says how the counters of a group lie:\n"
    "     PLAIN    a channel's values after the other's, each COPIES times, one for every so many work-items\n"
    "     SPREAD   all channels of a value side by side, in 32 words: COPIES of each. Neighbouring work-items begin with\n"
    "              different channels, so that no two of 32 meet in a bank (three channels: few do). Channels that the mask\n"
    "              leaves out are counted, too, and dropped at the end.                                                  */\n"
    "#define GPUSCAN_VALUE_FLIP (GPUSCAN_SAMPLE_IS_SIGNED ? 0x80u : 0u)\n"
    "static inline uint gpuscan_value_of(gpuscan_sample s) {\n"
    "    return (uint)(uchar)s ^ GPUSCAN_VALUE_FLIP;\n"
    "}\n"
    "static inline gpuscan_sample gpuscan_sample_of(uint value) {\n"
    "    return (gpuscan_sample)(uchar)(value ^ GPUSCAN_VALUE_FLIP);\n"
    "}\n"
    "#if GPUSCAN_BY_VALUE == GPUSCAN_BY_VALUE_SPREAD\n"
    "#define GPUSCAN_VALUE_AT(channel, value) ((value) * 32 + (channel) * GPUSCAN_COPIES)\n"
    "#define GPUSCAN_COPY                     min(GPUSCAN_ITEM % 32 / GPUSCAN_CHANNELS, (uint)GPUSCAN_COPIES - 1)\n"
    "#undef GPUSCAN_CHANNEL_ON\n"
    "#define GPUSCAN_CHANNEL_ON(c) 1\n"
    "#else\n"
    "#define GPUSCAN_VALUE_AT(channel, value) ((GPUSCAN_CHANNEL_SLOT(channel) * 256 + (value)) * GPUSCAN_COPIES)\n"
    "#endif\n"
    "#endif\n"
    "#ifndef GPUSCAN_COPY\n"
    "#define GPUSCAN_COPY (GPUSCAN_ITEM % GPUSCAN_COPIES)\n"
    "#endif\n"
    "\n",
    "static inline void gpuscan_count_sample(gpuscan_binned s, uint channel, gpuscan_weight weight, uint copy,\n"
    "                                        uint first_bin, local uint *bins, global gpuscan_counter *accumulators,\n"
    "                                        GPUSCAN_BIN_PARAMETERS, gpuscan_edges edges) {\n"
    "    uint bin;\n"
    "    if (!GPUSCAN_CHANNEL_ON(channel))\n"
    "        return;\n"
    "#if GPUSCAN_BY_VALUE\n"
    "    bin = gpuscan_value_of(s);\n"
    "    if (GPUSCAN_PLANTED(BIN))\n"
    "        bin = (bin + 1) % 256;\n"
    "    gpuscan_add_local(bins + GPUSCAN_VALUE_AT(channel, bin) + copy, weight, accumulators); /* never CARRIES */\n"
    "#else\n"
    "    bin = gpuscan_bin(s, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "    if (bin == GPUSCAN_NO_BIN)\n"
    "        return;\n"
    "    if (GPUSCAN_PLANTED(BIN))\n"
    "        bin = (bin + 1) % GPUSCAN_BINS;\n"
    "    bin += GPUSCAN_CHANNEL_SLOT(channel) * GPUSCAN_CHANNEL_BINS;\n"
    "#if GPUSCAN_SLICES > 1\n"
    "    bin -= first_bin;\n"
    "    if (bin >= GPUSCAN_SLICE_BINS)\n"
    "        return;\n"
    "#endif\n"
    "#if GPUSCAN_COPIES\n"
    "    gpuscan_add_local(bins + bin * GPUSCAN_COPIES + copy, weight, accumulators + first_bin + bin);\n"
    "#else\n"
    "    gpuscan_add_global_once(accumulators, bin, weight);\n"
    "#endif\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Moves accumulators [first, last) in steps to counts and zeroes them. In the launch that counts they are exchanged,\n"
    "   since other groups have written them by atomics. */\n"
    "static inline void gpuscan_histogram_move(global gpuscan_counter *accumulators, global gpuscan_counter *counts,\n"
    "                                          ulong first, ulong last, ulong step, uint flags) {\n"
    "    if (GPUSCAN_PLANTED(HISTOGRAM_FINISH))\n"
    "        last--;\n"
    "    for (ulong k = first; k < last; k += step) {\n"
    "        gpuscan_counter sum;\n"
    "        if (flags & GPUSCAN_FLAG_FINISH) {\n"
    "            sum = gpuscan_take(accumulators + k);\n"
    "        } else {\n"
    "            sum = accumulators[k];\n"
    "            accumulators[k] = 0;\n"
    "        }\n"
    "        counts[k] = (flags & GPUSCAN_FLAG_ACCUMULATE) ? counts[k] + sum : sum;\n"
    "    }\n"
    "}\n"
    "\n"
    "\n"
    "/* PLAIN: not of three channels, whose first one is at another place in each word. */\n"
    "#if GPUSCAN_BY_VALUE && !GPUSCAN_WEIGHTED && defined(__ENDIAN_LITTLE__) &&                                             \\\n"
    "    (GPUSCAN_BY_VALUE == GPUSCAN_BY_VALUE_SPREAD || GPUSCAN_CHANNELS != 3)\n"
    "#define GPUSCAN_COUNT_WORDS 1\n"
    "/* The counters of a word's samples, as byte addresses cut out of the word. */\n"
    "#if GPUSCAN_BY_VALUE == GPUSCAN_BY_VALUE_SPREAD\n"
    "#define GPUSCAN_VALUE_SHIFT 7\n"
    "/* at: of the channels, from that of the word's first sample on; the counters' places within 32 words. */\n"
    "static inline void gpuscan_count_word(uint word, const uint *at, uint first, local uint *bins) {\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint v = 0; v < 4; v++) {\n"
    "        int shift = 8 * (int)v - GPUSCAN_VALUE_SHIFT;\n"
    "        uint value = (shift < 0 ? word << (shift < 0 ? -shift : 0) : word >> (shift < 0 ? 0 : shift)) &\n"
    "                     255u << GPUSCAN_VALUE_SHIFT;\n"
    "        atomic_inc((volatile local uint *)((local char *)bins + (value | at[(first + v) % GPUSCAN_CHANNELS])));\n"
    "    }\n"
    "}\n"
    "\n",
    "static inline void gpuscan_count_words(uint4 raw, uint channel, uint copy, local uint *bins) {\n"
    "    uint at[GPUSCAN_CHANNELS], turn = GPUSCAN_CHANNELS == 3 ? 0 : GPUSCAN_ITEM % GPUSCAN_CHANNELS;\n"
    "    raw ^= GPUSCAN_VALUE_FLIP * 0x01010101u;\n"
    "    if (GPUSCAN_CHANNELS != 3) /* of three channels neighbours' first samples differ anyway */\n"
    "        raw = rotate(raw, (uint4)(32 - 8 * turn));\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint c = 0; c < GPUSCAN_CHANNELS; c++)\n"
    "        at[c] = ((channel + turn + c) % GPUSCAN_CHANNELS * GPUSCAN_COPIES + copy) * 4;\n"
    "    gpuscan_count_word(raw.x, at, 0, bins);\n"
    "    gpuscan_count_word(raw.y, at, 4, bins);\n"
    "    gpuscan_count_word(raw.z, at, 8, bins);\n"
    "    gpuscan_count_word(raw.w, at, 12, bins);\n"
    "}\n"
    "#else\n"
    "static inline void gpuscan_count_word(uint word, uint copy, local uint *bins) {\n"
    "GPUSCAN_UNROLL\n"
    "    for (int v = 0; v < 4; v++) {\n"
    "        int shift = 8 * v - GPUSCAN_COPY_SHIFT, channel = v % GPUSCAN_CHANNELS;\n"
    "        uint at = (shift < 0 ? word << (shift < 0 ? -shift : 0) : word >> (shift < 0 ? 0 : shift)) &\n"
    "                  255u << GPUSCAN_COPY_SHIFT;\n"
    "        if (GPUSCAN_CHANNEL_ON(channel))\n"
    "            atomic_inc((volatile local uint *)((local char *)(bins + GPUSCAN_VALUE_AT(channel, 0)) + (at | copy * 4)));\n"
    "    }\n"
    "}\n"
    "\n"
    "static inline void gpuscan_count_words(uint4 raw, uint channel, uint copy, local uint *bins) {\n"
    "    raw ^= GPUSCAN_VALUE_FLIP * 0x01010101u;\n"
    "    gpuscan_count_word(raw.x, copy, bins);\n"
    "    gpuscan_count_word(raw.y, copy, bins);\n"
    "    gpuscan_count_word(raw.z, copy, bins);\n"
    "    gpuscan_count_word(raw.w, copy, bins);\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "\n"
    "/* A vector holds whole pixels, so that a sample's place in it tells the channel: not with three channels, nor four of 8\n"
    "   bytes. */\n"
    "#define GPUSCAN_WHOLE_PIXELS (GPUSCAN_VECTOR % GPUSCAN_CHANNELS == 0)\n"
    "\n"
    "/* The channel of a row's sample. A remainder of 64 bits takes long, but 2^32 leaves 1 when divided by 3. */\n"
    "static inline uint gpuscan_channel_of(ulong at) {\n"
    "    return GPUSCAN_CHANNELS == 3 ? ((uint)at % 3 + (uint)(at >> 32) % 3) % 3 : (uint)at % GPUSCAN_CHANNELS;\n"
    "}\n"
    "\n",
    "/* Counts a vector of samples, the first of which is the row's sample at. */\n"
    "static inline void gpuscan_count_vector(uint4 raw, ulong at, global const gpuscan_weight *weights, uint copy,\n"
    "                                        uint first_bin, local uint *bins, global gpuscan_counter *accumulators,\n"
    "                                        GPUSCAN_BIN_PARAMETERS, gpuscan_edges edges) {\n"
    "    uint channel = GPUSCAN_WHOLE_PIXELS ? 0 : gpuscan_channel_of(at);\n"
    "#if GPUSCAN_COUNT_WORDS\n"
    "    gpuscan_count_words(raw, channel, copy, bins);\n"
    "#else\n"
    "    gpuscan_samples vector;\n"
    "    vector.raw = raw;\n"
    "GPUSCAN_UNROLL\n"
    "    for (int v = 0; v < GPUSCAN_VECTOR; v++) {\n"
    "        gpuscan_weight weight = GPUSCAN_WEIGHT_OF(vector.element[v], at + v, weights);\n"
    "        gpuscan_count_sample(GPUSCAN_BINNED_OF(vector.element[v], at + v),\n"
    "                             GPUSCAN_WHOLE_PIXELS ? v % GPUSCAN_CHANNELS : channel, weight, copy, first_bin, bins,\n"
    "                             accumulators, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "        channel = channel + 1 == GPUSCAN_CHANNELS ? 0 : channel + 1;\n"
    "    }\n"
    "#endif\n"
    "}\n"
    "#define GPUSCAN_COUNT_VECTOR(raw, i)                                                                                   \\\n"
    "    gpuscan_count_vector(raw, here.head + (ulong)(i) * GPUSCAN_VECTOR, here.weights, copy, first_bin, bins,            \\\n"
    "                         accumulators, GPUSCAN_BIN_ARGUMENTS, edges)\n"
    "\n"
    "/* Counts sample i of a row by itself. */\n"
    "#define GPUSCAN_COUNT_ALONE(i)                                                                                         \\\n"
    "    gpuscan_count_sample(GPUSCAN_BINNED_OF(here.samples[i], i), gpuscan_channel_of(i),                                 \\\n"
    "                         GPUSCAN_WEIGHT_OF(here.samples[i], i, here.weights), copy, first_bin, bins, accumulators,     \\\n"
    "                         GPUSCAN_BIN_ARGUMENTS, edges)\n"
    "\n"
    "/* Vectors of a row that 32 bits count where they are not loaded ahead: registers are few. */\n"
    "#ifndef GPUSCAN_CHUNK\n"
    "#define GPUSCAN_CHUNK (1u << 30)\n"
    "#endif\n"
    "\n"
    "/* A row of samples: vectors, the first of which begins with sample head, and a few at both ends that none holds. */\n"
    "typedef struct {\n"
    "    global const gpuscan_sample *samples;\n"
    "    global const gpuscan_weight *weights;\n"
    "    ulong head, vectors;\n"
    "} gpuscan_sample_row;\n"
    "\n",
    "GPUSCAN_INLINE gpuscan_sample_row gpuscan_sample_row_at(global const gpuscan_sample *samples, ulong count,\n"
    "                                                        global const gpuscan_weight *weights) {\n"
    "    gpuscan_sample_row at;\n"
    "    uint past = (uint)(size_t)samples & 15;\n"
    "    at.samples = samples;\n"
    "    at.weights = weights;\n"
    "    at.head = (16 - past) / (uint)sizeof(gpuscan_sample) % GPUSCAN_VECTOR;\n"
    "    at.vectors = 0;\n"
    "    if (GPUSCAN_HAS_VECTORS && past % sizeof(gpuscan_sample) == 0 && at.head < count &&\n"
    "        (!GPUSCAN_WHOLE_PIXELS || at.head % GPUSCAN_CHANNELS == 0))\n"
    "        at.vectors = (count - at.head) / GPUSCAN_VECTOR;\n"
    "    else\n"
    "        at.head = 0;\n"
    "    return at;\n"
    "}\n"
    "\n"
    "/* What a vector's place holds of a row: samples [first, last), perhaps none. */\n"
    "typedef struct {\n"
    "    global const gpuscan_sample *samples;\n"
    "    global const gpuscan_weight *weights;\n"
    "    ulong first, last;\n"
    "    bool is_whole; /* it can be loaded and counted as a vector */\n"
    "} gpuscan_sample_part;\n"
    "\n"
    "GPUSCAN_INLINE gpuscan_sample_part gpuscan_sample_part_at(global const gpuscan_sample *samples,\n"
    "                                                          global const gpuscan_weight *weights, ulong vector,\n"
    "                                                          ulong count) {\n"
    "    gpuscan_sample_part part;\n"
    "    uint bytes = GPUSCAN_HAS_VECTORS ? (uint)(size_t)samples & 15 : 0;\n"
    "    uint past = bytes / (uint)sizeof(gpuscan_sample);\n"
    "    ulong end = (vector + 1) * GPUSCAN_VECTOR - past;\n"
    "    part.samples = samples;\n"
    "    part.weights = weights;\n"
    "    part.first = vector == 0 ? 0 : end - GPUSCAN_VECTOR;\n"
    "    part.last = min(end, count);\n"
    "    part.is_whole = GPUSCAN_HAS_VECTORS && part.first + GPUSCAN_VECTOR == part.last &&\n"
    "                    bytes % sizeof(gpuscan_sample) == 0 && (!GPUSCAN_WHOLE_PIXELS || past % GPUSCAN_CHANNELS == 0);\n"
    "    return part;\n"
    "}\n"
    "\n"
    "GPUSCAN_INLINE global const uint4 *gpuscan_sample_row_vectors(gpuscan_sample_row at) {\n"
    "    return (global const uint4 *)(at.samples + at.head);\n"
    "}\n"
    "\n"
    "GPUSCAN_INLINE void gpuscan_load_vectors(uint4 *vectors, global const uint4 *from, ulong stride) {\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        vectors[k] = gpuscan_load_once(from + k * stride);\n"
    "}\n"
    "\n",
    "/* Loads vectors i, i + stride, ... of a row, where there are ITEM_VECTORS of them; in the short form as many as there\n"
    "   are. */\n"
    "GPUSCAN_INLINE bool gpuscan_load_if(uint4 *vectors, gpuscan_sample_row at, ulong i, ulong stride) {\n"
    "    global const uint4 *from = gpuscan_sample_row_vectors(at) + i;\n"
    "#if GPUSCAN_PIPE == GPUSCAN_PIPE_AHEAD\n"
    "    bool more = i + (GPUSCAN_ITEM_VECTORS - 1) * stride < at.vectors;\n"
    "    if (more)\n"
    "        gpuscan_load_vectors(vectors, from, stride);\n"
    "    return more;\n"
    "#else\n"
    "GPUSCAN_UNROLL\n"
    "    for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "        vectors[k] = gpuscan_load_once_if(i + k * stride < at.vectors, from + k * stride);\n"
    "    return i < at.vectors;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* Work-items that sum a bin's copies together, where lanes can: all of a group's, so that none waits for a few. */\n"
    "#if GPUSCAN_COPIES\n"
    "#if !GPUSCAN_HAS_LANES\n"
    "#define GPUSCAN_BIN_ITEMS 1\n"
    "#elif GPUSCAN_CARRIES\n"
    "#define GPUSCAN_BIN_ITEMS 1\n"
    "#elif GPUSCAN_GROUP >= 4 * GPUSCAN_SLICE_BINS && GPUSCAN_COPIES % 4 == 0 && GPUSCAN_MERGE == GPUSCAN_MERGE_NONE\n"
    "#define GPUSCAN_BIN_ITEMS 4\n"
    "#elif GPUSCAN_GROUP >= 2 * GPUSCAN_SLICE_BINS && GPUSCAN_COPIES % 2 == 0 && GPUSCAN_MERGE == GPUSCAN_MERGE_NONE\n"
    "#define GPUSCAN_BIN_ITEMS 2\n"
    "#else\n"
    "#define GPUSCAN_BIN_ITEMS 1\n"
    "#endif\n"
    "#define GPUSCAN_ITEM_COPIES (GPUSCAN_COPIES / GPUSCAN_BIN_ITEMS)\n"
    "\n"
    "#if GPUSCAN_BY_VALUE == GPUSCAN_BY_VALUE_SPREAD\n"
    "/* The n-th channel of the mask. */\n"
    "static inline uint gpuscan_nth_channel(uint n) {\n"
    "    uint mask = GPUSCAN_CHANNEL_MASK;\n"
    "    for (; n > 0; n--)\n"
    "        mask &= mask - 1;\n"
    "    return 31 - clz(mask & (0u - mask));\n"
    "}\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_CARRIES\n"
    "typedef ulong gpuscan_copies_t;\n"
    "#else\n"
    "typedef uint gpuscan_copies_t;\n"
    "#endif\n"
    "\n"
    "/* The sum of a bin's copies, in each of the BIN_ITEMS work-items side by side that call this for it; helper: which of\n"
    "   them this is. Each sums a part of the copies that begins at a bank of its own, and for neighbouring bins one bank on.\n"
    "   Not unrolled altogether: code that runs once is slow to come in. */\n"
    "static inline gpuscan_copies_t gpuscan_copies_sum(local uint *shared, uint bin, uint helper) {\n"
    "    local const uint *bins = shared;\n"
    "    gpuscan_copies_t sum = 0;\n"
    "#if GPUSCAN_BY_VALUE == GPUSCAN_BY_VALUE_SPREAD\n"
    "    bins += GPUSCAN_VALUE_AT(gpuscan_nth_channel(bin / 256), bin % 256) + helper * GPUSCAN_ITEM_COPIES;\n"
    "#else\n"
    "    bins += bin * GPUSCAN_COPIES + helper * GPUSCAN_ITEM_COPIES;\n"
    "#endif\n"
    "#if GPUSCAN_PTX\n"
    "    _Pragma(\"unroll 8\")\n"
    "#endif\n"
    "    for (uint c = 0; c < GPUSCAN_ITEM_COPIES; c++)\n"
    "        sum += bins[(c + bin) % GPUSCAN_ITEM_COPIES];\n"
    "#if GPUSCAN_BIN_ITEMS > 1\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = 1; d < GPUSCAN_BIN_ITEMS; d *= 2)\n"
    "        sum += gpuscan_lane_xor(sum, d);\n"
    "#endif\n"
    "    return sum;\n"
    "}\n"
    "#endif\n"
    "\n",
    "/* Accumulators that count groups, too, in the bits from ARRIVALS on. All groups come to them at the same time, so that\n"
    "   small ones are spread over the cache's slices: eight, which are updated together, in every 64 bytes. They are zeroed\n"
    "   by an exchange, since the others were atomic: nothing else orders them. */\n"
    "#if GPUSCAN_ARRIVALS == GPUSCAN_ARRIVALS_U64\n"
    "typedef ulong gpuscan_arrivals;\n"
    "#define GPUSCAN_ARRIVE(word, amount) atom_add(word, amount)\n"
    "#define GPUSCAN_CLEAR(word)          atom_xchg(word, 0ul)\n"
    "#define GPUSCAN_WORD_OF(bin)         (bin)\n"
    "#elif GPUSCAN_ARRIVALS == GPUSCAN_ARRIVALS_U32\n"
    "typedef uint gpuscan_arrivals;\n"
    "#define GPUSCAN_ARRIVE(word, amount) atomic_add(word, amount)\n"
    "#define GPUSCAN_CLEAR(word)          atomic_xchg(word, 0u)\n"
    "#define GPUSCAN_WORD_OF(bin)         ((bin) / 8 * 16 + (bin) % 8)\n"
    "#endif\n"
    "#define GPUSCAN_ARRIVAL ((gpuscan_arrivals)1 << GPUSCAN_ARRIVALS)\n"
    "\n"
    "/* Bins that a work-item hands over at once, so that the atomics' latencies overlap. */\n"
    "#define GPUSCAN_AT_ONCE       (GPUSCAN_SLICE_BINS > GPUSCAN_GROUP || GPUSCAN_MERGE ? 4 : 1)\n"
    "#if GPUSCAN_MERGE == GPUSCAN_MERGE_LOCAL\n"
    "#define GPUSCAN_BIN_SUM(bin) bins[GPUSCAN_LOCAL_COUNTERS + (bin)]\n"
    "#else\n"
    "#define GPUSCAN_BIN_SUM(bin) gpuscan_copies_sum(bins, bin, helper)\n"
    "#endif\n"
    "#define GPUSCAN_HANDS_OVER(j) (k + (j) * GPUSCAN_GROUP < bins_here && helper == 0)\n"
    "\n"
    "#if GPUSCAN_MERGE\n"
    "/* Puts the values' sums into bins: into those of local memory behind the values', which are zero, or, where they are\n"
    "   too many, into the accumulators. */\n"
    "static inline void gpuscan_merge_values(local uint *shared, global gpuscan_counter *accumulators,\n"
    "                                        GPUSCAN_BIN_PARAMETERS, gpuscan_edges edges) {\n"
    "    for (uint k = GPUSCAN_ITEM; k < GPUSCAN_SLICE_BINS; k += GPUSCAN_GROUP) {\n"
    "        uint sum = gpuscan_copies_sum(shared, k, 0);\n"
    "        uint bin = gpuscan_bin(gpuscan_sample_of(k % 256), GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "        if (sum == 0 || bin == GPUSCAN_NO_BIN)\n"
    "            continue;\n"
    "        bin += k / 256 * GPUSCAN_CHANNEL_BINS;\n"
    "#if GPUSCAN_MERGE == GPUSCAN_MERGE_LOCAL\n"
    "        atomic_add((volatile local uint *)(shared + GPUSCAN_LOCAL_COUNTERS + bin), sum);\n"
    "#else\n"
    "        if (!GPUSCAN_PLANTED(HISTOGRAM_GROUP) || get_group_id(0) != 0)\n"
    "            gpuscan_add_global(accumulators + bin, sum);\n"
    "#endif\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n",
    "/* Groups g, g + SLICES, ... count slice g % SLICES of the bins. Of a slice's groups all work-items take the vectors in\n"
    "   turn, ITEM_VECTORS loads in flight. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void\n"
    "gpuscan_histogram(GPUSCAN_HISTOGRAM_PARAMETERS\n"
    "#if GPUSCAN_PTX /* a known address saves an addition a sample, and the driver adds nothing to these bytes */\n"
    ") {\n"
    "    local uint shared[GPUSCAN_LOCAL_WORDS] __attribute__((aligned(16))); /* the bins, later the ticket */\n"
    "#else\n"
    "    , local uint *shared) {\n"
    "#endif\n"
    "    uint flags = (uint)numbers.flags;\n"
    "    uint members = (uint)get_num_groups(0) / GPUSCAN_SLICES, member = (uint)get_group_id(0) / GPUSCAN_SLICES;\n"
    "    uint first_bin = (uint)get_group_id(0) % GPUSCAN_SLICES * GPUSCAN_SLICE_BINS;\n"
    "    uint first = member * GPUSCAN_GROUP + GPUSCAN_ITEM, stride = members * GPUSCAN_GROUP;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags) * GPUSCAN_CHANNELS;\n"
    "    samples = GPUSCAN_SAMPLES_AT(samples, numbers.samples_offset);\n"
    "    weights += numbers.weights_offset;\n"
    "#if GPUSCAN_PIPE != GPUSCAN_PIPE_ROWS\n"
    "    gpuscan_sample_row here = gpuscan_sample_row_at(samples, count, weights);\n"
    "#endif\n"
    "#if GPUSCAN_PIPE != GPUSCAN_PIPE_NONE && GPUSCAN_PIPE != GPUSCAN_PIPE_ROWS\n"
    "    ulong stride64 = stride; /* beyond 32 bits */\n"
    "    uint4 loaded[GPUSCAN_ITEM_VECTORS];\n"
    "    bool more = gpuscan_load_if(loaded, here, first, stride64); /* on their way while the bins are cleared */\n"
    "#endif\n"
    "#if GPUSCAN_COPIES\n"
    "    local uint *bins = shared;\n"
    "    uint copy = GPUSCAN_COPY;\n"
    "    for (uint k = GPUSCAN_ITEM; k < GPUSCAN_LOCAL_ALL; k += GPUSCAN_GROUP)\n"
    "        bins[k] = 0;\n"
    "#if GPUSCAN_LOCAL_EDGES\n"
    "    local GPUSCAN_EDGE *copied = (local GPUSCAN_EDGE *)(shared + GPUSCAN_EDGES_AT);\n"
    "    for (uint k = GPUSCAN_ITEM; k <= GPUSCAN_BINS; k += GPUSCAN_GROUP)\n"
    "        copied[GPUSCAN_EDGE_PLACE(k)] = edges_buffer[numbers.edges_offset + k];\n"
    "#endif\n"
    "    GPUSCAN_BARRIER();\n"
    "#if GPUSCAN_LOCAL_EDGES\n"
    "    gpuscan_edges edges;\n"
    "    edges.at = copied;\n"
    "    edges.first = GPUSCAN_EDGE_AT(edges, 0);\n"
    "    edges.last = GPUSCAN_EDGE_AT(edges, GPUSCAN_BINS);\n"
    "#if GPUSCAN_EDGE_CELLS\n"
    "    gpuscan_cells_make(&edges, shared + GPUSCAN_CELLS_AT);\n"
    "    GPUSCAN_BARRIER();\n"
    "#endif\n"
    "#endif\n"
    "#else\n"
    "    local uint *bins = 0;\n"
    "    uint copy = 0;\n"
    "#endif\n"
    "    accumulators += numbers.accumulators_offset;\n"
    "    counts += numbers.counts_offset;\n"
    "#if !GPUSCAN_LOCAL_EDGES\n"
    "    gpuscan_edges edges = edges_buffer + numbers.edges_offset;\n"
    "#endif\n"
    "#if GPUSCAN_PIPE == GPUSCAN_PIPE_ROWS\n"
    "    /* Rows with gaps: the vectors of all rows are numbered through, as many for each row as it may touch. */\n"
    "    ulong rows = count ? numbers.rows : 0, pitch = numbers.pitch;\n"
    "    bool alike = pitch * sizeof(gpuscan_element) % 16 == 0; /* then all rows begin as far behind a vector's begin */\n"
    "    uint past = !GPUSCAN_HAS_VECTORS ? 0\n"
    "                : alike              ? (uint)((size_t)samples & 15) / (uint)sizeof(gpuscan_sample)\n"
    "                                     : GPUSCAN_VECTOR - 1;\n"
    "    ulong row_vectors = max((count + past + GPUSCAN_VECTOR - 1) / GPUSCAN_VECTOR, 1ul);\n"
    "    ulong row = first / row_vectors, vector = first - row * row_vectors;\n"
    "    ulong step_rows = stride / row_vectors, step_vectors = stride - step_rows * row_vectors;\n"
    "    while (row < rows) {\n"
    "        gpuscan_sample_part parts[GPUSCAN_ITEM_VECTORS];\n"
    "        uint4 loaded[GPUSCAN_ITEM_VECTORS];\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            parts[k] = gpuscan_sample_part_at(GPUSCAN_SAMPLES_AT(samples, row * pitch),\n"
    "                                              weights + row * numbers.weights_pitch, vector, row < rows ? count : 0);\n"
    "            loaded[k] = gpuscan_load_once_if(parts[k].is_whole,\n"
    "                                             (global const uint4 *)(parts[k].samples + parts[k].first));\n"
    "            row += step_rows;\n"
    "            vector += step_vectors;\n"
    "            if (vector >= row_vectors) {\n"
    "                vector -= row_vectors - (GPUSCAN_PLANTED(SAMPLE_ROWS) ? 1 : 0);\n"
    "                row++;\n"
    "            }\n"
    "        }\n"
    "GPUSCAN_UNROLL\n",
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            gpuscan_sample_part here = parts[k];\n"
    "            if (here.is_whole) {\n"
    "                gpuscan_count_vector(loaded[k], here.first, here.weights, copy, first_bin, bins, accumulators,\n"
    "                                     GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "                continue;\n"
    "            }\n"
    "            for (ulong i = here.first; i < here.last; i++)\n"
    "                GPUSCAN_COUNT_ALONE(i);\n"
    "        }\n"
    "    }\n"
    "#else\n"
    "    for (ulong i = first; i < count - here.vectors * GPUSCAN_VECTOR; i += stride) { /* both ends */\n"
    "        ulong at = i < here.head ? i : i + here.vectors * GPUSCAN_VECTOR;\n"
    "        GPUSCAN_COUNT_ALONE(at);\n"
    "    }\n"
    "#if GPUSCAN_PIPE != GPUSCAN_PIPE_NONE\n"
    "    ulong i = first;\n"
    "#if GPUSCAN_PIPE == GPUSCAN_PIPE_AHEAD /* the next vectors are on their way while these are counted */\n"
    "    while (more) {\n"
    "        uint4 next[GPUSCAN_ITEM_VECTORS];\n"
    "        i += GPUSCAN_ITEM_VECTORS * stride64;\n"
    "        more = gpuscan_load_if(next, here, i, stride64);\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++) {\n"
    "            GPUSCAN_COUNT_VECTOR(loaded[k], i + k * stride64 - GPUSCAN_ITEM_VECTORS * stride64);\n"
    "            loaded[k] = next[k];\n"
    "        }\n"
    "    }\n"
    "    for (; i < here.vectors; i += 2 * stride64) {\n"
    "        bool two = i + stride64 < here.vectors;\n"
    "        loaded[0] = gpuscan_load_once(gpuscan_sample_row_vectors(here) + i);\n"
    "        loaded[1] = gpuscan_load_once_if(two, gpuscan_sample_row_vectors(here) + (i + stride64));\n"
    "        GPUSCAN_COUNT_VECTOR(loaded[0], i);\n"
    "        if (two)\n"
    "            GPUSCAN_COUNT_VECTOR(loaded[1], i + stride64);\n"
    "    }\n"
    "#else\n"
    "    while (more) {\n"
    "GPUSCAN_UNROLL\n"
    "        for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "            if (i + k * stride64 < here.vectors)\n"
    "                GPUSCAN_COUNT_VECTOR(loaded[k], i + k * stride64);\n"
    "        i += GPUSCAN_ITEM_VECTORS * stride64;\n"
    "        more = gpuscan_load_if(loaded, here, i, stride64);\n"
    "    }\n"
    "#endif\n"
    "#else\n"
    "    for (ulong begin = 0; begin < here.vectors; begin += GPUSCAN_CHUNK) {\n"
    "        global const uint4 *from = gpuscan_sample_row_vectors(here) + begin;\n"
    "        uint end = (uint)min(here.vectors - begin, (ulong)GPUSCAN_CHUNK);\n"
    "        uint i = first;\n"
    "        for (; i + (GPUSCAN_ITEM_VECTORS - 1) * stride < end; i += GPUSCAN_ITEM_VECTORS * stride) {\n"
    "            uint4 loaded[GPUSCAN_ITEM_VECTORS];\n"
    "            gpuscan_load_vectors(loaded, from + i, stride);\n"
    "GPUSCAN_UNROLL\n"
    "            for (int k = 0; k < GPUSCAN_ITEM_VECTORS; k++)\n"
    "                GPUSCAN_COUNT_VECTOR(loaded[k], begin + i + k * stride);\n"
    "        }\n"
    "        for (; i < end; i += stride)\n"
    "            GPUSCAN_COUNT_VECTOR(gpuscan_load_once(from + i), begin + i);\n"
    "    }\n"
    "#endif\n"
    "#endif\n"
    "#if GPUSCAN_COPIES\n"
    "    if (!GPUSCAN_PLANTED(BARRIER_COUNTS))\n"
    "        GPUSCAN_BARRIER();\n"
    "#endif\n"
    "#if GPUSCAN_MERGE\n"
    "    gpuscan_merge_values(bins, accumulators, GPUSCAN_BIN_ARGUMENTS, edges);\n"
    "    GPUSCAN_BARRIER();\n"
    "#endif\n"
    "#if GPUSCAN_COPIES && GPUSCAN_MERGE != GPUSCAN_MERGE_GLOBAL\n"
    "    uint bins_here = GPUSCAN_MERGE ? (uint)GPUSCAN_ALL_BINS\n"
    "                                   : min((uint)GPUSCAN_SLICE_BINS, GPUSCAN_ALL_BINS - first_bin);\n"
    "    uint helper = GPUSCAN_ITEM % GPUSCAN_BIN_ITEMS;\n"
    "    uint k = GPUSCAN_ITEM / GPUSCAN_BIN_ITEMS;\n"
    "    while (GPUSCAN_BIN_ITEMS > 1 || k < bins_here) { /* once and by all, or as often as there are bins */\n"
    "        gpuscan_copies_t sums[GPUSCAN_AT_ONCE];\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint j = 0; j < GPUSCAN_AT_ONCE; j++)\n"
    "            sums[j] = GPUSCAN_BIN_SUM(min(k + j * GPUSCAN_GROUP, bins_here - 1));\n"
    "        if (GPUSCAN_PLANTED(HISTOGRAM_GROUP) && get_group_id(0) == 0)\n"
    "            for (uint j = 0; j < GPUSCAN_AT_ONCE; j++)\n"
    "                sums[j] = 0;\n"
    "#if GPUSCAN_ARRIVALS != GPUSCAN_ARRIVALS_NONE\n"
    "        /* An accumulator counts the slice's groups in its upper bits and samples below: whoever adds as the last group\n"
    "           has the bin's sum. No fence is needed, since nothing else is read. */\n"
    "        volatile global gpuscan_arrivals *words = (volatile global gpuscan_arrivals *)accumulators;\n",
    "        gpuscan_arrivals before[GPUSCAN_AT_ONCE];\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint j = 0; j < GPUSCAN_AT_ONCE; j++)\n"
    "            if (GPUSCAN_HANDS_OVER(j)) /* a single group needs nobody's help */\n"
    "                before[j] = members == 1 ? 0\n"
    "                                         : GPUSCAN_ARRIVE(words + GPUSCAN_WORD_OF(first_bin + k + j * GPUSCAN_GROUP),\n"
    "                                                          GPUSCAN_ARRIVAL + sums[j]);\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint j = 0; j < GPUSCAN_AT_ONCE; j++)\n"
    "            if (GPUSCAN_HANDS_OVER(j) && before[j] >> GPUSCAN_ARRIVALS == members - 1) {\n"
    "                uint bin = first_bin + k + j * GPUSCAN_GROUP;\n"
    "                gpuscan_counter sum = (gpuscan_counter)((before[j] & (GPUSCAN_ARRIVAL - 1)) + sums[j]);\n"
    "                if (members > 1)\n"
    "                    GPUSCAN_CLEAR(words + GPUSCAN_WORD_OF(bin));\n"
    "                counts[bin] = (flags & GPUSCAN_FLAG_ACCUMULATE) ? counts[bin] + sum : sum;\n"
    "            }\n"
    "#else\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint j = 0; j < GPUSCAN_AT_ONCE; j++)\n"
    "            if (GPUSCAN_HANDS_OVER(j) && sums[j])\n"
    "                gpuscan_add_global(accumulators + first_bin + k + j * GPUSCAN_GROUP, sums[j]);\n"
    "#endif\n"
    "        if (GPUSCAN_BIN_ITEMS > 1) /* no loop: PoCL 3.1 confuses the barriers of LANES_LOCAL within one */\n"
    "            break;\n"
    "        k += GPUSCAN_AT_ONCE * GPUSCAN_GROUP;\n"
    "    }\n"
    "#endif\n"
    "#if GPUSCAN_ARRIVALS == GPUSCAN_ARRIVALS_NONE\n"
    "    if (flags & GPUSCAN_FLAG_FINISH) {\n"
    "        uint groups = (uint)get_num_groups(0);\n"
    "        gpuscan_device_fence();\n"
    "        GPUSCAN_BARRIER();\n"
    "        if (gpuscan_ticket(GPUSCAN_COUNTERS(accumulators), groups, shared) != groups - 1)\n"
    "            return;\n"
    "        gpuscan_device_fence();\n"
    "        gpuscan_histogram_move(accumulators, counts, GPUSCAN_ITEM, GPUSCAN_ALL_BINS, GPUSCAN_GROUP, flags);\n"
    "    }\n"
    "#endif\n"
    "}\n"
    "#endif /* a group of many work-items */\n"
    "\n"
    "typedef struct {\n"
    "    GPUSCAN_HISTOGRAM_FINISH_NUMBERS\n"
    "} gpuscan_histogram_finish_numbers;\n"
    "\n"
    "kernel __attribute__((reqd_work_group_size(GPUSCAN_GROUP, 1, 1))) void\n"
    "gpuscan_histogram_finish(global gpuscan_counter *accumulators, global gpuscan_counter *counts,\n"
    "                         gpuscan_histogram_finish_numbers numbers) {\n"
    "    accumulators += numbers.accumulators_offset;\n"
    "    counts += numbers.counts_offset;\n"
    "#if GPUSCAN_CPU\n"
    "    ulong share = (GPUSCAN_ALL_BINS + get_num_groups(0) - 1) / get_num_groups(0);\n"
    "    ulong first = min(get_group_id(0) * share, (ulong)GPUSCAN_ALL_BINS);\n"
    "    gpuscan_histogram_move(accumulators, counts, first, min(first + share, (ulong)GPUSCAN_ALL_BINS),\n"
    "                           (uint)numbers.flags, false);\n"
    "#else\n"
    "    gpuscan_histogram_move(accumulators, counts, get_global_id(0), GPUSCAN_ALL_BINS, get_global_size(0),\n"
    "                           (uint)numbers.flags);\n"
    "#endif\n"
    "}\n"
    "#endif /* GPUSCAN_SAMPLE */\n"
    "\n",
    "#if GPUSCAN_SORT\n"
    "/* [SORT KEYS] ------------------------------------------------------------------------------------------------------ */\n"
    "\n"
    "/* A stable radix sort, least significant digit first: Knuth, \"The Art of Computer Programming\", volume 3, 5.2.5. Each\n"
    "   pass moves all elements to their places by one digit of their keys' codes; within a digit they keep their order. A\n"
    "   pass is three kernels where nothing is assumed of groups: parts of the elements are counted by digit, the counts\n"
    "   become places, and each part is scattered to its own.\n"
    "\n"
    "   A code is the key's bits in an order of unsigned numbers. Keys are moved as they are, and their codes computed anew\n"
    "   in each pass: a code does not say which zero or NaN the key was. */\n"
    "typedef GPUSCAN_KEY_BITS gpuscan_key_bits; /* unsigned, of the key's size */\n"
    "typedef GPUSCAN_KEY_CODE gpuscan_key_code; /* uint, or ulong for keys of 64 bits */\n"
    "typedef GPUSCAN_PLACE gpuscan_place;       /* of an element among all: uint where that is enough */\n"
    "typedef GPUSCAN_SORT_VALUE gpuscan_sort_value; /* what moves with a key: a payload or the element's index */\n"
    "\n"
    "#define GPUSCAN_RADIX         (1u << GPUSCAN_DIGIT_BITS)\n"
    "#define GPUSCAN_KEY_ONES      ((gpuscan_key_code)(gpuscan_key_bits)~(gpuscan_key_bits)0)\n"
    "#define GPUSCAN_KEY_SIGN      (GPUSCAN_KEY_ONES ^ GPUSCAN_KEY_ONES >> 1)\n"
    "#define GPUSCAN_KEY_MAGNITUDE (GPUSCAN_KEY_ONES >> 1)\n"
    "\n"
    "/* One digit of a code. flip: the bits that are turned round: the sign of signed integers, all of descending keys. */\n"
    "typedef struct {\n"
    "    gpuscan_key_code flip;\n"
    "    uint shift, mask;\n"
    "} gpuscan_digit;\n"
    "#define GPUSCAN_DIGIT(numbers)                                                                                         \\\n"
    "    { (gpuscan_key_code)(numbers).flip, (uint)(numbers).shift, (uint)(numbers).mask }\n"
    "\n"
    "/* Floats: from the most negative up, where -0 is +0, and NaN behind everything, descending too. */\n"
    "static inline gpuscan_key_code gpuscan_code_of(gpuscan_key_bits key, gpuscan_key_code flip) {\n"
    "#if GPUSCAN_KEY_INFINITY\n"
    "    gpuscan_key_code bits = key, magnitude = bits & GPUSCAN_KEY_MAGNITUDE;\n"
    "    gpuscan_key_code code = bits ^ (bits == magnitude || magnitude == 0 ? GPUSCAN_KEY_SIGN : GPUSCAN_KEY_ONES);\n"
    "    if (magnitude == 0)\n"
    "        code = GPUSCAN_KEY_SIGN;\n"
    "    if (GPUSCAN_PLANTED(SORT_NAN))\n"
    "        return code ^ flip;\n"
    "    return magnitude > (gpuscan_key_code)GPUSCAN_KEY_INFINITY ? GPUSCAN_KEY_ONES : code ^ flip;\n"
    "#else\n"
    "    return (gpuscan_key_code)key ^ flip;\n"
    "#endif\n"
    "}\n"
    "\n",
    "static inline uint gpuscan_digit_of(gpuscan_key_bits key, gpuscan_digit digit) {\n"
    "    return (uint)(gpuscan_code_of(key, digit.flip) >> digit.shift) & digit.mask;\n"
    "}\n"
    "\n"
    "/* Elements of a group's part: whole tiles, by the count that the device knows, so that few elements have many groups,\n"
    "   too. */\n"
    "static inline ulong gpuscan_sort_part(ulong count) {\n"
    "    ulong tiles = (count + GPUSCAN_TILE - 1) / GPUSCAN_TILE, groups = get_num_groups(0);\n"
    "    return (tiles + groups - 1) / groups * GPUSCAN_TILE;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_CUSTOM_KEY\n"
    "/* The keys of the caller's elements, which the passes sort in their place. */\n"
    "typedef struct {\n"
    "    GPUSCAN_SORT_KEYS_NUMBERS\n"
    "} gpuscan_sort_keys_numbers;\n"
    "\n"
    "kernel void gpuscan_sort_keys(global const gpuscan_custom_type *src, global gpuscan_key_bits *keys,\n"
    "                              global const uint *count_buffer, gpuscan_sort_keys_numbers numbers) {\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, (uint)numbers.flags);\n"
    "    src += numbers.src_offset;\n"
    "    keys += numbers.keys_offset;\n"
    "    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {\n"
    "        GPUSCAN_CUSTOM_KEY_TYPE key = gpuscan_custom_key(src[i], i);\n"
    "        gpuscan_key_bits bits;\n"
    "#if GPUSCAN_KEY_F16\n"
    "        vstore_half(key, 0, (private half *)&bits);\n"
    "#else\n"
    "        bits = GPUSCAN_CUSTOM_KEY_BITS(key);\n"
    "#endif\n"
    "        keys[i] = bits;\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* [SORT GATHER] ---------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* Elements of any size, brought to their places by index, as units of a power of two bytes up to 16 that divides the\n"
    "   size; or copied as they are; or the indices themselves, as ulong. */\n"
    "typedef struct {\n"
    "    GPUSCAN_SORT_GATHER_NUMBERS\n"
    "} gpuscan_sort_gather_numbers;\n"
    "\n"
    "#define GPUSCAN_GATHER(type)                                                                                           \\\n"
    "    for (uint u = GPUSCAN_ITEM; u < units; u += GPUSCAN_GROUP) {                                                       \\\n"
    "        uint e = parts == 1 ? u : u / parts;                                                                           \\\n"
    "        ulong from = by_index ? (ulong)indices[first + e] : first + e;                                                 \\\n"
    "        if (GPUSCAN_PLANTED(SORT_GATHER) && first + e == 3)                                                            \\\n"
    "            from ^= 1;                                                                                                 \\\n"
    "        ((global type *)dst)[(first + e) * parts + (u - e * parts)] =                                                  \\\n"
    "            ((global const type *)src)[from * parts + (u - e * parts)];                                                \\\n"
    "    }                                                                                                                  \\\n"
    "    break\n"
    "\n",
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_gather(global const uchar *src, global uchar *dst,\n"
    "                                                        global const gpuscan_sort_value *indices,\n"
    "                                                        global const uint *count_buffer,\n"
    "                                                        gpuscan_sort_gather_numbers numbers) {\n"
    "    uint flags = (uint)numbers.flags, parts = (uint)numbers.parts;\n"
    "    bool by_index = flags & GPUSCAN_FLAG_BY_INDEX;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    src += numbers.src_offset;\n"
    "    dst += numbers.dst_offset;\n"
    "    indices += numbers.indices_offset;\n"
    "    for (ulong first = (ulong)get_group_id(0) * GPUSCAN_TILE; first < count;\n"
    "         first += (ulong)get_num_groups(0) * GPUSCAN_TILE) {\n"
    "        uint units = (uint)min(count - first, (ulong)GPUSCAN_TILE) * parts;\n"
    "        switch ((uint)numbers.unit) {\n"
    "        case 0:\n"
    "            for (uint u = GPUSCAN_ITEM; u < units; u += GPUSCAN_GROUP)\n"
    "                ((global ulong *)dst)[first + u] = indices[first + u];\n"
    "            break;\n"
    "        case 1: GPUSCAN_GATHER(uchar);\n"
    "        case 2: GPUSCAN_GATHER(ushort);\n"
    "        case 4: GPUSCAN_GATHER(uint);\n"
    "        case 8: GPUSCAN_GATHER(uint2);\n"
    "        default: GPUSCAN_GATHER(uint4);\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n"
    "/* [SORT PASSES] ---------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* The table of a pass: for each digit a count for each part, and then where the part's elements of the digit go. */\n"
    "typedef struct {\n"
    "    GPUSCAN_SORT_COUNT_NUMBERS\n"
    "} gpuscan_sort_count_numbers;\n"
    "typedef struct {\n"
    "    GPUSCAN_SORT_PLACES_NUMBERS\n"
    "} gpuscan_sort_places_numbers;\n"
    "typedef struct {\n"
    "    GPUSCAN_SORT_SCATTER_NUMBERS\n"
    "} gpuscan_sort_scatter_numbers;\n"
    "typedef struct {\n"
    "    GPUSCAN_SORT_SMALL_NUMBERS\n"
    "} gpuscan_sort_small_numbers;\n"
    "#define GPUSCAN_SORT_SMALL_PARAMETERS                                                                                  \\\n"
    "    global const gpuscan_key_bits *keys, global gpuscan_key_bits *keys_dst, global gpuscan_key_bits *keys_tmp,         \\\n"
    "        global const gpuscan_sort_value *values, global gpuscan_sort_value *values_dst,                                \\\n"
    "        global gpuscan_sort_value *values_tmp, global const uint *count_buffer, gpuscan_sort_small_numbers numbers\n"
    "#define GPUSCAN_SORT_COUNT_PARAMETERS                                                                                  \\\n"
    "    global const gpuscan_key_bits *keys, global gpuscan_place *table, global const uint *count_buffer,                 \\\n"
    "        gpuscan_sort_count_numbers numbers\n"
    "#define GPUSCAN_SORT_SCATTER_PARAMETERS                                                                                \\\n"
    "    global const gpuscan_key_bits *keys, global gpuscan_key_bits *keys_dst, global const gpuscan_sort_value *values,   \\\n"
    "        global gpuscan_sort_value *values_dst, global const gpuscan_place *table, global const uint *count_buffer,     \\\n"
    "        gpuscan_sort_scatter_numbers numbers\n"
    "\n",
    "#if !GPUSCAN_SORT_SMALL && !GPUSCAN_SORT_SINGLE_PASS\n"
    "/* Counts become places: an exclusive sum over the table, by one group, of whose work-items each takes a span. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_places(global gpuscan_place *table,\n"
    "                                                        gpuscan_sort_places_numbers numbers,\n"
    "                                                        local gpuscan_place *sums) {\n"
    "    uint length = (uint)numbers.count, span = (length + GPUSCAN_GROUP - 1) / GPUSCAN_GROUP;\n"
    "    uint first = min(GPUSCAN_ITEM * span, length), last = min(first + span, length);\n"
    "    gpuscan_place before = 0;\n"
    "    table += numbers.table_offset;\n"
    "#if GPUSCAN_GROUP > 1\n"
    "    gpuscan_place sum = 0;\n"
    "    for (uint i = first; i < last; i++)\n"
    "        sum += table[i];\n"
    "    uint at = GPUSCAN_ITEM; /* Hillis and Steele's scan, from one half to the other and back */\n"
    "    before = sum;\n"
    "    sums[at] = sum;\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (uint d = 1; d < GPUSCAN_GROUP; d *= 2) {\n"
    "        if (GPUSCAN_ITEM >= d)\n"
    "            before += sums[at - d];\n"
    "        at = at < GPUSCAN_GROUP ? at + GPUSCAN_GROUP : at - GPUSCAN_GROUP;\n"
    "        sums[at] = before;\n"
    "        GPUSCAN_BARRIER();\n"
    "    }\n"
    "    before -= sum;\n"
    "#endif\n"
    "    for (uint i = first; i < last; i++) {\n"
    "        gpuscan_place here = table[i];\n"
    "        table[i] = before - (GPUSCAN_PLANTED(SORT_PLACES) && i == length / 2 ? min(before, (gpuscan_place)1) : 0);\n"
    "        before += here;\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_CPU\n"
    "/* [SORT CPU] ------------------------------------------------------------------------------------------------------- */\n"
    "\n"
    "/* A part's elements go to RADIX places at once, each in the middle of a line of memory. They are collected in lines\n"
    "   nearby, one a digit, which are written when they are full: past the caches, where the whole does not fit them.\n"
    "   Polychroniou and Ross, \"A comprehensive study of main-memory partitioning\", 2014. */\n"
    "#define GPUSCAN_SORT_LINES(name, type)                                                                                 \\\n"
    "    typedef struct {                                                                                                   \\\n"
    "        type element[GPUSCAN_LINE / sizeof(type)];                                                                     \\\n"
    "    } __attribute__((aligned(GPUSCAN_LINE))) name##_line;                                                              \\\n"
    "    /* Elements [from, to) of dst, which end a line or, at a part's end, do not. past: of dst's line before dst. */    \\\n"
    "    static inline void name##_flush(global type *dst, const name##_line *line, gpuscan_place from, gpuscan_place to,   \\\n"
    "                                    uint past, bool stream) {                                                          \\\n"
    "        const uint per = GPUSCAN_LINE / sizeof(type);                                                                  \\\n"
    "        if (to - from == per) {                                                                                        \\\n"
    "            GPUSCAN_SORT_STREAM(dst + from, line);                                                                     \\\n"
    "            for (uint i = 0; i < per; i++)                                                                             \\\n"
    "                dst[from + i] = line->element[i];                                                                      \\\n"
    "        } else {                                                                                                       \\\n"
    "            for (; from < to; from++)                                                                                  \\\n"
    "                dst[from] = line->element[((uint)from + past) & (per - 1)];                                            \\\n"
    "        }                                                                                                              \\\n"
    "    }                                                                                                                  \\\n"
    "    /* Element p of dst, whose line holds the part's elements from begin on. */                                       \\\n",
    "    static inline void name##_put(global type *dst, name##_line *line, gpuscan_place p, gpuscan_place begin,           \\\n"
    "                                  uint past, bool stream, type x) {                                                    \\\n"
    "        const uint per = GPUSCAN_LINE / sizeof(type);                                                                  \\\n"
    "        uint slot = ((uint)p + past) & (per - 1);                                                                      \\\n"
    "        line->element[slot] = x;                                                                                       \\\n"
    "        if (slot == per - 1)                                                                                           \\\n"
    "            name##_flush(dst, line, p - begin < per ? begin : p + 1 - per, p + 1, past, stream);                       \\\n"
    "    }                                                                                                                  \\\n"
    "    /* What is left in a line: the elements before end. */                                                             \\\n"
    "    static inline void name##_finish(global type *dst, const name##_line *line, gpuscan_place begin,                   \\\n"
    "                                     gpuscan_place end, uint past) {                                                   \\\n"
    "        const uint per = GPUSCAN_LINE / sizeof(type);                                                                  \\\n"
    "        uint left = ((uint)end + past) & (per - 1);                                                                    \\\n"
    "        name##_flush(dst, line, end - begin < left ? begin : end - left, end, past, false);                            \\\n"
    "    }\n"
    "#if GPUSCAN_HAS_STREAM_STORE && GPUSCAN_FENCE != GPUSCAN_FENCE_MEM /* the simulator crashes on vectors of 16 */\n"
    "#define GPUSCAN_SORT_STREAM(to, line)                                                                                  \\\n"
    "    if (stream) {                                                                                                      \\\n"
    "        __builtin_nontemporal_store(*(const uint16 *)(line), (global uint16 *)(to));                                   \\\n"
    "        return;                                                                                                        \\\n"
    "    }\n"
    "#else\n"
    "#define GPUSCAN_SORT_STREAM(to, line)\n"
    "#endif\n"
    "#define GPUSCAN_SORT_PAST(p) ((uint)((size_t)(p) % GPUSCAN_LINE / sizeof(*(p))))\n"
    "GPUSCAN_SORT_LINES(gpuscan_sort_keys, gpuscan_key_bits)\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "GPUSCAN_SORT_LINES(gpuscan_sort_values, gpuscan_sort_value)\n"
    "#endif\n"
    "\n",
    "#if !GPUSCAN_SORT_SMALL\n"
    "/* Several tables, so that equal neighbours do not wait for each other. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_count(GPUSCAN_SORT_COUNT_PARAMETERS) {\n"
    "    enum { TABLES = 4 };\n"
    "    gpuscan_digit digit = GPUSCAN_DIGIT(numbers);\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, (uint)numbers.flags);\n"
    "    ulong part = gpuscan_sort_part(count), i = min(get_group_id(0) * part, count), last = min(i + part, count);\n"
    "    gpuscan_place counts[TABLES][GPUSCAN_RADIX];\n"
    "    keys += numbers.keys_offset;\n"
    "    table += numbers.table_offset + get_group_id(0);\n"
    "    for (uint d = 0; d < GPUSCAN_RADIX; d++)\n"
    "        for (uint t = 0; t < TABLES; t++)\n"
    "            counts[t][d] = 0;\n"
    "    for (; i + TABLES <= last; i += TABLES)\n"
    "        for (uint t = 0; t < TABLES; t++)\n"
    "            counts[t][gpuscan_digit_of(keys[i + t], digit)]++;\n"
    "    for (; i < last; i++)\n"
    "        counts[0][gpuscan_digit_of(keys[i], digit)]++;\n"
    "    for (uint d = 0; d < GPUSCAN_RADIX; d++)\n"
    "        table[d * get_num_groups(0)] = counts[0][d] + counts[1][d] + counts[2][d] + counts[3][d];\n"
    "}\n"
    "\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_scatter(GPUSCAN_SORT_SCATTER_PARAMETERS) {\n"
    "    gpuscan_digit digit = GPUSCAN_DIGIT(numbers);\n"
    "    uint flags = (uint)numbers.flags;\n"
    "    bool stream = flags & GPUSCAN_FLAG_STREAM, has_keys = !(flags & GPUSCAN_FLAG_NO_KEYS);\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    ulong part = gpuscan_sort_part(count), first = min(get_group_id(0) * part, count);\n"
    "    ulong last = min(first + part, count);\n"
    "    if (GPUSCAN_PLANTED(SORT_TAIL) && last > first)\n"
    "        last--;\n"
    "    gpuscan_place begin[GPUSCAN_RADIX], next[GPUSCAN_RADIX];\n"
    "    gpuscan_sort_keys_line lines[GPUSCAN_RADIX];\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "    gpuscan_sort_values_line value_lines[GPUSCAN_RADIX];\n"
    "    bool by_index = flags & GPUSCAN_FLAG_BY_INDEX;\n"
    "    values += numbers.values_offset;\n"
    "    values_dst += numbers.values_dst_offset;\n"
    "    uint values_past = GPUSCAN_SORT_PAST(values_dst);\n"
    "#endif\n"
    "    keys += numbers.keys_offset;\n"
    "    keys_dst += numbers.keys_dst_offset;\n"
    "    table += numbers.table_offset + get_group_id(0);\n"
    "    uint past = GPUSCAN_SORT_PAST(keys_dst);\n"
    "    for (uint d = 0; d < GPUSCAN_RADIX; d++)\n"
    "        begin[d] = next[d] = table[d * get_num_groups(0)];\n"
    "    for (ulong i = first; i < last; i++) {\n"
    "        gpuscan_key_bits key = keys[i];\n"
    "        uint d = gpuscan_digit_of(key, digit);\n"
    "        gpuscan_place p = next[d]++;\n"
    "        if (has_keys)\n"
    "            gpuscan_sort_keys_put(keys_dst, &lines[d], p, begin[d], past, stream, key);\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "        gpuscan_sort_values_put(values_dst, &value_lines[d], p, begin[d], values_past, stream,\n"
    "                                by_index ? (gpuscan_sort_value)i : values[i]);\n"
    "#endif\n"
    "    }\n"
    "    for (uint d = 0; d < GPUSCAN_RADIX; d++) {\n"
    "        if (has_keys)\n"
    "            gpuscan_sort_keys_finish(keys_dst, &lines[d], begin[d], next[d], past);\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "        gpuscan_sort_values_finish(values_dst, &value_lines[d], begin[d], next[d], values_past);\n"
    "#endif\n"
    "    }\n"
    "}\n"
    "\n",
    "#else\n"
    "/* Few elements: all passes by one work-item, which counts all digits in one reading and leaves out the passes that\n"
    "   would move nothing. */\n"
    "\n"
    "/* Of `moves` passes number s writes to dst or to tmp, so that the last writes to dst; where src is dst the first\n"
    "   cannot, and the last may end in tmp. */\n"
    "static inline bool gpuscan_sort_to_dst(bool in_place, uint moves, uint s) {\n"
    "    return in_place ? s % 2 != 0 : (moves - 1 - s) % 2 == 0;\n"
    "}\n"
    "\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_small(GPUSCAN_SORT_SMALL_PARAMETERS) {\n"
    "    uint flags = (uint)numbers.flags, passes = (uint)numbers.passes, width = (uint)numbers.width;\n"
    "    uint begin = (uint)numbers.begin, end = (uint)numbers.end, moves = 0, moved = 0;\n"
    "    uint count = (uint)gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    uint next[sizeof(gpuscan_key_bits)][GPUSCAN_RADIX];\n"
    "    bool moving[sizeof(gpuscan_key_bits)];\n"
    "    gpuscan_digit digit = {(gpuscan_key_code)numbers.flip, 0, 0};\n"
    "    keys += numbers.keys_offset;\n"
    "    keys_dst += numbers.keys_dst_offset;\n"
    "    keys_tmp += numbers.keys_tmp_offset;\n"
    "    bool in_place = keys == keys_dst;\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "    bool by_index = flags & GPUSCAN_FLAG_BY_INDEX;\n"
    "    values += numbers.values_offset;\n"
    "    values_dst += numbers.values_dst_offset;\n"
    "    values_tmp += numbers.values_tmp_offset;\n"
    "    bool values_in_place = values == values_dst && !by_index;\n"
    "#endif\n"
    "    if (count == 0)\n"
    "        return;\n"
    "    for (uint p = 0; p < passes; p++)\n"
    "        for (uint d = 0; d < GPUSCAN_RADIX; d++)\n"
    "            next[p][d] = 0;\n"
    "    for (uint i = 0; i < count; i++) {\n"
    "        gpuscan_key_code code = gpuscan_code_of(keys[i], digit.flip);\n"
    "        for (uint p = 0; p < passes; p++)\n"
    "            next[p][(uint)(code >> (begin + p * width)) & ((1u << min(width, end - begin - p * width)) - 1)]++;\n"
    "    }\n"
    "    for (uint p = 0; p < passes; p++) {\n"
    "        uint place = 0;\n"
    "        moving[p] = true;\n"
    "        for (uint d = 0; d < GPUSCAN_RADIX; d++) {\n"
    "            uint here = next[p][d];\n"
    "            next[p][d] = place;\n"
    "            place += here;\n"
    "            moving[p] &= here != count;\n"
    "        }\n"
    "        moves += moving[p];\n"
    "    }\n"
    "    for (uint p = 0; p < passes; p++) {\n"
    "        if (!moving[p])\n"
    "            continue;\n"
    "        global gpuscan_key_bits *to = gpuscan_sort_to_dst(in_place, moves, moved) ? keys_dst : keys_tmp;\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "        global gpuscan_sort_value *values_to =\n"
    "            gpuscan_sort_to_dst(values_in_place, moves, moved) ? values_dst : values_tmp;\n"
    "#endif\n"
    "        digit.shift = begin + p * width;\n"
    "        digit.mask = (1u << min(width, end - begin - p * width)) - 1;\n"
    "        for (uint i = 0; i < count; i++) {\n"
    "            gpuscan_key_bits key = keys[i];\n"
    "            uint place = next[p][gpuscan_digit_of(key, digit)]++;\n"
    "            to[place] = key;\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "            values_to[place] = by_index ? (gpuscan_sort_value)i : values[i];\n"
    "#endif\n"
    "        }\n"
    "        keys = to;\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "        values = values_to;\n"
    "        by_index = false;\n"
    "#endif\n"
    "        moved++;\n"
    "    }\n"
    "    if (keys != keys_dst && !(flags & GPUSCAN_FLAG_NO_KEYS))\n"
    "        for (uint i = 0; i < count; i++)\n"
    "            keys_dst[i] = keys[i];\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "    if (by_index || values != values_dst)\n"
    "        for (uint i = 0; i < count; i++)\n"
    "            values_dst[i] = by_index ? (gpuscan_sort_value)i : values[i];\n"
    "#endif\n"
    "}\n"
    "#endif\n"
    "#else\n"
    "/* [SORT GROUP] ----------------------------------------------------------------------------------------------------- */\n"
    "\n",
    "/* A tile is sorted by its digit in local memory and stored from there, so that neighbours go to neighbouring places.\n"
    "   Who ranks: a sub-group by ballots, each the elements that follow those of the one before; without lanes the group, by\n"
    "   bits of the elements of a digit that are set in local memory. A ranker's elements lie as they are loaded:\n"
    "\n"
    "       round 0:  ranker 0's lanes: e0 e1 ... | round 1: ... | ranker 1's lanes, round 0: ...                          */\n"
    "#define GPUSCAN_ROUNDS GPUSCAN_ITEM_VECTORS\n"
    "#if GPUSCAN_HAS_LANES\n"
    "#define GPUSCAN_RANKERS     GPUSCAN_SUBGROUPS\n"
    "#define GPUSCAN_RANKER      GPUSCAN_SUBGROUP\n"
    "#define GPUSCAN_RANKER_SIZE GPUSCAN_LANES\n"
    "#define GPUSCAN_RANKER_ITEM GPUSCAN_LANE\n"
    "#else\n"
    "#define GPUSCAN_RANKERS     1u\n"
    "#define GPUSCAN_RANKER      0u\n"
    "#define GPUSCAN_RANKER_SIZE GPUSCAN_GROUP\n"
    "#define GPUSCAN_RANKER_ITEM GPUSCAN_ITEM\n"
    "#endif\n"
    "#define GPUSCAN_RANK_WORDS  ((GPUSCAN_GROUP + 31u) / 32u)\n"
    "#define GPUSCAN_ITEM_DIGITS ((GPUSCAN_RADIX + GPUSCAN_GROUP - 1u) / GPUSCAN_GROUP) /* a work-item keeps count of */\n"
    "\n"
    "/* Keys as a group holds them, so that digits are cheap: an integer's code, rotated until the digit stands where it is\n"
    "   four times itself, an offset in bytes; of a float its code before zeros and NaN became equals. */\n"
    "typedef gpuscan_key_code gpuscan_held;\n"
    "#define GPUSCAN_HELD_BITS (8u * (uint)sizeof(gpuscan_held))\n"
    "\n"
    "typedef struct {\n"
    "    gpuscan_key_code flip;\n"
    "    uint shift, mask; /* in place: of the digit times 4 */\n"
    "    uint rotation;    /* to the left */\n"
    "} gpuscan_held_digit;\n"
    "\n"
    "static inline gpuscan_held_digit gpuscan_digit_held(gpuscan_digit digit) {\n"
    "    gpuscan_held_digit held;\n"
    "    held.flip = digit.flip;\n"
    "    held.shift = digit.shift;\n"
    "    held.mask = digit.mask << 2;\n"
    "    held.rotation = (GPUSCAN_HELD_BITS + 2 - digit.shift) % GPUSCAN_HELD_BITS;\n"
    "    return held;\n"
    "}\n"
    "\n"
    "static inline gpuscan_held gpuscan_hold(gpuscan_key_bits key, gpuscan_held_digit digit) {\n"
    "#if GPUSCAN_KEY_INFINITY\n"
    "    return key ^ ((key & GPUSCAN_KEY_SIGN) ? GPUSCAN_KEY_ONES : GPUSCAN_KEY_SIGN) ^ digit.flip;\n"
    "#else\n"
    "    return rotate((gpuscan_held)key ^ digit.flip, (gpuscan_held)digit.rotation);\n"
    "#endif\n"
    "}\n"
    "\n",
    "static inline gpuscan_key_bits gpuscan_release(gpuscan_held held, gpuscan_held_digit digit) {\n"
    "#if GPUSCAN_KEY_INFINITY\n"
    "    held ^= digit.flip;\n"
    "    return (gpuscan_key_bits)(held ^ ((held & GPUSCAN_KEY_SIGN) ? GPUSCAN_KEY_SIGN : GPUSCAN_KEY_ONES));\n"
    "#else\n"
    "    return (gpuscan_key_bits)(rotate(held, (gpuscan_held)(GPUSCAN_HELD_BITS - digit.rotation)) ^ digit.flip);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* The digit times 4. What is beyond the infinities, on either side, is NaN. */\n"
    "#define GPUSCAN_HELD_LEAST (GPUSCAN_KEY_MAGNITUDE ^ (gpuscan_key_code)GPUSCAN_KEY_INFINITY)\n"
    "#define GPUSCAN_HELD_SPAN  (2 * (gpuscan_key_code)GPUSCAN_KEY_INFINITY + 1)\n"
    "static inline uint gpuscan_held_at(gpuscan_held held, gpuscan_held_digit digit) {\n"
    "#if GPUSCAN_KEY_INFINITY\n"
    "    gpuscan_held code = held == (GPUSCAN_KEY_MAGNITUDE ^ digit.flip) ? held ^ GPUSCAN_KEY_ONES : held;\n"
    "#if !GPUSCAN_PLANTED(SORT_NAN)\n"
    "    code = (gpuscan_held)(held - GPUSCAN_HELD_LEAST) > GPUSCAN_HELD_SPAN ? GPUSCAN_KEY_ONES : code;\n"
    "#endif\n"
    "    return ((uint)(code >> digit.shift) << 2) & digit.mask;\n"
    "#else\n"
    "    return (uint)held & digit.mask;\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* What was computed of it before is forgotten: NVIDIA's compiler would keep the digits of all keys in registers, and\n"
    "   spill. */\n"
    "static inline gpuscan_held gpuscan_held_anew(gpuscan_held held) {\n"
    "#if GPUSCAN_PTX && GPUSCAN_KEY_SIZE == 8\n"
    "    __asm__ volatile(\"\" : \"+l\"(held));\n"
    "#elif GPUSCAN_PTX\n"
    "    __asm__ volatile(\"\" : \"+r\"(held));\n"
    "#endif\n"
    "    return held;\n"
    "}\n"
    "\n"
    "#define GPUSCAN_AT_OFFSET(type, p, offset) (*(local type *)((local uchar *)(p) + (offset)))\n"
    "\n"
    "#if GPUSCAN_PTX\n"
    "#define GPUSCAN_RANK_BATCH 4u /* rounds that are ranked together, so that their latencies overlap */\n"
    "#else\n"
    "#define GPUSCAN_RANK_BATCH 1u\n"
    "#endif\n"
    "\n"
    "/* NVIDIA, keys alone: peers are found by masks, but in tiles where a digit has more than eight times its share. With\n"
    "   values the masks gain nothing. */\n"
    "#define GPUSCAN_RANK_MASKS (GPUSCAN_PTX && GPUSCAN_DIGIT_BITS == 8 && !GPUSCAN_SORT_VALUES)\n"
    "#define GPUSCAN_MASKED_BITS 5 /* log2(LANES) */\n"
    "#define GPUSCAN_SKEWED      (8 * GPUSCAN_TILE / GPUSCAN_RADIX)\n"
    "\n",
    "typedef struct {\n"
    "    gpuscan_place to[GPUSCAN_RADIX]; /* where a digit's elements go, less the place of its first in the tile */\n"
    "    union {                          /* of the tile, in its order */\n"
    "        gpuscan_held key[GPUSCAN_TILE];\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "        gpuscan_sort_value value[GPUSCAN_TILE];\n"
    "#endif\n"
    "    } exchange;\n"
    "    uint next[GPUSCAN_RANKERS * GPUSCAN_RADIX]; /* counts; then places in the tile */\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    uint sums[GPUSCAN_SUBGROUPS];\n"
    "    uint others[GPUSCAN_LANES]; /* what lanes add to that do not add for their peers: cheaper than a branch */\n"
    "#else\n"
    "    uint sums[2 * GPUSCAN_GROUP];\n"
    "    uint bits[GPUSCAN_RADIX * GPUSCAN_RANK_WORDS]; /* 0 between rounds */\n"
    "#endif\n"
    "#if GPUSCAN_LANES_KIND == GPUSCAN_LANES_LOCAL\n"
    "    uint lanes[GPUSCAN_GROUP];\n"
    "#endif\n"
    "#if GPUSCAN_RANK_MASKS\n"
    "    uint masks[GPUSCAN_GROUP]; /* a lane's for each value of the lower bits; 0 between rounds */\n"
    "    uint skew;                 /* elements of a digit that has too many, or 0 */\n"
    "#endif\n"
    "    uint ticket, late; /* one pass: see [SORT SWEEP] */\n"
    "} gpuscan_sort_shared;\n"
    "\n"
    "/* Exclusive, over the work-items that have digits. */\n"
    "GPUSCAN_INLINE uint gpuscan_sort_before(uint x, local gpuscan_sort_shared *shared) {\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    uint sum = x, before;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint d = 1; d < GPUSCAN_LANES; d *= 2) {\n"
    "        uint left = gpuscan_uint_up(sum, d, GPUSCAN_LANES_MEMORY);\n"
    "        if (GPUSCAN_LANE >= d)\n"
    "            sum += left;\n"
    "    }\n"
    "    before = sum - x;\n"
    "    if (GPUSCAN_LANE == GPUSCAN_LANES - 1)\n"
    "        shared->sums[GPUSCAN_SUBGROUP] = sum;\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (uint s = 0; s < GPUSCAN_SUBGROUPS; s++) /* all: PoCL 3.1 gets a loop wrong whose length differs among items */\n"
    "        before += s < GPUSCAN_SUBGROUP ? shared->sums[s] : 0;\n"
    "    return before;\n"
    "#else\n"
    "    uint at = GPUSCAN_ITEM, sum = x;\n"
    "    shared->sums[at] = x;\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (uint d = 1; d < min(GPUSCAN_RADIX, (uint)GPUSCAN_GROUP); d *= 2) {\n"
    "        if (GPUSCAN_ITEM >= d)\n"
    "            sum += shared->sums[at - d];\n"
    "        at = at < GPUSCAN_GROUP ? at + GPUSCAN_GROUP : at - GPUSCAN_GROUP;\n"
    "        shared->sums[at] = sum;\n"
    "        GPUSCAN_BARRIER();\n"
    "    }\n"
    "    return sum - x;\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* Where round k's element of a work-item stands in the tile. */\n"
    "static inline uint gpuscan_sort_at(uint k) {\n"
    "    return (GPUSCAN_RANKER * GPUSCAN_ROUNDS + k) * GPUSCAN_RANKER_SIZE + GPUSCAN_RANKER_ITEM;\n"
    "}\n"
    "\n"
    "/* In place of what is missing at the end: of the last digit, so that it stands behind all others. It is not stored. */\n"
    "#define GPUSCAN_HELD_LAST ((gpuscan_held)GPUSCAN_KEY_ONES | (gpuscan_held)~(gpuscan_held)0 * !GPUSCAN_KEY_INFINITY)\n"
    "\n"
    "/* Whether a tile is whole, for loops that then need no comparison an element. Elsewhere there is one loop for both.\n"
    "   (Two loops that load keys spill.) */\n"
    "#define GPUSCAN_IS_WHOLE(valid) (GPUSCAN_PTX && (valid) == GPUSCAN_TILE)\n"
    "\n"
    "GPUSCAN_INLINE void gpuscan_sort_load(gpuscan_held *tile, global const gpuscan_key_bits *keys, uint valid,\n"
    "                                      gpuscan_held_digit digit) {\n"
    "    gpuscan_key_bits loaded[GPUSCAN_ROUNDS];\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "        loaded[k] = gpuscan_sort_at(k) < valid ? keys[gpuscan_sort_at(k)] : 0;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "        tile[k] = gpuscan_sort_at(k) < valid ? gpuscan_hold(loaded[k], digit) : GPUSCAN_HELD_LAST;\n"
    "}\n"
    "\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "/* The tile's values; or where they are indices, the first of which is index, those. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_load_values(gpuscan_sort_value *tile, global const gpuscan_sort_value *values,\n"
    "                                             ulong index, uint valid, uint flags) {\n"
    "    if (flags & GPUSCAN_FLAG_BY_INDEX) {\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "            tile[k] = (gpuscan_sort_value)index + gpuscan_sort_at(k);\n"
    "    } else if (GPUSCAN_IS_WHOLE(valid)) {\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "            tile[k] = values[gpuscan_sort_at(k)];\n"
    "    } else {\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "            tile[k] = gpuscan_sort_at(k) < valid ? values[gpuscan_sort_at(k)] : 0;\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* For the digits of a work-item: how many the tile has. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_tally(const gpuscan_held *tile, gpuscan_held_digit digit, uint *totals,\n"
    "                                       local gpuscan_sort_shared *shared) {\n"
    "#if GPUSCAN_RANK_MASKS\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        shared->skew = 0;\n"
    "#endif\n"
    "    for (uint i = GPUSCAN_ITEM; i < GPUSCAN_RANKERS * GPUSCAN_RADIX; i += GPUSCAN_GROUP)\n"
    "        shared->next[i] = 0;\n"
    "    GPUSCAN_BARRIER();\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "        atomic_inc(&GPUSCAN_AT_OFFSET(volatile uint, shared->next + GPUSCAN_RANKER * GPUSCAN_RADIX,\n"
    "                                      gpuscan_held_at(tile[k], digit)));\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "        uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "        totals[e] = 0;\n"
    "        for (uint r = 0; r < GPUSCAN_RANKERS && d < GPUSCAN_RADIX; r++)\n"
    "            totals[e] += shared->next[r * GPUSCAN_RADIX + d];\n"
    "#if GPUSCAN_RANK_MASKS\n"
    "        if (totals[e] > GPUSCAN_SKEWED)\n"
    "            shared->skew = totals[e];\n"
    "#endif\n"
    "    }\n"
    "}\n"
    "\n",
    "/* And where the first of each goes in the tile. For each ranker's digits that is left in shared->next. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_start(const uint *totals, uint *starts, local gpuscan_sort_shared *shared) {\n"
    "    uint sum = 0, before;\n"
    "    for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++)\n"
    "        sum += totals[e];\n"
    "    before = gpuscan_sort_before(sum, shared);\n"
    "    for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "        uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "        starts[e] = before;\n"
    "        for (uint r = 0; r < GPUSCAN_RANKERS && d < GPUSCAN_RADIX; r++) {\n"
    "            uint here = shared->next[r * GPUSCAN_RADIX + d];\n"
    "            shared->next[r * GPUSCAN_RADIX + d] = before;\n"
    "            before += here;\n"
    "        }\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "}\n"
    "\n"
    "#if GPUSCAN_HAS_LANES\n"
    "/* The lanes with the same digit; d: times 4. masked: of its lower bits by masks in local memory, which is faster where\n"
    "   few lanes meet in one. */\n"
    "GPUSCAN_INLINE gpuscan_ballot_t gpuscan_sort_peers(uint d, bool masked, local gpuscan_sort_shared *shared) {\n"
    "    gpuscan_ballot_t peers = GPUSCAN_BALLOT_ALL;\n"
    "    uint b = 0;\n"
    "#if GPUSCAN_RANK_MASKS\n"
    "    if (masked) {\n"
    "        local uint *masks = shared->masks + GPUSCAN_SUBGROUP * GPUSCAN_LANES;\n"
    "        volatile local uint *mask = &GPUSCAN_AT_OFFSET(volatile uint, masks, d & 4 * (GPUSCAN_LANES - 1));\n"
    "        atomic_or(mask, 1u << GPUSCAN_LANE);\n"
    "        GPUSCAN_LANES_SYNC();\n"
    "        peers = *mask;\n"
    "        GPUSCAN_LANES_SYNC();\n"
    "        masks[GPUSCAN_LANE] = 0;\n"
    "        GPUSCAN_LANES_SYNC();\n"
    "        b = GPUSCAN_MASKED_BITS;\n"
    "    }\n"
    "#endif\n"
    "GPUSCAN_UNROLL\n"
    "    for (; b < GPUSCAN_DIGIT_BITS; b++) {\n"
    "        uint bit = d & (4u << b);\n"
    "        gpuscan_ballot_t lanes = gpuscan_ballot((int)bit);\n"
    "        peers &= bit ? lanes : ~lanes;\n"
    "    }\n"
    "    return peers;\n"
    "}\n"
    "#endif\n"
    "\n"
    "#if GPUSCAN_HAS_LANES\n"
    "/* Of some rounds' elements, whose digits these are, times 4: the places in the tile. The lowest lane of peers draws\n"
    "   their places for all of them; rounds draw in order. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_rank(const uint *digits, bool masked, uint *places,\n"
    "                                      local gpuscan_sort_shared *shared) {\n"
    "    uint below[GPUSCAN_RANK_BATCH], lowest[GPUSCAN_RANK_BATCH], first[GPUSCAN_RANK_BATCH];\n"
    "    local uint *next = shared->next + GPUSCAN_RANKER * GPUSCAN_RADIX;\n"
    "    local uint *other = shared->others + GPUSCAN_LANE; /* anything */\n"
    "    uint all[GPUSCAN_RANK_BATCH];\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint b = 0; b < GPUSCAN_RANK_BATCH; b++) {\n"
    "        gpuscan_ballot_t peers = gpuscan_sort_peers(digits[b], masked, shared);\n"
    "        gpuscan_ballot_t before = peers & (GPUSCAN_BALLOT_UP_TO(GPUSCAN_LANE) >> 1);\n"
    "        if (GPUSCAN_PLANTED(SORT_ORDER))\n"
    "            before = peers & ~GPUSCAN_BALLOT_UP_TO(GPUSCAN_LANE);\n"
    "        below[b] = (uint)popcount(before);\n"
    "        all[b] = (uint)popcount(peers);\n"
    "        lowest[b] = gpuscan_lowest(peers);\n"
    "    }\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint b = 0; b < GPUSCAN_RANK_BATCH; b++)\n"
    "        first[b] = atomic_add(\n"
    "            (volatile local uint *)(lowest[b] == GPUSCAN_LANE ? &GPUSCAN_AT_OFFSET(uint, next, digits[b]) : other),\n"
    "            all[b]);\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint b = 0; b < GPUSCAN_RANK_BATCH; b++)\n"
    "        places[b] = gpuscan_lane_at(first[b], lowest[b]) + below[b];\n"
    "}\n"
    "#else\n"
    "/* The place in the tile of a round's element. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_rank(const uint *digits, bool masked, uint *places,\n"
    "                                      local gpuscan_sort_shared *shared) {\n"
    "    uint d = digits[0] / 4;\n"
    "    local uint *bits = shared->bits + d * GPUSCAN_RANK_WORDS;\n"
    "    uint word = GPUSCAN_ITEM / 32u, bit = GPUSCAN_ITEM % 32u, place = shared->next[d], after = 0;\n"
    "    atomic_or((volatile local uint *)bits + word, 1u << bit);\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (uint w = 0; w < GPUSCAN_RANK_WORDS; w++) {\n"
    "        uint of_word = bits[w];\n"
    "        if (GPUSCAN_PLANTED(SORT_ORDER))\n"
    "            place += popcount(w < word ? 0u : w == word ? of_word >> bit >> 1 : of_word);\n"
    "        else\n"
    "            place += popcount(w < word ? of_word : w == word ? of_word & ((1u << bit) - 1u) : 0u);\n",
    "        after |= w < word ? 0u : w == word ? of_word >> bit >> 1 : of_word;\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "    if (after == 0) { /* the last of its digit */\n"
    "        shared->next[d] = place + 1;\n"
    "        for (uint w = 0; w < GPUSCAN_RANK_WORDS; w++)\n"
    "            bits[w] = 0;\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "    places[0] = place;\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* Small numbers of rounds, several a word: in a word each they would fill the registers. */\n"
    "#define GPUSCAN_PACKED_WORDS(bits) ((GPUSCAN_ROUNDS * (bits) + 31) / 32)\n"
    "static inline void gpuscan_put_packed(uint *words, uint k, uint bits, uint x) {\n"
    "    uint shift = k * bits % 32;\n"
    "    words[k * bits / 32] = shift == 0 ? x : words[k * bits / 32] | x << shift;\n"
    "}\n"
    "static inline uint gpuscan_packed_at(const uint *words, uint k, uint bits) {\n"
    "    return words[k * bits / 32] >> k * bits % 32 & ((1u << bits) - 1u);\n"
    "}\n"
    "#define GPUSCAN_PLACE_BITS 16u /* of a place in a tile */\n"
    "\n"
    "/* Brings the keys into the tile's order; places, packed: where each went. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_exchange_by(const gpuscan_held *tile, bool masked, gpuscan_held_digit digit,\n"
    "                                             uint *places, local gpuscan_sort_shared *shared) {\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ROUNDS; k += GPUSCAN_RANK_BATCH) {\n"
    "        uint digits[GPUSCAN_RANK_BATCH], here[GPUSCAN_RANK_BATCH];\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint b = 0; b < GPUSCAN_RANK_BATCH; b++)\n"
    "            digits[b] = gpuscan_held_at(gpuscan_held_anew(tile[k + b]), digit);\n"
    "        gpuscan_sort_rank(digits, masked, here, shared);\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint b = 0; b < GPUSCAN_RANK_BATCH; b++) {\n"
    "            shared->exchange.key[here[b]] = tile[k + b];\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "            gpuscan_put_packed(places, k + b, GPUSCAN_PLACE_BITS, here[b]);\n"
    "#endif\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n"
    "GPUSCAN_INLINE void gpuscan_sort_exchange(const gpuscan_held *tile, gpuscan_held_digit digit, uint *places,\n"
    "                                          local gpuscan_sort_shared *shared) {\n"
    "#if GPUSCAN_RANK_MASKS\n"
    "    uint skew = shared->skew;\n"
    "    if (skew == 0)\n"
    "        gpuscan_sort_exchange_by(tile, true, digit, places, shared);\n"
    "    else if (skew < GPUSCAN_TILE)\n"
    "        gpuscan_sort_exchange_by(tile, false, digit, places, shared);\n"
    "    else /* all of one digit: in order already */\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "            shared->exchange.key[gpuscan_sort_at(k)] = tile[k];\n"
    "#else\n"
    "    gpuscan_sort_exchange_by(tile, false, digit, places, shared);\n"
    "#endif\n"
    "    GPUSCAN_BARRIER();\n"
    "}\n"
    "\n",
    "/* Stores the tile's keys, whole: all; digits, packed: what each had. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_store_keys(global gpuscan_key_bits *keys_dst, bool whole, uint valid,\n"
    "                                            gpuscan_held_digit digit, uint *digits,\n"
    "                                            local gpuscan_sort_shared *shared) {\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ROUNDS; k++) {\n"
    "        uint at = k * GPUSCAN_GROUP + GPUSCAN_ITEM;\n"
    "        if (whole || at < valid) {\n"
    "            gpuscan_held held = shared->exchange.key[at];\n"
    "            uint d = gpuscan_held_at(held, digit);\n"
    "            keys_dst[shared->to[d / 4] + at] = gpuscan_release(held, digit);\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "            gpuscan_put_packed(digits, k, GPUSCAN_DIGIT_BITS, d / 4);\n"
    "#endif\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "GPUSCAN_INLINE void gpuscan_sort_store_values(global gpuscan_sort_value *values_dst, bool whole, uint valid,\n"
    "                                              const uint *digits, local gpuscan_sort_shared *shared) {\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ROUNDS; k++) {\n"
    "        uint at = k * GPUSCAN_GROUP + GPUSCAN_ITEM;\n"
    "        if (whole || at < valid)\n"
    "            values_dst[shared->to[gpuscan_packed_at(digits, k, GPUSCAN_DIGIT_BITS)] + at] =\n"
    "                shared->exchange.value[at];\n"
    "    }\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* Stores the tile's keys, and then its values, which take the same way. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_store(global gpuscan_key_bits *keys_dst, global const gpuscan_sort_value *values,\n"
    "                                       ulong index, global gpuscan_sort_value *values_dst, uint valid,\n"
    "                                       gpuscan_held_digit digit, uint flags, const uint *places,\n"
    "                                       local gpuscan_sort_shared *shared) {\n"
    "    uint digits[GPUSCAN_PACKED_WORDS(GPUSCAN_DIGIT_BITS)];\n"
    "    if (GPUSCAN_PLANTED(SORT_TAIL))\n"
    "        valid--;\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "    gpuscan_sort_value tile[GPUSCAN_ROUNDS];\n"
    "    gpuscan_sort_load_values(tile, values, index, valid, flags);\n"
    "#endif\n"
    "    if (GPUSCAN_IS_WHOLE(valid))\n"
    "        gpuscan_sort_store_keys(keys_dst, true, valid, digit, digits, shared);\n"
    "    else\n"
    "        gpuscan_sort_store_keys(keys_dst, false, valid, digit, digits, shared);\n"
    "    GPUSCAN_BARRIER();\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "        shared->exchange.value[gpuscan_packed_at(places, k, GPUSCAN_PLACE_BITS)] = tile[k];\n"
    "    GPUSCAN_BARRIER();\n"
    "    if (GPUSCAN_IS_WHOLE(valid))\n"
    "        gpuscan_sort_store_values(values_dst, true, valid, digits, shared);\n"
    "    else\n"
    "        gpuscan_sort_store_values(values_dst, false, valid, digits, shared);\n"
    "    GPUSCAN_BARRIER();\n"
    "#endif\n"
    "}\n"
    "\n",
    "/* What must be there before the first tile. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_begin(local gpuscan_sort_shared *shared) {\n"
    "#if GPUSCAN_HAS_LANES\n"
    "    if (GPUSCAN_SUBGROUP == 0)\n"
    "        shared->others[GPUSCAN_LANE] = 0;\n"
    "#if GPUSCAN_RANK_MASKS\n"
    "    shared->masks[GPUSCAN_ITEM] = 0;\n"
    "#endif\n"
    "#else\n"
    "    for (uint i = GPUSCAN_ITEM; i < GPUSCAN_RADIX * GPUSCAN_RANK_WORDS; i += GPUSCAN_GROUP)\n"
    "        shared->bits[i] = 0;\n"
    "#endif\n"
    "}\n"
    "\n"
    "#if GPUSCAN_SORT_SMALL\n"
    "/* No more elements than a tile has: all passes in one group's local memory. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_small(GPUSCAN_SORT_SMALL_PARAMETERS,\n"
    "                                                       local gpuscan_sort_shared *shared) {\n"
    "    uint flags = (uint)numbers.flags, passes = (uint)numbers.passes, width = (uint)numbers.width;\n"
    "    uint begin = (uint)numbers.begin, end = (uint)numbers.end;\n"
    "    uint valid = (uint)gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    uint totals[GPUSCAN_ITEM_DIGITS], starts[GPUSCAN_ITEM_DIGITS];\n"
    "    uint places[GPUSCAN_PACKED_WORDS(GPUSCAN_PLACE_BITS)];\n"
    "    gpuscan_held tile[GPUSCAN_ROUNDS];\n"
    "    gpuscan_digit plain = {(gpuscan_key_code)numbers.flip, begin, (1u << min(width, end - begin)) - 1};\n"
    "    gpuscan_held_digit digit = gpuscan_digit_held(plain);\n"
    "    gpuscan_sort_begin(shared);\n"
    "    gpuscan_sort_load(tile, keys + numbers.keys_offset, valid, digit);\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "    gpuscan_sort_value tile_values[GPUSCAN_ROUNDS];\n"
    "    gpuscan_sort_load_values(tile_values, values + numbers.values_offset, 0, valid, flags);\n"
    "#endif\n"
    "    for (uint p = 0; p < passes; p++) {\n"
    "        if (p > 0) {\n"
    "            gpuscan_held_digit before = digit;\n"
    "            plain.shift += width;\n"
    "            plain.mask = (1u << min(width, end - plain.shift)) - 1;\n"
    "            digit = gpuscan_digit_held(plain);\n"
    "GPUSCAN_UNROLL\n"
    "            for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "                tile[k] = gpuscan_sort_at(k) < valid ? gpuscan_hold(gpuscan_release(tile[k], before), digit)\n"
    "                                                     : GPUSCAN_HELD_LAST;\n"
    "        }\n"
    "        gpuscan_sort_tally(tile, digit, totals, shared);\n"
    "        gpuscan_sort_start(totals, starts, shared);\n"
    "        gpuscan_sort_exchange(tile, digit, places, shared);\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "            tile[k] = shared->exchange.key[gpuscan_sort_at(k)];\n"
    "        GPUSCAN_BARRIER();\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "            shared->exchange.value[gpuscan_packed_at(places, k, GPUSCAN_PLACE_BITS)] = tile_values[k];\n"
    "        GPUSCAN_BARRIER();\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_ROUNDS; k++)\n"
    "            tile_values[k] = shared->exchange.value[gpuscan_sort_at(k)];\n"
    "        GPUSCAN_BARRIER();\n"
    "#endif\n"
    "    }\n"
    "    keys_dst += numbers.keys_dst_offset;\n"
    "    values_dst += numbers.values_dst_offset;\n"
    "GPUSCAN_UNROLL\n"
    "    for (uint k = 0; k < GPUSCAN_ROUNDS; k++) {\n"
    "        uint at = gpuscan_sort_at(k);\n"
    "        if (at < valid && !(flags & GPUSCAN_FLAG_NO_KEYS))\n"
    "            keys_dst[at] = gpuscan_release(tile[k], digit);\n"
    "#if GPUSCAN_SORT_VALUES\n"
    "        if (at < valid)\n"
    "            values_dst[at] = tile_values[k];\n"
    "#endif\n"
    "    }\n"
    "}\n"
    "#elif !GPUSCAN_SORT_SINGLE_PASS\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_count(GPUSCAN_SORT_COUNT_PARAMETERS, local uint *counts) {\n"
    "    gpuscan_digit digit = GPUSCAN_DIGIT(numbers);\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, (uint)numbers.flags);\n"
    "    ulong part = gpuscan_sort_part(count), first = min(get_group_id(0) * part, count);\n"
    "    ulong last = min(first + part, count);\n"
    "    keys += numbers.keys_offset;\n"
    "    table += numbers.table_offset + get_group_id(0);\n"
    "    for (uint d = GPUSCAN_ITEM; d < GPUSCAN_RADIX; d += GPUSCAN_GROUP)\n"
    "        counts[d] = 0;\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (ulong i = first + GPUSCAN_ITEM; i < last; i += GPUSCAN_GROUP)\n"
    "        atomic_inc((volatile local uint *)counts + gpuscan_digit_of(keys[i], digit));\n"
    "    GPUSCAN_BARRIER();\n",
    "    for (uint d = GPUSCAN_ITEM; d < GPUSCAN_RADIX; d += GPUSCAN_GROUP)\n"
    "        table[d * get_num_groups(0)] = counts[d];\n"
    "}\n"
    "\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_scatter(GPUSCAN_SORT_SCATTER_PARAMETERS,\n"
    "                                                         local gpuscan_sort_shared *shared) {\n"
    "    gpuscan_digit plain = GPUSCAN_DIGIT(numbers);\n"
    "    gpuscan_held_digit digit = gpuscan_digit_held(plain);\n"
    "    uint flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    ulong part = gpuscan_sort_part(count), first = min(get_group_id(0) * part, count);\n"
    "    ulong last = min(first + part, count);\n"
    "    gpuscan_place next[GPUSCAN_ITEM_DIGITS];\n"
    "    keys += numbers.keys_offset;\n"
    "    keys_dst += numbers.keys_dst_offset;\n"
    "    values += numbers.values_offset;\n"
    "    values_dst += numbers.values_dst_offset;\n"
    "    table += numbers.table_offset + get_group_id(0);\n"
    "    for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "        uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "        next[e] = d < GPUSCAN_RADIX ? table[d * get_num_groups(0)] : 0;\n"
    "    }\n"
    "    gpuscan_sort_begin(shared);\n"
    "    for (; first < last; first += GPUSCAN_TILE) {\n"
    "        uint valid = (uint)min(last - first, (ulong)GPUSCAN_TILE);\n"
    "        gpuscan_held tile[GPUSCAN_ROUNDS];\n"
    "        uint totals[GPUSCAN_ITEM_DIGITS], starts[GPUSCAN_ITEM_DIGITS];\n"
    "        uint places[GPUSCAN_PACKED_WORDS(GPUSCAN_PLACE_BITS)];\n"
    "        gpuscan_sort_load(tile, keys + first, valid, digit);\n"
    "        gpuscan_sort_tally(tile, digit, totals, shared);\n"
    "        gpuscan_sort_start(totals, starts, shared);\n"
    "        for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "            uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "            if (d < GPUSCAN_RADIX)\n"
    "                shared->to[d] = next[e] - starts[e];\n"
    "            next[e] += totals[e];\n"
    "        }\n"
    "        gpuscan_sort_exchange(tile, digit, places, shared);\n"
    "        gpuscan_sort_store(keys_dst, values + first, first, values_dst, valid, digit, flags, places, shared);\n"
    "    }\n"
    "}\n"
    "#else\n"
    "/* [SORT SWEEP] ----------------------------------------------------------------------------------------------------- */\n"
    "\n",
    "/* Where groups make progress beside each other: one launch counts all digits of the codes, which passes do not change,\n"
    "   and then each pass is one launch, whose tiles look back at each other's counts, digit by digit. Adinets and Merrill,\n"
    "   \"Onesweep: a faster least significant digit radix sort for GPUs\", 2022. A tile publishes its counts before it ranks\n"
    "   its elements, and looks back after that.\n"
    "\n"
    "   A state word holds a flag in its upper two bits and a count or place below, so a reader sees both or neither, and\n"
    "   nothing else is handed from group to group. Each pass clears the words of the next. A place is one among all\n"
    "   elements, since the first tile begins with the counts of all. Who waits too long for a tile counts its digits itself:\n"
    "   a pass does not overwrite what it reads. */\n"
    "#define GPUSCAN_SORT_AGGREGATE 0x40000000u\n"
    "#define GPUSCAN_SORT_PREFIX    0x80000000u\n"
    "#define GPUSCAN_SORT_STATE     0x3fffffffu /* the count */\n"
    "#define GPUSCAN_SORT_WINDOW    4           /* states that are loaded at once */\n"
    "\n"
    "#ifndef GPUSCAN_TEST_SILENT /* as in [STATE WORDS] */\n"
    "#define GPUSCAN_TEST_SILENT(tile) false\n"
    "#define GPUSCAN_TEST_DELAY(tile)\n"
    "#endif\n"
    "\n"
    "static inline uint gpuscan_sort_observe(global uint *state) {\n"
    "#if GPUSCAN_PTX\n"
    "    uint word;\n"
    "    __asm__ volatile(\"ld.relaxed.gpu.global.u32 %0, [%1];\" : \"=r\"(word) : \"l\"(state) : \"memory\");\n"
    "    return word;\n"
    "#else\n"
    "    return atomic_or((volatile global uint *)state, 0u); /* OpenCL 1.2 has no atomic load */\n"
    "#endif\n"
    "}\n"
    "\n"
    "static inline void gpuscan_sort_publish(global uint *state, uint tile, uint word) {\n"
    "    if (GPUSCAN_TEST_SILENT(tile))\n"
    "        return;\n"
    "#if GPUSCAN_PTX\n"
    "    __asm__ volatile(\"st.relaxed.gpu.global.u32 [%0], %1;\" ::\"l\"(state), \"r\"(word) : \"memory\");\n"
    "#else\n"
    "    atomic_xchg((volatile global uint *)state, word);\n"
    "#endif\n"
    "}\n"
    "\n"
    "/* How a work-item looks back at a digit: the tiles from next on, down, are still to be added to prefix. */\n"
    "typedef struct {\n"
    "    uint prefix, next;\n"
    "    bool done;\n"
    "} gpuscan_sort_back;\n"
    "\n"
    "/* Until the prefix is there, or a tile is late. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_look_back(gpuscan_sort_back *back, global uint *states, uint d) {\n"
    "    uint polls = 0;\n"
    "    while (!back->done && polls < GPUSCAN_POLLS) {\n"
    "        uint words[GPUSCAN_SORT_WINDOW];\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint w = 0; w < GPUSCAN_SORT_WINDOW; w++)\n"
    "            words[w] = w > back->next\n"
    "                           ? 0\n"
    "                           : gpuscan_sort_observe(states + (ulong)(back->next - w) * GPUSCAN_RADIX + d);\n"
    "        uint seen = 0;\n"
    "        bool goes_on = true;\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint w = 0; w < GPUSCAN_SORT_WINDOW; w++) {\n"
    "            goes_on = goes_on && words[w] != 0;\n"
    "            if (goes_on) {\n"
    "                back->prefix += words[w] & GPUSCAN_SORT_STATE;\n"
    "                back->done = words[w] & GPUSCAN_SORT_PREFIX;\n"
    "                goes_on = !back->done;\n"
    "                seen++;\n"
    "            }\n"
    "        }\n"
    "        polls = seen ? 0 : polls + 1;\n"
    "        back->next -= back->done ? 0 : seen; /* the first tile has a prefix */\n"
    "    }\n"
    "}\n"
    "\n",
    "typedef struct {\n"
    "    GPUSCAN_SORT_HISTOGRAM_NUMBERS\n"
    "} gpuscan_sort_histogram_numbers;\n"
    "\n"
    "/* Counts the digits of all passes, in halves of words: the host gives no group more. The last group makes bases of the\n"
    "   counts, the places of the digits' first elements, and leaves the counts 0 as they were. */\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_histogram(global const gpuscan_key_bits *keys, global uint *states,\n"
    "                                                           global uint *zeros, global const uint *count_buffer,\n"
    "                                                           gpuscan_sort_histogram_numbers numbers,\n"
    "                                                           local gpuscan_sort_shared *shared) {\n"
    "    local uint *counts = (local uint *)shared; /* more than it has */\n"
    "    uint flags = (uint)numbers.flags, passes = (uint)numbers.passes, width = (uint)numbers.width;\n"
    "    uint begin = (uint)numbers.begin, end = (uint)numbers.end, copy = GPUSCAN_ITEM % GPUSCAN_SORT_COPIES;\n"
    "    uint last_mask = (1u << (end - begin - (passes - 1) * width)) - 1;\n"
    "    gpuscan_key_code flip = (gpuscan_key_code)numbers.flip;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    ulong tiles = (count + GPUSCAN_TILE - 1) / GPUSCAN_TILE, stride = get_global_size(0), i = get_global_id(0);\n"
    "    global uint *bases = states + numbers.bases_offset;\n"
    "    keys += numbers.keys_offset;\n"
    "    states += numbers.states_offset;\n"
    "    zeros += numbers.zeros_offset;\n"
    "    for (uint c = GPUSCAN_ITEM; c < passes * GPUSCAN_RADIX / 2 * GPUSCAN_SORT_COPIES; c += GPUSCAN_GROUP)\n"
    "        counts[c] = 0;\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (ulong s = i; s < tiles * GPUSCAN_RADIX; s += stride)\n"
    "        states[s] = 0;\n"
    "    while (i < count) {\n"
    "        gpuscan_key_bits loaded[GPUSCAN_SORT_LOADS];\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_SORT_LOADS; k++)\n"
    "            loaded[k] = i + k * stride < count ? keys[i + k * stride] : 0;\n"
    "GPUSCAN_UNROLL\n"
    "        for (uint k = 0; k < GPUSCAN_SORT_LOADS; k++)\n"
    "            if (i + k * stride < count) {\n"
    "                gpuscan_key_code code = gpuscan_code_of(loaded[k], flip) >> begin;\n"
    "                for (uint p = 0; p < passes; p++) {\n"
    "                    uint d = p * GPUSCAN_RADIX + ((uint)code & (p == passes - 1 ? last_mask : (1u << width) - 1));\n"
    "                    atomic_add((volatile local uint *)counts + d / 2 * GPUSCAN_SORT_COPIES + copy,\n"
    "                               1u + d % 2 * 0xffffu);\n"
    "                    code >>= width;\n"
    "                }\n"
    "            }\n"
    "        i += GPUSCAN_SORT_LOADS * stride;\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "    for (uint c = GPUSCAN_ITEM; c < passes * GPUSCAN_RADIX; c += GPUSCAN_GROUP) {\n"
    "        uint sum = 0;\n"
    "        for (uint k = 0; k < GPUSCAN_SORT_COPIES; k++)\n"
    "            sum += counts[c / 2 * GPUSCAN_SORT_COPIES + (k + GPUSCAN_ITEM) % GPUSCAN_SORT_COPIES] >> c % 2 * 16 &\n"
    "                   0xffffu;\n"
    "        if (sum)\n"
    "            atomic_add((volatile global uint *)zeros + c, sum);\n"
    "    }\n"
    "    gpuscan_device_fence();\n"
    "    GPUSCAN_BARRIER();\n"
    "    if (gpuscan_ticket(GPUSCAN_COUNTERS(zeros), (uint)get_num_groups(0), &shared->ticket) != get_num_groups(0) - 1)\n"
    "        return;\n"
    "    gpuscan_device_fence();\n"
    "    for (uint p = 0; p < passes; p++) {\n"
    "        uint digits[GPUSCAN_ITEM_DIGITS], sum = 0, before;\n"
    "        for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "            uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "            digits[e] = d < GPUSCAN_RADIX ? atomic_xchg((volatile global uint *)zeros + p * GPUSCAN_RADIX + d, 0u) : 0;\n"
    "            sum += digits[e];\n"
    "        }\n"
    "        before = gpuscan_sort_before(sum, shared);\n"
    "        for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "            uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "            if (d < GPUSCAN_RADIX)\n"
    "                bases[p * GPUSCAN_RADIX + d] = before;\n"
    "            before += digits[e];\n"
    "        }\n"
    "        GPUSCAN_BARRIER();\n"
    "    }\n"
    "}\n"
    "\n",
    "typedef struct {\n"
    "    GPUSCAN_SORT_SWEEP_NUMBERS\n"
    "} gpuscan_sort_sweep_numbers;\n"
    "\n"
    "/* Asks for a tile's keys and values ahead. */\n"
    "GPUSCAN_INLINE void gpuscan_sort_prefetch(global const uchar *tile) {\n"
    "#if GPUSCAN_PTX\n"
    "    if (GPUSCAN_LANE == 0 && ((size_t)tile & 15) == 0)\n"
    "        __asm__ volatile(\"cp.async.bulk.prefetch.L2.global [%0], %1;\" ::\"l\"(tile), \"r\"(GPUSCAN_SORT_RANKER_BYTES)\n"
    "                         : \"memory\");\n"
    "#endif\n"
    "}\n"
    "\n"
    "kernel GPUSCAN_GROUP_ATTRIBUTE void gpuscan_sort_sweep(global const gpuscan_key_bits *keys,\n"
    "                                                       global gpuscan_key_bits *keys_dst,\n"
    "                                                       global const gpuscan_sort_value *values,\n"
    "                                                       global gpuscan_sort_value *values_dst, global uint *states,\n"
    "                                                       global uint *zeros, global const uint *count_buffer,\n"
    "                                                       gpuscan_sort_sweep_numbers numbers,\n"
    "                                                       local gpuscan_sort_shared *shared) {\n"
    "    gpuscan_digit plain = GPUSCAN_DIGIT(numbers);\n"
    "    gpuscan_held_digit digit = gpuscan_digit_held(plain);\n"
    "    uint flags = (uint)numbers.flags;\n"
    "    ulong count = gpuscan_count(numbers.count, count_buffer, numbers.count_offset, flags);\n"
    "    uint tile = gpuscan_ticket(GPUSCAN_COUNTERS(zeros + numbers.zeros_offset), (uint)get_num_groups(0),\n"
    "                               &shared->ticket);\n"
    "    ulong first = (ulong)tile * GPUSCAN_TILE;\n"
    "    if (first >= count)\n"
    "        return;\n"
    "    uint valid = (uint)min(count - first, (ulong)GPUSCAN_TILE);\n"
    "    global uint *next_states = states + numbers.next_states_offset + (ulong)tile * GPUSCAN_RADIX;\n"
    "    gpuscan_held keys_here[GPUSCAN_ROUNDS];\n"
    "    uint totals[GPUSCAN_ITEM_DIGITS], starts[GPUSCAN_ITEM_DIGITS];\n"
    "    uint places[GPUSCAN_PACKED_WORDS(GPUSCAN_PLACE_BITS)];\n"
    "    gpuscan_sort_back back[GPUSCAN_ITEM_DIGITS];\n"
    "    keys += numbers.keys_offset;\n"
    "    keys_dst += numbers.keys_dst_offset;\n"
    "    values += numbers.values_offset;\n"
    "    values_dst += numbers.values_dst_offset;\n"
    "    global const uint *bases = states + numbers.bases_offset;\n"
    "    states += numbers.states_offset;\n"
    "    GPUSCAN_TEST_DELAY(tile);\n"
    "    gpuscan_sort_load(keys_here, keys + first, valid, digit);\n"
    "    if (first + GPUSCAN_SORT_AHEAD + 2 * GPUSCAN_TILE < count) {\n"
    "        gpuscan_sort_prefetch((global const uchar *)(keys + first + GPUSCAN_SORT_AHEAD + gpuscan_sort_at(0)));\n"
    "#if GPUSCAN_SORT_VALUES && GPUSCAN_SORT_VALUE_SIZE == GPUSCAN_KEY_SIZE\n"
    "        if (!(flags & GPUSCAN_FLAG_BY_INDEX))\n"
    "            gpuscan_sort_prefetch((global const uchar *)(values + first + GPUSCAN_SORT_AHEAD + gpuscan_sort_at(0)));\n"
    "#endif\n"
    "    }\n"
    "    if (GPUSCAN_ITEM == 0)\n"
    "        shared->late = 0;\n"
    "    gpuscan_sort_begin(shared);\n"
    "    gpuscan_sort_tally(keys_here, digit, totals, shared);\n"
    "    for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "        uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "        back[e].next = tile - 1;\n"
    "        back[e].done = tile == 0 || d >= GPUSCAN_RADIX;\n"
    "        back[e].prefix = 0;\n"
    "        if (d < GPUSCAN_RADIX) {\n"
    "            if (tile == 0)\n"
    "                back[e].prefix = bases[d];\n"
    "            gpuscan_sort_publish(states + (ulong)tile * GPUSCAN_RADIX + d, tile,\n"
    "                                 tile == 0 ? GPUSCAN_SORT_PREFIX | (back[e].prefix + totals[e])\n"
    "                                           : GPUSCAN_SORT_AGGREGATE | totals[e]);\n"
    "            next_states[d] = 0;\n"
    "        }\n"
    "    }\n"
    "    gpuscan_sort_start(totals, starts, shared);\n"
    "    gpuscan_sort_exchange(keys_here, digit, places, shared);\n"
    "    for (bool more = true; more;) {\n"
    "        for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "            uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "            gpuscan_sort_look_back(&back[e], states, d);\n"
    "            if (!back[e].done)\n"
    "                atomic_max((volatile local uint *)&shared->late, back[e].next + 1);\n"
    "        }\n"
    "        GPUSCAN_BARRIER();\n"
    "        uint late = shared->late;\n"
    "        more = late > 0;\n"
    "        if (!more)\n"
    "            continue;\n",
    "        late--;\n"
    "        GPUSCAN_BARRIER(); /* all know */\n"
    "        if (GPUSCAN_ITEM == 0)\n"
    "            shared->late = 0;\n"
    "        for (uint d = GPUSCAN_ITEM; d < GPUSCAN_RADIX; d += GPUSCAN_GROUP)\n"
    "            shared->next[d] = 0;\n"
    "        GPUSCAN_BARRIER();\n"
    "        for (uint k = GPUSCAN_ITEM; k < GPUSCAN_TILE; k += GPUSCAN_GROUP)\n"
    "            atomic_inc((volatile local uint *)shared->next +\n"
    "                       gpuscan_digit_of(keys[(ulong)late * GPUSCAN_TILE + k], plain));\n"
    "        GPUSCAN_BARRIER();\n"
    "        for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++)\n"
    "            if (!back[e].done && back[e].next == late) {\n"
    "                uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "                back[e].prefix += shared->next[d];\n"
    "                back[e].next--;\n"
    "                if (late == 0) {\n"
    "                    back[e].prefix += bases[d];\n"
    "                    back[e].done = true;\n"
    "                }\n"
    "            }\n"
    "        GPUSCAN_BARRIER();\n"
    "    }\n"
    "    for (uint e = 0; e < GPUSCAN_ITEM_DIGITS; e++) {\n"
    "        uint d = GPUSCAN_ITEM * GPUSCAN_ITEM_DIGITS + e;\n"
    "        if (d < GPUSCAN_RADIX) {\n"
    "            if (tile > 0)\n"
    "                gpuscan_sort_publish(states + (ulong)tile * GPUSCAN_RADIX + d, tile,\n"
    "                                     GPUSCAN_SORT_PREFIX | (back[e].prefix + totals[e]));\n"
    "            shared->to[d] = back[e].prefix - starts[e];\n"
    "        }\n"
    "    }\n"
    "    GPUSCAN_BARRIER();\n"
    "    gpuscan_sort_store(keys_dst, values + first, first, values_dst, valid, digit, flags, places, shared);\n"
    "}\n"
    "#endif\n"
    "#endif\n"
    "#endif /* GPUSCAN_SORT */\n",
/* kernels.cl.inc: end */
};

/* [DEVICE NUMBERS] ------------------------------------------------------------------------------------------------- */

/* What host and kernels must agree on stands here once: the host's enums are made of these lists, and every program is
   told the same names and values, as GPUSCAN_... */
#define GPUSCAN__DEVICE_CONSTANTS(X)                                                                                   \
    X(FLAG_INIT, 1)          /* init_value counts */                                                                   \
    X(FLAG_INIT_BUFFER, 2)   /* init_buffer counts */                                                                  \
    X(FLAG_TOTAL, 4)         /* totals are wanted */                                                                   \
    X(FLAG_COUNT_U32, 8)     /* count_buffer counts, as u32 */                                                         \
    X(FLAG_COUNT_U64, 16)    /* or as u64 */                                                                           \
    X(FLAG_STREAM, 32)       /* the output exceeds the cache: store past it */                                         \
    X(FLAG_CARRIES, 64)      /* the multi-pass scan has carries */                                                     \
    X(FLAG_ACCUMULATE, 128)  /* histogram: add to the counters */                                                      \
    X(FLAG_FINISH, 256)      /* histogram: the last group finishes */                                                  \
    X(FLAG_TALLY_U32, 512)   /* a tally's count is wanted, as u32 */                                                   \
    X(FLAG_TALLY_U64, 1024)  /* or as u64 */                                                                           \
    X(FLAG_DISPATCH, 2048)   /* and the dispatch's arguments */                                                        \
    X(FLAG_IN_COUNTS, 4096)  /* histogram on a CPU: the first group's table is counts */                               \
    X(FLAG_BY_INDEX, 8192)   /* sort: values are indices */                                                            \
    X(FLAG_NO_KEYS, 16384)   /* sort: the keys are not wanted */                                                       \
    X(FLAG_TABLES_SHIFT, 16) /* histogram on a CPU: from this bit on the number of tables in the accumulators */       \
    X(FENCE_NONE, 0)         /* no fence of device scope is known */                                                   \
    X(FENCE_PTX, 1)                                                                                                    \
    X(FENCE_OPENCL2, 2)                                                                                                \
    X(FENCE_MEM, 3)          /* mem_fence, where groups run in order */                                                \
    X(LANES_NONE, 0)         /* how lanes exchange: see [LANES] in kernels.cl.inc */                                   \
    X(LANES_PTX, 1)                                                                                                    \
    X(LANES_SUBGROUPS, 2)                                                                                              \
    X(LANES_LOCAL, 3)                                                                                                  \
    X(STATES_ALIGN, 32)      /* SINGLE_PASS_AHEAD: tiles after so many the prefixes begin behind the sums */           \
    X(BIN_MODE_VALUE, 0)     /* integers: one bin a value; for these see gpuscan_even_bin */                           \
    X(BIN_MODE_SHIFT, 1)                                                                                               \
    X(BIN_MODE_MULTIPLY, 2)                                                                                            \
    X(BIN_MODE_MULTIPLY_CHECKED, 3)                                                                                    \
    X(BIN_MODE_DIVIDE, 4)                                                                                              \
    X(BIN_MODE_MULTIPLY_16, 7)                                                                                         \
    X(BIN_MODE_MULTIPLY_16_MANY, 8)                                                                                    \
    X(BIN_MODE_GUESS, 5)     /* floats: a guess that the edges put right, however far it is off */                     \
    X(BIN_MODE_NEAREST, 6)   /* floats: a guess that is right or one too large */                                      \
    X(SEGMENTS_NONE, 0)      /* reduction: one result */                                                               \
    X(SEGMENTS_ROWS, 1)      /* one a row */                                                                           \
    X(SEGMENTS_U32, 2)       /* one a segment, by offsets of 32 */                                                     \
    X(SEGMENTS_U64, 3)       /* or 64 bits */                                                                          \
    X(PIPE_NONE, 0)          /* histogram: samples are loaded when they are counted */                                 \
    X(PIPE_AHEAD, 1)         /* a round before */                                                                      \
    X(PIPE_SHORT, 2)         /* all at once: the form for few samples */                                               \
    X(PIPE_ROWS, 3)          /* rows with gaps */                                                                      \
    X(BY_VALUE_NOT, 0)       /* histogram of bytes by value: see gpuscan_value_of */                                   \
    X(BY_VALUE_PLAIN, 1)                                                                                               \
    X(BY_VALUE_SPREAD, 2)                                                                                              \
    X(MERGE_NONE, 0)         /* values are bins, or bins are counted */                                                \
    X(MERGE_LOCAL, 1)        /* values are put into bins: in local memory, */                                          \
    X(MERGE_GLOBAL, 2)       /* or in global memory */                                                                 \
    X(ARRIVALS_NONE, 0)      /* histogram: accumulators do not count the groups that came */                           \
    X(ARRIVALS_U32, 24)      /* from this bit on they do, in words of 32 bits */                                       \
    X(ARRIVALS_U64, 40)      /* in words of 64 bits */
/* And of the public enums these. */
#define GPUSCAN__DEVICE_PUBLIC(X)                                                                                      \
    X(BINS_EVEN) X(BINS_EDGES) X(BINS_VALUES) X(OUTSIDE_DROP) X(OUTSIDE_CLAMP) X(OUTSIDE_COUNT)

#define GPUSCAN__DEVICE_ENUM(name, value) GPUSCAN__##name = value,
enum { GPUSCAN__DEVICE_CONSTANTS(GPUSCAN__DEVICE_ENUM) GPUSCAN__DEVICE_CONSTANTS_END };
#undef GPUSCAN__DEVICE_ENUM

#define GPUSCAN__DEVICE_ROW(name, value) {#name, value},
#define GPUSCAN__DEVICE_PUBLIC_ROW(name) {#name, GPUSCAN_##name},
static const struct {
    const char *name;
    uint32_t value;
} gpuscan__device_constants[] = {GPUSCAN__DEVICE_CONSTANTS(GPUSCAN__DEVICE_ROW)
                                     GPUSCAN__DEVICE_PUBLIC(GPUSCAN__DEVICE_PUBLIC_ROW)};
#undef GPUSCAN__DEVICE_ROW
#undef GPUSCAN__DEVICE_PUBLIC_ROW

/* [RESULT TEXTS AND LOGGING] --------------------------------------------------------------------------------------- */

static const struct {
    gpuscan_result result;
    const char *text;
} gpuscan__result_texts[] = {
#define GPUSCAN__RESULT_TEXT(name, value, text) {name, text},
#define GPUSCAN__OPENCL_TEXT(name) {name, #name},
    GPUSCAN_RESULTS(GPUSCAN__RESULT_TEXT)
    GPUSCAN__OPENCL_TEXT(CL_DEVICE_NOT_FOUND)
    GPUSCAN__OPENCL_TEXT(CL_DEVICE_NOT_AVAILABLE)
    GPUSCAN__OPENCL_TEXT(CL_COMPILER_NOT_AVAILABLE)
    GPUSCAN__OPENCL_TEXT(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    GPUSCAN__OPENCL_TEXT(CL_OUT_OF_RESOURCES)
    GPUSCAN__OPENCL_TEXT(CL_OUT_OF_HOST_MEMORY)
    GPUSCAN__OPENCL_TEXT(CL_PROFILING_INFO_NOT_AVAILABLE)
    GPUSCAN__OPENCL_TEXT(CL_MEM_COPY_OVERLAP)
    GPUSCAN__OPENCL_TEXT(CL_BUILD_PROGRAM_FAILURE)
    GPUSCAN__OPENCL_TEXT(CL_MAP_FAILURE)
    GPUSCAN__OPENCL_TEXT(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    GPUSCAN__OPENCL_TEXT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    GPUSCAN__OPENCL_TEXT(CL_COMPILE_PROGRAM_FAILURE)
    GPUSCAN__OPENCL_TEXT(CL_LINKER_NOT_AVAILABLE)
    GPUSCAN__OPENCL_TEXT(CL_LINK_PROGRAM_FAILURE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_VALUE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_DEVICE_TYPE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_PLATFORM)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_DEVICE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_CONTEXT)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_QUEUE_PROPERTIES)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_COMMAND_QUEUE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_HOST_PTR)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_MEM_OBJECT)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_BINARY)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_BUILD_OPTIONS)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_PROGRAM)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_PROGRAM_EXECUTABLE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_KERNEL_NAME)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_KERNEL_DEFINITION)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_KERNEL)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_ARG_INDEX)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_ARG_VALUE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_ARG_SIZE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_KERNEL_ARGS)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_WORK_DIMENSION)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_WORK_GROUP_SIZE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_WORK_ITEM_SIZE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_GLOBAL_OFFSET)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_EVENT_WAIT_LIST)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_EVENT)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_OPERATION)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_BUFFER_SIZE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_GLOBAL_WORK_SIZE)
    GPUSCAN__OPENCL_TEXT(CL_INVALID_PROPERTY)
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
#undef GPUSCAN__OPENCL_TEXT
#undef GPUSCAN__RESULT_TEXT
};

#define GPUSCAN__ERROR_SIZE 8192 /* build logs are cut to this; the logger gets them whole */
#define GPUSCAN__REFUSAL_SIZE 256

/* [DEVICE PROFILE], types --------------------------------------------------------------------------------------- */

/* How a scan is cut on a device, up to a size. For the CPU strategies a tile is chunk bytes of the larger type and
   one work-item takes it; else it is group * vectors vectors of 16 bytes of it. */
typedef struct gpuscan__tuning {
    uint64_t up_to; /* bytes of the larger of source and destination */
    gpuscan_strategy strategy;
    uint32_t group, vectors; /* of a work-item: kernels call it ITEM_VECTORS */
    uint32_t ahead;     /* SINGLE_PASS_AHEAD: bytes of both from the tile that is summed to the tile that is scanned */
    uint32_t registers; /* a work-item's, where the compiler can be told; 0: its choice */
    uint32_t size;      /* for elements of this size, the larger of source and destination; 0: any */
    uint32_t src_size;  /* and of this size in the source; 0: any */
    int inclusive;      /* 1: for inclusive scans only */
    int unpacked;       /* 1: for integers of 1 or 2 bytes only that are not added as parts of words */
} gpuscan__tuning;

/* Samples of 1 byte, of more; where elements are meant: of up to 4 bytes, of more. */
enum { GPUSCAN__SMALL = 0, GPUSCAN__LARGE, GPUSCAN__BY_SIZE };

enum { GPUSCAN__MAX_TUNINGS = 16 };

typedef struct gpuscan__profile {
    const char *name;
    int fence;           /* a GPUSCAN__FENCE_... */
    int lanes;           /* a GPUSCAN__LANES_... */
    uint32_t lane_width; /* of a sub-group, and of the tree that sums its values where it has no lanes */
    int nulls;    /* takes NULL for a buffer that is not given */
    unsigned refused; /* strategies that do not work there: 1 << strategy */
    uint32_t polls;   /* before a late tile is summed by who waits for it */

    /* scan: the first tuning that matches a call is taken, or the rest's, which asks for nothing */
    gpuscan__tuning scan[GPUSCAN__MAX_TUNINGS], scan_rest;
    uint32_t scan_count;
    uint32_t groups_per_unit; /* multi-pass: groups a compute unit */
    uint32_t chunk;           /* CPU strategies: bytes a tile */
    uint32_t prefetch_src;    /* CPU strategies: bytes ahead of what is summed; 0: none */
    uint32_t prefetch_dst;    /* and of what is written; where it is 0, large outputs are stored past the caches */

    gpuscan_strategy reduce;
    uint32_t reduce_group;
    uint32_t reduce_vectors[GPUSCAN__BY_SIZE], reduce_per_unit[GPUSCAN__BY_SIZE]; /* groups a compute unit */
    uint32_t reduce_registers[GPUSCAN__BY_SIZE];                               /* as in the tuning above */
    uint32_t segment_group, segment_vectors, segment_per_unit; /* the same of rows and segments */
    uint32_t segment_items; /* steps of their path that a work-item takes at a time */
    uint32_t segment_registers;

    gpuscan_strategy histogram;
    uint32_t rows_group, rows_vectors; /* of short rows' scans: vectors a work-item, or more for longer rows; 0: none */
    gpuscan__tuning select[GPUSCAN__MAX_TUNINGS]; /* as scan, in bytes of what decides, src_size its, but size 1: of
                                                     indices alone, 2: of so many outputs or more; none: as the scan */
    uint32_t select_count;
    uint32_t select_tile; /* elements of a tile at most: their places have 16 bits, and local memory serves several */
    uint32_t counts_group, counts_vectors;
    uint32_t counts_per_unit[GPUSCAN__BY_SIZE]; /* groups a compute unit */
    uint32_t counts_per_unit_far; /* the same for bins cut into slices for many samples, or in global memory */
    uint32_t counts_least[GPUSCAN__BY_SIZE];  /* vectors a work-item, at least */
    uint32_t counts_copies[GPUSCAN__BY_SIZE]; /* copies of the bins in local memory, at most */
    uint32_t counts_registers; /* as in the tuning above, but for many samples of bins cut into slices */
    int counts_pipe;           /* loads are issued a round before they are counted; there is a short form */
    uint32_t short_group;      /* the short form's group, where that is enough */
    uint32_t short_vectors;       /* vectors that a work-item of it loads at once */
    uint32_t counts_local;     /* bytes of local memory for the bins, at most */
    uint32_t counts_slices;    /* bins that do not fit are cut into slices, at most so many */
    uint32_t slice_more;       /* few samples are counted in more slices than must be: up to so many vectors a work-item
                                  of one group a compute unit */
    uint32_t slice_short;      /* and by the short form: up to so many */

    gpuscan_strategy sort;
    uint32_t sort_group, sort_vectors; /* a work-item's elements of a tile */
    uint32_t sort_rounds[GPUSCAN__BY_SIZE]; /* the same for one launch a pass with lanes */
    uint32_t sort_registers[GPUSCAN__BY_SIZE]; /* then; of keys alone, and with values */
    uint32_t sort_small; /* CPU strategies: up to so many elements are sorted in one launch, by one work-item */
    uint32_t sort_part;  /* and elements of a part, at least: its unfinished lines cost as much as some thousands */
    uint32_t sort_parts; /* and parts a compute unit, at most */
} gpuscan__profile;

typedef struct gpuscan__device {
    cl_device_type type;
    cl_uint vendor, units;
    uint64_t work_items; /* the most of a launch: what the host's and the device's size_t hold */
    size_t group_limit; /* power of two */
    uint64_t local_memory, cache, largest_buffer;
    uint64_t parameters; /* bytes of a kernel's arguments */
    uint64_t registers; /* a work-group's, on NVIDIA; 0: not known */
    int version, c_version; /* 120, 200, 300 */
    int f64, int64_atomics, zero_copy;
    int fence, lanes; /* GPUSCAN__FENCE_..., GPUSCAN__LANES_... */
    uint32_t lane_width;
    char name[256], platform[256], driver[256], version_text[256];
    const char *build_options;
    gpuscan__profile profile;
} gpuscan__device;

/* [OPERATIONS], types ------------------------------------------------------------------------------------------- */

/* Every operation: its name in the functions. Each has a section that ends with its row, gpuscan__NAME_operation. */
#define GPUSCAN__OPERATIONS(X) X(scan) X(uniform_add) X(reduce) X(histogram) X(select) X(sort)

#define GPUSCAN__OPERATION_NUMBER(name) GPUSCAN__OPERATION_##name,
enum { GPUSCAN__OPERATIONS(GPUSCAN__OPERATION_NUMBER) GPUSCAN__OPERATION_COUNT };
#undef GPUSCAN__OPERATION_NUMBER

typedef struct gpuscan__operation gpuscan__operation;
typedef struct gpuscan__plan gpuscan__plan;

/* [PROGRAM CACHE], types ---------------------------------------------------------------------------------------- */

enum { GPUSCAN__MAX_KERNELS = 5, GPUSCAN__KEY_OWN = 32 };

/* Everything that decides a program's source but the custom text. Compared as bytes: cleared before it is filled. */
typedef struct gpuscan__key {
    uint32_t operation, src, dst, op, custom_size, strategy, group, vectors, tile, word, registers;
    uint32_t own[GPUSCAN__KEY_OWN]; /* the operation's own: a struct of its section, of uint32_t alone */
} gpuscan__key;

/* What a kernel's arguments were set to last, so that they are not set again: drivers take their time. A buffer counts
   only while the library itself keeps it, or another one could have got its handle meanwhile. */
enum { GPUSCAN__MAX_ARGS = 28, GPUSCAN__MAX_NUMBERS = 36, GPUSCAN__MAX_KNOWN = 16 };
typedef struct gpuscan__known_arg {
    size_t size;         /* 0: not known */
    uint32_t generation; /* of the library's buffers; 0: no buffer */
    unsigned char value[GPUSCAN__MAX_KNOWN];
} gpuscan__known_arg;

typedef struct gpuscan__known {
    gpuscan__known_arg args[GPUSCAN__MAX_ARGS];
    cl_ulong numbers[GPUSCAN__MAX_NUMBERS];
} gpuscan__known;

typedef struct gpuscan__program {
    struct gpuscan__program *next;
    gpuscan__key key;
    char *custom; /* the custom texts, each with its NUL; NULL: none */
    size_t custom_length;
    char *prefix; /* the text before the kernels: what the program is in a blob */
    size_t prefix_length;
    cl_program program;
    cl_kernel kernels[GPUSCAN__MAX_KERNELS];
    const char *const *names; /* theirs */
    size_t group; /* the largest that its kernels can be launched with; 0: not asked yet */
    gpuscan__known known[GPUSCAN__MAX_KERNELS];
    int proved; /* it needs no test, or has passed it */
} gpuscan__program;

/* [SCRATCH], types ---------------------------------------------------------------------------------------------- */

/* ZEROS is 0 between calls: the histogram's accumulators. WORDS hold state words of earlier calls, told apart by their
   epoch; one buffer for each width, or one width's values would read as another's tags. Before both stand counters for
   tickets, which are 0 between calls. PLAIN holds anything. */
enum { GPUSCAN__ZEROS = 0, GPUSCAN__WORDS32, GPUSCAN__WORDS64, GPUSCAN__WORDS128, GPUSCAN__PLAIN, GPUSCAN__SCRATCHES };
#define GPUSCAN__TICKETS_SIZE 256 /* bytes for the counters, so that a window of words begins with a cache line (of the
                                     object's own scratch): in mid-line it costs the H200's scans 1.5 % */

typedef struct gpuscan__own_scratch {
    cl_mem mem;
    uint64_t size;
    uint32_t epoch;
} gpuscan__own_scratch;

struct gpuscan {
    gpuscan_opencl cl;
    gpuscan_allocator allocator;
    gpuscan_logger logger;
    gpuscan_tracer tracer;
    gpuscan_limits limits;
    void *library;
    cl_context context;
    cl_device_id device_id;
    cl_command_queue queue;         /* the caller's or, on first use, the library's */
    cl_command_queue service_queue; /* clears scratch and tests programs: nothing of the caller's can block it */
    cl_command_queue last_queue;    /* of the last call; retained */
    int last_in_order;              /* that queue is in-order */
    gpuscan__device device;
    gpuscan__program *programs;
    unsigned char *blob;
    size_t blob_size;
    gpuscan__own_scratch scratch[GPUSCAN__SCRATCHES];
    uint32_t scratch_generation;    /* counts the scratch buffers that were dropped, from 1 on */
    cl_command_queue scratch_queue; /* the queue of the last call that used it; retained */
    cl_event scratch_event;         /* that call's end, where the queue is out-of-order */
    unsigned refused[GPUSCAN__OPERATION_COUNT]; /* strategies that failed their test, or the profile rules out:
                                                   1 << strategy */
    uint32_t refusals;              /* how often a strategy or the lanes were given up */
    char refusal[GPUSCAN__REFUSAL_SIZE]; /* why, the last time */
    char error[GPUSCAN__ERROR_SIZE];
};

static void gpuscan__log(const gpuscan *gs, gpuscan_log_level level, const char *message) {
    if (gs->logger.log)
        gs->logger.log(level, message, gs->logger.user);
}

/* Keeps the failure in words and passes the result on. A driver that gives nothing and says success has failed, too. */
static gpuscan_result gpuscan__fail(gpuscan *gs, gpuscan_result result, const char *format, ...)
    GPUSCAN__PRINTF(3, 4);
static gpuscan_result gpuscan__fail(gpuscan *gs, gpuscan_result result, const char *format, ...) {
    va_list arguments;
    size_t length;
    if (result == GPUSCAN_SUCCESS)
        result = CL_OUT_OF_RESOURCES;
    va_start(arguments, format);
    length = vsnprintf(gs->error, sizeof(gs->error), format, arguments) < 0 ? 0 : strlen(gs->error);
    va_end(arguments);
    snprintf(gs->error + length, sizeof(gs->error) - length, " (%s)", gpuscan_result_string(result));
    gpuscan__log(gs, GPUSCAN_LOG_ERROR, gs->error);
    return result;
}

/* [HOST MEMORY] ------------------------------------------------------------------------------------------------- */

static void *gpuscan__default_allocate(size_t size, void *user) {
    (void)user;
    return malloc(size);
}
static void gpuscan__default_release(void *memory, void *user) {
    (void)user;
    free(memory);
}

static void *gpuscan__allocate(const gpuscan_allocator *allocator, size_t size) {
    return allocator->allocate(size, allocator->user);
}
static void gpuscan__release(const gpuscan_allocator *allocator, void *memory) {
    if (memory)
        allocator->release(memory, allocator->user);
}

/* A text that grows. failed is sticky, so a text is checked once, at its end. */
typedef struct gpuscan__text {
    const gpuscan_allocator *allocator;
    char *data;
    size_t length, capacity;
    int failed;
} gpuscan__text;

static void gpuscan__text_bytes(gpuscan__text *text, const void *bytes, size_t count) {
    if (!text->failed && text->length + count + 1 > text->capacity) {
        size_t capacity = (text->length + count + 1) * 2;
        char *data = (char *)gpuscan__allocate(text->allocator, capacity);
        if (data && text->length)
            memcpy(data, text->data, text->length);
        gpuscan__release(text->allocator, text->data);
        text->data = data;
        text->capacity = capacity;
        text->failed = !data;
    }
    if (text->failed)
        return;
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = 0;
}

static void gpuscan__text_add(gpuscan__text *text, const char *string) {
    gpuscan__text_bytes(text, string, strlen(string));
}

static void gpuscan__define(gpuscan__text *text, const char *name, const char *value) {
    gpuscan__text_add(text, "#define GPUSCAN_");
    gpuscan__text_add(text, name);
    gpuscan__text_add(text, " ");
    gpuscan__text_add(text, value);
    gpuscan__text_add(text, "\n");
}

static void gpuscan__define_number(gpuscan__text *text, const char *name, uint64_t value) {
    char digits[32];
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    gpuscan__define(text, name, digits);
}

/* [TYPES AND OPERATORS] ----------------------------------------------------------------------------------------- */

/* Fails to compile, by this name, where the condition does not hold. */
#define GPUSCAN__ASSERT(condition, name) typedef char gpuscan__assert_##name[(condition) ? 1 : -1];

/* The types, in the order of gpuscan_type: name; in OpenCL C (f16 is stored as its bits), and the unsigned type of the
   same size (integers are added as unsigned, which wraps by definition); bytes; 's'igned, 'u'nsigned, 'f'loat, or 0;
   the least and the largest value. */
#define GPUSCAN__TYPES(X)                                                                                              \
    X(DEFAULT, "", "", 0, 0, "", "")                                                                                   \
    X(I8, "char", "uchar", 1, 's', "CHAR_MIN", "CHAR_MAX")                                                             \
    X(U8, "uchar", "uchar", 1, 'u', "0", "UCHAR_MAX")                                                                  \
    X(I16, "short", "ushort", 2, 's', "SHRT_MIN", "SHRT_MAX")                                                          \
    X(U16, "ushort", "ushort", 2, 'u', "0", "USHRT_MAX")                                                               \
    X(I32, "int", "uint", 4, 's', "INT_MIN", "INT_MAX")                                                                \
    X(U32, "uint", "uint", 4, 'u', "0", "UINT_MAX")                                                                    \
    X(I64, "long", "ulong", 8, 's', "LONG_MIN", "LONG_MAX")                                                            \
    X(U64, "ulong", "ulong", 8, 'u', "0", "ULONG_MAX")                                                                 \
    X(F16, "ushort", "ushort", 2, 'f', "-INFINITY", "INFINITY")                                                        \
    X(F32, "float", "float", 4, 'f', "-INFINITY", "INFINITY")                                                          \
    X(F64, "double", "double", 8, 'f', "-INFINITY", "INFINITY")                                                        \
    X(CUSTOM, "", "", 0, 0, "", "")

typedef struct gpuscan__type_facts {
    const char *name, *unsigned_name;
    uint32_t size;
    char kind;
    const char *least, *largest;
} gpuscan__type_facts;

#define GPUSCAN__TYPE_ROW(name, c_name, unsigned_name, size, kind, least, largest)                                     \
    {c_name, unsigned_name, size, kind, least, largest},
#define GPUSCAN__TYPE_PLACE(name, c_name, unsigned_name, size, kind, least, largest) GPUSCAN__TYPE_PLACE_##name,
#define GPUSCAN__TYPE_BOUND(name, c_name, unsigned_name, size, kind, least, largest)                                   \
    GPUSCAN__ASSERT((int)GPUSCAN__TYPE_PLACE_##name == (int)GPUSCAN_TYPE_##name, type_##name)
static const gpuscan__type_facts gpuscan__types[] = {GPUSCAN__TYPES(GPUSCAN__TYPE_ROW)};
enum { GPUSCAN__TYPES(GPUSCAN__TYPE_PLACE) GPUSCAN__TYPE_PLACES };
GPUSCAN__TYPES(GPUSCAN__TYPE_BOUND)
GPUSCAN__ASSERT((int)GPUSCAN__TYPE_PLACES == (int)GPUSCAN_TYPE_COUNT, every_type_has_a_row)
#undef GPUSCAN__TYPE_BOUND
#undef GPUSCAN__TYPE_PLACE
#undef GPUSCAN__TYPE_ROW

enum { GPUSCAN__ID_ZERO, GPUSCAN__ID_ONE, GPUSCAN__ID_ONES, GPUSCAN__ID_LEAST, GPUSCAN__ID_LARGEST, GPUSCAN__ID_OWN };

/* Data of the self-tests, see [SELF-TEST]. */
enum { GPUSCAN__DATA_SUM, GPUSCAN__DATA_RISING, GPUSCAN__DATA_FALLING, GPUSCAN__DATA_PRODUCT, GPUSCAN__DATA_CLEARED,
       GPUSCAN__DATA_SET, GPUSCAN__DATA_SPARSE };

/* The operators, in the order of gpuscan_op: name; an expression of a and b that serves scalars and vectors of
   integers, and of floats (NULL: not for these); the identity; 1: signed integers are computed as unsigned; where a
   comparison decides, ARGMIN's and ARGMAX's; and for the self-test: its data, and the operator on the host, of integers
   and of floats, where less says whether a < b. The self-test's custom operator lets the last that is not 0 win. */
#define GPUSCAN__OPS(X)                                                                                                \
    X(ADD, "a + b", "a + b", ZERO, 1, NULL, SUM, a + b, a + b)                                                         \
    X(MIN, "min(a, b)", "fmin(a, b)", LARGEST, 0, NULL, FALLING, less ? a : b, less ? a : b)                           \
    X(MAX, "max(a, b)", "fmax(a, b)", LEAST, 0, NULL, RISING, less ? b : a, less ? b : a)                              \
    X(MUL, "a * b", "a * b", ONE, 1, NULL, PRODUCT, a *b, a *b)                                                        \
    X(AND, "a & b", NULL, ONES, 1, NULL, CLEARED, a &b, a)                                                             \
    X(OR, "a | b", NULL, ZERO, 1, NULL, SET, a | b, a)                                                                 \
    X(XOR, "a ^ b", NULL, ZERO, 1, NULL, SUM, a ^ b, a)                                                                \
    X(CUSTOM, NULL, NULL, OWN, 0, NULL, SPARSE, b ? b : a, b < 0 || b > 0 ? b : a)                                     \
    X(ARGMIN, "gpuscan_arg_pick(a, b)", "gpuscan_arg_pick(a, b)", OWN, 0, "((a) < (b))", FALLING, a, a)                \
    X(ARGMAX, "gpuscan_arg_pick(a, b)", "gpuscan_arg_pick(a, b)", OWN, 0, "((a) > (b))", RISING, a, a)

typedef struct gpuscan__op_facts {
    const char *integer, *real;
    int identity, as_unsigned;
    const char *before; /* NULL: no ARGMIN or ARGMAX */
    int data;
} gpuscan__op_facts;

#define GPUSCAN__OP_ROW(name, c_integer, c_real, identity, as_unsigned, before, data, host_integer, host_real)         \
    {c_integer, c_real, GPUSCAN__ID_##identity, as_unsigned, before, GPUSCAN__DATA_##data},
#define GPUSCAN__OP_PLACE(name, c_integer, c_real, identity, as_unsigned, before, data, host_integer, host_real)       \
    GPUSCAN__OP_PLACE_##name,
#define GPUSCAN__OP_BOUND(name, c_integer, c_real, identity, as_unsigned, before, data, host_integer, host_real)       \
    GPUSCAN__ASSERT((int)GPUSCAN__OP_PLACE_##name == (int)GPUSCAN_OP_##name, op_##name)
static const gpuscan__op_facts gpuscan__ops[] = {GPUSCAN__OPS(GPUSCAN__OP_ROW)};
enum { GPUSCAN__OPS(GPUSCAN__OP_PLACE) GPUSCAN__OP_PLACES };
GPUSCAN__OPS(GPUSCAN__OP_BOUND)
GPUSCAN__ASSERT((int)GPUSCAN__OP_PLACES == (int)GPUSCAN_OP_COUNT, every_op_has_a_row)
#undef GPUSCAN__OP_BOUND
#undef GPUSCAN__OP_PLACE
#undef GPUSCAN__OP_ROW

/* The strategies, in the order of gpuscan_strategy: name, in words, whether one work-item is a group, whether groups of
   one launch wait for each other; and where it does not fit, the one that assumes nothing. */
#define GPUSCAN__STRATEGIES(X)                                                                                         \
    X(AUTO, "auto", 0, 0, MULTI_PASS)                                                                                  \
    X(MULTI_PASS, "multi-pass", 0, 0, MULTI_PASS)                                                                      \
    X(SINGLE_PASS, "single pass", 0, 1, MULTI_PASS)                                                                    \
    X(SINGLE_PASS_AHEAD, "single pass ahead", 0, 1, MULTI_PASS)                                                        \
    X(CPU_MULTI_PASS, "CPU multi-pass", 1, 0, CPU_MULTI_PASS)                                                          \
    X(CPU_SINGLE_PASS, "CPU single pass", 1, 1, CPU_MULTI_PASS)

typedef struct gpuscan__strategy_facts {
    const char *name;
    int cpu, single_pass;
    gpuscan_strategy portable;
} gpuscan__strategy_facts;

#define GPUSCAN__STRATEGY_ROW(name, words, cpu, single_pass, portable)                                                 \
    {words, cpu, single_pass, GPUSCAN_STRATEGY_##portable},
#define GPUSCAN__STRATEGY_PLACE(name, words, cpu, single_pass, portable) GPUSCAN__STRATEGY_PLACE_##name,
#define GPUSCAN__STRATEGY_BOUND(name, words, cpu, single_pass, portable)                                               \
    GPUSCAN__ASSERT((int)GPUSCAN__STRATEGY_PLACE_##name == (int)GPUSCAN_STRATEGY_##name, strategy_##name)
static const gpuscan__strategy_facts gpuscan__strategies[] = {GPUSCAN__STRATEGIES(GPUSCAN__STRATEGY_ROW)};
enum { GPUSCAN__STRATEGIES(GPUSCAN__STRATEGY_PLACE) GPUSCAN__STRATEGY_PLACES };
GPUSCAN__STRATEGIES(GPUSCAN__STRATEGY_BOUND)
GPUSCAN__ASSERT((int)GPUSCAN__STRATEGY_PLACES == (int)GPUSCAN_STRATEGY_COUNT, every_strategy_has_a_row)
#undef GPUSCAN__STRATEGY_BOUND
#undef GPUSCAN__STRATEGY_PLACE
#undef GPUSCAN__STRATEGY_ROW

static int gpuscan__is_cpu_strategy(gpuscan_strategy strategy) {
    return gpuscan__strategies[strategy].cpu;
}

static int gpuscan__is_single_pass(gpuscan_strategy strategy) {
    return gpuscan__strategies[strategy].single_pass;
}

static int gpuscan__is_integer(gpuscan_type type) {
    return gpuscan__types[type].kind == 's' || gpuscan__types[type].kind == 'u';
}

static int gpuscan__is_float(gpuscan_type type) {
    return gpuscan__types[type].kind == 'f';
}

#define GPUSCAN__CUSTOM_MOST 1024 /* bytes of a custom type */

/* The types and the operator of a call, resolved. */
typedef struct gpuscan__elements {
    gpuscan_type src, dst;
    gpuscan_op op;
    const gpuscan_custom *custom; /* NULL unless some part of it is used */
    uint32_t src_size, dst_size, result_size;
    uint32_t t_size; /* of the arithmetic's type */
    int arg;         /* ARGMIN or ARGMAX */
    int commutes;
    const char *convert; /* the custom conversion, or NULL */
    int selects; /* source elements become numbers of what is kept: a GPUSCAN__SELECTS_...; 0: they do not */
    int inverts; /* of what is not kept */
} gpuscan__elements;

/* 1 where an element, or its custom->select, is not 0; of a word's bits those that are 1. */
enum { GPUSCAN__SELECTS_NOT = 0, GPUSCAN__SELECTS_ELEMENTS, GPUSCAN__SELECTS_BITS };

static gpuscan_result gpuscan__check_type(gpuscan *gs, const char *field, gpuscan_type type) {
    if (type == GPUSCAN_TYPE_F64 && !gs->device.f64)
        return gpuscan__fail(gs, GPUSCAN_ERROR_UNSUPPORTED_TYPE, "%s: the device has no double precision", field);
    return GPUSCAN_SUCCESS;
}

/* For operations that combine: whatever the types, the operator is what does not fit. */
static gpuscan_result gpuscan__check_op(gpuscan *gs, gpuscan_op op) {
    if ((unsigned)op < GPUSCAN_OP_COUNT && gpuscan__ops[op].before)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_OPERATOR, "op: ARGMIN and ARGMAX are for gpuscan_reduce");
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__resolve_elements(gpuscan *gs, gpuscan__elements *e, gpuscan_type src, gpuscan_type dst,
                                                gpuscan_op op, const gpuscan_custom *custom, const char *src_field,
                                                const char *dst_field) {
    gpuscan_result r;
    memset(e, 0, sizeof(*e));
    e->arg = (unsigned)op < GPUSCAN_OP_COUNT && gpuscan__ops[op].before != NULL;
    if (src == GPUSCAN_TYPE_DEFAULT)
        src = GPUSCAN_TYPE_U32;
    if (dst == GPUSCAN_TYPE_DEFAULT)
        dst = e->arg ? GPUSCAN_TYPE_U64 : src;
    if ((unsigned)src >= GPUSCAN_TYPE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "%s is no gpuscan_type", src_field);
    if ((unsigned)dst >= GPUSCAN_TYPE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "%s is no gpuscan_type", dst_field);
    if ((unsigned)op >= GPUSCAN_OP_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "op is no gpuscan_op");
    e->src = src;
    e->dst = dst;
    e->op = op;
    e->convert = custom && !e->arg ? custom->convert : NULL;
    if (src == GPUSCAN_TYPE_CUSTOM || dst == GPUSCAN_TYPE_CUSTOM || op == GPUSCAN_OP_CUSTOM) {
        if (!custom)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom is NULL, but a type or op is CUSTOM");
        if (op == GPUSCAN_OP_CUSTOM && (!custom->combine || !custom->identity))
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->combine or custom->identity is NULL");
        if ((src == GPUSCAN_TYPE_CUSTOM || dst == GPUSCAN_TYPE_CUSTOM) &&
            (!custom->type || custom->size == 0 || custom->size > GPUSCAN__CUSTOM_MOST))
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                                 "custom->type is NULL, or custom->size is not from 1 to 1024");
        e->custom = custom;
    } else if (e->convert) {
        e->custom = custom;
    }
    if (dst == GPUSCAN_TYPE_CUSTOM && op != GPUSCAN_OP_CUSTOM && !e->arg)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_OPERATOR, "op: a custom %s needs GPUSCAN_OP_CUSTOM", dst_field);
    if (e->arg && (src == GPUSCAN_TYPE_CUSTOM || (dst != GPUSCAN_TYPE_U32 && dst != GPUSCAN_TYPE_U64)))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE,
                             "%s: ARGMIN and ARGMAX take builtin elements and give u32 or u64", dst_field);
    if ((src == GPUSCAN_TYPE_CUSTOM) != (dst == GPUSCAN_TYPE_CUSTOM) && !e->convert)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE,
                             "%s and %s: between a builtin and the custom type custom->convert is needed", src_field,
                             dst_field);
    if (op != GPUSCAN_OP_CUSTOM && !e->arg && gpuscan__types[dst].kind == 'f' && !gpuscan__ops[op].real)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_OPERATOR, "op: AND, OR and XOR are for integers");
    if ((r = gpuscan__check_type(gs, src_field, src)) != 0 || (r = gpuscan__check_type(gs, dst_field, dst)) != 0)
        return r;
    e->src_size = src == GPUSCAN_TYPE_CUSTOM ? (uint32_t)custom->size : gpuscan__types[src].size;
    e->result_size = dst == GPUSCAN_TYPE_CUSTOM ? (uint32_t)custom->size : gpuscan__types[dst].size;
    e->dst_size = e->result_size;
    e->t_size = dst == GPUSCAN_TYPE_F16 ? 4 : e->dst_size;
    if (e->arg)
        e->dst_size = e->t_size = 16;
    e->commutes = op != GPUSCAN_OP_CUSTOM;
    return GPUSCAN_SUCCESS;
}

/* Whether results are the same in whatever order elements are combined; of MIN and MAX but for the sign of a zero. */
static int gpuscan__takes_any_order(const gpuscan__elements *e) {
    return e->op == GPUSCAN_OP_MIN || e->op == GPUSCAN_OP_MAX ||
           (e->op != GPUSCAN_OP_CUSTOM && !e->arg && !gpuscan__is_float(e->dst));
}

/* The names and expressions of a call's elements, for kernels.cl.inc. */
static void gpuscan__define_elements(gpuscan__text *text, const gpuscan__elements *e, int cpu) {
    static const char *const identities[] = {"0", "1", "~(gpuscan_t)0"};
    const gpuscan__type_facts *src = &gpuscan__types[e->src], *dst = &gpuscan__types[e->dst];
    const char *src_name = e->src == GPUSCAN_TYPE_CUSTOM ? "gpuscan_custom_type" : src->name;
    const char *dst_name = e->dst == GPUSCAN_TYPE_CUSTOM ? "gpuscan_custom_type" : dst->name;
    const char *value = e->src == GPUSCAN_TYPE_F16 ? "float" : src_name; /* what x is in the conversion */
    const char *number = e->dst == GPUSCAN_TYPE_F16 ? "float" : dst_name;
    const char *t = number;
    int wide = cpu && e->op != GPUSCAN_OP_CUSTOM && !e->arg;
    char line[128], bits[24];
    if (e->op != GPUSCAN_OP_CUSTOM && !e->arg && gpuscan__ops[e->op].as_unsigned && dst->kind == 's')
        t = dst->unsigned_name;
    gpuscan__define(text, "SRC", src_name);
    gpuscan__define_number(text, "SRC_F16", e->src == GPUSCAN_TYPE_F16);
    gpuscan__define_number(text, "DST_F16", !e->arg && e->dst == GPUSCAN_TYPE_F16);
    gpuscan__define_number(text, "ARG", (uint64_t)e->arg);
    gpuscan__define_number(text, "T_SIZE", e->t_size);
    gpuscan__define_number(text, "COMMUTATIVE", (uint64_t)e->commutes);
    gpuscan__define_number(text, "ANY_ORDER", (uint64_t)gpuscan__takes_any_order(e));
    gpuscan__define_number(text, "FLOAT_SUM", e->op == GPUSCAN_OP_ADD && dst->kind == 'f');
    gpuscan__define(text, "VALUE", value);
    gpuscan__define_number(text, "CONVERT_IS_CUSTOM", e->convert != NULL);
    if (e->arg) {
        gpuscan__define(text, "T", "gpuscan_arg");
        gpuscan__define(text, "DST", "gpuscan_arg");
        gpuscan__define(text, "ARG_BEFORE(a, b)", gpuscan__ops[e->op].before);
        gpuscan__define(text, "RESULT_TYPE", dst_name);
        gpuscan__define(text, "CONVERT", "gpuscan_arg_make(x, i)");
        gpuscan__define(text, "IDENTITY", "gpuscan_arg_make(0, GPUSCAN_ARG_NONE)");
        gpuscan__define(text, "START", "gpuscan_identity()");
        gpuscan__define(text, "COMBINE", gpuscan__ops[e->op].integer);
        gpuscan__define_number(text, "WIDE", 1);
        gpuscan__define_number(text, "ARG_WIDE", !cpu ? 1u : e->src_size == 8 ? 8u : 16u);
        gpuscan__define(text, "ARG_WORST", e->op == GPUSCAN_OP_ARGMIN ? src->largest : src->least);
        return;
    }
    gpuscan__define(text, "T", t);
    gpuscan__define(text, "DST", dst_name);
    if (e->convert) {
        gpuscan__define(text, "CONVERTED", number); /* a float has no conversion to the unsigned type of signed sums */
        gpuscan__define(text, "CONVERT", "gpuscan_custom_convert(x, i)");
    } else if (e->selects) {
        gpuscan__define(text, "CONVERT",
                        e->selects == GPUSCAN__SELECTS_BITS ? (e->inverts ? "popcount(~x)" : "popcount(x)")
                        : e->inverts                        ? "(x == 0)"
                                                            : "(x != 0)");
    } else if (e->src == e->dst) {
        gpuscan__define(text, "CONVERT", "x");
    } else {
        snprintf(line, sizeof(line), "(%s)x", number);
        gpuscan__define(text, "CONVERT", line);
    }
    if (e->op == GPUSCAN_OP_CUSTOM) {
        gpuscan__define(text, "COMBINE", "gpuscan_custom_combine(a, b)");
        gpuscan__define(text, "IDENTITY", "gpuscan_custom_identity()");
        gpuscan__define(text, "START", "gpuscan_identity()");
    } else {
        int identity = gpuscan__ops[e->op].identity;
        int zero = identity == GPUSCAN__ID_ZERO && dst->kind == 'f'; /* x + -0 is x; but sums start with +0 */
        gpuscan__define(text, "COMBINE", dst->kind == 'f' ? gpuscan__ops[e->op].real : gpuscan__ops[e->op].integer);
        gpuscan__define(text, "START", zero ? "0" : "gpuscan_identity()");
        gpuscan__define(text, "IDENTITY",
                        zero                              ? "-0.0f"
                        : identity == GPUSCAN__ID_LEAST   ? dst->least
                        : identity == GPUSCAN__ID_LARGEST ? dst->largest
                                                          : identities[identity]);
    }
    gpuscan__define_number(text, "WIDE", wide ? (e->t_size == 8 ? 8u : 16u) : 1u);
    if (wide) {
        int width = e->t_size == 8 ? 8 : 16;
        if (e->selects == GPUSCAN__SELECTS_BITS)
            snprintf(bits, sizeof(bits), "popcount(%sx)", e->inverts ? "~" : "");
        else /* the vector's type */
            snprintf(bits, sizeof(bits), "%s%d", value, width);
        if (e->selects)
            snprintf(line, sizeof(line), e->selects == GPUSCAN__SELECTS_BITS
                                             ? "convert_%s%d(%s)"
                                         : e->inverts ? "convert_%s%d((%s)(1) - min(x, (%s)(1)))"
                                                      : "convert_%s%d(min(x, (%s)(1)))",
                     t, width, bits, bits);
        else if (strcmp(value, t) == 0)
            snprintf(line, sizeof(line), "(x)");
        else if (strcmp(number, t) == 0)
            snprintf(line, sizeof(line), "convert_%s%d(x)", t, width);
        else
            snprintf(line, sizeof(line), "as_%s%d(convert_%s%d(x))", t, width, number, width);
        gpuscan__define(text, "CONVERT_WIDE(x)", line);
        if (strcmp(number, t) == 0)
            snprintf(line, sizeof(line), "(x)");
        else
            snprintf(line, sizeof(line), "as_%s%d(x)", number, width);
        gpuscan__define(text, "TO_DST_WIDE(x)", line);
    }
}

/* Bytes of a source element where a word's elements are summed and scanned at once, else 0: small integers that are
   added. Their sums wrap around, so any order gives the same bits. */
static uint32_t gpuscan__packed(const gpuscan__elements *e, int cpu) {
    int integers = gpuscan__is_integer(e->src) && gpuscan__is_integer(e->dst);
    return integers && !cpu && !e->convert && !e->selects && e->op == GPUSCAN_OP_ADD && e->src_size <= 2 && e->t_size <= 4
               ? e->src_size
               : 0;
}

/* The vector of a lane in a row: 16 bytes of the larger type, so that loads and stores are whole; else one element. */
static uint32_t gpuscan__vector(uint32_t src_size, uint32_t dst_size) {
    uint32_t size = src_size > dst_size ? src_size : dst_size;
    return (src_size & (src_size - 1)) == 0 && (dst_size & (dst_size - 1)) == 0 && size <= 16 ? 16 / size : 1;
}

static void gpuscan__define_raw(gpuscan__text *text, const char *name, uint32_t bytes, int of_64_bits) {
    char more[64];
    const char *raw = bytes == 32  ? "uint8"
                      : bytes == 16 ? (of_64_bits ? "ulong2" : "uint4")
                      : bytes == 8 ? "uint2"
                      : bytes == 4 ? "uint"
                      : bytes == 2 ? "ushort"
                      : bytes == 1 ? "uchar"
                                   : NULL;
    if (!raw)
        return;
    gpuscan__define(text, name, raw);
    snprintf(more, sizeof(more), "%s_SIZE", name);
    gpuscan__define_number(text, more, bytes);
    snprintf(more, sizeof(more), "%s_ULONGS", name);
    gpuscan__define_number(text, more, bytes == 16 && of_64_bits);
}

/* [OPERATIONS], the row and the plan ---------------------------------------------------------------------------- */

/* One range of a buffer that a call uses. */
typedef struct gpuscan__range {
    const char *field;
    gpuscan_buffer buffer;
    uint64_t elements; /* from buffer.offset on */
    uint32_t size;     /* of an element */
    uint64_t row, pitch; /* of several rows: bytes that each has, and from one to the next; 0: one row */
    int required; /* its buffer must be there */
    int reads, writes;
    int in_place; /* may be the same range as another with this number; 0: may not */
    int shorter;  /* and then end before it */
    int partial;  /* what a call does not write stays as it was: of a host array all is needed */
    int idle;     /* a call that reads a count of 0, and has no total, uses nothing of it: see gpuscan__rehearse */
    /* filled by the check: */
    cl_mem root;
    cl_mem_flags flags;
    uint64_t begin, end; /* bytes in the root */
    uint64_t size_left;  /* bytes from the offset to the buffer's end */
} gpuscan__range;

enum { GPUSCAN__MAX_RANGES = 8 + 2 * GPUSCAN_MAX_PAYLOADS };

/* Bytes that a call needs of each kind of scratch. */
typedef struct gpuscan__need {
    uint64_t bytes[GPUSCAN__SCRATCHES];
} gpuscan__need;

/* A call on its way. Each operation has a struct of its own that begins with this one. */
struct gpuscan__plan {
    const gpuscan__operation *operation;
    const void *desc; /* the operation's */
    const gpuscan_call *call;

    /* resolve: from the arguments */
    gpuscan__elements e; /* not of a histogram */
    gpuscan__range ranges[GPUSCAN__MAX_RANGES];
    size_t range_count;
    uint32_t flags;  /* GPUSCAN__FLAG_... */
    int from_host;   /* the call is on host arrays: see [HOST ARRAYS] */
    int is_run;      /* a call, not its preparation: all buffers must be there */
    const void *init; /* on the host; NULL: none */
    cl_mem init_mem;  /* owned: init, where it is too large for an argument */
    int is_nothing;  /* nothing to compute and nothing to write */
    int reads_scratch; /* the host does: for a result */
    int is_enqueued; /* commands of the call may be in its queue: set before the first */

    /* given to choose */
    int in_place;              /* src and dst are the same range */
    size_t group_limit;        /* work-items a group at most: the device's, or what the call's kernels can do */
    int is_stand_in;           /* its custom text is the self-test's, not the caller's */
    const gpuscan__key *forced; /* of a self-test: the key of the program under test; NULL: choose one */

    /* choose: from elements and profile */
    gpuscan__key key;
    gpuscan__need need;
    int not_built; /* the driver did not build the program */

    cl_mem_flags scratch_flags; /* checked: of the caller's scratch */
};

typedef struct gpuscan__chain gpuscan__chain;

/* An operation is a row: what it does at each step of the one path that all calls take (gpuscan__do). */
struct gpuscan__operation {
    const char *name;
    uint32_t number;  /* GPUSCAN__OPERATION_... */
    int uses_scratch; /* some of its calls do */
    int trusts_group; /* with NVIDIA's lanes its kernels run with the group that they were built for, though the driver
                         may report less; a scan of that takes what is reported, which suits its rows */
    /* Arguments to elements and ranges: all checks but those of buffers. */
    gpuscan_result (*resolve)(gpuscan *gs, gpuscan__plan *plan);
    /* Elements, counts and profile to the program's key, the groups and the scratch. May be called again with a smaller
       group_limit or a strategy less. */
    gpuscan_result (*choose)(gpuscan *gs, gpuscan__plan *plan);
    /* The names of the key's kernels, and NULL. */
    const char *const *(*kernels)(const gpuscan__key *key);
    /* The program's text before the kernels. */
    void (*define)(gpuscan__text *text, const gpuscan *gs, const gpuscan__plan *plan);
    gpuscan_result (*enqueue)(gpuscan__chain *chain, const gpuscan__plan *plan, gpuscan__program *program);
    /* Runs the program that was built for a plan on data of its own; *right: it gave what a loop on the host gives. */
    gpuscan_result (*self_test)(gpuscan *gs, const gpuscan__plan *plan, gpuscan__program *program, int *right);
};

/* The row of an operation, at the end of its section. */
#define GPUSCAN__OPERATION(name, uses_scratch, trusts_group)                                                           \
    static const gpuscan__operation gpuscan__##name##_operation = {                                                    \
        #name,                    GPUSCAN__OPERATION_##name, uses_scratch,             trusts_group,                   \
        gpuscan__##name##_resolve, gpuscan__##name##_choose, gpuscan__##name##_kernels, gpuscan__##name##_define,      \
        gpuscan__##name##_enqueue, gpuscan__##name##_self_test}

static gpuscan_strategy gpuscan__key_strategy(const gpuscan__key *key) {
    return (gpuscan_strategy)key->strategy;
}

static int gpuscan__key_is_cpu(const gpuscan__key *key) {
    return gpuscan__is_cpu_strategy(gpuscan__key_strategy(key));
}

/* What the key of every operation on elements begins with. */
static void gpuscan__key_elements(gpuscan__plan *plan) {
    const gpuscan__elements *e = &plan->e;
    plan->key.operation = plan->operation->number;
    plan->key.src = (uint32_t)e->src;
    plan->key.dst = (uint32_t)e->dst;
    plan->key.op = (uint32_t)e->op;
    plan->key.custom_size = e->custom ? (uint32_t)e->custom->size : 0;
}

/* [DEVICE PROFILE] ------------------------------------------------------------------------------------------------- */

#define GPUSCAN__ALL UINT64_MAX
#define GPUSCAN__KIB ((uint32_t)1 << 10)
#define GPUSCAN__MIB ((uint32_t)1 << 20)

static void gpuscan__set_by_size(uint32_t *values, uint32_t small, uint32_t large) {
    values[GPUSCAN__SMALL] = small;
    values[GPUSCAN__LARGE] = large;
}

/* columns: up_to, strategy, group, vectors, ahead, registers, size, src_size, inclusive */
#define GPUSCAN__TUNE(profile, list)                                                                                   \
    do {                                                                                                               \
        (void)sizeof(char[sizeof(list) <= sizeof((profile)->scan) ? 1 : -1]);                                          \
        memcpy((profile)->scan, list, sizeof(list));                                                                   \
        (profile)->scan_count = (uint32_t)GPUSCAN__COUNT_OF(list);                                                     \
    } while (0)

/* For whatever call no row of the list matches. */
static void gpuscan__tune_rest(gpuscan__profile *p, gpuscan_strategy strategy, uint32_t group, uint32_t vectors) {
    memset(&p->scan_rest, 0, sizeof(p->scan_rest));
    p->scan_rest.up_to = GPUSCAN__ALL;
    p->scan_rest.strategy = strategy;
    p->scan_rest.group = group;
    p->scan_rest.vectors = vectors;
}

/* The base, from which each row of the table below differs by what its function sets: a device of which nothing is
   known, not even the forward progress of its groups. Small groups and few of them run on anything. */
static void gpuscan__profile_base(gpuscan__profile *p) {
    memset(p, 0, sizeof(*p));
    p->fence = GPUSCAN__FENCE_NONE;
    p->lanes = GPUSCAN__LANES_NONE;
    p->lane_width = 32;
    p->polls = 4096;
    gpuscan__tune_rest(p, GPUSCAN_STRATEGY_MULTI_PASS, 64, 4);
    p->groups_per_unit = 4;
    p->chunk = 256 * GPUSCAN__KIB;
    p->reduce = GPUSCAN_STRATEGY_MULTI_PASS;
    p->reduce_group = 64;
    gpuscan__set_by_size(p->reduce_vectors, 4, 4);
    gpuscan__set_by_size(p->reduce_per_unit, 4, 4);
    p->segment_group = 64;
    p->segment_vectors = 4;
    p->segment_items = 15; /* odd: neighbours then read different banks of local memory */
    p->segment_per_unit = 4;
    p->histogram = GPUSCAN_STRATEGY_SINGLE_PASS;
    p->select_tile = 8192;
    p->rows_group = 256;
    p->rows_vectors = 4; /* half of it where rows are few; H200, many: 176 us with 2 of 512 or 1024, 160 with 4 */
    p->counts_group = 64;
    p->counts_vectors = 4;
    gpuscan__set_by_size(p->counts_per_unit, 4, 4);
    p->counts_per_unit_far = 4;
    gpuscan__set_by_size(p->counts_least, 4, 4);
    gpuscan__set_by_size(p->counts_copies, 4, 4);
    p->counts_local = 16 * GPUSCAN__KIB;
    p->counts_slices = 8;
    p->sort = GPUSCAN_STRATEGY_MULTI_PASS;
    p->sort_group = 64;
    p->sort_vectors = 4;
    p->sort_small = 1 << 14;
    p->sort_part = 1 << 15;
    p->sort_parts = 4;
}

/* A simulator: everything is tried, at sizes that a simulator can bear. It runs groups in order, so mem_fence orders
   what groups write. */
static void gpuscan__profile_simulator(gpuscan__profile *p) {
    p->fence = GPUSCAN__FENCE_MEM;
    p->polls = 64;
    gpuscan__tune_rest(p, GPUSCAN_STRATEGY_SINGLE_PASS, 32, 2);
    p->chunk = 4 * GPUSCAN__KIB;
    p->reduce = GPUSCAN_STRATEGY_SINGLE_PASS;
    p->reduce_group = 32;
    gpuscan__set_by_size(p->reduce_vectors, 2, 2);
    p->segment_group = 32;
    p->segment_vectors = 2;
    p->segment_items = 5;
    p->counts_group = 32;
    gpuscan__set_by_size(p->counts_least, 2, 2);
    gpuscan__set_by_size(p->counts_copies, 2, 2);
    p->counts_pipe = 1;
    p->short_group = 32;
    p->short_vectors = 2;
    p->counts_slices = 4;
    p->slice_more = 8;
    p->slice_short = 48;
    p->sort_group = 32;
    p->sort_vectors = 2;
}

/* A GPU: groups of 256 and enough of them to fill its units. */
static void gpuscan__profile_gpu(gpuscan__profile *p) {
    gpuscan__tune_rest(p, GPUSCAN_STRATEGY_MULTI_PASS, 256, 4);
    p->groups_per_unit = 8;
    p->reduce_group = 256;
    gpuscan__set_by_size(p->reduce_per_unit, 8, 8);
    p->segment_group = 256;
    p->segment_per_unit = 8;
    p->counts_group = 256;
    p->sort_group = 256;
    p->sort_vectors = 8;
}

/* A GPU whose groups make progress beside each other: AMD's and Intel's passed the tests of Sorensen and others, 2021.
   Not measured here: the numbers are those of comparable libraries. */
static void gpuscan__profile_progress(gpuscan__profile *p) {
    gpuscan__profile_gpu(p);
    gpuscan__tune_rest(p, GPUSCAN_STRATEGY_SINGLE_PASS, 256, 4);
    p->reduce = GPUSCAN_STRATEGY_SINGLE_PASS;
    gpuscan__set_by_size(p->counts_copies, 8, 8);
    p->counts_local = 32 * GPUSCAN__KIB;
}

/* By NVIDIA's own driver; other drivers of its GPUs (Mesa, PoCL) do not take its instructions. All measured on an H200;
   times are us at 2^28 elements where nothing else is said. */
static void gpuscan__profile_nvidia(gpuscan__profile *p) {
    /* Small: as many groups as share the work, all of which run at once. Large: 24 MiB ahead is what a cache of 50 MB
       holds beside all else (170 to 300 tiles of 48 KiB were tried; either end loses 2 %); the rows and registers are
       the most bytes in flight a multiprocessor without spills: 64 registers hold 8 rows of 4 bytes (566 us), inclusive
       scans of integers want 72 (569; in 64: 597). Packed elements need fewer; bytes and 16 bits that are not packed
       want small groups (2^28 bytes: maxima of i16 152, in groups of 256 with 64 registers 219; of i8 228 and 263), and
       structs more registers (16 bytes: 178, in 64 266; 32 bytes: 264). For 8 bytes the compiler's choice serves
       exclusive scans (u64, f64, affine: 1134 to 1145; inclusive: 1146, 1475, 1210), and 80 inclusive ones (1151, 1166,
       1197; 6 rows in 64 take 1166 for all), 22 MiB ahead (u64 at 2^30: 4546; 24 MiB: 4558). */
    static const gpuscan__tuning scan[] = {
        {64 * GPUSCAN__KIB, GPUSCAN_STRATEGY_SINGLE_PASS, 256, 1, 0, 64, 0, 0, 0, 0},
        {1 * GPUSCAN__MIB, GPUSCAN_STRATEGY_SINGLE_PASS, 512, 1, 0, 64, 1, 0, 0, 0},
        {512 * GPUSCAN__KIB, GPUSCAN_STRATEGY_SINGLE_PASS, 256, 2, 0, 64, 0, 0, 0, 0},
        {2 * GPUSCAN__MIB, GPUSCAN_STRATEGY_SINGLE_PASS, 256, 4, 0, 64, 0, 0, 0, 0},
        {12 * GPUSCAN__MIB, GPUSCAN_STRATEGY_SINGLE_PASS, 512, 4, 0, 64, 0, 0, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 128, 8, 24 * GPUSCAN__MIB, 64, 1, 0, 0, 1},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 128, 8, 24 * GPUSCAN__MIB, 80, 2, 0, 0, 1},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 4, 24 * GPUSCAN__MIB, 48, 1, 0, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 8, 24 * GPUSCAN__MIB, 64, 2, 0, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 8, 22 * GPUSCAN__MIB, 80, 8, 0, 1, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 8, 24 * GPUSCAN__MIB, 64, 8, 0, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 8, 32 * GPUSCAN__MIB, 48, 4, 1, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 8, 24 * GPUSCAN__MIB, 72, 4, 0, 1, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 8, 24 * GPUSCAN__MIB, 80, 16, 0, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 8, 24 * GPUSCAN__MIB, 80, 32, 0, 0, 0}};
    /* Selections, by the bytes of what decides, which are counted so far ahead. u32 at 2^28, 1 / 50 / 99 % kept: by
       bytes, in tiles of 24 Ki, 156 / 442 / 607 (16 Ki 182 / 449 / 604, 20 Ki 169 / 520 / 694), with a payload in tiles
       of 16 Ki 202 / 627 / 1049 (24 Ki 169 / 757 / 1162); their indices, in tiles of 20 Ki, 118 / 235 / 363 (16 Ki 181 /
       264 / 357, 24 Ki 135 / 238 / 350); by bits, two words a work-item, 133 / 486 / 703 (one: 182 / 400 / 590); by a
       predicate, 5 vectors a work-item, 368 / 472 / 600 (4: 378 / 467 / 596, 6: 411 / 522 / 680, 8: 389 / 494 / 616). 18
       MiB ahead cost that a sixth at 99 %. */
    static const gpuscan__tuning select[] = {
        {128 * GPUSCAN__KIB, GPUSCAN_STRATEGY_SINGLE_PASS, 512, 1, 0, 0, 0, 1, 0, 0},
        {256 * GPUSCAN__KIB, GPUSCAN_STRATEGY_SINGLE_PASS, 256, 2, 0, 0, 0, 0, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 5, 5 * GPUSCAN__MIB, 0, 1, 1, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 512, 2, 4 * GPUSCAN__MIB, 0, 2, 1, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 512, 3, 4 * GPUSCAN__MIB, 0, 0, 1, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 5, 12 * GPUSCAN__MIB, 0, 0, 0, 0, 0},
        {GPUSCAN__ALL, GPUSCAN_STRATEGY_SINGLE_PASS, 512, 2, 0, 0, 0, 0, 0, 0}}; /* where that is forced */
    gpuscan__profile_progress(p);
    p->fence = GPUSCAN__FENCE_PTX;
    p->lanes = GPUSCAN__LANES_PTX;
    p->sort = GPUSCAN_STRATEGY_SINGLE_PASS;
    gpuscan__set_by_size(p->sort_rounds, 36, 16);
    gpuscan__set_by_size(p->sort_registers, 80, 128);
    p->nulls = 1; /* each buffer among a kernel's arguments costs the host 0.4 us a launch */
    p->polls = 20000;
    GPUSCAN__TUNE(p, scan);
    memcpy(p->select, select, sizeof(select));
    p->select_count = (uint32_t)GPUSCAN__COUNT_OF(select);
    p->select_tile = 24 * GPUSCAN__KIB;
    gpuscan__tune_rest(p, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 256, 8);
    p->scan_rest.ahead = 24 * GPUSCAN__MIB;
    p->scan_rest.registers = 64;
    /* 8 loads in flight and two groups of 512 with all registers that they can have (u32 at 2^10, 2^20, 2^28: 5.9, 7.7,
       242; four groups with fewer: 6.9, 9.5, 249) */
    p->reduce_group = 512;
    gpuscan__set_by_size(p->reduce_vectors, 8, 8);
    gpuscan__set_by_size(p->reduce_per_unit, 2, 2);
    gpuscan__set_by_size(p->reduce_registers, 64, 64);
    /* rows of 8, segments of 8 and of 100, at 2^28: 399, 619, 421; of 15 steps: 458, 680, 508; of 31: 398, 638, 426; in
       48 registers and five groups of 23: 393, 731, 567 */
    p->segment_items = 23;
    p->segment_per_unit = 4;
    p->segment_registers = 64;
    /* One group of 1024 and its bins a multiprocessor, with all registers that it can have, for loads in flight while
       samples are counted; 32 copies of a byte's bins never meet in a bank, and other samples come too slowly for that
       to matter. */
    p->counts_group = 1024;
    gpuscan__set_by_size(p->counts_per_unit, 1, 1);
    p->counts_per_unit_far = 2;
    gpuscan__set_by_size(p->counts_least, 2, 2);
    gpuscan__set_by_size(p->counts_copies, 32, 16);
    p->counts_registers = 64;
    p->counts_local = 48 * GPUSCAN__KIB;
    p->counts_slices = 16;
    p->slice_more = 8;
    p->slice_short = 48;
    /* Small: what counts is what runs once. Groups of 512 start sooner (2^16 i32: 6.6; 1024: 7.3), four loads at once
       wait once, and two vectors a work-item are worth a group more. */
    p->counts_pipe = 1;
    p->short_group = 512;
    p->short_vectors = 4;
}

/* llvmpipe ends every loop after 65535 rounds without a word, so work-items must not go far: groups, as on a GPU. It
   also takes launches of unequal groups for finished too early (49 of 300 scans wrong, Mesa 22.3). */
static void gpuscan__profile_llvmpipe(gpuscan__profile *p) {
    p->refused = 1u << GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD;
    p->groups_per_unit = 64;
    gpuscan__set_by_size(p->reduce_per_unit, 16, 16);
    gpuscan__set_by_size(p->counts_per_unit, 16, 16);
    p->counts_per_unit_far = 16;
    gpuscan__set_by_size(p->counts_least, 16, 16);
    gpuscan__set_by_size(p->counts_copies, 2, 2);
    p->rows_group = 0; /* it computes tiles of whole rows wrong (Mesa 22.3), which PoCL and Oclgrind do not */
}

/* A CPU. Up to 256 KiB one work-item does all in one launch; a chunk stays in a core's second-level cache between its
   two readings. Histograms: of groups that draw their work and have local tables one a thread will do. Large outputs
   are stored past the caches: u32, 2^26, Sapphire Rapids, ms through and past them: 2 threads 23.8 and 15.7, 16 threads
   5.9 and 3.7 (without any prefetch 23.8 and 5.0). Half to eight times the distance does as well. */
static void gpuscan__profile_cpu(gpuscan__profile *p) {
    static const gpuscan__tuning scan[] = {
        {256 * GPUSCAN__KIB, GPUSCAN_STRATEGY_CPU_MULTI_PASS, 64, 4, 0, 0, 0, 0, 0, 0}};
    p->polls = 256;
    GPUSCAN__TUNE(p, scan);
    gpuscan__tune_rest(p, GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 64, 4);
    p->prefetch_src = 2048;
    p->reduce = GPUSCAN_STRATEGY_CPU_SINGLE_PASS;
    p->histogram = GPUSCAN_STRATEGY_CPU_MULTI_PASS;
    gpuscan__set_by_size(p->counts_per_unit, 4, 1);
    p->counts_per_unit_far = 1;
    gpuscan__set_by_size(p->counts_copies, 8, 8);
    p->counts_pipe = 1;
    p->short_group = 64;
    p->short_vectors = 2;
    p->counts_local = 1 * GPUSCAN__MIB;
    p->counts_slices = 4;
    p->slice_more = 8;
    p->slice_short = 48;
    p->sort = GPUSCAN_STRATEGY_CPU_MULTI_PASS;
}

/* A core of the Skylake server generation (PoCL's name says it; Cascade Lake was not there to try) writes faster
   through its caches, if it asks for the lines early and leaves room for them: u32, 2^26, 2 threads: 22.9 ms, past them
   25.5, without any prefetch 27.5. */
static void gpuscan__profile_skylake(gpuscan__profile *p) {
    gpuscan__profile_cpu(p);
    p->chunk = 128 * GPUSCAN__KIB;
    p->prefetch_src = 1024;
    p->prefetch_dst = 512;
}

static void gpuscan__profile_nothing_more(gpuscan__profile *p) {
    (void)p;
}

/* The first row that matches is the device's; the last matches every device. */
static const struct {
    const char *name;
    cl_device_type type; /* matches when any of these bits is the device's */
    cl_uint vendor;      /* CL_DEVICE_VENDOR_ID; 0: any */
    const char *part;    /* a part of the device's or platform's name; NULL: any */
    void (*set)(gpuscan__profile *p); /* what differs from the base */
} gpuscan__profiles[] = {
    {"simulator", CL_DEVICE_TYPE_ALL, 0, "Oclgrind", gpuscan__profile_simulator},
    {"NVIDIA GPU", CL_DEVICE_TYPE_GPU, 0x10de, "NVIDIA CUDA", gpuscan__profile_nvidia},
    {"AMD GPU", CL_DEVICE_TYPE_GPU, 0x1002, NULL, gpuscan__profile_progress},
    {"Intel GPU", CL_DEVICE_TYPE_GPU, 0x8086, NULL, gpuscan__profile_progress},
    {"GPU", CL_DEVICE_TYPE_GPU, 0, NULL, gpuscan__profile_gpu},
    {"llvmpipe", CL_DEVICE_TYPE_ALL, 0, "llvmpipe", gpuscan__profile_llvmpipe},
    {"Skylake CPU", CL_DEVICE_TYPE_CPU, 0, "skylake-avx512", gpuscan__profile_skylake},
    {"CPU", CL_DEVICE_TYPE_CPU, 0, NULL, gpuscan__profile_cpu},
    {"accelerator", CL_DEVICE_TYPE_ALL, 0, NULL, gpuscan__profile_nothing_more},
};

/* A device's number; 0 when it does not say. */
static cl_ulong gpuscan__device_number(const gpuscan_opencl *cl, cl_device_id device, cl_device_info what) {
    union {
        cl_ulong u64;
        cl_uint u32;
    } value;
    size_t size = 0;
    value.u64 = 0;
    if (cl->clGetDeviceInfo(device, what, sizeof(value), &value, &size) != CL_SUCCESS)
        return 0;
    return size == sizeof(cl_uint) ? value.u32 : value.u64;
}

/* A device's text; "" when it does not say, or says more than fits. */
static void gpuscan__device_text(const gpuscan_opencl *cl, cl_device_id device, cl_device_info what, char *text,
                                 size_t size) {
    text[0] = 0;
    if (cl->clGetDeviceInfo(device, what, size, text, NULL) != CL_SUCCESS)
        text[0] = 0;
    text[size - 1] = 0;
}

static void gpuscan__platform_name(const gpuscan_opencl *cl, cl_platform_id platform, char *text, size_t size) {
    text[0] = 0;
    if (cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, text, NULL) != CL_SUCCESS)
        text[0] = 0;
    text[size - 1] = 0;
}

/* "OpenCL 3.0 ..." or "OpenCL C 1.2 ...": 300, 120; 0 when it is neither. */
static int gpuscan__version(const char *text) {
    int major = 0;
    while (*text && (*text < '0' || *text > '9'))
        text++;
    for (; *text >= '0' && *text <= '9' && major < 1000; text++)
        major = major * 10 + (*text - '0');
    return text[0] == '.' && text[1] >= '0' && text[1] <= '9' ? major * 100 + (text[1] - '0') * 10 : 0;
}

/* OpenCL C 3.0 makes fences of device scope optional; 2.x has them. */
static int gpuscan__has_opencl_fence(gpuscan *gs) {
    gpuscan__cl_name_version features[64];
    size_t size = 0, i;
    int order = 0, scope = 0;
    if (gs->device.version < 200)
        return 0;
    if (gs->device.version < 300)
        return gs->device.c_version >= 200;
    if (gs->cl.clGetDeviceInfo(gs->device_id, GPUSCAN__CL_DEVICE_OPENCL_C_FEATURES, sizeof(features), features,
                               &size) != CL_SUCCESS)
        return 0;
    for (i = 0; i < size / sizeof(features[0]); i++) {
        order |= strcmp(features[i].name, "__opencl_c_atomic_order_acq_rel") == 0;
        scope |= strcmp(features[i].name, "__opencl_c_atomic_scope_device") == 0;
    }
    return order && scope;
}

/* The fence of device scope, and the build options with it: the profile's, where the lanes have what it takes, or
   OpenCL's own. */
static void gpuscan__choose_fence(gpuscan *gs) {
    gpuscan__device *device = &gs->device;
    device->build_options = "";
    device->fence = device->profile.fence;
    if (device->fence == GPUSCAN__FENCE_MEM) /* the simulator: what the optimiser makes of unions is too wide for it */
        device->build_options = "-cl-opt-disable";
    if (device->fence == GPUSCAN__FENCE_PTX && device->lanes != GPUSCAN__LANES_PTX)
        device->fence = GPUSCAN__FENCE_NONE;
    if (device->fence == GPUSCAN__FENCE_NONE && gpuscan__has_opencl_fence(gs)) {
        device->fence = GPUSCAN__FENCE_OPENCL2;
        device->build_options = device->version >= 300 ? "-cl-std=CL3.0" : "-cl-std=CL2.0";
    }
    if (gs->limits.without & GPUSCAN_WITHOUT_FENCE) {
        device->fence = GPUSCAN__FENCE_NONE;
        device->build_options = "";
    }
}

/* At least 1. */
static size_t gpuscan__power_of_two_below(size_t x) {
    size_t power = 1;
    while (power <= x / 2)
        power *= 2;
    return power;
}

static int gpuscan__profile_matches(const gpuscan__device *device, size_t row) {
    const char *part = gpuscan__profiles[row].part;
    cl_uint vendor = gpuscan__profiles[row].vendor;
    return row == GPUSCAN__COUNT_OF(gpuscan__profiles) - 1 ||
           ((gpuscan__profiles[row].type & device->type) && (!vendor || vendor == device->vendor) &&
            (!part || strstr(device->name, part) || strstr(device->platform, part)));
}

/* Fills gs->device from queries, the profile table and the desc's limits. */
static gpuscan_result gpuscan__open_device(gpuscan *gs) {
    gpuscan__device *device = &gs->device;
    const gpuscan_opencl *cl = &gs->cl;
    gpuscan__profile *profile;
    cl_device_id id = gs->device_id;
    cl_platform_id platform = NULL;
    char text[16384];
    size_t sizes[3] = {1, 1, 1}, i;
    uint32_t without = gs->limits.without;

    device->type = (cl_device_type)gpuscan__device_number(cl, id, CL_DEVICE_TYPE);
    device->vendor = (cl_uint)gpuscan__device_number(cl, id, CL_DEVICE_VENDOR_ID);
    device->units = (cl_uint)gpuscan__device_number(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS);
    if (device->units == 0)
        device->units = 1;
    device->work_items = SIZE_MAX;
    if (gpuscan__device_number(cl, id, CL_DEVICE_ADDRESS_BITS) == 32)
        device->work_items = UINT32_MAX;
    device->cache = gpuscan__device_number(cl, id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    device->largest_buffer = gpuscan__device_number(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    gpuscan__device_text(cl, id, CL_DEVICE_NAME, device->name, sizeof(device->name));
    gpuscan__device_text(cl, id, CL_DRIVER_VERSION, device->driver, sizeof(device->driver));
    gpuscan__device_text(cl, id, CL_DEVICE_VERSION, device->version_text, sizeof(device->version_text));
    if (cl->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) == CL_SUCCESS && platform)
        gpuscan__platform_name(cl, platform, device->platform, sizeof(device->platform));
    device->version = gpuscan__version(device->version_text);
    gpuscan__device_text(cl, id, CL_DEVICE_OPENCL_C_VERSION, text, sizeof(text));
    device->c_version = gpuscan__version(text);
    if (device->version < 120 || !gpuscan__device_number(cl, id, CL_DEVICE_COMPILER_AVAILABLE))
        return gpuscan__fail(gs, GPUSCAN_ERROR_DEVICE_TOO_OLD, "%s is '%s'%s", device->name, device->version_text,
                             device->version < 120 ? "" : ", without a compiler");

    device->group_limit = (size_t)gpuscan__device_number(cl, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    if (cl->clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, NULL) == CL_SUCCESS &&
        sizes[0] < device->group_limit)
        device->group_limit = sizes[0];
    if (gs->limits.work_group_size && gs->limits.work_group_size < device->group_limit)
        device->group_limit = gs->limits.work_group_size;
    device->group_limit = gpuscan__power_of_two_below(device->group_limit);
    device->parameters = gpuscan__device_number(cl, id, CL_DEVICE_MAX_PARAMETER_SIZE);
    if (device->parameters == 0) /* it does not say: the least that OpenCL allows, as for local memory */
        device->parameters = 1024;
    device->local_memory = gpuscan__device_number(cl, id, CL_DEVICE_LOCAL_MEM_SIZE);
    if (device->local_memory == 0)
        device->local_memory = GPUSCAN__KIB;
    if (gs->limits.local_memory && gs->limits.local_memory < device->local_memory)
        device->local_memory = gs->limits.local_memory;

    device->f64 = gpuscan__device_number(cl, id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0 && !(without & GPUSCAN_WITHOUT_F64);
    gpuscan__device_text(cl, id, CL_DEVICE_EXTENSIONS, text, sizeof(text));
    device->int64_atomics =
        strstr(text, "cl_khr_int64_base_atomics") != NULL && !(without & GPUSCAN_WITHOUT_INT64_ATOMICS);
    device->zero_copy = (device->type & CL_DEVICE_TYPE_CPU) != 0 &&
                        gpuscan__device_number(cl, id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0 &&
                        !(without & GPUSCAN_WITHOUT_ZERO_COPY);

    profile = &device->profile;
    for (i = 0; !gpuscan__profile_matches(device, i); i++)
        continue;
    gpuscan__profile_base(profile);
    profile->name = gpuscan__profiles[i].name;
    gpuscan__profiles[i].set(profile);
    for (i = 0; i < GPUSCAN__OPERATION_COUNT; i++)
        gs->refused[i] = profile->refused;
    device->lanes = (without & GPUSCAN_WITHOUT_LANES) ? GPUSCAN__LANES_NONE : profile->lanes;
    device->lane_width = profile->lane_width;
    if (gs->limits.lanes) {
        device->lanes = GPUSCAN__LANES_LOCAL;
        device->lane_width = gs->limits.lanes;
    }
    if (device->lanes == GPUSCAN__LANES_PTX)
        device->registers = gpuscan__device_number(cl, id, 0x4002); /* CL_DEVICE_REGISTERS_PER_BLOCK_NV */
    gpuscan__choose_fence(gs);
    return GPUSCAN_SUCCESS;
}

/* The better of two devices: GPUs, then other accelerators, then CPUs; among equals by compute units times clock. */
static uint64_t gpuscan__device_rank(const gpuscan_opencl *cl, cl_device_id device) {
    cl_ulong type = gpuscan__device_number(cl, device, CL_DEVICE_TYPE);
    uint64_t speed = gpuscan__device_number(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS) *
                     gpuscan__device_number(cl, device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    uint64_t class_ = (type & CL_DEVICE_TYPE_GPU) ? 3 : (type & CL_DEVICE_TYPE_CPU) ? 1 : 2;
    if (speed >= (uint64_t)1 << 40)
        speed = ((uint64_t)1 << 40) - 1;
    return (class_ << 40) + speed + 1;
}

/* Appends to a list of names in words; what does not fit is left out. */
static void gpuscan__list_device(char *list, size_t size, const char *name, const char *platform) {
    size_t length = strlen(list);
    if (length + strlen(name) + strlen(platform) + 16 < size)
        snprintf(list + length, size - length, "%s'%s' of '%s'", length ? ", " : "", name, platform);
}

static gpuscan_result gpuscan__choose_device(gpuscan *gs, const char *wanted) {
    const gpuscan_opencl *cl = &gs->cl;
    char list[1024] = "";
    cl_platform_id platforms[64];
    cl_uint platform_count = 0, p, d;
    uint64_t best = 0;
    int found = 0;
    cl_int code = cl->clGetPlatformIDs(64, platforms, &platform_count);
    if (platform_count > 64)
        platform_count = 64;
    if (code == -1001 || (code == CL_SUCCESS && platform_count == 0))
        return gpuscan__fail(gs, GPUSCAN_ERROR_NO_PLATFORM,
                             "the OpenCL loader knows no driver: install the GPU's, or PoCL for the CPU (Debian: "
                             "pocl-opencl-icd)");
    if (code != CL_SUCCESS)
        return gpuscan__fail(gs, code, "clGetPlatformIDs failed");
    for (p = 0; p < platform_count; p++) {
        cl_device_id devices[64];
        cl_uint count = 0;
        char platform_name[256], name[256];
        if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 64, devices, &count) != CL_SUCCESS)
            continue;
        gpuscan__platform_name(cl, platforms[p], platform_name, sizeof(platform_name));
        for (d = 0; d < count && d < 64; d++) {
            uint64_t rank;
            char version[256];
            gpuscan__device_text(cl, devices[d], CL_DEVICE_NAME, name, sizeof(name));
            found++;
            gpuscan__list_device(list, sizeof(list), name, platform_name);
            if (wanted) {
                if (!strstr(name, wanted) && !strstr(platform_name, wanted))
                    continue;
                gs->device_id = devices[d];
                return GPUSCAN_SUCCESS;
            }
            gpuscan__device_text(cl, devices[d], CL_DEVICE_VERSION, version, sizeof(version));
            if (gpuscan__version(version) < 120 ||
                !gpuscan__device_number(cl, devices[d], CL_DEVICE_COMPILER_AVAILABLE))
                continue;
            rank = gpuscan__device_rank(cl, devices[d]);
            if (rank > best) {
                best = rank;
                gs->device_id = devices[d];
            }
        }
    }
    if (best)
        return GPUSCAN_SUCCESS;
    if (wanted)
        return gpuscan__fail(gs, GPUSCAN_ERROR_NO_DEVICE, "none of %d devices has '%.200s' in its name%s%s", found,
                             wanted, found ? ": there are " : "", list);
    if (found)
        return gpuscan__fail(gs, GPUSCAN_ERROR_DEVICE_TOO_OLD, "none of %d devices has OpenCL 1.2 and a compiler: %s",
                             found, list);
    return gpuscan__fail(gs, GPUSCAN_ERROR_NO_DEVICE, "the OpenCL loader knows drivers, but none has a device");
}

/* [PROGRAM CACHE] -------------------------------------------------------------------------------------------------- */

static uint64_t gpuscan__hash(uint64_t hash, const void *bytes, size_t count) { /* FNV-1a */
    const unsigned char *b = (const unsigned char *)bytes;
    while (count--)
        hash = (hash ^ *b++) * 0x100000001b3u;
    return hash;
}
#define GPUSCAN__HASH_START 0xcbf29ce484222325u

/* What a blob must agree with: the kernels, the device, its driver and its platform. */
static uint64_t gpuscan__device_hash(const gpuscan *gs) {
    uint64_t hash = GPUSCAN__HASH_START;
    size_t i;
    for (i = 0; i < GPUSCAN__COUNT_OF(gpuscan__kernels); i++)
        hash = gpuscan__hash(hash, gpuscan__kernels[i], strlen(gpuscan__kernels[i]));
    hash = gpuscan__hash(hash, gs->device.name, strlen(gs->device.name));
    hash = gpuscan__hash(hash, gs->device.platform, strlen(gs->device.platform));
    hash = gpuscan__hash(hash, gs->device.driver, strlen(gs->device.driver));
    hash = gpuscan__hash(hash, gs->device.version_text, strlen(gs->device.version_text));
    return gpuscan__hash(hash, gs->device.build_options, strlen(gs->device.build_options));
}

/* A blob: this header, then entries, each padded to 8 bytes. Numbers are in the host's order. */
typedef struct gpuscan__blob_header {
    char magic[8];
    uint64_t device_hash, size, entries, checksum; /* of all bytes after the header */
} gpuscan__blob_header;
typedef struct gpuscan__blob_entry {
    uint64_t prefix_length, binary_size; /* the prefix and the binary follow */
} gpuscan__blob_entry;
static const char gpuscan__blob_magic[8] = {'g', 'p', 'u', 's', 'c', 'a', 'n', '1'};

static uint64_t gpuscan__padded(uint64_t size) {
    return (size + 7) / 8 * 8;
}

/* The binary of a prefix in the blob that was set; NULL: not there. The blob was checked when it was set. */
static const unsigned char *gpuscan__blob_find(const gpuscan *gs, const char *prefix, size_t length, size_t *size) {
    size_t at = sizeof(gpuscan__blob_header);
    while (gs->blob && at < gs->blob_size) {
        gpuscan__blob_entry entry;
        memcpy(&entry, gs->blob + at, sizeof(entry));
        at += sizeof(entry);
        if (entry.prefix_length == length && memcmp(gs->blob + at, prefix, length) == 0) {
            *size = (size_t)entry.binary_size;
            return gs->blob + at + gpuscan__padded(length);
        }
        at += (size_t)(gpuscan__padded(entry.prefix_length) + gpuscan__padded(entry.binary_size));
    }
    return NULL;
}

static void gpuscan__free_program(gpuscan *gs, gpuscan__program *program) {
    size_t i;
    for (i = 0; i < GPUSCAN__MAX_KERNELS; i++)
        if (program->kernels[i])
            gs->cl.clReleaseKernel(program->kernels[i]);
    if (program->program)
        gs->cl.clReleaseProgram(program->program);
    gpuscan__release(&gs->allocator, program->custom);
    gpuscan__release(&gs->allocator, program->prefix);
    gpuscan__release(&gs->allocator, program);
}

static void gpuscan__free_programs(gpuscan *gs, gpuscan__program *programs) {
    while (programs) {
        gpuscan__program *next = programs->next;
        gpuscan__free_program(gs, programs);
        programs = next;
    }
}

enum { GPUSCAN__CUSTOM_TEXTS = 8 };

static const char *gpuscan__custom_text(const gpuscan_custom *custom, size_t i) {
    const char *const texts[] = {custom->source,  custom->type,   custom->combine, custom->identity,
                                 custom->convert, custom->select, custom->equal,   custom->key};
    (void)sizeof(char[sizeof(texts) == GPUSCAN__CUSTOM_TEXTS * sizeof(texts[0]) ? 1 : -1]);
    return texts[i] ? texts[i] : "";
}

static int gpuscan__same_custom(const gpuscan__program *program, const gpuscan_custom *custom) {
    size_t i, at = 0;
    if (!custom || !program->custom)
        return !custom && !program->custom;
    for (i = 0; i < GPUSCAN__CUSTOM_TEXTS; i++) {
        size_t length = strlen(gpuscan__custom_text(custom, i)) + 1;
        if (length > program->custom_length - at ||
            memcmp(program->custom + at, gpuscan__custom_text(custom, i), length) != 0)
            return 0;
        at += length;
    }
    return at == program->custom_length;
}

/* Puts the build log into gs->error, and gives the failure its class: the custom text's or the library's own. */
static gpuscan_result gpuscan__build_failed(gpuscan *gs, cl_program program, cl_int code, int custom) {
    size_t size = 0;
    char *log = NULL;
    gpuscan_result result = custom ? GPUSCAN_ERROR_CUSTOM_SOURCE : GPUSCAN_ERROR_BUILD;
    if (code != CL_BUILD_PROGRAM_FAILURE)
        return gpuscan__fail(gs, code, "clBuildProgram failed");
    if (gs->cl.clGetProgramBuildInfo(program, gs->device_id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS &&
        size > 1)
        log = (char *)gpuscan__allocate(&gs->allocator, size + 1);
    if (log) {
        memset(log, 0, size + 1);
        if (gs->cl.clGetProgramBuildInfo(program, gs->device_id, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
            log[0] = 0;
        if (custom && strstr(log, "gpuscan_custom_size_differs") && strstr(log, "negative"))
            result = GPUSCAN_ERROR_CUSTOM_SIZE;
        gpuscan__log(gs, GPUSCAN_LOG_ERROR, log);
    }
    gpuscan__fail(gs, result, "%sthe build log: %.*s",
                  result == GPUSCAN_ERROR_CUSTOM_SIZE ? "custom->size is not the type's size on the device; " : "",
                  (int)(sizeof(gs->error) - 200), log ? log : "(none)");
    gpuscan__release(&gs->allocator, log);
    return result;
}

/* Builds from the blob or from source, and creates the kernels. After a failure the caller frees the program, with what
   a driver gave together with an error code. */
static gpuscan_result gpuscan__build(gpuscan *gs, gpuscan__plan *plan, gpuscan__program *program) {
    const gpuscan_opencl *cl = &gs->cl;
    const char *const *names = program->names = plan->operation->kernels(&program->key);
    const unsigned char *binary;
    size_t size = 0, i;
    cl_int code = CL_SUCCESS;
    char options[96]; /* what is added to the device's is in the prefix too: two programs never differ in it alone */
    /* -w: some compilers print warnings, those of custom texts, too, where the program's own output goes */
    snprintf(options, sizeof(options), "-w %s", gs->device.build_options);
    if (program->key.registers)
        snprintf(options, sizeof(options), "-w %s -cl-nv-maxrregcount=%u", gs->device.build_options,
                 (unsigned)program->key.registers);
    binary = gpuscan__blob_find(gs, program->prefix, program->prefix_length, &size);
    if (binary) {
        cl_int status = CL_SUCCESS;
        program->program =
            cl->clCreateProgramWithBinary(gs->context, 1, &gs->device_id, &size, &binary, &status, &code);
        if (program->program && (code != CL_SUCCESS || status != CL_SUCCESS ||
                                 cl->clBuildProgram(program->program, 1, &gs->device_id, options, NULL, NULL) !=
                                     CL_SUCCESS)) {
            cl->clReleaseProgram(program->program);
            program->program = NULL;
        }
        if (!program->program)
            gpuscan__log(gs, GPUSCAN_LOG_WARNING, "the driver refuses a program of the blob: building from source");
    }
    if (!program->program) {
        const char *sources[1 + GPUSCAN__COUNT_OF(gpuscan__kernels)];
        sources[0] = program->prefix;
        for (i = 0; i < GPUSCAN__COUNT_OF(gpuscan__kernels); i++)
            sources[1 + i] = gpuscan__kernels[i];
        program->program =
            cl->clCreateProgramWithSource(gs->context, (cl_uint)GPUSCAN__COUNT_OF(sources), sources, NULL, &code);
        if (!program->program || code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "clCreateProgramWithSource failed");
        code = cl->clBuildProgram(program->program, 1, &gs->device_id, options, NULL, NULL);
        plan->not_built = code != CL_SUCCESS;
        if (code != CL_SUCCESS)
            return gpuscan__build_failed(gs, program->program, code, plan->e.custom != NULL && !plan->is_stand_in);
        if (gs->logger.log) {
            char message[160];
            snprintf(message, sizeof(message), "built a program of %s, strategy %s, types %u and %u, op %u",
                     plan->operation->name, gpuscan__strategies[program->key.strategy].name,
                     (unsigned)program->key.src, (unsigned)program->key.dst, (unsigned)program->key.op);
            gpuscan__log(gs, GPUSCAN_LOG_INFO, message);
        }
    }
    for (i = 0; names[i]; i++) {
        program->kernels[i] = cl->clCreateKernel(program->program, names[i], &code);
        if (!program->kernels[i] || code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "clCreateKernel(%s) failed", names[i]);
    }
    return GPUSCAN_SUCCESS;
}

/* Whether a group is of whole sub-groups, whose lanes exchange. */
static int gpuscan__whole_lanes(const gpuscan *gs, uint32_t group) {
    return gs->device.lanes != GPUSCAN__LANES_NONE && group % gs->device.lane_width == 0;
}

static int gpuscan__uses_lanes(const gpuscan *gs, const gpuscan__key *key) {
    return !gpuscan__key_is_cpu(key) && gpuscan__whole_lanes(gs, key->group);
}

static int gpuscan__uses_ptx(const gpuscan *gs, const gpuscan__key *key) {
    return gs->device.lanes == GPUSCAN__LANES_PTX && gpuscan__uses_lanes(gs, key);
}

/* The bytes through which LANES_LOCAL exchanges. */
static uint64_t gpuscan__lanes_bytes(const gpuscan *gs, uint32_t group) {
    return gs->device.lanes == GPUSCAN__LANES_LOCAL && gpuscan__whole_lanes(gs, group) ? (uint64_t)group * 4 : 0;
}

static uint32_t gpuscan__group_lanes(const gpuscan *gs, uint32_t group) {
    return group < gs->device.lane_width ? group : gs->device.lane_width;
}

/* What a kernel that is not told its group's size may use: only where every work-item of the group can have as many. */
static uint32_t gpuscan__registers(const gpuscan *gs, const gpuscan__key *key, uint32_t registers) {
    return gpuscan__uses_ptx(gs, key) && (uint64_t)registers * key->group <= gs->device.registers ? registers : 0;
}

/* The largest group that a program's kernels can be launched with. */
static gpuscan_result gpuscan__program_group(gpuscan *gs, const gpuscan__plan *plan, gpuscan__program *program,
                                             size_t *group) {
    size_t i;
    *group = program->group;
    if (*group)
        return GPUSCAN_SUCCESS;
    *group = program->key.group;
    if (plan->operation->trusts_group && gpuscan__uses_ptx(gs, &program->key))
        return GPUSCAN_SUCCESS;
    for (i = 0; i < GPUSCAN__MAX_KERNELS && program->kernels[i]; i++) {
        size_t size = 0;
        cl_int code = gs->cl.clGetKernelWorkGroupInfo(program->kernels[i], gs->device_id, CL_KERNEL_WORK_GROUP_SIZE,
                                                      sizeof(size), &size, NULL);
        if (code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "clGetKernelWorkGroupInfo failed");
        if (size < *group)
            *group = size;
    }
    program->group = *group;
    return GPUSCAN_SUCCESS;
}

/* What all programs are told: the constants, the device and the shape. */
static void gpuscan__define_shape(gpuscan__text *text, const gpuscan *gs, const gpuscan__key *key, uint32_t vector) {
    int cpu = gpuscan__key_is_cpu(key);
    int ptx = gpuscan__uses_ptx(gs, key);
    size_t i;
    for (i = 0; i < GPUSCAN__COUNT_OF(gpuscan__device_constants); i++)
        gpuscan__define_number(text, gpuscan__device_constants[i].name, gpuscan__device_constants[i].value);
    gpuscan__define_number(text, "CPU", (uint64_t)cpu);
    gpuscan__define_number(text, "PTX", (uint64_t)ptx);
    gpuscan__define_number(text, "FENCE", (uint64_t)gs->device.fence);
    gpuscan__define_number(text, "HAS_F64", (uint64_t)gs->device.f64);
    gpuscan__text_add(text, "#pragma OPENCL FP_CONTRACT OFF\n");
    if (gs->device.f64)
        gpuscan__text_add(text, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    gpuscan__define_number(text, "GROUP", key->group);
    gpuscan__define_number(text, "LANES", gpuscan__group_lanes(gs, key->group));
    gpuscan__define_number(text, "LANES_KIND",
                           (uint64_t)(gpuscan__uses_lanes(gs, key) ? gs->device.lanes : GPUSCAN__LANES_NONE));
    gpuscan__define_number(text, "ITEM_VECTORS", key->vectors);
    gpuscan__define_number(text, "VECTOR", vector);
    gpuscan__define_number(text, "TILE", key->tile);
    gpuscan__define_number(text, "WORD", key->word);
    gpuscan__define_number(text, "POLLS", gs->device.profile.polls);
    gpuscan__define_number(text, "PREFETCH_SRC", gs->device.profile.prefetch_src);
    gpuscan__define_number(text, "PREFETCH_DST", gs->device.profile.prefetch_dst);
    gpuscan__define_number(text, "TICKETS", GPUSCAN__TICKETS_SIZE / sizeof(cl_uint));
}

/* One of the caller's texts, between two of the library's. It may have several lines, which a build log counts, and end
   in a comment or a backslash. */
static void gpuscan__custom_lines(gpuscan__text *text, const char *before, const char *name, const char *lines,
                                  const char *after) {
    gpuscan__text_add(text, before);
    gpuscan__text_add(text, "\n#line 1 \"custom");
    gpuscan__text_add(text, name);
    gpuscan__text_add(text, "\"\n");
    gpuscan__text_add(text, lines);
    gpuscan__text_add(text, "\n\n");
    gpuscan__text_add(text, after);
}

/* Ends the macros that a custom text defines where they could have a name that kernels use: those in lower case. */
static void gpuscan__undefine(gpuscan__text *text, const char *source) {
    const char *at, *name, *end;
    for (at = source; at; at = strchr(at, '\n')) {
        at += strspn(at, " \t\r\n");
        name = at + strspn(at, "# \t");
        if (*at != '#' || strncmp(name, "define", 6) != 0)
            continue;
        name += 6;
        name += strspn(name, " \t");
        end = name + strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if (*name < 'a' || *name > 'z')
            continue;
        gpuscan__text_add(text, "#undef ");
        gpuscan__text_bytes(text, name, (size_t)(end - name));
        gpuscan__text_add(text, "\n");
    }
}

static void gpuscan__define_custom_type(gpuscan__text *text, const gpuscan_custom *custom) {
    gpuscan__define_number(text, "CUSTOM_SIZE", custom->size);
    gpuscan__custom_lines(text, "typedef", " type", custom->type, "gpuscan_custom_type;\n");
    /* no array of a negative size can be declared, so a wrong size fails to compile, by this name; said of the text
       itself, since compilers take a type that they do not know for an int */
    gpuscan__custom_lines(text, "typedef char gpuscan_custom_size_differs[sizeof(", " type", custom->type,
                          ") == GPUSCAN_CUSTOM_SIZE ? 1 : -1];\n");
}

/* The caller's texts. Each expression is a function's, whose parameters are all that it sees besides the source. */
static void gpuscan__define_custom(gpuscan__text *text, const gpuscan__elements *e) {
    const gpuscan_custom *custom = e->custom;
    if (custom->source)
        gpuscan__custom_lines(text, "", "", custom->source, "");
    if (e->src == GPUSCAN_TYPE_CUSTOM || e->dst == GPUSCAN_TYPE_CUSTOM)
        gpuscan__define_custom_type(text, custom);
    if (e->op == GPUSCAN_OP_CUSTOM) {
        gpuscan__custom_lines(text, "static inline GPUSCAN_T gpuscan_custom_combine(GPUSCAN_T a, GPUSCAN_T b) { return",
                              " combine", custom->combine, ";}\n");
        gpuscan__custom_lines(text, "static inline GPUSCAN_T gpuscan_custom_identity(void) { return", " identity",
                              custom->identity, ";}\n");
    }
    if (e->convert)
        gpuscan__custom_lines(text,
                              "static inline GPUSCAN_CONVERTED gpuscan_custom_convert(GPUSCAN_VALUE x, ulong i) {"
                              " return (",
                              e->selects ? " select" : " convert", e->convert,
                              !e->selects  ? ");}\n"
                              : e->inverts ? ") == 0;}\n"
                                           : ") != 0;}\n");
    if (custom->source)
        gpuscan__undefine(text, custom->source);
}

/* Whether init is a kernel's argument: its buffers and numbers take less than 256 bytes beside it. */
static int gpuscan__init_by_value(const gpuscan *gs, const gpuscan__elements *e) {
    return e->dst_size + 256u <= gs->device.parameters;
}

/* What the operations on elements are told besides. operation: the macro that switches its kernels on. A scan says also
   whether it is inclusive, and which form of a single pass it is. */
static void gpuscan__define_operation(gpuscan__text *text, const gpuscan *gs, const gpuscan__plan *plan,
                                      const char *operation, uint32_t vector, int inclusive, int ahead, uint32_t few) {
    const gpuscan__key *key = &plan->key;
    const gpuscan__elements *e = &plan->e;
    int cpu = gpuscan__key_is_cpu(key);
    gpuscan__define_shape(text, gs, key, vector);
    gpuscan__define_number(text, operation, 1);
    gpuscan__define_number(text, "INCLUSIVE", (uint64_t)inclusive);
    gpuscan__define_number(text, "AHEAD", (uint64_t)ahead);
    gpuscan__define_number(text, "FEW", few);
    gpuscan__define_number(text, "REGISTERS", key->registers);
    gpuscan__define_number(text, "INIT_BY_VALUE", (uint64_t)gpuscan__init_by_value(gs, e));
    gpuscan__define_number(text, "ONE_WORD", key->word != 0 && e->t_size * 16 <= key->word);
    /* the simulator crashes on vectors of 16 */
    gpuscan__define_elements(text, e, cpu && gs->device.fence != GPUSCAN__FENCE_MEM);
    gpuscan__define_number(text, "PACKED", gpuscan__packed(e, cpu));
    gpuscan__define_number(text, "PACKED_SIGNED", gpuscan__types[e->src].kind == 's');
    gpuscan__define_number(text, "PACKED_DST", e->dst_size == e->src_size);
    gpuscan__define_number(text, "SRC_NARROW", e->src != GPUSCAN_TYPE_CUSTOM && e->src_size < 4);
    gpuscan__define_number(text, "DST_NARROW", !e->arg && e->dst != GPUSCAN_TYPE_CUSTOM && e->dst_size < 4);
    gpuscan__define_raw(text, "SRC_RAW", e->src_size * vector, gpuscan__types[e->src].size == 8);
    if (!e->arg)
        gpuscan__define_raw(text, "DST_RAW", e->dst_size * vector, gpuscan__types[e->dst].size == 8);
    if (e->custom)
        gpuscan__define_custom(text, e);
}

/* The program of a plan, built on first use. */
static gpuscan_result gpuscan__get_program(gpuscan *gs, gpuscan__plan *plan, gpuscan__program **found) {
    const gpuscan_custom *custom = plan->e.custom;
    gpuscan__program *program;
    gpuscan__text prefix;
    gpuscan_result r = GPUSCAN_SUCCESS;
    plan->not_built = 0;
    for (program = gs->programs; program; program = program->next)
        if (memcmp(&program->key, &plan->key, sizeof(plan->key)) == 0 && gpuscan__same_custom(program, custom)) {
            *found = program;
            return GPUSCAN_SUCCESS;
        }
    program = (gpuscan__program *)gpuscan__allocate(&gs->allocator, sizeof(*program));
    if (!program)
        return gpuscan__fail(gs, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program");
    memset(program, 0, sizeof(*program));
    program->key = plan->key;
    memset(&prefix, 0, sizeof(prefix));
    prefix.allocator = &gs->allocator;
    plan->operation->define(&prefix, gs, plan);
    gpuscan__text_add(&prefix, "#line 1 \"kernels.cl.inc\"\n");
    program->prefix = prefix.data;
    program->prefix_length = prefix.length;
    if (prefix.failed)
        r = gpuscan__fail(gs, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a program's text");
    if (r == 0 && custom) {
        gpuscan__text texts;
        size_t i;
        memset(&texts, 0, sizeof(texts));
        texts.allocator = &gs->allocator;
        for (i = 0; i < GPUSCAN__CUSTOM_TEXTS; i++)
            gpuscan__text_bytes(&texts, gpuscan__custom_text(custom, i), strlen(gpuscan__custom_text(custom, i)) + 1);
        program->custom = texts.data;
        program->custom_length = texts.length;
        if (texts.failed)
            r = gpuscan__fail(gs, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the custom text");
    }
    if (r == 0)
        r = gpuscan__build(gs, plan, program);
    if (r != 0) {
        gpuscan__free_program(gs, program);
        return r;
    }
    program->next = gs->programs;
    gs->programs = program;
    *found = program;
    return GPUSCAN_SUCCESS;
}

/* [SCRATCH] -------------------------------------------------------------------------------------------------------- */

/* Where a call's scratch is. */
typedef struct gpuscan__place {
    cl_mem mem[GPUSCAN__SCRATCHES];
    uint64_t offset[GPUSCAN__SCRATCHES]; /* bytes */
    uint32_t epoch;
} gpuscan__place;

static uint64_t gpuscan__ceil_div(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

static uint64_t gpuscan__scratch_aligned(uint64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* Bytes more for values of a size that may not divide their scratch's offset: kernels count in whole values, so the
   first begins at the next multiple. */
static uint64_t gpuscan__slack(uint64_t size) {
    return 64 % size ? size - 1 : 0;
}

static uint64_t gpuscan__need_total(const gpuscan__need *need) {
    uint64_t total = 0;
    int i;
    for (i = 0; i < GPUSCAN__SCRATCHES; i++)
        total += gpuscan__scratch_aligned(need->bytes[i]);
    return total;
}

/* A queue of the library's own, on first use. What comes together with an error code is given back. */
static gpuscan_result gpuscan__own_queue(gpuscan *gs, cl_command_queue *queue) {
    cl_int code = CL_SUCCESS;
    if (*queue)
        return GPUSCAN_SUCCESS;
    *queue = gs->cl.clCreateCommandQueue(gs->context, gs->device_id, 0, &code);
    if (*queue && code == CL_SUCCESS)
        return GPUSCAN_SUCCESS;
    if (*queue)
        gs->cl.clReleaseCommandQueue(*queue);
    *queue = NULL;
    return gpuscan__fail(gs, code, "clCreateCommandQueue failed");
}

static void *gpuscan__without_const(const void *pointer) {
    union {
        const void *from;
        void *to;
    } cast;
    cast.from = pointer;
    return cast.to;
}

/* A buffer, or NULL: what comes together with an error code is given back. */
static cl_mem gpuscan__create_buffer(gpuscan *gs, cl_mem_flags flags, uint64_t bytes, void *host, cl_int *code) {
    cl_mem mem;
    *code = CL_SUCCESS;
    mem = gs->cl.clCreateBuffer(gs->context, CL_MEM_READ_WRITE | flags, (size_t)bytes, host, code);
    if (mem && *code != CL_SUCCESS) {
        gs->cl.clReleaseMemObject(mem);
        mem = NULL;
    }
    return mem;
}

/* Commands that still run keep a released buffer alive. */
static void gpuscan__drop_scratch(gpuscan *gs, int kind) {
    gs->scratch_generation++;
    if (gs->scratch[kind].mem)
        gs->cl.clReleaseMemObject(gs->scratch[kind].mem);
    gs->scratch[kind].mem = NULL;
    gs->scratch[kind].size = 0;
    gs->scratch[kind].epoch = 0;
}

/* Where it is not known any more who uses it: the next call gets new buffers, and need not wait. */
static void gpuscan__drop_all_scratch(gpuscan *gs) {
    int i;
    for (i = 0; i < GPUSCAN__SCRATCHES; i++)
        gpuscan__drop_scratch(gs, i);
}

/* Clears a buffer and waits for it. By writes, not by a fill: tools that track initialised memory see those. */
static gpuscan_result gpuscan__clear_buffer(gpuscan *gs, cl_mem mem, uint64_t bytes) {
    uint64_t piece = bytes < (uint64_t)1 << 20 ? bytes : (uint64_t)1 << 20, at;
    void *zeros = gpuscan__allocate(&gs->allocator, (size_t)piece);
    cl_int code = CL_SUCCESS;
    if (!zeros)
        return gpuscan__fail(gs, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "no memory to clear scratch with");
    memset(zeros, 0, (size_t)piece);
    for (at = 0; at < bytes && code == CL_SUCCESS; at += piece)
        code = gs->cl.clEnqueueWriteBuffer(gs->service_queue, mem, CL_TRUE, (size_t)at,
                                           (size_t)(bytes - at < piece ? bytes - at : piece), zeros, 0, NULL, NULL);
    if (code == CL_SUCCESS) /* Intel's CPU runtime returns from a blocking write before it is done */
        code = gs->cl.clFinish(gs->service_queue);
    gpuscan__release(&gs->allocator, zeros);
    return code == CL_SUCCESS ? GPUSCAN_SUCCESS : gpuscan__fail(gs, code, "clearing scratch failed");
}

/* Grows the object's own scratch of a kind. What must be 0 is cleared here once, and waited for. */
static gpuscan_result gpuscan__grow_scratch(gpuscan *gs, int kind, uint64_t bytes) {
    gpuscan__own_scratch *own = &gs->scratch[kind];
    cl_int code;
    gpuscan_result r;
    cl_mem mem;
    if (own->size >= bytes)
        return GPUSCAN_SUCCESS;
    bytes = gpuscan__scratch_aligned(bytes + bytes / 4);
    if (bytes > SIZE_MAX)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "scratch does not fit the host's size_t");
    if (kind != GPUSCAN__PLAIN && (r = gpuscan__own_queue(gs, &gs->service_queue)) != 0)
        return r;
    mem = gpuscan__create_buffer(gs, 0, bytes, NULL, &code);
    if (!mem)
        return gpuscan__fail(gs, code, "clCreateBuffer of %llu bytes of scratch failed", (unsigned long long)bytes);
    if (kind != GPUSCAN__PLAIN && (r = gpuscan__clear_buffer(gs, mem, bytes)) != 0) {
        gs->cl.clReleaseMemObject(mem);
        return r;
    }
    gpuscan__drop_scratch(gs, kind);
    own->mem = mem;
    own->size = bytes;
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__grow_all(gpuscan *gs, const gpuscan__need *need) {
    gpuscan_result r = GPUSCAN_SUCCESS;
    int i;
    for (i = 0; i < GPUSCAN__SCRATCHES && r == 0; i++)
        if (need->bytes[i])
            r = gpuscan__grow_scratch(gs, i, need->bytes[i]);
    return r;
}

/* [LAUNCHING] ------------------------------------------------------------------------------------------------------ */

/* The commands of one call, in order. Only the last writes outputs. In an in-order queue that needs no events; in an
   out-of-order one each command waits for the one before. With a wait list it does in either, so that a failed event
   stops the whole call. */
struct gpuscan__chain {
    gpuscan *gs;
    const gpuscan_call *call;
    cl_command_queue queue;
    int in_order, own_scratch;
    cl_uint wait_count;    /* for the next command */
    const cl_event *waits;
    cl_event previous;     /* owned */
    cl_event pair[2];
    gpuscan__place place;
    cl_mem sham, none; /* of a rehearsal: in place of the caller's buffers, and of count_buffer */
};

/* The queue that a call without one uses. */
static gpuscan_result gpuscan__default_queue(gpuscan *gs, cl_command_queue *queue) {
    gpuscan_result r = gpuscan__own_queue(gs, &gs->queue);
    *queue = gs->queue;
    return r;
}

/* call.queue and call.wait_list. */
static gpuscan_result gpuscan__check_call(gpuscan *gs, const gpuscan_call *call, cl_command_queue *queue,
                                          int *in_order) {
    const gpuscan_opencl *cl = &gs->cl;
    cl_command_queue_properties properties = 0;
    gpuscan_result r;
    cl_uint i;
    cl_int code;
    if ((call->wait_count == 0) != (call->wait_list == NULL))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_EVENT, "call.wait_count and call.wait_list do not agree");
    *queue = call->queue;
    if (!*queue && (r = gpuscan__default_queue(gs, queue)) != 0)
        return r;
    if (*queue != gs->last_queue && call->queue) {
        cl_context context = NULL;
        cl_device_id device = NULL;
        code = cl->clGetCommandQueueInfo(*queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
        if (code == CL_SUCCESS)
            code = cl->clGetCommandQueueInfo(*queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL);
        if (code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "call.queue: clGetCommandQueueInfo failed");
        if (context != gs->context || device != gs->device_id)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_CONTEXT, "call.queue is of another context or device");
    }
    *in_order = gs->last_in_order; /* what is known of a queue holds as long as the library keeps the queue */
    if (*queue != gs->last_queue) {
        code = cl->clGetCommandQueueInfo(*queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties, NULL);
        if (code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "call.queue: clGetCommandQueueInfo failed");
        *in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    }
    for (i = 0; i < call->wait_count; i++) {
        cl_context context = NULL;
        cl_int status = CL_QUEUED;
        if (!call->wait_list[i])
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_EVENT, "call.wait_list[%u] is NULL", (unsigned)i);
        code = cl->clGetEventInfo(call->wait_list[i], CL_EVENT_CONTEXT, sizeof(context), &context, NULL);
        if (code == CL_SUCCESS)
            code = cl->clGetEventInfo(call->wait_list[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
                                      NULL);
        if (code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "call.wait_list[%u]: clGetEventInfo failed", (unsigned)i);
        if (context != gs->context)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_CONTEXT, "call.wait_list[%u] is of another context",
                                 (unsigned)i);
        if (status < 0)
            return gpuscan__fail(gs, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "call.wait_list[%u] has failed",
                                 (unsigned)i);
    }
    return GPUSCAN_SUCCESS;
}

static void gpuscan__forget_event(gpuscan *gs, cl_event *event) {
    if (*event)
        gs->cl.clReleaseEvent(*event);
    *event = NULL;
}

/* Makes the chain wait for one more event, which it takes over. OpenCL takes one list, so a marker joins the two. */
static gpuscan_result gpuscan__chain_wait(gpuscan__chain *chain, cl_event event) {
    gpuscan *gs = chain->gs;
    if (chain->wait_count > 0) {
        cl_event joined = NULL;
        cl_int code =
            gs->cl.clEnqueueMarkerWithWaitList(chain->queue, chain->wait_count, chain->waits, &joined);
        if (code != CL_SUCCESS) {
            gpuscan__forget_event(gs, &joined);
            gpuscan__forget_event(gs, &event);
            return gpuscan__fail(gs, code, "clEnqueueMarkerWithWaitList failed");
        }
        chain->pair[0] = joined;
        chain->pair[1] = event;
        chain->wait_count = 2;
    } else {
        chain->pair[0] = event;
        chain->wait_count = 1;
    }
    chain->waits = chain->pair;
    return GPUSCAN_SUCCESS;
}

/* Where calls use the object's own scratch in different queues, or in an out-of-order one, the later waits. */
static gpuscan_result gpuscan__chain_own_scratch(gpuscan__chain *chain) {
    gpuscan *gs = chain->gs;
    cl_event event = gs->scratch_event;
    cl_int status = CL_QUEUED;
    gs->scratch_event = NULL;
    if (!gs->scratch_queue)
        return GPUSCAN_SUCCESS;
    if (!event && gs->scratch_queue != chain->queue) {
        cl_int code = gs->cl.clEnqueueMarkerWithWaitList(gs->scratch_queue, 0, NULL, &event);
        if (code != CL_SUCCESS) {
            gpuscan__forget_event(gs, &event);
            return gpuscan__fail(gs, code, "a marker in the queue that used the object's scratch last failed");
        }
    }
    if (!event)
        return GPUSCAN_SUCCESS;
    /* Done, or failed: then there is nothing to wait for, and its failure is not this call's. */
    if (gs->cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL) ==
            CL_SUCCESS &&
        status <= CL_COMPLETE) {
        gpuscan__forget_event(gs, &event);
        return GPUSCAN_SUCCESS;
    }
    if (gs->scratch_queue != chain->queue) { /* or what is waited for may never begin */
        cl_int code = gs->cl.clFlush(gs->scratch_queue);
        if (code != CL_SUCCESS) {
            gpuscan__forget_event(gs, &event);
            return gpuscan__fail(gs, code, "flushing the queue that used the object's scratch last failed");
        }
    }
    return gpuscan__chain_wait(chain, event);
}

static void gpuscan__chain_waited(gpuscan__chain *chain) {
    gpuscan__forget_event(chain->gs, &chain->pair[0]);
    gpuscan__forget_event(chain->gs, &chain->pair[1]);
    gpuscan__forget_event(chain->gs, &chain->previous);
    chain->wait_count = 0;
    chain->waits = NULL;
}

/* Self-tests and rehearsals are no calls. */
static int gpuscan__chain_is_traced(const gpuscan__chain *chain) {
    return chain->gs->tracer.command && chain->queue != chain->gs->service_queue;
}

/* Takes note of a command's result; event: the command's, or NULL. name: the tracer's; what: for words of a failure. */
static gpuscan_result gpuscan__chain_named_step(gpuscan__chain *chain, cl_int code, cl_event event, const char *name,
                                                const char *what) {
    gpuscan__chain_waited(chain);
    if (code == CL_SUCCESS && event && gpuscan__chain_is_traced(chain))
        chain->gs->tracer.command(name, event, chain->gs->tracer.user);
    if (code != CL_SUCCESS) {
        gpuscan__forget_event(chain->gs, &event);
        return gpuscan__fail(chain->gs, code, "%s failed", what);
    }
    if (event) {
        chain->previous = event;
        chain->wait_count = 1;
        chain->waits = &chain->previous;
    }
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__chain_step(gpuscan__chain *chain, cl_int code, cl_event event, const char *what) {
    return gpuscan__chain_named_step(chain, code, event, what, what);
}

/* Whether the next command must have an event. */
static int gpuscan__chain_needs_event(const gpuscan__chain *chain, int is_last) {
    if (gpuscan__chain_is_traced(chain))
        return 1;
    if (is_last)
        return chain->call->event != NULL || (chain->own_scratch && !chain->in_order);
    return !chain->in_order || chain->wait_count > 0;
}

/* After the last command, or after a failure. */
static gpuscan_result gpuscan__chain_end(gpuscan__chain *chain, gpuscan_result result) {
    gpuscan *gs = chain->gs;
    if (result == 0) {
        if (chain->own_scratch && !chain->in_order) {
            cl_int code = chain->call->event ? gs->cl.clRetainEvent(chain->previous) : CL_SUCCESS;
            gs->scratch_event = code == CL_SUCCESS ? chain->previous : NULL;
            if (code != CL_SUCCESS) /* too late to fail */
                gpuscan__drop_all_scratch(gs);
        }
        if (chain->call->event)
            *chain->call->event = chain->previous;
        if (chain->call->event || (chain->own_scratch && !chain->in_order)) /* else it was the tracer's alone */
            chain->previous = NULL;
    } else if (chain->own_scratch) {
        gpuscan__drop_all_scratch(gs); /* half a call may have used it, and who used it before may be forgotten */
    }
    gpuscan__chain_waited(chain);
    return result;
}

/* Keeps a queue in place of another; *kept may be NULL. */
static gpuscan_result gpuscan__keep_queue(gpuscan *gs, cl_command_queue *kept, cl_command_queue queue) {
    cl_int code = *kept == queue ? CL_SUCCESS : gs->cl.clRetainCommandQueue(queue);
    if (code != CL_SUCCESS)
        return gpuscan__fail(gs, code, "clRetainCommandQueue failed");
    if (*kept && *kept != queue)
        gs->cl.clReleaseCommandQueue(*kept);
    *kept = queue;
    return GPUSCAN_SUCCESS;
}

/* Bytes that are filled at once: of a size NVIDIA's driver takes the lower 32 bits only (and of an offset, where the
   pattern is one byte). */
#ifndef GPUSCAN__FILL_MOST
#define GPUSCAN__FILL_MOST ((size_t)1 << 30)
#endif

/* A call's scratch: the caller's, with what must be 0 cleared, or the object's. */
static gpuscan_result gpuscan__chain_scratch(gpuscan__chain *chain, const gpuscan__plan *plan) {
    gpuscan *gs = chain->gs;
    const gpuscan_call *call = chain->call;
    const gpuscan__need *need = &plan->need;
    cl_command_queue queue = chain->queue;
    gpuscan_result r = GPUSCAN_SUCCESS;
    int i;
    chain->place.epoch = 1;
    if (gpuscan__need_total(need) == 0)
        return GPUSCAN_SUCCESS;
    if (call->scratch.mem) {
        uint64_t at = call->scratch.offset;
        size_t bytes, offset, piece;
        const cl_uint zero = 0;
        int may_write = !(plan->scratch_flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY));
        for (i = 0; i < GPUSCAN__SCRATCHES; i++) { /* what must be 0 comes first */
            chain->place.mem[i] = call->scratch.mem;
            chain->place.offset[i] = at;
            at += gpuscan__scratch_aligned(need->bytes[i]);
        }
        at = chain->place.offset[GPUSCAN__PLAIN];
        bytes = (size_t)(at - call->scratch.offset);
        for (offset = (size_t)call->scratch.offset; bytes > 0; offset += piece, bytes -= piece) {
            static const unsigned char zeros[4096] = {0}; /* as in gpuscan__clear_buffer, where one write does */
            cl_event event = NULL, *made = gpuscan__chain_needs_event(chain, 0) ? &event : NULL;
            cl_int code;
            piece = bytes < GPUSCAN__FILL_MOST ? bytes : GPUSCAN__FILL_MOST;
            if (piece <= sizeof(zeros) && may_write)
                code = gs->cl.clEnqueueWriteBuffer(queue, call->scratch.mem, CL_FALSE, offset, piece, zeros,
                                                   chain->wait_count, chain->waits, made);
            else
                code = gs->cl.clEnqueueFillBuffer(queue, call->scratch.mem, &zero, sizeof(zero), offset, piece,
                                                  chain->wait_count, chain->waits, made);
            if ((r = gpuscan__chain_step(chain, code, event, "clearing the caller's scratch")) != 0)
                return r;
        }
        return GPUSCAN_SUCCESS;
    }
    chain->own_scratch = 1;
    for (i = GPUSCAN__WORDS32; i <= GPUSCAN__WORDS128; i++) { /* no tag comes back before its words are cleared */
        uint32_t epochs = i == GPUSCAN__WORDS32 ? ((uint32_t)1 << 14) - 1 : ((uint32_t)1 << 30) - 1;
        if (need->bytes[i] && gs->scratch[i].epoch >= epochs)
            gpuscan__drop_scratch(gs, i);
    }
    if ((r = gpuscan__grow_all(gs, need)) != 0 || (r = gpuscan__chain_own_scratch(chain)) != 0)
        return r;
    for (i = 0; i < GPUSCAN__SCRATCHES; i++) {
        chain->place.mem[i] = gs->scratch[i].mem;
        if (need->bytes[i] && i >= GPUSCAN__WORDS32 && i <= GPUSCAN__WORDS128)
            chain->place.epoch = ++gs->scratch[i].epoch;
    }
    return gpuscan__keep_queue(gs, &gs->scratch_queue, queue);
}

/* Starts a call: its queue, its wait list, its scratch. */
static gpuscan_result gpuscan__chain_begin(gpuscan__chain *chain, gpuscan *gs, const gpuscan_call *call,
                                           cl_command_queue queue, int in_order, const gpuscan__plan *plan) {
    gpuscan_result r;
    memset(chain, 0, sizeof(*chain));
    chain->gs = gs;
    chain->call = call;
    chain->queue = queue;
    chain->in_order = in_order;
    chain->wait_count = call->wait_count;
    chain->waits = call->wait_list;
    r = gpuscan__chain_scratch(chain, plan);
    if (r != 0 || queue == gs->service_queue) /* a self-test is no call */
        return r;
    if ((r = gpuscan__keep_queue(gs, &gs->last_queue, queue)) == 0)
        gs->last_in_order = in_order;
    return r;
}

/* A kernel's numbers are one list, LIST(X), which makes the host's struct here and the kernel's in its program's text,
   so that both have the same fields in the same order. Each is 64 bits. */
#define GPUSCAN__NUMBER_FIELD(name) cl_ulong name;
#define GPUSCAN__NUMBER_TEXT(name) "ulong " #name "; "
#define GPUSCAN__NUMBERS(kernel, LIST)                                                                                 \
    typedef struct gpuscan__##kernel##_numbers {                                                                       \
        LIST(GPUSCAN__NUMBER_FIELD)                                                                                    \
    } gpuscan__##kernel##_numbers;                                                                                     \
    static const char gpuscan__##kernel##_numbers_text[] = LIST(GPUSCAN__NUMBER_TEXT);                                 \
    GPUSCAN__ASSERT(sizeof(gpuscan__##kernel##_numbers) <= GPUSCAN__MAX_NUMBERS * sizeof(cl_ulong), kernel##_numbers)

/* A kernel's arguments, in order: buffers and values, its numbers, local memory. The first failure stays. Those that
   have not changed since the last launch of this kernel are not set again. */
typedef struct gpuscan__launch {
    gpuscan__chain *chain;
    cl_kernel kernel;
    const char *name; /* the kernel's */
    gpuscan__known *known;
    cl_mem stand_in; /* for buffers that are not given: NULL, where the driver takes it */
    uint32_t stand_in_generation;
    cl_uint index;
    cl_int code;
} gpuscan__launch;

/* The generation of a buffer that is not the library's: it is always set. */
#define GPUSCAN__CALLERS UINT32_MAX

/* stand_in: a buffer of the call's, for where neither NULL nor one of the library's will do. */
static gpuscan__launch gpuscan__launch_begin(gpuscan__chain *chain, gpuscan__program *program, size_t kernel,
                                             cl_mem stand_in) {
    const gpuscan *gs = chain->gs;
    int nulls = gs->device.profile.nulls;
    cl_mem own = NULL;
    gpuscan__launch launch;
    int i;
    if (chain->sham)
        stand_in = chain->sham;
    if (chain->own_scratch && !nulls)
        for (i = 0; i < GPUSCAN__SCRATCHES && !own; i++)
            own = chain->place.mem[i];
    launch.chain = chain;
    launch.kernel = program->kernels[kernel];
    launch.name = program->names[kernel];
    launch.known = &program->known[kernel];
    launch.stand_in = nulls ? NULL : own ? own : stand_in;
    launch.stand_in_generation = !launch.stand_in ? 0 : own ? gs->scratch_generation : GPUSCAN__CALLERS;
    launch.index = 0;
    launch.code = CL_SUCCESS;
    return launch;
}

/* value NULL: size bytes of local memory. generation: 0 for a value; for a buffer of the library's, which is kept as
   long as this number stays, that. kept: where the value is remembered; NULL: it is set each time. */
static void gpuscan__arg_kept(gpuscan__launch *launch, const void *value, size_t size, uint32_t generation,
                              void *kept) {
    gpuscan__known_arg *known = &launch->known->args[launch->index];
    if (launch->code != CL_SUCCESS)
        return;
    if (!kept || known->size != size || known->generation != generation ||
        (value && memcmp(kept, value, size) != 0)) {
        known->size = 0;
        launch->code = launch->chain->gs->cl.clSetKernelArg(launch->kernel, launch->index, size, value);
        if (kept && launch->code == CL_SUCCESS) {
            known->size = size;
            known->generation = generation;
            if (value)
                memcpy(kept, value, size);
        }
    }
    launch->index++;
}

/* generation: as above, or GPUSCAN__CALLERS for another buffer. */
static void gpuscan__arg_of(gpuscan__launch *launch, const void *value, size_t size, uint32_t generation) {
    int keeps = generation != GPUSCAN__CALLERS && (!value || size <= GPUSCAN__MAX_KNOWN);
    gpuscan__arg_kept(launch, value, size, generation, keeps ? launch->known->args[launch->index].value : NULL);
}

static void gpuscan__arg(gpuscan__launch *launch, const void *value, size_t size) {
    gpuscan__arg_of(launch, value, size, 0);
}

/* Returns the buffer's offset, which is one of the kernel's numbers. */
static uint64_t gpuscan__arg_buffer(gpuscan__launch *launch, gpuscan_buffer buffer) {
    cl_mem mem = buffer.mem ? buffer.mem : launch->stand_in;
    if (launch->chain->sham) {
        gpuscan__arg_of(launch, &launch->chain->sham, sizeof(mem), GPUSCAN__CALLERS);
        return 0;
    }
    gpuscan__arg_of(launch, &mem, sizeof(mem), buffer.mem ? GPUSCAN__CALLERS : launch->stand_in_generation);
    return buffer.mem ? buffer.offset : 0;
}

/* The same of count_buffer. */
static uint64_t gpuscan__arg_count(gpuscan__launch *launch, gpuscan_buffer buffer) {
    if (!launch->chain->sham)
        return gpuscan__arg_buffer(launch, buffer);
    gpuscan__arg_of(launch, &launch->chain->none, sizeof(cl_mem), GPUSCAN__CALLERS);
    return 0;
}

/* Scratch of a kind, behind its counters if it has any; past: bytes further on. Returns its offset in units of
   bytes_each (see gpuscan__slack). */
static uint64_t gpuscan__arg_scratch(gpuscan__launch *launch, int kind, uint64_t past, uint64_t bytes_each) {
    const gpuscan__chain *chain = launch->chain;
    gpuscan_buffer none = {NULL, 0};
    cl_mem mem = chain->place.mem[kind];
    if (!mem)
        return gpuscan__arg_buffer(launch, none);
    if (kind != GPUSCAN__PLAIN)
        past += GPUSCAN__TICKETS_SIZE;
    gpuscan__arg_of(launch, &mem, sizeof(mem), chain->own_scratch ? chain->gs->scratch_generation : GPUSCAN__CALLERS);
    return gpuscan__ceil_div(chain->place.offset[kind] + past, bytes_each);
}

/* Where and how a kernel runs. */
typedef struct gpuscan__grid {
    uint64_t groups;
    uint32_t group;  /* work-items each */
    uint64_t shared; /* bytes of local memory, the last argument of kernels that take some; 0: it takes none */
    int is_last;     /* of the call's commands */
} gpuscan__grid;

static gpuscan__grid gpuscan__grid_of(uint64_t groups, uint32_t group, uint64_t shared, int is_last) {
    gpuscan__grid grid;
    grid.groups = groups;
    grid.group = group;
    grid.shared = shared;
    grid.is_last = is_last;
    return grid;
}

static gpuscan_result gpuscan__launch_end(gpuscan__launch *launch, const void *numbers, size_t numbers_size,
                                          gpuscan__grid grid) {
    gpuscan__chain *chain = launch->chain;
    size_t local = grid.group, global = (size_t)(grid.groups * grid.group);
    cl_event event = NULL;
    cl_int code;
    gpuscan__arg_kept(launch, numbers, numbers_size, 0, launch->known->numbers);
    if (grid.shared)
        gpuscan__arg(launch, NULL, (size_t)grid.shared);
    code = launch->code;
    if (code != CL_SUCCESS)
        return gpuscan__fail(chain->gs, code, "clSetKernelArg(%u) failed", (unsigned)(launch->index - 1));
    code = chain->gs->cl.clEnqueueNDRangeKernel(chain->queue, launch->kernel, 1, NULL, &global, &local,
                                                chain->wait_count, chain->waits,
                                                gpuscan__chain_needs_event(chain, grid.is_last) ? &event : NULL);
    return gpuscan__chain_named_step(chain, code, event, launch->name, "clEnqueueNDRangeKernel");
}

/* Nothing to compute and nothing to write: the event completes all the same. */
static gpuscan_result gpuscan__enqueue_nothing(gpuscan__chain *chain) {
    cl_event event = NULL;
    cl_int code = CL_SUCCESS;
    int needs_event = chain->call->event || gpuscan__chain_is_traced(chain);
    if (needs_event || chain->wait_count)
        code = chain->gs->cl.clEnqueueMarkerWithWaitList(chain->queue, chain->wait_count, chain->waits,
                                                         needs_event ? &event : NULL);
    return gpuscan__chain_step(chain, code, event, "clEnqueueMarkerWithWaitList");
}

/* [ARGUMENTS] ------------------------------------------------------------------------------------------------------ */

static int gpuscan__multiply(uint64_t a, uint64_t b, uint64_t *product) {
    *product = a * b;
    return a == 0 || *product / a == b;
}

static int gpuscan__add(uint64_t a, uint64_t b, uint64_t *sum) {
    *sum = a + b;
    return *sum >= a;
}

/* Elements from the first of row 0 to the last of the last row; their bytes fit 64 bits too. */
static gpuscan_result gpuscan__extent(gpuscan *gs, const char *field, uint64_t count, uint64_t rows, uint64_t pitch,
                                      uint64_t size, uint64_t *elements) {
    uint64_t before, bytes;
    *elements = 0;
    if (count == 0)
        return GPUSCAN_SUCCESS;
    if (!gpuscan__multiply(rows - 1, pitch, &before) || !gpuscan__add(before, count, elements) ||
        !gpuscan__multiply(*elements, size, &bytes))
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "%s: rows * %s_pitch + count does not fit 64 bits",
                             field, field);
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__check_range(gpuscan *gs, gpuscan__range *range) {
    const gpuscan_opencl *cl = &gs->cl;
    const char *field = range->field;
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    cl_context context = NULL;
    cl_mem mem = range->buffer.mem, parent = NULL;
    size_t size = 0, origin = 0;
    uint64_t offset, bytes, end;
    cl_int code = cl->clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof(type), &type, NULL);
    if (code == CL_SUCCESS)
        code = cl->clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof(size), &size, NULL);
    if (code == CL_SUCCESS)
        code = cl->clGetMemObjectInfo(mem, CL_MEM_FLAGS, sizeof(flags), &flags, NULL);
    if (code == CL_SUCCESS)
        code = cl->clGetMemObjectInfo(mem, CL_MEM_CONTEXT, sizeof(context), &context, NULL);
    if (code == CL_SUCCESS)
        code = cl->clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL);
    if (code == CL_SUCCESS && parent && type == CL_MEM_OBJECT_BUFFER)
        code = cl->clGetMemObjectInfo(mem, CL_MEM_OFFSET, sizeof(origin), &origin, NULL);
    if (code == CL_INVALID_MEM_OBJECT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_BUFFER, "%s is no memory object", field);
    if (code != CL_SUCCESS)
        return gpuscan__fail(gs, code, "%s: clGetMemObjectInfo failed", field);
    if (type != CL_MEM_OBJECT_BUFFER)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_BUFFER, "%s is a memory object, but no buffer", field);
    if (context != gs->context)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_CONTEXT, "%s is of another context", field);
    if (!gpuscan__multiply(range->buffer.offset, range->size, &offset) ||
        !gpuscan__multiply(range->elements, range->size, &bytes) || !gpuscan__add(offset, bytes, &end))
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "%s: offset and count do not fit 64 bits", field);
    if (end > size)
        return gpuscan__fail(gs, GPUSCAN_ERROR_BUFFER_TOO_SMALL, "%s needs %llu bytes, the buffer has %llu", field,
                             (unsigned long long)end, (unsigned long long)size);
    if (range->writes && (flags & CL_MEM_READ_ONLY))
        return gpuscan__fail(gs, GPUSCAN_ERROR_BUFFER_ACCESS, "%s is written, but the buffer is CL_MEM_READ_ONLY",
                             field);
    if (range->reads && (flags & CL_MEM_WRITE_ONLY))
        return gpuscan__fail(gs, GPUSCAN_ERROR_BUFFER_ACCESS, "%s is read, but the buffer is CL_MEM_WRITE_ONLY",
                             field);
    range->root = parent ? parent : mem;
    range->flags = flags;
    range->begin = origin + offset;
    range->end = origin + end;
    range->size_left = size - offset;
    return GPUSCAN_SUCCESS;
}

/* Adds a range that the call reads; it must be there where it holds elements, unless the caller says otherwise. */
static gpuscan__range *gpuscan__input(gpuscan__plan *plan, const char *field, gpuscan_buffer buffer, uint64_t elements,
                                      uint32_t size) {
    gpuscan__range *range = &plan->ranges[plan->range_count++];
    memset(range, 0, sizeof(*range));
    range->field = field;
    range->buffer = buffer;
    range->elements = elements;
    range->size = size;
    range->required = elements > 0;
    range->reads = 1;
    return range;
}

/* Adds a range that the call writes. */
static gpuscan__range *gpuscan__output(gpuscan__plan *plan, const char *field, gpuscan_buffer buffer,
                                       uint64_t elements, uint32_t size) {
    gpuscan__range *range = gpuscan__input(plan, field, buffer, elements, size);
    range->reads = 0;
    range->writes = 1;
    return range;
}

/* The range has rows, with gaps where the pitch is larger than count. */
static void gpuscan__rows_of(gpuscan__range *range, uint64_t rows, uint64_t count, uint64_t pitch, uint32_t size) {
    if (rows < 2 || count == 0)
        return;
    range->row = count * size; /* fit: the range's extent does */
    range->pitch = pitch * size;
}

/* Every range by itself. Those of a NULL buffer are not used. */
static gpuscan_result gpuscan__check_ranges(gpuscan *gs, gpuscan__plan *plan) {
    size_t i;
    gpuscan_result r;
    for (i = 0; i < plan->range_count; i++) {
        gpuscan__range *range = &plan->ranges[i];
        if (range->required && !range->buffer.mem)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_BUFFER, "%s.mem is NULL", range->field);
        if (range->buffer.mem && (r = gpuscan__check_range(gs, range)) != 0)
            return r;
    }
    return GPUSCAN_SUCCESS;
}

/* Whether the rows of each lie in the other's gaps: modulo the greatest common divisor of their pitches all rows of a
   range lie in one place, and the two places are apart. More cannot be said without going through the rows. */
static int gpuscan__rows_keep_apart(const gpuscan__range *a, const gpuscan__range *b) {
    uint64_t a_row = a->pitch ? a->row : a->end - a->begin, b_row = b->pitch ? b->row : b->end - b->begin;
    uint64_t divisor = a->pitch, rest = b->pitch, from;
    while (rest) {
        uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    if (!divisor)
        return 0;
    from = b->begin >= a->begin ? (b->begin - a->begin) % divisor
                                : (divisor - (a->begin - b->begin) % divisor) % divisor;
    return from >= a_row && b_row <= divisor - from;
}

/* Whether two ranges share a byte, or might: see above. */
static int gpuscan__ranges_meet(const gpuscan__range *a, const gpuscan__range *b) {
    return a->buffer.mem && b->buffer.mem && a->root == b->root && a->begin < b->end && b->begin < a->end &&
           a->begin != a->end && b->begin != b->end && !gpuscan__rows_keep_apart(a, b);
}

/* Whether they may: the same elements, of which they have so many bytes each, in one place. */
static int gpuscan__may_share(const gpuscan__range *a, uint64_t a_bytes, const gpuscan__range *b, uint64_t b_bytes) {
    return a->in_place && a->in_place == b->in_place && a->size == b->size &&
           (a_bytes == b_bytes || (a->shorter && a_bytes < b_bytes) || (b->shorter && b_bytes < a_bytes));
}
static int gpuscan__ranges_may_meet(const gpuscan__range *a, const gpuscan__range *b) {
    return a->begin == b->begin && gpuscan__may_share(a, a->end - a->begin, b, b->end - b->begin);
}

/* Then every pair of which one is written. Sets plan->in_place. */
static gpuscan_result gpuscan__check_overlaps(gpuscan *gs, gpuscan__plan *plan) {
    size_t i, j;
    for (i = 0; i < plan->range_count; i++)
        for (j = i + 1; j < plan->range_count; j++) {
            const gpuscan__range *a = &plan->ranges[i], *b = &plan->ranges[j];
            if (!(a->writes || b->writes) || !gpuscan__ranges_meet(a, b))
                continue;
            if (!gpuscan__ranges_may_meet(a, b))
                return gpuscan__fail(gs, GPUSCAN_ERROR_OVERLAP, "%s and %s overlap", a->field, b->field);
            plan->in_place = 1;
        }
    return GPUSCAN_SUCCESS;
}

/* Whether two host arrays share a byte. */
static int gpuscan__arrays_overlap(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes) {
    uintptr_t from = (uintptr_t)a, to = (uintptr_t)b;
    return from < to ? to - from < a_bytes : from - to < b_bytes;
}

/* The caller's scratch, as one more range. */
static gpuscan_result gpuscan__check_scratch(gpuscan *gs, gpuscan__plan *plan) {
    const gpuscan_call *call = plan->call;
    uint64_t bytes = gpuscan__need_total(&plan->need), usable;
    gpuscan__range *range;
    gpuscan_result r;
    if (!call->scratch.mem && call->scratch_size)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "call.scratch_size without call.scratch");
    if (call->scratch.offset % 64 != 0)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "call.scratch.offset is no multiple of 64");
    if (!call->scratch.mem)
        return GPUSCAN_SUCCESS;
    range = gpuscan__output(plan, "call.scratch", call->scratch, call->scratch_size, 1);
    range->reads = 1;
    if ((r = gpuscan__check_range(gs, range)) != 0)
        return r;
    if (plan->reads_scratch && (range->flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY)))
        return gpuscan__fail(gs, GPUSCAN_ERROR_BUFFER_ACCESS,
                             "call.scratch is read for result, but the buffer's flags keep the host from it");
    plan->scratch_flags = range->flags;
    usable = call->scratch_size ? call->scratch_size : range->size_left;
    if (usable < bytes)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SCRATCH_TOO_SMALL, "call.scratch has %llu bytes, %llu are needed",
                             (unsigned long long)usable, (unsigned long long)bytes);
    range->end = range->begin + bytes; /* only what is used must not overlap */
    return gpuscan__check_overlaps(gs, plan);
}

/* A type that is u32, the default, or u64. Gives its size. */
static gpuscan_result gpuscan__resolve_u32_or_u64(gpuscan *gs, const char *field, gpuscan_type type, uint32_t *size) {
    *size = type == GPUSCAN_TYPE_U64 ? 8 : 4;
    if (type == GPUSCAN_TYPE_DEFAULT || type == GPUSCAN_TYPE_U32 || type == GPUSCAN_TYPE_U64)
        return GPUSCAN_SUCCESS;
    if ((unsigned)type >= GPUSCAN_TYPE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "%s is no gpuscan_type", field);
    return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE, "%s is neither u32 nor u64", field);
}

/* count_buffer and count_type. */
static gpuscan_result gpuscan__resolve_count(gpuscan *gs, gpuscan__plan *plan, gpuscan_buffer buffer,
                                             gpuscan_type type) {
    uint32_t size;
    gpuscan_result r = gpuscan__resolve_u32_or_u64(gs, "count_type", type, &size);
    if (r != 0)
        return r;
    gpuscan__input(plan, "count_buffer", buffer, 1, size)->required = 0;
    if (buffer.mem)
        plan->flags |= size == 8 ? GPUSCAN__FLAG_COUNT_U64 : GPUSCAN__FLAG_COUNT_U32;
    return GPUSCAN_SUCCESS;
}

/* The fields of a tally, in a desc that calls it name: for gpuscan__resolve_tally. */
enum { GPUSCAN__TALLY_COUNT, GPUSCAN__TALLY_COUNT_TYPE, GPUSCAN__TALLY_DISPATCH };
#define GPUSCAN__TALLY_FIELDS(name) {name ".count", name ".count_type", name ".dispatch"}

/* The fields of payload k. */
#define GPUSCAN__PAYLOAD_FIELDS(k) {"payloads[" #k "].src", "payloads[" #k "].dst"}
static const char *const gpuscan__payload_fields[GPUSCAN_MAX_PAYLOADS][2] = {
    GPUSCAN__PAYLOAD_FIELDS(0), GPUSCAN__PAYLOAD_FIELDS(1), GPUSCAN__PAYLOAD_FIELDS(2), GPUSCAN__PAYLOAD_FIELDS(3),
    GPUSCAN__PAYLOAD_FIELDS(4), GPUSCAN__PAYLOAD_FIELDS(5), GPUSCAN__PAYLOAD_FIELDS(6), GPUSCAN__PAYLOAD_FIELDS(7)};
#undef GPUSCAN__PAYLOAD_FIELDS

/* payloads and payload_count: of each, count elements are read and at most written elements are written. in_place: the
   number of the first one's ranges that may be one, as the next ones' may; 0: none may. */
static gpuscan_result gpuscan__resolve_payloads(gpuscan *gs, gpuscan__plan *plan, const gpuscan_payload *payloads,
                                                uint32_t payload_count, uint64_t count, uint64_t written,
                                                int in_place) {
    uint32_t k;
    if (payload_count > GPUSCAN_MAX_PAYLOADS)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "payload_count is above %d", GPUSCAN_MAX_PAYLOADS);
    if (payload_count && !payloads)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads is NULL, but payload_count is not 0");
    for (k = 0; k < payload_count; k++) {
        const char *const *fields = gpuscan__payload_fields[k];
        uint64_t bytes;
        gpuscan__range *range;
        if (payloads[k].size == 0 || payloads[k].size > GPUSCAN__CUSTOM_MOST)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "payloads[%u].size is not from 1 to %d",
                                 (unsigned)k, GPUSCAN__CUSTOM_MOST);
        if (!gpuscan__multiply(count, payloads[k].size, &bytes))
            return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "%s: count elements do not fit 64 bits", fields[0]);
        range = gpuscan__input(plan, fields[0], payloads[k].src, count, (uint32_t)payloads[k].size);
        range->in_place = in_place ? in_place + (int)k : 0;
        range = gpuscan__output(plan, fields[1], payloads[k].dst, written, (uint32_t)payloads[k].size);
        range->in_place = in_place ? in_place + (int)k : 0;
        range->shorter = range->partial = 1;
    }
    return GPUSCAN_SUCCESS;
}

/* A tally of up to count elements, of which at most written are written. items, limit: those of the dispatch. */
static gpuscan_result gpuscan__resolve_tally(gpuscan *gs, gpuscan__plan *plan, const char *const *fields,
                                             const gpuscan_tally *tally, uint64_t count, uint64_t written,
                                             uint32_t *items, uint32_t *limit) {
    uint32_t size;
    gpuscan_result r = gpuscan__resolve_u32_or_u64(gs, fields[GPUSCAN__TALLY_COUNT_TYPE], tally->count_type, &size);
    if (r != 0)
        return r;
    *items = tally->dispatch_items ? tally->dispatch_items : 64;
    *limit = tally->dispatch_limit ? tally->dispatch_limit : 65535;
    if (tally->count.mem && size == 4 && count > UINT32_MAX)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "%s: 2^32 elements or more need u64",
                             fields[GPUSCAN__TALLY_COUNT_TYPE]);
    if (tally->dispatch.mem && gpuscan__ceil_div(gpuscan__ceil_div(written, *items), *limit) > UINT32_MAX)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "%s: y does not fit 32 bits",
                             fields[GPUSCAN__TALLY_DISPATCH]);
    gpuscan__output(plan, fields[GPUSCAN__TALLY_COUNT], tally->count, 1, size)->required = 0;
    gpuscan__output(plan, fields[GPUSCAN__TALLY_DISPATCH], tally->dispatch, 3, 4)->required = 0;
    if (tally->count.mem)
        plan->flags |= size == 8 ? GPUSCAN__FLAG_TALLY_U64 : GPUSCAN__FLAG_TALLY_U32;
    if (tally->dispatch.mem)
        plan->flags |= GPUSCAN__FLAG_DISPATCH;
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__resolve_init(gpuscan *gs, gpuscan__plan *plan, const void *init,
                                            gpuscan_buffer buffer) {
    if (init && buffer.mem)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "init and init_buffer are both given");
    gpuscan__input(plan, "init_buffer", buffer, 1, plan->e.dst_size)->required = 0;
    plan->init = init;
    plan->flags |= init ? GPUSCAN__FLAG_INIT : buffer.mem ? GPUSCAN__FLAG_INIT_BUFFER : 0;
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__resolve_pitch(gpuscan *gs, const char *field, uint64_t pitch, uint64_t count,
                                             uint64_t *resolved) {
    *resolved = pitch ? pitch : count;
    if (*resolved < count)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "%s is smaller than count", field);
    return GPUSCAN_SUCCESS;
}

/* Brings an init on the host to the device, if it is no argument. The commands that use the buffer keep it. */
static gpuscan_result gpuscan__bring_init(gpuscan *gs, gpuscan__plan *plan) {
    cl_int code;
    if (!plan->init || gpuscan__init_by_value(gs, &plan->e))
        return GPUSCAN_SUCCESS;
    plan->init_mem = gpuscan__create_buffer(gs, CL_MEM_COPY_HOST_PTR, plan->e.dst_size,
                                            gpuscan__without_const(plan->init), &code);
    if (!plan->init_mem)
        return gpuscan__fail(gs, code, "clCreateBuffer for init failed");
    plan->flags = (plan->flags & ~(uint32_t)GPUSCAN__FLAG_INIT) | GPUSCAN__FLAG_INIT_BUFFER;
    return GPUSCAN_SUCCESS;
}

static void gpuscan__forget_init(gpuscan *gs, gpuscan__plan *plan) {
    if (plan->init_mem)
        gs->cl.clReleaseMemObject(plan->init_mem);
    plan->init_mem = NULL;
}

/* init as two arguments: a value of dst's type, anything where there is none, and a buffer. Returns its offset. */
static uint64_t gpuscan__arg_init(gpuscan__launch *launch, const gpuscan__plan *plan, gpuscan_buffer buffer) {
    static const uint64_t nothing[GPUSCAN__CUSTOM_MOST / 8] = {0};
    int by_value = gpuscan__init_by_value(launch->chain->gs, &plan->e);
    gpuscan__arg(launch, by_value && plan->init ? plan->init : nothing, by_value ? plan->e.dst_size : 1);
    if (plan->init_mem)
        buffer.mem = plan->init_mem;
    return gpuscan__arg_buffer(launch, buffer);
}

/* [PLANNING] ------------------------------------------------------------------------------------------------------- */

static uint64_t gpuscan__min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static uint64_t gpuscan__max(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* The bits of a state word for values of t_size bytes; 0 where they are too large to be handed over in words. whole:
   groups are of whole sub-groups. */
static uint32_t gpuscan__word_bits(const gpuscan *gs, uint32_t t_size, int whole) {
    if (t_size > 64)
        return 0;
    if (gs->device.lanes == GPUSCAN__LANES_PTX && whole && t_size > 4 && t_size <= 8)
        return 128;
    return gs->device.int64_atomics ? 64 : 32;
}

static int gpuscan__word_scratch(uint32_t word) {
    return word == 32 ? GPUSCAN__WORDS32 : word == 64 ? GPUSCAN__WORDS64 : GPUSCAN__WORDS128;
}

/* Scratch for the words of so many tiles, or partial results; see [STATE WORDS] in kernels.cl.inc. */
static void gpuscan__need_words(gpuscan__need *need, uint32_t word, uint32_t t_size, uint64_t count) {
    uint64_t parts = gpuscan__ceil_div(t_size, word / 16), words = parts == 1 ? count : 2 * parts * count;
    need->bytes[gpuscan__word_scratch(word)] = GPUSCAN__TICKETS_SIZE + words * (word / 8);
}

/* At least sizeof(gpuscan_shared) in kernels.cl.inc. */
static uint64_t gpuscan__shared_bytes(const gpuscan *gs, uint32_t t_size, uint32_t group, uint32_t rows) {
    uint64_t lanes = gpuscan__group_lanes(gs, group);
    uint64_t exchange = gpuscan__whole_lanes(gs, group) ? 0 : (uint64_t)2 * rows * group;
    return (t_size * (group / lanes + 1 + exchange) + gpuscan__lanes_bytes(gs, group) + 8 + 31) / 16 * 16;
}

/* A lane sums the sub-groups' sums each, so there are no more sub-groups than lanes; and in a single-pass scan a
   sub-group looks back alone, as it does over the results of a reduction whose operator does not commute, which
   LANES_LOCAL can only do as the whole group. */
static uint32_t gpuscan__lanes_group(const gpuscan *gs, const gpuscan__plan *plan, uint32_t group) {
    uint32_t width = gs->device.lane_width;
    int single = gpuscan__is_single_pass(gpuscan__key_strategy(&plan->key));
    int alone = ((plan->operation->number == GPUSCAN__OPERATION_scan ||
                  plan->operation->number == GPUSCAN__OPERATION_select) && single) ||
                (plan->operation->number == GPUSCAN__OPERATION_reduce && !plan->e.commutes);
    if (gs->device.lanes == GPUSCAN__LANES_LOCAL)
        return (uint32_t)gpuscan__min(group, alone ? width : width * width);
    return group;
}

/* The key's group, vectors and tile: both numbers cut down to what the device's limits and the element's size allow. */
static void gpuscan__fit(const gpuscan *gs, gpuscan__plan *plan, uint32_t group, uint32_t vectors) {
    const gpuscan__elements *e = &plan->e;
    gpuscan__key *key = &plan->key;
    uint32_t vector = gpuscan__vector(e->src_size, e->arg ? e->src_size : e->dst_size), width = gs->device.lane_width;
    if (gpuscan__key_is_cpu(key)) {
        uint32_t size = e->src_size > e->result_size ? e->src_size : e->result_size;
        key->group = key->vectors = 1;
        key->tile = (uint32_t)gpuscan__max(gs->device.profile.chunk / size, 64);
        return;
    }
    if (group > plan->group_limit)
        group = (uint32_t)plan->group_limit;
    group = gpuscan__lanes_group(gs, plan, group);
    while (vectors > 1 && vectors * vector * e->src_size > 128) /* bytes that a work-item keeps in registers */
        vectors /= 2;
    while (gpuscan__shared_bytes(gs, e->t_size, group, vectors) > gs->device.local_memory &&
           (vectors > 1 || group > 1)) {
        if (vectors > 1)
            vectors /= 2;
        else
            group = group / 2 > width ? group / 2 / width * width : (uint32_t)gpuscan__power_of_two_below(group / 2);
    }
    key->group = group;
    key->vectors = vectors;
    key->tile = group * vectors * vector;
}

/* The local memory of a launch of a key's kernels, but for what single forms need besides. */
static uint64_t gpuscan__key_shared_bytes(const gpuscan *gs, const gpuscan__key *key, uint32_t t_size) {
    return gpuscan__key_is_cpu(key) ? 16 : gpuscan__shared_bytes(gs, t_size, key->group, key->vectors);
}

/* Why a strategy is not used for an operation on this device; NULL: it is. */
static const char *gpuscan__why_refused(const gpuscan *gs, const gpuscan__plan *plan, gpuscan_strategy strategy) {
    return gs->refused[plan->operation->number] & (1u << strategy) ? "it does not work on this device" : NULL;
}

static gpuscan_result gpuscan__unsupported(gpuscan *gs, const char *why) {
    return gpuscan__fail(gs, GPUSCAN_ERROR_UNSUPPORTED_STRATEGY, "call.strategy: %s", why);
}

/* Something was given up: a bug report holds it. */
static void gpuscan__note_refusal(gpuscan *gs, const gpuscan__plan *plan, const char *what, const char *why) {
    gs->refusals++;
    snprintf(gs->refusal, sizeof(gs->refusal), "%s, %s: %s: %s", plan->operation->name,
             gpuscan__strategies[plan->key.strategy].name, why, what);
    gpuscan__log(gs, GPUSCAN_LOG_WARNING, gs->refusal);
}

/* Goes on without the vendor's instructions, and without the programs that were built with them: the caller frees what
   it gets. */
static gpuscan__program *gpuscan__leave_lanes(gpuscan *gs) {
    gpuscan__program *programs = gs->programs;
    gs->programs = NULL;
    gs->device.lanes = GPUSCAN__LANES_NONE;
    gs->device.lane_width = gs->device.profile.lane_width;
    gpuscan__choose_fence(gs);
    return programs;
}

/* For good. */
static void gpuscan__give_up_lanes(gpuscan *gs, const gpuscan__plan *plan, gpuscan__program *programs,
                                   const char *why) {
    gpuscan__free_programs(gs, programs);
    gpuscan__note_refusal(gs, plan, "the vendor's instructions are not used any more", why);
}

/* After the driver did not build a program with the vendor's instructions. Where it builds the call's portable form
   they are given up: *again. Where it does not, they are not to blame, and stay. A strategy that cannot do without them
   does not keep the text from being tried with another. */
static gpuscan_result gpuscan__build_without_lanes(gpuscan *gs, gpuscan__plan *plan, int *again) {
    const gpuscan_call *call = plan->call;
    const char *build_options = gs->device.build_options;
    int lanes = gs->device.lanes, fence = gs->device.fence;
    uint32_t lane_width = gs->device.lane_width, strategy = plan->key.strategy;
    gpuscan__program *programs = gpuscan__leave_lanes(gs), *program;
    gpuscan_call any = *call;
    gpuscan_result r = plan->operation->choose(gs, plan);
    any.strategy = GPUSCAN_STRATEGY_AUTO;
    plan->call = &any;
    if (r == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
        r = plan->operation->choose(gs, plan);
    if (r == 0)
        r = gpuscan__get_program(gs, plan, &program);
    plan->call = call;
    if (r == 0) {
        plan->key.strategy = strategy; /* the note's */
        gpuscan__give_up_lanes(gs, plan, programs, "its program was not built with them");
        gs->error[0] = 0;
        *again = 1;
        return GPUSCAN_SUCCESS;
    }
    gs->programs = programs;
    gs->device.lanes = lanes;
    gs->device.fence = fence;
    gs->device.build_options = build_options;
    gs->device.lane_width = lane_width;
    return r;
}

/* A fast variant (a vendor's instructions, a look-back between running groups) proves itself when it is first built.
   One that is wrong is not used on this object any more: *again, and the plan is made anew. */
static int gpuscan__needs_proof(const gpuscan *gs, const gpuscan__plan *plan) {
    const gpuscan__elements *e = &plan->e;
    if (gpuscan__key_is_cpu(&plan->key) || (gs->device.lanes == GPUSCAN__LANES_NONE &&
                                            !gpuscan__is_single_pass(gpuscan__key_strategy(&plan->key))))
        return 0;
    /* a conversion between a builtin type and the caller's: only his text knows how */
    return e->selects || !(e->convert && (e->src == GPUSCAN_TYPE_CUSTOM) != (e->dst == GPUSCAN_TYPE_CUSTOM));
}

/* In place of a custom text, which is not run on numbers that it does not expect: the last that is not 0 wins, part by
   part of a struct, which is associative and does not commute. Parts are words where they can be: bytes are four times
   the code (NVIDIA, 12 bytes: 1.9 s to build it, words 0.3). */
static const char gpuscan__stand_in_text[] =
    "typedef struct { %s part[%u]; } gpuscan_test_type;\n"
    "gpuscan_test_type gpuscan_test_last(gpuscan_test_type a, gpuscan_test_type b) {\n"
    "    for (int i = 0; i < %u; i++) a.part[i] = b.part[i] ? b.part[i] : a.part[i];\n"
    "    return a;\n"
    "}\n"
    "gpuscan_test_type gpuscan_test_none(void) {\n"
    "    gpuscan_test_type none;\n"
    "    for (int i = 0; i < %u; i++) none.part[i] = 0;\n"
    "    return none;\n"
    "}\n";

/* Runs the self-test of a plan that stands in for another. */
static gpuscan_result gpuscan__prove_in_place_of(gpuscan *gs, gpuscan__plan *plan, gpuscan__plan *stand_in,
                                                 int *right) {
    gpuscan__program *program;
    gpuscan_result r;
    *right = 1;
    r = gpuscan__get_program(gs, stand_in, &program);
    plan->not_built = stand_in->not_built;
    if (r != 0 || program->proved)
        return r;
    program->proved = 1;
    r = plan->operation->self_test(gs, stand_in, program, right);
    program->proved = r == 0;
    return r;
}

static gpuscan_result gpuscan__prove_stand_in(gpuscan *gs, gpuscan__plan *plan, int *right) {
    gpuscan__plan stand_in = *plan;
    gpuscan_custom custom;
    char source[sizeof(gpuscan__stand_in_text) + 32];
    unsigned size = (unsigned)plan->e.custom->size, parts = size % 4 == 0 ? size / 4 : size;
    int of_structs = plan->e.selects && plan->e.src == GPUSCAN_TYPE_CUSTOM;
    memset(&custom, 0, sizeof(custom));
    stand_in.is_stand_in = 1;
    stand_in.e.convert = of_structs ? "x.part[0]" : NULL;
    stand_in.e.custom = plan->e.op == GPUSCAN_OP_CUSTOM || of_structs ? &custom : NULL;
    custom.size = size;
    custom.combine = "b != 0 ? b : a";
    custom.identity = "0";
    if (plan->e.dst == GPUSCAN_TYPE_CUSTOM || of_structs) {
        snprintf(source, sizeof(source), gpuscan__stand_in_text, parts < size ? "uint" : "uchar", parts, parts,
                 parts);
        custom.source = source;
        custom.type = "gpuscan_test_type";
        custom.combine = "gpuscan_test_last(a, b)";
        custom.identity = "gpuscan_test_none()";
    }
    if (!stand_in.e.custom) /* the caller has a conversion alone: what is tested is the program without */
        stand_in.key.custom_size = 0;
    return gpuscan__prove_in_place_of(gs, plan, &stand_in, right);
}

static gpuscan_result gpuscan__prove_expressions(gpuscan *gs, gpuscan__plan *plan, int *right);

static gpuscan_result gpuscan__prove(gpuscan *gs, gpuscan__plan *plan, gpuscan__program *program, int *again) {
    gpuscan_strategy strategy = gpuscan__key_strategy(&plan->key);
    int right = 1;
    gpuscan_result r = GPUSCAN_SUCCESS;
    if (gpuscan__needs_proof(gs, plan))
        r = !plan->e.custom ? plan->operation->self_test(gs, plan, program, &right)
            : plan->operation->number == GPUSCAN__OPERATION_histogram ? gpuscan__prove_expressions(gs, plan, &right)
                                                                       : gpuscan__prove_stand_in(gs, plan, &right);
    program->proved = r == 0;
    if (r != 0 || right)
        return r;
    *again = 1;
    if (gs->device.lanes != GPUSCAN__LANES_NONE) {
        gpuscan__give_up_lanes(gs, plan, gpuscan__leave_lanes(gs), "its self-test failed");
    } else {
        gs->refused[plan->operation->number] |= 1u << strategy;
        gpuscan__note_refusal(gs, plan, "its strategy is not used any more", "its self-test failed");
    }
    return GPUSCAN_SUCCESS;
}

/* Gets the plan's program. Where its kernels are not built, do not fit their group, or fail their test: *again. */
static gpuscan_result gpuscan__get_fitting_program(gpuscan *gs, gpuscan__plan *plan, gpuscan__program **program,
                                                   int *again) {
    size_t group = 0;
    gpuscan_result r = gpuscan__get_program(gs, plan, program);
    if (r == 0)
        r = gpuscan__program_group(gs, plan, *program, &group);
    if (r == 0 && group >= plan->key.group && !(*program)->proved)
        r = gpuscan__prove(gs, plan, *program, again);
    if (r != 0 && plan->not_built && (gpuscan__uses_lanes(gs, &plan->key) || gs->device.fence == GPUSCAN__FENCE_PTX))
        return gpuscan__build_without_lanes(gs, plan, again);
    if (r != 0 || *again || group >= plan->key.group)
        return r;
    plan->group_limit = gpuscan__power_of_two_below(group);
    *again = plan->group_limit < plan->key.group;
    return r;
}

/* Plans a call that has been resolved, and gets its program. A call's groups depend on its own kernels, not on what the
   object did before: floats would come out otherwise. (But for gpuscan__give_up_lanes, which happens once, on a device
   that does not keep its driver's word.) */
static gpuscan_result gpuscan__plan_program(gpuscan *gs, gpuscan__plan *plan, gpuscan__program **program) {
    int again;
    gpuscan_result r;
    plan->group_limit = gs->device.group_limit;
    do {
        again = 0;
        if ((r = plan->operation->choose(gs, plan)) != 0 ||
            (r = gpuscan__get_fitting_program(gs, plan, program, &again)) != 0)
            return r;
    } while (again);
    return GPUSCAN_SUCCESS;
}

/* [CALLS] ---------------------------------------------------------------------------------------------------------- */

/* The one path of all operations: resolve, check, plan, launch. */
typedef enum gpuscan__mode { GPUSCAN__RUN, GPUSCAN__PREPARE, GPUSCAN__SIZE } gpuscan__mode;

static gpuscan_result gpuscan__run(gpuscan *gs, gpuscan__plan *plan) {
    gpuscan__program *program = NULL;
    gpuscan__chain chain;
    cl_command_queue queue = NULL;
    int in_order = 1;
    gpuscan_result r;
    if ((r = gpuscan__check_call(gs, plan->call, &queue, &in_order)) != 0 ||
        (r = gpuscan__check_ranges(gs, plan)) != 0 || (r = gpuscan__check_overlaps(gs, plan)) != 0)
        return r;
    if (!plan->is_nothing && (r = gpuscan__plan_program(gs, plan, &program)) != 0)
        return r;
    if ((r = gpuscan__check_scratch(gs, plan)) != 0 || (program && (r = gpuscan__bring_init(gs, plan)) != 0))
        return r;
    plan->is_enqueued = 1;
    if ((r = gpuscan__chain_begin(&chain, gs, plan->call, queue, in_order, plan)) == 0)
        r = program ? plan->operation->enqueue(&chain, plan, program) : gpuscan__enqueue_nothing(&chain);
    r = gpuscan__chain_end(&chain, r);
    gpuscan__forget_init(gs, plan);
    return r;
}

/* Whether two of the ranges may be the same one: where one may, it is said of the other, too. */
static int gpuscan__may_be_in_place(const gpuscan__plan *plan) {
    size_t i;
    for (i = 0; i < plan->range_count; i++)
        if (plan->ranges[i].in_place)
            return 1;
    return 0;
}

static gpuscan_result gpuscan__rehearse(gpuscan *gs, gpuscan__plan *plan, gpuscan__program *program);

/* Builds what a call will need. SIZE builds the program, too: how large its groups can be decides the scratch. Whether
   the call will be in place is not known yet, but where the strategy is forced the plan is the same. */
static gpuscan_result gpuscan__prepare(gpuscan *gs, gpuscan__plan *plan, gpuscan__mode mode, uint64_t *size) {
    int kinds = gpuscan__may_be_in_place(plan) && plan->call->strategy == GPUSCAN_STRATEGY_AUTO ? 2 : 1;
    gpuscan__program *program = NULL;
    cl_command_queue queue = NULL;
    gpuscan_result r;
    if (mode == GPUSCAN__SIZE && !plan->operation->uses_scratch)
        return GPUSCAN_SUCCESS;
    for (plan->in_place = 0; plan->in_place < kinds; plan->in_place++) {
        if ((r = gpuscan__plan_program(gs, plan, &program)) != 0)
            return r;
        if (mode == GPUSCAN__SIZE)
            *size = gpuscan__max(*size, gpuscan__need_total(&plan->need));
        else if ((!plan->call->scratch.mem && (r = gpuscan__grow_all(gs, &plan->need)) != 0) ||
                 (r = gpuscan__rehearse(gs, plan, program)) != 0)
            return r;
    }
    if (mode == GPUSCAN__SIZE || plan->call->queue)
        return GPUSCAN_SUCCESS;
    return gpuscan__default_queue(gs, &queue);
}

/* plan: cleared but for operation, desc and call. size: of the mode SIZE, 0 on entry. */
static gpuscan_result gpuscan__do(gpuscan *gs, gpuscan__plan *plan, gpuscan__mode mode, uint64_t *size) {
    gpuscan_result r;
    plan->is_run = mode == GPUSCAN__RUN;
    if ((r = plan->operation->resolve(gs, plan)) != 0)
        return r;
    return mode == GPUSCAN__RUN ? gpuscan__run(gs, plan) : gpuscan__prepare(gs, plan, mode, size);
}

/* What every public call on an object and a desc begins with. */
static gpuscan_result gpuscan__enter(gpuscan *gs, const void *desc, const gpuscan_call *call) {
    if (call && call->event)
        *call->event = NULL;
    if (!gs)
        return GPUSCAN_ERROR_INVALID_ARGUMENT;
    gs->error[0] = 0;
    if (!desc)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "desc is NULL");
    if ((unsigned)call->strategy >= GPUSCAN_STRATEGY_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "call.strategy is no gpuscan_strategy");
    return GPUSCAN_SUCCESS;
}

/* The same of a blocking call, which fills a copy of the caller's desc; call: the copy's. */
static gpuscan_result gpuscan__enter_host(gpuscan *gs, const void *desc, void *copy, size_t size, gpuscan_call *call) {
    memset(copy, 0, size);
    if (desc)
        memcpy(copy, desc, size);
    return gpuscan__enter(gs, copy, call);
}

static void gpuscan__plan_begin(gpuscan__plan *plan, size_t plan_size, const gpuscan__operation *operation,
                                const void *desc, const gpuscan_call *call) {
    memset(plan, 0, plan_size);
    plan->operation = operation;
    plan->desc = desc;
    plan->call = call;
}

/* A public function. plan: of plan_size bytes, the operation's. */
static gpuscan_result gpuscan__call(gpuscan *gs, gpuscan__plan *plan, size_t plan_size,
                                    const gpuscan__operation *operation, const void *desc, const gpuscan_call *call,
                                    gpuscan__mode mode, uint64_t *size) {
    gpuscan_result r = gpuscan__enter(gs, desc, call);
    if (size)
        *size = 0;
    if (r != 0)
        return r;
    if (mode == GPUSCAN__SIZE && !size)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "size is NULL");
    gpuscan__plan_begin(plan, plan_size, operation, desc, call);
    return gpuscan__do(gs, plan, mode, size);
}

/* [SELF-TEST] ------------------------------------------------------------------------------------------------------ */

/* Numbers that make each of an operator's mistakes visible: a predecessor, a last element or a tile's first one that is
   left out, operands that are swapped, halves of a value that are lost. Every result is exact in its type, so whatever
   the order of a sum, its bits are those of a loop on the host. */

/* A value of any builtin type: an integer's bits, extended to 64, or a float. */
typedef union gpuscan__number {
    uint64_t bits;
    double real;
} gpuscan__number;

/* 64 bits that look random: the finaliser of splitmix64 (Steele, Lea, Flood, 2014). */
static uint64_t gpuscan__mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The bits of an integer type, extended to 64. */
static uint64_t gpuscan__wrap(gpuscan_type type, uint64_t bits) {
    uint32_t width = gpuscan__types[type].size * 8;
    if (width < 64) {
        bits &= ((uint64_t)1 << width) - 1;
        if (gpuscan__types[type].kind == 's' && bits >> (width - 1))
            bits |= ~(uint64_t)0 << width;
    }
    return bits;
}

/* The f16 of a number that it holds exactly, 0 or of a magnitude from 2^-14 to 65504. */
static uint16_t gpuscan__half(double x) {
    unsigned sign = x < 0 ? 0x8000u : 0, exponent = 15;
    x = x < 0 ? -x : x;
    if (!(x > 0))
        return 0;
    for (; x >= 2; x /= 2)
        exponent++;
    for (; x < 1; x *= 2)
        exponent--;
    return (uint16_t)(sign | exponent << 10 | (unsigned)((x - 1) * 1024));
}

static void gpuscan__put_number(gpuscan_type type, void *array, uint64_t i, gpuscan__number number) {
    uint32_t size = gpuscan__types[type].size;
    unsigned char *at = (unsigned char *)array + i * size;
    float f32 = (float)(gpuscan__is_float(type) ? number.real : 0);
    uint8_t u8 = (uint8_t)number.bits;
    uint16_t u16 = type == GPUSCAN_TYPE_F16 ? gpuscan__half(number.real) : (uint16_t)number.bits;
    uint32_t u32 = (uint32_t)number.bits;
    if (type == GPUSCAN_TYPE_F32)
        memcpy(at, &f32, sizeof(f32));
    else if (size == 8) /* of f64 too */
        memcpy(at, &number, sizeof(number));
    else if (size == 4)
        memcpy(at, &u32, sizeof(u32));
    else if (size == 2)
        memcpy(at, &u16, sizeof(u16));
    else
        *at = u8;
}

/* C's conversion, of numbers that both types hold. */
static gpuscan__number gpuscan__convert_number(gpuscan_type to, gpuscan_type from, gpuscan__number x) {
    gpuscan__number y;
    if (gpuscan__is_float(to) && gpuscan__is_float(from))
        return x;
    if (gpuscan__is_float(to))
        y.real = gpuscan__types[from].kind == 's' ? (double)(int64_t)x.bits : (double)x.bits;
    else if (gpuscan__is_float(from))
        y.bits = gpuscan__wrap(to, (uint64_t)(int64_t)x.real);
    else
        y.bits = gpuscan__wrap(to, x.bits);
    return y;
}

static gpuscan__number gpuscan__combine_numbers(gpuscan_type type, gpuscan_op op, gpuscan__number x,
                                                gpuscan__number y) {
    gpuscan__number z = x;
    if (gpuscan__is_float(type)) {
        double a = x.real, b = y.real;
        int less = a < b;
        (void)less;
        switch (op) {
#define GPUSCAN__OP_REAL(name, c_integer, c_real, identity, as_unsigned, before, data, host_integer, host_real)        \
    case GPUSCAN_OP_##name:                                                                                            \
        z.real = host_real;                                                                                            \
        break;
            GPUSCAN__OPS(GPUSCAN__OP_REAL)
#undef GPUSCAN__OP_REAL
        case GPUSCAN_OP_COUNT: break;
        }
    } else {
        uint64_t a = x.bits, b = y.bits;
        int less = gpuscan__types[type].kind == 's' ? (int64_t)a < (int64_t)b : a < b;
        switch (op) {
#define GPUSCAN__OP_INTEGER(name, c_integer, c_real, identity, as_unsigned, before, data, host_integer, host_real)     \
    case GPUSCAN_OP_##name:                                                                                            \
        z.bits = host_integer;                                                                                         \
        break;
            GPUSCAN__OPS(GPUSCAN__OP_INTEGER)
#undef GPUSCAN__OP_INTEGER
        case GPUSCAN_OP_COUNT: break;
        }
        z.bits = gpuscan__wrap(type, z.bits);
    }
    return z;
}

/* What the data are made for: count elements in tiles. What shows one mistake may hide another, so a self-test goes in
   rounds. */
typedef struct gpuscan__test_shape {
    uint64_t count, tile;
    unsigned round; /* tiles of its parity begin with an edge; others with elements that hide nothing before them */
    int decides;    /* of a reduction by an operator whose result is one of its values: it is that of element */
    uint64_t best;  /* this; of init where it is count */
} gpuscan__test_shape;

static gpuscan__test_shape gpuscan__test_shape_of(uint64_t tile, unsigned round) {
    gpuscan__test_shape shape;
    shape.count = 3 * tile + 5;
    shape.tile = tile;
    shape.round = round;
    shape.decides = 0;
    shape.best = 0;
    return shape;
}

static int gpuscan__test_picks(gpuscan_op op) {
    int data = gpuscan__ops[op].data;
    return data == GPUSCAN__DATA_RISING || data == GPUSCAN__DATA_FALLING || data == GPUSCAN__DATA_SPARSE;
}

/* The last element, the last of a tile, and the first of those of the round's parity. */
static int gpuscan__is_edge(const gpuscan__test_shape *shape, uint64_t i) {
    uint64_t at = i % shape->tile;
    return i == shape->count - 1 || at == shape->tile - 1 || (at == 0 && i / shape->tile % 2 == shape->round % 2);
}

/* And what follows such a first one, and one in so many of the others. */
static int gpuscan__is_marked(const gpuscan__test_shape *shape, uint64_t i, uint64_t spacing) {
    uint64_t at = i % shape->tile;
    if (gpuscan__is_edge(shape, i))
        return 1;
    if (at < 3 && i / shape->tile % 2 != shape->round % 2)
        return 0;
    return at == 1 || gpuscan__mix(i) % spacing == 0;
}

/* From 2 to 100; an edge's is above all that precede it. */
static uint64_t gpuscan__test_rank(const gpuscan__test_shape *shape, uint64_t i) {
    uint64_t at = i % shape->tile, span = 100 / (shape->count / shape->tile + 1);
    if (i == shape->count - 1)
        return 100;
    if (at == shape->tile - 1)
        return i / shape->tile * span + span - 1;
    return i / shape->tile * span + (at == 0 ? 2 : 3 + at * (span - 4) / shape->tile);
}

/* The largest so far at edges, else often 0; where one decides, it is the largest of all. */
static uint64_t gpuscan__test_rising(const gpuscan__test_shape *shape, uint64_t i) {
    if (shape->decides)
        return i == shape->best ? 100 : gpuscan__mix(i) % 90;
    return gpuscan__is_marked(shape, i, 7) ? gpuscan__test_rank(shape, i) : 0;
}

/* 0 but for those that are marked; where one decides, it is the last that is not 0. */
static uint64_t gpuscan__test_sparse(const gpuscan__test_shape *shape, uint64_t i) {
    if (shape->decides && shape->best < shape->count && i <= shape->best)
        return i == shape->best ? 100 : 1 + gpuscan__mix(i) % 90;
    return !shape->decides && gpuscan__is_marked(shape, i, 5) ? gpuscan__test_rank(shape, i) : 0;
}

/* The bit that changes at element i, each at another, those at edges first; 64: none does. Of the first 8 one is init's
   (gpuscan__test_init_bit), and of the others every second never changes. */
static unsigned gpuscan__test_bit(const gpuscan__test_shape *shape, uint64_t i, unsigned bits) {
    unsigned b;
    if (i == shape->count - 1)
        return 7;
    if (gpuscan__is_edge(shape, i)) {
        b = (unsigned)(i / shape->tile * 2 + (i % shape->tile == shape->tile - 1));
        return b < 7 ? b : 64;
    }
    for (b = 8; b < bits; b += 2)
        if (gpuscan__mix(b) % shape->count == i)
            return b;
    return 64;
}

/* So many low bits change: those that both types have, and that are exact as f16. */
static unsigned gpuscan__test_bits(const gpuscan__elements *e) {
    uint32_t src = gpuscan__types[e->src].size, dst = gpuscan__types[e->dst].size;
    return gpuscan__is_float(e->src) ? 8 : (unsigned)(8 * (src < dst ? src : dst));
}

/* An element whose low bits are these; a float's is the number that they are in the destination. */
static gpuscan__number gpuscan__test_pattern(const gpuscan__elements *e, uint64_t pattern) {
    gpuscan__number x;
    if (gpuscan__is_float(e->src)) {
        int is_signed = gpuscan__types[e->dst].kind == 's';
        pattern = gpuscan__wrap(is_signed ? GPUSCAN_TYPE_I8 : GPUSCAN_TYPE_U8, pattern);
        x.real = is_signed ? (double)(int64_t)pattern : (double)pattern;
    } else {
        x.bits = gpuscan__wrap(e->src, pattern);
    }
    return x;
}

static unsigned gpuscan__test_init_bit(const gpuscan__test_shape *shape) {
    return shape->round % 2 ? 0 : 2; /* the first element's, the first one's of tile 1: no edges in this round */
}

/* A factor for small numbers of the source, so that both halves of 64 bits matter where there are any. */
static double gpuscan__test_factor(const gpuscan__elements *e) {
    const double fine = 1 + 1.0 / 1073741824, halves = 4294967297.0, high = 8589934592.0;
    if (gpuscan__types[e->src].size != 8 || e->dst == GPUSCAN_TYPE_F16)
        return 1;
    if (gpuscan__is_float(e->dst))
        return !gpuscan__is_float(e->src) ? high : e->dst == GPUSCAN_TYPE_F64 ? fine : 1;
    return gpuscan__types[e->dst].size == 8 ? halves : 1;
}

static gpuscan__number gpuscan__test_small(const gpuscan__elements *e, uint64_t small, double factor, int negative) {
    gpuscan__number x;
    if (gpuscan__is_float(e->src))
        x.real = (negative ? -(double)small : (double)small) * factor;
    else
        x.bits = gpuscan__wrap(e->src, (negative ? (uint64_t)0 - small : small) * (uint64_t)factor);
    return x;
}

/* From 0 to 101, of which every integer type has as many, and f16 too. */
static gpuscan__number gpuscan__test_level(const gpuscan__elements *e, uint64_t level) {
    uint32_t bits = gpuscan__types[e->src].size * 8;
    uint64_t zero = gpuscan__types[e->src].kind != 'u' && gpuscan__types[e->dst].kind != 'u' ? 50 : 0;
    int negative = level < zero;
    gpuscan__number x;
    if (gpuscan__is_float(e->src) || e->src != e->dst)
        return gpuscan__test_small(e, negative ? zero - level : level - zero, gpuscan__test_factor(e), negative);
    x.bits = (level - zero) << (bits - 7); /* over the whole of the type */
    if (bits == 64)
        x.bits += level;
    x.bits = gpuscan__wrap(e->src, x.bits);
    return x;
}

/* Element i of src. */
static gpuscan__number gpuscan__test_number(const gpuscan__elements *e, const gpuscan__test_shape *shape, uint64_t i) {
    int real = gpuscan__is_float(e->src) || gpuscan__is_float(e->dst);
    int half = e->dst == GPUSCAN_TYPE_F16;
    int data = gpuscan__ops[e->op].data, negative = 0;
    unsigned bit;
    uint64_t random = gpuscan__mix(i + ((uint64_t)shape->round << 40)), small = 0;
    double factor = gpuscan__test_factor(e);
    gpuscan__number x;
    switch (data) {
    case GPUSCAN__DATA_RISING:
        return gpuscan__test_level(e, gpuscan__test_rising(shape, i));
    case GPUSCAN__DATA_FALLING:
        return gpuscan__test_level(e, 101 - gpuscan__test_rising(shape, i));
    case GPUSCAN__DATA_SUM:
        x.bits = gpuscan__wrap(e->src, random | 1);
        if (!real)
            return x;
        if (e->src == GPUSCAN_TYPE_F64 && e->dst == GPUSCAN_TYPE_F64) {
            small = random >> 34 | 1;
            factor = 1;
        } else if (gpuscan__is_marked(shape, i, half ? shape->count / 500 + 1 : 1)) { /* 2048 are exact in f16 */
            small = 1 + random % (gpuscan__is_float(e->dst) ? 3 : 100);
        }
        break;
    case GPUSCAN__DATA_PRODUCT:
        x.bits = gpuscan__wrap(e->src, random | 3);
        if (!real)
            return x;
        small = gpuscan__is_edge(shape, i) ? 2 : 1;
        negative = gpuscan__is_float(e->src) && gpuscan__is_float(e->dst) && (random & 1);
        factor = 1;
        break;
    case GPUSCAN__DATA_SPARSE:
        small = gpuscan__test_sparse(shape, i);
        negative = gpuscan__types[e->src].kind == 's';
        break;
    default: /* GPUSCAN__DATA_SET, GPUSCAN__DATA_CLEARED */
        bit = gpuscan__test_bit(shape, i, gpuscan__test_bits(e));
        if (bit < 64)
            small = (uint64_t)1 << bit;
        return gpuscan__test_pattern(e, data == GPUSCAN__DATA_SET ? small : ~small);
    }
    return gpuscan__test_small(e, small, factor, negative);
}

/* What stands before the first: a value that shows, and hides little. */
static gpuscan__number gpuscan__test_init(const gpuscan__elements *e, const gpuscan__test_shape *shape) {
    const uint64_t high = (uint64_t)1 << 32; /* both halves of 64 bits */
    uint64_t level = shape->decides && shape->best == shape->count ? 100 : 1, bit;
    unsigned bits = gpuscan__test_bits(e);
    double factor = gpuscan__test_factor(e);
    int sparse = gpuscan__ops[e->op].data == GPUSCAN__DATA_SPARSE;
    gpuscan__number x;
    switch (gpuscan__ops[e->op].data) {
    case GPUSCAN__DATA_RISING:
        return gpuscan__convert_number(e->dst, e->src, gpuscan__test_level(e, level));
    case GPUSCAN__DATA_FALLING:
        return gpuscan__convert_number(e->dst, e->src, gpuscan__test_level(e, 101 - level));
    case GPUSCAN__DATA_SET:
    case GPUSCAN__DATA_CLEARED: /* with the bits that the elements do not have */
        bit = (uint64_t)1 << gpuscan__test_init_bit(shape);
        if (gpuscan__ops[e->op].data == GPUSCAN__DATA_CLEARED)
            bit = ~bit;
        else
            bit |= ~(uint64_t)0 << (bits < 64 ? bits : 63);
        x.bits = gpuscan__wrap(e->dst, bit);
        return x;
    default:
        if (!gpuscan__is_float(e->dst)) {
            x.bits = gpuscan__wrap(e->dst, sparse ? high + 1 : 5 * high + 3);
            return x;
        }
        /* sums and products stay exact */
        x.real = sparse ? 1 : 2;
        if (gpuscan__ops[e->op].data == GPUSCAN__DATA_SUM && !gpuscan__is_float(e->src))
            x.real *= factor;
        if (gpuscan__ops[e->op].data == GPUSCAN__DATA_SUM && e->src == GPUSCAN_TYPE_F64 && e->dst == e->src)
            x.real += 2147483647;
        else if (e->dst == GPUSCAN_TYPE_F64)
            x.real += x.real > 2 ? 2 : 1.0 / 1073741824;
        return x;
    }
}

/* The same for elements of a custom type: in the stand-in's operator the last part that is not 0 wins, and here none or
   all bytes of an element are 0. */
static unsigned char gpuscan__test_byte(uint64_t number, uint32_t byte) {
    return (unsigned char)(number ? 1 + (number + 7 * byte) % 251 : 0);
}

/* src: the data; init: what precedes them; scan: what a scan of them gives, NULL where none is wanted; total: its
   total. */
static void gpuscan__test_elements(const gpuscan__elements *e, const gpuscan__test_shape *shape, int inclusive,
                                   unsigned char *src, unsigned char *init, unsigned char *scan,
                                   unsigned char *total) {
    gpuscan__number sum;
    uint64_t i;
    uint32_t byte;
    if (e->dst == GPUSCAN_TYPE_CUSTOM) {
        for (byte = 0; byte < e->dst_size; byte++) {
            unsigned char last = init[byte] = (unsigned char)(201 + byte % 7);
            for (i = 0; i < shape->count; i++) {
                unsigned char x = src[i * e->src_size + byte] =
                    gpuscan__test_byte(gpuscan__test_sparse(shape, i), byte);
                unsigned char next = x ? x : last;
                if (scan)
                    scan[i * e->dst_size + byte] = inclusive ? next : last;
                last = next;
            }
            total[byte] = last;
        }
        return;
    }
    sum = gpuscan__test_init(e, shape);
    gpuscan__put_number(e->dst, init, 0, sum);
    for (i = 0; i < shape->count; i++) {
        gpuscan__number x = gpuscan__test_number(e, shape, i), next;
        gpuscan__put_number(e->src, src, i, x);
        next = gpuscan__combine_numbers(e->dst, e->op, sum, gpuscan__convert_number(e->dst, e->src, x));
        if (scan)
            gpuscan__put_number(e->dst, scan, i, inclusive ? next : sum);
        sum = next;
    }
    gpuscan__put_number(e->dst, total, 0, sum);
}

/* Buffers of a self-test's own, and scratch: the object's may be in use by calls that wait for the caller. Behind each
   stand guard bytes. */
enum { GPUSCAN__TEST_ARRAYS = 6 + 2 * GPUSCAN_MAX_PAYLOADS, GPUSCAN__TEST_GUARD = 64, GPUSCAN__TEST_FILL = 0xee };

typedef struct gpuscan__test_array {
    gpuscan_buffer *buffer;           /* in the test's desc */
    uint64_t bytes;                   /* with the guard */
    unsigned char *before, *expected; /* what it holds before and after the call */
} gpuscan__test_array;

typedef struct gpuscan__test {
    gpuscan *gs;
    gpuscan__test_array arrays[GPUSCAN__TEST_ARRAYS];
    int count, failed;
} gpuscan__test;

/* An array that the call fills, or with its contents after gpuscan__test_filled reads. NULL: no memory. */
static gpuscan__test_array *gpuscan__test_array_of(gpuscan__test *test, gpuscan_buffer *buffer, uint64_t bytes) {
    gpuscan__test_array *array = &test->arrays[test->count];
    bytes += GPUSCAN__TEST_GUARD;
    array->buffer = buffer;
    array->bytes = bytes;
    array->before = (unsigned char *)gpuscan__allocate(&test->gs->allocator, (size_t)(2 * bytes));
    if (!array->before) {
        test->failed = 1;
        return NULL;
    }
    array->expected = array->before + bytes;
    memset(array->before, GPUSCAN__TEST_FILL, (size_t)(2 * bytes));
    test->count++;
    return array;
}

/* What the array holds now it must hold after the call. */
static void gpuscan__test_filled(gpuscan__test_array *array) {
    memcpy(array->expected, array->before, (size_t)array->bytes);
}

static void gpuscan__test_end(gpuscan__test *test) {
    while (test->count > 0) {
        gpuscan__test_array *array = &test->arrays[--test->count];
        if (array->buffer->mem)
            test->gs->cl.clReleaseMemObject(array->buffer->mem);
        gpuscan__release(&test->gs->allocator, array->before);
    }
}

static gpuscan_result gpuscan__test_buffer(gpuscan *gs, uint64_t bytes, cl_mem *mem) {
    cl_int code;
    if (bytes == 0)
        return GPUSCAN_SUCCESS;
    *mem = gpuscan__create_buffer(gs, 0, bytes, NULL, &code);
    return *mem ? GPUSCAN_SUCCESS : gpuscan__fail(gs, code, "clCreateBuffer for a self-test failed");
}

/* Makes the buffers, enqueues the call, and reads what it left over what was there before. */
static gpuscan_result gpuscan__test_call(gpuscan__test *test, gpuscan__plan *plan, gpuscan__program *program,
                                         gpuscan_call *call) {
    gpuscan *gs = test->gs;
    gpuscan__chain chain;
    cl_event done = NULL;
    cl_int code;
    int i;
    gpuscan_result r;
    if (test->failed)
        return gpuscan__fail(gs, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a self-test");
    if ((r = gpuscan__own_queue(gs, &gs->service_queue)) != 0)
        return r;
    for (i = 0; i < test->count; i++) {
        gpuscan__test_array *array = &test->arrays[i];
        if ((r = gpuscan__test_buffer(gs, array->bytes, &array->buffer->mem)) != 0)
            return r;
        code = gs->cl.clEnqueueWriteBuffer(gs->service_queue, array->buffer->mem, CL_TRUE, 0, (size_t)array->bytes,
                                           array->before, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "clEnqueueWriteBuffer for a self-test failed");
    }
    call->queue = gs->service_queue;
    call->event = &done;
    call->strategy = gpuscan__key_strategy(&program->key);
    plan->forced = &program->key;
    plan->group_limit = gs->device.group_limit;
    plan->is_run = 1;
    if ((r = plan->operation->resolve(gs, plan)) != 0 || (r = plan->operation->choose(gs, plan)) != 0 ||
        (r = gpuscan__test_buffer(gs, gpuscan__need_total(&plan->need), &call->scratch.mem)) != 0 ||
        (r = gpuscan__bring_init(gs, plan)) != 0)
        return r;
    if ((r = gpuscan__chain_begin(&chain, gs, call, gs->service_queue, 1, plan)) == 0)
        r = plan->operation->enqueue(&chain, plan, program);
    r = gpuscan__chain_end(&chain, r);
    gpuscan__forget_init(gs, plan);
    if (r == 0 && (code = gs->cl.clWaitForEvents(1, &done)) != CL_SUCCESS)
        r = gpuscan__fail(gs, code, "clWaitForEvents for a self-test failed");
    gpuscan__forget_event(gs, &done);
    for (i = 0; i < test->count && r == 0; i++) {
        gpuscan__test_array *array = &test->arrays[i];
        code = gs->cl.clEnqueueReadBuffer(gs->service_queue, array->buffer->mem, CL_TRUE, 0, (size_t)array->bytes,
                                          array->before, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            r = gpuscan__fail(gs, code, "clEnqueueReadBuffer for a self-test failed");
    }
    return r;
}

/* Whether a self-test gave what it must. (For tests, where nothing runs.) */
#ifndef GPUSCAN__TEST_PASSES
#define GPUSCAN__TEST_PASSES(got, expected, bytes) (memcmp(got, expected, bytes) == 0)
#endif

/* Runs the program on the arrays; *right: each holds afterwards what is expected, and its guard. plan: the operation's,
   begun with its desc; call: that desc's. Gives everything back. */
static gpuscan_result gpuscan__test_run(gpuscan__test *test, gpuscan__plan *plan, gpuscan__program *program,
                                        gpuscan_call *call, int *right) {
    gpuscan_result r = gpuscan__test_call(test, plan, program, call);
    int i;
    *right = r == 0;
    for (i = 0; i < test->count && r == 0; i++)
        *right = *right && GPUSCAN__TEST_PASSES(test->arrays[i].before, test->arrays[i].expected,
                                                (size_t)test->arrays[i].bytes);
    if (call->scratch.mem)
        test->gs->cl.clReleaseMemObject(call->scratch.mem);
    gpuscan__test_end(test);
    return r;
}

typedef gpuscan_result gpuscan__test_round(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                           unsigned round, int *right);

/* Rounds 0, 1, ... up to the first that fails or is wrong. */
static gpuscan_result gpuscan__test_rounds(gpuscan__test_round *test_round, unsigned rounds, gpuscan *gs,
                                           const gpuscan__plan *common, gpuscan__program *program, int *right) {
    unsigned round;
    gpuscan_result r = GPUSCAN_SUCCESS;
    *right = 1;
    for (round = 0; round < rounds && r == 0 && *right; round++)
        r = test_round(gs, common, program, round, right);
    return r;
}

/* ---- rehearsal */

#define GPUSCAN__SHAM_LEAST ((uint64_t)4096)
#define GPUSCAN__SHAM_MOST  ((uint64_t)64 << 20)

/* Runs a call's own commands in the library's queue, with buffers and scratch of their own and a count of 0 that is
   read on the device, so that they do nothing: drivers put off work until a kernel is launched for the first time in
   some shape (PoCL compiles it then, Mesa too, others load it onto the device). Left out where what is no count's is
   large: very many bins. */
static gpuscan_result gpuscan__rehearse(gpuscan *gs, gpuscan__plan *plan, gpuscan__program *program) {
    const gpuscan_call *caller = plan->call;
    uint32_t flags = plan->flags;
    uint64_t bytes = GPUSCAN__SHAM_LEAST;
    cl_mem sham = NULL, none = NULL;
    gpuscan_call call;
    gpuscan__chain chain;
    gpuscan_result r;
    int idle = 0;
    size_t i;
    for (i = 0; i < plan->range_count; i++) {
        idle |= plan->ranges[i].idle;
        if (!plan->ranges[i].idle)
            bytes = gpuscan__max(bytes, plan->ranges[i].elements * plan->ranges[i].size);
    }
    if (!idle || plan->is_nothing || bytes > GPUSCAN__SHAM_MOST)
        return GPUSCAN_SUCCESS;
    memset(&call, 0, sizeof(call));
    if ((r = gpuscan__own_queue(gs, &gs->service_queue)) == 0 && (r = gpuscan__test_buffer(gs, bytes, &sham)) == 0 &&
        (r = gpuscan__test_buffer(gs, GPUSCAN__SHAM_LEAST, &none)) == 0 &&
        (r = gpuscan__test_buffer(gs, gpuscan__need_total(&plan->need), &call.scratch.mem)) == 0 &&
        (r = gpuscan__clear_buffer(gs, sham, bytes)) == 0 &&
        (r = gpuscan__clear_buffer(gs, none, GPUSCAN__SHAM_LEAST)) == 0) {
        call.queue = gs->service_queue;
        plan->call = &call;
        plan->flags = GPUSCAN__FLAG_COUNT_U32;
        if ((r = gpuscan__chain_begin(&chain, gs, &call, gs->service_queue, 1, plan)) == 0) {
            cl_int code;
            chain.sham = sham;
            chain.none = none;
            r = plan->operation->enqueue(&chain, plan, program);
            code = gs->cl.clFinish(gs->service_queue); /* also after a failure: what was enqueued uses the buffers */
            if (r == 0 && code != CL_SUCCESS)
                r = gpuscan__fail(gs, code, "clFinish of a rehearsal failed");
        }
        r = gpuscan__chain_end(&chain, r);
        plan->call = caller;
        plan->flags = flags;
    }
    if (call.scratch.mem)
        gs->cl.clReleaseMemObject(call.scratch.mem);
    if (none)
        gs->cl.clReleaseMemObject(none);
    if (sham)
        gs->cl.clReleaseMemObject(sham);
    return r;
}

/* [HOST ARRAYS] ---------------------------------------------------------------------------------------------------- */

enum { GPUSCAN__HOST_ARRAYS = 6 }; /* of a call, at most */

/* An array of a blocking call: which of the plan's ranges it stands for, and where its buffer goes in the desc. */
typedef struct gpuscan__host_array {
    const char *field;
    const void *data;
    gpuscan_buffer *buffer;
    const gpuscan__range *range; /* found by its field */
    int zero_copy; /* its buffer is the array itself */
} gpuscan__host_array;

typedef struct gpuscan__host_call {
    gpuscan *gs;
    gpuscan__host_array arrays[GPUSCAN__HOST_ARRAYS];
    int count;
    cl_command_queue queue;
    int in_order;
    cl_mem mem[GPUSCAN__HOST_ARRAYS]; /* owned */
    int mem_count;
} gpuscan__host_call;

static void gpuscan__host_add(gpuscan__host_call *host, const char *field, const void *data, gpuscan_buffer *buffer) {
    gpuscan__host_array *array = &host->arrays[host->count++];
    array->field = field;
    array->data = data;
    array->buffer = buffer;
    array->range = NULL;
    array->zero_copy = 0;
}

static uint64_t gpuscan__host_bytes(const gpuscan__host_array *array) {
    return array->range->elements * array->range->size; /* fits: gpuscan__extent has said so */
}

/* Finds the arrays' ranges, and checks the arrays like buffers. Sets plan->in_place. */
static gpuscan_result gpuscan__host_check(gpuscan__host_call *host, gpuscan__plan *plan) {
    gpuscan *gs = host->gs;
    int i, j;
    for (i = 0; i < host->count; i++) {
        gpuscan__host_array *array = &host->arrays[i];
        size_t k = 0;
        while (strcmp(plan->ranges[k].field, array->field) != 0)
            k++;
        array->range = &plan->ranges[k];
        if (array->range->required && !array->data)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "%s is NULL", array->field);
        if (gpuscan__host_bytes(array) > SIZE_MAX)
            return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "%s does not fit the host's size_t", array->field);
    }
    for (i = 0; i < host->count; i++)
        for (j = i + 1; j < host->count; j++) {
            const gpuscan__host_array *a = &host->arrays[i], *b = &host->arrays[j];
            uint64_t a_bytes = gpuscan__host_bytes(a), b_bytes = gpuscan__host_bytes(b);
            if (!(a->range->writes || b->range->writes) || !a_bytes || !b_bytes ||
                !gpuscan__arrays_overlap(a->data, a_bytes, b->data, b_bytes))
                continue;
            if (a->data != b->data || !gpuscan__may_share(a->range, a_bytes, b->range, b_bytes))
                return gpuscan__fail(gs, GPUSCAN_ERROR_OVERLAP, "%s and %s overlap", a->field, b->field);
            plan->in_place = 1;
        }
    return GPUSCAN_SUCCESS;
}

/* Whether the device may use an array where it lies: kernels count on their type's alignment. What a custom type's is
   only the device knows, but it divides the size. */
static int gpuscan__host_is_aligned(const gpuscan__host_array *array) {
    uint32_t size = array->range->size, power = size & (~size + 1);
    return ((uintptr_t)array->data & (power - 1)) == 0;
}

/* Fills a buffer with its array. Where the queue has no order, only the write's event says when the kernels may start:
   a blocking write that returns has read the array. */
static gpuscan_result gpuscan__host_upload(gpuscan__host_call *host, const gpuscan__host_array *array, cl_mem mem) {
    gpuscan *gs = host->gs;
    cl_event written = NULL;
    cl_int code = gs->cl.clEnqueueWriteBuffer(host->queue, mem, CL_TRUE, 0, (size_t)gpuscan__host_bytes(array),
                                              array->data, 0, NULL, host->in_order ? NULL : &written);
    if (code == CL_SUCCESS && written)
        code = gs->cl.clWaitForEvents(1, &written);
    gpuscan__forget_event(gs, &written);
    return code == CL_SUCCESS ? GPUSCAN_SUCCESS : gpuscan__fail(gs, code, "clEnqueueWriteBuffer failed");
}

/* A buffer for an array: the array itself where the device can use it where it lies, else a copy. */
static gpuscan_result gpuscan__host_buffer(gpuscan__host_call *host, gpuscan__host_array *array) {
    gpuscan *gs = host->gs;
    uint64_t bytes = gpuscan__host_bytes(array);
    const gpuscan__host_array *other;
    cl_int code;
    cl_mem mem;
    if (bytes == 0)
        return GPUSCAN_SUCCESS;
    for (other = host->arrays; other != array; other++)
        if (other->data == array->data && other->range->in_place &&
            other->range->in_place == array->range->in_place) {
            array->buffer->mem = other->buffer->mem;
            array->zero_copy = other->zero_copy;
            return GPUSCAN_SUCCESS;
        }
    array->zero_copy = gs->device.zero_copy && gpuscan__host_is_aligned(array);
    if (array->zero_copy)
        mem = gpuscan__create_buffer(gs, CL_MEM_USE_HOST_PTR, bytes, gpuscan__without_const(array->data), &code);
    else
        mem = gpuscan__create_buffer(gs, 0, bytes, NULL, &code);
    if (!mem)
        return gpuscan__fail(gs, code, "clCreateBuffer of %llu bytes failed", (unsigned long long)bytes);
    host->mem[host->mem_count++] = mem;
    array->buffer->mem = mem;
    if ((array->range->reads || array->range->partial) && !array->zero_copy)
        return gpuscan__host_upload(host, array, mem);
    return GPUSCAN_SUCCESS;
}

/* Brings what a call has written back into its array. */
static gpuscan_result gpuscan__host_fetch(gpuscan__host_call *host, const gpuscan__host_array *array) {
    gpuscan *gs = host->gs;
    size_t bytes = (size_t)gpuscan__host_bytes(array);
    cl_mem mem = array->buffer->mem;
    cl_int code = CL_SUCCESS;
    if (array->zero_copy) {
        cl_event unmapped = NULL;
        void *mapped =
            gs->cl.clEnqueueMapBuffer(host->queue, mem, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &code);
        if (mapped && code != CL_SUCCESS)
            gs->cl.clEnqueueUnmapMemObject(host->queue, mem, mapped, 0, NULL, NULL);
        if (!mapped || code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "clEnqueueMapBuffer failed");
        code = gs->cl.clEnqueueUnmapMemObject(host->queue, mem, mapped, 0, NULL, &unmapped);
        if (code == CL_SUCCESS)
            code = gs->cl.clWaitForEvents(1, &unmapped);
        gpuscan__forget_event(gs, &unmapped);
        return code == CL_SUCCESS ? GPUSCAN_SUCCESS : gpuscan__fail(gs, code, "clEnqueueUnmapMemObject failed");
    }
    code = gs->cl.clEnqueueReadBuffer(host->queue, mem, CL_TRUE, 0, bytes,
                                      gpuscan__without_const(array->data), 0, NULL, NULL);
    return code == CL_SUCCESS ? GPUSCAN_SUCCESS : gpuscan__fail(gs, code, "clEnqueueReadBuffer failed");
}

/* Waits for the call, and fetches what it wrote. */
static gpuscan_result gpuscan__host_wait(gpuscan__host_call *host, cl_event done) {
    gpuscan *gs = host->gs;
    gpuscan_result r = GPUSCAN_SUCCESS;
    cl_int code = gs->cl.clWaitForEvents(1, &done);
    int i;
    if (code != CL_SUCCESS)
        return gpuscan__fail(gs, code, "clWaitForEvents failed");
    for (i = 0; i < host->count && r == 0; i++)
        if (host->arrays[i].range->writes && host->arrays[i].buffer->mem)
            r = gpuscan__host_fetch(host, &host->arrays[i]);
    return r;
}

/* A blocking call on arrays. plan: begun, of plan_size bytes; call: that of its desc, a copy of the caller's, into
   which the arrays' buffers go. */
static gpuscan_result gpuscan__host_do(gpuscan__host_call *host, gpuscan__plan *plan, size_t plan_size,
                                       gpuscan_call *call) {
    gpuscan *gs = host->gs;
    const gpuscan__operation *operation = plan->operation;
    const void *desc = plan->desc;
    cl_event event = NULL, *caller = call->event;
    int i;
    gpuscan_result r;
    call->event = &event;
    plan->from_host = 1;
    plan->group_limit = gs->device.group_limit;
    if ((r = operation->resolve(gs, plan)) != 0 || (r = gpuscan__host_check(host, plan)) != 0 ||
        (r = operation->choose(gs, plan)) != 0 ||
        (r = gpuscan__check_call(gs, call, &host->queue, &host->in_order)) != 0)
        return r;
    for (i = 0; i < host->count && r == 0; i++)
        r = gpuscan__host_buffer(host, &host->arrays[i]);
    if (r == 0) {
        gpuscan__range ranges[GPUSCAN__HOST_ARRAYS]; /* those of the plan, which is resolved anew */
        for (i = 0; i < host->count; i++) {
            ranges[i] = *host->arrays[i].range;
            host->arrays[i].range = &ranges[i];
        }
        gpuscan__plan_begin(plan, plan_size, operation, desc, call);
        plan->from_host = 1;
        r = gpuscan__do(gs, plan, GPUSCAN__RUN, NULL);
        if (r == 0)
            r = gpuscan__host_wait(host, event);
        if (r != 0 && plan->is_enqueued) /* the device may still use the caller's arrays */
            gs->cl.clFinish(host->queue);
    }
    if (r == 0 && caller)
        *caller = event;
    else
        gpuscan__forget_event(gs, &event);
    while (host->mem_count > 0)
        gs->cl.clReleaseMemObject(host->mem[--host->mem_count]);
    return r;
}

static void gpuscan__host_begin(gpuscan__host_call *host, gpuscan *gs) {
    memset(host, 0, sizeof(*host));
    host->gs = gs;
}

/* [SCAN] ----------------------------------------------------------------------------------------------------------- */

typedef struct gpuscan__scan_key {
    uint32_t inclusive;
    uint32_t few; /* a single pass over so few tiles that each reads all sums before its own */
    uint32_t whole_rows; /* groups take tiles of whole rows */
    uint32_t shifts;     /* src or dst is not aligned for whole vectors */
} gpuscan__scan_key;
GPUSCAN__ASSERT(sizeof(gpuscan__scan_key) <= GPUSCAN__KEY_OWN * sizeof(uint32_t), scan_key_fits)

typedef struct gpuscan__scan_plan {
    gpuscan__plan common;
    gpuscan__scan_key key;
    uint64_t rows, src_pitch, dst_pitch;
    uint64_t row_tiles, tiles;
    uint32_t parts, part_tiles; /* multi-pass: see [MULTI-PASS SCAN] in kernels.cl.inc */
    uint64_t ahead;             /* SINGLE_PASS_AHEAD: tiles */
    uint32_t length, tile_rows; /* whole rows: see [SCAN ROWS] in kernels.cl.inc */
} gpuscan__scan_plan;

#define GPUSCAN__SCAN_SUMS_NUMBERS(X)                                                                                  \
    X(src_offset) X(src_pitch) X(count) X(count_offset) X(rows) X(parts) X(part_tiles) X(sums_offset) X(flags)
#define GPUSCAN__SCAN_CARRIES_NUMBERS(X) X(rows) X(parts) X(sums_offset) X(init_offset) X(flags)
#define GPUSCAN__SCAN_PARTS_NUMBERS(X)                                                                                 \
    X(src_offset) X(src_pitch) X(dst_offset) X(dst_pitch) X(count) X(count_offset) X(rows) X(parts) X(part_tiles)      \
    X(carries_offset) X(init_offset) X(total_offset) X(flags)
#define GPUSCAN__SCAN_ROWS_NUMBERS(X)                                                                                  \
    X(src_offset) X(src_pitch) X(dst_offset) X(dst_pitch) X(count) X(count_offset) X(rows) X(length) X(tile_rows)      \
    X(init_offset) X(total_offset) X(flags)
#define GPUSCAN__SCAN_NUMBERS(X)                                                                                       \
    X(src_offset) X(src_pitch) X(dst_offset) X(dst_pitch) X(count) X(count_offset) X(tiles) X(row_tiles) X(ahead)      \
    X(states_offset) X(epoch) X(init_offset) X(total_offset) X(flags)
GPUSCAN__NUMBERS(scan_sums, GPUSCAN__SCAN_SUMS_NUMBERS)
GPUSCAN__NUMBERS(scan_carries, GPUSCAN__SCAN_CARRIES_NUMBERS)
GPUSCAN__NUMBERS(scan_parts, GPUSCAN__SCAN_PARTS_NUMBERS)
GPUSCAN__NUMBERS(scan_rows, GPUSCAN__SCAN_ROWS_NUMBERS)
GPUSCAN__NUMBERS(scan, GPUSCAN__SCAN_NUMBERS)

enum {
    GPUSCAN__SCAN_SUMS = 0,
    GPUSCAN__SCAN_CARRIES,
    GPUSCAN__SCAN_PARTS,
    GPUSCAN__SCAN_ROWS = 0, /* in a program of their own */
    GPUSCAN__SCAN_ROWS_BY_ITEM
};

static const char *const *gpuscan__scan_kernels(const gpuscan__key *key) {
    static const char *const multi_pass[] = {"gpuscan_scan_sums", "gpuscan_scan_carries", "gpuscan_scan_parts", NULL};
    static const char *const whole_rows[] = {"gpuscan_scan_rows", "gpuscan_scan_rows_by_item", NULL};
    static const char *const look_back[] = {"gpuscan_scan_look_back", NULL};
    static const char *const look_back_cpu[] = {"gpuscan_scan_look_back_cpu", NULL};
    static const char *const ahead[] = {"gpuscan_scan_ahead", NULL};
    static const char *const few[] = {"gpuscan_scan_few", NULL};
    gpuscan_strategy strategy = gpuscan__key_strategy(key);
    gpuscan__scan_key own;
    memcpy(&own, key->own, sizeof(own));
    if (own.whole_rows)
        return whole_rows;
    if (!gpuscan__is_single_pass(strategy))
        return multi_pass;
    if (gpuscan__key_is_cpu(key))
        return look_back_cpu;
    return strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD ? ahead : own.few ? few : look_back;
}

static void gpuscan__scan_define(gpuscan__text *text, const gpuscan *gs, const gpuscan__plan *plan) {
    gpuscan_strategy strategy = gpuscan__key_strategy(&plan->key);
    gpuscan__scan_key own;
    memcpy(&own, plan->key.own, sizeof(own));
    if (gpuscan__is_single_pass(strategy)) {
        gpuscan__define(text, "SCAN_NUMBERS", gpuscan__scan_numbers_text);
    } else {
        gpuscan__define(text, "SCAN_SUMS_NUMBERS", gpuscan__scan_sums_numbers_text);
        gpuscan__define(text, "SCAN_CARRIES_NUMBERS", gpuscan__scan_carries_numbers_text);
        gpuscan__define(text, "SCAN_PARTS_NUMBERS", gpuscan__scan_parts_numbers_text);
        gpuscan__define(text, "SCAN_ROWS_NUMBERS", gpuscan__scan_rows_numbers_text);
    }
    gpuscan__define_number(text, "SHIFTS", own.shifts);
    gpuscan__define_operation(text, gs, plan,
                              own.whole_rows                      ? "SCAN_ROWS"
                              : gpuscan__is_single_pass(strategy) ? "SCAN_SINGLE_PASS"
                                                                  : "SCAN_MULTI_PASS",
                              gpuscan__vector(plan->e.src_size, plan->e.dst_size), own.inclusive != 0,
                              strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, own.few);
}

static gpuscan_result gpuscan__scan_resolve(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__scan_plan *plan = (gpuscan__scan_plan *)common;
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)common->desc;
    gpuscan__elements *e = &common->e;
    uint64_t src_elements, dst_elements;
    gpuscan__range *range;
    gpuscan_result r;
    if ((r = gpuscan__check_op(gs, desc->op)) != 0 ||
        (r = gpuscan__resolve_elements(gs, e, desc->src_type, desc->dst_type, desc->op, desc->custom, "src_type",
                                       "dst_type")) != 0)
        return r;
    if (desc->kind != GPUSCAN_EXCLUSIVE && desc->kind != GPUSCAN_INCLUSIVE)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "kind is no gpuscan_scan_kind");
    plan->rows = desc->rows ? desc->rows : 1;
    if ((r = gpuscan__resolve_pitch(gs, "src_pitch", desc->src_pitch, desc->count, &plan->src_pitch)) != 0 ||
        (r = gpuscan__resolve_pitch(gs, "dst_pitch", desc->dst_pitch, desc->count, &plan->dst_pitch)) != 0 ||
        (r = gpuscan__extent(gs, "src", desc->count, plan->rows, plan->src_pitch, e->src_size, &src_elements)) != 0 ||
        (r = gpuscan__extent(gs, "dst", desc->count, plan->rows, plan->dst_pitch, e->dst_size, &dst_elements)) != 0)
        return r;
    range = gpuscan__input(common, "src", desc->src, src_elements, e->src_size);
    range->in_place = range->idle = 1;
    gpuscan__rows_of(range, plan->rows, desc->count, plan->src_pitch, e->src_size);
    range = gpuscan__output(common, "dst", desc->dst, dst_elements, e->dst_size);
    range->in_place = range->idle = 1;
    gpuscan__rows_of(range, plan->rows, desc->count, plan->dst_pitch, e->dst_size);
    range->partial = plan->dst_pitch > desc->count || desc->count_buffer.mem != NULL;
    range = gpuscan__output(common, "total", desc->total, plan->rows, e->dst_size);
    range->required = 0;
    range->idle = 1;
    if ((r = gpuscan__resolve_count(gs, common, desc->count_buffer, desc->count_type)) != 0 ||
        (r = gpuscan__resolve_init(gs, common, desc->init, desc->init_buffer)) != 0)
        return r;
    if (desc->total.mem)
        common->flags |= GPUSCAN__FLAG_TOTAL;
    if (gs->device.profile.prefetch_dst == 0 && desc->count * plan->rows * e->dst_size > gs->device.cache / 2)
        common->flags |= GPUSCAN__FLAG_STREAM;
    common->is_nothing = desc->count == 0 && !desc->total.mem;
    plan->key.inclusive = desc->kind == GPUSCAN_INCLUSIVE;
    gpuscan__key_elements(common);
    return GPUSCAN_SUCCESS;
}

static int gpuscan__tuning_matches(const gpuscan__tuning *row, uint64_t bytes, const gpuscan__scan_plan *plan) {
    const gpuscan__elements *e = &plan->common.e;
    return row->up_to >= bytes && (!row->size || row->size == gpuscan__max(e->src_size, e->dst_size)) &&
           (!row->src_size || row->src_size == e->src_size) && (!row->inclusive || plan->key.inclusive) &&
           (!row->unpacked || (gpuscan__is_integer(e->src) && e->src_size <= 2 && !gpuscan__packed(e, 0)));
}

/* The tuning of the size, or where a strategy is forced the first of its own. */
static gpuscan__tuning gpuscan__choose_tuning(const gpuscan *gs, uint64_t bytes, const gpuscan__scan_plan *plan) {
    const gpuscan__profile *profile = &gs->device.profile;
    gpuscan_strategy forced = plan->common.call->strategy;
    gpuscan__tuning found = profile->scan_rest;
    uint32_t i;
    for (i = profile->scan_count; i-- > 0;)
        if (gpuscan__tuning_matches(&profile->scan[i], bytes, plan))
            found = profile->scan[i];
    if (forced == GPUSCAN_STRATEGY_AUTO || forced == found.strategy)
        return found;
    for (i = 0; i < profile->scan_count; i++)
        if (profile->scan[i].strategy == forced && gpuscan__tuning_matches(&profile->scan[i], bytes, plan))
            return profile->scan[i];
    if (profile->scan_rest.strategy == forced)
        return profile->scan_rest;
    found.strategy = forced;
    found.ahead = 128 * found.group * found.vectors * 16;
    return found;
}

/* Tiles of which each can read all sums before its own: a word in each lane of a group of 512. */
#define GPUSCAN__FEW_TILES 512

/* Whether some row begins in the middle of 16 bytes; buffers do not. */
static int gpuscan__scan_is_unaligned(const gpuscan__scan_plan *plan) {
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)plan->common.desc;
    const gpuscan__elements *e = &plan->common.e;
    uint64_t pitches = plan->rows > 1 ? plan->src_pitch * e->src_size | plan->dst_pitch * e->dst_size : 0;
    return ((desc->src.offset * e->src_size | desc->dst.offset * e->dst_size | pitches) & 15) != 0;
}

/* The key, unless it is a self-test's, and the tiles. */
static void gpuscan__scan_shape(const gpuscan *gs, gpuscan__scan_plan *plan, const gpuscan__tuning *tuning) {
    gpuscan__plan *common = &plan->common;
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)common->desc;
    gpuscan__key *key = &common->key;
    uint64_t tile_bytes;
    int is_single = gpuscan__is_single_pass(tuning->strategy), lanes = 0;
    if (common->forced) {
        *key = *common->forced;
    } else {
        key->strategy = (uint32_t)tuning->strategy;
        gpuscan__fit(gs, common, tuning->group, tuning->vectors);
        lanes = gpuscan__uses_lanes(gs, key);
        key->word = is_single ? gpuscan__word_bits(gs, common->e.t_size, gpuscan__whole_lanes(gs, key->group)) : 0;
        key->registers = is_single && gpuscan__uses_ptx(gs, key) ? tuning->registers : 0;
    }
    plan->row_tiles = gpuscan__max(gpuscan__ceil_div(desc->count, key->tile), 1);
    plan->tiles = plan->row_tiles * plan->rows; /* no more than there are elements, or rows */
    plan->ahead = 1;
    if (common->forced) {
        memcpy(&plan->key, key->own, sizeof(plan->key));
        return;
    }
    tile_bytes = (uint64_t)key->tile * ((uint64_t)common->e.src_size + common->e.dst_size);
    plan->ahead = gpuscan__min(plan->tiles, gpuscan__max(tuning->ahead / tile_bytes, 1));
    plan->key.few = tuning->strategy == GPUSCAN_STRATEGY_SINGLE_PASS && lanes && plan->tiles <= GPUSCAN__FEW_TILES
                        ? GPUSCAN__FEW_TILES
                        : 0;
    plan->key.whole_rows = 0;
    plan->key.shifts = gpuscan__uses_ptx(gs, key) && gpuscan__scan_is_unaligned(plan);
    memcpy(key->own, &plan->key, sizeof(plan->key));
}

/* Of a single pass. */
static uint64_t gpuscan__single_pass_groups(const gpuscan *gs, const gpuscan__key *key, uint64_t tiles) {
    if (gpuscan__key_is_cpu(key)) /* each takes tile after tile */
        return gpuscan__min(tiles, gs->device.units);
    return gpuscan__key_strategy(key) == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD ? 2 * tiles + 1 : tiles;
}
static uint64_t gpuscan__scan_groups(const gpuscan *gs, const gpuscan__scan_plan *plan) {
    return gpuscan__single_pass_groups(gs, &plan->common.key, plan->tiles);
}

/* Scratch for its states: sums, and ahead prefixes, too; see [SCAN AHEAD] in kernels.cl.inc. */
static void gpuscan__need_states(gpuscan__plan *plan, uint64_t tiles) {
    if (gpuscan__key_strategy(&plan->key) == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD)
        tiles = 2 * gpuscan__ceil_div(tiles, GPUSCAN__STATES_ALIGN) * GPUSCAN__STATES_ALIGN;
    gpuscan__need_words(&plan->need, plan->key.word, plan->e.t_size, tiles);
}

/* What keeps a single pass from so many tiles; NULL: nothing. */
static const char *gpuscan__tiles_misfit(const gpuscan *gs, const gpuscan__key *key, uint64_t tiles, uint64_t groups) {
    if (tiles >= (uint64_t)1 << 30)
        return "more than 2^30 tiles";
    return groups <= gs->device.work_items / key->group ? NULL : "a launch cannot have so many work-items";
}

/* What keeps the strategy from doing a call; NULL: nothing. */
static const char *gpuscan__scan_misfit(const gpuscan *gs, const gpuscan__scan_plan *plan, gpuscan_strategy strategy) {
    int in_place = plan->common.in_place;
    const char *why = gpuscan__why_refused(gs, &plan->common, strategy);
    if (why || !gpuscan__is_single_pass(strategy))
        return why;
    if (!gpuscan__word_bits(gs, plan->common.e.t_size, 0))
        return "elements of more than 64 bytes are not handed over in state words";
    /* a simulator reports what is read too late, though it is thrown away: see gpuscan_window_sums */
    if (in_place && (gs->device.fence == GPUSCAN__FENCE_NONE || gs->device.fence == GPUSCAN__FENCE_MEM))
        return "in place it needs a fence of device scope";
    return gpuscan__tiles_misfit(gs, &plan->common.key, plan->tiles, gpuscan__scan_groups(gs, plan));
}

/* Rows so short that a tile for each would be nearly empty: many of them are scanned by whole rows though a single pass
   was asked for. */
#define GPUSCAN__SHORT_ROW 32
/* And so short that a work-item scans a row: at most so many elements, of 8 bytes at most. */
#define GPUSCAN__ROW_OF_ITEM 4
/* Longer rows, in bytes, are scanned by a group each (H200, 2^28 bytes in rows of 4096 u64: 136 us, by tiles of whole
   rows 300; of 5001 u32: 160 and 198). */
#define GPUSCAN__LONG_ROW (16 * GPUSCAN__KIB)
/* Takes a strategy with what else the tuning says. */
static void gpuscan__scan_take(const gpuscan *gs, gpuscan__scan_plan *plan, gpuscan__tuning *tuning,
                               gpuscan_strategy strategy) {
    tuning->strategy = strategy;
    gpuscan__scan_shape(gs, plan, tuning);
}

/* Enough parts of a row to keep the device busy, of whole tiles; a few tiles are not worth three launches. */
static gpuscan_result gpuscan__cut_parts(gpuscan *gs, const gpuscan__key *key, uint64_t rows, uint64_t row_tiles,
                                         uint32_t *parts, uint32_t *part_tiles) {
    uint64_t groups = (uint64_t)gs->device.units * gs->device.profile.groups_per_unit;
    *parts = 1;
    if (row_tiles > (gpuscan__key_is_cpu(key) ? 2 : 4))
        *parts = (uint32_t)gpuscan__min(row_tiles, gpuscan__max(groups / gpuscan__min(rows, groups), 1));
    if (gpuscan__ceil_div(row_tiles, *parts) > UINT32_MAX)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "count: a part of a row exceeds 2^32 tiles");
    *part_tiles = (uint32_t)gpuscan__ceil_div(row_tiles, *parts);
    *parts = (uint32_t)gpuscan__ceil_div(row_tiles, *part_tiles);
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__scan_cut_parts(gpuscan *gs, gpuscan__scan_plan *plan) {
    gpuscan__plan *common = &plan->common;
    gpuscan_result r = gpuscan__cut_parts(gs, &common->key, plan->rows, plan->row_tiles, &plan->parts,
                                          &plan->part_tiles);
    if (r == 0 && plan->parts > 1)
        common->need.bytes[GPUSCAN__PLAIN] =
            plan->rows * plan->parts * common->e.t_size + gpuscan__slack(common->e.t_size);
    return r;
}

/* What a tile of whole rows is: how many, and how they are numbered through. Returns the elements of the tile that they
   are, or 0 if it does not hold one. */
static uint32_t gpuscan__scan_cut_rows(gpuscan__scan_plan *plan) {
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)plan->common.desc;
    uint32_t size = plan->common.e.src_size, vector = gpuscan__vector(size, plan->common.e.dst_size);
    uint32_t tile = plan->common.key.tile;
    uint64_t length = gpuscan__ceil_div(desc->count, vector) * vector;
    if (plan->src_pitch == plan->dst_pitch && plan->src_pitch <= 2 * length)
        length = plan->src_pitch;
    if (length % vector != 0 || desc->src.offset % vector != 0) /* tiles may begin before their first row */
        tile -= vector - 1;
    if (length == 0 || length > tile)
        return 0;
    plan->length = (uint32_t)length;
    plan->tile_rows = tile / (uint32_t)length;
    return plan->tile_rows * plan->length;
}

/* Takes tiles of whole rows where the call's rows are short enough for them; else leaves the plan as it is. */
static int gpuscan__scan_takes_rows(const gpuscan *gs, gpuscan__scan_plan *plan, gpuscan__tuning *tuning, int is_auto) {
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)plan->common.desc;
    gpuscan__key *key = &plan->common.key;
    uint64_t elements = desc->count * plan->rows; /* fits, as the extents do */
    int few = elements < (uint64_t)gs->device.units * gs->device.profile.rows_group * 16;
    uint32_t vectors, best = 0, best_vectors = 0;
    gpuscan_strategy asked = tuning->strategy;
    if (plan->common.forced)
        return plan->key.whole_rows && gpuscan__scan_cut_rows(plan);
    if (plan->rows < 2 || gpuscan__is_cpu_strategy(tuning->strategy) || desc->count == 0 ||
        gs->device.profile.rows_group == 0)
        return 0;
    if (desc->count * plan->common.e.dst_size >= GPUSCAN__LONG_ROW && plan->rows >= 4 * gs->device.units)
        return 0;
    if (gpuscan__is_single_pass(tuning->strategy) && !is_auto &&
        (desc->count > GPUSCAN__SHORT_ROW || plan->rows < (uint64_t)key->group * gs->device.units))
        return 0;
    gpuscan__scan_take(gs, plan, tuning, GPUSCAN_STRATEGY_MULTI_PASS);
    /* the tiles' vectors that leave least of them empty */
    for (vectors = few ? 2 : gs->device.profile.rows_vectors; vectors <= 8 && best < 90; vectors++) {
        uint32_t full;
        gpuscan__fit(gs, &plan->common, gs->device.profile.rows_group, vectors);
        full = (uint32_t)((uint64_t)gpuscan__scan_cut_rows(plan) * 100 / key->tile);
        if (key->vectors == vectors && full > best) {
            best = full;
            best_vectors = vectors;
        }
    }
    if (best_vectors == 0) {
        gpuscan__scan_take(gs, plan, tuning, asked);
        return 0;
    }
    plan->key.shifts = 0;
    gpuscan__fit(gs, &plan->common, gs->device.profile.rows_group, best_vectors);
    gpuscan__scan_cut_rows(plan);
    plan->key.whole_rows = 1;
    memcpy(key->own, &plan->key, sizeof(plan->key));
    return 1;
}

static gpuscan_result gpuscan__scan_choose(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__scan_plan *plan = (gpuscan__scan_plan *)common;
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)common->desc;
    /* fits: the extents of src and dst do */
    uint64_t bytes = desc->count * plan->rows * gpuscan__max(common->e.src_size, common->e.dst_size);
    gpuscan__tuning tuning = gpuscan__choose_tuning(gs, bytes, plan);
    int is_auto = common->call->strategy == GPUSCAN_STRATEGY_AUTO;
    const char *why;
    gpuscan__scan_shape(gs, plan, &tuning);
    if (is_auto && plan->rows > 1 && gpuscan__is_single_pass(tuning.strategy) &&
        (desc->count <= common->key.tile / 2 || plan->rows >= 4 * gs->device.units))
        /* enough rows to go round: a row is scanned by one group, without a look-back */
        gpuscan__scan_take(gs, plan, &tuning, gpuscan__strategies[tuning.strategy].portable);
    if ((why = gpuscan__scan_misfit(gs, plan, tuning.strategy)) != NULL && !is_auto)
        return gpuscan__unsupported(gs, why);
    if (why && tuning.strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD) {
        gpuscan__scan_take(gs, plan, &tuning, GPUSCAN_STRATEGY_SINGLE_PASS);
        why = gpuscan__scan_misfit(gs, plan, tuning.strategy);
    }
    if (why)
        gpuscan__scan_take(gs, plan, &tuning, gpuscan__strategies[tuning.strategy].portable);
    memset(&common->need, 0, sizeof(common->need));
    if (gpuscan__scan_takes_rows(gs, plan, &tuning, is_auto)) /* there is nothing to look back at */
        return GPUSCAN_SUCCESS;
    if (!gpuscan__is_single_pass(tuning.strategy))
        return gpuscan__scan_cut_parts(gs, plan);
    gpuscan__need_states(common, plan->tiles);
    return GPUSCAN_SUCCESS;
}

/* Groups that take parts of rows, one after the other. A CPU's take their share of the rows, some more than there are
   units, which are not equally fast, but each so much that its start does not show. */
static uint64_t gpuscan__scan_part_groups(const gpuscan *gs, const gpuscan__scan_plan *plan) {
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)plan->common.desc;
    uint64_t units = plan->rows * plan->parts, least = plan->common.key.tile / 16;
    uint64_t most = gpuscan__max((uint64_t)gs->device.units * 64, 4096);
    if (gpuscan__key_is_cpu(&plan->common.key) && plan->parts == 1) /* fits, as the extents do */
        most = gpuscan__min(gpuscan__max(plan->rows * desc->count / least, 1), (uint64_t)gs->device.units * 16);
    return gpuscan__min(units, most);
}

/* Rows that are cut into parts: whose sums are wanted, and in which grid. */
typedef struct gpuscan__row_parts {
    gpuscan_buffer src, count_buffer, init_buffer;
    uint64_t src_pitch, count, rows, groups, shared;
    uint32_t parts, part_tiles;
    cl_mem stand_in;
} gpuscan__row_parts;

/* The sums of the parts, and from them what precedes each: the first two launches of a scan or selection of several. */
static gpuscan_result gpuscan__enqueue_carries(gpuscan__chain *chain, const gpuscan__plan *common,
                                               gpuscan__program *program, const gpuscan__row_parts *of) {
    uint64_t t_size = common->e.t_size;
    uint32_t group = common->key.group;
    gpuscan__launch launch = gpuscan__launch_begin(chain, program, GPUSCAN__SCAN_SUMS, of->stand_in);
    gpuscan__scan_sums_numbers sums;
    gpuscan__scan_carries_numbers carries;
    gpuscan_result r;
    sums.src_offset = gpuscan__arg_buffer(&launch, of->src);
    sums.src_pitch = of->src_pitch;
    sums.count = of->count;
    sums.count_offset = gpuscan__arg_count(&launch, of->count_buffer);
    sums.rows = of->rows;
    sums.parts = of->parts;
    sums.part_tiles = of->part_tiles;
    sums.sums_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, 0, t_size);
    sums.flags = common->flags;
    r = gpuscan__launch_end(&launch, &sums, sizeof(sums), gpuscan__grid_of(of->groups, group, of->shared, 0));
    if (r != 0)
        return r;
    launch = gpuscan__launch_begin(chain, program, GPUSCAN__SCAN_CARRIES, of->stand_in);
    carries.rows = of->rows;
    carries.parts = of->parts;
    carries.sums_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, 0, t_size);
    carries.init_offset = gpuscan__arg_init(&launch, common, of->init_buffer);
    carries.flags = common->flags;
    return gpuscan__launch_end(&launch, &carries, sizeof(carries),
                               gpuscan__grid_of(gpuscan__min(of->rows, 65536), group, of->shared, 0));
}

static gpuscan_result gpuscan__scan_multi_pass(gpuscan__chain *chain, const gpuscan__scan_plan *plan,
                                               gpuscan__program *program) {
    const gpuscan__plan *common = &plan->common;
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)common->desc;
    cl_mem stand_in = desc->dst.mem ? desc->dst.mem : desc->total.mem;
    uint32_t group = common->key.group;
    uint64_t t_size = common->e.t_size;
    uint64_t groups = gpuscan__scan_part_groups(chain->gs, plan);
    uint64_t shared = gpuscan__key_shared_bytes(chain->gs, &common->key, common->e.t_size);
    gpuscan__scan_parts_numbers parts;
    gpuscan__launch launch;
    gpuscan_result r;
    if (plan->parts > 1) {
        gpuscan__row_parts of;
        of.src = desc->src;
        of.count_buffer = desc->count_buffer;
        of.init_buffer = desc->init_buffer;
        of.src_pitch = plan->src_pitch;
        of.count = desc->count;
        of.rows = plan->rows;
        of.groups = groups;
        of.shared = shared;
        of.parts = plan->parts;
        of.part_tiles = plan->part_tiles;
        of.stand_in = stand_in;
        if ((r = gpuscan__enqueue_carries(chain, common, program, &of)) != 0)
            return r;
    }
    launch = gpuscan__launch_begin(chain, program, GPUSCAN__SCAN_PARTS, stand_in);
    parts.src_offset = gpuscan__arg_buffer(&launch, desc->src);
    parts.src_pitch = plan->src_pitch;
    parts.dst_offset = gpuscan__arg_buffer(&launch, desc->dst);
    parts.dst_pitch = plan->dst_pitch;
    parts.count = desc->count;
    parts.count_offset = gpuscan__arg_count(&launch, desc->count_buffer);
    parts.rows = plan->rows;
    parts.parts = plan->parts;
    parts.part_tiles = plan->part_tiles;
    parts.carries_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, 0, t_size);
    parts.init_offset = gpuscan__arg_init(&launch, common, desc->init_buffer);
    parts.total_offset = gpuscan__arg_buffer(&launch, desc->total);
    parts.flags = common->flags;
    if (plan->parts > 1)
        parts.flags |= GPUSCAN__FLAG_CARRIES;
    return gpuscan__launch_end(&launch, &parts, sizeof(parts), gpuscan__grid_of(groups, group, shared, 1));
}

static gpuscan_result gpuscan__scan_single_pass(gpuscan__chain *chain, const gpuscan__scan_plan *plan,
                                                gpuscan__program *program) {
    const gpuscan__plan *common = &plan->common;
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)common->desc;
    const gpuscan__key *key = &common->key;
    cl_mem stand_in = desc->dst.mem ? desc->dst.mem : desc->total.mem;
    gpuscan__launch launch = gpuscan__launch_begin(chain, program, 0, stand_in);
    uint64_t groups = gpuscan__scan_groups(chain->gs, plan);
    uint64_t shared = gpuscan__key_shared_bytes(chain->gs, key, common->e.t_size);
    gpuscan__scan_numbers scan;
    scan.src_offset = gpuscan__arg_buffer(&launch, desc->src);
    scan.src_pitch = plan->src_pitch;
    scan.dst_offset = gpuscan__arg_buffer(&launch, desc->dst);
    scan.dst_pitch = plan->dst_pitch;
    scan.count = desc->count;
    scan.count_offset = gpuscan__arg_count(&launch, desc->count_buffer);
    scan.tiles = plan->tiles;
    scan.row_tiles = plan->row_tiles;
    scan.ahead = plan->ahead;
    scan.states_offset = gpuscan__arg_scratch(&launch, gpuscan__word_scratch(key->word), 0, key->word / 8);
    scan.epoch = chain->place.epoch;
    scan.init_offset = gpuscan__arg_init(&launch, common, desc->init_buffer);
    scan.total_offset = gpuscan__arg_buffer(&launch, desc->total);
    scan.flags = common->flags;
    shared += (uint64_t)common->e.t_size * plan->key.few / chain->gs->device.lane_width; /* a value a window of tiles */
    return gpuscan__launch_end(&launch, &scan, sizeof(scan), gpuscan__grid_of(groups, key->group, shared, 1));
}

static gpuscan_result gpuscan__scan_whole_rows(gpuscan__chain *chain, const gpuscan__scan_plan *plan,
                                               gpuscan__program *program) {
    const gpuscan__plan *common = &plan->common;
    const gpuscan_scan_desc *desc = (const gpuscan_scan_desc *)common->desc;
    uint32_t size = common->e.src_size > common->e.dst_size ? common->e.src_size : common->e.dst_size;
    int by_item = desc->count <= GPUSCAN__ROW_OF_ITEM && desc->count * size <= 8;
    uint64_t groups = by_item ? gpuscan__min(gpuscan__ceil_div(plan->rows, common->key.group),
                                             gpuscan__max((uint64_t)chain->gs->device.units * 64, 4096))
                              : gpuscan__min(gpuscan__ceil_div(plan->rows, plan->tile_rows), (uint64_t)1 << 20);
    gpuscan__launch launch = gpuscan__launch_begin(
        chain, program, by_item ? GPUSCAN__SCAN_ROWS_BY_ITEM : GPUSCAN__SCAN_ROWS, desc->dst.mem);
    gpuscan__scan_rows_numbers rows;
    rows.src_offset = gpuscan__arg_buffer(&launch, desc->src);
    rows.src_pitch = plan->src_pitch;
    rows.dst_offset = gpuscan__arg_buffer(&launch, desc->dst);
    rows.dst_pitch = plan->dst_pitch;
    rows.count = desc->count;
    rows.count_offset = gpuscan__arg_count(&launch, desc->count_buffer);
    rows.rows = plan->rows;
    rows.length = plan->length;
    rows.tile_rows = plan->tile_rows;
    rows.init_offset = gpuscan__arg_init(&launch, common, desc->init_buffer);
    rows.total_offset = gpuscan__arg_buffer(&launch, desc->total);
    rows.flags = common->flags;
    return gpuscan__launch_end(&launch, &rows, sizeof(rows),
                               gpuscan__grid_of(groups, common->key.group,
                                                gpuscan__key_shared_bytes(chain->gs, &common->key, common->e.t_size), 1));
}

static gpuscan_result gpuscan__scan_enqueue(gpuscan__chain *chain, const gpuscan__plan *common,
                                            gpuscan__program *program) {
    const gpuscan__scan_plan *plan = (const gpuscan__scan_plan *)common;
    if (plan->key.whole_rows)
        return gpuscan__scan_whole_rows(chain, plan, program);
    return gpuscan__is_single_pass(gpuscan__key_strategy(&common->key))
               ? gpuscan__scan_single_pass(chain, plan, program)
               : gpuscan__scan_multi_pass(chain, plan, program);
}

static gpuscan_result gpuscan__scan_test_round(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                               unsigned round, int *right) {
    const gpuscan__elements *e = &common->e;
    gpuscan__scan_key own;
    gpuscan__scan_plan plan;
    gpuscan_scan_desc desc;
    gpuscan__test test;
    gpuscan__test_shape shape = gpuscan__test_shape_of(program->key.tile, round);
    gpuscan__test_array *src, *dst, *total;
    unsigned char init[GPUSCAN__CUSTOM_MOST];
    uint64_t rows = 1, row, vector = gpuscan__vector(e->src_size, e->dst_size);
    memcpy(&own, program->key.own, sizeof(own));
    memset(&desc, 0, sizeof(desc));
    memset(&test, 0, sizeof(test));
    test.gs = gs;
    desc.src_type = e->src;
    desc.dst_type = e->dst;
    desc.op = e->op;
    desc.custom = e->custom;
    desc.kind = own.inclusive ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
    desc.count = shape.count;
    desc.init = init;
    if (own.whole_rows) { /* of two thirds of a tile, a seventh, or one element: by work-items, if that is small */
        shape.count = round ? program->key.tile / 7 : program->key.tile - program->key.tile / 3;
        shape.count = round == 2 ? 1 : gpuscan__max(shape.count / vector * vector, 2) - 1;
        shape.tile = shape.count / 2 + 1;
        desc.rows = rows = 2 * (program->key.tile / (shape.count + 1)) + 1;
        desc.count = shape.count;
    }
    if (own.shifts || (round == 1 && !gpuscan__uses_ptx(gs, &program->key))) { /* elsewhere no program of its own */
        desc.src.offset = 1;
        desc.dst.offset = 2;
    }
    src = gpuscan__test_array_of(&test, &desc.src, (desc.src.offset + rows * shape.count) * e->src_size);
    dst = gpuscan__test_array_of(&test, &desc.dst, (desc.dst.offset + rows * shape.count) * e->dst_size);
    total = gpuscan__test_array_of(&test, &desc.total, rows * e->dst_size);
    if (!test.failed) {
        for (row = 0; row < rows; row++) {
            shape.round = round + 2 * (unsigned)row; /* rows differ */
            gpuscan__test_elements(e, &shape, own.inclusive != 0,
                                   src->before + (desc.src.offset + row * shape.count) * e->src_size, init,
                                   dst->expected + (desc.dst.offset + row * shape.count) * e->dst_size,
                                   total->expected + row * e->dst_size);
        }
        gpuscan__test_filled(src);
    }
    gpuscan__plan_begin(&plan.common, sizeof(plan), common->operation, &desc, &desc.call);
    return gpuscan__test_run(&test, &plan.common, program, &desc.call, right);
}

static gpuscan_result gpuscan__scan_self_test(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                              int *right) {
    gpuscan__scan_key own;
    memcpy(&own, program->key.own, sizeof(own));
    return gpuscan__test_rounds(gpuscan__scan_test_round, own.whole_rows ? 3 : 2, gs, common, program, right);
}

GPUSCAN__OPERATION(scan, 1, 0);

GPUSCAN_API gpuscan_result gpuscan_scan_host(gpuscan *gs, const void *src, void *dst, uint64_t count,
                                             const gpuscan_scan_desc *desc) {
    gpuscan_scan_desc copy;
    gpuscan__scan_plan plan;
    gpuscan__host_call host;
    gpuscan_result r;
    if ((r = gpuscan__enter_host(gs, desc, &copy, sizeof(copy), &copy.call)) != 0)
        return r;
    if (copy.src.mem || copy.dst.mem || copy.src.offset || copy.dst.offset || copy.count)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "src, dst and count of the desc must be zero");
    copy.count = count;
    gpuscan__host_begin(&host, gs);
    gpuscan__host_add(&host, "src", src, &copy.src);
    gpuscan__host_add(&host, "dst", dst, &copy.dst);
    gpuscan__plan_begin(&plan.common, sizeof(plan), &gpuscan__scan_operation, &copy, &copy.call);
    return gpuscan__host_do(&host, &plan.common, sizeof(plan), &copy.call);
}

/* [UNIFORM ADD] ---------------------------------------------------------------------------------------------------- */

typedef struct gpuscan__uniform_add_plan {
    gpuscan__plan common;
} gpuscan__uniform_add_plan;

#define GPUSCAN__UNIFORM_ADD_NUMBERS(X) X(dst_offset) X(addend_offset) X(count) X(count_offset) X(block) X(flags)
GPUSCAN__NUMBERS(uniform_add, GPUSCAN__UNIFORM_ADD_NUMBERS)

static const char *const *gpuscan__uniform_add_kernels(const gpuscan__key *key) {
    static const char *const names[] = {"gpuscan_uniform_add", NULL};
    (void)key;
    return names;
}

static void gpuscan__uniform_add_define(gpuscan__text *text, const gpuscan *gs, const gpuscan__plan *plan) {
    gpuscan__define(text, "UNIFORM_ADD_NUMBERS", gpuscan__uniform_add_numbers_text);
    gpuscan__define_operation(text, gs, plan, "UNIFORM_ADD", gpuscan__vector(plan->e.src_size, plan->e.dst_size), 0, 0,
                              0);
}

static gpuscan_result gpuscan__uniform_add_resolve(gpuscan *gs, gpuscan__plan *plan) {
    const gpuscan_uniform_add_desc *desc = (const gpuscan_uniform_add_desc *)plan->desc;
    gpuscan__elements *e = &plan->e;
    gpuscan__range *range;
    uint64_t elements;
    gpuscan_result r;
    if ((r = gpuscan__check_op(gs, desc->op)) != 0 ||
        (r = gpuscan__resolve_elements(gs, e, desc->type, desc->type, desc->op, desc->custom, "type", "type")) != 0)
        return r;
    if (desc->block == 0)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "block is 0");
    if (gpuscan__is_single_pass(plan->call->strategy))
        return gpuscan__unsupported(gs, "uniform add has one pass only");
    e->convert = NULL; /* source and destination are the same */
    if (desc->op != GPUSCAN_OP_CUSTOM) /* a custom type has one, too */
        e->custom = NULL;
    if ((r = gpuscan__extent(gs, "dst", desc->count, 1, desc->count, e->dst_size, &elements)) != 0)
        return r;
    range = gpuscan__output(plan, "dst", desc->dst, elements, e->dst_size);
    range->reads = range->idle = 1;
    gpuscan__input(plan, "addend", desc->addend, gpuscan__ceil_div(desc->count, desc->block), e->dst_size)->idle = 1;
    plan->is_nothing = desc->count == 0;
    gpuscan__key_elements(plan);
    return gpuscan__resolve_count(gs, plan, desc->count_buffer, desc->count_type);
}

static gpuscan_result gpuscan__uniform_add_choose(gpuscan *gs, gpuscan__plan *plan) {
    gpuscan_strategy strategy = plan->call->strategy;
    if (strategy == GPUSCAN_STRATEGY_AUTO)
        strategy = gpuscan__strategies[gs->device.profile.reduce].portable;
    plan->key.strategy = (uint32_t)strategy;
    gpuscan__fit(gs, plan, 256, 4);
    if (plan->forced)
        plan->key = *plan->forced;
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__uniform_add_enqueue(gpuscan__chain *chain, const gpuscan__plan *plan,
                                                   gpuscan__program *program) {
    const gpuscan_uniform_add_desc *desc = (const gpuscan_uniform_add_desc *)plan->desc;
    gpuscan__launch launch = gpuscan__launch_begin(chain, program, 0, desc->dst.mem);
    uint64_t groups = gpuscan__min(gpuscan__ceil_div(desc->count, plan->key.tile), (uint64_t)1 << 20);
    gpuscan__uniform_add_numbers numbers;
    numbers.dst_offset = gpuscan__arg_buffer(&launch, desc->dst);
    numbers.addend_offset = gpuscan__arg_buffer(&launch, desc->addend);
    numbers.count = desc->count;
    numbers.count_offset = gpuscan__arg_count(&launch, desc->count_buffer);
    numbers.block = desc->block;
    numbers.flags = plan->flags;
    return gpuscan__launch_end(&launch, &numbers, sizeof(numbers), gpuscan__grid_of(groups, plan->key.group, 0, 1));
}

/* Addend k and element i: of each pair both matter, the element's in one round at least, and so do neighbours. */
static gpuscan__number gpuscan__test_addend(const gpuscan__elements *e, uint64_t k) {
    uint64_t random = gpuscan__mix(k);
    double factor = gpuscan__test_factor(e);
    gpuscan__number x;
    switch (gpuscan__ops[e->op].data) {
    case GPUSCAN__DATA_RISING:
    case GPUSCAN__DATA_FALLING:
        return gpuscan__test_level(e, 40 + k % 20);
    case GPUSCAN__DATA_SPARSE:
        return gpuscan__test_small(e, 101 + k % 20, factor, 0);
    case GPUSCAN__DATA_SET:
    case GPUSCAN__DATA_CLEARED: /* in even bits */
        x.bits = (random & ~(uint64_t)0 / 3 & ~(uint64_t)15) | (k % 2 ? 4 : 1);
        if (gpuscan__ops[e->op].data == GPUSCAN__DATA_CLEARED)
            x.bits = ~x.bits;
        break;
    default: /* GPUSCAN__DATA_SUM, GPUSCAN__DATA_PRODUCT */
        if (gpuscan__is_float(e->src))
            return gpuscan__test_small(e, 2 + k % 3, factor, 0);
        x.bits = random | 3;
    }
    x.bits = gpuscan__wrap(e->src, x.bits);
    return x;
}

static gpuscan__number gpuscan__test_addend_to(const gpuscan__elements *e, uint64_t i, unsigned round) {
    uint64_t random = gpuscan__mix(~i);
    int wins = (i + round) % 2 == 0;
    double factor = gpuscan__test_factor(e);
    gpuscan__number x;
    switch (gpuscan__ops[e->op].data) {
    case GPUSCAN__DATA_RISING:
    case GPUSCAN__DATA_FALLING:
        return gpuscan__test_level(e, wins ? 60 + random % 40 : random % 40);
    case GPUSCAN__DATA_SPARSE:
        return gpuscan__test_small(e, wins ? 1 + random % 100 : 0, factor, 0);
    case GPUSCAN__DATA_SET:
    case GPUSCAN__DATA_CLEARED: /* in odd bits */
        x.bits = (random & ~(uint64_t)0 / 3 << 1 & ~(uint64_t)15) | (i % 2 ? 8 : 2);
        if (gpuscan__ops[e->op].data == GPUSCAN__DATA_CLEARED)
            x.bits = ~x.bits;
        break;
    default: /* GPUSCAN__DATA_SUM, GPUSCAN__DATA_PRODUCT */
        if (gpuscan__is_float(e->src))
            return gpuscan__test_small(e, wins ? 2 : 4, 1, (random & 1) != 0);
        x.bits = random | 3;
    }
    x.bits = gpuscan__wrap(e->src, x.bits);
    return x;
}

/* expected: what dst and its addends give. */
static void gpuscan__test_blocks(const gpuscan__elements *e, const gpuscan__test_shape *shape, uint64_t block,
                                 unsigned char *dst, unsigned char *addend, unsigned char *expected) {
    uint64_t i;
    uint32_t byte;
    for (i = 0; i < shape->count; i++) {
        uint64_t k = i / block, random = gpuscan__mix(~i);
        if (e->dst == GPUSCAN_TYPE_CUSTOM) {
            for (byte = 0; byte < e->dst_size; byte++) {
                unsigned char a = addend[k * e->dst_size + byte] = gpuscan__test_byte(101 + k % 20, byte);
                unsigned char x = dst[i * e->dst_size + byte] =
                    gpuscan__test_byte((i + shape->round) % 2 ? 0 : 1 + random % 100, byte);
                expected[i * e->dst_size + byte] = x ? x : a;
            }
        } else {
            gpuscan__number a = gpuscan__test_addend(e, k), x = gpuscan__test_addend_to(e, i, shape->round);
            gpuscan__put_number(e->dst, addend, k, a);
            gpuscan__put_number(e->dst, dst, i, x);
            gpuscan__put_number(e->dst, expected, i, gpuscan__combine_numbers(e->dst, e->op, a, x));
        }
    }
}

static gpuscan_result gpuscan__uniform_add_test_round(gpuscan *gs, const gpuscan__plan *common,
                                                      gpuscan__program *program, unsigned round, int *right) {
    enum { BLOCK = 7 };
    const gpuscan__elements *e = &common->e;
    gpuscan__uniform_add_plan plan;
    gpuscan_uniform_add_desc desc;
    gpuscan__test test;
    gpuscan__test_shape shape = gpuscan__test_shape_of(program->key.tile, round);
    gpuscan__test_array *dst, *addend;
    uint64_t size = e->dst_size;
    memset(&desc, 0, sizeof(desc));
    memset(&test, 0, sizeof(test));
    test.gs = gs;
    desc.type = e->dst;
    desc.op = e->op;
    desc.custom = e->custom;
    desc.count = shape.count;
    desc.block = BLOCK;
    dst = gpuscan__test_array_of(&test, &desc.dst, shape.count * size);
    addend = gpuscan__test_array_of(&test, &desc.addend, gpuscan__ceil_div(shape.count, BLOCK) * size);
    if (!test.failed) {
        gpuscan__test_blocks(e, &shape, BLOCK, dst->before, addend->before, dst->expected);
        gpuscan__test_filled(addend);
    }
    gpuscan__plan_begin(&plan.common, sizeof(plan), common->operation, &desc, &desc.call);
    return gpuscan__test_run(&test, &plan.common, program, &desc.call, right);
}

static gpuscan_result gpuscan__uniform_add_self_test(gpuscan *gs, const gpuscan__plan *common,
                                                     gpuscan__program *program, int *right) {
    return gpuscan__test_rounds(gpuscan__uniform_add_test_round, 2, gs, common, program, right);
}

GPUSCAN__OPERATION(uniform_add, 0, 0);

GPUSCAN_API gpuscan_result gpuscan_uniform_add_host(gpuscan *gs, const void *addend, void *dst, uint64_t count,
                                                    uint64_t block, const gpuscan_uniform_add_desc *desc) {
    gpuscan_uniform_add_desc copy;
    gpuscan__uniform_add_plan plan;
    gpuscan__host_call host;
    gpuscan_result r;
    if ((r = gpuscan__enter_host(gs, desc, &copy, sizeof(copy), &copy.call)) != 0)
        return r;
    if (copy.addend.mem || copy.dst.mem || copy.addend.offset || copy.dst.offset || copy.count || copy.block)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "dst, addend, count, block of the desc must be zero");
    copy.count = count;
    copy.block = block;
    gpuscan__host_begin(&host, gs);
    gpuscan__host_add(&host, "addend", addend, &copy.addend);
    gpuscan__host_add(&host, "dst", dst, &copy.dst);
    gpuscan__plan_begin(&plan.common, sizeof(plan), &gpuscan__uniform_add_operation, &copy, &copy.call);
    return gpuscan__host_do(&host, &plan.common, sizeof(plan), &copy.call);
}

/* [REDUCE] --------------------------------------------------------------------------------------------------------- */

typedef struct gpuscan__reduce_key {
    uint32_t segments; /* GPUSCAN__SEGMENTS_...: one result, or one a row or segment */
    uint32_t items;    /* then: steps a work-item takes at a time, see [REDUCE SEGMENTS] in kernels.cl.inc */
    uint32_t staged;   /* elements and results go through local memory */
} gpuscan__reduce_key;
GPUSCAN__ASSERT(sizeof(gpuscan__reduce_key) <= GPUSCAN__KEY_OWN * sizeof(uint32_t), reduce_key_fits)

typedef struct gpuscan__reduce_plan {
    gpuscan__plan common;
    gpuscan__reduce_key key;
    uint64_t results;   /* 1, or rows or segments */
    uint64_t src_pitch;
    uint64_t groups, group_tiles;
    uint64_t group_rows; /* not 0: of each group, whole ones */
    uint64_t marks_at;  /* bytes into PLAIN, for what groups with a share of a segment say of it */
    uint64_t result_at; /* and for a result on the host */
} gpuscan__reduce_plan;

#define GPUSCAN__REDUCE_NUMBERS(X)                                                                                     \
    X(src_offset) X(count) X(count_offset) X(group_tiles) X(partials_offset) X(epoch) X(dst_offset) X(init_offset)     \
    X(flags)
#define GPUSCAN__REDUCE_FINISH_NUMBERS(X) X(partials_offset) X(count) X(dst_offset) X(init_offset) X(flags)
GPUSCAN__NUMBERS(reduce, GPUSCAN__REDUCE_NUMBERS)
#define GPUSCAN__REDUCE_SEGMENTS_NUMBERS(X)                                                                            \
    X(src_offset) X(src_pitch) X(count) X(count_offset) X(segments) X(offsets_offset) X(group_rows)                    \
    X(partials_offset) X(marks_offset) X(epoch) X(dst_offset) X(init_offset) X(flags)
GPUSCAN__NUMBERS(reduce_finish, GPUSCAN__REDUCE_FINISH_NUMBERS)
GPUSCAN__NUMBERS(reduce_segments, GPUSCAN__REDUCE_SEGMENTS_NUMBERS)

static gpuscan__reduce_key gpuscan__reduce_own(const gpuscan__key *key) {
    gpuscan__reduce_key own;
    memcpy(&own, key->own, sizeof(own));
    return own;
}

/* Where the groups' results are no state words, a second kernel combines them, or of segments sums what is to be joined
   before. */
static const char *const *gpuscan__reduce_kernels(const gpuscan__key *key) {
    static const char *const names[] = {"gpuscan_reduce", "gpuscan_reduce_finish", NULL};
    static const char *const alone[] = {"gpuscan_reduce", NULL};
    static const char *const segments[] = {"gpuscan_reduce_segments", "gpuscan_reduce_tails", NULL};
    static const char *const segments_alone[] = {"gpuscan_reduce_segments", NULL};
    if (gpuscan__reduce_own(key).segments)
        return key->word ? segments_alone : segments;
    return key->word ? alone : names;
}

/* It writes no elements: only src counts, but for the tiles of operators that do not commute. */
static uint32_t gpuscan__reduce_vector(const gpuscan__elements *e, int cpu) {
    return gpuscan__vector(e->src_size, e->arg || (e->commutes && !cpu) ? e->src_size : e->dst_size);
}

static void gpuscan__reduce_define(gpuscan__text *text, const gpuscan *gs, const gpuscan__plan *plan) {
    gpuscan__reduce_key own = gpuscan__reduce_own(&plan->key);
    gpuscan__define(text, "REDUCE_NUMBERS", gpuscan__reduce_numbers_text);
    gpuscan__define(text, "REDUCE_FINISH_NUMBERS", gpuscan__reduce_finish_numbers_text);
    gpuscan__define(text, "REDUCE_SEGMENTS_NUMBERS", gpuscan__reduce_segments_numbers_text);
    gpuscan__define_number(text, "SEGMENTS", own.segments);
    gpuscan__define_number(text, "SEGMENT_ITEMS", own.items);
    gpuscan__define_number(text, "SEGMENT_STAGED", own.staged);
    gpuscan__define_operation(text, gs, plan, "REDUCE",
                              gpuscan__reduce_vector(&plan->e, gpuscan__key_is_cpu(&plan->key)), 0, 0, 0);
}

/* rows, src_pitch and segments: how many results there are, and of what. */
static gpuscan_result gpuscan__reduce_resolve_segments(gpuscan *gs, gpuscan__reduce_plan *plan) {
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)plan->common.desc;
    const gpuscan_segments *segments = &desc->segments;
    gpuscan_result r;
    if ((r = gpuscan__resolve_pitch(gs, "src_pitch", desc->src_pitch, desc->count, &plan->src_pitch)) != 0)
        return r;
    plan->results = desc->rows ? desc->rows : 1;
    plan->key.segments = plan->results > 1 ? GPUSCAN__SEGMENTS_ROWS : GPUSCAN__SEGMENTS_NONE;
    if (segments->form == GPUSCAN_SEGMENTS_NONE) {
        if (segments->data.mem || segments->data.offset || segments->host_data || segments->count)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments without segments.form");
        return GPUSCAN_SUCCESS;
    }
    if (segments->form != GPUSCAN_SEGMENTS_OFFSETS)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.form is no gpuscan_segment_form");
    if (desc->rows > 1 || desc->src_pitch)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments and rows or src_pitch are both given");
    if ((unsigned)segments->type >= GPUSCAN_TYPE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.type is no gpuscan_type");
    if (segments->type != GPUSCAN_TYPE_DEFAULT && segments->type != GPUSCAN_TYPE_U32 &&
        segments->type != GPUSCAN_TYPE_U64)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE, "segments.type is neither u32 nor u64");
    if (segments->count >= UINT64_MAX / 16)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "segments.count: the offsets do not fit 64 bits");
    if (!plan->common.from_host && plan->common.is_run && segments->host_data)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "segments.host_data is for gpuscan_reduce_host; here segments.data");
    plan->results = segments->count;
    plan->key.segments = segments->type == GPUSCAN_TYPE_U64 ? GPUSCAN__SEGMENTS_U64 : GPUSCAN__SEGMENTS_U32;
    gpuscan__input(&plan->common, "segments.data", segments->data, segments->count ? segments->count + 1 : 0,
                   segments->type == GPUSCAN_TYPE_U64 ? 8 : 4);
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__reduce_resolve(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__reduce_plan *plan = (gpuscan__reduce_plan *)common;
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)common->desc;
    gpuscan__elements *e = &common->e;
    gpuscan__range *range;
    uint64_t elements, results, bytes;
    gpuscan_result r;
    if ((r = gpuscan__resolve_elements(gs, e, desc->src_type, desc->dst_type, desc->op, desc->custom, "src_type",
                                       "dst_type")) != 0)
        return r;
    if (e->arg && desc->custom && desc->custom->convert)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "custom->convert: ARGMIN and ARGMAX compare source elements as they are");
    if (e->arg && e->dst == GPUSCAN_TYPE_U32 && desc->count > UINT32_MAX)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW,
                             "count: the indices of more than 2^32 - 1 elements need the dst_type u64");
    if (e->arg && (desc->init || desc->init_buffer.mem))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "init: ARGMIN and ARGMAX take none");
    if ((r = gpuscan__reduce_resolve_segments(gs, plan)) != 0)
        return r;
    common->is_nothing = plan->results == 0;
    if (common->is_run && (desc->dst.mem == NULL) == (desc->result == NULL) && (desc->result || plan->results > 0))
        return gpuscan__fail(gs, desc->result ? GPUSCAN_ERROR_INVALID_ARGUMENT : GPUSCAN_ERROR_INVALID_BUFFER,
                             "exactly one of dst and result must be given");
    if (!gpuscan__multiply(plan->results, e->result_size, &bytes) || bytes > UINT64_MAX / 2)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "dst: so many results do not fit 64 bits");
    results = plan->results;
    if ((r = gpuscan__extent(gs, "src", desc->count, plan->key.segments == GPUSCAN__SEGMENTS_ROWS ? results : 1,
                             plan->src_pitch, e->src_size, &elements)) != 0)
        return r;
    range = gpuscan__input(common, "src", desc->src, elements, e->src_size);
    range->idle = 1;
    if (plan->key.segments == GPUSCAN__SEGMENTS_ROWS)
        gpuscan__rows_of(range, results, desc->count, plan->src_pitch, e->src_size);
    gpuscan__output(common, "dst", desc->dst, results, e->result_size)->required = 0;
    if ((r = gpuscan__resolve_count(gs, common, desc->count_buffer, desc->count_type)) != 0)
        return r;
    gpuscan__key_elements(common);
    common->reads_scratch = desc->result != NULL;
    return gpuscan__resolve_init(gs, common, desc->init, desc->init_buffer);
}

/* What keeps the strategy from doing a call; NULL: nothing. */
static const char *gpuscan__reduce_misfit(const gpuscan *gs, const gpuscan__plan *plan, gpuscan_strategy strategy) {
    const char *why = gpuscan__why_refused(gs, plan, strategy);
    if (why || !gpuscan__is_single_pass(strategy))
        return why;
    if (gs->device.fence == GPUSCAN__FENCE_NONE)
        return "it needs a fence of device scope";
    if (!gpuscan__word_bits(gs, plan->e.t_size, 0))
        return "elements of more than 64 bytes are not handed over in state words";
    return NULL;
}

/* At least sizeof(gpuscan_reduce_shared) in kernels.cl.inc. */
static uint64_t gpuscan__reduce_shared_bytes(const gpuscan *gs, const gpuscan__plan *plan) {
    const gpuscan__key *key = &plan->key;
    return plan->e.commutes && !gpuscan__key_is_cpu(key)
               ? (uint64_t)key->group * plan->e.t_size + gpuscan__lanes_bytes(gs, key->group) + 16
               : gpuscan__key_shared_bytes(gs, key, plan->e.t_size);
}

/* At least sizeof(gpuscan_segment_shared). */
static uint64_t gpuscan__segment_shared_bytes(const gpuscan *gs, const gpuscan__reduce_plan *plan) {
    const gpuscan__elements *e = &plan->common.e;
    const gpuscan__key *key = &plan->common.key;
    uint64_t tile = (uint64_t)key->group * plan->key.items;
    uint64_t sums = key->group / (gpuscan__whole_lanes(gs, key->group) ? gpuscan__group_lanes(gs, key->group) : 1);
    uint64_t align = gpuscan__max(gpuscan__max(e->t_size, e->src_size), 16);
    uint64_t bytes = gpuscan__reduce_shared_bytes(gs, &plan->common);
    if (gpuscan__key_is_cpu(key))
        return bytes;
    bytes += sums * ((uint64_t)e->t_size + 4) + e->t_size + 2 * tile + 64;
    if (plan->key.staged)
        bytes += (tile + tile / 32) * e->src_size;
    return gpuscan__ceil_div(bytes + 4 * align, 16) * 16;
}

/* The key of rows and segments: tiles that fit local memory, results that a work-item keeps in registers. */
static void gpuscan__segments_shape(const gpuscan *gs, gpuscan__reduce_plan *plan) {
    const gpuscan__profile *profile = &gs->device.profile;
    const gpuscan__elements *e = &plan->common.e;
    gpuscan__key *key = &plan->common.key;
    uint32_t group = profile->segment_group, vectors = profile->segment_vectors, items = profile->segment_items;
    plan->key.staged = e->src_size <= 16;
    while (items > 1 && items * e->src_size > 128) /* bytes that a work-item keeps in registers */
        items -= 2;
    for (;;) {
        gpuscan__fit(gs, &plan->common, group, vectors);
        plan->key.items = items;
        if (gpuscan__key_is_cpu(key) || gpuscan__segment_shared_bytes(gs, plan) <= gs->device.local_memory)
            break;
        if (items > 1)
            items -= 2;
        else if (vectors > 1)
            vectors /= 2;
        else if (key->group > 1)
            group = key->group / 2;
        else
            break;
    }
    if (gpuscan__key_is_cpu(key))
        plan->key.items = plan->key.staged = 0;
}

/* The groups' shares of rows and segments, and what they need to join them: see [REDUCE SEGMENTS] in kernels.cl.inc. */
static void gpuscan__segments_cut(const gpuscan *gs, gpuscan__reduce_plan *plan) {
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)plan->common.desc;
    const gpuscan__profile *profile = &gs->device.profile;
    const gpuscan__key *key = &plan->common.key;
    gpuscan__need *need = &plan->common.need;
    uint32_t t_size = plan->common.e.t_size;
    int cpu = gpuscan__key_is_cpu(key), rows = plan->key.segments == GPUSCAN__SEGMENTS_ROWS;
    uint64_t steps = desc->count * (rows ? plan->results : 1) + plan->results; /* too large for 64 bits? many groups */
    uint64_t tile = cpu ? key->tile : (uint64_t)key->group * plan->key.items;
    uint64_t most = (uint64_t)gs->device.units *
                    (cpu ? profile->reduce_per_unit[GPUSCAN__SMALL] : profile->segment_per_unit);
    if (profile->prefetch_dst == 0 && plan->results * plan->common.e.result_size > gs->device.cache / 2)
        plan->common.flags |= GPUSCAN__FLAG_STREAM;
    plan->groups = gpuscan__min(steps < desc->count ? most : gpuscan__max(gpuscan__ceil_div(steps, tile), 1), most);
    if (plan->common.forced)
        plan->groups = gpuscan__min(plan->groups, 2);
    plan->group_rows = 0;
    if (rows && plan->results >= 8 * plan->groups) {
        plan->group_rows = gpuscan__ceil_div(plan->results, plan->groups);
        plan->groups = gpuscan__ceil_div(plan->results, plan->group_rows);
    }
    if (plan->groups == 1 || plan->group_rows)
        return;
    if (key->word) { /* heads and tails, and a number of 64 bits */
        gpuscan__need_words(need, key->word, t_size, 2 * plan->groups);
        need->bytes[gpuscan__word_scratch(key->word)] += plan->groups * (128 / key->word) * (key->word / 8);
        return;
    }
    plan->marks_at = gpuscan__scratch_aligned(2 * plan->groups * t_size + gpuscan__slack(t_size));
    need->bytes[GPUSCAN__PLAIN] = plan->marks_at + 8 * plan->groups;
}

/* The groups of one result, and the scratch for what each gives. */
static void gpuscan__reduce_cut(gpuscan *gs, gpuscan__reduce_plan *plan) {
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)plan->common.desc;
    const gpuscan__elements *e = &plan->common.e;
    const gpuscan__key *key = &plan->common.key;
    gpuscan__need *need = &plan->common.need;
    int by_size = e->t_size > 4 ? GPUSCAN__LARGE : GPUSCAN__SMALL, cpu = gpuscan__key_is_cpu(key);
    uint64_t tiles = gpuscan__max(gpuscan__ceil_div(desc->count, key->tile), 1);
    uint64_t most = (uint64_t)gs->device.units * gs->device.profile.reduce_per_unit[by_size];
    plan->groups = gpuscan__min(tiles, most);
    if (e->commutes && !cpu) { /* at least 4 vectors a work-item */
        uint64_t least = 4 * (uint64_t)key->group * gpuscan__reduce_vector(e, cpu);
        plan->groups = gpuscan__min(gpuscan__max(gpuscan__ceil_div(desc->count, least), 1), most);
    }
    if (plan->common.forced)
        plan->groups = gpuscan__min(plan->groups, 2); /* a self-test's groups have several tiles, too */
    plan->group_tiles = gpuscan__ceil_div(tiles, plan->groups);
    if (plan->groups > 1 && key->word)
        gpuscan__need_words(need, key->word, e->t_size, plan->groups);
    else if (plan->groups > 1)
        need->bytes[GPUSCAN__PLAIN] = plan->groups * e->t_size + gpuscan__slack(e->t_size);
}

static gpuscan_result gpuscan__reduce_choose(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__reduce_plan *plan = (gpuscan__reduce_plan *)common;
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)common->desc;
    const gpuscan__profile *profile = &gs->device.profile;
    const gpuscan__elements *e = &common->e;
    gpuscan__need *need = &common->need;
    gpuscan__key *key = &common->key;
    gpuscan_strategy strategy = common->call->strategy;
    int by_size = e->t_size > 4 ? GPUSCAN__LARGE : GPUSCAN__SMALL;
    const char *why;
    if (strategy == GPUSCAN_STRATEGY_AUTO)
        strategy = profile->reduce;
    if (strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD)
        strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    if ((why = gpuscan__reduce_misfit(gs, common, strategy)) != NULL) {
        if (common->call->strategy != GPUSCAN_STRATEGY_AUTO)
            return gpuscan__unsupported(gs, why);
        strategy = gpuscan__strategies[strategy].portable;
    }
    key->strategy = (uint32_t)strategy;
    key->registers = 0;
    if (plan->key.segments) {
        gpuscan__segments_shape(gs, plan);
        if (e->commutes && e->t_size <= 8)
            key->registers = gpuscan__registers(gs, key, profile->segment_registers);
    } else {
        gpuscan__fit(gs, common, profile->reduce_group, profile->reduce_vectors[by_size]);
        if (e->commutes && e->t_size <= 8)
            key->registers = gpuscan__registers(gs, key, profile->reduce_registers[by_size]);
    }
    key->word = gpuscan__is_single_pass(strategy)
                    ? gpuscan__word_bits(gs, e->t_size, gpuscan__whole_lanes(gs, key->group))
                    : 0;
    memcpy(key->own, &plan->key, sizeof(plan->key));
    if (common->forced) {
        *key = *common->forced;
        plan->key = gpuscan__reduce_own(key);
    }
    memset(need, 0, sizeof(*need));
    if (plan->key.segments)
        gpuscan__segments_cut(gs, plan);
    else
        gpuscan__reduce_cut(gs, plan);
    plan->result_at =
        gpuscan__ceil_div(gpuscan__scratch_aligned(need->bytes[GPUSCAN__PLAIN]), e->result_size) * e->result_size;
    if (desc->result || !desc->dst.mem)
        need->bytes[GPUSCAN__PLAIN] =
            plan->result_at + plan->results * e->result_size + gpuscan__slack(e->result_size) + 8;
    return GPUSCAN_SUCCESS;
}

/* Where the result goes on the device: dst, or a place in the scratch for a result on the host. */
static uint64_t gpuscan__arg_result(gpuscan__launch *launch, const gpuscan__reduce_plan *plan) {
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)plan->common.desc;
    if (desc->dst.mem)
        return gpuscan__arg_buffer(launch, desc->dst);
    return gpuscan__arg_scratch(launch, GPUSCAN__PLAIN, plan->result_at, plan->common.e.result_size);
}

/* Brings the result to the host. */
static gpuscan_result gpuscan__reduce_read(gpuscan__chain *chain, const gpuscan__reduce_plan *plan) {
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)plan->common.desc;
    uint64_t size = plan->common.e.result_size;
    uint64_t at = gpuscan__ceil_div(chain->place.offset[GPUSCAN__PLAIN], size) * size + plan->result_at;
    cl_event event = NULL;
    cl_int code = chain->gs->cl.clEnqueueReadBuffer(chain->queue, chain->place.mem[GPUSCAN__PLAIN], CL_FALSE,
                                                    (size_t)at, (size_t)(plan->results * size), desc->result,
                                                    chain->wait_count,
                                                    chain->waits,
                                                    gpuscan__chain_needs_event(chain, 1) ? &event : NULL);
    return gpuscan__chain_step(chain, code, event, "clEnqueueReadBuffer of the result");
}

/* Kernels of the same arguments, but for what only the last one writes. */
static gpuscan_result gpuscan__segments_launch(gpuscan__chain *chain, const gpuscan__reduce_plan *plan,
                                               gpuscan__program *program, int is_tails) {
    const gpuscan__plan *common = &plan->common;
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)common->desc;
    const gpuscan__elements *e = &common->e;
    const gpuscan__key *key = &common->key;
    int to_host = desc->dst.mem == NULL, kind = key->word ? gpuscan__word_scratch(key->word) : GPUSCAN__PLAIN;
    cl_mem stand_in = to_host ? chain->place.mem[GPUSCAN__PLAIN] : desc->dst.mem;
    gpuscan__launch launch = gpuscan__launch_begin(chain, program, is_tails ? 1 : 0, stand_in);
    gpuscan__reduce_segments_numbers numbers;
    memset(&numbers, 0, sizeof(numbers));
    numbers.src_offset = gpuscan__arg_buffer(&launch, desc->src);
    numbers.src_pitch = plan->src_pitch;
    numbers.offsets_offset = gpuscan__arg_buffer(&launch, desc->segments.data);
    numbers.count = desc->count;
    numbers.count_offset = gpuscan__arg_count(&launch, desc->count_buffer);
    numbers.segments = plan->results;
    numbers.group_rows = plan->group_rows;
    numbers.partials_offset = gpuscan__arg_scratch(&launch, kind, 0, key->word ? key->word / 8 : e->t_size);
    numbers.marks_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, plan->marks_at, 8);
    numbers.epoch = chain->place.epoch;
    numbers.flags = common->flags;
    if (!is_tails) {
        numbers.dst_offset = gpuscan__arg_result(&launch, plan);
        numbers.init_offset = gpuscan__arg_init(&launch, common, desc->init_buffer);
    }
    return gpuscan__launch_end(&launch, &numbers, sizeof(numbers),
                               gpuscan__grid_of(plan->groups, key->group,
                                                gpuscan__segment_shared_bytes(chain->gs, plan),
                                                !is_tails && !to_host));
}

static gpuscan_result gpuscan__segments_enqueue(gpuscan__chain *chain, const gpuscan__reduce_plan *plan,
                                                gpuscan__program *program) {
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)plan->common.desc;
    gpuscan_result r = GPUSCAN_SUCCESS;
    if (plan->groups > 1 && !plan->group_rows && plan->common.key.word == 0)
        r = gpuscan__segments_launch(chain, plan, program, 1);
    if (r == 0)
        r = gpuscan__segments_launch(chain, plan, program, 0);
    return r != 0 || desc->dst.mem || chain->sham ? r : gpuscan__reduce_read(chain, plan);
}

static gpuscan_result gpuscan__reduce_enqueue(gpuscan__chain *chain, const gpuscan__plan *common,
                                              gpuscan__program *program) {
    const gpuscan__reduce_plan *plan = (const gpuscan__reduce_plan *)common;
    const gpuscan_reduce_desc *desc = (const gpuscan_reduce_desc *)common->desc;
    const gpuscan__elements *e = &common->e;
    const gpuscan__key *key = &common->key;
    int to_host = desc->dst.mem == NULL, second = plan->groups > 1 && key->word == 0;
    cl_mem stand_in = to_host ? chain->place.mem[GPUSCAN__PLAIN] : desc->dst.mem;
    int kind = key->word ? gpuscan__word_scratch(key->word) : GPUSCAN__PLAIN;
    uint64_t shared = gpuscan__reduce_shared_bytes(chain->gs, common);
    gpuscan__launch launch;
    gpuscan__reduce_numbers reduce;
    gpuscan__reduce_finish_numbers finish;
    gpuscan_result r;
    if (plan->key.segments)
        return gpuscan__segments_enqueue(chain, plan, program);
    launch = gpuscan__launch_begin(chain, program, 0, stand_in);
    reduce.src_offset = gpuscan__arg_buffer(&launch, desc->src);
    reduce.count = desc->count;
    reduce.count_offset = gpuscan__arg_count(&launch, desc->count_buffer);
    reduce.group_tiles = plan->group_tiles;
    reduce.partials_offset = gpuscan__arg_scratch(&launch, kind, 0, key->word ? key->word / 8 : e->t_size);
    reduce.epoch = chain->place.epoch;
    reduce.dst_offset = gpuscan__arg_result(&launch, plan);
    reduce.init_offset = gpuscan__arg_init(&launch, common, desc->init_buffer);
    reduce.flags = common->flags;
    r = gpuscan__launch_end(&launch, &reduce, sizeof(reduce),
                            gpuscan__grid_of(plan->groups, key->group, shared, !second && !to_host));
    if (r == 0 && second) {
        launch = gpuscan__launch_begin(chain, program, 1, stand_in);
        finish.partials_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, 0, e->t_size);
        finish.count = plan->groups;
        finish.dst_offset = gpuscan__arg_result(&launch, plan);
        finish.init_offset = gpuscan__arg_init(&launch, common, desc->init_buffer);
        finish.flags = common->flags;
        r = gpuscan__launch_end(&launch, &finish, sizeof(finish), gpuscan__grid_of(1, key->group, shared, !to_host));
    }
    return r != 0 || !to_host || chain->sham ? r : gpuscan__reduce_read(chain, plan);
}

/* The data for ARGMIN and ARGMAX: the best value stands again behind the first. */
static void gpuscan__test_arg(const gpuscan__elements *e, const gpuscan__test_shape *shape, unsigned char *src,
                              unsigned char *index) {
    gpuscan__number first;
    uint64_t i;
    for (i = 0; i < shape->count; i++) {
        int again = i > shape->best && i % 3 == 0;
        uint64_t level = again ? 100 : gpuscan__test_rising(shape, i);
        int rising = gpuscan__ops[e->op].data == GPUSCAN__DATA_RISING;
        gpuscan__put_number(e->src, src, i, gpuscan__test_level(e, rising ? level : 101 - level));
    }
    first.bits = shape->best;
    gpuscan__put_number(e->dst, index, 0, first);
}

/* The elements that decide, one a round; the last is init, which ARGMIN and ARGMAX do not have. */
enum { GPUSCAN__TEST_BESTS = 7 };

static uint64_t gpuscan__test_best(uint64_t tile, unsigned round) {
    const uint64_t bests[GPUSCAN__TEST_BESTS] = {0,        tile - 1,     tile,        2 * tile + tile / 2,
                                                 3 * tile, 3 * tile + 4, 3 * tile + 5};
    return bests[round];
}

static unsigned gpuscan__reduce_test_rounds(const gpuscan__elements *e) {
    return e->arg ? GPUSCAN__TEST_BESTS - 1 : gpuscan__test_picks(e->op) ? GPUSCAN__TEST_BESTS : 2;
}

static gpuscan__test_shape gpuscan__reduce_test_shape(const gpuscan__elements *e, uint64_t tile, unsigned round) {
    gpuscan__test_shape shape = gpuscan__test_shape_of(tile, round);
    shape.decides = gpuscan__test_picks(e->op);
    shape.best = gpuscan__test_best(tile, round);
    return shape;
}

static gpuscan_result gpuscan__reduce_test_round(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                                 unsigned round, int *right) {
    const gpuscan__elements *e = &common->e;
    gpuscan__test_shape shape = gpuscan__reduce_test_shape(e, program->key.tile, round);
    gpuscan__reduce_plan plan;
    gpuscan_reduce_desc desc;
    gpuscan__test test;
    gpuscan__test_array *src, *dst;
    unsigned char init[GPUSCAN__CUSTOM_MOST];
    memset(&desc, 0, sizeof(desc));
    memset(&test, 0, sizeof(test));
    test.gs = gs;
    desc.src_type = e->src;
    desc.dst_type = e->dst;
    desc.op = e->op;
    desc.custom = e->custom;
    desc.count = shape.count;
    desc.init = e->arg ? NULL : init;
    src = gpuscan__test_array_of(&test, &desc.src, shape.count * e->src_size);
    dst = gpuscan__test_array_of(&test, &desc.dst, e->result_size);
    if (!test.failed) {
        if (e->arg)
            gpuscan__test_arg(e, &shape, src->before, dst->expected);
        else
            gpuscan__test_elements(e, &shape, 0, src->before, init, NULL, dst->expected);
        gpuscan__test_filled(src);
    }
    gpuscan__plan_begin(&plan.common, sizeof(plan), common->operation, &desc, &desc.call);
    return gpuscan__test_run(&test, &plan.common, program, &desc.call, right);
}

/* Many short rows, then three of more than a tile; segments with an empty one behind each. */
static gpuscan_result gpuscan__segments_test_round(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                                   unsigned round, int *right) {
    const gpuscan__elements *e = &common->e;
    gpuscan__reduce_key own = gpuscan__reduce_own(&program->key);
    uint64_t tile = (uint64_t)program->key.group * own.items, length = round ? 2 * tile + 3 : 5, i;
    uint64_t rows = round ? 3 : 2 * tile / length + 20, results = rows;
    gpuscan__test_shape shape = gpuscan__test_shape_of(length / 2 + 1, 0);
    gpuscan__reduce_plan plan;
    gpuscan_reduce_desc desc;
    gpuscan__test test;
    gpuscan__test_array *src, *dst, *data = NULL;
    unsigned char init[GPUSCAN__CUSTOM_MOST];
    memset(&desc, 0, sizeof(desc));
    memset(&test, 0, sizeof(test));
    memset(init, 0xff, sizeof(init)); /* the index of no element */
    test.gs = gs;
    desc.src_type = e->src;
    desc.dst_type = e->dst;
    desc.op = e->op;
    desc.custom = e->custom;
    desc.init = e->arg ? NULL : init;
    desc.count = length;
    desc.rows = rows;
    if (own.segments != GPUSCAN__SEGMENTS_ROWS) {
        desc.count = length * rows;
        desc.rows = 0;
        desc.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        desc.segments.type = own.segments == GPUSCAN__SEGMENTS_U64 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
        desc.segments.count = results = 2 * rows;
        data = gpuscan__test_array_of(&test, &desc.segments.data,
                                      (results + 1) * (own.segments == GPUSCAN__SEGMENTS_U64 ? 8 : 4));
    }
    src = gpuscan__test_array_of(&test, &desc.src, length * rows * e->src_size);
    dst = gpuscan__test_array_of(&test, &desc.dst, results * e->result_size);
    shape.count = length;
    shape.decides = gpuscan__test_picks(e->op);
    for (i = 0; i < rows && !test.failed; i++) {
        unsigned char *row = src->before + i * length * e->src_size;
        unsigned char *result = dst->expected + (data ? 2 * i : i) * e->result_size;
        gpuscan__number at;
        shape.round = round + 2 * (unsigned)i; /* rows differ */
        shape.best = gpuscan__mix(i) % length;
        if (e->arg) {
            gpuscan__test_arg(e, &shape, row, result);
            at.bits = shape.best + (data ? i * length : 0);
            gpuscan__put_number(e->dst, result, 0, at);
        } else {
            gpuscan__test_elements(e, &shape, 0, row, init, NULL, result);
        }
        if (data)
            memcpy(result + e->result_size, init, e->result_size);
    }
    for (i = 0; data && !test.failed && i <= results; i++) {
        gpuscan__number at;
        at.bits = (i + 1) / 2 * length;
        gpuscan__put_number(desc.segments.type, data->before, i, at);
    }
    if (!test.failed)
        gpuscan__test_filled(src);
    if (data && !test.failed)
        gpuscan__test_filled(data);
    gpuscan__plan_begin(&plan.common, sizeof(plan), common->operation, &desc, &desc.call);
    return gpuscan__test_run(&test, &plan.common, program, &desc.call, right);
}

static gpuscan_result gpuscan__reduce_self_test(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                                int *right) {
    unsigned rounds = gpuscan__reduce_test_rounds(&common->e);
    if (gpuscan__reduce_own(&program->key).segments)
        return gpuscan__test_rounds(gpuscan__segments_test_round, 2, gs, common, program, right);
    return gpuscan__test_rounds(gpuscan__reduce_test_round, rounds, gs, common, program, right);
}

GPUSCAN__OPERATION(reduce, 1, 1);

GPUSCAN_API gpuscan_result gpuscan_reduce_host(gpuscan *gs, const void *src, void *result, uint64_t count,
                                               const gpuscan_reduce_desc *desc) {
    gpuscan_reduce_desc copy;
    gpuscan__reduce_plan plan;
    gpuscan__host_call host;
    gpuscan_result r;
    if ((r = gpuscan__enter_host(gs, desc, &copy, sizeof(copy), &copy.call)) != 0)
        return r;
    if (copy.src.mem || copy.dst.mem || copy.src.offset || copy.dst.offset || copy.count || copy.result)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "src, dst, result, count of the desc must be zero");
    if (copy.segments.host_data && (copy.segments.data.mem || copy.segments.data.offset))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "segments.data and segments.host_data are both given");
    if (!result)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "result is NULL");
    copy.count = count;
    copy.result = result;
    gpuscan__host_begin(&host, gs);
    gpuscan__host_add(&host, "src", src, &copy.src);
    if (copy.segments.form == GPUSCAN_SEGMENTS_OFFSETS && copy.segments.host_data)
        gpuscan__host_add(&host, "segments.data", copy.segments.host_data, &copy.segments.data);
    gpuscan__plan_begin(&plan.common, sizeof(plan), &gpuscan__reduce_operation, &copy, &copy.call);
    return gpuscan__host_do(&host, &plan.common, sizeof(plan), &copy.call);
}

/* [HISTOGRAM] ------------------------------------------------------------------------------------------------------ */

typedef struct gpuscan__histogram_key {
    uint32_t form, mode, bins, closed, outside, channels, mask, counter, weight, copies, range_all, wide_offset;
    uint32_t in_launch; /* finished in the launch that counts: 1 by a fence, or a GPUSCAN__ARRIVALS_... */
    uint32_t pipe;      /* GPUSCAN__PIPE_... */
    uint32_t slices, slice_bins; /* into how many slices the bins are cut, of how many each; by value: 1, the values */
    uint32_t by_value, merge;    /* GPUSCAN__BY_VALUE_..., GPUSCAN__MERGE_... */
    uint32_t local_edges;        /* edges are copied to local memory */
    uint32_t edge_cells;         /* cells of equal width that say where to search them; 0: none */
    uint32_t byte_tables;
    uint32_t converted, weighed; /* by custom->convert; by the desc's weight */
    uint32_t pixel_channels;     /* that their expressions see; of a custom type, or without expressions: 0 */
} gpuscan__histogram_key;
GPUSCAN__ASSERT(sizeof(gpuscan__histogram_key) <= GPUSCAN__KEY_OWN * sizeof(uint32_t), histogram_key_fits)

typedef struct gpuscan__histogram_plan {
    gpuscan__plan common;
    gpuscan__histogram_key key;
    gpuscan_type element;            /* in memory: a channel, or a pixel of custom type */
    gpuscan_type sample;             /* what is put into bins */
    gpuscan_type counter, weight;
    uint32_t element_size, sample_size; /* bytes; of a sample that expressions see a whole pixel */
    uint32_t pixel_elements;            /* 1, or of a builtin type the desc's channels */
    uint32_t channels, channel_bins; /* that are counted each by itself, of expressions' values one; counters of each */
    gpuscan_custom texts;            /* the caller's, with the weight's as combine: the program's texts */
    uint64_t all_bins;               /* of all channels of the mask */
    uint64_t count, rows;            /* rows without gaps are one long row */
    uint64_t pitch, weights_pitch, groups;
    int in_launch;                   /* the launch that counts finishes, too */
    uint64_t lower, range, factor;   /* integers: see gpuscan_even_bin in kernels.cl.inc; range 0: 2^64 */
    double real_lower, real_upper, real_step;
} gpuscan__histogram_plan;

#define GPUSCAN__HISTOGRAM_NUMBERS(X)                                                                                  \
    X(samples_offset) X(pitch) X(count) X(count_offset) X(rows) X(weights_offset) X(weights_pitch) X(edges_offset)       \
    X(accumulators_offset) X(counts_offset) X(flags)
#define GPUSCAN__HISTOGRAM_FINISH_NUMBERS(X) X(accumulators_offset) X(counts_offset) X(flags)
GPUSCAN__NUMBERS(histogram, GPUSCAN__HISTOGRAM_NUMBERS)
GPUSCAN__NUMBERS(histogram_finish, GPUSCAN__HISTOGRAM_FINISH_NUMBERS)

enum { GPUSCAN__HISTOGRAM_COUNTS = 1 }; /* among the plan's ranges: counts come after samples */

static const char *const *gpuscan__histogram_kernels(const gpuscan__key *key) {
    static const char *const names[] = {"gpuscan_histogram", "gpuscan_histogram_finish", NULL};
    (void)key;
    return names;
}

static uint32_t gpuscan__active_channels(uint32_t mask) {
    uint32_t active = 0;
    for (; mask; mask &= mask - 1)
        active++;
    return active;
}

/* Counters of all channels of the mask. */
static uint64_t gpuscan__all_bins(const gpuscan__histogram_key *own) {
    return (uint64_t)gpuscan__active_channels(own->mask) *
           ((uint64_t)own->bins + (own->outside == GPUSCAN_OUTSIDE_COUNT ? 2 : 0));
}

/* What a group of many work-items counts with in local memory, in words; and with the bins that values are put into. */
static uint32_t gpuscan__local_counters(const gpuscan__histogram_key *own) {
    return own->by_value == GPUSCAN__BY_VALUE_SPREAD ? 256 * 32 : own->slice_bins * own->copies;
}

static uint32_t gpuscan__local_all(const gpuscan__histogram_key *own) {
    uint32_t words = gpuscan__local_counters(own);
    if (own->merge == GPUSCAN__MERGE_LOCAL)
        words += (uint32_t)gpuscan__all_bins(own);
    return words ? words : 1;
}

/* The edges behind it, from an even word on, for edges of 8 bytes; then their cells; and all together. */
static uint32_t gpuscan__edges_at(const gpuscan__histogram_key *own) {
    return (gpuscan__local_all(own) + 1) / 2 * 2;
}

static uint32_t gpuscan__cells_at(const gpuscan__histogram_key *own, gpuscan_type sample) {
    uint32_t words = gpuscan__types[sample].size == 8 ? 2 : 1;
    return gpuscan__edges_at(own) + (own->bins + 1 + own->bins / 32) * words; /* with what keeps them from one bank */
}

static uint64_t gpuscan__local_words(const gpuscan__histogram_key *own, gpuscan_type sample) {
    return own->local_edges ? gpuscan__cells_at(own, sample) + own->edge_cells : gpuscan__local_all(own);
}

/* Bytes of what is loaded and put into one bin. */
static uint32_t gpuscan__sample_size(const gpuscan__key *key, const gpuscan__histogram_key *own) {
    uint32_t element = key->src == GPUSCAN_TYPE_CUSTOM ? key->custom_size : gpuscan__types[key->src].size;
    return element * (own->pixel_channels ? own->pixel_channels : 1);
}

/* What is put into bins: samples, or what custom->convert gives. */
static gpuscan_type gpuscan__binned_type(const gpuscan__key *key) {
    return (gpuscan_type)(key->dst ? key->dst : key->src);
}

/* Samples that a CPU puts into bins at once, by vectors; 1: each by itself. The simulator crashes on vectors of 16. */
static uint32_t gpuscan__bin_wide(const gpuscan *gs, const gpuscan__plan *plan, const gpuscan__histogram_key *own) {
    const gpuscan__type_facts *sample = &gpuscan__types[gpuscan__binned_type(&plan->key)];
    int plain = own->mode != GPUSCAN__BIN_MODE_MULTIPLY_CHECKED && own->mode != GPUSCAN__BIN_MODE_DIVIDE &&
                own->mode != GPUSCAN__BIN_MODE_GUESS && !own->wide_offset;
    if (!gpuscan__key_is_cpu(&plan->key) || gs->device.fence == GPUSCAN__FENCE_MEM ||
        own->form == GPUSCAN_BINS_EDGES || !(plain || own->mode == GPUSCAN__BIN_MODE_NEAREST))
        return 1;
    return sample->size == 8 ? 8 : 16;
}

/* The caller's expressions, as functions of a pixel and its number. */
static void gpuscan__define_expressions(gpuscan__text *text, const gpuscan__key *key,
                                        const gpuscan__histogram_key *own, const gpuscan_custom *texts) {
    const char *const element = key->src == GPUSCAN_TYPE_F16 ? "float" : gpuscan__types[key->src].name;
    char pixel[24];
    gpuscan__define_number(text, "PIXEL_CHANNELS", own->pixel_channels);
    gpuscan__define_number(text, "PIXEL_F16", key->src == GPUSCAN_TYPE_F16);
    gpuscan__define_number(text, "CONVERTED", own->converted);
    gpuscan__define_number(text, "WEIGHED", own->weighed);
    if (!own->converted && !own->weighed)
        return;
    if (texts->source)
        gpuscan__custom_lines(text, "", "", texts->source, "");
    if (key->src == GPUSCAN_TYPE_CUSTOM) {
        gpuscan__define_custom_type(text, texts);
        snprintf(pixel, sizeof(pixel), "gpuscan_custom_type");
    } else if (own->pixel_channels > 1) {
        snprintf(pixel, sizeof(pixel), "%s%u", element, (unsigned)own->pixel_channels);
    } else {
        snprintf(pixel, sizeof(pixel), "%s", element);
    }
    gpuscan__define(text, "PIXEL", pixel);
    if (own->converted)
        gpuscan__custom_lines(text,
                              "static inline GPUSCAN_BINNED gpuscan_custom_convert(GPUSCAN_PIXEL x, ulong i) { return (",
                              " convert", texts->convert, ");}\n");
    if (own->weighed)
        gpuscan__custom_lines(text,
                              "static inline GPUSCAN_WEIGHT gpuscan_custom_weight(GPUSCAN_PIXEL x, ulong i) { return (",
                              " weight", texts->combine, ");}\n");
    if (texts->source)
        gpuscan__undefine(text, texts->source);
}

static void gpuscan__histogram_define(gpuscan__text *text, const gpuscan *gs, const gpuscan__plan *plan) {
    const gpuscan_type binned = gpuscan__binned_type(&plan->key);
    const gpuscan__type_facts *sample = &gpuscan__types[binned];
    int f64 = binned == GPUSCAN_TYPE_F64;
    const char *real = f64 ? "double" : "float";
    gpuscan__histogram_key own;
    uint32_t shift, step, sample_size;
    memcpy(&own, plan->key.own, sizeof(own));
    gpuscan__define(text, "HISTOGRAM_NUMBERS", gpuscan__histogram_numbers_text);
    gpuscan__define(text, "HISTOGRAM_FINISH_NUMBERS", gpuscan__histogram_finish_numbers_text);
    sample_size = gpuscan__sample_size(&plan->key, &own);
    gpuscan__define_shape(text, gs, &plan->key, gpuscan__vector(sample_size, sample_size));
    gpuscan__define(text, "SAMPLE", plan->key.src == GPUSCAN_TYPE_CUSTOM ? "gpuscan_custom_type"
                                                                       : gpuscan__types[plan->key.src].name);
    gpuscan__define_number(text, "SAMPLE_SIZE", sample_size);
    gpuscan__define(text, "BINNED", sample->name);
    gpuscan__define_raw(text, "SAMPLE_RAW", 16, 0);
    gpuscan__define(text, "EDGE", sample->kind == 'f' ? real : sample->name);
    gpuscan__define(text, "EDGE_REAL", real);
    if (sample->kind == 'f') {
        gpuscan__define(text, "SAMPLE_FLOAT", real);
        gpuscan__define_number(text, "REAL_SIZE", f64 ? 8 : 4);
        gpuscan__define(text, "REAL_AS(x)", f64 ? "as_ulong(x)" : "as_uint(x)");
    }
    gpuscan__define_number(text, "SAMPLE_IS_FLOAT", sample->kind == 'f');
    gpuscan__define_number(text, "SAMPLE_F16", binned == GPUSCAN_TYPE_F16);
    gpuscan__define(text, "OFFSET", own.wide_offset ? "ulong" : "uint");
    gpuscan__define_number(text, "OFFSET_SIZE", own.wide_offset ? 8 : 4);
    gpuscan__define(text, "BELOW(s, lower)", sample->kind == 's' ? "((long)(s) < (long)(lower))" : "((s) < (lower))");
    gpuscan__define(text, "COUNTER", gpuscan__types[own.counter].name);
    gpuscan__define_number(text, "COUNTER_SIZE", gpuscan__types[own.counter].size);
    gpuscan__define_number(text, "COUNTER_ATOMICS", gs->device.int64_atomics ? 64 : 32);
    gpuscan__define_number(text, "WEIGHTED", own.weight != 0);
    if (own.weight)
        gpuscan__define(text, "WEIGHT", gpuscan__types[own.weight].name);
    gpuscan__define_number(text, "FORM", own.form);
    gpuscan__define_number(text, "BIN_MODE", own.mode);
    gpuscan__define_number(text, "BIN_WIDE", gpuscan__bin_wide(gs, plan, &own));
    gpuscan__define_number(text, "RANGE_ALL", own.range_all);
    gpuscan__define_number(text, "CLOSED", own.closed);
    gpuscan__define_number(text, "OUTSIDE", own.outside);
    gpuscan__define_number(text, "CHANNELS", own.channels);
    gpuscan__define_number(text, "CHANNEL_MASK", own.mask);
    gpuscan__define_number(text, "COPIES", own.copies);
    for (shift = 2; own.copies >> (shift - 1) != 0; shift++)
        continue;
    gpuscan__define_number(text, "COPY_SHIFT", shift); /* log2 of a bin's bytes */
    gpuscan__define_number(text, "REGISTERS", plan->key.registers);
    gpuscan__define_number(text, "PIPE", own.pipe);
    gpuscan__define_number(text, "SLICES", own.slices);
    gpuscan__define_number(text, "SLICE_BINS", own.slice_bins);
    gpuscan__define_number(text, "ARRIVALS", own.in_launch > 1 ? own.in_launch : (uint32_t)GPUSCAN__ARRIVALS_NONE);
    gpuscan__define_number(text, "SAMPLE_IS_SIGNED", sample->kind == 's');
    gpuscan__define_number(text, "BY_VALUE", own.by_value);
    gpuscan__define_number(text, "MERGE", own.merge);
    gpuscan__define_number(text, "LOCAL_COUNTERS", gpuscan__local_counters(&own));
    gpuscan__define_number(text, "LOCAL_ALL", gpuscan__local_all(&own));
    gpuscan__define_number(text, "LOCAL_EDGES", own.local_edges);
    gpuscan__define_number(text, "EDGES_AT", gpuscan__edges_at(&own));
    gpuscan__define_number(text, "EDGE_CELLS", own.edge_cells);
    gpuscan__define_number(text, "CELLS_AT", gpuscan__cells_at(&own, binned));
    gpuscan__define_number(text, "LOCAL_WORDS", gpuscan__local_words(&own, binned));
    for (step = 1; step * 2 < own.bins; step *= 2)
        continue;
    gpuscan__define_number(text, "EDGE_STEP", own.bins > 1 ? step : 0); /* the largest power of two below bins */
    gpuscan__define_number(text, "BYTE_TABLES", own.byte_tables);
    gpuscan__define_number(text, "BINS", own.bins);
    gpuscan__define_number(text, "ALL_BINS", gpuscan__all_bins(&own));
    gpuscan__define_expressions(text, &plan->key, &own, plan->e.custom);
}

/* floor(2^64 * a / b) for a < b, by long division. */
static uint64_t gpuscan__fraction64(uint64_t a, uint64_t b) {
    uint64_t quotient = 0;
    int bit;
    for (bit = 0; bit < 64; bit++) {
        int carry = (int)(a >> 63);
        a <<= 1;
        quotient <<= 1;
        if (carry || a >= b) {
            a -= b;
            quotient |= 1;
        }
    }
    return quotient;
}

/* Integer bins: the range, and how a sample finds its bin. */
static gpuscan_result gpuscan__integer_bins(gpuscan *gs, const gpuscan_histogram_desc *desc,
                                            gpuscan__histogram_plan *plan) {
    const gpuscan__type_facts *type = &gpuscan__types[plan->sample];
    unsigned bits = type->size * 8;
    uint64_t least = type->kind == 's' ? (uint64_t)0 - ((uint64_t)1 << (bits - 1)) : 0; /* two's complement */
    uint64_t whole = bits == 64 ? 0 : (uint64_t)1 << bits, bins = plan->key.bins;           /* 0: 2^64 */
    uint64_t lower = desc->lower.u, upper = desc->upper.u, range, shift = 0;
    gpuscan__histogram_key *key = &plan->key;
    int ordered = type->kind == 's' ? desc->lower.i < desc->upper.i : lower < upper;
    if (desc->form == GPUSCAN_BINS_VALUES) {
        uint64_t beyond = (type->kind == 's' ? (uint64_t)1 << 63 : 0) - lower; /* to the end of 64 bits; 0: 2^64 */
        range = beyond && beyond < bins ? beyond : bins; /* no value lies past it, where s - lower would wrap around */
    } else if (lower == 0 && upper == 0) {
        lower = least;
        range = whole;
    } else if (ordered) {
        range = upper - lower;
    } else {
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_BINS, "lower and upper: the range is empty");
    }
    plan->lower = lower;
    plan->range = range;
    key->range_all = lower == least && range == whole;
    /* 32 bits hold s - lower, modulo 2^32, without mistaking one side for the other, if lower is a value of the type
       and the range does not leave it. */
    key->wide_offset = 1;
    if (bits < 64) {
        uint64_t above = lower - least;
        if (above < whole && range <= whole - above)
            key->wide_offset = desc->closed && range == whole - above; /* then lower + range is none of the type's */
    }
    if (range == bins || desc->form == GPUSCAN_BINS_VALUES) {
        key->mode = GPUSCAN__BIN_MODE_VALUE;
    } else if (range == 0) {
        key->mode = GPUSCAN__BIN_MODE_MULTIPLY;
        plan->factor = bins;
    } else if (bins < range && range % bins == 0 && ((range / bins) & (range / bins - 1)) == 0) {
        while ((range / bins) >> shift > 1)
            shift++;
        key->mode = GPUSCAN__BIN_MODE_SHIFT;
        plan->factor = shift;
        if (shift > 31) /* one bin over all of 32 bits */
            key->wide_offset = 1;
    } else if (type->size <= 2 && range <= (uint64_t)1 << 16) {
        key->mode = bins < range ? GPUSCAN__BIN_MODE_MULTIPLY_16 : GPUSCAN__BIN_MODE_MULTIPLY_16_MANY;
        plan->factor = gpuscan__ceil_div(bins << 32, range);
    } else if (bins >= range) {
        key->mode = GPUSCAN__BIN_MODE_DIVIDE;
    } else if (range <= (uint64_t)1 << 32) {
        key->mode = GPUSCAN__BIN_MODE_MULTIPLY;
        plan->factor = gpuscan__fraction64(bins, range) + 1;
    } else {
        key->mode = GPUSCAN__BIN_MODE_MULTIPLY_CHECKED;
        plan->factor = gpuscan__fraction64(bins, range);
    }
    return GPUSCAN_SUCCESS;
}

/* The nearest f32. Through memory: gcc 12 at -O2 has been seen to leave a pair of such conversions out. */
static double gpuscan__single(double x) {
    volatile float single = (float)x;
    return (double)single;
}

/* The nearest f64. Through memory: x87 keeps more bits in registers, and -ffast-math may not reorder what is
   written. */
static double gpuscan__double(double x) {
    volatile double rounded = x;
    return rounded;
}

/* By a divisor from memory, or -ffast-math makes two divisions by the same number multiplications. */
static double gpuscan__quotient(double dividend, double divisor) {
    return gpuscan__double(dividend / gpuscan__double(divisor));
}

/* Neither infinite nor NaN, by its bits: under -ffast-math compilers leave comparisons out that find those. */
static int gpuscan__is_finite(gpuscan_bound x) {
    return (x.u >> 52 & 0x7ff) != 0x7ff;
}

/* The width of even bins, in double; largest, the type's, where it is more, which only one bin's can be. */
static double gpuscan__even_step(double lower, double upper, uint32_t bins, double largest) {
    const double double_max = 1.7976931348623157e308;
    double step;
    if (gpuscan__double(upper / 2 - lower / 2) <= double_max / 2)
        step = gpuscan__quotient(gpuscan__double(upper - lower), bins);
    else if (bins > 1)
        step = gpuscan__quotient(upper, bins) - gpuscan__quotient(lower, bins);
    else
        step = largest;
    return gpuscan__double(step < largest ? step : largest);
}

static gpuscan_result gpuscan__float_bins(gpuscan *gs, const gpuscan_histogram_desc *desc,
                                          gpuscan__histogram_plan *plan) {
    double lower = gpuscan__double(desc->lower.f), upper = gpuscan__double(desc->upper.f), step, least;
    const double float_max = 3.4028234663852886e38, double_max = 1.7976931348623157e308;
    double largest = plan->sample == GPUSCAN_TYPE_F64 ? double_max : float_max;
    if (lower == 0 && upper == 0) /* -0.0, too */
        upper = 1.0;
    if (!gpuscan__is_finite(desc->lower) || !gpuscan__is_finite(desc->upper) ||
        !(lower >= -largest && upper <= largest && lower < upper))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_BINS, "lower and upper: the range is empty or not finite");
    if (plan->sample != GPUSCAN_TYPE_F64) {
        lower = gpuscan__single(lower);
        upper = gpuscan__single(upper);
    }
    step = gpuscan__even_step(lower, upper, plan->key.bins, largest);
    if (plan->sample != GPUSCAN_TYPE_F64)
        step = gpuscan__single(step);
    least = plan->sample == GPUSCAN_TYPE_F64 ? 2.2250738585072014e-308 : 1.1754943508222875e-38;
    if (!(lower < upper) || !(step >= least)) /* 1 / step is finite then, too */
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_BINS,
                             "lower and upper: a bin is too fine for the type (bounds of floats: lower.f, upper.f)");
    plan->real_lower = lower;
    plan->real_upper = upper;
    plan->real_step = step;
    /* The kernel's guess, (s - lower) * (1 / step), has two roundings of at most 2^-24 of up to 2^20 bins each, 1/8 bin
       together, and an edge's own rounding is 2^-24 of 2^21 steps at most, another 1/8: as long as nothing over- or
       underflows the two are less than half a bin apart. */
    largest = -lower > upper ? -lower : upper;
    plan->key.mode = GPUSCAN__BIN_MODE_GUESS;
    if (plan->key.bins <= 1u << 20 && step * 2097152.0 >= largest && step > 1e-34 && step < 1e30)
        plan->key.mode = GPUSCAN__BIN_MODE_NEAREST;
    return GPUSCAN_SUCCESS;
}

/* What a pixel is, and what expressions make of it. */
static gpuscan_result gpuscan__resolve_expressions(gpuscan *gs, const gpuscan_histogram_desc *desc,
                                                   gpuscan__histogram_plan *plan) {
    gpuscan__histogram_key *key = &plan->key;
    const gpuscan_custom *custom = desc->custom;
    int is_custom = plan->element == GPUSCAN_TYPE_CUSTOM;
    plan->channels = desc->channels ? desc->channels : 1;
    if (plan->channels > 4)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "channels is more than 4");
    key->converted = custom && custom->convert;
    key->weighed = desc->weight != NULL;
    plan->sample = key->converted && desc->value_type ? desc->value_type : plan->element;
    if (plan->sample == GPUSCAN_TYPE_CUSTOM)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE, "%s is no builtin type",
                             desc->value_type ? "value_type" : "sample_type");
    if (desc->value_type && !key->converted)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "value_type without custom->convert, which gives it");
    if (is_custom && (!custom->type || custom->size == 0 || custom->size > GPUSCAN__CUSTOM_MOST))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "custom->type is NULL, or custom->size is not from 1 to 1024");
    plan->element_size = is_custom ? (uint32_t)custom->size : gpuscan__types[plan->element].size;
    plan->pixel_elements = plan->channels;
    if (key->converted || key->weighed) {
        if (plan->channels > 1 && is_custom)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "channels of a custom sample_type");
        if (plan->channels > 1 && !key->converted)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                                 "weight with several channels, and no custom->convert that makes them one value");
        if (desc->channel_mask)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                                 "channel_mask with custom->convert or weight, which take whole pixels");
        if (desc->weight && (desc->weights.mem || desc->host_weights))
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "weight and weights are both given");
        if (key->converted && plan->sample == GPUSCAN_TYPE_F16)
            plan->sample = GPUSCAN_TYPE_F32;
        key->pixel_channels = is_custom ? 0 : plan->channels;
        plan->channels = 1;
        if (custom)
            plan->texts = *custom;
        plan->texts.combine = desc->weight;
        plan->texts.identity = plan->texts.select = plan->texts.equal = plan->texts.key = NULL;
        plan->common.e.custom = &plan->texts;
    }
    return GPUSCAN_SUCCESS;
}

/* What a sample is, and which counters there are. */
static gpuscan_result gpuscan__resolve_samples(gpuscan *gs, const gpuscan_histogram_desc *desc,
                                               gpuscan__histogram_plan *plan) {
    gpuscan__histogram_key *key = &plan->key;
    gpuscan_result r;
    plan->element = desc->sample_type ? desc->sample_type : GPUSCAN_TYPE_U8;
    plan->counter = desc->counter_type ? desc->counter_type : GPUSCAN_TYPE_U32;
    plan->weight = desc->weight_type ? desc->weight_type : GPUSCAN_TYPE_U32;
    if ((unsigned)plan->element >= GPUSCAN_TYPE_COUNT || (unsigned)plan->counter >= GPUSCAN_TYPE_COUNT ||
        (unsigned)plan->weight >= GPUSCAN_TYPE_COUNT || (unsigned)desc->value_type >= GPUSCAN_TYPE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "sample_type, value_type, counter_type or weight_type is no gpuscan_type");
    if ((r = gpuscan__resolve_expressions(gs, desc, plan)) != 0)
        return r;
    if (plan->counter != GPUSCAN_TYPE_U32 && plan->counter != GPUSCAN_TYPE_U64)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE, "counter_type is neither u32 nor u64");
    if (gpuscan__types[plan->weight].kind != 'u')
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE, "weight_type is no unsigned integer");
    if ((unsigned)desc->form > GPUSCAN_BINS_VALUES)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "form is no gpuscan_bins");
    if (desc->form != GPUSCAN_BINS_EDGES && (desc->edges.mem || desc->host_edges))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "edges are given, but form is not GPUSCAN_BINS_EDGES");
    if ((unsigned)desc->outside > GPUSCAN_OUTSIDE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "outside is no gpuscan_outside");
    if ((r = gpuscan__check_type(gs, "sample_type", plan->element)) != 0 ||
        (r = gpuscan__check_type(gs, "value_type", plan->sample)) != 0)
        return r;
    key->mask = desc->channel_mask ? desc->channel_mask : (1u << plan->channels) - 1;
    if (key->mask >> plan->channels)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "channel_mask names channels that are not there");
    key->bins = desc->bins ? desc->bins : 256;
    if (key->bins > 0x7fffffffu / 4 - 2)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_BINS, "bins is more than %u", 0x7fffffffu / 4 - 2);
    plan->channel_bins = key->bins + (desc->outside == GPUSCAN_OUTSIDE_COUNT ? 2 : 0);
    key->form = (uint32_t)desc->form;
    key->closed = desc->closed != 0 && desc->form != GPUSCAN_BINS_VALUES;
    key->outside = (uint32_t)desc->outside;
    key->channels = plan->channels;
    plan->all_bins = gpuscan__all_bins(key);
    key->counter = (uint32_t)plan->counter;
    if (desc->form == GPUSCAN_BINS_VALUES && gpuscan__is_float(plan->sample))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE, "form: VALUES is for integers");
    if (desc->form == GPUSCAN_BINS_EDGES)
        return GPUSCAN_SUCCESS;
    return gpuscan__is_float(plan->sample) ? gpuscan__float_bins(gs, desc, plan)
                                           : gpuscan__integer_bins(gs, desc, plan);
}

/* A row of count pixels, and the pitch from one to the next, both in elements, of which a pixel has so many. */
static gpuscan_result gpuscan__resolve_row(gpuscan *gs, const char *field, uint64_t pitch, uint64_t count,
                                           uint32_t pixel_elements, uint64_t *row, uint64_t *elements) {
    gpuscan_result r = gpuscan__resolve_pitch(gs, field, pitch, count, &pitch);
    if (r == 0 && (!gpuscan__multiply(count, pixel_elements, row) || !gpuscan__multiply(pitch, pixel_elements, elements)))
        r = gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "%s: a row does not fit 64 bits", field);
    return r;
}

static gpuscan_result gpuscan__histogram_resolve(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__histogram_plan *plan = (gpuscan__histogram_plan *)common;
    const gpuscan_histogram_desc *desc = (const gpuscan_histogram_desc *)common->desc;
    uint32_t weight_size;
    uint64_t row, elements, weights;
    int is_weighted, has_edges = desc->form == GPUSCAN_BINS_EDGES;
    gpuscan__range *range;
    gpuscan_result r;
    if ((r = gpuscan__resolve_samples(gs, desc, plan)) != 0)
        return r;
    if (!common->from_host && common->is_run && (desc->host_edges || desc->host_weights))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "host_edges and host_weights are for gpuscan_histogram_host; here edges and weights");
    plan->count = desc->count;
    plan->rows = desc->rows && desc->count ? desc->rows : 1; /* empty rows are not visited: there may be 2^64 */
    weight_size = gpuscan__types[plan->weight].size;
    if ((r = gpuscan__resolve_row(gs, "pitch", desc->pitch, desc->count, plan->pixel_elements, &row, &plan->pitch)) !=
            0 ||
        (r = gpuscan__resolve_pitch(gs, "weights_pitch", desc->weights_pitch, desc->count, &plan->weights_pitch)) !=
            0 ||
        (r = gpuscan__extent(gs, "samples", row, plan->rows, plan->pitch, plan->element_size, &elements)) != 0 ||
        (r = gpuscan__extent(gs, "weights", desc->count, plan->rows, plan->weights_pitch, weight_size, &weights)) != 0)
        return r;
    range = gpuscan__input(common, "samples", desc->samples, elements, plan->element_size);
    range->idle = 1;
    gpuscan__rows_of(range, plan->rows, row, plan->pitch, plan->element_size);
    range = gpuscan__output(common, "counts", desc->counts, plan->all_bins, gpuscan__types[plan->counter].size);
    range->reads = desc->accumulate != 0;
    range = gpuscan__input(common, "weights", desc->weights, weights, weight_size);
    range->required = 0;
    range->idle = 1;
    gpuscan__rows_of(range, plan->rows, desc->count, plan->weights_pitch, weight_size);
    gpuscan__input(common, "edges", desc->edges, has_edges ? (uint64_t)plan->key.bins + 1 : 0,
                   plan->sample == GPUSCAN_TYPE_F16 ? 4 : gpuscan__types[plan->sample].size);
    if ((r = gpuscan__resolve_count(gs, common, desc->count_buffer, desc->count_type)) != 0)
        return r;
    is_weighted = desc->weights.mem || desc->host_weights;
    plan->key.weight = is_weighted || desc->weight ? (uint32_t)plan->weight : 0;
    /* expressions see a pixel's number in its row */
    if (plan->pitch == row && (!is_weighted || plan->weights_pitch == desc->count) && !desc->count_buffer.mem &&
        !common->e.custom) {
        plan->count *= plan->rows;
        plan->rows = 1;
    }
    if (desc->accumulate)
        common->flags |= GPUSCAN__FLAG_ACCUMULATE;
    common->key.operation = common->operation->number;
    common->key.src = (uint32_t)plan->element;
    common->key.dst = plan->key.converted ? (uint32_t)plan->sample : 0;
    common->key.custom_size = plan->element == GPUSCAN_TYPE_CUSTOM ? plan->element_size : 0;
    plan->sample_size = gpuscan__sample_size(&common->key, &plan->key);
    return GPUSCAN_SUCCESS;
}

/* On a CPU bytes are counted by value, where the tables fit, and the values put into bins at the end. */
static int gpuscan__counts_bytes(const gpuscan__histogram_plan *plan) {
    return gpuscan__key_is_cpu(&plan->common.key) && gpuscan__types[plan->sample].size == 1 && !plan->key.weight &&
           !plan->common.e.custom;
}

/* And elsewhere, too, where so much local memory holds all values: with several channels in a form of its own. */
static int gpuscan__counts_by_value(gpuscan__histogram_plan *plan, uint64_t local, uint32_t copies) {
    gpuscan__histogram_key *own = &plan->key;
    uint32_t active = gpuscan__active_channels(own->mask);
    uint64_t merged = plan->all_bins;
    int values_are_bins = own->form != GPUSCAN_BINS_EDGES && own->mode == GPUSCAN__BIN_MODE_VALUE && own->range_all &&
                          merged == 256 * active; /* without counters for what is outside */
    if (gpuscan__types[plan->sample].size > 1 || plan->common.e.custom)
        return 0;
    own->by_value = GPUSCAN__BY_VALUE_PLAIN;
    own->slice_bins = 256 * active;
    if (local >= 256 * 32 * 4 && plan->channels > 1 && copies >= 8 && !own->weight &&
        (plan->channels == 3 || active >= plan->channels - 1)) {
        own->by_value = GPUSCAN__BY_VALUE_SPREAD;
        own->copies = 32 / plan->channels;
    } else {
        for (own->copies = 1; own->copies * 2 <= copies && own->slice_bins * 8 * own->copies <= local;)
            own->copies *= 2;
    }
    if (gpuscan__local_counters(own) * 4 > local) {
        own->by_value = own->copies = 0;
        return 0;
    }
    if (!values_are_bins) {
        local -= gpuscan__local_counters(own) * 4;
        own->merge = merged <= 4096 && merged * 4 <= local ? GPUSCAN__MERGE_LOCAL : GPUSCAN__MERGE_GLOBAL;
    }
    return 1;
}

/* Edges in local memory, up to so many, and there cells that a search begins with, but for few edges or few samples
   (H200, f32, 2^26 samples, 4, 16, 100, 256, 1000 edges, us: in the cache 131, 189, -, 343, 674; in local memory 84,
   112, 280, 243, 685; with cells 115, 121, 128, 133, 138). */
#define GPUSCAN__LOCAL_EDGES 2048
#define GPUSCAN__EDGES_ALONE 32  /* without cells */
#define GPUSCAN__FEW_EDGES   256 /* without cells more are searched faster in the cache */
#define GPUSCAN__CELLS_FROM  ((uint64_t)1 << 20) /* samples */

/* The edges beside the bins, for fewer copies of these if need be: 4 against conflicts are enough. */
static void gpuscan__histogram_edges(gpuscan__histogram_plan *plan, uint64_t local) {
    gpuscan__histogram_key *own = &plan->key;
    uint32_t copies = own->copies, least = own->bins > GPUSCAN__FEW_EDGES ? 1 : 4;
    if (own->bins > GPUSCAN__LOCAL_EDGES)
        return;
    own->local_edges = 1;
    if (own->bins > GPUSCAN__EDGES_ALONE && plan->count * plan->channels * plan->rows >= GPUSCAN__CELLS_FROM)
        for (own->edge_cells = 64; own->edge_cells < 4 * own->bins && own->edge_cells < 4096;)
            own->edge_cells *= 2;
    own->slice_bins = (uint32_t)plan->all_bins;
    while (own->copies > least && gpuscan__local_words(own, plan->sample) * 4 > local)
        own->copies /= 2;
    if (gpuscan__local_words(own, plan->sample) * 4 > local ||
        (own->bins > GPUSCAN__FEW_EDGES && !own->edge_cells)) {
        own->local_edges = own->edge_cells = 0;
        own->copies = copies;
    }
}

/* On a CPU more bins than this have a table a group in the scratch, which takes no atomics to hand over: 20 cycles a bin,
   beside less than one of a loop over tables. */
#define GPUSCAN__CPU_LOCAL_BINS 4096
/* And so many bytes of all tables are summed by the group that comes last, in less time than another launch takes. */
#define GPUSCAN__CPU_SUM_AT_ONCE GPUSCAN__MIB

/* Bins to local memory: the strategy, into how many slices the bins are cut, and how many copies of them there are. */
static gpuscan_result gpuscan__histogram_local(gpuscan *gs, gpuscan__histogram_plan *plan) {
    const gpuscan__profile *profile = &gs->device.profile;
    gpuscan__plan *common = &plan->common;
    gpuscan__histogram_key *own = &plan->key;
    gpuscan__key *key = &common->key;
    gpuscan_strategy strategy = common->call->strategy;
    int is_auto = strategy == GPUSCAN_STRATEGY_AUTO;
    uint32_t tables = plan->channels == 3 ? 12 : 8; /* whole pixels of bytes */
    uint64_t local = gs->device.local_memory, copies_local, copies;
    const char *why;
    if (is_auto)
        strategy = profile->histogram;
    if (strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD)
        strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    if (strategy == GPUSCAN_STRATEGY_CPU_SINGLE_PASS)
        strategy = GPUSCAN_STRATEGY_CPU_MULTI_PASS;
    key->strategy = (uint32_t)strategy;
    key->group = 1;
    if (!gpuscan__key_is_cpu(key))
        key->group =
            gpuscan__lanes_group(gs, common, (uint32_t)gpuscan__min(profile->counts_group, common->group_limit));
    own->copies = own->byte_tables = own->by_value = own->merge = own->local_edges = own->edge_cells = 0;
    own->slices = 1;
    if (strategy == GPUSCAN_STRATEGY_MULTI_PASS)
        return GPUSCAN_SUCCESS;
    local -= gpuscan__min(local, gpuscan__lanes_bytes(gs, key->group));
    if (!gpuscan__key_is_cpu(key) && !gpuscan__uses_ptx(gs, key)) /* drivers add some bytes to an argument's (NVIDIA) */
        local -= local > 512 ? 256 : 0;
    local = gpuscan__min(local, profile->counts_local);
    if (gpuscan__counts_bytes(plan) && tables * 1024 + 4 <= local) {
        own->copies = own->byte_tables = tables;
        return GPUSCAN_SUCCESS;
    }
    copies = profile->counts_copies[plan->sample_size > 1 ? GPUSCAN__LARGE : GPUSCAN__SMALL];
    why = gpuscan__why_refused(gs, common, strategy);
    if (!why && !gpuscan__key_is_cpu(key) && !(own->weight && plan->counter == GPUSCAN_TYPE_U64) &&
        gpuscan__counts_by_value(plan, local, (uint32_t)copies))
        return GPUSCAN_SUCCESS;
    own->slices = (uint32_t)gpuscan__min(gpuscan__ceil_div(plan->all_bins * 4, gpuscan__max(local, 1)), UINT32_MAX);
    if (!why && own->weight && plan->counter == GPUSCAN_TYPE_U64 && gpuscan__key_is_cpu(key))
        why = "weighted sums of 64 bits are not held in local memory";
    if (!why && (gpuscan__key_is_cpu(key) ? plan->all_bins > GPUSCAN__CPU_LOCAL_BINS || (plan->all_bins + 1) * 4 > local
                                          : own->slices > profile->counts_slices))
        why = "the bins do not fit local memory";
    if (why) {
        own->slices = 1;
        if (gpuscan__key_is_cpu(key)) /* tables in the scratch */
            return GPUSCAN_SUCCESS;
        key->strategy = (uint32_t)GPUSCAN_STRATEGY_MULTI_PASS;
        return is_auto ? GPUSCAN_SUCCESS : gpuscan__unsupported(gs, why);
    }
    copies_local = local;
    if (gpuscan__key_is_cpu(key)) { /* each with one counter more */
        copies = gpuscan__min(8, local / ((plan->all_bins + 1) * 4));
        copies_local = gpuscan__min(local, 16 * GPUSCAN__KIB);
    }
    for (own->copies = 1; own->copies * 2 <= copies && plan->all_bins * 8 * own->copies <= copies_local;)
        own->copies *= 2;
    if (own->form == GPUSCAN_BINS_EDGES && !gpuscan__key_is_cpu(key) && own->slices == 1)
        gpuscan__histogram_edges(plan, local);
    return GPUSCAN_SUCCESS;
}

/* The form: how samples are loaded, in which groups, and how bins in slices are cut. */
static void gpuscan__histogram_form(const gpuscan *gs, gpuscan__histogram_plan *plan) {
    const gpuscan__profile *profile = &gs->device.profile;
    gpuscan__histogram_key *own = &plan->key;
    gpuscan__key *key = &plan->common.key;
    uint32_t size = plan->sample_size, vector = gpuscan__vector(size, size);
    uint64_t elements = plan->count * plan->channels * plan->rows; /* fits, as the samples' extent does */
    uint64_t all_items = (uint64_t)vector * key->group * gs->device.units; /* a vector for each work-item */
    key->vectors = profile->counts_vectors;
    key->registers = 0;
    own->pipe = GPUSCAN__PIPE_NONE;
    if (!gpuscan__key_is_cpu(key) && plan->rows > 1) {
        own->pipe = GPUSCAN__PIPE_ROWS;
        if (own->slices == 1)
            key->registers = gpuscan__registers(gs, key, profile->counts_registers);
    } else if (!gpuscan__key_is_cpu(key) && own->copies && profile->counts_pipe) {
        int few;
        if (own->slices > 1) {
            uint64_t slices = gpuscan__min(profile->counts_slices,
                                           plan->all_bins / (4 * key->group)); /* fewer bins: no faster handed over */
            few = elements <= profile->slice_short * all_items / own->slices;
            while (slices > own->slices && elements > profile->slice_more * all_items / slices)
                slices /= 2; /* not any number: each is a program of its own */
            if (few)
                own->slices = (uint32_t)gpuscan__max(own->slices, slices);
        } else {
            few = elements <= profile->short_vectors * all_items;
            if (elements <= all_items / key->group * profile->short_group * profile->short_vectors)
                key->group = (uint32_t)gpuscan__min(profile->short_group, key->group);
        }
        if (few)
            key->vectors = profile->short_vectors;
        if (few || own->slices == 1) {
            own->pipe = few ? GPUSCAN__PIPE_SHORT : GPUSCAN__PIPE_AHEAD;
            key->registers = gpuscan__registers(gs, key, profile->counts_registers);
        }
    }
    if (!own->by_value) {
        own->slice_bins = (uint32_t)gpuscan__ceil_div(plan->all_bins, own->slices);
        own->slices = (uint32_t)gpuscan__ceil_div(plan->all_bins, own->slice_bins);
    }
    key->tile = gpuscan__key_is_cpu(key) ? 65536 / size /* only shares out the work: long stretches */
                                         : key->group * key->vectors * vector;
}

/* Groups that run at once, of those that count one slice. */
static uint64_t gpuscan__histogram_most(const gpuscan *gs, const gpuscan__histogram_plan *plan) {
    const gpuscan__profile *profile = &gs->device.profile;
    const gpuscan__histogram_key *own = &plan->key;
    int near_bins = own->copies && (own->slices == 1 || own->pipe);
    int by_size = plan->sample_size > 1 ? GPUSCAN__LARGE : GPUSCAN__SMALL;
    uint64_t units = gs->device.units;
    return gpuscan__max(
        units * (near_bins ? profile->counts_per_unit[by_size] : profile->counts_per_unit_far) / own->slices, 1);
}

/* On a CPU: a group's tables are worth some samples; plain tables in the scratch have an end. */
static void gpuscan__histogram_cpu_groups(const gpuscan *gs, gpuscan__histogram_plan *plan) {
    const gpuscan__profile *profile = &gs->device.profile;
    int by_size = plan->sample_size > 1 ? GPUSCAN__LARGE : GPUSCAN__SMALL;
    uint64_t samples = plan->count * plan->channels, elements = samples * plan->rows, units = gs->device.units;
    uint64_t worth = elements / 128 / plan->all_bins;
    uint64_t groups = gpuscan__max(gpuscan__ceil_div(samples, plan->common.key.tile) * plan->rows, 1);
    groups = gpuscan__min(
        groups, units * (plan->key.copies ? profile->counts_per_unit[by_size] : profile->counts_per_unit_far));
    if (groups > units && worth < groups)
        groups = gpuscan__max(worth / units * units, units);
    groups = gpuscan__min(groups, gpuscan__max(elements / plan->all_bins, 1));
    if (plan->key.copies == 0)
        groups = gpuscan__min(
            gpuscan__min(groups, 4096),
            gpuscan__max(((uint64_t)64 << 20) / (plan->all_bins * gpuscan__types[plan->counter].size), 1));
    else
        groups = gpuscan__max(groups, elements >> 31); /* a group's counters do not overflow */
    plan->groups = groups;
}

/* Enough vectors a work-item to be worth a group's bins; a group of a slice has the more bins to hand over. */
static void gpuscan__histogram_groups(const gpuscan *gs, gpuscan__histogram_plan *plan) {
    const gpuscan__profile *profile = &gs->device.profile;
    const gpuscan__histogram_key *own = &plan->key;
    uint32_t size = plan->sample_size, vector = gpuscan__vector(size, size);
    uint64_t samples = plan->count * plan->channels, elements = samples * plan->rows;
    uint64_t most = gpuscan__histogram_most(gs, plan);
    uint64_t per_item = own->copies == 0   ? 1
                        : own->slices == 1 ? profile->counts_least[size > 1 ? GPUSCAN__LARGE : GPUSCAN__SMALL]
                        : own->pipe        ? profile->short_vectors
                                           : 12;
    uint64_t vectors = gpuscan__ceil_div(samples, vector); /* rows with gaps: perhaps one more, each */
    plan->groups = gpuscan__ceil_div(vectors * plan->rows, plan->common.key.group * per_item);
    plan->groups = gpuscan__max(gpuscan__min(plan->groups, most), 1);
    /* local counters have 32 bits */
    plan->groups = gpuscan__max(plan->groups, elements >> 30) * own->slices;
}

/* Whether the launch that counts finishes, too: by words that count arrivals, or by a fence. */
static uint32_t gpuscan__histogram_in_launch(const gpuscan *gs, const gpuscan__histogram_plan *plan) {
    const gpuscan__histogram_key *own = &plan->key;
    uint64_t elements = plan->count * plan->channels * plan->rows;
    int small = plan->all_bins <= 4096;
    if (gs->device.int64_atomics && !own->weight && elements < (uint64_t)1 << GPUSCAN__ARRIVALS_U64 && own->copies &&
        own->merge != GPUSCAN__MERGE_GLOBAL && (small || own->slices > 1))
        return own->pipe == GPUSCAN__PIPE_SHORT && elements < (uint64_t)1 << GPUSCAN__ARRIVALS_U32 &&
                       gpuscan__histogram_most(gs, plan) < (uint64_t)1 << (32 - GPUSCAN__ARRIVALS_U32)
                   ? GPUSCAN__ARRIVALS_U32
                   : GPUSCAN__ARRIVALS_U64;
    return gs->device.fence != GPUSCAN__FENCE_NONE && small;
}

/* On a CPU it depends on the groups, not on the program. Tables are handed over by plain stores before a fence, which a
   simulator takes for a race. */
static int gpuscan__histogram_cpu_in_launch(const gpuscan *gs, const gpuscan__histogram_plan *plan) {
    uint64_t tables = plan->key.copies ? 1 : plan->groups - 1;
    int fence = gs->device.fence != GPUSCAN__FENCE_NONE &&
                (plan->key.copies || gs->device.fence != GPUSCAN__FENCE_MEM);
    return plan->groups == 1 ||
           (fence && tables * plan->all_bins * gpuscan__types[plan->counter].size <= GPUSCAN__CPU_SUM_AT_ONCE);
}

/* Whether the first group of a CPU may count in counts: if no second launch may fail to come, and the buffer may be
   read. */
static int gpuscan__histogram_in_counts(const gpuscan__histogram_plan *plan) {
    const gpuscan__range *counts = &plan->common.ranges[GPUSCAN__HISTOGRAM_COUNTS];
    return gpuscan__key_is_cpu(&plan->common.key) && !plan->key.copies && plan->in_launch &&
           !(counts->flags & CL_MEM_WRITE_ONLY);
}

static gpuscan_result gpuscan__histogram_choose(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__histogram_plan *plan = (gpuscan__histogram_plan *)common;
    gpuscan__histogram_key *own = &plan->key;
    uint64_t counters = plan->all_bins;
    gpuscan_result r;
    if (common->forced) {
        common->key = *common->forced;
        memcpy(own, common->key.own, sizeof(*own));
    } else {
        if ((r = gpuscan__histogram_local(gs, plan)) != 0)
            return r;
        gpuscan__histogram_form(gs, plan);
        own->in_launch = gpuscan__key_is_cpu(&common->key) ? 0 : gpuscan__histogram_in_launch(gs, plan);
        memcpy(common->key.own, own, sizeof(*own));
    }
    plan->in_launch = own->in_launch != 0;
    if (gpuscan__key_is_cpu(&common->key)) {
        gpuscan__histogram_cpu_groups(gs, plan);
        plan->in_launch = gpuscan__histogram_cpu_in_launch(gs, plan);
        if (!own->copies)
            counters = plan->groups * plan->all_bins;
    } else {
        gpuscan__histogram_groups(gs, plan);
    }
    memset(&common->need, 0, sizeof(common->need));
    common->need.bytes[GPUSCAN__ZEROS] = /* arrivals: words of 64 bits, or of 32 that take as much: see the kernel */
        GPUSCAN__TICKETS_SIZE + counters * (own->in_launch > 1 ? 8 : gpuscan__types[plan->counter].size);
    return GPUSCAN_SUCCESS;
}

static void gpuscan__arg_real(gpuscan__launch *launch, gpuscan_type type, double value) {
    if (type == GPUSCAN_TYPE_F64) {
        gpuscan__arg(launch, &value, sizeof(value));
    } else {
        float single = (float)value;
        gpuscan__arg(launch, &single, sizeof(single));
    }
}

static void gpuscan__arg_u64(gpuscan__launch *launch, uint64_t value) {
    cl_ulong number = value;
    gpuscan__arg(launch, &number, sizeof(number));
}

/* What a sample is compared with. */
static void gpuscan__arg_bins(gpuscan__launch *launch, const gpuscan__histogram_plan *plan) {
    if (gpuscan__is_float(plan->sample)) {
        gpuscan__arg_real(launch, plan->sample, plan->real_lower);
        gpuscan__arg_real(launch, plan->sample, plan->real_upper);
        gpuscan__arg_real(launch, plan->sample, plan->real_step);
        gpuscan__arg_real(launch, plan->sample, plan->real_step > 0 ? 1.0 / plan->real_step : 0);
    } else {
        gpuscan__arg_u64(launch, plan->lower);
        gpuscan__arg_u64(launch, plan->lower + plan->range);
        gpuscan__arg_u64(launch, plan->range);
        gpuscan__arg_u64(launch, plan->factor);
    }
}

/* Bytes of local memory: the bins, later the ticket; on a CPU the tables, each with one counter more. */
static uint64_t gpuscan__counts_shared(const gpuscan *gs, const gpuscan__histogram_plan *plan) {
    const gpuscan__key *key = &plan->common.key;
    if (plan->key.byte_tables)
        return (uint64_t)plan->key.byte_tables * 1024;
    if (gpuscan__key_is_cpu(key))
        return gpuscan__max((plan->all_bins + 1) * plan->key.copies * 4, 4);
    if (gpuscan__uses_ptx(gs, key))
        return 0; /* the kernel declares it */
    return gpuscan__local_words(&plan->key, plan->sample) * 4 + gpuscan__lanes_bytes(gs, key->group);
}

static gpuscan_result gpuscan__histogram_enqueue(gpuscan__chain *chain, const gpuscan__plan *common,
                                                 gpuscan__program *program) {
    const gpuscan__histogram_plan *plan = (const gpuscan__histogram_plan *)common;
    const gpuscan_histogram_desc *desc = (const gpuscan_histogram_desc *)common->desc;
    const gpuscan *gs = chain->gs;
    const gpuscan__key *key = &common->key;
    uint32_t counter_size = gpuscan__types[plan->counter].size, flags = common->flags;
    int in_launch = plan->in_launch;
    gpuscan__launch launch = gpuscan__launch_begin(chain, program, 0, desc->counts.mem);
    gpuscan__histogram_numbers count;
    gpuscan__histogram_finish_numbers finish;
    uint64_t groups;
    gpuscan_result r;
    if (gpuscan__histogram_in_counts(plan))
        flags |= GPUSCAN__FLAG_IN_COUNTS | (uint32_t)(plan->groups - 1) << GPUSCAN__FLAG_TABLES_SHIFT;
    else if (gpuscan__key_is_cpu(key) && !plan->key.copies)
        flags |= (uint32_t)plan->groups << GPUSCAN__FLAG_TABLES_SHIFT;
    count.samples_offset = gpuscan__arg_buffer(&launch, desc->samples);
    count.pitch = plan->pitch;
    count.count = plan->count;
    count.count_offset = gpuscan__arg_count(&launch, desc->count_buffer);
    count.rows = plan->rows;
    count.weights_offset = gpuscan__arg_buffer(&launch, desc->weights);
    count.weights_pitch = plan->weights_pitch;
    count.edges_offset = gpuscan__arg_buffer(&launch, desc->edges);
    gpuscan__arg_bins(&launch, plan);
    count.accumulators_offset = gpuscan__arg_scratch(&launch, GPUSCAN__ZEROS, 0, counter_size);
    count.counts_offset = gpuscan__arg_buffer(&launch, desc->counts);
    count.flags = flags;
    if (in_launch)
        count.flags |= GPUSCAN__FLAG_FINISH;
    r = gpuscan__launch_end(&launch, &count, sizeof(count),
                            gpuscan__grid_of(plan->groups, key->group, gpuscan__counts_shared(gs, plan), in_launch));
    if (r != 0 || in_launch)
        return r;
    launch = gpuscan__launch_begin(chain, program, 1, desc->counts.mem);
    finish.accumulators_offset = gpuscan__arg_scratch(&launch, GPUSCAN__ZEROS, 0, counter_size);
    finish.counts_offset = gpuscan__arg_buffer(&launch, desc->counts);
    finish.flags = flags;
    groups = gpuscan__min(gpuscan__ceil_div(plan->all_bins, key->group),
                          gs->device.units * (gpuscan__key_is_cpu(key) ? (uint64_t)1 : 16));
    return gpuscan__launch_end(&launch, &finish, sizeof(finish), gpuscan__grid_of(groups, key->group, 0, 1));
}

/* ---- self-test: samples of which it is certain where they belong */

static const int64_t gpuscan__below = -1, gpuscan__above = -2, gpuscan__nowhere = -3; /* instead of a bin */

/* floor(x * bins / range) without a multiplication of 128 bits: bit by bit of the quotient. range 0: 2^64. */
static int64_t gpuscan__even_bin_slowly(uint64_t x, uint64_t bins, uint64_t range) {
    uint64_t rest = 0, bin = 0;
    int bit;
    if (range && x <= UINT64_MAX / bins)
        return (int64_t)(x * bins / range);
    if (range == 0)
        return (int64_t)(((x >> 32) * bins + ((x & 0xffffffffu) * bins >> 32)) >> 32);
    for (bit = 31; bit >= 0; bit--) { /* of bins; x < range, so rest < range */
        int carry = (int)(rest >> 63), add = (int)(bins >> bit & 1);
        rest <<= 1;
        bin <<= 1;
        if (carry || rest >= range) {
            rest -= range;
            bin++;
        }
        if (add) {
            carry = rest + x < rest;
            rest += x;
            if (carry || rest >= range) {
                rest -= range;
                bin++;
            }
        }
    }
    return (int64_t)bin;
}

/* The edges that the self-test uses are so far from each other, and the first from the type's least value, that samples
   find room on both sides; the last is the type's largest value at most. */
static uint64_t gpuscan__test_whole(const gpuscan__histogram_plan *plan) {
    return ~(uint64_t)0 >> (64 - gpuscan__types[plan->sample].size * 8);
}

static uint64_t gpuscan__test_edge_step(const gpuscan__histogram_plan *plan) {
    return gpuscan__max(gpuscan__test_whole(plan) / ((uint64_t)plan->key.bins + 2), 1);
}

static uint64_t gpuscan__test_edge(const gpuscan__histogram_plan *plan, uint64_t k) {
    uint64_t step = gpuscan__test_edge_step(plan), whole = gpuscan__test_whole(plan);
    return gpuscan__min((k + (plan->key.bins < whole)) * step, whole);
}

static uint64_t gpuscan__test_lower(const gpuscan__histogram_plan *plan) {
    uint64_t least = gpuscan__types[plan->sample].kind == 's' ? gpuscan__test_whole(plan) / 2 + 1 : 0;
    return plan->key.form == GPUSCAN_BINS_EDGES ? gpuscan__wrap(plan->sample, least + gpuscan__test_edge(plan, 0))
                                                : plan->lower;
}

/* How far from there bin k begins; k = bins: the end. Even bins: ceil(k * range / bins). */
static uint64_t gpuscan__test_bin_begin(const gpuscan__histogram_plan *plan, uint64_t k) {
    uint64_t bins = plan->key.bins, quotient = plan->range / bins, rest = plan->range % bins;
    if (plan->key.form == GPUSCAN_BINS_EDGES)
        return gpuscan__test_edge(plan, k) - gpuscan__test_edge(plan, 0);
    if (plan->key.form == GPUSCAN_BINS_VALUES)
        return k;
    if (plan->range == 0) { /* 2^64 */
        quotient = (0 - bins) / bins + 1;
        rest = (0 - bins) % bins;
    }
    return k * quotient + (k * rest + bins - 1) / bins;
}

static int64_t gpuscan__test_integer_bin(const gpuscan__histogram_plan *plan, uint64_t x) {
    uint64_t lower = gpuscan__test_lower(plan), past = x - lower, range = plan->range;
    if (plan->key.form == GPUSCAN_BINS_EDGES)
        range = gpuscan__test_bin_begin(plan, plan->key.bins);
    if (gpuscan__types[plan->sample].kind == 's' ? (int64_t)x < (int64_t)lower : x < lower)
        return gpuscan__below;
    if (range && past >= range)
        return past == range && plan->key.closed ? (int64_t)plan->key.bins - 1 : gpuscan__above;
    if (plan->key.form == GPUSCAN_BINS_EDGES)
        return (int64_t)(past / gpuscan__test_edge_step(plan));
    return plan->key.form == GPUSCAN_BINS_VALUES ? (int64_t)past
                                                 : gpuscan__even_bin_slowly(past, plan->key.bins, plan->range);
}

/* Many samples lie next to bins' ends, some outside. */
static gpuscan__number gpuscan__test_integer_sample(const gpuscan__histogram_plan *plan, uint64_t i) {
    uint64_t random = gpuscan__mix(i), bin = random % plan->key.bins, past = random;
    uint64_t begin = gpuscan__test_bin_begin(plan, bin), width = gpuscan__test_bin_begin(plan, bin + 1) - begin;
    gpuscan__number x;
    if (i % 64 == 23)
        past = gpuscan__test_bin_begin(plan, plan->key.bins);
    else if (i % 64 == 31)
        past = gpuscan__test_bin_begin(plan, plan->key.bins) - 1;
    else if (i % 64 == 47)
        past = ~(uint64_t)0; /* just below */
    else if (i % 64 == 55)
        past = gpuscan__test_bin_begin(plan, plan->key.bins) + 1;
    else if (i % 8 != 7)
        past = i & 1 ? begin - (random >> 40 & 1) : begin + (random >> 32) % gpuscan__max(width, 1);
    x.bits = gpuscan__wrap(plan->sample, gpuscan__test_lower(plan) + past);
    return x;
}

/* Samples lie in the middle of bins, or at either end of all. NOWHERE: too near to an edge to be sure. */
static int64_t gpuscan__test_float_bin(const gpuscan__histogram_plan *plan, double x) {
    int edges = plan->key.form == GPUSCAN_BINS_EDGES; /* edge k is k */
    double lower = edges ? 0 : plan->real_lower, upper = edges ? plan->key.bins : plan->real_upper;
    double step = edges ? 1 : plan->real_step, place = x / step - lower / step, part;
    double most = plan->sample == GPUSCAN_TYPE_F64 ? 1e13 : 1e6;
    if (x < lower)
        return gpuscan__below;
    if (x >= upper)
        return x > upper || !plan->key.closed ? gpuscan__above : (int64_t)plan->key.bins - 1;
    if (edges)
        return (int64_t)x;
    if (lower / step < -most || upper / step > most) /* so fine that edges, or place, are rounded by a part of one */
        return gpuscan__nowhere;
    if (!(x > lower))
        return 0;
    part = place - (double)(int64_t)place;
    return part > 0.2 && part < 0.8 ? (int64_t)place : gpuscan__nowhere;
}

/* Towards 0, to what an f16 holds and gpuscan__half takes. */
static double gpuscan__whole_half(double x) {
    double part = 1.0 / 1024, magnitude = x < 0 ? -x : x;
    if (magnitude < 1.0 / 16384)
        return 0;
    for (; magnitude >= 2; magnitude /= 2)
        part *= 2;
    for (; magnitude < 1; magnitude *= 2)
        part /= 2;
    return (double)(int64_t)(x / part) * part;
}

static gpuscan__number gpuscan__test_float_sample(const gpuscan__histogram_plan *plan, uint64_t i) {
    int edges = plan->key.form == GPUSCAN_BINS_EDGES;
    double lower = edges ? 0 : plan->real_lower, upper = edges ? plan->key.bins : plan->real_upper;
    double step = edges ? 1 : plan->real_step, at = (double)(gpuscan__mix(i) % plan->key.bins) + 0.5;
    double largest = plan->sample == GPUSCAN_TYPE_F64 ? 1.7e308 : plan->sample == GPUSCAN_TYPE_F32 ? 3e38 : 65504;
    gpuscan__number x;
    x.real = lower + (edges && i % 2 == 0 ? at - 0.5 : at) * step;
    if (i % 64 == 23)
        x.real = upper;
    else if (i % 64 == 31)
        x.real = lower;
    else if (i % 8 == 7)
        x.real = i & 8 ? lower - 1 - step : upper + 1 + step;
    if (x.real > largest || x.real < -largest)
        x.real = x.real > 0 ? largest : -largest;
    if (plan->sample == GPUSCAN_TYPE_F32)
        x.real = gpuscan__single(x.real);
    if (plan->sample == GPUSCAN_TYPE_F16)
        x.real = gpuscan__whole_half(x.real);
    return x;
}

static void gpuscan__put_nan(gpuscan_type type, void *array, uint64_t i) {
    static const uint64_t nan64 = (uint64_t)0x7ff8 << 48;
    static const uint32_t nan32 = 0x7fc00000u;
    static const uint16_t nan16 = 0x7e00u;
    uint32_t size = gpuscan__types[type].size;
    const void *bits = size == 8 ? (const void *)&nan64 : size == 4 ? (const void *)&nan32 : (const void *)&nan16;
    memcpy((unsigned char *)array + i * size, bits, size);
}

static void gpuscan__test_count(const gpuscan__histogram_plan *plan, unsigned char *counts, uint64_t at,
                                uint64_t weight) {
    uint64_t size = gpuscan__types[plan->counter].size, sum64;
    uint32_t sum32;
    if (size == sizeof(sum64)) {
        memcpy(&sum64, counts + at * size, sizeof(sum64));
        sum64 += weight;
        memcpy(counts + at * size, &sum64, sizeof(sum64));
    } else {
        memcpy(&sum32, counts + at * size, sizeof(sum32));
        sum32 += (uint32_t)weight;
        memcpy(counts + at * size, &sum32, sizeof(sum32));
    }
}

/* Expressions of the self-test's own stand in for the caller's. A pixel holds a number below 64, the sum of its channels
   or a struct's last part; that and the pixel's number in its row choose one of so many values, and what it counts. */
enum { GPUSCAN__TEST_VALUES = 64 };

static int gpuscan__test_is_nan(const gpuscan__histogram_plan *plan, uint64_t i) {
    return gpuscan__is_float(plan->sample) && i % 64 == 39;
}

/* The values as bits, and how an expression gets at them. */
static void gpuscan__test_source(gpuscan__text *text, const gpuscan__histogram_plan *plan) {
    const gpuscan__type_facts *type = &gpuscan__types[plan->sample];
    const char *const get = plan->sample == GPUSCAN_TYPE_F64   ? "as_double"
                            : plan->sample == GPUSCAN_TYPE_F32 ? "as_float"
                                                               : "";
    uint32_t parts = plan->element_size % 4 == 0 ? plan->element_size / 4 : plan->element_size;
    char line[160];
    uint64_t k;
    if (plan->element == GPUSCAN_TYPE_CUSTOM) {
        snprintf(line, sizeof(line), "typedef struct { %s part[%u]; } gpuscan_test_type;\n",
                 parts < plan->element_size ? "uint" : "uchar", (unsigned)parts);
        gpuscan__text_add(text, line);
        snprintf(line, sizeof(line), "#define GPUSCAN_TEST_NUMBER(x) x.part[%u]\n", (unsigned)parts - 1);
    } else {
        static const char *const sums[] = {"0", "x", "x.x + x.y", "x.x + x.y + x.z", "x.x + x.y + x.z + x.w"};
        snprintf(line, sizeof(line), "#define GPUSCAN_TEST_NUMBER(x) ((ulong)(%s))\n", sums[plan->key.pixel_channels]);
    }
    gpuscan__text_add(text, line);
    gpuscan__text_add(text, type->size == 8 ? "constant ulong gpuscan_test_bits[] = {"
                                            : "constant uint gpuscan_test_bits[] = {");
    for (k = 0; k < GPUSCAN__TEST_VALUES; k++) {
        uint64_t bits = 0;
        uint32_t word = 0;
        if (gpuscan__test_is_nan(plan, k))
            gpuscan__put_nan(plan->sample, type->size == 8 ? (void *)&bits : (void *)&word, 0);
        else if (!gpuscan__is_float(plan->sample))
            word = (uint32_t)(bits = gpuscan__test_integer_sample(plan, k).bits);
        else
            gpuscan__put_number(plan->sample, type->size == 8 ? (void *)&bits : (void *)&word, 0,
                                gpuscan__test_float_sample(plan, k));
        if (type->size < 8)
            bits = word;
        snprintf(line, sizeof(line), "0x%llxu%s, ", (unsigned long long)bits, type->size == 8 ? "l" : "");
        gpuscan__text_add(text, line);
    }
    snprintf(line, sizeof(line), "};\n%s gpuscan_test_value(ulong at) { return %s(gpuscan_test_bits[at %% %u]); }\n",
             type->name, get, (unsigned)GPUSCAN__TEST_VALUES);
    gpuscan__text_add(text, line);
}

static gpuscan_result gpuscan__prove_expressions(gpuscan *gs, gpuscan__plan *plan, int *right) {
    gpuscan__histogram_plan stand_in = *(const gpuscan__histogram_plan *)plan;
    gpuscan_custom *texts = &stand_in.texts;
    gpuscan__text source;
    gpuscan_result r;
    memset(&source, 0, sizeof(source));
    source.allocator = &gs->allocator;
    gpuscan__test_source(&source, &stand_in);
    memset(texts, 0, sizeof(*texts));
    texts->source = source.data;
    texts->size = stand_in.element_size;
    texts->type = stand_in.element == GPUSCAN_TYPE_CUSTOM ? "gpuscan_test_type" : NULL;
    texts->convert = stand_in.key.converted ? "gpuscan_test_value(GPUSCAN_TEST_NUMBER(x) + i)" : NULL;
    if (stand_in.key.weighed)
        texts->combine = stand_in.key.converted ? "1 + (GPUSCAN_TEST_NUMBER(x) + i) % 3" : "1 + i % 3";
    stand_in.common.e.custom = texts;
    stand_in.common.is_stand_in = 1;
    if (source.failed)
        r = gpuscan__fail(gs, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "no memory for a self-test's text");
    else
        r = gpuscan__prove_in_place_of(gs, plan, &stand_in.common, right);
    gpuscan__release(&gs->allocator, source.data);
    return r;
}

/* Where rows of a self-test's samples lie, and how many pixels there are behind a row that belong to none. */
typedef struct gpuscan__test_rows {
    uint64_t rows, pixels, gap;
} gpuscan__test_rows;

/* The bin of test sample i, an outside one, or NOWHERE; number: the sample. */
static int64_t gpuscan__test_bin(const gpuscan__histogram_plan *plan, uint64_t i, gpuscan__number *number) {
    if (!gpuscan__is_float(plan->sample)) {
        *number = gpuscan__test_integer_sample(plan, i);
        return gpuscan__test_integer_bin(plan, number->bits);
    }
    *number = gpuscan__test_float_sample(plan, i);
    return gpuscan__test_is_nan(plan, i) ? gpuscan__nowhere : gpuscan__test_float_bin(plan, number->real);
}

/* Counts what belongs to a bin, of channel number slot of those that count. */
static void gpuscan__test_counted(const gpuscan__histogram_plan *plan, unsigned char *counts, uint64_t slot,
                                  int64_t bin, uint64_t weight) {
    if (bin < 0 && plan->key.outside == GPUSCAN_OUTSIDE_CLAMP && bin != gpuscan__nowhere)
        bin = bin == gpuscan__below ? 0 : (int64_t)plan->key.bins - 1;
    else if (bin < 0 && plan->key.outside == GPUSCAN_OUTSIDE_COUNT && bin != gpuscan__nowhere)
        bin = (int64_t)plan->key.bins + (bin == gpuscan__above);
    if (bin >= 0 && counts)
        gpuscan__test_count(plan, counts, slot * plan->channel_bins + (uint64_t)bin, weight);
}

/* A pixel's samples, the first of which is number i; counts: where they are to be counted, or NULL. */
static void gpuscan__test_pixel(const gpuscan__histogram_plan *plan, uint64_t i, uint64_t weight,
                                unsigned char *samples, unsigned char *counts) {
    uint64_t slot = 0;
    uint32_t c;
    for (c = 0; c < plan->channels; c++, i++) {
        gpuscan__number x;
        int64_t bin = gpuscan__test_bin(plan, i, &x);
        if (bin == gpuscan__nowhere)
            gpuscan__put_nan(plan->sample, samples, c);
        else
            gpuscan__put_number(plan->sample, samples, c, x);
        if (plan->key.mask >> c & 1)
            gpuscan__test_counted(plan, counts, slot++, bin, weight);
    }
}

/* A pixel that expressions see as number i of its row. */
static void gpuscan__test_expressed(const gpuscan__histogram_plan *plan, uint64_t random, uint64_t i, uint64_t weight,
                                    unsigned char *pixel, unsigned char *counts) {
    uint64_t number = random % GPUSCAN__TEST_VALUES, rest = number;
    gpuscan__number x;
    int64_t bin;
    uint32_t c;
    if (plan->element == GPUSCAN_TYPE_CUSTOM) {
        uint32_t size = plan->element_size, last = size % 4 == 0 ? 4 : 1, word = (uint32_t)number;
        for (c = 0; c < size - last; c++)
            pixel[c] = (unsigned char)(random >> c % 8 * 8);
        if (last == 4)
            memcpy(pixel + c, &word, sizeof(word));
        else
            pixel[c] = (unsigned char)word;
    }
    for (c = 0; c < plan->key.pixel_channels; c++) {
        uint64_t part = c + 1 < plan->key.pixel_channels ? (random >> 8 * (c + 1)) % (rest + 1) : rest;
        rest -= part;
        x.bits = part;
        if (gpuscan__is_float(plan->element))
            x.real = (double)part;
        gpuscan__put_number(plan->element, pixel, c, x);
    }
    bin = gpuscan__test_bin(plan, (number + i) % GPUSCAN__TEST_VALUES, &x);
    gpuscan__test_counted(plan, counts, 0, bin, plan->key.weighed ? 1 + (number + i) % 3 : weight);
}

/* Gaps hold samples that would be counted. */
static void gpuscan__test_samples(const gpuscan__histogram_plan *plan, const gpuscan__test_rows *shape,
                                  unsigned char *samples, unsigned char *weights, unsigned char *counts) {
    uint64_t size = (uint64_t)plan->element_size * plan->pixel_elements, pitch = shape->pixels + shape->gap, p, i;
    memset(counts, 0, (size_t)(plan->all_bins * gpuscan__types[plan->counter].size));
    for (p = i = 0; p < shape->rows * pitch - shape->gap; p++) {
        int inside = p % pitch < shape->pixels;
        gpuscan__number weight;
        weight.bits = weights ? 1 + gpuscan__mix(p) % 3 : 1;
        if (weights)
            gpuscan__put_number(plan->weight, weights, p, weight);
        else if (plan->key.weighed)
            weight.bits = 1 + p % pitch % 3;
        if (plan->key.converted)
            gpuscan__test_expressed(plan, gpuscan__mix(p), p % pitch, weight.bits, samples + p * size,
                                    inside ? counts : NULL);
        else
            gpuscan__test_pixel(plan, inside ? i : 0, weight.bits, samples + p * size, inside ? counts : NULL);
        if (inside)
            i += plan->channels;
    }
}

static void gpuscan__test_edges(const gpuscan__histogram_plan *plan, unsigned char *edges) {
    gpuscan_type type = plan->sample == GPUSCAN_TYPE_F16 ? GPUSCAN_TYPE_F32 : plan->sample;
    uint64_t k;
    for (k = 0; k <= plan->key.bins; k++) {
        gpuscan__number edge;
        if (gpuscan__is_float(type))
            edge.real = (double)k;
        else
            edge.bits = gpuscan__test_lower(plan) + gpuscan__test_bin_begin(plan, k);
        gpuscan__put_number(type, edges, k, edge);
    }
}

/* One row; or for programs that take rows with gaps two, and in another round many. */
static gpuscan__test_rows gpuscan__test_rows_of(const gpuscan__histogram_plan *of, const gpuscan__program *program,
                                                unsigned round) {
    gpuscan__test_rows shape = {1, 3 * (uint64_t)program->key.tile / of->channels + 5, 0};
    if (of->key.pipe == GPUSCAN__PIPE_ROWS) {
        uint64_t rows = round ? gpuscan__max(shape.pixels / 11, 2) : 2;
        shape.rows = rows;
        shape.pixels = shape.pixels / rows;
        shape.gap = 3;
    }
    return shape;
}

/* With the call's own bins, but of edges. */
static gpuscan_result gpuscan__histogram_test_round(gpuscan *gs, const gpuscan__plan *common,
                                                    gpuscan__program *program, unsigned round, int *right) {
    const gpuscan__histogram_plan *of = (const gpuscan__histogram_plan *)common;
    gpuscan_histogram_desc desc = *(const gpuscan_histogram_desc *)common->desc;
    gpuscan_buffer none = {NULL, 0};
    uint32_t edge_size = of->sample == GPUSCAN_TYPE_F16 ? 4 : gpuscan__types[of->sample].size;
    gpuscan__test_rows shape = gpuscan__test_rows_of(of, program, round);
    uint64_t pixels = shape.rows * (shape.pixels + shape.gap) - shape.gap;
    gpuscan__histogram_plan plan;
    gpuscan__test test;
    gpuscan__test_array *samples, *counts, *weights = NULL, *edges = NULL;
    memset(&test, 0, sizeof(test));
    test.gs = gs;
    memset(&desc.call, 0, sizeof(desc.call));
    desc.samples = desc.counts = desc.edges = desc.weights = desc.count_buffer = none;
    desc.host_edges = desc.host_weights = NULL;
    if (common->e.custom) {
        desc.custom = common->e.custom;
        desc.weight = common->e.custom->combine;
    }
    desc.count = shape.pixels;
    desc.rows = shape.rows;
    desc.pitch = desc.weights_pitch = shape.pixels + shape.gap;
    desc.accumulate = 0;
    samples = gpuscan__test_array_of(&test, &desc.samples, pixels * of->pixel_elements * of->element_size);
    counts = gpuscan__test_array_of(&test, &desc.counts, of->all_bins * gpuscan__types[of->counter].size);
    if (of->key.weight && !of->key.weighed)
        weights = gpuscan__test_array_of(&test, &desc.weights, pixels * gpuscan__types[of->weight].size);
    if (of->key.form == GPUSCAN_BINS_EDGES)
        edges = gpuscan__test_array_of(&test, &desc.edges,
                                       ((uint64_t)of->key.bins + 1) * edge_size);
    if (!test.failed) {
        gpuscan__test_samples(of, &shape, samples->before, weights ? weights->before : NULL, counts->expected);
        gpuscan__test_filled(samples);
        if (weights)
            gpuscan__test_filled(weights);
        if (edges) {
            gpuscan__test_edges(of, edges->before);
            gpuscan__test_filled(edges);
        }
    }
    gpuscan__plan_begin(&plan.common, sizeof(plan), common->operation, &desc, &desc.call);
    return gpuscan__test_run(&test, &plan.common, program, &desc.call, right);
}

/* Bins that do not fit a mebibyte are not worth it. */
static gpuscan_result gpuscan__histogram_self_test(gpuscan *gs, const gpuscan__plan *common,
                                                   gpuscan__program *program, int *right) {
    const gpuscan__histogram_plan *of = (const gpuscan__histogram_plan *)common;
    unsigned rounds = of->key.pipe == GPUSCAN__PIPE_ROWS ? 2 : 1;
    if (of->all_bins * gpuscan__types[of->counter].size > GPUSCAN__MIB)
        rounds = 0;
    return gpuscan__test_rounds(gpuscan__histogram_test_round, rounds, gs, common, program, right);
}

GPUSCAN__OPERATION(histogram, 1, 1);

GPUSCAN_API gpuscan_result gpuscan_histogram_host(gpuscan *gs, const void *samples, void *counts, uint64_t count,
                                                  const gpuscan_histogram_desc *desc) {
    gpuscan_histogram_desc copy;
    gpuscan__histogram_plan plan;
    gpuscan__host_call host;
    gpuscan_result r;
    if ((r = gpuscan__enter_host(gs, desc, &copy, sizeof(copy), &copy.call)) != 0)
        return r;
    if (copy.samples.mem || copy.counts.mem || copy.edges.mem || copy.weights.mem || copy.samples.offset ||
        copy.counts.offset || copy.edges.offset || copy.weights.offset || copy.count)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "samples, counts, edges, weights and count of the desc must be zero");
    copy.count = count;
    gpuscan__host_begin(&host, gs);
    gpuscan__host_add(&host, "samples", samples, &copy.samples);
    if (copy.form == GPUSCAN_BINS_EDGES)
        gpuscan__host_add(&host, "edges", copy.host_edges, &copy.edges);
    if (copy.host_weights)
        gpuscan__host_add(&host, "weights", copy.host_weights, &copy.weights);
    gpuscan__host_add(&host, "counts", counts, &copy.counts);
    gpuscan__plan_begin(&plan.common, sizeof(plan), &gpuscan__histogram_operation, &copy, &copy.call);
    return gpuscan__host_do(&host, &plan.common, sizeof(plan), &copy.call);
}

/* [SELECT] --------------------------------------------------------------------------------------------------------- */

/* The elements, unless only indices or payloads are wanted, and the payloads. */
enum { GPUSCAN__MAX_OUTPUTS = 1 + GPUSCAN_MAX_PAYLOADS };

typedef struct gpuscan__select_key {
    uint32_t by, invert;
    uint32_t index_size; /* 0: none are wanted */
    uint32_t moves;      /* outputs go to scratch and are moved from there */
    uint32_t outputs, sizes[GPUSCAN__MAX_OUTPUTS];
    uint32_t has_dst; /* it is the first output */
} gpuscan__select_key;
GPUSCAN__ASSERT(sizeof(gpuscan__select_key) <= GPUSCAN__KEY_OWN * sizeof(uint32_t), select_key_fits)

typedef struct gpuscan__select_plan {
    gpuscan__plan common;
    gpuscan__select_key key;
    uint32_t size;            /* of an element */
    uint32_t index_size;      /* of an index */
    uint64_t units;           /* elements of what decides: see [SELECT] in kernels.cl.inc */
    uint64_t capacity;        /* not 0 but where count is */
    uint32_t items, limit;    /* of the dispatch */
    int shows_in_place;       /* its buffers do */
    uint64_t tiles, ahead;
    uint32_t parts, part_tiles;
    uint64_t moved;           /* bytes of PLAIN scratch before what is moved: the total, and then each output */
} gpuscan__select_plan;

#define GPUSCAN__SELECT_NUMBERS(X)                                                                                     \
    X(src_offset) X(count) X(count_offset) X(tiles) X(ahead) X(parts) X(part_tiles) X(states_offset) X(epoch)          \
    X(capacity) X(indices_offset) X(tally_offset) X(dispatch_offset) X(items) X(limit) X(flags) X(from0_offset)        \
    X(from1_offset) X(from2_offset) X(from3_offset) X(from4_offset) X(from5_offset) X(from6_offset) X(from7_offset)    \
    X(from8_offset) X(to0_offset) X(to1_offset) X(to2_offset) X(to3_offset) X(to4_offset) X(to5_offset) X(to6_offset)  \
    X(to7_offset) X(to8_offset)
GPUSCAN__NUMBERS(select, GPUSCAN__SELECT_NUMBERS)

/* The first two kernels of several passes are the scan's. */
enum { GPUSCAN__SELECT_PARTS = GPUSCAN__SCAN_CARRIES + 1, GPUSCAN__SELECT_MOVE };

static gpuscan__select_key gpuscan__select_key_of(const gpuscan__key *key) {
    gpuscan__select_key own;
    memcpy(&own, key->own, sizeof(own));
    return own;
}

static const char *const *gpuscan__select_kernels(const gpuscan__key *key) {
    static const char *const multi_pass[] = {"gpuscan_scan_sums", "gpuscan_scan_carries", "gpuscan_select_parts",
                                             "gpuscan_select_move", NULL};
    static const char *const multi_pass_home[] = {"gpuscan_scan_sums", "gpuscan_scan_carries", "gpuscan_select_parts",
                                                  NULL};
    static const char *const single[3][3] = {{"gpuscan_select_look_back", "gpuscan_select_move", NULL},
                                             {"gpuscan_select_ahead", "gpuscan_select_move", NULL},
                                             {"gpuscan_select_look_back_cpu", "gpuscan_select_move", NULL}};
    static const char *const single_home[3][2] = {
        {"gpuscan_select_look_back", NULL}, {"gpuscan_select_ahead", NULL}, {"gpuscan_select_look_back_cpu", NULL}};
    gpuscan_strategy strategy = gpuscan__key_strategy(key);
    int moves = gpuscan__select_key_of(key).moves != 0;
    int form = gpuscan__key_is_cpu(key) ? 2 : strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD;
    if (!gpuscan__is_single_pass(strategy))
        return moves ? multi_pass : multi_pass_home;
    return moves ? single[form] : single_home[form];
}

/* Elements are moved in words: of the largest power of two up to 16 bytes that divides their size. */
static uint32_t gpuscan__word_of(uint32_t size) {
    uint32_t power = size & (~size + 1);
    return power < 16 ? power : 16;
}

/* Elements of src that a lane loads at once. */
static uint32_t gpuscan__select_vector(const gpuscan__elements *e) {
    return e->selects == GPUSCAN__SELECTS_BITS ? 1 : gpuscan__vector(e->src_size, e->src_size);
}

static const char *gpuscan__word_name(uint32_t word) {
    return word == 16 ? "uint4" : word == 8 ? "uint2" : word == 4 ? "uint" : word == 2 ? "ushort" : "uchar";
}

/* Whether a tile's kept elements are listed themselves: a predicate has loaded them, so they are not read again. */
static int gpuscan__select_stages(const gpuscan__select_key *key) {
    return key->by == GPUSCAN_SELECT_PREDICATE && key->has_dst && key->sizes[0] == gpuscan__word_of(key->sizes[0]) &&
           key->sizes[0] <= 8;
}

/* Whether their places are: for all other outputs. */
static int gpuscan__select_lists_places(const gpuscan__select_key *key) {
    return key->index_size || key->outputs > (uint32_t)gpuscan__select_stages(key);
}

/* The outputs from one on, as a list for the kernels. */
static void gpuscan__define_outputs(gpuscan__text *text, const char *name, const gpuscan__select_key *key,
                                    uint32_t from) {
    char line[64];
    uint32_t k;
    snprintf(line, sizeof(line), "#define GPUSCAN_%s(X)", name);
    gpuscan__text_add(text, line);
    for (k = from; k < key->outputs; k++) {
        uint32_t word = gpuscan__word_of(key->sizes[k]);
        snprintf(line, sizeof(line), " X(%u, %s, %uu)", (unsigned)k, gpuscan__word_name(word),
                 (unsigned)(key->sizes[k] / word));
        gpuscan__text_add(text, line);
    }
    gpuscan__text_add(text, "\n");
}

static void gpuscan__select_define(gpuscan__text *text, const gpuscan *gs, const gpuscan__plan *plan) {
    gpuscan__select_key own = gpuscan__select_key_of(&plan->key);
    gpuscan_strategy strategy = gpuscan__key_strategy(&plan->key);
    int stages = gpuscan__select_stages(&own);
    gpuscan__define(text, "SELECT_NUMBERS", gpuscan__select_numbers_text);
    if (!gpuscan__is_single_pass(strategy)) {
        gpuscan__define(text, "SCAN_SUMS_NUMBERS", gpuscan__scan_sums_numbers_text);
        gpuscan__define(text, "SCAN_CARRIES_NUMBERS", gpuscan__scan_carries_numbers_text);
    }
    gpuscan__define_number(text, "SELECT", 1);
    gpuscan__define_number(text, "BITS", own.by == GPUSCAN_SELECT_BITS);
    gpuscan__define_number(text, "INVERT", own.invert);
    gpuscan__define_number(text, "INDEX_SIZE", own.index_size);
    gpuscan__define_number(text, "MOVES", own.moves);
    gpuscan__define_outputs(text, "OUTPUTS", &own, 0);
    gpuscan__define_outputs(text, "OUTPUTS_GATHERED", &own, (uint32_t)stages);
    gpuscan__define_number(text, "STAGES", (uint64_t)stages);
    if (stages)
        gpuscan__define(text, "STAGED", gpuscan__word_name(gpuscan__word_of(own.sizes[0])));
    gpuscan__define_number(text, "PLACES", (uint64_t)gpuscan__select_lists_places(&own));
    gpuscan__define_number(text, "LIST_AT", gpuscan__key_shared_bytes(gs, &plan->key, plan->e.t_size));
    gpuscan__define_number(text, "FLAG_BYTES", own.by == GPUSCAN_SELECT_FLAGS && plan->e.src_size == 1);
    gpuscan__define_operation(text, gs, plan,
                              gpuscan__is_single_pass(strategy) ? "SELECT_SINGLE_PASS" : "SELECT_MULTI_PASS",
                              gpuscan__select_vector(&plan->e), 0, strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 0);
}

/* Counts up to this are counted in 32 bits. (For tests, which have no memory for more.) */
#ifndef GPUSCAN__SELECT_NARROW
#define GPUSCAN__SELECT_NARROW UINT32_MAX
#endif

/* What decides, as elements that become numbers of what is kept: type, flag_type, by, invert and custom. */
static gpuscan_result gpuscan__select_elements(gpuscan *gs, gpuscan__select_plan *plan) {
    const gpuscan_select_desc *desc = (const gpuscan_select_desc *)plan->common.desc;
    gpuscan__elements *e = &plan->common.e;
    gpuscan_type type = desc->type ? desc->type : GPUSCAN_TYPE_U32, flag_type = desc->flag_type;
    int by_predicate = desc->by == GPUSCAN_SELECT_PREDICATE;
    if ((unsigned)desc->by > GPUSCAN_SELECT_PREDICATE)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "by is no gpuscan_select_by");
    if ((unsigned)type >= GPUSCAN_TYPE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "type is no gpuscan_type");
    if ((unsigned)flag_type >= GPUSCAN_TYPE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "flag_type is no gpuscan_type");
    if ((type == GPUSCAN_TYPE_CUSTOM || by_predicate) && !desc->custom)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom is NULL, but type is CUSTOM or by PREDICATE");
    if (type == GPUSCAN_TYPE_CUSTOM && (desc->custom->size == 0 || desc->custom->size > GPUSCAN__CUSTOM_MOST ||
                                        (by_predicate && !desc->custom->type)))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "custom->type is NULL, or custom->size is not from 1 to 1024");
    if (by_predicate && !desc->custom->select)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->select is NULL, but by is PREDICATE");
    if (by_predicate && (desc->flags.mem || flag_type))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "flags: PREDICATE takes none");
    plan->size = type == GPUSCAN_TYPE_CUSTOM ? (uint32_t)desc->custom->size : gpuscan__types[type].size;
    e->src = by_predicate                          ? type
             : desc->by == GPUSCAN_SELECT_BITS     ? GPUSCAN_TYPE_U32
             : flag_type == GPUSCAN_TYPE_DEFAULT   ? GPUSCAN_TYPE_U8
                                                   : flag_type;
    if (!by_predicate && (gpuscan__types[e->src].kind != 'u' || (desc->by == GPUSCAN_SELECT_BITS && flag_type &&
                                                                 flag_type != GPUSCAN_TYPE_U32)))
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE,
                             "flag_type: FLAGS are u8, u16, u32 or u64, and BITS lie in u32");
    e->dst = plan->common.forced                   ? (gpuscan_type)plan->common.forced->dst
             : desc->count > GPUSCAN__SELECT_NARROW ? GPUSCAN_TYPE_U64
                                                    : GPUSCAN_TYPE_U32;
    e->op = GPUSCAN_OP_ADD;
    e->commutes = 1;
    e->selects = desc->by == GPUSCAN_SELECT_BITS ? GPUSCAN__SELECTS_BITS : GPUSCAN__SELECTS_ELEMENTS;
    e->inverts = desc->invert != 0;
    e->src_size = by_predicate ? plan->size : gpuscan__types[e->src].size;
    e->dst_size = e->result_size = e->t_size = gpuscan__types[e->dst].size;
    if (by_predicate) {
        e->custom = desc->custom;
        e->convert = desc->custom->select;
        return gpuscan__check_type(gs, "type", type);
    }
    return GPUSCAN_SUCCESS;
}

static int gpuscan__same_place(gpuscan_buffer a, gpuscan_buffer b) {
    return a.mem && a.mem == b.mem && a.offset == b.offset;
}

/* src, flags, dst, indices, as ranges. Those that are there for nothing are none. */
static gpuscan_result gpuscan__select_ranges(gpuscan *gs, gpuscan__select_plan *plan) {
    gpuscan__plan *common = &plan->common;
    const gpuscan_select_desc *desc = (const gpuscan_select_desc *)common->desc;
    const gpuscan__elements *e = &common->e;
    int by_predicate = desc->by == GPUSCAN_SELECT_PREDICATE;
    uint64_t elements;
    gpuscan__range *range;
    gpuscan_result r;
    if ((r = gpuscan__extent(gs, "src", desc->count, 1, desc->count, plan->size, &elements)) != 0 ||
        (r = gpuscan__extent(gs, "flags", by_predicate ? 0 : plan->units, 1, 0, e->src_size, &elements)) != 0 ||
        (r = gpuscan__extent(gs, "indices", plan->capacity, 1, 0, plan->index_size, &elements)) != 0)
        return r;
    if (by_predicate || plan->key.has_dst || common->from_host) {
        range = gpuscan__input(common, "src", desc->src, desc->count, plan->size);
        range->in_place = 1;
        range->required = desc->count > 0 && (by_predicate || plan->key.has_dst || !common->is_run);
    }
    if (!by_predicate) {
        range = gpuscan__input(common, "flags", desc->flags, plan->units, e->src_size);
        range->in_place = desc->by == GPUSCAN_SELECT_FLAGS;
    }
    range = gpuscan__output(common, "dst", desc->dst, plan->capacity, plan->size);
    range->in_place = range->shorter = range->partial = 1;
    range->required = 0;
    range = gpuscan__output(common, "indices", desc->indices, plan->capacity, plan->index_size);
    range->partial = 1;
    range->required = 0;
    return GPUSCAN_SUCCESS;
}

/* The outputs, of which a call that is prepared may not say that there is dst. */
static void gpuscan__select_outputs(gpuscan__select_plan *plan) {
    const gpuscan_select_desc *desc = (const gpuscan_select_desc *)plan->common.desc;
    gpuscan__select_key *key = &plan->key;
    uint32_t k;
    key->by = (uint32_t)desc->by;
    key->invert = (uint32_t)plan->common.e.inverts;
    key->has_dst = desc->dst.mem || (!plan->common.is_run && !desc->indices.mem && desc->payload_count == 0);
    plan->shows_in_place = desc->dst.mem && (gpuscan__same_place(desc->src, desc->dst) ||
                                             gpuscan__same_place(desc->flags, desc->dst));
    if (key->has_dst)
        key->sizes[key->outputs++] = plan->size;
    for (k = 0; k < desc->payload_count; k++) {
        key->sizes[key->outputs++] = (uint32_t)desc->payloads[k].size;
        plan->shows_in_place |= gpuscan__same_place(desc->payloads[k].src, desc->payloads[k].dst);
    }
}

static gpuscan_result gpuscan__select_resolve(gpuscan *gs, gpuscan__plan *common) {
    static const char *const fields[] = GPUSCAN__TALLY_FIELDS("selected");
    gpuscan__select_plan *plan = (gpuscan__select_plan *)common;
    const gpuscan_select_desc *desc = (const gpuscan_select_desc *)common->desc;
    uint32_t index_size;
    size_t i;
    gpuscan_result r;
    if ((r = gpuscan__select_elements(gs, plan)) != 0 ||
        (r = gpuscan__resolve_u32_or_u64(gs, "index_type", desc->index_type, &index_size)) != 0)
        return r;
    if (desc->host_indices)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "host_indices is for gpuscan_select_host");
    if (desc->indices.mem && index_size == 4 && desc->count > (uint64_t)1 << 32)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "index_type: more than 2^32 elements need u64");
    plan->capacity = desc->capacity && desc->capacity < desc->count ? desc->capacity : desc->count;
    plan->units = desc->by == GPUSCAN_SELECT_BITS ? gpuscan__ceil_div(desc->count, 32) : desc->count;
    plan->index_size = index_size;
    plan->key.index_size = desc->indices.mem ? index_size : 0;
    /* checks payload_count */
    if ((r = gpuscan__resolve_payloads(gs, common, desc->payloads, desc->payload_count, desc->count, plan->capacity,
                                       2)) != 0)
        return r;
    gpuscan__select_outputs(plan);
    if ((r = gpuscan__select_ranges(gs, plan)) != 0)
        return r;
    for (i = 0; i < common->range_count; i++) /* but for the tally, which says 0 then */
        common->ranges[i].idle = 1;
    if ((r = gpuscan__resolve_tally(gs, common, fields, &desc->selected, desc->count, plan->capacity, &plan->items,
                                    &plan->limit)) != 0 ||
        (r = gpuscan__resolve_count(gs, common, desc->count_buffer, desc->count_type)) != 0)
        return r;
    if (!common->is_run && !common->from_host) /* the buffers say whether it is in place: the scratch is larger */
        for (i = 0; i < common->range_count; i++)
            common->ranges[i].in_place = 0;
    common->is_nothing = !desc->selected.count.mem && !desc->selected.dispatch.mem &&
                         (desc->count == 0 || (plan->key.outputs == 0 && plan->key.index_size == 0));
    gpuscan__key_elements(common);
    return GPUSCAN_SUCCESS;
}

/* Bytes that all outputs have of an element. */
static uint64_t gpuscan__select_bytes(const gpuscan__select_key *key) {
    uint64_t bytes = key->index_size;
    uint32_t k;
    for (k = 0; k < key->outputs; k++)
        bytes += key->sizes[k];
    return bytes;
}

/* Local memory of a group: beside all else what is listed of its tile. */
static uint64_t gpuscan__select_shared(const gpuscan *gs, const gpuscan__key *key, const gpuscan__select_key *own,
                                       const gpuscan__elements *e) {
    uint64_t unit = e->selects == GPUSCAN__SELECTS_BITS ? 32 : 1, bytes = 0;
    if (gpuscan__key_is_cpu(key))
        return 16;
    if (gpuscan__select_stages(own))
        bytes += own->sizes[0];
    if (gpuscan__select_lists_places(own))
        bytes += 2;
    return gpuscan__shared_bytes(gs, e->t_size, key->group, key->vectors) + key->tile * unit * bytes;
}

/* As gpuscan__fit. */
static void gpuscan__select_fit(const gpuscan *gs, gpuscan__select_plan *plan, uint32_t group, uint32_t vectors) {
    gpuscan__plan *common = &plan->common;
    const gpuscan__elements *e = &common->e;
    gpuscan__key *key = &common->key;
    uint32_t vector = gpuscan__select_vector(e), width = gs->device.lane_width, most = gs->device.profile.select_tile;
    uint32_t unit = e->selects == GPUSCAN__SELECTS_BITS ? 32 : 1;
    if (gpuscan__key_is_cpu(key)) {
        uint64_t bytes = e->src_size + unit * gpuscan__select_bytes(&plan->key);
        key->group = key->vectors = 1;
        key->tile = (uint32_t)gpuscan__max(gs->device.profile.chunk / bytes, 64);
        return;
    }
    group = gpuscan__lanes_group(gs, common, (uint32_t)gpuscan__min(group, common->group_limit));
    for (;;) {
        key->group = group;
        key->vectors = vectors;
        key->tile = group * vectors * vector;
        if (vectors > 1 && (vectors * vector * e->src_size > 128 || key->tile * unit > most))
            vectors /= 2;
        else if (key->tile * unit <= most &&
                 gpuscan__select_shared(gs, key, &plan->key, e) <= gs->device.local_memory)
            return;
        else if (vectors > 1)
            vectors /= 2;
        else if (group > 1)
            group = group / 2 > width ? group / 2 / width * width : (uint32_t)gpuscan__power_of_two_below(group / 2);
        else
            return;
    }
}

static int gpuscan__select_matches(const gpuscan__tuning *row, uint64_t bytes, const gpuscan__select_plan *plan) {
    gpuscan_strategy forced = plan->common.call->strategy;
    return row->up_to >= bytes && (!row->src_size || row->src_size == plan->common.e.src_size) &&
           (row->size != 1 || plan->key.outputs == 0) && (row->size < 2 || plan->key.outputs >= row->size) &&
           (forced == GPUSCAN_STRATEGY_AUTO || forced == row->strategy);
}

/* The tuning of the size, of the forced strategy's rows if there is one: the profile's for selections, or a scan's. */
static gpuscan__tuning gpuscan__select_tuning(const gpuscan *gs, const gpuscan__select_plan *plan) {
    const gpuscan__profile *profile = &gs->device.profile;
    gpuscan__tuning found = profile->scan_rest;
    gpuscan_strategy forced = plan->common.call->strategy;
    uint64_t bytes = plan->units * plan->common.e.src_size;
    const gpuscan__tuning *rows = profile->select_count ? profile->select : profile->scan;
    uint32_t i;
    for (i = profile->select_count ? profile->select_count : profile->scan_count; i-- > 0;)
        if (gpuscan__select_matches(&rows[i], bytes, plan))
            found = rows[i];
    if (forced != GPUSCAN_STRATEGY_AUTO)
        found.strategy = forced;
    return found;
}

/* The key, unless it is a self-test's, and the tiles. */
static void gpuscan__select_shape(const gpuscan *gs, gpuscan__select_plan *plan, const gpuscan__tuning *tuning) {
    gpuscan__plan *common = &plan->common;
    gpuscan__key *key = &common->key;
    uint64_t tile_bytes;
    if (common->forced) {
        *key = *common->forced;
        plan->key = gpuscan__select_key_of(key);
    } else {
        key->strategy = (uint32_t)tuning->strategy;
        plan->key.moves = common->in_place || plan->shows_in_place;
        gpuscan__select_fit(gs, plan, tuning->group, tuning->vectors);
        key->word = gpuscan__is_single_pass(tuning->strategy)
                        ? gpuscan__word_bits(gs, common->e.t_size, gpuscan__whole_lanes(gs, key->group))
                        : 0;
        memcpy(key->own, &plan->key, sizeof(plan->key));
    }
    plan->tiles = gpuscan__max(gpuscan__ceil_div(plan->units, key->tile), 1);
    tile_bytes = (uint64_t)key->tile * common->e.src_size;
    if (common->e.selects == GPUSCAN__SELECTS_BITS) /* as far as elements of 4 bytes */
        tile_bytes *= 32;
    plan->ahead = common->forced ? 1 : gpuscan__min(plan->tiles, gpuscan__max(tuning->ahead / tile_bytes, 1));
}

/* What keeps the strategy from doing a call; NULL: nothing. */
static const char *gpuscan__select_misfit(const gpuscan *gs, const gpuscan__select_plan *plan,
                                          gpuscan_strategy strategy) {
    const gpuscan__key *key = &plan->common.key;
    const char *why = gpuscan__why_refused(gs, &plan->common, strategy);
    if (why || !gpuscan__is_single_pass(strategy))
        return why;
    return gpuscan__tiles_misfit(gs, key, plan->tiles, gpuscan__single_pass_groups(gs, key, plan->tiles));
}

/* Takes the portable strategy where the tuning's, or next to it the plain single pass, does not fit. */
static gpuscan_result gpuscan__select_strategy(gpuscan *gs, gpuscan__select_plan *plan) {
    gpuscan__tuning tuning = gpuscan__select_tuning(gs, plan);
    const char *why;
    gpuscan__select_shape(gs, plan, &tuning);
    why = gpuscan__select_misfit(gs, plan, tuning.strategy);
    if (why && plan->common.call->strategy != GPUSCAN_STRATEGY_AUTO)
        return gpuscan__unsupported(gs, why);
    if (why && tuning.strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD) {
        tuning.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
        gpuscan__select_shape(gs, plan, &tuning);
        why = gpuscan__select_misfit(gs, plan, tuning.strategy);
    }
    if (why) {
        tuning.strategy = gpuscan__strategies[tuning.strategy].portable;
        gpuscan__select_shape(gs, plan, &tuning);
    }
    return GPUSCAN_SUCCESS;
}

/* Bytes of scratch for an output, or the indices. */
static uint64_t gpuscan__select_room(const gpuscan__select_plan *plan, uint32_t size) {
    return gpuscan__scratch_aligned(plan->capacity * size); /* fits: the output's extent does */
}

static gpuscan_result gpuscan__select_choose(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__select_plan *plan = (gpuscan__select_plan *)common;
    uint64_t *plain = &common->need.bytes[GPUSCAN__PLAIN];
    uint32_t k;
    gpuscan_result r = gpuscan__select_strategy(gs, plan);
    if (r != 0)
        return r;
    memset(&common->need, 0, sizeof(common->need));
    if (gpuscan__is_single_pass(gpuscan__key_strategy(&common->key)))
        gpuscan__need_states(common, plan->tiles);
    else if ((r = gpuscan__cut_parts(gs, &common->key, 1, plan->tiles, &plan->parts, &plan->part_tiles)) != 0)
        return r;
    else if (plan->parts > 1)
        *plain = (uint64_t)plan->parts * common->e.t_size;
    plan->moved = *plain = gpuscan__scratch_aligned(*plain);
    if (!plan->key.moves)
        return GPUSCAN_SUCCESS;
    *plain += 64;
    for (k = 0; k <= plan->key.outputs; k++)
        if (!gpuscan__add(*plain, gpuscan__select_room(plan, k < plan->key.outputs ? plan->key.sizes[k]
                                                                                  : plan->key.index_size), plain))
            return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "scratch does not fit 64 bits");
    return GPUSCAN_SUCCESS;
}

/* Output k of a call: where it comes from and goes to. */
static void gpuscan__select_output(const gpuscan_select_desc *desc, const gpuscan__select_key *key, uint32_t k,
                                   gpuscan_buffer *from, gpuscan_buffer *to) {
    if (key->has_dst && k == 0) {
        *from = desc->src;
        *to = desc->dst;
    } else {
        *from = desc->payloads[k - key->has_dst].src;
        *to = desc->payloads[k - key->has_dst].dst;
    }
}

/* The arguments of outputs and tally, and their numbers. Those that are moved go to scratch first, or come from there. */
typedef enum gpuscan__select_way { GPUSCAN__SELECT_HOME, GPUSCAN__SELECT_TO_SCRATCH, GPUSCAN__SELECT_FROM_SCRATCH }
    gpuscan__select_way;

static void gpuscan__arg_outputs(gpuscan__launch *launch, const gpuscan__select_plan *plan, gpuscan__select_way way,
                                 gpuscan__select_numbers *numbers) {
    const gpuscan_select_desc *desc = (const gpuscan_select_desc *)plan->common.desc;
    const gpuscan__select_key *key = &plan->key;
    cl_ulong *from_offsets = &numbers->from0_offset, *to_offsets = &numbers->to0_offset;
    uint64_t at = plan->moved + 64;
    gpuscan_buffer none = {NULL, 0};
    uint32_t k;
    for (k = 0; k < key->outputs; k++) {
        uint64_t word = gpuscan__word_of(key->sizes[k]), words = key->sizes[k] / word;
        gpuscan_buffer from, to;
        gpuscan__select_output(desc, key, k, &from, &to);
        from_offsets[k] = way == GPUSCAN__SELECT_FROM_SCRATCH ? gpuscan__arg_scratch(launch, GPUSCAN__PLAIN, at, word)
                                                              : gpuscan__arg_buffer(launch, from) * words;
        to_offsets[k] = way == GPUSCAN__SELECT_TO_SCRATCH ? gpuscan__arg_scratch(launch, GPUSCAN__PLAIN, at, word)
                                                          : gpuscan__arg_buffer(launch, to) * words;
        at += gpuscan__select_room(plan, key->sizes[k]);
    }
    if (key->index_size)
        numbers->indices_offset = way == GPUSCAN__SELECT_TO_SCRATCH
                                      ? gpuscan__arg_scratch(launch, GPUSCAN__PLAIN, at, key->index_size)
                                      : gpuscan__arg_buffer(launch, desc->indices);
    numbers->capacity = plan->capacity;
    numbers->items = plan->items;
    numbers->limit = plan->limit;
    numbers->flags = plan->common.flags;
    if (way == GPUSCAN__SELECT_TO_SCRATCH) {
        const uint32_t tally = GPUSCAN__FLAG_TALLY_U32 | GPUSCAN__FLAG_TALLY_U64 | GPUSCAN__FLAG_DISPATCH;
        numbers->flags = (numbers->flags & ~(cl_ulong)tally) | GPUSCAN__FLAG_TALLY_U64;
        numbers->tally_offset = gpuscan__arg_scratch(launch, GPUSCAN__PLAIN, plan->moved, 8);
        numbers->dispatch_offset = gpuscan__arg_buffer(launch, none);
    } else {
        numbers->tally_offset = gpuscan__arg_buffer(launch, desc->selected.count);
        numbers->dispatch_offset = gpuscan__arg_buffer(launch, desc->selected.dispatch);
    }
}

/* What stands in for buffers that are not given. */
static cl_mem gpuscan__select_stand_in(const gpuscan__select_plan *plan) {
    const gpuscan_select_desc *desc = (const gpuscan_select_desc *)plan->common.desc;
    gpuscan_buffer from, to;
    if (desc->selected.count.mem || desc->selected.dispatch.mem)
        return desc->selected.count.mem ? desc->selected.count.mem : desc->selected.dispatch.mem;
    if (plan->key.index_size)
        return desc->indices.mem;
    gpuscan__select_output(desc, &plan->key, 0, &from, &to);
    return to.mem;
}

static gpuscan_buffer gpuscan__select_decides(const gpuscan_select_desc *desc) {
    return desc->by == GPUSCAN_SELECT_PREDICATE ? desc->src : desc->flags;
}

/* The sums of the parts before each. */
static gpuscan_result gpuscan__select_carries(gpuscan__chain *chain, const gpuscan__select_plan *plan,
                                              gpuscan__program *program) {
    const gpuscan__plan *common = &plan->common;
    const gpuscan_select_desc *desc = (const gpuscan_select_desc *)common->desc;
    gpuscan__row_parts of;
    memset(&of, 0, sizeof(of));
    of.src = gpuscan__select_decides(desc);
    of.count_buffer = desc->count_buffer;
    of.count = desc->count;
    of.rows = 1;
    of.groups = of.parts = plan->parts;
    of.shared = gpuscan__select_shared(chain->gs, &common->key, &plan->key, &common->e);
    of.part_tiles = plan->part_tiles;
    of.stand_in = gpuscan__select_stand_in(plan);
    return gpuscan__enqueue_carries(chain, common, program, &of);
}

/* Brings home what was put into scratch. */
static gpuscan_result gpuscan__select_move(gpuscan__chain *chain, const gpuscan__select_plan *plan,
                                           gpuscan__program *program, size_t kernel) {
    const gpuscan__key *key = &plan->common.key;
    gpuscan__launch launch = gpuscan__launch_begin(chain, program, kernel, gpuscan__select_stand_in(plan));
    uint64_t words = gpuscan__max(plan->capacity * gpuscan__select_bytes(&plan->key) / 16, 1);
    uint64_t groups = gpuscan__min(gpuscan__ceil_div(words, key->group), (uint64_t)chain->gs->device.units * 16);
    gpuscan__select_numbers numbers;
    uint64_t indices_at = plan->moved + 64;
    uint32_t k;
    for (k = 0; k < plan->key.outputs; k++)
        indices_at += gpuscan__select_room(plan, plan->key.sizes[k]);
    memset(&numbers, 0, sizeof(numbers));
    numbers.count_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, plan->moved, 8);
    numbers.src_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, indices_at,
                                              plan->key.index_size ? plan->key.index_size : 1);
    gpuscan__arg_outputs(&launch, plan, GPUSCAN__SELECT_FROM_SCRATCH, &numbers);
    return gpuscan__launch_end(&launch, &numbers, sizeof(numbers), gpuscan__grid_of(groups, key->group, 0, 1));
}

static gpuscan_result gpuscan__select_enqueue(gpuscan__chain *chain, const gpuscan__plan *common,
                                              gpuscan__program *program) {
    const gpuscan__select_plan *plan = (const gpuscan__select_plan *)common;
    const gpuscan_select_desc *desc = (const gpuscan_select_desc *)common->desc;
    const gpuscan__key *key = &common->key;
    int single = gpuscan__is_single_pass(gpuscan__key_strategy(key)), moves = plan->key.moves != 0;
    size_t kernel = single ? 0 : GPUSCAN__SELECT_PARTS;
    uint64_t groups = single ? gpuscan__single_pass_groups(chain->gs, key, plan->tiles) : plan->parts;
    gpuscan__launch launch;
    gpuscan__select_numbers numbers;
    gpuscan_result r = GPUSCAN_SUCCESS;
    if (!single && plan->parts > 1)
        r = gpuscan__select_carries(chain, plan, program);
    if (r != 0)
        return r;
    launch = gpuscan__launch_begin(chain, program, kernel, gpuscan__select_stand_in(plan));
    memset(&numbers, 0, sizeof(numbers));
    numbers.src_offset = gpuscan__arg_buffer(&launch, gpuscan__select_decides(desc));
    numbers.count = desc->count;
    numbers.count_offset = gpuscan__arg_count(&launch, desc->count_buffer);
    if (single)
        numbers.states_offset =
            gpuscan__arg_scratch(&launch, gpuscan__word_scratch(key->word), 0, key->word / 8);
    else
        numbers.states_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, 0, common->e.t_size);
    numbers.tiles = plan->tiles;
    numbers.ahead = plan->ahead;
    numbers.parts = plan->parts;
    numbers.part_tiles = plan->part_tiles;
    numbers.epoch = chain->place.epoch;
    gpuscan__arg_outputs(&launch, plan, moves ? GPUSCAN__SELECT_TO_SCRATCH : GPUSCAN__SELECT_HOME, &numbers);
    if (!single && plan->parts > 1)
        numbers.flags |= GPUSCAN__FLAG_CARRIES;
    r = gpuscan__launch_end(&launch, &numbers, sizeof(numbers),
                            gpuscan__grid_of(groups, key->group,
                                             gpuscan__select_shared(chain->gs, key, &plan->key, &common->e), !moves));
    return r != 0 || !moves ? r : gpuscan__select_move(chain, plan, program, kernel + 1);
}

/* Whether the self-test keeps element i: in one round every second, and the tiles' ends; in the other all of a tile,
   nothing of the next, and of the others one in seven. */
static int gpuscan__select_test_keeps(const gpuscan__test_shape *shape, uint64_t i) {
    if (shape->round == 0)
        return gpuscan__is_edge(shape, i) || gpuscan__mix(i) % 2 == 0;
    return i / shape->tile == 0 || (i / shape->tile != 1 && gpuscan__mix(i) % 7 == 0) || i == shape->count - 1;
}

/* What decides of an element: of a struct the first part of the stand-in, a word or a byte. */
static void gpuscan__select_test_put(const gpuscan__elements *e, unsigned char *src, uint64_t i, int keeps) {
    gpuscan__number x;
    if (e->selects == GPUSCAN__SELECTS_BITS) {
        uint32_t word;
        memcpy(&word, src + i / 32 * 4, sizeof(word));
        word = (word & ~((uint32_t)1 << i % 32)) | (uint32_t)keeps << i % 32;
        memcpy(src + i / 32 * 4, &word, sizeof(word));
        return;
    }
    if (e->src == GPUSCAN_TYPE_CUSTOM) {
        uint32_t byte;
        for (byte = 0; byte < e->src_size; byte++)
            src[i * e->src_size + byte] =
                (unsigned char)(byte >= 4 ? gpuscan__mix(i) >> byte % 8 * 8 : byte == 0 ? (uint64_t)keeps * 7 : 0);
        return;
    }
    if (gpuscan__is_float(e->src))
        x.real = keeps ? 1 + (double)(i % 3) : 0;
    else
        x.bits = keeps ? (uint64_t)1 << i % (gpuscan__types[e->src].size * 8) : 0;
    gpuscan__put_number(e->src, src, i, x);
}

/* Fills one output's source, unless it is what decides, and what it must become. */
static void gpuscan__select_test_output(const gpuscan__test_shape *shape, uint32_t size, uint64_t capacity,
                                        unsigned char *from, int fills, unsigned char *to) {
    uint64_t i, j = 0;
    uint32_t byte;
    for (i = 0; i < shape->count; i++) {
        for (byte = 0; byte < size && fills; byte++)
            from[i * size + byte] = (unsigned char)(gpuscan__mix(i + size) >> byte % 8 * 8);
        if (gpuscan__select_test_keeps(shape, i) && j < capacity)
            memcpy(to + j++ * size, from + i * size, size);
    }
}

/* Fills what decides, and what indices and tally must become. */
static void gpuscan__select_test_decides(const gpuscan__elements *e, const gpuscan__test_shape *shape,
                                         const gpuscan_select_desc *desc, unsigned char *src, unsigned char *indices,
                                         unsigned char *tally) {
    uint64_t i, kept = 0;
    for (i = 0; i < shape->count; i++) {
        gpuscan__number index;
        int keeps = gpuscan__select_test_keeps(shape, i);
        gpuscan__select_test_put(e, src, i, keeps != desc->invert);
        index.bits = i;
        if (keeps && indices && kept < desc->capacity)
            gpuscan__put_number(desc->index_type, indices, kept, index);
        kept += (uint64_t)keeps;
    }
    memcpy(tally, &kept, sizeof(kept));
}

/* The desc of a program's call, but for its buffers. */
static void gpuscan__select_test_desc(gpuscan_select_desc *desc, gpuscan_payload *payloads, gpuscan_custom *custom,
                                      const gpuscan__elements *e, const gpuscan__select_key *own,
                                      const gpuscan__test_shape *shape) {
    int by_predicate = own->by == GPUSCAN_SELECT_PREDICATE;
    uint32_t k;
    memset(desc, 0, sizeof(*desc));
    memset(custom, 0, sizeof(*custom));
    memset(payloads, 0, GPUSCAN_MAX_PAYLOADS * sizeof(*payloads));
    custom->size = by_predicate ? e->src_size : own->has_dst ? own->sizes[0] : 1;
    custom->type = custom->select = "x"; /* the program is there already */
    desc->type = by_predicate ? e->src : GPUSCAN_TYPE_CUSTOM;
    desc->by = (gpuscan_select_by)own->by;
    desc->invert = own->invert != 0;
    desc->flag_type = by_predicate ? GPUSCAN_TYPE_DEFAULT : e->src;
    desc->index_type = own->index_size == 8 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
    desc->custom = custom;
    desc->payloads = payloads;
    desc->payload_count = own->outputs - own->has_dst;
    for (k = 0; k < desc->payload_count; k++)
        payloads[k].size = own->sizes[k + own->has_dst];
    desc->count = shape->count;
    desc->capacity = shape->round ? shape->tile + shape->tile / 2 : shape->count; /* it ends in a tile */
    desc->selected.count_type = GPUSCAN_TYPE_U64;
}

static gpuscan_result gpuscan__select_test_round(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                                 unsigned round, int *right) {
    const gpuscan__elements *e = &common->e;
    gpuscan__select_key own = gpuscan__select_key_of(&program->key);
    uint64_t unit = e->selects == GPUSCAN__SELECTS_BITS ? 32 : 1;
    gpuscan__test_shape shape = gpuscan__test_shape_of(program->key.tile * unit, round);
    gpuscan__select_plan plan;
    gpuscan_select_desc desc;
    gpuscan_payload payloads[GPUSCAN_MAX_PAYLOADS];
    gpuscan_custom custom;
    gpuscan__test test;
    gpuscan__test_array *decides, *tally, *from[GPUSCAN__MAX_OUTPUTS], *to[GPUSCAN__MAX_OUTPUTS], *indices = NULL;
    int by_predicate = own.by == GPUSCAN_SELECT_PREDICATE;
    uint32_t k;
    memset(&test, 0, sizeof(test));
    test.gs = gs;
    gpuscan__select_test_desc(&desc, payloads, &custom, e, &own, &shape);
    decides = gpuscan__test_array_of(&test, by_predicate ? &desc.src : &desc.flags,
                                     gpuscan__ceil_div(shape.count, unit) * e->src_size);
    for (k = 0; k < own.outputs; k++) {
        int is_dst = own.has_dst && k == 0;
        gpuscan_payload *payload = is_dst ? payloads : &payloads[k - own.has_dst];
        from[k] = is_dst && by_predicate
                      ? decides
                      : gpuscan__test_array_of(&test, is_dst ? &desc.src : &payload->src, shape.count * own.sizes[k]);
        to[k] = gpuscan__test_array_of(&test, is_dst ? &desc.dst : &payload->dst, desc.capacity * own.sizes[k]);
    }
    if (own.index_size)
        indices = gpuscan__test_array_of(&test, &desc.indices, desc.capacity * own.index_size);
    tally = gpuscan__test_array_of(&test, &desc.selected.count, sizeof(uint64_t));
    if (!test.failed) {
        gpuscan__select_test_decides(e, &shape, &desc, decides->before, indices ? indices->expected : NULL,
                                     tally->expected);
        gpuscan__test_filled(decides);
        for (k = 0; k < own.outputs; k++) {
            gpuscan__select_test_output(&shape, own.sizes[k], desc.capacity, from[k]->before, from[k] != decides,
                                        to[k]->expected);
            gpuscan__test_filled(from[k]);
        }
    }
    gpuscan__plan_begin(&plan.common, sizeof(plan), common->operation, &desc, &desc.call);
    return gpuscan__test_run(&test, &plan.common, program, &desc.call, right);
}

static gpuscan_result gpuscan__select_self_test(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                                int *right) {
    return gpuscan__test_rounds(gpuscan__select_test_round, 2, gs, common, program, right);
}

GPUSCAN__OPERATION(select, 1, 0);

GPUSCAN_API gpuscan_result gpuscan_select_host(gpuscan *gs, const void *src, const void *flags, void *dst,
                                               uint64_t count, uint64_t *selected, const gpuscan_select_desc *desc) {
    gpuscan_select_desc copy;
    gpuscan__select_plan plan;
    gpuscan__host_call host;
    gpuscan_result r;
    if ((r = gpuscan__enter_host(gs, desc, &copy, sizeof(copy), &copy.call)) != 0)
        return r;
    if (copy.src.mem || copy.dst.mem || copy.flags.mem || copy.indices.mem || copy.src.offset || copy.dst.offset ||
        copy.flags.offset || copy.indices.offset || copy.count || copy.selected.count.mem ||
        copy.selected.count.offset || copy.selected.count_type)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "src, dst, flags, indices, selected.count and count of the desc must be zero");
    if (copy.by == GPUSCAN_SELECT_PREDICATE && flags)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "flags: PREDICATE takes none");
    copy.count = count;
    copy.selected.count_type = GPUSCAN_TYPE_U64;
    gpuscan__host_begin(&host, gs);
    if (dst || copy.by == GPUSCAN_SELECT_PREDICATE)
        gpuscan__host_add(&host, "src", src, &copy.src);
    if (copy.by != GPUSCAN_SELECT_PREDICATE)
        gpuscan__host_add(&host, "flags", flags, &copy.flags);
    if (dst)
        gpuscan__host_add(&host, "dst", dst, &copy.dst);
    if (copy.host_indices)
        gpuscan__host_add(&host, "indices", copy.host_indices, &copy.indices);
    if (selected)
        gpuscan__host_add(&host, "selected.count", selected, &copy.selected.count);
    copy.host_indices = NULL;
    gpuscan__plan_begin(&plan.common, sizeof(plan), &gpuscan__select_operation, &copy, &copy.call);
    return gpuscan__host_do(&host, &plan.common, sizeof(plan), &copy.call);
}

/* [SORT] ----------------------------------------------------------------------------------------------------------- */

typedef struct gpuscan__sort_key {
    uint32_t digit_bits;
    uint32_t wide;  /* places and indices have 64 bits */
    uint32_t small; /* all passes in one launch, by one work-item or one group */
    uint32_t copies, loads; /* one pass: of a group's counts, and a work-item's at once */
} gpuscan__sort_key;
GPUSCAN__ASSERT(sizeof(gpuscan__sort_key) <= GPUSCAN__KEY_OWN * sizeof(uint32_t), sort_key_fits)

/* Elements of the caller's, or in the scratch so many bytes on. */
typedef struct gpuscan__sort_place {
    gpuscan_buffer buffer;
    uint64_t past;
} gpuscan__sort_place;

/* How keys, or the values that move with them, go through the passes: the first reads from, the passes 0, 2, ... write
   to to[0] and the others to to[1], and the result is wanted in dst. */
typedef struct gpuscan__sort_way {
    gpuscan__sort_place from, to[2], dst;
    uint32_t size;
    int has_dst; /* 0: it may stay where the last pass leaves it */
} gpuscan__sort_way;

typedef struct gpuscan__sort_plan {
    gpuscan__plan common;
    gpuscan__sort_key key;
    uint32_t begin, end, width, passes; /* the digit of pass p: width bits from begin + p * width on, the last's fewer */
    uint64_t flip;
    uint32_t key_size, element_size, index_size;
    int wants_indices, by_index; /* permutation is given; the values are indices */
    size_t keys_range, payloads_range; /* the first of each, and its destination behind it */
    uint64_t parts, table_at, moved_at; /* one pass: the table is the states */
    uint64_t tiles;
    gpuscan__sort_way keys, values; /* values.size 0: none */
    unsigned commands;
} gpuscan__sort_plan;

#define GPUSCAN__SORT_KEYS_NUMBERS(X) X(src_offset) X(keys_offset) X(count) X(count_offset) X(flags)
#define GPUSCAN__SORT_GATHER_NUMBERS(X)                                                                                \
    X(src_offset) X(dst_offset) X(indices_offset) X(count) X(count_offset) X(parts) X(unit) X(flags)
#define GPUSCAN__SORT_COUNT_NUMBERS(X)                                                                                 \
    X(keys_offset) X(table_offset) X(count) X(count_offset) X(flip) X(shift) X(mask) X(flags)
#define GPUSCAN__SORT_PLACES_NUMBERS(X) X(table_offset) X(count)
#define GPUSCAN__SORT_SCATTER_NUMBERS(X)                                                                               \
    X(keys_offset) X(keys_dst_offset) X(values_offset) X(values_dst_offset) X(table_offset) X(count) X(count_offset)   \
    X(flip) X(shift) X(mask) X(flags)
#define GPUSCAN__SORT_SMALL_NUMBERS(X)                                                                                 \
    X(keys_offset) X(keys_dst_offset) X(keys_tmp_offset) X(values_offset) X(values_dst_offset) X(values_tmp_offset)    \
    X(count) X(count_offset) X(flip) X(begin) X(end) X(width) X(passes) X(flags)
#define GPUSCAN__SORT_HISTOGRAM_NUMBERS(X)                                                                             \
    X(keys_offset) X(states_offset) X(bases_offset) X(zeros_offset) X(count) X(count_offset) X(flip) X(begin) X(end)   \
    X(width) X(passes) X(flags)
#define GPUSCAN__SORT_SWEEP_NUMBERS(X)                                                                                 \
    X(keys_offset) X(keys_dst_offset) X(values_offset) X(values_dst_offset) X(states_offset) X(next_states_offset)     \
    X(bases_offset) X(zeros_offset) X(count) X(count_offset) X(flip) X(shift) X(mask) X(flags)
GPUSCAN__NUMBERS(sort_keys, GPUSCAN__SORT_KEYS_NUMBERS)
GPUSCAN__NUMBERS(sort_gather, GPUSCAN__SORT_GATHER_NUMBERS)
GPUSCAN__NUMBERS(sort_count, GPUSCAN__SORT_COUNT_NUMBERS)
GPUSCAN__NUMBERS(sort_places, GPUSCAN__SORT_PLACES_NUMBERS)
GPUSCAN__NUMBERS(sort_scatter, GPUSCAN__SORT_SCATTER_NUMBERS)
GPUSCAN__NUMBERS(sort_small, GPUSCAN__SORT_SMALL_NUMBERS)
GPUSCAN__NUMBERS(sort_histogram, GPUSCAN__SORT_HISTOGRAM_NUMBERS)
GPUSCAN__NUMBERS(sort_sweep, GPUSCAN__SORT_SWEEP_NUMBERS)

/* Kernels, by their places in a program. Three forms of a sort, each in programs of its own: several launches a pass,
   one launch a pass, and one launch for all. */
enum {
    GPUSCAN__SORT_GATHER = 0, /* in every program */
    GPUSCAN__SORT_COUNT,
    GPUSCAN__SORT_PLACES,
    GPUSCAN__SORT_SCATTER,
    GPUSCAN__SORT_HISTOGRAM = 1,
    GPUSCAN__SORT_SWEEP,
    GPUSCAN__SORT_SMALL = 1
};

static const char *const *gpuscan__sort_kernels(const gpuscan__key *key) {
#define GPUSCAN__SORT_KERNELS "gpuscan_sort_gather", "gpuscan_sort_count", "gpuscan_sort_places", "gpuscan_sort_scatter"
#define GPUSCAN__SORT_SINGLE_KERNELS "gpuscan_sort_gather", "gpuscan_sort_histogram", "gpuscan_sort_sweep"
#define GPUSCAN__SORT_SMALL_KERNELS "gpuscan_sort_gather", "gpuscan_sort_small"
    static const char *const several[] = {GPUSCAN__SORT_KERNELS, NULL};
    static const char *const several_custom[] = {GPUSCAN__SORT_KERNELS, "gpuscan_sort_keys", NULL};
    static const char *const single[] = {GPUSCAN__SORT_SINGLE_KERNELS, NULL};
    static const char *const single_custom[] = {GPUSCAN__SORT_SINGLE_KERNELS, "gpuscan_sort_keys", NULL};
    static const char *const small_sort[] = {GPUSCAN__SORT_SMALL_KERNELS, NULL};
    static const char *const small_custom[] = {GPUSCAN__SORT_SMALL_KERNELS, "gpuscan_sort_keys", NULL};
    gpuscan__sort_key own;
    memcpy(&own, key->own, sizeof(own));
    if (own.small)
        return key->custom_size ? small_custom : small_sort;
    if (gpuscan__is_single_pass(gpuscan__key_strategy(key)))
        return key->custom_size ? single_custom : single;
    return key->custom_size ? several_custom : several;
}

/* The last: keys of custom elements. */
static size_t gpuscan__sort_keys_kernel(const gpuscan__key *key) {
    const char *const *names = gpuscan__sort_kernels(key);
    size_t i = 0;
    while (names[i + 1])
        i++;
    return i;
}

static void gpuscan__sort_define(gpuscan__text *text, const gpuscan *gs, const gpuscan__plan *plan) {
    const gpuscan__key *key = &plan->key;
    const gpuscan__type_facts *type = &gpuscan__types[key->src];
    const gpuscan_custom *custom = plan->e.custom;
    gpuscan__sort_key own;
    int real = type->kind == 'f';
    memcpy(&own, key->own, sizeof(own));
    gpuscan__define_shape(text, gs, key, 1);
    gpuscan__define(text, "SORT_KEYS_NUMBERS", gpuscan__sort_keys_numbers_text);
    gpuscan__define(text, "SORT_GATHER_NUMBERS", gpuscan__sort_gather_numbers_text);
    gpuscan__define(text, "SORT_COUNT_NUMBERS", gpuscan__sort_count_numbers_text);
    gpuscan__define(text, "SORT_PLACES_NUMBERS", gpuscan__sort_places_numbers_text);
    gpuscan__define(text, "SORT_SCATTER_NUMBERS", gpuscan__sort_scatter_numbers_text);
    gpuscan__define(text, "SORT_SMALL_NUMBERS", gpuscan__sort_small_numbers_text);
    gpuscan__define(text, "SORT_HISTOGRAM_NUMBERS", gpuscan__sort_histogram_numbers_text);
    gpuscan__define(text, "SORT_SWEEP_NUMBERS", gpuscan__sort_sweep_numbers_text);
    gpuscan__define_number(text, "SORT_SINGLE_PASS", (uint64_t)gpuscan__is_single_pass(gpuscan__key_strategy(key)));
    gpuscan__define_number(text, "SORT_COPIES", own.copies);
    gpuscan__define_number(text, "SORT_LOADS", own.loads);
    gpuscan__define_number(text, "SORT_AHEAD", (uint64_t)gs->device.units * key->tile);
    gpuscan__define_number(text, "SORT_RANKER_BYTES",
                           (uint64_t)gpuscan__group_lanes(gs, key->group) * key->vectors * type->size);
    gpuscan__define_number(text, "KEY_SIZE", type->size);
    gpuscan__define_number(text, "SORT_VALUE_SIZE", gpuscan__types[key->dst].size);
    gpuscan__define_number(text, "SORT", 1);
    gpuscan__define_number(text, "SORT_SMALL", own.small);
    gpuscan__define_number(text, "REGISTERS", key->registers);
    gpuscan__define(text, "KEY_BITS", type->size == 8   ? "ulong"
                                      : type->size == 4 ? "uint"
                                      : type->size == 2 ? "ushort"
                                                        : "uchar");
    gpuscan__define(text, "KEY_CODE", type->size == 8 ? "ulong" : "uint");
    gpuscan__define(text, "KEY_INFINITY", !real             ? "0"
                                          : type->size == 8 ? "0x7ff0000000000000ul"
                                          : type->size == 4 ? "0x7f800000u"
                                                            : "0x7c00u");
    gpuscan__define(text, "PLACE", own.wide ? "ulong" : "uint");
    gpuscan__define_number(text, "SORT_VALUES", key->dst != GPUSCAN_TYPE_DEFAULT);
    gpuscan__define(text, "SORT_VALUE", key->dst == GPUSCAN_TYPE_U64 ? "ulong" : "uint");
    gpuscan__define_number(text, "DIGIT_BITS", own.digit_bits);
    gpuscan__define_number(text, "CUSTOM_KEY", custom != NULL);
    if (!custom)
        return;
    gpuscan__define_number(text, "KEY_F16", key->src == GPUSCAN_TYPE_F16);
    gpuscan__define(text, "CUSTOM_KEY_TYPE", key->src == GPUSCAN_TYPE_F16 ? "float" : type->name);
    gpuscan__define(text, "CUSTOM_KEY_BITS(x)", !real ? "(x)" : type->size == 8 ? "as_ulong(x)" : "as_uint(x)");
    if (custom->source)
        gpuscan__custom_lines(text, "", "", custom->source, "");
    gpuscan__define_custom_type(text, custom);
    gpuscan__custom_lines(text,
                          "static inline GPUSCAN_CUSTOM_KEY_TYPE gpuscan_custom_key(gpuscan_custom_type x, ulong i) {"
                          " return",
                          " key", custom->key, ";}\n");
    if (custom->source)
        gpuscan__undefine(text, custom->source);
}

/* Types that sort by the same program: integers are unsigned ones whose sign bit is flipped. */
static gpuscan_type gpuscan__sort_type(gpuscan_type type) {
    if (gpuscan__is_float(type))
        return type;
    switch (gpuscan__types[type].size) {
    case 1: return GPUSCAN_TYPE_U8;
    case 2: return GPUSCAN_TYPE_U16;
    case 4: return GPUSCAN_TYPE_U32;
    default: return GPUSCAN_TYPE_U64;
    }
}

/* The bits of a type's codes that are turned round. */
static uint64_t gpuscan__sort_flip(gpuscan_type type, int descending) {
    uint32_t bits = gpuscan__types[type].size * 8;
    uint64_t ones = ~(uint64_t)0 >> (64 - bits), sign = gpuscan__types[type].kind == 's' ? (uint64_t)1 << (bits - 1) : 0;
    return descending ? ones ^ sign : sign;
}

/* key_type, custom and the bits. */
static gpuscan_result gpuscan__sort_resolve_keys(gpuscan *gs, gpuscan__sort_plan *plan) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    gpuscan_type type = desc->key_type == GPUSCAN_TYPE_DEFAULT ? GPUSCAN_TYPE_U32 : desc->key_type;
    gpuscan_result r;
    uint32_t bits;
    if ((unsigned)type >= GPUSCAN_TYPE_COUNT)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "key_type is no gpuscan_type");
    if (type == GPUSCAN_TYPE_CUSTOM)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_TYPE,
                             "key_type: elements of a custom type are sorted by custom->key, which is of a builtin type");
    plan->key_size = plan->element_size = gpuscan__types[type].size;
    if (desc->custom) {
        if (!desc->custom->key)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "custom->key is NULL");
        if (!desc->custom->type || desc->custom->size == 0 || desc->custom->size > GPUSCAN__CUSTOM_MOST)
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                                 "custom->type is NULL, or custom->size is not from 1 to 1024");
        if ((r = gpuscan__check_type(gs, "key_type", type)) != 0) /* others are bits alone */
            return r;
        plan->common.e.custom = desc->custom;
        plan->element_size = (uint32_t)desc->custom->size;
    }
    bits = plan->key_size * 8;
    plan->begin = desc->bit_begin;
    plan->end = desc->bit_end ? desc->bit_end : bits;
    if (plan->end > bits || plan->begin >= plan->end)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "bit_begin and bit_end: from %u to %u there are no bits of a key of %u",
                             (unsigned)plan->begin, (unsigned)plan->end, (unsigned)bits);
    plan->flip = gpuscan__sort_flip(type, desc->descending);
    gpuscan__key_elements(&plan->common);
    plan->common.key.src = (uint32_t)gpuscan__sort_type(type);
    return GPUSCAN_SUCCESS;
}

static gpuscan_result gpuscan__sort_resolve(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__sort_plan *plan = (gpuscan__sort_plan *)common;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)common->desc;
    uint64_t elements;
    gpuscan__range *range;
    gpuscan_result r;
    uint32_t k;
    if ((r = gpuscan__sort_resolve_keys(gs, plan)) != 0 ||
        (r = gpuscan__resolve_u32_or_u64(gs, "index_type", desc->index_type, &plan->index_size)) != 0 ||
        (r = gpuscan__extent(gs, "src", desc->count, 1, desc->count, plan->element_size, &elements)) != 0)
        return r;
    plan->wants_indices = desc->permutation.mem || (!common->is_run && desc->index_type != GPUSCAN_TYPE_DEFAULT);
    if (plan->wants_indices && plan->index_size == 4 && desc->count > UINT32_MAX)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "index_type: 2^32 elements or more need u64");
    plan->keys_range = common->range_count;
    range = gpuscan__input(common, "src", desc->src, elements, plan->element_size);
    range->in_place = 1;
    range->writes = desc->may_destroy_src != 0;
    range = gpuscan__output(common, "dst", desc->dst, elements, plan->element_size);
    range->in_place = 1;
    range->required = 0;
    range->partial = desc->count_buffer.mem != NULL;
    plan->payloads_range = common->range_count;
    if ((r = gpuscan__resolve_payloads(gs, common, desc->payloads, desc->payload_count, elements, elements, 2)) != 0)
        return r;
    for (k = 0; k < desc->payload_count && desc->may_destroy_src; k++)
        common->ranges[plan->payloads_range + 2 * k].writes = 1;
    range = gpuscan__output(common, "permutation", desc->permutation, elements, plan->index_size);
    range->required = 0;
    range->partial = desc->count_buffer.mem != NULL;
    if (common->is_run && desc->count && !desc->dst.mem && !desc->permutation.mem && !desc->payload_count)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_BUFFER, "none of dst, payloads and permutation is given");
    if (!gpuscan__multiply(elements, 64, &elements)) /* so that sums of scratch need no checks */
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "count: the scratch does not fit 64 bits");
    common->is_nothing = desc->count == 0;
    return gpuscan__resolve_count(gs, common, desc->count_buffer, desc->count_type);
}

/* At least sizeof(gpuscan_sort_shared) in kernels.cl.inc. */
static uint64_t gpuscan__sort_shared_bytes(const gpuscan *gs, const gpuscan__sort_plan *plan, uint32_t group,
                                           uint32_t vectors) {
    const gpuscan__sort_key *own = &plan->key;
    uint64_t radix = (uint64_t)1 << own->digit_bits, lanes = gpuscan__group_lanes(gs, group);
    uint64_t whole = (uint64_t)gpuscan__whole_lanes(gs, group), rankers = whole ? group / lanes : 1;
    uint64_t each = gpuscan__max(plan->key_size > 4 ? 8 : 4, plan->values.size);
    uint64_t bytes = radix * (own->wide ? 8 : 4) + (uint64_t)group * vectors * each + 8 + rankers * radix * 4;
    bytes += whole ? rankers * 4 : (uint64_t)group * 8 + radix * ((group + 31) / 32) * 4;
    bytes += 8 + (whole ? lanes * 4 : 0) + gpuscan__lanes_bytes(gs, group);
    if (gs->device.lanes == GPUSCAN__LANES_PTX && whole) /* masks */
        bytes += (uint64_t)group * 4 + 4;
    return (gpuscan__max(bytes, (uint64_t)group * 16) + 31) / 16 * 16;
}

/* Local memory for a copy of the counts of all digits, of 16 bits each. */
static uint64_t gpuscan__sort_counts_bytes(const gpuscan__sort_plan *plan) {
    return ((uint64_t)plan->key_size << plan->key.digit_bits) * 2;
}

enum { GPUSCAN__SORT_CPU_TILE = 1024 }; /* parts are of whole ones */

/* NVIDIA: one group that sorts all there is has more work-items, with fewer elements each. */
enum { GPUSCAN__SORT_SMALL_GROUP = 512, GPUSCAN__SORT_SMALL_ROUNDS = 8 };

/* The key's group, vectors and tile, cut down to what local memory holds. */
static void gpuscan__sort_fit(const gpuscan *gs, gpuscan__sort_plan *plan, uint32_t group, uint32_t vectors,
                              uint32_t batch) {
    gpuscan__key *key = &plan->common.key;
    while (gpuscan__sort_shared_bytes(gs, plan, group, vectors) > gs->device.local_memory &&
           (vectors > batch || group > 1)) {
        if (vectors > batch)
            vectors -= batch;
        else
            group /= 2;
    }
    key->group = group;
    key->vectors = vectors;
    key->tile = group * vectors;
}

/* The key, unless it is a self-test's. */
static void gpuscan__sort_shape(const gpuscan *gs, gpuscan__sort_plan *plan, gpuscan_strategy strategy) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    gpuscan__key *key = &plan->common.key;
    uint32_t group = gs->device.profile.sort_group, vectors = gs->device.profile.sort_vectors;
    if (plan->common.forced) {
        *key = *plan->common.forced;
        memcpy(&plan->key, key->own, sizeof(plan->key));
        return;
    }
    key->strategy = (uint32_t)strategy;
    key->dst = (uint32_t)(plan->values.size == 8   ? GPUSCAN_TYPE_U64
                          : plan->values.size == 4 ? GPUSCAN_TYPE_U32
                                                   : GPUSCAN_TYPE_DEFAULT);
    plan->key.wide = desc->count > UINT32_MAX;
    plan->key.digit_bits = 8;
    plan->key.small = 0;
    if (gpuscan__key_is_cpu(key)) {
        key->group = key->vectors = 1;
        key->tile = GPUSCAN__SORT_CPU_TILE;
        plan->key.small = desc->count <= gs->device.profile.sort_small;
    } else {
        int is_single = gpuscan__is_single_pass(strategy);
        uint32_t batch = gpuscan__whole_lanes(gs, group) && gs->device.lanes == GPUSCAN__LANES_PTX ? 4 : 1;
        plan->key.digit_bits = is_single ? 8 : 4;
        group = (uint32_t)gpuscan__min(group, plan->common.group_limit);
        if (is_single && batch == 4)
            vectors = gs->device.profile.sort_rounds[plan->key_size > 4 || plan->values.size > 4] / batch * batch;
        gpuscan__sort_fit(gs, plan, group, vectors, batch);
        if (batch == 4 && desc->count <= GPUSCAN__SORT_SMALL_GROUP * GPUSCAN__SORT_SMALL_ROUNDS)
            gpuscan__sort_fit(gs, plan, (uint32_t)gpuscan__min(GPUSCAN__SORT_SMALL_GROUP, plan->common.group_limit),
                              GPUSCAN__SORT_SMALL_ROUNDS, batch);
        plan->key.small = desc->count <= key->tile;
        if (batch == 4 && !plan->key.small)
            gpuscan__sort_fit(gs, plan, group, vectors, batch);
        key->registers = 0;
        plan->key.loads = plan->key.copies = 0;
        if (is_single && !plan->key.small) {
            key->registers = gpuscan__registers(gs, key, gs->device.profile.sort_registers[plan->values.size != 0]);
            plan->key.loads = 8;
            plan->key.copies = 64;
            while (plan->key.copies > 1 && plan->key.copies * gpuscan__sort_counts_bytes(plan) >
                                               gpuscan__min(gs->device.local_memory, 32 * GPUSCAN__KIB))
                plan->key.copies /= 2;
        }
    }
    memcpy(key->own, &plan->key, sizeof(plan->key));
}

/* Whether a destination is known to be another place than its source. */
static int gpuscan__sort_is_apart(const gpuscan__range *src) {
    const gpuscan__range *dst = src + 1;
    return src->root && dst->root && (src->root != dst->root || src->begin != dst->begin);
}

static gpuscan__sort_place gpuscan__sort_of(gpuscan_buffer buffer) {
    gpuscan__sort_place place;
    place.buffer = buffer;
    place.past = 0;
    return place;
}

/* A place of count elements in the scratch. */
static gpuscan__sort_place gpuscan__sort_scratch(gpuscan__sort_plan *plan, uint64_t size) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    gpuscan_buffer none = {NULL, 0};
    gpuscan__sort_place place = gpuscan__sort_of(none);
    uint64_t *bytes = &plan->common.need.bytes[GPUSCAN__PLAIN];
    place.past = *bytes;
    *bytes += gpuscan__scratch_aligned(desc->count * size);
    return place;
}

static int gpuscan__sort_same_place(const gpuscan__sort_place *a, const gpuscan__sort_place *b) {
    return a->buffer.mem == b->buffer.mem && a->buffer.offset == b->buffer.offset && a->past == b->past;
}

/* One launch a pass. */
static int gpuscan__sort_is_single(const gpuscan__sort_plan *plan) {
    return gpuscan__is_single_pass(gpuscan__key_strategy(&plan->common.key)) && !plan->key.small;
}

/* Where the last pass leaves the result. */
static const gpuscan__sort_place *gpuscan__sort_result(const gpuscan__sort_plan *plan, const gpuscan__sort_way *way) {
    return plan->key.small ? &way->to[0] : &way->to[(plan->passes - 1) % 2];
}

/* The way of a caller's array that goes through the passes. A small sort finds its own way between to[0] and to[1]. */
static void gpuscan__sort_way_of(gpuscan__sort_plan *plan, gpuscan__sort_way *way, const gpuscan__range *src) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    int apart = gpuscan__sort_is_apart(src), odd = (int)plan->passes % 2;
    way->from = gpuscan__sort_of(src->buffer);
    way->dst = gpuscan__sort_of(src[1].buffer);
    way->has_dst = 1;
    if (plan->key.small) {
        way->to[0] = way->dst;
        way->to[1] = gpuscan__sort_scratch(plan, way->size);
    } else if (apart && desc->may_destroy_src) {
        way->to[0] = way->dst;
        way->to[1] = way->from;
    } else if (apart) {
        way->to[!odd] = way->dst;
        way->to[odd] = plan->passes > 1 ? gpuscan__sort_scratch(plan, way->size) : way->dst;
    } else {
        way->to[0] = gpuscan__sort_scratch(plan, way->size);
        way->to[1] = way->dst;
    }
}

/* The way of what is in the scratch alone. */
static void gpuscan__sort_way_in_scratch(gpuscan__sort_plan *plan, gpuscan__sort_way *way) {
    way->has_dst = 0;
    way->to[0] = gpuscan__sort_scratch(plan, way->size);
    way->to[1] = gpuscan__sort_scratch(plan, way->size);
}

static void gpuscan__sort_way_of_keys(gpuscan__sort_plan *plan) {
    const gpuscan__plan *common = &plan->common;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)common->desc;
    const gpuscan__range *src = &common->ranges[plan->keys_range];
    gpuscan__sort_way *way = &plan->keys;
    way->size = plan->key_size;
    if (desc->custom) {
        gpuscan__sort_way_in_scratch(plan, way);
        way->from = way->to[!plan->key.small]; /* the first pass of a small sort goes to the other */
    } else if (desc->dst.mem || !common->is_run) {
        gpuscan__sort_way_of(plan, way, src);
        if (!desc->dst.mem && plan->values.size) /* it may not be wanted: see below */
            gpuscan__sort_scratch(plan, way->size);
    } else {
        gpuscan__sort_way_in_scratch(plan, way);
        way->from = gpuscan__sort_of(desc->src);
    }
}

static void gpuscan__sort_way_of_values(gpuscan__sort_plan *plan) {
    const gpuscan__plan *common = &plan->common;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)common->desc;
    gpuscan__sort_way *way = &plan->values;
    int odd = (int)plan->passes % 2;
    if (way->size == 0)
        return;
    if (!plan->by_index) {
        gpuscan__sort_way_of(plan, way, &common->ranges[plan->payloads_range]);
    } else if (desc->permutation.mem && plan->index_size == way->size) {
        way->has_dst = 0;
        way->dst = gpuscan__sort_of(desc->permutation);
        if (plan->key.small)
            odd = 1;
        way->to[!odd] = way->dst;
        way->to[odd] = gpuscan__sort_scratch(plan, way->size);
    } else {
        gpuscan__sort_way_in_scratch(plan, way);
    }
}

/* An array that is brought to its places by index: the caller's elements, and payloads. Number 0 is the elements. */
static const gpuscan__range *gpuscan__sort_gathered(const gpuscan__sort_plan *plan, uint32_t number) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    const gpuscan__range *ranges = plan->common.ranges;
    if (number == 0)
        return desc->custom && (desc->dst.mem || !plan->common.is_run) ? &ranges[plan->keys_range] : NULL;
    return plan->by_index ? &ranges[plan->payloads_range + 2 * (number - 1)] : NULL;
}

static int gpuscan__sort_copies(const gpuscan__sort_plan *plan, const gpuscan__sort_way *way) {
    return way->size && way->has_dst && !gpuscan__sort_same_place(gpuscan__sort_result(plan, way), &way->dst);
}

static int gpuscan__sort_widens(const gpuscan__sort_plan *plan) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    return desc->permutation.mem && plan->index_size != plan->values.size;
}

/* Before the states: a word for each digit of up to 8 passes. */
#define GPUSCAN__SORT_BASES_BYTES (8 * 256 * sizeof(cl_uint))

/* Scratch and commands. What is gathered in place goes by way of the scratch that the keys leave. */
static void gpuscan__sort_layout(gpuscan__sort_plan *plan) {
    gpuscan__plan *common = &plan->common;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)common->desc;
    uint64_t *bytes = &common->need.bytes[GPUSCAN__PLAIN], most = 0;
    uint32_t k;
    memset(&common->need, 0, sizeof(common->need));
    if (gpuscan__sort_is_single(plan)) {
        *bytes = GPUSCAN__SORT_BASES_BYTES + 2 * (plan->tiles << plan->key.digit_bits) * sizeof(cl_uint);
        common->need.bytes[GPUSCAN__ZEROS] = GPUSCAN__TICKETS_SIZE + GPUSCAN__SORT_BASES_BYTES;
    } else if (!plan->key.small) {
        plan->table_at = *bytes;
        *bytes += gpuscan__scratch_aligned((plan->parts << plan->key.digit_bits) * (plan->key.wide ? 8 : 4));
    }
    gpuscan__sort_way_of_values(plan);
    plan->moved_at = *bytes;
    gpuscan__sort_way_of_keys(plan);
    plan->commands = (unsigned)(desc->custom != NULL) +
                     (plan->key.small                                                  ? 1
                      : gpuscan__sort_is_single(plan) ? 1 + plan->passes
                                                        : 3 * plan->passes);
    for (k = 0; k <= desc->payload_count; k++) {
        const gpuscan__range *src = gpuscan__sort_gathered(plan, k);
        int apart = src && gpuscan__sort_is_apart(src);
        plan->commands += !src ? 0 : apart ? 1 : 2;
        if (src && !apart)
            most = gpuscan__max(most, src->elements * src->size);
    }
    plan->commands += (unsigned)gpuscan__sort_copies(plan, &plan->keys) +
                      (unsigned)gpuscan__sort_copies(plan, &plan->values) + (unsigned)gpuscan__sort_widens(plan);
    *bytes = gpuscan__max(*bytes, plan->moved_at + most);
}

/* Without a run there is no check of the buffers, but where src and dst are there it is known what is in place. */
static gpuscan_result gpuscan__sort_look(gpuscan *gs, gpuscan__sort_plan *plan) {
    size_t i;
    gpuscan_result r = GPUSCAN_SUCCESS;
    for (i = plan->keys_range; i + 1 < plan->common.range_count && !plan->common.is_run && r == 0; i += 2) {
        gpuscan__range *src = &plan->common.ranges[i], *dst = src + 1;
        if (src->in_place && src->buffer.mem && dst->buffer.mem && (r = gpuscan__check_range(gs, src)) == 0)
            r = gpuscan__check_range(gs, dst);
    }
    return r;
}

/* What keeps the strategy from doing a call; NULL: nothing. */
static const char *gpuscan__sort_misfit(const gpuscan *gs, const gpuscan__sort_plan *plan, gpuscan_strategy strategy) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    const char *why = gpuscan__why_refused(gs, &plan->common, strategy);
    if (why || !gpuscan__is_single_pass(strategy))
        return why;
    if (gs->device.fence == GPUSCAN__FENCE_NONE)
        return "it needs a fence of device scope";
    if (gs->device.local_memory < 16 * GPUSCAN__KIB)
        return "it needs 16 KiB of local memory";
    return desc->count >> 30 ? "2^30 elements or more" : NULL;
}

static gpuscan_result gpuscan__sort_choose(gpuscan *gs, gpuscan__plan *common) {
    gpuscan__sort_plan *plan = (gpuscan__sort_plan *)common;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)common->desc;
    gpuscan_strategy strategy = common->call->strategy;
    uint64_t tiles, most, size = desc->payload_count == 1 ? desc->payloads[0].size : 0;
    gpuscan_result r;
    const char *why;
    if (strategy == GPUSCAN_STRATEGY_AUTO)
        strategy = gs->device.profile.sort;
    if (strategy == GPUSCAN_STRATEGY_CPU_SINGLE_PASS)
        strategy = GPUSCAN_STRATEGY_CPU_MULTI_PASS;
    if (strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD)
        strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    why = gpuscan__sort_misfit(gs, plan, strategy);
    if (why && common->call->strategy != GPUSCAN_STRATEGY_AUTO)
        return gpuscan__unsupported(gs, why);
    if (why)
        strategy = gpuscan__strategies[strategy].portable;
    if ((r = gpuscan__sort_look(gs, plan)) != 0)
        return r;
    plan->by_index = plan->wants_indices || desc->custom || (desc->payload_count && size != 4 && size != 8);
    plan->values.size = plan->by_index ? (desc->count > UINT32_MAX ? 8 : 4) : (uint32_t)size;
    plan->keys.size = plan->key_size;
    gpuscan__sort_shape(gs, plan, strategy);
    if (plan->by_index)
        plan->values.size = plan->key.wide ? 8 : 4;
    plan->passes = (plan->end - plan->begin + plan->key.digit_bits - 1) / plan->key.digit_bits;
    plan->width = (plan->end - plan->begin + plan->passes - 1) / plan->passes;
    plan->passes = (plan->end - plan->begin + plan->width - 1) / plan->width;
    tiles = gpuscan__max(gpuscan__ceil_div(desc->count, common->key.tile), 1);
    most = (uint64_t)gs->device.units * gs->device.profile.groups_per_unit;
    if (gpuscan__key_is_cpu(&common->key))
        most = gpuscan__min(gpuscan__max(desc->count / gs->device.profile.sort_part, 1),
                            (uint64_t)gs->device.units * gs->device.profile.sort_parts);
    plan->parts = gpuscan__min(tiles, most);
    plan->tiles = tiles;
    gpuscan__sort_layout(plan);
    return GPUSCAN_SUCCESS;
}

/* Returns the place's offset in elements of so many bytes. */
static uint64_t gpuscan__arg_place(gpuscan__launch *launch, const gpuscan__sort_place *place, uint64_t size) {
    return place->buffer.mem ? gpuscan__arg_buffer(launch, place->buffer)
                             : gpuscan__arg_scratch(launch, GPUSCAN__PLAIN, place->past, size);
}

/* A call's commands as they come, the last of which is known as such. */
typedef struct gpuscan__sort_run {
    gpuscan__chain *chain;
    const gpuscan__sort_plan *plan;
    gpuscan__program *program;
    cl_mem stand_in;
    uint32_t group;
    unsigned commands; /* still to come */
} gpuscan__sort_run;

static gpuscan__launch gpuscan__sort_launch(const gpuscan__sort_run *run, size_t kernel) {
    return gpuscan__launch_begin(run->chain, run->program, kernel, run->stand_in);
}

static gpuscan_result gpuscan__sort_end(gpuscan__sort_run *run, gpuscan__launch *launch, const void *numbers,
                                        size_t numbers_size, uint64_t groups, uint64_t shared) {
    int is_last = --run->commands == 0;
    return gpuscan__launch_end(launch, numbers, numbers_size, gpuscan__grid_of(groups, run->group, shared, is_last));
}

/* Of elements that are taken tile by tile. */
static uint64_t gpuscan__sort_groups(const gpuscan__sort_run *run) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)run->plan->common.desc;
    return gpuscan__min(gpuscan__ceil_div(desc->count, run->plan->common.key.tile), (uint64_t)1 << 20);
}

static gpuscan_result gpuscan__sort_keys_of(gpuscan__sort_run *run) {
    const gpuscan__sort_plan *plan = run->plan;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    gpuscan__launch launch = gpuscan__sort_launch(run, gpuscan__sort_keys_kernel(&plan->common.key));
    gpuscan__sort_keys_numbers numbers;
    numbers.src_offset = gpuscan__arg_buffer(&launch, desc->src);
    numbers.keys_offset = gpuscan__arg_place(&launch, &plan->keys.from, plan->key_size);
    numbers.count = desc->count;
    numbers.count_offset = gpuscan__arg_buffer(&launch, desc->count_buffer);
    numbers.flags = plan->common.flags;
    return gpuscan__sort_end(run, &launch, &numbers, sizeof(numbers), gpuscan__sort_groups(run), 0);
}

/* Brings elements of size bytes from one place to another; to: NULL: the indices themselves, as ulong, to from. */
static gpuscan_result gpuscan__sort_move(gpuscan__sort_run *run, const gpuscan__sort_place *from,
                                         const gpuscan__sort_place *to, uint32_t size, int by_index, int widens) {
    const gpuscan__sort_plan *plan = run->plan;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    gpuscan__launch launch = gpuscan__sort_launch(run, GPUSCAN__SORT_GATHER);
    gpuscan__sort_place indices = *(plan->values.size ? gpuscan__sort_result(plan, &plan->values) : from);
    uint32_t unit = size & (~size + 1), index_size = plan->values.size ? plan->values.size : 1;
    gpuscan__sort_gather_numbers numbers;
    unit = unit > 16 ? 16 : unit;
    numbers.src_offset = gpuscan__arg_place(&launch, from, 1) * (from->buffer.mem ? size : 1);
    numbers.dst_offset = gpuscan__arg_place(&launch, to, 1) * (to->buffer.mem ? size : 1);
    numbers.indices_offset = gpuscan__arg_place(&launch, &indices, index_size);
    numbers.count = desc->count;
    numbers.count_offset = gpuscan__arg_buffer(&launch, desc->count_buffer);
    numbers.parts = widens ? 1 : size / unit;
    numbers.unit = widens ? 0 : unit;
    numbers.flags = plan->common.flags | (by_index ? (uint32_t)GPUSCAN__FLAG_BY_INDEX : 0);
    return gpuscan__sort_end(run, &launch, &numbers, sizeof(numbers), gpuscan__sort_groups(run), 0);
}

static gpuscan_result gpuscan__sort_small(gpuscan__sort_run *run) {
    const gpuscan__sort_plan *plan = run->plan;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    gpuscan__launch launch = gpuscan__sort_launch(run, GPUSCAN__SORT_SMALL);
    uint32_t size = plan->values.size;
    const gpuscan__sort_way *values = size ? &plan->values : &plan->keys; /* anything */
    gpuscan__sort_small_numbers numbers;
    numbers.keys_offset = gpuscan__arg_place(&launch, &plan->keys.from, plan->key_size);
    numbers.keys_dst_offset = gpuscan__arg_place(&launch, &plan->keys.to[0], plan->key_size);
    numbers.keys_tmp_offset = gpuscan__arg_place(&launch, &plan->keys.to[1], plan->key_size);
    numbers.values_offset = gpuscan__arg_place(&launch, plan->by_index ? &values->to[1] : &values->from, size ? size : 1);
    numbers.values_dst_offset = gpuscan__arg_place(&launch, &values->to[0], size ? size : 1);
    numbers.values_tmp_offset = gpuscan__arg_place(&launch, &values->to[1], size ? size : 1);
    numbers.count = desc->count;
    numbers.count_offset = gpuscan__arg_buffer(&launch, desc->count_buffer);
    numbers.flip = plan->flip;
    numbers.begin = plan->begin;
    numbers.end = plan->end;
    numbers.width = plan->width;
    numbers.passes = plan->passes;
    numbers.flags = plan->common.flags | (plan->by_index ? (uint32_t)GPUSCAN__FLAG_BY_INDEX : 0) |
                    (plan->keys.has_dst ? 0 : (uint32_t)GPUSCAN__FLAG_NO_KEYS);
    return gpuscan__sort_end(
        run, &launch, &numbers, sizeof(numbers), 1,
        gpuscan__key_is_cpu(&plan->common.key)
            ? 0
            : gpuscan__sort_shared_bytes(run->chain->gs, plan, run->group, plan->common.key.vectors));
}

/* What a pass reads and writes, and by which digit. */
typedef struct gpuscan__sort_step {
    gpuscan__sort_place keys, keys_dst, values, values_dst; /* without values: those of the keys */
    uint32_t values_size, shift, mask, flags;
} gpuscan__sort_step;

static gpuscan__sort_step gpuscan__sort_step_of(const gpuscan__sort_run *run, uint32_t pass) {
    const gpuscan__sort_plan *plan = run->plan;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    const gpuscan__sort_way *keys = &plan->keys, *values = plan->values.size ? &plan->values : &plan->keys;
    int is_first_by_index = pass == 0 && plan->by_index;
    gpuscan__sort_step step;
    step.keys = pass ? keys->to[(pass - 1) % 2] : keys->from;
    step.keys_dst = keys->to[pass % 2];
    step.values = pass ? values->to[(pass - 1) % 2] : is_first_by_index ? values->to[0] : values->from;
    step.values_dst = values->to[pass % 2];
    step.values_size = plan->values.size ? plan->values.size : plan->key_size;
    step.shift = plan->begin + pass * plan->width;
    step.mask = ((uint32_t)1 << gpuscan__min(plan->width, plan->end - step.shift)) - 1;
    step.flags = plan->common.flags | (is_first_by_index ? (uint32_t)GPUSCAN__FLAG_BY_INDEX : 0);
    if (pass == plan->passes - 1 && !keys->has_dst)
        step.flags |= GPUSCAN__FLAG_NO_KEYS;
    if (gpuscan__key_is_cpu(&plan->common.key) &&
        desc->count * (plan->key_size + plan->values.size) > run->chain->gs->device.cache / 2)
        step.flags |= GPUSCAN__FLAG_STREAM;
    return step;
}

/* One launch a pass: the counts of all digits, and then each pass. */
static uint64_t gpuscan__sort_histogram_groups(const gpuscan *gs, const gpuscan__sort_plan *plan) {
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    uint64_t each = (uint64_t)plan->common.key.group * plan->key.loads;
    uint64_t groups = gpuscan__min(gpuscan__max(gpuscan__ceil_div(desc->count, each), 1),
                                   (uint64_t)gs->device.units * gs->device.profile.groups_per_unit);
    /* a copy's work-items count less than 2^16 */
    uint64_t items = gpuscan__ceil_div(plan->common.key.group, plan->key.copies), rounds = 65535 / (items * plan->key.loads);
    return gpuscan__max(groups, gpuscan__ceil_div(desc->count, rounds * each));
}

static gpuscan_result gpuscan__sort_histogram(gpuscan__sort_run *run) {
    const gpuscan__sort_plan *plan = run->plan;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    const gpuscan *gs = run->chain->gs;
    gpuscan__launch launch = gpuscan__sort_launch(run, GPUSCAN__SORT_HISTOGRAM);
    gpuscan__sort_histogram_numbers numbers;
    uint64_t shared = gpuscan__sort_shared_bytes(gs, plan, run->group, plan->common.key.vectors);
    numbers.keys_offset = gpuscan__arg_place(&launch, &plan->keys.from, plan->key_size);
    numbers.states_offset =
        gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, GPUSCAN__SORT_BASES_BYTES, sizeof(cl_uint));
    numbers.bases_offset = numbers.states_offset - GPUSCAN__SORT_BASES_BYTES / sizeof(cl_uint);
    numbers.zeros_offset = gpuscan__arg_scratch(&launch, GPUSCAN__ZEROS, 0, sizeof(cl_uint));
    numbers.count = desc->count;
    numbers.count_offset = gpuscan__arg_buffer(&launch, desc->count_buffer);
    numbers.flip = plan->flip;
    numbers.begin = plan->begin;
    numbers.end = plan->end;
    numbers.width = plan->width;
    numbers.passes = plan->passes;
    numbers.flags = plan->common.flags;
    shared = gpuscan__max(shared, plan->key.copies * gpuscan__sort_counts_bytes(plan));
    return gpuscan__sort_end(run, &launch, &numbers, sizeof(numbers), gpuscan__sort_histogram_groups(gs, plan),
                             shared);
}

static gpuscan_result gpuscan__sort_sweep(gpuscan__sort_run *run, uint32_t pass) {
    const gpuscan__sort_plan *plan = run->plan;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)plan->common.desc;
    gpuscan__sort_step step = gpuscan__sort_step_of(run, pass);
    gpuscan__launch launch = gpuscan__sort_launch(run, GPUSCAN__SORT_SWEEP);
    uint64_t states = plan->tiles << plan->key.digit_bits, at;
    gpuscan__sort_sweep_numbers numbers;
    numbers.keys_offset = gpuscan__arg_place(&launch, &step.keys, plan->key_size);
    numbers.keys_dst_offset = gpuscan__arg_place(&launch, &step.keys_dst, plan->key_size);
    numbers.values_offset = gpuscan__arg_place(&launch, &step.values, step.values_size);
    numbers.values_dst_offset = gpuscan__arg_place(&launch, &step.values_dst, step.values_size);
    at = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, 0, sizeof(cl_uint));
    numbers.states_offset = at + GPUSCAN__SORT_BASES_BYTES / sizeof(cl_uint) + pass % 2 * states;
    numbers.next_states_offset = at + GPUSCAN__SORT_BASES_BYTES / sizeof(cl_uint) + (pass + 1) % 2 * states;
    numbers.bases_offset = at + ((uint64_t)pass << plan->key.digit_bits);
    numbers.zeros_offset = gpuscan__arg_scratch(&launch, GPUSCAN__ZEROS, 0, sizeof(cl_uint));
    numbers.count = desc->count;
    numbers.count_offset = gpuscan__arg_buffer(&launch, desc->count_buffer);
    numbers.flip = plan->flip;
    numbers.shift = step.shift;
    numbers.mask = step.mask;
    numbers.flags = step.flags;
    return gpuscan__sort_end(run, &launch, &numbers, sizeof(numbers), plan->tiles,
                             gpuscan__sort_shared_bytes(run->chain->gs, plan, run->group, plan->common.key.vectors));
}

static gpuscan_result gpuscan__sort_pass(gpuscan__sort_run *run, uint32_t pass) {
    const gpuscan__sort_plan *plan = run->plan;
    const gpuscan__plan *common = &plan->common;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)common->desc;
    gpuscan__sort_step step = gpuscan__sort_step_of(run, pass);
    int is_cpu = gpuscan__key_is_cpu(&common->key);
    uint32_t place_size = plan->key.wide ? 8 : 4;
    uint64_t shared = is_cpu ? 0 : gpuscan__sort_shared_bytes(run->chain->gs, plan, run->group, common->key.vectors);
    gpuscan__sort_count_numbers count;
    gpuscan__sort_places_numbers places;
    gpuscan__sort_scatter_numbers scatter;
    gpuscan__launch launch = gpuscan__sort_launch(run, GPUSCAN__SORT_COUNT);
    gpuscan_result r;
    count.keys_offset = gpuscan__arg_place(&launch, &step.keys, plan->key_size);
    count.table_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, plan->table_at, place_size);
    count.count = desc->count;
    count.count_offset = gpuscan__arg_buffer(&launch, desc->count_buffer);
    count.flip = plan->flip;
    count.shift = step.shift;
    count.mask = step.mask;
    count.flags = common->flags;
    r = gpuscan__sort_end(run, &launch, &count, sizeof(count), plan->parts, is_cpu ? 0 : (uint64_t)4 << plan->key.digit_bits);
    if (r != 0)
        return r;
    launch = gpuscan__sort_launch(run, GPUSCAN__SORT_PLACES);
    places.table_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, plan->table_at, place_size);
    places.count = plan->parts << plan->key.digit_bits;
    r = gpuscan__sort_end(run, &launch, &places, sizeof(places), 1, (uint64_t)2 * run->group * place_size);
    if (r != 0)
        return r;
    launch = gpuscan__sort_launch(run, GPUSCAN__SORT_SCATTER);
    scatter.keys_offset = gpuscan__arg_place(&launch, &step.keys, plan->key_size);
    scatter.keys_dst_offset = gpuscan__arg_place(&launch, &step.keys_dst, plan->key_size);
    scatter.values_offset = gpuscan__arg_place(&launch, &step.values, step.values_size);
    scatter.values_dst_offset = gpuscan__arg_place(&launch, &step.values_dst, step.values_size);
    scatter.table_offset = gpuscan__arg_scratch(&launch, GPUSCAN__PLAIN, plan->table_at, place_size);
    scatter.count = desc->count;
    scatter.count_offset = gpuscan__arg_buffer(&launch, desc->count_buffer);
    scatter.flip = plan->flip;
    scatter.shift = step.shift;
    scatter.mask = step.mask;
    scatter.flags = step.flags;
    return gpuscan__sort_end(run, &launch, &scatter, sizeof(scatter), plan->parts, shared);
}

/* What goes by index; in place by way of the scratch. */
static gpuscan_result gpuscan__sort_gather(gpuscan__sort_run *run, const gpuscan__range *src) {
    gpuscan_buffer none = {NULL, 0};
    gpuscan__sort_place from = gpuscan__sort_of(src->buffer), to = gpuscan__sort_of(src[1].buffer);
    gpuscan__sort_place moved = gpuscan__sort_of(none);
    gpuscan_result r;
    moved.past = run->plan->moved_at;
    if (gpuscan__sort_is_apart(src))
        return gpuscan__sort_move(run, &from, &to, src->size, 1, 0);
    r = gpuscan__sort_move(run, &from, &moved, src->size, 1, 0);
    return r != 0 ? r : gpuscan__sort_move(run, &moved, &to, src->size, 0, 0);
}

static gpuscan_result gpuscan__sort_enqueue(gpuscan__chain *chain, const gpuscan__plan *common,
                                            gpuscan__program *program) {
    const gpuscan__sort_plan *plan = (const gpuscan__sort_plan *)common;
    const gpuscan_sort_desc *desc = (const gpuscan_sort_desc *)common->desc;
    const gpuscan__sort_way *ways[2];
    gpuscan__sort_run run;
    int is_single = gpuscan__sort_is_single(plan);
    gpuscan_result r = GPUSCAN_SUCCESS;
    uint32_t i;
    run.chain = chain;
    run.plan = plan;
    run.program = program;
    run.stand_in = desc->src.mem;
    run.group = common->key.group;
    run.commands = plan->commands;
    if (desc->custom)
        r = gpuscan__sort_keys_of(&run);
    if (r == 0 && plan->key.small)
        r = gpuscan__sort_small(&run);
    if (r == 0 && is_single)
        r = gpuscan__sort_histogram(&run);
    for (i = 0; i < plan->passes && r == 0 && !plan->key.small; i++)
        r = is_single ? gpuscan__sort_sweep(&run, i) : gpuscan__sort_pass(&run, i);
    ways[0] = &plan->keys;
    ways[1] = &plan->values;
    for (i = 0; i < 2 && r == 0; i++)
        if (gpuscan__sort_copies(plan, ways[i]))
            r = gpuscan__sort_move(&run, gpuscan__sort_result(plan, ways[i]), &ways[i]->dst, ways[i]->size, 0, 0);
    for (i = 0; i <= desc->payload_count && r == 0; i++) {
        const gpuscan__range *src = gpuscan__sort_gathered(plan, i);
        if (src)
            r = gpuscan__sort_gather(&run, src);
    }
    if (r == 0 && gpuscan__sort_widens(plan)) {
        gpuscan__sort_place to = gpuscan__sort_of(desc->permutation);
        r = gpuscan__sort_move(&run, gpuscan__sort_result(plan, &plan->values), &to, plan->index_size, 0, 1);
    }
    return r;
}

/* Bits of a float's fraction, by those of the float. */
static uint32_t gpuscan__test_fraction(uint32_t bits) {
    return bits == 64 ? 52 : bits == 32 ? 23 : 10;
}

/* The order of keys, for the self-test: as gpuscan_code_of in kernels.cl.inc. */
static uint64_t gpuscan__sort_code(gpuscan_type type, uint64_t key, uint64_t flip) {
    uint32_t bits = gpuscan__types[type].size * 8, fraction = gpuscan__test_fraction(bits);
    uint64_t ones = ~(uint64_t)0 >> (64 - bits), magnitude = key & ones >> 1, sign = ones ^ ones >> 1;
    uint64_t infinity = (ones >> 1) >> fraction << fraction;
    if (!gpuscan__is_float(type))
        return key ^ flip;
    if (magnitude > infinity)
        return ones;
    return (magnitude == 0 || key == magnitude ? magnitude | sign : key ^ ones) ^ flip;
}

/* A stable sort of indices by their codes, by merging: of twice as many places as there are codes. */
static const uint32_t *gpuscan__test_sort(const uint64_t *codes, uint32_t *places, uint64_t count) {
    uint32_t *from = places, *to = places + count, *swap;
    uint64_t run, begin, i;
    for (i = 0; i < count; i++)
        from[i] = (uint32_t)i;
    for (run = 1; run < count; run *= 2) {
        for (begin = 0; begin < count; begin += 2 * run) {
            uint64_t a = begin, middle = gpuscan__min(begin + run, count), b = middle;
            uint64_t end = gpuscan__min(begin + 2 * run, count);
            for (i = begin; i < end; i++)
                to[i] = a < middle && (b == end || codes[from[a]] <= codes[from[b]]) ? from[a++] : from[b++];
        }
        swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Keys of a self-test: any bits; many that are equal, or as floats infinite or NaN; ascending, so that whole tiles have
   one digit. */
static uint64_t gpuscan__test_key(uint32_t size, uint64_t i, uint64_t count, unsigned round) {
    uint64_t random = gpuscan__mix(i + ((uint64_t)round << 40));
    if (round == 1)
        return random % 5 ? random & 3
                          : ((random >> 8 & 1) << (8 * size - 1)) ^
                                (~(uint64_t)0 << gpuscan__test_fraction(8 * size) % (8 * size) | (random >> 9 & 7));
    return round == 2 ? (size > 2 ? i << (8 * (size - 2)) : i * ((uint64_t)1 << 8 * size) / count) : random;
}

/* What dst and its values must hold, from what src and its values do. */
static void gpuscan__test_sorted(gpuscan_type type, const uint64_t *codes, uint32_t *places, uint64_t count,
                                 const gpuscan__test_array *src, gpuscan__test_array *dst,
                                 const gpuscan__test_array *payload, gpuscan__test_array *values, uint32_t value_size) {
    const uint32_t *order = gpuscan__test_sort(codes, places, count);
    uint32_t size = gpuscan__types[type].size;
    uint64_t i;
    for (i = 0; i < count; i++) {
        memcpy(dst->expected + i * size, src->before + (size_t)order[i] * size, size);
        if (payload)
            memcpy(values->expected + i * value_size, payload->before + (size_t)order[i] * value_size, value_size);
        else if (values)
            memcpy(values->expected + i * value_size, &order[i], sizeof(order[i]));
    }
}

static gpuscan_result gpuscan__sort_test_round(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                               unsigned round, int *right) {
    gpuscan_type type = (gpuscan_type)program->key.src;
    uint32_t size = gpuscan__types[type].size, value_size = gpuscan__types[program->key.dst].size;
    uint64_t count = 3 * (uint64_t)program->key.tile + 5, i;
    gpuscan__sort_plan plan;
    gpuscan_sort_desc desc;
    gpuscan__sort_key own;
    gpuscan_payload payload;
    gpuscan__test test;
    gpuscan__test_array *src, *dst, *payload_src = NULL, *values = NULL;
    uint64_t *codes = (uint64_t *)gpuscan__allocate(&gs->allocator, (size_t)(count * 2 * sizeof(*codes)));
    gpuscan_result r;
    memcpy(&own, program->key.own, sizeof(own));
    if (own.small)
        count = round == 1 ? program->key.tile : program->key.tile - program->key.tile / 8;
    memset(&desc, 0, sizeof(desc));
    memset(&payload, 0, sizeof(payload));
    memset(&test, 0, sizeof(test));
    test.gs = gs;
    desc.key_type = type;
    desc.count = count;
    desc.descending = round == 1;
    src = gpuscan__test_array_of(&test, &desc.src, count * size);
    dst = gpuscan__test_array_of(&test, &desc.dst, count * size);
    if (value_size == 4 && round == 1) {
        values = gpuscan__test_array_of(&test, &desc.permutation, count * value_size);
    } else if (value_size) {
        payload.size = value_size;
        desc.payloads = &payload;
        desc.payload_count = 1;
        payload_src = gpuscan__test_array_of(&test, &payload.src, count * value_size);
        values = gpuscan__test_array_of(&test, &payload.dst, count * value_size);
    }
    test.failed |= codes == NULL;
    if (!test.failed) {
        uint64_t flip = gpuscan__sort_flip(type, desc.descending);
        for (i = 0; i < count; i++) {
            gpuscan__number key;
            key.bits = gpuscan__test_key(size, i, count, round) & ~(uint64_t)0 >> (64 - 8 * size);
            codes[i] = gpuscan__sort_code(type, key.bits, flip);
            gpuscan__put_number(size == 8   ? GPUSCAN_TYPE_U64
                                : size == 4 ? GPUSCAN_TYPE_U32
                                : size == 2 ? GPUSCAN_TYPE_U16
                                            : GPUSCAN_TYPE_U8,
                                src->before, i, key);
            key.bits = gpuscan__mix(~i);
            if (payload_src)
                gpuscan__put_number((gpuscan_type)program->key.dst, payload_src->before, i, key);
        }
        gpuscan__test_filled(src);
        if (payload_src)
            gpuscan__test_filled(payload_src);
        gpuscan__test_sorted(type, codes, (uint32_t *)(codes + count), count, src, dst, payload_src, values,
                             value_size);
    }
    gpuscan__plan_begin(&plan.common, sizeof(plan), common->operation, &desc, &desc.call);
    r = gpuscan__test_run(&test, &plan.common, program, &desc.call, right);
    gpuscan__release(&gs->allocator, codes);
    return r;
}

static gpuscan_result gpuscan__sort_self_test(gpuscan *gs, const gpuscan__plan *common, gpuscan__program *program,
                                              int *right) {
    return gpuscan__test_rounds(gpuscan__sort_test_round, 3, gs, common, program, right);
}

GPUSCAN__OPERATION(sort, 1, 1);

GPUSCAN_API gpuscan_result gpuscan_sort_host(gpuscan *gs, const void *src, void *dst, void *permutation,
                                             uint64_t count, const gpuscan_sort_desc *desc) {
    gpuscan_sort_desc copy;
    gpuscan__sort_plan plan;
    gpuscan__host_call host;
    gpuscan_result r;
    memset(&copy, 0, sizeof(copy));
    if (desc)
        copy = *desc;
    if ((r = gpuscan__enter(gs, &copy, &copy.call)) != 0)
        return r;
    if (copy.src.mem || copy.dst.mem || copy.permutation.mem || copy.src.offset || copy.dst.offset ||
        copy.permutation.offset || copy.count)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT,
                             "src, dst, permutation and count of the desc must be zero");
    copy.may_destroy_src = 0;
    copy.count = count;
    gpuscan__host_begin(&host, gs);
    gpuscan__host_add(&host, "src", src, &copy.src);
    if (dst)
        gpuscan__host_add(&host, "dst", dst, &copy.dst);
    if (permutation)
        gpuscan__host_add(&host, "permutation", permutation, &copy.permutation);
    gpuscan__plan_begin(&plan.common, sizeof(plan), &gpuscan__sort_operation, &copy, &copy.call);
    return gpuscan__host_do(&host, &plan.common, sizeof(plan), &copy.call);
}

/* [PUBLIC ENTRY POINTS] -------------------------------------------------------------------------------------------- */

GPUSCAN_API const char *gpuscan_result_string(gpuscan_result result) {
    size_t i;
    for (i = 0; i < GPUSCAN__COUNT_OF(gpuscan__result_texts); i++)
        if (gpuscan__result_texts[i].result == result)
            return gpuscan__result_texts[i].text;
    return "unknown result";
}

GPUSCAN_API const char *gpuscan_error(const gpuscan *gs) {
    return gs ? gs->error : "";
}

GPUSCAN_API size_t gpuscan_type_size(gpuscan_type type) {
    return (unsigned)type < GPUSCAN_TYPE_COUNT ? gpuscan__types[type].size : 0;
}

GPUSCAN_API uint32_t gpuscan_version(void) {
    return GPUSCAN_VERSION;
}

/* The public structs but for the operations' descs. */
#define GPUSCAN__STRUCTS(X)                                                                                            \
    X(gpuscan_buffer) X(gpuscan_payload) X(gpuscan_tally) X(gpuscan_custom) X(gpuscan_call) X(gpuscan_allocator)       \
    X(gpuscan_logger) X(gpuscan_tracer) X(gpuscan_limits) X(gpuscan_opencl) X(gpuscan_desc) X(gpuscan_info)            \
    X(gpuscan_bound) X(gpuscan_segments)

GPUSCAN_API size_t gpuscan_struct_size(const char *name) {
    static const struct {
        const char *name;
        size_t size;
    } structs[] = {
#define GPUSCAN__STRUCT_SIZE(name) {#name, sizeof(name)},
#define GPUSCAN__DESC_SIZE(operation) {"gpuscan_" #operation "_desc", sizeof(gpuscan_##operation##_desc)},
        GPUSCAN__STRUCTS(GPUSCAN__STRUCT_SIZE) GPUSCAN__OPERATIONS(GPUSCAN__DESC_SIZE)
#undef GPUSCAN__DESC_SIZE
#undef GPUSCAN__STRUCT_SIZE
    };
    size_t i;
    for (i = 0; name && i < GPUSCAN__COUNT_OF(structs); i++)
        if (strcmp(structs[i].name, name) == 0)
            return structs[i].size;
    return 0;
}

/* The entry points: the caller's, and where it gives none the library's that is loaded or linked. */
static gpuscan_result gpuscan__open_opencl(gpuscan *gs, const gpuscan_desc *desc) {
    const char *wanted = desc->library && *desc->library ? desc->library : NULL, *lacking;
    gpuscan__missing missing = {NULL, NULL};
    char table[80] = "";
    if (wanted && !GPUSCAN__LOADS)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "library: this program links OpenCL");
    if (desc->opencl)
        gs->cl = *desc->opencl;
    lacking = gpuscan__lacking(&gs->cl);
    if (!lacking || gpuscan__load_opencl(&gs->cl, wanted, &gs->library, &missing) == 0)
        return GPUSCAN_SUCCESS;
    if (desc->opencl)
        snprintf(table, sizeof(table), "opencl: the table has no %s, and ", lacking);
    if (missing.entry)
        return gpuscan__fail(gs, GPUSCAN_ERROR_NO_OPENCL, "%s%s has no %s, so it is no OpenCL 1.2", table,
                             missing.library, missing.entry);
    if (wanted)
        return gpuscan__fail(gs, GPUSCAN_ERROR_NO_OPENCL, "%slibrary: %s could not be loaded", table, wanted);
    return gpuscan__fail(gs, GPUSCAN_ERROR_NO_OPENCL,
                         "%s%s was not found: install an OpenCL loader (Debian: ocl-icd-libopencl1) or a GPU's driver",
                         table, missing.library);
}

/* Context, device and queue: the caller's or the library's. */
static gpuscan_result gpuscan__open(gpuscan *gs, const gpuscan_desc *desc) {
    const char *wanted;
    cl_int code = CL_SUCCESS;
    gpuscan_result r;
    size_t i;
    if ((r = gpuscan__open_opencl(gs, desc)) != 0)
        return r;
    if (desc->limits.lanes && desc->limits.lanes != 8 && desc->limits.lanes != 16 && desc->limits.lanes != 32 &&
        desc->limits.lanes != 64)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "limits.lanes is none of 8, 16, 32 and 64");
    if (!desc->context && desc->queue)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "queue without context");
    if (desc->context) {
        cl_device_id devices[64];
        size_t size = 0;
        code = gs->cl.clGetContextInfo(desc->context, CL_CONTEXT_DEVICES, sizeof(devices), devices, &size);
        if (code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "context: clGetContextInfo failed");
        gs->device_id = desc->device ? desc->device : devices[0];
        for (i = 0; i < size / sizeof(devices[0]) && devices[i] != gs->device_id;)
            i++;
        if (i == size / sizeof(devices[0]))
            return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_CONTEXT, "device is none of the context's");
        code = gs->cl.clRetainContext(desc->context);
        if (code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "clRetainContext failed");
        gs->context = desc->context;
    } else {
        wanted = desc->device_name ? desc->device_name : getenv("GPUSCAN_DEVICE");
        if (wanted && !*wanted)
            wanted = NULL;
        gs->device_id = desc->device;
        if (!gs->device_id && (r = gpuscan__choose_device(gs, wanted)) != 0)
            return r;
        gs->context = gs->cl.clCreateContext(NULL, 1, &gs->device_id, NULL, NULL, &code);
        if (!gs->context || code != CL_SUCCESS) /* gpuscan_destroy releases what came with an error code */
            return gpuscan__fail(gs, code, "clCreateContext failed");
    }
    if ((r = gpuscan__open_device(gs)) != 0)
        return r;
    if (desc->queue) {
        gpuscan_call call;
        cl_command_queue queue;
        int in_order;
        memset(&call, 0, sizeof(call));
        call.queue = desc->queue;
        if ((r = gpuscan__check_call(gs, &call, &queue, &in_order)) != 0)
            return r == GPUSCAN_ERROR_INVALID_CONTEXT
                       ? gpuscan__fail(gs, r, "queue is of another context or device than the object")
                       : r;
        return gpuscan__keep_queue(gs, &gs->queue, desc->queue);
    }
    return GPUSCAN_SUCCESS;
}

GPUSCAN_API gpuscan_result gpuscan_create(gpuscan **out, const gpuscan_desc *desc) {
    gpuscan_desc nothing;
    gpuscan_allocator allocator;
    gpuscan *gs;
    gpuscan_result r;
    if (!out)
        return GPUSCAN_ERROR_INVALID_ARGUMENT;
    *out = NULL;
    memset(&nothing, 0, sizeof(nothing));
    if (!desc)
        desc = &nothing;
    if (desc->error && desc->error_size)
        desc->error[0] = 0;
    allocator = desc->allocator;
    if ((allocator.allocate == NULL) != (allocator.release == NULL)) {
        if (desc->error)
            snprintf(desc->error, desc->error_size, "allocator: only one of allocate and release is given");
        return GPUSCAN_ERROR_INVALID_ARGUMENT;
    }
    if (!allocator.allocate) {
        allocator.allocate = gpuscan__default_allocate;
        allocator.release = gpuscan__default_release;
    }
    gs = (gpuscan *)gpuscan__allocate(&allocator, sizeof(*gs));
    if (!gs) {
        if (desc->error)
            snprintf(desc->error, desc->error_size, "no memory for the object");
        if (desc->logger.log)
            desc->logger.log(GPUSCAN_LOG_ERROR, "no memory for the object", desc->logger.user);
        return GPUSCAN_ERROR_OUT_OF_HOST_MEMORY;
    }
    memset(gs, 0, sizeof(*gs));
    gs->allocator = allocator;
    gs->logger = desc->logger;
    gs->tracer = desc->tracer;
    gs->limits = desc->limits;
    r = gpuscan__open(gs, desc);
    if (r == 0) {
        *out = gs;
        return GPUSCAN_SUCCESS;
    }
    if (desc->error)
        snprintf(desc->error, desc->error_size, "%s", gs->error);
    gpuscan_destroy(gs);
    return r;
}

GPUSCAN_API void gpuscan_destroy(gpuscan *gs) {
    gpuscan_allocator allocator;
    int i;
    if (!gs)
        return;
    gpuscan__free_programs(gs, gs->programs);
    for (i = 0; i < GPUSCAN__SCRATCHES; i++)
        gpuscan__drop_scratch(gs, i);
    gpuscan__forget_event(gs, &gs->scratch_event);
    if (gs->scratch_queue)
        gs->cl.clReleaseCommandQueue(gs->scratch_queue);
    if (gs->last_queue)
        gs->cl.clReleaseCommandQueue(gs->last_queue);
    if (gs->service_queue)
        gs->cl.clReleaseCommandQueue(gs->service_queue);
    if (gs->queue)
        gs->cl.clReleaseCommandQueue(gs->queue);
    if (gs->context)
        gs->cl.clReleaseContext(gs->context);
    allocator = gs->allocator;
    gpuscan__release(&allocator, gs->blob);
    gpuscan__unload_opencl(gs->library);
    gpuscan__release(&allocator, gs);
}

GPUSCAN_API gpuscan_result gpuscan_get_info(const gpuscan *gs, gpuscan_info *info) {
    size_t i;
    if (!gs || !info)
        return GPUSCAN_ERROR_INVALID_ARGUMENT;
    memset(info, 0, sizeof(*info));
    info->context = gs->context;
    info->device = gs->device_id;
    info->queue = gs->queue;
    info->device_name = gs->device.name;
    info->platform_name = gs->device.platform;
    info->profile = gs->device.profile.name;
    info->work_group_size = gs->device.group_limit;
    info->local_memory = gs->device.local_memory;
    info->has_f64 = gs->device.f64;
    info->has_int64_atomics = gs->device.int64_atomics;
    info->has_fence = gs->device.fence != GPUSCAN__FENCE_NONE;
    info->opencl = &gs->cl;
    info->has_lanes = gs->device.lanes != GPUSCAN__LANES_NONE;
    info->has_zero_copy = gs->device.zero_copy;
    info->scan_strategy = gs->device.profile.scan_rest.strategy;
    info->reduce_strategy = gs->device.profile.reduce;
    info->histogram_strategy = gs->device.profile.histogram;
    info->sort_strategy = gs->device.profile.sort;
    info->refusals = gs->refusals;
    info->refusal = gs->refusal;
    for (i = 0; i < GPUSCAN__OPERATION_COUNT; i++)
        info->refused |= gs->refused[i];
    return GPUSCAN_SUCCESS;
}

/* The public functions of an operation: run, prepare, scratch size. Those on host arrays stand in its section. */
#define GPUSCAN__PUBLIC(operation)                                                                                     \
    GPUSCAN_API gpuscan_result gpuscan_##operation(gpuscan *gs, const gpuscan_##operation##_desc *desc) {              \
        gpuscan__##operation##_plan plan;                                                                              \
        return gpuscan__call(gs, &plan.common, sizeof(plan), &gpuscan__##operation##_operation, desc,                  \
                             desc ? &desc->call : NULL, GPUSCAN__RUN, NULL);                                           \
    }                                                                                                                  \
    GPUSCAN_API gpuscan_result gpuscan_##operation##_prepare(gpuscan *gs, const gpuscan_##operation##_desc *desc) {    \
        gpuscan__##operation##_plan plan;                                                                              \
        return gpuscan__call(gs, &plan.common, sizeof(plan), &gpuscan__##operation##_operation, desc,                  \
                             desc ? &desc->call : NULL, GPUSCAN__PREPARE, NULL);                                       \
    }                                                                                                                  \
    GPUSCAN_API gpuscan_result gpuscan_##operation##_scratch_size(gpuscan *gs, const gpuscan_##operation##_desc *desc, \
                                                                  uint64_t *size) {                                    \
        gpuscan__##operation##_plan plan;                                                                              \
        return gpuscan__call(gs, &plan.common, sizeof(plan), &gpuscan__##operation##_operation, desc,                  \
                             desc ? &desc->call : NULL, GPUSCAN__SIZE, size);                                          \
    }
GPUSCAN__OPERATIONS(GPUSCAN__PUBLIC)
#undef GPUSCAN__PUBLIC

enum { GPUSCAN__MAX_DEVICES = 64 };

/* Which of the program's devices is the object's: those of the context, or the one that it was built for. */
static gpuscan_result gpuscan__program_device(gpuscan *gs, cl_program program, size_t *index, size_t *count) {
    cl_device_id devices[GPUSCAN__MAX_DEVICES];
    size_t size = 0;
    cl_int code = gs->cl.clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(devices), devices, &size);
    *count = size / sizeof(devices[0]);
    for (*index = 0; code == CL_SUCCESS && *index < *count; (*index)++)
        if (devices[*index] == gs->device_id)
            return GPUSCAN_SUCCESS;
    return gpuscan__fail(gs, code, "clGetProgramInfo failed");
}

/* A binary, appended to a blob that has room, or only counted. */
static gpuscan_result gpuscan__blob_program(gpuscan *gs, const gpuscan__program *program, unsigned char *blob,
                                            uint64_t *at) {
    gpuscan__blob_entry entry;
    size_t sizes[GPUSCAN__MAX_DEVICES] = {0}, index, count;
    unsigned char *binaries[GPUSCAN__MAX_DEVICES] = {NULL}, *others = NULL;
    size_t i, most = 0;
    cl_int code;
    gpuscan_result r = gpuscan__program_device(gs, program->program, &index, &count);
    if (r != 0)
        return r;
    code = gs->cl.clGetProgramInfo(program->program, CL_PROGRAM_BINARY_SIZES, count * sizeof(sizes[0]), sizes, NULL);
    if (code != CL_SUCCESS)
        return gpuscan__fail(gs, code, "clGetProgramInfo failed");
    for (i = 0; i < count && !sizes[index]; i++) /* it was built for one device: PoCL 3.1 puts that first */
        index = i;
    if (!sizes[index])
        return gpuscan__fail(gs, code, "clGetProgramInfo gives no binary");
    entry.prefix_length = program->prefix_length;
    entry.binary_size = sizes[index];
    if (blob) {
        for (i = 0; i < count; i++)
            if (i != index && sizes[i] > most)
                most = sizes[i];
        if (most && (others = (unsigned char *)gpuscan__allocate(&gs->allocator, most)) == NULL)
            return gpuscan__fail(gs, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the binaries of other devices");
        for (i = 0; i < count; i++) /* a driver should pass over NULL, but PoCL 3.1 writes to it */
            binaries[i] = others;
        binaries[index] = blob + *at + sizeof(entry) + gpuscan__padded(entry.prefix_length);
        memcpy(blob + *at, &entry, sizeof(entry));
        memcpy(blob + *at + sizeof(entry), program->prefix, program->prefix_length);
        code = gs->cl.clGetProgramInfo(program->program, CL_PROGRAM_BINARIES, count * sizeof(binaries[0]), binaries,
                                       NULL);
        gpuscan__release(&gs->allocator, others);
        if (code != CL_SUCCESS)
            return gpuscan__fail(gs, code, "clGetProgramInfo failed");
    }
    *at += sizeof(entry) + gpuscan__padded(entry.prefix_length) + gpuscan__padded(entry.binary_size);
    return GPUSCAN_SUCCESS;
}

GPUSCAN_API gpuscan_result gpuscan_get_blob(gpuscan *gs, void *blob, size_t *size) {
    gpuscan__blob_header header;
    const gpuscan__program *program;
    unsigned char *bytes = (unsigned char *)blob;
    uint64_t at = sizeof(header), capacity;
    gpuscan_result r;
    cl_int code;
    if (!gs)
        return GPUSCAN_ERROR_INVALID_ARGUMENT;
    gs->error[0] = 0;
    if (!size)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "size is NULL");
    if (gs->last_queue && (code = gs->cl.clFinish(gs->last_queue)) != CL_SUCCESS)
        return gpuscan__fail(gs, code, "clFinish failed");
    memset(&header, 0, sizeof(header));
    for (program = gs->programs; program; program = program->next) {
        if ((r = gpuscan__blob_program(gs, program, NULL, &at)) != 0)
            return r;
        header.entries++;
    }
    if (at > SIZE_MAX)
        return gpuscan__fail(gs, GPUSCAN_ERROR_SIZE_OVERFLOW, "the blob does not fit the host's size_t");
    capacity = *size;
    *size = (size_t)at;
    if (!blob)
        return GPUSCAN_SUCCESS;
    if (capacity < at)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "size: the blob needs %llu bytes",
                             (unsigned long long)at);
    memset(bytes, 0, (size_t)at);
    header.size = at;
    at = sizeof(header);
    for (program = gs->programs; program; program = program->next)
        if ((r = gpuscan__blob_program(gs, program, bytes, &at)) != 0) {
            memset(bytes, 0, (size_t)header.size);
            return r;
        }
    memcpy(header.magic, gpuscan__blob_magic, sizeof(header.magic));
    header.device_hash = gpuscan__device_hash(gs);
    header.checksum = gpuscan__hash(GPUSCAN__HASH_START, bytes + sizeof(header), (size_t)at - sizeof(header));
    memcpy(bytes, &header, sizeof(header));
    return GPUSCAN_SUCCESS;
}

/* Whether the entries lie one behind the other and end where the blob ends. */
static int gpuscan__blob_is_whole(const unsigned char *blob, uint64_t size, uint64_t entries) {
    uint64_t at = sizeof(gpuscan__blob_header);
    while (entries--) {
        gpuscan__blob_entry entry;
        if (size - at < sizeof(entry))
            return 0;
        memcpy(&entry, blob + at, sizeof(entry));
        at += sizeof(entry);
        if (entry.prefix_length > size || gpuscan__padded(entry.prefix_length) > size - at)
            return 0;
        at += gpuscan__padded(entry.prefix_length);
        if (entry.binary_size == 0 || entry.binary_size > size || gpuscan__padded(entry.binary_size) > size - at)
            return 0;
        at += gpuscan__padded(entry.binary_size);
    }
    return at == size;
}

GPUSCAN_API gpuscan_result gpuscan_set_blob(gpuscan *gs, const void *blob, size_t size) {
    gpuscan__blob_header header;
    const unsigned char *bytes = (const unsigned char *)blob;
    unsigned char *copy;
    if (!gs)
        return GPUSCAN_ERROR_INVALID_ARGUMENT;
    gs->error[0] = 0;
    if (!blob)
        return gpuscan__fail(gs, GPUSCAN_ERROR_INVALID_ARGUMENT, "blob is NULL");
    if (size < sizeof(header))
        return gpuscan__fail(gs, GPUSCAN_ERROR_BLOB, "the blob is shorter than its header");
    memcpy(&header, blob, sizeof(header));
    if (memcmp(header.magic, gpuscan__blob_magic, sizeof(header.magic)) != 0 || header.size != size)
        return gpuscan__fail(gs, GPUSCAN_ERROR_BLOB, "this is no blob of this version, or it is truncated");
    if (header.device_hash != gpuscan__device_hash(gs))
        return gpuscan__fail(gs, GPUSCAN_ERROR_BLOB, "the blob is of another device, driver or version");
    if (header.checksum != gpuscan__hash(GPUSCAN__HASH_START, bytes + sizeof(header), size - sizeof(header)) ||
        !gpuscan__blob_is_whole(bytes, size, header.entries))
        return gpuscan__fail(gs, GPUSCAN_ERROR_BLOB, "the blob is damaged");
    copy = (unsigned char *)gpuscan__allocate(&gs->allocator, size);
    if (!copy)
        return gpuscan__fail(gs, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "no memory for the blob");
    memcpy(copy, blob, size);
    gpuscan__release(&gs->allocator, gs->blob);
    gs->blob = copy;
    gs->blob_size = size;
    return GPUSCAN_SUCCESS;
}

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif
#ifdef _MSC_VER
#pragma warning(pop)
#endif
#endif /* GPUSCAN_IMPLEMENTATION */

/* [LICENCE] --------------------------------------------------------------------------------------------------------

   gpuscan may be used under either of the two licences below: choose the one that you prefer.

   ------------------------------------------------------------------------------
   ALTERNATIVE A - MIT No Attribution (MIT-0)

   Copyright (c) the gpuscan contributors

   Permission is hereby granted, free of charge, to any person obtaining a copy
   of this software and associated documentation files (the "Software"), to deal
   in the Software without restriction, including without limitation the rights
   to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
   copies of the Software, and to permit persons to whom the Software is
   furnished to do so.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
   IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
   FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
   AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
   LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
   OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
   SOFTWARE.

   ------------------------------------------------------------------------------
   ALTERNATIVE B - Public domain (www.unlicense.org)

   This is free and unencumbered software released into the public domain.

   Anyone is free to copy, modify, publish, use, compile, sell, or distribute
   this software, either in source code form or as a compiled binary, for any
   purpose, commercial or non-commercial, and by any means.

   In jurisdictions that recognize copyright laws, the author or authors of this
   software dedicate any and all copyright interest in the software to the public
   domain. We make this dedication for the benefit of the public at large and to
   the detriment of our heirs and successors. We intend this dedication to be an
   overt act of relinquishment in perpetuity of all present and future rights to
   this software under copyright law.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
   IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
   FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
   AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN
   ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
   WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
