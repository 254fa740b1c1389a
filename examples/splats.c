/* cc -O2 -I.. splats.c -o splats -lOpenCL -lm        (macOS: -framework OpenCL)

   splats [pictures' prefix [splats]]

   A cloud of soft, transparent discs, as they come out of photographs of a scene. They must be drawn from the farthest
   to the nearest, in another order in each frame, and the host need not know which or how many:

     1. a kernel of the program finds each splat's depth, and whether the camera sees it;
     2. gpuscan_select keeps the depths and numbers of the visible splats, and their count on the device;
     3. gpuscan_sort sorts these by depth, the farthest first; their numbers go along as a payload;
     4. a kernel makes the list of discs in that order.

   The camera circles for 60 frames. Each fifteenth frame is drawn by a few lines of C here, into PREFIX0.png to
   PREFIX3.png, and its order is compared with a sort on the CPU. */
#define EXAMPLE_PICTURES
#define GPUSCAN_ONLY_SELECT
#define GPUSCAN_ONLY_SORT
#define GPUSCAN_LINK_OPENCL
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#include "gpuscan.h"

enum { FRAMES = 60, DRAWN = 15, WIDTH = 640, HEIGHT = 400, GROUP = 64 };

typedef struct {
    float x, y, z, radius;
} splat;

typedef struct {
    float    x, y, radius; /* pixels */
    uint32_t color;        /* red, green, blue, opacity, from the lowest byte */
} disc;

/* The camera stands at eye.xyz and looks along forward; the picture's plane is eye.w pixels in front. Splats nearer
   than 0.2 or beside the picture are not visible. */
static const char *const kernels =
    "typedef struct { float x, y, radius; uint color; } disc;\n"
    "float4 project(float4 s, float4 eye, float4 right, float4 up, float4 forward) {\n"
    "    float4 p = (float4)(s.xyz - eye.xyz, 0);\n"
    "    float depth = dot(p, forward), scale = eye.w / depth;\n"
    "    return (float4)(320 + dot(p, right) * scale, 200 - dot(p, up) * scale, s.w * scale, depth);\n"
    "}\n"
    "kernel void see(global const float4 *splats, global float *depths, global uchar *seen, uint count, float4 eye,\n"
    "                float4 right, float4 up, float4 forward) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i >= count) return;\n"
    "    float4 d = project(splats[i], eye, right, up, forward);\n"
    "    depths[i] = d.w;\n"
    "    seen[i] = d.w > 0.2f && d.x > -d.z && d.x < 640 + d.z && d.y > -d.z && d.y < 400 + d.z;\n"
    "}\n"
    "kernel void list(global const float4 *splats, global const uint *colors, global const uint *order,\n"
    "                 global const uint *count, global disc *discs, float4 eye, float4 right, float4 up,\n"
    "                 float4 forward) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i >= count[0]) return;\n"
    "    float4 d = project(splats[order[i]], eye, right, up, forward);\n"
    "    discs[i].x = d.x; discs[i].y = d.y; discs[i].radius = d.z; discs[i].color = colors[order[i]];\n"
    "}\n";

typedef struct {
    float eye[4], right[4], up[4], forward[4];
} camera;

static void set_camera(cl_kernel kernel, cl_uint first, const camera *c) {
    clSetKernelArg(kernel, first, sizeof c->eye, c->eye);
    clSetKernelArg(kernel, first + 1, sizeof c->right, c->right);
    clSetKernelArg(kernel, first + 2, sizeof c->up, c->up);
    clSetKernelArg(kernel, first + 3, sizeof c->forward, c->forward);
}

/* Returns a camera on a circle, slightly raised and looking at the middle. */
static camera camera_at(float angle) {
    const float far_off = 7, height = 2.5f, all = sqrtf(far_off * far_off + height * height);
    const float s = sinf(angle), t = cosf(angle), down = height / all, ahead = far_off / all;
    const camera c = {{far_off * t, height, far_off * s, 420},
                      {s, 0, -t, 0},
                      {-t * down, ahead, -s * down, 0},
                      {-t * ahead, -down, -s * ahead, 0}};
    return c;
}

