/* Options in combination. Each operation has a table of its desc's fields; calls combine every two levels of two
   fields, in the long run every three; faults that need more are missed. GPUSCAN_TEST_SECONDS adds random calls for
   that time. A call that fails is reduced to the simplest that still fails, and printed as C code.
      cc -O2 tests/test_pairs.c -o build/test_pairs -lcmocka -lOpenCL -lm && build/test_pairs */
#include "histograms.h"
#include "integrals.h"
#include "pairs.h"
#include "quantiles.h"
#include "reductions.h"
#include "scans.h"
#include "runs.h"
#include "selections.h"
#include "sorts.h"
#include "uniform_adds.h"

/* An operation: its fields, and a function that makes a case from a row of levels and returns its strategy. To add one
   takes a table and two functions. */
typedef struct pairs_operation {
    const test_operation *tests;
    pairs_table           table;
    unsigned              program; /* number of first fields, which decide the program */
    gpuscan_strategy (*make)(const pairs_row *row, void *made);
} pairs_operation;

/* What decides whether a row fails: equal seeds give equal data. */
typedef struct pairs_context {
    const pairs_operation *operation;
    uint64_t               seed;
} pairs_context;

static void run_row(const pairs_context *context, const pairs_row *row) {
    union {
        scan_case      scan;
        add_case       add;
        reduce_case    reduce;
        histogram_case histogram;
        selection_case selection;
        run_case       run;
        sort_case      sort;
        integral_case  integral;
        quantile_case  quantile;
    } made;
    int strategy;
    memset(&made, 0, sizeof made);
    test.random = context->seed;
    strategy = (int)context->operation->make(row, &made);
    if (!test_strategies(context->operation->tests, &made, strategy, strategy)) /* refused: another runs the row */
        test_strategies(context->operation->tests, &made, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_MULTI_PASS);
}

static int row_fails(const void *given, const pairs_row *row) {
    test.is_attempt = 1;
    if (setjmp(test.back)) {
        test.is_attempt = 0;
        return 1;
    }
    run_row((const pairs_context *)given, row);
    test.is_attempt = 0;
    return 0;
}

static void check_row(const pairs_operation *operation, const pairs_row *row) {
    pairs_context context;
    pairs_row     least;
    context.operation = operation;
    context.seed = test.random;
    if (!row_fails(&context, row))
        return;
    test.is_quiet = 1;
    least = pairs_shrink(&operation->table, *row, row_fails, &context);
    test.is_quiet = 0;
    print_error("the simplest failing case:\n");
    if (!row_fails(&context, &least))
        print_error("passes when repeated\n");
    fail();
}

/* Checks one row in `share`, by default. */
static void check_share_of_pairs(const pairs_operation *operation, uint64_t share) {
    pairs_array p = pairs_new(&operation->table, test.is_long ? 3 : 2);
    uint64_t    seconds = test_environment("GPUSCAN_TEST_SECONDS", 0), calls = 0;
    pairs_row   row;
    time_t      start;
    unsigned    r;
    print_message("%s: %u calls cover every %u of %u levels, %zu combinations\n", operation->tests->name, p.row_count,
                  p.strength, p.first[operation->table.count], p.tuples);
    for (r = 0; r < p.row_count; r++)
        if (test_share(r, share))
            check_row(operation, &p.rows[r]);
    memset(&row, 0, sizeof row);
    for (start = time(NULL); difftime(time(NULL), start) < (double)seconds; calls++) { /* 30 calls of each program */
        row = pairs_random(&p, &row, calls % 30 ? operation->program : 0);
        check_row(operation, &row);
    }
    if (calls)
        print_message("%s: %" PRIu64 " calls at random\n", operation->tests->name, calls);
    pairs_free(&p);
}

static void check_pairs(const pairs_operation *operation) {
    check_share_of_pairs(operation, 2);
}

/* ---- the arrays themselves --------------------------------------------------------------------------------------- */

static int not_both_last(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    return !(a == 0 && a_level == 4 && b == 3 && b_level == 1); /* the last levels of the first and the last field */
}

static int not_all_three(const pairs_row *row) {
    return !(row->level[0] == 0 && row->level[2] == 1 && row->level[4] == 2);
}

/* Checks the arrays independently of their construction: every possible tuple is in a row, no other one is. */
static void arrays_are_whole(void **state) {
    static const pairs_field fields[] = {{"five", 5}, {"one", 1}, {"three", 3}, {"two", 2}, {"four", 4}};
    static const pairs_table table = {fields, 5, not_both_last, not_all_three};
    unsigned                 strength, a, b, c, i, j, k, r, found;
    (void)state;
    for (strength = 2; strength <= 3; strength++) {
        pairs_array p = pairs_new(&table, strength);
        test_case("%u rows for every %u", p.row_count, strength);
        assert_in_range(p.row_count, strength == 2 ? 20 : 59, strength == 2 ? 26 : 80);
        for (a = 0; a < 5; a++)
            for (b = a + 1; b < 5; b++)
                for (c = strength == 2 ? a : b + 1; c < (strength == 2 ? a + 1 : 5); c++)
                    for (i = 0; i < fields[a].levels; i++)
                        for (j = 0; j < fields[b].levels; j++)
                            for (k = 0; k < fields[c].levels; k++) {
                                int possible = not_both_last(a, i, b, j) && not_both_last(a, i, c, k) &&
                                               not_both_last(b, j, c, k) && (a != c || i == k) &&
                                               !(a == 0 && i == 0 && b == 2 && j == 1 && c == 4 && k == 2);
                                for (found = 0, r = 0; r < p.row_count; r++)
                                    found += p.rows[r].level[a] == i && p.rows[r].level[b] == j &&
                                             p.rows[r].level[c] == k;
                                if ((found > 0) != possible)
                                    fail_msg("%s: %u %u, %u %u, %u %u occur in %u rows", test.what, a, i, b, j, c, k,
                                             found);
                            }
        pairs_free(&p);
    }
}

/* ---- levels ------------------------------------------------------------------------------------------------------ */

/* Expand a table X(field, number of levels). A field's first level is the simplest. */
#define FIELD_NUMBER(name, levels) name,
#define FIELD_ROW(name, levels)    {#name, levels},

/* The number types, then the custom type. */
static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U8,  GPUSCAN_TYPE_I8,
                                     GPUSCAN_TYPE_U16, GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_I64,
                                     GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F64, GPUSCAN_TYPE_CUSTOM};

/* ARGMIN and ARGMAX, for reductions only, are last. */
static const struct {
    gpuscan_op           op;
    const test_operator *custom;
} ops[] = {{GPUSCAN_OP_ADD, NULL},
           {GPUSCAN_OP_MIN, NULL},
           {GPUSCAN_OP_MAX, NULL},
           {GPUSCAN_OP_MUL, NULL},
           {GPUSCAN_OP_AND, NULL},
           {GPUSCAN_OP_OR, NULL},
           {GPUSCAN_OP_XOR, NULL},
           {GPUSCAN_OP_CUSTOM, &op_run_join},
           {GPUSCAN_OP_CUSTOM, &op_marked_sum},
           {GPUSCAN_OP_CUSTOM, &op_seven_sum},
           {GPUSCAN_OP_CUSTOM, &op_last},
           {GPUSCAN_OP_CUSTOM, &op_three},
           {GPUSCAN_OP_CUSTOM, &op_twelve},
           {GPUSCAN_OP_CUSTOM, &op_matrix_product},
           {GPUSCAN_OP_CUSTOM, &op_forty},
           {GPUSCAN_OP_ARGMIN, NULL},
           {GPUSCAN_OP_ARGMAX, NULL}};
enum {
    LEVELS_TYPE = sizeof types / sizeof *types,
    LEVELS_OP_ARG = sizeof ops / sizeof *ops,
    LEVELS_OP = LEVELS_OP_ARG - 2
};

/* Returns whether an operator accepts elements of a type. */
static int op_takes(unsigned op, unsigned type) {
    if (ops[op].custom)
        return types[type] == ops[op].custom->type;
    return types[type] != GPUSCAN_TYPE_CUSTOM && test_has_type(types[type]);
}

static int op_gives(unsigned op, unsigned type) {
    if (ref_op_kind(ops[op].op) == REF_ARG)
        return types[type] == GPUSCAN_TYPE_U32 || types[type] == GPUSCAN_TYPE_U64;
    return op_takes(op, type) && (ops[op].custom || test_op_fits(types[type], ops[op].op));
}

static int types_convert(unsigned from, unsigned to) {
    return (types[from] == GPUSCAN_TYPE_CUSTOM) == (types[to] == GPUSCAN_TYPE_CUSTOM);
}

/* Conversions need a built-in operator that combines. */
static int op_converts(unsigned op, unsigned converts) {
    return !converts || (ref_op_kind(ops[op].op) & REF_BUILTIN) != 0;
}

/* Beside extreme floats, sums would lose what the conversion adds. */
static int stays_exact(unsigned from, unsigned converts, unsigned filling) {
    return from == PAIRS_OPEN || !ref_is_float(types[from]) || converts == 0 || converts == PAIRS_OPEN ||
           filling != FILL_EXTREME;
}

static size_t level_size(unsigned type, unsigned op) {
    return ops[op].custom ? test_operator_size(ops[op].custom) : ref_size(types[type]);
}

