/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: what a program allocates while it captures one is no iteration, however often it does that. And where it executes
 * graphs and waits for what they give, each wait ends an iteration: a decoder executes one graph of the family that it has
 * captured for its batch sizes, or the pieces of one, before it looks at the answer. Executions are an anchor only if
 *
 *   - one thread executes, and between two waits always as many graphs, none of them twice;
 *   - the first of each such group was captured at one place, and is the same as that of the group before now and then:
 *     pieces of one iteration, each waited for, come in turn;
 *   - no training is seen. Its micro-batches look the same, and are no iterations.
 */
#include "steps/anchor_state.h"

#define UNLIKE_RATIO_MAX 0.02 /* of the groups */

static nm_anchor_capture *capture_of(nm_anchor_graphs *graphs, uint64_t stream)
{
    for (size_t i = 0; i < graphs->capture_count; i++)
        if (graphs->captures[i].stream == stream)
            return &graphs->captures[i];
    return NULL;
}

bool nm_anchor_graph_holds(const nm_anchor_process *process, const nm_event *event)
{
    const nm_anchor_graphs *graphs = &process->graphs;
    bool has_stream = (event->flags & NM_FLAG_STREAM) != 0;

    for (size_t i = 0; i < graphs->capture_count; i++)
        if (event->thread_id == graphs->captures[i].thread_id ||
            (has_stream && event->stream == graphs->captures[i].stream))
            return true;
    return false;
}

static void begin_capture(nm_anchor_graphs *graphs, const nm_event *event)
{
    nm_anchor_capture *capture = capture_of(graphs, event->stream);

    if (capture == NULL && graphs->capture_count < NM_ANCHOR_CAPTURES_MAX)
        capture = &graphs->captures[graphs->capture_count++];
    if (capture != NULL)
        *capture = (nm_anchor_capture){event->thread_id, event->stream, event->stack_id};
}

/* Of the graph it stays known where it was captured. */
static nm_status end_capture(nm_anchor *anchor, nm_anchor_process *process, const nm_event *event, nm_error *err)
{
    nm_anchor_graphs *graphs = &process->graphs;
    nm_anchor_capture *capture = capture_of(graphs, event->stream);
    nm_status status = NM_OK;

    if (capture == NULL)
        return NM_OK;
    if (event->error_code == 0)
        status =
            nm_map_put(&anchor->captured_at, (nm_key){process->id, (uint64_t)event->number}, capture->stack_id, err);
    *capture = graphs->captures[--graphs->capture_count];
    return status;
}

/* ---- Executions -------------------------------------------------------------------------------------------------- */

static bool was_in_group(nm_anchor_graphs *graphs, uint64_t handle)
{
    for (uint64_t i = 0; i < graphs->group_size && i < NM_ANCHOR_PIECES_MAX; i++)
        if (graphs->group[i] == handle)
            return true;
    return false;
}

/* The first group may have begun before the recording, and is not looked at; of the second the others are to be like it. */
static void judge_group(nm_anchor_graphs *graphs)
{
    if (graphs->group_count == 2)
        graphs->typical_size = graphs->group_size;
    if (graphs->group_count >= 2)
        graphs->unlike_count += graphs->is_unlike || graphs->group_size != graphs->typical_size;
}

static void begin_group(nm_anchor_graphs *graphs, const nm_event *event, uint64_t family)
{
    uint64_t handle = (uint64_t)event->number;

    judge_group(graphs);
    if (graphs->group_count++ == 0) {
        graphs->stack_id = event->stack_id;
        graphs->family = family;
        graphs->thread_id = event->thread_id;
    }
    graphs->is_unlike = graphs->family != family;
    graphs->has_change |= graphs->group_count > 1 && graphs->group[0] != handle;
    graphs->has_repeat |= graphs->group_count > 1 && graphs->group[0] == handle;
    graphs->group_size = 0;
    graphs->has_waited = false;
}

static bool execute(const nm_anchor *anchor, nm_anchor_process *process, const nm_event *event)
{
    nm_anchor_graphs *graphs = &process->graphs;
    const uint64_t *family = nm_map_get(&anchor->captured_at, (nm_key){process->id, (uint64_t)event->number});
    bool is_first = graphs->group_count == 0 || graphs->has_waited;

    if (is_first)
        begin_group(graphs, event, family == NULL ? 0 : *family);
    graphs->has_threads |= event->thread_id != graphs->thread_id;
    graphs->is_unlike |= was_in_group(graphs, (uint64_t)event->number);
    if (graphs->group_size < NM_ANCHOR_PIECES_MAX)
        graphs->group[graphs->group_size] = (uint64_t)event->number;
    graphs->group_size++;
    if ((event->flags & NM_FLAG_STREAM) == 0) /* it has waited itself */
        graphs->has_waited = true;
    return is_first;
}

static bool is_wait(const nm_event *event)
{
    if (event->kind == NM_EVENT_COPY)
        return event->detail == NM_COPY_DEVICE_TO_HOST && (event->flags & NM_FLAG_ASYNC) == 0;
    return event->detail == NM_STREAM_SYNCHRONIZE || event->detail == NM_STREAM_SYNCHRONIZE_DEVICE ||
           event->detail == NM_STREAM_EVENT_SYNCHRONIZE;
}

nm_status nm_anchor_graph_note(nm_anchor *anchor, nm_anchor_process *process, const nm_event *event, bool *begins,
                               nm_error *err)
{
    nm_anchor_graphs *graphs = &process->graphs;

    *begins = false;
    if (event->kind == NM_EVENT_STREAM_CALL && event->detail == NM_STREAM_CAPTURE_END)
        return end_capture(anchor, process, event, err);
    if (event->error_code != 0)
        return NM_OK;
    if (is_wait(event) && event->thread_id == graphs->thread_id)
        graphs->has_waited = true;
    else if (event->kind == NM_EVENT_STREAM_CALL && event->detail == NM_STREAM_CAPTURE_BEGIN)
        begin_capture(graphs, event);
    else if (event->kind == NM_EVENT_STREAM_CALL && event->detail == NM_STREAM_GRAPH_EXECUTE)
        *begins = execute(anchor, process, event);
    return NM_OK;
}

bool nm_anchor_graph_is_sound(const nm_anchor_process *process)
{
    const nm_anchor_graphs *graphs = &process->graphs;
    bool is_training = process->has_any_backward || process->optimizer_count > 0 ||
                       (graphs->words & (NM_WORD_BACKWARD | NM_WORD_OPTIMIZER)) == NM_WORD_BACKWARD;
    double unlike = (double)graphs->unlike_count;

    return graphs->group_count >= NM_ANCHOR_GROUPS_MIN && graphs->group_count <= NM_ANCHOR_STEPS_MAX &&
           graphs->family != 0 && !graphs->has_threads && !is_training && (graphs->has_repeat || !graphs->has_change) &&
           unlike <= UNLIKE_RATIO_MAX * (double)graphs->group_count;
}
