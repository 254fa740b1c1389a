/* bench: how fast gpuscan is on your device, beside a plain C loop and the device's own copy.

   Linux:    cc -O3 -march=native -o bench tools/bench.c -lm        (glibc before 2.34: and -ldl)
   macOS:    cc -O3 -o bench tools/bench.c -framework OpenCL
   Windows:  cl /O2 tools/bench.c

   ./bench              everything, in a few minutes; ./bench --quick for half a minute, --help for the options.

   How it measures. Each call runs a few times to warm up, then at least 9 times more; the median counts. On a GPU the
   time comes from the device's events, from the start of the call's first command to the end of its last. On a CPU it
   is the wall clock around a blocking call. GB/s counts the bytes that the operation must read and write, each once.
   "of copy" compares with clEnqueueCopyBuffer moving the same bytes (half read, half written), "x C loop" with one
   thread of the plain loop in this file. Every result that is timed is compared with that loop's. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#define GPUSCAN_IMPLEMENTATION
#include "../gpuscan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <dlfcn.h>
#include <unistd.h>
#endif

enum {
    MIN_RUNS = 9,
    MAX_RUNS = 51,
    MIN_LOOP_RUNS = 3, /* of the C loop, whose times vary little */
    MAX_COMMANDS = 64, /* of one call: events that are kept */
    MAX_RESULTS = 2048,
    BLOCK = 1 << 24 /* elements of random data; longer inputs repeat them */
};

static double budget_ms = 120.0;                        /* of repeating one measurement, after the least runs */
static const double TOO_SLOW_MS = 1500.0;               /* a row stops growing here */
static const uint64_t HOST_BYTES = (uint64_t)2 << 30;   /* of the C loop's arrays, at most */
static const uint64_t CACHED_BYTES = (uint64_t)64 << 20; /* with less traffic, data may stay in a cache */

/* ---- small things ------------------------------------------------------------------------------------------------ */

static const char *at_hand = ""; /* what is being measured */

static void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench: %s%s", at_hand, at_hand[0] ? ": " : "");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

static void *allocate(uint64_t bytes) {
    void *memory = bytes <= SIZE_MAX ? malloc(bytes ? (size_t)bytes : 1) : NULL;
    if (memory == NULL) die("out of memory for %llu bytes", (unsigned long long)bytes);
    return memory;
}

static double now_ms(void) {
#ifdef _WIN32
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    return 1e3 * (double)ticks.QuadPart / (double)frequency.QuadPart;
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
#endif
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, unsigned count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* Shows one line of progress on the terminal; "" clears it. Prints nothing if stderr is a file. */
static void progress(const char *format, ...) {
    static int terminal = -1;
    va_list arguments;
#ifdef _WIN32
    if (terminal < 0) terminal = _isatty(_fileno(stderr));
#else
    if (terminal < 0) terminal = isatty(STDERR_FILENO);
#endif
    if (!terminal) return;
    va_start(arguments, format);
    fprintf(stderr, "\r%78s\r", "");
    vfprintf(stderr, format, arguments);
    fflush(stderr);
    va_end(arguments);
}

/* ---- input data -------------------------------------------------------------------------------------------------- */

/* Returns random bits that depend only on i, so that the data are the same everywhere. */
static uint64_t random_bits(uint64_t i) {
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void fill_masked(void *data, size_t bytes, uint64_t mask) {
    size_t i;
    uint64_t bits;
    for (i = 0; i + 8 <= bytes; i += 8) {
        bits = random_bits(i / 8) & mask;
        memcpy((char *)data + i, &bits, 8);
    }
    bits = random_bits(i / 8) & mask;
    memcpy((char *)data + i, &bits, bytes - i);
}

static void fill_random(void *data, size_t bytes) {
    fill_masked(data, bytes, UINT64_MAX);
}

static void fill_constant(void *data, size_t bytes) {
    memset(data, 0, bytes);
}

/* Fills u32 keys in runs of 1 to most elements. */
static void fill_runs(void *data, size_t bytes, uint64_t most) {
    uint32_t *a = (uint32_t *)data, key = 0;
    size_t i = 0, left = 0;
    for (i = 0; i < bytes / 4; i++, left--) {
        if (left == 0) {
            left = 1 + (size_t)(random_bits(i) % most);
            key++;
        }
        a[i] = key;
    }
}

static void fill_short(void *data, size_t bytes) {
    fill_runs(data, bytes, 7);
}

static void fill_long(void *data, size_t bytes) {
    fill_runs(data, bytes, 200);
}

static void fill_16_bytes(void *data, size_t bytes) {
    fill_masked(data, bytes, 0x0F0F0F0F0F0F0F0Fu);
}

static void fill_below_256(void *data, size_t bytes) {
    fill_masked(data, bytes, 0x000000FF000000FFu);
}

static void fill_below_64k(void *data, size_t bytes) {
    fill_masked(data, bytes, 0x0000FFFF0000FFFFu);
}

static void fill_below_2m(void *data, size_t bytes) {
    fill_masked(data, bytes, 0x001FFFFF001FFFFFu);
}

/* Returns a whole number from -8 to 8. Sums are exact in f32 up to 2^30 elements, so any order gives the same bits. */
static int step(uint64_t i) {
    return (int)(random_bits(i) >> 40) % 17 - 8;
}

static void fill_steps_f32(void *data, size_t bytes) {
    size_t i;
    for (i = 0; i < bytes / 4; i++) ((float *)data)[i] = (float)step(i);
}

static void fill_steps_f64(void *data, size_t bytes) {
    size_t i;
    for (i = 0; i < bytes / 8; i++) ((double *)data)[i] = (double)step(i);
}

static void fill_unit_f32(void *data, size_t bytes) {
    size_t i;
    for (i = 0; i < bytes / 4; i++) ((float *)data)[i] = (float)(random_bits(i) >> 40) * (1.0f / 16777216.0f);
}

/* Fills in what a photograph has: similar neighbours, some values much more common than others, a little noise. */
static unsigned triangle(unsigned x, unsigned period) {
    const unsigned phase = x % period;
    return phase * 2 < period ? phase * 2 : (period - phase) * 2;
}

static void fill_photo(void *data, size_t bytes) {
    size_t i;
    for (i = 0; i < bytes; i++) {
        const unsigned x = (unsigned)(i % 4096), y = (unsigned)(i / 4096);
        const unsigned light = triangle(x + y / 3, 2900) / 29 + triangle(2 * y + x / 5, 3700) / 60;
        const unsigned noise = (unsigned)(random_bits(i) >> 61) + (unsigned)(random_bits(i) & 7);
        ((unsigned char *)data)[i] = (unsigned char)(light + noise < 30 ? 16 + noise : light + noise);
    }
}

/* x -> scale * x + shift. With scales of 1 and -1 and whole shifts every composition is exact. */
typedef struct affine {
    float scale, shift;
} affine;

static const affine affine_none = {1.0f, 0.0f};

static const gpuscan_custom affine_custom = {
    "typedef struct { float scale, shift; } affine;\n"
    "affine compose(affine a, affine b) {\n"
    "    affine c; c.scale = a.scale * b.scale; c.shift = a.shift * b.scale + b.shift; return c; }\n"
    "affine none(void) { affine c; c.scale = 1.0f; c.shift = 0.0f; return c; }\n",
    "affine", sizeof(affine), "compose(a, b)", "none()", NULL, NULL, NULL, NULL};

static void fill_affine(void *data, size_t bytes) {
    size_t i;
    for (i = 0; i < bytes / sizeof(affine); i++) {
        ((affine *)data)[i].scale = random_bits(i) & 1 ? 1.0f : -1.0f;
        ((affine *)data)[i].shift = (float)step(i);
    }
}

/* ---- the plain C loops ------------------------------------------------------------------------------------------- */

/* state: a scan's running value, a reduction's result, a histogram's counters. A loop continues from it, so that long
   inputs can be computed piece by piece. */
typedef void loop_function(const void *src, void *dst, size_t n, void *state);

#if defined(_MSC_VER) || defined(__cplusplus)
#define RESTRICT __restrict
#else
#define RESTRICT restrict
#endif

#define SCAN_LOOPS(name, source, result)                                                                               \
    static void exclusive_##name(const void *src, void *dst, size_t n, void *state) {                                  \
        const source *RESTRICT a = (const source *)src;                                                                \
        result *RESTRICT b = (result *)dst, sum = *(result *)state;                                                    \
        size_t i;                                                                                                      \
        for (i = 0; i < n; i++) {                                                                                      \
            b[i] = sum;                                                                                                \
            sum = (result)(sum + (result)a[i]);                                                                        \
        }                                                                                                              \
        *(result *)state = sum;                                                                                        \
    }                                                                                                                  \
    static void inclusive_##name(const void *src, void *dst, size_t n, void *state) {                                  \
        const source *RESTRICT a = (const source *)src;                                                                \
        result *RESTRICT b = (result *)dst, sum = *(result *)state;                                                    \
        size_t i;                                                                                                      \
        for (i = 0; i < n; i++) {                                                                                      \
            sum = (result)(sum + (result)a[i]);                                                                        \
            b[i] = sum;                                                                                                \
        }                                                                                                              \
        *(result *)state = sum;                                                                                        \
    }
SCAN_LOOPS(u8, uint8_t, uint8_t)
SCAN_LOOPS(u8_u32, uint8_t, uint32_t)
SCAN_LOOPS(u16, uint16_t, uint16_t)
SCAN_LOOPS(i16, int16_t, int16_t)
SCAN_LOOPS(u32, uint32_t, uint32_t)
SCAN_LOOPS(f32, float, float)
SCAN_LOOPS(u64, uint64_t, uint64_t)
SCAN_LOOPS(f64, double, double)

static affine compose(affine a, affine b) {
    affine c;
    c.scale = a.scale * b.scale;
    c.shift = a.shift * b.scale + b.shift;
    return c;
}

static void inclusive_affine(const void *src, void *dst, size_t n, void *state) {
    const affine *RESTRICT a = (const affine *)src;
    affine *RESTRICT b = (affine *)dst, all = *(affine *)state;
    size_t i;
    for (i = 0; i < n; i++) b[i] = all = compose(all, a[i]);
    *(affine *)state = all;
}

static void exclusive_affine(const void *src, void *dst, size_t n, void *state) {
    const affine *RESTRICT a = (const affine *)src;
    affine *RESTRICT b = (affine *)dst, all = *(affine *)state;
    size_t i;
    for (i = 0; i < n; i++) {
        b[i] = all;
        all = compose(all, a[i]);
    }
    *(affine *)state = all;
}

#define SUM_LOOP(name, type)                                                                                           \
    static void sum_##name(const void *src, void *dst, size_t n, void *state) {                                        \
        const type *a = (const type *)src;                                                                             \
        type sum = *(type *)state;                                                                                     \
        size_t i;                                                                                                      \
        (void)dst;                                                                                                     \
        for (i = 0; i < n; i++) sum = (type)(sum + a[i]);                                                              \
        *(type *)state = sum;                                                                                          \
    }
SUM_LOOP(u32, uint32_t)
SUM_LOOP(f32, float)
SUM_LOOP(u64, uint64_t)
SUM_LOOP(f64, double)

static void max_f32(const void *src, void *dst, size_t n, void *state) {
    const float *a = (const float *)src;
    float most = *(float *)state;
    size_t i;
    (void)dst;
    for (i = 0; i < n; i++) most = a[i] > most ? a[i] : most;
    *(float *)state = most;
}

static void count_u8(const void *src, void *dst, size_t n, void *state) {
    const uint8_t *a = (const uint8_t *)src;
    uint32_t *counts = (uint32_t *)state;
    size_t i;
    (void)dst;
    for (i = 0; i < n; i++) counts[a[i]]++;
}

/* The range is a constant, so that the compiler may turn the division into a shift. */
#define COUNT_LOOP(name, bins, range)                                                                                  \
    static void count_##name(const void *src, void *dst, size_t n, void *state) {                                      \
        const int32_t *a = (const int32_t *)src;                                                                       \
        uint32_t *counts = (uint32_t *)state;                                                                          \
        size_t i;                                                                                                      \
        (void)dst;                                                                                                     \
        for (i = 0; i < n; i++)                                                                                        \
            if (a[i] >= 0 && a[i] < (range)) counts[(uint32_t)a[i] / ((range) / (bins))]++;                            \
    }
COUNT_LOOP(i32, 256, 256)
COUNT_LOOP(2k, 2048, 65536)
COUNT_LOOP(64k, 65536, 65536)
COUNT_LOOP(2m, 2097152, 2097152)

static void count_f32(const void *src, void *dst, size_t n, void *state) {
    const float *a = (const float *)src;
    uint32_t *counts = (uint32_t *)state;
    size_t i;
    (void)dst;
    for (i = 0; i < n; i++)
        if (a[i] >= 0.0f && a[i] < 1.0f) counts[(uint32_t)(a[i] * 256.0f)]++;
}

static void count_rgb(const void *src, void *dst, size_t n, void *state) {
    const uint8_t *a = (const uint8_t *)src;
    uint32_t *counts = (uint32_t *)state;
    size_t i;
    (void)dst;
    for (i = 0; i < n; i++) {
        counts[a[4 * i]]++;
        counts[256 + a[4 * i + 1]]++;
        counts[512 + a[4 * i + 2]]++;
    }
}

