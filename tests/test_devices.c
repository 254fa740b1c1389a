/* Devices that are absent: the real device pretends, through the entry-point table, to be another one. Checks what the
   library chooses for it and that results are right; cannot see how the other device would run it.
      cc -O2 test_devices.c -o test_devices -lcmocka -lOpenCL -lm -lpthread -ldl */
#include "layer.h"
#include "jobs.h"
#define FAKE_SAYS_ONLY
#include "fake.h"

/* What a device reports of itself; the real device answers where a member is NULL or 0. */
typedef struct disguise {
    const char *what;
    fake_device says;
    const char *profile;                           /* that it must get */
    int fence;                                     /* has_fence: 0, 1, or -1: as the real device */
    uint32_t refused;                              /* strategies, as in gpuscan_info */
    cl_ulong fence_can;                            /* what a fence can do, of 3.0 */
    size_t work_items;                             /* in the first dimension */
    cl_uint address_bits;
    size_t kernel_group;                           /* work-items that a kernel's group may have */
    int no_compiler, no_platform, no_kernel_group; /* the last: a kernel's group is 0 */
} disguise;

enum { FENCE_CAPABILITIES = 0x1064, FENCE_ORDER_ACQ_REL = 1 << 1, FENCE_SCOPE_DEVICE = 1 << 5 }; /* of OpenCL 3.0 */

/* Members common to several devices. */
#define AMD_GPU   .says = {.type = CL_DEVICE_TYPE_GPU, .vendor_id = 0x1002, .name = "a card", .platform = "AMD"}
#define INTEL_GPU .says = {.type = CL_DEVICE_TYPE_GPU, .vendor_id = 0x8086, .name = "a card", .platform = "Intel"}
#define A_CPU                                                                                                          \
    .says = {.type = CL_DEVICE_TYPE_CPU,                                                                               \
             .name = "a processor",                                                                                    \
             .platform = "a driver",                                                                                   \
             .version = "OpenCL 1.2 ",                                                                                 \
             .language = "OpenCL C 1.2 "}

static const disguise *worn;
static int has_instructions;   /* the last program has NVIDIA's */
static int has_wide;           /* the last program has vectors of 16 */
static const char *first_line; /* of each program; NULL: nothing added */
static unsigned group_asked;   /* queries of a kernel's group, from 1; 0: not counted */
static unsigned refused_builds, capped_builds, unoptimized_builds; /* with few registers; unoptimized */
static cl_int refusal;        /* code of a refused build; 0: CL_BUILD_PROGRAM_FAILURE */
static int refuses_all;       /* every build is refused */
static const char *refuses;   /* refuses programs with lanes that contain this; NULL: none */
static int has_refused;       /* the last program is refused */
static int refuses_without;   /* refuse those without lanes, too */
static size_t width_said;     /* sub-groups are built as lanes by local memory with this width; 0: refused */
static cl_int width_code;     /* result of the width query */
static cl_uint platforms_said, platforms_without_devices; /* of the loader; the first of them fail */
static cl_uint devices_said;                              /* of each platform */
static unsigned platforms_asked;

/* Always asks the real device, so that the call counts. */
static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed) {
    cl_int code = layer_clGetDeviceInfo(id, what, size, value, needed), said;
    char *text;
    if (fake_says(&worn->says, what, size, value, needed, &said))
        return said;
    switch (what) {
    case CL_DEVICE_EXTENSIONS: /* hides the sub-groups of later PoCLs */
        for (text = (char *)value; code == CL_SUCCESS && text && (text = strstr(text, "subgroup")) != NULL;)
            *text = '-';
        return code;
    case CL_DEVICE_COMPILER_AVAILABLE:
        return worn->no_compiler ? fake_uint(CL_FALSE, size, value, needed) : code;
    case CL_DEVICE_PLATFORM:
        return worn->no_platform ? fake_pointer(NULL, size, value, needed) : code;
    case FENCE_CAPABILITIES:
        return worn->fence_can ? answer(&worn->fence_can, sizeof worn->fence_can, size, value, needed) : code;
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        if (worn->work_items && value)
            *(size_t *)value = worn->work_items;
        return code;
    case CL_DEVICE_ADDRESS_BITS:
        return worn->address_bits ? fake_uint(worn->address_bits, size, value, needed) : code;
    default:
        return code;
    }
}

static cl_int CL_API_CALL platform_info(cl_platform_id id, cl_platform_info what, size_t size, void *value,
                                        size_t *needed) {
    if (what == CL_PLATFORM_NAME && worn->says.platform)
        return answer_text(worn->says.platform, size, value, needed);
    return layer_clGetPlatformInfo(id, what, size, value, needed);
}

static cl_int CL_API_CALL kernel_group(cl_kernel id, cl_device_id device, cl_kernel_work_group_info what, size_t size,
                                       void *value, size_t *needed) {
    cl_int code = layer_clGetKernelWorkGroupInfo(id, device, what, size, value, needed);
    if (width_said && what == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE && value) {
        *(size_t *)value = width_said;
        return width_code;
    }
    if (code == CL_SUCCESS && what == CL_KERNEL_WORK_GROUP_SIZE && worn->kernel_group && value)
        if (*(size_t *)value > worn->kernel_group)
            *(size_t *)value = worn->kernel_group;
    if (code == CL_SUCCESS && value && (worn->no_kernel_group || group_asked == 1))
        *(size_t *)value = 0;
    if (group_asked && group_asked++ == 2)
        return CL_OUT_OF_RESOURCES;
    return code;
}

/* Marks programs that other compilers than NVIDIA's refuse: its instructions, and its option that limits registers.
   PoCL accepts both and crashes later. */
static cl_program CL_API_CALL source(cl_context context, cl_uint count, const char **lines, const size_t *lengths,
                                     cl_int *status) {
    const char *subgroups;
    cl_uint i;
    has_instructions = has_wide = has_refused = 0;
    for (i = 0; i < count && i < 8; i++) {
        if (refuses && strstr(lines[i], refuses))
            has_refused = refuses_without || !strstr(lines[i], "#define GPUSCAN_LANES_KIND 0\n");
        subgroups = strstr(lines[i], "#define GPUSCAN_LANES_KIND 2\n");
        if (subgroups && width_said) {
            /* these need more local memory, but the program is not launched */
            static const char local[] = "#define GPUSCAN_LANES_KIND 3\n#undef GPUSCAN_SHARED_BYTES\n"
                                        "#define GPUSCAN_SHARED_BYTES 65536\n";
            const char *rest = strchr(subgroups, '\n') + 1;
            char *text = (char *)test_alloc(strlen(lines[i]) + sizeof local);
            cl_program made;
            sprintf(text, "%.*s%s%s", (int)(subgroups - lines[i]), lines[i], local, rest);
            lines[i] = text;
            made = layer_clCreateProgramWithSource(context, count, lines, lengths, status);
            free(text);
            return made;
        }
        if ((strstr(lines[i], "#define GPUSCAN_PTX ") && !strstr(lines[i], "#define GPUSCAN_PTX 0\n")) || subgroups ||
            strstr(lines[i], "#define GPUSCAN_LANES_KIND 4\n"))
            has_instructions = 1;
        if (strstr(lines[i], "#define GPUSCAN_WIDE 16\n"))
            has_wide = 1;
    }
    if (first_line) {
        const char **more = (const char **)test_alloc((count + 1) * sizeof *more);
        cl_program made;
        assert_null(lengths);
        more[0] = first_line;
        memcpy(more + 1, lines, count * sizeof *lines);
        made = layer_clCreateProgramWithSource(context, count + 1, more, NULL, status);
        free(more);
        return made;
    }
    return layer_clCreateProgramWithSource(context, count, lines, lengths, status);
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    int is_capped = options && strstr(options, "-cl-nv-maxrregcount=");
    const char *standard = options ? strstr(options, "-cl-std=CL2.0") : NULL;
    if (refuses_all || has_instructions || is_capped || has_refused) {
        refused_builds++;
        capped_builds += is_capped ? 1u : 0u;
        unoptimized_builds += options && strstr(options, "-cl-opt-disable") ? 1u : 0u;
        return refusal ? refusal : CL_BUILD_PROGRAM_FAILURE;
    }
    if (standard) { /* later PoCLs compile only OpenCL C 1.2 and 3.0 */
        char *own = strdup(options);
        cl_int code;
        own[standard - options + (ptrdiff_t)strlen("-cl-std=CL")] = '3';
        code = layer_clBuildProgram(program, count, devices, own, notify, user);
        free(own);
        return code;
    }
    return layer_clBuildProgram(program, count, devices, options, notify, user);
}

