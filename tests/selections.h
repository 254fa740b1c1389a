/* One selection, checked against a loop, with guards around all that it reads and writes. The tests of selections share
   it. */
#ifndef TEST_SELECTIONS_H
#define TEST_SELECTIONS_H

#include "operators.h"
#include "tallies.h"

/* The elements that are kept. */
typedef enum selection_density {
    KEEP_HALF = 0,
    KEEP_NONE,
    KEEP_ALL,
    KEEP_FIRST,
    KEEP_LAST,
    KEEP_ENDS,   /* the first and the last */
    KEEP_ONE,    /* one anywhere */
    KEEP_FEW,    /* one in a hundred */
    KEEP_MOST,   /* all but one in a hundred */
    KEEP_BLOCKS, /* of all sizes */
    KEEP_COUNT
} selection_density;

/* A call's fields except its buffers, and the data for them. */
typedef struct selection_case {
    gpuscan_type      type;
    uint32_t          custom_size; /* not 0: type is a struct of this size in bytes */
    gpuscan_select_by by;
    int               invert;
    gpuscan_type      flag_type;
    int               flags_are_src;
    int               by_index; /* PREDICATE: i decides, not x */
    const char       *source;   /* PREDICATE: before the custom text's; NULL: nothing */
    int               no_dst;
    gpuscan_type      index_type; /* DEFAULT: no indices */
    uint32_t          payloads, sizes[GPUSCAN_MAX_PAYLOADS];
    int               in_place, payloads_in_place;
    uint64_t          count, capacity, device_count;
    gpuscan_type      count_type;
    selection_density density;
    gpuscan_type      tally;    /* type of the tally's count; DEFAULT: none */
    int               dispatch; /* not 0: with a dispatch of these */
    uint32_t          items, limit; /* items and this limit */
    uint64_t          src_offset, dst_offset, flags_offset, index_offset, payload_offset, tally_offset;
    test_scratch_choice scratch;
    int               events; /* waits for an event, and returns one */
} selection_case;

static inline selection_case a_selection(gpuscan_type type, uint64_t count, selection_density density) {
    selection_case c;
    memset(&c, 0, sizeof c);
    c.type = type;
    c.count = count;
    c.density = density;
    c.tally = GPUSCAN_TYPE_U32;
    return c;
}

static const char *const selection_by_names[] = {"flags", "bits", "a predicate"};
static const char *const selection_density_names[] = {"half",     "none", "all", "the first",   "the last",
                                                      "the ends", "one",  "few", "all but few", "blocks"};

static inline void name_selection(const selection_case *c, gpuscan_strategy strategy) {
    test_case("selection of %" PRIu64 " %s of %u bytes by %s%s%s of %s, %s kept, capacity %" PRIu64
              ", device count %" PRIu64 ", %u payloads of %u %u bytes, indices %s, in place %d %d, offsets %" PRIu64
              " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 ", %s",
              c->count, c->custom_size ? "structs" : test_type_name(c->type), (unsigned)c->custom_size,
              selection_by_names[c->by], c->invert ? " inverted" : "", c->flags_are_src ? " that are the data" : "",
              test_type_name(c->flag_type), selection_density_names[c->density], c->capacity,
              c->count_type ? c->device_count : c->count, (unsigned)c->payloads, (unsigned)c->sizes[0],
              (unsigned)c->sizes[1], test_type_name(c->index_type), c->in_place, c->payloads_in_place, c->src_offset,
              c->dst_offset, c->flags_offset, c->index_offset, c->payload_offset, c->tally_offset,
              test_strategy_name(strategy));
}

/* One output: the source of its elements, and its destination's contents. */
typedef struct selection_output {
    size_t         size;
    int            in_place;
    test_buffer    from, to;
    unsigned char *data;
} selection_output;

/* A case with its buffers, their data, and the expected results. */
typedef struct selection_set {
    selection_case      c;
    gpuscan_select_desc d;
    gpuscan_custom      custom;
    char                source[256], select[64];
    gpuscan_payload     payloads[GPUSCAN_MAX_PAYLOADS];
    selection_output    dst, more[GPUSCAN_MAX_PAYLOADS];
    test_buffer         flags, indices, tally, dispatch, number;
    size_t              flag_size;
    uint64_t            live, kept, written, capacity; /* in elements */
    unsigned char      *keeps, *flag_data;
    test_extras         extras;
} selection_set;

