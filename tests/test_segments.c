/* Rows and segments of gpuscan_reduce, with one result each, against the reference. Races show only in wrong results.
      cc -O2 tests/test_segments.c -o build/test_segments -lcmocka -lOpenCL -lm && build/test_segments */
#include "reductions.h"

static void check(reduce_case c) {
    test_all_strategies(&reductions, &c);
}

static reduce_case rows_of(gpuscan_type type, gpuscan_op op, uint64_t rows, uint64_t count) {
    reduce_case c = a_reduction(type, op, count);
    c.rows = rows;
    return c;
}

static reduce_case segments_of(gpuscan_type type, gpuscan_op op, uint64_t count, uint64_t segments, test_cuts cuts) {
    reduce_case c = a_reduction(type, op, count);
    c.offsets = GPUSCAN_TYPE_U32;
    c.segments = segments;
    c.cuts = cuts;
    return c;
}

/* CHUNK: bytes of a CPU's tile (see test_chunk). On a GPU, lanes take rows of up to ROW_LANES elements, and long
   segments are split among groups if all have SEGMENT_LANES or more. group_tile: elements that a group loads at a
   time. */
enum { CHUNK = 4096, ROW_LANES = 1000, SEGMENT_LANES = 5000 };

static uint64_t group_tile(void) {
    return (uint64_t)test.gs->device.profile.segments.group * test.gs->device.profile.segments.vectors * 4;
}

/* Sets the limits of elements above which groups sum rows, and long segments are split. */
static void set_limits(uint32_t row_lanes, uint32_t segment_lanes) {
    test.gs->device.profile.segments.row_lanes = row_lanes;
    test.gs->device.profile.segments.lanes = segment_lanes;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static void lengths_of_rows(void **state) {
    static const uint64_t lengths[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 127, 129, 255, 1000, 1024, 2049};
    uint64_t              i, tile = group_tile(), chunk = CHUNK / 4;
    uint64_t              around[8];
    (void)state;
    for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint64_t all = test_size(3000, 40000, 400000), rows = all / lengths[i] + 2;
        check(rows_of(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, rows, lengths[i]));
    }
    around[0] = tile - 1;
    around[1] = tile;
    around[2] = tile + 1;
    around[3] = 2 * ROW_LANES;
    around[4] = around[3] + 1; /* from here on few rows are split */
    around[5] = chunk - 1;
    around[6] = 2 * chunk + 1;
    around[7] = 3 * tile + 5;
    for (i = 0; i < 8; i++) {
        check(rows_of(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, 2, around[i]));
        check(rows_of(GPUSCAN_TYPE_I16, GPUSCAN_OP_MAX, 7, around[i]));
    }
    check(rows_of(GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, test_size(700, 70001, 700001), 1));
    check(rows_of(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_size(700, 70001, 700001), 0));
}

static void rows_at_random(void **state) {
    uint64_t i;
    (void)state;
    for (i = 0; i < test_size(4, 40, 300); i++) {
        reduce_case c = rows_of(GPUSCAN_TYPE_I32, GPUSCAN_OP_ADD, 1 + test_below(UINT64_C(1) << test_below(12)),
                                test_below(UINT64_C(1) << test_below(test.is_small ? 7 : 11)));
        c.src_pitch = test_random() % 2 ? 0 : c.count + test_below(20);
        c.src_offset = test_below(20);
        c.dst_offset = test_below(20);
        c.init = (test_init)test_below(3);
        c.to_host = test_random() % 3 == 0;
        if (test_random() % 3 == 0) {
            c.count_type = test_random() % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U64;
            c.device_count = test_below(c.count + 3);
        }
        check(c);
    }
}

static void cuts(void **state) {
    static const uint64_t counts[] = {0, 1, 5, 999, 20000, 100003};
    static const uint64_t segments[] = {1, 2, 15, 16, 17, 33, 1000, 20000};
    uint64_t              i, k;
    int                   cut;
    (void)state;
    for (cut = 0; cut < CUTS_COUNT; cut++)
        for (i = 0; i < sizeof counts / sizeof counts[0] - test_size(2, 0, 0); i++)
            for (k = 0; k < sizeof segments / sizeof segments[0] - test_size(2, 0, 0); k++) {
                reduce_case c = segments_of(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, counts[i], segments[k],
                                            (test_cuts)cut);
                if (!test_share((uint64_t)cut * 97 + i * 13 + k, 3))
                    continue;
                c.offsets = (i + k) % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
                c.src_offset = k;
                c.offsets_offset = i;
                c.init = (test_init)(k % 3);
                check(c);
            }
}

