/* bench --sweep: every operation one step beside the benchmark's rows, the worst first. Part of bench.c.

   A case is a call; its class says what varies. On a GPU its time is compared with the device's own: a copy of as many
   bytes (scan, uniform add, select, sort) or a kernel that only reads them (reduction, histogram); on a CPU with one
   thread of a plain C loop. Each class has a floor, the ratio that it should reach on a GPU; on a CPU it is 1. Cases
   farthest below their floor come first. Cases that take less than two launches of an empty kernel can hardly be
   better, and are marked "launch". The results of the smallest size are compared with the loop's. */

enum { SWEEP_SLACK = 65536, SWEEP_MAX = 2048 };

typedef enum sweep_op {
    SWEEP_SCAN,
    SWEEP_UNIFORM_ADD,
    SWEEP_REDUCE,
    SWEEP_HISTOGRAM,
    SWEEP_SELECT,
    SWEEP_RUNS,
    SWEEP_SORT,
    SWEEP_INTEGRAL,
    SWEEP_QUANTILE
} sweep_op;

typedef enum sweep_fill { SWEEP_RANDOM, SWEEP_STEPS, SWEEP_UNIT, SWEEP_ONE_VALUE, SWEEP_8_VALUES } sweep_fill;

struct sweep_call; /* of a C loop: everything is in the descs */
typedef void sweep_loop(const struct sweep_call *c, const void *src, void *dst);

typedef struct sweep_call {
    const char *name_of_class;
    sweep_op op;
    double floor;
    sweep_fill fill;
    size_t size;        /* of an element of src; of a histogram's sample */
    size_t result_size; /* of one of dst */
    union {
        gpuscan_scan_desc scan;
        gpuscan_uniform_add_desc add;
        gpuscan_reduce_desc reduce;
        gpuscan_histogram_desc histogram;
        gpuscan_select_desc select;
        gpuscan_runs_desc runs;
        gpuscan_sort_desc sort;
        gpuscan_integral_desc integral;
        gpuscan_quantile_desc quantile;
    } u;
    uint64_t read, written;      /* bytes, the least there can be */
    uint64_t results;            /* elements of dst that are compared; 0: none, say of rounded sums */
    sweep_loop *loop;            /* NULL: none */
} sweep_call;

typedef struct sweep_result {
    char name[120];
    const char *name_of_class;
    uint64_t bytes;
    double ms, yard_ms, fraction, floor;
} sweep_result;

static struct {
    cl_mem a, b, c, d; /* sources, results, weights or addends, edges */
    char *host_a, *host_b, *host_c;
    float *host_edges;
    uint64_t bytes;
    int check;
    sweep_fill fill;
    int filled;
    const char *filter;
    sweep_result *results;
    unsigned count, failed;
    double launch_ms; /* of an empty kernel */
} sweep;

/* ---- the plain C loops ---- */

#define SWEEP_TYPES(X)                                                                                                 \
    X(I8, int8_t, uint32_t)                                                                                            \
    X(U8, uint8_t, uint32_t)                                                                                           \
    X(I16, int16_t, uint32_t)                                                                                          \
    X(U16, uint16_t, uint32_t)                                                                                         \
    X(I32, int32_t, uint32_t)                                                                                          \
    X(U32, uint32_t, uint32_t)                                                                                         \
    X(I64, int64_t, uint64_t)                                                                                          \
    X(U64, uint64_t, uint64_t)                                                                                         \
    X(F32, float, float)                                                                                               \
    X(F64, double, double)

#define SWEEP_ADD(a, b) (a) + (b)
#define SWEEP_MUL(a, b) (a) * (b)
#define SWEEP_MIN(a, b) (a) < (b) ? (a) : (b)
#define SWEEP_MAX_OF(a, b) (a) > (b) ? (a) : (b)

/* WIDE: where a sum may overflow. Rows are scanned one after the other. */
#define SWEEP_LOOPS(name, T, WIDE, COMBINE)                                                                            \
    static void sweep_scan_##name(const sweep_call *c, const void *src, void *dst) {                                   \
        const gpuscan_scan_desc *d = &c->u.scan;                                                                       \
        const uint64_t count = d->count, row_count = d->rows ? d->rows : 1;                                            \
        uint64_t row, i;                                                                                               \
        for (row = 0; row < row_count && d->along; row++) { /* columns without gaps, exclusive */                      \
            T sum;                                                                                                     \
            memcpy(&sum, d->init, sizeof sum);                                                                         \
            for (i = row; i < count * row_count; i += row_count) {                                                     \
                ((T *)dst)[i] = sum;                                                                                   \
                sum = (T)(COMBINE((WIDE)sum, (WIDE)((const T *)src)[i]));                                              \
            }                                                                                                          \
        }                                                                                                              \
        for (row = 0; row < row_count && !d->along; row++) {                                                           \
            const T *RESTRICT a = (const T *)src + d->src.offset + row * (d->src_pitch ? d->src_pitch : count);        \
            T *RESTRICT b = (T *)dst + d->dst.offset + row * (d->dst_pitch ? d->dst_pitch : count);                    \
            T sum;                                                                                                     \
            memcpy(&sum, d->init, sizeof sum);                                                                         \
            if (d->reverse) {                                                                                          \
                for (i = count; i-- > 0;) {                                                                            \
                    const T x = a[i];                                                                                  \
                    b[i] = sum;                                                                                        \
                    sum = (T)(COMBINE((WIDE)sum, (WIDE)x));                                                            \
                }                                                                                                      \
            } else if (d->kind == GPUSCAN_INCLUSIVE) {                                                                 \
                for (i = 0; i < count; i++) b[i] = sum = (T)(COMBINE((WIDE)sum, (WIDE)a[i]));                          \
            } else {                                                                                                   \
                for (i = 0; i < count; i++) {                                                                          \
                    const T x = a[i];                                                                                  \
                    b[i] = sum;                                                                                        \
                    sum = (T)(COMBINE((WIDE)sum, (WIDE)x));                                                            \
                }                                                                                                      \
            }                                                                                                          \
            if (d->total.mem) memcpy(sweep.host_c + row * sizeof sum, &sum, sizeof sum);                               \
        }                                                                                                              \
    }                                                                                                                  \
    static void sweep_reduce_##name(const sweep_call *c, const void *src, void *dst) {                                 \
        const T *a = (const T *)src + c->u.reduce.src.offset;                                                          \
        T sum;                                                                                                         \
        uint64_t i;                                                                                                    \
        memcpy(&sum, c->u.reduce.init, sizeof sum);                                                                    \
        for (i = 0; i < c->u.reduce.count; i++) sum = (T)(COMBINE((WIDE)sum, (WIDE)a[i]));                             \
        memcpy(dst, &sum, sizeof sum);                                                                                 \
    }

