/* One sort, checked against a stable sort on the host, with guards around all that it writes. The tests of sorts share
   it. */
#ifndef TEST_SORTS_H
#define TEST_SORTS_H

#include "harness.h"

/* The keys' values. */
typedef enum sort_keys {
    KEYS_RANDOM = 0,
    KEYS_EQUAL,
    KEYS_TWO,
    KEYS_SORTED,
    KEYS_REVERSED,
    KEYS_AND_1, /* AND of 1, 3, 9 or 15 more random words */
    KEYS_AND_3,
    KEYS_AND_9,
    KEYS_AND_15,
    KEYS_FEW,     /* 16 values, in the lowest bits */
    KEYS_GAP,     /* any, but with the same bits 16 to 23 */
    KEYS_SPECIAL, /* the least, the largest, zeros, infinities, many NaNs; these and random ones */
    KEYS_COUNT
} sort_keys;

/* Elements of a custom type, and their keys on the host. */
typedef struct sort_custom {
    const char    *name;
    gpuscan_type   key_type;
    gpuscan_custom custom;
    uint64_t (*key)(const unsigned char *element, uint64_t i); /* the key's bits */
} sort_custom;

typedef struct sort_item {
    uint32_t a;
    float    b;
    uint32_t c;
} sort_item;

static inline sort_item sort_item_of(const unsigned char *element) {
    sort_item item;
    memcpy(&item, element, sizeof item);
    return item;
}
static inline uint64_t sort_key_c(const unsigned char *element, uint64_t i) {
    (void)i;
    return sort_item_of(element).c;
}
static inline uint64_t sort_key_minus_b(const unsigned char *element, uint64_t i) {
    uint32_t bits;
    float    minus = -sort_item_of(element).b;
    (void)i;
    memcpy(&bits, &minus, sizeof bits);
    return bits;
}
static inline uint64_t sort_key_index(const unsigned char *element, uint64_t i) {
    (void)element;
    return i * 40503 % 1000;
}
static inline uint64_t sort_key_byte(const unsigned char *element, uint64_t i) {
    (void)i;
    return (uint64_t)(int64_t)(int8_t)(element[0] - 100) & 0xff;
}
static inline uint64_t sort_key_half(const unsigned char *element, uint64_t i) {
    uint16_t bits;
    (void)i;
    ref_store(GPUSCAN_TYPE_F16, &bits, 0, ref_real((double)(element[70] % 16) - 8));
    return bits;
}
static inline uint64_t sort_key_wide(const unsigned char *element, uint64_t i) {
    (void)i;
    return (uint64_t)sort_item_of(element).a << 32 | sort_item_of(element).c;
}
#define SORT_ITEM "typedef struct { uint a; float b; uint c; } sort_item;\n"
static const sort_custom sort_customs[] = {
    {"a member", GPUSCAN_TYPE_U32, {SORT_ITEM, "sort_item", 12, NULL, NULL, NULL, NULL, NULL, "x.c"}, sort_key_c},
    {"minus a float", GPUSCAN_TYPE_F32, {SORT_ITEM, "sort_item", 12, NULL, NULL, NULL, NULL, NULL, "-x.b"},
     sort_key_minus_b},
    {"the index", GPUSCAN_TYPE_U16, {SORT_ITEM, "sort_item", 12, NULL, NULL, NULL, NULL, NULL, "i * 40503 % 1000"},
     sort_key_index},
    {"a byte", GPUSCAN_TYPE_I8, {NULL, "uchar", 1, NULL, NULL, NULL, NULL, NULL, "x - 100"}, sort_key_byte},
    {"a half", GPUSCAN_TYPE_F16,
     {"typedef struct { uchar bytes[100]; } sort_hundred;\n", "sort_hundred", 100, NULL, NULL, NULL, NULL, NULL,
      "x.bytes[70] % 16 - 8.0f"},
     sort_key_half},
    {"two members", GPUSCAN_TYPE_U64,
     {SORT_ITEM, "sort_item", 12, NULL, NULL, NULL, NULL, NULL, "(ulong)x.a << 32 | x.c"}, sort_key_wide}};