/* Returns a desc of u32 sums between u32 offsets. */
static gpuscan_reduce_desc sums_between(const test_buffer *src, uint64_t count, const test_buffer *offsets,
                                        uint64_t segments, const test_buffer *dst, gpuscan_strategy strategy) {
    gpuscan_reduce_desc d;
    memset(&d, 0, sizeof d);
    d.src = src->at;
    d.dst = dst->at;
    d.count = count;
    d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
    d.segments.data = offsets->at;
    d.segments.count = segments;
    d.call.strategy = strategy;
    return d;
}

/* Checks sums between given offsets. */
static void check_offsets(const uint64_t *offsets, uint64_t segments, uint64_t count, gpuscan_type type) {
    gpuscan_reduce_desc d;
    test_buffer         src = test_buffer_new(CL_MEM_READ_ONLY, 4, count), dst = test_buffer_new(0, 4, segments);
    test_buffer         at = test_buffer_new(CL_MEM_READ_ONLY, ref_size(type), segments + 1);
    uint32_t           *data = (uint32_t *)test_alloc(count * 4), *wanted = (uint32_t *)test_alloc(segments * 4);
    unsigned char      *numbers = (unsigned char *)test_alloc((segments + 1) * ref_size(type));
    uint64_t            i, k;
    int                 s;
    test_random_bytes(data, (size_t)count * 4);
    for (i = 0; i <= segments; i++)
        ref_store(type, numbers, i, ref_bits(offsets[i]));
    for (i = 0; i < segments; i++)
        for (wanted[i] = 0, k = offsets[i]; k < offsets[i + 1]; k++)
            wanted[i] += data[k];
    test_buffer_set(&src, 3, count, data);
    test_buffer_set(&at, 1, segments + 1, numbers);
    TEST_EACH_STRATEGY(s) {
        test_buffer_set(&dst, 5, segments, NULL);
        d = sums_between(&src, count, &at, segments, &dst, (gpuscan_strategy)s);
        d.segments.type = type;
        if (test_reduce_ran(&d))
            test_same_bytes(test_buffer_get(&dst), wanted, 4, segments);
    }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    test_buffer_free(&at);
    free(data);
    free(wanted);
    free(numbers);
}

/* Many empty segments at the start, in the middle and at the end of a few elements, and between long ones. */
static void empty_segments(void **state) {
    uint64_t  many = test_size(2000, UINT64_C(1) << 18, UINT64_C(1) << 22), count = test_size(900, 50000, 50000), i;
    uint64_t *at = (uint64_t *)test_alloc((many + 1) * sizeof *at);
    int       place;
    (void)state;
    for (place = 0; place < 5; place++) {
        test_case("%" PRIu64 " segments of %" PRIu64 " elements, most empty, place %d", many, count, place);
        for (i = 0; i <= many; i++)
            at[i] = place == 0   ? (i > many - 10 ? count - (many - i) * 3 : 0)
                    : place == 1 ? (i < 10 ? i * 3 : count)
                    : place == 2 ? (i < many / 2 ? 0 : count)
                    : place == 3 ? (i < many / 2 ? (i < 50 ? i : 50) : i > many - 50 ? count - (many - i) : count - 50)
                                 : i * 4 / many * (count / 4);
        at[many] = place == 4 ? at[many] : count;
        check_offsets(at, many, count, place % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32);
    }
    free(at);
}

