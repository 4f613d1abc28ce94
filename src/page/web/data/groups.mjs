/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks summed up: by what they are called in one of several ways, and what of them came, went and stayed between two moments. All of it is
 * counted block by block, so that it is exact where every block is here.
 */
import {isKnown} from '../state/format.mjs';
import {columnOf, hasBlocksOf, isWhole, liveBlocks, remember} from './model.mjs';

export const NO_STACK = '(no stack)';
export const BASELINE = '(baseline)';
const NO_MODULE = '(no module)', NO_OPERATION = '(no operation)';

/* Is every block of the heap here (of one that has segments: of withSegments), so that what is counted is what there was? Pure. */
export function isCounted(model, heap, seq) {
    return (seq === undefined ? model.hasAllBlocks : hasBlocksOf(model, heap.heap_id, seq, seq)) && model.hasAllSegments && isWhole(heap.input) && model.blockRanges.has(heap.heap_id);
}

/* What was there before, and has no stack. */
export function isBaseline(blocks, i) {
    return Number.isNaN(blocks.alloc_seq[i]) && !isKnown(blocks.stack_id[i]);
}

/* A private pool of a snapshot is a pair in one number. */
function poolName(number) {
    return `pool ${number >= 2 ** 32 ? `${Math.floor(number / 2 ** 32)}, ${number % 2 ** 32}` : number}`;
}

/*
 * For each way of grouping: key(i) is the same for blocks that belong together, text(key) is what they are called. A site is a frame: two files of
 * one name have sites that are called the same. What stands for none is in parentheses, as in views.
 */
const asText = (key) => String(key);
const KINDS = {
    site: ({blocks, stacks}) => ({key: (i) => (isBaseline(blocks, i) ? BASELINE : stacks.siteFrame(blocks.stack_id[i])), text: (key) => (key === BASELINE ? key : stacks.label(key) ?? NO_STACK)}),
    category: ({blocks, categories, inferred}) => ({key: (i) => blocks.own_category?.[i] ?? blocks.category_id[i], text: (key) => (typeof key === 'string' ? key : categories.get(key) ?? 'unknown'), isEstimate: (key) => inferred.has(key)}),
    module: ({blocks}) => ({key: (i) => blocks.module?.[i] ?? NO_MODULE, text: asText}),
    file: ({blocks, stacks}) => ({key: (i) => (isBaseline(blocks, i) ? BASELINE : stacks.fileOf(blocks.stack_id[i])), text: asText}),
    stack: ({blocks, stacks}) => ({key: (i) => (isBaseline(blocks, i) ? BASELINE : blocks.stack_id[i]), text: (key) => (key === BASELINE ? key : stacks.siteOf(key))}),
    operation: ({blocks}) => ({key: (i) => blocks.operation?.[i] ?? NO_OPERATION, text: asText}),
    stream: ({blocks}) => ({key: (i) => (isKnown(blocks.stream[i]) ? `stream ${blocks.stream[i]}` : 'stream not known'), text: asText}),
    'private pool': ({blocks}) => ({key: (i) => (isKnown(blocks.private_pool[i]) ? poolName(blocks.private_pool[i]) : 'no private pool'), text: asText}),
};

export const GROUPINGS = Object.keys(KINDS);

/* nameOf(i): what block i is called. */
export function namerOf(model, kind) {
    const {key, text} = KINDS[kind](model);
    return (i) => text(key(i));
}

function hasAny(blocks, name, range) {
    const column = columnOf(blocks, name);
    for (let i = range?.begin ?? 0; column && range && i < range.end; i++)
        if (isKnown(column[i]))
            return true;
    return false;
}

/* The ways that say something of this heap. */
export function groupingsOf(model, heap) {
    return remember(model, `groupings ${heap.heap_id}`, () => findGroupings(model, heap));
}

function findGroupings(model, heap) {
    const {blocks} = model, range = model.blockRanges.get(heap.heap_id), has = (name) => blocks !== null && hasAny(blocks, name, range);
    const isThere = {site: true, stack: true, category: true, module: has('module') || (model.byPlace('peak_module').get(heap.place) ?? []).length > 0, file: model.stacks.hasFiles, operation: has('operation'), stream: has('stream'), 'private pool': has('private_pool')};
    return GROUPINGS.filter((kind) => isThere[kind]);
}

function addTo(sums, key, bytes, count) {
    const sum = sums.get(key) ?? {bytes: 0, count: 0};
    sum.bytes += bytes;
    sum.count += count;
    sums.set(key, sum);
    return sum;
}

/* Of a Map of sums the key of the largest; null: there is none, or it is not known. */
function largestKey(sums) {
    let best = null;
    for (const [key, sum] of sums)
        if (best === null || sum.bytes > sums.get(best).bytes)
            best = key;
    return isKnown(best) ? best : null;
}

function byWeight(a, b) {
    return b.bytes - a.bytes || (a.name < b.name ? -1 : 1);
}

