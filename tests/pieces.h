/* The kernels' text as programs have it, for test programs and for test_embed.sh, which includes another gpuscan.h. */
#ifndef TEST_PIECES_H
#define TEST_PIECES_H

/* Returns all pieces of the kernels, for the caller to free, or NULL if memory is short. */
static inline char *pieces_text(void) {
    static const gpuscan_allocator allocator = {NULL, NULL, NULL};
    const char *const *literal;
    gpuscan__text text;
    size_t i;
    memset(&text, 0, sizeof text);
    text.allocator = &allocator;
    for (i = 0; i < GPUSCAN__PIECES; i++)
        for (literal = gpuscan__pieces[i]; *literal; literal++)
            gpuscan__text_code(&text, *literal);
    return text.failed ? NULL : text.data;
}

#endif
