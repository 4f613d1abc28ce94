/* SPDX-License-Identifier: Apache-2.0
 *
 * The older ways to run something on the device: a model that was loaded from a file or from memory, and a single operator
 * by the name of its type. A range stands around each run, and around a model's load and unload. As around operators in two
 * stages (aclnn.c) no guard is held: what the engine behind them allocates, frees and copies is recorded, and belongs to the
 * range by its thread and time.
 *
 * A model is named after its file. One that came from memory, or with a configuration, has no name: it is numbered in the
 * order of such loads, since the number that the runtime gives is not known before the load has ended.
 */
#include <stdatomic.h>
#include <string.h>

#include "hook/arena.h"
#include "hook/handles.h"
#include "hook/hook.h"

#define UNSEEN_NAME  "model " /* its load was not seen; the runtime's number follows */
#define UNNAMED_NAME "unnamed model "
#define NAME_BYTES   (sizeof UNNAMED_NAME + 10) /* with the digits of 32 bits */

/* ---- Names --------------------------------------------------------------------------------------------------------- */

/* NULL: it has none. */
static const char *last_part(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : path;

    return name != NULL && *name != '\0' ? name : NULL;
}

/* No stdio: it may take locks. */
static const char *numbered(const char *word, uint32_t number, char room[static NAME_BYTES])
{
    size_t word_bytes = strlen(word);
    char *at = room + NAME_BYTES;

    *--at = '\0';
    for (uint32_t left = number; left > 0 || *at == '\0'; left /= 10)
        *--at = (char)('0' + left % 10);
    return memcpy(at - word_bytes, word, word_bytes);
}

/* Of a model or a bundle; `room` takes the name of one that has none. */
static const char *name_of(nm_handle_kind kind, uint32_t number, char room[static NAME_BYTES])
{
    const char *known = (const char *)(uintptr_t)nm_handles_get(kind, number);

    return known != NULL ? known : numbered(UNSEEN_NAME, number, room);
}

/* ---- Loads --------------------------------------------------------------------------------------------------------- */

typedef struct load {
    uint64_t range;
    const char *name;
    char room[NAME_BYTES];
} load;

/* path: NULL where the model is not from a file. */
static void begin_load(load *self, const char *path)
{
    static _Atomic uint32_t unnamed_count;

    self->name = last_part(path);
    if (self->name == NULL)
        /* relaxed: a number that nobody else gets. */
        self->name =
            numbered(UNNAMED_NAME, atomic_fetch_add_explicit(&unnamed_count, 1, memory_order_relaxed) + 1, self->room);
    self->range = nm_record_range_begin(&(nm_ring_range){.detail = NM_RANGE_MODEL_LOAD}, self->name);
}

/* number: the model's or bundle's, read only after a success. */
static nm_acl_error end_load(const load *self, nm_handle_kind kind, const uint32_t *number, nm_acl_error error)
{
    bool is_known = error == ACL_SUCCESS && number != NULL;

    if (is_known)
        nm_handles_set(kind, *number, (uint64_t)(uintptr_t)nm_arena_intern(self->name));
    nm_record_load_end(self->range, error, is_known && kind == NM_HANDLE_MODEL ? *number : 0);
    return error;
}

/* `call` stands between the begin and the end of a load. */
#define LOAD(kind, path, number, call)                                                                                 \
    do {                                                                                                               \
        load self;                                                                                                     \
                                                                                                                       \
        begin_load(&self, path);                                                                                       \
        return end_load(&self, kind, number, call);                                                                    \
    } while (0)

nm_acl_error aclmdlLoadFromFile(const char *path, uint32_t *model)
{
    NEED(aclmdlLoadFromFile);
    LOAD(NM_HANDLE_MODEL, path, model, nm_real.aclmdlLoadFromFile(path, model));
}

nm_acl_error aclmdlLoadFromFileWithMem(const char *path, uint32_t *model, void *work, size_t work_bytes, void *weights,
                                       size_t weight_bytes)
{
    NEED(aclmdlLoadFromFileWithMem);
    LOAD(NM_HANDLE_MODEL, path, model,
         nm_real.aclmdlLoadFromFileWithMem(path, model, work, work_bytes, weights, weight_bytes));
}

nm_acl_error aclmdlLoadFromMem(const void *content, size_t size, uint32_t *model)
{
    NEED(aclmdlLoadFromMem);
    LOAD(NM_HANDLE_MODEL, NULL, model, nm_real.aclmdlLoadFromMem(content, size, model));
}

