/* Parts that the fuzzing programs share: an input read as numbers, and a main for compilers without libFuzzer. */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    const uint8_t *at;
    size_t left;
} fuzz_input;

/* Returns the next byte, or 0 once the input has ended. */
static inline unsigned fuzz_8(void) {
    if (fuzz_input.left == 0)
        return 0;
    fuzz_input.left--;
    return *fuzz_input.at++;
}

static inline unsigned fuzz_16(void) {
    unsigned low = fuzz_8();
    return low | fuzz_8() << 8;
}

/* Returns 0 to limit - 1; limit: at most 256. */
static inline unsigned fuzz_below(unsigned limit) {
    return fuzz_8() % limit;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef FUZZ_MAIN

/* program SECONDS FILES...: runs the files, then changes and joins them for SECONDS. Each input is first written to
   fuzz-failed.bin. An input that fails ends the program. */
enum { FUZZ_LARGEST = 4096 };

typedef struct fuzz_file {
    uint8_t bytes[FUZZ_LARGEST];
    size_t size;
} fuzz_file;

static uint64_t fuzz_state;

static uint64_t fuzz_random(uint64_t limit) {
    fuzz_state = fuzz_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (fuzz_state >> 33) % limit;
}

static void fuzz_run(const fuzz_file *input, const char *keep) {
    FILE *file = keep ? fopen(keep, "wb") : NULL;
    if (file) {
        fwrite(input->bytes, 1, input->size, file);
        fclose(file);
    }
    LLVMFuzzerTestOneInput(input->bytes, input->size);
}

/* Fills an input: a file with some bytes changed, or joined with another file's end, or random bytes. */
static void fuzz_change(fuzz_file *input, const fuzz_file *files, size_t count) {
    size_t i, changes;
    memset(input, 0, sizeof *input);
    if (count > 0)
        *input = files[fuzz_random(count)];
    if (count == 0 || fuzz_random(8) == 0) {
        input->size = 1 + fuzz_random(300);
        for (i = 0; i < input->size; i++)
            input->bytes[i] = (uint8_t)fuzz_random(256);
    } else if (fuzz_random(4) == 0) {
        const fuzz_file *other = &files[fuzz_random(count)];
        size_t first = fuzz_random(input->size + 1), from = fuzz_random(other->size + 1);
        size_t more = other->size - from;
        if (more > FUZZ_LARGEST - first)
            more = FUZZ_LARGEST - first;
        memcpy(input->bytes + first, other->bytes + from, more);
        input->size = first + more;
    }
    for (changes = fuzz_random(6); changes > 0 && input->size > 0; changes--)
        input->bytes[fuzz_random(input->size)] = (uint8_t)fuzz_random(256);
}

int main(int argc, char **argv) {
    fuzz_file *files = (fuzz_file *)calloc((size_t)argc + 1, sizeof *files), input;
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    const char *seed = getenv("GPUSCAN_TEST_SEED");
    size_t count = 0;
    unsigned long made = 0;
    time_t start;
    int i;
    if (files == NULL)
        return 1;
    fuzz_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)fuzz_state);
    LLVMFuzzerInitialize(&argc, &argv);
    for (i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) {
            printf("%s cannot be read\n", argv[i]);
            return 1;
        }
        files[count].size = fread(files[count].bytes, 1, FUZZ_LARGEST, file);
        fclose(file);
        printf("%s\n", argv[i]);
        fflush(stdout);
        fuzz_run(&files[count++], NULL);
    }
    for (start = time(NULL); difftime(time(NULL), start) < seconds; made++) {
        fuzz_change(&input, files, count);
        fuzz_run(&input, "fuzz-failed.bin");
    }
    remove("fuzz-failed.bin");
    printf("%lu files and %lu inputs more, no finding\n", (unsigned long)count, made);
    free(files);
    return 0;
}

#endif
#endif /* TEST_FUZZ_H */
