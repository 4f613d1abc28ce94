/* SPDX-License-Identifier: Apache-2.0
 *
 * A program's own allocator, preloaded under the name of jemalloc or tcmalloc: all of malloc's family, in pages from the kernel.
 * It counts the calls, so that one sees who else allocates. OTHER_MALLOC_ASKS: it asks the loader before it can give anything,
 * as an allocator that hands on what it does not make.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT      __attribute__((visibility("default")))
#define CHUNK_BYTES ((size_t)8 << 20)

typedef struct head {
    alignas(16) size_t bytes;
} head;

EXPORT uint64_t other_malloc_count(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *chunk;
static size_t chunk_left;
static uint64_t count;

uint64_t other_malloc_count(void)
{
    return count;
}

static void *take(size_t alignment, size_t bytes)
{
    size_t wanted = sizeof(head) + alignment + bytes;
    char *at;

#ifdef OTHER_MALLOC_ASKS
    static void *next;
    static int is_asking;

    if (next == NULL && !is_asking) {
        is_asking = 1;
        next = dlsym(RTLD_NEXT, "malloc");
    }
#endif
    pthread_mutex_lock(&lock);
    count++;
    if (wanted > chunk_left) {
        chunk_left = wanted > CHUNK_BYTES ? wanted : CHUNK_BYTES;
        chunk = mmap(NULL, chunk_left, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (chunk == MAP_FAILED) {
            chunk_left = 0;
            pthread_mutex_unlock(&lock);
            errno = ENOMEM;
            return NULL;
        }
    }
    at = chunk + sizeof(head);
    at += (alignment - (uintptr_t)at % alignment) % alignment;
    ((head *)(void *)at)[-1].bytes = bytes;
    chunk_left -= (size_t)(at + bytes - chunk);
    chunk = at + bytes;
    pthread_mutex_unlock(&lock);
    return at;
}

EXPORT void *malloc(size_t bytes);
EXPORT void free(void *address);
EXPORT void *calloc(size_t item_count, size_t item_bytes);
EXPORT void *realloc(void *address, size_t bytes);
EXPORT void *memalign(size_t alignment, size_t bytes);
EXPORT void *aligned_alloc(size_t alignment, size_t bytes);
EXPORT int posix_memalign(void **address, size_t alignment, size_t bytes);

void *malloc(size_t bytes)
{
    return take(16, bytes);
}

void free(void *address)
{
    (void)address;
}

void *calloc(size_t item_count, size_t item_bytes)
{
    return take(16, item_count * item_bytes); /* pages of the kernel's are zero, and none comes again */
}

void *realloc(void *address, size_t bytes)
{
    void *made = take(16, bytes);
    size_t before = address == NULL ? 0 : ((head *)address)[-1].bytes;

    if (made != NULL && before > 0)
        memcpy(made, address, before < bytes ? before : bytes);
    return made;
}

void *memalign(size_t alignment, size_t bytes)
{
    return take(alignment < 16 ? 16 : alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **address, size_t alignment, size_t bytes)
{
    *address = memalign(alignment, bytes);
    return *address == NULL ? ENOMEM : 0;
}
