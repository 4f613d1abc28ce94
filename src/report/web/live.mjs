/* SPDX-License-Identifier: Apache-2.0
 *
 * What a heap was made of at a moment. At its peak the views know it, whatever the database holds of single allocations; at any other moment
 * the blocks are counted, which is exact where all of them are here.
 */
import {LEAK, PALETTE, REST} from './colours.mjs';
import {make, makeChoice, put} from './dom.mjs';
import {formatBytes, formatCount, formatPercent} from './format.mjs';
import {makeIcicle, makeTree, pathOf, skipTrunk} from './icicle.mjs';
import {hasEveryBlock, liveBlocks, sumBlocks} from './model.mjs';
import {makeStack} from './stack.mjs';
import {makeFilter} from './state.mjs';
import {makeBar, makeTable} from './table.mjs';
import {clockOf, momentSeq} from './timeline.mjs';
import {say} from './words.mjs';

/* Are all blocks of the heap here, so that what is counted is what there was? Pure. */
export function isCounted(model, heap) {
    return hasEveryBlock(model, heap.input) && model.blockRanges.has(heap.heap_id);
}

function countBlocks(model, heap, seq, keyOf) {
    return sumBlocks(model.blocks, liveBlocks(model, heap.heap_id, seq), keyOf);
}

/* [{name, bytes, count, stack}], the largest first; null: not known at this moment. Pure. */
export function liveGroups(model, heap, at, group) {
    const fromView = (table, name) => (model.byPlace(table).get(heap.place) ?? []).map((row) => ({name: row[name], bytes: row.live_bytes, count: row.live_count, stack: row.top_stack_id ?? null, isEstimate: row.is_estimate === 1, parent: row.parent ?? null}));
    if (group === 'module')
        return at === 'peak' ? fromView('peak_module', 'module') : null;
    if (at === 'peak')
        return fromView(group === 'category' ? 'peak_category' : 'peak_site', group === 'category' ? 'category' : 'site');
    const seq = momentSeq(heap, at);
    if (!isCounted(model, heap) || seq === null)
        return null;
    const {blocks, stacks} = model, largest = new Map();
    const siteOf = (i) => (Number.isNaN(blocks.alloc_seq[i]) ? '(baseline)' : stacks.siteOf(blocks.stack_id[i]));
    const keyOf = group === 'category' ? (i) => model.categories.get(blocks.category_id[i]) ?? 'unknown' : siteOf;
    if (group !== 'category')
        for (const sum of countBlocks(model, heap, seq, (i) => blocks.stack_id[i]))
            if (!largest.has(stacks.siteOf(sum.key)))
                largest.set(stacks.siteOf(sum.key), Number.isNaN(sum.key) ? null : sum.key);
    return countBlocks(model, heap, seq, keyOf).map((sum) => ({name: sum.key, bytes: sum.bytes, count: sum.count, stack: largest.get(sum.key) ?? null}));
}

/* Sums by whole stacks for the icicle; from the sites' largest stacks where single blocks are not here. Pure. */
export function liveStacks(model, heap, at) {
    const seq = momentSeq(heap, at);
    if (isCounted(model, heap) && seq !== null)
        return countBlocks(model, heap, seq, (i) => model.blocks.stack_id[i]).map((sum) => ({path: Number.isNaN(sum.key) ? ['(no stack)'] : pathOf(model, sum.key), bytes: sum.bytes, count: sum.count}));
    const groups = liveGroups(model, heap, at, 'site');
    return groups && groups.map((row) => ({path: row.stack === null ? [row.name] : pathOf(model, row.stack), bytes: row.bytes, count: row.count}));
}

function momentText(heap, at) {
    if (at === 'peak')
        return `at the peak${heap.peak ? `: ${formatBytes(heap.peak.peak_bytes)}` : ''}`;
    const seq = momentSeq(heap, at), time = seq === null ? '' : clockOf(heap)(seq);
    return at === 'end' ? 'at the end' : `at event ${formatCount(seq)}${time ? `, ${time}` : ''}`;
}

