/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of CANN that acl*.c, hal*.c and hccl.c stand in front of: names, arguments and values as CANN's headers have them, in
 * declarations of our own; and the real functions behind them.
 */
#ifndef NM_HOOK_RUNTIME_H
#define NM_HOOK_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int nm_acl_error; /* aclError */

#define ACL_SUCCESS                   0
#define ACL_ERROR_API_NOT_SUPPORT     200001
#define ACL_ERROR_FEATURE_NOT_SUPPORT 207000
#define ACL_DDR_MEM                   0 /* aclrtMemAttr */
#define ACL_HBM_MEM                   1

typedef struct nm_acl_attribute { /* aclrtMallocAttribute */
    int attr;
    union {
        uint16_t module;
        uint32_t device;
        uint8_t reserved[8];
    } value;
} nm_acl_attribute;

#define ACL_MALLOC_ATTR_MODULE_ID 1
#define ACL_MALLOC_ATTR_DEVICE_ID 2

typedef struct nm_acl_config { /* aclrtMallocConfig */
    nm_acl_attribute *attrs;
    size_t numAttrs;
} nm_acl_config;

typedef struct nm_acl_location { /* aclrtMemLocation */
    uint32_t id;
    int type; /* ACL_LOCATION_* */
} nm_acl_location;

#define ACL_LOCATION_HOST         0
#define ACL_LOCATION_DEVICE       1
#define ACL_LOCATION_UNREGISTERED 2
#define ACL_LOCATION_HOST_NUMA    4

typedef struct nm_acl_physical { /* aclrtPhysicalMemProp */
    int handleType, allocationType, memAttr;
    nm_acl_location location;
    uint64_t reserve;
} nm_acl_physical;

typedef struct nm_acl_batch_attr { /* aclrtMemcpyBatchAttr */
    nm_acl_location target, source;
    uint8_t reserved[16];
} nm_acl_batch_attr;

typedef struct nm_acl_pool_properties { /* aclrtMemPoolProps */
    int allocationType, handleType;
    nm_acl_location location;
    size_t maxSize;
    unsigned char reserved[32];
} nm_acl_pool_properties;

typedef struct nm_acl_ipc_event { /* aclrtIpcEventHandle */
    char reserved[64];
} nm_acl_ipc_event;

typedef struct nm_acl_usage { /* aclrtMemUsageInfo */
    char name[32];            /* of a module */
    uint64_t curMemSize, memPeakSize;
    size_t reserved[8];
} nm_acl_usage;

typedef struct nm_hal_properties { /* drv_mem_prop */
    uint32_t side, device, module, page_type, memory_type;
    uint64_t reserve;
} nm_hal_properties;

#define DRV_ERROR_NONE          0
#define DRV_ERROR_NOT_SUPPORT   0xfffe
#define HAL_SIDE_DEVICE         1
#define HAL_REGISTER_DEVICE_SVM 2 /* types of halHostRegister */
#define HAL_REGISTER_DEVICE     4

#define ACL_IPC_KEY_BYTES       65
#define ACL_HOST_REG_MAPPED     2 /* a flag of aclrtHostRegisterV2; aclrtHostRegister's type 0 */

typedef struct nm_hccl_config { /* HcclCommConfig, up to what it had when the description came */
    size_t size;                /* of all of it */
    uint32_t magic, version;
    uint64_t reserved;
    uint32_t buffer_mb, deterministic;
    char name[128], description[128]; /* hcclCommName, hcclUdi */
} nm_hccl_config;

#define HCCL_CONFIG_MAGIC  0xf0f0f0f0
#define HCCL_E_NOT_SUPPORT 5