enum { SORT_CUSTOMS = 6 };

/* A call's fields except its buffers, and the data for them. */
typedef struct sort_case {
    gpuscan_type        type; /* without a custom key */
    uint64_t            count;
    int                 custom; /* number in sort_customs, plus 1; 0: none */
    sort_keys           keys;
    int                 descending;
    uint32_t            bit_begin, bit_end;
    uint32_t            sizes[GPUSCAN_MAX_PAYLOADS]; /* bytes of payloads; 0 ends them */
    int                 no_dst, in_place, payloads_in_place, has_permutation, may_destroy;
    gpuscan_type        index_type;
    uint64_t            src_offset, dst_offset, payload_offset, permutation_offset;
    uint64_t            device_count;
    gpuscan_type        count_type;
    test_scratch_choice scratch;
    int                 events;
} sort_case;

static inline sort_case a_sort(gpuscan_type type, uint64_t count) {
    sort_case c;
    memset(&c, 0, sizeof c);
    c.type = type;
    c.count = count;
    return c;
}

/* A case with its buffers, their data, and the expected results. */
typedef struct sort_set {
    sort_case         c;
    gpuscan_sort_desc d;
    gpuscan_payload   payloads[GPUSCAN_MAX_PAYLOADS];
    unsigned          payload_count;
    gpuscan_type      key_type;
    size_t            size; /* bytes of an element */
    uint64_t          sorted; /* the device's count */
    test_buffer       src, dst, permutation, number, payload_src[GPUSCAN_MAX_PAYLOADS];
    test_buffer       payload_dst[GPUSCAN_MAX_PAYLOADS];
    unsigned char    *data, *payload_data[GPUSCAN_MAX_PAYLOADS];
    uint64_t         *order; /* the index in src of each sorted element */
    test_extras       extras;
} sort_set;

static inline uint64_t sort_ones(gpuscan_type type) {
    return ~UINT64_C(0) >> (64 - 8 * ref_size(type));
}

static inline uint64_t sort_special(gpuscan_type type) {
    uint64_t ones = sort_ones(type), sign = ones ^ ones >> 1, of_sign = test_random() & sign;
    unsigned fraction = type == GPUSCAN_TYPE_F64 ? 52 : type == GPUSCAN_TYPE_F32 ? 23 : 10;
    uint64_t infinity = (ones >> 1) >> fraction << fraction, quiet = UINT64_C(1) << (fraction - 1);
    if (!ref_is_float(type)) {
        const uint64_t values[] = {0, 1, ones, ones - 1, sign, sign - 1, sign + 1, 42};
        return values[test_below(8)] & ones;
    }
    switch (test_below(8)) {
    case 0: return of_sign;                                                    /* zero */
    case 1: return of_sign | infinity;
    case 2: return of_sign | infinity | quiet | test_below(4);                 /* quiet NaN */
    case 3: return of_sign | infinity | 1 | (test_random() & (quiet - 1));     /* signalling NaN */
    case 4: return of_sign | 1;                                                /* the smallest */
    case 5: return of_sign | (infinity - 1);                                   /* the largest */
    case 6: return of_sign | (test_random() & ((UINT64_C(1) << fraction) - 1)); /* subnormal */
    default: return test_random() & ones;
    }
}

static inline uint64_t sort_key(sort_keys keys, gpuscan_type type, uint64_t i, uint64_t count) {
    static const unsigned words[] = {1, 3, 9, 15};
    uint64_t              ones = sort_ones(type), x = test_random(), step = ones / (count ? count : 1);
    unsigned              k;
    switch (keys) {
    case KEYS_EQUAL: return 0x5a5a5a5a5a5a5a5a & ones;
    case KEYS_TWO: return (x & 1 ? 0x7a5a5a5a5a5a5a5a : 0x3c3c3c3c3c3c3c3c) & ones;
    case KEYS_SORTED: return step ? i * step : i * (ones + 1) / count;
    case KEYS_REVERSED: return ones - (step ? i * step : i * (ones + 1) / count);
    case KEYS_AND_1:
    case KEYS_AND_3:
    case KEYS_AND_9:
    case KEYS_AND_15:
        for (k = 0; k < words[keys - KEYS_AND_1]; k++)
            x &= test_random();
        return x & ones;
    case KEYS_FEW: return x & 15;
    case KEYS_GAP: return (x | 0xff0000) & ones;
    case KEYS_SPECIAL: return sort_special(type);
    default: return x & ones;
    }
}

