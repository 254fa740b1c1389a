/* What several examples share: the clock, exits with a reason, the example's own kernels, and charts. Include it first.
   With EXAMPLE_PICTURES defined it also includes stb's image files and the canvas. */
#ifndef EXAMPLE_COMMON_H
#define EXAMPLE_COMMON_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime, also with -std=c99 */
#endif
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "gpuscan.h"

/* [GIVING UP] ------------------------------------------------------------------------------------------------------ */

static inline void fail(const char *what, const char *why) {
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* Exits unless a result of gpuscan or OpenCL is success: gpuscan passes OpenCL's codes on, and names them all. */
static inline void check(gpuscan *gs, gpuscan_result result, const char *what) {
    const char *words = gs ? gpuscan_error(gs) : "";
    if (result == GPUSCAN_SUCCESS)
        return;
    fail(what, words[0] ? words : gpuscan_result_string(result));
}

static inline void *allocate(size_t size) {
    void *memory = malloc(size ? size : 1);
    if (!memory)
        fail("malloc", "out of memory");
    return memory;
}

/* [ARGUMENTS] ------------------------------------------------------------------------------------------------------ */

static const char *example__usage = "";

static inline void misused(void) {
    fprintf(stderr, "usage: %s\n", example__usage);
    exit(2);
}

/* Fails if printed text did not reach its file: a disk may be full. */
static inline void example__close(void) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    perror("standard output");
    _Exit(1);
}

/* Call this first. The example's name is followed by least to most arguments, except options of the example. --help
   shows usage; any other argument that begins with -- is an error. */
static inline void take_arguments(int argc, char **argv, int least, int most, const char *usage) {
    int k, given = argc - 1;
    example__usage = usage;
    atexit(example__close);
    for (k = 1; k < argc; k++)
        if (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0) {
            printf("usage: %s\n", usage);
            exit(0);
        } else if (strncmp(argv[k], "--", 2) == 0) {
            if (!strstr(usage, argv[k]))
                misused();
            given--;
        }
    if (given < least || given > most)
        misused();
}

/* Returns the number from least to most that all of a text is: 2000000, 2e6 or 0.5. */
static inline double number(const char *text, double least, double most) {
    char *end;
    double x = strtod(text, &end);
    if (end == text || *end || !(x >= least && x <= most))
        misused();
    return x;
}

/* Returns a whole number. */
static inline uint64_t whole_number(const char *text, double least, double most) {
    double x = number(text, least, most);
    if (x != floor(x))
        misused();
    return (uint64_t)x;
}

/* [TIME] ----------------------------------------------------------------------------------------------------------- */

