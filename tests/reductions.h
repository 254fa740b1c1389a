/* One reduction, checked against the reference, with guards around all that it writes. The tests of reductions share
   it. */
#ifndef TEST_REDUCTIONS_H
#define TEST_REDUCTIONS_H

#include "cuts.h"
#include "operators.h"

/* A call's fields except its buffers, and the data for them. */
typedef struct reduce_case {
    gpuscan_type         from, to; /* ARGMIN, ARGMAX: to is the index type, DEFAULT for u64 */
    gpuscan_op           op;
    const test_operator *custom;
    gpuscan_strategy     strategy;
    uint64_t             count, src_offset, dst_offset;
    test_init            init;
    int                  to_host; /* the result goes to host memory */
    uint64_t             device_count;
    gpuscan_type         count_type;
    const void          *data; /* NULL: as filling says */
    test_filling         filling;
    int                  converts; /* see test_conversion_of; not with custom operators, ARGMIN or ARGMAX */
    test_scratch_choice  scratch;
    int                  events; /* waits for an event, and returns one */
    uint64_t             rows, src_pitch; /* as in the desc */
    gpuscan_type         offsets;         /* segments by offsets of this type; DEFAULT: no segments */
    uint64_t             segments;
    test_cuts          cuts;
    uint64_t             offsets_offset;
} reduce_case;

static inline reduce_case a_reduction(gpuscan_type type, gpuscan_op op, uint64_t count) {
    reduce_case c;
    memset(&c, 0, sizeof c);
    c.from = c.to = type;
    c.op = op;
    c.count = count;
    return c;
}

static inline int is_arg(gpuscan_op op) {
    return op == GPUSCAN_OP_ARGMIN || op == GPUSCAN_OP_ARGMAX;
}

static inline uint64_t reduce_rows(const reduce_case *c) {
    return c->rows ? c->rows : 1;
}

static inline uint64_t reduce_pitch(const reduce_case *c) {
    return c->src_pitch ? c->src_pitch : c->count;
}

static inline uint64_t reduce_results(const reduce_case *c) {
    return c->offsets ? c->segments : reduce_rows(c);
}

/* Returns the elements of src, with those between its rows. */
static inline uint64_t reduce_elements(const reduce_case *c) {
    return c->count ? (reduce_rows(c) - 1) * reduce_pitch(c) + c->count : 0;
}

/* Fills data whose order matters. For ARGMIN and ARGMAX they have few values, so that most of them are ties. */
static inline void fill_reduction(const reduce_case *c, void *data) {
    uint64_t  i;
    ref_value v;
    if (is_arg(c->op) && c->filling == FILL_TELLING)
        for (i = 0; i < reduce_elements(c); i++) {
            v = ref_bits(20 + test_below(100));
            ref_store(c->from, data, i, ref_is_float(c->from) ? ref_real((double)v.bits - 70) : v);
        }
    else
        test_fill_as(c->filling, c->custom, c->from, is_arg(c->op) ? c->from : c->to, c->op, data,
                     reduce_elements(c));
}

/* A case with its buffers, their data, and the expected results. */
typedef struct reduce_set {
    reduce_case         c;
    gpuscan_reduce_desc d;
    gpuscan_type        to;
    test_buffer         src, dst, init, number, offsets;
    size_t              from_size, to_size;
    uint64_t           *at;                     /* the segments' offsets; NULL: rows */
    unsigned char      *data, *wanted, *result; /* of each row or segment; result: with a guard of 8 bytes */
    unsigned char       start[256];
    test_extras         extras;
} reduce_set;

/* Computes the expected result of some elements; index: that of the first one. */
static inline void reduce_wanted(reduce_set *s, const unsigned char *elements, uint64_t count, uint64_t index,
                                 unsigned char *wanted) {
    const reduce_case *c = &s->c;
    unsigned char     *row = (unsigned char *)test_alloc((count + index % 3) * s->from_size), *from;
    ref_value          value;
    from = row + index % 3 * s->from_size; /* a conversion depends on the index modulo 3 */
    memcpy(from, elements, (size_t)count * s->from_size);
    if (c->converts)
        test_convert(c->from, row, count + index % 3);
    if (c->custom) {
        ref_scan_custom(s->to_size, NULL, from, count, c->custom->combine, GPUSCAN_INCLUSIVE, s->start, wanted);
    } else if (is_arg(c->op)) {
        value = ref_arg(s->to, c->from, from, count, c->op);
        if (value.bits != (s->to == GPUSCAN_TYPE_U32 ? UINT32_MAX : UINT64_MAX))
            value.bits += index;
        ref_store(s->to, wanted, 0, value);
    } else {
        value = ref_load(s->to, s->start, 0);
        ref_store(s->to, wanted, 0, ref_reduce(s->to, c->from, from, count, c->op, &value));
    }
    free(row);
}

