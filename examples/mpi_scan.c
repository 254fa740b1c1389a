/* mpicc -O2 -I.. mpi_scan.c -o mpi_scan -lOpenCL        (macOS: -framework OpenCL)

   mpirun -n 4 ./mpi_scan [elements [--no-check]]         (fewer than four cores: --oversubscribe)

   Scans and a histogram over an array that is spread over ranks, and so may be larger than any device. Each rank owns a
   part, in order, in a buffer of its device:

     1. gpuscan_reduce of the part
     2. MPI_Exscan of these totals: what precedes the part. Rank 0 gets nothing from MPI, and needs nothing: it begins
        with the operator's identity
     3. gpuscan_scan of the part, with that as its init

   MPI_Allreduce adds the counters of a histogram. Rank 0 compiles, and the others get its blob of programs. The
   elements (4,000,001 by default; parts differ by one at most) are computed from their index. At the end rank 0 scans
   the whole array alone and compares every element; --no-check skips that, for arrays that need all devices.
   Ranks of one machine take its devices in turn, GPUs if there are any (GPUSCAN_DEVICE=name: only those of that name).
   A rank that fails prints why and ends the job. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_ONLY_REDUCE
#define GPUSCAN_ONLY_HISTOGRAM
#define GPUSCAN_LINK_OPENCL
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"

static int rank, ranks;

/* Ends all ranks. If one rank only exited, the others would wait for it. */
static void stop(const char *what, const char *why) {
    fprintf(stderr, "mpi_scan: rank %d: %s: %s\n", rank, what, why);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* Stops unless a result of gpuscan or OpenCL is success. */
static void need(gpuscan *gs, gpuscan_result result, const char *what) {
    const char *words = gpuscan_error(gs);
    if (result != GPUSCAN_SUCCESS)
        stop(what, words[0] ? words : gpuscan_result_string(result));
}

static const char usage[] = "usage: mpi_scan [elements [--no-check]]\n";

static void misused(void) {
    fputs(usage, stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void *allocate(uint64_t size) {
    void *memory = size <= SIZE_MAX ? malloc(size ? (size_t)size : 1) : NULL;
    if (!memory)
        stop("malloc", "out of memory");
    return memory;
}

/* [DEVICE] --------------------------------------------------------------------------------------------------------- */

enum { MOST_DEVICES = 64 };

/* Finds the devices of a type whose name, or whose platform's, contains the wanted text. */
static cl_uint find_devices(cl_device_type type, const char *wanted, cl_device_id *found) {
    cl_platform_id platforms[16];
    cl_uint platform_count = 0, count = 0, p, d;
    if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS)
        return 0;
    for (p = 0; p < platform_count && p < 16; p++) {
        cl_device_id devices[MOST_DEVICES];
        cl_uint device_count = 0;
        if (clGetDeviceIDs(platforms[p], type, MOST_DEVICES, devices, &device_count) != CL_SUCCESS)
            continue;
        for (d = 0; d < device_count && d < MOST_DEVICES && count < MOST_DEVICES; d++) {
            char name[256] = "", platform[256] = "";
            clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL);
            clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
            if (!wanted || strstr(name, wanted) || strstr(platform, wanted))
                found[count++] = devices[d];
        }
    }
    return count;
}

/* Returns this rank's device: the ranks of a machine take its devices in turn. */
static cl_device_id pick_device(void) {
    cl_device_id devices[MOST_DEVICES];
    const char *wanted = getenv("GPUSCAN_DEVICE");
    cl_uint count = find_devices(CL_DEVICE_TYPE_GPU, wanted, devices);
    MPI_Comm machine;
    int local = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &local);
    MPI_Comm_free(&machine);
    if (count == 0)
        count = find_devices(CL_DEVICE_TYPE_ALL, wanted, devices);
    if (count == 0) { /* so gpuscan finds none, and says which devices there are */
        char error[1000] = "";
        gpuscan *gs = NULL;
        gpuscan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.error = error;
        desc.error_size = sizeof error;
        gpuscan_create(&gs, &desc);
        stop("no device", error);
    }
    return devices[(cl_uint)local % count];
}

