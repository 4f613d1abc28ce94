/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that makes objects of the runtime of every kind, in two threads, and leaves tensors: it prints how many of each it made,
 * and how many of these it destroyed or gave to a list, and ends as told.
 *
 *     objects exit|kill WAIT_MS
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "aclnn/aclnn.h"

#define NOINLINE   __attribute__((noinline))
#define KEPT_COUNT 6000
#define BRIEF_TURN 7 /* made and destroyed at each turn */

static const int64_t dims[2] = {4, 4};
static int made[16], gone[16];
static const char *const names[] = {"",
                                    "aclTensor",
                                    "aclTensorList",
                                    "aclScalar",
                                    "aclScalarList",
                                    "aclIntArray",
                                    "aclFloatArray",
                                    "aclBoolArray",
                                    "aclDataBuffer",
                                    "aclmdlDataset",
                                    "aclmdlDesc",
                                    "aclTensorDesc"};
enum { TENSOR = 1, TENSOR_LIST, SCALAR, SCALAR_LIST, INTS, FLOATS, BOOLS, BUFFER, DATASET, DESC, TENSOR_DESC };

/* Where it stands is where the tensor is made. */
#define MAKE() (made[TENSOR]++, aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL))

static NOINLINE void keep_tensor(void)
{
    MAKE();
    __asm__ volatile("");
}

static NOINLINE void use_tensors(void)
{
    for (int i = 0; i < BRIEF_TURN; i++) {
        aclDestroyTensor(MAKE());
        gone[TENSOR]++;
    }
}

/* A list of three, destroyed or not; what is in it has gone with its making. */
static void make_list(int is_destroyed)
{
    const aclTensor *tensors[3] = {MAKE(), MAKE(), MAKE()};
    aclTensorList *list = aclCreateTensorList(tensors, 3);

    made[TENSOR_LIST]++;
    gone[TENSOR] += 3;
    if (is_destroyed)
        aclDestroyTensorList(list);
    gone[TENSOR_LIST] += is_destroyed;
}

static void make_arrays(void)
{
    float one = 1;
    bool yes = true;
    const aclScalar *scalars[2];

    for (int i = 0; i < 5; i++) {
        aclIntArray *ints = aclCreateIntArray(dims, 2);
        aclFloatArray *floats = aclCreateFloatArray(&one, 1);
        aclBoolArray *bools = aclCreateBoolArray(&yes, 1);

        if (i < 2)
            aclDestroyIntArray(ints);
        if (i < 3)
            aclDestroyFloatArray(floats);
        if (i < 4)
            aclDestroyBoolArray(bools);
    }
    made[INTS] = made[FLOATS] = made[BOOLS] = 5;
    gone[INTS] = 2, gone[FLOATS] = 3, gone[BOOLS] = 4;
    for (int i = 0; i < 4; i++) {
        scalars[0] = aclCreateScalar(&one, ACL_FLOAT);
        scalars[1] = aclCreateScalar(&one, ACL_FLOAT);
        aclScalarList *list = aclCreateScalarList(scalars, 2);
        if (i == 0)
            aclDestroyScalarList(list);
        aclDestroyScalar(aclCreateScalar(&one, ACL_FLOAT));
    }
    made[SCALAR] = gone[SCALAR] = 12;
    made[SCALAR_LIST] = 4, gone[SCALAR_LIST] = 1;
}

static void make_inputs(void)
{
    for (int i = 0; i < 6; i++) {
        aclDataBuffer *buffer = aclCreateDataBuffer(NULL, 1);
        aclmdlDataset *dataset = aclmdlCreateDataset();
        aclmdlDesc *desc = aclmdlCreateDesc();
        aclTensorDesc *tensor_desc = aclCreateTensorDesc(ACL_FLOAT, 2, dims, ACL_FORMAT_ND);

        if (i < 1)
            aclDestroyDataBuffer(buffer);
        if (i < 2)
            aclmdlDestroyDataset(dataset);
        if (i < 3)
            aclmdlDestroyDesc(desc);
        if (i < 4)
            aclDestroyTensorDesc(tensor_desc);
    }
    aclDestroyDataBuffer(NULL);
    made[BUFFER] = made[DATASET] = made[DESC] = made[TENSOR_DESC] = 6;
    gone[BUFFER] = 1, gone[DATASET] = 2, gone[DESC] = 3, gone[TENSOR_DESC] = 4;
}

/* Another thread, through a handle: destroys what the first made, and makes what nobody destroys. */
static void *work_apart(void *tensors)
{
    void *library = dlopen("libopapi.so", RTLD_LAZY | RTLD_LOCAL);
    __typeof__(&aclCreateTensor) create;
    __typeof__(&aclDestroyTensor) destroy;

    *(void **)&create = dlsym(library, "aclCreateTensor");
    *(void **)&destroy = dlsym(library, "aclDestroyTensor");
    for (int i = 0; i < 100; i++)
        destroy(((aclTensor **)tensors)[i]);
    for (int i = 0; i < 10; i++)
        create(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, NULL);
    made[TENSOR] += 10;
    gone[TENSOR] += 100;
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned wait_us = argc == 3 ? (unsigned)atoi(argv[2]) * 1000 : 0;
    aclTensor *tensors[100];
    pthread_t thread;

    aclInit(NULL);
    aclrtSetDevice(0);
    for (int i = 0; i < KEPT_COUNT; i++) {
        keep_tensor();
        use_tensors();
        if (i % 100 == 0)
            usleep(wait_us); /* looks come between */
    }
    for (int i = 0; i < 20; i++)
        make_list(i % 4 == 0);
    make_arrays();
    make_inputs();
    for (int i = 0; i < 100; i++)
        tensors[i] = MAKE();
    pthread_create(&thread, NULL, work_apart, tensors);
    pthread_join(thread, NULL);
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        printf("%s|%d|%d\n", names[i], made[i], gone[i]);
    fflush(stdout);
    if (argc == 3 && strcmp(argv[1], "kill") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}
