/* One scan, checked against the reference, with guards around all that it writes. The tests of scans share it. */
#ifndef TEST_SCANS_H
#define TEST_SCANS_H

#include "cuts.h"
#include "operators.h"

/* A call's fields except its buffers, and the data for them. */
typedef struct scan_case {
    gpuscan_type         from, to;
    gpuscan_op           op;
    const test_operator *custom; /* for OP_CUSTOM: also gives both types */
    gpuscan_scan_kind    kind;
    gpuscan_strategy     strategy;
    uint64_t             count, rows, src_pitch, dst_pitch;
    int                  in_bytes; /* pitches are in bytes */
    uint64_t             src_offset, dst_offset;
    test_init            init;
    int                  total, in_place; /* in_place: dst is src's buffer */
    uint64_t             shift;           /* in place: elements from src's begin to dst's */
    uint64_t             device_count;    /* with count_type: the device's count */
    gpuscan_type         count_type;
    const void          *data; /* the source; NULL: as filling says */
    test_filling         filling;
    uint64_t             total_offset, init_offset; /* besides dst's and src's */
    int                  converts;                  /* see test_conversion_of; not with custom operators */
    test_scratch_choice  scratch;
    int                  events; /* waits for an event, and returns one */
    gpuscan_segment_form form;   /* of segments; NONE: no segments */
    gpuscan_type         keys;   /* the type that says where they begin */
    uint64_t             segments, keys_offset;
    test_cuts            cuts;
    int                  reverse;
    int                  columns; /* the scans are the columns of a matrix of `count` lines */
} scan_case;

static inline void name_scan(const scan_case *c) {
    static const char *const inits[] = {"", ", host init", ", device init"};
    static const char *const forms[] = {"", ", offsets", ", heads", ", keys"};
    test_case("%s%s scan%s of %s%s%s by %s, %s%s%s%s, cuts %d, count %" PRIu64 ", rows %" PRIu64 ", pitches %" PRIu64
              " %" PRIu64 ", offsets %" PRIu64 " %" PRIu64 "%s%s%s, device count %" PRIu64 " (%s)",
              c->reverse ? "reversed " : "", c->kind == GPUSCAN_INCLUSIVE ? "inclusive" : "exclusive",
              c->columns ? " along columns" : "", test_type_name(c->from), c->from != c->to ? " to " : "",
              c->from != c->to ? test_type_name(c->to) : "",
              c->custom ? c->custom->name : test_op_name(c->op), test_strategy_name(c->strategy),
              c->converts ? ", converted" : "", forms[c->form], c->form ? test_type_name(c->keys) : "", (int)c->cuts,
              c->count, c->rows, c->src_pitch, c->dst_pitch, c->src_offset,
              c->dst_offset, inits[c->init], c->total ? ", total" : "",
              c->in_place == 0 ? ""
              : c->shift       ? ", beside"
                               : ", in place",
              c->device_count, c->count_type ? test_type_name(c->count_type) : "none");
}

/* A case with its buffers, their data, and the expected results. */
typedef struct scan_set {
    scan_case         c;
    gpuscan_scan_desc d;
    test_buffer       src, dst, total, init, number, keys;
    size_t            from_size, to_size;
    unsigned char    *heads, *key_data; /* where segments begin, and the call's data about it */
    uint64_t          rows, src_pitch, dst_pitch, src_span, dst_span; /* pitches are from line to line */
    unsigned char    *data, *wanted, *totals, start[256];
    ref_value         first; /* the value in start */
    test_extras       extras;
} scan_set;

/* Makes the source, and an init that changes the results. */
static inline void scan_data(scan_set *s) {
    const scan_case *c = &s->c;
    s->data = (unsigned char *)test_alloc(s->src_span * s->from_size);
    if (c->data)
        memcpy(s->data, c->data, (size_t)s->src_span * s->from_size);
    else
        test_fill_as(c->filling, c->custom, c->from, c->to, c->op, s->data, s->src_span);
    if (c->custom) {
        test_operator_start(c->custom, c->init != INIT_NONE, s->start);
    } else {
        s->first = test_start(c->filling, c->from, c->to, c->op, c->init != INIT_NONE);
        ref_store(c->to, s->start, 0, s->first);
    }
}