/* Returns the test's platform platforms_said times. */
static cl_int CL_API_CALL platform_ids(cl_uint count, cl_platform_id *ids, cl_uint *found) {
    cl_platform_id platform = NULL;
    cl_uint i;
    test_cl(clGetDeviceInfo(test.device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL));
    for (i = 0; i < count && i < platforms_said; i++)
        ids[i] = platform;
    *found = platforms_said;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_ids(cl_platform_id id, cl_device_type type, cl_uint count, cl_device_id *ids,
                                     cl_uint *found) {
    cl_uint i;
    (void)id;
    (void)type;
    if (platforms_asked++ < platforms_without_devices)
        return CL_DEVICE_NOT_FOUND;
    for (i = 0; i < count && i < devices_said; i++)
        ids[i] = test.device;
    *found = devices_said;
    return CL_SUCCESS;
}

/* Returns a desc through the table, for a device that reports what d says. */
static gpuscan_desc disguised(const disguise *d) {
    layer_open();
    worn = d;
    refused_builds = capped_builds = unoptimized_builds = platforms_asked = group_asked = 0;
    devices_said = 1;
    layer.table.clGetDeviceInfo = device_info;
    layer.table.clGetPlatformInfo = platform_info;
    layer.table.clGetKernelWorkGroupInfo = kernel_group;
    layer.table.clCreateProgramWithSource = source;
    layer.table.clBuildProgram = build;
    return layer_desc();
}

/* Skips unless PoCL runs: other compilers refuse some options and groups. */
static void want_pocl(void) {
    if (!test_is_pocl())
        skip();
}

/* Destroys the object; each build refused here must have become a refusal of the library. */
static void close_disguised(gpuscan *gs) {
    if (refused_builds)
        test_announce_refusals(1, "PoCL takes no vendor's instructions");
    test_destroy(gs);
    test.announced = 0;
    layer_expect_empty();
}

static gpuscan *open_disguised(const disguise *d, uint32_t without) {
    gpuscan_desc desc = disguised(d);
    gpuscan *gs = NULL;
    desc.limits.without = without;
    test_ok(gpuscan_create(&gs, &desc));
    return gs;
}

/* Returns the histogram key of the program built last. */
static gpuscan__histogram_key histogram_key(const gpuscan *gs) {
    gpuscan__histogram_key own;
    memcpy(&own, gs->programs->key.own, sizeof own);
    return own;
}

/* Checks that without lanes AUTO never looks back in scans, selections and runs (other than on simulators), and that no
   GPU takes the tiles of a vendor's GPUs, which are for lanes. */
static void expect_no_look_back(const gpuscan *gs) {
    const gpuscan__program *p;
    gpuscan_info info;
    test_ok(gpuscan_get_info((gpuscan *)(uintptr_t)gs, &info));
    if (info.has_lanes || strcmp(info.profile, "simulator") == 0)
        return;
    assert_true(!test_is_single_pass(info.scan_strategy) || gpuscan__is_cpu_strategy(info.scan_strategy));
    assert_int_equal(gpuscan__any_tuning(gs)->devices & (GPUSCAN__ON_NVIDIA | GPUSCAN__ON_AMD_OR_INTEL), 0);
    for (p = gs->programs; p; p = p->next)
        if ((p->key.operation == GPUSCAN__OPERATION_scan || p->key.operation == GPUSCAN__OPERATION_select ||
             p->key.operation == GPUSCAN__OPERATION_runs) &&
            !p->key.lanes && test_is_single_pass((gpuscan_strategy)p->key.strategy) && !gpuscan__key_is_cpu(&p->key))
            fail_msg("%s: operation %u looks back without lanes", test.what, (unsigned)p->key.operation);
}

/* Checks that a GPU refuses a CPU's strategies in every operation. */
static void expect_refused(gpuscan *gs) {
    gpuscan_call call;
    uint64_t size;
    int which, s;
    memset(&call, 0, sizeof call);
    for (which = 0; which < JOB_DEVICE_END; which++) {
        job j;
        job_new(&j, which, 100);
        for (s = GPUSCAN_STRATEGY_CPU_MULTI_PASS; s <= GPUSCAN_STRATEGY_CPU_SINGLE_PASS; s++) {
            call.strategy = (gpuscan_strategy)s;
            test_case("%s by %s", job_names[which], test_strategy_name(call.strategy));
            test_expect(job_scratch_size(gs, &j, &call, &size), GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
        }
        job_free(&j);
    }
}

/* Checks that calls with the profile's strategies are right. */
static void runs(gpuscan *gs, const char *what) {
    static const int which[] = {JOB_SCAN,   JOB_SCAN_PLACE, JOB_SCAN_ROWS, JOB_UNIFORM_ADD,
                                JOB_REDUCE, JOB_ARGMIN,     JOB_HISTOGRAM, JOB_EDGES,
                                JOB_SELECT, JOB_RUNS};
    static const cl_uint ones[1000] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    cl_uint sums[1000];
    gpuscan_scan_desc rows;
    gpuscan *whole = test.gs;
    gpuscan_call call;
    size_t i;
    memset(&call, 0, sizeof call);
    memset(&rows, 0, sizeof rows);
    test.gs = gs;
    test_case("%s: many short rows", what);
    rows.rows = 100;
    rows.kind = GPUSCAN_INCLUSIVE;
    test_ok(gpuscan_scan_host(gs, ones, sums, 10, &rows));
    assert_int_equal(sums[9], 10);
    assert_int_equal(sums[10], 1);
    assert_int_equal(sums[11], 1);
    assert_int_equal(sums[999], 0);
    for (i = 0; i < sizeof which / sizeof *which; i++) {
        job j;
        if (i > 1 && !(worn->kernel_group && which[i] == JOB_UNIFORM_ADD) && !test_share(i, 2))
            continue;
        test_case("%s: %s", what, job_names[which[i]]);
        job_new(&j, which[i], test_size(300, 3001, 70001));
        test_ok(job_start(gs, &j, &call));
        test_cl(clFinish(test.queue));
        job_done(&j);
        job_free(&j);
    }
    test_case("%s", what);
    expect_no_look_back(gs);
    test.gs = whole;
}

static const disguise nvidia = {.what = "NVIDIA's own driver",
                                .says.type = CL_DEVICE_TYPE_GPU,
                                .says.vendor_id = 0x10de,
                                .says.name = "a card",
                                .says.platform = "NVIDIA CUDA",
                                .says.version = "OpenCL 3.0 CUDA",
                                .says.language = "OpenCL C 1.2 ",
                                .says.capability = 90,
                                .profile = "NVIDIA GPU",
                                .fence = 1};

/* Checks that strategies with long loops in a work-item are refused, even by operations that never look back. */
static void refuses_long_loops(gpuscan *gs) {
    static const double fraction = 0.5;
    cl_uint counts[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, bin = 0;
    gpuscan_quantile_desc d;
    memset(&d, 0, sizeof d);
    d.bins = 9;
    d.fractions = &fraction;
    d.fraction_count = 1;
    d.call.strategy = GPUSCAN_STRATEGY_CPU_MULTI_PASS;
    assert_int_equal(gpuscan_quantile_host(gs, counts, &bin, &d), GPUSCAN_ERROR_UNSUPPORTED_STRATEGY);
    d.call.strategy = GPUSCAN_STRATEGY_AUTO;
    test_ok(gpuscan_quantile_host(gs, counts, &bin, &d));
    assert_int_equal(bin, 4);
}

static void test_profiles(void **state) {
    static const disguise disguises[] = {
        {.what = "an NVIDIA GPU by Mesa",
         .says.type = CL_DEVICE_TYPE_GPU,
         .says.vendor_id = 0x10de,
         .says.name = "a card",
         .says.platform = "rusticl",
         .says.version = "OpenCL 1.2 ",
         .says.language = "OpenCL C 1.2 ",
         .profile = "GPU"},
        {.what = "an AMD GPU",
         AMD_GPU,
         .says.version = "OpenCL 2.0 ",
         .says.language = "OpenCL C 2.0 ",
         .profile = "AMD GPU",
         .fence = 1},
        {.what = "an AMD GPU of OpenCL C 1.2",
         AMD_GPU,
         .says.version = "OpenCL 2.1 ",
         .says.language = "OpenCL C 1.2 ",
         .profile = "AMD GPU"},
        {.what = "an Intel GPU", INTEL_GPU, .profile = "Intel GPU", .fence = -1},
        {.what = "an Intel GPU without order",
         INTEL_GPU,
         .says.version = "OpenCL 3.0 ",
         .says.language = "OpenCL C 3.0 ",
         .profile = "Intel GPU",
         .fence_can = FENCE_SCOPE_DEVICE},
        {.what = "an Intel GPU without scope",
         INTEL_GPU,
         .says.version = "OpenCL 3.0 ",
         .says.language = "OpenCL C 3.0 ",
         .profile = "Intel GPU",
         .fence_can = FENCE_ORDER_ACQ_REL},
        {.what = "llvmpipe",
         .says.type = CL_DEVICE_TYPE_CPU,
         .says.name = "llvmpipe (LLVM 15)",
         .says.platform = "rusticl",
         .profile = "llvmpipe",
         .refused = 1u << GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD | 1u << GPUSCAN_STRATEGY_CPU_MULTI_PASS |
                    1u << GPUSCAN_STRATEGY_CPU_SINGLE_PASS,
         .fence = -1},
        {.what = "a simulator",
         .says.type = CL_DEVICE_TYPE_CPU,
         .says.name = "a processor",
         .says.platform = "Oclgrind",
         .says.version = "OpenCL 1.2 ",
         .says.language = "OpenCL C 1.2 ",
         .profile = "simulator",
         .fence = 1},
        {.what = "a CPU", A_CPU, .profile = "CPU"},
        {.what = "a Skylake CPU",
         .says.type = CL_DEVICE_TYPE_CPU,
         .says.name = "pthread-skylake-avx512-a processor",
         .says.platform = "a driver",
         .profile = "Skylake CPU",
         .fence = -1},
        {.what = "an AMD CPU with AVX-512",
         .says.type = CL_DEVICE_TYPE_CPU,
         .says.name = "pthread-skylake-avx512-AMD processor",
         .says.platform = "a driver",
         .profile = "AMD CPU",
         .fence = -1},
        {.what = "an accelerator",
         .says.type = CL_DEVICE_TYPE_ACCELERATOR,
         .says.name = "a card",
         .says.platform = "a driver",
         .profile = "accelerator",
         .fence = -1},
    };
    size_t i;
    (void)state;
    want_pocl();
    for (i = 0; i < sizeof disguises / sizeof *disguises; i++) {
        const disguise *d = &disguises[i];
        gpuscan *gs;
        gpuscan_info info;
        test_case("%s", d->what);
        gs = open_disguised(d, 0);
        test_ok(gpuscan_get_info(gs, &info));
        assert_string_equal(info.profile, d->profile);
        if (d->fence >= 0)
            assert_int_equal(info.has_fence, d->fence);
        assert_int_equal(info.has_lanes, 0);
        if (d->says.type == CL_DEVICE_TYPE_GPU)
            expect_refused(gs);
        if (d->refused) {
            assert_int_equal(info.refused, d->refused);
            refuses_long_loops(gs);
        }
        if (test_takes_one_of(2, i)) /* a second or two */
            runs(gs, d->what);
        assert_int_equal(refused_builds, 0);
        close_disguised(gs);
    }
}

/* Float scans without lanes, of many parts: element i + 1 of an exclusive scan has the bits of inclusive element i. */
static void test_float_sums_without_lanes(void **state) {
    enum { COUNT = 400000 };
    float            *in, *inclusive, *exclusive;
    gpuscan_scan_desc d;
    gpuscan          *gs;
    uint32_t          i;
    (void)state;
    want_pocl();
    test_case("%s, without its instructions: float sums", nvidia.what);
    in = (float *)test_alloc(COUNT * sizeof *in);
    inclusive = (float *)test_alloc(COUNT * sizeof *in);
    exclusive = (float *)test_alloc(COUNT * sizeof *in);
    gs = open_disguised(&nvidia, GPUSCAN_WITHOUT_LANES);
    for (i = 0; i < COUNT; i++)
        in[i] = (float)(test_random() % 1000) * 0.1f;
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_F32;
    test_ok(gpuscan_scan_host(gs, in, exclusive, COUNT, &d));
    d.kind = GPUSCAN_INCLUSIVE;
    test_ok(gpuscan_scan_host(gs, in, inclusive, COUNT, &d));
    for (i = 1; i < COUNT; i++)
        if (memcmp(&exclusive[i], &inclusive[i - 1], sizeof *in) != 0)
            fail_msg("%s: exclusive element %u is %.9g instead of %.9g", test.what, (unsigned)i, exclusive[i],
                     inclusive[i - 1]);
    close_disguised(gs);
    free(in);
    free(inclusive);
    free(exclusive);
}

/* NVIDIA's instructions are asked for but do not build: the library must work without them. */
static void test_no_instructions(void **state) {
    static const disguise other = {.what = "a GPU of another vendor",
                                   .says.type = CL_DEVICE_TYPE_GPU,
                                   .says.vendor_id = 1,
                                   .says.name = "a card",
                                   .says.platform = "a platform"};
    gpuscan__sort_tuning sorts; /* of GPUs whose lanes exchange nothing */
    gpuscan *gs;
    gpuscan_info info;
    int fence; /* OpenCL's, if the device has one */
    (void)state;
    want_pocl();
    test_case("%s", nvidia.what);
    gs = open_disguised(&nvidia, 0);
    test_ok(gpuscan_get_info(gs, &info));
    assert_string_equal(info.profile, nvidia.profile);
    assert_int_equal(info.has_lanes, 1);
    assert_int_equal(info.has_fence, 1);
    runs(gs, nvidia.what);
    assert_int_equal(refused_builds, 3); /* the first, one without a register limit, one unoptimized */
    assert_int_equal(capped_builds, 1);
    assert_int_equal(unoptimized_builds, 1);
    assert_string_equal(gpuscan_error(gs), "");
    test_ok(gpuscan_get_info(gs, &info));
    assert_int_equal(info.has_lanes, 0);
    fence = info.has_fence;
    close_disguised(gs);

    test_case("%s, without its fences", nvidia.what);
    gs = open_disguised(&nvidia, GPUSCAN_WITHOUT_FENCE);
    runs(gs, "an NVIDIA GPU without its fences");
    test_ok(gpuscan_get_info(gs, &info));
    assert_int_equal(info.has_lanes, 0);
    close_disguised(gs);

    gs = open_disguised(&other, 0);
    sorts = gs->device.profile.sort;
    close_disguised(gs);
    test_case("%s, without its instructions", nvidia.what);
    gs = open_disguised(&nvidia, GPUSCAN_WITHOUT_LANES);
    test_ok(gpuscan_get_info(gs, &info));
    assert_int_equal(info.has_lanes, 0);
    assert_memory_equal(&gs->device.profile.sort, &sorts, sizeof sorts);
    assert_int_equal(info.has_fence, fence); /* both ways to lose them end alike */
    runs(gs, "an NVIDIA GPU without its instructions");
    assert_int_equal(refused_builds, 0);
    close_disguised(gs);
}

/* Checks that sub-groups are used if their width is known and given up if a program with them does not build. The info
   must say why a device has no lanes. */
static void test_subgroups(void **state) {
#define SHUFFLES "cl_khr_subgroups cl_khr_subgroup_shuffle cl_khr_subgroup_ballot"
#define AMD      "AMD Accelerated Parallel Processing"
    static const struct {
        const char *what, *platform, *version, *extensions;
        cl_uint vendor, says; /* says: width from the driver; 0: AMD's 64, Intel's 8, 16 or 32 */
        int kind;
        uint32_t width;
        unsigned refusals;
    } cases[] = {
        {"Intel's, which may be required", "Intel", "OpenCL 3.0 ", SHUFFLES " cl_intel_required_subgroup_size", 0x8086,
         0, GPUSCAN__LANES_SUBGROUPS, 16, 0},
        {"Intel's, of 32 alone", "Intel", "OpenCL 3.0 ", SHUFFLES " cl_intel_required_subgroup_size", 0x8086, 32,
         GPUSCAN__LANES_SUBGROUPS, 32, 0},
        {"Intel's, of 4 alone", "Intel", "OpenCL 3.0 ", SHUFFLES " cl_intel_required_subgroup_size", 0x8086, 4,
         GPUSCAN__LANES_NONE, 32, 1},
        {"Intel's, of OpenCL 1.2", "Intel", "OpenCL 1.2 ", SHUFFLES " cl_intel_required_subgroup_size", 0x8086, 0,
         GPUSCAN__LANES_NONE, 32, 0},
        {"Intel's, older drivers", "Intel", "OpenCL 2.1 ", "cl_intel_subgroups cl_intel_required_subgroup_size", 0x8086,
         0, GPUSCAN__LANES_NONE, 32, 0},
        {"no ballots", "ARM", "OpenCL 3.0 ", "cl_khr_subgroups cl_khr_subgroup_shuffle", 0x13b5, 16,
         GPUSCAN__LANES_NONE, 32, 0},
        {"of 16", "ARM", "OpenCL 3.0 ", SHUFFLES, 0x13b5, 16, GPUSCAN__LANES_SUBGROUPS, 16, 0},
        {"of no width", "ARM", "OpenCL 3.0 ", SHUFFLES, 0x13b5, 0, GPUSCAN__LANES_NONE, 32, 1},
        {"of 128", "QUALCOMM", "OpenCL 3.0 ", SHUFFLES, 0x5143, 128, GPUSCAN__LANES_NONE, 32, 1},
        {"no shuffles", "ARM", "OpenCL 3.0 ", "cl_khr_subgroups cl_khr_subgroup_ballot", 0x13b5, 16,
         GPUSCAN__LANES_NONE, 32, 0},
        {"AMD's, of 64", AMD, "OpenCL 2.0 ", "cl_amd_device_attribute_query", 0x1002, 0, GPUSCAN__LANES_AMD, 64, 0},
        {"AMD's, of 32", AMD, "OpenCL 2.0 ", "cl_amd_device_attribute_query", 0x1002, 32, GPUSCAN__LANES_AMD, 32, 0},
        {"AMD's by another driver", "rusticl", "OpenCL 3.0 ", "cl_amd_device_attribute_query", 0x1002, 0,
         GPUSCAN__LANES_NONE, 32, 0},
    };
    size_t i;
    (void)state;
    want_pocl();
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        gpuscan *gs;
        gpuscan_info info;
        disguise d;
        memset(&d, 0, sizeof d);
        d.says.type = CL_DEVICE_TYPE_GPU;
        d.says.name = "a card";
        d.says.platform = cases[i].platform;
        d.says.version = cases[i].version;
        d.says.extensions = cases[i].extensions;
        d.says.vendor_id = cases[i].vendor;
        d.says.wave = cases[i].says;
        test_case("sub-groups: %s", cases[i].what);
        gs = open_disguised(&d, 0);
        assert_int_equal(gs->device.lanes, cases[i].kind);
        assert_int_equal(gs->device.lane_width, cases[i].width);
        test_ok(gpuscan_get_info(gs, &info));
        assert_int_equal(info.refusals, cases[i].refusals);
        assert_int_equal(strstr(info.refusal, "no fixed width") != NULL, cases[i].refusals != 0);
        if (cases[i].refusals)
            test_announce_refusals(1, cases[i].what);
        if (cases[i].kind == GPUSCAN__LANES_NONE || !test_takes_one_of(4, i)) {
            test_destroy(gs);
        } else {
            runs(gs, cases[i].what);
            test_ok(gpuscan_get_info(gs, &info));
            assert_int_equal(info.has_lanes, 0);
            close_disguised(gs);
            continue;
        }
        test.announced = 0;
        layer_expect_empty();
    }
}

/* If a width cannot be required, the built kernel is asked. If it has another width or the driver does not say, the
   lanes are given up before they compute anything, and the info says why. */
static void test_kernel_width(void **state) {
    static const struct {
        size_t width;
        cl_int code;
    } cases[] = {{32, CL_SUCCESS}, {16, CL_INVALID_VALUE}};
    size_t i;
    (void)state;
    want_pocl();
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        disguise d = {.says = {.type = CL_DEVICE_TYPE_GPU,
                               .vendor_id = 0x13b5,
                               .name = "a card",
                               .platform = "ARM",
                               .version = "OpenCL 3.0 ",
                               .extensions = SHUFFLES,
                               .wave = 16}};
        gpuscan *gs = open_disguised(&d, 0);
        gpuscan_info info;
        const gpuscan__program *program;
        test_case("sub-groups of 16, a kernel reports %zu with code %d", cases[i].width, (int)cases[i].code);
        test_ok(gpuscan_get_info(gs, &info));
        assert_int_equal(info.has_lanes, 1);
        width_said = cases[i].width;
        width_code = cases[i].code;
        runs(gs, "sub-groups of another width");
        width_said = 0;
        for (program = gs->programs; program; program = program->next)
            if (program->launched || !program->key.lanes)
                assert_null(strstr(program->parts[GPUSCAN__PART_TEXT].data, "#define GPUSCAN_LANES_KIND 2\n"));
        test_ok(gpuscan_get_info(gs, &info));
        assert_int_equal(info.has_lanes, 0);
        assert_int_equal(info.refusals, 1);
        if (strstr(info.refusal, "its sub-groups have another width") == NULL)
            fail_msg("%s: \"%s\" is not a valid reason", test.what, info.refusal);
        test_announce_refusals(1, "sub-groups of another width");
        close_disguised(gs);
    }
}

/* Checks that only instructions of the card's compute capability are used; an unknown one counts as the lowest. */
static void test_capabilities(void **state) {
    static const struct {
        cl_uint says, wanted; /* capability times 10; wanted 0: no PTX */
    } cards[] = {{61, 0}, {70, 70}, {75, 75}, {80, 80}, {86, 86}, {89, 89}, {90, 90}, {120, 120}, {0, 70}};
    size_t i;
    (void)state;
    want_pocl();
    for (i = 0; i < sizeof cards / sizeof *cards; i++) {
        disguise card = nvidia;
        gpuscan *gs;
        gpuscan_info info;
        card.says.capability = cards[i].says;
        test_case("a card of compute capability %u / 10", (unsigned)cards[i].says);
        gs = open_disguised(&card, 0);
        test_ok(gpuscan_get_info(gs, &info));
        assert_int_equal(info.has_lanes, cards[i].wanted != 0);
        expect_no_look_back(gs);
        expect_refused(gs);
        if (info.has_lanes)
            assert_int_equal(gs->device.capability, cards[i].wanted);
        close_disguised(gs);
    }
}

/* Calls with a custom text, of every operation that takes one. */
enum { CUSTOM_SCAN, CUSTOM_SCAN_CONVERT, CUSTOM_REDUCE, CUSTOM_UNIFORM_ADD, CUSTOM_CALLS };

static gpuscan_result custom_call(gpuscan *gs, int which, const gpuscan_custom *custom, gpuscan_strategy strategy) {
    static const cl_uint ones[300] = {1, 1, 1, 1};
    cl_uint out[300];
    memset(out, 0, sizeof out);
    if (which == CUSTOM_REDUCE) {
        gpuscan_reduce_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.op = GPUSCAN_OP_CUSTOM;
        desc.custom = custom;
        desc.call.strategy = strategy;
        return gpuscan_reduce_host(gs, ones, out, 300, &desc);
    }
    if (which == CUSTOM_UNIFORM_ADD) {
        gpuscan_uniform_add_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.op = GPUSCAN_OP_CUSTOM;
        desc.custom = custom;
        return gpuscan_uniform_add_host(gs, ones, out, 300, 100, &desc);
    } else {
        gpuscan_scan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.op = which == CUSTOM_SCAN ? GPUSCAN_OP_CUSTOM : GPUSCAN_OP_ADD;
        desc.custom = custom;
        desc.call.strategy = strategy;
        return gpuscan_scan_host(gs, ones, out, 300, &desc);
    }
}

/* Codes of failed builds: wrong source, or another reason. */
static const cl_int refusals[] = {CL_BUILD_PROGRAM_FAILURE, CL_INVALID_PROGRAM, CL_OUT_OF_RESOURCES,
                                  CL_OUT_OF_HOST_MEMORY, -9999};

/* Checks what is given up if NVIDIA's instructions do not build. If the same call's portable form builds, they are.
   Otherwise the custom text or the compiler is wrong, and they stay. */
static void test_cause_of_build_failure(void **state) {
    static const gpuscan_custom right = {"uint add(uint p, uint q) { return p + q; }\n", NULL, 0, "add(a, b)", "0u",
                                         "x", NULL, NULL, NULL};
    static const gpuscan_custom wrong = {"uint add(uint p, uint q) { return p +; }\n", NULL, 0, "add(a, b)", "0u",
                                         "add(x, x)", NULL, NULL, NULL};
    size_t c;
    int w, pass;
    (void)state;
    want_pocl();
    for (c = 0; c < sizeof refusals / sizeof *refusals; c++)
        for (w = 0; w < CUSTOM_CALLS; w++)
            for (pass = 0; pass < 3; pass++) {
                if (!test_takes_one_of(sizeof refusals / sizeof *refusals, c + 2 * (uint64_t)w + (uint64_t)pass))
                    continue; /* each code with some call */
                /* a single pass needs a fence: if not NVIDIA's then OpenCL's, which the last card does not have */
                gpuscan_strategy strategy = pass ? GPUSCAN_STRATEGY_SINGLE_PASS : GPUSCAN_STRATEGY_AUTO;
                disguise         card = nvidia;
                gpuscan         *gs;
                card.fence_can = pass == 2 ? FENCE_ORDER_ACQ_REL : 0;
                gs = open_disguised(&card, 0);
                gpuscan_info info;
                refusal = refusals[c];
                test_case("call %d, code %d, pass %d", w, (int)refusal, pass);
                test_expect(custom_call(gs, w, &wrong, strategy), GPUSCAN_ERROR_CUSTOM_SOURCE);
                if (!refused_builds || strstr(gpuscan_error(gs), "expected expression") == NULL)
                    fail_msg("%s: not the text's own log: %s", test.what, gpuscan_error(gs));
                test_ok(gpuscan_get_info(gs, &info));
                assert_int_equal(info.has_lanes, 1);
                assert_int_equal(info.has_fence, 1);
                assert_int_equal(info.refusals, 0);
                refused_builds = capped_builds = unoptimized_builds = 0;
                test_expect(custom_call(gs, w, &right, strategy),
                            w == CUSTOM_REDUCE && (pass == 2 || (pass && !test.info.has_fence))
                                ? GPUSCAN_ERROR_UNSUPPORTED_STRATEGY
                                : GPUSCAN_SUCCESS);
                test_ok(custom_call(gs, w, &right, GPUSCAN_STRATEGY_AUTO));
                assert_string_equal(gpuscan_error(gs), "");
                test_ok(gpuscan_get_info(gs, &info));
                assert_int_equal(info.has_lanes, 0);
                assert_int_equal(info.refusals, 1);
                assert_int_equal(refused_builds, 1 + 2 * capped_builds);
                assert_int_equal(unoptimized_builds, capped_builds);
                test_expect(custom_call(gs, w, &wrong, GPUSCAN_STRATEGY_AUTO), GPUSCAN_ERROR_CUSTOM_SOURCE);
                close_disguised(gs);
            }
    refusal = 0;
}

/* Checks that a compiler which builds nothing does not cost the object its instructions, and that later builds work. */
static void test_no_compiler(void **state) {
    static const gpuscan_custom right = {NULL, NULL, 0, "a + b", "0u", NULL, NULL, NULL, NULL};
    static const cl_uint ones[300] = {1, 1, 1, 1};
    cl_uint out[300];
    size_t c;
    (void)state;
    want_pocl();
    for (c = 0; c < sizeof refusals / sizeof *refusals; c++) {
        gpuscan *gs = open_disguised(&nvidia, 0);
        int is_source = refusals[c] == CL_BUILD_PROGRAM_FAILURE;
        gpuscan_info info;
        test_case("no builds, code %d", (int)refusals[c]);
        refusal = refusals[c];
        refuses_all = 1;
        test_expect(gpuscan_scan_host(gs, ones, out, 300, NULL), is_source ? GPUSCAN_ERROR_BUILD : refusals[c]);
        test_expect(gpuscan_histogram_host(gs, ones, out, 300, NULL), is_source ? GPUSCAN_ERROR_BUILD : refusals[c]);
        test_expect(custom_call(gs, CUSTOM_SCAN, &right, GPUSCAN_STRATEGY_AUTO),
                    is_source ? GPUSCAN_ERROR_CUSTOM_SOURCE : refusals[c]);
        test_ok(gpuscan_get_info(gs, &info));
        assert_int_equal(info.has_lanes, 1);
        assert_int_equal(info.refusals, 0);
        refuses_all = 0;
        refused_builds = 0;
        runs(gs, "afterwards");
        test_ok(gpuscan_get_info(gs, &info));
        assert_int_equal(info.has_lanes, 0);
        close_disguised(gs);
    }
    refusal = 0;
}

/* Checks that a failure of the program which tests a custom operator is not reported as the text's. */
static void test_stand_in_not_built(void **state) {
    static const disguise amd = {
        .what = "an AMD GPU", AMD_GPU, .says.version = "OpenCL 2.0 ", .says.language = "OpenCL C 2.0 "};
    static const gpuscan_custom right = {NULL, NULL, 0, "a + b", "0u", NULL, NULL, NULL, NULL};
    size_t c;
    (void)state;
    want_pocl();
    for (c = 0; c < sizeof refusals / sizeof *refusals; c++) {
        int is_source = refusals[c] == CL_BUILD_PROGRAM_FAILURE;
        gpuscan_desc desc = disguised(&amd);
        gpuscan *gs = NULL;
        gpuscan_info info;
        test_case("no test, code %d", (int)refusals[c]);
        refusal = refusals[c];
        refuses = "b != 0 ? b : a";
        desc.limits.lanes = 32;
        test_ok(gpuscan_create(&gs, &desc));
        refuses_without = 1; /* gives up lanes, since the text builds without them */
        test_expect(custom_call(gs, CUSTOM_SCAN, &right, GPUSCAN_STRATEGY_SINGLE_PASS),
                    is_source ? GPUSCAN_ERROR_BUILD : refusals[c]);
        refuses_without = 0;
        test_ok(custom_call(gs, CUSTOM_SCAN, &right, GPUSCAN_STRATEGY_SINGLE_PASS));
        test_ok(gpuscan_get_info(gs, &info));
        assert_int_equal(info.has_lanes, 0);
        assert_int_equal(info.refusals, 1);
        close_disguised(gs);
    }
    refuses = NULL;
    refusal = 0;
}

/* Kernels that cannot run with the planned group, and devices whose groups are smaller in their first dimension. */
static void test_small_groups(void **state) {
    static const disguise kernels = {
        .what = "kernels of groups of 16", AMD_GPU, .profile = "AMD GPU", .fence = -1, .kernel_group = 16};
    static const disguise items = {
        .what = "groups of 8 in the first dimension", AMD_GPU, .profile = "AMD GPU", .fence = -1, .work_items = 8};
    static const disguise amd = {.what = "an AMD GPU", AMD_GPU, .profile = "AMD GPU", .fence = -1};
    static const disguise zero = {
        .what = "kernels of groups of 0", AMD_GPU, .profile = "AMD GPU", .fence = -1, .no_kernel_group = 1};
    cl_uint ones[50], sum = 0, i;
    gpuscan *gs;
    gpuscan_desc desc;
    gpuscan_info info;
    (void)state;
    want_pocl();
    test_case("%s", kernels.what);
    gs = open_disguised(&kernels, 0);
    runs(gs, kernels.what);
    close_disguised(gs);

    for (i = 0; i < 50; i++)
        ones[i] = 1;
    test_case("%s", zero.what);
    gs = open_disguised(&zero, 0);
    test_ok(gpuscan_reduce_host(gs, ones, &sum, 50, NULL));
    assert_int_equal(sum, 50);
    assert_int_equal(gs->programs->key.group, 1);
    close_disguised(gs);

    test_case("little local memory");
    desc = disguised(&amd);
    desc.limits.local_memory = 1024;
    desc.limits.work_group_size = (size_t)1 << 30; /* no limit */
    test_ok(gpuscan_create(&gs, &desc));
    runs(gs, "little local memory");
    close_disguised(gs);
    test_case("more local memory than there is");
    desc = disguised(&amd);
    desc.limits.local_memory = UINT64_MAX;
    test_ok(gpuscan_create(&gs, &desc));
    test_ok(gpuscan_get_info(gs, &info));
    assert_true(info.local_memory == test.info.local_memory);
    close_disguised(gs);

    test_case("%s", items.what);
    gs = open_disguised(&items, 0);
    test_ok(gpuscan_get_info(gs, &info));
    assert_int_equal(info.work_group_size, 8);
    runs(gs, items.what);
    close_disguised(gs);
}

/* The driver reports a group of 0 for a kernel and then an error for the kernel that replaces it: that call fails,
   later ones must be right. */
static void test_group_size_0(void **state) {
    static const disguise amd = {.what = "an AMD GPU",
                                 AMD_GPU,
                                 .says.version = "OpenCL 2.0 ",
                                 .says.language = "OpenCL C 2.0 ",
                                 .profile = "AMD GPU",
                                 .fence = 1};
    cl_uint ones[1000], sum = 0, i;
    gpuscan *gs;
    (void)state;
    want_pocl();
    for (i = 0; i < 1000; i++)
        ones[i] = 1;
    test_case("a kernel's group that is 0, then an error");
    gs = open_disguised(&amd, 0);
    group_asked = 1;
    test_expect(gpuscan_reduce_host(gs, ones, &sum, 1000, NULL), CL_OUT_OF_RESOURCES);
    assert_int_equal(group_asked, 3);
    assert_non_null(strstr(gpuscan_error(gs), "clGetKernelWorkGroupInfo"));
    assert_int_equal(sum, 0);
    for (i = 0; i < 2; i++, sum = 0) {
        test_ok(gpuscan_reduce_host(gs, ones, &sum, 1000, NULL));
        assert_int_equal(sum, 1000);
    }
    close_disguised(gs);
}

/* Checks how rows are divided: cut among groups, or one group a row if there are enough rows. And AUTO's choice along
   columns. */
static void test_rows(void **state) {
    static const disguise cpu = {.what = "a CPU", A_CPU, .says.units = 2};
    static const disguise amd = {.what = "an AMD GPU",
                                 AMD_GPU,
                                 .says.version = "OpenCL 2.0 ",
                                 .says.language = "OpenCL C 2.0 ",
                                 .says.units = 2};
    enum { NO, ONCE, FORCED, COLUMNS };
    static const struct {
        const disguise *of;
        uint64_t rows, count;
        gpuscan_strategy strategy;
        int whole_rows; /* tiles hold whole rows: ONCE in AUTO, FORCED even in a single pass. COLUMNS: along columns */
        uint64_t src_pitch, dst_pitch;
        uint32_t form; /* of such tiles, unless they load vectors */
    } cases[] = {{&cpu, 1, 80000, GPUSCAN_STRATEGY_CPU_SINGLE_PASS, NO, 0, 0, 0},
                 {&cpu, 2, 40000, GPUSCAN_STRATEGY_CPU_SINGLE_PASS, NO, 0, 0, 0},
                 {&cpu, 8, 40000, GPUSCAN_STRATEGY_CPU_MULTI_PASS, NO, 0, 0, 0},
                 {&cpu, 7, 20000, GPUSCAN_STRATEGY_CPU_MULTI_PASS, NO, 0, 0, 0},
                 {&cpu, 5000, 3, GPUSCAN_STRATEGY_CPU_MULTI_PASS, NO, 0, 0, 0},
                 {&amd, 7, 20000, GPUSCAN_STRATEGY_MULTI_PASS, NO, 0, 0, 0},
                 {&amd, 8, 20000, GPUSCAN_STRATEGY_MULTI_PASS, NO, 0, 0, 0},
                 {&amd, 1, 1000, GPUSCAN_STRATEGY_MULTI_PASS, NO, 0, 0, 0},
                 {&amd, 2, 5000, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 0, 0, 0},
                 {&amd, 8, 8000, GPUSCAN_STRATEGY_MULTI_PASS, NO, 0, 0, 0},
                 {&amd, 8, 5000, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 0, 0, 0},
                 {&amd, 8, 4000, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 0, 0, 0},
                 {&amd, 7, 1000, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 0, 0, 0},
                 {&amd, 5000, 33, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 0, 0, 0},
                 {&amd, 500, 3, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 0, 0, 0},
                 {&amd, 512, 1, GPUSCAN_STRATEGY_MULTI_PASS, FORCED, 0, 0, 0},
                 {&amd, 70001, 3, GPUSCAN_STRATEGY_MULTI_PASS, FORCED, 0, 0, 0},
                 {&amd, 5000, 32, GPUSCAN_STRATEGY_MULTI_PASS, FORCED, 0, 0, 0},
                 {&amd, 500, 3, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 4, 4, GPUSCAN__ROWS_WITH_GAPS},
                 {&amd, 500, 100, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 105, 105, GPUSCAN__ROWS_WITH_GAPS},
                 {&amd, 500, 3, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 7, 7, GPUSCAN__ROWS_BY_ELEMENTS},
                 {&amd, 500, 100, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 100, 105, GPUSCAN__ROWS_BY_ELEMENTS},
                 {&amd, 500, 100, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 300, 300, 0},
                 {&amd, 500, 201, GPUSCAN_STRATEGY_MULTI_PASS, ONCE, 500, 500, 0},
                 {&cpu, 100, 3000, GPUSCAN_STRATEGY_CPU_MULTI_PASS, COLUMNS, 0, 0, 0},
                 {&cpu, 3, 90000, GPUSCAN_STRATEGY_CPU_MULTI_PASS, COLUMNS, 0, 0, 0},
                 {&cpu, 5000, 20, GPUSCAN_STRATEGY_CPU_MULTI_PASS, COLUMNS, 0, 0, 0},
                 {&amd, 100, 3000, GPUSCAN_STRATEGY_MULTI_PASS, COLUMNS, 0, 0, 0}};
    static const gpuscan_strategy forced[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                              GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD};
    cl_uint *in = (cl_uint *)test_alloc(8 * 40000 * 4), *out = (cl_uint *)test_alloc(8 * 40000 * 4);
    size_t c, f;
    uint64_t i;
    (void)state;
    want_pocl();
    for (i = 0; i < 8 * 40000; i++)
        in[i] = 1;
    for (c = 0; c < sizeof cases / sizeof *cases; c++) {
        gpuscan *gs = open_disguised(cases[c].of, 0);
        gpuscan_scan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.rows = cases[c].rows;
        desc.along = cases[c].whole_rows == COLUMNS ? GPUSCAN_ALONG_COLUMNS : GPUSCAN_ALONG_ROWS;
        desc.src_pitch = cases[c].src_pitch;
        desc.dst_pitch = cases[c].dst_pitch;
        for (f = 0; f < (cases[c].whole_rows == FORCED ? 4 : 1); f++) {
            gpuscan__scan_key own;
            desc.call.strategy = forced[f];
            test_case("%s, %u %s of %u, %s", worn->what, (unsigned)cases[c].rows,
                      desc.along ? "columns" : "rows", (unsigned)cases[c].count, test_strategy_name(forced[f]));
            memset(out, 0xFF, 8 * 40000 * 4);
            test_ok(gpuscan_scan_host(gs, in, out, cases[c].count, &desc));
            assert_int_equal(gs->programs->key.strategy, cases[c].strategy);
            memcpy(&own, gs->programs->key.own, sizeof own);
            assert_int_equal(own.whole_rows, cases[c].whole_rows == NO || desc.along ? GPUSCAN__ROWS_NONE
                                             : cases[c].form                         ? cases[c].form
                                                                                     : GPUSCAN__ROWS_BY_VECTORS);
            for (i = 0; i < cases[c].rows * cases[c].count; i++) {
                uint64_t row = i / cases[c].count, column = i % cases[c].count;
                uint64_t at = row * (desc.dst_pitch ? desc.dst_pitch : cases[c].count) + column;
                if (desc.along)
                    at = column * cases[c].rows + row;
                if (out[at] != column)
                    fail_msg("%s: %u at %u", test.what, (unsigned)out[at], (unsigned)at);
            }
        }
        close_disguised(gs);
    }
    free(in);
    free(out);
}

/* A 32-bit size_t cannot count the work-items of a group for each row: a single pass reports it, AUTO does otherwise.
   Tests the most rows that fit (groups * group < 2^32) and one more. Elements are bytes, so that they fit 32 bits. */
static void test_many_rows(void **state) {
    static const disguise narrow = {.what = "an AMD GPU of 32 bits",
                                    AMD_GPU,
                                    .says.version = "OpenCL 2.0 ",
                                    .says.language = "OpenCL C 2.0 ",
                                    .address_bits = 32};
    static const disguise wide = {.what = "an AMD GPU of 64 bits",
                                  AMD_GPU,
                                  .says.version = "OpenCL 2.0 ",
                                  .says.language = "OpenCL C 2.0 ",
                                  .address_bits = 64};
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD};
    const disguise *devices[] = {&narrow, &wide};
    size_t d, s;
    int past;
    (void)state;
    want_pocl();
    for (d = 0; d < 2; d++)
        for (s = 0; s < sizeof strategies / sizeof *strategies; s++) {
            gpuscan *gs = open_disguised(devices[d], 0);
            gpuscan_scan_desc desc;
            uint64_t bytes, group;
            int ahead = strategies[s] == GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD;
            int looks_back = ahead || strategies[s] == GPUSCAN_STRATEGY_SINGLE_PASS;
            memset(&desc, 0, sizeof desc);
            desc.src_type = GPUSCAN_TYPE_U8;
            desc.count = 100;
            desc.rows = 1;
            desc.call.strategy = strategies[s];
            test_ok(gpuscan_scan_prepare(gs, &desc));
            group = gs->programs->key.group;
            for (past = 0; past < 2; past++) {
                int is_narrow = d == 0 && past;
                desc.rows = (UINT64_C(1) << 32) / group - 1; /* one group a row; ahead: one more, which folds */
                desc.rows += (uint64_t)past - (uint64_t)ahead;
                test_case("%s, %s, %u rows", worn->what, test_strategy_name(strategies[s]), (unsigned)desc.rows);
                test_expect(gpuscan_scan_scratch_size(gs, &desc, &bytes),
                            looks_back && is_narrow ? GPUSCAN_ERROR_UNSUPPORTED_STRATEGY : GPUSCAN_SUCCESS);
            }
            close_disguised(gs);
        }
}

