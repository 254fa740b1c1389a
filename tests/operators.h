/* Custom types and operators: each as text for the device and as a function for the host. */
#ifndef TEST_OPERATORS_H
#define TEST_OPERATORS_H

#include "harness.h"

typedef struct test_operator {
    const char    *name;
    gpuscan_type   type; /* CUSTOM, or the builtin type of its operands */
    gpuscan_custom custom;
    ref_operator   combine;
    const void    *identity;
    void (*fill)(void *data, uint64_t count); /* fills valid elements */
} test_operator;

/* ---- 2x2 matrices of integers: does not commute ------------------------------------------------------------------ */

typedef struct op_matrix {
    uint32_t m[4];
} op_matrix;

static inline void op_matrix_combine(const void *x, const void *y, void *z) {
    const op_matrix *a = (const op_matrix *)x, *b = (const op_matrix *)y;
    op_matrix        c;
    c.m[0] = a->m[0] * b->m[0] + a->m[1] * b->m[2];
    c.m[1] = a->m[0] * b->m[1] + a->m[1] * b->m[3];
    c.m[2] = a->m[2] * b->m[0] + a->m[3] * b->m[2];
    c.m[3] = a->m[2] * b->m[1] + a->m[3] * b->m[3];
    memcpy(z, &c, sizeof c);
}

/* Matrices of determinant 1, so that no product loses information: (1 x; 0 1) or (1 0; x 1). */
static inline void op_matrix_fill(void *data, uint64_t count) {
    op_matrix *a = (op_matrix *)data;
    uint64_t   i, r;
    for (i = 0; i < count; i++) {
        r = test_random();
        a[i].m[0] = a[i].m[3] = 1;
        a[i].m[1] = (r & 1) != 0 ? (uint32_t)(r >> 32) : 0;
        a[i].m[2] = (r & 1) != 0 ? 0 : (uint32_t)(r >> 32);
    }
}

static const op_matrix     op_matrix_identity = {{1, 0, 0, 1}};
static const test_operator op_matrix_product = {
    "matrices",
    GPUSCAN_TYPE_CUSTOM,
    {"typedef struct { uint m[4]; } matrix;\n"
     "matrix product(matrix a, matrix b) {\n"
     "    matrix c;\n"
     "    c.m[0] = a.m[0] * b.m[0] + a.m[1] * b.m[2];\n"
     "    c.m[1] = a.m[0] * b.m[1] + a.m[1] * b.m[3];\n"
     "    c.m[2] = a.m[2] * b.m[0] + a.m[3] * b.m[2];\n"
     "    c.m[3] = a.m[2] * b.m[1] + a.m[3] * b.m[3];\n"
     "    return c;\n"
     "}\n"
     "matrix one(void) { matrix c; c.m[0] = 1; c.m[1] = 0; c.m[2] = 0; c.m[3] = 1; return c; }\n",
     "matrix", 16, "product(a, b)", "one()", NULL, NULL, NULL, NULL},
    op_matrix_combine,
    &op_matrix_identity,
    op_matrix_fill};

/* ---- the bicyclic monoid: (closing, opening) brackets left over after matching ----------------------------------- */

typedef struct op_brackets {
    uint32_t close, open;
} op_brackets;

static inline void op_brackets_combine(const void *x, const void *y, void *z) {
    const op_brackets *a = (const op_brackets *)x, *b = (const op_brackets *)y;
    uint32_t           matched = a->open < b->close ? a->open : b->close;
    op_brackets        c;
    c.close = a->close + b->close - matched;
    c.open = b->open + a->open - matched;
    memcpy(z, &c, sizeof c);
}

static inline void op_brackets_fill(void *data, uint64_t count) {
    op_brackets *a = (op_brackets *)data;
    uint64_t     i;
    for (i = 0; i < count; i++) {
        a[i].open = (uint32_t)(test_random() & 1);
        a[i].close = 1 - a[i].open;
    }
}

