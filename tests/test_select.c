/* gpuscan_select and gpuscan_select_host against a loop. Races show only in wrong results, or in a simulator.
      cc -O2 tests/test_select.c -o build/test_select -lcmocka -lOpenCL -lm && build/test_select */
#include "selections.h"

/* Checks a case with the strategy whose turn it is, or with AUTO if that is refused. */
static void check_next(const selection_case *c) {
    test_one_strategy(&selections, c, test_next_strategy());
}

/* Returns a u32 selection with its indices, by flags, bits or a predicate. Most tests use these: each other shape is
   another program for each strategy. */
static selection_case plain(uint64_t count, selection_density density, uint64_t by) {
    selection_case c = a_selection(GPUSCAN_TYPE_U32, count, density);
    c.by = (gpuscan_select_by)(by % 3);
    c.index_type = GPUSCAN_TYPE_U32;
    return c;
}

static const gpuscan_type flag_types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};

/* ---- densities --------------------------------------------------------------------------------------------------- */

static void every_length(void **state) {
    uint64_t n, last = test_size(200, 2100, 4100);
    (void)state;
    for (n = 0; n <= last; n += n < 70 || n % 32 == 31 || n % 32 == 0 ? 1 : test_size(37, 15, 1)) {
        selection_case c = plain(n, (selection_density)(n % KEEP_COUNT), n / KEEP_COUNT);
        if (n < 70)
            test_all_strategies(&selections, &c);
        else
            check_next(&c);
    }
}

/* Counts near the sizes of tiles and parts. Selects none, all, only the first or last, or blocks that end at tiles. */
static void edges_and_densities(void **state) {
    uint64_t k, top = test_size(11, 20, 24);
    int      off, density, by;
    (void)state;
    for (by = 0; by < 3; by++)
        for (k = 7; k <= top; k += 1 + k / 12)
            for (off = -1; off <= 1; off++)
                for (density = (int)(k + (uint64_t)(off + by + 1)) % 3; density < KEEP_COUNT; density += 3) {
                    selection_case c = plain((UINT64_C(1) << k) + (uint64_t)(int64_t)off, (selection_density)density,
                                             (uint64_t)by);
                    check_next(&c);
                }
}

static void large_by_all_strategies(void **state) {
    int by;
    (void)state;
    for (by = 0; by < 3; by++) {
        selection_case c = plain(test_size(3001, 1234567, 54321098), KEEP_BLOCKS, (uint64_t)by);
        test_all_strategies(&selections, &c);
    }
}

/* ---- types and sizes --------------------------------------------------------------------------------------------- */

/* A predicate on each type, and on the index alone. */
static void predicates(void **state) {
    unsigned type;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS) {
        selection_case c = a_selection((gpuscan_type)type, test_size(300, 9001, 90001), KEEP_HALF);
        if (!test_has_type((gpuscan_type)type))
            continue;
        c.by = GPUSCAN_SELECT_PREDICATE;
        c.invert = type % 2;
        c.by_index = type % 5 == 2;
        if (test_share(type, 4))
            check_next(&c);
    }
}

static void structs(void **state) {
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 31, 32, 48, 64, 100, 128, 1000, 1024};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        selection_case c = a_selection(GPUSCAN_TYPE_U32, test_size(200, 3001, 30001), (selection_density)(i % 2 * 9));
        c.custom_size = sizes[i];
        c.by = (gpuscan_select_by)((i + test.seed) % 3);
        c.payloads = 2;
        c.sizes[0] = sizes[(i + 7) % (sizeof sizes / sizeof sizes[0])];
        c.sizes[1] = sizes[(i + 12) % (sizeof sizes / sizeof sizes[0])];
        c.payload_offset = i % 4;
        if (test_share(i, 7))
            check_next(&c);
    }
}

static void flags_of_all_types(void **state) {
    unsigned f, type;
    (void)state;
    for (f = 0; f < 4; f++)
        for (type = GPUSCAN_TYPE_I8; type <= GPUSCAN_TYPE_F64; type++) {
            selection_case c = a_selection((gpuscan_type)type, test_size(500, 10007, 100003), KEEP_BLOCKS);
            c.flag_type = flag_types[f];
            c.flags_are_src = ref_size((gpuscan_type)type) == ref_size(flag_types[f]);
            c.invert = (int)(type + f) % 3 == 0;
            if (test_share(type + 3 * f, c.flags_are_src ? 5 : 20)) /* f64 moves as bytes on every device */
                check_next(&c);
        }
}

