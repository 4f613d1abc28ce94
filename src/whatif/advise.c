/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes are cut into groups of neighbours, and each group gets blocks of its largest size. Among all cuts the one is taken
 * that needs the least bytes if each size had its most blocks live at the same time; then the blocks are counted that are
 * really live at once. Where there are many sizes, neighbours are made one first.
 */
#include "whatif/advise.h"

#include <stdlib.h>
#include <string.h>

#define SIZES_MAX 512 /* that the cuts are looked for among */

typedef struct census {
    nm_size_use *uses; /* owned; ascending by size */
    size_t count, capacity;
    uint32_t *use_of;  /* owned; of each request */
    uint32_t *held;    /* owned; by slot: the use of its block */
    uint64_t *live;    /* owned; by use */
    uint64_t *waiting; /* owned; freed blocks of that size */
} census;

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

static uint64_t block_bytes(const nm_workload *workload, uint32_t request)
{
    nm_caching_settings settings = nm_caching_settings_default(workload->is_npu);
    const nm_request *asked = &workload->requests.items[request];

    return nm_caching_block_bytes(&settings, asked->bytes, asked->is_block_bytes);
}

static int by_bytes(const void *left, const void *right)
{
    const nm_size_use *a = left, *b = right;

    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Numbers the sizes in the order of their first request; *use is that of the request. */
static nm_status note_size(census *state, nm_map *seen, uint64_t bytes, uint32_t *use, nm_error *err)
{
    const uint64_t *found = nm_map_get(seen, (nm_key){0, bytes});
    nm_status status;

    if (found != NULL) {
        *use = (uint32_t)*found;
        return NM_OK;
    }
    status = nm_array_grow(&state->uses, &state->capacity, state->count + 1, sizeof *state->uses, err);
    if (status != NM_OK)
        return status;
    *use = (uint32_t)state->count;
    state->uses[state->count++] = (nm_size_use){.bytes = bytes};
    return nm_map_put(seen, (nm_key){0, bytes}, *use, err);
}

static nm_status find_sizes(const nm_workload *workload, census *state, nm_error *err)
{
    nm_map seen = {0};
    nm_status status = NM_OK;

    state->use_of = calloc(workload->requests.count + 1, sizeof *state->use_of);
    if (state->use_of == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < workload->baseline.count && status == NM_OK; i++) {
        uint32_t request = workload->baseline.items[i].request;

        status = note_size(state, &seen, block_bytes(workload, request), &state->use_of[request], err);
    }
    for (size_t i = 0, ask = 0; i < workload->ops.count && status == NM_OK; i++) {
        nm_op_kind kind = nm_op_kind_of(workload->ops.items[i]);
        uint32_t request = nm_op_is_ask(kind) ? workload->asks.items[ask++] : 0;

        if (kind == NM_OP_ALLOC)
            status = note_size(state, &seen, block_bytes(workload, request), &state->use_of[request], err);
    }
    nm_map_free(&seen);
    state->held = calloc((size_t)workload->slot_count + 1, sizeof *state->held);
    state->live = calloc(state->count + 1, sizeof *state->live);
    state->waiting = calloc(state->count + 1, sizeof *state->waiting);
    if (status == NM_OK && (state->held == NULL || state->live == NULL || state->waiting == NULL))
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return status;
}

static void begin_block(census *state, uint32_t use, bool is_request)
{
    nm_size_use *size = &state->uses[use];

    if (++state->live[use] > size->most_live_count)
        size->most_live_count = state->live[use];
    size->request_count += is_request;
    if (state->waiting[use] > 0) {
        state->waiting[use]--;
        size->again_count++;
    }
}

static void count_uses(const nm_workload *workload, census *state, nm_advice *advice)
{
    uint64_t live_bytes = 0;

    for (size_t i = 0; i < workload->baseline.count; i++) {
        uint32_t use = state->use_of[workload->baseline.items[i].request];

        begin_block(state, state->held[workload->baseline.items[i].slot] = use, false);
        live_bytes += state->uses[use].bytes;
    }
    advice->peak_live_bytes = live_bytes;
    for (size_t i = 0, ask = 0; i < workload->ops.count; i++) {
        nm_op_kind kind = nm_op_kind_of(workload->ops.items[i]);
        uint32_t *use =
            kind == NM_OP_ALLOC || kind == NM_OP_FREE ? &state->held[nm_op_index_of(workload->ops.items[i])] : NULL;

        if (kind == NM_OP_ALLOC) {
            begin_block(state, *use = state->use_of[workload->asks.items[ask]], true);
            live_bytes += state->uses[*use].bytes;
            advice->peak_live_bytes = live_bytes > advice->peak_live_bytes ? live_bytes : advice->peak_live_bytes;
        } else if (kind == NM_OP_FREE) {
            live_bytes -= state->uses[*use].bytes;
            state->live[*use]--;
            state->waiting[*use]++;
        }
        ask += nm_op_is_ask(kind);
    }
    for (size_t i = 0; i < state->count; i++)
        state->uses[i].live_at_end_count = state->live[i];
}

/* ---- Block sizes ------------------------------------------------------------------------------------------------- */

/* Makes neighbours one until there are few: the pair whose union wastes least first would be best; equal parts will do. */
static size_t thin_out(nm_size_use *sizes, size_t count)
{
    size_t to = 0;

    if (count <= SIZES_MAX)
        return count;
    for (size_t i = 0; i < SIZES_MAX; i++) {
        size_t begin = i * count / SIZES_MAX, end = (i + 1) * count / SIZES_MAX;
        nm_size_use sum = {.bytes = sizes[end - 1].bytes};

        for (size_t j = begin; j < end; j++)
            sum.most_live_count += sizes[j].most_live_count;
        sizes[to++] = sum;
    }
    return to;
}

typedef struct cuts {
    uint64_t *least; /* owned; [groups * (count + 1) + sizes]: bytes of the first sizes in so many groups */
    uint16_t *from;  /* owned; where the last group begins */
} cuts;

/* The most there is where it would overflow. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) || product > UINT64_MAX / 4 ? UINT64_MAX / 4 : product;
}

/* All cuts of the first n sizes into at most `groups` groups, for each n and number of groups. */
static void find_cuts(const nm_size_use *sizes, size_t count, size_t groups, cuts *table)
{
    size_t width = count + 1;

    for (size_t n = 0; n <= count; n++)
        table->least[n] = n == 0 ? 0 : UINT64_MAX;
    for (size_t group = 1; group <= groups; group++) {
        table->least[group * width] = 0;
        for (size_t n = 1; n <= count; n++) {
            uint64_t blocks = 0;

            table->least[group * width + n] = UINT64_MAX;
            for (size_t begin = n; begin-- > 0;) {
                uint64_t before = table->least[(group - 1) * width + begin];

                blocks += sizes[begin].most_live_count;
                if (before >= UINT64_MAX / 2 ||
                    before + multiply(blocks, sizes[n - 1].bytes) >= table->least[group * width + n])
                    continue;
                table->least[group * width + n] = before + multiply(blocks, sizes[n - 1].bytes);
                table->from[group * width + n] = (uint16_t)begin;
            }
        }
    }
}

static void take_cuts(const nm_size_use *sizes, size_t count, size_t groups, const cuts *table, nm_advice *advice)
{
    size_t width = count + 1;
    size_t n = count;

    advice->pool_bytes = table->least[groups * width + count];
    for (size_t group = groups; group > 0 && n > 0; group--) {
        size_t begin = table->from[group * width + n];
        nm_block_class *class = &advice->classes[advice->class_count++];

        class->bytes = sizes[n - 1].bytes;
        for (size_t i = begin; i < n; i++)
            class->block_count += sizes[i].most_live_count;
        n = begin;
    }
    for (size_t i = 0; i < advice->class_count / 2; i++) {
        nm_block_class swapped = advice->classes[i];

        advice->classes[i] = advice->classes[advice->class_count - 1 - i];
        advice->classes[advice->class_count - 1 - i] = swapped;
    }
}

static uint32_t class_of(const nm_advice *advice, uint64_t bytes)
{
    uint32_t at = 0;

    while (advice->classes[at].bytes < bytes)
        at++;
    return at;
}

static void begin_in_class(nm_advice *advice, uint64_t *live, uint32_t class)
{
    if (++live[class] > advice->classes[class].block_count)
        advice->classes[class].block_count = live[class];
}

/* How many blocks of each class are live at once: fewer than the sum over its sizes, which need not be live together.
 * `held` by slot. */
static void count_blocks(const nm_workload *workload, uint32_t *held, nm_advice *advice)
{
    uint64_t live[NM_BUCKET_CLASSES_MAX] = {0};
    size_t ask = 0;

    for (size_t i = 0; i < advice->class_count; i++)
        advice->classes[i].block_count = 0;
    for (size_t i = 0; i < workload->baseline.count && advice->class_count > 0; i++) {
        const nm_baseline_block *block = &workload->baseline.items[i];

        begin_in_class(advice, live, held[block->slot] = class_of(advice, block_bytes(workload, block->request)));
    }
    for (size_t i = 0; i < workload->ops.count && advice->class_count > 0; i++) {
        nm_op_kind kind = nm_op_kind_of(workload->ops.items[i]);
        uint32_t slot = nm_op_index_of(workload->ops.items[i]);

        if (kind == NM_OP_ALLOC)
            begin_in_class(advice, live,
                           held[slot] = class_of(advice, block_bytes(workload, workload->asks.items[ask])));
        else if (kind == NM_OP_FREE)
            live[held[slot]]--;
        ask += nm_op_is_ask(kind);
    }
    advice->pool_bytes = 0;
    for (size_t i = 0; i < advice->class_count; i++)
        advice->pool_bytes += multiply(advice->classes[i].bytes, advice->classes[i].block_count);
}

static nm_status choose_classes(const nm_size_use *uses, size_t count, size_t class_max, nm_advice *advice,
                                nm_error *err)
{
    nm_size_use *sizes = calloc(count + 1, sizeof *sizes);
    cuts table = {0};
    nm_status status = NM_OK;

    if (sizes == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (count > 0)
        memcpy(sizes, uses, count * sizeof *sizes);
    count = thin_out(sizes, count);
    class_max = class_max < count ? class_max : count;
    table.least = calloc((class_max + 1) * (count + 1), sizeof *table.least);
    table.from = calloc((class_max + 1) * (count + 1), sizeof *table.from);
    if (table.least == NULL || table.from == NULL) {
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    } else if (count > 0) {
        find_cuts(sizes, count, class_max, &table);
        take_cuts(sizes, count, class_max, &table, advice);
    }
    free(table.least);
    free(table.from);
    free(sizes);
    return status;
}

/* ---- Advice ------------------------------------------------------------------------------------------------------ */

static int by_traffic(const void *left, const void *right)
{
    const nm_size_use *a = left, *b = right;
    double a_bytes = (double)a->bytes * (double)a->request_count, b_bytes = (double)b->bytes * (double)b->request_count;

    return a_bytes != b_bytes ? (a_bytes < b_bytes) - (a_bytes > b_bytes) : by_bytes(left, right);
}

nm_status nm_advise(const nm_workload *workload, size_t class_max, nm_advice *advice, nm_error *err)
{
    census state = {0};
    nm_status status;

    *advice = (nm_advice){0};
    status = find_sizes(workload, &state, err);
    if (status == NM_OK) {
        count_uses(workload, &state, advice);
        if (state.count > 1)
            qsort(state.uses, state.count, sizeof *state.uses, by_bytes);
        status = choose_classes(state.uses, state.count,
                                class_max < NM_BUCKET_CLASSES_MAX ? class_max : NM_BUCKET_CLASSES_MAX, advice, err);
        count_blocks(workload, state.held, advice);
    }
    for (size_t i = 0; i < state.count; i++) {
        advice->request_count += state.uses[i].request_count;
        advice->again_count += state.uses[i].again_count;
    }
    if (state.count > 1)
        qsort(state.uses, state.count, sizeof *state.uses, by_traffic);
    advice->sizes = state.uses;
    advice->size_count = state.count;
    free(state.use_of);
    free(state.held);
    free(state.live);
    free(state.waiting);
    return status;
}

void nm_advice_free(nm_advice *advice)
{
    free(advice->sizes);
    *advice = (nm_advice){0};
}
