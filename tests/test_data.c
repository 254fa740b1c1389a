/* Checks that the data of the library's self-tests reveal mistakes. Scans, reductions and uniform adds run in tiles on
   the host, for every type and operator, with one mistake at a time: the result must differ from the expected one.
   Without a mistake, it must be equal. Runs nothing on a device and sees no mistakes but those modelled here.
      cc -O2 test_data.c -o test_data -lcmocka -lOpenCL -lm */
#include "harness.h"

/* ---- elements ---------------------------------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 64 };

/* A value or none, as before the first element; for a custom type, one byte of it. */
typedef struct maybe {
    int there;
    ref_value v;
} maybe;

/* A self-test's data. The bytes of a custom type are columns: the stand-in's operator combines each alone. */
typedef struct data {
    gpuscan__elements e;
    gpuscan__test_shape shape;
    gpuscan_type type; /* of the arithmetic */
    unsigned columns;
    int inclusive;
    uint64_t tiles;
    maybe *x, init[MOST_COLUMNS];
    ref_value *scan, total[MOST_COLUMNS];
} data;

static ref_value combine_values(const data *d, ref_value a, ref_value b) {
    if (d->e.op != GPUSCAN_OP_CUSTOM)
        return ref_combine(d->type, d->e.op, a, b);
    return (ref_is_float(d->type) ? b.real < 0 || b.real > 0 : b.bits != 0) ? b : a;
}

static maybe combine(const data *d, maybe a, maybe b) {
    if (a.there && b.there)
        b.v = combine_values(d, a.v, b.v);
    return b.there ? b : a;
}

static maybe just(ref_value v) {
    maybe m;
    m.there = 1;
    m.v = v;
    return m;
}

static int same(const data *d, maybe a, ref_value b) {
    unsigned char x[8], y[8];
    if (!a.there)
        a.v = d->e.op == GPUSCAN_OP_CUSTOM ? ref_bits(0) : ref_identity(d->type, d->e.op);
    ref_store(d->type, x, 0, a.v);
    ref_store(d->type, y, 0, b);
    return memcmp(x, y, ref_size(d->type)) == 0;
}

static void data_free(data *d) {
    free(d->x);
    free(d->scan);
}

/* ---- mistakes ---------------------------------------------------------------------------------------------------- */

typedef enum mistake {
    NONE, NO_INIT, NO_CARRY, NO_TILE, NO_FIRST, NO_LAST, SWAPPED, SWAPPED_WITHIN, NO_HIGH_HALF, NO_LOW_HALF, MISTAKES
} mistake;

static const char *const mistake_names[] = {
    "no mistake", "init is lost", "what precedes a tile is lost", "a tile is lost to those that follow",
    "a tile's first element is lost", "a tile's last element is lost", "what precedes a tile comes after it",
    "elements change places", "the high half of what precedes a tile is lost",
    "the low half of what precedes a tile is lost"};

/* The tiles in which the mistake is made. */
enum { ALL, FULL, PARTIAL, LATER, ONLY };
static const char *const where_names[] = {"all tiles", "full tiles", "a tile that is not full", "all but the first",
                                          "one tile"};

typedef struct fault {
    mistake what;
    int where;
    uint64_t tile; /* ONLY */
    int handed_on; /* the tiles that follow see it, too */
} fault;

static int strikes(const data *d, const fault *f, uint64_t tile) {
    switch (f->where) {
    case ALL:
        return 1;
    case FULL:
        return (tile + 1) * d->shape.tile <= d->shape.count;
    case PARTIAL:
        return (tile + 1) * d->shape.tile > d->shape.count;
    case LATER:
        return tile > 0;
    default:
        return tile == f->tile;
    }
}

static maybe half_of(const data *d, unsigned column, maybe m, int high) {
    unsigned char bytes[8];
    if (d->columns > 1) {
        if (column >= d->columns / 2 ? high : !high)
            m.v = ref_bits(0);
        return m;
    }
    if (!m.there)
        return m;
    ref_store(d->type, bytes, 0, m.v);
    memset(bytes + (high ? 4 : 0), 0, 4); /* little-endian, as the tests' hosts are */
    m.v = ref_load(d->type, bytes, 0);
    return m;
}

