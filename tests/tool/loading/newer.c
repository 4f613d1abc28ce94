/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is linked to a newer CANN than the one that it is run with, and calls what that lacks: with us it is told
 * that there is no such feature, and goes another way.
 */
#include "acl/acl.h"

int main(void)
{
    void *address;

    if (aclrtSetDevice(0) != ACL_SUCCESS)
        return 2;
    for (int i = 0; i < 3; i++)
        if (aclrtMallocWithCfg(&address, 4096, ACL_MEM_MALLOC_HUGE_FIRST, NULL) != 207000)
            return 3;
    if (aclrtMalloc(&address, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS || aclrtFree(address) != ACL_SUCCESS)
        return 4;
    return 0;
}