/* Makes the source, an init that changes the result, and the expected results. */
static inline void reduce_data(reduce_set *s) {
    const reduce_case *c = &s->c;
    uint64_t           count = c->count_type && c->device_count < c->count ? c->device_count : c->count, i;
    s->data = (unsigned char *)test_alloc(reduce_elements(c) * s->from_size);
    if (c->data)
        memcpy(s->data, c->data, (size_t)reduce_elements(c) * s->from_size);
    else
        fill_reduction(c, s->data);
    if (c->custom)
        test_operator_start(c->custom, c->init != INIT_NONE, s->start);
    else if (!is_arg(c->op))
        ref_store(s->to, s->start, 0, test_start(c->filling, c->from, s->to, c->op, c->init != INIT_NONE));
    for (i = 0; i < reduce_results(c); i++) {
        uint64_t first = 0, last = count, at = i * reduce_pitch(c);
        if (s->at) {
            at = first = s->at[i] < count ? s->at[i] : count;
            last = s->at[i + 1] < count ? s->at[i + 1] : count;
        }
        reduce_wanted(s, s->data + (size_t)at * s->from_size, last - first, first, s->wanted + (size_t)i * s->to_size);
    }
}

static inline void *reduce_set_up(const void *given) {
    reduce_set  *s = (reduce_set *)test_alloc(sizeof *s);
    reduce_case *c = &s->c;
    memset(s, 0, sizeof *s);
    *c = *(const reduce_case *)given;
    if (c->custom) {
        c->op = GPUSCAN_OP_CUSTOM;
        c->from = c->to = c->custom->type;
    }
    s->to = c->to ? c->to : is_arg(c->op) ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_U32;
    s->from_size = c->custom ? test_operator_size(c->custom) : ref_size(c->from);
    s->to_size = c->custom ? s->from_size : ref_size(s->to);
    s->at = c->offsets ? cut_offsets(c->cuts, c->segments, c->count) : NULL;
    s->wanted = (unsigned char *)test_alloc(reduce_results(c) * s->to_size);
    s->result = (unsigned char *)test_alloc(reduce_results(c) * s->to_size + 8);
    reduce_data(s);

    s->src = test_buffer_new(CL_MEM_READ_ONLY, s->from_size, reduce_elements(c));
    s->dst = test_buffer_new(CL_MEM_WRITE_ONLY, s->to_size, reduce_results(c));
    s->init = test_buffer_new(CL_MEM_READ_ONLY, s->to_size, 1);
    test_buffer_set(&s->src, c->src_offset, reduce_elements(c), s->data);
    s->d.rows = c->rows;
    s->d.src_pitch = c->src_pitch;
    if (s->at) {
        size_t         size = ref_size(c->offsets);
        unsigned char *numbers = (unsigned char *)test_alloc((c->segments + 1) * size);
        uint64_t       i;
        for (i = 0; i <= c->segments; i++)
            ref_store(c->offsets, numbers, i, ref_bits(s->at[i]));
        s->offsets = test_buffer_new(CL_MEM_READ_ONLY, size, c->segments + 1);
        test_buffer_set(&s->offsets, c->offsets_offset, c->segments + 1, numbers);
        free(numbers);
        s->d.segments.form = GPUSCAN_SEGMENTS_OFFSETS;
        s->d.segments.data = s->offsets.at;
        s->d.segments.type = c->offsets;
        s->d.segments.count = c->segments;
    }
    s->d.src = s->src.at;
    s->d.count = c->count;
    s->d.src_type = c->from;
    s->d.dst_type = c->to;
    s->d.op = c->op;
    s->d.custom = c->custom ? &c->custom->custom : test_conversion_of(c->converts, &s->d.call);
    if (c->init) {
        test_buffer_set(&s->init, 7, 1, s->start);
        if (c->init == INIT_HOST)
            s->d.init = s->start;
        else
            s->d.init_buffer = s->init.at;
    }
    s->number = test_count_buffer(c->count_type, c->device_count);
    s->d.count_buffer = s->number.at;
    s->d.count_type = c->count_type;
    return s;
}