#define SWEEP_TYPE_LOOPS(ID, T, WIDE)                                                                                  \
    SWEEP_LOOPS(ID##_ADD, T, WIDE, SWEEP_ADD)                                                                          \
    SWEEP_LOOPS(ID##_MUL, T, WIDE, SWEEP_MUL)                                                                          \
    SWEEP_LOOPS(ID##_MIN, T, T, SWEEP_MIN)                                                                             \
    SWEEP_LOOPS(ID##_MAX, T, T, SWEEP_MAX_OF)                                                                          \
    static void sweep_arg_##ID(const sweep_call *c, const void *src, void *dst) {                                      \
        const T *a = (const T *)src + c->u.reduce.src.offset;                                                          \
        uint64_t i, at = 0;                                                                                            \
        if (c->u.reduce.op == GPUSCAN_OP_ARGMIN) {                                                                     \
            for (i = 1; i < c->u.reduce.count; i++)                                                                    \
                if (a[i] < a[at]) at = i;                                                                              \
        } else {                                                                                                       \
            for (i = 1; i < c->u.reduce.count; i++)                                                                    \
                if (a[i] > a[at]) at = i;                                                                              \
        }                                                                                                              \
        memcpy(dst, &at, sizeof at);                                                                                   \
    }                                                                                                                  \
    static void sweep_blocks_##ID(const sweep_call *c, const void *src, void *dst) {                                   \
        const gpuscan_uniform_add_desc *d = &c->u.add;                                                                 \
        const T *RESTRICT addend = (const T *)src + d->addend.offset;                                                  \
        T *RESTRICT b = (T *)dst + d->dst.offset;                                                                      \
        uint64_t i, k;                                                                                                 \
        for (i = 0; i < d->count; i += d->block, addend++) {                                                           \
            const uint64_t end = d->count - i < d->block ? d->count : i + d->block;                                    \
            for (k = i; k < end; k++) b[k] = (T)((WIDE)*addend + (WIDE)b[k]);                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static uint32_t sweep_bin_##ID(const gpuscan_histogram_desc *d, T lower, T upper, T x, double scale) {             \
        if (!(x >= lower && x < upper)) return UINT32_MAX;                                                             \
        if (d->form == GPUSCAN_BINS_VALUES) return (uint32_t)((WIDE)x - (WIDE)lower);                                  \
        return (uint32_t)(((double)x - (double)lower) * scale);                                                        \
    }                                                                                                                  \
    static void sweep_histogram_##ID(const sweep_call *c, const void *src, void *dst) {                                \
        const gpuscan_histogram_desc *d = &c->u.histogram;                                                             \
        const uint64_t channels = d->channels ? d->channels : 1, row_count = d->rows ? d->rows : 1;                    \
        const uint32_t mask = d->channel_mask ? d->channel_mask : (1u << channels) - 1;                                \
        uint32_t *counts = (uint32_t *)dst;                                                                            \
        T lower, upper;                                                                                                \
        double scale;                                                                                                  \
        uint64_t row, i, k;                                                                                            \
        lower = sizeof(T) > 2 && (T)0.5 > 0 ? (T)d->lower.f : (T)d->lower.i;                                           \
        upper = sizeof(T) > 2 && (T)0.5 > 0 ? (T)d->upper.f : (T)d->upper.i;                                           \
        scale = d->bins / ((double)upper - (double)lower);                                                             \
        memset(counts, 0, (size_t)c->written);                                                                         \
        for (row = 0; row < row_count; row++) {                                                                        \
            const T *a = (const T *)src + d->samples.offset + row * (d->pitch ? d->pitch : d->count) * channels;       \
            const uint32_t *weight = d->weights.mem ? (const uint32_t *)sweep.host_c + row * d->count : NULL;          \
            if (channels == 1 && weight == NULL && sizeof(T) == 1 && d->bins == 256) {                                 \
                for (i = 0; i < d->count; i++) counts[(uint8_t)a[i]]++;                                                \
                continue;                                                                                              \
            }                                                                                                          \
            for (i = 0; i < d->count; i++) {                                                                           \
                uint32_t *at = counts;                                                                                 \
                for (k = 0; k < channels; k++) {                                                                       \
                    uint32_t bin;                                                                                      \
                    if ((mask >> k & 1) == 0) continue;                                                                \
                    if (d->form == GPUSCAN_BINS_EDGES) bin = sweep_edge_bin(d->bins, (float)a[i * channels + k]);      \
                    else if (sizeof(T) == 1 && d->bins == 256 && d->upper.u == 0) bin = (uint8_t)a[i * channels + k];  \
                    else bin = sweep_bin_##ID(d, lower, upper, a[i * channels + k], scale);                            \
                    if (bin != UINT32_MAX) at[bin] += weight ? weight[i] : 1;                                          \
                    at += d->bins;                                                                                     \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

static uint32_t sweep_edge_bin(uint32_t bins, float x) {
    const float *edges = sweep.host_edges;
    uint32_t low = 0, high = bins;
    if (!(x >= edges[0] && x < edges[bins])) return UINT32_MAX;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (edges[middle] <= x) low = middle;
        else high = middle;
    }
    return low;
}

SWEEP_TYPES(SWEEP_TYPE_LOOPS)

#define SWEEP_STRUCT_LOOPS(W)                                                                                          \
    typedef struct sweep_floats##W {                                                                                   \
        float v[W];                                                                                                    \
    } sweep_floats##W;                                                                                                 \
    static sweep_floats##W sweep_combine##W(sweep_floats##W a, sweep_floats##W b) {                                    \
        int k;                                                                                                         \
        for (k = 0; k < W; k++) a.v[k] += b.v[k];                                                                      \
        return a;                                                                                                      \
    }                                                                                                                  \
    static void sweep_scan_floats##W(const sweep_call *c, const void *src, void *dst) {                                \
        const sweep_floats##W *RESTRICT a = (const sweep_floats##W *)src;                                              \
        sweep_floats##W *RESTRICT b = (sweep_floats##W *)dst, sum;                                                     \
        uint64_t i;                                                                                                    \
        memset(&sum, 0, sizeof sum);                                                                                   \
        for (i = 0; i < c->u.scan.count; i++) {                                                                        \
            if (c->u.scan.kind == GPUSCAN_EXCLUSIVE) b[i] = sum;                                                       \
            sum = sweep_combine##W(sum, a[i]);                                                                         \
            if (c->u.scan.kind == GPUSCAN_INCLUSIVE) b[i] = sum;                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    static void sweep_reduce_floats##W(const sweep_call *c, const void *src, void *dst) {                              \
        const sweep_floats##W *a = (const sweep_floats##W *)src;                                                       \
        sweep_floats##W sum;                                                                                           \
        uint64_t i;                                                                                                    \
        memset(&sum, 0, sizeof sum);                                                                                   \
        for (i = 0; i < c->u.reduce.count; i++) sum = sweep_combine##W(sum, a[i]);                                     \
        memcpy(dst, &sum, sizeof sum);                                                                                 \
    }
SWEEP_STRUCT_LOOPS(2)
SWEEP_STRUCT_LOOPS(3)
SWEEP_STRUCT_LOOPS(4)
SWEEP_STRUCT_LOOPS(8)

/* ---- what there is of each type and operator ---- */

typedef struct sweep_type {
    gpuscan_type type;
    const char *name;
    size_t size;
    sweep_loop *scan[4], *reduce[4], *arg, *blocks, *histogram; /* of ADD, MUL, MIN, MAX */
} sweep_type;

#define SWEEP_TYPE_ROW(ID, T, WIDE)                                                                                    \
    {GPUSCAN_TYPE_##ID,                                                                                                \
     #ID,                                                                                                              \
     sizeof(T),                                                                                                        \
     {sweep_scan_##ID##_ADD, sweep_scan_##ID##_MUL, sweep_scan_##ID##_MIN, sweep_scan_##ID##_MAX},                     \
     {sweep_reduce_##ID##_ADD, sweep_reduce_##ID##_MUL, sweep_reduce_##ID##_MIN, sweep_reduce_##ID##_MAX},             \
     sweep_arg_##ID,                                                                                                   \
     sweep_blocks_##ID,                                                                                                \
     sweep_histogram_##ID},
static const sweep_type sweep_types[] = {
    SWEEP_TYPES(SWEEP_TYPE_ROW){GPUSCAN_TYPE_F16, "F16", 2, {0, 0, 0, 0}, {0, 0, 0, 0}, 0, 0, 0}};
enum { SWEEP_TYPE_COUNT = (int)(sizeof sweep_types / sizeof sweep_types[0]) };

static const gpuscan_op sweep_ops[] = {GPUSCAN_OP_ADD, GPUSCAN_OP_MUL, GPUSCAN_OP_MIN, GPUSCAN_OP_MAX};
static const char *const sweep_op_names[] = {"add", "mul", "min", "max"};

static const sweep_type *sweep_type_of(gpuscan_type type) {
    int t = 0;
    while (sweep_types[t].type != type) t++;
    return &sweep_types[t];
}

static int sweep_is_float(gpuscan_type type) {
    return type == GPUSCAN_TYPE_F16 || type == GPUSCAN_TYPE_F32 || type == GPUSCAN_TYPE_F64;
}

/* The same for the library and for the loops: 0, 1, or for MIN and MAX a value that does not matter much. */
static const void *sweep_init(gpuscan_type type, int op) {
    static const uint64_t zero = 0;
    static const uint8_t one8 = 1;
    static const uint16_t one16 = 1, one_f16 = 0x3c00;
    static const uint32_t one32 = 1;
    static const uint64_t one64 = 1;
    static const float one_f32 = 1.0f;
    static const double one_f64 = 1.0;
    if (op != 1) return &zero;
    if (type == GPUSCAN_TYPE_F16) return &one_f16;
    if (type == GPUSCAN_TYPE_F32) return &one_f32;
    if (type == GPUSCAN_TYPE_F64) return &one_f64;
    switch (sweep_type_of(type)->size) {
    case 1: return &one8;
    case 2: return &one16;
    case 4: return &one32;
    default: return &one64;
    }
}

/* ---- running a case ---- */

static gpuscan_result enqueue_sweep(const job *j) {
    const sweep_call *c = j->sweep;
    switch (c->op) {
    case SWEEP_SCAN: return gpuscan_scan(device.gs, &c->u.scan);
    case SWEEP_UNIFORM_ADD: return gpuscan_uniform_add(device.gs, &c->u.add);
    case SWEEP_REDUCE: return gpuscan_reduce(device.gs, &c->u.reduce);
    case SWEEP_SELECT: return gpuscan_select(device.gs, &c->u.select);
    case SWEEP_RUNS: return gpuscan_runs(device.gs, &c->u.runs);
    case SWEEP_SORT: return gpuscan_sort(device.gs, &c->u.sort);
    case SWEEP_INTEGRAL: return gpuscan_integral(device.gs, &c->u.integral);
    case SWEEP_QUANTILE: return gpuscan_quantile(device.gs, &c->u.quantile);
    default: return gpuscan_histogram(device.gs, &c->u.histogram);
    }
}

static const char *const sweep_read_source =
    "__kernel void read(__global const uint4 *from, uint vectors, __global uint *to) {\n"
    "    uint i = get_global_id(0), step = get_global_size(0);\n"
    "    uint4 sum = 0;\n"
    "    for (; i + 3 * step < vectors; i += 4 * step)\n"
    "        sum ^= from[i] ^ from[i + step] ^ from[i + 2 * step] ^ from[i + 3 * step];\n"
    "    for (; i < vectors; i += step) sum ^= from[i];\n"
    "    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0x12345678u) to[0] = 1;\n"
    "}\n";

static size_t sweep_read_groups;

static gpuscan_result enqueue_read(const job *j) {
    const size_t local = 256, global = local * sweep_read_groups;
    return keep_kernel(j->queue, j->kernel, 1, NULL, &global, &local, 0, NULL, NULL);
}

/* The time of reading so many bytes: the best of a few shapes. */
static double read_ms(uint64_t bytes) {
    static uint64_t known_bytes[64];
    static double known_ms[64];
    static unsigned known;
    static cl_kernel kernel;
    static const size_t shapes[] = {264, 528, 1056, 2112};
    job j = {0};
    cl_uint vectors = (cl_uint)(bytes / 16);
    double best = (double)NAN;
    unsigned i;
    for (i = 0; i < known; i++)
        if (known_bytes[i] == bytes) return known_ms[i];
    if (kernel == NULL) kernel = new_kernel(sweep_read_source, "read");
    must(cl.clSetKernelArg(kernel, 0, sizeof sweep.a, &sweep.a), "argument");
    must(cl.clSetKernelArg(kernel, 1, sizeof vectors, &vectors), "argument");
    must(cl.clSetKernelArg(kernel, 2, sizeof sweep.d, &sweep.d), "argument");
    j.enqueue = enqueue_read;
    j.kernel = kernel;
    j.queue = device.queue;
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        timing t;
        sweep_read_groups = shapes[i];
        t = measure(&j);
        must(t.result, "read");
        if (!(best <= t.ms)) best = t.ms;
    }
    if (known < 64) {
        known_bytes[known] = bytes;
        known_ms[known++] = best;
    }
    return best;
}

static void sweep_fill_block(sweep_fill fill, size_t size, void *data, size_t bytes) {
    size_t i;
    switch (fill) {
    case SWEEP_STEPS:
        if (size == 8) fill_steps_f64(data, bytes);
        else if (size == 4) fill_steps_f32(data, bytes);
        else fill_masked(data, bytes, 0xBC00BC00BC00BC00u); /* f16: 0 to +-1 */
        break;
    case SWEEP_UNIT:
        if (size == 8)
            for (i = 0; i < bytes / 8; i++) ((double *)data)[i] = (double)(random_bits(i) >> 11) * 0x1p-53;
        else if (size == 4) fill_unit_f32(data, bytes);
        else fill_masked(data, bytes, 0x3BFF3BFF3BFF3BFFu);
        break;
    case SWEEP_ONE_VALUE: fill_masked(data, bytes, 0); break;
    case SWEEP_8_VALUES: fill_masked(data, bytes, 0x0707070707070707u); break;
    default: fill_random(data, bytes); break;
    }
}

static void sweep_set_data(const sweep_call *c) {
    const uint64_t all = sweep.bytes + SWEEP_SLACK, block = all < BLOCK ? all : BLOCK;
    const int kind = (int)c->fill * 16 + (c->fill == SWEEP_STEPS || c->fill == SWEEP_UNIT ? (int)c->size % 16 : 0);
    uint64_t done;
    if (sweep.filled == kind) return;
    sweep.filled = kind;
    sweep_fill_block(c->fill, c->size, sweep.host_a, (size_t)block);
    for (done = block; (sweep.check || !timed_by_events()) && done < all; done += block)
        memcpy(sweep.host_a + done, sweep.host_a, (size_t)(all - done < block ? all - done : block));
    must(cl.clEnqueueWriteBuffer(device.queue, sweep.a, CL_TRUE, 0, (size_t)block, sweep.host_a, 0, NULL, NULL),
         "write");
    repeat_bytes(sweep.a, block, all);
}

/* Buffer c, which some cases write, and the loops' copy of it. */
static void sweep_set_c(unsigned char value) {
    const uint64_t all = sweep.bytes + SWEEP_SLACK;
    fill_buffer(sweep.c, value, all);
    if (sweep.check || !timed_by_events()) memset(sweep.host_c, value, (size_t)all);
}

static int sweep_is_right(const sweep_call *c) {
    const size_t bytes = (size_t)(c->results * c->result_size);
    char *got;
    int right;
    if (!sweep.check || c->loop == NULL || c->results == 0) return 1;
    got = (char *)allocate(bytes);
    must(cl.clEnqueueReadBuffer(device.queue, sweep.b, CL_TRUE, 0, bytes, got, 0, NULL, NULL), "read");
    right = memcmp(got, sweep.host_b, bytes) == 0;
    free(got);
    return right;
}

static void sweep_run(const sweep_call *c, const char *format, ...) {
    sweep_result *r = &sweep.results[sweep.count];
    const uint64_t all = sweep.bytes + SWEEP_SLACK;
    va_list arguments;
    job j = {0};
    timing t;
    double ms, loop = (double)NAN;
    int right = 1;
    if (sweep.count == SWEEP_MAX) die("more than %d cases", SWEEP_MAX);
    va_start(arguments, format);
    vsnprintf(r->name, sizeof r->name, format, arguments);
    va_end(arguments);
    if (sweep.filter != NULL && strstr(r->name, sweep.filter) == NULL && strstr(c->name_of_class, sweep.filter) == NULL)
        return;
    progress("%s", r->name);
    at_hand = r->name;
    sweep_set_data(c);
    j.enqueue = enqueue_sweep;
    j.sweep = c;
    j.queue = device.queue;
    if (sweep.check || !timed_by_events()) memset(sweep.host_b, 0, (size_t)all);
    if (sweep.check) { /* once, on a dst of zeros */
        fill_buffer(sweep.b, 0, all);
        t.result = run_once(&j, &ms);
        if (t.result == 0 && c->loop != NULL && c->results != 0) {
            c->loop(c, sweep.host_a, sweep.host_b);
            right = sweep_is_right(c);
        }
    }
    t = measure(&j);
    if (t.result != 0 || !right) {
        progress("%s", "");
        printf("%s: %s\n", r->name, right ? gpuscan_error(device.gs) : "WRONG");
        sweep.failed++;
        return;
    }
    if (!timed_by_events() && c->loop != NULL) {
        double samples[MAX_RUNS], begin = now_ms();
        unsigned count = 0;
        while (count < MIN_LOOP_RUNS || (count < MAX_RUNS && now_ms() - begin < budget_ms)) {
            const double start = now_ms();
            c->loop(c, sweep.host_a, sweep.host_b);
            samples[count++] = now_ms() - start;
        }
        loop = median(samples, count);
    }
    r->name_of_class = c->name_of_class;
    r->bytes = sweep.bytes;
    r->ms = t.ms;
    r->floor = timed_by_events() ? c->floor : 1.0;
    if (!timed_by_events()) r->yard_ms = loop;
    else if (c->op == SWEEP_SCAN || c->op == SWEEP_UNIFORM_ADD || c->op == SWEEP_SELECT ||
             c->op == SWEEP_RUNS || c->op == SWEEP_SORT || c->op == SWEEP_INTEGRAL)
        r->yard_ms = copy_ms(c->read + c->written);
    else if (c->read <= sweep.bytes) r->yard_ms = read_ms(c->read);
    else r->yard_ms = read_ms(sweep.bytes) * (double)c->read / (double)sweep.bytes;
    r->fraction = r->yard_ms / r->ms;
    sweep.count++;
    if (csv != NULL) {
        fprintf(csv, "%s,\"%s\",%llu,%.6f,%.6f,%.4f,%.2f\n", r->name_of_class, r->name, (unsigned long long)r->bytes,
                r->ms, r->yard_ms, r->fraction, r->floor);
        fflush(csv);
    }
}

/* ---- the cases ---- */

static sweep_call sweep_scan_call(const char *name_of_class, double floor, const sweep_type *t, int op) {
    sweep_call c;
    memset(&c, 0, sizeof c);
    c.name_of_class = name_of_class;
    c.op = SWEEP_SCAN;
    c.floor = floor;
    c.fill = sweep_is_float(t->type) ? SWEEP_STEPS : SWEEP_RANDOM;
    c.size = c.result_size = t->size;
    c.u.scan.src.mem = sweep.a;
    c.u.scan.dst.mem = sweep.b;
    c.u.scan.src_type = t->type;
    c.u.scan.op = sweep_ops[op];
    c.u.scan.count = sweep.bytes / t->size;
    c.u.scan.init = sweep_init(t->type, op);
    c.u.scan.call.queue = device.queue;
    c.read = c.written = sweep.bytes;
    c.results = sweep_is_float(t->type) && op == 1 ? 0 : c.u.scan.count;
    c.loop = t->scan[op];
    return c;
}

static const char *sweep_kind(const sweep_call *c) {
    return c->u.scan.kind == GPUSCAN_INCLUSIVE ? "inclusive" : "exclusive";
}

static void sweep_scans(void) {
    static const gpuscan_type offset_types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};
    static const unsigned offsets[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {3, 0}, {0, 3},
                                          {1, 2}, {3, 7}, {4, 0}, {0, 4}, {7, 0}, {0, 7}};
    int t, op, kind, k;
    for (t = 0; t < SWEEP_TYPE_COUNT; t++)
        for (op = 0; op < 4; op++)
            for (kind = 0; kind < 2; kind++) {
                sweep_call c = sweep_scan_call("scan types", sweep_types[t].size == 1 && op ? 0.6 : 0.75,
                                               &sweep_types[t], op);
                if (op == 2) continue; /* as MAX */
                c.u.scan.kind = (gpuscan_scan_kind)kind;
                sweep_run(&c, "scan %s %s, %s", sweep_types[t].name, sweep_op_names[op], sweep_kind(&c));
            }
    for (t = 0; t < 4; t++)
        for (k = 0; k < (int)(sizeof offsets / sizeof offsets[0]); k++) {
            const sweep_type *type = sweep_type_of(offset_types[t]);
            sweep_call c = sweep_scan_call("scan offsets", type->size == 1 ? 0.75 : 0.82, type, 0);
            if ((offsets[k][0] * type->size) % 16 == 0 && (offsets[k][1] * type->size) % 16 == 0) continue;
            c.u.scan.src.offset = offsets[k][0];
            c.u.scan.dst.offset = offsets[k][1];
            sweep_run(&c, "scan %s, src %u off, dst %u off", type->name, offsets[k][0], offsets[k][1]);
        }
    for (t = 0; t < SWEEP_TYPE_COUNT; t++)
        for (kind = 0; kind < 2; kind++) {
            sweep_call c = sweep_scan_call("scan in place", sweep_types[t].size == 1 ? 0.75 : 0.82, &sweep_types[t], 0);
            if (sweep_is_float(sweep_types[t].type) && sweep_types[t].type != GPUSCAN_TYPE_F32) continue;
            c.u.scan.kind = (gpuscan_scan_kind)kind;
            c.u.scan.src.mem = sweep.b;
            c.results = 0;
            sweep_run(&c, "scan %s in place, %s", sweep_types[t].name, sweep_kind(&c));
        }
    for (t = 0; t < SWEEP_TYPE_COUNT; t++)
        for (k = 0; k < 2; k++) { /* with vectors that begin where the row ends, and not */
            sweep_call c = sweep_scan_call("scan reversed", sweep_types[t].size == 1 ? 0.75 : 0.82, &sweep_types[t], 0);
            c.u.scan.reverse = 1;
            c.u.scan.count -= (uint64_t)k;
            c.results -= (uint64_t)k;
            sweep_run(&c, "scan %s reversed%s", sweep_types[t].name, k ? ", odd count" : "");
        }
}

/* Short lines pass through local memory. Of others, each group takes a strip of columns. */
static void sweep_columns(void) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64};
    static const uint32_t     columns[] = {1, 2, 3, 7, 16, 32, 100, 1000, 4096, 65536};
    size_t                    t, k;
    for (t = 0; t < sizeof types / sizeof types[0]; t++)
        for (k = 0; k < sizeof columns / sizeof columns[0]; k++) {
            const sweep_type *type = sweep_type_of(types[t]);
            sweep_call        c = sweep_scan_call("scan columns", 0.75, type, 0);
            c.u.scan.along = GPUSCAN_ALONG_COLUMNS;
            c.u.scan.rows = columns[k];
            c.u.scan.count = sweep.bytes / type->size / columns[k];
            if (c.u.scan.count < 2 || (type->size != 4 && k % 2 == 0)) continue;
            c.results = c.u.scan.count * columns[k];
            c.read = c.written = c.results * type->size;
            sweep_run(&c, "scan %s, %u columns", type->name, columns[k]);
        }
}

static void sweep_rows(void) {
    static const unsigned lengths[] = {1,   2,   3,   4,   7,    8,    10,   16,   31,   32,   33,   64,   100,
                                       128, 256, 500, 777, 1000, 1024, 1920, 2048, 4096, 5000, 8000, 8192, 20000};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U64};
    int t, k, form;
    for (t = 0; t < 4; t++)
        for (k = 0; k < (int)(sizeof lengths / sizeof lengths[0]); k++)
            for (form = 0; form < 3; form++) { /* dense, with totals, in a pitch */
                const sweep_type *type = sweep_type_of(types[t]);
                const uint64_t length = lengths[k], pitch = form == 2 ? (length + 15) / 16 * 16 + 16 : length;
                sweep_call c = sweep_scan_call("scan rows", 0.8, type, 0);
                if (form && types[t] != GPUSCAN_TYPE_U32) continue;
                c.u.scan.count = length;
                c.u.scan.rows = sweep.bytes / type->size / pitch;
                if (c.u.scan.rows < 2) continue;
                c.u.scan.src_pitch = c.u.scan.dst_pitch = pitch;
                c.read = c.written = c.u.scan.rows * length * type->size;
                c.results = c.u.scan.rows * pitch - (pitch - length);
                if (form == 1) {
                    c.u.scan.total.mem = sweep.c;
                    c.written += c.u.scan.rows * type->size;
                }
                sweep_run(&c, "scan %s, rows of %u%s", type->name, lengths[k],
                          form == 1 ? " with totals" : form == 2 ? " in a pitch" : "");
            }
}

/* Segments by heads or keys of the elements' size: each element its own, all one, or as the data are. */
enum { SWEEP_SEGMENTS_OF_ONE, SWEEP_SEGMENT_OF_ALL, SWEEP_SEGMENTS_BY_VALUE, SWEEP_SEGMENTS };

static int sweep_begins(const sweep_call *c, const uint32_t *src, uint64_t i) {
    const uint32_t *keys = c->u.scan.segments.data.mem == sweep.a ? src : (const uint32_t *)(void *)sweep.host_c;
    return c->u.scan.segments.form == GPUSCAN_SEGMENTS_HEADS ? keys[i] != 0 : i > 0 && keys[i] != keys[i - 1];
}

#define SWEEP_SEGMENTED(name, type)                                                                                    \
    static void sweep_segmented_##name(const sweep_call *c, const void *src, void *dst) {                              \
        const type *a = (const type *)src;                                                                             \
        type *b = (type *)dst, sum = 0;                                                                                \
        uint64_t i;                                                                                                    \
        for (i = 0; i < c->u.scan.count; i++) {                                                                        \
            if (sweep_begins(c, (const uint32_t *)src, i)) sum = 0;                                                    \
            b[i] = sum;                                                                                                \
            sum = (type)(sum + a[i]);                                                                                  \
        }                                                                                                              \
    }
