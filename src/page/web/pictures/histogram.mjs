/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes and lifetimes by powers of two, counted block by block: how many blocks, and how many bytes, lie from each power to the next.
 */
import {PALETTE} from './colours.mjs';
import {make} from './dom.mjs';
import {formatBytes, formatCount, isKnown} from '../state/format.mjs';
import {isCounted} from '../data/groups.mjs';
import {makeBar, makeTable} from './table.mjs';
import {say, sayWith} from '../state/words.mjs';

const POWERS = 1 + 64; /* one of them is what is below 1 */

/* The n of 2^n <= value < 2^(n+1); -1 of what is below 1. Exact, where a logarithm may be a hair off. Pure. */
export function powerOf(value) {
    if (!(value >= 1))
        return -1;
    if (value < 2 ** 31)
        return 31 - Math.clz32(value);
    let power = Math.floor(Math.log2(value));
    while (2 ** power > value)
        power--;
    while (2 ** (power + 1) <= value)
        power++;
    return power;
}

function makePowers() {
    return {counts: new Float64Array(POWERS), bytes: new Float64Array(POWERS)};
}

function addPower(powers, value, bytes) {
    const at = powerOf(value) + 1;
    powers.counts[at]++;
    powers.bytes[at] += bytes;
}

/* [{at_least, below, count, bytes}], from the least power to the largest; what lies between is there, too. */
function rowsOfPowers({counts, bytes}) {
    const used = [...counts.keys()].filter((at) => counts[at] > 0), rows = [];
    for (let at = used[0]; at <= used[used.length - 1]; at++)
        rows.push({at_least: at === 0 ? 0 : 2 ** (at - 1), below: 2 ** at, count: counts[at], bytes: bytes[at]});
    return rows;
}

/* Of values with their bytes. Pure. */
export function histogramOf(values, bytes) {
    const powers = makePowers();
    values.forEach((value, i) => addPower(powers, value, bytes[i]));
    return rowsOfPowers(powers);
}

/* Does the filter let the site of a stack pass? Each stack is asked about once. */
function stackFilter(model, filter) {
    const passing = new Map();
    return (stackId) => {
        if (!passing.has(stackId))
            passing.set(stackId, filter(model.stacks.siteOf(stackId)));
        return passing.get(stackId);
    };
}

/* Calls take(number of the block) for the blocks of a heap that were born within the range, of sites that the filter lets pass. Pure. */
export function eachBorn(model, heap, values, filter, take) {
    const {alloc_seq: births, stack_id: stacks} = model.blocks, range = model.blockRanges.get(heap.heap_id), from = values.from ?? 0, to = values.to ?? Infinity, passes = stackFilter(model, filter);
    for (let i = range?.begin ?? 0, stack = NaN, isPassing = false; range && i < range.end; i++) {
        if (!(births[i] >= from && births[i] <= to))
            continue;
        if (stacks[i] !== stack) {
            stack = stacks[i];
            isPassing = passes(stack);
        }
        if (isPassing)
            take(i);
    }
}

/* {sizes, lifetimes, kept}: histograms, and what of the blocks was never freed. Pure. */
export function histogramsOf(model, heap, values, filter) {
    const {alloc_seq: births, free_seq: ends, size_bytes: bytes} = model.blocks, sizes = makePowers(), lifetimes = makePowers(), kept = {count: 0, bytes: 0};
    eachBorn(model, heap, values, filter, (i) => {
        addPower(sizes, bytes[i], bytes[i]);
        if (isKnown(ends[i]))
            addPower(lifetimes, ends[i] - births[i], bytes[i]);
        else {
            kept.count++;
            kept.bytes += bytes[i];
        }
    });
    return {sizes: rowsOfPowers(sizes), lifetimes: rowsOfPowers(lifetimes), kept};
}

/* Three and more powers in a row without any block are one row. Pure. */
export function foldEmpty(rows) {
    const folded = [];
    for (let i = 0, end = 0; i < rows.length; i = end) {
        end = i + 1;
        while (rows[i].count === 0 && end < rows.length && rows[end].count === 0)
            end++;
        folded.push(...(end - i < 3 ? rows.slice(i, end) : [{...rows[i], below: rows[end - 1].below}]));
    }
    return folded;
}

function histogramTable(rows, title, format, caption) {
    const most = (key) => Math.max(1, ...rows.map((row) => row[key]));
    const bar = (key, show, colour) => (row) => makeBar(row[key] / most(key), show(row[key]), colour);
    return makeTable([{title, key: 'at_least', isNumber: true, show: (row) => sayWith('{low} to below {high}', {low: format(row.at_least), high: format(row.below)})}, {title: 'blocks', key: 'count', show: bar('count', formatCount, PALETTE[0])},
        {title: 'bytes', key: 'bytes', show: bar('bytes', formatBytes, PALETTE[4])}], foldEmpty(rows), {caption, rowsShown: 64}).element;
}

/* Both histograms; null: not all blocks of the heap are in this page. */
export function showHistograms(model, heap, values, filter) {
    if (!isCounted(model, heap))
        return null;
    const {sizes, lifetimes, kept} = histogramsOf(model, heap, values, filter);
    return [make('div', {id: 'pool-sizes'}, make('h3', null, say('Sizes')), histogramTable(sizes, 'size', formatBytes, 'Sizes')),
        make('div', {id: 'pool-lifetimes'}, make('h3', null, say('Lifetimes')), histogramTable(lifetimes, 'events from birth to end', formatCount, 'Lifetimes'),
            kept.count > 0 && make('p', {class: 'note'}, sayWith('Never freed, and in none of these: {count} blocks of {bytes}.', {count: formatCount(kept.count), bytes: formatBytes(kept.bytes)})))];
}
