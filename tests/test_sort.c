/* gpuscan_sort and gpuscan_sort_host against a stable sort on the host. Races show only in wrong results.
      cc -O2 tests/test_sort.c -o build/test_sort -lcmocka -lOpenCL -lm && build/test_sort */
static unsigned long long narrow = 0xffffffff; /* before all headers: the harness selects POSIX */
#define GPUSCAN__SORT_NARROW narrow
#include "sorts.h"

static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS,
                                              GPUSCAN_STRATEGY_SINGLE_PASS};
enum { STRATEGIES = 3 };

/* Returns a number for the program of a case, without its strategy: the keys' bits or kind of float, and the bytes of a
   value that moves with each key: 0, 4 or 8. */
static uint64_t program_of(const sort_case *c) {
    gpuscan_type type = c->custom ? sort_customs[c->custom - 1].key_type : c->type ? c->type : GPUSCAN_TYPE_U32;
    uint64_t     values = c->sizes[0] ? (c->sizes[0] == 8 && !c->sizes[1] ? 2 : 1) : 0;
    if (c->has_permutation || c->custom)
        values = 1;
    return (uint64_t)gpuscan__sort_type(type) + GPUSCAN_TYPE_COUNT * (values + 3 * (uint64_t)c->custom);
}

/* Returns whether a run checks a case with a strategy: keys of 32 bits with an index always; each other kind of key
   with an index, and 32 bits with other values, with one strategy; a share of the rest. */
static int belongs(const sort_case *c, unsigned strategy) {
    uint64_t  program = program_of(c);
    sort_case usual = a_sort(c->type, 0), u32 = a_sort(GPUSCAN_TYPE_U32, 0);
    int       is_own = strategy == (program + test.seed) % STRATEGIES;
    usual.has_permutation = u32.has_permutation = 1;
    if (test.is_small || test.share == 1 || program == program_of(&u32))
        return 1;
    if (!c->custom && is_own && (program == program_of(&usual) || gpuscan__sort_type(c->type) == GPUSCAN_TYPE_U32))
        return 1;
    return test_share(STRATEGIES * program + strategy, 1);
}

static void check_all(sort_case c) {
    unsigned s;
    for (s = 0; s < STRATEGIES; s++)
        if (belongs(&c, s))
            test_strategies(&sorts, &c, (int)strategies[s], (int)strategies[s]);
}

/* Checks a case with one strategy: the one whose turn it is, if the run includes it. */
static void check_next(sort_case c) {
    unsigned i, s = 0;
    for (i = 0; i < STRATEGIES && (i == 0 || !belongs(&c, s)); i++)
        s = test.turn++ % STRATEGIES;
    if (belongs(&c, s) && !test_strategies(&sorts, &c, (int)strategies[s], (int)strategies[s]))
        test_strategies(&sorts, &c, GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_AUTO);
}

/* Makes groups sort together in one launch, even of many tiles. alone: one group does not wait for the others, unless
   they run at once. */
static void together(int alone) {
    test.gs->device.profile.sort.group = 32;
    test.gs->device.profile.sort.together = 1u << 20;
    test.gs->device.units = 500;
    if (alone)
        test.gs->device.profile.facts.polls = 1;
}

/* Makes a CPU's sort take passes over parts of any size, mostly after trying buckets whose values mostly follow keys in
   blocks. Every second call of this function makes groups sort together. */
static void in_parts(void) {
    gpuscan_limits limits;
    memset(&limits, 0, sizeof limits);
    test_limit(&limits);
    if ((test.seed + test.turn++) % 2)
        together((int)test_below(2));
    test.gs->device.profile.cpu.sort_small = 0;
    test.gs->device.profile.cpu.sort_part = 1;
    test.gs->device.profile.cpu.sort_buckets = test_below(4) ? 1 : UINT32_MAX;
    if (test_below(4))
        test.gs->device.profile.cpu.sort_bucket = 1;
    if (test_below(2))
        test.gs->device.profile.cpu.sort_split = 1; /* buckets are divided once more */
}

/* Returns whether a run takes one of two forms, each of which builds several programs. A small share takes only one, by
   its seed. */
static int turn_of(int form) {
    return (unsigned)form % 2 == test.seed % 2 || test.is_small || test_share((uint64_t)form, 1);
}

static uint64_t tile(void) {
    return (uint64_t)test.gs->device.profile.sort.group * test.gs->device.profile.sort.vectors[0];
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void lengths(void **state) {
    const uint64_t t = tile();
    const uint64_t counts[] = {0,     1,         2,     3,        15,       16,   17,   31,   64,   97,   t - 1,
                               t,     t + 1,     2 * t, 3 * t - 1, 3 * t + 5, 1009, 1023, 1024, 1025, 2053, 4093};
    size_t         i;
    (void)state;
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        sort_case c = a_sort(GPUSCAN_TYPE_U32, counts[i]);
        c.has_permutation = 1;
        if (!test.is_small || counts[i] < 300)
            check_all(c);
    }
}

/* Counts that one group sorts with more or fewer rounds, one less and one more; with masks, and with equal digits. */
static void small_tiles(void **state) {
    static const uint64_t counts[] = {511,  512,  513,  1023, 1024, 1025, 2047, 2048, 2049, 2559, 2560, 2561,
                                      4095, 4096, 4097, 5119, 5120, 5121, 6143, 6144, 6145};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U8};
    static const sort_keys keys[] = {KEYS_RANDOM, KEYS_FEW, KEYS_SPECIAL};
    const size_t n = sizeof counts / sizeof counts[0];
    size_t i;
    (void)state;
    for (i = 0; i < n * 4 * 3 * 3; i++) {
        sort_case c = a_sort(types[i / n % 4], counts[i % n]);
        c.sizes[0] = (uint32_t)(i / n / 4 % 3 * 4);
        c.keys = keys[i / n / 4 / 3];
        c.in_place = c.payloads_in_place = i % 2 == 1;
        if (test.is_small ||
            (test.gs->device.lanes != GPUSCAN__LANES_PTX && i % 48 != test.seed % 48 && !test_share(i, 1)))
            continue;
        test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
    }
}

static void lengths_in_parts(void **state) {
    in_parts();
    lengths(state);
}

/* Buckets of several blocks: the last four of a window's nine bits make sixteen of them. Or of eighteen bits, divided
   once more. */
static void buckets_in_blocks(void **state) {
    static const uint32_t sizes[] = {4, 8, 0, 12};
    const size_t          n = sizeof sizes / sizeof sizes[0];
    size_t                i;
    (void)state;
    in_parts();
    test.gs->device.units = 2;
    test.gs->device.profile.cpu.sort_buckets = test.gs->device.profile.cpu.sort_bucket = 1;
    for (i = 0; i < 4 * n; i++) {
        sort_case c = a_sort(i % n == 1 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32, test_size(4801, 9601, 20011));
        test.gs->device.profile.cpu.sort_split = i < n ? 1u << 20 : 1;
        c.bit_begin = i < 2 * n ? 7 : i < 3 * n ? 0 : 8; /* in the last two quarters, a bucket's keys share digits */
        c.bit_end = i < n ? 16 : i < 2 * n ? 25 : 32;
        c.keys = i < 2 * n ? KEYS_RANDOM : KEYS_GAP;
        c.sizes[0] = sizes[i % n];
        c.has_permutation = i % n >= 2;
        if (!test.is_small || i % n == test.seed % n)
            test_strategies(&sorts, &c, GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS);
    }
}

