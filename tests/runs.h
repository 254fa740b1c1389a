/* One call of gpuscan_runs, checked against a loop, with guards around all that it reads and writes. The tests of runs
   share it. */
#ifndef TEST_RUNS_H
#define TEST_RUNS_H

#include "operators.h"
#include "tallies.h"

/* The lengths of runs. */
typedef enum run_lengths {
    RUNS_SHORT = 0, /* 1 to 7 */
    RUNS_OF_ONE,
    RUNS_ONE,       /* a single run */
    RUNS_LAST,      /* a single run, then the last key */
    RUNS_HUNDREDS,
    RUNS_THOUSANDS,
    RUNS_BLOCKS,    /* of all sizes */
    RUNS_POWERS,    /* powers of two: they end with tiles */
    RUNS_COUNT
} run_lengths;

/* A call's fields except its buffers, and the data for them. */
typedef struct run_case {
    gpuscan_type         key_type;
    uint32_t             custom_size; /* not 0: keys are structs of this size in bytes, equal if the first byte is */
    int                  bitwise;
    int                  special; /* keys: zeros of both signs, many NaNs, infinities, and their neighbours */
    run_lengths          lengths;
    int                  no_keys;
    gpuscan_type         index_type;
    int                  starts, lengths_out;
    int                  reduces, src_is_keys;
    gpuscan_type         src_type, dst_type; /* if it reduces */
    gpuscan_op           op;
    const test_operator *custom;
    test_filling         filling;
    uint32_t             payloads, sizes[GPUSCAN_MAX_PAYLOADS];
    int                  payload_is_keys; /* the first payload's src */
    const char          *source;          /* before the custom text's; NULL: nothing */
    uint64_t             count, capacity, device_count;
    gpuscan_type         count_type;
    gpuscan_type         tally;    /* type of the tally's count; DEFAULT: none */
    int                  dispatch; /* not 0: with a dispatch of these */
    uint32_t             items, limit; /* items and this limit */
    uint64_t             keys_offset, out_offset, src_offset, tally_offset;
    test_scratch_choice  scratch;
    int                  events; /* waits for an event, and returns one */
} run_case;

/* Returns a case with all outputs of u32 keys. */
static inline run_case some_runs(uint64_t count, run_lengths lengths) {
    run_case c;
    memset(&c, 0, sizeof c);
    c.key_type = c.src_type = c.dst_type = GPUSCAN_TYPE_U32;
    c.count = count;
    c.lengths = lengths;
    c.starts = c.lengths_out = c.reduces = 1;
    c.tally = GPUSCAN_TYPE_U32;
    return c;
}

static const char *const run_lengths_names[] = {"short",    "of one",    "one",          "one and the last",
                                                "hundreds", "thousands", "of all sizes", "of powers of two"};

static inline void name_runs(const run_case *c, gpuscan_strategy strategy) {
    test_case("runs of %" PRIu64 " %s%s%s of %u bytes, %s, out%s%s%s%s %s %s from %s %s, %u payloads, capacity %" PRIu64
              ", device count %" PRIu64 ", offsets %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ", %s",
              c->count, c->special ? "special " : "", c->custom_size ? "structs" : test_type_name(c->key_type),
              c->bitwise ? " by bits" : "", (unsigned)c->custom_size, run_lengths_names[c->lengths],
              c->no_keys ? "" : " keys", c->starts ? " starts" : "", c->lengths_out ? " lengths" : "",
              c->reduces ? " results" : "", c->custom ? c->custom->name : test_op_name(c->op),
              test_type_name(c->dst_type), test_type_name(c->src_type), c->src_is_keys ? "that are the keys" : "",
              (unsigned)c->payloads, c->capacity, c->count_type ? c->device_count : c->count, c->keys_offset,
              c->out_offset, c->src_offset, c->tally_offset, test_strategy_name(strategy));
}

enum { RUN_KEYS = 0, RUN_STARTS, RUN_LENGTHS, RUN_RESULTS, RUN_PAYLOADS, RUN_OUTPUTS = RUN_PAYLOADS + 8 };

/* A case with its buffers, their data, and the expected results. */
typedef struct run_set {
    run_case          c;
    gpuscan_runs_desc d;
    gpuscan_custom    custom;
    char              source[4096];
    gpuscan_payload   payloads[GPUSCAN_MAX_PAYLOADS];
    test_buffer       keys, src, from[GPUSCAN_MAX_PAYLOADS], out[RUN_OUTPUTS], tally, dispatch, number;
    size_t            key_size, src_size, out_size[RUN_OUTPUTS]; /* 0: not wanted */
    unsigned char    *key_data, *src_data, *from_data[GPUSCAN_MAX_PAYLOADS], *wanted[RUN_OUTPUTS];
    uint64_t          live, runs, written, capacity;
    test_extras       extras;
} run_set;