/* Returns whether a mistake's results differ from the expected ones. scan: compares elements, not only the total. */
static int differs(const data *d, const fault *f, int scan) {
    unsigned c;
    for (c = 0; c < d->columns; c++) {
        const maybe *x = d->x + c * d->shape.count;
        const ref_value *expected = d->scan + c * d->shape.count;
        maybe carry = d->init[c];
        uint64_t t, i;
        if (f->what == NO_INIT)
            carry.there = 0;
        for (t = 0; t < d->tiles; t++) {
            uint64_t begin = t * d->shape.tile, end = begin + d->shape.tile;
            int bad = strikes(d, f, t);
            maybe before = carry, local = {0, {0}}, whole = {0, {0}};
            mistake what = bad ? f->what : NONE;
            end = end < d->shape.count ? end : d->shape.count;
            if (what == NO_CARRY)
                before.there = 0;
            if (what == NO_HIGH_HALF || what == NO_LOW_HALF)
                before = half_of(d, c, before, what == NO_HIGH_HALF);
            for (i = begin; i < end; i++) {
                maybe next = local, out;
                if (!(what == NO_FIRST && i == begin) && !(what == NO_LAST && i == end - 1))
                    next = what == SWAPPED_WITHIN ? combine(d, x[i], local) : combine(d, local, x[i]);
                out = d->inclusive ? next : local;
                out = what == SWAPPED ? combine(d, out, before) : combine(d, before, out);
                if (scan && !same(d, out, expected[i]))
                    return 1;
                local = next;
                whole = combine(d, whole, x[i]);
            }
            if (what == NO_TILE)
                continue;
            if (!f->handed_on)
                carry = combine(d, carry, whole);
            else
                carry = what == SWAPPED ? combine(d, local, before) : combine(d, before, local);
        }
        if (!same(d, carry, d->total[c]))
            return 1;
    }
    return 0;
}

/* ---- scans and reductions ---------------------------------------------------------------------------------------- */

typedef enum kind { EXCLUSIVE, INCLUSIVE, REDUCE, KINDS } kind;
static const char *const kind_names[] = {"exclusive", "inclusive", "reduce"};

static data data_of(const gpuscan__elements *e, const gpuscan__test_shape *shape, kind what) {
    unsigned char *src, *scan, init[MOST_COLUMNS], total[MOST_COLUMNS];
    uint64_t i;
    unsigned c;
    int custom = e->dst == GPUSCAN_TYPE_CUSTOM;
    data d;
    memset(&d, 0, sizeof d);
    d.e = *e;
    d.shape = *shape;
    d.tiles = (shape->count + shape->tile - 1) / shape->tile;
    d.type = custom ? GPUSCAN_TYPE_U8 : e->dst;
    d.columns = custom ? e->dst_size : 1;
    d.inclusive = what == INCLUSIVE;
    d.x = (maybe *)test_alloc(d.columns * shape->count * sizeof *d.x);
    d.scan = (ref_value *)test_alloc(d.columns * shape->count * sizeof *d.scan);
    src = (unsigned char *)test_alloc(shape->count * e->src_size);
    scan = (unsigned char *)test_alloc(shape->count * e->dst_size);
    gpuscan__test_elements(e, shape, d.inclusive, src, init, scan, total);
    for (c = 0; c < d.columns; c++) {
        d.init[c] = just(ref_load(d.type, init, c));
        d.total[c] = ref_load(d.type, total, c);
        for (i = 0; i < shape->count; i++) {
            uint64_t at = i * d.columns + c, to = c * shape->count + i;
            ref_value v = ref_load(custom ? d.type : e->src, src, at);
            d.x[to] = just(custom ? v : ref_convert(e->dst, e->src, v));
            d.scan[to] = ref_load(d.type, scan, at);
        }
    }
    free(src);
    free(scan);
    return d;
}

