/* cc -O2 -march=native -I.. methods.c -o methods -lm -lOpenCL        (macOS: -framework OpenCL)

   methods [picture]

   The textbook, side by side: the ways to compute a prefix sum, a sum and a histogram that books and courses teach,
   each as a short kernel in OpenCL C 1.2, beside a plain loop on the CPU and beside gpuscan. Every result is compared
   with the loop's, element by element, before it is timed.

   Times are wall clock, from the first enqueue to the end of clFinish, with the data on the device already: what a
   program sees. A method that one group computes runs at the size that a group can hold, or walks in about a second,
   and the loop it is compared with runs at that size, too. Each time is the median of 3 to 51 runs, as many as fit into
   0.1 s, or a single run's if that takes 0.3 s or longer. At 7,587 elements a launch and the wait for its end take most
   of the time.

   Numbers are small integers, -4 to 4, as int or float. Their sums stay far below 2^24 in size whatever the order of
   the additions, so that float sums are exact too, and every comparison is for equality. */
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_ONLY_REDUCE
#define GPUSCAN_ONLY_HISTOGRAM
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN_LINK_OPENCL
#include "gpuscan.h"
#define STBI_ONLY_JPEG /* the other formats would take longer to compile */
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

#define SMALL     7587 /* 1024 * 7 + 419: a multiple of no group */
#define LARGE     100000000
#define BINS      256
#define LEVELS    32
#define KERNELS   16 /* the most that there may be */
#define MOST_EACH 256
#define MOST_RUNS 51

/* [KERNELS] --------------------------------------------------------------------------------------------------------
   T is int or float. A group has a power of two of work-items; any count of elements n is right, since what is beyond
   n counts as 0. */
