/* cc -O2 -I.. adaptive_threshold.c -o adaptive_threshold -lm -lOpenCL        (macOS: -framework OpenCL)

   adaptive_threshold picture [percent [before.png after.png]]

   Turns a photographed page into black and white, though its light is uneven: a pixel is black if it is some per cent
   (15 by default) darker than the mean around it, in a square of an eighth of the picture's width. The means come from
   gpuscan's integral image of the lumas: four elements each. Bradley and Roth, "Adaptive thresholding using the
   integral image", 2007. It also applies a fixed threshold: the median luma, by gpuscan's histogram and quantile. */
#define EXAMPLE_PICTURES
#define GPUSCAN_ONLY_HISTOGRAM
#define GPUSCAN_ONLY_INTEGRAL
#define GPUSCAN_ONLY_QUANTILE
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN_LINK_OPENCL
#include "gpuscan.h"

#define BINS 256
#define RUNS 9

static const char *kernels =
    "kernel void luma(global const uchar *rgb, global uchar *lumas, uint pixels) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < pixels) {\n"
    "        uchar4 c = (uchar4)(vload3(i, rgb), 0);\n"
    "        lumas[i] = " TEXT(LUMA(c.x, c.y, c.z)) ";\n"
    "    }\n"
    "}\n"
    /* luma < mean * (100 - percent) / 100, in integers. The table begins with a row and a column of zeros. */
    "kernel void threshold(global const uchar *lumas, global const uint *table, global uchar *out, int width,\n"
    "                      int height, int radius, int percent) {\n"
    "    int i = get_global_id(0), x = i % width, y = i / width;\n"
    "    if (y < height) {\n"
    "        int x0 = max(x - radius, 0), x1 = min(x + radius + 1, width);\n"
    "        size_t above = (size_t)max(y - radius, 0) * (width + 1);\n"
    "        size_t below = (size_t)min(y + radius + 1, height) * (width + 1);\n"
    "        ulong count = (ulong)(x1 - x0) * ((below - above) / (width + 1));\n"
    "        uint sum = table[below + x1] - table[below + x0] - table[above + x1] + table[above + x0];\n"
    "        out[i] = 100 * count * lumas[i] < (ulong)sum * (100 - percent) ? 0 : 255;\n"
    "    }\n"
    "}\n";

/* Does the same in plain C, with sums of 64 bits. */
static void threshold_on_cpu(const unsigned char *rgb, unsigned char *lumas, uint64_t *table, unsigned char *out,
                             int width, int height, int radius, int percent) {
    size_t pitch = (size_t)width + 1;
    int x, y;
    memset(table, 0, pitch * sizeof *table);
    for (y = 0; y < height; y++) {
        uint64_t *above = table + (size_t)y * pitch, *row = above + pitch, sum = 0;
        row[0] = 0;
        for (x = 0; x < width; x++) {
            const unsigned char *c = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
            unsigned char luma = (unsigned char)LUMA(c[0], c[1], c[2]);
            lumas[(size_t)y * (size_t)width + (size_t)x] = luma;
            sum += luma;
            row[x + 1] = above[x + 1] + sum;
        }
    }
    for (y = 0; y < height; y++)
        for (x = 0; x < width; x++) {
            size_t i = (size_t)y * (size_t)width + (size_t)x;
            int x0 = most(x - radius, 0), x1 = least(x + radius + 1, width);
            int y0 = most(y - radius, 0), y1 = least(y + radius + 1, height);
            const uint64_t *above = table + (size_t)y0 * pitch, *below = table + (size_t)y1 * pitch;
            uint64_t count = (uint64_t)(x1 - x0) * (uint64_t)(y1 - y0);
            uint64_t sum = below[x1] - below[x0] - above[x1] + above[x0];
            out[i] = 100 * count * lumas[i] < sum * (uint64_t)(100 - percent) ? 0 : 255;
        }
}

