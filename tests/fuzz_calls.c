/* Fuzzes public calls: decodes an input into a sequence of calls with every possible mistake, and compares each call
   with a model on the host: its result, every byte of every buffer, its event and the references it holds. Calls run in
   three queues and behind events; now and then an OpenCL call or an allocation fails.
   Cannot see errors of rounding: all elements are exact. With libFuzzer, which saves new inputs in the first folder:
       clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined tests/fuzz_calls.c -o fuzz_calls -lcmocka -lOpenCL -lm
       ./fuzz_calls -detect_leaks=0 -max_total_time=60 folder tests/corpus/calls
   Without it, the program replays files and then runs random inputs for the given number of seconds:
       cc -std=c99 -g -O1 -DFUZZ_MAIN tests/fuzz_calls.c -o fuzz_calls -lcmocka -lOpenCL -lm
       ./fuzz_calls 60 FILES...
   GPUSCAN_FUZZ_SHORT=1 uses few types, operators and strategies, so that few programs are built;
   GPUSCAN_FUZZ_TRACE=1 prints each call and compares all buffers after it. */
#include "layer.h"
#include "fuzz.h"

#include <signal.h>

enum { ARENA = 24576, SUB_AT = 4096, SUB_SIZE = 8192, HOST = 1 << 17, SCRATCH = 1 << 15, CALLS = 8, QUEUES = 3 };
enum { HISTORY = 32 };

/* The buffers, numbered as inputs name them. SUB is a sub-buffer of A. */
enum { NONE, A, B, SUB, READ_ONLY, WRITE_ONLY, FOREIGN, IMAGE, BUFFERS };

/* A buffer and its expected bytes. */
typedef struct arena {
    cl_mem mem;
    cl_mem_flags flags;
    size_t size;
    unsigned char *bytes;
} arena;

static arena arenas[BUFFERS];
/* Images of four channels, which no call writes. The last three are invalid for every call. */
enum { PICTURE_WIDTH = 203, PICTURE_HEIGHT = 37, PICTURE_CHANNELS = 4 };
enum { GOOD_PICTURES = 4, WRITE_ONLY_PICTURE = GOOD_PICTURES, FOREIGN_PICTURE, NO_PICTURE, PICTURES };
static struct picture {
    gpuscan_type type;
    cl_channel_type channel;
    cl_mem mem;
    unsigned char *pixels;
} pictures[PICTURES] = {{GPUSCAN_TYPE_U8, CL_UNSIGNED_INT8, NULL, NULL},
                        {GPUSCAN_TYPE_I16, CL_SIGNED_INT16, NULL, NULL},
                        {GPUSCAN_TYPE_I32, CL_SIGNED_INT32, NULL, NULL},
                        {GPUSCAN_TYPE_F32, CL_FLOAT, NULL, NULL},
                        {GPUSCAN_TYPE_U8, CL_UNSIGNED_INT8, NULL, NULL},
                        {GPUSCAN_TYPE_U8, CL_UNSIGNED_INT8, NULL, NULL},
                        {GPUSCAN_TYPE_U8, CL_UNSIGNED_INT8, NULL, NULL}}; /* a buffer, not an image */

static cl_mem scratch_mem;
static cl_context foreign;
static cl_command_queue queues[QUEUES], foreign_queue; /* in-order, in-order, out-of-order */
static cl_event markers[QUEUES];                       /* behind all commands of the queue */
static cl_event gate;                                  /* a user event that calls wait for */
static cl_event failed_event, foreign_event, done_event;
static gpuscan *gs;
static int is_short, is_traced;
static unsigned long inputs;

/* Host memory of the host-array calls, and results of reductions between guard bytes. */
static unsigned char *host_arena, *host_wanted;
enum { RESULTS = 24 }; /* most rows or segments */
static struct { unsigned char before[16], bytes[RESULTS * 72 + 8], after[16]; } results[CALLS], results_wanted[CALLS];

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* Combines a and then b into c, which may be a or b. */
typedef void (*combiner)(const unsigned char *a, const unsigned char *b, unsigned char *c);

static uint32_t u32_at(const unsigned char *p) {
    uint32_t x;
    memcpy(&x, p, 4);
    return x;
}

static void u32_to(unsigned char *p, uint32_t x) {
    memcpy(p, &x, 4);
}

static void add_u32(const unsigned char *a, const unsigned char *b, unsigned char *c) {
    u32_to(c, u32_at(a) + u32_at(b));
}

static void max_i64(const unsigned char *a, const unsigned char *b, unsigned char *c) {
    int64_t x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    memcpy(c, x > y ? &x : &y, 8);
}

static void xor_u16(const unsigned char *a, const unsigned char *b, unsigned char *c) {
    c[0] = a[0] ^ b[0];
    c[1] = a[1] ^ b[1];
}

/* Composes maps x -> factor * x + sum, and adds a count: not commutative. */
static void then_map(const unsigned char *a, const unsigned char *b, unsigned char *c) {
    uint32_t factor = u32_at(a) * u32_at(b), sum = u32_at(a + 4) * u32_at(b) + u32_at(b + 4);
    uint32_t count = u32_at(a + 8) + u32_at(b + 8);
    u32_to(c, factor);
    u32_to(c + 4, sum);
    u32_to(c + 8, count);
}

static void add_wide(const unsigned char *a, const unsigned char *b, unsigned char *c) {
    size_t i;
    for (i = 0; i < 72; i += 4)
        add_u32(a + i, b + i, c + i);
}

static const gpuscan_custom map = {
    "typedef struct { uint factor, sum, count; } fuzz_map;\n"
    "fuzz_map fuzz_then(fuzz_map a, fuzz_map b) {\n"
    "    fuzz_map c; c.factor = a.factor * b.factor; c.sum = a.sum * b.factor + b.sum; c.count = a.count + b.count;\n"
    "    return c; }\n"
    "fuzz_map fuzz_same(void) { fuzz_map c; c.factor = 1; c.sum = 0; c.count = 0; return c; }\n",
    "fuzz_map",
    12,
    "fuzz_then(a, b)",
    "fuzz_same()",
    NULL, NULL, NULL, NULL};

/* More than 64 bytes, too large for a state word. */
static const gpuscan_custom wide = {
    "typedef struct { uint v[18]; } fuzz_wide;\n"
    "fuzz_wide fuzz_add(fuzz_wide a, fuzz_wide b) { for (int i = 0; i < 18; i++) a.v[i] += b.v[i]; return a; }\n"
    "fuzz_wide fuzz_zero(void) { fuzz_wide c; for (int i = 0; i < 18; i++) c.v[i] = 0; return c; }\n",
    "fuzz_wide",
    72,
    "fuzz_add(a, b)",
    "fuzz_zero()",
    NULL, NULL, NULL, NULL};

static const unsigned char least_i64[8] = {0, 0, 0, 0, 0, 0, 0, 0x80}, zeros[72] = {0}, map_identity[12] = {1};

typedef struct kind {
    gpuscan_type src, dst;
    gpuscan_op op;
    const gpuscan_custom *custom;
    size_t src_size, dst_size;
    combiner combine;
    const unsigned char *identity;
} kind;

