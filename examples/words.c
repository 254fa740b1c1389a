/* cc -O2 -I.. words.c -o words -lOpenCL -lm        (macOS: -framework OpenCL)

   words [text]

   Counts how often each word of a text occurs, and prints the most frequent words. Without a file it takes the
   library's kernels. Letters, digits, _ and bytes above 127 make words; A and a are one letter. All is done on the
   device, which alone knows how many words there are and how many of them differ:

     1. A scan gives each position the hash of the word so far. A character is a map, x -> power * x + hash: a letter's
        appends it, another's forgets what was before. The scan's operator applies one map after another.
     2. A selection takes the position and the hash at the end of each word, which a kernel has flagged.
     3. A sort by hash brings equal words together; the positions go along, in their order.
     4. Runs of equal hashes are words: each one's length is how often it occurs, and its first position is kept.
     5. A sort of the lengths, descending, puts the most frequent words first.

   The host reads the positions and lengths, and checks them with a table on the CPU, which compares words, not hashes.
   Two words with the same 64-bit hash are not to be expected; the table would notice them. */
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_ONLY_SELECT
#define GPUSCAN_ONLY_RUNS
#define GPUSCAN_ONLY_SORT
#define GPUSCAN_LINK_OPENCL
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"

enum { SHOWN = 12, GROUP = 64, RUNS = 9 };

/* A map as ulong2: x is the hash, y the power. Letters' powers are odd, and so are products of them. The power of any
   other character is 0, so y is 0 only after one. */
#define SPELLING                                                                                                       \
    "uchar letter(uchar c) {\n"                                                                                        \
    "    if (c >= 'A' && c <= 'Z') return c + 32;\n"                                                                   \
    "    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c > 127 ? c : 0;\n"                    \
    "}\n"
static const gpuscan_custom maps = {
    SPELLING
    "ulong2 map_of(uchar c) {\n"
    "    return letter(c) ? (ulong2)(letter(c) * 0x9E3779B97F4A7C15ul, 0xD1342543DE82EF95ul) : (ulong2)(0, 0);\n"
    "}\n"
    "ulong2 then(ulong2 a, ulong2 b) { return (ulong2)(a.x * b.y + b.x, a.y * b.y); }\n",
    "ulong2", 16, "then(a, b)", "(ulong2)(0, 1)", "map_of(x)", NULL, NULL, NULL};
static const gpuscan_custom hash_of = {NULL, "ulong2", 16, NULL, NULL, NULL, NULL, NULL, "x.x"};
static const gpuscan_custom same_hash = {NULL, "ulong2", 16, NULL, NULL, NULL, NULL, "a.x == b.x", NULL};

static const char *const kernels =
    SPELLING
    "kernel void end_words(global const uchar *text, global uchar *ends, uint size) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i >= size) return;\n"
    "    ends[i] = letter(text[i]) && (i + 1 == size || !letter(text[i + 1]));\n"
    "}\n";

static unsigned letter(unsigned char c) {
    if (c >= 'A' && c <= 'Z')
        return c + 32u;
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c > 127 ? c : 0;
}

static unsigned char *read_text(const char *name, uint32_t *size) {
    const size_t room = (size_t)1 << 25;
    unsigned char *text = (unsigned char *)allocate(room);
    FILE *file = fopen(name, "rb");
    size_t at;
    if (!file)
        fail(name, strerror(errno));
    at = fread(text, 1, room, file);
    if (at == room)
        printf("only the first %s bytes are looked at\n", commas(at));
    fclose(file);
    if (at == 0)
        fail(name, "is empty");
    *size = (uint32_t)at;
    return text;
}

/* A word: its first position, and the one behind its last. */
typedef struct {
    uint32_t begin, end;
} word;

static word word_at(const unsigned char *text, uint32_t last) {
    word w;
    w.end = last + 1;
    for (w.begin = last; w.begin > 0 && letter(text[w.begin - 1]);)
        w.begin--;
    return w;
}

static int same_word(const unsigned char *text, word a, word b) {
    uint32_t i, size = a.end - a.begin;
    for (i = 0; b.end - b.begin == size && i < size; i++)
        if (letter(text[a.begin + i]) != letter(text[b.begin + i]))
            return 0;
    return b.end - b.begin == size;
}

/* Counts of words on the CPU, in an open-addressing table: slots is a power of two above the number of words. */
typedef struct {
    word     first;
    uint32_t count; /* 0: empty */
} entry;

static entry *entry_of(entry *table, uint32_t slots, const unsigned char *text, word w) {
    uint32_t slot = 2166136261u, i;
    for (i = w.begin; i < w.end; i++)
        slot = (slot ^ letter(text[i])) * 16777619u;
    for (slot &= slots - 1; table[slot].count && !same_word(text, table[slot].first, w);)
        slot = (slot + 1) & (slots - 1);
    return &table[slot];
}

