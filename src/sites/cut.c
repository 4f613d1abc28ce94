/* SPDX-License-Identifier: Apache-2.0
 *
 * A stack ends where its caller's ends, so each takes over what is known of its caller's end, and only the outermost
 * frames are looked at: what the trace says of them, else their names, by the same GLOB that plumbing is matched with.
 */
#include "sites/cut.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sites/site.h"

/* What calls main, the functions of threads and what libraries run when they are loaded. */
static const char *const entry_functions[] = {"main",
                                              "_start",
                                              "__libc_start*",
                                              "start_thread*",
                                              "clone",
                                              "clone3",
                                              "__clone*",
                                              "thread_start",
                                              "execute_native_thread_routine*",
                                              "*__thread_proxy*",
                                              "call_init*",
                                              "_dl_*"};
static const char *const entry_modules[] = {"libc.so*", "libc-[0-9]*.so*", "libc.musl*",   "libpthread*.so*",
                                            "ld-*.so*", "ld64.so*",        "libstdc++.so*"};
static const char *const clones[] = {"clone", "clone3", "__clone*", "thread_start"};

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static bool matches(const char *text, const char *const *patterns, size_t count)
{
    for (size_t i = 0; text != NULL && i < count; i++)
        if (sqlite3_strglob(patterns[i], text) == 0)
            return true;
    return false;
}

static const char *module_name(const nm_definitions *definitions, const nm_frame *frame)
{
    return nm_path_name((const char *)nm_definitions_text(definitions, frame->frame.module).data);
}

bool nm_cut_is_entry(const nm_definitions *definitions, const nm_frame *frame)
{
    return nm_site_is_python(definitions, frame) ||
           matches(nm_site_function(definitions, frame), entry_functions, COUNT_OF(entry_functions)) ||
           matches(module_name(definitions, frame), entry_modules, COUNT_OF(entry_modules));
}

typedef struct walk_end {
    uint8_t end;      /* nm_stack_end: what the trace says */
    uint32_t depth;   /* frames from here to the outermost one */
    bool is_known;    /* all of them are */
    bool is_entry;    /* the outermost one begins a thread */
    bool is_in_full;  /* part of a stack that is as deep as was asked for */
    bool is_at_clone; /* and this is it: what it calls, which is libc's too, must follow inwards */
} walk_end;

static walk_end end_of(const nm_definitions *definitions, const walk_end *ends, size_t index)
{
    const nm_stack_node *node = &definitions->stacks.items[index];
    const nm_frame *frame = nm_frame_find(definitions, node->frame_id);
    size_t parent = nm_id_map_find(&definitions->stacks.by_id, node->parent_id);
    walk_end end = {.depth = 1, .is_known = frame != NULL};

    if (frame == NULL || (node->parent_id != 0 && parent >= index))
        return (walk_end){0};
    if (node->parent_id == 0) {
        end.end = node->end;
        end.is_entry = nm_cut_is_entry(definitions, frame);
        end.is_at_clone = matches(nm_site_function(definitions, frame), clones, COUNT_OF(clones));
        return end;
    }
    end = ends[parent];
    end.depth++;
    if (end.is_at_clone) /* else code without frame pointers was passed over on the way to it */
        end.is_entry = nm_cut_is_entry(definitions, frame);
    end.is_at_clone = false;
    return end;
}

/* A stack is numbered after its caller. */
static void mark_full(const nm_definitions *definitions, walk_end *ends, uint64_t native_depth)
{
    for (size_t index = definitions->stacks.count; index-- > 0;) {
        size_t parent = nm_id_map_find(&definitions->stacks.by_id, definitions->stacks.items[index].parent_id);

        ends[index].is_in_full = ends[index].is_in_full || ends[index].depth >= native_depth;
        if (ends[index].is_in_full && parent < index)
            ends[parent].is_in_full = true;
    }
}

static nm_walk judge(const walk_end *end)
{
    if (end->end != NM_STACK_END_UNKNOWN)
        return end->end == NM_STACK_END_CUT ? NM_WALK_CUT : NM_WALK_WHOLE;
    if (end->is_entry)
        return NM_WALK_WHOLE;
    return end->is_known && !end->is_in_full ? NM_WALK_CUT : NM_WALK_UNKNOWN;
}

nm_status nm_cuts_mark(nm_definitions *definitions, uint64_t native_depth, nm_error *err)
{
    size_t count = definitions->stacks.count;
    walk_end *ends;

    if (native_depth == 0)
        return NM_OK;
    ends = calloc(count + 1, sizeof *ends);
    if (ends == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t index = 0; index < count; index++)
        ends[index] = end_of(definitions, ends, index);
    mark_full(definitions, ends, native_depth);
    for (size_t index = 0; index < count; index++)
        definitions->stacks.items[index].walk = (uint8_t)judge(&ends[index]);
    free(ends);
    return NM_OK;
}