static inline void selection_keeps(selection_set *s) {
    uint64_t n = s->live, i, one = n ? test_below(n) : 0, left = 0, size = 0;
    for (i = 0; i < n; i++) {
        int keep = 0;
        if (left == 0) {
            size = test_below(UINT64_C(1) << test_below(14));
            left = size + 1;
        }
        left--;
        switch (s->c.density) {
        case KEEP_HALF: keep = (int)test_below(2); break;
        case KEEP_ALL: keep = 1; break;
        case KEEP_FIRST: keep = i == 0; break;
        case KEEP_LAST: keep = i == n - 1; break;
        case KEEP_ENDS: keep = i == 0 || i == n - 1; break;
        case KEEP_ONE: keep = i == one; break;
        case KEEP_FEW: keep = test_below(100) == 0; break;
        case KEEP_MOST: keep = test_below(100) != 0; break;
        case KEEP_BLOCKS: keep = (int)(size & 1); break;
        case KEEP_NONE:
        case KEEP_COUNT: break;
        }
        if (s->c.by_index)
            keep = (i % 3 == 1) != (s->c.invert != 0);
        s->keeps[i] = (unsigned char)keep;
        s->kept += (uint64_t)keep;
    }
    for (; i < s->c.count; i++) /* beyond the device's count */
        s->keeps[i] = (unsigned char)test_below(2);
    s->written = s->kept < s->capacity ? s->kept : s->capacity;
}

/* Fills element i. The predicate subtracts 3, and keeps an element that differs from 3, however slightly. */
static inline void selection_put_three(const selection_set *s, uint64_t i, int is_three) {
    const selection_case *c = &s->c;
    unsigned char        *at = s->dst.data + (size_t)i * s->dst.size;
    unsigned char         three[8];
    if (c->custom_size) {
        at[0] = (unsigned char)(is_three ? 3 : at[0] == 3 ? 4 : at[0]);
        return;
    }
    ref_store(c->type, three, 0, ref_is_float(c->type) ? ref_real(3) : ref_bits(3));
    if (is_three)
        memcpy(at, three, s->dst.size);
    else if (memcmp(at, three, s->dst.size) == 0)
        at[0] ^= 1; /* floats: the lowest bit */
}

static inline void selection_flag(unsigned char *at, size_t size, int on) {
    memset(at, 0, size);
    if (on)
        at[test_below(size)] = (unsigned char)(1u << test_below(8));
}

static inline void selection_data(selection_set *s) {
    const selection_case *c = &s->c;
    uint64_t              i, words = c->count / 32 + (c->count % 32 != 0);
    uint32_t              k, bit;
    test_random_bytes(s->dst.data, (size_t)c->count * s->dst.size);
    for (k = 0; k < c->payloads; k++)
        test_random_bytes(s->more[k].data, (size_t)c->count * s->more[k].size);
    if (c->by == GPUSCAN_SELECT_BITS)
        test_random_bytes(s->flag_data, (size_t)words * 4);
    for (i = 0; i < c->count; i++) {
        int on = s->keeps[i] != (c->invert != 0);
        if (c->flags_are_src) {
            if (!on || ref_load(c->flag_type ? c->flag_type : GPUSCAN_TYPE_U8, s->dst.data, i).bits == 0)
                selection_flag(s->dst.data + (size_t)i * s->dst.size, s->dst.size, on);
        } else if (c->by == GPUSCAN_SELECT_PREDICATE) {
            if (!c->by_index)
                selection_put_three(s, i, !on);
        } else if (c->by == GPUSCAN_SELECT_FLAGS) {
            selection_flag(s->flag_data + (size_t)i * s->flag_size, s->flag_size, on);
        } else {
            memcpy(&bit, s->flag_data + i / 32 * 4, 4);
            bit = (bit & ~(UINT32_C(1) << i % 32)) | (uint32_t)on << i % 32;
            memcpy(s->flag_data + i / 32 * 4, &bit, 4);
        }
    }
}

