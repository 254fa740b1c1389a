/* Sources: further buffers that a call's expressions see, in every operation and strategy, of every type, at any
   offset, with pages around them that nobody may touch. And gpuscan_trim.
      cc -O2 tests/test_sources.c -o build/test_sources -lcmocka -lOpenCL -lm -lpthread && build/test_sources */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include "expressions.h"

#include <sys/mman.h>

/* ---- sources ---------------------------------------------------------------------------------------------------- */

/* A source's elements are numbers up to 100, which every type holds. An expression reads element i + ahead at index i,
   so COUNT + ahead elements must exist. */
typedef struct type_facts {
    const char *name, *reads; /* reads: an expression of `at`, the element's index, and #, the source's number */
    size_t size;
} type_facts;
#define PLAIN "(uint)source#[at]"
static const type_facts type_table[GPUSCAN_TYPE_COUNT] = {
    {NULL, PLAIN, 4}, {NULL, PLAIN, 1}, {NULL, PLAIN, 1}, {NULL, PLAIN, 2}, {NULL, PLAIN, 2}, {NULL, PLAIN, 4},
    {NULL, PLAIN, 4}, {NULL, PLAIN, 8}, {NULL, PLAIN, 8}, {NULL, "(uint)vload_half(at, source#)", 2},
    {NULL, PLAIN, 4}, {NULL, PLAIN, 8}, {"record", "(uint)source#[at].number", 12}};

typedef struct sources {
    uint32_t count;
    gpuscan_source of[GPUSCAN_MAX_SOURCES];
    uint32_t ahead[GPUSCAN_MAX_SOURCES];
    uint32_t seed;   /* of the elements */
    void *pages[GPUSCAN_MAX_SOURCES]; /* the first is not accessible, nor is the last */
    size_t bytes[GPUSCAN_MAX_SOURCES];
    unsigned char *data[GPUSCAN_MAX_SOURCES]; /* the element at the offset */
    char text[2048]; /* declares seen(i), a number of all sources at i */
    gpuscan_custom custom;
} sources;

static uint32_t element_of(const sources *s, uint32_t k, uint64_t i) {
    return (uint32_t)(gpuscan__mix(s->seed * 10u + k + i * 1000) % 101);
}

/* What expressions see as seen(i). */
static uint32_t seen(const sources *s, uint64_t i) {
    uint32_t k, sum = 0;
    for (k = 0; k < s->count; k++)
        sum = sum * 3 + element_of(s, k, i + s->ahead[k]);
    return sum;
}

/* Stores a number as an element of a type. A record's number is its second word. */
static void put_element(gpuscan_type type, unsigned char *data, uint64_t i, uint32_t number) {
    gpuscan_type word = type == GPUSCAN_TYPE_DEFAULT || type == GPUSCAN_TYPE_CUSTOM ? GPUSCAN_TYPE_U32 : type;
    memset(data + i * type_table[type].size, 0xc5, type_table[type].size);
    gpuscan__put(word, data, type == GPUSCAN_TYPE_CUSTOM ? 3 * i + 1 : i, number);
}

/* Fills a source. Elements before the offset, which belong to the buffer, are other numbers. */
static void fill_source(sources *s, uint32_t k) {
    uint64_t i, offset = s->of[k].buffer.offset, count = COUNT + s->ahead[k];
    unsigned char *begin = s->data[k] - offset * type_table[s->of[k].type].size;
    for (i = 0; i < offset; i++)
        put_element(s->of[k].type, begin, i, 77);
    for (i = 0; i < count; i++)
        put_element(s->of[k].type, s->data[k], i, element_of(s, k, i));
}

/* Makes a source's buffer between two pages that cannot be accessed: it ends at the second, or begins at the first. A
   CPU uses this memory itself. */
