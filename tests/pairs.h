/* Covering arrays: rows of levels in which every possible combination of two (or three) levels of different fields
   occurs. Each row is the one of several random candidates that covers most: Cohen, Dalal, Fredman and Patton, "The
   AETG system", 1997. */
#ifndef TEST_PAIRS_H
#define TEST_PAIRS_H

#include "harness.h"

enum { PAIRS_FIELDS = 24, PAIRS_OPEN = 255 };

typedef struct pairs_row {
    unsigned char level[PAIRS_FIELDS]; /* level of each field; PAIRS_OPEN: not yet chosen */
} pairs_row;

typedef struct pairs_field {
    const char *name;
    unsigned    levels; /* at most 255 */
} pairs_field;

typedef struct pairs_table {
    const pairs_field *fields;
    unsigned           count;
    int (*possible)(unsigned a, unsigned a_level, unsigned b, unsigned b_level); /* fields a < b */
    int (*fits)(const pairs_row *row); /* conditions on more than two fields; NULL: none */
} pairs_table;

typedef struct pairs_array {
    const pairs_table *table;
    unsigned           strength;                /* 2: pairs, 3: triples */
    unsigned           first[PAIRS_FIELDS + 1]; /* number of each field's first level */
    unsigned char     *missing;                 /* indexed by three numbers; a pair's third is no level's */
    size_t             tuples;                  /* covered by the rows */
    pairs_row         *rows;
    unsigned           row_count;
} pairs_array;

static inline int pairs_possible(const pairs_table *table, unsigned a, unsigned a_level, unsigned b, unsigned b_level) {
    return a < b ? table->possible(a, a_level, b, b_level) : table->possible(b, b_level, a, a_level);
}

/* Returns where the tuple of these numbers, in any order, is marked as missing. */
static inline unsigned char *pairs_at(const pairs_array *p, unsigned a, unsigned b, unsigned c) {
    size_t   all = p->first[p->table->count] + 1;
    unsigned low = a < b ? a : b, high = a < b ? b : a;
    if (c < low)
        return &p->missing[(c * all + low) * all + high];
    return c < high ? &p->missing[(low * all + c) * all + high] : &p->missing[(low * all + high) * all + c];
}

/* Returns how many missing tuples of a row contain the field's level. cover: marks them as covered. */
static inline unsigned pairs_gain(pairs_array *p, const pairs_row *row, unsigned field, unsigned level, int cover) {
    unsigned       count = p->table->count, number = p->first[field] + level, gain = 0, g, h;
    unsigned char *at;
    for (g = 0; g < count; g++) {
        if (g == field || row->level[g] == PAIRS_OPEN)
            continue;
        for (h = p->strength == 2 ? count : g + 1; h < count + (p->strength == 2); h++) {
            if (h < count && (h == field || row->level[h] == PAIRS_OPEN))
                continue;
            at = pairs_at(p, number, p->first[g] + row->level[g], p->first[h] + (h < count ? row->level[h] : 0));
            gain += *at;
            if (cover)
                *at = 0;
        }
    }
    return gain;
}

static inline int pairs_fits(const pairs_table *table, const pairs_row *row, unsigned field, unsigned level) {
    pairs_row with = *row;
    unsigned  g;
    for (g = 0; g < table->count; g++)
        if (g != field && row->level[g] != PAIRS_OPEN && !pairs_possible(table, field, level, g, row->level[g]))
            return 0;
    with.level[field] = (unsigned char)level;
    return table->fits == NULL || table->fits(&with);
}

