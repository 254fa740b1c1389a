/* cc -O2 tests/test_start.c -o build/test_start -lcmocka -lOpenCL -lm -lpthread && build/test_start
   No stall in the first frame: what a worker thread prepared, an object of this process and one of another take from its
   blob without building anything from source; and after prepare the first call builds, loads and compiles nothing, as a
   table that counts and, of PoCL, the files of its cache show. Each process has a driver's cache of its own, empty. */
#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */
#include "calls.h"

#include <ftw.h>
#include <pthread.h>
#include <sys/wait.h>

static const unsigned builders[] = {LAYER_clCreateProgramWithSource, LAYER_clCreateProgramWithBinary,
                                    LAYER_clBuildProgram, LAYER_clCreateKernel};

static unsigned file_count;

static int count_file(const char *path, const struct stat *what, int kind, struct FTW *at) {
    size_t length = strlen(path);
    (void)what;
    (void)at;
    file_count += kind == FTW_F && length > 3 && strcmp(path + length - 3, ".so") == 0;
    return 0;
}

/* The kernels in PoCL's cache: one for each shape that was launched. */
static unsigned compiled(void) {
    const char *cache = getenv("POCL_CACHE_DIR");
    file_count = 0;
    if (cache)
        nftw(cache, count_file, 16, FTW_PHYS);
    return file_count;
}

static int remove_file(const char *path, const struct stat *what, int kind, struct FTW *at) {
    (void)what;
    (void)kind;
    (void)at;
    return remove(path);
}

/* ---- what the processes do --------------------------------------------------------------------------------------- */

static int wants(int which) {
    return !test.is_small || which % 4 == 1;
}

/* The README's recipe: a second object on the same context builds, and hands over a blob. */
typedef struct builder {
    job *jobs;
    char *blob;
    size_t size;
    gpuscan_result result;
} builder;

static void *build(void *argument) {
    builder *b = (builder *)argument;
    gpuscan_call call = call_on(NULL);
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    int which;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    b->result = gpuscan_create(&gs, &desc);
    for (which = 0; which < JOB_DEVICE_END && b->result == 0; which++)
        if (wants(which))
            b->result = job_prepare(gs, &b->jobs[which], &call);
    if (b->result == 0)
        b->result = gpuscan_get_blob(gs, NULL, &b->size);
    if (b->result == 0 && (b->blob = (char *)malloc(b->size)) != NULL)
        b->result = gpuscan_get_blob(gs, b->blob, &b->size);
    gpuscan_destroy(gs);
    return NULL;
}

/* Sets the blob, prepares and calls: nothing is built from source, and the calls build nothing at all. */
static void use_blob(job *jobs, const void *blob, size_t size) {
    gpuscan *gs = layered(), *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    unsigned files;
    size_t i;
    int which;
    test.gs = gs;
    test_case("set_blob and prepare");
    test_ok(gpuscan_set_blob(gs, blob, size));
    for (which = 0; which < JOB_DEVICE_END; which++)
        if (wants(which)) {
            test_case("%s: prepare", job_names[which]);
            job_reset(&jobs[which]);
            test_ok(job_prepare(gs, &jobs[which], &call));
            job_untouched(&jobs[which]);
        }
    if (layer.calls[LAYER_clCreateProgramWithSource] || !layer.calls[LAYER_clCreateProgramWithBinary])
        fail_msg("%u programs from source, %u from the blob", layer.calls[LAYER_clCreateProgramWithSource],
                 layer.calls[LAYER_clCreateProgramWithBinary]);
    files = compiled();
    for (which = 0; which < JOB_DEVICE_END; which++)
        if (wants(which)) {
            test_case("%s: first call", job_names[which]);
            layer_reset();
            test_ok(job_start(gs, &jobs[which], &call));
            test_cl(clFinish(test.queue));
            for (i = 0; i < sizeof builders / sizeof *builders; i++)
                if (layer.calls[builders[i]])
                    fail_msg("%s: %s", test.what, layer_names[builders[i]]);
            if (compiled() != files)
                fail_msg("%s: the driver has compiled", test.what);
            job_done(&jobs[which]);
        }
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

static void child(const char *path, int is_first) {
    void *state = NULL;
    job jobs[JOB_DEVICE_END];
    builder b;
    FILE *file;
    int which;
    memset(&b, 0, sizeof b);
    if (open_calls(&state) != 0)
        exit(1);
    test_begin(&state);
    for (which = 0; which < JOB_DEVICE_END; which++)
        job_new(&jobs[which], which, many);
    if (is_first) {
        pthread_t thread;
        b.jobs = jobs;
        if (pthread_create(&thread, NULL, build, &b) != 0 || pthread_join(thread, NULL) != 0)
            exit(1);
        test_case("the worker's builds");
        test_ok(b.result);
        if (strstr(test.info.platform_name, "Portable Computing Language") && compiled() == 0)
            fail_msg("nothing is seen in PoCL's cache");
        file = fopen(path, "wb");
        if (!file || fwrite(b.blob, 1, b.size, file) != b.size || fclose(file) != 0)
            fail_msg("%s cannot be written", path);
    } else {
        file = fopen(path, "rb");
        if (!file || fseek(file, 0, SEEK_END) != 0)
            fail_msg("%s cannot be read", path);
        b.size = (size_t)ftell(file);
        rewind(file);
        b.blob = (char *)test_alloc(b.size);
        if (fread(b.blob, 1, b.size, file) != b.size)
            fail_msg("%s cannot be read", path);
        fclose(file);
    }
    use_blob(jobs, b.blob, b.size);
    free(b.blob);
    for (which = 0; which < JOB_DEVICE_END; which++)
        job_free(&jobs[which]);
    test_close(&state);
}

/* ---- the processes ----------------------------------------------------------------------------------------------- */

static const char *program;

static void new_process(const char *folder, const char *which) {
    char cache[300], blob[300];
    int status = 0;
    pid_t pid;
    snprintf(cache, sizeof cache, "%s/%s", folder, which);
    snprintf(blob, sizeof blob, "%s/blob", folder);
    test_case("%s process", which);
    fflush(NULL);
    pid = fork();
    if (pid == 0) { /* and a program of its own: after a fork OpenCL may not be used */
        if (mkdir(cache, 0700) == 0 && setenv("POCL_CACHE_DIR", cache, 1) == 0)
            execl(program, program, which, blob, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: status %d", test.what, status);
}

static void test_first_calls(void **state) {
    const char *cache = getenv("POCL_CACHE_DIR");
    char folder[200];
    (void)state;
    snprintf(folder, sizeof folder, "%s/start-XXXXXX", cache ? cache : "/tmp");
    assert_non_null(mkdtemp(folder));
    new_process(folder, "first");
    new_process(folder, "second");
    nftw(folder, remove_file, 16, FTW_DEPTH | FTW_PHYS);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {TEST(test_first_calls)};
    program = argv[0];
    if (argc == 3) {
        child(argv[2], strcmp(argv[1], "first") == 0);
        return 0;
    }
    test_select();
    return cmocka_run_group_tests_name("start", tests, open_calls, test_close);
}