/* Returns the code by which keys are compared, as the header documents it. */
static inline uint64_t sort_code(gpuscan_type type, uint64_t key, int descending) {
    uint64_t ones = sort_ones(type), sign = ones ^ ones >> 1, code = key;
    double   value;
    if (ref_is_float(type)) {
        value = ref_load(type, &key, 0).real; /* little-endian, as all hosts of these tests are */
        if (isnan(value))
            return ones;
        code = value == 0 ? sign : key & sign ? ~key & ones : key | sign;
    } else if (ref_is_signed(type)) {
        code = key ^ sign;
    }
    return descending ? ~code & ones : code;
}

/* Returns whether key b comes before key a, which precedes it in src. Keys with all bits are compared as numbers. */
static inline int sort_before(const sort_case *c, gpuscan_type type, const unsigned char *keys, uint64_t a,
                              uint64_t b) {
    size_t   size = ref_size(type);
    uint64_t x = 0, y = 0, mask;
    uint32_t bits = (uint32_t)(8 * size), end = c->bit_end ? c->bit_end : bits;
    memcpy(&x, keys + a * size, size);
    memcpy(&y, keys + b * size, size);
    if (c->bit_begin == 0 && end == bits) {
        ref_value v = ref_load(type, keys, a), w = ref_load(type, keys, b);
        if (ref_is_float(type) && (isnan(v.real) || isnan(w.real)))
            return isnan(v.real) && !isnan(w.real);
        return c->descending ? ref_less(type, v, w) : ref_less(type, w, v);
    }
    mask = (end - c->bit_begin == 64 ? ~UINT64_C(0) : (UINT64_C(1) << (end - c->bit_begin)) - 1) << c->bit_begin;
    return (sort_code(type, y, c->descending) & mask) < (sort_code(type, x, c->descending) & mask);
}

/* Returns the order by a stable merge sort: an element passes an earlier one only if its key is less. */
static inline uint64_t *sort_order(const sort_case *c, gpuscan_type type, const unsigned char *keys, uint64_t count) {
    uint64_t *from = (uint64_t *)test_alloc(count * sizeof *from), *to = (uint64_t *)test_alloc(count * sizeof *to);
    uint64_t *swap, run, begin, i;
    for (i = 0; i < count; i++)
        from[i] = i;
    for (run = 1; run < count; run *= 2) {
        for (begin = 0; begin < count; begin += 2 * run) {
            uint64_t middle = begin + run < count ? begin + run : count, a = begin, b = middle;
            uint64_t end = middle + run < count ? middle + run : count;
            for (i = begin; i < end; i++)
                to[i] = b == end || (a < middle && !sort_before(c, type, keys, from[a], from[b])) ? from[a++]
                                                                                                  : from[b++];
        }
        swap = from;
        from = to;
        to = swap;
    }
    free(to);
    return from;
}