static inline void selection_output_new(selection_output *output, size_t size, uint64_t count, uint64_t capacity,
                                        int in_place) {
    output->size = size;
    output->in_place = in_place;
    output->data = (unsigned char *)test_alloc(count * size);
    output->from = test_buffer_new(in_place ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY, size, count);
    if (!in_place)
        output->to = test_buffer_new(CL_MEM_WRITE_ONLY, size, capacity);
}

static inline void selection_predicate(selection_set *s) {
    const selection_case *c = &s->c;
    if (c->custom_size)
        snprintf(s->source, sizeof s->source, "%stypedef struct { uchar byte[%u]; } selected_t;\n",
                 c->source ? c->source : "", (unsigned)c->custom_size);
    else
        snprintf(s->source, sizeof s->source, "%s", c->source ? c->source : "");
    snprintf(s->select, sizeof s->select, "%s",
             c->by_index ? "i % 3 == 1" : c->custom_size ? "x.byte[0] - 3 // bytes" : "x - 3 // not 3");
    s->custom.source = s->source;
    s->custom.type = c->custom_size ? "selected_t" : NULL;
    s->custom.size = c->custom_size;
    s->custom.select = s->select;
    s->d.custom = &s->custom;
}

static inline void *selection_set_up(const void *given) {
    selection_set  *s = (selection_set *)test_alloc(sizeof *s);
    selection_case *c = &s->c;
    uint64_t        words;
    uint32_t        k;
    memset(s, 0, sizeof *s);
    *c = *(const selection_case *)given;
    words = c->count / 32 + (c->count % 32 != 0);
    s->capacity = c->capacity && c->capacity < c->count ? c->capacity : c->count;
    s->live = c->count_type && c->device_count < c->count ? c->device_count : c->count;
    s->keeps = (unsigned char *)test_alloc(c->count);
    selection_keeps(s);
    selection_output_new(&s->dst, c->custom_size ? c->custom_size : ref_size(c->type), c->count, s->capacity,
                         c->in_place);
    for (k = 0; k < c->payloads; k++) {
        selection_output_new(&s->more[k], c->sizes[k], c->count, s->capacity, c->payloads_in_place >> k & 1);
        s->payloads[k].size = c->sizes[k];
    }
    s->flag_size = c->by == GPUSCAN_SELECT_BITS ? 4 : c->flag_type ? ref_size(c->flag_type) : 1;
    s->flag_data = (unsigned char *)test_alloc((c->count + 32) * s->flag_size);
    selection_data(s);
    if (c->by != GPUSCAN_SELECT_PREDICATE && !c->flags_are_src) {
        uint64_t flags = c->by == GPUSCAN_SELECT_BITS ? words : c->count;
        s->flags = test_buffer_new(CL_MEM_READ_ONLY, s->flag_size, flags);
        test_buffer_set(&s->flags, c->flags_offset, flags, s->flag_data);
    }
    if (c->index_type)
        s->indices = test_buffer_new(CL_MEM_WRITE_ONLY, ref_size(c->index_type), s->capacity);
    if (c->tally)
        s->tally = test_buffer_new(CL_MEM_WRITE_ONLY, ref_size(c->tally), 1);
    if (c->dispatch)
        s->dispatch = test_buffer_new(CL_MEM_WRITE_ONLY, 4, 3);
    s->number = test_count_buffer(c->count_type, c->device_count);
    s->d.type = c->custom_size ? GPUSCAN_TYPE_CUSTOM : c->type;
    s->d.count = c->count;
    s->d.by = c->by;
    s->d.invert = c->invert;
    s->d.flag_type = c->by == GPUSCAN_SELECT_FLAGS ? c->flag_type : GPUSCAN_TYPE_DEFAULT;
    s->d.capacity = c->capacity;
    s->d.index_type = c->index_type;
    s->d.payloads = c->payloads ? s->payloads : NULL;
    s->d.payload_count = c->payloads;
    s->d.count_buffer = s->number.at;
    s->d.count_type = c->count_type;
    s->d.selected.count_type = c->tally;
    s->d.selected.dispatch_items = c->items;
    s->d.selected.dispatch_limit = c->limit;
    if (c->custom_size || c->by == GPUSCAN_SELECT_PREDICATE)
        selection_predicate(s);
    return s;
}

