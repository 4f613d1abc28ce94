/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that would like to be recorded, for secure.sh, which lets it run with more rights than its caller has.
 *
 *     secure_probe as UID COMMAND [ARG...]    becomes that user and runs the command
 *     secure_probe probe [TRACE]              uses both libraries, the second by npumem_start too; says what came of it
 */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "acl/acl.h"
#include "npumem.h"

static int become(unsigned user, char **command)
{
    if (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)
        return 77;
    execvp(command[0], command);
    return 77;
}

/* An allocation through the hooks: the memory must be there. */
static int works_as_without(void)
{
    void *memory = NULL;

    errno = 4;
    if (aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS || memory == NULL)
        return 0;
    return aclrtFree(memory) == ACL_SUCCESS && errno == 4;
}

static int probe(const char *trace)
{
    char why[200] = "";
    npumem_start_options options = {
        .struct_bytes = sizeof options, .output_path = trace, .stacks = "none", .why = why, .why_bytes = sizeof why};
    npumem_heap heap =
        npumem_heap_define(&(npumem_heap_options){.struct_bytes = sizeof(npumem_heap_options), .name = "probe"});
    int works = works_as_without();
    int started = trace != NULL ? npumem_start(&options) : 1;

    npumem_alloc(heap, (void *)16, 16, NULL);
    printf("privileged %lu works %d heap %d started %d recording %d\n", getauxval(AT_SECURE), works, heap != 0, started,
           npumem_is_recording());
    if (why[0] != 0)
        printf("%s\n", why);
    if (started == 0)
        npumem_stop();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "as") == 0)
        return become((unsigned)strtoul(argv[2], NULL, 10), argv + 3);
    if (argc >= 2 && strcmp(argv[1], "probe") == 0)
        return aclInit(NULL) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS ? probe(argv[2]) : 1;
    return 2;
}