/* Makes the segments, if there are any, and the call's data about them. */
static inline void scan_segments(scan_set *s) {
    const scan_case *c = &s->c;
    uint64_t        *at, numbers = c->form == GPUSCAN_SEGMENTS_OFFSETS ? c->segments + 1 : c->count, i;
    if (c->form == GPUSCAN_SEGMENTS_NONE)
        return;
    at = cut_offsets(c->cuts, c->segments, c->count);
    s->heads = cut_heads(at, c->segments, c->count);
    if (c->form == GPUSCAN_SEGMENTS_HEADS) {
        s->key_data = cut_flags(s->heads, c->count, c->keys);
    } else if (c->form == GPUSCAN_SEGMENTS_KEYS) {
        s->key_data = cut_keys(s->heads, c->count, c->keys);
    } else {
        s->key_data = (unsigned char *)test_alloc(numbers * ref_size(c->keys));
        for (i = 0; i < numbers; i++)
            ref_store(c->keys, s->key_data, i, ref_bits(at[i]));
    }
    free(at);
    s->keys = test_buffer_new(CL_MEM_READ_ONLY, ref_size(c->keys), numbers);
    test_buffer_set(&s->keys, c->keys_offset, numbers, s->key_data);
    s->d.segments.form = c->form;
    s->d.segments.data = s->keys.at;
    s->d.segments.type = c->keys;
    s->d.segments.count = c->form == GPUSCAN_SEGMENTS_OFFSETS ? c->segments : 0;
}

/* Computes the expected results of a row, or of the segments that it consists of. May reverse elements of `row`. */
static inline void scan_row(scan_set *s, unsigned char *out, unsigned char *row, uint64_t count,
                            unsigned char *total) {
    const scan_case *c = &s->c;
    uint64_t         first = 0, last;
    do {
        last = count;
        if (s->heads)
            for (last = first + (count > 0); last < count && !s->heads[last];)
                last++;
        if (c->reverse)
            ref_reverse(row + first * s->from_size, last - first, s->from_size);
        if (c->custom)
            ref_scan_custom(s->to_size, out + first * s->to_size, row + first * s->from_size, last - first,
                            c->custom->combine, c->kind, s->start, total);
        else
            ref_store(c->to, total, 0,
                      ref_scan(c->to, out + first * s->to_size, c->from, row + first * s->from_size, last - first,
                               c->op, c->kind, &s->first));
        if (c->reverse)
            ref_reverse(out + first * s->to_size, last - first, s->to_size);
        first = last;
    } while (first < count);
}

/* Returns where element i of scan r lies, counted from the first element of scan 0. */
static inline size_t scan_place(const scan_set *s, uint64_t pitch, uint64_t r, uint64_t i) {
    return (size_t)(s->c.columns ? r + i * pitch : r * pitch + i);
}

/* Returns how many elements lie from the first element of all scans to the last one. */
static inline uint64_t scan_span(const scan_set *s, uint64_t pitch) {
    if (!s->c.columns)
        return (s->rows - 1) * pitch + s->c.count;
    return s->c.count ? (s->c.count - 1) * pitch + s->rows : 0;
}

/* Makes the expected results. Gaps between rows, and what lies behind the device's count, stay unchanged. */
static inline void scan_wanted(scan_set *s) {
    const scan_case *c = &s->c;
    uint64_t         count = c->count_type && c->device_count < c->count ? c->device_count : c->count, r, e;
    size_t           size = s->to_size, i;
    unsigned char   *row = (unsigned char *)test_alloc(count * s->from_size);
    unsigned char   *out = (unsigned char *)test_alloc(count * size);
    s->wanted = (unsigned char *)test_alloc((c->in_place ? s->src_span : s->dst_span) * size);
    s->totals = (unsigned char *)test_alloc(s->rows * size);
    if (c->in_place)
        memcpy(s->wanted, s->data, (size_t)s->src_span * size);
    else
        for (i = 0; i < (size_t)s->dst_span * size; i++)
            s->wanted[i] = test_pattern((size_t)c->dst_offset * size + i);
    for (r = 0; r < s->rows; r++) {
        for (e = 0; e < count; e++)
            memcpy(row + (size_t)e * s->from_size, s->data + scan_place(s, s->src_pitch, r, e) * s->from_size,
                   s->from_size);
        if (c->converts)
            test_convert(c->from, row, count);
        scan_row(s, out, row, count, s->totals + (size_t)r * size);
        for (e = 0; e < count; e++)
            memcpy(s->wanted + (scan_place(s, s->dst_pitch, r, e) + (size_t)c->shift) * size, out + (size_t)e * size,
                   size);
    }
    free(row);
    free(out);
}