static const op_brackets   op_brackets_identity = {0, 0};
static const test_operator op_brackets_match = {
    "brackets",
    GPUSCAN_TYPE_CUSTOM,
    {"typedef struct { uint close, open; } brackets;\n"
     "brackets match(brackets a, brackets b) {\n"
     "    uint matched = min(a.open, b.close);\n"
     "    brackets c;\n"
     "    c.close = a.close + b.close - matched;\n"
     "    c.open = b.open + a.open - matched;\n"
     "    return c;\n"
     "}\n"
     "brackets nothing(void) { brackets c; c.close = 0; c.open = 0; return c; }\n",
     "brackets", 8, "match(a, b)", "nothing()", NULL, NULL, NULL, NULL},
    op_brackets_combine,
    &op_brackets_identity,
    op_brackets_fill};

/* ---- affine maps modulo 2^32: does not commute, and the identity is not 0 ---------------------------------------- */

typedef struct op_affine {
    uint32_t scale, shift;
} op_affine;

static inline void op_affine_combine(const void *x, const void *y, void *z) {
    const op_affine *a = (const op_affine *)x, *b = (const op_affine *)y;
    op_affine        c;
    c.scale = a->scale * b->scale;
    c.shift = a->shift * b->scale + b->shift;
    memcpy(z, &c, sizeof c);
}

static inline void op_affine_fill(void *data, uint64_t count) {
    op_affine *a = (op_affine *)data;
    uint64_t   i, r;
    for (i = 0; i < count; i++) {
        r = test_random();
        a[i].scale = (uint32_t)(r >> 32) | 1; /* odd: a bijection */
        a[i].shift = (uint32_t)(r & 0xFFFFFFFF);
    }
}

static const op_affine     op_affine_identity = {1, 0};
static const test_operator op_affine_compose = {
    "affine maps",
    GPUSCAN_TYPE_CUSTOM,
    {"typedef struct { uint scale, shift; } affine;\n"
     "affine compose(affine a, affine b) {\n"
     "    affine c;\n"
     "    c.scale = a.scale * b.scale;\n"
     "    c.shift = a.shift * b.scale + b.shift;\n"
     "    return c;\n"
     "}\n"
     "affine none(void) { affine c; c.scale = 1; c.shift = 0; return c; }\n",
     "affine", 8, "compose(a, b)", "none()", NULL, NULL, NULL, NULL},
    op_affine_combine,
    &op_affine_identity,
    op_affine_fill};

/* ---- 32 affine maps, aligned to 256 bytes; OpenCL C aligns its own types to at most 128 bytes -------------------- */

static inline void op_maps_combine(const void *x, const void *y, void *z) {
    int k;
    for (k = 0; k < 32; k++)
        op_affine_combine((const op_affine *)x + k, (const op_affine *)y + k, (op_affine *)z + k);
}

static inline void op_maps_fill(void *data, uint64_t count) {
    op_affine_fill(data, 32 * count);
}

#define OP_FOUR_NONE {1, 0}, {1, 0}, {1, 0}, {1, 0}
static const op_affine op_maps_identity[32] = {OP_FOUR_NONE, OP_FOUR_NONE, OP_FOUR_NONE, OP_FOUR_NONE,
                                               OP_FOUR_NONE, OP_FOUR_NONE, OP_FOUR_NONE, OP_FOUR_NONE};
static const test_operator op_maps_compose = {
    "aligned maps",
    GPUSCAN_TYPE_CUSTOM,
    {"typedef struct { uint2 map[32]; } __attribute__((aligned(256))) maps;\n"
     "maps compose(maps a, maps b) {\n"
     "    for (int k = 0; k < 32; k++)\n"
     "        b.map[k] = (uint2)(a.map[k].x * b.map[k].x, a.map[k].y * b.map[k].x + b.map[k].y);\n"
     "    return b;\n"
     "}\n"
     "maps none(void) { maps c; for (int k = 0; k < 32; k++) c.map[k] = (uint2)(1, 0); return c; }\n",
     "maps", 256, "compose(a, b)", "none()", NULL, NULL, NULL, NULL},
    op_maps_combine,
    op_maps_identity,
    op_maps_fill};

/* ---- runs of consecutive numbers: notices whatever is swapped, left out, taken twice or not legal ---------------- */

/* Element i is the run i..i. Two runs combine if the second begins where the first ends. Anything else becomes a spoilt
   run and stays one. The identity is a run of no numbers, unlike any other value. */
typedef struct op_run {
    uint32_t first, last;
} op_run;

static inline int op_run_is(const op_run *a, uint32_t first, uint32_t last) {
    return a->first == first && a->last == last;
}