/* Segments that end at the ends of tiles and vectors, one across all tiles, and long and short ones alternating. */
static void ends_at_tiles(void **state) {
    uint64_t count = test_size(3000, 60000, 60000), tile = group_tile(), n, i, next;
    uint64_t *at = (uint64_t *)test_alloc((count + 2) * sizeof *at);
    uint64_t  steps[8];
    int       k;
    (void)state;
    steps[0] = tile;
    steps[1] = tile - 1;
    steps[2] = tile / 2;
    steps[3] = 16;
    steps[4] = 15;
    steps[5] = CHUNK / 4;
    steps[6] = tile / 3 + 1;
    steps[7] = count;
    for (k = 0; k < 8; k++) {
        test_case("segments of %" PRIu64, steps[k]);
        for (n = 0, next = 0; next < count; next += steps[k])
            at[n++] = next;
        at[n] = count;
        check_offsets(at, n, count, GPUSCAN_TYPE_U32);
    }
    test_case("long and short segments in turn");
    for (n = 0, i = 0, next = 0; next < count; i++) {
        at[n++] = next;
        next += i % 5 == 0 ? 2 * tile / 3 : i % 5 == 1 ? tile / 3 + i % 7 : i % 3;
    }
    at[n] = count;
    check_offsets(at, n, count, GPUSCAN_TYPE_U64);
    free(at);
}

/* Offsets that descend or exceed count: the call must not store out of bounds, and the next call is right. */
static void wrong_offsets(void **state) {
    enum { SEGMENTS = 3000 };
    uint64_t            count = 20000, i;
    uint32_t           *at = (uint32_t *)test_alloc((SEGMENTS + 1) * 4);
    test_buffer         src = test_buffer_new(CL_MEM_READ_ONLY, 4, count), dst = test_buffer_new(0, 4, SEGMENTS);
    test_buffer         data = test_buffer_new(CL_MEM_READ_ONLY, 4, SEGMENTS + 1);
    gpuscan_reduce_desc d;
    test_extras         extras;
    gpuscan_result      query;
    int                 kind, s, ran;
    (void)state;
    test_buffer_set(&src, 7, count, NULL);
    for (kind = 0; kind < 6; kind++)
        TEST_EACH_STRATEGY(s) {
            reduce_case after = segments_of(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, 3000, 400, CUTS_RANDOM);
            test_case("wrong offsets %d, %s", kind, test_strategy_name((gpuscan_strategy)s));
            for (i = 0; i <= SEGMENTS; i++)
                at[i] = (uint32_t)(kind == 0   ? (SEGMENTS - i) * 6                      /* all descend */
                                   : kind == 1 ? test_below(count)                      /* some descend */
                                   : kind == 2 ? UINT32_MAX - i                          /* far beyond count */
                                   : kind == 3 ? (i % 2 ? count : 0)                     /* up and down */
                                   : kind == 4 ? (i == 0 ? count : test_below(2 * count)) /* the first is the largest */
                                               : test_random());
            test_buffer_set(&data, 2, SEGMENTS + 1, at);
            test_buffer_set(&dst, 9, SEGMENTS, NULL);
            d = sums_between(&src, count, &data, SEGMENTS, &dst, (gpuscan_strategy)s);
            query = gpuscan_reduce_scratch_size(test.gs, &d, &i);
            test_extras_begin(&extras, &d.call, SCRATCH_CALLER, 0, query, i);
            ran = test_reduce_ran(&d);
            test_wrong_offsets_end(&extras, &d.call, ran, &src, &dst, &data, at);
            if (ran)
                test_one_strategy(&reductions, &after, (gpuscan_strategy)s);
        }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    test_buffer_free(&data);
    free(at);
}

/* ---- types and operators ----------------------------------------------------------------------------------------- */

/* Checks with one strategy, in the long run with all: these programs take long to build. */
static void check_by(reduce_case c, gpuscan_strategy strategy) {
    if (test.is_long)
        check(c);
    else
        test_one_strategy(&reductions, &c, strategy);
}