static void make_source(sources *s, uint32_t k, int at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = type_table[s->of[k].type].size;
    size_t before = (size_t)s->of[k].buffer.offset * size, bytes = before + (COUNT + s->ahead[k]) * size;
    size_t whole = (bytes + page - 1) / page * page;
    cl_int code = CL_SUCCESS;
    unsigned char *begin;
    s->bytes[k] = whole + 2 * page;
    s->pages[k] = mmap(NULL, s->bytes[k], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(s->pages[k] != MAP_FAILED);
    begin = (unsigned char *)s->pages[k] + page + (at_end ? whole - bytes : 0);
    s->data[k] = begin + before;
    fill_source(s, k);
    assert_int_equal(mprotect(s->pages[k], page, PROT_NONE), 0);
    assert_int_equal(mprotect((unsigned char *)s->pages[k] + page + whole, page, PROT_NONE), 0);
    s->of[k].buffer.mem =
        clCreateBuffer(test.context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, bytes, begin, &code);
    test_cl(code);
}

static void free_sources(sources *s) {
    uint32_t k;
    test_cl(clFinish(test.queue));
    for (k = 0; k < s->count; k++) {
        test_cl(clReleaseMemObject(s->of[k].buffer.mem));
        munmap(s->pages[k], s->bytes[k]);
    }
}

/* Writes the texts, whose expressions all use the sources. */
static void write_texts(sources *s) {
    char *text = s->text;
    uint32_t k;
    text += sprintf(text, "typedef struct { uchar mark; uint number, rest; } record;\n");
    for (k = 0; k < s->count; k++) {
        const char *at;
        text += sprintf(text, "#define seen%u(at) (", (unsigned)k);
        for (at = type_table[s->of[k].type].reads; *at; at++)
            *text++ = (char)(*at == '#' ? '0' + (int)k : *at);
        text += sprintf(text, ")\n");
    }
    text += sprintf(text, "#define seen(i) (");
    for (k = 1; k < s->count; k++)
        text += sprintf(text, "3 * (");
    for (k = 0; k < s->count; k++)
        text += sprintf(text, "%s%s seen%u((i) + %u)", k ? ")" : "", k ? " +" : "", (unsigned)k, (unsigned)s->ahead[k]);
    sprintf(text, ")\n");
    memset(&s->custom, 0, sizeof s->custom);
    s->custom.source = s->text;
    s->custom.type = "uint";
    s->custom.size = 4;
    s->custom.combine = "max(a, b)";
    s->custom.identity = "0";
    s->custom.convert = "x + seen(i)";
    s->custom.select = "(x + seen(i)) % 3 == 0";
    s->custom.equal = "seen(a) / 400 == seen(b) / 400";
    s->custom.key = "(x + seen(i)) % 97";
}

static sources sources_of(uint32_t count, const gpuscan_type *types, uint32_t offset, uint32_t seed) {
    sources s;
    uint32_t k;
    memset(&s, 0, sizeof s);
    s.count = count;
    s.seed = seed;
    for (k = 0; k < count; k++) {
        s.ahead[k] = (k + offset) % 3;
        s.of[k].buffer.offset = k == 0 ? offset : (offset * 5 + k) % 9;
        s.of[k].type = types[k];
        s.of[k].count = s.ahead[k] ? COUNT + s.ahead[k] : 0;
        s.of[k].custom_type = type_table[types[k]].name;
        s.of[k].size = types[k] == GPUSCAN_TYPE_CUSTOM ? type_table[types[k]].size : 0;
        make_source(&s, k, seed % 2 == 0);
    }
    return s; /* write_texts follows, since texts point into the struct */
}

static gpuscan_call call_by(const sources *s, gpuscan_strategy strategy) {
    gpuscan_call call = call_on(test.queue);
    call.strategy = strategy;
    call.sources = s->of;
    call.source_count = s->count;
    return call;
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

/* row: elements between two starts; 0: heads say where a segment begins. i is the element's index in its row. The
   sources have COUNT elements or more, so rows of a device form would say how many they read. */
static int scans(gpuscan *gs, const sources *s, gpuscan_strategy strategy, uint32_t row, gpuscan_scan_kind kind) {
    uint32_t i, sum = 0, before;
    for (i = 0; i < COUNT; i++) {
        uint32_t x = src[i] + seen(s, row ? i % row : i);
        if (row ? i % row == 0 : heads[i])
            sum = 0;
        before = sum;
        sum = sum > x ? sum : x;
        wanted[i] = kind == GPUSCAN_INCLUSIVE ? sum : before;
    }
    return scan_is_right(gs, &s->custom, call_by(s, strategy), row, kind);
}

static int whole_scan(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return scans(gs, s, strategy, COUNT, GPUSCAN_INCLUSIVE);
}

static int row_scan(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return scans(gs, s, strategy, ROW, GPUSCAN_EXCLUSIVE);
}

static int segment_scan(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return scans(gs, s, strategy, 0, GPUSCAN_EXCLUSIVE);
}

/* Sums, with a builtin operator. */
static int reduces(gpuscan *gs, const sources *s, gpuscan_strategy strategy, uint32_t row) {
    uint32_t i;
    for (i = 0; i < COUNT; i++)
        wanted[i / row] = (i % row ? wanted[i / row] : 0) + src[i] + seen(s, i % row);
    return reduction_is_right(gs, GPUSCAN_OP_ADD, &s->custom, call_by(s, strategy), row);
}

static int whole_reduction(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return reduces(gs, s, strategy, COUNT);
}

static int row_reduction(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return reduces(gs, s, strategy, ROW);
}

/* Both are one operation by offsets, whose elements have their index in src. */
static int by_offsets(gpuscan *gs, const sources *s, gpuscan_strategy strategy, int is_scan) {
    static uint32_t offsets[ROWS + 1];
    gpuscan_scan_desc scan;
    gpuscan_reduce_desc reduce;
    uint32_t i, k, sum;
    memset(&scan, 0, sizeof scan);
    memset(&reduce, 0, sizeof reduce);
    for (k = 0; k <= ROWS; k++)
        offsets[k] = k == ROWS ? COUNT : k * ROW + (k ? k % 7 : 0);
    for (k = 0; k < ROWS; k++)
        for (sum = 0, i = offsets[k]; i < offsets[k + 1]; i++) {
            if (is_scan)
                wanted[i] = sum;
            sum += src[i] + seen(s, i);
            if (!is_scan)
                wanted[k] = sum;
        }
    scan.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
    scan.segments.host_data = offsets;
    scan.segments.count = ROWS;
    reduce.segments = scan.segments;
    scan.custom = reduce.custom = &s->custom;
    scan.call = call_by(s, strategy);
    reduce.call = scan.call;
    return is_scan ? outcome_of(gpuscan_scan_host(gs, src, got, COUNT, &scan), COUNT)
                   : outcome_of(gpuscan_reduce_host(gs, src, got, COUNT, &reduce), ROWS);
}

static int scan_by_offsets(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return by_offsets(gs, s, strategy, 1);
}

static int reduction_by_offsets(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return by_offsets(gs, s, strategy, 0);
}

static int selects(gpuscan *gs, const sources *s, gpuscan_strategy strategy, int in_place) {
    uint64_t right = 0;
    uint32_t i;
    for (i = 0; i < COUNT; i++)
        if (((src[i] + seen(s, i)) % 3 == 0) != in_place)
            wanted[right++] = src[i];
    return selection_is_right(gs, &s->custom, call_by(s, strategy), in_place, right);
}

static int selection(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return selects(gs, s, strategy, 0);
}

static int selection_in_place(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    return selects(gs, s, strategy, 1);
}

/* The keys are indices of the sources' elements. */
static int run_reduction(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    static uint32_t keys[COUNT];
    uint64_t right = 0;
    uint32_t i;
    for (i = 0; i < COUNT; i++) {
        keys[i] = (uint32_t)(gpuscan__mix(i / 5 + (i % 3 == 0)) % COUNT);
        if (i == 0 || seen(s, keys[i]) / 400 != seen(s, keys[i - 1]) / 400)
            wanted[right++] = 0;
        wanted[right - 1] += src[i] + seen(s, i);
    }
    return runs_are_right(gs, GPUSCAN_OP_ADD, &s->custom, call_by(s, strategy), keys, right);
}

static int sort_by_key(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    uint32_t i, key, at = 0;
    for (key = 0; key < 97; key++)
        for (i = 0; i < COUNT; i++)
            if ((src[i] + seen(s, i)) % 97 == key)
                wanted[at++] = src[i];
    return sort_is_right(gs, &s->custom, call_by(s, strategy));
}

static int counts(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    uint32_t i;
    memset(wanted, 0, sizeof wanted);
    for (i = 0; i < COUNT; i++)
        if (src[i] + seen(s, i) < BINS)
            wanted[src[i] + seen(s, i)] += 1 + seen(s, i) % 5;
    return histogram_is_right(gs, &s->custom, call_by(s, strategy), "1 + seen(i) % 5");
}

/* An integral image of an image that holds src in rows. i is the column. */
static int picture_integral(gpuscan *gs, const sources *s, gpuscan_strategy strategy) {
    gpuscan_integral_desc desc;
    sources named = *s;
    test_buffer dst;
    gpuscan_result r;
    uint32_t i, k, row = 0;
    if (!test.info.has_images)
        return -1;
    for (i = 0; i < COUNT; i++) {
        row = (i % ROW ? row : 0) + src[i] + seen(s, i % ROW);
        wanted[i] = row + (i < ROW ? 0 : wanted[i - ROW]);
    }
    memset(&desc, 0, sizeof desc);
    for (k = 0; k < s->count; k++)
        named.of[k].count = COUNT;
    desc.call = call_by(&named, strategy);
    desc.custom = &s->custom;
    desc.src_image.mem = test_image_new(test.context, CL_MEM_READ_ONLY, CL_R, CL_UNSIGNED_INT32, ROW, ROWS, src);
    dst = test_buffer_new(CL_MEM_READ_WRITE, sizeof *got, COUNT);
    test_buffer_set(&dst, 0, COUNT, NULL);
    desc.dst = dst.at;
    desc.width = ROW;
    desc.height = ROWS;
    desc.kind = GPUSCAN_INCLUSIVE;
    r = gpuscan_integral(gs, &desc);
    memcpy(got, test_buffer_get(&dst), sizeof got);
    test_buffer_free(&dst);
    test_cl(clReleaseMemObject(desc.src_image.mem));
    return outcome_of(r, COUNT);
}

static const struct {
    const char *name;
    int (*is_right)(gpuscan *gs, const sources *s, gpuscan_strategy strategy);
} calls[] = {{"a scan", whole_scan},
             {"a scan of rows", row_scan},
             {"a scan by heads", segment_scan},
             {"a reduction", whole_reduction},
             {"a reduction of rows", row_reduction},
             {"a scan by offsets", scan_by_offsets},
             {"a reduction by offsets", reduction_by_offsets},
             {"a selection", selection},
             {"a selection in place", selection_in_place},
             {"a reduction by runs", run_reduction},
             {"a sort", sort_by_key},
             {"a histogram", counts},
             {"an integral of an image", picture_integral}};
enum { CALLS = sizeof calls / sizeof *calls };

static cl_mem wrong_from, wrong_to;

/* Sets the buffer wrong_to as an argument in place of wrong_from. */
static cl_int CL_API_CALL wrong_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    if (value && size == sizeof wrong_from && memcmp(value, &wrong_from, size) == 0)
        value = &wrong_to;
    return clSetKernelArg(kernel, index, size, value);
}

/* Runs a call with two sets of sources, which share a program, and shows that another's source is noticed. */
static void call_twice(gpuscan *gs, size_t c, gpuscan_strategy strategy, sources *both) {
    unsigned programs;
    uint32_t k;
    int right, longer;
    test_case("%s by %u sources, types %d and %d, offset %u, strategy %d, lanes %d", calls[c].name,
              (unsigned)both->count, (int)both->of[0].type, (int)both->of[both->count - 1].type,
              (unsigned)both->of[0].buffer.offset, (int)strategy, gs != test.gs);
    fill();
    right = calls[c].is_right(gs, &both[0], strategy);
    if (right < 0)
        return;
    assert_int_equal(right, 1);
    programs = test_programs(gs);
    fill();
    assert_int_equal(calls[c].is_right(gs, &both[1], strategy), 1);
    assert_int_equal(test_programs(gs), programs);
    k = both->count - 1; /* the other buffer is as long or longer */
    longer = both[1].of[k].buffer.offset >= both[0].of[k].buffer.offset;
    wrong_from = both[!longer].of[k].buffer.mem;
    wrong_to = both[longer].of[k].buffer.mem;
    gs->cl.clSetKernelArg = wrong_argument;
    fill();
    right = calls[c].is_right(gs, &both[!longer], strategy);
    gs->cl.clSetKernelArg = clSetKernelArg;
    if (right)
        fail_msg("%s: the source of another call is not noticed", test.what);
}

/* Both sets have the same types. The second begins at its first page, so its offsets differ. */
static void call_with(gpuscan *gs, size_t c, gpuscan_strategy strategy, uint32_t count, const gpuscan_type *types,
                      uint32_t offset) {
    sources both[2];
    uint32_t k;
    both[0] = sources_of(count, types, offset, 2 * (uint32_t)c);
    both[1] = sources_of(count, types, offset + 3, 2 * (uint32_t)c + 1); /* the same `ahead`, so the same texts */
    for (k = 0; k < 2; k++)
        write_texts(&both[k]);
    call_twice(gs, c, strategy, both);
    free_sources(&both[0]);
    free_sources(&both[1]);
}

static void test_operations(void **state) {
    gpuscan *gs = test_with_lanes();
    unsigned turn = 0;
    size_t c;
    int s;
    (void)state;
    for (c = 0; c < CALLS; c++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT + 3; s++) {
            int lanes = s >= GPUSCAN_STRATEGY_COUNT, strategy = lanes ? s - GPUSCAN_STRATEGY_COUNT : s;
            gpuscan_type types[GPUSCAN_MAX_SOURCES];
            uint32_t k;
            if (s != 0 && !test_share(c * 16 + (unsigned)s, 4))
                continue;
            for (k = 0; k < GPUSCAN_MAX_SOURCES; k++)
                do
                    types[k] = (gpuscan_type)test_below(GPUSCAN_TYPE_COUNT);
                while (types[k] == GPUSCAN_TYPE_F64 && !test.info.has_f64);
            call_with(lanes ? gs : test.gs, c, (gpuscan_strategy)strategy, 1 + turn++ % 4, types,
                      (uint32_t)test_below(8));
        }
    test_destroy(gs);
}

static void test_types(void **state) {
    int type;
    uint32_t offset;
    (void)state;
    for (type = 0; type < GPUSCAN_TYPE_COUNT; type++)
        for (offset = 0; offset < 4; offset++) {
            const gpuscan_type types[1] = {(gpuscan_type)type};
            if ((type != GPUSCAN_TYPE_F64 || test.info.has_f64) && test_share((unsigned)type * 4 + offset, 4))
                call_with(test.gs, 3, GPUSCAN_STRATEGY_AUTO, 1, types, offset * 3);
        }
}

/* ---- host arrays, chains and refusals ---------------------------------------------------------------------------- */

/* Sources may be host arrays of a _host form, at any address. Each may also be the call's source itself. */
static void test_host_arrays(void **state) {
    static unsigned char bytes[8 * COUNT + 8];
    static uint32_t own[COUNT];
    int type;
    (void)state;
    TEST_EACH_TYPE(type, REF_BUILTIN) {
        const gpuscan_type types[2] = {(gpuscan_type)type, GPUSCAN_TYPE_U32};
        gpuscan_scan_desc desc;
        sources s;
        uint32_t i, sum = 0, at = (uint32_t)test_below(4);
        if (!test_has_type((gpuscan_type)type) || !test_share((unsigned)type, 2))
            continue;
        test_case("a source of type %d as an array", type);
        fill();
        memcpy(own, src, sizeof own);
        s = sources_of(2, types, 0, (unsigned)type);
        write_texts(&s);
        s.custom.convert = "x + seen0(i) + source1[i]";
        for (i = 0; i < COUNT; i++) {
            wanted[i] = sum;
            sum += 2 * src[i] + element_of(&s, 0, i);
        }
        memcpy(bytes + at, s.data[0], type_table[type].size * COUNT);
        memset(&desc, 0, sizeof desc);
        desc.custom = &s.custom;
        desc.src_type = GPUSCAN_TYPE_U32;
        desc.call = call_by(&s, GPUSCAN_STRATEGY_AUTO);
        {
            gpuscan_source of[2];
            memcpy(of, s.of, sizeof of);
            memset(&of[0].buffer, 0, sizeof of[0].buffer);
            memset(&of[1].buffer, 0, sizeof of[1].buffer);
            of[1].count = 0;
            of[0].host_data = bytes + at;
            of[1].host_data = src;
            desc.call.sources = of;
            test_ok(gpuscan_scan_host(test.gs, src, got, COUNT, &desc));
            test_same(GPUSCAN_TYPE_U32, got, wanted, COUNT);
            assert_true(of[0].host_data == bytes + at && of[0].buffer.mem == NULL);
            test_same(GPUSCAN_TYPE_U32, src, own, COUNT);
            of[1].host_data = got;
            test_case("an array that is source and output");
            test_expect(gpuscan_scan_host(test.gs, src, got, COUNT, &desc), GPUSCAN_ERROR_OVERLAP);
        }
        free_sources(&s);
    }
}

/* The device form of a selection, with what one mistake changes. */
typedef struct wrong_call {
    gpuscan_select_desc desc;
    gpuscan_source of[5];
    sources s;
    test_buffer from, to;
} wrong_call;

static void wrong_begin(wrong_call *w) {
    const gpuscan_type types[2] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_CUSTOM};
    memset(w, 0, sizeof *w);
    fill();
    w->s = sources_of(2, types, 1, 1);
    write_texts(&w->s);
    w->from = test_buffer_new(CL_MEM_READ_WRITE, 4, COUNT);
    w->to = test_buffer_new(CL_MEM_READ_WRITE, 4, COUNT);
    test_buffer_set(&w->from, 0, COUNT, src);
    test_buffer_set(&w->to, 0, COUNT, NULL);
    memcpy(w->of, w->s.of, sizeof w->s.of);
    w->desc.src = w->from.at;
    w->desc.dst = w->to.at;
    w->desc.count = COUNT;
    w->desc.by = GPUSCAN_SELECT_PREDICATE;
    w->desc.custom = &w->s.custom;
    w->desc.call = call_by(&w->s, GPUSCAN_STRATEGY_AUTO);
    w->desc.call.sources = w->of;
}

