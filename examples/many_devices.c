/* cc -O2 -I.. many_devices.c -o many_devices -lm -lOpenCL        (macOS: -framework OpenCL)

   many_devices [elements [devices]]

   One process and all devices of a context: each has a queue, a gpuscan object and a part of the array. Calls only
   enqueue, so one thread keeps all devices busy. Two ways to join the parts' scans, both compared with a plain loop:

     init         reduce every part; scan each with what precedes it as init: reads the parts twice, writes them once
     uniform add  scan every part and take its total; add what precedes it: reads once, writes twice, but no scan waits
                  for another device

   The context has the devices of the platform with the best one (GPUSCAN_DEVICE=name: with the first of that name). The
   second argument is the number of them to use. POCL_DEVICES="pthread pthread" makes two of one CPU, to try.
   examples/mpi_scan.c does the same over machines. */
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_ONLY_REDUCE
#define GPUSCAN_ONLY_UNIFORM_ADD
#define GPUSCAN_LINK_OPENCL
#define GPUSCAN_IMPLEMENTATION
#include "common.h"

enum { MOST_DEVICES = 16, ROUNDS = 5 };

/* A device's part of the array: u32 in, u64 sums out. */
typedef struct part {
    gpuscan *gs;
    cl_command_queue queue;
    uint64_t count;
    cl_mem src, dst, total, before; /* total, before: one u64 */
    uint64_t sum;                   /* of the part, on the host */
} part;

