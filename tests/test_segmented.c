/* Scans by segments (heads, keys and offsets) against the reference. Races show only in wrong results.
      cc -O2 tests/test_segmented.c -o build/test_segmented -lcmocka -lOpenCL -lm && build/test_segmented */
#include "scans.h"

/* Size of a tile in bytes, for each strategy: see test_chunk. */
enum { CHUNK = 4096 };

static scan_case segmented(gpuscan_segment_form form, gpuscan_type keys, uint64_t count, uint64_t segments,
                           test_cuts cuts) {
    scan_case c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, count);
    c.form = form;
    c.keys = keys;
    c.segments = segments;
    c.cuts = cuts;
    return c;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Segments that span all tiles, have one element or end at tiles' ends, with offsets, in place and counted. Half the
   cases pretend that a CPU's cache is small, so that it stores past it. */
static void shapes(void **state) {
    const uint64_t tile = CHUNK / 4, cache = test.gs->device.cache;
    const uint64_t counts[] = {0, 1, 5, tile - 1, tile, tile + 1, 3 * tile + 7, 20 * tile + 3};
    const uint64_t segments[] = {1, 20, 1000};
    uint64_t       i, k;
    int            cut;
    (void)state;
    for (cut = 0; cut < CUTS_COUNT; cut++)
        for (i = 0; i < sizeof counts / sizeof *counts - test_size(2, 0, 0); i++)
            for (k = 0; k < sizeof segments / sizeof *segments; k++) {
                uint64_t number = (uint64_t)cut * 31 + i * 3 + k;
                scan_case c = segmented(test_below(2) ? GPUSCAN_SEGMENTS_KEYS : GPUSCAN_SEGMENTS_HEADS,
                                        GPUSCAN_TYPE_U32, counts[i], segments[k], (test_cuts)cut);
                if (!test_share(number, 3))
                    continue;
                c.reverse = (int)test_below(2);
                c.init = (test_init)(number % 3);
                c.src_offset = number % 4;
                c.in_place = number % 5 == 0;
                c.dst_offset = c.in_place ? c.src_offset : number / 4 % 4;
                c.keys_offset = number / 2 % 3;
                c.count_type = number % 7 == 1 ? GPUSCAN_TYPE_U32 : number % 7 == 2 ? GPUSCAN_TYPE_U64
                                                                                    : GPUSCAN_TYPE_DEFAULT;
                c.device_count = test_below(c.count + 3);
                test.gs->device.cache = test_below(2) ? 0 : cache;
                test_all_strategies(&scans, &c);
                test.gs->device.cache = cache;
            }
}

/* Offsets whose bits end in the middle of a word, and of a tile. */
static void shapes_of_offsets(void **state) {
    uint64_t i, n;
    (void)state;
    for (i = 0; i < test_size(4, 30, 200); i++) {
        scan_case c;
        n = test_below(UINT64_C(1) << test_below(test.is_small ? 10 : 16));
        c = segmented(GPUSCAN_SEGMENTS_OFFSETS, GPUSCAN_TYPE_U32, n, test_below(n / 3 + 3) + 1,
                      (test_cuts)test_below(CUTS_COUNT));
        c.reverse = (int)test_below(2);
        c.init = (test_init)test_below(3);
        c.src_offset = test_below(5);
        c.dst_offset = test_below(5);
        c.keys_offset = test_below(5);
        c.scratch = (test_scratch_choice)test_below(3);
        test_all_strategies(&scans, &c);
    }
}

/* Segments in reverse, from narrow to wide elements: vectors of all sizes are turned round by words. */
static void wide_results_in_reverse(void **state) {
    static const gpuscan_type narrow[] = {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32};
    static const gpuscan_type wide[] = {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_F32};
    size_t i;
    (void)state;
    for (i = 0; i < 3 * sizeof wide / sizeof *wide; i++) {
        scan_case c = segmented(GPUSCAN_SEGMENTS_OFFSETS, GPUSCAN_TYPE_U32, 257, 5003, CUTS_EMPTY);
        if (i > 0 && !test_share(i, 4))
            continue;
        c.from = narrow[i / 3];
        c.to = wide[i % 3];
        c.kind = GPUSCAN_INCLUSIVE;
        c.reverse = 1;
        c.src_offset = c.dst_offset = 13;
        test_all_strategies(&scans, &c);
    }
}

/* ---- wrong offsets ----------------------------------------------------------------------------------------------- */