static gpuscan__elements elements_of(gpuscan_type src, gpuscan_type dst, gpuscan_op op, uint32_t custom_size) {
    gpuscan__elements e;
    memset(&e, 0, sizeof e);
    e.src = src;
    e.dst = dst;
    e.op = op;
    e.src_size = src == GPUSCAN_TYPE_CUSTOM ? custom_size : gpuscan__types[src].size;
    e.dst_size = e.result_size = e.t_size = dst == GPUSCAN_TYPE_CUSTOM ? custom_size : gpuscan__types[dst].size;
    e.commutes = op != GPUSCAN_OP_CUSTOM;
    e.arg = op == GPUSCAN_OP_ARGMIN || op == GPUSCAN_OP_ARGMAX;
    return e;
}

/* A self-test's data of each round, and u64 sums that reveal every mistake which can occur in this form. */
enum { ROUNDS = 7 }; /* at most */
typedef struct rounds {
    data of[ROUNDS], all_shown;
    unsigned count;
    kind what;
} rounds;

static rounds rounds_of(const gpuscan__elements *e, uint64_t tile, kind what) {
    gpuscan__elements sum = elements_of(GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, GPUSCAN_OP_ADD, 0);
    gpuscan__test_shape shape = gpuscan__test_shape_of(tile, 0);
    rounds all;
    all.what = what;
    all.all_shown = data_of(&sum, &shape, what);
    all.count = 2;
    for (shape.round = 0; shape.round < all.count; shape.round++) {
        gpuscan__test_shape reduced = gpuscan__reduce_test_shape(e, tile, shape.round, &all.count);
        if (what != REDUCE)
            all.count = 2;
        assert_true(all.count <= ROUNDS);
        all.of[shape.round] = data_of(e, what == REDUCE ? &reduced : &shape, what);
    }
    return all;
}

static void rounds_free(rounds *all) {
    unsigned k;
    for (k = 0; k < all->count; k++)
        data_free(&all->of[k]);
    data_free(&all->all_shown);
}

/* Returns whether both halves of a carried value can matter; not if small values are compared or copied. */
static int has_halves(const gpuscan__elements *e, const fault *f) {
    int same_size = e->src_size >= 8 && (ref_is_float(e->dst) ? e->src == e->dst : !ref_is_float(e->src));
    if (e->dst_size < 8)
        return 0;
    if (e->dst == GPUSCAN_TYPE_CUSTOM || same_size)
        return 1;
    /* if init still counts at the end */
    return ref_op_kind(e->op) == REF_ARITHMETIC && !(f->what == NO_LOW_HALF && e->src_size == 8);
}

static int is_possible(const rounds *all, const fault *f) {
    const gpuscan__elements *e = &all->of[0].e;
    if (all->what == REDUCE && f->where == ONLY && all->count > 2)
        return 0; /* full tiles are computed alike: a mistake of all shows in one */
    if (f->what == SWAPPED || f->what == SWAPPED_WITHIN)
        return e->op == GPUSCAN_OP_CUSTOM;
    if ((f->what == NO_HIGH_HALF || f->what == NO_LOW_HALF) && !has_halves(e, f))
        return 0;
    return differs(&all->all_shown, f, all->what != REDUCE);
}

static int is_seen(const rounds *all, const fault *f) {
    unsigned k;
    for (k = 0; k < all->count; k++)
        if (differs(&all->of[k], f, all->what != REDUCE))
            return 1;
    return 0;
}

static unsigned unseen;

static void hides(const char *what, const char *where, unsigned which) {
    if (unseen++ < 20)
        print_message("%s: %s, in %s %u: not detected\n", test.what, what, where, which);
}

static void must_be_seen(const rounds *all, const fault *f) {
    if (is_possible(all, f) && !is_seen(all, f))
        hides(mistake_names[f->what], where_names[f->where], (unsigned)f->tile);
}

static void check(const gpuscan__elements *e, uint64_t tile, kind what) {
    rounds all = rounds_of(e, tile, what);
    fault f;
    unsigned k;
    memset(&f, 0, sizeof f);
    for (k = 0; k < all.count; k++)
        if (differs(&all.of[k], &f, what != REDUCE))
            fail_msg("%s: round %u expects something else", test.what, k);
    for (f.what = NO_INIT; f.what < MISTAKES; f.what = (mistake)(f.what + 1))
        for (f.handed_on = what == REDUCE; f.handed_on < 2; f.handed_on++)
            for (f.where = ALL; f.where <= ONLY; f.where++)
                for (f.tile = 0; f.tile < (f.where == ONLY ? 4 : 1); f.tile++)
                    must_be_seen(&all, &f);
    rounds_free(&all);
}

