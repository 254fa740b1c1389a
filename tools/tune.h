/* bench --tune: the numbers of gpuscan.h's [DEVICE PROFILE] that suit this device, as C text. Part of bench.c.

   Tries the values of one number after another on calls of its operation. Keeps a value if it makes these calls at
   least 3 % faster in the mean, three times in a row. Leaves numbers out that none of these calls uses. */

#define TUNE_NUMBER(row, name)                                                                                         \
    #row "." #name, NULL, offsetof(gpuscan__profile, row.name),                                                        \
        sizeof(((gpuscan__profile *)0)->row.name) / sizeof(uint32_t)

enum { TUNE_CALLS = 2, TUNE_SIZES = 3, TUNE_TRIES = 5, TUNE_COLUMNS = 8, TUNE_SHAPES = 4, TUNE_LENGTH = 2048 };
static const double TUNE_GAIN = 0.97;

typedef struct tune_column {
    const char *name;
    gpuscan__tuning *tile; /* `at` counts from this tile; NULL: from the profile */
    size_t at, numbers;    /* a pair for small and large elements gets the same value turn */
    int tries;
    uint32_t values[TUNE_TRIES];
    int is_strategy;
} tune_column;

typedef struct tune_row {
    const char *name; /* of the list */
    bench_group group;
    const char *calls[TUNE_CALLS]; /* "op type" of the rows of bench */
    tune_column columns[TUNE_COLUMNS];
    int by_rows; /* 1: the calls reduce rows of TUNE_LENGTH elements */
} tune_row;

#define TUNE_STRATEGIES 5, {1, 2, 3, 4, 5}, 1
#define TUNE_GROUPS     5, {64, 128, 256, 512, 1024}, 0
#define TUNE_VECTORS    4, {1, 2, 4, 8}, 0

static gpuscan__tuning tune_tile; /* the tile of scans of all sizes */

/* The columns that are tried. */
static const tune_column tune_shape[] = {
    {"strategy", &tune_tile, offsetof(gpuscan__tuning, strategy), 1, TUNE_STRATEGIES},
    {"group", &tune_tile, offsetof(gpuscan__tuning, group), 1, TUNE_GROUPS},
    {"vectors", &tune_tile, offsetof(gpuscan__tuning, vectors), 1, TUNE_VECTORS}};
static const tune_row tune_rows[] = {
    {"tiles", SCAN, {"exclusive_scan u32", "exclusive_scan u64"},
     {{TUNE_NUMBER(tiles, groups_per_unit), 5, {2, 4, 8, 16, 64}, 0}}, 0},
    {"cpu", SCAN, {"exclusive_scan u32", "exclusive_scan u64"},
     {{TUNE_NUMBER(cpu, chunk), 4, {1 << 16, 1 << 17, 1 << 18, 1 << 19}, 0},
      {TUNE_NUMBER(cpu, prefetch_src), 4, {0, 1024, 2048, 4096}, 0},
      {TUNE_NUMBER(cpu, prefetch_dst), 3, {0, 512, 1024}, 0}}, 0},
    {"reduce", REDUCE, {"reduce u32", "reduce u64"},
     {{TUNE_NUMBER(reduce, strategy), TUNE_STRATEGIES}, {TUNE_NUMBER(reduce, group), TUNE_GROUPS},
      {TUNE_NUMBER(reduce, vectors), TUNE_VECTORS}, {TUNE_NUMBER(reduce, per_unit), 5, {1, 2, 4, 8, 16}, 0}}, 0},
    {"segments", REDUCE, {"reduce u32", "reduce u64"},
     {{TUNE_NUMBER(segments, vectors), TUNE_VECTORS}, {TUNE_NUMBER(segments, per_unit), 5, {1, 2, 4, 8, 16}, 0},
      {TUNE_NUMBER(segments, group), TUNE_GROUPS},
      {TUNE_NUMBER(segments, row_lanes), 2, {TUNE_LENGTH / 2, 2 * TUNE_LENGTH}, 0}}, 1},
    {"histogram", HISTOGRAM, {"hist256 u8", "hist2048 i32"},
     {{TUNE_NUMBER(histogram, strategy), TUNE_STRATEGIES}, {TUNE_NUMBER(histogram, group), TUNE_GROUPS},
      {TUNE_NUMBER(histogram, vectors), TUNE_VECTORS}, {TUNE_NUMBER(histogram, per_unit), 5, {1, 2, 4, 8, 16}, 0},
      {TUNE_NUMBER(histogram, least), TUNE_VECTORS}, {TUNE_NUMBER(histogram, copies), 5, {2, 4, 8, 16, 32}, 0},
      {TUNE_NUMBER(histogram, local), 3, {16 << 10, 32 << 10, 48 << 10}, 0}}, 0},
    {"sort", SORT, {"sort_keys u32", "sort_keys u64"},
     {{TUNE_NUMBER(sort, strategy), TUNE_STRATEGIES}, {TUNE_NUMBER(sort, group), TUNE_GROUPS},
      {TUNE_NUMBER(sort, vectors), 5, {4, 8, 16, 20, 28}, 0}, {TUNE_NUMBER(sort, halves), 2, {0, 1}, 0},
      {TUNE_NUMBER(sort, together), 3, {0, 1 << 18, 1 << 20}, 0}}, 0},
    {"integral", PICTURE, {"integral u8->u32", "integral f32"},
     {{TUNE_NUMBER(integral, group), TUNE_GROUPS}, {TUNE_NUMBER(integral, vectors), TUNE_VECTORS}}, 0}};