static void types_and_operators(void **state) {
    static const test_operator *const custom[] = {&op_marked_sum, &op_seven_sum, &op_last,  &op_three,
                                                  &op_twelve,     &op_forty,     &op_matrix_product};
    int    type, op;
    size_t k;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        for (op = 0; op < GPUSCAN_OP_COUNT; op++) {
            int         fits = ref_is_arg((gpuscan_op)op) || (op != GPUSCAN_OP_CUSTOM &&
                                                         test_op_fits((gpuscan_type)type, (gpuscan_op)op));
            reduce_case c;
            if (op == GPUSCAN_OP_CUSTOM || !fits || !test_has_type((gpuscan_type)type) ||
                !test_share((uint64_t)type * 31 + (uint64_t)op, 40))
                continue;
            c = rows_of((gpuscan_type)type, (gpuscan_op)op, 150, 37);
            if (ref_is_arg((gpuscan_op)op))
                c.to = op == GPUSCAN_OP_ARGMIN ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
            check_by(c, test_next_strategy());
            c = segments_of((gpuscan_type)type, (gpuscan_op)op, test_size(2000, 20000, 20000), 700, CUTS_RANDOM);
            if (ref_is_arg((gpuscan_op)op))
                c.to = op == GPUSCAN_OP_ARGMAX ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
            check_by(c, test_next_strategy());
        }
    for (k = 0; k < sizeof custom / sizeof custom[0]; k++) {
        reduce_case c = rows_of(custom[k]->type, GPUSCAN_OP_CUSTOM, 60, test_size(30, 300, 300));
        if (!test_share(k, 7))
            continue;
        c.custom = custom[k];
        check_by(c, test_next_strategy());
        c = segments_of(custom[k]->type, GPUSCAN_OP_CUSTOM, test_size(2000, 20000, 20000), 300, CUTS_LONG);
        c.custom = custom[k];
        check_by(c, test_next_strategy());
    }
}

/* Short sums that a CPU computes side by side: rows and segments of up to a quarter of its vector, half a vector, one,
   two and several vectors. A run takes a sixth of the combinations. */
static void short_segments(void **state) {
    static const uint64_t   lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 40, 60};
    static const gpuscan_op ops[] = {GPUSCAN_OP_ADD, GPUSCAN_OP_MAX, GPUSCAN_OP_ADD, GPUSCAN_OP_MIN};
    int                     type, by_offsets;
    size_t                  k;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        for (by_offsets = 0; by_offsets < 2; by_offsets++) {
            uint64_t         number = (uint64_t)(2 * type + by_offsets);
            gpuscan_op       op = ops[(number + test.seed / 12) % 4];
            gpuscan_strategy strategy = (number + test.seed / 6) % 2 ? GPUSCAN_STRATEGY_CPU_MULTI_PASS
                                                                     : GPUSCAN_STRATEGY_CPU_SINGLE_PASS;
            if (!test_has_type((gpuscan_type)type) || !test_takes_one_of(6, number))
                continue;
            for (k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
                reduce_case c = rows_of((gpuscan_type)type, op, 1003, lengths[k]);
                c.src_pitch = k % 3 == 1 ? lengths[k] + 1 : 0;
                if (by_offsets) /* segments of 0 to 2 n + 1 elements */
                    c = segments_of((gpuscan_type)type, op, 9001, 9001 / lengths[k], CUTS_RANDOM);
                c.src_offset = k;
                if (k % 2) { /* MIN and MAX of NaN alone */
                    c.filling = FILL_NAN;
                    c.init = k % 4 == 1 ? INIT_HOST : INIT_DEVICE;
                }
                check_by(c, strategy);
            }
        }
}

/* Results larger and smaller than the elements beside which they lie in local memory. */
static void sizes_of_results(void **state) {
    static const gpuscan_type pairs[][2] = {{GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U8}, {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U64}};
    static const uint64_t     segments[] = {40, 1000, 9000, 25000};
    uint64_t                  i, k;
    (void)state;
    for (i = 0; i < 2; i++)
        for (k = 0; k < 4 && test_share(i, 2); k++) {
            reduce_case c = segments_of(pairs[i][0], GPUSCAN_OP_ADD, test_size(3000, 30000, 30000), segments[k],
                                        CUTS_RANDOM);
            c.to = pairs[i][1];
            check_by(c, GPUSCAN_STRATEGY_SINGLE_PASS);
        }
}

