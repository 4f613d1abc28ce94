/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks or processes beside each other: the curves of all on one picture, and below it how much each took of its device, what is wrong with
 * it, how it ended, and which failed first. Only where there are several.
 */
import {LEAK, PALETTE} from '../pictures/colours.mjs';
import {make, makeChoice, makeSparkline, put} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatPercent, formatTime, isKnown, NOTHING} from '../state/format.mjs';
import {remember} from '../data/model.mjs';
import {cutToRun, makeOverlay, mostByColumn, OVERLAY_COLUMNS, shareOfEvents, shareOfSteps, shareOfTimes} from '../pictures/overlay.mjs';
import {interpolate} from '../pictures/scale.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeBar, makeNumbers, makeTable} from '../pictures/table.mjs';
import {say, sayWith} from '../state/words.mjs';

const LAYS = {event: 'event', step: 'step', time: 'time since its start', clock: 'wall clock'};
const ROLES = {first: 'first to fail', highest: 'highest peak', median: 'median peak'};

/*
 * Which processes stand for all, as report/rank_list.h chooses: {process: [role]}. Rows of one process are of its devices, and count together.
 * Pure.
 */
export function rolesOfRanks(rows) {
    const sums = new Map(), roles = new Map();
    for (const row of rows) {
        const sum = sums.get(row.process_id) ?? {process: row.process_id, rank: row.rank, peak: null, isFirst: false};
        sum.peak = row.peak_bytes === null ? sum.peak : (sum.peak ?? 0) + row.peak_bytes;
        sum.isFirst ||= row.failure_order === 'first';
        sums.set(row.process_id, sum);
    }
    const give = (sum, role) => sum && roles.set(sum.process, [...(roles.get(sum.process) ?? []), role]);
    const inOrder = [...sums.values()].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity) || a.process - b.process), peaks = inOrder.filter((sum) => sum.peak !== null).sort((a, b) => a.peak - b.peak);
    give(inOrder.find((sum) => sum.isFirst), 'first');
    give(peaks.find((sum) => sum.peak === peaks[peaks.length - 1].peak), 'highest');
    give(peaks[(peaks.length - 1) >> 1], 'median');
    return roles;
}

export function rolesOf(model) {
    const rows = model.rows('rank');
    return rows.length < 2 ? new Map() : rolesOfRanks(rows);
}

function endText(row) {
    if (!row.failure)
        return row.end_kind === 'exit' && row.end_status === 0 ? say('ended by itself') : say(row.end_kind ?? '');
    const text = isKnown(row.failed_step) ? sayWith('{failure} at step {step}', {failure: say(row.failure), step: String(row.failed_step)}) : say(row.failure);
    if (row.failure_order === 'first')
        return sayWith('{text}, first', {text});
    return row.since_first_ns > 0 ? sayWith('{text}, {time} later', {text, time: formatTime(row.since_first_ns)}) : text;
}

/* What is wrong with a rank: {level, parts}, the worst first, by table finding; where what is of the whole run is not judged, nor is the rank. Pure. */
export function verdictOfRank(row, findings) {
    const own = findings.filter((one) => ['host', 'rank', 'pid'].every((name) => one[name] === row[name])), isMeasure = (one) => !['out of memory', 'leak', 'misuse'].includes(one.kind);
    const of = (severity) => [...new Set(own.filter((one) => one.severity === severity && isMeasure(one)).map((one) => say(one.kind)))];
    const misuses = own.filter((one) => one.kind === 'misuse').reduce((sum, one) => sum + one.count, 0), parts = [];
    if (row.failure)
        parts.push(say(row.failure));
    if (row.leak_bytes > 0)
        parts.push(sayWith('leak of {bytes}', {bytes: formatBytes(row.leak_bytes)}));
    if (misuses > 0)
        parts.push(sayWith('misuse ({count})', {count: String(misuses)}));
    const isBad = parts.length > 0 || of('fault').length > 0, isOpen = findings.some((one) => one.severity === 'not judged' && (own.includes(one) || ['host', 'rank', 'pid'].every((name) => one[name] === null)));
    return {level: isBad ? 'danger' : of('warning').length > 0 ? 'warning' : isOpen ? 'unknown' : 'good', parts: [...parts, ...of('fault'), ...of('warning')]};
}

