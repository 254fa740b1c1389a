/* cc -O2 -I.. vulkan_scan.c -o vulkan_scan -lm -lOpenCL -lvulkan

   vulkan_scan [--host] [elements]

   A scan in buffers and with semaphores that OpenCL and Vulkan share (cl_khr_external_memory_opaque_fd and
   cl_khr_external_semaphore_opaque_fd), without a window. Vulkan copies numbers into its buffer and signals a
   semaphore; OpenCL's queue waits for it, acquires the buffers, scans, releases them and signals another; Vulkan
   waits for that and copies the sums out. The host only enqueues, and waits for the fence at the end. If sharing is
   missing, or with --host, the numbers go through the host's memory. Every sum is compared with a plain loop's. */
#define GPUSCAN_ONLY_SCAN
#define GPUSCAN_LINK_OPENCL
#define GPUSCAN_IMPLEMENTATION
#include "common.h"
#include <CL/cl_ext.h>
#include <vulkan/vulkan.h>

enum { ROUNDS = 9, MOST = 16 };

static void vk(VkResult result, const char *what) {
    char words[32];
    if (result == VK_SUCCESS)
        return;
    snprintf(words, sizeof words, "VkResult %d", (int)result);
    fail(what, words);
}

/* [VULKAN] --------------------------------------------------------------------------------------------------------- */

typedef struct vulkan {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands[2]; /* before and after OpenCL's */
    VkFence fence;
    VkSemaphore semaphores[2]; /* Vulkan is done, OpenCL is done */
} vulkan;

static int has_extension(VkPhysicalDevice device, const char *name) {
    VkExtensionProperties *list;
    uint32_t count = 0, i;
    int found = 0;
    vk(vkEnumerateDeviceExtensionProperties(device, NULL, &count, NULL), "vkEnumerateDeviceExtensionProperties");
    list = (VkExtensionProperties *)allocate(count * sizeof *list);
    vk(vkEnumerateDeviceExtensionProperties(device, NULL, &count, list), "vkEnumerateDeviceExtensionProperties");
    for (i = 0; i < count; i++)
        found |= strcmp(list[i].extensionName, name) == 0;
    free(list);
    return found;
}

static void uuid_of(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *properties, unsigned char *uuid) {
    VkPhysicalDeviceIDProperties id;
    memset(&id, 0, sizeof id);
    memset(properties, 0, sizeof *properties);
    id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
    properties->sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties->pNext = &id;
    vkGetPhysicalDeviceProperties2(device, properties);
    properties->pNext = NULL;
    memcpy(uuid, id.deviceUUID, VK_UUID_SIZE);
}

/* Opens the device with this UUID; *shared: it exists and exports memory and semaphores. Otherwise opens any device. */
static void open_vulkan(vulkan *v, const unsigned char *wanted, int *shared) {
    static const char *const names[] = {VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                                        VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME};
    VkApplicationInfo application;
    VkInstanceCreateInfo instance;
    VkPhysicalDevice devices[MOST];
    VkPhysicalDeviceProperties2 properties;
    VkDeviceQueueCreateInfo queue;
    VkDeviceCreateInfo create;
    uint32_t count = MOST, i;
    const float priority = 1;
    int found = 0;
    memset(v, 0, sizeof *v);
    memset(&application, 0, sizeof application);
    memset(&instance, 0, sizeof instance);
    memset(&queue, 0, sizeof queue);
    memset(&create, 0, sizeof create);
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_1;
    instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance.pApplicationInfo = &application;
    vk(vkCreateInstance(&instance, NULL, &v->instance), "vkCreateInstance");
    if (vkEnumeratePhysicalDevices(v->instance, &count, devices) < 0 || count == 0)
        fail("Vulkan", "there is no device");
    v->physical = devices[0];
    for (i = 0; i < count && !found && *shared; i++) {
        unsigned char uuid[VK_UUID_SIZE];
        uuid_of(devices[i], &properties, uuid);
        found = memcmp(uuid, wanted, VK_UUID_SIZE) == 0 && has_extension(devices[i], names[0]) &&
                has_extension(devices[i], names[1]);
        if (found)
            v->physical = devices[i];
    }
    if (*shared && !found)
        printf("sharing: none of Vulkan's %u devices is OpenCL's and hands out memory and semaphores\n", count);
    *shared = *shared && found;
    vkGetPhysicalDeviceProperties(v->physical, &properties.properties);
    printf("Vulkan: %s\n", properties.properties.deviceName);

    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO; /* family 0 can copy, on every device */
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    create.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    create.queueCreateInfoCount = 1;
    create.pQueueCreateInfos = &queue;
    create.enabledExtensionCount = *shared ? 2 : 0;
    create.ppEnabledExtensionNames = names;
    vk(vkCreateDevice(v->physical, &create, NULL, &v->device), "vkCreateDevice");
    vkGetDeviceQueue(v->device, v->family, 0, &v->queue);
}

