/* cc -O2 -I.. start.c -o start -lOpenCL        (macOS: -framework OpenCL)

   start [--load FILE] [--save FILE] [--no-prepare] [elements]

   Prints what a program waits for when it starts, in milliseconds: the driver, an object, and for scan, reduction and
   histogram (of 64 Ki elements by default) the preparation, the first call and a later one. Also counts the programs
   that were built from source (S) or loaded from a blob (B) meanwhile. --save saves the programs at the end, --load
   loads them. Run it twice to see what the driver's own cache saves. Run it with that cache emptied and --load to see
   what the blob saves: POCL_CACHE_DIR=$(mktemp -d), CUDA_CACHE_DISABLE=1, MESA_SHADER_CACHE_DISABLE=1. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, also with -std=c99 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define GPUSCAN_LINK_OPENCL
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"

static double now(void) {
    struct timespec t;
#ifdef _WIN32
    timespec_get(&t, TIME_UTC);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void need(gpuscan *gs, gpuscan_result result, const char *what) {
    if (result == GPUSCAN_SUCCESS)
        return;
    fprintf(stderr, "%s: %s%s%s\n", what, gpuscan_result_string(result), gs ? ": " : "", gpuscan_error(gs));
    exit(1);
}

/* ---- programs that are built meanwhile --------------------------------------------------------------------------- */

static struct {
    unsigned from_source, from_binary;
} built;

static cl_program CL_API_CALL with_source(cl_context context, cl_uint count, const char **texts, const size_t *lengths,
                                          cl_int *code) {
    built.from_source++;
    return clCreateProgramWithSource(context, count, texts, lengths, code);
}

static cl_program CL_API_CALL with_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                          const size_t *sizes, const unsigned char **binaries, cl_int *status,
                                          cl_int *code) {
    built.from_binary++;
    return clCreateProgramWithBinary(context, count, devices, sizes, binaries, status, code);
}

/* Prints the time since *start and what was built, and starts again. */
static void stage(const char *name, double *start) {
    printf("  %-24s %9.2f ms", name, now() - *start);
    if (built.from_source || built.from_binary)
        printf("   %u S, %u B", built.from_source, built.from_binary);
    printf("\n");
    memset(&built, 0, sizeof built);
    *start = now();
}

/* ---- the three operations ---------------------------------------------------------------------------------------- */

typedef struct work {
    gpuscan *gs;
    cl_command_queue queue;
    cl_mem in, out;
    gpuscan_scan_desc scan;
    gpuscan_reduce_desc reduce;
    gpuscan_histogram_desc histogram;
} work;

enum { SCAN, REDUCE, HISTOGRAM, OPERATIONS };
static const char *const names[OPERATIONS] = {"scan", "reduce", "histogram"};

static void prepare(work *w, int which) {
    need(w->gs,
         which == SCAN     ? gpuscan_scan_prepare(w->gs, &w->scan)
         : which == REDUCE ? gpuscan_reduce_prepare(w->gs, &w->reduce)
                           : gpuscan_histogram_prepare(w->gs, &w->histogram),
         names[which]);
}

static void call(work *w, int which) {
    need(w->gs,
         which == SCAN     ? gpuscan_scan(w->gs, &w->scan)
         : which == REDUCE ? gpuscan_reduce(w->gs, &w->reduce)
                           : gpuscan_histogram(w->gs, &w->histogram),
         names[which]);
    need(NULL, clFinish(w->queue), "clFinish");
}

static cl_mem make_buffer(cl_context context, size_t size) {
    cl_int code;
    cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &code);
    need(NULL, code, "clCreateBuffer");
    return mem;
}

/* Runs a kernel of this program, as other programs would: the driver's threads wake when several groups first run,
   which is not a call's cost. (A fill does not wake PoCL's.) */