/* Sums begin with +0, even for -0 alone and for nothing; minima of NaN alone are the identity, and have no index. */
static void special_floats(void **state) {
    float               data[] = {-0.0f, -0.0f, -0.0f, NAN, NAN, 3, NAN, 2, -0.0f, 0.0f};
    uint32_t            offsets[] = {0, 3, 3, 5, 7, 10, 10}, bits[6], k;
    const uint32_t      sums[] = {0, 0, 0x7fc00000, 0x7fc00000, 0x40000000, 0};
    const uint32_t      minima[] = {0x80000000, 0x7f800000, 0x7f800000, 0x40400000, 0, 0x7f800000};
    uint64_t            index[6];
    const uint64_t      indices[] = {0, UINT64_MAX, UINT64_MAX, 5, 8, UINT64_MAX};
    gpuscan_reduce_desc d;
    int                 s;
    (void)state;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        if (s > GPUSCAN_STRATEGY_AUTO && !test.is_long &&
            (s != GPUSCAN_STRATEGY_SINGLE_PASS || !test_takes_one_of(2, 0)))
            continue;
        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_F32;
        d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        d.segments.host_data = offsets;
        d.segments.count = 6;
        d.call.strategy = (gpuscan_strategy)s;
        test_case("special floats, %s", test_strategy_name((gpuscan_strategy)s));
        if (!test_ran(gpuscan_reduce_host(test.gs, data, bits, 10, &d), d.call.strategy, test_reduce_refusal(&d)))
            continue;
        for (k = 0; k < 6; k++)
            if ((sums[k] == 0x7fc00000) != ((bits[k] & 0x7fffffff) > 0x7f800000) ||
                (sums[k] != 0x7fc00000 && bits[k] != sums[k]))
                fail_msg("%s: sum %u is %08x", test.what, (unsigned)k, (unsigned)bits[k]);
        d.op = GPUSCAN_OP_MIN;
        test_ok(gpuscan_reduce_host(test.gs, data, bits, 10, &d));
        for (k = 0; k < 6; k++) /* either zero */
            if (bits[k] != minima[k] && ((bits[k] | minima[k]) & 0x7fffffff))
                fail_msg("%s: minimum %u is %08x", test.what, (unsigned)k, (unsigned)bits[k]);
        d.op = GPUSCAN_OP_ARGMIN;
        test_ok(gpuscan_reduce_host(test.gs, data, index, 10, &d));
        for (k = 0; k < 6; k++)
            if (index[k] != indices[k])
                fail_msg("%s: the index of minimum %u is %" PRIu64, test.what, (unsigned)k, index[k]);
    }
}

/* ---- the same bits ----------------------------------------------------------------------------------------------- */

/* Floats that round, in rows and segments, repeated and in two queues at once: all runs must have equal bits. */
static void same_bits(void **state) {
    const uint64_t count = test_size(4000, 200000, 1000000);
    const unsigned runs = (unsigned)test_size(3, test.is_long ? 200 : 12, 200);
    gpuscan_type   type = test_has_type(GPUSCAN_TYPE_F64) ? GPUSCAN_TYPE_F64 : GPUSCAN_TYPE_F32;
    size_t         size = ref_size(type);
    unsigned char *data = (unsigned char *)test_alloc(count * size);
    uint32_t       offsets[202];
    test_buffer    src = test_buffer_new(CL_MEM_READ_ONLY, size, count);
    test_buffer    at = test_buffer_new(CL_MEM_READ_ONLY, 4, 202);
    test_buffer    dst[2];
    unsigned char *first = (unsigned char *)test_alloc(201 * size);
    cl_int         status = CL_SUCCESS;
    cl_command_queue queues[2];
    uint64_t         i;
    int              s, form;
    unsigned         run;
    (void)state;
    for (i = 0; i < 2; i++) {
        dst[i] = test_buffer_new(0, size, 201);
        queues[i] = clCreateCommandQueue(test.context, test.device, 0, &status);
        test_cl(status);
    }
    for (i = 0; i < count; i++)
        ref_store(type, data, i, ref_real(i % 3 ? 0.1 : 1.0 / (double)(1 + test_below(1000))));
    for (i = 0; i <= 201; i++)
        offsets[i] = (uint32_t)(i == 0 ? 0 : i == 1 ? count / 2 : count / 2 + (i - 1) * (count / 2) / 200);
    test_buffer_set(&src, 1, count, data);
    test_buffer_set(&at, 0, 202, offsets);
    TEST_EACH_STRATEGY(s)
        for (form = 0; form < 2; form++)
            for (run = 0; run < runs; run++) {
                gpuscan_reduce_desc d;
                unsigned            q = run % 2;
                memset(&d, 0, sizeof d);
                d.src = src.at;
                d.src_type = type;
                d.call.strategy = (gpuscan_strategy)s;
                d.call.queue = queues[q];
                d.count = form ? count : count / 201;
                d.rows = form ? 0 : 201;
                if (form) {
                    d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
                    d.segments.data = at.at;
                    d.segments.count = 201;
                }
                test_case("the same %s repeated, %s, run %u", form ? "segments" : "rows",
                          test_strategy_name((gpuscan_strategy)s), run);
                test_buffer_set(&dst[q], 3, 201, NULL);
                d.dst = dst[q].at;
                if (!test_reduce_ran(&d))
                    break;
                if (run == 0) {
                    test_cl(clFinish(queues[q]));
                    memcpy(first, test_buffer_get(&dst[q]), 201 * size);
                }
                test_buffer_set(&dst[!q], 3, 201, NULL); /* another call at the same time */
                d.dst = dst[!q].at;
                d.call.queue = queues[!q];
                test_ok(gpuscan_reduce(test.gs, &d));
                for (i = 0; i < 2; i++) {
                    test_cl(clFinish(queues[i]));
                    test_same_bytes(test_buffer_get(&dst[i]), first, size, 201);
                }
            }
    for (i = 0; i < 2; i++) {
        test_buffer_free(&dst[i]);
        clReleaseCommandQueue(queues[i]);
    }
    test_buffer_free(&src);
    test_buffer_free(&at);
    free(first);
    free(data);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

/* Checks whether the last program splits long rows or segments among groups. */
static void is_split(int wanted) {
    const gpuscan__program *program = test.gs->programs;
    assert_non_null(program);
    if ((gpuscan__reduce_own(&program->key).split != 0) != (wanted != 0) || test.gs->refusals)
        fail_msg("%s: a program that %s", test.what, wanted ? "does not split segments" : "splits segments");
}

static const struct {
    gpuscan_type type;
    gpuscan_op op;
} of[] = {{GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD},    {GPUSCAN_TYPE_I16, GPUSCAN_OP_MAX},
          {GPUSCAN_TYPE_U64, GPUSCAN_OP_XOR},    {GPUSCAN_TYPE_U8, GPUSCAN_OP_ARGMIN},
          {GPUSCAN_TYPE_F32, GPUSCAN_OP_ARGMAX}, {GPUSCAN_TYPE_F32, GPUSCAN_OP_ADD}};

static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_SINGLE_PASS};