nm_acl_error aclmdlLoadFromMemWithMem(const void *content, size_t size, uint32_t *model, void *work, size_t work_bytes,
                                      void *weights, size_t weight_bytes)
{
    NEED(aclmdlLoadFromMemWithMem);
    LOAD(NM_HANDLE_MODEL, NULL, model,
         nm_real.aclmdlLoadFromMemWithMem(content, size, model, work, work_bytes, weights, weight_bytes));
}

nm_acl_error aclmdlLoadFromFileWithQ(const char *path, uint32_t *model, const uint32_t *inputs, size_t input_count,
                                     const uint32_t *outputs, size_t output_count)
{
    NEED(aclmdlLoadFromFileWithQ);
    LOAD(NM_HANDLE_MODEL, path, model,
         nm_real.aclmdlLoadFromFileWithQ(path, model, inputs, input_count, outputs, output_count));
}

nm_acl_error aclmdlLoadFromMemWithQ(const void *content, size_t size, uint32_t *model, const uint32_t *inputs,
                                    size_t input_count, const uint32_t *outputs, size_t output_count)
{
    NEED(aclmdlLoadFromMemWithQ);
    LOAD(NM_HANDLE_MODEL, NULL, model,
         nm_real.aclmdlLoadFromMemWithQ(content, size, model, inputs, input_count, outputs, output_count));
}

nm_acl_error aclmdlLoadWithConfig(const void *config, uint32_t *model)
{
    NEED(aclmdlLoadWithConfig);
    LOAD(NM_HANDLE_MODEL, NULL, model, nm_real.aclmdlLoadWithConfig(config, model));
}

/* The models of a bundle are named as it is, all of them. */
nm_acl_error aclmdlBundleLoadFromFile(const char *path, uint32_t *bundle)
{
    NEED_NEWER(aclmdlBundleLoadFromFile);
    LOAD(NM_HANDLE_BUNDLE, path, bundle, nm_real.aclmdlBundleLoadFromFile(path, bundle));
}

nm_acl_error aclmdlBundleLoadFromMem(const void *content, size_t size, uint32_t *bundle)
{
    NEED_NEWER(aclmdlBundleLoadFromMem);
    LOAD(NM_HANDLE_BUNDLE, NULL, bundle, nm_real.aclmdlBundleLoadFromMem(content, size, bundle));
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

/* ---- Unloads ------------------------------------------------------------------------------------------------------- */

/* The name stays known: another load of the number brings its own. */
static uint64_t begin_unload(nm_handle_kind kind, uint32_t number)
{
    char room[NAME_BYTES];
    nm_ring_range event = {.detail = NM_RANGE_MODEL_UNLOAD, .model_id = kind == NM_HANDLE_MODEL ? number : 0};

    return nm_record_is_on() ? nm_record_range_begin(&event, name_of(kind, number, room)) : 0;
}

static nm_acl_error end_range(uint64_t range, nm_acl_error error)
{
    nm_record_range_end(range, error);
    return error;
}

nm_acl_error aclmdlUnload(uint32_t model)
{
    uint64_t range;

    NEED(aclmdlUnload);
    range = begin_unload(NM_HANDLE_MODEL, model);
    return end_range(range, nm_real.aclmdlUnload(model));
}

nm_acl_error aclmdlBundleUnload(uint32_t bundle)
{
    uint64_t range;

    NEED_NEWER(aclmdlBundleUnload);
    range = begin_unload(NM_HANDLE_BUNDLE, bundle);
    return end_range(range, nm_real.aclmdlBundleUnload(bundle));
}

/* ---- Runs ---------------------------------------------------------------------------------------------------------- */

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
    return nm_record_range_begin(&event, name_of(NM_HANDLE_MODEL, model, room));
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

nm_acl_error aclopCreateHandle(const char *type, NM_OPERATOR_SHAPES, const void *attr, void **handle)
{
    nm_acl_error error;

    NEED(aclopCreateHandle);
    error = nm_real.aclopCreateHandle(type, input_count, inputs, output_count, outputs, attr, handle);
    if (error == ACL_SUCCESS)
        nm_handles_set(NM_HANDLE_OPERATOR, (uintptr_t)*handle, (uint64_t)(uintptr_t)nm_arena_intern(type));
    return error;
}

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
