/* SPDX-License-Identifier: Apache-2.0
 *
 * Fragmentation and the pool: what it held, what of that was free or stuck, what is in the way, and how often it had to ask the driver.
 */

import {colourOf, make, makeCanvas, put} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatPercent, formatTime, isKnown} from '../state/format.mjs';
import {showHistograms} from '../pictures/histogram.mjs';
import {makeAdvice, showHits} from './hits.mjs';
import {withSegments} from '../data/model.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeStack} from '../pictures/stack.mjs';
import {makeBar, makeNumbers, makeTable} from '../pictures/table.mjs';
import {drawPlaces, GUTTER_LEFT, scaleFor} from './timeline.mjs';
import {niceTicks} from '../pictures/scale.mjs';
import {say} from '../state/words.mjs';

const GAP_HEIGHT = 170, GAP_TOP = 10, GAP_BOTTOM = 26;

function figure(title, key, format) {
    return {title, key, isNumber: true, show: (row) => format(row[key])};
}

function ownRows(model, heap, name) {
    return model.byPlace(name).get(heap.place) ?? [];
}

function drawGapArea(context, gaps, key, scale, toY, colour) {
    context.fillStyle = colour;
    context.beginPath();
    let x = scale.left, y = toY(0);
    context.moveTo(x, toY(0));
    for (const row of gaps) {
        if (row.last_seq < scale.firstSeq || row.last_seq > scale.lastSeq)
            continue;
        x = scale.toX(row.last_seq);
        context.lineTo(x, y);
        y = toY(row[key] ?? 0);
        context.lineTo(x, y);
    }
    context.lineTo(scale.right, y);
    context.lineTo(scale.right, toY(0));
    context.fill();
}

function drawGaps(context, width, heap, gaps, values) {
    const scale = scaleFor(heap, values, width), most = Math.max(1, ...gaps.map((row) => row.reserved_bytes ?? 0)), bottom = GAP_HEIGHT - GAP_BOTTOM;
    const toY = (bytes) => bottom - (bottom - GAP_TOP) * bytes / (most * 1.06);
    context.clearRect(0, 0, width, GAP_HEIGHT);
    drawGapArea(context, gaps, 'reserved_bytes', scale, toY, colourOf('reserved'));
    drawGapArea(context, gaps, 'free_bytes', scale, toY, colourOf('free'));
    drawGapArea(context, gaps, 'stuck_bytes', scale, toY, colourOf('stuck'));
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'right';
    for (const value of niceTicks(0, most, 3, 2)) {
        context.fillStyle = colourOf('muted');
        context.fillText(formatBytes(value), GUTTER_LEFT - 8, toY(value) + 4);
        context.fillStyle = colourOf('line');
        context.fillRect(scale.left, Math.round(toY(value)), scale.right - scale.left, 1);
    }
    drawPlaces(context, scale, bottom + 4);
}

function legendOf() {
    return make('p', {class: 'legends'}, [['reserved', 'reserved: what the pool holds of the driver\u2019s memory'], ['free', 'free inside it'], ['stuck', 'stuck: free, in segments that hold something, so that emptying the cache does not give it back']]
        .map(([name, text]) => make('span', {class: 'legend'}, make('span', {class: 'swatch', style: `background:var(--${name})`}), say(text))));
}

const MOMENT_COLUMNS = [{title: 'moment', key: 'moment', show: (row) => say(row.moment)}, figure('reserved', 'reserved_bytes', formatBytes), figure('in blocks', 'occupied_bytes', formatBytes), figure('free', 'free_bytes', formatBytes), figure('stuck', 'stuck_bytes', formatBytes),
    figure('largest free', 'largest_free_bytes', formatBytes), figure('gaps', 'gap_count', formatCount), {title: 'idle', key: 'idle_ratio', show: (row) => makeBar(row.idle_ratio, formatPercent(row.idle_ratio), 'var(--stuck)')}];
export const BLOCKERS = 'What keeps the pool from giving memory back';
const BLOCKER_COLUMNS = [{title: 'site', key: 'site', className: 'site'}, {title: 'at', key: 'moment', show: (row) => say(row.moment)}, figure('keeps from going back', 'hostage_bytes', formatBytes), figure('with blocks of', 'block_bytes', formatBytes), figure('blocks', 'block_count', formatCount),
    figure('segments', 'segment_count', formatCount), {title: 'share', key: 'hostage_ratio', show: (row) => makeBar(row.hostage_ratio, formatPercent(row.hostage_ratio), 'var(--stuck)')}];
const BUCKET_COLUMNS = [{title: 'requests', key: 'bucket', show: (row) => say(row.bucket)}, figure('count', 'allocation_count', formatCount), figure('misses', 'miss_count', formatCount), {title: 'hit rate', key: 'hit_rate', show: (row) => makeBar(row.hit_rate, formatPercent(row.hit_rate), 'var(--good)')}];
const CAUSE_COLUMNS = [{title: 'cause of misses', key: 'cause', show: (row) => say(row.cause ?? 'not known')}, figure('misses', 'miss_count', formatCount), figure('size', 'missed_bytes', formatBytes), {title: 'time in the driver', key: 'driver_cost_ns', isNumber: true, show: (row) => formatTime(row.driver_cost_ns)},
    {title: 'share', key: 'share_ratio', show: (row) => makeBar(row.share_ratio, formatPercent(row.share_ratio), 'var(--live)')}];