static void check_all(const gpuscan__elements *e, uint64_t tile) {
    kind what;
    for (what = EXCLUSIVE; what < KINDS; what = (kind)(what + 1)) {
        test_case("%s of %s to %s (%u bytes), tiles of %u, %s", test_op_name(e->op), test_type_name(e->src),
                  test_type_name(e->dst), (unsigned)e->dst_size, (unsigned)tile, kind_names[what]);
        check(e, tile, what);
    }
}

static int is_valid(const gpuscan__elements *e) {
    return !e->arg && !(ref_is_float(e->dst) && ref_op_kind(e->op) == REF_BITS);
}

static void test_elements(void **state) {
    int src, dst, op;
    (void)state;
    unseen = 0;
    for (op = 0; op < GPUSCAN_OP_COUNT; op++)
        TEST_EACH_TYPE(src, REF_NUMBERS)
            TEST_EACH_TYPE(dst, REF_NUMBERS) {
                gpuscan__elements e = elements_of((gpuscan_type)src, (gpuscan_type)dst, (gpuscan_op)op, 0);
                if (!is_valid(&e))
                    continue;
                check_all(&e, 8);
                check_all(&e, 60);
                if (src == dst)
                    check_all(&e, 1024);
            }
    assert_int_equal(unseen, 0);
}

static void test_structs(void **state) {
    static const uint32_t sizes[] = {1, 3, 4, 8, 12, 20, 64};
    size_t i;
    (void)state;
    unseen = 0;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        gpuscan__elements e = elements_of(GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, sizes[i]);
        check_all(&e, 16);
        check_all(&e, 100);
    }
    assert_int_equal(unseen, 0);
}

/* ---- the index of the smallest or the largest -------------------------------------------------------------------- */

/* Returns the index found without the elements [begin, end): a tile, its first or last, or those before it. */
static uint64_t found_without(const gpuscan__elements *e, const unsigned char *src, uint64_t count, uint64_t begin,
                              uint64_t end) {
    uint64_t i, found = count;
    for (i = 0; i < count; i++) {
        ref_value best, v = ref_load(e->src, src, i);
        if (i >= begin && i < end)
            continue;
        best = ref_load(e->src, src, found < count ? found : i);
        if (found == count || (e->op == GPUSCAN_OP_ARGMIN ? ref_less(e->src, v, best) : ref_less(e->src, best, v)))
            found = i;
    }
    return found;
}

static void check_arg(const gpuscan__elements *e, uint64_t tile) {
    const struct {
        const char *what;
        uint64_t begin, end;
    } lost[] = {{"the first is lost", 0, 1},
                {"a tile's last is lost", tile - 1, tile},
                {"a tile's first is lost", tile, tile + 1},
                {"a tile is lost", tile, 2 * tile},
                {"a tile is lost", 2 * tile, 3 * tile},
                {"all before the last tile is lost", 0, 3 * tile},
                {"the last tile is lost", 3 * tile, 3 * tile + 5},
                {"the last tile's first is lost", 3 * tile, 3 * tile + 1},
                {"the last is lost", 3 * tile + 4, 3 * tile + 5}};
    unsigned seen[sizeof lost / sizeof *lost] = {0}, round, all = 1, k, last_wins = 0;
    unsigned char *src = (unsigned char *)test_alloc((3 * tile + 5) * e->src_size), init[8], index[8];
    for (round = 0; round < all; round++) {
        gpuscan__test_shape shape = gpuscan__reduce_test_shape(e, tile, round, &all);
        uint64_t wanted = shape.best, i;
        gpuscan__test_elements(e, &shape, 0, src, init, NULL, index);
        assert_int_equal(wanted, ref_arg(e->dst, e->src, src, shape.count, e->op).bits);
        for (k = 0; k < sizeof lost / sizeof *lost; k++)
            seen[k] |= found_without(e, src, shape.count, lost[k].begin, lost[k].end) != wanted;
        for (i = wanted + 1; i < shape.count; i++)
            last_wins |= memcmp(src + i * e->src_size, src + wanted * e->src_size, e->src_size) == 0;
    }
    for (k = 0; k < sizeof lost / sizeof *lost; k++)
        if (!seen[k])
            hides(lost[k].what, "tiles of", (unsigned)tile);
    if (!last_wins)
        hides("the last of equal elements is found", "tiles of", (unsigned)tile);
    free(src);
}

