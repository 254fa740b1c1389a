/* gpuscan_histogram, gpuscan_integral and gpuscan_reduce of images in every format of the device, against references of
   the pixels as a kernel of this test reads them: errors of the driver's reads are not seen.
      cc -O2 tests/test_images.c -o build/test_images -lcmocka -lOpenCL -lm && build/test_images */
#include "integrals.h"

enum { WIDTH = 83, HEIGHT = 37, X = 5, Y = 3, REGION_WIDTH = 71, REGION_HEIGHT = 29, BINS = 16, FORMATS = 512 };

/* An image and the values of its channels, packed as type. */
typedef struct picture {
    cl_image_format format;
    gpuscan_type    type;
    uint32_t        channels;
    cl_mem          image;
    unsigned char  *pixels; /* WIDTH x HEIGHT */
} picture;

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* Returns the number of channels and which of a read's four numbers they are. */
static uint32_t channels_of(cl_channel_order order, uint32_t *places) {
    uint32_t c;
    for (c = 0; c < 4; c++)
        places[c] = c;
    switch (order) {
    case CL_A:
        places[0] = 3;
        return 1;
    case CL_RA:
        places[1] = 3;
        return 2;
    case CL_R:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_Rx:
        return 1;
    case CL_RG:
    case CL_RGx:
        return 2;
    case CL_RGB:
    case CL_RGBx:
        return 3;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB:
        return 4;
    }
    return 0;
}

static gpuscan_type type_of(cl_channel_type channel) {
    switch (channel) {
    case CL_SIGNED_INT8:
        return GPUSCAN_TYPE_I8;
    case CL_SIGNED_INT16:
        return GPUSCAN_TYPE_I16;
    case CL_SIGNED_INT32:
        return GPUSCAN_TYPE_I32;
    case CL_UNSIGNED_INT8:
        return GPUSCAN_TYPE_U8;
    case CL_UNSIGNED_INT16:
        return GPUSCAN_TYPE_U16;
    case CL_UNSIGNED_INT32:
        return GPUSCAN_TYPE_U32;
    }
    return GPUSCAN_TYPE_F32;
}