/* A selection's flags for the loop's elements: 1 if the element is below the row's threshold. */
static unsigned char *select_flags;
static uint32_t select_below;

/* Returns the smallest number that is not kept if percent of all are; with 100, all but one of 2^32 are kept. */
static uint32_t threshold(uint32_t percent) {
    return (uint32_t)((double)percent / 100.0 * 4294967295.0);
}

static void keep_below_u32(const void *src, void *dst, size_t n, void *state) {
    const uint32_t *RESTRICT a = (const uint32_t *)src, below = select_below;
    uint32_t *RESTRICT b = (uint32_t *)dst;
    size_t i, k = 0;
    for (i = 0; i + 1 < n; i++) {
        b[k] = a[i];
        k += a[i] < below;
    }
    if (n > 0 && a[i] < below) b[k++] = a[i];
    *(uint64_t *)state += k;
}

static void keep_flagged(const void *src, void *dst, size_t n, void *state) {
    const uint32_t *RESTRICT a = (const uint32_t *)src;
    const unsigned char *RESTRICT f = select_flags;
    uint32_t *RESTRICT b = (uint32_t *)dst;
    size_t i, k = 0;
    for (i = 0; i + 1 < n; i++) {
        b[k] = a[i];
        k += f[i];
    }
    if (n > 0 && f[i]) b[k++] = a[i];
    *(uint64_t *)state += k;
}

/* Continues behind earlier pieces: state's second number counts their elements. */
static void keep_places(const void *src, void *dst, size_t n, void *state) {
    const unsigned char *RESTRICT f = select_flags;
    uint32_t *RESTRICT b = (uint32_t *)dst;
    const uint32_t before = (uint32_t)((uint64_t *)state)[1];
    size_t i, k = 0;
    (void)src;
    for (i = 0; i + 1 < n; i++) {
        b[k] = before + (uint32_t)i;
        k += f[i];
    }
    if (n > 0 && f[i]) b[k++] = before + (uint32_t)i;
    ((uint64_t *)state)[0] += k;
    ((uint64_t *)state)[1] += n;
}

/* Scans by segments that begin at the flags. state continues from earlier pieces. */
static void exclusive_heads_u32(const void *src, void *dst, size_t n, void *state) {
    const uint32_t *RESTRICT a = (const uint32_t *)src;
    const unsigned char *RESTRICT f = select_flags;
    uint32_t *RESTRICT b = (uint32_t *)dst, sum = *(uint32_t *)state;
    size_t i;
    for (i = 0; i < n; i++) {
        sum = f[i] ? 0 : sum;
        b[i] = sum;
        sum += a[i];
    }
    *(uint32_t *)state = sum;
}

/* Data beside the loop's elements: a scan's keys, whose runs are its segments, or the values of runs. */
static void *beside;

static void exclusive_keys_f32(const void *src, void *dst, size_t n, void *state) {
    const float *RESTRICT a = (const float *)src;
    const uint32_t *RESTRICT keys = (const uint32_t *)beside;
    float *RESTRICT b = (float *)dst, sum = 0.0f; /* each piece begins a segment */
    size_t i;
    (void)state;
    for (i = 0; i < n; i++) {
        sum = i > 0 && keys[i] != keys[i - 1] ? 0.0f : sum;
        b[i] = sum;
        sum += a[i];
    }
}

/* Room for a sort's passes, and for the values of its keys: each as large as the keys. */
static void *sort_room, *sort_values;

/* Returns the code by which gpuscan compares floats: both zeros are equal, and NaN is last. */
static uint32_t f32_code(uint32_t x) {
    if (x << 1 > 0xff000000u) return 0xffffffffu;
    return x << 1 == 0 ? 0x80000000u : x ^ (x >> 31 ? 0xffffffffu : 0x80000000u);
}

/* A radix sort, least significant digit first. One pass counts all digits; passes with a single digit move nothing.
   code: what keys are compared by. */
#define SORT_LOOP(name, type, bits, code, VALUES)                                                                      \
    static void sort_##name(const void *src, void *dst, size_t n, void *state) {                                       \
        enum { PASSES = (bits) / 8 };                                                                                  \
        static size_t counts[PASSES][256];                                                                             \
        type *to = (type *)dst, *other = (type *)sort_room;                                                            \
        uint32_t *values = (uint32_t *)sort_values, *values_to = values + n, *swap_values;                             \
        size_t i;                                                                                                      \
        int p, d;                                                                                                      \
        (void)state;                                                                                                   \
        memset(counts, 0, sizeof counts);                                                                              \
        memcpy(to, src, n * sizeof(type));                                                                             \
        for (i = 0; i < n; i++) {                                                                                      \
            const type x = to[i];                                                                                      \
            for (p = 0; p < PASSES; p++) counts[p][(code) >> (8 * p) & 255]++;                                         \
        }                                                                                                              \
        for (p = 0; p < PASSES; p++) {                                                                                 \
            size_t *next = counts[p], sum = 0, most = 0;                                                               \
            type *swap;                                                                                                \
            for (d = 0; d < 256; d++) {                                                                                \
                const size_t here = next[d];                                                                           \
                most = here > most ? here : most;                                                                      \
                next[d] = sum;                                                                                         \
                sum += here;                                                                                           \
            }                                                                                                          \
            if (most == n) continue;                                                                                   \
            for (i = 0; i < n; i++) {                                                                                  \
                const type x = to[i];                                                                                  \
                const size_t at = next[(code) >> (8 * p) & 255]++;                                                     \
                other[at] = x;                                                                                         \
                if (VALUES) values_to[at] = values[i];                                                                 \
            }                                                                                                          \
            swap = to;                                                                                                 \
            to = other;                                                                                                \
            other = swap;                                                                                              \
            swap_values = values;                                                                                      \
            values = values_to;                                                                                        \
            values_to = swap_values;                                                                                   \
        }                                                                                                              \
        if ((void *)to != dst) memcpy(dst, to, n * sizeof(type));                                                      \
    }
SORT_LOOP(u8, uint8_t, 8, x, 0)
SORT_LOOP(u16, uint16_t, 16, x, 0)
SORT_LOOP(u32, uint32_t, 32, x, 0)
SORT_LOOP(u64, uint64_t, 64, x, 0)
SORT_LOOP(f32, uint32_t, 32, f32_code(x), 0)
SORT_LOOP(u32_16bit, uint32_t, 16, x, 0)
SORT_LOOP(u32_pairs, uint32_t, 32, x, 1)

/* Keeps the first key of each run. state's second number: 1 + the key before the piece; 0: none. */
static void unique_u32(const void *src, void *dst, size_t n, void *state) {
    const uint32_t *RESTRICT a = (const uint32_t *)src;
    uint32_t *RESTRICT b = (uint32_t *)dst;
    uint64_t *counts = (uint64_t *)state;
    size_t i, k = 0;
    if (n == 0) return;
    b[0] = a[0];
    k = counts[1] != (uint64_t)a[0] + 1;
    for (i = 1; i < n; i++)
        if (a[i] != a[i - 1]) b[k++] = a[i];
    counts[0] += k;
    counts[1] = (uint64_t)a[n - 1] + 1;
}

/* The picture that the elements are, row by row, and the elements in earlier pieces. */
static struct {
    uint64_t width, height, done;
    void *above; /* the table's previous row */
} raster;

enum { TILE = 64 };

static uint64_t tiles_across(void) {
    return (raster.width + TILE - 1) / TILE;
}

/* Makes the picture of n elements as square as possible. */
static void set_raster(uint64_t n) {
    raster.width = (uint64_t)sqrt((double)n);
    while (raster.width > 1 && n % raster.width != 0) raster.width--;
    raster.height = raster.width ? n / raster.width : 0;
}

static void tile_bins(const void *src, void *dst, size_t n, void *state) {
    const uint8_t *a = (const uint8_t *)src;
    uint64_t x = raster.done % raster.width, y = raster.done / raster.width;
    size_t i = 0;
    (void)dst;
    while (i < n) { /* one row's part of a tile at a time */
        uint32_t *counts = (uint32_t *)state + (y / TILE * tiles_across() + x / TILE) * 256;
        uint64_t last = (x / TILE + 1) * TILE;
        last = last < raster.width ? last : raster.width;
        for (; x < last && i < n; x++) counts[a[i++]]++;
        if (x == raster.width) {
            x = 0;
            y++;
        }
    }
    raster.done += n;
}

static void count_luma(const void *src, void *dst, size_t n, void *state) {
    const uint8_t *a = (const uint8_t *)src;
    uint32_t *counts = (uint32_t *)state;
    size_t i;
    (void)dst;
    for (i = 0; i < n; i++) counts[(77 * a[4 * i] + 150 * a[4 * i + 1] + 29 * a[4 * i + 2] + 128) >> 8]++;
}

/* Each piece is whole rows. */
#define TABLE_LOOP(name, source, result)                                                                               \
    static void table_##name(const void *src, void *dst, size_t n, void *state) {                                      \
        const source *RESTRICT a = (const source *)src;                                                                \
        result *RESTRICT b = (result *)dst, *above = (result *)raster.above;                                          \
        const size_t width = (size_t)raster.width;                                                                    \
        size_t x, i;                                                                                                   \
        (void)state;                                                                                                   \
        for (i = 0; i < n; i += width) {                                                                               \
            result sum = 0;                                                                                            \
            for (x = 0; x < width; x++) b[i + x] = above[x] + (sum += (result)a[i + x]);                               \
            above = b + i;                                                                                             \
        }                                                                                                              \
        if (n > 0) memcpy(raster.above, above, width * sizeof *above);                                                \
    }
TABLE_LOOP(u8, uint8_t, uint32_t)
TABLE_LOOP(f32, float, float)

/* Quarters of a sum are exact. */
static const double quartiles[3] = {0.25, 0.5, 0.75};

static void find_ranks(const void *src, void *dst, size_t n, void *state) {
    const uint32_t *a = (const uint32_t *)src;
    uint32_t *bins = (uint32_t *)state;
    uint64_t total = 0, sum = 0;
    size_t i, k;
    (void)dst;
    for (i = 0; i < n; i++) total += a[i];
    for (i = k = 0; i < n && k < 3; i++)
        for (sum += a[i]; k < 3 && sum > 0 && (double)sum >= quartiles[k] * (double)total; k++) bins[k] = (uint32_t)i;
    for (; k < 3; k++) bins[k] = (uint32_t)n;
}

/* Writes lengths or sums of runs behind room for all keys. Each piece begins with a run. */
#define RUN_LOOP(name, type, first, sum)                                                                               \
    static void name(const void *src, void *dst, size_t n, void *state) {                                              \
        const uint32_t *RESTRICT a = (const uint32_t *)src;                                                            \
        const float *RESTRICT v = (const float *)beside;                                                               \
        uint32_t *RESTRICT b = (uint32_t *)dst;                                                                        \
        type *RESTRICT of_runs = (type *)(b + n), open;                                                                \
        size_t i, k = 0;                                                                                               \
        (void)v;                                                                                                       \
        if (n == 0) return;                                                                                            \
        for (open = first(0), i = 1; i < n; i++) {                                                                     \
            if (a[i] == a[i - 1]) {                                                                                    \
                open = sum(i);                                                                                         \
                continue;                                                                                              \
            }                                                                                                          \
            b[k] = a[i - 1];                                                                                           \
            of_runs[k++] = open;                                                                                       \
            open = first(i);                                                                                           \
        }                                                                                                              \
        b[k] = a[n - 1];                                                                                               \
        of_runs[k++] = open;                                                                                           \
        *(uint64_t *)state += k;                                                                                       \
    }
#define ONE(i) 1u
#define ONE_MORE(i) open + 1u
#define VALUE_AT(i) v[i]
#define VALUE_MORE(i) open + v[i]
RUN_LOOP(lengths_u32, uint32_t, ONE, ONE_MORE)
RUN_LOOP(sums_f32, float, VALUE_AT, VALUE_MORE)

/* ---- what is measured -------------------------------------------------------------------------------------------- */

typedef enum bench_group { SCAN, REDUCE, HISTOGRAM, SELECT, RUNS, SORT, PICTURE, GROUPS } bench_group;
static const char *const group_names[GROUPS] = {"scan", "reduce", "histogram", "select", "runs", "sort", "picture"};

/* What decides a selection or a scan's segments; what runs give besides their keys. */
enum { VALUE, FLAGS, PLACES, KEYS };
enum { LENGTHS = 1, SUMS };

/* What is made of a picture: histograms of tiles or of lumas; its integral image, INCLUSIVE and as large as the
   picture; quartiles of a histogram. OF_IMAGE added: the source is an image. */
enum { TILES, LUMA, TABLE, RANKS, OF_IMAGE };

typedef struct bench_row {
    bench_group group;
    const char *op, *type, *dist; /* as in the CSV file */
    gpuscan_type src, dst;        /* histogram: types of samples and counters */
    void (*fill)(void *data, size_t bytes);
    loop_function *loop;
    int plotted;
    gpuscan_op operation;
    uint32_t bins, range; /* histogram: bins of equal width over [0, range); select: percent kept, by what; sort: bits
                             of the keys, bytes of each key's value; scan: percent that begin a segment, by FLAGS or
                             KEYS, 0 and 0: no segments; runs: percent that begin a run, and what else each gives;
                             picture: bins of a histogram, and what is made */
    uint32_t channels;    /* interleaved, all but the last are counted; 0: one */
    int host;             /* a call on host arrays: wall clock, transfers included */
} bench_row;

