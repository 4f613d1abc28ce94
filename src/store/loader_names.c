/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of names, written at the end of the load, when the last definition of each is known.
 */
#include "store/loader_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "sites/cut.h"
#include "sites/inlined.h"
#include "sites/site.h"
#include "sites/wrapper.h"
#include "store/plumbing.h"

#define SMALL_BYTES_DEFAULT 4096
#define LARGE_BYTES_DEFAULT 1048576

static nm_status write_input(nm_loader *loader, const nm_input_row *input, nm_error *err)
{
    nm_input_row row = *input;

    row.unknown_reference_count = loader->unknown_reference_count;
    row.baseline = loader->baseline.kind;
    row.unseen_free_count = loader->baseline.unseen_free_count;
    row.detail = nm_retention_name(loader->retained.retention);
    row.has_window = loader->retained.retention == NM_RETENTION_WINDOW;
    row.window_begin_seq = loader->retained.window.begin_seq;
    row.window_end_seq = loader->retained.window.end_seq;
    row.window_begin_ns = loader->retained.window.begin_ns;
    row.window_end_ns = loader->retained.window.end_ns;
    return nm_give_input(&loader->sink, &row, err);
}

static nm_bytes text_of(const nm_loader *loader, uint64_t number)
{
    return nm_definitions_text(&loader->definitions, number);
}

static const char *run_mode_name(int64_t run_mode)
{
    return run_mode == 0 ? "device" : run_mode == 1 ? "host" : NULL;
}

static nm_status write_process(nm_loader *loader, const nm_definition *process, nm_error *err)
{
    const uint64_t *place = nm_map_get(&loader->process_end_of, (nm_key){0, process->id});
    nm_process_end_row end = {.end_ns = NM_NO_TIME, .end_status = NM_UNKNOWN_NUMBER};

    if (place != NULL)
        end = loader->process_ends.items[*place];
    if (end.end_kind > NM_PROCESS_EXEC)
        end.end_kind = NM_PROCESS_RUNNING;
    if (end.end_kind == NM_PROCESS_RUNNING || end.end_status == -1)
        end.end_status = NM_UNKNOWN_NUMBER;
    nm_process_row row = {
        .process_id = process->id,
        .parent_id = process->process.parent_id,
        .pid = process->process.pid,
        .host = text_of(loader, process->process.host),
        .rank = process->process.rank,
        .local_rank = process->process.local_rank,
        .command = text_of(loader, process->process.command),
        .run_mode = run_mode_name(process->process.run_mode),
        .begin_ns = process->process.begin_ns,
        .end_ns = end.end_ns,
        .end_kind = end.end_kind,
        .end_status = end.end_status,
        .world_size = process->process.world_size,
    };

    return nm_give_process(&loader->sink, &row, err);
}

static nm_status write_thread(nm_loader *loader, const nm_definition *thread, nm_error *err)
{
    nm_thread_row row = {
        .thread_id = thread->id,
        .process_id = thread->thread.process_id,
        .tid = thread->thread.tid,
        .name = text_of(loader, thread->thread.name),
    };

    return nm_give_thread(&loader->sink, &row, err);
}

static const char *source_name(uint64_t source)
{
    return source == NM_ATTRIBUTE_VERSION ? "version" : source == NM_ATTRIBUTE_HCCL ? "hccl" : "environment";
}

static nm_status write_attribute(nm_loader *loader, const nm_definition *attribute, nm_error *err)
{
    nm_attribute_row row = {
        .entry_id = attribute->id,
        .process_id = attribute->attribute.process_id,
        .source = source_name(attribute->attribute.source),
        .name = text_of(loader, attribute->attribute.name),
        .value = text_of(loader, attribute->attribute.value),
    };

    if (row.value.len == 0) /* set to nothing, and not unknown */
        row.value = (nm_bytes){(const uint8_t *)"", 0};
    return nm_give_attribute(&loader->sink, &row, err);
}

static nm_status write_device(nm_loader *loader, const nm_definition *device, nm_error *err)
{
    nm_device_row row = {
        .device_id = device->id,
        .process_id = device->device.process_id,
        .ordinal = device->device.ordinal,
        .physical_ordinal = device->device.physical_ordinal,
        .kind = text_of(loader, device->device.device_kind),
        .name = text_of(loader, device->device.name),
        .capacity_bytes = device->device.capacity_bytes,
    };

    return nm_give_device(&loader->sink, &row, err);
}

static nm_status write_heap(nm_loader *loader, const nm_definition *heap, nm_error *err)
{
    bool is_level_known = heap->heap.level >= NM_LEVEL_DRIVER && heap->heap.level <= NM_LEVEL_MAX;
    nm_heap_row row = {
        .heap_id = heap->id,
        .process_id = heap->heap.process_id,
        .device_id = heap->heap.device_id,
        .level = is_level_known ? heap->heap.level : 0,
        .name = text_of(loader, heap->heap.name),
        .size_basis = heap->heap.size_basis == NM_BASIS_BLOCK ? NM_BASIS_BLOCK : NM_BASIS_REQUESTED,
        .small_bytes = heap->heap.small_bytes == 0 ? SMALL_BYTES_DEFAULT : heap->heap.small_bytes,
        .large_bytes = heap->heap.large_bytes == 0 ? LARGE_BYTES_DEFAULT : heap->heap.large_bytes,
        .module_id = heap->heap.module_id,
    };

    return nm_give_heap(&loader->sink, &row, err);
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
    nm_buffer build_id = {0};
    nm_status status = build_id_text(nm_definitions_build_id(&loader->definitions, module->id), &build_id, err);
    nm_module_row row = {
        .module_id = module->id,
        .process_id = module->module.process_id,
        .path = text_of(loader, module->module.path),
        .build_id = {build_id.data, build_id.len},
        .address = module->module.base,
        .size_bytes = module->module.bytes,
    };

    if (status == NM_OK)
        status = nm_give_module(&loader->sink, &row, err);
    nm_buffer_free(&build_id);
    return status;
}