/* Bins cut into ranges: the fewer the samples, the more ranges. */
static void test_ranges(void **state) {
    static const struct {
        uint64_t count;
        uint32_t ranges;
    } cases[] = {{1, 16}, {1000, 16}, {4096, 16}, {4097, 8}, {8192, 8}, {8193, 6}, {65536, 6}, {65537, 6}};
    enum { BINS = 65536, MOST = 65537 };
    int32_t *samples = (int32_t *)test_alloc(MOST * sizeof *samples);
    uint32_t *counts = (uint32_t *)test_alloc(BINS * sizeof *counts);
    uint32_t *expected = (uint32_t *)test_alloc(BINS * sizeof *expected);
    gpuscan_histogram_desc desc;
    disguise d = nvidia;
    uint64_t i;
    size_t c;
    (void)state;
    want_pocl();
    memset(&desc, 0, sizeof desc);
    desc.sample_type = GPUSCAN_TYPE_I32;
    desc.bins = BINS;
    desc.upper.i = BINS;
    for (i = 0; i < MOST; i++)
        samples[i] = (int32_t)(i * i * 7 % (BINS + 100));
    d.says.units = 2;
    for (c = 0; c < sizeof cases / sizeof *cases; c++) {
        gpuscan *gs = open_disguised(&d, GPUSCAN_WITHOUT_LANES);
        test_case("%u samples", (unsigned)cases[c].count);
        memset(expected, 0, BINS * sizeof *expected);
        for (i = 0; i < cases[c].count; i++)
            if (samples[i] < BINS)
                expected[samples[i]]++;
        test_ok(gpuscan_histogram_host(gs, samples, counts, cases[c].count, &desc));
        assert_memory_equal(counts, expected, BINS * sizeof *counts);
        assert_int_equal(histogram_key(gs).slices, cases[c].ranges);
        assert_int_equal(histogram_key(gs).arrivals, GPUSCAN__ARRIVALS_U64);
        close_disguised(gs);
    }
    free(samples);
    free(counts);
    free(expected);
}

