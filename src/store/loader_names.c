/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of names, written at the end of the load, when the last definition of each is known.
 */
#include "store/loader.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "sites/cut.h"
#include "sites/inlined.h"
#include "sites/site.h"
#include "sites/wrapper.h"
#include "store/loader_values.h"
#include "store/plumbing.h"

#define SMALL_BYTES_DEFAULT 4096
#define LARGE_BYTES_DEFAULT 1048576

static const char *baseline_name(nm_baseline kind)
{
    return kind == NM_BASELINE_UNKNOWN ? "unknown" : kind == NM_BASELINE_KNOWN ? "known" : "none";
}

static nm_status write_input(nm_loader *loader, const nm_store_input *input, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_INPUT];

    nm_insert_id(insert, NM_INPUT_ID);
    nm_insert_text(insert, input->path);
    nm_insert_text(insert, input->kind);
    nm_insert_int(insert, input->start_realtime_ns);
    nm_insert_text(insert, input->order_kind);
    nm_insert_int(insert, input->is_complete);
    nm_insert_int(insert, (int64_t)input->events_seen);
    nm_insert_int(insert, (int64_t)input->events_ingested);
    nm_insert_int(insert, (int64_t)input->events_dropped);
    nm_insert_int(insert, (int64_t)input->events_damaged);
    nm_insert_int(insert, (int64_t)input->events_unrecovered);
    nm_insert_int(insert, (int64_t)input->events_late);
    nm_insert_int(insert, (int64_t)input->bytes_cut);
    nm_insert_int(insert, (int64_t)input->events_without_stack);
    nm_insert_int(insert, input->is_finished);
    nm_insert_int(insert, (int64_t)loader->unknown_reference_count);
    nm_insert_int(insert, input->first_seq);
    nm_insert_int(insert, input->last_seq);
    nm_insert_int(insert, (int64_t)input->events_unkept);
    nm_insert_int(insert, input->is_late_begin ? input->detail_begin_seq : NM_NULL);
    nm_insert_int(insert, input->is_late_begin ? input->detail_begin_ns : NM_NULL);
    nm_insert_text(insert, baseline_name(loader->baseline.kind));
    nm_insert_int(insert, (int64_t)loader->baseline.unseen_free_count);
    nm_insert_int(insert, 0); /* processes: counted when all rows are there */
    nm_insert_int(insert, 0);
    nm_insert_text(insert, nm_retention_name(loader->retention));
    nm_insert_int(insert, input->is_loss_exact);
    nm_insert_int(insert, (int64_t)input->processes_unjoined);
    nm_insert_int(insert, (int64_t)input->blocks_outside);
    return nm_insert_end(insert, err);
}

static const char *end_name(nm_process_end end)
{
    switch (end) {
    case NM_PROCESS_EXIT:
        return "exit";
    case NM_PROCESS_SIGNAL:
        return "signal";
    case NM_PROCESS_EXEC:
        return "exec";
    default:
        return "running";
    }
}

static const char *run_mode_name(int64_t run_mode)
{
    return run_mode == 0 ? "device" : run_mode == 1 ? "host" : NULL;
}

static nm_status write_process(nm_loader *loader, const nm_definition *process, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_PROCESS];
    const nm_definitions *definitions = &loader->definitions;
    const uint64_t *place = nm_map_get(&loader->process_end_of, (nm_key){0, process->id});
    nm_process_end_row end = {.end_ns = NM_NULL, .end_status = NM_NULL};

    if (place != NULL)
        end = loader->process_ends.items[*place];
    if (end.end_kind == NM_PROCESS_RUNNING || end.end_status == -1)
        end.end_status = NM_NULL;
    nm_insert_id(insert, process->id);
    nm_insert_id(insert, NM_INPUT_ID);
    nm_insert_id(insert, nm_loader_known(loader, &definitions->processes.ids, process->process.parent_id));
    nm_insert_int(insert, process->process.pid);
    nm_insert_bytes(insert, nm_definitions_text(definitions, process->process.host));
    nm_insert_int(insert, process->process.rank);
    nm_insert_int(insert, process->process.local_rank);
    nm_insert_bytes(insert, nm_definitions_text(definitions, process->process.command));
    nm_insert_text(insert, run_mode_name(process->process.run_mode));
    nm_insert_int(insert, process->process.begin_ns);
    nm_insert_int(insert, end.end_ns);
    nm_insert_text(insert, end_name(end.end_kind));
    nm_insert_int(insert, end.end_status);
    nm_insert_int(insert, process->process.world_size);
    return nm_insert_end(insert, err);
}

