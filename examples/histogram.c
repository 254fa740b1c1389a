/* cc -O2 -I.. histogram.c -o histogram -lm

   histogram picture [plot.png]

   Counts the 256 values of each channel of a PNG, JPEG or BMP on the device, shows the counts as bars in the terminal
   and draws them into a PNG. One call on host arrays does the counting; the program itself uses no OpenCL. */
#define EXAMPLE_PICTURES
#define GPUSCAN_ONLY_HISTOGRAM
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"

#define BINS    256
#define RUNS    9
#define COLUMNS 64 /* of the bars in the terminal */
#define ROWS    6

/* Does the same in plain C: the reference, and what the device is timed against. */
static void count_on_cpu(const unsigned char *samples, size_t pixels, int channels, int counted, uint32_t *counts) {
    size_t p;
    int c;
    memset(counts, 0, (size_t)counted * BINS * sizeof *counts);
    for (p = 0; p < pixels; p++)
        for (c = 0; c < counted; c++)
            counts[c * BINS + samples[p * (size_t)channels + (size_t)c]]++;
}

/* Prints a channel as bars of characters: each column is four bins, each row two steps of height. */
static void print_bars(const char *name, const uint32_t *counts) {
    uint32_t sums[COLUMNS] = {0}, most = 1;
    int column, row, k;
    for (k = 0; k < BINS; k++)
        sums[k * COLUMNS / BINS] += counts[k];
    for (column = 0; column < COLUMNS; column++)
        most = sums[column] > most ? sums[column] : most;
    for (row = ROWS; row > 0; row--) {
        printf("%8s |", row == ROWS ? name : "");
        for (column = 0; column < COLUMNS; column++) {
            double height = 2.0 * ROWS * sums[column] / most;
            putchar(height >= 2 * row - 0.5 ? '#' : height >= 2 * row - 1.5 ? ':' : row == 1 && height > 0 ? '.' : ' ');
        }
        printf("|\n");
    }
}

static void draw(const char *path, const char *picture, int width, int height, const uint32_t *counts, int counted,
                 const char *const *names, const color *inks) {
    canvas c = canvas_new(1100, 560);
    chart t = {110, 90, 950, 390, 0, 256, 0};
    const char *slash = strrchr(picture, '/');
    char title[256];
    double x = t.x + t.w;
    int k;
    for (k = 0; k < counted; k++) {
        double limit = chart_limit(counts + k * BINS, BINS);
        t.y_max = limit > t.y_max ? limit : t.y_max;
    }
    chart_axes(&c, &t, 32, "value", "pixels");
    for (k = 0; k < counted; k++)
        chart_bars(&c, &t, counts + k * BINS, BINS, inks[k], 0.25);
    for (k = 0; k < counted; k++)
        chart_steps(&c, &t, counts + k * BINS, BINS, inks[k]);
    for (k = counted; k-- > 0; x -= 26) { /* the legend, from the right */
        canvas_text(&c, x, t.y - 26, 1, 2, make_color(60, 64, 72), names[k]);
        x -= text_width(names[k], 2) + 22;
        canvas_rect(&c, x, t.y - 26, x + 14, t.y - 12, inks[k], 1.0);
    }
    snprintf(title, sizeof title, "%s, %d x %d pixels", slash ? slash + 1 : picture, width, height);
    canvas_text(&c, t.x, 22, 0, 3, make_color(20, 22, 26), title);
    canvas_save(&c, path);
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 1, 2, "histogram picture [plot.png]");
    static const char *const colored[] = {"red", "green", "blue"}, *const gray[] = {"gray"};
    const color inks[] = {{214, 40, 40}, {36, 150, 60}, {35, 95, 200}}, black[] = {{60, 64, 72}};
    uint32_t counts[3 * BINS], expected[3 * BINS];
    double device_times[RUNS], cpu_times[RUNS], device_time, cpu_time;
    int width, height, channels, counted, run, k;
    size_t pixels;
    unsigned char *samples;
    gpuscan_info info;
    gpuscan_histogram_desc desc;
    gpuscan *gs;

    samples = load_picture(argv[1], &width, &height, &channels, 0);
    pixels = (size_t)width * (size_t)height;
    counted = channels < 3 ? 1 : 3; /* all but the alpha channel of two or four */
    gs = open_device(&info);

    memset(&desc, 0, sizeof desc); /* zero means u8 samples, u32 counters and 256 bins */
    desc.channels = (uint32_t)channels;
    desc.channel_mask = (1u << counted) - 1;
    check(gs, gpuscan_histogram_host(gs, samples, counts, pixels, &desc), "gpuscan_histogram_host"); /* builds, too */
    for (run = 0; run < RUNS; run++) {
        double start = now();
        check(gs, gpuscan_histogram_host(gs, samples, counts, pixels, &desc), "gpuscan_histogram_host");
        device_times[run] = now() - start;
        start = now();
        count_on_cpu(samples, pixels, channels, counted, expected);
        cpu_times[run] = now() - start;
    }
    device_time = median(device_times, RUNS);
    cpu_time = median(cpu_times, RUNS);

    for (k = 0; k < counted; k++)
        print_bars(counted == 3 ? colored[k] : gray[k], counts + k * BINS);
    printf("%8s  %-*s%s\n", "", COLUMNS - 3, "0", "255");
    draw(argc > 2 ? argv[2] : "histogram.png", argv[1], width, height, counts, counted, counted == 3 ? colored : gray,
         counted == 3 ? inks : black);
    printf("device %.2f ms with the transfers, CPU loop %.2f ms (wall clock, medians of %d)\n", 1e3 * device_time,
           1e3 * cpu_time, RUNS);

    k = memcmp(counts, expected, (size_t)counted * BINS * sizeof *counts) == 0;
    printf("histogram: %s samples in %.2f ms, %.2f x the CPU loop: %s\n", commas((uint64_t)pixels * (uint64_t)counted),
           1e3 * device_time, cpu_time / device_time, k ? "equal to the CPU's counts" : "WRONG COUNTS");
    gpuscan_destroy(gs);
    stbi_image_free(samples);
    return !k;
}
