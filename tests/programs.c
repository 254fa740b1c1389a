/* Writes every program that the library can build, for devices of all kinds that need not be present: the library runs
   on the fake OpenCL of fake.h. tests/compile.sh then compiles the programs with clang. This program also checks
   behaviour that only such a device, or another C library, shows. It runs no kernel.
      cc tests/programs.c -o programs && ./programs FOLDER [STEP FIRST]
      ./programs --plans FOLDER
      ./programs --kernels OPERATION TYPE COUNT
   A file FOLDER/DEVICE-N.cl holds the build options in its first line, behind two slashes, and then the text. With
   STEP, only every STEPth program is written; FIRST chooses which. From STEP 16 on, one call in four is prepared, which
   FIRST chooses, too, and of these calls' programs every (STEP / 4)th is written. --plans writes the programs of
   default calls on the GPUs of `offline` as FOLDER/DEVICE-PLAN-N.cl, and FOLDER/local.txt, for the vendors' compilers
   (tests/reach.sh). --kernels prints for each device how it does a default call, e.g. a scan of 5000 u8. Most of the
   time goes into the host's side of self-tests: with --plans and from STEP 16 on, one program in eight is tested. */
#define CL_TARGET_OPENCL_VERSION 120
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Replaces vsnprintf, which may fail in some C libraries. */
static int print_fails;
static int print(char *text, size_t size, const char *format, va_list arguments) {
    return print_fails ? -1 : vsnprintf(text, size, format, arguments);
}

static unsigned long self_tests, self_test_step = 1; /* one program in this many is tested */

#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN__SELF_TESTS (self_tests++ % self_test_step == 0)
static int passes = 1; /* nothing runs here, so this says whether self-tests pass */
#define GPUSCAN__TEST_PASSES(got, expected, bytes) ((void)(got), (void)(expected), (bytes) > 0 && passes)
#define vsnprintf print
#include "../gpuscan.h"
#undef vsnprintf

#include "fake.h"

/* Stands in for a buffer of any size, never used. */
static fake_object any_buffer = {1, 0, {0, 0}, (size_t)FAKE_LARGEST, CL_MEM_READ_WRITE, NULL};

#define ATOMICS32                                                                                                      \
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics "           \
    "cl_khr_local_int32_extended_atomics cl_khr_byte_addressable_store "
#define ATOMICS64 "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "
#define INTEL_SUBGROUPS                                                                                                \
    "cl_khr_subgroups cl_khr_subgroup_shuffle cl_khr_subgroup_ballot cl_intel_subgroups cl_intel_required_subgroup_size"

static const fake_device devices[] = {
    {"pocl", "pthread-haswell-AMD EPYC", "AuthenticAMD", "Portable Computing Language", "OpenCL 3.0 PoCL HSTR: pthread",
     "OpenCL C 1.2 PoCL", ATOMICS32 ATOMICS64 "cl_khr_fp64 cl_khr_3d_image_writes cl_khr_fp16", 0x8086,
     CL_DEVICE_TYPE_CPU, 4096, 524288, 16, 1, 0, 1500, 4u << 20, 0},
    {"intel-cpu", "Intel(R) Xeon(R) Processor", "Intel(R) Corporation", "Intel(R) OpenCL", "OpenCL 3.0 (Build 0)",
     "OpenCL C 3.0 ", ATOMICS32 ATOMICS64 "cl_khr_fp64 " INTEL_SUBGROUPS, 0x8086, CL_DEVICE_TYPE_CPU,
     8192, 32768, 64, 1, 0, 1500, 4u << 20, 0},
    {"nvidia", "NVIDIA H200", "NVIDIA Corporation", "NVIDIA CUDA", "OpenCL 3.0 CUDA", "OpenCL C 1.2 ",
     ATOMICS32 ATOMICS64 "cl_khr_fp64 cl_nv_compiler_options cl_nv_device_attribute_query cl_nv_pragma_unroll", 0x10DE,
     CL_DEVICE_TYPE_GPU, 1024, 49152, 132, 1, 90, 1500, 4u << 20, 0},
    {"nvidia-old", "GeForce GTX 580", "NVIDIA Corporation", "NVIDIA CUDA", "OpenCL 1.2 CUDA", "OpenCL C 1.2 ",
     ATOMICS32 "cl_khr_fp64 cl_nv_device_attribute_query", 0x10DE, CL_DEVICE_TYPE_GPU, 1024, 49152, 16, 1, 20, 1500,
     4u << 20, 0},
    {"amd", "gfx90a", "Advanced Micro Devices, Inc.", "AMD Accelerated Parallel Processing", "OpenCL 2.0 ",
     "OpenCL C 2.0 ", ATOMICS32 ATOMICS64 "cl_khr_fp64 cl_khr_subgroups cl_amd_device_attribute_query", 0x1002,
     CL_DEVICE_TYPE_GPU, 256, 65536, 104, 1, 0, 1500, 4u << 20, 0},
    {"intel", "Intel(R) Arc(TM) A770 Graphics", "Intel(R) Corporation", "Intel(R) OpenCL Graphics", "OpenCL 3.0 NEO ",
     "OpenCL C 1.2 ", ATOMICS32 ATOMICS64 INTEL_SUBGROUPS, 0x8086, CL_DEVICE_TYPE_GPU, 1024, 65536, 512, 0, 0, 1500,
     4u << 20, 0},
    {"arm", "Mali-G78 r0p1", "ARM", "ARM Platform", "OpenCL 3.0 v1.r32p1", "OpenCL C 3.0 v1.r32p1",
     ATOMICS32 ATOMICS64 "cl_khr_fp16 cl_khr_subgroups", 0x13B5, CL_DEVICE_TYPE_GPU, 512, 32768, 20, 0, 0, 1500,
     4u << 20, 0},
    {"apple", "Apple M2", "Apple", "Apple", "OpenCL 1.2 ", "OpenCL C 1.2 ", ATOMICS32, 0x1027F00, CL_DEVICE_TYPE_GPU,
     256, 32768, 10, 0, 0, 1500, 4u << 20, 0},
    {"plain", "Some GPU", "Somebody", "Some OpenCL", "OpenCL 1.2 ", "OpenCL C 1.2 ", ATOMICS32, 0, CL_DEVICE_TYPE_GPU,
     64, 1024, 1, 0, 0, 1500, 4u << 20, 0},
};

/* GPUs whose compilers run without the device. All AMD GPUs of one wavefront width get the same programs. */
#define AMD_GPU(file, name, wave)                                                                                      \
    {file, name, "Advanced Micro Devices, Inc.", "AMD Accelerated Parallel Processing", "OpenCL 2.0 ",                 \
     "OpenCL C 2.0 ", ATOMICS32 ATOMICS64 "cl_khr_fp64 cl_khr_fp16 cl_khr_subgroups cl_amd_device_attribute_query",    \
     0x1002, CL_DEVICE_TYPE_GPU, 256, 65536, 48, 1, 0, 2500, 6u << 20, wave}
static const fake_device offline[] = {
    AMD_GPU("amd64", "gfx90a", 64),
    AMD_GPU("amd32", "gfx1100", 32),
    {"intel", "Intel(R) Arc(TM) A770 Graphics", "Intel(R) Corporation", "Intel(R) OpenCL Graphics", "OpenCL 3.0 NEO ",
     "OpenCL C 1.2 ", ATOMICS32 ATOMICS64 INTEL_SUBGROUPS, 0x8086, CL_DEVICE_TYPE_GPU, 1024, 65536, 512, 0, 0, 2400,
     16u << 20, 0},
};

static const char *folder, *plan = "";
static struct {
    uint64_t value, text; /* hashes; value includes the options */
    char file[40];        /* without ".cl" */
} seen[4096];
static size_t seen_count;
static unsigned long step = 1, first;
static unsigned long calls_step = 1; /* likewise of calls */
static unsigned written;

static uint64_t hash(uint64_t value, const char *text) {
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return value;
}

/* Opens a file of the output folder or exits. */
static FILE *opened(const char *name, const char *ending, const char *mode) {
    char path[1000];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
    file = fopen(path, mode);
    if (file == NULL) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(1);
    }
    return file;
}

static void collect(const char *text, const char *options) {
    uint64_t of_text = hash(UINT64_C(14695981039346656037), text), value = hash(of_text, options);
    char name[40];
    size_t i;
    FILE *file;
    for (i = 0; i < seen_count; i++)
        if (seen[i].value == value)
            return;
    written++;
    snprintf(name, sizeof name, "%s%s-%u", fake.device->file, plan, written);
    if (seen_count < sizeof seen / sizeof *seen) {
        seen[seen_count].value = value;
        seen[seen_count].text = of_text;
        memcpy(seen[seen_count++].file, name, sizeof name);
    }
    if (written % step != first / calls_step % step)
        return;
    file = opened(name, ".cl", "w");
    fprintf(file, "// %s\n%s", options, text);
    fclose(file);
}

/* Writes each kernel's group size and local memory in a default call. */
static void tell_local(const gpuscan__program *program) {
    const fake_object *text = (const fake_object *)(void *)program->program;
    uint64_t of_text = hash(UINT64_C(14695981039346656037), (const char *)text->bytes);
    FILE *file = opened("local", ".txt", "a");
    size_t i, k;
    for (i = 0; i < seen_count; i++)
        for (k = 0; seen[i].text == of_text && program->names[k]; k++)
            fprintf(file, "%s %s %u %lu\n", seen[i].file, program->names[k], (unsigned)program->key.group,
                    (unsigned long)((const fake_object *)(void *)program->kernels[k])->size);
    fclose(file);
}

/* ---- every program to build -------------------------------------------------------------------------------------- */

