/* Calls as C code: a failed check prints the present call, so that it can be repeated without the test. */
#ifndef TEST_CODE_H
#define TEST_CODE_H

enum { CODE_BUFFERS = 16 };

/* The present call. */
static struct {
    char        text[16384];
    size_t      length;
    const char *of_case;               /* the operation whose case the text is; NULL: a desc */
    cl_mem      buffers[CODE_BUFFERS]; /* those that the desc names */
    int         buffer_count;
    int         is_off;                /* while several threads make calls */
} call_code;

static inline void code_begin(const char *of_case) {
    call_code.length = 0;
    call_code.text[0] = '\0';
    call_code.of_case = of_case;
    call_code.buffer_count = 0;
}

/* Adds to the text. Cuts off what does not fit. */
static inline void code_add(const char *format, ...) {
    va_list arguments;
    int     length;
    va_start(arguments, format);
    length = vsnprintf(call_code.text + call_code.length, sizeof call_code.text - call_code.length, format, arguments);
    va_end(arguments);
    if (length > 0)
        call_code.length += (size_t)length;
    if (call_code.length > sizeof call_code.text - 1)
        call_code.length = sizeof call_code.text - 1;
}

/* What a field's number means. */
typedef enum code_kind { CODE_NUMBER, CODE_TYPE, CODE_OP, CODE_STRATEGY, CODE_CAST } code_kind;

typedef struct code_field {
    const char *name;
    code_kind   kind;
    const char *cast; /* "(gpuscan_bins)", for C++ */
    uint64_t    value;
} code_field;

static inline void code_number(const char *cast, uint64_t value) {
    if (value <= INT32_MAX)
        code_add("%s%" PRIu64, cast, value);
    else
        code_add("%sUINT64_C(0x%" PRIx64 ")", cast, value);
}

/* Assigns all fields that are not zero. */
static inline void code_fields(const char *object, const code_field *fields, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        const code_field *f = &fields[i];
        if (f->value == 0)
            continue;
        code_add("    %s.%s = ", object, f->name);
        if (f->kind == CODE_TYPE && f->value < GPUSCAN_TYPE_COUNT)
            code_add("GPUSCAN_TYPE_%s", test_type_name((gpuscan_type)f->value));
        else if (f->kind == CODE_OP && f->value < GPUSCAN_OP_COUNT)
            code_add("GPUSCAN_OP_%s", test_op_name((gpuscan_op)f->value));
        else if (f->kind == CODE_STRATEGY && f->value < GPUSCAN_STRATEGY_COUNT)
            code_add("GPUSCAN_STRATEGY_%s", test_strategy_name((gpuscan_strategy)f->value));
        else
            code_number(f->kind == CODE_TYPE       ? "(gpuscan_type)"
                        : f->kind == CODE_OP       ? "(gpuscan_op)"
                        : f->kind == CODE_STRATEGY ? "(gpuscan_strategy)"
                                                   : f->cast,
                        f->value);
        code_add(";\n");
    }
}

/* ---- descs ------------------------------------------------------------------------------------------------------- */

/* Names a buffer by its number, in the order in which the desc names buffers. */
static inline void code_buffer(const char *name, gpuscan_buffer buffer) {
    int i;
    if (buffer.mem) {
        for (i = 0; i < call_code.buffer_count && call_code.buffers[i] != buffer.mem; i++)
            ;
        if (i == call_code.buffer_count && i < CODE_BUFFERS)
            call_code.buffers[call_code.buffer_count++] = buffer.mem;
        code_add("    d.%s.mem = buffers[%d];\n", name, i);
    }
    if (buffer.offset) {
        code_add("    d.%s.offset = ", name);
        code_number("", buffer.offset);
        code_add(";\n");
    }
}

static inline void code_image(const char *name, gpuscan_image image) {
    gpuscan_buffer mem = {image.mem, 0};
    code_buffer(name, mem);
    if (image.x)
        code_add("    d.%s.x = %" PRIu64 ";\n", name, image.x);
    if (image.y)
        code_add("    d.%s.y = %" PRIu64 ";\n", name, image.y);
}

