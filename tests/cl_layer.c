/* An OpenCL layer, loaded by the ICD loader, that counts references and makes chosen calls fail; see cl_layer.h.
   Build: cc -shared -fPIC tests/cl_layer.c -o layer.so; then set OPENCL_LAYERS=layer.so for a program whose ICD loader
   supports layers (ocl-icd 2.3, Khronos' loader 3.0).
   It shares only the list of entry points with tests/layer.h, which counts inside the library's own table. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>

#include "cl_layer.h"
#include "opencl.h"

static cl_layer_control control;
static struct _cl_icd_dispatch layer;
static const struct _cl_icd_dispatch *next;

cl_layer_control *cl_layer(void);
cl_layer_control *cl_layer(void) {
    return &control;
}

static cl_int fails(const char *name) {
    unsigned call;
    if (!control.armed)
        return CL_SUCCESS;
    call = ++control.calls;
    if (control.fail_at == 0 || call < control.fail_at || (call > control.fail_at && !control.fail_on))
        return CL_SUCCESS;
    if (control.failed == NULL)
        control.failed = name;
    return control.fail_code;
}

#define ON_STATUS(name, result, arguments) return failure ? failure : next->name arguments;
#define ON_MAKE(name, result, arguments)                                                                               \
    result made = NULL;                                                                                                \
    if (failure == CL_SUCCESS)                                                                                         \
        made = next->name arguments;                                                                                   \
    else if (status)                                                                                                   \
        *status = failure;                                                                                             \
    control.live += made != NULL;                                                                                      \
    return made;
#define ON_RETAIN(name, result, arguments)                                                                             \
    if (failure == CL_SUCCESS)                                                                                         \
        failure = next->name(object);                                                                                  \
    control.live += failure == CL_SUCCESS;                                                                             \
    return failure;
/* Releases even when it reports a failure. */
#define ON_RELEASE(name, result, arguments)                                                                            \
    cl_int status = next->name(object);                                                                                \
    control.live -= status == CL_SUCCESS;                                                                              \
    return failure ? failure : status;
#define ON_ENQUEUE(name, result, arguments)                                                                            \
    if (failure == CL_SUCCESS)                                                                                         \
        failure = next->name arguments;                                                                                \
    control.live += failure == CL_SUCCESS && event != NULL;                                                            \
    return failure;
#define ON_MAP(name, result, arguments)                                                                                \
    void *mapped = NULL;                                                                                               \
    if (failure == CL_SUCCESS)                                                                                         \
        mapped = next->name arguments;                                                                                 \
    else if (status)                                                                                                   \
        *status = failure;                                                                                             \
    control.live += mapped && event;                                                                                   \
    return mapped;

#define CALL(kind, name, result, parameters, arguments)                                                                \
    static result CL_API_CALL layer_##name parameters {                                                                \
        cl_int failure = fails(#name);                                                                                 \
        ON_##kind(name, result, arguments)                                                                             \
    }
OPENCL_CALLS(CALL)

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed) {
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what == CL_LAYER_API_VERSION)
        return answer(&version, sizeof version, size, value, needed);
    return what == CL_LAYER_NAME ? answer_text("gpuscan's tests", size, value, needed) : CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const struct _cl_icd_dispatch *target, cl_uint *layer_count,
                                            const struct _cl_icd_dispatch **dispatch) {
    size_t size = (size_t)count * sizeof(void *);
    if (target == NULL || layer_count == NULL || dispatch == NULL)
        return CL_INVALID_VALUE;
    next = target;
    memcpy(&layer, target, size < sizeof layer ? size : sizeof layer);
#define PUT(kind, name, result, parameters, arguments) layer.name = layer_##name;
    OPENCL_CALLS(PUT)
    *layer_count = sizeof layer / sizeof(void *);
    *dispatch = &layer;
    return CL_SUCCESS;
}