static const gpuscan_custom affine = {
    "typedef struct { float scale, shift; } affine;\n"
    "affine compose(affine a, affine b) {\n"
    "    affine c; c.scale = a.scale * b.scale; c.shift = a.shift * b.scale + b.shift; return c; }\n"
    "affine none(void) { affine c; c.scale = 1.0f; c.shift = 0.0f; return c; }\n",
    "affine",
    8,
    "compose(a, b)",
    "none()",
    NULL, NULL, NULL, NULL};
static const gpuscan_custom large = {
    "typedef struct { uint v[5]; } five;\n"
    "five join(five a, five b) { int i; for (i = 0; i < 5; i++) a.v[i] += b.v[i]; return a; }\n"
    "five zero(void) { five z; int i; for (i = 0; i < 5; i++) z.v[i] = 0; return z; }\n",
    "five",
    20,
    "join(a, b)",
    "zero()",
    NULL, NULL, NULL, NULL};
static const gpuscan_custom even = {
    "typedef struct { uint v[4]; } four;\n"
    "four join(four a, four b) { int i; for (i = 0; i < 4; i++) a.v[i] += b.v[i]; return a; }\n"
    "four zero(void) { four z; int i; for (i = 0; i < 4; i++) z.v[i] = 0; return z; }\n",
    "four",
    16,
    "join(a, b)",
    "zero()",
    NULL, NULL, NULL, NULL};
static const gpuscan_custom broad = { /* too large for state words */
    "typedef struct { uint v[32]; } many;\n"
    "many join(many a, many b) { int i; for (i = 0; i < 32; i++) a.v[i] += b.v[i]; return a; }\n"
    "many zero(void) { many z; int i; for (i = 0; i < 32; i++) z.v[i] = 0; return z; }\n",
    "many",
    128,
    "join(a, b)",
    "zero()",
    NULL, NULL, NULL, NULL};
static const gpuscan_custom keyed = {"typedef struct { uint v[5]; } five;\n", "five", 20, NULL, NULL, NULL, NULL, NULL,
                                     "x.v[3]"};
static const gpuscan_custom converted = {NULL, NULL, 0, NULL, NULL, "x > 3 ? (uint)i : 0u", NULL, NULL, NULL};

static void expect(int holds, const char *what);

static const gpuscan_opencl *table;
static size_t group; /* limits.work_group_size of all objects */
static uint64_t drawn; /* if not 0, each object's limits are derived from it */
static int failures;

/* Creates a new object for each call, so that a form which one call gives up stays available to the others. */
static gpuscan *fresh(void) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    char error[200] = "";
    memset(&desc, 0, sizeof desc);
    desc.opencl = table;
    desc.limits.work_group_size = group;
    if (drawn) {
        static const uint64_t locals[] = {0, 0, 1, 16, 100, 512, 1000, 1024, 4096, 16384, 20000};
        drawn = hash(drawn, "an object's limits");
        desc.limits.work_group_size = (size_t)(drawn >> 20) % ((size_t)2 << (drawn >> 50) % 9); /* mostly small */
        desc.limits.local_memory = locals[(drawn >> 8) % (sizeof locals / sizeof *locals)];
        desc.limits.lanes = (drawn >> 40) % 4 ? 0 : 8u << (drawn >> 42) % 4;
        desc.limits.without = (uint32_t)(drawn >> 44) % 4 ? 0 : (uint32_t)(drawn >> 46) % 64;
    }
    desc.error = error;
    desc.error_size = sizeof error;
    if (gpuscan_create(&gs, &desc) != GPUSCAN_SUCCESS) {
        fprintf(stderr, "%s: %s\n", fake.device->file, error);
        exit(1);
    }
    return gs;
}

/* Returns whether a call is among those to prepare. */
static int is_in_turn(void) {
    static unsigned long calls;
    return calls++ % calls_step == first % calls_step;
}

/* Checks a call's result. It may be UNSUPPORTED; any other failure means that this program makes an invalid call. */
static void done_with(gpuscan *gs, gpuscan_result result, const char *what) {
    const gpuscan__program *program;
    for (program = gs->programs; program; program = program->next) {
        size_t count = 0;
        while (program->names[count])
            count++;
        if (count > GPUSCAN__MAX_KERNELS) {
            fprintf(stderr, "%s: %s: a program of %u kernels\n", fake.device->file, what, (unsigned)count);
            failures++;
        }
        if (*plan)
            tell_local(program);
        if (strncmp(plan, "-scan_u", 7) == 0 && strncmp(fake.device->file, "amd", 3) == 0 &&
            !gpuscan__is_single_pass(gpuscan__key_strategy(&program->key))) {
            fprintf(stderr, "%s: %s takes several passes\n", fake.device->file, plan + 1);
            failures++;
        }
    }
    if (result != GPUSCAN_SUCCESS && result != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY &&
        result != GPUSCAN_ERROR_UNSUPPORTED_TYPE && result != GPUSCAN_ERROR_UNSUPPORTED_IMAGE) {
        fprintf(stderr, "%s: %s: %s: %s\n", fake.device->file, what, gpuscan_result_string(result), gpuscan_error(gs));
        failures++;
    }
    gpuscan_destroy(gs);
}

/* Gives every third call with custom texts values, sources or both, which the kernels then pass to where texts are
   evaluated. used: 1 if the call uses the texts, 2 if it uses those of operators alone, which see no sources. */
static void give_values(const gpuscan_custom **custom, gpuscan_call *call, int used) {
    static const gpuscan_source sources[2] = {{{NULL, 0}, 1, GPUSCAN_TYPE_F16, NULL, 0, NULL},
                                              {{NULL, 0}, 1, GPUSCAN_TYPE_CUSTOM, "float4", 16, NULL}};
    static char source[2048];
    static gpuscan_custom texts;
    static unsigned calls;
    int sees;
    if (!*custom || !used || calls++ % 3 != 0)
        return;
    snprintf(source, sizeof source, "struct values { float4 plane; uint of[3]; };\n%s",
             (*custom)->source ? (*custom)->source : "");
    texts = **custom;
    texts.source = source;
    *custom = &texts;
    sees = used == 1 && (texts.convert || texts.select || texts.equal || texts.key);
    call->sources = sees && calls / 3 % 3 ? sources : NULL;
    call->source_count = call->sources ? 1 + calls % 2 : 0;
    call->values_size = call->sources && calls / 3 % 3 == 2 ? 0 : 32;
}

static uint64_t larger_size(gpuscan_type src, gpuscan_type dst, const gpuscan_custom *custom) {
    uint64_t a = src == GPUSCAN_TYPE_CUSTOM ? custom->size : gpuscan_type_size(src);
    uint64_t b = dst == GPUSCAN_TYPE_CUSTOM ? custom->size : gpuscan_type_size(dst);
    return a > b ? a : b;
}

static void prepare_scan(const gpuscan_scan_desc *desc) {
    gpuscan_scan_desc given = *desc;
    uint64_t scratch = 0, bytes = desc->rows * desc->count;
    gpuscan *gs;
    if (!is_in_turn())
        return;
    give_values(&given.custom, &given.call, 1);
    gs = fresh();
    bytes *= larger_size(given.src_type, given.dst_type, given.custom);
    if (given.along && gpuscan_scan_scratch_size(gs, &given, &scratch) == GPUSCAN_SUCCESS)
        expect(scratch <= bytes / 5 + 65536, "more scratch than 1/5 of the data");
    done_with(gs, gpuscan_scan_prepare(gs, &given), "scan");
}

static void prepare_uniform_add(const gpuscan_uniform_add_desc *desc) {
    gpuscan_uniform_add_desc given = *desc;
    gpuscan *gs;
    if (!is_in_turn())
        return;
    give_values(&given.custom, &given.call, 2);
    gs = fresh();
    done_with(gs, gpuscan_uniform_add_prepare(gs, &given), "uniform add");
}

static void prepare_reduce(const gpuscan_reduce_desc *desc) {
    gpuscan_reduce_desc given = *desc;
    gpuscan *gs;
    if (!is_in_turn())
        return;
    give_values(&given.custom, &given.call, 1);
    gs = fresh();
    done_with(gs, gpuscan_reduce_prepare(gs, &given), "reduce");
}

static void prepare_histogram(const gpuscan_histogram_desc *desc) {
    gpuscan_histogram_desc given = *desc;
    gpuscan *gs;
    if (!is_in_turn())
        return;
    give_values(&given.custom, &given.call, 1);
    gs = fresh();
    done_with(gs, gpuscan_histogram_prepare(gs, &given), "histogram");
}

static void prepare_select(const gpuscan_select_desc *desc) {
    gpuscan_select_desc given = *desc;
    gpuscan *gs;
    if (!is_in_turn())
        return;
    give_values(&given.custom, &given.call, desc->by == GPUSCAN_SELECT_PREDICATE);
    gs = fresh();
    done_with(gs, gpuscan_select_prepare(gs, &given), "select");
}

/* Prepares selections by flags, bits and predicates, with outputs of all kinds, by every strategy. */
static void selections(void) {
    static const gpuscan_custom above = {NULL, NULL, 0, NULL, NULL, NULL, "x > 3", NULL, NULL};
    static const gpuscan_custom ten = {
        "typedef struct { float v[10]; } ten;\n", "ten", 40, NULL, NULL, NULL, "x.v[0] > x.v[1] * (float)i", NULL,
        NULL};
    gpuscan_payload payloads[3];
    gpuscan_select_desc desc;
    int s;
    memset(payloads, 0, sizeof payloads);
    payloads[0].size = 4;
    payloads[1].size = 12;
    payloads[2].size = 1024;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        memset(&desc, 0, sizeof desc);
        desc.call.strategy = (gpuscan_strategy)s;
        desc.count = 1u << 24;
        prepare_select(&desc);
        desc.count = 1u << 20; /* few tiles, if the device chooses */
        prepare_select(&desc);
        desc.count = 1u << 24;
        desc.invert = 1;
        desc.indices.mem = (cl_mem)(void *)&any_buffer;
        prepare_select(&desc);
        desc.flag_type = GPUSCAN_TYPE_U64;
        desc.payloads = payloads;
        desc.payload_count = 3;
        desc.count_buffer.mem = (cl_mem)(void *)&any_buffer; /* a few groups take all tiles */
        prepare_select(&desc);
        desc.count_buffer.mem = NULL;
        desc.flag_type = GPUSCAN_TYPE_DEFAULT;
        desc.payload_count = (uint32_t)s % 2;
        desc.by = GPUSCAN_SELECT_BITS;
        desc.dst.mem = (cl_mem)(void *)&any_buffer;
        prepare_select(&desc);
        desc.by = GPUSCAN_SELECT_PREDICATE;
        desc.custom = &above;
        desc.type = s % 2 ? GPUSCAN_TYPE_F32 : GPUSCAN_TYPE_U8;
        desc.src = desc.dst; /* in place */
        prepare_select(&desc);
        desc.custom = &ten;
        desc.type = GPUSCAN_TYPE_CUSTOM;
        desc.count = 1000;
        prepare_select(&desc);
    }
}

