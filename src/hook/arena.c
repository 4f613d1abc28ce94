/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks that are filled from the front, and a table of lists of texts that only grows at its heads. Whoever loses a race
 * looks again: the memory that it had taken stays unused. The limit is there for a program that invents names forever.
 */
#include "hook/arena.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "npumem.h"
#include "record/machine.h"
#include "record/text.h"

#define CHUNK_BYTES     ((size_t)64 << 10)
#define CHUNK_COUNT_MAX 256 /* 16 MiB */
#define LIST_COUNT      1024

typedef struct arena_chunk {
    _Atomic size_t used_bytes; /* may pass the end: what does not fit is not used */
    char room[CHUNK_BYTES - sizeof(size_t)];
} arena_chunk;

typedef struct interned_text {
    struct interned_text *next;
    char text[];
} interned_text;

static arena_chunk *_Atomic current;
static _Atomic unsigned chunk_count;
static interned_text *_Atomic lists[LIST_COUNT];

/* Puts a chunk in the place of `full`, unless another thread has. False: there can be none. */
static bool add_chunk(arena_chunk *full)
{
    long made;

    /* relaxed: a limit. */
    if (atomic_fetch_add_explicit(&chunk_count, 1, memory_order_relaxed) >= CHUNK_COUNT_MAX) {
        atomic_fetch_sub_explicit(&chunk_count, 1, memory_order_relaxed);
        return false;
    }
    made = nm_call(SYS_mmap, 0, sizeof(arena_chunk), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* A failure of the kernel's is -4095 to -1. release: pairs with the acquire in nm_arena_allocate. */
    if (made >= -4095 && made < 0)
        atomic_fetch_sub_explicit(&chunk_count, 1, memory_order_relaxed);
    else if (!atomic_compare_exchange_strong_explicit(&current, &full, (arena_chunk *)made, memory_order_release,
                                                      memory_order_relaxed)) {
        nm_call(SYS_munmap, made, sizeof(arena_chunk), 0, 0, 0, 0);
        atomic_fetch_sub_explicit(&chunk_count, 1, memory_order_relaxed);
        made = 0;
    }
    return made >= 0 || made < -4095;
}

void *nm_arena_allocate(size_t bytes)
{
    size_t whole_bytes = (bytes + 7) & ~(size_t)7;

    if (bytes > sizeof(((arena_chunk *)0)->room))
        return NULL;
    for (;;) {
        /* acquire: pairs with the release in add_chunk. */
        arena_chunk *chunk = atomic_load_explicit(&current, memory_order_acquire);

        if (chunk != NULL) { /* relaxed: the room is the taker's alone. */
            size_t at = atomic_fetch_add_explicit(&chunk->used_bytes, whole_bytes, memory_order_relaxed);

            if (at + whole_bytes <= sizeof chunk->room)
                return chunk->room + at;
        }
        if (!add_chunk(chunk))
            return NULL;
    }
}

static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* The text among those from `first` on, up to `end`. */
static const char *find_text(const interned_text *first, const interned_text *end, const char *text, size_t bytes)
{
    for (const interned_text *one = first; one != end; one = one->next) {
        if (strncmp(one->text, text, bytes) == 0 && one->text[bytes] == '\0')
            return one->text;
    }
    return NULL;
}

const char *nm_arena_intern(const char *text)
{
    char room[NPUMEM_TEXT_BYTES_MAX];
    uint64_t bytes;

    text = nm_text_take(text, room, &bytes);
    interned_text *_Atomic *list = &lists[hash_of(text, bytes) % LIST_COUNT];
    /* acquire: pairs with the release below; what a list holds never changes. */
    interned_text *first = atomic_load_explicit(list, memory_order_acquire);
    const char *found = find_text(first, NULL, text, bytes);
    interned_text *made;

    if (found != NULL)
        return found;
    made = nm_arena_allocate(sizeof *made + bytes + 1);
    if (made == NULL)
        return NULL;
    memcpy(made->text, text, bytes);
    for (;;) {
        interned_text *seen = first;

        made->next = seen;
        /* release: whoever finds the text sees its bytes. acquire: so do we of what another thread put before it. */
        if (atomic_compare_exchange_strong_explicit(list, &first, made, memory_order_release, memory_order_acquire))
            return made->text;
        found = find_text(first, seen, text, bytes);
        if (found != NULL)
            return found;
    }
}