/* Returns the wall clock in seconds. */
static inline double now(void) {
    struct timespec t;
#ifdef _WIN32
    timespec_get(&t, TIME_UTC);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int example__ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the times, and returns the middle one, which a single slow run cannot spoil. */
static inline double median(double *times, size_t count) {
    qsort(times, count, sizeof *times, example__ascending);
    return count % 2 ? times[count / 2] : 0.5 * (times[count / 2 - 1] + times[count / 2]);
}

/* Returns 100000000 as 100,000,000. The text lives until the fourth call from here. */
static inline const char *commas(uint64_t number) {
    static char texts[4][32];
    static int turn;
    char *end = texts[turn = (turn + 1) % 4] + 31;
    int digits = 0;
    *end = 0;
    do {
        if (digits && digits % 3 == 0)
            *--end = ',';
        *--end = (char)('0' + number % 10);
        number /= 10;
        digits++;
    } while (number);
    return end;
}

/* [OPENCL] --------------------------------------------------------------------------------------------------------- */

/* Opens the best device (GPUSCAN_DEVICE=name picks another) and prints which one it is. */
static inline gpuscan *open_device(gpuscan_info *info) {
    gpuscan *gs = NULL;
    gpuscan_desc desc;
    char words[2000] = "";
    memset(&desc, 0, sizeof desc);
    desc.error = words;
    desc.error_size = sizeof words;
    if (gpuscan_create(&gs, &desc) != GPUSCAN_SUCCESS)
        fail("no device", words);
    check(gs, gpuscan_get_info(gs, info), "gpuscan_get_info");
    printf("device: %s (%s)\n", info->device_name, info->platform_name);
    return gs;
}

/* Builds OpenCL C texts for the device, or exits with the compiler's message. */
static inline cl_program build_program(const gpuscan_info *info, const char **texts, cl_uint count,
                                       const char *options) {
    cl_int code;
    cl_program program = clCreateProgramWithSource(info->context, count, texts, NULL, &code);
    check(NULL, code, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &info->device, options, NULL, NULL) != CL_SUCCESS) {
        size_t size = 0;
        char *log;
        clGetProgramBuildInfo(program, info->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
        log = (char *)allocate(size + 1);
        log[0] = log[size] = 0;
        clGetProgramBuildInfo(program, info->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
        fail("the example's own kernels do not compile", log);
    }
    return program;
}

static inline cl_kernel make_kernel(cl_program program, const char *name) {
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    check(NULL, code, name);
    return kernel;
}

/* Sets one argument of a kernel. */
static inline void set(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    check(NULL, clSetKernelArg(kernel, index, size, value), "clSetKernelArg");
}

static inline cl_mem make_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host) {
    cl_int code;
    cl_mem buffer = clCreateBuffer(context, flags | (host ? CL_MEM_COPY_HOST_PTR : 0), size ? size : 1, host, &code);
    check(NULL, code, "clCreateBuffer");
    return buffer;
}

/* Returns a payload: an array of elements of size bytes that moves with others. */
static inline gpuscan_payload make_payload(cl_mem src, cl_mem dst, size_t size) {
    gpuscan_payload payload;
    memset(&payload, 0, sizeof payload);
    payload.src.mem = src;
    payload.dst.mem = dst;
    payload.size = size;
    return payload;
}

/* Returns the largest power of two up to wanted that the device accepts as a group of this kernel. */
static inline size_t group_size(const gpuscan_info *info, cl_kernel kernel, size_t wanted) {
    size_t limit = 1, size = 1;
    check(NULL, clGetKernelWorkGroupInfo(kernel, info->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit, NULL),
          "clGetKernelWorkGroupInfo");
    while (size * 2 <= limit && size * 2 <= wanted)
        size *= 2;
    return size;
}

/* Runs a kernel with at least items work-items. The kernel must ignore those beyond. */
static inline void launch(cl_command_queue queue, cl_kernel kernel, size_t items, size_t group) {
    size_t global = (items + group - 1) / group * group;
    check(NULL, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &group, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
}

/* [PICTURES] ------------------------------------------------------------------------------------------------------- */

#ifdef EXAMPLE_PICTURES
#define STBI_ONLY_JPEG /* the other formats would take longer to compile */
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#include <stb/stb_easy_font.h>

static inline int least(int a, int b) {
    return a < b ? a : b;
}

static inline int most(int a, int b) {
    return a > b ? a : b;
}

/* A weighted mean, close to Rec. 601: as TEXT(LUMA(...)) also for kernels and for gpuscan's expressions. */
#define LUMA(r, g, b) ((77 * (r) + 150 * (g) + 29 * (b) + 128) >> 8)
#define TEXT_(...)    #__VA_ARGS__
#define TEXT(...)     TEXT_(__VA_ARGS__)

/* Scales a colour from luma y to luma z. If a channel would exceed 255, mixes the colour with the gray of the new luma
   until it fits: (c * z / y - z) * k + z with the k that takes the largest channel to 255. */
#define RECOLOR_TEXT                                                                                                   \
    "uchar3 recolor(int3 c, int y, int z) {\n"                                                                         \
    "    int m = max(c.x, max(c.y, c.z));\n"                                                                           \
    "    if (y == 0)\n"                                                                                                \
    "        c = (int3)(z);\n"                                                                                         \
    "    else if (m * z <= 255 * y)\n"                                                                                 \
    "        c = (c * z + y / 2) / y;\n"                                                                               \
    "    else\n"                                                                                                       \
    "        c = z + (c - y) * (255 - z) / (m - y);\n"                                                                 \
    "    return convert_uchar3(c);\n"                                                                                  \
    "}\n"

/* Does the same in plain C. */
static inline void recolor(unsigned char *out, const unsigned char *c, int y, int z) {
    int m = most(c[0], most(c[1], c[2])), k;
    for (k = 0; k < 3; k++)
        out[k] = (unsigned char)(y == 0             ? z
                                 : m * z <= 255 * y ? (c[k] * z + y / 2) / y
                                                    : z + (c[k] - y) * (255 - z) / (m - y));
}

/* Loads a picture. channels 0: as many as the file has, given in *found. */
static inline unsigned char *load_picture(const char *path, int *width, int *height, int *found, int channels) {
    unsigned char *picture = stbi_load(path, width, height, found, channels);
    if (!picture)
        fail(path, stbi_failure_reason());
    return picture;
}

/* Writes a picture's bytes; the file keeps any error. */
static inline void example__write(void *file, void *bytes, int size) {
    fwrite(bytes, 1, (size_t)size, (FILE *)file);
}

static inline void save_picture(const char *path, int width, int height, const unsigned char *rgb) {
    FILE *file = (errno = 0, fopen(path, "wb"));
    char why[200];
    int written;
    stbi_write_png_compression_level = 5; /* half the time of the default, and a file a few per cent larger */
    written = file && stbi_write_png_to_func(example__write, file, width, height, 3, rgb, width * 3) && !ferror(file);
    if (file && fclose(file) != 0) /* a full disk may show only here */
        written = 0;
    snprintf(why, sizeof why, "cannot write the picture: %s", errno ? strerror(errno) : "there is no room");
    if (!written)
        fail(path, why);
    printf("wrote %s\n", path);
}

/* A canvas has FINE x FINE samples a pixel, and is saved as their mean, which smooths every edge. */
#define FINE 3
typedef struct canvas {
    int width, height; /* in samples */
    unsigned char *rgb;
} canvas;

typedef struct color {
    unsigned char r, g, b;
} color;

static inline color make_color(int r, int g, int b) {
    color c;
    c.r = (unsigned char)r;
    c.g = (unsigned char)g;
    c.b = (unsigned char)b;
    return c;
}

static inline canvas canvas_new(int width, int height) {
    canvas c;
    size_t size = (size_t)width * (size_t)height * FINE * FINE * 3;
    c.width = width * FINE;
    c.height = height * FINE;
    c.rgb = (unsigned char *)allocate(size);
    memset(c.rgb, 255, size);
    return c;
}

static inline int example__clamp(double value, int limit) {
    return value < 0 ? 0 : value > limit ? limit : (int)(value + 0.5);
}

/* Fills a rectangle; alpha is the share of the new colour. */
static inline void canvas_rect(canvas *c, double x0, double y0, double x1, double y1, color ink, double alpha) {
    int left = example__clamp(x0 * FINE, c->width), right = example__clamp(x1 * FINE, c->width);
    int top = example__clamp(y0 * FINE, c->height), bottom = example__clamp(y1 * FINE, c->height), x, y;
    for (y = top; y < bottom; y++) {
        unsigned char *p = c->rgb + ((size_t)y * (size_t)c->width + (size_t)left) * 3;
        for (x = left; x < right; x++, p += 3) {
            p[0] = (unsigned char)(p[0] + (ink.r - p[0]) * alpha);
            p[1] = (unsigned char)(p[1] + (ink.g - p[1]) * alpha);
            p[2] = (unsigned char)(p[2] + (ink.b - p[2]) * alpha);
        }
    }
}

static inline void canvas_line(canvas *c, double x0, double y0, double x1, double y1, double width, color ink) {
    double length = sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0)), r = 0.5 * width;
    int steps = (int)(length * FINE) + 1, k;
    for (k = 0; k <= steps; k++) {
        double x = x0 + (x1 - x0) * k / steps, y = y0 + (y1 - y0) * k / steps;
        canvas_rect(c, x - r, y - r, x + r, y + r, ink, 1.0);
    }
}

