/* Runs, selections, sorts and scans by segments of just over and just under 2^32 elements. Only a long run does this,
   on devices with 12 GiB of memory.
      cc -O2 tests/test_above_32_bits.c -o build/test_above_32_bits -lcmocka -lOpenCL -lm
      GPUSCAN_TEST_LONG=1 build/test_above_32_bits */
#include "tallies.h"

/* The array is zero except for these pieces of random non-zero bytes. Some begin or end at element 2^32 or at the
   array's ends. As keys, the bytes form runs of 1 to 2^31 elements; as flags, they are selected or begin segments. */
static const struct {
    uint64_t begin, end;
} pieces[] = {{3, 70003},
              {(UINT64_C(1) << 20) - 1, (UINT64_C(1) << 20) + 1},
              {UINT64_C(1) << 30, (UINT64_C(1) << 30) + 100001},
              {(UINT64_C(1) << 31) - 5, UINT64_C(1) << 31},
              {(UINT64_C(1) << 32) - 30011, (UINT64_C(1) << 32) + 20011},
              {(UINT64_C(1) << 32) + 50000, (UINT64_C(1) << 32) + 50001},
              {(UINT64_C(1) << 32) + 77770, (UINT64_C(1) << 32) + 77777}};
enum { PIECES = sizeof pieces / sizeof *pieces };
static const uint64_t count = (UINT64_C(1) << 32) + 77777; /* ends with the last piece */

static struct {
    cl_mem         bytes;
    unsigned char *piece[PIECES];
    uint64_t      *starts, *lengths, *sums; /* of the runs; sums: of their bytes */
    unsigned char *keys;
    uint64_t       runs;
    uint64_t      *selected, selected_count; /* indices of non-zero bytes */
} large;

static void add_run(unsigned char key, uint64_t begin) {
    large.starts[large.runs] = begin;
    large.keys[large.runs++] = key;
}

static int make_large(void **state) {
    uint64_t most = 2, i, r;
    cl_int   status;
    int      p;
    const unsigned char zero = 0;
    if (test_open(state) != 0)
        return -1;
    if (!test.is_long || test.is_small || test.largest_buffer < count || test.device_memory < 3 * count)
        return 0;
    for (p = 0; p < PIECES; p++)
        most += pieces[p].end - pieces[p].begin + 1;
    large.starts = (uint64_t *)test_alloc((most + 1) * 8);
    large.lengths = (uint64_t *)test_alloc(most * 8);
    large.sums = (uint64_t *)test_alloc(most * 8);
    large.selected = (uint64_t *)test_alloc(most * 8);
    large.keys = (unsigned char *)test_alloc(most);
    large.bytes = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)count, NULL, &status);
    test_cl(status);
    test_fill_buffer(large.bytes, &zero, 1, count);
    add_run(0, 0);
    for (p = 0; p < PIECES; p++) {
        const uint64_t begin = pieces[p].begin, size = pieces[p].end - begin;
        unsigned char *piece = large.piece[p] = (unsigned char *)test_alloc(size);
        for (i = 0; i < size; i++) {
            piece[i] = (unsigned char)(i > 0 && test_below(3) ? piece[i - 1] : 1 + test_below(255));
            if (i == 0 || piece[i] != piece[i - 1])
                add_run(piece[i], begin + i);
            large.selected[large.selected_count++] = begin + i;
        }
        if (begin + size < count)
            add_run(0, begin + size);
        test_cl(clEnqueueWriteBuffer(test.queue, large.bytes, CL_TRUE, (size_t)begin, (size_t)size, piece, 0, NULL,
                                     NULL));
    }
    large.starts[large.runs] = count;
    for (r = 0; r < large.runs; r++) {
        large.lengths[r] = large.starts[r + 1] - large.starts[r];
        large.sums[r] = large.lengths[r] * large.keys[r];
    }
    return 0;
}

static int drop_large(void **state) {
    int p;
    for (p = 0; p < PIECES; p++)
        free(large.piece[p]);
    free(large.starts);
    free(large.lengths);
    free(large.sums);
    free(large.selected);
    free(large.keys);
    if (large.bytes)
        clReleaseMemObject(large.bytes);
    return test_close(state);
}

/* Returns whether the device's profile uses strategies of this sort, CPU or GPU: the others would take too long. */
static int is_in_turn(int s) {
    const int of_cpu = s == GPUSCAN_STRATEGY_CPU_MULTI_PASS || s == GPUSCAN_STRATEGY_CPU_SINGLE_PASS;
    gpuscan_info info;
    test_ok(gpuscan_get_info(test.gs, &info));
    return s == GPUSCAN_STRATEGY_AUTO ||
           of_cpu == (info.scan_strategy == GPUSCAN_STRATEGY_CPU_MULTI_PASS ||
                      info.scan_strategy == GPUSCAN_STRATEGY_CPU_SINGLE_PASS);
}
#define EACH_STRATEGY(s)                                                                                               \
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)                                                                       \
        if (is_in_turn(s))

