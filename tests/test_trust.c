/* Robustness: look-back past tiles that publish late or never, many calls and objects without growth of memory, many
   threads on one context, scratch at odd offsets, contexts of several devices, drivers that give wrong answers.
      cc -O2 test_trust.c -o test_trust -lcmocka -lOpenCL -lm -lpthread */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "calls.h"

#include <pthread.h>

/* ---- look-back --------------------------------------------------------------------------------------------------- */

/* (factor, sum) as in jobs.h, with the kernels' hooks: some tiles never publish, and each is late by a number of rounds
   that follows from its own number. */
static const char *const late_text =
    "%s#define GPUSCAN_TEST_SILENT(tile) (%uu && (tile) %% (%uu ? %uu : 1u) == %uu)\n"
    "#define GPUSCAN_TEST_DELAY(tile) late_wait(tile)\n"
    "void late_wait(uint tile) {\n"
    "    volatile uint x = 0;\n"
    "    for (uint i = ((tile * 2654435761u + %uu) >> 20) %% %uu; i > 0; i--) x += i;\n"
    "}\n";

/* Groups begin in the wrong order, so that a group waits for groups that have not begun. */
#define WRONG_ORDER                                                                                                    \
    "#define GPUSCAN_GROUPS_IN_ORDER 1\n"                                                                              \
    "#define GPUSCAN_TEST_GROUP (uint)(get_num_groups(0) - 1 - get_group_id(0))\n"

/* Makes the object's tiles small and its waits short. */
static void make_impatient(gpuscan *gs) {
    gs->device.profile.cpu.chunk = 64;
    gs->device.profile.facts.polls = 3;
}

/* Scans n elements with a strategy. Every silent-th tile never publishes (1: groups in the wrong order instead). The
   result must have the same bits as a loop's, in each round. n is small enough for all tiles to be in flight at once,
   and large enough for several windows of look-back. */
