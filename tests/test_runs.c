/* gpuscan_runs and gpuscan_runs_host against a loop. Races show only in wrong results, or in a simulator.
      cc -O2 tests/test_runs.c -o build/test_runs -lcmocka -lOpenCL -lm && build/test_runs */
#include "runs.h"

#include <unistd.h>

/* Checks a case with the strategy whose turn it is, or with AUTO if that is refused. */
static void check_next(const run_case *c) {
    test_one_strategy(&runs, c, test_next_strategy());
}

/* ---- lengths of runs --------------------------------------------------------------------------------------------- */

static void every_length(void **state) {
    uint64_t n, last = test_size(200, 2100, 4100);
    (void)state;
    for (n = 0; n <= last; n += n < 70 || n % 32 == 31 || n % 32 == 0 ? 1 : test_size(37, 15, 1)) {
        run_case c = some_runs(n, (run_lengths)(n % RUNS_COUNT));
        if (n < 70)
            test_all_strategies(&runs, &c);
        else
            check_next(&c);
    }
}

/* Counts near the sizes of tiles and parts. */
static void edges(void **state) {
    uint64_t k, top = test_size(11, 20, 24);
    int      off, lengths;
    (void)state;
    for (k = 7; k <= top; k += 1 + k / 12)
        for (off = -1; off <= 1; off++)
            for (lengths = (int)(k + (uint64_t)(off + 1)) % 2; lengths < RUNS_COUNT; lengths += 2) {
                run_case c = some_runs((UINT64_C(1) << k) + (uint64_t)(int64_t)off, (run_lengths)lengths);
                check_next(&c);
            }
}

static void large_by_all_strategies(void **state) {
    static const run_lengths lengths[] = {RUNS_SHORT, RUNS_ONE, RUNS_BLOCKS};
    size_t                   i;
    (void)state;
    for (i = 0; i < 3; i++) {
        run_case c = some_runs(test_size(3001, 1234567, 54321098), lengths[i]);
        test_all_strategies(&runs, &c);
    }
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* Keys of each type, compared by == and by bits; floats with zeros, NaN and infinities. */
static void keys_of_all_types(void **state) {
    unsigned type, i;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS) {
        for (i = 0; i < 4; i++) {
            run_case c = some_runs(test_size(500, 20021, 200003), i % 2 ? RUNS_SHORT : RUNS_OF_ONE);
            c.key_type = (gpuscan_type)type;
            c.bitwise = i / 2 != 0;
            c.special = 1;
            c.reduces = 0;
            if (test_share(type + 5 * i, 2)) /* f64 is compared by bits everywhere */
                check_next(&c);
        }
    }
}

/* GPUs compare keys of a byte in words of four: keys begin and end anywhere in a vector. */
static void keys_of_a_byte(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 6; i++) {
        run_case c = some_runs(test_size(500, 9001, 200003) + i, i % 2 ? RUNS_SHORT : RUNS_OF_ONE);
        c.key_type = i % 3 ? GPUSCAN_TYPE_U8 : GPUSCAN_TYPE_I8;
        c.keys_offset = i % 5;
        c.reduces = i == 3;
        test_one_strategy(&runs, &c, GPUSCAN_STRATEGY_MULTI_PASS);
    }
}

static void structs(void **state) {
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 31, 32, 48, 64, 100, 128, 1000, 1024};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        run_case c = some_runs(test_size(200, 3001, 30001), (run_lengths)(i % RUNS_COUNT));
        c.custom_size = sizes[i];
        c.payloads = 2;
        c.sizes[0] = sizes[(i + 7) % (sizeof sizes / sizeof sizes[0])];
        c.sizes[1] = sizes[(i + 12) % (sizeof sizes / sizeof sizes[0])];
        c.reduces = i % 3 == 0;
        c.keys_offset = i % 4;
        if (test_share(i + 3, 1))
            check_next(&c);
    }
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* Each output alone, and together. */
static void outputs(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 64; i++) {
        run_case c = some_runs(test_size(500, 20011, 200003), (run_lengths)(i % RUNS_COUNT));
        c.no_keys = (i & 1) != 0;
        c.starts = (i & 2) != 0;
        c.lengths_out = (i & 4) != 0;
        c.reduces = (i & 8) != 0;
        c.index_type = i & 16 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.payloads = i & 32 ? 1 : 0;
        c.sizes[0] = 1 + i % 9;
        c.tally = i % 3 ? GPUSCAN_TYPE_U64 : c.no_keys && i % 32 == 1 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
        if (test_share(i, 4))
            check_next(&c);
    }
}