static inline void *scan_set_up(const void *given) {
    scan_set  *s = (scan_set *)test_alloc(sizeof *s);
    scan_case *c = &s->c;
    memset(s, 0, sizeof *s);
    *c = *(const scan_case *)given;
    if (c->custom) {
        c->op = GPUSCAN_OP_CUSTOM;
        c->from = c->to = c->custom->type;
    }
    s->from_size = c->custom ? test_operator_size(c->custom) : ref_size(c->from);
    s->to_size = c->custom ? s->from_size : ref_size(c->to);
    s->rows = c->rows ? c->rows : 1;
    s->src_pitch = c->src_pitch ? c->src_pitch : c->columns ? s->rows : c->count;
    s->dst_pitch = c->dst_pitch ? c->dst_pitch : c->columns ? s->rows : c->count;
    s->src_span = scan_span(s, s->src_pitch) + c->shift; /* dst's rows are inside it */
    s->dst_span = scan_span(s, s->dst_pitch);
    scan_data(s);
    scan_segments(s);
    scan_wanted(s);

    s->src = test_buffer_new(CL_MEM_READ_WRITE, s->from_size, s->src_span);
    s->dst = test_buffer_new(c->in_place ? CL_MEM_READ_WRITE : CL_MEM_WRITE_ONLY, s->to_size, s->dst_span);
    s->total = test_buffer_new(CL_MEM_WRITE_ONLY, s->to_size, s->rows);
    s->init = test_buffer_new(CL_MEM_READ_ONLY, s->to_size, 1);
    test_buffer_set(&s->src, c->src_offset, s->src_span, s->data);
    test_buffer_set(&s->init, c->src_offset + c->init_offset, 1, s->start);
    s->d.src = s->src.at;
    s->d.count = c->count;
    s->d.src_type = c->from;
    s->d.dst_type = c->to;
    s->d.op = c->op;
    s->d.kind = c->kind;
    s->d.reverse = (uint32_t)c->reverse;
    s->d.along = c->columns ? GPUSCAN_ALONG_COLUMNS : GPUSCAN_ALONG_ROWS;
    s->d.custom = c->custom ? &c->custom->custom : test_conversion_of(c->converts, &s->d.call);
    if (c->init == INIT_HOST)
        s->d.init = s->start;
    if (c->init == INIT_DEVICE)
        s->d.init_buffer = s->init.at;
    s->d.rows = c->rows;
    if (c->in_bytes) {
        s->d.src_pitch_bytes = c->src_pitch * s->from_size;
        s->d.dst_pitch_bytes = c->dst_pitch * s->to_size;
    } else {
        s->d.src_pitch = c->src_pitch;
        s->d.dst_pitch = c->dst_pitch;
    }
    s->number = test_count_buffer(c->count_type, c->device_count);
    s->d.count_buffer = s->number.at;
    s->d.count_type = c->count_type;
    return s;
}

