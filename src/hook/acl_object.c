/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of objects that programs make for operators and models: tensors, lists, arrays, data buffers, descriptions. They take host memory,
 * and no guard: they are counted (record/objects.c). What is destroyed is counted before, since its address may be another's
 * right after. A list destroys what is in it, so that is gone with the list's making.
 */
#include <stdatomic.h>

#include "hook/handles.h"
#include "hook/hook.h"

static _Atomic uint32_t told_count; /* objects that were told and are there */

static void *made(nm_object_kind kind, void *object, const void *frame)
{
    if (object != NULL && nm_record_object_made(kind)) {
        if (nm_handles_set(NM_HANDLE_OBJECT, (uintptr_t)object, kind) == 0)
            atomic_fetch_add_explicit(&told_count, 1, memory_order_relaxed); /* relaxed: a count */
        nm_record_object(
            &(nm_ring_objects){.handle = (uintptr_t)object, .kind = kind, .made_count = NM_RECORD_OBJECT_STEP}, frame);
    }
    return object;
}

/* Its end is told where its making was. */
static void end(const void *object)
{
    uint64_t kind;

    /* relaxed: whoever has the object was given it after it was counted. */
    if (__builtin_expect(atomic_load_explicit(&told_count, memory_order_relaxed) == 0, 1))
        return;
    kind = nm_handles_get(NM_HANDLE_OBJECT, (uintptr_t)object);
    if (kind == 0)
        return;
    nm_handles_set(NM_HANDLE_OBJECT, (uintptr_t)object, 0);
    atomic_fetch_sub_explicit(&told_count, 1, memory_order_relaxed); /* relaxed: a count */
    nm_record_object(&(nm_ring_objects){.handle = (uintptr_t)object, .kind = kind, .gone_count = NM_RECORD_OBJECT_STEP},
                     NULL);
}

static void gone(nm_object_kind kind, const void *object)
{
    if (object == NULL)
        return;
    nm_record_objects_gone(kind, 1);
    end(object);
}

/* The list that took them, or NULL. */
static void *took(nm_object_kind kind, void *list, const void *const *objects, uint64_t count)
{
    uint64_t taken_count = 0;

    for (uint64_t i = 0; list != NULL && i < count; i++)
        if (objects[i] != NULL) {
            taken_count++;
            end(objects[i]);
        }
    if (taken_count > 0)
        nm_record_objects_gone(kind, taken_count);
    return list;
}

/* ---- Operators ----------------------------------------------------------------------------------------------------- */

void *aclCreateTensor(const int64_t *dims, uint64_t dim_count, int type, const int64_t *strides, int64_t offset,
                      int format, const int64_t *storage_dims, uint64_t storage_dim_count, void *data)
{
    NEED_OR(aclCreateTensor, NULL);
    return made(
        NM_OBJECT_TENSOR,
        nm_real.aclCreateTensor(dims, dim_count, type, strides, offset, format, storage_dims, storage_dim_count, data),
        HERE);
}

void *aclCreateTensorList(const void *const *tensors, uint64_t count)
{
    NEED_OR(aclCreateTensorList, NULL);
    return made(NM_OBJECT_TENSOR_LIST,
                took(NM_OBJECT_TENSOR, nm_real.aclCreateTensorList(tensors, count), tensors, count), HERE);
}

void *aclCreateScalar(void *value, int type)
{
    NEED_OR(aclCreateScalar, NULL);
    return made(NM_OBJECT_SCALAR, nm_real.aclCreateScalar(value, type), HERE);
}

void *aclCreateScalarList(const void *const *scalars, uint64_t count)
{
    NEED_OR(aclCreateScalarList, NULL);
    return made(NM_OBJECT_SCALAR_LIST,
                took(NM_OBJECT_SCALAR, nm_real.aclCreateScalarList(scalars, count), scalars, count), HERE);
}

void *aclCreateIntArray(const int64_t *values, uint64_t count)
{
    NEED_OR(aclCreateIntArray, NULL);
    return made(NM_OBJECT_INT_ARRAY, nm_real.aclCreateIntArray(values, count), HERE);
}

void *aclCreateFloatArray(const float *values, uint64_t count)
{
    NEED_OR(aclCreateFloatArray, NULL);
    return made(NM_OBJECT_FLOAT_ARRAY, nm_real.aclCreateFloatArray(values, count), HERE);
}

void *aclCreateBoolArray(const bool *values, uint64_t count)
{
    NEED_OR(aclCreateBoolArray, NULL);
    return made(NM_OBJECT_BOOL_ARRAY, nm_real.aclCreateBoolArray(values, count), HERE);
}

#define DESTROY(name, kind, type)                                                                                      \
    nm_acl_error name(type *object)                                                                                    \
    {                                                                                                                  \
        NEED(name);                                                                                                    \
        gone(kind, object);                                                                                            \
        return nm_real.name(object);                                                                                   \
    }

DESTROY(aclDestroyTensor, NM_OBJECT_TENSOR, const void)
DESTROY(aclDestroyTensorList, NM_OBJECT_TENSOR_LIST, const void)
DESTROY(aclDestroyScalar, NM_OBJECT_SCALAR, const void)
DESTROY(aclDestroyScalarList, NM_OBJECT_SCALAR_LIST, const void)
DESTROY(aclDestroyIntArray, NM_OBJECT_INT_ARRAY, const void)
DESTROY(aclDestroyFloatArray, NM_OBJECT_FLOAT_ARRAY, const void)
DESTROY(aclDestroyBoolArray, NM_OBJECT_BOOL_ARRAY, const void)

/* ---- Models -------------------------------------------------------------------------------------------------------- */

void *aclCreateDataBuffer(void *data, size_t size)
{
    NEED_OR(aclCreateDataBuffer, NULL);
    return made(NM_OBJECT_DATA_BUFFER, nm_real.aclCreateDataBuffer(data, size), HERE);
}

void *aclmdlCreateDataset(void)
{
    NEED_OR(aclmdlCreateDataset, NULL);
    return made(NM_OBJECT_DATASET, nm_real.aclmdlCreateDataset(), HERE);
}

void *aclmdlCreateDesc(void)
{
    NEED_OR(aclmdlCreateDesc, NULL);
    return made(NM_OBJECT_MODEL_DESC, nm_real.aclmdlCreateDesc(), HERE);
}

void *aclCreateTensorDesc(int type, int dim_count, const int64_t *dims, int format)
{
    NEED_OR(aclCreateTensorDesc, NULL);
    return made(NM_OBJECT_TENSOR_DESC, nm_real.aclCreateTensorDesc(type, dim_count, dims, format), HERE);
}

DESTROY(aclDestroyDataBuffer, NM_OBJECT_DATA_BUFFER, const void)
DESTROY(aclmdlDestroyDataset, NM_OBJECT_DATASET, const void)
DESTROY(aclmdlDestroyDesc, NM_OBJECT_MODEL_DESC, void)

void aclDestroyTensorDesc(const void *object)
{
    NEED_OR(aclDestroyTensorDesc, );
    gone(NM_OBJECT_TENSOR_DESC, object);
    nm_real.aclDestroyTensorDesc(object);
}
