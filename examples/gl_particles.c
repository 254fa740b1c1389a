/* cc -O2 -I.. gl_particles.c -o gl_particles -lm -lOpenCL -lEGL -lOpenGL

   gl_particles [--host] [picture.png [particles]]

   Fireworks in buffers that OpenCL and OpenGL share (cl_khr_gl_sharing), drawn off-screen through EGL, without a
   display. Each frame, in one queue: acquire the buffers, move the particles and flag those that live (u8), scan these
   flags into the positions of the living (u32), compact, release; then OpenGL draws. The scan's total goes straight
   into the first word of the indirect draw command, so the host never learns how many there are. If sharing is missing,
   or with --host, the particles go through the host's memory; the figures at the end compare both.

   The picture is compared pixel by pixel with one that a plain C loop makes of the same particles: all is in integers,
   and a scan keeps the particles' order, so the last particle that is drawn on a pixel is the same. */
#define EXAMPLE_PICTURES
#define GPUSCAN_ONLY_SCAN
#include "common.h"
#define GPUSCAN_IMPLEMENTATION
#define GPUSCAN_LINK_OPENCL
#include "gpuscan.h"
#include <CL/cl_gl.h>
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

enum { WIDTH = 1024, HEIGHT = 768, FRAMES = 60, BURSTS = 12, MOST_DISPLAYS = 16 };

/* Positions and velocities in 1/256 pixel. */
typedef struct particle {
    cl_int x, y, vx, vy;
    cl_uint colour; /* r, g, b, 255 in memory */
    cl_uint life;
} particle;

/* What glDrawArraysIndirect reads. */
typedef struct draw_command {
    cl_uint count, instances, first, base;
} draw_command;

/* [DEVICE CODE] ---------------------------------------------------------------------------------------------------- */

static const char *kernels =
    "typedef struct { int x, y, vx, vy; uint colour, life; } particle;\n"
    "kernel void advance(global particle *now, global const uint *count, uint most, global uchar *alive) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < most)\n"
    "        alive[i] = 0;\n"
    "    if (i < min(*count, most)) {\n"
    "        particle p = now[i];\n"
    "        p.vy -= 6;\n"
    "        p.x += p.vx;\n"
    "        p.y += p.vy;\n"
    "        p.life--;\n"
    "        now[i] = p;\n"
    "        alive[i] = p.life > 0 && p.x >= 0 && p.x < WIDTH * 256 && p.y >= 0 && p.y < HEIGHT * 256;\n"
    "    }\n"
    "}\n"
    "kernel void compact(global const particle *now, uint most, global const uchar *alive,\n"
    "                    global const uint *offsets, global particle *next) {\n"
    "    uint i = get_global_id(0);\n"
    "    if (i < most && alive[i])\n"
    "        next[offsets[i]] = now[i];\n"
    "}\n";

static const char *vertex_text = "#version 400 core\n"
                                 "layout(location = 0) in ivec2 place;\n"
                                 "layout(location = 1) in vec4 colour;\n"
                                 "flat out vec4 ink;\n"
                                 "uniform vec2 size;\n"
                                 "void main() {\n"
                                 "    vec2 pixel = vec2(place >> 8) + 0.5;\n"
                                 "    gl_Position = vec4(2.0 * pixel / size - 1.0, 0.0, 1.0);\n"
                                 "    ink = colour;\n"
                                 "}\n";
static const char *fragment_text = "#version 400 core\n"
                                   "flat in vec4 ink;\n"
                                   "layout(location = 0) out vec4 drawn;\n"
                                   "void main() { drawn = ink; }\n";

/* [PARTICLES] ------------------------------------------------------------------------------------------------------ */