/* Segments by lanes, whose long ones are split: by sub-groups, one group, several groups or all. */
static void segments_split(uint64_t k, uint64_t all) {
    gpuscan__profile *profile = &test.gs->device.profile;
    uint64_t          i, least = 4 * (uint64_t)test.gs->device.units;
    set_limits(profile->segments.row_lanes, 0);
    for (i = test.is_small ? test.seed % 3 : 0; i < 4 * CUTS_COUNT; i += test.is_small ? 3 : 1) {
        reduce_case c = segments_of(of[k].type, of[k].op, all - test_below(all / 4), 0, (test_cuts)(i % CUTS_COUNT));
        profile->segments.split_from = i % 2 ? 64 : 700;
        profile->segments.per_unit = i % 3 ? 2 : 30; /* more groups than a group of one sub-group has work-items */
        c.segments = i / CUTS_COUNT == 0 ? c.count / 4 + 1 : i / CUTS_COUNT == 1 ? c.count / 90 + 1 : least;
        c.segments += i / CUTS_COUNT == 3 ? test_below(100) : 0;
        if (c.segments < least)
            c.segments = least;
        c.src_offset = i % 4;
        c.init = (test_init)(i % 3);
        c.init = ref_is_arg(of[k].op) ? (test_init)0 : c.init;
        c.to = ref_is_arg(of[k].op) ? GPUSCAN_TYPE_DEFAULT : c.to;
        c.offsets = i % 3 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U64;
        c.count_type = i % 5 == 1 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.device_count = test_below(c.count + 2);
        check_by(c, strategies[i / 2 % 2]);
        is_split(1);
    }
}