SWEEP_SEGMENTED(u32, uint32_t)
SWEEP_SEGMENTED(f32, float)

static void sweep_segmented(void) {
    static const char *const names[SWEEP_SEGMENTS] = {"segments of one", "one segment", "segments by value"};
    int k, real;
    sweep_set_c(1);
    for (k = 0; k < SWEEP_SEGMENTS; k++)
        for (real = 0; real < 2; real++) {
            const sweep_type *type = sweep_type_of(real ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_U32);
            sweep_call c = sweep_scan_call("scan by segments", 0.8, type, 0);
            c.u.scan.init = NULL;
            c.u.scan.segments.form = k == SWEEP_SEGMENTS_OF_ONE ? GPUSCAN_SEGMENTS_HEADS : GPUSCAN_SEGMENTS_KEYS;
            c.u.scan.segments.type = GPUSCAN_TYPE_U32;
            c.u.scan.segments.data.mem = k == SWEEP_SEGMENTS_BY_VALUE ? sweep.a : sweep.c;
            c.read = k == SWEEP_SEGMENTS_BY_VALUE ? sweep.bytes : 2 * sweep.bytes;
            c.loop = real ? sweep_segmented_f32 : sweep_segmented_u32;
            sweep_run(&c, "scan %s, %s", type->name, names[k]);
        }
}