static cl_uint mix(cl_uint x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Starts bursts, each a shell: directions spread evenly over a sphere. The picture shows their x and y. */
static void ignite(particle *p, cl_uint count) {
    cl_uint i, k, tries;
    for (i = 0; i < count; i++) {
        cl_uint burst = i % BURSTS, h = mix(i), hue = mix(burst + 77);
        cl_uint shade = 128 + mix(i + 5) % 128;
        int most = 250 + (int)(mix(burst + 13) % 450), v[3] = {0, 0, 0}, square = 0;
        for (tries = 0; tries < 100 && (square < most * most * 4 / 5 || square > most * most); tries++) {
            for (k = 0; k < 3; k++)
                v[k] = (int)(mix(h + 3 * tries + k) % (cl_uint)(2 * most + 1)) - most;
            square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        }
        p[i].x = 256 * (int)(WIDTH / 8 + mix(burst) % (WIDTH * 3 / 4));
        p[i].y = 256 * (int)(HEIGHT / 3 + mix(burst + 31) % (HEIGHT / 2));
        p[i].vx = v[0];
        p[i].vy = v[1] + 100;
        p[i].life = 20 + mix(h) % (2 * FRAMES);
        p[i].colour = 0;
        for (k = 0; k < 3; k++)
            ((unsigned char *)&p[i].colour)[k] = (unsigned char)(shade * (64 + (hue >> (8 * k) & 255) * 3 / 4) / 255);
        ((unsigned char *)&p[i].colour)[3] = 255;
    }
}

/* Computes a frame in plain C. */
static cl_uint frame_on_cpu(particle *now, cl_uint count) {
    cl_uint i, kept = 0;
    for (i = 0; i < count; i++) {
        particle p = now[i];
        p.vy -= 6;
        p.x += p.vx;
        p.y += p.vy;
        p.life--;
        if (p.life > 0 && p.x >= 0 && p.x < WIDTH * 256 && p.y >= 0 && p.y < HEIGHT * 256)
            now[kept++] = p;
    }
    return kept;
}

static void draw_on_cpu(const particle *p, cl_uint count, unsigned char *rgba) {
    static const unsigned char black[4] = {0, 0, 0, 255};
    cl_uint i;
    for (i = 0; i < WIDTH * HEIGHT; i++)
        memcpy(rgba + 4 * i, black, 4);
    for (i = 0; i < count; i++)
        memcpy(rgba + 4 * ((size_t)(p[i].y >> 8) * WIDTH + (size_t)(p[i].x >> 8)), &p[i].colour, 4);
}

/* [OPENGL] --------------------------------------------------------------------------------------------------------- */

typedef struct screen {
    EGLDisplay display;
    EGLContext context;
    GLuint program, framebuffer, colours, particles[2], arrays[2], command;
} screen;

/* Opens an OpenGL 4 context on a display that needs no window. Returns 0 if this display has none. */
static int open_context(screen *s, EGLDisplay display) {
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    static const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
    static const EGLint size[] = {EGL_WIDTH, 1, EGL_HEIGHT, 1, EGL_NONE};
    EGLConfig config;
    EGLSurface surface;
    EGLint count = 0;
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
        return 0;
    if (eglBindAPI(EGL_OPENGL_API) && eglChooseConfig(display, wanted, &config, 1, &count) && count > 0) {
        s->context = eglCreateContext(display, config, EGL_NO_CONTEXT, version);
        surface = s->context == EGL_NO_CONTEXT ? EGL_NO_SURFACE : eglCreatePbufferSurface(display, config, size);
        if (surface != EGL_NO_SURFACE && eglMakeCurrent(display, surface, surface, s->context)) {
            s->display = display;
            return 1;
        }
    }
    eglTerminate(display);
    return 0;
}

/* Tries each GPU's display, then Mesa's without a GPU, then the default one. */
static void open_screen(screen *s) {
    PFNEGLQUERYDEVICESEXTPROC query = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    PFNEGLGETPLATFORMDISPLAYEXTPROC get =
        (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDeviceEXT devices[MOST_DISPLAYS];
    EGLint count = 0, d;
    memset(s, 0, sizeof *s);
    if (query && get && query(MOST_DISPLAYS, devices, &count))
        for (d = 0; d < count; d++)
            if (open_context(s, get(EGL_PLATFORM_DEVICE_EXT, devices[d], NULL)))
                return;
    if (get && open_context(s, get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL)))
        return;
    if (!open_context(s, eglGetDisplay(EGL_DEFAULT_DISPLAY)))
        fail("EGL", "no display without a window gives an OpenGL 4 context");
}

static GLuint compile(GLenum kind, const char *text) {
    GLuint shader = glCreateShader(kind);
    GLint right = 0;
    char log[1000] = "";
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &right);
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
    if (!right)
        fail("a shader does not compile", log);
    return shader;
}