static const char *kernels[] = {
    /* Hillis and Steele: log2(size) rounds; in each, every element adds the one 1, 2, 4, ... before it. All work-items
       are busy all the time, but that makes size * log2(size) additions instead of size. Two copies of the data take
       turns, so that nothing is overwritten before it is read. */
    "kernel void hillis_steele(global const T *src, global T *dst, uint n, local T *from, local T *to) {\n"
    "    uint item = get_local_id(0), items = get_local_size(0), gap;\n"
    "    from[item] = item < n ? src[item] : 0;\n"
    "    for (gap = 1; gap < items; gap *= 2) {\n"
    "        local T *swap = to;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        to[item] = item < gap ? from[item] : from[item - gap] + from[item];\n"
    "        to = from;\n"
    "        from = swap;\n"
    "    }\n"
    "    if (item < n)\n"
    "        dst[item] = from[item];\n"
    "}\n"

    /* Blelloch's work-efficient scan of a[0 .. size), size a power of two and at most twice the group; exclusive; gives
       the sum of all. The up-sweep leaves in each node of a binary tree the sum of its leaves:

           3 1 7 0 4 1 6 3   ->   3 4 7 7 4 5 6 9   ->   3 4 7 11 4 5 6 14   ->   3 4 7 11 4 5 6 25

       The down-sweep starts with 0 at the root and gives each left child what its parent has, each right child that
       plus the left child's sum. About 2 * size additions, but fewer and fewer work-items have anything to do. */
    "T sweep(local T *a, uint size) {\n"
    "    uint item = get_local_id(0), nodes, gap = 1;\n"
    "    T sum;\n"
    "    for (nodes = size / 2; nodes > 0; nodes /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (item < nodes)\n"
    "            a[(2 * item + 2) * gap - 1] += a[(2 * item + 1) * gap - 1];\n"
    "        gap *= 2;\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    sum = a[size - 1];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (item == 0)\n"
    "        a[size - 1] = 0;\n"
    "    for (nodes = 1; nodes < size; nodes *= 2) {\n"
    "        gap /= 2;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (item < nodes) {\n"
    "            uint left = (2 * item + 1) * gap - 1, right = (2 * item + 2) * gap - 1;\n"
    "            T below = a[left];\n"
    "            a[left] = a[right];\n"
    "            a[right] += below;\n"
    "        }\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    return sum;\n"
    "}\n"
    "kernel void sweep_one(global const T *src, global T *dst, uint n, local T *a) {\n"
    "    uint item = get_local_id(0);\n"
    "    a[item] = item < n ? src[item] : 0;\n"
    "    sweep(a, get_local_size(0));\n"
    "    if (item < n)\n"
    "        dst[item] = a[item];\n"
    "}\n"
    /* Scans two elements for each work-item, from first on. */
    "T sweep_segment(global const T *src, global T *dst, uint n, uint first, local T *a) {\n"
    "    uint item = get_local_id(0), items = get_local_size(0), i = first + item, j = i + items;\n"
    "    T sum;\n"
    "    a[item] = i < n ? src[i] : 0;\n"
    "    a[item + items] = j < n ? src[j] : 0;\n"
    "    sum = sweep(a, 2 * items);\n"
    "    if (i < n)\n"
    "        dst[i] = a[item];\n"
    "    if (j < n)\n"
    "        dst[j] = a[item + items];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    return sum;\n"
    "}\n"
    "kernel void sweep_two(global const T *src, global T *dst, uint n, local T *a) {\n"
    "    sweep_segment(src, dst, n, 0, a);\n"
    "}\n"

    /* One group walks the array, one segment after the other. This kernel notes each segment's sum ... */
    "kernel void walk_noting(global const T *src, global T *dst, uint n, global T *sums, local T *a) {\n"
    "    uint segment = 2 * get_local_size(0), k, first = 0;\n"
    "    for (k = 0; k < (n - 1) / segment + 1; k++, first += segment) {\n"
    "        T sum = sweep_segment(src, dst, n, first, a);\n"
    "        if (get_local_id(0) == 0)\n"
    "            sums[k] = sum;\n"
    "    }\n"
    "}\n"
    /* ... and this one carries the sum of all so far along, and adds it right away. */
    "kernel void walk_carrying(global const T *src, global T *dst, uint n, local T *a) {\n"
    "    uint item = get_local_id(0), items = get_local_size(0), segment = 2 * items, k, i = item;\n"
    "    T carry = 0;\n"
    "    for (k = 0; k < (n - 1) / segment + 1; k++, i += segment) {\n"
    "        T sum;\n"
    "        a[item] = i < n ? src[i] : 0;\n"
    "        a[item + items] = i + items < n ? src[i + items] : 0;\n"
    "        sum = sweep(a, segment);\n"
    "        if (i < n)\n"
    "            dst[i] = carry + a[item];\n"
    "        if (i + items < n)\n"
    "            dst[i + items] = carry + a[item + items];\n"
    "        carry += sum;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "}\n"
    /* Each group scans a block and notes its sum. src may be dst. */
    "kernel void scan_blocks(global const T *src, global T *dst, uint n, global T *sums, local T *a) {\n"
    "    uint block = get_group_id(0);\n"
    "    T sum = sweep_segment(src, dst, n, block * 2 * get_local_size(0), a);\n"
    "    if (get_local_id(0) == 0)\n"
    "        sums[block] = sum;\n"
    "}\n"
    "kernel void uniform_add(global T *dst, global const T *addends, uint n, uint block) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < n)\n"
    "        dst[i] += addends[i / block];\n"
    "}\n",

    /* Returns the sum of a group's values: in each round half of the items add the other half's. */
    "T sum_group(T value, local T *a) {\n"
    "    uint item = get_local_id(0), half_size;\n"
    "    a[item] = value;\n"
    "    for (half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (item < half_size)\n"
    "            a[item] += a[item + half_size];\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    return a[0];\n"
    "}\n"
    /* Sums a group's share, `each` elements a work-item. Neighbouring items read neighbours, which suits memory. */
    "T sum_share(global const T *src, uint n, uint each) {\n"
    "    uint items = get_local_size(0), i = get_group_id(0) * items * each + get_local_id(0), k;\n"
    "    T sum = 0;\n"
    "    for (k = 0; k < each && i < n; k++, i += items)\n"
    "        sum += src[i];\n"
    "    return sum;\n"
    "}\n"
    "kernel void sum_partial(global const T *src, uint n, uint each, global T *partial, local T *a) {\n"
    "    T sum = sum_group(sum_share(src, n, each), a);\n"
    "    if (get_local_id(0) == 0)\n"
    "        partial[get_group_id(0)] = sum;\n"
    "}\n"
    /* The last group to count itself in finds all partial sums and adds them. OpenCL 1.2 has no fence between groups,
       but atomics act on the memory that all groups share. So partial sums travel by atomics, and a group counts itself
       in only after the exchange has returned the old value. */
    "kernel void sum_last_group(global const T *src, uint n, uint each, volatile global uint *partial,\n"
    "                           volatile global uint *arrived, global T *result, local T *a) {\n"
    "    uint item = get_local_id(0), groups = get_num_groups(0), k;\n"
    "    local uint last;\n"
    "    T sum = sum_group(sum_share(src, n, each), a);\n"
    "    if (item == 0) {\n"
    "        uint before = atomic_xchg(&partial[get_group_id(0)], AS_UINT(sum));\n"
    "        mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "        last = before != 0x80000000u && atomic_inc(arrived) == groups - 1;\n" /* no sum here is that */
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (!last)\n"
    "        return;\n"
    "    sum = 0;\n"
    "    for (k = item; k < groups; k += get_local_size(0))\n"
    "        sum += AS_T(atomic_or(&partial[k], 0));\n"
    "    sum = sum_group(sum, a);\n"
    "    if (item == 0) {\n"
    "        *result = sum;\n"
    "        atomic_xchg(arrived, 0);\n" /* for the next launch */
    "    }\n"
    "}\n",

    /* One table for all groups: if values repeat, all wait for the same counter. */
    "kernel void histogram_global(global const uchar *samples, uint n, uint each, volatile global uint *counts) {\n"
    "    uint items = get_local_size(0), i = get_group_id(0) * items * each + get_local_id(0), k;\n"
    "    for (k = 0; k < each && i < n; k++, i += items)\n"
    "        atomic_inc(&counts[samples[i]]);\n"
    "}\n"
    /* A table for each group in its fast local memory, which is added to the one of all at the end. */
    "kernel void histogram_local(global const uchar *samples, uint n, uint each, volatile global uint *counts) {\n"
    "    volatile local uint bins[256];\n"
    "    uint item = get_local_id(0), items = get_local_size(0), i, k;\n"
    "    for (i = item; i < 256; i += items)\n"
    "        bins[i] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    i = get_group_id(0) * items * each + item;\n"
    "    for (k = 0; k < each && i < n; k++, i += items)\n"
    "        atomic_inc(&bins[samples[i]]);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (i = item; i < 256; i += items)\n"
    "        if (bins[i])\n"
    "            atomic_add(&counts[i], bins[i]);\n"
    "}\n"};