/* Makes the elements, and their order. */
static inline void sort_data(sort_set *s) {
    const sort_case   *c = &s->c;
    const sort_custom *custom = c->custom ? &sort_customs[c->custom - 1] : NULL;
    size_t             size = ref_size(s->key_type);
    unsigned char     *keys = (unsigned char *)test_alloc(c->count * size);
    uint64_t           i, key;
    unsigned           k;
    s->data = (unsigned char *)test_alloc(c->count * s->size);
    test_random_bytes(s->data, (size_t)c->count * s->size);
    for (i = 0; i < c->count; i++) {
        key = custom ? custom->key(s->data + i * s->size, i) : sort_key(c->keys, s->key_type, i, c->count);
        memcpy(keys + i * size, &key, size);
    }
    if (!custom)
        memcpy(s->data, keys, (size_t)c->count * size);
    for (k = 0; k < s->payload_count; k++) {
        s->payload_data[k] = (unsigned char *)test_alloc(c->count * c->sizes[k]);
        test_random_bytes(s->payload_data[k], (size_t)c->count * c->sizes[k]);
    }
    s->order = sort_order(c, s->key_type, keys, s->sorted);
    free(keys);
}

static inline void *sort_set_up(const void *given) {
    sort_set    *s = (sort_set *)test_alloc(sizeof *s);
    sort_case   *c = &s->c;
    cl_mem_flags in;
    unsigned     k;
    memset(s, 0, sizeof *s);
    *c = *(const sort_case *)given;
    in = c->may_destroy ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY;
    s->key_type = c->custom ? sort_customs[c->custom - 1].key_type : c->type ? c->type : GPUSCAN_TYPE_U32;
    s->size = c->custom ? sort_customs[c->custom - 1].custom.size : ref_size(s->key_type);
    s->sorted = c->count_type && c->device_count < c->count ? c->device_count : c->count;
    while (s->payload_count < GPUSCAN_MAX_PAYLOADS && c->sizes[s->payload_count])
        s->payload_count++;
    sort_data(s);
    s->src = test_buffer_new(c->in_place ? CL_MEM_READ_WRITE : in, s->size, c->count);
    s->dst = test_buffer_new(CL_MEM_READ_WRITE, s->size, c->count);
    s->permutation = test_buffer_new(CL_MEM_READ_WRITE, ref_size(c->index_type ? c->index_type : GPUSCAN_TYPE_U32),
                                     c->count);
    for (k = 0; k < s->payload_count; k++) {
        s->payload_src[k] = test_buffer_new(c->payloads_in_place ? CL_MEM_READ_WRITE : in, c->sizes[k], c->count);
        if (!c->payloads_in_place)
            s->payload_dst[k] = test_buffer_new(CL_MEM_READ_WRITE, c->sizes[k], c->count);
        s->payloads[k].size = c->sizes[k];
    }
    s->d.count = c->count;
    s->d.key_type = c->custom ? s->key_type : c->type;
    s->d.descending = c->descending;
    s->d.bit_begin = c->bit_begin;
    s->d.bit_end = c->bit_end;
    s->d.payloads = s->payload_count ? s->payloads : NULL;
    s->d.payload_count = s->payload_count;
    s->d.index_type = c->index_type;
    s->d.may_destroy_src = c->may_destroy;
    s->d.custom = c->custom ? &sort_customs[c->custom - 1].custom : NULL;
    s->number = test_count_buffer(c->count_type, c->device_count);
    s->d.count_buffer = s->number.at;
    s->d.count_type = c->count_type;
    return s;
}

/* Checks an output: data's elements in order, behind them the former contents. */
static inline void sort_check(const sort_set *s, test_buffer *buffer, size_t size, const unsigned char *before,
                              const unsigned char *data, int ran) {
    unsigned char *wanted = (unsigned char *)test_alloc(s->c.count * size);
    uint64_t       i;
    memcpy(wanted, before, (size_t)s->c.count * size);
    for (i = 0; i < s->sorted && ran; i++)
        memcpy(wanted + i * size, data + s->order[i] * size, size);
    test_same_bytes(test_buffer_get(buffer), wanted, size, s->c.count);
    free(wanted);
}

static inline unsigned char *sort_before_call(const test_buffer *buffer, uint64_t count) {
    unsigned char *copy = (unsigned char *)test_alloc(count * buffer->element);
    memcpy(copy, buffer->host + buffer->at.offset * buffer->element, (size_t)count * buffer->element);
    return copy;
}