/* A GPU counts bytes by value up to 4096 bins, and otherwise counts them like other samples. */
static void test_bytes_in_many_bins(void **state) {
    static const uint32_t bins[] = {4096, 5000, 20000};
    static const uint8_t samples[1000] = {255};
    uint32_t *counts = (uint32_t *)test_alloc(20000 * sizeof *counts);
    gpuscan_histogram_desc desc;
    size_t b;
    (void)state;
    want_pocl();
    memset(&desc, 0, sizeof desc);
    for (b = 0; b < sizeof bins / sizeof *bins; b++) {
        gpuscan *gs = open_disguised(&nvidia, GPUSCAN_WITHOUT_LANES);
        test_case("%u bins", (unsigned)bins[b]);
        desc.bins = bins[b];
        test_ok(gpuscan_histogram_host(gs, samples, counts, sizeof samples, &desc));
        assert_int_equal(counts[0], sizeof samples - 1);
        assert_int_equal(counts[255 * (uint64_t)bins[b] / 256], 1);
        assert_int_equal(histogram_key(gs).by_value, bins[b] <= 4096);
        assert_int_equal(histogram_key(gs).merge, bins[b] <= 4096);
        close_disguised(gs);
    }
    free(counts);
}

/* The flags of the last launch of a scan. */
static uint32_t launched_flags;