/* Returns a count from 2^32 - 70 to 2^32 + 5, another one at each call. is_all: returns all elements. */
static uint64_t at_edge(int is_all) {
    static const uint64_t edges[] = {(UINT64_C(1) << 32) - 11, (UINT64_C(1) << 32) - 70, UINT64_C(1) << 32,
                                     (UINT64_C(1) << 32) - 63, (UINT64_C(1) << 32) + 5,  (UINT64_C(1) << 32) - 1};
    return is_all ? count : edges[(test.seed + test.turn++) % (sizeof edges / sizeof *edges)];
}

/* Returns how many of the ascending indices are below n. */
static uint64_t below(const uint64_t *places, uint64_t places_count, uint64_t n) {
    while (places_count > 0 && places[places_count - 1] >= n)
        places_count--;
    return places_count;
}

static void runs_of(uint64_t n, int s) {
    test_buffer       keys, starts, lengths, sums, tally;
    gpuscan_runs_desc d;
    const uint64_t    runs = below(large.starts, large.runs, n), last = runs - 1;
    const uint64_t    length = large.lengths[last], sum = large.sums[last];
    keys = test_buffer_new(CL_MEM_READ_WRITE, 1, runs);
    starts = test_buffer_new(CL_MEM_READ_WRITE, 8, runs);
    lengths = test_buffer_new(CL_MEM_READ_WRITE, 8, runs);
    sums = test_buffer_new(CL_MEM_READ_WRITE, 8, runs);
    tally = test_buffer_new(CL_MEM_READ_WRITE, 8, 1);
    memset(&d, 0, sizeof d);
    d.keys.mem = d.src.mem = large.bytes;
    d.key_type = d.src_type = GPUSCAN_TYPE_U8;
    d.dst_type = d.index_type = d.runs.count_type = GPUSCAN_TYPE_U64;
    d.count = n;
    d.capacity = runs;
    test_case("runs of %" PRIu64 " bytes, %s", n, test_strategy_name((gpuscan_strategy)s));
    test_buffer_set(&keys, 3, runs, NULL);
    test_buffer_set(&starts, 1, runs, NULL);
    test_buffer_set(&lengths, 0, runs, NULL);
    test_buffer_set(&sums, 2, runs, NULL);
    test_buffer_set(&tally, 1, 1, NULL);
    d.keys_dst = keys.at;
    d.starts = starts.at;
    d.lengths = lengths.at;
    d.dst = sums.at;
    d.runs.count = tally.at;
    d.call.strategy = (gpuscan_strategy)s;
    if (test_runs_ran(&d)) {
        large.lengths[last] = n - large.starts[last];
        large.sums[last] = large.lengths[last] * large.keys[last];
        tally_check(1, GPUSCAN_TYPE_U64, &tally, NULL, 0, 0, runs, runs);
        test_same_bytes(test_buffer_get(&starts), large.starts, 8, runs);
        test_same_bytes(test_buffer_get(&keys), large.keys, 1, runs);
        test_same_bytes(test_buffer_get(&lengths), large.lengths, 8, runs);
        test_same_bytes(test_buffer_get(&sums), large.sums, 8, runs);
        large.lengths[last] = length;
        large.sums[last] = sum;
    }
    test_buffer_free(&keys);
    test_buffer_free(&starts);
    test_buffer_free(&lengths);
    test_buffer_free(&sums);
    test_buffer_free(&tally);
}

static void runs_of_all(void **state) {
    int s;
    (void)state;
    if (!large.bytes)
        skip();
    EACH_STRATEGY(s) {
        runs_of(at_edge(1), s);
        runs_of(at_edge(0), s);
    }
}

