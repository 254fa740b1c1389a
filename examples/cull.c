/* cc -O2 -I.. cull.c -o cull -lOpenCL -lm

   cull [objects]

   A frame of an engine that draws only what the camera sees, without the host learning what that is:

     1. gpuscan_select lists the objects whose sphere meets the view, with their transforms and materials. It writes
        their number right into the arguments of an indirect draw, and the arguments of a dispatch over them;
     2. a kernel that reads these arguments on the device "draws": it adds up what it is given.

   The camera's planes are values of the call: it turns for 60 frames, and one program serves them all. Nothing is read
   back. Then the last frame is compared with a loop on the CPU. */
#define GPUSCAN_ONLY_SELECT
#define GPUSCAN_LINK_OPENCL
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"

enum { FRAMES = 60, GROUP = 64 };

typedef struct {
    float x, y, z, radius;
} sphere;

typedef struct {
    float rows[3][4];
} transform; /* 48 bytes */

/* The layout that graphics interfaces want: the second word is the number of instances to draw. */
typedef struct {
    uint32_t vertices, instances, first_vertex, first_instance;
} draw_arguments;

/* The view is inside five planes, four sides and one near the eye: x, y, z of the normal, then the distance. */
enum { PLANES = 5 };
typedef struct {
    float plane[PLANES][4];
} camera;

static const gpuscan_custom seen = {
    "struct values { float plane[5][4]; };\n"
    "int is_seen(float4 s, const struct values *camera) {\n"
    "    int inside = 1;\n"
    "    for (int k = 0; k < 5; k++)\n"
    "        inside &= dot(s.xyz, vload3(0, camera->plane[k])) + camera->plane[k][3] + s.w > 0;\n"
    "    return inside;\n"
    "}\n",
    "float4", sizeof(sphere), NULL, NULL, NULL, "is_seen(x, values)", NULL, NULL};

/* Returns the view of a camera in the middle, which looks this way. */
static camera look(float angle) {
    const float slope = 0.6f, length = sqrtf(1 + slope * slope);
    const float ahead[3] = {cosf(angle), 0, sinf(angle)}, aside[2][3] = {{-ahead[2], 0, ahead[0]}, {0, 1, 0}};
    camera c;
    int k, axis;
    memset(&c, 0, sizeof c);
    for (axis = 0; axis < 3; axis++) {
        for (k = 0; k < 4; k++)
            c.plane[k][axis] = (slope * ahead[axis] + (k % 2 ? -1 : 1) * aside[k / 2][axis]) / length;
        c.plane[4][axis] = ahead[axis];
    }
    c.plane[4][3] = -0.5f;
    return c;
}

/* Returns how far a sphere is inside; below 0 it is outside. */
static float depth(const sphere *s, const camera *c) {
    float least = 1e9f;
    int k;
    for (k = 0; k < PLANES; k++)
        least = fminf(least, s->x * c->plane[k][0] + s->y * c->plane[k][1] + s->z * c->plane[k][2] + c->plane[k][3] +
                                 s->radius);
    return least;
}

