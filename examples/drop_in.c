/* cc -O2 -I.. drop_in.c -o drop_in -lOpenCL -lm        (macOS: -framework OpenCL)

   drop_in [elements]

   Three pieces of programs that gpuscan can take the place of, each before and after. The results must be equal.

     radix sort class   Simulations carry a class that sorts buffers of {key, value} for a grid of particles: Bullet 3's
                        b3RadixSort32CL and its scans have about 700 lines of host code and kernels. Here sorter_open,
                        sorter_sort and sorter_close are all of it.
     qsort on the host  The particles' cells are read back, sorted by qsort and written again, since the device had no
                        sort. After: the buffer stays where it is.
     histogram to host  An exposure meter reads a histogram back and walks over it to find the percentiles. After: the
                        device walks, and the host neither waits nor reads. */
#define GPUSCAN_ONLY_SORT
#define GPUSCAN_ONLY_HISTOGRAM
#define GPUSCAN_ONLY_QUANTILE
#define GPUSCAN_LINK_OPENCL
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"

enum { ROUNDS = 5, BINS = 256, RANKS = 3 };

typedef struct pair {
    uint32_t key, value;
} pair;

/* [A RADIX SORT CLASS] --------------------------------------------------------------------------------------------- */

/* Sorts pairs in place, by key, equal keys in their order. With C++ bindings: buffer() and queue() are these handles. */
typedef struct sorter {
    gpuscan *gs;
    gpuscan_sort_desc desc;
} sorter;

static gpuscan_result sorter_open(sorter *s, cl_context context, cl_device_id device, uint64_t most) {
    const uint16_t one = 1;
    gpuscan_desc desc;
    gpuscan_result r;
    memset(&desc, 0, sizeof desc);
    memset(s, 0, sizeof *s);
    desc.context = context;
    desc.device = device;
    r = gpuscan_create(&s->gs, &desc);
    s->desc.key_type = GPUSCAN_TYPE_U64; /* the pair as one number; its key is the lower half on little-endian devices */
    s->desc.bit_begin = *(const unsigned char *)&one ? 0 : 32;
    s->desc.bit_end = s->desc.bit_begin + 32;
    s->desc.count = most;
    s->desc.call.counts_from = 1; /* later sorts of 1 to most pairs compile nothing */
    return r == 0 ? gpuscan_sort_prepare(s->gs, &s->desc) : r;
}

static gpuscan_result sorter_sort(sorter *s, cl_command_queue queue, cl_mem pairs, uint64_t count) {
    s->desc.src.mem = s->desc.dst.mem = pairs;
    s->desc.count = count;
    s->desc.call.queue = queue;
    return gpuscan_sort(s->gs, &s->desc);
}

static void sorter_close(sorter *s) {
    gpuscan_destroy(s->gs);
}

/* [QSORT ON THE HOST] ---------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b) { /* qsort is not stable, so equal keys are ordered by value */
    const pair *x = (const pair *)a, *y = (const pair *)b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static void sort_on_host(cl_command_queue queue, cl_mem pairs, pair *host, size_t count) {
    check(NULL, clEnqueueReadBuffer(queue, pairs, CL_TRUE, 0, count * sizeof *host, host, 0, NULL, NULL), "read");
    qsort(host, count, sizeof *host, by_key);
    check(NULL, clEnqueueWriteBuffer(queue, pairs, CL_TRUE, 0, count * sizeof *host, host, 0, NULL, NULL), "write");
}

/* [A HISTOGRAM TO THE HOST] ---------------------------------------------------------------------------------------- */

static const double fractions[RANKS] = {0.02, 0.5, 0.98};

/* Returns how long a histogram and its quantiles take, in seconds. on_host: the host finds the quantiles. */
static double meter(gpuscan *gs, const gpuscan_histogram_desc *histogram, const gpuscan_quantile_desc *quantile,
                    int on_host, uint32_t *found) {
    double begin = now();
    check(gs, gpuscan_histogram(gs, histogram), "gpuscan_histogram");
    if (on_host) {
        uint32_t counts[BINS];
        int bin = 0, k;
        uint64_t before = 0;
        check(NULL, clEnqueueReadBuffer(histogram->call.queue, histogram->counts.mem, CL_TRUE, 0, sizeof counts, counts,
                                        0, NULL, NULL), "read");
        for (k = 0; k < RANKS; k++) { /* the first bin with more than this share of the samples below or in it */
            uint64_t rank = (uint64_t)(fractions[k] * (double)histogram->count);
            while (bin < BINS - 1 && before + counts[bin] <= rank)
                before += counts[bin++];
            found[k] = (uint32_t)bin;
        }
        return now() - begin;
    }
    check(gs, gpuscan_quantile(gs, quantile), "gpuscan_quantile"); /* the exposure's kernel would follow */
    check(NULL, clFinish(histogram->call.queue), "clFinish");
    begin = now() - begin;
    check(NULL, clEnqueueReadBuffer(histogram->call.queue, quantile->dst.mem, CL_TRUE, 0, RANKS * sizeof *found, found,
                                    0, NULL, NULL), "read");
    return begin;
}

