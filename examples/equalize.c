/* cc -O2 -I.. equalize.c -o equalize -lm -lOpenCL        (macOS: -framework OpenCL)

   equalize picture [before.png after.png plot.png]

   Histogram equalisation, all of it on the device: the histogram of the pixels' lumas, its inclusive scan, from that a
   look-up table that spreads the lumas evenly, and the table applied. Hues do not change. gpuscan makes the histogram
   and the scan; the two kernels that follow are here, on the same queue and buffers. */
#define EXAMPLE_PICTURES
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_ONLY_HISTOGRAM
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN_LINK_OPENCL
#include "gpuscan.h"

#define BINS 256
#define RUNS 9

/* The value of a pixel that the histogram counts. */
static const gpuscan_custom luma = {NULL, NULL, 0, NULL, NULL, TEXT(LUMA(x.x, x.y, x.z)), NULL, NULL, NULL};

static const char *kernels = RECOLOR_TEXT
    /* sums[v] pixels are as dark as v or darker: their share is v's new value between 0 and 255. The darkest value of
       the picture becomes 0. One group of any size. */
    "kernel void make_table(global const uint *counts, global const uint *sums, global uchar *table) {\n"
    "    local ulong darkest;\n"
    "    uint v;\n"
    "    for (v = get_local_id(0); v < 256; v += get_local_size(0))\n"
    "        if (counts[v] > 0 && counts[v] == sums[v])\n"
    "            darkest = sums[v];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (v = get_local_id(0); v < 256; v += get_local_size(0)) {\n"
    "        ulong above = sums[v] ? sums[v] - darkest : 0, most = sums[255] - darkest;\n"
    "        table[v] = most ? (uchar)((255 * above + most / 2) / most) : (uchar)v;\n" /* a single value stays */
    "    }\n"
    "}\n"
    "kernel void apply(global const uchar *rgb, global const uchar *table, global uchar *out, uint pixels) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < pixels) {\n"
    "        int3 c = convert_int3(vload3(i, rgb));\n"
    "        int y = " TEXT(LUMA(c.x, c.y, c.z)) ";\n"
    "        vstore3(recolor(c, y, table[y]), i, out);\n"
    "    }\n"
    "}\n";

/* Does the same in plain C: the reference, and what the device is timed against. */
static void equalize_on_cpu(const unsigned char *rgb, unsigned char *lumas, unsigned char *out, size_t pixels,
                            uint32_t *counts, uint32_t *sums) {
    unsigned char table[BINS];
    uint64_t darkest = 0, most;
    uint32_t sum = 0;
    size_t i;
    int v;
    memset(counts, 0, BINS * sizeof *counts);
    for (i = 0; i < pixels; i++) {
        const unsigned char *c = rgb + 3 * i;
        lumas[i] = (unsigned char)LUMA(c[0], c[1], c[2]);
        counts[lumas[i]]++;
    }
    for (v = 0; v < BINS; v++) {
        sums[v] = sum += counts[v];
        if (!darkest)
            darkest = sum;
    }
    most = pixels - darkest;
    for (v = 0; v < BINS; v++) {
        uint64_t above = sums[v] ? sums[v] - darkest : 0;
        table[v] = (unsigned char)(most ? (255 * above + most / 2) / most : (uint64_t)v);
    }
    for (i = 0; i < pixels; i++)
        recolor(out + 3 * i, rgb + 3 * i, lumas[i], table[lumas[i]]);
}

/* Draws a histogram with its scan, the share of pixels up to each luma, as a line over it. */
static void draw_chart(canvas *c, double x, const char *title, const uint32_t *counts) {
    chart t = {x, 470, 440, 200, 0, 256, 0};
    double sum = 0, pixels = 0, before, line_x = t.x;
    color blue = make_color(35, 95, 200), orange = make_color(225, 105, 20);
    int k;
    for (k = 0; k < BINS; k++)
        pixels += counts[k];
    before = t.y + t.h;
    t.y_max = chart_limit(counts, BINS);
    chart_axes(c, &t, 64, "luma", title);
    chart_bars(c, &t, counts, BINS, blue, 0.7);
    for (k = 0; k < BINS; k++) {
        double next_x = t.x + t.w * (k + 1) / BINS, next;
        sum += counts[k];
        next = t.y + t.h * (1 - sum / pixels);
        canvas_line(c, line_x, before, next_x, next, 2, orange);
        line_x = next_x;
        before = next;
    }
    canvas_text(c, t.x + t.w, t.y - 26, 1, 2, orange, "its scan: 0 to 100 %");
}

static void draw(const char *path, const unsigned char *before, const unsigned char *after, int width, int height,
                 const uint32_t *counts, const uint32_t *new_counts) {
    canvas c = canvas_new(1120, 740);
    double w = 440, h = w * height / width, x = 100, y;
    if (h > 330) {
        w = 330.0 * width / height;
        h = 330;
    }
    y = 70 + (330 - h) / 2;
    canvas_text(&c, x, 20, 0, 3, make_color(20, 22, 26), "before");
    canvas_text(&c, x + 540, 20, 0, 3, make_color(20, 22, 26), "after histogram equalisation");
    canvas_picture(&c, x + (440 - w) / 2, y, w, h, before, width, height);
    canvas_picture(&c, x + 540 + (440 - w) / 2, y, w, h, after, width, height);
    draw_chart(&c, x, "pixels", counts);
    draw_chart(&c, x + 540, "pixels", new_counts);
    canvas_save(&c, path);
}

/* All that is enqueued for one picture. */
typedef struct work {
    gpuscan *gs;
    cl_command_queue queue;
    cl_kernel make_table, apply;
    size_t table_group, apply_group, pixels;
    gpuscan_histogram_desc histogram;
    gpuscan_scan_desc scan;
} work;