/* Elements that are their own flags: they are listed themselves. Small ones are stored in words, wherever they lie. */
static void small_own_flags(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 8; i++) {
        selection_case c = a_selection(i % 2 ? GPUSCAN_TYPE_U16 : GPUSCAN_TYPE_U8, test_size(700, 20011, 100003),
                                       (selection_density)(i / 2 % 2 * 9));
        c.flag_type = c.type;
        c.flags_are_src = 1;
        c.in_place = i % 3 == 0;
        c.src_offset = i * 3;
        c.dst_offset = i;
        c.capacity = i % 4 == 3 ? c.count / 3 : 0;
        if (test_share(i, 2))
            check_next(&c);
    }
}

/* Large elements: several groups store a tile, in a single pass. */
static void large_elements(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 4; i++) {
        selection_case c = a_selection(GPUSCAN_TYPE_U32, test_size(300, 5003, 20011), KEEP_HALF);
        c.custom_size = 1000;
        c.by = i % 2 ? GPUSCAN_SELECT_BITS : GPUSCAN_SELECT_FLAGS;
        c.payloads = i / 2;
        c.sizes[0] = 300;
        c.index_type = i / 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
        c.in_place = i == 1;
        if (test_share(i, 2))
            test_one_strategy(&selections, &c, GPUSCAN_STRATEGY_SINGLE_PASS);
    }
}

/* No payload up to eight, with and without dst and indices. */
static void payloads(void **state) {
    uint32_t k, i;
    (void)state;
    for (k = 0; k <= GPUSCAN_MAX_PAYLOADS; k++) {
        selection_case c = a_selection(GPUSCAN_TYPE_U64, test_size(300, 20011, 200003), KEEP_HALF);
        c.payloads = k;
        for (i = 0; i < k; i++)
            c.sizes[i] = (uint32_t)(1 + test_below(i % 3 == 0 ? 40 : 9));
        c.no_dst = k % 3 == 1;
        c.index_type = k % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.by = (gpuscan_select_by)(k % 3);
        c.tally = k % 4 == 3 ? GPUSCAN_TYPE_DEFAULT : GPUSCAN_TYPE_U64;
        if (test_share(k, 3) || k == GPUSCAN_MAX_PAYLOADS)
            check_next(&c);
    }
}

/* Only the count is requested. */
static void tally_alone(void **state) {
    int by;
    (void)state;
    for (by = 0; by < 3; by++) {
        selection_case c = a_selection(GPUSCAN_TYPE_U32, test_size(400, 70001, 700001), KEEP_HALF);
        c.by = (gpuscan_select_by)by;
        c.no_dst = 1;
        c.dispatch = 1;
        if (!test_share((uint64_t)by, 3))
            continue;
        check_next(&c);
        c.count = 0;
        check_next(&c);
    }
}

/* Checks that a call prepared with the tally as its only output needs nothing more. */
static void prepared_tally(void **state) {
    test_buffer         flags = test_buffer_new(CL_MEM_READ_ONLY, 1, 5000), tally;
    gpuscan             *whole = test.gs;
    gpuscan_desc        desc;
    gpuscan_select_desc d;
    unsigned char       ones[5000];
    unsigned            programs;
    cl_uint             kept = 0;
    (void)state;
    test_case("a tally alone, prepared");
    memset(ones, 1, sizeof ones);
    test_buffer_set(&flags, 0, sizeof ones, ones);
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.queue = test.queue;
    test_expect(gpuscan_create(&test.gs, &desc), GPUSCAN_SUCCESS);
    tally = test_buffer_new(CL_MEM_READ_WRITE, 4, 1);
    memset(&d, 0, sizeof d);
    d.count = 5000;
    d.selected.count = tally.at;
    test_ok(gpuscan_select_prepare(test.gs, &d));
    programs = test_programs(test.gs);
    d.flags = flags.at;
    test_ok(gpuscan_select(test.gs, &d));
    assert_int_equal(test_programs(test.gs), programs);
    test_cl(clEnqueueReadBuffer(test.queue, tally.at.mem, CL_TRUE, 0, sizeof kept, &kept, 0, NULL, NULL));
    assert_int_equal(kept, sizeof ones);
    test_destroy(test.gs);
    test.gs = whole;
    test_buffer_free(&flags);
    test_buffer_free(&tally);
}