/* Sets an output's buffers to their contents before the call. */
static inline void selection_output_set(selection_set *s, selection_output *output, uint64_t from_offset,
                                        uint64_t to_offset, gpuscan_buffer *from, gpuscan_buffer *to) {
    test_buffer_set(&output->from, from_offset, s->c.count, output->data);
    *from = *to = output->from.at;
    if (!output->in_place) {
        test_buffer_set(&output->to, to_offset, s->capacity, NULL);
        *to = output->to.at;
    }
}

/* Checks an output, and what follows the elements that were written. */
static inline void selection_output_check(selection_set *s, selection_output *output, int ran) {
    test_buffer   *to = output->in_place ? &output->from : &output->to;
    uint64_t       i, j = 0, room = output->in_place ? s->c.count : s->capacity;
    size_t         before = (size_t)to->at.offset * output->size, b;
    unsigned char *wanted = (unsigned char *)test_alloc(room * output->size);
    for (b = 0; b < (size_t)room * output->size; b++)
        wanted[b] = output->in_place ? output->data[b] : test_pattern(before + b);
    for (i = 0; i < s->live && ran; i++)
        if (s->keeps[i] && j < s->capacity)
            memcpy(wanted + (size_t)j++ * output->size, output->data + (size_t)i * output->size, output->size);
    test_same_bytes(test_buffer_get(to), wanted, output->size, room);
    free(wanted);
    if (!output->in_place)
        test_same_bytes(test_buffer_get(&output->from), output->data, output->size, s->c.count);
}

static inline void selection_check_indices(selection_set *s, int ran) {
    uint64_t i, j = 0;
    void    *got;
    if (!ran) {
        test_buffer_untouched(&s->indices);
        return;
    }
    got = test_buffer_get(&s->indices);
    for (i = 0; i < s->live; i++)
        if (s->keeps[i] && j < s->capacity) {
            if (ref_load(s->c.index_type, got, j).bits != i)
                fail_msg("%s: index %" PRIu64 " is %" PRIu64 " instead of %" PRIu64, test.what, j,
                         ref_load(s->c.index_type, got, j).bits, i);
            j++;
        }
    for (j *= s->indices.element; j < s->capacity * s->indices.element; j++)
        if (((unsigned char *)got)[j] != test_pattern((size_t)(s->indices.at.offset * s->indices.element + j)))
            fail_msg("%s: byte %" PRIu64 " of the indices, behind the last, was written", test.what, j);
}

static inline int selection_run(void *set, gpuscan_strategy strategy) {
    selection_set       *s = (selection_set *)set;
    const selection_case *c = &s->c;
    gpuscan_buffer       unused;
    gpuscan_result       query = GPUSCAN_SUCCESS;
    uint64_t             scratch = 0;
    uint32_t             k;
    int                  ran;
    name_selection(c, strategy);
    selection_output_set(s, &s->dst, c->src_offset, c->dst_offset, &s->d.src, c->no_dst ? &unused : &s->d.dst);
    for (k = 0; k < c->payloads; k++)
        selection_output_set(s, &s->more[k], c->payload_offset + k, c->payload_offset, &s->payloads[k].src,
                             &s->payloads[k].dst);
    s->d.flags = c->flags_are_src ? s->d.src : s->flags.at;
    if (c->no_dst && c->by != GPUSCAN_SELECT_PREDICATE)
        memset(&s->d.src, 0, sizeof s->d.src);
    if (c->index_type) {
        test_buffer_set(&s->indices, c->index_offset, s->capacity, NULL);
        s->d.indices = s->indices.at;
    }
    if (c->tally) {
        test_buffer_set(&s->tally, c->tally_offset, 1, NULL);
        s->d.selected.count = s->tally.at;
    }
    if (c->dispatch) {
        test_buffer_set(&s->dispatch, c->tally_offset, 3, NULL);
        s->d.selected.dispatch = s->dispatch.at;
    }
    s->d.call.strategy = strategy;
    if (c->scratch)
        query = gpuscan_select_scratch_size(test.gs, &s->d, &scratch);
    test_extras_begin(&s->extras, &s->d.call, c->scratch, c->events, query, scratch);
    ran = test_select_ran(&s->d);
    test_extras_end(&s->extras, &s->d.call, ran);
    if (!c->no_dst)
        selection_output_check(s, &s->dst, ran);
    for (k = 0; k < c->payloads; k++)
        selection_output_check(s, &s->more[k], ran);
    if (c->index_type)
        selection_check_indices(s, ran);
    tally_check(ran, s->c.tally, &s->tally, s->c.dispatch ? &s->dispatch : NULL, s->c.items, s->c.limit, s->kept,
                s->written);
    return ran;
}