/* [CASES] ---------------------------------------------------------------------------------------------------------- */

/* x -> factor * x + sum, in order: it does not commute, which MPI must be told. */
typedef struct map {
    uint32_t factor, sum;
} map;

static const gpuscan_custom maps = {
    "typedef struct { uint factor, sum; } map;\n"
    "map then(map a, map b) { map c; c.factor = a.factor * b.factor; c.sum = a.sum * b.factor + b.sum; return c; }\n"
    "map same(void) { map c; c.factor = 1; c.sum = 0; return c; }\n",
    "map", sizeof(map), "then(a, b)", "same()", NULL, NULL, NULL, NULL};

/* MPI's b = a then b, for each of count maps. */
static void then(void *a, void *b, int *count, MPI_Datatype *type) {
    const map *first = (const map *)a;
    map *second = (map *)b;
    int i;
    (void)type;
    for (i = 0; i < *count; i++) {
        second[i].sum += first[i].sum * second[i].factor;
        second[i].factor *= first[i].factor;
    }
}

typedef struct scan_case {
    const char *name;
    gpuscan_type src_type, dst_type;
    gpuscan_op op;
    gpuscan_scan_kind kind;
    size_t src_size, dst_size;
    MPI_Datatype type;
    MPI_Op mpi_op;
} scan_case;

/* Computes element i of the whole array: bytes that look random; floats are numbers from -1000 to 1000. */
static void element(const scan_case *c, uint64_t i, void *at) {
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    double number;
    map m;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 32;
    if (c->src_type == GPUSCAN_TYPE_F64) {
        number = (double)(x % 2000001) / 1000.0 - 1000.0;
        memcpy(at, &number, sizeof number);
    } else if (c->src_type == GPUSCAN_TYPE_CUSTOM) {
        m.factor = (uint32_t)x | 1;
        m.sum = (uint32_t)(x >> 32);
        memcpy(at, &m, sizeof m);
    } else { /* the host's byte order does not matter, as long as all ranks have the same */
        memcpy(at, &x, c->src_size);
    }
}

/* [A PART ON A DEVICE] --------------------------------------------------------------------------------------------- */

typedef struct part {
    gpuscan *gs;
    cl_context context;
    cl_command_queue queue;
    uint64_t first, count;
    cl_mem src, dst;
} part;

/* Gives rank r of n its elements [first, first + count) of the whole. */
static void share_of(uint64_t all, int r, int n, uint64_t *first, uint64_t *count) {
    uint64_t each = all / (uint64_t)n, rest = all % (uint64_t)n, index = (uint64_t)r;
    *count = each + (index < rest);
    *first = index * each + (index < rest ? index : rest);
}

static cl_mem make_buffer(const part *p, uint64_t bytes) {
    cl_int code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    cl_mem mem = NULL;
    if (bytes <= SIZE_MAX)
        mem = clCreateBuffer(p->context, CL_MEM_READ_WRITE, bytes ? (size_t)bytes : 1, NULL, &code);
    need(NULL, code, "clCreateBuffer");
    return mem;
}

static void open_part(part *p) {
    gpuscan_desc desc;
    char error[2000] = "";
    cl_int code;
    memset(p, 0, sizeof *p);
    memset(&desc, 0, sizeof desc);
    desc.device = pick_device();
    p->context = clCreateContext(NULL, 1, &desc.device, NULL, NULL, &code);
    need(NULL, code, "clCreateContext");
    p->queue = clCreateCommandQueue(p->context, desc.device, 0, &code);
    need(NULL, code, "clCreateCommandQueue");
    desc.context = p->context;
    desc.queue = p->queue;
    desc.error = error;
    desc.error_size = sizeof error;
    if (gpuscan_create(&p->gs, &desc) != GPUSCAN_SUCCESS)
        stop("gpuscan_create", error);
}

