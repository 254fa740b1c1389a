/* Blobs of built programs: saved, loaded, and refused if damaged or made by another driver or device (a fake one).
      cc -O2 tests/test_blobs.c -o build/test_blobs -lcmocka -lOpenCL -lm -lpthread && build/test_blobs */
#include "calls.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Returns the offset of a part in an entry, in bytes. */
static uint64_t part_at(const gpuscan__blob_entry *entry, int part) {
    uint64_t at = sizeof *entry;
    while (part-- > 0)
        at += entry->sizes[part];
    return at;
}

static void right_checksum(unsigned char *blob, size_t size) {
    gpuscan__blob_header header;
    memcpy(&header, blob, sizeof header);
    header.checksum = gpuscan__blob_checksum(blob, size);
    memcpy(blob, &header, sizeof header);
}

static unsigned char *blob_of(gpuscan *gs, size_t *size) {
    unsigned char *blob;
    *size = 0;
    test_ok(gpuscan_get_blob(gs, NULL, size));
    blob = (unsigned char *)test_alloc(*size);
    test_ok(gpuscan_get_blob(gs, blob, size));
    return blob;
}

/* Returns the programs of two jobs as a blob from malloc. */
static unsigned char *make_blob(size_t *size) {
    gpuscan *gs = layered(), *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    unsigned char *blob;
    size_t capacity = 7;
    int which;
    test.gs = gs;
    for (which = JOB_SCAN; which <= JOB_REDUCE; which += JOB_REDUCE - JOB_SCAN) {
        job j;
        job_new(&j, which, many);
        job_right(gs, &j, &call);
        job_free(&j);
    }
    *size = 0;
    test_ok(gpuscan_get_blob(gs, NULL, size));
    assert_true(*size > 100);
    blob = (unsigned char *)test_alloc(*size + 16);
    memset(blob, 0x5A, *size + 16);
    test_expect(gpuscan_get_blob(gs, blob, &capacity), GPUSCAN_ERROR_INVALID_ARGUMENT);
    assert_true(capacity == *size);
    capacity = *size - 1;
    test_expect(gpuscan_get_blob(gs, blob, &capacity), GPUSCAN_ERROR_INVALID_ARGUMENT);
    for (capacity = 0; capacity < *size + 16; capacity++)
        assert_int_equal(blob[capacity], 0x5A);
    capacity = *size + 10;
    test_ok(gpuscan_get_blob(gs, blob, &capacity));
    assert_true(capacity == *size);
    for (; capacity < *size + 16; capacity++)
        assert_int_equal(blob[capacity], 0x5A);
    test_destroy(gs);
    test.gs = whole;
    return blob;
}

/* Makes a blob right behind a call. PoCL up to 5.0 aborts when asked for a program that runs or is being compiled. */
static void test_blob_while_running(void **state) {
    gpuscan *whole = test.gs;
    cl_int made = CL_SUCCESS;
    cl_command_queue side = clCreateCommandQueue(test.context, test.device, 0, &made);
    int which;
    (void)state;
    test_cl(made);
    for (which = 0; which < JOB_DEVICE_END; which++) {
        gpuscan *gs = layered();
        gpuscan_call call = call_on(which % 2 ? side : NULL), prepared = call_on(NULL);
        size_t size = 0, capacity;
        unsigned char *blob;
        cl_event event = NULL;
        cl_int status = CL_QUEUED;
        job j;
        test.gs = gs;
        test_case("a blob right behind %s", job_names[which]);
        job_new(&j, which, which == JOB_SCAN_SMALL ? 1000 : test_size(10000, 1000000, 1000000));
        test_cl(clFinish(test.queue)); /* another queue must find the data */
        call.event = &event;
        test_ok(job_start(gs, &j, &call));
        layer_taken(event);
        call.event = NULL;
        prepared.strategy = GPUSCAN_STRATEGY_SINGLE_PASS; /* its self-test is not a call */
        if (which == JOB_SCAN || which == JOB_REDUCE_RESULT)
            job_ran(&j, job_prepare(gs, &j, &prepared), prepared.strategy);
        layer_reset();
        test_ok(gpuscan_get_blob(gs, NULL, &size));
        assert_int_equal(layer.calls[LAYER_clFinish], 1);
        assert_ptr_equal(gs->last_queue, which % 2 ? side : test.queue);
        test_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        assert_int_equal(status, CL_COMPLETE);
        test_cl(clReleaseEvent(event));
        job_done(&j);
        job_reset(&j);
        test_cl(clFinish(test.queue));
        test_ok(job_start(gs, &j, &call));
        blob = (unsigned char *)test_alloc(size);
        capacity = size;
        test_ok(gpuscan_get_blob(gs, blob, &capacity));
        assert_true(capacity == size);
        job_done(&j);
        job_free(&j);
        free(blob);
        test_destroy(gs);
        layer_expect_empty();
    }
    test.gs = whole;
    clReleaseCommandQueue(side);
}