static void open_commands(vulkan *v, int shared) {
    VkCommandPoolCreateInfo pool;
    VkCommandBufferAllocateInfo buffers;
    VkFenceCreateInfo fence;
    VkSemaphoreCreateInfo semaphore;
    VkExportSemaphoreCreateInfo exported;
    int k;
    memset(&pool, 0, sizeof pool);
    memset(&buffers, 0, sizeof buffers);
    memset(&fence, 0, sizeof fence);
    memset(&semaphore, 0, sizeof semaphore);
    memset(&exported, 0, sizeof exported);
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = v->family;
    vk(vkCreateCommandPool(v->device, &pool, NULL, &v->pool), "vkCreateCommandPool");
    buffers.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    buffers.commandPool = v->pool;
    buffers.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    buffers.commandBufferCount = 2;
    vk(vkAllocateCommandBuffers(v->device, &buffers, v->commands), "vkAllocateCommandBuffers");
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    vk(vkCreateFence(v->device, &fence, NULL, &v->fence), "vkCreateFence");
    exported.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO;
    exported.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    semaphore.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
    semaphore.pNext = shared ? &exported : NULL;
    for (k = 0; k < 2; k++)
        vk(vkCreateSemaphore(v->device, &semaphore, NULL, &v->semaphores[k]), "vkCreateSemaphore");
}

typedef struct memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size; /* bytes of the memory */
} memory;

/* Makes a buffer in memory with these properties. shared: OpenCL may import it. */
static memory make_memory(const vulkan *v, VkDeviceSize bytes, VkMemoryPropertyFlags wanted, int shared) {
    VkExternalMemoryBufferCreateInfo external;
    VkExportMemoryAllocateInfo exported;
    VkPhysicalDeviceMemoryProperties types;
    VkMemoryRequirements needs;
    VkMemoryAllocateInfo allocation;
    VkBufferCreateInfo create;
    memory m;
    uint32_t i;
    memset(&external, 0, sizeof external);
    memset(&exported, 0, sizeof exported);
    memset(&create, 0, sizeof create);
    memset(&allocation, 0, sizeof allocation);
    external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    exported.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO;
    exported.handleTypes = external.handleTypes;
    create.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    create.pNext = shared ? &external : NULL;
    create.size = bytes;
    create.usage =
        VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    vk(vkCreateBuffer(v->device, &create, NULL, &m.buffer), "vkCreateBuffer");
    vkGetBufferMemoryRequirements(v->device, m.buffer, &needs);
    vkGetPhysicalDeviceMemoryProperties(v->physical, &types);
    for (i = 0; i < types.memoryTypeCount; i++)
        if (needs.memoryTypeBits >> i & 1 && (types.memoryTypes[i].propertyFlags & wanted) == wanted)
            break;
    if (i == types.memoryTypeCount)
        fail("Vulkan", "no memory of the kind that is needed");
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocation.pNext = shared ? &exported : NULL;
    allocation.allocationSize = m.size = needs.size;
    allocation.memoryTypeIndex = i;
    vk(vkAllocateMemory(v->device, &allocation, NULL, &m.memory), "vkAllocateMemory");
    vk(vkBindBufferMemory(v->device, m.buffer, m.memory, 0), "vkBindBufferMemory");
    return m;
}

static void free_memory(const vulkan *v, memory *m) {
    vkDestroyBuffer(v->device, m->buffer, NULL);
    vkFreeMemory(v->device, m->memory, NULL);
}