static const uint64_t offsets[] = {0, 1, 3, 8, 13};
enum { LEVELS_OFFSET = 5 };

/* Returns a tile's bytes, equal for every strategy: see test_chunk in main. */
static uint64_t tile_bytes(void) {
    const gpuscan__tuning *tuning = gpuscan__any_tuning(test.gs);
    return (uint64_t)tuning->group * tuning->vectors * 16;
}

/* Counts for elements of a size: none, one, few, 257, a vector less than a tile and more, several tiles and 7. */
enum { LEVEL_COUNT_FEW = 2, LEVELS_COUNT = 7 };

static uint64_t level_count(unsigned level, size_t size) {
    uint64_t tile = tile_bytes() / size, vector = size < 16 ? 16 / size : 1;
    switch (level) {
    case 0:
    case 1:
        return level;
    case LEVEL_COUNT_FEW:
        return 5;
    case 3:
        return 257;
    case 4:
        return tile - vector;
    case 5:
        return tile + vector;
    default:
        return 3 * tile + 7;
    }
}

/* Rows: not given, 1, 3, many, very many with few elements. */
enum { LEVEL_ROWS_MOST = 4, LEVELS_ROWS = 5 };

static uint64_t level_rows(unsigned level) {
    return level < 2 ? level : level == 2 ? 3 : level == 3 ? test_size(5, 19, 19) : test_size(300, 3001, 3001);
}

static int rows_possible(unsigned count, unsigned rows) {
    return rows < LEVEL_ROWS_MOST || count <= LEVEL_COUNT_FEW;
}

/* Pitches: not given, dense, padded to vectors, odd. */
enum { LEVELS_PITCH = 4 };

static uint64_t level_pitch(unsigned level, uint64_t count) {
    return level == 0 ? 0 : level == 1 ? count : level == 2 ? (count + 31) / 16 * 16 : (count | 1) + 2;
}

/* Counts on the device: not given, no element, half, all, more. */
enum { LEVELS_COUNT_BUFFER = 5 };

static uint64_t count_on_device(unsigned level, uint64_t count, gpuscan_type *type) {
    *type = level == 0 ? GPUSCAN_TYPE_DEFAULT : level % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U64;
    return level < 2 ? 0 : level == 2 ? count / 2 : level == 3 ? count : (UINT64_C(1) << 32) + 1;
}

/* ---- scan -------------------------------------------------------------------------------------------------------- */

#define SCAN_FIELDS(X)                                                                                                 \
    X(SCAN_FROM, LEVELS_TYPE)                                                                                          \
    X(SCAN_TO, LEVELS_TYPE)                                                                                            \
    X(SCAN_OP, LEVELS_OP)                                                                                              \
    X(SCAN_STRATEGY, GPUSCAN_STRATEGY_COUNT)                                                                           \
    X(SCAN_KIND, 2)                                                                                                    \
    X(SCAN_CONVERTS, 4)                                                                                                \
    X(SCAN_FILLING, FILL_COUNT)                                                                                        \
    X(SCAN_COUNT, LEVELS_COUNT)                                                                                        \
    X(SCAN_ROWS, LEVELS_ROWS)                                                                                          \
    X(SCAN_SRC_PITCH, LEVELS_PITCH)                                                                                    \
    X(SCAN_DST_PITCH, LEVELS_PITCH)                                                                                    \
    X(SCAN_SRC_OFFSET, LEVELS_OFFSET)                                                                                  \
    X(SCAN_DST_OFFSET, LEVELS_OFFSET)                                                                                  \
    X(SCAN_INIT_OFFSET, LEVELS_OFFSET)                                                                                 \
    X(SCAN_TOTAL_OFFSET, LEVELS_OFFSET)                                                                                \
    X(SCAN_PLACE, 3)                                                                                                   \
    X(SCAN_INIT, 3)                                                                                                    \
    X(SCAN_TOTAL, 2)                                                                                                   \
    X(SCAN_COUNT_BUFFER, LEVELS_COUNT_BUFFER)                                                                          \
    X(SCAN_SCRATCH, 3)                                                                                                 \
    X(SCAN_EVENTS, 2)                                                                                                  \
    X(SCAN_REVERSE, 2)                                                                                                 \
    X(SCAN_COLUMNS, 2)
enum { SCAN_FIELDS(FIELD_NUMBER) SCAN_FIELD_COUNT };
static const pairs_field scan_fields[] = {SCAN_FIELDS(FIELD_ROW)};

enum { PLACE_OTHER, PLACE_SAME, PLACE_BESIDE }; /* dst: another buffer, src, or the gaps of src */

static int scan_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    if (a == SCAN_FROM && b == SCAN_TO)
        return types_convert(a_level, b_level);
    if (a == SCAN_FROM && b == SCAN_OP)
        return op_takes(b_level, a_level);
    if (a == SCAN_TO && b == SCAN_OP)
        return op_gives(b_level, a_level);
    if (a == SCAN_OP && b == SCAN_CONVERTS)
        return op_converts(a_level, b_level);
    if (a == SCAN_COUNT && b == SCAN_ROWS)
        return rows_possible(a_level, b_level);
    if (a == SCAN_STRATEGY && b == SCAN_PLACE)
        return !(a_level == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD && b_level == PLACE_SAME);
    return 1;
}

/* In one buffer, types must have one size, and offsets and pitches must be equal. */
static int scan_fits(const pairs_row *row) {
    const unsigned char *level = row->level;
#define SCAN_DIFFER(a, b) (level[a] != PAIRS_OPEN && level[b] != PAIRS_OPEN && level[a] != level[b])
    if (!stays_exact(level[SCAN_FROM], level[SCAN_CONVERTS], level[SCAN_FILLING]))
        return 0;
    if (level[SCAN_PLACE] == PAIRS_OPEN || level[SCAN_PLACE] == PLACE_OTHER)
        return 1;
    if (SCAN_DIFFER(SCAN_FROM, SCAN_TO) && (types[level[SCAN_FROM]] == GPUSCAN_TYPE_CUSTOM ||
                                            types[level[SCAN_TO]] == GPUSCAN_TYPE_CUSTOM ||
                                            ref_size(types[level[SCAN_FROM]]) != ref_size(types[level[SCAN_TO]])))
        return 0;
    return !SCAN_DIFFER(SCAN_SRC_PITCH, SCAN_DST_PITCH) && !SCAN_DIFFER(SCAN_SRC_OFFSET, SCAN_DST_OFFSET);
}

static gpuscan_strategy scan_of(const pairs_row *row, void *made) {
    const unsigned char *level = row->level;
    size_t    from = level_size(level[SCAN_FROM], level[SCAN_OP]), to = level_size(level[SCAN_TO], level[SCAN_OP]);
    uint64_t  count = level_count(level[SCAN_COUNT], from > to ? from : to), line;
    scan_case c = a_scan(types[level[SCAN_FROM]], ops[level[SCAN_OP]].op, count);
    c.to = types[level[SCAN_TO]];
    c.custom = ops[level[SCAN_OP]].custom;
    c.kind = (gpuscan_scan_kind)level[SCAN_KIND];
    c.filling = (test_filling)level[SCAN_FILLING];
    c.converts = level[SCAN_CONVERTS];
    c.rows = level_rows(level[SCAN_ROWS]);
    c.columns = level[SCAN_COLUMNS];
    line = !c.columns ? count : c.rows ? c.rows : 1;
    c.src_pitch = level_pitch(level[SCAN_SRC_PITCH], line);
    c.dst_pitch = level_pitch(level[SCAN_DST_PITCH], line);
    c.src_offset = offsets[level[SCAN_SRC_OFFSET]];
    c.dst_offset = offsets[level[SCAN_DST_OFFSET]];
    c.init_offset = offsets[level[SCAN_INIT_OFFSET]];
    c.total_offset = offsets[level[SCAN_TOTAL_OFFSET]];
    c.in_place = level[SCAN_PLACE] != PLACE_OTHER;
    if (level[SCAN_PLACE] == PLACE_BESIDE) { /* dst's rows begin at src's pitch */
        c.shift = c.src_pitch ? c.src_pitch : line;
        c.src_pitch = c.dst_pitch = c.shift + (c.dst_pitch ? c.dst_pitch : line);
    }
    c.init = (test_init)level[SCAN_INIT];
    c.total = level[SCAN_TOTAL];
    c.device_count = count_on_device(level[SCAN_COUNT_BUFFER], count, &c.count_type);
    c.scratch = (test_scratch_choice)level[SCAN_SCRATCH];
    c.events = level[SCAN_EVENTS];
    c.reverse = level[SCAN_REVERSE];
    *(scan_case *)made = c;
    return (gpuscan_strategy)level[SCAN_STRATEGY];
}