/* One tile to many; the groups run at once, or not. */
static void lengths_in_one_launch(void **state) {
    static const uint64_t counts[] = {0, 1, 255, 256, 257, 511, 512, 513, 1021, 4096, 8191, 8192, 8193, 16411, 50021};
    size_t                i;
    int                   alone;
    (void)state;
    for (alone = 0; alone < 2; alone++) {
        gpuscan_limits limits;
        if (!turn_of(alone))
            continue;
        memset(&limits, 0, sizeof limits);
        test_limit(&limits);
        together(alone);
        for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            sort_case c = a_sort((i + test.seed / 2) % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_F32, counts[i]);
            if (!test_takes_one_of(2, i + test.seed / 4)) /* of one type; independent of turn_of */
                continue;
            c.sizes[0] = i % 3 ? 0 : 4;
            c.has_permutation = i % 3 == 1;
            c.in_place = i % 4 == 0;
            if (!test.is_small || counts[i] < 600)
                test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
        }
    }
}

/* Checks that floats +0 and -0 are equal keys, which keep their order. */
static void zeros(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F16};
    static const sort_keys    keys[] = {KEYS_SPECIAL, KEYS_RANDOM, KEYS_FEW};
    size_t                    i, k;
    (void)state;
    for (i = 0; i < 3; i++)
        for (k = 0; k < 3; k++) {
            sort_case c = a_sort(types[i], test_size(301, 3 * tile() + 5, 3 * tile() + 5));
            c.keys = keys[k];
            c.descending = k == 0 && i == 1;
            c.sizes[0] = k == 0 ? 4 : 0;
            if (k == 1) {
                c.count_type = GPUSCAN_TYPE_U32;
                c.device_count = c.count / 2;
            }
            if (test.is_small ? i + k != 0 : (i + k) % 3 != test.seed % 3 && !test_share(3 * i + k, 1))
                continue;
            test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
        }
}

/* Returns whether there is a program of such sorts. */
static int has_program(int (*is_such)(const gpuscan__sort_key *own)) {
    const gpuscan__program *program;
    int                     found = 0;
    for (program = test.gs->programs; program; program = program->next) {
        gpuscan__sort_key own = gpuscan__sort_own(&program->key);
        found = found || is_such(&own);
    }
    return found;
}
static int is_together(const gpuscan__sort_key *own) {
    return own->form == GPUSCAN__SORT_TOGETHER;
}
static int is_halved(const gpuscan__sort_key *own) {
    return own->form == GPUSCAN__SORT_TOGETHER && own->halved;
}
static int carries(const gpuscan__sort_key *own) { /* carries records */
    return own->fields[0] != 0;
}

/* Counts on the device far below the most. With 500 units, groups sort together, each with a tile of 256 elements; with
   three, and with records, each pass takes a launch. */
static void small_device_counts(void **state) {
    static const uint64_t counts[] = {0,   1,   31,  32,  33,  63,  64,  65,   127,  128,  129,  159,
                                      160, 161, 192, 193, 383, 384, 385, 479,  480,  481,  511,  512,
                                      513, 640, 767, 1024, 1025, 3071, 3072, 3073, 5002, 5003, 5004};
    static const struct {
        gpuscan_type type;
        uint32_t     sizes[4];
        int          has_permutation, in_place, may_destroy, carried;
    } of[] = {{GPUSCAN_TYPE_U32, {0}, 0, 0, 0, 0},       {GPUSCAN_TYPE_F32, {4}, 0, 1, 0, 0},
              {GPUSCAN_TYPE_U64, {8}, 0, 0, 1, 0},       {GPUSCAN_TYPE_U32, {12}, 0, 0, 0, 0},
              {GPUSCAN_TYPE_I16, {0}, 1, 0, 0, 0},       {GPUSCAN_TYPE_F64, {4}, 1, 1, 0, 0},
              {GPUSCAN_TYPE_U8, {8}, 0, 1, 0, 0},        {GPUSCAN_TYPE_U32, {4, 2, 1, 1}, 0, 1, 0, 1},
              {GPUSCAN_TYPE_F32, {4, 4, 4}, 0, 0, 1, 1}, {GPUSCAN_TYPE_U32, {16}, 0, 0, 0, 1},
              {GPUSCAN_TYPE_U16, {1}, 0, 1, 0, 1},       {GPUSCAN_TYPE_U32, {8}, 0, 1, 0, 0}};
    const size_t kinds = sizeof of / sizeof of[0];
    size_t       i, k;
    (void)state;
    for (k = 0; k < kinds; k++) {
        gpuscan_limits limits;
        memset(&limits, 0, sizeof limits);
        if (test.is_small ? k != (test.seed % 2 ? 1 : 7) : k != test.seed % kinds && !test_share(k, 1))
            continue;
        test_limit(&limits);
        together(k % 2 == 0);
        test.gs->device.profile.sort.vectors[of[k].sizes[0] != 0] += (uint32_t)((k + test.seed / 12) % 2);
        test.gs->device.profile.sort.halves = k % 3 == 0;
        test.gs->device.units = k % 2 ? 3 : 500;
        test.gs->device.profile.sort.records = (uint32_t)of[k].carried;
        for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            sort_case c = a_sort(of[k].type, 5003);
            c.keys = i % 2 ? KEYS_SPECIAL : i % 6 == 4 ? KEYS_AND_3 : KEYS_RANDOM;
            c.descending = i % 5 == 1;
            memcpy(c.sizes, of[k].sizes, sizeof of[k].sizes);
            c.has_permutation = of[k].has_permutation;
            c.in_place = c.payloads_in_place = of[k].in_place;
            c.may_destroy = of[k].may_destroy;
            c.count_type = i % 3 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U64;
            c.device_count = counts[i];
            if ((!test.is_small || (k == 1 ? i % 5 == 0 : i == 4)) &&
                test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS)) {
                assert_int_equal(has_program(is_together), k % 2 == 0 && !of[k].carried);
                assert_int_equal(has_program(carries), of[k].carried);
            }
        }
    }
}