/* Sums between offsets: the loop has them on the host. */
static uint32_t *sweep_offsets;
#define SWEEP_BETWEEN(name, type)                                                                                      \
    static void sweep_between_##name(const sweep_call *c, const void *src, void *dst) {                                \
        const type *a = (const type *)src;                                                                             \
        type *b = (type *)dst;                                                                                         \
        uint64_t s;                                                                                                    \
        uint32_t i;                                                                                                    \
        for (s = 0; s < c->u.reduce.segments.count; s++) {                                                             \
            b[s] = 0;                                                                                                  \
            for (i = sweep_offsets[s]; i < sweep_offsets[s + 1]; i++) b[s] = (type)(b[s] + a[i]);                      \
        }                                                                                                              \
    }
SWEEP_BETWEEN(u32, uint32_t)
SWEEP_BETWEEN(f32, float)

static void sweep_sums_between(void) {
    static const unsigned lengths[] = {1, 3, 8, 31, 100, 1000, 10000, 1000000};
    const uint64_t count = sweep.bytes / 4;
    cl_mem offsets = new_buffer((count + 2) * 4);
    int k, form; /* u32, f32, half of them empty */
    if (offsets == NULL) die("no device memory for offsets");
    sweep_offsets = (uint32_t *)allocate((count + 2) * 4);
    for (k = 0; k < (int)(sizeof lengths / sizeof lengths[0]); k++)
        for (form = 0; form < 3; form++) {
            const sweep_type *type = sweep_type_of(form ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_U32);
            const uint64_t length = lengths[k], each = form == 2 ? 2 : 1, segments = count / length;
            sweep_call c;
            uint64_t s;
            if (segments == 0) continue;
            for (s = 0; s <= segments; s++)
                sweep_offsets[s] = (uint32_t)(s == segments ? count : s / each * each * length);
            must(cl.clEnqueueWriteBuffer(device.queue, offsets, CL_TRUE, 0, (size_t)(segments + 1) * 4, sweep_offsets,
                                         0, NULL, NULL),
                 "write");
            memset(&c, 0, sizeof c);
            c.name_of_class = "reduce segments";
            c.op = SWEEP_REDUCE;
            c.floor = 0.7;
            c.fill = form ? SWEEP_STEPS : SWEEP_RANDOM;
            c.size = c.result_size = 4;
            c.u.reduce.src.mem = sweep.a;
            c.u.reduce.dst.mem = sweep.b;
            c.u.reduce.src_type = type->type;
            c.u.reduce.count = count;
            c.u.reduce.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
            c.u.reduce.segments.data.mem = offsets;
            c.u.reduce.segments.count = segments;
            c.u.reduce.call.queue = device.queue;
            c.written = c.results = segments;
            c.written *= 4;
            c.read = count * 4 + segments * 8; /* and what is written, in readings */
            c.loop = form ? sweep_between_f32 : sweep_between_u32;
            sweep_run(&c, "reduce %s, segments of %u%s", type->name, lengths[k],
                      form == 2 ? ", half of them empty" : "");
        }
    cl.clReleaseMemObject(offsets);
    free(sweep_offsets);
}