static void test_arg(void **state) {
    static const gpuscan_type index[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};
    static const uint64_t tiles[] = {2, 8, 60, 1024};
    int op, src;
    size_t d, t;
    (void)state;
    unseen = 0;
    TEST_EACH_OP(op, REF_ARG)
        TEST_EACH_TYPE(src, REF_NUMBERS)
            for (d = 0; d < 2; d++)
                for (t = 0; t < sizeof tiles / sizeof *tiles; t++) {
                    gpuscan__elements e = elements_of((gpuscan_type)src, index[d], (gpuscan_op)op, 0);
                    test_case("%s of %s", test_op_name(e.op), test_type_name(e.src));
                    check_arg(&e, tiles[t]);
                }
    assert_int_equal(unseen, 0);
}

/* ---- uniform add ------------------------------------------------------------------------------------------------- */

typedef enum slip { RIGHT, NO_ADDEND, NO_ELEMENT, NEXT_ADDEND, PREVIOUS_ADDEND, TURNED, NO_HIGH, NO_LOW, SLIPS } slip;
static const char *const slip_names[] = {
    "none", "the addend is lost", "the element is lost", "the next addend", "the previous addend",
    "operands are swapped", "the high half of an addend is lost", "the low half of an addend is lost"};

/* Returns whether a mistake shows at element i. */
static int slip_is_seen(const data *d, const unsigned char *dst, const unsigned char *addend,
                        const unsigned char *expected, uint64_t block, uint64_t i, slip what) {
    uint64_t k = i / block, last = (d->shape.count - 1) / block;
    unsigned c;
    if (what == NEXT_ADDEND)
        k = k < last ? k + 1 : k - 1;
    if (what == PREVIOUS_ADDEND)
        k = k > 0 ? k - 1 : k + 1;
    for (c = 0; c < d->columns; c++) {
        maybe a = just(ref_load(d->type, addend, k * d->columns + c)), out;
        maybe x = just(ref_load(d->type, dst, i * d->columns + c));
        if (what == NO_HIGH || what == NO_LOW)
            a = half_of(d, c, a, what == NO_HIGH);
        a.there = what != NO_ADDEND;
        x.there = what != NO_ELEMENT;
        out = what == TURNED ? combine(d, x, a) : combine(d, a, x);
        if (!same(d, out, ref_load(d->type, expected, i * d->columns + c)))
            return 1;
    }
    return 0;
}

/* Each mistake must show in every full tile. */
static void check_blocks(const gpuscan__elements *e, uint64_t tile, uint64_t block) {
    const uint64_t count = 3 * tile + 5, bytes = count * e->dst_size;
    unsigned char *all = (unsigned char *)test_alloc(3 * bytes);
    data d;
    uint64_t i;
    int what;
    memset(&d, 0, sizeof d);
    d.e = *e;
    d.shape = gpuscan__test_shape_of(tile, 0);
    d.type = e->dst == GPUSCAN_TYPE_CUSTOM ? GPUSCAN_TYPE_U8 : e->dst;
    d.columns = e->dst == GPUSCAN_TYPE_CUSTOM ? e->dst_size : 1;
    gpuscan__test_blocks(e, count, block, all, all + bytes, all + 2 * bytes);
    for (what = RIGHT; what < SLIPS; what++) {
        int is_seen_in_tile = 0;
        if ((what == TURNED && e->op != GPUSCAN_OP_CUSTOM) || (what >= NO_HIGH && e->dst_size < 8))
            continue;
        for (i = 0; i < count; i++) {
            int seen = slip_is_seen(&d, all, all + bytes, all + 2 * bytes, block, i, (slip)what);
            if (what == RIGHT && seen)
                fail_msg("%s: the expected result of element %u is wrong", test.what, (unsigned)i);
            is_seen_in_tile |= seen;
            if (i % tile == tile - 1) {
                if (what != RIGHT && !is_seen_in_tile)
                    hides(slip_names[what], "the tile of", (unsigned)i);
                is_seen_in_tile = 0;
            }
        }
    }
    free(all);
}

