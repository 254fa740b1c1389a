/* Fuzzing of blobs: true ones cut, changed, repeated and joined with an input's bytes, and the input as a blob by itself.
   Each is taken or refused as its own reading of the format says; afterwards the object works, from the blob's programs
   or from source, and nothing is left over.

   A changed blob gets its checksum right every other time, so that what lies behind the checksum is reached; then its
   binaries stay as they were, since drivers run what they are given.

       clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined tests/fuzz_blobs.c -o fuzz_blobs -lcmocka -lOpenCL -lm
       ./fuzz_blobs -detect_leaks=0 -max_total_time=60 folder tests/corpus/blobs

   or without libFuzzer, files to replay and then so many seconds of inputs of its own:

       cc -std=c99 -g -O1 -DFUZZ_MAIN tests/fuzz_blobs.c -o fuzz_blobs -lcmocka -lOpenCL -lm
       ./fuzz_blobs 60 FILES... */
#include "layer.h"
#include "fuzz.h"

#include <signal.h>

enum { HEADER = 40, ENTRY = 16, BLOBS = 3, COUNT = 100 };

/* Of no program, of a scan, of a scan and a reduction. */
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
    for (i = HEADER; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t padded(uint64_t size) {
    return size % 8 ? size + 8 - size % 8 : size;
}

/* Whether a blob is whole, read once more from the format's description; the host is little-endian. */
static int is_whole(const unsigned char *bytes, size_t size) {
    uint64_t entries, at = HEADER;
    if (size < HEADER || memcmp(bytes, blobs[0].bytes, 16) != 0 || u64_at(bytes + 16) != size)
        return 0;
    if (u64_at(bytes + 32) != checksum(bytes, size))
        return 0;
    for (entries = u64_at(bytes + 24); entries > 0; entries--) {
        uint64_t prefix, binary;
        if (at > size || size - at < ENTRY)
            return 0;
        prefix = u64_at(bytes + at);
        binary = u64_at(bytes + at + 8);
        at += ENTRY;
        if (prefix > size || padded(prefix) > size - at)
            return 0;
        at += padded(prefix);
        if (binary == 0 || binary > size || padded(binary) > size - at)
            return 0;
        at += padded(binary);
    }
    return at == size;
}

/* Whether each binary of a whole blob is one that the driver made. */
static int has_true_binaries(const unsigned char *bytes) {
    uint64_t entries = u64_at(bytes + 24), at = HEADER;
    for (; entries > 0; entries--) {
        uint64_t size = u64_at(bytes + at + 8), true_entries = u64_at(blobs[BLOBS - 1].bytes + 24), other = HEADER;
        at += ENTRY + padded(u64_at(bytes + at));
        for (; true_entries > 0; true_entries--) {
            const unsigned char *entry = blobs[BLOBS - 1].bytes + other;
            const unsigned char *binary = entry + ENTRY + padded(u64_at(entry));
            if (u64_at(entry + 8) == size && memcmp(bytes + at, binary, (size_t)size) == 0)
                break;
            other += ENTRY + padded(u64_at(entry)) + padded(u64_at(entry + 8));
        }
        if (true_entries == 0)
            return 0;
        at += padded(size);
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
            fail_msg("a blob of the library's is none");
    }
    signal(SIGABRT, SIG_DFL); /* a driver's handler would keep libFuzzer's away */
    return 0;
}

/* A place in a blob that decides how it is read: the header, an entry's sizes or its text; anywhere for which 3. */
static size_t some_place(const unsigned char *bytes, size_t size, unsigned which) {
    uint64_t at = HEADER;
    unsigned entry = fuzz_8() % 3, far = fuzz_16();
    if (size <= HEADER)
        return size ? far % size : 0;
    while (entry-- > 0 && at + ENTRY < size) {
        uint64_t next = at + ENTRY + padded(u64_at(bytes + at)) + padded(u64_at(bytes + at + 8));
        if (next >= size || next < at)
            break;
        at = next;
    }
    if (which == 0)
        return far % HEADER;
    if (which == 1)
        return (size_t)at + far % ENTRY < size ? (size_t)at + far % ENTRY : HEADER;
    if (which == 2 && at + ENTRY < size && u64_at(bytes + at) > 0 && at + ENTRY + u64_at(bytes + at) <= size)
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
    if (form % 8 == 0) { /* the input itself, perhaps behind a true beginning */
        length = b == 0 ? 0 : b == 1 ? 16 : HEADER;
        memcpy(blob, blobs[2].bytes, length);
        memcpy(blob + length, fuzz_input.at, fuzz_input.left);
        length += fuzz_input.left;
        fuzz_input.left = 0;
        if (form & 64 && length >= HEADER) {
            u64_to(blob + 16, length);
            u64_to(blob + 32, checksum(blob, length));
        }
    } else {
        int changed_binary = 0;
        length = blobs[b].size;
        memcpy(blob, blobs[b].bytes, length);
        for (changes = fuzz_8() % 4; changes > 0; changes--) {
            unsigned how = fuzz_8(), which = how / 8 % 4;
            size_t at = some_place(blob, length, which);
            switch (how % 8) {
            case 0: /* cut */
                length = which == 3 ? fuzz_16() % (length + 1) : at;
                break;
            case 1: /* bytes more */
                memset(blob + length, (int)fuzz_8(), 32);
                length += fuzz_8() % 33;
                changes = 1;
                break;
            case 2: /* a number changed */
                if (at / 8 * 8 + 8 <= length) {
                    u64_to(blob + at / 8 * 8, numbers[fuzz_8() % 8] + (form & 2 ? length : 0));
                    changed_binary |= which >= 2;
                }
                break;
            case 3: /* the programs of another blob behind */
                if (length + blobs[1].size <= room && length >= HEADER) {
                    memcpy(blob + length, blobs[1].bytes + HEADER, blobs[1].size - HEADER);
                    length += blobs[1].size - HEADER;
                    u64_to(blob + 24, u64_at(blob + 24) + 1);
                }
                break;
            default: /* a bit */
                if (at < length) {
                    blob[at] ^= (unsigned char)(1u << (how / 32));
                    changed_binary |= which >= 2;
                }
                break;
            }
        }
        if (form & 1 && !changed_binary && length >= HEADER) {
            u64_to(blob + 16, length);
            u64_to(blob + 32, checksum(blob, length));
        }
    }
    {
        unsigned char *exact = (unsigned char *)test_alloc(length); /* so that the address sanitizer sees its end */
        memcpy(exact, blob, length);
        free(blob);
        blob = exact;
    }
    whole = is_whole(blob, length);
    if (whole && !has_true_binaries(blob)) { /* sizes that were changed cut a binary, and all else fits */
        blob[32] ^= 1;
        whole = 0;
    }
    test_case("a blob of %zu bytes, %s", length, whole ? "whole" : "broken");
    gs = open_object();
    if (form & 16) { /* one that is there already must stay */
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
            fail_msg("%s: a blob that was refused took the place of the one before", test.what);
    } else if (whole || form & 32)
        scan_is_right(gs);
    test_ok(gpuscan_get_blob(gs, NULL, &needed));
    close_object(gs);
    return 0;
}
