/* gpuscan_scan and gpuscan_scan_host against the reference. Races show only in wrong results, or in a simulator.
      cc -O2 tests/test_scan.c -o build/test_scan -lcmocka -lOpenCL -lm && build/test_scan */
#include "scans.h"

/* A case is scanned from either end, as the seed decides. */
static int check_scan(scan_case c) {
    c.reverse = (int)test_below(2);
    return test_strategies(&scans, &c, (int)c.strategy, (int)c.strategy);
}

static void check_all_strategies(scan_case c) {
    c.reverse = (int)test_below(2);
    test_all_strategies(&scans, &c);
}

static void check_one_strategy(scan_case c, gpuscan_strategy strategy) {
    c.reverse = (int)test_below(2);
    test_one_strategy(&scans, &c, strategy);
}

static void check_pair_strategy(scan_case c) {
    check_one_strategy(c, test_pair_strategy(c.from, c.op));
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* Checks lengths up to `last`, with the total, for one type and strategy, in one set of buffers: all to 70, then steps
   of `step`. */
static void check_lengths(gpuscan_type type, gpuscan_strategy strategy, gpuscan_scan_kind kind, uint64_t last,
                          uint64_t step) {
    size_t            size = ref_size(type);
    test_buffer       src = test_buffer_new(CL_MEM_READ_ONLY, size, last), dst = test_buffer_new(0, size, last);
    test_buffer       total = test_buffer_new(0, size, 1);
    unsigned char    *data = (unsigned char *)test_alloc(last * size);
    unsigned char    *sums = (unsigned char *)test_alloc((last + 1) * size);
    gpuscan_scan_desc d;
    uint64_t          n;
    /* exclusive sums of one element more contain the inclusive sums and every total */
    test_fill(type, GPUSCAN_OP_ADD, data, last);
    ref_store(type, sums, last, ref_scan(type, sums, type, data, last, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, NULL));
    test_buffer_set(&src, 1, last, data);
    memset(&d, 0, sizeof d);
    d.src_type = type;
    d.kind = kind;
    d.call.strategy = strategy;
    for (n = 0; n <= last; n += n < 70 ? 1 : step) {
        test_case("%s scan of %" PRIu64 " %s, %s", kind == GPUSCAN_INCLUSIVE ? "inclusive" : "exclusive", n,
                  test_type_name(type), test_strategy_name(strategy));
        test_buffer_set(&dst, n % 5, n, NULL);
        test_buffer_set(&total, n % 3, 1, NULL);
        d.src = src.at;
        d.dst = dst.at;
        d.total = total.at;
        d.count = n;
        if (!test_scan_ran(&d))
            break;
        test_same(type, test_buffer_get(&dst), sums + (kind == GPUSCAN_INCLUSIVE ? size : 0), n);
        test_same(type, test_buffer_get(&total), sums + n * size, 1);
    }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    test_buffer_free(&total);
    free(data);
    free(sums);
}

static void every_length(void **state) {
    int s, kind, type;
    (void)state;
    TEST_EACH_STRATEGY(s)
        for (kind = 0; kind < 2; kind++)
            TEST_EACH_TYPE(type, REF_NUMBERS)
                if (type == GPUSCAN_TYPE_U32 || (test.is_long && test_has_type((gpuscan_type)type)))
                    check_lengths((gpuscan_type)type, (gpuscan_strategy)s, (gpuscan_scan_kind)kind,
                                  test_size(600, 4097, 4097), test_size(53, 1, 1));
}

/* Lengths near all sizes of tiles, groups' shares and levels: powers of two and small multiples of them. */
static void edges(void **state) {
    static const uint64_t odd[] = {3, 5, 6, 7, 9, 10, 12, 15};
    uint64_t              top = test_size(12, 22, 26), k, o;
    scan_case             c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, 0);
    int                   off;
    (void)state;
    c.total = 1;
    for (k = 5; k <= top; k++)
        for (off = -1; off <= 1; off++) {
            c.count = (UINT64_C(1) << k) + (uint64_t)(int64_t)off;
            c.kind = (k + (uint64_t)off) % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
            check_all_strategies(c);
        }
    for (k = 8; k <= (test.is_small ? 8 : 16); k += 2)
        for (o = 0; o < sizeof odd / sizeof odd[0]; o++)
            for (off = -1; off <= 1; off++) {
                c.count = (odd[o] << k) + (uint64_t)(int64_t)off;
                c.kind = off == 0 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
                check_all_strategies(c);
            }
}

static void primes_and_random_lengths(void **state) {
    static const uint64_t primes[] = {4099,   7589,   10007,  12289,  16381,  16411,   31337,
                                      32749,  49157,  65521,  65537,  98317,  131071,  131101,
                                      262139, 262147, 524287, 786433, 999983, 1048573, 1048583};
    scan_case             c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, 0);
    uint64_t              i, limit = test_size(5000, UINT64_C(1) << 20, UINT64_C(1) << 23);
    (void)state;
    for (i = 0; i < sizeof primes / sizeof primes[0]; i++)
        if (primes[i] <= limit) {
            c.count = primes[i];
            c.kind = i % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
            check_all_strategies(c);
        }
    for (i = 0; i < test_size(3, 30, 200); i++) {
        c.count = test_below(UINT64_C(1) << (8 + test_below(13))) % limit;
        c.kind = test_random() % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        c.total = test_random() % 2 != 0;
        c.init = (test_init)test_below(3);
        c.src_offset = test_below(20);
        c.dst_offset = test_below(20);
        check_all_strategies(c);
    }
}

/* Over 2^24 elements in one call: u8 to u32, and in place. */
static void many(void **state) {
    scan_case c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_size(20000, (UINT64_C(1) << 24) + 12345, 100000000));
    int       s;
    (void)state;
    c.total = 1;
    TEST_EACH_STRATEGY(s) {
        c.strategy = (gpuscan_strategy)s;
        c.in_place = s % 2;
        c.from = s % 2 ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_U8;
        check_scan(c);
    }
}

/* The largest call of each of the device's tiles for scans, with and without segments. If a compiler builds a tile's
   program wrong, the library gives something up, and the harness reports that. */
static void every_tile(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8,  GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U16, GPUSCAN_TYPE_F16,
                                         GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U64, GPUSCAN_TYPE_F64};
    const gpuscan__profile   *profile = &test.gs->device.profile;
    const uint64_t            largest = test_size(100, 20000, 40000) * 1024; /* bytes */
    uint64_t                  i, t;
    (void)state;
    for (i = 0; i < profile->tuning_count; i++)
        for (t = 0; t < sizeof types / sizeof *types; t++) {
            const gpuscan__tuning *tile = &profile->tunings[i];
            uint64_t               size = ref_size(types[t]), bytes = tile->up_to < largest ? tile->up_to : largest;
            scan_case              c = a_scan(types[t], GPUSCAN_OP_ADD, bytes / size);
            if (!(tile->devices & profile->facts.devices) || tile->calls & GPUSCAN__FOR_LISTS ||
                (tile->size && tile->size != size) || !test_has_type(types[t]) || !test_share(8 * i + t, 4))
                continue;
            c.form = tile->calls & GPUSCAN__FOR_SEGMENTS ? GPUSCAN_SEGMENTS_HEADS : GPUSCAN_SEGMENTS_NONE;
            c.keys = GPUSCAN_TYPE_U8;
            c.segments = c.form ? c.count / 100 + 1 : 0;
            c.cuts = (test_cuts)test_below(CUTS_COUNT);
            c.kind = (gpuscan_scan_kind)(GPUSCAN_EXCLUSIVE + test_below(2));
            c.reverse = (int)test_below(2);
            test_one_strategy(&scans, &c, GPUSCAN_STRATEGY_AUTO);
        }
}

/* Over 2^32 elements: bytes of 1, in place, so that element i becomes i + 1 modulo 256. */
static void more_than_32_bits(void **state) {
    static const gpuscan_strategy strategies[] = {GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_MULTI_PASS,
                                                  GPUSCAN_STRATEGY_SINGLE_PASS};
    uint64_t                      count = (UINT64_C(1) << 32) + 77777, at, size, i, chunk = 1 << 24;
    unsigned char                *part, one = 1;
    gpuscan_scan_desc             d;
    cl_int                        status = CL_SUCCESS;
    cl_mem                        mem;
    size_t                        s;
    (void)state;
    if (!test.is_long || test.is_small || test.largest_buffer < count || test.device_memory < 2 * count)
        skip();
    mem = clCreateBuffer(test.context, CL_MEM_READ_WRITE, (size_t)count, NULL, &status);
    test_cl(status);
    part = (unsigned char *)test_alloc(chunk);
    memset(&d, 0, sizeof d);
    d.src.mem = d.dst.mem = mem;
    d.count = count;
    d.src_type = GPUSCAN_TYPE_U8;
    d.kind = GPUSCAN_INCLUSIVE;
    for (s = 0; s < 3; s++) {
        test_case("2^32 + 77777 bytes in place, %s", test_strategy_name(strategies[s]));
        test_fill_buffer(mem, &one, 1, count);
        d.call.strategy = strategies[s];
        if (!test_scan_ran(&d))
            continue;
        for (at = 0; at < count; at += size) {
            size = count - at < chunk ? count - at : chunk;
            test_cl(clEnqueueReadBuffer(test.queue, mem, CL_TRUE, (size_t)at, (size_t)size, part, 0, NULL, NULL));
            for (i = 0; i < size; i++)
                if (part[i] != ((at + i + 1) & 255))
                    fail_msg("%s: element %" PRIu64 " is %u", test.what, at + i, part[i]);
        }
    }
    free(part);
    clReleaseMemObject(mem);
}