/* [STATE] ---------------------------------------------------------------------------------------------------------- */

typedef enum outcome { INCLUSIVE, EXCLUSIVE, SUM, COUNTS } outcome;

typedef struct named_kernel {
    const char *name;
    cl_kernel kernels[2];
} named_kernel;

/* The data that every method uses. */
typedef struct state {
    gpuscan *gs;
    gpuscan_info info;
    cl_command_queue queue;
    cl_program programs[2]; /* int, float */
    named_kernel known[KERNELS];
    size_t local_memory, units;
    int is_float, is_cpu;
    cl_uint n;
    cl_mem src, dst, samples, counts, partial, arrived, result, sums[LEVELS];
    size_t sums_size[LEVELS];
    int32_t *int_src, *int_dst, *expected; /* the reference: inclusive prefix sums, for float too */
    float *float_src, *float_dst;
    unsigned char *bytes;
    uint32_t cpu_counts[BINS];
    int32_t int_sum;
    float float_sum;
    int checks, failures;
    double gpuscan_time[2], cpu_time[2]; /* inclusive scans of LARGE int and float, for the last line */
} state;

typedef struct method {
    const char *name;
    void (*run)(state *s);     /* enqueues all of it */
    size_t (*limit)(state *s); /* the most elements; NULL: any number */
    outcome gives;
    const char *why;
} method;

/* Returns a kernel. Makes each once for each type. */
static cl_kernel find_kernel(state *s, const char *name) {
    size_t k = 0;
    while (s->known[k].name && strcmp(s->known[k].name, name) != 0)
        k++;
    s->known[k].name = name;
    if (!s->known[k].kernels[s->is_float])
        s->known[k].kernels[s->is_float] = make_kernel(s->programs[s->is_float], name);
    return s->known[k].kernels[s->is_float];
}

/* Returns the largest group for a kernel with this number of elements of local memory a work-item. */
static size_t largest_group(state *s, const char *name, size_t elements) {
    return group_size(&s->info, find_kernel(s, name), s->local_memory / (elements * 4));
}

/* Returns the group for a kernel that works with any and needs two elements a work-item. A GPU hides the latency of
   memory behind many work-items. A CPU computes them one after the other between barriers: the fewer the better. */
static size_t handy_group(state *s, const char *name, size_t wanted) {
    size_t largest = largest_group(s, name, 2);
    wanted = s->is_cpu ? 64 : wanted;
    return wanted < largest ? wanted : largest;
}

/* [PREFIX SUM] ----------------------------------------------------------------------------------------------------- */

static size_t limit_hillis_steele(state *s) {
    return largest_group(s, "hillis_steele", 2);
}

static void run_hillis_steele(state *s) {
    cl_kernel kernel = find_kernel(s, "hillis_steele");
    size_t group = limit_hillis_steele(s);
    set(kernel, 0, sizeof s->src, &s->src);
    set(kernel, 1, sizeof s->dst, &s->dst);
    set(kernel, 2, sizeof s->n, &s->n);
    set(kernel, 3, group * 4, NULL);
    set(kernel, 4, group * 4, NULL);
    launch(s->queue, kernel, group, group);
}

/* Runs a kernel that takes src, dst, n and local memory, in one group. */
static void run_one_group(state *s, const char *name, size_t group, size_t elements) {
    cl_kernel kernel = find_kernel(s, name);
    set(kernel, 0, sizeof s->src, &s->src);
    set(kernel, 1, sizeof s->dst, &s->dst);
    set(kernel, 2, sizeof s->n, &s->n);
    set(kernel, 3, group * elements * 4, NULL);
    launch(s->queue, kernel, group, group);
}

static size_t limit_sweep_one(state *s) {
    return largest_group(s, "sweep_one", 1);
}

static void run_sweep_one(state *s) {
    run_one_group(s, "sweep_one", largest_group(s, "sweep_one", 1), 1);
}

/* Returns a tenth of all elements: groups that walk alone would take most of this program's time. */
static size_t limit_walk(state *s) {
    (void)s;
    return LARGE / 10;
}

static size_t limit_sweep_two(state *s) {
    return 2 * largest_group(s, "sweep_two", 2);
}

static void run_sweep_two(state *s) {
    run_one_group(s, "sweep_two", largest_group(s, "sweep_two", 2), 2);
}