/* Compares all that the call may write, and what surrounds it. */
static inline int scan_run(void *set, gpuscan_strategy strategy) {
    scan_set      *s = (scan_set *)set;
    scan_case     *c = &s->c;
    test_buffer   *out = c->in_place ? &s->src : &s->dst;
    gpuscan_result query = GPUSCAN_SUCCESS;
    uint64_t       scratch = 0;
    int            ran;
    c->strategy = s->d.call.strategy = strategy;
    name_scan(c);
    if (c->in_place)
        test_buffer_set(&s->src, c->src_offset, s->src_span, s->data);
    else
        test_buffer_set(&s->dst, c->dst_offset, s->dst_span, NULL);
    test_buffer_set(&s->total, c->dst_offset + c->total_offset, s->rows, NULL);
    s->d.dst = out->at;
    s->d.dst.offset += c->shift;
    if (c->total)
        s->d.total = s->total.at;
    if (c->scratch)
        query = gpuscan_scan_scratch_size(test.gs, &s->d, &scratch);
    test_extras_begin(&s->extras, &s->d.call, c->scratch, c->events, query, scratch);
    ran = test_scan_ran(&s->d);
    test_extras_end(&s->extras, &s->d.call, ran);
    if (ran && c->custom)
        test_same_bytes(test_buffer_get(out), s->wanted, s->to_size, out->count);
    else if (ran)
        test_same(c->to, test_buffer_get(out), s->wanted, out->count);
    if (!ran || !c->in_place)
        test_same_bytes(test_buffer_get(&s->src), s->data, s->from_size, s->src_span);
    if (c->form)
        test_same_bytes(test_buffer_get(&s->keys), s->key_data, ref_size(c->keys), s->keys.count);
    if (!ran || !c->total) {
        test_buffer_untouched(&s->total);
        return ran;
    }
    strncat(test.what, ": total", sizeof test.what - strlen(test.what) - 1);
    if (c->custom)
        test_same_bytes(test_buffer_get(&s->total), s->totals, s->to_size, s->rows);
    else
        test_same(c->to, test_buffer_get(&s->total), s->totals, s->rows);
    return ran;
}

static inline void scan_take_down(void *set) {
    scan_set *s = (scan_set *)set;
    test_buffer_free(&s->src);
    test_buffer_free(&s->dst);
    test_buffer_free(&s->total);
    test_buffer_free(&s->init);
    test_buffer_free(&s->number);
    if (s->c.form)
        test_buffer_free(&s->keys);
    free(s->heads);
    free(s->key_data);
    free(s->data);
    free(s->wanted);
    free(s->totals);
    free(s);
}

static inline void code_scan_case(const void *given) {
    const scan_case *c = (const scan_case *)given;
    const code_field fields[] = {{"from", CODE_TYPE, "", c->from},
                                 {"to", CODE_TYPE, "", c->to},
                                 {"op", CODE_OP, "", c->op},
                                 {"kind", CODE_CAST, "(gpuscan_scan_kind)", c->kind},
                                 {"count", CODE_NUMBER, "", c->count},
                                 {"rows", CODE_NUMBER, "", c->rows},
                                 {"in_bytes", CODE_NUMBER, "", (uint64_t)c->in_bytes},
                                 {"src_pitch", CODE_NUMBER, "", c->src_pitch},
                                 {"dst_pitch", CODE_NUMBER, "", c->dst_pitch},
                                 {"src_offset", CODE_NUMBER, "", c->src_offset},
                                 {"dst_offset", CODE_NUMBER, "", c->dst_offset},
                                 {"init", CODE_CAST, "(test_init)", c->init},
                                 {"total", CODE_NUMBER, "", (uint64_t)c->total},
                                 {"in_place", CODE_NUMBER, "", (uint64_t)c->in_place},
                                 {"shift", CODE_NUMBER, "", c->shift},
                                 {"total_offset", CODE_NUMBER, "", c->total_offset},
                                 {"init_offset", CODE_NUMBER, "", c->init_offset},
                                 {"form", CODE_CAST, "(gpuscan_segment_form)", c->form},
                                 {"keys", CODE_TYPE, "", c->keys},
                                 {"segments", CODE_NUMBER, "", c->segments},
                                 {"keys_offset", CODE_NUMBER, "", c->keys_offset},
                                 {"cuts", CODE_CAST, "(test_cuts)", c->cuts},
                                 {"reverse", CODE_NUMBER, "", (uint64_t)c->reverse},
                                 {"columns", CODE_NUMBER, "", (uint64_t)c->columns},
                                 CODE_CASE_FIELDS(c)};
    code_fields("c", fields, sizeof fields / sizeof *fields);
    code_operator(c->custom);
    if (c->data)
        code_add("    /* c.data: the test's */\n");
}

static const test_operation scans = {"scans",  "scan_case",    scan_set_up,
                                     scan_run, scan_take_down, code_scan_case};

static inline scan_case a_scan(gpuscan_type type, gpuscan_op op, uint64_t count) {
    scan_case c;
    memset(&c, 0, sizeof c);
    c.from = c.to = type;
    c.op = op;
    c.count = count;
    return c;
}

#endif /* TEST_SCANS_H */