/* ---- types and operators ----------------------------------------------------------------------------------------- */

/* All types with all operators, exclusive and inclusive; by default those of test_in_run. */
static void types_and_operators(void **state) {
    int       type, op, s, kind;
    scan_case c;
    (void)state;
    TEST_EACH_TYPE(type, REF_NUMBERS)
        TEST_EACH_OP(op, REF_BUILTIN)
            for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
                if (!test_has_type((gpuscan_type)type) || !test_op_fits((gpuscan_type)type, (gpuscan_op)op))
                    continue;
                if (!test_in_run((gpuscan_type)type, (gpuscan_op)op, (gpuscan_strategy)s))
                    continue;
                for (kind = 0; kind < 2; kind++) {
                    if (!test_share((uint64_t)(type + op + s + kind), 3))
                        continue;
                    c = a_scan((gpuscan_type)type, (gpuscan_op)op, test_size(700, 50021, 300007));
                    c.strategy = (gpuscan_strategy)s;
                    c.kind = (gpuscan_scan_kind)kind;
                    c.total = 1;
                    c.init = kind ? INIT_HOST : INIT_NONE;
                    c.src_offset = (uint64_t)(s + op);
                    c.dst_offset = (uint64_t)type;
                    if (!check_scan(c)) {
                        c.strategy = GPUSCAN_STRATEGY_AUTO;
                        check_scan(c);
                    }
                    c.count = 37;
                    check_scan(c);
                }
            }
}

/* Bytes that groups scan in words; CPUs' strategies do not. Maxima grow from the first element to the last. */
static void several_elements_per_word(void **state) {
    uint64_t       count = test_size(700, 9001, 50021), i;
    unsigned char *rising = (unsigned char *)test_alloc(count + 16);
    int            op;
    scan_case      c;
    (void)state;
    for (i = 0; i < count + 16; i++)
        rising[i] = (unsigned char)test_below(1 + i * 240 / count);
    TEST_EACH_OP(op, REF_BUILTIN) {
        if (op == GPUSCAN_OP_ADD || (op != GPUSCAN_OP_MAX && !test_share((uint64_t)op, 3)))
            continue;
        c = a_scan(op % 2 ? GPUSCAN_TYPE_I8 : GPUSCAN_TYPE_U8, (gpuscan_op)op, count);
        c.data = op == GPUSCAN_OP_MAX ? rising : NULL;
        c.strategy = GPUSCAN_STRATEGY_SINGLE_PASS;
        c.kind = test_below(2) ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        c.total = 1;
        check_scan(c);
        c.src_offset = 1 + test_below(15);
        c.dst_offset = test_below(16);
        check_scan(c);
        c.count = 37;
        check_scan(c);
    }
    free(rising);
}

static void check_pair(gpuscan_type from, gpuscan_type to) {
    uint64_t       count = test_size(300, 9001, 20011);
    unsigned char *data = (unsigned char *)test_alloc(count * 8);
    scan_case      c = a_scan(from, GPUSCAN_OP_ADD, count);
    if (test_has_type(from) && test_has_type(to)) {
        test_fill_pair(from, to, GPUSCAN_OP_ADD, data, count);
        c.to = to;
        c.data = data;
        c.total = 1;
        c.src_offset = 3;
        c.dst_offset = 1;
        c.kind = (from + to) % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        if (test.is_long)
            check_all_strategies(c);
        else
            check_scan(c);
        /* rows of one element: only the conversion */
        if (!ref_is_float(from)) {
            test_random_bytes(data, (size_t)count * 8);
            c.rows = test_size(50, 2000, 20011);
            c.count = 1;
            c.kind = GPUSCAN_INCLUSIVE;
            check_scan(c);
        }
    }
    free(data);
}

static void differing_types(void **state) {
    static const gpuscan_type pairs[][2] = {{GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32},  {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U64},
                                            {GPUSCAN_TYPE_I8, GPUSCAN_TYPE_I64},  {GPUSCAN_TYPE_I8, GPUSCAN_TYPE_U16},
                                            {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U8},  {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_I16},
                                            {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_F32}, {GPUSCAN_TYPE_I64, GPUSCAN_TYPE_F32},
                                            {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_F64}, {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_I32},
                                            {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U8},  {GPUSCAN_TYPE_F64, GPUSCAN_TYPE_I64},
                                            {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F64}, {GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F32},
                                            {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32}, {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F16},
                                            {GPUSCAN_TYPE_I32, GPUSCAN_TYPE_F16}, {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_U32}};
    size_t                    i;
    int                       from, to;
    (void)state;
    if (!test.is_long)
        for (i = 0; i < sizeof pairs / sizeof pairs[0] && (!test.is_small || i < 6); i++) {
            if (test_takes_one_of(4, i))
                check_pair(pairs[i][0], pairs[i][1]);
        }
    else
        TEST_EACH_TYPE(from, REF_NUMBERS)
            TEST_EACH_TYPE(to, REF_NUMBERS)
                check_pair((gpuscan_type)from, (gpuscan_type)to);
}

/* Loads and stores every f16: a row of one element must keep its bits, and its f32 must be exact. */
static void every_f16(void **state) {
    static uint16_t halves[65536];
    scan_case       c = a_scan(GPUSCAN_TYPE_F16, GPUSCAN_OP_ADD, 1);
    uint32_t        i;
    (void)state;
    for (i = 0; i < 65536; i++)
        halves[i] = (uint16_t)i;
    c.rows = test_size(3000, 65536, 65536);
    c.kind = GPUSCAN_INCLUSIVE;
    c.data = test.is_small ? halves + 30000 : halves; /* includes infinity and NaN */
    check_scan(c);
    c.to = GPUSCAN_TYPE_F32;
    check_scan(c);
}

/* Sums of floats that f16 cannot hold: rounded once, when stored. */
static void f16_rounds_when_stored(void **state) {
    uint64_t  count = test_size(500, 30011, 30011), i;
    float    *data = (float *)test_alloc(count * sizeof *data);
    scan_case c = a_scan(GPUSCAN_TYPE_F32, GPUSCAN_OP_ADD, count);
    (void)state;
    for (i = 0; i < count; i++) /* sums: multiples of 2^-10 up to 2^11, too long for f16 but not f32 */
        data[i] = (float)test_below(128) / 1024;
    c.data = data;
    c.to = GPUSCAN_TYPE_F16;
    c.total = 1;
    check_all_strategies(c);
    c.kind = GPUSCAN_INCLUSIVE;
    check_all_strategies(c);
    free(data);
}

/* MIN and MAX skip NaN and keep infinities. */
static void extremes_of_floats(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F64};
    uint64_t                  count = test_size(300, 20011, 20011), i;
    void                     *data = test_alloc(count * 8);
    scan_case                 c;
    size_t                    t;
    int                       op;
    (void)state;
    for (t = 0; t < 3; t++)
        TEST_EACH_OP(op, REF_EXTREME) {
            if (!test_has_type(types[t]) || !test_takes_one_of(2, t + (size_t)op))
                continue;
            c = a_scan(types[t], (gpuscan_op)op, count);
            test_fill(c.to, c.op, data, count);
            for (i = 1; i < count; i++)
                if (test_below(4) == 0)
                    ref_store(c.to, data, i, ref_real((double)NAN));
            ref_store(c.to, data, count * 3 / 4, ref_real(op == GPUSCAN_OP_MIN ? -(double)INFINITY : (double)INFINITY));
            ref_store(c.to, data, count / 5, ref_real(op == GPUSCAN_OP_MIN ? (double)INFINITY : -(double)INFINITY));
            c.data = data;
            c.total = 1;
            check_pair_strategy(c);
            c.kind = GPUSCAN_INCLUSIVE;
            c.init = INIT_HOST;
            check_pair_strategy(c);
        }
    free(data);
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

