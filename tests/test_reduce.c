/* gpuscan_reduce and gpuscan_reduce_host against the reference. Races show only in wrong results, or in a simulator.
      cc -O2 tests/test_reduce.c -o build/test_reduce -lcmocka -lOpenCL -lm && build/test_reduce */
#include "reductions.h"

static int check_reduce(reduce_case c) {
    return test_strategies(&reductions, &c, (int)c.strategy, (int)c.strategy);
}

static void check_all_strategies(reduce_case c) {
    test_all_strategies(&reductions, &c);
}

static void check_one_strategy(reduce_case c, gpuscan_strategy strategy) {
    test_one_strategy(&reductions, &c, strategy);
}

static void check_pair_strategy(reduce_case c) {
    check_one_strategy(c, test_pair_strategy(c.from, c.op));
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static void check_lengths(gpuscan_type type, gpuscan_strategy strategy, uint64_t last, uint64_t step) {
    size_t              size = ref_size(type);
    test_buffer         src = test_buffer_new(CL_MEM_READ_ONLY, size, last), dst = test_buffer_new(0, size, 1);
    unsigned char      *data = (unsigned char *)test_alloc(last * size);
    unsigned char      *sums = (unsigned char *)test_alloc((last + 1) * size);
    gpuscan_reduce_desc d;
    uint64_t            n;
    test_fill(type, GPUSCAN_OP_ADD, data, last);
    ref_store(type, sums, last, ref_scan(type, sums, type, data, last, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, NULL));
    test_buffer_set(&src, 3, last, data);
    memset(&d, 0, sizeof d);
    d.src = src.at;
    d.src_type = type;
    d.call.strategy = strategy;
    for (n = 0; n <= last; n += n < 70 ? 1 : step) {
        test_case("sum of %" PRIu64 " %s, %s", n, test_type_name(type), test_strategy_name(strategy));
        test_buffer_set(&dst, n % 5, 1, NULL);
        d.dst = dst.at;
        d.count = n;
        if (!test_reduce_ran(&d))
            break;
        test_same(type, test_buffer_get(&dst), sums + n * size, 1);
    }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(data);
    free(sums);
}

static void every_length(void **state) {
    int s, type;
    (void)state;
    TEST_EACH_STRATEGY(s)
        TEST_EACH_TYPE(type, REF_NUMBERS)
            if (type == GPUSCAN_TYPE_U32 || (test.is_long && test_has_type((gpuscan_type)type)))
                check_lengths((gpuscan_type)type, (gpuscan_strategy)s, test_size(600, 4097, 4097), test_size(41, 1, 1));
}

static void edges(void **state) {
    static const uint64_t odd[] = {3, 5, 6, 7, 9, 10, 12, 15};
    uint64_t              top = test_size(12, 22, 26), k, o;
    reduce_case           c = a_reduction(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, 0);
    int                   off;
    (void)state;
    for (k = 5; k <= top; k++)
        for (off = -1; off <= 1; off++) {
            c.count = (UINT64_C(1) << k) + (uint64_t)(int64_t)off;
            check_all_strategies(c);
        }
    for (k = 8; k <= (test.is_small ? 8 : 16); k += 2)
        for (o = 0; o < sizeof odd / sizeof odd[0]; o++)
            for (off = -1; off <= 1; off++) {
                c.count = (odd[o] << k) + (uint64_t)(int64_t)off;
                check_all_strategies(c);
            }
}

static void primes_and_random_lengths(void **state) {
    static const uint64_t primes[] = {4099, 7589, 12289, 16411, 32749, 65521, 65537, 131101, 262147, 786433, 1048583};
    uint64_t              i, limit = test_size(5000, UINT64_C(1) << 21, UINT64_C(1) << 24);
    reduce_case           c;
    (void)state;
    for (i = 0; i < sizeof primes / sizeof primes[0]; i++)
        if (primes[i] <= limit)
            check_all_strategies(a_reduction(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, primes[i]));
    for (i = 0; i < test_size(3, 40, 200); i++) {
        c = a_reduction(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_below(UINT64_C(1) << (8 + test_below(15))) % limit);
        c.init = (test_init)test_below(3);
        c.src_offset = test_below(20);
        c.dst_offset = test_below(20);
        c.to_host = test_random() % 2 != 0;
        check_all_strategies(c);
    }
}

/* Over 2^24 elements, and over 2^32 in the long run. */
static void many(void **state) {
    reduce_case c =
        a_reduction(GPUSCAN_TYPE_U8, GPUSCAN_OP_ADD, test_size(20000, (UINT64_C(1) << 24) + 12345, 100000000));
    (void)state;
    c.to = GPUSCAN_TYPE_U64;
    check_all_strategies(c);
}

static void more_than_32_bits(void **state) {
    uint64_t            count = (UINT64_C(1) << 32) + 77777, result, at;
    unsigned char       three = 3, two = 2;
    gpuscan_reduce_desc d;
    cl_int              status = CL_SUCCESS;
    cl_mem              mem;
    int                 s, arg;
    (void)state;
    if (!test.is_long || test.is_small || test.largest_buffer < count || test.device_memory < 2 * count)
        skip();
    mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)count, NULL, &status);
    test_cl(status);
    at = count - 5;
    test_fill_buffer(mem, &three, 1, count);
    test_cl(clEnqueueWriteBuffer(test.queue, mem, CL_TRUE, (size_t)at, 1, &two, 0, NULL, NULL));
    memset(&d, 0, sizeof d);
    d.src.mem = mem;
    d.count = count;
    d.src_type = GPUSCAN_TYPE_U8;
    d.dst_type = GPUSCAN_TYPE_U64;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++)
        for (arg = 0; arg < 2; arg++) {
            cl_event event = NULL;
            test_case("%s of 2^32 + 77777 bytes, %s", arg ? "argmin" : "sum", test_strategy_name((gpuscan_strategy)s));
            d.op = arg ? GPUSCAN_OP_ARGMIN : GPUSCAN_OP_ADD;
            d.result = &result;
            d.call.strategy = (gpuscan_strategy)s;
            d.call.event = &event;
            if (!test_reduce_ran(&d))
                continue;
            test_cl(clWaitForEvents(1, &event));
            clReleaseEvent(event);
            if (result != (arg ? at : 3 * count - 1))
                fail_msg("%s: %" PRIu64, test.what, result);
        }
    clReleaseMemObject(mem);
}