static void fill_part(part *p, const scan_case *c, uint64_t first, uint64_t count) {
    enum { PIECE = 1 << 20 };
    unsigned char *piece = (unsigned char *)allocate((uint64_t)PIECE * c->src_size);
    uint64_t at, i, n;
    p->first = first;
    p->count = count;
    p->src = make_buffer(p, count * c->src_size);
    p->dst = make_buffer(p, count * c->dst_size);
    for (at = 0; at < count; at += n) {
        n = count - at < PIECE ? count - at : PIECE;
        for (i = 0; i < n; i++)
            element(c, first + at + i, piece + i * c->src_size);
        need(NULL, clEnqueueWriteBuffer(p->queue, p->src, CL_TRUE, (size_t)(at * c->src_size),
                                        (size_t)(n * c->src_size), piece, 0, NULL, NULL),
             "clEnqueueWriteBuffer");
    }
    free(piece);
}

static void empty_part(part *p) {
    clReleaseMemObject(p->src);
    clReleaseMemObject(p->dst);
}

/* Fills the descs, except for the part's buffers and results. */
static void describe(const part *p, const scan_case *c, gpuscan_reduce_desc *reduce, gpuscan_scan_desc *scan) {
    memset(reduce, 0, sizeof *reduce);
    memset(scan, 0, sizeof *scan);
    reduce->count = scan->count = p->count;
    reduce->src_type = scan->src_type = c->src_type;
    reduce->dst_type = scan->dst_type = c->dst_type;
    reduce->op = scan->op = c->op;
    reduce->custom = scan->custom = &maps;
    scan->kind = c->kind;
}

/* Does the three steps of the first comment. alone: one rank has the whole array. */
static void scan_part(part *p, const scan_case *c, int alone) {
    gpuscan_reduce_desc reduce;
    gpuscan_scan_desc scan;
    double total[2] = {0, 0}, before[2] = {0, 0}; /* room for one element of any type here */
    describe(p, c, &reduce, &scan);
    if (!alone) {
        reduce.src.mem = p->src;
        reduce.result = total;
        need(p->gs, gpuscan_reduce(p->gs, &reduce), "gpuscan_reduce");
        need(NULL, clFinish(p->queue), "clFinish");
        MPI_Exscan(total, before, 1, c->type, c->mpi_op, MPI_COMM_WORLD);
        if (rank > 0)
            scan.init = before;
    }
    scan.src.mem = p->src;
    scan.dst.mem = p->dst;
    need(p->gs, gpuscan_scan(p->gs, &scan), "gpuscan_scan");
    need(NULL, clFinish(p->queue), "clFinish");
}

/* Rank 0 builds what all will need, and sends it. A rank with another device or driver builds for itself. */
static void share_programs(part *p, const scan_case *list, int cases, uint64_t all, int f64) {
    uint64_t size = 0, first;
    size_t bytes = 0;
    void *blob;
    int i;
    share_of(all, 0, ranks, &first, &p->count);
    if (rank == 0) {
        for (i = 0; i < cases; i++) {
            gpuscan_reduce_desc reduce;
            gpuscan_scan_desc scan;
            if (list[i].src_type == GPUSCAN_TYPE_F64 && !f64)
                continue;
            describe(p, &list[i], &reduce, &scan);
            need(p->gs, gpuscan_reduce_prepare(p->gs, &reduce), "gpuscan_reduce_prepare");
            need(p->gs, gpuscan_scan_prepare(p->gs, &scan), "gpuscan_scan_prepare");
        }
        need(p->gs, gpuscan_get_blob(p->gs, NULL, &bytes), "gpuscan_get_blob");
        size = bytes <= INT32_MAX ? bytes : 0;
    }
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    bytes = (size_t)size;
    blob = allocate(size);
    if (rank == 0 && size)
        need(p->gs, gpuscan_get_blob(p->gs, blob, &bytes), "gpuscan_get_blob");
    MPI_Bcast(blob, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank > 0)
        (void)gpuscan_set_blob(p->gs, blob, bytes);
    free(blob);
}

/* [CHECKS] --------------------------------------------------------------------------------------------------------- */