static void offsets(void **state) {
    static const uint64_t     at[] = {0, 1, 3, 4, 7, 8, 11, 12, 16};
    static const gpuscan_type types[][2] = {{GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32}, {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32},
                                            {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8},   {GPUSCAN_TYPE_U16, GPUSCAN_TYPE_U16},
                                            {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64}, {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U16}};
    static const uint64_t     counts[] = {1, 13, 1000, 5003};
    scan_case                 c;
    size_t                    t, i, j, n;
    (void)state;
    for (t = 0; t < (test.is_small ? 2 : sizeof types / sizeof types[0]); t++)
        for (i = 0; i < 9; i++)
            for (j = 0; j < 9; j++)
                for (n = 0; n < (test.is_small ? 2 : 4); n++) {
                    if (test.is_small && i != j)
                        continue;
                    c = a_scan(types[t][0], GPUSCAN_OP_ADD, counts[n]);
                    c.to = types[t][1];
                    c.src_offset = at[i];
                    c.dst_offset = at[j];
                    c.kind = (i + j) % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
                    c.total = 1;
                    if (t == 0 || test.is_long)
                        check_all_strategies(c);
                    else
                        check_scan(c);
                }
}

static void in_place(void **state) {
    static const uint64_t counts[] = {0, 1, 2, 31, 100, 1000, 4096, 5003, 65537, 300007, 1048577};
    scan_case             c;
    size_t                n;
    int                   kind;
    (void)state;
    for (n = 0; n < sizeof counts / sizeof counts[0] - (test.is_small ? 4 : 0); n++)
        for (kind = 0; kind < 2; kind++) {
            c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, counts[n]);
            c.in_place = 1;
            c.kind = (gpuscan_scan_kind)kind;
            c.total = 1;
            c.src_offset = c.dst_offset = n % 4;
            check_all_strategies(c);
        }
    /* types of one size, small and large */
    c = a_scan(GPUSCAN_TYPE_I32, GPUSCAN_OP_ADD, test_size(500, 20011, 20011));
    c.in_place = 1;
    c.from = GPUSCAN_TYPE_U8;
    c.to = GPUSCAN_TYPE_I8;
    check_all_strategies(c);
    c.from = c.to = GPUSCAN_TYPE_U64;
    check_all_strategies(c);
    c.custom = &op_affine_compose;
    check_all_strategies(c);
}

/* Rows in place, also many short ones: no row may be scanned twice. */
static void rows_in_place(void **state) {
    scan_case c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_size(90, 1333, 1333));
    (void)state;
    c.in_place = 1;
    c.rows = 7;
    c.src_pitch = c.dst_pitch = 1400;
    check_all_strategies(c);
    c.count = 3;
    c.rows = test_size(600, 3001, 100003);
    c.src_pitch = c.dst_pitch = 0;
    check_all_strategies(c);
}

/* Short rows, which every strategy takes in tiles of whole rows, and rows that are just too long for that: types of all
   sizes with all other options in turn. */
static void many_short_rows(void **state) {
    static const uint64_t     counts[] = {1, 2, 3, 8, 31, 32, 33};
    static const gpuscan_type types[][2] = {{GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32}, {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8},
                                            {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32},  {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F32},
                                            {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F16}, {GPUSCAN_TYPE_U64, GPUSCAN_TYPE_U64},
                                            {GPUSCAN_TYPE_I16, GPUSCAN_TYPE_I64}};
    size_t n, t, turn = (size_t)test_below(7);
    scan_case c;
    (void)state;
    for (n = 0; n < sizeof counts / sizeof *counts; n++)
        for (t = 0; t < sizeof types / sizeof *types; t++, turn++) {
            if (!test.is_long && t != n && !test_share(turn, 8))
                continue;
            c = a_scan(types[t][0], GPUSCAN_OP_ADD, counts[n]);
            c.to = types[t][1];
            c.rows = test_size(600, 3001, 100003);
            c.kind = (gpuscan_scan_kind)(turn & 1);
            c.init = (test_init)(turn % 3);
            c.total = turn % 4 < 2;
            c.src_offset = turn % 3;
            c.in_place = c.from == c.to && turn % 5 == 0;
            c.src_pitch = turn % 7 < 3 ? counts[n] + turn % 7 : turn % 7 < 5 ? 3 * counts[n] + turn % 2 : 0;
            c.dst_pitch = c.in_place || turn % 2 ? c.src_pitch : turn % 3 ? counts[n] + turn % 5 : 0;
            if (c.in_place)
                c.dst_offset = c.src_offset;
            if (turn % 4 == 3) {
                c.count_type = GPUSCAN_TYPE_U32;
                c.device_count = turn % (counts[n] + 1);
            }
            check_all_strategies(c);
            c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, counts[n]);
            c.custom = &op_affine_compose;
            c.rows = test_size(600, 3001, 100003);
            c.kind = (gpuscan_scan_kind)(~turn & 1);
            c.total = turn % 4 > 1;
            if (t == n)
                check_all_strategies(c);
        }
}

/* Rows that begin and end anywhere in vectors, cache lines and tiles. Tiles have 1024 vectors and begin up to eight
   vectors before their first row. A vector has 4, 16 or 1 elements. */
static void rows_in_tiles(void **state) {
    static const struct {
        uint32_t elements, bytes, structs; /* lengths for each element size that fill equal parts of a tile */
    } counts[] = {{1, 1, 1},           {2, 2, 2},           {3, 3, 3},           {4, 16, 5},          {5, 17, 7},
                  {7, 15, 8},          {8, 31, 9},          {10, 100, 31},       {31, 127, 32},       {32, 128, 33},
                  {33, 129, 63},       {100, 333, 100},     {127, 1000, 127},    {129, 2047, 128},    {256, 2048, 13},
                  {777, 3001, 14},     {1016, 4064, 15},    {1355, 5419, 17},    {2032, 8128, 18},
                  {4064, 16256, 253}, {4065, 16257, 254}, {4066, 16258, 338}, {4093, 16369, 507}, {4096, 16384, 1017}};
    static const uint64_t offsets[][2] = {{0, 0}, {1, 1}, {0, 3}, {3, 0}, {32, 0}, {31, 63}, {29, 33}, {5, 64}};
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_CUSTOM};
    size_t i, t, turn = (size_t)test_below(8);
    (void)state;
    for (t = 0; t < sizeof types / sizeof *types; t++)
        for (i = 0; i < sizeof counts / sizeof *counts - (test.is_small ? 13 : 0); i++, turn++) {
            uint64_t count = types[t] == GPUSCAN_TYPE_U8       ? counts[i].bytes
                             : types[t] == GPUSCAN_TYPE_CUSTOM ? counts[i].structs
                                                               : counts[i].elements;
            uint64_t elements = types[t] == GPUSCAN_TYPE_U8 ? 50000 : 20000;
            scan_case c = a_scan(types[t], GPUSCAN_OP_ADD, count);
            if (types[t] == GPUSCAN_TYPE_CUSTOM)
                c.custom = &op_affine_compose;
            if ((test.is_small && turn * 5 % 7 > 1) || !test_takes_one_of(4, t))
                continue;
            c.rows = (test.is_small ? 300 : elements) / count + 2;
            c.kind = t % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
            c.init = (test_init)(turn % 3);
            c.total = turn % 2 == 0;
            c.src_offset = offsets[turn % 8][0];
            c.dst_offset = offsets[turn % 8][1];
            if (count == counts[sizeof counts / sizeof *counts - 1].elements || turn % 9 == 0) /* a tile, if aligned */
                c.src_offset = c.dst_offset = 0;
            c.in_place = turn % 7 == 0;
            if (c.in_place)
                c.dst_offset = c.src_offset;
            if (turn % 5 == 0 && count < 1000)
                c.src_pitch = c.dst_pitch = count + turn % 3 + (count > 4 ? turn % 4 : 0);
            if (turn % 11 == 0) {
                c.count_type = GPUSCAN_TYPE_U32;
                c.device_count = count - count / 3;
            }
            test_one_strategy(&scans, &c, GPUSCAN_STRATEGY_MULTI_PASS);
        }
}

