/* SPDX-License-Identifier: Apache-2.0
 *
 * A pool that caches driver memory, as a framework's does, and a loop that uses it. Names, arguments and numbers of ACL are
 * those of Huawei's public AscendCL reference. The pool is told to npumem by the functions of npumem.h, which are there when
 * the recorder is. The file has a long name because reports show it: its sites are this program's.
 */
#include "tool/selfcheck/selfcheck_program.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "npumem.h"

#define DEVICE           0
#define ACL_SUCCESS      0
#define ACL_HUGE_FIRST   0
#define ACL_DDR          0
#define ACL_HBM          1
#define HOST_TO_DEVICE   1
#define DEVICE_TO_HOST   2
#define STEP_COUNT       500 /* what they record fits a ring: a slow drain holds nobody up, and nothing is lost */
#define WARM_COUNT       20  /* of them: stacks are met for the first time */
#define LAYER_COUNT      8
#define WIDE_COUNT       12
#define BLOCKS_MAX       64
#define BATCH_BYTES      (256u << 10)
#define BLOCK_STEP_BYTES 512u
#define SEGMENT_BYTES    (16u << 20)
#define WIDE_BYTES       (6u << 20)

typedef struct acl_functions {
    int (*init)(const char *configuration);
    int (*finalize)(void);
    int (*set_device)(int32_t device);
    int (*reset_device)(int32_t device);
    int (*malloc)(void **address, size_t bytes, int policy);
    int (*free)(void *address);
    int (*malloc_host)(void **address, size_t bytes);
    int (*free_host)(void *address);
    int (*memcpy)(void *target, size_t room_bytes, const void *source, size_t bytes, int kind);
    int (*memory)(int kind, size_t *free_bytes, size_t *total_bytes);
    const char *(*soc_name)(void);
    int (*version)(int32_t *major, int32_t *minor, int32_t *patch);
} acl_functions;

typedef struct sdk_functions { /* NULL while nothing records */
    __typeof__(&npumem_heap_define) heap_define;
    __typeof__(&npumem_alloc) alloc;
    __typeof__(&npumem_free) free;
    __typeof__(&npumem_mark) mark;
    __typeof__(&npumem_step) step;
} sdk_functions;

typedef struct pool_block {
    char *address;
    uint64_t bytes;
    bool is_live;
} pool_block;

typedef struct pool_books {
    uint64_t allocated_bytes, allocated_peak_bytes, reserved_bytes, reserved_peak_bytes, allocation_count;
} pool_books;

static acl_functions acl;
static sdk_functions sdk;
static npumem_heap heap;
static pool_block blocks[BLOCKS_MAX];
static size_t block_count;
static void *segments[BLOCKS_MAX];
static size_t segment_count;
static char *segment_at;
static uint64_t segment_left_bytes;
static pool_books books;

static void tell(const char *key, uint64_t value)
{
    printf("npumem-selfcheck %s %" PRIu64 "\n", key, value);
}

/* ---- Finding functions --------------------------------------------------------------------------------------------- */

static bool find(void *library, const char *name, void *place)
{
    *(void **)place = dlsym(library, name);
    return *(void **)place != NULL;
}

/* The older library has every function, too, where both are; the newer one is alone on some hosts. */
static const char *open_acl(void)
{
    void *library = dlopen("libascendcl.so", RTLD_NOW | RTLD_GLOBAL);

    if (library == NULL)
        library = dlopen("libacl_rt.so", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL)
        return "neither libascendcl.so nor libacl_rt.so can be loaded (is CANN's set_env.sh sourced?)";
    find(library, "aclrtGetSocName", &acl.soc_name);
    find(library, "aclrtGetVersion", &acl.version);
    return find(library, "aclInit", &acl.init) && find(library, "aclFinalize", &acl.finalize) &&
                   find(library, "aclrtSetDevice", &acl.set_device) &&
                   find(library, "aclrtResetDevice", &acl.reset_device) && find(library, "aclrtMalloc", &acl.malloc) &&
                   find(library, "aclrtFree", &acl.free) && find(library, "aclrtMallocHost", &acl.malloc_host) &&
                   find(library, "aclrtFreeHost", &acl.free_host) && find(library, "aclrtMemcpy", &acl.memcpy) &&
                   find(library, "aclrtGetMemInfo", &acl.memory)
               ? NULL
               : "the library of CANN lacks a function of ACL";
}

