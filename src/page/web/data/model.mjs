/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the page, put into relation: heaps with what belongs to each, stacks with their frames, steps and clocks. Nothing here
 * draws, and nothing changes after makeModel but that the blocks come.
 */
import {isKnown} from '../state/format.mjs';
import {openingRange} from '../state/opening.mjs';
import {offsetOf} from './raster.mjs';

const PLACE = ['host', 'rank', 'pid', 'device', 'heap', 'level'];

function columnNames(table) {
    return Object.keys(table).filter((name) => name !== 'rows');
}

/* Rows of a short table as objects. NULL of a number is null, too. */
export function rowsOf(table) {
    const rows = [];
    if (!table)
        return rows;
    const names = columnNames(table), columns = names.map((name) => table[name]);
    for (let i = 0; i < table.rows; i++) {
        const row = {};
        for (let k = 0; k < names.length; k++)
            row[names[k]] = isKnown(columns[k][i]) ? columns[k][i] : null;
        rows.push(row);
    }
    return rows;
}

/* Of which heap a row of a view is: its first six columns as one text. */
export function placeOf(row) {
    return PLACE.map((name) => row[name] ?? '').join('\u0001');
}

export function groupBy(rows, keyOf) {
    const groups = new Map();
    for (const row of rows) {
        const key = keyOf(row);
        if (!groups.has(key))
            groups.set(key, []);
        groups.get(key).push(row);
    }
    return groups;
}

/* "rank 3, NPU 0, caching pool": no more than tells heaps apart. */
function heapLabel(heap, heaps) {
    const differ = (name) => heaps.some((other) => other[name] !== heap[name]);
    const parts = [];
    if (heap.rank !== null && differ('rank'))
        parts.push(`rank ${heap.rank}`);
    if (differ('host') && heap.host !== null)
        parts.push(heap.host);
    if (heap.pid !== null && differ('pid') && !differ('rank'))
        parts.push(`pid ${heap.pid}`);
    parts.push(heap.device === null ? 'host' : `device ${heap.device}`);
    parts.push(heap.heap ?? heap.level);
    return parts.join(' \u00b7 ');
}

/* What table finding says of a row of a view: of that place and kind, with the same in the columns `same`; undefined: nothing. Pure. */
export function findingOf(model, kind, row, same) {
    return (model.byPlace('finding').get(placeOf(row)) ?? []).find((finding) => finding.kind === kind && same.every((name) => finding[name] === row[name]));
}

/* Its texts of one language as one, those that are there; null: none is. Pure. */
export function joinTexts(...texts) {
    return texts.filter((text) => text !== null && text !== undefined).join('\n') || null;
}

/* Of each heap its buckets, as columns. */
export function makeUsage(table) {
    const usage = new Map();
    if (!table)
        return usage;
    for (const [id, {begin, end}] of rangesOf(table))
        usage.set(id, Object.fromEntries(columnNames(table).map((name) => [name, table[name].subarray(begin, end)])));
    return usage;
}

/* The range of events of an input, that of its last failure too, and a clock where times are known. */
function makeInput(row, heaps, usage, failures) {
    const points = new Map(), processes = new Set(heaps.filter((one) => one.input_id === row.input_id).map((one) => one.process_id));
    let first = Infinity, last = Math.max(-Infinity, ...failures.filter((moment) => processes.has(moment.process_id)).map((moment) => moment.seq));
    for (const heap of heaps.filter((one) => one.input_id === row.input_id)) {
        const own = usage.get(heap.heap_id);
        for (let i = 0; own && i < own.last_seq.length; i++) {
            if (isKnown(own.first_seq[i]))
                first = Math.min(first, own.first_seq[i]);
            if (isKnown(own.last_seq[i]))
                last = Math.max(last, own.last_seq[i]);
            if (isKnown(own.last_seq[i]) && isKnown(own.last_ns[i]))
                points.set(own.last_seq[i], own.last_ns[i]);
            if (isKnown(own.max_seq[i]) && isKnown(own.max_ns[i]))
                points.set(own.max_seq[i], own.max_ns[i]);
        }
    }
    const range = first < last ? {first, last: last + 1} : {first: 0, last: 1};
    return {...row, ...range, clock: makeClock(points)};
}