/* Fills a row's open fields in random order, each with the level that gains most. Returns 0 if a field has no level. */
static inline int pairs_complete(pairs_array *p, pairs_row *row) {
    unsigned order[PAIRS_FIELDS], count = p->table->count, i, j, level, best, most, gain, start;
    for (i = 0; i < count; i++) {
        j = (unsigned)test_below(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (i = 0; i < count; i++) {
        unsigned field = order[i], levels = p->table->fields[order[i]].levels;
        if (row->level[field] != PAIRS_OPEN)
            continue;
        best = PAIRS_OPEN;
        most = 0;
        start = (unsigned)test_below(levels);
        for (j = 0; j < levels; j++) {
            level = (start + j) % levels;
            if (!pairs_fits(p->table, row, field, level))
                continue;
            gain = 1 + pairs_gain(p, row, field, level, 0);
            if (gain > most) {
                most = gain;
                best = level;
            }
        }
        if (best == PAIRS_OPEN)
            return 0;
        row->level[field] = (unsigned char)best;
    }
    return 1;
}

/* Returns what a whole row would cover, counting each tuple once for each of its fields. */
static inline unsigned pairs_worth(pairs_array *p, const pairs_row *row) {
    unsigned field, worth = 0;
    for (field = 0; field < p->table->count; field++)
        worth += pairs_gain(p, row, field, row->level[field], 0);
    return worth;
}

/* Calls a function with every possible tuple, as a row whose other fields are open. */
static inline void pairs_each(pairs_array *p, void (*call)(pairs_array *p, const pairs_row *row, unsigned last)) {
    unsigned  count = p->table->count, f, g, h;
    pairs_row row;
    memset(&row, PAIRS_OPEN, sizeof row);
#define PAIRS_EACH_LEVEL(field)                                                                                        \
    for (row.level[field] = 0; row.level[field] < p->table->fields[field].levels; row.level[field]++)                  \
        if (pairs_fits(p->table, &row, field, row.level[field]))
    for (f = 0; f < count; f++) {
        PAIRS_EACH_LEVEL(f)
            for (g = f + 1; g < count; g++) {
                PAIRS_EACH_LEVEL(g) {
                    if (p->strength == 2)
                        call(p, &row, g);
                    for (h = p->strength == 2 ? count : g + 1; h < count; h++) {
                        PAIRS_EACH_LEVEL(h)
                            call(p, &row, h);
                        row.level[h] = PAIRS_OPEN;
                    }
                }
                row.level[g] = PAIRS_OPEN;
            }
        row.level[f] = PAIRS_OPEN;
    }
#undef PAIRS_EACH_LEVEL
}

/* Returns where the tuple of such a row is marked as missing. */
static inline unsigned char *pairs_only(const pairs_array *p, const pairs_row *row) {
    unsigned number[3], n = 0, f;
    number[2] = p->first[p->table->count];
    for (f = 0; f < p->table->count; f++)
        if (row->level[f] != PAIRS_OPEN)
            number[n++] = p->first[f] + row->level[f];
    return pairs_at(p, number[0], number[1], number[2]);
}

static inline void pairs_want(pairs_array *p, const pairs_row *row, unsigned last) {
    (void)last;
    *pairs_only(p, row) = 1;
    p->tuples++;
}

/* Adds a row that covers this tuple, unless one does. None can if levels are possible in pairs, but not all
   together. */
static inline void pairs_add(pairs_array *p, const pairs_row *tuple, unsigned last) {
    pairs_row row, best;
    unsigned  worth, most = 0, i;
    if (!*pairs_only(p, tuple))
        return;
    for (i = 0; i < 20; i++) {
        row = *tuple;
        if (pairs_complete(p, &row) && (worth = pairs_worth(p, &row)) > most) {
            most = worth;
            best = row;
        }
    }
    if (most == 0) {
        *pairs_only(p, tuple) = 0;
        p->tuples--;
        return;
    }
    for (i = 0; i < p->table->count; i++)
        pairs_gain(p, &best, i, best.level[i], 1);
    if ((p->row_count & (p->row_count - 1)) == 0) {
        p->rows = (pairs_row *)realloc(p->rows, (p->row_count ? 2 * p->row_count : 1) * sizeof *p->rows);
        assert_non_null(p->rows);
    }
    p->rows[p->row_count++] = best;
    (void)last;
}

/* Returns the rows for a table, made with test_random. */
static inline pairs_array pairs_new(const pairs_table *table, unsigned strength) {
    pairs_array p;
    unsigned    f;
    size_t      all;
    memset(&p, 0, sizeof p);
    p.table = table;
    p.strength = strength;
    for (f = 0; f < table->count; f++)
        p.first[f + 1] = p.first[f] + table->fields[f].levels;
    all = p.first[table->count] + 1;
    p.missing = (unsigned char *)test_alloc(all * all * all);
    memset(p.missing, 0, all * all * all);
    pairs_each(&p, pairs_want);
    pairs_each(&p, pairs_add);
    return p;
}

/* Returns a random row whose levels are all possible together. Its first `same` fields are those of another row. */
static inline pairs_row pairs_random(pairs_array *p, const pairs_row *like, unsigned same) {
    pairs_row row;
    do {
        memset(&row, PAIRS_OPEN, sizeof row);
        memcpy(row.level, like->level, same);
    } while (!pairs_complete(p, &row));
    return row;
}

/* Returns a row that still fails, with the lowest possible levels. fails: says whether a row fails. */
static inline pairs_row pairs_shrink(const pairs_table *table, pairs_row row,
                                     int (*fails)(const void *context, const pairs_row *row), const void *context) {
    unsigned f, level, changed;
    do
        for (f = 0, changed = 0; f < table->count; f++)
            for (level = 0; level < row.level[f]; level++) {
                pairs_row lower = row;
                lower.level[f] = (unsigned char)level;
                if (pairs_fits(table, &row, f, level) && fails(context, &lower)) {
                    row = lower;
                    changed = 1;
                }
            }
    while (changed);
    return row;
}

static inline void pairs_free(pairs_array *p) {
    free(p->missing);
    free(p->rows);
    memset(p, 0, sizeof *p);
}

#endif /* TEST_PAIRS_H */