static void silent_scan(unsigned silent, gpuscan_strategy strategy, uint64_t n, int rounds) {
    gpuscan_call call = call_on(NULL);
    gpuscan_custom custom = job_custom;
    gpuscan *gs = layered(), *whole = test.gs;
    char text[2000];
    job j;
    int round;
    snprintf(text, sizeof text, late_text, job_custom.source, silent, silent, silent, silent / 2,
             (unsigned)test_below(1000), 1000u);
    if (silent == 1)
        snprintf(text, sizeof text, "%s" WRONG_ORDER, job_custom.source);
    custom.source = text;
    test.gs = gs;
    make_impatient(gs);
    job_new(&j, JOB_SCAN_CUSTOM, n);
    j.scan.custom = &custom;
    call.strategy = strategy;
    test_case("%s, one tile in %u is silent", test_strategy_name(strategy), silent);
    for (round = 0; round < rounds; round++) {
        job_reset(&j);
        if (!job_ran(&j, job_start(gs, &j, &call), strategy))
            break;
        test_cl(clFinish(test.queue));
        job_done(&j);
        if (round == 0)
            test_uses_hook(gs, silent == 1 ? "GROUP" : silent ? "SILENT" : "DELAY");
    }
    job_free(&j);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

static void test_silent_tiles(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                  GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    static const unsigned every[] = {2, 3, 16, 128, 512, 4, 8, 32, 64, 256};
    size_t s, k, kinds = test.is_small ? 1 : test.is_long ? sizeof every / sizeof *every : 2;
    (void)state;
    for (s = 0; s < 3; s++)
        for (k = 0; k < kinds; k++) /* by default two of the first five for each strategy */
            silent_scan(every[test.is_long ? k : (s + 2 * k) % 5], strategies[s], test_size(3000, 80000, 400000),
                        (int)test_size(1, 3, 20));
    for (s = 0; s < 2; s++) /* CPUs draw in order, whatever the order of groups */
        silent_scan(1, strategies[s], test_size(3000, 30000, 30000), 1);
}

/* Scans in which every tile publishes late. */
static void test_late_tiles(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                  GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    size_t s;
    (void)state;
    for (s = 0; s < 3; s++)
        silent_scan(0, strategies[s], test_size(3000, 50000, 400000), (int)test_size(1, 5, 100));
}

#define SILENT_THIRD "#define GPUSCAN_TEST_SILENT(tile) ((tile) % 3 == 1)\n#define GPUSCAN_TEST_DELAY(tile)\n"

/* Checks that each tile publishes the sum up to its end, and that silent tiles do not. Otherwise, look-backs are longer
   or shorter but results are the same. */
static void test_published_prefixes(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    static const gpuscan_custom third = {SILENT_THIRD, NULL, 0, NULL, NULL, "x", NULL, NULL, NULL};
    const uint64_t n = test_size(5000, 20011, 100003), rows = 2;
    size_t s;
    (void)state;
    for (s = 0; s < 4; s++) {
        test_buffer src = test_buffer_new(CL_MEM_READ_ONLY, 4, rows * n), scratch;
        test_buffer dst = test_buffer_new(CL_MEM_READ_WRITE, 4, rows * n);
        gpuscan *gs = layered(), *whole = test.gs;
        gpuscan_scan_desc d;
        uint64_t size, t, tiles;
        cl_ulong *words;
        int is_silent = s % 2;
        test.gs = gs;
        make_impatient(gs);
        test_case("prefixes that %s publishes, silent tiles %d", test_strategy_name(strategies[s / 2]), is_silent);
        test_buffer_set(&src, 0, rows * n, NULL);
        test_buffer_set(&dst, 0, rows * n, NULL);
        memset(&d, 0, sizeof d);
        d.src = src.at;
        d.dst = dst.at;
        d.count = n;
        d.rows = rows;
        d.custom = is_silent ? &third : NULL;
        d.call.strategy = strategies[s / 2];
        if (!test.info.has_lanes && gs->device.int64_atomics &&
            test_ran(gpuscan_scan_scratch_size(gs, &d, &size), d.call.strategy, test_device_refusal(d.call.strategy))) {
            scratch = test_buffer_new(CL_MEM_READ_WRITE, 8, size / 8);
            test_buffer_set(&scratch, 0, size / 8, NULL);
            d.call.scratch = scratch.at;
            d.call.scratch_size = size;
            test_ok(gpuscan_scan(gs, &d));
            words = (cl_ulong *)test_buffer_get(&scratch) + GPUSCAN__TICKETS_SIZE / 8;
            tiles = rows * gpuscan__ceil_div(n, gs->programs->key.tile);
            assert_true(tiles > 4 && size >= GPUSCAN__TICKETS_SIZE + 2 * tiles * 8);
            words += gpuscan__ceil_div(tiles, GPUSCAN__STATES_ALIGN) * GPUSCAN__STATES_ALIGN; /* prefixes follow sums */
            for (t = 0; t < tiles; t++)
                if (((words[t] >> 32 & 3) == 2) == (is_silent && t % (tiles / rows) % 3 == 1))
                    fail_msg("%s: tile %d: state word %" PRIx64, test.what, (int)t, (uint64_t)words[t]);
            test_buffer_free(&scratch);
        }
        test_buffer_free(&src);
        test_buffer_free(&dst);
        test_destroy(gs);
        test.gs = whole;
        layer_expect_empty();
    }
}

/* A group that sums a silent tile must convert its elements by their index in the row. Without lanes, it sums them in a
   tree of `width` (0: the profile's). By segments, groups begin in the wrong order, too. */
static void silent_conversions(gpuscan_strategy strategy, uint32_t width, int segmented) {
    const gpuscan_custom by_index = {segmented ? SILENT_THIRD WRONG_ORDER : SILENT_THIRD, NULL, 0, NULL, NULL,
                                     "x + (uint)i * 2654435761u", NULL, NULL, NULL};
    const uint32_t n = (uint32_t)test_size(2500, 20011, 100003), rows = segmented ? 1 : 2;
    uint32_t *keys = (uint32_t *)test_alloc(n * 4);
    uint32_t *in = (uint32_t *)test_alloc(rows * n * 4), *got = (uint32_t *)test_alloc(rows * n * 4);
    uint32_t *wanted = (uint32_t *)test_alloc(rows * n * 4), sum = 0, i;
    gpuscan *gs = layered(), *whole = test.gs;
    gpuscan_scan_desc d;
    test.gs = gs;
    make_impatient(gs);
    if (width)
        gs->device.lane_width = width;
    test_random_bytes(in, rows * n * 4);
    for (i = 0; i < n; i++) /* short segments, one across several tiles, short ones */
        keys[i] = i < n / 3 || i > n - n / 4 ? i / 37 : n / 3 / 37;
    for (i = 0; i < rows * n; i++) {
        sum = (i % n && (!segmented || keys[i] == keys[i - 1]) ? sum : 0) + in[i] + i % n * 2654435761u;
        wanted[i] = sum;
    }
    memset(&d, 0, sizeof d);
    d.kind = GPUSCAN_INCLUSIVE;
    d.rows = rows;
    d.custom = &by_index;
    d.call.strategy = strategy;
    if (segmented) {
        d.segments.form = GPUSCAN_SEGMENTS_KEYS;
        d.segments.host_data = keys;
    }
    test_case("conversions by index past silent tiles, %s, width %u%s", test_strategy_name(strategy), (unsigned)width,
              segmented ? ", by segments" : "");
    if (test_ran(gpuscan_scan_host(gs, in, got, n, &d), strategy, test_device_refusal(strategy))) {
        test_same_bytes(got, wanted, 4, rows * n);
        test_uses_hook(gs, "SILENT");
    }
    free(keys);
    free(in);
    free(got);
    free(wanted);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

static void test_silent_conversions(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                  GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    uint32_t width;
    size_t s;
    (void)state;
    for (s = 0; s < 6; s++)
        if (test_takes_one_of(2, s))
            silent_conversions(strategies[s % 3], 0, s >= 3);
    for (width = 2; width <= 64 && !test.info.has_lanes; width *= test.is_small ? 8 : 2)
        if (test_takes_one_of(2, s++))
            silent_conversions(GPUSCAN_STRATEGY_SINGLE_PASS, width, width == 8);
}

/* Values of several words, whose publisher stops between two words: every third tile stores only some words, and a
   fallback that sums a late tile adds some at a time. In place, a tile that really stopped would leave its elements
   unchanged; this one goes on, so it only pauses before each further word. If a word holds a whole value (8 bytes in
   128 bits), values have no parts. */
static const char *const stopped_text =
    "#define GPUSCAN_TEST_STORED(tile) ((tile) %% 3u == %uu ? min(%d, GPUSCAN_PREFIX_WORDS) : GPUSCAN_PREFIX_WORDS)\n"
    "#define GPUSCAN_TEST_ADDED(tile) %d\n"
    "#define GPUSCAN_TEST_PAUSE(p) if ((p) > 0) stopped_pause()\n"
    "void stopped_pause(void) { for (volatile uint x = %u; x > 0; x--); }\n"
    "typedef struct { uint v[%d]; } stopped;\n"
    "stopped stopped_then(stopped a, stopped b) {\n"
    "    b.v[1] += a.v[1] * b.v[0]; b.v[0] *= a.v[0];\n"
    "    for (int i = 2; i < %d; i++) b.v[i] += a.v[i];\n"
    "    return b; }\n"
    "stopped stopped_same(void) { stopped c; for (int i = 0; i < %d; i++) c.v[i] = i == 0; return c; }\n";

typedef struct {
    gpuscan_strategy strategy;
    int values;        /* of 32 bits an element */
    int stored, added; /* words after which the publisher, or a fallback, stops */
    unsigned pause;    /* rounds */
    int is_32;         /* the device has no 64-bit atomics */
    int in_place;
} stopped_case;

/* Computes the expected scan of that text in order. */
static void stopped_wanted(const cl_uint *in, cl_uint *out, int values, uint64_t n) {
    cl_uint sum[8] = {1, 0, 0, 0, 0, 0, 0, 0};
    uint64_t i;
    int v;
    for (i = 0; i < n; i++, in += values, out += values) {
        sum[1] = in[1] + sum[1] * in[0];
        sum[0] *= in[0];
        for (v = 2; v < values; v++)
            sum[v] += in[v];
        memcpy(out, sum, (size_t)values * 4);
    }
}

static void stopped_scan(const stopped_case *c, uint64_t n, int rounds) {
    size_t size = (size_t)c->values * 4;
    cl_uint *in = (cl_uint *)test_alloc(n * size), *wanted = (cl_uint *)test_alloc(n * size);
    gpuscan_custom custom = {NULL, "stopped", 0, "stopped_then(a, b)", "stopped_same()", NULL, NULL, NULL, NULL};
    test_buffer src = test_buffer_new(CL_MEM_READ_WRITE, size, n), dst = test_buffer_new(CL_MEM_READ_WRITE, size, n);
    gpuscan *gs = layered(), *whole = test.gs;
    gpuscan_scan_desc desc;
    char text[2000];
    snprintf(text, sizeof text, stopped_text, (unsigned)test_below(3), c->stored, c->added, c->pause, c->values,
             c->values, c->values);
    custom.source = text;
    custom.size = size;
    test.gs = gs;
    make_impatient(gs);
    if (c->is_32)
        gs->device.int64_atomics = 0;
    test_random_bytes(in, n * size);
    stopped_wanted(in, wanted, c->values, n);
    memset(&desc, 0, sizeof desc);
    desc.src_type = GPUSCAN_TYPE_CUSTOM;
    desc.op = GPUSCAN_OP_CUSTOM;
    desc.custom = &custom;
    desc.kind = GPUSCAN_INCLUSIVE;
    desc.count = n;
    desc.src = src.at;
    desc.dst = c->in_place ? src.at : dst.at;
    desc.call.strategy = c->strategy;
    test_case("%s of %d x 32 bits in words of %d%s, stopped after %d of its words, fallbacks after %d",
              test_strategy_name(c->strategy), c->values, c->is_32 ? 32 : 64, c->in_place ? ", in place" : "",
              c->stored, c->added);
    while (rounds-- > 0) {
        test_buffer_set(&src, 1, n, in);
        test_buffer_set(&dst, 2, n, NULL);
        desc.src = src.at;
        desc.dst = c->in_place ? src.at : dst.at;
        if (!test_scan_ran(&desc))
            break;
        test_cl(clFinish(test.queue));
        test_same_bytes(test_buffer_get(c->in_place ? &src : &dst), wanted, size, n);
        if (rounds == 0)
            test_uses_hook(gs, c->in_place ? "PAUSE" : "STORED");
    }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(in);
    free(wanted);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

/* No group may wait for the rest of a value, or this would not end. By default it takes each strategy, number of values
   and width of words once, with the other options in turn. */
static void test_stopped_between_words(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                  GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    int s, variant, k = 0;
    stopped_case c;
    (void)state;
    for (s = 0; s < 3; s++)
        for (c.values = 2; c.values <= (test.is_long ? 8 : 4); c.values++)
            for (c.is_32 = 0; c.is_32 < 2; c.is_32++)
                for (variant = 0; variant < 4; variant++) {
                    int words = c.is_32 ? 2 * c.values : c.values;
                    c.strategy = strategies[s];
                    c.in_place = variant & 1;
                    c.added = variant & 2 ? 1 : words;
                    c.stored = c.in_place ? words : 1 + (int)test_below((uint64_t)words - 1);
                    c.pause = c.in_place ? 20000 : 0;
                    if (test.is_long || (variant == k++ / 4 % 4 && (!test.is_small || c.values == 2) &&
                                         test_takes_one_of(2, (uint64_t)(s + c.values + c.is_32))))
                        stopped_scan(&c, test_size(2000, 20000, 100000), (int)test_size(1, 2, 5));
                }
}

/* The float sum of one array, repeated, in place and not: the same bits. main sets POCL_MAX_PTHREAD_COUNT, so that
   there are more threads than cores. */
static void test_same_bits(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_CPU_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS,
                                                  GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD};
    uint64_t most = test_size(5000, 60000, 400000), n, i;
    int round, rounds = (int)test_size(2, 12, 400), s, again, place;
    float *in = (float *)test_alloc(most * 4), *first = (float *)test_alloc(most * 4);
    float *out = (float *)test_alloc(most * 4);
    gpuscan *gs = layered(), *whole = test.gs;
    (void)state;
    test.gs = gs;
    make_impatient(gs);
    for (round = 0; round < rounds; round++) {
        n = most - test_below(most / 2);
        for (i = 0; i < n; i++)
            in[i] = (float)(test_unit() - 0.5);
        for (s = 0; s < 3; s++)
            for (place = 0; place < 2; place++)
                for (again = 0; again < (test.is_long ? 10 : 3); again++) {
                    gpuscan_scan_desc desc;
                    gpuscan_result result;
                    float *to = again ? out : first;
                    memset(&desc, 0, sizeof desc);
                    desc.src_type = GPUSCAN_TYPE_F32;
                    desc.kind = GPUSCAN_INCLUSIVE;
                    desc.call.strategy = strategies[s];
                    test_case("%" PRIu64 " floats, %s, round %d, again %d", n, test_strategy_name(strategies[s]), round,
                              again);
                    if (place)
                        memcpy(to, in, (size_t)n * 4);
                    result = gpuscan_scan_host(gs, place ? to : in, to, n, &desc);
                    if (!test_ran(result, strategies[s], place ? "in place" : test_device_refusal(strategies[s])))
                        break;
                    if (again)
                        test_same_bytes(out, first, 4, n);
                }
    }
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
    free(in);
    free(first);
    free(out);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

/* A call that builds and tests a program while an earlier call waits for the caller: it must not wait for that one. */
static void test_built_while_waiting(void **state) {
    static const int kinds[] = {JOB_SCAN, JOB_REDUCE, JOB_HISTOGRAM, JOB_SCAN_PLACE};
    int s, which;
    (void)state;
    TEST_EACH_STRATEGY(s) {
        gpuscan *gs = layered(), *whole = test.gs;
        gpuscan_call call = call_on(NULL);
        cl_event gate = user_event();
        job jobs[4];
        int ran[4];
        test.gs = gs;
        for (which = 0; which < 4; which++)
            job_new(&jobs[which], kinds[which], test_size(2000, 20000, 100000));
        for (which = 0; which < 4; which++) {
            gpuscan_result result;
            test_case("%s, %s, after a call that waits", job_names[kinds[which]],
                      test_strategy_name((gpuscan_strategy)s));
            call.strategy = (gpuscan_strategy)s;
            call.wait_count = which == 0;
            call.wait_list = which == 0 ? &gate : NULL;
            result = job_start(gs, &jobs[which], &call);
            ran[which] = job_ran(&jobs[which], result, call.strategy);
        }
        test_cl(clSetUserEventStatus(gate, CL_COMPLETE));
        test_cl(clFinish(test.queue));
        for (which = 0; which < 4; which++) {
            if (ran[which])
                job_done(&jobs[which]);
            job_free(&jobs[which]);
        }
        test_cl(clReleaseEvent(gate));
        test_destroy(gs);
        test.gs = whole;
        layer_expect_empty();
    }
}

/* A call that fails half-way in an out-of-order queue, between a call that still waits and another: both must be right.
   After the failure the library must still know what uses the object's scratch. */
static void test_failure_between(void **state) {
    static const int kinds[] = {JOB_SCAN, JOB_REDUCE, JOB_EDGES};
    cl_int status = CL_SUCCESS;
    cl_command_queue queue =
        clCreateCommandQueue(test.context, test.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &status);
    int s, k;
    unsigned at;
    (void)state;
    test_cl(status);
    for (k = 0; k < 3; k++)
        for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
            for (at = 1; test.is_long || s == 0 || s == 1 + k; at += test.is_long ? 1 : 3) {
                gpuscan *gs = layered(), *whole = test.gs;
                gpuscan_call call = call_on(queue), gated;
                cl_event gate = NULL, events[2] = {NULL, NULL};
                gpuscan_result result;
                job first, second;
                int struck;
                test.gs = gs;
                make_impatient(gs);
                job_new(&first, kinds[k], 5000);
                job_new(&second, kinds[k], 5000);
                call.strategy = (gpuscan_strategy)s;
                result = job_start(gs, &second, &call); /* builds all programs */
                test_cl(clFinish(queue));
                job_reset(&second);
                gated = call;
                gated.wait_count = 1;
                gated.wait_list = &gate;
                gated.event = &events[0];
                call.event = &events[1];
                test_case("%s, %s, call %u fails between two", job_names[kinds[k]],
                          test_strategy_name((gpuscan_strategy)s), at);
                struck = 0;
                if (result == GPUSCAN_SUCCESS) {
                    gate = user_event();
                    test_ok(job_start(gs, &first, &gated));
                    layer_reset();
                    layer.fail_at = at;
                    layer.fail_code = CL_OUT_OF_RESOURCES;
                    result = job_start(gs, &second, &call);
                    layer.fail_at = 0;
                    struck = layer.failed >= 0;
                    if (result != GPUSCAN_SUCCESS)
                        test_ok(job_start(gs, &second, &call));
                    test_cl(clFlush(queue));
                    test_cl(clSetUserEventStatus(gate, CL_COMPLETE));
                    test_cl(clFinish(queue));
                    job_done(&first);
                    job_done(&second);
                    layer_taken(events[0]);
                    layer_taken(events[1]);
                    clReleaseEvent(events[0]);
                    clReleaseEvent(events[1]);
                    clReleaseEvent(gate);
                }
                job_free(&first);
                job_free(&second);
                test_destroy(gs);
                test.gs = whole;
                layer_expect_empty();
                if (!struck)
                    break;
            }
    clReleaseCommandQueue(queue);
}

/* ---- scratch ----------------------------------------------------------------------------------------------------- */

enum { ODD_COUNT = 300 };

/* Elements whose size does not divide the scratch's offset: nothing may be stored before or behind the scratch, and the
   result must be right. Sums each word of all elements. */
static void odd_scratch(size_t size, gpuscan_strategy strategy, int reduce, uint64_t offset) {
    char text[600];
    gpuscan_custom custom = {NULL, "odd", 0, "odd_add(a, b)", "odd_zero()", NULL, NULL, NULL, NULL};
    unsigned words = (unsigned)(size / 4), w;
    cl_uint *in = (cl_uint *)test_alloc(ODD_COUNT * size), *wanted = (cl_uint *)test_alloc(size);
    cl_uint *result = (cl_uint *)test_alloc(size);
    uint64_t need = 0, i;
    test_buffer src, dst, scratch;
    gpuscan_scan_desc scan;
    gpuscan_reduce_desc sum;
    gpuscan_result r;
    test_case("scratch for elements of %zu bytes at %" PRIu64 ", %s, %s", size, offset, reduce ? "reduce" : "scan",
              test_strategy_name(strategy));
    snprintf(text, sizeof text,
             "typedef struct { uint v[%u]; } odd;\n"
             "odd odd_add(odd a, odd b) { for (int i = 0; i < %u; i++) a.v[i] += b.v[i]; return a; }\n"
             "odd odd_zero(void) { odd c; for (int i = 0; i < %u; i++) c.v[i] = 0; return c; }\n",
             words, words, words);
    custom.source = text;
    custom.size = size;
    test_random_bytes(in, ODD_COUNT * size);
    memset(wanted, 0, size);
    for (i = 0; i < ODD_COUNT; i++)
        for (w = 0; w < words; w++)
            wanted[w] += in[i * words + w];
    src = test_buffer_new(CL_MEM_READ_WRITE, size, ODD_COUNT);
    dst = test_buffer_new(CL_MEM_READ_WRITE, size, ODD_COUNT);
    test_buffer_set(&src, 1, ODD_COUNT, in);
    test_buffer_set(&dst, 2, ODD_COUNT, NULL);
    memset(&scan, 0, sizeof scan);
    memset(&sum, 0, sizeof sum);
    scan.src_type = sum.src_type = GPUSCAN_TYPE_CUSTOM;
    scan.op = sum.op = GPUSCAN_OP_CUSTOM;
    scan.custom = sum.custom = &custom;
    scan.kind = GPUSCAN_INCLUSIVE;
    scan.count = sum.count = ODD_COUNT;
    scan.src = sum.src = src.at;
    scan.dst = dst.at;
    sum.result = result;
    scan.call.strategy = sum.call.strategy = strategy;
    r = reduce ? gpuscan_reduce_scratch_size(test.gs, &sum, &need) : gpuscan_scan_scratch_size(test.gs, &scan, &need);
    if (test_ran(r, strategy, reduce ? test_reduce_refusal(&sum) : test_scan_refusal(&scan)) && need > 0) {
        scratch = test_buffer_new(CL_MEM_READ_WRITE, 1, need + offset);
        test_buffer_set(&scratch, offset, need, NULL);
        scan.call.scratch = sum.call.scratch = scratch.at;
        scan.call.scratch_size = sum.call.scratch_size = need;
        test_ok(reduce ? gpuscan_reduce(test.gs, &sum) : gpuscan_scan(test.gs, &scan));
        test_cl(clFinish(test.queue));
        test_buffer_get(&scratch);
        if (!reduce)
            memcpy(result, (cl_uint *)test_buffer_get(&dst) + (ODD_COUNT - 1) * words, size);
        test_same_bytes(result, wanted, size, 1);
        test_buffer_free(&scratch);
    }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(in);
    free(wanted);
    free(result);
}

static void test_odd_scratch(void **state) {
    static const size_t sizes[] = {12, 128, 20, 100, 1024};
    gpuscan *gs = layered(), *whole = test.gs;
    size_t k;
    int s, reduce;
    (void)state;
    test.gs = gs;
    make_impatient(gs);
    for (k = 0; k < (test.is_long ? 5u : 1u); k++)
        for (s = GPUSCAN_STRATEGY_MULTI_PASS; s < GPUSCAN_STRATEGY_COUNT; s++)
            for (reduce = 0; reduce < 2; reduce++) {
                int cpu = s >= GPUSCAN_STRATEGY_CPU_MULTI_PASS;
                if (test.is_long || cpu || s == GPUSCAN_STRATEGY_MULTI_PASS) {
                    odd_scratch(sizes[k], (gpuscan_strategy)s, reduce, 64);
                    odd_scratch(sizes[k], (gpuscan_strategy)s, reduce, 320);
                }
            }
    test_destroy(gs);
    test.gs = whole;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* Empty ranges overlap nothing. */
static void test_empty_ranges(void **state) {
    test_buffer buffer = test_buffer_new(CL_MEM_READ_WRITE, 4, 20);
    gpuscan_scan_desc scan;
    gpuscan_uniform_add_desc add;
    gpuscan_histogram_desc histogram;
    cl_uint *got;
    (void)state;
    test_buffer_set(&buffer, 0, 20, NULL);
    memset(&scan, 0, sizeof scan);
    scan.src = scan.dst = scan.total = buffer.at;
    scan.src.offset = scan.dst.offset = 5;
    scan.total.offset = 3;
    scan.rows = 4;
    test_case("no elements between the totals");
    test_ok(gpuscan_scan(test.gs, &scan));
    got = (cl_uint *)test_buffer_get(&buffer);
    assert_true(got[3] == 0 && got[4] == 0 && got[5] == 0 && got[6] == 0 && got[7] != 0);
    memset(&add, 0, sizeof add);
    add.dst = add.addend = buffer.at;
    add.block = 1;
    test_case("no elements and no addends");
    test_ok(gpuscan_uniform_add(test.gs, &add));
    memset(&histogram, 0, sizeof histogram);
    histogram.samples = histogram.counts = buffer.at;
    histogram.samples.offset = 6;
    histogram.bins = 4;
    test_case("no samples among the counters");
    test_ok(gpuscan_histogram(test.gs, &histogram));
    test_case("more empty rows than a loop could visit");
    histogram.rows = UINT64_MAX / 2;
    histogram.pitch = 5;
    test_ok(gpuscan_histogram(test.gs, &histogram));
    histogram.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    test_ok(gpuscan_histogram(test.gs, &histogram));
    memset(&scan, 0, sizeof scan);
    scan.src = scan.dst = buffer.at;
    scan.rows = UINT64_MAX / 2;
    scan.src_pitch = scan.dst_pitch = 5;
    test_ok(gpuscan_scan(test.gs, &scan));
    test_cl(clFinish(test.queue));
    test_buffer_free(&buffer);
}

/* ---- contexts of several devices --------------------------------------------------------------------------------- */

/* Reports two devices for every program, the object's as the second, as most drivers do in a context of two devices. */
static cl_int CL_API_CALL of_two_devices(cl_program program, cl_program_info what, size_t size, void *value,
                                         size_t *needed) {
    const size_t others = 7;
    cl_int status = layer_enter(LAYER_clGetProgramInfo);
    unsigned char *at = (unsigned char *)value;
    size_t each = what == CL_PROGRAM_BINARIES ? sizeof(unsigned char *) : sizeof(size_t);
    if (what == CL_PROGRAM_DEVICES)
        each = sizeof(cl_device_id);
    if (status != CL_SUCCESS)
        return status;
    if (needed)
        *needed = 2 * each;
    if (value == NULL)
        return CL_SUCCESS;
    if (size < 2 * each)
        return CL_INVALID_VALUE;
    if (what != CL_PROGRAM_BINARIES)
        memset(at, 0, each);
    if (what == CL_PROGRAM_BINARY_SIZES)
        memcpy(at, &others, sizeof others); /* of the other device */
    return layer.driver.clGetProgramInfo(program, what, each, at + each, NULL);
}

static void test_two_devices(void **state) {
    gpuscan *gs = layered(), *whole = test.gs;
    cl_uint in[100] = {1, 2, 3}, out[100];
    size_t size = 0, capacity;
    unsigned char *blob;
    (void)state;
    test.gs = gs;
    gs->cl.clGetProgramInfo = of_two_devices;
    test_case("a blob of a program of two devices");
    test_ok(gpuscan_scan_host(gs, in, out, 100, NULL));
    test_ok(gpuscan_get_blob(gs, NULL, &size));
    blob = (unsigned char *)test_alloc(size);
    capacity = size;
    layer.allocations = 0;
    layer.allocation_fail_at = 1;
    test_expect(gpuscan_get_blob(gs, blob, &capacity), GPUSCAN_ERROR_OUT_OF_HOST_MEMORY);
    layer.allocation_fail_at = 0;
    capacity = size;
    test_ok(gpuscan_get_blob(gs, blob, &capacity));
    test_destroy(gs);
    layer_expect_empty();
    gs = layered();
    test.gs = gs;
    test_ok(gpuscan_set_blob(gs, blob, size));
    layer_reset();
    test_ok(gpuscan_scan_host(gs, in, out, 100, NULL));
    assert_true(out[99] == 6 && layer.calls[LAYER_clCreateProgramWithSource] == 0);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
    free(blob);
}

/* An object for each device of a context, each with its own programs and blobs. */
static void test_many_devices(void **state) {
    cl_platform_id platform = NULL;
    cl_device_id devices[8];
    cl_uint count = 0, d;
    cl_context context;
    cl_int status = CL_SUCCESS;
    (void)state;
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
    test_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count));
    if (count < 2)
        skip();
    if (count > 8)
        count = 8;
    context = clCreateContext(NULL, count, devices, NULL, NULL, &status);
    test_cl(status);
    for (d = 0; d < count; d++) {
        gpuscan *gs, *whole = test.gs;
        gpuscan_desc desc;
        cl_uint in[100], out[100], i, sum;
        size_t size = 0, capacity;
        unsigned char *blob;
        int round;
        test_case("device %u of %u", d, count);
        layer_open();
        desc = layer_desc();
        desc.context = context;
        desc.device = devices[d];
        desc.queue = NULL;
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        for (round = 0; round < 2; round++) {
            for (i = 0; i < 100; i++)
                in[i] = i * 7 + d;
            test_ok(gpuscan_scan_host(gs, in, out, 100, NULL));
            for (sum = 0, i = 0; i < 100; sum += in[i], i++)
                if (out[i] != sum)
                    fail_msg("%s: %u at %u", test.what, out[i], i);
            if (round == 1)
                break;
            test_ok(gpuscan_get_blob(gs, NULL, &size));
            blob = (unsigned char *)test_alloc(size);
            capacity = size;
            test_ok(gpuscan_get_blob(gs, blob, &capacity));
            test_destroy(gs);
            layer_expect_empty();
            test_ok(gpuscan_create(&gs, &desc));
            test.gs = gs;
            test_ok(gpuscan_set_blob(gs, blob, size));
            free(blob);
            layer_reset();
        }
        assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource], 0);
        test_destroy(gs);
        test.gs = whole;
        layer_expect_empty();
    }
    clReleaseContext(context);
}