/* Fills key i, mostly the same as others of its run, and a bit different from the one before the run. */
static inline void run_key(run_set *s, uint64_t i, int begins) {
    const run_case *c = &s->c;
    unsigned char  *at = s->key_data + (size_t)i * s->key_size;
    const double    values[] = {0, -0.0, (double)NAN, (double)INFINITY, -(double)INFINITY, 1, ldexp(1, -24)};
    if (c->custom_size) {
        test_random_bytes(at, s->key_size);
        at[0] = i == 0 ? 7 : (unsigned char)(at[-(ptrdiff_t)s->key_size] + (begins ? 1 + test_below(255) : 0));
        return;
    }
    if (i == 0)
        test_random_bytes(at, s->key_size);
    else
        memcpy(at, at - s->key_size, s->key_size);
    if (begins)
        at[test_below(s->key_size)] ^= (unsigned char)(1u << test_below(8));
    if (c->special && begins && ref_is_float(c->key_type)) {
        ref_store(c->key_type, at, 0, ref_real(values[test_below(7)]));
        if (isnan(ref_load(c->key_type, at, 0).real))
            at[0] ^= (unsigned char)test_below(4);
    } else if (c->special && ref_is_float(c->key_type) && ref_load(c->key_type, at, 0).real == 0 && test_below(2)) {
        at[s->key_size - 1] ^= 0x80;
    }
}

static inline int run_equal(const run_set *s, const unsigned char *a, const unsigned char *b) {
    if (s->c.custom_size)
        return a[0] == b[0];
    if (!ref_is_float(s->c.key_type) || s->c.bitwise)
        return memcmp(a, b, s->key_size) == 0;
    return ref_load(s->c.key_type, a, 0).real == ref_load(s->c.key_type, b, 0).real;
}

static inline uint64_t run_length(run_lengths lengths, uint64_t count) {
    switch (lengths) {
    case RUNS_SHORT: return 1 + test_below(7);
    case RUNS_OF_ONE: return 1;
    case RUNS_LAST: return count > 1 ? count - 1 : 1;
    case RUNS_HUNDREDS: return 1 + test_below(200);
    case RUNS_THOUSANDS: return 5000 + test_below(10000);
    case RUNS_BLOCKS: return 1 + test_below(UINT64_C(1) << test_below(14));
    case RUNS_POWERS: return UINT64_C(1) << test_below(13);
    case RUNS_ONE:
    case RUNS_COUNT: break;
    }
    return count;
}

static inline void run_data(run_set *s) {
    const run_case *c = &s->c;
    uint64_t        i, left = 0;
    uint32_t        k;
    for (i = 0; i < c->count; i++) {
        int begins = left == 0;
        if (begins)
            left = run_length(c->lengths, c->count - i);
        left--;
        run_key(s, i, begins);
    }
    if (c->src_is_keys)
        memcpy(s->src_data, s->key_data, (size_t)c->count * s->src_size);
    else if (c->reduces)
        test_fill_as(c->filling, c->custom, c->src_type, c->dst_type, c->op, s->src_data, c->count);
    for (k = 0; k < c->payloads; k++)
        test_random_bytes(s->from_data[k], (size_t)c->count * s->payloads[k].size);
    if (c->payload_is_keys)
        memcpy(s->from_data[0], s->key_data, (size_t)c->count * s->key_size);
}