static const struct {
    int floats;
    gpuscan_custom custom;
    sweep_loop *scan, *reduce;
} sweep_structs[] = {
#define SWEEP_STRUCT(W)                                                                                                \
    {W,                                                                                                                \
     {"typedef struct { float v[" #W "]; } floats;\n"                                                                  \
      "floats add(floats a, floats b) { for (int k = 0; k < " #W "; k++) a.v[k] += b.v[k]; return a; }\n"              \
      "floats none(void) { floats a; for (int k = 0; k < " #W "; k++) a.v[k] = 0.0f; return a; }\n",                   \
      "floats", W * 4, "add(a, b)", "none()", NULL, NULL, NULL, NULL},                                                 \
     sweep_scan_floats##W,                                                                                             \
     sweep_reduce_floats##W}
    SWEEP_STRUCT(2), SWEEP_STRUCT(3), SWEEP_STRUCT(4), SWEEP_STRUCT(8)
#undef SWEEP_STRUCT
};

static void sweep_custom(void) {
    int k, kind;
    for (k = 0; k < 4; k++) {
        const size_t size = (size_t)sweep_structs[k].floats * 4;
        sweep_call c;
        for (kind = 0; kind < 2; kind++) {
            c = sweep_scan_call("scan structs", size == 32 ? 0.6 : 0.8, sweep_type_of(GPUSCAN_TYPE_F32), 0);
            c.u.scan.src_type = GPUSCAN_TYPE_CUSTOM;
            c.u.scan.op = GPUSCAN_OP_CUSTOM;
            c.u.scan.custom = &sweep_structs[k].custom;
            c.u.scan.count = sweep.bytes / size;
            c.u.scan.init = NULL;
            c.u.scan.kind = (gpuscan_scan_kind)kind;
            c.result_size = size;
            c.read = c.written = c.u.scan.count * size;
            c.results = c.u.scan.count;
            c.loop = sweep_structs[k].scan;
            sweep_run(&c, "scan struct of %u bytes, %s", (unsigned)size, sweep_kind(&c));
        }
        memset(&c.u, 0, sizeof c.u);
        c.name_of_class = "reduce structs";
        c.op = SWEEP_REDUCE;
        c.floor = 0.85;
        c.u.reduce.src.mem = sweep.a;
        c.u.reduce.dst.mem = sweep.b;
        c.u.reduce.src_type = GPUSCAN_TYPE_CUSTOM;
        c.u.reduce.op = GPUSCAN_OP_CUSTOM;
        c.u.reduce.custom = &sweep_structs[k].custom;
        c.u.reduce.count = sweep.bytes / size;
        c.u.reduce.call.queue = device.queue;
        c.written = size;
        c.results = 1;
        c.loop = sweep_structs[k].reduce;
        sweep_run(&c, "reduce struct of %u bytes", (unsigned)size);
    }
}

static void sweep_reductions(void) {
    int t, op, offset;
    for (t = 0; t < SWEEP_TYPE_COUNT; t++) {
        const sweep_type *type = &sweep_types[t];
        for (op = 0; op < 6; op++)
            for (offset = 0; offset < (op == 0 ? 2 : 1); offset++) {
                sweep_call c;
                memset(&c, 0, sizeof c);
                c.name_of_class = op >= 4 ? "reduce argmin" : "reduce types";
                c.op = SWEEP_REDUCE;
                c.floor = op >= 4 && type->size < 4 ? 0.6 : 0.85;
                c.fill = sweep_is_float(type->type) ? SWEEP_STEPS : SWEEP_RANDOM;
                c.size = type->size;
                c.result_size = op >= 4 ? 8 : type->size;
                c.u.reduce.src.mem = sweep.a;
                c.u.reduce.src.offset = (uint64_t)offset;
                c.u.reduce.dst.mem = sweep.b;
                c.u.reduce.src_type = type->type;
                c.u.reduce.op = op == 4 ? GPUSCAN_OP_ARGMIN : op == 5 ? GPUSCAN_OP_ARGMAX : sweep_ops[op];
                c.u.reduce.init = op >= 4 ? NULL : sweep_init(type->type, op);
                c.u.reduce.count = sweep.bytes / type->size;
                c.u.reduce.call.queue = device.queue;
                c.read = sweep.bytes;
                c.written = c.result_size;
                c.results = sweep_is_float(type->type) && op == 1 ? 0 : 1;
                c.loop = op >= 4 ? type->arg : type->reduce[op];
                sweep_run(&c, "reduce %s %s%s", type->name,
                          op == 4   ? "argmin"
                          : op == 5 ? "argmax"
                                    : sweep_op_names[op],
                          offset ? ", 1 off" : "");
            }
    }
}

static void sweep_uniform_adds(void) {
    static const unsigned blocks[] = {1, 3, 16, 256, 1000, 4096, 100000};
    int t, k;
    for (t = 0; t < SWEEP_TYPE_COUNT; t++)
        for (k = 0; k < (int)(sizeof blocks / sizeof blocks[0]); k++) {
            const sweep_type *type = &sweep_types[t];
            sweep_call c;
            if (type->type == GPUSCAN_TYPE_F16) continue;
            memset(&c, 0, sizeof c);
            c.name_of_class = "uniform add";
            c.op = SWEEP_UNIFORM_ADD;
            c.floor = 0.85;
            c.fill = sweep_is_float(type->type) ? SWEEP_STEPS : SWEEP_RANDOM;
            c.size = c.result_size = type->size;
            c.u.add.dst.mem = sweep.b;
            c.u.add.addend.mem = sweep.a;
            c.u.add.type = type->type;
            c.u.add.count = sweep.bytes / type->size;
            c.u.add.block = blocks[k];
            c.u.add.call.queue = device.queue;
            c.read = sweep.bytes + sweep.bytes / blocks[k];
            c.written = sweep.bytes;
            c.results = c.u.add.count;
            c.loop = type->blocks;
            sweep_run(&c, "uniform add %s, blocks of %u", type->name, blocks[k]);
        }
}

static sweep_call sweep_histogram_call(const char *name_of_class, double floor, gpuscan_type type, uint32_t bins) {
    const sweep_type *t = sweep_type_of(type);
    sweep_call c;
    memset(&c, 0, sizeof c);
    c.name_of_class = name_of_class;
    c.op = SWEEP_HISTOGRAM;
    c.floor = floor;
    c.fill = sweep_is_float(type) ? SWEEP_UNIT : SWEEP_RANDOM;
    c.size = t->size;
    c.result_size = 4;
    c.u.histogram.samples.mem = sweep.a;
    c.u.histogram.counts.mem = sweep.b;
    c.u.histogram.sample_type = type;
    c.u.histogram.bins = bins;
    c.u.histogram.count = sweep.bytes / t->size;
    c.u.histogram.call.queue = device.queue;
    if (sweep_is_float(type)) c.u.histogram.upper.f = 1.0;
    c.read = sweep.bytes;
    c.written = (uint64_t)bins * 4;
    c.loop = t->histogram;
    return c;
}

static const char *sweep_fill_name(sweep_fill fill) {
    static const char *const names[] = {"", "", "", ", one value", ", 8 values"};
    return names[fill];
}

static void sweep_histograms(void) {
    static const uint32_t byte_bins[] = {5, 10, 100, 256};
    static const uint32_t bins[] = {4, 256, 1000, 4096, 20000, 65536, 100000, 1000000};
    static const uint32_t edges[] = {4, 16, 100, 256, 1000};
    static const sweep_fill fills[] = {SWEEP_RANDOM, SWEEP_8_VALUES, SWEEP_ONE_VALUE};
    static const char *const outside[] = {"", ", clamp", ", count"};
    int t, k, f, o;
    for (t = 0; t < 2; t++) /* bytes over a range */
        for (k = 0; k < 4; k++)
            for (f = 0; f < 3; f++)
                for (o = 0; o < 3; o++) {
                    sweep_call c = sweep_histogram_call("histogram bytes", 0.75, t ? GPUSCAN_TYPE_I8 : GPUSCAN_TYPE_U8,
                                                        byte_bins[k]);
                    const unsigned range = fills[f] == SWEEP_RANDOM ? 100 : 8;
                    if ((o && f) || (t && f)) continue;
                    c.u.histogram.upper.i = range;
                    c.u.histogram.outside = (gpuscan_outside)o;
                    c.fill = fills[f];
                    sweep_run(&c, "histogram %s, %u bins of [0, %u)%s%s", t ? "I8" : "U8", (unsigned)byte_bins[k],
                              range, outside[o], sweep_fill_name(fills[f]));
                }
    for (t = 0; t < SWEEP_TYPE_COUNT; t++)
        for (k = 0; k < 8; k++)
            for (f = 0; f < 2; f++) {
                const gpuscan_type type = sweep_types[t].type;
                sweep_call c;
                if (sweep_types[t].size == 1) continue;
                c = sweep_histogram_call("histogram types", bins[k] > 4096 ? 0.1 : 0.6, type, bins[k]);
                if (!sweep_is_float(type))
                    c.u.histogram.upper.i = type == GPUSCAN_TYPE_I16   ? 32767
                                            : type == GPUSCAN_TYPE_U16 ? 65535
                                                                       : 2000000000;
                if (f) c.fill = SWEEP_ONE_VALUE;
                sweep_run(&c, "histogram %s, %u bins%s", sweep_types[t].name, (unsigned)bins[k],
                          f ? ", one value" : "");
            }
    for (k = 0; k < 5; k++)
        for (f = 0; f < 2; f++) {
            sweep_call c =
                sweep_histogram_call("histogram edges", edges[k] > 100 ? 0.3 : 0.5, GPUSCAN_TYPE_F32, edges[k]);
            float *to = sweep.host_edges;
            uint32_t i;
            for (i = 0; i <= edges[k]; i++) to[i] = (float)i * (float)i / ((float)edges[k] * (float)edges[k]);
            must(cl.clEnqueueWriteBuffer(device.queue, sweep.d, CL_TRUE, 0, (edges[k] + 1) * sizeof(float), to, 0, NULL,
                                         NULL),
                 "write");
            c.u.histogram.form = GPUSCAN_BINS_EDGES;
            c.u.histogram.edges.mem = sweep.d;
            c.u.histogram.upper.f = 0.0;
            if (f) c.fill = SWEEP_ONE_VALUE;
            sweep_run(&c, "histogram F32, %u edges%s", (unsigned)edges[k], f ? ", one value" : "");
        }
}

static void sweep_pixels(void) {
    static const struct {
        uint32_t channels, mask;
    } layouts[] = {{1, 1}, {2, 3}, {3, 7}, {3, 1}, {4, 15}, {4, 7}, {4, 1}};
    static const unsigned widths[][2] = {{0, 0}, {1917, 1920}, {1920, 2048}, {10, 16}, {333, 333}};
    int k, w, f;
    for (k = 0; k < 7; k++)
        for (w = 0; w < 5; w++)
            for (f = 0; f < 2; f++) {
                sweep_call c =
                    sweep_histogram_call("histogram pixels", widths[w][0] == 10 ? 0.2 : 0.6, GPUSCAN_TYPE_U8, 256);
                const uint64_t pixel = layouts[k].channels, pixels = sweep.bytes / pixel;
                if (f && w) continue;
                c.u.histogram.channels = layouts[k].channels;
                c.u.histogram.channel_mask = layouts[k].mask;
                c.u.histogram.count = pixels;
                if (widths[w][0]) {
                    c.u.histogram.count = widths[w][0];
                    c.u.histogram.pitch = widths[w][1];
                    c.u.histogram.rows = pixels / widths[w][1];
                    c.read = c.u.histogram.count * c.u.histogram.rows * pixel;
                }
                if (f) c.fill = SWEEP_ONE_VALUE;
                c.results = 256;
                sweep_run(&c, "histogram U8, %u channels, mask %u, rows of %u of %u%s", (unsigned)layouts[k].channels,
                          (unsigned)layouts[k].mask, widths[w][0], widths[w][1], f ? ", one value" : "");
            }
}

/* Of bytes: the luminances of pixels, or one channel; of all or of each tile. */
static void sweep_picture(const sweep_call *c, const void *src, void *dst) {
    const gpuscan_histogram_desc *d = &c->u.histogram;
    const uint64_t channels = d->channels ? d->channels : 1, row_count = d->rows ? d->rows : 1;
    const uint64_t width = d->tile_width ? d->tile_width : d->count;
    const uint64_t height = d->tile_height ? d->tile_height : row_count;
    const uint64_t pitch = d->pitch_bytes ? d->pitch_bytes : d->count * channels;
    const uint64_t across = (d->count + width - 1) / width;
    uint32_t *counts = (uint32_t *)dst;
    uint64_t x, y;
    memset(counts, 0, (size_t)c->written);
    for (y = 0; y < row_count; y++) {
        const uint8_t *p = (const uint8_t *)src + y * pitch;
        for (x = 0; x < d->count; x++, p += channels) {
            const unsigned value = d->custom ? (77u * p[0] + 150u * p[1] + 29u * p[2] + 128) >> 8 : p[0];
            counts[(y / height * across + x / width) * d->bins + value]++;
        }
    }
}

static void sweep_pictures(void) {
    static const gpuscan_custom luma = {
        NULL, NULL, 0, NULL, NULL, "(77 * x.x + 150 * x.y + 29 * x.z + 128) >> 8", NULL, NULL, NULL};
    static const struct {
        unsigned channels, width, pitch_bytes, tile_width, tile_height;
        double floor;
    } pictures[] = {{4, 0, 0, 0, 0, 0.7},       {3, 0, 0, 0, 0, 0.15},     {3, 101, 304, 0, 0, 0.1},
                    {1, 4096, 0, 64, 64, 0.2},  {1, 4095, 0, 64, 64, 0.1}, {1, 4096, 0, 16, 16, 0.03},
                    {1, 4096, 0, 512, 512, 0.25}, {1, 4096, 0, 0, 1, 0.2},  {4, 4096, 0, 64, 64, 0.25}};
    size_t k;
    for (k = 0; k < sizeof pictures / sizeof *pictures; k++) {
        sweep_call c = sweep_histogram_call("histogram pictures", pictures[k].floor, GPUSCAN_TYPE_U8, 256);
        gpuscan_histogram_desc *const d = &c.u.histogram;
        const uint64_t row = pictures[k].pitch_bytes ? pictures[k].pitch_bytes
                                                     : (uint64_t)pictures[k].width * pictures[k].channels;
        uint64_t tiles = 1;
        d->channels = pictures[k].channels;
        d->custom = d->channels > 1 ? &luma : NULL;
        d->count = pictures[k].width ? pictures[k].width : sweep.bytes / d->channels;
        d->rows = row ? sweep.bytes / row : 1;
        d->pitch_bytes = pictures[k].pitch_bytes;
        d->tile_width = pictures[k].tile_width;
        d->tile_height = pictures[k].tile_height;
        if (d->tile_width) tiles = (d->count + d->tile_width - 1) / d->tile_width;
        if (d->tile_height) tiles *= (d->rows + d->tile_height - 1) / d->tile_height;
        c.read = d->count * d->rows * d->channels;
        c.results = tiles * 256;
        c.written = c.results * 4;
        c.loop = sweep_picture;
        if (c.written > sweep.bytes) continue; /* dst has no more room */
        sweep_run(&c, "histogram U8, %u channels%s, rows of %u in %u bytes, tiles of %u x %u", pictures[k].channels,
                  d->custom ? ", their luminance" : "", pictures[k].width, (unsigned)row, pictures[k].tile_width,
                  pictures[k].tile_height);
    }
}

static void sweep_weights(void) {
    static const sweep_fill fills[] = {SWEEP_RANDOM, SWEEP_8_VALUES, SWEEP_ONE_VALUE};
    int f, wide, k;
    for (k = 0; k < 6; k++)
        for (wide = 0; wide < 2; wide++) {
            sweep_call c = sweep_histogram_call("histogram weights", 0.3, GPUSCAN_TYPE_U32, 256);
            f = k % 3;
            if (wide == 0 && f == 0) sweep_set_c(k < 3 ? 1 : 255); /* as large as they can be */
            c.fill = fills[f];
            c.u.histogram.upper.u = fills[f] == SWEEP_RANDOM ? UINT32_MAX : 0x07070708u;
            c.u.histogram.weights.mem = sweep.c;
            c.u.histogram.counter_type = wide ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
            c.read *= 2;
            if (wide) c.loop = NULL;
            sweep_run(&c, "histogram U32 of 256 bins, %s, %s counters%s", k < 3 ? "weights" : "largest weights",
                      wide ? "U64" : "U32", sweep_fill_name(fills[f]));
        }
}

/* By bits, which are src's own bytes, or by its elements as flags; elements or places. */
static void sweep_keep(const sweep_call *c, const void *src, void *dst) {
    const gpuscan_select_desc *d = &c->u.select;
    const unsigned char *bits = (const unsigned char *)src, *from = bits + d->src.offset * c->size;
    unsigned char *to = (unsigned char *)dst + d->dst.offset * c->size;
    uint64_t i, k = 0;
    for (i = 0; i < d->count; i++) {
        const uint32_t place = (uint32_t)i;
        int kept = bits[i / 8] >> i % 8 & 1;
        if (d->by == GPUSCAN_SELECT_FLAGS) {
            size_t b;
            for (kept = 0, b = 0; b < c->size; b++) kept |= from[i * c->size + b];
        }
        if (!kept) continue;
        if (d->dst.mem) memcpy(to + k * c->size, from + i * c->size, c->size);
        else memcpy(to + k * 4, &place, 4);
        k++;
    }
}

static sweep_call sweep_select_call(double floor, size_t size, int by_bits) {
    sweep_call c;
    memset(&c, 0, sizeof c);
    c.name_of_class = "select";
    c.op = SWEEP_SELECT;
    c.floor = floor;
    c.fill = SWEEP_RANDOM;
    c.size = c.result_size = size;
    c.u.select.src.mem = c.u.select.flags.mem = sweep.a;
    c.u.select.dst.mem = sweep.b;
    c.u.select.by = by_bits ? GPUSCAN_SELECT_BITS : GPUSCAN_SELECT_FLAGS;
    c.u.select.count = c.results = sweep.bytes / size;
    c.u.select.call.queue = device.queue;
    c.read = sweep.bytes;
    c.written = by_bits ? sweep.bytes / 2 : sweep.bytes;
    c.loop = sweep_keep;
    return c;
}

static void sweep_selects(void) {
    static const size_t sizes[] = {1, 2, 4, 8, 12, 16, 40, 64, 1000};
    static gpuscan_payload payloads[GPUSCAN_MAX_PAYLOADS];
    static gpuscan_custom structs[sizeof sizes / sizeof sizes[0]];
    static const gpuscan_type flags[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};
    uint32_t k, n;
    int off;
    for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        structs[k].size = sizes[k];
        for (off = 0; off < 3; off++) {
            sweep_call c = sweep_select_call(sizes[k] < 4 ? 0.3 : 0.5, sizes[k], 1);
            c.u.select.type = GPUSCAN_TYPE_CUSTOM;
            c.u.select.custom = &structs[k];
            c.u.select.src.offset = off == 1;
            c.u.select.dst.offset = off == 2;
            sweep_run(&c, "select %u bytes by bits, half kept%s", (unsigned)sizes[k],
                      off == 0 ? "" : off == 1 ? ", src one off" : ", dst one off");
        }
    }
    for (k = 0; k < 4; k++) {
        sweep_call c = sweep_select_call(sizes[k] < 4 ? 0.3 : 0.5, sizes[k], 0);
        c.u.select.type = c.u.select.flag_type = flags[k];
        sweep_run(&c, "select %u bytes that are the flags, almost all kept", (unsigned)sizes[k]);
        if (timed_by_events()) { /* what is left of them is selected again and again */
            c.u.select.src = c.u.select.flags = c.u.select.dst;
            c.floor = 0.3; /* it goes by way of scratch */
            c.loop = NULL;
            sweep_run(&c, "select %u bytes that are the flags, in place", (unsigned)sizes[k]);
        }
    }
    for (k = 0; k < 2; k++) {
        sweep_call c = sweep_select_call(0.3, 4, 1);
        c.u.select.src.mem = c.u.select.dst.mem = NULL;
        c.u.select.indices.mem = sweep.b;
        c.u.select.index_type = k ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
        c.u.select.count /= 2;
        c.results = k ? 0 : c.u.select.count;
        c.read = c.u.select.count / 8;
        c.written = c.u.select.count * (k ? 4 : 2);
        if (k) c.loop = NULL;
        sweep_run(&c, "select indices %s by bits, half kept", k ? "U64" : "U32");
    }
    for (n = 1; n <= GPUSCAN_MAX_PAYLOADS; n *= 2) { /* of the first elements of src, behind what is kept of them */
        sweep_call c = sweep_select_call(0.4, 4, 1);
        c.u.select.count = c.results = sweep.bytes / 4 / (n + 1);
        for (k = 0; k < n; k++) {
            payloads[k].src.mem = sweep.a;
            payloads[k].dst.mem = sweep.b;
            payloads[k].dst.offset = c.u.select.count * (k + 1);
            payloads[k].size = 4;
        }
        c.u.select.payloads = payloads;
        c.u.select.payload_count = n;
        c.results = 0;
        c.loop = NULL;
        sweep_run(&c, "select 4 bytes by bits with %u payloads", (unsigned)n);
    }
}

