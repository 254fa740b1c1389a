/* How an entry point that stands in for a driver's answers a query of what something is. */
#ifndef TEST_ANSWER_H
#define TEST_ANSWER_H

#include <string.h>

static inline cl_int answer(const void *value, size_t length, size_t size, void *out, size_t *needed) {
    if (needed)
        *needed = length;
    if (out && size < length)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, length);
    return CL_SUCCESS;
}

static inline cl_int answer_text(const char *text, size_t size, void *out, size_t *needed) {
    return answer(text, strlen(text) + 1, size, out, needed);
}

#endif /* TEST_ANSWER_H */