/* ---- drivers ----------------------------------------------------------------------------------------------------- */

/* A driver that reports success without an object: the call must fail, and NULL must not be used. */
static cl_mem CL_API_CALL no_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status) {
    (void)context;
    (void)flags;
    (void)size;
    (void)host;
    if (status)
        *status = CL_SUCCESS;
    return NULL;
}
static cl_kernel CL_API_CALL no_kernel(cl_program program, const char *name, cl_int *status) {
    (void)program;
    (void)name;
    if (status)
        *status = CL_SUCCESS;
    return NULL;
}
static cl_program CL_API_CALL no_program(cl_context context, cl_uint count, const char **lines, const size_t *lengths,
                                         cl_int *status) {
    (void)context;
    (void)count;
    (void)lines;
    (void)lengths;
    if (status)
        *status = CL_SUCCESS;
    return NULL;
}
static cl_command_queue CL_API_CALL no_queue(cl_context context, cl_device_id device,
                                             cl_command_queue_properties properties, cl_int *status) {
    (void)context;
    (void)device;
    (void)properties;
    if (status)
        *status = CL_SUCCESS;
    return NULL;
}
static void *CL_API_CALL no_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                                cl_int *status) {
    (void)queue;
    (void)buffer;
    (void)blocking;
    (void)flags;
    (void)offset;
    (void)size;
    (void)waits;
    (void)wait;
    (void)event;
    if (status)
        *status = CL_SUCCESS;
    return NULL;
}
static cl_context CL_API_CALL no_context(const cl_context_properties *properties, cl_uint count,
                                         const cl_device_id *devices,
                                         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                         void *user, cl_int *status) {
    (void)properties;
    (void)count;
    (void)devices;
    (void)notify;
    (void)user;
    if (status)
        *status = CL_SUCCESS;
    return NULL;
}