/* Times can tie or, of threads, step back a little: the clock does not. */
export function makeClock(points) {
    const sorted = [...points].sort((a, b) => a[0] - b[0]), seqs = [], times = [];
    for (const [seq, time] of sorted) {
        seqs.push(seq);
        times.push(times.length === 0 ? time : Math.max(time, times[times.length - 1]));
    }
    return seqs.length > 1 && times[times.length - 1] > times[0] ? {seqs, times} : null;
}

/* The axis of steps: the beginning of each is at a whole number, what comes before the first is one wide. null: there are none. */
export function makeStepClock(steps, input) {
    const known = steps.filter((step) => step.begin_seq !== null);
    if (known.length === 0)
        return null;
    const seqs = known.map((step) => step.begin_seq), times = known.map((_, i) => i), numbers = known.map((step) => step.number);
    if (input.first < seqs[0]) {
        seqs.unshift(input.first);
        times.unshift(-1);
    }
    if (input.last > seqs[seqs.length - 1]) {
        seqs.push(input.last);
        times.push(known.length);
    }
    return {seqs, times, textOf: (place) => (numbers[place] === undefined ? null : String(numbers[place]))};
}

function makeStacks(stackTable, frameTable) {
    const frames = new Map(rowsOf(frameTable).map((frame) => [frame.frame_id, frame]));
    const rowOf = new Map();
    for (let i = 0; stackTable && i < stackTable.rows; i++)
        rowOf.set(stackTable.stack_id[i], i);
    const siteFrame = (stackId) => (rowOf.has(stackId) ? stackTable.site_frame_id[rowOf.get(stackId)] : NaN);
    const label = (frameId) => frames.get(frameId)?.label ?? null;
    /* What is compiled without its source's name has that of its library. */
    const fileOf = (stackId) => {
        const frame = frames.get(siteFrame(stackId));
        return frame ? frame.file ?? frame.module ?? frame.label : '(no stack)';
    };
    /* Innermost first; each {label, isPlumbing}. A chain that has no end is cut. */
    const walk = (stackId) => {
        const found = [];
        for (let id = stackId; rowOf.has(id) && found.length < 512; id = stackTable.parent_id[rowOf.get(id)]) {
            const frame = frames.get(stackTable.frame_id[rowOf.get(id)]);
            found.push({label: frame?.label ?? '??', isPlumbing: frame?.is_plumbing === 1});
        }
        return found;
    };
    return {hasFiles: [...frames.values()].some((frame) => frame.file !== null), fileOf, siteFrame, siteOf: (stackId) => label(siteFrame(stackId)) ?? '(no stack)', label, walk};
}

/*
 * Births and ends of blocks as events: NaN is before the recording, and never. They are written into `births` and `ends`, which may be what they are
 * made of. Columns that nobody has asked for stay undecoded.
 */
function makeBlocks(table, births, ends) {
    const {born, life} = table;
    for (let i = 0; i < born.length; i++) {
        ends[i] = born[i] + life[i];
        births[i] = born[i] < 0 ? NaN : born[i];
    }
    const columns = Object.getOwnPropertyDescriptors(table);
    delete columns.born;
    delete columns.life;
    return Object.defineProperties({alloc_seq: births, free_seq: ends}, columns);
}

/* A column of blocks; null: it is NULL in each row, or not there. */
export function columnOf(blocks, name) {
    return blocks.unknown?.has(name) ? null : blocks[name] ?? null;
}

const SEGMENTS_MAX = 200000; /* rows of table segment_block: of so many some may be missing */

/* Of each heap where its rows begin and end: they lie together. */
function rangesOf(table) {
    const ranges = new Map();
    if (!table)
        return ranges;
    const ids = table.heap_id;
    for (let begin = 0, i = 1; i <= table.rows; i++)
        if (i === table.rows || ids[i] !== ids[begin]) {
            ranges.set(ids[begin], {begin, end: i});
            begin = i;
        }
    return ranges;
}

