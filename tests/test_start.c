/* No stall in the first frame: an object of this process and one of another load what a worker thread prepared from its
   blob, without building from source. After gpuscan_set_blob, with or without prepare, the first call must not build,
   load, compile, allocate or test anything: a counting table shows it and, on PoCL, the files of its cache. Cannot see
   what other drivers compile at a launch. Each process has its own, empty driver cache.
      cc -O2 tests/test_start.c -o build/test_start -lcmocka -lOpenCL -lm -lpthread && build/test_start */
#define _XOPEN_SOURCE 700 /* for nftw and mkdtemp */
#include "calls.h"

#include <ftw.h>
#include <pthread.h>
#include <sys/wait.h>

/* Entry points that a first call must not use. */
static const unsigned forbidden[] = {
    LAYER_clCreateProgramWithSource, LAYER_clCreateProgramWithBinary, LAYER_clBuildProgram, LAYER_clCreateKernel,
    LAYER_clCreateBuffer,            LAYER_clCreateCommandQueue,      LAYER_clFinish,       LAYER_clWaitForEvents};

static unsigned file_count;

static int count_file(const char *path, const struct stat *what, int kind, struct FTW *at) {
    size_t length = strlen(path);
    (void)what;
    (void)at;
    file_count += kind == FTW_F && length > 3 && strcmp(path + length - 3, ".so") == 0;
    return 0;
}

/* Returns the number of kernels in PoCL's cache: one for each launched shape. */
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

/* ---- work of the processes --------------------------------------------------------------------------------------- */

/* Returns whether a run takes a job with a strategy: every job with AUTO, some with another strategy. */
static int wants(int which, int strategy) {
    if (test.is_small)
        return strategy == GPUSCAN_STRATEGY_AUTO && which % 4 == 1;
    return strategy == GPUSCAN_STRATEGY_AUTO ||
           (test_takes_strategy(strategy) && test_takes_one_of(4, (uint64_t)(which + strategy)));
}

/* Returns whether a job is prepared with a strategy; fails the test on an error. */
static int prepared(gpuscan *gs, job *j, gpuscan_strategy strategy, gpuscan_result *result) {
    gpuscan_call call = call_on(NULL);
    call.strategy = strategy;
    *result = job_prepare(gs, j, &call);
    if (*result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY && strategy != GPUSCAN_STRATEGY_AUTO) {
        *result = GPUSCAN_SUCCESS;
        return 0;
    }
    return *result == GPUSCAN_SUCCESS;
}

/* The recipe of examples/README.md: a second object on the same context builds and returns a blob. */
typedef struct builder {
    job *jobs;
    char *blob;
    size_t size;
    gpuscan_result result;
} builder;

static void *build(void *argument) {
    builder *b = (builder *)argument;
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    int which, s;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    b->result = gpuscan_create(&gs, &desc);
    for (which = 0; which < JOB_DEVICE_END && b->result == 0; which++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT && b->result == 0; s++)
            if (wants(which, s))
                prepared(gs, &b->jobs[which], (gpuscan_strategy)s, &b->result);
    if (b->result == 0)
        b->result = gpuscan_get_blob(gs, NULL, &b->size);
    if (b->result == 0 && (b->blob = (char *)malloc(b->size)) != NULL)
        b->result = gpuscan_get_blob(gs, b->blob, &b->size);
    gpuscan_destroy(gs);
    return NULL;
}

/* The shapes in which kernels were launched: a driver may still have work to do for a new one. */
typedef struct shape {
    cl_kernel kernel;
    size_t group;
    int is_small; /* a grid below 65,536 work-items, which PoCL compiles separately */
} shape;
static struct {
    shape met[4096];
    size_t count, unmet;
    int is_open; /* new shapes are allowed */
} shapes;

static cl_int CL_API_CALL noted_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                       const cl_event *wait, cl_event *event) {
    size_t i = 0;
    while (i < shapes.count && (shapes.met[i].kernel != kernel || shapes.met[i].group != *local ||
                                shapes.met[i].is_small != (*global < 65536)))
        i++;
    shapes.unmet += i == shapes.count && !shapes.is_open;
    if (i == shapes.count && i < sizeof shapes.met / sizeof *shapes.met) {
        shapes.met[i].kernel = kernel;
        shapes.met[i].group = *local;
        shapes.met[i].is_small = *global < 65536;
        shapes.count++;
    }
    return layer_clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

/* The library's buffers, each with guard words behind it. */
enum { GUARD = 65536 };
static struct {
    cl_mem mem;
    size_t size;
} guarded[256];
static size_t guarded_count;

static cl_mem CL_API_CALL guarded_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                         cl_int *status) {
    const unsigned char word = 0x5A;
    cl_mem mem;
    if (host || guarded_count == sizeof guarded / sizeof *guarded)
        return layer_clCreateBuffer(context, flags, size, host, status);
    size = (size + 15) / 16 * 16;
    mem = layer_clCreateBuffer(context, flags, size + GUARD, NULL, status);
    test_cl(*status);
    test_cl(clEnqueueFillBuffer(test.queue, mem, &word, 1, size, GUARD, 0, NULL, NULL));
    test_cl(clFinish(test.queue));
    guarded[guarded_count].mem = mem;
    guarded[guarded_count++].size = size;
    return mem;
}