static inline void name_sort(const sort_set *s, gpuscan_strategy strategy) {
    static const char *const names[KEYS_COUNT] = {"random", "equal", "two",   "sorted", "reversed", "and 1",
                                                  "and 3",  "and 9", "and 15", "few",   "gap",    "special"};
    const sort_case         *c = &s->c;
    test_case("%s sort of %" PRIu64 " %s %s by %s, %s, bits %u to %u, %u payloads of %u %u %u, offsets %" PRIu64
              " %" PRIu64 "%s%s%s%s%s, device count %" PRIu64 " (%s), %s",
              c->descending ? "descending" : "ascending", c->count, names[c->keys], test_type_name(s->key_type),
              c->custom ? sort_customs[c->custom - 1].name : "value", test_strategy_name(strategy),
              (unsigned)c->bit_begin, (unsigned)c->bit_end, s->payload_count, (unsigned)c->sizes[0],
              (unsigned)c->sizes[1], (unsigned)c->sizes[2], c->src_offset, c->dst_offset,
              c->no_dst ? ", no dst" : "", c->in_place ? ", in place" : "",
              c->payloads_in_place ? ", payloads in place" : "", c->has_permutation ? ", permutation" : "",
              c->may_destroy ? ", src destroyed" : "", c->device_count,
              c->count_type ? test_type_name(c->count_type) : "none",
              c->scratch ? "scratch of its own" : "the object's scratch");
}

static inline int sort_run(void *set, gpuscan_strategy strategy) {
    sort_set       *s = (sort_set *)set;
    const sort_case *c = &s->c;
    gpuscan_result   query = GPUSCAN_SUCCESS;
    uint64_t         scratch = 0, i;
    unsigned char   *dst_before, *payload_before[GPUSCAN_MAX_PAYLOADS], *indices, *wanted;
    size_t           index_size = s->permutation.element;
    unsigned         k;
    int              ran;
    name_sort(s, strategy);
    test_buffer_set(&s->src, c->src_offset, c->count, s->data);
    test_buffer_set(&s->dst, c->dst_offset, c->count, NULL);
    test_buffer_set(&s->permutation, c->permutation_offset, c->count, NULL);
    dst_before = sort_before_call(c->in_place ? &s->src : &s->dst, c->count);
    indices = sort_before_call(&s->permutation, c->count);
    for (k = 0; k < s->payload_count; k++) {
        test_buffer *to = c->payloads_in_place ? &s->payload_src[k] : &s->payload_dst[k];
        test_buffer_set(&s->payload_src[k], c->payload_offset, c->count, s->payload_data[k]);
        if (!c->payloads_in_place)
            test_buffer_set(to, c->payload_offset + k, c->count, NULL);
        payload_before[k] = sort_before_call(to, c->count);
        s->payloads[k].src = s->payload_src[k].at;
        s->payloads[k].dst = to->at;
    }
    s->d.src = s->src.at;
    if (!c->no_dst)
        s->d.dst = c->in_place ? s->src.at : s->dst.at;
    if (c->has_permutation)
        s->d.permutation = s->permutation.at;
    s->d.call.strategy = strategy;
    if (c->scratch)
        query = gpuscan_sort_scratch_size(test.gs, &s->d, &scratch);
    test_extras_begin(&s->extras, &s->d.call, c->scratch, c->events, query, scratch);
    ran = test_sort_ran(&s->d);
    test_extras_end(&s->extras, &s->d.call, ran);
    if (!c->no_dst)
        sort_check(s, c->in_place ? &s->src : &s->dst, s->size, dst_before, s->data, ran);
    if (c->no_dst || c->in_place)
        test_buffer_untouched(&s->dst);
    if ((!c->in_place || c->no_dst) && (!c->may_destroy || !ran))
        test_same_bytes(test_buffer_get(&s->src), s->data, s->size, c->count);
    for (k = 0; k < s->payload_count; k++) {
        sort_check(s, c->payloads_in_place ? &s->payload_src[k] : &s->payload_dst[k], c->sizes[k], payload_before[k],
                   s->payload_data[k], ran);
        if (!c->payloads_in_place && (!c->may_destroy || !ran))
            test_same_bytes(test_buffer_get(&s->payload_src[k]), s->payload_data[k], c->sizes[k], c->count);
        free(payload_before[k]);
    }
    wanted = (unsigned char *)test_alloc(c->count * index_size);
    memcpy(wanted, indices, (size_t)c->count * index_size);
    for (i = 0; i < s->sorted && ran && c->has_permutation; i++)
        memcpy(wanted + i * index_size, &s->order[i], index_size);
    test_same_bytes(test_buffer_get(&s->permutation), wanted, index_size, c->count);
    free(wanted);
    free(dst_before);
    free(indices);
    return ran;
}

