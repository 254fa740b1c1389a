/* Custom types and operators: texts that do not compile, wrong sizes, names, build logs (their lines on PoCL only).
      cc -O2 tests/test_custom.c -o build/test_custom -lcmocka -lOpenCL -lm -lpthread && build/test_custom */
#include "calls.h"

/* Reports the log's size but not its text. */
static cl_int CL_API_CALL no_log(cl_program id, cl_device_id device, cl_program_build_info what, size_t size,
                                 void *value, size_t *needed) {
    if (what == CL_PROGRAM_BUILD_LOG && value)
        return CL_OUT_OF_RESOURCES;
    return clGetProgramBuildInfo(id, device, what, size, value, needed);
}

static void test_custom_errors(void **state) {
    gpuscan_custom custom = job_custom;
    gpuscan_call call = call_on(NULL);
    gpuscan_result result;
    job j;
    gpuscan_scan_desc desc;
    cl_event event = NULL;
    (void)state;
    job_new(&j, JOB_SCAN_CUSTOM, 1000);
    desc = j.scan;
    desc.call = call;
    desc.custom = &custom;
    desc.call.event = &event;

    test_case("a custom operator with an undefined name");
    custom.combine = "no_such_function_anywhere(a, b)";
    event = (cl_event)&j;
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    if (strstr(gpuscan_error(test.gs), "no_such_function_anywhere") == NULL)
        fail_msg("%s: no build log in \"%s\"", test.what, gpuscan_error(test.gs));
    assert_null(event);
    job_untouched(&j);
    test_case("an unavailable build log");
    test.gs->cl.clGetProgramBuildInfo = no_log;
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    test.gs->cl.clGetProgramBuildInfo = clGetProgramBuildInfo;
    job_untouched(&j);
    test_case("an invalid custom text");
    custom = job_custom;
    custom.source = "this is not C ;;; {{{";
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    test_expect(gpuscan_scan_prepare(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    job_untouched(&j);
    test_case("an invalid custom type");
    custom = job_custom;
    custom.type = "no_such_type";
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    test_case("a custom conversion that does not compile");
    custom = job_custom;
    custom.convert = "x +";
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    job_untouched(&j);
    test_case("an empty conversion, after a call without one");
    custom.convert = NULL;
    test_ok(gpuscan_scan_prepare(test.gs, &desc));
    custom.convert = "";
    test_expect(gpuscan_scan_prepare(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
    assert_null(event);

    test_case("a custom size that differs from the device's");
    custom = job_custom;
    custom.size = 12;
    desc.count = 300;
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SIZE);
    if (strcmp(gpuscan_error(test.gs), "") == 0)
        fail_msg("%s: no words", test.what);
    assert_null(event);
    job_untouched(&j);
    custom.size = 4;
    test_expect(gpuscan_scan(test.gs, &desc), GPUSCAN_ERROR_CUSTOM_SIZE);
    job_untouched(&j);
    custom.size = 8;

    /* the same pointers with other text, and other pointers with the same text */
    test_case("the right text afterwards");
    result = gpuscan_scan(test.gs, &desc);
    test_ok(result);
    clReleaseEvent(event);
    test_cl(clFinish(test.queue));
    call = call_on(NULL);
    job_right(test.gs, &j, &call);
    job_free(&j);
}

static const char *build_log;

static cl_int CL_API_CALL this_log(cl_program id, cl_device_id device, cl_program_build_info what, size_t size,
                                   void *value, size_t *needed) {
    (void)id;
    (void)device;
    (void)what;
    return answer_text(build_log, size, value, needed);
}

static cl_int CL_API_CALL no_build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                   void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
    (void)program;
    (void)count;
    (void)devices;
    (void)options;
    (void)notify;
    (void)user;
    return CL_BUILD_PROGRAM_FAILURE;
}

/* Checks the result of a failed build by its log: only the check of a custom type's size gives CUSTOM_SIZE. */
static void test_build_logs(void **state) {
    static const struct {
        int custom;
        const char *log;
        gpuscan_result result;
        const char *words;
    } cases[] = {
        {1, "gpuscan_custom_size_differs: an array of negative size", GPUSCAN_ERROR_CUSTOM_SIZE, "custom->size"},
        {1, "near gpuscan_custom_size_differs something is missing", GPUSCAN_ERROR_CUSTOM_SOURCE, "is missing"},
        {1, "an array of negative size", GPUSCAN_ERROR_CUSTOM_SOURCE, "negative size"},
        {1, "", GPUSCAN_ERROR_CUSTOM_SOURCE, "(none)"},
        {0, "", GPUSCAN_ERROR_BUILD, "(none)"},
        {0, "gpuscan_custom_size_differs: an array of negative size", GPUSCAN_ERROR_BUILD, "negative size"},
    };
    gpuscan_call call = call_on(NULL);
    gpuscan *whole = test.gs, *gs;
    size_t i;
    (void)state;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        job j;
        job_new(&j, cases[i].custom ? JOB_SCAN_CUSTOM : JOB_SCAN, 1000);
        gs = layered();
        test.gs = gs;
        test_case("the build log \"%s\" of a%s scan", cases[i].log, cases[i].custom ? " custom" : "");
        gs->cl.clBuildProgram = no_build;
        gs->cl.clGetProgramBuildInfo = this_log;
        build_log = cases[i].log;
        test_expect(job_start(gs, &j, &call), cases[i].result);
        if (strstr(gpuscan_error(gs), cases[i].words) == NULL)
            fail_msg("%s: no \"%s\" in \"%s\"", test.what, cases[i].words, gpuscan_error(gs));
        job_untouched(&j);
        gs->cl.clBuildProgram = layer.table.clBuildProgram;
        if (i == 0) /* each builds a program */
            job_right(gs, &j, &call);
        job_free(&j);
        test_destroy(gs);
        layer_expect_empty();
    }
    test.gs = whole;
}

/* Scans the same types with a conversion, without one, and with unused members of a custom set: none is mistaken. */
static void test_programs_not_confused(void **state) {
    static const gpuscan_custom twice = {NULL, NULL, 0, NULL, NULL, "2u * x", NULL, NULL, NULL};
    static const gpuscan_custom filled = {NULL, "no_such_type", 12, "a + b", "0u", NULL, NULL, NULL, NULL};
    static const struct {
        const gpuscan_custom *custom;
        gpuscan_op op;
        cl_uint step;
    } calls[] = {{&twice, GPUSCAN_OP_ADD, 2},
                 {NULL, GPUSCAN_OP_ADD, 1},
                 {&twice, GPUSCAN_OP_ADD, 2},
                 {&filled, GPUSCAN_OP_ADD, 1},
                 {&filled, GPUSCAN_OP_CUSTOM, 1}};
    gpuscan *gs = layered();
    cl_uint src[300], dst[300], i;
    size_t c;
    (void)state;
    for (i = 0; i < 300; i++)
        src[i] = 1;
    for (c = 0; c < sizeof calls / sizeof *calls; c++) {
        gpuscan_scan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.op = calls[c].op;
        desc.custom = calls[c].custom;
        test_case("call %zu, steps of %u", c, (unsigned)calls[c].step);
        test_ok(gpuscan_scan_host(gs, src, dst, 300, &desc));
        for (i = 0; i < 300; i++)
            if (dst[i] != calls[c].step * i)
                fail_msg("%s: %u at %u", test.what, (unsigned)dst[i], (unsigned)i);
    }
    /* with self-tests, which programs of CPU strategies do not need, the operator's stand-in is one program more */
    assert_int_equal(layer.calls[LAYER_clCreateProgramWithSource],
                     test.info.has_lanes && !gpuscan__is_cpu_strategy(test.info.scan_strategy) ? 4 : 3);
    test_destroy(gs);
    layer_expect_empty();
}

/* ---- the texts' scope -------------------------------------------------------------------------------------------- */

/* Runs a custom operator that adds u32 in every operation and by every strategy up to `last`. Its conversion, if any,
   must give the element itself. */
static void adds(gpuscan *gs, const char *what, const gpuscan_custom *custom, gpuscan_type type, int last) {
    enum { COUNT = 3000, BLOCK = 7 };
    static cl_uint src[COUNT], dst[COUNT], before[COUNT];
    cl_uint i, sum = 0;
    int s;
    for (i = 0; i < COUNT; i++) {
        src[i] = i % 5 + 1;
        before[i] = sum;
        sum += src[i];
    }
    for (s = 1; s <= last; s++) {
        gpuscan_strategy strategy = (gpuscan_strategy)s;
        gpuscan_scan_desc scan;
        gpuscan_reduce_desc reduce;
        gpuscan_uniform_add_desc add;
        cl_uint whole = 0;
        gpuscan_result r;
        if (!test_share((uint64_t)s, 2))
            continue;
        memset(&scan, 0, sizeof scan);
        scan.src_type = scan.dst_type = type;
        scan.op = GPUSCAN_OP_CUSTOM;
        scan.custom = custom;
        scan.call.strategy = strategy;
        test_case("%s, strategy %d", what, s);
        r = gpuscan_scan_host(gs, src, dst, COUNT, &scan);
        if (r != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
            test_ok(r);
            assert_memory_equal(dst, before, sizeof dst);
        }
        memset(&reduce, 0, sizeof reduce);
        reduce.src_type = reduce.dst_type = type;
        reduce.op = GPUSCAN_OP_CUSTOM;
        reduce.custom = custom;
        reduce.call.strategy = strategy;
        r = gpuscan_reduce_host(gs, src, &whole, COUNT, &reduce);
        if (r != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
            test_ok(r);
            assert_int_equal(whole, sum);
        }
        memset(&add, 0, sizeof add);
        add.type = type;
        add.op = GPUSCAN_OP_CUSTOM;
        add.custom = custom;
        add.call.strategy = strategy;
        memcpy(dst, before, sizeof dst);
        r = gpuscan_uniform_add_host(gs, src, dst, COUNT, BLOCK, &add);
        if (r != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY) {
            test_ok(r);
            for (i = 0; i < COUNT; i++)
                assert_int_equal(dst[i], before[i] + src[i / BLOCK]);
        }
    }
}

/* Runs it on the test's object and on one whose kernels have lanes. */
static void adds_everywhere(const char *what, const gpuscan_custom *custom, gpuscan_type type) {
    gpuscan *gs;
    adds(test.gs, what, custom, type, GPUSCAN_STRATEGY_COUNT - 1);
    gs = test_with_lanes();
    adds(gs, what, custom, type, GPUSCAN_STRATEGY_SINGLE_PASS);
    test_destroy(gs);
}

/* Uses texts of several lines and with comments. */
static void test_lines(void **state) {
    static const gpuscan_custom cases[] = {
        {NULL, NULL, 0, "a +\n b", "0u", NULL, NULL, NULL, NULL},
        {NULL, NULL, 0, "\na\r\n+\r\nb\n", "\n0u\n", "\nx\n", NULL, NULL, NULL},
        {NULL, NULL, 0, "a + b // their sum", "0u // nothing", "x // as it is", NULL, NULL, NULL},
        {NULL, NULL, 0, "a + b /* their\nsum */", "0u /**/", "x /**/", NULL, NULL, NULL},
        {NULL, NULL, 0, "a + \\\nb \\", "0u \\", "x \\", NULL, NULL, NULL},
        {"uint sum_of(uint p, uint q) {\n    return p + q;\n}\n// the end", NULL, 0, "sum_of(a,\n       b)", "0u",
         NULL, NULL, NULL, NULL},
        {"#define SUM(p, q) \\\n ((p) + \\\n (q))\n", NULL, 0, "SUM(a, b)", "0u", "SUM(x, 0u) \\", NULL, NULL, NULL},
        {"#define own_sum(p, q) ((p) + (q))\n # define\town_zero 0u \\", NULL, 0, "own_sum(a, b)", "own_zero",
         "own_sum(x, own_zero)", NULL, NULL, NULL},
    };
    static const gpuscan_custom type = {NULL, "unsigned // of 32 bits\nint", 4, "a\n+ b", "0", NULL, NULL, NULL, NULL};
    static const gpuscan_custom macro = {
        "#define own_type uint\n", "own_type", 4, "a + b", "(own_type)0", NULL, NULL, NULL, NULL};
    size_t c;
    (void)state;
    for (c = 0; c < sizeof cases / sizeof *cases; c++)
        adds(test.gs, cases[c].combine, &cases[c], GPUSCAN_TYPE_U32, GPUSCAN_STRATEGY_COUNT - 1);
    adds(test.gs, "a type of two lines", &type, GPUSCAN_TYPE_CUSTOM, GPUSCAN_STRATEGY_COUNT - 1);
    adds(test.gs, "a type that is a macro", &macro, GPUSCAN_TYPE_CUSTOM, GPUSCAN_STRATEGY_COUNT - 1);
}

/* A string that grows. */
typedef struct names {
    char *data;
    size_t length, count;
} names;

static int is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns whether a word that the kernels use belongs to OpenCL C. */
static int is_opencl(const char *word) {
    static const char *const own[] = {
        "if",       "else",   "for",      "while",   "do",       "return", "break",  "continue", "typedef", "struct",
        "union",    "static", "inline",   "const",   "volatile", "global", "local",  "private",  "kernel",  "sizeof",
        "unsigned", "signed", "constant", "restrict", "true",    "false",  "void",   "bool",     "half",    "switch",
        "case",     "default", "goto",    "enum",    "size_t",   "step",   "all",    "clamp",    "vload",
        "vstore",   "vload_half", "vstore_half", "read_only", "write_only", "image2d_t",
        "any",      "sign",   "round",    "max",     "min"};
    static const char *const types[] = {"char", "uchar", "short", "ushort", "int",
                                        "uint", "long",  "ulong", "float",  "double"};
    size_t i, length = strlen(word);
    for (i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(word, own[i]) == 0)
            return 1;
    while (length && word[length - 1] >= '0' && word[length - 1] <= '9')
        length--;
    for (i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i]) == length && strncmp(word, types[i], length) == 0)
            return 1;
    return strncmp(word, "memory_", 7) == 0 || strncmp(word, "atomic_", 7) == 0 ||
           strncmp(word, "convert_", 8) == 0 || strncmp(word, "as_", 3) == 0; /* names that macros paste together */
}

