/* SPDX-License-Identifier: Apache-2.0
 *
 * Why memory ran out: the verdict, what the device was full of as one bar, who held it, and the stack of the request.
 */
import {LEAK, PALETTE, REST} from '../pictures/colours.mjs';
import {make, put} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatPercent, formatTime} from '../state/format.mjs';
import {findingOf, groupBy, poolOfRow} from '../data/model.mjs';
import {BLOCKERS, makeBlockers} from './pool.mjs';
import {makeStack} from '../pictures/stack.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeBar, makeTable} from '../pictures/table.mjs';
import {findingLines} from './verdicts.mjs';
import {say, sayMemoryPart, sayName, sayWith} from '../state/words.mjs';

const TOTAL = 'DEVICE USED', FREE = 'free on the device';

const COLOURS = {pending: 'var(--stuck)', small: 'var(--stuck)', pinned: 'var(--stuck)', idle: 'var(--free)', empty: 'var(--free)', free: 'var(--free)'};

/* What is not in use is told apart without colours: what is pending has the bars of the segments' panel, what is free dots. */
const PENDING_LOOK = 'barred', FREE_LOOK = 'dotted';

function lookOfPart(part) {
    return part === 'pending' ? PENDING_LOOK : part in COLOURS ? FREE_LOOK : null;
}

/* What the bar is made of: parts with their colours and patterns. Pure. */
export function barParts(failure, parts) {
    let next = 0;
    const shown = parts.filter((row) => row.component !== TOTAL && row.bytes > 0).map((row) => ({
        name: sayMemoryPart(row), bytes: row.bytes, look: lookOfPart(row.part), colour: COLOURS[row.part] ?? (row.component === 'UNEXPLAINED' ? REST : PALETTE[next++ % PALETTE.length]),
    }));
    if (failure.free_bytes > 0)
        shown.push({name: FREE, bytes: failure.free_bytes, look: null, colour: 'var(--empty)'});
    return shown;
}

/* The device, and below it what was asked for, where its free part begins: what sticks out did not fit. `whole` is what all the width stands for. */
function makeStackedBar(parts, total, asked, whole) {
    const look = (part, isSwatch) => ({class: `${isSwatch ? 'swatch ' : ''}${part.look ?? ''}`, style: `background-color:${part.colour};--second:var(${part.colour === 'var(--stuck)' ? '--card' : '--ink'})${isSwatch ? '' : `;width:${(100 * part.bytes / total).toFixed(3)}%`}`});
    const free = parts.find((part) => part.name === FREE)?.bytes ?? 0, used = Math.max(0, total - free), share = (bytes) => `${(100 * bytes / Math.max(whole, used + asked, total)).toFixed(3)}%`;
    const bar = make('div', {class: 'stacked', role: 'img', style: `width:${share(total)}`, 'aria-label': parts.map((part) => `${say(part.name)} ${formatBytes(part.bytes)}`).join(', ')},
        parts.map((part) => make('span', {...look(part, false), title: `${say(part.name)}: ${formatBytes(part.bytes)}`})));
    const legend = make('ul', {class: 'legends'}, parts.map((part) => make('li', {class: 'legend'}, make('span', look(part, true)), `${say(part.name)} `, make('b', null, formatBytes(part.bytes)))));
    const request = asked > 0 && make('div', {class: 'asked'}, make('b', null, sayWith('asked for: {bytes}', {bytes: formatBytes(asked)})), make('span', {style: `width:${share(asked)}`}));
    return make('div', null, bar, request, legend);
}

const LEVELS = [{key: 'allocated', name: 'in blocks', colour: PALETTE[0]}, {key: 'active', name: 'given up, still used by another stream', look: PENDING_LOOK, colour: 'var(--stuck)'}, {key: 'reserved', name: 'free inside the pools', look: FREE_LOOK, colour: 'var(--free)'},
    {key: 'process', name: 'the rest of this process', colour: PALETTE[1]}, {key: 'used', name: 'all else on the device', colour: REST}, {key: 'capacity', name: FREE, colour: 'var(--empty)'}];

/* What held how much when a request failed. Pure. */
export function failureLevels(failure) {
    const used = failure.total_bytes === null || failure.free_bytes === null ? null : failure.total_bytes - failure.free_bytes;
    return {requested: failure.tried_bytes ?? failure.at_least_tried_bytes, allocated: failure.allocated_bytes, active: failure.active_bytes, reserved: failure.reserved_bytes,
        process: failure.own_bytes === null ? null : failure.own_bytes + (failure.module_bytes ?? 0), used, capacity: failure.total_bytes};
}

function sumKnown(rows, key) {
    return rows.length === 0 || rows.some((row) => row[key] === null) ? null : rows.reduce((sum, row) => sum + row[key], 0);
}