/* Short names for the tables. */
#define I16 GPUSCAN_TYPE_I16
#define I32 GPUSCAN_TYPE_I32
#define U8 GPUSCAN_TYPE_U8
#define U16 GPUSCAN_TYPE_U16
#define U32 GPUSCAN_TYPE_U32
#define U64 GPUSCAN_TYPE_U64
#define F32 GPUSCAN_TYPE_F32
#define F64 GPUSCAN_TYPE_F64
#define CUSTOM GPUSCAN_TYPE_CUSTOM
#define ADD GPUSCAN_OP_ADD
#define MAX GPUSCAN_OP_MAX
#define OWN GPUSCAN_OP_CUSTOM
#define K64 65536
#define M2 2097152

/* clang-format off */
static const bench_row rows[] = {
    /*     op                type      dist    source  result  fill            C loop      plotted operator */
    {SCAN, "exclusive_scan", "u32",     "rand", U32,    U32,    fill_random,    exclusive_u32,    1, ADD, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "u32",     "rand", U32,    U32,    fill_random,    inclusive_u32,    0, ADD, 0, 0, 0, 0},
    {SCAN, "exclusive_scan", "f32",     "rand", F32,    F32,    fill_steps_f32, exclusive_f32,    1, ADD, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "f32",     "rand", F32,    F32,    fill_steps_f32, inclusive_f32,    0, ADD, 0, 0, 0, 0},
    {SCAN, "exclusive_scan", "u64",     "rand", U64,    U64,    fill_random,    exclusive_u64,    1, ADD, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "u64",     "rand", U64,    U64,    fill_random,    inclusive_u64,    0, ADD, 0, 0, 0, 0},
    {SCAN, "exclusive_scan", "f64",     "rand", F64,    F64,    fill_steps_f64, exclusive_f64,    0, ADD, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "f64",     "rand", F64,    F64,    fill_steps_f64, inclusive_f64,    0, ADD, 0, 0, 0, 0},
    {SCAN, "exclusive_scan", "u8",      "rand", U8,     U8,     fill_random,    exclusive_u8,     1, ADD, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "u8",      "rand", U8,     U8,     fill_random,    inclusive_u8,     0, ADD, 0, 0, 0, 0},
    {SCAN, "exclusive_scan", "u8->u32", "rand", U8,     U32,    fill_random,    exclusive_u8_u32, 1, ADD, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "u8->u32", "rand", U8,     U32,    fill_random,    inclusive_u8_u32, 0, ADD, 0, 0, 0, 0},
    {SCAN, "exclusive_scan", "u16",     "rand", U16,    U16,    fill_random,    exclusive_u16,    0, ADD, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "u16",     "rand", U16,    U16,    fill_random,    inclusive_u16,    0, ADD, 0, 0, 0, 0},
    {SCAN, "exclusive_scan", "i16",     "rand", I16,    I16,    fill_random,    exclusive_i16,    0, ADD, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "i16",     "rand", I16,    I16,    fill_random,    inclusive_i16,    0, ADD, 0, 0, 0, 0},
    {SCAN, "exclusive_scan", "affine",  "rand", CUSTOM, CUSTOM, fill_affine,    exclusive_affine, 1, OWN, 0, 0, 0, 0},
    {SCAN, "inclusive_scan", "affine",  "rand", CUSTOM, CUSTOM, fill_affine,    inclusive_affine, 0, OWN, 0, 0, 0, 0},
    {SCAN, "exclusive_by_heads", "u32", "1%", U32, U32, fill_random,    exclusive_heads_u32, 0, ADD, 1, FLAGS, 0, 0},
    {SCAN, "scan_by_key", "f32", "runs of 1..7", F32, F32, fill_steps_f32, exclusive_keys_f32, 0, ADD, 25, KEYS, 0, 0},
    {SCAN, "scan_by_key", "f32", "runs of about 100",
                                            F32,    F32,    fill_steps_f32, exclusive_keys_f32, 0, ADD, 1, KEYS, 0, 0},
    {SCAN, "exclusive_scan_host", "u32", "rand", U32,   U32,    fill_random,    exclusive_u32,    0, ADD, 0, 0, 0, 1},

    {REDUCE, "reduce",      "u32", "rand", U32, U32, fill_random,    sum_u32, 1, ADD, 0, 0, 0, 0},
    {REDUCE, "reduce",      "f32", "rand", F32, F32, fill_steps_f32, sum_f32, 1, ADD, 0, 0, 0, 0},
    {REDUCE, "reduce",      "u64", "rand", U64, U64, fill_random,    sum_u64, 1, ADD, 0, 0, 0, 0},
    {REDUCE, "reduce",      "f64", "rand", F64, F64, fill_steps_f64, sum_f64, 1, ADD, 0, 0, 0, 0},
    {REDUCE, "reduce_max",  "f32", "rand", F32, F32, fill_unit_f32,  max_f32, 0, MAX, 0, 0, 0, 0},
    {REDUCE, "reduce_host", "u32", "rand", U32, U32, fill_random,    sum_u32, 0, ADD, 0, 0, 0, 1},

    /*          op               type    dist        source         fill              C loop    plotted bins   range */
    {HISTOGRAM, "hist256",       "u8",   "uniform",  U8,  U32, fill_random,      count_u8,     1, ADD, 256, 256, 0, 0},
    {HISTOGRAM, "hist256",       "u8",   "photo",    U8,  U32, fill_photo,       count_u8,     1, ADD, 256, 256, 0, 0},
    {HISTOGRAM, "hist256",       "u8",   "16of256",  U8,  U32, fill_16_bytes,    count_u8,     0, ADD, 256, 256, 0, 0},
    {HISTOGRAM, "hist256",       "u8",   "constant", U8,  U32, fill_constant,    count_u8,     1, ADD, 256, 256, 0, 0},
    {HISTOGRAM, "hist256",       "i32",  "uniform",  I32, U32, fill_below_256,   count_i32,    1, ADD, 256, 256, 0, 0},
    {HISTOGRAM, "hist256",       "i32",  "constant", I32, U32, fill_constant,    count_i32,    0, ADD, 256, 256, 0, 0},
    {HISTOGRAM, "hist2048",      "i32",  "uniform",  I32, U32, fill_below_64k,   count_2k,     1, ADD, 2048, K64, 0, 0},
    {HISTOGRAM, "hist65536",     "i32",  "uniform",  I32, U32, fill_below_64k,   count_64k,    1, ADD, K64, K64, 0, 0},
    {HISTOGRAM, "hist2097152",   "i32",  "uniform",  I32, U32, fill_below_2m,    count_2m,     1, ADD, M2, M2, 0, 0},
    {HISTOGRAM, "hist256",       "f32",  "uniform",  F32, U32, fill_unit_f32,    count_f32,    0, ADD, 256, 1, 0, 0},
    {HISTOGRAM, "hist256_rgba3", "u8x4", "uniform",  U8,  U32, fill_random,      count_rgb,    1, ADD, 256, 256, 4, 0},
    {HISTOGRAM, "hist256_host",  "u8",   "uniform",  U8,  U32, fill_random,      count_u8,     0, ADD, 256, 256, 0, 1},

    /*       op                      type   kept   source                    C loop      plotted percent */
    {SELECT, "select_if",            "u32", "50%", U32, U32, fill_random, keep_below_u32, 1, ADD, 50, VALUE,  0, 0},
    {SELECT, "select_if",            "u32", "1%",  U32, U32, fill_random, keep_below_u32, 0, ADD, 1,  VALUE,  0, 0},
    {SELECT, "select_if",            "u32", "99%", U32, U32, fill_random, keep_below_u32, 0, ADD, 99, VALUE,  0, 0},
    {SELECT, "select_flagged",       "u32", "50%", U32, U32, fill_random, keep_flagged,   1, ADD, 50, FLAGS,  0, 0},
    {SELECT, "select_flagged",       "u32", "1%",  U32, U32, fill_random, keep_flagged,   0, ADD, 1,  FLAGS,  0, 0},
    {SELECT, "select_flagged",       "u32", "99%", U32, U32, fill_random, keep_flagged,   0, ADD, 99, FLAGS,  0, 0},
    {SELECT, "select_flagged_index", "u32", "50%", U32, U32, fill_random, keep_places,    1, ADD, 50, PLACES, 0, 0},
    {SELECT, "select_flagged_index", "u32", "1%",  U32, U32, fill_random, keep_places,    0, ADD, 1,  PLACES, 0, 0},
    {SELECT, "select_flagged_index", "u32", "99%", U32, U32, fill_random, keep_places,    0, ADD, 99, PLACES, 0, 0},

    /*     op               type   dist                keys result            C loop   plotted percent */
    {RUNS, "unique",        "u32", "runs of 1..7",      U32, U32, fill_short, unique_u32,  1, ADD, 25, 0,       0, 0},
    {RUNS, "unique",        "u32", "runs of about 100", U32, U32, fill_long,  unique_u32,  0, ADD, 1,  0,       0, 0},
    {RUNS, "rle",           "u32", "runs of 1..7",      U32, U32, fill_short, lengths_u32, 1, ADD, 25, LENGTHS, 0, 0},
    {RUNS, "rle",           "u32", "runs of about 100", U32, U32, fill_long,  lengths_u32, 0, ADD, 1,  LENGTHS, 0, 0},
    {RUNS, "reduce_by_key", "f32", "runs of 1..7",      U32, F32, fill_short, sums_f32,    1, ADD, 25, SUMS,    0, 0},
    {RUNS, "reduce_by_key", "f32", "runs of about 100", U32, F32, fill_long,  sums_f32,    0, ADD, 1,  SUMS,    0, 0},

    /*     op                  type   dist        source              C loop  plotted      bits values */
    {SORT, "sort_keys",       "u32", "random",   U32, U32, fill_random,    sort_u32,       1, ADD, 32, 0, 0, 0},
    {SORT, "sort_keys",       "u32", "constant", U32, U32, fill_constant,  sort_u32,       0, ADD, 32, 0, 0, 0},
    {SORT, "sort_keys",       "f32", "random bits", F32, F32, fill_random, sort_f32,       0, ADD, 32, 0, 0, 0},
    {SORT, "sort_keys",       "u64", "random",   U64, U64, fill_random,    sort_u64,       0, ADD, 64, 0, 0, 0},
    {SORT, "sort_keys",       "u16", "random",   U16, U16, fill_random,    sort_u16,       0, ADD, 16, 0, 0, 0},
    {SORT, "sort_keys",       "u8",  "random",   U8,  U8,  fill_random,    sort_u8,        0, ADD, 8,  0, 0, 0},
    {SORT, "sort_keys_16bit", "u32", "random",   U32, U32, fill_random,    sort_u32_16bit, 0, ADD, 16, 0, 0, 0},
    {SORT, "sort_pairs_v32",  "u32", "random",   U32, U32, fill_random,    sort_u32_pairs, 1, ADD, 32, 4, 0, 0},

    /*        op               type          dist       source         fill            C loop plot bins what channels */
    {PICTURE, "hist256_tiles", "u8",         "uniform", U8,  U32, fill_random,    tile_bins,  1, ADD, 256, TILES, 0, 0},
    {PICTURE, "hist256_luma",  "u8x4",       "uniform", U8,  U32, fill_random,    count_luma, 1, ADD, 256, LUMA,  4, 0},
    {PICTURE, "hist256_luma",  "u8x4 image", "uniform", U8,  U32, fill_random,    count_luma, 0, ADD, 256,
     LUMA + OF_IMAGE, 4, 0},
    {PICTURE, "integral",      "u8->u32",    "rand",    U8,  U32, fill_random,    table_u8,   1, ADD, 0, TABLE, 0, 0},
    {PICTURE, "integral",      "f32",        "rand",    F32, F32, fill_steps_f32, table_f32,  1, ADD, 0, TABLE, 0, 0},
    {PICTURE, "integral",      "u8 image",   "rand",    U8,  U32, fill_random,    table_u8,   0, ADD, 0,
     TABLE + OF_IMAGE, 0, 0},
    {PICTURE, "quartiles",     "u32",        "rand",    U32, U32, fill_below_256, find_ranks, 1, ADD, 0, RANKS, 0, 0},
};
/* clang-format on */
enum { ROWS = (int)(sizeof rows / sizeof rows[0]) };

static size_t type_size(gpuscan_type type) {
    return type == GPUSCAN_TYPE_CUSTOM ? affine_custom.size : gpuscan_type_size(type);
}

static size_t source_size(const bench_row *r) {
    return type_size(r->src) * (r->channels ? r->channels : 1);
}

static int is_of_image(const bench_row *r) {
    return r->group == PICTURE && r->range >= OF_IMAGE;
}

/* Returns TILES to RANKS; for other groups' rows none of them. */
static uint32_t made(const bench_row *r) {
    return r->group == PICTURE ? r->range % OF_IMAGE : OF_IMAGE;
}

/* Returns whether each source element gives one element of the result, in order. */
static int is_one_by_one(const bench_row *r) {
    return r->group == SCAN || made(r) == TABLE;
}