static inline void code_string(const char *text) {
    if (text == NULL) {
        code_add("NULL");
        return;
    }
    code_add("\"");
    for (; *text; text++)
        if (*text == '\n')
            code_add(text[1] ? "\\n\"\n        \"" : "\\n");
        else
            code_add(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    code_add("\"");
}

static inline void code_custom(const gpuscan_custom *custom) {
    if (custom == NULL)
        return;
    code_add("    static const gpuscan_custom custom = {\n        ");
    code_string(custom->source);
    code_add(", ");
    code_string(custom->type);
    code_add(", %zu, ", custom->size);
    code_string(custom->combine);
    code_add(", ");
    code_string(custom->identity);
    code_add(", ");
    code_string(custom->convert);
    code_add(", ");
    code_string(custom->select);
    code_add(", ");
    code_string(custom->equal);
    code_add(", ");
    code_string(custom->key);
    code_add("};\n");
}

/* Adds the declarations and a desc of zeros. */
static inline void code_desc(const char *type, const gpuscan_custom *custom) {
    code_begin(NULL);
    code_add("    %s d;\n", type);
    code_custom(custom);
    code_add("    memset(&d, 0, sizeof d);\n");
    if (custom)
        code_add("    d.custom = &custom;\n");
}

static inline void code_call(const gpuscan_call *call) {
    const code_field fields[] = {{"call.wait_count", CODE_NUMBER, "", call->wait_count},
                                 {"call.scratch_size", CODE_NUMBER, "", call->scratch_size},
                                 {"call.strategy", CODE_STRATEGY, "", call->strategy},
                                 {"call.values_size", CODE_NUMBER, "", call->values_size},
                                 {"call.source_count", CODE_NUMBER, "", call->source_count}};
    size_t i;
    if (call->sources)
        code_add("    static gpuscan_source sources[4]; /* not shown */\n    d.call.sources = sources;\n");
    if (call->values && call->values_size <= 256) {
        code_add("    static const unsigned char values[] = {0");
        for (i = 0; i < call->values_size; i++)
            code_add(", %u", ((const unsigned char *)call->values)[i]);
        code_add("};\n    d.call.values = values + 1;\n");
    }
    if (call->queue)
        code_add("    d.call.queue = queue;\n");
    if (call->wait_list)
        code_add("    d.call.wait_list = events;\n");
    if (call->event)
        code_add("    d.call.event = &event;\n");
    code_buffer("call.scratch", call->scratch);
    code_fields("d", fields, sizeof fields / sizeof *fields);
}

static inline void code_scan(const gpuscan_scan_desc *d) {
    const code_field fields[] = {{"count", CODE_NUMBER, "", d->count},
                                 {"src_type", CODE_TYPE, "", d->src_type},
                                 {"dst_type", CODE_TYPE, "", d->dst_type},
                                 {"op", CODE_OP, "", d->op},
                                 {"kind", CODE_CAST, "(gpuscan_scan_kind)", d->kind},
                                 {"rows", CODE_NUMBER, "", d->rows},
                                 {"src_pitch", CODE_NUMBER, "", d->src_pitch},
                                 {"dst_pitch", CODE_NUMBER, "", d->dst_pitch},
                                 {"src_pitch_bytes", CODE_NUMBER, "", d->src_pitch_bytes},
                                 {"dst_pitch_bytes", CODE_NUMBER, "", d->dst_pitch_bytes},
                                 {"reverse", CODE_NUMBER, "", d->reverse},
                                 {"along", CODE_CAST, "(gpuscan_along)", d->along},
                                 {"count_type", CODE_TYPE, "", d->count_type}};
    code_desc("gpuscan_scan_desc", d->custom);
    if (d->init)
        code_add("    d.init = init;\n");
    code_buffer("src", d->src);
    code_buffer("dst", d->dst);
    code_buffer("init_buffer", d->init_buffer);
    code_buffer("total", d->total);
    code_buffer("count_buffer", d->count_buffer);
    code_fields("d", fields, sizeof fields / sizeof *fields);
    code_call(&d->call);
}

static inline void code_uniform_add(const gpuscan_uniform_add_desc *d) {
    const code_field fields[] = {{"count", CODE_NUMBER, "", d->count},
                                 {"block", CODE_NUMBER, "", d->block},
                                 {"type", CODE_TYPE, "", d->type},
                                 {"op", CODE_OP, "", d->op},
                                 {"count_type", CODE_TYPE, "", d->count_type}};
    code_desc("gpuscan_uniform_add_desc", d->custom);
    code_buffer("dst", d->dst);
    code_buffer("addend", d->addend);
    code_buffer("count_buffer", d->count_buffer);
    code_fields("d", fields, sizeof fields / sizeof *fields);
    code_call(&d->call);
}

static inline void code_reduce(const gpuscan_reduce_desc *d) {
    const code_field fields[] = {{"count", CODE_NUMBER, "", d->count},
                                 {"src_type", CODE_TYPE, "", d->src_type},
                                 {"dst_type", CODE_TYPE, "", d->dst_type},
                                 {"op", CODE_OP, "", d->op},
                                 {"src_width", CODE_NUMBER, "", d->src_width},
                                 {"count_type", CODE_TYPE, "", d->count_type}};
    code_desc("gpuscan_reduce_desc", d->custom);
    code_image("src_image", d->src_image);
    if (d->init)
        code_add("    d.init = init;\n");
    if (d->result)
        code_add("    d.result = result;\n");
    code_buffer("src", d->src);
    code_buffer("dst", d->dst);
    code_buffer("init_buffer", d->init_buffer);
    code_buffer("count_buffer", d->count_buffer);
    code_fields("d", fields, sizeof fields / sizeof *fields);
    code_call(&d->call);
}

/* Adds a histogram's fields, except its buffers and its call. object: the desc's name. */
static inline void code_histogram_fields(const char *object, const gpuscan_histogram_desc *d) {
    const code_field fields[] = {{"count", CODE_NUMBER, "", d->count},
                                 {"sample_type", CODE_TYPE, "", d->sample_type},
                                 {"counter_type", CODE_TYPE, "", d->counter_type},
                                 {"bins", CODE_NUMBER, "", d->bins},
                                 {"form", CODE_CAST, "(gpuscan_bins)", d->form},
                                 {"lower.u", CODE_NUMBER, "", d->lower.u},
                                 {"upper.u", CODE_NUMBER, "", d->upper.u},
                                 {"closed", CODE_NUMBER, "", (uint64_t)d->closed},
                                 {"outside", CODE_CAST, "(gpuscan_outside)", d->outside},
                                 {"accumulate", CODE_NUMBER, "", (uint64_t)d->accumulate},
                                 {"weight_type", CODE_TYPE, "", d->weight_type},
                                 {"channels", CODE_NUMBER, "", d->channels},
                                 {"channel_mask", CODE_NUMBER, "", d->channel_mask},
                                 {"rows", CODE_NUMBER, "", d->rows},
                                 {"pitch", CODE_NUMBER, "", d->pitch},
                                 {"weights_pitch", CODE_NUMBER, "", d->weights_pitch},
                                 {"value_type", CODE_TYPE, "", d->value_type},
                                 {"tile_width", CODE_NUMBER, "", d->tile_width},
                                 {"tile_height", CODE_NUMBER, "", d->tile_height},
                                 {"pitch_bytes", CODE_NUMBER, "", d->pitch_bytes},
                                 {"edges_pitch", CODE_NUMBER, "", d->edges_pitch},
                                 {"counts_stride", CODE_NUMBER, "", d->counts_stride},
                                 {"count_type", CODE_TYPE, "", d->count_type}};
    code_fields(object, fields, sizeof fields / sizeof *fields);
}

static inline void code_histogram(const gpuscan_histogram_desc *d) {
    code_desc("gpuscan_histogram_desc", d->custom);
    code_buffer("samples", d->samples);
    code_image("samples_image", d->samples_image);
    code_buffer("counts", d->counts);
    code_buffer("edges", d->edges);
    code_buffer("weights", d->weights);
    code_buffer("count_buffer", d->count_buffer);
    if (d->host_edges)
        code_add("    d.host_edges = edges;\n");
    if (d->host_weights)
        code_add("    d.host_weights = weights;\n");
    if (d->channel_bounds)
        code_add("    d.channel_bounds = bounds;\n");
    if (d->weight) {
        code_add("    d.weight = ");
        code_string(d->weight);
        code_add(";\n");
    }
    code_histogram_fields("d", d);
    code_call(&d->call);
}

static inline void code_sort(const gpuscan_sort_desc *d) {
    const code_field fields[] = {{"count", CODE_NUMBER, "", d->count},
                                 {"key_type", CODE_TYPE, "", d->key_type},
                                 {"descending", CODE_NUMBER, "", (uint64_t)d->descending},
                                 {"bit_begin", CODE_NUMBER, "", d->bit_begin},
                                 {"bit_end", CODE_NUMBER, "", d->bit_end},
                                 {"payload_count", CODE_NUMBER, "", d->payload_count},
                                 {"index_type", CODE_TYPE, "", d->index_type},
                                 {"may_destroy_src", CODE_NUMBER, "", (uint64_t)d->may_destroy_src},
                                 {"count_type", CODE_TYPE, "", d->count_type}};
    code_desc("gpuscan_sort_desc", d->custom);
    code_buffer("src", d->src);
    code_buffer("dst", d->dst);
    code_buffer("permutation", d->permutation);
    code_buffer("count_buffer", d->count_buffer);
    if (d->payloads)
        code_add("    d.payloads = payloads;\n");
    code_fields("d", fields, sizeof fields / sizeof *fields);
    code_call(&d->call);
}

static inline void code_integral(const gpuscan_integral_desc *d) {
    const code_field fields[] = {{"width", CODE_NUMBER, "", d->width},
                                 {"height", CODE_NUMBER, "", d->height},
                                 {"images", CODE_NUMBER, "", d->images},
                                 {"channels", CODE_NUMBER, "", d->channels},
                                 {"src_type", CODE_TYPE, "", d->src_type},
                                 {"dst_type", CODE_TYPE, "", d->dst_type},
                                 {"kind", CODE_CAST, "(gpuscan_scan_kind)", d->kind},
                                 {"square", CODE_NUMBER, "", (uint64_t)d->square},
                                 {"src_pitch", CODE_NUMBER, "", d->src_pitch},
                                 {"dst_pitch", CODE_NUMBER, "", d->dst_pitch},
                                 {"src_pitch_bytes", CODE_NUMBER, "", d->src_pitch_bytes},
                                 {"dst_pitch_bytes", CODE_NUMBER, "", d->dst_pitch_bytes},
                                 {"src_image_pitch", CODE_NUMBER, "", d->src_image_pitch},
                                 {"dst_image_pitch", CODE_NUMBER, "", d->dst_image_pitch}};
    code_desc("gpuscan_integral_desc", d->custom);
    code_buffer("src", d->src);
    code_image("src_image", d->src_image);
    code_buffer("dst", d->dst);
    code_fields("d", fields, sizeof fields / sizeof *fields);
    code_call(&d->call);
}

static inline void code_quantile(const gpuscan_quantile_desc *d) {
    const code_field fields[] = {{"counter_type", CODE_TYPE, "", d->counter_type},
                                 {"bins", CODE_NUMBER, "", d->bins},
                                 {"rows", CODE_NUMBER, "", d->rows},
                                 {"pitch", CODE_NUMBER, "", d->pitch},
                                 {"fraction_count", CODE_NUMBER, "", d->fraction_count},
                                 {"form", CODE_CAST, "(gpuscan_quantile_form)", d->form},
                                 {"cdf_type", CODE_TYPE, "", d->cdf_type}};
    code_desc("gpuscan_quantile_desc", NULL);
    code_buffer("counts", d->counts);
    code_buffer("dst", d->dst);
    code_buffer("edges", d->edges);
    code_buffer("cdf", d->cdf);
    code_fields("d", fields, sizeof fields / sizeof *fields);
    code_add("    d.fractions = fractions; /* the test's, as its lower, upper and empty */\n");
    code_call(&d->call);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Records the desc of each call of a test, unless a case is recorded, which says more. */
#define CODE_CALL(operation, d, ...)                                                                                   \
    do {                                                                                                               \
        if (call_code.of_case || call_code.is_off)                                                                     \
            break;                                                                                                     \
        code_begin(NULL);                                                                                              \
        if (d)                                                                                                         \
            code_##operation(d);                                                                                       \
        code_add("    gpuscan_" #operation __VA_ARGS__);                                                               \
        code_add("%s);\n", (d) ? "&d" : "NULL");                                                                       \
    } while (0)

#define CODE_CALLS(operation)                                                                                          \
    static inline gpuscan_result code_call_##operation(gpuscan *gs, const gpuscan_##operation##_desc *d) {             \
        CODE_CALL(operation, d, "(gs, ");                                                                              \
        return gpuscan_##operation(gs, d);                                                                             \
    }
CODE_CALLS(scan)
CODE_CALLS(uniform_add)
CODE_CALLS(reduce)
CODE_CALLS(histogram)
CODE_CALLS(sort)
CODE_CALLS(integral)
CODE_CALLS(quantile)

static inline gpuscan_result code_call_scan_host(gpuscan *gs, const void *src, void *dst, uint64_t count,
                                                 const gpuscan_scan_desc *d) {
    CODE_CALL(scan, d, "_host(gs, src, %s, %" PRIu64 ", ", src == dst ? "src" : "dst", count);
    return gpuscan_scan_host(gs, src, dst, count, d);
}

static inline gpuscan_result code_call_uniform_add_host(gpuscan *gs, const void *addend, void *dst, uint64_t count,
                                                        uint64_t block, const gpuscan_uniform_add_desc *d) {
    CODE_CALL(uniform_add, d, "_host(gs, addend, dst, %" PRIu64 ", %" PRIu64 ", ", count, block);
    return gpuscan_uniform_add_host(gs, addend, dst, count, block, d);
}

static inline gpuscan_result code_call_reduce_host(gpuscan *gs, const void *src, void *result, uint64_t count,
                                                   const gpuscan_reduce_desc *d) {
    CODE_CALL(reduce, d, "_host(gs, src, result, %" PRIu64 ", ", count);
    return gpuscan_reduce_host(gs, src, result, count, d);
}

static inline gpuscan_result code_call_histogram_host(gpuscan *gs, const void *samples, void *counts, uint64_t count,
                                                      const gpuscan_histogram_desc *d) {
    CODE_CALL(histogram, d, "_host(gs, samples, counts, %" PRIu64 ", ", count);
    return gpuscan_histogram_host(gs, samples, counts, count, d);
}

static inline gpuscan_result code_call_sort_host(gpuscan *gs, const void *src, void *dst, void *permutation,
                                                 uint64_t count, const gpuscan_sort_desc *d) {
    CODE_CALL(sort, d, "_host(gs, src, %s, %s, %" PRIu64 ", ", !dst ? "NULL" : src == dst ? "src" : "dst",
              permutation ? "permutation" : "NULL", count);
    return gpuscan_sort_host(gs, src, dst, permutation, count, d);
}

static inline gpuscan_result code_call_integral_host(gpuscan *gs, const void *src, void *dst, uint64_t width,
                                                     uint64_t height, const gpuscan_integral_desc *d) {
    CODE_CALL(integral, d, "_host(gs, src, dst, %" PRIu64 ", %" PRIu64 ", ", width, height);
    return gpuscan_integral_host(gs, src, dst, width, height, d);
}

static inline gpuscan_result code_call_quantile_host(gpuscan *gs, const void *counts, void *dst,
                                                     const gpuscan_quantile_desc *d) {
    CODE_CALL(quantile, d, "_host(gs, counts, dst, ");
    return gpuscan_quantile_host(gs, counts, dst, d);
}

#define gpuscan_scan             code_call_scan
#define gpuscan_uniform_add      code_call_uniform_add
#define gpuscan_reduce           code_call_reduce
#define gpuscan_histogram        code_call_histogram
#define gpuscan_scan_host        code_call_scan_host
#define gpuscan_uniform_add_host code_call_uniform_add_host
#define gpuscan_reduce_host      code_call_reduce_host
#define gpuscan_histogram_host   code_call_histogram_host
#define gpuscan_sort             code_call_sort
#define gpuscan_sort_host        code_call_sort_host
#define gpuscan_quantile         code_call_quantile
#define gpuscan_quantile_host    code_call_quantile_host
#define gpuscan_integral         code_call_integral
#define gpuscan_integral_host    code_call_integral_host

#endif /* TEST_CODE_H */