static inline void name_reduction(const reduce_set *s) {
    static const char *const inits[] = {"", ", host init", ", device init"};
    const reduce_case       *c = &s->c;
    test_case("%s of %" PRIu64 " x %" PRIu64 " (pitch %" PRIu64 ", %" PRIu64 " segments by %s, cuts %d) %s to %s by "
              "%s, offsets %" PRIu64 " %" PRIu64 "%s%s, device count %" PRIu64 " (%s)",
              c->custom ? c->custom->name : test_op_name(c->op), reduce_rows(c), c->count, c->src_pitch, c->segments,
              c->offsets ? test_type_name(c->offsets) : "none", (int)c->cuts, test_type_name(c->from),
              test_type_name(s->to), test_strategy_name(c->strategy), c->src_offset, c->dst_offset, inits[c->init],
              c->to_host ? ", result on the host" : "", c->device_count,
              c->count_type ? test_type_name(c->count_type) : "none");
}

static inline int reduce_run(void *set, gpuscan_strategy strategy) {
    reduce_set   *s = (reduce_set *)set;
    reduce_case  *c = &s->c;
    unsigned char around[8];
    gpuscan_result query = GPUSCAN_SUCCESS;
    uint64_t      scratch = 0, results = reduce_results(c);
    int           ran;
    c->strategy = s->d.call.strategy = strategy;
    name_reduction(s);
    memset(around, 0xEE, sizeof around);
    memset(s->result, 0xEE, (size_t)results * s->to_size + 8);
    test_buffer_set(&s->dst, c->dst_offset, results, NULL);
    if (c->to_host)
        s->d.result = s->result;
    else
        s->d.dst = s->dst.at;
    if (c->scratch)
        query = gpuscan_reduce_scratch_size(test.gs, &s->d, &scratch);
    test_extras_begin(&s->extras, &s->d.call, c->scratch, c->events || c->to_host, query, scratch);
    ran = test_reduce_ran(&s->d);
    test_extras_end(&s->extras, &s->d.call, ran);
    if (ran && c->to_host) {
        test_same_bytes(s->result + (size_t)results * s->to_size, around, 8, 1);
    } else if (ran) {
        memcpy(s->result, test_buffer_get(&s->dst), (size_t)results * s->to_size);
    }
    if (ran && c->custom)
        test_same_bytes(s->result, s->wanted, s->to_size, results);
    else if (ran)
        test_same(s->to, s->result, s->wanted, results);
    if (!ran || c->to_host)
        test_buffer_untouched(&s->dst);
    if (!ran)
        test_same_bytes(s->result, around, 8, 1);
    return ran;
}

static inline void reduce_take_down(void *set) {
    reduce_set *s = (reduce_set *)set;
    test_same_bytes(test_buffer_get(&s->src), s->data, s->from_size, reduce_elements(&s->c));
    if (s->at)
        test_buffer_free(&s->offsets);
    test_buffer_free(&s->src);
    test_buffer_free(&s->dst);
    test_buffer_free(&s->init);
    test_buffer_free(&s->number);
    free(s->at);
    free(s->wanted);
    free(s->result);
    free(s->data);
    free(s);
}

static inline void code_reduce_case(const void *given) {
    const reduce_case *c = (const reduce_case *)given;
    const code_field   fields[] = {{"from", CODE_TYPE, "", c->from},
                                   {"to", CODE_TYPE, "", c->to},
                                   {"op", CODE_OP, "", c->op},
                                   {"count", CODE_NUMBER, "", c->count},
                                   {"src_offset", CODE_NUMBER, "", c->src_offset},
                                   {"dst_offset", CODE_NUMBER, "", c->dst_offset},
                                   {"init", CODE_CAST, "(test_init)", c->init},
                                   {"to_host", CODE_NUMBER, "", (uint64_t)c->to_host},
                                   {"rows", CODE_NUMBER, "", c->rows},
                                   {"src_pitch", CODE_NUMBER, "", c->src_pitch},
                                   {"offsets", CODE_TYPE, "", c->offsets},
                                   {"segments", CODE_NUMBER, "", c->segments},
                                   {"cuts", CODE_CAST, "(test_cuts)", c->cuts},
                                   {"offsets_offset", CODE_NUMBER, "", c->offsets_offset},
                                   CODE_CASE_FIELDS(c)};
    code_fields("c", fields, sizeof fields / sizeof *fields);
    code_operator(c->custom);
    if (c->data)
        code_add("    /* c.data: the test's */\n");
}

static const test_operation reductions = {"reductions", "reduce_case",    reduce_set_up,
                                          reduce_run,   reduce_take_down, code_reduce_case};

#endif /* TEST_REDUCTIONS_H */