/* X(name, parameters): enums of the interface are ints, handles are pointers. */
#define NM_HOOKED_FUNCTIONS(X)                                                                                         \
    X(aclInit, (const char *path))                                                                                     \
    X(aclFinalize, (void))                                                                                             \
    X(aclrtSetDevice, (int32_t device))                                                                                \
    X(aclrtResetDevice, (int32_t device))                                                                              \
    X(aclrtResetDeviceForce, (int32_t device))                                                                         \
    X(aclrtCreateContext, (void **context, int32_t device))                                                            \
    X(aclrtDestroyContext, (void *context))                                                                            \
    X(aclrtSetCurrentContext, (void *context))                                                                         \
    X(aclrtMalloc, (void **address, size_t size, int policy))                                                          \
    X(aclrtMallocAlign32, (void **address, size_t size, int policy))                                                   \
    X(aclrtMallocCached, (void **address, size_t size, int policy))                                                    \
    X(aclrtFree, (void *address))                                                                                      \
    X(aclrtMallocHost, (void **address, size_t size))                                                                  \
    X(aclrtFreeHost, (void *address))                                                                                  \
    X(aclrtMemcpy, (void *target, size_t limit, const void *source, size_t size, int kind))                            \
    X(aclrtMemcpyAsync, (void *target, size_t limit, const void *source, size_t size, int kind, void *stream))         \
    X(aclrtMemset, (void *target, size_t limit, int32_t value, size_t size))                                           \
    X(aclrtMemsetAsync, (void *target, size_t limit, int32_t value, size_t size, void *stream))                        \
    X(aclrtGetMemInfo, (int kind, size_t *free_bytes, size_t *total_bytes))                                            \
    X(aclrtGetMemUsageInfo, (int32_t device, nm_acl_usage * info, size_t room, size_t * count))                        \
    X(aclrtGetRunMode, (int *run_mode))                                                                                \
    NM_HOOKED_MEMORY(X)                                                                                                \
    NM_HOOKED_COPIES(X)                                                                                                \
    NM_HOOKED_VIRTUAL(X)                                                                                               \
    NM_HOOKED_STREAMS(X)                                                                                               \
    NM_HOOKED_MODELS(X)                                                                                                \
    NM_HOOKED_OBJECTS(X)                                                                                               \
    NM_HOOKED_HCCL(X)                                                                                                  \
    NM_HOOKED_DRIVER(X)

/* Of libhccl.so, or of the libhcomm.so behind it: what these return is an HcclResult. */
#define NM_HOOKED_HCCL(X)                                                                                              \
    X(HcclCommInitRootInfoConfig,                                                                                      \
      (uint32_t size, const void *root, uint32_t rank, const nm_hccl_config *config, void **made))                     \
    X(HcclCreateSubCommConfig, (void **whole, uint32_t size, uint32_t *ranks, uint64_t number, uint32_t rank,          \
                                nm_hccl_config *config, void **made))

#define NM_HOOKED_MEMORY(X)                                                                                            \
    X(aclrtMallocWithCfg, (void **address, size_t size, int policy, nm_acl_config *config))                            \
    X(aclrtMallocForTaskScheduler, (void **address, size_t size, int policy, nm_acl_config *config))                   \
    X(aclrtMemAllocManaged, (void **address, uint64_t size, uint32_t flag))                                            \
    X(aclrtFreeWithDevSync, (void *address))                                                                           \
    X(aclrtMallocHostWithCfg, (void **address, uint64_t size, nm_acl_config *config))                                  \
    X(aclrtFreeHostWithDevSync, (void *address))                                                                       \
    X(aclrtHostRegister, (void *address, uint64_t size, int type, void **device_address))                              \
    X(aclrtHostRegisterV2, (void *address, uint64_t size, uint32_t flags))                                             \
    X(aclrtHostUnregister, (void *address))

#define NM_BATCH_PARAMETERS                                                                                            \
    void **targets, size_t *limits, void **sources, size_t *sizes, size_t count, nm_acl_batch_attr *attrs,             \
        size_t *attr_indexes, size_t attr_count