static void test_success_without_object(void **state) {
    int lie;
    (void)state;
    for (lie = 0; lie < 6; lie++) {
        gpuscan *gs = NULL, *whole = test.gs;
        gpuscan_desc desc;
        gpuscan_result r;
        cl_uint in[50], out[50];
        memset(in, 0, sizeof in);
        memset(out, 0x5A, sizeof out);
        layer_open();
        desc = layer_desc();
        desc.queue = NULL;
        switch (lie) {
        case 0:
            layer.table.clCreateBuffer = no_buffer;
            break;
        case 1:
            layer.table.clCreateKernel = no_kernel;
            break;
        case 2:
            layer.table.clCreateProgramWithSource = no_program;
            break;
        case 3:
            layer.table.clCreateCommandQueue = no_queue;
            break;
        case 4:
            layer.table.clEnqueueMapBuffer = no_map;
            break;
        default:
            layer.table.clCreateContext = no_context;
            desc.context = NULL;
        }
        test_case("a driver that reports success without an object, %d", lie);
        r = gpuscan_create(&gs, &desc);
        if (r == GPUSCAN_SUCCESS) {
            test.gs = gs;
            r = gpuscan_scan_host(gs, in, out, 50, NULL);
            if (lie == 4 && !gs->device.zero_copy)
                test_ok(r);
            else if (r == GPUSCAN_SUCCESS || strcmp(gpuscan_error(gs), "") == 0)
                fail_msg("%s: %d, '%s'", test.what, (int)r, gpuscan_error(gs));
            test_destroy(gs);
        } else if (lie != 5 || gs != NULL)
            fail_msg("%s: create: %d", test.what, (int)r);
        test.gs = whole;
        layer_expect_empty();
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Returns the process's resident memory in KiB; 0 if unknown, or if a sanitizer keeps freed memory. */
static long resident(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#else
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0, all = 0;
    if (file && fscanf(file, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
#endif
}

/* Makes many calls: no object and no host memory may be added, and the process may grow by the driver's fluctuation
   only (16 MiB). The first tenth of the calls is not counted. */
static void test_many_calls(void **state) {
    gpuscan *gs = layered(), *whole = test.gs;
    gpuscan_call call = call_on(NULL);
    job jobs[JOB_END];
    size_t objects = 0, blocks = 0;
    long before = 0, after;
    int which, i, calls = (int)test_size(300, 3000, 10000);
    (void)state;
    test.gs = gs;
    for (which = 0; which < JOB_END; which++)
        job_new(&jobs[which], which, 400);
    for (i = 0; i < calls; i++) {
        cl_event event = NULL;
        which = i % JOB_END;
        test_case("%s, call %d", job_names[which], i);
        call.event = which < JOB_DEVICE_END && i % 3 ? &event : NULL;
        test_ok(job_start(gs, &jobs[which], &call));
        if (event) {
            layer_taken(event);
            clReleaseEvent(event);
        }
        if (i % 16 == 15)
            test_cl(clFinish(test.queue));
        if (i == calls / 10) {
            objects = layer.object_count;
            blocks = layer.allocated;
            before = resident();
        }
    }
    test_cl(clFinish(test.queue));
    after = resident();
    test_case("after %d calls", calls);
    print_message("%d calls: %ld KiB, then %ld KiB\n", calls, before, after);
    assert_int_equal(layer.object_count, objects);
    assert_int_equal(layer.allocated, blocks);
    if (after > before + 16384)
        fail_msg("%s: the process has grown from %ld to %ld KiB", test.what, before, after);
    for (which = 0; which < JOB_END; which++)
        job_free(&jobs[which]);
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

static void test_many_objects(void **state) {
    gpuscan *whole = test.gs;
    cl_uint in[64], out[64], i;
    int round, rounds = (int)test_size(20, 100, 1000);
    long before = 0, after;
    (void)state;
    memset(in, 0, sizeof in);
    for (round = 0; round < rounds; round++) {
        gpuscan *gs = layered();
        test.gs = gs;
        test_case("object %d", round);
        if (round % 4 == 0) { /* drivers build each time, which is slow and grows */
            for (i = 0; i < 64; i++)
                in[i] = i;
            test_ok(gpuscan_scan_host(gs, in, out, 64, NULL));
            assert_int_equal(out[63], 62 * 63 / 2);
        }
        test_destroy(gs);
        layer_expect_empty();
        if (round == rounds / 10)
            before = resident();
    }
    after = resident();
    test.gs = whole;
    print_message("%d objects: %ld KiB, then %ld KiB\n", rounds, before, after);
    if (after > before + 400L * rounds + 16384) /* PoCL keeps about 100 KiB of each built program */
        fail_msg("%d objects: the process has grown from %ld to %ld KiB", rounds, before, after);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 16 };

typedef struct worker {
    gpuscan *gs;
    gpuscan_result result;
    int rounds, wrong;
} worker;

/* Uses nothing of cmocka, whose checks work in the main thread only. */
static void *work(void *user) {
    worker *w = (worker *)user;
    cl_uint in[3000], out[3000], counts[256], i, sum, total;
    int round;
    for (round = 0; round < w->rounds && w->result == GPUSCAN_SUCCESS; round++) {
        for (i = 0; i < 3000; i++)
            in[i] = (i * 7 + (cl_uint)round) & 255;
        w->result = gpuscan_scan_host(w->gs, in, out, 3000, NULL);
        for (sum = 0, i = 0; i < 3000; sum += in[i], i++)
            w->wrong += out[i] != sum;
        if (w->result == GPUSCAN_SUCCESS)
            w->result = gpuscan_reduce_host(w->gs, in, &total, 3000, NULL);
        w->wrong += total != sum;
        if (w->result == GPUSCAN_SUCCESS)
            w->result = gpuscan_histogram_host(w->gs, in, counts, sizeof in, NULL);
        for (sum = 0, i = 0; i < 256; i++)
            sum += counts[i];
        w->wrong += sum != sizeof in;
    }
    return NULL;
}

static void test_threads(void **state) {
    pthread_t threads[THREADS];
    worker workers[THREADS];
    gpuscan_desc desc;
    int i, count = (int)test_size(4, THREADS, THREADS);
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    test_case("%d threads", count);
    for (i = 0; i < count; i++) {
        memset(&workers[i], 0, sizeof workers[i]);
        workers[i].rounds = (int)test_size(1, 5, 100);
        test_ok(gpuscan_create(&workers[i].gs, &desc));
    }
    call_code.is_off = 1;
    for (i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    call_code.is_off = 0;
    for (i = 0; i < count; i++) {
        if (workers[i].result != GPUSCAN_SUCCESS || workers[i].wrong)
            fail_msg("thread %d: %s: %s, %d wrong values", i, gpuscan_result_string(workers[i].result),
                     gpuscan_error(workers[i].gs), workers[i].wrong);
        test_destroy(workers[i].gs);
    }
}

static int open_trust(void **state) {
    if (test_open(state) != 0)
        return -1;
    alarm(test.is_long ? 7200 : 900); /* a call that hangs ends the program */
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_silent_tiles),    TEST(test_late_tiles),
        TEST(test_silent_conversions), TEST(test_published_prefixes),
        TEST(test_stopped_between_words),
        TEST(test_same_bits),       TEST(test_built_while_waiting),
        TEST(test_failure_between), TEST(test_odd_scratch),
        TEST(test_empty_ranges),    TEST(test_many_devices),
        TEST(test_two_devices),     TEST(test_success_without_object),
        TEST(test_many_calls),      TEST(test_many_objects),
        TEST(test_threads),
    };
    char threads[20];
    /* PoCL: two devices, and eight threads for each core */
    snprintf(threads, sizeof threads, "%ld", 8 * sysconf(_SC_NPROCESSORS_ONLN));
    setenv("POCL_DEVICES", "pthread pthread", 0);
    setenv("POCL_MAX_PTHREAD_COUNT", threads, 0);
    test_select();
    return cmocka_run_group_tests_name("trust", tests, open_trust, test_close);
}