/* ---- capacity, counts, dispatches -------------------------------------------------------------------------------- */

/* Capacities that end within a tile or at its edge: before the first, at the last selected element and beside it. */
static void capacities(void **state) {
    uint64_t n = test_size(700, 30011, 300007), i;
    (void)state;
    for (i = 0; i < 16; i++) {
        const uint64_t rooms[] = {1, 2, 31, n / 2 - 1, n / 2, n / 2 + 1, n - 1, n, n + 1, UINT64_MAX};
        selection_case c = plain(n, i % 2 ? KEEP_ALL : KEEP_ENDS, i);
        c.capacity = i < 10 ? rooms[i] : 1 + test_below(n);
        c.density = i < 10 ? c.density : KEEP_MOST;
        c.dispatch = 1;
        if (i < 4 && !test.is_small)
            test_all_strategies(&selections, &c);
        else
            check_next(&c);
    }
}

static void device_counts(void **state) {
    uint64_t n = test_size(600, 20003, 200003), i;
    (void)state;
    for (i = 0; i < 18; i++) {
        const uint64_t counts[] = {0, 1, 31, 32, 33, n / 2, n - 1, n, n + 1};
        selection_case c = plain(n, i % 3 == 0 ? KEEP_ALL : KEEP_HALF, i + i / 3);
        c.count_type = i % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
        c.device_count = counts[i / 2] + (i % 2 && counts[i / 2] > n ? UINT64_C(1) << 40 : 0);
        c.dispatch = 1;
        if (i < 4 && !test.is_small)
            test_all_strategies(&selections, &c);
        else
            check_next(&c);
    }
}

static void dispatches(void **state) {
    size_t i;
    (void)state;
    for (i = 0; i < TALLY_CASES; i++) {
        selection_case c = plain(tally_cases[i].count, KEEP_ALL, i);
        c.dispatch = 1;
        c.items = tally_cases[i].items;
        c.limit = tally_cases[i].limit;
        c.tally = i % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
        c.tally_offset = i % 5;
        check_next(&c);
        c.count += 100; /* dispatches count the elements that are stored */
        c.capacity = tally_cases[i].count ? tally_cases[i].count : 1;
        check_next(&c);
    }
}

/* ---- offsets, scratch, limits ------------------------------------------------------------------------------------ */

static void offsets(void **state) {
    uint64_t i;
    (void)state;
    for (i = 0; i < test_size(6, 40, 400); i++) {
        selection_case c = plain(1 + test_below(test_size(400, 9000, 9000)), (selection_density)test_below(KEEP_COUNT),
                                 i);
        c.src_offset = test_below(20);
        c.dst_offset = test_below(20);
        c.flags_offset = test_below(20);
        c.index_offset = test_below(20);
        c.payload_offset = test_below(20);
        c.tally_offset = test_below(20);
        check_next(&c);
    }
}

static void in_place(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 24; i++) {
        selection_case c = a_selection(GPUSCAN_TYPE_U32, test_size(500, 30013, 300007),
                                       (selection_density)((i * 7 + 1) % KEEP_COUNT));
        c.by = (gpuscan_select_by)(i % 3);
        c.flags_are_src = c.by == GPUSCAN_SELECT_FLAGS && i % 2;
        c.flag_type = c.flags_are_src ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
        c.in_place = i % 4 != 1;
        c.src_offset = i % 5;
        c.payloads = i % 4 ? 2 : 0;
        c.sizes[0] = 4;
        c.sizes[1] = 20;
        c.payloads_in_place = (int)(i % 4);
        c.index_type = i % 3 ? GPUSCAN_TYPE_DEFAULT : GPUSCAN_TYPE_U32;
        c.scratch = (test_scratch_choice)(i % 3);
        c.capacity = i % 5 == 4 ? c.count / 3 : 0;
        if (test_share(i, 4))
            check_next(&c);
    }
}

