/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments of a pool as they were right after an event: what lies in each, what is free between, and who keeps it from going back. Counted from single
 * blocks by the rules of analysis/blockers.c, so that it is exact at every event of which all blocks are here. No drawing.
 */
import {isKnown} from '../state/format.mjs';
import {isBaseline, isCounted, namerOf} from './groups.mjs';
import {columnOf, liveBlocks} from './model.mjs';

/* What a block has beyond what was asked for; NaN: not known. */
export function roundingOf(blocks, i) {
    return columnOf(blocks, 'rounding')?.[i] ?? NaN;
}

/* The event at which the program gave a block up while another stream still used it; NaN: it did not. */
export function givenUpSeq(blocks, i) {
    return (isKnown(blocks.alloc_seq[i]) ? blocks.alloc_seq[i] : -1) + (columnOf(blocks, 'given_up')?.[i] ?? NaN);
}

/* What a block occupies. Sums of a heap may be of what was asked for. */
function occupiedBytes(blocks, heap, i) {
    const rounding = heap.size_basis === 'requested' ? roundingOf(blocks, i) : 0;
    return blocks.size_bytes[i] + (isKnown(rounding) ? rounding : 0);
}

/* [{from, to, block}] of a segment by address, gaps with block -1; `inside` are its blocks by address. */
function layOut(blocks, heap, from, to, inside) {
    const parts = [];
    let at = from;
    for (const i of inside) {
        const begin = Math.max(at, blocks.address[i]), end = Math.min(to, blocks.address[i] + occupiedBytes(blocks, heap, i));
        if (begin > at)
            parts.push({from: at, to: begin, block: -1});
        parts.push({from: begin, to: Math.max(begin, end), block: i});
        at = Math.max(at, end);
    }
    if (at < to)
        parts.push({from: at, to, block: -1});
    return parts;
}

function sumOfParts(parts) {
    return parts.reduce((sum, part) => sum + part.to - part.from, 0);
}

/* A segment with its parts and their sums; rounding_bytes is null where it is not known of a block. */
function describeSegment(model, heap, row, inside, seq) {
    const {blocks} = model, parts = layOut(blocks, heap, row.address, row.address + row.size_bytes, inside), gaps = parts.filter((part) => part.block < 0), free = sumOfParts(gaps);
    const rounding = inside.reduce((sum, i) => sum + roundingOf(blocks, i), 0), pending = parts.filter((part) => part.block >= 0 && givenUpSeq(blocks, part.block) <= seq);
    return {id: row.allocation_id, address: row.address, size_bytes: row.size_bytes, alloc_seq: row.alloc_seq, free_seq: row.free_seq, parts, block_count: inside.length, used_bytes: row.size_bytes - free, free_bytes: free,
        stuck_bytes: inside.length > 0 ? free : 0, largest_bytes: Math.max(0, ...gaps.map((gap) => gap.to - gap.from)), gap_count: gaps.length, pending_bytes: sumOfParts(pending), rounding_bytes: isKnown(rounding) ? rounding : null};
}

/* All of a heap right after an event, by address; null: not every block that lived then is here. Pure. */
export function segmentsAt(model, heap, seq) {
    if (seq === null || model.blocks === null || !isCounted(model, heap, seq))
        return null;
    const {blocks} = model, live = liveBlocks(model, heap.heap_id, seq).sort((a, b) => blocks.address[a] - blocks.address[b]);
    const rows = (model.segments.get(heap.heap_id) ?? []).filter((row) => !(row.alloc_seq > seq) && (row.free_seq === null || row.free_seq > seq)).sort((a, b) => a.address - b.address);
    let first = 0;
    return rows.map((row) => {
        const inside = [];
        while (first < live.length && blocks.address[live[first]] + occupiedBytes(blocks, heap, live[first]) <= row.address)
            first++;
        for (let k = first; k < live.length && blocks.address[live[k]] < row.address + row.size_bytes; k++)
            inside.push(live[k]);
        return describeSegment(model, heap, row, inside, seq);
    });
}

/*
 * Who keeps a segment from going back: [{site, stack, count, bytes, hostage_bytes}], most first. What is free in it is split evenly over its blocks,
 * and what is left over, a byte each, over those with the lowest addresses. Pure.
 */
export function holdersOf(model, segment) {
    const {blocks} = model, nameOf = namerOf(model, 'site'), holders = new Map(), held = segment.parts.filter((part) => part.block >= 0), free = segment.stuck_bytes;
    for (const [k, {from, to, block}] of held.entries()) {
        const site = nameOf(block), holder = holders.get(site) ?? {site, stack: isBaseline(blocks, block) ? null : blocks.stack_id[block], count: 0, bytes: 0, hostage_bytes: 0};
        holder.count++;
        holder.bytes += to - from;
        holder.hostage_bytes += Math.floor(free / held.length) + Number(k < free % held.length);
        holders.set(site, holder);
    }
    return [...holders.values()].sort((a, b) => b.hostage_bytes - a.hostage_bytes || b.bytes - a.bytes || (a.site < b.site ? -1 : 1));
}

/* The segment that an address is in; null: none. Pure. */
export function segmentOf(segments, address) {
    return segments?.find((one) => address >= one.address && address < one.address + one.size_bytes) ?? null;
}