/* Fills the expected results of run r, which has the keys [first, last). */
static inline void run_wanted(run_set *s, uint64_t r, uint64_t first, uint64_t last) {
    const run_case *c = &s->c;
    uint64_t        i;
    uint32_t        k;
    gpuscan_type    index = c->index_type;
    if (s->out_size[RUN_KEYS])
        memcpy(s->wanted[RUN_KEYS] + (size_t)r * s->key_size, s->key_data + (size_t)first * s->key_size, s->key_size);
    if (s->out_size[RUN_STARTS])
        ref_store(index, s->wanted[RUN_STARTS], r, ref_bits(first));
    if (s->out_size[RUN_LENGTHS])
        ref_store(index, s->wanted[RUN_LENGTHS], r, ref_bits(last - first));
    if (s->out_size[RUN_RESULTS] && c->custom) {
        unsigned char value[1024];
        memcpy(value, c->custom->identity, s->src_size);
        for (i = first; i < last; i++) {
            unsigned char next[1024];
            c->custom->combine(value, s->src_data + (size_t)i * s->src_size, next);
            memcpy(value, next, s->src_size);
        }
        memcpy(s->wanted[RUN_RESULTS] + (size_t)r * s->src_size, value, s->src_size);
    } else if (s->out_size[RUN_RESULTS]) {
        ref_store(c->dst_type, s->wanted[RUN_RESULTS], r,
                  ref_reduce(c->dst_type, c->src_type, s->src_data + (size_t)first * s->src_size, last - first, c->op,
                             NULL));
    }
    for (k = 0; k < c->payloads; k++)
        memcpy(s->wanted[RUN_PAYLOADS + k] + (size_t)r * s->payloads[k].size,
               s->from_data[k] + (size_t)first * s->payloads[k].size, s->payloads[k].size);
}

static inline void run_expect(run_set *s) {
    uint64_t i, first = 0;
    for (i = 1; i <= s->live; i++)
        if (i == s->live || !run_equal(s, s->key_data + (size_t)(i - 1) * s->key_size,
                                       s->key_data + (size_t)i * s->key_size)) {
            if (s->runs++ < s->capacity)
                run_wanted(s, s->runs - 1, first, i);
            first = i;
        }
    s->written = s->runs < s->capacity ? s->runs : s->capacity;
}

static inline void run_custom(run_set *s) {
    const run_case *c = &s->c;
    if (c->custom)
        s->custom = c->custom->custom;
    if (c->custom_size) {
        s->custom.type = "run_key";
        s->custom.size = c->custom_size;
        s->custom.equal = "a.byte[0] == b.byte[0] // the first";
    }
    snprintf(s->source, sizeof s->source, "%s%s", c->source ? c->source : "",
             s->custom.source ? s->custom.source : "");
    if (c->custom_size)
        snprintf(s->source + strlen(s->source), sizeof s->source - strlen(s->source),
                 "typedef struct { uchar byte[%u]; } run_key;\n", (unsigned)c->custom_size);
    s->custom.source = s->source;
    if (c->custom || c->custom_size || c->source)
        s->d.custom = &s->custom;
}

static inline void run_sizes(run_set *s) {
    const run_case *c = &s->c;
    size_t          index = c->index_type == GPUSCAN_TYPE_U64 ? 8 : 4;
    uint32_t        k;
    s->key_size = c->custom_size ? c->custom_size : ref_size(c->key_type);
    s->src_size = c->custom ? test_operator_size(c->custom) : ref_size(c->src_type);
    s->out_size[RUN_KEYS] = c->no_keys ? 0 : s->key_size;
    s->out_size[RUN_STARTS] = c->starts ? index : 0;
    s->out_size[RUN_LENGTHS] = c->lengths_out ? index : 0;
    s->out_size[RUN_RESULTS] = !c->reduces ? 0 : c->custom ? s->src_size : ref_size(c->dst_type);
    for (k = 0; k < c->payloads; k++)
        s->out_size[RUN_PAYLOADS + k] = s->payloads[k].size =
            k == 0 && c->payload_is_keys ? s->key_size : c->sizes[k];
}

