/* Every operation with every strategy at a few lengths, in few programs, for implementations that compile or run too
   slowly for all tests.
      cc -O2 test_smoke.c -o test_smoke -lcmocka -lOpenCL -lm -lpthread -ldl */
#include "histograms.h"
#include "jobs.h"

static void check_job(int which, uint64_t n) {
    int s, round;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        gpuscan_call call;
        job j;
        if (which == JOB_UNIFORM_ADD && s != GPUSCAN_STRATEGY_AUTO && s != GPUSCAN_STRATEGY_MULTI_PASS)
            continue;
        /* a slow simulator runs each job and each strategy, but a quarter of their pairs, chosen by the seed; for host
           arrays, which launch the same kernels, only AUTO */
        if (test.is_small && test.share > 1 && s != GPUSCAN_STRATEGY_AUTO &&
            (which >= JOB_DEVICE_END || ((uint64_t)(s + which) + test.seed / 2) % 4))
            continue;
        memset(&call, 0, sizeof call);
        call.strategy = (gpuscan_strategy)s;
        test_case("%s of %" PRIu64 ", %s", job_names[which], n, test_strategy_name(call.strategy));
        job_new(&j, which, n);
        for (round = 0; round < 2; round++) { /* the second call finds the first one's scratch */
            job_reset(&j);
            if (!job_ran(&j, job_start(test.gs, &j, &call), call.strategy))
                break;
            test_cl(clFinish(test.queue));
            job_done(&j);
        }
        job_free(&j);
    }
}

static void operations(void **state) {
    int which;
    (void)state;
    for (which = 0; which < JOB_DEVICE_END; which++)
        /* here and below, another seed runs the others */
        if (test_takes_one_of(test.is_small ? 4 : 2, (uint64_t)which))
            check_job(which, which == JOB_SCAN_SMALL ? 1000 : test_size(3001, 70001, 1000003));
}

static void host_arrays(void **state) {
    int which;
    (void)state;
    for (which = JOB_DEVICE_END; which < JOB_END; which++)
        if (test_takes_one_of(2, (uint64_t)which))
            check_job(which, 1009);
}

/* The same programs at other lengths: one, two, near a group and a tile, many tiles. */
static void lengths(void **state) {
    static const uint64_t counts[] = {1, 2, 31, 63, 255, 256, 257, 1023, 1025, 2048, 4097, 8191, 32767, 33333};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof counts / sizeof counts[0] - (test.is_small ? 3 : 0); i++) {
        static const int which[] = {JOB_SCAN_SMALL, JOB_REDUCE_RESULT, JOB_HISTOGRAM};
        size_t           k;
        for (k = 0; k < 3; k++)
            if (test_takes_one_of(2, i + k))
                check_job(which[k], counts[i]);
    }
}

/* An integral image with groups of two sub-groups, which exchange sums even without lanes. */
static void two_subgroups(void **state) {
    uint32_t group = test.gs->device.profile.integral.group, width = test.gs->device.lane_width;
    gpuscan_call call;
    job j;
    (void)state;
    if (!test.info.has_lanes)
        test.gs->device.lane_width = 8;
    test.gs->device.profile.integral.group = 2 * test.gs->device.lane_width;
    memset(&call, 0, sizeof call);
    call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
    test_case("%s, groups of two sub-groups", job_names[JOB_INTEGRAL]);
    job_new(&j, JOB_INTEGRAL, 1009);
    job_reset(&j);
    if (job_ran(&j, job_start(test.gs, &j, &call), call.strategy)) {
        test_cl(clFinish(test.queue));
        job_done(&j);
    }
    job_free(&j);
    test.gs->device.profile.integral.group = group;
    test.gs->device.lane_width = width;
}

/* Forces scans with a group that folds, which begins when a hundred tiles or more are published. One tile in 37 never
   is, so some windows of tiles have sums for a part of their lanes when the fold gives up waiting for them. */