/* ---- types and operators ----------------------------------------------------------------------------------------- */

/* All types with all operators; by default those of test_in_run. */
static void types_and_operators(void **state) {
    int         type, op, s;
    reduce_case c;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        TEST_EACH_OP(op, REF_BUILTIN)
            for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
                if (!test_has_type((gpuscan_type)type) || !test_op_fits((gpuscan_type)type, (gpuscan_op)op))
                    continue;
                if (!test_in_run((gpuscan_type)type, (gpuscan_op)op, (gpuscan_strategy)s))
                    continue;
                c = a_reduction((gpuscan_type)type, (gpuscan_op)op, test_size(700, 100003, 300007));
                c.strategy = (gpuscan_strategy)s;
                c.src_offset = (uint64_t)(s + op);
                c.dst_offset = (uint64_t)type;
                if (!check_reduce(c)) {
                    c.strategy = GPUSCAN_STRATEGY_AUTO;
                    check_reduce(c);
                }
                c.init = INIT_HOST;
                c.to_host = 1;
                check_reduce(c);
                c.count = 37;
                check_reduce(c);
                c.count = 0;
                check_reduce(c);
                c.init = INIT_NONE;
                check_reduce(c);
            }
}

static void differing_types(void **state) {
    static const gpuscan_type pairs[][2] = {{GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32},  {GPUSCAN_TYPE_I8, GPUSCAN_TYPE_I64},
                                            {GPUSCAN_TYPE_I8, GPUSCAN_TYPE_U16},  {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_I16},
                                            {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_F32}, {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_I32},
                                            {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32}, {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F16},
                                            {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64}, {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F64}};
    uint64_t                  count = test_size(300, 9001, 9001), n, i;
    void                     *data = test_alloc(count * 8);
    reduce_case               c;
    int                       from, to, listed;
    (void)state;
    TEST_EACH_TYPE(from, REF_NUMBERS)
        TEST_EACH_TYPE(to, REF_NUMBERS) {
            for (i = 0, listed = 0; i < sizeof pairs / sizeof pairs[0]; i++)
                listed = listed || ((int)pairs[i][0] == from && (int)pairs[i][1] == to);
            if (!(listed || test.is_long) || !test_has_type((gpuscan_type)from) || !test_has_type((gpuscan_type)to))
                continue;
            c = a_reduction((gpuscan_type)from, GPUSCAN_OP_ADD, 0);
            c.to = (gpuscan_type)to;
            for (i = 0; i < count;
                 i++) { /* every type holds the integer part; conversion drops fractions */
                double real = (double)test_below(400) / 8;
                ref_store(c.from, data, i, ref_is_float(c.from) ? ref_real(real) : ref_bits((uint64_t)real));
            }
            c.data = data;
            for (n = 1; n <= count; n = n * 20 + 1) {
                c.count = n;
                check_reduce(c);
            }
            if (!ref_is_float(c.from) && !ref_is_float(c.to)) {
                test_random_bytes(data, (size_t)count * 8);
                c.count = count;
                check_reduce(c);
            }
        }
    free(data);
}