static inline void op_run_combine(const void *x, const void *y, void *z) {
    const op_run *a = (const op_run *)x, *b = (const op_run *)y;
    op_run        c;
    if (op_run_is(a, 77, 33)) {
        c = *b;
    } else if (op_run_is(b, 77, 33)) {
        c = *a;
    } else if (a->first <= a->last && b->first <= b->last && a->last + 1 == b->first) {
        c.first = a->first;
        c.last = b->last;
    } else {
        c.first = 0xDEAD;
        c.last = 0xBAD;
    }
    memcpy(z, &c, sizeof c);
}

static inline void op_run_fill(void *data, uint64_t count) {
    op_run  *a = (op_run *)data;
    uint64_t i;
    for (i = 0; i < count; i++)
        a[i].first = a[i].last = (uint32_t)(i + 1); /* from 1: an element of zeros is not valid here */
}

static const op_run        op_run_identity = {77, 33};
static const test_operator op_run_join = {"runs",
                                          GPUSCAN_TYPE_CUSTOM,
                                          {"typedef struct { uint first, last; } run;\n"
                                           "run none(void) { run c; c.first = 77; c.last = 33; return c; }\n"
                                           "run join(run a, run b) {\n"
                                           "    run c;\n"
                                           "    if (a.first == 77 && a.last == 33) return b;\n"
                                           "    if (b.first == 77 && b.last == 33) return a;\n"
                                           "    c.first = 0xDEAD; c.last = 0xBAD;\n"
                                           "    if (a.first <= a.last && b.first <= b.last && a.last + 1 == b.first) { "
                                           "c.first = a.first; c.last = b.last; }\n"
                                           "    return c;\n"
                                           "}\n",
                                           "run", 8, "join(a, b)", "none()", NULL, NULL, NULL, NULL},
                                          op_run_combine,
                                          &op_run_identity,
                                          op_run_fill};

/* ---- marked sums in u32: a builtin type whose garbage shows ------------------------------------------------------ */

/* Valid: 0x5A in the high byte, 24 bits of a sum below. All values but these and the identity spoil the sum. */
#define OP_MARK          UINT32_C(0x5A000000)
#define OP_MARK_IDENTITY UINT32_C(0x1D1D1D1D)
#define OP_MARK_SPOILT   UINT32_C(0xBADBAD00)

static inline void op_marked_combine(const void *x, const void *y, void *z) {
    uint32_t a, b, c = OP_MARK_SPOILT;
    memcpy(&a, x, 4);
    memcpy(&b, y, 4);
    if (a == OP_MARK_IDENTITY)
        c = b;
    else if (b == OP_MARK_IDENTITY)
        c = a;
    else if ((a & 0xFF000000) == OP_MARK && (b & 0xFF000000) == OP_MARK)
        c = OP_MARK | ((a + b) & 0xFFFFFF);
    memcpy(z, &c, 4);
}

static inline void op_marked_fill(void *data, uint64_t count) {
    uint32_t *a = (uint32_t *)data;
    uint64_t  i;
    for (i = 0; i < count; i++)
        a[i] = OP_MARK | (uint32_t)(test_random() & 0xFFFFFF);
}

static const uint32_t      op_marked_identity = OP_MARK_IDENTITY;
static const test_operator op_marked_sum = {
    "marked sums",
    GPUSCAN_TYPE_U32,
    {"uint marked(uint a, uint b) {\n"
     "    if (a == 0x1D1D1D1Du) return b;\n"
     "    if (b == 0x1D1D1D1Du) return a;\n"
     "    if ((a & 0xFF000000u) != 0x5A000000u || (b & 0xFF000000u) != 0x5A000000u) return 0xBADBAD00u;\n"
     "    return 0x5A000000u | ((a + b) & 0xFFFFFFu);\n"
     "}\n",
     NULL, 0, "marked(a, b)", "0x1D1D1D1Du", NULL, NULL, NULL, NULL},
    op_marked_combine,
    &op_marked_identity,
    op_marked_fill};

/* ---- sums with the identity 7, on a builtin type and without declarations ---------------------------------------- */

static inline void op_seven_combine(const void *x, const void *y, void *z) {
    uint64_t a, b;
    memcpy(&a, x, 8);
    memcpy(&b, y, 8);
    a = a + b - 7;
    memcpy(z, &a, 8);
}