/* dst in place of the flags, which differ from src. */
static void over_the_flags(void **state) {
    enum { N = 5000 };
    uint32_t            *src = (uint32_t *)test_alloc(N * 4), *flags = (uint32_t *)test_alloc(N * 4);
    uint32_t             wanted[N], i, kept;
    test_buffer          from, over;
    gpuscan_select_desc  d;
    int                  s;
    (void)state;
    from = test_buffer_new(CL_MEM_READ_ONLY, 4, N);
    over = test_buffer_new(CL_MEM_READ_WRITE, 4, N);
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        if (!test_share((uint64_t)s, 3))
            continue;
        test_case("dst over the flags, %s", test_strategy_name((gpuscan_strategy)s));
        test_random_bytes(src, N * 4);
        for (i = kept = 0; i < N; i++) {
            flags[i] = test_below(3) ? UINT32_C(0x80000000) : 0;
            if (flags[i])
                wanted[kept++] = src[i];
        }
        memcpy(wanted + kept, flags + kept, (N - kept) * 4);
        test_buffer_set(&from, 1, N, src);
        test_buffer_set(&over, 2, N, flags);
        memset(&d, 0, sizeof d);
        d.src = from.at;
        d.dst = d.flags = over.at;
        d.flag_type = GPUSCAN_TYPE_U32;
        d.count = N;
        d.call.strategy = (gpuscan_strategy)s;
        if (test_select_ran(&d))
            test_same_bytes(test_buffer_get(&over), wanted, 4, N);
    }
    test_buffer_free(&from);
    test_buffer_free(&over);
    free(src);
    free(flags);
}

/* The caller's scratch, full of garbage, and events. The size from scratch_size suffices, also in place. */
static void scratch_and_events(void **state) {
    unsigned i;
    (void)state;
    for (i = 0; i < 12; i++) {
        selection_case c = plain(test_size(500, 50021, 500009), KEEP_HALF, i / 2);
        c.scratch = (test_scratch_choice)(1 + i % 2);
        c.events = i / 2 % 2;
        check_next(&c);
    }
}

/* Chunks, groups and local memory of other sizes, lanes, no atomics of 64 bits. */
static void limits(void **state) {
    static const gpuscan_limits cases[] = {{1, 0, 0, 0},    {8, 0, 0, 0},
                                           {0, 2048, 0, 0}, {0, 0, GPUSCAN_WITHOUT_INT64_ATOMICS, 0},
                                           {0, 0, 0, 8},    {0, 0, 0, 32},
                                           {0, 0, 0, 64},   {0, 700, 0, 16}};
    size_t i;
    int    by;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!test_share(i, 4) || (cases[i].lanes && (test.info.has_lanes || test.whole)))
            continue;
        test_limit(&cases[i]);
        for (by = 0; by < 3; by++) {
            selection_case c = plain(test_size(300, 20011, 100003), KEEP_HALF, (uint64_t)by);
            int            strategy = GPUSCAN_STRATEGY_MULTI_PASS + (int)((test.seed + (uint64_t)by) % 3);
            test_strategies(&selections, &c, strategy, strategy);
        }
    }
}

/* ---- the single pass --------------------------------------------------------------------------------------------- */

/* Tiles that never publish, or late, and groups that begin in the wrong order: groups that wait count these tiles. */
static void silent_and_late_tiles(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                  GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    uint32_t polls = test.gs->device.profile.facts.polls, chunk = test.gs->device.profile.cpu.chunk;
    size_t   t, s;
    (void)state;
    test.gs->device.profile.facts.polls = 3;
    test.gs->device.profile.cpu.chunk = 4096;
    for (t = 0; t < LATE_CASES; t++)
        for (s = 0; s < 3; s++) {
            if (test_is_refused(strategies[s]) || !test_share(t + s, 3))
                continue;
            selection_case c = a_selection(t == 1 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32, test_size(900, 50021, 500009),
                                           KEEP_BLOCKS);
            c.by = GPUSCAN_SELECT_PREDICATE;
            c.source = late_cases[t].text;
            c.index_type = GPUSCAN_TYPE_U32;
            c.device_count = c.count - c.count / 5;
            c.count_type = t == 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
            if (test_strategies(&selections, &c, (int)strategies[s], (int)strategies[s]) && (t < 3 || s < 2))
                test_uses_hook(test.gs, late_cases[t].hook); /* CPUs draw in order */
        }
    test.gs->device.profile.facts.polls = polls;
    test.gs->device.profile.cpu.chunk = chunk;
}