/* Rank 0 compares each rank's part with its own result, in pieces that MPI's int can count. */
static uint64_t compare_parts(part *p, const scan_case *c, uint64_t all) {
    enum { PIECE = 1 << 20 };
    uint64_t wrong = 0, at, n, first, count;
    unsigned char *got = (unsigned char *)allocate((uint64_t)PIECE * c->dst_size), *wanted;
    part whole = *p;
    int r;
    if (rank > 0) {
        for (at = 0; at < p->count; at += n) {
            n = p->count - at < PIECE ? p->count - at : PIECE;
            need(NULL, clEnqueueReadBuffer(p->queue, p->dst, CL_TRUE, (size_t)(at * c->dst_size),
                                           (size_t)(n * c->dst_size), got, 0, NULL, NULL),
                 "clEnqueueReadBuffer");
            MPI_Send(got, (int)(n * c->dst_size), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        free(got);
        return 0;
    }
    wanted = (unsigned char *)allocate((uint64_t)PIECE * c->dst_size);
    fill_part(&whole, c, 0, all);
    scan_part(&whole, c, 1);
    for (r = 0; r < ranks; r++) {
        share_of(all, r, ranks, &first, &count);
        for (at = 0; at < count; at += n) {
            uint64_t i;
            n = count - at < PIECE ? count - at : PIECE;
            if (r == 0)
                need(NULL, clEnqueueReadBuffer(p->queue, p->dst, CL_TRUE, (size_t)(at * c->dst_size),
                                               (size_t)(n * c->dst_size), got, 0, NULL, NULL),
                     "clEnqueueReadBuffer");
            else
                MPI_Recv(got, (int)(n * c->dst_size), MPI_BYTE, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            need(NULL, clEnqueueReadBuffer(p->queue, whole.dst, CL_TRUE, (size_t)((first + at) * c->dst_size),
                                           (size_t)(n * c->dst_size), wanted, 0, NULL, NULL),
                 "clEnqueueReadBuffer");
            for (i = 0; i < n; i++)
                wrong += memcmp(got + i * c->dst_size, wanted + i * c->dst_size, c->dst_size) != 0;
        }
    }
    empty_part(&whole);
    free(wanted);
    free(got);
    return wrong;
}

/* Returns the slowest rank's seconds, best of some rounds; the first round builds the programs. */
static double time_of(part *p, const scan_case *c) {
    double best = 0;
    int round;
    for (round = 0; round < 6; round++) {
        double begin, mine, slowest = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        scan_part(p, c, 0);
        mine = MPI_Wtime() - begin;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (round == 1 || (round > 1 && slowest < best))
            best = slowest;
    }
    return best;
}

static int run_scan(part *p, const scan_case *c, uint64_t all, int checks) {
    uint64_t first, count, wrong = 0;
    double seconds;
    share_of(all, rank, ranks, &first, &count);
    fill_part(p, c, first, count);
    seconds = time_of(p, c);
    if (checks)
        wrong = compare_parts(p, c, all);
    if (rank == 0)
        printf("%-38s %8.3f ms, %6.1f G elements/s%s\n", c->name, 1e3 * seconds, 1e-9 * (double)all / seconds,
               !checks ? "" : wrong ? ": WRONG" : ": every element as on one rank");
    empty_part(p);
    return wrong == 0;
}

/* Counts bytes into 256 bins, in 64-bit counters that MPI adds. */
static int run_histogram(part *p, uint64_t all, int checks) {
    enum { BINS = 256 };
    static const scan_case bytes = {
        "", GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, 1, 1, 0, 0};
    uint64_t counts[BINS], sums[BINS], wanted[BINS] = {0}, first, count, i;
    gpuscan_histogram_desc histogram;
    double begin;
    int right = 1;
    share_of(all, rank, ranks, &first, &count);
    fill_part(p, &bytes, first, count);
    memset(&histogram, 0, sizeof histogram);
    histogram.samples.mem = p->src;
    histogram.counts.mem = make_buffer(p, sizeof counts);
    histogram.counter_type = GPUSCAN_TYPE_U64;
    histogram.count = count;
    need(p->gs, gpuscan_histogram_prepare(p->gs, &histogram), "gpuscan_histogram_prepare");
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    need(p->gs, gpuscan_histogram(p->gs, &histogram), "gpuscan_histogram");
    need(NULL, clEnqueueReadBuffer(p->queue, histogram.counts.mem, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    MPI_Allreduce(counts, sums, BINS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    begin = MPI_Wtime() - begin;
    if (rank == 0 && checks) {
        for (i = 0; i < all; i++) {
            unsigned char sample;
            element(&bytes, i, &sample);
            wanted[sample]++;
        }
        right = memcmp(sums, wanted, sizeof sums) == 0;
    }
    if (rank == 0)
        printf("%-38s %8.3f ms, %6.1f G elements/s%s\n", "histogram of bytes", 1e3 * begin,
               1e-9 * (double)all / begin,
               !checks ? "" : right ? ": every counter as in a loop" : ": WRONG");
    clReleaseMemObject(histogram.counts.mem);
    empty_part(p);
    return right;
}

int main(int argc, char **argv) {
    uint64_t all = 4000001;
    int checks = argc < 3, right = 1, cases, f64, scans = 0, i;
    MPI_Datatype map_type;
    MPI_Op map_op;
    part p;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        if (rank == 0)
            fputs(usage, stdout);
        MPI_Finalize();
        return 0;
    }
    if (argc > 1) {
        char *end;
        double given = strtod(argv[1], &end); /* 4000001, or 4e6 */
        all = *end || !(given >= 1 && given <= 1e15) || (double)(uint64_t)given != given ? 0 : (uint64_t)given;
    }
    if (all == 0 || argc > 3 || (argc == 3 && strcmp(argv[2], "--no-check") != 0))
        misused();
    MPI_Type_contiguous(sizeof(map), MPI_BYTE, &map_type);
    MPI_Type_commit(&map_type);
    MPI_Op_create(then, 0, &map_op);
    open_part(&p);
    {
        const scan_case list[] = {
            {"exclusive sum, u32 to u64", GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, 4, 8,
             MPI_UINT64_T, MPI_SUM},
            {"inclusive maximum, i32", GPUSCAN_TYPE_I32, GPUSCAN_TYPE_I32, GPUSCAN_OP_MAX, GPUSCAN_INCLUSIVE, 4, 4,
             MPI_INT32_T, MPI_MAX},
            {"exclusive exclusive-or, u64", GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, GPUSCAN_OP_XOR, GPUSCAN_EXCLUSIVE, 8,
             8, MPI_UINT64_T, MPI_BXOR},
            {"inclusive product, u32", GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_MUL, GPUSCAN_INCLUSIVE, 4, 4,
             MPI_UINT32_T, MPI_PROD},
            {"exclusive minimum, f64", GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F64, GPUSCAN_OP_MIN, GPUSCAN_EXCLUSIVE, 8, 8,
             MPI_DOUBLE, MPI_MIN},
            {"inclusive, maps (not commutative)", GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM,
             GPUSCAN_INCLUSIVE, sizeof(map), sizeof(map), map_type, map_op},
        };
        gpuscan_info info;
        need(p.gs, gpuscan_get_info(p.gs, &info), "gpuscan_get_info");
        cases = (int)(sizeof list / sizeof *list);
        if (rank == 0)
            printf("device of rank 0: %s\n%llu elements on %d ranks; times: the slowest rank's, the best of 5\n",
                   info.device_name, (unsigned long long)all, ranks);
        f64 = info.has_f64; /* doubles only if every rank's device has them: all ranks run the same scans */
        MPI_Allreduce(MPI_IN_PLACE, &f64, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        share_programs(&p, list, cases, all, f64);
        for (i = 0; i < cases; i++)
            if (list[i].src_type != GPUSCAN_TYPE_F64 || f64) {
                right &= run_scan(&p, &list[i], all, checks);
                scans++;
            }
    }
    right &= run_histogram(&p, all, checks);
    if (rank == 0)
        printf("mpi_scan: %d scans and a histogram on %d ranks: %s\n", scans, ranks,
               !checks ? "not checked" : right ? "as on one rank" : "WRONG");
    if (fflush(stdout) != 0 || ferror(stdout))
        stop("standard output", strerror(errno));
    gpuscan_destroy(p.gs);
    clReleaseCommandQueue(p.queue);
    clReleaseContext(p.context);
    MPI_Op_free(&map_op);
    MPI_Type_free(&map_type);
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return !right;
}
