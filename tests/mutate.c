/* A library that changes one line of the kernels in a running test program, for tests/mutate.sh (which explains why).
   Build: cc -shared -fPIC tests/mutate.c -o mutate.so -ldl; then set LD_PRELOAD=mutate.so for a test program.
   It wraps clCreateProgramWithSource. It changes only programs that compile the line, so that the driver's cache still
   serves the others.
        GPUSCAN_MUTATE_FOLDER   each program's text is written here as NAME.text. NAME.live, if present, lists the
                                numbers of the lines that the program compiles
        GPUSCAN_MUTATE_LINE     the number of the line to change; unset: nothing is changed
        GPUSCAN_MUTATE_TEXT     the new text of the line
        GPUSCAN_MUTATE_UNBUILT  a file that is written when a program does not build */
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char begin[] = "#line 1 \"kernels.cl.inc\"\n", source[] = " \"kernels.cl.inc\"\n";

static char *join(cl_uint count, const char **strings, const size_t *lengths) {
    size_t size = 1;
    char *text, *end;
    cl_uint i;
    for (i = 0; i < count; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
    text = end = malloc(size);
    for (i = 0; text && i < count; i++) {
        size_t length = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
        memcpy(end, strings[i], length);
        end += length;
    }
    if (text)
        *end = '\0';
    return text;
}

/* Opens a program's file, named by a hash of its text before the kernels. */
static FILE *open_file(const char *prefix, size_t size, const char *suffix, const char *mode) {
    uint64_t hash = UINT64_C(14695981039346656037);
    const char *folder = getenv("GPUSCAN_MUTATE_FOLDER");
    char path[1000];
    size_t i;
    for (i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)prefix[i]) * UINT64_C(1099511628211);
    snprintf(path, sizeof path, "%s/%016llx.%s", folder ? folder : ".", (unsigned long long)hash, suffix);
    return fopen(path, mode);
}

/* Returns whether the program compiles the line. A program without a .live file counts as one that does. */
static int is_live(const char *prefix, size_t size, long line) {
    FILE *file = open_file(prefix, size, "live", "r");
    long one;
    int found = 0;
    if (file == NULL)
        return 1;
    while (!found && fscanf(file, "%ld", &one) == 1)
        found = one == line;
    fclose(file);
    return found;
}

/* Returns a line of kernels.cl.inc in a program's pieces, which #line numbers. NULL: no piece has it. */
static char *find_line(char *kernels, long line) {
    long number = 0;
    char *at = kernels, *end;
    for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        long given = strncmp(at, "#line ", 6) == 0 ? strtol(at + 6, &end, 10) : 0;
        if (given && strncmp(end, source, sizeof source - 1) == 0)
            number = given;
        else if (number++ == line)
            return at;
        end = strchr(at, '\n');
    }
    return NULL;
}

/* Returns the text with a line of the kernels replaced. */
static char *mutate(char *text, char *kernels, long line, const char *by) {
    char *at = find_line(kernels, line), *end, *made;
    if (at == NULL || (end = strchr(at, '\n')) == NULL || (made = malloc(strlen(text) + strlen(by) + 1)) == NULL)
        return text;
    memcpy(made, text, (size_t)(at - text));
    strcpy(made + (at - text), by);
    strcat(made, end);
    free(text);
    return made;
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings, const size_t *lengths,
                                     cl_int *status) {
    static cl_program (*next)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    const char *number = getenv("GPUSCAN_MUTATE_LINE"), *by = getenv("GPUSCAN_MUTATE_TEXT");
    char *text = join(count, strings, lengths), *kernels = text ? strstr(text, begin) : NULL;
    cl_program made;
    if (kernels) {
        size_t size = (size_t)(kernels - text);
        long line = number ? atol(number) : 0;
        if (line == 0) {
            FILE *file = open_file(text, size, "text", "w");
            if (file) {
                fputs(text, file);
                fclose(file);
            }
        } else if (by && is_live(text, size, line)) {
            text = mutate(text, kernels, line, by);
        }
    }
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "clCreateProgramWithSource");
    made = text ? next(context, 1, (const char **)&text, NULL, status) : next(context, count, strings, lengths, status);
    free(text);
    return made;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    static cl_int (*next)(cl_program, cl_uint, const cl_device_id *, const char *,
                          void(CL_CALLBACK *)(cl_program, void *), void *);
    const char *unbuilt = getenv("GPUSCAN_MUTATE_UNBUILT");
    cl_int status;
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "clBuildProgram");
    status = next(program, count, devices, options, notify, user);
    if (status != CL_SUCCESS && unbuilt) {
        FILE *file = fopen(unbuilt, "w");
        if (file)
            fclose(file);
    }
    return status;
}