/* Makes the picture, shaders, and buffers: each frame reads one of two particle buffers and writes the other. */
static void make_scene(screen *s, const particle *first, cl_uint count) {
    static const draw_command command = {0, 1, 0, 0};
    GLuint vertex = compile(GL_VERTEX_SHADER, vertex_text), fragment = compile(GL_FRAGMENT_SHADER, fragment_text);
    GLint linked = 0;
    int k;
    s->program = glCreateProgram();
    glAttachShader(s->program, vertex);
    glAttachShader(s->program, fragment);
    glLinkProgram(s->program);
    glGetProgramiv(s->program, GL_LINK_STATUS, &linked);
    if (!linked)
        fail("OpenGL", "the shaders do not link");
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    glUseProgram(s->program);
    glUniform2f(glGetUniformLocation(s->program, "size"), WIDTH, HEIGHT);

    glGenRenderbuffers(1, &s->colours);
    glBindRenderbuffer(GL_RENDERBUFFER, s->colours);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, WIDTH, HEIGHT);
    glGenFramebuffers(1, &s->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, s->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, s->colours);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        fail("OpenGL", "the framebuffer is not complete");
    glViewport(0, 0, WIDTH, HEIGHT);
    glDisable(GL_DITHER);

    glGenBuffers(2, s->particles);
    glGenVertexArrays(2, s->arrays);
    for (k = 0; k < 2; k++) {
        glBindVertexArray(s->arrays[k]);
        glBindBuffer(GL_ARRAY_BUFFER, s->particles[k]);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(count * sizeof(particle)), k ? NULL : first, GL_DYNAMIC_DRAW);
        glEnableVertexAttribArray(0);
        glVertexAttribIPointer(0, 2, GL_INT, sizeof(particle), NULL);
        glEnableVertexAttribArray(1);
        glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, sizeof(particle),
                              (const void *)(uintptr_t)offsetof(particle, colour));
    }
    glGenBuffers(1, &s->command);
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, s->command);
    glBufferData(GL_DRAW_INDIRECT_BUFFER, sizeof command, &command, GL_DYNAMIC_DRAW);
    glFinish(); /* what OpenCL will share must exist */
    if (glGetError() != GL_NO_ERROR)
        fail("OpenGL", "the scene could not be made");
}

static void draw(const screen *s, int which) {
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glBindVertexArray(s->arrays[which]);
    glDrawArraysIndirect(GL_POINTS, NULL);
}

static void close_screen(screen *s) {
    glDeleteBuffers(2, s->particles);
    glDeleteBuffers(1, &s->command);
    glDeleteVertexArrays(2, s->arrays);
    glDeleteFramebuffers(1, &s->framebuffer);
    glDeleteRenderbuffers(1, &s->colours);
    glDeleteProgram(s->program);
    eglMakeCurrent(s->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(s->display, s->context);
    eglTerminate(s->display);
}

/* [SHARING] -------------------------------------------------------------------------------------------------------- */

/* Returns whether a device of the platform has the extension. (A loader may have its functions without a driver's.) */
static int can_share(cl_platform_id platform) {
    cl_device_id devices[16];
    cl_uint count = 0, d;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices, &count) != CL_SUCCESS)
        return 0;
    for (d = 0; d < count && d < 16; d++) {
        size_t size = 0;
        char *text;
        int has;
        if (clGetDeviceInfo(devices[d], CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS)
            continue;
        text = (char *)allocate(size + 1);
        text[0] = text[size] = 0;
        clGetDeviceInfo(devices[d], CL_DEVICE_EXTENSIONS, size, text, NULL);
        has = strstr(text, "cl_khr_gl_sharing") != NULL;
        free(text);
        if (has)
            return 1;
    }
    return 0;
}

