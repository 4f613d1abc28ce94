/* SPDX-License-Identifier: Apache-2.0
 *
 * The older ways to run something on the device: a model that was loaded from a file or from memory, and a single operator
 * by the name of its type. A range stands around each. As around operators in two stages (aclnn.c) no guard is held: what
 * the engine behind them allocates and copies is recorded, and belongs to the range by its thread and time.
 *
 * A model is named after its file. Of one that came from memory, or with a configuration, only the number is known.
 */
#include <string.h>

#include "hook/arena.h"
#include "hook/handles.h"
#include "hook/hook.h"

#define NUMBER_NAME "model "
#define NAME_BYTES  (sizeof NUMBER_NAME + 10) /* with the digits of 32 bits */

/* ---- Names --------------------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static nm_acl_error tell_loaded(nm_acl_error error, const uint32_t *model, const char *path)
{
    if (error == ACL_SUCCESS)
        nm_handles_set(NM_HANDLE_MODEL, *model,
                       path != NULL ? (uint64_t)(uintptr_t)nm_arena_intern(last_part(path)) : 0);
    return error;
}

/* `room` takes the name of a model that has none. No stdio: it may take locks. */
static const char *name_of(uint32_t model, char room[static NAME_BYTES])
{
    const char *known = (const char *)(uintptr_t)nm_handles_get(NM_HANDLE_MODEL, model);
    char *at = room + NAME_BYTES;

    if (known != NULL)
        return known;
    *--at = '\0';
    for (uint32_t left = model; left > 0 || *at == '\0'; left /= 10)
        *--at = (char)('0' + left % 10);
    return memcpy(at - (sizeof NUMBER_NAME - 1), NUMBER_NAME, sizeof NUMBER_NAME - 1);
}

nm_acl_error aclmdlLoadFromFile(const char *path, uint32_t *model)
{
    NEED(aclmdlLoadFromFile);
    return tell_loaded(nm_real.aclmdlLoadFromFile(path, model), model, path);
}

nm_acl_error aclmdlLoadFromFileWithMem(const char *path, uint32_t *model, void *work, size_t work_bytes, void *weights,
                                       size_t weight_bytes)
{
    NEED(aclmdlLoadFromFileWithMem);
    return tell_loaded(nm_real.aclmdlLoadFromFileWithMem(path, model, work, work_bytes, weights, weight_bytes), model,
                       path);
}

nm_acl_error aclmdlLoadFromMem(const void *content, size_t size, uint32_t *model)
{
    NEED(aclmdlLoadFromMem);
    return tell_loaded(nm_real.aclmdlLoadFromMem(content, size, model), model, NULL);
}

nm_acl_error aclmdlLoadFromMemWithMem(const void *content, size_t size, uint32_t *model, void *work, size_t work_bytes,
                                      void *weights, size_t weight_bytes)
{
    NEED(aclmdlLoadFromMemWithMem);
    return tell_loaded(nm_real.aclmdlLoadFromMemWithMem(content, size, model, work, work_bytes, weights, weight_bytes),
                       model, NULL);
}

nm_acl_error aclmdlLoadFromFileWithQ(const char *path, uint32_t *model, const uint32_t *inputs, size_t input_count,
                                     const uint32_t *outputs, size_t output_count)
{
    NEED(aclmdlLoadFromFileWithQ);
    return tell_loaded(nm_real.aclmdlLoadFromFileWithQ(path, model, inputs, input_count, outputs, output_count), model,
                       path);
}

nm_acl_error aclmdlLoadFromMemWithQ(const void *content, size_t size, uint32_t *model, const uint32_t *inputs,
                                    size_t input_count, const uint32_t *outputs, size_t output_count)
{
    NEED(aclmdlLoadFromMemWithQ);
    return tell_loaded(nm_real.aclmdlLoadFromMemWithQ(content, size, model, inputs, input_count, outputs, output_count),
                       model, NULL);
}

/* A bundle's models are named after its file, all of them; one that came from memory has no name. */
nm_acl_error aclmdlBundleLoadFromFile(const char *path, uint32_t *bundle)
{
    nm_acl_error error;

    NEED_NEWER(aclmdlBundleLoadFromFile);
    error = nm_real.aclmdlBundleLoadFromFile(path, bundle);
    if (error == ACL_SUCCESS)
        nm_handles_set(NM_HANDLE_BUNDLE, *bundle, (uint64_t)(uintptr_t)nm_arena_intern(last_part(path)));
    return error;
}

/* Its number may have been another bundle's. */
nm_acl_error aclmdlBundleLoadFromMem(const void *content, size_t size, uint32_t *bundle)
{
    nm_acl_error error;

    NEED_NEWER(aclmdlBundleLoadFromMem);
    error = nm_real.aclmdlBundleLoadFromMem(content, size, bundle);
    if (error == ACL_SUCCESS)
        nm_handles_set(NM_HANDLE_BUNDLE, *bundle, 0);
    return error;
}

nm_acl_error aclmdlBundleGetModelId(uint32_t bundle, size_t index, uint32_t *model)
{
    nm_acl_error error;

    NEED_NEWER(aclmdlBundleGetModelId);
    error = nm_real.aclmdlBundleGetModelId(bundle, index, model);
    if (error == ACL_SUCCESS)
        nm_handles_set(NM_HANDLE_MODEL, *model, nm_handles_get(NM_HANDLE_BUNDLE, bundle));
    return error;
}