static void payloads(void **state) {
    uint32_t k, i;
    (void)state;
    for (k = 1; k <= GPUSCAN_MAX_PAYLOADS; k++) {
        run_case c = some_runs(test_size(300, 20011, 200003), RUNS_SHORT);
        c.payloads = k;
        for (i = 0; i < k; i++)
            c.sizes[i] = (uint32_t)(1 + test_below(i % 3 == 0 ? 40 : 9));
        c.payload_is_keys = k % 2 == 0;
        c.no_keys = k % 3 == 1;
        c.reduces = k == GPUSCAN_MAX_PAYLOADS;
        if (test_share(k + 1, 1))
            check_next(&c);
    }
}

/* Every operator of a type, conversions, the keys as elements, NaN, zeros, and overflows. */
static void reductions(void **state) {
    unsigned type, op;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS) {
        TEST_EACH_OP(op, REF_BUILTIN) {
            run_case c = some_runs(test_size(400, 15013, 150001), (run_lengths)((type + op) % RUNS_COUNT));
            c.key_type = op % 2 ? GPUSCAN_TYPE_U8 : GPUSCAN_TYPE_U32;
            c.src_type = c.dst_type = (gpuscan_type)type;
            c.op = (gpuscan_op)op;
            c.starts = c.lengths_out = op % 3 == 0;
            c.filling = op % 2 ? FILL_EXTREME : FILL_TELLING;
            if (test_has_type((gpuscan_type)type) && test_op_fits((gpuscan_type)type, (gpuscan_op)op) &&
                test_share(type * 7 + op, 5))
                check_next(&c);
        }
    }
}

static void conversions(void **state) {
    static const gpuscan_type types[][2] = {{GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32},  {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I64},
                                            {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32}, {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32},
                                            {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F16}, {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U8}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof types / sizeof types[0]; i++) {
        run_case c = some_runs(test_size(400, 15013, 150001), RUNS_HUNDREDS);
        c.src_type = types[i][0];
        c.dst_type = types[i][1];
        c.lengths_out = i % 2 != 0;
        if (test_share(i + 5, 1))
            check_next(&c);
    }
}

/* Operators that do not commute, of elements from 1 to 40 bytes. */
static void custom_operators(void **state) {
    static const test_operator *const ops[] = {&op_matrix_product, &op_brackets_match, &op_affine_compose,
                                               &op_seven_sum,      &op_last,           &op_three,
                                               &op_twelve,         &op_forty};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        run_case c = some_runs(test_size(300, 9001, 90001), (run_lengths)(i % RUNS_COUNT));
        c.custom = ops[i];
        c.starts = 0;
        c.lengths_out = i % 2 == 0;
        if (test_share(i + 11, 1))
            check_next(&c);
    }
}

/* Results with a larger alignment than a type of OpenCL C needs. */
static void aligned_results(void **state) {
    run_case c = some_runs(700, RUNS_HUNDREDS);
    (void)state;
    c.custom = &op_maps_compose;
    c.lengths_out = 1;
    c.scratch = SCRATCH_CALLER;
    test_one_strategy(&runs, &c, GPUSCAN_STRATEGY_MULTI_PASS);
    test_one_strategy(&runs, &c, test_strategy_here(GPUSCAN_STRATEGY_CPU_MULTI_PASS));
}

static void keys_as_elements(void **state) {
    run_case c = some_runs(test_size(400, 30011, 300007), RUNS_SHORT);
    (void)state;
    c.src_is_keys = 1;
    c.payloads = 1;
    c.payload_is_keys = 1;
    check_next(&c);
}

/* ---- capacity, counts, dispatches -------------------------------------------------------------------------------- */

/* Only the count of runs is requested. */
static void tally_alone(void **state) {
    run_case c = some_runs(test_size(400, 70001, 700001), RUNS_SHORT);
    (void)state;
    c.no_keys = 1;
    c.starts = c.lengths_out = c.reduces = 0;
    c.dispatch = 1;
    check_next(&c);
    c.count = 0;
    check_next(&c);
}