/* Returns the lower-case names of the kernels' variables: all that are neither called nor members. */
static names kernel_names(void) {
    names found = {NULL, 0, 0};
    char *text = test_kernels_text(), *at;
    found.data = (char *)test_alloc(strlen(text) + 1);
    found.data[found.length++] = ' ';
    for (at = text; *at;) {
        char word[64];
        size_t length = 0;
        int is_member = at > text && (at[-1] == '.' || (at[-1] == '>' && at[-2] == '-'));
        if (at[0] == '/' && at[1] == '*') {
            at = strstr(at, "*/") + 2;
            continue;
        }
        if (*at == '#') {
            at = strchr(at, '\n');
            continue;
        }
        if (*at == '"') {
            at = strchr(at + 1, '"') + 1;
            continue;
        }
        if (!is_word(*at)) {
            at++;
            continue;
        }
        while (is_word(at[length]))
            length++;
        snprintf(word, sizeof word, " %.*s ", (int)length, at);
        at += length;
        word[length + 1] = 0;
        if (is_member || *at == '(' || word[1] < 'a' || word[1] > 'z' || is_opencl(word + 1) ||
            strncmp(word, " gpuscan_", 9) == 0)
            continue;
        word[length + 1] = ' ';
        found.data[found.length] = 0;
        if (strstr(found.data, word))
            continue;
        found.length += (size_t)sprintf(found.data + found.length, "%s", word + 1);
        found.count++;
    }
    found.data[found.length] = 0;
    free(text);
    return found;
}