/* More elements than local memory holds in whole tiles: values of 8 bytes go through it in halves. */
static void halves_in_one_launch(void **state) {
    static const struct {
        gpuscan_type type;
        uint32_t     payload;
    } of[] = {{GPUSCAN_TYPE_U64, 0}, {GPUSCAN_TYPE_F64, 4}, {GPUSCAN_TYPE_I64, 8}, {GPUSCAN_TYPE_U32, 8}};
    size_t i;
    int    alone;
    (void)state;
    for (alone = 0; alone < 2; alone++)
        for (i = 0; i < sizeof of / sizeof of[0]; i++) {
            const uint64_t count = test_size(4089, 8009, 16411);
            gpuscan_limits limits;
            sort_case      c = a_sort(of[i].type, count);
            memset(&limits, 0, sizeof limits);
            limits.lanes = 8;
            test_limit(&limits);
            together(alone);
            test.gs->device.profile.sort.halves = 1;
            test.gs->device.profile.sort.group = 64;
            test.gs->device.local_memory = 17 * 1024;
            test.gs->device.units = (uint32_t)(count / 2048 + 1); /* 32 elements a work-item: 16 KiB of 8 bytes */
            c.sizes[0] = of[i].payload;
            c.keys = i % 2 ? KEYS_AND_3 : KEYS_RANDOM;
            c.in_place = i == 1;
            if (test.is_small ? i != 2 : i != (test.seed + (unsigned)alone) % 4 && !test_share(i, 1))
                continue;
            if (test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS))
                assert_true(has_program(is_halved));
        }
}

static int has_small_group(uint32_t group) {
    const gpuscan__program *program;
    int                     found = 0;
    for (program = test.gs->programs; program; program = program->next) {
        gpuscan__sort_key own = gpuscan__sort_own(&program->key);
        found = found || (program->key.group == group && program->group >= group &&
                          own.form == GPUSCAN__SORT_SMALL && own.digit_bits == 8 &&
                          gpuscan__sort_is_packed(test.gs, &own, group, program->key.vectors));
    }
    return found;
}

/* Small sorts whose groups have two work-items for each of 256 digits, of which one has the digit (ITEM_DIGITS). */
static void shared_digits(void **state) {
    static const struct {
        gpuscan_type type;
        uint32_t     payload, missing;
        sort_keys    keys;
    } of[] = {{GPUSCAN_TYPE_U32, 0, 0, KEYS_RANDOM}, {GPUSCAN_TYPE_F32, 8, 129, KEYS_SPECIAL},
              {GPUSCAN_TYPE_U64, 4, 1, KEYS_AND_3}, {GPUSCAN_TYPE_U16, 0, 400, KEYS_FEW}};
    const uint32_t group = 512, rounds = 5;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof of / sizeof of[0]; i++) {
        gpuscan_limits limits;
        sort_case      c = a_sort(of[i].type, rounds * group - of[i].missing);
        memset(&limits, 0, sizeof limits);
        limits.lanes = 64;
        test_limit(&limits);
        c.sizes[0] = of[i].payload;
        c.keys = of[i].keys;
        c.descending = i == 3;
        if (test.is_small ? i != 0 : i != test.seed % 4 && !test_share(i, 1))
            continue;
        if (test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS))
            assert_int_equal(has_small_group(group), group <= test.gs->device.group_limit);
    }
}

/* Payloads that passes carry as a record, with and without lanes, which carry larger ones in parts of a tile. Records
   have one or several fields and fill their words or not; the number of passes is odd, even, or one, which carries a
   single field only. */
static void records(void **state) {
    static const struct {
        gpuscan_type type;
        uint32_t     bit_begin, bit_end, sizes[5];
        int          carried;
    } of[] = {{GPUSCAN_TYPE_U32, 0, 0, {4, 4, 4}, 1},    {GPUSCAN_TYPE_U32, 0, 24, {16}, 1},
              {GPUSCAN_TYPE_U32, 0, 16, {1, 8, 2, 4}, 1}, {GPUSCAN_TYPE_F32, 0, 0, {12}, 1},
              {GPUSCAN_TYPE_U32, 0, 20, {2}, 1},          {GPUSCAN_TYPE_F64, 0, 0, {4, 12}, 1},
              {GPUSCAN_TYPE_U32, 0, 8, {16}, 1},          {GPUSCAN_TYPE_U32, 0, 8, {4, 4}, 0},
              {GPUSCAN_TYPE_U32, 0, 0, {8, 8, 4}, 0},     {GPUSCAN_TYPE_U32, 0, 0, {4, 3}, 0},
              {GPUSCAN_TYPE_U32, 0, 0, {1, 1, 1, 1, 1}, 0}, {GPUSCAN_TYPE_F32, 0, 0, {16}, 1},
              {GPUSCAN_TYPE_F64, 3, 61, {4, 4}, 1},       {GPUSCAN_TYPE_U32, 5, 22, {2, 1}, 1},
              {GPUSCAN_TYPE_I32, 0, 25, {16}, 1},         {GPUSCAN_TYPE_U64, 0, 57, {4, 4, 4}, 1},
              {GPUSCAN_TYPE_I16, 0, 0, {16}, 1},          {GPUSCAN_TYPE_I64, 1, 40, {8, 4, 4}, 1},
              {GPUSCAN_TYPE_F32, 2, 32, {12, 4}, 1},      {GPUSCAN_TYPE_U64, 0, 0, {16}, 0}};
    static const uint64_t local[] = {0, 0, 32768, 24576, 16384};
    size_t i, n = sizeof of / sizeof of[0];
    (void)state;
    for (i = 0; i < 2 * n; i++) {
        gpuscan_limits limits;
        sort_case      c = a_sort(of[i % n].type, test_size(190, 3001, 50021));
        memset(&limits, 0, sizeof limits);
        limits.lanes = i / n ? 8 : 0;
        limits.local_memory = local[test_below(sizeof local / sizeof *local)];
        c.bit_begin = of[i % n].bit_begin;
        c.bit_end = of[i % n].bit_end;
        c.descending = (int)test_below(2);
        c.keys = i % 3 == 0 ? KEYS_RANDOM : i % 3 == 1 ? KEYS_FEW : KEYS_SPECIAL;
        c.in_place = (int)test_below(2);
        c.payloads_in_place = (int)test_below(2);
        c.may_destroy = (int)test_below(2);
        c.no_dst = !c.in_place && test_below(4) == 0;
        c.payload_offset = test_below(5);
        c.count_type = test_below(3) ? GPUSCAN_TYPE_DEFAULT : GPUSCAN_TYPE_U32;
        c.device_count = test_below(c.count + c.count / 4 + 1);
        c.scratch = (test_scratch_choice)test_below(3);
        memcpy(c.sizes, of[i % n].sizes, sizeof of[0].sizes);
        if (test.is_small ? (i + test.seed) % 4 != 0 : (i + test.seed) % 5 != 0 && !test_share(i, 1))
            continue;
        if (limits.lanes && !of[i % n].carried && test_pocl_optimizes()) {
            print_message("left out: simulated lanes in a sort by positions, which PoCL 3.1's optimizer breaks\n");
            continue;
        }
        test_limit(&limits);
        test.gs->device.profile.sort.records = 1;
        test.gs->device.profile.sort.halves = limits.lanes != 0;
        test.gs->device.profile.sort.together = 0;
        if (test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS))
            assert_int_equal(has_program(carries), of[i % n].carried);
    }
}

