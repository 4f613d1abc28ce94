/* SPDX-License-Identifier: Apache-2.0
 *
 * own_pool: a pool that cuts what it hands out from segments of the device and keeps what it gets back, and the eight
 * lines that tell npumem of it: each is marked by a comment that begins with "npumem". A loop of training steps uses the
 * pool, forgets one block a step, and prints what npumem should find.
 *
 *     cc -g -o own_pool own_pool.c $(pkg-config --cflags --libs npumem)
 *     npumem record -o run.zst -- ./own_pool
 *     npumem ingest --site-rules pool.rules run.zst
 *
 * Host memory stands for that of the device, so that it runs anywhere. With CANN, device_take calls aclrtMalloc, which
 * npumem-record sees by itself: then there is no heap of the driver to tell of.
 */
#include <npumem.h>
#include <stdio.h>
#include <stdlib.h>

#define SEGMENT_BYTES ((size_t)2 << 20)
#define CLASS_MIN_LOG 9  /* blocks are powers of two, from 512 bytes */
#define CLASS_COUNT   13 /* to 2 MiB */
#define BLOCKS_MAX    1024
#define STEPS         40
#define LAYERS        6

struct block {
    char *address;
    size_t requested_bytes; /* 0: it is free */
    int class;
    struct block *next; /* of the free ones of its class */
};

/* The device's memory is not the host's to write into, so what is known of a block stands here. */
struct pool {
    npumem_heap driver, heap;
    struct block blocks[BLOCKS_MAX], *free[CLASS_COUNT];
    char *segment; /* the one that is cut at present */
    size_t block_count, cut_bytes;
    size_t request_count, hit_count, live_bytes, peak_bytes; /* what it knows itself */
};

static struct pool pool = {.cut_bytes = SEGMENT_BYTES};

static npumem_heap define_heap(const char *name, npumem_level level)
{
    npumem_heap_options about = NPUMEM_HEAP_DEFAULTS;

    about.name = name;
    about.level = level;
    about.device = 0;
    return npumem_heap_define(&about); /* npumem: once for each heap of a process */
}

static char *device_take(size_t bytes)
{
    char *segment = aligned_alloc(4096, bytes);

    if (segment == NULL)
        abort();
    npumem_alloc(pool.driver, segment, bytes, NULL); /* npumem: a segment came (not with aclrtMalloc) */
    return segment;
}

static struct block *find_block(const char *address)
{
    for (size_t i = 0; i < pool.block_count; i++)
        if (pool.blocks[i].address == address)
            return &pool.blocks[i];
    abort();
}

/* A new block of the class; *is_hit stays 1 where the segment had room for it. */
static struct block *cut_block(int class, int *is_hit)
{
    struct block *block = &pool.blocks[pool.block_count++];
    size_t bytes = (size_t)1 << (class + CLASS_MIN_LOG);

    if (pool.block_count > BLOCKS_MAX)
        abort();
    if (pool.cut_bytes + bytes > SEGMENT_BYTES) {
        pool.segment = device_take(SEGMENT_BYTES);
        pool.cut_bytes = 0;
        *is_hit = 0;
    }
    *block = (struct block){.address = pool.segment + pool.cut_bytes, .class = class};
    pool.cut_bytes += bytes;
    return block;
}

static void *pool_allocate(size_t bytes)
{
    npumem_alloc_options details = NPUMEM_ALLOC_DEFAULTS;
    int class = 0, is_hit = 1;

    while (((size_t)1 << (class + CLASS_MIN_LOG)) < bytes)
        class ++;
    if (class >= CLASS_COUNT) {
        npumem_alloc_failed(pool.heap, bytes, 207001); /* npumem: a request that cannot be served */
        return NULL;
    }
    struct block *block = pool.free[class];
    if (block != NULL)
        pool.free[class] = block->next;
    else
        block = cut_block(class, &is_hit);
    block->requested_bytes = bytes;

    pool.request_count++;
    pool.hit_count += (size_t)is_hit;
    pool.live_bytes += bytes;
    if (pool.live_bytes > pool.peak_bytes)
        pool.peak_bytes = pool.live_bytes;

    details.block_bytes = (size_t)1 << (class + CLASS_MIN_LOG);
    details.outcome = is_hit ? NPUMEM_HIT : NPUMEM_MISS;
    npumem_alloc(pool.heap, block->address, bytes, &details); /* npumem: before anybody else learns the address */
    return block->address;
}

static void pool_free(void *address)
{
    struct block *block = find_block(address);

    npumem_free(pool.heap, address, NULL); /* npumem: before it can be handed out again */
    pool.live_bytes -= block->requested_bytes;
    block->requested_bytes = 0;
    block->next = pool.free[block->class];
    pool.free[block->class] = block;
}

static void *load_weight(int layer)
{
    return pool_allocate(100000 + 1000 * (size_t)layer);
}

/* The bug: nobody remembers the block. */
static void *forget_block(void)
{
    return pool_allocate(3000);
}

static void run_step(int step)
{
    void *activations[LAYERS];

    npumem_step(step); /* npumem: so that growth is told from warming up */
    uint64_t forward = npumem_range_begin("forward");
    for (int layer = 0; layer < LAYERS; layer++)
        activations[layer] = pool_allocate(20000 + 30000 * (size_t)layer);
    npumem_range_end(forward); /* npumem: and what of a step it was */
    forget_block();
    for (int layer = LAYERS; layer-- > 0;)
        pool_free(activations[layer]);
}

int main(void)
{
    void *weights[LAYERS];

    pool.driver = define_heap("device memory", NPUMEM_LEVEL_DRIVER);
    pool.heap = define_heap("my pool", NPUMEM_LEVEL_POOL);
    for (int layer = 0; layer < LAYERS; layer++)
        weights[layer] = load_weight(layer);
    npumem_mark("loaded"); /* npumem: a moment to look at later */
    for (int step = 0; step < STEPS; step++)
        run_step(step);
    for (int layer = 0; layer < LAYERS; layer++)
        pool_free(weights[layer]);

    printf("requests %zu\nhits %zu\n", pool.request_count, pool.hit_count);
    printf("live_bytes %zu\npeak_bytes %zu\n", pool.live_bytes, pool.peak_bytes);
    printf("leaked_blocks %d\nleaked_bytes %d\n", STEPS, STEPS * 3000);
    return 0;
}