/* Returns the bytes of a pixel, whose channels have one size. */
static size_t pixel_bytes(cl_image_format format) {
    uint32_t places[4], channels = channels_of(format.image_channel_order, places);
    switch (format.image_channel_data_type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
        return channels;
    case CL_FLOAT:
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
        return (size_t)4 * channels;
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
        return 2;
    case CL_UNORM_INT_101010:
        return 4;
    }
    return (size_t)2 * channels;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

/* Reads four numbers of each pixel with a sampler. */
static void read_pixels(cl_mem image, gpuscan_type type, void *numbers) {
    static const char source[] = "constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE"
                                 " | CLK_FILTER_NEAREST;\n"
                                 "kernel void read(read_only image2d_t image, global VECTOR *numbers, int width) {\n"
                                 "    int x = get_global_id(0), y = get_global_id(1);\n"
                                 "    numbers[y * width + x] = READ(image, nearest, (int2)(x, y));\n"
                                 "}\n";
    const char *lines = source, *options = ref_is_float(type)    ? "-DVECTOR=float4 -DREAD=read_imagef"
                                           : ref_is_signed(type) ? "-DVECTOR=int4 -DREAD=read_imagei"
                                                                 : "-DVECTOR=uint4 -DREAD=read_imageui";
    const cl_int width = WIDTH;
    const size_t pixels = WIDTH * HEIGHT, size[2] = {WIDTH, HEIGHT};
    cl_int       status;
    cl_program   program = clCreateProgramWithSource(test.context, 1, &lines, NULL, &status);
    cl_kernel    kernel;
    cl_mem       out;
    test_cl(status);
    test_cl(clBuildProgram(program, 1, &test.device, options, NULL, NULL));
    kernel = clCreateKernel(program, "read", &status);
    test_cl(status);
    out = clCreateBuffer(test.context, CL_MEM_WRITE_ONLY, pixels * 16, NULL, &status);
    test_cl(status);
    test_cl(clSetKernelArg(kernel, 0, sizeof image, &image));
    test_cl(clSetKernelArg(kernel, 1, sizeof out, &out));
    test_cl(clSetKernelArg(kernel, 2, sizeof width, &width));
    test_cl(clEnqueueNDRangeKernel(test.queue, kernel, 2, NULL, size, NULL, 0, NULL, NULL));
    test_cl(clEnqueueReadBuffer(test.queue, out, CL_TRUE, 0, pixels * 16, numbers, 0, NULL, NULL));
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

/* Fills with random bytes; floats are quarters from -2 to 5.75, so that sums and squares are exact. */
static void fill_picture(cl_image_format format, unsigned char *data, size_t bytes) {
    static const uint16_t halves[8] = {0, 0x3400, 0x3800, 0x3c00, 0xbc00, 0x4500, 0x3a00, 0xb400};
    size_t                i;
    test_random_bytes(data, bytes);
    if (format.image_channel_data_type == CL_HALF_FLOAT)
        for (i = 0; i < bytes / 2; i++)
            memcpy(data + 2 * i, &halves[test_below(8)], 2);
    if (format.image_channel_data_type == CL_FLOAT)
        for (i = 0; i < bytes / 4; i++)
            ref_store(GPUSCAN_TYPE_F32, data, i, ref_real((double)test_below(32) / 4 - 2));
}

/* Checks numbers that OpenCL defines exactly against memory; normalised ones to two units in the last place. */
static void check_red(const picture *p, const unsigned char *data, const uint32_t *numbers) {
    size_t   bytes = pixel_bytes(p->format), i;
    int      is_red_first = p->format.image_channel_order != CL_BGRA && p->format.image_channel_order != CL_ARGB;
    uint32_t place = p->format.image_channel_order == CL_A ? 3 : 0;
    for (i = 0; i < WIDTH * HEIGHT && is_red_first; i++) {
        const unsigned char *at = data + i * bytes;
        const uint32_t       got = numbers[4 * i + place];
        float                real;
        memcpy(&real, &got, sizeof real);
        if (!ref_is_float(p->type)) {
            uint64_t wanted = ref_load(p->type, at, 0).bits;
            assert_int_equal(got, (uint32_t)wanted);
        } else if (p->format.image_channel_data_type == CL_FLOAT) {
            assert_memory_equal(&got, at, 4);
        } else if (p->format.image_channel_data_type == CL_UNORM_INT8) {
            assert_true(fabs((double)real - at[0] / 255.0) <= 2e-7);
        }
    }
}

static picture picture_new(cl_image_format format) {
    uint32_t       places[4], *numbers = (uint32_t *)test_alloc((uint64_t)WIDTH * HEIGHT * 16), c;
    size_t         bytes = pixel_bytes(format) * WIDTH * HEIGHT, i;
    unsigned char *data = (unsigned char *)test_alloc(bytes);
    picture        p;
    p.format = format;
    p.type = type_of(format.image_channel_data_type);
    p.channels = channels_of(format.image_channel_order, places);
    p.pixels = (unsigned char *)test_alloc((uint64_t)WIDTH * HEIGHT * p.channels * ref_size(p.type));
    fill_picture(format, data, bytes);
    p.image = test_image_new(test.context, CL_MEM_READ_ONLY, format.image_channel_order, format.image_channel_data_type,
                             WIDTH, HEIGHT, data);
    read_pixels(p.image, p.type, numbers);
    check_red(&p, data, numbers);
    for (i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        for (c = 0; c < p.channels; c++) {
            uint32_t number = numbers[4 * i + places[c]];
            if (ref_is_float(p.type))
                ref_store(p.type, p.pixels, i * p.channels + c, ref_load(p.type, &number, 0));
            else
                ref_store(p.type, p.pixels, i * p.channels + c, ref_bits(number));
        }
    free(numbers);
    free(data);
    return p;
}

static void picture_free(picture *p) {
    clReleaseMemObject(p->image);
    free(p->pixels);
}

static ref_value channel_at(const picture *p, uint32_t x, uint32_t y, uint32_t c) {
    return ref_load(p->type, p->pixels, ((uint64_t)(Y + y) * WIDTH + X + x) * p->channels + c);
}

/* Returns a channel of the pixel 9 columns to the left and 20 rows below, or of the nearest one in the image. Channel 3
   is the upper right pixel's, since its offsets exceed an int. */
static ref_value neighbour_at(const picture *p, uint32_t x, uint32_t y, uint32_t c) {
    uint64_t column = X + x < 9 ? 0 : X + x - 9, row = Y + y + 20 < HEIGHT ? Y + y + 20 : HEIGHT - 1;
    if (c == 3)
        return ref_load(p->type, p->pixels, (uint64_t)(WIDTH - 1) * p->channels + c);
    return ref_load(p->type, p->pixels, (row * WIDTH + column) * p->channels + c);
}

static cl_uint formats(cl_image_format *all) {
    cl_uint count = 0, i, kept = 0;
    if (!test.info.has_images)
        return 0;
    test_cl(clGetSupportedImageFormats(test.context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, FORMATS, all, &count));
    for (i = 0; i < count && i < FORMATS; i++) {
        uint32_t places[4];
        if (channels_of(all[i].image_channel_order, places))
            all[kept++] = all[i];
    }
    return kept;
}

/* ---- histograms -------------------------------------------------------------------------------------------------- */

/* Returns the even bin, of a width that is a power of two and thus exact. Floats: [-1, 1). */
static uint64_t bin_of(gpuscan_type type, ref_value x) {
    int64_t whole;
    if (ref_is_float(type))
        return x.real < -1 ? BINS : x.real >= 1 ? BINS + 1 : (uint64_t)((x.real + 1) * (BINS / 2));
    whole = (int64_t)x.bits;
    if (ref_is_signed(type))
        return whole < -64 ? BINS : whole >= 64 ? BINS + 1 : (uint64_t)(whole + 64) / (128 / BINS);
    return x.bits < 64 ? BINS : x.bits >= 192 ? BINS + 1 : (x.bits - 64) / (128 / BINS);
}

/* The last of one to four channels in a neighbour; combined, the last that is not 0. */
static const gpuscan_custom last_neighbours[] = {
    {NULL, NULL, 0, "b != 0 ? b : a", "0", "near(-9, 20)", NULL, NULL, NULL},
    {NULL, NULL, 0, "b != 0 ? b : a", "0", "near(-9, 20).y", NULL, NULL, NULL},
    {NULL, NULL, 0, "b != 0 ? b : a", "0", "near(-9, 20).z", NULL, NULL, NULL},
    {NULL, NULL, 0, "b != 0 ? b : a", "0", "near(2147483647, -2147483647).w", NULL, NULL, NULL}};

enum { VALUE = 1, NEIGHBOUR }; /* what an expression gives: the last channel, here or in a neighbour */
typedef struct histogram_way {
    uint32_t channels, mask, tile_width, tile_height;
    int      expression, weighted, counted;
} histogram_way;

static void reference_counts(const picture *p, const histogram_way *way, const uint32_t *weights, uint32_t rows,
                             uint32_t width, uint32_t *counts) {
    uint32_t tile_width = way->tile_width ? way->tile_width : REGION_WIDTH;
    uint32_t tile_height = way->tile_height ? way->tile_height : REGION_HEIGHT;
    uint32_t across = (REGION_WIDTH + tile_width - 1) / tile_width, x, y, c, slot, slots = 0;
    for (c = 0; c < way->channels; c++)
        slots += way->expression ? c == 0 : way->mask >> c & 1;
    for (y = 0; y < rows; y++)
        for (x = 0; x < width; x++)
            for (c = slot = 0; c < (way->expression ? 1 : way->channels); c++) {
                uint32_t  tile = y / tile_height * across + x / tile_width;
                uint32_t  channel = way->expression ? way->channels - 1 : c;
                ref_value s = way->expression == NEIGHBOUR ? neighbour_at(p, x, y, channel)
                                                           : channel_at(p, x, y, channel);
                if (!way->expression && !(way->mask >> c & 1))
                    continue;
                counts[(tile * slots + slot++) * (BINS + 2) + bin_of(p->type, s)] +=
                    way->weighted                  ? weights[y * REGION_WIDTH + x]
                    : way->expression == NEIGHBOUR ? 1 + (X + x + 2 * (Y + y) + x) % 3
                                                   : 1;
            }
}

static void check_histogram(const picture *p, histogram_way way, gpuscan_strategy strategy) {
    static const char *const last[] = {"x", "x.y", "x.z", "x.w"};
    const uint32_t           all = way.channels ? way.channels : p->channels, width = way.counted ? 40 : REGION_WIDTH;
    const uint32_t           counters = 15 * 6 * 4 * (BINS + 2), size = REGION_WIDTH * REGION_HEIGHT;
    uint32_t                *wanted = (uint32_t *)test_alloc(counters * 4), *weights, *before, i, tiles;
    test_buffer              counts, weight_buffer, count;
    gpuscan_histogram_desc   d;
    gpuscan_custom           custom;
    test_case("histogram of an image 0x%x 0x%x, channels %u mask %u tiles %u x %u%s%s%s, %s",
              (unsigned)p->format.image_channel_order, (unsigned)p->format.image_channel_data_type, (unsigned)all,
              (unsigned)way.mask, (unsigned)way.tile_width, (unsigned)way.tile_height,
              way.expression == NEIGHBOUR ? ", neighbour" : way.expression ? ", value" : "",
              way.weighted ? ", weights" : "", way.counted ? ", count" : "", test_strategy_name(strategy));
    memset(&d, 0, sizeof d);
    memset(&custom, 0, sizeof custom);
    d.samples_image.mem = p->image;
    d.samples_image.x = X;
    d.samples_image.y = Y;
    d.count = REGION_WIDTH;
    d.rows = REGION_HEIGHT;
    d.bins = BINS;
    d.outside = GPUSCAN_OUTSIDE_COUNT;
    d.channels = way.channels;
    d.channel_mask = way.mask;
    d.tile_width = way.tile_width;
    d.tile_height = way.tile_height;
    d.call.strategy = strategy;
    if (ref_is_float(p->type)) {
        d.lower.f = -1;
        d.upper.f = 1;
    } else if (ref_is_signed(p->type)) {
        d.lower.i = -64;
        d.upper.i = 64;
    } else {
        d.lower.u = 64;
        d.upper.u = 192;
    }
    custom.convert = way.expression == NEIGHBOUR ? last_neighbours[all - 1].convert : last[all - 1];
    if (way.expression == NEIGHBOUR && !way.weighted)
        d.weight = "1 + (uint)(at.x + 2 * at.y + (int)i) % 3";
    if (way.expression)
        d.custom = &custom;
    weights = (uint32_t *)test_alloc(size * 4);
    for (i = 0; i < size; i++)
        weights[i] = (uint32_t)test_below(5);
    weight_buffer = test_buffer_new(CL_MEM_READ_ONLY, 4, size);
    test_buffer_set(&weight_buffer, 0, size, weights);
    if (way.weighted)
        d.weights = weight_buffer.at;
    count = test_count_buffer(GPUSCAN_TYPE_U32, width);
    if (way.counted)
        d.count_buffer = count.at;
    memset(wanted, 0, counters * 4);
    way.channels = all;
    way.mask = way.mask ? way.mask : (1u << all) - 1;
    reference_counts(p, &way, weights, REGION_HEIGHT, width, wanted);
    tiles = (REGION_WIDTH + (way.tile_width ? way.tile_width : REGION_WIDTH) - 1) /
            (way.tile_width ? way.tile_width : REGION_WIDTH) *
            ((REGION_HEIGHT + (way.tile_height ? way.tile_height : REGION_HEIGHT) - 1) /
             (way.tile_height ? way.tile_height : REGION_HEIGHT));
    for (i = 0; way.mask; way.mask &= way.mask - 1)
        i += way.expression ? i == 0 : 1;
    i *= tiles * (BINS + 2);
    before = (uint32_t *)test_alloc(i * 4);
    memset(before, 0xab, i * 4);
    counts = test_buffer_new(CL_MEM_READ_WRITE, 4, i);
    test_buffer_set(&counts, 0, i, before);
    d.counts = counts.at;
    test_same(GPUSCAN_TYPE_U32, (test_histogram_ran(&d) ? test_buffer_get(&counts) : wanted), wanted, i);
    test_buffer_free(&counts);
    test_buffer_free(&weight_buffer);
    test_buffer_free(&count);
    free(weights);
    free(wanted);
    free(before);
}

static const gpuscan_strategy image_strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_SINGLE_PASS,
                                                    GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS};
static void check_histograms(const picture *p, unsigned turn) {
    const histogram_way ways[] = {{0, 0, 0, 0, 0, 0, 0},         {0, 0, 5, 6, 0, 0, 0}, {0, 0, 0, 0, VALUE, 0, 0},
                                  {1, 0, 0, 7, 0, 1, 0},         {0, 1, 0, 0, 0, 0, 1},
                                  {0, 0, 0, 0, NEIGHBOUR, 0, 1}, {0, 0, 9, 11, NEIGHBOUR, 1, 0},
                                  {p->channels > 1 ? 2 : 1, 0, 13, 0, VALUE, 1, 0}};
    unsigned w, s;
    for (s = 0; s < 4; s++)
        for (w = 0; w < sizeof ways / sizeof *ways; w++)
            if (test.is_long || (w == turn % 8 && s == turn / 8 % 4))
                check_histogram(p, ways[w], image_strategies[s]);
}

/* ---- integral images --------------------------------------------------------------------------------------------- */

/* Checks options by turn. Tables of floats that round must equal those of a buffer bit by bit. */
static void check_integral(const picture *p, unsigned turn) {
    integral_case         c = an_integral(p->type, GPUSCAN_TYPE_DEFAULT, REGION_WIDTH, REGION_HEIGHT);
    integral_layout       in, out;
    gpuscan_integral_desc d;
    unsigned char        *packed, *wanted;
    test_buffer           src, dst;
    uint32_t              x, y, k;
    int                   exact = p->format.image_channel_data_type == CL_FLOAT ||
                p->format.image_channel_data_type == CL_HALF_FLOAT || !ref_is_float(p->type);
    uint32_t              channels = turn % 3 ? p->channels : 1;
    const int             expression = turn / 2 % 3 == 1; /* gives the last of these channels in a neighbour */
    c.channels = expression ? 1 : channels;
    c.kind = turn % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
    c.square = turn / 2 % 2;
    c.dst_gap = turn % 5;
    in = integral_layout_of(&c, 0, 0, 0);
    out = integral_layout_of(&c, c.kind == GPUSCAN_EXCLUSIVE, c.dst_gap, 0);
    packed = (unsigned char *)test_alloc(in.count * ref_size(p->type));
    wanted = (unsigned char *)test_alloc(out.count * 4);
    memset(wanted, 0x5a, (size_t)out.count * 4);
    for (y = 0; y < REGION_HEIGHT; y++)
        for (x = 0; x < REGION_WIDTH; x++)
            for (k = 0; k < c.channels; k++)
                ref_store(p->type, packed, y * in.pitch + x * c.channels + k,
                          expression ? neighbour_at(p, x, y, channels - 1) : channel_at(p, x, y, k));
    dst = test_buffer_new(CL_MEM_READ_WRITE, 4, out.count);
    src = test_buffer_new(CL_MEM_READ_ONLY, ref_size(p->type), in.count);
    memset(&d, 0, sizeof d);
    d.width = REGION_WIDTH;
    d.height = REGION_HEIGHT;
    d.channels = c.channels;
    d.kind = c.kind;
    d.square = c.square;
    d.dst_pitch = c.dst_gap ? out.pitch / c.channels : 0;
    d.call.strategy = turn % 3 == 1 ? GPUSCAN_STRATEGY_MULTI_PASS : GPUSCAN_STRATEGY_CPU_MULTI_PASS;
    d.call.strategy = test_strategy_here(d.call.strategy);
    test_case("integral of an image 0x%x 0x%x, channels %u%s, %s", (unsigned)p->format.image_channel_order,
              (unsigned)p->format.image_channel_data_type, (unsigned)channels, expression ? ", neighbour" : "",
              test_strategy_name(d.call.strategy));
    if (exact) {
        ref_integral(&c, packed, wanted);
    } else { /* its sums round like a buffer's */
        test_buffer_set(&src, 0, in.count, packed);
        test_buffer_set(&dst, 0, out.count, wanted);
        d.src = src.at;
        d.dst = dst.at;
        d.src_type = p->type;
        test_ok(gpuscan_integral(test.gs, &d));
        memcpy(wanted, test_buffer_get(&dst), (size_t)out.count * 4);
        memset(&d.src, 0, sizeof d.src);
    }
    memset(packed, 0x5a, 1);
    {
        unsigned char *before = (unsigned char *)test_alloc(out.count * 4);
        memset(before, 0x5a, (size_t)out.count * 4);
        test_buffer_set(&dst, 0, out.count, before);
        free(before);
    }
    d.dst = dst.at;
    d.src_image.mem = p->image;
    d.src_image.x = X;
    d.src_image.y = Y;
    d.src_type = turn % 2 ? p->type : GPUSCAN_TYPE_DEFAULT;
    d.channels = channels;
    d.custom = expression ? &last_neighbours[channels - 1] : NULL;
    test_ok(gpuscan_integral_prepare(test.gs, &d));
    test_ok(gpuscan_integral(test.gs, &d));
    test_same_bytes(test_buffer_get(&dst), wanted, 4, out.count);
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(packed);
    free(wanted);
}

/* ---- reductions -------------------------------------------------------------------------------------------------- */

/* count: pixels that the device counts, 0: all; whole: rows up to the image's right border */
typedef struct reduce_way {
    gpuscan_op op;
    int        expression, whole, has_init;
    uint32_t   count;
} reduce_way;

static const gpuscan_custom last_of_all = {NULL, NULL, 0, "b != 0 ? b : a", "0", NULL, NULL, NULL, NULL};

/* The last element that is not 0 shows the order. Sums of normalised numbers would round. */
static ref_value reference_reduction(const reduce_way *way, gpuscan_type to, gpuscan_type from, const void *elements,
                                     uint64_t count, const ref_value *init) {
    ref_value last = ref_bits(0), x;
    uint64_t  i;
    if (way->op == GPUSCAN_OP_ARGMIN || way->op == GPUSCAN_OP_ARGMAX)
        return ref_arg(to, from, elements, count, way->op);
    if (way->op != GPUSCAN_OP_CUSTOM)
        return ref_reduce(to, from, elements, count, way->op, init);
    for (i = 0; i < count; i++) {
        x = ref_load(from, elements, i);
        if (ref_is_float(from) ? x.real != 0 : x.bits != 0)
            last = x;
    }
    return last;
}

static void check_reduction(const picture *p, const reduce_way *way, gpuscan_strategy strategy) {
    const uint32_t width = way->whole ? WIDTH - X : REGION_WIDTH, count = width * (HEIGHT - Y) - 5;
    const int      is_arg = way->op == GPUSCAN_OP_ARGMIN || way->op == GPUSCAN_OP_ARGMAX;
    gpuscan_type   to = is_arg                            ? GPUSCAN_TYPE_U32
                        : way->op == GPUSCAN_OP_CUSTOM  ? p->type
                        : ref_is_float(p->type)           ? GPUSCAN_TYPE_F32
                        : ref_is_signed(p->type)          ? GPUSCAN_TYPE_I32
                                                          : GPUSCAN_TYPE_U32;
    unsigned char *elements = (unsigned char *)test_alloc((uint64_t)count * 8), wanted[8], init[8], before[8];
    test_buffer    dst = test_buffer_new(CL_MEM_READ_WRITE, ref_size(to), 1);
    test_buffer    number = test_count_buffer(GPUSCAN_TYPE_U32, way->count);
    gpuscan_reduce_desc d;
    ref_value           start = ref_is_float(to) ? ref_real(3) : ref_bits(3);
    uint32_t            i;
    test_case("%s of an image 0x%x 0x%x%s, %u columns, count %u, %s", test_op_name(way->op),
              (unsigned)p->format.image_channel_order, (unsigned)p->format.image_channel_data_type,
              way->expression ? ", neighbour" : "", (unsigned)width, (unsigned)way->count,
              test_strategy_name(strategy));
    for (i = 0; i < count; i++)
        ref_store(p->type, elements, i,
                  way->expression ? neighbour_at(p, i % width, i / width, p->channels - 1)
                                  : channel_at(p, i % width, i / width, 0));
    memset(&d, 0, sizeof d);
    memset(before, 0xAB, sizeof before);
    test_buffer_set(&dst, 0, 1, before);
    ref_store(to, init, 0, start);
    d.src_image.mem = p->image;
    d.src_image.x = X;
    d.src_image.y = Y;
    d.src_width = way->whole ? 0 : REGION_WIDTH;
    d.count = count;
    d.dst = dst.at;
    d.dst_type = to;
    d.op = way->op;
    d.custom = way->expression ? &last_neighbours[p->channels - 1] : way->op == GPUSCAN_OP_CUSTOM ? &last_of_all : NULL;
    d.init = way->has_init ? init : NULL;
    d.count_buffer = way->count ? number.at : d.count_buffer;
    d.call.strategy = strategy;
    ref_store(to, wanted, 0,
              reference_reduction(way, to, p->type, elements, way->count ? way->count : count,
                                  way->has_init ? &start : NULL));
    test_same(to, (test_reduce_ran(&d) ? test_buffer_get(&dst) : wanted), wanted, 1);
    test_buffer_free(&dst);
    test_buffer_free(&number);
    free(elements);
}

static void check_reductions(const picture *p, unsigned turn) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    const cl_channel_type         channel = p->format.image_channel_data_type;
    const int                     is_exact = !ref_is_float(p->type) || channel == CL_FLOAT || channel == CL_HALF_FLOAT;
    const reduce_way ways[] = {{is_exact ? GPUSCAN_OP_ADD : GPUSCAN_OP_MIN, 0, 0, 1, 0},
                               {GPUSCAN_OP_MAX, 1, 0, 0, 0},      {GPUSCAN_OP_ARGMAX, 0, 1, 0, 0},
                               {GPUSCAN_OP_CUSTOM, 1, 0, 0, 1234}, {GPUSCAN_OP_CUSTOM, 0, 1, 0, 0},
                               {GPUSCAN_OP_ARGMIN, 0, 0, 0, 700}};
    unsigned w, s;
    for (s = 0; s < 5; s++)
        for (w = 0; w < sizeof ways / sizeof *ways; w++)
            if (test.is_long || (w + 5 * s) % 6 == turn % 6)
                check_reduction(p, &ways[w], strategies[s]);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* All formats; a short run takes some, always with normalised bytes. */
static void every_format(void **state) {
    cl_image_format all[FORMATS];
    cl_uint         count = formats(all), i;
    (void)state;
    for (i = 0; i < count; i++) {
        int     usual = all[i].image_channel_order == CL_RGBA && all[i].image_channel_data_type == CL_UNORM_INT8;
        int     in_run = test_share(i, 11);
        picture p;
        if (!in_run && !usual)
            continue;
        p = picture_new(all[i]);
        test.turn++;
        if (test.is_long || usual || (test.turn & 1))
            check_histograms(&p, (unsigned)(test.turn / 2 + test.seed));
        if (test.is_long || usual || !(test.turn & 1))
            check_integral(&p, (unsigned)(test.turn / 2 + test.seed));
        if (test.is_long || usual || test.turn % 4 == 0)
            check_reductions(&p, (unsigned)(test.turn / 4 + test.seed));
        picture_free(&p);
    }
}

/* Returns whether the device has images of a format. */
static int has_format(cl_image_format format) {
    cl_image_format all[FORMATS];
    cl_uint         count = formats(all), i;
    for (i = 0; i < count; i++)
        if (memcmp(&all[i], &format, sizeof format) == 0)
            return 1;
    return 0;
}

/* Expressions that look at neighbours: a weight sees them, too, and where a pixel lies; in every strategy. */
static void neighbours(void **state) {
    static const cl_image_format wanted[] = {
        {CL_RGBA, CL_UNORM_INT8}, {CL_A, CL_UNSIGNED_INT8}, {CL_RG, CL_SIGNED_INT16}};
    cl_uint k, s;
    (void)state;
    for (k = 0; k < 3; k++) {
        picture p;
        if (!has_format(wanted[k]))
            continue;
        p = picture_new(wanted[k]);
        for (s = 0; s < 4; s++)
            if (test_takes_one_of(2, k + s))
                check_histogram(&p, (histogram_way){0, 0, s % 2 ? 9 : 0, s % 2 ? 11 : 0, NEIGHBOUR, 0, s == 2},
                                image_strategies[s]);
        picture_free(&p);
    }
}

/* Sums of equal floats have the errors that the header promises. */
static void sums_of_floats(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_CPU_MULTI_PASS};
    enum { SIDE = 1400 };
    float              *pixels, sum = 0, init = 0.1f;
    gpuscan_reduce_desc d;
    unsigned            s, i;
    cl_event            done = NULL;
    (void)state;
    if (!test.info.has_images)
        return;
    pixels = (float *)test_alloc(sizeof(float) * 4 * SIDE * SIDE);
    for (i = 0; i < 4 * SIDE * SIDE; i++)
        pixels[i] = 0.1f;
    memset(&d, 0, sizeof d);
    d.src_image.mem = test_image_new(test.context, CL_MEM_READ_ONLY, CL_RGBA, CL_FLOAT, SIDE, SIDE, pixels);
    d.count = SIDE * SIDE;
    d.result = &sum;
    d.init = &init;
    d.call.event = &done;
    for (s = 0; s < 3; s++) {
        d.call.strategy = test_strategy_here(strategies[s]);
        test_case("sum of an image of floats, %s", test_strategy_name(d.call.strategy));
        if (!test_reduce_ran(&d))
            continue;
        test_cl(clWaitForEvents(1, &done));
        clReleaseEvent(done);
        assert_true(fabs(sum / ((double)init * (SIDE * SIDE + 1)) - 1) < 1e-6);
    }
    clReleaseMemObject(d.src_image.mem);
    free(pixels);
}

/* Self-tests read images, too: with lanes, and in formats without red. */
static void with_lanes(void **state) {
    static const gpuscan_limits  limits = {0, 0, 0, 32};
    static const cl_image_format wanted[] = {{CL_RGBA, CL_UNORM_INT8}, {CL_A, CL_UNSIGNED_INT8}};
    cl_uint k;
    (void)state;
    test_limit(&limits);
    for (k = 0; k < 2; k++) {
        picture p;
        if (!has_format(wanted[k]))
            continue;
        p = picture_new(wanted[k]);
        check_histogram(&p, (histogram_way){0, 0, 0, 0, 0, 0, 0}, GPUSCAN_STRATEGY_SINGLE_PASS);
        if (test.is_long || k == 0)
            check_integral(&p, 1);
        check_reduction(&p, &(reduce_way){GPUSCAN_OP_CUSTOM, 1, 0, 0, 0}, GPUSCAN_STRATEGY_SINGLE_PASS);
        check_reduction(&p, &(reduce_way){GPUSCAN_OP_MAX, 0, 0, 0, 0}, GPUSCAN_STRATEGY_MULTI_PASS);
        check_histogram(&p, (histogram_way){0, 0, 0, 0, NEIGHBOUR, 0, 0}, GPUSCAN_STRATEGY_SINGLE_PASS);
        if (test.is_long)
            check_histogram(&p, (histogram_way){0, 0, 5, 6, VALUE, 0, 0}, GPUSCAN_STRATEGY_SINGLE_PASS);
        picture_free(&p);
    }
    assert_int_equal(test_get_refusals(test.gs).count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_format), TEST(neighbours), TEST(sums_of_floats),
                                       TEST(with_lanes)};
    test_select();
    return cmocka_run_group_tests_name("images", tests, test_open, test_close);
}