static inline void op_seven_fill(void *data, uint64_t count) {
    test_random_bytes(data, (size_t)count * 8);
}

static const uint64_t      op_seven_identity = 7;
static const test_operator op_seven_sum = {
    "sums less seven", GPUSCAN_TYPE_U64,   {NULL, NULL, 0, "a + b - 7", "7", NULL, NULL, NULL, NULL},
    op_seven_combine,  &op_seven_identity, op_seven_fill};

/* ---- types of 1, 3, 12 and 40 bytes; none of their operators commutes -------------------------------------------- */

/* Keeps the last element that is not 0. */
static inline void op_last_combine(const void *x, const void *y, void *z) {
    const unsigned char *a = (const unsigned char *)x, *b = (const unsigned char *)y;
    *(unsigned char *)z = *b ? *b : *a;
}

static inline void op_last_fill(void *data, uint64_t count) {
    unsigned char *a = (unsigned char *)data;
    uint64_t       i, r;
    for (i = 0; i < count; i++) {
        r = test_random();
        a[i] = (r & 7) < 5 ? 0 : (unsigned char)(r >> 56);
    }
}

static const unsigned char op_last_identity = 0;
static const test_operator op_last = {"1 byte",
                                      GPUSCAN_TYPE_CUSTOM,
                                      {"typedef struct { uchar v; } last;\n"
                                       "last pick(last a, last b) { return b.v ? b : a; }\n"
                                       "last none(void) { last c; c.v = 0; return c; }\n",
                                       "last", 1, "pick(a, b)", "none()", NULL, NULL, NULL, NULL},
                                      op_last_combine,
                                      &op_last_identity,
                                      op_last_fill};

/* Affine maps modulo 256, with their number. */
static inline void op_three_combine(const void *x, const void *y, void *z) {
    const unsigned char *a = (const unsigned char *)x, *b = (const unsigned char *)y;
    unsigned char        c[3];
    c[0] = (unsigned char)((a[0] * b[0]) & 255);
    c[1] = (unsigned char)((a[1] * b[0] + b[1]) & 255);
    c[2] = (unsigned char)((a[2] + b[2]) & 255);
    memcpy(z, c, 3);
}

static inline void op_three_fill(void *data, uint64_t count) {
    unsigned char *a = (unsigned char *)data;
    uint64_t       i;
    test_random_bytes(data, (size_t)(3 * count));
    for (i = 0; i < count; i++) {
        a[3 * i] |= 1;
        a[3 * i + 2] = 1;
    }
}

static const unsigned char op_three_identity[3] = {1, 0, 0};
static const test_operator op_three = {"3 bytes",
                                       GPUSCAN_TYPE_CUSTOM,
                                       {"typedef struct { uchar v[3]; } three;\n"
                                        "three compose(three a, three b) {\n"
                                        "    three c;\n"
                                        "    c.v[0] = (uchar)(a.v[0] * b.v[0]);\n"
                                        "    c.v[1] = (uchar)(a.v[1] * b.v[0] + b.v[1]);\n"
                                        "    c.v[2] = (uchar)(a.v[2] + b.v[2]);\n"
                                        "    return c;\n"
                                        "}\n",
                                        "three", 3, "compose(a, b)", "(three){{1}}", NULL, NULL, NULL, NULL},
                                       op_three_combine,
                                       &op_three_identity,
                                       op_three_fill};

/* The same in three u32. */
static inline void op_twelve_combine(const void *x, const void *y, void *z) {
    const uint32_t *a = (const uint32_t *)x, *b = (const uint32_t *)y;
    uint32_t        c[3];
    c[0] = a[0] * b[0];
    c[1] = a[1] * b[0] + b[1];
    c[2] = a[2] + b[2];
    memcpy(z, c, 12);
}

static inline void op_twelve_fill(void *data, uint64_t count) {
    uint32_t *a = (uint32_t *)data;
    uint64_t  i;
    test_random_bytes(data, (size_t)(12 * count));
    for (i = 0; i < count; i++) {
        a[3 * i] |= 1;
        a[3 * i + 2] = 1;
    }
}

