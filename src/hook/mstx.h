/* SPDX-License-Identifier: Apache-2.0
 *
 * mstx, by which programs tell tools of marks, ranges and the memory of their own allocators: what a tool gets from the
 * library and gives to it, in declarations of our own, and what mstx*.c share. Another tool behind this one gets every call
 * too: NM_MSTX_NEXT. The types of handles and streams are pointers here.
 */
#ifndef NM_HOOK_MSTX_H
#define NM_HOOK_MSTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/event.h"

/* ---- The interface ------------------------------------------------------------------------------------------------- */

#define NM_MSTX_SUCCESS 0
#define NM_MSTX_FAIL    1

enum { NM_MSTX_CORE = 1, NM_MSTX_DOMAIN = 2, NM_MSTX_MEMORY = 3, NM_MSTX_MODULE_MAX = NM_MSTX_MEMORY };

#define NM_MSTX_ID_MAX 31 /* of what is handed on; five and less are known */

typedef void (*nm_mstx_pointer)(void);
typedef nm_mstx_pointer **nm_mstx_table; /* *table[id] is the function; there is none of id 0 */

/* NM_MSTX_SUCCESS; *size: ids below it are in the table. */
typedef int nm_mstx_get_table(int module, nm_mstx_table *table, unsigned *size);
typedef int nm_mstx_init(nm_mstx_get_table *get);

typedef struct nm_mstx_range { /* mstxMemVirtualRangeDesc_t */
    uint32_t device;
    const void *address;
    uint64_t size_bytes;
} nm_mstx_range;

/* In these three, torch_npu leaves unset what is named `unset`: never read. */
typedef struct nm_mstx_heap { /* mstxMemHeapDesc_t */
    int unset_usage, unset_type;
    const nm_mstx_range *range;
} nm_mstx_heap;

typedef struct nm_mstx_regions { /* mstxMemRegionsRegisterBatch_t */
    void *unset_heap;
    int unset_type;
    size_t count;
    const nm_mstx_range *ranges;
    void **unset_handles; /* for handles; read in domains that are not torch_npu's or another known pool's */
} nm_mstx_regions;

#define NM_MSTX_BY_POINTER 0
#define NM_MSTX_BY_HANDLE  1

typedef struct nm_mstx_reference { /* mstxMemRegionRef_t */
    int kind;
    void *region; /* its address or its handle */
} nm_mstx_reference;

typedef struct nm_mstx_references { /* mstxMemRegionsUnregisterBatch_t */
    size_t count;
    const nm_mstx_reference *references;
} nm_mstx_references;

/* X(module, id, name, result, parameters) */
#define NM_MSTX_FUNCTIONS(X)                                                                                           \
    X(NM_MSTX_CORE, 1, mark, void, (const char *message, void *stream))                                                \
    X(NM_MSTX_CORE, 2, range_start, uint64_t, (const char *message, void *stream))                                     \
    X(NM_MSTX_CORE, 3, range_end, void, (uint64_t range))                                                              \
    X(NM_MSTX_CORE, 4, get_tool_id, void, (uint64_t * tool))                                                           \
    X(NM_MSTX_DOMAIN, 1, domain_create, void *, (const char *name))                                                    \
    X(NM_MSTX_DOMAIN, 2, domain_destroy, void, (void *domain))                                                         \
    X(NM_MSTX_DOMAIN, 3, domain_mark, void, (void *domain, const char *message, void *stream))                         \
    X(NM_MSTX_DOMAIN, 4, domain_range_start, uint64_t, (void *domain, const char *message, void *stream))              \
    X(NM_MSTX_DOMAIN, 5, domain_range_end, void, (void *domain, uint64_t range))                                       \
    X(NM_MSTX_MEMORY, 1, heap_register, void *, (void *domain, const nm_mstx_heap *heap))                              \
    X(NM_MSTX_MEMORY, 2, heap_unregister, void, (void *domain, void *heap))                                            \
    X(NM_MSTX_MEMORY, 3, regions_register, void, (void *domain, const nm_mstx_regions *regions))                       \
    X(NM_MSTX_MEMORY, 4, regions_unregister, void, (void *domain, const nm_mstx_references *references))

/* What a tool exports. Ours always returns 0: anything else would make every function do nothing. */
__attribute__((visibility("default"))) int InitInjectionMstx(nm_mstx_get_table *get);

/* ---- Ours and the next tool's -------------------------------------------------------------------------------------- */

#define NM_MSTX_DECLARE(module, id, name, result, parameters)                                                          \
    typedef result nm_mstx_##name parameters;                                                                          \
    nm_mstx_##name nm_mstx_on_##name;                                                                                  \
    enum { NM_MSTX_MODULE_##name = module, NM_MSTX_ID_##name = id };
NM_MSTX_FUNCTIONS(NM_MSTX_DECLARE)
#undef NM_MSTX_DECLARE

/* The next tool's function, NULL where it has set none; it may set one at any time. */
#define NM_MSTX_NEXT(name) ((nm_mstx_##name *)nm_mstx_next(NM_MSTX_MODULE_##name, NM_MSTX_ID_##name))

nm_mstx_pointer nm_mstx_next(int module, int id);

/* ---- Domains (mstx_domain.c) --------------------------------------------------------------------------------------- */

#define NM_MSTX_DEVICE_COUNT 64 /* of which a domain remembers something; the others cost more */

typedef struct nm_mstx_place {    /* what was told last of a domain's memory on a device */
    _Atomic uint32_t heap;        /* its handle, 0: none yet */
    _Atomic uint32_t sample_heap; /* the handle for which reserved_bytes was told */
    _Atomic uint64_t reserved_bytes;
} nm_mstx_place;

typedef struct nm_mstx_domain {
    struct nm_mstx_domain *below; /* in its list */
    void *_Atomic next_handle;    /* the next tool's, as it gave it last */
    bool is_pool;             /* one of the known pools: its heaps are samples, and what it leaves unset is not read */
    nm_range_kind range_kind; /* of its ranges */
    uint32_t flags;           /* NM_FLAG_* of its blocks */
    uint64_t level;
    _Atomic uint64_t only_device; /* device + 1; 0: none yet; NM_MSTX_SEVERAL_DEVICES */
    _Atomic uint64_t last_sample; /* address << 16 | device + 1 of the last heap registered */
    nm_mstx_place places[NM_MSTX_DEVICE_COUNT];
    char name[];
} nm_mstx_domain;

#define NM_MSTX_SEVERAL_DEVICES UINT64_MAX

/* The domain that a handle of ours stands for, NULL: it is none of ours. */
nm_mstx_domain *nm_mstx_domain_of(void *handle);

/* The next tool's handle for one of ours; any other is its own. */
void *nm_mstx_next_handle(void *handle);

/* Has a domain of a known pool been made? */
bool nm_mstx_has_pool(void);

#endif