static void scan_pairs(void **state) {
    static const pairs_operation operation = {
        &scans, {scan_fields, SCAN_FIELD_COUNT, scan_possible, scan_fits}, SCAN_CONVERTS + 1, scan_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- uniform add ------------------------------------------------------------------------------------------------- */

#define ADD_FIELDS(X)                                                                                                  \
    X(ADD_TYPE, LEVELS_TYPE)                                                                                           \
    X(ADD_OP, LEVELS_OP)                                                                                               \
    X(ADD_STRATEGY, 3)                                                                                                 \
    X(ADD_CONVERTS, 2)                                                                                                 \
    X(ADD_FILLING, FILL_COUNT)                                                                                         \
    X(ADD_COUNT, LEVELS_COUNT)                                                                                         \
    X(ADD_BLOCK, 9)                                                                                                    \
    X(ADD_DST_OFFSET, LEVELS_OFFSET)                                                                                   \
    X(ADD_ADDEND_OFFSET, LEVELS_OFFSET)                                                                                \
    X(ADD_COUNT_BUFFER, LEVELS_COUNT_BUFFER)                                                                           \
    X(ADD_SCRATCH, 3)                                                                                                  \
    X(ADD_EVENTS, 2)
enum { ADD_FIELDS(FIELD_NUMBER) ADD_FIELD_COUNT };
static const pairs_field add_fields[] = {ADD_FIELDS(FIELD_ROW)};

static int add_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    if (a == ADD_TYPE && b == ADD_OP)
        return op_gives(b_level, a_level);
    if (a == ADD_OP && b == ADD_CONVERTS)
        return op_converts(a_level, b_level);
    return 1;
}

static gpuscan_strategy add_of(const pairs_row *row, void *made) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_CPU_MULTI_PASS};
    const unsigned char *level = row->level;
    uint64_t       count = level_count(level[ADD_COUNT], level_size(level[ADD_TYPE], level[ADD_OP]));
    const uint64_t blocks[] = {1, 2, 3, 16, 100, 257, count ? count : 1, UINT64_C(1) << 32, UINT64_MAX};
    add_case       c = an_add(types[level[ADD_TYPE]], ops[level[ADD_OP]].op, count, blocks[level[ADD_BLOCK]]);
    c.custom = ops[level[ADD_OP]].custom;
    c.filling = (test_filling)level[ADD_FILLING];
    c.converts = level[ADD_CONVERTS];
    c.dst_offset = offsets[level[ADD_DST_OFFSET]];
    c.addend_offset = offsets[level[ADD_ADDEND_OFFSET]];
    c.device_count = count_on_device(level[ADD_COUNT_BUFFER], count, &c.count_type);
    c.scratch = (test_scratch_choice)level[ADD_SCRATCH];
    c.events = level[ADD_EVENTS];
    *(add_case *)made = c;
    return strategies[level[ADD_STRATEGY]];
}