static const uint32_t      op_twelve_identity[3] = {1, 0, 0};
static const test_operator op_twelve = {
    "12 bytes",
    GPUSCAN_TYPE_CUSTOM,
    {"typedef struct { uint scale, shift, count; } twelve;\n"
     "twelve compose(twelve a, twelve b) {\n"
     "    twelve c;\n"
     "    c.scale = a.scale * b.scale;\n"
     "    c.shift = a.shift * b.scale + b.shift;\n"
     "    c.count = a.count + b.count;\n"
     "    return c;\n"
     "}\n"
     "twelve none(void) { twelve c; c.scale = 1; c.shift = 0; c.count = 0; return c; }\n",
     "twelve", 12, "compose(a, b)", "none()", NULL, NULL, NULL, NULL},
    op_twelve_combine,
    &op_twelve_identity,
    op_twelve_fill};

/* 2x2 matrices of u64, with their number. */
static inline void op_forty_combine(const void *x, const void *y, void *z) {
    const uint64_t *a = (const uint64_t *)x, *b = (const uint64_t *)y;
    uint64_t        c[5];
    c[0] = a[0] * b[0] + a[1] * b[2];
    c[1] = a[0] * b[1] + a[1] * b[3];
    c[2] = a[2] * b[0] + a[3] * b[2];
    c[3] = a[2] * b[1] + a[3] * b[3];
    c[4] = a[4] + b[4];
    memcpy(z, c, 40);
}

static inline void op_forty_fill(void *data, uint64_t count) {
    uint64_t *a = (uint64_t *)data, i, r;
    for (i = 0; i < count; i++, a += 5) {
        r = test_random();
        a[0] = a[3] = a[4] = 1;
        a[1] = (r & 1) != 0 ? r : 0;
        a[2] = (r & 1) != 0 ? 0 : r;
    }
}

static const uint64_t      op_forty_identity[5] = {1, 0, 0, 1, 0};
static const test_operator op_forty = {
    "40 bytes",
    GPUSCAN_TYPE_CUSTOM,
    {"typedef struct { ulong m[4], count; } forty;\n"
     "forty product(forty a, forty b) {\n"
     "    forty c;\n"
     "    c.m[0] = a.m[0] * b.m[0] + a.m[1] * b.m[2];\n"
     "    c.m[1] = a.m[0] * b.m[1] + a.m[1] * b.m[3];\n"
     "    c.m[2] = a.m[2] * b.m[0] + a.m[3] * b.m[2];\n"
     "    c.m[3] = a.m[2] * b.m[1] + a.m[3] * b.m[3];\n"
     "    c.count = a.count + b.count;\n"
     "    return c;\n"
     "}\n",
     "forty", 40, "product(a, b)", "(forty){{1, 0, 0, 1}}", NULL, NULL, NULL, NULL},
    op_forty_combine,
    &op_forty_identity,
    op_forty_fill};

/* ---- two such matrices, side by side: 32 bytes ------------------------------------------------------------------- */

static inline void op_matrices_combine(const void *x, const void *y, void *z) {
    const op_matrix *a = (const op_matrix *)x, *b = (const op_matrix *)y;
    op_matrix       *c = (op_matrix *)z;
    op_matrix_combine(a, b, c);
    op_matrix_combine(a + 1, b + 1, c + 1);
}

static inline void op_matrices_fill(void *data, uint64_t count) {
    op_matrix_fill(data, 2 * count);
}

/* Several such matrices as a custom type: words and bytes in all. */
#define OP_MATRICES(words, bytes)                                                                                      \
    {                                                                                                                  \
        "typedef struct { uint m[" #words "]; } matrices;\n"                                                           \
        "matrices products(matrices a, matrices b) {\n"                                                                \
        "    matrices c;\n"                                                                                            \
        "    for (int k = 0; k < " #words "; k += 4) {\n"                                                              \
        "        c.m[k] = a.m[k] * b.m[k] + a.m[k + 1] * b.m[k + 2];\n"                                                \
        "        c.m[k + 1] = a.m[k] * b.m[k + 1] + a.m[k + 1] * b.m[k + 3];\n"                                        \
        "        c.m[k + 2] = a.m[k + 2] * b.m[k] + a.m[k + 3] * b.m[k + 2];\n"                                        \
        "        c.m[k + 3] = a.m[k + 2] * b.m[k + 1] + a.m[k + 3] * b.m[k + 3];\n"                                    \
        "    }\n"                                                                                                      \
        "    return c;\n"                                                                                              \
        "}\n"                                                                                                          \
        "matrices ones(void) {\n"                                                                                      \
        "    matrices c; for (int k = 0; k < " #words "; k++) c.m[k] = k % 4 % 3 == 0; return c; }\n",                 \
        "matrices", bytes, "products(a, b)", "ones()", NULL, NULL, NULL, NULL                                          \
    }