static void fold_past_silent_tiles(void **state) {
    static const gpuscan_custom silent = {
        "void fold_wait(uint tile) {\n"
        "    volatile uint x = 0;\n"
        "    for (uint i = tile == 0xffffffffu ? 1u << 20 : tile > 100 ? 1u << 14 : 0; i > 0; i--) x += i;\n"
        "}\n"
        "#define GPUSCAN_TEST_SILENT(tile) ((tile) % 37u == 36u)\n"
        "#define GPUSCAN_TEST_DELAY(tile) fold_wait(tile)\n",
        NULL, 0, NULL, NULL, "x", NULL, NULL, NULL};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64};
    const uint64_t count = test_size(1500, 200001, 300007);
    const uint32_t polls = test.gs->device.profile.facts.polls;
    unsigned char *in = (unsigned char *)test_alloc(count * 8), *wanted = (unsigned char *)test_alloc(count * 8);
    size_t c;
    (void)state;
    test.gs->device.profile.facts.polls = 100;
    for (c = 0; c < 8; c++) {
        const gpuscan_type type = types[c / 2];
        const size_t size = ref_size(type);
        test_buffer src, dst;
        gpuscan_scan_desc d;
        if (!test_has_type(type) || !test_takes_one_of(test.info.has_lanes ? 4 : 8, c))
            continue;
        src = test_buffer_new(CL_MEM_READ_ONLY, size, count);
        dst = test_buffer_new(CL_MEM_READ_WRITE, size, count);
        memset(&d, 0, sizeof d);
        d.count = count;
        d.src_type = d.dst_type = type;
        d.kind = c % 2 ? GPUSCAN_EXCLUSIVE : GPUSCAN_INCLUSIVE;
        d.custom = &silent;
        d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD;
        test_case("%s, kind %d, past silent tiles", test_type_name(type), (int)d.kind);
        test_fill(type, GPUSCAN_OP_ADD, in, count);
        test_buffer_set(&src, 0, count, in);
        test_buffer_set(&dst, 0, count, NULL);
        d.src = src.at;
        d.dst = dst.at;
        if (test_scan_ran(&d)) {
            ref_scan(type, wanted, type, in, count, GPUSCAN_OP_ADD, d.kind, NULL);
            test_same_bytes(test_buffer_get(&dst), wanted, size, count);
            if (c < 4)
                test_uses_hook(test.gs, "SILENT");
        }
        test_buffer_free(&src);
        test_buffer_free(&dst);
    }
    test.gs->device.profile.facts.polls = polls;
    free(in);
    free(wanted);
}

/* Edges of 2 bytes in front of the cells in local memory, an odd number of them and an even one. Asking for the size of
   scratch tests the program. Oclgrind and NVIDIA's GPUs refuse cells that do not begin at a word. */
static void edges_and_cells(void **state) {
    gpuscan_histogram_desc desc;
    uint64_t               size;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.count = GPUSCAN__CELLS_FROM + 1;
    desc.sample_type = GPUSCAN_TYPE_I16;
    desc.form = GPUSCAN_BINS_EDGES;
    desc.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    for (desc.bins = 35; desc.bins < 37; desc.bins++)
        test_ok(gpuscan_histogram_scratch_size(test.gs, &desc, &size));
}

/* Counts bytes of picture tiles, and of a whole picture, into a buffer that the kernels only write, in each form of a
   CPU. A simulator sees loads from such a buffer. */
static void write_only_counts(void **state) {
    uint64_t tile;
    (void)state;
    for (tile = 0; tile < 3; tile++) {
        histogram_case c = a_histogram(GPUSCAN_TYPE_U8, tile == 1 ? 100 : 256, 300);
        c.d.rows = 100;
        c.d.tile_width = tile ? 150 : 0;
        test_one_strategy(&histograms, &c, GPUSCAN_STRATEGY_CPU_MULTI_PASS);
    }
}

