/* gpuscan_select and gpuscan_select_host against a loop.
   cc -O2 tests/test_select.c -o build/test_select -lcmocka -lOpenCL -lm && build/test_select */
#include "selections.h"

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static void every_length(void **state) {
    uint64_t n, last = test_size(200, 2100, 4100);
    (void)state;
    for (n = 0; n <= last; n += n < 70 ? 1 : n % 32 == 31 || n % 32 == 0 ? 1 : test_size(37, 15, 1)) {
        selection_case c = a_selection(GPUSCAN_TYPE_U32, n, (selection_density)(n % KEEP_COUNT));
        c.by = (gpuscan_select_by)(n / KEEP_COUNT % 3);
        c.index_type = GPUSCAN_TYPE_U32;
        test_all_strategies(&selections, &c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_length)};
    test_select();
    return cmocka_run_group_tests_name("select", tests, test_open, test_close);
}
