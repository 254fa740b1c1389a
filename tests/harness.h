/* Parts that all test programs use: one device, buffers between guards, random numbers, checks that name their case.

   Environment:
       GPUSCAN_DEVICE        a part of the name of the device to test
       GPUSCAN_TEST_SIZE     "small": for a slow simulator, with smaller sizes and shorter loops
       GPUSCAN_TEST_LONG     1: full cross products and the largest sizes
       GPUSCAN_TEST_SEED     the seed of an earlier run, to repeat it
       GPUSCAN_TEST_SHARE    N: a run takes 1/N of the combinations; 1 by default
       GPUSCAN_TEST_SECONDS  seconds of random calls for each operation in test_pairs; 0 by default
       GPUSCAN_TEST_WITHOUT  a sum of GPUSCAN_WITHOUT_...: features that the device has and the library must not use
       GPUSCAN_TEST_GROUP    the largest work-group size to use
       GPUSCAN_TEST_LOCAL    the most bytes of local memory to use
       GPUSCAN_TEST_PLANT    a mistake to build into the kernels: see test_plants.c
       GPUSCAN_TEST_HOST_AT  N: buffers use host memory, N alignments behind a cache line: see test_buffer_new
       GPUSCAN_TEST_LOG      1: print what the library logs
       GPUSCAN_TEST_ONLY     the tests to run, as a pattern such as "*edges*" */
#ifndef TEST_HARNESS_H
#define TEST_HARNESS_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* The tests call OpenCL themselves and are linked with it. The library must then use the same entry points, even if a
   simulator puts its own before the loader's. */
#ifndef GPUSCAN_LINK_OPENCL
#define GPUSCAN_LINK_OPENCL
#endif
#define GPUSCAN_IMPLEMENTATION
/* Self-tests take most of the time on a simulator, which then tests one program in several: see test_open. */
static unsigned test_tested, test_tested_step = 1;
#define GPUSCAN__SELF_TESTS (test_tested_step == 1 || test_tested++ % test_tested_step == 0)
/* Keeps clang from optimizing the library in programs that are compiled with optimization for their own loops' sake
   (see tests/run.sh): that would take longer than it saves. */
#ifdef __clang__
#pragma clang optimize off
#endif
#include "../gpuscan.h"
#ifdef __clang__
#pragma clang optimize on
#endif

#include "pieces.h"
#include "reference.h"

/* The device under test. test_open fills it, and all tests of a program share it. */
static struct test_state {
    gpuscan         *gs; /* its queue is `queue`, so that a test's reads follow the calls */
    gpuscan_info     info;
    cl_context       context;
    cl_device_id     device;
    cl_command_queue queue; /* in-order */
    int              is_small, is_long, is_simulator;
    uint64_t         seed, random, share;
    uint64_t         part;      /* 16 * share; smaller where a test would have no case: see test_run */
    int              has_share; /* the running test asked for its share */
    uint64_t         device_memory, largest_buffer;                                /* bytes */
    unsigned         refused[GPUSCAN_STRATEGY_COUNT], ran[GPUSCAN_STRATEGY_COUNT]; /* calls by strategy */
    uint32_t         announced;      /* refusals that the running test announced */
    int              is_known_wrong; /* the driver gives wrong results, and the library should find out */
    char             what[512]; /* the case that a failed check prints */
    gpuscan         *whole;     /* the object without limits while gs is one with limits; otherwise NULL */
    gpuscan_limits   limits;    /* those of gs */
    uint32_t         chunk;     /* set by test_chunk */
    const gpuscan_opencl *limited_opencl; /* entry points of an object with limits; NULL: the usual ones */
    uint64_t         name;      /* hash of the running test's name */
    unsigned         turn;      /* counts turns, from 0 in each test */
    unsigned         host_at;   /* a CPU's buffers use the host's memory: see test_buffer_new; 0: they do not */
    gpuscan_strategy strategy;  /* of the call that test_strategies runs */
    int              is_attempt; /* a failed check jumps to `back` instead of ending the test */
    int              is_quiet;   /* a failed check prints nothing */
    jmp_buf          back;
} test;

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Defines a function that returns the name of an enum's value. rows: the library's list of the values, each as a name
   and a comma. */
#define TEST_NAMES(function, type, count, rows)                                                                        \
    static inline const char *function(type value) {                                                                   \
        static const char *const names[] = {rows};                                                                     \
        return (unsigned)value < (unsigned)(count) ? names[value] : "unknown";                                         \
    }

#define TEST_TYPE_NAME(name, ...)     &#name[sizeof "TYPE"],
#define TEST_OP_NAME(name, ...)       &#name[sizeof "OP"],
#define TEST_STRATEGY_NAME(name, ...) &#name[sizeof "STRATEGY"],
TEST_NAMES(test_type_name, gpuscan_type, GPUSCAN_TYPE_COUNT, GPUSCAN__TYPES(TEST_TYPE_NAME))
TEST_NAMES(test_op_name, gpuscan_op, GPUSCAN_OP_COUNT, GPUSCAN__OPS(TEST_OP_NAME))
TEST_NAMES(test_strategy_name, gpuscan_strategy, GPUSCAN_STRATEGY_COUNT, GPUSCAN__STRATEGIES(TEST_STRATEGY_NAME))

#include "code.h"

/* Loops over an enum's types or operators of the given kinds of reference.h. */
#define TEST_EACH_TYPE(type, kinds)                                                                                    \
    for ((type) = 0; (type) < GPUSCAN_TYPE_COUNT; (type)++)                                                            \
        if (!(ref_kind((gpuscan_type)(type)) & (kinds))) {                                                             \
        } else
#define TEST_EACH_OP(op, kinds)                                                                                        \
    for ((op) = 0; (op) < GPUSCAN_OP_COUNT; (op)++)                                                                    \
        if (!(ref_op_kind((gpuscan_op)(op)) & (kinds))) {                                                              \
        } else

/* ---- checks ------------------------------------------------------------------------------------------------------ */

/* Prints C code that repeats the call: the whole case (see test_strategies), or the desc of the latest call. */
static inline void test_print_code(void) {
    if (call_code.length == 0)
        return;
    if (!call_code.of_case)
        fprintf(stderr, "the latest call:\n");
    fputs(call_code.text, stderr); /* print_error would cut it off */
    if (call_code.of_case)
        fprintf(stderr, "    test_strategies(&%s, &c, %d, %d);\n    return test_close(NULL);\n}\n", call_code.of_case,
                (int)test.strategy, (int)test.strategy);
    code_begin(NULL);
}

/* Does what cmocka's fail_msg does, and prints the call. */
#undef fail_msg
#define fail_msg(...)                                                                                                  \
    do {                                                                                                               \
        if (!test.is_quiet) {                                                                                          \
            print_error("ERROR: " __VA_ARGS__);                                                                        \
            print_error("\n");                                                                                         \
            test_print_code();                                                                                         \
        }                                                                                                              \
        if (test.is_attempt)                                                                                           \
            longjmp(test.back, 1);                                                                                     \
        fail();                                                                                                        \
    } while (0)

/* Names the present case, printf-like. Each failed check prints it. */
static inline void test_case(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(test.what, sizeof test.what, format, arguments);
    va_end(arguments);
}

/* Fails unless the result is the wanted one. */
static inline void test_expect(gpuscan_result got, gpuscan_result wanted) {
    if (got != wanted)
        fail_msg("%s: %d (%s) instead of %d (%s): %s", test.what, (int)got, gpuscan_result_string(got), (int)wanted,
                 gpuscan_result_string(wanted), test.gs ? gpuscan_error(test.gs) : "");
}