/* ARGMIN and ARGMAX of all types, with many ties; by default one of the two, with one strategy. */
static void indices(void **state) {
    static const uint64_t counts[] = {0, 1, 2, 100, 5003, 100003};
    int                   type, op, s, all, one;
    size_t                n;
    reduce_case           c;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        TEST_EACH_OP(op, REF_ARG)
            for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
                if (!test_has_type((gpuscan_type)type))
                    continue;
                all = test.is_long || (type == GPUSCAN_TYPE_F32 && op == GPUSCAN_OP_ARGMIN && !test.is_small);
                one = s == (int)test_pair_strategy((gpuscan_type)type, (gpuscan_op)op) && (type + op) % 2 == 0;
                if (!all && !one)
                    continue;
                for (n = 0; n < (test.is_small ? 4 : 6); n++) {
                    c = a_reduction((gpuscan_type)type, (gpuscan_op)op, counts[n]);
                    c.strategy = (gpuscan_strategy)s;
                    c.to = n % 2 ? GPUSCAN_TYPE_U64 : GPUSCAN_TYPE_DEFAULT;
                    c.src_offset = n;
                    c.to_host = n % 3 == 0;
                    if (!check_reduce(c)) {
                        c.strategy = GPUSCAN_STRATEGY_AUTO;
                        check_reduce(c);
                    }
                }
                c.to = GPUSCAN_TYPE_U32;
                if (type == GPUSCAN_TYPE_F32 || type == GPUSCAN_TYPE_U8 || test.is_long) {
                    check_reduce(c);
                    c.count = 0;
                    check_reduce(c);
                }
            }
}

/* Uses values that ARGMIN and ARGMAX might take for "nothing yet": all elements the same extreme, NaN in most positions
   or in all, infinities, zeros of both signs. Also a single extreme at each position of a few hundred. */
static void indices_of_extremes(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_I32, GPUSCAN_TYPE_U8,
                                         GPUSCAN_TYPE_F16, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_F64};
    uint64_t                  count = test_size(400, 9001, 20011), i, block;
    void                     *data = test_alloc(count * 8);
    reduce_case               c;
    size_t                    t;
    int                       op, k;
    (void)state;
    for (t = 0; t < (test.is_small ? 2 : sizeof types / sizeof types[0]); t++)
        TEST_EACH_OP(op, REF_ARG) {
            if (!test_has_type(types[t]))
                continue;
            c = a_reduction(types[t], (gpuscan_op)op, count);
            c.to = GPUSCAN_TYPE_DEFAULT;
            c.data = data;
            for (i = 0; i < count; i++)
                ref_store(c.from, data, i, op == GPUSCAN_OP_ARGMIN ? ref_largest(c.from) : ref_smallest(c.from));
            check_pair_strategy(c);
            for (i = 0; i < count; i++)
                ref_store(c.from, data, i, op == GPUSCAN_OP_ARGMIN ? ref_smallest(c.from) : ref_largest(c.from));
            check_pair_strategy(c);
            for (block = 4096 / gpuscan__types[c.from].size, k = 0; k < 4; k++) { /* elements that a CPU compares */
                const uint64_t at = k < 2 ? block - 1 + (uint64_t)k : 2 * block - 3 + (uint64_t)k;
                for (i = 0; i < count; i++)
                    ref_store(c.from, data, i, ref_is_float(c.from) ? ref_real(1.0) : ref_bits(1));
                for (i = at; i < count; i += block / 2)
                    ref_store(c.from, data, i, op == GPUSCAN_OP_ARGMIN ? ref_smallest(c.from) : ref_largest(c.from));
                check_reduce(c);
            }
            if (!ref_is_float(c.from))
                continue;
            for (i = 0; i < count; i++)
                ref_store(c.from, data, i, ref_real((double)NAN));
            check_pair_strategy(c);
            ref_store(c.from, data, count - 2, op == GPUSCAN_OP_ARGMIN ? ref_largest(c.from) : ref_smallest(c.from));
            check_pair_strategy(c);
            for (i = 0; i < count; i++)
                ref_store(c.from, data, i, ref_real(test_below(3) == 0 ? (double)NAN : (double)test_below(9)));
            check_pair_strategy(c);
            for (i = 0; i < count; i++)
                ref_store(c.from, data, i, ref_real(i < 5 ? (double)NAN : i % 2 ? -0.0 : 0.0));
            check_pair_strategy(c);
        }
    c = a_reduction(GPUSCAN_TYPE_I32, GPUSCAN_OP_ARGMAX, test_size(64, 600, 2000));
    c.to = GPUSCAN_TYPE_U64;
    c.data = data;
    for (i = 0; i < c.count; i++) {
        memset(data, 0x80, (size_t)c.count * 4);
        ref_store(GPUSCAN_TYPE_I32, data, i, ref_bits(0));
        check_reduce(c);
    }
    free(data);
}

