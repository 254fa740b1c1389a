/* cc run.c -o run
   Runs the jobs of a test run, as many at a time as the machine has cores: run [--more | --all | --long]

   tests/run.sh compiles the programs into build/tests/ and calls this there. A job is a program of tests/test_*.c on
   one OpenCL implementation, or a script. The table `rows` below says which jobs a run has. Each job writes a log to
   build/tests/logs/. When a job ends, one line says how many checks passed, how many seconds it took and how many
   seconds of processor time. If it failed, the lines of its log that say why follow. A test counts as failed, too, if
   it did not run because its program died or ran out of time. The last line is "N passed, N failed", followed by
   ", N skipped" if tests were skipped. The status is 0 if none failed.

   Environment:
       GPUSCAN_TEST_SEED     chooses the jobs of a row, and the programs whose kernels are optimized
       GPUSCAN_TEST_SHARE    see harness.h
       GPUSCAN_TEST_AGAIN    another seed, with which some programs run once more
       GPUSCAN_TEST_LIMIT    seconds; a job that takes longer is ended and has failed
       GPUSCAN_TEST_ONLY     see harness.h
       OCL_ICD_VENDORS       the folder of the drivers to test, /etc/OpenCL/vendors by default */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { DEFAULT, MORE, ALL, LONG, MODES };
static const char *const mode_options[MODES] = {"", "--more", "--all", "--long"};
static const int mode_limits[MODES] = {3600, 4 * 3600, 12 * 3600, 24 * 3600}; /* seconds; then a job that hangs ends */

/* ---- the tables -------------------------------------------------------------------------------------------------- */

/* The jobs. A row stands for each program or script of a pattern, or for one in `of` of them: the seed, counted on by
   `turn`, chooses. So rows of one program and different turns take turns from seed to seed. */
static const struct row {
    const char *kind;     /* of implementation, see find_implementations */
    const char *programs; /* pattern */
    int from, to;         /* modes */
    unsigned of, turn;
    int seconds;          /* of processor time; the longest job starts first; 0: see costs */
    const char *argument; /* for a script; or NULL */
} rows[] = {
    {"vendor", "test_*", DEFAULT, LONG, 1, 0, 0, NULL},
    {"pocl", "test_*", DEFAULT, LONG, 1, 0, 0, NULL},
    {"pocl-seed", "test_plants", DEFAULT, LONG, 1, 0, 0, NULL},
    {"pocl-seed", "test_*", DEFAULT, LONG, 24, 0, 0, NULL},
    {"pocl-host-at", "test_scan", DEFAULT, LONG, 1, 0, 20, NULL},
    {"pocl-as", "test_offsets", DEFAULT, LONG, 1, 0, 20, NULL},
    {"rusticl", "test_smoke", DEFAULT, MORE, 1, 0, 60, NULL},
    {"rusticl", "test_*", ALL, LONG, 1, 0, 60, NULL},
    {"oclgrind", "test_smoke", DEFAULT, DEFAULT, 3, 0, 120, NULL},
    {"oclgrind", "test_lanes_runs", DEFAULT, DEFAULT, 3, 1, 30, NULL},
    {"oclgrind", "test_lanes", DEFAULT, DEFAULT, 3, 2, 120, NULL},
    {"oclgrind", "test_smoke", MORE, MORE, 1, 0, 120, NULL},
    {"oclgrind", "test_lanes_runs", MORE, MORE, 1, 0, 30, NULL},
    {"oclgrind", "test_lanes", MORE, MORE, 1, 0, 120, NULL},
    {"oclgrind", "test_*", ALL, LONG, 1, 0, 110, NULL},
    {"intel", "test_smoke", DEFAULT, MORE, 1, 0, 60, NULL},
    {"intel", "test_pairs", MORE, MORE, 1, 0, 60, NULL},
    {"intel", "test_*", ALL, LONG, 1, 0, 60, NULL},
    {"trixie", "test_*", MORE, LONG, 1, 0, 240, NULL},
    {"script", "compile.sh", DEFAULT, LONG, 1, 0, 0, NULL},
    {"script", "reach.sh", DEFAULT, DEFAULT, 1, 0, 0, NULL},
    {"script", "reach.sh", MORE, LONG, 1, 0, 0, "--all"},
    {"script", "test_*.sh", DEFAULT, LONG, 1, 0, 0, NULL},
    {"script", "trust.sh", DEFAULT, ALL, 1, 0, 0, NULL},
    {"script", "trust.sh", LONG, LONG, 1, 0, 9000, "--long"},
};