static void wrong_end(wrong_call *w, gpuscan_result wanted_result, const char *words) {
    test_case("refused: %s", words);
    test_expect(gpuscan_select(test.gs, &w->desc), wanted_result);
    if (strstr(gpuscan_error(test.gs), words) == NULL)
        fail_msg("%s: not in \"%s\"", test.what, gpuscan_error(test.gs));
    test_cl(clFinish(test.queue));
    test_buffer_untouched(&w->to);
    test_buffer_free(&w->from);
    test_buffer_free(&w->to);
    free_sources(&w->s);
}

/* A selection of an array, indices and four payloads takes further launches, whose kernels have the sources, too. */
static void test_payloads(void **state) {
    gpuscan_payload payloads[4];
    test_buffer to[4];
    wrong_call w;
    uint32_t i, k, kept = 0;
    (void)state;
    wrong_begin(&w);
    for (k = 0; k < 4; k++) {
        to[k] = test_buffer_new(CL_MEM_READ_WRITE, 4, COUNT);
        payloads[k].src = w.from.at;
        payloads[k].dst = to[k].at;
        payloads[k].size = 4;
    }
    for (i = 0; i < COUNT; i++)
        if ((src[i] + seen(&w.s, i)) % 3 == 0)
            wanted[kept++] = src[i];
    for (k = 0; k < 4; k++)
        test_buffer_set(&to[k], 0, kept, NULL);
    test_buffer_set(&w.to, 0, kept, NULL);
    w.desc.capacity = kept;
    w.desc.payloads = payloads;
    w.desc.payload_count = 4;
    test_case("a selection by sources with payloads");
    test_ok(gpuscan_select(test.gs, &w.desc));
    test_same(GPUSCAN_TYPE_U32, test_buffer_get(&w.to), wanted, kept);
    for (k = 0; k < 4; k++) {
        test_same(GPUSCAN_TYPE_U32, test_buffer_get(&to[k]), wanted, kept);
        test_buffer_free(&to[k]);
    }
    test_buffer_free(&w.from);
    test_buffer_free(&w.to);
    free_sources(&w.s);
}

