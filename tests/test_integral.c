/* gpuscan_integral and gpuscan_integral_host against the reference, and sums of boxes against direct sums.
      cc -O2 tests/test_integral.c -o build/test_integral -lcmocka -lOpenCL -lm && build/test_integral */
#include "integrals.h"

static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                              GPUSCAN_STRATEGY_CPU_MULTI_PASS};

static void check(integral_case c) {
    int s;
    for (s = 1; s < 3; s++)
        test_strategies(&integrals, &c, (int)strategies[s], (int)strategies[s]);
}

static void check_one(integral_case c) {
    gpuscan_strategy s = strategies[test.turn++ % 3];
    if (test.is_long)
        check(c);
    else
        test_strategies(&integrals, &c, (int)s, (int)s);
}

/* ---- golden values ----------------------------------------------------------------------------------------------- */

enum { BOX_WIDTH = 9, BOX_HEIGHT = 7 };

static void box_picture(gpuscan_type type, void *pixels) {
    static const uint8_t first[9] = {3, 1, 4, 1, 5, 9, 2, 6, 5};
    uint64_t             i;
    for (i = 0; i < BOX_WIDTH * BOX_HEIGHT; i++) {
        uint64_t x = i < 9 ? first[i] : test_below(256);
        if (type == GPUSCAN_TYPE_U32) /* some wrap around */
            x = i % 5 ? x : UINT32_MAX - x;
        ref_store(type, pixels, i, ref_is_float(type) ? ref_real((double)x) : ref_bits(x));
    }
}

/* Compares every box sum of a small image, from four elements of an EXCLUSIVE table, with a sum of its pixels. */
static void check_boxes(gpuscan_type src, gpuscan_type dst, int square) {
    unsigned char         pixels[BOX_WIDTH * BOX_HEIGHT * 8], table[(BOX_WIDTH + 1) * (BOX_HEIGHT + 1) * 8];
    gpuscan_integral_desc d;
    int                   x0, x1, y0, y1, x, y;
    test_case("boxes of %s to %s%s", test_type_name(src), test_type_name(dst), square ? ", squares" : "");
    box_picture(src, pixels);
    memset(&d, 0, sizeof d);
    d.src_type = src;
    d.dst_type = dst;
    d.square = square;
    test_ok(gpuscan_integral_host(test.gs, pixels, table, BOX_WIDTH, BOX_HEIGHT, &d));
    for (y0 = 0; y0 <= BOX_HEIGHT; y0++)
        for (y1 = y0; y1 <= BOX_HEIGHT; y1++)
            for (x0 = 0; x0 <= BOX_WIDTH; x0++)
                for (x1 = x0; x1 <= BOX_WIDTH; x1++) {
                    ref_value direct = ref_is_float(dst) ? ref_real(0) : ref_bits(0), corner[4], sum;
                    const int at[4][2] = {{x1, y1}, {x0, y0}, {x0, y1}, {x1, y0}};
                    int       k;
                    for (y = y0; y < y1; y++)
                        for (x = x0; x < x1; x++) {
                            ref_value v = ref_convert(dst, src, ref_load(src, pixels, (uint64_t)(y * BOX_WIDTH + x)));
                            direct = ref_combine(dst, GPUSCAN_OP_ADD, direct,
                                                 square ? ref_combine(dst, GPUSCAN_OP_MUL, v, v) : v);
                        }
                    for (k = 0; k < 4; k++)
                        corner[k] = ref_load(dst, table, (uint64_t)(at[k][1] * (BOX_WIDTH + 1) + at[k][0]));
                    if (ref_is_float(dst))
                        sum = ref_real(corner[0].real + corner[1].real - corner[2].real - corner[3].real);
                    else
                        sum = ref_wrap(dst, corner[0].bits + corner[1].bits - corner[2].bits - corner[3].bits);
                    if (ref_is_float(dst) ? sum.real != direct.real : sum.bits != direct.bits)
                        fail_msg("%s: box %d %d to %d %d", test.what, x0, y0, x1, y1);
                }
}

static void boxes(void **state) {
    (void)state;
    check_boxes(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, 0);
    check_boxes(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, 1);
    check_boxes(GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, 0);
    check_boxes(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, 0);
}