static void uniform_add_pairs(void **state) {
    static const pairs_operation operation = {
        &uniform_adds, {add_fields, ADD_FIELD_COUNT, add_possible, NULL}, ADD_CONVERTS + 1, add_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- reduce ------------------------------------------------------------------------------------------------------ */

/* A single result, rows as in level_rows, or segments by offsets of two types. */
enum { CUT_OFFSETS_U32 = LEVELS_ROWS, CUT_OFFSETS_U64, LEVELS_CUT };

/* Segments: 1, none, 21, many. */
enum { LEVELS_SEGMENTS = 4 };
static uint64_t level_segments(unsigned level) {
    return level < 2 ? 1 - level : level == 2 ? 21 : test_size(500, 5003, 5003);
}

#define REDUCE_FIELDS(X)                                                                                               \
    X(REDUCE_FROM, LEVELS_TYPE)                                                                                        \
    X(REDUCE_TO, LEVELS_TYPE)                                                                                          \
    X(REDUCE_OP, LEVELS_OP_ARG)                                                                                        \
    X(REDUCE_STRATEGY, GPUSCAN_STRATEGY_COUNT)                                                                         \
    X(REDUCE_CONVERTS, 4)                                                                                              \
    X(REDUCE_FILLING, FILL_COUNT)                                                                                      \
    X(REDUCE_COUNT, LEVELS_COUNT)                                                                                      \
    X(REDUCE_CUT, LEVELS_CUT)                                                                                          \
    X(REDUCE_SRC_PITCH, LEVELS_PITCH)                                                                                  \
    X(REDUCE_CUTS, CUTS_COUNT)                                                                                         \
    X(REDUCE_SEGMENTS, LEVELS_SEGMENTS)                                                                                \
    X(REDUCE_SRC_OFFSET, LEVELS_OFFSET)                                                                                \
    X(REDUCE_DST_OFFSET, LEVELS_OFFSET)                                                                                \
    X(REDUCE_INIT, 3)                                                                                                  \
    X(REDUCE_RESULT, 2)                                                                                                \
    X(REDUCE_COUNT_BUFFER, LEVELS_COUNT_BUFFER)                                                                        \
    X(REDUCE_SCRATCH, 3)                                                                                               \
    X(REDUCE_EVENTS, 2)
enum { REDUCE_FIELDS(FIELD_NUMBER) REDUCE_FIELD_COUNT };
static const pairs_field reduce_fields[] = {REDUCE_FIELDS(FIELD_ROW)};

static int reduce_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    if (a == REDUCE_FROM && b == REDUCE_TO)
        return types_convert(a_level, b_level);
    if (a == REDUCE_FROM && b == REDUCE_OP)
        return op_takes(b_level, a_level);
    if (a == REDUCE_TO && b == REDUCE_OP)
        return op_gives(b_level, a_level);
    if (a == REDUCE_OP && b == REDUCE_CONVERTS)
        return op_converts(a_level, b_level);
    if (a == REDUCE_OP && b == REDUCE_INIT)
        return ref_op_kind(ops[a_level].op) != REF_ARG || b_level == INIT_NONE;
    if (a == REDUCE_COUNT && b == REDUCE_CUT)
        return b_level >= CUT_OFFSETS_U32 || rows_possible(a_level, b_level);
    if (a == REDUCE_CUT && b == REDUCE_SRC_PITCH)
        return a_level < CUT_OFFSETS_U32 || b_level == 0;
    if (a == REDUCE_CUT && (b == REDUCE_CUTS || b == REDUCE_SEGMENTS))
        return a_level >= CUT_OFFSETS_U32 || b_level == 0;
    if (a == REDUCE_CUTS && b == REDUCE_SEGMENTS)
        return b_level != 1 || a_level == 0;
    return 1;
}

static int reduce_fits(const pairs_row *row) {
    return stays_exact(row->level[REDUCE_FROM], row->level[REDUCE_CONVERTS], row->level[REDUCE_FILLING]);
}

static gpuscan_strategy reduce_of(const pairs_row *row, void *made) {
    const unsigned char *level = row->level;
    uint64_t    count = level_count(level[REDUCE_COUNT], level_size(level[REDUCE_FROM], level[REDUCE_OP]));
    reduce_case c = a_reduction(types[level[REDUCE_FROM]], ops[level[REDUCE_OP]].op, count);
    c.to = types[level[REDUCE_TO]];
    c.custom = ops[level[REDUCE_OP]].custom;
    c.filling = (test_filling)level[REDUCE_FILLING];
    c.converts = level[REDUCE_CONVERTS];
    c.src_offset = offsets[level[REDUCE_SRC_OFFSET]];
    c.dst_offset = offsets[level[REDUCE_DST_OFFSET]];
    if (level[REDUCE_CUT] >= CUT_OFFSETS_U32) {
        c.offsets = level[REDUCE_CUT] == CUT_OFFSETS_U32 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U64;
        c.segments = level_segments(level[REDUCE_SEGMENTS]);
        c.cuts = (test_cuts)level[REDUCE_CUTS];
        c.offsets_offset = offsets[(level[REDUCE_DST_OFFSET] + level[REDUCE_SRC_OFFSET]) % LEVELS_OFFSET];
    } else {
        c.rows = level_rows(level[REDUCE_CUT]);
        c.src_pitch = level_pitch(level[REDUCE_SRC_PITCH], count);
    }
    c.init = (test_init)level[REDUCE_INIT];
    c.to_host = level[REDUCE_RESULT];
    c.device_count = count_on_device(level[REDUCE_COUNT_BUFFER], count, &c.count_type);
    c.scratch = (test_scratch_choice)level[REDUCE_SCRATCH];
    c.events = level[REDUCE_EVENTS];
    *(reduce_case *)made = c;
    return (gpuscan_strategy)level[REDUCE_STRATEGY];
}

static void reduce_pairs(void **state) {
    static const pairs_operation operation = {
        &reductions, {reduce_fields, REDUCE_FIELD_COUNT, reduce_possible, reduce_fits}, REDUCE_CONVERTS + 1, reduce_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- scan by segments -------------------------------------------------------------------------------------------- */

/* Where segments begin: by offsets, heads, or keys of any number type. */
static const struct {
    gpuscan_segment_form form;
    gpuscan_type         type;
} segment_data[] = {{GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_U32},   {GPUSCAN_SEGMENTS_HEADS, GPUSCAN_TYPE_U8},
                    {GPUSCAN_SEGMENTS_OFFSETS, GPUSCAN_TYPE_U32}, {GPUSCAN_SEGMENTS_OFFSETS, GPUSCAN_TYPE_U64},
                    {GPUSCAN_SEGMENTS_HEADS, GPUSCAN_TYPE_U16},  {GPUSCAN_SEGMENTS_HEADS, GPUSCAN_TYPE_U32},
                    {GPUSCAN_SEGMENTS_HEADS, GPUSCAN_TYPE_U64},  {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_I8},
                    {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_U8},    {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_I16},
                    {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_U16},   {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_I32},
                    {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_I64},   {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_U64},
                    {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_F16},   {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_F32},
                    {GPUSCAN_SEGMENTS_KEYS, GPUSCAN_TYPE_F64}};
enum { LEVELS_SEGMENT_DATA = 17 };

#define SEGMENTED_FIELDS(X)                                                                                            \
    X(SEGMENTED_FROM, LEVELS_TYPE)                                                                                     \
    X(SEGMENTED_TO, LEVELS_TYPE)                                                                                       \
    X(SEGMENTED_OP, LEVELS_OP)                                                                                         \
    X(SEGMENTED_STRATEGY, GPUSCAN_STRATEGY_COUNT)                                                                      \
    X(SEGMENTED_KIND, 2)                                                                                               \
    X(SEGMENTED_DATA, LEVELS_SEGMENT_DATA)                                                                             \
    X(SEGMENTED_CONVERTS, 4)                                                                                           \
    X(SEGMENTED_FILLING, FILL_COUNT)                                                                                   \
    X(SEGMENTED_COUNT, LEVELS_COUNT)                                                                                   \
    X(SEGMENTED_CUTS, CUTS_COUNT)                                                                                      \
    X(SEGMENTED_SEGMENTS, LEVELS_SEGMENTS)                                                                             \
    X(SEGMENTED_SRC_OFFSET, LEVELS_OFFSET)                                                                             \
    X(SEGMENTED_DST_OFFSET, LEVELS_OFFSET)                                                                             \
    X(SEGMENTED_KEYS_OFFSET, LEVELS_OFFSET)                                                                            \
    X(SEGMENTED_IN_PLACE, 2)                                                                                           \
    X(SEGMENTED_INIT, 3)                                                                                               \
    X(SEGMENTED_COUNT_BUFFER, LEVELS_COUNT_BUFFER)                                                                     \
    X(SEGMENTED_SCRATCH, 3)                                                                                            \
    X(SEGMENTED_EVENTS, 2)                                                                                             \
    X(SEGMENTED_REVERSE, 2)
enum { SEGMENTED_FIELDS(FIELD_NUMBER) SEGMENTED_FIELD_COUNT };
static const pairs_field segmented_fields[] = {SEGMENTED_FIELDS(FIELD_ROW)};

static int segmented_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    if (a == SEGMENTED_FROM && b == SEGMENTED_TO)
        return types_convert(a_level, b_level);
    if (a == SEGMENTED_FROM && b == SEGMENTED_OP)
        return op_takes(b_level, a_level);
    if (a == SEGMENTED_TO && b == SEGMENTED_OP)
        return op_gives(b_level, a_level);
    if (a == SEGMENTED_OP && b == SEGMENTED_CONVERTS)
        return op_converts(a_level, b_level);
    if (a == SEGMENTED_CUTS && b == SEGMENTED_SEGMENTS)
        return b_level != 1 || a_level == 0;
    if (a == SEGMENTED_STRATEGY && b == SEGMENTED_IN_PLACE)
        return !(a_level == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD && b_level);
    return 1;
}

/* In one buffer, types must have one size, and offsets must be equal. */
static int segmented_fits(const pairs_row *row) {
    const unsigned char *level = row->level;
#define SEGMENTED_DIFFER(a, b) (level[a] != PAIRS_OPEN && level[b] != PAIRS_OPEN && level[a] != level[b])
    if (!stays_exact(level[SEGMENTED_FROM], level[SEGMENTED_CONVERTS], level[SEGMENTED_FILLING]))
        return 0;
    if (level[SEGMENTED_IN_PLACE] == PAIRS_OPEN || !level[SEGMENTED_IN_PLACE])
        return 1;
    if (SEGMENTED_DIFFER(SEGMENTED_FROM, SEGMENTED_TO) &&
        (types[level[SEGMENTED_FROM]] == GPUSCAN_TYPE_CUSTOM || types[level[SEGMENTED_TO]] == GPUSCAN_TYPE_CUSTOM ||
         ref_size(types[level[SEGMENTED_FROM]]) != ref_size(types[level[SEGMENTED_TO]])))
        return 0;
    return !SEGMENTED_DIFFER(SEGMENTED_SRC_OFFSET, SEGMENTED_DST_OFFSET);
}

static gpuscan_strategy segmented_of(const pairs_row *row, void *made) {
    const unsigned char *level = row->level;
    size_t    from = level_size(level[SEGMENTED_FROM], level[SEGMENTED_OP]);
    size_t    to = level_size(level[SEGMENTED_TO], level[SEGMENTED_OP]);
    uint64_t  count = level_count(level[SEGMENTED_COUNT], from > to ? from : to);
    scan_case c = a_scan(types[level[SEGMENTED_FROM]], ops[level[SEGMENTED_OP]].op, count);
    c.to = types[level[SEGMENTED_TO]];
    c.custom = ops[level[SEGMENTED_OP]].custom;
    c.kind = (gpuscan_scan_kind)level[SEGMENTED_KIND];
    c.form = segment_data[level[SEGMENTED_DATA]].form;
    c.keys = segment_data[level[SEGMENTED_DATA]].type;
    c.filling = (test_filling)level[SEGMENTED_FILLING];
    c.converts = level[SEGMENTED_CONVERTS];
    c.segments = level_segments(level[SEGMENTED_SEGMENTS]);
    c.cuts = (test_cuts)level[SEGMENTED_CUTS];
    c.src_offset = offsets[level[SEGMENTED_SRC_OFFSET]];
    c.dst_offset = offsets[level[SEGMENTED_DST_OFFSET]];
    c.keys_offset = offsets[level[SEGMENTED_KEYS_OFFSET]];
    c.in_place = level[SEGMENTED_IN_PLACE];
    c.init = (test_init)level[SEGMENTED_INIT];
    c.device_count = count_on_device(level[SEGMENTED_COUNT_BUFFER], count, &c.count_type);
    c.scratch = (test_scratch_choice)level[SEGMENTED_SCRATCH];
    c.events = level[SEGMENTED_EVENTS];
    c.reverse = level[SEGMENTED_REVERSE];
    *(scan_case *)made = c;
    return (gpuscan_strategy)level[SEGMENTED_STRATEGY];
}

static void segmented_pairs(void **state) {
    static const pairs_operation operation = {
        &scans,  {segmented_fields, SEGMENTED_FIELD_COUNT, segmented_possible, segmented_fits}, SEGMENTED_CONVERTS + 1,
        segmented_of};
    (void)state;
    check_share_of_pairs(&operation, 14);
}

/* ---- histogram --------------------------------------------------------------------------------------------------- */

#define HISTOGRAM_FIELDS(X)                                                                                            \
    X(HISTOGRAM_TYPE, 11)                                                                                              \
    X(HISTOGRAM_FORM, 4)                                                                                               \
    X(HISTOGRAM_BINS, 8)                                                                                               \
    X(HISTOGRAM_STRATEGY, 6)                                                                                           \
    X(HISTOGRAM_CHANNELS, 4)                                                                                           \
    X(HISTOGRAM_MASK, 4)                                                                                               \
    X(HISTOGRAM_OUTSIDE, 3)                                                                                            \
    X(HISTOGRAM_CLOSED, 2)                                                                                             \
    X(HISTOGRAM_WEIGHTS, 5)                                                                                            \
    X(HISTOGRAM_COUNTER, 2)                                                                                            \
    X(HISTOGRAM_STRIDE, 3)                                                                                             \
    X(HISTOGRAM_SAMPLES_OFFSET, 5)                                                                                     \
    X(HISTOGRAM_OFFSETS, 3)                                                                                            \
    X(HISTOGRAM_COUNT, 4)                                                                                              \
    X(HISTOGRAM_ROWS, 4)                                                                                               \
    X(HISTOGRAM_WEIGHTS_PITCH, 2)                                                                                      \
    X(HISTOGRAM_ACCUMULATE, 2)                                                                                         \
    X(HISTOGRAM_COUNT_BUFFER, 5)                                                                                       \
    X(HISTOGRAM_SCRATCH, 3)                                                                                            \
    X(HISTOGRAM_EVENTS, 2)
enum { HISTOGRAM_FIELDS(FIELD_NUMBER) HISTOGRAM_FIELD_COUNT };
static const pairs_field histogram_fields[] = {HISTOGRAM_FIELDS(FIELD_ROW)};

enum { FORM_WHOLE, FORM_RANGE, FORM_EDGES, FORM_VALUES };

static const uint32_t strides[] = {0, 3, 8}; /* of counters */
static const uint32_t histogram_bins[] = {1, 2, 255, 256, 257, 4096, 65536, 1 << 20};

static int histogram_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    unsigned bins = a == HISTOGRAM_BINS ? a_level : b == HISTOGRAM_BINS ? b_level : 0;
    if (test.is_small && histogram_bins[bins] > 4096)
        return 0;
    if (a == HISTOGRAM_TYPE) {
        if (!test_has_type(types[a_level]))
            return 0;
        return !(b == HISTOGRAM_FORM && b_level == FORM_VALUES && ref_is_float(types[a_level]));
    }
    if (a == HISTOGRAM_BINS && b == HISTOGRAM_STRATEGY) /* refused unless the bins fit local memory */
        return histogram_bins[a_level] < 65536 || (b_level != GPUSCAN_STRATEGY_SINGLE_PASS &&
                                                   b_level != GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD);
    return 1;
}

/* Picks a range that suits the bins, or a random one. */
static void random_range(gpuscan_histogram_desc *d) {
    static const double reals[][2] = {{-1, 1},      {0.1, 0.7},    {-1000, 1000}, {1000, 1001},
                                      {-3e38, 3e38}, {-1e-3, 65504}, {1, 1.001},   {-4, 0}};
    gpuscan_type        type = d->sample_type;
    uint64_t            choice = test_below(4);
    ref_value           a = ref_wrap(type, test_random()), b = ref_wrap(type, test_random());
    if (ref_is_float(type)) {
        choice = test_below(sizeof reals / sizeof reals[0]);
        d->lower.f = reals[choice][0];
        d->upper.f = reals[choice][1];
        return;
    }
    if (choice < 3) /* a value a bin, four, or three and one left over */
        b.bits = a.bits + (uint64_t)d->bins * (choice == 0 ? 1 : choice == 1 ? 4 : 3) + (choice == 2);
    d->lower.u = ref_less(type, a, b) ? a.bits : b.bits;
    d->upper.u = ref_less(type, a, b) ? b.bits : a.bits + (a.bits == b.bits);
}

static gpuscan_strategy histogram_of(const pairs_row *row, void *made) {
    static const gpuscan_type weights[] = {GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32,
                                           GPUSCAN_TYPE_U64};
    static const uint64_t     counts[] = {0, 1, 257, 2003};
    const unsigned char      *level = row->level;
    gpuscan_type              type = types[level[HISTOGRAM_TYPE]];
    uint32_t                  channels = 1 + level[HISTOGRAM_CHANNELS];
    uint64_t                  count = counts[level[HISTOGRAM_COUNT]] / test_size(10, 1, 1);
    histogram_case            c = a_histogram(type, histogram_bins[level[HISTOGRAM_BINS]], count);
    gpuscan_histogram_desc   *d = &c.d;
    d->form = level[HISTOGRAM_FORM] == FORM_EDGES    ? GPUSCAN_BINS_EDGES
              : level[HISTOGRAM_FORM] == FORM_VALUES ? GPUSCAN_BINS_VALUES
                                                     : GPUSCAN_BINS_EVEN;
    if (level[HISTOGRAM_FORM] == FORM_RANGE || level[HISTOGRAM_FORM] == FORM_VALUES)
        random_range(d);
    if (d->form == GPUSCAN_BINS_VALUES)
        d->upper.u = 0;
    d->channels = channels;
    d->channel_mask = level[HISTOGRAM_MASK] == 0   ? 0                        /* all */
                      : level[HISTOGRAM_MASK] == 1 ? 1                        /* the first */
                      : level[HISTOGRAM_MASK] == 2 ? 1u << (channels - 1)     /* the last */
                                                   : (1u << channels) - 2;    /* all but the first; of one channel 0 */
    d->outside = (gpuscan_outside)level[HISTOGRAM_OUTSIDE];
    d->closed = level[HISTOGRAM_CLOSED];
    c.is_weighted = level[HISTOGRAM_WEIGHTS] != 0;
    d->weight_type = weights[level[HISTOGRAM_WEIGHTS]];
    d->counter_type = level[HISTOGRAM_COUNTER] ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
    d->accumulate = level[HISTOGRAM_ACCUMULATE];
    d->counts_stride = strides[level[HISTOGRAM_STRIDE]];
    d->rows = level[HISTOGRAM_ROWS] == 0 ? 0 : level[HISTOGRAM_ROWS] == 3 ? 19 : 3;
    d->pitch = level[HISTOGRAM_ROWS] < 2 ? 0 : count + (level[HISTOGRAM_ROWS] == 2 ? 1 : 6);
    d->weights_pitch = level[HISTOGRAM_WEIGHTS_PITCH] ? count + 5 : 0;
    c.samples_offset = offsets[level[HISTOGRAM_SAMPLES_OFFSET]];
    c.counts_offset = offsets[level[HISTOGRAM_OFFSETS]];
    c.edges_offset = c.weights_offset = offsets[(level[HISTOGRAM_OFFSETS] + 1) % 3];
    c.device_count = count_on_device(level[HISTOGRAM_COUNT_BUFFER], count, &d->count_type);
    c.scratch = (test_scratch_choice)level[HISTOGRAM_SCRATCH];
    c.events = level[HISTOGRAM_EVENTS];
    *(histogram_case *)made = c;
    return (gpuscan_strategy)level[HISTOGRAM_STRATEGY];
}

static void histogram_pairs(void **state) {
    static const pairs_operation operation = {
        &histograms,
        {histogram_fields, HISTOGRAM_FIELD_COUNT, histogram_possible, NULL},
        HISTOGRAM_STRIDE + 1,
        histogram_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- histograms of pictures: expressions, tiles, rows in bytes --------------------------------------------------- */

/* The fields that decide the program come first. */
#define PICTURE_FIELDS(X)                                                                                              \
    X(PICTURE_EXPRESSION, EXPRESSIONS + 1)                                                                             \
    X(PICTURE_TILES, 5)                                                                                                \
    X(PICTURE_FORM, 3)                                                                                                 \
    X(PICTURE_BINS, 3)                                                                                                 \
    X(PICTURE_STRATEGY, 4)                                                                                             \
    X(PICTURE_CHANNELS, 4)                                                                                             \
    X(PICTURE_OUTSIDE, 3)                                                                                              \
    X(PICTURE_WEIGHTS, 2)                                                                                              \
    X(PICTURE_COUNTER, 2)                                                                                              \
    X(PICTURE_STRIDE, 2)                                                                                               \
    X(PICTURE_COUNT, 5)                                                                                                \
    X(PICTURE_ROWS, 4)                                                                                                 \
    X(PICTURE_PITCH, 4)                                                                                                \
    X(PICTURE_SAMPLES_OFFSET, 5)                                                                                       \
    X(PICTURE_OFFSETS, 3)                                                                                              \
    X(PICTURE_ACCUMULATE, 2)                                                                                           \
    X(PICTURE_COUNT_BUFFER, 5)                                                                                         \
    X(PICTURE_SCRATCH, 3)                                                                                              \
    X(PICTURE_EVENTS, 2)
enum { PICTURE_FIELDS(FIELD_NUMBER) PICTURE_FIELD_COUNT };
static const pairs_field picture_fields[] = {PICTURE_FIELDS(FIELD_ROW)};

static const uint32_t         picture_bins[] = {256, 5, 70000};
static const gpuscan_strategy picture_strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                      GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS};

static int picture_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    if (a == PICTURE_EXPRESSION && b == PICTURE_FORM && b_level == 2) /* by value: integers only */
        return a_level == 0 || expressions[a_level - 1].type != GPUSCAN_TYPE_F16;
    if (a == PICTURE_TILES && b == PICTURE_BINS) /* 70000 counters for each tile of 7 x 3 pixels would take gigabytes */
        return a_level != 3 || b_level != 2;
    if (a == PICTURE_BINS && b == PICTURE_STRATEGY) /* refused unless the bins fit local memory */
        return a_level != 2 || picture_strategies[b_level] != GPUSCAN_STRATEGY_SINGLE_PASS;
    if (a == PICTURE_EXPRESSION && b == PICTURE_CHANNELS) /* an expression has its own channels */
        return a_level == 0 || b_level == 0;
    if (a == PICTURE_FORM && b == PICTURE_CHANNELS) /* bounds of each channel: not by value */
        return a_level != 2 || b_level < 2;
    return 1;
}

static gpuscan_strategy picture_of(const pairs_row *row, void *made) {
    static const uint64_t counts[] = {0, 1, 37, 101, 640};
    static const uint64_t tiles[][2] = {{0, 0}, {0, 1}, {64, 64}, {7, 3}, {100, 0}};
    static const gpuscan_bound channels[6] = {{3}, {103}, {0}, {256}, {50}, {151}};
    const unsigned char  *level = row->level;
    unsigned              expression = level[PICTURE_EXPRESSION];
    uint64_t              count = counts[level[PICTURE_COUNT]] / test_size(5, 1, 1), pixel;
    histogram_case        c = a_histogram(GPUSCAN_TYPE_U8, picture_bins[level[PICTURE_BINS]], count);
    gpuscan_histogram_desc *d = &c.d;
    int                     is_real = expression && expressions[expression - 1].type == GPUSCAN_TYPE_F16;
    c.expression = expression;
    d->channels = level[PICTURE_CHANNELS] ? 3 : 1;
    d->channel_mask = level[PICTURE_CHANNELS] == 3 ? 5 : 0;
    if (expression) {
        d->sample_type = expressions[expression - 1].type;
        d->channels = expressions[expression - 1].channels;
    }
    pixel = element_size(&c) * d->channels;
    d->form = level[PICTURE_FORM] == 0   ? GPUSCAN_BINS_EVEN
              : level[PICTURE_FORM] == 1 ? GPUSCAN_BINS_EDGES
                                         : GPUSCAN_BINS_VALUES;
    if (is_real && d->form == GPUSCAN_BINS_EVEN) {
        d->lower.f = -2000;
        d->upper.f = 3000.5;
    } else if (d->form == GPUSCAN_BINS_EVEN && expression) {
        d->lower.i = expressions[expression - 1].value_of ? 3 : 1000;
        d->upper.i = d->lower.i + 200;
    } else if (d->form == GPUSCAN_BINS_VALUES) {
        d->lower.i = 50;
    }
    if (level[PICTURE_CHANNELS] >= 2) { /* each with its own; bin modes differ outside the mask only */
        if (d->form == GPUSCAN_BINS_EVEN)
            d->channel_bounds = channels;
        else
            d->edges_pitch = d->bins + 2;
    }
    d->closed = level[PICTURE_COUNTER];
    d->outside = (gpuscan_outside)level[PICTURE_OUTSIDE];
    c.is_weighted = level[PICTURE_WEIGHTS];
    d->weight_type = level[PICTURE_WEIGHTS] ? GPUSCAN_TYPE_U16 : GPUSCAN_TYPE_DEFAULT;
    d->counter_type = level[PICTURE_COUNTER] ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
    d->rows = level[PICTURE_ROWS] == 0 ? 0 : level[PICTURE_ROWS] == 1 ? 1 : level[PICTURE_ROWS] == 2 ? 9 : 70;
    d->pitch = level[PICTURE_PITCH] == 1 ? count + 5 : 0;
    if (level[PICTURE_PITCH] >= 2) { /* rows aligned to 4 bytes, and one element (of structs: one byte) more */
        d->pitch_bytes = (count * pixel + 3) / 4 * 4;
        if (level[PICTURE_PITCH] == 3)
            d->pitch_bytes = count * pixel + (d->sample_type == GPUSCAN_TYPE_CUSTOM ? 1 : element_size(&c));
    }
    d->tile_width = tiles[level[PICTURE_TILES]][0];
    d->tile_height = tiles[level[PICTURE_TILES]][1];
    d->weights_pitch = level[PICTURE_WEIGHTS] && level[PICTURE_PITCH] ? count + 3 : 0;
    d->accumulate = level[PICTURE_ACCUMULATE];
    d->counts_stride = strides[level[PICTURE_STRIDE]];
    c.samples_offset = offsets[level[PICTURE_SAMPLES_OFFSET]];
    c.counts_offset = offsets[level[PICTURE_OFFSETS]];
    c.edges_offset = c.weights_offset = offsets[(level[PICTURE_OFFSETS] + 1) % 3];
    c.device_count = count_on_device(level[PICTURE_COUNT_BUFFER], count, &d->count_type);
    c.scratch = (test_scratch_choice)level[PICTURE_SCRATCH];
    c.events = level[PICTURE_EVENTS];
    *(histogram_case *)made = c;
    return picture_strategies[level[PICTURE_STRATEGY]];
}

static void picture_pairs(void **state) {
    static const pairs_operation operation = {&histograms,
                                              {picture_fields, PICTURE_FIELD_COUNT, picture_possible, NULL},
                                              PICTURE_STRIDE + 1,
                                              picture_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- select ------------------------------------------------------------------------------------------------------ */

#define SELECT_FIELDS(X)                                                                                               \
    X(SELECT_TYPE, 7)                                                                                                  \
    X(SELECT_BY, 3)                                                                                                    \
    X(SELECT_FLAG_TYPE, 4)                                                                                             \
    X(SELECT_SRC_FLAGS, 2)                                                                                             \
    X(SELECT_INVERT, 2)                                                                                                \
    X(SELECT_STRATEGY, GPUSCAN_STRATEGY_COUNT)                                                                         \
    X(SELECT_NO_DST, 2)                                                                                                \
    X(SELECT_INDICES, 3)                                                                                               \
    X(SELECT_PAYLOADS, 5)                                                                                              \
    X(SELECT_IN_PLACE, 3)                                                                                              \
    X(SELECT_DENSITY, 5)                                                                                               \
    X(SELECT_COUNT, LEVELS_COUNT)                                                                                      \
    X(SELECT_CAPACITY, 4)                                                                                              \
    X(SELECT_SRC_OFFSET, LEVELS_OFFSET)                                                                                \
    X(SELECT_DST_OFFSET, LEVELS_OFFSET)                                                                                \
    X(SELECT_FLAGS_OFFSET, LEVELS_OFFSET)                                                                              \
    X(SELECT_OTHER_OFFSETS, LEVELS_OFFSET)                                                                             \
    X(SELECT_TALLY, 3)                                                                                                 \
    X(SELECT_DISPATCH, 2)                                                                                              \
    X(SELECT_COUNT_BUFFER, LEVELS_COUNT_BUFFER)                                                                        \
    X(SELECT_SCRATCH, 3)                                                                                               \
    X(SELECT_EVENTS, 2)
enum { SELECT_FIELDS(FIELD_NUMBER) SELECT_FIELD_COUNT };
static const pairs_field select_fields[] = {SELECT_FIELDS(FIELD_ROW)};

/* The last two are structs of 12 and 200 bytes. */
static const gpuscan_type select_types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_I8,  GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32,
                                            GPUSCAN_TYPE_F64, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32};
static const uint32_t     select_structs[] = {0, 0, 0, 0, 0, 12, 200};
static const gpuscan_type select_flags[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};

static int select_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    if (a == SELECT_TYPE && b == SELECT_BY && b_level == GPUSCAN_SELECT_PREDICATE)
        return test_has_type(select_types[a_level]);
    if (a == SELECT_TYPE && b == SELECT_SRC_FLAGS)
        return !b_level || !select_structs[a_level];
    if (a == SELECT_BY && b == SELECT_SRC_FLAGS)
        return !b_level || a_level == GPUSCAN_SELECT_FLAGS;
    if (a == SELECT_SRC_FLAGS && b == SELECT_NO_DST)
        return !a_level || !b_level;
    if (a == SELECT_NO_DST && b == SELECT_IN_PLACE)
        return !a_level || b_level != 1;
    return 1;
}

/* Some output is needed; flags that are the data need their size. */
static int select_fits(const pairs_row *row) {
    if (row->level[SELECT_NO_DST] == 1 && !row->level[SELECT_INDICES] && !row->level[SELECT_PAYLOADS] &&
        !row->level[SELECT_TALLY] && !row->level[SELECT_DISPATCH])
        return 0;
    if (row->level[SELECT_SRC_FLAGS] != 1 || row->level[SELECT_TYPE] == PAIRS_OPEN ||
        row->level[SELECT_FLAG_TYPE] == PAIRS_OPEN)
        return 1;
    return ref_size(select_types[row->level[SELECT_TYPE]]) == ref_size(select_flags[row->level[SELECT_FLAG_TYPE]]);
}

static gpuscan_strategy select_of(const pairs_row *row, void *made) {
    static const selection_density densities[] = {KEEP_HALF, KEEP_NONE, KEEP_ALL, KEEP_ENDS, KEEP_FEW};
    static const uint32_t sizes[][GPUSCAN_MAX_PAYLOADS] = {
        {0}, {4}, {8, 3}, {16, 2, 1}, {1024, 7, 12, 64, 1, 5, 4, 40}};
    static const unsigned char payloads[] = {0, 1, 2, 3, 8};
    const unsigned char *level = row->level;
    uint32_t             of_struct = select_structs[level[SELECT_TYPE]];
    gpuscan_type         type = select_types[level[SELECT_TYPE]];
    uint64_t             count = level_count(level[SELECT_COUNT], of_struct ? 16 : ref_size(type));
    const uint64_t       capacities[] = {0, 1, count / 2 + 1, count + 5};
    selection_case       c = a_selection(type, count, densities[level[SELECT_DENSITY]]);
    c.custom_size = of_struct;
    c.by = (gpuscan_select_by)level[SELECT_BY];
    c.flag_type = select_flags[level[SELECT_FLAG_TYPE]];
    c.flags_are_src = level[SELECT_SRC_FLAGS];
    c.invert = level[SELECT_INVERT];
    c.no_dst = level[SELECT_NO_DST];
    c.index_type = level[SELECT_INDICES] == 2   ? GPUSCAN_TYPE_U64
                   : level[SELECT_INDICES] == 1 ? GPUSCAN_TYPE_U32
                                                : GPUSCAN_TYPE_DEFAULT;
    c.payloads = payloads[level[SELECT_PAYLOADS]];
    memcpy(c.sizes, sizes[level[SELECT_PAYLOADS]], sizeof c.sizes);
    c.in_place = level[SELECT_IN_PLACE] == 1;
    c.payloads_in_place = level[SELECT_IN_PLACE] == 2 ? 0x5d : 0;
    c.capacity = capacities[level[SELECT_CAPACITY]];
    c.src_offset = offsets[level[SELECT_SRC_OFFSET]];
    c.dst_offset = offsets[level[SELECT_DST_OFFSET]];
    c.flags_offset = offsets[level[SELECT_FLAGS_OFFSET]];
    c.payload_offset = c.index_offset = c.tally_offset = offsets[level[SELECT_OTHER_OFFSETS]];
    c.tally = level[SELECT_TALLY] == 2   ? GPUSCAN_TYPE_U64
              : level[SELECT_TALLY] == 1 ? GPUSCAN_TYPE_U32
                                         : GPUSCAN_TYPE_DEFAULT;
    c.dispatch = level[SELECT_DISPATCH];
    c.device_count = count_on_device(level[SELECT_COUNT_BUFFER], count, &c.count_type);
    c.scratch = (test_scratch_choice)level[SELECT_SCRATCH];
    c.events = level[SELECT_EVENTS];
    *(selection_case *)made = c;
    return (gpuscan_strategy)level[SELECT_STRATEGY];
}

static void select_pairs(void **state) {
    static const pairs_operation operation = {
        &selections, {select_fields, SELECT_FIELD_COUNT, select_possible, select_fits}, SELECT_IN_PLACE + 1, select_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

#define RUN_FIELDS(X)                                                                                                  \
    X(RUN_KEY_TYPE, 6)                                                                                                 \
    X(RUN_STRATEGY, GPUSCAN_STRATEGY_COUNT)                                                                            \
    X(RUN_INDEX_OUTPUTS, 4)                                                                                            \
    X(RUN_REDUCES, 5)                                                                                                  \
    X(RUN_NO_KEYS, 2)                                                                                                  \
    X(RUN_PAYLOAD_SIZES, 4)                                                                                            \
    X(RUN_LENGTH_KIND, RUNS_COUNT)                                                                                     \
    X(RUN_COUNT, LEVELS_COUNT)                                                                                         \
    X(RUN_CAPACITY, 4)                                                                                                 \
    X(RUN_KEYS_OFFSET, LEVELS_OFFSET)                                                                                  \
    X(RUN_SRC_OFFSET, LEVELS_OFFSET)                                                                                   \
    X(RUN_OUT_OFFSET, LEVELS_OFFSET)                                                                                   \
    X(RUN_TALLY, 3)                                                                                                    \
    X(RUN_DISPATCH, 2)                                                                                                 \
    X(RUN_COUNT_BUFFER, LEVELS_COUNT_BUFFER)                                                                           \
    X(RUN_SCRATCH, 3)                                                                                                  \
    X(RUN_EVENTS, 2)
enum { RUN_FIELDS(FIELD_NUMBER) RUN_FIELD_COUNT };
static const pairs_field run_fields[] = {RUN_FIELDS(FIELD_ROW)};

/* Keys compared by bits, keys with NaN and zeros, and structs. Reduced: nothing, sums, f32 of u8, the largest i64, or
   by an operator that does not commute. */
static int run_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    return !(a == RUN_KEY_TYPE && a_level == 5 && b == RUN_REDUCES && b_level == 4); /* a call has one custom */
}

/* Some output is needed. */
static int run_fits(const pairs_row *row) {
    return row->level[RUN_NO_KEYS] != 1 || row->level[RUN_INDEX_OUTPUTS] || row->level[RUN_REDUCES] ||
           row->level[RUN_PAYLOAD_SIZES] || row->level[RUN_TALLY] || row->level[RUN_DISPATCH];
}

static gpuscan_strategy run_of(const pairs_row *row, void *made) {
    static const gpuscan_type key_types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_I8,  GPUSCAN_TYPE_F16,
                                             GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64, GPUSCAN_TYPE_U32};
    static const uint32_t structs[] = {0, 0, 0, 0, 0, 12};
    static const uint32_t sizes[][GPUSCAN_MAX_PAYLOADS] = {{0}, {4}, {8, 3}, {1024, 7, 12, 64, 1, 5, 4, 40}};
    static const unsigned char payloads[] = {0, 1, 2, 8};
    const unsigned char *level = row->level;
    unsigned             key = level[RUN_KEY_TYPE], outputs = level[RUN_INDEX_OUTPUTS], reduces = level[RUN_REDUCES];
    uint64_t             count = level_count(level[RUN_COUNT], structs[key] ? 16 : ref_size(key_types[key]));
    const uint64_t       capacities[] = {0, 1, count / 2 + 1, count + 5};
    run_case             c = some_runs(count, (run_lengths)level[RUN_LENGTH_KIND]);
    c.key_type = key_types[key];
    c.custom_size = structs[key];
    c.bitwise = key == 3;
    c.special = key >= 2;
    c.starts = outputs == 1 || outputs == 3;
    c.lengths_out = outputs >= 2;
    c.index_type = outputs == 3 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
    c.no_keys = level[RUN_NO_KEYS];
    c.reduces = reduces != 0;
    if (reduces == 2)
        c.src_type = GPUSCAN_TYPE_U8, c.dst_type = GPUSCAN_TYPE_F32;
    if (reduces == 3)
        c.src_type = c.dst_type = GPUSCAN_TYPE_I64, c.op = GPUSCAN_OP_MAX, c.filling = FILL_EXTREME;
    if (reduces == 4)
        c.custom = &op_matrix_product;
    c.payloads = payloads[level[RUN_PAYLOAD_SIZES]];
    memcpy(c.sizes, sizes[level[RUN_PAYLOAD_SIZES]], sizeof c.sizes);
    c.capacity = capacities[level[RUN_CAPACITY]];
    c.keys_offset = offsets[level[RUN_KEYS_OFFSET]];
    c.src_offset = offsets[level[RUN_SRC_OFFSET]];
    c.out_offset = c.tally_offset = offsets[level[RUN_OUT_OFFSET]];
    c.tally = level[RUN_TALLY] == 2   ? GPUSCAN_TYPE_U64
              : level[RUN_TALLY] == 1 ? GPUSCAN_TYPE_U32
                                      : GPUSCAN_TYPE_DEFAULT;
    c.dispatch = level[RUN_DISPATCH];
    c.device_count = count_on_device(level[RUN_COUNT_BUFFER], count, &c.count_type);
    c.scratch = (test_scratch_choice)level[RUN_SCRATCH];
    c.events = level[RUN_EVENTS];
    *(run_case *)made = c;
    return (gpuscan_strategy)level[RUN_STRATEGY];
}

static void run_pairs(void **state) {
    static const pairs_operation operation = {
        &runs, {run_fields, RUN_FIELD_COUNT, run_possible, run_fits}, RUN_PAYLOAD_SIZES + 1, run_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- sort -------------------------------------------------------------------------------------------------------- */

#define SORT_FIELDS(X)                                                                                                 \
    X(SORT_TYPE, LEVELS_TYPE)                                                                                          \
    X(SORT_STRATEGY, GPUSCAN_STRATEGY_COUNT)                                                                           \
    X(SORT_PAYLOADS, 8)                                                                                                \
    X(SORT_PERMUTATION, 3)                                                                                             \
    X(SORT_KEYS, KEYS_COUNT)                                                                                           \
    X(SORT_DESCENDING, 2)                                                                                              \
    X(SORT_BITS, 6)                                                                                                    \
    X(SORT_COUNT, 8)                                                                                                   \
    X(SORT_DST, 3)                                                                                                     \
    X(SORT_PAYLOADS_IN_PLACE, 2)                                                                                       \
    X(SORT_DESTROYS, 2)                                                                                                \
    X(SORT_SRC_OFFSET, LEVELS_OFFSET)                                                                                  \
    X(SORT_DST_OFFSET, LEVELS_OFFSET)                                                                                  \
    X(SORT_PAYLOAD_OFFSET, LEVELS_OFFSET)                                                                              \
    X(SORT_COUNT_BUFFER, LEVELS_COUNT_BUFFER)                                                                          \
    X(SORT_SCRATCH, 3)                                                                                                 \
    X(SORT_EVENTS, 2)
enum { SORT_FIELDS(FIELD_NUMBER) SORT_FIELD_COUNT };
static const pairs_field sort_fields[] = {SORT_FIELDS(FIELD_ROW)};

enum { DST_APART, DST_IN_PLACE, DST_NONE };

/* Some output is needed; custom keys take no levels of bits from 4 on. */
static int sort_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    if (a == SORT_PAYLOADS && b == SORT_DST)
        return a_level != 0 || b_level != DST_NONE;
    return !(a == SORT_TYPE && types[a_level] == GPUSCAN_TYPE_CUSTOM && b == SORT_BITS && b_level >= 4);
}

static gpuscan_strategy sort_of(const pairs_row *row, void *made) {
    static const uint32_t sizes[8][4] = {{0},     {4},         {8},           {12},
                                         {1},     {4, 4},      {16, 3, 8},    {2, 40, 1024, 4}};
    const uint64_t        counts[] = {0, 1, 2, 33, 257, test_size(97, 1023, 1023), test_size(130, 3079, 3079),
                                      test_size(150, 17001, 70001)};
    const unsigned char  *level = row->level;
    int                   is_custom = types[level[SORT_TYPE]] == GPUSCAN_TYPE_CUSTOM;
    uint64_t              count = counts[level[SORT_COUNT]];
    sort_case             c = a_sort(is_custom ? GPUSCAN_TYPE_DEFAULT : types[level[SORT_TYPE]], count);
    uint32_t              bits = is_custom ? 8 : (uint32_t)(8 * ref_size(c.type));
    c.custom = is_custom ? 1 + (int)test_below(SORT_CUSTOMS) : 0;
    c.keys = (sort_keys)level[SORT_KEYS];
    c.descending = level[SORT_DESCENDING];
    c.bit_begin = level[SORT_BITS] == 1 ? bits / 2 : level[SORT_BITS] == 2 ? 1 : level[SORT_BITS] == 5 ? bits - 1 : 0;
    c.bit_end = level[SORT_BITS] == 2 ? bits - 1 : level[SORT_BITS] == 3 ? 1 : level[SORT_BITS] == 4 ? bits : 0;
    memcpy(c.sizes, sizes[level[SORT_PAYLOADS]], sizeof sizes[0]);
    c.has_permutation = level[SORT_PERMUTATION] != 0;
    c.index_type = level[SORT_PERMUTATION] == 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
    c.no_dst = level[SORT_DST] == DST_NONE;
    c.in_place = level[SORT_DST] == DST_IN_PLACE;
    c.payloads_in_place = level[SORT_PAYLOADS_IN_PLACE];
    c.may_destroy = level[SORT_DESTROYS];
    c.src_offset = offsets[level[SORT_SRC_OFFSET]];
    c.dst_offset = offsets[level[SORT_DST_OFFSET]];
    c.payload_offset = offsets[level[SORT_PAYLOAD_OFFSET]];
    c.permutation_offset = offsets[(level[SORT_PAYLOAD_OFFSET] + 1) % LEVELS_OFFSET];
    c.device_count = count_on_device(level[SORT_COUNT_BUFFER], count, &c.count_type);
    c.scratch = (test_scratch_choice)level[SORT_SCRATCH];
    c.events = level[SORT_EVENTS];
    *(sort_case *)made = c;
    return (gpuscan_strategy)level[SORT_STRATEGY];
}

static void sort_pairs(void **state) {
    static const pairs_operation operation = {
        &sorts, {sort_fields, SORT_FIELD_COUNT, sort_possible, NULL}, SORT_PERMUTATION + 1, sort_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- integral ---------------------------------------------------------------------------------------------------- */

#define INTEGRAL_FIELDS(X)                                                                                             \
    X(INTEGRAL_TYPES, 4)                                                                                               \
    X(INTEGRAL_CHANNELS, 4)                                                                                            \
    X(INTEGRAL_KIND, 2)                                                                                                \
    X(INTEGRAL_SQUARE, 2)                                                                                              \
    X(INTEGRAL_STRATEGY, 2)                                                                                            \
    X(INTEGRAL_WIDTH, 6)                                                                                               \
    X(INTEGRAL_HEIGHT, 5)                                                                                              \
    X(INTEGRAL_IMAGES, 3)                                                                                              \
    X(INTEGRAL_IN_BYTES, 2)                                                                                            \
    X(INTEGRAL_SRC_GAP, 3)                                                                                             \
    X(INTEGRAL_DST_GAP, 3)                                                                                             \
    X(INTEGRAL_IMAGE_GAPS, 4)                                                                                          \
    X(INTEGRAL_SRC_OFFSET, LEVELS_OFFSET)                                                                              \
    X(INTEGRAL_DST_OFFSET, LEVELS_OFFSET)                                                                              \
    X(INTEGRAL_SCRATCH, 3)                                                                                             \
    X(INTEGRAL_EVENTS, 2)
enum { INTEGRAL_FIELDS(FIELD_NUMBER) INTEGRAL_FIELD_COUNT };
static const pairs_field integral_fields[] = {INTEGRAL_FIELDS(FIELD_ROW)};

static int any_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    (void)a;
    (void)a_level;
    (void)b;
    (void)b_level;
    return 1;
}

static gpuscan_strategy integral_of(const pairs_row *row, void *made) {
    static const gpuscan_type of[4][2] = {{GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT},
                                          {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I64},
                                          {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_DEFAULT},
                                          {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32}};
    static const uint64_t     gaps[3] = {0, 1, 64};
    const uint64_t            widths[6] = {0, 1, 17, 128, test_size(150, 259, 259), test_size(200, 1100, 1100)};
    const uint64_t            heights[5] = {0, 1, 7, 33, test_size(40, 131, 131)};
    const unsigned char      *level = row->level;
    integral_case c = an_integral(of[level[INTEGRAL_TYPES]][0], of[level[INTEGRAL_TYPES]][1],
                                  widths[level[INTEGRAL_WIDTH]], heights[level[INTEGRAL_HEIGHT]]);
    c.channels = level[INTEGRAL_CHANNELS] + 1u;
    c.kind = level[INTEGRAL_KIND] ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
    c.square = level[INTEGRAL_SQUARE];
    c.images = level[INTEGRAL_IMAGES];
    c.in_bytes = level[INTEGRAL_IN_BYTES];
    c.src_gap = gaps[level[INTEGRAL_SRC_GAP]];
    c.dst_gap = gaps[level[INTEGRAL_DST_GAP]];
    c.src_image_gap = level[INTEGRAL_IMAGE_GAPS] & 1 ? 5 : 0;
    c.dst_image_gap = level[INTEGRAL_IMAGE_GAPS] & 2 ? 100 : 0;
    c.src_offset = offsets[level[INTEGRAL_SRC_OFFSET]];
    c.dst_offset = offsets[level[INTEGRAL_DST_OFFSET]];
    c.scratch = (test_scratch_choice)level[INTEGRAL_SCRATCH];
    c.events = level[INTEGRAL_EVENTS];
    *(integral_case *)made = c;
    return level[INTEGRAL_STRATEGY] ? GPUSCAN_STRATEGY_MULTI_PASS : GPUSCAN_STRATEGY_CPU_MULTI_PASS;
}

static void integral_pairs(void **state) {
    static const pairs_operation operation = {&integrals,
                                              {integral_fields, INTEGRAL_FIELD_COUNT, any_possible, NULL},
                                              INTEGRAL_STRATEGY + 1,
                                              integral_of};
    (void)state;
    check_pairs(&operation);
}

/* ---- quantile ---------------------------------------------------------------------------------------------------- */

#define QUANTILE_FIELDS(X)                                                                                             \
    X(QUANTILE_COUNTERS, 2)                                                                                            \
    X(QUANTILE_STRATEGY, 2)                                                                                            \
    X(QUANTILE_FORMS, 3)                                                                                               \
    X(QUANTILE_BINS, 6)                                                                                                \
    X(QUANTILE_ROWS, 4)                                                                                                \
    X(QUANTILE_GAP, 3)                                                                                                 \
    X(QUANTILE_COUNTS, 4)                                                                                              \
    X(QUANTILE_PLACES, 3)                                                                                              \
    X(QUANTILE_CDF, 3)                                                                                                 \
    X(QUANTILE_COUNTS_OFFSET, LEVELS_OFFSET)                                                                           \
    X(QUANTILE_DST_OFFSET, LEVELS_OFFSET)                                                                              \
    X(QUANTILE_CDF_OFFSET, LEVELS_OFFSET)                                                                              \
    X(QUANTILE_EVENTS, 2)
enum { QUANTILE_FIELDS(FIELD_NUMBER) QUANTILE_FIELD_COUNT };
static const pairs_field quantile_fields[] = {QUANTILE_FIELDS(FIELD_ROW)};

static gpuscan_strategy quantile_of(const pairs_row *row, void *made) {
    static const uint32_t bins[6] = {0, 1, 2, 31, 100, 250};
    static const uint64_t rows[4] = {0, 1, 3, 70}, gaps[3] = {0, 1, 32};
    const unsigned char  *level = row->level;
    quantile_case c = a_quantile((gpuscan_quantile_form)level[QUANTILE_FORMS], bins[level[QUANTILE_BINS]],
                                 (quantile_counts)level[QUANTILE_COUNTS]);
    c.counter_type = level[QUANTILE_COUNTERS] ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
    c.rows = rows[level[QUANTILE_ROWS]];
    c.gap = gaps[level[QUANTILE_GAP]];
    c.has_edges = level[QUANTILE_PLACES] == 2 && c.form != GPUSCAN_QUANTILE_BIN;
    c.lower = level[QUANTILE_PLACES] == 1 ? -2.5 : 0;
    c.upper = level[QUANTILE_PLACES] == 1 ? 1000 : 0;
    c.has_cdf = level[QUANTILE_CDF] != 0;
    c.cdf_type = level[QUANTILE_CDF] == 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
    c.counts_offset = offsets[level[QUANTILE_COUNTS_OFFSET]];
    c.dst_offset = offsets[level[QUANTILE_DST_OFFSET]];
    c.cdf_offset = offsets[level[QUANTILE_CDF_OFFSET]];
    c.events = level[QUANTILE_EVENTS];
    *(quantile_case *)made = c;
    return level[QUANTILE_STRATEGY] ? GPUSCAN_STRATEGY_MULTI_PASS : GPUSCAN_STRATEGY_CPU_MULTI_PASS;
}

static void quantile_pairs(void **state) {
    static const pairs_operation operation = {&quantiles,
                                              {quantile_fields, QUANTILE_FIELD_COUNT, any_possible, NULL},
                                              QUANTILE_STRATEGY + 1,
                                              quantile_of};
    (void)state;
    check_pairs(&operation);
}

/* Makes the tiles of all strategies equal and small. */
static int open_pairs(void **state) {
    if (test_open(state) != 0)
        return -1;
    test_chunk((uint32_t)tile_bytes());
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(arrays_are_whole), TEST(scan_pairs), TEST(uniform_add_pairs),
                                       TEST(reduce_pairs), TEST(segmented_pairs), TEST(histogram_pairs),
                                       TEST(picture_pairs), TEST(select_pairs), TEST(run_pairs), TEST(sort_pairs),
                                       TEST(integral_pairs), TEST(quantile_pairs)};
    test_select();
    return cmocka_run_group_tests_name("pairs", tests, open_pairs, test_close);
}
