/* The interface between tests/cl_layer.c and a program under it: a layer between the ICD loader and the drivers that
   counts live objects and makes the k-th call fail. */
#ifndef TEST_CL_LAYER_H
#define TEST_CL_LAYER_H

#include <CL/cl.h>

typedef struct cl_layer_control {
    int armed;          /* 1: calls are counted and may fail */
    unsigned calls;     /* counted so far */
    unsigned fail_at;   /* the call that fails, counted from 1; 0: none */
    int fail_on;        /* 1: all later calls fail, too */
    cl_int fail_code;   /* returned by calls that fail */
    const char *failed; /* the first function that failed, or NULL */
    long live;          /* references to all objects; always counted */
} cl_layer_control;

/* Exported by the layer. */
typedef cl_layer_control *(*cl_layer_get)(void);

#endif /* TEST_CL_LAYER_H */