/* Returns a line for each name, made from a pattern with % for the name; the names in `but` are left out. */
static char *each_name(const names *all, const char *pattern, const char *but) {
    char *text = (char *)test_alloc(all->count * (strlen(pattern) + 64) + 1), *at = text;
    const char *name = all->data, *p;
    *text = 0;
    while (*(name += strspn(name, " "))) {
        size_t length = strcspn(name, " ");
        char word[64];
        snprintf(word, sizeof word, " %.*s ", (int)length, name);
        for (p = pattern; *p && !strstr(but, word); p++)
            at += *p == '%' ? sprintf(at, "%.*s", (int)length, name) : sprintf(at, "%c", *p);
        name += length;
    }
    return text;
}

/* Names a text's functions, types, constants and macros like every name in the kernels that is not OpenCL's own. */
static void test_names(void **state) {
    names all = kernel_names();
    gpuscan_custom custom = {NULL, NULL, 0, "a + b", "0u", NULL, NULL, NULL, NULL};
    char *source;
    (void)state;
    print_message("%zu names\n", all.count);
    assert_true(all.count > 100);
    assert_non_null(strstr(all.data, " element "));
    assert_non_null(strstr(all.data, " tile "));
    assert_non_null(strstr(all.data, " x "));

    custom.source = source = each_name(&all, "uint %(uint p_, uint q_) { return p_ + q_; }\n", "");
    custom.combine = "element(a, x(b, 0u))";
    custom.identity = "i(x(0u, 0u), a(0u, b(0u, 0u)))";
    custom.convert = "tile(element(x, 0u), a(0u, b(0u, 0u)))";
    adds_everywhere("functions of the kernels' names", &custom, GPUSCAN_TYPE_U32);
    free(source);

    custom.source = source = each_name(&all, "constant uint % = 0u;\n", "");
    custom.combine = "a + b + tile + element + x + i";
    custom.identity = "a + b + x + i + tile";
    custom.convert = "x + tile + element + a + b";
    adds_everywhere("constants of the kernels' names", &custom, GPUSCAN_TYPE_U32);
    free(source);

    custom.source = source = each_name(&all, "typedef uint %;\n", "");
    custom.type = "tile";
    custom.size = 4;
    custom.combine = "(element)((x)a + (i)b)";
    custom.identity = "(a)(b)(x)(i)0u";
    custom.convert = NULL;
    adds_everywhere("types of the kernels' names", &custom, GPUSCAN_TYPE_CUSTOM);
    free(source);

    custom.source = source = each_name(&all, "#define % 0u\n", " a b x i ");
    custom.type = NULL;
    custom.combine = "a + b + tile";
    custom.identity = "element";
    custom.convert = "x + tile";
    adds_everywhere("macros of the kernels' names", &custom, GPUSCAN_TYPE_U32);
    free(source);
    free(all.data);
}