static uint32_t *tune_at(const tune_column *c) {
    void *base = c->tile ? (void *)c->tile : (void *)&device.gs->device.profile;
    return (uint32_t *)(void *)((char *)base + c->at);
}

static void tune_set(const tune_column *c, uint32_t value) {
    size_t k;
    for (k = 0; k < c->numbers; k++) tune_at(c)[k] = value;
}

static gpuscan_result enqueue_rows(const job *j) {
    gpuscan_reduce_desc desc = {0};
    desc.src_type = desc.dst_type = j->row->src;
    desc.src.mem = j->src;
    desc.dst.mem = j->dst;
    desc.count = TUNE_LENGTH;
    desc.rows = j->n / TUNE_LENGTH;
    desc.call.queue = j->queue;
    return gpuscan_reduce(device.gs, &desc);
}

static job tune_job(const tune_row *r, int call, uint64_t n) {
    char text[64];
    job j = {0};
    void *block;
    for (j.row = rows; j.row < rows + ROWS; j.row++) {
        snprintf(text, sizeof text, "%s %s", j.row->op, j.row->type);
        if (strcmp(text, r->calls[call]) == 0) break;
    }
    j.enqueue = r->by_rows ? enqueue_rows : enqueue_functions[j.row->group];
    j.queue = device.queue;
    j.n = n;
    block = allocate((n < BLOCK ? n : BLOCK) * source_size(j.row));
    j.row->fill(block, (size_t)((n < BLOCK ? n : BLOCK) * source_size(j.row)));
    j.src = new_buffer(n * source_size(j.row));
    j.dst = new_buffer(r->by_rows ? n / TUNE_LENGTH * type_size(j.row->dst) : result_bytes(j.row, n));
    if (j.src == NULL || j.dst == NULL) die("no device memory for %s", text);
    fill_device(source_size(j.row), j.src, block, n);
    free(block);
    return j;
}

/* Returns the sum of the logarithms of the jobs' times; a large number if one fails. */
static double tune_time(const job *jobs, int count) {
    double sum = 0;
    int i;
    for (i = 0; i < count; i++) {
        timing t;
        set_raster(jobs[i].n);
        t = measure(&jobs[i]);
        if (t.result != 0) return 1e9;
        sum += log(t.ms + 1e-6);
    }
    return sum;
}

/* Sets a column to the best of its values. quick: tries two of them. */
static void tune(const tune_column *c, const job *jobs, int count, int quick) {
    uint32_t before[2] = {0, 0}, best = 0;
    double gain = 0, start;
    int i, turn, tries = quick && c->tries > 2 ? 2 : c->tries;
    memcpy(before, tune_at(c), c->numbers * sizeof before[0]);
    for (i = 0; i < tries; i++) {
        double least = 0;
        if (c->values[i] == before[0] && c->numbers == 1) continue;
        progress("%s: %u", c->name, (unsigned)c->values[i]);
        for (turn = 0; turn < 3 && (turn == 0 || least <= count * log(TUNE_GAIN)); turn++) {
            double now;
            memcpy(tune_at(c), before, c->numbers * sizeof before[0]);
            start = tune_time(jobs, count);
            tune_set(c, c->values[i]);
            now = tune_time(jobs, count) - start;
            least = turn == 0 || now > least ? now : least;
        }
        if (least <= count * log(TUNE_GAIN) && least < gain) {
            gain = least;
            best = c->values[i];
        }
    }
    memcpy(tune_at(c), before, c->numbers * sizeof before[0]);
    if (gain < 0) tune_set(c, best);
}

