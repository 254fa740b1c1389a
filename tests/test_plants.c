/* Checks that mistakes built into the kernels on purpose (GPUSCAN_PLANTED in kernels.cl.inc) are detected: by a wrong
   result, by a guard, or by the library's self-test, which then refuses the strategy.
      cc -O2 test_plants.c -o test_plants -lcmocka -lOpenCL -lm */
#include "operators.h"

/* RACE: refused if work-items run one after the other; if they run at once, the result may be right. */
typedef enum outcome { WRONG, REFUSED, RACE } outcome;

typedef struct plant {
    const char      *name;
    char             what; /* s: scan, o: of rows of one element, v: of seven, f: of affine functions, u: at
                              misaligned offsets, R: reversed, C: along three columns, e: by segments of keys, one
                              element each, b: by two offsets, a: uniform add, r: reduce, c: of affine functions, w:
                              of three rows, j: of 40 segments, one of them long, J: which is split, h: histogram, d:
                              whose counters are three apart, g: of rows with gaps, t: of picture tiles, by an
                              expression, x: of an image's region, n: of its pixels' neighbours, y: the region's
                              integral, k: select, l: lengths of runs of 700, q: sort of floats with NaN and values,
                              Q: by buckets, z: of tiles together, p: with a gathered
                              payload, P: with payloads in a record, B: which buckets gather, i: integral, m:
                              quantiles */
    gpuscan_strategy strategy;
    uint32_t         lanes;
    uint32_t         without;
    uint32_t         count;
    outcome          seen; /* how it shows */
} plant;

/* The mistakes. They stand in kernels.cl.inc as GPUSCAN_PLANTED(name):
     SUMS_TAIL         scan_sums loses a part's last element
     CARRIES           a part's carry loses the parts before
     PARTS_TAIL        gpuscan_parts omits a part's last element
     STORE_OVERRUN     a tile of a group stores one element too many
     LOOK_BACK         the look-back ignores the tiles before
     AHEAD             the folding group loses the windows before
     FEW               a scan of few tiles (FEW) loses the first window's sum
     SPAN_TAIL         a CPU's span loses its last element
     UNIFORM_ADD       each block's successor starts an element late
     REDUCE_ENDS       reduce loses the elements outside whole vectors
     REDUCE_GROUP      the last group's partial result is lost
     BIN               each sample counts in the next bin
     HISTOGRAM_GROUP   group 0 adds no counts to the accumulators
     HISTOGRAM_FINISH  the last bin is not copied to counts
     BARRIER           values are read without a barrier: a data race
     REDUCE_OVERRUN    the result is stored far past the end of dst
     LAST_ROW          scan_rows omits the last row
     BLOCKS_TAIL       a CPU's histogram omits the samples after the last whole block
     REDUCE_TILES      a group's tiles are combined in the wrong order
     REDUCE_ORDER      the groups' partial results are combined in the wrong order
     BARRIER_COUNTS    bins are summed without a barrier after counting: a data race
     SAMPLE_ROWS       a step into the next row of samples goes one vector too far
     UNALIGNED         a whole vector that is not aligned starts an element late
     SELECT_TAIL       select loses a tile's last kept element
     SEGMENT_JOIN      other groups' partial results of a segment are lost
     SORT_ORDER        elements with equal digits are stored in reverse order
     SORT_TAIL         the last element of a part or of the last tile is not sorted
     SORT_GATHER       a gather takes the next element in place of the indexed one
     SORT_PLACES       a digit's positions overlap another part's
     SORT_NAN          NaN are sorted by their bits
     INTEGRAL_CARRY    an integral's tile loses the sums above it
     INTEGRAL_LEFT     an integral's tile loses the sums to its left
     QUANTILE_RANK     every rank except the last is one too high
     SEGMENT_HEADS     the last offset marks no head
     SEGMENT_VECTOR    a vector's first key is not compared with the key before it
     RUN_OPEN          a tile loses the value of the run that is open before it
     RUN_LAST          the last run loses its last element
     TILE_ENDS         a row's last tile loses its last pixel
     PIXEL_NUMBER      expressions see the next pixel's number
     SORT_LOOK_BACK    a sort's look-back loses the tile before
     ROW_HEADS         only vectors' first elements are found as rows' heads
     IMAGE_ORIGIN      an image is read from row 0, whatever y says
     SORT_BUCKETS      a bucket's last element is not sorted
     SEGMENT_LANES     lanes skip a group's second row
     SEGMENT_GROUP     a segment that lanes pass to their group gets no result
     SEGMENT_SPLIT     the sum before a split segment's first element is lost
     SORT_ZEROS        -0 and +0 are sorted by their bits
     SORT_RECORD       a record loses its last word
     CASCADE           a full level of running sums is lost
     SHUFFLE           a shuffle returns the neighbour's value
     TICKETS_LEFT      a launch does not zero its ticket counter
     COUNTS_LEFT       a histogram does not zero its accumulators
     NEAR              a neighbour's column and row are exchanged
     COUNTS_STRIDE     counters that lie apart lie one element closer together
     MIRROR            a reversed scan leaves vectors in the order of memory
     COLUMN_CARRIES    columns lose the bands of lines above
     COLUMN_BLOCKS     columns lose the blocks of lines above in a band
     COLUMN_BANDS      columns lose the bands of lines above in a batch */