static void test_blocks(void **state) {
    static const uint32_t sizes[] = {1, 3, 8, 12, 64};
    int op, type;
    size_t i;
    (void)state;
    unseen = 0;
    for (op = 0; op < GPUSCAN_OP_COUNT; op++)
        TEST_EACH_TYPE(type, REF_NUMBERS) {
            gpuscan__elements e = elements_of((gpuscan_type)type, (gpuscan_type)type, (gpuscan_op)op, 0);
            if (!is_valid(&e))
                continue;
            test_case("%s of %s", test_op_name(e.op), test_type_name(e.dst));
            check_blocks(&e, 16, 7);
            check_blocks(&e, 1024, 7);
        }
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        gpuscan__elements e = elements_of(GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, sizes[i]);
        test_case("a struct of %u", (unsigned)sizes[i]);
        check_blocks(&e, 16, 7);
    }
    assert_int_equal(unseen, 0);
}

/* ---- histograms -------------------------------------------------------------------------------------------------- */

enum { TILE = 4096 };

typedef struct spread {
    uint64_t below, above, at_lower, at_upper, nans, filled;
} spread;

/* Counts where the samples fall, for a histogram that also counts values outside. */
static spread spread_of(const gpuscan_histogram_desc *d, const unsigned char *samples, const unsigned char *counts,
                        ref_value lower, ref_value upper) {
    gpuscan_type type = d->sample_type;
    spread s;
    uint64_t i;
    memset(&s, 0, sizeof s);
    for (i = 0; i < d->bins; i++)
        s.filled += ref_load(GPUSCAN_TYPE_U32, counts, i).bits > 0;
    s.below = ref_load(GPUSCAN_TYPE_U32, counts, d->bins).bits;
    s.above = ref_load(GPUSCAN_TYPE_U32, counts, d->bins + 1).bits;
    for (i = 0; i < d->count; i++) {
        ref_value v = ref_load(type, samples, i);
        int is_nan = ref_is_float(type) && isnan(v.real);
        s.nans += (unsigned)is_nan;
        s.at_lower += !is_nan && !ref_less(type, v, lower) && !ref_less(type, lower, v);
        s.at_upper += !is_nan && !ref_less(type, v, upper) && !ref_less(type, upper, v);
    }
    return s;
}

/* Checks that samples meet both bounds, NaN, both sides outside if the type has them, and most bins that can be hit. */
static void check_spread(const gpuscan_histogram_desc *d, const gpuscan__test_bins *of, const unsigned char *samples,
                         const unsigned char *counts, const unsigned char *edges) {
    gpuscan_type type = d->sample_type, edge_type = type == GPUSCAN_TYPE_F16 ? GPUSCAN_TYPE_F32 : type;
    int is_float = ref_is_float(type);
    ref_value lower = is_float ? ref_real((double)(int64_t)of->lower / GPUSCAN__TEST_UNITS) : ref_bits(of->lower);
    ref_value upper = is_float ? ref_real((double)(int64_t)(of->lower + of->range) / GPUSCAN__TEST_UNITS)
                               : ref_wrap(type, lower.bits + of->range);
    ref_value least = is_float ? ref_real(-60000) : ref_smallest(type);
    ref_value largest = is_float ? ref_real(60000) : ref_largest(type);
    uint64_t room = of->range ? of->range : ~UINT64_C(0), possible;
    int has_above = is_float || d->form == GPUSCAN_BINS_EDGES ||
                    (of->range && room <= largest.bits - lower.bits);
    spread s;
    if (d->form == GPUSCAN_BINS_EDGES) {
        lower = ref_load(edge_type, edges, 0);
        upper = ref_load(edge_type, edges, d->bins);
        room = upper.bits - lower.bits;
    }
    if (!is_float && room > largest.bits - lower.bits)
        room = largest.bits - lower.bits + 1;
    possible = is_float || d->bins < room ? d->bins : room;
    s = spread_of(d, samples, counts, lower, upper);
    if (ref_less(type, least, lower) && !s.below)
        hides("no sample is below", "bins", d->bins);
    if (has_above && ref_less(type, upper, largest) && !s.above)
        hides("no sample is above", "bins", d->bins);
    if (has_above && !s.at_upper)
        hides("no sample is the upper bound", "bins", d->bins);
    if (!s.at_lower)
        hides("no sample is the lower bound", "bins", d->bins);
    if (is_float && !s.nans)
        hides("no sample is a NaN", "bins", d->bins);
    if (s.filled * 4 < possible * 3 && !(type == GPUSCAN_TYPE_F16 && d->bins > 256)) /* bins no finer than the type */
        hides("many bins stay empty", "bins", d->bins);
}