static cl_int CL_API_CALL see_flags(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    gpuscan__scan_numbers numbers;
    if (value && size == sizeof numbers) {
        memcpy(&numbers, value, sizeof numbers);
        launched_flags = (uint32_t)numbers.flags;
    }
    return clSetKernelArg(kernel, index, size, value);
}

/* Checks whether a CPU's large outputs are stored past its caches or through them, at each offset in a vector. */
static void test_streaming_stores(void **state) {
    static const disguise plain = {.what = "a CPU", A_CPU, .says.cache = 800000};
    static const disguise skylake = {
        .what = "a Skylake CPU", .says.type = CL_DEVICE_TYPE_CPU, .says.name = "skylake-avx512", .says.cache = 800000};
    static const struct {
        const disguise *of;
        gpuscan_type src, dst;
        uint64_t count, rows;
        gpuscan_strategy strategy;
        uint32_t streams;
    } cases[] = {
        {&plain, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, 100000, 1, GPUSCAN_STRATEGY_AUTO, 0},
        {&plain, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, 100001, 1, GPUSCAN_STRATEGY_AUTO, GPUSCAN__FLAG_STREAM},
        {&plain, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, 140001, 1, GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN__FLAG_STREAM},
        {&plain, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, 66667, 3, GPUSCAN_STRATEGY_AUTO, GPUSCAN__FLAG_STREAM},
        {&plain, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8, 400001, 1, GPUSCAN_STRATEGY_AUTO, GPUSCAN__FLAG_STREAM},
        {&plain, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U16, 200001, 1, GPUSCAN_STRATEGY_AUTO, GPUSCAN__FLAG_STREAM},
        {&plain, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64, 50001, 1, GPUSCAN_STRATEGY_AUTO, GPUSCAN__FLAG_STREAM},
        {&plain, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, 100001, 1, GPUSCAN_STRATEGY_AUTO, GPUSCAN__FLAG_STREAM},
        {&skylake, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32, 100001, 1, GPUSCAN_STRATEGY_AUTO, 0},
        {&skylake, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32, 66667, 3, GPUSCAN_STRATEGY_AUTO, 0}};
    enum { OFFSETS = 18 };
    size_t c;
    (void)state;
    want_pocl();
    for (c = 0; c < sizeof cases / sizeof *cases; c++) {
        gpuscan *gs = open_disguised(cases[c].of, 0);
        size_t from = gpuscan_type_size(cases[c].src), to = gpuscan_type_size(cases[c].dst);
        uint64_t pitch = cases[c].count + 5, most = cases[c].rows * pitch, at, i, r;
        test_buffer src = test_buffer_new(CL_MEM_READ_ONLY, from, most);
        test_buffer dst = test_buffer_new(CL_MEM_READ_WRITE, to, most);
        unsigned char *ones = (unsigned char *)test_alloc(most * from);
        memset(ones, 0, (size_t)most * from);
        for (i = 0; i < most; i++)
            ones[i * from] = 1; /* little-endian, as PoCL's devices are */
        test_buffer_set(&src, 0, most, ones);
        gs->cl.clSetKernelArg = see_flags;
        for (at = 0; at < OFFSETS; at++) {
            gpuscan_scan_desc desc;
            const unsigned char *sums;
            test_buffer_set(&dst, at, most, NULL);
            memset(&desc, 0, sizeof desc);
            desc.src = src.at;
            desc.dst = dst.at;
            desc.src_type = cases[c].src;
            desc.dst_type = cases[c].dst;
            desc.count = cases[c].count;
            desc.rows = cases[c].rows;
            desc.src_pitch = desc.dst_pitch = pitch;
            desc.kind = at % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
            desc.call.strategy = cases[c].strategy;
            test_case("%s, case %u, at %u", worn->what, (unsigned)c, (unsigned)at);
            test_ok(gpuscan_scan(gs, &desc));
            sums = (const unsigned char *)test_buffer_get(&dst);
            for (r = 0; r < cases[c].rows; r++)
                for (i = 0; i < desc.count; i++) {
                    const uint64_t expected = i + at % 2;
                    if (memcmp(sums + (r * pitch + i) * to, &expected, to) != 0)
                        fail_msg("%s: element %u of row %u", test.what, (unsigned)i, (unsigned)r);
                }
            assert_int_equal(launched_flags & GPUSCAN__FLAG_STREAM, cases[c].streams);
        }
        test_buffer_free(&src);
        test_buffer_free(&dst);
        free(ones);
        close_disguised(gs);
    }
}