static void open_part(part *p, cl_context context, cl_device_id device, uint32_t *data, uint64_t count) {
    gpuscan_desc desc;
    char words[2000] = "";
    cl_int code;
    memset(p, 0, sizeof *p);
    memset(&desc, 0, sizeof desc);
    p->queue = clCreateCommandQueue(context, device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    desc.context = context;
    desc.device = device;
    desc.queue = p->queue;
    desc.error = words;
    desc.error_size = sizeof words;
    if (gpuscan_create(&p->gs, &desc) != GPUSCAN_SUCCESS)
        fail("gpuscan_create", words);
    p->count = count;
    p->src = make_buffer(context, CL_MEM_READ_WRITE, (size_t)(count * 4), count ? data : NULL);
    p->dst = make_buffer(context, CL_MEM_READ_WRITE, (size_t)(count * 8), NULL);
    p->total = make_buffer(context, CL_MEM_READ_WRITE, 8, NULL);
    p->before = make_buffer(context, CL_MEM_READ_WRITE, 8, NULL);
}

static void close_part(part *p) {
    gpuscan_destroy(p->gs);
    clReleaseMemObject(p->src);
    clReleaseMemObject(p->dst);
    clReleaseMemObject(p->total);
    clReleaseMemObject(p->before);
    clReleaseCommandQueue(p->queue);
}

/* Waits for all devices. Starts each of them before it waits for the first. */
static void finish(part *parts, cl_uint count) {
    cl_uint d;
    for (d = 0; d < count; d++)
        check(NULL, clFlush(parts[d].queue), "clFlush");
    for (d = 0; d < count; d++)
        check(NULL, clFinish(parts[d].queue), "clFinish");
}

static void scan_desc(const part *p, gpuscan_scan_desc *scan) {
    memset(scan, 0, sizeof *scan);
    scan->src.mem = p->src;
    scan->dst.mem = p->dst;
    scan->dst_type = GPUSCAN_TYPE_U64;
    scan->count = p->count;
}

static void by_init(part *parts, cl_uint count) {
    uint64_t before = 0;
    cl_uint d;
    for (d = 0; d < count; d++) {
        gpuscan_reduce_desc reduce;
        memset(&reduce, 0, sizeof reduce);
        reduce.src.mem = parts[d].src;
        reduce.dst_type = GPUSCAN_TYPE_U64;
        reduce.count = parts[d].count;
        reduce.result = &parts[d].sum;
        check(parts[d].gs, gpuscan_reduce(parts[d].gs, &reduce), "gpuscan_reduce");
    }
    finish(parts, count);
    for (d = 0; d < count; d++) {
        gpuscan_scan_desc scan;
        scan_desc(&parts[d], &scan);
        scan.init = &before; /* read before the call returns */
        check(parts[d].gs, gpuscan_scan(parts[d].gs, &scan), "gpuscan_scan");
        before += parts[d].sum;
    }
    finish(parts, count);
}

static void by_uniform_add(part *parts, cl_uint count) {
    uint64_t before = 0;
    cl_uint d;
    for (d = 0; d < count; d++) {
        gpuscan_scan_desc scan;
        scan_desc(&parts[d], &scan);
        scan.total.mem = parts[d].total;
        check(parts[d].gs, gpuscan_scan(parts[d].gs, &scan), "gpuscan_scan");
        check(NULL, clEnqueueReadBuffer(parts[d].queue, parts[d].total, CL_FALSE, 0, 8, &parts[d].sum, 0, NULL, NULL),
              "clEnqueueReadBuffer");
    }
    finish(parts, count);
    for (d = 0; d < count; d++) {
        gpuscan_uniform_add_desc add;
        memset(&add, 0, sizeof add);
        check(NULL, clEnqueueWriteBuffer(parts[d].queue, parts[d].before, CL_TRUE, 0, 8, &before, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
        before += parts[d].sum;
        if (d == 0) /* nothing precedes it */
            continue;
        add.dst.mem = parts[d].dst;
        add.addend.mem = parts[d].before;
        add.type = GPUSCAN_TYPE_U64;
        add.count = parts[d].count;
        add.block = parts[d].count ? parts[d].count : 1; /* one addend for all */
        check(parts[d].gs, gpuscan_uniform_add(parts[d].gs, &add), "gpuscan_uniform_add");
    }
    finish(parts, count);
}

/* Returns how many elements differ from the loop's. */
static uint64_t compare(part *parts, cl_uint count, const uint64_t *wanted) {
    uint64_t wrong = 0, i;
    cl_uint d;
    for (d = 0; d < count; d++) {
        uint64_t *got;
        if (parts[d].count == 0)
            continue;
        got = (uint64_t *)allocate((size_t)(parts[d].count * 8));
        check(NULL, clEnqueueReadBuffer(parts[d].queue, parts[d].dst, CL_TRUE, 0, (size_t)(parts[d].count * 8), got, 0,
                                        NULL, NULL),
              "clEnqueueReadBuffer");
        for (i = 0; i < parts[d].count; i++)
            wrong += got[i] != *wanted++;
        free(got);
    }
    return wrong;
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 0, 2, "many_devices [elements [devices]]");
    static void (*const ways[2])(part *, cl_uint) = {by_init, by_uniform_add};
    static const char *const names[2] = {"init", "uniform add"};
    uint64_t all = argc > 1 ? whole_number(argv[1], 1, 4294967296.0) : 10000019, i, at = 0, wrong = 0;
    cl_device_id devices[MOST_DEVICES];
    cl_platform_id platform;
    part parts[MOST_DEVICES];
    cl_uint count = 0, most = argc > 2 ? (cl_uint)whole_number(argv[2], 1, MOST_DEVICES) : MOST_DEVICES, d;
    uint32_t *data;
    uint64_t *wanted, sum = 0;
    cl_context context;
    gpuscan_info info;
    gpuscan *best = open_device(&info);
    cl_int code;
    int way, round;
    check(NULL, clGetDeviceInfo(info.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL), "clGetDeviceInfo");
    gpuscan_destroy(best);
    check(NULL, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count), "clGetDeviceIDs");
    if (count > MOST_DEVICES)
        count = MOST_DEVICES;
    if (count > most)
        count = most;
    context = clCreateContext(NULL, count, devices, NULL, NULL, &code);
    check(NULL, code, "clCreateContext");

    data = (uint32_t *)allocate((size_t)(all * 4));
    wanted = (uint64_t *)allocate((size_t)(all * 8));
    for (i = 0; i < all; i++) {
        data[i] = (uint32_t)((i + 1) * 0x9e3779b97f4a7c15u >> 32);
        wanted[i] = sum;
        sum += data[i];
    }
    for (d = 0; d < count; d++) {
        uint64_t share = all / count + (d < all % count);
        open_part(&parts[d], context, devices[d], data + at, share);
        at += share;
    }
    for (way = 0; way < 2; way++) {
        double times[ROUNDS];
        ways[way](parts, count); /* builds the programs */
        wrong += compare(parts, count, wanted);
        for (round = 0; round < ROUNDS; round++) {
            double begin = now();
            ways[way](parts, count);
            times[round] = now() - begin;
        }
        wrong += compare(parts, count, wanted);
        printf("%-12s %s elements on %u devices: %.3f ms\n", names[way], commas(all), (unsigned)count,
               1e3 * median(times, ROUNDS));
    }
    for (d = 0; d < count; d++)
        close_part(&parts[d]);
    clReleaseContext(context);
    free(data);
    free(wanted);
    printf("many_devices: %s elements on %u devices, joined in two ways: %s\n", commas(all), (unsigned)count,
           wrong ? "WRONG" : "as in a loop");
    return wrong != 0;
}