static cl_int CL_API_CALL released_buffer(cl_mem mem) {
    static unsigned char words[GUARD];
    size_t i, at = 0;
    while (at < guarded_count && guarded[at].mem != mem)
        at++;
    if (at < guarded_count) {
        test_cl(clEnqueueReadBuffer(test.queue, mem, CL_TRUE, guarded[at].size, GUARD, words, 0, NULL, NULL));
        for (i = 0; i < GUARD; i++)
            if (words[i] != 0x5A)
                fail_msg("%s: the library wrote past its buffer of %zu bytes", test.what, guarded[at].size);
        guarded[at] = guarded[--guarded_count];
    }
    return layer_clReleaseMemObject(mem);
}

static gpuscan *noted(void) {
    gpuscan_desc desc = layer_desc();
    gpuscan *gs = NULL;
    layer_open();
    memset(&shapes, 0, sizeof shapes);
    layer.table.clEnqueueNDRangeKernel = noted_launch;
    layer.table.clCreateBuffer = guarded_buffer;
    layer.table.clReleaseMemObject = released_buffer;
    test_ok(gpuscan_create(&gs, &desc));
    return gs;
}

/* Makes a first call without forbidden entry points, then a second one: it must launch as much, with no rehearsals. */
static void first_call(gpuscan *gs, job *j, gpuscan_strategy strategy) {
    gpuscan_call call = call_on(NULL);
    unsigned files = compiled(), launches;
    gpuscan_result result;
    size_t i;
    call.strategy = strategy;
    test_case("%s, %s: first call", job_names[j->which], test_strategy_name(strategy));
    job_reset(j);
    test_cl(clFinish(test.queue));
    layer_reset();
    result = job_start(gs, j, &call);
    if (result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY && j->which == JOB_SCAN_PLACE)
        return; /* prepare cannot know that it is in place */
    test_ok(result);
    for (i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        if (layer.calls[forbidden[i]])
            fail_msg("%s: %s", test.what, layer_names[forbidden[i]]);
    launches = layer.calls[LAYER_clEnqueueNDRangeKernel];
    if (shapes.unmet)
        fail_msg("%s: %zu launches in a new shape", test.what, shapes.unmet);
    test_cl(clFinish(test.queue));
    if (compiled() != files)
        fail_msg("%s: the driver compiled in a first call", test.what);
    job_done(j);
    job_reset(j);
    layer_reset();
    test_ok(job_start(gs, j, &call));
    assert_int_equal(layer.calls[LAYER_clEnqueueNDRangeKernel], launches);
    test_cl(clFinish(test.queue));
    job_done(j);
}

/* Sets the blob, with or without prepare: nothing may be built from source, and the calls may build nothing. */
static void use_blob(job *jobs, const void *blob, size_t size, int prepares) {
    gpuscan *gs = noted(), *whole = test.gs;
    gpuscan_result result;
    int which, s;
    test.gs = gs;
    test_case("set_blob%s", prepares ? " and prepare" : "");
    shapes.is_open = 1;
    test_ok(gpuscan_set_blob(gs, blob, size));
    for (which = 0; which < JOB_DEVICE_END; which++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
            if (prepares && wants(which, s)) {
                test_case("%s, %s: prepare", job_names[which], test_strategy_name((gpuscan_strategy)s));
                job_reset(&jobs[which]);
                prepared(gs, &jobs[which], (gpuscan_strategy)s, &result);
                test_ok(result);
                job_untouched(&jobs[which]);
            }
    if (layer.calls[LAYER_clCreateProgramWithSource] || !layer.calls[LAYER_clCreateProgramWithBinary])
        fail_msg("%u programs from source, %u from the blob", layer.calls[LAYER_clCreateProgramWithSource],
                 layer.calls[LAYER_clCreateProgramWithBinary]);
    shapes.is_open = !gs->device.profile.facts.launches_late; /* a device without late work need not have launched */
    for (which = 0; which < JOB_DEVICE_END; which++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
            if (wants(which, s) &&
                (s == GPUSCAN_STRATEGY_AUTO || job_refusal(&jobs[which], (gpuscan_strategy)s) == NULL))
                first_call(gs, &jobs[which], (gpuscan_strategy)s);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
    assert_int_equal(guarded_count, 0);
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
        if (test_is_pocl() && compiled() == 0)
            fail_msg("PoCL's cache shows no kernels");
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
    if (!is_first || !test.is_small)
        use_blob(jobs, b.blob, b.size, 0);
    if (is_first || !test.is_small)
        use_blob(jobs, b.blob, b.size, 1);
    free(b.blob);
    for (which = 0; which < JOB_DEVICE_END; which++)
        job_free(&jobs[which]);
    test_close(&state);
}

/* ---- the processes ----------------------------------------------------------------------------------------------- */

static const char *program;

static void new_process(const char *folder, const char *which) {
    char cache[300], blob[300], seed[32];
    int status = 0;
    pid_t pid;
    snprintf(cache, sizeof cache, "%s/%s", folder, which);
    snprintf(blob, sizeof blob, "%s/blob", folder);
    snprintf(seed, sizeof seed, "%" PRIu64, test.seed); /* so that all take the same strategies */
    test_case("%s process", which);
    fflush(NULL);
    pid = fork();
    if (pid == 0) { /* a separate program: OpenCL may not be used after a fork */
        if (mkdir(cache, 0700) == 0 && setenv("POCL_CACHE_DIR", cache, 1) == 0 &&
            setenv("GPUSCAN_TEST_SEED", seed, 1) == 0)
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