static nm_status write_thread(nm_loader *loader, const nm_definition *thread, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_THREAD];

    nm_insert_id(insert, thread->id);
    nm_insert_id(insert, nm_loader_process(loader, thread->thread.process_id));
    nm_insert_int(insert, thread->thread.tid);
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, thread->thread.name));
    return nm_insert_end(insert, err);
}

static nm_status write_attribute(nm_loader *loader, const nm_definition *attribute, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_PROCESS_ENVIRONMENT];
    nm_bytes value = nm_definitions_text(&loader->definitions, attribute->attribute.value);

    nm_insert_id(insert, attribute->id);
    nm_insert_id(insert, nm_loader_process(loader, attribute->attribute.process_id));
    nm_insert_text(insert, attribute->attribute.source == NM_ATTRIBUTE_VERSION ? "version" : "environment");
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, attribute->attribute.name));
    nm_insert_bytes(insert, value.len == 0 ? (nm_bytes){(const uint8_t *)"", 0} : value);
    return nm_insert_end(insert, err);
}

static nm_status write_device(nm_loader *loader, const nm_definition *device, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_DEVICE];

    nm_insert_id(insert, device->id);
    nm_insert_id(insert, nm_loader_process(loader, device->device.process_id));
    nm_insert_int(insert, device->device.ordinal);
    nm_insert_int(insert, device->device.physical_ordinal);
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, device->device.device_kind));
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, device->device.name));
    nm_insert_id(insert, device->device.capacity_bytes);
    return nm_insert_end(insert, err);
}

static nm_status write_heap(nm_loader *loader, const nm_definition *heap, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_HEAP];
    uint64_t small_bytes = heap->heap.small_bytes == 0 ? SMALL_BYTES_DEFAULT : heap->heap.small_bytes;
    uint64_t large_bytes = heap->heap.large_bytes == 0 ? LARGE_BYTES_DEFAULT : heap->heap.large_bytes;
    bool is_level_known = heap->heap.level >= NM_LEVEL_DRIVER && heap->heap.level <= NM_LEVEL_MAX;

    nm_insert_id(insert, heap->id);
    nm_insert_id(insert, nm_loader_process(loader, heap->heap.process_id));
    nm_insert_id(insert, nm_loader_device(loader, heap->heap.device_id));
    nm_insert_id(insert, is_level_known ? heap->heap.level : 0);
    nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, heap->heap.name));
    nm_insert_text(insert, heap->heap.size_basis == NM_BASIS_BLOCK ? "block" : "requested");
    nm_insert_int(insert, (int64_t)small_bytes);
    nm_insert_int(insert, (int64_t)large_bytes);
    nm_insert_id(insert, heap->heap.module_id);
    return nm_insert_end(insert, err);
}

/* Hexadecimal, as readelf and debuggers show it. Empties *out first. */
static nm_status build_id_text(nm_bytes build_id, nm_buffer *out, nm_error *err)
{
    static const char digits[] = "0123456789abcdef";
    nm_status status = NM_OK;

    out->len = 0;
    for (size_t i = 0; i < build_id.len && status == NM_OK; i++) {
        char pair[2] = {digits[build_id.data[i] >> 4], digits[build_id.data[i] & 15]};

        status = nm_buffer_append(out, pair, sizeof pair, err);
    }
    return status;
}

static nm_status write_module(nm_loader *loader, const nm_definition *module, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_MODULE];
    nm_buffer build_id = {0};
    nm_status status = build_id_text(nm_definitions_build_id(&loader->definitions, module->id), &build_id, err);

    if (status == NM_OK) {
        nm_insert_id(insert, module->id);
        nm_insert_id(insert, nm_loader_process(loader, module->module.process_id));
        nm_insert_bytes(insert, nm_definitions_text(&loader->definitions, module->module.path));
        nm_insert_bytes(insert, (nm_bytes){build_id.data, build_id.len});
        nm_insert_int(insert, (int64_t)module->module.base);
        nm_insert_int(insert, (int64_t)module->module.bytes);
        status = nm_insert_end(insert, err);
    }
    nm_buffer_free(&build_id);
    return status;
}