/* Checks that the log names the text and line that are wrong. */
static void test_log_lines(void **state) {
    static const char good[] = "uint own_sum(uint p, uint q) {\n    return p + q;\n}\n";
    static const struct {
        gpuscan_custom custom;
        const char *line;
    } cases[] = {
        {{"\nuint own_sum(uint p, uint q) {\n    return p + wrong_name;\n}\n", "uint", 4, "a + b", "0u", "x", NULL,
          NULL, NULL},
         "custom:3:"},
        {{good, "uint", 4, "own_sum(a,\n    wrong_name)", "0u", "x", NULL, NULL, NULL}, "custom combine:2:"},
        {{good, "uint", 4, "own_sum(a, wrong_name)", "0u", "x", NULL, NULL, NULL}, "custom combine:1:"},
        {{good, "uint", 4, "a + b", "\n\nwrong_name", "x", NULL, NULL, NULL}, "custom identity:3:"},
        {{good, "uint", 4, "a + b", "0u", "x +\nwrong_name", NULL, NULL, NULL}, "custom convert:2:"},
        {{good, "\nwrong_name", 4, "a + b", "0u", "x", NULL, NULL, NULL}, "custom type:2:"},
    };
    cl_uint one = 1;
    size_t c;
    (void)state;
    if (!test_is_pocl())
        skip(); /* other compilers name lines differently */
    for (c = 0; c < sizeof cases / sizeof *cases; c++) {
        gpuscan_scan_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.src_type = desc.dst_type = GPUSCAN_TYPE_CUSTOM;
        desc.op = GPUSCAN_OP_CUSTOM;
        desc.custom = &cases[c].custom;
        test_case("%s", cases[c].line);
        test_expect(gpuscan_scan_host(test.gs, &one, &one, 1, &desc), GPUSCAN_ERROR_CUSTOM_SOURCE);
        if (strstr(gpuscan_error(test.gs), cases[c].line) == NULL ||
            strstr(gpuscan_error(test.gs), "wrong_name") == NULL)
            fail_msg("%s: not in \"%s\"", test.what, gpuscan_error(test.gs));
    }
}