/* Rows of more vectors than 32 bits count are taken in chunks, here small ones. A sample must keep its weight, and its
   channel when three channels do not divide a vector. */
static void test_chunks(void **state) {
    static const disguise amd = {.what = "an AMD GPU", AMD_GPU, .says.units = 2};
    enum { COUNT = 400001 };
    uint8_t *samples = (uint8_t *)test_alloc(3 * COUNT), *weights = (uint8_t *)test_alloc(COUNT);
    uint64_t sums[256], expected[256];
    uint32_t counts[768], expected_counts[768];
    gpuscan_histogram_desc desc;
    gpuscan *gs;
    uint64_t i;
    (void)state;
    want_pocl();
    for (i = 0; i < 3 * COUNT; i++)
        samples[i] = (uint8_t)(i * i >> 7);
    memset(expected, 0, sizeof expected);
    memset(expected_counts, 0, sizeof expected_counts);
    for (i = 0; i < COUNT; i++) {
        weights[i] = (uint8_t)(i >> 10);
        expected[samples[i]] += weights[i];
        expected_counts[samples[3 * i]]++;
        expected_counts[256 + samples[3 * i + 1]]++;
        expected_counts[512 + samples[3 * i + 2]]++;
    }
    gs = open_disguised(&amd, 0);
    first_line = "#define GPUSCAN_CHUNK 10000\n";
    memset(&desc, 0, sizeof desc);
    desc.sample_type = desc.weight_type = GPUSCAN_TYPE_U8;
    desc.counter_type = GPUSCAN_TYPE_U64;
    desc.host_weights = weights;
    test_case("chunks of weighted samples");
    test_ok(gpuscan_histogram_host(gs, samples, sums, COUNT, &desc));
    assert_memory_equal(sums, expected, sizeof sums);
    memset(&desc, 0, sizeof desc);
    desc.sample_type = GPUSCAN_TYPE_U8;
    desc.channels = 3;
    test_case("chunks of three channels");
    test_ok(gpuscan_histogram_host(gs, samples, counts, COUNT, &desc));
    assert_memory_equal(counts, expected_counts, sizeof counts);
    memset(&desc, 0, sizeof desc);
    desc.rows = 50000;
    desc.pitch = 13;
    memset(expected_counts, 0, sizeof expected_counts);
    for (i = 0; i < 50000 * 13; i++)
        expected_counts[samples[i]] += i % 13 < 11;
    test_case("chunks of rows");
    test_ok(gpuscan_histogram_host(gs, samples, counts, 11, &desc));
    assert_memory_equal(counts, expected_counts, 256 * sizeof *counts);
    first_line = NULL;
    close_disguised(gs);
    free(samples);
    free(weights);
}