static void sweep_runs_loop(const sweep_call *c, const void *src, void *dst) {
    const gpuscan_runs_desc *d = &c->u.runs;
    const unsigned char *keys = (const unsigned char *)src + d->keys.offset * c->size;
    unsigned char *to = (unsigned char *)dst;
    uint64_t i, k = 0;
    for (i = 0; i < d->count; i++)
        if (i == 0 || memcmp(keys + i * c->size, keys + (i - 1) * c->size, c->size) != 0)
            memcpy(to + k++ * c->size, keys + i * c->size, c->size);
}

/* Keys alone; their lengths, too; and with what is reduced. Of random ones each is a run, nearly. */
static void sweep_runs(void) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64,
                                         GPUSCAN_TYPE_F32};
    static const sweep_fill fills[] = {SWEEP_RANDOM, SWEEP_ONE_VALUE};
    static const char *const outputs[] = {"", ", lengths", ", lengths, sums"};
    uint32_t k, f, out;
    for (k = 0; k < 5; k++)
        for (f = 0; f < 2; f++)
            for (out = 0; out < 3; out++) {
                sweep_call c;
                memset(&c, 0, sizeof c);
                c.name_of_class = out < 2 ? "runs" : "runs with sums";
                c.op = SWEEP_RUNS;
                c.fill = fills[f];
                c.size = c.result_size = gpuscan_type_size(types[k]);
                c.floor = c.size < 4 ? 0.1 : out < 2 ? 0.3 : 0.2;
                c.u.runs.key_type = types[k];
                c.u.runs.count = sweep.bytes / (out == 0 ? c.size : c.size + 4 * out);
                c.u.runs.keys.mem = sweep.a;
                c.u.runs.keys.offset = k % 2;
                c.u.runs.count -= k % 2;
                c.u.runs.keys_dst.mem = sweep.b;
                if (out > 0) {
                    c.u.runs.lengths.mem = sweep.b;
                    c.u.runs.lengths.offset = (c.u.runs.count * c.size + 3) / 4;
                }
                if (out > 1) {
                    c.u.runs.src.mem = sweep.c;
                    c.u.runs.src_type = GPUSCAN_TYPE_F32;
                    c.u.runs.dst.mem = sweep.b;
                    c.u.runs.dst.offset = c.u.runs.lengths.offset + c.u.runs.count;
                }
                c.u.runs.call.queue = device.queue;
                c.read = c.u.runs.count * (c.size + (out > 1 ? 4 : 0));
                c.written = f == 1 ? 0 : c.u.runs.count * (c.size + 4 * out);
                c.loop = out == 0 ? sweep_runs_loop : NULL;
                c.results = f == 0 || out > 0 ? 0 : 1;
                sweep_run(&c, "runs of %s%s%s%s", sweep_type_of(types[k])->name, sweep_fill_name(fills[f]),
                          outputs[out], k % 2 ? ", one off" : "");
            }
}

