/* cc -O2 -I.. clahe.c -o clahe -lm -lOpenCL        (macOS: -framework OpenCL)

   clahe picture [limit [before.png after.png]]

   Contrast limited adaptive histogram equalisation. The picture is cut into 8 x 8 tiles. Each tile has a histogram of
   its lumas, whose bins are cut at `limit` (3 by default) times their mean; the excess is spread evenly over all bins.
   The histogram's inclusive scan maps lumas to lumas, and a pixel takes the maps of the four tiles whose middles
   surround it, mixed by distance. One call counts all tiles, one scans them all; the other two kernels are here. Hues
   do not change.

   Zuiderveld, "Contrast limited adaptive histogram equalization", Graphics Gems IV, 1994. */
#define EXAMPLE_PICTURES
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_ONLY_HISTOGRAM
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN_LINK_OPENCL
#include "gpuscan.h"

#define BINS  256
#define TILES 8 /* in each direction */
#define RUNS  9

static const char *kernels = RECOLOR_TEXT
    /* One work-item for each tile: cuts its bins, and gives each an equal share of the excess. */
    "kernel void clip(global uint *counts, uint limit_256) {\n" /* of the limit, in 256ths of a bin's mean */
    "    global uint *bins = counts + 256 * get_global_id(0);\n"
    "    ulong pixels = 0, excess = 0;\n"
    "    uint v, limit;\n"
    "    for (v = 0; v < 256; v++)\n"
    "        pixels += bins[v];\n"
    "    limit = max((uint)(pixels * limit_256 / 65536), 1u);\n"
    "    for (v = 0; v < 256; v++) {\n"
    "        excess += bins[v] - min(bins[v], limit);\n"
    "        bins[v] = min(bins[v], limit);\n"
    "    }\n"
    "    for (v = 0; v < 256; v++)\n"
    "        bins[v] += (uint)(excess / 256) + (v < excess % 256 ? 1 : 0);\n"
    "}\n"
    /* Returns the new value of luma v of a tile. */
    "long map(global const uint *sums, int tile, int v) {\n"
    "    ulong most = sums[256 * tile + 255];\n"
    "    return (long)((255ul * sums[256 * tile + v] + most / 2) / most);\n"
    "}\n"
    /* Returns the tile whose middle is at or before a pixel; *past: the pixel's distance from it in half pixels. */
    "int before(int at, int size, int tiles, long *past) {\n"
    "    int from = 2 * at + 1 - size, tile = from < 0 ? 0 : from / (2 * size);\n"
    "    *past = from < 0 || tile >= tiles - 1 ? 0 : from % (2 * size);\n"
    "    return min(tile, tiles - 1);\n"
    "}\n"
    "kernel void apply(global const uchar *rgb, global const uint *sums, global uchar *out, int width, int height,\n"
    "                  int tile_width, int tile_height, int across, int down) {\n"
    "    int i = get_global_id(0);\n"
    "    if (i < width * height) {\n"
    "        int3 c = convert_int3(vload3(i, rgb));\n"
    "        int y = LUMA(c.x, c.y, c.z), z;\n"
    "        long px, py, w = 2 * tile_width, h = 2 * tile_height;\n"
    "        int tx = before(i % width, tile_width, across, &px), right = px ? 1 : 0;\n"
    "        int ty = before(i / width, tile_height, down, &py), below = py ? across : 0, tile = ty * across + tx;\n"
    "        long top = (w - px) * map(sums, tile, y) + px * map(sums, tile + right, y);\n"
    "        long bottom = (w - px) * map(sums, tile + below, y) + px * map(sums, tile + below + right, y);\n"
    "        z = (int)(((h - py) * top + py * bottom + w * h / 2) / (w * h));\n"
    "        vstore3(recolor(c, y, z), i, out);\n"
    "    }\n"
    "}\n";

/* All that is enqueued for one picture. */
typedef struct work {
    gpuscan *gs;
    cl_command_queue queue;
    cl_kernel clip, apply;
    size_t clip_group, apply_group, pixels, tiles;
    gpuscan_histogram_desc histogram;
    gpuscan_scan_desc scan;
} work;

static void enhance(const work *w) {
    check(w->gs, gpuscan_histogram(w->gs, &w->histogram), "gpuscan_histogram");
    launch(w->queue, w->clip, w->tiles, w->clip_group);
    check(w->gs, gpuscan_scan(w->gs, &w->scan), "gpuscan_scan");
    launch(w->queue, w->apply, w->pixels, w->apply_group);
}