static void wake(work *w, cl_context context, cl_device_id device, size_t count) {
    const char *text = "kernel void clear(global uint *p) { p[get_global_id(0)] = 0; }";
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    cl_kernel kernel;
    int i;
    need(NULL, code, "clCreateProgramWithSource");
    need(NULL, clBuildProgram(program, 1, &device, NULL, NULL, NULL), "clBuildProgram");
    kernel = clCreateKernel(program, "clear", &code);
    need(NULL, code, "clCreateKernel");
    need(NULL, clSetKernelArg(kernel, 0, sizeof w->out, &w->out), "clSetKernelArg");
    for (i = 0; i < 3; i++) {
        need(NULL, clEnqueueNDRangeKernel(w->queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL), "clear");
        need(NULL, clFinish(w->queue), "clFinish");
    }
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- blobs ------------------------------------------------------------------------------------------------------- */

static void *load(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long length = 0;
    if (file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0) {
        rewind(file);
        bytes = (char *)malloc((size_t)length);
    }
    if (!bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

static void save(gpuscan *gs, const char *path, double *start) {
    size_t size = 0;
    char *bytes;
    FILE *file;
    need(gs, gpuscan_get_blob(gs, NULL, &size), "gpuscan_get_blob");
    bytes = (char *)malloc(size + 1);
    need(gs, bytes ? gpuscan_get_blob(gs, bytes, &size) : GPUSCAN_ERROR_OUT_OF_HOST_MEMORY, "gpuscan_get_blob");
    stage("gpuscan_get_blob", start);
    file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(1);
    }
    printf("  %s: %lu bytes\n", path, (unsigned long)size);
    free(bytes);
}

int main(int argc, char **argv) {
    const char *load_path = NULL, *save_path = NULL;
    int prepares = 1, i, k;
    size_t count = 1 << 16, size = 0;
    void *blob = NULL, *zeros;
    char *end;
    gpuscan_opencl table;
    gpuscan_desc desc;
    gpuscan_info info;
    gpuscan *probe = NULL;
    work w;
    double start = now(), begin = start;
    for (i = 1; i < argc; i++)
        if (strcmp(argv[i], "--load") == 0 && i + 1 < argc) {
            load_path = argv[++i];
        } else if (strcmp(argv[i], "--save") == 0 && i + 1 < argc) {
            save_path = argv[++i];
        } else if (strcmp(argv[i], "--no-prepare") == 0) {
            prepares = 0;
        } else if ((count = strtoul(argv[i], &end, 10)) == 0 || *end || strchr(argv[i], '-')) {
            fprintf(stderr, "usage: start [--load FILE] [--save FILE] [--no-prepare] [elements]\n");
            return 2;
        }
    if (load_path)
        blob = load(load_path, &size);
    memset(&w, 0, sizeof w);
    memset(&desc, 0, sizeof desc);
    memset(&table, 0, sizeof table);
    table.clCreateProgramWithSource = with_source; /* the library takes the other entry points from the loader */
    table.clCreateProgramWithBinary = with_binary;
    need(NULL, gpuscan_create(&probe, NULL), "gpuscan_create");
    need(probe, gpuscan_get_info(probe, &info), "gpuscan_get_info");
    printf("%s: start, %lu elements\n", info.device_name, (unsigned long)count);
    stage("loader, driver, context", &start);

    w.queue = clCreateCommandQueue(info.context, info.device, 0, NULL);
    w.in = make_buffer(info.context, count * 4);
    w.out = make_buffer(info.context, (count > 256 ? count : 256) * 4);
    zeros = calloc(count, 4);
    if (zeros) { /* so that no call is the first to touch their memory */
        need(NULL, clEnqueueWriteBuffer(w.queue, w.in, CL_TRUE, 0, count * 4, zeros, 0, NULL, NULL), "write");
        need(NULL, clEnqueueWriteBuffer(w.queue, w.out, CL_TRUE, 0, count * 4, zeros, 0, NULL, NULL), "write");
    }
    stage("queue, buffers, writes", &start);

    desc.context = info.context;
    desc.device = info.device;
    desc.queue = w.queue;
    desc.opencl = &table;
    need(NULL, gpuscan_create(&w.gs, &desc), "gpuscan_create");
    stage("gpuscan_create", &start);
    if (blob) {
        need(w.gs, gpuscan_set_blob(w.gs, blob, size), "gpuscan_set_blob");
        stage("gpuscan_set_blob", &start);
    }
    w.scan.src.mem = w.reduce.src.mem = w.histogram.samples.mem = w.in;
    w.scan.dst.mem = w.reduce.dst.mem = w.histogram.counts.mem = w.out;
    w.scan.count = w.reduce.count = w.histogram.count = count;

    for (i = 0; i < OPERATIONS && prepares; i++) {
        char name[64];
        prepare(&w, i);
        snprintf(name, sizeof name, "gpuscan_%s_prepare", names[i]);
        stage(name, &start);
    }
    wake(&w, info.context, info.device, count);
    stage("a kernel of its own", &start);
    for (i = 0; i < OPERATIONS; i++) {
        enum { LATER = 21 };
        double later[LATER], first, t = now();
        unsigned source, binary;
        call(&w, i);
        first = now() - t;
        source = built.from_source;
        binary = built.from_binary;
        for (k = 0; k < LATER; k++) {
            t = now();
            call(&w, i);
            later[k] = now() - t;
        }
        qsort(later, LATER, sizeof *later, compare);
        printf("  %-9s first call %9.3f ms, %7.1f x a later one of %.3f ms   %u S, %u B\n", names[i], first,
               first / later[LATER / 2], later[LATER / 2], source, binary);
        memset(&built, 0, sizeof built);
    }
    printf("  in all %.1f ms\n", now() - begin);
    start = now();
    if (save_path)
        save(w.gs, save_path, &start);
    gpuscan_destroy(w.gs);
    clReleaseMemObject(w.in);
    clReleaseMemObject(w.out);
    clReleaseCommandQueue(w.queue);
    gpuscan_destroy(probe);
    free(zeros);
    free(blob);
    return 0;
}