static void prepare_runs(const gpuscan_runs_desc *desc) {
    gpuscan_runs_desc given = *desc;
    gpuscan *gs;
    if (!is_in_turn())
        return;
    give_values(&given.custom, &given.call, desc->key_type == GPUSCAN_TYPE_CUSTOM || desc->op == GPUSCAN_OP_CUSTOM);
    gs = fresh();
    done_with(gs, gpuscan_runs_prepare(gs, &given), "runs");
}

/* Prepares runs of keys: keys alone, with starts and lengths, and with reduced values, by every strategy. */
static void runs_of_keys(void) {
    static const gpuscan_custom ten = {
        "typedef struct { float v[10]; } ten;\n"
        "ten more(ten a, ten b) { for (int k = 0; k < 10; k++) a.v[k] += b.v[k]; return a; }\n"
        "ten none(void) { ten a; for (int k = 0; k < 10; k++) a.v[k] = 0.0f; return a; }\n",
        "ten", 40, "more(a, b)", "none()", NULL, NULL, "a.v[0] == b.v[0]", NULL};
    gpuscan_buffer there = {NULL, 0};
    gpuscan_runs_desc desc;
    int s;
    there.mem = (cl_mem)(void *)&any_buffer;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        memset(&desc, 0, sizeof desc);
        desc.call.strategy = (gpuscan_strategy)s;
        desc.count = 1u << 24;
        prepare_runs(&desc);
        desc.keys_dst = desc.dst = there;
        desc.src_type = GPUSCAN_TYPE_F32;
        desc.count = s ? 1u << 24 : 1u << 20; /* few tiles, if the device chooses */
        prepare_runs(&desc);
        desc.count = 1u << 24;
        desc.dst.mem = NULL;
        desc.lengths = there;
        prepare_runs(&desc);
        desc.dst = there;
        desc.src_type = GPUSCAN_TYPE_F32;
        prepare_runs(&desc);
        desc.count_buffer = there; /* a few groups take all tiles */
        prepare_runs(&desc);
        desc.count_buffer.mem = NULL;
        desc.starts = there;
        desc.key_type = GPUSCAN_TYPE_F16;
        desc.index_type = GPUSCAN_TYPE_U64;
        desc.src_type = GPUSCAN_TYPE_U8;
        desc.dst_type = GPUSCAN_TYPE_U64;
        prepare_runs(&desc);
        desc.key_type = desc.src_type = desc.dst_type = GPUSCAN_TYPE_CUSTOM;
        desc.op = GPUSCAN_OP_CUSTOM;
        desc.custom = &ten;
        desc.count = 1000;
        prepare_runs(&desc);
    }
}

/* Prepares the operations on elements, large and small, with every strategy or as the device's profile chooses. */
static void elements(gpuscan_type src, gpuscan_type dst, gpuscan_op op, const gpuscan_custom *custom, int strategies) {
    gpuscan_scan_desc scan;
    gpuscan_reduce_desc reduce, rows;
    gpuscan_uniform_add_desc add;
    int s, is_arg = op == GPUSCAN_OP_ARGMIN || op == GPUSCAN_OP_ARGMAX;
    memset(&scan, 0, sizeof scan);
    memset(&reduce, 0, sizeof reduce);
    memset(&add, 0, sizeof add);
    scan.src_type = reduce.src_type = src;
    scan.dst_type = reduce.dst_type = add.type = dst;
    scan.op = reduce.op = add.op = op;
    scan.custom = reduce.custom = add.custom = custom;
    scan.kind = op == GPUSCAN_OP_ADD ? GPUSCAN_EXCLUSIVE : GPUSCAN_INCLUSIVE;
    scan.count = reduce.count = add.count = 1000;
    add.block = 1024;
    if (!is_arg) {
        prepare_scan(&scan);
        scan.rows = 100000; /* by whole rows */
        prepare_scan(&scan);
        if (op == GPUSCAN_OP_ADD) { /* with gaps, by elements */
            scan.count = 30;
            scan.src_pitch = scan.dst_pitch = 31;
            prepare_scan(&scan);
            scan.src_pitch = scan.dst_pitch = 77;
            prepare_scan(&scan);
            scan.src_pitch = scan.dst_pitch = 31;
            scan.reverse = 1;
            prepare_scan(&scan);
            scan.src_pitch = scan.dst_pitch = scan.reverse = 0;
        }
        scan.rows = 0;
    }
    scan.count = reduce.count = add.count = UINT64_C(1) << 26;
    for (s = 0; !is_arg && s < (strategies ? (int)GPUSCAN_STRATEGY_COUNT : 1); s++) {
        scan.along = GPUSCAN_ALONG_COLUMNS;
        scan.call.strategy = (gpuscan_strategy)s;
        scan.reverse = (uint32_t)s % 2;
        for (scan.rows = 3; scan.rows <= 300; scan.rows *= 100) /* a group has all columns, or some */
            prepare_scan(&scan);
        scan.along = GPUSCAN_ALONG_ROWS;
        scan.rows = scan.reverse = 0;
    }
    for (s = 0; s < (strategies ? (int)GPUSCAN_STRATEGY_COUNT : 1); s++) {
        scan.call.strategy = reduce.call.strategy = add.call.strategy = (gpuscan_strategy)s;
        prepare_reduce(&reduce);
        rows = reduce;
        rows.rows = 1000;
        rows.count = 100000;
        prepare_reduce(&rows);
        rows.rows = 0;
        rows.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        rows.segments.type = s % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
        rows.segments.count = 1000;
        prepare_reduce(&rows);
        rows.count = reduce.count;
        rows.segments.count = 1000000; /* by lanes, except the long ones */
        prepare_reduce(&rows);
        if (is_arg)
            continue;
        prepare_scan(&scan);
        scan.dst.offset = 1; /* not aligned for vectors */
        prepare_scan(&scan);
        scan.reverse = 1;
        prepare_scan(&scan);
        scan.dst.offset = 0;
        prepare_scan(&scan);
        scan.reverse = 0;
        if (src == dst && custom != &converted)
            prepare_uniform_add(&add);
    }
}

static void segmented(gpuscan_type type, gpuscan_op op, const gpuscan_custom *custom, gpuscan_scan_kind kind,
                      gpuscan_type keys) {
    gpuscan_scan_desc scan;
    int s;
    memset(&scan, 0, sizeof scan);
    scan.src_type = type;
    scan.op = op;
    scan.custom = custom;
    scan.kind = kind;
    scan.count = 1000;
    scan.segments.form = GPUSCAN_SEGMENTS_KEYS;
    scan.segments.type = keys;
    prepare_scan(&scan);
    scan.count = UINT64_C(1) << 26;
    prepare_scan(&scan);
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        scan.call.strategy = (gpuscan_strategy)s;
        scan.segments.form = (gpuscan_segment_form)(GPUSCAN_SEGMENTS_OFFSETS + s % 3);
        scan.segments.type = s % 3 == 2 ? keys : GPUSCAN_TYPE_DEFAULT;
        scan.segments.count = s % 3 == 0 ? 1000 : 0;
        prepare_scan(&scan);
        scan.count_buffer.mem = (cl_mem)(void *)&any_buffer;
        prepare_scan(&scan);
        scan.reverse = 1;
        prepare_scan(&scan);
        scan.reverse = 0;
        scan.count_buffer.mem = NULL;
    }
}

static void histogram(gpuscan_type samples, gpuscan_type counters, gpuscan_bins form, uint32_t bins, uint32_t channels,
                      int weights, int strategies) {
    gpuscan_histogram_desc desc;
    int s;
    memset(&desc, 0, sizeof desc);
    desc.count = UINT64_C(1) << 26;
    desc.sample_type = samples;
    desc.counter_type = counters;
    desc.form = form;
    desc.bins = bins;
    desc.channels = channels;
    if (weights)
        desc.weights.mem = fake_buffer(CL_MEM_READ_WRITE, (size_t)1 << 32, NULL);
    for (s = 0; s < (strategies ? (int)GPUSCAN_STRATEGY_COUNT : 1); s++) {
        desc.call.strategy = (gpuscan_strategy)s;
        prepare_histogram(&desc);
    }
    desc.outside = GPUSCAN_OUTSIDE_COUNT;
    desc.closed = 1;
    prepare_histogram(&desc);
    desc.count = 1000; /* the form for few samples */
    desc.call.strategy = GPUSCAN_STRATEGY_AUTO;
    prepare_histogram(&desc);
    desc.rows = 1024; /* and picture tiles: whole vectors, except with three channels */
    desc.tile_width = desc.tile_height = 64;
    if (strategies)
        prepare_histogram(&desc);
    desc.counts_stride = 3;
    prepare_histogram(&desc);
    desc.rows = 0;
    desc.tile_width = desc.tile_height = 0;
    prepare_histogram(&desc);
    if (weights)
        fake_release(desc.weights.mem);
}