static int ascending_bytes(const void *a, const void *b) {
    return (int)*(const unsigned char *)a - (int)*(const unsigned char *)b;
}

/* All that is enqueued for one picture. */
typedef struct work {
    gpuscan *gs;
    cl_command_queue queue;
    cl_kernel luma, threshold;
    size_t luma_group, threshold_group, pixels;
    gpuscan_integral_desc integral;
} work;

static void threshold(const work *w) {
    launch(w->queue, w->luma, w->pixels, w->luma_group);
    check(w->gs, gpuscan_integral(w->gs, &w->integral), "gpuscan_integral");
    launch(w->queue, w->threshold, w->pixels, w->threshold_group);
}

/* Returns the median luma, which stays on the device until here. */
static uint32_t median_luma(const work *w, cl_mem lumas, cl_mem counts, cl_mem result) {
    static const double half = 0.5;
    gpuscan_histogram_desc histogram;
    gpuscan_quantile_desc quantile;
    uint32_t luma;
    memset(&histogram, 0, sizeof histogram);
    memset(&quantile, 0, sizeof quantile);
    histogram.samples.mem = lumas;
    histogram.counts.mem = counts;
    histogram.count = w->pixels;
    histogram.call.queue = w->queue;
    quantile.counts.mem = counts;
    quantile.dst.mem = result;
    quantile.fractions = &half;
    quantile.fraction_count = 1;
    quantile.call.queue = w->queue;
    check(w->gs, gpuscan_histogram(w->gs, &histogram), "gpuscan_histogram");
    check(w->gs, gpuscan_quantile(w->gs, &quantile), "gpuscan_quantile");
    check(NULL, clEnqueueReadBuffer(w->queue, result, CL_TRUE, 0, sizeof luma, &luma, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    return luma;
}

/* Saves black and white as a picture of three channels. */
static void save_gray(const char *path, int width, int height, const unsigned char *gray, unsigned char *rgb) {
    size_t i, pixels = (size_t)width * (size_t)height;
    for (i = 0; i < pixels; i++)
        rgb[3 * i] = rgb[3 * i + 1] = rgb[3 * i + 2] = gray[i];
    save_picture(path, width, height, rgb);
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 1, 4, "adaptive_threshold picture [percent [before.png after.png]]");
    double device_times[RUNS], cpu_times[RUNS], device_time, cpu_time;
    int width, height, channels, percent = argc > 2 ? (int)whole_number(argv[2], 0, 100) : 15, run, ok;
    unsigned char *before, *after, *lumas, *expected;
    uint64_t *table_on_cpu;
    uint32_t median_found;
    size_t i, black = 0;
    cl_uint pixels;
    cl_int code, wide, high, radius, darker = percent;
    cl_mem rgb, luma, table, counts, result, out;
    cl_program program;
    gpuscan_info info;
    work w;

    if (argc == 4)
        misused();
    before = load_picture(argv[1], &width, &height, &channels, 3);
    wide = width;
    high = height;
    radius = width / 16;
    pixels = (cl_uint)width * (cl_uint)height;
    after = (unsigned char *)allocate(pixels);
    expected = (unsigned char *)allocate(pixels);
    lumas = (unsigned char *)allocate(pixels);
    table_on_cpu = (uint64_t *)allocate(((size_t)width + 1) * ((size_t)height + 1) * sizeof *table_on_cpu);

    memset(&w, 0, sizeof w);
    w.gs = open_device(&info);
    w.queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    rgb = make_buffer(info.context, CL_MEM_READ_ONLY, 3 * (size_t)pixels, before);
    luma = make_buffer(info.context, CL_MEM_READ_WRITE, pixels, NULL);
    table = make_buffer(info.context, CL_MEM_READ_WRITE, ((size_t)width + 1) * ((size_t)height + 1) * sizeof(uint32_t),
                        NULL);
    counts = make_buffer(info.context, CL_MEM_READ_WRITE, BINS * sizeof(uint32_t), NULL);
    result = make_buffer(info.context, CL_MEM_READ_WRITE, sizeof(uint32_t), NULL);
    out = make_buffer(info.context, CL_MEM_WRITE_ONLY, pixels, NULL);
    program = build_program(&info, &kernels, 1, "");
    w.pixels = pixels;
    w.luma = make_kernel(program, "luma");
    set(w.luma, 0, sizeof rgb, &rgb);
    set(w.luma, 1, sizeof luma, &luma);
    set(w.luma, 2, sizeof pixels, &pixels);
    w.threshold = make_kernel(program, "threshold");
    set(w.threshold, 0, sizeof luma, &luma);
    set(w.threshold, 1, sizeof table, &table);
    set(w.threshold, 2, sizeof out, &out);
    set(w.threshold, 3, sizeof wide, &wide);
    set(w.threshold, 4, sizeof high, &high);
    set(w.threshold, 5, sizeof radius, &radius);
    set(w.threshold, 6, sizeof darker, &darker);
    w.luma_group = group_size(&info, w.luma, 256);
    w.threshold_group = group_size(&info, w.threshold, 256);
    w.integral.src.mem = luma;
    w.integral.dst.mem = table;
    w.integral.width = (uint64_t)width;
    w.integral.height = (uint64_t)height;
    w.integral.call.queue = w.queue;

    threshold(&w); /* the first run builds what it needs */
    check(NULL, clFinish(w.queue), "clFinish");
    for (run = 0; run < RUNS; run++) {
        double start = now();
        threshold(&w);
        check(NULL, clFinish(w.queue), "clFinish");
        device_times[run] = now() - start;
        start = now();
        threshold_on_cpu(before, lumas, table_on_cpu, expected, width, height, radius, percent);
        cpu_times[run] = now() - start;
    }
    device_time = median(device_times, RUNS);
    cpu_time = median(cpu_times, RUNS);
    check(NULL, clEnqueueReadBuffer(w.queue, out, CL_TRUE, 0, pixels, after, 0, NULL, NULL), "clEnqueueReadBuffer");
    ok = memcmp(after, expected, pixels) == 0;
    median_found = median_luma(&w, luma, counts, result);
    save_picture(argc > 3 ? argv[3] : "before.png", width, height, before);
    save_gray(argc > 3 ? argv[4] : "after.png", width, height, after, before);
    for (i = 0; i < pixels; i++)
        black += after[i] == 0;
    qsort(lumas, pixels, 1, ascending_bytes);
    ok = ok && median_found == lumas[(pixels + 1) / 2 - 1];
    printf("%.1f %% black; a fixed threshold at the median luma, %u, would make it half\n",
           100.0 * (double)black / pixels, (unsigned)median_found);
    printf("device %.2f ms, picture already there, CPU loops %.2f ms (wall clock, medians of %d)\n", 1e3 * device_time,
           1e3 * cpu_time, RUNS);
    if (cpu_time < device_time)
        printf("Each launch costs the driver some time, which the loops on a small picture do not need. On a large\n"
               "picture, many cores compute at once and two do not.\n");
    printf("adaptive_threshold: %s pixels in %.2f ms, %.2f x the CPU loops: %s\n", commas(pixels), 1e3 * device_time,
           cpu_time / device_time, ok ? "each pixel equal to the CPU's" : "WRONG PIXELS");

    clReleaseKernel(w.luma);
    clReleaseKernel(w.threshold);
    clReleaseProgram(program);
    clReleaseMemObject(rgb);
    clReleaseMemObject(luma);
    clReleaseMemObject(table);
    clReleaseMemObject(counts);
    clReleaseMemObject(result);
    clReleaseMemObject(out);
    clReleaseCommandQueue(w.queue);
    gpuscan_destroy(w.gs);
    stbi_image_free(before);
    free(after);
    free(expected);
    free(lumas);
    free(table_on_cpu);
    return !ok;
}
