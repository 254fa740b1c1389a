/* Like test_lanes.c, for programs built from a scan: selections, runs and scans by segments, and how they sum and place
   elements with lanes.
      cc -O2 test_lanes_runs.c -o test_lanes_runs -lcmocka -lOpenCL -lm */
#define GPUSCAN__FEW_TILES 64 /* lower, so that tests soon exceed it */
#include "lanes.h"
#include "runs.h"
#include "scans.h"
#include "selections.h"

/* Returns whether a strategy runs. PoCL 3.1 runs neither AHEAD nor a look-back by segments (see test_lanes.c). It takes
   seconds to build one of these programs, with a barrier for each exchange, so a run takes one of the other two. */
static int strategy_in_run(const test_operation *operation, gpuscan_strategy strategy, uint64_t number) {
    if (test.is_small || test.is_long)
        return test.is_small || strategy != GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD;
    return strategy == (number % 2 && operation != &scans ? GPUSCAN_STRATEGY_SINGLE_PASS : GPUSCAN_STRATEGY_MULTI_PASS);
}

/* Makes AHEAD sum the tiles of selections and runs first, or read each tile once. vectors: those of a
   work-item; 0: the profile's. */
static void with_once(int once, uint32_t vectors) {
    static gpuscan__tuning rows[2];
    gpuscan__profile      *profile = &test.gs->device.profile;
    rows[0] = rows[1] = *gpuscan__any_tuning(test.gs);
    if (vectors)
        rows[0].vectors = rows[1].vectors = vectors;
    rows[0].calls = GPUSCAN__FOR_LISTS;
    rows[0].strategy = GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD;
    rows[0].once = once;
    profile->tunings = rows;
    profile->tuning_count = 2;
}

/* Returns whether a case reads tiles once: some of those with the count on the host and some on the device do. */
static int is_once(uint64_t number) {
    return number / 2 % 2 == number / 6 % 2;
}

/* Returns the device's count in an odd case: the most, half, more, far less, the most, none. */
static uint64_t device_count_of(uint64_t count, uint64_t number) {
    const uint64_t counts[] = {count, count / 2, count + 7, count / 40 + 1, count, 0};
    return counts[number / 2 % 6];
}

/* Checks a case with all strategies that use lanes; the device may refuse only for a missing feature. is_few: expects
   the form for few tiles in a single pass. */
static void check(const test_operation *operation, const void *given, uint64_t number, int is_few) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_SINGLE_PASS,
                                                  GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD};
    size_t s;
    with_once(is_once(number), 0);
    for (s = 0; s < 3; s++)
        if (strategy_in_run(operation, strategies[s], number) &&
            test_strategies(operation, given, (int)strategies[s], (int)strategies[s])) {
            const gpuscan__key *key = last_key();
            if (operation != &scans && strategies[s] == GPUSCAN_STRATEGY_SINGLE_PASS)
                assert_int_equal(key->few != 0, is_few);
            if (operation != &scans && strategies[s] == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD)
                assert_int_equal(key->once, is_once(number));
        }
}

/* Returns the elements of several tiles, the last one partial; is_many: of more tiles than the form for few allows. */
static uint64_t count_of(uint32_t width, uint64_t number, int is_many) {
    return (test.is_small ? 40 : is_many ? 33000 : 150) * (uint64_t)width + number % 5 * 3 + 1;
}

static void selections_of(uint32_t width, uint64_t number) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U8};
    selection_case c = a_selection(types[number % 3], count_of(width, number, number == 9),
                                   (selection_density)(number % 3 * 9 / 2));
    c.by = (gpuscan_select_by)(number % 3);
    c.index_type = number % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
    c.capacity = number % 4 == 3 ? c.count / 3 : 0;
    c.count_type = number % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT; /* on the device: groups take many tiles */
    c.device_count = device_count_of(c.count, number);
    check(&selections, &c, number, number != 9 || test.is_small);
}

/* Runs of all lengths: within the elements of a lane, a sub-group or a tile, and longer. */
static void runs_of(uint32_t width, uint64_t number) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_F32};
    static const gpuscan_op   ops[] = {GPUSCAN_OP_ADD, GPUSCAN_OP_MAX};
    run_case c = some_runs(count_of(width, number, number == 7), (run_lengths)(number % RUNS_COUNT));
    c.key_type = types[number % 4];
    c.reduces = number % 3 != 0;
    c.lengths_out = number % 3 != 1;
    c.starts = number % 2 == 0;
    c.op = ops[number / 2 % 2];
    c.custom = number % 3 == 2 && number % 2 ? &op_affine_compose : NULL;
    if (c.custom)
        c.src_type = c.dst_type = GPUSCAN_TYPE_CUSTOM;
    c.capacity = number % 4 == 3 ? c.count / 9 : 0;
    c.count_type = number % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
    c.device_count = device_count_of(c.count, number);
    check(&runs, &c, number, number != 7 || test.is_small);
}

static void segments_of(uint32_t width, uint64_t number) {
    static const gpuscan_segment_form forms[] = {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_SEGMENTS_HEADS,
                                                 GPUSCAN_SEGMENTS_OFFSETS};
    static const gpuscan_type keys[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U64};
    scan_case c = a_scan(number % 2 ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, count_of(width, number, 0));
    c.reverse = (int)test_below(2);
    c.form = forms[number % 3];
    c.keys = c.form == GPUSCAN_SEGMENTS_OFFSETS ? GPUSCAN_TYPE_U32 : keys[number / 3 % 3];
    c.segments = number % 4 == 3 ? 1 : c.count / (5 + number * 40);
    c.cuts = (test_cuts)(number % CUTS_COUNT);
    c.count_type = number % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
    c.device_count = device_count_of(c.count, number);
    check(&scans, &c, number, 0);
}

