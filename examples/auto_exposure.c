/* cc -O2 -I.. auto_exposure.c -o auto_exposure -lm -lOpenCL        (macOS: -framework OpenCL)

   auto_exposure picture [stops [before.png after.png plot.png]]

   Does what a camera or a game does each frame: computes the log-luminance of the picture's linear light, a histogram
   of it in which the middle of the picture weighs more, the histogram's percentiles, from these the exposure, and the
   tone mapping. All of it runs on the device; no value visits the host on the way.

   The photograph is taken back to linear light and made some stops (5 by default) darker, to stand for a scene that a
   fixed exposure misses. Another number of stops changes "before" and the exposure, but hardly "after". */
#define EXAMPLE_PICTURES
#define GPUSCAN_ONLY_HISTOGRAM
#define GPUSCAN_ONLY_QUANTILE
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN_LINK_OPENCL
#include "gpuscan.h"

/* 256 bins of 1/16 stop. Darker or brighter pixels count in the first or last bin. */
#define BINS    256
#define LOWEST  (-14)
#define HIGHEST 2
#define RUNS    9

/* The device's results, as the kernels see them: floats only. */
typedef struct exposure {
    float low, middle, high; /* the percentiles, as log2 of the luminance */
    float scale;             /* takes the mean of the three to middle gray, 0.18 */
    float white;             /* the scaled luminance that becomes white: the highest, or a stop above middle gray */
} exposure;

static const char *kernels =
    "typedef struct { float low, middle, high, scale, white; } exposure;\n"
    "float luminance(float3 c) {\n"
    "    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;\n"
    "}\n"
    /* The scene: linear light, as a renderer's float target or a raw file would hold it. */
    "kernel void make_scene(global const uchar *rgb, global const float *to_linear, global float *scene, float gain,\n"
    "                       uint pixels) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < pixels) {\n"
    "        uchar4 c = (uchar4)(vload3(i, rgb), 0);\n"
    "        vstore3(gain * (float3)(to_linear[c.x], to_linear[c.y], to_linear[c.z]), i, scene);\n"
    "    }\n"
    "}\n"
    /* Weights are 16 in the middle down to 1 in the corners, in integers, so that the histogram is exact. */
    "kernel void meter(global const float *scene, global float *logs, global uchar *weights, uint width,\n"
    "                  uint height) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < width * height) {\n"
    "        float x = (i % width + 0.5f) / width - 0.5f, y = (i / width + 0.5f) / height - 0.5f;\n"
    "        logs[i] = log2(luminance(vload3(i, scene)));\n" /* black is -infinity: the first bin takes it */
    "        weights[i] = (uchar)(1.5f + 15.0f * exp(-8.0f * (x * x + y * y)));\n"
    "    }\n"
    "}\n"
    "kernel void expose(global const float *found, global exposure *result) {\n"
    "    result->low = found[0];\n"
    "    result->middle = found[1];\n"
    "    result->high = found[2];\n"
    "    result->scale = 0.18f / exp2((found[0] + found[1] + found[2]) / 3.0f);\n"
    "    result->white = fmax(0.36f, result->scale * exp2(found[2]));\n"
    "}\n"
    /* Reinhard's curve with a white point, on the luminance, so that hues stay. result 0: only clips at 1. */
    "kernel void tone_map(global const float *scene, global const exposure *result, global const uchar *from_linear,\n"
    "                     global uchar *out, uint pixels) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < pixels) {\n"
    "        float3 c = vload3(i, scene);\n"
    "        if (result) {\n"
    "            float before = result->scale * luminance(c), white = result->white;\n"
    "            c *= result->scale * (1.0f + before / (white * white)) / (1.0f + before);\n"
    "        }\n"
    "        int3 k = convert_int3(4095.0f * clamp(c, 0.0f, 1.0f) + 0.5f);\n"
    "        vstore3((uchar3)(from_linear[k.x], from_linear[k.y], from_linear[k.z]), i, out);\n"
    "    }\n"
    "}\n";

