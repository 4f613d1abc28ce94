/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams, exports and described copies of the runtime of fake_acl_newer.c, by rules of the same sort: streams are at
 * 0xe000 and events at 0xf000, each plus how many there were; NULL is refused where a handle is wanted, and so is a limit of
 * 13 of time. A symbol's variable is 0x100 bytes at 0xd0000 plus the symbol.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hook/runtime.h"

#define REFUSED               13

#define API(name, parameters) __attribute__((visibility("default"))) nm_acl_error name parameters

nm_acl_error aclrtGetSymbolAddress(const void *symbol, void **address);
nm_acl_error aclrtGetSymbolSize(const void *symbol, size_t *size);

static int answer(int result)
{
    errno = 33;
    return result;
}

static int make(void **handle, uintptr_t base)
{
    static uintptr_t count;

    if (handle == NULL)
        return answer(100000);
    *handle = (void *)(base + ++count);
    return answer(0);
}

static int use(const void *handle)
{
    return answer(handle == NULL ? 107017 : 0);
}

static int wait_for(int64_t timeout)
{
    return answer(timeout == REFUSED ? 507046 : 0);
}

API(aclrtCreateStream, (void **stream))
{
    return make(stream, 0xe000);
}

API(aclrtCreateStreamWithConfig, (void **stream, uint32_t priority, uint32_t flag))
{
    (void)priority, (void)flag;
    return make(stream, 0xe000);
}

API(aclrtCreateStreamV2, (void **stream, const void *config))
{
    (void)config;
    return make(stream, 0xe000);
}

/* Waits, as a real one may, by calling what is hooked too. */
API(aclrtDestroyStream, (void *stream))
{
    aclrtSynchronizeStream(stream);
    return use(stream);
}

API(aclrtDestroyStreamForce, (void *stream))
{
    return use(stream);
}

API(aclrtSynchronizeStream, (void *stream))
{
    (void)stream;
    return answer(0);
}

API(aclrtSynchronizeStreamWithTimeout, (void *stream, int32_t timeout))
{
    (void)stream;
    return wait_for(timeout);
}

API(aclrtSynchronizeDevice, (void))
{
    return answer(0);
}

API(aclrtSynchronizeDeviceWithTimeout, (int32_t timeout))
{
    return wait_for(timeout);
}

API(aclrtStreamWaitEvent, (void *stream, void *event))
{
    (void)stream;
    return use(event);
}

API(aclrtStreamWaitEventWithTimeout, (void *stream, void *event, int32_t timeout))
{
    (void)stream, (void)event;
    return wait_for(timeout);
}

API(aclrtStreamWaitEventWithFlag, (void *stream, void *event, uint32_t timeout, uint32_t flag))
{
    (void)stream, (void)event, (void)flag;
    return wait_for(timeout);
}

API(aclrtCreateEvent, (void **event))
{
    return make(event, 0xf000);
}

API(aclrtCreateEventWithFlag, (void **event, uint32_t flag))
{
    (void)flag;
    return make(event, 0xf000);
}

API(aclrtCreateEventExWithFlag, (void **event, uint32_t flag))
{
    (void)flag;
    return make(event, 0xf000);
}

/* The handle is given by value; its last byte says whether all of it arrived. */
API(aclrtIpcOpenEventHandle, (nm_acl_ipc_event shared, void **event))
{
    return shared.reserved[sizeof shared.reserved - 1] == REFUSED ? answer(107000) : make(event, 0xf000);
}

API(aclrtDestroyEvent, (void *event))
{
    return use(event);
}

API(aclrtCreateNotify, (void **notify, uint64_t flag))
{
    return flag == REFUSED ? answer(207005) : make(notify, 0xd000);
}

API(aclrtDestroyNotify, (void *notify))
{
    return use(notify);
}

API(aclrtNotifyImportByKey, (void **notify, const char *key, uint64_t flags))
{
    return flags != 1 || strcmp(key, "key") != 0 ? answer(107000) : make(notify, 0xd000);
}

API(aclrtCntNotifyCreate, (void **notify, uint64_t flag))
{
    return flag == REFUSED ? answer(207005) : make(notify, 0xc000);
}

API(aclrtCntNotifyDestroy, (void *notify))
{
    return use(notify);
}

API(aclrtRecordEvent, (void *event, void *stream))
{
    (void)stream;
    return use(event);
}

API(aclrtRecordEventWithFlag, (void *event, void *stream, uint32_t flag))
{
    (void)stream, (void)flag;
    return use(event);
}