static void test_blob(void **state) {
    size_t size, second_size = 0;
    unsigned char *blob, *second;
    gpuscan *gs, *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    int which;
    (void)state;
    test_case("a blob");
    blob = make_blob(&size);
    gs = layered();
    test.gs = gs;
    test_ok(gpuscan_set_blob(gs, blob, size));
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithBinary], 2);
    second_size = 0; /* the programs are present before any call */
    test_ok(gpuscan_get_blob(gs, NULL, &second_size));
    assert_true(second_size == size);
    test_ok(gpuscan_set_blob(gs, blob, size)); /* loads nothing new */
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithBinary], 2);
    memset(blob, 0x5A, size); /* the object keeps no pointer to it */
    second_size = 0;
    for (which = JOB_SCAN; which <= JOB_REDUCE; which += JOB_REDUCE - JOB_SCAN) {
        job j;
        job_new(&j, which, many);
        test_case("%s from a blob", job_names[which]);
        job_right(gs, &j, &call);
        job_free(&j);
    }
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 0);
    assert_true(layer.calls[LAYER_clCreateProgramWithBinary] > 0);
    /* a program that the blob lacks is built and goes into the next blob */
    {
        job j;
        job_new(&j, JOB_HISTOGRAM, many);
        test_case("a histogram that the blob lacks");
        job_right(gs, &j, &call);
        assert_true(layer.calls[LAYER_clCreateProgramWithSource] > 0);
        second = blob_of(gs, &second_size);
        test_destroy(gs);
        layer_expect_empty();
        gs = layered();
        test.gs = gs;
        test_ok(gpuscan_set_blob(gs, second, second_size));
        job_right(gs, &j, &call);
        job_free(&j);
        job_new(&j, JOB_SCAN, many);
        job_right(gs, &j, &call);
        job_free(&j);
        assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 0);
    }
    test_destroy(gs);

    test_case("a blob of other programs with texts of equal length");
    {
        gpuscan__blob_entry entry;
        uint64_t at = sizeof(gpuscan__blob_header);
        job j;
        for (; at < second_size; at += part_at(&entry, GPUSCAN__PARTS)) {
            memcpy(&entry, second + at, sizeof entry);
            second[at + sizeof entry] ^= 1;
        }
        right_checksum(second, second_size);
        gs = layered();
        test.gs = gs;
        test_ok(gpuscan_set_blob(gs, second, second_size));
        layer_reset();
        job_new(&j, JOB_SCAN, many);
        job_right(gs, &j, &call);
        job_free(&j);
        assert_int_equal(layer.calls[LAYER_clCreateProgramWithBinary], 0);
        assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 1);
        test_destroy(gs);
    }
    test.gs = whole;
    layer_expect_empty();
    free(second);
    free(blob);
}

/* What the fake driver reports of a program's devices and binaries. */
static struct {
    cl_device_id devices[3];
    size_t count, sizes[3];
    int grows; /* the first size grows at this query, counted from now; 0: never */
} said;

static cl_int CL_API_CALL odd_program_info(cl_program id, cl_program_info what, size_t size, void *value,
                                           size_t *needed) {
    size_t i;
    if (what == CL_PROGRAM_DEVICES)
        return answer(said.devices, said.count * sizeof *said.devices, size, value, needed);
    if (what == CL_PROGRAM_BINARY_SIZES && said.grows && --said.grows == 0)
        said.sizes[0] += 24;
    if (what == CL_PROGRAM_BINARY_SIZES)
        return answer(said.sizes, said.count * sizeof *said.sizes, size, value, needed);
    if (what != CL_PROGRAM_BINARIES)
        return clGetProgramInfo(id, what, size, value, needed);
    for (i = 0; i < said.count; i++)
        if (said.sizes[i])
            memset(((unsigned char **)value)[i], (int)(1 + i), said.sizes[i]);
    return CL_SUCCESS;
}

/* Makes blobs of programs for other devices, for several, or without a binary: a usable blob or a failure. */
static void test_odd_binaries(void **state) {
    const cl_device_id own = test.device, other = (cl_device_id)&said;
    const struct {
        const char *what;
        size_t count;
        cl_device_id devices[3];
        size_t sizes[3];
        gpuscan_result result;
        int binary; /* number of the device's binary */
    } cases[] = {
        {"of one device", 1, {own}, {40}, GPUSCAN_SUCCESS, 0},
        {"of another device", 2, {other, other}, {40, 40}, CL_OUT_OF_RESOURCES, 0},
        {"of no device", 0, {own}, {40}, CL_OUT_OF_RESOURCES, 0},
        {"without a binary", 2, {other, own}, {0, 0}, CL_OUT_OF_RESOURCES, 0},
        {"of the second device", 3, {other, own, other}, {50, 40, 30}, GPUSCAN_SUCCESS, 1},
        {"whose only binary is the second", 3, {other, other, own}, {0, 40, 0}, GPUSCAN_SUCCESS, 1},
    };
    gpuscan *gs = layered();
    size_t i;
    (void)state;
    object_works(gs);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpuscan__blob_entry entry;
        unsigned char *blob, *binary;
        size_t size = 0, b;
        test_case("a program %s", cases[i].what);
        said.count = cases[i].count;
        memcpy(said.devices, cases[i].devices, sizeof said.devices);
        memcpy(said.sizes, cases[i].sizes, sizeof said.sizes);
        gs->cl.clGetProgramInfo = odd_program_info;
        test_expect(gpuscan_get_blob(gs, NULL, &size), cases[i].result);
        if (cases[i].result != GPUSCAN_SUCCESS) {
            assert_string_not_equal(gpuscan_error(gs), "");
            object_works(gs);
            continue;
        }
        blob = (unsigned char *)test_alloc(size);
        test_ok(gpuscan_get_blob(gs, blob, &size));
        memcpy(&entry, blob + sizeof(gpuscan__blob_header), sizeof entry);
        assert_int_equal(entry.sizes[GPUSCAN__PART_BINARY], cases[i].sizes[cases[i].binary]);
        binary = blob + sizeof(gpuscan__blob_header) + part_at(&entry, GPUSCAN__PART_BINARY);
        for (b = 0; b < entry.sizes[GPUSCAN__PART_BINARY]; b++)
            assert_int_equal(binary[b], 1 + cases[i].binary);
        test_ok(gpuscan_set_blob(gs, blob, size));
        free(blob);
    }
    test_destroy(gs);
    layer_expect_empty();
}

