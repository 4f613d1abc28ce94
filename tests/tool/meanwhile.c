/* SPDX-License-Identifier: Apache-2.0
 *
 * A server that outlives it when memory runs out. Does what it reads, and prints what it has done:
 *
 *     fill       asks for 64 MiB of device 0 again and again, is refused once, and frees all of that
 *     hold       takes 64 MiB
 *     drop       frees what hold took last
 */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

#define BLOCK_BYTES (64u << 20)
#define BLOCKS_MAX  1024

static void *blocks[BLOCKS_MAX];
static int count;

static int hold(void)
{
    return count < BLOCKS_MAX && aclrtMalloc(&blocks[count], BLOCK_BYTES, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS
               ? ++count
               : 0;
}

static void drop(void)
{
    if (count > 0)
        aclrtFree(blocks[--count]);
}

static void fill(void)
{
    int before = count;

    while (hold() != 0)
        ;
    while (count > before)
        drop();
}

int main(void)
{
    char word[16];

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS)
        return 1;
    while (scanf("%15s", word) == 1) {
        if (strcmp(word, "fill") == 0)
            fill();
        else if (strcmp(word, "hold") == 0)
            hold();
        else
            drop();
        puts(word);
        fflush(stdout);
    }
    while (count > 0)
        drop();
    return 0;
}
