/* One uniform add, checked against the reference, with guards around all that it writes. The tests of uniform adds
   share it. */
#ifndef TEST_UNIFORM_ADDS_H
#define TEST_UNIFORM_ADDS_H

#include "operators.h"

/* A call's fields except its buffers, and the data for them. */
typedef struct add_case {
    gpuscan_type         type;
    gpuscan_op           op;
    const test_operator *custom;
    uint64_t             count, block;
    uint64_t             dst_offset, addend_offset;
    uint64_t             device_count;
    gpuscan_type         count_type;
    test_filling         filling;
    int                  converts; /* with test_conversion, which must change nothing; not with custom operators */
    test_scratch_choice  scratch;
    int                  events; /* waits for an event, and returns one */
} add_case;

static inline add_case an_add(gpuscan_type type, gpuscan_op op, uint64_t count, uint64_t block) {
    add_case c;
    memset(&c, 0, sizeof c);
    c.type = type;
    c.op = op;
    c.count = count;
    c.block = block;
    return c;
}

static inline void name_add(const add_case *c, gpuscan_strategy strategy) {
    test_case("uniform %s of %" PRIu64 " %s in blocks of %" PRIu64 ", offsets %" PRIu64 " %" PRIu64
              ", device count %" PRIu64 " (%s), %s",
              c->custom ? c->custom->name : test_op_name(c->op), c->count, test_type_name(c->type), c->block,
              c->dst_offset, c->addend_offset, c->device_count, c->count_type ? test_type_name(c->count_type) : "none",
              test_strategy_name(strategy));
}

/* A case with its buffers, their data, and the expected results. */
typedef struct add_set {
    add_case                 c;
    gpuscan_uniform_add_desc d;
    test_buffer              dst, addend, number;
    size_t                   size;
    uint64_t                 addends;
    unsigned char           *data, *added, *wanted;
    test_extras              extras;
} add_set;

static inline void add_data(add_set *s) {
    const add_case *c = &s->c;
    uint64_t        count = c->count_type && c->device_count < c->count ? c->device_count : c->count, i;
    s->data = (unsigned char *)test_alloc(c->count * s->size);
    s->added = (unsigned char *)test_alloc(s->addends * s->size);
    s->wanted = (unsigned char *)test_alloc(c->count * s->size);
    test_fill_as(c->filling, c->custom, c->type, c->type, c->op, s->data, c->count);
    test_fill_as(c->filling, c->custom, c->type, c->type, c->op, s->added, s->addends);
    memcpy(s->wanted, s->data, (size_t)c->count * s->size);
    if (c->custom)
        for (i = 0; i < count; i++)
            c->custom->combine(s->added + (size_t)(i / c->block) * s->size, s->data + (size_t)i * s->size,
                               s->wanted + (size_t)i * s->size);
    else
        ref_uniform_add(c->type, s->wanted, s->added, count, c->block, c->op);
}

static inline void *add_set_up(const void *given) {
    add_set  *s = (add_set *)test_alloc(sizeof *s);
    add_case *c = &s->c;
    memset(s, 0, sizeof *s);
    *c = *(const add_case *)given;
    if (c->custom) {
        c->type = c->custom->type;
        c->op = GPUSCAN_OP_CUSTOM;
    }
    s->size = c->custom ? test_operator_size(c->custom) : ref_size(c->type);
    s->addends = c->count / c->block + (c->count % c->block != 0);
    add_data(s);
    s->dst = test_buffer_new(CL_MEM_READ_WRITE, s->size, c->count);
    s->addend = test_buffer_new(CL_MEM_READ_ONLY, s->size, s->addends);
    test_buffer_set(&s->addend, c->addend_offset, s->addends, s->added);
    s->d.addend = s->addend.at;
    s->d.count = c->count;
    s->d.block = c->block;
    s->d.type = c->type;
    s->d.op = c->op;
    s->d.custom = c->custom ? &c->custom->custom : c->converts ? &test_conversion : NULL;
    s->number = test_count_buffer(c->count_type, c->device_count);
    s->d.count_buffer = s->number.at;
    s->d.count_type = c->count_type;
    return s;
}

static inline int add_run(void *set, gpuscan_strategy strategy) {
    add_set       *s = (add_set *)set;
    gpuscan_result query = GPUSCAN_SUCCESS;
    uint64_t       scratch = 0;
    unsigned char *wanted;
    int            ran;
    name_add(&s->c, strategy);
    test_buffer_set(&s->dst, s->c.dst_offset, s->c.count, s->data);
    s->d.dst = s->dst.at;
    s->d.call.strategy = strategy;
    if (s->c.scratch)
        query = gpuscan_uniform_add_scratch_size(test.gs, &s->d, &scratch);
    test_extras_begin(&s->extras, &s->d.call, s->c.scratch, s->c.events, query, scratch);
    ran = test_uniform_add_ran(&s->d);
    test_extras_end(&s->extras, &s->d.call, ran);
    wanted = ran ? s->wanted : s->data;
    if (s->c.custom)
        test_same_bytes(test_buffer_get(&s->dst), wanted, s->size, s->c.count);
    else
        test_same(s->c.type, test_buffer_get(&s->dst), wanted, s->c.count);
    return ran;
}

static inline void add_take_down(void *set) {
    add_set *s = (add_set *)set;
    test_same_bytes(test_buffer_get(&s->addend), s->added, s->size, s->addends);
    test_buffer_free(&s->dst);
    test_buffer_free(&s->addend);
    test_buffer_free(&s->number);
    free(s->data);
    free(s->added);
    free(s->wanted);
    free(s);
}

static inline void code_add_case(const void *given) {
    const add_case  *c = (const add_case *)given;
    const code_field fields[] = {{"type", CODE_TYPE, "", c->type},
                                 {"op", CODE_OP, "", c->op},
                                 {"count", CODE_NUMBER, "", c->count},
                                 {"block", CODE_NUMBER, "", c->block},
                                 {"dst_offset", CODE_NUMBER, "", c->dst_offset},
                                 {"addend_offset", CODE_NUMBER, "", c->addend_offset},
                                 CODE_CASE_FIELDS(c)};
    code_fields("c", fields, sizeof fields / sizeof *fields);
    code_operator(c->custom);
}

static const test_operation uniform_adds = {"uniform_adds", "add_case",    add_set_up,
                                            add_run,        add_take_down, code_add_case};

#endif /* TEST_UNIFORM_ADDS_H */
