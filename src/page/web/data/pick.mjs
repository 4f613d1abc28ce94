/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows out of many, without making or sorting all of them: the first blocks by a key, and what happened next to a moment. Each is a pass over the columns.
 */
import {isKnown} from '../state/format.mjs';
import {keysOf, texterOf} from './groups.mjs';
import {columnOf, knownAround, remember} from './model.mjs';
import {givenUpSeq} from './segments.mjs';

const SPARE = 1024; /* so many more are kept before what is too many is dropped */

/* The first `most` of what is put in by key, then by kind and number; NaN is behind all. */
function makeFirst(most) {
    const compare = (a, b) => a.order - b.order || a.kind - b.kind || a.i - b.i || 0;
    let kept = [], worst = Infinity;
    const cut = () => {
        kept = kept.sort(compare).slice(0, most);
        worst = kept.length === most ? kept[most - 1].order : Infinity;
    };
    return {
        put(key, i, kind) {
            const order = Number.isNaN(key) ? Number.MAX_VALUE : key;
            if (order > worst)
                return;
            kept.push({order, i, kind});
            if (kept.length >= 2 * most + SPARE)
                cut();
        },
        all: () => {
            cut();
            return kept;
        },
    };
}

/* Of the numbers from `begin` to `end` that pass the first `most` by keyOf(i): {shown, passing}. Pure. */
export function pickFirst(begin, end, passes, keyOf, isDown, most) {
    const first = makeFirst(most);
    let passing = 0;
    for (let i = begin; i < end; i++)
        if (passes(i)) {
            first.put(isDown ? -keyOf(i) : keyOf(i), i, 0);
            passing++;
        }
    return {shown: first.all().map(({i}) => i), passing};
}

/* Keys of all blocks for a way of grouping, counted once. */
function keysOnce(model, kind) {
    return remember(model, `${kind} keys`, () => keysOf(model, kind));
}

/* rankOf(i): where what a block is called lies among all that blocks are called. Pure. */
export function ranksBy(model, kind) {
    const keys = keysOnce(model, kind), ranks = remember(model, `${kind} ranks`, () => {
        const text = texterOf(model, kind), texts = new Map([...new Set(keys)].map((key) => [key, text(key)])), order = new Map([...new Set(texts.values())].sort().map((name, rank) => [name, rank]));
        return new Map([...texts].map(([key, name]) => [key, order.get(name)]));
    });
    return (i) => ranks.get(keys[i]);
}

/* Does what a block is called, in one of several ways, pass? Each name is asked once. */
export function passerBy(model, kinds, filter) {
    const parts = kinds.map((kind) => {
        const keys = keysOnce(model, kind), text = texterOf(model, kind), known = new Map();
        return (i) => {
            if (!known.has(keys[i]))
                known.set(keys[i], filter(text(keys[i])));
            return known.get(keys[i]);
        };
    });
    return (i) => parts.some((passes) => passes(i));
}

export const EVENT_KINDS = ['freed', 'given up', 'allocated', 'segment given back', 'segment got', 'step', 'moment'];
const [FREED, GIVEN_UP, ALLOCATED, RETURNED, GOT, STEP, MOMENT] = EVENT_KINDS.keys();

/* Of blocks by their births the first that is born behind an event. */
function firstBornAfter(blocks, begin, end, seq) {
    let low = begin, high = end;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (blocks.alloc_seq[middle] > seq)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* What is nearest to `seq` comes first, as a rule: what is further is dropped at once. Calls each(seq, number, kind) for what happened to the blocks that pass, to segments, and for steps and moments: numbers are of blocks, or of the list of that kind. */
function eachEvent(model, heap, seq, passes, isAll, each) {
    const {blocks} = model, {begin, end} = model.blockRanges.get(heap.heap_id) ?? {begin: 0, end: 0}, segments = model.segments.get(heap.heap_id) ?? [], hasGivenUp = columnOf(blocks, 'given_up') !== null, middle = firstBornAfter(blocks, begin, end, seq);
    const visit = (i) => {
        if (!passes(i))
            return;
        each(blocks.alloc_seq[i], i, ALLOCATED);
        each(blocks.free_seq[i], i, FREED);
        if (hasGivenUp)
            each(givenUpSeq(blocks, i), i, GIVEN_UP);
    };
    for (let i = middle - 1; i >= begin; i--)
        visit(i);
    for (let i = middle; i < end; i++)
        visit(i);
    if (!isAll)
        return;
    segments.forEach((row, i) => {
        each(row.alloc_seq ?? NaN, i, GOT);
        each(row.free_seq ?? NaN, i, RETURNED);
    });
    heap.steps.forEach((row, i) => each(row.begin_seq ?? NaN, i, STEP));
    heap.named.forEach((row, i) => each(row.seq, i, MOMENT));
}

/* What was live right after each of some events, which are in order. */
function liveAfter(model, heap, seqs) {
    const {blocks} = model, range = model.blockRanges.get(heap.heap_id), change = new Float64Array(seqs.length + 1);
    const placeOfSeq = (seq) => {
        if (seq <= seqs[0] || seq > seqs[seqs.length - 1])
            return seq <= seqs[0] ? 0 : seqs.length;
        let low = 0, high = seqs.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (seqs[middle] >= seq)
                high = middle;
            else
                low = middle + 1;
        }
        return low;
    };
    for (let i = range?.begin ?? 0; range && i < range.end; i++) {
        change[isKnown(blocks.alloc_seq[i]) ? placeOfSeq(blocks.alloc_seq[i]) : 0] += blocks.size_bytes[i];
        change[isKnown(blocks.free_seq[i]) ? placeOfSeq(blocks.free_seq[i]) : seqs.length] -= blocks.size_bytes[i];
    }
    let live = 0;
    return seqs.map((_, k) => (live += change[k]));
}

/*
 * The `most` last events of a heap up to one and the `most` first behind it, as far as all are known: [{seq, kind, number, live_bytes}] in their order; null: none are. Those of blocks
 * that pass; isAll: those of segments, steps and moments, too. Pure.
 */
export function eventsAround(model, heap, seq, most, passes, isAll) {
    const known = knownAround(model, heap.heap_id, seq), before = makeFirst(most), after = makeFirst(most);
    if (known === null)
        return null;
    eachEvent(model, heap, seq, passes, isAll, (at, i, kind) => {
        if (at <= seq && at >= known.from)
            before.put(-at, i, -kind);
        else if (at > seq && at <= known.to)
            after.put(at, i, kind);
    });
    const rows = [...before.all().reverse().map(({order, i, kind}) => ({seq: -order, number: i, kind: EVENT_KINDS[-kind]})), ...after.all().map(({order, i, kind}) => ({seq: order, number: i, kind: EVENT_KINDS[kind]}))];
    const live = liveAfter(model, heap, rows.map((row) => row.seq));
    return rows.map((row, k) => ({...row, live_bytes: live[k]}));
}