static nm_status write_frame(nm_loader *loader, const nm_definition *frame, bool is_plumbing, nm_buffer *label,
                             nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_FRAME];
    const nm_definitions *definitions = &loader->definitions;
    nm_status status = nm_site_label(definitions, frame, label, err);

    if (status != NM_OK)
        return status;
    nm_insert_id(insert, frame->id);
    nm_insert_bytes(insert, nm_definitions_text(definitions, frame->frame.function));
    nm_insert_bytes(insert, nm_definitions_text(definitions, frame->frame.file));
    nm_insert_id(insert, frame->frame.line);
    nm_insert_bytes(insert, nm_definitions_text(definitions, frame->frame.module));
    nm_insert_int(insert, frame->frame.module == 0 ? NM_NULL : (int64_t)frame->frame.offset);
    nm_insert_bytes(insert, (nm_bytes){label->data, label->len});
    nm_insert_int(insert, is_plumbing);
    nm_insert_id(insert, nm_loader_known(loader, &definitions->frames.ids, frame->frame.inlined_in));
    nm_insert_id(insert, nm_loader_known(loader, &definitions->modules.ids, frame->frame.module_id));
    nm_insert_int(insert, 0);
    return nm_insert_end(insert, err);
}

static nm_status write_frames(nm_loader *loader, const nm_sites *sites, nm_error *err)
{
    const nm_definition_list *frames = &loader->definitions.frames;
    nm_buffer label = {0};
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < frames->count; index++)
        status = write_frame(loader, &frames->items[index], sites->is_plumbing[index] != 0, &label, err);
    nm_buffer_free(&label);
    return status;
}

static nm_status write_stack(nm_loader *loader, const nm_stack_node *stack, uint64_t site_frame_id, nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_STACK];
    const nm_definitions *definitions = &loader->definitions;

    nm_insert_id(insert, stack->stack_id);
    nm_insert_id(insert, nm_loader_known(loader, &definitions->stacks.ids, stack->parent_id));
    nm_insert_id(insert, nm_loader_known(loader, &definitions->frames.ids, stack->frame_id));
    nm_insert_id(insert, site_frame_id);
    nm_insert_int(insert, stack->walk == NM_WALK_CUT);
    return nm_insert_end(insert, err);
}

static const char *word_of(const nm_attribution *attribution)
{
    switch (attribution->kind) {
    case NM_ATTRIBUTION_OPERATOR:
        return "operator ";
    case NM_ATTRIBUTION_THREAD:
        return "thread ";
    case NM_ATTRIBUTION_CUT:
        return attribution->name.len == 0 ? "(stack cut)" : "(stack cut) thread ";
    default:
        return "";
    }
}

/* A frame that stands for no place in the code. */
static nm_status write_attribution_frame(nm_loader *loader, const nm_attribution *attribution, uint64_t frame_id,
                                         nm_error *err)
{
    nm_insert *insert = &loader->tables[NM_TABLE_FRAME];
    nm_buffer label = {0};
    const char *word = word_of(attribution);
    nm_status status = nm_buffer_append(&label, word, strlen(word), err);

    if (status == NM_OK)
        status = nm_buffer_append(&label, attribution->name.data, attribution->name.len, err);
    if (status == NM_OK) {
        nm_insert_id(insert, frame_id);
        nm_insert_bytes(insert, attribution->name);
        nm_insert_text(insert, NULL);
        nm_insert_id(insert, 0);
        nm_insert_text(insert, NULL);
        nm_insert_int(insert, NM_NULL);
        nm_insert_bytes(insert, (nm_bytes){label.data, label.len});
        nm_insert_int(insert, 0);
        nm_insert_id(insert, 0);
        nm_insert_id(insert, 0);
        nm_insert_int(insert, attribution->kind == NM_ATTRIBUTION_CUT);
        status = nm_insert_end(insert, err);
    }
    nm_buffer_free(&label);
    return status;
}

/* The number of the frame that stands for a attribution, written when it is the first of its name. */
static nm_status attribution_frame(nm_loader *loader, const nm_attribution *attribution, nm_map *known,
                                   uint64_t *last_id, uint64_t *id, nm_error *err)
{
    nm_key key = {attribution->kind, nm_checksum(attribution->name.data, attribution->name.len)};
    const uint64_t *there = nm_map_get(known, key);

    if (there != NULL) {
        *id = *there;
        return NM_OK;
    }
    *id = ++*last_id;
    nm_status status = nm_map_put(known, key, *id, err);
    return status == NM_OK ? write_attribution_frame(loader, attribution, *id, err) : status;
}