/* Returns numbers from 0 to 1 that look random. */
static float random_unit(void) {
    static uint32_t x = 2463534242u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return (float)(x >> 8) / 16777216.0f;
}

static uint32_t color_of(float red, float green, float blue, float opacity) {
    return (uint32_t)(255 * red) | (uint32_t)(255 * green) << 8 | (uint32_t)(255 * blue) << 16 |
           (uint32_t)(255 * opacity) << 24;
}

/* Makes a tube along a knot, whose colours go round, over a ground of two colours. */
static void make_scene(splat *splats, uint32_t *colors, uint32_t count) {
    const float turn = 6.2831853f;
    uint32_t i;
    for (i = 0; i < count; i++) {
        float a = turn * random_unit(), b = turn * random_unit(), c = 0.35f * sqrtf(random_unit());
        if (i % 3) {
            const float ring = 2 + cosf(3 * a), shade = 0.6f + 0.4f * sinf(b);
            splats[i].x = (ring + c * cosf(b)) * cosf(2 * a) * 0.9f;
            splats[i].z = (ring + c * cosf(b)) * sinf(2 * a) * 0.9f;
            splats[i].y = 0.5f + sinf(3 * a) + c * sinf(b);
            colors[i] = color_of(shade * (0.5f + 0.5f * sinf(2 * a)), shade * (0.5f + 0.5f * sinf(2 * a + 2.1f)),
                                 shade * (0.5f + 0.5f * sinf(2 * a + 4.2f)), 0.5f);
        } else {
            splats[i].x = 12 * random_unit() - 6;
            splats[i].z = 12 * random_unit() - 6;
            splats[i].y = -1.2f + 0.04f * random_unit();
            colors[i] = ((int)(splats[i].x + 100) + (int)(splats[i].z + 100)) % 2 ? color_of(0.8f, 0.78f, 0.7f, 0.35f)
                                                                                 : color_of(0.3f, 0.33f, 0.4f, 0.35f);
        }
        splats[i].radius = 0.015f + 0.025f * random_unit();
    }
}

/* Draws one disc over the picture; its opacity falls off from the middle to the edge. */
static void draw(const disc *d, float *picture) {
    const float radius = d->radius < 0.7f ? 0.7f : d->radius;
    const int left = (int)fmaxf(0, ceilf(d->x - radius)), right = (int)fminf(WIDTH - 1, floorf(d->x + radius));
    const int top = (int)fmaxf(0, ceilf(d->y - radius)), bottom = (int)fminf(HEIGHT - 1, floorf(d->y + radius));
    int x, y, k;
    for (y = top; y <= bottom; y++)
        for (x = left; x <= right; x++) {
            const float u = ((float)x - d->x) / radius, v = ((float)y - d->y) / radius, away = u * u + v * v;
            const float over = away < 1 ? (float)(d->color >> 24) / 255 * (1 - away) : 0;
            float *pixel = picture + 3 * (y * WIDTH + x);
            for (k = 0; k < 3; k++)
                pixel[k] += over * ((float)(d->color >> 8 * k & 255) - pixel[k]);
        }
}

static void draw_all(const disc *discs, uint32_t count, const char *path) {
    float *picture = (float *)allocate(3 * WIDTH * HEIGHT * sizeof *picture);
    unsigned char *bytes = (unsigned char *)allocate(3 * WIDTH * HEIGHT);
    uint32_t i;
    for (i = 0; i < 3 * WIDTH * HEIGHT; i++)
        picture[i] = 235 - 60 * (float)(i / (3 * WIDTH)) / HEIGHT;
    for (i = 0; i < count; i++)
        draw(&discs[i], picture);
    for (i = 0; i < 3 * WIDTH * HEIGHT; i++)
        bytes[i] = (unsigned char)(picture[i] + 0.5f);
    save_picture(path, WIDTH, HEIGHT, bytes);
    free(picture);
    free(bytes);
}