/* Runs the cases at each width. PoCL takes seconds for each, so by default it builds one operation in three. */
static void each_width(void (*of)(uint32_t width, uint64_t number), uint64_t operation) {
    enum { NUMBERS = 12 };
    const uint64_t cases = test.share > 8 ? 1 : test.share > 1 ? 3 : 6; /* a run, at any share */
    size_t         w;
    uint64_t       number;
    if (!test.is_small && test.share > 8 && (operation + test.seed) % 3 != 0)
        skip();
    for (w = 0; w < width_count(); w++) {
        with_width(widths[w]);
        test.gs->device.profile.facts.polls = 3; /* each poll is several barriers */
        for (number = 0; number < NUMBERS; number++)
            if (test.is_long || (w + width_count() * number + test.seed) % (width_count() * NUMBERS / cases) == 0)
                of(widths[w], number);
    }
}

static void test_selections(void **state) {
    (void)state;
    each_width(selections_of, 0);
}

static void test_runs(void **state) {
    (void)state;
    each_width(runs_of, 1);
}

static void test_segments(void **state) {
    (void)state;
    each_width(segments_of, 2);
}

/* Tiles in which no run begins, or one or two: those without any exit before they look at other tiles. */
static void test_long_runs(void **state) {
    run_case c;
    (void)state;
    with_width(8);
    c = some_runs(test_size(700, 3000, 3000), RUNS_HUNDREDS);
    c.reduces = 1;
    c.lengths_out = 1;
    if (test_strategies(&runs, &c, GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS))
        last_key();
}

/* Few elements, counted on the device, where each group takes several tiles: about a vector for each work-item, and
   about a tile for each group. The first count only builds the program. unit: elements that one flag decides. */
enum { FEW_GROUPS = 5, FEW_COUNTS = 8 };
static uint64_t few_count(size_t i, uint64_t unit) {
    const uint64_t tile = i ? last_key()->tile * unit : 0, step = i ? tile / last_key()->vectors : 0;
    const uint64_t counts[FEW_COUNTS] = {
        0, 1, step, step + 1, FEW_GROUPS * step, FEW_GROUPS * step + 1, FEW_GROUPS * tile, FEW_GROUPS * tile + 1};
    return counts[i];
}

static void few_of(uint32_t width, uint64_t number, gpuscan_strategy strategy) {
    enum { VECTORS = 2, MANY = 70 }; /* more tiles than the forms for few allow */
    const uint64_t unit = number == 1 ? 32 : 1, most = MANY * VECTORS * (uint64_t)width * (unit == 1 ? 16 : unit) + 3;
    selection_case select = a_selection(GPUSCAN_TYPE_U32, most, (selection_density)(number % 3 * 9 / 2));
    run_case       run = some_runs(most, (run_lengths)(number % RUNS_COUNT));
    scan_case      scan = a_scan(number % 2 || number == 10 ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, most);
    size_t         i;
    select.by = (gpuscan_select_by)(number % 3);
    if (number == 2) /* tiles that do not publish */
        select.source = late_cases[0].text;
    select.count_type = run.count_type = scan.count_type = GPUSCAN_TYPE_U64;
    run.reduces = number % 2 != 0;
    run.lengths_out = number < 5;
    run.starts = number == 4;
    scan.reverse = (int)test_below(2);
    scan.form = GPUSCAN_SEGMENTS_KEYS;
    scan.keys = number % 3 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U8;
    scan.segments = scan.count / 30;
    if (number >= 8) { /* rows without segments */
        scan.form = GPUSCAN_SEGMENTS_NONE;
        scan.rows = number == 10 ? 2 * FEW_GROUPS : number - 7; /* also more rows than groups */
        scan.total = 1;
    }
    for (i = 0; i < FEW_COUNTS; i++) {
        const test_operation *operation = number < 3 ? &selections : number < 6 ? &runs : &scans;
        const void *given = number < 3 ? (const void *)&select : number < 6 ? (const void *)&run : (const void *)&scan;
        select.device_count = run.device_count = scan.device_count = few_count(i, unit);
        if (test_strategies(operation, given, (int)strategy, (int)strategy)) {
            last_key();
            assert_non_null(strstr(test.gs->programs->parts[GPUSCAN__PART_TEXT].data, "#define GPUSCAN_COUNTED 1\n"));
        }
    }
    if (number == 2)
        test_uses_hook(test.gs, "SILENT");
}

static void test_few_of_count(void **state) {
    enum { NUMBERS = 11 };
    size_t   w;
    uint64_t number;
    (void)state;
    if (!test.is_small && !test.is_long) /* PoCL takes seconds for each */
        skip();
    for (w = 0; w < width_count(); w++) {
        with_width(widths[w]);
        test.gs->device.profile.facts.polls = 3;
        test.gs->device.units = FEW_GROUPS;
        for (number = 0; number < NUMBERS; number++)
            if (test_share(w + width_count() * number, 4)) {
                with_once((int)(number % 2), 2);
                few_of(widths[w], number, GPUSCAN_STRATEGY_SINGLE_PASS);
                if (test.is_small)
                    few_of(widths[w], number, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_selections), TEST(test_runs), TEST(test_segments),
                                       TEST(test_few_of_count), TEST(test_long_runs)};
    test_select();
    return cmocka_run_group_tests_name("lanes, runs", tests, test_open, test_close);
}