const LEVEL_WORDS = {good: 'no fault', unknown: 'not judged'};

function showVerdict(verdict) {
    return make('span', null, make('span', {class: `chip ${verdict.level}`}, say(LEVEL_WORDS[verdict.level] ?? verdict.level)), verdict.parts.length > 0 && ` ${verdict.parts.join(', ')}`);
}

/* The heap that stands for a rank: the pool with the highest peak, else the heap with it. Pure. */
export function heapOfRank(heaps, row) {
    const own = heaps.filter((heap) => heap.process_id === row.process_id && heap.usage), pools = own.filter((heap) => heap.level === 'pool');
    return (pools.length > 0 ? pools : own).reduce((best, heap) => (best === null || (heap.peak?.peak_bytes ?? 0) > (best.peak?.peak_bytes ?? 0) ? heap : best), null);
}

function rankColumns(most) {
    return [
        {title: 'rank', key: 'rank', isNumber: true}, {title: 'host', key: 'host'}, {title: 'pid', key: 'pid', isNumber: true}, {title: 'device', key: 'device', isNumber: true},
        {title: 'peak', key: 'peak_bytes', show: (row) => makeBar((row.peak_bytes ?? 0) / most, formatBytes(row.peak_bytes), PALETTE[0])}, {title: 'of the device', key: 'share_ratio', isNumber: true, show: (row) => formatPercent(row.share_ratio)},
        {title: 'live', key: 'highest', show: (row) => (row.curve ? makeSparkline(row.curve, 90, 22, sayWith('live bytes of rank {rank} over its run', {rank: String(row.rank ?? NOTHING)})) : NOTHING)},
        {title: 'leaked', key: 'leak_bytes', isNumber: true, show: (row) => (row.leak_bytes > 0 ? make('b', {style: `color:${LEAK}`}, formatBytes(row.leak_bytes)) : formatBytes(row.leak_bytes))},
        {title: 'verdict', key: 'wrong', show: (row) => showVerdict(row.verdict)}, {title: 'end', key: 'failure', show: endText}, {title: 'stands for', key: 'role'},
    ];
}

/* Rows of the view with what the page knows besides: curves, verdict and role. */
function describeRanks(model, rows) {
    const findings = model.rows('finding'), roles = rolesOf(model);
    return rows.map((row) => {
        const heap = heapOfRank(model.heaps, row), verdict = verdictOfRank(row, findings), own = roles.get(row.process_id) ?? [], curve = heap && [...mostByColumn(heap.usage, shareOfEvents(heap.usage), OVERLAY_COLUMNS)];
        return {...row, heapId: heap?.heap_id ?? null, curve, highest: heap?.peak?.peak_bytes ?? null, verdict, wrong: [verdict.level, ...verdict.parts].join(' '), roles: own, role: own.map((role) => say(ROLES[role])).join(', ')};
    });
}

function endsOfUsage(usage) {
    const known = [...usage.first_seq, ...usage.last_seq].filter((seq) => !Number.isNaN(seq));
    return known.length === 0 ? null : {first: known.reduce((a, b) => Math.min(a, b)), last: known.reduce((a, b) => Math.max(a, b))};
}

/* By which clock events of a heap are timed: that of its host, or one that begins with the run. null: its times are not known. Pure. */
function timerOf(heap, lay) {
    const {clock, start_realtime_ns: start} = heap.input, ends = endsOfUsage(heap.usage);
    if (clock === null || ends === null || (lay === 'clock' && !isKnown(start)))
        return null;
    const own = (seq) => interpolate(clock.seqs, clock.times, seq), zero = lay === 'clock' ? -start : own(ends.first);
    return {timeOf: (seq) => own(seq) - zero, begin: own(ends.first) - zero, end: own(ends.last) - zero};
}