/* Tiles that never publish, under limits: recounting then uses other words, groups and lanes. */
static void silent_tiles_under_limits(void **state) {
    static const gpuscan_limits cases[] = {{1, 0, 0, 0},
                                           {8, 0, 0, 0},
                                           {0, 2048, 0, 0},
                                           {0, 0, GPUSCAN_WITHOUT_INT64_ATOMICS, 0},
                                           {0, 0, 0, 8},
                                           {0, 0, 0, 32},
                                           {0, 0, 0, 64},
                                           {0, 700, 0, 16}};
    uint32_t polls = test.gs->device.profile.facts.polls;
    size_t i;
    int    s;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (!test_share(i, 4) || (cases[i].lanes && (test.info.has_lanes || test.whole)))
            continue;
        test_limit(&cases[i]);
        polls = test.gs->device.profile.facts.polls;
        test.gs->device.profile.facts.polls = 3;
        for (s = GPUSCAN_STRATEGY_SINGLE_PASS; s <= GPUSCAN_STRATEGY_CPU_SINGLE_PASS; s++) {
            selection_case c = a_selection(GPUSCAN_TYPE_U32, test_size(300, 20011, 100003), KEEP_BLOCKS);
            c.by = GPUSCAN_SELECT_PREDICATE;
            c.source = late_cases[0].text;
            c.index_type = GPUSCAN_TYPE_U32;
            if (test_is_single_pass((gpuscan_strategy)s) && test_strategies(&selections, &c, s, s))
                test_uses_hook(test.gs, "SILENT");
        }
        test.gs->device.profile.facts.polls = polls;
    }
}

/* Two queues, and one out of order, that share the object's scratch. */
static void queues(void **state) {
    enum { CALLS = 6 };
    uint32_t         n = (uint32_t)test_size(700, 100003, 1000003), i, k;
    uint32_t        *src = (uint32_t *)test_alloc(n * 4), *wanted = (uint32_t *)test_alloc(n * 4), kept[CALLS];
    cl_command_queue own[2];
    cl_event         done[CALLS];
    test_buffer      from, to[CALLS];
    (void)state;
    test_case("selections in two queues");
    own[0] = test_queue_new(0);
    own[1] = test_queue_new(test_has_unordered() ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    test_random_bytes(src, n * 4);
    from = test_buffer_new(CL_MEM_READ_ONLY, 4, n);
    test_buffer_set(&from, 0, n, src);
    for (k = 0; k < CALLS; k++) {
        gpuscan_select_desc d;
        memset(&d, 0, sizeof d);
        to[k] = test_buffer_new(CL_MEM_READ_WRITE, 4, n + 1);
        test_buffer_set(&to[k], 0, n + 1, NULL);
        d.src = d.flags = from.at;
        d.by = GPUSCAN_SELECT_BITS;
        d.count = n - k; /* the first words of src are the bits */
        d.dst = to[k].at;
        d.selected.count.mem = to[k].at.mem;
        d.selected.count.offset = n;
        d.call.queue = own[k % 2];
        d.call.event = &done[k];
        test_ok(gpuscan_select(test.gs, &d));
        test_cl(clFlush(own[k % 2]));
    }
    test_cl(clWaitForEvents(CALLS, done));
    for (k = 0; k < CALLS; k++) {
        uint32_t *got = (uint32_t *)test_buffer_get(&to[k]);
        for (i = kept[k] = 0; i < n - k; i++)
            if (src[i / 32] >> i % 32 & 1)
                wanted[kept[k]++] = src[i];
        test_same_bytes(got, wanted, 4, kept[k]);
        assert_int_equal(got[n], kept[k]);
        clReleaseEvent(done[k]);
        test_buffer_free(&to[k]);
    }
    test_buffer_free(&from);
    clReleaseCommandQueue(own[0]);
    clReleaseCommandQueue(own[1]);
    free(src);
    free(wanted);
}

/* The most bits that 32-bit sums hold, all of them 1, even in the last word behind the count. */
static void full_words(void **state) {
    const uint64_t      words = UINT64_C(1) << 27, counts[] = {words * 32 - 31, words * 32 - 1};
    const cl_uint       ones = UINT32_MAX;
    test_buffer         tally;
    gpuscan_select_desc d;
    cl_int              code;
    int                 k;
    (void)state;
    if (test.is_small || words * 4 > test.largest_buffer || words * 4 > test.device_memory / 4)
        return;
    memset(&d, 0, sizeof d);
    d.flags.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)words * 4, NULL, &code);
    test_cl(code);
    test_cl(clEnqueueFillBuffer(test.queue, d.flags.mem, &ones, sizeof ones, 0, (size_t)words * 4, 0, NULL, NULL));
    tally = test_buffer_new(CL_MEM_READ_WRITE, 8, 1);
    d.by = GPUSCAN_SELECT_BITS;
    d.selected.count_type = GPUSCAN_TYPE_U64;
    for (k = 0; k < 2; k++) {
        test_case("%" PRIu64 " bits that are 1", counts[k]);
        test_buffer_set(&tally, 0, 1, NULL);
        d.selected.count = tally.at;
        d.count = counts[k];
        test_ok(gpuscan_select(test.gs, &d));
        if (*(uint64_t *)test_buffer_get(&tally) != counts[k])
            fail_msg("%s: %" PRIu64 " are kept", test.what, *(uint64_t *)test_buffer_get(&tally));
    }
    test_buffer_free(&tally);
    test_cl(clReleaseMemObject(d.flags.mem));
}