/* Checks that a text's products and sums are rounded separately, like those of the kernels. */
static void test_no_contraction(void **state) {
    static const gpuscan_custom f32 = {"float own(float x) { return x * x - 1.00048828125f; }\n", NULL, 0, NULL, NULL,
                                       "own(x)", NULL, NULL, NULL};
    static const gpuscan_custom in_place = {NULL, NULL, 0, NULL, NULL, "x * x - 1.00048828125f", NULL, NULL, NULL};
    static const gpuscan_custom f64 = {"double own(double x) { return x * x - (1 + 0x1p-29); }\n", NULL, 0, NULL, NULL,
                                       "own(x)", NULL, NULL, NULL};
    const gpuscan_custom *const singles[] = {&f32, &in_place};
    const float x = 1 + 1 / 4096.0f;
    const double y = 1 + 1 / 1073741824.0;
    gpuscan_scan_desc desc;
    int s, c;
    (void)state;
    for (s = 1; s < GPUSCAN_STRATEGY_COUNT; s++)
        for (c = 0; c < 3; c++) {
            float single = 1;
            double real = 1;
            gpuscan_result r;
            if (c == 2 && !test.info.has_f64)
                continue;
            memset(&desc, 0, sizeof desc);
            desc.src_type = c == 2 ? GPUSCAN_TYPE_F64 : GPUSCAN_TYPE_F32;
            desc.kind = GPUSCAN_INCLUSIVE;
            desc.custom = c == 2 ? &f64 : singles[c];
            desc.call.strategy = (gpuscan_strategy)s;
            test_case("x * x - c, strategy %d, case %d", s, c);
            r = c == 2 ? gpuscan_scan_host(test.gs, &y, &real, 1, &desc)
                       : gpuscan_scan_host(test.gs, &x, &single, 1, &desc);
            if (r == GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
                continue;
            test_ok(r);
            if ((c == 2 ? real : (double)single) != 0)
                fail_msg("%s: %g", test.what, c == 2 ? real : (double)single);
        }
}

/* Elements of src that need more alignment than others have: their tiles must fit into local memory. */
static void test_wide_columns(void **state) {
    enum { COLUMNS = 40, LINES = 300 };
    static const gpuscan_custom first = {NULL, "long16", 128, NULL, NULL, "x.s0", NULL, NULL, NULL};
    int64_t *in = (int64_t *)test_alloc(COLUMNS * LINES * 128);
    uint8_t *out = (uint8_t *)test_alloc(COLUMNS * LINES);
    unsigned i;
    int s;
    (void)state;
    memset(in, 0x55, COLUMNS * LINES * 128);
    for (i = 0; i < COLUMNS * LINES; i++)
        in[16 * i] = (int64_t)i;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        gpuscan_scan_desc d;
        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_CUSTOM;
        d.dst_type = GPUSCAN_TYPE_U8;
        d.custom = &first;
        d.rows = COLUMNS;
        d.along = GPUSCAN_ALONG_COLUMNS;
        d.kind = GPUSCAN_INCLUSIVE;
        d.call.strategy = (gpuscan_strategy)s;
        test_case("columns of 128 bytes, %s", test_strategy_name(d.call.strategy));
        if (!test_ran(gpuscan_scan_host(test.gs, in, out, LINES, &d), d.call.strategy, 0))
            continue;
        for (i = 0; i < COLUMNS * LINES; i++)
            assert_int_equal(out[i], (uint8_t)(i + (i < COLUMNS ? 0u : out[i - COLUMNS])));
    }
    free(in);
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_custom_errors), TEST(test_build_logs),
                                       TEST(test_programs_not_confused), TEST(test_lines), TEST(test_names),
                                       TEST(test_log_lines), TEST(test_no_contraction),
                                       TEST(test_wide_columns)};
    test_select();
    return cmocka_run_group_tests_name("custom", tests, open_calls, test_close);
}
