/* SPDX-License-Identifier: Apache-2.0
 *
 * Says a number of allocations while it may have little more memory than it has already, and how many it has said.
 *
 *     little_memory KIBIBYTES COUNT sdk|acl
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "acl/acl.h"
#include "npumem.h"

/* From here on, the address space may grow by so much. */
static int limit_memory(long more_bytes)
{
    FILE *file = fopen("/proc/self/statm", "r");
    struct rlimit limit;
    long page_count = 0;

    if (file == NULL || fscanf(file, "%ld", &page_count) != 1)
        return 0;
    fclose(file);
    limit.rlim_cur = limit.rlim_max = (rlim_t)(page_count * sysconf(_SC_PAGESIZE) + more_bytes);
    return setrlimit(RLIMIT_AS, &limit) == 0;
}

static long say(long count)
{
    npumem_heap heap =
        npumem_heap_define(&(npumem_heap_options){.struct_bytes = sizeof(npumem_heap_options), .name = "little"});

    for (long i = 1; i <= count; i++)
        npumem_alloc(heap, (void *)(i * 4096), 64, NULL);
    return count;
}

static long allocate(long count)
{
    for (long i = 0; i < count; i++) {
        void *memory = NULL;

        aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST); /* may fail: an event too */
    }
    return count;
}

int main(int argc, char **argv)
{
    long count, done;
    int is_acl;

    if (argc != 4)
        return 2;
    count = strtol(argv[2], NULL, 10);
    is_acl = strcmp(argv[3], "acl") == 0;
    if (is_acl && (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS))
        return 1;
    if (!limit_memory(strtol(argv[1], NULL, 10) << 10))
        return 1;
    done = is_acl ? allocate(count) : say(count);
    printf("%ld\n", done);
    return 0;
}