static void extremes_of_floats(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F64};
    uint64_t                  count = test_size(300, 20011, 20011), i;
    void                     *data = test_alloc(count * 8);
    reduce_case               c;
    size_t                    t;
    int                       op;
    (void)state;
    for (t = 0; t < 3; t++)
        TEST_EACH_OP(op, REF_EXTREME) {
            if (!test_has_type(types[t]))
                continue;
            c = a_reduction(types[t], (gpuscan_op)op, count);
            c.data = data;
            test_fill(c.from, c.op, data, count);
            for (i = 0; i + 1 < count; i++)
                if (test_below(3) != 0)
                    ref_store(c.from, data, i, ref_real((double)NAN));
            check_pair_strategy(c);
            ref_store(c.from, data, count / 3, ref_real((double)INFINITY));
            check_pair_strategy(c);
            ref_store(c.from, data, count / 2, ref_real(-(double)INFINITY));
            check_pair_strategy(c);
        }
    free(data);
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

static void offsets(void **state) {
    static const uint64_t     at[] = {0, 1, 3, 4, 7, 8, 11, 12, 16};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U64};
    static const uint64_t     counts[] = {1, 13, 1000, 5003};
    reduce_case               c;
    size_t                    t, i, n;
    (void)state;
    for (t = 0; t < (test.is_small ? 1 : 4); t++)
        for (i = 0; i < 9; i++)
            for (n = 0; n < (test.is_small ? 3 : 4); n++) {
                c = a_reduction(types[t], GPUSCAN_OP_ADD, counts[n]);
                c.src_offset = at[i];
                c.dst_offset = at[(i + n) % 9];
                check_all_strategies(c);
            }
}

static void inits_and_counts(void **state) {
    static const uint64_t counts[] = {1, 100, 3000, 70001};
    reduce_case           c;
    size_t                n, v;
    int                   type, init;
    (void)state;
    for (n = 0; n < (test.is_small ? 3 : 4); n++)
        for (init = 0; init < 3; init++) {
            c = a_reduction(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, counts[n]);
            c.init = (test_init)init;
            c.to_host = init == 1;
            check_all_strategies(c);
            c.custom = &op_affine_compose;
            check_all_strategies(c);
            c.count = 0;
            check_all_strategies(c);
            c.custom = NULL;
            c.from = c.to = GPUSCAN_TYPE_U32;
            check_all_strategies(c);
            c.count = counts[n];
            for (v = 0; v < 8; v++)
                TEST_EACH_TYPE(type, REF_UNSIGNED) {
                    const uint64_t values[8] = {0,
                                                1,
                                                counts[n] / 2,
                                                counts[n] - 1,
                                                counts[n],
                                                counts[n] + 1,
                                                UINT32_MAX,
                                                type == GPUSCAN_TYPE_U64 ? (UINT64_C(1) << 32) + 1 : 7};
                    if (ref_size((gpuscan_type)type) < 4)
                        continue; /* not a type of counts */
                    c.count_type = (gpuscan_type)type;
                    c.device_count = values[v];
                    check_all_strategies(c);
                }
        }
    c = a_reduction(GPUSCAN_TYPE_U32, GPUSCAN_OP_ARGMIN, 3000);
    c.to = GPUSCAN_TYPE_U64;
    c.count_type = GPUSCAN_TYPE_U32;
    for (v = 0; v < 4; v++) {
        c.device_count = v * 1000;
        check_all_strategies(c);
    }
}

/* ---- custom ------------------------------------------------------------------------------------------------------ */

static void custom_operators(void **state) {
    static const test_operator *const operators[] = {
        &op_run_join,         &op_matrix_product, &op_brackets_match,       &op_affine_compose, &op_marked_sum,
        &op_seven_sum,        &op_last,           &op_three,                &op_twelve,         &op_forty,
        &op_matrices_product, &op_vector_compose, &op_more_matrices_product};
    static const gpuscan_strategy only[] = {GPUSCAN_STRATEGY_AUTO,           GPUSCAN_STRATEGY_AUTO,
                                            GPUSCAN_STRATEGY_SINGLE_PASS,    GPUSCAN_STRATEGY_AUTO,
                                            GPUSCAN_STRATEGY_CPU_MULTI_PASS, GPUSCAN_STRATEGY_MULTI_PASS,
                                            GPUSCAN_STRATEGY_SINGLE_PASS,    GPUSCAN_STRATEGY_CPU_SINGLE_PASS,
                                            GPUSCAN_STRATEGY_MULTI_PASS,     GPUSCAN_STRATEGY_AUTO,
                                            GPUSCAN_STRATEGY_AUTO,           GPUSCAN_STRATEGY_SINGLE_PASS,
                                            GPUSCAN_STRATEGY_SINGLE_PASS};
    static const uint64_t         counts[] = {0, 1, 2, 33, 257, 1000, 5003, 65537, 300007};
    reduce_case                   c;
    size_t                        o, n;
    (void)state;
    for (o = 0; o < sizeof operators / sizeof operators[0]; o++)
        for (n = 0; n < (test.is_small ? 6 : 9); n++) {
            c = a_reduction(operators[o]->type, GPUSCAN_OP_CUSTOM, counts[n]);
            c.custom = operators[o];
            c.src_offset = n;
            c.dst_offset = o;
            c.to_host = n % 3 == 2;
            c.init = o > 0 && n % 2 ? INIT_DEVICE : INIT_NONE;
            if (only[o])
                check_one_strategy(c, only[o]);
            else
                check_all_strategies(c);
        }
}