#define REFUSED(mistake, result, words)                                                                                \
    do {                                                                                                               \
        wrong_call w;                                                                                                  \
        wrong_begin(&w);                                                                                               \
        mistake;                                                                                                       \
        wrong_end(&w, GPUSCAN_ERROR_##result, words);                                                                  \
    } while (0)

static void test_refused(void **state) {
    cl_int code = CL_SUCCESS;
    cl_mem wrong = clCreateBuffer(test.context, CL_MEM_WRITE_ONLY, 16 * COUNT, NULL, &code), foreign;
    cl_context context;
    (void)state;
    test_cl(code);
    context = clCreateContext(NULL, 1, &test.device, NULL, NULL, &code);
    test_cl(code);
    foreign = clCreateBuffer(context, CL_MEM_READ_ONLY, 16 * COUNT, NULL, &code);
    test_cl(code);
    REFUSED(w.desc.call.source_count = 5, INVALID_ARGUMENT, "call.source_count is above 4");
    REFUSED(w.desc.call.source_count = 0, INVALID_ARGUMENT, "call.sources or call.source_count is missing");
    REFUSED(w.desc.call.sources = NULL, INVALID_ARGUMENT, "call.sources or call.source_count is missing");
    REFUSED(w.of[1].type = GPUSCAN_TYPE_COUNT, INVALID_ARGUMENT, "call.sources[1]: type is not a gpuscan_type");
    REFUSED(w.of[1].custom_type = NULL, INVALID_ARGUMENT, "call.sources[1]: custom_type is NULL");
    REFUSED(w.of[1].size = 0, INVALID_ARGUMENT, "call.sources[1]: custom_type is NULL, or size");
    REFUSED(w.of[1].size = 1025, INVALID_ARGUMENT, "call.sources[1]: custom_type is NULL, or size");
    REFUSED(w.of[0].size = 1, INVALID_ARGUMENT, "call.sources[0]: custom_type or size is given");
    REFUSED(w.of[0].custom_type = "uchar", INVALID_ARGUMENT, "call.sources[0]: custom_type or size is given");
    REFUSED(w.of[0].host_data = src, INVALID_ARGUMENT, "call.sources[0]: host_data is for the _host forms");
    REFUSED(w.of[1].buffer.mem = NULL, INVALID_BUFFER, "call.sources[1].buffer.mem is NULL");
    REFUSED(w.of[1].buffer.mem = wrong, BUFFER_ACCESS, "call.sources[1].buffer is read");
    REFUSED(w.of[1].buffer.mem = foreign, INVALID_CONTEXT, "call.sources[1].buffer is of another context");
    REFUSED(w.of[0].buffer.offset += 2, BUFFER_TOO_SMALL, "call.sources[0].buffer needs");
    REFUSED(w.of[0].count++, BUFFER_TOO_SMALL, "call.sources[0].buffer needs");
    REFUSED(w.of[0].count = UINT64_MAX / 2, BUFFER_TOO_SMALL, "call.sources[0].buffer");
    REFUSED(w.of[1].count = UINT64_MAX / 2, SIZE_OVERFLOW, "call.sources[1].buffer");
    REFUSED(w.of[0].buffer = w.to.at, OVERLAP, "call.sources[0].buffer");
    REFUSED(w.of[1].size = 8, CUSTOM_SIZE, "call.sources[1].size is not the type's size");
    REFUSED(w.of[1].custom_type = "unknown", CUSTOM_SOURCE, "unknown"); /* not all logs name the text */
    REFUSED(w.s.custom.select = "source2[i] > 3", CUSTOM_SOURCE, "source2");
    REFUSED((w.desc.by = GPUSCAN_SELECT_FLAGS, w.desc.flags = w.from.at, w.desc.flag_type = GPUSCAN_TYPE_U32),
            INVALID_ARGUMENT, "call.sources: the call uses no convert");
    if (!test.info.has_f64)
        REFUSED(w.of[0].type = GPUSCAN_TYPE_F64, UNSUPPORTED_TYPE, "call.sources[0].buffer");
    clReleaseMemObject(wrong);
    clReleaseMemObject(foreign);
    clReleaseContext(context);
}

/* A source may be the call's source, unless the call overwrites it. */
static void test_overlaps(void **state) {
    const gpuscan_type types[1] = {GPUSCAN_TYPE_U32};
    sources s = sources_of(1, types, 0, 1);
    test_buffer from = test_buffer_new(CL_MEM_READ_WRITE, 4, COUNT), to = test_buffer_new(CL_MEM_READ_WRITE, 4, COUNT);
    gpuscan_source same;
    gpuscan_sort_desc desc;
    uint32_t i, key, at = 0;
    (void)state;
    write_texts(&s);
    s.custom.key = "source0[(i + 1) % COUNT] % 97";
    {
        char *text = s.text + strlen(s.text);
        sprintf(text, "#define COUNT %d\n", (int)COUNT);
    }
    fill();
    test_buffer_set(&from, 0, COUNT, src);
    test_buffer_set(&to, 0, COUNT, NULL);
    memset(&desc, 0, sizeof desc);
    memset(&same, 0, sizeof same);
    same.buffer = desc.src = from.at;
    desc.dst = to.at;
    desc.count = COUNT;
    desc.custom = &s.custom;
    desc.call = call_by(&s, GPUSCAN_STRATEGY_AUTO);
    desc.call.sources = &same;
    desc.may_destroy_src = 1;
    test_case("a source that is scratch");
    test_expect(gpuscan_sort(test.gs, &desc), GPUSCAN_ERROR_OVERLAP);
    desc.may_destroy_src = 0;
    desc.dst = desc.src;
    test_case("a source that is sorted in place");
    test_expect(gpuscan_sort(test.gs, &desc), GPUSCAN_ERROR_OVERLAP);
    test_same_bytes(test_buffer_get(&from), src, 4, COUNT);
    desc.dst = to.at;
    test_case("a source that is src");
    test_ok(gpuscan_sort(test.gs, &desc));
    for (key = 0; key < 97; key++)
        for (i = 0; i < COUNT; i++)
            if (src[(i + 1) % COUNT] % 97 == key)
                wanted[at++] = src[i];
    test_same(GPUSCAN_TYPE_U32, test_buffer_get(&to), wanted, COUNT);
    test_buffer_free(&from);
    test_buffer_free(&to);
    free_sources(&s);
}

/* Operators see no sources, so calls in which nothing else could see one refuse them. */
static void test_operators(void **state) {
    const gpuscan_type types[1] = {GPUSCAN_TYPE_U32};
    sources s = sources_of(1, types, 0, 1);
    gpuscan_scan_desc scan;
    gpuscan_uniform_add_desc add;
    gpuscan_quantile_desc quantile;
    gpuscan_integral_desc integral;
    double half = 0.5;
    (void)state;
    write_texts(&s);
    fill();
    memset(&scan, 0, sizeof scan);
    memset(&add, 0, sizeof add);
    memset(&quantile, 0, sizeof quantile);
    memset(&integral, 0, sizeof integral);
    scan.op = add.op = GPUSCAN_OP_CUSTOM;
    scan.custom = add.custom = &s.custom;
    scan.call = call_by(&s, GPUSCAN_STRATEGY_AUTO);
    add.call = quantile.call = integral.call = scan.call;
    test_case("a source of operators alone");
    test_expect(gpuscan_uniform_add_host(test.gs, src, got, COUNT, COUNT, &add), GPUSCAN_ERROR_INVALID_ARGUMENT);
    s.custom.convert = NULL;
    test_expect(gpuscan_scan_host(test.gs, src, got, COUNT, &scan), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_scan_prepare(test.gs, &scan), GPUSCAN_ERROR_INVALID_ARGUMENT);
    quantile.bins = 4;
    quantile.fractions = &half;
    quantile.fraction_count = 1;
    test_expect(gpuscan_quantile_host(test.gs, src, got, &quantile), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_expect(gpuscan_integral_host(test.gs, src, got, 4, 4, &integral), GPUSCAN_ERROR_INVALID_ARGUMENT);
    test_case("an operator that names a source");
    s.custom.convert = "x + source0[i]";
    s.custom.combine = "max(a, b + source0[0])";
    test_expect(gpuscan_scan_host(test.gs, src, got, COUNT, &scan), GPUSCAN_ERROR_CUSTOM_SOURCE);
    assert_non_null(strstr(gpuscan_error(test.gs), "source0"));
    assert_int_equal(got[0], 0xeeeeeeee);
    free_sources(&s);
}

/* Sums that are aligned to 512 bytes, more than drivers expect of a kernel's arguments. */
static void test_aligned_sums(void **state) {
    enum { WORDS = 128 };
    const gpuscan_type types[1] = {GPUSCAN_TYPE_U32};
    static uint32_t sums[ROWS * WORDS];
    char text[4096];
    sources s = sources_of(1, types, 0, 1);
    gpuscan_reduce_desc d;
    uint32_t r, w, i;
    (void)state;
    write_texts(&s);
    fill();
    snprintf(text, sizeof text,
             "%s\ntypedef struct __attribute__((aligned(512))) { uint at[128]; } wide;\n"
             "wide add(wide a, wide b) { for (int k = 0; k < 128; k++) a.at[k] += b.at[k]; return a; }\n"
             "wide all(uint x, uint step) { wide a; for (int k = 0; k < 128; k++) a.at[k] = x + step * k; return a; }",
             s.text);
    s.custom.source = text;
    s.custom.type = "wide";
    s.custom.size = WORDS * 4;
    s.custom.combine = "add(a, b)";
    s.custom.identity = "all(0, 0)";
    s.custom.convert = "all(x + seen(i), 1)";
    memset(&d, 0, sizeof d);
    d.dst_type = GPUSCAN_TYPE_CUSTOM;
    d.op = GPUSCAN_OP_CUSTOM;
    d.custom = &s.custom;
    d.rows = ROWS;
    d.call = call_by(&s, GPUSCAN_STRATEGY_AUTO);
    test_case("sums aligned to 512 bytes");
    test_ok(gpuscan_reduce_host(test.gs, src, sums, ROW, &d));
    for (r = 0; r < ROWS; r++)
        for (w = 0; w < WORDS; w++) {
            uint32_t sum = 0;
            for (i = 0; i < ROW; i++)
                sum += src[r * ROW + i] + seen(&s, i) + w;
            assert_int_equal(sums[r * WORDS + w], sum);
        }
    free_sources(&s);
}

/* A preparation needs only types, and its program serves all buffers. */
static void test_prepared(void **state) {
    const gpuscan_type types[3] = {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_I16};
    gpuscan *gs = layered();
    gpuscan_scan_desc desc;
    sources s = sources_of(3, types, 2, 4);
    uint64_t scratch = 0;
    unsigned built;
    void *blob;
    size_t size = 0;
    uint32_t k;
    (void)state;
    write_texts(&s);
    memset(&desc, 0, sizeof desc);
    desc.op = GPUSCAN_OP_CUSTOM;
    desc.kind = GPUSCAN_INCLUSIVE;
    desc.custom = &s.custom;
    desc.count = COUNT;
    desc.call = call_by(&s, GPUSCAN_STRATEGY_AUTO);
    {
        gpuscan_source of[3];
        memcpy(of, s.of, sizeof of);
        for (k = 0; k < 3; k++)
            of[k].buffer = gpuscan__none;
        desc.call.sources = of;
        test_case("a preparation without buffers of sources");
        test_ok(gpuscan_scan_scratch_size(gs, &desc, &scratch));
        test_ok(gpuscan_scan_prepare(gs, &desc));
    }
    built = layer.calls[LAYER_clCreateProgramWithSource];
    fill();
    assert_int_equal(whole_scan(gs, &s, GPUSCAN_STRATEGY_AUTO), 1);
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], built);
    test_case("a blob of programs with sources");
    test_ok(gpuscan_get_blob(gs, NULL, &size));
    blob = test_alloc(size);
    test_ok(gpuscan_get_blob(gs, blob, &size));
    test_destroy(gs);
    gs = layered();
    test_ok(gpuscan_set_blob(gs, blob, size));
    fill();
    assert_int_equal(whole_scan(gs, &s, GPUSCAN_STRATEGY_AUTO), 1);
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 0);
    free(blob);
    test_destroy(gs);
    layer_expect_empty();
    free_sources(&s);
}