/* The same in order: by operators that do not commute, on elements of several sizes; and few long rows. */
static void split_in_order(uint64_t all) {
    static const test_operator *const custom[] = {&op_last,  &op_three,          &op_marked_sum,
                                                  &op_forty, &op_matrix_product, &op_twelve};
    gpuscan__profile *profile = &test.gs->device.profile;
    uint64_t          i;
    set_limits(100, 0);
    profile->segments.per_unit = 2;
    for (i = 0; i < 6; i++) {
        reduce_case c = segments_of(custom[i]->type, GPUSCAN_OP_CUSTOM, all - test_below(all / 4), 0,
                                    (test_cuts)((i + test.seed) % CUTS_COUNT));
        if (!test_share(i, 2))
            continue;
        profile->segments.split_from = i % 2 ? 64 : 700;
        c.custom = custom[i];
        c.segments = i % 3 == 0 ? 5 : i % 3 == 1 ? c.count / 9 + 1 : c.count / 900 + 1;
        c.src_offset = i;
        c.offsets = i % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U64;
        c.count_type = i % 3 ? GPUSCAN_TYPE_DEFAULT : GPUSCAN_TYPE_U64;
        c.device_count = test_below(c.count + 2);
        check_by(c, strategies[i % 2]);
        is_split(1);
        c = rows_of(custom[i]->type, GPUSCAN_OP_CUSTOM, 3, all / 3);
        c.custom = custom[i];
        c.src_pitch = all / 3 + i;
        check_by(c, strategies[i % 2]);
        is_split(1);
    }
}

/* Calls of few elements use smaller groups, unless segments are long on average. */
static void groups_of_lanes(void **state) {
    static const struct {
        uint64_t count, segments;
        uint32_t group;
        gpuscan_type type; /* all differ, so that the program is the last */
    } cases[] = {{1023, 100, 128, GPUSCAN_TYPE_U32}, {1024, 100, 256, GPUSCAN_TYPE_I32},
                 {4095, 1, 128, GPUSCAN_TYPE_U64},   {4096, 1, 256, GPUSCAN_TYPE_I64},
                 {8191, 2, 128, GPUSCAN_TYPE_U16},   {8192, 2, 256, GPUSCAN_TYPE_U8}};
    gpuscan_limits limits;
    size_t         i;
    (void)state;
    memset(&limits, 0, sizeof limits);
    limits.lanes = 32;
    test_limit(&limits);
    test.gs->device.profile.segments.lanes_group = 256;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        test.gs->device.profile.segments.lanes_items = i < 2 ? 4 : 64;
        check_by(segments_of(cases[i].type, GPUSCAN_OP_ADD, cases[i].count, cases[i].segments, CUTS_RANDOM),
                 GPUSCAN_STRATEGY_SINGLE_PASS);
        is_split(0);
        assert_int_equal(test.gs->programs->key.group, cases[i].group);
    }
}

/* Short rows and small segments, each by a few lanes, with sub-groups of several widths; and larger ones. */
static void by_lanes(void **state) {
    static const uint32_t widths[] = {8, 32, 16, 64};
    static const uint64_t lengths[] = {0, 1, 2, 3, 4, 5, 8, 9, 31, 33, 64, 100, 257, 1000, 2049};
    static const gpuscan_type limited[] = {GPUSCAN_TYPE_I8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_I64, GPUSCAN_TYPE_I32};
    uint64_t w, i, all = test_size(1500, 20000, 100000);
    for (w = 0; w < 4; w++) {
        gpuscan_limits limits;
        reduce_case    c;
        uint64_t       k = (w + test.seed) % 6;
        if (test.is_small ? w != test.seed % 3 : !test_share(w, 2))
            continue;
        if (test.gs->device.profile.segments.group % widths[w] != 0) /* its groups are not whole sub-groups */
            continue;
        memset(&limits, 0, sizeof limits);
        limits.lanes = widths[w];
        test_limit(&limits);
        for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            c = rows_of(of[k].type, of[k].op, lengths[i] ? all / lengths[i] + 2 : 300, lengths[i]);
            c.src_pitch = i % 3 == 0 ? 0 : lengths[i] + i % 7;
            c.src_offset = i % 4;
            c.dst_offset = i % 3;
            c.to = ref_is_arg(of[k].op) ? GPUSCAN_TYPE_DEFAULT : c.to;
            c.count_type = i % 5 == 1 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
            c.device_count = test_below(c.count + 2);
            check_by(c, strategies[i % 2]);
            is_split(0);
        }
        for (i = 0; i < 3 * CUTS_COUNT; i++) {
            c = segments_of(of[k].type, of[k].op, test_below(all), 0, (test_cuts)(i % CUTS_COUNT));
            c.segments = i / CUTS_COUNT == 0 ? c.count / 4 + 1 : i / CUTS_COUNT == 1 ? c.count / 300 + 1 : 3;
            c.src_offset = i % 4;
            c.to = ref_is_arg(of[k].op) ? GPUSCAN_TYPE_DEFAULT : c.to;
            c.count_type = i % 5 == 1 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
            c.device_count = test_below(c.count + 2);
            check_by(c, strategies[i % 2]);
            is_split(0);
        }
        empty_segments(state);
        ends_at_tiles(state);
        wrong_offsets(state);
        set_limits(200, 700);
        for (i = 0; i < 4; i++) {
            c = i < 2 ? rows_of(limited[i], GPUSCAN_OP_ADD, 3, 400 + i)
                      : segments_of(limited[i], GPUSCAN_OP_ADD, 698 + i, 90, CUTS_RANDOM);
            check_by(c, strategies[(w + i) % 2]);
            is_split(i % 2);
        }
        c = segments_of(limited[w], GPUSCAN_OP_ADD, 650, 1, CUTS_RANDOM); /* few, but not long enough */
        check_by(c, strategies[w % 2]);
        is_split(0);
        segments_split(k, all);
        split_in_order(all);
        wrong_offsets(state);
        if (test.is_small) /* takes the simulator minutes */
            continue;
        empty_segments(state);
        ends_at_tiles(state);
    }
}