static void runs_of_every_length(void **state) {
    reduce_case c = a_reduction(GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, 0);
    (void)state;
    c.custom = &op_run_join;
    for (c.count = 1; c.count <= test_size(300, 2050, 4097); c.count += c.count < 140 ? test_size(13, 1, 1) : 31) {
        c.init = (test_init)(c.count % 3);
        check_all_strategies(c);
    }
}

/* Checks that a reduction to a u64 gives `wanted`. */
static void check_sum(gpuscan_reduce_desc *d, test_buffer *dst, uint64_t wanted) {
    uint64_t result;
    test_buffer_set(dst, 1, 1, NULL);
    d->dst = dst->at;
    if (test_reduce_ran(d)) {
        memcpy(&result, test_buffer_get(dst), 8);
        if (result != wanted)
            fail_msg("%s: %" PRIu64 " instead of %" PRIu64, test.what, result, wanted);
    }
}

static void conversions(void **state) {
    static const gpuscan_custom squares = {NULL, NULL, 0, NULL, NULL, "(ulong)x * x + i", NULL, NULL, NULL};
    gpuscan_custom              brackets = op_brackets_match.custom;
    gpuscan_reduce_desc         d;
    uint64_t                    count = test_size(300, 30011, 30011), i, sum = 0, total = 0;
    uint8_t                    *bytes = (uint8_t *)test_alloc(count);
    op_brackets                *pairs = (op_brackets *)test_alloc(count * sizeof *pairs);
    test_buffer                 src = test_buffer_new(CL_MEM_READ_ONLY, 1, count);
    test_buffer                 custom = test_buffer_new(CL_MEM_READ_ONLY, 8, count);
    test_buffer                 dst = test_buffer_new(CL_MEM_WRITE_ONLY, 8, 1);
    int                         s;
    (void)state;
    test_random_bytes(bytes, (size_t)count);
    op_brackets_fill(pairs, count);
    for (i = 0; i < count; i++) {
        sum += (uint64_t)bytes[i] * bytes[i] + i;
        total += pairs[i].open + 3 * (uint64_t)pairs[i].close;
    }
    test_buffer_set(&src, 5, count, bytes);
    test_buffer_set(&custom, 1, count, pairs);
    brackets.convert = "x.open + 3 * x.close";
    brackets.combine = brackets.identity = NULL;
    TEST_EACH_STRATEGY(s) {
        memset(&d, 0, sizeof d);
        d.count = count;
        d.dst_type = GPUSCAN_TYPE_U64;
        d.call.strategy = (gpuscan_strategy)s;
        test_case("sum of squares and indices, %s", test_strategy_name(d.call.strategy));
        d.src = src.at;
        d.src_type = GPUSCAN_TYPE_U8;
        d.custom = &squares;
        check_sum(&d, &dst, sum);
        test_case("sum of a custom type's fields, %s", test_strategy_name(d.call.strategy));
        d.src = custom.at;
        d.src_type = GPUSCAN_TYPE_CUSTOM;
        d.custom = &brackets;
        check_sum(&d, &dst, total);
    }
    test_buffer_free(&src);
    test_buffer_free(&custom);
    test_buffer_free(&dst);
    free(bytes);
    free(pairs);
}