static void blob_refused(gpuscan *gs, const void *blob, size_t size) {
    test_expect(gpuscan_set_blob(gs, blob, size), GPUSCAN_ERROR_BLOB);
    if (strcmp(gpuscan_error(gs), "") == 0)
        fail_msg("%s: refused without a message", test.what);
}

static cl_program CL_API_CALL refuse_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                            const size_t *sizes, const unsigned char **binaries, cl_int *each,
                                            cl_int *status) {
    (void)context;
    (void)count;
    (void)devices;
    (void)sizes;
    (void)binaries;
    if (each)
        *each = CL_INVALID_BINARY;
    if (status)
        *status = CL_INVALID_BINARY;
    return NULL;
}

/* Refuses the first binary. */
static cl_program CL_API_CALL refuse_once(cl_context context, cl_uint count, const cl_device_id *devices,
                                          const size_t *sizes, const unsigned char **binaries, cl_int *each,
                                          cl_int *status) {
    if (layer.calls[LAYER_clCreateProgramWithBinary]++ == 0)
        return refuse_binary(context, count, devices, sizes, binaries, each, status);
    return layer_clCreateProgramWithBinary(context, count, devices, sizes, binaries, each, status);
}

/* Makes the program but reports its binary as invalid. */
static cl_program CL_API_CALL doubt_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                           const size_t *sizes, const unsigned char **binaries, cl_int *each,
                                           cl_int *status) {
    cl_program program = layer_clCreateProgramWithBinary(context, count, devices, sizes, binaries, each, status);
    *each = CL_INVALID_BINARY;
    return program;
}

/* Damages recordings and names, one launch after the other, under a correct checksum: each blob must be refused. */
static void bad_recordings(gpuscan *gs, const unsigned char *blob, unsigned char *copy, size_t size) {
    static const char *const wrong[] = {"stand-in",        "scratch",          "kernel", "number of arguments", "kind",
                                        "size of a value", "size of a buffer", "length", "text without names",  "name"};
    gpuscan__blob_entry entry;
    gpuscan__recorded launch;
    size_t begin = sizeof(gpuscan__blob_header), at, launches = 0;
    int which;
    memcpy(&entry, blob + begin, sizeof entry);
    begin += part_at(&entry, GPUSCAN__PART_RECORDING);
    for (at = begin; at < begin + entry.sizes[GPUSCAN__PART_RECORDING]; at += sizeof launch, launches++) {
        for (which = 0; which < 10; which++) {
            size_t text = sizeof(gpuscan__blob_header) + part_at(&entry, GPUSCAN__PART_TEXT), i;
            size_t end = text + entry.sizes[GPUSCAN__PART_TEXT];
            gpuscan__blob_entry other = entry;
            memcpy(copy, blob, size);
            memcpy(&launch, blob + at, sizeof launch);
            for (i = 0; launch.kinds[i] != (which == 6 ? GPUSCAN__SET_SHAM : GPUSCAN__SET_VALUE); i++)
                assert_true(i < launch.arg_count);
            if (which == 0)
                launch.stage.sham = launches % 2 ? GPUSCAN__SHAM_LEAST - 1 : GPUSCAN__SHAM_MOST + 1;
            else if (which == 1)
                *(launches % 2 ? &launch.stage.zeros : &launch.stage.scratch) = GPUSCAN__SHAM_MOST + 1;
            else if (which == 2)
                launch.kernel = GPUSCAN__MAX_KERNELS;
            else if (which == 3)
                launch.arg_count = GPUSCAN__MAX_ARGS + 1;
            else if (which == 4)
                launch.kinds[launch.arg_count - 1] = GPUSCAN__SETS;
            else if (which == 5)
                launch.sizes[i] = launches % 2 ? UINT32_MAX : sizeof launch.values + 1;
            else if (which == 6)
                launch.sizes[i] = 2 * sizeof(cl_mem);
            else if (which == 7)
                other.sizes[GPUSCAN__PART_RECORDING] -= 1 + launches;
            else if (which == 8)
                for (i = text; i < end - 1; i++)
                    copy[i] = 'x';
            else /* a name without an end, or one per byte */
                memset(copy + (launches % 2 ? end - 1 : text), launches % 2 ? 'x' : 0, launches % 2 ? 1 : end - text);
            memcpy(copy + at, &launch, sizeof launch);
            memcpy(copy + sizeof(gpuscan__blob_header), &other, sizeof other);
            right_checksum(copy, size);
            test_case("a blob whose recording has a wrong %s at launch %zu, with a right checksum", wrong[which],
                      launches);
            blob_refused(gs, copy, size);
        }
    }
    assert_true(launches > 0 || !gs->device.profile.facts.launches_late);
}

