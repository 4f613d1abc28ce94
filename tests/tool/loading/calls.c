/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that is linked to ACL and to operators, as libatb.so is: by calls, and by a table of operators in its data. It
 * is built with its names bound late, bound at load, and without a table of calls.
 */
#include "calls.h"

#include <stdint.h>
#include <stdio.h>

#include "aclnn/aclnn.h"

#define BLOCK_BYTES ((size_t)1 << 16)
#define HELD_MAX    3

typedef aclnnStatus second_stage(void *workspace, uint64_t workspace_bytes, aclOpExecutor *executor,
                                 aclrtStream stream);

/* Found by whoever looks for it in this library. */
__attribute__((visibility("default"))) second_stage *const calls_table[] = {aclnnSoftmax};

static struct {
    unsigned allocation_count, free_count, add_count, softmax_count, copy_count;
    uint64_t allocated_bytes, freed_bytes, copy_bytes;
} books;

static int take(void **address, size_t bytes)
{
    if (aclrtMalloc(address, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS)
        return 1;
    books.allocation_count++;
    books.allocated_bytes += bytes;
    return 0;
}

static int give(void *address, size_t bytes)
{
    if (aclrtFree(address) != ACL_SUCCESS)
        return 2;
    books.free_count++;
    books.freed_bytes += bytes;
    return 0;
}

static int run_operators(void *memory)
{
    const int64_t shape[] = {16, 16};
    const int64_t strides[] = {16, 1};
    aclTensor *tensor = aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 2, memory);
    aclOpExecutor *executor;
    uint64_t workspace_bytes = 0;
    void *workspace = NULL;

    if (aclnnAddGetWorkspaceSize(tensor, tensor, NULL, tensor, &workspace_bytes, &executor) != ACLNN_SUCCESS ||
        aclnnAdd(NULL, 0, executor, NULL) != ACLNN_SUCCESS)
        return 3;
    books.add_count++;
    if (aclnnSoftmaxGetWorkspaceSize(tensor, 1, tensor, &workspace_bytes, &executor) != ACLNN_SUCCESS)
        return 4;
    if (take(&workspace, workspace_bytes) != 0 ||
        calls_table[0](workspace, workspace_bytes, executor, NULL) != ACLNN_SUCCESS)
        return 5;
    books.softmax_count++;
    aclrtSynchronizeDevice();
    aclDestroyTensor(tensor);
    return give(workspace, workspace_bytes);
}

static int run_round(int round)
{
    char host[64] = {(char)round};
    void *memory, *pinned;
    int status;

    if (take(&memory, BLOCK_BYTES) != 0 || aclrtMallocHost(&pinned, sizeof host) != ACL_SUCCESS)
        return 6;
    for (int i = 0; i < 2; i++) {
        if (aclrtMemcpy(memory, BLOCK_BYTES, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE) != ACL_SUCCESS)
            return 7;
        books.copy_count++;
        books.copy_bytes += sizeof host;
    }
    status = run_operators(memory);
    if (status != 0 || aclrtFreeHost(pinned) != ACL_SUCCESS)
        return status != 0 ? status : 8;
    return round < HELD_MAX ? 0 : give(memory, BLOCK_BYTES); /* the first ones stay */
}

__attribute__((visibility("default"))) int calls_run(int round_count)
{
    int status = 0;

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS)
        return 9;
    for (int i = 0; i < round_count && status == 0; i++)
        status = run_round(i);
    printf("driver.allocation_count %u\ndriver.free_count %u\n", books.allocation_count, books.free_count);
    printf("driver.allocated_bytes %llu\ndriver.freed_bytes %llu\n", (unsigned long long)books.allocated_bytes,
           (unsigned long long)books.freed_bytes);
    printf("pinned.allocation_count %d\npinned.free_count %d\n", round_count, round_count);
    printf("pinned.allocated_bytes %d\npinned.freed_bytes %d\n", 64 * round_count, 64 * round_count);
    printf("copy.host_to_device.count %u\ncopy.host_to_device.bytes %llu\n", books.copy_count,
           (unsigned long long)books.copy_bytes);
    printf("op.aclnnAdd.count %u\nop.aclnnSoftmax.count %u\n", books.add_count, books.softmax_count);
    return status;
}
