/* Parts that the tests of calls share: queues, events, objects that go through the layer, and a job with one call. */
#ifndef TEST_CALLS_H
#define TEST_CALLS_H

#include "layer.h"
#include "jobs.h"

#include <unistd.h>

static uint64_t many; /* elements of a large call */

static inline gpuscan_call call_on(cl_command_queue queue) {
    gpuscan_call call;
    memset(&call, 0, sizeof call);
    call.queue = queue;
    return call;
}

static inline cl_event user_event(void) {
    cl_int status = CL_SUCCESS;
    cl_event event = clCreateUserEvent(test.context, &status);
    test_cl(status);
    return event;
}

static inline int event_status(cl_event event) {
    cl_int status = 0;
    test_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

/* Creates an object through the layer, on the test's context, device and queue. */
static inline gpuscan *layered(void) {
    gpuscan_desc desc;
    gpuscan *gs = NULL;
    layer_open();
    desc = layer_desc();
    test_ok(gpuscan_create(&gs, &desc));
    return gs;
}

/* Fails unless the object works: a host call that is right needs a queue, buffers and programs. */
static inline void object_works(gpuscan *gs) {
    cl_uint src[300], dst[300];
    cl_uint i;
    gpuscan_result result;
    for (i = 0; i < 300; i++)
        src[i] = 2;
    memset(dst, 0x5A, sizeof dst);
    result = gpuscan_scan_host(gs, src, dst, 300, NULL);
    if (result != GPUSCAN_SUCCESS)
        fail_msg("%s: %s: %s", test.what, gpuscan_result_string(result), gpuscan_error(gs));
    for (i = 0; i < 300; i++)
        if (dst[i] != 2 * i)
            fail_msg("%s: %u at %u", test.what, (unsigned)dst[i], (unsigned)i);
}

/* Runs the job by this call and checks it. Returns 0 if the device refuses the strategy. */
static inline int job_right(gpuscan *gs, job *j, const gpuscan_call *call) {
    job_reset(j);
    if (!job_ran(j, job_start(gs, j, call), call->strategy))
        return 0;
    test_cl(clFinish(call->queue ? call->queue : test.queue));
    job_done(j);
    return 1;
}

/* One answer of clGetDeviceInfo that is replaced. */
static struct {
    cl_device_info what;
    const void *value;
    size_t size;
} replaced;

static inline cl_int CL_API_CALL other_device_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                                                   size_t *needed) {
    if (what != replaced.what)
        return layer.driver.clGetDeviceInfo(id, what, size, value, needed);
    return answer(replaced.value, replaced.size, size, value, needed);
}

static inline void replace_info(cl_device_info what, const void *value, size_t size) {
    replaced.what = what;
    replaced.value = value;
    replaced.size = size;
}

static inline int open_calls(void **state) {
    if (test_open(state) != 0)
        return -1;
    many = test_size(3000, 100000, 1000000);
    alarm(test.is_small ? 3000 : 900); /* a call that hangs ends the program */
    return 0;
}

#endif /* TEST_CALLS_H */