/* Offsets that descend or exceed count: the call must not store out of bounds, and the next call must be right. */
static void wrong_offsets(void **state) {
    enum { COUNT = 5000, MOST = 700 };
    const uint64_t    segments = test_size(60, MOST, MOST);
    test_buffer       src = test_buffer_new(CL_MEM_READ_ONLY, 4, COUNT), dst = test_buffer_new(0, 4, COUNT);
    test_buffer       data = test_buffer_new(CL_MEM_READ_ONLY, 4, MOST + 1);
    uint32_t         *at = (uint32_t *)test_alloc((MOST + 1) * sizeof *at);
    gpuscan_scan_desc d;
    test_extras       extras;
    gpuscan_result    query;
    uint64_t          i;
    int               kind, s, ran;
    (void)state;
    test_buffer_set(&src, 7, COUNT, NULL);
    for (kind = 0; kind < 4; kind++)
        TEST_EACH_STRATEGY(s) {
            if (test.is_small && (kind + s) % 4)
                continue;
            scan_case after = segmented(GPUSCAN_SEGMENTS_OFFSETS, GPUSCAN_TYPE_U32, 3000, 100, CUTS_RANDOM);
            test_case("wrong offsets %d, %s", kind, test_strategy_name((gpuscan_strategy)s));
            for (i = 0; i <= segments; i++)
                at[i] = (uint32_t)(kind == 0   ? (segments - i) * 10    /* all descend */
                                   : kind == 1 ? UINT32_MAX - i         /* far beyond count */
                                   : kind == 2 ? (i % 2 ? COUNT : 0)    /* up and down */
                                               : test_random());
            test_buffer_set(&data, 2, segments + 1, at);
            test_buffer_set(&dst, 9, COUNT, NULL);
            memset(&d, 0, sizeof d);
            d.src = src.at;
            d.dst = dst.at;
            d.count = COUNT;
            d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
            d.segments.data = data.at;
            d.segments.count = segments;
            d.reverse = (uint32_t)kind % 2;
            d.call.strategy = (gpuscan_strategy)s;
            query = gpuscan_scan_scratch_size(test.gs, &d, &i);
            test_extras_begin(&extras, &d.call, SCRATCH_CALLER, 0, query, i);
            ran = test_scan_ran(&d);
            test_wrong_offsets_end(&extras, &d.call, ran, &src, &dst, &data, at);
            if (ran)
                test_one_strategy(&scans, &after, (gpuscan_strategy)s);
        }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    test_buffer_free(&data);
    free(at);
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

/* Sums that round, in few long segments and in many. Within a segment, exclusive element i + 1 must be inclusive
   element i, sums of non-negative elements must not decrease, and a head's result must be init and its element. A
   second call must give the same bits. */
static void check_floats(gpuscan_strategy strategy, test_cuts cuts, uint64_t count, int has_init) {
    uint64_t          segments = has_init ? count / 300 + 2 : 3, i;
    uint64_t         *at = cut_offsets(cuts, segments, count);
    unsigned char    *heads = cut_heads(at, segments, count), *keys = cut_keys(heads, count, GPUSCAN_TYPE_F32);
    float            *in = (float *)test_alloc(count * 4), *scan[2][2], init = has_init ? 0.7f : 0;
    gpuscan_scan_desc d;
    int               kind, run, ran = 1;
    for (i = 0; i < count; i++) { /* in long segments they grow, so that a prefix shows the last bits of tiles' sums */
        int scale = (int)test_below(20) - 10 + (has_init ? 0 : (int)(i / 512 % 64));
        in[i] = (float)(i % 11 == 3 ? 0 : ldexp(test_unit(), scale));
    }
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_F32;
    d.init = has_init ? &init : NULL;
    d.segments.form = GPUSCAN_SEGMENTS_KEYS;
    d.segments.type = GPUSCAN_TYPE_F32;
    d.segments.host_data = keys;
    d.call.strategy = strategy;
    test_case("sums of floats, %s, cuts %d, %u elements", test_strategy_name(strategy), (int)cuts, (unsigned)count);
    for (kind = 0; kind < 2; kind++)
        for (run = 0; run < 2; run++) {
            scan[kind][run] = (float *)test_alloc(count * 4);
            d.kind = kind ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
            ran = ran && test_ran(gpuscan_scan_host(test.gs, in, scan[kind][run], count, &d), strategy,
                                  test_scan_refusal(&d));
        }
    for (i = 0; i < count && ran; i++) {
        const float *exclusive = scan[0][0], *inclusive = scan[1][0];
        if (heads[i] ? exclusive[i] != init : memcmp(&exclusive[i], &inclusive[i - 1], 4) != 0)
            fail_msg("%s: exclusive %u is %.9g after %.9g", test.what, (unsigned)i, (double)exclusive[i],
                     i ? (double)inclusive[i - 1] : 0);
        if (!(inclusive[i] >= exclusive[i]) || (heads[i] && inclusive[i] != init + in[i]))
            fail_msg("%s: inclusive %u is %.9g, exclusive %.9g", test.what, (unsigned)i, (double)inclusive[i],
                     (double)exclusive[i]);
    }
    for (kind = 0; kind < 2; kind++) {
        if (ran)
            test_same_bytes(scan[kind][1], scan[kind][0], 4, count);
        free(scan[kind][0]);
        free(scan[kind][1]);
    }
    free(at);
    free(heads);
    free(keys);
    free(in);
}

static void floats(void **state) {
    int s, cut;
    (void)state;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        if (!test_share((uint64_t)s, 2) && s != GPUSCAN_STRATEGY_CPU_SINGLE_PASS) /* it sums and scans by two codes */
            continue;
        for (cut = 0; cut < CUTS_COUNT; cut++) {
            check_floats((gpuscan_strategy)s, (test_cuts)cut, test_size(500, 30011, 300007), cut % 2);
            check_floats((gpuscan_strategy)s, (test_cuts)cut, test_size(300, 4099, 4099), !(cut % 2));
        }
    }
}

