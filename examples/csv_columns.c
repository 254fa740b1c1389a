/* cc -O2 -I.. csv_columns.c -o csv_columns

   csv_columns [file.csv]

   Finds the fields of a CSV text on the device by two calls, and prints for each column how many of its fields are
   empty and how long they are. Commas and line ends between quotes separate nothing. Without a file it makes a text
   of a million lines.

     1. A scan marks every character between quotes. Its operator carries two things along the text: the last
        character, and in the highest bit whether the number of quotes so far is odd.
     2. A selection keeps the unmarked commas and line ends, with their positions: the ends of all fields.

   The rest is a loop over the fields' ends; a plain loop over the text checks them. */
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_ONLY_SELECT
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"

enum { COLUMNS = 64, RUNS = 9 };

/* Other bytes above 127 are parts of UTF-8 characters, and count as a letter. 0 stands for no character. */
static const gpuscan_custom marks = {
    "uchar marked(uchar a, uchar b) { return ((a ^ b) & 0x80) | (b & 0x7f ? b & 0x7f : a & 0x7f); }\n",
    NULL, 0, "marked(a, b)", "(uchar)0", "x == '\"' ? (uchar)0xA2 : x > 127 ? (uchar)'a' : x", NULL, NULL, NULL};
static const gpuscan_custom separators = {NULL, NULL, 0, NULL, NULL, NULL, "x == ',' || x == '\\n'", NULL, NULL};

typedef struct {
    uint64_t fields, empty, bytes, longest;
} column;

/* Reads the whole file, or without a name makes a million lines. Adds a missing line end at the end. */
static unsigned char *read_text(const char *name, size_t *size) {
    const size_t room = (size_t)1 << 27;
    unsigned char *text = (unsigned char *)allocate(room);
    FILE *file = name ? fopen(name, "rb") : NULL;
    size_t at = 0, line;
    if (name && !file)
        fail(name, strerror(errno));
    if (file) {
        at = fread(text, 1, room - 1, file);
        if (!feof(file))
            printf("only the first %s bytes are looked at\n", commas(at));
        fclose(file);
    }
    for (line = 0; !file && line < 1000000; line++)
        at += (size_t)snprintf((char *)text + at, room - at, "%u,item %u,\"%u, %s\",%s\n", (unsigned)line,
                               (unsigned)(line * 7919 % 1000), (unsigned)(line % 97),
                               line % 5 ? "short" : "with\na line end", line % 3 ? "x" : "");
    if (at > 0 && text[at - 1] != '\n')
        text[at++] = '\n';
    *size = at;
    return text;
}

/* Does the same by a plain loop. ends: positions of the separators. Returns their number. */
static size_t find_on_cpu(const unsigned char *text, size_t size, uint32_t *ends) {
    size_t i, found = 0;
    int quoted = 0;
    for (i = 0; i < size; i++) {
        quoted ^= text[i] == '"';
        if (!quoted && (text[i] == ',' || text[i] == '\n'))
            ends[found++] = (uint32_t)i;
    }
    return found;
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 0, 1, "csv_columns [file.csv]");
    static column columns[COLUMNS];
    gpuscan_info info;
    gpuscan *gs = open_device(&info);
    size_t size, i, lines = 0, k = 0, most = 0, wanted = 0;
    unsigned char *text = read_text(argc > 1 ? argv[1] : NULL, &size);
    unsigned char *marked = (unsigned char *)allocate(size), *kinds = (unsigned char *)allocate(size);
    uint32_t *ends = (uint32_t *)allocate(size * sizeof *ends), *by_loop = (uint32_t *)allocate(size * sizeof *ends);
    uint64_t found = 0, begin = 0;
    double start, first_time = 0, device_times[RUNS], cpu_times[RUNS], device_time, cpu_time;
    int run;
    gpuscan_scan_desc scan;
    gpuscan_select_desc select;

    memset(&scan, 0, sizeof scan);
    scan.src_type = scan.dst_type = GPUSCAN_TYPE_U8;
    scan.op = GPUSCAN_OP_CUSTOM;
    scan.custom = &marks;
    scan.kind = GPUSCAN_INCLUSIVE;
    memset(&select, 0, sizeof select);
    select.type = GPUSCAN_TYPE_U8;
    select.by = GPUSCAN_SELECT_PREDICATE;
    select.custom = &separators;
    select.host_indices = ends;
    for (run = -1; run < RUNS; run++) { /* the first call builds the programs */
        start = now();
        check(gs, gpuscan_scan_host(gs, text, marked, size, &scan), "gpuscan_scan_host");
        check(gs, gpuscan_select_host(gs, marked, NULL, kinds, size, &found, &select), "gpuscan_select_host");
        *(run < 0 ? &first_time : &device_times[run]) = now() - start;
    }
    device_time = median(device_times, RUNS);

    for (i = 0; i < found; i++) { /* kinds[i] is the comma or line end that ends field i, at ends[i] */
        uint64_t bytes = ends[i] - begin;
        if (k < COLUMNS) {
            columns[k].fields++;
            columns[k].empty += bytes == 0;
            columns[k].bytes += bytes;
            columns[k].longest = bytes > columns[k].longest ? bytes : columns[k].longest;
        }
        begin = (uint64_t)ends[i] + 1;
        k++;
        most = k > most ? k : most;
        if (kinds[i] == '\n') {
            lines++;
            k = 0;
        }
    }
    printf("%s bytes, %s lines, %s fields\n", commas(size), commas(lines), commas(found));
    printf("  column     fields      empty  mean bytes  longest\n");
    for (k = 0; k < most && k < COLUMNS; k++)
        printf("%8d %10s %10s %11.1f %8s\n", (int)k + 1, commas(columns[k].fields), commas(columns[k].empty),
               (double)columns[k].bytes / (double)columns[k].fields, commas(columns[k].longest));

    for (run = 0; run < RUNS; run++) {
        start = now();
        wanted = find_on_cpu(text, size, by_loop);
        cpu_times[run] = now() - start;
    }
    cpu_time = median(cpu_times, RUNS);
    if (wanted != found || memcmp(by_loop, ends, wanted * sizeof *ends) != 0)
        fail("csv_columns", "the device found other fields than the loop");
    printf("the first call took %.2f ms more, to build the programs; medians of %d\n", 1e3 * (first_time - device_time),
           RUNS);
    if (cpu_time < device_time)
        printf("The loop reads the text once; the scan and the selection load and store a byte a character each, which\n"
               "pays where memory is many times as fast as one core.\n");
    printf("csv_columns: %s fields in %.2f ms, as a plain loop finds them in %.2f ms\n", commas(found),
           1e3 * device_time, 1e3 * cpu_time);
    free(text);
    free(marked);
    free(kinds);
    free(ends);
    free(by_loop);
    gpuscan_destroy(gs);
    return 0;
}
