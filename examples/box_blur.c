/* cc -O2 -I.. box_blur.c -o box_blur -lm -lOpenCL        (macOS: -framework OpenCL)

   box_blur picture [radius [before.png after.png]]

   Blurs by the mean of (2 radius + 1) x (2 radius + 1) pixels, 20 by default: with gpuscan's integral image of the
   picture's three channels, and a kernel that takes four of its elements for each pixel, however large the box is. So
   the cost does not depend on the radius, as the times of several show. At the edges the box ends with the picture. */
#define EXAMPLE_PICTURES
#define GPUSCAN_ONLY_INTEGRAL
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN_LINK_OPENCL
#include "gpuscan.h"

#define RUNS 9

static const char *kernels =
    /* The table begins with a row and a column of zeros: sums(x, y) covers what lies left of x and above y. */
    "uint3 sums(global const uint *table, int x, int y, int width) {\n"
    "    return vload3((size_t)y * (width + 1) + x, table);\n"
    "}\n"
    "kernel void blur(global const uint *table, global uchar *out, int width, int height, int radius) {\n"
    "    int i = get_global_id(0), x = i % width, y = i / width;\n"
    "    if (y < height) {\n"
    "        int x0 = max(x - radius, 0), x1 = min(x + radius + 1, width);\n"
    "        int y0 = max(y - radius, 0), y1 = min(y + radius + 1, height);\n"
    "        uint3 sum = sums(table, x1, y1, width) - sums(table, x0, y1, width) - sums(table, x1, y0, width) +\n"
    "                    sums(table, x0, y0, width);\n"
    "        uint count = (uint)(x1 - x0) * (uint)(y1 - y0);\n"
    "        vstore3(convert_uchar3((sum + count / 2) / count), i, out);\n"
    "    }\n"
    "}\n";

/* Blurs in plain C in another way: keeps the sums of the box's columns, where from one row of pixels to the next a row
   enters and a row leaves; along the row a column enters and a column leaves. */
static void blur_on_cpu(const unsigned char *rgb, unsigned char *out, int width, int height, int radius) {
    uint32_t *columns = (uint32_t *)allocate((size_t)width * 3 * sizeof *columns);
    size_t row = (size_t)width * 3, i;
    int x, y, c;
    memset(columns, 0, row * sizeof *columns);
    for (y = 0; y < least(radius, height); y++)
        for (i = 0; i < row; i++)
            columns[i] += rgb[(size_t)y * row + i];
    for (y = 0; y < height; y++) {
        uint32_t rows = (uint32_t)(least(y + radius + 1, height) - most(y - radius, 0)), sum[3] = {0, 0, 0};
        if (y + radius < height)
            for (i = 0; i < row; i++)
                columns[i] += rgb[(size_t)(y + radius) * row + i];
        if (y - radius > 0)
            for (i = 0; i < row; i++)
                columns[i] -= rgb[(size_t)(y - radius - 1) * row + i];
        for (x = 0; x < least(radius, width); x++)
            for (c = 0; c < 3; c++)
                sum[c] += columns[3 * x + c];
        for (x = 0; x < width; x++) {
            uint32_t count = rows * (uint32_t)(least(x + radius + 1, width) - most(x - radius, 0));
            for (c = 0; c < 3; c++) {
                if (x + radius < width)
                    sum[c] += columns[3 * (x + radius) + c];
                if (x - radius > 0)
                    sum[c] -= columns[3 * (x - radius - 1) + c];
                out[(size_t)y * row + (size_t)(3 * x + c)] = (unsigned char)((sum[c] + count / 2) / count);
            }
        }
    }
    free(columns);
}

/* All that is enqueued for one picture. */
typedef struct work {
    gpuscan *gs;
    cl_command_queue queue;
    cl_kernel blur;
    size_t group, pixels;
    gpuscan_integral_desc integral;
} work;

static void blur(const work *w, cl_int radius) {
    set(w->blur, 4, sizeof radius, &radius);
    check(w->gs, gpuscan_integral(w->gs, &w->integral), "gpuscan_integral");
    launch(w->queue, w->blur, w->pixels, w->group);
}

