/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies beside the stand-in's runtime: mstx and its protocol (this program is the tool: it exports InitInjectionMstx),
 * operators in two stages, models, and a program's own allocator.
 */
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "acl/acl_mdl.h"
#include "aclnn/aclnn.h"
#include "mstx/ms_tools_ext.h"

#define MIB                        ((size_t)1 << 20)
#define EXPORT                     __attribute__((visibility("default")))

#define assert_acl(call, expected) ck_assert_int_eq(call, expected)

/* ---- The tool ---- */

static int init_count;
static int init_result;
static unsigned table_sizes[4];
static char last_message[64];
static uint64_t last_region_bytes;

static mstxRangeId tool_range_start(const char *message, aclrtStream stream)
{
    (void)stream;
    snprintf(last_message, sizeof last_message, "%s", message);
    return 77;
}

static mstxDomainHandle_t tool_domain_create(const char *name)
{
    snprintf(last_message, sizeof last_message, "%s", name);
    return (mstxDomainHandle_t)(uintptr_t)5;
}

static void tool_regions_register(mstxDomainHandle_t domain, const mstxMemRegionsRegisterBatch_t *batch)
{
    ck_assert_uint_eq((uintptr_t)domain, 5);
    last_region_bytes = ((const mstxMemVirtualRangeDesc_t *)batch->regionDescArray)->size;
}

EXPORT int InitInjectionMstx(mstxGetModuleFuncTableFunc get_table);

EXPORT int InitInjectionMstx(mstxGetModuleFuncTableFunc get_table)
{
    mstxFuncTable tables[4] = {NULL};

    init_count++;
    for (int i = 1; i <= 3; i++)
        if (get_table(i, &tables[i], &table_sizes[i]) != MSTX_SUCCESS || tables[i][0])
            return 1;
    *tables[1][2] = (mstxFuncPointer)tool_range_start;
    *tables[2][1] = (mstxFuncPointer)tool_domain_create;
    *tables[3][3] = (mstxFuncPointer)tool_regions_register;
    return init_result;
}

START_TEST(a_tool_among_what_is_loaded_is_asked_once_and_called)
{
    mstxMemVirtualRangeDesc_t range = {0, &range, 4096};
    mstxMemRegionsRegisterBatch_t batch = {.regionCount = 1, .regionDescArray = &range};
    mstxDomainHandle_t domain;

    ck_assert_uint_eq(mstxRangeStartA("step start", NULL), 77);
    ck_assert_str_eq(last_message, "step start");
    domain = mstxDomainCreateA("ptaCaching");
    ck_assert_str_eq(last_message, "ptaCaching");
    mstxMemRegionsRegister(domain, &batch);
    ck_assert_uint_eq(last_region_bytes, 4096);
    mstxMarkA("nobody", NULL);
    ck_assert_ptr_null(mstxMemHeapRegister(domain, NULL));
    ck_assert_int_eq(init_count, 1);
    ck_assert_uint_eq(table_sizes[1], 5);
    ck_assert_uint_eq(table_sizes[2], 6);
    ck_assert_uint_eq(table_sizes[3], 5);
}
END_TEST

START_TEST(a_tool_that_fails_is_not_called)
{
    init_result = 1;
    ck_assert_uint_eq(mstxRangeStartA("step start", NULL), 0);
    ck_assert_ptr_null(mstxDomainCreateA("ptaCaching"));
    ck_assert_int_eq(init_count, 1);
}
END_TEST

START_TEST(a_library_with_mstx_of_its_own_asks_again)
{
    void *other = dlopen(SECOND_MSTX_PATH, RTLD_NOW | RTLD_LOCAL);
    __typeof__(&mstxRangeStartA) start = NULL;

    ck_assert_ptr_nonnull(other);
    *(void **)&start = dlsym(other, "mstxRangeStartA");
    ck_assert_uint_eq(mstxRangeStartA("a", NULL), 77);
    ck_assert_uint_eq(start("b", NULL), 77);
    ck_assert_int_eq(init_count, 2);
}
END_TEST

