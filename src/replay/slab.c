/* SPDX-License-Identifier: Apache-2.0
 *
 * Items of one size in chunks, those given back in a list: what is live comes and goes by the million, and an item needs
 * neither a header nor a call. Items begin at cache lines, or are packed; memory goes back to the system with the slab alone.
 * Under a sanitizer each item is an allocation of its own, so that it sees every use after the end.
 */
#include "replay/slab.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_LINE_BYTES  64
#define CHUNK_BYTES_LEAST ((size_t)64 << 10) /* each next one is twice as large, up to: */
#define CHUNK_BYTES_MOST  ((size_t)1 << 20)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_PLAIN = 1 };
#else
enum { IS_PLAIN = 0 };
#endif

typedef struct nm_slab_item { /* what an unused item holds */
    struct nm_slab_item *next;
} nm_slab_item;

typedef struct nm_slab_chunk {
    struct nm_slab_chunk *next;
    size_t bytes;
} nm_slab_chunk;

static nm_status out_of_memory(nm_error *err)
{
    return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

/* A chunk's first cache line holds its own head; the others are cut into items. It is the system's own memory: what malloc gives
 * would stay with malloc, between others, when the slab ends. */
__attribute__((noinline, cold)) static nm_status add_chunk(nm_slab *slab, nm_error *err)
{
    size_t step = slab->is_packed ? alignof(uint64_t) : CACHE_LINE_BYTES;
    size_t item_bytes = (slab->item_bytes + step - 1) / step * step;
    size_t chunk_bytes = slab->chunks == NULL ? CHUNK_BYTES_LEAST : slab->chunks->bytes * 2;
    uint8_t *bytes;
    nm_slab_chunk *chunk;

    if (chunk_bytes > CHUNK_BYTES_MOST)
        chunk_bytes = CHUNK_BYTES_MOST;
    bytes = mmap(NULL, chunk_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return out_of_memory(err);
    chunk = (nm_slab_chunk *)(void *)bytes;
    *chunk = (nm_slab_chunk){slab->chunks, chunk_bytes};
    slab->chunks = chunk;
    for (size_t at = CACHE_LINE_BYTES; at + item_bytes <= chunk_bytes; at += item_bytes) {
        nm_slab_item *item = (nm_slab_item *)(void *)(bytes + at);

        item->next = slab->unused;
        slab->unused = item;
    }
    return NM_OK;
}

void *nm_slab_take_as_is(nm_slab *slab, nm_error *err)
{
    nm_slab_item *item;

    if (IS_PLAIN) {
        item = malloc(slab->item_bytes);
        if (item == NULL)
            out_of_memory(err);
        return item;
    }
    if (slab->unused == NULL && add_chunk(slab, err) != NM_OK)
        return NULL;
    item = slab->unused;
    slab->unused = item->next;
    return item;
}

void *nm_slab_take(nm_slab *slab, nm_error *err)
{
    void *item = nm_slab_take_as_is(slab, err);

    return item == NULL ? NULL : memset(item, 0, slab->item_bytes);
}

void nm_slab_give(nm_slab *slab, void *item)
{
    nm_slab_item *unused = item;

    if (IS_PLAIN || item == NULL) {
        free(item);
        return;
    }
    unused->next = slab->unused;
    slab->unused = unused;
}

void nm_slab_free(nm_slab *slab)
{
    while (slab->chunks != NULL) {
        nm_slab_chunk *chunk = slab->chunks;

        slab->chunks = chunk->next;
        munmap(chunk, chunk->bytes);
    }
    slab->unused = NULL;
}