static void sort(gpuscan_type keys, uint32_t payload, const gpuscan_custom *custom, int strategies) {
    gpuscan_sort_desc desc;
    gpuscan_payload values;
    int s;
    memset(&desc, 0, sizeof desc);
    memset(&values, 0, sizeof values);
    values.size = payload;
    desc.count = UINT64_C(1) << 26;
    desc.key_type = keys;
    desc.payloads = payload ? &values : NULL;
    desc.payload_count = payload != 0;
    desc.custom = custom;
    for (s = 0; s < (strategies ? (int)GPUSCAN_STRATEGY_COUNT : 1); s++) {
        gpuscan *gs;
        if (!is_in_turn())
            continue;
        desc.custom = custom;
        desc.call.values_size = desc.call.source_count = 0;
        desc.call.sources = NULL;
        give_values(&desc.custom, &desc.call, 1);
        gs = fresh();
        desc.call.strategy = (gpuscan_strategy)s;
        done_with(gs, gpuscan_sort_prepare(gs, &desc), "sort");
        if (s == GPUSCAN_STRATEGY_AUTO) { /* small enough for a single launch */
            gs = fresh();
            desc.count = payload ? 250000 : 500000; /* tiles as large as one launch has them */
            done_with(gs, gpuscan_sort_prepare(gs, &desc), "sort of few");
            gs = fresh();
            desc.count = 1500; /* in one group */
            done_with(gs, gpuscan_sort_prepare(gs, &desc), "sort of a tile");
            gs = fresh();
            desc.count = UINT64_C(1) << 26;
            desc.count_buffer.mem = (cl_mem)(void *)&any_buffer;
            done_with(gs, gpuscan_sort_prepare(gs, &desc), "counted sort");
            desc.count_buffer.mem = NULL;
        }
    }
}

/* Prepares sorts whose passes carry the payloads as a record, also with a device-side count. */
static void sort_records(gpuscan_type keys, uint32_t size, uint32_t more) {
    gpuscan_sort_desc desc;
    gpuscan_payload values[2];
    int what;
    memset(&desc, 0, sizeof desc);
    memset(values, 0, sizeof values);
    values[0].size = size;
    values[1].size = more;
    desc.key_type = keys;
    desc.payloads = values;
    desc.payload_count = more ? 2 : 1;
    for (what = 0; what < 3; what++) {
        gpuscan *gs;
        if (!is_in_turn())
            continue;
        gs = fresh();
        desc.count = UINT64_C(1) << (what == 1 ? 22 : 26);
        desc.count_buffer.mem = what == 2 ? (cl_mem)(void *)&any_buffer : NULL;
        done_with(gs, gpuscan_sort_prepare(gs, &desc), "sort of records");
    }
}

static void prepare_integral(const gpuscan_integral_desc *desc) {
    gpuscan *gs;
    if (!is_in_turn())
        return;
    gs = fresh();
    done_with(gs, gpuscan_integral_prepare(gs, desc), "integral");
}

static void integral(gpuscan_type src, gpuscan_type dst, uint32_t channels, gpuscan_scan_kind kind, int square) {
    gpuscan_integral_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.width = 4096;
    desc.height = 3000;
    desc.src_type = src;
    desc.dst_type = dst;
    desc.channels = channels;
    desc.kind = kind;
    desc.square = square;
    prepare_integral(&desc);
}

static void quantile(gpuscan_type counters, uint32_t bins, uint64_t rows, gpuscan_quantile_form form) {
    static const double halves[] = {0.5, 0.5};
    gpuscan_quantile_desc desc;
    gpuscan *gs;
    if (!is_in_turn())
        return;
    gs = fresh();
    memset(&desc, 0, sizeof desc);
    desc.counter_type = counters;
    desc.bins = bins;
    desc.rows = rows;
    desc.form = form;
    desc.fractions = halves;
    desc.fraction_count = 2;
    done_with(gs, gpuscan_quantile_prepare(gs, &desc), "quantile");
}

/* Prepares calls that read images, whose expressions see neighbours; by every strategy. */
static void images(void) {
    static const gpuscan_custom steep = {NULL, NULL, 0, NULL, NULL, "near(1, 0).x - near(-1, 0).y + (int)i", NULL, NULL,
                                         NULL};
    static const cl_image_format formats[] = {{CL_RGBA, CL_UNORM_INT8}, {CL_RA, CL_UNSIGNED_INT16}};
    gpuscan_histogram_desc histogram;
    gpuscan_reduce_desc reduce;
    gpuscan_integral_desc integral;
    int s, f;
    memset(&histogram, 0, sizeof histogram);
    memset(&reduce, 0, sizeof reduce);
    reduce.count = 1920 * 1080;
    reduce.src_width = 1920;
    memset(&integral, 0, sizeof integral);
    integral.width = 1920;
    integral.height = 1080;
    integral.custom = &steep;
    integral.dst_type = GPUSCAN_TYPE_I32;
    histogram.count = 1920;
    histogram.rows = 1080;
    for (s = 0; s < 2 * GPUSCAN_STRATEGY_COUNT; s++) {
        f = s % 2;
        histogram.call.strategy = (gpuscan_strategy)(s / 2);
        histogram.samples_image.mem = fake_image(CL_MEM_READ_ONLY, &formats[f], NULL);
        prepare_histogram(&histogram);
        histogram.custom = &steep;
        histogram.weight = f ? "at.x" : NULL;
        prepare_histogram(&histogram);
        histogram.custom = NULL;
        histogram.weight = NULL;
        reduce.call = histogram.call;
        reduce.src_image = histogram.samples_image;
        reduce.op = f ? GPUSCAN_OP_ADD : GPUSCAN_OP_ARGMAX;
        reduce.custom = f ? &steep : NULL;
        reduce.dst_type = f ? GPUSCAN_TYPE_I32 : GPUSCAN_TYPE_DEFAULT;
        prepare_reduce(&reduce);
        integral.call = histogram.call;
        integral.src_image = histogram.samples_image;
        prepare_integral(&integral);
        fake_release(histogram.samples_image.mem);
    }
}

static void everything(void) {
    uint32_t bins;
    elements(GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, NULL, 1);
    elements(GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F64, GPUSCAN_OP_ADD, NULL, 1);
    elements(GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &large, 1);
    elements(GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &broad, 1);
    elements(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, GPUSCAN_OP_MAX, NULL, 0);
    elements(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, NULL, 0);
    elements(GPUSCAN_TYPE_I8, GPUSCAN_TYPE_I64, GPUSCAN_OP_MIN, NULL, 0);
    elements(GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I16, GPUSCAN_OP_ADD, NULL, 0);
    elements(GPUSCAN_TYPE_U16, GPUSCAN_TYPE_F32, GPUSCAN_OP_MUL, NULL, 0);
    elements(GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F16, GPUSCAN_OP_ADD, NULL, 0);
    elements(GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, GPUSCAN_OP_XOR, NULL, 0);
    elements(GPUSCAN_TYPE_F64, GPUSCAN_TYPE_I32, GPUSCAN_OP_AND, NULL, 0);
    elements(GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, GPUSCAN_OP_OR, &converted, 0);
    elements(GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &affine, 0);
    elements(GPUSCAN_TYPE_CUSTOM, GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &even, 0);
    elements(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U64, GPUSCAN_OP_ARGMIN, NULL, 1);
    elements(GPUSCAN_TYPE_I8, GPUSCAN_TYPE_U32, GPUSCAN_OP_ARGMAX, NULL, 0);
    segmented(GPUSCAN_TYPE_F32, GPUSCAN_OP_ADD, NULL, GPUSCAN_EXCLUSIVE, GPUSCAN_TYPE_U32);
    segmented(GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, NULL, GPUSCAN_INCLUSIVE, GPUSCAN_TYPE_F16);
    segmented(GPUSCAN_TYPE_F64, GPUSCAN_OP_MUL, NULL, GPUSCAN_EXCLUSIVE, GPUSCAN_TYPE_U64);
    segmented(GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &large, GPUSCAN_INCLUSIVE, GPUSCAN_TYPE_I8);
    segmented(GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, &affine, GPUSCAN_EXCLUSIVE, GPUSCAN_TYPE_F32);
    selections();
    runs_of_keys();
    sort(GPUSCAN_TYPE_U32, 0, NULL, 1);
    sort(GPUSCAN_TYPE_F32, 4, NULL, 1);
    sort(GPUSCAN_TYPE_U64, 8, NULL, 0);
    sort(GPUSCAN_TYPE_F64, 0, NULL, 0);
    sort(GPUSCAN_TYPE_F16, 4, NULL, 0);
    sort(GPUSCAN_TYPE_I8, 0, NULL, 0);
    sort(GPUSCAN_TYPE_U32, 12, &keyed, 0);
    sort_records(GPUSCAN_TYPE_U32, 16, 0);
    sort_records(GPUSCAN_TYPE_F32, 4, 8);
    sort_records(GPUSCAN_TYPE_I16, 2, 1);
    for (bins = 1; bins < 100000; bins = 3 * bins + 1) {
        quantile(GPUSCAN_TYPE_U32, bins, 1, GPUSCAN_QUANTILE_MEAN);
        quantile(GPUSCAN_TYPE_U64, bins + 1, bins, GPUSCAN_QUANTILE_VALUE);
    }
    integral(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_DEFAULT, 1, GPUSCAN_EXCLUSIVE, 0);
    integral(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, 1, GPUSCAN_INCLUSIVE, 1);
    integral(GPUSCAN_TYPE_I8, GPUSCAN_TYPE_I64, 3, GPUSCAN_EXCLUSIVE, 1);
    integral(GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32, 4, GPUSCAN_INCLUSIVE, 0);
    integral(GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F64, 2, GPUSCAN_EXCLUSIVE, 0);
    histogram(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 256, 1, 0, 1);
    histogram(GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U64, GPUSCAN_BINS_EVEN, 65536, 1, 0, 0);
    histogram(GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 100, 1, 0, 0);
    histogram(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 256, 1, 0, 1);
    histogram(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 256, 4, 1, 0);
    histogram(GPUSCAN_TYPE_F64, GPUSCAN_TYPE_U64, GPUSCAN_BINS_EDGES, 1000, 2, 1, 0);
    histogram(GPUSCAN_TYPE_F16, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EDGES, 20, 1, 0, 0);
    histogram(GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U32, GPUSCAN_BINS_VALUES, 1u << 24, 1, 0, 0);
    images();
}