static void check_samples(gpuscan_histogram_desc d) {
    gpuscan *gs = (gpuscan *)calloc(1, sizeof *gs);
    gpuscan__histogram_plan plan;
    gpuscan__test self;
    gpuscan__test_bins of[4];
    unsigned char *samples, *counts, *wanted, *edges, *weights;
    size_t size = ref_size(d.sample_type), bytes;
    uint64_t i, *sums;
    int is_float = ref_is_float(d.sample_type);
    assert_non_null(gs);
    gs->device.f64 = 1;
    memset(&plan, 0, sizeof plan);
    test_case("%s, form %d, %u bins%s, outside %d, %u channels, from %g to %g", test_type_name(d.sample_type),
              (int)d.form, (unsigned)d.bins, d.closed ? ", closed" : "", (int)d.outside, (unsigned)d.channels,
              is_float ? d.lower.f : (double)d.lower.i, is_float ? d.upper.f : (double)d.upper.i);
    plan.desc = &d;
    if (gpuscan__resolve_samples(gs, &plan) != GPUSCAN_SUCCESS) {
        free(gs);
        fail_msg("%s: no histogram", test.what);
        return;
    }
    memset(&self, 0, sizeof self);
    self.gs = gs;
    self.of = &plan.common;
    self.desc = &d;
    gpuscan__test_set_bins(&self, of);
    assert_false(self.failed);
    edges = d.form == GPUSCAN_BINS_EDGES ? self.arrays[1].expected : NULL;
    d.count = d.pitch = d.tile_width = 3 * TILE / plan.channels + 5;
    d.rows = d.tile_height = 1;
    bytes = plan.all_bins * ref_size(plan.counter_type);
    samples = (unsigned char *)test_alloc(d.count * plan.channels * size);
    weights = (unsigned char *)test_alloc(d.count * 8);
    counts = (unsigned char *)test_alloc(bytes);
    wanted = (unsigned char *)test_alloc(bytes);
    sums = (uint64_t *)calloc(plan.all_bins, sizeof *sums);
    assert_non_null(sums);
    gpuscan__test_samples(&plan, &d, of, samples, d.weight_type ? weights : NULL, sums);
    for (i = 0; i < plan.all_bins; i++)
        ref_store(plan.counter_type, counts, i, ref_bits(sums[i]));
    free(sums);
    ref_histogram(&d, samples, edges, d.weight_type ? weights : NULL, wanted);
    if (memcmp(counts, wanted, bytes) != 0)
        fail_msg("%s: the expected result is wrong", test.what);
    if (plan.channels == 1 && d.outside == GPUSCAN_OUTSIDE_COUNT && !d.weight_type && !d.counter_type)
        check_spread(&d, of, samples, counts, edges);
    free(samples);
    free(weights);
    free(counts);
    free(wanted);
    gpuscan__test_end(&self);
    free(gs);
}