/* Returns the bytes of a result. A picture's tiles are those of set_raster's picture. */
static uint64_t result_bytes(const bench_row *r, uint64_t n) {
    switch (r->group) {
    case PICTURE:
        return made(r) == TABLE   ? n * type_size(r->dst)
               : made(r) == RANKS ? sizeof quartiles / sizeof *quartiles * type_size(r->dst)
               : made(r) == LUMA  ? r->bins * type_size(r->dst)
                                  : tiles_across() * ((raster.height + TILE - 1) / TILE) * r->bins * type_size(r->dst);
    case SCAN:
        return n * type_size(r->dst);
    case SELECT: /* room for all elements, then the tally */
        return (n + 1) * type_size(r->dst);
    case RUNS: /* then what each run gives besides */
        return (n + 1) * type_size(r->src) + (r->range ? n * type_size(r->dst) : 0);
    case SORT: /* the keys, then the values */
        return n * (type_size(r->dst) + r->range);
    case HISTOGRAM:
        return (uint64_t)r->bins * (r->channels ? r->channels - 1 : 1) * type_size(r->dst);
    default:
        return type_size(r->dst);
    }
}

/* Returns whether the elements have flags beside them. */
static int has_flags(const bench_row *r) {
    return r->group == SELECT || (r->group == SCAN && r->bins != 0 && r->range == FLAGS);
}

/* Returns whether they have u32 keys, or values that are reduced by runs, beside them. */
static int has_keys(const bench_row *r) {
    return r->group == SCAN && r->bins != 0 && r->range == KEYS;
}

static int has_values(const bench_row *r) {
    return r->group == RUNS && r->range == SUMS;
}

/* Returns the bytes beside each element. */
static size_t beside_size(const bench_row *r) {
    return has_flags(r) ? 1 : has_keys(r) ? 4 : has_values(r) ? type_size(r->dst) : 0;
}

/* Returns the least bytes that must be read and written. */
static uint64_t traffic(const bench_row *r, uint64_t n) {
    const uint64_t kept = n / 100 * r->bins;
    switch (r->group) {
    case SELECT:
        return (r->range == PLACES ? 0 : n * source_size(r)) + (r->range == VALUE ? 0 : n) + kept * type_size(r->dst);
    case RUNS:
        return n * (source_size(r) + beside_size(r)) +
               kept * (source_size(r) + (r->range ? type_size(r->dst) : 0));
    case SORT:
        return 2 * result_bytes(r, n);
    default:
        return n * (source_size(r) + beside_size(r)) +
               (is_one_by_one(r) || made(r) == TILES ? result_bytes(r, n) : 0);
    }
}

/* Returns the bytes of the host's memory that the C loop takes. */
static uint64_t loop_bytes(const bench_row *r, uint64_t n) {
    return n * source_size(r) + (r->group == SORT ? 2 : 1) * result_bytes(r, n);
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

/* The OpenCL entry points: gpuscan's own list and a few more. gpuscan gets a copy of the table whose enqueuing
   functions keep the events of commands, from which a call's time on the device is read. */
static gpuscan_opencl cl;
static cl_int(CL_API_CALL *copy_buffer)(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint,
                                        const cl_event *, cl_event *);
static cl_int(CL_API_CALL *copy_to_image)(cl_command_queue, cl_mem, cl_mem, size_t, const size_t *, const size_t *,
                                          cl_uint, const cl_event *, cl_event *);
static cl_int(CL_API_CALL *get_event_time)(cl_event, cl_profiling_info, size_t, void *, size_t *);

static struct {
    gpuscan *gs;
    gpuscan_info info;
    cl_command_queue queue;
    cl_device_type type;
    cl_ulong memory, largest_buffer, cache;
    size_t image_width, image_height;
    char driver[256];
} device;

static struct {
    int kept; /* not 0: events are kept */
    unsigned count;
    unsigned events_count;
    cl_event events[MAX_COMMANDS];
} commands;

static void *find_symbol(const char *name) {
    static void *library;
    static const char *const names[] = {
#if defined(_WIN32)
        "OpenCL.dll"
#elif defined(__APPLE__)
        "/System/Library/Frameworks/OpenCL.framework/OpenCL"
#else
        "libOpenCL.so.1", "libOpenCL.so"
#endif
    };
    void *symbol = NULL;
    size_t i;
#ifdef _WIN32
    FARPROC function;
    for (i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++) library = (void *)LoadLibraryA(names[i]);
    if (library == NULL) die("no OpenCL on this machine (OpenCL.dll)");
    function = GetProcAddress((HMODULE)library, name);
    memcpy(&symbol, &function, sizeof symbol);
#else
    for (i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++) library = dlopen(names[i], RTLD_NOW);
    if (library == NULL) die("no OpenCL loader on this machine (%s)", names[0]);
    symbol = dlsym(library, name);
#endif
    if (symbol == NULL) die("this OpenCL lacks %s", name);
    return symbol;
}

static void load_opencl(void) {
    void *symbol;
#define LOAD(name, result, parameters)                                                                                 \
    symbol = find_symbol(#name);                                                                                       \
    memcpy(&cl.name, &symbol, sizeof symbol);
    GPUSCAN_OPENCL_FUNCTIONS(LOAD)
#undef LOAD
    symbol = find_symbol("clEnqueueCopyBuffer");
    memcpy(&copy_buffer, &symbol, sizeof symbol);
    symbol = find_symbol("clEnqueueCopyBufferToImage");
    memcpy(&copy_to_image, &symbol, sizeof symbol);
    symbol = find_symbol("clGetEventProfilingInfo");
    memcpy(&get_event_time, &symbol, sizeof symbol);
}

/* Counts a command. Keeps its event, and also gives it to a caller that wants it. */
static cl_int keep(cl_int status, cl_event made, cl_event *wanted) {
    if (status != CL_SUCCESS) return status;
    commands.count++;
    if (!commands.kept) return status;
    if (wanted != NULL) {
        cl.clRetainEvent(made);
        *wanted = made;
    }
    if (commands.events_count == MAX_COMMANDS) die("a call of more than %d commands", MAX_COMMANDS);
    commands.events[commands.events_count++] = made;
    return status;
}

/* The last launch, to repeat it. */
static struct {
    cl_kernel kernel;
    size_t global, local;
} launched;

static cl_int CL_API_CALL keep_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                      const size_t *offset, const size_t *global, const size_t *local,
                                      cl_uint wait_count, const cl_event *wait_list, cl_event *event) {
    cl_event made = NULL;
    cl_int status; /* the call must come before its event is read: C does not order arguments */
    status = cl.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, wait_count, wait_list,
                                          commands.kept ? &made : event);
    launched.kernel = kernel;
    launched.global = global[0];
    launched.local = local[0];
    return keep(status, made, event);
}

static cl_int CL_API_CALL keep_fill(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
                                    size_t offset, size_t size, cl_uint wait_count, const cl_event *wait_list,
                                    cl_event *event) {
    cl_event made = NULL;
    cl_int status; /* the call must come before its event is read: C does not order arguments */
    status = cl.clEnqueueFillBuffer(queue, buffer, pattern, pattern_size, offset, size, wait_count, wait_list,
                                       commands.kept ? &made : event);
    return keep(status, made, event);
}

static cl_int keep_copy(cl_command_queue queue, cl_mem src, cl_mem dst, size_t size) {
    cl_event made = NULL;
    cl_int status; /* the call must come before its event is read: C does not order arguments */
    status = copy_buffer(queue, src, dst, 0, 0, size, 0, NULL, commands.kept ? &made : NULL);
    return keep(status, made, NULL);
}

static void must(cl_int status, const char *what) {
    if (status != CL_SUCCESS) die("%s: %s", what, gpuscan_result_string(status));
}