static void large(void **state) {
    static const uint64_t counts[] = {16384, 16385, 65537, 100003, 262144, 1000003};
    size_t                i, n = (size_t)test_size(0, 5, 6);
    (void)state;
    for (i = 0; i < n; i++) {
        sort_case c = a_sort(i % 2 ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_U32, counts[i]);
        if (i % 3)
            c.sizes[0] = 4;
        check_all(c);
    }
}

/* Every type, ascending and descending, with special values; a permutation shows stability. */
static void types(void **state) {
    static const sort_keys keys[] = {KEYS_RANDOM, KEYS_SPECIAL, KEYS_FEW};
    int                    type, k, descending;
    (void)state;
    if (!test.is_small)
        in_parts();
    TEST_EACH_TYPE(type, REF_NUMBERS)
        for (k = 0; k < 3; k++)
            for (descending = 0; descending < 2; descending++) {
                sort_case c = a_sort((gpuscan_type)type, test_size(131, 2003, 20011));
                c.keys = keys[k];
                c.descending = descending;
                c.has_permutation = 1;
                if (test.is_small && (type + k + descending) % 3 != 0)
                    continue;
                check_all(c);
            }
}

/* Keys alone, with all bits. */
static void keys_alone(void **state) {
    int type;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS) {
        sort_case c = a_sort((gpuscan_type)type, test_size(131, 3001, 30011));
        c.keys = KEYS_SPECIAL;
        c.descending = type % 2;
        check_next(c);
    }
}

static void distributions(void **state) {
    int keys;
    (void)state;
    for (keys = 0; keys < KEYS_COUNT; keys++) {
        sort_case c = a_sort(keys % 2 ? GPUSCAN_TYPE_I32 : GPUSCAN_TYPE_U32, test_size(300, 5003, 50021));
        c.keys = (sort_keys)keys;
        c.sizes[0] = 4;
        check_all(c);
        c.sizes[0] = 0;
        c.in_place = 1;
        check_next(c);
    }
}

static void distributions_in_parts(void **state) {
    in_parts();
    distributions(state);
}

/* Windows of every width: at the first bit, at a third and three quarters of the remaining bits, and at the last. */
static void bit_windows(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U64,
                                         GPUSCAN_TYPE_U8,  GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F64};
    size_t                    t;
    uint32_t                  width, at, bits;
    (void)state;
    if (!test.is_small)
        in_parts();
    for (t = 0; t < sizeof types / sizeof types[0]; t++) {
        bits = (uint32_t)(8 * ref_size(types[t]));
        for (width = 1; width <= bits; width += test.is_small ? 7 : 1)
            for (at = 0; at < 4; at++) {
                uint32_t  left = bits - width, begin = at == 0 ? 0 : at == 1 ? left / 3 : at == 2 ? left * 3 / 4 : left;
                sort_case c = a_sort(types[t], test_size(70, 401, 4001));
                c.bit_begin = begin;
                c.bit_end = begin + width == bits && at == 3 ? 0 : begin + width;
                c.keys = at % 2 ? KEYS_SPECIAL : KEYS_RANDOM;
                c.descending = (int)(width + at) % 2;
                c.has_permutation = at != 2;
                c.in_place = at == 2;
                if (!test.is_small || test_share((uint64_t)t + width + at, 6))
                    check_next(c);
            }
    }
}

/* Payloads of all sizes, one or several, in place or not, beside a permutation. */
static void payloads(void **state) {
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32, 48, 64, 100, 1000, 1024};
    size_t                i;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sort_case c = a_sort(GPUSCAN_TYPE_U32, test_size(90, 1501, 4001));
        c.sizes[0] = sizes[i];
        c.payload_offset = i;
        c.keys = KEYS_FEW;
        c.payloads_in_place = (int)(i % 2);
        c.in_place = (int)(i / 2 % 2);
        if (test.is_small ? i % 4 == 0 : 1)
            check_next(c);
        c.payloads_in_place = !c.payloads_in_place;
        c.has_permutation = (int)(i % 2);
        c.sizes[1] = sizes[(i + 5) % 17];
        c.sizes[2] = sizes[(i + 11) % 17];
        if (test.is_small ? i % 5 == 0 : 1)
            check_next(c);
    }
}

static void eight_payloads(void **state) {
    static const uint32_t sizes[8] = {4, 8, 1, 16, 4, 7, 2, 12};
    sort_case             c = a_sort(GPUSCAN_TYPE_F32, test_size(90, 3001, 10007));
    (void)state;
    memcpy(c.sizes, sizes, sizeof sizes);
    c.has_permutation = 1;
    check_all(c);
    c.payloads_in_place = c.in_place = 1;
    c.no_dst = 0;
    check_all(c);
}

/* src, dst and scratch that stand in for each other, in all plans of the passes: odd and even numbers of passes, of 4
   and of 8 bits. */
static void buffers(void **state) {
    static const uint32_t ends[] = {4, 8, 12, 16, 24, 32};
    int                   in_place, destroy, what, no_dst;
    size_t                e;
    (void)state;
    if (!test.is_small)
        in_parts();
    for (e = 0; e < 6; e++)
        for (in_place = 0; in_place < 2; in_place++)
            for (destroy = 0; destroy < 2; destroy++)
                for (no_dst = 0; no_dst < 2; no_dst++)
                    for (what = 0; what < 6; what++) {
                        sort_case c = a_sort(GPUSCAN_TYPE_U32, test_size(70, 701, 3001));
                        c.bit_end = ends[e];
                        c.in_place = in_place && !no_dst;
                        c.payloads_in_place = in_place;
                        c.may_destroy = destroy;
                        c.no_dst = no_dst;
                        c.sizes[0] = what == 1 ? 4 : what == 2 ? 8 : what == 3 ? 12 : 0;
                        c.has_permutation = what >= 4;
                        c.index_type = what == 5 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
                        c.scratch = (test_scratch_choice)((e + (size_t)what) % 3);
                        if ((no_dst && what == 0) || (test.is_small && (e + (size_t)what + (size_t)destroy) % 9))
                            continue;
                        check_next(c);
                    }
}