/* Sets ranges that every integer type has, or ranges of floats. 0 and 0: the default. */
static void bound(gpuscan_histogram_desc *d, int which) {
    gpuscan_type type = d->sample_type;
    static const double reals[][2] = {{0, 0}, {-3, 5}, {1.5, 40}, {-1000, -10}, {0.125, 0.25}};
    uint64_t largest, quarter;
    if (ref_is_float(type)) {
        d->lower.f = reals[which][0];
        d->upper.f = reals[which][1];
        return;
    }
    largest = ref_largest(type).bits;
    quarter = largest / 4;
    switch (which) {
    case 0: /* the whole type, for even bins */
        d->lower.u = d->upper.u = 0;
        break;
    case 1:
        d->lower.u = ref_is_signed(type) ? 0 - quarter : 3;
        d->upper.u = ref_is_signed(type) ? quarter + 2 : 3 + 2 * quarter;
        break;
    case 2: /* up to the last value */
        d->lower.u = quarter;
        d->upper.u = largest;
        break;
    case 3: /* few values */
        d->lower.u = 10;
        d->upper.u = 47;
        break;
    default: /* from the first value */
        d->lower.u = ref_smallest(type).bits;
        d->upper.u = d->lower.u + 64;
    }
}

static void test_samples(void **state) {
    static const uint32_t bins[] = {1, 2, 7, 37, 64, 200, 256, 1000};
    int type, form, outside, closed, which;
    size_t b;
    (void)state;
    unseen = 0;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        for (form = GPUSCAN_BINS_EVEN; form <= GPUSCAN_BINS_VALUES; form++)
            for (which = 0; which < (form == GPUSCAN_BINS_EDGES ? 1 : 5); which++)
                for (b = 0; b < sizeof bins / sizeof *bins; b++)
                    for (closed = 0; closed < 2; closed++)
                        for (outside = GPUSCAN_OUTSIDE_DROP; outside <= GPUSCAN_OUTSIDE_COUNT; outside++) {
                            gpuscan_histogram_desc d;
                            int turn = which + (int)b + closed + outside + type;
                            if (form == GPUSCAN_BINS_VALUES && (closed || ref_is_float((gpuscan_type)type)))
                                continue;
                            memset(&d, 0, sizeof d);
                            d.sample_type = (gpuscan_type)type;
                            d.form = (gpuscan_bins)form;
                            d.bins = bins[b];
                            d.closed = closed;
                            d.outside = (gpuscan_outside)outside;
                            bound(&d, which);
                            if (outside == GPUSCAN_OUTSIDE_COUNT || turn % 4 == 0) {
                                d.channels = 1;
                                check_samples(d);
                            }
                            d.channels = 1 + (uint32_t)turn % 4;
                            d.channel_mask = turn % 3 ? 0 : 1;
                            d.weight_type = turn % 5 ? GPUSCAN_TYPE_DEFAULT : GPUSCAN_TYPE_U16;
                            d.counter_type = turn % 7 ? GPUSCAN_TYPE_DEFAULT : GPUSCAN_TYPE_U64;
                            if (turn % 4 == 1)
                                check_samples(d);
                        }
    assert_int_equal(unseen, 0);
}

/* An even init would be a factor of each product: a wrong multiplication that loses high bits could pass. */
static void test_inits_of_products(void **state) {
    int type;
    (void)state;
    for (type = GPUSCAN_TYPE_I8; type <= GPUSCAN_TYPE_U64; type++) {
        gpuscan__elements e = elements_of((gpuscan_type)type, (gpuscan_type)type, GPUSCAN_OP_MUL, 0);
        unsigned round;
        for (round = 0; round < 4 && gpuscan__is_integer((gpuscan_type)type); round++) {
            gpuscan__test_shape shape = gpuscan__test_shape_of(100, round);
            if (gpuscan__test_init(&e, &shape) % 2 == 0)
                fail_msg("%s, round %u: init is even", test_type_name((gpuscan_type)type), round);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements), cmocka_unit_test(test_structs),
                                       cmocka_unit_test(test_inits_of_products),
                                       cmocka_unit_test(test_arg), cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_samples)};
    test_select();
    return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
