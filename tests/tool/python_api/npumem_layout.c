/* SPDX-License-Identifier: Apache-2.0
 *
 * How the compiler lays out the structs of npumem.h, and the numbers that npumem.py repeats: lines `STRUCT FIELD OFFSET
 * BYTES` and `NUMBER NAME VALUE`, which test_python_api.py compares with what ctypes does.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "npumem.h"

#define FIELD(type, name)                                                                                              \
    printf(#type " " #name " %zu %zu\n", offsetof(npumem_##type, name), sizeof(((npumem_##type *)NULL)->name))
#define END(type)    printf(#type " sizeof 0 %zu\n", sizeof(npumem_##type))
#define NUMBER(name) printf("number " #name " %" PRIu64 "\n", (uint64_t)(NPUMEM_##name))

static void print_structs(void)
{
    FIELD(start_options, struct_bytes);
    FIELD(start_options, output_path);
    FIELD(start_options, stacks);
    FIELD(start_options, is_watched);
    FIELD(start_options, why);
    FIELD(start_options, why_bytes);
    FIELD(start_options, is_paused);
    END(start_options);
    FIELD(heap_options, struct_bytes);
    FIELD(heap_options, name);
    FIELD(heap_options, level);
    FIELD(heap_options, device);
    FIELD(heap_options, small_bytes);
    FIELD(heap_options, large_bytes);
    FIELD(heap_options, uses_block_bytes);
    END(heap_options);
    FIELD(alloc_options, struct_bytes);
    FIELD(alloc_options, block_bytes);
    FIELD(alloc_options, stream);
    FIELD(alloc_options, outcome);
    END(alloc_options);
    FIELD(free_options, struct_bytes);
    FIELD(free_options, stream);
    FIELD(free_options, is_request);
    END(free_options);
}

int main(void)
{
    print_structs();
    NUMBER(VERSION);
    NUMBER(TEXT_BYTES_MAX);
    NUMBER(NO_DEVICE);
    NUMBER(NO_STREAM);
    NUMBER(HIT);
    NUMBER(MISS);
    NUMBER(LEVEL_DRIVER);
    NUMBER(LEVEL_POOL);
    NUMBER(LEVEL_WORKSPACE);
    NUMBER(LEVEL_PINNED);
    NUMBER(LEVEL_REGISTERED);
    NUMBER(LEVEL_HOST);
    return 0;
}