/* A segment that is shorter than a vector of 16 bytes and ends the buffer. Oclgrind sees loads past the end. */
static void short_segment_at_the_end(void **state) {
    static const uint8_t  data[15] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static const uint64_t counts[] = {5, 8, 15};
    size_t                i;
    (void)state;
    for (i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t      offsets[2] = {0, (uint32_t)counts[i]};
        test_buffer         at = test_buffer_new(CL_MEM_READ_ONLY, 4, 2);
        test_buffer         dst = test_buffer_new(CL_MEM_WRITE_ONLY, 1, 1);
        cl_int              code;
        cl_mem              exact = clCreateBuffer(test.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, counts[i],
                                                   (void *)(uintptr_t)data, &code);
        gpuscan_reduce_desc desc;
        test_cl(code);
        memset(&desc, 0, sizeof desc);
        desc.src.mem = exact;
        desc.src_type = GPUSCAN_TYPE_U8;
        desc.count = counts[i];
        desc.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        desc.segments.count = 1;
        desc.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
        test_buffer_set(&at, 0, 2, offsets);
        test_buffer_set(&dst, 0, 1, NULL);
        desc.segments.data = at.at;
        desc.dst = dst.at;
        test_case("a segment of %" PRIu64 " bytes at the end", counts[i]);
        test_ok(gpuscan_reduce(test.gs, &desc));
        assert_int_equal(*(uint8_t *)test_buffer_get(&dst), counts[i] * (counts[i] + 1) / 2);
        clReleaseMemObject(exact);
        test_buffer_free(&at);
        test_buffer_free(&dst);
    }
}

/* A preparation launches on buffers of 4 KiB and with a count of 0: kernels must not read the gaps between rows. */
static void prepared_rows_with_gaps(void **state) {
    gpuscan_scan_desc d;
    (void)state;
    memset(&d, 0, sizeof d);
    d.count = 29;
    d.src_pitch = d.dst_pitch = 31;
    d.rows = 20000;
    d.reverse = (uint32_t)test_below(2);
    d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
    test_case("prepared rows with gaps");
    test_ok(gpuscan_scan_prepare(test.gs, &d));
}

/* Bytes to vectors of 64 bytes, of which a work-item takes one if local memory is small: the kernel then ends with a
   store that some work-items skip. PoCL's optimizer let work-item 0 decide for all, so results lay behind dst. With
   lanes, Intel's compiler would take half a minute. */
static void last_store(void **state) {
    enum { COUNT = 63, WIDTH = 16 };
    static const gpuscan_custom vectors = {NULL, "uint16", 4 * WIDTH, "a + b", "(uint16)(0)", "(uint16)((uint)x)",
                                           NULL, NULL, NULL};
    const uint64_t local = test.gs->device.local_memory;
    test_buffer src, dst;
    unsigned char in[COUNT];
    cl_uint wanted[COUNT][WIDTH], i, w;
    gpuscan_scan_desc d;
    (void)state;
    if (test.info.has_lanes)
        return;
    src = test_buffer_new(CL_MEM_READ_ONLY, 1, COUNT);
    dst = test_buffer_new(CL_MEM_READ_WRITE, 4 * WIDTH, COUNT);
    for (i = 0; i < COUNT; i++)
        for (w = 0, in[i] = (unsigned char)(i + 1); w < WIDTH; w++)
            wanted[i][w] = (i + 1) * (i + 2) / 2;
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_U8;
    d.dst_type = GPUSCAN_TYPE_CUSTOM;
    d.op = GPUSCAN_OP_CUSTOM;
    d.custom = &vectors;
    d.kind = GPUSCAN_INCLUSIVE;
    d.count = COUNT;
    d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD;
    test_buffer_set(&src, 0, COUNT, in);
    test_buffer_set(&dst, 0, COUNT, NULL);
    d.src = src.at;
    d.dst = dst.at;
    test.gs->device.local_memory = local < 16384 ? local : 16384;
    test_case("bytes to vectors of 64 bytes");
    if (test_scan_ran(&d))
        test_same_bytes(test_buffer_get(&dst), wanted, 4 * WIDTH, COUNT);
    test.gs->device.local_memory = local;
    test_buffer_free(&src);
    test_buffer_free(&dst);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(operations), TEST(host_arrays), TEST(lengths), TEST(two_subgroups),
                                       TEST(fold_past_silent_tiles), TEST(write_only_counts),
                                       TEST(edges_and_cells), TEST(short_segment_at_the_end),
                                       TEST(prepared_rows_with_gaps), TEST(last_store)};
    test_select();
    return cmocka_run_group_tests_name("smoke", tests, test_open, test_close);
}
