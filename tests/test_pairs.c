/* Options in combination: for each operation here a table of its desc's fields, and calls in which every two levels of
   two fields meet (in the long run every three). A failure prints the call as C code.
   cc -O2 tests/test_pairs.c -o build/test_pairs -lcmocka -lOpenCL -lm && build/test_pairs */
#include <stddef.h>

/* Scratch is cleared by a fill above this. Oclgrind does not see that a fill initialises, so there it is by writes. */
static size_t fill_most = (size_t)1 << 30;
#define GPUSCAN__FILL_MOST fill_most

#include "histograms.h"
#include "pairs.h"

/* An operation: its fields, and how to run a row of their levels. Adding one is a table and two functions. */
typedef struct pairs_operation {
    const char *name;
    pairs_table table;
    void (*run)(const pairs_row *row);
} pairs_operation;

/* The call at hand, to be printed when its test fails. */
static struct {
    char   text[4096];
    size_t length;
} code;

static void code_begin(void) {
    code.length = 0;
    code.text[0] = '\0';
}

static void code_add(const char *format, ...) {
    va_list arguments;
    int     length;
    va_start(arguments, format);
    length = vsnprintf(code.text + code.length, sizeof code.text - code.length, format, arguments);
    va_end(arguments);
    if (length > 0 && code.length + (size_t)length < sizeof code.text)
        code.length += (size_t)length;
}

/* A cmocka teardown. */
static int print_code(void **state) {
    if (code.length)
        fputs(code.text, stderr); /* print_error cuts it off */
    code_begin();
    return test_end(state);
}

/* By default a share of the rows. */
static void check_pairs(const pairs_operation *operation) {
    pairs_array p = pairs_new(&operation->table, test.is_long ? 3 : 2);
    unsigned    r;
    if (test.is_small)
        fill_most = 4096;
    print_message("%s: %u calls for every %u of %u levels\n", operation->name, p.row_count, p.strength,
                  p.first[operation->table.count]);
    for (r = 0; r < p.row_count; r++)
        if (test_share(r, 1)) {
            operation->run(&p.rows[r]);
            code_begin();
        }
    pairs_free(&p);
}

/* ---- the arrays themselves --------------------------------------------------------------------------------------- */

static int not_both_last(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    return !(a == 0 && a_level == 4 && b == 3 && b_level == 1); /* the last levels of the first and the last field */
}

/* Counted without what built them: every tuple that is possible stands in a row, and no other. */
static void arrays_are_whole(void **state) {
    static const pairs_field fields[] = {{"five", 5}, {"one", 1}, {"three", 3}, {"two", 2}, {"four", 4}};
    static const pairs_table table = {fields, 5, not_both_last};
    unsigned                 strength, a, b, c, i, j, k, r, found;
    (void)state;
    for (strength = 2; strength <= 3; strength++) {
        pairs_array p = pairs_new(&table, strength);
        test_case("%u rows for every %u", p.row_count, strength);
        assert_in_range(p.row_count, strength == 2 ? 20 : 60, strength == 2 ? 26 : 80);
        for (a = 0; a < 5; a++)
            for (b = a + 1; b < 5; b++)
                for (c = strength == 2 ? a : b + 1; c < (strength == 2 ? a + 1 : 5); c++)
                    for (i = 0; i < fields[a].levels; i++)
                        for (j = 0; j < fields[b].levels; j++)
                            for (k = 0; k < fields[c].levels; k++) {
                                int possible = not_both_last(a, i, b, j) && not_both_last(a, i, c, k) &&
                                               not_both_last(b, j, c, k) && (a != c || i == k);
                                for (found = 0, r = 0; r < p.row_count; r++)
                                    found += p.rows[r].level[a] == i && p.rows[r].level[b] == j &&
                                             p.rows[r].level[c] == k;
                                if ((found > 0) != possible)
                                    fail_msg("%s: %u %u, %u %u, %u %u stand in %u rows", test.what, a, i, b, j, c, k,
                                             found);
                            }
        pairs_free(&p);
    }
}

/* ---- histogram --------------------------------------------------------------------------------------------------- */

