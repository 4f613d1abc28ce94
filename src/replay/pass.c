/* SPDX-License-Identifier: Apache-2.0
 *
 * Which passes run, where their rooms lie and who is told what: decided once, when the replay is made. For each kind of
 * change there is a list of the runs that hear it, so that nobody else is asked. Each run that may hear it has a place in the
 * order, from which the next one is known also while it does not: so a run may begin or stop to hear a kind while that is
 * told.
 */
#include "replay/pass.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>

#include "replay/lookup.h"

typedef struct listener { /* a run that wants a kind */
    nm_told *take;
    nm_run *run;
    struct listener *next; /* that hears it */
} listener;

struct nm_runs {
    nm_replay *replay; /* borrowed: whose they are */
    size_t count;
    nm_run *items;                        /* owned; each behind those that it needs */
    listener *first[NM_CHANGE_KINDS];     /* who hears it first, or NULL */
    listener *places;                     /* owned: of all kinds, in their order */
    listener *begin[NM_CHANGE_KINDS + 1]; /* of the kind's places, up to those of the next */
    size_t bytes[NM_OWNERS];              /* of the struct and of all rooms behind it */
};

static_assert(NM_CHANGE_KINDS <= 64, "a bit for each in nm_replay.wanted");

/* ---- Which run ----------------------------------------------------------------------------------------------------- */

static bool gives_wanted(const nm_pass *pass, const nm_sink *sink)
{
    for (int kind = 0; kind < NM_ROW_KINDS; kind++)
        if (pass->gives[kind] && sink->wants[kind])
            return true;
    return false;
}

static nm_run *find_run(const nm_runs *runs, const nm_pass *pass)
{
    for (size_t i = 0; i < runs->count; i++)
        if (runs->items[i].pass == pass)
            return &runs->items[i];
    return NULL;
}

/* Behind those that it needs, of which none needs it. */
static void add_run(nm_runs *runs, const nm_pass *pass)
{
    nm_run run = {.replay = runs->replay, .pass = pass};

    if (find_run(runs, pass) != NULL)
        return;
    for (size_t i = 0; pass->needs != NULL && pass->needs[i] != NULL; i++) {
        assert(i < NM_PASS_NEEDS_MAX);
        add_run(runs, pass->needs[i]);
        run.needs[i] = find_run(runs, pass->needs[i]);
    }
    runs->items[runs->count++] = run;
}

/* ---- Rooms and lists ----------------------------------------------------------------------------------------------- */

/* Where a room of so many bytes may begin from `at` on: a size is a multiple of what its struct is aligned to. */
static size_t place_of(size_t at, size_t room_bytes)
{
    size_t alignment = room_bytes & (~room_bytes + 1);

    if (alignment > alignof(max_align_t))
        alignment = alignof(max_align_t);
    return (at + alignment - 1) / alignment * alignment;
}

static void lay_out_rooms(nm_runs *runs)
{
    static const size_t owner_bytes[NM_OWNERS] = {
        [NM_OWNER_PROCESS] = sizeof(nm_process), [NM_OWNER_THREAD] = sizeof(nm_thread),
        [NM_OWNER_DEVICE] = sizeof(nm_device),   [NM_OWNER_HARDWARE] = sizeof(nm_device_group),
        [NM_OWNER_HEAP] = sizeof(nm_heap),       [NM_OWNER_SUB_POOL] = sizeof(nm_sub_pool),
        [NM_OWNER_SITE] = sizeof(nm_site),       [NM_OWNER_PAST] = sizeof(nm_past),
        [NM_OWNER_LIVE] = sizeof(nm_live),       [NM_OWNER_OPERATION] = sizeof(nm_operation),
    };

    for (int owner = 0; owner < NM_OWNERS; owner++) {
        runs->bytes[owner] = owner_bytes[owner];
        for (size_t i = 0; i < runs->count; i++) {
            nm_run *run = &runs->items[i];

            if (run->pass->room[owner] == 0)
                continue;
            run->offset[owner] = place_of(runs->bytes[owner], run->pass->room[owner]);
            runs->bytes[owner] = run->offset[owner] + run->pass->room[owner];
        }
    }
}

static nm_status make_own_rooms(const nm_runs *runs, nm_error *err)
{
    for (size_t i = 0; i < runs->count; i++) {
        nm_run *run = &runs->items[i];
        size_t bytes = run->pass->room[NM_OWNER_REPLAY];

        run->own = bytes == 0 ? NULL : nm_replay_allocate(bytes, err);
        if (run->own == NULL && bytes != 0)
            return NM_ERR_MEMORY;
    }
    return NM_OK;
}

static uint64_t bit_of(nm_change_kind kind)
{
    return UINT64_C(1) << kind;
}