/* Counts above 2^32, but a small count on the device. By bits: only the first flags are read. */
static void large_counts(void **state) {
    uint64_t            count = (UINT64_C(1) << 32) + 100, live = test_size(700, 30011, 30011), i, kept = 0;
    test_buffer         flags, indices, tally, number;
    gpuscan_select_desc d;
    int                 s;
    (void)state;
    if (test.is_small || count / 8 + 4096 > test.largest_buffer || count / 8 > test.device_memory / 4)
        return;
    flags = test_buffer_new(CL_MEM_READ_WRITE, 4, count / 32 + 1);
    indices = test_buffer_new(CL_MEM_READ_WRITE, 8, live);
    tally = test_buffer_new(CL_MEM_READ_WRITE, 8, 1);
    number = test_count_buffer(GPUSCAN_TYPE_U64, live);
    test_random_bytes(flags.host, (size_t)live / 8 + 4);
    test_cl(clEnqueueWriteBuffer(test.queue, flags.at.mem, CL_TRUE, 0, (size_t)live / 8 + 4, flags.host, 0, NULL,
                                 NULL));
    memset(&d, 0, sizeof d);
    d.by = GPUSCAN_SELECT_BITS;
    d.flags.mem = flags.at.mem;
    d.count = count;
    d.capacity = live;
    d.index_type = GPUSCAN_TYPE_U64;
    d.selected.count_type = GPUSCAN_TYPE_U64;
    d.count_buffer = number.at;
    d.count_type = GPUSCAN_TYPE_U64;
    for (s = 1; s < GPUSCAN_STRATEGY_COUNT; s++) {
        uint64_t *got;
        if (s == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD && !test_takes_all_strategies())
            continue; /* a minute or more on a CPU: a group for each of the empty tiles */
        if (!test_share((uint64_t)s, 2))
            continue;
        test_case("indices of %" PRIu64 " of %" PRIu64 " bits, %s", live, count,
                  test_strategy_name((gpuscan_strategy)s));
        test_buffer_set(&indices, 3, live, NULL);
        test_buffer_set(&tally, 1, 1, NULL);
        d.indices = indices.at;
        d.selected.count = tally.at;
        d.call.strategy = (gpuscan_strategy)s;
        if (!test_select_ran(&d))
            continue;
        got = (uint64_t *)test_buffer_get(&indices);
        for (i = kept = 0; i < live; i++)
            if (flags.host[i / 8] >> i % 8 & 1 && got[kept++] != i)
                fail_msg("%s: index %" PRIu64 " is %" PRIu64, test.what, i, got[kept - 1]);
        if (*(uint64_t *)test_buffer_get(&tally) != kept)
            fail_msg("%s: %" PRIu64 " kept", test.what, kept);
    }
    test_buffer_free(&flags);
    test_buffer_free(&indices);
    test_buffer_free(&tally);
    test_buffer_free(&number);
}