/*
 * How curves lie on each other: {curves: Map of heap to values, begin, end: what stands at the edges, times: Map of heap to {begin, end}}. What has no
 * steps, or no clock, has no curve. `heaps` are each one of a rank. Pure.
 */
export function layCurves(heaps, lay) {
    const curves = new Map(), times = new Map(), put = (heap, placeOf) => curves.set(heap.heap_id, mostByColumn(heap.usage, placeOf, OVERLAY_COLUMNS));
    if (lay === 'step') {
        const beginsOf = (heap) => heap.steps.map((step) => step.begin_seq).filter(isKnown), whole = Math.max(...heaps.map((heap) => beginsOf(heap).length), 1);
        for (const heap of heaps.filter((one) => beginsOf(one).length > 1))
            put(heap, shareOfSteps(beginsOf(heap), heap.input.last, whole));
        return {curves, times, begin: '0', end: formatCount(whole)};
    }
    if (lay === 'event') {
        heaps.forEach((heap) => put(heap, shareOfEvents(heap.usage)));
        return {curves, times, begin: null, end: null};
    }
    const timers = new Map(heaps.map((heap) => [heap, timerOf(heap, lay)]).filter(([, timer]) => timer !== null)), range = {begin: Math.min(...[...timers.values()].map((timer) => timer.begin)), end: Math.max(...[...timers.values()].map((timer) => timer.end))};
    for (const [heap, timer] of timers) {
        const placeOf = shareOfTimes(timer.timeOf, range), ends = endsOfUsage(heap.usage);
        put(heap, placeOf);
        curves.set(heap.heap_id, cutToRun(curves.get(heap.heap_id), placeOf(ends.first), placeOf(ends.last)));
        times.set(heap.heap_id, {begin: timer.begin, end: timer.end});
    }
    return {curves, times, ...(timers.size === 0 ? {begin: NOTHING, end: NOTHING} : {begin: timeText(range.begin, lay), end: timeText(range.end, lay)})};
}

/* "2026-11-26 10:22:33.123 UTC", or a time since the start. */
function timeText(ns, lay) {
    return lay === 'clock' ? `${new Date(ns / 1e6).toISOString().slice(0, 23).replace('T', ' ')} UTC` : formatTime(ns);
}

function drawRanks(ranks, laid, values, choose) {
    const lines = new Map(ranks.filter((row) => laid.curves.has(row.heapId)).map((row) => [row.heapId, {name: sayWith('rank {rank}: {bytes}', {rank: String(row.rank ?? row.pid ?? NOTHING), bytes: formatBytes(row.highest)}), values: laid.curves.get(row.heapId), onChoose: () => choose(row),
        className: row.heapId === values.heap ? 'chosen' : row.failure ? 'failed' : ''}]));
    const inFront = (line) => (line.className === 'chosen' ? 2 : line.className === 'failed' ? 1 : 0);
    return makeOverlay([...lines.values()].sort((a, b) => inFront(a) - inFront(b)), say('live bytes of every rank over its run; the table below has the figures'), [laid.begin ?? say('begin of each run'), laid.end ?? say('its end')]);
}

/* Which ranks are not in the picture and why, and whose clocks these are. */
function wordsOfLay(ranks, laid, lay) {
    const missing = ranks.filter((row) => row.heapId !== null && !laid.curves.has(row.heapId)).map((row) => String(row.rank ?? row.pid ?? NOTHING)), hosts = new Set(ranks.map((row) => row.host));
    const reason = {step: 'Not judged, for their steps are not known: rank {ranks}.', time: 'Not judged, for their times are not known: rank {ranks}.', clock: 'Not judged, for their clocks are not known: rank {ranks}.'}[lay];
    return [lay === 'clock' && hosts.size > 1 && laid.curves.size > 0 && make('p', {class: 'note'}, sayWith('By the clocks of {count} hosts, as each had it: nobody has compared them.', {count: String(hosts.size)})),
        missing.length > 0 && make('p', {class: 'note', id: 'ranks-missing'}, sayWith(reason, {ranks: missing.join(', ')}))];
}