/* Seconds of processor time that a program takes on PoCL, about; 15 for a program without a row. */
static const struct cost {
    const char *program;
    int seconds;
} costs[] = {
    {"compile.sh", 130},    {"test_examples.sh", 60},   {"test_smoke", 60},    {"trust.sh", 50},
    {"test_scan", 50},      {"test_devices", 40},       {"test_faults", 35},   {"test_reduce", 30},
    {"test_histogram", 30}, {"test_sort", 30},          {"test_floats", 25},   {"test_trust", 25},
    {"test_segments", 25},  {"test_prepare", 25},       {"test_select", 20},   {"test_host", 20},
    {"test_arguments", 20}, {"test_look_back.sh", 20},  {"test_runs", 20},     {"reach.sh", 20},
};

/* Programs that test the library's host code, as the scripts do. A default run optimizes none of their kernels. */
static const char *const of_host[] = {
    "test_arguments", "test_blobs",  "test_create",  "test_data",  "test_events",  "test_faults", "test_host",
    "test_messages",  "test_plants", "test_prepare", "test_start", "test_threads", "test_tracer", "test_trust",
};

/* ---- small things ------------------------------------------------------------------------------------------------ */

static int mode;
static double limit; /* seconds */
static unsigned long long seed;
static char work[1024]; /* the absolute path of build/tests */

/* Allocates zeroed memory, which nothing frees before the program ends. */
static void *allocate(size_t size) {
    void *p = calloc(1, size);
    if (!p) {
        perror("run");
        exit(2);
    }
    return p;
}