/* The heap that a row is of; where it names none, or one without a picture, the pool of its process and device. */
export function heapOfRow(heaps, row) {
    const isSame = (heap) => ['host', 'rank', 'pid', 'device'].every((name) => heap[name] === row[name]);
    return heaps.find((heap) => heap.place === placeOf(row)) ?? heaps.find((heap) => isSame(heap) && heap.level === 'pool') ?? heaps.find(isSame) ?? null;
}

/* A refusal of the driver is a matter of the pool that asked it. */
export function poolOfRow(heaps, row) {
    return heapOfRow(heaps, {...row, heap: null, level: null});
}

/* What is looked at first: where memory ran out for good, else where most leaks, else the pool with the highest peak, else any heap. */
export function bestHeap(heaps, failures, leaks) {
    const fatal = failures.find((row) => row.outcome !== 'recovered'), found = fatal ? poolOfRow(heaps, fatal) : leaks.length > 0 ? heapOfRow(heaps, leaks[0]) : null;
    const isBetter = (heap, best) => best === null || (heap.level === 'pool') - (best.level === 'pool') || (heap.peak?.peak_bytes ?? 0) - (best.peak?.peak_bytes ?? 0);
    return found ?? heaps.reduce((best, heap) => (isBetter(heap, best) > 0 || best === null ? heap : best), null);
}

/* What has a name beside the peak and the end, of whichever heap of the process or its device it is. */
function isNamed(moment, heap) {
    const isOwn = moment.process_id === heap.process_id || (moment.kind === 'device peak' && moment.device_id !== null && moment.device_id === heap.device_id);
    return isOwn && moment.seq !== null && (['mark', 'failure', 'device peak'].includes(moment.kind) || (moment.kind === 'reserve' && moment.heap_id === heap.heap_id));
}

export function makeModel(page) {
    const {tables} = page, heaps = rowsOf(tables.heap), usage = makeUsage(tables.usage);
    const moments = rowsOf(tables.moment), failures = moments.filter((moment) => moment.kind === 'failure' && moment.seq !== null);
    const inputs = new Map(rowsOf(tables.input).map((row) => [row.input_id, makeInput(row, heaps, usage, failures)]));
    const grouped = new Map(), heapById = new Map(heaps.map((heap) => [heap.heap_id, heap]));
    /* A table that names no place has the number of the heap. */
    const placeOfAny = (row) => (row.level === undefined && row.heap_id !== undefined ? heapById.get(row.heap_id)?.place ?? '' : placeOf(row));
    const byPlace = (name) => {
        if (!grouped.has(name))
            grouped.set(name, groupBy(rowsOf(tables[name]), placeOfAny));
        return grouped.get(name);
    };
    const stepClocks = new Map(), clockOfSteps = (heap) => {
        if (!stepClocks.has(heap.process_id))
            stepClocks.set(heap.process_id, heap.input ? makeStepClock(heap.steps, heap.input) : null);
        return stepClocks.get(heap.process_id);
    };
    const peaks = byPlace('peak'), totals = byPlace('total');
    const steps = groupBy(rowsOf(tables.step), (row) => row.process_id);
    for (const heap of heaps) {
        heap.place = placeOf(heap);
        heap.label = heapLabel(heap, heaps);
        heap.peak = peaks.get(heap.place)?.[0] ?? null;
        heap.total = totals.get(heap.place)?.[0] ?? null;
        heap.usage = usage.get(heap.heap_id) ?? null;
        heap.input = inputs.get(heap.input_id);
        heap.steps = steps.get(heap.process_id) ?? [];
        heap.stepClock = clockOfSteps(heap);
        heap.moments = moments.filter((moment) => (moment.heap_id === heap.heap_id || (moment.heap_id === null && moment.process_id === heap.process_id)) && moment.seq !== null);
        heap.named = moments.filter((moment) => isNamed(moment, heap));
        heap.cells = page.cells.get(heap.heap_id) ?? null;
    }
    const exhausted = rowsOf(tables.oom), best = bestHeap(heaps.filter((heap) => heap.usage !== null), exhausted, rowsOf(tables.leak)) ?? heaps[0] ?? null;
    return {
        page, tables, inputs, heaps, heapById, usage, steps, best,
        opening: best === null ? null : openingRange(best, exhausted.filter((row) => poolOfRow(heaps, row)?.process_id === best.process_id)),
        rows: (name) => rowsOf(tables[name]), byPlace, kept: null, windows: new Map(), blocks: null, blockRanges: new Map(), hasAllBlocks: false,
        stacks: makeStacks(tables.stack, tables.frame),
        cached: new Map(), offsets: new Map(), lanes: groupBy(rowsOf(tables.lane), (row) => row.heap_id), segments: groupBy(rowsOf(tables.segment), (row) => row.heap_id),
        categories: new Map(rowsOf(tables.category).map((row) => [row.category_id, row.name])),
        inferred: new Set(rowsOf(tables.category).filter((row) => row.is_estimate === 1).map((row) => row.category_id)),
        samples: groupBy(rowsOf(tables.sample), (row) => row.device_id), stepRanges: rangesOf(tables.step_sum),
        leakSites: new Set(rowsOf(tables.leak).map((row) => row.site)),
    };
}