#define NM_HOOKED_COPIES(X)                                                                                            \
    X(aclrtMemcpyAsyncWithCondition,                                                                                   \
      (void *target, size_t limit, const void *source, size_t size, int kind, void *stream))                           \
    X(aclrtMemcpy2d, (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,        \
                      size_t height, int kind))                                                                        \
    X(aclrtMemcpy2dAsync, (void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,   \
                           size_t height, int kind, void *stream))                                                     \
    X(aclrtMemcpyBatch, (NM_BATCH_PARAMETERS, size_t * fail_index))                                                    \
    X(aclrtMemcpyBatchAsync, (NM_BATCH_PARAMETERS, size_t * fail_index, void *stream))                                 \
    X(aclrtMemcpyBatchV2, (NM_BATCH_PARAMETERS))                                                                       \
    X(aclrtMemcpyBatchAsyncV2, (NM_BATCH_PARAMETERS, void *stream))                                                    \
    X(aclrtMemsetD32, (void *target, size_t limit, uint32_t value, size_t count))                                      \
    X(aclrtMemsetD32Async, (void *target, size_t limit, uint32_t value, size_t count, void *stream))                   \
    X(aclrtSetMemcpyDesc, (void *desc, int kind, void *source, void *target, size_t size, void *config))               \
    X(aclrtMemcpyAsyncWithDesc, (void *desc, int kind, void *stream))                                                  \
    X(aclrtMemcpyAsyncWithOffset, (void **target, size_t limit, size_t target_offset, const void **source,             \
                                   size_t size, size_t source_offset, int kind, void *stream))                         \
    X(aclrtMemcpyToSymbol, (const void *symbol, const void *source, size_t size, size_t offset, int kind))             \
    X(aclrtMemcpyToSymbolAsync,                                                                                        \
      (const void *symbol, const void *source, size_t size, size_t offset, int kind, void *stream))                    \
    X(aclrtMemcpyFromSymbol, (void *target, size_t limit, const void *symbol, size_t size, size_t offset, int kind))   \
    X(aclrtMemcpyFromSymbolAsync,                                                                                      \
      (void *target, size_t limit, const void *symbol, size_t size, size_t offset, int kind, void *stream))

#define NM_HOOKED_VIRTUAL(X)                                                                                           \
    X(aclrtMallocPhysical, (void **handle, size_t size, const nm_acl_physical *properties, uint64_t flags))            \
    X(aclrtFreePhysical, (void *handle))                                                                               \
    X(aclrtMemRetainAllocationHandle, (void *address, void **handle))                                                  \
    X(aclrtMapMem, (void *address, size_t size, size_t offset, void *handle, uint64_t flags))                          \
    X(aclrtMemMapNoAccess, (void *address, size_t size, size_t offset, void *handle, uint64_t flags))                  \
    X(aclrtUnmapMem, (void *address))                                                                                  \
    X(aclrtMemExportToShareableHandle, (void *handle, int type, uint64_t flags, uint64_t *shared))                     \
    X(aclrtMemExportToShareableHandleV2, (void *handle, uint64_t flags, int type, void *shared))                       \
    X(aclrtIpcMemGetExportKey, (void *address, size_t size, char *key, size_t room, uint64_t flags))                   \
    X(aclrtMemImportFromShareableHandle, (uint64_t shared, int32_t device, void **handle))                             \
    X(aclrtMemImportFromShareableHandleV2, (void *shared, int type, uint64_t flags, void **handle))                    \
    X(aclrtIpcMemImportByKey, (void **address, const char *key, uint64_t flags))                                       \
    X(aclrtIpcMemClose, (const char *key))                                                                             \
    X(aclrtMemPoolCreate, (void **pool, const nm_acl_pool_properties *properties))                                     \
    X(aclrtMemPoolDestroy, (void *pool))                                                                               \
    X(aclrtMemPoolMallocAsync, (void **address, size_t size, void *pool, void *stream))                                \
    X(aclrtMemPoolFreeAsync, (void *address, void *stream))

/* Of libascend_hal.so: what these return is a drvError_t. */
#define NM_HOOKED_DRIVER(X)                                                                                            \
    X(halMemAlloc, (void **address, unsigned long long size, unsigned long long flag))                                 \
    X(halMemFree, (void *address))                                                                                     \
    X(halMemCreate, (void **handle, size_t size, const nm_hal_properties *properties, uint64_t flag))                  \
    X(halMemRelease, (void *handle))                                                                                   \
    X(halMemRetainAllocationHandle, (void **handle, void *address))                                                    \
    X(halMemMap, (void *address, size_t size, size_t offset, void *handle, uint64_t flag))                             \
    X(halMemUnmap, (void *address))                                                                                    \
    X(halHostRegister, (void *address, uint64_t size, uint32_t flag, uint32_t device, void **device_address))          \
    X(halHostUnregister, (void *address, uint32_t device))                                                             \
    X(halHostUnregisterEx, (void *address, uint32_t device, uint32_t flag))                                            \
    X(halMemExportToShareableHandle, (void *handle, int type, uint64_t flags, uint64_t *shared))                       \
    X(halMemImportFromShareableHandle, (uint64_t shared, uint32_t device, void **handle))                              \
    X(halMemImportFromShareableHandleV2, (int type, void *shared, uint32_t device, void **handle))                     \
    X(halShmemCreateHandle, (uint64_t address, size_t size, char *name, unsigned name_bytes))                          \
    X(halShmemOpenHandle, (const char *name, uint64_t *address))                                                       \
    X(halShmemOpenHandleByDevId, (uint32_t device, const char *name, uint64_t *address))                               \
    X(halShmemOpenHandleV2, (uint32_t device, const char *name, uint64_t *address, uint64_t flag))                     \
    X(halBuffAlloc, (uint64_t size, void **buffer))                                                                    \
    X(halBuffAllocEx, (uint64_t size, unsigned long flag, int group, void **buffer))                                   \
    X(halBuffAllocAlignEx, (uint64_t size, unsigned align, unsigned long flag, int group, void **buffer))              \
    X(halBuffFree, (void *buffer))                                                                                     \
    X(halMbufAlloc, (uint64_t size, void **buffer))                                                                    \
    X(halMbufAllocEx, (uint64_t size, unsigned align, unsigned long flag, int group, void **buffer))                   \
    X(halMbufFree, (void *buffer))                                                                                     \
    X(halShmemCloseHandle, (uint64_t address))