/* Does the same in plain C: the reference, and what the device is timed against. */
typedef struct grid {
    int width, height, tile_width, tile_height, across, down;
} grid;

static void maps_on_cpu(const unsigned char *rgb, const grid *g, unsigned limit_256, uint32_t *sums) {
    int x, y, v, t;
    memset(sums, 0, (size_t)(g->across * g->down) * BINS * sizeof *sums);
    for (y = 0; y < g->height; y++)
        for (x = 0; x < g->width; x++, rgb += 3)
            sums[BINS * (y / g->tile_height * g->across + x / g->tile_width) + LUMA(rgb[0], rgb[1], rgb[2])]++;
    for (t = 0; t < g->across * g->down; t++, sums += BINS) {
        uint64_t pixels = 0, excess = 0;
        uint32_t limit, sum = 0;
        for (v = 0; v < BINS; v++)
            pixels += sums[v];
        limit = (uint32_t)(pixels * limit_256 / 65536);
        limit = limit ? limit : 1;
        for (v = 0; v < BINS; v++)
            excess += sums[v] > limit ? sums[v] - limit : 0;
        for (v = 0; v < BINS; v++) {
            uint32_t kept = sums[v] < limit ? sums[v] : limit;
            sum += kept + (uint32_t)(excess / BINS) + ((uint64_t)v < excess % BINS);
            sums[v] = sum;
        }
    }
}

static int64_t map_on_cpu(const uint32_t *sums, int tile, int v) {
    uint64_t most = sums[BINS * tile + BINS - 1];
    return (int64_t)((255 * (uint64_t)sums[BINS * tile + v] + most / 2) / most);
}

static int before_on_cpu(int at, int size, int tiles, int64_t *past) {
    int from = 2 * at + 1 - size, tile = from < 0 ? 0 : from / (2 * size);
    *past = from < 0 || tile >= tiles - 1 ? 0 : from % (2 * size);
    return tile < tiles - 1 ? tile : tiles - 1;
}