static nm_status write_sites(nm_loader *loader, const nm_sites *sites, nm_error *err)
{
    const nm_definitions *definitions = &loader->definitions;
    const nm_definition_list *frames = &definitions->frames;
    uint64_t last_id = frames->count == 0 ? 0 : frames->items[frames->count - 1].id;
    nm_attribution *attributions = NULL;
    nm_map known = {0};
    nm_status status = nm_attributions_find(&loader->stack_uses, definitions, sites, &attributions, err);

    for (size_t index = 0; status == NM_OK && index < definitions->stacks.count; index++) {
        const nm_stack_node *stack = &definitions->stacks.items[index];
        uint64_t site_frame_id = stack->site == 0 ? 0 : frames->items[stack->site - 1].id;

        if (attributions[index].kind != NM_ATTRIBUTION_NONE)
            status = attribution_frame(loader, &attributions[index], &known, &last_id, &site_frame_id, err);
        if (status == NM_OK)
            status = write_stack(loader, stack, site_frame_id, err);
    }
    nm_map_free(&known);
    free(attributions);
    return status;
}

static nm_status write_stacks(nm_loader *loader, nm_error *err)
{
    const nm_wrapper_taker taker = {loader->db, nm_plumbing_take_wrapper};
    nm_patterns plumbing = {0};
    nm_sites sites = {0};
    nm_status status = nm_plumbing_read(loader->db, &plumbing, err);

    if (status == NM_OK)
        status = nm_sites_open(&plumbing, &loader->definitions, &sites, err);
    if (status == NM_OK)
        status = nm_wrappers_find(&loader->definitions, &loader->stack_uses.by_stack, &sites, &taker, err);
    if (status == NM_OK)
        nm_sites_resolve(&sites, &loader->definitions);
    if (status == NM_OK)
        status = write_frames(loader, &sites, err);
    if (status == NM_OK)
        status = write_sites(loader, &sites, err);
    nm_patterns_free(&plumbing);
    nm_sites_close(&sites);
    return status;
}

static nm_status write_list(nm_loader *loader, const nm_definition_list *list,
                            nm_status (*write)(nm_loader *, const nm_definition *, nm_error *), nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < list->count; index++)
        status = write(loader, &list->items[index], err);
    return status;
}

/* Whose memory of a device view device_memory shows: once sorted here, so that it need not look for names in samples. */
static nm_status write_device_modules(nm_loader *loader, nm_error *err)
{
    return nm_db_exec(loader->db,
                      "INSERT INTO device_module SELECT device_id, module FROM module_sample"
                      " WHERE device_id IS NOT NULL AND module IS NOT NULL"
                      " UNION SELECT heap.device_id, coalesce(cann_module.name, 'module ' || heap.module_id) FROM heap"
                      " LEFT JOIN cann_module ON cann_module.module_id = heap.module_id"
                      " WHERE heap.device_id IS NOT NULL AND heap.module_id IS NOT NULL AND heap.level = 1",
                      err);
}

nm_status nm_loader_write_names(nm_loader *loader, const nm_store_input *input, nm_error *err)
{
    nm_definitions *definitions = &loader->definitions;
    nm_status status = nm_definitions_sort(definitions, err);

    if (status == NM_OK)
        status = nm_frame_names_find(definitions, loader->namer, &loader->name_counts, err);
    if (status == NM_OK)
        status = nm_cuts_mark(definitions, input->native_depth, err);
    if (status == NM_OK)
        status = nm_inlined_expand(definitions, err);
    if (status == NM_OK)
        status = write_list(loader, &definitions->processes, write_process, err);
    if (status == NM_OK)
        status = write_list(loader, &definitions->threads, write_thread, err);
    if (status == NM_OK)
        status = write_list(loader, &definitions->attributes, write_attribute, err);
    if (status == NM_OK)
        status = write_list(loader, &definitions->devices, write_device, err);
    if (status == NM_OK)
        status = write_list(loader, &definitions->heaps, write_heap, err);
    if (status == NM_OK)
        status = write_device_modules(loader, err);
    if (status == NM_OK)
        status = write_list(loader, &definitions->modules, write_module, err);
    if (status == NM_OK)
        status = write_stacks(loader, err);
    if (status == NM_OK) /* last: by now all unknown references have been met */
        status = write_input(loader, input, err);
    return status;
}