/* Prepares what most users call, by the strategy that the device's profile chooses. */
static void plans(void) {
    static const struct {
        const char *scan, *reduce, *columns;
        gpuscan_type type;
    } types[] = {{"-scan_u32", "-reduce_u32", "-columns_u32", GPUSCAN_TYPE_U32},
                 {"-scan_f32", "-reduce_f32", "-columns_f32", GPUSCAN_TYPE_F32},
                 {"-scan_u64", "-reduce_u64", "-columns_u64", GPUSCAN_TYPE_U64},
                 {"-scan_f64", "-reduce_f64", "-columns_f64", GPUSCAN_TYPE_F64},
                 {"-scan_u8", "-reduce_u8", "-columns_u8", GPUSCAN_TYPE_U8}};
    const uint64_t count = UINT64_C(1) << 26;
    size_t t;
    for (t = 0; t < sizeof types / sizeof *types; t++) {
        gpuscan_scan_desc scan;
        gpuscan_reduce_desc reduce;
        memset(&scan, 0, sizeof scan);
        memset(&reduce, 0, sizeof reduce);
        scan.src_type = reduce.src_type = types[t].type;
        scan.count = reduce.count = count;
        plan = types[t].scan;
        prepare_scan(&scan);
        scan.kind = GPUSCAN_INCLUSIVE;
        prepare_scan(&scan);
        plan = types[t].reduce;
        prepare_reduce(&reduce);
        plan = types[t].columns;
        scan.along = GPUSCAN_ALONG_COLUMNS;
        for (scan.rows = 3; scan.rows <= 300; scan.rows *= 100) /* a group has all columns, or some */
            prepare_scan(&scan);
        scan.along = GPUSCAN_ALONG_ROWS;
        scan.rows = 0;
        if (types[t].type != GPUSCAN_TYPE_F32)
            continue;
        plan = "-scan_rows";
        scan.count = reduce.count = 1000;
        scan.rows = reduce.rows = 100000;
        prepare_scan(&scan);
        plan = "-reduce_rows";
        prepare_reduce(&reduce);
        plan = "-reduce_segments";
        reduce.count = count;
        reduce.rows = 0;
        reduce.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        reduce.segments.count = 1000000;
        prepare_reduce(&reduce);
        plan = "-scan_keys";
        scan.count = count;
        scan.rows = 0;
        scan.segments.form = GPUSCAN_SEGMENTS_KEYS;
        prepare_scan(&scan);
    }
    plan = "-histogram_u8";
    histogram(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 256, 1, 0, 0);
    plan = "-histogram_i32";
    histogram(GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 256, 1, 0, 0);
    plan = "-histogram_f32";
    histogram(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U32, GPUSCAN_BINS_EVEN, 65536, 1, 0, 0);
    {
        gpuscan_select_desc select;
        gpuscan_runs_desc runs;
        memset(&select, 0, sizeof select);
        memset(&runs, 0, sizeof runs);
        select.count = runs.count = count;
        plan = "-select_flags";
        prepare_select(&select);
        plan = "-runs_lengths";
        runs.lengths.mem = (cl_mem)(void *)&any_buffer;
        prepare_runs(&runs);
        plan = "-runs_reduced";
        runs.dst.mem = runs.lengths.mem;
        runs.lengths.mem = NULL;
        runs.src_type = GPUSCAN_TYPE_F32;
        prepare_runs(&runs);
    }
    plan = "-sort_u32";
    sort(GPUSCAN_TYPE_U32, 0, NULL, 0);
    plan = "-sort_f32";
    sort(GPUSCAN_TYPE_F32, 0, NULL, 0);
    plan = "-sort_f32_4";
    sort(GPUSCAN_TYPE_F32, 4, NULL, 0);
    plan = "-sort_u64";
    sort(GPUSCAN_TYPE_U64, 0, NULL, 0);
    plan = "-integral_u8";
    integral(GPUSCAN_TYPE_U8, GPUSCAN_TYPE_DEFAULT, 1, GPUSCAN_EXCLUSIVE, 0);
    plan = "-quantile";
    quantile(GPUSCAN_TYPE_U32, 256, 0, GPUSCAN_QUANTILE_BIN);
}

/* Prints the strategy, the sizes and the kernels of a default call on a device. */
static void tell_kernels(const char *operation, gpuscan_type type, uint64_t count) {
    gpuscan *gs = fresh();
    const gpuscan__program *program;
    gpuscan_result r = GPUSCAN_ERROR_INVALID_ARGUMENT;
    size_t k;
#define TELL(name, type_field)                                                                                         \
    if (strcmp(operation, #name) == 0) {                                                                               \
        gpuscan_##name##_desc desc;                                                                                    \
        memset(&desc, 0, sizeof desc);                                                                                 \
        desc.type_field = type;                                                                                        \
        desc.count = count;                                                                                            \
        r = gpuscan_##name##_prepare(gs, &desc);                                                                       \
    }
    TELL(scan, src_type)
    TELL(reduce, src_type)
    TELL(histogram, sample_type)
    TELL(sort, key_type)
#undef TELL
    printf("%-12s %-11s", fake.device->file, gs->device.profile.facts.name);
    if (r != GPUSCAN_SUCCESS)
        printf(" %s\n", gpuscan_result_string(r));
    for (program = gs->programs; program && r == GPUSCAN_SUCCESS; program = program->next) {
        printf(" %s, %u lanes, %u work-items x %u, tiles of %u:", gpuscan__strategies[program->key.strategy].name,
               gs->device.lanes ? (unsigned)gs->device.lane_width : 1u, (unsigned)program->key.group,
               (unsigned)program->key.vectors, (unsigned)program->key.tile);
        for (k = 0; program->names[k]; k++)
            printf(" %s", program->names[k]);
        printf("\n");
    }
    gpuscan_destroy(gs);
}

/* Prepares calls whose sizes exceed any memory. They must launch no more than smaller ones do, and sizes that no buffer
   can have must be refused. */
static void huge(int s, unsigned bits, int what) {
    static const double half = 0.5;
    const uint64_t n = (uint64_t)1 << bits;
    gpuscan *gs = fresh();
    gpuscan_result result;
    int few = bits < 58; /* few enough bytes for a buffer */
    fake.launches = 0;
    fake.widest = 0;
    if (what < 2) {
        gpuscan_scan_desc desc = {0};
        desc.count = what ? 3 : n;
        desc.rows = what ? n : 0;
        desc.call.strategy = (gpuscan_strategy)s;
        result = gpuscan_scan_prepare(gs, &desc);
    } else if (what < 5) {
        gpuscan_histogram_desc desc = {0};
        desc.count = what == 2 ? n : 16;
        desc.rows = what == 2 ? 0 : n / 16;
        desc.tile_width = what == 3 ? 16 : 0;
        desc.tile_height = what == 3 ? 16 : 0;
        desc.pitch = what == 4 ? 17 : 0;
        desc.call.strategy = (gpuscan_strategy)s;
        result = gpuscan_histogram_prepare(gs, &desc);
    } else if (what < 7) {
        gpuscan_integral_desc desc = {0};
        desc.width = 16;
        desc.height = what == 5 ? n / 16 : 16;
        desc.images = what == 5 ? 0 : n / 256;
        desc.call.strategy = (gpuscan_strategy)s;
        result = gpuscan_integral_prepare(gs, &desc);
    } else if (what == 7) { /* nothing to sum */
        gpuscan_integral_desc desc = {0};
        desc.height = desc.images = UINT64_MAX - n;
        desc.kind = GPUSCAN_INCLUSIVE;
        desc.call.strategy = (gpuscan_strategy)s;
        result = gpuscan_integral_prepare(gs, &desc);
        few = 1;
    } else {
        gpuscan_quantile_desc desc = {0};
        desc.rows = n / 256;
        desc.fractions = &half;
        desc.fraction_count = 1;
        desc.call.strategy = (gpuscan_strategy)s;
        result = gpuscan_quantile_prepare(gs, &desc);
    }
    if (result == CL_INVALID_BUFFER_SIZE && bits > 30) /* scratch larger than this device's memory */
        result = GPUSCAN_SUCCESS;
    expect(result == GPUSCAN_ERROR_SIZE_OVERFLOW || result == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY ||
               (few && result == GPUSCAN_SUCCESS), "a size beyond any buffer");
    expect(fake.launches < 256 && fake.widest <= 1u << 19, "a preparation launches too much");
    gpuscan_destroy(gs);
}

static unsigned builds;
static void count_build(const char *text, const char *options) {
    (void)text;
    (void)options;
    builds++;
}

/* Prepares a call without buffers but with all numbers and offsets: the call must then build nothing more.
   which: the operation and the layout of its arrays. */
static void prepared(uint64_t count, int which) {
    static const double half = 0.5;
    gpuscan_buffer a = {NULL, 0}, b = {NULL, 0}, c = {NULL, 0}, none = {NULL, 0};
    uint64_t rows = 1 + count % 97, offset = count % 19;
    gpuscan *gs = fresh();
    gpuscan_result ready, then;
    void (*built)(const char *, const char *) = fake.built;
    fake.built = count_build;
    a.mem = fake_buffer(CL_MEM_READ_WRITE, (size_t)1 << 33, NULL);
    b.mem = fake_buffer(CL_MEM_READ_WRITE, (size_t)1 << 33, NULL);
    c.mem = fake_buffer(CL_MEM_READ_WRITE, (size_t)1 << 33, NULL);
#define PREPARED(name, desc, strip)                                                                                    \
    {                                                                                                                  \
        gpuscan_##name##_desc bare = desc;                                                                             \
        strip;                                                                                                         \
        ready = gpuscan_##name##_prepare(gs, &bare);                                                                   \
        builds = 0;                                                                                                    \
        then = gpuscan_##name(gs, &desc);                                                                              \
    }
    if (which < 5) {
        gpuscan_scan_desc desc = {0};
        desc.src = a;
        desc.dst = which % 2 ? a : b;
        desc.src.offset = desc.dst.offset = offset;
        desc.count = which < 2 ? count : 1 + count % 3000;
        desc.rows = which < 2 || which == 4 ? 0 : rows * 1000;
        desc.src_pitch = desc.dst_pitch = which == 3 ? desc.count + offset : 0;
        desc.src_type = count % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U8;
        desc.segments.form = which == 4 ? GPUSCAN_SEGMENTS_OFFSETS : GPUSCAN_SEGMENTS_NONE;
        desc.segments.count = which == 4 ? rows : 0;
        desc.segments.data = which == 4 ? c : none;
        PREPARED(scan, desc, bare.src.mem = bare.dst.mem = bare.segments.data.mem = NULL)
    } else if (which < 7) {
        gpuscan_reduce_desc desc = {0};
        desc.src = a;
        desc.src.offset = offset;
        desc.dst = b;
        desc.count = which == 5 ? 1 + count % 5000 : count;
        desc.rows = which == 5 ? rows * 100 : 0;
        desc.segments.form = which == 6 ? GPUSCAN_SEGMENTS_OFFSETS : GPUSCAN_SEGMENTS_NONE;
        desc.segments.count = which == 6 ? rows * 100 : 0;
        desc.segments.data = which == 6 ? c : none;
        PREPARED(reduce, desc, bare.src.mem = bare.dst.mem = bare.segments.data.mem = NULL)
    } else if (which == 7) {
        gpuscan_histogram_desc desc = {0};
        desc.samples = a;
        desc.samples.offset = offset;
        desc.counts = b;
        desc.count = count;
        PREPARED(histogram, desc, bare.samples.mem = bare.counts.mem = NULL)
    } else if (which == 8) {
        gpuscan_integral_desc desc = {0};
        desc.src = a;
        desc.src.offset = offset;
        desc.dst = b;
        desc.width = rows;
        desc.height = 1 + count / rows;
        PREPARED(integral, desc, bare.src.mem = bare.dst.mem = NULL)
    } else {
        gpuscan_quantile_desc desc = {0};
        desc.counts = a;
        desc.counts.offset = offset;
        desc.dst = b;
        desc.cdf = which == 9 ? c : none;
        desc.bins = (uint32_t)(1 + count % 100000);
        desc.rows = rows;
        desc.fractions = &half;
        desc.fraction_count = 1;
        PREPARED(quantile, desc, bare.counts.mem = bare.dst.mem = NULL)
    }
#undef PREPARED
    expect(ready == GPUSCAN_SUCCESS && then == GPUSCAN_SUCCESS, "a prepared call is refused");
    if (builds)
        fprintf(stderr, "%s: call %d of %lu\n", fake.device->file, which, (unsigned long)count);
    expect(builds == 0, "a prepared call builds");
    gpuscan_destroy(gs);
    fake_release(a.mem);
    fake_release(b.mem);
    fake_release(c.mem);
    fake.built = built;
}

/* Checks that both kinds of scan need equal scratch, hence equal tiles: others would change the bits of float sums. */
static void kinds(unsigned bits, gpuscan_type type, gpuscan_segment_form form) {
    size_t sizes[2] = {0, 0};
    gpuscan *gs = fresh();
    int kind;
    for (kind = 0; kind < 2; kind++) {
        gpuscan_scan_desc desc = {0};
        desc.count = (uint64_t)1 << bits;
        desc.src_type = type;
        desc.segments.form = form;
        desc.segments.type = form ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
        desc.kind = kind ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        expect(gpuscan_scan_scratch_size(gs, &desc, &sizes[kind]) == GPUSCAN_SUCCESS, "no scratch size of a scan");
    }
    expect(sizes[0] == sizes[1], "inclusive and exclusive scans have different tiles");
    gpuscan_destroy(gs);
}

/* ---- behaviour of devices that are absent ------------------------------------------------------------------------ */

static void expect(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s: %s\n", fake.device->file, what);
        failures++;
    }
}