#define NM_HOOKED_STREAMS(X)                                                                                           \
    X(aclrtCreateStream, (void **stream))                                                                              \
    X(aclrtCreateStreamWithConfig, (void **stream, uint32_t priority, uint32_t flag))                                  \
    X(aclrtCreateStreamV2, (void **stream, const void *config))                                                        \
    X(aclrtDestroyStream, (void *stream))                                                                              \
    X(aclrtDestroyStreamForce, (void *stream))                                                                         \
    X(aclrtSynchronizeStream, (void *stream))                                                                          \
    X(aclrtSynchronizeStreamWithTimeout, (void *stream, int32_t timeout))                                              \
    X(aclrtSynchronizeDevice, (void))                                                                                  \
    X(aclrtSynchronizeDeviceWithTimeout, (int32_t timeout))                                                            \
    X(aclrtStreamWaitEvent, (void *stream, void *event))                                                               \
    X(aclrtStreamWaitEventWithTimeout, (void *stream, void *event, int32_t timeout))                                   \
    X(aclrtStreamWaitEventWithFlag, (void *stream, void *event, uint32_t timeout, uint32_t flag))                      \
    X(aclrtCreateEvent, (void **event))                                                                                \
    X(aclrtCreateEventWithFlag, (void **event, uint32_t flag))                                                         \
    X(aclrtCreateEventExWithFlag, (void **event, uint32_t flag))                                                       \
    X(aclrtIpcOpenEventHandle, (nm_acl_ipc_event shared, void **event))                                                \
    X(aclrtDestroyEvent, (void *event))                                                                                \
    X(aclrtCreateNotify, (void **notify, uint64_t flag))                                                               \
    X(aclrtDestroyNotify, (void *notify))                                                                              \
    X(aclrtNotifyImportByKey, (void **notify, const char *key, uint64_t flags))                                        \
    X(aclrtCntNotifyCreate, (void **notify, uint64_t flag))                                                            \
    X(aclrtCntNotifyDestroy, (void *notify))                                                                           \
    X(aclrtRecordEvent, (void *event, void *stream))                                                                   \
    X(aclrtRecordEventWithFlag, (void *event, void *stream, uint32_t flag))                                            \
    X(aclrtResetEvent, (void *event, void *stream))                                                                    \
    X(aclrtSynchronizeEvent, (void *event))                                                                            \
    X(aclrtSynchronizeEventWithTimeout, (void *event, int32_t timeout))                                                \
    X(aclmdlRICaptureBegin, (void *stream, int mode))                                                                  \
    X(aclmdlRICaptureToModelRIBegin, (void *stream, void *graph, int mode))                                            \
    X(aclmdlRICaptureEnd, (void *stream, void **graph))                                                                \
    X(aclmdlRIExecute, (void *graph, int32_t timeout))                                                                 \
    X(aclmdlRIExecuteAsync, (void *graph, void *stream))                                                               \
    X(aclmdlRIDestroy, (void *graph))                                                                                  \
    X(aclrtAllocatorRegister, (void *stream, void *description))                                                       \
    X(aclrtAllocatorUnregister, (void *stream))