/* Returns the number of different words; *all: the number of words. */
static uint32_t count_on_cpu(entry *table, uint32_t slots, const unsigned char *text, uint32_t size, uint32_t *all) {
    uint32_t different = 0, i, begin = 0;
    for (*all = 0, i = 0; i < size; i++) {
        word w;
        entry *e;
        if (!letter(text[i])) {
            begin = i + 1;
            continue;
        }
        if (i + 1 < size && letter(text[i + 1]))
            continue;
        w.begin = begin;
        w.end = i + 1;
        e = entry_of(table, slots, text, w);
        if (e->count == 0) {
            e->first = w;
            different++;
        }
        e->count++;
        ++*all;
    }
    return different;
}

/* Checks that the device found each word once, with its first position and count, in descending order of counts. */
static void check_words(entry *table, uint32_t slots, const unsigned char *text, const uint32_t *places,
                        const uint32_t *counts, uint32_t different) {
    uint32_t i;
    for (i = 0; i < different; i++) {
        word   w = word_at(text, places[i]);
        entry *e = entry_of(table, slots, text, w);
        if (e->count != counts[i] || e->first.begin != w.begin)
            fail("words", "a count or the first place of a word is wrong");
        if (i > 0 && counts[i] > counts[i - 1])
            fail("words", "the words are not in the order of their counts");
    }
}

/* All that is on the device. */
typedef struct {
    cl_mem text, ends, maps, hashes, places, words, sorted_hashes, sorted_places, first_places, counts, different,
        top_counts, top_places;
} word_buffers;