static void sweep_sort_loop(const sweep_call *c, const void *src, void *dst) {
    const size_t n = (size_t)c->u.sort.count;
    switch (c->u.sort.key_type) {
    case GPUSCAN_TYPE_U8: sort_u8(src, dst, n, NULL); break;
    case GPUSCAN_TYPE_U16: sort_u16(src, dst, n, NULL); break;
    case GPUSCAN_TYPE_F32: sort_f32(src, dst, n, NULL); break;
    case GPUSCAN_TYPE_U64: sort_u64(src, dst, n, NULL); break;
    default: sort_u32(src, dst, n, NULL);
    }
}

/* Keys of so many bits, with so many payloads of some bytes: 8 bits a pass, and one more reading. */
static sweep_call sweep_sort_call(double floor, gpuscan_type type, uint32_t bits, uint32_t payloads, size_t bytes) {
    static gpuscan_payload payload[2];
    sweep_call c;
    const uint64_t passes = bits / 8;
    uint32_t k;
    memset(&c, 0, sizeof c);
    c.name_of_class = payloads ? "sort with payloads" : "sort keys";
    c.op = SWEEP_SORT;
    c.floor = floor;
    c.fill = SWEEP_RANDOM;
    c.size = c.result_size = gpuscan_type_size(type);
    c.u.sort.key_type = type;
    c.u.sort.bit_end = bits;
    c.u.sort.count = sweep.bytes / (c.size + payloads * bytes);
    c.u.sort.src.mem = sweep.a;
    c.u.sort.dst.mem = sweep.b;
    for (k = 0; k < payloads; k++) {
        payload[k].src.mem = sweep.c;
        payload[k].dst.mem = sweep.b;
        payload[k].src.offset = k * c.u.sort.count;
        payload[k].dst.offset = (k * c.u.sort.count) + (c.u.sort.count * c.size + bytes - 1) / bytes;
        payload[k].size = bytes;
    }
    c.u.sort.payloads = payloads ? payload : NULL;
    c.u.sort.payload_count = payloads;
    c.u.sort.call.queue = device.queue;
    c.read = c.u.sort.count * c.size * (passes + 1);
    c.written = c.u.sort.count * c.size * passes;
    if (payloads == 1 && (bytes == 4 || bytes == 8)) { /* they go through the passes */
        c.read += c.u.sort.count * bytes * passes;
        c.written += c.u.sort.count * bytes * passes;
    } else if (payloads) { /* an index does, and they are gathered */
        c.read += c.u.sort.count * (4 * passes + payloads * (4 + bytes));
        c.written += c.u.sort.count * (4 * passes + payloads * bytes);
    }
    c.loop = payloads || bits < 8 * c.size ? NULL : sweep_sort_loop;
    c.results = c.loop != NULL ? c.u.sort.count : 0;
    return c;
}

static void sweep_sorts(void) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32,
                                         GPUSCAN_TYPE_U64};
    static const sweep_fill fills[] = {SWEEP_RANDOM, SWEEP_8_VALUES, SWEEP_ONE_VALUE};
    static const size_t bytes[] = {4, 8, 1, 3, 12, 16, 64};
    uint32_t k, f;
    for (k = 0; k < 5; k++)
        for (f = 0; f < 3; f++) {
            sweep_call c = sweep_sort_call(0.4, types[k], (uint32_t)gpuscan_type_size(types[k]) * 8, 0, 0);
            c.fill = fills[f];
            sweep_run(&c, "sort %s%s", sweep_type_of(types[k])->name, sweep_fill_name(fills[f]));
        }
    for (k = 8; k < 32; k += 8) {
        sweep_call c = sweep_sort_call(0.4, GPUSCAN_TYPE_U32, k, 0, 0);
        sweep_run(&c, "sort U32 by %u bits", (unsigned)k);
    }
    for (k = 0; k < 7; k++)
        for (f = 1; f < 3; f++) {
            sweep_call c = sweep_sort_call(k < 2 && f == 1 ? 0.4 : 0.2, GPUSCAN_TYPE_U32, 32, f, bytes[k]);
            sweep_run(&c, "sort U32 with %u payloads of %u bytes", (unsigned)f, (unsigned)bytes[k]);
        }
}

/* Row by row: the sum of the row so far, and the row above. */
#define SWEEP_INTEGRAL_LOOP(name, S, T)                                                                                \
    static void name(const sweep_call *c, const void *src, void *dst) {                                                \
        const gpuscan_integral_desc *d = &c->u.integral;                                                               \
        const uint64_t channels = d->channels ? d->channels : 1, more = d->kind == GPUSCAN_EXCLUSIVE ? channels : 0;   \
        const uint64_t row = d->width * channels, pitch = row + more;                                                  \
        const S *RESTRICT a = (const S *)src;                                                                          \
        T *b = (T *)dst;                                                                                               \
        uint64_t x, y, k;                                                                                              \
        if (more) memset(b, 0, (size_t)pitch * sizeof *b);                                                             \
        b += more ? pitch : 0;                                                                                         \
        for (y = 0; y < d->height; y++, a += row, b += pitch) {                                                        \
            const T *RESTRICT above = b - pitch;                                                                       \
            T *RESTRICT to = b;                                                                                        \
            T sums[4] = {0, 0, 0, 0};                                                                                  \
            for (k = 0; k < more; k++) to[k] = 0;                                                                      \
            if (channels == 1) {                                                                                       \
                T sum = 0;                                                                                             \
                for (x = 0; x < row; x++) to[more + x] = (y || more ? above[more + x] : 0) + (sum += (T)a[x]);         \
                continue;                                                                                              \
            }                                                                                                          \
            for (x = 0; x < row; x += channels)                                                                        \
                for (k = 0; k < channels; k++)                                                                         \
                    to[more + x + k] = (y || more ? above[more + x + k] : 0) + (sums[k] += (T)a[x + k]);               \
        }                                                                                                              \
    }
SWEEP_INTEGRAL_LOOP(sweep_integral_u8, uint8_t, uint32_t)
SWEEP_INTEGRAL_LOOP(sweep_integral_u16, uint16_t, uint32_t)
SWEEP_INTEGRAL_LOOP(sweep_integral_f32, float, float)
SWEEP_INTEGRAL_LOOP(sweep_integral_u64, uint8_t, uint64_t)

/* Squares of so many pixels that the table fits. */
static void sweep_integrals(void) {
    static const struct {
        gpuscan_type src, dst;
        sweep_loop *loop;
    } kinds[] = {{GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, sweep_integral_u8},
                 {GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, sweep_integral_u16},
                 {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, sweep_integral_f32},
                 {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U64, sweep_integral_u64}};
    uint32_t k, channels, inclusive;
    for (k = 0; k < 4; k++)
        for (channels = 1; channels <= 4; channels++)
            for (inclusive = 0; inclusive < 2; inclusive++) {
                const size_t src = gpuscan_type_size(kinds[k].src), dst = gpuscan_type_size(kinds[k].dst);
                const uint64_t side = (uint64_t)sqrt((double)sweep.bytes / (double)(dst * channels));
                sweep_call c;
                memset(&c, 0, sizeof c);
                c.name_of_class = "integral";
                c.op = SWEEP_INTEGRAL;
                c.floor = 0.5; /* src is read twice */
                c.fill = SWEEP_RANDOM;
                c.size = src;
                c.result_size = dst;
                c.u.integral.src.mem = sweep.a;
                c.u.integral.dst.mem = sweep.b;
                c.u.integral.width = side - 1;
                c.u.integral.height = side - 1;
                c.u.integral.channels = channels;
                c.u.integral.src_type = kinds[k].src;
                c.u.integral.dst_type = kinds[k].dst;
                c.u.integral.kind = inclusive ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
                c.u.integral.call.queue = device.queue;
                if (side < 3) continue;
                c.read = (side - 1) * (side - 1) * channels * src;
                c.written = (side - inclusive) * (side - inclusive) * channels * dst;
                c.loop = kinds[k].loop;
                c.results = kinds[k].dst == GPUSCAN_TYPE_F32 ? 0 : c.written / dst;
                sweep_run(&c, "integral %s to %s, %u channels, %s", sweep_type_of(kinds[k].src)->name,
                          sweep_type_of(kinds[k].dst)->name, (unsigned)channels, inclusive ? "inclusive" : "exclusive");
            }
}

/* Images of so many channels, 4096 wide: luminances, or one channel's tiles, and tables. */
static void sweep_images(void) {
    static const gpuscan_custom luma = {
        NULL, NULL, 0, NULL, NULL, "(77 * x.x + 150 * x.y + 29 * x.z + 128) >> 8", NULL, NULL, NULL};
    static const struct {
        uint32_t channels, table, tile;
        double floor;
    } images[] = {{4, 0, 0, 0.3}, {1, 0, 0, 0.15}, {1, 0, 64, 0.1}, {1, 1, 0, 0.3}, {4, 1, 0, 0.3}};
    size_t k;
    for (k = 0; k < sizeof images / sizeof *images; k++) {
        const uint32_t channels = images[k].channels, tile = images[k].tile;
        const uint64_t width = 4096, most = sweep.bytes / (images[k].table ? 4 : 1) / channels / width;
        const uint64_t height = most < device.image_height ? most : device.image_height;
        sweep_call c = sweep_histogram_call("images", images[k].floor, GPUSCAN_TYPE_U8, 256);
        const uint64_t tiles = tile ? (width / tile) * ((height + tile - 1) / tile) : 1;
        cl_mem image;
        if (!device.info.has_images || device.image_width < width || height == 0) continue;
        c.read = width * height * channels;
        c.results = tiles * 256;
        c.loop = sweep_picture;
        if (images[k].table) {
            c.op = SWEEP_INTEGRAL;
            memset(&c.u, 0, sizeof c.u);
            c.u.integral.dst.mem = sweep.b;
            c.u.integral.width = width;
            c.u.integral.height = height;
            c.u.integral.channels = channels;
            c.u.integral.kind = GPUSCAN_INCLUSIVE;
            c.u.integral.call.queue = device.queue;
            c.results = c.read;
            c.loop = sweep_integral_u8;
        } else {
            c.u.histogram.samples.mem = NULL;
            c.u.histogram.count = width;
            c.u.histogram.rows = height;
            c.u.histogram.channels = channels;
            c.u.histogram.custom = channels > 1 ? &luma : NULL;
            c.u.histogram.tile_width = c.u.histogram.tile_height = tile;
        }
        c.written = c.results * 4;
        sweep_set_data(&c);
        image = image_of(sweep.a, channels, width, height);
        if (images[k].table) c.u.integral.src_image.mem = image;
        else c.u.histogram.samples_image.mem = image;
        sweep_run(&c, "%s of an image of %u bytes a pixel, tiles of %u", images[k].table ? "integral" : "histogram",
                  (unsigned)channels, (unsigned)tile);
        cl.clReleaseMemObject(image);
    }
}