static void open_sdk(void)
{
    if (find(RTLD_DEFAULT, "npumem_heap_define", &sdk.heap_define) && find(RTLD_DEFAULT, "npumem_alloc", &sdk.alloc) &&
        find(RTLD_DEFAULT, "npumem_free", &sdk.free) && find(RTLD_DEFAULT, "npumem_mark", &sdk.mark) &&
        find(RTLD_DEFAULT, "npumem_step", &sdk.step))
        heap = sdk.heap_define(&(npumem_heap_options){.struct_bytes = sizeof(npumem_heap_options),
                                                      .name = "self-check pool",
                                                      .level = NPUMEM_LEVEL_POOL,
                                                      .device = DEVICE,
                                                      .uses_block_bytes = 1});
    else
        sdk = (sdk_functions){0};
}

/* ---- The pool ------------------------------------------------------------------------------------------------------ */

static void give_up(const char *call, int error)
{
    printf("npumem-selfcheck why %s returned %d\n", call, error);
    exit(1);
}

static void take_segment(uint64_t bytes)
{
    int error = segment_count == BLOCKS_MAX ? -1 : acl.malloc(&segments[segment_count], bytes, ACL_HUGE_FIRST);

    if (error != ACL_SUCCESS)
        give_up("aclrtMalloc", error);
    segment_at = segments[segment_count++];
    segment_left_bytes = bytes;
    books.reserved_bytes += bytes;
    if (books.reserved_peak_bytes < books.reserved_bytes)
        books.reserved_peak_bytes = books.reserved_bytes;
}

/* A free block of that size, or a new one. */
static pool_block *find_block(uint64_t bytes, npumem_outcome *outcome)
{
    *outcome = NPUMEM_HIT;
    for (size_t i = 0; i < block_count; i++)
        if (!blocks[i].is_live && blocks[i].bytes == bytes)
            return &blocks[i];
    if (block_count == BLOCKS_MAX)
        give_up("the pool", -1);
    if (segment_left_bytes < bytes) {
        take_segment(bytes > SEGMENT_BYTES ? bytes : SEGMENT_BYTES);
        *outcome = NPUMEM_MISS;
    }
    blocks[block_count] = (pool_block){.address = segment_at, .bytes = bytes};
    segment_at += bytes;
    segment_left_bytes -= bytes;
    return &blocks[block_count++];
}

static pool_block *pool_take(uint64_t bytes)
{
    npumem_alloc_options options = {.struct_bytes = sizeof options, .stream = NPUMEM_NO_STREAM};
    uint64_t rounded = (bytes + BLOCK_STEP_BYTES - 1) / BLOCK_STEP_BYTES * BLOCK_STEP_BYTES;
    pool_block *block = find_block(rounded, &options.outcome);

    options.block_bytes = rounded;
    block->is_live = true;
    books.allocation_count++;
    books.allocated_bytes += rounded;
    if (books.allocated_peak_bytes < books.allocated_bytes)
        books.allocated_peak_bytes = books.allocated_bytes;
    if (sdk.alloc != NULL)
        sdk.alloc(heap, block->address, bytes, &options);
    return block;
}

static void pool_give(pool_block *block)
{
    if (sdk.free != NULL)
        sdk.free(heap, block->address, NULL);
    books.allocated_bytes -= block->bytes;
    block->is_live = false;
}

static void pool_empty(void)
{
    for (size_t i = 0; i < segment_count; i++)
        acl.free(segments[i]);
    books.reserved_bytes = 0;
}

/* ---- What uses it -------------------------------------------------------------------------------------------------- */

static void copy(void *target, const void *source, size_t bytes, int kind)
{
    int error = acl.memcpy(target, bytes, source, bytes, kind);

    if (error != ACL_SUCCESS)
        give_up("aclrtMemcpy", error);
}

