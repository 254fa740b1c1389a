/* Parts that the tests of expressions share: data, and calls of _host forms whose right results stand in `wanted`. Each
   call returns whether its result is right, or -1 if it has no form of the strategy. */
#ifndef TEST_EXPRESSIONS_H
#define TEST_EXPRESSIONS_H

#include "calls.h"

enum { COUNT = 3000, ROW = 25, ROWS = COUNT / ROW };
static uint32_t src[COUNT], got[COUNT], wanted[COUNT], more[COUNT];
static uint8_t heads[COUNT];

static inline void fill(void) {
    uint32_t i;
    for (i = 0; i < COUNT; i++) {
        src[i] = (uint32_t)(gpuscan__mix(i) % 1000);
        heads[i] = gpuscan__mix(i + COUNT) % 40 == 0;
    }
    memset(got, 0xee, sizeof got);
    memset(more, 0xee, sizeof more);
}

static inline int outcome_of(gpuscan_result r, uint64_t count) {
    if (r == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
        return -1;
    test_ok(r);
    return memcmp(got, wanted, (size_t)count * sizeof *got) == 0;
}

/* row: elements between two starts; 0: heads say where a segment begins. */
static inline int scan_is_right(gpuscan *gs, const gpuscan_custom *custom, gpuscan_call call, uint32_t row,
                                gpuscan_scan_kind kind) {
    gpuscan_scan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.op = GPUSCAN_OP_CUSTOM;
    desc.custom = custom;
    desc.kind = kind;
    desc.rows = row ? COUNT / row : 0;
    if (!row) {
        desc.segments.form = GPUSCAN_SEGMENTS_HEADS;
        desc.segments.host_data = heads;
    }
    desc.call = call;
    return outcome_of(gpuscan_scan_host(gs, src, got, row ? row : COUNT, &desc), COUNT);
}

static inline int reduction_is_right(gpuscan *gs, gpuscan_op op, const gpuscan_custom *custom, gpuscan_call call,
                                     uint32_t row) {
    gpuscan_reduce_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.op = op;
    desc.custom = custom;
    desc.rows = COUNT / row;
    desc.call = call;
    return outcome_of(gpuscan_reduce_host(gs, src, got, row, &desc), COUNT / row);
}

/* Selects `right` elements. In place, keeps those that the predicate does not select. */
static inline int selection_is_right(gpuscan *gs, const gpuscan_custom *custom, gpuscan_call call, int in_place,
                                     uint64_t right) {
    gpuscan_select_desc desc;
    uint64_t kept = 0;
    gpuscan_result r;
    memset(&desc, 0, sizeof desc);
    desc.by = GPUSCAN_SELECT_PREDICATE;
    desc.custom = custom;
    desc.invert = in_place;
    desc.call = call;
    if (in_place)
        memcpy(got, src, sizeof got);
    r = gpuscan_select_host(gs, in_place ? got : src, NULL, got, COUNT, &kept, &desc);
    return kept != right && r == 0 ? 0 : outcome_of(r, right);
}

/* Reduces src by `right` runs of custom keys. */
static inline int runs_are_right(gpuscan *gs, gpuscan_op op, const gpuscan_custom *custom, gpuscan_call call,
                                 const uint32_t *keys, uint64_t right) {
    gpuscan_runs_desc desc;
    uint64_t runs = 0;
    gpuscan_result r;
    memset(&desc, 0, sizeof desc);
    desc.key_type = GPUSCAN_TYPE_CUSTOM;
    desc.op = op;
    desc.custom = custom;
    desc.host_src = src;
    desc.host_dst = got;
    desc.call = call;
    r = gpuscan_runs_host(gs, keys, more, COUNT, &runs, &desc);
    return runs != right && r == 0 ? 0 : outcome_of(r, right);
}

static inline int sort_is_right(gpuscan *gs, const gpuscan_custom *custom, gpuscan_call call) {
    gpuscan_sort_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.custom = custom;
    desc.call = call;
    return outcome_of(gpuscan_sort_host(gs, src, got, NULL, COUNT, &desc), COUNT);
}

enum { BINS = 700 };

static inline int histogram_is_right(gpuscan *gs, const gpuscan_custom *custom, gpuscan_call call, const char *weight) {
    gpuscan_histogram_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.sample_type = GPUSCAN_TYPE_U32;
    desc.form = GPUSCAN_BINS_VALUES;
    desc.bins = BINS;
    desc.custom = custom;
    desc.weight = weight;
    desc.call = call;
    return outcome_of(gpuscan_histogram_host(gs, src, got, COUNT, &desc), BINS);
}

#endif