/* Capacities that end within a tile or at its edge. */
static void capacities(void **state) {
    uint64_t n = test_size(700, 30011, 300007), i;
    (void)state;
    for (i = 0; i < 16; i++) {
        const uint64_t rooms[] = {1, 2, 31, n / 2 - 1, n / 2, n / 2 + 1, n - 1, n, n + 1, UINT64_MAX};
        run_case c = some_runs(n, i % 2 ? RUNS_OF_ONE : RUNS_SHORT);
        c.capacity = i < 10 ? rooms[i] : 1 + test_below(n);
        c.dispatch = 1;
        if (i < 4 && !test.is_small)
            test_all_strategies(&runs, &c);
        else
            check_next(&c);
    }
}

static void device_counts(void **state) {
    uint64_t n = test_size(600, 20003, 200003), i;
    (void)state;
    for (i = 0; i < 18; i++) {
        const uint64_t counts[] = {0, 1, 31, 32, 33, n / 2, n - 1, n, n + 1};
        run_case c = some_runs(n, i % 3 == 0 ? RUNS_ONE : RUNS_SHORT);
        c.count_type = i % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
        c.device_count = counts[i / 2] + (i % 2 && counts[i / 2] > n ? UINT64_C(1) << 40 : 0);
        c.dispatch = 1;
        if (i < 4 && !test.is_small)
            test_all_strategies(&runs, &c);
        else
            check_next(&c);
    }
}

static void dispatches(void **state) {
    size_t i;
    (void)state;
    for (i = 0; i < TALLY_CASES; i++) {
        run_case c = some_runs(tally_cases[i].count, RUNS_OF_ONE);
        c.dispatch = 1;
        c.items = tally_cases[i].items;
        c.limit = tally_cases[i].limit;
        c.tally = i % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.tally_offset = i % 5;
        check_next(&c);
        c.count += 100; /* dispatches count the runs that are stored */
        c.capacity = tally_cases[i].count ? tally_cases[i].count : 1;
        check_next(&c);
    }
}

/* ---- offsets, scratch, limits ------------------------------------------------------------------------------------ */

static void offsets(void **state) {
    uint64_t i;
    (void)state;
    for (i = 0; i < test_size(6, 40, 400); i++) {
        run_case c = some_runs(1 + test_below(test_size(400, 9000, 9000)), (run_lengths)test_below(RUNS_COUNT));
        c.keys_offset = test_below(20);
        c.out_offset = test_below(20);
        c.src_offset = test_below(20);
        c.tally_offset = test_below(20);
        check_next(&c);
    }
}

/* The caller's scratch, full of garbage, and events. */
static void scratch_and_events(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 8; i++) {
        run_case c = some_runs(test_size(500, 50021, 500009), RUNS_SHORT);
        c.scratch = (test_scratch_choice)(1 + i % 2);
        c.events = i / 2 % 2;
        check_next(&c);
    }
}

/* Sums of floats keep more data between passes than their state: any number of parts, scratch at an offset. */
static void scratch_of_float_sums(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64};
    gpuscan_limits            limits;
    uint64_t                  n, step = test_size(1777, 119, 119);
    int                       t, s;
    (void)state;
    if (test.whole)
        skip();
    memset(&limits, 0, sizeof limits);
    limits.work_group_size = 64;
    for (t = 0; t < 2 && test_has_type(types[t]); t++)
        for (s = GPUSCAN_STRATEGY_MULTI_PASS; s <= GPUSCAN_STRATEGY_CPU_MULTI_PASS;
             s += GPUSCAN_STRATEGY_CPU_MULTI_PASS - GPUSCAN_STRATEGY_MULTI_PASS) {
            test_limit(&limits);
            test.gs->device.units = 64;
            test.gs->device.profile.cpu.chunk = 1024;
            for (n = 250; n < 9000; n += step) {
                run_case c = some_runs(n, RUNS_SHORT);
                c.starts = c.lengths_out = 0;
                c.src_type = c.dst_type = types[t];
                c.scratch = SCRATCH_REST;
                test_one_strategy(&runs, &c, (gpuscan_strategy)s);
            }
        }
}

/* Chunks, groups and local memory of other sizes, lanes, no atomics of 64 bits. */
static const gpuscan_limits limit_cases[] = {{1, 0, 0, 0},    {8, 0, 0, 0},
                                             {0, 2048, 0, 0}, {0, 0, GPUSCAN_WITHOUT_INT64_ATOMICS, 0},
                                             {0, 0, 0, 8},    {0, 0, 0, 32},
                                             {0, 0, 0, 64},   {0, 700, 0, 16}};