static const char *const tune_strategies[GPUSCAN_STRATEGY_COUNT] = {
    "AUTO", "MULTI_PASS", "SINGLE_PASS", "SINGLE_PASS_AHEAD", "CPU_MULTI_PASS", "CPU_SINGLE_PASS"};

static void tune_print(const tune_column *c) {
    const uint32_t *at = tune_at(c);
    size_t k;
    for (k = 0; k < c->numbers; k++) {
        printf("    profile->%s", c->name);
        if (c->numbers > 1) printf("[%d]", (int)k);
        if (c->is_strategy) printf(" = GPUSCAN_STRATEGY_%s;\n", tune_strategies[at[k]]);
        else printf(" = %u;\n", (unsigned)at[k]);
    }
}

/* Finds the tile of scans for one size after another. The last is that of larger scans, too. */
static void tune_shapes(const tune_row *r, int quick) {
    static const unsigned logs[TUNE_SHAPES] = {12, 16, 20, 24};
    gpuscan__profile *profile = &device.gs->device.profile;
    int i, k;
    tune_tile = *gpuscan__any_tuning(device.gs);
    profile->tunings = &tune_tile;
    profile->tuning_count = 1;
    printf("/* gpuscan__tunings */\n");
    for (i = quick ? TUNE_SHAPES - 2 : 0; i < TUNE_SHAPES; i++) {
        job j = tune_job(r, 0, (uint64_t)1 << (quick ? logs[i] - 4 : logs[i]));
        for (k = 0; k < 3; k++) tune(&tune_shape[k], &j, 1, quick);
        printf("    GPUSCAN__TILE(NEW, %s, 0, %u, %s, %u, %u, %u, %u, 0),\n", i < TUNE_SHAPES - 1 ? "SCANS" : "ALL",
               i < TUNE_SHAPES - 1 ? (unsigned)(4 * j.n * source_size(j.row) >> 10) : 0,
               tune_strategies[tune_tile.strategy], (unsigned)tune_tile.group, (unsigned)tune_tile.vectors,
               (unsigned)(tune_tile.ahead >> 20), (unsigned)tune_tile.registers);
        cl.clReleaseMemObject(j.src);
        cl.clReleaseMemObject(j.dst);
    }
}

static void tune_table(const tune_row *r, int quick) {
    static const unsigned logs[TUNE_SIZES] = {16, 20, 24};
    const tune_column *c;
    job jobs[TUNE_CALLS * TUNE_SIZES];
    int count = 0, i, k;
    if (strcmp(r->name, "tiles") == 0) tune_shapes(r, quick);
    for (i = 0; i < (quick ? 1 : TUNE_SIZES); i++)
        for (k = 0; k < (quick ? 1 : TUNE_CALLS); k++) jobs[count++] = tune_job(r, k, (uint64_t)1 << logs[i]);
    for (c = r->columns; c->numbers; c++) tune(c, jobs, count, quick);
    progress("%s", "");
    printf("/* GPUSCAN__NUMBERS_%s */\n", r->name);
    for (c = r->columns; c->numbers; c++) tune_print(c);
    fflush(stdout);
    for (i = 0; i < count; i++) {
        cl.clReleaseMemObject(jobs[i].src);
        cl.clReleaseMemObject(jobs[i].dst);
    }
}

static void run_tune(int only, int quick) {
    size_t i;
    printf("/* vendor 0x%x, %u compute units; values that a mean of calls prefers by 3 %% or more */\n",
           (unsigned)device.gs->device.vendor, (unsigned)device.gs->device.units);
    for (i = 0; i < sizeof tune_rows / sizeof tune_rows[0]; i++)
        if (only < 0 || only == (int)tune_rows[i].group) tune_table(&tune_rows[i], quick);
}