/* Each field, and how many levels it has. */
#define HISTOGRAM_FIELDS(X)                                                                                            \
    X(TYPE, 11)                                                                                                        \
    X(FORM, 4)                                                                                                         \
    X(BINS, 8)                                                                                                         \
    X(STRATEGY, 6)                                                                                                     \
    X(CHANNELS, 4)                                                                                                     \
    X(MASK, 4)                                                                                                         \
    X(OUTSIDE, 3)                                                                                                      \
    X(CLOSED, 2)                                                                                                       \
    X(WEIGHTS, 5)                                                                                                      \
    X(COUNTER, 2)                                                                                                      \
    X(SAMPLES_OFFSET, 5)                                                                                               \
    X(OFFSETS, 3)                                                                                                      \
    X(COUNT, 4)                                                                                                        \
    X(ROWS, 4)                                                                                                         \
    X(WEIGHTS_PITCH, 2)                                                                                                \
    X(ACCUMULATE, 2)                                                                                                   \
    X(COUNT_BUFFER, 5)                                                                                                 \
    X(SCRATCH, 2)
#define FIELD_NUMBER(name, levels) HISTOGRAM_##name,
#define FIELD_ROW(name, levels)    {#name, levels},
enum { HISTOGRAM_FIELDS(FIELD_NUMBER) HISTOGRAM_FIELD_COUNT };
static const pairs_field histogram_fields[] = {HISTOGRAM_FIELDS(FIELD_ROW)};

enum { FORM_WHOLE, FORM_RANGE, FORM_EDGES, FORM_VALUES };

static const gpuscan_type histogram_types[] = {GPUSCAN_TYPE_I8,  GPUSCAN_TYPE_U8,  GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U16,
                                               GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_I64, GPUSCAN_TYPE_U64,
                                               GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64};
static const uint32_t     histogram_bins[] = {1, 2, 255, 256, 257, 4096, 65536, 1 << 20};

static int histogram_possible(unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    unsigned bins = a == HISTOGRAM_BINS ? a_level : b == HISTOGRAM_BINS ? b_level : 0;
    if (test.is_small && histogram_bins[bins] > 4096)
        return 0;
    if (a == HISTOGRAM_TYPE) {
        if (!test_has_type(histogram_types[a_level]))
            return 0;
        return !(b == HISTOGRAM_FORM && b_level == FORM_VALUES && ref_is_float(histogram_types[a_level]));
    }
    if (a == HISTOGRAM_BINS && b == HISTOGRAM_STRATEGY) /* must fit local memory: else the call is refused */
        return histogram_bins[a_level] < 65536 || (b_level != GPUSCAN_STRATEGY_SINGLE_PASS &&
                                                   b_level != GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD);
    return 1;
}

/* A range that suits the bins, or any. */
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
    if (choice < 3) /* a value a bin; a power of two; any */
        b.bits = a.bits + (uint64_t)d->bins * (choice == 0 ? 1 : choice == 1 ? 4 : 3) + (choice == 2);
    d->lower.u = ref_less(type, a, b) ? a.bits : b.bits;
    d->upper.u = ref_less(type, a, b) ? b.bits : a.bits + (a.bits == b.bits);
}

static histogram_case histogram_of(const pairs_row *row) {
    static const gpuscan_type weights[] = {GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U32,
                                           GPUSCAN_TYPE_U64};
    static const uint64_t     offsets[] = {0, 1, 3, 8, 13}, counts[] = {0, 1, 257, 2003};
    const unsigned char      *level = row->level;
    gpuscan_type              type = histogram_types[level[HISTOGRAM_TYPE]];
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
    d->call.strategy = (gpuscan_strategy)level[HISTOGRAM_STRATEGY];
    d->rows = level[HISTOGRAM_ROWS] == 0 ? 0 : level[HISTOGRAM_ROWS] == 3 ? 19 : 3;
    d->pitch = level[HISTOGRAM_ROWS] < 2 ? 0 : count + (level[HISTOGRAM_ROWS] == 2 ? 1 : 6);
    d->weights_pitch = level[HISTOGRAM_WEIGHTS_PITCH] ? count + 5 : 0;
    c.samples_offset = offsets[level[HISTOGRAM_SAMPLES_OFFSET]];
    c.counts_offset = offsets[level[HISTOGRAM_OFFSETS]];
    c.edges_offset = c.weights_offset = offsets[(level[HISTOGRAM_OFFSETS] + 1) % 3];
    if (level[HISTOGRAM_COUNT_BUFFER])
        d->count_type = level[HISTOGRAM_COUNT_BUFFER] % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U64;
    c.device_count = level[HISTOGRAM_COUNT_BUFFER] == 1   ? 0
                     : level[HISTOGRAM_COUNT_BUFFER] == 2 ? count / 2
                     : level[HISTOGRAM_COUNT_BUFFER] == 3 ? count
                                                          : (UINT64_C(1) << 32) + 1;
    c.own_scratch = level[HISTOGRAM_SCRATCH];
    return c;
}

