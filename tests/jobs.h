/* Jobs: a job is a call with its inputs, and its expected outputs from a plain loop. Together the jobs use every
   operation and most fields of the descs. Tests of how calls run use them: queues, events, faults, scratch. Other tests
   check what calls compute. */
#ifndef TEST_JOBS_H
#define TEST_JOBS_H

#include "harness.h"

enum {
    JOB_SCAN_SMALL, /* u32, exclusive, 1000 elements */
    JOB_SCAN,       /* i32, inclusive, init and total */
    JOB_SCAN_ROWS,  /* u8 to u32 in rows with pitches, init and count on the device, totals */
    JOB_SCAN_PLACE, /* u64 maximum in place */
    JOB_SCAN_CUSTOM,
    JOB_SCAN_SEGMENTS, /* u32, exclusive, by offsets */
    JOB_UNIFORM_ADD,
    JOB_REDUCE,        /* u8 to u32 into a buffer, init on the device */
    JOB_REDUCE_RESULT, /* u64 into host memory */
    JOB_ARGMIN,        /* i32, count on the device */
    JOB_SEGMENTS,      /* u32, segments by offsets, a long one among them */
    JOB_HISTOGRAM,     /* bytes, even bins */
    JOB_EDGES,         /* i32 and edges, two of three channels, weights, added to the counts in the buffer */
    JOB_VALUES,        /* u16, one bin for each value, and the samples outside are counted */
    JOB_TILES,         /* u8 in rows of bytes, the luminance of three channels, weighted by an expression, by tiles */
    JOB_SELECT,        /* u32 by flags, with a payload, indices and a tally */
    JOB_SELECT_PLACE,  /* u16 by bits in place, with a capacity, count on the device */
    JOB_RUNS,          /* u32, their lengths and sums, and a tally */
    JOB_SORT,          /* f32, descending, a payload of 12 bytes in place */
    JOB_INTEGRAL,      /* i16, two channels, exclusive, with gaps between the table's rows */
    JOB_IMAGE,         /* the same integral, of an image if the device has images */
    JOB_QUANTILE,      /* three bins, and the cdf as u64 */
    JOB_QUANTILE_LARGE, /* 20,000 bins: several groups work on them, with sums in scratch */
    JOB_DEVICE_END,
    JOB_SCAN_HOST = JOB_DEVICE_END,
    JOB_UNIFORM_ADD_HOST,
    JOB_REDUCE_HOST,
    JOB_HISTOGRAM_HOST,
    JOB_SELECT_HOST,
    JOB_RUNS_HOST,
    JOB_SORT_HOST, /* u32 */
    JOB_INTEGRAL_HOST,
    JOB_QUANTILE_HOST,
    JOB_END
};

static const char *const job_names[JOB_END] = {"small scan",
                                               "scan",
                                               "scan of rows",
                                               "scan in place",
                                               "custom scan",
                                               "scan by segments",
                                               "uniform add",
                                               "reduce",
                                               "reduce to host memory",
                                               "argmin",
                                               "reduce of segments",
                                               "histogram",
                                               "histogram with edges",
                                               "histogram of values",
                                               "histogram of tiles",
                                               "select",
                                               "select in place",
                                               "runs",
                                               "sort",
                                               "integral",
                                               "integral of an image",
                                               "quantile",
                                               "large quantile",
                                               "scan_host",
                                               "uniform_add_host",
                                               "reduce_host",
                                               "histogram_host",
                                               "select_host",
                                               "runs_host",
                                               "sort_host",
                                               "integral_host",
                                               "quantile_host"};

typedef struct job {
    int which;
    gpuscan_scan_desc scan;
    gpuscan_uniform_add_desc add;
    gpuscan_reduce_desc reduce;
    gpuscan_histogram_desc histogram;
    gpuscan_select_desc select;
    gpuscan_runs_desc runs;
    gpuscan_sort_desc sort;
    gpuscan_integral_desc integral;
    gpuscan_quantile_desc quantile;
    gpuscan_payload payload;
    test_buffer in, more, still, out, total;         /* inputs, then outputs; element 0: not used */
    unsigned char *in_data, *more_data, *still_data; /* data for the inputs */
    unsigned char *out_before, *total_before;        /* contents of out and total before the call; NULL: the pattern */
    unsigned char *out_wanted, *total_wanted;
    uint64_t result[3], result_wanted; /* host memory between two guards */
    unsigned char *host_out;           /* the output of a call with host arrays, between guards */
    uint64_t count;                    /* of elements, in a call with host arrays */
} job;

static const gpuscan_custom job_custom = {
    "typedef struct { uint factor, sum; } job_map;\n"
    "job_map job_then(job_map a, job_map b) {\n"
    "    job_map c; c.factor = a.factor * b.factor; c.sum = a.sum * b.factor + b.sum; return c; }\n"
    "job_map job_same(void) { job_map c; c.factor = 1; c.sum = 0; return c; }\n",
    "job_map",
    8,
    "job_then(a, b)",
    "job_same()",
    NULL, NULL, NULL, NULL};

static const cl_int job_init = 1000;

static inline unsigned char *job_bytes(uint64_t size) {
    unsigned char *bytes = (unsigned char *)test_alloc(size);
    test_random_bytes(bytes, (size_t)size);
    return bytes;
}

static inline void *job_zeros(uint64_t size) {
    void *bytes = test_alloc(size);
    memset(bytes, 0, (size_t)size);
    return bytes;
}

static inline test_buffer job_buffer(size_t element, uint64_t count) {
    return test_buffer_new(CL_MEM_READ_WRITE, element, count);
}