static void test_bad_blob(void **state) {
    static const char other[] = "another driver 99.9";
    size_t size, length, step, empty = 0;
    unsigned char *blob, *copy;
    gpuscan *gs, *whole = test.gs;
    gpuscan_desc desc;
    gpuscan_call call = call_on(NULL);
    job j;
    (void)state;
    test_case("a blob");
    blob = make_blob(&size);
    gs = layered();
    test.gs = gs;
    step = size / (size_t)test_size(100, 2000, 100000) + 1;
    for (length = 0; length < size; length += length < 300 || length + 300 > size ? 1 : step) {
        test_case("a blob of %zu bytes cut to %zu", size, length);
        copy = (unsigned char *)test_alloc(length); /* exact size, for the address sanitizer */
        memcpy(copy, blob, length);
        blob_refused(gs, copy, length);
        free(copy);
    }
    copy = (unsigned char *)test_alloc(size + 1);
    memcpy(copy, blob, size);
    copy[size] = 0;
    test_case("a blob with one byte too many");
    blob_refused(gs, copy, size + 1);
    for (length = 0; length < size; length += length < 300 || length + 300 > size ? 1 : step) {
        test_case("a blob of %zu bytes, byte %zu flipped", size, length);
        copy[length] ^= (unsigned char)(1 << length % 8);
        blob_refused(gs, copy, size);
        copy[length] ^= (unsigned char)(1 << length % 8);
    }
    for (length = 0; length < 200; length++) {
        size_t k, noise = (size_t)test_below(5000);
        test_case("noise of %zu bytes", noise);
        test_random_bytes(copy, noise < size ? noise : size);
        k = noise < size ? noise : size;
        blob_refused(gs, copy, k);
        memcpy(copy, blob, k < 64 ? k : 64); /* and behind a valid beginning */
        if (k > 64)
            blob_refused(gs, copy, k);
    }
    /* entries that do not fit, under a correct checksum */
    for (length = 0; length < 5; length++) {
        const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX / 2, 1u << 20, 0, size};
        static const char *const parts[] = {"text", "recording", "binary", "number of entries"};
        gpuscan__blob_header header;
        gpuscan__blob_entry entry;
        int which;
        for (which = 0; which <= GPUSCAN__PARTS; which++) {
            memcpy(copy, blob, size);
            memcpy(&header, copy, sizeof header);
            memcpy(&entry, copy + sizeof header, sizeof entry);
            if (which == GPUSCAN__PART_RECORDING && entry.sizes[which] == lengths[length])
                continue; /* without late work on the device there is none */
            if (which == GPUSCAN__PARTS)
                header.entries += (uint32_t)length + 1;
            else
                entry.sizes[which] = lengths[length] || which != GPUSCAN__PART_TEXT ? lengths[length] : size;
            memcpy(copy + sizeof header, &entry, sizeof entry);
            memcpy(copy, &header, sizeof header);
            right_checksum(copy, size);
            test_case("a blob whose %s is wrong, with a right checksum", parts[which]);
            blob_refused(gs, copy, size);
        }
    }
    bad_recordings(gs, blob, copy, size);
    test_case("a blob of the previous format");
    memcpy(copy, blob, size);
    memcpy(copy, "gpuscan3", 8);
    blob_refused(gs, copy, size);
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithBinary], 0); /* drivers may crash on damaged binaries */
    /* the object is unchanged and builds programs from source */
    job_new(&j, JOB_SCAN, many);
    test_case("a scan after bad blobs");
    layer_reset();
    job_right(gs, &j, &call);
    assert_true(layer.calls[LAYER_clCreateProgramWithSource] > 0);
    test_destroy(gs);
    layer_expect_empty();

    /* a blob of no programs is valid */
    gs = layered();
    test.gs = gs;
    test_case("a blob of no programs");
    free(copy);
    copy = blob_of(gs, &empty);
    test_ok(gpuscan_set_blob(gs, copy, empty));
    job_right(gs, &j, &call);
    test_destroy(gs);
    layer_expect_empty();

    /* another driver, another device */
    for (length = 0; length < 2; length++) {
        desc = layer_desc();
        layer_open();
        layer.table.clGetDeviceInfo = other_device_info;
        replace_info(length ? CL_DEVICE_NAME : CL_DRIVER_VERSION, other, sizeof other);
        test_case("a blob of another %s", length ? "device" : "driver");
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        blob_refused(gs, blob, size);
        job_right(gs, &j, &call);
        test_destroy(gs);
    }

    /* if the driver refuses its own binary, the program is built from source */
    for (length = 0; length < 2; length++) {
        desc = layer_desc();
        layer_open();
        layer.table.clCreateProgramWithBinary = length ? doubt_binary : refuse_binary;
        test_case("a driver that %s binaries", length ? "doubts" : "refuses");
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        test_ok(gpuscan_set_blob(gs, blob, size));
        job_right(gs, &j, &call);
        assert_true(layer.calls[LAYER_clCreateProgramWithSource] > 0);
        test_destroy(gs);
        layer_expect_empty();
    }
    test.gs = whole;
    free(copy);
    free(blob);
    job_free(&j);
}