/* Records that the buffers go to OpenCL, or come back. */
static void record_owner(const vulkan *v, VkCommandBuffer commands, const memory *buffers, int count, int to_opencl) {
    VkBufferMemoryBarrier barriers[2];
    int k;
    memset(barriers, 0, sizeof barriers);
    for (k = 0; k < count; k++) {
        barriers[k].sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER;
        barriers[k].srcAccessMask = to_opencl ? VK_ACCESS_TRANSFER_WRITE_BIT : 0;
        barriers[k].dstAccessMask = to_opencl ? 0 : VK_ACCESS_TRANSFER_READ_BIT;
        barriers[k].srcQueueFamilyIndex = to_opencl ? v->family : VK_QUEUE_FAMILY_EXTERNAL;
        barriers[k].dstQueueFamilyIndex = to_opencl ? VK_QUEUE_FAMILY_EXTERNAL : v->family;
        barriers[k].buffer = buffers[k].buffer;
        barriers[k].size = VK_WHOLE_SIZE;
    }
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL,
                         (uint32_t)count, barriers, 0, NULL);
}

/* Records the two halves of Vulkan's work: numbers in, sums out. */
static void record(const vulkan *v, const memory *shared, const memory *in, const memory *out, VkDeviceSize bytes) {
    VkCommandBufferBeginInfo begin;
    VkMemoryBarrier read;
    VkBufferCopy copy;
    memset(&begin, 0, sizeof begin);
    memset(&copy, 0, sizeof copy);
    memset(&read, 0, sizeof read);
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    copy.size = bytes;
    vk(vkBeginCommandBuffer(v->commands[0], &begin), "vkBeginCommandBuffer");
    vkCmdCopyBuffer(v->commands[0], in->buffer, shared[0].buffer, 1, &copy);
    record_owner(v, v->commands[0], shared, 2, 1);
    vk(vkEndCommandBuffer(v->commands[0]), "vkEndCommandBuffer");
    vk(vkBeginCommandBuffer(v->commands[1], &begin), "vkBeginCommandBuffer");
    record_owner(v, v->commands[1], shared, 2, 0);
    vkCmdCopyBuffer(v->commands[1], shared[1].buffer, out->buffer, 1, &copy);
    read.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    read.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    read.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(v->commands[1], VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &read, 0,
                         NULL, 0, NULL);
    vk(vkEndCommandBuffer(v->commands[1]), "vkEndCommandBuffer");
}

/* Submits a half. The first one signals, the second one waits and sets the fence. */
static void submit(const vulkan *v, int half) {
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkSubmitInfo info;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &v->commands[half];
    info.signalSemaphoreCount = half == 0;
    info.pSignalSemaphores = &v->semaphores[0];
    info.waitSemaphoreCount = half == 1;
    info.pWaitSemaphores = &v->semaphores[1];
    info.pWaitDstStageMask = &stage;
    vk(vkQueueSubmit(v->queue, 1, &info, half ? v->fence : VK_NULL_HANDLE), "vkQueueSubmit");
}

/* [SHARING] -------------------------------------------------------------------------------------------------------- */

/* Functions of extensions, which a loader need not have. */
typedef struct extensions {
    clCreateSemaphoreWithPropertiesKHR_fn create_semaphore;
    clReleaseSemaphoreKHR_fn release_semaphore;
    clEnqueueWaitSemaphoresKHR_fn wait;
    clEnqueueSignalSemaphoresKHR_fn signal;
    clEnqueueAcquireExternalMemObjectsKHR_fn acquire;
    clEnqueueReleaseExternalMemObjectsKHR_fn release;
} extensions;

/* Gets a function; ISO C does not cast objects to function pointers. Returns 0 if there is none. */
static int find_function(cl_platform_id platform, const char *name, void *function, size_t size) {
    void *found = clGetExtensionFunctionAddressForPlatform(platform, name);
    memcpy(function, &found, size);
    if (!found)
        printf("sharing: the driver has no %s\n", name);
    return found != NULL;
}