static void run_walk_carrying(state *s) {
    run_one_group(s, "walk_carrying", handy_group(s, "walk_carrying", 1024), 2);
}

/* Returns the buffer for a level's sums, with room for count of them. */
static cl_mem sums_of(state *s, int level, size_t count) {
    if (s->sums_size[level] < count) {
        if (s->sums[level])
            clReleaseMemObject(s->sums[level]);
        s->sums[level] = make_buffer(s->info.context, CL_MEM_READ_WRITE, count * 4, NULL);
        s->sums_size[level] = count;
    }
    return s->sums[level];
}

static void run_uniform_add(state *s, cl_mem dst, cl_mem addends, cl_uint n, cl_uint block) {
    cl_kernel kernel = find_kernel(s, "uniform_add");
    set(kernel, 0, sizeof dst, &dst);
    set(kernel, 1, sizeof addends, &addends);
    set(kernel, 2, sizeof n, &n);
    set(kernel, 3, sizeof block, &block);
    launch(s->queue, kernel, n, group_size(&s->info, kernel, 256));
}

static void run_walk_noting(state *s) {
    cl_kernel noting = find_kernel(s, "walk_noting"), carrying = find_kernel(s, "walk_carrying");
    size_t group = handy_group(s, "walk_noting", 1024), second = handy_group(s, "walk_carrying", 1024);
    cl_uint segments = (s->n - 1) / (cl_uint)(2 * group) + 1;
    cl_mem sums = sums_of(s, 0, segments);
    set(noting, 0, sizeof s->src, &s->src);
    set(noting, 1, sizeof s->dst, &s->dst);
    set(noting, 2, sizeof s->n, &s->n);
    set(noting, 3, sizeof sums, &sums);
    set(noting, 4, 2 * group * 4, NULL);
    launch(s->queue, noting, group, group);
    set(carrying, 0, sizeof sums, &sums);
    set(carrying, 1, sizeof sums, &sums);
    set(carrying, 2, sizeof segments, &segments);
    set(carrying, 3, 2 * second * 4, NULL);
    launch(s->queue, carrying, second, second);
    run_uniform_add(s, s->dst, sums, s->n, (cl_uint)(2 * group));
}

/* Scans blocks. Several have their sums scanned by the same function, a level up, and added by the uniform add. */
static void run_level(state *s, cl_mem src, cl_mem dst, cl_uint n, int level) {
    cl_kernel kernel = find_kernel(s, "scan_blocks");
    size_t group = handy_group(s, "scan_blocks", 256);
    cl_uint block = (cl_uint)(2 * group), blocks = (n - 1) / block + 1;
    cl_mem sums = sums_of(s, level, blocks);
    set(kernel, 0, sizeof src, &src);
    set(kernel, 1, sizeof dst, &dst);
    set(kernel, 2, sizeof n, &n);
    set(kernel, 3, sizeof sums, &sums);
    set(kernel, 4, 2 * group * 4, NULL);
    launch(s->queue, kernel, blocks * group, group);
    if (blocks == 1)
        return;
    run_level(s, sums, sums, blocks, level + 1);
    run_uniform_add(s, dst, sums, n, block);
}

static void run_levels(state *s) {
    run_level(s, s->src, s->dst, s->n, 0);
}

static void run_gpuscan_scan(state *s, gpuscan_scan_kind kind) {
    gpuscan_scan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.src.mem = s->src;
    desc.dst.mem = s->dst;
    desc.count = s->n;
    desc.src_type = s->is_float ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_I32;
    desc.kind = kind;
    desc.call.queue = s->queue;
    check(s->gs, gpuscan_scan(s->gs, &desc), "gpuscan_scan");
}

static void run_gpuscan_inclusive(state *s) {
    run_gpuscan_scan(s, GPUSCAN_INCLUSIVE);
}

static void run_gpuscan_exclusive(state *s) {
    run_gpuscan_scan(s, GPUSCAN_EXCLUSIVE);
}

/* The plain loop. The destination is never the source, which the compiler may rely on. */
static void run_cpu_scan(state *s) {
    cl_uint i;
    if (s->is_float) {
        const float *src = s->float_src;
        float *dst = s->float_dst, sum = 0;
        for (i = 0; i < s->n; i++)
            dst[i] = sum += src[i];
    } else {
        const int32_t *src = s->int_src;
        int32_t *dst = s->int_dst, sum = 0;
        for (i = 0; i < s->n; i++)
            dst[i] = sum += src[i];
    }
}

/* [SUM] ------------------------------------------------------------------------------------------------------------ */

/* How a sum or a histogram is shared out: eight groups a compute unit, to keep all of them busy. Large arrays have
   more, so that a group's share stays in the cache of a CPU, which runs work-items one after the other. */
typedef struct share {
    size_t group, groups;
    cl_uint each; /* elements a work-item */
} share;

static share share_out(state *s, cl_kernel kernel, size_t wanted) {
    share h;
    size_t each;
    h.group = group_size(&s->info, kernel, wanted < 256 ? wanted : 256);
    each = (s->n - 1) / (s->units * 8 * h.group) + 1;
    h.each = each < MOST_EACH ? (cl_uint)each : MOST_EACH;
    h.groups = (s->n - 1) / (h.group * h.each) + 1;
    return h;
}