static inline void sort_take_down(void *set) {
    sort_set *s = (sort_set *)set;
    unsigned  k;
    for (k = 0; k < s->payload_count; k++) {
        test_buffer_free(&s->payload_src[k]);
        if (!s->c.payloads_in_place)
            test_buffer_free(&s->payload_dst[k]);
        free(s->payload_data[k]);
    }
    test_buffer_free(&s->src);
    test_buffer_free(&s->dst);
    test_buffer_free(&s->permutation);
    test_buffer_free(&s->number);
    free(s->data);
    free(s->order);
    free(s);
}

static inline void code_sort_case(const void *given) {
    const sort_case *c = (const sort_case *)given;
    const code_field fields[] = {{"type", CODE_TYPE, "", c->type},
                                 {"count", CODE_NUMBER, "", c->count},
                                 {"custom", CODE_NUMBER, "", (uint64_t)c->custom},
                                 {"keys", CODE_CAST, "(sort_keys)", c->keys},
                                 {"descending", CODE_NUMBER, "", (uint64_t)c->descending},
                                 {"bit_begin", CODE_NUMBER, "", c->bit_begin},
                                 {"bit_end", CODE_NUMBER, "", c->bit_end},
                                 {"sizes[0]", CODE_NUMBER, "", c->sizes[0]},
                                 {"sizes[1]", CODE_NUMBER, "", c->sizes[1]},
                                 {"sizes[2]", CODE_NUMBER, "", c->sizes[2]},
                                 {"sizes[3]", CODE_NUMBER, "", c->sizes[3]},
                                 {"sizes[4]", CODE_NUMBER, "", c->sizes[4]},
                                 {"sizes[5]", CODE_NUMBER, "", c->sizes[5]},
                                 {"sizes[6]", CODE_NUMBER, "", c->sizes[6]},
                                 {"sizes[7]", CODE_NUMBER, "", c->sizes[7]},
                                 {"no_dst", CODE_NUMBER, "", (uint64_t)c->no_dst},
                                 {"in_place", CODE_NUMBER, "", (uint64_t)c->in_place},
                                 {"payloads_in_place", CODE_NUMBER, "", (uint64_t)c->payloads_in_place},
                                 {"has_permutation", CODE_NUMBER, "", (uint64_t)c->has_permutation},
                                 {"may_destroy", CODE_NUMBER, "", (uint64_t)c->may_destroy},
                                 {"index_type", CODE_TYPE, "", c->index_type},
                                 {"src_offset", CODE_NUMBER, "", c->src_offset},
                                 {"dst_offset", CODE_NUMBER, "", c->dst_offset},
                                 {"payload_offset", CODE_NUMBER, "", c->payload_offset},
                                 {"permutation_offset", CODE_NUMBER, "", c->permutation_offset},
                                 {"device_count", CODE_NUMBER, "", c->device_count},
                                 {"count_type", CODE_TYPE, "", c->count_type},
                                 {"scratch", CODE_CAST, "(test_scratch_choice)", c->scratch},
                                 {"events", CODE_NUMBER, "", (uint64_t)c->events}};
    code_fields("c", fields, sizeof fields / sizeof *fields);
}

static const test_operation sorts = {"sorts", "sort_case", sort_set_up, sort_run, sort_take_down, code_sort_case};

#endif /* TEST_SORTS_H */
