/* Fuzzes blobs: valid blobs that are cut, changed, repeated or joined with the input's bytes, and the input itself as a
   blob. A parser of the format written for this test decides whether the library must accept each one. Afterwards the
   object must work, from the blob's programs or from source, and leak nothing.
   Every other changed blob gets a correct checksum, so that the checks behind it are reached. Such a blob keeps its
   binaries and the recordings of their launches, since drivers run whatever they are given: corrupt binaries are never
   tested.
      clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined tests/fuzz_blobs.c -o fuzz_blobs -lcmocka -lOpenCL -lm
      ./fuzz_blobs -detect_leaks=0 -max_total_time=60 folder tests/corpus/blobs
   Without libFuzzer, it replays files and then runs random inputs for the given number of seconds:
      cc -std=c99 -g -O1 -DFUZZ_MAIN tests/fuzz_blobs.c -o fuzz_blobs -lcmocka -lOpenCL -lm
      ./fuzz_blobs 60 FILES... */
#include "layer.h"
#include "fuzz.h"

#include <signal.h>

enum { HEADER = 80, CHECKED = 32, ENTRY = 32, PARTS = 3, BLOBS = 3, COUNT = 100 };
enum { TEXT, RECORDING, BINARY };

/* Blobs of no program, of a scan, and of a scan and a reduction. */
static struct {
    unsigned char *bytes;
    size_t size;
} blobs[BLOBS];

