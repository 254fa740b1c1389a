/* cc -O2 -I.. engine.c -o engine -lOpenCL             (macOS: -framework OpenCL)
   c++ -x c++ -O2 -I.. engine.c -o engine -lOpenCL     (the same file as C++)

   engine [cache file]

   gpuscan inside a host program that brings everything itself: context, out-of-order queue, events, scratch memory,
   allocator and log. It is a particle system: each frame moves the particles, scans the flags of those that live on
   (u8) into their new positions (u32), compacts the stream, and emits new ones behind. Only the device knows how many
   there are; the host learns it two frames later. All is prepared at load: a frame builds and allocates nothing. Since
   drivers defer work to a kernel's first launch, gpuscan's prepare launches its kernels once, and the load runs an
   empty frame. With a cache file the next start need not compile gpuscan's kernels.

   At the end the particles are compared with those of a plain C loop. The motion is in integers, so they are equal. */
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN_LINK_OPENCL
#include "common.h"

#define CAPACITY  (1u << 18)
#define EMITTED   2000u /* for each frame */
#define FRAMES    200u
#define IN_FLIGHT 2u /* frames that the host may be ahead of the device */

typedef struct particle {
    cl_int x, y, vx, vy;
    cl_uint life;
} particle;

/* [DEVICE CODE] ---------------------------------------------------------------------------------------------------- */

static const char *source =
    "typedef struct { int x, y, vx, vy; uint life; } particle;\n"
    "kernel void advance(global particle *now, global const uint *count, global uchar *alive) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < *count) {\n" /* launches cover the capacity; only the device knows the count */
    "        particle p = now[i];\n"
    "        p.vy -= 10;\n"
    "        p.x += p.vx;\n"
    "        p.y += p.vy;\n"
    "        p.life--;\n"
    "        now[i] = p;\n"
    "        alive[i] = p.life > 0 && p.y >= 0;\n"
    "    }\n"
    "}\n"
    "kernel void compact(global const particle *now, global const uint *count, global const uchar *alive,\n"
    "                    global const uint *offsets, global particle *next) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < *count && alive[i])\n"
    "        next[offsets[i]] = now[i];\n"
    "}\n"
    "kernel void emit(global particle *next, global const uint *survivors, global uint *count, uint emitted,\n"
    "                 uint capacity, uint frame) {\n"
    "    uint i = get_global_id(0), place = *survivors + i, bits = (frame * emitted + i) * 2654435761u;\n"
    "    if (i < emitted && place < capacity) {\n"
    "        particle p = {0, 0, (int)(bits >> 22) - 512, (int)(bits >> 12 & 1023), (bits >> 5 & 127) + 1};\n"
    "        next[place] = p;\n"
    "    }\n"
    "    if (i == 0)\n"
    "        *count = min(*survivors + emitted, capacity);\n"
    "}\n";

/* Does the same in plain C, one particle after the other. */
static cl_uint frame_on_cpu(particle *now, cl_uint count, cl_uint frame) {
    cl_uint i, kept = 0;
    for (i = 0; i < count; i++) {
        particle p = now[i];
        p.vy -= 10;
        p.x += p.vx;
        p.y += p.vy;
        p.life--;
        if (p.life > 0 && p.y >= 0)
            now[kept++] = p;
    }
    for (i = 0; i < EMITTED && kept < CAPACITY; i++, kept++) {
        cl_uint bits = (frame * EMITTED + i) * 2654435761u;
        now[kept].x = now[kept].y = 0;
        now[kept].vx = (cl_int)(bits >> 22) - 512;
        now[kept].vy = (cl_int)(bits >> 12 & 1023);
        now[kept].life = (bits >> 5 & 127) + 1;
    }
    return kept;
}

/* [THE HOST'S SERVICES] -------------------------------------------------------------------------------------------- */

/* The engine's heap, which counts. */
typedef struct heap {
    size_t allocations, live;
} heap;

static void *heap_allocate(size_t size, void *user) {
    heap *h = (heap *)user;
    void *memory = malloc(size);
    if (memory) {
        h->allocations++;
        h->live++;
    }
    return memory;
}

static void heap_release(void *memory, void *user) {
    heap *h = (heap *)user;
    h->live--;
    free(memory);
}