/* Rows of all shapes; also checks the gaps between them. */
static void rows_and_pitches(void **state) {
    static const struct {
        uint64_t rows, count, src_gap, dst_gap;
    } shapes[] = {{2, 0, 3, 5},     {3, 1, 0, 1},      {7, 5, 2, 0},      {5, 33, 0, 0},      {100, 100, 1, 4},
                  {13, 257, 7, 3},  {3, 1000, 5, 64},  {2, 4096, 0, 0},   {2, 4097, 3, 3},    {70001, 1, 0, 1},
                  {66000, 3, 1, 0}, {1000, 640, 0, 0}, {5, 30011, 1, 21}, {3, 150001, 0, 13}, {300, 2049, 2, 0}};
    scan_case c;
    size_t    i;
    (void)state;
    for (i = 0; i < sizeof shapes / sizeof shapes[0] - (test.is_small ? 6 : 0); i++) {
        c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, shapes[i].count);
        c.rows = shapes[i].rows;
        c.in_bytes = i % 2;
        c.src_pitch = shapes[i].src_gap ? shapes[i].count + shapes[i].src_gap : 0;
        c.dst_pitch = shapes[i].dst_gap ? shapes[i].count + shapes[i].dst_gap : 0;
        c.total = 1;
        c.src_offset = i % 3;
        c.dst_offset = i % 4;
        c.kind = i % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        check_all_strategies(c);
        c.init = i % 2 ? INIT_HOST : INIT_DEVICE;
        c.kind = i % 2 ? GPUSCAN_EXCLUSIVE : GPUSCAN_INCLUSIVE;
        check_all_strategies(c);
        if (!test_share(i, 1))
            continue;
        c.custom = &op_run_join;
        c.init = INIT_NONE;
        check_all_strategies(c);
    }
}

/* Checks that results and totals of floats have the same bits whatever lies between the rows. */
static void gaps_change_nothing(void **state) {
    static const uint64_t counts[] = {13, 30, 14}, pitches[] = {16, 32, 28};
    static const float    gaps[] = {0, 1000, -1000, NAN};
    const uint64_t        rows = test.is_small ? 9 : 300, most = 32 * rows;
    float                *data = (float *)test_alloc(most * sizeof *data);
    unsigned char        *wanted = (unsigned char *)test_alloc(most * sizeof *data), *totals;
    test_buffer           src = test_buffer_new(CL_MEM_READ_ONLY, sizeof *data, most), dst, total;
    uint64_t              i;
    size_t                k, g;
    (void)state;
    totals = (unsigned char *)test_alloc(rows * sizeof *data);
    for (k = 0; k < 6; k++) {
        const uint64_t   count = counts[k / 2], pitch = pitches[k / 2];
        gpuscan_scan_desc d;
        memset(&d, 0, sizeof d);
        d.kind = k % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        d.call.strategy = test_random() % 4 ? GPUSCAN_STRATEGY_MULTI_PASS : GPUSCAN_STRATEGY_AUTO;
        d.src_type = d.dst_type = GPUSCAN_TYPE_F32;
        d.count = count;
        d.rows = rows;
        d.src_pitch = d.dst_pitch = pitch;
        for (g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
            test_case("rows of %u floats, %u apart, %g between them, %s", (unsigned)count, (unsigned)pitch,
                      (double)gaps[g], test_strategy_name(d.call.strategy));
            for (i = 0; i < rows * pitch; i++)
                data[i] = i % pitch < count ? (float)(i * 2654435761u % 16777216u) / 16777216.0f : gaps[g];
            test_buffer_set(&src, 0, most, data);
            dst = test_buffer_new(CL_MEM_READ_WRITE, sizeof *data, most);
            total = test_buffer_new(CL_MEM_READ_WRITE, sizeof *data, rows);
            test_buffer_set(&dst, 0, most, NULL);
            test_buffer_set(&total, 0, rows, NULL);
            d.src = src.at;
            d.dst = dst.at;
            d.total = total.at;
            test_ok(gpuscan_scan(test.gs, &d));
            if (g == 0) {
                memcpy(wanted, test_buffer_get(&dst), rows * pitch * sizeof *data);
                memcpy(totals, test_buffer_get(&total), rows * sizeof *data);
            }
            test_same_bytes(test_buffer_get(&dst), wanted, sizeof *data, rows * pitch);
            test_same_bytes(test_buffer_get(&total), totals, sizeof *data, rows);
            test_buffer_free(&dst);
            test_buffer_free(&total);
        }
    }
    test_buffer_free(&src);
    free(data);
    free(wanted);
    free(totals);
}

static void device_counts(void **state) {
    static const uint64_t counts[] = {1, 100, 3000, 70001};
    scan_case             c;
    size_t                n, v;
    int                   rows, type;
    (void)state;
    for (n = 0; n < (test.is_small ? 2 : 4); n++)
        for (v = 0; v < 8; v++)
            for (rows = 1; rows <= 3; rows += 2)
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
                    c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, counts[n]);
                    c.rows = (uint64_t)rows;
                    c.dst_pitch = counts[n] + 2;
                    c.count_type = (gpuscan_type)type;
                    c.device_count = values[v];
                    c.total = 1;
                    c.init = (test_init)(v % 3);
                    c.kind = v % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
                    check_all_strategies(c);
                }
}

/* Init from the host and the device, with and without total, for no, one, some and many elements. */
static void inits_and_totals(void **state) {
    static const uint64_t             counts[] = {0, 1, 2, 63, 1000, 20011};
    static const gpuscan_type         types[] = {GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U8, GPUSCAN_TYPE_I64, GPUSCAN_TYPE_F32};
    static const test_operator *const customs[] = {&op_affine_compose, &op_forty};
    scan_case                         c;
    size_t                            n, t;
    int                               init, kind, total;
    (void)state;
    for (t = 0; t < (test.is_small ? 1 : 6); t++)
        for (n = 0; n < (test.is_small ? 5 : 6); n++)
            for (init = 0; init < 3; init++)
                for (kind = 0; kind < 2; kind++)
                    for (total = 0; total < 2; total++) {
                        c = a_scan(t < 4 ? types[t] : GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_ADD, counts[n]);
                        c.custom = t < 4 ? NULL : customs[t - 4];
                        c.init = (test_init)init;
                        c.kind = (gpuscan_scan_kind)kind;
                        c.total = total;
                        c.src_offset = 5;
                        if (t == 0 || test.is_long)
                            check_all_strategies(c);
                        else
                            check_scan(c);
                    }
}

/* ---- custom ------------------------------------------------------------------------------------------------------ */

static void custom_operators(void **state) {
    static const test_operator *const operators[] = {&op_run_join,       &op_matrix_product, &op_brackets_match,
                                                     &op_affine_compose, &op_marked_sum,     &op_seven_sum};
    static const gpuscan_strategy     only[] = {GPUSCAN_STRATEGY_AUTO,        GPUSCAN_STRATEGY_AUTO,
                                                GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                GPUSCAN_STRATEGY_AUTO,        GPUSCAN_STRATEGY_CPU_SINGLE_PASS};
    static const uint64_t             counts[] = {1, 2, 33, 257, 1000, 5003, 65537, 300007, 1500007};
    scan_case                         c;
    size_t                            o, n;
    int                               kind;
    (void)state;
    for (o = 0; o < sizeof operators / sizeof operators[0]; o++)
        for (n = 0; n < (test.is_small ? 5 : o == 0 || test.is_long ? 9 : 8); n++)
            for (kind = 0; kind < 2; kind++) {
                if (!test_share(o + (uint64_t)kind, 2))
                    continue;
                c = a_scan(operators[o]->type, GPUSCAN_OP_CUSTOM, counts[n]);
                c.custom = operators[o];
                c.kind = (gpuscan_scan_kind)kind;
                c.total = 1;
                c.init = o > 0 && n % 2 ? INIT_HOST : INIT_NONE;
                if (only[o])
                    check_one_strategy(c, only[o]);
                else
                    check_all_strategies(c);
            }
}

/* Checks the order of operands at every length: runs join only if none is swapped, lost or repeated. */
static void runs_of_every_length(void **state) {
    scan_case c = a_scan(GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, 0);
    (void)state;
    c.custom = &op_run_join;
    c.total = 1;
    for (c.count = 1; c.count <= test_size(300, 2050, 4097); c.count += c.count < 140 ? test_size(13, 1, 1) : 31) {
        c.kind = c.count % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        check_all_strategies(c);
    }
}

/* Elements over 32 bytes: a tile of whole rows holds only a few. */
static void rows_of_large_elements(void **state) {
    static const test_operator *const operators[] = {&op_matrices_product, &op_forty, &op_more_matrices_product};
    static const uint64_t             counts[] = {1, 3, 17, 100, 333};
    scan_case                         c;
    size_t                            o, n;
    (void)state;
    for (o = 0; o < sizeof operators / sizeof operators[0]; o++)
        for (n = 0; n < (test.is_small ? 3 : 5); n++) {
            c = a_scan(GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, counts[n]);
            c.custom = operators[o];
            c.rows = 2 + 1000 / counts[n];
            c.src_offset = n % 3;
            c.dst_offset = n % 2;
            if (n % 3 == 1)
                c.src_pitch = c.dst_pitch = counts[n] + n;
            c.total = 1;
            c.kind = (test.share > 8 ? o + test.seed : n + o) % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
            check_one_strategy(c, GPUSCAN_STRATEGY_MULTI_PASS);
        }
}