/* The same one step earlier, as far as sums of steps say it: rows of the heaps of the device. A block that another stream still uses is live. Pure. */
export function stepLevels(rows, capacity) {
    const pools = rows.filter((row) => row.level === 'pool' || row.level === 'workspace'), driver = rows.filter((row) => row.level === 'driver');
    return {requested: null, allocated: null, active: sumKnown(pools.length > 0 ? pools : driver, 'live_bytes'), reserved: sumKnown(pools, 'peak_reserved_bytes'), process: sumKnown(driver, 'live_bytes'), used: null, capacity};
}

/* The first level that is known has no part that is not it; where nobody said what the device had in use, its rest is not free. */
function partName(levels, key, name, reached) {
    if (key === 'active' && reached === 0)
        return 'in blocks';
    return key === 'capacity' && levels.used === null ? 'not held by this process' : name;
}

/* Levels, each of which holds those before it, as parts beside each other. Pure. */
export function levelParts(levels) {
    const parts = [];
    let reached = 0;
    for (const {key, name, colour, look = null} of LEVELS) {
        if (levels[key] === null || levels[key] <= reached)
            continue;
        const isWhole = key === 'active' && reached === 0;
        parts.push({name: partName(levels, key, name, reached), bytes: levels[key] - reached, look: isWhole ? null : look, colour: isWhole ? PALETTE[0] : colour});
        reached = levels[key];
    }
    return parts;
}

const LEVEL_COLUMNS = [{title: 'when', key: 'when'}, ...[['requested', 'requested'], ['allocated', 'allocated'], ['active', 'active'], ['reserved', 'reserved'], ['this process', 'process'], ['device used', 'used'], ['capacity', 'capacity']]
    .map(([title, key]) => ({title, key, isNumber: true, show: (row) => formatBytes(row[key])}))];

function partsSum(parts) {
    return parts.reduce((sum, part) => sum + part.bytes, 0);
}

/* One bar for when it failed, one for a step earlier, on one scale, and their figures as a table. */
function showLevels(failure, rows) {
    const now = failureLevels(failure), bars = [{when: say('when it failed'), ...now}];
    if (rows.length > 0)
        bars.push({when: rows[0].step === null ? say('before the first step') : sayWith('at the end of step {step}', {step: formatCount(rows[0].step)}), ...stepLevels(rows, now.capacity)});
    const whole = Math.max(1, ...bars.map((bar) => partsSum(levelParts(bar)))), asked = now.requested ?? 0;
    const shown = bars.map((bar, i) => [make('h4', null, bar.when), makeStackedBar(levelParts(bar), Math.max(1, partsSum(levelParts(bar))), i === 0 ? asked : 0, Math.max(whole, (now.used ?? 0) + asked))]);
    return make('div', {class: 'levels'}, shown, makeTable(LEVEL_COLUMNS, bars, {caption: 'what held how much'}).element,
        rows.length > 0 && make('p', {class: 'note'}, say('One step earlier: active blocks and driver memory at the end of that step, reserved at most in it; steps do not tell how much of the active was given up, nor what else was on the device.')));
}

function siteTable(model, rows, state) {
    return makeTable([{title: 'site', key: 'site', className: 'site', show: (row) => make('span', null, sayName(row.site), model.leakSites.has(row.site) && make('b', {class: 'leaks'}, say('leak')))}, {title: 'heap', key: 'heap'},
        {title: 'live then', key: 'live_bytes', isNumber: true, show: (row) => formatBytes(row.live_bytes)}, {title: 'share', key: 'share_ratio', show: (row) => makeBar(row.share_ratio, formatPercent(row.share_ratio), model.leakSites.has(row.site) ? LEAK : PALETTE[0])},
        {title: 'blocks', key: 'live_count', isNumber: true, show: (row) => formatCount(row.live_count)}], rows, {caption: 'what was live when memory ran out', onRow: (row) => state.set({site: row.site})});
}

function failureTitle(failure, asked) {
    const text = sayWith(failure.outcome === 'recovered' ? '{bytes} only after a retry' : '{bytes} could not be had', {bytes: formatBytes(asked)});
    return failure.first_ns === null ? text : sayWith('{text}, at {time}', {text, time: formatTime(failure.first_ns)});
}

/* Why memory ran out, as the screen says it: [label, line], '' where the label is that of the line above; where table finding has no word of it, what the view explains. Pure. */
export function whyLines(model, failure) {
    const finding = findingOf(model, 'out of memory', {...failure, source_id: failure.out_of_memory_id}, ['source_id']), lines = finding ? findingLines(finding) : (failure.explanation ?? '').split('\n');
    return lines.map((line) => line.match(/^(?:(\p{L}+) {2,})?(.*)$/u).slice(1)).map(([label, text]) => [label ?? '', text]);
}

/* The blockers of the moment at which a request failed. */
function showBlockers(model, state, failure, tables) {
    const pool = poolOfRow(model.heaps, failure), rows = (model.byPlace('blocker').get(pool?.place) ?? []).filter((row) => row.moment_kind === 'failure' && row.seq === failure.first_seq);
    if (rows.length === 0)
        return null;
    const table = makeBlockers(model, rows, state);
    tables.push(table);
    return [make('h4', null, say(BLOCKERS)), table.element];
}

