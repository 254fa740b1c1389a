/* Parts that the tests of lanes share: lanes through local memory, in sub-groups of several widths. */
#ifndef TEST_LANES_H
#define TEST_LANES_H

#include "operators.h"

static const uint32_t widths[] = {8, 16, 32, 64};

static inline size_t width_count(void) {
    return sizeof widths / sizeof *widths - (test.is_small ? 1 : 0);
}

/* Returns whether a case runs with this width: by default with some; in the slow simulator each case with one. */
static inline int width_in_run(size_t width, size_t number) {
    return test.is_small ? (number + test.seed) % width_count() == width : test_share(width + number, 2);
}

static inline void with_width(uint32_t width) {
    gpuscan_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.lanes = width;
    test_limit(&limits);
    assert_true(test.info.has_lanes);
}

/* Returns the key of the last program, after checking that it was built with lanes. */
static const gpuscan__key *last_key(void) {
    const gpuscan__program *program = test.gs->programs;
    assert_non_null(program);
    if (test.gs->device.lanes != GPUSCAN__LANES_LOCAL || test.gs->refusals)
        fail_msg("%s: lanes or a strategy were given up", test.what);
    if (!strstr(program->parts[GPUSCAN__PART_TEXT].data, "#define GPUSCAN_LANES_KIND 3\n"))
        fail_msg("%s: a program without lanes", test.what);
    return &program->key;
}

#endif