static void train_step(int64_t number, void *host)
{
    pool_block *held[LAYER_COUNT + 1];

    if (sdk.step != NULL)
        sdk.step(number);
    held[0] = pool_take(BATCH_BYTES);
    copy(held[0]->address, host, BATCH_BYTES, HOST_TO_DEVICE);
    for (uint64_t layer = 1; layer <= LAYER_COUNT; layer++)
        held[layer] = pool_take((layer % 4 + 1) * 500000 + layer);
    copy(host, held[0]->address, BLOCK_STEP_BYTES, DEVICE_TO_HOST);
    for (size_t layer = LAYER_COUNT + 1; layer-- > 0;)
        pool_give(held[layer]);
}

static void tell_device(const char *key, const char *moment)
{
    size_t free_bytes = 0, total_bytes = 0;

    if (acl.memory(ACL_HBM, &free_bytes, &total_bytes) != ACL_SUCCESS || total_bytes == 0)
        acl.memory(ACL_DDR, &free_bytes, &total_bytes);
    if (sdk.mark != NULL)
        sdk.mark(moment);
    if (total_bytes != 0)
        tell(key, free_bytes);
}

/* The most of everything at once, last: the device is asked then. */
static void hold_most(void)
{
    pool_block *held[WIDE_COUNT];

    for (size_t i = 0; i < WIDE_COUNT; i++)
        held[i] = pool_take(WIDE_BYTES + i);
    tell_device("device_peak_free_bytes", "selfcheck peak");
    for (size_t i = 0; i < WIDE_COUNT; i++)
        pool_give(held[i]);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void work(void)
{
    void *host = NULL, *warm = NULL;
    int error = acl.malloc_host(&host, BATCH_BYTES);
    int64_t begin_ns;

    if (error != ACL_SUCCESS)
        give_up("aclrtMallocHost", error);
    if ((error = acl.malloc(&warm, BATCH_BYTES, ACL_HUGE_FIRST)) != ACL_SUCCESS)
        give_up("aclrtMalloc", error);
    copy(warm, host, BATCH_BYTES, HOST_TO_DEVICE);
    acl.free(warm);
    tell_device("device_begin_free_bytes", "selfcheck begin");

    for (int64_t step = 0; step < WARM_COUNT; step++)
        train_step(step, host);
    begin_ns = now_ns();
    for (int64_t step = WARM_COUNT; step < STEP_COUNT; step++)
        train_step(step, host);
    tell("loop_ns", (uint64_t)(now_ns() - begin_ns));
    tell("step_count", STEP_COUNT - WARM_COUNT);
    hold_most();
    acl.free_host(host);
}

static void tell_versions(void)
{
    int32_t major = 0, minor = 0, patch = 0;

    if (acl.version != NULL && acl.version(&major, &minor, &patch) == ACL_SUCCESS)
        printf("npumem-selfcheck version ACL %d.%d.%d\n", major, minor, patch);
    if (acl.soc_name != NULL && acl.soc_name() != NULL)
        printf("npumem-selfcheck version device %s\n", acl.soc_name());
}

static int tell_library(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (strstr(info->dlpi_name, "/libacl") != NULL || strstr(info->dlpi_name, "/libascend") != NULL ||
        strstr(info->dlpi_name, "/libruntime") != NULL)
        printf("npumem-selfcheck library %s\n", info->dlpi_name);
    return 0;
}

int selfcheck_program(void)
{
    const char *why = open_acl();
    int error;

    if (why == NULL && (error = acl.init(NULL)) != ACL_SUCCESS) {
        printf("npumem-selfcheck why CANN is here, but aclInit returned %d\n", error);
        return SELFCHECK_EXIT_NOT_HERE;
    }
    if (why == NULL && (error = acl.set_device(DEVICE)) != ACL_SUCCESS) {
        printf("npumem-selfcheck why CANN is here, but aclrtSetDevice(0) returned %d\n", error);
        return SELFCHECK_EXIT_NOT_HERE;
    }
    if (why != NULL) {
        printf("npumem-selfcheck why %s\n", why);
        return SELFCHECK_EXIT_NOT_HERE;
    }
    open_sdk();
    tell_versions();
    dl_iterate_phdr(tell_library, NULL);
    work();
    tell("allocated_peak_bytes", books.allocated_peak_bytes);
    tell("reserved_peak_bytes", books.reserved_peak_bytes);
    tell("allocation_count", books.allocation_count);
    pool_empty();
    acl.reset_device(DEVICE);
    acl.finalize();
    return 0;
}