/* Checks where a histogram's bins get their local memory: with NVIDIA's instructions the kernel declares it, otherwise
   it is an argument. */
static void local_bins(int declared) {
    gpuscan *gs = fresh();
    gpuscan_histogram_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.count = UINT64_C(1) << 26;
    desc.samples.mem = fake_buffer(CL_MEM_READ_WRITE, (size_t)1 << 26, NULL);
    desc.counts.mem = fake_buffer(CL_MEM_READ_WRITE, 1024, NULL);
    desc.call.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
    fake.local_bytes = 0;
    expect(gpuscan_histogram(gs, &desc) == GPUSCAN_SUCCESS, "a histogram is refused"); /* also launches its self-test */
    fake.launches = 0;
    expect(gpuscan_histogram(gs, &desc) == GPUSCAN_SUCCESS && fake.launches == 1, "a histogram is not launched");
    expect(declared ? fake.local_bytes == 0 : fake.local_bytes >= 1024, "local memory for bins");
    gpuscan_destroy(gs);
    fake_release(desc.samples.mem);
    fake_release(desc.counts.mem);
}

/* Checks that a failure is named even if its message cannot be formatted. */
static void without_words(void) {
    gpuscan *gs = fresh();
    gpuscan_scan_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.kind = (gpuscan_scan_kind)9;
    expect(gpuscan_scan(gs, &desc) == GPUSCAN_ERROR_INVALID_ARGUMENT && strstr(gpuscan_error(gs), "kind"), "words");
    print_fails = 1;
    expect(gpuscan_scan(gs, &desc) == GPUSCAN_ERROR_INVALID_ARGUMENT && !strstr(gpuscan_error(gs), "kind") &&
               strstr(gpuscan_error(gs), gpuscan_result_string(GPUSCAN_ERROR_INVALID_ARGUMENT)),
           "a failure without a message");
    print_fails = 0;
    gpuscan_destroy(gs);
}

/* Checks that an object's scratch can be as large as the device's largest buffer. */
static void largest_scratch(void) {
    gpuscan *gs = fresh();
    expect(gpuscan__grow_scratch(gs, GPUSCAN__PLAIN, FAKE_LARGEST - 1) == GPUSCAN_SUCCESS, "the largest scratch");
    expect(gpuscan__grow_scratch(gs, GPUSCAN__PLAIN, FAKE_LARGEST + 1) == CL_INVALID_BUFFER_SIZE, "too much scratch");
    gpuscan_destroy(gs);
}

/* A compiler that refuses programs with limited registers, or also all optimized programs. */
static struct {
    int optimizes_none, is_large;
    unsigned builds, sources;
} picky;
static cl_int CL_API_CALL picky_build(cl_program program, cl_uint count, const cl_device_id *ids, const char *options,
                                      void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    picky.builds++;
    if (strstr(options, "-cl-nv-maxrregcount=") || (picky.optimizes_none && !strstr(options, "-cl-opt-disable")))
        return CL_BUILD_PROGRAM_FAILURE;
    return fake_clBuildProgram(program, count, ids, options, notify, user);
}
static cl_program CL_API_CALL picky_source(cl_context context, cl_uint count, const char **lines, const size_t *lengths,
                                           cl_int *status) {
    picky.sources++;
    return fake_clCreateProgramWithSource(context, count, lines, lengths, status);
}

/* Checks that such a program, from source or a blob, is built without the limit, then unoptimized, and that nothing is
   given up for it. */
static void attempts(void) {
    const gpuscan_opencl *usual = table;
    gpuscan_opencl functions = *table;
    gpuscan_scan_desc desc;
    functions.clBuildProgram = picky_build;
    functions.clCreateProgramWithSource = picky_source;
    table = &functions;
    memset(&desc, 0, sizeof desc);
    desc.count = 1 << 24;
    for (picky.optimizes_none = 0; picky.optimizes_none < 2; picky.optimizes_none++) {
        const unsigned tries = picky.optimizes_none ? 3 : 2;
        gpuscan *gs = fresh();
        gpuscan_info info;
        unsigned char blob[10000];
        size_t size = sizeof blob;
        picky.builds = picky.sources = 0;
        expect(gpuscan_scan_prepare(gs, &desc) == GPUSCAN_SUCCESS && picky.builds == tries && picky.sources == 1,
               "number of build attempts for a program");
        expect(gpuscan_get_info(gs, &info) == GPUSCAN_SUCCESS && info.refusals == 0 && info.has_lanes,
               "a failed attempt changed the object");
        expect(gpuscan_get_blob(gs, blob, &size) == GPUSCAN_SUCCESS, "a blob");
        gpuscan_destroy(gs);
        gs = fresh();
        picky.builds = picky.sources = 0;
        expect(gpuscan_set_blob(gs, blob, size) == GPUSCAN_SUCCESS &&
                   gpuscan_scan_prepare(gs, &desc) == GPUSCAN_SUCCESS && picky.builds == tries && picky.sources == 0,
               "number of build attempts for a blob's program");
        gpuscan_destroy(gs);
    }
    table = usual;
}

/* A compiler whose programs with limited registers are wrong. */
static cl_int CL_API_CALL limited_build(cl_program program, cl_uint count, const cl_device_id *ids, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    passes = !strstr(options, "-cl-nv-maxrregcount=");
    return fake_clBuildProgram(program, count, ids, options, notify, user);
}