int main(int argc, char **argv) {
    gpuscan_info info;
    gpuscan *gs;
    gpuscan_histogram_desc histogram;
    gpuscan_quantile_desc quantile;
    sorter s;
    cl_command_queue queue;
    cl_mem pairs, bytes;
    cl_int code;
    size_t count, i;
    pair *host, *sorted;
    double times[2][ROUNDS];
    uint32_t found[2][RANKS];
    int round, where, wrong = 0;
    take_arguments(argc, argv, 0, 1, "drop_in [elements]");
    count = argc > 1 ? (size_t)whole_number(argv[1], 1, 1e8) : 1000000;
    gs = open_device(&info);
    queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    host = (pair *)allocate(count * sizeof *host);
    sorted = (pair *)allocate(count * sizeof *sorted);
    for (i = 0; i < count; i++) {
        host[i].key = (uint32_t)i * 2654435761u >> 12; /* the particles' cells */
        host[i].value = (uint32_t)i;
    }
    pairs = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof *host, NULL);
    bytes = make_buffer(info.context, CL_MEM_READ_ONLY, count * sizeof *host, host);
    check(NULL, sorter_open(&s, info.context, info.device, count), "sorter_open");
    for (round = 0; round < ROUNDS; round++)
        for (where = 0; where < 2; where++) {
            check(NULL, clEnqueueCopyBuffer(queue, bytes, pairs, 0, 0, count * sizeof *host, 0, NULL, NULL), "copy");
            check(NULL, clFinish(queue), "clFinish");
            times[where][round] = now();
            if (where == 0)
                sort_on_host(queue, pairs, sorted, count);
            else
                check(s.gs, sorter_sort(&s, queue, pairs, count), "sorter_sort");
            check(NULL, clFinish(queue), "clFinish");
            times[where][round] = now() - times[where][round];
        }
    check(NULL, clEnqueueReadBuffer(queue, pairs, CL_TRUE, 0, count * sizeof *host, host, 0, NULL, NULL), "read");
    wrong |= memcmp(host, sorted, count * sizeof *host) != 0;
    printf("%s pairs by qsort on the host %8.2f ms, by the class %8.2f ms\n", commas(count),
           1e3 * median(times[0], ROUNDS), 1e3 * median(times[1], ROUNDS));

    memset(&histogram, 0, sizeof histogram);
    histogram.samples.mem = bytes;
    histogram.counts.mem = make_buffer(info.context, CL_MEM_READ_WRITE, BINS * sizeof(uint32_t), NULL);
    histogram.count = count * sizeof *host;
    histogram.bins = BINS;
    histogram.call.queue = queue;
    memset(&quantile, 0, sizeof quantile);
    quantile.counts = histogram.counts;
    quantile.dst.mem = make_buffer(info.context, CL_MEM_READ_WRITE, RANKS * sizeof(uint32_t), NULL);
    quantile.bins = BINS;
    quantile.fractions = fractions;
    quantile.fraction_count = RANKS;
    quantile.call.queue = queue;
    for (round = -1; round < ROUNDS; round++)
        for (where = 0; where < 2; where++) {
            double seconds = meter(gs, &histogram, &quantile, where == 0, found[where]);
            if (round >= 0) /* the first call compiles */
                times[where][round] = seconds;
        }
    wrong |= memcmp(found[0], found[1], sizeof found[0]) != 0;
    printf("percentiles of %s bytes on the host %8.2f ms, on the device %8.2f ms: %u, %u, %u\n",
           commas(histogram.count), 1e3 * median(times[0], ROUNDS), 1e3 * median(times[1], ROUNDS),
           (unsigned)found[1][0], (unsigned)found[1][1], (unsigned)found[1][2]);
    clReleaseMemObject(histogram.counts.mem);
    clReleaseMemObject(quantile.dst.mem);
    clReleaseMemObject(pairs);
    clReleaseMemObject(bytes);
    clReleaseCommandQueue(queue);
    sorter_close(&s);
    gpuscan_destroy(gs);
    free(host);
    free(sorted);
    printf("drop_in: %s\n", wrong ? "WRONG" : "all equal");
    return wrong;
}