static void print_log(gpuscan_log_level level, const char *message, void *user) {
    (void)user;
    printf("  %s: %s\n",
           level == GPUSCAN_LOG_ERROR     ? "error"
           : level == GPUSCAN_LOG_WARNING ? "warning"
                                          : "gpuscan",
           message);
}

/* Returns the engine's device; here it is the one that gpuscan would take. */
static cl_device_id pick_device(void) {
    gpuscan_info info;
    gpuscan_destroy(open_device(&info));
    return info.device;
}

/* [LOAD] ----------------------------------------------------------------------------------------------------------- */

typedef struct engine {
    heap memory;
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_program program;
    cl_kernel advance, compact, emit;
    size_t group;
    cl_mem particles[2], count, alive, offsets, survivors, scratch;
    gpuscan *gs;
    gpuscan_scan_desc scan; /* filled at load; a frame sets only the events */
} engine;

static cl_mem room(const engine *e, size_t size) {
    return make_buffer(e->context, CL_MEM_READ_WRITE, size, NULL);
}

static void open_queue(engine *e) {
    cl_command_queue_properties can = 0;
    cl_int code;
    e->context = clCreateContext(NULL, 1, &e->device, NULL, NULL, &code);
    check(NULL, code, "clCreateContext");
    clGetDeviceInfo(e->device, CL_DEVICE_QUEUE_PROPERTIES, sizeof can, &can, NULL);
    e->queue = clCreateCommandQueue(e->context, e->device, can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    check(NULL, code, "clCreateCommandQueue");
    printf("queue: %s\n", can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE ? "out-of-order" : "in-order");
}

static void build_kernels(engine *e) {
    cl_int code;
    size_t limit = 1;
    e->program = clCreateProgramWithSource(e->context, 1, &source, NULL, &code);
    check(NULL, code, "clCreateProgramWithSource");
    check(NULL, clBuildProgram(e->program, 1, &e->device, "", NULL, NULL), "clBuildProgram");
    e->advance = make_kernel(e->program, "advance");
    e->compact = make_kernel(e->program, "compact");
    e->emit = make_kernel(e->program, "emit");
    check(NULL, clGetKernelWorkGroupInfo(e->advance, e->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit, NULL),
          "clGetKernelWorkGroupInfo");
    for (e->group = 256; e->group > limit; e->group /= 2)
        ;
}

/* Loads an earlier run's programs. Returns 0 if they do not fit device and driver. */
static int load_cache(engine *e, const char *path) {
    FILE *file = fopen(path, "rb");
    gpuscan_result result = GPUSCAN_ERROR_BLOB;
    char *blob;
    long size;
    if (!file)
        return 0;
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    blob = (char *)malloc(size > 0 ? (size_t)size : 1);
    if (blob && size > 0 && fread(blob, 1, (size_t)size, file) == (size_t)size)
        result = gpuscan_set_blob(e->gs, blob, (size_t)size);
    printf("cache: %s\n", gpuscan_result_string(result));
    free(blob);
    fclose(file);
    return result == GPUSCAN_SUCCESS;
}

static void save_cache(engine *e, const char *path) {
    size_t size = 0;
    char *blob;
    FILE *file;
    int written;
    check(e->gs, gpuscan_get_blob(e->gs, NULL, &size), "gpuscan_get_blob");
    blob = (char *)malloc(size ? size : 1);
    check(e->gs, blob ? gpuscan_get_blob(e->gs, blob, &size) : GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "gpuscan_get_blob");
    errno = 0;
    file = fopen(path, "wb");
    written = file && fwrite(blob, 1, size, file) == size;
    if (file && fclose(file) != 0)
        written = 0;
    if (written)
        printf("cache: %lu bytes into %s\n", (unsigned long)size, path);
    else
        fprintf(stderr, "cache: %s: %s\n", path, strerror(errno)); /* only the next start will take longer */
    free(blob);
}

static void load(engine *e, const char *cache) {
    gpuscan_desc desc;
    uint64_t scratch_size = 0;
    int cached = 0;
    open_queue(e);
    build_kernels(e);

    memset(&desc, 0, sizeof desc);
    desc.context = e->context;
    desc.device = e->device;
    desc.queue = e->queue;
    desc.allocator.allocate = heap_allocate;
    desc.allocator.release = heap_release;
    desc.allocator.user = &e->memory;
    desc.logger.log = print_log;
    check(NULL, gpuscan_create(&e->gs, &desc), "gpuscan_create");
    if (cache)
        cached = load_cache(e, cache);

    e->particles[0] = room(e, CAPACITY * sizeof(particle));
    e->particles[1] = room(e, CAPACITY * sizeof(particle));
    e->count = room(e, sizeof(cl_uint));
    e->alive = room(e, CAPACITY);
    e->offsets = room(e, CAPACITY * sizeof(cl_uint));
    e->survivors = room(e, sizeof(cl_uint));

    e->scan.src.mem = e->alive;
    e->scan.src_type = GPUSCAN_TYPE_U8;
    e->scan.dst.mem = e->offsets;
    e->scan.dst_type = GPUSCAN_TYPE_U32;
    e->scan.total.mem = e->survivors;
    e->scan.count = CAPACITY;
    e->scan.count_buffer.mem = e->count; /* read when the scan runs */
    check(e->gs, gpuscan_scan_scratch_size(e->gs, &e->scan, &scratch_size), "gpuscan_scan_scratch_size");
    if (scratch_size) {
        e->scratch = room(e, (size_t)scratch_size);
        e->scan.call.scratch.mem = e->scratch;
    }
    check(e->gs, gpuscan_scan_prepare(e->gs, &e->scan), "gpuscan_scan_prepare");
    if (cache && !cached)
        save_cache(e, cache);
}

static void unload(engine *e) {
    gpuscan_destroy(e->gs);
    if (e->scratch)
        clReleaseMemObject(e->scratch);
    clReleaseMemObject(e->survivors);
    clReleaseMemObject(e->offsets);
    clReleaseMemObject(e->alive);
    clReleaseMemObject(e->count);
    clReleaseMemObject(e->particles[1]);
    clReleaseMemObject(e->particles[0]);
    clReleaseKernel(e->emit);
    clReleaseKernel(e->compact);
    clReleaseKernel(e->advance);
    clReleaseProgram(e->program);
    clReleaseCommandQueue(e->queue);
    clReleaseContext(e->context);
}

/* [FRAME] ---------------------------------------------------------------------------------------------------------- */

/* Enqueues a kernel behind an event, which it consumes. Returns the kernel's own event. */
static cl_event launch_after(const engine *e, cl_kernel kernel, size_t items, cl_event after) {
    size_t global = (items + e->group - 1) / e->group * e->group;
    cl_event done = NULL;
    check(NULL,
          clEnqueueNDRangeKernel(e->queue, kernel, 1, NULL, &global, &e->group, after ? 1 : 0, after ? &after : NULL,
                                 &done),
          "clEnqueueNDRangeKernel");
    if (after)
        clReleaseEvent(after);
    return done;
}

/* Enqueues one frame behind the one before. *population is valid when *known is complete. */
static cl_event enqueue_frame(engine *e, cl_uint frame, cl_event before, cl_uint *population, cl_event *known) {
    const cl_uint emitted = EMITTED, capacity = CAPACITY;
    cl_mem now = e->particles[frame % 2], next = e->particles[(frame + 1) % 2];
    cl_event advanced, scanned = NULL, done;

    set(e->advance, 0, sizeof now, &now);
    set(e->advance, 1, sizeof e->count, &e->count);
    set(e->advance, 2, sizeof e->alive, &e->alive);
    advanced = launch_after(e, e->advance, CAPACITY, before);

    e->scan.call.wait_count = 1;
    e->scan.call.wait_list = &advanced;
    e->scan.call.event = &scanned;
    check(e->gs, gpuscan_scan(e->gs, &e->scan), "gpuscan_scan");
    clReleaseEvent(advanced);

    set(e->compact, 0, sizeof now, &now);
    set(e->compact, 1, sizeof e->count, &e->count);
    set(e->compact, 2, sizeof e->alive, &e->alive);
    set(e->compact, 3, sizeof e->offsets, &e->offsets);
    set(e->compact, 4, sizeof next, &next);
    done = launch_after(e, e->compact, CAPACITY, scanned);

    set(e->emit, 0, sizeof next, &next);
    set(e->emit, 1, sizeof e->survivors, &e->survivors);
    set(e->emit, 2, sizeof e->count, &e->count);
    set(e->emit, 3, sizeof emitted, &emitted);
    set(e->emit, 4, sizeof capacity, &capacity);
    set(e->emit, 5, sizeof frame, &frame);
    done = launch_after(e, e->emit, EMITTED, done);

    check(NULL, clEnqueueReadBuffer(e->queue, e->count, CL_FALSE, 0, sizeof *population, population, 1, &done, known),
          "clEnqueueReadBuffer");
    clReleaseEvent(done);
    check(NULL, clFlush(e->queue), "clFlush");
    check(NULL, clRetainEvent(*known), "clRetainEvent");
    return *known; /* the next frame changes the count, so it must wait for the read, too */
}

static void set_count(engine *e, cl_uint count) {
    check(NULL, clEnqueueWriteBuffer(e->queue, e->count, CL_TRUE, 0, sizeof count, &count, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
}

/* Runs a frame before the first, so that the engine's own kernels have been launched, too. */
static void rehearse(engine *e) {
    cl_uint population = 0;
    cl_event known = NULL, last;
    set_count(e, 0);
    last = enqueue_frame(e, 0, NULL, &population, &known);
    check(NULL, clFinish(e->queue), "clFinish");
    clReleaseEvent(last);
    clReleaseEvent(known);
    set_count(e, 0);
}

int main(int argc, char **argv) {
    static engine e; /* all zero */
    cl_uint populations[IN_FLIGHT] = {0}, frame, count = 0, expected_count = 0;
    cl_event known[IN_FLIGHT] = {NULL}, last = NULL;
    particle *particles, *expected;
    double start, load_time, first_time = 0, frame_time, host_time = 0;
    size_t allocations;
    int ok;

    take_arguments(argc, argv, 0, 1, "engine [cache file]");
    e.device = pick_device();
    start = now();
    load(&e, argc > 1 ? argv[1] : NULL);
    rehearse(&e);
    load_time = now() - start;

    allocations = e.memory.allocations;
    start = now();
    for (frame = 0; frame < FRAMES; frame++) {
        cl_uint slot = frame % IN_FLIGHT;
        double enqueue;
        if (known[slot]) { /* of two frames ago: the host is never further ahead */
            check(NULL, clWaitForEvents(1, &known[slot]), "clWaitForEvents");
            clReleaseEvent(known[slot]);
            if (frame % 50 == 0)
                printf("  frame %3u: %u particles two frames ago\n", frame, populations[slot]);
        }
        enqueue = now();
        last = enqueue_frame(&e, frame, last, &populations[slot], &known[slot]);
        host_time += now() - enqueue;
        if (frame == 0) { /* to see that it takes no longer than the others */
            check(NULL, clFinish(e.queue), "clFinish");
            first_time = now() - start;
        }
    }
    check(NULL, clFinish(e.queue), "clFinish");
    frame_time = (now() - start) / FRAMES;
    clReleaseEvent(last);
    for (frame = 0; frame < IN_FLIGHT; frame++)
        clReleaseEvent(known[frame]);
    allocations = e.memory.allocations - allocations;

    particles = (particle *)malloc(CAPACITY * sizeof(particle));
    expected = (particle *)malloc(CAPACITY * sizeof(particle));
    check(NULL, particles && expected ? GPUSCAN_SUCCESS : GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "malloc");
    for (frame = 0; frame < FRAMES; frame++)
        expected_count = frame_on_cpu(expected, expected_count, frame);
    count = populations[(FRAMES - 1) % IN_FLIGHT];
    check(NULL,
          clEnqueueReadBuffer(e.queue, e.particles[FRAMES % 2], CL_TRUE, 0, CAPACITY * sizeof(particle), particles, 0,
                              NULL, NULL),
          "clEnqueueReadBuffer");
    ok = count == expected_count && memcmp(particles, expected, count * sizeof(particle)) == 0 && allocations == 0;

    unload(&e);
    ok = ok && e.memory.live == 0;
    printf("loaded in %.0f ms; the first frame takes %.3f ms, a frame on average %.3f ms, %.3f ms of the host\n",
           1e3 * load_time, 1e3 * first_time, 1e3 * frame_time, 1e3 * host_time / FRAMES);
    printf("engine: %u frames, %u particles in the end, %lu allocations by the frames: %s\n", FRAMES, count,
           (unsigned long)allocations, ok ? "as on the CPU" : "WRONG");
    free(particles);
    free(expected);
    return !ok;
}