/* Checks that an unusable part of a blob affects only its own program, which is built from source. */
static void test_unusable_part_of_blob(void **state) {
    static const int jobs[] = {JOB_SCAN, JOB_REDUCE};
    size_t size, i, programs;
    unsigned char *blob;
    int round;
    gpuscan *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    (void)state;
    test_case("a blob");
    blob = make_blob(&size);
    for (round = 0; round < 2; round++) {
        gpuscan_desc desc = layer_desc();
        gpuscan *gs = NULL;
        gpuscan__program *program;
        layer_open();
        if (round == 0)
            layer.table.clCreateProgramWithBinary = refuse_once;
        test_case(round ? "kernels in another order" : "a binary that is refused beside one that is not");
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        test_ok(gpuscan_set_blob(gs, blob, size));
        assert_string_equal(gpuscan_error(gs), "");
        for (programs = 0, program = gs->programs; program; program = program->next)
            programs++;
        assert_int_equal(programs, round ? 2 : 1);
        if (round)
            gs->programs->parts[GPUSCAN__PART_TEXT].data[gs->programs->parts[GPUSCAN__PART_TEXT].length - 2] ^= 1;
        layer_reset();
        for (i = 0; i < sizeof jobs / sizeof *jobs; i++) {
            job j;
            job_new(&j, jobs[i], many);
            job_right(gs, &j, &call);
            job_free(&j);
        }
        assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 1);
        test_destroy(gs);
        layer_expect_empty();
    }
    test.gs = whole;
    free(blob);
}

/* Checks that a blob which has grown since its size was asked is not written past the caller's memory, and that the new
   size is given: drivers go on compiling. */
static void test_growing_binary(void **state) {
    gpuscan *gs = layered();
    unsigned char *blob;
    size_t size = 0, room, b;
    (void)state;
    object_works(gs);
    gs->cl.clGetProgramInfo = odd_program_info;
    said.count = 1;
    said.devices[0] = test.device;
    said.sizes[0] = 40;
    test_case("a binary that grows");
    test_ok(gpuscan_get_blob(gs, NULL, &size));
    room = size;
    blob = (unsigned char *)test_alloc(room + 64);
    memset(blob, 0xa5, room + 64);
    said.grows = 1;
    test_expect(gpuscan_get_blob(gs, blob, &size), GPUSCAN_ERROR_INVALID_ARGUMENT);
    assert_true(size > room);
    for (b = 0; b < room + 64; b++)
        assert_int_equal(blob[b], 0xa5);
    free(blob);
    said.grows = 0;
    test_destroy(gs);
    layer_expect_empty();
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

static char folder[64];

/* Calls `see` for each file of the folder, and returns their number. */
static int each_file(void (*see)(const char *path, int what), int what) {
    DIR *files = opendir(folder);
    struct dirent *entry;
    int count = 0;
    assert_non_null(files);
    while ((entry = readdir(files)) != NULL) {
        char path[400];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (see)
            see(path, what);
        count++;
    }
    closedir(files);
    return count;
}

static void see_whole(const char *path, int what) {
    (void)what;
    if (strcmp(path + strlen(path) - 4, ".bin") != 0)
        fail_msg("%s: %s is left", test.what, path);
}

static void see_gone(const char *path, int what) {
    (void)what;
    assert_int_equal(remove(path), 0);
}

static void name_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/gpuscan-cache-%lu", (unsigned long)getpid());
}

static void make_folder(void) {
    name_folder();
    assert_int_equal(mkdir(folder, 0700), 0);
}

static void remove_folder(void) {
    each_file(see_gone, 0);
    assert_int_equal(rmdir(folder), 0);
}

enum { EMPTY, HALF, FIRST_BYTE, MIDDLE_BYTE, LAST_BYTE, A_FOLDER, DAMAGES };
static void see_damaged(const char *path, int what) {
    FILE *file = fopen(path, "rb+");
    static unsigned char bytes[1 << 22];
    size_t size;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    assert_true(size > 200 && size < sizeof bytes);
    fclose(file);
    if (what >= FIRST_BYTE && what <= LAST_BYTE)
        bytes[what == FIRST_BYTE ? 0 : what == MIDDLE_BYTE ? size / 2 : size - 1] ^= 1;
    see_gone(path, 0);
    if (what == A_FOLDER) {
        assert_int_equal(mkdir(path, 0700), 0);
        return;
    }
    file = fopen(path, "wb");
    assert_non_null(file);
    size = what == EMPTY ? 0 : what == HALF ? size / 2 : size;
    assert_true(fwrite(bytes, 1, size, file) == size);
    assert_int_equal(fclose(file), 0);
}