static void buffers_of_small_sorts(void **state) {
    int in_place, destroy, what, no_dst, keys;
    (void)state;
    for (keys = 0; keys < KEYS_COUNT; keys += 3)
        for (in_place = 0; in_place < 2; in_place++)
            for (destroy = 0; destroy < 2; destroy++)
                for (no_dst = 0; no_dst < 2; no_dst++)
                    for (what = 0; what < 6; what++) {
                        sort_case c = a_sort(GPUSCAN_TYPE_U16, test_size(70, 701, 3001));
                        c.keys = (sort_keys)keys;
                        c.in_place = in_place && !no_dst;
                        c.payloads_in_place = in_place;
                        c.may_destroy = destroy;
                        c.no_dst = no_dst;
                        c.sizes[0] = what == 1 ? 4 : what == 2 ? 8 : what == 3 ? 12 : 0;
                        c.has_permutation = what >= 4;
                        c.index_type = what == 5 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
                        c.scratch = (test_scratch_choice)(what % 3);
                        if (!(no_dst && what == 0))
                            test_strategies(&sorts, &c, GPUSCAN_STRATEGY_CPU_MULTI_PASS,
                                            GPUSCAN_STRATEGY_CPU_MULTI_PASS);
                    }
}

static void offsets(void **state) {
    static const uint64_t     at[] = {0, 1, 3, 4, 7, 8, 11, 12, 16};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U64};
    size_t                    t, i;
    (void)state;
    if (!test.is_small)
        in_parts();
    for (t = 0; t < 4; t++)
        for (i = 0; i < 9; i += test.is_small ? 4 : 1) {
            sort_case c = a_sort(types[t], test_size(100, 4099, 10007));
            c.src_offset = at[i];
            c.dst_offset = at[8 - i];
            c.payload_offset = at[(i + t) % 9];
            c.permutation_offset = at[(i + 5) % 9];
            c.sizes[0] = i % 2 ? 4 : 8;
            c.in_place = i % 3 == 0;
            check_next(c);
            c.sizes[0] = 0;
            c.has_permutation = 1;
            check_next(c);
        }
}

static int fills(const gpuscan__sort_key *own) {
    return own->form == GPUSCAN__SORT_FILLED;
}

/* Keys of one byte alone, whose results are stored 16 bytes at a time, from and to any address. Keys of few values fill
   whole vectors, others share them; one has more than one digit in each. */
static void bytes_alone(void **state) {
    static const sort_keys keys[] = {KEYS_RANDOM, KEYS_FEW, KEYS_SPECIAL};
    uint64_t               i;
    (void)state;
    for (i = 0; i < 48; i++) {
        gpuscan_type   type = i % 2 ? GPUSCAN_TYPE_I8 : GPUSCAN_TYPE_U8;
        sort_case      c = a_sort(type, 257 + test_below(test_size(100, 4000, 99999)));
        gpuscan_limits limits;
        memset(&limits, 0, sizeof limits);
        limits.lanes = i % 4 == 3 ? 8 : 0;
        limits.work_group_size = 64; /* larger groups would sort the keys alone */
        c.keys = keys[i / 2 % 3];
        c.descending = (int)(i / 4 % 2);
        c.in_place = i % 5 == 0;
        c.src_offset = i % 3;
        c.dst_offset = c.in_place ? c.src_offset : i;
        c.count_type = i % 7 == 3 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
        c.device_count = test_below(c.count + 2);
        if (test.is_small ? i % 16 != test.seed % 16 : i % 6 != test.seed % 6 && !test_share(i, 1))
            continue;
        test_limit(&limits);
        test.gs->device.profile.sort.together = 0;
        test.gs->device.profile.sort.group = 64;
        test.gs->device.profile.sort.vectors[0] = 4;
        if (test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS))
            assert_true(has_program(fills));
    }
}

static void device_counts(void **state) {
    const uint64_t count = test_size(150, 5003, 20011);
    const uint64_t values[] = {0, 1, 2, count / 7, count - 1, count, count + 1, UINT32_MAX, (UINT64_C(1) << 32) + 1};
    size_t         v;
    int            parts;
    (void)state;
    for (parts = 0; parts < 3; parts++) {
        if (parts && !turn_of(parts))
            continue;
        if (parts)
            in_parts();
        if (parts > 1)
            together(0);
        for (v = 0; v < sizeof values / sizeof values[0]; v++) {
            sort_case c = a_sort(GPUSCAN_TYPE_U32, count);
            if (!test_takes_one_of(2, v)) /* half the forms, since each builds a program */
                continue;
            c.device_count = values[v];
            c.count_type = GPUSCAN_TYPE_U64;
            c.sizes[0] = v % 2 ? 12 : 4;
            c.in_place = v % 3 == 0;
            c.payloads_in_place = v % 3 == 1;
            check_all(c);
            c.count_type = GPUSCAN_TYPE_U32;
            c.device_count = values[v] & UINT32_MAX;
            c.sizes[0] = 0;
            c.has_permutation = v % 2 == 0;
            check_next(c);
        }
    }
}

static void custom_keys(void **state) {
    int custom, in_place;
    (void)state;
    for (custom = 1; custom <= SORT_CUSTOMS; custom++)
        for (in_place = 0; in_place < 2; in_place++) {
            sort_case c = a_sort(GPUSCAN_TYPE_DEFAULT, test_size(90, 2003, 10007));
            c.custom = custom;
            c.descending = custom % 2;
            c.in_place = in_place;
            c.has_permutation = in_place;
            c.sizes[0] = in_place ? 8 : 0;
            c.src_offset = 1;
            if (!test.is_small || (custom + in_place) % 3 == 0)
                check_all(c);
            if (test.is_small)
                continue;
            c.in_place = 0;
            c.no_dst = c.has_permutation = 1;
            check_next(c);
        }
}

/* Floats, some negative, as signed keys of an expression: the program depends on the sign, that of plain keys not. */
static void signed_keys_of_floats(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_I8, GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I32, GPUSCAN_TYPE_I64};
    static const float        weights[] = {-3, -7, -1, -20, 0, 1, 2, 5, 9}, sorted[] = {-20, -7, -3, -1, 0, 1, 2, 5, 9};
    size_t                    t, i;
    (void)state;
    for (t = 0; t < 4; t++) {
        gpuscan_custom    custom;
        gpuscan_sort_desc d;
        float             result[9];
        memset(&custom, 0, sizeof custom);
        memset(&d, 0, sizeof d);
        custom.source = "typedef struct { float w; } weighed;";
        custom.type = "weighed";
        custom.size = 4;
        custom.key = "x.w";
        d.custom = &custom;
        d.key_type = types[t];
        test_case("floats sorted as %s", test_type_name(types[t]));
        test_ok(gpuscan_sort_host(test.gs, weights, result, NULL, 9, &d));
        for (i = 0; i < 9; i++)
            if (result[i] != sorted[i])
                fail_msg("%s: element %zu is %g", test.what, i, (double)result[i]);
    }
}