static inline double text_width(const char *text, double size) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", text);
    return stb_easy_font_width(copy) * size;
}

/* Draws text. anchor: x is the text's left edge (0), middle (0.5) or right edge (1). size 2 is easy to read. */
static inline void canvas_text(canvas *c, double x, double y, double anchor, double size, color ink, const char *text) {
    static float corners[256 * 270 / sizeof(float)]; /* a quad is four corners of x, y, z and a colour */
    char copy[256];
    int quads, q;
    snprintf(copy, sizeof copy, "%s", text);
    x -= anchor * text_width(text, size);
    quads = stb_easy_font_print(0, 0, copy, NULL, corners, sizeof corners);
    for (q = 0; q < quads; q++) {
        const float *first = corners + 16 * q, *third = first + 8;
        canvas_rect(c, x + first[0] * size, y + first[1] * size, x + third[0] * size, y + third[1] * size, ink, 1.0);
    }
}

/* Draws a picture into a rectangle. */
static inline void canvas_picture(canvas *c, double x0, double y0, double w, double h, const unsigned char *rgb,
                                  int width, int height) {
    int x, y, left = (int)(x0 * FINE), top = (int)(y0 * FINE), wide = (int)(w * FINE), high = (int)(h * FINE);
    for (y = 0; y < high && top + y < c->height; y++)
        for (x = 0; x < wide && left + x < c->width; x++) {
            size_t from =
                (size_t)y * (size_t)height / (size_t)high * (size_t)width + (size_t)x * (size_t)width / (size_t)wide;
            size_t to = (size_t)(top + y) * (size_t)c->width + (size_t)(left + x);
            memcpy(c->rgb + to * 3, rgb + from * 3, 3);
        }
}