static inline void job_scan_small(job *j, uint64_t n) {
    cl_uint *in = (cl_uint *)job_bytes(n * 4), *out = (cl_uint *)test_alloc(n * 4), sum = 0;
    uint64_t i;
    for (i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
    j->in = job_buffer(4, n);
    j->out = job_buffer(4, n);
    j->in_data = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    j->scan.count = n;
}

static inline void job_scan(job *j, uint64_t n) {
    cl_int *in = (cl_int *)test_alloc(n * 4), *out = (cl_int *)test_alloc(n * 4), sum = job_init;
    uint64_t i;
    for (i = 0; i < n; i++) {
        in[i] = (cl_int)test_below(2001) - 1000;
        sum += in[i];
        out[i] = sum;
    }
    j->in = job_buffer(4, n);
    j->out = job_buffer(4, n);
    j->total = job_buffer(4, 1);
    j->in_data = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    j->total_wanted = (unsigned char *)test_alloc(4);
    memcpy(j->total_wanted, &sum, 4);
    j->scan.count = n;
    j->scan.src_type = GPUSCAN_TYPE_I32;
    j->scan.kind = GPUSCAN_INCLUSIVE;
    j->scan.init = &job_init;
}

/* 7 rows. The count on the device is 5 less than the desc's. The bytes between the rows must not change. */
static inline void job_scan_rows(job *j, uint64_t n) {
    const uint64_t rows = 7, src_pitch = n + 3, dst_pitch = n + 9, size = (rows - 1) * dst_pitch + n;
    unsigned char *in = job_bytes(rows * src_pitch);
    cl_uint *out = (cl_uint *)job_bytes(size * 4), *totals = (cl_uint *)test_alloc(rows * 4), sum, five = 5;
    cl_ulong count = n - 5;
    uint64_t r, i;
    j->out_before = (unsigned char *)test_alloc(size * 4);
    memcpy(j->out_before, out, (size_t)size * 4);
    for (r = 0; r < rows; r++) {
        for (sum = five, i = 0; i < count; i++) {
            out[r * dst_pitch + i] = sum;
            sum += in[r * src_pitch + i];
        }
        totals[r] = sum;
    }
    j->in = job_buffer(1, rows * src_pitch);
    j->more = job_buffer(4, 1);
    j->still = job_buffer(8, 1);
    j->out = job_buffer(4, size);
    j->total = job_buffer(4, rows);
    j->in_data = in;
    j->more_data = (unsigned char *)test_alloc(4);
    memcpy(j->more_data, &five, 4);
    j->still_data = (unsigned char *)test_alloc(8);
    memcpy(j->still_data, &count, 8);
    j->out_wanted = (unsigned char *)out;
    j->total_wanted = (unsigned char *)totals;
    j->in.count = rows * src_pitch;
    j->scan.count = n;
    j->scan.src_type = GPUSCAN_TYPE_U8;
    j->scan.dst_type = GPUSCAN_TYPE_U32;
    j->scan.rows = rows;
    j->scan.src_pitch = src_pitch;
    j->scan.dst_pitch = dst_pitch;
    j->scan.count_type = GPUSCAN_TYPE_U64;
}

static inline void job_scan_place(job *j, uint64_t n) {
    cl_ulong *in = (cl_ulong *)job_bytes(n * 8), *out = (cl_ulong *)test_alloc(n * 8), top = 0;
    uint64_t i;
    for (i = 0; i < n; i++) {
        in[i] >>= 1 + i % 40;
        top = in[i] > top ? in[i] : top;
        out[i] = top;
    }
    j->out = job_buffer(8, n);
    j->out_before = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    j->scan.count = n;
    j->scan.src_type = GPUSCAN_TYPE_U64;
    j->scan.op = GPUSCAN_OP_MAX;
    j->scan.kind = GPUSCAN_INCLUSIVE;
}

static inline void job_scan_custom(job *j, uint64_t n) {
    cl_uint *in = (cl_uint *)job_bytes(n * 8), *out = (cl_uint *)test_alloc(n * 8), factor = 1, sum = 0;
    uint64_t i;
    for (i = 0; i < n; i++) {
        in[2 * i] |= 1;
        out[2 * i] = factor;
        out[2 * i + 1] = sum;
        sum = sum * in[2 * i] + in[2 * i + 1];
        factor *= in[2 * i];
    }
    j->in = job_buffer(8, n);
    j->out = job_buffer(8, n);
    j->in_data = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    j->scan.count = n;
    j->scan.src_type = GPUSCAN_TYPE_CUSTOM;
    j->scan.op = GPUSCAN_OP_CUSTOM;
    j->scan.custom = &job_custom;
}

static inline void job_uniform_add(job *j, uint64_t n) {
    const uint64_t block = 77, addends = (n + block - 1) / block;
    cl_uint *in = (cl_uint *)job_bytes(addends * 4), *out = (cl_uint *)job_bytes(n * 4);
    uint64_t i;
    j->out_before = (unsigned char *)test_alloc(n * 4);
    memcpy(j->out_before, out, (size_t)n * 4);
    for (i = 0; i < n; i++)
        out[i] += in[i / block];
    j->in = job_buffer(4, addends);
    j->in.count = addends;
    j->out = job_buffer(4, n);
    j->in_data = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    j->add.count = n;
    j->add.block = block;
}

static inline void job_reduce(job *j, uint64_t n) {
    unsigned char *in = job_bytes(n);
    cl_uint sum = 31;
    uint64_t i;
    j->more_data = (unsigned char *)test_alloc(4);
    memcpy(j->more_data, &sum, 4);
    for (i = 0; i < n; i++)
        sum += in[i];
    j->in = job_buffer(1, n);
    j->more = job_buffer(4, 1);
    j->out = job_buffer(4, 1);
    j->in_data = in;
    j->out_wanted = (unsigned char *)test_alloc(4);
    memcpy(j->out_wanted, &sum, 4);
    j->reduce.count = n;
    j->reduce.src_type = GPUSCAN_TYPE_U8;
    j->reduce.dst_type = GPUSCAN_TYPE_U32;
}

static inline void job_reduce_result(job *j, uint64_t n) {
    cl_ulong *in = (cl_ulong *)job_bytes(n * 8), sum = 0;
    uint64_t i;
    for (i = 0; i < n; i++)
        sum += in[i];
    j->in = job_buffer(8, n);
    j->in_data = (unsigned char *)in;
    j->result_wanted = sum;
    j->reduce.count = n;
    j->reduce.src_type = GPUSCAN_TYPE_U64;
    j->reduce.result = &j->result[1];
}

static inline void job_argmin(job *j, uint64_t n) {
    cl_int *in = (cl_int *)test_alloc(n * 4);
    cl_uint count = (cl_uint)(n - n / 4);
    cl_ulong least = 0;
    uint64_t i;
    for (i = 0; i < n; i++)
        in[i] = (cl_int)test_below(1000) - (i < count ? 0 : 5000); /* the smallest lie behind the count on the device */
    for (i = 1; i < count; i++)
        if (in[i] < in[least])
            least = i;
    j->in = job_buffer(4, n);
    j->still = job_buffer(4, 1);
    j->out = job_buffer(8, 1);
    j->in_data = (unsigned char *)in;
    j->still_data = (unsigned char *)test_alloc(4);
    memcpy(j->still_data, &count, 4);
    j->out_wanted = (unsigned char *)test_alloc(8);
    memcpy(j->out_wanted, &least, 8);
    j->reduce.count = n;
    j->reduce.src_type = GPUSCAN_TYPE_I32;
    j->reduce.op = GPUSCAN_OP_ARGMIN;
}

static inline void job_segments(job *j, uint64_t n) {
    uint64_t segments = n / 20 + 2, s, i = 0;
    cl_uint *in = (cl_uint *)job_bytes(n * 4), *sums = (cl_uint *)job_zeros(segments * 4);
    cl_uint *offsets = (cl_uint *)job_zeros((segments + 1) * 4);
    for (s = 0; s < segments; s++) {
        uint64_t last = s == 3 ? n / 2 : s + 1 == segments ? n : i + test_below(20);
        for (; i < last && i < n; i++)
            sums[s] += in[i];
        offsets[s + 1] = (cl_uint)i;
    }
    j->in = job_buffer(4, n);
    j->more = job_buffer(4, segments + 1);
    j->more.count = (size_t)segments + 1;
    j->out = job_buffer(4, segments);
    j->in_data = (unsigned char *)in;
    j->more_data = (unsigned char *)offsets;
    j->out_wanted = (unsigned char *)sums;
    j->reduce.count = n;
    j->reduce.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
    j->reduce.segments.count = segments;
}

static inline void job_scan_segments(job *j, uint64_t n) {
    uint64_t segments = n / 50 + 2, s = 0, i, sum = 0;
    cl_uint *in = (cl_uint *)job_bytes(n * 4), *out = (cl_uint *)job_zeros(n * 4);
    cl_uint *offsets = (cl_uint *)job_zeros((segments + 1) * 4);
    for (i = 0; i < segments; i++)
        offsets[i + 1] = i + 1 == segments ? (cl_uint)n : (cl_uint)(offsets[i] + (i == 1 ? n / 3 : test_below(60)));
    for (i = 0; i <= segments; i++)
        offsets[i] = offsets[i] < n ? offsets[i] : (cl_uint)n;
    for (i = 0; i < n; i++) {
        while (s <= segments && offsets[s] <= i) {
            sum = 0;
            s++;
        }
        out[i] = (cl_uint)sum;
        sum += in[i];
    }
    j->in = job_buffer(4, n);
    j->more = job_buffer(4, segments + 1);
    j->more.count = (size_t)segments + 1;
    j->out = job_buffer(4, n);
    j->in_data = (unsigned char *)in;
    j->more_data = (unsigned char *)offsets;
    j->out_wanted = (unsigned char *)out;
    j->scan.count = n;
    j->scan.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
    j->scan.segments.count = segments;
}

static inline void job_histogram(job *j, uint64_t n) {
    unsigned char *in = job_bytes(n);
    cl_uint *out = (cl_uint *)job_zeros(256 * 4);
    uint64_t i;
    for (i = 0; i < n; i++)
        out[in[i]]++;
    j->in = job_buffer(1, n);
    j->out = job_buffer(4, 256);
    j->in_data = in;
    j->out_wanted = (unsigned char *)out;
    j->histogram.count = n;
}

static inline void job_edges(job *j, uint64_t n) {
    static const cl_int edges[6] = {-900, -100, -99, 0, 1, 500};
    cl_int *in = (cl_int *)test_alloc(n * 12);
    unsigned char *weights = job_bytes(n);
    cl_ulong *out = (cl_ulong *)job_bytes(10 * 8);
    uint64_t i, c;
    int b;
    j->out_before = (unsigned char *)test_alloc(10 * 8);
    memcpy(j->out_before, out, 10 * 8);
    for (i = 0; i < n; i++)
        for (c = 0; c < 3; c++) {
            in[3 * i + c] = (cl_int)test_below(2000) - 1000;
            for (b = 0; b < 5 && c != 1; b++)
                if (edges[b] <= in[3 * i + c] && in[3 * i + c] < edges[b + 1])
                    out[(c == 2 ? 5 : 0) + b] += weights[i];
        }
    j->in = job_buffer(4, 3 * n);
    j->in.count = 3 * n;
    j->more = job_buffer(4, 6);
    j->more.count = 6;
    j->still = job_buffer(1, n);
    j->still.count = n;
    j->out = job_buffer(8, 10);
    j->in_data = (unsigned char *)in;
    j->more_data = (unsigned char *)test_alloc(sizeof edges);
    memcpy(j->more_data, edges, sizeof edges);
    j->still_data = weights;
    j->out_wanted = (unsigned char *)out;
    j->histogram.count = n;
    j->histogram.sample_type = GPUSCAN_TYPE_I32;
    j->histogram.counter_type = GPUSCAN_TYPE_U64;
    j->histogram.weight_type = GPUSCAN_TYPE_U8;
    j->histogram.form = GPUSCAN_BINS_EDGES;
    j->histogram.bins = 5;
    j->histogram.channels = 3;
    j->histogram.channel_mask = 5;
    j->histogram.accumulate = 1;
}

/* More bins than fit most devices' local memory. */
static inline void job_values(job *j, uint64_t n) {
    const cl_uint bins = 30000, lower = 20000;
    cl_ushort *in = (cl_ushort *)job_bytes(n * 2);
    cl_uint *out = (cl_uint *)job_zeros((bins + 2) * 4);
    uint64_t i;
    for (i = 0; i < n; i++)
        out[in[i] < lower ? bins : in[i] >= lower + bins ? bins + 1 : in[i] - lower]++;
    j->in = job_buffer(2, n);
    j->out = job_buffer(4, bins + 2);
    j->in_data = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    j->histogram.count = n;
    j->histogram.sample_type = GPUSCAN_TYPE_U16;
    j->histogram.form = GPUSCAN_BINS_VALUES;
    j->histogram.bins = bins;
    j->histogram.lower.u = lower;
    j->histogram.outside = GPUSCAN_OUTSIDE_COUNT;
}

/* Rows of 101 pixels in 304 bytes, and tiles of 40 x 16. */
static const gpuscan_custom job_luminance = {NULL, NULL, 0, NULL, NULL, "77 * x.x + 150 * x.y + 29 * x.z >> 8", NULL,
                                             NULL, NULL};
static inline void job_tiles(job *j, uint64_t n) {
    const uint64_t rows = n / 304 + 1, tiles = 3 * ((rows - 1) / 16 + 1), bytes = (rows - 1) * 304 + 303;
    unsigned char *in = job_bytes(bytes);
    cl_uint *out = (cl_uint *)job_zeros(tiles * 64 * 4);
    uint64_t i;
    for (i = 0; i < rows * 101; i++) {
        const unsigned char *c = in + i / 101 * 304 + i % 101 * 3;
        unsigned value = (77u * c[0] + 150u * c[1] + 29u * c[2]) >> 8;
        out[(i / 101 / 16 * 3 + i % 101 / 40) * 64 + value / 4] += (cl_uint)(i % 101 % 3);
    }
    j->in = job_buffer(1, bytes);
    j->in.count = bytes;
    j->out = job_buffer(4, tiles * 64);
    j->in_data = in;
    j->out_wanted = (unsigned char *)out;
    j->histogram.count = 101;
    j->histogram.rows = rows;
    j->histogram.pitch_bytes = 304;
    j->histogram.channels = 3;
    j->histogram.bins = 64;
    j->histogram.custom = &job_luminance;
    j->histogram.weight = "i % 3";
    j->histogram.tile_width = 40;
    j->histogram.tile_height = 16;
}

/* Out holds the elements, then their indices. The payload is the flags, which nothing else reads: it goes to total,
   after the tally. */
static inline void job_select(job *j, uint64_t n) {
    cl_uint *in = (cl_uint *)job_bytes(n * 4), *out = (cl_uint *)job_bytes(n * 8), kept = 0;
    unsigned char *flags = job_bytes(n), *total;
    uint64_t i;
    j->out_before = (unsigned char *)test_alloc(n * 8);
    memcpy(j->out_before, out, (size_t)n * 8);
    total = (unsigned char *)test_alloc(n + 4);
    for (i = 0; i < n + 4; i++)
        total[i] = test_pattern((size_t)i + 4);
    for (i = 0; i < n; i++) {
        flags[i] = (unsigned char)(flags[i] & 1 ? flags[i] : 0);
        if (!flags[i])
            continue;
        out[kept] = in[i];
        out[n + kept] = (cl_uint)i;
        total[4 + kept++] = flags[i];
    }
    memcpy(total, &kept, 4);
    j->result_wanted = kept;
    j->in = job_buffer(4, n);
    j->more = job_buffer(1, n);
    j->more.count = n;
    j->out = job_buffer(4, 2 * n);
    j->in_data = (unsigned char *)in;
    j->more_data = flags;
    j->out_wanted = (unsigned char *)out;
    j->total_wanted = total;
    j->select.count = n;
}

static inline void job_select_tally(job *j, uint64_t n) {
    j->total = job_buffer(1, n + 4);
    j->total.count = n + 4;
}

/* The count on the device is 3 less than the desc's, and the output has room for a third of the elements. */
static inline void job_select_place(job *j, uint64_t n) {
    cl_ushort *out = (cl_ushort *)job_bytes(n * 2);
    cl_uint *bits = (cl_uint *)job_bytes(n / 8 + 8);
    cl_ulong count = n - 3;
    uint64_t i, kept = 0;
    j->out_before = (unsigned char *)test_alloc(n * 2);
    memcpy(j->out_before, out, (size_t)n * 2);
    for (i = 0; i < count; i++)
        if (bits[i / 32] >> i % 32 & 1 && kept < n / 3)
            out[kept++] = out[i];
    j->more = job_buffer(4, n / 32 + 1);
    j->more.count = n / 32 + 1;
    j->more_data = (unsigned char *)bits;
    j->still = job_buffer(8, 1);
    j->still_data = (unsigned char *)test_alloc(8);
    memcpy(j->still_data, &count, 8);
    j->out = job_buffer(2, n);
    j->out_wanted = (unsigned char *)out;
    j->select.count = n;
    j->select.capacity = n / 3;
    j->select.type = GPUSCAN_TYPE_U16;
    j->select.by = GPUSCAN_SELECT_BITS;
    j->select.count_type = GPUSCAN_TYPE_U64;
}

/* Out holds the runs' keys, then their lengths, then the sums of `more`; total is the tally. */
static inline void job_runs(job *j, uint64_t n) {
    cl_uint *in = (cl_uint *)job_bytes(n * 4), *more = (cl_uint *)job_bytes(n * 4), *out;
    uint64_t i, found = 0;
    out = (cl_uint *)job_bytes(n * 12);
    j->out_before = (unsigned char *)test_alloc(n * 12);
    memcpy(j->out_before, out, (size_t)n * 12);
    for (i = 0; i < n; i++) {
        if (i && test_below(3))
            in[i] = in[i - 1];
        if (i == 0 || in[i] != in[i - 1]) {
            out[found] = in[i];
            out[n + found] = out[2 * n + found] = 0;
            found++;
        }
        out[n + found - 1]++;
        out[2 * n + found - 1] += more[i];
    }
    j->result_wanted = found;
    j->in = job_buffer(4, n);
    j->more = job_buffer(4, n);
    j->more.count = n;
    j->out = job_buffer(4, 3 * n);
    j->in_data = (unsigned char *)in;
    j->more_data = (unsigned char *)more;
    j->out_wanted = (unsigned char *)out;
    j->runs.count = n;
}

static inline void job_runs_tally(job *j) {
    cl_uint found = (cl_uint)j->result_wanted;
    j->total = job_buffer(4, 1);
    j->total_wanted = (unsigned char *)test_alloc(4);
    memcpy(j->total_wanted, &found, 4);
}

static inline uint64_t job_out_bytes(const job *j) {
    return j->out.element * j->out.count;
}

/* Keys, each with its index in 12 bytes: the result is a permutation of the input. */
typedef struct job_keyed {
    cl_float key;
    cl_uint place[3];
} job_keyed;

static inline int job_descending(const void *a, const void *b) {
    const job_keyed *x = (const job_keyed *)a, *y = (const job_keyed *)b;
    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    return x->place[0] < y->place[0] ? -1 : 1;
}

static inline void job_sort(job *j, uint64_t n) {
    cl_float *keys = (cl_float *)test_alloc(n * 4), *sorted = (cl_float *)test_alloc(n * 4);
    cl_uint *places = (cl_uint *)test_alloc(n * 12), *wanted = (cl_uint *)test_alloc(n * 12);
    job_keyed *all = (job_keyed *)test_alloc(n * sizeof *all);
    uint64_t i;
    for (i = 0; i < n; i++) {
        all[i].key = keys[i] = (cl_float)test_below(n) - (cl_float)(n / 2);
        all[i].place[0] = all[i].place[1] = all[i].place[2] = (cl_uint)i;
        memcpy(places + 3 * i, all[i].place, 12);
    }
    qsort(all, (size_t)n, sizeof *all, job_descending);
    for (i = 0; i < n; i++) {
        sorted[i] = all[i].key;
        memcpy(wanted + 3 * i, all[i].place, 12);
    }
    free(all);
    j->in = job_buffer(4, n);
    j->out = job_buffer(4, n);
    j->total = job_buffer(12, n);
    j->in_data = (unsigned char *)keys;
    j->out_wanted = (unsigned char *)sorted;
    j->total_before = (unsigned char *)places;
    j->total_wanted = (unsigned char *)wanted;
    j->sort.count = n;
    j->sort.key_type = GPUSCAN_TYPE_F32;
    j->sort.descending = 1;
}

static inline int job_ascending(const void *a, const void *b) {
    const cl_uint x = *(const cl_uint *)a, y = *(const cl_uint *)b;
    return x < y ? -1 : x > y;
}

static inline void job_sort_host(job *j, uint64_t n) {
    cl_uint *in = (cl_uint *)job_bytes(n * 4), *out = (cl_uint *)test_alloc(n * 4);
    memcpy(out, in, (size_t)n * 4);
    qsort(out, (size_t)n, 4, job_ascending);
    j->in = job_buffer(4, n);
    j->out = job_buffer(4, n);
    j->in_data = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    j->sort.count = n;
}

/* Rows of 45 pixels of two channels, longer in large jobs: every device has images of 2048 rows. */
static inline void job_integral(job *j, uint64_t n) {
    uint64_t width = 45, height, pitch, size, x, y;
    cl_short *in;
    cl_uint *out;
    while (n / (2 * width) >= 2048)
        width = 2 * width + 1;
    height = n / (2 * width) + 1;
    pitch = 2 * (width + 1) + 6;
    size = height * pitch + 2 * (width + 1);
    in = (cl_short *)job_bytes(2 * width * height * 2);
    out = (cl_uint *)job_bytes(size * 4);
    j->out_before = (unsigned char *)test_alloc(size * 4);
    memcpy(j->out_before, out, (size_t)size * 4);
    for (y = 0; y <= height; y++)
        for (x = 0; x < 2 * (width + 1); x++) {
            cl_uint *at = out + y * pitch + x;
            *at = 0;
            if (y > 0 && x > 1) { /* the sums to the left and above, minus their common part, plus the pixel */
                const cl_int pixel = in[(y - 1) * 2 * width + x - 2];
                *at = at[-2] + *(at - pitch) - *(at - pitch - 2) + (cl_uint)pixel;
            }
        }
    j->in = job_buffer(2, 2 * width * height);
    j->in.count = 2 * width * height;
    j->out = job_buffer(4, size);
    j->in_data = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    j->integral.width = width;
    j->integral.height = height;
    j->integral.channels = 2;
    j->integral.src_type = GPUSCAN_TYPE_I16;
    j->integral.dst_pitch = pitch / 2;
}

/* The pixels are the first two of an image's four channels. Oclgrind 21.10 runs the job without an image: whether it
   takes an image's pixels for initialised depends on what its memory held before. */
static inline void job_image(job *j) {
    const uint64_t pixels = j->integral.width * j->integral.height;
    const cl_short *in = (const cl_short *)j->in_data;
    cl_short *all;
    uint64_t i;
    if (!test.info.has_images || strcmp(test.info.profile, "simulator") == 0)
        return;
    all = (cl_short *)job_bytes(pixels * 8);
    for (i = 0; i < pixels; i++)
        memcpy(all + 4 * i, in + 2 * i, 4);
    j->integral.src_image.mem = test_image_new(test.context, CL_MEM_READ_ONLY, CL_RGBA, CL_SIGNED_INT16,
                                               j->integral.width, j->integral.height, all);
    free(all);
}

static const double job_fractions[3] = {0.5, 0, 0.875};

static inline void job_quantile(job *j, uint32_t bins, int has_cdf) {
    cl_uint *in = (cl_uint *)test_alloc((uint64_t)bins * 4), *out = (cl_uint *)test_alloc(3 * 4);
    cl_ulong *sums = (cl_ulong *)test_alloc((uint64_t)bins * 8), sum = 0;
    uint32_t b;
    int k;
    for (b = 0; b < bins; b++) {
        in[b] = (cl_uint)test_below(5) + (b + 1 == bins); /* not all of them 0 */
        sum += in[b];
        sums[b] = sum;
    }
    for (k = 0; k < 3; k++) /* fractions in eighths, which floats hold exactly */
        for (out[k] = 0; sums[out[k]] == 0 || 8 * sums[out[k]] < (cl_ulong)(8 * job_fractions[k]) * sum;)
            out[k]++;
    j->in = job_buffer(4, bins);
    j->in.count = bins;
    j->out = job_buffer(4, 3);
    j->in_data = (unsigned char *)in;
    j->out_wanted = (unsigned char *)out;
    if (has_cdf) {
        j->total = job_buffer(8, bins);
        j->total.count = bins;
        j->total_wanted = (unsigned char *)sums;
    } else {
        free(sums);
    }
    j->quantile.bins = bins;
    j->quantile.fractions = job_fractions;
    j->quantile.fraction_count = 3;
    j->quantile.cdf_type = GPUSCAN_TYPE_U64;
}

/* Writes to the device the inputs, and the contents that the outputs have before the call. */
static inline void job_reset(job *j) {
    if (j->in.element)
        test_buffer_set(&j->in, 5, j->in.count, j->in_data);
    if (j->more.element)
        test_buffer_set(&j->more, 3, j->more.count, j->more_data);
    if (j->still.element)
        test_buffer_set(&j->still, 2, j->still.count, j->still_data);
    if (j->out.element)
        test_buffer_set(&j->out, 7, j->out.count, j->out_before);
    if (j->total.element)
        test_buffer_set(&j->total, j->total.element == 1 ? 4 : 1, j->total.count, j->total_before);
    test_cl(clFinish(test.queue)); /* Intel's CPU runtime returns before another queue sees it */
    memset(j->result, 0x5A, sizeof j->result);
    if (j->host_out) {
        memset(j->host_out, 0x5A, (size_t)job_out_bytes(j) + 2 * TEST_GUARD);
        if (j->out_before)
            memcpy(j->host_out + TEST_GUARD, j->out_before, (size_t)job_out_bytes(j));
    }
}

/* Makes a job of about n elements; some operations take fewer or more. */
static inline void job_new(job *j, int which, uint64_t n) {
    memset(j, 0, sizeof *j);
    j->which = which;
    j->count = n;
    switch (which) {
    case JOB_SCAN_SMALL:
        job_scan_small(j, 1000);
        break;
    case JOB_SCAN:
        job_scan(j, n);
        break;
    case JOB_SCAN_ROWS:
        job_scan_rows(j, n / 7 + 10);
        break;
    case JOB_SCAN_PLACE:
        job_scan_place(j, n);
        break;
    case JOB_SCAN_CUSTOM:
        job_scan_custom(j, n);
        break;
    case JOB_SCAN_SEGMENTS:
        job_scan_segments(j, n);
        break;
    case JOB_UNIFORM_ADD:
        job_uniform_add(j, n);
        break;
    case JOB_REDUCE:
        job_reduce(j, n);
        break;
    case JOB_REDUCE_RESULT:
        job_reduce_result(j, n);
        break;
    case JOB_ARGMIN:
        job_argmin(j, n);
        break;
    case JOB_SEGMENTS:
        job_segments(j, n);
        break;
    case JOB_HISTOGRAM:
        job_histogram(j, n);
        break;
    case JOB_EDGES:
        job_edges(j, n / 3 + 1);
        break;
    case JOB_VALUES:
        job_values(j, n);
        break;
    case JOB_TILES:
        job_tiles(j, n);
        break;
    case JOB_SELECT:
        job_select(j, n);
        job_select_tally(j, n);
        break;
    case JOB_SELECT_PLACE:
        job_select_place(j, n);
        break;
    case JOB_RUNS:
        job_runs(j, n);
        job_runs_tally(j);
        break;
    case JOB_RUNS_HOST:
        job_runs(j, n);
        break;
    case JOB_SORT:
        job_sort(j, n);
        break;
    case JOB_SORT_HOST:
        job_sort_host(j, n);
        break;
    case JOB_INTEGRAL:
    case JOB_INTEGRAL_HOST:
        job_integral(j, n);
        break;
    case JOB_IMAGE:
        job_integral(j, n);
        job_image(j);
        break;
    case JOB_QUANTILE:
    case JOB_QUANTILE_HOST:
        job_quantile(j, (uint32_t)(n < 3000 ? n : 3000), which == JOB_QUANTILE);
        break;
    case JOB_QUANTILE_LARGE:
        job_quantile(j, 20000, 0);
        break;
    case JOB_SCAN_HOST:
        job_scan(j, n);
        break;
    case JOB_UNIFORM_ADD_HOST:
        job_uniform_add(j, n);
        break;
    case JOB_REDUCE_HOST:
        job_reduce_result(j, n);
        break;
    case JOB_HISTOGRAM_HOST:
        job_histogram(j, n);
        break;
    case JOB_SELECT_HOST:
        job_select(j, n);
        break;
    default:
        fail_msg("no job %d", which);
    }
    /* a buffer whose count is not set has as many elements as the operation */
    n = j->scan.count + j->add.count + j->reduce.count + j->histogram.count + j->select.count + j->sort.count +
        j->runs.count;
    if (j->in.element && j->in.count == 0)
        j->in.count = n;
    if (j->more.element && j->more.count == 0)
        j->more.count = 1;
    if (j->still.element && j->still.count == 0)
        j->still.count = 1;
    if (j->out.element && j->out.count == 0)
        j->out.count = (j->out.capacity - TEST_GUARD) / j->out.element - TEST_OFFSET_MAX;
    if (j->total.element && j->total.count == 0)
        j->total.count = which == JOB_SORT ? n : j->scan.rows ? j->scan.rows : 1;
    j->count = n ? n : j->in.count;
    if (which >= JOB_DEVICE_END)
        j->host_out = (unsigned char *)test_alloc(job_out_bytes(j) + 2 * TEST_GUARD);
    job_reset(j);

    j->scan.src = which == JOB_SCAN_PLACE ? j->out.at : j->in.at;
    j->scan.dst = j->out.at;
    j->scan.total = j->total.at;
    if (which == JOB_SCAN_SEGMENTS)
        j->scan.segments.data = j->more.at;
    else
        j->scan.init_buffer = j->more.at;
    j->scan.count_buffer = j->still.at;
    j->add.dst = j->out.at;
    j->add.addend = j->in.at;
    j->reduce.src = j->in.at;
    j->reduce.dst = j->out.at;
    if (which == JOB_SEGMENTS)
        j->reduce.segments.data = j->more.at;
    else
        j->reduce.init_buffer = j->more.at;
    j->reduce.count_buffer = j->still.at;
    j->histogram.samples = j->in.at;
    j->histogram.counts = j->out.at;
    j->histogram.edges = j->more.at;
    j->histogram.weights = j->still.at;
    j->select.src = which == JOB_SELECT_PLACE ? j->out.at : j->in.at;
    j->select.dst = j->out.at;
    j->select.flags = j->more.at;
    j->select.count_buffer = j->still.at;
    if (which == JOB_SELECT) {
        j->select.indices = j->out.at;
        j->select.indices.offset += n;
        j->select.selected.count.mem = j->total.at.mem; /* total's data begin at byte 4 */
        j->select.selected.count.offset = 1;
        j->payload.src = j->more.at;
        j->payload.dst = j->total.at;
        j->payload.dst.offset += 4;
        j->payload.size = 1;
    }
    j->runs.keys = j->in.at;
    j->runs.keys_dst = j->runs.lengths = j->runs.dst = j->out.at;
    j->runs.lengths.offset += n;
    j->runs.dst.offset += 2 * n;
    j->runs.src = j->more.at;
    j->runs.runs.count = j->total.at;
    j->sort.src = j->in.at;
    j->sort.dst = j->out.at;
    if (which == JOB_SORT) {
        j->payload.src = j->payload.dst = j->total.at;
        j->payload.size = 12;
        j->sort.payloads = &j->payload;
        j->sort.payload_count = 1;
    }
    j->integral.src = j->quantile.counts = j->in.at;
    if (j->integral.src_image.mem)
        memset(&j->integral.src, 0, sizeof j->integral.src);
    j->integral.dst = j->quantile.dst = j->out.at;
    j->quantile.cdf = j->total.at;
    if (which >= JOB_DEVICE_END) {
        const gpuscan_buffer none = {NULL, 0};
        j->integral.src = j->integral.dst = j->quantile.counts = j->quantile.dst = none;
        j->select.src = j->select.dst = j->select.flags = none;
        j->sort.src = j->sort.dst = none;
        j->runs.keys = j->runs.keys_dst = j->runs.lengths = j->runs.src = j->runs.dst = none;
        j->scan.count = j->add.count = j->reduce.count = j->histogram.count = 0;
        j->select.count = j->sort.count = j->runs.count = 0;
        j->scan.src = j->scan.dst = none;
        j->add.dst = j->add.addend = none;
        j->add.block = 0;
        j->reduce.src = none;
        j->reduce.result = NULL;
        j->histogram.samples = j->histogram.counts = none;
    }
}

static inline void job_free(job *j) {
    test_buffer *buffers[] = {&j->in, &j->more, &j->still, &j->out, &j->total};
    unsigned char *data[] = {j->in_data,      j->more_data,  j->still_data,   j->out_before,
                             j->total_before, j->out_wanted, j->total_wanted, j->host_out};
    size_t i;
    for (i = 0; i < sizeof buffers / sizeof *buffers; i++)
        test_buffer_free(buffers[i]);
    if (j->integral.src_image.mem)
        clReleaseMemObject(j->integral.src_image.mem);
    for (i = 0; i < sizeof data / sizeof *data; i++)
        free(data[i]);
}

/* Starts the job's call with this gpuscan_call in its desc. */
static inline gpuscan_result job_start(gpuscan *gs, job *j, const gpuscan_call *call) {
    unsigned char *host_out = j->host_out ? j->host_out + TEST_GUARD : NULL;
    j->scan.call = j->add.call = j->reduce.call = j->histogram.call = *call;
    j->select.call = j->sort.call = j->runs.call = j->integral.call = j->quantile.call = *call;
    j->select.payloads = j->payload.size ? &j->payload : NULL;
    j->select.payload_count = j->payload.size != 0;
    switch (j->which) {
    case JOB_RUNS:
        return gpuscan_runs(gs, &j->runs);
    case JOB_RUNS_HOST:
        j->runs.host_src = j->more_data;
        j->runs.host_lengths = host_out + j->count * 4;
        j->runs.host_dst = host_out + j->count * 8;
        return gpuscan_runs_host(gs, j->in_data, host_out, j->count, &j->result[1], &j->runs);
    case JOB_SORT:
        j->sort.payloads = &j->payload; /* set again, since the job may be a copy of another */
        return gpuscan_sort(gs, &j->sort);
    case JOB_SORT_HOST:
        return gpuscan_sort_host(gs, j->in_data, host_out, NULL, j->count, &j->sort);
    case JOB_INTEGRAL:
    case JOB_IMAGE:
        return gpuscan_integral(gs, &j->integral);
    case JOB_QUANTILE:
    case JOB_QUANTILE_LARGE:
        return gpuscan_quantile(gs, &j->quantile);
    case JOB_INTEGRAL_HOST: { /* width and height are the call's own arguments */
        gpuscan_integral_desc desc = j->integral;
        desc.width = desc.height = 0;
        return gpuscan_integral_host(gs, j->in_data, host_out, j->integral.width, j->integral.height, &desc);
    }
    case JOB_QUANTILE_HOST:
        return gpuscan_quantile_host(gs, j->in_data, host_out, &j->quantile);
    case JOB_UNIFORM_ADD:
        return gpuscan_uniform_add(gs, &j->add);
    case JOB_REDUCE:
    case JOB_REDUCE_RESULT:
    case JOB_ARGMIN:
    case JOB_SEGMENTS:
        return gpuscan_reduce(gs, &j->reduce);
    case JOB_HISTOGRAM:
    case JOB_EDGES:
    case JOB_VALUES:
    case JOB_TILES:
        return gpuscan_histogram(gs, &j->histogram);
    case JOB_SELECT:
    case JOB_SELECT_PLACE:
        return gpuscan_select(gs, &j->select);
    case JOB_SCAN_HOST:
        return gpuscan_scan_host(gs, j->in_data, host_out, j->count, &j->scan);
    case JOB_UNIFORM_ADD_HOST:
        return gpuscan_uniform_add_host(gs, j->in_data, host_out, j->count, 77, &j->add);
    case JOB_REDUCE_HOST:
        return gpuscan_reduce_host(gs, j->in_data, &j->result[1], j->count, &j->reduce);
    case JOB_HISTOGRAM_HOST:
        return gpuscan_histogram_host(gs, j->in_data, host_out, j->count, &j->histogram);
    case JOB_SELECT_HOST: /* the indices follow the elements, as above */
        j->select.host_indices = host_out + j->count * 4;
        return gpuscan_select_host(gs, j->in_data, j->more_data, host_out, j->count, &j->result[1], &j->select);
    default:
        return gpuscan_scan(gs, &j->scan);
    }
}

/* Returns why the library may refuse the job with a strategy; NULL: it must run. */
static inline const char *job_refusal(const job *j, gpuscan_strategy strategy) {
    job with = *j;
    with.scan.call.strategy = with.add.call.strategy = strategy;
    with.reduce.call.strategy = with.histogram.call.strategy = with.select.call.strategy = strategy;
    with.sort.call.strategy = with.runs.call.strategy = strategy;
    with.integral.call.strategy = with.quantile.call.strategy = strategy;
    switch (j->which) {
    case JOB_RUNS:
    case JOB_RUNS_HOST:
        return test_runs_refusal(&with.runs);
    case JOB_INTEGRAL:
    case JOB_INTEGRAL_HOST:
    case JOB_IMAGE:
        return test_integral_refusal(&with.integral);
    case JOB_QUANTILE:
    case JOB_QUANTILE_LARGE:
    case JOB_QUANTILE_HOST:
        return test_quantile_refusal(&with.quantile);
    case JOB_SORT:
    case JOB_SORT_HOST:
        return test_sort_refusal(&with.sort);
    case JOB_UNIFORM_ADD:
    case JOB_UNIFORM_ADD_HOST:
        return test_uniform_add_refusal(&with.add);
    case JOB_REDUCE:
    case JOB_REDUCE_RESULT:
    case JOB_ARGMIN:
    case JOB_SEGMENTS:
    case JOB_REDUCE_HOST:
        return test_reduce_refusal(&with.reduce);
    case JOB_HISTOGRAM:
    case JOB_EDGES:
    case JOB_VALUES:
    case JOB_TILES:
    case JOB_HISTOGRAM_HOST:
        return test_histogram_refusal(&with.histogram);
    case JOB_SELECT:
    case JOB_SELECT_PLACE:
    case JOB_SELECT_HOST:
        return test_select_refusal(&with.select);
    default:
        return test_scan_refusal(&with.scan);
    }
}

/* Checks the result of job_start. Returns 1 if the job ran, 0 if it was rightly refused: see test_ran. */
static inline int job_ran(const job *j, gpuscan_result result, gpuscan_strategy strategy) {
    return test_ran(result, strategy, job_refusal(j, strategy));
}

static inline gpuscan_result job_prepare(gpuscan *gs, job *j, const gpuscan_call *call) {
    j->scan.call = j->add.call = j->reduce.call = j->histogram.call = *call;
    j->select.call = j->sort.call = j->runs.call = j->integral.call = j->quantile.call = *call;
    j->select.payloads = j->payload.size ? &j->payload : NULL;
    j->select.payload_count = j->payload.size != 0;
    switch (j->which) {
    case JOB_RUNS:
        return gpuscan_runs_prepare(gs, &j->runs);
    case JOB_SORT:
        j->sort.payloads = &j->payload;
        return gpuscan_sort_prepare(gs, &j->sort);
    case JOB_INTEGRAL:
    case JOB_IMAGE:
        return gpuscan_integral_prepare(gs, &j->integral);
    case JOB_QUANTILE:
    case JOB_QUANTILE_LARGE:
        return gpuscan_quantile_prepare(gs, &j->quantile);
    case JOB_UNIFORM_ADD:
        return gpuscan_uniform_add_prepare(gs, &j->add);
    case JOB_REDUCE:
    case JOB_REDUCE_RESULT:
    case JOB_ARGMIN:
    case JOB_SEGMENTS:
        return gpuscan_reduce_prepare(gs, &j->reduce);
    case JOB_HISTOGRAM:
    case JOB_EDGES:
    case JOB_VALUES:
    case JOB_TILES:
        return gpuscan_histogram_prepare(gs, &j->histogram);
    case JOB_SELECT:
    case JOB_SELECT_PLACE:
        return gpuscan_select_prepare(gs, &j->select);
    default:
        return gpuscan_scan_prepare(gs, &j->scan);
    }
}

static inline gpuscan_result job_scratch_size(gpuscan *gs, job *j, const gpuscan_call *call, uint64_t *size) {
    j->scan.call = j->add.call = j->reduce.call = j->histogram.call = *call;
    j->select.call = j->sort.call = j->runs.call = j->integral.call = j->quantile.call = *call;
    j->select.payloads = j->payload.size ? &j->payload : NULL;
    j->select.payload_count = j->payload.size != 0;
    switch (j->which) {
    case JOB_RUNS:
        return gpuscan_runs_scratch_size(gs, &j->runs, size);
    case JOB_SORT:
        j->sort.payloads = &j->payload;
        return gpuscan_sort_scratch_size(gs, &j->sort, size);
    case JOB_INTEGRAL:
    case JOB_IMAGE:
        return gpuscan_integral_scratch_size(gs, &j->integral, size);
    case JOB_QUANTILE:
    case JOB_QUANTILE_LARGE:
        return gpuscan_quantile_scratch_size(gs, &j->quantile, size);
    case JOB_UNIFORM_ADD:
        return gpuscan_uniform_add_scratch_size(gs, &j->add, size);
    case JOB_REDUCE:
    case JOB_REDUCE_RESULT:
    case JOB_ARGMIN:
    case JOB_SEGMENTS:
        return gpuscan_reduce_scratch_size(gs, &j->reduce, size);
    case JOB_HISTOGRAM:
    case JOB_EDGES:
    case JOB_VALUES:
    case JOB_TILES:
        return gpuscan_histogram_scratch_size(gs, &j->histogram, size);
    case JOB_SELECT:
    case JOB_SELECT_PLACE:
        return gpuscan_select_scratch_size(gs, &j->select, size);
    default:
        return gpuscan_scan_scratch_size(gs, &j->scan, size);
    }
}

static inline void job_guards(const job *j) {
    uint64_t guard, i, size = job_out_bytes(j);
    memset(&guard, 0x5A, sizeof guard);
    if (j->result[0] != guard || j->result[2] != guard)
        fail_msg("%s: host memory around the result was written", test.what);
    for (i = 0; j->host_out && i < TEST_GUARD; i++)
        if (j->host_out[i] != 0x5A || j->host_out[TEST_GUARD + size + i] != 0x5A)
            fail_msg("%s: host memory around the output was written", test.what);
}

/* Fails unless the outputs are right and nothing else was written. The call has completed. */
static inline void job_done(job *j) {
    job_guards(j);
    if (j->in.element)
        test_same_bytes(test_buffer_get(&j->in), j->in_data, j->in.element, j->in.count);
    if (j->more.element)
        test_same_bytes(test_buffer_get(&j->more), j->more_data, j->more.element, j->more.count);
    if (j->still.element)
        test_same_bytes(test_buffer_get(&j->still), j->still_data, j->still.element, j->still.count);
    if (j->host_out && j->out.element)
        test_same_bytes(j->host_out + TEST_GUARD, j->out_wanted, j->out.element, j->out.count);
    else if (j->out.element)
        test_same_bytes(test_buffer_get(&j->out), j->out_wanted, j->out.element, j->out.count);
    if (j->total.element)
        test_same_bytes(test_buffer_get(&j->total), j->total_wanted, j->total.element, j->total.count);
    if (j->which == JOB_REDUCE_RESULT || j->which == JOB_REDUCE_HOST || j->which == JOB_SELECT_HOST ||
        j->which == JOB_RUNS_HOST)
        test_same_bytes(&j->result[1], &j->result_wanted, 8, 1);
}

/* Fails unless a failed call left all bytes of the outputs unchanged. A sort may change its outputs, but not the bytes
   around them. */
static inline void job_untouched(job *j) {
    uint64_t i, size = job_out_bytes(j);
    uint64_t guard;
    job_guards(j);
    if (j->which == JOB_SORT) {
        test_buffer_get(&j->out);
        test_buffer_get(&j->total);
    }
    if (j->which == JOB_SORT || j->which == JOB_SORT_HOST)
        return;
    memset(&guard, 0x5A, sizeof guard);
    if (j->result[1] != guard)
        fail_msg("%s: the result was written", test.what);
    if (j->host_out && j->out_before)
        test_same_bytes(j->host_out + TEST_GUARD, j->out_before, 1, size);
    else
        for (i = 0; j->host_out && i < size; i++)
            if (j->host_out[TEST_GUARD + i] != 0x5A)
                fail_msg("%s: the host output was written", test.what);
    if (j->out.element && j->out_before)
        test_same_bytes(test_buffer_get(&j->out), j->out_before, j->out.element, j->out.count);
    else if (j->out.element)
        test_buffer_untouched(&j->out);
    if (j->total.element)
        test_buffer_untouched(&j->total);
}

#endif /* TEST_JOBS_H */