function moduleTree(groups) {
    const nodes = new Map(groups.map((row) => [row.name, {label: row.name, bytes: row.bytes, count: row.count, children: []}])), root = {label: 'model', bytes: 0, count: 0, children: []};
    for (const row of groups) {
        const parent = row.parent !== null && nodes.has(row.parent) ? nodes.get(row.parent) : root;
        parent.children.push(nodes.get(row.name));
        if (parent === root) {
            root.bytes += row.bytes;
            root.count += row.count;
        }
    }
    return root;
}

function groupTable(model, heap, groups, values, state, whole) {
    const columns = [
        {title: values.group === 'category' ? 'category' : values.group === 'module' ? 'module' : 'site', key: 'name', className: 'site', show: (row) => make('span', null, row.name, model.leakSites.has(row.name) && make('b', {class: 'leaks'}, 'leak'), row.isEstimate && make('span', {class: 'note'}, ' inferred'))},
        {title: 'size', key: 'bytes', isNumber: true, show: (row) => formatBytes(row.bytes)},
        {title: 'share', key: 'bytes', show: (row) => makeBar(row.bytes / whole, formatPercent(row.bytes / whole), model.leakSites.has(row.name) ? LEAK : row.name === 'unknown' ? REST : PALETTE[0])},
        {title: 'blocks', key: 'count', isNumber: true, show: (row) => formatCount(row.count)},
    ];
    const isSite = values.group === 'site' || values.group === 'stack';
    return makeTable(columns, groups, {caption: 'what is live', onRow: isSite ? (row) => state.set({site: values.site === row.name ? null : row.name}) : null, isChosen: (row) => isSite && values.site === row.name, more: isSite ? (row) => makeStack(model, row.stack) : null});
}

function pictureOf(model, heap, groups, values, state) {
    const filter = makeFilter(values.search), choose = (label) => state.set({site: values.site === label ? null : label});
    if (values.group === 'module')
        return makeIcicle(moduleTree(groups), new Set(), filter, choose);
    const stacks = values.group === 'stack' ? liveStacks(model, heap, values.at) : null;
    return stacks && stacks.length > 0 ? makeIcicle(skipTrunk(makeTree(stacks)), model.leakSites, filter, choose) : null;
}

export function makeLive(model, state) {
    const body = make('div'), tools = make('div', {class: 'row'}), word = make('p', {class: 'tell', id: 'live-moment'});
    const kinds = ['site', 'category', ...(model.tables.peak_module?.rows > 0 ? ['module'] : []), 'stack'];
    let known = '';
    const update = (values) => {
        const heap = model.heapById.get(values.heap) ?? model.best, groups = liveGroups(model, heap, values.at, values.group);
        const key = JSON.stringify([heap.heap_id, values.at, values.group, values.search, values.site, values.theme, model.blocks !== null]);
        if (key === known)
            return;
        known = key;
        put(tools, make('span', {class: 'note'}, say('by')), kinds.map((kind) => makeChoice(kind, values.group === kind, () => state.set({group: kind}))),
            make('span', {class: 'note'}, say('at')), ['peak', 'end'].map((at) => makeChoice(`the ${at}`, values.at === at, () => state.set({at}))));
        put(word, `${heap.label} ${momentText(heap, values.at)}`);
        if (groups === null || groups.length === 0) {
            put(body, make('p', {class: 'note'}, groups === null ? 'Only the peak is known here: not every single allocation is in this page, or modules were asked for.' : say('Nothing was live.')));
            return;
        }
        const whole = values.group === 'module' ? Math.max(...groups.map((row) => row.bytes)) : groups.reduce((sum, row) => sum + row.bytes, 0);
        const table = groupTable(model, heap, groups, values, state, whole);
        table.update(makeFilter(values.search));
        put(body, pictureOf(model, heap, groups, values, state), table.element);
    };
    return {id: 'live', title: 'What is live', note: 'at the moment that is picked', element: make('div', null, tools, word, body), update};
}