/* Sub-groups of other widths, groups of other sizes, little local memory. */
static void limits(void **state) {
    static const struct {
        uint32_t lanes;
        size_t   group;
        uint64_t local;
    } of[] = {{8, 0, 0}, {16, 0, 0}, {32, 0, 0}, {64, 0, 0}, {8, 8, 0}, {0, 1, 0}, {0, 2, 0},
              {0, 32, 0}, {0, 0, 2048}, {0, 0, 1024}, {8, 0, 2048}};
    size_t i;
    (void)state;
    for (i = 0; i < sizeof of / sizeof of[0]; i++) {
        gpuscan_limits limits;
        sort_case      c = a_sort(i % 2 ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_U64, test_size(70, 1501, 5003));
        memset(&limits, 0, sizeof limits);
        limits.lanes = of[i].lanes;
        limits.work_group_size = of[i].group;
        limits.local_memory = of[i].local;
        test_limit(&limits);
        c.keys = i % 3 ? KEYS_SPECIAL : KEYS_AND_3;
        c.has_permutation = 1;
        if (test.is_small ? i % 3 : i != test.seed % 4 && !test_share(i, 1)) /* always one of the 4 widths */
            continue;
        check_next(c);
        c.has_permutation = 0;
        c.sizes[0] = 8;
        check_all(c);
        if (of[i].lanes == 0)
            continue;
        c.count = test_size(70, 7001, 20011); /* more than a group sorts alone */
        test.gs->device.profile.sort.group = 128;
        test.gs->device.profile.sort.vectors[0] = 15; /* odd, as other GPUs may need; lanes may rank two at a time */
        test.gs->device.profile.sort.vectors[1] = 15;
        test.gs->device.profile.sort.halves = 1;
        test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
        c.sizes[0] = 0; /* keys alone rank by masks, or by votes if few values are frequent */
        test_strategies(&sorts, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
        c.keys = KEYS_RANDOM;
        test_strategies(&sorts, &c, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_SINGLE_PASS);
    }
}

/* A tile fits the limit of local memory, for each size of group, key, value and position. Nothing is launched. */
static void tiles_fit(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};
    static gpuscan             gs;
    static gpuscan__sort_plan  plan;
    static gpuscan_sort_desc   desc;
    uint32_t                   group, choice;
    (void)state;
    gs = *test.gs;
    gs.device.lanes = GPUSCAN__LANES_NONE;
    for (gs.device.local_memory = 1024; gs.device.local_memory <= 49152;
         gs.device.local_memory += gs.device.local_memory < 8192 ? 64 : 1024)
        for (group = 1; group <= 1024; group *= 2)
            for (choice = 0; choice < 3 * 3 * 2 * 2; choice++) {
                const gpuscan__key *key = &plan.common.key;
                memset(&plan, 0, sizeof plan);
                plan.desc = &desc;
                desc.count = choice / 18 ? 100 : 1 << 20;
                plan.common.group_limit = group;
                plan.common.key.src = (uint32_t)types[choice % 3];
                plan.keys.size = (uint32_t)gpuscan__types[types[choice % 3]].size;
                plan.end = 8 * plan.keys.size;
                plan.key.value_size = choice / 3 % 3 * 4;
                plan.key.wide = choice / 9 % 2;
                gpuscan__sort_shape(&gs, &plan, GPUSCAN_STRATEGY_MULTI_PASS);
                if (gpuscan__sort_shared_bytes(&gs, key, &plan.key) > gs.device.local_memory)
                    fail_msg("%u work-items with %u keys of %u bytes do not fit %" PRIu64, (unsigned)key->group,
                             (unsigned)key->vectors, (unsigned)plan.keys.size, gs.device.local_memory);
            }
}

/* Positions and indices of 64 bits, as for 2^32 elements or more: in a pass, in a gather, as a permutation, and with a
   count on the device. */
static void positions_of_64_bits(void **state) {
    int what, parts;
    (void)state;
    narrow = 0;
    for (parts = 0; parts < 2; parts++) {
        if (!turn_of(parts))
            continue;
        if (parts)
            in_parts();
        for (what = 0; what < 6; what++) {
            sort_case c = a_sort(GPUSCAN_TYPE_U32, test_size(90, 3001, 10007));
            c.keys = what % 2 ? KEYS_FEW : KEYS_RANDOM;
            c.has_permutation = what < 2 || what == 5;
            c.index_type = GPUSCAN_TYPE_U64; /* required for large counts */
            c.sizes[0] = what == 2 ? 12 : what == 3 ? 4 : what == 4 ? 8 : 0;
            c.in_place = c.payloads_in_place = what % 2;
            c.count_type = what == 5 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
            c.device_count = c.count / 3;
            c.scratch = parts ? SCRATCH_REST : SCRATCH_OBJECT; /* a table of 64-bit cells at an offset */
            if (parts && what == 0)
                test_strategies(&sorts, &c, GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS);
            if (test.is_small ? what % 3 == parts : what != 4 || test_share((uint64_t)what, 1))
                check_next(c);
        }
    }
    narrow = UINT32_MAX;
}

static void host_arrays(void **state) {
    enum { COUNT = 3001 };
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_I8, GPUSCAN_TYPE_U64};
    uint64_t                  n = test_size(200, COUNT, COUNT), i;
    size_t                    t;
    int                       what;
    (void)state;
    for (t = 0; t < 4; t++)
        /* both; keys; permutation; in place; at an odd address */
        for (what = 0; what < 5 && (t == 0 || test_share(t, 1)); what++) {
            sort_case         c = a_sort(types[t], n);
            size_t            size = ref_size(types[t]);
            unsigned char     src[8 * COUNT + 1], dst[8 * COUNT + 1], before[8 * COUNT];
            unsigned char    *from = src + (what == 4), *to = dst + (what == 4);
            uint64_t         *order;
            uint64_t          permutation[COUNT];
            gpuscan_sort_desc d;
            memset(&d, 0, sizeof d);
            d.key_type = types[t];
            d.descending = c.descending = what % 2;
            d.index_type = GPUSCAN_TYPE_U64;
            test_case("sort_host of %s, %d", test_type_name(types[t]), what);
            for (i = 0; i < n; i++) {
                uint64_t key = sort_key(KEYS_SPECIAL, types[t], i, n);
                memcpy(from + i * size, &key, size);
            }
            memcpy(before, from, (size_t)n * size);
            order = sort_order(&c, types[t], before, n);
            memset(permutation, 0xee, sizeof permutation);
            test_ok(gpuscan_sort_host(test.gs, from, what == 2 ? NULL : what == 3 ? from : to,
                                      what == 1 ? NULL : permutation, n, &d));
            for (i = 0; i < n; i++) {
                if (what != 1 && permutation[i] != order[i])
                    fail_msg("%s: position %" PRIu64 " holds %" PRIu64 " instead of %" PRIu64, test.what, i,
                             permutation[i], order[i]);
                if (what != 2 && memcmp((what == 3 ? from : to) + i * size, before + order[i] * size, size) != 0)
                    fail_msg("%s: key %" PRIu64 " is wrong", test.what, i);
            }
            if (what != 3)
                test_same_bytes(from, before, size, n);
            free(order);
        }
    test_ok(gpuscan_sort_host(test.gs, NULL, NULL, NULL, 0, NULL));
}

/* Checks that the scratch size from the query is enough and that one byte less is refused, in place or not; the query
   with buffers asks for no more than without. */