static void custom_sizes(void **state) {
    static const test_operator *const operators[] = {&op_last,  &op_three,          &op_twelve, &op_matrices_product,
                                                     &op_forty, &op_vector_compose, &op_more_matrices_product};
    static const gpuscan_strategy     only[] = {GPUSCAN_STRATEGY_SINGLE_PASS, GPUSCAN_STRATEGY_CPU_SINGLE_PASS,
                                                GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                GPUSCAN_STRATEGY_AUTO, GPUSCAN_STRATEGY_SINGLE_PASS_AHEAD,
                                                GPUSCAN_STRATEGY_SINGLE_PASS};
    static const uint64_t             counts[] = {1, 7, 300, 4099, 40009};
    scan_case                         c;
    size_t                            o, n;
    (void)state;
    for (o = 0; o < sizeof operators / sizeof operators[0]; o++)
        for (n = 0; n < (test.is_small ? 3 : 5) && test_takes_one_of(4, o); n++) {
            c = a_scan(GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, counts[n]);
            c.custom = operators[o];
            c.src_offset = n;
            c.dst_offset = 3 * n;
            c.total = 1;
            c.kind = (test.share > 8 ? o : n + o) % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
            if (only[o])
                check_one_strategy(c, only[o]);
            else
                check_all_strategies(c);
        }
}

/* Checks a scan with a convert expression against the caller's results. */
static void check_convert(gpuscan_scan_desc d, size_t from_size, const void *data, size_t to_size, const void *wanted) {
    uint64_t    rows = d.rows ? d.rows : 1, span = rows * d.count;
    test_buffer src = test_buffer_new(CL_MEM_READ_ONLY, from_size, span);
    test_buffer dst = test_buffer_new(CL_MEM_READ_WRITE, to_size, span);
    int         s;
    TEST_EACH_STRATEGY(s) {
        test_case("scan with the conversion %s, rows %" PRIu64 ", %s", d.custom->convert, rows,
                  test_strategy_name((gpuscan_strategy)s));
        test_buffer_set(&src, 3, span, data);
        test_buffer_set(&dst, 5, span, NULL);
        d.src = src.at;
        d.dst = dst.at;
        d.call.strategy = (gpuscan_strategy)s;
        if (test_scan_ran(&d))
            test_same_bytes(test_buffer_get(&dst), wanted, to_size, span);
    }
    test_buffer_free(&src);
    test_buffer_free(&dst);
}

static void conversions(void **state) {
    static const gpuscan_custom flags = {NULL, NULL, 0, NULL, NULL, "x > 200 ? 1 : 0", NULL, NULL, NULL};
    static const gpuscan_custom index = {NULL, NULL, 0, NULL, NULL, "(uint)i * 3u + x", NULL, NULL, NULL};
    static const gpuscan_custom twice = {NULL, NULL, 0, NULL, NULL, "2 * x", NULL, NULL, NULL};
    gpuscan_custom              to_custom = op_affine_compose.custom, from_custom = op_brackets_match.custom;
    gpuscan_scan_desc           d;
    uint64_t                    count = test_size(300, 10007, 10007), rows = 3, i, r;
    uint8_t                    *bytes = (uint8_t *)test_alloc(count);
    uint32_t                   *words = (uint32_t *)test_alloc(rows * count * 4), *sums, sum;
    op_affine                  *maps = (op_affine *)test_alloc(count * sizeof *maps), map;
    op_brackets                *brackets = (op_brackets *)test_alloc(count * sizeof *brackets);
    (void)state;
    sums = (uint32_t *)test_alloc(rows * count * 4);

    /* flags: counts earlier bytes above 200 */
    test_random_bytes(bytes, (size_t)count);
    for (i = 0, sum = 0; i < count; i++) {
        sums[i] = sum;
        sum += bytes[i] > 200;
    }
    memset(&d, 0, sizeof d);
    d.count = count;
    d.src_type = GPUSCAN_TYPE_U8;
    d.dst_type = GPUSCAN_TYPE_U32;
    d.custom = &flags;
    if (test_takes_one_of(2, 0))
        check_convert(d, 1, bytes, 4, sums);

    /* the index begins at 0 in every row */
    test_random_bytes(words, (size_t)(rows * count) * 4);
    for (r = 0; r < rows; r++)
        for (i = 0, sum = 0; i < count; i++) {
            sum += (uint32_t)i * 3 + words[r * count + i];
            sums[r * count + i] = sum;
        }
    d.src_type = d.dst_type = GPUSCAN_TYPE_U32;
    d.kind = GPUSCAN_INCLUSIVE;
    d.rows = rows;
    d.custom = &index;
    if (test_takes_one_of(2, 1))
        check_convert(d, 4, words, 4, sums);

    /* negative floats become signed integers, although the sums are unsigned */
    for (i = 0, sum = 0; i < count; i++) {
        int32_t quarters = (int32_t)test_below(4001) - 2000;
        float   x = (float)quarters / 4;
        memcpy(&words[i], &x, 4);
        sum += (uint32_t)(quarters / 2); /* rounds towards 0 */
        sums[i] = sum;
    }
    d.rows = 0;
    d.src_type = GPUSCAN_TYPE_F32;
    d.dst_type = GPUSCAN_TYPE_I32;
    d.custom = &twice;
    if (test_takes_one_of(2, 2))
        check_convert(d, 4, words, 4, sums);
    test_random_bytes(words, (size_t)count * 4);
    d.src_type = GPUSCAN_TYPE_U32;

    /* u32 to a custom type */
    to_custom.convert = "made(x, i)";
    to_custom.source = "typedef struct { uint scale, shift; } affine;\n"
                       "affine made(uint x, ulong i) { affine c; c.scale = 2 * x + 1; c.shift = (uint)i; return c; }\n"
                       "affine compose(affine a, affine b) {\n"
                       "    affine c; c.scale = a.scale * b.scale; c.shift = a.shift * b.scale + b.shift; return c; }\n"
                       "affine none(void) { affine c; c.scale = 1; c.shift = 0; return c; }\n";
    for (i = 0; i < count; i++) {
        maps[i].scale = 2 * words[i] + 1;
        maps[i].shift = (uint32_t)i;
    }
    ref_scan_custom(8, maps, maps, count, op_affine_combine, GPUSCAN_INCLUSIVE, &op_affine_identity, &map);
    d.dst_type = GPUSCAN_TYPE_CUSTOM;
    d.op = GPUSCAN_OP_CUSTOM;
    d.custom = &to_custom;
    if (test_takes_one_of(2, 3))
        check_convert(d, 4, words, 8, maps);

    /* a custom type to u32, summed */
    from_custom.convert = "x.open + 2 * x.close";
    from_custom.combine = from_custom.identity = NULL;
    op_brackets_fill(brackets, count);
    for (i = 0, sum = 0; i < count; i++)
        sums[i] = sum += brackets[i].open + 2 * brackets[i].close;
    d.src_type = GPUSCAN_TYPE_CUSTOM;
    d.dst_type = GPUSCAN_TYPE_U32;
    d.op = GPUSCAN_OP_ADD;
    d.custom = &from_custom;
    if (test_takes_one_of(2, 4))
        check_convert(d, 8, brackets, 4, sums);

    free(bytes);
    free(words);
    free(sums);
    free(maps);
    free(brackets);
}

/* Bytes to structs whose size is not a power of two, and to large ones, so that a vector is one element. */
static void conversions_to_structs(void **state) {
    static const struct {
        gpuscan_custom custom;
        unsigned       numbers; /* uints in the struct; the first is a sum, the last a maximum */
    } structs[] = {{{"typedef struct { uint v[3]; } three;\n"
                     "three join(three a, three b) { a.v[0] += b.v[0]; a.v[2] = max(a.v[2], b.v[2]); return a; }\n"
                     "three made(uint x) { three a; a.v[0] = x; a.v[1] = 7; a.v[2] = x; return a; }\n"
                     "three none(void) { three a = made(0); return a; }\n",
                     "three", 12, "join(a, b)", "none()", "made(x)", NULL, NULL, NULL},
                    3},
                   {{"typedef struct { uint v[8]; } eight;\n"
                     "eight join(eight a, eight b) { a.v[0] += b.v[0]; a.v[7] = max(a.v[7], b.v[7]); return a; }\n"
                     "eight made(uint x) { eight a; int i; for (i = 0; i < 8; i++) a.v[i] = 7; a.v[0] = a.v[7] = x;\n"
                     "    return a; }\n"
                     "eight none(void) { return made(0); }\n",
                     "eight", 32, "join(a, b)", "none()", "made(x)", NULL, NULL, NULL},
                    8}};
    enum { COUNT = 1000 };
    uint8_t           bytes[COUNT];
    uint32_t          out[COUNT * 8], wanted[COUNT * 8], sum, most;
    gpuscan_scan_desc d;
    size_t            s, i, k;
    (void)state;
    test_random_bytes(bytes, COUNT);
    for (s = 0; s < 2; s++) {
        unsigned numbers = structs[s].numbers;
        for (i = 0, sum = most = 0; i < COUNT; i++) {
            sum += bytes[i];
            most = bytes[i] > most ? bytes[i] : most;
            for (k = 1; k < numbers; k++)
                wanted[i * numbers + k] = 7;
            wanted[i * numbers] = sum;
            wanted[(i + 1) * numbers - 1] = most;
        }
        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_U8;
        d.dst_type = GPUSCAN_TYPE_CUSTOM;
        d.op = GPUSCAN_OP_CUSTOM;
        d.kind = GPUSCAN_INCLUSIVE;
        d.custom = &structs[s].custom;
        test_case("bytes to structs of %u", 4 * numbers);
        test_ok(gpuscan_scan_host(test.gs, bytes, out, COUNT, &d));
        test_same_bytes(out, wanted, 4 * numbers, COUNT);
    }
}

