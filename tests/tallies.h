/* What selections and runs report about their number of outputs: the tally, and a dispatch's arguments. */
#ifndef TEST_TALLIES_H
#define TEST_TALLIES_H

#include "harness.h"
#include "reference.h"

/* Texts whose tiles publish never or late, or whose groups begin in the wrong order, with a hook that each defines: see
   test_uses_hook. */
static const struct {
    const char *hook, *text;
} late_cases[] = {{"SILENT", "#define GPUSCAN_TEST_SILENT(tile) ((tile) % 3 == 1)\n#define GPUSCAN_TEST_DELAY(tile)\n"},
                  {"SILENT", "#define GPUSCAN_TEST_SILENT(tile) ((tile) % 5 != 0)\n#define GPUSCAN_TEST_DELAY(tile)\n"},
                  {"DELAY", "#define GPUSCAN_TEST_SILENT(tile) false\n"
                            "#define GPUSCAN_TEST_DELAY(tile) if ((tile) % 4 == 2) late_pause()\n"
                            "void late_pause(void) { for (volatile uint x = 20000; x > 0; x--); }\n"},
                  {"GROUP", "#define GPUSCAN_GROUPS_IN_ORDER 1\n"
                            "#define GPUSCAN_TEST_GROUP (uint)(get_num_groups(0) - 1 - get_group_id(0))\n"}};
enum { LATE_CASES = sizeof late_cases / sizeof *late_cases };

/* Counts of 0, 1, at the limit and above it, where y grows and x is evened out. */
static const struct {
    uint64_t count;
    uint32_t items, limit;
} tally_cases[] = {{0, 0, 0},       {1, 0, 0},       {64, 0, 0},    {65, 0, 0},
                   {100, 1, 100},   {101, 1, 100},   {199, 1, 100}, {201, 1, 100},
                   {10, 1, 1},      {777, 7, 3},     {5000, 1, 7},  {4096, 4096, 1},
                   {4097, 4096, 1}, {1000, UINT32_MAX, UINT32_MAX}};
enum { TALLY_CASES = sizeof tally_cases / sizeof *tally_cases };

/* Checks a tally. type: of count, DEFAULT: no count; dispatch: NULL: none; items, limit: the desc's. */
static inline void tally_check(int ran, gpuscan_type type, test_buffer *count, test_buffer *dispatch, uint32_t items,
                               uint32_t limit, uint64_t found, uint64_t written) {
    uint64_t each = items ? items : 64, most = limit ? limit : 65535, groups = written / each + (written % each != 0);
    uint64_t y = 1;
    uint32_t wanted[3], *got;
    if (type && !ran)
        test_buffer_untouched(count);
    if (dispatch && !ran)
        test_buffer_untouched(dispatch);
    if (!ran)
        return;
    if (type && ref_load(type, test_buffer_get(count), 0).bits != found)
        fail_msg("%s: %" PRIu64 " counted instead of %" PRIu64, test.what,
                 ref_load(type, test_buffer_get(count), 0).bits, found);
    if (!dispatch)
        return;
    while (groups / y + (groups % y != 0) > most || (y < groups / most + (groups % most != 0)))
        y++;
    wanted[0] = (uint32_t)(groups / y + (groups % y != 0));
    wanted[1] = (uint32_t)y;
    wanted[2] = 1;
    got = (uint32_t *)test_buffer_get(dispatch);
    if (memcmp(got, wanted, sizeof wanted) != 0)
        fail_msg("%s: dispatch %u %u %u instead of %u %u %u", test.what, got[0], got[1], got[2], wanted[0], wanted[1],
                 wanted[2]);
}

#endif