/* Checks that each segment's sum begins with +0, even for -0 alone; the minimum of NaN alone is the identity. */
static void starts(void **state) {
    const float       in[] = {-0.0f, -0.0f, -0.0f, 2, -0.0f, NAN, NAN, 3};
    const uint8_t     heads[] = {0, 0, 7, 0, 1, 255, 0, 128};
    const uint32_t    sums[] = {0, 0, 0, 0x40000000, 0}, least[] = {0x7f800000, 0x7f800000, 0x40400000};
    uint32_t          out[8];
    gpuscan_scan_desc d;
    (void)state;
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_F32;
    d.kind = GPUSCAN_INCLUSIVE;
    d.segments.form = GPUSCAN_SEGMENTS_HEADS;
    d.segments.host_data = heads;
    test_case("sums of zeros");
    test_ok(gpuscan_scan_host(test.gs, in, out, 8, &d));
    test_same_bytes(out, sums, 4, 5);
    test_case("minima of NaN");
    d.op = GPUSCAN_OP_MIN;
    test_ok(gpuscan_scan_host(test.gs, in, out, 8, &d));
    test_same_bytes(out + 5, least, 4, 3);
}

/* ---- keys and heads ---------------------------------------------------------------------------------------------- */

/* Keys that are equal with different bits, or different with equal bits (NaN), and numbers close to each other. */
static void keys(void **state) {
    const uint32_t    f32[] = {0, 0x80000000, 0, 0x7fc00000, 0x7fc00000, 1, 2, 0x80000001, 0x7f800000, 0x7f800000};
    const uint16_t    f16[] = {0, 0x8000, 0, 0x7e00, 0x7e00, 1, 2, 0x8001, 0x7c00, 0x7c00};
    const uint64_t    f64[] = {0, UINT64_C(1) << 63, 0, UINT64_C(0x7ff8) << 48, UINT64_C(0x7ff8) << 48, 1, 2,
                               UINT64_C(1) << 63 | 1, UINT64_C(0x7ff) << 52, UINT64_C(0x7ff) << 52};
    const uint32_t    ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, wanted[] = {0, 1, 2, 0, 0, 0, 0, 0, 0, 1};
    uint32_t          out[10];
    gpuscan_scan_desc d;
    int               k;
    (void)state;
    memset(&d, 0, sizeof d);
    d.segments.form = GPUSCAN_SEGMENTS_KEYS;
    for (k = 0; k < 3; k++) {
        d.segments.type = k == 0 ? GPUSCAN_TYPE_F32 : k == 1 ? GPUSCAN_TYPE_F16 : GPUSCAN_TYPE_F64;
        d.segments.host_data = k == 0 ? (const void *)f32 : k == 1 ? (const void *)f16 : (const void *)f64;
        test_case("keys of %s", test_type_name(d.segments.type));
        test_ok(gpuscan_scan_host(test.gs, ones, out, 10, &d));
        test_same_bytes(out, wanted, 4, 10);
    }
}

/* Sums with a larger alignment than a type of OpenCL C needs: a sum's flag takes as many bytes. */
static void aligned_sums(void **state) {
    scan_case c = a_scan(GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, 700);
    (void)state;
    c.custom = &op_maps_compose;
    c.form = GPUSCAN_SEGMENTS_HEADS;
    c.keys = GPUSCAN_TYPE_U8;
    c.segments = 5;
    c.scratch = SCRATCH_CALLER;
    test_one_strategy(&scans, &c, GPUSCAN_STRATEGY_MULTI_PASS);
    test_one_strategy(&scans, &c, test_strategy_here(GPUSCAN_STRATEGY_CPU_MULTI_PASS));
}

static int open_segmented(void **state) {
    if (test_open(state) != 0)
        return -1;
    test_chunk(CHUNK);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(shapes), TEST(shapes_of_offsets), TEST(wide_results_in_reverse),
                                       TEST(wrong_offsets), TEST(floats), TEST(starts), TEST(keys),
                                       TEST(aligned_sums)};
    test_select();
    return cmocka_run_group_tests_name("segmented", tests, open_segmented, test_close);
}