static inline void selection_output_free(selection_output *output) {
    test_buffer_free(&output->from);
    test_buffer_free(&output->to);
    free(output->data);
}

static inline void selection_take_down(void *set) {
    selection_set *s = (selection_set *)set;
    uint32_t       k;
    if (s->flags.at.mem)
        test_same_bytes(test_buffer_get(&s->flags), s->flag_data, s->flag_size, s->flags.count);
    selection_output_free(&s->dst);
    for (k = 0; k < s->c.payloads; k++)
        selection_output_free(&s->more[k]);
    test_buffer_free(&s->flags);
    test_buffer_free(&s->indices);
    test_buffer_free(&s->tally);
    test_buffer_free(&s->dispatch);
    test_buffer_free(&s->number);
    free(s->keeps);
    free(s->flag_data);
    free(s);
}

static inline void code_selection(const void *given) {
    const selection_case *c = (const selection_case *)given;
    uint32_t              k;
    const code_field      fields[] = {{"type", CODE_TYPE, "", c->type},
                                 {"custom_size", CODE_NUMBER, "", c->custom_size},
                                 {"by", CODE_CAST, "(gpuscan_select_by)", (uint64_t)c->by},
                                 {"invert", CODE_NUMBER, "", (uint64_t)c->invert},
                                 {"flag_type", CODE_TYPE, "", c->flag_type},
                                 {"flags_are_src", CODE_NUMBER, "", (uint64_t)c->flags_are_src},
                                 {"by_index", CODE_NUMBER, "", (uint64_t)c->by_index},
                                 {"no_dst", CODE_NUMBER, "", (uint64_t)c->no_dst},
                                 {"index_type", CODE_TYPE, "", c->index_type},
                                 {"payloads", CODE_NUMBER, "", c->payloads},
                                 {"in_place", CODE_NUMBER, "", (uint64_t)c->in_place},
                                 {"payloads_in_place", CODE_NUMBER, "", (uint64_t)c->payloads_in_place},
                                 {"count", CODE_NUMBER, "", c->count},
                                 {"capacity", CODE_NUMBER, "", c->capacity},
                                 {"density", CODE_CAST, "(selection_density)", (uint64_t)c->density},
                                 {"tally", CODE_TYPE, "", c->tally},
                                 {"dispatch", CODE_NUMBER, "", (uint64_t)c->dispatch},
                                 {"items", CODE_NUMBER, "", c->items},
                                 {"limit", CODE_NUMBER, "", c->limit},
                                 {"src_offset", CODE_NUMBER, "", c->src_offset},
                                 {"dst_offset", CODE_NUMBER, "", c->dst_offset},
                                 {"flags_offset", CODE_NUMBER, "", c->flags_offset},
                                 {"index_offset", CODE_NUMBER, "", c->index_offset},
                                 {"payload_offset", CODE_NUMBER, "", c->payload_offset},
                                 {"tally_offset", CODE_NUMBER, "", c->tally_offset},
                                 {"device_count", CODE_NUMBER, "", c->device_count},
                                 {"count_type", CODE_TYPE, "", c->count_type},
                                 {"scratch", CODE_CAST, "(test_scratch_choice)", (uint64_t)c->scratch},
                                 {"events", CODE_NUMBER, "", (uint64_t)c->events}};
    code_fields("c", fields, sizeof fields / sizeof *fields);
    for (k = 0; k < c->payloads; k++)
        code_add("    c.sizes[%u] = %u;\n", (unsigned)k, (unsigned)c->sizes[k]);
}

static const test_operation selections = {"selections",  "selection_case",    selection_set_up,
                                          selection_run, selection_take_down, code_selection};

#endif /* TEST_SELECTIONS_H */