/* Gives the device that draws this OpenGL context, and returns an OpenCL context that shares its buffers; NULL: none.
   Prints each platform's answer. */
static cl_context share_context(const screen *s, cl_device_id *device) {
    cl_platform_id platforms[16];
    cl_uint count = 0, p;
    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        return NULL;
    for (p = 0; p < count && p < 16; p++) {
        const cl_context_properties with[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platforms[p],
                                              CL_GL_CONTEXT_KHR, (cl_context_properties)s->context,
                                              CL_EGL_DISPLAY_KHR, (cl_context_properties)s->display, 0};
        clGetGLContextInfoKHR_fn ask;
        void *function;
        cl_context context;
        cl_int code;
        size_t size = 0;
        char name[256] = "";
        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (!can_share(platforms[p])) {
            printf("sharing: no device of %s has cl_khr_gl_sharing\n", name);
            continue;
        }
        function = clGetExtensionFunctionAddressForPlatform(platforms[p], "clGetGLContextInfoKHR");
        if (!function) {
            printf("sharing: %s has no clGetGLContextInfoKHR\n", name);
            continue;
        }
        memcpy(&ask, &function, sizeof ask); /* ISO C does not cast objects to function pointers */
        code = ask(with, CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR, sizeof *device, device, &size);
        if (code != CL_SUCCESS || size != sizeof *device) {
            printf("sharing: %s knows no device of this OpenGL context: clGetGLContextInfoKHR gives %d\n", name, code);
            continue;
        }
        context = clCreateContext(with, 1, device, NULL, NULL, &code);
        if (code == CL_SUCCESS)
            return context;
        printf("sharing: %s does not share: clCreateContext gives %s\n", name, gpuscan_result_string(code));
    }
    return NULL;
}

/* [FRAMES] --------------------------------------------------------------------------------------------------------- */

typedef struct simulation {
    gpuscan_info info;
    gpuscan *gs;
    cl_context shared; /* NULL: the particles go through the host */
    cl_command_queue queue;
    cl_program program;
    cl_kernel advance, compact;
    cl_uint most;
    cl_mem particles[2], command, alive, offsets;
    particle *copy; /* on the host, if they are not shared */
    size_t group;
} simulation;

static cl_mem shared_buffer(cl_context context, GLuint buffer) {
    cl_int code;
    cl_mem mem = clCreateFromGLBuffer(context, CL_MEM_READ_WRITE, buffer, &code);
    check(NULL, code, "clCreateFromGLBuffer");
    return mem;
}