/* Sums numbers that an expression makes of structs of 4 * w bytes. */
static void sums_of_structs(size_t w) {
    const uint64_t count = test_size(300, 30011, 30011);
    uint32_t      *structs = (uint32_t *)test_alloc(count * 4 * w);
    test_buffer    src = test_buffer_new(CL_MEM_READ_ONLY, 4 * w, count);
    test_buffer    dst = test_buffer_new(CL_MEM_WRITE_ONLY, 8, 1);
    uint64_t       i, sum = 0;
    char           type[60], convert[60];
    gpuscan_custom custom;
    int            s;
    test_random_bytes(structs, (size_t)count * 4 * w);
    for (i = 0; i < count; i++)
        sum += structs[i * w] + 3 * (uint64_t)structs[i * w + w - 1] + i;
    test_buffer_set(&src, 1, count, structs);
    snprintf(type, sizeof type, "typedef struct { uint w[%zu]; } words;", w);
    snprintf(convert, sizeof convert, "x.w[0] + 3 * (ulong)x.w[%zu] + i", w - 1);
    memset(&custom, 0, sizeof custom);
    custom.source = type;
    custom.type = "words";
    custom.size = 4 * w;
    custom.convert = convert;
    TEST_EACH_STRATEGY(s) {
        gpuscan_reduce_desc d;
        memset(&d, 0, sizeof d);
        d.count = count;
        d.src = src.at;
        d.src_type = GPUSCAN_TYPE_CUSTOM;
        d.dst_type = GPUSCAN_TYPE_U64;
        d.custom = &custom;
        d.call.strategy = (gpuscan_strategy)s;
        test_case("sum of structs of %zu bytes, %s", 4 * w, test_strategy_name(d.call.strategy));
        check_sum(&d, &dst, sum);
    }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(structs);
}

/* Structs that kernels load one at a time, since they have 32 bytes or more or a size that is no power of two, and of
   16 bytes. */