function showFailure(model, state, failure, tables) {
    const own = (name) => model.rows(name).filter((row) => row.out_of_memory_id === failure.out_of_memory_id), sites = siteTable(model, own('oom_site'), state), parts = barParts(failure, own('oom_part'));
    const asked = failure.tried_bytes ?? failure.at_least_tried_bytes ?? 0, whole = Math.max(failure.total_bytes ?? 0, parts.reduce((sum, part) => sum + part.bytes, 0), 1);
    tables.push(sites);
    return make('article', {class: 'failure'},
        make('h3', null, failureTitle(failure, asked), make('span', {class: `chip ${failure.outcome === 'recovered' ? 'warning' : 'danger'}`}, [failure.verdict, failure.outcome].filter((word) => word).map(say).join(', '))),
        make('dl', {class: 'why'}, whyLines(model, failure).flatMap(([label, text]) => [make('dt', null, label), make('dd', null, text)])), showLevels(failure, own('oom_step')), make('h4', null, say('By component')), makeStackedBar(parts, whole, asked, whole),
        make('div', {class: 'pair'}, make('div', null, make('h4', null, say('Who held it')), sites.element), make('div', null, make('h4', null, failure.thread ? sayWith('{text} (thread {thread})', {text: say('Who asked'), thread: failure.thread}) : say('Who asked')), makeStack(model, failure.stack_id))),
        showBlockers(model, state, failure, tables),
        failure.message && make('details', null, make('summary', null, say('in the words of torch_npu')), make('pre', null, failure.message)));
}

const SERVING_PARTS = new Map([['weights', 'model weights'], ['KV cache', 'KV cache'], ['activations', 'activations and temporaries'], ['graphs', 'captured graphs'], ['workspaces', 'workspaces of operators'], ['communication', 'communication buffers'], ['other', 'other or not known'], ['rest', 'the rest in use'], ['free', FREE]]), DEVICES_MAX = 8;
const SERVING_COLOURS = {rest: REST, free: 'var(--empty)'};

/* What a server's devices are full of: [{place, parts, most, said}], of each device the parts of its bar, the largest KV cache that would fit, and what the program says of it. Pure. */
export function servingBars(rows) {
    const devices = groupBy(rows, (row) => [row.host, row.rank, row.pid, row.device].join());
    return [...devices.values()].map((own) => {
        const bytesOf = (part) => own.find((row) => row.part === part)?.bytes ?? null;
        const parts = [...SERVING_PARTS].map(([part, name], i) => ({name, bytes: bytesOf(part), colour: SERVING_COLOURS[part] ?? PALETTE[i]})).filter((part) => part.bytes > 0);
        return {device: own[0].device, rank: own[0].rank, parts, most: bytesOf('largest KV cache'), said: bytesOf('said KV cache')};
    });
}

function showServing(bar) {
    const whole = Math.max(1, partsSum(bar.parts)), place = [bar.rank === null ? null : sayName(`rank ${bar.rank}`), sayName(`device ${bar.device}`)].filter((part) => part).join(' \u00b7 ');
    return make('div', {class: 'serving'}, make('h4', null, place), makeStackedBar(bar.parts, whole, 0, whole), make('p', {class: 'note'}, say('Each at its own peak: the sum is a bound.'),
        bar.most !== null && ` ${sayWith('A KV cache of at most {bytes} would fit.', {bytes: formatBytes(bar.most)})}`, bar.said !== null && ` ${sayWith('The program says {bytes}.', {bytes: formatBytes(bar.said)})}`));
}

export function makeFailures(model, state) {
    const failures = model.rows('oom'), tables = [], body = make('div'), serving = servingBars(model.rows('serving'));
    const ordered = [...failures].sort((a, b) => Number(a.outcome === 'recovered') - Number(b.outcome === 'recovered') || (b.first_seq ?? 0) - (a.first_seq ?? 0));
    put(body, failures.length === 0 && make('p', {class: 'allgood'}, say('Every request for memory was served.')), ordered.slice(0, 5).map((failure) => showFailure(model, state, failure, tables)), failures.length > 5 && make('p', {class: 'note'}, sayWith('{count} more: view out_of_memory', {count: String(failures.length - 5)})),
        serving.length > 0 && make('section', {id: 'oom-serving'}, make('h3', null, say('Budget of a server')), serving.slice(0, DEVICES_MAX).map(showServing), serving.length > DEVICES_MAX && make('p', {class: 'note'}, sayWith('{count} more: view serving_budget', {count: String(serving.length - DEVICES_MAX)}))));
    return {id: 'oom', title: 'Out of memory', uses: ['search'], element: body, update: (values) => tables.forEach((table) => table.update(makeFilter(values.search)))};
}