static void scratch_sizes(void **state) {
    int      in_place, destroy, what, given;
    int      has_records = test.gs->device.fence != GPUSCAN__FENCE_NONE && test.info.local_memory >= 16384;
    uint64_t n = test_size(100, 2003, 2003), size, with_buffers;
    cl_int   status;
    (void)state;
    if (!has_records)
        print_message("no fence of device scope, or little local memory: payloads carried by passes are skipped\n");
    for (in_place = 0; in_place < 2; in_place++)
        for (destroy = 0; destroy < 2; destroy++)
            for (what = 0; what < (has_records ? 8 : 5); what++) {
                gpuscan_sort_desc d;
                gpuscan_payload   payload;
                test_buffer       a, b, p, q;
                if (what > 4 && !test_takes_one_of(2, (uint64_t)what)) /* programs of several seconds */
                    continue;
                a = test_buffer_new(CL_MEM_READ_WRITE, 4, n);
                b = test_buffer_new(CL_MEM_READ_WRITE, 4, n);
                p = test_buffer_new(CL_MEM_READ_WRITE, 16, n);
                q = test_buffer_new(CL_MEM_READ_WRITE, 16, n);
                test_buffer_set(&a, 0, n, NULL);
                test_buffer_set(&p, 0, n, NULL);
                memset(&d, 0, sizeof d);
                memset(&payload, 0, sizeof payload);
                d.count = n;
                d.may_destroy_src = destroy;
                payload.size = what == 1 ? 4 : what == 6 ? 2 : what == 3 || what == 4 ? 3 : 16;
                d.payloads = what && what != 4 ? &payload : NULL;
                d.payload_count = what && what != 4;
                test.gs->device.profile.sort.records = what > 4; /* passes carry one field, packed or not */
                d.call.strategy = what > 4 ? GPUSCAN_STRATEGY_SINGLE_PASS : GPUSCAN_STRATEGY_AUTO;
                d.index_type = what == 4 || what == 7 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT; /* 7: no permutation */
                test_case("scratch of a sort, in place %d, destroys %d, %d", in_place, destroy, what);
                test_ok(gpuscan_sort_scratch_size(test.gs, &d, &size));
                d.src = a.at;
                d.dst = in_place ? a.at : b.at;
                payload.src = p.at;
                payload.dst = in_place ? p.at : q.at;
                if (what == 4)
                    d.permutation = q.at;
                test_ok(gpuscan_sort_scratch_size(test.gs, &d, &with_buffers));
                if (with_buffers > size)
                    fail_msg("%s: the query with buffers asks for more", test.what);
                for (given = 0; given < (what == 7 ? 2 : 3) && with_buffers > 64; given++) {
                    uint64_t bytes = given == 2 ? with_buffers - 1 : given ? with_buffers : size;
                    d.call.scratch.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)size, NULL, &status);
                    test_cl(status);
                    d.call.scratch_size = bytes;
                    test_expect(gpuscan_sort(test.gs, &d), given == 2 ? GPUSCAN_ERROR_SCRATCH_TOO_SMALL
                                                                      : GPUSCAN_SUCCESS);
                    test_cl(clFinish(test.queue));
                    clReleaseMemObject(d.call.scratch.mem);
                }
                test_buffer_free(&a);
                test_buffer_free(&b);
                test_buffer_free(&p);
                test_buffer_free(&q);
            }
}

/* Random combinations of options. */
static void random_sorts(void **state) {
    static const uint32_t sizes[] = {0, 0, 4, 4, 8, 1, 2, 3, 12, 16, 40};
    uint64_t              i, k, n = test_size(6, 90, 10000) / test.share;
    (void)state;
    n = n > 4 ? n : 4;
    for (i = 0; i < n; i++) {
        sort_case c = a_sort((gpuscan_type)(1 + test_below(GPUSCAN_TYPE_CUSTOM - 1)),
                             test_below(UINT64_C(1) << test_below(test_size(8, 15, 17))));
        uint32_t  bits = (uint32_t)(8 * ref_size(c.type));
        if (i == n / 2 && !test.is_small)
            in_parts();
        test.gs->device.profile.sort.records = (uint32_t)test_below(1000);
        c.keys = (sort_keys)test_below(KEYS_COUNT);
        c.descending = (int)test_below(2);
        if (test_below(2)) {
            c.bit_begin = (uint32_t)test_below(bits);
            c.bit_end = c.bit_begin + 1 + (uint32_t)test_below(bits - c.bit_begin);
        }
        for (k = 0; k < 3 && (k == 0 || c.sizes[k - 1]); k++)
            c.sizes[k] = sizes[test_below(11)];
        c.in_place = (int)test_below(2);
        c.payloads_in_place = (int)test_below(2);
        c.has_permutation = (int)test_below(2);
        c.may_destroy = (int)test_below(2);
        c.index_type = test_below(2) ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
        c.no_dst = !c.in_place && (c.has_permutation || c.sizes[0]) && test_below(4) == 0;
        c.src_offset = test_below(5);
        c.dst_offset = test_below(5);
        c.payload_offset = test_below(5);
        c.permutation_offset = test_below(5);
        if (test_below(3) == 0) {
            c.count_type = test_below(2) ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
            c.device_count = test_below(c.count + c.count / 4 + 1);
        }
        c.scratch = (test_scratch_choice)test_below(3);
        c.events = (int)test_below(2);
        check_next(c);
    }
}

/* Two queues sort at the same time with one object, each with its own scratch. */
static void two_queues(void **state) {
    enum { ROUNDS = 4 };
    uint64_t          n = test_size(300, 20011, 200003), size, i;
    cl_command_queue  queues[2];
    test_buffer       src[2], dst[2], scratch[2];
    gpuscan_sort_desc d;
    uint32_t         *data[2];
    int               q, round;
    cl_event          ended[2 * ROUNDS];
    (void)state;
    memset(&d, 0, sizeof d);
    d.count = n;
    test_case("sorts in two queues");
    test_ok(gpuscan_sort_scratch_size(test.gs, &d, &size));
    for (q = 0; q < 2; q++) {
        queues[q] = test_queue_new(0);
        src[q] = test_buffer_new(CL_MEM_READ_WRITE, 4, n);
        dst[q] = test_buffer_new(CL_MEM_READ_WRITE, 4, n);
        scratch[q] = test_buffer_new(CL_MEM_READ_WRITE, 1, size);
        data[q] = (uint32_t *)test_alloc(n * 4);
        test_random_bytes(data[q], (size_t)n * 4);
        test_buffer_set(&src[q], 0, n, data[q]);
        test_buffer_set(&dst[q], 0, n, NULL);
        test_buffer_set(&scratch[q], 0, size, NULL);
    }
    for (round = 0; round < ROUNDS; round++)
        for (q = 0; q < 2; q++) {
            d.src = src[q].at;
            d.dst = dst[q].at;
            d.call.scratch = scratch[q].at;
            d.call.queue = queues[q];
            d.call.event = &ended[2 * round + q];
            test_ok(gpuscan_sort(test.gs, &d));
            test_cl(clFlush(queues[q]));
        }
    test_cl(clWaitForEvents(2 * ROUNDS, ended)); /* rusticl's clFinish (Mesa 22.3) returns before */
    for (i = 0; i < 2 * ROUNDS; i++)
        clReleaseEvent(ended[i]);
    for (q = 0; q < 2; q++) {
        sort_case c = a_sort(GPUSCAN_TYPE_U32, n);
        uint64_t *order = sort_order(&c, GPUSCAN_TYPE_U32, (unsigned char *)data[q], n);
        uint32_t *got;
        test_cl(clFinish(queues[q]));
        got = (uint32_t *)test_buffer_get(&dst[q]);
        for (i = 0; i < n; i++)
            if (got[i] != data[q][order[i]])
                fail_msg("queue %d: key %" PRIu64 " is wrong", q, i);
        test_buffer_get(&scratch[q]);
        test_buffer_free(&src[q]);
        test_buffer_free(&dst[q]);
        test_buffer_free(&scratch[q]);
        free(data[q]);
        free(order);
        clReleaseCommandQueue(queues[q]);
    }
}