static void run_sum_partial(state *s) {
    cl_kernel kernel = find_kernel(s, "sum_partial");
    share h = share_out(s, kernel, s->local_memory / 4);
    void *partial = allocate(h.groups * 4);
    size_t k;
    set(kernel, 0, sizeof s->src, &s->src);
    set(kernel, 1, sizeof s->n, &s->n);
    set(kernel, 2, sizeof h.each, &h.each);
    set(kernel, 3, sizeof s->partial, &s->partial);
    set(kernel, 4, h.group * 4, NULL);
    launch(s->queue, kernel, h.groups * h.group, h.group);
    check(NULL, clEnqueueReadBuffer(s->queue, s->partial, CL_TRUE, 0, h.groups * 4, partial, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    s->int_sum = 0;
    s->float_sum = 0;
    for (k = 0; k < h.groups; k++)
        if (s->is_float)
            s->float_sum += ((const float *)partial)[k];
        else
            s->int_sum += ((const int32_t *)partial)[k];
    free(partial);
}

/* Reads the sum, a scalar on the host in every case. */
static void read_sum(state *s) {
    void *to = s->is_float ? (void *)&s->float_sum : (void *)&s->int_sum;
    check(NULL, clEnqueueReadBuffer(s->queue, s->result, CL_TRUE, 0, 4, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}

static void run_sum_last_group(state *s) {
    cl_kernel kernel = find_kernel(s, "sum_last_group");
    share h = share_out(s, kernel, s->local_memory / 4);
    set(kernel, 0, sizeof s->src, &s->src);
    set(kernel, 1, sizeof s->n, &s->n);
    set(kernel, 2, sizeof h.each, &h.each);
    set(kernel, 3, sizeof s->partial, &s->partial);
    set(kernel, 4, sizeof s->arrived, &s->arrived);
    set(kernel, 5, sizeof s->result, &s->result);
    set(kernel, 6, h.group * 4, NULL);
    launch(s->queue, kernel, h.groups * h.group, h.group);
    read_sum(s);
}

static void run_gpuscan_reduce(state *s) {
    gpuscan_reduce_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.src.mem = s->src;
    desc.dst.mem = s->result;
    desc.count = s->n;
    desc.src_type = s->is_float ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_I32;
    desc.call.queue = s->queue;
    check(s->gs, gpuscan_reduce(s->gs, &desc), "gpuscan_reduce");
    read_sum(s);
}

static void run_cpu_sum(state *s) {
    cl_uint i;
    if (s->is_float) {
        float sum = 0;
        for (i = 0; i < s->n; i++)
            sum += s->float_src[i];
        s->float_sum = sum;
    } else {
        int32_t sum = 0;
        for (i = 0; i < s->n; i++)
            sum += s->int_src[i];
        s->int_sum = sum;
    }
}

/* [HISTOGRAM] ------------------------------------------------------------------------------------------------------ */

static void run_histogram(state *s, const char *name) {
    cl_kernel kernel = find_kernel(s, name);
    share h = share_out(s, kernel, 256);
    cl_uint zero = 0;
    check(NULL, clEnqueueFillBuffer(s->queue, s->counts, &zero, sizeof zero, 0, sizeof s->cpu_counts, 0, NULL, NULL),
          "clEnqueueFillBuffer");
    set(kernel, 0, sizeof s->samples, &s->samples);
    set(kernel, 1, sizeof s->n, &s->n);
    set(kernel, 2, sizeof h.each, &h.each);
    set(kernel, 3, sizeof s->counts, &s->counts);
    launch(s->queue, kernel, h.groups * h.group, h.group);
}

static void run_histogram_global(state *s) {
    run_histogram(s, "histogram_global");
}

static void run_histogram_local(state *s) {
    run_histogram(s, "histogram_local");
}

static void run_gpuscan_histogram(state *s) {
    gpuscan_histogram_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.samples.mem = s->samples;
    desc.counts.mem = s->counts;
    desc.count = s->n;
    desc.call.queue = s->queue;
    check(s->gs, gpuscan_histogram(s->gs, &desc), "gpuscan_histogram");
}

static void run_cpu_histogram(state *s) {
    cl_uint i;
    memset(s->cpu_counts, 0, sizeof s->cpu_counts);
    for (i = 0; i < s->n; i++)
        s->cpu_counts[s->bytes[i]]++;
}

/* [THE TABLE] ------------------------------------------------------------------------------------------------------ */

static const method scans[] = {
    {"CPU loop, one thread", run_cpu_scan, NULL, INCLUSIVE, "one addition after the other; memory is streamed once"},
    {"Hillis-Steele, one group", run_hillis_steele, limit_hillis_steele, INCLUSIVE,
     "n log n additions, one group: the device idles"},
    {"up- and down-sweep, 1 a work-item", run_sweep_one, limit_sweep_one, EXCLUSIVE,
     "2 n additions, but half of the items never add"},
    {"up- and down-sweep, 2 a work-item", run_sweep_two, limit_sweep_two, EXCLUSIVE,
     "twice the data for the same rounds and barriers"},
    {"one group walks, sum carried", run_walk_carrying, limit_walk, EXCLUSIVE,
     "any n, but each segment waits for the last one"},
    {"one group walks, sums, uniform add", run_walk_noting, limit_walk, EXCLUSIVE,
     "the same walk, and the data moved once more"},
    {"blocks, sums, uniform add, all levels", run_levels, NULL, EXCLUSIVE,
     "all groups at work; the data moves twice, and tree steps"},
    {"gpuscan, inclusive", run_gpuscan_inclusive, NULL, INCLUSIVE,
     "read once and written once, or nearly, and few barriers"},
    {"gpuscan, exclusive", run_gpuscan_exclusive, NULL, EXCLUSIVE, "the same"},
};

static const method sums[] = {
    {"CPU loop, one thread", run_cpu_sum, NULL, SUM, "one core's share of the memory; floats add in order"},
    {"partial sums, the host adds them", run_sum_partial, NULL, SUM, "streams well; then a transfer and a loop"},
    {"partial sums, the last group adds them", run_sum_last_group, NULL, SUM,
     "one launch; the counter costs next to nothing"},
    {"gpuscan", run_gpuscan_reduce, NULL, SUM, "wide loads, several in flight"},
};

static const method histograms[] = {
    {"CPU loop, one thread", run_cpu_histogram, NULL, COUNTS, "one table; equal neighbours wait for each other"},
    {"global atomics only", run_histogram_global, NULL, COUNTS, "all fight for 256 words in global memory"},
    {"local atomics, merged", run_histogram_local, NULL, COUNTS, "each group fights for its own 256 words only"},
    {"gpuscan", run_gpuscan_histogram, NULL, COUNTS, "private copies: nobody fights, and wide loads"},
};

/* Returns how many elements of a result differ from the reference. */
static cl_uint count_scan_errors(const state *s, const void *got, outcome gives) {
    cl_uint i, wrong = 0;
    int32_t expected = 0;
    for (i = 0; i < s->n; i++) {
        if (gives == INCLUSIVE)
            expected = s->expected[i];
        wrong += s->is_float ? ((const float *)got)[i] != (float)expected : ((const int32_t *)got)[i] != expected;
        if (gives == EXCLUSIVE)
            expected = s->expected[i];
    }
    return wrong;
}

static cl_uint count_errors(state *s, const method *m) {
    uint32_t counts[BINS];
    cl_uint wrong = 0, k;
    cl_int code;
    void *mapped;
    if (m->run == run_cpu_scan)
        return count_scan_errors(s, s->is_float ? (void *)s->float_dst : (void *)s->int_dst, INCLUSIVE);
    if (m->gives == SUM) {
        int32_t total = s->expected[s->n - 1];
        return s->is_float ? s->float_sum != (float)total : s->int_sum != total;
    }
    if (m->run == run_cpu_histogram) {
        uint64_t sum = 0;
        for (k = 0; k < BINS; k++)
            sum += s->cpu_counts[k];
        return sum != s->n;
    }
    if (m->gives == COUNTS) {
        check(NULL, clEnqueueReadBuffer(s->queue, s->counts, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL),
              "clEnqueueReadBuffer");
        for (k = 0; k < BINS; k++)
            wrong += counts[k] != s->cpu_counts[k];
        return wrong;
    }
    mapped = clEnqueueMapBuffer(s->queue, s->dst, CL_TRUE, CL_MAP_READ, 0, (size_t)s->n * 4, 0, NULL, NULL, &code);
    check(NULL, code, "clEnqueueMapBuffer");
    wrong = count_scan_errors(s, mapped, m->gives);
    check(NULL, clEnqueueUnmapMemObject(s->queue, s->dst, mapped, 0, NULL, NULL), "clEnqueueUnmapMemObject");
    check(NULL, clFinish(s->queue), "clFinish");
    return wrong;
}

/* Returns the time of one run, in seconds. */
static double time_run(state *s, const method *m) {
    double start = now();
    m->run(s);
    check(NULL, clFinish(s->queue), "clFinish");
    return now() - start;
}

/* Returns the median of several runs. */
static double measure(state *s, const method *m) {
    double times[MOST_RUNS], begin = now();
    size_t runs = 0;
    while (runs < MOST_RUNS && (runs < 3 || now() - begin < 0.1))
        times[runs++] = time_run(s, m);
    return median(times, runs);
}

static void print_time(double seconds) {
    if (seconds < 1e-3)
        printf("%9.1f us", 1e6 * seconds);
    else
        printf("%9.2f ms", 1e3 * seconds);
}

/* Overwrites the outputs: those of the run before must not pass for this run's. */
static void spoil_outputs(state *s) {
    cl_uint garbage = 0xCDCDCDCDu;
    if (s->dst)
        check(NULL, clEnqueueFillBuffer(s->queue, s->dst, &garbage, sizeof garbage, 0, (size_t)s->n * 4, 0, NULL, NULL),
              "clEnqueueFillBuffer");
    check(NULL, clEnqueueFillBuffer(s->queue, s->counts, &garbage, sizeof garbage, 0, BINS * 4, 0, NULL, NULL),
          "clEnqueueFillBuffer");
    check(NULL, clEnqueueFillBuffer(s->queue, s->result, &garbage, sizeof garbage, 0, 4, 0, NULL, NULL),
          "clEnqueueFillBuffer");
    s->int_sum = 0x4DCDCDCD;
    s->float_sum = 1e30f;
    check(NULL, clFinish(s->queue), "clFinish");
}

/* Runs each method at n or at the most that it can do, checks it, and times it. */
static void run_methods(state *s, const method *methods, size_t count, const char *title) {
    cl_uint n = s->n, most, wrong;
    double cpu_time = 0, loop_time, time;
    size_t k, limit;
    char name[64];
    printf("\n%-49s%12s%9s   %s\n", title, "time", "x CPU", "why");
    for (k = 0; k < count; k++) {
        const method *m = methods + k;
        limit = m->limit ? m->limit(s) : n;
        most = limit < n ? (cl_uint)limit : n;
        /* One untimed run, for what is compiled on first use: gpuscan has other programs for large counts. The loop's
           first run is slow where the system has to find memory for its results. */
        s->n = most < SMALL || k == 0 || strncmp(m->name, "gpuscan", 7) == 0 ? most : SMALL;
        m->run(s);
        check(NULL, clFinish(s->queue), "clFinish");
        s->n = most;
        spoil_outputs(s);
        time = time_run(s, m);
        wrong = count_errors(s, m);
        s->checks++;
        s->failures += wrong != 0;
        if (time < 0.3)
            time = measure(s, m);
        if (k == 0)
            cpu_time = time;
        loop_time = most < n ? measure(s, methods) : cpu_time; /* the loop's time for the same number of elements */
        if (most < n)
            snprintf(name, sizeof name, "%s, n = %u", m->name, (unsigned)most);
        else
            snprintf(name, sizeof name, "%s", m->name);
        printf("%-49s", name);
        print_time(time);
        printf("%9.3f   %s", loop_time / time, m->why);
        if (wrong)
            printf("; WRONG: %u", (unsigned)wrong);
        printf("\n");
        fflush(stdout);
        if (m->run == run_gpuscan_inclusive) {
            s->gpuscan_time[s->is_float] = time;
            s->cpu_time[s->is_float] = cpu_time;
        }
    }
    s->n = n;
}

/* [INPUT] ---------------------------------------------------------------------------------------------------------- */

/* Returns random bits (xorshift64*). */
static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545F4914F6CDD1Du;
}

/* Draws a bright sky over a dark ground with some noise, 3000 x 2000, if there is no picture. */
static unsigned char *draw_picture(size_t *pixels) {
    enum { WIDTH = 3000, HEIGHT = 2000 };
    unsigned char *picture = (unsigned char *)allocate(WIDTH * HEIGHT);
    uint64_t seed = 7;
    size_t i;
    *pixels = WIDTH * HEIGHT;
    for (i = 0; i < *pixels; i++) {
        size_t y = i / WIDTH;
        picture[i] = (unsigned char)((y < 1200 ? 240 - y / 20 : 30 + y / 40) + next_random(&seed) % 8);
    }
    return picture;
}

static void scan_and_sum(state *s, cl_uint n) {
    static const char *const types[] = {"int", "float"};
    uint64_t seed = 1;
    int32_t sum = 0;
    char title[64];
    cl_uint i;
    for (i = 0; i < n; i++) {
        s->int_src[i] = (int32_t)(next_random(&seed) >> 32) % 5;
        s->expected[i] = sum += s->int_src[i];
    }
    for (s->is_float = 0; s->is_float < 2; s->is_float++) {
        void *src = s->int_src;
        if (s->is_float) {
            s->float_src = (float *)src; /* in place: the ints are no longer needed */
            s->float_dst = (float *)(void *)s->int_dst;
            for (i = 0; i < n; i++) {
                float value = (float)s->int_src[i];
                memcpy((char *)src + (size_t)i * 4, &value, 4);
            }
        }
        s->n = n;
        check(NULL, clEnqueueWriteBuffer(s->queue, s->src, CL_TRUE, 0, (size_t)n * 4, src, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
        snprintf(title, sizeof title, "prefix sum, %s %s", commas(n), types[s->is_float]);
        run_methods(s, scans, sizeof scans / sizeof *scans, title);
        snprintf(title, sizeof title, "sum, %s %s", commas(n), types[s->is_float]);
        run_methods(s, sums, sizeof sums / sizeof *sums, title);
        if (n == SMALL)
            printf("At %s elements a launch and the wait for its end take most of the time, so any method may come\n"
                   "first here. The tables of more elements, below, compare the methods.\n",
                   commas(n));
    }
    s->is_float = 0;
}

static void histogram(state *s, unsigned char *bytes, size_t n, const char *title) {
    s->n = (cl_uint)n;
    s->bytes = bytes;
    s->samples = make_buffer(s->info.context, CL_MEM_READ_ONLY, n, bytes);
    run_methods(s, histograms, sizeof histograms / sizeof *histograms, title);
    clReleaseMemObject(s->samples);
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 0, 1, "methods [picture]");
    static state s; /* all zero */
    int32_t zero = 0;
    cl_int code;
    cl_ulong local_memory = 0, largest = 0;
    cl_device_type type = 0;
    cl_uint units = 1, large = LARGE, count = sizeof kernels / sizeof *kernels;
    size_t n, i;
    uint64_t seed = 2;
    unsigned char *bytes;
    char title[64];
    int level;

    s.gs = open_device(&s.info);
    s.queue = clCreateCommandQueue(s.info.context, s.info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    clGetDeviceInfo(s.info.device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_memory, &local_memory, NULL);
    clGetDeviceInfo(s.info.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    clGetDeviceInfo(s.info.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    clGetDeviceInfo(s.info.device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    s.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    s.local_memory = (size_t)local_memory - 64; /* some of it is for a kernel's own variables */
    s.units = units;
    while (large > largest / 4)
        large /= 2;
    if (large < LARGE)
        printf("this device takes no buffer of %s numbers; %s must do\n", commas(LARGE), commas(large));
    s.programs[0] = build_program(&s.info, kernels, count, "-D T=int -D AS_T=as_int -D AS_UINT=as_uint");
    s.programs[1] = build_program(&s.info, kernels, count, "-D T=float -D AS_T=as_float -D AS_UINT=as_uint");
    s.src = make_buffer(s.info.context, CL_MEM_READ_ONLY, (size_t)large * 4, NULL);
    s.dst = make_buffer(s.info.context, CL_MEM_READ_WRITE, (size_t)large * 4, NULL);
    s.counts = make_buffer(s.info.context, CL_MEM_READ_WRITE, BINS * 4, NULL);
    n = 8 * s.units + large / MOST_EACH + 1; /* groups, at most */
    s.partial = make_buffer(s.info.context, CL_MEM_READ_WRITE, n * 4, NULL);
    check(NULL, clEnqueueFillBuffer(s.queue, s.partial, &zero, sizeof zero, 0, n * 4, 0, NULL, NULL),
          "clEnqueueFillBuffer");
    s.arrived = make_buffer(s.info.context, CL_MEM_READ_WRITE, 4, &zero);
    s.result = make_buffer(s.info.context, CL_MEM_READ_WRITE, 4, NULL);
    s.int_src = (int32_t *)allocate((size_t)large * 4);
    s.int_dst = (int32_t *)allocate((size_t)large * 4);
    s.expected = (int32_t *)allocate((size_t)large * 4);

    scan_and_sum(&s, SMALL);
    scan_and_sum(&s, large);

    clReleaseMemObject(s.src);
    clReleaseMemObject(s.dst);
    s.dst = NULL;
    bytes = (unsigned char *)s.int_src;
    for (i = 0; i + 8 <= (size_t)large; i += 8) {
        uint64_t bits = next_random(&seed);
        memcpy(bytes + i, &bits, 8);
    }
    snprintf(title, sizeof title, "histogram, %s random bytes", commas(large));
    histogram(&s, bytes, large, title);
    if (argc > 1) {
        int width, height, channels;
        bytes = stbi_load(argv[1], &width, &height, &channels, 1);
        if (!bytes)
            fail(argv[1], stbi_failure_reason());
        n = (size_t)width * (size_t)height;
    } else {
        bytes = draw_picture(&n);
    }
    snprintf(title, sizeof title, "histogram, %s, %s bytes", argc > 1 ? "photograph" : "picture", commas(n));
    histogram(&s, bytes, n, title);
    free(bytes);

    printf(
        "\nmethods: scan of %s int in %.2f ms, %.2f x the CPU loop; float in %.2f ms, %.2f x; %d of %d results right\n",
        commas(large), 1e3 * s.gpuscan_time[0], s.cpu_time[0] / s.gpuscan_time[0], 1e3 * s.gpuscan_time[1],
        s.cpu_time[1] / s.gpuscan_time[1], s.checks - s.failures, s.checks);
    clReleaseMemObject(s.counts);
    clReleaseMemObject(s.partial);
    clReleaseMemObject(s.arrived);
    clReleaseMemObject(s.result);
    for (level = 0; level < LEVELS; level++)
        if (s.sums[level])
            clReleaseMemObject(s.sums[level]);
    for (i = 0; i < KERNELS; i++) {
        if (s.known[i].kernels[0])
            clReleaseKernel(s.known[i].kernels[0]);
        if (s.known[i].kernels[1])
            clReleaseKernel(s.known[i].kernels[1]);
    }
    clReleaseProgram(s.programs[0]);
    clReleaseProgram(s.programs[1]);
    clReleaseCommandQueue(s.queue);
    gpuscan_destroy(s.gs);
    free(s.int_src);
    free(s.int_dst);
    free(s.expected);
    return s.failures != 0;
}