/* ---- floats ------------------------------------------------------------------------------------------------------ */

/* Checks that sums of random floats have the same bits in every run and are near the sum in f64 (long double for f64).
   Each of up to n additions rounds by at most half a unit of 2^-23 (2^-52), here to both sides alike, in total about
   sqrt(n) units. The bound is 4 sqrt(n) units times the sum of the magnitudes. */
static void check_float_sums(gpuscan_type type, gpuscan_strategy strategy, uint64_t count, int runs) {
    size_t            size = ref_size(type);
    double            unit = type == GPUSCAN_TYPE_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    test_buffer       src = test_buffer_new(CL_MEM_READ_ONLY, size, count), dst = test_buffer_new(0, size, count);
    unsigned char    *data = (unsigned char *)test_alloc(count * size), *first;
    long double       sum = 0, magnitude = 0, error;
    gpuscan_scan_desc d;
    ref_value         v;
    uint64_t          i;
    int               run;
    first = (unsigned char *)test_alloc(count * size);
    for (i = 0; i < count; i++)
        ref_store(type, data, i, ref_real((test_unit() - 0.25) * ldexp(1, (int)test_below(12))));
    memset(&d, 0, sizeof d);
    d.count = count;
    d.src_type = type;
    d.kind = GPUSCAN_INCLUSIVE;
    d.call.strategy = strategy;
    test_buffer_set(&src, 1, count, data);
    for (run = 0; run < runs; run++) {
        test_case("run %d of sums of %" PRIu64 " %s, %s", run, count, test_type_name(type),
                  test_strategy_name(strategy));
        test_buffer_set(&dst, 2, count, NULL);
        d.src = src.at;
        d.dst = dst.at;
        if (!test_scan_ran(&d))
            break;
        if (run == 0)
            memcpy(first, test_buffer_get(&dst), (size_t)count * size);
        else
            test_same_bytes(test_buffer_get(&dst), first, size, count);
    }
    for (i = 0; i < count && run > 0; i++) {
        sum += (long double)ref_load(type, data, i).real;
        magnitude += fabsl((long double)ref_load(type, data, i).real);
        v = ref_load(type, first, i);
        error = fabsl((long double)v.real - sum);
        if (!(error <= 4 * sqrtl((long double)(i + 1)) * (long double)unit * magnitude))
            fail_msg("%s: element %" PRIu64 " is %.17g, off by %Lg", test.what, i, v.real, error);
    }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(data);
    free(first);
}

static void float_sums(void **state) {
    static const uint64_t counts[] = {1003, 100003, 1000003};
    int                   s, n;
    (void)state;
    TEST_EACH_STRATEGY(s) {
        for (n = 0; n < (test.is_small ? 1 : test.is_long ? 3 : 2); n++)
            check_float_sums(GPUSCAN_TYPE_F32, (gpuscan_strategy)s, counts[n], test.is_small ? 5 : 100);
        if (test_has_type(GPUSCAN_TYPE_F64))
            check_float_sums(GPUSCAN_TYPE_F64, (gpuscan_strategy)s, counts[test.is_small ? 0 : 1],
                             test.is_small ? 3 : 100);
    }
}

/* ---- scratch, limits, host arrays -------------------------------------------------------------------------------- */

/* Uses the caller's scratch of exactly the queried size, full of garbage, then of the previous call's data. */
static void scratch_of_the_caller(void **state) {
    static const uint64_t counts[] = {0, 1, 1000, 70001, 5003, 1048577, 300007, 12};
    test_buffer           src, dst, scratch;
    gpuscan_scan_desc     d;
    uint64_t              most = test_size(5003, 1048577, 1048577), size, largest, i;
    uint32_t             *data = (uint32_t *)test_alloc(most * 4), *sums = (uint32_t *)test_alloc((most + 1) * 4);
    unsigned char        *garbage;
    int                   s, fill;
    size_t                n;
    (void)state;
    test_fill(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, data, most);
    sums[most] = (uint32_t)ref_scan(GPUSCAN_TYPE_U32, sums, GPUSCAN_TYPE_U32, data, most, GPUSCAN_OP_ADD,
                                    GPUSCAN_EXCLUSIVE, NULL)
                     .bits;
    src = test_buffer_new(CL_MEM_READ_ONLY, 4, most);
    dst = test_buffer_new(CL_MEM_WRITE_ONLY, 4, most);
    test_buffer_set(&src, 0, most, data);
    TEST_EACH_STRATEGY(s)
        for (fill = 0; fill < 4; fill++) {
            memset(&d, 0, sizeof d);
            d.call.strategy = (gpuscan_strategy)s;
            largest = 0;
            for (n = 0; n < sizeof counts / sizeof counts[0]; n++)
                if (counts[n] <= most) {
                    d.count = counts[n];
                    test_case("scratch size of %" PRIu64 ", %s", d.count, test_strategy_name(d.call.strategy));
                    if (gpuscan_scan_scratch_size(test.gs, &d, &size) == GPUSCAN_SUCCESS && size > largest)
                        largest = size;
                }
            scratch = test_buffer_new(CL_MEM_READ_WRITE, 64, largest / 64 + 1);
            garbage = (unsigned char *)test_alloc(largest + 64);
            for (i = 0; i < largest + 64; i++)
                garbage[i] = fill == 0   ? 0
                             : fill == 1 ? 255
                             : fill == 2 ? i % 4 == 0
                                         : (unsigned char)(test_random() & 255);
            test_buffer_set(&scratch, 2, largest / 64 + 1, garbage);
            for (n = 0; n < sizeof counts / sizeof counts[0]; n++) {
                if (counts[n] > most)
                    continue;
                test_buffer_set(&dst, 1, counts[n], NULL);
                d.src = src.at;
                d.dst = dst.at;
                d.count = counts[n];
                d.call.scratch.mem = NULL;
                d.call.scratch.offset = 0;
                d.call.scratch_size = 0;
                test_case("scan of %" PRIu64 " with the caller's scratch, %s, garbage %d", d.count,
                          test_strategy_name(d.call.strategy), fill);
                if (!test_ran(gpuscan_scan_scratch_size(test.gs, &d, &size), d.call.strategy,
                              test_scan_refusal(&d)))
                    continue;
                d.call.scratch.mem = scratch.at.mem;
                d.call.scratch.offset = 2 * 64;
                d.call.scratch_size = size;
                if (!test_scan_ran(&d))
                    continue;
                test_same(GPUSCAN_TYPE_U32, test_buffer_get(&dst), sums, d.count);
                test_buffer_get(&scratch); /* checks its guards */
            }
            test_buffer_free(&scratch);
            free(garbage);
        }
    test_buffer_free(&src);
    test_buffer_free(&dst);
    free(data);
    free(sums);
}

/* Devices with less: small groups, little local memory, only plain OpenCL 1.2. */
static void limited_devices(void **state) {
    static const gpuscan_limits limits[] = {{1, 0, 0, 0},
                                            {16, 0, GPUSCAN_WITHOUT_LANES, 0},
                                            {0, 2048, GPUSCAN_WITHOUT_INT64_ATOMICS, 0},
                                            {0, 0, GPUSCAN_WITHOUT_FENCE, 0},
                                            {100, 4096,
                                             GPUSCAN_WITHOUT_INT64_ATOMICS | GPUSCAN_WITHOUT_F64 |
                                                 GPUSCAN_WITHOUT_LANES | GPUSCAN_WITHOUT_FENCE |
                                                 GPUSCAN_WITHOUT_ZERO_COPY, 0}};
    scan_case                   c;
    size_t                      i;
    (void)state;
    for (i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (!test_share(i, 1))
            continue;
        test_limit(&limits[i]);
        c = a_scan(GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_size(600, 70001, 300007));
        c.total = 1;
        check_all_strategies(c);
        c.in_place = 1;
        c.kind = GPUSCAN_INCLUSIVE;
        check_all_strategies(c);
        c.in_place = 0;
        c.custom = &op_run_join;
        if (i == 0 || i == 4)
            check_one_strategy(c, i == 0 ? GPUSCAN_STRATEGY_SINGLE_PASS : GPUSCAN_STRATEGY_MULTI_PASS);
    }
}