#define MULTI  GPUSCAN_STRATEGY_MULTI_PASS
#define SINGLE GPUSCAN_STRATEGY_SINGLE_PASS
static const plant plants[] = {
    {"SUMS_TAIL", 's', MULTI, 0, 0, 60001, REFUSED},
    {"TICKETS_LEFT", 's', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5001, REFUSED},
    {"TICKETS_LEFT", 's', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, REFUSED},
    {"TICKETS_LEFT", 'r', SINGLE, 0, 0, 50003, REFUSED},
    {"TICKETS_LEFT", 'k', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 5003, REFUSED},
    {"COUNTS_LEFT", 'h', MULTI, 0, 0, 5003, REFUSED},
    {"COUNTS_LEFT", 'h', SINGLE, 0, 0, 5003, REFUSED},
    {"COUNTS_LEFT", 'h', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 5003, REFUSED},
    {"COUNTS_LEFT", 'h', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, REFUSED},
    {"COUNTS_STRIDE", 'd', MULTI, 0, 0, 5003, REFUSED},
    {"COUNTS_STRIDE", 'd', SINGLE, 0, 0, 5003, REFUSED},
    {"COUNTS_STRIDE", 'd', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, REFUSED},
    {"SHUFFLE", 's', MULTI, 8, 0, 5001, REFUSED},
    {"SHUFFLE", 'k', SINGLE, 16, 0, 5001, REFUSED},
    {"CARRIES", 's', MULTI, 0, 0, 60001, REFUSED},
    {"PARTS_TAIL", 's', MULTI, 0, 0, 1001, REFUSED},
    {"LAST_ROW", 'o', MULTI, 0, 0, 70001, REFUSED},
    {"ROW_HEADS", 'v', MULTI, 0, GPUSCAN_WITHOUT_LANES, 70000, REFUSED},
    {"ROW_HEADS", 'v', MULTI, 8, 0, 70000, REFUSED},
    {"STORE_OVERRUN", 's', MULTI, 0, 0, 1001, REFUSED},
    {"MIRROR", 'R', MULTI, 0, GPUSCAN_WITHOUT_LANES, 5000, REFUSED},
    {"MIRROR", 'R', SINGLE, 8, 0, 5000, REFUSED},
    {"MIRROR", 'R', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, REFUSED},
    {"COLUMN_CARRIES", 'C', MULTI, 0, GPUSCAN_WITHOUT_LANES, 60003, REFUSED},
    {"COLUMN_CARRIES", 'C', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 200001, REFUSED},
    {"COLUMN_BLOCKS", 'C', MULTI, 0, GPUSCAN_WITHOUT_LANES, 60003, REFUSED},
    {"COLUMN_CARRIES", 'C', SINGLE, 0, 0, 60003, REFUSED},
    {"COLUMN_BLOCKS", 'C', SINGLE, 0, 0, 60003, REFUSED},
    {"COLUMN_BANDS", 'C', SINGLE, 0, 0, 60003, REFUSED},
    {"LOOK_BACK", 'R', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5001, REFUSED},
    {"LOOK_BACK", 's', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5001, REFUSED}, /* with lanes, few tiles need no look-back */
    {"LOOK_BACK", 'f', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5001, REFUSED},
    {"LOOK_BACK", 's', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, REFUSED},
    {"SPAN_TAIL", 's', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, REFUSED},
    {"AHEAD", 's', GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, 0, 0, 5001, REFUSED},
    {"FEW", 'f', SINGLE, 8, 0, 5001, REFUSED},
    {"FEW", 'k', SINGLE, 8, 0, 5003, REFUSED},
    {"FEW", 'l', SINGLE, 8, 0, 15001, REFUSED}, /* 469 tiles of 32, as on NVIDIA */
    {"LOOK_BACK", 'k', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"UNIFORM_ADD", 'a', MULTI, 0, 0, 1001, REFUSED},
    {"REDUCE_ENDS", 'r', MULTI, 0, 0, 1003, REFUSED},
    {"REDUCE_GROUP", 'r', MULTI, 0, 0, 50003, REFUSED},
    {"BIN", 'h', SINGLE, 0, 0, 5003, REFUSED},
    {"HISTOGRAM_GROUP", 'h', SINGLE, 0, 0, 5003, REFUSED},
    {"HISTOGRAM_FINISH", 'h', MULTI, 0, 0, 5003, REFUSED},
    {"HISTOGRAM_FINISH", 'h', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 5003, REFUSED},
    {"HISTOGRAM_FINISH", 'h', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, REFUSED},
    {"BLOCKS_TAIL", 'h', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 5003, REFUSED},
    {"BLOCKS_TAIL", 'h', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, REFUSED},
    {"REDUCE_TILES", 'c', MULTI, 0, 0, 60001, REFUSED},
    {"REDUCE_TILES", 'c', SINGLE, 8, 0, 60001, REFUSED},
    {"REDUCE_ORDER", 'c', MULTI, 0, 0, 60001, REFUSED},
    {"REDUCE_ORDER", 'c', SINGLE, 0, 0, 60001, REFUSED},
    {"REDUCE_ORDER", 'c', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, WRONG},
    {"CASCADE", 'c', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, WRONG},
    {"BARRIER_COUNTS", 'h', SINGLE, 0, 0, 200003, RACE},
    {"SEGMENT_JOIN", 'w', MULTI, 0, 0, 60001, REFUSED},
    {"SEGMENT_JOIN", 'w', SINGLE, 0, 0, 60001, REFUSED},
    {"SEGMENT_JOIN", 'w', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, REFUSED},
    {"SEGMENT_JOIN", 'w', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 200001, REFUSED},
    {"SEGMENT_LANES", 'w', MULTI, 8, 0, 303, REFUSED},
    {"SEGMENT_LANES", 'j', SINGLE, 8, 0, 5003, REFUSED},
    {"SEGMENT_GROUP", 'j', MULTI, 8, 0, 5003, REFUSED},
    {"SEGMENT_LANES", 'J', SINGLE, 8, 0, 5003, REFUSED},
    {"SEGMENT_GROUP", 'J', SINGLE, 8, 0, 5003, REFUSED},
    {"SEGMENT_JOIN", 'J', SINGLE, 8, 0, 5003, REFUSED},
    {"SEGMENT_SPLIT", 'J', SINGLE, 8, 0, 5003, REFUSED},
    {"SEGMENT_VECTOR", 'e', MULTI, 0, 0, 5003, REFUSED},
    {"SEGMENT_VECTOR", 'e', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SEGMENT_HEADS", 'b', MULTI, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SEGMENT_HEADS", 'b', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SEGMENT_HEADS", 'b', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, REFUSED},
    {"LOOK_BACK", 'b', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SAMPLE_ROWS", 'g', SINGLE, 0, 0, 5003, REFUSED},
    {"SAMPLE_ROWS", 't', SINGLE, 0, 0, 5003, REFUSED},
    {"SAMPLE_ROWS", 'x', SINGLE, 0, 0, 5003, REFUSED},
    {"IMAGE_ORIGIN", 'x', SINGLE, 0, 0, 5003, REFUSED},
    {"IMAGE_ORIGIN", 'x', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, REFUSED},
    {"IMAGE_ORIGIN", 'y', MULTI, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"IMAGE_ORIGIN", 'y', MULTI, 8, 0, 5003, REFUSED},
    {"IMAGE_ORIGIN", 'y', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, REFUSED},
    {"NEAR", 'n', SINGLE, 0, 0, 5003, REFUSED},
    {"NEAR", 'n', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, WRONG},
    {"PIXEL_NUMBER", 'n', MULTI, 0, 0, 5003, REFUSED},
    {"TILE_ENDS", 't', SINGLE, 0, 0, 5003, REFUSED},
    {"TILE_ENDS", 't', MULTI, 0, 0, 5003, REFUSED},
    {"TILE_ENDS", 't', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, WRONG},
    {"PIXEL_NUMBER", 't', SINGLE, 0, 0, 5003, REFUSED},
    {"PIXEL_NUMBER", 't', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 5003, WRONG},
    {"HISTOGRAM_GROUP", 't', SINGLE, 0, 0, 5003, REFUSED},
    {"UNALIGNED", 'u', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5001, REFUSED},
    {"UNALIGNED", 'u', SINGLE, 8, 0, 5001, REFUSED},
    {"SELECT_TAIL", 'k', MULTI, 0, 0, 5003, REFUSED},
    {"SELECT_TAIL", 'k', SINGLE, 0, 0, 5003, REFUSED},
    {"SELECT_TAIL", 'k', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 5003, REFUSED},
    {"RUN_OPEN", 'l', MULTI, 0, 0, 60001, REFUSED},
    {"RUN_OPEN", 'l', SINGLE, 0, 0, 60001, REFUSED},
    {"RUN_OPEN", 'l', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 200001, REFUSED},
    {"RUN_LAST", 'l', MULTI, 0, 0, 5003, REFUSED},
    {"RUN_LAST", 'l', SINGLE, 0, 0, 5003, REFUSED},
    {"RUN_LAST", 'l', GPUSCAN_STRATEGY_CPU_SINGLE_PASS, 0, 0, 5003, REFUSED},
    {"SORT_ORDER", 'q', MULTI, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SORT_ORDER", 'q', MULTI, 8, 0, 1003, REFUSED},
    {"SORT_TAIL", 'q', MULTI, 0, GPUSCAN_WITHOUT_LANES, 50003, REFUSED},
    {"SORT_TAIL", 'q', MULTI, 8, 0, 50003, REFUSED},
    {"SORT_TAIL", 'q', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 150003, REFUSED}, /* several parts; also below */
    {"SORT_GATHER", 'p', MULTI, 0, GPUSCAN_WITHOUT_LANES, 1003, REFUSED},
    {"SORT_GATHER", 'p', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 1003, REFUSED},
    {"SORT_PLACES", 'q', MULTI, 8, 0, 50003, REFUSED},
    {"SORT_LOOK_BACK", 'q', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SORT_NAN", 'q', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SORT_ZEROS", 'q', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SORT_LOOK_BACK", 'z', SINGLE, 0, 0, 5003, REFUSED},
    {"SORT_ORDER", 'z', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SORT_TAIL", 'z', SINGLE, 8, 0, 20003, REFUSED},
    {"SORT_RECORD", 'P', SINGLE, 0, GPUSCAN_WITHOUT_LANES, 5003, REFUSED},
    {"SORT_RECORD", 'P', SINGLE, 8, 0, 5003, REFUSED},
    {"SORT_TAIL", 'q', SINGLE, 8, 0, 20003, REFUSED},
    {"SORT_PLACES", 'q', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 150003, REFUSED},
    {"SORT_BUCKETS", 'Q', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 50003, REFUSED},
    {"SORT_NAN", 'q', MULTI, 8, 0, 1003, REFUSED},
    {"SORT_NAN", 'q', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 1003, REFUSED},
    {"INTEGRAL_CARRY", 'i', MULTI, 0, GPUSCAN_WITHOUT_LANES, 40000, REFUSED},
    {"INTEGRAL_CARRY", 'i', MULTI, 8, 0, 40000, REFUSED},
    {"INTEGRAL_CARRY", 'i', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 400000, REFUSED},
    {"INTEGRAL_LEFT", 'i', MULTI, 8, 0, 40000, REFUSED},
    {"QUANTILE_RANK", 'm', MULTI, 0, GPUSCAN_WITHOUT_LANES, 1000, REFUSED},
    {"QUANTILE_RANK", 'm', MULTI, 8, 0, 1000, REFUSED},
    {"QUANTILE_RANK", 'm', GPUSCAN_STRATEGY_CPU_MULTI_PASS, 0, 0, 1000, REFUSED},
};

static gpuscan_opencl real;

/* Makes buffers with spare room. A sort that loses an element uses old bytes in its place and may store out of bounds:
   these stores must do no harm. The spare bytes are the same in every run and, as an index, far out of bounds, so no
   outcome depends on old memory. */
enum { ROOM = 65536 };
static cl_mem CL_API_CALL roomy(cl_context context, cl_mem_flags flags, size_t size, void *data, cl_int *status) {
    char  *more;
    cl_mem made;
    if (flags & CL_MEM_USE_HOST_PTR)
        return real.clCreateBuffer(context, flags, size, data, status);
    more = (char *)test_alloc(size + ROOM);
    memset(more, 0x5A, size + ROOM);
    if (data)
        memcpy(more, data, size);
    made = real.clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, size + ROOM, more, status);
    free(more);
    return made;
}

/* Sorts floats of seven values, an eighth replaced by NaN with different bits; each payload is its key's index. NaN
   come last, in their original order. */
static int sort_plant(gpuscan *gs, const plant *p, uint64_t n) {
    uint32_t *keys = (uint32_t *)test_alloc(n * 4), *got = (uint32_t *)test_alloc(n * 4);
    uint32_t *payload = (uint32_t *)test_alloc(n * 12), *moved = (uint32_t *)test_alloc(n * 12);
    uint64_t i, at = 0;
    gpuscan_sort_desc d;
    gpuscan_payload values[2];
    cl_int status = CL_SUCCESS;
    cl_mem mem[4];
    gpuscan_result r;
    size_t each = p->what == 'p' || p->what == 'P' ? 3 : 1; /* words of a payload */
    int value, right = 1;
    for (i = 0; i < n; i++) {
        float number = (float)test_below(7) - 3;
        memcpy(&keys[i], &number, 4);
        if (test_below(8) == 0)
            keys[i] = 0x7f800001u | (uint32_t)(test_random() & 0x803fffffu);
        payload[each * i] = payload[each * (i + 1) - 1] = (uint32_t)i;
    }
    for (i = 0; i < 4; i++) {
        mem[i] = roomy(test.context, CL_MEM_COPY_HOST_PTR, n * (i % 2 ? 4 * each : 4), i % 2 ? payload : keys, &status);
        test_cl(status);
    }
    memset(&d, 0, sizeof d);
    memset(values, 0, sizeof values);
    d.key_type = GPUSCAN_TYPE_F32;
    d.count = n;
    d.src.mem = mem[0];
    d.dst.mem = mem[2];
    values[0].src.mem = mem[1];
    values[0].dst.mem = mem[3];
    values[0].size = 4 * each;
    d.payloads = values;
    d.payload_count = 1;
    d.call.strategy = p->strategy;
    if (p->what == 'z') {
        gs->device.profile.sort.group = 32;
        gs->device.profile.sort.together = 1u << 20;
        gs->device.units = 500;
    }
    if (p->what == 'Q') { /* buckets for few elements, which fill two units */
        gs->device.units = 2;
        gs->device.profile.cpu.sort_small = 0;
        gs->device.profile.cpu.sort_part = gs->device.profile.cpu.sort_buckets = 1;
    }
    if (p->what == 'P') { /* a record with the keys as a field */
        gs->device.profile.sort.records = 1;
        d.dst.mem = NULL;
        values[1].src.mem = mem[0];
        values[1].dst.mem = mem[2];
        values[1].size = 4;
        d.payload_count = 2;
    }
    r = gpuscan_sort(gs, &d);
    if (r == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
        right = -1;
    } else {
        test_ok(r);
        test_cl(clEnqueueReadBuffer(test.queue, mem[2], CL_TRUE, 0, n * 4, got, 0, NULL, NULL));
        test_cl(clEnqueueReadBuffer(test.queue, mem[3], CL_TRUE, 0, n * 4 * each, moved, 0, NULL, NULL));
        for (value = -3; value <= 4; value++)
            for (i = 0; i < n; i++) {
                float number;
                memcpy(&number, &keys[i], 4);
                if (value == 4 ? number == number : number != (float)value)
                    continue;
                right = right && got[at] == keys[i] && moved[each * at] == i && moved[each * (at + 1) - 1] == i;
                at++;
            }
    }
    for (i = 0; i < 4; i++)
        clReleaseMemObject(mem[i]);
    free(keys);
    free(got);
    free(payload);
    free(moved);
    return right;
}

/* An image of ones, 200 pixels wide, whose table holds areas; or histograms of ones, whose quantiles are bins. */
static int table_plant(gpuscan *gs, const plant *p, uint64_t n) {
    static const double fractions[3] = {0, 0.5, 1};
    const uint64_t width = 200, height = n / width;
    const int of_pixels = p->what == 'i';
    uint32_t *counts = (uint32_t *)test_alloc(n * 4);
    uint32_t *table = (uint32_t *)test_alloc((width + 1) * (height + 1) * 4 + 64);
    unsigned char *pixels = (unsigned char *)test_alloc(n);
    gpuscan_integral_desc integral;
    gpuscan_quantile_desc quantile;
    gpuscan_result r;
    uint64_t i;
    int right = 1;
    memset(pixels, 1, (size_t)n);
    for (i = 0; i < n; i++)
        counts[i] = 1;
    memset(&integral, 0, sizeof integral);
    memset(&quantile, 0, sizeof quantile);
    integral.call.strategy = quantile.call.strategy = p->strategy;
    quantile.bins = (uint32_t)n;
    quantile.fractions = fractions;
    quantile.fraction_count = 3;
    r = of_pixels ? gpuscan_integral_host(gs, pixels, table, width, height, &integral)
                  : gpuscan_quantile_host(gs, counts, table, &quantile);
    if (r == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
        right = -1;
    else
        test_ok(r);
    for (i = 0; right == 1 && of_pixels && i < (width + 1) * (height + 1); i++)
        right = table[i] == i % (width + 1) * (i / (width + 1));
    if (right == 1 && !of_pixels)
        right = table[0] == 0 && table[1] == (n + 1) / 2 - 1 && table[2] == n - 1;
    free(counts);
    free(table);
    free(pixels);
    return right;
}

/* Makes an image of n pixels of four channels, width a row. */
static cl_mem image_of(const unsigned char *pixels, uint64_t n, uint64_t width) {
    return test_image_new(test.context, CL_MEM_READ_ONLY, CL_RGBA, CL_UNSIGNED_INT8, width, n / width, pixels);
}

/* Runs the job. Returns 1 if its result is right and nothing beside it changed, 0 if not, -1 if it is refused. */
static int run(gpuscan *gs, const plant *p) {
    const int is_affine = p->what == 'f' || p->what == 'c';
    const size_t size = is_affine ? sizeof(op_affine) : 4;
    const int has_lanes = test.info.has_lanes && !p->lanes && !gpuscan__is_cpu_strategy(p->strategy);
    const uint64_t n = has_lanes ? p->what == 'z' ? 300003 : 600001 : p->count; /* more than one element a lane */
    static const gpuscan_custom flipped = {NULL, NULL, 0, NULL, NULL, "x ^ (uchar)(i & 3)", NULL, NULL, NULL};
    static const gpuscan_custom neighbour = {NULL, NULL, 0, NULL, NULL, "near(1, -2)", NULL, NULL, NULL};
    const int of_image = strchr("xyn", p->what) != NULL, is_table = p->what == 'y'; /* of first channels */
    const int is_tiled = p->what == 't', has_gaps = p->what == 'g' || is_tiled || of_image;
    const uint32_t stride = p->what == 'd' ? 3 : 1; /* of a histogram's counters */
    const int is_histogram = strchr("hd", p->what) || (has_gaps && !is_table);
    const int is_uneven = p->what == 'j' || p->what == 'J';
    const unsigned src_off = p->what == 'u' ? 1 : 0, dst_off = p->what == 'u' ? 2 : 0; /* elements */
    const uint64_t scanned = p->what == 'o' ? 1 : p->what == 'v' ? 7 : 0; /* elements of a scan's row */
    /* Of a histogram or a table: rows of 3 vectors, not a power of two; 3 by 4 picture tiles. */
    const uint64_t row = has_gaps ? 19 : n, pitch = has_gaps ? 25 : n, tile_width = 7, tile_height = n / pitch / 4 + 1;
    const uint64_t left = of_image ? 4 : 0, top = of_image ? 2 : 0; /* pixels before the region */
    uint64_t out_count = p->what == 'r' || p->what == 'c' ? 1
                         : p->what == 'w'                 ? 3
                         : is_uneven                      ? 40
                         : is_histogram                   ? (is_tiled ? 3 * 4 : 1) * UINT64_C(200) * stride
                         : is_table                       ? row * (n / pitch - top)
                         : p->what == 'C'                 ? n / 3 * 3
                                                          : n;
    unsigned char *in = (unsigned char *)test_alloc(n * size), *wanted = (unsigned char *)test_alloc(n * size);
    unsigned char *got = (unsigned char *)test_alloc(n * size + 64), total[64];
    uint32_t *w = (uint32_t *)(void *)wanted;
    cl_mem dst, src, cuts, image = NULL;
    cl_int status = CL_SUCCESS;
    gpuscan_result r;
    uint64_t i;
    uint32_t offsets[41];
    uint32_t cut[2] = {0, (uint32_t)(n / 2)}; /* offsets of one segment, and the elements behind it */
    int right = 1;
    const int is_sort = strchr("qQzpPB", p->what) != NULL;
    if (is_sort || p->what == 'i' || p->what == 'm') {
        free(in);
        free(wanted);
        free(got);
        return is_sort ? sort_plant(gs, p, n) : table_plant(gs, p, n);
    }
    union {
        gpuscan_scan_desc scan;
        gpuscan_uniform_add_desc add;
        gpuscan_reduce_desc reduce;
        gpuscan_histogram_desc histogram;
        gpuscan_select_desc select;
        gpuscan_runs_desc runs;
        gpuscan_integral_desc integral;
    } d;
    memset(&d, 0, sizeof d);
    memset(got, 0x5A, n * size + 64);
    if (is_affine)
        op_affine_fill(in, n);
    else
        test_fill(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, in, n);
    for (i = 0; i < n && p->what == 'l'; i++)
        ref_store(GPUSCAN_TYPE_U32, in, i, ref_bits(i / 700));
    src = roomy(test.context, CL_MEM_COPY_HOST_PTR, n * size, in, &status);
    test_cl(status);
    if (p->what == 'R') /* from here on `in` has the order of the scan */
        ref_reverse(in, n, size);
    if (p->what == 'a')
        memset(got, 0, n * size);
    dst = roomy(test.context, CL_MEM_COPY_HOST_PTR, n * size + 64, got, &status);
    test_cl(status);
    switch (p->what) {
    case 's':
    case 'R':
    case 'C':
    case 'o':
    case 'v':
    case 'f':
    case 'u':
        if (p->what == 'f')
            ref_scan_custom(size, wanted, in, n, op_affine_combine, GPUSCAN_INCLUSIVE, &op_affine_identity, total);
        else if (scanned != 0)
            for (i = 0; i < n / scanned * scanned; i += scanned)
                ref_scan(GPUSCAN_TYPE_U32, wanted + i * size, GPUSCAN_TYPE_U32, in + i * size, scanned, GPUSCAN_OP_ADD,
                         GPUSCAN_INCLUSIVE, NULL);
        else
            ref_scan(GPUSCAN_TYPE_U32, wanted + dst_off * size, GPUSCAN_TYPE_U32, in + src_off * size, n - dst_off,
                     GPUSCAN_OP_ADD, GPUSCAN_INCLUSIVE, NULL);
        if (p->what == 'R')
            ref_reverse(wanted, n, size);
        for (i = 0; p->what == 'C' && i < n; i++)
            ref_store(GPUSCAN_TYPE_U32, wanted, i,
                      ref_bits(ref_load(GPUSCAN_TYPE_U32, in, i).bits +
                               (i < 3 ? 0 : ref_load(GPUSCAN_TYPE_U32, wanted, i - 3).bits)));
        memset(wanted, 0x5A, dst_off * size);
        if (scanned != 0)
            memset(wanted + n / scanned * scanned * size, 0x5A, n % scanned * size);
        d.scan.src.mem = src;
        d.scan.dst.mem = dst;
        d.scan.src.offset = src_off;
        d.scan.dst.offset = dst_off;
        d.scan.count = scanned ? scanned : n - dst_off;
        d.scan.rows = scanned ? n / scanned : 1;
        d.scan.kind = GPUSCAN_INCLUSIVE;
        d.scan.reverse = p->what == 'R';
        if (p->what == 'C') {
            d.scan.along = GPUSCAN_ALONG_COLUMNS;
            d.scan.rows = 3;
            d.scan.count = n / 3;
        }
        d.scan.src_type = d.scan.dst_type = p->what == 'f' ? op_affine_compose.type : GPUSCAN_TYPE_U32;
        d.scan.op = p->what == 'f' ? GPUSCAN_OP_CUSTOM : GPUSCAN_OP_ADD;
        d.scan.custom = p->what == 'f' ? &op_affine_compose.custom : NULL;
        d.scan.call.strategy = p->strategy;
        r = gpuscan_scan(gs, &d.scan);
        break;
    case 'e': /* the elements are the keys */
    case 'b':
        for (i = 0; i < n; i++) {
            uint32_t x = 0, y = 0;
            memcpy(&x, in + 4 * i, 4);
            if (i > 0 && p->what == 'e')
                memcpy(&y, in + 4 * (i - 1), 4);
            w[i] = x + (p->what == 'e' ? (i > 0 && x == y ? w[i - 1] : 0) : i > 0 && i != cut[1] ? w[i - 1] : 0);
        }
        cuts = clCreateBuffer(test.context, CL_MEM_COPY_HOST_PTR, sizeof cut, cut, &status);
        test_cl(status);
        d.scan.src.mem = src;
        d.scan.dst.mem = dst;
        d.scan.count = n;
        d.scan.kind = GPUSCAN_INCLUSIVE;
        d.scan.segments.form = p->what == 'e' ? GPUSCAN_SEGMENTS_KEYS : GPUSCAN_SEGMENTS_OFFSETS;
        d.scan.segments.data.mem = p->what == 'e' ? src : cuts;
        d.scan.segments.count = p->what == 'e' ? 0 : 1;
        d.scan.call.strategy = p->strategy;
        r = gpuscan_scan(gs, &d.scan);
        clReleaseMemObject(cuts);
        break;
    case 'a':
        for (i = 0; i < n; i++)
            memcpy(wanted + 4 * i, in + i / 77 * 4, 4);
        d.add.dst.mem = dst;
        d.add.addend.mem = src;
        d.add.count = n;
        d.add.block = 77;
        d.add.call.strategy = p->strategy;
        r = gpuscan_uniform_add(gs, &d.add);
        break;
    case 'r':
    case 'w':
        d.reduce.rows = out_count;
        d.reduce.count = n / out_count;
        for (i = 0; i < out_count; i++)
            ref_store(GPUSCAN_TYPE_U32, wanted, i,
                      ref_reduce(GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, in + i * d.reduce.count * 4, d.reduce.count,
                                 GPUSCAN_OP_ADD, NULL));
        d.reduce.src.mem = src;
        d.reduce.dst.mem = dst;
        d.reduce.call.strategy = p->strategy;
        r = gpuscan_reduce(gs, &d.reduce);
        break;
    case 'J':
        gs->device.profile.segments.lanes = 0;
        gs->device.profile.segments.split_from = 64;
        /* fall through */
    case 'j':
        for (i = 0; i <= out_count; i++)
            offsets[i] = (uint32_t)(i == out_count ? n : i * 3);
        for (i = 0; i < out_count; i++)
            ref_store(GPUSCAN_TYPE_U32, wanted, i,
                      ref_reduce(GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, in + offsets[i] * 4,
                                 offsets[i + 1] - offsets[i], GPUSCAN_OP_ADD, NULL));
        cuts = roomy(test.context, CL_MEM_COPY_HOST_PTR, (out_count + 1) * 4, offsets, &status);
        test_cl(status);
        d.reduce.src.mem = src;
        d.reduce.dst.mem = dst;
        d.reduce.count = n;
        d.reduce.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        d.reduce.segments.data.mem = cuts;
        d.reduce.segments.count = out_count;
        d.reduce.call.strategy = p->strategy;
        r = gpuscan_reduce(gs, &d.reduce);
        clReleaseMemObject(cuts);
        break;
    case 'c':
        ref_scan_custom(size, wanted, in, n, op_affine_combine, GPUSCAN_INCLUSIVE, &op_affine_identity, total);
        memcpy(wanted, total, size);
        d.reduce.src.mem = src;
        d.reduce.dst.mem = dst;
        d.reduce.count = n;
        d.reduce.src_type = d.reduce.dst_type = op_affine_compose.type;
        d.reduce.op = GPUSCAN_OP_CUSTOM;
        d.reduce.custom = &op_affine_compose.custom;
        d.reduce.call.strategy = p->strategy;
        r = gpuscan_reduce(gs, &d.reduce);
        break;
    case 'k': /* the first elements are the bits */
        for (i = out_count = 0; i < n; i++)
            if (in[i / 8] >> i % 8 & 1)
                memcpy(wanted + 4 * out_count++, in + 4 * i, 4);
        d.select.src.mem = d.select.flags.mem = src;
        d.select.dst.mem = dst;
        d.select.count = n;
        d.select.by = GPUSCAN_SELECT_BITS;
        d.select.call.strategy = p->strategy;
        r = gpuscan_select(gs, &d.select);
        break;
    case 'l':
        for (i = out_count = 0; i < n; i += 700)
            ref_store(GPUSCAN_TYPE_U32, wanted, out_count++, ref_bits(n - i < 700 ? n - i : 700));
        d.runs.keys.mem = src;
        d.runs.lengths.mem = dst;
        d.runs.count = n;
        d.runs.call.strategy = p->strategy;
        r = gpuscan_runs(gs, &d.runs);
        break;
    case 'y':
        for (i = 0; i < out_count; i++) {
            uint64_t x = i % row, y = i / row;
            w[i] = in[4 * ((top + y) * pitch + left + x)] + (x ? w[i - 1] : 0);
            w[i] += y ? w[i - row] - (x ? w[i - row - 1] : 0) : 0;
        }
        d.integral.src_image.mem = image = image_of(in, n, pitch);
        d.integral.src_image.x = left;
        d.integral.src_image.y = top;
        d.integral.dst.mem = dst;
        d.integral.width = row;
        d.integral.height = n / pitch - top;
        d.integral.channels = 1;
        d.integral.kind = GPUSCAN_INCLUSIVE;
        d.integral.call.strategy = p->strategy;
        r = gpuscan_integral(gs, &d.integral);
        break;
    default:
        memset(wanted, 0x5A, (size_t)out_count * 4);
        for (i = 0; i < out_count; i += stride)
            w[i] = 0;
        for (i = top * pitch; i < n / pitch * pitch; i++) {
            uint64_t from = p->what == 'n' ? i + 1 - 2 * pitch : i;
            unsigned value = is_tiled ? in[i] ^ (i % pitch & 3) : in[of_image ? 4 * from : i];
            uint64_t tile = is_tiled ? i / pitch / tile_height * 3 + i % pitch / tile_width : 0;
            if (i % pitch >= left && i % pitch < left + row && value < 200)
                w[(tile * 200 + value) * stride]++;
        }
        if (is_tiled) {
            d.histogram.custom = &flipped;
            d.histogram.tile_width = tile_width;
            d.histogram.tile_height = tile_height;
        }
        if (of_image) {
            d.histogram.samples_image.mem = image = image_of(in, n, pitch);
            d.histogram.samples_image.x = left;
            d.histogram.samples_image.y = top;
            d.histogram.channels = 1;
            d.histogram.custom = p->what == 'n' ? &neighbour : NULL;
        } else {
            d.histogram.samples.mem = src;
            d.histogram.pitch = pitch;
        }
        d.histogram.counts.mem = dst;
        d.histogram.count = row;
        d.histogram.rows = n / pitch - top;
        d.histogram.bins = 200;
        d.histogram.counts_stride = stride;
        d.histogram.form = GPUSCAN_BINS_VALUES;
        d.histogram.call.strategy = p->strategy;
        r = gpuscan_histogram(gs, &d.histogram);
    }
    if (r == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
        right = -1;
    } else {
        test_ok(r);
        test_cl(clEnqueueReadBuffer(test.queue, dst, CL_TRUE, 0, n * size + 64, got, 0, NULL, NULL));
        right = memcmp(got, wanted, out_count * size) == 0;
        for (i = out_count * size; p->what != 'a' && i < n * size + 64; i++)
            right = right && got[i] == 0x5A;
    }
    if (image)
        clReleaseMemObject(image);
    clReleaseMemObject(src);
    clReleaseMemObject(dst);
    free(in);
    free(wanted);
    free(got);
    return right;
}

static gpuscan *open_with(const char *line, const plant *p) {
    gpuscan_desc desc;
    gpuscan_opencl table;
    gpuscan *gs = NULL;
    test_real_opencl(&real);
    table = real;
    test_first_text = line;
    table.clCreateProgramWithSource = test_source_with_text;
    table.clCreateBuffer = roomy;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    desc.queue = test.queue;
    desc.opencl = &table;
    desc.limits.lanes = p->lanes;
    desc.limits.without = p->without;
    test_ok(gpuscan_create(&gs, &desc));
    return gs;
}

/* Returns whether a row is left out, since each builds programs: by default seven in eight are, with --more two in
   three; the seed decides which. */
static int is_left_out(size_t i) {
    if ((strchr("xyn", plants[i].what) && !test.info.has_images) ||
        test_is_refused(plants[i].strategy))
        return 1;
    return test.share > 1 && (i + test.seed) % (test.share > 8 ? 8 : 3) != 0;
}

/* Checks that each job is right without its plant. */
static void test_controls(void **state) {
    size_t i;
    int failures = 0;
    (void)state;
    for (i = 0; i < sizeof plants / sizeof *plants; i++) {
        const plant *p = &plants[i];
        gpuscan *gs;
        gpuscan_info info;
        int got;
        if (is_left_out(i))
            continue;
        gs = open_with("", p);
        test_case("%s, %c, %s", p->name, p->what, test_strategy_name(p->strategy));
        got = run(gs, p);
        test_ok(gpuscan_get_info(gs, &info));
        if (got == -1 && !info.refusals && !info.has_fence && p->strategy == SINGLE) { /* nothing was tried */
            print_message("%s: needs a fence of device scope\n", test.what);
            got = 1;
        }
        if (got == -1 && p->lanes && test.info.has_lanes) { /* lanes by local memory may fail on a device */
            print_message("%s: refused with lanes through local memory\n", test.what);
            got = 1;
        }
        if (got != 1)
            print_error("%s: %s without the plant\n", test.what, got ? "refused" : "wrong");
        failures += got != 1;
        gpuscan_destroy(gs);
    }
    assert_int_equal(failures, 0);
}

static void test_plants(void **state) {
    size_t i;
    int failures = 0;
    char *text = test_kernels_text();
    (void)state;
    for (i = 0; i < sizeof plants / sizeof *plants; i++) {
        const plant *p = &plants[i];
        char line[320], use[80];
        int got;
        gpuscan_info info;
        gpuscan *gs;
        test_case("%s, %c, %s", p->name, p->what, test_strategy_name(p->strategy));
        snprintf(use, sizeof use, "GPUSCAN_PLANTED(%s)", p->name);
        if (!strstr(text, use))
            fail_msg("%s: no such plant", test.what);
        if (is_left_out(i))
            continue;
        snprintf(line, sizeof line, TEST_PLANT_FORMAT, p->name);
        gs = open_with(line, p);
        got = run(gs, p);
        test_ok(gpuscan_get_info(gs, &info));
        if (info.refusals > 0) /* refused, and the call used another variant */
            got = -1;
        gpuscan_destroy(gs);
        if ((got != 1 || p->seen == RACE) && test.info.has_lanes) /* other variants test themselves, and races vary */
            continue;
        if (got != (p->seen == WRONG ? 0 : -1)) {
            print_error("%s: %s\n", test.what, got == 1 ? "not detected" : got == 0 ? "wrong, not refused" : "refused");
            failures++;
        }
    }
    free(text);
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_controls), TEST(test_plants)};
    test_select();
    return cmocka_run_group_tests_name("plants", tests, test_open, test_close);
}