static void selections(void **state) {
    test_buffer         elements, indices, tally;
    gpuscan_select_desc d;
    unsigned char      *wanted;
    uint64_t            n = large.selected_count, i;
    int                 s, p, is_all;
    (void)state;
    if (!large.bytes)
        skip();
    wanted = (unsigned char *)test_alloc(n);
    for (p = 0, i = 0; p < PIECES; p++, i += pieces[p - 1].end - pieces[p - 1].begin)
        memcpy(wanted + i, large.piece[p], (size_t)(pieces[p].end - pieces[p].begin));
    elements = test_buffer_new(CL_MEM_READ_WRITE, 1, n);
    indices = test_buffer_new(CL_MEM_READ_WRITE, 8, n);
    tally = test_buffer_new(CL_MEM_READ_WRITE, 8, 1);
    memset(&d, 0, sizeof d);
    d.src.mem = d.flags.mem = large.bytes;
    d.type = GPUSCAN_TYPE_U8;
    d.index_type = d.selected.count_type = GPUSCAN_TYPE_U64;
    EACH_STRATEGY(s)
    for (is_all = 0; is_all < 2; is_all++) {
        d.count = at_edge(is_all);
        d.capacity = n = below(large.selected, large.selected_count, d.count);
        test_case("selections of %" PRIu64 " bytes by themselves, %s", d.count,
                  test_strategy_name((gpuscan_strategy)s));
        test_buffer_set(&elements, 5, n, NULL);
        test_buffer_set(&indices, 1, n, NULL);
        test_buffer_set(&tally, 0, 1, NULL);
        d.dst = elements.at;
        d.indices = indices.at;
        d.selected.count = tally.at;
        d.call.strategy = (gpuscan_strategy)s;
        if (!test_select_ran(&d))
            continue;
        tally_check(1, GPUSCAN_TYPE_U64, &tally, NULL, 0, 0, n, n);
        test_same_bytes(test_buffer_get(&indices), large.selected, 8, n);
        test_same_bytes(test_buffer_get(&elements), wanted, 1, n);
    }
    test_buffer_free(&elements);
    test_buffer_free(&indices);
    test_buffer_free(&tally);
    free(wanted);
}

static unsigned byte_at(uint64_t i) {
    int p;
    for (p = 0; p < PIECES; p++)
        if (i >= pieces[p].begin && i < pieces[p].end)
            return large.piece[p][i - pieces[p].begin];
    return 0;
}

static void sort_of(uint64_t n, int s, int has_permutation) {
    enum { CHUNK = 1 << 20, GUARD = 4096 };
    const uint64_t    begin = GUARD + 63 - test_below(4); /* the last bytes of a cache line */
    const uint64_t    selected = below(large.selected, large.selected_count, n);
    unsigned char    *part = (unsigned char *)test_alloc(CHUNK);
    uint64_t         *places = (uint64_t *)test_alloc(CHUNK * 8), ends[256] = {0}, at, size, i, last = 0;
    unsigned          value;
    gpuscan_sort_desc d;
    cl_int            status;
    memset(&d, 0, sizeof d);
    for (i = 0; i < selected; i++)
        ends[byte_at(large.selected[i])]++;
    ends[0] = n - selected;
    for (value = 1; value < 256; value++)
        ends[value] += ends[value - 1];
    d.src.mem = large.bytes;
    d.dst.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)(begin + n + GUARD), NULL, &status);
    test_cl(status);
    d.dst.offset = begin;
    d.count = n;
    d.key_type = GPUSCAN_TYPE_U8;
    d.index_type = n >> 32 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
    d.call.strategy = (gpuscan_strategy)s;
    if (has_permutation) {
        d.permutation.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)n * ref_size(d.index_type), NULL,
                                           &status);
        test_cl(status);
    }
    memset(part, 0xa5, 2 * GUARD);
    test_cl(clEnqueueWriteBuffer(test.queue, d.dst.mem, CL_TRUE, 0, (size_t)begin, part, 0, NULL, NULL));
    test_cl(clEnqueueWriteBuffer(test.queue, d.dst.mem, CL_TRUE, (size_t)(begin + n), GUARD, part, 0, NULL, NULL));
    test_case("sort of %" PRIu64 " bytes%s, %s, dst at %" PRIu64, n, has_permutation ? ", permutation" : "",
              test_strategy_name((gpuscan_strategy)s), begin);
    if (test_sort_ran(&d)) {
        for (at = value = 0; at < begin + n + GUARD; at += size) {
            size = begin + n + GUARD - at < CHUNK ? begin + n + GUARD - at : CHUNK;
            test_cl(clEnqueueReadBuffer(test.queue, d.dst.mem, CL_TRUE, (size_t)at, (size_t)size, part, 0, NULL, NULL));
            for (i = at; i < at + size; i++) {
                const int is_guard = i < begin || i >= begin + n;
                while (!is_guard && i - begin >= ends[value])
                    value++;
                if (part[i - at] != (is_guard ? 0xa5 : value))
                    fail_msg("%s: byte %" PRId64 " is %u", test.what, (int64_t)(i - begin), part[i - at]);
            }
        }
        for (at = value = 0; at < n && has_permutation; at += size) { /* indices of equal bytes ascend */
            size = n - at < CHUNK ? n - at : CHUNK;
            test_cl(clEnqueueReadBuffer(test.queue, d.permutation.mem, CL_TRUE, (size_t)at * ref_size(d.index_type),
                                        (size_t)size * ref_size(d.index_type), places, 0, NULL, NULL));
            for (i = at; i < at + size; i++) {
                const uint64_t place = ref_load(d.index_type, places, i - at).bits;
                int            is_first = i == 0;
                for (; i >= ends[value]; value++)
                    is_first = 1;
                if (place >= n || byte_at(place) != value || (!is_first && place <= last))
                    fail_msg("%s: position %" PRIu64 " holds %" PRIu64, test.what, i, place);
                last = place;
            }
        }
    }
    clReleaseMemObject(d.dst.mem);
    if (has_permutation)
        clReleaseMemObject(d.permutation.mem);
    free(places);
    free(part);
}

