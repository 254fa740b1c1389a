/* A table of OpenCL entry points between library and driver, and an allocator. Both count live objects and can be told
   to fail. For one thread at a time. */
#ifndef TEST_LAYER_H
#define TEST_LAYER_H

#include "harness.h"
#include "opencl.h"

enum { LAYER_OBJECTS = 4096, LAYER_LOG = 65536 };

/* The entry points as numbers, in the order of the list. */
#define LAYER_INDEX(name, result, parameters) LAYER_##name,
enum { GPUSCAN_OPENCL_FUNCTIONS(LAYER_INDEX) LAYER_FUNCTIONS };
#undef LAYER_INDEX

#define LAYER_NAME(name, result, parameters) #name,
static const char *const layer_names[] = {GPUSCAN_OPENCL_FUNCTIONS(LAYER_NAME) NULL};
#undef LAYER_NAME

typedef struct layer_object {
    void *handle;
    int references; /* taken through the table */
    int maker;      /* the entry point that made it */
} layer_object;

static struct layer_state {
    gpuscan_opencl driver, table;
    layer_object objects[LAYER_OBJECTS];
    size_t object_count;
    unsigned calls[LAYER_FUNCTIONS]; /* since layer_reset */
    unsigned call;                   /* of all entry points */
    unsigned short log[LAYER_LOG];   /* the entry point of each call */

    unsigned fail_at; /* the call that fails, counted from 1; 0: none */
    int fail_on;      /* all later calls fail, too */
    cl_int fail_code; /* returned by calls that fail */
    int fail_gives;   /* a failed call returns its object all the same */
    int failed;       /* the first entry point that failed, or -1 */

    unsigned allocations, allocation_fail_at;
    int allocation_fail_on, allocation_failed;
    size_t allocated;   /* live blocks */
    uint64_t bytes;     /* bytes of the live blocks */
    const char *misuse; /* the first misuse: a release too many, a block that is none, a write past its end */
} layer;

static inline void layer_misuse(const char *what) {
    if (layer.misuse == NULL)
        layer.misuse = what;
}

/* ---- faults and counts ------------------------------------------------------------------------------------------- */

/* Counts a call. Returns the error that it fails with, or CL_SUCCESS. */
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

/* Notes that the library passed an object (an event) to the caller. */
static inline void layer_taken(void *handle) {
    layer_drop(handle);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* A release that reports a failure still releases: otherwise the driver's object would leak. */
#define LAYER_STATUS(name, result, arguments) return failure ? failure : layer.driver.name arguments;
#define LAYER_MAKE(name, result, arguments)                                                                            \
    result made = NULL;                                                                                                \
    if (failure == CL_SUCCESS || layer.fail_gives)                                                                     \
        made = layer.driver.name arguments;                                                                            \
    if (failure != CL_SUCCESS && status)                                                                               \
        *status = failure;                                                                                             \
    layer_hold(made, LAYER_##name);                                                                                    \
    return made;
#define LAYER_RETAIN(name, result, arguments)                                                                          \
    if (failure == CL_SUCCESS)                                                                                         \
        failure = layer.driver.name(object);                                                                           \
    if (failure == CL_SUCCESS)                                                                                         \
        layer_hold(object, LAYER_##name);                                                                              \
    return failure;
#define LAYER_RELEASE(name, result, arguments)                                                                         \
    cl_int status;                                                                                                     \
    layer_drop(object);                                                                                                \
    status = layer.driver.name(object);                                                                                \
    return failure ? failure : status;
/* A command that fails may still return an event, of a command that does nothing. */
#define LAYER_ENQUEUE(name, result, arguments)                                                                         \
    cl_int status = failure;                                                                                           \
    if (failure == CL_SUCCESS)                                                                                         \
        status = layer.driver.name arguments;                                                                          \
    else if (layer.fail_gives && event)                                                                                \
        status = layer.driver.clEnqueueMarkerWithWaitList(queue, waits, wait, event);                                  \
    if (status == CL_SUCCESS && event)                                                                                 \
        layer_hold(*event, LAYER_##name);                                                                              \
    return failure ? failure : status;
#define LAYER_MAP(name, result, arguments)                                                                             \
    void *mapped = NULL;                                                                                               \
    if (failure == CL_SUCCESS || layer.fail_gives)                                                                     \
        mapped = layer.driver.name arguments;                                                                          \
    if (failure != CL_SUCCESS && status)                                                                               \
        *status = failure;                                                                                             \
    if (mapped && event)                                                                                               \
        layer_hold(*event, LAYER_##name);                                                                              \
    return mapped;

#define LAYER_CALL(kind, name, result, parameters, arguments)                                                          \
    static result CL_API_CALL layer_##name parameters {                                                                \
        cl_int failure = layer_enter(LAYER_##name);                                                                    \
        LAYER_##kind(name, result, arguments)                                                                          \
    }
OPENCL_CALLS(LAYER_CALL)

/* ---- the allocator ----------------------------------------------------------------------------------------------- */

/* A block: its size and a word that marks it, the memory, and bytes behind it that must not change. */
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
    memset(block + LAYER_HEADER, 0xA5, size + LAYER_TAIL); /* not zero: the library must not rely on it */
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

/* Resets the counts, and lets nothing fail. Live objects stay counted. */
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

/* Returns a desc for the test's context, device and queue that goes through the layer. */
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

/* Fails if an object or a block is still alive, or if there was a misuse. */
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