/* Blockers of one moment: of the last failure, where there was one, else of when it held most. */
function blockersOf(model, heap) {
    const rows = ownRows(model, heap, 'blocker'), kinds = ['failure', 'reserve', 'peak', 'end', 'mark'];
    const kind = kinds.find((one) => rows.some((row) => row.moment_kind === one));
    const last = Math.max(...rows.filter((row) => row.moment_kind === kind).map((row) => row.seq ?? -1));
    return rows.filter((row) => row.moment_kind === kind && (row.seq ?? -1) === last);
}

/* Who is in the way: a click shows the stack of the block that holds most, and on the map what is of its site. */
export function makeBlockers(model, rows, state) {
    let chosen = null;
    const table = makeTable(BLOCKER_COLUMNS, rows, {caption: BLOCKERS, isChosen: (row) => row === chosen, more: (row) => makeStack(model, row.top_stack_id), onRow: (row) => {
        chosen = chosen === row ? null : row;
        state.set({site: chosen?.site ?? null});
        table.update();
    }});
    return table;
}

function poolFacts(row) {
    if (!row)
        return null;
    const facts = [['hit rate', formatPercent(row.hit_rate)], ['requests', formatCount(row.allocation_count)], ['misses', formatCount(row.miss_count)], ['misses a step after warm-up', isKnown(row.misses_per_step) ? row.misses_per_step.toFixed(2) : '\u2013'],
        ['last step with a miss', formatCount(row.last_missing_step)], ['flushes', formatCount(row.flush_count)], ['calls of the driver', formatCount(row.driver_count)], ['time in them', formatTime(row.driver_cost_ns)]];
    return make('dl', {class: 'facts'}, facts.map(([name, value]) => make('div', null, make('dt', null, say(name)), make('dd', null, value))));
}

export function makePool(model, state) {
    const body = make('div'), histograms = make('div', {class: 'twin', id: 'pool-histograms'});
    let shown = null, gaps = [], tables = [], counted = '';
    const chart = makeCanvas(GAP_HEIGHT, (context, width) => drawGaps(context, width, heapOf(), gaps, state.values), {class: 'chart', role: 'img', 'aria-label': say('reserved, free and stuck bytes of the pool over the run')});
    const heapOf = () => model.heapById.get(state.values.heap) ?? model.best;

    function rebuild(heap) {
        gaps = ownRows(model, heap, 'gap');
        const blockers = blockersOf(model, heap), add = (columns, rows, caption) => rows.length > 0 && tables.push({caption, isWide: columns.length > 6, ...makeTable(columns, rows, {caption})});
        tables = blockers.length > 0 ? [{caption: BLOCKERS, isWide: true, ...makeBlockers(model, blockers, state)}] : [];
        add(MOMENT_COLUMNS, ownRows(model, heap, 'fragmentation'), 'At its moments');
        add(BUCKET_COLUMNS, ownRows(model, heap, 'pool_bucket'), 'Hit rate by size');
        add(CAUSE_COLUMNS, ownRows(model, heap, 'pool_cause'), 'Why the pool had to grow');
        const [summary] = ownRows(model, heap, 'pool'), advice = makeAdvice(model, heap, ownRows(model, heap, 'health'), model.rows('whatif').filter((row) => row.heap_id === heap.heap_id), summary), facts = poolFacts(summary);
        put(body, facts, gaps.length > 0 && [chart.canvas, legendOf(), makeNumbers('Numbers of the picture', [figure('event', 'last_seq', formatCount), figure('reserved', 'reserved_bytes', formatBytes), figure('free', 'free_bytes', formatBytes), figure('stuck', 'stuck_bytes', formatBytes)], () => gaps)],
            make('div', {class: 'pair'}, tables.map((table) => make('div', {class: table.isWide ? 'wide' : null}, make('h3', null, say(table.caption)), table.element))),
            facts === null && tables.length === 0 && make('p', {class: 'note'}, say('This heap is no pool: pick one in the timeline.')),
            facts !== null && [showHits(ownRows(model, heap, 'pool_step')), advice.element], histograms);
        tables.push(advice);
    }

    /* Counted anew only when what is counted is another. */
    function count(heap, values) {
        const key = JSON.stringify([heap.heap_id, values.from, values.to, values.search, values.found, model.blocks !== null]);
        if (key !== counted)
            put(histograms, showHistograms(withSegments(model, heap), heap, values, makeFilter(values.search)) ?? make('p', {class: 'note'}, say('Sizes and lifetimes are counted where every single allocation is in this page.')));
        counted = key;
    }

    return {id: 'pool', title: 'Fragmentation and pool', uses: ['heap', 'from', 'to', 'axis', 'search', 'theme'], element: body, update: (values) => {
        const heap = heapOf();
        if (heap !== shown)
            rebuild(heap);
        shown = heap;
        for (const table of tables)
            table.update(makeFilter(values.search));
        count(heap, values);
        chart.redraw();
    }};
}