function layNumbers(ranks, laid, lay) {
    if (laid.times.size === 0)
        return null;
    const rows = ranks.filter((row) => laid.times.has(row.heapId)).map((row) => ({rank: row.rank, pid: row.pid, highest: row.highest, ...laid.times.get(row.heapId)})), time = (title, key) => ({title, key, show: (row) => timeText(row[key], lay)});
    return makeNumbers('Numbers of the picture', [{title: 'rank', key: 'rank', isNumber: true}, {title: 'pid', key: 'pid', isNumber: true}, time('begin', 'begin'), time('end', 'end'), {title: 'peak', key: 'highest', isNumber: true, show: (row) => formatBytes(row.highest)}], () => rows);
}

function showRanks(model, ranks, values, state, choose) {
    const lay = LAYS[values.lay] ? values.lay : 'event', heaps = [...new Set(ranks.map((row) => row.heapId))].filter((id) => id !== null).map((id) => model.heapById.get(id)), laid = remember(model, `ranks by ${lay}`, () => layCurves(heaps, lay));
    return [make('div', {class: 'row'}, showRoles(ranks, choose)), make('div', {class: 'row', id: 'ranks-lay'}, make('span', {class: 'note'}, say('across')), Object.keys(LAYS).map((name) => makeChoice(LAYS[name], lay === name, () => state.set({lay: name})))),
        drawRanks(ranks, laid, values, choose), wordsOfLay(ranks, laid, lay), layNumbers(ranks, laid, lay)];
}

/* A button for each rank that stands for all: however many there are, these are at hand. */
function showRoles(ranks, choose) {
    return Object.keys(ROLES).flatMap((role) => {
        const row = ranks.find((one) => one.roles.includes(role));
        return row ? [make('button', {class: 'plain', 'data-role': role, onclick: () => choose(row)}, sayWith('{role}: rank {rank}', {role: say(ROLES[role]), rank: String(row.rank ?? NOTHING)}))] : [];
    });
}

/* Devices of which several hold memory, or which are not of one size, the fullest first; [] where there is none. Pure. */
export function devicesToShow(rows) {
    const isDue = rows.some((row) => row.holder_count > 1) || new Set(rows.map((row) => row.capacity_bytes)).size > 1;
    return isDue ? [...rows].sort((a, b) => b.peak_bytes / (b.capacity_bytes ?? Infinity) - a.peak_bytes / (a.capacity_bytes ?? Infinity) || b.peak_bytes - a.peak_bytes) : [];
}

function makeDevices(model) {
    const rows = devicesToShow(model.rows('device_peak'));
    return rows.length === 0 ? null : makeTable([{title: 'host', key: 'host'}, {title: 'device', key: 'device', isNumber: true}, {title: 'peak', key: 'peak_bytes', isNumber: true, show: (row) => formatBytes(row.peak_bytes)},
        {title: 'capacity', key: 'capacity_bytes', isNumber: true, show: (row) => formatBytes(row.capacity_bytes)}, {title: 'holders', key: 'holder_count', isNumber: true}], rows, {caption: 'devices'});
}

export function makeRanks(model, state) {
    const rows = model.rows('rank');
    if (rows.length < 2)
        return null;
    const ranks = describeRanks(model, rows), picture = make('div', {id: 'ranks-picture'}), devices = makeDevices(model), choose = (row) => row.heapId !== null && state.set({heap: row.heapId, from: null, to: null, low: null, high: null, block: null});
    const table = makeTable(rankColumns(Math.max(...rows.map((row) => row.peak_bytes ?? 0), 1)), ranks, {caption: 'ranks', onRow: choose, isChosen: (row) => row.heapId !== null && row.heapId === state.values.heap,
        textOf: (row) => [`rank ${row.rank}`, row.host, row.pid, row.wrong, row.role, endText(row)].join(' ')});
    return {id: 'ranks', title: 'Ranks', note: 'click one: the panels above show its memory', uses: ['search', 'heap', 'lay'], element: make('div', null, picture, table.element, devices?.element), update: (values) => {
        put(picture, showRanks(model, ranks, values, state, choose));
        table.update(makeFilter(values.search));
        devices?.update(makeFilter(values.search));
    }};
}