/* ---- host arrays ------------------------------------------------------------------------------------------------- */

static void host_arrays(void **state) {
    static const gpuscan_custom above = {NULL, NULL, 0, NULL, NULL, NULL, "x > 2000000000u", NULL, NULL};
    uint32_t             n = (uint32_t)test_size(400, 10007, 100003), i, k, off;
    uint32_t            *src = (uint32_t *)test_alloc((n + 1) * 4), *dst = (uint32_t *)test_alloc((n + 1) * 4);
    uint32_t            *wanted = (uint32_t *)test_alloc(n * 4), *at = (uint32_t *)test_alloc(n * 4);
    unsigned char       *flags = (unsigned char *)test_alloc(n + 1);
    uint64_t             selected = 0;
    gpuscan_select_desc  d;
    (void)state;
    for (off = 0; off < 2; off++) {
        test_case("selections of host arrays, %u off", (unsigned)off);
        test_random_bytes(src, (n + 1) * 4);
        for (i = k = 0; i < n; i++) {
            flags[off + i] = (unsigned char)(test_below(2) * 7);
            if (flags[off + i]) {
                at[k] = i;
                wanted[k++] = src[off + i];
            }
        }
        memset(dst, 0xee, (n + 1) * 4);
        test_ok(gpuscan_select_host(test.gs, src + off, flags + off, dst, n, &selected, NULL));
        assert_int_equal(selected, k);
        test_same_bytes(dst, wanted, 4, k);
        assert_int_equal(dst[k], 0xeeeeeeee); /* nothing behind them */
        memset(&d, 0, sizeof d);
        d.host_indices = dst + off;
        test_ok(gpuscan_select_host(test.gs, NULL, flags + off, NULL, n, NULL, &d));
        test_same_bytes(dst + off, at, 4, k);
        memset(&d, 0, sizeof d);
        d.by = GPUSCAN_SELECT_PREDICATE;
        d.custom = &above;
        memcpy(dst, src, (n + 1) * 4);
        test_ok(gpuscan_select_host(test.gs, dst + off, NULL, dst + off, n, &selected, &d));
        for (i = k = 0; i < n; i++)
            if (src[off + i] > 2000000000u)
                wanted[k++] = src[off + i];
        assert_int_equal(selected, k);
        test_same_bytes(dst + off, wanted, 4, k);
        test_same_bytes(dst + off + k, src + off + k, 4, n - k); /* in place, the rest stays */
    }
    selected = 5;
    test_ok(gpuscan_select_host(test.gs, NULL, NULL, NULL, 0, &selected, NULL));
    assert_int_equal(selected, 0);
    free(src);
    free(dst);
    free(wanted);
    free(at);
    free(flags);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_length),  TEST(edges_and_densities),
                                       TEST(large_by_all_strategies), TEST(predicates),
                                       TEST(small_own_flags), TEST(large_elements),
                                       TEST(structs),       TEST(flags_of_all_types),
                                       TEST(payloads),      TEST(tally_alone),   TEST(prepared_tally),
                                       TEST(capacities),    TEST(device_counts),
                                       TEST(dispatches),    TEST(offsets),
                                       TEST(in_place),      TEST(over_the_flags),
                                       TEST(scratch_and_events), TEST(limits),
                                       TEST(silent_and_late_tiles), TEST(silent_tiles_under_limits), TEST(queues),
                                       TEST(large_counts),  TEST(full_words),    TEST(host_arrays)};
    test_select();
    return cmocka_run_group_tests_name("select", tests, test_open, test_close);
}