nm_acl_error aclmdlLoadWithConfig(const void *config, uint32_t *model)
{
    NEED(aclmdlLoadWithConfig);
    return tell_loaded(nm_real.aclmdlLoadWithConfig(config, model), model, NULL);
}

nm_acl_error aclopCreateHandle(const char *type, NM_OPERATOR_SHAPES, const void *attr, void **handle)
{
    nm_acl_error error;

    NEED(aclopCreateHandle);
    error = nm_real.aclopCreateHandle(type, input_count, inputs, output_count, outputs, attr, handle);
    if (error == ACL_SUCCESS)
        nm_handles_set(NM_HANDLE_OPERATOR, (uintptr_t)*handle, (uint64_t)(uintptr_t)nm_arena_intern(type));
    return error;
}

/* ---- Models -------------------------------------------------------------------------------------------------------- */

/* stream: NULL where the call has none. */
static uint64_t begin_model(uint32_t model, void *const *stream)
{
    char room[NAME_BYTES];
    nm_ring_range event = {.detail = NM_RANGE_MODEL, .model_id = model};

    if (!nm_record_is_on())
        return 0;
    if (stream != NULL) {
        event.flags = NM_FLAG_STREAM;
        event.stream = (uint64_t)(uintptr_t)*stream;
    }
    return nm_record_range_begin(&event, name_of(model, room));
}

static nm_acl_error end_range(uint64_t range, nm_acl_error error)
{
    nm_record_range_end(range, error);
    return error;
}

nm_acl_error aclmdlExecute(uint32_t model, const void *input, void *output)
{
    uint64_t range;

    NEED(aclmdlExecute);
    range = begin_model(model, NULL);
    return end_range(range, nm_real.aclmdlExecute(model, input, output));
}

nm_acl_error aclmdlExecuteV2(uint32_t model, const void *input, void *output, void *stream, const void *config)
{
    uint64_t range;

    NEED_NEWER(aclmdlExecuteV2);
    range = begin_model(model, &stream);
    return end_range(range, nm_real.aclmdlExecuteV2(model, input, output, stream, config));
}

nm_acl_error aclmdlExecuteAsync(uint32_t model, const void *input, void *output, void *stream)
{
    uint64_t range;

    NEED(aclmdlExecuteAsync);
    range = begin_model(model, &stream);
    return end_range(range, nm_real.aclmdlExecuteAsync(model, input, output, stream));
}

nm_acl_error aclmdlExecuteAsyncV2(uint32_t model, const void *input, void *output, void *stream, const void *config)
{
    uint64_t range;

    NEED_NEWER(aclmdlExecuteAsyncV2);
    range = begin_model(model, &stream);
    return end_range(range, nm_real.aclmdlExecuteAsyncV2(model, input, output, stream, config));
}

/* ---- Operators ----------------------------------------------------------------------------------------------------- */

/* type: NULL when it is not known. */
static uint64_t begin_operator(const char *type, void *stream)
{
    nm_ring_range event = {.detail = NM_RANGE_OPERATOR, .flags = NM_FLAG_STREAM, .stream = (uint64_t)(uintptr_t)stream};

    return nm_record_range_begin(&event, type);
}

nm_acl_error aclopExecute(const char *type, NM_OPERATOR_TENSORS, const void *attr, void *stream)
{
    uint64_t range;

    NEED(aclopExecute);
    range = begin_operator(type, stream);
    return end_range(range, nm_real.aclopExecute(type, input_count, inputs, input_data, output_count, outputs,
                                                 output_data, attr, stream));
}

nm_acl_error aclopExecuteV2(const char *type, NM_OPERATOR_TENSORS, void *attr, void *stream)
{
    uint64_t range;

    NEED(aclopExecuteV2);
    range = begin_operator(type, stream);
    return end_range(range, nm_real.aclopExecuteV2(type, input_count, inputs, input_data, output_count, outputs,
                                                   output_data, attr, stream));
}

nm_acl_error aclopExecWithHandle(void *handle, int input_count, const void *const *input_data, int output_count,
                                 void *const *output_data, void *stream)
{
    uint64_t range;

    NEED(aclopExecWithHandle);
    range = begin_operator((const char *)(uintptr_t)nm_handles_get(NM_HANDLE_OPERATOR, (uintptr_t)handle), stream);
    return end_range(range,
                     nm_real.aclopExecWithHandle(handle, input_count, input_data, output_count, output_data, stream));
}

nm_acl_error aclopCompileAndExecute(const char *type, NM_OPERATOR_TENSORS, const void *attr, NM_OPERATOR_COMPILER,
                                    void *stream)
{
    uint64_t range;

    NEED(aclopCompileAndExecute);
    range = begin_operator(type, stream);
    return end_range(range, nm_real.aclopCompileAndExecute(type, input_count, inputs, input_data, output_count, outputs,
                                                           output_data, attr, engine, flag, path, stream));
}

nm_acl_error aclopCompileAndExecuteV2(const char *type, NM_OPERATOR_TENSORS, void *attr, NM_OPERATOR_COMPILER,
                                      void *stream)
{
    uint64_t range;

    NEED_NEWER(aclopCompileAndExecuteV2);
    range = begin_operator(type, stream);
    return end_range(range, nm_real.aclopCompileAndExecuteV2(type, input_count, inputs, input_data, output_count,
                                                             outputs, output_data, attr, engine, flag, path, stream));
}
