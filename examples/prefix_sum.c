/* cc -O2 -I.. prefix_sum.c -o prefix_sum

   The first program: a prefix sum of eight numbers on the best device. */
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"
#include <stdio.h>

int main(void) {
    uint32_t numbers[8] = {3, 1, 7, 0, 4, 1, 6, 3}, sums[8];
    gpuscan *gs = NULL;
    gpuscan_result result = gpuscan_create(&gs, NULL);
    if (result == GPUSCAN_SUCCESS)
        result = gpuscan_scan_host(gs, numbers, sums, 8, NULL); /* NULL: exclusive, u32, add */
    if (result == GPUSCAN_SUCCESS)
        for (int i = 0; i < 8; i++)
            printf("%u%c", (unsigned)sums[i], i < 7 ? ' ' : '\n'); /* 0 3 4 11 11 15 16 22 */
    else
        fprintf(stderr, "%s\n", gpuscan_result_string(result));
    gpuscan_destroy(gs);
    return result != GPUSCAN_SUCCESS;
}