static inline void test_ok(gpuscan_result result) {
    test_expect(result, GPUSCAN_SUCCESS);
}

/* Fails unless an OpenCL call of the test itself succeeds. */
static inline void test_cl(cl_int status) {
    if (status != CL_SUCCESS)
        fail_msg("%s: the test's own OpenCL call returned %d", test.what, (int)status);
}

/* ---- the alarm --------------------------------------------------------------------------------------------------- */

/* A strategy may be refused only for a reason that gpuscan_info or the call shows. The library gives up a strategy, or
   the lanes, when a self-test fails. It blames the device, but the devices of these tests are right: the library is
   wrong. So a test fails unless it announced this. */

typedef struct test_refusals {
    uint32_t    count, strategies; /* gpuscan_info's refusals and refused */
    const char *why;
} test_refusals;

static inline test_refusals test_get_refusals(gpuscan *gs) {
    test_refusals r;
    gpuscan_info  info;
    test_ok(gpuscan_get_info(gs, &info));
    r.count = info.refusals;
    r.strategies = info.refused;
    r.why = info.refusal;
    return r;
}

/* Announces that this test makes the object give up `count` times, and why. */
static inline void test_announce_refusals(uint32_t count, const char *why) {
    test.announced += count;
    print_message("announced: %u refusals, %s\n", (unsigned)count, why);
}

/* Returns 1 if a kernel takes more local memory than the object's limits allow. A group of one work-item may take up to
   1 KiB whatever the limit. Quantiles have arrays of fixed sizes. NVIDIA's driver adds up to 16 bytes of alignment. */
static inline int test_local_alarm(const gpuscan *gs) {
    const gpuscan__program *program;
    cl_ulong                bytes;
    size_t                  k;
    for (program = gs->programs; program; program = program->next)
        for (k = 0; program->key.operation != GPUSCAN__OPERATION_quantile && k < GPUSCAN__MAX_KERNELS &&
                    program->kernels[k]; k++)
            if (gs->cl.clGetKernelWorkGroupInfo(program->kernels[k], gs->device_id, CL_KERNEL_LOCAL_MEM_SIZE,
                                                sizeof bytes, &bytes, NULL) == CL_SUCCESS &&
                bytes > gs->device.local_memory + (gs->device.vendor == 0x10de ? 16u : 0u) && bytes > 1024) {
                print_error("ALARM: %s: kernel %zu takes %" PRIu64 " bytes of local memory of %" PRIu64 "\n",
                            test.what, k, (uint64_t)bytes, gs->device.local_memory);
                return 1;
            }
    return 0;
}

/* Returns 1 if the object gave up something that no test announced, or exceeds its limits. */
static inline int test_alarm(gpuscan *gs) {
    test_refusals r = test_get_refusals(gs);
    if (test_local_alarm(gs))
        return 1;
    if (r.count == test.announced)
        return 0;
    if (test.is_known_wrong) {
        print_message("this driver is known to be wrong: %u refusals, %s\n", (unsigned)r.count, r.why);
        return 0;
    }
    print_error("ALARM: %s: %u refusals instead of %u, strategies 0x%x of which the device refuses 0x%x: %s\n",
                test.what, (unsigned)r.count, (unsigned)test.announced, (unsigned)r.strategies,
                (unsigned)gs->device.profile.facts.refused, r.why);
    return 1;
}

/* Destroys a test's object, and fails if the object gave up something that no test announced. */
static inline void test_destroy(gpuscan *gs) {
    int alarm = gs && test_alarm(gs);
    gpuscan_destroy(gs);
    if (alarm)
        fail_msg("%s: the library gave up a strategy or the lanes", test.what);
}

/* Returns whether the profile of the object under test rules the strategy out. */
static inline int test_is_refused(gpuscan_strategy strategy) {
    return test.gs->device.profile.facts.refused >> strategy & 1;
}

/* Returns the strategy; for a CPU's strategy that the device refuses, the strategy of groups with as many passes. */
static inline gpuscan_strategy test_strategy_here(gpuscan_strategy strategy) {
    if (!gpuscan__is_cpu_strategy(strategy) || !test_is_refused(strategy))
        return strategy;
    return gpuscan__is_single_pass(strategy) ? GPUSCAN_STRATEGY_SINGLE_PASS : GPUSCAN_STRATEGY_MULTI_PASS;
}

/* The test_..._refusal functions return why a call's strategy may be refused; NULL: it must run. */

static inline const char *test_device_refusal(gpuscan_strategy strategy) {
    if (test.is_known_wrong)
        return "the driver is known to be wrong";
    return test_is_refused(strategy) ? "the profile of this device refuses it" : NULL;
}

static inline int test_is_single_pass(gpuscan_strategy strategy) {
    return strategy == GPUSCAN_STRATEGY_SINGLE_PASS || strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD ||
           strategy == GPUSCAN_STRATEGY_CPU_SINGLE_PASS;
}

static inline const char *test_scan_refusal(const gpuscan_scan_desc *d) {
    int in_place = d->src.mem != NULL && d->src.mem == d->dst.mem && d->src.offset == d->dst.offset;
    if (!test_is_single_pass(d->call.strategy))
        return NULL;
    if (d->custom && d->custom->size > 64)
        return "elements of more than 64 bytes";
    if (in_place && (!test.info.has_fence || test.is_simulator)) /* a simulator runs groups in order instead */
        return "in place without a fence";
    if (d->count >> 30)
        return "2^30 tiles or more";
    return test_device_refusal(d->call.strategy);
}

static inline const char *test_reduce_refusal(const gpuscan_reduce_desc *d) {
    if (!test_is_single_pass(d->call.strategy))
        return NULL;
    if (d->custom && d->custom->size > 64)
        return "elements of more than 64 bytes";
    if (!test.info.has_fence)
        return "no fence";
    return test_device_refusal(d->call.strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD ? GPUSCAN_STRATEGY_SINGLE_PASS
                                                                                      : d->call.strategy);
}

static inline const char *test_uniform_add_refusal(const gpuscan_uniform_add_desc *d) {
    return d->call.strategy > GPUSCAN_STRATEGY_MULTI_PASS ? "uniform add has one pass" : NULL;
}

static inline const char *test_histogram_refusal(const gpuscan_histogram_desc *d) {
    /* what every profile uses, minus what a driver may take */
    uint64_t local = test.info.local_memory < 16384 + 256 ? test.info.local_memory : 16384 + 256;
    if (d->call.strategy != GPUSCAN_STRATEGY_SINGLE_PASS && d->call.strategy != GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD)
        return NULL;
    if ((d->weights.mem || d->weight) && d->counter_type == GPUSCAN_TYPE_U64)
        return "weighted sums of 64 bits";
    if (ref_counters(d) * ref_channels(d) * 4 > (local > 512 ? local - 256 : local))
        return "the bins may not fit local memory";
    return test_device_refusal(GPUSCAN_STRATEGY_SINGLE_PASS);
}

static inline const char *test_select_refusal(const gpuscan_select_desc *d) {
    if (!test_is_single_pass(d->call.strategy))
        return NULL;
    if (d->count >> 30)
        return "2^30 tiles or more";
    return test_device_refusal(d->call.strategy);
}

static inline const char *test_runs_refusal(const gpuscan_runs_desc *d) {
    size_t size = d->dst_type == GPUSCAN_TYPE_CUSTOM ? d->custom->size : 8;
    if (!test_is_single_pass(d->call.strategy))
        return NULL;
    if (d->count >> 30)
        return "2^30 tiles or more";
    if (d->dst.mem && size > 32) /* more than 64 bytes, with the numbers beside it */
        return "large results";
    return test_device_refusal(d->call.strategy);
}