/* The header's example of a 3 x 2 image. */
static void layout(void **state) {
    static const uint8_t  pixels[6] = {1, 2, 3, 4, 5, 6};
    static const uint32_t exclusive[12] = {0, 0, 0, 0, 0, 1, 3, 6, 0, 5, 12, 21}, inclusive[6] = {1, 3, 6, 5, 12, 21};
    static const uint32_t squares[6] = {1, 5, 14, 17, 46, 91};
    uint32_t              table[12];
    gpuscan_integral_desc d;
    (void)state;
    test_case("a table of 3 x 2");
    test_ok(gpuscan_integral_host(test.gs, pixels, table, 3, 2, NULL));
    test_same(GPUSCAN_TYPE_U32, table, exclusive, 12);
    memset(&d, 0, sizeof d);
    d.kind = GPUSCAN_INCLUSIVE;
    test_ok(gpuscan_integral_host(test.gs, pixels, table, 3, 2, &d));
    test_same(GPUSCAN_TYPE_U32, table, inclusive, 6);
    d.square = 1;
    test_ok(gpuscan_integral_host(test.gs, pixels, table, 3, 2, &d));
    test_same(GPUSCAN_TYPE_U32, table, squares, 6);
}

/* Sums beyond 32 bits: all pixels are the largest. */
static void wraps(void **state) {
    const uint64_t        width = 67, height = 41;
    uint32_t             *pixels = (uint32_t *)test_alloc(width * height * 4), *table;
    gpuscan_integral_desc d;
    uint64_t              i, x, y;
    (void)state;
    test_case("a table that wraps");
    table = (uint32_t *)test_alloc((width + 1) * (height + 1) * 4);
    for (i = 0; i < width * height; i++)
        pixels[i] = UINT32_MAX;
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_U32;
    test_ok(gpuscan_integral_host(test.gs, pixels, table, width, height, &d));
    for (y = 0; y <= height; y++)
        for (x = 0; x <= width; x++)
            if (table[y * (width + 1) + x] != (uint32_t)(0 - x * y))
                fail_msg("%s: at %u %u", test.what, (unsigned)x, (unsigned)y);
    free(pixels);
    free(table);
}

/* ---- against the reference --------------------------------------------------------------------------------------- */

static void small_sizes(void **state) {
    const uint64_t most = test_size(4, 11, 40);
    uint64_t       w, h;
    integral_case  c;
    (void)state;
    for (h = 0; h <= most; h++)
        for (w = 0; w <= most; w++) {
            c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, w, h);
            c.kind = (w + h) % 3 ? GPUSCAN_EXCLUSIVE : GPUSCAN_INCLUSIVE;
            check(c);
        }
}

/* Sizes near the strips, groups and bands of all devices. */
static void edges_and_random_sizes(void **state) {
    static const uint64_t widths[] = {31, 127, 128, 129, 255, 257, 1023, 1024, 1025, 2051}, heights[] = {7, 15, 16, 63};
    integral_case         c;
    uint64_t              i;
    (void)state;
    for (i = 0; i < test_size(2, 10, 10); i++) {
        c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, widths[i], heights[i % 4] + i / 4);
        check(c);
        c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, heights[i % 4], test.is_small ? 40 : widths[i]);
        c.kind = GPUSCAN_INCLUSIVE;
        check(c);
    }
    for (i = 0; i < test_size(3, 30, 200); i++) {
        c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, test_below(test_size(200, 1500, 5000)),
                        test_below(test_size(30, 300, 1000)));
        c.kind = test_below(2) ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        c.src_offset = test_below(20);
        c.dst_offset = test_below(20);
        c.src_gap = test_below(2) * test_below(10);
        c.dst_gap = test_below(2) * test_below(10);
        check(c);
    }
}

static void large(void **state) {
    integral_case c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, test_size(300, 2048, 8192),
                                  test_size(20, 1500, 5000));
    (void)state;
    check(c);
    c.kind = GPUSCAN_INCLUSIVE; /* in whole vectors */
    check(c);
}

static void images_and_gaps(void **state) {
    integral_case c;
    uint64_t      i;
    (void)state;
    for (i = 0; i < test_size(4, 32, 32); i++) {
        c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, 1 + test_below(300), 1 + test_below(50));
        c.images = 1 + test_below(5);
        c.kind = i & 1 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        c.src_gap = i & 2 ? test_below(9) : 0;
        c.dst_gap = i & 4 ? test_below(9) : 0;
        c.src_image_gap = i & 8 ? test_below(1000) : 0;
        c.dst_image_gap = i & 16 ? test_below(1000) : 0;
        check_one(c);
    }
    c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, 101, test_size(9, 70, 70)); /* RGB, rows of 304 bytes */
    c.channels = 3;
    c.in_bytes = 1;
    c.src_gap = 1;
    c.dst_gap = 2;
    c.images = 2;
    check_one(c);
    c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, 3, 2); /* many small images */
    c.images = test_size(50, 3000, 3000);
    check(c);
}

