/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of AscendCL's graphs: work of a stream that is captured, and done later as often as the program executes the
 * graph. Each is told after the call, and while paused too: what was allocated during a capture belongs to its graph.
 *
 * While a capture is open CANN refuses questions, so this file tells capture.c of each that begins and ends.
 */
#include "hook/capture.h"
#include "hook/current_device.h"
#include "hook/handles.h"
#include "hook/hook.h"

#define ACL_STREAM_NOT_CAPTURED 107029

static void tell(nm_stream_call what, const void *stream, const void *graph, nm_acl_error error, uint64_t begin_ticks,
                 const void *frame)
{
    nm_record_stream_call(&(nm_ring_stream_call){.detail = what,
                                                 .where = nm_record_where(0, stream != NULL ? NM_FLAG_STREAM : 0),
                                                 .stream = (uint64_t)(uintptr_t)stream,
                                                 .event = (uint64_t)(uintptr_t)graph,
                                                 .cost_ticks = nm_record_cost(begin_ticks),
                                                 .error_code = error,
                                                 .device = nm_record_device(nm_current_device())},
                          frame);
}

/* The real call between enter and leave; `before` and `after` when it is recorded. */
#define GRAPH_CALL(call, before, after, what, stream, graph)                                                           \
    do {                                                                                                               \
        uint64_t begin_ticks;                                                                                          \
                                                                                                                       \
        HOOK_CALL(begin_ticks = nm_record_clock(); before, call, after;                                                \
                  tell(what, stream, graph, error, begin_ticks, HERE));                                                \
    } while (0)

static void note_begun(void *stream, nm_acl_error error)
{
    if (error != ACL_SUCCESS)
        nm_capture_end();
    else
        nm_handles_set(NM_HANDLE_CAPTURE, (uint64_t)(uintptr_t)stream, 1);
}

/* A capture that could not be ended well has ended too, but for that of a stream on which none began. */
static void note_ended(void *stream, nm_acl_error error)
{
    if (error != ACL_STREAM_NOT_CAPTURED && nm_handles_set(NM_HANDLE_CAPTURE, (uint64_t)(uintptr_t)stream, 0) != 0)
        nm_capture_end();
}

nm_acl_error aclmdlRICaptureBegin(void *stream, int mode)
{
    NEED_NEWER(aclmdlRICaptureBegin);
    GRAPH_CALL(nm_real.aclmdlRICaptureBegin(stream, mode), nm_capture_begin(), note_begun(stream, error),
               NM_STREAM_CAPTURE_BEGIN, stream, NULL);
}

nm_acl_error aclmdlRICaptureToModelRIBegin(void *stream, void *graph, int mode)
{
    NEED_NEWER(aclmdlRICaptureToModelRIBegin);
    GRAPH_CALL(nm_real.aclmdlRICaptureToModelRIBegin(stream, graph, mode), nm_capture_begin(),
               note_begun(stream, error), NM_STREAM_CAPTURE_BEGIN, stream, graph);
}

nm_acl_error aclmdlRICaptureEnd(void *stream, void **graph)
{
    NEED_NEWER(aclmdlRICaptureEnd);
    GRAPH_CALL(nm_real.aclmdlRICaptureEnd(stream, graph), (void)0, note_ended(stream, error), NM_STREAM_CAPTURE_END,
               stream, error == ACL_SUCCESS ? *graph : NULL);
}

nm_acl_error aclmdlRIExecute(void *graph, int32_t timeout)
{
    NEED_NEWER(aclmdlRIExecute);
    GRAPH_CALL(nm_real.aclmdlRIExecute(graph, timeout), (void)0, (void)0, NM_STREAM_GRAPH_EXECUTE, NULL, graph);
}

nm_acl_error aclmdlRIExecuteAsync(void *graph, void *stream)
{
    NEED_NEWER(aclmdlRIExecuteAsync);
    GRAPH_CALL(nm_real.aclmdlRIExecuteAsync(graph, stream), (void)0, (void)0, NM_STREAM_GRAPH_EXECUTE, stream, graph);
}

nm_acl_error aclmdlRIDestroy(void *graph)
{
    NEED_NEWER(aclmdlRIDestroy);
    GRAPH_CALL(nm_real.aclmdlRIDestroy(graph), (void)0, (void)0, NM_STREAM_GRAPH_DESTROY, NULL, graph);
}
