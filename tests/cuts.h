/* Parts that the tests of segments share: ways to cut elements into segments, as offsets, flags or keys. */
#ifndef TEST_CUTS_H
#define TEST_CUTS_H

#include "harness.h"

/* Where segments end: steps of random lengths; one element each; many empty segments at both ends and between; a few
   long ones; elements before the first and behind the last segment; offsets beyond count. */
typedef enum test_cuts {
    CUTS_RANDOM = 0,
    CUTS_ONES,
    CUTS_EMPTY,
    CUTS_LONG,
    CUTS_INSIDE,
    CUTS_BEYOND,
    CUTS_COUNT
} test_cuts;

/* Returns the offsets of n segments of count elements: n + 1 of them, ascending. */
static inline uint64_t *cut_offsets(test_cuts cuts, uint64_t n, uint64_t count) {
    uint64_t *at = (uint64_t *)test_alloc((n + 1) * sizeof *at);
    uint64_t  s, next = cuts == CUTS_INSIDE ? count / 3 : 0;
    for (s = 0; s <= n; s++) {
        at[s] = next;
        if (s == n)
            break;
        switch (cuts) {
        case CUTS_ONES:
            next += 1;
            break;
        case CUTS_EMPTY:
            next += s > n / 4 && s < n - n / 4 && s % 3 == 0 ? test_below(2 * (count / n + 1)) : 0;
            break;
        case CUTS_LONG:
            next += s % (n / 4 + 1) == n / 8 ? count / 4 : 0;
            break;
        case CUTS_INSIDE:
            next += test_below(count / (2 * n) + 2);
            break;
        case CUTS_BEYOND:
            next += test_below(3 * (count / n + 1));
            break;
        default:
            next += test_below(2 * (count / n + 1));
        }
        if (cuts != CUTS_BEYOND && next > count)
            next = count;
    }
    return at;
}

/* Returns for each of count elements a byte: 1 if it is the first element or an offset is its index, otherwise 0. */
static inline unsigned char *cut_heads(const uint64_t *at, uint64_t n, uint64_t count) {
    unsigned char *heads = (unsigned char *)test_alloc(count + 1);
    uint64_t       s;
    memset(heads, 0, (size_t)count + 1);
    heads[0] = 1;
    for (s = 0; s <= n; s++)
        if (at[s] < count)
            heads[at[s]] = 1;
    return heads;
}

/* Returns the heads as numbers of a type, not 0 at heads. The first element's number may be anything. */
static inline unsigned char *cut_flags(const unsigned char *heads, uint64_t count, gpuscan_type type) {
    size_t         size = ref_size(type);
    unsigned char *flags = (unsigned char *)test_alloc(count * size);
    uint64_t       i;
    for (i = 0; i < count; i++)
        ref_store(type, flags, i,
                  ref_bits(heads[i] && (i > 0 || test_below(2)) ? (1 + test_below(255)) << 8 * test_below(size) : 0));
    return flags;
}

/* Returns the heads as keys: a key differs from the one before it only at heads. Floats are NaN in some segments of one
   element, and zeros of both signs occur within a segment. */
static inline unsigned char *cut_keys(const unsigned char *heads, uint64_t count, gpuscan_type type) {
    size_t         size = ref_size(type);
    unsigned char *keys = (unsigned char *)test_alloc(count * size);
    uint64_t       i, key = 0;
    for (i = 0; i < count; i++) {
        int is_one = heads[i] && (i + 1 == count || heads[i + 1]);
        if (heads[i])
            key = (key + 1 + test_below(3)) % 5;
        if (!ref_is_float(type))
            ref_store(type, keys, i, ref_bits(key << 8 * (size - 1)));
        else if (is_one && test_below(2))
            ref_store(type, keys, i, ref_real((double)NAN));
        else
            ref_store(type, keys, i, ref_real(key == 0 && test_below(2) ? -0.0 : ldexp((double)key, -20)));
    }
    return keys;
}

#endif /* TEST_CUTS_H */
