/* Elements of every type that begin at any multiple of their size, in vectors of any width: a kernel may rely on an
   element's alignment only. Drivers compile a kernel differently for each processor, so this runs for several (see cpus
   in run.c); it cannot see faults of other processors.
      cc -O2 tests/test_offsets.c -o build/test_offsets -lcmocka -lOpenCL -lm && build/test_offsets */
#include "harness.h"

enum { OFFSETS = 18 };

static uint64_t count;

typedef struct pair {
    gpuscan_type from, to;
} pair;

/* Pairs of small and wide types, and types of 16 bits. */
static const pair pairs[] = {{GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F16}, {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32},
                             {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F16}, {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F64},
                             {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_F16},  {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_U32},
                             {GPUSCAN_TYPE_I8, GPUSCAN_TYPE_I8},   {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8},
                             {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I16}, {GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U16},
                             {GPUSCAN_TYPE_I32, GPUSCAN_TYPE_I32}, {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32},
                             {GPUSCAN_TYPE_I64, GPUSCAN_TYPE_I64}, {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64},
                             {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32}, {GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F64},
                             {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32},  {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I64}};

static int is_half(pair p) {
    return p.from == GPUSCAN_TYPE_F16 || p.to == GPUSCAN_TYPE_F16;
}

/* Returns whether a strategy runs: a type of 16 bits meets one of the CPU's, which have the widest vectors, and a third
   of all pairs meet one strategy of all. */