/* Tiles that never publish (all, some, the first) or late: a group that looks back at them counts their digits. */
static void silent_and_late_tiles(void **state) {
    static const struct {
        unsigned every, which, rounds; /* tile % every == which is silent; every 0: none. rounds: most a tile is late */
        uint32_t lanes;
    } of[] = {{1, 0, 1, 0}, {2, 0, 1, 0}, {2, 1, 500, 0}, {7, 3, 1, 0}, {0, 0, 2000, 0}, {3, 0, 1, 8}, {1, 0, 1, 32}};
    const uint64_t n = test_size(300, 12011, 50021);
    uint32_t      *src = (uint32_t *)test_alloc(n * 4), *dst = (uint32_t *)test_alloc(n * 4);
    uint32_t      *places = (uint32_t *)test_alloc(n * 4);
    uint64_t      *orders[2], *order, i;
    size_t         k;
    sort_case      c = a_sort(GPUSCAN_TYPE_U32, n);
    (void)state;
    for (i = 0; i < n; i++)
        src[i] = (uint32_t)(test_random() & (i % 9 ? 0xff00ffff : 0x80000000)); /* floats: both zeros, many NaN */
    orders[0] = sort_order(&c, GPUSCAN_TYPE_U32, (unsigned char *)src, n);
    orders[1] = sort_order(&c, GPUSCAN_TYPE_F32, (unsigned char *)src, n);
    for (k = 0; k < sizeof of / sizeof of[0]; k++) {
        gpuscan_custom    custom;
        gpuscan_sort_desc d;
        gpuscan_limits    limits;
        test_buffer       number = test_count_buffer(GPUSCAN_TYPE_DEFAULT, 0);
        char              text[600];
        if (test.is_small ? k % 3 : k != 0 && !test_share(k, 1))
            continue;
        memset(&custom, 0, sizeof custom);
        memset(&d, 0, sizeof d);
        memset(&limits, 0, sizeof limits);
        limits.lanes = of[k].lanes;
        test_limit(&limits);
        if ((k + test.seed) % 3)
            together(0);
        if ((k + test.seed) % 3 == 2) {
            number = test_count_buffer(GPUSCAN_TYPE_U32, n);
            d.count_buffer = number.at;
            d.count_type = GPUSCAN_TYPE_U32;
        }
        test.gs->device.profile.facts.polls = 3;
        snprintf(text, sizeof text,
                 "#define GPUSCAN_TEST_SILENT(tile) (%uu && (tile) %% (%uu ? %uu : 1u) == %uu)\n"
                 "#define GPUSCAN_TEST_DELAY(tile) late_wait(tile)\n"
                 "void late_wait(uint tile) {\n"
                 "    volatile uint x = 0;\n"
                 "    for (uint i = (tile * 2654435761u >> 20) %% %uu; i > 0; i--) x += i;\n"
                 "}\n",
                 of[k].every, of[k].every, of[k].every, of[k].which, of[k].rounds);
        custom.source = text;
        custom.type = "uint";
        custom.size = 4;
        order = orders[(k + test.seed) % 2];
        d.key_type = order == orders[1] ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_U32;
        custom.key = order == orders[1] ? "as_float(x)" : "x";
        d.custom = &custom;
        d.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
        d.count = n;
        test_case("%s: tile %% %u == %u is silent, late by %u, lanes %u", test_type_name(d.key_type),
                  of[k].every, of[k].which, of[k].rounds, (unsigned)of[k].lanes);
        if (test_sort_refusal(&d)) {
            test_buffer_free(&number);
            continue;
        }
        d.count = 0;
        memset(dst, 0xee, (size_t)n * 4);
        test_ok(gpuscan_sort_host(test.gs, src, dst, places, n, &d));
        test_uses_hook(test.gs, has_program(is_together) ? "DELAY" : "SILENT");
        test_buffer_free(&number);
        for (i = 0; i < n; i++)
            if (dst[i] != src[order[i]] || places[i] != order[i])
                fail_msg("%s: key %" PRIu64 " is wrong", test.what, i);
    }
    free(src);
    free(dst);
    free(places);
    free(orders[0]);
    free(orders[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(lengths),
                                       TEST(small_tiles),
                                       TEST(lengths_in_parts),
                                       TEST(buckets_in_blocks),
                                       TEST(lengths_in_one_launch),
                                       TEST(small_device_counts),
                                       TEST(halves_in_one_launch),
                                       TEST(shared_digits),
                                       TEST(records),
                                       TEST(zeros),
                                       TEST(large),
                                       TEST(types),
                                       TEST(keys_alone),
                                       TEST(bytes_alone),
                                       TEST(distributions),
                                       TEST(distributions_in_parts),
                                       TEST(bit_windows),
                                       TEST(payloads),
                                       TEST(eight_payloads),
                                       TEST(buffers),
                                       TEST(buffers_of_small_sorts),
                                       TEST(offsets),
                                       TEST(device_counts),
                                       TEST(custom_keys),
                                       TEST(signed_keys_of_floats),
                                       TEST(limits),
                                       TEST(tiles_fit),
                                       TEST(positions_of_64_bits),
                                       TEST(host_arrays),
                                       TEST(scratch_sizes),
                                       TEST(random_sorts),
                                       TEST(silent_and_late_tiles),
                                       TEST(two_queues)};
    /* Oclgrind knows no order between groups and reports their exchange through fences as races. With one thread,
       groups run one after the other, and the first does a whole sort together. */
    setenv("OCLGRIND_NUM_THREADS", "1", 0);
    test_select();
    return cmocka_run_group_tests_name("sort", tests, test_open, test_close);
}