static void open_simulation(simulation *m, const screen *s, particle *first, cl_uint count, int through_host) {
    gpuscan_desc desc;
    cl_int code;
    char options[64];
    memset(m, 0, sizeof *m);
    memset(&desc, 0, sizeof desc);
    m->most = count;
    m->shared = through_host ? NULL : share_context(s, &desc.device);
    if (m->shared) {
        desc.context = m->shared;
        check(NULL, gpuscan_create(&m->gs, &desc), "gpuscan_create");
        check(m->gs, gpuscan_get_info(m->gs, &m->info), "gpuscan_get_info");
        printf("device: %s (%s), shared with OpenGL\n", m->info.device_name, m->info.platform_name);
        m->particles[0] = shared_buffer(m->shared, s->particles[0]);
        m->particles[1] = shared_buffer(m->shared, s->particles[1]);
        m->command = shared_buffer(m->shared, s->command);
    } else {
        static draw_command command = {0, 1, 0, 0};
        m->gs = open_device(&m->info);
        m->particles[0] = make_buffer(m->info.context, CL_MEM_READ_WRITE, count * sizeof *first, first);
        m->particles[1] = make_buffer(m->info.context, CL_MEM_READ_WRITE, count * sizeof *first, NULL);
        m->command = make_buffer(m->info.context, CL_MEM_READ_WRITE, sizeof command, &command);
        m->copy = (particle *)allocate(count * sizeof *first);
    }
    m->queue = clCreateCommandQueue(m->info.context, m->info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    snprintf(options, sizeof options, "-DWIDTH=%d -DHEIGHT=%d", WIDTH, HEIGHT);
    m->program = build_program(&m->info, &kernels, 1, options);
    m->advance = make_kernel(m->program, "advance");
    m->compact = make_kernel(m->program, "compact");
    m->group = group_size(&m->info, m->compact, group_size(&m->info, m->advance, 256));
    m->alive = make_buffer(m->info.context, CL_MEM_READ_WRITE, count, NULL);
    m->offsets = make_buffer(m->info.context, CL_MEM_READ_WRITE, count * sizeof(cl_uint), NULL);
}

static void close_simulation(simulation *m) {
    clReleaseMemObject(m->particles[0]);
    clReleaseMemObject(m->particles[1]);
    clReleaseMemObject(m->command);
    clReleaseMemObject(m->alive);
    clReleaseMemObject(m->offsets);
    clReleaseKernel(m->advance);
    clReleaseKernel(m->compact);
    clReleaseProgram(m->program);
    clReleaseCommandQueue(m->queue);
    gpuscan_destroy(m->gs);
    if (m->shared)
        clReleaseContext(m->shared);
    free(m->copy);
}

/* Computes one frame: moves particles from one buffer to the other, the living ones in order, and writes their number
   into the draw command. */
static void advance(simulation *m, int from) {
    cl_mem *now = &m->particles[from], *next = &m->particles[1 - from];
    gpuscan_scan_desc scan;
    set(m->advance, 0, sizeof *now, now);
    set(m->advance, 1, sizeof m->command, &m->command);
    set(m->advance, 2, sizeof m->most, &m->most);
    set(m->advance, 3, sizeof m->alive, &m->alive);
    launch(m->queue, m->advance, m->most, m->group);

    memset(&scan, 0, sizeof scan);
    scan.src.mem = m->alive;
    scan.src_type = GPUSCAN_TYPE_U8;
    scan.dst.mem = m->offsets;
    scan.dst_type = GPUSCAN_TYPE_U32;
    scan.total.mem = m->command; /* its first word is the number of vertices */
    scan.count = m->most;
    scan.call.queue = m->queue;
    check(m->gs, gpuscan_scan(m->gs, &scan), "gpuscan_scan");

    set(m->compact, 0, sizeof *now, now);
    set(m->compact, 1, sizeof m->most, &m->most);
    set(m->compact, 2, sizeof m->alive, &m->alive);
    set(m->compact, 3, sizeof m->offsets, &m->offsets);
    set(m->compact, 4, sizeof *next, next);
    launch(m->queue, m->compact, m->most, m->group);
}

/* OpenGL finishes with the buffers before OpenCL acquires them, and OpenCL before OpenGL draws. */
static void frame(simulation *m, const screen *s, int from) {
    cl_mem all[3];
    all[0] = m->particles[0];
    all[1] = m->particles[1];
    all[2] = m->command;
    if (m->shared) {
        glFinish();
        check(NULL, clEnqueueAcquireGLObjects(m->queue, 3, all, 0, NULL, NULL), "clEnqueueAcquireGLObjects");
        advance(m, from);
        check(NULL, clEnqueueReleaseGLObjects(m->queue, 3, all, 0, NULL, NULL), "clEnqueueReleaseGLObjects");
        check(NULL, clFinish(m->queue), "clFinish");
    } else {
        draw_command command;
        advance(m, from);
        check(NULL, clEnqueueReadBuffer(m->queue, m->command, CL_TRUE, 0, sizeof command, &command, 0, NULL, NULL),
              "clEnqueueReadBuffer");
        if (command.count)
            check(NULL, clEnqueueReadBuffer(m->queue, all[1 - from], CL_TRUE, 0, command.count * sizeof(particle),
                                            m->copy, 0, NULL, NULL),
                  "clEnqueueReadBuffer");
        glBindBuffer(GL_ARRAY_BUFFER, s->particles[1 - from]);
        glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)(command.count * sizeof(particle)), m->copy);
        glBufferSubData(GL_DRAW_INDIRECT_BUFFER, 0, sizeof command, &command);
    }
    draw(s, 1 - from);
}