static const double sweep_fractions[3] = {0.25, 0.5, 0.99};

static void sweep_quantile_loop(const sweep_call *c, const void *src, void *dst) {
    const gpuscan_quantile_desc *d = &c->u.quantile;
    uint64_t row, b;
    int k;
    for (row = 0; row < d->rows; row++) {
        const uint32_t *RESTRICT counts = (const uint32_t *)src + row * d->bins;
        uint32_t *to = (uint32_t *)dst + 3 * row;
        uint64_t total = 0;
        for (b = 0; b < d->bins; b++) total += counts[b];
        for (k = 0; k < 3; k++) { /* totals are small enough for a double */
            const uint64_t rank = (uint64_t)ceil(sweep_fractions[k] * (double)total);
            uint64_t sum = 0;
            for (b = 0; b < d->bins && sum + counts[b] < rank; b++) sum += counts[b];
            to[k] = (uint32_t)b;
        }
    }
}

/* Histograms of so many bins that all are read. */
static void sweep_quantiles(void) {
    static const uint32_t bins[] = {16, 256, 1000, 4096, 65536};
    uint32_t k;
    for (k = 0; k < 5; k++) {
        sweep_call c;
        memset(&c, 0, sizeof c);
        c.name_of_class = "quantile";
        c.op = SWEEP_QUANTILE;
        c.floor = 0.2; /* a histogram is a group's */
        c.fill = SWEEP_8_VALUES;
        c.size = c.result_size = 4;
        c.u.quantile.counts.mem = sweep.a;
        c.u.quantile.dst.mem = sweep.b;
        c.u.quantile.bins = bins[k];
        c.u.quantile.rows = sweep.bytes / 4 / bins[k];
        c.u.quantile.fractions = sweep_fractions;
        c.u.quantile.fraction_count = 3;
        c.u.quantile.call.queue = device.queue;
        if (c.u.quantile.rows == 0) continue;
        c.read = c.u.quantile.rows * bins[k] * 4;
        c.written = c.u.quantile.rows * 12;
        c.loop = sweep_quantile_loop;
        c.results = 0; /* where a fraction of a total is no double, its rank may be one more */
        sweep_run(&c, "quantile, three of %u bins", (unsigned)bins[k]);
    }
}

/* ---- the output ---- */

static int compare_sweep(const void *a, const void *b) {
    const sweep_result *x = (const sweep_result *)a, *y = (const sweep_result *)b;
    const double p = x->fraction / x->floor, q = y->fraction / y->floor;
    if (p != p || q != q) return (p != p) - (q != q);
    return (p > q) - (p < q);
}

static int sweep_is_launch(const sweep_result *r) {
    return r->ms < 2.0 * sweep.launch_ms;
}

static void sweep_print(void) {
    unsigned i;
    qsort(sweep.results, sweep.count, sizeof sweep.results[0], compare_sweep);
    printf("\n%10s %11s %9s %7s %8s\n", "bytes", "us", timed_by_events() ? "of device" : "x C loop", "floor", "");
    for (i = 0; i < sweep.count; i++) {
        const sweep_result *r = &sweep.results[i];
        char size[24];
        printf("%10s %11.1f %9.3f %7.2f %8s %s\n", size_text(r->bytes, size, sizeof size), 1e3 * r->ms, r->fraction,
               r->floor, !(r->fraction < r->floor) ? "" : sweep_is_launch(r) ? "launch" : "below", r->name);
    }
}

/* A line of the heat map: all cases of result first's class and size; returns how many, 0 if that line is there. */
static unsigned sweep_plot_line(FILE *data, FILE *file, unsigned first, unsigned line) {
    const sweep_result *r = &sweep.results[first], *of = r, *worst = NULL;
    const sweep_result *end = &sweep.results[sweep.count];
    unsigned column = 0;
    char text[160], size[24];
    for (r = sweep.results; r < end; r++) {
        const double part = r->fraction / r->floor;
        if (strcmp(r->name_of_class, of->name_of_class) != 0 || r->bytes != of->bytes) continue;
        if (r < of) return 0;
        if (part > 0.0) fprintf(data, "%u %u %.3f\n", column, line, log(part) / log(2.0));
        if (part > 0.0 && (worst == NULL || part < worst->fraction / worst->floor)) worst = r;
        column++;
    }
    fprintf(file, "set ytics add ('%s, %s' %u)\n", of->name_of_class, size_text(of->bytes, size, sizeof size), line);
    if (worst == NULL) return column;
    snprintf(text, sizeof text, "%.2f: %s", worst->fraction, worst->name);
    fprintf(file, "set label ");
    quoted(file, text);
    fprintf(file, " at %u, %u noenhanced font ',8'\n", column + 1, line);
    return column;
}

/* A heat map: classes below each other, for each size, and in a class the cases in their order, so that neighbours
   differ in one thing. Colours tell how far from its floor a case is; behind each class stands its worst case. */
static void sweep_plot(const char *prefix) {
    char base[700], path[720];
    unsigned i, line = 0, widest = 0;
    FILE *data, *file;
    snprintf(base, sizeof base, "%s-sweep", prefix);
    snprintf(path, sizeof path, "%s.dat", base);
    data = fopen(path, "w");
    if (data == NULL) die("cannot write %s", path);
    file = begin_plot(base, "How far from its floor each case of the sweep is.", 1600, 760);
    fprintf(file, "set ytics () noenhanced\n");
    for (i = 0; i < sweep.count; i++) {
        const unsigned columns = sweep_plot_line(data, file, i, line);
        line += columns != 0;
        widest = columns > widest ? columns : widest;
    }
    fclose(data);
    fprintf(file, "set output ");
    snprintf(path, sizeof path, "%s.png", plot_base(base));
    quoted(file, path);
    fprintf(file, "\nset title ");
    snprintf(path, sizeof path, "%s: %s, blue above the floor, red below; the worst of each class",
             device.info.device_name, timed_by_events() ? "of the device's own speed" : "x a C loop of one thread");
    quoted(file, path);
    fprintf(file, " noenhanced\nset xrange [-1:%u]\nset yrange [%u:-0.7] noextend\nset cbrange [-3:3]\n"
                  "set palette defined (-3 '#7f0000', -1 '#e34a33', -0.2 '#fdd49e', 0 '#f7f7f7', 0.2 '#d1e5f0', "
                  "1 '#4393c3', 3 '#053061')\n"
                  "set cbtics ('1/8 of it' -3, '1/4' -2, '1/2' -1, 'the floor' 0, '2 x' 1, '4 x' 2, '8 x' 3)\n"
                  "set xlabel 'cases, in their order'\nset tics nomirror\nunset key\nset style fill solid noborder\n"
                  "plot ",
            widest + widest / 3 + 8, line);
    snprintf(path, sizeof path, "%s.dat", plot_base(base));
    quoted(file, path);
    fprintf(file, " using 1:2:(0.5):(0.42):3 with boxxyerror palette\n");
    printf("\na picture, drawn by gnuplot: %s.png\n", base);
    end_plot(file, base);
}

static double launch_ms(void) {
    job j = {0};
    timing t;
    j.enqueue = enqueue_kernel;
    j.kernel = empty_kernel();
    j.queue = device.queue;
    t = measure(&j);
    must(t.result, "an empty kernel");
    cl.clReleaseKernel(j.kernel);
    return t.ms;
}

static void run_sweep(const char *filter, int quick, const char *picture) {
    static const uint64_t gpu_sizes[] = {(uint64_t)1 << 20, (uint64_t)1 << 28};
    static const uint64_t cpu_sizes[] = {(uint64_t)1 << 18, (uint64_t)1 << 26};
    const uint64_t *sizes = timed_by_events() ? gpu_sizes : cpu_sizes;
    uint64_t all = sizes[1] + SWEEP_SLACK;
    int s, below = 0, launches = 0;
    unsigned i;
    sweep.filter = filter;
    sweep.results = (sweep_result *)allocate(SWEEP_MAX * sizeof(sweep_result));
    sweep.host_a = (char *)allocate(all);
    sweep.host_b = (char *)allocate(all);
    sweep.host_c = (char *)allocate(all);
    sweep.host_edges = (float *)allocate(65536);
    sort_room = allocate(all);
    sweep.a = new_buffer(all);
    sweep.b = new_buffer(all);
    sweep.c = new_buffer(all);
    sweep.d = new_buffer(65536);
    if (sweep.a == NULL || sweep.b == NULL || sweep.c == NULL || sweep.d == NULL) die("no device memory");
    fill_buffer(sweep.b, 0, all);
    budget_ms = timed_by_events() ? 10.0 : 60.0;
    sweep.launch_ms = launch_ms();
    for (s = quick ? 1 : 0; s < 2; s++) {
        sweep.bytes = sizes[s];
        sweep.check = s == 0;
        sweep.filled = -1;
        sweep_set_c(1);
        sweep_scans();
        sweep_rows();
        sweep_columns();
        sweep_segmented();
        sweep_sums_between();
        sweep_custom();
        sweep_reductions();
        sweep_uniform_adds();
        sweep_histograms();
        sweep_pixels();
        sweep_pictures();
        sweep_weights();
        sweep_selects();
        sweep_runs();
        sweep_sorts();
        sweep_integrals();
        sweep_images();
        sweep_quantiles();
    }
    progress("%s", "");
    at_hand = "";
    if (picture != NULL) sweep_plot(picture);
    sweep_print();
    for (i = 0; i < sweep.count; i++) {
        const sweep_result *r = &sweep.results[i];
        below += r->fraction < r->floor;
        launches += r->fraction < r->floor && sweep_is_launch(r);
    }
    printf("\n%u cases, %d below their floor (%d of these in less than two launches of an empty kernel, %.1f us each), "
           "%u wrong or failed\n",
           sweep.count, below, launches, 1e3 * sweep.launch_ms, sweep.failed);
    cl.clReleaseMemObject(sweep.a);
    cl.clReleaseMemObject(sweep.b);
    cl.clReleaseMemObject(sweep.c);
    cl.clReleaseMemObject(sweep.d);
    free(sweep.host_a);
    free(sweep.host_b);
    free(sweep.host_c);
    free(sweep.host_edges);
    free(sort_room);
    free(sweep.results);
}