#define NM_OPERATOR_SHAPES int input_count, const void *const *inputs, int output_count, const void *const *outputs
#define NM_OPERATOR_TENSORS                                                                                            \
    int input_count, const void *const *inputs, const void *const *input_data, int output_count,                       \
        const void *const *outputs, void *const *output_data
#define NM_OPERATOR_COMPILER int engine, int flag, const char *path

/* Of libacl_mdl.so, libacl_op_executor.so and libacl_op_compiler.so, in older versions all in libascendcl.so. */
#define NM_HOOKED_MODELS(X)                                                                                            \
    X(aclmdlLoadFromFile, (const char *path, uint32_t *model))                                                         \
    X(aclmdlLoadFromFileWithMem,                                                                                       \
      (const char *path, uint32_t *model, void *work, size_t work_bytes, void *weights, size_t weight_bytes))          \
    X(aclmdlLoadFromMem, (const void *content, size_t size, uint32_t *model))                                          \
    X(aclmdlLoadFromMemWithMem, (const void *content, size_t size, uint32_t *model, void *work, size_t work_bytes,     \
                                 void *weights, size_t weight_bytes))                                                  \
    X(aclmdlLoadFromFileWithQ, (const char *path, uint32_t *model, const uint32_t *inputs, size_t input_count,         \
                                const uint32_t *outputs, size_t output_count))                                         \
    X(aclmdlLoadFromMemWithQ, (const void *content, size_t size, uint32_t *model, const uint32_t *inputs,              \
                               size_t input_count, const uint32_t *outputs, size_t output_count))                      \
    X(aclmdlBundleLoadFromFile, (const char *path, uint32_t *bundle))                                                  \
    X(aclmdlBundleLoadFromMem, (const void *content, size_t size, uint32_t *bundle))                                   \
    X(aclmdlBundleGetModelId, (uint32_t bundle, size_t index, uint32_t * model))                                       \
    X(aclmdlLoadWithConfig, (const void *config, uint32_t *model))                                                     \
    X(aclmdlUnload, (uint32_t model))                                                                                  \
    X(aclmdlBundleUnload, (uint32_t bundle))                                                                           \
    X(aclmdlExecute, (uint32_t model, const void *input, void *output))                                                \
    X(aclmdlExecuteV2, (uint32_t model, const void *input, void *output, void *stream, const void *config))            \
    X(aclmdlExecuteAsync, (uint32_t model, const void *input, void *output, void *stream))                             \
    X(aclmdlExecuteAsyncV2, (uint32_t model, const void *input, void *output, void *stream, const void *config))       \
    X(aclopCreateHandle, (const char *type, NM_OPERATOR_SHAPES, const void *attr, void **handle))                      \
    X(aclopExecute, (const char *type, NM_OPERATOR_TENSORS, const void *attr, void *stream))                           \
    X(aclopExecuteV2, (const char *type, NM_OPERATOR_TENSORS, void *attr, void *stream))                               \
    X(aclopExecWithHandle, (void *handle, int input_count, const void *const *input_data, int output_count,            \
                            void *const *output_data, void *stream))                                                   \
    X(aclopCompileAndExecute,                                                                                          \
      (const char *type, NM_OPERATOR_TENSORS, const void *attr, NM_OPERATOR_COMPILER, void *stream))                   \
    X(aclopCompileAndExecuteV2, (const char *type, NM_OPERATOR_TENSORS, void *attr, NM_OPERATOR_COMPILER, void *stream))

/* Objects that programs make for operators and models, by what their functions return. Of libnnopbase.so (libopapi.so), and of
 * libacl_mdl.so or libascendcl.so. */
#define NM_HOOKED_MAKERS(X)                                                                                            \
    X(aclCreateTensor, (const int64_t *dims, uint64_t dim_count, int type, const int64_t *strides, int64_t offset,     \
                        int format, const int64_t *storage_dims, uint64_t storage_dim_count, void *data))              \
    X(aclCreateTensorList, (const void *const *tensors, uint64_t count))                                               \
    X(aclCreateScalar, (void *value, int type))                                                                        \
    X(aclCreateScalarList, (const void *const *scalars, uint64_t count))                                               \
    X(aclCreateIntArray, (const int64_t *values, uint64_t count))                                                      \
    X(aclCreateFloatArray, (const float *values, uint64_t count))                                                      \
    X(aclCreateBoolArray, (const bool *values, uint64_t count))                                                        \
    X(aclCreateDataBuffer, (void *data, size_t size))                                                                  \
    X(aclmdlCreateDataset, (void))                                                                                     \
    X(aclmdlCreateDesc, (void))                                                                                        \
    X(aclCreateTensorDesc, (int type, int dim_count, const int64_t *dims, int format))