/* Returns whether OpenCL's device can share, and gives its UUID. */
static int can_share(const gpuscan_info *info, extensions *x, unsigned char *uuid) {
    static const char *const names[] = {"cl_khr_external_memory_opaque_fd", "cl_khr_external_semaphore_opaque_fd",
                                        "cl_khr_device_uuid"};
    cl_platform_id platform;
    size_t size = 0, i;
    char *text;
    int has = 1;
    check(NULL, clGetDeviceInfo(info->device, CL_DEVICE_EXTENSIONS, 0, NULL, &size), "clGetDeviceInfo");
    text = (char *)allocate(size + 1);
    text[0] = text[size] = 0;
    check(NULL, clGetDeviceInfo(info->device, CL_DEVICE_EXTENSIONS, size, text, NULL), "clGetDeviceInfo");
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (!strstr(text, names[i])) {
            printf("sharing: the device has no %s\n", names[i]);
            has = 0;
        }
    free(text);
    if (!has || clGetDeviceInfo(info->device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(info->device, CL_DEVICE_UUID_KHR, CL_UUID_SIZE_KHR, uuid, NULL) != CL_SUCCESS)
        return 0;
#define FIND(field, name) find_function(platform, name, &x->field, sizeof x->field)
    return FIND(create_semaphore, "clCreateSemaphoreWithPropertiesKHR") &&
           FIND(release_semaphore, "clReleaseSemaphoreKHR") && FIND(wait, "clEnqueueWaitSemaphoresKHR") &&
           FIND(signal, "clEnqueueSignalSemaphoresKHR") && FIND(acquire, "clEnqueueAcquireExternalMemObjectsKHR") &&
           FIND(release, "clEnqueueReleaseExternalMemObjectsKHR");
#undef FIND
}

/* Imports Vulkan's memory as an OpenCL buffer, which takes over the file descriptor. */
static cl_mem import_memory(const vulkan *v, const gpuscan_info *info, const memory *m) {
    PFN_vkGetMemoryFdKHR get = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(v->device, "vkGetMemoryFdKHR");
    cl_mem_properties properties[3] = {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, 0, 0};
    VkMemoryGetFdInfoKHR what;
    cl_mem mem;
    cl_int code;
    int fd = -1;
    memset(&what, 0, sizeof what);
    what.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR;
    what.memory = m->memory;
    what.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    vk(get ? get(v->device, &what, &fd) : VK_ERROR_EXTENSION_NOT_PRESENT, "vkGetMemoryFdKHR");
    properties[1] = (cl_mem_properties)fd;
    mem = clCreateBufferWithProperties(info->context, properties, CL_MEM_READ_WRITE, (size_t)m->size, NULL, &code);
    check(NULL, code, "clCreateBufferWithProperties of Vulkan's memory");
    return mem;
}

static cl_semaphore_khr import_semaphore(const vulkan *v, const gpuscan_info *info, const extensions *x, int which) {
    PFN_vkGetSemaphoreFdKHR get = (PFN_vkGetSemaphoreFdKHR)vkGetDeviceProcAddr(v->device, "vkGetSemaphoreFdKHR");
    cl_semaphore_properties_khr properties[] = {CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR,
                                                CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 0, 0};
    VkSemaphoreGetFdInfoKHR what;
    cl_semaphore_khr semaphore;
    cl_int code;
    int fd = -1;
    memset(&what, 0, sizeof what);
    what.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR;
    what.semaphore = v->semaphores[which];
    what.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    vk(get ? get(v->device, &what, &fd) : VK_ERROR_EXTENSION_NOT_PRESENT, "vkGetSemaphoreFdKHR");
    properties[3] = (cl_semaphore_properties_khr)fd;
    semaphore = x->create_semaphore(info->context, properties, &code);
    check(NULL, code, "clCreateSemaphoreWithPropertiesKHR of Vulkan's semaphore");
    return semaphore;
}

/* [ROUNDS] --------------------------------------------------------------------------------------------------------- */

typedef struct work {
    gpuscan *gs;
    gpuscan_scan_desc scan;
    cl_command_queue queue;
    cl_mem mems[2];
    cl_semaphore_khr semaphores[2];
    cl_uint *in, *out; /* the memory from and to which Vulkan copies, mapped on the host */
    size_t bytes;
} work;

static void round_shared(work *w, const vulkan *v, const extensions *x) {
    submit(v, 0);
    check(NULL, x->wait(w->queue, 1, &w->semaphores[0], NULL, 0, NULL, NULL), "clEnqueueWaitSemaphoresKHR");
    check(NULL, x->acquire(w->queue, 2, w->mems, 0, NULL, NULL), "clEnqueueAcquireExternalMemObjectsKHR");
    check(w->gs, gpuscan_scan(w->gs, &w->scan), "gpuscan_scan");
    check(NULL, x->release(w->queue, 2, w->mems, 0, NULL, NULL), "clEnqueueReleaseExternalMemObjectsKHR");
    check(NULL, x->signal(w->queue, 1, &w->semaphores[1], NULL, 0, NULL, NULL), "clEnqueueSignalSemaphoresKHR");
    check(NULL, clFlush(w->queue), "clFlush");
    submit(v, 1);
    vk(vkWaitForFences(v->device, 1, &v->fence, VK_TRUE, (uint64_t)30 * 1000000000), "vkWaitForFences");
    vk(vkResetFences(v->device, 1, &v->fence), "vkResetFences");
}

static void round_through_host(work *w) {
    check(NULL, clEnqueueWriteBuffer(w->queue, w->mems[0], CL_FALSE, 0, w->bytes, w->in, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
    check(w->gs, gpuscan_scan(w->gs, &w->scan), "gpuscan_scan");
    check(NULL, clEnqueueReadBuffer(w->queue, w->mems[1], CL_TRUE, 0, w->bytes, w->out, 0, NULL, NULL),
          "clEnqueueReadBuffer");
}

int main(int argc, char **argv) {
    take_arguments(argc, argv, 0, 1, "vulkan_scan [--host] [elements]");
    const VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    int shared = !(argc > 1 && strcmp(argv[1], "--host") == 0), k;
    int numbers = argc - 1 - !shared;
    uint64_t count = numbers > 0 ? whole_number(argv[argc - 1], 1, 1 << 30) : 4000001, i, wrong = 0;
    unsigned char uuid[CL_UUID_SIZE_KHR] = {0};
    memory buffers[2], in, out;
    gpuscan_info info;
    extensions x;
    vulkan v;
    work w;
    double times[ROUNDS];
    cl_uint sum = 0;
    cl_int code;
    void *mapped;
    memset(&w, 0, sizeof w);
    memset(&x, 0, sizeof x);
    w.gs = open_device(&info);
    w.bytes = (size_t)count * 4;
    shared = shared && can_share(&info, &x, uuid);
    open_vulkan(&v, uuid, &shared);
    open_commands(&v, shared);
    in = make_memory(&v, w.bytes, host, 0);
    out = make_memory(&v, w.bytes, host, 0);
    vk(vkMapMemory(v.device, in.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    w.in = (cl_uint *)mapped;
    vk(vkMapMemory(v.device, out.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    w.out = (cl_uint *)mapped;

    w.queue = clCreateCommandQueue(info.context, info.device, 0, &code);
    check(NULL, code, "clCreateCommandQueue");
    for (k = 0; k < 2; k++)
        if (shared) {
            buffers[k] = make_memory(&v, w.bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 1);
            w.mems[k] = import_memory(&v, &info, &buffers[k]);
            w.semaphores[k] = import_semaphore(&v, &info, &x, k);
        } else {
            w.mems[k] = make_buffer(info.context, CL_MEM_READ_WRITE, w.bytes, NULL);
        }
    if (shared)
        record(&v, buffers, &in, &out, w.bytes);
    w.scan.src.mem = w.mems[0];
    w.scan.dst.mem = w.mems[1];
    w.scan.count = count;
    w.scan.call.queue = w.queue;
    check(w.gs, gpuscan_scan_prepare(w.gs, &w.scan), "gpuscan_scan_prepare");

    for (k = 0; k < ROUNDS; k++) { /* other numbers in each round */
        for (i = 0; i < count; i++)
            w.in[i] = (cl_uint)((i + 1 + (uint64_t)k * count) * 0x9e3779b97f4a7c15u >> 40);
        memset(w.out, 0xee, w.bytes);
        times[k] = now();
        if (shared)
            round_shared(&w, &v, &x);
        else
            round_through_host(&w);
        times[k] = now() - times[k];
        for (i = 0, sum = 0; i < count; i++) {
            wrong += w.out[i] != sum;
            sum += w.in[i];
        }
    }
    printf("vulkan_scan: %d scans of %s elements, %s, %.3f ms each with the copies: %s\n", ROUNDS, commas(count),
           shared ? "in shared buffers" : "through the host", 1e3 * median(times, ROUNDS),
           wrong ? "WRONG" : "every sum as in a loop");

    check(NULL, clFinish(w.queue), "clFinish");
    for (k = 0; k < 2; k++) {
        if (shared)
            x.release_semaphore(w.semaphores[k]);
        clReleaseMemObject(w.mems[k]);
    }
    gpuscan_destroy(w.gs);
    clReleaseCommandQueue(w.queue);
    vkDeviceWaitIdle(v.device);
    for (k = 0; k < 2; k++) {
        if (shared)
            free_memory(&v, &buffers[k]);
        vkDestroySemaphore(v.device, v.semaphores[k], NULL);
    }
    free_memory(&v, &in);
    free_memory(&v, &out);
    vkDestroyFence(v.device, v.fence, NULL);
    vkDestroyCommandPool(v.device, v.pool, NULL);
    vkDestroyDevice(v.device, NULL);
    vkDestroyInstance(v.instance, NULL);
    return wrong != 0;
}