static const char *const kernels =
    "kernel void draw(global const uint *arguments, global const uint *dispatch, global const uint *objects,\n"
    "                 global const uint *materials, global const float *transforms, global uint *sums) {\n"
    "    uint i = get_global_id(0), step = get_global_size(0), a = 0, b = 0, c = 0;\n"
    "    for (; i < arguments[1]; i += step) {\n"
    "        a += objects[i]; b += materials[i] * (objects[i] & 7); c += as_uint(transforms[12 * i + 3]);\n"
    "    }\n"
    "    atomic_add(sums, a); atomic_add(sums + 1, b); atomic_add(sums + 2, c);\n"
    "    if (get_global_id(0) == 0) sums[3] = dispatch[0] * dispatch[1] * dispatch[2];\n"
    "}\n";

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Returns numbers from 0 to 1 that look random. */
static float random_unit(void) {
    static uint32_t x = 12345;
    x = x * 1664525u + 1013904223u;
    return (float)(x >> 8) / 16777216.0f;
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 0, 1, "cull [objects]");
    uint32_t count = argc > 1 ? (uint32_t)whole_number(argv[1], 1, 1 << 28) : 1000000, i, kept = 0, frame;
    const cl_uint zeros[4] = {0, 0, 0, 0};
    cl_uint sums[4], wanted[3] = {0, 0, 0};
    draw_arguments draw = {36, 0, 0, 0};
    gpuscan_info info;
    gpuscan *gs = open_device(&info);
    cl_command_queue queue;
    const char *text = kernels;
    cl_program  program = build_program(&info, &text, 1, "");
    cl_kernel paint = make_kernel(program, "draw");
    sphere *spheres;
    uint32_t *materials, *objects;
    transform *transforms;
    cl_mem sphere_mem, material_mem, transform_mem, object_mem, seen_materials, seen_transforms, draw_mem, dispatch_mem,
        sum_mem;
    gpuscan_payload along[2];
    gpuscan_select_desc select;
    camera view;
    double times[FRAMES];
    cl_int code;

    spheres = (sphere *)allocate(count * sizeof *spheres);
    materials = (uint32_t *)allocate(count * sizeof *materials);
    transforms = (transform *)allocate(count * sizeof *transforms);
    objects = (uint32_t *)allocate(count * sizeof *objects);
    for (i = 0; i < count; i++) {
        spheres[i].x = 200 * random_unit() - 100;
        spheres[i].y = 40 * random_unit() - 20;
        spheres[i].z = 200 * random_unit() - 100;
        spheres[i].radius = 0.2f + random_unit();
        materials[i] = i * 31 % 97;
        memset(&transforms[i], 0, sizeof transforms[i]);
        transforms[i].rows[0][3] = spheres[i].x;
        transforms[i].rows[1][3] = spheres[i].y;
        transforms[i].rows[2][3] = spheres[i].z;
    }
    queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    sphere_mem = make_buffer(info.context, CL_MEM_READ_ONLY, count * sizeof *spheres, spheres);
    material_mem = make_buffer(info.context, CL_MEM_READ_ONLY, count * sizeof *materials, materials);
    transform_mem = make_buffer(info.context, CL_MEM_READ_ONLY, count * sizeof *transforms, transforms);
    object_mem = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof(uint32_t), NULL);
    seen_materials = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof *materials, NULL);
    seen_transforms = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof *transforms, NULL);
    draw_mem = make_buffer(info.context, CL_MEM_READ_WRITE, sizeof draw, &draw);
    dispatch_mem = make_buffer(info.context, CL_MEM_READ_WRITE, 3 * sizeof(uint32_t), NULL);
    sum_mem = make_buffer(info.context, CL_MEM_READ_WRITE, sizeof sums, NULL);

    along[0] = make_payload(material_mem, seen_materials, sizeof *materials);
    along[1] = make_payload(transform_mem, seen_transforms, sizeof *transforms);
    memset(&select, 0, sizeof select);
    select.count = count;
    select.by = GPUSCAN_SELECT_PREDICATE;
    select.custom = &seen;
    select.type = GPUSCAN_TYPE_CUSTOM;
    select.src.mem = sphere_mem;
    select.indices.mem = object_mem; /* only the numbers of the objects are needed */
    select.payloads = along;
    select.payload_count = 2;
    select.selected.count.mem = draw_mem;
    select.selected.count.offset = 1; /* draw_arguments.instances */
    select.selected.dispatch.mem = dispatch_mem;
    select.selected.dispatch_items = GROUP;
    select.call.queue = queue;
    select.call.values = &view;
    select.call.values_size = sizeof view;
    check(gs, gpuscan_select_prepare(gs, &select), "gpuscan_select_prepare");

    for (frame = 0; frame < FRAMES; frame++) {
        double start = now();
        view = look(6.2831853f * (float)frame / FRAMES);
        check(gs, gpuscan_select(gs, &select), "gpuscan_select");
        check(NULL, clEnqueueWriteBuffer(queue, sum_mem, CL_FALSE, 0, sizeof zeros, zeros, 0, NULL, NULL), "a write");
        clSetKernelArg(paint, 0, sizeof draw_mem, &draw_mem);
        clSetKernelArg(paint, 1, sizeof dispatch_mem, &dispatch_mem);
        clSetKernelArg(paint, 2, sizeof object_mem, &object_mem);
        clSetKernelArg(paint, 3, sizeof seen_materials, &seen_materials);
        clSetKernelArg(paint, 4, sizeof seen_transforms, &seen_transforms);
        clSetKernelArg(paint, 5, sizeof sum_mem, &sum_mem);
        launch(queue, paint, 16384, group_size(&info, paint, GROUP));
        check(NULL, clFinish(queue), "clFinish"); /* only for the clock */
        times[frame] = 1e3 * (now() - start);
    }

    /* a single check, of the last frame; an object that touches a plane may be seen or not, as sums are rounded */
    check(NULL, clEnqueueReadBuffer(queue, draw_mem, CL_TRUE, 0, sizeof draw, &draw, 0, NULL, NULL), "a read");
    check(NULL, clEnqueueReadBuffer(queue, object_mem, CL_TRUE, 0, count * sizeof *objects, objects, 0, NULL, NULL),
          "a read");
    check(NULL, clEnqueueReadBuffer(queue, sum_mem, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL), "a read");
    for (i = 0; i < count; i++) {
        int is_listed = kept < draw.instances && objects[kept] == i;
        if (is_listed != (depth(&spheres[i], &view) > 0) && fabsf(depth(&spheres[i], &view)) > 1e-3f)
            fail("cull", "what is listed is not what is seen");
        if (is_listed) {
            kept++;
            wanted[0] += i;
            wanted[1] += materials[i] * (i & 7);
            wanted[2] += bits_of(transforms[i].rows[0][3]);
        }
    }
    if (draw.vertices != 36 || draw.instances != kept || sums[0] != wanted[0] || sums[1] != wanted[1] ||
        sums[2] != wanted[2] || sums[3] < (kept + GROUP - 1) / GROUP)
        fail("cull", "what was drawn is not what is listed");
    printf("cull: of %s objects %s are seen in the last frame, a frame takes %.3f ms\n", commas(count), commas(kept),
           median(times, FRAMES));

    clReleaseMemObject(sphere_mem);
    clReleaseMemObject(material_mem);
    clReleaseMemObject(transform_mem);
    clReleaseMemObject(object_mem);
    clReleaseMemObject(seen_materials);
    clReleaseMemObject(seen_transforms);
    clReleaseMemObject(draw_mem);
    clReleaseMemObject(dispatch_mem);
    clReleaseMemObject(sum_mem);
    clReleaseKernel(paint);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    gpuscan_destroy(gs);
    free(spheres);
    free(materials);
    free(transforms);
    free(objects);
    return 0;
}