static char told[10000]; /* the warnings of the last object, a line each */
static void keep_warning(gpuscan_log_level level, const char *message, void *user) {
    (void)user;
    if (level == GPUSCAN_LOG_WARNING)
        snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", message);
}

/* Fails if the last object did not warn of a file or folder in these words. */
static void was_told(const char *name, const char *what, const char *why) {
    if (!strstr(told, name) || !strstr(told, what) || !strstr(told, why))
        fail_msg("%s: \"%s\" lacks %s, %s or %s", test.what, told, name, what, why);
}

static int refuses; /* 1: the driver refuses binaries */

/* Opens an object with a cache, which must work. Returns how many programs it built from source. */
static unsigned built_with(const char *cache) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    unsigned built;
    layer_open();
    told[0] = 0;
    desc = layer_desc();
    desc.logger.log = keep_warning;
    desc.cache = cache;
    test_ok(gpuscan_create(&gs, &desc));
    if (refuses)
        gs->cl.clCreateProgramWithBinary = refuse_binary;
    object_works(gs);
    built = layer.calls[LAYER_clCreateProgramWithSource];
    assert_true(built || layer.calls[LAYER_clCreateProgramWithBinary]);
    assert_true(built || !layer.calls[LAYER_clGetProgramInfo]); /* nothing is stored again */
    test_destroy(gs);
    layer_expect_empty();
    return built;
}

static void *open_and_call(void *failed) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    memset(&desc, 0, sizeof desc);
    desc.device = test.device;
    desc.cache = folder;
    if (gpuscan_create(&gs, &desc) == 0) {
        cl_uint src[3] = {1, 2, 3}, dst[3];
        *(int *)failed = gpuscan_scan_host(gs, src, dst, 3, NULL) != 0 || dst[2] != 3;
    }
    gpuscan_destroy(gs);
    return NULL;
}

static void test_cache(void **state) {
    char other[100], name[4001];
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    int what, failed[4] = {1, 1, 1, 1};
    pthread_t threads[4];
    (void)state;
    name_folder();
    test_case("a cache that is not there");
    assert_true(built_with(folder) > 0);
    was_told(folder, "/gpuscan-", ": not stored: No such file");
    assert_int_equal(mkdir(folder, 0700), 0);
    test_case("an empty cache");
    assert_true(built_with(folder) > 0);
    assert_string_equal(told, "");
    assert_true(each_file(see_whole, 0) > 0);
    test_case("a cache");
    assert_int_equal(built_with(folder), 0);
    assert_string_equal(told, "");
    test_case("a driver that refuses the cache's programs");
    refuses = 1;
    assert_true(built_with(folder) > 0);
    refuses = 0;
    was_told(folder, ".bin: not used: ", "refuses");
    for (what = 0; what < DAMAGES; what++) {
        test_case("a cache with damage %d", what);
        each_file(see_damaged, what);
        assert_true(built_with(folder) > 0);
        was_told(folder, ".bin: not used: ",
                 what == EMPTY                        ? "shorter"
                 : what == A_FOLDER                   ? "s a directory"
                 : what == HALF || what == FIRST_BYTE ? "not a blob"
                                                      : "is damaged");
        each_file(see_whole, 0);
        if (what == A_FOLDER) { /* it stays where it is, and nothing is stored */
            assert_true(built_with(folder) > 0);
            each_file(see_gone, 0);
            assert_true(built_with(folder) > 0);
        }
        assert_int_equal(built_with(folder), 0);
    }
    test_case("a file for a cache");
    snprintf(other, sizeof other, "%s/file", folder);
    fclose(fopen(other, "wb"));
    assert_true(built_with(other) > 0);
    was_told(other, ".bin: not used: ", "Not a directory");
    was_told(other, ".bin: not stored: ", "Not a directory");
    each_file(see_gone, 0);
    test_case("a cache with too long a name");
    memset(&desc, 0, sizeof desc);
    desc.device = test.device;
    desc.cache = name;
    memset(name, 'x', sizeof name);
    for (what = 0; what < 2; what++) {
        name[sizeof name - 1 - (size_t)what] = 0;
        assert_int_equal(gpuscan_create(&gs, &desc), what ? GPUSCAN_SUCCESS : GPUSCAN_ERROR_INVALID_ARGUMENT);
        gpuscan_destroy(gs);
    }
    test_case("several at once");
    for (what = 0; what < 4; what++)
        assert_int_equal(pthread_create(&threads[what], NULL, open_and_call, &failed[what]), 0);
    for (what = 0; what < 4; what++) {
        assert_int_equal(pthread_join(threads[what], NULL), 0);
        assert_int_equal(failed[what], 0);
    }
    each_file(see_whole, 0);
    remove_folder();
}