int main(int argc, char **argv) {
    take_arguments(argc, argv, 0, 1, "words [text]");
    gpuscan_info info;
    gpuscan *gs = open_device(&info);
    uint32_t size, slots = 2, found[2], wanted[2], i;
    unsigned char *text = read_text(argc > 1 ? argv[1] : "../kernels.cl.inc", &size);
    uint32_t *places = (uint32_t *)allocate(size * sizeof *places);
    uint32_t *counts = (uint32_t *)allocate(size * sizeof *counts);
    entry *table;
    const char *source = kernels;
    cl_program program = build_program(&info, &source, 1, "");
    cl_kernel end_words = make_kernel(program, "end_words");
    cl_command_queue queue;
    word_buffers b;
    cl_mem *const buffers = &b.text;
    gpuscan_scan_desc scan;
    gpuscan_select_desc select;
    gpuscan_sort_desc by_hash, by_count;
    gpuscan_runs_desc runs;
    gpuscan_payload hashes, moved, first, top;
    double start, first_time = 0, device_times[RUNS], cpu_times[RUNS], device_time, cpu_time;
    cl_int code;
    int run;

    queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    b.text = make_buffer(info.context, CL_MEM_READ_ONLY, size, text);
    b.ends = make_buffer(info.context, CL_MEM_READ_WRITE, size, NULL);
    b.maps = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)16 * size, NULL);
    b.hashes = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)16 * size, NULL);
    b.places = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)4 * size, NULL);
    b.words = make_buffer(info.context, CL_MEM_READ_WRITE, 4, NULL);
    b.sorted_hashes = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)16 * size, NULL);
    b.sorted_places = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)4 * size, NULL);
    b.first_places = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)4 * size, NULL);
    b.counts = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)4 * size, NULL);
    b.different = make_buffer(info.context, CL_MEM_READ_WRITE, 4, NULL);
    b.top_counts = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)4 * size, NULL);
    b.top_places = make_buffer(info.context, CL_MEM_READ_WRITE, (size_t)4 * size, NULL);
    set(end_words, 0, sizeof b.text, &b.text);
    set(end_words, 1, sizeof b.ends, &b.ends);
    set(end_words, 2, sizeof size, &size);

    memset(&scan, 0, sizeof scan);
    scan.src.mem = b.text;
    scan.dst.mem = b.maps;
    scan.count = size;
    scan.src_type = GPUSCAN_TYPE_U8;
    scan.dst_type = GPUSCAN_TYPE_CUSTOM;
    scan.op = GPUSCAN_OP_CUSTOM;
    scan.custom = &maps;
    scan.kind = GPUSCAN_INCLUSIVE;
    scan.call.queue = queue;

    memset(&select, 0, sizeof select); /* by flags of u8 */
    hashes = make_payload(b.maps, b.hashes, 16);
    select.count = size;
    select.flags.mem = b.ends;
    select.indices.mem = b.places;
    select.payloads = &hashes;
    select.payload_count = 1;
    select.selected.count.mem = b.words;
    select.call.queue = queue;

    memset(&by_hash, 0, sizeof by_hash);
    moved = make_payload(b.places, b.sorted_places, 4);
    by_hash.src.mem = b.hashes;
    by_hash.dst.mem = b.sorted_hashes;
    by_hash.count = size; /* at most; the device reads the number: */
    by_hash.count_buffer.mem = b.words;
    by_hash.key_type = GPUSCAN_TYPE_U64;
    by_hash.custom = &hash_of;
    by_hash.payloads = &moved;
    by_hash.payload_count = 1;
    by_hash.call.queue = queue;

    memset(&runs, 0, sizeof runs);
    first = make_payload(b.sorted_places, b.first_places, 4);
    runs.keys.mem = b.sorted_hashes;
    runs.count = size;
    runs.count_buffer.mem = b.words;
    runs.key_type = GPUSCAN_TYPE_CUSTOM;
    runs.custom = &same_hash;
    runs.lengths.mem = b.counts;
    runs.payloads = &first;
    runs.payload_count = 1;
    runs.runs.count.mem = b.different;
    runs.call.queue = queue;

    memset(&by_count, 0, sizeof by_count);
    top = make_payload(b.first_places, b.top_places, 4);
    by_count.src.mem = b.counts;
    by_count.dst.mem = b.top_counts;
    by_count.count = size;
    by_count.count_buffer.mem = b.different;
    by_count.descending = 1;
    by_count.payloads = &top;
    by_count.payload_count = 1;
    by_count.call.queue = queue;

    for (run = -1; run < RUNS; run++) { /* the first run builds the programs */
        start = now();
        launch(queue, end_words, size, group_size(&info, end_words, GROUP));
        check(gs, gpuscan_scan(gs, &scan), "gpuscan_scan");
        check(gs, gpuscan_select(gs, &select), "gpuscan_select");
        check(gs, gpuscan_sort(gs, &by_hash), "gpuscan_sort");
        check(gs, gpuscan_runs(gs, &runs), "gpuscan_runs");
        check(gs, gpuscan_sort(gs, &by_count), "gpuscan_sort");
        check(NULL, clFinish(queue), "clFinish");
        *(run < 0 ? &first_time : &device_times[run]) = now() - start;
    }
    device_time = median(device_times, RUNS);
    check(NULL, clEnqueueReadBuffer(queue, b.words, CL_TRUE, 0, 4, &found[0], 0, NULL, NULL), "a read");
    check(NULL, clEnqueueReadBuffer(queue, b.different, CL_TRUE, 0, 4, &found[1], 0, NULL, NULL), "a read");

    while (slots < size)
        slots *= 2;
    table = (entry *)allocate(slots * sizeof *table);
    for (run = 0; run < RUNS; run++) {
        memset(table, 0, slots * sizeof *table);
        start = now();
        wanted[1] = count_on_cpu(table, slots, text, size, &wanted[0]);
        cpu_times[run] = now() - start;
    }
    cpu_time = median(cpu_times, RUNS);
    if (found[0] != wanted[0] || found[1] != wanted[1])
        fail("words", "the device found another number of words than the loop");
    if (found[1]) {
        check(NULL, clEnqueueReadBuffer(queue, b.top_places, CL_TRUE, 0, (size_t)4 * found[1], places, 0, NULL, NULL),
              "a read");
        check(NULL, clEnqueueReadBuffer(queue, b.top_counts, CL_TRUE, 0, (size_t)4 * found[1], counts, 0, NULL, NULL),
              "a read");
    }
    check_words(table, slots, text, places, counts, found[1]);
    printf("%s bytes, %s words, %s of them different\n", commas(size), commas(found[0]), commas(found[1]));
    for (i = 0; i < found[1] && i < SHOWN; i++) {
        word w = word_at(text, places[i]);
        printf("%12s  ", commas(counts[i]));
        for (; w.begin < w.end; w.begin++)
            putchar((int)letter(text[w.begin]));
        putchar('\n');
    }
    printf("the text is on the device already; the first run took %.2f ms more, to build the programs; medians of %d\n",
           1e3 * (first_time - device_time), RUNS);
    if (cpu_time < device_time)
        printf("The CPU's table reads each character once; the device scans 16 bytes a character and sorts all words, which\n"
               "many cores do at once and two do not.\n");
    printf("words: %s words, %s different, counted in %.2f ms, as a table on the CPU counts them in %.2f ms\n",
           commas(found[0]), commas(found[1]), 1e3 * device_time, 1e3 * cpu_time);

    for (i = 0; i < sizeof b / sizeof *buffers; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(end_words);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    gpuscan_destroy(gs);
    free(text);
    free(places);
    free(counts);
    free(table);
    return 0;
}