static void conversions_of_structs(void **state) {
    static const size_t words[] = {8, 16, 3, 4, 12, 32};
    size_t              n;
    (void)state;
    for (n = 0; n < sizeof words / sizeof *words; n++)
        if (test_share(n, 2))
            sums_of_structs(words[n]);
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

/* Checks that sums of random floats have the same bits in 100 runs, and differ from the sum in f64 (long double for
   f64) by at most 4 sqrt(n) units of 2^-23 (2^-52) times the sum of the magnitudes. */
static void float_sums(void **state) {
    static const uint64_t counts[] = {1003, 100003, 3000017};
    gpuscan_reduce_desc   d;
    test_buffer           src, dst;
    unsigned char        *data, first[8];
    long double           sum, magnitude, error;
    double                unit;
    gpuscan_type          type;
    uint64_t              i, count;
    int                   s, n, run, runs;
    (void)state;
    for (n = 0; n < (test.is_small ? 2 : 6); n++) {
        runs = (int)test_size(5, n < 4 ? 100 : 10, 100);
        type = n % 2 ? GPUSCAN_TYPE_F64 : GPUSCAN_TYPE_F32;
        unit = n % 2 ? DBL_EPSILON : (double)FLT_EPSILON;
        count = counts[n / 2];
        if (!test_has_type(type))
            continue;
        data = (unsigned char *)test_alloc(count * 8);
        src = test_buffer_new(CL_MEM_READ_ONLY, ref_size(type), count);
        dst = test_buffer_new(CL_MEM_WRITE_ONLY, ref_size(type), 1);
        for (i = 0, sum = magnitude = 0; i < count; i++) {
            ref_store(type, data, i, ref_real((test_unit() - 0.25) * ldexp(1, (int)test_below(12))));
            sum += (long double)ref_load(type, data, i).real;
            magnitude += fabsl((long double)ref_load(type, data, i).real);
        }
        test_buffer_set(&src, 1, count, data);
        memset(&d, 0, sizeof d);
        d.src = src.at;
        d.count = count;
        d.src_type = type;
        TEST_EACH_STRATEGY(s) {
            d.call.strategy = (gpuscan_strategy)s;
            for (run = 0; run < runs; run++) {
                test_case("run %d of the sum of %" PRIu64 " %s, %s", run, count, test_type_name(type),
                          test_strategy_name(d.call.strategy));
                test_buffer_set(&dst, 2, 1, NULL);
                d.dst = dst.at;
                if (!test_reduce_ran(&d))
                    break;
                if (run == 0)
                    memcpy(first, test_buffer_get(&dst), ref_size(type));
                else
                    test_same_bytes(test_buffer_get(&dst), first, ref_size(type), 1);
            }
            if (run == 0)
                continue;
            error = fabsl((long double)ref_load(type, first, 0).real - sum);
            if (!(error <= 4 * sqrtl((long double)count) * (long double)unit * magnitude))
                fail_msg("%s: %.17g, off by %Lg", test.what, ref_load(type, first, 0).real, error);
        }
        test_buffer_free(&src);
        test_buffer_free(&dst);
        free(data);
    }
}

/* ---- scratch, limits, host arrays -------------------------------------------------------------------------------- */

/* Uses the caller's scratch of exactly the queried size, full of garbage and then of the previous call's data. */
static void scratch_of_the_caller(void **state) {
    static const uint64_t counts[] = {0, 1, 1000, 70001, 5003, 1048577, 300007, 12};
    uint64_t              most = test_size(5003, 1048577, 1048577), size, largest, i;
    uint32_t             *data = (uint32_t *)test_alloc(most * 4), sum;
    test_buffer           src = test_buffer_new(CL_MEM_READ_ONLY, 4, most), dst = test_buffer_new(0, 4, 1), scratch;
    gpuscan_reduce_desc   d;
    unsigned char        *garbage;
    int                   s, kind;
    size_t                n;
    (void)state;
    test_random_bytes(data, (size_t)most * 4);
    test_buffer_set(&src, 0, most, data);
    TEST_EACH_STRATEGY(s)
        for (kind = 0; kind < 4; kind++) {
            memset(&d, 0, sizeof d);
            d.call.strategy = (gpuscan_strategy)s;
            for (n = 0, largest = 0; n < sizeof counts / sizeof counts[0]; n++) {
                d.count = counts[n] < most ? counts[n] : most;
                if (gpuscan_reduce_scratch_size(test.gs, &d, &size) == GPUSCAN_SUCCESS && size > largest)
                    largest = size;
            }
            scratch = test_buffer_new(CL_MEM_READ_WRITE, 1, largest + 64);
            garbage = (unsigned char *)test_alloc(largest + 64);
            for (i = 0; i < largest + 64; i++)
                garbage[i] = kind == 0   ? 0
                             : kind == 1 ? 255
                             : kind == 2 ? i % 4 == 0
                                         : (unsigned char)(test_random() & 255);
            test_buffer_set(&scratch, 64, largest + 64, garbage);
            for (n = 0; n < sizeof counts / sizeof counts[0]; n++) {
                test_buffer_set(&dst, 1, 1, NULL);
                memset(&d.call, 0, sizeof d.call);
                d.src = src.at;
                d.dst = dst.at;
                d.count = counts[n] < most ? counts[n] : most;
                d.call.strategy = (gpuscan_strategy)s;
                test_case("sum of %" PRIu64 " with the caller's scratch, %s, garbage %d", d.count,
                          test_strategy_name(d.call.strategy), kind);
                if (!test_ran(gpuscan_reduce_scratch_size(test.gs, &d, &size), d.call.strategy,
                              test_reduce_refusal(&d)))
                    continue;
                d.call.scratch = scratch.at;
                d.call.scratch_size = size;
                if (!test_reduce_ran(&d))
                    continue;
                for (i = 0, sum = 0; i < d.count; i++)
                    sum += data[i];
                test_same(GPUSCAN_TYPE_U32, test_buffer_get(&dst), &sum, 1);
                test_buffer_get(&scratch); /* checks its guards */
            }
            test_buffer_free(&scratch);
            free(garbage);
        }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(data);
}

static void limited_devices(void **state) {
    static const gpuscan_limits limits[] = {{1, 0, 0, 0},
                                            {16, 0, GPUSCAN_WITHOUT_LANES, 0},
                                            {0, 2048, GPUSCAN_WITHOUT_INT64_ATOMICS | GPUSCAN_WITHOUT_FENCE, 0},
                                            {100, 4096, 31, 0}};
    reduce_case                 c;
    size_t                      i;
    (void)state;
    for (i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        test_limit(&limits[i]);
        c = a_reduction(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_size(600, 70001, 300007));
        check_all_strategies(c);
        c.op = GPUSCAN_OP_ARGMAX;
        c.to = GPUSCAN_TYPE_U64;
        if (i == 0 || i == 3)
            check_one_strategy(c, i == 0 ? GPUSCAN_STRATEGY_SINGLE_PASS : GPUSCAN_STRATEGY_MULTI_PASS);
        c.custom = &op_run_join;
        if (i == 0 || i == 3)
            check_one_strategy(c, i == 0 ? GPUSCAN_STRATEGY_SINGLE_PASS : GPUSCAN_STRATEGY_MULTI_PASS);
    }
}

/* Local memory must suffice for structs of any size: on a device with 32 KiB, groups of 16 to 256 shrink. */
static void structs_in_little_memory(void **state) {
    static const uint32_t sizes[] = {124, 248, 480, 488, 880, 928};
    size_t i, k, a;
    (void)state;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        gpuscan *gs = NULL;
        gpuscan_desc desc = {0};
        gpuscan_reduce_desc reduce = {0};
        gpuscan_custom custom = {0};
        gpuscan__program *program;
        char source[256];
        snprintf(source, sizeof source,
                 "typedef struct { uint w[%u]; } wide;\n"
                 "wide none(void) { wide x; for (int i = 0; i < %u; i++) x.w[i] = 0; return x; }\n",
                 (unsigned)sizes[i] / 4, (unsigned)sizes[i] / 4);
        custom.source = source;
        custom.type = "wide";
        custom.size = sizes[i];
        custom.combine = "b.w[0] ? b : a";
        custom.identity = "none()";
        reduce.src_type = GPUSCAN_TYPE_CUSTOM;
        reduce.op = GPUSCAN_OP_CUSTOM;
        reduce.custom = &custom;
        reduce.count = 1000;
        reduce.call.strategy = GPUSCAN_STRATEGY_MULTI_PASS;
        desc.context = test.context;
        desc.device = test.device;
        desc.limits.local_memory = 32768;
        desc.limits.without = GPUSCAN_WITHOUT_LANES;
        test_case("structs of %u bytes", (unsigned)sizes[i]);
        test_ok(gpuscan_create(&gs, &desc));
        if (gpuscan_reduce_prepare(gs, &reduce) != GPUSCAN_ERROR_UNSUPPORTED_STRATEGY)
            for (program = gs->programs; program; program = program->next) {
                const gpuscan__text *text = &program->parts[GPUSCAN__PART_RECORDING];
                const gpuscan__recorded *launch = (const gpuscan__recorded *)(const void *)text->data;
                for (k = 0; k < text->length / sizeof *launch; k++)
                    for (a = 0; a < launch[k].arg_count; a++)
                        assert_in_range(launch[k].sizes[a], 1, 32768);
            }
        test_destroy(gs);
    }
}