/* Returns the time from the start of the first kept command to the end of the last. */
static double events_span_ms(void) {
    cl_ulong first = ~(cl_ulong)0, last = 0, start, end;
    unsigned i;
    for (i = 0; i < commands.events_count; i++) {
        /* scratch that grew was cleared in one of the library's queues, without profiling */
        if (get_event_time(commands.events[i], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ==
            CL_PROFILING_INFO_NOT_AVAILABLE) {
            cl.clReleaseEvent(commands.events[i]);
            continue;
        }
        must(get_event_time(commands.events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "event time");
        if (start < first) first = start;
        if (end > last) last = end;
        cl.clReleaseEvent(commands.events[i]);
    }
    commands.events_count = 0;
    return last > first ? 1e-6 * (double)(last - first) : 0.0;
}

static int timed_by_events(void) {
    return (device.type & CL_DEVICE_TYPE_CPU) == 0;
}

static cl_mem new_buffer(uint64_t bytes) {
    cl_int status = CL_OUT_OF_HOST_MEMORY;
    if (bytes > SIZE_MAX) return NULL;
    return cl.clCreateBuffer(device.info.context, CL_MEM_READ_WRITE, bytes ? (size_t)bytes : 1, NULL, &status);
}

static cl_kernel new_kernel(const char *source, const char *name) {
    cl_int status;
    cl_kernel kernel;
    cl_program program = cl.clCreateProgramWithSource(device.info.context, 1, &source, NULL, &status);
    must(status, "clCreateProgramWithSource");
    must(cl.clBuildProgram(program, 1, &device.info.device, "", NULL, NULL), "clBuildProgram");
    kernel = cl.clCreateKernel(program, name, &status);
    must(status, "clCreateKernel");
    cl.clReleaseProgram(program);
    return kernel;
}

/* Fills a buffer by doubling the bytes at its begin. */
static void repeat_bytes(cl_mem buffer, uint64_t done, uint64_t bytes) {
    while (done < bytes) {
        const uint64_t more = bytes - done < done ? bytes - done : done;
        must(copy_buffer(device.queue, buffer, buffer, 0, (size_t)done, (size_t)more, 0, NULL, NULL), "copy");
        done += more;
    }
    must(cl.clFinish(device.queue), "finish");
}

/* Fills a buffer, without clEnqueueFillBuffer, which takes seconds for a large buffer on some drivers (NVIDIA). */
static void fill_buffer(cl_mem buffer, unsigned char value, uint64_t bytes) {
    const uint64_t block = bytes < BLOCK ? bytes : BLOCK;
    void *values = allocate(block);
    memset(values, value, (size_t)block);
    must(cl.clEnqueueWriteBuffer(device.queue, buffer, CL_TRUE, 0, (size_t)block, values, 0, NULL, NULL), "write");
    free(values);
    repeat_bytes(buffer, block, bytes);
}

static void open_device(const char *name) {
    gpuscan_opencl table = cl;
    gpuscan_desc desc = {0};
    char error[1024] = "";
    cl_int status;
    table.clEnqueueNDRangeKernel = keep_kernel;
    table.clEnqueueFillBuffer = keep_fill;
    desc.device_name = name;
    desc.opencl = &table;
    desc.error = error;
    desc.error_size = sizeof error;
    status = gpuscan_create(&device.gs, &desc);
    if (status != 0) die("%s\n%s", gpuscan_result_string(status), error);
    must(gpuscan_get_info(device.gs, &device.info), "gpuscan_get_info");
    cl.clGetDeviceInfo(device.info.device, CL_DEVICE_TYPE, sizeof device.type, &device.type, NULL);
    cl.clGetDeviceInfo(device.info.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof device.memory, &device.memory, NULL);
    cl.clGetDeviceInfo(device.info.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof device.largest_buffer,
                       &device.largest_buffer, NULL);
    cl.clGetDeviceInfo(device.info.device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof device.cache, &device.cache, NULL);
    cl.clGetDeviceInfo(device.info.device, CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof device.image_width, &device.image_width,
                       NULL);
    cl.clGetDeviceInfo(device.info.device, CL_DEVICE_IMAGE2D_MAX_HEIGHT, sizeof device.image_height,
                       &device.image_height, NULL);
    cl.clGetDeviceInfo(device.info.device, CL_DRIVER_VERSION, sizeof device.driver - 1, device.driver, NULL);
    device.queue = cl.clCreateCommandQueue(device.info.context, device.info.device,
                                           timed_by_events() ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
    must(status, "clCreateCommandQueue");
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

/* A call of any kind. enqueue returns a result code; blocking: it returns when all is done. */
typedef struct job {
    gpuscan_result (*enqueue)(const struct job *job);
    int blocking;
    const bench_row *row;
    uint64_t n;
    cl_mem src, dst, flags, image;
    const void *host_src;
    void *host_dst;
    cl_kernel kernel;
    cl_command_queue queue;
    gpuscan_strategy strategy;
    const struct sweep_call *sweep;
} job;

typedef struct timing {
    gpuscan_result result;
    double ms;
    unsigned commands;
} timing;

static gpuscan_result run_once(const job *j, double *ms) {
    const int by_events = timed_by_events() && !j->blocking;
    double start;
    gpuscan_result result;
    commands.count = 0;
    commands.kept = by_events;
    start = now_ms();
    result = j->enqueue(j);
    if (result == 0 && !j->blocking) result = cl.clFinish(j->queue);
    *ms = now_ms() - start;
    commands.kept = 0;
    if (by_events) *ms = events_span_ms();
    return result;
}

static timing measure(const job *j) {
    timing t = {0, 0.0, 0};
    double samples[MAX_RUNS], begin = now_ms(), ms;
    unsigned count = 0, warm = 0;
    while (t.result == 0 && (warm < 3 || (warm < 20 && now_ms() - begin < 5.0))) {
        t.result = run_once(j, &ms);
        warm++;
    }
    begin = now_ms();
    while (t.result == 0 && (count < MIN_RUNS || (count < MAX_RUNS && now_ms() - begin < budget_ms)))
        t.result = run_once(j, &samples[count++]);
    t.commands = commands.count;
    if (t.result == 0) t.ms = median(samples, count);
    return t;
}

enum { MAX_TURNS = 3, ENQUEUES = 201 };

/* Measures the host's time for enqueuing alone, while the device is idle. Several jobs take turns, since a host's speed
   varies. */
static void measure_enqueues(const job *jobs, int count, timing *t) {
    static double samples[MAX_TURNS][ENQUEUES];
    int i, k, warm = 20;
    memset(t, 0, (size_t)count * sizeof *t);
    for (i = -warm; i < ENQUEUES; i++)
        for (k = 0; k < count; k++) {
            const double start = now_ms();
            commands.count = 0;
            if (t[k].result == 0) t[k].result = jobs[k].enqueue(&jobs[k]);
            if (i >= 0) samples[k][i] = now_ms() - start;
            cl.clFinish(jobs[k].queue);
            t[k].commands = commands.count;
        }
    for (k = 0; k < count; k++)
        if (t[k].result == 0) t[k].ms = median(samples[k], ENQUEUES);
}

static gpuscan_result enqueue_copy(const job *j) {
    return keep_copy(j->queue, j->src, j->dst, (size_t)j->n);
}

static gpuscan_result enqueue_kernel(const job *j) {
    static const size_t one = 1;
    return keep_kernel(j->queue, j->kernel, 1, NULL, &one, &one, 0, NULL, NULL);
}

/* Repeats the last launch alone: a call's kernel, with the arguments that it still has. */
static gpuscan_result enqueue_launched(const job *j) {
    return keep_kernel(j->queue, launched.kernel, 1, NULL, &launched.global, &launched.local, 0, NULL, NULL);
}

static gpuscan_result enqueue_scan(const job *j) {
    const bench_row *r = j->row;
    gpuscan_scan_desc desc = {0};
    desc.src_type = r->src;
    desc.dst_type = r->dst;
    desc.op = r->operation;
    desc.kind = r->op[0] == 'i' ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
    desc.custom = r->operation == GPUSCAN_OP_CUSTOM ? &affine_custom : NULL;
    desc.call.strategy = j->strategy;
    desc.segments.form = has_flags(r)  ? GPUSCAN_SEGMENTS_HEADS
                         : has_keys(r) ? GPUSCAN_SEGMENTS_KEYS
                                       : GPUSCAN_SEGMENTS_NONE;
    desc.segments.type = has_keys(r) ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
    desc.segments.data.mem = j->flags;
    if (r->host) return gpuscan_scan_host(device.gs, j->host_src, j->host_dst, j->n, &desc);
    desc.src.mem = j->src;
    desc.dst.mem = j->dst;
    desc.count = j->n;
    desc.call.queue = j->queue;
    return gpuscan_scan(device.gs, &desc);
}

static gpuscan_result enqueue_reduce(const job *j) {
    const bench_row *r = j->row;
    gpuscan_reduce_desc desc = {0};
    desc.src_type = r->src;
    desc.dst_type = r->dst;
    desc.op = r->operation;
    desc.call.strategy = j->strategy;
    if (r->host) return gpuscan_reduce_host(device.gs, j->host_src, j->host_dst, j->n, &desc);
    desc.src.mem = j->src;
    desc.dst.mem = j->dst;
    desc.count = j->n;
    desc.call.queue = j->queue;
    return gpuscan_reduce(device.gs, &desc);
}

static gpuscan_result enqueue_histogram(const job *j) {
    const bench_row *r = j->row;
    gpuscan_histogram_desc desc = {0};
    desc.sample_type = r->src;
    desc.counter_type = r->dst;
    desc.bins = r->bins;
    if (r->src == GPUSCAN_TYPE_F32) desc.upper.f = (double)r->range;
    else if (r->src == GPUSCAN_TYPE_I32) desc.upper.i = (int64_t)r->range;
    else desc.upper.u = r->range;
    desc.channels = r->channels;
    desc.channel_mask = r->channels ? (1u << (r->channels - 1)) - 1 : 0;
    desc.call.strategy = j->strategy;
    if (r->host) return gpuscan_histogram_host(device.gs, j->host_src, j->host_dst, j->n, &desc);
    desc.samples.mem = j->src;
    desc.counts.mem = j->dst;
    desc.count = j->n;
    desc.call.queue = j->queue;
    return gpuscan_histogram(device.gs, &desc);
}

static gpuscan_result enqueue_select(const job *j) {
    const bench_row *r = j->row;
    gpuscan_select_desc desc = {0};
    gpuscan_custom custom = {0};
    char text[32];
    snprintf(text, sizeof text, "x < %uu", (unsigned)threshold(r->bins));
    custom.select = text;
    desc.type = r->src;
    desc.count = j->n;
    if (r->range == VALUE) {
        desc.by = GPUSCAN_SELECT_PREDICATE;
        desc.custom = &custom;
    } else {
        desc.flags.mem = j->flags;
    }
    if (r->range == PLACES) {
        desc.indices.mem = j->dst;
    } else {
        desc.src.mem = j->src;
        desc.dst.mem = j->dst;
    }
    desc.selected.count.mem = j->dst;
    desc.selected.count.offset = j->n;
    desc.call.strategy = j->strategy;
    desc.call.queue = j->queue;
    return gpuscan_select(device.gs, &desc);
}

static gpuscan_result enqueue_sort(const job *j) {
    const bench_row *r = j->row;
    gpuscan_sort_desc desc = {0};
    gpuscan_payload values = {{NULL, 0}, {NULL, 0}, 0};
    values.src.mem = j->flags;
    values.dst.mem = j->dst;
    values.dst.offset = j->n;
    values.size = r->range;
    desc.src.mem = j->src;
    desc.dst.mem = j->dst;
    desc.count = j->n;
    desc.key_type = r->src;
    desc.bit_end = r->bins;
    desc.payloads = r->range ? &values : NULL;
    desc.payload_count = r->range != 0;
    desc.call.strategy = j->strategy;
    desc.call.queue = j->queue;
    return gpuscan_sort(device.gs, &desc);
}

static gpuscan_result enqueue_runs(const job *j) {
    gpuscan_runs_desc desc = {0};
    desc.keys.mem = j->src;
    desc.key_type = j->row->src;
    desc.keys_dst.mem = j->dst;
    desc.count = j->n;
    desc.runs.count.mem = j->dst;
    desc.runs.count.offset = j->n;
    if (j->row->range == LENGTHS) {
        desc.lengths.mem = j->dst;
        desc.lengths.offset = j->n + 1;
    }
    if (j->row->range == SUMS) {
        desc.src.mem = j->flags;
        desc.src_type = desc.dst_type = j->row->dst;
        desc.dst.mem = j->dst;
        desc.dst.offset = j->n + 1;
    }
    desc.call.strategy = j->strategy;
    desc.call.queue = j->queue;
    return gpuscan_runs(device.gs, &desc);
}

static gpuscan_result enqueue_table(const job *j) {
    gpuscan_integral_desc desc = {0};
    desc.src.mem = j->image != NULL ? NULL : j->src;
    desc.src_image.mem = j->image;
    desc.dst.mem = j->dst;
    desc.width = raster.width;
    desc.height = raster.height;
    desc.src_type = j->row->src;
    desc.dst_type = j->row->dst;
    desc.kind = GPUSCAN_INCLUSIVE;
    desc.call.strategy = j->strategy;
    desc.call.queue = j->queue;
    return gpuscan_integral(device.gs, &desc);
}

static gpuscan_result enqueue_quartiles(const job *j) {
    gpuscan_quantile_desc desc = {0};
    desc.counts.mem = j->src;
    desc.dst.mem = j->dst;
    desc.bins = (uint32_t)j->n;
    desc.fractions = quartiles;
    desc.fraction_count = 3;
    desc.call.strategy = j->strategy;
    desc.call.queue = j->queue;
    return gpuscan_quantile(device.gs, &desc);
}

static gpuscan_result enqueue_picture(const job *j) {
    static const gpuscan_custom luma = {
        NULL, NULL, 0, NULL, NULL, "(77 * x.x + 150 * x.y + 29 * x.z + 128) >> 8", NULL, NULL, NULL};
    const bench_row *r = j->row;
    gpuscan_histogram_desc desc = {0};
    if (made(r) == TABLE) return enqueue_table(j);
    if (made(r) == RANKS) return enqueue_quartiles(j);
    desc.samples.mem = j->image != NULL ? NULL : j->src;
    desc.samples_image.mem = j->image;
    desc.counts.mem = j->dst;
    desc.count = raster.width;
    desc.rows = raster.height;
    desc.bins = r->bins;
    desc.channels = r->channels;
    desc.sample_type = r->src;
    desc.custom = made(r) == LUMA ? &luma : NULL;
    desc.value_type = made(r) == LUMA ? GPUSCAN_TYPE_U8 : GPUSCAN_TYPE_DEFAULT;
    desc.tile_width = desc.tile_height = made(r) == TILES ? TILE : 0;
    desc.call.strategy = j->strategy;
    desc.call.queue = j->queue;
    return gpuscan_histogram(device.gs, &desc);
}

static gpuscan_result (*const enqueue_functions[GROUPS])(const job *) = {
    enqueue_scan, enqueue_reduce, enqueue_histogram, enqueue_select, enqueue_runs, enqueue_sort, enqueue_picture};

/* Returns the time of a copy that reads and writes bytes in all; NAN: memory is short. Measures each size once. */
static double copy_ms(uint64_t bytes) {
    static struct {
        uint64_t bytes;
        double ms;
    } known[MAX_RESULTS];
    static unsigned known_count;
    job j = {0};
    timing t = {CL_OUT_OF_RESOURCES, 0.0, 0};
    unsigned i;
    for (i = 0; i < known_count; i++)
        if (known[i].bytes == bytes) return known[i].ms;
    j.enqueue = enqueue_copy;
    j.queue = device.queue;
    j.n = bytes / 2 ? bytes / 2 : 1;
    j.src = new_buffer(j.n);
    j.dst = new_buffer(j.n);
    if (j.src != NULL && j.dst != NULL) {
        fill_buffer(j.src, 1, j.n); /* memory that was never written need not exist */
        t = measure(&j);
    }
    if (j.src != NULL) cl.clReleaseMemObject(j.src);
    if (j.dst != NULL) cl.clReleaseMemObject(j.dst);
    if (known_count < MAX_RESULTS) {
        known[known_count].bytes = bytes;
        known[known_count++].ms = t.result == 0 ? t.ms : (double)NAN;
    }
    return t.result == 0 ? t.ms : (double)NAN;
}

/* Sets the state before the first element: a scan's running value, a sum, or counters. */
static void start_state(const bench_row *r, void *state) {
    if (r->group == SORT) return;
    raster.done = 0;
    if (made(r) == TABLE) memset(raster.above, 0, (size_t)raster.width * type_size(r->dst));
    if (r->group == SELECT || r->group == RUNS) /* how many are kept; how many there were, or the key before */
        memset(state, 0, 2 * sizeof(uint64_t));
    else if (r->src == GPUSCAN_TYPE_CUSTOM) memcpy(state, &affine_none, sizeof affine_none);
    else memset(state, 0, (size_t)result_bytes(r, 1)); /* counters of all tiles */
}

/* Returns the time of the plain loop in one thread. Repeats small inputs, as clocks are coarse. */
static double loop_ms(const bench_row *r, const void *src, void *dst, uint64_t n, void *state) {
    double samples[MAX_RUNS], begin = now_ms();
    const uint64_t repeats = n < 16384 ? 16384 / (n ? n : 1) : 1;
    unsigned count = 0;
    start_state(r, state);
    r->loop(src, dst, (size_t)n, state);
    while (count < MIN_LOOP_RUNS || (count < MAX_RUNS && now_ms() - begin < budget_ms)) {
        const double start = now_ms();
        uint64_t i;
        for (i = 0; i < repeats; i++) {
            start_state(r, state);
            r->loop(src, dst, (size_t)n, state);
        }
        samples[count++] = (now_ms() - start) / (double)repeats;
    }
    return median(samples, count);
}

/* Makes the flags of the loop's elements. */
static void make_flags(const bench_row *r, const uint32_t *a, uint64_t n) {
    uint64_t i;
    select_below = threshold(r->bins);
    for (i = 0; i < n && r->range != VALUE; i++) select_flags[i] = a[i] < select_below;
}

/* Returns whether elements of 4 bytes of a result are those expected. */
static int is_read_right(const job *j, uint64_t first, uint64_t n, const uint32_t *expected, uint32_t *got) {
    if (n > 0)
        must(cl.clEnqueueReadBuffer(device.queue, j->dst, CL_TRUE, (size_t)first * 4, (size_t)n * 4, got, 0, NULL,
                                    NULL),
             "read");
    return memcmp(got, expected, (size_t)n * 4) == 0;
}

/* Checks a selection's or runs' result as result_is_right does, but each block gives only what it keeps. */
static int selection_is_right(const job *j, const void *host_src, void *state) {
    const bench_row *r = j->row;
    const uint64_t block = j->n < BLOCK ? j->n : BLOCK;
    uint32_t *expected = (uint32_t *)allocate(2 * block * 4), *got = (uint32_t *)allocate(block * 4), tally;
    uint64_t at, done = 0, *kept = (uint64_t *)state;
    int right = 1;
    start_state(r, state);
    for (at = 0; at < j->n && right; at += block) {
        const uint64_t n = j->n - at < block ? j->n - at : block;
        r->loop(host_src, expected, (size_t)n, state);
        right = is_read_right(j, done, *kept - done, expected, got);
        if (r->group == RUNS && r->range)
            right = right && is_read_right(j, j->n + 1 + done, *kept - done, expected + n, got);
        done = *kept;
    }
    tally = (uint32_t)done;
    right = right && is_read_right(j, j->n, 1, &tally, got);
    free(expected);
    free(got);
    return right;
}

static uint64_t key_code(const bench_row *r, const char *keys, uint64_t i) {
    const size_t size = type_size(r->src);
    uint32_t x4;
    uint64_t x8 = 0;
    if (r->src == GPUSCAN_TYPE_F32) {
        memcpy(&x4, keys + i * 4, 4);
        return f32_code(x4);
    }
    memcpy(&x8, keys + i * size, size); /* little-endian, or all bits count */
    return r->bins < 64 ? x8 & (((uint64_t)1 << r->bins) - 1) : x8;
}

/* Checks a sort's result: a block's, with each run of equal keys repeated once a block. Values are copies of the
   keys. */
static int sort_is_right(const job *j, const void *host_src, void *state) {
    const bench_row *r = j->row;
    const size_t size = type_size(r->src);
    const uint64_t block = j->n < BLOCK ? j->n : BLOCK, blocks = j->n / block; /* larger sizes are multiples of it */
    char *expected = (char *)allocate(block * size), *got = (char *)allocate(block * size);
    char *values = r->range ? (char *)allocate(block * size) : NULL;
    uint64_t at = 0, begin, end, i, k;
    int right = 1;
    r->loop(host_src, expected, (size_t)block, state);
    for (begin = 0; begin < block && right; begin = end) {
        for (end = begin + 1; end < block && key_code(r, expected, end) == key_code(r, expected, begin);) end++;
        for (k = 0; k < blocks && right; k++)
            for (i = begin; i < end && right; i++, at++) {
                const size_t in = (size_t)(at % block * size);
                if (in == 0) {
                    must(cl.clEnqueueReadBuffer(device.queue, j->dst, CL_TRUE, (size_t)(at * size),
                                                (size_t)(block * size), got, 0, NULL, NULL),
                         "read");
                    if (values != NULL)
                        must(cl.clEnqueueReadBuffer(device.queue, j->dst, CL_TRUE, (size_t)((j->n + at) * size),
                                                    (size_t)(block * size), values, 0, NULL, NULL),
                             "read");
                    right = values == NULL || memcmp(got, values, (size_t)(block * size)) == 0;
                }
                right = right && memcmp(got + in, expected + i * size, size) == 0;
            }
    }
    free(expected);
    free(got);
    free(values);
    return right;
}

/* Compares the whole result with the loop's, one block of the input at a time. host_src holds at least one block. */
static int result_is_right(const job *j, const void *host_src, void *state) {
    const bench_row *r = j->row;
    const size_t size = type_size(r->dst);
    const uint64_t block = j->n < BLOCK ? j->n : BLOCK, bytes = result_bytes(r, is_one_by_one(r) ? block : 1);
    char *expected = (char *)allocate(bytes), *got = (char *)allocate(bytes);
    uint64_t at;
    int right = 1;
    if (r->group == SELECT || r->group == RUNS || r->group == SORT) {
        free(expected);
        free(got);
        return r->group == SORT ? sort_is_right(j, host_src, state) : selection_is_right(j, host_src, state);
    }
    start_state(r, state);
    for (at = 0; at < j->n && right; at += block) {
        const uint64_t n = j->n - at < block ? j->n - at : block;
        r->loop(host_src, expected, (size_t)n, state);
        if (!is_one_by_one(r)) continue;
        if (r->host) memcpy(got, (char *)j->host_dst + at * size, (size_t)n * size);
        else
            must(cl.clEnqueueReadBuffer(device.queue, j->dst, CL_TRUE, (size_t)(at * size), (size_t)n * size, got, 0,
                                        NULL, NULL),
                 "read");
        right = memcmp(got, expected, (size_t)n * size) == 0;
    }
    if (!is_one_by_one(r)) {
        if (r->host) memcpy(got, j->host_dst, (size_t)bytes);
        else must(cl.clEnqueueReadBuffer(device.queue, j->dst, CL_TRUE, 0, (size_t)bytes, got, 0, NULL, NULL), "read");
        right = memcmp(got, state, (size_t)bytes) == 0;
    }
    free(expected);
    free(got);
    return right;
}

/* ---- results and their output ------------------------------------------------------------------------------------ */

typedef struct bench_result {
    const bench_row *row;
    uint64_t n;
    double ms, copy_ms, loop_ms, reference_ms; /* NAN: not measured */
    unsigned commands;
} bench_result;

static bench_result results[MAX_RESULTS];
static unsigned result_count, wrong_count;

typedef struct anchor {
    char op[48], type[24], dist[24];
    unsigned long long n;
    double ms;
} anchor;

static anchor *anchors;
static size_t anchor_count;
static char reference_name[64];

static double reference_ms(const bench_row *r, uint64_t n) {
    size_t i;
    for (i = 0; i < anchor_count; i++)
        if (anchors[i].n == n && strcmp(anchors[i].op, r->op) == 0 && strcmp(anchors[i].type, r->type) == 0 &&
            strcmp(anchors[i].dist, r->dist) == 0)
            return anchors[i].ms;
    return (double)NAN;
}

/* Reads lines op,type,n,dist,ms with or without more fields. Skips all else, such as comments and a heading. */
static void read_reference(const char *path) {
    FILE *file = fopen(path, "r");
    const char *base = path, *p;
    char line[512];
    size_t length;
    if (file == NULL) die("cannot read %s", path);
    while (fgets(line, sizeof line, file) != NULL) {
        anchor a;
        if (line[0] == '#' || sscanf(line, "%47[^,],%23[^,],%llu,%23[^,],%lf", a.op, a.type, &a.n, a.dist, &a.ms) != 5)
            continue;
        if ((anchor_count & (anchor_count - 1)) == 0) {
            anchors = (anchor *)realloc(anchors, (anchor_count ? anchor_count * 2 : 1) * sizeof *anchors);
            if (anchors == NULL) die("out of memory");
        }
        anchors[anchor_count++] = a;
    }
    fclose(file);
    if (anchor_count == 0) die("%s has no line op,type,n,dist,ms", path);
    for (p = path; *p; p++)
        if (*p == '/' || *p == '\\') base = p + 1;
    p = strrchr(base, '.');
    length = p != NULL ? (size_t)(p - base) : strlen(base);
    if (length >= sizeof reference_name) length = sizeof reference_name - 1;
    memcpy(reference_name, base, length);
}

static const char *size_text(uint64_t n, char *text, size_t size) {
    unsigned log = 0;
    while (((uint64_t)1 << log) < n) log++;
    if (((uint64_t)1 << log) == n) snprintf(text, size, "2^%u", log);
    else snprintf(text, size, "%llu", (unsigned long long)n);
    return text;
}

static const char *time_text(double ms, char *text, size_t size) {
    if (ms < 1.0) snprintf(text, size, "%.2f us", 1e3 * ms);
    else snprintf(text, size, "%.3f ms", ms);
    return text;
}

static const char *ratio_text(double value, char *text, size_t size) {
    if (value > 0.0 && value < 1e9) snprintf(text, size, value < 9.995 ? "%.2f" : "%.1f", value);
    else snprintf(text, size, "-");
    return text;
}

static double gigabytes_a_second(uint64_t bytes, double ms) {
    return ms > 0.0 ? 1e-6 * (double)bytes / ms : (double)NAN;
}

static int is_cached(const bench_result *r) {
    return traffic(r->row, r->n) <= (device.cache > CACHED_BYTES ? device.cache : CACHED_BYTES);
}

static void print_heading(const bench_row *r) {
    char reference[80] = "";
    if (anchor_count) snprintf(reference, sizeof reference, "  x %s", reference_name);
    printf("\n%s %s, %s\n%12s %12s %11s %8s %9s %8s%s\n", r->op, r->type, r->dist, "elements", "time", "GB/s ",
           "of copy", "x C loop", "commands", reference);
}

static void print_result(const bench_result *r) {
    char size[32], time[32], copy[32], loop[32], reference[32];
    printf("%12s %12s %10.2f%c %8s %9s %8u", size_text(r->n, size, sizeof size), time_text(r->ms, time, sizeof time),
           gigabytes_a_second(traffic(r->row, r->n), r->ms), is_cached(r) ? '*' : ' ',
           ratio_text(r->copy_ms / r->ms, copy, sizeof copy), ratio_text(r->loop_ms / r->ms, loop, sizeof loop),
           r->commands);
    if (anchor_count)
        printf("%*s", (int)strlen(reference_name) + 4,
               ratio_text(r->reference_ms / r->ms, reference, sizeof reference));
    printf("\n");
    fflush(stdout);
}

static FILE *csv;

static void csv_value(double value) {
    if (value > 0.0) fprintf(csv, ",%.6g", value);
    else fprintf(csv, ",");
}

static void csv_result(const bench_result *r) {
    if (csv == NULL) return;
    fprintf(csv, "%s,%s,%llu,%s,%.6f", r->row->op, r->row->type, (unsigned long long)r->n, r->row->dist, r->ms);
    csv_value(gigabytes_a_second(traffic(r->row, r->n), r->ms));
    csv_value(r->copy_ms);
    csv_value(r->copy_ms / r->ms);
    csv_value(r->loop_ms);
    csv_value(r->loop_ms / r->ms);
    fprintf(csv, ",%u", r->commands);
    csv_value(r->reference_ms);
    csv_value(r->reference_ms / r->ms);
    fprintf(csv, "\n");
    fflush(csv);
}

static void csv_overhead(const char *op, const char *type, uint64_t n, double ms, unsigned count) {
    if (csv == NULL) return;
    fprintf(csv, "%s,%s,%llu,-,%.6f,,,,,,%u,,\n", op, type, (unsigned long long)n, ms, count);
    fflush(csv);
}

static void open_csv(const char *path, int of_sweep) {
    csv = fopen(path, "w");
    if (csv == NULL) die("cannot write %s", path);
    fprintf(csv, "# %s, %s, driver %s; %s\n", device.info.device_name, device.info.platform_name, device.driver,
            timed_by_events() ? "device events" : "wall clock of blocking calls");
    if (of_sweep) fprintf(csv, "class,case,bytes,ms,yard_ms,fraction,floor\n");
    else fprintf(csv, "op,type,n,dist,ms,GBps,copy_ms,of_copy,c_loop_ms,x_c_loop,commands,reference_ms,x_reference\n");
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

static void plot_value(FILE *file, uint64_t bytes, double ms) {
    if (ms > 0.0) fprintf(file, " %.6g", gigabytes_a_second(bytes, ms));
    else fprintf(file, " ?");
}

/* Writes PREFIX.dat: a block for each drawn row, with columns n, gpuscan, copy, C loop, reference in GB/s. */
static void write_plot_data(const char *path, int first_index[ROWS]) {
    FILE *file = fopen(path, "w");
    int i, index = 0;
    unsigned k;
    if (file == NULL) die("cannot write %s", path);
    for (i = 0; i < ROWS; i++) {
        int lines = 0;
        first_index[i] = -1;
        for (k = 0; k < result_count; k++) {
            const bench_result *r = &results[k];
            const uint64_t bytes = traffic(r->row, r->n);
            if (!rows[i].plotted || r->row != &rows[i]) continue;
            if (lines++ == 0)
                fprintf(file, "%s# %s %s %s\n", index ? "\n\n" : "", r->row->op, r->row->type, r->row->dist);
            fprintf(file, "%llu", (unsigned long long)r->n);
            plot_value(file, bytes, r->ms);
            plot_value(file, bytes, r->copy_ms);
            plot_value(file, bytes, r->loop_ms);
            plot_value(file, bytes, r->reference_ms);
            fprintf(file, "\n");
        }
        if (lines) first_index[i] = index++;
    }
    fclose(file);
}

static int has_reference(const bench_row *r) {
    unsigned k;
    for (k = 0; k < result_count; k++)
        if (results[k].row == r && results[k].reference_ms > 0.0) return 1;
    return 0;
}

/* Writes gnuplot's text in single quotes: a quote is doubled. */
static void quoted(FILE *file, const char *text) {
    fputc('\'', file);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', file);
        fputc(*text, file);
    }
    fputc('\'', file);
}

static void write_plot_group(FILE *file, const char *base, const int index[ROWS], bench_group g) {
    static const char *const colors[] = {"1", "2", "3", "4", "5", "6", "7", "rgb 'brown'"}; /* 8 is black: the copy */
    char picture[600], data[600], name[100];
    int i, next = 0, first = -1;
    for (i = ROWS - 1; i >= 0; i--)
        if (rows[i].group == g && index[i] >= 0) first = i;
    if (first < 0) return;
    snprintf(picture, sizeof picture, "%s-%s.png", base, group_names[g]);
    snprintf(data, sizeof data, "%s.dat", base);
    printf("  %s\n", picture);
    fprintf(file, "\nset output ");
    quoted(file, picture);
    fprintf(file, "\nset title ");
    quoted(file, device.info.device_name);
    fprintf(file, " noenhanced\nplot ");
    for (i = 0; i < ROWS; i++) {
        const int plain = strcmp(rows[i].dist, "rand") == 0;
        const char *color;
        if (rows[i].group != g || index[i] < 0) continue;
        color = colors[next++ % 8];
        snprintf(name, sizeof name, "%s %s%s%s", rows[i].op, rows[i].type, plain ? "" : " ", plain ? "" : rows[i].dist);
        quoted(file, data);
        fprintf(file, " index %d using 1:2 with linespoints lc %s pt 7 ps 0.7 lw 2 title '%s', \\\n     ", index[i],
                color, name);
        if (!has_reference(&rows[i])) continue;
        quoted(file, data);
        fprintf(file, " index %d using 1:5 with linespoints lc %s pt 6 ps 0.7 dt 2 title '%s: %s', \\\n     ", index[i],
                color, name, reference_name);
    }
    quoted(file, data);
    fprintf(file, " index %d using 1:3 with lines lc rgb 'black' lw 2 title 'copy of the bytes of %s %s', \\\n     ",
            index[first], rows[first].op, rows[first].type);
    quoted(file, data);
    fprintf(file, " index %d using 1:4 with lines lc rgb 'gray' lw 2 title 'C loop, %s %s'\n", index[first],
            rows[first].op, rows[first].type);
}

/* gnuplot's script, PREFIX.gp. It names only files of its folder, and runs there, so that all can be moved. */
static const char *plot_base(const char *prefix) {
    const char *base = prefix, *p;
    for (p = prefix; *p; p++)
        if (*p == '/' || *p == '\\') base = p + 1;
    return base;
}

static FILE *begin_plot(const char *prefix, const char *what, int width, int height) {
    char path[600];
    FILE *file;
    snprintf(path, sizeof path, "%s.gp", prefix);
    file = fopen(path, "w");
    if (file == NULL) die("cannot write %s", path);
    fprintf(file, "# %s\n"
                  "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) set terminal pngcairo size %d,%d font ',11'; "
                  "else set terminal png size %d,%d\n",
            what, width, height, width, height);
    return file;
}

static void end_plot(FILE *file, const char *prefix) {
    char command[1300], folder[600] = ".";
    const char *base = plot_base(prefix);
    if (base != prefix) snprintf(folder, sizeof folder, "%.*s", (int)(base - prefix), prefix);
    fclose(file);
#ifdef _WIN32
    snprintf(command, sizeof command, "cd /d \"%s\" && gnuplot \"%s.gp\"", folder, base);
#else
    snprintf(command, sizeof command, "cd \"%s\" && gnuplot \"%s.gp\"", folder, base);
#endif
    fflush(stdout);
    if (system(command) != 0) printf("not drawn; once gnuplot is there: %s\n", command);
}

static void plot(const char *prefix) {
    char path[600];
    int index[ROWS];
    FILE *file;
    int g;
    snprintf(path, sizeof path, "%s.dat", prefix);
    write_plot_data(path, index);
    file = begin_plot(prefix, "Bandwidth over size: gnuplot draws a picture each of scan, reduce and histogram.", 1280,
                      800);
    fprintf(file, "set datafile missing '?'\n"
                  "set logscale x 2\nset format x '2^{%%L}'\nset grid\nset key outside right noenhanced\n"
                  "set xlabel 'elements'\nset ylabel 'GB/s of bytes that must be read and written'\n"
                  "set yrange [0:*]\n");
    printf("\npictures, drawn by gnuplot from %s.gp:\n", prefix);
    for (g = 0; g < GROUPS; g++) write_plot_group(file, plot_base(prefix), index, (bench_group)g);
    end_plot(file, prefix);
}

static cl_kernel empty_kernel(void) {
    return new_kernel("__kernel void nothing(void) {}\n", "nothing");
}

/* Makes an image of the pixels at a buffer's begin, bytes each: one number or four. */
static cl_mem image_of(cl_mem buffer, size_t bytes, uint64_t width, uint64_t height) {
    cl_image_format format = {CL_R, CL_UNSIGNED_INT8};
    const size_t origin[3] = {0, 0, 0};
    size_t region[3] = {0, 0, 1};
    cl_image_desc desc;
    cl_mem image;
    cl_int status;
    if (bytes == 4) format.image_channel_order = CL_RGBA;
    memset(&desc, 0, sizeof desc);
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = region[0] = (size_t)width;
    desc.image_height = region[1] = (size_t)height;
    image = cl.clCreateImage(device.info.context, CL_MEM_READ_ONLY, &format, &desc, NULL, &status);
    must(status, "clCreateImage");
    must(copy_to_image(device.queue, buffer, image, 0, origin, region, 0, NULL, NULL), "copy to an image");
    must(cl.clFinish(device.queue), "finish");
    return image;
}

#include "sweep.h"

/* ---- the run ----------------------------------------------------------------------------------------------------- */

typedef struct options {
    const char *device, *csv, *plot, *reference, *filter;
    int quick, sweep, tune, max_log; /* max_log 0: as the device's kind and memory allow */
    int only;           /* a group, or -1 */
    gpuscan_strategy strategy;
} options;

/* Gives the sizes, ascending; 0 ends the list. */
static void choose_sizes(const options *o, const bench_row *r, uint64_t sizes[40]) {
    static const unsigned quick[] = {10, 16, 20, 24};
    const int max_log = o->max_log ? o->max_log : r->host ? 26 : timed_by_events() ? 30 : 28;
    const uint64_t share = device.memory / 3; /* the copy needs as much, the C loop perhaps, too */
    uint64_t wanted[40];
    unsigned count = 0, kept = 0, i;
    int log;
    if (o->quick) {
        for (i = 0; i < 4; i++) wanted[count++] = (uint64_t)1 << quick[i];
    } else {
        wanted[count++] = 16;
        if (made(r) == RANKS) wanted[count++] = 256;
        for (log = 10; log <= 34; log += 2) {
            if (log == 28 && r->group == HISTOGRAM) wanted[count++] = 100000000;
            wanted[count++] = (uint64_t)1 << log;
        }
    }
    for (i = 0; i < count; i++) {
        const uint64_t src = wanted[i] * source_size(r);
        uint64_t dst;
        set_raster(wanted[i]);
        dst = result_bytes(r, wanted[i]);
        if (wanted[i] > (uint64_t)1 << max_log) continue;
        if (made(r) == RANKS && wanted[i] > BLOCK) continue; /* the loop takes a whole histogram at a time */
        if (is_of_image(r) && (raster.width > device.image_width || raster.height > device.image_height)) continue;
        if (r->host && src + dst > HOST_BYTES) continue;
        if (src > device.largest_buffer || dst > device.largest_buffer || src + dst > share) continue;
        sizes[kept++] = wanted[i];
    }
    sizes[kept] = 0;
}

/* Fills a block of elements of size bytes, and repeats it up to n elements. */
static void fill_host(void (*fill)(void *data, size_t bytes), size_t size, void *data, uint64_t n) {
    uint64_t done = n < BLOCK ? n : BLOCK;
    fill(data, (size_t)done * size);
    while (done < n) {
        const uint64_t more = n - done < done ? n - done : done;
        memcpy((char *)data + done * size, data, (size_t)(more * size));
        done += more;
    }
}

static void fill_device(size_t size, cl_mem buffer, const void *block, uint64_t n) {
    const uint64_t bytes = (n < BLOCK ? n : BLOCK) * size;
    must(cl.clEnqueueWriteBuffer(device.queue, buffer, CL_TRUE, 0, (size_t)bytes, block, 0, NULL, NULL), "write");
    repeat_bytes(buffer, bytes, n * size);
}

/* Makes flags as make_flags does, on the device. */
static const char *const flags_source =
    "__kernel void flag(__global const uint *a, __global uchar *flags, ulong n, uint below) {\n"
    "    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) flags[i] = a[i] < below;\n"
    "}\n";

static void flag_device(const bench_row *r, cl_mem src, cl_mem flags, uint64_t n) {
    static cl_kernel kernel;
    const cl_ulong count = n;
    const cl_uint below = threshold(r->bins);
    const size_t local = 64, global = local * 4096;
    if (kernel == NULL) kernel = new_kernel(flags_source, "flag");
    must(cl.clSetKernelArg(kernel, 0, sizeof src, &src), "argument");
    must(cl.clSetKernelArg(kernel, 1, sizeof flags, &flags), "argument");
    must(cl.clSetKernelArg(kernel, 2, sizeof count, &count), "argument");
    must(cl.clSetKernelArg(kernel, 3, sizeof below, &below), "argument");
    must(cl.clEnqueueNDRangeKernel(device.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "launch");
    must(cl.clFinish(device.queue), "finish");
}

/* Makes keys in runs, or values: for the loop's elements, and on the device. */
static cl_mem make_beside(const bench_row *r, uint64_t n, uint64_t largest) {
    const size_t size = beside_size(r);
    cl_mem buffer = new_buffer(largest * size);
    if (buffer == NULL) die("no device memory for keys or values");
    beside = allocate(n * size);
    fill_host(has_values(r) ? fill_steps_f32 : r->bins == 25 ? fill_short : fill_long, size, beside, n);
    fill_device(size, buffer, beside, largest);
    return buffer;
}

static void report_failure(const bench_row *r, uint64_t n, const char *what, const char *detail) {
    char size[32];
    progress("%s", "");
    printf("%12s  %s %s\n", size_text(n, size, sizeof size), what, detail);
    fprintf(stderr, "bench: %s %s %s, n = %llu: %s\n", r->op, r->type, r->dist, (unsigned long long)n, what);
    wrong_count++;
}

static void run_size(const job *j, const void *host_src, uint64_t host_n, void *host_dst, void *state) {
    const bench_row *r = j->row;
    bench_result *out = &results[result_count];
    timing t;
    if (!r->host) fill_buffer(j->dst, 0xA5, result_bytes(r, j->n)); /* so that no right result is there before */
    else memset(j->host_dst, 0xA5, (size_t)result_bytes(r, j->n));
    t = measure(j);
    if (t.result != 0) {
        report_failure(r, j->n, gpuscan_result_string(t.result), gpuscan_error(device.gs));
        return;
    }
    if (!result_is_right(j, host_src, state)) {
        report_failure(r, j->n, "WRONG RESULT", "");
        return;
    }
    if (result_count == MAX_RESULTS) die("more than %d results", MAX_RESULTS);
    out->row = r;
    out->n = j->n;
    out->ms = t.ms;
    out->commands = t.commands;
    out->copy_ms = r->host ? (double)NAN : copy_ms(traffic(r, j->n));
    out->loop_ms = j->n <= host_n ? loop_ms(r, host_src, host_dst, j->n, state) : (double)NAN;
    out->reference_ms = reference_ms(r, j->n);
    result_count++;
    progress("%s", "");
    print_result(out);
    csv_result(out);
}

static void run_row(const options *o, const bench_row *r, int number) {
    uint64_t sizes[40], largest = 0, host_n = 0, block_n;
    void *host_src, *host_dst, *state;
    job j = {0};
    int i;
    if (!device.info.has_f64 && (r->src == GPUSCAN_TYPE_F64 || r->dst == GPUSCAN_TYPE_F64)) return;
    if (is_of_image(r) && !device.info.has_images) return;
    choose_sizes(o, r, sizes);
    for (i = 0; sizes[i]; i++) {
        largest = sizes[i];
        if (loop_bytes(r, largest) <= HOST_BYTES) host_n = largest;
    }
    if (largest == 0) return;
    set_raster(largest);
    progress("[%d/%d] %s %s %s: making the input", number, ROWS, r->op, r->type, r->dist);

    block_n = largest < BLOCK ? largest : BLOCK;
    host_src = allocate((host_n > block_n ? host_n : block_n) * source_size(r));
    host_dst = allocate(result_bytes(r, host_n));
    state = allocate(result_bytes(r, 1) + 2 * sizeof(uint64_t));
    raster.above = allocate(raster.width * type_size(r->dst));
    start_state(r, state);
    fill_host(r->fill, source_size(r), host_src, host_n > block_n ? host_n : block_n);
    j.enqueue = enqueue_functions[r->group];
    j.blocking = r->host;
    j.row = r;
    j.queue = device.queue;
    j.strategy = o->strategy;
    j.host_src = host_src;
    if (r->host) {
        j.host_dst = allocate(result_bytes(r, largest));
    } else {
        j.src = new_buffer(largest * source_size(r));
        j.dst = new_buffer(result_bytes(r, largest));
        if (j.src == NULL || j.dst == NULL) die("no device memory for 2 buffers of %s %s", r->op, r->type);
        fill_device(source_size(r), j.src, host_src, largest);
    }
    if (has_flags(r)) {
        const uint64_t n = host_n > block_n ? host_n : block_n;
        select_flags = (unsigned char *)allocate(n);
        make_flags(r, (const uint32_t *)host_src, n);
        j.flags = new_buffer(largest);
        if (j.flags == NULL) die("no device memory for flags");
        flag_device(r, j.src, j.flags, largest);
    }
    if (has_keys(r) || has_values(r)) j.flags = make_beside(r, host_n > block_n ? host_n : block_n, largest);
    if (r->group == SORT) {
        const uint64_t n = host_n > block_n ? host_n : block_n;
        sort_room = allocate(n * source_size(r));
        sort_values = allocate(2 * n * r->range);
        memset(sort_values, 0, (size_t)(2 * n * r->range));
        if (r->range) {
            j.flags = new_buffer(largest * r->range);
            if (j.flags == NULL) die("no device memory for values");
            fill_device(source_size(r), j.flags, host_src, largest);
        }
    }

    print_heading(r);
    for (i = 0; sizes[i]; i++) {
        char text[32];
        const unsigned before = result_count;
        j.n = sizes[i];
        set_raster(j.n);
        j.image = is_of_image(r) ? image_of(j.src, source_size(r), raster.width, raster.height) : NULL;
        progress("[%d/%d] %s %s %s: %s", number, ROWS, r->op, r->type, r->dist, size_text(j.n, text, sizeof text));
        run_size(&j, host_src, host_n, host_dst, state);
        if (j.image != NULL) cl.clReleaseMemObject(j.image);
        if (result_count > before && results[before].ms > TOO_SLOW_MS && sizes[i + 1]) {
            printf("%12s\n", "(larger ones left out)");
            break;
        }
    }
    if (j.src != NULL) cl.clReleaseMemObject(j.src);
    if (j.dst != NULL) cl.clReleaseMemObject(j.dst);
    if (j.flags != NULL) cl.clReleaseMemObject(j.flags);
    if (has_flags(r)) free(select_flags);
    if (has_keys(r) || has_values(r)) free(beside);
    if (r->group == SORT) {
        free(sort_room);
        free(sort_values);
    }
    free(j.host_dst);
    free(host_src);
    free(host_dst);
    free(state);
    free(raster.above);
}

#include "tune.h"

/* Returns the time of an object's first scan, from nothing. With a blob, the programs come from it. */
static double first_use_ms(const char *name, const void *blob, size_t blob_size, void **blob_out,
                           size_t *blob_out_size) {
    enum { COUNT = 65536 };
    gpuscan *gs = NULL;
    gpuscan_desc desc = {0};
    uint32_t *data = (uint32_t *)allocate(COUNT * sizeof *data);
    const double start = now_ms();
    double end;
    gpuscan_info info;
    gpuscan_scan_desc scan = {0};
    cl_mem buffer;
    cl_int status;
    fill_random(data, COUNT * sizeof *data);
    desc.device_name = name;
    must(gpuscan_create(&gs, &desc), "gpuscan_create");
    if (blob != NULL) must(gpuscan_set_blob(gs, blob, blob_size), "gpuscan_set_blob");
    must(gpuscan_get_info(gs, &info), "gpuscan_get_info");
    buffer = cl.clCreateBuffer(info.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, COUNT * sizeof *data, data,
                               &status);
    must(status, "clCreateBuffer");
    scan.src.mem = scan.dst.mem = buffer;
    scan.count = COUNT;
    status = gpuscan_scan(gs, &scan);
    if (status != 0) die("first scan: %s: %s", gpuscan_result_string(status), gpuscan_error(gs));
    must(gpuscan_get_info(gs, &info), "gpuscan_get_info");
    must(cl.clFinish(info.queue), "clFinish");
    end = now_ms();
    if (blob_out != NULL) {
        *blob_out_size = 0;
        must(gpuscan_get_blob(gs, NULL, blob_out_size), "gpuscan_get_blob");
        *blob_out = allocate(*blob_out_size);
        must(gpuscan_get_blob(gs, *blob_out, blob_out_size), "gpuscan_get_blob");
    }
    cl.clReleaseMemObject(buffer);
    gpuscan_destroy(gs);
    free(data);
    return end - start;
}

static void run_first_use(const options *o) {
    void *blob = NULL;
    size_t blob_size = 0;
    double first, again, with_blob;
    progress("first use");
    first = first_use_ms(o->device, NULL, 0, &blob, &blob_size);
    again = first_use_ms(o->device, NULL, 0, NULL, NULL);
    with_blob = first_use_ms(o->device, blob, blob_size, NULL, NULL);
    free(blob);
    progress("%s", "");
    printf("\nfirst use: an object and its first scan (the driver may have programs in its own cache)\n"
           "%12.1f ms  the first in this process, the driver's start included\n"
           "%12.1f ms  the second\n%12.1f ms  with a blob of %lu bytes\n",
           first, again, with_blob, (unsigned long)blob_size);
    csv_overhead("first_use", "u32", 65536, first, 0);
    csv_overhead("second_use", "u32", 65536, again, 0);
    csv_overhead("blob_use", "u32", 65536, with_blob, 0);
}

static void run_overheads(const options *o) {
    static const char *const names[] = {"exclusive_scan", "reduce", "hist256"};
    enum { COUNT = 1 << 16 };
    enum { CALL, ALONE, EMPTY }; /* in this order: enqueue_launched repeats the call's launch, the last one before it;
                                    then only the call changes kernels, which takes some drivers time */
    job j = {0}, turns[MAX_TURNS];
    timing t[MAX_TURNS];
    cl_int status;
    int i, k;
    progress("launches");
    j.enqueue = enqueue_kernel;
    j.kernel = empty_kernel();
    j.queue = device.queue;
    t[EMPTY] = measure(&j);
    must(t[EMPTY].result, "an empty kernel");
    progress("%s", "");
    printf("\nlaunches\n%12.2f us  an empty kernel, %s\n", 1e3 * t[EMPTY].ms,
           timed_by_events() ? "on the device" : "enqueued and finished");
    csv_overhead("empty_kernel", "-", 0, t[EMPTY].ms, 1);

    j.queue = cl.clCreateCommandQueue(device.info.context, device.info.device, 0, &status);
    must(status, "clCreateCommandQueue");
    j.src = new_buffer(COUNT * 4);
    j.dst = new_buffer(COUNT * 4);
    if (j.src == NULL || j.dst == NULL) die("no device memory");
    fill_buffer(j.src, 1, COUNT * 4);
    j.n = COUNT;
    j.strategy = o->strategy;
    for (i = 0; i < 3; i++) {
        const bench_row *r = rows;
        char name[64];
        unsigned n;
        while (r->host || strcmp(r->op, names[i]) != 0) r++;
        for (k = 0; k < MAX_TURNS; k++) turns[k] = j;
        turns[CALL].row = r;
        turns[CALL].enqueue = enqueue_functions[r->group];
        turns[ALONE].enqueue = enqueue_launched;
        measure_enqueues(turns, MAX_TURNS, t);
        must(t[EMPTY].result, "an empty kernel");
        if (i == 0) csv_overhead("enqueue_bare", "-", 0, t[EMPTY].ms, 1);
        if (t[CALL].result != 0) {
            report_failure(r, j.n, gpuscan_result_string(t[CALL].result), gpuscan_error(device.gs));
            continue;
        }
        must(t[ALONE].result, "a launch alone");
        n = t[CALL].commands ? t[CALL].commands : 1;
        printf("%12.2f us  of the host's time to enqueue %s %s: %u command(s), each as long as %.2f bare launches of\n"
               "                 an empty kernel (%.2f us)",
               1e3 * t[CALL].ms, r->op, r->type, t[CALL].commands, t[CALL].ms / t[EMPTY].ms / n, 1e3 * t[EMPTY].ms);
        if (t[CALL].commands == 1) printf(", or %.2f of its own", t[CALL].ms / t[ALONE].ms);
        printf("\n");
        snprintf(name, sizeof name, "enqueue_%s", r->op);
        csv_overhead(name, r->type, j.n, t[CALL].ms, t[CALL].commands);
    }
    cl.clReleaseMemObject(j.src);
    cl.clReleaseMemObject(j.dst);
    cl.clReleaseCommandQueue(j.queue);
    cl.clReleaseKernel(j.kernel);
}

static const char *const strategy_names[GPUSCAN_STRATEGY_COUNT] = {
    "auto", "multi-pass", "single-pass", "single-pass-ahead", "cpu-multi-pass", "cpu-single-pass"};

static void usage(void) {
    printf("bench: how fast gpuscan is on your device\n\n"
           "  --quick             four sizes up to 2^24\n"
           "  --sweep             every operation beside these rows, the worst first; --quick: large inputs only\n"
           "  --tune              print the numbers of a profile that suit the device, as C text;\n"
           "                      --quick: two values each\n"
           "  --only GROUP        scan, reduce, histogram, select, runs, sort or picture\n"
           "  --filter TEXT       only rows whose \"op type dist\" contains TEXT\n"
           "  --max LOG2N         the largest input (default: 30 on a GPU, 28 on a CPU, as memory allows)\n"
           "  --device NAME       a part of the device's or the platform's name\n"
           "  --strategy NAME     auto, multi-pass, single-pass, single-pass-ahead, cpu-multi-pass, cpu-single-pass\n"
           "  --csv FILE          write the results there, too\n"
           "  --reference FILE    compare with other times: lines op,type,n,dist,ms, as --csv writes them\n"
           "  --plot PREFIX       write PREFIX.dat and PREFIX.gp and let gnuplot draw PREFIX-scan.png and so on;\n"
           "                      with --sweep PREFIX-sweep.png, all cases side by side\n");
}

static void read_options(options *o, int argc, char **argv) {
    int i, k;
    memset(o, 0, sizeof *o);
    o->only = -1;
    for (i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
            usage();
            exit(0);
        }
        if (strcmp(name, "--quick") == 0) {
            o->quick = 1;
            continue;
        }
        if (strcmp(name, "--sweep") == 0) {
            o->sweep = 1;
            continue;
        }
        if (strcmp(name, "--tune") == 0) {
            o->tune = 1;
            continue;
        }
        if (value == NULL) die("%s: unknown, or its value is missing (--help lists the options)", name);
        i++;
        if (strcmp(name, "--device") == 0) {
            o->device = value;
        } else if (strcmp(name, "--csv") == 0) {
            o->csv = value;
        } else if (strcmp(name, "--plot") == 0) {
            if (strlen(value) > 500) die("--plot: the prefix is too long");
            o->plot = value;
        } else if (strcmp(name, "--reference") == 0) {
            o->reference = value;
        } else if (strcmp(name, "--filter") == 0) {
            o->filter = value;
        } else if (strcmp(name, "--max") == 0) {
            o->max_log = atoi(value);
            if (o->max_log < 4 || o->max_log > 34) die("--max: a number from 4 to 34");
        } else if (strcmp(name, "--only") == 0) {
            for (k = 0; k < GROUPS; k++)
                if (strcmp(value, group_names[k]) == 0) o->only = k;
            if (o->only < 0) die("--only: scan, reduce, histogram, select, runs, sort or picture");
        } else if (strcmp(name, "--strategy") == 0) {
            for (k = 0; k < GPUSCAN_STRATEGY_COUNT; k++)
                if (strcmp(value, strategy_names[k]) == 0) break;
            if (k == GPUSCAN_STRATEGY_COUNT) die("--strategy: see --help");
            o->strategy = (gpuscan_strategy)k;
        } else {
            die("%s: unknown (--help lists the options)", name);
        }
    }
}

static int is_wanted(const options *o, const bench_row *r) {
    char text[160];
    snprintf(text, sizeof text, "%s %s %s", r->op, r->type, r->dist);
    return (o->only < 0 || o->only == (int)r->group) && (o->filter == NULL || strstr(text, o->filter) != NULL);
}

int main(int argc, char **argv) {
    options o;
    const double start = now_ms();
    int i;
    read_options(&o, argc, argv);
    if (o.quick) budget_ms = 30.0;
    if (o.reference != NULL) read_reference(o.reference);
    load_opencl();
    open_device(o.device);
    if (o.csv != NULL) open_csv(o.csv, o.sweep);
    printf("%s\n%s, driver %s; gpuscan's profile: %s\n", device.info.device_name, device.info.platform_name,
           device.driver, device.info.profile);
    printf("times: medians by %s; *: small enough to stay in a cache\n",
           timed_by_events() ? "device events, from a call's first command to the end of its last"
                             : "the wall clock, from the call to its completion");
    if (o.tune) run_tune(o.only, o.quick);
    if (o.sweep) run_sweep(o.filter, o.quick, o.plot);
    o.sweep |= o.tune; /* neither takes the rows below */
    if (!o.sweep && o.filter == NULL && o.only < 0) {
        run_first_use(&o);
        run_overheads(&o);
    }
    for (i = 0; i < ROWS && !o.sweep; i++)
        if (is_wanted(&o, &rows[i])) run_row(&o, &rows[i], i + 1);
    progress("%s", "");
    if (o.plot != NULL && !o.sweep) plot(o.plot);
    if (!o.sweep)
        printf("\n%u results checked and right, %u wrong or failed, in %.0f s\n", result_count, wrong_count,
           1e-3 * (now_ms() - start));
    if (csv != NULL) fclose(csv);
    cl.clReleaseCommandQueue(device.queue);
    gpuscan_destroy(device.gs);
    free(anchors);
    return wrong_count != 0 || sweep.failed != 0;
}
