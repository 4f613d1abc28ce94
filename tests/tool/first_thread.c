/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes 1 MiB of device 0 in a thread and ends with status 0 a second later, when its first thread has long ended.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "acl/acl.h"

static void *work(void *unused)
{
    void *memory = NULL;

    (void)unused;
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS ||
        aclrtMalloc(&memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)
        exit(1);
    sleep(1);
    exit(0);
}

int main(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pthread_exit(NULL);
}