static void host_arrays(void **state) {
    static const uint64_t counts[] = {0, 1, 2, 1000, 4097, 100003};
    uint64_t              most = test_size(4097, 100003, 100003), at, i;
    uint32_t             *data = (uint32_t *)test_alloc(most * 4), sum, wanted;
    float                *reals = (float *)test_alloc(most * 4), smallest, init = -1000;
    op_run               *runs = (op_run *)test_alloc(most * sizeof *runs), run, whole;
    gpuscan_reduce_desc   d;
    size_t                n;
    (void)state;
    test_random_bytes(data, (size_t)most * 4);
    test_fill(GPUSCAN_TYPE_F32, GPUSCAN_OP_MIN, reals, most);
    op_run_fill(runs, most);
    for (n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        if (counts[n] > most)
            continue;
        test_case("reductions of %" PRIu64 " on the host's arrays", counts[n]);
        for (i = 0, wanted = 0; i < counts[n]; i++)
            wanted += data[i];
        test_ok(gpuscan_reduce_host(test.gs, data, &sum, counts[n], NULL));
        test_same(GPUSCAN_TYPE_U32, &sum, &wanted, 1);

        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_F32;
        d.op = GPUSCAN_OP_MIN;
        test_ok(gpuscan_reduce_host(test.gs, reals, &smallest, counts[n], &d));
        ref_store(GPUSCAN_TYPE_F32, &wanted, 0,
                  ref_reduce(GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32, reals, counts[n], GPUSCAN_OP_MIN, NULL));
        test_same(GPUSCAN_TYPE_F32, &smallest, &wanted, 1);
        d.init = &init;
        test_ok(gpuscan_reduce_host(test.gs, reals, &smallest, counts[n], &d));
        if (counts[n] < most)
            test_same(GPUSCAN_TYPE_F32, &smallest, &init, 1);

        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_F32;
        d.op = GPUSCAN_OP_ARGMIN;
        test_ok(gpuscan_reduce_host(test.gs, reals, &at, counts[n], &d));
        if (at != ref_arg(GPUSCAN_TYPE_U64, GPUSCAN_TYPE_F32, reals, counts[n], GPUSCAN_OP_ARGMIN).bits)
            fail_msg("%s: argmin is %" PRIu64, test.what, at);

        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_CUSTOM;
        d.op = GPUSCAN_OP_CUSTOM;
        d.custom = &op_run_join.custom;
        test_ok(gpuscan_reduce_host(test.gs, runs, &run, counts[n], &d));
        whole.first = counts[n] ? 1 : 77;
        whole.last = counts[n] ? (uint32_t)counts[n] : 33;
        test_same_bytes(&run, &whole, sizeof run, 1);
    }
    free(data);
    free(reals);
    free(runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_length),
                                       TEST(edges),
                                       TEST(primes_and_random_lengths),
                                       TEST(many),
                                       TEST(more_than_32_bits),
                                       TEST(types_and_operators),
                                       TEST(differing_types),
                                       TEST(indices),
                                       TEST(indices_of_extremes),
                                       TEST(extremes_of_floats),
                                       TEST(offsets),
                                       TEST(inits_and_counts),
                                       TEST(custom_operators),
                                       TEST(runs_of_every_length),
                                       TEST(conversions),
                                       TEST(conversions_of_structs),
                                       TEST(float_sums),
                                       TEST(scratch_of_the_caller),
                                       TEST(limited_devices),
                                       TEST(host_arrays),
                                       TEST(structs_in_little_memory)};
    test_select();
    return cmocka_run_group_tests_name("reduce", tests, test_open, test_close);
}