static inline void *run_set_up(const void *given) {
    run_set  *s = (run_set *)test_alloc(sizeof *s);
    run_case *c = &s->c;
    uint32_t  k;
    memset(s, 0, sizeof *s);
    *c = *(const run_case *)given;
    s->capacity = c->capacity && c->capacity < c->count ? c->capacity : c->count;
    s->live = c->count_type && c->device_count < c->count ? c->device_count : c->count;
    run_sizes(s);
    s->key_data = (unsigned char *)test_alloc(c->count * s->key_size);
    s->src_data = (unsigned char *)test_alloc(c->count * s->src_size);
    s->keys = test_buffer_new(CL_MEM_READ_ONLY, s->key_size, c->count);
    if (c->reduces && !c->src_is_keys)
        s->src = test_buffer_new(CL_MEM_READ_ONLY, s->src_size, c->count);
    for (k = 0; k < c->payloads; k++) {
        s->from_data[k] = (unsigned char *)test_alloc(c->count * s->payloads[k].size);
        if (k > 0 || !c->payload_is_keys)
            s->from[k] = test_buffer_new(CL_MEM_READ_ONLY, s->payloads[k].size, c->count);
    }
    for (k = 0; k < RUN_OUTPUTS; k++)
        if (s->out_size[k]) {
            s->out[k] = test_buffer_new(CL_MEM_WRITE_ONLY, s->out_size[k], s->capacity);
            s->wanted[k] = (unsigned char *)test_alloc(s->capacity * s->out_size[k]);
        }
    run_data(s);
    run_expect(s);
    if (c->tally)
        s->tally = test_buffer_new(CL_MEM_WRITE_ONLY, ref_size(c->tally), 1);
    if (c->dispatch)
        s->dispatch = test_buffer_new(CL_MEM_WRITE_ONLY, 4, 3);
    s->number = test_count_buffer(c->count_type, c->device_count);
    s->d.count = c->count;
    s->d.key_type = c->custom_size ? GPUSCAN_TYPE_CUSTOM : c->key_type;
    s->d.bitwise = c->bitwise;
    s->d.index_type = c->index_type;
    s->d.src_type = c->custom ? c->custom->type : c->src_type;
    s->d.dst_type = c->custom ? c->custom->type : c->dst_type;
    s->d.op = c->custom ? GPUSCAN_OP_CUSTOM : c->op;
    s->d.payloads = c->payloads ? s->payloads : NULL;
    s->d.payload_count = c->payloads;
    s->d.capacity = c->capacity;
    s->d.count_buffer = s->number.at;
    s->d.count_type = c->count_type;
    s->d.runs.count_type = c->tally;
    s->d.runs.dispatch_items = c->items;
    s->d.runs.dispatch_limit = c->limit;
    run_custom(s);
    return s;
}

/* Checks an output, and what follows the elements that were written. */
static inline void run_check_output(run_set *s, uint32_t k, int ran) {
    test_buffer   *out = &s->out[k];
    size_t         size = s->out_size[k], begin = (size_t)s->written * size, b;
    unsigned char *wanted = s->wanted[k];
    uint64_t       checked = 0;
    if (!ran) {
        test_buffer_untouched(out);
        return;
    }
    for (b = begin; b < (size_t)s->capacity * size; b++)
        wanted[b] = test_pattern((size_t)out->at.offset * size + b);
    if (k == RUN_RESULTS && !s->c.custom) {
        checked = s->written;
        test_same(s->c.dst_type, test_buffer_get(out), wanted, checked);
    }
    test_same_bytes((unsigned char *)test_buffer_get(out) + (size_t)checked * size, wanted + (size_t)checked * size,
                    size, s->capacity - checked);
}

static inline int run_run(void *set, gpuscan_strategy strategy) {
    run_set        *s = (run_set *)set;
    const run_case *c = &s->c;
    gpuscan_buffer *const to[] = {&s->d.keys_dst, &s->d.starts, &s->d.lengths, &s->d.dst};
    gpuscan_result  query = GPUSCAN_SUCCESS;
    uint64_t        scratch = 0;
    uint32_t        k;
    int             ran;
    name_runs(c, strategy);
    test_buffer_set(&s->keys, c->keys_offset, c->count, s->key_data);
    s->d.keys = s->keys.at;
    if (c->reduces && !c->src_is_keys)
        test_buffer_set(&s->src, c->src_offset, c->count, s->src_data);
    if (c->reduces)
        s->d.src = c->src_is_keys ? s->keys.at : s->src.at;
    for (k = 0; k < RUN_OUTPUTS; k++)
        if (s->out_size[k]) {
            test_buffer_set(&s->out[k], c->out_offset + k, s->capacity, NULL);
            if (k < RUN_PAYLOADS)
                *to[k] = s->out[k].at;
            else
                s->payloads[k - RUN_PAYLOADS].dst = s->out[k].at;
        }
    for (k = 0; k < c->payloads; k++) {
        if (k > 0 || !c->payload_is_keys)
            test_buffer_set(&s->from[k], c->src_offset + k, c->count, s->from_data[k]);
        s->payloads[k].src = k == 0 && c->payload_is_keys ? s->keys.at : s->from[k].at;
    }
    if (c->tally) {
        test_buffer_set(&s->tally, c->tally_offset, 1, NULL);
        s->d.runs.count = s->tally.at;
    }
    if (c->dispatch) {
        test_buffer_set(&s->dispatch, c->tally_offset, 3, NULL);
        s->d.runs.dispatch = s->dispatch.at;
    }
    s->d.call.strategy = strategy;
    if (c->scratch)
        query = gpuscan_runs_scratch_size(test.gs, &s->d, &scratch);
    test_extras_begin(&s->extras, &s->d.call, c->scratch, c->events, query, scratch);
    ran = test_runs_ran(&s->d);
    test_extras_end(&s->extras, &s->d.call, ran);
    for (k = 0; k < RUN_OUTPUTS; k++)
        if (s->out_size[k])
            run_check_output(s, k, ran);
    tally_check(ran, s->c.tally, &s->tally, s->c.dispatch ? &s->dispatch : NULL, s->c.items, s->c.limit, s->runs,
                s->written);
    return ran;
}