static const op_matrix     op_matrices_identity[4] = {{{1, 0, 0, 1}}, {{1, 0, 0, 1}}, {{1, 0, 0, 1}}, {{1, 0, 0, 1}}};
static const test_operator op_matrices_product = {"pairs of matrices", GPUSCAN_TYPE_CUSTOM,  OP_MATRICES(8, 32),
                                                  op_matrices_combine, op_matrices_identity, op_matrices_fill};

/* ---- four of them, 64 bytes; and a vector of 64-bit numbers ------------------------------------------------------ */

static inline void op_more_matrices_combine(const void *x, const void *y, void *z) {
    const op_matrix *a = (const op_matrix *)x, *b = (const op_matrix *)y;
    op_matrices_combine(a, b, z);
    op_matrices_combine(a + 2, b + 2, (op_matrix *)z + 2);
}

static inline void op_more_matrices_fill(void *data, uint64_t count) {
    op_matrix_fill(data, 4 * count);
}

static const test_operator op_more_matrices_product = {
    "four matrices",          GPUSCAN_TYPE_CUSTOM,  OP_MATRICES(16, 64),
    op_more_matrices_combine, op_matrices_identity, op_more_matrices_fill};

static inline void op_vector_combine(const void *x, const void *y, void *z) {
    const uint64_t *a = (const uint64_t *)x, *b = (const uint64_t *)y;
    uint64_t        c[2];
    c[0] = a[0] * b[0];
    c[1] = a[1] * b[0] + b[1];
    memcpy(z, c, 16);
}

static inline void op_vector_fill(void *data, uint64_t count) {
    uint64_t *a = (uint64_t *)data, i;
    for (i = 0; i < 2 * count; i++)
        a[i] = test_random() | 1;
}

static const uint64_t      op_vector_identity[2] = {1, 0};
static const test_operator op_vector_compose = {
    "vectors",
    GPUSCAN_TYPE_CUSTOM,
    {NULL, "ulong2", 16, "(ulong2)(a.x * b.x, a.y * b.x + b.y)", "(ulong2)(1, 0)", NULL, NULL, NULL, NULL},
    op_vector_combine,
    op_vector_identity,
    op_vector_fill};

static inline size_t test_operator_size(const test_operator *op) {
    return op->type == GPUSCAN_TYPE_CUSTOM ? op->custom.size : ref_size(op->type);
}

/* Gives what a scan or a reduction starts with: the identity, or an init that changes the result. */
static inline void test_operator_start(const test_operator *custom, int with_init, void *start) {
    memcpy(start, custom->identity, test_operator_size(custom));
    if (with_init)
        custom->fill(start, 1);
    if (with_init && custom == &op_run_join) /* a run joins the run that begins behind it, here the first element */
        memset(start, 0, test_operator_size(custom));
}

/* Returns an operator's name in C. */
static inline const char *test_operator_symbol(const test_operator *op) {
#define OPERATOR(symbol) {#symbol, &symbol}
    static const struct {
        const char          *symbol;
        const test_operator *op;
    } all[] = {OPERATOR(op_matrix_product),        OPERATOR(op_brackets_match), OPERATOR(op_affine_compose),
               OPERATOR(op_run_join),              OPERATOR(op_marked_sum),     OPERATOR(op_seven_sum),
               OPERATOR(op_last),                  OPERATOR(op_three),          OPERATOR(op_twelve),
               OPERATOR(op_forty),                 OPERATOR(op_matrices_product),
               OPERATOR(op_more_matrices_product), OPERATOR(op_vector_compose), OPERATOR(op_maps_compose)};
#undef OPERATOR
    size_t i;
    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].op == op)
            return all[i].symbol;
    return "unknown";
}