/* ---- gpuscan_trim ------------------------------------------------------------------------------------------------ */

/* A scan whose program depends on `op`, that is right. */
static void scan_by(gpuscan *gs, gpuscan_op op) {
    gpuscan_scan_desc desc;
    uint32_t i, sum = op == GPUSCAN_OP_ADD || op == GPUSCAN_OP_MAX ? 0 : UINT32_MAX;
    memset(&desc, 0, sizeof desc);
    desc.op = op;
    desc.kind = GPUSCAN_INCLUSIVE;
    for (i = 0; i < COUNT; i++)
        wanted[i] = sum = op == GPUSCAN_OP_ADD   ? sum + src[i]
                          : op == GPUSCAN_OP_MAX ? (sum > src[i] ? sum : src[i])
                                                 : (sum < src[i] ? sum : src[i]);
    test_ok(gpuscan_scan_host(gs, src, got, COUNT, &desc));
    test_same(GPUSCAN_TYPE_U32, got, wanted, COUNT);
}

static unsigned built_programs(void) {
    return layer.calls[LAYER_clCreateProgramWithSource];
}

static void test_trim(void **state) {
    gpuscan *gs = layered();
    unsigned each, built;
    uint64_t bytes;
    void *blob;
    size_t size = 0, blocks;
    (void)state;
    fill();
    test_case("trimming");
    test_expect(gpuscan_trim(NULL), GPUSCAN_ERROR_INVALID_ARGUMENT);
    blocks = layer.allocated;
    test_ok(gpuscan_trim(gs));
    scan_by(gs, GPUSCAN_OP_ADD);
    each = test_programs(gs); /* more than one if groups of the planned size cannot run */
    scan_by(gs, GPUSCAN_OP_MAX);
    scan_by(gs, GPUSCAN_OP_MIN);
    assert_int_equal(test_programs(gs), 3 * each);
    test_ok(gpuscan_trim(gs));
    assert_int_equal(test_programs(gs), 3 * each);
    test_case("programs that calls used since the last trim stay");
    bytes = layer.bytes;
    built = built_programs();
    scan_by(gs, GPUSCAN_OP_MAX);
    test_ok(gpuscan_get_blob(gs, NULL, &size));
    blob = test_alloc(size);
    test_ok(gpuscan_get_blob(gs, blob, &size));
    test_ok(gpuscan_trim(gs));
    assert_int_equal(test_programs(gs), each);
    assert_true(layer.bytes < bytes);
    scan_by(gs, GPUSCAN_OP_MAX);
    assert_int_equal(built_programs(), built);
    test_case("released programs are built again");
    scan_by(gs, GPUSCAN_OP_ADD);
    assert_int_equal(test_programs(gs), 2 * each);
    assert_int_equal(built_programs(), built + each);
    test_case("two calls release all");
    test_ok(gpuscan_trim(gs));
    test_ok(gpuscan_trim(gs));
    assert_int_equal(test_programs(gs), 0);
    assert_int_equal(layer.allocated, blocks);
    test_case("programs of a blob");
    test_ok(gpuscan_set_blob(gs, blob, size));
    test_ok(gpuscan_trim(gs));
    scan_by(gs, GPUSCAN_OP_MIN);
    assert_int_equal(built_programs(), built + each);
    test_ok(gpuscan_trim(gs));
    assert_int_equal(test_programs(gs), each);
    scan_by(gs, GPUSCAN_OP_ADD);
    assert_int_equal(built_programs(), built + 2 * each);
    free(blob);
    test_destroy(gs);
    layer_expect_empty();
}