static uint64_t u64_at(const unsigned char *p) {
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

static void u64_to(unsigned char *p, uint64_t x) {
    memcpy(p, &x, 8);
}

static uint64_t checksum(const unsigned char *bytes, size_t size) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t i;
    for (i = CHECKED; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Returns an entry's size in bytes with all its parts, or 0 if they do not fit into `left` bytes. */
static uint64_t entry_bytes(const unsigned char *entry, uint64_t left) {
    uint64_t at = ENTRY;
    int part;
    if (left < ENTRY)
        return 0;
    for (part = 0; part < PARTS; part++) {
        uint64_t size = u64_at(entry + 8 * part);
        if (size > left - at)
            return 0;
        at += size;
    }
    return at;
}

static const unsigned char *part_of(const unsigned char *entry, int part) {
    const unsigned char *at = entry + ENTRY;
    int i;
    for (i = 0; i < part; i++)
        at += u64_at(entry + 8 * i);
    return at;
}

static uint32_t u32_at(const unsigned char *p) {
    uint32_t x;
    memcpy(&x, p, 4);
    return x;
}

/* Returns whether these bytes are a valid recording: launches of a fixed size. A launch begins with the bytes of three
   buffers, an image's format, the launch's work-items and the group's. Then come the kernel's number, the number of
   arguments and the bytes of their values, with 32 bits each, the arguments' kinds, their sizes, and their values. */
static int is_recording(const unsigned char *bytes, uint64_t size, unsigned kernels) {
    enum { NUMBERS = 48, ARGS = 36, KINDS = NUMBERS + 12, SIZES = KINDS + 4 * ARGS, VALUES = SIZES + 4 * ARGS };
    const uint64_t room = 2 * 1024 + 76 * 8, whole = (VALUES + room + 7) / 8 * 8;
    uint64_t at, used;
    uint32_t i;
    for (at = 0; at < size && size - at >= whole; at += whole, bytes += whole) {
        if (u64_at(bytes) < 4096 || u64_at(bytes) > 64 << 20 || u64_at(bytes + 8) > 64 << 20 ||
            u64_at(bytes + 16) > u64_at(bytes + 8) || u32_at(bytes + NUMBERS) >= kernels ||
            u32_at(bytes + NUMBERS + 4) > ARGS)
            return 0;
        for (used = i = 0; i < u32_at(bytes + NUMBERS + 4); i++) {
            uint32_t kind = u32_at(bytes + KINDS + 4 * i), length = u32_at(bytes + SIZES + 4 * i);
            used += kind == 0 ? length : 0;
            if (kind > 5 || used > room || (kind > 1 && length != sizeof(cl_mem)))
                return 0;
        }
    }
    return at == size;
}

/* Returns whether a blob is valid, by a second parser written from the format's description; the host is
   little-endian. */
static int is_whole(const unsigned char *bytes, size_t size) {
    uint64_t entries, at = HEADER;
    if (size < HEADER || memcmp(bytes, blobs[0].bytes, 16) != 0 || u64_at(bytes + 16) != size)
        return 0;
    if (u64_at(bytes + 24) != checksum(bytes, size))
        return 0;
    for (entries = u64_at(bytes + 32); entries > 0; entries--) {
        const unsigned char *entry = bytes + at, *text;
        uint64_t all = entry_bytes(entry, size - at), length, i;
        unsigned kernels = 0;
        if (all == 0 || u64_at(entry + 8 * BINARY) == 0)
            return 0;
        text = part_of(entry, TEXT);
        length = u64_at(entry + 8 * TEXT);
        for (i = 0; i < length; i++)
            kernels += text[i] == 0;
        if (kernels < 2 || text[length - 1] != 0 || kernels > 7 ||
            !is_recording(part_of(entry, RECORDING), u64_at(entry + 8 * RECORDING), kernels - 1))
            return 0;
        at += all;
    }
    return at == size;
}

static int same_part(const unsigned char *a, const unsigned char *b, int part) {
    uint64_t size = u64_at(a + 8 * part);
    return size == u64_at(b + 8 * part) && memcmp(part_of(a, part), part_of(b, part), (size_t)size) == 0;
}

/* Returns whether each binary of a valid blob is one that the driver made, with its own recording. */
static int has_true_binaries(const unsigned char *bytes) {
    const unsigned char *entry = bytes + HEADER;
    uint64_t entries = u64_at(bytes + 32);
    for (; entries > 0; entries--) {
        const unsigned char *other = blobs[BLOBS - 1].bytes + HEADER;
        uint64_t others = u64_at(blobs[BLOBS - 1].bytes + 32);
        while (others > 0 && !(same_part(entry, other, BINARY) && same_part(entry, other, RECORDING))) {
            other += entry_bytes(other, UINT64_MAX);
            others--;
        }
        if (others == 0)
            return 0;
        entry += entry_bytes(entry, UINT64_MAX);
    }
    return 1;
}

static gpuscan *open_object(void) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    layer_open();
    desc = layer_desc();
    test_ok(gpuscan_create(&gs, &desc));
    test.gs = gs;
    return gs;
}

static void close_object(gpuscan *gs) {
    gpuscan_destroy(gs);
    test.gs = NULL;
    layer_expect_empty();
}

static void scan_is_right(gpuscan *gs) {
    uint32_t in[COUNT], out[COUNT], sum = 0, i;
    for (i = 0; i < COUNT; i++)
        in[i] = i * 2654435761u;
    test_ok(gpuscan_scan_host(gs, in, out, COUNT, NULL));
    for (i = 0; i < COUNT; sum += in[i], i++)
        if (out[i] != sum)
            fail_msg("%s: element %u is %u instead of %u", test.what, i, out[i], sum);
}

static void reduce_is_right(gpuscan *gs) {
    uint32_t in[COUNT], sum = 0, wanted = 0, i;
    for (i = 0; i < COUNT; i++)
        wanted += in[i] = i * 2654435761u;
    test_ok(gpuscan_reduce_host(gs, in, &sum, COUNT, NULL));
    if (sum != wanted)
        fail_msg("%s: the sum is %u instead of %u", test.what, sum, wanted);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    int b;
    (void)argc;
    (void)argv;
    setenv("CMOCKA_TEST_ABORT", "1", 1);
    if (test_open(NULL) != 0)
        abort();
    gpuscan_destroy(test.gs);
    for (b = 0; b < BLOBS; b++) {
        gpuscan *gs = open_object();
        test_case("blob %d", b);
        if (b > 0)
            scan_is_right(gs);
        if (b > 1)
            reduce_is_right(gs);
        test_ok(gpuscan_get_blob(gs, NULL, &blobs[b].size));
        blobs[b].bytes = (unsigned char *)test_alloc(blobs[b].size);
        test_ok(gpuscan_get_blob(gs, blobs[b].bytes, &blobs[b].size));
        close_object(gs);
        if (b == BLOBS - 1 && !is_whole(blobs[b].bytes, blobs[b].size))
            fail_msg("the library's own blob is invalid");
    }
    signal(SIGABRT, SIG_DFL); /* a driver's handler would replace libFuzzer's */
    return 0;
}

/* Returns a random offset in a blob. which: 0 in the header, 1 in an entry's sizes, 2 in its text, 3 anywhere. */
static size_t some_place(const unsigned char *bytes, size_t size, unsigned which) {
    uint64_t at = HEADER;
    unsigned entry = fuzz_8() % 3, far = fuzz_16();
    if (size <= HEADER)
        return size ? far % size : 0;
    while (entry-- > 0 && at < size) {
        uint64_t all = entry_bytes(bytes + at, size - at);
        if (all == 0 || at + all >= size)
            break;
        at += all;
    }
    if (which == 0)
        return far % HEADER;
    if (which == 1)
        return (size_t)at + far % ENTRY < size ? (size_t)at + far % ENTRY : HEADER;
    if (which == 2 && at + ENTRY < size && u64_at(bytes + at) > 0 && u64_at(bytes + at) <= size - at - ENTRY)
        return (size_t)(at + ENTRY + far % u64_at(bytes + at));
    return (size_t)(far * 251u % size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint64_t numbers[8] = {0,   1, 7, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63, (uint64_t)1 << 32,
                                        4096};
    unsigned char *blob;
    size_t length, room = 0, i, needed = 0;
    unsigned form, b, changes;
    int whole, has_program = 0;
    gpuscan *gs;
    gpuscan_result result;
    fuzz_input.at = data;
    fuzz_input.left = size;
    form = fuzz_8();
    b = fuzz_8() % BLOBS;
    for (i = 0; i < BLOBS; i++)
        room += blobs[i].size;
    blob = (unsigned char *)test_alloc(room + size + 4096);
    if (form % 8 == 0) { /* the input itself, perhaps behind a valid beginning */
        length = b == 0 ? 0 : b == 1 ? 16 : HEADER;
        memcpy(blob, blobs[2].bytes, length);
        memcpy(blob + length, fuzz_input.at, fuzz_input.left);
        length += fuzz_input.left;
        fuzz_input.left = 0;
        if (form & 64 && length >= HEADER) {
            u64_to(blob + 16, length);
            u64_to(blob + 24, checksum(blob, length));
        }
    } else {
        int changed_binary = 0;
        length = blobs[b].size;
        memcpy(blob, blobs[b].bytes, length);
        for (changes = fuzz_8() % 4; changes > 0; changes--) {
            unsigned how = fuzz_8(), which = how / 8 % 4;
            size_t at = some_place(blob, length, which);
            switch (how % 8) {
            case 0: /* cut it */
                length = which == 3 ? fuzz_16() % (length + 1) : at;
                break;
            case 1: /* append bytes */
                memset(blob + length, (int)fuzz_8(), 32);
                length += fuzz_8() % 33;
                changes = 1;
                break;
            case 2: /* change a number */
                if (at / 8 * 8 + 8 <= length) {
                    u64_to(blob + at / 8 * 8, numbers[fuzz_8() % 8] + (form & 2 ? length : 0));
                    changed_binary |= which >= 2;
                }
                break;
            case 3: /* append another blob's programs */
                if (length + blobs[1].size <= room && length >= HEADER) {
                    memcpy(blob + length, blobs[1].bytes + HEADER, blobs[1].size - HEADER);
                    length += blobs[1].size - HEADER;
                    u64_to(blob + 32, u64_at(blob + 32) + 1);
                }
                break;
            default: /* flip a bit */
                if (at < length) {
                    blob[at] ^= (unsigned char)(1u << (how / 32));
                    changed_binary |= which >= 2;
                }
                break;
            }
        }
        if (form & 1 && !changed_binary && length >= HEADER) {
            u64_to(blob + 16, length);
            u64_to(blob + 24, checksum(blob, length));
        }
    }
    {
        unsigned char *exact = (unsigned char *)test_alloc(length); /* lets the address sanitizer see its end */
        memcpy(exact, blob, length);
        free(blob);
        blob = exact;
    }
    whole = is_whole(blob, length);
    if (whole && !has_true_binaries(blob)) { /* changed sizes cut a binary, but all checks pass */
        blob[24] ^= 1;
        whole = 0;
    }
    test_case("a blob of %zu bytes, %s", length, whole ? "whole" : "broken");
    gs = open_object();
    if (form & 16) { /* an existing program must stay */
        test_ok(gpuscan_set_blob(gs, blobs[2].bytes, blobs[2].size));
        has_program = 1;
    }
    result = gpuscan_set_blob(gs, blob, length);
    test_expect(result, whole ? GPUSCAN_SUCCESS : GPUSCAN_ERROR_BLOB);
    if ((strcmp(gpuscan_error(gs), "") == 0) != whole)
        fail_msg("%s: gpuscan_error says '%s'", test.what, gpuscan_error(gs));
    free(blob);
    layer_reset();
    if (!whole && has_program) {
        scan_is_right(gs);
        if (layer.calls[LAYER_clCreateProgramWithSource] > 0)
            fail_msg("%s: a refused blob replaced the previous one", test.what);
    } else if (whole || form & 32)
        scan_is_right(gs);
    test_ok(gpuscan_get_blob(gs, NULL, &needed));
    close_object(gs);
    return 0;
}