static inline const char *test_sort_refusal(const gpuscan_sort_desc *d) {
    if (d->call.strategy != GPUSCAN_STRATEGY_SINGLE_PASS && d->call.strategy != GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD)
        return NULL;
    if (!test.info.has_fence)
        return "no fence";
    if (test.info.local_memory < 16384)
        return "little local memory";
    if (d->count >> 30)
        return "2^30 elements";
    return test_device_refusal(GPUSCAN_STRATEGY_SINGLE_PASS);
}

/* For operations that have only one pass, or only several. */
static inline const char *test_integral_refusal(const gpuscan_integral_desc *d) {
    return test_is_single_pass(d->call.strategy) ? "it has several passes" : NULL;
}

/* Checks a call with a strategy. Returns 1 if it ran, 0 if it was refused for a reason that holds. */
static inline int test_ran(gpuscan_result result, gpuscan_strategy strategy, const char *refusal) {
    if (!refusal)
        refusal = test_device_refusal(strategy);
    if (result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY && refusal) {
        test.refused[strategy]++;
        return 0;
    }
    if (result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
        fail_msg("%s: refused, though nothing speaks against it: %s", test.what, gpuscan_error(test.gs));
    test_ok(result);
    test.ran[strategy]++;
    return 1;
}

static inline int test_scan_ran(const gpuscan_scan_desc *d) {
    return test_ran(gpuscan_scan(test.gs, d), d->call.strategy, test_scan_refusal(d));
}

static inline int test_reduce_ran(const gpuscan_reduce_desc *d) {
    return test_ran(gpuscan_reduce(test.gs, d), d->call.strategy, test_reduce_refusal(d));
}

static inline int test_uniform_add_ran(const gpuscan_uniform_add_desc *d) {
    return test_ran(gpuscan_uniform_add(test.gs, d), d->call.strategy, test_uniform_add_refusal(d));
}

static inline int test_histogram_ran(const gpuscan_histogram_desc *d) {
    return test_ran(gpuscan_histogram(test.gs, d), d->call.strategy, test_histogram_refusal(d));
}

static inline int test_select_ran(const gpuscan_select_desc *d) {
    return test_ran(gpuscan_select(test.gs, d), d->call.strategy, test_select_refusal(d));
}

static inline int test_runs_ran(const gpuscan_runs_desc *d) {
    return test_ran(gpuscan_runs(test.gs, d), d->call.strategy, test_runs_refusal(d));
}

static inline int test_sort_ran(const gpuscan_sort_desc *d) {
    return test_ran(gpuscan_sort(test.gs, d), d->call.strategy, test_sort_refusal(d));
}

static inline const char *test_quantile_refusal(const gpuscan_quantile_desc *d) {
    return test_is_single_pass(d->call.strategy) ? "it has no look-back" : NULL;
}

static inline int test_quantile_ran(const gpuscan_quantile_desc *d) {
    return test_ran(gpuscan_quantile(test.gs, d), d->call.strategy, test_quantile_refusal(d));
}

static inline int test_integral_ran(const gpuscan_integral_desc *d) {
    return test_ran(gpuscan_integral(test.gs, d), d->call.strategy, test_integral_refusal(d));
}

/* ---- shares ------------------------------------------------------------------------------------------------------ */

/* An operation's cases: functions that set a case up, run it and take it down, and the code that repeats it. */
typedef struct test_operation {
    const char *name, *type; /* of this struct and, with ".h", of its header; of the cases */
    void *(*set_up)(const void *given);
    int (*run)(void *set, gpuscan_strategy strategy);
    void (*take_down)(void *set);
    void (*code)(const void *given); /* adds code that assigns the fields of a case c */
} test_operation;

static inline void test_case_code(const test_operation *operation, const void *given) {
    code_begin(operation->name);
    code_add("/* cc -Itests this.c -lcmocka -lOpenCL -lm */\n#include \"%s.h\"\n\nint main(void) {\n    %s c;\n"
             "    memset(&c, 0, sizeof c);\n    test_open(NULL);\n",
             operation->name, operation->type);
    if (test.whole)
        code_add("    static const gpuscan_limits limits = {%zu, %" PRIu64 ", %u, %u};\n    test_limit(&limits);\n",
                 test.limits.work_group_size, test.limits.local_memory, (unsigned)test.limits.without,
                 (unsigned)test.limits.lanes);
    if (test.chunk)
        code_add("    test_chunk(%u);\n", (unsigned)test.chunk);
    operation->code(given);
    code_add("    test.random = UINT64_C(0x%" PRIx64 ");\n", test.random);
}

static inline int test_is_cpu(void) {
    return (test.gs->device.type & CL_DEVICE_TYPE_CPU) != 0;
}

/* Programs take a CPU's compiler long. So each test of a run with a small share takes AUTO and one row of this table,
   which the test's name and the seed choose:
       0  several passes on groups
       1  one pass on groups, with look-back and ahead
       2  several passes on a CPU
       3  one pass on a CPU */
static inline int test_takes_all_strategies(void) {
    return test.is_long || test.share < 64 || !test_is_cpu();
}

static inline int test_takes_strategy(int strategy) {
    static const uint64_t turns[GPUSCAN_STRATEGY_COUNT] = {0, 0, 1, 1, 2, 3};
    if (test_is_refused((gpuscan_strategy)strategy))
        return 0;
    return test_takes_all_strategies() || strategy == GPUSCAN_STRATEGY_AUTO ||
           (test.seed + test.name) % 4 == turns[strategy];
}

/* Returns whether a test takes case `number`: one in `of`, which the test's name and the seed choose. */
static inline int test_takes_one_of(uint64_t of, uint64_t number) {
    return test_takes_all_strategies() || (test.seed + test.name + number) % of == 0;
}

#define TEST_EACH_STRATEGY(s)                                                                                          \
    for ((s) = 0; (s) < GPUSCAN_STRATEGY_COUNT; (s)++)                                                                 \
        if (!test_takes_strategy((int)(s))) {                                                                          \
        } else

/* Sets a case up, runs it with the strategies from first to last, and takes it down. Of several strategies it runs
   those that test_takes_strategy picks. All tests loop over strategies here or by TEST_EACH_STRATEGY. Returns 0 if the
   last strategy was refused. */
static inline int test_strategies(const test_operation *operation, const void *given, int first, int last) {
    void *set;
    int   s, ran = 0;
    test_case_code(operation, given);
    test.strategy = (gpuscan_strategy)first;
    set = operation->set_up(given);
    for (s = first; s <= last; s++)
        if (first == last || test_takes_strategy(s)) {
            test.strategy = (gpuscan_strategy)s;
            ran = operation->run(set, (gpuscan_strategy)s);
        }
    operation->take_down(set);
    code_begin(NULL);
    return ran;
}

static inline void test_all_strategies(const test_operation *operation, const void *given) {
    test_strategies(operation, given, 0, GPUSCAN_STRATEGY_COUNT - 1);
}

/* Runs a case with one strategy, or with AUTO if the device refuses that; in a long run with all of them. */
static inline void test_one_strategy(const test_operation *operation, const void *given, gpuscan_strategy strategy) {
    if (test.is_long)
        test_all_strategies(operation, given);
    else if (!test_strategies(operation, given, (int)strategy, (int)strategy))
        test_strategies(operation, given, GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_AUTO);
}

/* Returns the next strategy, in turn. */
static inline gpuscan_strategy test_next_strategy(void) {
    return (gpuscan_strategy)(1 + test.turn++ % (GPUSCAN_STRATEGY_COUNT - 1));
}

/* Returns whether the run takes a combination. Each combination is a program to build. So a run takes one in `of` times
   the share, which the seed chooses, and at least one in each test: see test_run. A long run takes all. */
static inline int test_share(uint64_t combination, uint64_t of) {
    test.has_share = 1;
    return test.is_long || (combination + test.seed) % ((of * test.part + 15) / 16) == 0;
}

/* Returns the strategy with which a type and an operator run by default. */
static inline gpuscan_strategy test_pair_strategy(gpuscan_type type, gpuscan_op op) {
    return (gpuscan_strategy)(1 + ((uint64_t)type + (uint64_t)op + test.seed) % (GPUSCAN_STRATEGY_COUNT - 1));
}

/* Return whether the run takes a type and an operator, with or without a strategy. By default each type is summed, and
   combined by the operators that test_share picks, with one strategy each: test_pair_strategy. u32 is summed with all
   strategies. */
static inline int test_pair_in_run(gpuscan_type type, gpuscan_op op) {
    return op == GPUSCAN_OP_ADD || test_share((uint64_t)type + (uint64_t)op, 3);
}

static inline int test_in_run(gpuscan_type type, gpuscan_op op, gpuscan_strategy strategy) {
    if (test.is_long)
        return 1;
    if (op == GPUSCAN_OP_ADD && !test.is_small && type == GPUSCAN_TYPE_U32)
        return 1;
    return strategy == test_pair_strategy(type, op) && test_pair_in_run(type, op);
}

static inline int test_is_pocl(void) {
    return strstr(test.info.platform_name, "Portable Computing Language") != NULL;
}

/* Returns whether PoCL optimizes the kernels. */
static inline int test_pocl_optimizes(void) {
    const char *flags = getenv("POCL_EXTRA_BUILD_FLAGS");
    return test_is_pocl() && !(flags && strstr(flags, "-cl-opt-disable"));
}

/* Returns whether the device has this type. Only f64 may be missing. */
static inline int test_has_type(gpuscan_type type) {
    return type != GPUSCAN_TYPE_F64 || test.info.has_f64;
}

/* Fails unless the bytes are equal. The message names the first element that differs. */
static inline void test_same_bytes(const void *got, const void *wanted, size_t element, uint64_t count) {
    const unsigned char *g = (const unsigned char *)got, *w = (const unsigned char *)wanted;
    uint64_t             i = 0;
    size_t               b;
    char                 hex[2][2 * 40 + 1];
    if (count == 0 || memcmp(got, wanted, (size_t)count * element) == 0)
        return;
    while (memcmp(g + (size_t)i * element, w + (size_t)i * element, element) == 0)
        i++;
    for (b = 0; b < element && b < 40; b++) {
        snprintf(hex[0] + 2 * b, 3, "%02x", g[(size_t)i * element + b]);
        snprintf(hex[1] + 2 * b, 3, "%02x", w[(size_t)i * element + b]);
    }
    fail_msg("%s: element %" PRIu64 " of %" PRIu64 " holds the bytes %s instead of %s", test.what, i, count, hex[0],
             hex[1]);
}

/* Fails unless the values are equal: integers bit by bit, floats by ==, and any NaN equals any other. */
static inline void test_same(gpuscan_type type, const void *got, const void *wanted, uint64_t count) {
    uint64_t  i;
    ref_value g, w;
    if (count == 0 || memcmp(got, wanted, (size_t)count * ref_size(type)) == 0)
        return;
    if (!ref_is_float(type))
        test_same_bytes(got, wanted, ref_size(type), count);
    for (i = 0; i < count; i++) {
        g = ref_load(type, got, i);
        w = ref_load(type, wanted, i);
        if (g.real != w.real && !(isnan(g.real) && isnan(w.real)))
            fail_msg("%s: element %" PRIu64 " of %" PRIu64 " is %.17g instead of %.17g", test.what, i, count, g.real,
                     w.real);
    }
}

/* ---- sizes and random numbers ------------------------------------------------------------------------------------ */

/* Returns one of three numbers: for a simulator, for the default run, or for the long run. */
static inline uint64_t test_size(uint64_t small, uint64_t normal, uint64_t large) {
    return test.is_small ? small : test.is_long ? large : normal;
}

/* Returns 64 evenly distributed bits: a linear congruential generator whose high bits are folded into the low ones. */
static inline uint64_t test_random(void) {
    uint64_t x;
    test.random = test.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    x = test.random;
    x ^= x >> 32;
    x *= UINT64_C(0x9E3779B97F4A7C15);
    return x ^ (x >> 29);
}

/* Returns a number from 0 to limit - 1. */
static inline uint64_t test_below(uint64_t limit) {
    return test_random() % limit;
}

/* Returns a number in [0, 1), in steps of 2^-53. */
static inline double test_unit(void) {
    return (double)(test_random() >> 11) * (1.0 / 9007199254740992.0);
}

static inline void test_random_bytes(void *data, size_t size) {
    unsigned char *bytes = (unsigned char *)data;
    uint64_t       x = 0;
    size_t         i;
    for (i = 0; i < size; i++, x >>= 8) {
        if (i % 8 == 0)
            x = test_random();
        bytes[i] = (unsigned char)(x & 255);
    }
}

/* Fills data with values whose results are exact in any order of combination, for up to 2^20 elements, and differ from
   position to position:
       sums      small whole floats; any integers
       products  floats whose exponents cancel; odd integers
       extremes  values that rise or fall slowly, so that the extreme keeps moving
       bits      all equal, but each bit flips at one position */
static inline void test_fill(gpuscan_type type, gpuscan_op op, void *data, uint64_t count) {
    static const double factors[4] = {2, 4, 8, 0.015625};
    unsigned            factor = 0;
    unsigned            width = (unsigned)(8 * ref_size(type)), b;
    uint64_t            i, at;
    double              place;
    ref_value           v;
    for (i = 0; i < count; i++) {
        v.bits = test_random();
        if (op == GPUSCAN_OP_MIN || op == GPUSCAN_OP_MAX) {
            place = ((double)i + 0.5) / (double)count;
            place = 0.9 * (op == GPUSCAN_OP_MAX ? place : 1 - place) + 0.1 * test_unit();
            if (ref_is_float(type))
                v.real = floor(place * 2000) - 1000;
            else
                v.bits = (uint64_t)ldexp(place, (int)width) - (ref_is_signed(type) ? UINT64_C(1) << (width - 1) : 0);
        } else if (op == GPUSCAN_OP_AND || op == GPUSCAN_OP_OR) {
            v.bits = op == GPUSCAN_OP_AND ? ~UINT64_C(0) : 0;
        } else if (ref_is_float(type) && op == GPUSCAN_OP_MUL) { /* 60 factors: no choice of them overflows */
            v.real = i * 60 / count != (i + 1) * 60 / count ? factors[factor++ % 4] : v.bits & 1 ? 1 : -1;
        } else if (ref_is_float(type)) {
            v.real = (double)(v.bits % 17) - 8;
        } else if (op == GPUSCAN_OP_MUL) {
            v.bits |= 1;
        }
        ref_store(type, data, i, v);
    }
    if (count > 0 && (op == GPUSCAN_OP_AND || op == GPUSCAN_OP_OR))
        for (b = 0; b < width; b++) {
            at = test_below(count);
            v = ref_load(type, data, at);
            v.bits ^= UINT64_C(1) << b;
            ref_store(type, data, at, v);
        }
}

/* Returns a value for inits that the operator does not ignore. */
static inline ref_value test_init_value(gpuscan_type type, gpuscan_op op) {
    switch (op) {
    case GPUSCAN_OP_MIN: /* about the middle of test_fill's values, so that it matters for a while */
    case GPUSCAN_OP_MAX:
        return ref_is_float(type)    ? ref_real(-3)
               : ref_is_signed(type) ? ref_wrap(type, ~UINT64_C(0) - 4)
                                     : ref_bits(ref_largest(type).bits / 2 + 5);
    case GPUSCAN_OP_MUL:
        return ref_is_float(type) ? ref_real(-0.5) : ref_wrap(type, ~UINT64_C(0) - 6);
    case GPUSCAN_OP_AND:
        return ref_wrap(type, ~UINT64_C(0) - 32);
    case GPUSCAN_OP_OR:
        return ref_bits(64);
    case GPUSCAN_OP_ADD:
    case GPUSCAN_OP_XOR:
    case GPUSCAN_OP_CUSTOM: /* this and the following have no builtin type's identity: any number will do */
    case GPUSCAN_OP_ARGMIN:
    case GPUSCAN_OP_ARGMAX:
    case GPUSCAN_OP_COUNT:
        break;
    }
    return ref_is_float(type) ? ref_real(-11) : ref_bits(101);
}

/* Returns whether an operator exists for this type: the bitwise ones are for integers. */
static inline int test_op_fits(gpuscan_type type, gpuscan_op op) {
    return !(ref_is_float(type) && ref_op_kind(op) == REF_BITS);
}

/* Allocates host memory, at least 1 byte, or fails the test. */
static inline void *test_alloc(uint64_t size) {
    void *memory = malloc(size ? (size_t)size : 1);
    if (memory == NULL) /* not assert_non_null: a static analyser would not see that it ends the test */
        fail_msg("%s: %" PRIu64 " bytes of host memory", test.what, size);
    return memory;
}

/* Returns all pieces of the kernels as programs have them, for the caller to free. */
static inline char *test_kernels_text(void) {
    char *text = pieces_text();
    if (!text)
        fail_msg("no memory for the kernels' text");
    return text;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* A device buffer of count elements at an offset, between guards. All bytes before the data, and TEST_GUARD bytes
   behind it, hold a pattern that no call may change. test_buffer_set sets offset and count.
       | guard: offset elements | data: count elements | guard: TEST_GUARD bytes | */
enum { TEST_GUARD = 256, TEST_OFFSET_MAX = 64 };

typedef struct test_buffer {
    gpuscan_buffer at; /* goes into a desc */
    size_t         element;
    uint64_t       count;
    size_t         capacity; /* bytes */
    unsigned char *host;     /* capacity bytes: a copy, as last written or read */
    unsigned char *memory;   /* the host memory that the buffer uses; NULL: the driver allocates it */
} test_buffer;

static inline unsigned char test_pattern(size_t position) {
    return (unsigned char)((position * 37 + (position >> 8) * 11 + 0xA5) & 255);
}

/* Creates another queue for a test. */
static inline cl_command_queue test_queue_new(cl_command_queue_properties properties) {
    cl_int status = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(test.context, test.device, properties, &status);
    test_cl(status);
    return queue;
}

static inline int test_has_unordered(void) {
    cl_command_queue_properties properties = 0;
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof properties, &properties, NULL));
    return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

/* Makes room for count elements at offsets up to TEST_OFFSET_MAX. flags: CL_MEM_READ_WRITE, ... With test.host_at the
   memory is the host's and begins host_at alignments behind a line of 64 bytes. The alignment is that of the element;
   of single bytes, which may be scratch, it is 64. */
static inline test_buffer test_buffer_new(cl_mem_flags flags, size_t element, uint64_t count) {
    const size_t alignment = element == 1 ? 64 : (element | 16) & (~(element | 16) + 1);
    test_buffer  buffer;
    cl_int       status = CL_SUCCESS;
    void        *at = NULL;
    buffer.element = element;
    buffer.count = 0;
    buffer.capacity = (size_t)(count + TEST_OFFSET_MAX) * element + TEST_GUARD;
    buffer.host = (unsigned char *)test_alloc(buffer.capacity);
    buffer.at.offset = 0;
    buffer.memory = test.host_at ? (unsigned char *)test_alloc(buffer.capacity + test.host_at * alignment + 64) : NULL;
    if (buffer.memory) {
        flags |= CL_MEM_USE_HOST_PTR;
        at = buffer.memory + (64 - (uintptr_t)buffer.memory % 64) + test.host_at * alignment;
    }
    buffer.at.mem = clCreateBuffer(test.context, flags, buffer.capacity, at, &status);
    test_cl(status);
    return buffer;
}

static inline void test_buffer_free(test_buffer *buffer) {
    if (buffer->at.mem && !test.is_simulator) /* see test_create_kept */
        clReleaseMemObject(buffer->at.mem);
    free(buffer->host);
    free(buffer->memory);
    memset(buffer, 0, sizeof *buffer);
}

/* Writes data and guards to the device. data NULL: the data are the pattern, too, so that a test sees whether a call
   changed them. */
static inline void test_buffer_set(test_buffer *buffer, uint64_t offset, uint64_t count, const void *data) {
    size_t before = (size_t)offset * buffer->element, size = (size_t)count * buffer->element, i;
    if (before + size + TEST_GUARD > buffer->capacity)
        fail_msg("%s: the test's buffer is too small", test.what);
    buffer->at.offset = offset;
    buffer->count = count;
    for (i = 0; i < before; i++)
        buffer->host[i] = test_pattern(i);
    if (data)
        memcpy(buffer->host + before, data, size);
    for (i = before + (data ? size : 0); i < before + size + TEST_GUARD; i++)
        buffer->host[i] = test_pattern(i);
    test_cl(clEnqueueWriteBuffer(test.queue, buffer->at.mem, CL_TRUE, 0, before + size + TEST_GUARD, buffer->host, 0,
                                 NULL, NULL));
}

/* Reads the data back and returns it, valid until the next get, set or free. Fails if a guard has changed. */
static inline void *test_buffer_get(test_buffer *buffer) {
    size_t before = (size_t)buffer->at.offset * buffer->element, size = (size_t)buffer->count * buffer->element, i;
    test_cl(clEnqueueReadBuffer(test.queue, buffer->at.mem, CL_TRUE, 0, before + size + TEST_GUARD, buffer->host, 0,
                                NULL, NULL));
    for (i = 0; i < before; i++)
        if (buffer->host[i] != test_pattern(i))
            fail_msg("%s: the guard %zu bytes before the data was written", test.what, before - i);
    for (i = before + size; i < before + size + TEST_GUARD; i++)
        if (buffer->host[i] != test_pattern(i))
            fail_msg("%s: the guard %zu bytes behind the data was written", test.what, i - before - size + 1);
    return buffer->host + before;
}

/* Returns a 2D image that holds the data; data NULL: its contents are undefined. */
static inline cl_mem test_image_new(cl_context context, cl_mem_flags flags, cl_channel_order order,
                                    cl_channel_type type, uint64_t width, uint64_t height, const void *data) {
    cl_image_format format;
    cl_image_desc desc;
    cl_int status = CL_SUCCESS;
    cl_mem made;
    memset(&desc, 0, sizeof desc);
    format.image_channel_order = order;
    format.image_channel_data_type = type;
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = (size_t)width;
    desc.image_height = (size_t)height;
    made = clCreateImage(context, flags | (data ? CL_MEM_COPY_HOST_PTR : 0), &format, &desc, (void *)(uintptr_t)data,
                         &status);
    test_cl(status);
    return made;
}

/* Extras of a call: the caller's scratch with garbage in it and guards around it, an event to wait for, and an event
   that the call returns. */
typedef enum test_scratch_choice {
    SCRATCH_OBJECT = 0,
    SCRATCH_CALLER,
    SCRATCH_REST /* at an offset, up to the buffer's end */
} test_scratch_choice;

typedef struct test_extras {
    test_buffer scratch;
    cl_event    before, after;
} test_extras;

/* query and size: result and value of the operation's scratch_size function. */
static inline void test_extras_begin(test_extras *extras, gpuscan_call *call, test_scratch_choice scratch, int events,
                                     gpuscan_result query, uint64_t size) {
    unsigned char *garbage;
    memset(extras, 0, sizeof *extras);
    if (query != GPUSCAN_SUCCESS)
        size = 0; /* refused: the call says why */
    /* Oclgrind 21.10 takes a buffer for uninitialised once something (the library's zeros) was written at an offset */
    if (test.is_simulator && scratch == SCRATCH_REST)
        scratch = SCRATCH_CALLER;
    if (scratch != SCRATCH_OBJECT) {
        garbage = (unsigned char *)test_alloc(size);
        test_random_bytes(garbage, (size_t)size);
        extras->scratch = test_buffer_new(CL_MEM_READ_WRITE, 1, size);
        test_buffer_set(&extras->scratch, scratch == SCRATCH_REST ? 64 : 0, size, garbage);
        call->scratch = extras->scratch.at;
        call->scratch_size = scratch == SCRATCH_REST ? 0 : size;
        free(garbage);
    }
    if (events) {
        test_cl(clEnqueueMarkerWithWaitList(test.queue, 0, NULL, &extras->before));
        call->queue = test.queue;
        call->wait_count = 1;
        call->wait_list = &extras->before;
        call->event = &extras->after;
    }
}

/* Resets the call, except its values and sources. */
static inline void test_extras_end(test_extras *extras, gpuscan_call *call, int ran) {
    cl_int status = CL_QUEUED;
    const gpuscan_call before = *call;
    if (call->event) {
        if ((extras->after != NULL) != ran)
            fail_msg("%s: %s event", test.what, ran ? "no" : "an");
        clReleaseEvent(extras->before);
    }
    if (extras->after) {
        test_cl(clWaitForEvents(1, &extras->after));
        test_cl(clGetEventInfo(extras->after, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        if (status != CL_COMPLETE)
            fail_msg("%s: the event says %d", test.what, (int)status);
        clReleaseEvent(extras->after);
    }
    if (extras->scratch.at.mem) {
        test_buffer_get(&extras->scratch); /* checks the guards */
        test_buffer_free(&extras->scratch);
    }
    memset(call, 0, sizeof *call);
    call->values = before.values;
    call->values_size = before.values_size;
    call->sources = before.sources;
    call->source_count = before.source_count;
}

/* Fills the first size bytes of a buffer with a pattern, from the host: NVIDIA's clEnqueueFillBuffer takes only the
   lower 32 bits of a size, and of an offset if the pattern is one byte. */
static inline void test_fill_buffer(cl_mem mem, const void *pattern, size_t pattern_size, uint64_t size) {
    const size_t   most = (size_t)1 << 24;
    unsigned char *part = (unsigned char *)test_alloc(most);
    uint64_t       at;
    assert_int_equal(most % pattern_size, 0);
    for (at = 0; at < most; at += pattern_size)
        memcpy(part + at, pattern, pattern_size);
    for (at = 0; at < size; at += most)
        test_cl(clEnqueueWriteBuffer(test.queue, mem, CL_TRUE, (size_t)at,
                                     size - at < most ? (size_t)(size - at) : most, part, 0, NULL, NULL));
    free(part);
}

/* Returns a buffer with a count for the device to read; type 0: no buffer. */
static inline test_buffer test_count_buffer(gpuscan_type type, uint64_t count) {
    test_buffer buffer;
    cl_ulong    number = 0;
    memset(&buffer, 0, sizeof buffer);
    if (type) {
        buffer = test_buffer_new(CL_MEM_READ_ONLY, ref_size(type), 1);
        ref_store(type, &number, 0, ref_bits(count));
        test_buffer_set(&buffer, 3, 1, &number);
    }
    return buffer;
}

/* Fails unless data and guards are still the pattern of test_buffer_set(..., NULL). */
static inline void test_buffer_untouched(test_buffer *buffer) {
    size_t         before = (size_t)buffer->at.offset * buffer->element;
    size_t         size = (size_t)buffer->count * buffer->element, i;
    unsigned char *data = (unsigned char *)test_buffer_get(buffer);
    for (i = 0; i < size; i++)
        if (data[i] != test_pattern(before + i))
            fail_msg("%s: byte %zu of a buffer that must stay as it was has changed", test.what, i);
}

/* Ends a call with wrong u32 offsets, whose results may be anything. Fails if it changed src, the offsets, or a guard
   of dst or of its scratch. */
static inline void test_wrong_offsets_end(test_extras *extras, gpuscan_call *call, int ran, test_buffer *src,
                                          test_buffer *dst, test_buffer *offsets, const uint32_t *at) {
    test_buffer_get(dst);
    test_extras_end(extras, call, ran);
    test_buffer_untouched(src);
    test_same_bytes(test_buffer_get(offsets), at, 4, offsets->count);
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

static inline uint64_t test_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* Sets GPUSCAN_DEVICE, or unsets it (NULL). Returns its old value, for test_want_back to restore and free. */
static inline char *test_want_device(const char *name) {
    const char *wanted = getenv("GPUSCAN_DEVICE");
    char *before = wanted ? strdup(wanted) : NULL;
    if (name)
        setenv("GPUSCAN_DEVICE", name, 1);
    else
        unsetenv("GPUSCAN_DEVICE");
    return before;
}
static inline void test_want_back(char *before) {
    free(test_want_device(before));
    free(before);
}

static inline void test_log(gpuscan_log_level level, const char *message, void *user) {
    (void)user;
    print_message("%s: %s\n",
                  level == GPUSCAN_LOG_ERROR     ? "error"
                  : level == GPUSCAN_LOG_WARNING ? "warning"
                                                 : "info",
                  message);
}

/* Plants the mistake %s: GPUSCAN_PLANTED(name) becomes 1 for this name and 0 for others. For this name the comma moves
   the 1 to the second place. */
#define TEST_PLANT_FORMAT                                                                                              \
    "#define GPUSCAN_TEST_SECOND(a, b, ...) b\n"                                                                       \
    "#define GPUSCAN_TEST_SECOND_OF(a) GPUSCAN_TEST_SECOND(a 1, 0, 0)\n"                                               \
    "#define GPUSCAN_PLANTED(name) GPUSCAN_TEST_SECOND_OF(GPUSCAN_TEST_PLANT_##name)\n"                                \
    "#define GPUSCAN_TEST_PLANT_%s 0,\n"

/* Puts a text before all programs: a planted mistake (see GPUSCAN_TEST_PLANT), or other macros. */
static const char *test_first_text;
static inline cl_program CL_API_CALL test_source_with_text(cl_context context, cl_uint count, const char **lines,
                                                           const size_t *lengths, cl_int *status) {
    const char **more = (const char **)test_alloc((count + 1) * sizeof *more);
    cl_program   made;
    (void)lengths;
    more[0] = test_first_text;
    memcpy(more + 1, lines, count * sizeof *lines);
    made = clCreateProgramWithSource(context, count + 1, more, NULL, status);
    free(more);
    return made;
}

/* Oclgrind 21.10 records wrongly which bytes of a buffer are initialised; bytes beyond the record count as
   uninitialised:
       a write by the host           replaces the record by one as long as the data
       a fill                        makes no record
       a new buffer at the address   inherits the record of the released one
   So the tests never release a buffer there, and a kernel clears parts of buffers: that records the whole buffer. */
static inline cl_mem CL_API_CALL test_create_kept(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                                  cl_int *status) {
    cl_mem mem = clCreateBuffer(context, flags, size, host, status);
    if (mem)
        clRetainMemObject(mem);
    return mem;
}

static inline cl_int test_clear_by_kernel(cl_command_queue queue, cl_mem mem, size_t offset, size_t size,
                                          cl_uint wait_count, const cl_event *waits, cl_event *event) {
    static const char *source = "kernel void test_clear(global uint *p, ulong first) {\n"
                                "    p[first + get_global_id(0)] = 0;\n"
                                "}\n";
    cl_ulong   first = offset / 4;
    size_t     words = size / 4;
    cl_context context = NULL;
    cl_program program;
    cl_kernel  kernel = NULL;
    cl_int     status = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    if (status != CL_SUCCESS || (program = clCreateProgramWithSource(context, 1, &source, NULL, &status)) == NULL)
        return status;
    if ((status = clBuildProgram(program, 0, NULL, "", NULL, NULL)) == CL_SUCCESS)
        kernel = clCreateKernel(program, "test_clear", &status);
    if (kernel && (status = clSetKernelArg(kernel, 0, sizeof mem, &mem)) == CL_SUCCESS &&
        (status = clSetKernelArg(kernel, 1, sizeof first, &first)) == CL_SUCCESS)
        status = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &words, NULL, wait_count, waits, event);
    if (kernel)
        clReleaseKernel(kernel);
    clReleaseProgram(program);
    return status;
}

/* Returns whether the data are zeros for [offset, offset + size), and this range is whole words and not all of mem. */
static inline int test_is_part_cleared(cl_mem mem, size_t offset, size_t size, const void *data, size_t data_size) {
    const unsigned char *bytes = (const unsigned char *)data;
    size_t               all = 0, i;
    if (clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof all, &all, NULL) != CL_SUCCESS || size == 0 || size > all ||
        offset > all - size || size == all || offset % 4 != 0 || size % 4 != 0)
        return 0;
    for (i = 0; i < data_size && bytes[i] == 0; i++)
        ;
    return i == data_size;
}

static inline cl_int CL_API_CALL test_write_recorded(cl_command_queue queue, cl_mem mem, cl_bool blocks, size_t offset,
                                                     size_t size, const void *data, cl_uint wait_count,
                                                     const cl_event *waits, cl_event *event) {
    cl_int status;
    if (!test_is_part_cleared(mem, offset, size, data, size))
        return clEnqueueWriteBuffer(queue, mem, blocks, offset, size, data, wait_count, waits, event);
    status = test_clear_by_kernel(queue, mem, offset, size, wait_count, waits, event);
    return status == CL_SUCCESS && blocks ? clFinish(queue) : status;
}

static inline cl_int CL_API_CALL test_fill_recorded(cl_command_queue queue, cl_mem mem, const void *pattern,
                                                    size_t pattern_size, size_t offset, size_t size, cl_uint wait_count,
                                                    const cl_event *waits, cl_event *event) {
    static const unsigned char zeros[1 << 20] = {0};
    if (test_is_part_cleared(mem, offset, size, pattern, pattern_size))
        return test_clear_by_kernel(queue, mem, offset, size, wait_count, waits, event);
    if (size > sizeof zeros || memcmp(pattern, zeros, pattern_size) != 0)
        return clEnqueueFillBuffer(queue, mem, pattern, pattern_size, offset, size, wait_count, waits, event);
    return clEnqueueWriteBuffer(queue, mem, CL_FALSE, offset, size, zeros, wait_count, waits, event);
}

/* Sets all entry points to those that the test links. */
static inline void test_real_opencl(gpuscan_opencl *table) {
#define TEST_ENTRY_POINT(name, result, parameters) table->name = name;
    GPUSCAN_OPENCL_FUNCTIONS(TEST_ENTRY_POINT)
#undef TEST_ENTRY_POINT
}

/* Returns the entry points of the object under test; NULL: the usual ones. */
static inline const gpuscan_opencl *test_opencl(void) {
    static gpuscan_opencl table;
    static char           line[320];
    const char           *plant = getenv("GPUSCAN_TEST_PLANT");
    if (!plant && !test.is_simulator)
        return NULL;
    test_real_opencl(&table);
    if (plant) {
        snprintf(line, sizeof line, TEST_PLANT_FORMAT, plant);
        test_first_text = line;
        table.clCreateProgramWithSource = test_source_with_text;
    }
    if (test.is_simulator) {
        table.clCreateBuffer = test_create_kept;
        table.clEnqueueWriteBuffer = test_write_recorded;
        table.clEnqueueFillBuffer = test_fill_recorded;
    }
    return &table;
}

/* Opens the device: context and queue of the test, then the object on them. A cmocka group setup: returns 0 on
   success. */
static inline int test_open(void **state) {
    gpuscan     *probe = NULL;
    gpuscan_info info;
    gpuscan_desc desc;
    const char  *size = getenv("GPUSCAN_TEST_SIZE");
    char         error[1024] = "";
    cl_ulong     bytes = 0;
    cl_int       status = CL_SUCCESS;
    (void)state;
    memset(&desc, 0, sizeof desc);
    desc.error = error;
    desc.error_size = sizeof error;
    desc.limits.without = (uint32_t)test_environment("GPUSCAN_TEST_WITHOUT", 0);
    desc.limits.work_group_size = (size_t)test_environment("GPUSCAN_TEST_GROUP", 0);
    desc.limits.local_memory = test_environment("GPUSCAN_TEST_LOCAL", 0);
    if (test_environment("GPUSCAN_TEST_LOG", 0))
        desc.logger.log = test_log;
    if (gpuscan_create(&probe, &desc) != GPUSCAN_SUCCESS || gpuscan_get_info(probe, &info) != GPUSCAN_SUCCESS) {
        print_error("no device: %s\n", error);
        return -1;
    }
    test.is_simulator = strcmp(info.profile, "simulator") == 0; /* Oclgrind */
    test.context = info.context;
    test.device = info.device;
    clRetainContext(test.context);
    gpuscan_destroy(probe);

    test.queue = clCreateCommandQueue(test.context, test.device, 0, &status);
    desc.context = test.context;
    desc.device = test.device;
    desc.queue = test.queue;
    desc.opencl = test_opencl();
    if (status != CL_SUCCESS || gpuscan_create(&test.gs, &desc) != GPUSCAN_SUCCESS ||
        gpuscan_get_info(test.gs, &test.info) != GPUSCAN_SUCCESS) {
        print_error("no object on a context and queue of the test: %s\n", error);
        return -1;
    }
    /* Mesa 22.3 compiles loops over a struct's bytes wrong, in one pass and in several ("Treating load_kernel_arg in
       control flow as uniform, results may be incorrect"). Self-tests fail there, as they should. */
    test.is_known_wrong = strcmp(test.info.profile, "llvmpipe") == 0;
    clGetDeviceInfo(test.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    test.device_memory = bytes;
    clGetDeviceInfo(test.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof bytes, &bytes, NULL);
    test.largest_buffer = bytes;
    test.is_small = size != NULL && strcmp(size, "small") == 0;
    test.is_long = test_environment("GPUSCAN_TEST_LONG", 0) != 0;
    test.share = test_environment("GPUSCAN_TEST_SHARE", 1);
    if (test.share == 0)
        test.share = 1;
    test.part = 16 * test.share;
    test.seed = test_environment("GPUSCAN_TEST_SEED", (uint64_t)time(NULL) % 1000000000);
    test_tested_step = test.is_simulator && test.share >= 64 ? 4 : 1;
    test_tested = (unsigned)(test.seed % 4);
    test.random = test.seed;
    print_message("%s, %s, seed %" PRIu64 "\n", test.info.device_name, test.info.profile, test.seed);
    return 0;
}

/* Replaces gs up to the end of the test by an object with these limits, on the same context and queue. */
static inline void test_limit(const gpuscan_limits *limits) {
    gpuscan     *limited = NULL, *before = test.gs;
    gpuscan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    desc.queue = test.queue;
    desc.limits = *limits;
    desc.opencl = test.limited_opencl ? test.limited_opencl : test_opencl();
    if (test_environment("GPUSCAN_TEST_LOG", 0))
        desc.logger.log = test_log;
    test_ok(gpuscan_create(&limited, &desc));
    test.gs = limited;
    test.limits = *limits;
    if (!test.whole)
        test.whole = before;
    else
        test_destroy(before); /* last, since it may fail, and test_end then destroys test.gs */
    test_ok(gpuscan_get_info(test.gs, &test.info));
}

/* Creates an object whose lanes exchange values through local memory. */
static inline gpuscan *test_with_lanes(void) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    memset(&desc, 0, sizeof desc);
    desc.context = test.context;
    desc.device = test.device;
    desc.limits.lanes = 32;
    test_ok(gpuscan_create(&gs, &desc));
    return gs;
}

/* Sets the bytes of a CPU strategy's tiles from here on. */
static inline void test_chunk(uint32_t chunk) {
    test.chunk = test.gs->device.profile.cpu.chunk = chunk;
}

/* Releases everything and prints which strategies were refused. */
static inline int test_close(void **state) {
    int s, alarm;
    (void)state;
    test.announced = 0;
    alarm = test.gs && test_alarm(test.gs);
    for (s = 1; s < GPUSCAN_STRATEGY_COUNT; s++)
        if (test.refused[s])
            print_message("%s: %u calls refused, %u ran\n", test_strategy_name((gpuscan_strategy)s), test.refused[s],
                          test.ran[s]);
    gpuscan_destroy(test.gs);
    if (test.queue)
        clReleaseCommandQueue(test.queue);
    if (test.context)
        clReleaseContext(test.context);
    memset(&test, 0, sizeof test);
    return alarm ? -1 : 0;
}

/* A test's name, function and setup: cmocka's state. */
typedef struct test_entry {
    const char *name;
    void (*function)(void **state);
    int (*setup)(void **state);
} test_entry;

/* Begins a test: its random numbers depend on the seed alone, not on the tests before it. state: the test's entry;
   NULL: the running test begins again. */
static inline int test_begin(void **state) {
    if (state && *state) {
        const char *name = ((const test_entry *)*state)->name;
        test.name = gpuscan__hash(GPUSCAN__HASH_START, name, strlen(name));
    }
    test.random = test.seed;
    test.turn = 0;
    test.host_at = (unsigned)test_environment("GPUSCAN_TEST_HOST_AT", 0);
    if (test.is_simulator || test.is_known_wrong || !test.info.has_zero_copy)
        test.host_at = 0;
    test.what[0] = '\0';
    test.is_attempt = test.is_quiet = 0;
    code_begin(NULL);
    return 0;
}

/* Selects the tests that GPUSCAN_TEST_ONLY names. main calls it first. */
static inline void test_select(void) {
    if (getenv("GPUSCAN_TEST_ONLY"))
        cmocka_set_test_filter(getenv("GPUSCAN_TEST_ONLY"));
}

/* Restores the object that was there before the test. */
static inline int test_restore(void) {
    int alarm = test_alarm(test.gs), result = 0;
    test.announced = 0;
    if (test.whole) {
        gpuscan_destroy(test.gs);
        test.gs = test.whole;
        test.whole = NULL;
        result = (int)gpuscan_get_info(test.gs, &test.info);
        alarm |= test_alarm(test.gs);
    }
    return alarm ? -1 : result;
}

/* Runs a test. If its share had no combination, doubles the share and runs it again, until one was run. */
static inline void test_run(void **state) {
    const test_entry *entry = (const test_entry *)*state;
    test.part = 16 * test.share;
    test.has_share = 0;
    entry->function(state);
    while (test.has_share && test.what[0] == '\0' && test.part > 1) {
        test.part /= 2;
        if (test_restore() != 0 || entry->setup(state) != 0)
            fail();
        entry->function(state);
    }
}

/* A cmocka teardown: fails the test if the object gave something up. */
static inline int test_end(void **state) {
    (void)state;
    if (call_code.of_case) /* an assert of cmocka, or a signal, ended the case */
        test_print_code();
    return test_restore();
}

/* A test begins with its setup, or with test_begin; both want the test's entry as their state. */
#define TEST_BEGUN_BY(function, setup)                                                                                 \
    {#function, test_run, setup, test_end, (void *)(uintptr_t)&(const test_entry){#function, function, setup}}
#define TEST(function) TEST_BEGUN_BY(function, test_begin)

/* Fails unless the newest program whose text defines the hook GPUSCAN_TEST_<name> uses it (see [HANDOVER] in
   kernels.cl.inc): with an undeclared name in its place, the kernels must not compile. Results cannot show that: they
   are right with and without silent tiles. */
static inline void test_uses_hook(gpuscan *gs, const char *name) {
    static char             log[65536];
    const gpuscan__program *p = gs->programs;
    const char             *lines[3];
    char                    hook[32], text[128], *source;
    size_t                  size = 0;
    cl_int                  status = CL_SUCCESS;
    cl_program              program;
    snprintf(hook, sizeof hook, "GPUSCAN_TEST_%s", name);
    snprintf(text, sizeof text, "#undef %s\n#define %s test_undeclared.hook\n#line 1\n", hook, hook);
    while (p && !strstr(p->parts[GPUSCAN__PART_TEXT].data, hook))
        p = p->next;
    assert_non_null(p);
    test_cl(clGetProgramInfo(p->program, CL_PROGRAM_SOURCE, 0, NULL, &size));
    source = (char *)test_alloc(size);
    test_cl(clGetProgramInfo(p->program, CL_PROGRAM_SOURCE, size, source, NULL));
    lines[0] = p->parts[GPUSCAN__PART_TEXT].data;
    lines[1] = text;
    lines[2] = source + strlen(p->parts[GPUSCAN__PART_TEXT].data);
    program = clCreateProgramWithSource(gs->context, 3, lines, NULL, &status);
    free(source);
    test_cl(status);
    status = clBuildProgram(program, 1, &gs->device_id, gs->device.build_options, NULL, NULL);
    test_cl(clGetProgramBuildInfo(program, gs->device_id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL));
    clReleaseProgram(program);
    if (status == CL_SUCCESS || !strstr(log, "test_undeclared"))
        fail_msg("%s: the kernels do not use %s: %d, %s", test.what, hook, (int)status, log);
}

/* Returns the number of an object's programs. */
static inline unsigned test_programs(const gpuscan *gs) {
    const gpuscan__program *program;
    unsigned                count = 0;
    for (program = gs->programs; program; program = program->next)
        count++;
    return count;
}

#endif /* TEST_HARNESS_H */