/* Each combination builds a program, so a run takes some of them. */
static void types_and_channels(void **state) {
    static const gpuscan_type to[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U64,
                                      GPUSCAN_TYPE_I64, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64};
    int                       from, t, channels;
    integral_case             c;
    (void)state;
    for (from = GPUSCAN_TYPE_I8; from <= GPUSCAN_TYPE_F64; from++)
        for (t = 0; t < 6; t++)
            for (channels = 1; channels <= 4; channels++) {
                if (!test_share((uint64_t)(from * 24 + t * 4 + channels), 97) || !test_has_type((gpuscan_type)from) ||
                    !test_has_type(to[t]) || (ref_is_float((gpuscan_type)from) && !ref_is_float(to[t])))
                    continue;
                c = an_integral((gpuscan_type)from, to[t], test_size(70, 301, 301), test_size(9, 40, 40));
                c.channels = (uint32_t)channels;
                c.square = (from + t) % 2;
                c.kind = (from + channels) % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
                check_one(c);
                c.width = 64; /* aligned, or not */
                c.dst_offset = (uint64_t)(t % 2);
                c.images = 2;
                c.scratch = (test_scratch_choice)(channels % 3);
                c.events = channels % 2;
                test.turn--;
                check_one(c);
            }
}

static void limited_devices(void **state) {
    static const gpuscan_limits limits[] = {{1, 0, 0, 0}, {100, 1024, 23, 0}, {0, 0, 0, 32}, {0, 0, 0, 8}};
    integral_case               c;
    size_t                      l;
    (void)state;
    for (l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        if (test.is_small ? l != test.seed % 4 : !test_takes_one_of(2, l))
            continue;
        test_limit(&limits[l]);
        c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, 20, test_size(300, 6000, 9000)); /* many bands */
        check(c);
        c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, 3 + l, test_size(70, 300, 3000)); /* one strip */
        check(c);
        c = an_integral(GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, test_size(150, 1301, 1301), test_size(17, 70, 70));
        check(c);
        c.src_gap = 1;
        c.images = 2;
        check(c);
    }
}

/* Checks that floats whose sums round give the same bits in every run and in both kinds. (Stores past a CPU's caches
   align rows, which changes the bits of the other kind.) */
static void same_bits(void **state) {
    const uint64_t        width = test_size(90, 517, 2000), height = test_size(12, 211, 1000);
    float                *pixels = (float *)test_alloc(width * height * 4), *tables[3];
    gpuscan_integral_desc d;
    uint64_t              i, y, cells = (width + 1) * (height + 1);
    (void)state;
    test_case("tables of floats");
    for (i = 0; i < width * height; i++)
        pixels[i] = (float)(test_unit() - 0.25);
    for (i = 0; i < 3; i++)
        tables[i] = (float *)test_alloc(cells * 4);
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_F32;
    for (i = 0; i < 2; i++) {
        test_ok(gpuscan_integral_host(test.gs, pixels, tables[0], width, height, &d));
        if (i == 0)
            memcpy(tables[1], tables[0], cells * 4);
    }
    test_same_bytes(tables[1], tables[0], 4, cells);
    d.kind = GPUSCAN_INCLUSIVE;
    test_ok(gpuscan_integral_host(test.gs, pixels, tables[2], width, height, &d));
    for (y = 0; y < height && (test.gs->device.profile.cpu.prefetch_dst || cells * 4 <= test.gs->device.cache / 2); y++)
        test_same_bytes(tables[2] + y * width, tables[0] + (y + 1) * (width + 1) + 1, 4, width);
    for (i = 0; i < 3; i++)
        free(tables[i]);
    free(pixels);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(layout),          TEST(boxes),           TEST(wraps),
                                       TEST(small_sizes),     TEST(edges_and_random_sizes),
                                       TEST(large),           TEST(images_and_gaps), TEST(types_and_channels),
                                       TEST(limited_devices), TEST(same_bits)};
    test_select();
    return cmocka_run_group_tests_name("integral", tests, test_open, test_close);
}