/* Rows of a code_field table that cases of scans, reductions and uniform adds share. */
#define CODE_CASE_FIELDS(c)                                                                                            \
    {"device_count", CODE_NUMBER, "", (c)->device_count}, {"count_type", CODE_TYPE, "", (c)->count_type},              \
        {"filling", CODE_CAST, "(test_filling)", (c)->filling},                                                        \
        {"converts", CODE_NUMBER, "", (uint64_t)(c)->converts},                                                        \
        {"scratch", CODE_CAST, "(test_scratch_choice)", (c)->scratch},                                                 \
        {"events", CODE_NUMBER, "", (uint64_t)(c)->events}

static inline void code_operator(const test_operator *op) {
    if (op)
        code_add("    c.custom = &%s;\n", test_operator_symbol(op));
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

typedef enum test_init { INIT_NONE = 0, INIT_HOST, INIT_DEVICE } test_init;

/* The elements' values. Results stay exact in whatever order they are combined. */
typedef enum test_filling {
    FILL_TELLING = 0, /* those of test_fill or test_fill_pair */
    FILL_EQUAL,
    FILL_EXTREME, /* integers: the ends of the type; floats: far from 1, and for MIN and MAX infinities and NaN */
    FILL_NAN,     /* MIN and MAX of floats: only NaN, also as init; otherwise FILL_TELLING */
    FILL_COUNT
} test_filling;

/* Fills data: for two integer types as test_fill does, otherwise with small numbers in the range of both. Those of a
   float source have fractions, except for MUL. */
static inline void test_fill_pair(gpuscan_type from, gpuscan_type to, gpuscan_op op, void *data, uint64_t count) {
    int       is_signed = ref_kind(to) != REF_UNSIGNED && ref_kind(from) != REF_UNSIGNED;
    uint64_t  i;
    ref_value v;
    if (!ref_is_float(from) && !ref_is_float(to)) {
        test_fill(from, op, data, count);
        return;
    }
    for (i = 0; i < count; i++) {
        if (op == GPUSCAN_OP_MUL) /* 10 factors */
            v.real = i * 10 / count != (i + 1) * 10 / count ? 2 : is_signed && test_below(2) ? -1 : 1;
        else
            v.real = (double)test_below(400) / 4 - (is_signed ? 50 : 0);
        ref_store(from, data, i, ref_is_float(from) ? v : ref_bits((uint64_t)(int64_t)v.real));
    }
}

/* Returns the unit of extreme values. Sums: small multiples of it. Products: it and its inverse, once each, so that no
   choice of elements overflows. */
static inline double test_extreme_unit(gpuscan_type type, gpuscan_op op) {
    int exponent = type == GPUSCAN_TYPE_F16 ? 12 : type == GPUSCAN_TYPE_F32 ? 60 : 500;
    return ldexp(1, op == GPUSCAN_OP_ADD && type != GPUSCAN_TYPE_F16 ? exponent * 5 / 3 : exponent);
}

static inline void test_fill_extreme(gpuscan_type type, gpuscan_op op, void *data, uint64_t count) {
    const double   ends[] = {(double)INFINITY, -(double)INFINITY, (double)NAN, 65504, -65504, 0, -0.0, ldexp(1, -14)};
    const uint64_t small[] = {0, 1, 2, ~UINT64_C(0), ~UINT64_C(1)};
    double         unit = test_extreme_unit(type, op);
    uint64_t       large = test_below(count + 1), i, r;
    ref_value      v;
    for (i = 0; i < count; i++) {
        r = test_below(8);
        if (!ref_is_float(type))
            v = r < 5 ? ref_bits(small[r]) : r == 5 ? ref_smallest(type) : ref_largest(type);
        else if (op == GPUSCAN_OP_ADD)
            v.real = unit * ((double)r - (r < 4 ? 4 : 3));
        else if (op == GPUSCAN_OP_MUL)
            v.real = (i == large ? unit : i == count / 2 ? 1 / unit : 1) * (r % 2 ? 1 : -1);
        else
            v.real = ends[r];
        ref_store(type, data, i, v);
    }
}

static inline int test_is_nan(test_filling filling, gpuscan_type from, gpuscan_type to, gpuscan_op op) {
    return filling == FILL_NAN && ref_is_float(from) && ref_is_float(to) &&
           (ref_op_kind(op) & (REF_EXTREME | REF_ARG)) != 0;
}

/* Fills elements of a type that are converted to another, or of a custom operator. ARGMIN and ARGMAX fill as MIN. */
static inline void test_fill_as(test_filling filling, const test_operator *custom, gpuscan_type from, gpuscan_type to,
                                gpuscan_op op, void *data, uint64_t count) {
    size_t   size = custom ? test_operator_size(custom) : ref_size(from);
    int      is_nan = !custom && test_is_nan(filling, from, to, op);
    uint64_t i, made = (is_nan || filling == FILL_EQUAL) && count > 1 ? 1 : count;
    if (custom)
        custom->fill(data, made);
    else if (is_nan && count > 0)
        ref_store(from, data, 0, ref_real((double)NAN));
    else if (filling == FILL_EXTREME && (from == to || (!ref_is_float(from) && !ref_is_float(to))))
        test_fill_extreme(from, ref_op_kind(op) == REF_ARG ? GPUSCAN_OP_MIN : op, data, made);
    else if (from == to)
        test_fill(from, op, data, made);
    else
        test_fill_pair(from, to, op, data, made);
    for (i = made; i < count; i++)
        memcpy((unsigned char *)data + (size_t)i * size, data, size);
}

/* Returns what a scan or a reduction of such elements starts with, given an init or not. */
static inline ref_value test_start(test_filling filling, gpuscan_type from, gpuscan_type to, gpuscan_op op,
                                   int with_init) {
    if (!with_init)
        return ref_identity(to, op);
    if (test_is_nan(filling, from, to, op))
        return ref_real((double)NAN);
    if (filling == FILL_EXTREME && from == to && ref_is_float(to) && op == GPUSCAN_OP_ADD)
        return ref_real(-7 * test_extreme_unit(to, op));
    if (filling == FILL_EQUAL && ref_is_float(to) && op == GPUSCAN_OP_MUL) /* they overflow with any init */
        return ref_real(-2);
    return test_init_value(to, op);
}

/* A conversion that uses both of its variables and keeps results exact; and its effect on a row. */
static const gpuscan_custom test_conversion = {NULL, NULL, 0, NULL, NULL, "i % 3 == 1 ? 1 : x", NULL, NULL, NULL};

/* The same conversion by values of the call. */
static const gpuscan_custom test_conversion_by_values = {
    "struct values { uint pad, step; };\n", NULL, 0, NULL, NULL, "i % values->step == 1 ? 1 : x", NULL, NULL, NULL};
static const uint32_t test_conversion_values[2] = {0, 3};

/* The same conversion by a source of the call, a table of three elements. */
static const gpuscan_custom test_conversion_by_source = {
    NULL, NULL, 0, NULL, NULL, "source0[i % 3] ? 1 : x", NULL, NULL, NULL};

/* Returns the source. Its buffer lives as long as the program. */
static inline const gpuscan_source *test_conversion_source(void) {
    static gpuscan_source source;
    static const uint16_t table[5] = {1, 1, 0, 1, 0};
    if (!source.buffer.mem) {
        cl_int code = CL_SUCCESS;
        source.buffer.mem = clCreateBuffer(test.context, CL_MEM_READ_ONLY, sizeof table, NULL, &code);
        test_cl(code);
        test_cl(clEnqueueWriteBuffer(test.queue, source.buffer.mem, CL_TRUE, 0, sizeof table, table, 0, NULL, NULL));
        source.buffer.offset = 2;
        source.count = 3;
        source.type = GPUSCAN_TYPE_U16;
    }
    return &source;
}

/* Sets a call's values or sources if it needs them, and returns its conversion. converts: 0 none, 1 without values and
   sources, 2 with values, 3 with a source */
static inline const gpuscan_custom *test_conversion_of(int converts, gpuscan_call *call) {
    if (converts == 2) {
        call->values = test_conversion_values;
        call->values_size = sizeof test_conversion_values;
    }
    if (converts == 3) {
        call->sources = test_conversion_source();
        call->source_count = 1;
    }
    return converts == 3   ? &test_conversion_by_source
           : converts == 2 ? &test_conversion_by_values
           : converts      ? &test_conversion
                           : NULL;
}

static inline void test_convert(gpuscan_type type, void *row, uint64_t count) {
    uint64_t i;
    for (i = 1; i < count; i += 3)
        ref_store(type, row, i, ref_is_float(type) ? ref_real(1) : ref_bits(1));
}

#endif /* TEST_OPERATORS_H */
