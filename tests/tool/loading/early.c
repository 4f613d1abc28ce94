/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is taken before any constructor of a preloaded library has run and given back after the last exit handler:
 * this library is linked by the program early_late, and the loader runs constructors of what was preloaded last. Built
 * as the program itself (EARLY_PROGRAM) it adds an exit handler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"

#ifdef EARLY_PROGRAM
extern unsigned early_count;

static void *block;

static void free_late(void)
{
    if (aclrtFree(block) != ACL_SUCCESS)
        _exit(3);
}

int main(void)
{
    if (early_count != 5 || aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)
        return 2;
    atexit(free_late);
    puts("driver.allocation_count 6\ndriver.free_count 6\ndriver.allocated_bytes 24576\ndriver.freed_bytes 24576");
    return 0;
}
#else
__attribute__((visibility("default"))) unsigned early_count;

static void *blocks[5];

__attribute__((constructor(101))) static void take_early(void)
{
    if (aclrtSetDevice(0) != ACL_SUCCESS)
        return;
    while (early_count < 5 && aclrtMalloc(&blocks[early_count], 4096, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS)
        early_count++;
}

__attribute__((destructor(101))) static void give_late(void)
{
    for (unsigned i = 0; i < early_count; i++)
        if (aclrtFree(blocks[i]) != ACL_SUCCESS)
            _exit(4);
}
#endif