/* Saves and releases the canvas. */
static inline void canvas_save(canvas *c, const char *path) {
    int width = c->width / FINE, height = c->height / FINE, x, y, i, j, k;
    unsigned char *small = (unsigned char *)allocate((size_t)width * (size_t)height * 3);
    for (y = 0; y < height; y++)
        for (x = 0; x < width; x++)
            for (k = 0; k < 3; k++) {
                int sum = 0;
                for (j = 0; j < FINE; j++)
                    for (i = 0; i < FINE; i++)
                        sum += c->rgb[((size_t)(y * FINE + j) * (size_t)c->width + (size_t)(x * FINE + i)) * 3 +
                                      (size_t)k];
                small[((size_t)y * (size_t)width + (size_t)x) * 3 + (size_t)k] =
                    (unsigned char)((sum + FINE * FINE / 2) / (FINE * FINE));
            }
    save_picture(path, width, height, small);
    free(small);
    free(c->rgb);
    c->rgb = NULL;
}

/* The rectangle of a chart, and the values at its edges. */
typedef struct chart {
    double x, y, w, h;
    double x_min, x_max, y_max;
} chart;

static inline double chart_x(const chart *t, double value) {
    return t->x + t->w * (value - t->x_min) / (t->x_max - t->x_min);
}

static inline double chart_y(const chart *t, double value) {
    double share = value / t->y_max;
    return t->y + t->h * (1.0 - (share > 1 ? 1 : share));
}

/* Returns a step of 1, 2 or 5 times a power of ten: about four steps reach the limit. */
static inline double chart_step(double limit) {
    double power = pow(10.0, floor(log10(limit / 4.0))), share = limit / 4.0 / power;
    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

/* Draws the grid, the axes, their numbers and names. x_step: from number to number along the x axis. */
static inline void chart_axes(canvas *c, const chart *t, double x_step, const char *x_name, const char *y_name) {
    color grid = make_color(226, 228, 232), ink = make_color(60, 64, 72);
    double value, step = chart_step(t->y_max);
    char text[64];
    for (value = 0; value <= t->y_max; value += step) {
        double y = chart_y(t, value);
        canvas_line(c, t->x, y, t->x + t->w, y, 1, grid);
        if (step >= 1)
            snprintf(text, sizeof text, "%s", commas((uint64_t)(value + 0.5)));
        else
            snprintf(text, sizeof text, "%g", value);
        canvas_text(c, t->x - 8, y - 7, 1, 2, ink, text);
    }
    for (value = t->x_min; value <= t->x_max; value += x_step) {
        double x = chart_x(t, value);
        canvas_line(c, x, t->y, x, t->y + t->h, 1, grid);
        canvas_line(c, x, t->y + t->h, x, t->y + t->h + 5, 1, ink);
        snprintf(text, sizeof text, "%g", value);
        canvas_text(c, x, t->y + t->h + 10, 0.5, 2, ink, text);
    }
    canvas_line(c, t->x, t->y, t->x, t->y + t->h, 1.5, ink);
    canvas_line(c, t->x, t->y + t->h, t->x + t->w, t->y + t->h, 1.5, ink);
    canvas_text(c, t->x + 0.5 * t->w, t->y + t->h + 34, 0.5, 2, ink, x_name);
    canvas_text(c, t->x, t->y - 26, 0, 2, ink, y_name);
}

/* Draws one bar for each bin. */
static inline void chart_bars(canvas *c, const chart *t, const uint32_t *counts, int bins, color ink, double alpha) {
    int k;
    for (k = 0; k < bins; k++)
        if (counts[k])
            canvas_rect(c, t->x + t->w * k / bins, chart_y(t, counts[k]), t->x + t->w * (k + 1) / bins, t->y + t->h,
                        ink, alpha);
}

/* Draws a line along the bars' tops. */
static inline void chart_steps(canvas *c, const chart *t, const uint32_t *counts, int bins, color ink) {
    int k;
    for (k = 0; k < bins; k++) {
        double x = t->x + t->w * k / bins, next = t->x + t->w * (k + 1) / bins, y = chart_y(t, counts[k]);
        if (k)
            canvas_line(c, x, chart_y(t, counts[k - 1]), x, y, 1.5, ink);
        canvas_line(c, x, y, next, y, 1.5, ink);
    }
}

/* Returns what the y axis must reach: the highest bin. A single peak (burnt-out white, say) is cut off. */
static inline double chart_limit(const uint32_t *counts, int bins) {
    uint32_t first = 1, second = 1;
    int k;
    for (k = 0; k < bins; k++)
        if (counts[k] > first) {
            second = first;
            first = counts[k];
        } else if (counts[k] > second) {
            second = counts[k];
        }
    return 1.05 * (first > 3.0 * second ? 2.0 * second : first);
}

#endif /* EXAMPLE_PICTURES */
#endif /* EXAMPLE_COMMON_H */