/* Scans with the caller's texts. Returns how many programs were built from source. */
static unsigned built_of_custom(const char *combine) {
    gpuscan_desc desc;
    gpuscan_scan_desc scan = {0};
    gpuscan_custom custom = {0};
    gpuscan *gs = NULL;
    cl_uint src[3] = {4, 2, 7}, dst[3] = {0};
    unsigned built;
    layer_open();
    desc = layer_desc();
    desc.cache = folder;
    test_ok(gpuscan_create(&gs, &desc));
    custom.combine = combine;
    custom.identity = "0";
    scan.src_type = GPUSCAN_TYPE_U32;
    scan.op = GPUSCAN_OP_CUSTOM;
    scan.custom = &custom;
    scan.kind = GPUSCAN_INCLUSIVE;
    test_ok(gpuscan_scan_host(gs, src, dst, 3, &scan));
    assert_true(dst[0] == 4 && dst[1] == (combine[0] == 'a' ? 6u : 4u) && dst[2] == (combine[0] == 'a' ? 13u : 7u));
    built = layer.calls[LAYER_clCreateProgramWithSource];
    test_destroy(gs);
    layer_expect_empty();
    return built;
}

/* Prepares a scan of a count. Returns the bytes of its program's recording. */
static size_t recorded(gpuscan *gs, uint64_t count) {
    gpuscan_scan_desc scan = {0};
    scan.count = count;
    scan.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
    test_ok(gpuscan_scan_prepare(gs, &scan));
    assert_null(gs->programs->next);
    return gs->programs->parts[GPUSCAN__PART_RECORDING].length;
}

/* A cache with custom texts, and with launches that were prepared after the program was stored. */
static void test_cache_of_more(void **state) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    size_t length;
    (void)state;
    test_case("custom texts");
    make_folder();
    assert_true(built_of_custom("a + b") > 0);
    assert_int_equal(built_of_custom("a + b"), 0);
    assert_true(built_of_custom("max(a, b)") > 0);
    assert_int_equal(built_of_custom("max(a, b)"), 0);
    assert_int_equal(built_of_custom("a + b"), 0);
    test_case("a launch prepared later");
    layer_open();
    desc = layer_desc();
    desc.cache = folder;
    test_ok(gpuscan_create(&gs, &desc));
    length = recorded(gs, 3000);
    assert_true(recorded(gs, 10000) > length || !gs->device.profile.facts.launches_late);
    length = recorded(gs, 10000);
    test_destroy(gs);
    test_ok(gpuscan_create(&gs, &desc));
    assert_int_equal(recorded(gs, 3000), length);
    test_destroy(gs);
    layer_expect_empty();
    remove_folder();
}

/* Processes that start at once with one cache. */
static const char *program_name;
static void test_cache_of_processes(void **state) {
    enum { PROCESSES = 3 };
    FILE *out[PROCESSES];
    char command[1000];
    int i;
    (void)state;
    test_case("processes at once");
    make_folder();
    snprintf(command, sizeof command, "'%s' %s", program_name, folder);
    for (i = 0; i < PROCESSES; i++)
        assert_non_null(out[i] = popen(command, "w"));
    for (i = 0; i < PROCESSES; i++)
        assert_int_equal(pclose(out[i]), 0);
    assert_true(each_file(see_whole, 0) > 0);
    assert_int_equal(built_with(folder), 0);
    remove_folder();
}

/* One of the processes of test_cache_of_processes. */
static int be_a_process(void) {
    void *state = NULL;
    int failed = 1;
    if (open_calls(&state) == 0)
        open_and_call(&failed);
    return failed;
}

/* The disk is full from the moment when a program's binary is read until its next kernel is set up: the driver may
   write files of its own before and after. */
static struct rlimit disk;
static int fillings;
static cl_int CL_API_CALL fill_disk(cl_program program, cl_program_info info, size_t size, void *value, size_t *used) {
    struct rlimit full = disk;
    cl_int code = clGetProgramInfo(program, info, size, value, used);
    full.rlim_cur = 100; /* bytes of a file */
    if (info == CL_PROGRAM_BINARIES) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
        fillings++;
    }
    return code;
}
static cl_int CL_API_CALL empty_disk(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &disk), 0);
    return clSetKernelArg(kernel, index, size, value);
}

static void test_cache_on_a_full_disk(void **state) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    (void)state;
    test_case("a full disk");
    make_folder();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &disk), 0);
    signal(SIGXFSZ, SIG_IGN);
    layer_open();
    desc = layer_desc();
    desc.cache = folder;
    told[0] = 0;
    desc.logger.log = keep_warning;
    test_ok(gpuscan_create(&gs, &desc));
    gs->cl.clGetProgramInfo = fill_disk;
    gs->cl.clSetKernelArg = empty_disk;
    object_works(gs);
    test_destroy(gs);
    layer_expect_empty();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &disk), 0);
    assert_true(fillings > 0); /* it was to be stored */
    was_told(folder, ".bin: not stored: ", "File too large");
    assert_int_equal(rmdir(folder), 0); /* and nothing was */
}