/* A CPU's strategies load vectors of 16, which crash the simulator. A device need not know its platform. */
static void test_vectors_of_16(void **state) {
    static const disguise simulator = {.what = "a simulator",
                                       .says.type = CL_DEVICE_TYPE_CPU,
                                       .says.name = "a processor",
                                       .says.platform = "Oclgrind",
                                       .profile = "simulator"};
    static const disguise cpu = {.what = "a CPU without a platform",
                                 .says.type = CL_DEVICE_TYPE_CPU,
                                 .says.name = "a processor",
                                 .profile = "CPU",
                                 .no_platform = 1};
    static const disguise *const both[] = {&simulator, &cpu};
    cl_uint ones[500], sums[500], i;
    size_t d;
    (void)state;
    want_pocl();
    for (i = 0; i < 500; i++)
        ones[i] = 1;
    for (d = 0; d < 2; d++) {
        gpuscan *gs = open_disguised(both[d], 0);
        gpuscan_info info;
        gpuscan_scan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.call.strategy = GPUSCAN_STRATEGY_CPU_MULTI_PASS;
        test_case("%s", both[d]->what);
        test_ok(gpuscan_get_info(gs, &info));
        assert_string_equal(info.profile, both[d]->profile);
        assert_string_equal(info.platform_name, both[d]->says.platform ? both[d]->says.platform : "");
        test_ok(gpuscan_scan_host(gs, ones, sums, 500, &desc));
        for (i = 0; i < 500; i++)
            assert_int_equal(sums[i], i);
        assert_int_equal(has_wide, d);
        close_disguised(gs);
    }
}

/* Chooses among more platforms than the library inspects, with some that fail, devices that are too old, and one that
   claims to be faster than all others. */
static void test_device_choice(void **state) {
    static const disguise fast = {.what = "a fast device", .says.units = 0xffffffffu, .says.clock = 0xffffffffu};
    static const disguise old = {.what = "an old device", .says.version = "OpenCL 1.1 "};
    static const disguise odd = {.what = "a device of no version", .says.version = "OpenCL"};
    static const disguise strange = {.what = "a device of version 2.", .says.version = "OpenCL 2. "};
    static const disguise large = {.what = "a device of version 10000", .says.version = "OpenCL 10000.0 "};
    static const disguise next = {.what = "a device of version 2.:", .says.version = "OpenCL 2.:"};
    static const disguise sign = {.what = "a device of version 2:.0", .says.version = "OpenCL 2:.0"};
    static const disguise mute = {.what = "a device without a compiler", .no_compiler = 1};
    static const disguise card = {
        .what = "an accelerator", .says.type = CL_DEVICE_TYPE_ACCELERATOR, .says.platform = "a platform of its own"};
    static const disguise *const too_old[] = {&old, &odd, &strange, &large, &next, &sign, &mute};
    char error[512], *wanted = test_want_device(NULL); /* unset, since it would decide */
    gpuscan *gs = NULL;
    gpuscan_desc desc;
    gpuscan_info info;
    size_t i;
    (void)state;
    test_case("a choice of 100 platforms");
    desc = disguised(&fast);
    layer.table.clGetPlatformIDs = platform_ids;
    layer.table.clGetDeviceIDs = device_ids;
    desc.context = NULL;
    desc.device = NULL;
    desc.queue = NULL;
    platforms_said = 100;
    platforms_without_devices = 3;
    devices_said = 100;
    test_ok(gpuscan_create(&gs, &desc));
    assert_int_equal(platforms_asked, 64);
    test_ok(gpuscan_get_info(gs, &info));
    assert_ptr_equal(info.device, test.device);
    close_disguised(gs);

    test_case("a choice by a part of the platform's name");
    desc = disguised(&card);
    layer.table.clGetPlatformIDs = platform_ids;
    layer.table.clGetDeviceIDs = device_ids;
    platforms_said = 2;
    platforms_without_devices = 0;
    for (i = 0; i < 2; i++) {
        desc.context = NULL;
        desc.device = NULL;
        desc.queue = NULL;
        desc.device_name = i ? "of its own" : NULL;
        test_ok(gpuscan_create(&gs, &desc));
        close_disguised(gs);
    }

    for (i = 0; i < sizeof too_old / sizeof *too_old; i++) {
        test_case("%s", too_old[i]->what);
        desc = disguised(too_old[i]);
        layer.table.clGetPlatformIDs = platform_ids;
        layer.table.clGetDeviceIDs = device_ids;
        platforms_said = 2;
        platforms_without_devices = 0;
        desc.error = error;
        desc.error_size = sizeof error;
        test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_DEVICE_TOO_OLD); /* its context is given */
        assert_null(gs);
        desc.context = NULL;
        desc.device = NULL;
        desc.queue = NULL;
        test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_DEVICE_TOO_OLD);
        assert_null(gs);
        assert_non_null(strstr(error, "none of 2 devices"));
        layer_expect_empty();
    }
    test_case("platforms without devices");
    platforms_asked = 0;
    platforms_without_devices = 2;
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_NO_DEVICE);
    platforms_said = 0;
    test_case("no platforms");
    test_expect(gpuscan_create(&gs, &desc), GPUSCAN_ERROR_NO_PLATFORM);
    test_want_back(wanted);
    layer_expect_empty();
}

/* ---- limits that a device does not report, and small ones -------------------------------------------------------- */

static struct {
    cl_device_info what; /* the query that answers 0, */
    int fails;           /* or fails */
} silent;

static cl_int CL_API_CALL silent_info(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *needed) {
    if (what != silent.what)
        return clGetDeviceInfo(id, what, size, value, needed);
    return silent.fails ? CL_INVALID_VALUE : fake_ulong(0, size, value, needed);
}