static inline void run_take_down(void *set) {
    run_set *s = (run_set *)set;
    uint32_t k;
    if (s->c.count)
        test_same_bytes(test_buffer_get(&s->keys), s->key_data, s->key_size, s->c.count);
    if (s->src.at.mem && s->c.count)
        test_same_bytes(test_buffer_get(&s->src), s->src_data, s->src_size, s->c.count);
    for (k = 0; k < s->c.payloads; k++) {
        test_buffer_free(&s->from[k]);
        free(s->from_data[k]);
    }
    for (k = 0; k < RUN_OUTPUTS; k++) {
        test_buffer_free(&s->out[k]);
        free(s->wanted[k]);
    }
    test_buffer_free(&s->keys);
    test_buffer_free(&s->src);
    test_buffer_free(&s->tally);
    test_buffer_free(&s->dispatch);
    test_buffer_free(&s->number);
    free(s->key_data);
    free(s->src_data);
    free(s);
}

static inline void code_runs(const void *given) {
    const run_case  *c = (const run_case *)given;
    uint32_t         k;
    const code_field fields[] = {{"key_type", CODE_TYPE, "", c->key_type},
                                 {"custom_size", CODE_NUMBER, "", c->custom_size},
                                 {"bitwise", CODE_NUMBER, "", (uint64_t)c->bitwise},
                                 {"special", CODE_NUMBER, "", (uint64_t)c->special},
                                 {"lengths", CODE_CAST, "(run_lengths)", (uint64_t)c->lengths},
                                 {"no_keys", CODE_NUMBER, "", (uint64_t)c->no_keys},
                                 {"index_type", CODE_TYPE, "", c->index_type},
                                 {"starts", CODE_NUMBER, "", (uint64_t)c->starts},
                                 {"lengths_out", CODE_NUMBER, "", (uint64_t)c->lengths_out},
                                 {"reduces", CODE_NUMBER, "", (uint64_t)c->reduces},
                                 {"src_is_keys", CODE_NUMBER, "", (uint64_t)c->src_is_keys},
                                 {"src_type", CODE_TYPE, "", c->src_type},
                                 {"dst_type", CODE_TYPE, "", c->dst_type},
                                 {"op", CODE_CAST, "(gpuscan_op)", (uint64_t)c->op},
                                 {"filling", CODE_CAST, "(test_filling)", (uint64_t)c->filling},
                                 {"payloads", CODE_NUMBER, "", c->payloads},
                                 {"payload_is_keys", CODE_NUMBER, "", (uint64_t)c->payload_is_keys},
                                 {"count", CODE_NUMBER, "", c->count},
                                 {"capacity", CODE_NUMBER, "", c->capacity},
                                 {"tally", CODE_TYPE, "", c->tally},
                                 {"dispatch", CODE_NUMBER, "", (uint64_t)c->dispatch},
                                 {"items", CODE_NUMBER, "", c->items},
                                 {"limit", CODE_NUMBER, "", c->limit},
                                 {"keys_offset", CODE_NUMBER, "", c->keys_offset},
                                 {"out_offset", CODE_NUMBER, "", c->out_offset},
                                 {"src_offset", CODE_NUMBER, "", c->src_offset},
                                 {"tally_offset", CODE_NUMBER, "", c->tally_offset},
                                 {"device_count", CODE_NUMBER, "", c->device_count},
                                 {"count_type", CODE_TYPE, "", c->count_type},
                                 {"scratch", CODE_CAST, "(test_scratch_choice)", (uint64_t)c->scratch},
                                 {"events", CODE_NUMBER, "", (uint64_t)c->events}};
    code_fields("c", fields, sizeof fields / sizeof *fields);
    code_operator(c->custom);
    for (k = 0; k < c->payloads; k++)
        code_add("    c.sizes[%u] = %u;\n", (unsigned)k, (unsigned)c->sizes[k]);
}

static const test_operation runs = {"runs", "run_case", run_set_up, run_run, run_take_down, code_runs};

#endif /* TEST_RUNS_H */