/* These return nothing. */
#define NM_HOOKED_ENDS(X) X(aclDestroyTensorDesc, (const void *object))

#define NM_HOOKED_OBJECTS(X)                                                                                           \
    X(aclDestroyTensor, (const void *object))                                                                          \
    X(aclDestroyTensorList, (const void *object))                                                                      \
    X(aclDestroyScalar, (const void *object))                                                                          \
    X(aclDestroyScalarList, (const void *object))                                                                      \
    X(aclDestroyIntArray, (const void *object))                                                                        \
    X(aclDestroyFloatArray, (const void *object))                                                                      \
    X(aclDestroyBoolArray, (const void *object))                                                                       \
    X(aclDestroyDataBuffer, (const void *object))                                                                      \
    X(aclmdlDestroyDataset, (const void *object))                                                                      \
    X(aclmdlDestroyDesc, (void *object))

/* Called, not hooked. */
#define NM_USED_FUNCTIONS(X)                                                                                           \
    X(aclrtGetDevice, (int32_t * device))                                                                              \
    X(aclrtGetSymbolAddress, (const void *symbol, void **address))                                                     \
    X(aclrtGetSymbolSize, (const void *symbol, size_t *size))

#define NM_DECLARE_HOOK(name, parameters) __attribute__((visibility("default"))) nm_acl_error name parameters;
NM_HOOKED_FUNCTIONS(NM_DECLARE_HOOK)
#undef NM_DECLARE_HOOK
#define NM_DECLARE_MAKER(name, parameters) __attribute__((visibility("default"))) void *name parameters;
#define NM_DECLARE_END(name, parameters)   __attribute__((visibility("default"))) void name parameters;
NM_HOOKED_MAKERS(NM_DECLARE_MAKER)
NM_HOOKED_ENDS(NM_DECLARE_END)
#undef NM_DECLARE_MAKER
#undef NM_DECLARE_END

/* The functions behind the hooks, NULL where the program has none. */
typedef struct nm_runtime {
#define NM_DECLARE_REAL(name, parameters)  nm_acl_error(*name) parameters;
#define NM_DECLARE_MAKER(name, parameters) void *(*name)parameters;
#define NM_DECLARE_END(name, parameters)   void(*name) parameters;
    NM_HOOKED_FUNCTIONS(NM_DECLARE_REAL)
    NM_USED_FUNCTIONS(NM_DECLARE_REAL) NM_HOOKED_MAKERS(NM_DECLARE_MAKER) NM_HOOKED_ENDS(NM_DECLARE_END)
#undef NM_DECLARE_REAL
#undef NM_DECLARE_MAKER
#undef NM_DECLARE_END
} nm_runtime;

extern nm_runtime nm_real;

/* Modules with a name of CANN's that have been seen: whoever sees one counts it. */
void nm_runtime_count_cann(void);
uint32_t nm_runtime_cann_count(void);

/*
 * Looks again for every function that is missing. They are found when this library is loaded, and when the program loads
 * CANN or looks its functions up. Takes the loader's lock.
 */
void nm_runtime_find(void);

/*
 * A hook comes here while its own function is missing, when nothing else is left but to fail: a constructor called it
 * before ours ran, or CANN came in a way that was not seen. False: it is missing; a note says so.
 */
bool nm_runtime_look(const char *name);

/* The hook for a name and the function behind it; NULL when there is none. */
void *nm_runtime_hook(const char *name);
void *nm_runtime_real(const char *name);

/* Shows the hook for a name to lookups, or hides it: what is missing in the scope that everybody has (or is in a library
 * that was opened locally) is found there without us neither. False: it is hidden from now on. */
bool nm_runtime_show(const char *name);

/* `caller` looked `name` up and found `function`: what it gets, the hook or the same. Learns the function behind the hook
 * from it, if that was not known. */
void *nm_runtime_lead(const char *name, void *function, const void *caller);

/* After libraries were unloaded: forgets the functions that were in them. */
void nm_runtime_forget(void);

#endif
