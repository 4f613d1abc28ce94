/* SPDX-License-Identifier: Apache-2.0
 *
 * Text and CSV of results that are already there: no figure is computed here but shares and differences of what stands in a
 * row. What is not known is a dash on the screen and an empty cell in the file.
 */
#include "tool/whatif/results.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "say/spoken.h"

#define SIZES_SHOWN    12
#define FAILURES_SHOWN 3 /* of the first rows; all have their place in the CSV */

static const char *bytes(char out[NM_HUMAN_BYTES], uint64_t value)
{
    return nm_human_bytes(out, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static const char *count(char out[NM_HUMAN_BYTES], uint64_t value)
{
    return nm_human_count(out, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static const char *plural(uint64_t value)
{
    return nm_spoken(value == 1 ? "" : "s");
}

/* "rank 3, pid 4711": what is known of it. */
static void print_process(const nm_gather_process *process, const char *before, FILE *out)
{
    if (process != NULL && process->rank != NM_UNKNOWN_NUMBER)
        fprintf(out, "%srank %" PRId64, before, process->rank);
    if (process != NULL && process->pid != NM_UNKNOWN_NUMBER)
        fprintf(out, "%spid %" PRId64, process->rank == NM_UNKNOWN_NUMBER ? before : ", ", process->pid);
}

void whatif_print_heaps(const nm_gather *gather, FILE *out)
{
    char requests[NM_HUMAN_BYTES], peak[NM_HUMAN_BYTES];

    for (size_t i = 0; i < gather->heaps.count; i++) {
        const nm_gather_heap *heap = &gather->heaps.items[i];
        char name[sizeof heap->name];

        if (heap->level != NM_LEVEL_POOL)
            continue;
        fprintf(out,
                nm_spoken("heap %" PRIu64 "  process %" PRIu64 "  device %" PRIu64
                          "  %s: %s allocation%s, %s at their peak"),
                heap->heap_id, heap->process_id, heap->device_id, nm_shown_text(name, sizeof name, heap->name),
                count(requests, heap->block_count), plural(heap->block_count), bytes(peak, heap->peak_bytes));
        print_process(nm_gather_process_of(gather, heap), "  ", out);
        fprintf(out, "\n");
    }
}

/* ---- The head ---------------------------------------------------------------------------------------------------- */

static void print_recorded(const nm_workload *workload, FILE *out)
{
    const nm_recorded *recorded = &workload->recorded;
    char a[NM_HUMAN_BYTES], b[NM_HUMAN_BYTES], c[NM_HUMAN_BYTES];
    double hit_rate =
        recorded->served_count == 0 ? 1 : 1 - (double)recorded->miss_count / (double)recorded->served_count;

    if (recorded->has_reserved)
        fprintf(out, nm_spoken("recorded      %s %s%s, %s reserved at the most, hit rate %s\n"),
                count(a, recorded->segment_count),
                recorded->is_expandable ? nm_spoken("mapping") : nm_spoken("segment"), plural(recorded->segment_count),
                bytes(b, recorded->peak_reserved_bytes),
                recorded->served_count == 0 ? "-" : nm_human_percent(c, hit_rate));
    else
        fprintf(out, nm_spoken("recorded      its driver memory is not known\n"));
    if (recorded->baseline_block_count > 0)
        fprintf(out, nm_spoken("baseline      %s block%s there before: %s, in %s of driver memory\n"),
                count(a, recorded->baseline_block_count),
                recorded->baseline_block_count == 1 ? nm_spoken(" was") : nm_spoken("s were"),
                bytes(b, recorded->baseline_block_bytes), bytes(c, recorded->baseline_segment_bytes));
    if (recorded->flush_count > 0)
        fprintf(out, nm_spoken("flushes       the program emptied the cache %s time%s\n"),
                count(a, recorded->flush_count), plural(recorded->flush_count));
    if (recorded->own_flush_count > 0)
        fprintf(out, nm_spoken("              the pool gave memory back by itself %s time%s: not replayed\n"),
                count(a, recorded->own_flush_count), plural(recorded->own_flush_count));
    if (recorded->failed_count > 0)
        fprintf(out, nm_spoken("failures      %s request%s failed: replayed as if freed at once\n"),
                count(a, recorded->failed_count), plural(recorded->failed_count));
    if (recorded->refused_bytes > 0)
        fprintf(out, nm_spoken("died          at its end %s of driver memory were refused: %s\n"),
                bytes(a, recorded->refused_bytes),
                recorded->is_refusal_replayed
                    ? nm_spoken("replayed as the largest request that asks for so much")
                    : nm_spoken("for what is not known, so it is not replayed, and what would fit is not known"));
    if (recorded->peak_other_bytes > 0)
        fprintf(out, nm_spoken("others        up to %s of driver memory outside the pool, as recorded\n"),
                bytes(a, recorded->peak_other_bytes));
}

static void print_doubts(const whatif_place *place, const nm_workload *workload, FILE *out)
{
    const nm_recorded *recorded = &workload->recorded;
    char a[NM_HUMAN_BYTES], text[sizeof workload->conf_refusal];

    if (!place->is_complete)
        fprintf(out, nm_spoken("partial       part of the input is missing: all figures are of the rest\n"));
    if (place->process != NULL && place->process->is_peak_estimated)
        fprintf(out, nm_spoken("partial       some of what was live is in no row: all figures are estimates\n"));
    if (recorded->has_pause)
        fprintf(out, nm_spoken("partial       a part of the run was not recorded\n"));
    if (recorded->is_baseline_unknown)
        fprintf(out, nm_spoken("partial       what was live before the recording began is not known\n"));
    if (workload->conf_refusal[0] != 0)
        fprintf(out, nm_spoken("settings      %s; the defaults are\n"),
                nm_shown_text(text, sizeof text, workload->conf_refusal));
    if (recorded->unsized_count > 0)
        fprintf(out, nm_spoken("partial       %s allocation%s without a known size left out\n"),
                count(a, recorded->unsized_count), plural(recorded->unsized_count));
    if (recorded->block_sized_count > 0)
        fprintf(
            out,
            nm_spoken(
                "sizes         %s allocation%s: the size of the block, not what was asked for, so up to 1 MiB more\n"),
            count(a, recorded->block_sized_count), plural(recorded->block_sized_count));
    if (recorded->streamless_count > 0)
        fprintf(
            out,
            nm_spoken(
                "assumed       %s allocation%s without a known stream: of one stream of their own, where a block can "
                "be used"
                " again once it is given up\n"),
            count(a, recorded->streamless_count), plural(recorded->streamless_count));
}

static const char *difference_reason(const nm_recorded *recorded, const nm_sim_result *same, bool is_less)
{
    if (recorded->baseline_block_count != 0 && !same->is_laid_out)
        return "how the baseline lay does not follow from the input";
    if ((recorded->failed_count > 0 || recorded->is_refusal_replayed) && !is_less)
        return "what had failed is served here, or that pool has other rules or settings";
    if (recorded->own_flush_count > 0 && !is_less)
        return "what that pool gave back by itself is still here, or it has other rules or settings";
    if (recorded->streamless_count > 0 && is_less)
        return "the streams are not known, and blocks of two share no segment; or that pool has other rules or "
               "settings";
    return "why is not known: that pool may have other rules or settings than the simulated one";
}

/* How far the simulation of the recorded setting is from what was recorded. */
static void print_agreement(const nm_workload *workload, const nm_sim_result *same, FILE *out)
{
    const nm_recorded *recorded = &workload->recorded;
    uint64_t simulated_bytes = same->peak_reserved_bytes, recorded_bytes = recorded->peak_reserved_bytes;
    bool is_less = simulated_bytes < recorded_bytes;
    uint64_t difference = is_less ? recorded_bytes - simulated_bytes : simulated_bytes - recorded_bytes;
    char a[NM_HUMAN_BYTES], b[NM_HUMAN_BYTES], c[NM_HUMAN_BYTES];

    if (!recorded->has_reserved)
        return;
    fprintf(out, nm_spoken("simulated     %s %s%s, %s reserved at the most: "), count(a, same->growth_count),
            recorded->is_expandable ? nm_spoken("mapping") : nm_spoken("segment"), plural(same->growth_count),
            bytes(b, simulated_bytes));
    if (difference == 0 && same->growth_count == recorded->segment_count)
        fprintf(out, nm_spoken("exactly as recorded\n"));
    else
        fprintf(out, nm_spoken("%s %s than recorded: %s\n"), bytes(c, difference), nm_spoken(is_less ? "less" : "more"),
                nm_spoken(difference_reason(recorded, same, is_less)));
}

void whatif_print_head(const whatif_place *place, const nm_workload *workload, const nm_sim_result *same,
                       const nm_packing *packing, FILE *out)
{
    char a[NM_HUMAN_BYTES], b[NM_HUMAN_BYTES], c[NM_HUMAN_BYTES];
    char path[PATH_MAX], name[sizeof place->heap->name];

    fprintf(out, "%s  %s, %s\n", nm_shown_text(path, sizeof path, place->path), nm_spoken(place->kind),
            nm_spoken(!place->is_complete ? "partial"
                      : place->is_kept    ? "as far as it was kept"
                                          : "whole"));
    fprintf(out, nm_spoken("pool          %s, heap %" PRIu64), nm_shown_text(name, sizeof name, place->heap->name),
            place->heap->heap_id);
    if (place->device_number != NM_UNKNOWN_NUMBER)
        fprintf(out, nm_spoken(", device %" PRId64), place->device_number);
    if (place->has_more_pools)
        print_process(place->process, ", ", out);
    fprintf(out, nm_spoken(": %s request%s, "), count(a, workload->recorded.request_count),
            plural(workload->recorded.request_count));
    if (workload->step_count > 0)
        fprintf(out, nm_spoken("%s step%s\n"), count(a, workload->step_count), plural(workload->step_count));
    else
        fprintf(out, nm_spoken("no steps\n"));
    print_recorded(workload, out);
    print_doubts(place, workload, out);
    print_agreement(workload, same, out);
    fprintf(out,
            nm_spoken("bounds        %s live at once (%s as blocks of 512 bytes); %s in an offline packing found\n"),
            bytes(a, workload->peak_live_bytes), bytes(b, packing->peak_live_bytes), bytes(c, packing->packed_bytes));
    if (place->capacity_bytes != NM_WHATIF_UNLIMITED)
        fprintf(out, nm_spoken("device        %s, of which others hold %s\n"), bytes(a, place->capacity_bytes),
                bytes(b, place->other_bytes));
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static size_t name_width(const whatif_rows *rows)
{
    size_t width = strlen("setting");

    for (size_t i = 0; i < rows->count; i++)
        width = strlen(rows->items[i].name) > width ? strlen(rows->items[i].name) : width;
    return width;
}

static void print_row(const whatif_place *place, const whatif_row *row, size_t width, FILE *out)
{
    const nm_sim_result *result = &row->result;
    char reserved[NM_HUMAN_BYTES], ratio[NM_HUMAN_BYTES], stuck[NM_HUMAN_BYTES], rate[NM_HUMAN_BYTES],
        calls[NM_HUMAN_BYTES], device[NM_HUMAN_BYTES], per_step[NM_HUMAN_BYTES] = "-", fits[NM_HUMAN_BYTES],
                                                       name[WHATIF_NAME_BYTES + 16];

    nm_spoken_said(row->name, name, sizeof name);
    if (result->step_count > 0)
        snprintf(per_step, sizeof per_step, "%.1f", (double)result->calls_in_steps / (double)result->step_count);
    snprintf(fits, sizeof fits, "%s", place->capacity_bytes == NM_WHATIF_UNLIMITED ? "-" : nm_spoken("yes"));
    if (!result->is_fit && result->failure.seq == NM_NO_SEQ)
        snprintf(fits, sizeof fits, "%s", nm_spoken("no, at the beginning"));
    else if (!result->is_fit)
        snprintf(fits, sizeof fits, nm_spoken("no, at %" PRId64), result->failure.seq);
    else if (place->is_end_unknown)
        snprintf(fits, sizeof fits, "%s", nm_spoken("not known"));
    const char *smallest = place->is_end_unknown    ? nm_spoken("not known")
                           : row->smallest.is_found ? bytes(device, row->smallest.device_bytes)
                                                    : nm_spoken("none");
    fprintf(out, "%-*s  %9s  %11s  %14s  %8s  %12s  %8s  %*s  %s\n", nm_spoken_width((int)width, name), name,
            bytes(reserved, result->peak_reserved_bytes), nm_human_percent(ratio, nm_sim_fragmentation_ratio(result)),
            bytes(stuck, result->peak_stuck_bytes), nm_human_percent(rate, nm_sim_hit_rate(result)),
            count(calls, result->take_count + result->give_count), per_step, nm_spoken_width(15, smallest), smallest,
            fits);
}

const char *whatif_cause_text(nm_failure_cause cause)
{
    switch (cause) {
    case NM_CAUSE_CAPACITY:
        return "capacity";
    case NM_CAUSE_FRAGMENTATION:
        return "fragmentation";
    case NM_CAUSE_LIMIT:
        return "limit";
    case NM_CAUSE_BASELINE:
        return "baseline";
    case NM_CAUSE_OTHER:
        return "other memory";
    case NM_CAUSE_NONE:
        return "";
    }
    return "";
}

static void print_failure(const whatif_row *row, FILE *out)
{
    const nm_sim_failure *failure = &row->result.failure;
    char a[NM_HUMAN_BYTES], b[NM_HUMAN_BYTES], c[NM_HUMAN_BYTES], d[NM_HUMAN_BYTES], e[NM_HUMAN_BYTES],
        f[NM_HUMAN_BYTES], g[NM_HUMAN_BYTES], h[NM_HUMAN_BYTES], name[WHATIF_NAME_BYTES + 16];

    fprintf(out, nm_spoken("\n%s does not fit, by %s: "), nm_spoken_said(row->name, name, sizeof name),
            nm_spoken(whatif_cause_text(failure->cause)));
    if (failure->cause == NM_CAUSE_BASELINE)
        fprintf(out, nm_spoken("not even what it begins with.\n"));
    else if (failure->seq == NM_NO_SEQ)
        fprintf(out, nm_spoken("not even the %s that others hold from the beginning.\n"), bytes(a, failure->bytes));
    else
        fprintf(
            out,
            nm_spoken(
                "at event %" PRId64 " (seq) %s are asked for. The pool holds %s, %s of it in blocks, %s free (%s"
                " inactive split, the largest piece for such a request %s); others hold %s, the device has %s left.\n"),
            failure->seq, bytes(a, failure->bytes), bytes(b, failure->reserved_bytes), bytes(c, failure->active_bytes),
            bytes(d, failure->free_bytes), bytes(e, failure->stuck_bytes), bytes(f, failure->largest_free_bytes),
            bytes(g, failure->other_bytes), bytes(h, failure->device_free_bytes));
}

/* What the pool did: of the rest the recording says nothing that could stand beside a simulated figure. */
static void print_recorded_row(const whatif_place *place, const nm_recorded *recorded, size_t width, FILE *out)
{
    char reserved[NM_HUMAN_BYTES] = "-", rate[NM_HUMAN_BYTES] = "-", beyond[NM_HUMAN_BYTES] = "-";
    uint64_t peak = place->heap->peak_bytes, most = recorded->peak_reserved_bytes;

    if (recorded->has_reserved)
        bytes(reserved, most);
    if (recorded->has_reserved && most > 0)
        nm_human_percent(beyond, peak < most ? 1 - (double)peak / (double)most : 0);
    if (recorded->served_count > 0)
        nm_human_percent(rate, 1 - (double)recorded->miss_count / (double)recorded->served_count);
    fprintf(out, "%-*s  %9s  %11s  %14s  %8s  %12s  %8s  %15s  %s\n",
            nm_spoken_width((int)width, nm_spoken("recorded")), nm_spoken("recorded"), reserved, beyond, "-", rate, "-",
            "-", "-", "-");
}

void whatif_print_rows(const whatif_place *place, const nm_recorded *recorded, const whatif_rows *rows, FILE *out)
{
    static const struct {
        const char *text;
        int columns;
    } titles[] = {{"setting", 0},         {"reserved", 9},         {"beyond peak", 11},
                  {"inactive split", 14}, {"hit rate", 8},         {"driver calls", 12},
                  {"per step", 8},        {"smallest device", 15}, {"fits", 0}};
    size_t width = name_width(rows), left_count = 0;

    fputc('\n', out);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        int columns = i == 0 ? -(int)width : titles[i].columns;

        fprintf(out, "%s%*s", i == 0 ? "" : "  ", nm_spoken_width(columns, nm_spoken(titles[i].text)),
                nm_spoken(titles[i].text));
    }
    fputc('\n', out);
    print_recorded_row(place, recorded, width, out);
    fprintf(out, nm_spoken("simulated\n"));
    for (size_t i = 0; i < rows->count; i++)
        print_row(place, &rows->items[i], width, out);
    for (size_t i = 0; i < rows->count; i++)
        if (!rows->items[i].result.is_fit && i < FAILURES_SHOWN)
            print_failure(&rows->items[i], out);
        else
            left_count += !rows->items[i].result.is_fit;
    if (left_count > 0)
        fprintf(out, nm_spoken("\nand %zu more do%s not fit (--csv says by what)\n"), left_count,
                nm_spoken(left_count == 1 ? "es" : ""));
}

/* ---- Suggestion and advice --------------------------------------------------------------------------------------- */

static uint64_t calls_of(const nm_sim_result *result)
{
    return result->take_count + result->give_count;
}

/* What is worse by more than two parts of a hundred. */
static void print_worse(const whatif_row *now_row, const whatif_row *best_row, FILE *out)
{
    const nm_sim_result *now = &now_row->result, *best = &best_row->result;
    uint64_t now_device = now_row->smallest.device_bytes, best_device = best_row->smallest.device_bytes;
    char a[NM_HUMAN_BYTES], b[NM_HUMAN_BYTES];

    if (best_device > now_device + now_device / WHATIF_WORSE_PART)
        fprintf(out, nm_spoken(", a device of %s instead of %s"), bytes(a, best_device), bytes(b, now_device));

    if (best->peak_reserved_bytes > now->peak_reserved_bytes + now->peak_reserved_bytes / WHATIF_WORSE_PART)
        fprintf(out, nm_spoken(", %s reserved instead of %s"), bytes(a, best->peak_reserved_bytes),
                bytes(b, now->peak_reserved_bytes));
    if (best->peak_stuck_bytes > now->peak_stuck_bytes + now->peak_stuck_bytes / WHATIF_WORSE_PART)
        fprintf(out, nm_spoken(", %s inactive split instead of %s"), bytes(a, best->peak_stuck_bytes),
                bytes(b, now->peak_stuck_bytes));
    if (nm_sim_hit_rate(best) < nm_sim_hit_rate(now) * (1 - 1.0 / WHATIF_WORSE_PART))
        fprintf(out, nm_spoken(", hit rate %s instead of %s"), nm_human_percent(a, nm_sim_hit_rate(best)),
                nm_human_percent(b, nm_sim_hit_rate(now)));
}

/* A run that ended early made fewer calls: nothing to compare with. */
static void print_price(const whatif_row *now, const whatif_row *best, FILE *out)
{
    const nm_sim_result *run = best->result.is_fit ? &best->result : &best->smallest.result;
    bool has_both = best->result.is_fit && now->result.is_fit;
    char a[NM_HUMAN_BYTES], b[NM_HUMAN_BYTES];

    fprintf(out, nm_spoken("price         %s driver call%s"), count(a, calls_of(run)), plural(calls_of(run)));
    if (has_both)
        fprintf(out, nm_spoken(" instead of %s"), count(b, calls_of(&now->result)));
    if (run->step_count > 0)
        fprintf(out, ", %.1f", (double)run->calls_in_steps / (double)run->step_count);
    if (run->step_count > 0 && has_both)
        fprintf(out, nm_spoken(" instead of %.1f"), (double)now->result.calls_in_steps / (double)run->step_count);
    if (run->step_count > 0)
        fprintf(out, nm_spoken(" in a step after the warm-up"));
    if (has_both)
        print_worse(now, best, out);
    fprintf(out, "%s\n",
            nm_spoken(!best->result.is_fit ? ", on its smallest device"
                      : has_both           ? ""
                                           : "; as recorded it does not run to its end there"));
}

static void print_gain(const whatif_row *now, const whatif_row *best, FILE *out)
{
    uint64_t now_bytes = now->smallest.device_bytes, best_bytes = best->smallest.device_bytes;
    uint64_t now_reserved = now->result.peak_reserved_bytes, best_reserved = best->result.peak_reserved_bytes;
    bool has_both = now->result.is_fit && best->result.is_fit;
    bool is_device = best_bytes < now_bytes && (!has_both || best_reserved >= now_reserved ||
                                                now_bytes - best_bytes >= now_reserved - best_reserved);
    char a[NM_HUMAN_BYTES], b[NM_HUMAN_BYTES], c[NM_HUMAN_BYTES], name[WHATIF_NAME_BYTES + 16];

    if (!is_device) {
        now_bytes = now_reserved;
        best_bytes = best_reserved;
    }
    fprintf(out, nm_spoken("gain          %s: %s%s %s instead of %s (%s)\n"),
            bytes(c, now_bytes > best_bytes ? now_bytes - best_bytes : 0), nm_spoken(is_device ? "a device of " : ""),
            bytes(a, best_bytes), nm_spoken(is_device ? "is enough" : "are reserved"), bytes(b, now_bytes),
            nm_spoken_said(now->name, name, sizeof name));
}

void whatif_print_suggestion(const nm_workload *workload, const whatif_row *now, const whatif_row *best, FILE *out)
{
    const char *variable = workload->is_npu ? "PYTORCH_NPU_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF";
    char conf[NM_SETTINGS_BYTES], a[NM_HUMAN_BYTES], name[WHATIF_NAME_BYTES + 16];

    if (best == now) {
        fprintf(out, nm_spoken("\nno setting is better than what was recorded (%s)\n"),
                nm_spoken_said(now->name, name, sizeof name));
    } else {
        nm_caching_settings_write(&best->setting.caching, conf);
        fprintf(out, "\n%s=%s\n", variable,
                conf[0] == 0 ? "expandable_segments:False" : conf); /* that is the default */
        print_gain(now, best, out);
        print_price(now, best, out);
    }
    if (workload->recorded.streamless_count > 0)
        fprintf(
            out,
            nm_spoken("assumed       one stream: with several, whose blocks share no segment, less may be gained\n"));
    if (best != now && best->setting.caching.is_expandable)
        fprintf(out, nm_spoken("not with      max_split_size_mb, garbage_collection_threshold, tensors shared with "
                               "other processes\n"));
    if (workload->recorded.exported_count > 0)
        fprintf(out, nm_spoken("not tried     expandable_segments: other processes were given %s allocation%s\n"),
                count(a, workload->recorded.exported_count), plural(workload->recorded.exported_count));
}

static void print_titles(const char *const texts[4], FILE *out)
{
    for (int i = 0; i < 4; i++)
        fprintf(out, "%s%*s", i == 0 ? "" : "  ", nm_spoken_width(i < 3 ? 12 : 16, nm_spoken(texts[i])),
                nm_spoken(texts[i]));
    fputc('\n', out);
}

void whatif_print_advice(const nm_advice *advice, FILE *out)
{
    char a[NM_HUMAN_BYTES], b[NM_HUMAN_BYTES], c[NM_HUMAN_BYTES], d[NM_HUMAN_BYTES];

    fprintf(
        out,
        nm_spoken("\nreuse         %s of %s request%s found a freed block of the very size (%s of %s size%s shown)\n"),
        count(a, advice->again_count), count(b, advice->request_count), plural(advice->request_count),
        count(c, advice->size_count < SIZES_SHOWN ? advice->size_count : SIZES_SHOWN), count(d, advice->size_count),
        plural(advice->size_count));
    print_titles((const char *const[]){"block", "requests", "of these", "most live"}, out);
    print_titles((const char *const[]){"", "", "reused", "at once"}, out);
    for (size_t i = 0; i < advice->size_count && i < SIZES_SHOWN; i++)
        fprintf(out, "%12s  %12s  %12s  %16s\n", bytes(a, advice->sizes[i].bytes),
                count(b, advice->sizes[i].request_count), count(c, advice->sizes[i].again_count),
                count(d, advice->sizes[i].most_live_count));
    fprintf(out, nm_spoken("\nblock sizes   %zu of them need a pool of %s (%s are live at once)\n"),
            advice->class_count, bytes(a, advice->pool_bytes), bytes(b, advice->peak_live_bytes));
    for (size_t i = 0; i < advice->class_count; i++)
        fprintf(out, nm_spoken("%12" PRIu64 " B  %12s block%s\n"), advice->classes[i].bytes,
                count(a, advice->classes[i].block_count), plural(advice->classes[i].block_count));
    fprintf(out, nm_spoken("try           --bucket 'initial:%" PRIu64 ",classes:["), advice->pool_bytes);
    for (size_t i = 0; i < advice->class_count; i++)
        fprintf(out, "%s%" PRIu64, i == 0 ? "" : ",", advice->classes[i].bytes);
    fprintf(out, "]'\n");
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static nm_status write_text(const char *text, FILE *out, nm_error *err)
{
    nm_buffer cell = {0};
    nm_status status = nm_shown_cell(&cell, text, strlen(text), err);

    fputc('"', out);
    for (size_t i = 0; i < cell.len; i++) {
        if (cell.data[i] == '"')
            fputc('"', out);
        fputc(cell.data[i], out);
    }
    fputc('"', out);
    nm_buffer_free(&cell);
    return status;
}

static void write_number(bool is_known, uint64_t number, FILE *out)
{
    fputc(',', out);
    if (is_known)
        fprintf(out, "%" PRIu64, number);
}

static nm_status write_row(const whatif_place *place, const whatif_row *row, const nm_packing *packing, FILE *out,
                           nm_error *err)
{
    const nm_sim_result *result = &row->result;
    const nm_sim_failure *failure = &result->failure;
    bool is_fit = result->is_fit;

    nm_status status = write_text(row->name, out, err);

    write_number(place->capacity_bytes != NM_WHATIF_UNLIMITED, place->capacity_bytes, out);
    write_number(true, place->other_bytes, out);
    write_number(true, is_fit, out);
    write_number(true, result->peak_reserved_bytes, out);
    write_number(true, result->peak_live_bytes, out);
    fprintf(out, ",%.6f", nm_sim_fragmentation_ratio(result));
    write_number(true, result->peak_stuck_bytes, out);
    write_number(true, result->request_count, out);
    write_number(true, result->miss_count, out);
    fprintf(out, ",%.6f", nm_sim_hit_rate(result));
    write_number(true, calls_of(result), out);
    write_number(true, result->step_count, out);
    write_number(result->step_count > 0, result->calls_in_steps, out);
    write_number(result->step_count > 0, result->misses_in_steps, out);
    write_number(row->smallest.is_found && !place->is_end_unknown, row->smallest.device_bytes, out);
    write_number(true, packing->peak_live_bytes, out);
    write_number(true, packing->packed_bytes, out);
    fprintf(out, ",%s", is_fit ? "" : whatif_cause_text(failure->cause));
    write_number(!is_fit && failure->seq != NM_NO_SEQ, (uint64_t)failure->seq, out);
    write_number(!is_fit, failure->bytes, out);
    write_number(!is_fit, failure->reserved_bytes, out);
    write_number(!is_fit, failure->active_bytes, out);
    write_number(!is_fit, failure->free_bytes, out);
    write_number(!is_fit, failure->stuck_bytes, out);
    write_number(!is_fit, failure->largest_free_bytes, out);
    fputs(",simulated\r\n", out);
    return status;
}

nm_status whatif_write_csv(const whatif_place *place, const whatif_rows *rows, const nm_packing *packing, FILE *out,
                           nm_error *err)
{
    nm_status status = NM_OK;

    fputs("setting,capacity_bytes,other_bytes,is_fit,peak_reserved_bytes,peak_live_bytes,peak_fragmentation_ratio,"
          "peak_stuck_bytes,request_count,miss_count,hit_rate,driver_call_count,later_step_count,"
          "driver_calls_in_later_steps,misses_in_later_steps,smallest_device_bytes,lower_bound_bytes,"
          "offline_packing_bytes,failure_cause,failure_seq,failure_requested_bytes,failure_reserved_bytes,"
          "failure_active_bytes,failure_free_bytes,failure_stuck_bytes,failure_largest_free_bytes,basis\r\n",
          out);
    for (size_t i = 0; i < rows->count && status == NM_OK; i++)
        status = write_row(place, &rows->items[i], packing, out, err);
    return status;
}