static void sorts_at_the_edge(void **state) {
    int s;
    (void)state;
    if (!large.bytes)
        skip();
    EACH_STRATEGY(s)
        sort_of(at_edge(0), s, 0);
    if (test.device_memory >= 13 * count && test.largest_buffer >= 8 * count) /* two arrays of indices */
        sort_of(at_edge(0), GPUSCAN_STRATEGY_AUTO, 1);
}

/* Scans ones, so that each result is the distance to its segment's begin. Segments begin at runs or at non-zero bytes.
   Reads all chunks (1 MiB) in which segments begin, and one in 32 of the others. */
static void scans(void **state) {
    const uint64_t    chunk = 1 << 20;
    unsigned char    *part, one = 1;
    gpuscan_scan_desc d;
    cl_int            status;
    int               s, keys;
    (void)state;
    if (!large.bytes)
        skip();
    part = (unsigned char *)test_alloc(chunk);
    memset(&d, 0, sizeof d);
    d.src.mem = d.dst.mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)count, NULL, &status);
    test_cl(status);
    d.count = count;
    d.src_type = d.segments.type = GPUSCAN_TYPE_U8;
    d.kind = GPUSCAN_INCLUSIVE;
    d.segments.data.mem = large.bytes;
    for (keys = 0; keys < 2; keys++)
        EACH_STRATEGY(s) {
            const uint64_t *starts = keys ? large.starts : large.selected;
            const uint64_t  segments = keys ? large.runs : large.selected_count;
            uint64_t        at, size, i, next = 0, begin = 0;
            test_case("scan of %" PRIu64 " bytes by %s, %s", count, keys ? "keys" : "heads",
                      test_strategy_name((gpuscan_strategy)s));
            test_fill_buffer(d.dst.mem, &one, 1, count);
            d.segments.form = keys ? GPUSCAN_SEGMENTS_KEYS : GPUSCAN_SEGMENTS_HEADS;
            d.call.strategy = (gpuscan_strategy)s;
            if (!test_scan_ran(&d))
                continue;
            for (at = 0; at < count; at += size) {
                size = count - at < chunk ? count - at : chunk;
                if (at / chunk % 32 != 7 && (next == segments || starts[next] >= at + size))
                    continue;
                test_cl(clEnqueueReadBuffer(test.queue, d.dst.mem, CL_TRUE, (size_t)at, (size_t)size, part, 0, NULL,
                                            NULL));
                for (i = 0; i < size; i++) {
                    if (next < segments && starts[next] == at + i)
                        begin = starts[next++];
                    if (part[i] != ((at + i - begin + 1) & 255))
                        fail_msg("%s: element %" PRIu64 " is %u", test.what, at + i, part[i]);
                }
            }
        }
    free(part);
    clReleaseMemObject(d.dst.mem);
}

static void reductions(void **state) {
    test_buffer         offsets, sums;
    gpuscan_reduce_desc d;
    int                 s;
    (void)state;
    if (!large.bytes)
        skip();
    offsets = test_buffer_new(CL_MEM_READ_ONLY, 8, large.runs + 1);
    sums = test_buffer_new(CL_MEM_READ_WRITE, 8, large.runs);
    test_buffer_set(&offsets, 1, large.runs + 1, large.starts);
    memset(&d, 0, sizeof d);
    d.src.mem = large.bytes;
    d.src_type = GPUSCAN_TYPE_U8;
    d.dst_type = d.segments.type = GPUSCAN_TYPE_U64;
    d.count = count;
    d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
    d.segments.data = offsets.at;
    d.segments.count = large.runs;
    EACH_STRATEGY(s) {
        test_case("reductions of %" PRIu64 " bytes by offsets, %s", count, test_strategy_name((gpuscan_strategy)s));
        test_buffer_set(&sums, 1, large.runs, NULL);
        d.dst = sums.at;
        d.call.strategy = (gpuscan_strategy)s;
        if (!test_reduce_ran(&d))
            continue;
        test_same_bytes(test_buffer_get(&sums), large.sums, 8, large.runs);
    }
    test_buffer_free(&offsets);
    test_buffer_free(&sums);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(runs_of_all), TEST(selections), TEST(sorts_at_the_edge), TEST(scans),
                                       TEST(reductions)};
    test_select();
    return cmocka_run_group_tests_name("above 32 bits", tests, make_large, drop_large);
}