/* Checks that such a program makes the object give up the limits, but not NVIDIA's instructions. */
static void limits(void) {
    const gpuscan_opencl *usual = table;
    const unsigned long usual_step = self_test_step;
    gpuscan_opencl functions = *table;
    gpuscan_scan_desc desc;
    gpuscan_info info;
    gpuscan *gs;
    functions.clBuildProgram = limited_build;
    table = &functions;
    self_test_step = 1;
    gs = fresh();
    memset(&desc, 0, sizeof desc);
    for (desc.count = 1 << 23; desc.count <= 1 << 24; desc.count *= 2)
        expect(gpuscan_scan_prepare(gs, &desc) == GPUSCAN_SUCCESS && gs->programs->key.registers == 0 &&
                   gpuscan_get_info(gs, &info) == GPUSCAN_SUCCESS && info.refusals == 1 && info.has_lanes,
               "limits of registers are not given up");
    gpuscan_destroy(gs);
    self_test_step = usual_step;
    table = usual;
}

/* A compiler for Intel's GPUs whose kernels spill, unless they have the large register file. */
static cl_int CL_API_CALL spilling_build(cl_program program, cl_uint count, const cl_device_id *ids,
                                         const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                         void *user) {
    picky.builds++;
    picky.is_large = strstr(options, "-cl-intel-256-GRF-per-thread") != NULL;
    return fake_clBuildProgram(program, count, ids, options, notify, user);
}
static cl_int CL_API_CALL spilling_kernel(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info asked,
                                          size_t size, void *value, size_t *needed) {
    const cl_ulong bytes = picky.is_large ? 0 : 512;
    if (asked != 0x4109) /* CL_KERNEL_SPILL_MEM_SIZE_INTEL */
        return fake_clGetKernelWorkGroupInfo(kernel, device, asked, size, value, needed);
    memcpy(value, &bytes, sizeof bytes);
    return CL_SUCCESS;
}

/* Checks that programs that spill are built again, those that begin with the large register file are not, and other
   devices are not asked. */
static void spills(int is_intel) {
    const gpuscan_opencl *usual = table;
    gpuscan_opencl functions = *table;
    gpuscan_reduce_desc reduce;
    gpuscan_scan_desc scan;
    gpuscan *gs;
    functions.clBuildProgram = spilling_build;
    functions.clGetKernelWorkGroupInfo = spilling_kernel;
    table = &functions;
    gs = fresh();
    memset(&reduce, 0, sizeof reduce);
    memset(&scan, 0, sizeof scan);
    reduce.count = scan.count = 1 << 24;
    picky.builds = 0;
    expect(gpuscan_reduce_prepare(gs, &reduce) == GPUSCAN_SUCCESS && picky.builds == (is_intel ? 2u : 1u) &&
               picky.is_large == is_intel, "a program that spills");
    picky.builds = 0;
    expect(gpuscan_scan_prepare(gs, &scan) == GPUSCAN_SUCCESS && picky.builds == 1 && picky.is_large == is_intel,
           "a program with the large register file");
    gpuscan_destroy(gs);
    table = usual;
}

/* Checks that a sort needs no more scratch than it was said to after the object has given up its lanes. */
static void keeps_scratch(void) {
    gpuscan *gs = fresh();
    gpuscan_sort_desc desc;
    uint64_t with = 0, without = 0;
    memset(&desc, 0, sizeof desc);
    desc.key_type = GPUSCAN_TYPE_U8;
    desc.count = 3u << 21;
    expect(gpuscan_sort_scratch_size(gs, &desc, &with) == GPUSCAN_SUCCESS, "scratch of a sort");
    gpuscan__leave_lanes(gs);
    expect(gpuscan_sort_scratch_size(gs, &desc, &without) == GPUSCAN_SUCCESS && without <= with,
           "scratch of a sort that has lost its lanes");
    gpuscan_destroy(gs);
}

/* Sorts by one launch, of groups that must all run at once, or by one launch a pass, for lack of compute units. */
static void sorts(uint32_t units, uint64_t count, int together) {
    gpuscan *gs = fresh();
    gpuscan_sort_desc desc;
    gpuscan__sort_key own;
    memset(&desc, 0, sizeof desc);
    desc.count = count;
    gs->device.units = units;
    expect(gpuscan_sort_prepare(gs, &desc) == GPUSCAN_SUCCESS && gs->programs, "a sort");
    memcpy(&own, gs->programs->key.own, sizeof own);
    if ((own.form == GPUSCAN__SORT_TOGETHER) != together) {
        fprintf(stderr, "%s: %u elements, %u units: form %u\n", fake.device->file, (unsigned)count, (unsigned)units,
                (unsigned)own.form);
        failures++;
    }
    gpuscan_destroy(gs);
}

static size_t programs_of(const gpuscan *gs) {
    const gpuscan__program *program;
    size_t count = 0;
    for (program = gs->programs; program; program = program->next)
        count++;
    return count;
}

static gpuscan_result of_count(gpuscan *gs, const gpuscan__operation *operation, void *desc, uint64_t count,
                               gpuscan__mode mode, uint64_t *size) {
    memcpy((unsigned char *)desc + operation->count_at, &count, sizeof count);
    return gpuscan__call(gs, operation, desc, mode, size);
}

/* Returns a count after this one; every second is a multiple of 16. length: the range's. */
static uint64_t count_after(uint64_t count, uint64_t length) {
    if (count % 16 != 0)
        return (count + 15) / 16 * 16;
    return count + 1 + hash(count, "near") % 16 + hash(count, "far") % (gpuscan__min(count, length) / 64 + 1);
}

/* Checks that once a range of counts is prepared, none of them needs another program or more scratch, and that the
   range's scratch size suffices for each of them. least: programs that the range has on NVIDIA GPUs. */
static void range(const gpuscan__operation *operation, void *desc, uint64_t from, uint64_t to, size_t least) {
    gpuscan *gs = fresh();
    gpuscan_call *call = (gpuscan_call *)(void *)((unsigned char *)desc + operation->call_at);
    uint64_t count, size = 0, most = 0;
    gpuscan__own_scratch scratch[GPUSCAN__SCRATCHES];
    size_t all;
    gpuscan_result r;
    call->counts_from = from;
    r = of_count(gs, operation, desc, to, GPUSCAN__PREPARE, NULL);
    all = programs_of(gs);
    if (r == GPUSCAN_SUCCESS)
        r = of_count(gs, operation, desc, to, GPUSCAN__SIZE, &most);
    memcpy(scratch, gs->scratch, sizeof scratch);
    if (call->strategy == GPUSCAN_STRATEGY_AUTO || r != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
        expect(r == GPUSCAN_SUCCESS, "a range is refused");
    if (call->strategy == GPUSCAN_STRATEGY_AUTO && strcmp(fake.device->file, "nvidia") == 0)
        expect(all >= least, "a range has few programs");
    call->counts_from = 0;
    for (count = from; r == GPUSCAN_SUCCESS && count <= to; count = count_after(count, to - from)) {
        gpuscan_result one = of_count(gs, operation, desc, count, GPUSCAN__SIZE, &size);
        if (one == GPUSCAN_SUCCESS && count % 8 == 0)
            one = of_count(gs, operation, desc, count, GPUSCAN__PREPARE, NULL);
        if ((one != GPUSCAN_SUCCESS && one != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) || programs_of(gs) != all ||
            memcmp(scratch, gs->scratch, sizeof scratch) != 0 || size > most) {
            fprintf(stderr, "%s: %s, type %u, strategy %d, prepared from %lu to %lu: a count of %lu: %u programs more, "
                            "%lu bytes of scratch for %lu\n", fake.device->file, operation->name,
                    (unsigned)gs->programs->key.src, call->strategy, (unsigned long)from, (unsigned long)to,
                    (unsigned long)count, (unsigned)(programs_of(gs) - all), (unsigned long)size, (unsigned long)most);
            failures++;
            break;
        }
    }
    gpuscan_destroy(gs);
}

static void ranges(void) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U64};
    static const uint64_t rows[] = {1, 3, 64, 1000};
    size_t t, r;
    int s;
    for (t = 0; t < 3; t++) {
        gpuscan_select_desc select = {0};
        gpuscan_runs_desc runs = {0};
        gpuscan_sort_desc sort = {0};
        select.type = runs.key_type = sort.key_type = types[t];
        range(&gpuscan__select_operation, &select, 1, (uint64_t)1 << 28, 2);
        range(&gpuscan__runs_operation, &runs, 1, (uint64_t)1 << 28, 2);
        range(&gpuscan__sort_operation, &sort, 1, (uint64_t)1 << 28, 5);
        range(&gpuscan__sort_operation, &sort, 3000, (uint64_t)1 << 20, 2);
        for (r = 0; r < 4; r++)
            for (s = 0; s < (r % 2 && t == 1 ? GPUSCAN_STRATEGY_COUNT : 1); s++) {
                gpuscan_scan_desc scan = {0};
                gpuscan_reduce_desc reduce = {0};
                scan.src_type = reduce.src_type = types[t];
                scan.rows = reduce.rows = rows[r];
                scan.src_pitch = scan.dst_pitch = reduce.src_pitch = (uint64_t)1 << 28;
                scan.call.strategy = reduce.call.strategy = (gpuscan_strategy)s;
                range(&gpuscan__scan_operation, &scan, 1, 3000, r > 1 ? 8 : 1);
                range(&gpuscan__scan_operation, &scan, 1000, rows[r] < 1000 ? 1000000 : 100000, 1);
                range(&gpuscan__reduce_operation, &reduce, 1, rows[r] < 1000 ? 1000000 : 100000, 1);
                scan.src_pitch = scan.dst_pitch = 0; /* rows without gaps */
                range(&gpuscan__scan_operation, &scan, 300001, 300071, 1);
                range(&gpuscan__scan_operation, &scan, 32736, 32768, 1); /* ends at multiples of 16, and of a tile */
                range(&gpuscan__scan_operation, &scan, 24000, 33000, 1);
                range(&gpuscan__scan_operation, &scan, 16300, 16500, 1); /* 16,370 to 16,376: two rows fit a tile */
                range(&gpuscan__scan_operation, &scan, 10000, rows[r] < 1000 ? 5000000 : 100000, 1);
            }
    }
}