/* Ranges of a process, by their begins: of many rows no more than is drawn. */
export function rangesOfProcess(model, processId) {
    const {process_id: owners, name: names, begin_seq: begins, end_seq: ends} = model.tables.range ?? {process_id: []}, found = [];
    for (let i = 0; i < owners.length; i++)
        if (owners[i] === processId)
            found.push({name: names[i], begin_seq: begins[i], end_seq: isKnown(ends[i]) ? ends[i] : null});
    return found;
}

/* Sums of the steps of a heap, in their order. */
export function stepSumsOf(model, heapId) {
    return remember(model, `step sums ${heapId}`, () => {
        const {begin, end} = model.stepRanges.get(heapId) ?? {begin: 0, end: 0}, table = model.tables.step_sum;
        return begin === end ? [] : rowsOf({rows: end - begin, ...Object.fromEntries(columnNames(table).map((name) => [name, table[name].subarray(begin, end)]))});
    });
}

/* What takes time to count and stays as it is until other blocks come. */
export function remember(model, key, count) {
    if (!model.cached.has(key))
        model.cached.set(key, count());
    return model.cached.get(key);
}

/* Where the blocks of a heap lie on the axis of its lanes, from the first of them on; -1: nowhere. Counted when it is first asked. */
export function blockOffsets(model, heapId) {
    if (!model.offsets.has(heapId)) {
        const range = model.blockRanges.get(heapId), lanes = model.lanes.get(heapId) ?? [];
        model.offsets.set(heapId, Float64Array.from({length: range.end - range.begin}, (_, i) => offsetOf(lanes, model.blocks.address[range.begin + i])));
    }
    return model.offsets.get(heapId);
}

export const ANCHOR_KINDS = ['peak', 'end', 'failure', 'leak']; /* as page/windows.h numbers them */

/* Of each heap the ranges of events of which every block is here, in order and apart: {from, to, anchors}. Pure. */
export function makeWindows(anchors, kept) {
    const windows = new Map();
    if (!kept || kept.reach === null || kept.reach === undefined)
        return windows;
    for (const anchor of anchors.filter((one) => one.kind <= kept.kind_last).sort((a, b) => a.heap_id - b.heap_id || a.seq - b.seq)) {
        const own = windows.get(anchor.heap_id) ?? [], last = own[own.length - 1], from = anchor.seq - kept.reach, to = anchor.seq + kept.reach;
        if (last && from <= last.to + 1) {
            last.to = to;
            last.anchors.push(anchor);
        } else
            own.push({from, to, anchors: [anchor]});
        windows.set(anchor.heap_id, own);
    }
    return windows;
}

/* Is every block here that a heap had between two events? */
export function hasBlocksOf(model, heapId, from, to) {
    return model.hasAllBlocks || (model.windows.get(heapId) ?? []).some((window) => from >= window.from && to <= window.to);
}

