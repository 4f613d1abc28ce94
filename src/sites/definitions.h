/* SPDX-License-Identifier: Apache-2.0
 *
 * What things are called: keeps the last definition of every process, thread, device, heap, frame, stack and string until
 * the end of the load, because a definition may come again with more known. Memory grows with distinct places in the
 * program, never with events.
 */
#ifndef NM_SITES_DEFINITIONS_H
#define NM_SITES_DEFINITIONS_H

#include "base/id_map.h"
#include "base/id_set.h"
#include "base/map.h"
#include "base/strings.h"
#include "trace/event.h"

typedef struct nm_stack_node {
    uint64_t stack_id;
    uint64_t parent_id;
    uint64_t frame_id;
    uint32_t site; /* for sites/site.c: see there */
    uint8_t walk;  /* nm_walk, from sites/cut.c */
    uint8_t end;   /* nm_stack_end, of an outermost one */
} nm_stack_node;

/* As the stream defines it (trace/event.h says what is what), in little more than half the room. */
typedef struct nm_frame {
    uint64_t id;
    struct {
        uint64_t line, offset, inlined_in, module_id;
        uint32_t function, file, module; /* numbers of `strings` */
    } frame;
} nm_frame;

typedef struct nm_definition_list { /* of one kind */
    nm_definition *items;
    size_t count, capacity;
    nm_id_map by_id; /* index into items */
    nm_id_set ids;
} nm_definition_list;

typedef struct nm_definitions {
    nm_strings strings;
    nm_id_map string_numbers; /* number in the stream -> number in `strings` */
    nm_definition_list processes, threads, devices, heaps, modules, attributes;
    nm_map build_ids; /* module -> number in `strings` */
    struct nm_frame_list {
        nm_frame *items;
        size_t count, capacity;
        nm_id_map by_id;
        nm_id_set ids;
    } frames;
    struct {
        nm_stack_node *items;
        size_t count, capacity;
        nm_id_map by_id;
        nm_id_set ids;
    } stacks;
} nm_definitions;

/* Strings inside the definition become numbers of `strings`. Kinds that no table shows are ignored. */
nm_status nm_definitions_add(nm_definitions *definitions, const nm_definition *definition, nm_error *err);

/* The number in `strings` of a string of the stream; 0 when it is not there. */
uint32_t nm_definitions_number(const nm_definitions *definitions, uint64_t stream_string);

/* The text behind a number that nm_definitions_add or _number gave; {NULL, 0} for 0. */
nm_bytes nm_definitions_text(const nm_definitions *definitions, uint64_t number);

/* The bytes of a module's build id; empty: not known. */
nm_bytes nm_definitions_build_id(const nm_definitions *definitions, uint64_t module_id);

/* NULL: not defined. */
const nm_definition *nm_definition_find(const nm_definition_list *list, uint64_t id);
const nm_frame *nm_frame_find(const nm_definitions *definitions, uint64_t id);

/* Orders the items of every list by their number. No add after it, but for what follows. */
nm_status nm_definitions_sort(nm_definitions *definitions, nm_error *err);

/* Adds a frame whose strings are numbers of `strings` already, or a stack, behind all others; *id is its number. NM_END:
 * there are too many. */
nm_status nm_definitions_append_frame(nm_definitions *definitions, const nm_frame *frame, uint64_t *id, nm_error *err);
nm_status nm_definitions_append_stack(nm_definitions *definitions, uint64_t parent_id, uint64_t frame_id, uint64_t *id,
                                      nm_error *err);

void nm_definitions_free(nm_definitions *definitions);

#endif
