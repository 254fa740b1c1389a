/* cc -shared -fPIC elsewhere_stub.c -o libOpenCL.so.1: an OpenCL library for machines without one, made of fake.h.
   STUB_VERSION: the device's version. STUB_DEVICES=0: no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include "fake.h"

static fake_device stub = {.name = "stub",
                           .platform = "stub platform",
                           .version = "OpenCL 1.2 stub",
                           .language = "OpenCL C 1.2",
                           .extensions = "cl_khr_int64_base_atomics",
                           .type = CL_DEVICE_TYPE_ACCELERATOR,
                           .group = 256,
                           .local = 32768,
                           .units = 1,
                           .clock = 1};

/* Sets the device from the environment. Every entry point calls it, since any may be the first. */
static void wake(void) {
    const char *devices = getenv("STUB_DEVICES"), *version = getenv("STUB_VERSION");
    if (version)
        stub.version = version;
    fake.device = devices && atoi(devices) == 0 ? NULL : &stub;
}

#define EXPORT(kind, name, result, parameters, arguments)                                                              \
    result CL_API_CALL name parameters {                                                                               \
        wake();                                                                                                        \
        return fake_##name arguments;                                                                                  \
    }
OPENCL_CALLS(EXPORT)