static void host_arrays(void **state) {
    static const uint64_t counts[] = {0, 1, 2, 1000, 4097, 100003};
    uint64_t              most = test_size(4097, 100003, 100003), i, r;
    uint32_t             *data = (uint32_t *)test_alloc(most * 4), *out, *wanted;
    uint8_t              *bytes = (uint8_t *)test_alloc(most);
    op_matrix            *matrices = (op_matrix *)test_alloc(most * 16), *products, matrix;
    gpuscan_scan_desc     d;
    uint32_t              init = 1000;
    ref_value             start = ref_bits(init);
    size_t                n;
    (void)state;
    out = (uint32_t *)test_alloc(most * 4);
    wanted = (uint32_t *)test_alloc(most * 4);
    products = (op_matrix *)test_alloc(most * 16);
    test_random_bytes(data, (size_t)most * 4);
    test_random_bytes(bytes, (size_t)most);
    for (n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        if (counts[n] > most)
            continue;
        test_case("scan of %" PRIu64 " on the host's arrays", counts[n]);
        memset(out, 0xEE, (size_t)most * 4);
        memset(wanted, 0xEE, (size_t)most * 4);
        ref_scan(GPUSCAN_TYPE_U32, wanted, GPUSCAN_TYPE_U32, data, counts[n], GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, NULL);
        test_ok(gpuscan_scan_host(test.gs, data, out, counts[n], NULL));
        test_same(GPUSCAN_TYPE_U32, out, wanted, most);
        /* in place */
        memcpy(out, data, (size_t)most * 4);
        memcpy(wanted + counts[n], data + counts[n], (size_t)(most - counts[n]) * 4);
        test_ok(gpuscan_scan_host(test.gs, out, out, counts[n], NULL));
        test_same(GPUSCAN_TYPE_U32, out, wanted, most);
        /* another type, inclusive, init; then rows with gaps */
        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_U8;
        d.dst_type = GPUSCAN_TYPE_U32;
        d.kind = GPUSCAN_INCLUSIVE;
        d.init = &init;
        ref_scan(GPUSCAN_TYPE_U32, wanted, GPUSCAN_TYPE_U8, bytes, counts[n], GPUSCAN_OP_ADD, GPUSCAN_INCLUSIVE,
                 &start);
        test_ok(gpuscan_scan_host(test.gs, bytes, out, counts[n], &d));
        test_same(GPUSCAN_TYPE_U32, out, wanted, counts[n]);
    }
    test_case("rows of 333 on the host's arrays");
    d.rows = 5;
    d.src_pitch = 340;
    d.dst_pitch = 350;
    memset(out, 0xEE, (size_t)most * 4);
    memset(wanted, 0xEE, (size_t)most * 4);
    for (r = 0; r < 5; r++)
        ref_scan(GPUSCAN_TYPE_U32, wanted + r * 350, GPUSCAN_TYPE_U8, bytes + r * 340, 333, GPUSCAN_OP_ADD,
                 GPUSCAN_INCLUSIVE, &start);
    test_ok(gpuscan_scan_host(test.gs, bytes, out, 333, &d));
    test_same(GPUSCAN_TYPE_U32, out, wanted, most);

    test_case("a count on the device for the host's arrays");
    {
        test_buffer    number = test_buffer_new(CL_MEM_READ_ONLY, 4, 1);
        uint32_t       few = 700;
        gpuscan_limits limits;
        int            copied;
        test_buffer_set(&number, 0, 1, &few);
        test_cl(clFinish(test.queue));
        for (copied = 0; copied < 2; copied++) { /* elements behind the count must stay, also if arrays are copied */
            memset(&limits, 0, sizeof limits);
            limits.without = copied ? GPUSCAN_WITHOUT_ZERO_COPY : 0;
            test_limit(&limits);
            memset(&d, 0, sizeof d);
            d.count_buffer = number.at;
            memset(out, 0xEE, (size_t)most * 4);
            memset(wanted, 0xEE, (size_t)most * 4);
            ref_scan(GPUSCAN_TYPE_U32, wanted, GPUSCAN_TYPE_U32, data, few, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, NULL);
            test_ok(gpuscan_scan_host(test.gs, data, out, 1000, &d));
            test_same(GPUSCAN_TYPE_U32, out, wanted, 1100);
        }
        test_buffer_free(&number);
    }

    test_case("matrices on the host's arrays");
    op_matrix_fill(matrices, most);
    ref_scan_custom(16, products, matrices, most, op_matrix_combine, GPUSCAN_EXCLUSIVE, &op_matrix_identity, &matrix);
    memset(&d, 0, sizeof d);
    d.src_type = GPUSCAN_TYPE_CUSTOM;
    d.op = GPUSCAN_OP_CUSTOM;
    d.custom = &op_matrix_product.custom;
    test_ok(gpuscan_scan_host(test.gs, matrices, matrices, most, &d));
    test_same_bytes(matrices, products, 16, most);

    test_case("unaligned arrays of the host");
    for (i = 1; i < 4; i++) {
        ref_scan(GPUSCAN_TYPE_U8, wanted, GPUSCAN_TYPE_U8, bytes + i, 1000, GPUSCAN_OP_ADD, GPUSCAN_EXCLUSIVE, NULL);
        d.src_type = GPUSCAN_TYPE_U8;
        d.op = GPUSCAN_OP_ADD;
        d.custom = NULL;
        test_ok(gpuscan_scan_host(test.gs, bytes + i, (uint8_t *)out + 3, 1000, &d));
        test_same(GPUSCAN_TYPE_U8, (uint8_t *)out + 3, wanted, 1000);
    }
    free(data);
    free(bytes);
    free(out);
    free(wanted);
    free(matrices);
    free(products);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Matrices of few and many columns, with one tile and several, all options in turn. */
static void columns(void **state) {
    static const uint64_t     shapes[][2] = {{1, 1},    {5000, 1}, {3001, 2},  {1200, 7},  {777, 16}, {0, 5},
                                             {1100, 33}, {300, 100}, {129, 600}, {37, 1030}, {1, 300}};
    static const gpuscan_type pairs[][2] = {{GPUSCAN_TYPE_U32, GPUSCAN_TYPE_U32}, {GPUSCAN_TYPE_F32, GPUSCAN_TYPE_F32},
                                            {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U8},   {GPUSCAN_TYPE_F16, GPUSCAN_TYPE_F16},
                                            {GPUSCAN_TYPE_F64, GPUSCAN_TYPE_F64}, {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_U32},
                                            {GPUSCAN_TYPE_I64, GPUSCAN_TYPE_I16}};
    static const gpuscan_op ops[] = {GPUSCAN_OP_ADD, GPUSCAN_OP_MAX, GPUSCAN_OP_MUL, GPUSCAN_OP_MIN};
    size_t                    n, t;
    (void)state;
    for (n = 0; n < sizeof shapes / sizeof shapes[0]; n++)
        for (t = 0; t < sizeof pairs / sizeof pairs[0]; t++) {
            uint64_t  count = test.is_small ? shapes[n][0] / 8 : shapes[n][0];
            scan_case c = a_scan(pairs[t][0], GPUSCAN_OP_ADD, count);
            if (!test_share(n + t, 3) || !test_has_type(pairs[t][0]) || !test_has_type(pairs[t][1]))
                continue;
            c.to = pairs[t][1];
            c.columns = 1;
            c.rows = shapes[n][1];
            c.kind = (n + t) % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
            c.op = ops[(n + t) % 4];
            c.init = (test_init)((n + t) % 3);
            c.total = n % 2 == 0;
            c.reverse = test_below(3) == 0;
            c.converts = (int)(t % 2);
            check_all_strategies(c);
            c.in_place = c.from == c.to && test_below(2);
            c.src_pitch = c.rows + test_below(9);
            c.dst_pitch = c.in_place ? c.src_pitch : c.rows + test_below(4);
            c.in_bytes = test_below(2) != 0;
            c.src_offset = test_below(4);
            c.dst_offset = c.in_place ? c.src_offset : test_below(4);
            c.converts = 0;
            c.total = 1;
            c.count_type = test_below(2) ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
            c.device_count = test_below(count + 2);
            check_all_strategies(c);
        }
}

/* Operators that do not commute, and elements of 16 and 1024 bytes: more columns than a CPU's unit can have. */
static void columns_of_structs(void **state) {
    static const test_operator *const operators[] = {&op_matrix_product, &op_run_join};
    size_t                            n;
    (void)state;
    for (n = 0; n < sizeof operators / sizeof operators[0]; n++) {
        scan_case c = a_scan(GPUSCAN_TYPE_CUSTOM, GPUSCAN_OP_CUSTOM, test_size(60, 700, 3000));
        c.custom = operators[n];
        c.columns = 1;
        c.rows = 3;
        c.kind = n % 2 ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        c.total = 1;
        check_all_strategies(c);
        c.rows = 70;
        c.count /= 5;
        c.in_place = 1;
        check_all_strategies(c);
    }
}

/* Elements of 4 bytes become structs of 6. A union of both has 8 bytes, of which local memory holds many. */
static void columns_of_six_bytes(void **state) {
    enum { COLUMNS = 70, LINES = 300 };
    static const char source[] = "typedef struct { ushort a, b, c; } six;\n"
                                 "six six_of(uint x) { six y; y.a = (ushort)x; y.b = 1; y.c = 2; return y; }\n"
                                 "six six_add(six x, six y) { x.a += y.a; x.b += y.b; x.c += y.c; return x; }\n"
                                 "six six_zero(void) { six y; y.a = y.b = y.c = 0; return y; }\n";
    static uint32_t   src[LINES * COLUMNS];
    static uint16_t   dst[LINES * COLUMNS][3];
    gpuscan_custom    custom;
    gpuscan_scan_desc d;
    uint32_t          i, sum, lines = (uint32_t)test_size(20, LINES, LINES);
    int               s;
    (void)state;
    memset(&custom, 0, sizeof custom);
    custom.source = source;
    custom.type = "six";
    custom.size = 6;
    custom.combine = "six_add(a, b)";
    custom.identity = "six_zero()";
    custom.convert = "six_of(x)";
    for (i = 0; i < LINES * COLUMNS; i++)
        src[i] = i * i;
    for (s = GPUSCAN_STRATEGY_AUTO; s <= GPUSCAN_STRATEGY_SINGLE_PASS; s++) {
        memset(&d, 0, sizeof d);
        d.src_type = GPUSCAN_TYPE_U32;
        d.dst_type = GPUSCAN_TYPE_CUSTOM;
        d.op = GPUSCAN_OP_CUSTOM;
        d.custom = &custom;
        d.kind = GPUSCAN_INCLUSIVE;
        d.along = GPUSCAN_ALONG_COLUMNS;
        d.rows = COLUMNS;
        d.call.strategy = (gpuscan_strategy)s;
        test_case("columns of 6 bytes, %s", test_strategy_name(d.call.strategy));
        test_ok(gpuscan_scan_host(test.gs, src, dst, lines, &d));
        for (i = 0; i < lines * COLUMNS; i++) {
            sum = src[i] + (i < COLUMNS ? 0 : dst[i - COLUMNS][0]);
            assert_int_equal(dst[i][0], sum & 0xffff);
            assert_int_equal(dst[i][1], i / COLUMNS + 1);
            assert_int_equal(dst[i][2], 2 * (i / COLUMNS + 1));
        }
    }
}

/* Matrices of up to 5000 columns, with one block, band and strip or several. The device's count is often far below
   `count`, so that blocks and bands are empty. */
static void columns_at_random(void **state) {
    static const gpuscan_type types[] = {GPUSCAN_TYPE_U8, GPUSCAN_TYPE_I16, GPUSCAN_TYPE_U32, GPUSCAN_TYPE_F32,
                                         GPUSCAN_TYPE_U64};
    static const uint64_t     most[] = {4, 16, 40, 300, 5000};
    int                       n;
    (void)state;
    for (n = 0; n < 40; n++) {
        scan_case c = a_scan(types[test_below(5)], n % 3 ? GPUSCAN_OP_ADD : GPUSCAN_OP_MAX, 0);
        uint64_t  elements = (uint64_t)1 << (4 + test_below(test.is_small ? 8 : 17));
        if (!test_share((size_t)n, 8))
            continue;
        c.columns = 1;
        c.rows = 1 + test_below(most[n % 5]);
        c.count = 1 + elements / c.rows;
        c.kind = test_below(2) ? GPUSCAN_INCLUSIVE : GPUSCAN_EXCLUSIVE;
        c.in_place = test_below(2) != 0;
        c.src_pitch = test_below(2) ? 0 : c.rows + test_below(9);
        c.dst_pitch = c.in_place || test_below(2) ? c.src_pitch : c.rows + test_below(9);
        c.src_offset = test_below(2) ? 0 : test_below(9);
        c.dst_offset = c.in_place ? c.src_offset : test_below(2) * test_below(9);
        c.init = (test_init)test_below(3);
        c.total = 1;
        c.count_type = test_below(2) ? GPUSCAN_TYPE_U32 : GPUSCAN_TYPE_DEFAULT;
        c.device_count = test_below(4) ? test_below(c.count / 8 + 2) : test_below(c.count + 1);
        check_all_strategies(c);
    }
}

/* Groups of 1, 16 and 100 work-items, and little local memory, for lines that are short and others. */
static void columns_on_limited_devices(void **state) {
    static const gpuscan_limits limits[] = {
        {1, 0, 0, 0}, {16, 0, GPUSCAN_WITHOUT_LANES, 0}, {100, 4096, GPUSCAN_WITHOUT_LANES, 0}, {0, 2048, 0, 0}};
    size_t                      i;
    (void)state;
    for (i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        scan_case c = a_scan(i % 2 ? GPUSCAN_TYPE_U8 : GPUSCAN_TYPE_U32, GPUSCAN_OP_ADD, test_size(60, 3001, 30007));
        if (!test_share(i, 2))
            continue;
        test_limit(&limits[i]);
        c.columns = 1;
        c.total = 1;
        c.rows = 3;
        check_all_strategies(c);
        c.rows = 52;
        c.count /= 10;
        c.kind = GPUSCAN_INCLUSIVE;
        check_all_strategies(c);
        c.rows = 150; /* columns of few lines take one launch */
        c.count = 9;
        check_all_strategies(c);
    }
}

/* An empty scan without src: the total must be init, with every strategy. */
static void test_empty_scan(void **state) {
    test_buffer total = test_buffer_new(CL_MEM_READ_WRITE, 4, 16);
    const cl_uint init = 77;
    int s;
    (void)state;
    for (s = 0; s < GPUSCAN_STRATEGY_COUNT; s++) {
        gpuscan_scan_desc desc;
        memset(&desc, 0, sizeof desc);
        test_case("a scan of nothing, %s", test_strategy_name((gpuscan_strategy)s));
        test_buffer_set(&total, 0, 1, NULL);
        desc.total = total.at;
        desc.init = &init;
        desc.call.strategy = (gpuscan_strategy)s;
        if (!test_scan_ran(&desc))
            continue;
        assert_int_equal(*(const cl_uint *)test_buffer_get(&total), 77);
    }
    test_buffer_free(&total);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(every_length),
                                       TEST(edges),
                                       TEST(primes_and_random_lengths),
                                       TEST(many),
                                       TEST(every_tile),
                                       TEST(more_than_32_bits),
                                       TEST(types_and_operators),
                                       TEST(several_elements_per_word),
                                       TEST(differing_types),
                                       TEST(every_f16),
                                       TEST(f16_rounds_when_stored),
                                       TEST(extremes_of_floats),
                                       TEST(offsets),
                                       TEST(in_place),
                                       TEST(rows_in_place),
                                       TEST(rows_in_tiles),
                                       TEST(rows_and_pitches), TEST(gaps_change_nothing),
                                       TEST(many_short_rows),
                                       TEST(device_counts),
                                       TEST(inits_and_totals),
                                       TEST(custom_operators),
                                       TEST(runs_of_every_length),
                                       TEST(custom_sizes),
                                       TEST(rows_of_large_elements),
                                       TEST(conversions),
                                       TEST(conversions_to_structs),
                                       TEST(float_sums),
                                       TEST(scratch_of_the_caller),
                                       TEST(limited_devices),
                                       TEST(host_arrays),
                                       TEST(columns),
                                       TEST(columns_of_structs), TEST(columns_of_six_bytes),
                                       TEST(columns_at_random),
                                       TEST(columns_on_limited_devices),
                                       TEST(test_empty_scan)};
    test_select();
    return cmocka_run_group_tests_name("scan", tests, test_open, test_close);
}