static void limits(void **state) {
    size_t i;
    (void)state;
    for (i = 0; i < sizeof limit_cases / sizeof limit_cases[0]; i++) {
        run_case c = some_runs(test_size(300, 20011, 100003), RUNS_BLOCKS);
        int      strategy = GPUSCAN_STRATEGY_MULTI_PASS + (int)((test.seed + i) % 3);
        if (!test_share(i, 6) || (limit_cases[i].lanes && (test.info.has_lanes || test.whole)))
            continue;
        test_limit(&limit_cases[i]);
        test_strategies(&runs, &c, strategy, strategy);
    }
}

/* ---- the single pass --------------------------------------------------------------------------------------------- */

/* Tiles that never publish, or late, and groups that begin in the wrong order: the groups that wait combine the tiles.
   Also under limits. */
static void silent_and_late_tiles(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                  GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    uint32_t polls, chunk;
    size_t   t, s, l;
    (void)state;
    for (t = 0; t < LATE_CASES; t++)
        for (s = 0; s < 3; s++) {
            run_case c = some_runs(test_size(900, 50021, 500009), t == 2 ? RUNS_SHORT : RUNS_BLOCKS);
            if (test_is_refused(strategies[s]) || !test_share(t + 3 * s + 2, 2))
                continue;
            l = (t * 3 + s + test.seed) % (sizeof limit_cases / sizeof limit_cases[0]);
            if (t == 1 && !(limit_cases[l].lanes && (test.info.has_lanes || test.whole)))
                test_limit(&limit_cases[l]);
            polls = test.gs->device.profile.facts.polls;
            chunk = test.gs->device.profile.cpu.chunk;
            test.gs->device.profile.facts.polls = 3;
            test.gs->device.profile.cpu.chunk = 4096;
            c.custom = &op_seven_sum; /* puts a custom text into the program */
            c.source = late_cases[t].text;
            c.device_count = c.count - c.count / 5;
            c.count_type = t == 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
            if (test_strategies(&runs, &c, (int)strategies[s], (int)strategies[s]) && (t < 3 || s < 2))
                test_uses_hook(test.gs, late_cases[t].hook); /* CPUs draw in order */
            test.gs->device.profile.facts.polls = polls;
            test.gs->device.profile.cpu.chunk = chunk;
        }
}

/* Reduces 50,000 f64 (f32 if there is none) whose sums round, up to 200 times: the bits must be the same. */
static void same_bits(void **state) {
    enum { N = 50000 };
    gpuscan_type      type = test_has_type(GPUSCAN_TYPE_F64) ? GPUSCAN_TYPE_F64 : GPUSCAN_TYPE_F32;
    size_t            size = ref_size(type);
    test_buffer       keys = test_buffer_new(CL_MEM_READ_ONLY, 1, N), src = test_buffer_new(CL_MEM_READ_ONLY, size, N);
    test_buffer       dst = test_buffer_new(CL_MEM_READ_WRITE, size, 2);
    unsigned char    *zeros = (unsigned char *)test_alloc(N), *data = (unsigned char *)test_alloc(N * size), first[16];
    gpuscan_runs_desc d;
    uint64_t          i;
    int               s, k, ran = 0;
    (void)state;
    memset(zeros, 0, N);
    zeros[N - 1] = 1;
    for (i = 0; i < N; i++)
        ref_store(type, data, i, ref_real(0.1 + (double)(i % 7) / 3));
    test_buffer_set(&keys, 0, N, zeros);
    test_buffer_set(&src, 0, N, data);
    for (k = 1; k < GPUSCAN_STRATEGY_COUNT && (!ran || test.share == 1); k++) { /* each builds a program */
        s = (int)test_next_strategy();
        test_case("the same bits, %s", test_strategy_name((gpuscan_strategy)s));
        for (i = 0; i < test_size(3, 40, 200); i++) {
            test_buffer_set(&dst, 0, 2, NULL);
            memset(&d, 0, sizeof d);
            d.keys = keys.at;
            d.key_type = GPUSCAN_TYPE_U8;
            d.count = N;
            d.src = src.at;
            d.src_type = type;
            d.dst = dst.at;
            d.capacity = 2;
            d.call.strategy = (gpuscan_strategy)s;
            if (!test_runs_ran(&d))
                break;
            ran = 1;
            if (i == 0)
                memcpy(first, test_buffer_get(&dst), 2 * size);
            test_same_bytes(test_buffer_get(&dst), first, size, 2);
        }
    }
    test_buffer_free(&keys);
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(zeros);
    free(data);
}