/* ---- host arrays ------------------------------------------------------------------------------------------------- */

static void host_arrays(void **state) {
    enum { ROWS = 40, COUNT = 30, PITCH = 33 };
    uint32_t            in[ROWS * PITCH], sums[ROWS + 1], offsets[ROWS + 1], i, k, sum;
    gpuscan_reduce_desc d;
    int                 s;
    (void)state;
    TEST_EACH_STRATEGY(s) {
        test_case("host arrays, %s", test_strategy_name((gpuscan_strategy)s));
        test_random_bytes(in, sizeof in);
        memset(&d, 0, sizeof d);
        d.rows = ROWS;
        d.src_pitch = PITCH;
        d.call.strategy = (gpuscan_strategy)s;
        sums[ROWS] = 77;
        if (!test_ran(gpuscan_reduce_host(test.gs, in, sums, COUNT, &d), d.call.strategy, test_reduce_refusal(&d)))
            continue;
        for (i = 0; i < ROWS; i++) {
            for (sum = 0, k = 0; k < COUNT; k++)
                sum += in[i * PITCH + k];
            if (sums[i] != sum)
                fail_msg("%s: row %u is %u, not %u", test.what, (unsigned)i, (unsigned)sums[i], (unsigned)sum);
            offsets[i] = i * i / 2;
        }
        offsets[ROWS] = 1000;
        d.rows = d.src_pitch = 0;
        d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        d.segments.host_data = offsets;
        d.segments.count = ROWS;
        test_ok(gpuscan_reduce_host(test.gs, in, sums, 1000, &d));
        for (i = 0; i < ROWS; i++) {
            for (sum = 0, k = offsets[i]; k < offsets[i + 1]; k++)
                sum += in[k];
            if (sums[i] != sum)
                fail_msg("%s: segment %u is %u, not %u", test.what, (unsigned)i, (unsigned)sums[i], (unsigned)sum);
        }
        d.segments.count = 0;
        test_ok(gpuscan_reduce_host(test.gs, in, sums, 1000, &d));
        if (sums[ROWS] != 77)
            fail_msg("%s: stores past the results", test.what);
    }
}

static int open_segments(void **state) {
    if (test_open(state) != 0)
        return -1;
    test_chunk(CHUNK);
    set_limits(ROW_LANES, SEGMENT_LANES);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(lengths_of_rows), TEST(rows_at_random), TEST(cuts), TEST(empty_segments),
                                       TEST(ends_at_tiles), TEST(wrong_offsets), TEST(by_lanes), TEST(groups_of_lanes),
                                       TEST(types_and_operators), TEST(short_segments), TEST(sizes_of_results),
                                       TEST(special_floats), TEST(same_bits), TEST(host_arrays)};
    test_select();
    return cmocka_run_group_tests_name("segments", tests, open_segments, test_close);
}