typedef struct {
    float    depth;
    uint32_t number;
} place;

/* Compares: the farthest first; of equal depths the smaller number. */
static int compare_places(const void *a, const void *b) {
    const place *p = (const place *)a, *q = (const place *)b;
    if (p->depth != q->depth)
        return p->depth > q->depth ? -1 : 1;
    return p->number < q->number ? -1 : 1;
}

/* A frame's buffers on the device. */
typedef struct {
    cl_mem splats, colors, depths, seen, seen_depths, numbers, sorted_depths, order, count, discs;
} frame_buffers;

/* Compares the order with that of a sort of the depths on the CPU. Returns how many splats are visible. */
static uint32_t check_order(cl_command_queue queue, const frame_buffers *f, uint32_t all) {
    float *depths = (float *)allocate(all * sizeof *depths);
    unsigned char *seen = (unsigned char *)allocate(all);
    uint32_t *order = (uint32_t *)allocate(all * sizeof *order), count = 0, sorted = 0, i;
    place *places = (place *)allocate(all * sizeof *places);
    check(NULL, clEnqueueReadBuffer(queue, f->depths, CL_TRUE, 0, all * sizeof *depths, depths, 0, NULL, NULL),
          "a read");
    check(NULL, clEnqueueReadBuffer(queue, f->seen, CL_TRUE, 0, all, seen, 0, NULL, NULL), "a read");
    check(NULL, clEnqueueReadBuffer(queue, f->order, CL_TRUE, 0, all * sizeof *order, order, 0, NULL, NULL), "a read");
    check(NULL, clEnqueueReadBuffer(queue, f->count, CL_TRUE, 0, sizeof sorted, &sorted, 0, NULL, NULL), "a read");
    for (i = 0; i < all; i++)
        if (seen[i]) {
            places[count].depth = depths[i];
            places[count++].number = i;
        }
    qsort(places, count, sizeof *places, compare_places);
    if (count != sorted || count == 0 || count == all)
        fail("splats", "the number of splats that are seen is wrong");
    for (i = 0; i < count; i++)
        if (order[i] != places[i].number)
            fail("splats", "the order is not that of a sort on the CPU");
    free(depths);
    free(seen);
    free(order);
    free(places);
    return count;
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 0, 2, "splats [pictures' prefix [splats, 1000 or more]]");
    const char *prefix = argc > 1 ? argv[1] : "splats";
    uint32_t count = argc > 2 ? (uint32_t)whole_number(argv[2], 1000, 1 << 28) : 300000, frame, seen = 0;
    gpuscan_info info;
    gpuscan *gs = open_device(&info);
    cl_command_queue queue;
    const char *text = kernels;
    cl_program program = build_program(&info, &text, 1, "");
    cl_kernel see = make_kernel(program, "see"), list = make_kernel(program, "list");
    splat *splats;
    uint32_t *colors;
    disc *discs;
    frame_buffers f;
    cl_mem *const buffers = &f.splats;
    gpuscan_select_desc select;
    gpuscan_sort_desc sort;
    gpuscan_payload numbers;
    double times[FRAMES];
    size_t i;
    cl_int code;

    splats = (splat *)allocate(count * sizeof *splats);
    colors = (uint32_t *)allocate(count * sizeof *colors);
    discs = (disc *)allocate(count * sizeof *discs);
    make_scene(splats, colors, count);
    queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    f.splats = make_buffer(info.context, CL_MEM_READ_ONLY, count * sizeof *splats, splats);
    f.colors = make_buffer(info.context, CL_MEM_READ_ONLY, count * sizeof *colors, colors);
    f.depths = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof(float), NULL);
    f.seen = make_buffer(info.context, CL_MEM_READ_WRITE, count, NULL);
    f.seen_depths = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof(float), NULL);
    f.numbers = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof(uint32_t), NULL);
    f.sorted_depths = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof(float), NULL);
    f.order = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof(uint32_t), NULL);
    f.count = make_buffer(info.context, CL_MEM_READ_WRITE, sizeof(uint32_t), NULL);
    f.discs = make_buffer(info.context, CL_MEM_READ_WRITE, count * sizeof *discs, NULL);

    memset(&select, 0, sizeof select); /* by flags of u8 */
    select.count = count;
    select.type = GPUSCAN_TYPE_F32;
    select.src.mem = f.depths;
    select.flags.mem = f.seen;
    select.dst.mem = f.seen_depths;
    select.indices.mem = f.numbers;
    select.selected.count.mem = f.count;
    select.call.queue = queue;
    memset(&sort, 0, sizeof sort);
    numbers = make_payload(f.numbers, f.order, sizeof(uint32_t));
    sort.count = count; /* at most; the device reads the number: */
    sort.count_buffer.mem = f.count;
    sort.key_type = GPUSCAN_TYPE_F32;
    sort.descending = 1;
    sort.src.mem = f.seen_depths;
    sort.dst.mem = f.sorted_depths;
    sort.payloads = &numbers;
    sort.payload_count = 1;
    sort.may_destroy_src = 1; /* they are made anew in each frame */
    sort.call.queue = queue;
    check(gs, gpuscan_select_prepare(gs, &select), "gpuscan_select_prepare");
    check(gs, gpuscan_sort_prepare(gs, &sort), "gpuscan_sort_prepare");

    clSetKernelArg(see, 0, sizeof f.splats, &f.splats);
    clSetKernelArg(see, 1, sizeof f.depths, &f.depths);
    clSetKernelArg(see, 2, sizeof f.seen, &f.seen);
    clSetKernelArg(see, 3, sizeof count, &count);
    clSetKernelArg(list, 0, sizeof f.splats, &f.splats);
    clSetKernelArg(list, 1, sizeof f.colors, &f.colors);
    clSetKernelArg(list, 2, sizeof f.order, &f.order);
    clSetKernelArg(list, 3, sizeof f.count, &f.count);
    clSetKernelArg(list, 4, sizeof f.discs, &f.discs);
    for (frame = 0; frame < FRAMES; frame++) {
        const camera from = camera_at(6.2831853f * (float)frame / FRAMES);
        const double start = now();
        set_camera(see, 4, &from);
        set_camera(list, 5, &from);
        launch(queue, see, count, group_size(&info, see, GROUP));
        check(gs, gpuscan_select(gs, &select), "gpuscan_select");
        check(gs, gpuscan_sort(gs, &sort), "gpuscan_sort");
        launch(queue, list, count, group_size(&info, list, GROUP));
        check(NULL, clFinish(queue), "clFinish"); /* only for the clock */
        times[frame] = 1e3 * (now() - start);
        if (frame % DRAWN == 0) {
            char path[1000];
            seen = check_order(queue, &f, count);
            check(NULL, clEnqueueReadBuffer(queue, f.discs, CL_TRUE, 0, seen * sizeof *discs, discs, 0, NULL, NULL),
                  "a read");
            snprintf(path, sizeof path, "%s%u.png", prefix, (unsigned)(frame / DRAWN));
            draw_all(discs, seen, path);
        }
    }
    printf("splats: of %s splats %s are seen in the last picture, in the order of a sort on the CPU; a frame takes "
           "%.3f ms\n",
           commas(count), commas(seen), median(times, FRAMES));

    for (i = 0; i < sizeof f / sizeof *buffers; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseKernel(see);
    clReleaseKernel(list);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    gpuscan_destroy(gs);
    free(splats);
    free(colors);
    free(discs);
    return 0;
}