static void read_back(cl_command_queue queue, cl_mem buffer, size_t size, void *to) {
    check(NULL, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}

/* Makes sRGB's transfer function both ways, as tables. One step of the fine one changes its result by at most 1. */
static void make_tables(float *to_linear, unsigned char *from_linear) {
    int k;
    for (k = 0; k < 256; k++)
        to_linear[k] = (float)(k <= 10 ? k / (12.92 * 255) : pow((k / 255.0 + 0.055) / 1.055, 2.4));
    for (k = 0; k < 4096; k++) {
        double v = k / 4095.0;
        v = v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
        from_linear[k] = (unsigned char)(255 * v + 0.5);
    }
}

/* Computes the histogram in plain C from the device's own logarithms: pow and log2 may differ in the last bit between
   devices, but the counts may not. The edges are exact: multiples of 1/16. */
static void count_on_cpu(const float *logs, const unsigned char *weights, size_t pixels, uint32_t *counts) {
    size_t i;
    memset(counts, 0, BINS * sizeof *counts);
    for (i = 0; i < pixels; i++) {
        double place = ((double)logs[i] - LOWEST) * (BINS / (HIGHEST - LOWEST));
        counts[place < 0 ? 0 : place >= BINS ? BINS - 1 : (int)place] += weights[i];
    }
}

static double percentile_on_cpu(const uint32_t *counts, double share) {
    double total = 0, sum = 0;
    int k;
    for (k = 0; k < BINS; k++)
        total += counts[k];
    for (k = 0; k < BINS && sum + counts[k] < share * total; k++)
        sum += counts[k];
    return LOWEST + (double)(HIGHEST - LOWEST) / BINS * (k + (share * total - sum) / counts[k]);
}

static void mark(canvas *c, const chart *t, double value, double height, color ink, const char *name) {
    double x = chart_x(t, value);
    char text[64];
    snprintf(text, sizeof text, "%s: %.2f", name, value);
    canvas_line(c, x, height, x, t->y + t->h, 2, ink);
    canvas_text(c, x + 6, height, 0, 2, ink, text);
}

static void draw(const char *path, const unsigned char *before, const unsigned char *after, int width, int height,
                 const uint32_t *counts, const exposure *e) {
    canvas c = canvas_new(1120, 760);
    chart t = {130, 480, 920, 200, LOWEST, HIGHEST, 0};
    color title = make_color(20, 22, 26), orange = make_color(225, 105, 20);
    double w = 450, h = w * height / width, y;
    char text[64];
    if (h > 350) {
        w = 350.0 * width / height;
        h = 350;
    }
    y = 60 + (350 - h) / 2;
    canvas_text(&c, 90, 20, 0, 3, title, "fixed exposure");
    snprintf(text, sizeof text, "automatic: %.1f times", (double)e->scale);
    canvas_text(&c, 600, 20, 0, 3, title, text);
    canvas_picture(&c, 90 + (450 - w) / 2, y, w, h, before, width, height);
    canvas_picture(&c, 600 + (450 - w) / 2, y, w, h, after, width, height);
    t.y_max = 1.25 * chart_limit(counts, BINS); /* room for the marks */
    chart_axes(&c, &t, 1, "log2 of the luminance", "pixels, weighted");
    chart_bars(&c, &t, counts, BINS, make_color(35, 95, 200), 0.7);
    mark(&c, &t, (double)e->low, t.y + 4, orange, "5 %");
    mark(&c, &t, (double)e->middle, t.y + 24, orange, "50 %");
    mark(&c, &t, (double)e->high, t.y + 44, orange, "99 %");
    canvas_save(&c, path);
}

/* All that is enqueued for one frame. */
typedef struct work {
    gpuscan *gs;
    cl_command_queue queue;
    cl_kernel meter, expose, tone_map;
    size_t meter_group, tone_map_group, pixels;
    gpuscan_histogram_desc histogram;
    gpuscan_quantile_desc quantile;
} work;

static void frame(const work *w) {
    launch(w->queue, w->meter, w->pixels, w->meter_group);
    check(w->gs, gpuscan_histogram(w->gs, &w->histogram), "gpuscan_histogram");
    check(w->gs, gpuscan_quantile(w->gs, &w->quantile), "gpuscan_quantile");
    launch(w->queue, w->expose, 1, 1);
    launch(w->queue, w->tone_map, w->pixels, w->tone_map_group);
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 1, 5, "auto_exposure picture [stops [before.png after.png plot.png]]");
    static const double shares[3] = {0.05, 0.50, 0.99};
    double times[RUNS], time;
    uint32_t counts[BINS], expected[BINS];
    int width, height, channels, run, ok;
    float stops = argc > 2 ? (float)number(argv[2], -20, 20) : 5.0f, gain = exp2f(-stops);
    float *logs;
    size_t size;
    float to_linear[256];
    unsigned char from_linear[4096], *before, *after, *weights;
    cl_uint pixels, wide, high;
    cl_int code;
    cl_mem rgb, to_table, from_table, scene, log_buffer, weight_buffer, histogram, found, result, out, none = NULL;
    cl_program program;
    cl_kernel make_scene;
    exposure e;
    gpuscan_info info;
    work w;

    if (argc == 4 || argc == 5)
        misused();
    before = load_picture(argv[1], &width, &height, &channels, 3);
    wide = (cl_uint)width;
    high = (cl_uint)height;
    pixels = wide * high;
    size = 3 * (size_t)pixels;
    after = (unsigned char *)allocate(size);
    weights = (unsigned char *)allocate(pixels);
    logs = (float *)allocate(pixels * sizeof(float));

    memset(&w, 0, sizeof w);
    w.gs = open_device(&info);
    w.queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    rgb = make_buffer(info.context, CL_MEM_READ_ONLY, size, before);
    make_tables(to_linear, from_linear);
    to_table = make_buffer(info.context, CL_MEM_READ_ONLY, sizeof to_linear, to_linear);
    from_table = make_buffer(info.context, CL_MEM_READ_ONLY, sizeof from_linear, from_linear);
    scene = make_buffer(info.context, CL_MEM_READ_WRITE, size * sizeof(float), NULL);
    log_buffer = make_buffer(info.context, CL_MEM_READ_WRITE, pixels * sizeof(float), NULL);
    weight_buffer = make_buffer(info.context, CL_MEM_READ_WRITE, pixels, NULL);
    histogram = make_buffer(info.context, CL_MEM_READ_WRITE, sizeof counts, NULL);
    found = make_buffer(info.context, CL_MEM_READ_WRITE, 3 * sizeof(float), NULL);
    result = make_buffer(info.context, CL_MEM_READ_WRITE, sizeof e, NULL);
    out = make_buffer(info.context, CL_MEM_WRITE_ONLY, size, NULL);

    program = build_program(&info, &kernels, 1, "");
    make_scene = make_kernel(program, "make_scene");
    set(make_scene, 0, sizeof rgb, &rgb);
    set(make_scene, 1, sizeof to_table, &to_table);
    set(make_scene, 2, sizeof scene, &scene);
    set(make_scene, 3, sizeof gain, &gain);
    set(make_scene, 4, sizeof pixels, &pixels);
    w.pixels = pixels;
    w.meter = make_kernel(program, "meter");
    set(w.meter, 0, sizeof scene, &scene);
    set(w.meter, 1, sizeof log_buffer, &log_buffer);
    set(w.meter, 2, sizeof weight_buffer, &weight_buffer);
    set(w.meter, 3, sizeof wide, &wide);
    set(w.meter, 4, sizeof high, &high);
    w.expose = make_kernel(program, "expose");
    set(w.expose, 0, sizeof found, &found);
    set(w.expose, 1, sizeof result, &result);
    w.tone_map = make_kernel(program, "tone_map");
    set(w.tone_map, 0, sizeof scene, &scene);
    set(w.tone_map, 1, sizeof none, &none);
    set(w.tone_map, 2, sizeof from_table, &from_table);
    set(w.tone_map, 3, sizeof out, &out);
    set(w.tone_map, 4, sizeof pixels, &pixels);
    w.meter_group = group_size(&info, w.meter, 256);
    w.tone_map_group = group_size(&info, w.tone_map, 256);

    w.histogram.samples.mem = log_buffer;
    w.histogram.sample_type = GPUSCAN_TYPE_F32;
    w.histogram.lower.f = LOWEST;
    w.histogram.upper.f = HIGHEST;
    w.histogram.outside = GPUSCAN_OUTSIDE_CLAMP;
    w.histogram.weights.mem = weight_buffer;
    w.histogram.weight_type = GPUSCAN_TYPE_U8;
    w.histogram.counts.mem = histogram;
    w.histogram.count = pixels;
    w.histogram.call.queue = w.queue;
    w.quantile.counts.mem = histogram;
    w.quantile.dst.mem = found;
    w.quantile.bins = BINS;
    w.quantile.fractions = shares;
    w.quantile.fraction_count = 3;
    w.quantile.form = GPUSCAN_QUANTILE_VALUE;
    w.quantile.lower = LOWEST;
    w.quantile.upper = HIGHEST;
    w.quantile.call.queue = w.queue;

    launch(w.queue, make_scene, pixels, group_size(&info, make_scene, 256));
    launch(w.queue, w.tone_map, pixels, w.tone_map_group); /* without a result: the fixed exposure */
    read_back(w.queue, out, size, before);
    set(w.tone_map, 1, sizeof result, &result);

    frame(&w); /* the first frame builds what it needs */
    check(NULL, clFinish(w.queue), "clFinish");
    for (run = 0; run < RUNS; run++) {
        double start = now();
        frame(&w);
        check(NULL, clFinish(w.queue), "clFinish");
        times[run] = now() - start;
    }
    time = median(times, RUNS);
    read_back(w.queue, out, size, after);
    read_back(w.queue, histogram, sizeof counts, counts);
    read_back(w.queue, log_buffer, pixels * sizeof(float), logs);
    read_back(w.queue, weight_buffer, pixels, weights);
    read_back(w.queue, result, sizeof e, &e);

    count_on_cpu(logs, weights, pixels, expected);
    ok = memcmp(counts, expected, sizeof counts) == 0 &&
         fabs((double)e.low - percentile_on_cpu(expected, 0.05)) < 1e-3 &&
         fabs((double)e.middle - percentile_on_cpu(expected, 0.50)) < 1e-3 &&
         fabs((double)e.high - percentile_on_cpu(expected, 0.99)) < 1e-3;

    printf("log2 luminance, centre-weighted: 5 %% below %.2f, 50 %% below %.2f, 99 %% below %.2f\n", (double)e.low,
           (double)e.middle, (double)e.high);
    printf("exposure %.2f times (%+.2f stops), white at %.2f times middle gray\n", (double)e.scale,
           log2((double)e.scale), (double)e.white / 0.18);
    save_picture(argc > 3 ? argv[3] : "before.png", width, height, before);
    save_picture(argc > 3 ? argv[4] : "after.png", width, height, after);
    draw(argc > 3 ? argv[5] : "auto_exposure.png", before, after, width, height, counts, &e);
    printf("auto_exposure: %s pixels metered, exposed and tone-mapped in %.2f ms: %s\n", commas(pixels), 1e3 * time,
           ok ? "histogram and percentiles as on the CPU" : "WRONG VALUES");

    clReleaseKernel(make_scene);
    clReleaseKernel(w.meter);
    clReleaseKernel(w.expose);
    clReleaseKernel(w.tone_map);
    clReleaseProgram(program);
    clReleaseMemObject(rgb);
    clReleaseMemObject(to_table);
    clReleaseMemObject(from_table);
    clReleaseMemObject(scene);
    clReleaseMemObject(log_buffer);
    clReleaseMemObject(weight_buffer);
    clReleaseMemObject(histogram);
    clReleaseMemObject(found);
    clReleaseMemObject(result);
    clReleaseMemObject(out);
    clReleaseCommandQueue(w.queue);
    gpuscan_destroy(w.gs);
    stbi_image_free(before);
    free(after);
    free(weights);
    free(logs);
    return !ok;
}