/* All are exact in any order of combining. The identities are bytes, since the host is little-endian. */
static const kind kinds[] = {
    {GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, GPUSCAN_OP_ADD, NULL, 4, 4, add_u32, zeros},
    {GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &map, 12, 12, then_map, map_identity},
    {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, NULL, 1, 4, add_u32, zeros},
    {GPUSCAN_TYPE_I64, GPUSCAN_TYPE_DEFAULT, GPUSCAN_OP_MAX, NULL, 8, 8, max_i64, least_i64},
    {GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_DEFAULT, GPUSCAN_OP_CUSTOM, &wide, 72, 72, add_wide, zeros},
    {GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U16, GPUSCAN_OP_XOR, NULL, 2, 2, xor_u16, zeros},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const unsigned char *load(const kind *k, const unsigned char *at, unsigned char *room) {
    if (k->src_size == k->dst_size)
        return at;
    u32_to(room, *at); /* the only conversion of these kinds */
    return room;
}

/* ---- results that a call may return ------------------------------------------------------------------------------ */

/* The results that are allowed for a call: each mistake in it adds one. unsure: the call may also succeed. */
static struct {
    gpuscan_result results[32];
    size_t count;
    int unsure;
} right;

static void wrong(gpuscan_result result) {
    if (right.count < sizeof right.results / sizeof *right.results)
        right.results[right.count++] = result;
}

static void maybe_wrong(gpuscan_result result) {
    if (right.count == 0)
        right.unsure = 1;
    wrong(result);
}

/* Adds a mistake that the library must report, perhaps after some that it only may report. */
static void surely_wrong(gpuscan_result result) {
    wrong(result);
    right.unsure = 0;
}

static int may_succeed(void) {
    return right.count == 0 || right.unsure;
}

static int is_right(gpuscan_result result) {
    size_t i;
    if (result == GPUSCAN_SUCCESS)
        return may_succeed();
    for (i = 0; i < right.count; i++)
        if (right.results[i] == result)
            return 1;
    return 0;
}

__extension__ typedef unsigned __int128 u128;

static u128 product(uint64_t a, uint64_t b) {
    return (u128)a * b;
}

static int fits64(u128 x) {
    return x <= UINT64_MAX;
}

static u128 extent(uint64_t count, uint64_t rows, uint64_t pitch) {
    return count ? product(rows - 1, pitch) + count : 0;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

typedef struct range {
    int buffer;
    uint64_t begin, end; /* bytes in the buffer; both 0 if the range does not fit */
    uint64_t row, pitch; /* bytes; pitch 0: the range is one row */
    int reads, writes, in_place;
    int shorter; /* if in place, it may end before the other range */
} range;

static range ranges[12];
static int range_count;

/* Adds a range. elements: may exceed 64 bits. Records the mistakes of this range alone. */
static void use(gpuscan_buffer at, int buffer, u128 elements, size_t size, int reads, int writes, int in_place) {
    const arena *a = &arenas[buffer];
    range *r = &ranges[range_count];
    u128 begin = product(at.offset, size), end;
    if (buffer == NONE)
        return;
    if (buffer == FOREIGN)
        surely_wrong(GPUSCAN_ERROR_INVALID_CONTEXT);
    if (buffer == IMAGE) {
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        return;
    }
    if (!fits64(elements) || !fits64(elements * size) || !fits64(begin) || !fits64(begin + elements * size)) {
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
        if (fits64(begin) && begin > a->size)
            wrong(GPUSCAN_ERROR_BUFFER_TOO_SMALL);
        return;
    }
    end = begin + elements * size;
    if (end > a->size) {
        surely_wrong(GPUSCAN_ERROR_BUFFER_TOO_SMALL);
        return;
    }
    if (writes && a->flags & CL_MEM_READ_ONLY)
        surely_wrong(GPUSCAN_ERROR_BUFFER_ACCESS);
    if (reads && a->flags & CL_MEM_WRITE_ONLY)
        surely_wrong(GPUSCAN_ERROR_BUFFER_ACCESS);
    r->buffer = buffer == SUB ? A : buffer;
    r->begin = (uint64_t)begin + (buffer == SUB ? SUB_AT : 0);
    r->end = (uint64_t)end + (buffer == SUB ? SUB_AT : 0);
    r->reads = reads;
    r->writes = writes;
    r->in_place = in_place ? (int)size + 4096 * in_place : 0; /* equal: the same elements of one array */
    r->shorter = 0;
    r->row = r->end - r->begin;
    r->pitch = 0;
    range_count++;
}

/* Gives the latest range rows, if it was added. */
static void has_rows(int before, uint64_t rows, uint64_t row, uint64_t pitch, size_t size) {
    if (range_count > before && rows > 1 && row > 0) {
        ranges[before].row = row * size;
        ranges[before].pitch = pitch * size;
    }
}

/* Returns whether rows of two ranges share a byte; rows of one may lie in the gaps of the other. Compares the bytes'
   offsets modulo the greatest common divisor of both pitches. */
static int rows_meet(const range *a, const range *b) {
    static unsigned char used[ARENA];
    uint64_t divisor = a->pitch, rest = b->pitch, i;
    while (rest) {
        uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    if (divisor == 0)
        return 1;
    memset(used, 0, sizeof used);
    for (i = 0; i < a->row; i++)
        used[(a->begin + i) % divisor] = 1;
    for (i = 0; i < b->row; i++)
        if (used[(b->begin + i) % divisor])
            return 1;
    return 0;
}

static int overlaps(const range *a, const range *b) {
    return a->buffer == b->buffer && a->begin < b->end && b->begin < a->end && a->begin < a->end && b->begin < b->end &&
           (a->writes || b->writes) && rows_meet(a, b);
}

static void check_overlaps(void) {
    int i, j;
    for (i = 0; i < range_count; i++)
        for (j = i + 1; j < range_count; j++) {
            const range *a = &ranges[i], *b = &ranges[j];
            if (overlaps(a, b) &&
                !(a->in_place && a->in_place == b->in_place && a->begin == b->begin &&
                  (a->end == b->end || (a->shorter && a->end < b->end) || (b->shorter && b->end < a->end))))
                surely_wrong(GPUSCAN_ERROR_OVERLAP);
        }
}

/* ---- decoding ---------------------------------------------------------------------------------------------------- */

typedef enum form { DEVICE, HOST_ARRAYS, PREPARE } form;

/* Returns mostly a small number, and now and then one near the limits of 32 or 64 bits. */
static uint64_t some_count(form which) {
    if (which == HOST_ARRAYS)
        return fuzz_16() % 250;
    if (which == PREPARE)
        return fuzz_16();
    switch (fuzz_below(16)) {
    case 0:
        return 0;
    case 1:
        return (uint64_t)1 << (16 + fuzz_below(48));
    case 2:
        return UINT64_MAX - fuzz_below(4);
    case 3:
    case 4:
    case 5:
        return fuzz_16() % 3000;
    default:
        return fuzz_below(200);
    }
}

static uint64_t some_offset(void) {
    switch (fuzz_below(16)) {
    case 0:
        return UINT64_MAX >> fuzz_below(20);
    case 1:
        return (uint64_t)1 << fuzz_below(64);
    case 2:
    case 3:
        return fuzz_16() % 4096;
    default:
        return fuzz_below(256);
    }
}

static int some_buffer(int usual) {
    unsigned b = fuzz_8();
    return b < 216 ? usual : b < 228 ? A : b < 236 ? SUB : (int)(b % BUFFERS);
}

static gpuscan_buffer buffer_at(int *buffer, int usual, int optional) {
    gpuscan_buffer at = {NULL, 0};
    *buffer = NONE;
    if (optional && fuzz_below(4) != 0)
        return at;
    *buffer = some_buffer(usual);
    at.mem = arenas[*buffer].mem;
    at.offset = some_offset();
    return at;
}

/* Picks an image, mostly one of this type, and where a call's width x height pixels begin. Records its mistakes. */
static const struct picture *some_picture(gpuscan_image *image, gpuscan_type type, uint64_t width, uint64_t height) {
    unsigned b = fuzz_8(), p = b < 16 ? b % PICTURES : b < 24 ? b % GOOD_PICTURES : 0;
    while (b >= 24 && p + 1 < GOOD_PICTURES && pictures[p].type != type)
        p++;
    image->mem = pictures[p].mem;
    image->x = fuzz_8() < 240 ? fuzz_below(64) : some_offset();
    image->y = fuzz_8() < 240 ? fuzz_below(8) : some_offset();
    if (p == WRITE_ONLY_PICTURE)
        surely_wrong(GPUSCAN_ERROR_BUFFER_ACCESS);
    if (p == FOREIGN_PICTURE)
        surely_wrong(GPUSCAN_ERROR_INVALID_CONTEXT);
    if (p == NO_PICTURE)
        surely_wrong(GPUSCAN_ERROR_INVALID_IMAGE);
    if (pictures[p].type != type)
        surely_wrong(GPUSCAN_ERROR_INVALID_TYPE);
    if (width && height &&
        (image->x > PICTURE_WIDTH || image->y > PICTURE_HEIGHT || width > PICTURE_WIDTH - image->x ||
         height > PICTURE_HEIGHT - image->y))
        surely_wrong(GPUSCAN_ERROR_BUFFER_TOO_SMALL);
    return &pictures[p];
}

/* Returns the image's pixels from that position on, laid out as in a buffer, row after row. */
static unsigned char *pixels_of(const struct picture *from, const gpuscan_image *image, uint64_t width, uint64_t height,
                                uint32_t channels) {
    size_t size = ref_size(from->type);
    unsigned char *all = (unsigned char *)test_alloc(width * height * channels * size);
    uint64_t x, y;
    for (y = 0; width && y < height; y++)
        for (x = 0; x < width; x++)
            memcpy(all + (y * width + x) * channels * size,
                   from->pixels + ((image->y + y) * PICTURE_WIDTH + image->x + x) * PICTURE_CHANNELS * size,
                   channels * size);
    return all;
}

static gpuscan_type some_count_type(gpuscan_type *as) {
    static const gpuscan_type types[4] = {GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U8};
    unsigned b = fuzz_8();
    gpuscan_type type = b == 255 ? (gpuscan_type)77 : b == 254 ? GPUSCAN_TYPE_U8 : types[b % 3];
    *as = type == GPUSCAN_TYPE_U64 ? type : GPUSCAN_TYPE_U32;
    if (b == 255)
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    if (b == 254)
        surely_wrong(GPUSCAN_ERROR_INVALID_TYPE);
    return type;
}

/* Returns the count that the device will load. */
static uint64_t device_count(int buffer, gpuscan_buffer at, gpuscan_type type, uint64_t count) {
    uint64_t found = 0;
    size_t size = type == GPUSCAN_TYPE_U64 ? 8 : 4;
    if (buffer == NONE)
        return count;
    memcpy(&found, arenas[buffer].bytes + at.offset * size, size);
    return found < count ? found : count;
}

static struct {
    gpuscan_call call;
    cl_event waits[6], event;
    int queue;
    int gives_event;
    uint64_t need; /* bytes of the caller's scratch */
    uint64_t scratch_begin;
    int own_scratch;
} now;

static void some_strategy(gpuscan_call *call) {
    static const gpuscan_strategy few[4] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_SINGLE_PASS,
                                            GPUSCAN_STRATEGY_CPU_SINGLE_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS};
    unsigned b = fuzz_8();
    if (b == 255) {
        call->strategy = (gpuscan_strategy)(GPUSCAN_STRATEGY_COUNT + fuzz_below(3));
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    } else
        call->strategy = is_short ? few[b % 4] : (gpuscan_strategy)(b % GPUSCAN_STRATEGY_COUNT);
    if (call->strategy != GPUSCAN_STRATEGY_AUTO)
        maybe_wrong(GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
}

static void drop_event(cl_event *event) {
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

static void open_gate(void) {
    if (gate)
        test_cl(clSetUserEventStatus(gate, CL_COMPLETE));
    drop_event(&gate);
}

/* Picks queue, wait list and event. A call waits for all earlier commands, by the queue's order or by events. */
static void some_call(form which) {
    gpuscan_call *call = &now.call;
    unsigned b = fuzz_8(), n = 0;
    int q;
    memset(&now, 0, sizeof now);
    some_strategy(call);
    now.queue = b % 8 < 5 ? 0 : b % 8 == 5 ? 1 : 2;
    call->queue = b % 8 == 0 ? NULL : queues[now.queue];
    now.gives_event = b & 8 || now.queue == 2;
    if (b > 250) {
        call->queue = foreign_queue;
        if (which != PREPARE)
            surely_wrong(GPUSCAN_ERROR_INVALID_CONTEXT);
    }
    for (q = 0; q < QUEUES; q++)
        if (markers[q] && (q != now.queue || q == 2))
            now.waits[n++] = markers[q];
    b = fuzz_8();
    if (b & 1)
        now.waits[n++] = done_event;
    if ((b & 6) == 6 && which == DEVICE) {
        cl_int status = CL_SUCCESS;
        if (gate == NULL)
            gate = clCreateUserEvent(test.context, &status);
        test_cl(status);
        now.waits[n++] = gate;
    }
    if (b >= 244 && which != PREPARE && n > 0) {
        cl_event bad = b < 248 ? NULL : b < 252 ? failed_event : foreign_event;
        now.waits[b % n] = bad;
        surely_wrong(bad == NULL           ? GPUSCAN_ERROR_INVALID_EVENT
                     : bad == failed_event ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                                           : GPUSCAN_ERROR_INVALID_CONTEXT);
    }
    call->wait_count = n;
    call->wait_list = n ? now.waits : NULL;
    if (b >= 240 && b < 244 && which != PREPARE) {
        if (b & 1)
            call->wait_list = call->wait_list ? NULL : now.waits;
        else
            call->wait_count = n ? 0 : 1;
        surely_wrong(GPUSCAN_ERROR_INVALID_EVENT);
    }
    if (now.gives_event)
        call->event = &now.event;
    now.event = (cl_event)&now; /* the call must overwrite it */
}

/* Picks the caller's scratch, in its own buffer or among the data. need: bytes, from the size query. */
static void some_scratch(gpuscan_call *call, uint64_t need) {
    unsigned b = fuzz_8();
    uint64_t size = SCRATCH;
    now.need = need;
    if (b < 128)
        return;
    call->scratch.mem = scratch_mem;
    call->scratch.offset = (uint64_t)64 * fuzz_below(40);
    if (b >= 250) {
        call->scratch.mem = arenas[B].mem;
        size = ARENA;
    }
    if (b < 136) {
        call->scratch.offset += 1 + b % 63;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    if (b >= 136 && b < 160) {
        call->scratch_size = fuzz_16();
        if (call->scratch_size == 0)
            ;
        else if (call->scratch.offset + call->scratch_size > size)
            surely_wrong(GPUSCAN_ERROR_BUFFER_TOO_SMALL);
        else if (call->scratch_size < need)
            maybe_wrong(GPUSCAN_ERROR_SCRATCH_TOO_SMALL);
    }
    if (b >= 160 && b < 164) {
        call->scratch.mem = NULL;
        call->scratch_size = 64;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    if (call->scratch.mem == NULL)
        return;
    now.own_scratch = b >= 250 ? B : IMAGE; /* IMAGE: equals no data buffer */
    now.scratch_begin = call->scratch.offset;
    if (call->scratch.offset + need > size)
        maybe_wrong(GPUSCAN_ERROR_SCRATCH_TOO_SMALL);
    if (b >= 250) {
        range used;
        int i;
        memset(&used, 0, sizeof used);
        used.buffer = B;
        used.begin = call->scratch.offset;
        used.end = used.begin + need;
        used.row = need;
        used.writes = 1;
        for (i = 0; i < range_count; i++)
            if (overlaps(&used, &ranges[i]))
                maybe_wrong(GPUSCAN_ERROR_OVERLAP);
    }
}

/* ---- running a call ---------------------------------------------------------------------------------------------- */

static const cl_int fault_codes[4] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                                      CL_INVALID_OPERATION};
static gpuscan_result fault_result;

static void arm(void) {
    unsigned b = fuzz_8();
    layer_reset();
    fault_result = GPUSCAN_SUCCESS;
    if (b < 216)
        return;
    if (b < 248) {
        layer.fail_at = 1 + fuzz_below(64);
        layer.fail_on = b & 1;
        layer.fail_code = fault_result = fault_codes[b / 2 % 4];
    } else {
        layer.allocation_fail_at = 1 + fuzz_below(8);
        layer.allocation_fail_on = b & 1;
        fault_result = GPUSCAN_ERROR_OUT_OF_HOST_MEMORY;
    }
}

static int disarm(void) {
    int struck = layer.failed >= 0 || layer.allocation_failed;
    layer.fail_at = 0;
    layer.allocation_fail_at = 0;
    if (layer.misuse)
        fail_msg("%s: %s", test.what, layer.misuse);
    return struck;
}

/* The latest calls, including those of earlier inputs, which decide what is in flight, built or left in scratch. */
static struct {
    char lines[HISTORY][256];
    unsigned long long count;
} history;

static void tell_history(void) {
    unsigned long long i = history.count < HISTORY ? 0 : history.count - HISTORY;
    for (; i < history.count; i++)
        fprintf(stderr, "%llu: %s\n", i, history.lines[i % HISTORY]);
}

/* Returns whether the call succeeded; fails the test if its result is not allowed. */
static int judge(gpuscan_result result, form which) {
    int struck = disarm();
    char *line = history.lines[history.count++ % HISTORY];
    snprintf(line, sizeof history.lines[0],
             "input %llu: %.100s, queue %d, %u events to wait for%s, scratch %d at %llu for %llu: %d%s",
             (unsigned long long)inputs, test.what, now.queue, (unsigned)now.call.wait_count,
             gate ? ", behind the gate" : "", now.own_scratch, (unsigned long long)now.scratch_begin,
             (unsigned long long)now.need, (int)result, struck ? ", with a fault" : "");
    if (is_traced)
        fprintf(stderr, "%s\n", line);
    /* the library can do without some functions, and the fault may have hit one of them */
    if (!is_right(result) && !(struck && (result == fault_result || result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)))
        fail_msg("%s: %d (%s), %s; %zu results are allowed, among them %d, %d and %d", test.what, (int)result,
                 gpuscan_result_string(result), gpuscan_error(gs), right.count, (int)right.results[0],
                 (int)right.results[1], (int)right.results[2]);
    if ((strcmp(gpuscan_error(gs), "") == 0) != (result == GPUSCAN_SUCCESS) && !struck)
        fail_msg("%s: %d, and gpuscan_error says '%s'", test.what, (int)result, gpuscan_error(gs));
    if (which != PREPARE && now.call.event) {
        if ((now.event == NULL) != (result != GPUSCAN_SUCCESS))
            fail_msg("%s: %d, and the event is %p", test.what, (int)result, (void *)now.event);
        if (result == GPUSCAN_SUCCESS) {
            layer_taken(now.event);
            drop_event(&now.event);
        }
    }
    return result == GPUSCAN_SUCCESS;
}

/* Enqueues a marker behind the call, for calls in other queues. */
static void mark(void) {
    drop_event(&markers[now.queue]);
    test_cl(clEnqueueMarkerWithWaitList(queues[now.queue], 0, NULL, &markers[now.queue]));
    test_cl(clFlush(queues[now.queue]));
}

static void read_all(void) {
    unsigned char *found = (unsigned char *)test_alloc(ARENA);
    int b;
    size_t i, different, first, last;
    open_gate();
    for (b = 0; b < QUEUES; b++) {
        test_cl(clFinish(queues[b]));
        drop_event(&markers[b]);
    }
    for (b = A; b <= WRITE_ONLY; b++) {
        if (b == SUB)
            continue;
        test_cl(clEnqueueReadBuffer(queues[0], arenas[b].mem, CL_TRUE, 0, ARENA, found, 0, NULL, NULL));
        if (memcmp(found, arenas[b].bytes, ARENA) == 0)
            continue;
        for (i = 0, different = 0, first = 0, last = 0; i < ARENA; i++)
            if (found[i] != arenas[b].bytes[i]) {
                first = different++ ? first : i;
                last = i;
            }
        tell_history();
        fail_msg("%s: byte %zu of buffer %d is %u instead of %u, the first of %zu different ones up to %zu", test.what,
                 first, b, found[first], arenas[b].bytes[first], different, last);
    }
    for (i = 0; i < CALLS; i++)
        if (memcmp(&results[i], &results_wanted[i], sizeof results[i]) != 0)
            fail_msg("%s: the result of call %zu or memory beside it is wrong", test.what, i);
    for (i = 0; i < layer.object_count; i++) {
        int maker = layer.objects[i].maker;
        if (maker >= LAYER_clRetainEvent && maker != LAYER_clReleaseEvent &&
            layer.objects[i].handle != (void *)gs->scratch_event)
            fail_msg("%s: an event of %s is still held", test.what, layer_names[maker]);
    }
    free(found);
}

/* Accepts any bytes in a call's scratch, but none may change around it. */
static void forget_scratch(void) {
    unsigned char *found;
    uint64_t i, end = now.scratch_begin + now.need;
    size_t size = now.own_scratch == B ? ARENA : SCRATCH;
    if (now.call.scratch.mem == NULL)
        return;
    open_gate();
    for (i = 0; i < QUEUES; i++)
        test_cl(clFinish(queues[i]));
    found = (unsigned char *)test_alloc(size);
    test_cl(clEnqueueReadBuffer(queues[0], now.call.scratch.mem, CL_TRUE, 0, size, found, 0, NULL, NULL));
    if (now.own_scratch == B) {
        for (i = now.scratch_begin; i < end && i < size; i++)
            arenas[B].bytes[i] = found[i];
    } else {
        for (i = 0; i < size; i++)
            if (found[i] != 0x3C && (i < now.scratch_begin || i >= end))
                fail_msg("%s: byte %d of the scratch was written, %d bytes past its end", test.what,
                         (int)(i - now.scratch_begin), (int)(i - end));
        memset(found, 0x3C, size);
        test_cl(clEnqueueWriteBuffer(queues[0], now.call.scratch.mem, CL_TRUE, 0, size, found, 0, NULL, NULL));
    }
    free(found);
}

/* Checks the memory of host-array calls. After a fault that came when the kernels had run, any output is accepted. */
static void check_host(int ok, unsigned char *out, size_t size) {
    int q;
    for (q = 0; q < QUEUES && !ok; q++)
        test_cl(clFinish(queues[q])); /* which a fault may have cut short */
    if (!ok && layer.calls[LAYER_clEnqueueNDRangeKernel] > 0 && out)
        memcpy(host_wanted + (out - host_arena), out, size);
    if (memcmp(host_arena, host_wanted, HOST) != 0) {
        size_t i = 0;
        while (host_arena[i] == host_wanted[i])
            i++;
        fail_msg("%s: byte %zu of the host memory is %u instead of %u", test.what, i, host_arena[i], host_wanted[i]);
    }
}

/* ---- scan -------------------------------------------------------------------------------------------------------- */

static kind some_kind(void) {
    kind k = kinds[fuzz_below(is_short ? 2 : KINDS)];
    switch (fuzz_8()) {
    case 255:
        k.src = k.dst = (gpuscan_type)(GPUSCAN_TYPE_COUNT + fuzz_below(3));
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        wrong(GPUSCAN_ERROR_INVALID_TYPE);
        break;
    case 254:
        k.op = (gpuscan_op)(GPUSCAN_OP_COUNT + fuzz_below(3));
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        wrong(GPUSCAN_ERROR_INVALID_OPERATOR);
        break;
    case 253:
        if (k.custom) {
            k.custom = NULL;
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        }
        break;
    case 252:
        k.dst = GPUSCAN_TYPE_F32;
        k.op = GPUSCAN_OP_AND;
        surely_wrong(GPUSCAN_ERROR_INVALID_OPERATOR);
        wrong(GPUSCAN_ERROR_INVALID_TYPE);
        break;
    default:
        break;
    }
    return k;
}

/* Returns 0 or a pitch near count, and records its mistakes. */
static uint64_t some_pitch(form which, uint64_t count, uint64_t *resolved) {
    unsigned b = fuzz_8();
    uint64_t pitch = b < 160 ? 0 : b < 240 ? count + b % 8 : b < 248 || which != DEVICE ? count / 2 : some_count(which);
    *resolved = pitch ? pitch : count;
    if (*resolved < count)
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    return pitch;
}

static uint64_t some_rows(form which) {
    unsigned b = fuzz_8();
    return b < 160 ? 0 : b < 246 || which != DEVICE ? b % 4 : some_count(which);
}

/* Picks an initial value on the host, on the device, both or none. start: receives the value. */
static const void *some_init(const kind *k, gpuscan_buffer *buffer, int *where, unsigned char *start) {
    static unsigned char init[72];
    const void *given = NULL;
    unsigned b = fuzz_8();
    size_t i;
    *where = NONE;
    memcpy(start, k->identity, k->dst_size);
    if (b < 96 || b >= 250) {
        for (i = 0; i < k->dst_size; i++)
            init[i] = (unsigned char)(b + i * 37);
        memcpy(start, init, k->dst_size);
        given = init;
    }
    if (b >= 192) {
        *buffer = buffer_at(where, A, 0);
        use(*buffer, *where, 1, k->dst_size, 1, 0, 0);
    }
    if (given && *where != NONE)
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    return given;
}

static void init_from_device(const kind *k, gpuscan_buffer at, int where, unsigned char *start) {
    if (where != NONE)
        memcpy(start, arenas[where].bytes + at.offset * k->dst_size, k->dst_size);
}

/* Scans one row or column; returns its sum through total. Elements are src_step and dst_step elements apart. */
static void model_scan(const kind *k, const gpuscan_scan_desc *desc, const unsigned char *src, uint64_t src_step,
                       unsigned char *dst, uint64_t dst_step, uint64_t count, const unsigned char *start,
                       unsigned char *total) {
    const int inclusive = desc->kind == GPUSCAN_INCLUSIVE;
    unsigned char running[72], next[72], room[4];
    uint64_t n, i;
    memcpy(running, start, k->dst_size);
    for (n = 0; n < count; n++) {
        i = desc->reverse ? count - 1 - n : n;
        k->combine(running, load(k, src + i * src_step * k->src_size, room), next);
        memcpy(dst + i * dst_step * k->dst_size, inclusive ? next : running, k->dst_size);
        memcpy(running, next, k->dst_size);
    }
    if (total)
        memcpy(total, running, k->dst_size);
}

static unsigned char *bytes_of(int buffer, uint64_t offset, size_t size) {
    return arenas[buffer].bytes && offset * size <= arenas[buffer].size ? arenas[buffer].bytes + offset * size : NULL;
}

/* Asks for the scratch size, which builds the program. It must succeed if the call does, unless counts are huge. */
#define SCRATCH_SIZE(operation, desc, need)                                                                            \
    do {                                                                                                               \
        gpuscan_result size_result;                                                                                    \
        (desc).call.strategy = now.call.strategy;                                                                      \
        size_result = gpuscan_##operation##_scratch_size(gs, &(desc), &(need));                                        \
        test_case(#operation "_scratch_size of %llu", (unsigned long long)(desc).count);                               \
        if (size_result != GPUSCAN_SUCCESS && !is_right(size_result) && (desc).count < (uint64_t)1 << 40)              \
            fail_msg("%s: %d, %s", test.what, (int)size_result, gpuscan_error(gs));                                    \
    } while (0)

static size_t segment_size(const gpuscan_segments *segments) {
    return segments->type == GPUSCAN_TYPE_U32 ? 4 : 1;
}

/* Picks segments by flags or keys, or by a few offsets of arbitrary values. */
static void some_segments(gpuscan_segments *segments, unsigned by, uint64_t count, int *where) {
    segments->form = by % 3 == 0   ? GPUSCAN_SEGMENTS_OFFSETS
                     : by % 3 == 1 ? GPUSCAN_SEGMENTS_HEADS
                                   : GPUSCAN_SEGMENTS_KEYS;
    segments->type = segments->form == GPUSCAN_SEGMENTS_OFFSETS || by & 8 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U8;
    segments->count = segments->form == GPUSCAN_SEGMENTS_OFFSETS ? by : 0;
    if (segments->form == GPUSCAN_SEGMENTS_OFFSETS)
        count = segments->count ? segments->count + 1 : 0;
    segments->data = buffer_at(where, A, 0);
    if (count > 0 && *where == NONE)
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    use(segments->data, *where, count, segment_size(segments), 1, 0, 0);
}

static void model_segments(const kind *k, const gpuscan_scan_desc *desc, const unsigned char *keys,
                           const unsigned char *src, unsigned char *dst, uint64_t count, const unsigned char *start) {
    const gpuscan_segments *segments = &desc->segments;
    size_t         size = segment_size(segments);
    unsigned char *heads = (unsigned char *)test_alloc(count + 1);
    uint64_t       i, begin;
    memset(heads, 0, (size_t)count + 1);
    for (i = 0; segments->form == GPUSCAN_SEGMENTS_OFFSETS && segments->count && i <= segments->count; i++) {
        uint32_t at;
        memcpy(&at, keys + 4 * i, 4);
        if (at < count)
            heads[at] = 1;
    }
    for (i = 0; segments->form != GPUSCAN_SEGMENTS_OFFSETS && i < count; i++) {
        const unsigned char *before = keys + (i ? i - 1 : 0) * size;
        heads[i] = memcmp(keys + i * size, segments->form == GPUSCAN_SEGMENTS_HEADS ? zeros : before, size) != 0;
    }
    heads[count] = 1;
    for (begin = 0; begin < count; begin = i) {
        for (i = begin + 1; !heads[i];)
            i++;
        model_scan(k, desc, src + begin * k->src_size, 1, dst + begin * k->dst_size, 1, i - begin, start, NULL);
    }
    free(heads);
}

static void do_scan(form which) {
    gpuscan_scan_desc desc;
    kind k;
    int src = NONE, dst = NONE, total = NONE, init = NONE, counts = NONE, keys = NONE, before, ok;
    gpuscan_type count_type;
    uint64_t rows, src_pitch, dst_pitch, need = 0, r, count, line, lines;
    u128 src_elements, dst_elements;
    unsigned char start[72], *in = NULL, *out = NULL, *sums;
    size_t host_src = 0, host_dst = 0, host_size = 0;
    gpuscan_result result;
    memset(&desc, 0, sizeof desc);
    some_call(which);
    k = some_kind();
    desc.src_type = k.src;
    desc.dst_type = k.dst;
    desc.op = k.op;
    desc.custom = k.custom;
    desc.kind = (gpuscan_scan_kind)(fuzz_8() & 1);
    if (fuzz_8() == 255) {
        desc.kind = (gpuscan_scan_kind)(2 + fuzz_below(3));
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    desc.reverse = fuzz_8() % 3 == 2;
    if (fuzz_8() == 255) {
        desc.reverse = 2 + fuzz_below(3);
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    count = desc.count = some_count(which);
    desc.rows = some_rows(which);
    rows = desc.rows ? desc.rows : 1;
    desc.along = fuzz_8() % 3 == 2 ? GPUSCAN_ALONG_COLUMNS : GPUSCAN_ALONG_ROWS;
    line = !desc.along ? count : count ? rows : 0;
    lines = !desc.along ? rows : count ? count : 1;
    if (fuzz_8() == 255) {
        desc.along = (gpuscan_along)(2 + fuzz_below(3));
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    desc.src_pitch = some_pitch(which, line, &src_pitch);
    desc.dst_pitch = some_pitch(which, line, &dst_pitch);
    src_elements = extent(line, lines, src_pitch);
    dst_elements = extent(line, lines, dst_pitch);
    if (!fits64(src_elements) || !fits64(src_elements * k.src_size) || !fits64(dst_elements) ||
        !fits64(dst_elements * k.dst_size))
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    desc.count_type = some_count_type(&count_type);
    desc.init = some_init(&k, &desc.init_buffer, &init, start);
    if (which == PREPARE) {
        test_case("scan_prepare");
        range_count = 0;
        right.unsure = 1; /* prepare does not check buffers */
        arm();
        result = gpuscan_scan_prepare(gs, &desc);
        judge(result, which);
        return;
    }
    desc.count_buffer = buffer_at(&counts, A, 1);
    desc.total = buffer_at(&total, B, 1);
    use(desc.count_buffer, counts, 1, count_type == GPUSCAN_TYPE_U64 ? 8 : 4, 1, 0, 0);
    use(desc.total, total, rows, k.dst_size, 0, 1, 0);
    if (which == HOST_ARRAYS) {
        size_t src_bytes = (size_t)(uint64_t)src_elements * k.src_size;
        host_size = (size_t)(uint64_t)dst_elements * k.dst_size;
        host_src = (size_t)8 * fuzz_below(64);
        host_dst = fuzz_8() & 1 ? HOST / 2 + 64 : fuzz_8() & 1 ? host_src : (size_t)8 * fuzz_below(64);
        if (count > 0 && host_dst < host_src + src_bytes && host_src < host_dst + host_size &&
            !(host_src == host_dst && k.src_size == k.dst_size && src_bytes == host_size))
            surely_wrong(GPUSCAN_ERROR_OVERLAP);
        in = host_wanted + host_src;
        out = host_wanted + host_dst;
        desc.count = 0;
    } else {
        int same = fuzz_8() % 4 == 0;
        unsigned by = fuzz_8();
        desc.src = buffer_at(&src, A, 0);
        desc.dst = buffer_at(&dst, B, 0);
        if (same) {
            desc.dst = desc.src;
            dst = src;
        }
        if (count > 0 && (src == NONE || dst == NONE))
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        if (by < 72)
            some_segments(&desc.segments, by, count, &keys);
        if (by < 72 && (desc.rows > 1 || desc.src_pitch || desc.dst_pitch || desc.total.mem || desc.along))
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        before = range_count;
        use(desc.src, src, src_elements, k.src_size, 1, 0, 1);
        has_rows(before, lines, line, src_pitch, k.src_size);
        before = range_count;
        use(desc.dst, dst, dst_elements, k.dst_size, 0, 1, 1);
        has_rows(before, lines, line, dst_pitch, k.dst_size);
    }
    check_overlaps();
    if (which == DEVICE) {
        SCRATCH_SIZE(scan, desc, need);
        some_scratch(&now.call, need);
    }
    desc.call = now.call;
    test_case("scan of %llu times %llu, types %d and %d, strategy %d, form %d", (unsigned long long)rows,
              (unsigned long long)count, (int)k.src, (int)k.dst, (int)desc.call.strategy, (int)which);
    if (which == HOST_ARRAYS) {
        open_gate();
        arm();
        result = gpuscan_scan_host(gs, host_arena + host_src, host_arena + host_dst, count, &desc);
    } else {
        arm();
        result = gpuscan_scan(gs, &desc);
    }
    ok = judge(result, which);
    if (ok) {
        if (which == DEVICE) {
            in = bytes_of(src, desc.src.offset, k.src_size);
            out = bytes_of(dst, desc.dst.offset, k.dst_size);
        }
        sums = total == NONE ? NULL : bytes_of(total, desc.total.offset, k.dst_size);
        init_from_device(&k, desc.init_buffer, init, start);
        r = device_count(counts, desc.count_buffer, count_type, count);
        count = r;
        if (desc.segments.form)
            model_segments(&k, &desc, bytes_of(keys, desc.segments.data.offset, segment_size(&desc.segments)), in, out,
                           count, start);
        for (r = 0; r < rows && !desc.segments.form && (count || sums); r++)
            model_scan(&k, &desc, count ? in + r * (desc.along ? 1 : src_pitch) * k.src_size : NULL,
                       desc.along ? src_pitch : 1, count ? out + r * (desc.along ? 1 : dst_pitch) * k.dst_size : NULL,
                       desc.along ? dst_pitch : 1, count, start, sums ? sums + r * k.dst_size : NULL);
        mark();
    }
    if (which == HOST_ARRAYS) {
        check_host(ok, host_arena + host_dst, host_size);
        if (!ok && total != NONE && layer.calls[LAYER_clEnqueueNDRangeKernel] > 0) /* as in check_host */
            test_cl(clEnqueueReadBuffer(queues[0], arenas[total].mem, CL_TRUE, (size_t)desc.total.offset * k.dst_size,
                                        (size_t)rows * k.dst_size, bytes_of(total, desc.total.offset, k.dst_size), 0,
                                        NULL, NULL));
        if (!ok)
            mark();
    }
    forget_scratch();
}

/* ---- uniform add ------------------------------------------------------------------------------------------------- */

static void do_uniform_add(form which) {
    gpuscan_uniform_add_desc desc;
    kind k;
    int dst = NONE, addend = NONE, counts = NONE, ok;
    gpuscan_type count_type;
    uint64_t count, block, addends, i;
    unsigned char *out = NULL, *add = NULL;
    size_t host_dst = 0, host_add = 0, host_size = 0;
    gpuscan_result result;
    memset(&desc, 0, sizeof desc);
    some_call(which);
    if ((now.call.strategy == GPUSCAN_STRATEGY_SINGLE_PASS || now.call.strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD ||
         now.call.strategy == GPUSCAN_STRATEGY_CPU_SINGLE_PASS))
        surely_wrong(GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    k = some_kind();
    k.src = k.dst == GPUSCAN_TYPE_DEFAULT ? k.src : k.dst;
    desc.type = k.src;
    desc.op = k.op;
    desc.custom = k.custom;
    count = desc.count = some_count(which);
    block = desc.block = fuzz_8() < 250 ? 1 + fuzz_16() % 300 : some_count(DEVICE);
    if (block == 0)
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    addends = block ? count / block + (count % block != 0) : 0;
    if (!fits64(product(count, k.dst_size)))
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    desc.count_type = some_count_type(&count_type);
    if (which == PREPARE) {
        test_case("uniform_add_prepare");
        right.unsure = 1;
        arm();
        judge(gpuscan_uniform_add_prepare(gs, &desc), which);
        return;
    }
    desc.count_buffer = buffer_at(&counts, A, 1);
    use(desc.count_buffer, counts, 1, count_type == GPUSCAN_TYPE_U64 ? 8 : 4, 1, 0, 0);
    if (which == HOST_ARRAYS) {
        size_t add_size = (size_t)addends * k.dst_size;
        host_size = (size_t)count * k.dst_size;
        host_add = (size_t)8 * fuzz_below(64);
        host_dst = fuzz_8() & 3 ? HOST / 2 + 64 : (size_t)8 * fuzz_below(64);
        if (count > 0 && host_dst < host_add + add_size && host_add < host_dst + host_size)
            surely_wrong(GPUSCAN_ERROR_OVERLAP);
        out = host_wanted + host_dst;
        add = host_wanted + host_add;
        desc.count = desc.block = 0;
    } else {
        desc.dst = buffer_at(&dst, B, 0);
        desc.addend = buffer_at(&addend, A, 0);
        if (count > 0 && (dst == NONE || addend == NONE))
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        use(desc.dst, dst, count, k.dst_size, 1, 1, 0);
        use(desc.addend, addend, addends, k.dst_size, 1, 0, 0);
    }
    check_overlaps();
    if (which == DEVICE)
        some_scratch(&now.call, 0);
    desc.call = now.call;
    test_case("uniform add of %llu, block %llu, type %d, strategy %d, form %d", (unsigned long long)count,
              (unsigned long long)block, (int)k.src, (int)desc.call.strategy, (int)which);
    if (which == HOST_ARRAYS) {
        open_gate();
        arm();
        result = gpuscan_uniform_add_host(gs, host_arena + host_add, host_arena + host_dst, count, block, &desc);
    } else {
        arm();
        result = gpuscan_uniform_add(gs, &desc);
    }
    ok = judge(result, which);
    if (ok) {
        if (which == DEVICE) {
            out = bytes_of(dst, desc.dst.offset, k.dst_size);
            add = bytes_of(addend, desc.addend.offset, k.dst_size);
        }
        count = device_count(counts, desc.count_buffer, count_type, count);
        for (i = 0; i < count; i++)
            k.combine(add + i / block * k.dst_size, out + i * k.dst_size, out + i * k.dst_size);
        mark();
    }
    if (which == HOST_ARRAYS) {
        check_host(ok, host_arena + host_dst, host_size);
        if (!ok)
            mark();
    }
    forget_scratch();
}

/* ---- reduce ------------------------------------------------------------------------------------------------------ */

/* Returns the index of the first smallest or largest i64. */
static uint64_t model_arg(const unsigned char *src, uint64_t count, int smallest) {
    uint64_t i, found = UINT64_MAX;
    int64_t best = 0, x;
    for (i = 0; i < count; i++) {
        memcpy(&x, src + i * 8, 8);
        if (i == 0 || (smallest ? x < best : x > best)) {
            best = x;
            found = i;
        }
    }
    return found;
}

/* Writes ascending offsets into the buffer, behind all earlier commands: some segments are empty, the last ones may lie
   beyond count. The call waits for the write. */
static cl_event ascending_offsets(const gpuscan_segments *segments, int where, uint64_t count, int call) {
    static uint32_t offsets[CALLS][RESULTS + 1]; /* the write reads them later */
    uint32_t at = fuzz_8() % 4, random = 1 + fuzz_8();
    uint64_t s;
    size_t size = (size_t)(segments->count + 1) * 4;
    cl_event written;
    for (s = 0; s <= segments->count; s++) {
        offsets[call][s] = at;
        random = random * 1664525 + 1013904223;
        at += random >> 30 ? (random >> 8) % (uint32_t)(2 + 2 * count / (segments->count + 1)) : 0;
    }
    memcpy(bytes_of(where, segments->data.offset, 4), offsets[call], size);
    test_cl(clEnqueueWriteBuffer(queues[now.queue], arenas[where].mem, CL_FALSE, (size_t)segments->data.offset * 4,
                                 size, offsets[call], now.call.wait_count, now.call.wait_list, &written));
    now.waits[now.call.wait_count++] = written;
    now.call.wait_list = now.waits;
    return written;
}

static int never_descend(const unsigned char *offsets, uint64_t segments) {
    uint64_t s;
    for (s = 0; s < segments; s++)
        if (u32_at(offsets + 4 * s) > u32_at(offsets + 4 * (s + 1)))
            return 0;
    return 1;
}

/* Computes one result from the elements [first, last) of `in`; an argument's indices count from `number`. */
static void model_reduce(const kind *k, int arg, const unsigned char *in, uint64_t first, uint64_t last,
                         uint64_t number, const unsigned char *start, unsigned char *to) {
    unsigned char room[4], sum[72];
    uint64_t i;
    if (arg) {
        i = model_arg(in + first * k->src_size, last - first, k->op == GPUSCAN_OP_ARGMIN);
        i += i == UINT64_MAX ? 0 : number;
        memcpy(to, &i, k->dst == GPUSCAN_TYPE_U32 ? 4 : 8);
        return;
    }
    memcpy(sum, start, k->dst_size);
    for (i = first; i < last; i++)
        k->combine(sum, load(k, in + i * k->src_size, room), sum);
    memcpy(to, sum, k->dst_size);
}

static uint64_t lesser(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void do_reduce(form which, int call) {
    gpuscan_reduce_desc desc;
    kind k;
    int src = NONE, dst = NONE, init = NONE, counts = NONE, offsets = NONE, before, ok, arg, wild = 0;
    gpuscan_type count_type;
    uint64_t count, results_count, pitch, need = 0, i;
    u128 elements;
    size_t result_size, host_src = 0;
    cl_event written = NULL;
    unsigned by, from_image;
    unsigned char start[72], *in = NULL, *to, *ends, *packed = NULL;
    const struct picture *picture = NULL;
    gpuscan_result result;
    memset(&desc, 0, sizeof desc);
    some_call(which);
    k = some_kind();
    arg = may_succeed() && fuzz_8() % 4 == 0;
    if (arg) {
        k = kinds[3];
        k.op = fuzz_8() & 1 ? GPUSCAN_OP_ARGMIN : GPUSCAN_OP_ARGMAX;
        k.dst = fuzz_8() & 1 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
    }
    result_size = !arg ? k.dst_size : k.dst == GPUSCAN_TYPE_U32 ? 4 : 8;
    desc.src_type = k.src;
    desc.dst_type = k.dst;
    desc.op = k.op;
    desc.custom = k.custom;
    count = desc.count = some_count(which);
    if (!fits64(product(count, k.src_size)) || (arg && result_size == 4 && count > UINT32_MAX))
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    desc.count_type = some_count_type(&count_type);
    if (!arg)
        desc.init = some_init(&k, &desc.init_buffer, &init, start);
    by = fuzz_8();
    pitch = count;
    if (by % 4 == 1) {
        desc.rows = some_rows(which);
        desc.src_pitch = some_pitch(which, count, &pitch);
    }
    from_image = by % 4 == 3 && which != PREPARE && test.info.has_images;
    if (from_image) {
        if (fuzz_8() < 240)
            count = desc.count %= 2000;
        desc.src_width = 1 + fuzz_below(128);
        desc.src_type = desc.src_type ? desc.src_type : GPUSCAN_TYPE_U32;
        picture = some_picture(&desc.src_image, desc.src_type, lesser(count, desc.src_width),
                               count / desc.src_width + (count % desc.src_width != 0));
        if (which == HOST_ARRAYS)
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    results_count = desc.rows ? desc.rows : 1;
    if (which == PREPARE) {
        desc.segments.form = by % 4 == 2 ? GPUSCAN_SEGMENTS_OFFSETS : GPUSCAN_SEGMENTS_NONE;
        test_case("reduce_prepare");
        right.unsure = 1;
        arm();
        judge(gpuscan_reduce_prepare(gs, &desc), which);
        return;
    }
    desc.count_buffer = buffer_at(&counts, A, 1);
    use(desc.count_buffer, counts, 1, count_type == GPUSCAN_TYPE_U64 ? 8 : 4, 1, 0, 0);
    if (which == HOST_ARRAYS) {
        host_src = (size_t)8 * fuzz_below(64);
        in = host_wanted + host_src;
        desc.count = 0;
    } else {
        unsigned b = fuzz_8();
        if (!from_image || fuzz_8() < 8)
            desc.src = buffer_at(&src, A, 0);
        if (count > 0 && src == NONE && !from_image)
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        if (from_image && (src != NONE || desc.src.offset))
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        if (b & 1)
            desc.dst = buffer_at(&dst, B, 0);
        if (!(b & 1) || b > 250) {
            desc.result = results[call].bytes;
            results_count = desc.rows = lesser(desc.rows, RESULTS);
            results_count += results_count == 0;
        }
        if (by % 4 == 2 || by == 1) { /* mostly by offsets */
            some_segments(&desc.segments, by / 4 % RESULTS - (by < 240 ? by / 4 % 3 : 0), count, &offsets);
            if (desc.segments.form != GPUSCAN_SEGMENTS_OFFSETS || desc.rows > 1 || desc.src_pitch)
                surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
            results_count = desc.segments.count;
        }
        elements = desc.segments.form ? count : extent(count, results_count, pitch);
        if (!fits64(elements) || !fits64(elements * k.src_size) || results_count > UINT64_MAX / 2 / result_size)
            surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
        before = range_count;
        use(desc.src, src, elements, k.src_size, 1, 0, 0);
        has_rows(before, desc.rows, count, pitch, k.src_size);
        use(desc.dst, dst, results_count, result_size, 0, 1, 0);
        if (desc.result && desc.dst.mem)
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        if (!desc.result && !desc.dst.mem && results_count > 0)
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    }
    check_overlaps();
    if (desc.segments.form && may_succeed() && fuzz_8() % 8)
        written = ascending_offsets(&desc.segments, offsets, count, call);
    if (which == DEVICE) {
        SCRATCH_SIZE(reduce, desc, need);
        some_scratch(&now.call, need);
    }
    desc.call = now.call;
    test_case("reduce of %llu, %llu rows or %llu segments, types %d and %d, op %d, strategy %d, form %d",
              (unsigned long long)count, (unsigned long long)desc.rows, (unsigned long long)desc.segments.count,
              (int)k.src, (int)k.dst, (int)k.op, (int)desc.call.strategy, (int)which);
    if (which == HOST_ARRAYS) {
        open_gate();
        arm();
        result = gpuscan_reduce_host(gs, host_arena + host_src, results[call].bytes, count, &desc);
    } else {
        arm();
        result = gpuscan_reduce(gs, &desc);
    }
    drop_event(&written);
    ok = judge(result, which);
    if (ok) {
        if (from_image)
            in = packed = pixels_of(picture, &desc.src_image, lesser(count, desc.src_width),
                                    count / desc.src_width + (count % desc.src_width != 0), 1);
        else if (which == DEVICE)
            in = bytes_of(src, desc.src.offset, k.src_size);
        to = which == HOST_ARRAYS || desc.result ? results_wanted[call].bytes
                                                 : bytes_of(dst, desc.dst.offset, result_size);
        count = device_count(counts, desc.count_buffer, count_type, count);
        ends = desc.segments.form ? bytes_of(offsets, desc.segments.data.offset, 4) : NULL;
        wild = ends && !never_descend(ends, results_count);
        if (!arg)
            init_from_device(&k, desc.init_buffer, init, start);
        for (i = 0; i < results_count && !wild; i++) {
            uint64_t first = ends ? lesser(u32_at(ends + 4 * i), count) : i * pitch;
            uint64_t last = ends ? lesser(u32_at(ends + 4 * (i + 1)), count) : i * pitch + count;
            model_reduce(&k, arg, in, first, last, ends ? first : 0, start, to + i * result_size);
        }
        if (wild) { /* any results are accepted, but other bytes must not change */
            open_gate();
            test_cl(clFinish(queues[now.queue]));
            if (desc.result)
                memcpy(to, results[call].bytes, (size_t)results_count * result_size);
            else
                test_cl(clEnqueueReadBuffer(queues[0], desc.dst.mem, CL_TRUE, (size_t)desc.dst.offset * result_size,
                                            (size_t)results_count * result_size, to, 0, NULL, NULL));
        }
        free(packed);
        mark();
    } else if (layer.calls[LAYER_clEnqueueNDRangeKernel] > 0) { /* only the call's wait or event failed */
        open_gate();
        test_cl(clFinish(queues[now.queue]));
        if (which == HOST_ARRAYS)
            memcpy(results_wanted[call].bytes, results[call].bytes, (size_t)results_count * result_size);
    }
    if (which == HOST_ARRAYS)
        check_host(1, NULL, 0);
    forget_scratch();
}

/* ---- histogram --------------------------------------------------------------------------------------------------- */

/* All that decides a histogram's program. */
static const struct {
    gpuscan_type sample, counter, weight;
    uint32_t bins;
    gpuscan_bins form;
    int64_t lower, upper;
    double real_lower, real_upper;
    int closed;
    gpuscan_outside outside;
    uint32_t channels, mask;
    int weighted;
} shapes[] = {
    {GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, 0, GPUSCAN_BINS_EVEN, 0, 0, 0, 0, 0,
     GPUSCAN_OUTSIDE_DROP, 0, 0, 0},
    {GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U8, 5, GPUSCAN_BINS_EDGES, 0, 0, 0, 0, 1, GPUSCAN_OUTSIDE_COUNT,
     3, 5, 1},
    {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_DEFAULT, 10, GPUSCAN_BINS_VALUES, 100, 0, 0, 0, 0,
     GPUSCAN_OUTSIDE_CLAMP, 4, 0, 0},
    {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, 300, GPUSCAN_BINS_EVEN, -20000, 30001, 0, 0, 1,
     GPUSCAN_OUTSIDE_COUNT, 1, 0, 1},
    {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U16, 7, GPUSCAN_BINS_EVEN, 0, 0, -1e3, 1e9, 0,
     GPUSCAN_OUTSIDE_COUNT, 2, 2, 0},
    {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_DEFAULT, 1000, GPUSCAN_BINS_EVEN, 0, 0, 0, 0, 0,
     GPUSCAN_OUTSIDE_DROP, 1, 1, 0},
    {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_DEFAULT, 30, GPUSCAN_BINS_EVEN, -20000, 30001, 0, 0, 0,
     GPUSCAN_OUTSIDE_DROP, 1, 0, 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, EXPRESSED = SHAPES - 1 };
/* The custom of the last shape: it leaves samples and weights unchanged. */
static const gpuscan_custom same_value = {NULL, NULL, 0, NULL, NULL, "(short)(x + (short)(i - i))", NULL, NULL, NULL};

static const gpuscan_custom this_pixel = {NULL, NULL, 0, NULL, NULL, "near(0, 0)", NULL, NULL, NULL};
static const gpuscan_custom same_pixel = {NULL, NULL, 0, NULL, NULL, "x + near(1, 0) - near(1, at.x - at.x)", NULL,
                                          NULL, NULL};

static int ascend(const unsigned char *edges, uint32_t bins) {
    uint32_t i;
    for (i = 0; i < bins; i++)
        if ((int32_t)u32_at(edges + 4 * i) >= (int32_t)u32_at(edges + 4 * i + 4))
            return 0;
    return 1;
}

/* Makes bounds of each channel, near the desc's, which are mostly cleared; empty ones of channels outside the mask. */
static void some_channel_bounds(gpuscan_histogram_desc *desc, gpuscan_bound *bounds) {
    uint32_t c, all = desc->channels ? desc->channels : PICTURE_CHANNELS; /* an image has at most four */
    int is_float = desc->sample_type == GPUSCAN_TYPE_F32, is_whole = desc->lower.u == 0 && desc->upper.u == 0;
    if (desc->form == GPUSCAN_BINS_EDGES)
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    for (c = 0; c < all; c++) {
        gpuscan_bound *own = bounds + 2 * c;
        int is_out = c < 4 && desc->channel_mask && !(desc->channel_mask >> c & 1);
        own[0] = desc->lower;
        own[1] = desc->upper;
        if (is_float) {
            own[0].f += c;
            own[1].f += 3 * c;
        } else if (!is_whole || c > 0) {
            own[0].i += 5 * c;
            own[1].i += (is_whole ? 200 : 0) + 9 * c;
        }
        if (is_out)
            own[0].u = own[1].u = 7;
    }
    desc->channel_bounds = bounds;
    if (fuzz_8() >= 16)
        desc->lower.u = desc->upper.u = 0;
    else if (!is_whole)
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
}

/* Returns the last channel that has edges. */
static uint64_t last_channel(const gpuscan_histogram_desc *desc) {
    uint64_t c, last = 0;
    for (c = 0; c < 4 && c < desc->channels; c++)
        if (desc->channel_mask == 0 || desc->channel_mask >> c & 1)
            last = c;
    return last;
}

static int all_ascend(const unsigned char *edges, const gpuscan_histogram_desc *desc) {
    uint64_t c;
    for (c = 0; c <= last_channel(desc); c++)
        if ((c == 0 && !desc->edges_pitch) || desc->channel_mask >> c & 1)
            if (!ascend(edges + 4 * c * desc->edges_pitch, desc->bins))
                return 0;
    return 1;
}

static void do_histogram(form which) {
    static gpuscan_bound of_channels[2 * 256];
    const struct picture *picture = NULL;
    unsigned char *packed = NULL;
    unsigned twist;
    int from_image, by_channel;
    gpuscan_histogram_desc desc, shape;
    unsigned b = fuzz_below(is_short ? 2 : SHAPES);
    int samples = NONE, counts = NONE, edges = NONE, weights = NONE, limit = NONE, ok, known = 1, before;
    gpuscan_type count_type;
    uint64_t count, rows, pitch, weights_pitch, counters, all_counters, need = 0, row_bytes;
    size_t sample_size, counter_size, weight_size, host_size = 0, host_samples = 0, host_counts = 0;
    size_t host_edges = HOST / 4, host_weights = HOST / 4 + 64;
    unsigned channels, active;
    u128 pixels, weight_elements;
    gpuscan_result result;
    memset(&desc, 0, sizeof desc);
    some_call(which);
    desc.sample_type = shapes[b].sample;
    desc.counter_type = shapes[b].counter;
    desc.weight_type = shapes[b].weight;
    desc.bins = shapes[b].bins;
    desc.form = shapes[b].form;
    desc.closed = shapes[b].closed;
    desc.outside = shapes[b].outside;
    desc.channels = shapes[b].channels;
    desc.channel_mask = shapes[b].mask;
    if (desc.sample_type == GPUSCAN_TYPE_F32) {
        desc.lower.f = shapes[b].real_lower;
        desc.upper.f = shapes[b].real_upper;
    } else {
        desc.lower.i = shapes[b].lower;
        desc.upper.i = shapes[b].upper;
    }
    twist = fuzz_8();
    switch (twist) {
    case 255:
        desc.channels = 5 + fuzz_below(250);
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 254:
        desc.channel_mask |= 1u << (4 + fuzz_below(28));
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 253:
        desc.bins = 536870910u + fuzz_below(255);
        surely_wrong(GPUSCAN_ERROR_INVALID_BINS);
        wrong(GPUSCAN_ERROR_BUFFER_TOO_SMALL);
        break;
    case 252:
        if (desc.form == GPUSCAN_BINS_EVEN && desc.lower.u != 0) {
            desc.upper = desc.lower;
            surely_wrong(GPUSCAN_ERROR_INVALID_BINS);
        }
        break;
    case 251:
        desc.outside = (gpuscan_outside)(3 + fuzz_below(3));
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 250:
        desc.counter_type = GPUSCAN_TYPE_I32;
        surely_wrong(GPUSCAN_ERROR_INVALID_TYPE);
        break;
    case 249:
        desc.form = (gpuscan_bins)(3 + fuzz_below(3));
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    default:
        break;
    }
    from_image = twist >= 180 && twist < 213;
    by_channel = twist >= 202 && twist < 224;
    if (is_short) /* builds few programs */
        from_image = by_channel = b == 0 && (from_image || by_channel);
    from_image = from_image && test.info.has_images;
    desc.accumulate = fuzz_8() & 1;
    if (by_channel && desc.form == GPUSCAN_BINS_EDGES)
        desc.edges_pitch = desc.bins + 1 + fuzz_below(4);
    else if (by_channel)
        some_channel_bounds(&desc, of_channels);
    shape = desc;
    if (from_image && shape.channels == 0)
        shape.channels = PICTURE_CHANNELS;
    channels = shape.channels ? shape.channels : 1;
    active = shape.channels <= 4 ? ref_channels(&shape) : 1;
    sample_size = ref_size(desc.sample_type ? desc.sample_type : GPUSCAN_TYPE_U8);
    counter_size = desc.counter_type == GPUSCAN_TYPE_U64 ? 8 : 4;
    weight_size = ref_size(desc.weight_type);
    if (b == EXPRESSED) {
        desc.custom = from_image ? &same_pixel : &same_value;
        desc.weight = fuzz_8() & 1 ? "1 + i / 4294967296" : NULL;
    }
    if (!is_short && fuzz_8() < 40)
        desc.counts_stride = 3;
    counters = ref_counters(&shape) * active;
    count = desc.count = some_count(which);
    desc.rows = some_rows(which);
    if (from_image && fuzz_8() < 200) { /* mostly within an image */
        count = desc.count %= 140;
        desc.rows %= 30;
    }
    rows = desc.rows ? desc.rows : 1;
    pitch = count;
    if (!from_image)
        desc.pitch = some_pitch(which, count, &pitch);
    row_bytes = pitch * channels * sample_size;
    if (!from_image && count < 100000 && rows < 1000 && !desc.pitch && fuzz_8() < 64) {
        desc.pitch_bytes = row_bytes = count * channels * sample_size + fuzz_below(4) * sample_size;
        if (row_bytes == 0)
            desc.pitch_bytes = row_bytes = sample_size;
        if (sample_size > 1 && fuzz_8() < 16) {
            desc.pitch_bytes++;
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        } else if (count > 1 && fuzz_8() < 16) {
            desc.pitch_bytes = sample_size;
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        }
    }
    if (count < 100000 && rows < 1000 && counters < 2000 && fuzz_8() < 80) {
        desc.tile_width = fuzz_8() & 1 ? 64 : 7 * (fuzz_8() & 1);
        desc.tile_height = fuzz_8() & 3;
        counters *= ref_tiles(&desc);
    }
    all_counters = counters;
    counters = ref_counters_span(&desc, counters);
    desc.weights_pitch = some_pitch(which, count, &weights_pitch);
    pixels = extent(count, rows, pitch);
    weight_elements = extent(count, rows, weights_pitch);
    if (!fits64(pixels) || !fits64(pixels * channels * sample_size) || !fits64(weight_elements) ||
        !fits64(weight_elements * weight_size) || !fits64(product(count, rows) * channels))
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    if (from_image) {
        gpuscan_type type = desc.sample_type ? desc.sample_type : GPUSCAN_TYPE_U8;
        picture = some_picture(&desc.samples_image, type, count, rows);
        if (picture->type != type) /* by default the image's type */
            desc.sample_type = type;
        if (which == HOST_ARRAYS)
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        if (fuzz_8() < 8) {
            desc.pitch = count + 1;
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        }
    }
    desc.count_type = some_count_type(&count_type);
    if (which == PREPARE) {
        test_case("histogram_prepare");
        if (desc.bins > 1000000 || counters > 1000000)
            return;
        right.unsure = 1;
        arm();
        judge(gpuscan_histogram_prepare(gs, &desc), which);
        return;
    }
    desc.count_buffer = buffer_at(&limit, A, 1);
    use(desc.count_buffer, limit, 1, count_type == GPUSCAN_TYPE_U64 ? 8 : 4, 1, 0, 0);
    if (which == HOST_ARRAYS) {
        size_t sample_bytes = (size_t)(uint64_t)pixels * channels * sample_size;
        if (desc.pitch_bytes && count)
            sample_bytes = (size_t)((rows - 1) * row_bytes + count * channels * sample_size);
        host_samples = (size_t)8 * fuzz_below(64);
        host_size = (size_t)counters * counter_size;
        host_counts = fuzz_8() & 3 ? HOST / 2 + 64 : (size_t)8 * fuzz_below(64);
        desc.count = 0;
        if (desc.form == GPUSCAN_BINS_EDGES)
            desc.host_edges = host_arena + host_edges;
        if (shapes[b].weighted)
            desc.host_weights = host_arena + host_weights;
        if (count > 0 && host_size < HOST && host_counts < host_samples + sample_bytes &&
            host_samples < host_counts + host_size)
            surely_wrong(GPUSCAN_ERROR_OVERLAP);
        if (desc.host_edges)
            known = all_ascend(host_wanted + host_edges, &shape);
        if (may_succeed() && host_counts + host_size > HOST)
            return; /* too large for the host memory */
        if (may_succeed() && host_counts < HOST / 2 &&
            (host_counts + host_size > host_edges || host_samples + sample_bytes > host_edges))
            return; /* the model cannot follow edges or weights that are overwritten */
    } else {
        if (!from_image || fuzz_8() < 8)
            desc.samples = buffer_at(&samples, A, 0);
        desc.counts = buffer_at(&counts, B, 0);
        if ((count > 0 && samples == NONE && !from_image) || counts == NONE)
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        if (from_image && (samples != NONE || desc.samples.offset))
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        before = range_count;
        use(desc.samples, samples,
            desc.pitch_bytes && count ? (rows - 1) * (row_bytes / sample_size) + count * channels : pixels * channels,
            sample_size, 1, 0, 0);
        has_rows(before, rows, count * channels, desc.pitch_bytes ? row_bytes / sample_size : pitch * channels,
                 sample_size);
        before = range_count;
        use(desc.counts, counts, counters, counter_size, desc.accumulate, 1, 0);
        has_rows(before, desc.counts_stride ? all_counters : 1, 1, ref_stride(&desc), counter_size);
        if (desc.form == GPUSCAN_BINS_EDGES) {
            desc.edges = buffer_at(&edges, A, 0);
            if (edges == NONE)
                surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
            use(desc.edges, edges, last_channel(&shape) * desc.edges_pitch + desc.bins + 1, sample_size, 1, 0, 0);
        }
        if (shapes[b].weighted) {
            desc.weights = buffer_at(&weights, A, 0);
            before = range_count;
            use(desc.weights, weights, weight_elements, weight_size, 1, 0, 0);
            has_rows(before, rows, count, weights_pitch, weight_size);
        }
        if (fuzz_8() == 255) {
            desc.host_weights = host_arena;
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        }
    }
    check_overlaps();
    if (which == DEVICE) {
        SCRATCH_SIZE(histogram, desc, need);
        some_scratch(&now.call, need);
        if (edges != NONE && may_succeed())
            known = all_ascend(bytes_of(edges, desc.edges.offset, sample_size), &shape);
    }
    desc.call = now.call;
    test_case("histogram, shape %u, %llu times %llu%s%s, strategy %d, form %d", b, (unsigned long long)rows,
              (unsigned long long)count, from_image ? ", of an image" : "", by_channel ? ", bounds by channel" : "",
              (int)desc.call.strategy, (int)which);
    if (which == HOST_ARRAYS) {
        open_gate();
        arm();
        result = gpuscan_histogram_host(gs, host_arena + host_samples, host_arena + host_counts, count, &desc);
    } else {
        arm();
        result = gpuscan_histogram(gs, &desc);
    }
    ok = judge(result, which);
    if (ok) {
        unsigned char *table;
        const unsigned char *in, *bounds = NULL, *each = NULL;
        uint64_t fewer = device_count(limit, desc.count_buffer, count_type, count);
        gpuscan_histogram_desc model = desc;
        model.channels = shape.channels;
        model.count = count;
        model.pitch = pitch ? pitch : 1;
        model.weights_pitch = weights_pitch ? weights_pitch : 1;
        if (which == HOST_ARRAYS) {
            in = host_wanted + host_samples;
            table = host_wanted + host_counts;
            bounds = host_wanted + host_edges;
            each = shapes[b].weighted ? host_wanted + host_weights : NULL;
        } else {
            if (from_image)
                packed = pixels_of(picture, &desc.samples_image, count, rows, channels);
            in = from_image        ? packed
                 : samples == NONE ? NULL
                                   : bytes_of(samples, desc.samples.offset, sample_size);
            table = bytes_of(counts, desc.counts.offset, counter_size);
            if (edges != NONE)
                bounds = bytes_of(edges, desc.edges.offset, sample_size);
            if (weights != NONE)
                each = bytes_of(weights, desc.weights.offset, weight_size);
        }
        if (known) {
            ref_histogram_to(&model, fewer, in, bounds, each, table);
        } else if (which == HOST_ARRAYS) {
            memcpy(table, host_arena + host_counts, host_size);
        } else { /* any counts are accepted, but other bytes must not change */
            open_gate();
            test_cl(clFinish(queues[now.queue]));
            test_cl(clEnqueueReadBuffer(queues[0], arenas[counts].mem, CL_TRUE,
                                        (size_t)desc.counts.offset * counter_size, (size_t)counters * counter_size,
                                        table, 0, NULL, NULL));
        }
        free(packed);
        mark();
    }
    if (which == HOST_ARRAYS) {
        check_host(ok, host_arena + host_counts, host_size < HOST ? host_size : 0);
        if (!ok)
            mark();
    }
    forget_scratch();
}

/* ---- select ------------------------------------------------------------------------------------------------------ */

/* All that decides a selection's program: elements, flags, indices, and the payload's size in bytes. */
static const struct {
    gpuscan_type type, flag, index;
    gpuscan_select_by by;
    size_t size, payload;
    int invert;
} selections[] = {{GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_U32, GPUSCAN_SELECT_FLAGS, 4, 0, 0},
                  {GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U64, GPUSCAN_SELECT_FLAGS, 2, 3, 1},
                  {GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_U32, GPUSCAN_SELECT_BITS, 12, 8, 0},
                  {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_U32, GPUSCAN_SELECT_PREDICATE, 1, 4, 0}};
enum { SELECTIONS = sizeof selections / sizeof *selections };

static const gpuscan_custom odd = {
    "struct values { uchar step; };\n", NULL, 12, NULL, NULL, NULL, "x & 1 || i % values->step == 0", NULL, NULL};
static unsigned char values[257]; /* the first is the step */

/* The same selection, whose step is the only element of a source. Element k of its buffer is k + 1. */
static const gpuscan_custom odd_by_source = {NULL, NULL, 12, NULL, NULL, NULL, "x & 1 || i % source0[0] == 0", NULL,
                                             NULL};
static gpuscan_source steps;

static int is_kept(unsigned b, const unsigned char *flags, uint64_t i) {
    int kept = selections[b].by == GPUSCAN_SELECT_BITS        ? flags[i / 8] >> i % 8 & 1
               : selections[b].by == GPUSCAN_SELECT_PREDICATE ? (flags[i] & 1) || i % values[0] == 0
               : selections[b].size == 2                      ? (flags[2 * i] | flags[2 * i + 1]) != 0
                                                              : flags[i] != 0;
    return kept != selections[b].invert;
}

static void copy_kept(unsigned b, unsigned char *dst, const unsigned char *src, size_t size,
                      const unsigned char *flags, uint64_t count, uint64_t capacity) {
    uint64_t i, j = 0;
    for (i = 0; dst && i < count && j < capacity; i++)
        if (is_kept(b, flags, i))
            memmove(dst + j++ * size, src + i * size, size);
}

static void do_select(form which) {
    gpuscan_select_desc desc;
    gpuscan_payload payload;
    unsigned b = fuzz_below(is_short ? 2 : SELECTIONS);
    size_t size = selections[b].size, flag_size = size == 2 ? 2 : 1, index_size;
    int src = NONE, dst = NONE, flags = NONE, indices = NONE, from = NONE, to = NONE, tally = NONE, limit = NONE;
    int before, by_predicate = selections[b].by == GPUSCAN_SELECT_PREDICATE, by_values, by_source;
    unsigned mistake;
    gpuscan_type count_type;
    uint64_t count, capacity, units, need = 0;
    gpuscan_source source;
    gpuscan_result result;
    memset(&desc, 0, sizeof desc);
    memset(&payload, 0, sizeof payload);
    some_call(which);
    desc.type = selections[b].type;
    desc.flag_type = selections[b].flag;
    desc.index_type = selections[b].index;
    desc.by = selections[b].by;
    desc.invert = selections[b].invert;
    desc.custom = &odd;
    payload.size = selections[b].payload;
    desc.payloads = &payload;
    desc.payload_count = payload.size != 0;
    index_size = desc.index_type == GPUSCAN_TYPE_U64 ? 8 : 4;
    if (desc.by == GPUSCAN_SELECT_BITS)
        flag_size = 4;
    count = desc.count = some_count(which);
    desc.capacity = fuzz_8() < 200 ? 0 : some_count(which);
    capacity = desc.capacity && desc.capacity < count ? desc.capacity : count;
    units = desc.by == GPUSCAN_SELECT_BITS ? count / 32 + (count % 32 != 0) : count;
    mistake = fuzz_8();
    by_source = by_predicate && (mistake & 8);
    by_values = by_predicate && !by_source;
    values[0] = (unsigned char)(1 + mistake % 8);
    now.call.values = by_values ? values : NULL;
    now.call.values_size = by_values ? 1 : 0;
    source = steps;
    source.buffer.offset = mistake % 8;
    now.call.sources = by_source ? &source : NULL;
    now.call.source_count = by_source ? 1 : 0;
    if (by_source)
        desc.custom = &odd_by_source;
    switch (mistake) {
    case 250:
        now.call.source_count = 5;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 249:
        source.count = 8; /* from element 1 on */
        if (by_source && which != PREPARE)
            surely_wrong(GPUSCAN_ERROR_BUFFER_TOO_SMALL);
        break;
    case 248:
        source.buffer.mem = NULL;
        if (by_source && which != PREPARE)
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        break;
    case 252:
        now.call.values_size = by_predicate ? sizeof values : 1; /* too many, or none that a text sees */
        now.call.values = values;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 251:
        now.call.values = by_values ? NULL : values;
        if (which != PREPARE || !by_values)
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 255:
        desc.flag_type = GPUSCAN_TYPE_I8;
        surely_wrong(by_predicate ? GPUSCAN_ERROR_INVALID_ARGUMENT : GPUSCAN_ERROR_INVALID_TYPE);
        break;
    case 254:
        desc.payload_count = 9;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 253:
        payload.size = 1025;
        desc.payload_count = 1;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    default:
        break;
    }
    if (!fits64(product(count, size)) || !fits64(product(units, flag_size)) || !fits64(product(capacity, index_size)) ||
        (desc.payload_count == 1 && !fits64(product(count, payload.size))))
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    desc.count_type = some_count_type(&count_type);
    desc.call.values = now.call.values;
    desc.call.values_size = now.call.values_size;
    desc.call.sources = now.call.sources;
    desc.call.source_count = now.call.source_count;
    if (which == PREPARE) {
        test_case("select_prepare");
        right.unsure = 1;
        arm();
        judge(gpuscan_select_prepare(gs, &desc), which);
        return;
    }
    desc.count_buffer = buffer_at(&limit, A, 1);
    use(desc.count_buffer, limit, 1, count_type == GPUSCAN_TYPE_U64 ? 8 : 4, 1, 0, 0);
    desc.src = buffer_at(&src, A, 0);
    desc.dst = buffer_at(&dst, B, 0);
    if (fuzz_8() % 4 == 0) {
        desc.dst = desc.src;
        dst = src;
    }
    if (!by_predicate) {
        desc.flags = buffer_at(&flags, A, 0);
        if (fuzz_8() % 4 == 0 && flag_size == size) {
            desc.flags = desc.src;
            flags = src;
        }
        if (count > 0 && flags == NONE)
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        use(desc.flags, flags, units, flag_size, 1, 0, desc.by == GPUSCAN_SELECT_FLAGS);
    }
    if (by_predicate || dst != NONE) {
        if (count > 0 && src == NONE)
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        use(desc.src, src, count, size, 1, 0, 1);
    }
    before = range_count;
    use(desc.dst, dst, capacity, size, 0, 1, 1);
    if (range_count > before)
        ranges[before].shorter = 1;
    desc.indices = buffer_at(&indices, B, 1);
    if (indices != NONE && index_size == 4 && count > (uint64_t)1 << 32)
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    use(desc.indices, indices, capacity, index_size, 0, 1, 0);
    if (desc.payload_count == 1) {
        payload.src = buffer_at(&from, A, 0);
        payload.dst = buffer_at(&to, B, 0);
        if (fuzz_8() % 4 == 0) {
            payload.dst = payload.src;
            to = from;
        }
        if (count > 0 && (from == NONE || to == NONE))
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        use(payload.src, from, count, payload.size, 1, 0, 2);
        before = range_count;
        use(payload.dst, to, capacity, payload.size, 0, 1, 2);
        if (range_count > before)
            ranges[before].shorter = 1;
    }
    desc.selected.count = buffer_at(&tally, B, 1);
    if (tally != NONE && count > UINT32_MAX)
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    use(desc.selected.count, tally, 1, 4, 0, 1, 0);
    if (count > 0 && dst == NONE && indices == NONE && desc.payload_count == 0 && tally == NONE)
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    check_overlaps();
    SCRATCH_SIZE(select, desc, need);
    some_scratch(&now.call, need);
    desc.call = now.call;
    test_case("select, shape %u%s, %llu to %llu, strategy %d", b, by_source ? " by a source" : "",
              (unsigned long long)count, (unsigned long long)capacity, (int)desc.call.strategy);
    arm();
    result = gpuscan_select(gs, &desc);
    if (judge(result, which)) {
        uint64_t live = device_count(limit, desc.count_buffer, count_type, count), i, j = 0, kept = 0;
        const unsigned char *decides = by_predicate ? bytes_of(src, desc.src.offset, size)
                                                    : bytes_of(flags, desc.flags.offset, flag_size);
        unsigned char *of_flags = (unsigned char *)test_alloc((uint64_t)units * flag_size * (live > 0));
        if (live > 0) /* in place, the call overwrites them */
            memcpy(of_flags, decides, (size_t)units * (by_predicate ? size : flag_size));
        for (i = 0; i < live; i++) {
            if (!is_kept(b, of_flags, i))
                continue;
            if (indices != NONE && j < capacity) {
                uint64_t at = i;
                memcpy(bytes_of(indices, desc.indices.offset, index_size) + j * index_size, &at, index_size);
            }
            j++;
        }
        kept = j;
        if (dst != NONE)
            copy_kept(b, bytes_of(dst, desc.dst.offset, size), bytes_of(src, desc.src.offset, size), size, of_flags,
                      live, capacity);
        if (desc.payload_count)
            copy_kept(b, bytes_of(to, payload.dst.offset, payload.size),
                      bytes_of(from, payload.src.offset, payload.size), payload.size, of_flags, live, capacity);
        if (tally != NONE)
            u32_to(bytes_of(tally, desc.selected.count.offset, 4), (uint32_t)kept);
        free(of_flags);
        mark();
    }
    forget_scratch();
}

/* ---- integral and quantile --------------------------------------------------------------------------------------- */

/* Records a mistake if the strategy looks back: integrals and quantiles have several passes. */
static void several_passes(void) {
    if (now.call.strategy == GPUSCAN_STRATEGY_SINGLE_PASS || now.call.strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD ||
        now.call.strategy == GPUSCAN_STRATEGY_CPU_SINGLE_PASS)
        surely_wrong(GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
}

/* Sums u8 into u32. */
static void do_integral(form which) {
    gpuscan_integral_desc desc;
    uint64_t channels, more, width, height, src_pitch, dst_pitch, need = 0, x, y;
    u128 src_elements, dst_elements;
    const struct picture *picture = NULL;
    unsigned char *packed = NULL;
    unsigned twist;
    int src = NONE, dst = NONE, before, from_image;
    memset(&desc, 0, sizeof desc);
    some_call(which);
    several_passes();
    channels = desc.channels = 1 + fuzz_below(is_short ? 1 : 3);
    desc.kind = fuzz_below(4) ? GPUSCAN_EXCLUSIVE : GPUSCAN_INCLUSIVE;
    more = desc.kind == GPUSCAN_EXCLUSIVE;
    width = desc.width = fuzz_8() < 200 ? fuzz_below(70) : some_count(which);
    height = desc.height = fuzz_8() < 200 ? fuzz_below(30) : some_count(which);
    desc.src_pitch = fuzz_below(3) ? 0 : width + fuzz_8() - 10;
    desc.dst_pitch = fuzz_below(3) ? 0 : width + fuzz_8() - 10;
    twist = fuzz_8();
    if (twist == 255) {
        desc.channels = 5;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    from_image = twist >= 190 && twist < 250 && test.info.has_images;
    if (from_image) {
        desc.src_type = GPUSCAN_TYPE_U8;
        desc.src_pitch = desc.src_pitch % 8 ? 0 : desc.src_pitch;
        picture = some_picture(&desc.src_image, desc.src_type, width, height);
        if (channels == 1 && twist % 2)
            desc.custom = &this_pixel;
        if (desc.src_pitch)
            surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    }
    if (width + more < more || height + more < more)
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    src_pitch = desc.src_pitch ? desc.src_pitch : width;
    dst_pitch = desc.dst_pitch ? desc.dst_pitch : width + more;
    if (src_pitch < width || dst_pitch < width + more)
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    src_elements = (width && height ? extent(width, height, src_pitch) : 0) * channels;
    dst_elements = (width + more && height + more ? extent(width + more, height + more, dst_pitch) : 0) * channels;
    if (((u128)width + more) * channels > UINT64_MAX / 64 || (u128)src_pitch * channels > UINT64_MAX / 64 ||
        (u128)dst_pitch * channels > UINT64_MAX / 64)
        maybe_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW); /* even without rows */
    if (src_elements > UINT64_MAX / 16 || dst_elements > UINT64_MAX / 64)
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    else if ((height + more) > UINT64_MAX / (src_pitch | dst_pitch | 1) || dst_elements >> 36)
        maybe_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    if (which == PREPARE) {
        test_case("integral_prepare");
        right.unsure = 1;
        maybe_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
        if (dst_elements >> 28)
            return;
        arm();
        judge(gpuscan_integral_prepare(gs, &desc), which);
        return;
    }
    if (!from_image || fuzz_8() < 8)
        desc.src = buffer_at(&src, A, 0);
    if (from_image && (src != NONE || desc.src.offset))
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    desc.dst = buffer_at(&dst, B, 0);
    if ((src_elements > 0 && src == NONE && !from_image) || (dst_elements > 0 && dst == NONE))
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    before = range_count;
    use(desc.src, src, src_elements, 1, 1, 0, 0);
    has_rows(before, height, width * channels, src_pitch * channels, 1);
    before = range_count;
    use(desc.dst, dst, dst_elements, 4, 0, 1, 0);
    has_rows(before, height + more, (width + more) * channels, dst_pitch * channels, 4);
    check_overlaps();
    desc.call.strategy = now.call.strategy;
    if (gpuscan_integral_scratch_size(gs, &desc, &need) != GPUSCAN_SUCCESS)
        need = 0;
    some_scratch(&now.call, need);
    desc.call = now.call;
    test_case("integral of %s%llu x %llu x %u, pitches %llu %llu, strategy %d", from_image ? "an image's " : "",
              (unsigned long long)width, (unsigned long long)height, (unsigned)channels,
              (unsigned long long)desc.src_pitch, (unsigned long long)desc.dst_pitch, (int)desc.call.strategy);
    arm();
    if (judge(gpuscan_integral(gs, &desc), which) && dst_elements > 0) {
        const unsigned char *in = src_elements && !from_image ? bytes_of(src, desc.src.offset, 1) : NULL;
        unsigned char *out = bytes_of(dst, desc.dst.offset, 4);
        if (from_image)
            in = packed = pixels_of(picture, &desc.src_image, width, height, (uint32_t)channels);
        for (y = 0; y < height + more; y++)
            for (x = 0; x < (width + more) * channels; x++) {
                uint32_t sum = 0, part[3] = {0, 0, 0};
                unsigned char *at = out + 4 * (y * dst_pitch * channels + x);
                if (!more || (y > 0 && x >= channels))
                    sum = in[(y - more) * src_pitch * channels + x - more * channels];
                if (x >= channels)
                    memcpy(&part[0], at - 4 * channels, 4);
                if (y > 0)
                    memcpy(&part[1], at - 4 * dst_pitch * channels, 4);
                if (x >= channels && y > 0)
                    memcpy(&part[2], at - 4 * dst_pitch * channels - 4 * channels, 4);
                u32_to(at, more && (y == 0 || x < channels) ? 0 : sum + part[0] + part[1] - part[2]);
            }
        free(packed);
        mark();
    }
    forget_scratch();
}

/* Uses u32 bins whose total a double holds exactly. */
static void do_quantile(form which) {
    static const double usual[] = {0, 0.25, 0.5, 1, 0.999, 1e-9};
    gpuscan_quantile_desc desc;
    double fractions[4];
    uint64_t bins, rows, pitch, row, b;
    int counts = NONE, dst = NONE, cdf = NONE, before;
    uint32_t k;
    memset(&desc, 0, sizeof desc);
    some_call(which);
    several_passes();
    bins = desc.bins = 1 + fuzz_below(200);
    rows = desc.rows = fuzz_8() < 230 ? 1 + fuzz_below(9) : 1 + some_count(which) % UINT64_MAX;
    desc.pitch = fuzz_below(3) ? 0 : bins + fuzz_8() - 10;
    pitch = desc.pitch ? desc.pitch : bins;
    desc.fractions = fractions;
    desc.fraction_count = 1 + fuzz_below(4);
    for (k = 0; k < 4; k++)
        fractions[k] = usual[fuzz_below(6)];
    switch (fuzz_8()) {
    case 255:
        fractions[0] = (double)NAN;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 254:
        desc.fraction_count = 65;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    default:
        break;
    }
    if (pitch < bins)
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
    if (!fits64(extent(bins, rows, pitch) * 8) || !fits64(product(rows, 4 * desc.fraction_count)))
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    if (which == PREPARE) {
        test_case("quantile_prepare");
        right.unsure = 1;
        arm();
        judge(gpuscan_quantile_prepare(gs, &desc), which);
        return;
    }
    desc.counts = buffer_at(&counts, A, 0);
    desc.dst = buffer_at(&dst, B, 0);
    desc.cdf = buffer_at(&cdf, B, 1);
    if (counts == NONE || dst == NONE)
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    before = range_count;
    use(desc.counts, counts, extent(bins, rows, pitch), 4, 1, 0, 0);
    has_rows(before, rows, bins, pitch, 4);
    before = range_count;
    use(desc.cdf, cdf, extent(bins, rows, pitch), 4, 0, 1, 0);
    has_rows(before, rows, bins, pitch, 4);
    use(desc.dst, dst, product(rows, desc.fraction_count), 4, 0, 1, 0);
    check_overlaps();
    some_scratch(&now.call, 0);
    desc.call = now.call;
    test_case("quantiles of %u bins, %llu rows, pitch %llu, strategy %d", (unsigned)bins, (unsigned long long)rows,
              (unsigned long long)desc.pitch, (int)desc.call.strategy);
    arm();
    if (judge(gpuscan_quantile(gs, &desc), which)) {
        for (row = 0; row < rows; row++) {
            const unsigned char *in = bytes_of(counts, desc.counts.offset, 4) + 4 * row * pitch;
            uint64_t sum = 0, total = 0;
            uint32_t one;
            for (b = 0; b < bins; b++) {
                memcpy(&one, in + 4 * b, 4);
                total += one;
                if (cdf != NONE)
                    u32_to(bytes_of(cdf, desc.cdf.offset, 4) + 4 * (row * pitch + b), (uint32_t)total);
            }
            for (k = 0; k < desc.fraction_count; k++) {
                long double wanted = (long double)fractions[k] * (long double)total; /* 53 + 40 bits: exact */
                for (sum = b = 0; b < bins; b++) {
                    memcpy(&one, in + 4 * b, 4);
                    sum += one;
                    if (sum > 0 && (long double)sum >= wanted)
                        break;
                }
                u32_to(bytes_of(dst, desc.dst.offset, 4) + 4 * (row * desc.fraction_count + k), (uint32_t)b);
            }
        }
        mark();
    }
    forget_scratch();
}

/* ---- sort -------------------------------------------------------------------------------------------------------- */

/* All that decides a sort's program: keys, elements that contain a key, and the payload's size in bytes. */
static const struct {
    gpuscan_type type;
    size_t size, payload;
    int has_key;
} sorts[] = {{GPUSCAN_TYPE_DEFAULT, 4, 0, 0},
             {GPUSCAN_TYPE_F32, 4, 4, 0},
             {GPUSCAN_TYPE_I16, 2, 3, 0},
             {GPUSCAN_TYPE_U64, 8, 8, 0},
             {GPUSCAN_TYPE_U8, 12, 0, 1}};
enum { SORTS = sizeof sorts / sizeof *sorts };

static const gpuscan_custom keyed = {
    "typedef struct { uchar v[12]; } fuzz_keyed;\n", "fuzz_keyed", 12, NULL, NULL, NULL, NULL, NULL, "x.v[5]"};

typedef struct placed {
    uint64_t code, place;
} placed;

static int by_code(const void *a, const void *b) {
    const placed *x = (const placed *)a, *y = (const placed *)b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* Returns the code of a key, as gpuscan.h defines it. */
static uint64_t code_of(unsigned s, const unsigned char *element, int descending) {
    size_t size = sorts[s].has_key ? 1 : sorts[s].size;
    uint64_t ones = ~(uint64_t)0 >> (64 - 8 * size), code = 0;
    memcpy(&code, element + (sorts[s].has_key ? 5 : 0), size); /* little-endian, as the tests' hosts are */
    if (sorts[s].type == GPUSCAN_TYPE_I16)
        code ^= 0x8000;
    if (sorts[s].type == GPUSCAN_TYPE_F32) {
        uint64_t magnitude = code & 0x7fffffff;
        if (magnitude > 0x7f800000)
            return ones;
        code = magnitude == 0 ? 0x80000000 : code == magnitude ? code | 0x80000000 : code ^ ones;
    }
    return descending ? code ^ ones : code;
}

static void copy_sorted(unsigned char *dst, const unsigned char *src, size_t size, const placed *order,
                        uint64_t count) {
    unsigned char *copy = (unsigned char *)test_alloc(count * size);
    uint64_t i;
    if (count > 0)
        memcpy(copy, src, (size_t)count * size);
    for (i = 0; i < count; i++)
        memcpy(dst + i * size, copy + order[i].place * size, size);
    free(copy);
}

/* Accepts any bytes in a range: a failed sort may have moved elements, and a sort that may destroy its sources has. */
static void forget_range(const range *r) {
    int q;
    open_gate();
    for (q = 0; q < QUEUES; q++)
        test_cl(clFinish(queues[q]));
    if (r->end > r->begin)
        test_cl(clEnqueueReadBuffer(queues[0], arenas[r->buffer].mem, CL_TRUE, r->begin, r->end - r->begin,
                                    arenas[r->buffer].bytes + r->begin, 0, NULL, NULL));
}

static void do_sort(form which) {
    gpuscan_sort_desc desc;
    gpuscan_payload payload;
    unsigned s = fuzz_below(is_short ? 2 : SORTS), bits = fuzz_8();
    size_t size = sorts[s].size, index_size;
    int src = NONE, dst = NONE, from = NONE, to = NONE, places = NONE, limit = NONE, i, src_range, from_range = -1;
    uint32_t key_bits = sorts[s].has_key ? 8 : 8 * (uint32_t)size;
    gpuscan_type count_type;
    uint64_t count, need = 0;
    gpuscan_result result;
    memset(&desc, 0, sizeof desc);
    memset(&payload, 0, sizeof payload);
    some_call(which);
    desc.key_type = sorts[s].type;
    desc.custom = sorts[s].has_key ? &keyed : NULL;
    desc.descending = bits & 1;
    desc.may_destroy_src = bits >> 1 & 1;
    desc.index_type = bits & 4 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
    index_size = bits & 4 ? 8 : 4;
    if (bits & 8) {
        desc.bit_begin = fuzz_below(key_bits);
        desc.bit_end = desc.bit_begin + 1 + fuzz_below(key_bits - desc.bit_begin);
    }
    payload.size = sorts[s].payload;
    desc.payloads = &payload;
    desc.payload_count = payload.size != 0;
    count = desc.count = some_count(which);
    switch (fuzz_8()) {
    case 255:
        desc.bit_end = key_bits + 1;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 254:
        desc.payload_count = 9;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 253:
        desc.key_type = GPUSCAN_TYPE_CUSTOM;
        surely_wrong(GPUSCAN_ERROR_INVALID_TYPE);
        break;
    case 252:
        desc.index_type = GPUSCAN_TYPE_F32;
        surely_wrong(GPUSCAN_ERROR_INVALID_TYPE);
        break;
    default:
        break;
    }
    if (!fits64(product(count, 64)) || (desc.payload_count == 1 && !fits64(product(count, payload.size))))
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    desc.count_type = some_count_type(&count_type);
    if (which == PREPARE) {
        test_case("sort_prepare");
        right.unsure = 1;
        arm();
        judge(gpuscan_sort_prepare(gs, &desc), which);
        return;
    }
    desc.count_buffer = buffer_at(&limit, A, 1);
    use(desc.count_buffer, limit, 1, count_type == GPUSCAN_TYPE_U64 ? 8 : 4, 1, 0, 0);
    desc.src = buffer_at(&src, A, 0);
    desc.dst = buffer_at(&dst, B, 0);
    if (fuzz_8() % 4 == 0) {
        desc.dst = desc.src;
        dst = src;
    }
    if (fuzz_8() % 8 == 0) {
        desc.dst.mem = NULL;
        dst = NONE;
    }
    if (count > 0 && src == NONE)
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    src_range = range_count;
    use(desc.src, src, count, size, 1, desc.may_destroy_src, 1);
    use(desc.dst, dst, count, size, 1, 1, 1);
    if (desc.payload_count == 1) {
        payload.src = buffer_at(&from, A, 0);
        payload.dst = buffer_at(&to, B, 0);
        if (fuzz_8() % 4 == 0) {
            payload.dst = payload.src;
            to = from;
        }
        if (count > 0 && (from == NONE || to == NONE))
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        from_range = range_count;
        use(payload.src, from, count, payload.size, 1, desc.may_destroy_src, 2);
        use(payload.dst, to, count, payload.size, 1, 1, 2);
    }
    desc.permutation = buffer_at(&places, B, 1);
    if (index_size == 4 && count > UINT32_MAX) { /* the size query checks index_type for a permutation */
        if (places != NONE)
            surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
        else
            maybe_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    }
    use(desc.permutation, places, count, index_size, 1, 1, 0);
    if (count > 0 && dst == NONE && places == NONE && desc.payload_count == 0)
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    check_overlaps();
    SCRATCH_SIZE(sort, desc, need);
    some_scratch(&now.call, need);
    desc.call = now.call;
    test_case("sort, shape %u, %llu by bits %u to %u, options %u, strategy %d", s, (unsigned long long)count,
              (unsigned)desc.bit_begin, (unsigned)desc.bit_end, bits & 15, (int)desc.call.strategy);
    arm();
    result = gpuscan_sort(gs, &desc);
    if (judge(result, which)) {
        uint64_t live = device_count(limit, desc.count_buffer, count_type, count), k;
        uint32_t end = desc.bit_end ? desc.bit_end : key_bits;
        uint64_t mask = ~(uint64_t)0 >> (64 - (end - desc.bit_begin)) << desc.bit_begin;
        placed *order = (placed *)test_alloc(live * sizeof *order);
        const unsigned char *elements = bytes_of(src, desc.src.offset, size);
        for (k = 0; k < live; k++) {
            order[k].code = code_of(s, elements + k * size, desc.descending) & mask;
            order[k].place = k;
        }
        qsort(order, (size_t)live, sizeof *order, by_code);
        if (dst != NONE)
            copy_sorted(bytes_of(dst, desc.dst.offset, size), elements, size, order, live);
        if (desc.payload_count)
            copy_sorted(bytes_of(to, payload.dst.offset, payload.size),
                        bytes_of(from, payload.src.offset, payload.size), payload.size, order, live);
        for (k = 0; k < live && places != NONE; k++)
            memcpy(bytes_of(places, desc.permutation.offset, index_size) + k * index_size, &order[k].place, index_size);
        free(order);
        mark();
        if (desc.may_destroy_src && desc.src.mem != desc.dst.mem && range_count > src_range)
            forget_range(&ranges[src_range]);
        if (desc.may_destroy_src && desc.payload_count && payload.src.mem != payload.dst.mem)
            forget_range(&ranges[from_range]);
    } else if (layer.failed >= 0 || layer.allocation_failed) {
        for (i = 0; i < range_count; i++)
            if (ranges[i].writes)
                forget_range(&ranges[i]);
    }
    forget_scratch();
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* All that decides the program of runs: keys, the reduced type, and the payload's size in bytes. */
static const struct {
    gpuscan_type key, index, src;
    int reduces;
    size_t size, payload;
} run_shapes[] = {{GPUSCAN_TYPE_DEFAULT, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_DEFAULT, 0, 4, 0},
                  {GPUSCAN_TYPE_I8, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_DEFAULT, 1, 1, 3}};
enum { RUN_SHAPES = sizeof run_shapes / sizeof *run_shapes };

static void do_runs(form which) {
    gpuscan_runs_desc desc;
    gpuscan_payload payload;
    unsigned b = fuzz_below(RUN_SHAPES);
    size_t size = run_shapes[b].size, index_size = run_shapes[b].index == GPUSCAN_TYPE_U64 ? 8 : 4;
    int keys = NONE, src = NONE, firsts = NONE, starts = NONE, lengths = NONE, dst = NONE, from = NONE, to = NONE;
    int tally = NONE, limit = NONE;
    gpuscan_type count_type;
    uint64_t count, capacity, need = 0;
    memset(&desc, 0, sizeof desc);
    memset(&payload, 0, sizeof payload);
    some_call(which);
    desc.key_type = run_shapes[b].key;
    desc.index_type = run_shapes[b].index;
    desc.src_type = run_shapes[b].src;
    payload.size = run_shapes[b].payload;
    desc.payloads = &payload;
    desc.payload_count = payload.size != 0;
    count = desc.count = some_count(which);
    desc.capacity = fuzz_8() < 200 ? 0 : some_count(which);
    capacity = desc.capacity && desc.capacity < count ? desc.capacity : count;
    switch (fuzz_8()) {
    case 255:
        desc.op = GPUSCAN_OP_ARGMAX;
        surely_wrong(GPUSCAN_ERROR_INVALID_OPERATOR);
        break;
    case 254:
        desc.payload_count = 9;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    case 253:
        desc.key_type = GPUSCAN_TYPE_CUSTOM;
        surely_wrong(GPUSCAN_ERROR_INVALID_ARGUMENT);
        break;
    default:
        break;
    }
    if (!fits64(product(count, 4)) || !fits64(product(capacity, index_size)) ||
        (desc.payload_count == 1 && !fits64(product(count, payload.size))))
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    desc.count_type = some_count_type(&count_type);
    if (which == PREPARE) {
        test_case("runs_prepare");
        right.unsure = 1;
        arm();
        judge(gpuscan_runs_prepare(gs, &desc), which);
        return;
    }
    desc.count_buffer = buffer_at(&limit, A, 1);
    use(desc.count_buffer, limit, 1, count_type == GPUSCAN_TYPE_U64 ? 8 : 4, 1, 0, 0);
    desc.keys = buffer_at(&keys, A, 0);
    if (count > 0 && keys == NONE)
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    use(desc.keys, keys, count, size, 1, 0, 0);
    desc.keys_dst = buffer_at(&firsts, B, 1);
    use(desc.keys_dst, firsts, capacity, size, 0, 1, 0);
    desc.starts = buffer_at(&starts, B, 1);
    if (starts != NONE && index_size == 4 && count > (uint64_t)1 << 32)
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    use(desc.starts, starts, capacity, index_size, 0, 1, 0);
    desc.lengths = buffer_at(&lengths, B, 1);
    if (lengths != NONE && index_size == 4 && count > UINT32_MAX)
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    use(desc.lengths, lengths, capacity, index_size, 0, 1, 0);
    if (run_shapes[b].reduces) {
        desc.src = buffer_at(&src, A, 0);
        desc.dst = buffer_at(&dst, B, 1);
        if (dst != NONE) {
            if (count > 0 && src == NONE)
                surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
            use(desc.src, src, count, 4, 1, 0, 0);
            use(desc.dst, dst, capacity, 4, 0, 1, 0);
        }
    }
    if (desc.payload_count == 1) {
        payload.src = buffer_at(&from, A, 0);
        payload.dst = buffer_at(&to, B, 0);
        if (count > 0 && (from == NONE || to == NONE))
            surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
        use(payload.src, from, count, payload.size, 1, 0, 0);
        use(payload.dst, to, capacity, payload.size, 0, 1, 0);
    }
    desc.runs.count = buffer_at(&tally, B, 1);
    if (tally != NONE && count > UINT32_MAX)
        surely_wrong(GPUSCAN_ERROR_SIZE_OVERFLOW);
    use(desc.runs.count, tally, 1, 4, 0, 1, 0);
    if (count > 0 && firsts == NONE && starts == NONE && lengths == NONE && dst == NONE && desc.payload_count == 0 &&
        tally == NONE)
        surely_wrong(GPUSCAN_ERROR_INVALID_BUFFER);
    check_overlaps();
    SCRATCH_SIZE(runs, desc, need);
    some_scratch(&now.call, need);
    desc.call = now.call;
    test_case("runs, shape %u, %llu to %llu, strategy %d", b, (unsigned long long)count, (unsigned long long)capacity,
              (int)desc.call.strategy);
    arm();
    if (judge(gpuscan_runs(gs, &desc), which)) {
        uint64_t live = device_count(limit, desc.count_buffer, count_type, count), i, first = 0, found = 0;
        const unsigned char *key = keys == NONE ? NULL : bytes_of(keys, desc.keys.offset, size);
        uint32_t sum = 0, x;
        for (i = 0; i < live; i++) {
            if (dst != NONE) {
                memcpy(&x, bytes_of(src, desc.src.offset, 4) + 4 * i, 4);
                sum += x;
            }
            if (i + 1 < live && memcmp(key + i * size, key + (i + 1) * size, size) == 0)
                continue;
            if (found < capacity) {
                const uint64_t length = i + 1 - first;
                if (firsts != NONE)
                    memcpy(bytes_of(firsts, desc.keys_dst.offset, size) + found * size, key + first * size, size);
                if (starts != NONE)
                    memcpy(bytes_of(starts, desc.starts.offset, index_size) + found * index_size, &first, index_size);
                if (lengths != NONE)
                    memcpy(bytes_of(lengths, desc.lengths.offset, index_size) + found * index_size, &length,
                           index_size);
                if (dst != NONE)
                    u32_to(bytes_of(dst, desc.dst.offset, 4) + 4 * found, sum);
                if (desc.payload_count)
                    memcpy(bytes_of(to, payload.dst.offset, payload.size) + found * payload.size,
                           bytes_of(from, payload.src.offset, payload.size) + first * payload.size, payload.size);
            }
            found++;
            first = i + 1;
            sum = 0;
        }
        if (tally != NONE)
            u32_to(bytes_of(tally, desc.runs.count.offset, 4), (uint32_t)found);
        mark();
    }
    forget_scratch();
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static void open_object(void) {
    static gpuscan__tuning rows[2]; /* for calls that one work-item scans; for all calls */
    gpuscan_desc desc;
    layer_open();
    desc = layer_desc();
    desc.queue = queues[0];
    desc.limits.work_group_size = 32;
    test_ok(gpuscan_create(&gs, &desc));
    test.gs = gs;
    gs->device.profile.cpu.chunk = 512;
    rows[0] = *gpuscan__find_tuning(gs, GPUSCAN__FOR_ALL, 0, 0, 1u << GPUSCAN_STRATEGY_AUTO);
    rows[0].up_to = 512;
    rows[1] = *gpuscan__any_tuning(gs);
    gs->device.profile.tunings = rows;
    gs->device.profile.tuning_count = 2;
    gs->device.profile.facts.polls = 4;
}

static void close_object(void) {
    test_case("the end of an object");
    test_destroy(gs);
    gs = NULL;
    layer_expect_empty();
}

static void new_buffer(int b, cl_context context, cl_mem_flags flags) {
    cl_int status = CL_SUCCESS;
    arenas[b].flags = flags;
    arenas[b].size = ARENA;
    arenas[b].bytes = (unsigned char *)test_alloc(ARENA);
    arenas[b].mem = clCreateBuffer(context, flags, ARENA, NULL, &status);
    test_cl(status);
}

/* Makes an image of random bytes, or of random quarters and one NaN for floats. */
static void new_picture(struct picture *p, cl_context context, cl_mem_flags flags) {
    const size_t pixels = PICTURE_WIDTH * PICTURE_HEIGHT * PICTURE_CHANNELS, size = ref_size(p->type);
    const float nan = NAN;
    size_t i;
    p->pixels = (unsigned char *)test_alloc(pixels * size);
    for (i = 0; i < pixels * size; i++)
        p->pixels[i] = (unsigned char)((i * 2654435761u) >> 13);
    for (i = 0; i < pixels && p->type == GPUSCAN_TYPE_F32; i++) {
        const float number = (float)(i * 7919 % 9001) / 4 - 1100;
        memcpy(p->pixels + 4 * i, i % 1000 == 5 ? &nan : &number, 4);
    }
    p->mem = test_image_new(context, flags, CL_RGBA, p->channel, PICTURE_WIDTH, PICTURE_HEIGHT, p->pixels);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    cl_buffer_region region = {SUB_AT, SUB_SIZE};
    const unsigned char byte = 0x3C;
    unsigned char step_bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    cl_int status = CL_SUCCESS;
    int q;
    (void)argc;
    (void)argv;
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    is_short = getenv("GPUSCAN_FUZZ_SHORT") != NULL;
    is_traced = getenv("GPUSCAN_FUZZ_TRACE") != NULL;
    if (test_open(NULL) != 0)
        abort();
    gpuscan_destroy(test.gs);
    foreign = clCreateContext(NULL, 1, &test.device, NULL, NULL, &status);
    test_cl(status);
    for (q = 0; q < QUEUES; q++) {
        queues[q] = clCreateCommandQueue(test.context, test.device, q == 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0,
                                         &status);
        test_cl(status);
    }
    foreign_queue = clCreateCommandQueue(foreign, test.device, 0, &status);
    test_cl(status);
    new_buffer(A, test.context, CL_MEM_READ_WRITE);
    new_buffer(B, test.context, CL_MEM_READ_WRITE);
    new_buffer(READ_ONLY, test.context, CL_MEM_READ_ONLY);
    new_buffer(WRITE_ONLY, test.context, CL_MEM_WRITE_ONLY);
    new_buffer(FOREIGN, foreign, CL_MEM_READ_WRITE);
    arenas[SUB].mem = clCreateSubBuffer(arenas[A].mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
    test_cl(status);
    arenas[SUB].size = SUB_SIZE;
    arenas[SUB].bytes = arenas[A].bytes + SUB_AT;
    scratch_mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, SCRATCH, NULL, &status);
    test_cl(status);
    steps.buffer.mem = clCreateBuffer(test.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof step_bytes,
                                      step_bytes, &status);
    test_cl(status);
    steps.type = GPUSCAN_TYPE_U8;
    steps.count = 1;
    test_cl(clEnqueueFillBuffer(queues[0], scratch_mem, &byte, 1, 0, SCRATCH, 0, NULL, NULL));
    arenas[IMAGE].mem = test_image_new(test.context, CL_MEM_READ_WRITE, CL_RGBA, CL_UNSIGNED_INT8, 16, 16, NULL);
    for (q = 0; q < NO_PICTURE && test.info.has_images; q++)
        new_picture(&pictures[q], q == FOREIGN_PICTURE ? foreign : test.context,
                    q == WRITE_ONLY_PICTURE ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY);
    pictures[NO_PICTURE].mem = arenas[READ_ONLY].mem;
    failed_event = clCreateUserEvent(test.context, &status);
    test_cl(clSetUserEventStatus(failed_event, -77));
    done_event = clCreateUserEvent(test.context, &status);
    test_cl(clSetUserEventStatus(done_event, CL_COMPLETE));
    foreign_event = clCreateUserEvent(foreign, &status);
    test_cl(clSetUserEventStatus(foreign_event, CL_COMPLETE));
    signal(SIGABRT, SIG_DFL); /* a driver's handler would replace libFuzzer's */
    host_arena = (unsigned char *)test_alloc(HOST);
    host_wanted = (unsigned char *)test_alloc(HOST);
    open_object();
    return 0;
}

/* Fills the buffers with bytes that follow from the input's first two; edges ascend in some places. */
static void fill(void) {
    static const int owners[] = {A, B, READ_ONLY, WRITE_ONLY};
    unsigned seed = fuzz_16();
    size_t o, i;
    for (o = 0; o < 4; o++) {
        arena *a = &arenas[owners[o]];
        uint32_t x = seed * 2654435761u + (uint32_t)o;
        for (i = 0; i < ARENA; i++) {
            x = x * 1664525u + 1013904223u;
            a->bytes[i] = seed & 1 && i % 8 > 1 ? 0 : (unsigned char)(x >> 24);
        }
        for (i = 0; i < 64 && o % 2 == 0; i++)
            u32_to(a->bytes + 256 + 4 * i, (uint32_t)(i * i * seed) - 900);
        test_cl(clEnqueueWriteBuffer(queues[0], a->mem, CL_TRUE, 0, ARENA, a->bytes, 0, NULL, NULL));
    }
    for (i = 0; i < HOST; i++)
        host_arena[i] = arenas[A].bytes[(i * 5 + i / ARENA) % ARENA];
    for (i = 0; i < 6; i++)
        u32_to(host_arena + HOST / 4 + 4 * i, (uint32_t)(i * i * seed) - 900);
    memcpy(host_wanted, host_arena, HOST);
    memset(results, 0x5A, sizeof results);
    memset(results_wanted, 0x5A, sizeof results_wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int call;
    fuzz_input.at = data;
    fuzz_input.left = size;
    if (++inputs % 5000 == 0) {
        close_object();
        open_object();
    }
    fill();
    for (call = 0; call < CALLS && fuzz_input.left > 0; call++) {
        unsigned b = fuzz_8();
        form which = b < 176 ? DEVICE : b < 240 ? HOST_ARRAYS : PREPARE;
        memset(&right, 0, sizeof right);
        range_count = 0;
        switch (b % 8) {
        case 0:
        case 1:
        case 2:
            do_scan(which);
            break;
        case 3:
            if (b / 8 % 4 == 2)
                do_integral(which == HOST_ARRAYS ? DEVICE : which);
            else if (b / 8 % 4 == 3)
                do_quantile(which == HOST_ARRAYS ? DEVICE : which);
            else
                do_uniform_add(which);
            break;
        case 4:
        case 5:
            if (b / 8 % 4 == 3)
                do_runs(which == HOST_ARRAYS ? DEVICE : which);
            else
                do_reduce(which, call);
            break;
        case 6:
            if (b / 8 % 2)
                do_sort(which == HOST_ARRAYS ? DEVICE : which);
            else
                do_select(which == HOST_ARRAYS ? DEVICE : which);
            break;
        default:
            do_histogram(which);
            break;
        }
        if (fuzz_8() & 1 || is_traced)
            read_all();
    }
    read_all();
    return 0;
}