/* Resets the particles to the start, all alive. */
static void begin(simulation *m, const screen *s, const particle *first) {
    const draw_command command = {m->most, 1, 0, 0};
    if (m->shared) {
        glBindBuffer(GL_ARRAY_BUFFER, s->particles[0]);
        glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)(m->most * sizeof(particle)), first);
        glBufferSubData(GL_DRAW_INDIRECT_BUFFER, 0, sizeof command, &command);
        glFinish();
        return;
    }
    check(NULL, clEnqueueWriteBuffer(m->queue, m->particles[0], CL_TRUE, 0, m->most * sizeof(particle), first, 0, NULL,
                                     NULL),
          "clEnqueueWriteBuffer");
    check(NULL, clEnqueueWriteBuffer(m->queue, m->command, CL_TRUE, 0, sizeof command, &command, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 0, 2, "gl_particles [--host] [picture.png [particles]]");
    int through_host = argc > 1 && strcmp(argv[1], "--host") == 0, k, y, x;
    char **rest = argv + 1 + through_host;
    int others = argc - 1 - through_host;
    cl_uint count = 400000, expected;
    particle *first, *loop;
    unsigned char *drawn, *wanted, *rgb;
    double times[FRAMES];
    size_t wrong = 0, lit = 0;
    simulation m;
    screen s;
    if (others > 1)
        count = (cl_uint)whole_number(rest[1], 1, 1 << 27);
    if (others > 0 && rest[0][0] == '-')
        misused();
    first = (particle *)allocate(count * sizeof *first);
    loop = (particle *)allocate(count * sizeof *loop);
    ignite(first, count);
    memcpy(loop, first, count * sizeof *loop);

    open_screen(&s);
    printf("OpenGL: %s, %s\n", (const char *)glGetString(GL_RENDERER), (const char *)glGetString(GL_VERSION));
    make_scene(&s, first, count);
    open_simulation(&m, &s, first, count, through_host);
    begin(&m, &s, first);
    frame(&m, &s, 0); /* builds */
    glFinish();
    begin(&m, &s, first);
    for (k = 0; k < FRAMES; k++) {
        times[k] = now();
        frame(&m, &s, k % 2);
        glFinish();
        times[k] = now() - times[k];
    }

    expected = count;
    for (k = 0; k < FRAMES; k++)
        expected = frame_on_cpu(loop, expected);
    drawn = (unsigned char *)allocate(WIDTH * HEIGHT * 4);
    wanted = (unsigned char *)allocate(WIDTH * HEIGHT * 4);
    rgb = (unsigned char *)allocate(WIDTH * HEIGHT * 3);
    draw_on_cpu(loop, expected, wanted);
    glReadPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, drawn);
    for (y = 0; y < HEIGHT; y++)
        for (x = 0; x < WIDTH; x++) {
            size_t at = (size_t)y * WIDTH + (size_t)x, to = (size_t)(HEIGHT - 1 - y) * WIDTH + (size_t)x;
            wrong += memcmp(drawn + 4 * at, wanted + 4 * at, 4) != 0;
            lit += drawn[4 * at] || drawn[4 * at + 1] || drawn[4 * at + 2];
            memcpy(rgb + 3 * to, drawn + 4 * at, 3);
        }
    if (others > 0)
        save_picture(rest[0], WIDTH, HEIGHT, rgb);
    printf("gl_particles: %s of %s particles after %d frames, %s, %.3f ms a frame: %s\n", commas(expected),
           commas(count), FRAMES, m.shared ? "shared" : "through the host", 1e3 * median(times, FRAMES),
           wrong || !lit ? "WRONG" : "every pixel as a loop draws it");
    close_simulation(&m);
    close_screen(&s);
    free(first);
    free(loop);
    free(drawn);
    free(wanted);
    free(rgb);
    return wrong || !lit;
}