/* Two queues, one out of order, that share the object's scratch. */
static void queues(void **state) {
    enum { CALLS = 6 };
    uint32_t         n = (uint32_t)test_size(700, 100003, 1000003), i, k;
    uint32_t        *keys = (uint32_t *)test_alloc(n * 4), *wanted = (uint32_t *)test_alloc(n * 4);
    cl_command_queue own[2];
    cl_event         done[CALLS];
    test_buffer      from, to[CALLS];
    (void)state;
    test_case("runs in two queues");
    own[0] = test_queue_new(0);
    own[1] = test_queue_new(test_has_unordered() ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    for (i = 0; i < n; i++)
        keys[i] = i && test_below(3) ? keys[i - 1] : (uint32_t)test_random();
    from = test_buffer_new(CL_MEM_READ_ONLY, 4, n);
    test_buffer_set(&from, 0, n, keys);
    for (k = 0; k < CALLS; k++) {
        gpuscan_runs_desc d;
        memset(&d, 0, sizeof d);
        to[k] = test_buffer_new(CL_MEM_READ_WRITE, 4, n + 1);
        test_buffer_set(&to[k], 0, n + 1, NULL);
        d.keys = from.at;
        d.count = n - k;
        d.lengths = to[k].at;
        d.runs.count.mem = to[k].at.mem;
        d.runs.count.offset = n;
        d.call.queue = own[k % 2];
        d.call.event = &done[k];
        test_ok(gpuscan_runs(test.gs, &d));
        test_cl(clFlush(own[k % 2]));
    }
    test_cl(clWaitForEvents(CALLS, done));
    for (k = 0; k < CALLS; k++) {
        uint32_t *got = (uint32_t *)test_buffer_get(&to[k]), found = 0;
        for (i = 0; i < n - k; i++) {
            if (i == 0 || keys[i] != keys[i - 1])
                wanted[found++] = 0;
            wanted[found - 1]++;
        }
        test_same_bytes(got, wanted, 4, found);
        assert_int_equal(got[n], found);
        clReleaseEvent(done[k]);
        test_buffer_free(&to[k]);
    }
    test_buffer_free(&from);
    clReleaseCommandQueue(own[0]);
    clReleaseCommandQueue(own[1]);
    free(keys);
    free(wanted);
}

/* ---- keys of a custom type --------------------------------------------------------------------------------------- */

/* custom->equal is asked about keys alone, never about memory that holds none: it says so on stdout. */
static void equal_sees_keys(void **state) {
    static const gpuscan_custom tagged = {
        "typedef struct { uint tag, key; } tagged;\n"
        "int same(tagged a, tagged b) {\n"
        "    if (a.tag != 77 || b.tag != 77) printf(\"this is no key\\n\");\n"
        "    return a.key == b.key; }\n",
        "tagged", 8, NULL, NULL, NULL, NULL, "same(a, b)", NULL};
    static const gpuscan_strategy strategies[] = {
        GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_SINGLE_PASS,
        GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    uint32_t          keys[2 * 1000], firsts[2 * 1000];
    uint64_t          n, i, found = 0;
    gpuscan_runs_desc d;
    size_t            s;
    FILE             *said = tmpfile();
    int               out;
    (void)state;
    assert_non_null(said);
    for (i = 0; i < 1000; i++) {
        keys[2 * i] = 77;
        keys[2 * i + 1] = (uint32_t)i / 3;
    }
    memset(&d, 0, sizeof d);
    d.key_type = GPUSCAN_TYPE_CUSTOM;
    d.custom = &tagged;
    for (s = 0; s < sizeof strategies / sizeof *strategies; s++)
        for (n = 5; n <= 1000; n += 995) {
            gpuscan_result r;
            test_case("runs of %u custom keys, strategy %d", (unsigned)n, (int)strategies[s]);
            d.call.strategy = strategies[s];
            if (test_is_refused(strategies[s]))
                continue;
            fflush(stdout);
            out = dup(1);
            dup2(fileno(said), 1);
            r = gpuscan_runs_host(test.gs, keys, firsts, n, &found, &d);
            fflush(stdout);
            dup2(out, 1);
            close(out);
            test_ok(r);
            assert_int_equal(found, (n + 2) / 3);
            assert_int_equal(fseek(said, 0, SEEK_END), 0);
            assert_int_equal(ftell(said), 0);
        }
    fclose(said);
}

/* ---- host arrays ------------------------------------------------------------------------------------------------- */

static void host_arrays(void **state) {
    static const gpuscan_custom plus_value = {
        "struct values { uint more; };", NULL, 0, NULL, NULL, "x + values->more", NULL, NULL, NULL};
    enum { N = 3000 };
    static uint16_t   keys[N], firsts[N];
    static float      src[N], sums[N];
    static uint64_t   starts[N], lengths[N];
    gpuscan_runs_desc d;
    uint64_t          i, r, found, counts[] = {0, 1, 2, 64, N};
    size_t            k;
    (void)state;
    for (k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        uint64_t n = counts[k];
        test_case("runs of host arrays of %" PRIu64, n);
        for (i = 0; i < n; i++) {
            keys[i] = (uint16_t)(i && test_below(4) ? keys[i - 1] : test_random());
            src[i] = (float)test_below(50);
        }
        memset(&d, 0, sizeof d);
        d.key_type = GPUSCAN_TYPE_U16;
        d.index_type = GPUSCAN_TYPE_U64;
        d.src_type = GPUSCAN_TYPE_F32;
        d.host_src = src;
        d.host_dst = sums;
        d.host_starts = starts;
        d.host_lengths = lengths;
        found = 77;
        test_ok(gpuscan_runs_host(test.gs, keys, firsts, n, &found, &d));
        for (i = r = 0; i < n; r++) {
            float    sum = 0;
            uint64_t first = i;
            do
                sum += src[i++];
            while (i < n && keys[i] == keys[i - 1]);
            if (firsts[r] != keys[first] || starts[r] != first || lengths[r] != i - first || sums[r] < sum ||
                sums[r] > sum)
                fail_msg("%s: run %" PRIu64 " at %" PRIu64, test.what, r, first);
        }
        assert_int_equal(found, r);
        if (n > 2) { /* an expression that sees the call's values */
            uint32_t more = 5;
            float    first = sums[0];
            d.custom = &plus_value;
            d.call.values = &more;
            d.call.values_size = sizeof more;
            test_ok(gpuscan_runs_host(test.gs, keys, firsts, n, &found, &d));
            assert_int_equal(sums[0], first + 5 * (float)lengths[0]);
        }
        if (n == 0) { /* an empty call without buffers, but with values */
            uint32_t          more = 5;
            gpuscan_runs_desc empty = d;
            empty.host_src = NULL;
            empty.host_dst = empty.host_starts = empty.host_lengths = NULL;
            empty.custom = &plus_value;
            empty.call.values = &more;
            empty.call.values_size = sizeof more;
            found = 77;
            test_ok(gpuscan_runs_host(test.gs, NULL, NULL, n, &found, &empty));
            assert_int_equal(found, 0);
        }
        d.custom = NULL;
        d.call.values = NULL;
        d.call.values_size = 0;
        d.host_src = NULL; /* only the count of runs */
        d.host_dst = d.host_starts = d.host_lengths = NULL;
        found = 77;
        test_ok(gpuscan_runs_host(test.gs, keys, NULL, n, &found, &d));
        assert_int_equal(found, r);
        d.count = 1;
        test_expect(gpuscan_runs_host(test.gs, keys, NULL, n, &found, &d), GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_length),   TEST(edges),              TEST(large_by_all_strategies), TEST(keys_of_all_types),
        TEST(keys_of_a_byte), TEST(structs),            TEST(outputs),                 TEST(payloads),
        TEST(reductions),     TEST(conversions),        TEST(custom_operators),        TEST(keys_as_elements),
        TEST(tally_alone),    TEST(capacities),         TEST(device_counts),           TEST(dispatches),
        TEST(offsets),        TEST(scratch_and_events), TEST(scratch_of_float_sums),   TEST(limits),
        TEST(same_bits),      TEST(silent_and_late_tiles), TEST(queues),               TEST(equal_sees_keys),
        TEST(host_arrays),    TEST(aligned_results)};
    test_select();
    return cmocka_run_group_tests_name("runs", tests, test_open, test_close);
}