/* Returns the median time on the device, or of the loops above. */
static double time_of(const work *w, const unsigned char *rgb, unsigned char *out, int width, int height, int radius,
                      int on_cpu) {
    double times[RUNS];
    int run;
    for (run = 0; run < RUNS; run++) {
        double start = now();
        if (on_cpu) {
            blur_on_cpu(rgb, out, width, height, radius);
        } else {
            blur(w, radius);
            check(NULL, clFinish(w->queue), "clFinish");
        }
        times[run] = now() - start;
    }
    return median(times, RUNS);
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 1, 4, "box_blur picture [radius [before.png after.png]]");
    int width, height, channels, radius = argc > 2 ? (int)whole_number(argv[2], 0, 1000000) : 20, ok = 1, lost = 0, k;
    const int radii[] = {1, 10, 100, radius}; /* the last one makes the picture that is saved */
    unsigned char *before, *after, *expected;
    double device_time = 0, cpu_time = 0;
    size_t size;
    cl_int code, wide, high;
    cl_mem rgb, table, out;
    cl_program program;
    gpuscan_info info;
    work w;

    if (argc == 4)
        misused();
    before = load_picture(argv[1], &width, &height, &channels, 3);
    wide = width;
    high = height;
    memset(&w, 0, sizeof w);
    w.pixels = (size_t)width * (size_t)height;
    size = 3 * w.pixels;
    after = (unsigned char *)allocate(size);
    expected = (unsigned char *)allocate(size);

    w.gs = open_device(&info);
    w.queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    rgb = make_buffer(info.context, CL_MEM_READ_ONLY, size, before);
    table = make_buffer(info.context, CL_MEM_READ_WRITE,
                        3 * ((size_t)width + 1) * ((size_t)height + 1) * sizeof(uint32_t), NULL);
    out = make_buffer(info.context, CL_MEM_WRITE_ONLY, size, NULL);
    program = build_program(&info, &kernels, 1, "");
    w.blur = make_kernel(program, "blur");
    set(w.blur, 0, sizeof table, &table);
    set(w.blur, 1, sizeof out, &out);
    set(w.blur, 2, sizeof wide, &wide);
    set(w.blur, 3, sizeof high, &high);
    w.group = group_size(&info, w.blur, 256);
    w.integral.src.mem = rgb;
    w.integral.dst.mem = table;
    w.integral.width = (uint64_t)width;
    w.integral.height = (uint64_t)height;
    w.integral.channels = 3;
    w.integral.call.queue = w.queue;

    blur(&w, radius); /* the first run builds what it needs */
    check(NULL, clFinish(w.queue), "clFinish");
    for (k = 0; k < 4; k++) {
        device_time = time_of(&w, before, expected, width, height, radii[k], 0);
        cpu_time = time_of(&w, before, expected, width, height, radii[k], 1);
        check(NULL, clEnqueueReadBuffer(w.queue, out, CL_TRUE, 0, size, after, 0, NULL, NULL), "clEnqueueReadBuffer");
        ok = ok && memcmp(after, expected, size) == 0;
        lost = lost || cpu_time < device_time;
        printf("radius %d: device %.2f ms, picture already there, CPU loops %.2f ms (wall clock, medians of %d)\n",
               radii[k], 1e3 * device_time, 1e3 * cpu_time, RUNS);
    }
    if (lost)
        printf("The loops slide a window over the picture; the device stores a table of 12 bytes a pixel and loads\n"
               "four of its entries for each pixel, which many cores do at once and two do not.\n");
    save_picture(argc > 3 ? argv[3] : "before.png", width, height, before);
    save_picture(argc > 3 ? argv[4] : "after.png", width, height, after);
    printf("box_blur: %s pixels, radius %d, in %.2f ms, %.2f x the CPU loops: %s\n", commas(w.pixels), radius,
           1e3 * device_time, cpu_time / device_time, ok ? "each pixel equal to the CPU's" : "WRONG PIXELS");

    clReleaseKernel(w.blur);
    clReleaseProgram(program);
    clReleaseMemObject(rgb);
    clReleaseMemObject(table);
    clReleaseMemObject(out);
    clReleaseCommandQueue(w.queue);
    gpuscan_destroy(w.gs);
    stbi_image_free(before);
    free(after);
    free(expected);
    return !ok;
}