/* A program may be released while its kernels still wait in a queue. */
static void test_trim_while_running(void **state) {
    cl_event gate = user_event();
    cl_command_queue queue = test_queue_new(0);
    test_buffer from = test_buffer_new(CL_MEM_READ_WRITE, 4, COUNT), to = test_buffer_new(CL_MEM_READ_WRITE, 4, COUNT);
    gpuscan_scan_desc desc;
    uint32_t i, sum = 0;
    gpuscan *gs = layered();
    (void)state;
    fill();
    test_case("trimming while a call waits");
    test_buffer_set(&from, 0, COUNT, src);
    test_buffer_set(&to, 0, COUNT, NULL);
    memset(&desc, 0, sizeof desc);
    desc.src = from.at;
    desc.dst = to.at;
    desc.count = COUNT;
    desc.call = call_on(queue);
    desc.call.wait_count = 1;
    desc.call.wait_list = &gate;
    test_ok(gpuscan_scan(gs, &desc));
    test_ok(gpuscan_trim(gs));
    test_ok(gpuscan_trim(gs));
    assert_int_equal(test_programs(gs), 0);
    test_cl(clSetUserEventStatus(gate, CL_COMPLETE));
    test_cl(clFinish(queue));
    for (i = 0; i < COUNT; sum += src[i++])
        wanted[i] = sum;
    test_same(GPUSCAN_TYPE_U32, test_buffer_get(&to), wanted, COUNT);
    test_buffer_free(&from);
    test_buffer_free(&to);
    clReleaseEvent(gate);
    clReleaseCommandQueue(queue);
    test_destroy(gs);
    layer_expect_empty();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_operations), TEST(test_types),    TEST(test_host_arrays),
                                       TEST(test_payloads),   TEST(test_refused),  TEST(test_overlaps),
                                       TEST(test_operators),  TEST(test_prepared), TEST(test_trim),
                                       TEST(test_aligned_sums), TEST(test_trim_while_running)};
    test_select();
    return cmocka_run_group_tests_name("sources", tests, open_calls, test_close);
}