/* All that is not zero. The data follow from the seed. */
static void histogram_code(const histogram_case *c, uint64_t seed) {
    const gpuscan_histogram_desc *d = &c->d;
    const struct {
        const char *field, *as; /* a cast; "type": a gpuscan_type */
        uint64_t    value;
    } fields[] = {{"d.count", "", d->count},
                  {"d.sample_type", "type", d->sample_type},
                  {"d.counter_type", "type", d->counter_type},
                  {"d.bins", "", d->bins},
                  {"d.form", "(gpuscan_bins)", d->form},
                  {"d.lower.u", "", d->lower.u},
                  {"d.upper.u", "", d->upper.u},
                  {"d.closed", "", (uint64_t)d->closed},
                  {"d.outside", "(gpuscan_outside)", d->outside},
                  {"d.accumulate", "", (uint64_t)d->accumulate},
                  {"d.weight_type", "type", d->weight_type},
                  {"d.channels", "", d->channels},
                  {"d.channel_mask", "", d->channel_mask},
                  {"d.rows", "", d->rows},
                  {"d.pitch", "", d->pitch},
                  {"d.weights_pitch", "", d->weights_pitch},
                  {"d.count_type", "type", d->count_type},
                  {"samples_offset", "", c->samples_offset},
                  {"counts_offset", "", c->counts_offset},
                  {"edges_offset", "", c->edges_offset},
                  {"weights_offset", "", c->weights_offset},
                  {"device_count", "", c->device_count},
                  {"own_scratch", "", (uint64_t)c->own_scratch},
                  {"is_weighted", "", (uint64_t)c->is_weighted}};
    const char *letter;
    size_t      i;
    code_begin();
    code_add("/* cc -Itests this.c -lcmocka -lOpenCL -lm */\n#include \"histograms.h\"\n\nint main(void) {\n"
             "    histogram_case c;\n    memset(&c, 0, sizeof c);\n    test_open(NULL);\n");
    for (i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (!fields[i].value)
            continue;
        code_add("    c.%s = ", fields[i].field);
        if (strcmp(fields[i].as, "type") == 0) {
            code_add("GPUSCAN_TYPE_");
            for (letter = test_type_name((gpuscan_type)fields[i].value); *letter; letter++)
                code_add("%c", *letter >= 'a' && *letter <= 'z' ? *letter - 'a' + 'A' : *letter);
            code_add(";\n");
        } else if (fields[i].value <= INT32_MAX) {
            code_add("%s%" PRIu64 ";\n", fields[i].as, fields[i].value);
        } else {
            code_add("%sUINT64_C(0x%" PRIx64 ");\n", fields[i].as, fields[i].value);
        }
    }
    code_add("    test.random = UINT64_C(0x%" PRIx64 ");\n"
             "    test_strategies(&histograms, &c, %d, %d);\n    return test_close(NULL);\n}\n",
             seed, (int)d->call.strategy, (int)d->call.strategy);
}

static void run_histogram(const pairs_row *row) {
    histogram_case c = histogram_of(row);
    int            strategy = (int)c.d.call.strategy;
    histogram_code(&c, test.random);
    if (!test_strategies(&histograms, &c, strategy, strategy)) { /* refused: the other fields meet by another one */
        c.d.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
        histogram_code(&c, test.random);
        test_strategies(&histograms, &c, GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_MULTI_PASS);
    }
}

static void histogram_pairs(void **state) {
    static const pairs_operation operation = {
        "histogram", {histogram_fields, HISTOGRAM_FIELD_COUNT, histogram_possible}, run_histogram};
    (void)state;
    check_pairs(&operation);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(arrays_are_whole),
                                       cmocka_unit_test_setup_teardown(histogram_pairs, test_begin, print_code)};
    test_select();
    return cmocka_run_group_tests_name("pairs", tests, test_open, test_close);
}