static int in_turn(size_t number, pair p, gpuscan_strategy strategy) {
    static const gpuscan_strategy wide[] = {GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    uint64_t turn = number + test.seed;
    return test.is_long || (is_half(p) && strategy == wide[turn % 2]) ||
           (turn % 3 == 0 && strategy == (gpuscan_strategy)(1 + turn % (GPUSCAN_STRATEGY_COUNT - 1)));
}

static const gpuscan_op ops[] = {GPUSCAN_OP_ADD, GPUSCAN_OP_MAX};

/* ADD: fills in elements whose sums f16 holds exactly in any order. MAX: elements below a bound that rises. */
static void fill(pair p, gpuscan_op op, void *data) {
    uint64_t i;
    for (i = 0; i < count; i++) {
        uint64_t x = test_below(op == GPUSCAN_OP_MAX ? 1 + i * 120 / count : 2);
        ref_store(p.from, data, i, ref_is_float(p.from) ? ref_real((double)x) : ref_bits(x));
    }
}

static void check_pair(size_t number, pair p, gpuscan_strategy strategy) {
    gpuscan_op op = ops[(number + test.seed / 8) % 2];
    test_buffer in = test_buffer_new(CL_MEM_READ_WRITE, ref_size(p.from), count);
    test_buffer out = test_buffer_new(CL_MEM_READ_WRITE, ref_size(p.to), count);
    test_buffer total = test_buffer_new(CL_MEM_READ_WRITE, ref_size(p.to), 1);
    void *data = test_alloc(count * ref_size(p.from)), *wanted = test_alloc(count * ref_size(p.to));
    uint64_t at, cache = test.gs->device.cache;
    ref_value sum;
    unsigned char sum_bytes[8];
    fill(p, op, data);
    sum = ref_scan(p.to, wanted, p.from, data, count, op, GPUSCAN_INCLUSIVE, NULL);
    ref_store(p.to, sum_bytes, 0, sum);
    for (at = 0; at < OFFSETS; at++) {
        gpuscan_scan_desc scan;
        gpuscan_reduce_desc reduce;
        memset(&scan, 0, sizeof scan);
        memset(&reduce, 0, sizeof reduce);
        test_buffer_set(&in, at, count, data);
        test_buffer_set(&out, (at * 5 + 1) % OFFSETS, count, NULL); /* each offset, with another one of `in` */
        test_buffer_set(&total, at, 1, NULL);
        test_case("%s to %s, %s, %s, offsets %u and %u", test_type_name(p.from), test_type_name(p.to),
                  test_op_name(op), test_strategy_name(strategy), (unsigned)at, (unsigned)out.at.offset);
        scan.src = in.at;
        scan.dst = out.at;
        scan.src_type = reduce.src_type = p.from;
        scan.dst_type = reduce.dst_type = p.to;
        scan.op = reduce.op = op;
        scan.count = reduce.count = count;
        scan.kind = GPUSCAN_INCLUSIVE;
        scan.call.strategy = reduce.call.strategy = strategy;
        test.gs->device.cache = at % 2 ? cache : 0; /* smaller than the output: CPUs store past it */
        if (test_scan_ran(&scan))
            test_same(p.to, test_buffer_get(&out), wanted, count);
        test.gs->device.cache = cache;
        reduce.src = in.at;
        reduce.dst = total.at;
        if (test_reduce_ran(&reduce))
            test_same(p.to, test_buffer_get(&total), sum_bytes, 1);
        test_same_bytes(test_buffer_get(&in), data, in.element, count);
    }
    test_buffer_free(&in);
    test_buffer_free(&out);
    test_buffer_free(&total);
    free(data);
    free(wanted);
}

static void test_scans_and_sums(void **state) {
    size_t i;
    int s;
    (void)state;
    for (i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (s = 1; s < GPUSCAN_STRATEGY_COUNT; s++)
            if (test_has_type(pairs[i].to) && in_turn(i, pairs[i], (gpuscan_strategy)s))
                check_pair(i, pairs[i], (gpuscan_strategy)s);
}

static void test_uniform_adds(void **state) {
    int type;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS) {
        pair p = {(gpuscan_type)type, (gpuscan_type)type};
        gpuscan_uniform_add_desc add;
        test_buffer dst, addend;
        void *data, *wanted;
        uint64_t at;
        if (!test_has_type(p.from) || (p.from != GPUSCAN_TYPE_F16 && !test_share((uint64_t)type, 1)))
            continue;
        dst = test_buffer_new(CL_MEM_READ_WRITE, ref_size(p.from), count);
        addend = test_buffer_new(CL_MEM_READ_WRITE, ref_size(p.from), count);
        data = test_alloc(count * ref_size(p.from));
        wanted = test_alloc(count * ref_size(p.from));
        fill(p, GPUSCAN_OP_ADD, data);
        memcpy(wanted, data, (size_t)count * ref_size(p.from));
        ref_uniform_add(p.from, wanted, data, count, 3, GPUSCAN_OP_ADD);
        for (at = 0; at < OFFSETS; at++) {
            memset(&add, 0, sizeof add);
            test_buffer_set(&dst, at, count, data);
            test_buffer_set(&addend, (at * 5 + 1) % OFFSETS, count, data);
            add.dst = dst.at;
            add.addend = addend.at;
            add.type = p.from;
            add.count = count;
            add.block = 3;
            test_case("uniform add, %s, offsets %u and %u", test_type_name(p.from), (unsigned)at,
                      (unsigned)addend.at.offset);
            test_ok(gpuscan_uniform_add(test.gs, &add));
            test_same(p.from, test_buffer_get(&dst), wanted, count);
        }
        test_buffer_free(&dst);
        test_buffer_free(&addend);
        free(data);
        free(wanted);
    }
}

/* Samples are 0 and 1, in bins 0 to 3. */
static void check_histogram(gpuscan_type type, uint32_t channels, gpuscan_strategy strategy) {
    pair p = {type, type};
    uint64_t pixels = count / channels, at, i;
    test_buffer in = test_buffer_new(CL_MEM_READ_WRITE, ref_size(type), count);
    test_buffer out = test_buffer_new(CL_MEM_READ_WRITE, 4, 16);
    void *data = test_alloc(count * ref_size(type));
    cl_uint wanted[16] = {0};
    fill(p, GPUSCAN_OP_ADD, data);
    for (i = 0; i < pixels * channels; i++) {
        ref_value x = ref_load(type, data, i);
        wanted[4 * (i % channels) + (ref_is_float(type) ? x.real > 0 : x.bits > 0)]++;
    }
    for (at = 0; at < OFFSETS; at++) {
        gpuscan_histogram_desc desc;
        memset(&desc, 0, sizeof desc);
        test_buffer_set(&in, at, count, data);
        test_buffer_set(&out, at, 4 * channels, NULL);
        desc.samples = in.at;
        desc.counts = out.at;
        desc.sample_type = type;
        desc.channels = channels;
        desc.count = pixels;
        desc.bins = 4;
        desc.form = ref_is_float(type) ? GPUSCAN_BINS_EVEN : GPUSCAN_BINS_VALUES;
        if (ref_is_float(type))
            desc.upper.f = 4;
        desc.call.strategy = strategy;
        test_case("histogram, %s, %u channels, %s, offset %u", test_type_name(type), (unsigned)channels,
                  test_strategy_name(strategy), (unsigned)at);
        if (test_histogram_ran(&desc))
            test_same_bytes(test_buffer_get(&out), wanted, 4, 4 * channels);
    }
    test_buffer_free(&in);
    test_buffer_free(&out);
    free(data);
}

static void test_histograms(void **state) {
    int type;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS) {
        uint32_t channels = 1 + (uint32_t)(((uint64_t)type + test.seed) % 4);
        if (test_has_type((gpuscan_type)type) && (type == GPUSCAN_TYPE_F16 || test_share((uint64_t)type, 1)))
            check_histogram((gpuscan_type)type, channels, test_pair_strategy((gpuscan_type)type, GPUSCAN_OP_ADD));
    }
}

static int open_offsets(void **state) {
    if (test_open(state) != 0)
        return -1;
    count = test_size(300, 1500, 1500); /* f16 counts to 2048 */
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_scans_and_sums), TEST(test_uniform_adds), TEST(test_histograms)};
    test_select();
    return cmocka_run_group_tests_name("offsets", tests, open_offsets, test_close);
}