static void apply_on_cpu(const unsigned char *rgb, const grid *g, const uint32_t *sums, unsigned char *out) {
    int64_t w = 2 * g->tile_width, h = 2 * g->tile_height, px, py;
    int i;
    for (i = 0; i < g->width * g->height; i++, rgb += 3, out += 3) {
        int y = LUMA(rgb[0], rgb[1], rgb[2]), z, right, below, tile;
        int64_t top, bottom;
        tile = before_on_cpu(i % g->width, g->tile_width, g->across, &px);
        tile += before_on_cpu(i / g->width, g->tile_height, g->down, &py) * g->across;
        right = px ? 1 : 0;
        below = py ? g->across : 0;
        top = (w - px) * map_on_cpu(sums, tile, y) + px * map_on_cpu(sums, tile + right, y);
        bottom = (w - px) * map_on_cpu(sums, tile + below, y) + px * map_on_cpu(sums, tile + below + right, y);
        z = (int)(((h - py) * top + py * bottom + w * h / 2) / (w * h));
        recolor(out, rgb, y, z);
    }
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 1, 4, "clahe picture [limit, 1 to 256 [before.png after.png]]");
    static const gpuscan_custom luma = {NULL, NULL, 0, NULL, NULL, TEXT(LUMA(x.x, x.y, x.z)), NULL, NULL, NULL};
    const char *texts[] = {"#define LUMA(r, g, b) " TEXT(LUMA(r, g, b)) "\n", NULL};
    double device_times[RUNS], cpu_times[RUNS], device_time, cpu_time, limit = argc > 2 ? number(argv[2], 1, 256) : 3;
    cl_uint limit_256 = (cl_uint)(256 * limit);
    unsigned char *before, *after, *expected;
    uint32_t *sums;
    int channels, run, ok, k;
    size_t size, sums_size;
    cl_int code;
    cl_mem rgb, counts, out;
    cl_program program;
    gpuscan_info info;
    grid g;
    work w;

    if (argc == 4)
        misused();
    before = load_picture(argv[1], &g.width, &g.height, &channels, 3);
    g.tile_width = (g.width + TILES - 1) / TILES; /* the last tiles may be smaller, or missing */
    g.tile_height = (g.height + TILES - 1) / TILES;
    g.across = (g.width + g.tile_width - 1) / g.tile_width;
    g.down = (g.height + g.tile_height - 1) / g.tile_height;
    memset(&w, 0, sizeof w);
    w.pixels = (size_t)g.width * (size_t)g.height;
    w.tiles = (size_t)(g.across * g.down);
    size = 3 * w.pixels;
    sums_size = w.tiles * BINS * sizeof *sums;
    after = (unsigned char *)allocate(size);
    expected = (unsigned char *)allocate(size);
    sums = (uint32_t *)allocate(sums_size);

    w.gs = open_device(&info);
    w.queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    rgb = make_buffer(info.context, CL_MEM_READ_ONLY, size, before);
    counts = make_buffer(info.context, CL_MEM_READ_WRITE, sums_size, NULL);
    out = make_buffer(info.context, CL_MEM_WRITE_ONLY, size, NULL);

    w.histogram.samples.mem = rgb;
    w.histogram.channels = 3;
    w.histogram.custom = &luma;
    w.histogram.counts.mem = counts;
    w.histogram.count = (uint64_t)g.width;
    w.histogram.rows = (uint64_t)g.height;
    w.histogram.tile_width = (uint64_t)g.tile_width;
    w.histogram.tile_height = (uint64_t)g.tile_height;
    w.histogram.call.queue = w.queue;
    w.scan.src.mem = w.scan.dst.mem = counts; /* in place: a row for each tile */
    w.scan.count = BINS;
    w.scan.rows = w.tiles;
    w.scan.kind = GPUSCAN_INCLUSIVE;
    w.scan.call.queue = w.queue;

    texts[1] = kernels;
    program = build_program(&info, texts, 2, "");
    w.clip = make_kernel(program, "clip");
    set(w.clip, 0, sizeof counts, &counts);
    set(w.clip, 1, sizeof limit_256, &limit_256);
    w.apply = make_kernel(program, "apply");
    set(w.apply, 0, sizeof rgb, &rgb);
    set(w.apply, 1, sizeof counts, &counts);
    set(w.apply, 2, sizeof out, &out);
    for (k = 0; k < 6; k++) {
        const cl_int numbers[] = {g.width, g.height, g.tile_width, g.tile_height, g.across, g.down};
        set(w.apply, (cl_uint)(3 + k), sizeof numbers[k], &numbers[k]);
    }
    w.clip_group = 1;
    w.apply_group = group_size(&info, w.apply, 256);

    enhance(&w); /* the first run builds what it needs */
    check(NULL, clFinish(w.queue), "clFinish");
    for (run = 0; run < RUNS; run++) {
        double start = now();
        enhance(&w);
        check(NULL, clFinish(w.queue), "clFinish");
        device_times[run] = now() - start;
        start = now();
        maps_on_cpu(before, &g, limit_256, sums);
        apply_on_cpu(before, &g, sums, expected);
        cpu_times[run] = now() - start;
    }
    device_time = median(device_times, RUNS);
    cpu_time = median(cpu_times, RUNS);
    check(NULL, clEnqueueReadBuffer(w.queue, out, CL_TRUE, 0, size, after, 0, NULL, NULL), "clEnqueueReadBuffer");
    ok = memcmp(after, expected, size) == 0;
    save_picture(argc > 3 ? argv[3] : "before.png", g.width, g.height, before);
    save_picture(argc > 3 ? argv[4] : "after.png", g.width, g.height, after);
    printf("device %.2f ms, picture already there, CPU loops %.2f ms (wall clock, medians of %d)\n", 1e3 * device_time,
           1e3 * cpu_time, RUNS);
    printf("clahe: %s pixels in %d tiles in %.2f ms, %.2f x the CPU loops: %s\n", commas((uint64_t)w.pixels),
           (int)w.tiles, 1e3 * device_time, cpu_time / device_time,
           ok ? "each pixel equal to the CPU's" : "WRONG PIXELS");

    clReleaseKernel(w.clip);
    clReleaseKernel(w.apply);
    clReleaseProgram(program);
    clReleaseMemObject(rgb);
    clReleaseMemObject(counts);
    clReleaseMemObject(out);
    clReleaseCommandQueue(w.queue);
    gpuscan_destroy(w.gs);
    stbi_image_free(before);
    free(after);
    free(expected);
    free(sums);
    return !ok;
}