static void equalize(const work *w) {
    check(w->gs, gpuscan_histogram(w->gs, &w->histogram), "gpuscan_histogram");
    check(w->gs, gpuscan_scan(w->gs, &w->scan), "gpuscan_scan");
    launch(w->queue, w->make_table, w->table_group, w->table_group);
    launch(w->queue, w->apply, w->pixels, w->apply_group);
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 1, 4, "equalize picture [before.png after.png plot.png]");
    double device_times[RUNS], cpu_times[RUNS], device_time, cpu_time;
    uint32_t counts[BINS], sums[BINS], expected_counts[BINS], expected_sums[BINS], new_counts[BINS];
    int width, height, channels, run, ok;
    size_t size, i;
    unsigned char *before, *after, *lumas, *expected;
    cl_uint pixels;
    cl_int code;
    cl_mem rgb, histogram, scan, table, out;
    cl_program program;
    gpuscan_info info;
    work w;

    if (argc == 3 || argc == 4)
        misused();
    before = load_picture(argv[1], &width, &height, &channels, 3);
    pixels = (cl_uint)width * (cl_uint)height;
    size = 3 * (size_t)pixels;
    after = (unsigned char *)allocate(size);
    expected = (unsigned char *)allocate(size);
    lumas = (unsigned char *)allocate(pixels);

    memset(&w, 0, sizeof w);
    w.gs = open_device(&info);
    w.queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    rgb = make_buffer(info.context, CL_MEM_READ_ONLY, size, before);
    histogram = make_buffer(info.context, CL_MEM_READ_WRITE, sizeof counts, NULL);
    scan = make_buffer(info.context, CL_MEM_READ_WRITE, sizeof sums, NULL);
    table = make_buffer(info.context, CL_MEM_READ_WRITE, BINS, NULL);
    out = make_buffer(info.context, CL_MEM_WRITE_ONLY, size, NULL);

    program = build_program(&info, &kernels, 1, "");
    w.pixels = pixels;
    w.make_table = make_kernel(program, "make_table");
    set(w.make_table, 0, sizeof histogram, &histogram);
    set(w.make_table, 1, sizeof scan, &scan);
    set(w.make_table, 2, sizeof table, &table);
    w.apply = make_kernel(program, "apply");
    set(w.apply, 0, sizeof rgb, &rgb);
    set(w.apply, 1, sizeof table, &table);
    set(w.apply, 2, sizeof out, &out);
    set(w.apply, 3, sizeof pixels, &pixels);
    w.table_group = group_size(&info, w.make_table, 256);
    w.apply_group = group_size(&info, w.apply, 256);

    w.histogram.samples.mem = rgb;
    w.histogram.channels = 3;
    w.histogram.custom = &luma;
    w.histogram.counts.mem = histogram;
    w.histogram.count = pixels;
    w.histogram.call.queue = w.queue;
    w.scan.src.mem = histogram;
    w.scan.dst.mem = scan;
    w.scan.count = BINS;
    w.scan.kind = GPUSCAN_INCLUSIVE;
    w.scan.call.queue = w.queue;

    equalize(&w); /* the first run builds what it needs */
    check(NULL, clFinish(w.queue), "clFinish");
    for (run = 0; run < RUNS; run++) {
        double start = now();
        equalize(&w);
        check(NULL, clFinish(w.queue), "clFinish");
        device_times[run] = now() - start;
        start = now();
        equalize_on_cpu(before, lumas, expected, pixels, expected_counts, expected_sums);
        cpu_times[run] = now() - start;
    }
    device_time = median(device_times, RUNS);
    cpu_time = median(cpu_times, RUNS);
    check(NULL, clEnqueueReadBuffer(w.queue, out, CL_TRUE, 0, size, after, 0, NULL, NULL), "clEnqueueReadBuffer");
    check(NULL, clEnqueueReadBuffer(w.queue, histogram, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    check(NULL, clEnqueueReadBuffer(w.queue, scan, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    ok = memcmp(counts, expected_counts, sizeof counts) == 0 && memcmp(sums, expected_sums, sizeof sums) == 0 &&
         memcmp(after, expected, size) == 0;

    memset(new_counts, 0, sizeof new_counts);
    for (i = 0; i < pixels; i++)
        new_counts[(77 * after[3 * i] + 150 * after[3 * i + 1] + 29 * after[3 * i + 2] + 128) >> 8]++;
    save_picture(argc > 2 ? argv[2] : "before.png", width, height, before);
    save_picture(argc > 2 ? argv[3] : "after.png", width, height, after);
    draw(argc > 2 ? argv[4] : "equalize.png", before, after, width, height, counts, new_counts);
    printf("device %.2f ms, picture already there, CPU loops %.2f ms (wall clock, medians of %d)\n", 1e3 * device_time,
           1e3 * cpu_time, RUNS);
    printf("equalize: %s pixels in %.2f ms, %.2f x the CPU loops: %s\n", commas(pixels), 1e3 * device_time,
           cpu_time / device_time, ok ? "each pixel equal to the CPU's" : "WRONG PIXELS");

    clReleaseKernel(w.make_table);
    clReleaseKernel(w.apply);
    clReleaseProgram(program);
    clReleaseMemObject(rgb);
    clReleaseMemObject(histogram);
    clReleaseMemObject(scan);
    clReleaseMemObject(table);
    clReleaseMemObject(out);
    clReleaseCommandQueue(w.queue);
    gpuscan_destroy(w.gs);
    stbi_image_free(before);
    free(after);
    free(expected);
    free(lumas);
    return !ok;
}