/* [{key, name, bytes, count, stack, stacks}], the largest first: `stacks` are sums by stack, `stack` is the largest of them. Pure. */
export function groupBlocks(model, numbers, kind) {
    const {blocks} = model, {key: keyOf, text, isEstimate} = KINDS[kind](model), groups = new Map();
    for (const i of numbers) {
        const group = addTo(groups, keyOf(i), blocks.size_bytes[i], 1);
        group.stacks ??= new Map();
        addTo(group.stacks, blocks.stack_id[i], blocks.size_bytes[i], 1);
    }
    return [...groups].map(([key, group]) => ({key, name: text(key), ...group, stack: largestKey(group.stacks), isEstimate: isEstimate?.(key) ?? false})).sort(byWeight);
}

/* The path of the part that a part of a model is in; null: it is in none. As view peak_by_module has it. Pure. */
export function parentPath(path) {
    return path.includes('.') ? path.replace(/\.*[^.]*$/, '') : null;
}

/* Groups of innermost parts to rows of all parts, each with what is in it. Pure. */
export function growModules(groups) {
    const parts = new Map();
    for (const {name, bytes, count, stack} of groups)
        for (let path = name; path !== null; path = name === NO_MODULE ? null : parentPath(path)) {
            const part = addTo(parts, path, bytes, count);
            part.stack ??= stack;
        }
    return [...parts].map(([name, sum]) => ({key: name, name, ...sum, stacks: new Map(), parent: name === NO_MODULE ? null : parentPath(name)})).sort(byWeight);
}

/* What tells the groups of blocks apart, for every block of the page. */
export function keysOf(model, kind) {
    const {key} = KINDS[kind](model);
    return Array.from(model.blocks.size_bytes, (_, i) => key(i));
}

/* texterOf(model, kind)(key): what blocks with a key of keysOf are called. */
export function texterOf(model, kind) {
    return KINDS[kind](model).text;
}

/* The names that blocks of a heap have, each once, in the order of their keys: those without one are last. */
export function namesOf(model, heap, kind, keys) {
    const nameOf = namerOf(model, kind), range = model.blockRanges.get(heap.heap_id), first = new Map();
    for (let i = range?.begin ?? 0; range && i < range.end; i++)
        if (!first.has(keys[i]))
            first.set(keys[i], i);
    const rank = (key) => (Number.isFinite(key) ? key : typeof key === 'string' ? Number.MAX_VALUE : Infinity);
    return [...new Set([...first].sort(([a], [b]) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b))).map(([, i]) => nameOf(i)))];
}

/* Blocks by one of GROUPINGS, as rows of a table. Pure. */
export function groupRows(model, numbers, kind) {
    const groups = groupBlocks(model, numbers, kind);
    return kind === 'module' ? growModules(groups) : groups;
}

/* Numbers of the blocks that came, went and stayed from right after one event to right after a later one. Pure. */
export function splitBlocks(model, heapId, fromSeq, toSeq) {
    const {blocks} = model, parts = {came: [], went: [], stayed: []};
    for (const i of liveBlocks(model, heapId, fromSeq))
        parts[blocks.free_seq[i] <= toSeq ? 'went' : 'stayed'].push(i);
    for (const i of liveBlocks(model, heapId, toSeq))
        if (blocks.alloc_seq[i] > fromSeq)
            parts.came.push(i);
    return parts;
}

const PARTS = ['came', 'went', 'stayed'];

/*
 * [{key, name, stack, came_bytes, came_count, went_bytes, went_count, stayed_bytes, stayed_count, net_bytes}], where most came and went first, and the
 * sums of all blocks in `whole`; `came` and `went` are the numbers of these. Pure.
 */
export function differenceOf(model, heapId, fromSeq, toSeq, kind) {
    const split = splitBlocks(model, heapId, fromSeq, toSeq), rows = new Map(), whole = {};
    const empty = () => Object.fromEntries(PARTS.flatMap((part) => [[`${part}_bytes`, 0], [`${part}_count`, 0]]));
    for (const part of PARTS) {
        whole[`${part}_bytes`] = split[part].reduce((sum, i) => sum + model.blocks.size_bytes[i], 0);
        whole[`${part}_count`] = split[part].length;
        for (const group of groupRows(model, split[part], kind)) {
            const row = rows.get(group.key) ?? {key: group.key, name: group.name, stack: group.stack, isEstimate: group.isEstimate, ...empty()};
            row[`${part}_bytes`] = group.bytes;
            row[`${part}_count`] = group.count;
            rows.set(group.key, row);
        }
    }
    for (const row of [...rows.values(), whole])
        row.net_bytes = row.came_bytes - row.went_bytes;
    const moved = (row) => row.came_bytes + row.went_bytes;
    return {whole, came: split.came, went: split.went, rows: [...rows.values()].sort((a, b) => moved(b) - moved(a) || b.stayed_bytes - a.stayed_bytes || (a.name < b.name ? -1 : 1))};
}