static nm_status write_frame(nm_loader *loader, const nm_frame *frame, bool is_plumbing, nm_buffer *label,
                             nm_error *err)
{
    nm_status status = nm_site_label(&loader->definitions, frame, label, err);
    nm_frame_row row = {
        .frame_id = frame->id,
        .function = text_of(loader, frame->frame.function),
        .file = text_of(loader, frame->frame.file),
        .line = frame->frame.line,
        .module = text_of(loader, frame->frame.module),
        .offset = frame->frame.module == 0 ? NM_UNKNOWN_NUMBER : (int64_t)frame->frame.offset,
        .label = {label->data, label->len},
        .is_plumbing = is_plumbing,
        .inlined_in = frame->frame.inlined_in,
        .module_id = frame->frame.module_id,
    };

    return status == NM_OK ? nm_give_frame(&loader->sink, &row, err) : status;
}

static nm_status write_frames(nm_loader *loader, const nm_sites *sites, nm_error *err)
{
    const struct nm_frame_list *frames = &loader->definitions.frames;
    nm_buffer label = {0};
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < frames->count; index++)
        status = write_frame(loader, &frames->items[index], sites->frames[index].is_plumbing, &label, err);
    nm_buffer_free(&label);
    return status;
}

static nm_status write_stack(nm_loader *loader, const nm_stack_node *stack, uint64_t site_frame_id, nm_error *err)
{
    nm_stack_row row = {
        .stack_id = stack->stack_id,
        .parent_id = stack->parent_id,
        .frame_id = stack->frame_id,
        .site_frame_id = site_frame_id,
        .is_cut = stack->walk == NM_WALK_CUT,
    };

    return nm_give_stack(&loader->sink, &row, err);
}

/* A frame that stands for no place in the code. */
static nm_status write_attribution_frame(nm_loader *loader, const nm_attribution *attribution, uint64_t frame_id,
                                         nm_error *err)
{
    nm_frame_row row = {
        .frame_id = frame_id,
        .function = attribution->is_cut ? (nm_bytes){0} : attribution->name,
        .offset = NM_UNKNOWN_NUMBER,
        .label = attribution->name,
        .is_cut = attribution->is_cut,
    };

    return nm_give_frame(&loader->sink, &row, err);
}

/* The number of the frame that stands for an attribution, written when it is the first of its name. */
static nm_status attribution_frame(nm_loader *loader, const nm_attribution *attribution, nm_map *known,
                                   uint64_t *last_id, uint64_t *id, nm_error *err)
{
    nm_key key = {attribution->is_cut, nm_checksum(attribution->name.data, attribution->name.len)};
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
    const struct nm_frame_list *frames = &definitions->frames;
    uint64_t last_id = frames->count == 0 ? 0 : frames->items[frames->count - 1].id;
    nm_map known = {0};
    nm_status status = NM_OK;

    for (size_t index = 0; status == NM_OK && index < definitions->stacks.count; index++) {
        const nm_stack_node *stack = &definitions->stacks.items[index];
        uint64_t site_frame_id = stack->site == 0 ? 0 : frames->items[stack->site - 1].id;
        nm_attribution attribution = nm_attribution_of(definitions, sites, index);

        if (attribution.name.len > 0)
            status = attribution_frame(loader, &attribution, &known, &last_id, &site_frame_id, err);
        if (status == NM_OK)
            status = write_stack(loader, stack, site_frame_id, err);
    }
    nm_map_free(&known);
    return status;
}

static nm_status take_wrapper(void *context, uint64_t heap_id, nm_bytes pattern, nm_error *err)
{
    const nm_loader *loader = context;

    return nm_give_wrapper(&loader->sink, &(nm_wrapper_row){.heap_id = heap_id, .function = pattern}, err);
}

static nm_status write_stacks(nm_loader *loader, nm_error *err)
{
    const nm_wrapper_taker taker = {loader, take_wrapper};
    nm_patterns plumbing = {0};
    nm_sites sites = {0};
    nm_status status = nm_plumbing_read(loader->db, &plumbing, err);

    if (status == NM_OK)
        status = nm_sites_open(&plumbing, &loader->definitions, &sites, err);
    if (status == NM_OK)
        status = nm_wrappers_find(&loader->definitions, &loader->heap_stacks, &sites, &taker, err);
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

nm_status nm_loader_write_names(nm_loader *loader, const nm_input_row *input, nm_error *err)
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
        status = write_list(loader, &definitions->modules, write_module, err);
    if (status == NM_OK)
        status = write_stacks(loader, err);
    if (status == NM_OK) /* last: by now all unknown references have been met */
        status = write_input(loader, input, err);
    return status;
}
