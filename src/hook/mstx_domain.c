/* SPDX-License-Identifier: Apache-2.0
 *
 * The domains of mstx, one for each name, kept until the process ends: torch_npu asks for its domain anew at every event.
 * The program's handle for one is its address with a mark in the bits that no address has, so that whatever else a program
 * passes is told from it.
 */
#include <stdatomic.h>
#include <string.h>

#include "hook/arena.h"
#include "hook/mstx.h"
#include "trace/event.h"

#define LIST_COUNT     64
#define NAME_BYTES_MAX 4096 /* names that are the same so far are one domain */
#define ADDRESS_BITS   48
#define HANDLE_MARK    (UINT64_C(0x4e50) << ADDRESS_BITS)

typedef struct known_pool {
    const char *name;
    uint64_t level;
    uint32_t flags;
} known_pool;

static const known_pool known_pools[] = {
    {"ptaCaching", NM_LEVEL_POOL, 0},
    {"msleaks", NM_LEVEL_POOL, 0}, /* ptaCaching before August 2025 */
    {"ptaWorkspace", NM_LEVEL_WORKSPACE, NM_FLAG_TOTAL},
    {"atb", NM_LEVEL_POOL, 0},
    {"mindsporeMemPool", NM_LEVEL_POOL, 0},
};

static nm_mstx_domain *_Atomic lists[LIST_COUNT];
static _Atomic bool has_pool;

bool nm_mstx_has_pool(void)
{
    return atomic_load_explicit(&has_pool, memory_order_relaxed); /* relaxed: a flag */
}

static void *handle_of(const nm_mstx_domain *domain)
{
    return (void *)((uintptr_t)domain | HANDLE_MARK);
}

nm_mstx_domain *nm_mstx_domain_of(void *handle)
{
    uintptr_t bits = (uintptr_t)handle ^ HANDLE_MARK;

    return bits >> ADDRESS_BITS == 0 ? (nm_mstx_domain *)bits : NULL;
}

void *nm_mstx_next_handle(void *handle)
{
    const nm_mstx_domain *domain = nm_mstx_domain_of(handle);

    /* acquire: the tool behind it is called with what it made before. */
    return domain != NULL ? atomic_load_explicit(&domain->next_handle, memory_order_acquire) : handle;
}

/* ---- By name ------------------------------------------------------------------------------------------------------- */

static void set_kind(nm_mstx_domain *domain)
{
    domain->level = NM_LEVEL_POOL;
    for (size_t i = 0; i < sizeof known_pools / sizeof *known_pools; i++) {
        if (strcmp(domain->name, known_pools[i].name) == 0) {
            domain->is_pool = true;
            domain->level = known_pools[i].level;
            domain->flags = known_pools[i].flags;
        }
    }
    if (strcmp(domain->name, "npumem.category") == 0)
        domain->range_kind = NM_RANGE_CATEGORY;
    else if (strcmp(domain->name, "npumem.module") == 0)
        domain->range_kind = NM_RANGE_MODULE;
}

/* NULL: no memory. */
static nm_mstx_domain *make_domain(const char *name, size_t name_bytes)
{
    nm_mstx_domain *made = nm_arena_allocate(sizeof *made + name_bytes + 1);

    if (made == NULL || (uintptr_t)made >> ADDRESS_BITS != 0)
        return NULL;
    memcpy(made->name, name, name_bytes); /* the rest is zero */
    set_kind(made);
    return made;
}

static uint64_t hash_name(const char *name, size_t bytes)
{
    uint64_t hash = bytes;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static nm_mstx_domain *find_domain(nm_mstx_domain *from, const nm_mstx_domain *end, const char *name, size_t bytes)
{
    for (nm_mstx_domain *one = from; one != end; one = one->below) {
        if (strncmp(one->name, name, bytes) == 0 && one->name[bytes] == 0)
            return one;
    }
    return NULL;
}

static nm_mstx_domain *named(const char *name)
{
    size_t bytes = strnlen(name, NAME_BYTES_MAX);
    nm_mstx_domain *_Atomic *list = &lists[hash_name(name, bytes) % LIST_COUNT];
    /* acquire: pairs with the release below; what is in a list stays as it is. */
    nm_mstx_domain *first = atomic_load_explicit(list, memory_order_acquire);
    nm_mstx_domain *found = find_domain(first, NULL, name, bytes);
    nm_mstx_domain *made = found == NULL ? make_domain(name, bytes) : NULL;

    while (found == NULL && made != NULL) {
        made->below = first;
        /* release: whoever finds it sees it whole. acquire: so do we what another thread put before it. */
        if (atomic_compare_exchange_strong_explicit(list, &first, made, memory_order_release, memory_order_acquire))
            return made;
        found = find_domain(first, made->below, name, bytes); /* else `made` stays unused */
    }
    return found;
}

/* ---- The tool's functions ------------------------------------------------------------------------------------------ */

void *nm_mstx_on_domain_create(const char *name)
{
    nm_mstx_domain *domain = named(name != NULL ? name : "");
    nm_mstx_domain_create *next = NM_MSTX_NEXT(domain_create);
    void *next_handle = next != NULL ? next(name) : NULL;

    if (domain == NULL)
        return next_handle;
    /* release: see nm_mstx_next_handle. A tool that gives a new handle each time has its last one used. */
    if (next != NULL)
        atomic_store_explicit(&domain->next_handle, next_handle, memory_order_release);
    if (domain->is_pool)
        atomic_store_explicit(&has_pool, true, memory_order_relaxed); /* relaxed: a flag */
    return handle_of(domain);
}

/* What is live in the domain stays so: its owner may make it again and go on. */
void nm_mstx_on_domain_destroy(void *handle)
{
    nm_mstx_domain_destroy *next = NM_MSTX_NEXT(domain_destroy);
    nm_mstx_domain *domain = nm_mstx_domain_of(handle);
    void *next_handle = handle;

    if (domain != NULL) /* taken out: another thread may destroy it too */
        next_handle = atomic_exchange_explicit(&domain->next_handle, NULL, memory_order_acq_rel);
    if (next != NULL)
        next(next_handle);
}
