/* What tests/cl_layer.c and a program that runs under it agree on: a layer between the ICD loader and the drivers that
   counts what is alive and makes the k-th call fail. */
#ifndef TEST_CL_LAYER_H
#define TEST_CL_LAYER_H

#include <CL/cl.h>

typedef struct cl_layer_control {
    int armed;          /* only then calls are counted and fail */
    unsigned calls;     /* so far */
    unsigned fail_at;   /* this one fails, counted from 1; 0: none */
    int fail_on;        /* so do all later ones */
    cl_int fail_code;   /* with this */
    const char *failed; /* the function that failed first, or NULL */
    long live;          /* references held, of all objects; counted always */
} cl_layer_control;

/* Exported by the layer. */
typedef cl_layer_control *(*cl_layer_get)(void);

#endif /* TEST_CL_LAYER_H */
