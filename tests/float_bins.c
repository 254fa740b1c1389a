/* Prints which bins the library computes for even bins of floats. tests/compile.sh compares the output of builds with
   -ffast-math and x87 with the plain build's. Needs no OpenCL.
   Cannot see the x87's double rounding of f64 steps (to 64 and then to 53 bits): it shows in one range in a few
   thousand, and none of these is one.
       cc tests/float_bins.c -o float_bins -ldl && ./float_bins */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GPUSCAN_STATIC
#define GPUSCAN_IMPLEMENTATION
#include "../gpuscan.h"

static uint64_t random_state = 1;

static uint64_t next(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state ^ random_state >> 29;
}

/* Returns a number of random sign and digits between 2^-first and 2^(last - first). */
static uint64_t number(unsigned first, unsigned last) {
    return (next() & ~(UINT64_C(0x7FF) << 52)) | (1023 - first + next() % (last + 1)) << 52;
}

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void print(gpuscan *gs, gpuscan_type type, uint32_t bins, uint64_t lower, uint64_t upper) {
    gpuscan__histogram_plan plan;
    gpuscan__bounds         bounds;
    gpuscan_bound           given[2];
    gpuscan_result          result;
    memset(&plan, 0, sizeof plan);
    plan.binned_type = type;
    plan.bins = bins;
    given[0].u = lower;
    given[1].u = upper;
    result = gpuscan__float_bins(gs, &plan, given, &bounds);
    printf("%d, %" PRIu32 " bins from %016" PRIx64 " to %016" PRIx64 ": ", (int)type, bins, lower, upper);
    if (result == GPUSCAN_SUCCESS)
        printf("%016" PRIx64 " %016" PRIx64 " step %016" PRIx64 ", mode %" PRIu32 "\n", bits_of(bounds.real_lower),
               bits_of(bounds.real_upper), bits_of(bounds.real_step), plan.key.bin_mode);
    else
        printf("%d\n", (int)result);
}

int main(void) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64};
    static const uint64_t     bounds[] = {0x0000000000000000, /* 0 */
                                          0x8000000000000000, /* -0 */
                                          0x3FF0000000000000, /* 1 */
                                          0xBFF0000000000000, /* -1 */
                                          0x3FF0000000000001, /* next above 1 */
                                          0x47EFFFFFE0000000, /* the largest f32 */
                                          0xC7EFFFFFE0000000,
                                          0x47EFFFFFF0000000, /* just past it */
                                          0x7FEFFFFFFFFFFFFF, /* the largest f64 */
                                          0xFFEFFFFFFFFFFFFF,
                                          0x7FDFFFFFFFFFFFFF, /* half the largest f64 */
                                          0xFFE0000000000001, /* just over half of it */
                                          0x7FF0000000000000, /* infinity */
                                          0xFFF0000000000000,
                                          0x7FF8000000000000, /* NaN */
                                          0xFFF8000000000000,
                                          0x7FF0000000000001,
                                          0xFFFFFFFFFFFFFFFF};
    static const uint32_t     bins[] = {1, 2, 3, 256, 1 << 20, 536870909};
    enum { BOUNDS = sizeof bounds / sizeof bounds[0] };
    gpuscan *gs = (gpuscan *)calloc(1, sizeof *gs);
    size_t   t, b, i, j;
    if (!gs)
        return 1;
    for (t = 0; t < 3; t++) {
        for (b = 0; b < sizeof bins / sizeof bins[0]; b++)
            for (i = 0; i < BOUNDS; i++)
                for (j = 0; j < BOUNDS; j++)
                    print(gs, types[t], bins[b], bounds[i], bounds[j]);
        for (i = 0; i < 2000; i++) {
            uint64_t x = number(10, 20), y = number(10, 20);
            double   a, c;
            memcpy(&a, &x, sizeof a);
            memcpy(&c, &y, sizeof c);
            print(gs, types[t], 1 + (uint32_t)(next() % 100000), a < c ? x : y, a < c ? y : x);
        }
    }
    free(gs);
    return 0;
}