START_TEST(a_tool_that_is_named_is_taken_from_its_library_alone)
{
    setenv("MSTX_INJECTION_PATH", SECOND_MSTX_PATH, 1); /* it holds no tool */
    ck_assert_uint_eq(mstxRangeStartA("a", NULL), 0);
    ck_assert_int_eq(init_count, 0);
}
END_TEST

START_TEST(a_tool_that_cannot_be_opened_is_not_named)
{
    setenv("MSTX_INJECTION_PATH", "/no/such/library.so", 1);
    ck_assert_uint_eq(mstxRangeStartA("a", NULL), 77);
    ck_assert_int_eq(init_count, 1);
}
END_TEST

/* ---- Operators ---- */

static void *put(const void *values, size_t size_bytes)
{
    void *device = NULL;

    assert_acl(aclrtMalloc(&device, size_bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    assert_acl(aclrtMemcpy(device, size_bytes, values, size_bytes, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    return device;
}

/* What tests make and need not keep: all of it is plain host memory. */
static void *made[32];
static size_t made_count;

static void *keep(void *one)
{
    ck_assert_ptr_nonnull(one);
    ck_assert_uint_lt(made_count, sizeof made / sizeof *made);
    made[made_count++] = one;
    return one;
}

static aclTensor *matrix(int64_t rows, int64_t columns, void *data)
{
    int64_t dims[2] = {rows, columns};

    return keep(aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, data));
}

START_TEST(addition_needs_no_workspace_and_scales)
{
    float a[4] = {1, 2, 3, 4};
    float b[4] = {10, 20, 30, 40};
    float two = 2;
    aclScalar *alpha = keep(aclCreateScalar(&two, ACL_FLOAT));
    void *out = put(a, sizeof a);
    aclOpExecutor *executor = NULL;
    uint64_t workspace_bytes = 9;

    ck_assert_int_eq(aclnnAddGetWorkspaceSize(matrix(2, 2, put(a, 16)), matrix(2, 2, put(b, 16)), alpha,
                                              matrix(2, 2, out), &workspace_bytes, &executor),
                     ACLNN_SUCCESS);
    ck_assert_uint_eq(workspace_bytes, 0);
    ck_assert_int_eq(aclnnAdd(NULL, 0, executor, NULL), ACLNN_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    ck_assert_float_eq(((float *)out)[3], 84);
    ck_assert_int_eq(aclnnAddGetWorkspaceSize(NULL, NULL, NULL, NULL, &workspace_bytes, &executor),
                     ACLNN_ERR_PARAM_NULLPTR);
}
END_TEST

START_TEST(multiplication_needs_a_workspace_of_16_mib)
{
    float a[6] = {1, 2, 3, 4, 5, 6};
    float b[6] = {1, 0, 0, 1, 1, 1};
    void *out = put(a, 16);
    void *workspace = NULL;
    aclTensor *left = matrix(2, 3, put(a, sizeof a));
    aclTensor *right = matrix(3, 2, put(b, sizeof b));
    aclTensor *result = matrix(2, 2, out);
    aclOpExecutor *executor = NULL;
    uint64_t workspace_bytes = 0;

    ck_assert_int_eq(aclnnMatmulGetWorkspaceSize(left, left, result, 0, &workspace_bytes, &executor),
                     ACLNN_ERR_PARAM_INVALID);
    ck_assert_int_eq(aclnnMatmulGetWorkspaceSize(left, right, result, 0, &workspace_bytes, &executor), ACLNN_SUCCESS);
    ck_assert_uint_eq(workspace_bytes, 16 * MIB);
    ck_assert_int_eq(aclnnMatmul(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    assert_acl(aclrtMalloc(&workspace, workspace_bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ck_assert_int_eq(aclnnMatmul(workspace, workspace_bytes, executor, NULL), ACLNN_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    ck_assert_float_eq(((float *)out)[0], 4);  /* 1 + 3 */
    ck_assert_float_eq(((float *)out)[3], 11); /* 5 + 6 */
    ck_assert_int_eq(((char *)workspace)[workspace_bytes - 1], 1);
}
END_TEST

START_TEST(attention_of_one_key_is_its_value)
{
    float query[2] = {3, 4};
    float value[2] = {7, 8};
    char layout[] = "BSH";
    void *out = put(query, sizeof query);
    void *workspace = NULL;
    aclOpExecutor *executor = NULL;
    uint64_t workspace_bytes = 0;
    aclTensor *key = matrix(1, 2, put(value, sizeof value));

    ck_assert_int_eq(aclnnFlashAttentionScoreGetWorkspaceSize(matrix(1, 2, put(query, 8)), key, key, NULL, NULL, NULL,
                                                              NULL, NULL, 1, 1, 0, 0, 1, layout, 0, 0, NULL, NULL, NULL,
                                                              matrix(1, 2, out), &workspace_bytes, &executor),
                     ACLNN_SUCCESS);
    ck_assert_uint_eq(workspace_bytes, 16 * MIB + 512);
    assert_acl(aclrtMalloc(&workspace, workspace_bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ck_assert_int_eq(aclnnFlashAttentionScore(workspace, workspace_bytes, executor, NULL), ACLNN_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    ck_assert_float_eq(((float *)out)[0], 7);
    ck_assert_float_eq(((float *)out)[1], 8);
}
END_TEST

START_TEST(softmax_rows_sum_to_one)
{
    float rows[6] = {0, 0, 1, 5, 5, 5};
    void *out = put(rows, sizeof rows);
    void *workspace = put(rows, sizeof rows);
    aclOpExecutor *executor = NULL;
    uint64_t workspace_bytes = 0;

    ck_assert_int_eq(
        aclnnSoftmaxGetWorkspaceSize(matrix(2, 3, put(rows, 24)), -1, matrix(2, 3, out), &workspace_bytes, &executor),
        ACLNN_SUCCESS);
    ck_assert_uint_eq(workspace_bytes, 512);
    ck_assert_int_eq(aclnnSoftmax(workspace, workspace_bytes, executor, NULL), ACLNN_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    ck_assert_float_eq_tol(((float *)out)[3], 1.0 / 3, 1e-6);
    ck_assert_float_eq_tol(((float *)out)[2], 2.718282 / 4.718282, 1e-6);
}
END_TEST

/* ---- Models and own allocators ---- */

static uint64_t module_bytes(const char *name)
{
    aclrtMemUsageInfo usage[8];
    size_t count = 0;

    assert_acl(aclrtGetMemUsageInfo(0, usage, 8, &count), ACL_SUCCESS);
    for (size_t i = 0; i < count; i++)
        if (strcmp(usage[i].name, name) == 0)
            return usage[i].curMemSize;
    return 0;
}

static void write_model(char path[32], size_t size_bytes)
{
    int fd;

    strcpy(path, "/tmp/npumem_model_XXXXXX");
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)size_bytes), 0);
    close(fd);
}

START_TEST(a_model_takes_weights_and_workspace_as_module_ge)
{
    char path[32];
    uint32_t model = 0;
    aclmdlDataset *input = keep(aclmdlCreateDataset());
    aclmdlDataset *output = keep(aclmdlCreateDataset());
    char *out = put("........", 9);

    write_model(path, 4 * MIB);
    assert_acl(aclmdlLoadFromFile(path, &model), ACL_SUCCESS);
    unlink(path);
    ck_assert_uint_eq(module_bytes("GE"), 6 * MIB);
    aclmdlAddDatasetBuffer(input, keep(aclCreateDataBuffer(put("tensor", 7), 7)));
    aclmdlAddDatasetBuffer(output, keep(aclCreateDataBuffer(out, 9)));
    assert_acl(aclmdlExecute(model, input, output), ACL_SUCCESS);
    ck_assert_str_eq(out, "tensor");
    assert_acl(aclmdlExecuteAsync(model + 1, input, output, NULL), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclmdlUnload(model), ACL_SUCCESS);
    assert_acl(aclmdlUnload(model), ACL_ERROR_INVALID_PARAM);
    ck_assert_uint_eq(module_bytes("GE"), 0);
    assert_acl(aclmdlLoadFromFile("/no/such/model.om", &model), ACL_ERROR_INVALID_PARAM);
}
END_TEST

static int borrowed_count;
static int returned_count;

static void *lend(aclrtAllocator allocator, size_t size)
{
    ck_assert_ptr_eq(allocator, &borrowed_count);
    borrowed_count++;
    return malloc(size);
}

static void take_back(aclrtAllocator allocator, aclrtAllocatorBlock block)
{
    (void)allocator;
    returned_count++;
    free(block);
}

static void *address_of(aclrtAllocatorBlock block)
{
    return block;
}

START_TEST(an_operator_by_name_borrows_from_the_registered_allocator)
{
    aclrtAllocatorDesc description = aclrtAllocatorCreateDesc();
    aclDataBuffer *in = keep(aclCreateDataBuffer(put("operator", 9), 9));
    char *target = put("........", 9);
    aclDataBuffer *out = keep(aclCreateDataBuffer(target, 9));

    assert_acl(aclrtAllocatorSetObjToDesc(description, &borrowed_count), ACL_SUCCESS);
    assert_acl(aclrtAllocatorSetAllocFuncToDesc(description, lend), ACL_SUCCESS);
    assert_acl(aclrtAllocatorRegister(NULL, description), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclrtAllocatorSetFreeFuncToDesc(description, take_back), ACL_SUCCESS);
    assert_acl(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description, address_of), ACL_SUCCESS);
    assert_acl(aclrtAllocatorRegister(NULL, description), ACL_SUCCESS);
    assert_acl(aclrtAllocatorDestroyDesc(description), ACL_SUCCESS);
    assert_acl(aclopExecuteV2("Identity", 1, NULL, &in, 1, NULL, &out, NULL, NULL), ACL_SUCCESS);
    assert_acl(aclrtSynchronizeStream(NULL), ACL_SUCCESS);
    ck_assert_str_eq(target, "operator");
    ck_assert_int_eq(borrowed_count, 1);
    ck_assert_int_eq(returned_count, 1);
    assert_acl(aclrtAllocatorUnregister(NULL), ACL_SUCCESS);
    assert_acl(aclrtAllocatorUnregister(NULL), ACL_ERROR_INVALID_PARAM);
    assert_acl(aclopExecuteV2("Identity", 1, NULL, &in, 1, NULL, &out, NULL, NULL), ACL_SUCCESS);
    ck_assert_int_eq(borrowed_count, 1);
}
END_TEST

static void set_up(void)
{
    assert_acl(aclInit(NULL), ACL_SUCCESS);
    assert_acl(aclrtSetDevice(0), ACL_SUCCESS);
}

static void tear_down(void)
{
    while (made_count > 0)
        free(made[--made_count]);
    aclFinalize();
}

/* The tool's tests need a process each: mstx looks for its tool once. */
static void add_tool_tests(Suite *suite)
{
    TCase *tests = tcase_create("mstx");

    tcase_add_test(tests, a_tool_among_what_is_loaded_is_asked_once_and_called);
    tcase_add_test(tests, a_tool_that_fails_is_not_called);
    tcase_add_test(tests, a_library_with_mstx_of_its_own_asks_again);
    tcase_add_test(tests, a_tool_that_is_named_is_taken_from_its_library_alone);
    tcase_add_test(tests, a_tool_that_cannot_be_opened_is_not_named);
    suite_add_tcase(suite, tests);
}

int main(void)
{
    Suite *suite = suite_create("cann_tools");
    TCase *tests = tcase_create("operators and models");
    SRunner *runner;
    int failed_count;

    unsetenv("MSTX_INJECTION_PATH");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, addition_needs_no_workspace_and_scales);
    tcase_add_test(tests, multiplication_needs_a_workspace_of_16_mib);
    tcase_add_test(tests, attention_of_one_key_is_its_value);
    tcase_add_test(tests, softmax_rows_sum_to_one);
    tcase_add_test(tests, a_model_takes_weights_and_workspace_as_module_ge);
    tcase_add_test(tests, an_operator_by_name_borrows_from_the_registered_allocator);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    if (srunner_fork_status(runner) == CK_FORK)
        add_tool_tests(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