/* Each allocation fails in turn, while the cache is written and while it is read. */
static void test_cache_without_memory(void **state) {
    unsigned fail_at;
    int filled;
    (void)state;
    make_folder();
    for (filled = 0; filled < 2; filled++)
        for (fail_at = 1;; fail_at++) {
            cl_uint src[3] = {1, 2, 3}, dst[3] = {9, 9, 9};
            gpuscan_desc desc;
            gpuscan *gs = NULL;
            gpuscan_result r;
            int reached;
            test_case("allocation %u fails, %s", fail_at, filled ? "a cache" : "an empty cache");
            if (filled)
                built_with(folder);
            layer_open();
            desc = layer_desc();
            desc.cache = folder;
            layer.allocation_fail_at = fail_at;
            r = gpuscan_create(&gs, &desc);
            if (r == 0)
                r = gpuscan_scan_host(gs, src, dst, 3, NULL);
            reached = layer.allocation_failed;
            if (r != 0)
                test_expect(r, GPUSCAN_ERROR_OUT_OF_HOST_MEMORY);
            else
                assert_true(dst[0] == 0 && dst[1] == 1 && dst[2] == 3);
            layer.allocation_fail_at = 0;
            if (gs)
                object_works(gs);
            gpuscan_destroy(gs);
            layer_expect_empty();
            each_file(see_whole, 0);
            if (!filled)
                each_file(see_gone, 0);
            if (!reached)
                break;
        }
    remove_folder();
}

static uint64_t entries_of(gpuscan *gs) {
    gpuscan__blob_header header;
    size_t size;
    unsigned char *blob = blob_of(gs, &size);
    memcpy(&header, blob, sizeof header);
    free(blob);
    return header.entries;
}

static int holds(const unsigned char *blob, size_t size, uint64_t number) {
    size_t i;
    for (i = 0; i + sizeof number <= size; i++)
        if (memcmp(blob + i, &number, sizeof number) == 0)
            return 1;
    return 0;
}

/* Checks that blobs hold neither a call's init nor the offset of a buffer that a preparation ignores. */
static void test_blob_without_data(void **state) {
    const uint64_t init = UINT64_C(0x1122334455667788), offset = (UINT64_C(1) << 40) + 0x3334;
    test_buffer small = test_buffer_new(0, 1, 64);
    gpuscan_scan_desc scan;
    gpuscan_sort_desc sort;
    unsigned char *blob;
    size_t size;
    (void)state;
    memset(&scan, 0, sizeof scan);
    scan.count = 1000;
    scan.src_type = GPUSCAN_TYPE_U64;
    scan.init = &init;
    test_ok(gpuscan_scan_prepare(test.gs, &scan));
    memset(&sort, 0, sizeof sort);
    sort.count = 1000;
    sort.key_type = GPUSCAN_TYPE_U8;
    sort.src.mem = small.at.mem;
    sort.src.offset = offset;
    test_ok(gpuscan_sort_prepare(test.gs, &sort));
    blob = blob_of(test.gs, &size);
    assert_false(holds(blob, size, init));
    assert_false(holds(blob, size, offset));
    free(blob);
    test_buffer_free(&small);
}

/* Checks that no call takes a program with lanes after these are given up, and that a blob then holds programs of both
   kinds, of which a call takes its own. */
static void test_blob_without_lanes(void **state) {
    gpuscan *gs = test_with_lanes();
    gpuscan__program *program;
    unsigned char *blob;
    size_t size;
    uint32_t addend[10] = {0}, dst[100] = {0};
    gpuscan_uniform_add_desc desc;
    int i;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS; /* a CPU's strategies need no lanes */
    for (i = 0; i < 2; i++) {
        test_ok(gpuscan_uniform_add_host(gs, addend, dst, 100, 10, &desc));
        assert_int_equal(entries_of(gs), 1 + i);
        program = gs->programs;
        assert_ptr_equal(*gpuscan__same_text(gs, program, 0), program);
        assert_null(*gpuscan__same_text(gs, program, 1)); /* a call has requested it */
        if (i == 0)
            gpuscan__leave_lanes(gs);
    }
    blob = blob_of(gs, &size);
    test_destroy(gs);
    gs = test_with_lanes();
    test_ok(gpuscan_set_blob(gs, blob, size));
    gpuscan__leave_lanes(gs);
    test_ok(gpuscan_uniform_add_host(gs, addend, dst, 100, 10, &desc));
    assert_int_equal(entries_of(gs), 2);
    free(blob);
    test_destroy(gs);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {TEST(test_blob_while_running), TEST(test_blob), TEST(test_odd_binaries),
                                       TEST(test_growing_binary), TEST(test_blob_without_lanes),
                                       TEST(test_blob_without_data),
                                       TEST(test_bad_blob), TEST(test_unusable_part_of_blob), TEST(test_cache),
                                       TEST(test_cache_of_more), TEST(test_cache_of_processes),
                                       TEST(test_cache_on_a_full_disk), TEST(test_cache_without_memory)};
    program_name = argv[0];
    if (argc == 2) {
        snprintf(folder, sizeof folder, "%s", argv[1]);
        return be_a_process();
    }
    test_select();
    return cmocka_run_group_tests_name("blobs", tests, open_calls, test_close);
}