/* Single blocks, which are read last, with what is known of them. The table is given up. */
export function addBlocks(model, table, kept, anchors) {
    model.kept = kept ?? null;
    model.windows = makeWindows(anchors ?? [], model.kept);
    model.cached = new Map();
    model.blocks = table ? makeBlocks(table, table.born, table.life) : null;
    model.blockRanges = rangesOf(table);
    model.segmentRanges = rangesOf(model.tables?.segment_block);
    model.hasAllSegments = (model.tables?.segment_block?.rows ?? 0) < SEGMENTS_MAX && !rowsOf(model.tables?.cut).some((row) => row.name === 'segment_block');
    model.hasAllBlocks = model.kept === null || model.kept.kept_count === model.kept.block_count;
}

const TEXT_COLUMNS = ['own_category', 'operation', 'module'];

/* Columns of two tables of blocks, one behind the other, cut to a range of each. A column of texts that are all NULL comes as one of numbers. */
function joinColumns(first, firstRange, second, secondRange) {
    const joined = {};
    for (const name of Object.keys(second).filter((one) => one !== 'rows')) {
        const values = [...(firstRange && first[name] ? first[name].slice(firstRange.begin, firstRange.end) : []), ...second[name].slice(secondRange.begin, secondRange.end)];
        joined[name] = TEXT_COLUMNS.includes(name) ? values.map((text) => (typeof text === 'string' ? text : null)) : Float64Array.from(values);
    }
    return joined;
}

/* The events round one of which every block of a heap is here: {from, to}; null: of that one not every block is. */
export function knownAround(model, heapId, seq) {
    return model.hasAllBlocks ? {from: -Infinity, to: Infinity} : (model.windows.get(heapId) ?? []).find((window) => seq >= window.from && seq <= window.to) ?? null;
}

/* The model as far as blocks of the heap go, with segments among them: what the driver gave to pools is live like all else it gave. */
export function withSegments(model, heap) {
    const range = model.segmentRanges?.get(heap.heap_id);
    if (!range || model.blocks === null)
        return model;
    return remember(model, `segments ${heap.heap_id}`, () => {
        const segments = model.tables.segment_block, made = makeBlocks(segments, new Float64Array(segments.rows), new Float64Array(segments.rows)), blocks = joinColumns(model.blocks, model.blockRanges.get(heap.heap_id), made, range);
        return {...model, cached: new Map(), blocks, blockRanges: new Map([[heap.heap_id, {begin: 0, end: blocks.size_bytes.length}]])};
    });
}

/* Has the database every allocation of an input, so that what is counted is what there was? */
export function isWhole(input) {
    return input?.detail === 'all' && input.detail_begin_seq === null;
}

/* And are all of them here? */
export function hasEveryBlock(model, input) {
    return model.hasAllBlocks && isWhole(input);
}

/* How many steps had begun by an event. */
export function countSteps(steps, seq) {
    let low = 0, high = steps.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((steps[middle].begin_seq ?? -1) <= seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The step that an event is in; null: before the first, or steps are not known. */
export function stepAt(steps, seq) {
    return steps[countSteps(steps, seq) - 1] ?? null;
}

/* Numbers of the blocks of a heap that were live right after an event. */
export function liveBlocks(model, heapId, seq) {
    const {blocks} = model, range = model.blockRanges.get(heapId), found = [];
    for (let i = range?.begin ?? 0; range && i < range.end; i++)
        if (!(blocks.alloc_seq[i] > seq) && !(blocks.free_seq[i] <= seq))
            found.push(i);
    return found;
}

/* Sums of blocks by a key; largest first. */
export function sumBlocks(blocks, numbers, keyOf) {
    const sums = new Map();
    for (const i of numbers) {
        const key = keyOf(i), sum = sums.get(key) ?? {key, count: 0, bytes: 0};
        sum.count++;
        sum.bytes += blocks.size_bytes[i];
        sums.set(key, sum);
    }
    return [...sums.values()].sort((a, b) => b.bytes - a.bytes || (a.key < b.key ? -1 : 1));
}