static char *text(const char *format, ...) {
    char buffer[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    return strcpy((char *)allocate(strlen(buffer) + 1), buffer);
}

static unsigned long long number(const char *name, unsigned long long otherwise) {
    const char *value = getenv(name);
    return value && *value ? strtoull(value, NULL, 10) : otherwise;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the user and system time, in seconds, of all child processes that ended. */
static double processor_time(void) {
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int is_there(const char *path) {
    return access(path, R_OK) == 0;
}

static void write_file(const char *path, const char *content) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(content, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

/* The lines of a file, without line ends. */
typedef struct lines {
    char **line;
    size_t count;
} lines;

static lines read_lines(const char *path) {
    lines l = {NULL, 0};
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    while (file && getline(&line, &size, file) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (l.count % 1024 == 0 && (l.line = (char **)realloc(l.line, (l.count + 1024) * sizeof(char *))) == NULL)
            exit(2);
        l.line[l.count++] = strcpy((char *)allocate(strlen(line) + 1), line);
    }
    if (file)
        fclose(file);
    free(line);
    return l;
}

static void free_lines(lines *l) {
    while (l->count)
        free(l->line[--l->count]);
    free(l->line);
}

static int begins(const char *line, const char *with) {
    return strncmp(line, with, strlen(with)) == 0;
}

/* Prints the lines that contain one of the texts, with `before` lines before and `after` lines after each: at most
   `most` lines in all. */
static void print_around(const lines *l, const char *const *texts, size_t before, size_t after, int most) {
    size_t i, k, t, next = 0;
    for (i = 0; i < l->count && most > 0; i++)
        for (t = 0; texts[t]; t++)
            if (strstr(l->line[i], texts[t])) {
                for (k = i > next + before ? i - before : next; k <= i + after && k < l->count && most > 0; k++, most--)
                    printf("  %.400s\n", l->line[k]);
                next = k > next ? k : next;
                break;
            }
}

/* ---- programs and implementations -------------------------------------------------------------------------------- */

static char *programs[256]; /* test_..., and the scripts */
static int is_optimized[256];
static size_t program_count;

static int is_script(const char *program) {
    return strstr(program, ".sh") != NULL;
}

static int is_of_host(const char *program) {
    size_t i;
    for (i = 0; i < COUNT(of_host); i++)
        if (strcmp(of_host[i], program) == 0)
            return 1;
    return is_script(program);
}

static int cost(const char *program) {
    size_t i;
    for (i = 0; i < COUNT(costs); i++)
        if (strcmp(costs[i].program, program) == 0)
            return costs[i].seconds;
    return 15;
}

/* Finds the programs by their sources, and chooses those whose kernels are optimized: in a default run test_smoke,
   which has every operation, and one in six of the kernels' programs but test_sort: sorts' kernels take PoCL's
   optimizer five minutes. */
static void find_programs(void) {
    static const char *const patterns[] = {"tests/test_*.c", "tests/test_*.sh", "tests/compile.sh", "tests/reach.sh",
                                           "tests/trust.sh"};
    unsigned long long turn = seed / 97;
    glob_t found;
    size_t i;
    int said = 0;
    for (i = 0; i < COUNT(patterns); i++)
        glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
    for (i = 0; i < found.gl_pathc && i < COUNT(programs); i++) {
        char *name = text("%s", strrchr(found.gl_pathv[i], '/') + 1), *end = strrchr(name, '.');
        if (strcmp(end, ".c") == 0)
            *end = '\0';
        is_optimized[i] = mode != DEFAULT || strcmp(name, "test_smoke") == 0 ||
                          (!is_of_host(name) && ++turn % 6 == 0 && strcmp(name, "test_sort") != 0);
        programs[program_count++] = name;
        if (mode == DEFAULT && is_optimized[i])
            printf("%s%s", said++ ? " " : "kernels are optimized for: ", name + strlen("test_"));
    }
    printf("\n");
    globfree(&found);
}

typedef struct implementation {
    const char *kind, *name;
    const char *library;        /* its driver; NULL: the implementation finds its own */
    const char *environment[8]; /* NAME=value */
} implementation;

static implementation implementations[64];
static size_t implementation_count;

static implementation *add_implementation(const char *kind, const char *name, const char *library) {
    implementation *it = &implementations[implementation_count++];
    it->kind = kind;
    it->name = name;
    it->library = library;
    if (library) { /* a folder with this driver's .icd file alone */
        char *folder = text("%s/icd/%s", work, name);
        mkdir(text("%s/icd", work), 0777);
        mkdir(folder, 0777);
        write_file(text("%s/%s.icd", folder, name), text("%s\n", library));
        it->environment[0] = text("OCL_ICD_VENDORS=%s/", folder);
    }
    return it;
}

static void add_environment(implementation *it, char *word) {
    size_t i = 0;
    while (it->environment[i])
        i++;
    it->environment[i] = word;
}

/* Returns the lines that a program prints on an implementation when it runs no test. */
static lines probe(const implementation *it, const char *program) {
    char *log = text("%s/logs/probe.txt", work), *command = text("GPUSCAN_TEST_ONLY=none");
    size_t i;
    for (i = 0; it->environment[i]; i++)
        command = text("%s '%s'", command, it->environment[i]);
    if (system(text("env %s '%s/%s' > '%s' 2>&1", command, work, program, log)) < 0)
        perror("run");
    return read_lines(log);
}

/* Returns the name of PoCL's processor, from a test program's first line. */
static char *cpu_name(const implementation *it) {
    lines l = probe(it, "test_offsets");
    char *name = NULL;
    size_t i;
    for (i = 0; i < l.count && !name; i++)
        if (begins(l.line[i], "pthread") && strstr(l.line[i], ", seed"))
            name = text("%.*s", (int)(strstr(l.line[i], ", seed") - l.line[i]), l.line[i]);
    free_lines(&l);
    return name ? name : text("");
}

/* Adds PoCL for other processors that this one can run code for. Its compiler picks other instructions for each, and
   they ask for other alignments, which test_offsets checks. Distributions' PoCL picks the processor by the name of its
   kernel library, other builds by LLVM's name. */
static void find_processors(const char *pocl) {
    static const struct {
        const char *name, *kernel_library, *llvm, *needs; /* a flag of /proc/cpuinfo */
        int from;
    } processors[] = {{"avx2+haswell", "avx2", "haswell", "avx2", DEFAULT},
                      {"avx512+skylake-avx512", "avx512", "skylake-avx512", "avx512vl", DEFAULT},
                      {"sse2+x86-64", "sse2", "x86-64", "sse2", MORE},
                      {"sse41+nehalem", "sse41", "nehalem", "sse4_2", MORE}};
    char *seen[COUNT(processors) + 1];
    size_t i, k, s, count = 0;
    const size_t before = implementation_count;
    lines l = read_lines("/proc/cpuinfo");
    const char *flags = "";
    implementation *it = add_implementation("probe", "pocl-as", pocl);
    for (i = 0; i < l.count; i++)
        if (begins(l.line[i], "flags"))
            flags = l.line[i];
    flags = text("%s ", flags);
    free_lines(&l);
    seen[count++] = cpu_name(it);
    implementation_count = before;
    for (k = 0; k < COUNT(processors); k++) {
        char *name;
        if (mode < processors[k].from || !strstr(flags, text(" %s ", processors[k].needs)))
            continue;
        it = add_implementation("pocl-as", text("pocl-as-%s", processors[k].name), pocl);
        add_environment(it, text("POCL_KERNELLIB_NAME=%s", processors[k].kernel_library));
        add_environment(it, text("POCL_LLVM_CPU_NAME=%s", processors[k].llvm));
        name = cpu_name(it);
        for (s = 0; s < count && strcmp(seen[s], name) != 0; s++)
            ;
        if (s < count) /* this PoCL ignores the variables, or the processor is the machine's own */
            implementation_count--;
        else
            seen[count++] = name;
    }
}

/* Adds the machine's drivers, found as the loader finds them. Returns the path of PoCL's library. */
static char *find_vendors(void) {
    const char *folder = getenv("OCL_ICD_VENDORS");
    char *pocl = text("libpocl.so.2");
    glob_t found;
    size_t i, k;
    if (glob(text("%s/*.icd", folder && *folder ? folder : "/etc/OpenCL/vendors"), 0, NULL, &found) != 0)
        return pocl;
    for (i = 0; i < found.gl_pathc; i++) {
        lines l = read_lines(found.gl_pathv[i]);
        char *library = text("%s", l.count ? l.line[0] : "");
        char *name = text("%s", strrchr(found.gl_pathv[i], '/') + 1);
        implementation *it;
        int has_device = 1;
        name[strlen(name) - strlen(".icd")] = '\0';
        free_lines(&l);
        if (strstr(library, "pocl")) {
            pocl = text("%s/pocl/lib/here/driver.so", work); /* see tests/run.sh */
            if (strchr(library, '/') || !is_there(pocl)) /* its own path, and so its own header */
                pocl = library;
        } else if (strstr(library, "usticl")) {
            it = add_implementation("rusticl", "rusticl", library);
            add_environment(it, text("GPUSCAN_TEST_SIZE=small"));
            add_environment(it, text("RUSTICL_ENABLE=llvmpipe"));
        } else {
            it = add_implementation("vendor", text("vendor-%s", name), library);
            l = probe(it, "test_smoke");
            for (k = 0; k < l.count; k++)
                has_device &= !strstr(l.line[k], "no device");
            free_lines(&l);
            if (!has_device) {
                printf("left out: %s, which has no device here\n", name);
                implementation_count--;
            }
        }
    }
    globfree(&found);
    return pocl;
}

static void find_implementations(void) {
    const char *again = getenv("GPUSCAN_TEST_AGAIN");
    char *pocl = find_vendors(), *leaks = text("%s/leaks.txt", work);
    const size_t first = implementation_count;
    const char *library_path = getenv("LD_LIBRARY_PATH");
    implementation *it;
    size_t i;
    add_implementation("pocl", "pocl", pocl);
    if (again && *again)
        add_environment(add_implementation("pocl-seed", text("pocl-seed-%s", again), pocl),
                        text("GPUSCAN_TEST_SEED=%s", again));
    /* Buffers in host memory that begin behind a cache line. Only the tests of rows run: the host cuts a row's tiles by
       offsets, without a look at the address. */
    it = add_implementation("pocl-host-at", text("pocl-host-at-%d", (int)(seed % 3) + 1), pocl);
    add_environment(it, text("GPUSCAN_TEST_HOST_AT=%d", (int)(seed % 3) + 1));
    add_environment(it, text("GPUSCAN_TEST_ONLY=*rows*"));
    /* drivers and compilers leak; the library is not to blame */
    write_file(leaks, "leak:libpocl\nleak:libLLVM\nleak:libclang\nleak:libOpenCL\nleak:ld-linux\nleak:dlopen\n");
    for (i = first; i < implementation_count; i++) {
        add_environment(&implementations[i], text("ASAN_OPTIONS=detect_odr_violation=0"));
        add_environment(&implementations[i], text("LSAN_OPTIONS=suppressions=%s:print_suppressions=0", leaks));
    }
    find_processors(pocl);
    it = add_implementation("script", "script", pocl);
    it->environment[0] = text("OCL_ICD_VENDORS=%s/icd/pocl/", work);
    if (system("command -v oclgrind > /dev/null 2>&1") == 0)
        add_environment(add_implementation("oclgrind", "oclgrind", NULL), text("GPUSCAN_TEST_SIZE=small"));
    else
        printf("left out: oclgrind is not installed\n");
    if (is_there(text("%s/intel/lib/libintelocl.so", work))) { /* its sub-groups no other implementation here has */
        it = add_implementation("intel", "intel", text("%s/intel/lib/libintelocl.so", work));
        add_environment(it, text("GPUSCAN_TEST_SIZE=small"));
        add_environment(it, text("LD_LIBRARY_PATH=%s/intel/lib%s%s", work, library_path ? ":" : "",
                                 library_path ? library_path : ""));
    }
    if (mode != DEFAULT && is_there(text("%s/trixie/complete", work))) {
        it = add_implementation("trixie", "trixie", NULL); /* share and kernels of a default run */
        add_environment(it, text("GPUSCAN_TEST_SHARE=128"));
        add_environment(it, text("POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable"));
    }
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

typedef struct job {
    char *label; /* "pocl: scan", "compile.sh" */
    char *program, *log, *reports;
    const char *environment[16], *command[10];
    int is_script, seconds, is_late;
    double began;
    pid_t pid; /* 0: it has not begun, or has ended */
} job;

static job jobs[2048];
static size_t job_count;
static int passed, failed, skipped;

static void add_environment_to_job(job *j, const char *word) {
    size_t i = 0;
    while (j->environment[i])
        i++;
    j->environment[i] = word;
}

/* Sets whether PoCL optimizes the kernels. That takes four times as long, so an optimized program of a default run
   takes a quarter of the share. It still takes twice as long, since not all of its work depends on the share. */
static void set_optimization(job *j, const implementation *it, int optimized) {
    const char *flags = getenv("POCL_EXTRA_BUILD_FLAGS");
    if ((!begins(it->kind, "pocl") && !j->is_script) || strcmp(it->kind, "pocl-as") == 0)
        return;
    if (!optimized)
        add_environment_to_job(j, text("POCL_EXTRA_BUILD_FLAGS=%s -cl-opt-disable", flags ? flags : ""));
    else if (mode == DEFAULT && !j->is_script) {
        add_environment_to_job(j, text("GPUSCAN_TEST_SHARE=%llu", number("GPUSCAN_TEST_SHARE", 1) * 4));
        j->seconds *= 2;
    }
}

static void set_command(job *j, const implementation *it, const char *argument) {
    const char *const oclgrind[] = {"oclgrind", "--data-races", "--uninitialized", "--check-api", "--max-errors",
                                    "100",      "--log"};
    /* the mounts end with the process, which has its own mount namespace */
    const char *in_folder = "mount -t proc proc \"$1/proc\" && mount -t sysfs -o ro sys \"$1/sys\" && "
                            "mount --bind /dev \"$1/dev\" && mount --bind \"$2\" \"$1/mnt\" && "
                            "POCL_CACHE_DIR=/tmp exec chroot \"$1\" \"/mnt/$3\"";
    char *sanitized = text("%s/%s-sanitized", work, j->program);
    char *program = is_there(sanitized) && begins(it->kind, "pocl") ? sanitized : text("%s/%s", work, j->program);
    size_t n = 0;
    if (j->is_script) {
        j->command[n++] = "sh";
        j->command[n++] = text("tests/%s", j->program);
        j->command[n++] = argument;
    } else if (strcmp(it->kind, "oclgrind") == 0) {
        /* it takes bytes that a CPU's selections and runs load as vectors, in test_smoke, for uninitialized */
        size_t k, uninitialized = strcmp(j->program, "test_smoke") == 0 ? 2 : COUNT(oclgrind);
        for (k = 0; k < COUNT(oclgrind); k++)
            if (k != uninitialized)
                j->command[n++] = oclgrind[k];
        j->reports = text("%s/logs/%s-%s-reports.txt", work, it->name, j->program);
        j->command[n++] = j->reports;
        j->command[n++] = program;
    } else if (strcmp(it->kind, "trixie") == 0) {
        const char *const command[] = {"unshare", "-m",      "sh", "-c", in_folder, "sh", text("%s/trixie", work),
                                       work,      j->program};
        for (; n < COUNT(command); n++)
            j->command[n] = command[n];
    } else {
        j->command[n++] = program;
    }
}

static void add_job(const implementation *it, const struct row *r, size_t which) {
    job *j = &jobs[job_count];
    char *program = programs[which], *name = text("%s%s%s", it->name, "-", program);
    size_t i;
    memset(j, 0, sizeof *j);
    j->is_script = strcmp(it->kind, "script") == 0;
    j->program = program;
    j->label = j->is_script ? program : text("%s: %s", it->name, program + strlen("test_"));
    j->log = text("%s/logs/%s.txt", work, j->is_script ? program : name);
    j->seconds = r->seconds ? r->seconds : cost(program);
    for (i = 0; i < job_count; i++)
        if (strcmp(jobs[i].log, j->log) == 0)
            return; /* an earlier row has this job */
    memcpy(j->environment, it->environment, sizeof it->environment);
    set_optimization(j, it, is_optimized[which]);
    set_command(j, it, r->argument);
    job_count++;
}

/* Sorts the longest job first, and jobs of the same length by the names of their logs. */
static int compare_jobs(const void *a, const void *b) {
    const job *x = (const job *)a, *y = (const job *)b;
    return x->seconds != y->seconds ? y->seconds - x->seconds : strcmp(x->log, y->log);
}

static void plan_jobs(void) {
    size_t r, i, p;
    for (r = 0; r < COUNT(rows); r++)
        for (i = 0; i < implementation_count; i++) {
            const implementation *it = &implementations[i];
            unsigned long long turn = strcmp(it->kind, "pocl-seed") == 0 ? number("GPUSCAN_TEST_AGAIN", 0) : seed;
            if (strcmp(rows[r].kind, it->kind) != 0 || mode < rows[r].from || mode > rows[r].to)
                continue;
            for (p = 0; p < program_count; p++) {
                if (fnmatch(rows[r].programs, programs[p], 0) != 0 ||
                    is_script(programs[p]) != (strcmp(it->kind, "script") == 0))
                    continue;
                if (!is_script(programs[p]) && !is_there(text("%s/%s", work, programs[p])))
                    continue; /* it did not compile */
                if (mode == DEFAULT && rows[r].of > 1 && strcmp(it->kind, "pocl-seed") == 0 &&
                    (is_of_host(programs[p]) || strcmp(programs[p], "test_smoke") == 0))
                    continue; /* another seed shows little of them */
                if ((turn++ + rows[r].turn) % rows[r].of == 0)
                    add_job(it, &rows[r], p);
                else if (rows[r].of > 1 && strcmp(rows[r].programs, programs[p]) == 0)
                    printf("left out: %s on %s, which other seeds have\n", programs[p], it->name);
            }
        }
    qsort(jobs, job_count, sizeof *jobs, compare_jobs);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void count(int more_passed, int more_failed, int more_skipped) {
    passed += more_passed;
    failed += more_failed;
    skipped += more_skipped;
}

static void end_script(const job *j, int status, const char *times) {
    static const char *const failures[] = {"FAILED", "not ok", NULL}, *const left_out[] = {"left out", NULL};
    lines l = read_lines(j->log);
    int p = 0, f = 1, end = 0;
    if (!l.count || sscanf(l.line[l.count - 1], "%d passed, %d failed%n", &p, &f, &end) != 2 || end == 0)
        p = 0, f = 1;
    if (f == 0 && (j->is_late || status != 0 || p == 0))
        f = 1;
    count(p, f, 0);
    printf("%s: %d passed, %d failed%s (%s)\n", j->label, p, f, j->is_late ? ": took too long" : "", times);
    if (f)
        print_around(&l, failures, 0, 8, 60);
    print_around(&l, left_out, 0, 0, 60);
    free_lines(&l);
}

/* The result of a test program, as cmocka printed it. */
typedef struct outcome {
    int passed, planned, skipped, has_ended, leaks_crashed, sanitizer;
    const char *last; /* the test that began last */
} outcome;

static outcome read_outcome(const lines *l) {
    outcome o = {0, -1, 0, 0, 0, 0, "none"};
    size_t i;
    const char *found;
    for (i = 0; i < l->count; i++) {
        const char *line = l->line[i];
        o.passed += begins(line, "[       OK ]");
        if (begins(line, "[ RUN      ] "))
            o.last = line + strlen("[ RUN      ] ");
        if (begins(line, "[=") && (found = strstr(line, " Running ")) != NULL && o.planned < 0)
            o.planned = atoi(found + strlen(" Running "));
        o.has_ended |= begins(line, "[=") && strlen(line) > 5 && strcmp(line + strlen(line) - 5, " run.") == 0;
        if (begins(line, "[  SKIPPED ] ") && strstr(line, " test(s), listed below"))
            o.skipped = atoi(line + strlen("[  SKIPPED ] "));
        o.leaks_crashed |= strstr(line, "LeakSanitizer has encountered a fatal error") != NULL;
        o.sanitizer |= strstr(line, "runtime error") || (strstr(line, "ERROR: ") && strstr(line, "Sanitizer"));
    }
    if (o.planned < 0) /* a program that did not say how many tests it has counts as one that failed */
        o.planned = o.passed + 1;
    return o;
}

static void end_program(const job *j, int status, const char *times) {
    static const char *const failures[] = {
        "[  ERROR", "[  FAILED", "ALARM", "ERROR: ", "runtime error", "no device", "no object", NULL};
    lines l = read_lines(j->log), reports = {NULL, 0};
    outcome o = read_outcome(&l);
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128, f;
    char *died = NULL;
    size_t i;
    if (status != 0 && !o.has_ended) {
        died = text("died in %s with ", o.last);
        died = j->is_late   ? text("took too long in %s", o.last)
               : signal > 0 ? text("%ssignal %d (%s)", died, signal, strsignal(signal))
                            : text("%sstatus %d", died, WEXITSTATUS(status));
        o.skipped = 0;
    }
    f = o.planned - o.passed - o.skipped;
    if (died && f < 1) /* it died after its last test, and that is one failure */
        f = 1;
    if (status != 0 && !died && f == 0) {
        /* The program failed after its tests, or a sanitizer reports something. LeakSanitizer itself may crash at the
           end because of a driver's threads; it has not looked for leaks then. */
        if (o.leaks_crashed && !o.sanitizer) {
            o.skipped++;
            printf("left out: the search for leaks of %s, in which LeakSanitizer itself crashed\n", j->program);
        } else {
            f = 1;
        }
    }
    if (j->reports)
        reports = read_lines(j->reports);
    f += reports.count > 0; /* Oclgrind's report is a failure even if the results are right */
    count(o.passed, f, o.skipped);
    printf("%s: %d passed, %d failed", j->label, o.passed, f);
    if (o.skipped)
        printf(", %d skipped", o.skipped);
    if (died)
        printf(": %s, %d tests after it not run", died, o.planned - o.passed - 1);
    printf(" (%s)\n", times);
    if (f) {
        printf("  status %d; from %s:\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + signal, j->log);
        print_around(&l, failures, 3, 3, 30);
        for (i = died ? l.count > 12 ? l.count - 12 : 0 : l.count; i < l.count; i++)
            printf("  %.300s\n", l.line[i]); /* its last words */
        for (i = 0; i < reports.count && i < 20; i++)
            printf("  %s\n", reports.line[i]);
    }
    free_lines(&l);
    free_lines(&reports);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped_by;

static void stop(int signal) {
    stopped_by = signal;
}

/* Starts a job in a process group, so that the processes that it starts end with it. */
static void start(job *j) {
    size_t i;
    int log;
    fflush(stdout);
    j->began = now();
    j->pid = fork();
    if (j->pid < 0) {
        perror("fork");
        exit(2);
    }
    if (j->pid > 0) {
        setpgid(j->pid, j->pid);
        return;
    }
    setpgid(0, 0);
    for (i = 0; j->environment[i]; i++)
        putenv(text("%s", j->environment[i]));
    if ((log = open(j->log, O_WRONLY | O_CREAT | O_TRUNC, 0666)) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
        (log = open("/dev/null", O_RDONLY)) < 0 || dup2(log, 0) < 0)
        _exit(126);
    if (j->reports)
        unlink(j->reports);
    {
        char *command[COUNT(j->command) + 1] = {NULL};
        for (i = 0; i < COUNT(j->command) && j->command[i]; i++)
            command[i] = text("%s", j->command[i]);
        execvp(command[0], command);
    }
    perror(j->command[0]);
    _exit(127);
}

static void end(job *j, int status, double processor) {
    char *times = text("%.0f s, %.0f s of processor time", now() - j->began, processor);
    j->pid = 0;
    if (j->is_script)
        end_script(j, status, times);
    else
        end_program(j, status, times);
    fflush(stdout);
}

/* Waits until a job has ended. Kills jobs that exceed the limit, and all jobs if a signal tells this program to end. */
static void wait_for_job(void) {
    const struct timespec while_ = {0, 50000000};
    double before;
    int status;
    pid_t pid;
    size_t i;
    for (;;) {
        before = processor_time();
        pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno != EINTR)
            return;
        for (i = 0; i < job_count; i++)
            if (pid > 0 && jobs[i].pid == pid) {
                kill(-pid, SIGKILL); /* ends the processes that it started and left running */
                end(&jobs[i], status, processor_time() - before);
                return;
            }
        for (i = 0; i < job_count; i++)
            if (jobs[i].pid > 0 && (stopped_by || now() - jobs[i].began > limit)) {
                jobs[i].is_late = 1;
                kill(-jobs[i].pid, SIGKILL);
            }
        if (stopped_by) {
            signal(stopped_by, SIG_DFL);
            raise(stopped_by);
        }
        nanosleep(&while_, NULL);
    }
}

/* Counts each program that did not compile as one failure. */
static void count_compile_errors(void) {
    glob_t found;
    size_t i, k;
    memset(&found, 0, sizeof found);
    glob(text("%s/logs/*-compile.txt", work), 0, NULL, &found);
    for (i = 0; i < found.gl_pathc; i++) {
        char *name = strrchr(found.gl_pathv[i], '/') + 1;
        lines l = read_lines(found.gl_pathv[i]);
        name[strlen(name) - strlen("-compile.txt")] = '\0';
        if (access(text("%s/%s", work, name), X_OK) != 0) {
            printf("FAILED: %s does not compile:\n", name);
            for (k = 0; k < l.count && k < 20; k++)
                printf("%s\n", l.line[k]);
            count(0, 1, 0);
        }
        free_lines(&l);
    }
    globfree(&found);
    for (i = 0; i < program_count; i++)
        if (!is_script(programs[i]) && access(text("%s/%s", work, programs[i]), X_OK) != 0 &&
            !is_there(text("%s/logs/%s-compile.txt", work, programs[i]))) {
            printf("FAILED: %s was not compiled\n", programs[i]);
            count(0, 1, 0);
        }
}

int main(int argc, char **argv) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN), running = 0;
    double began = now();
    size_t next;
    signal(SIGCHLD, SIG_DFL); /* if the caller ignores SIGCHLD, waitpid returns no status */
    for (mode = 0; mode < MODES && strcmp(mode_options[mode], argc > 1 ? argv[1] : "") != 0; mode++)
        ;
    if (mode == MODES || !getcwd(work, sizeof work - sizeof "/build/tests")) {
        fprintf(stderr, "usage: run [--more | --all | --long]\n");
        return 2;
    }
    strcat(work, "/build/tests");
    seed = number("GPUSCAN_TEST_SEED", 0);
    limit = (double)number("GPUSCAN_TEST_LIMIT", (unsigned long long)mode_limits[mode]);
    cores = cores < 1 ? 1 : cores > 8 ? 8 : cores;
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    signal(SIGHUP, stop);
    find_programs();
    count_compile_errors();
    find_implementations();
    plan_jobs();
    printf("running %d jobs\n", (int)job_count);
    for (next = 0; next < job_count || running > 0; running--) {
        for (; next < job_count && running < cores; running++)
            start(&jobs[next++]);
        wait_for_job();
    }
    printf("%.0f s, %.0f s of processor time\n", now() - began, processor_time());
    printf("%d passed, %d failed", passed, failed);
    if (skipped)
        printf(", %d skipped", skipped);
    printf("\n");
    return failed > 0 || passed == 0;
}