/* Who hears the kind is known anew. */
static void link_listeners(nm_runs *runs, nm_change_kind kind)
{
    listener *next = NULL;

    for (listener *who = runs->begin[kind + 1]; who > runs->begin[kind];) {
        who--;
        who->next = next;
        if ((who->run->heard & bit_of(kind)) != 0)
            next = who;
    }
    runs->first[kind] = next;
    if (next != NULL)
        runs->replay->wanted |= bit_of(kind);
    else
        runs->replay->wanted &= ~bit_of(kind);
}

void nm_run_hear(nm_run *run, nm_change_kind kind, bool is_heard)
{
    assert(run->pass->wants[kind] != NULL && run->pass->at_times[kind]);
    if (((run->heard & bit_of(kind)) != 0) == is_heard)
        return;
    run->heard ^= bit_of(kind);
    link_listeners(run->replay->runs, kind);
}

static void list_listeners(nm_runs *runs)
{
    listener *next = runs->places;

    for (nm_change_kind kind = 0; kind < NM_CHANGE_KINDS; kind++) {
        runs->begin[kind] = next;
        for (size_t i = 0; i < runs->count; i++) {
            nm_run *run = &runs->items[i];

            if (run->pass->wants[kind] == NULL)
                continue;
            *next++ = (listener){.take = run->pass->wants[kind], .run = run};
            if (!run->pass->at_times[kind])
                run->heard |= bit_of(kind);
        }
        runs->begin[kind + 1] = next;
        link_listeners(runs, kind);
    }
}

/* ---- All ----------------------------------------------------------------------------------------------------------- */

nm_status nm_runs_new(nm_replay *replay, const nm_pass *const *table, nm_error *err)
{
    nm_runs *runs = nm_replay_allocate(sizeof *runs, err);
    size_t table_count = 0;

    if (runs == NULL)
        return NM_ERR_MEMORY;
    replay->runs = runs;
    runs->replay = replay;
    while (table != NULL && table[table_count] != NULL)
        table_count++;
    runs->items = nm_replay_allocate((table_count + 1) * sizeof *runs->items, err);
    runs->places = nm_replay_allocate((table_count + 1) * NM_CHANGE_KINDS * sizeof *runs->places, err);
    if (runs->items == NULL || runs->places == NULL)
        return NM_ERR_MEMORY;
    for (size_t at = 0; at < table_count; at++)
        if (gives_wanted(table[at], &replay->sink))
            add_run(runs, table[at]);
    lay_out_rooms(runs);
    list_listeners(runs);
    return make_own_rooms(runs, err);
}

size_t nm_runs_bytes_of(const nm_replay *replay, nm_owner owner)
{
    return replay->runs->bytes[owner];
}

nm_status nm_runs_tell(const nm_replay *replay, const nm_change *change, nm_error *err)
{
    nm_status status = NM_OK;

    for (const listener *who = replay->runs->first[change->kind]; who != NULL && status == NM_OK; who = who->next)
        status = who->take(who->run, change, err);
    return status;
}

nm_status nm_runs_finish(const nm_replay *replay, nm_error *err)
{
    const nm_runs *runs = replay->runs;
    nm_status status = NM_OK;

    for (size_t i = 0; i < runs->count && status == NM_OK; i++)
        if (runs->items[i].pass->finish != NULL)
            status = runs->items[i].pass->finish(&runs->items[i], err);
    return status;
}

nm_status nm_runs_save(const nm_replay *replay, const nm_heap *heap, const nm_keyframe_out *out, nm_error *err)
{
    const nm_runs *runs = replay->runs;
    nm_status status = NM_OK;

    for (size_t i = 0; i < runs->count && status == NM_OK; i++)
        if (runs->items[i].pass->save != NULL)
            status = runs->items[i].pass->save(&runs->items[i], heap, out, err);
    return status;
}

nm_status nm_runs_restore(const nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_runs *runs = replay->runs;
    nm_status status = NM_OK;

    for (size_t i = 0; i < runs->count && status == NM_OK; i++)
        if (runs->items[i].pass->restore != NULL)
            status = runs->items[i].pass->restore(&runs->items[i], context, err);
    return status;
}

void nm_runs_free(nm_replay *replay)
{
    nm_runs *runs = replay->runs;

    if (runs == NULL)
        return;
    for (size_t i = runs->items == NULL ? 0 : runs->count; i-- > 0;) {
        nm_run *run = &runs->items[i];

        if (run->pass->release != NULL && (run->own != NULL || run->pass->room[NM_OWNER_REPLAY] == 0))
            run->pass->release(run);
        free(run->own);
    }
    free(runs->items);
    free(runs->places);
    free(runs);
    replay->runs = NULL;
}
