/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives things the numbers of the trace. In a ring, a heap, a device and a stack have numbers of their process or thread;
 * in the trace all processes share one table of each, and equal frames and stacks are one. Every new thing becomes a
 * definition, and an ALIAS says how the rings call it, for a recovery.
 */
#ifndef NM_DRAIN_UNIFY_H
#define NM_DRAIN_UNIFY_H

#include "base/map.h"
#include "base/strings.h"
#include "drain/namer.h"
#include "drain/view.h"
#include "trace/block.h"

/* How one thread's own numbers, of stacks or of Python frames, are called in the trace. It counts from 1, and records may have been
 * dropped: however many those were, it costs what is there. */
typedef struct nm_stack_table {
    nm_map ids; /* by the thread's number; 0: its record was dropped */
} nm_stack_table;

typedef struct nm_module_range { /* where a module lies in a process */
    uint64_t base, end;
    uint32_t path; /* nm_strings number */
    uint64_t inode, device;
    uint64_t module_id; /* its definition; 0: none yet */
    uint32_t file;      /* number of the nm_module_file */
} nm_module_range;

typedef struct
    nm_module_file { /* what a module is loaded from: the same path may be another file later, or elsewhere */
    uint64_t path, inode, device;
    uint64_t module_id; /* the first definition of such a module */
} nm_module_file;

typedef struct nm_unify_module { /* the last one that lay at one address of a process */
    nm_definition definition;
    uint32_t file;
} nm_unify_module;

typedef struct nm_process_modules { /* the modules of a process, by address */
    nm_module_range *items;
    size_t count, capacity;
    uint64_t parent_number; /* of a forked process: what it does not know, its parent knew */
} nm_process_modules;

typedef struct nm_unify {
    nm_trace_writer *writer; /* borrowed */
    const nm_namer *namer;   /* borrowed, or NULL: frames stay module and offset */

    nm_strings strings;
    nm_map heaps, devices;   /* (process, local number) -> number */
    nm_map frames;           /* (module file, offset) -> number */
    nm_strings file_numbers; /* bytes of an nm_module_file without its module -> its number */
    nm_module_file *files;   /* by number - 1 */
    size_t file_capacity;
    nm_map python_frames; /* (function and file, line) -> number */
    nm_map stacks;        /* (parent, frame) -> number */
    nm_map thread_index;  /* thread -> index in threads */
    nm_definition *threads;
    size_t thread_count, thread_capacity;
    nm_map space_index; /* process -> index in spaces */
    nm_process_modules *spaces;
    size_t space_count, space_capacity;
    nm_map module_index; /* (process, base) -> index in modules */
    nm_unify_module *modules;
    size_t module_total, module_capacity;
    nm_key *frame_keys; /* of the frames that this unify made, in the order of their numbers */
    size_t frame_total, frame_capacity;

    /* A recovery goes on behind what the trace defines already: its first numbers, and who defines those again. */
    uint64_t string_base, heap_count, device_count, module_count, attribute_count, frame_count, stack_count;
    nm_status (*recall)(void *context, nm_definition_kind kind, uint64_t id, nm_error *err);
    void *recall_context;
} nm_unify;

void nm_unify_init(nm_unify *unify, nm_trace_writer *writer, const nm_namer *namer);
void nm_unify_fini(nm_unify *unify);

/* The number of a text, defined when it is new; 0 for an empty one. */
nm_status nm_unify_text(nm_unify *unify, nm_bytes text, uint64_t *id, nm_error *err);

/* Says that `process` is a fork of `parent`: until it states a module of its own, it has its parent's. */
nm_status nm_unify_fork(nm_unify *unify, uint64_t process, uint64_t parent, nm_error *err);

/* Defines a thread, or names it anew. A thread that was never defined can not be named: nothing happens. */
nm_status nm_unify_thread(nm_unify *unify, uint64_t process, uint64_t thread, int64_t tid, uint64_t ring_id,
                          nm_bytes name, nm_error *err);
nm_status nm_unify_thread_name(nm_unify *unify, uint64_t thread, nm_bytes name, nm_error *err);

nm_status nm_unify_define_heap(nm_unify *unify, uint64_t process, const nm_ring_heap *heap, nm_bytes name,
                               nm_error *err);
nm_status nm_unify_define_device(nm_unify *unify, uint64_t process, const nm_ring_device *device, nm_bytes name,
                                 nm_error *err);
nm_status nm_unify_define_module(nm_unify *unify, uint64_t process, const nm_ring_module *module, nm_bytes path,
                                 nm_error *err);

/* Says what was set or installed: nm_attribute_source. An empty value is one. */
nm_status nm_unify_attribute(nm_unify *unify, uint64_t process, uint64_t source, nm_bytes name, nm_bytes value,
                             nm_error *err);

/* The trace's numbers for a process's own; 0 stays 0. What is not defined yet gets its number now. */
nm_status nm_unify_heap(nm_unify *unify, uint64_t process, uint64_t local_id, uint64_t *id, nm_error *err);
nm_status nm_unify_device(nm_unify *unify, uint64_t process, uint64_t local_id, uint64_t *id, nm_error *err);

typedef struct nm_unify_frames { /* of a stack, innermost first, as nm_ring_stack has them */
    const uint64_t *words;
    size_t depth;
    uint64_t end;                 /* nm_stack_end */
    const nm_stack_table *python; /* the thread's Python frames */
} nm_unify_frames;

/* Defines what a thread calls stack `local_id`. */
nm_status nm_unify_define_stack(nm_unify *unify, uint64_t process, uint64_t thread, uint64_t local_id,
                                const nm_unify_frames *frames, nm_stack_table *table, nm_error *err);

typedef struct nm_unify_python {
    nm_bytes function, file; /* borrowed */
    uint64_t line, version;
} nm_unify_python;

/* Defines what a thread calls Python frame `local_id`: a frame without a place in a module. */
nm_status nm_unify_define_python(nm_unify *unify, uint64_t thread, uint64_t local_id, const nm_unify_python *python,
                                 nm_stack_table *table, nm_error *err);

/* Says again what is not repeated by its use: processes, heaps, devices and how they are called, modules, attributes; one
 * thread; how a thread calls its stacks. */
nm_status nm_unify_repeat(nm_unify *unify, nm_error *err);
nm_status nm_unify_repeat_thread(nm_unify *unify, uint64_t thread, nm_error *err);
nm_status nm_unify_repeat_aliases(nm_unify *unify, uint64_t thread, uint64_t kind, const nm_stack_table *table,
                                  nm_error *err); /* kind: 0 for stacks, NM_ALIAS_FRAME for Python frames */

/* Takes the answers that have come and defines those frames and modules again, with their names. */
nm_status nm_unify_take_names(nm_unify *unify, nm_error *err);

/* Remembers what a trace says already (recovery). Fills in the range's path and file. */
nm_status nm_unify_learn_module(nm_unify *unify, uint64_t process, nm_module_range *range, nm_bytes path,
                                nm_error *err);
nm_status nm_stack_table_set(nm_stack_table *table, uint64_t local_id, uint64_t id, nm_error *err);
const uint64_t *nm_stack_table_find(const nm_stack_table *table, uint64_t local_id); /* NULL: nothing has been set */
void nm_stack_table_free(nm_stack_table *table);

#endif