/* Checks that histograms with similar numbers of bins share a program. */
static void similar_bins(void) {
    static const uint32_t bins[][3] = {{2, 3, 5},       {33, 34, 40},      {100, 101, 103},
                                       {1000, 1001, 1002}, {6000, 6001, 6002}};
    size_t c, i;
    for (c = 0; c < sizeof bins / sizeof *bins; c++) {
        gpuscan *gs = fresh();
        for (i = 0; i < 3; i++) {
            gpuscan_histogram_desc desc = {0};
            desc.sample_type = GPUSCAN_TYPE_U32;
            desc.bins = bins[c][i];
            desc.upper.u = desc.bins;
            desc.count = 1000;
            expect(gpuscan_histogram_prepare(gs, &desc) == GPUSCAN_SUCCESS, "a histogram of few bins");
        }
        expect(gs->programs && !gs->programs->next, "similar numbers of bins have several programs");
        gpuscan_destroy(gs);
    }
}

/* Checks which scans along columns AUTO computes in one launch, on NVIDIA's GPUs and on others with lanes. */
static void columns_in_one_launch(int nvidia) {
    static const struct {
        gpuscan_type type;
        uint64_t elements, columns, pitch;
        int nvidia, others;
    } cases[] = {{GPUSCAN_TYPE_F32, 1 << 26, 16, 0, 1, 0},   {GPUSCAN_TYPE_F32, 1 << 26, 7, 0, 1, 1},
                 {GPUSCAN_TYPE_F32, 1 << 22, 16, 0, 1, 1},   {GPUSCAN_TYPE_F32, 1 << 26, 4096, 0, 1, 0},
                 {GPUSCAN_TYPE_U64, 1 << 26, 100, 0, 1, 0},  {GPUSCAN_TYPE_U64, 1 << 26, 3, 0, 1, 0},
                 {GPUSCAN_TYPE_U64, 1 << 20, 3, 0, 1, 1},    {GPUSCAN_TYPE_U32, 1 << 26, 3, 64, 1, 1},
                 {GPUSCAN_TYPE_U16, 1 << 26, 129, 0, 1, 0},  {GPUSCAN_TYPE_U16, 1 << 24, 129, 0, 1, 1},
                 {GPUSCAN_TYPE_U16, 1 << 26, 3, 64, 1, 1},   {GPUSCAN_TYPE_U8, 1 << 28, 31, 0, 1, 1},
                 {GPUSCAN_TYPE_U8, 1 << 28, 129, 0, 1, 0},   {GPUSCAN_TYPE_U8, 1 << 26, 100, 0, 1, 1},
                 {GPUSCAN_TYPE_F32, 1 << 26, 1 << 18, 0, 0, 0}};
    size_t k;
    for (k = 0; k < sizeof cases / sizeof *cases; k++) {
        gpuscan *gs = fresh();
        const gpuscan__program *program;
        int one = 0;
        gpuscan_scan_desc scan;
        memset(&scan, 0, sizeof scan);
        scan.src_type = cases[k].type;
        scan.rows = cases[k].columns;
        scan.src_pitch = scan.dst_pitch = cases[k].pitch;
        scan.count = cases[k].elements / scan.rows;
        scan.along = GPUSCAN_ALONG_COLUMNS;
        expect(gpuscan_scan_prepare(gs, &scan) == GPUSCAN_SUCCESS, "a scan along columns");
        for (program = gs->programs; program; program = program->next) /* in place has a program of its own */
            one |= gpuscan__is_single_pass((gpuscan_strategy)program->key.strategy);
        expect(one == (nvidia ? cases[k].nvidia : cases[k].others), "the strategy of a scan along columns");
        gpuscan_destroy(gs);
    }
}

/* Checks that AUTO scans and selects many elements, and finds their runs, in one launch on this device. */
static void one_launch(void) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U64};
    size_t t;
    for (t = 0; t < sizeof types / sizeof *types; t++) {
        gpuscan *gs = fresh();
        gpuscan_scan_desc scan;
        gpuscan_select_desc select;
        gpuscan_runs_desc runs;
        memset(&scan, 0, sizeof scan);
        memset(&select, 0, sizeof select);
        memset(&runs, 0, sizeof runs);
        scan.count = select.count = runs.count = 1 << 26;
        scan.src_type = select.type = runs.key_type = types[t];
        runs.lengths.mem = (cl_mem)(void *)&any_buffer;
        select.flags.mem = (cl_mem)(void *)&any_buffer;
        expect(gpuscan_scan_prepare(gs, &scan) == GPUSCAN_SUCCESS &&
                   gs->programs->key.strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, "a scan in one launch");
        expect(gpuscan_select_prepare(gs, &select) == GPUSCAN_SUCCESS &&
                   gs->programs->key.strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, "a selection in one launch");
        expect(gpuscan_runs_prepare(gs, &runs) == GPUSCAN_SUCCESS &&
                   gs->programs->key.strategy == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, "runs in one launch");
        gpuscan_destroy(gs);
    }
}

int main(int argc, char **argv) {
    gpuscan_opencl functions;
    int of_plans = argc == 3 && strcmp(argv[1], "--plans") == 0, of_kernels = argc == 5;
    gpuscan_type type;
    unsigned bits;
    int s, what;
    size_t d;
    if (argc == 4) {
        step = strtoul(argv[2], NULL, 10);
        first = strtoul(argv[3], NULL, 10);
    }
    self_test_step = step >= 16 || of_plans ? 8 : 1;
    if (step >= 16) {
        calls_step = 4;
        step /= 4;
    }
    if ((argc != 2 && argc != 4 && !of_plans && !of_kernels) || step == 0) {
        fprintf(stderr, "usage: programs FOLDER [STEP FIRST] | --plans FOLDER | --kernels OPERATION TYPE COUNT\n");
        return 2;
    }
    folder = argv[of_plans ? 2 : 1];
    fake.built = of_kernels ? NULL : collect;
    fake.forgets = 1;
#define FILL(name, result, parameters) functions.name = fake_##name;
    GPUSCAN_OPENCL_FUNCTIONS(FILL)
#undef FILL
    table = &functions;
    for (d = 0; of_kernels && d < sizeof devices / sizeof *devices; d++) {
        fake.device = &devices[d];
        tell_kernels(argv[2], gpuscan_type_from_name(argv[3], &type) == GPUSCAN_SUCCESS ? type : GPUSCAN_TYPE_DEFAULT,
                     strtoull(argv[4], NULL, 10));
    }
    for (d = 0; of_plans && d < sizeof offline / sizeof *offline; d++) {
        fake.device = &offline[d];
        plans();
    }
    for (d = 0; !of_plans && !of_kernels && d < sizeof devices / sizeof *devices; d++) {
        fake.device = &devices[d];
        everything();
        fake.built = NULL;
        ranges();
        similar_bins();
        for (bits = 10; bits < 29; bits++)
            for (what = 0; what < 2; what++) {
                kinds(bits, GPUSCAN_TYPE_F32, what ? GPUSCAN_SEGMENTS_KEYS : GPUSCAN_SEGMENTS_NONE);
                kinds(bits, GPUSCAN_TYPE_F16, what ? GPUSCAN_SEGMENTS_KEYS : GPUSCAN_SEGMENTS_NONE);
                if (fake.device->has_f64)
                    kinds(bits, GPUSCAN_TYPE_F64, what ? GPUSCAN_SEGMENTS_KEYS : GPUSCAN_SEGMENTS_NONE);
            }
        fake.built = collect;
        if (step == 1 || d % 3 == first % 3) { /* the same with limits of all kinds: nothing may divide by 0 */
            fake.built = NULL;
            drawn = hash(first + 1, fake.device->file);
            everything();
            drawn = 0;
            for (what = 0; what < 11; what++)
                for (s = 0; s < 8; s++)
                    if (is_in_turn())
                        prepared(hash(first + 8 * (unsigned)what + (unsigned)s, fake.device->file) % 3000000 + 1,
                                 what);
            for (what = 0; what < 9; what++)
                for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
                    for (bits = 12; bits < 64; bits += 5)
                        if (is_in_turn())
                            huge(s, bits, what);
            fake.built = collect;
        }
        if (strcmp(fake.device->file, "nvidia") == 0) {
            columns_in_one_launch(1);
            group = 16; /* less than a sub-group */
            elements(GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, GPUSCAN_OP_ADD, NULL, 0);
            group = 0;
            local_bins(1);
            attempts();
            limits();
        }
        if (strcmp(fake.device->file, "amd") == 0 || strcmp(fake.device->file, "intel") == 0) {
            one_launch();
            columns_in_one_launch(0);
            keeps_scratch();
            spills(strcmp(fake.device->file, "intel") == 0);
        }
        if (strcmp(fake.device->file, "amd") == 0) {
            local_bins(0);
            sorts(100, 700000, 1);
            sorts(40, 700000, 0);
            sorts(40, 100000, 1);
            sorts(40, 2000, 0); /* one group */
        }
        if (strcmp(fake.device->file, "intel") == 0) {
            sorts(512, 260000, 1);
            sorts(512, 500000, 1);
            sorts(512, 530000, 0);
            sorts(96, 90000, 1);
            sorts(96, 110000, 0);
        }
    }
    if (!of_plans && !of_kernels) {
        without_words();
        largest_scratch();
    }
    expect(fake.objects == 0, "objects are left");
    if (!of_kernels)
        printf("%u programs\n", written);
    return failures > 0;
}