API(aclrtResetEvent, (void *event, void *stream))
{
    (void)stream;
    return use(event);
}

API(aclrtSynchronizeEvent, (void *event))
{
    return use(event);
}

API(aclrtSynchronizeEventWithTimeout, (void *event, int32_t timeout))
{
    (void)event;
    return wait_for(timeout);
}

API(aclrtAllocatorRegister, (void *stream, void *description))
{
    (void)description;
    return use(stream);
}

API(aclrtAllocatorUnregister, (void *stream))
{
    return use(stream);
}

/* ---- Exports ------------------------------------------------------------------------------------------------------- */

API(aclrtMemExportToShareableHandle, (void *handle, int type, uint64_t flags, uint64_t *shared))
{
    (void)type, (void)flags;
    *shared = 0x10;
    return use(handle);
}

API(aclrtMemExportToShareableHandleV2, (void *handle, uint64_t flags, int type, void *shared))
{
    (void)flags, (void)type, (void)shared;
    return use(handle);
}

API(aclrtIpcMemGetExportKey, (void *address, size_t size, char *key, size_t room, uint64_t flags))
{
    (void)size, (void)room, (void)flags;
    key[0] = 'k';
    return use(address);
}

/* ---- Copies -------------------------------------------------------------------------------------------------------- */

API(aclrtSetMemcpyDesc, (void *desc, int kind, void *source, void *target, size_t size, void *config))
{
    (void)kind, (void)source, (void)target, (void)size, (void)config;
    return use(desc);
}

API(aclrtMemcpyAsyncWithDesc, (void *desc, int kind, void *stream))
{
    (void)kind, (void)stream;
    return use(desc);
}

API(aclrtMemcpyAsyncWithOffset, (void **target, size_t limit, size_t target_offset, const void **source, size_t size,
                                 size_t source_offset, int kind, void *stream))
{
    (void)target, (void)limit, (void)target_offset, (void)source, (void)size, (void)source_offset, (void)kind;
    (void)stream;
    return answer(0);
}

/* The hooks ask for these two; the program is to see nothing of that. */
static int answer_to_a_hook(const void *symbol)
{
    int result = use(symbol);

    errno = 44;
    return result;
}

API(aclrtGetSymbolAddress, (const void *symbol, void **address))
{
    *address = (void *)((uintptr_t)symbol + 0xd0000);
    return answer_to_a_hook(symbol);
}

API(aclrtGetSymbolSize, (const void *symbol, size_t *size))
{
    *size = 0x100;
    return answer_to_a_hook(symbol);
}

API(aclrtMemcpyToSymbol, (const void *symbol, const void *source, size_t size, size_t offset, int kind))
{
    (void)source, (void)size, (void)offset, (void)kind;
    return use(symbol);
}

API(aclrtMemcpyToSymbolAsync,
    (const void *symbol, const void *source, size_t size, size_t offset, int kind, void *stream))
{
    (void)stream;
    return aclrtMemcpyToSymbol(symbol, source, size, offset, kind);
}

API(aclrtMemcpyFromSymbol, (void *target, size_t limit, const void *symbol, size_t size, size_t offset, int kind))
{
    (void)target, (void)limit, (void)size, (void)offset, (void)kind;
    return use(symbol);
}

API(aclrtMemcpyFromSymbolAsync,
    (void *target, size_t limit, const void *symbol, size_t size, size_t offset, int kind, void *stream))
{
    (void)stream;
    return aclrtMemcpyFromSymbol(target, limit, symbol, size, offset, kind);
}

/* Graphs, of which the second begin adds to one. */
API(aclmdlRICaptureBegin, (void *stream, int mode))
{
    (void)mode;
    return use(stream);
}

API(aclmdlRICaptureToModelRIBegin, (void *stream, void *graph, int mode))
{
    (void)mode;
    return use(stream == NULL ? stream : graph);
}

API(aclmdlRICaptureEnd, (void *stream, void **graph))
{
    return stream == NULL ? use(stream) : make(graph, 0xb000);
}

API(aclmdlRIExecute, (void *graph, int32_t timeout))
{
    return timeout == REFUSED ? answer(507046) : use(graph);
}

API(aclmdlRIExecuteAsync, (void *graph, void *stream))
{
    (void)stream;
    return use(graph);
}

API(aclmdlRIDestroy, (void *graph))
{
    return use(graph);
}