/* Runs jobs by AUTO and by the strategy of this run, which the device may refuse. */
static void some_jobs(gpuscan *gs, const char *what) {
    static const int kinds[] = {JOB_SCAN, JOB_REDUCE, JOB_HISTOGRAM, JOB_EDGES, JOB_VALUES};
    size_t k;
    int round;
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (round = 0; round < 2; round++) {
            gpuscan_call call;
            gpuscan_result result;
            job j;
            memset(&call, 0, sizeof call);
            call.strategy = round ? test_next_strategy() : GPUSCAN_STRATEGY_AUTO;
            job_new(&j, kinds[k], test_size(300, 2000, 20000));
            test_case("%s, %s, %s", job_names[kinds[k]], test_strategy_name(call.strategy), what);
            result = job_start(gs, &j, &call);
            if (result != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY || !round) {
                test_ok(result);
                test_cl(clFinish(test.queue));
                job_done(&j);
            }
            job_free(&j);
        }
}

/* Local memory that the device does not report, or that is too small to use. */
static void test_little_local_memory(void **state) {
    static const struct {
        const char *what;
        uint64_t limit;
        int silent, fails;
        uint32_t lanes;
    } cases[] = {{"local memory of 0", 0, 1, 0, 0},      {"local memory that is not told", 0, 1, 1, 0},
                 {"a byte of local memory", 1, 0, 0, 0}, {"a byte of local memory, lanes", 1, 0, 0, 8},
                 {"64 bytes, lanes", 64, 0, 0, 8},       {"200 bytes, lanes", 200, 0, 0, 8}};
    size_t c;
    (void)state;
    for (c = 0; c < sizeof cases / sizeof *cases; c++) {
        gpuscan *gs = NULL, *whole = test.gs;
        gpuscan_desc desc;
        layer_open();
        desc = layer_desc();
        silent.what = cases[c].silent ? CL_DEVICE_LOCAL_MEM_SIZE : 0;
        silent.fails = cases[c].fails;
        layer.driver.clGetDeviceInfo = silent_info;
        desc.limits.local_memory = cases[c].limit;
        desc.limits.lanes = cases[c].lanes;
        test_ok(gpuscan_create(&gs, &desc));
        test.gs = gs;
        some_jobs(gs, cases[c].what);
        test_destroy(gs);
        test.gs = whole;
        layer_expect_empty();
    }
}

/* Size in bytes of each kernel's current arguments. */
enum { PARAMETER_KERNELS = 256, PARAMETERS_MOST = 16 };
static struct {
    cl_kernel kernel[PARAMETER_KERNELS];
    size_t size[PARAMETER_KERNELS][PARAMETERS_MOST];
    unsigned kernels;
    size_t most; /* most bytes in a launch */
} parameters;

static unsigned parameters_of(cl_kernel kernel) {
    unsigned k = 0;
    while (k < parameters.kernels && parameters.kernel[k] != kernel)
        k++;
    assert_true(k < PARAMETER_KERNELS);
    parameters.kernel[k] = kernel;
    parameters.kernels += k == parameters.kernels;
    return k;
}

static cl_int CL_API_CALL parameters_set(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    assert_true(index < PARAMETERS_MOST);
    parameters.size[parameters_of(kernel)][index] = value ? size : 0;
    return clSetKernelArg(kernel, index, size, value);
}

static cl_int CL_API_CALL parameters_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                            const size_t *offset, const size_t *global, const size_t *local,
                                            cl_uint waits, const cl_event *wait, cl_event *event) {
    unsigned k = parameters_of(kernel), i;
    size_t sum = 0;
    for (i = 0; i < PARAMETERS_MOST; i++)
        sum += parameters.size[k][i];
    parameters.most = sum > parameters.most ? sum : parameters.most;
    return clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

static cl_int CL_API_CALL parameters_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                                          size_t *needed) {
    if (what != CL_DEVICE_MAX_PARAMETER_SIZE)
        return clGetDeviceInfo(id, what, size, value, needed);
    return fake_size(1024, size, value, needed); /* OpenCL's minimum */
}

/* Checks sums of count elements, words u32 each, after init: exclusive, with the total. */
static void large_type(gpuscan *gs, unsigned words, gpuscan_strategy strategy, int with_init) {
    enum { N = 40 };
    uint64_t size = 4 * (uint64_t)words, i;
    char source[512];
    gpuscan_custom custom;
    gpuscan_scan_desc scan;
    gpuscan_reduce_desc reduce;
    test_buffer in = job_buffer((size_t)size, N), out = job_buffer((size_t)size, N);
    test_buffer total = job_buffer((size_t)size, 1);
    cl_uint *data = (cl_uint *)job_bytes(N * size), *wanted = (cl_uint *)test_alloc(N * size);
    cl_uint *sum = (cl_uint *)job_zeros(size), *init = (cl_uint *)job_bytes(size);
    unsigned w;
    memset(&custom, 0, sizeof custom);
    snprintf(source, sizeof source,
             "typedef struct { uint w[%u]; } large;\n"
             "large large_add(large a, large b) { for (int i = 0; i < %u; i++) a.w[i] += b.w[i]; return a; }\n"
             "large large_zero(void) { large a; for (int i = 0; i < %u; i++) a.w[i] = 0; return a; }\n",
             words, words, words);
    custom.source = source;
    custom.type = "large";
    custom.size = (size_t)size;
    custom.combine = "large_add(a, b)";
    custom.identity = "large_zero()";
    if (with_init)
        memcpy(sum, init, (size_t)size);
    for (i = 0; i < N; i++) {
        memcpy(wanted + i * words, sum, (size_t)size);
        for (w = 0; w < words; w++)
            sum[w] += data[i * words + w];
    }
    test_buffer_set(&in, 3, N, data);
    test_buffer_set(&out, 5, N, NULL);
    test_buffer_set(&total, 1, 1, NULL);
    memset(&scan, 0, sizeof scan);
    memset(&reduce, 0, sizeof reduce);
    scan.src = reduce.src = in.at;
    scan.dst = out.at;
    scan.total = total.at;
    scan.src_type = scan.dst_type = reduce.src_type = reduce.dst_type = GPUSCAN_TYPE_CUSTOM;
    scan.op = reduce.op = GPUSCAN_OP_CUSTOM;
    scan.custom = reduce.custom = &custom;
    scan.init = reduce.init = with_init ? init : NULL;
    scan.count = reduce.count = N;
    scan.call.strategy = reduce.call.strategy = strategy;
    test_case("elements of %u bytes, %s, %s", (unsigned)size, test_strategy_name(strategy),
              with_init ? "init" : "none");
    test_ok(gpuscan_scan(gs, &scan));
    if (with_init)
        memset(init, 0xEE, (size_t)size); /* the call has read it */
    test_same_bytes(test_buffer_get(&out), wanted, (size_t)size, N);
    test_same_bytes(test_buffer_get(&total), sum, (size_t)size, 1);
    if (with_init)
        for (w = 0; w < words; w++)
            init[w] = wanted[w];
    test_buffer_set(&total, 2, 1, NULL);
    reduce.dst = total.at;
    test_ok(gpuscan_reduce(gs, &reduce));
    test_same_bytes(test_buffer_get(&total), sum, (size_t)size, 1);
    if (parameters.most > 1024)
        fail_msg("%s: %u bytes of arguments", test.what, (unsigned)parameters.most);
    test_buffer_free(&in);
    test_buffer_free(&out);
    test_buffer_free(&total);
    free(data);
    free(wanted);
    free(sum);
    free(init);
}

/* Checks that no kernel has more bytes of arguments than the device allows, however large a custom type is. */
static void test_parameter_size(void **state) {
    static const unsigned words[] = {1, 16, 191, 192, 193, 224, 256};
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_MULTI_PASS, GPUSCAN_STRATEGY_CPU_MULTI_PASS};
    gpuscan *gs = NULL, *whole = test.gs;
    gpuscan_desc desc;
    size_t i;
    (void)state;
    layer_open();
    memset(&parameters, 0, sizeof parameters);
    layer.driver.clSetKernelArg = parameters_set;
    layer.driver.clEnqueueNDRangeKernel = parameters_launch;
    layer.driver.clGetDeviceInfo = parameters_info;
    desc = layer_desc();
    test_ok(gpuscan_create(&gs, &desc));
    test.gs = gs;
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        gpuscan_strategy strategy = strategies[(i + test.seed) % 2];
        if (words[i] > 16 && !test_is_cpu() && !test.is_long)
            continue; /* NVIDIA's compiler takes minutes for them */
        if (test_is_refused(strategy))
            strategy = GPUSCAN_STRATEGY_MULTI_PASS;
        large_type(gs, words[i], strategy, 1);
        large_type(gs, words[i], strategy, 0);
    }
    test_destroy(gs);
    test.gs = whole;
    layer_expect_empty();
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_profiles),     TEST(test_no_instructions), TEST(test_subgroups),
                                       TEST(test_float_sums_without_lanes),
                                       TEST(test_kernel_width), TEST(test_capabilities),
                                       TEST(test_cause_of_build_failure),        TEST(test_no_compiler),
                                       TEST(test_stand_in_not_built),
                                       TEST(test_small_groups), TEST(test_group_size_0),
                                       TEST(test_rows),         TEST(test_many_rows),
                                       TEST(test_ranges),       TEST(test_bytes_in_many_bins),
                                       TEST(test_streaming_stores),
                                       TEST(test_chunks),       TEST(test_vectors_of_16),
                                       TEST(test_device_choice),       TEST(test_little_local_memory),
                                       TEST(test_parameter_size)};
    test_select();
    return cmocka_run_group_tests_name("devices", tests, test_open, test_close);
}
