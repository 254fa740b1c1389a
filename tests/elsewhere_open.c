/* Opens the best device and prints the result in one line; with a device, it also runs each operation's host logic.
   The stub of elsewhere_stub.c computes nothing, so no output of a kernel is checked. See elsewhere.sh. */
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN__TEST_PASSES(got, expected, bytes) ((void)(got), (void)(expected), (bytes) > 0) /* no kernel runs */
#include "../gpuscan.h"

#include <stdio.h>
#include <string.h>

/* Returns whether valid calls reach their launches and invalid calls are refused. */
static int calls_are_right(gpuscan *gs, const gpuscan_desc *desc) {
    gpuscan *second = NULL;
    uint32_t in[100], out[300], sum = 0;
    gpuscan_scan_desc scan;
    gpuscan_histogram_desc histogram;
    gpuscan_info info;
    static unsigned char blob[1 << 20];
    size_t size = sizeof blob;
    int right = 1;
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    memset(&scan, 0, sizeof scan);
    memset(&histogram, 0, sizeof histogram);
    right &= gpuscan_get_info(gs, &info) == 0 && strcmp(info.device_name, "stub") == 0;
    right &= gpuscan_scan_host(gs, in, out, 100, NULL) == 0;
    right &= gpuscan_reduce_host(gs, in, &sum, 100, NULL) == 0;
    right &= gpuscan_uniform_add_host(gs, in, out, 100, 7, NULL) == 0;
    right &= gpuscan_histogram_host(gs, in, out, 400, NULL) == 0;
    histogram.sample_type = GPUSCAN_TYPE_I64; /* 64-bit bounds, also with a 32-bit size_t */
    histogram.lower.i = -5;
    histogram.upper.i = (int64_t)1 << 40;
    right &= gpuscan_histogram_host(gs, in, out, 50, &histogram) == 0;
    histogram.lower.i = 9;
    histogram.upper.i = 9;
    right &= gpuscan_histogram_host(gs, in, out, 50, &histogram) == GPUSCAN_ERROR_INVALID_BINS;
    scan.rows = UINT64_MAX;
    right &= gpuscan_scan_host(gs, in, out, 100, &scan) == GPUSCAN_ERROR_SIZE_OVERFLOW;
    scan.rows = 1;
    right &= gpuscan_scan_host(gs, in, in + 1, 50, &scan) == GPUSCAN_ERROR_OVERLAP;
    if (sizeof(size_t) == 4) /* too large for this host's addresses */
        right &= gpuscan_reduce_host(gs, in, &sum, (uint64_t)1 << 40, NULL) == GPUSCAN_ERROR_SIZE_OVERFLOW;
    right &= strcmp(gpuscan_error(gs), "") != 0;
    if (gpuscan_get_blob(gs, blob, &size) != 0)
        return 0;
    right &= gpuscan_set_blob(gs, blob, size) == 0;
    right &= gpuscan_create(&second, desc) == 0 && gpuscan_set_blob(second, blob, size) == 0 &&
             gpuscan_scan_host(second, in, out, 100, NULL) == 0;
    gpuscan_destroy(second);
    blob[size - 1] ^= 1;
    right &= gpuscan_set_blob(gs, blob, size) == GPUSCAN_ERROR_BLOB;
    return right;
}

static cl_int CL_API_CALL no_platforms(cl_uint count, cl_platform_id *ids, cl_uint *found) {
    (void)count;
    (void)ids;
    *found = 0;
    return CL_SUCCESS;
}

/* OPEN_TABLE: "nothing" passes an empty table of entry points; "one" passes a table that finds no platform.
   OPEN_LIBRARY: the desc's library. OPEN_WORDS: if set, the error message is printed. */
int main(void) {
    const char *table_of = getenv("OPEN_TABLE");
    static gpuscan_opencl table;
    char error[400] = "";
    gpuscan *gs = NULL;
    gpuscan_desc desc;
    gpuscan_result r;
    memset(&desc, 0, sizeof desc);
    desc.error = error;
    desc.error_size = sizeof error;
    desc.library = getenv("OPEN_LIBRARY");
    if (table_of) {
        desc.opencl = &table;
        table.clGetPlatformIDs = strcmp(table_of, "one") == 0 ? no_platforms : NULL;
    }
    r = gpuscan_create(&gs, &desc);
    if (r == 0)
        printf("%d %s, calls are %s\n", (int)r, gpuscan_result_string(r),
               calls_are_right(gs, &desc) ? "right" : gpuscan_error(gs));
    else
        printf("%d %s, the object %s, %s\n", (int)r, gpuscan_result_string(r), gs ? "exists" : "is NULL",
               getenv("OPEN_WORDS") ? error : error[0] ? "with a message" : "without a message");
    gpuscan_destroy(gs);
    return 0;
}
