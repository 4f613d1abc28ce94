/* SPDX-License-Identifier: Apache-2.0
 *
 * What was live and reserved over the run, of the heap that is looked at. Each pixel shows the most of the buckets below it, and each
 * bucket's maximum is exact, so no peak is lost however small the picture is. Dragging picks the range for all panels, a click the moment.
 */
import {colourOf, make, makeCanvas, makeChoice, put} from './dom.mjs';
import {formatBytes, formatCount, formatTime} from './format.mjs';
import {stepAt} from './model.mjs';
import {interpolate, makeScale, niceTicks} from './scale.mjs';
import {makeNumbers} from './table.mjs';
import {say} from './words.mjs';

export const GUTTER_LEFT = 86;
export const GUTTER_RIGHT = 14;
const LINE_HEIGHT = 250, LINE_TOP = 26, LINE_BOTTOM = 46, OVERVIEW_HEIGHT = 46;

/* The scale of a picture of the heap, `width` wide, as the state has it. */
export function scaleFor(heap, values, width, isWhole) {
    const {first, last, clock} = heap.input;
    const from = isWhole ? first : Math.max(first, values.from ?? first), to = isWhole ? last : Math.min(last, values.to ?? last);
    return {...makeScale(from, Math.max(to, from + 1), GUTTER_LEFT, width - GUTTER_RIGHT, values.axis === 'time' ? clock : null), clock};
}

/* For each column of pixels the most live and the reserved bytes; -1: nothing is known there. Pure. */
export function columnsOf(usage, scale) {
    const count = Math.max(1, Math.ceil(scale.right - scale.left)), live = new Float64Array(count).fill(-1), reserved = new Float64Array(count).fill(-1);
    const place = (seq) => Math.min(count - 1, Math.max(0, Math.floor(scale.toX(seq) - scale.left)));
    let before = 0, kept = -1;
    for (let i = 0; i < usage.last_seq.length; i++) {
        const last = usage.last_seq[i];
        if (last < scale.firstSeq || Number.isNaN(last)) {
            before = usage.live_bytes[i];
            kept = usage.reserved_bytes[i];
            continue;
        }
        if (usage.first_seq[i] > scale.lastSeq)
            break;
        live[place(usage.first_seq[i])] = Math.max(live[place(usage.first_seq[i])], before);
        live[place(usage.max_seq[i])] = Math.max(live[place(usage.max_seq[i])], usage.max_live_bytes[i]);
        live[place(last)] = Math.max(live[place(last)], usage.live_bytes[i]);
        reserved[place(last)] = Math.max(reserved[place(last)], Number.isNaN(usage.reserved_bytes[i]) ? -1 : usage.reserved_bytes[i]);
        before = usage.live_bytes[i];
    }
    carry(live, 0);
    carry(reserved, Number.isNaN(kept) ? -1 : kept);
    return {live, reserved};
}

/* What is not known in a column is what it was before. */
function carry(values, first) {
    let last = first;
    for (let x = 0; x < values.length; x++)
        values[x] = values[x] < 0 ? last : last = values[x];
}

function drawArea(context, values, scale, toY, colour) {
    context.fillStyle = colour;
    context.beginPath();
    context.moveTo(scale.left, toY(0));
    for (let x = 0; x < values.length; x++) {
        context.lineTo(scale.left + x, toY(Math.max(0, values[x])));
        context.lineTo(scale.left + x + 1, toY(Math.max(0, values[x])));
    }
    context.lineTo(scale.left + values.length, toY(0));
    context.fill();
}

function drawLine(context, values, scale, toY, colour) {
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let x = 0; x < values.length; x++)
        context.lineTo(scale.left + x + 0.5, toY(Math.max(0, values[x])));
    context.stroke();
}

function drawGrid(context, scale, toY, most, width, bottom) {
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colourOf('muted');
    context.strokeStyle = colourOf('line');
    context.lineWidth = 1;
    context.textAlign = 'right';
    for (const value of niceTicks(0, most, 4, 2)) {
        const y = Math.round(toY(value)) + 0.5;
        context.beginPath();
        context.moveTo(scale.left, y);
        context.lineTo(scale.right, y);
        context.stroke();
        context.fillText(formatBytes(value), scale.left - 8, y + 4);
    }
    drawPlaces(context, scale, bottom);
}

/* On an axis of events the time stands beside the event, where it is known. */
function placeText(scale, value) {
    if (scale.isTime)
        return formatTime(value);
    return scale.clock ? `${formatCount(value)} \u00b7 ${formatTime(interpolate(scale.clock.seqs, scale.clock.times, value))}` : `event ${formatCount(value)}`;
}

export function drawPlaces(context, scale, y) {
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colourOf('muted');
    context.textAlign = 'center';
    for (const value of niceTicks(scale.begin, scale.end, Math.max(2, (scale.right - scale.left) / 130), 10)) {
        const x = Math.round(scale.placeToX(value)) + 0.5;
        context.fillRect(x, y, 1, 4);
        const text = placeText(scale, value), half = context.measureText(text).width / 2;
        context.fillText(text, Math.min(x, scale.right - half + 8), y + 15);
    }
}

/* Steps as a lane of ticks below the picture; where there are too many, not each has one. */
function drawSteps(context, heap, scale, y) {
    const steps = heap.steps.filter((step) => step.begin_seq >= scale.firstSeq && step.begin_seq <= scale.lastSeq);
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].find((n) => steps.length / n < (scale.right - scale.left) / 46) ?? 20000;
    context.textAlign = 'left';
    context.fillStyle = colourOf('muted');
    if (steps.length > 0)
        context.fillText('steps', 8, y + 10);
    for (const step of steps)
        if (step.number % every === 0) {
            context.fillRect(Math.round(scale.toX(step.begin_seq)), y, 1, 12);
            context.fillText(formatCount(step.number), Math.round(scale.toX(step.begin_seq)) + 3, y + 10);
        }
}

function markText(moment) {
    return moment.kind === 'mark' ? moment.name ?? 'mark' : moment.kind === 'failure' ? 'failed' : moment.kind;
}

function drawMoments(context, heap, scale, top, bottom) {
    let taken = -Infinity;
    const seen = new Set();
    context.textAlign = 'left';
    for (const moment of [...heap.moments].sort((a, b) => a.seq - b.seq)) {
        const x = Math.round(scale.toX(moment.seq)) + 0.5, key = `${moment.kind} ${Math.round(x)}`;
        if (moment.seq < scale.firstSeq || moment.seq > scale.lastSeq || moment.kind === 'end' || moment.kind === 'device peak' || seen.has(key))
            continue;
        seen.add(key);
        context.strokeStyle = context.fillStyle = colourOf(moment.kind === 'failure' ? 'bad' : moment.kind === 'peak' ? 'accent' : 'muted');
        context.setLineDash([3, 3]);
        context.beginPath();
        context.moveTo(x, top);
        context.lineTo(x, bottom);
        context.stroke();
        context.setLineDash([]);
        const text = markText(moment), isLate = x > scale.right - 60;
        context.textAlign = isLate ? 'right' : 'left';
        if (x >= taken)
            context.fillText(text, isLate ? x - 3 : x + 3, top + 1);
        taken = Math.max(taken, x + context.measureText(text).width + 8);
    }
}

export function drawCursor(context, values, heap, scale, top, bottom) {
    const seq = momentSeq(heap, values.at);
    if (seq === null || seq < scale.firstSeq || seq > scale.lastSeq)
        return;
    context.strokeStyle = colourOf('ink');
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(scale.toX(seq)) + 0.5, top);
    context.lineTo(Math.round(scale.toX(seq)) + 0.5, bottom);
    context.stroke();
}

/* The event of a moment as the state names it. */
export function momentSeq(heap, at) {
    if (at === 'peak')
        return heap.peak?.peak_seq ?? null;
    if (at === 'end')
        return heap.input.last - 1;
    return Number.isFinite(Number(at)) ? Number(at) : null;
}

/* The bucket that an event is in, or the last one before it. */
function bucketAt(usage, seq) {
    let found = -1;
    for (let i = 0; i < usage.last_seq.length && !(usage.first_seq[i] > seq); i++)
        found = i;
    return found;
}

function describe(heap, seq, clockOf) {
    const bucket = bucketAt(heap.usage, seq), step = stepAt(heap.steps, seq), time = clockOf(seq);
    if (bucket < 0)
        return '';
    const parts = [time, `event ${formatCount(seq)}`];
    if (step)
        parts.push(`step ${formatCount(step.number)}`);
    parts.push(`live ${formatBytes(heap.usage.live_bytes[bucket])} (at most ${formatBytes(heap.usage.max_live_bytes[bucket])}), ${formatCount(heap.usage.live_count[bucket])} blocks`);
    if (!Number.isNaN(heap.usage.reserved_bytes[bucket]))
        parts.push(`reserved ${formatBytes(heap.usage.reserved_bytes[bucket])}`);
    return parts.filter((part) => part).join(' \u00b7 ');
}

/* Dragging over a canvas: onDrag(fromX, toX, fromY, toY) when it is let go, onClick(x, y), onMove(x, y, dragFrom). */
export function listenDrag(canvas, onDrag, onClick, onMove) {
    let start = null;
    const at = (event) => {
        const box = canvas.getBoundingClientRect();
        return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    canvas.addEventListener('pointerdown', (event) => {
        start = at(event);
        canvas.setPointerCapture?.(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => onMove(at(event), start));
    canvas.addEventListener('pointerleave', () => onMove(null, start));
    canvas.addEventListener('pointercancel', () => {
        start = null;
    });
    canvas.addEventListener('pointerup', (event) => {
        const end = at(event), from = start;
        start = null;
        if (from && Math.abs(end.x - from.x) > 5)
            onDrag(from, end);
        else if (from)
            onClick(end);
    });
}

/* Arrows move the moment, + and - the range, as the keyboard can have them. */
export function listenKeys(canvas, heapOf, state) {
    canvas.addEventListener('keydown', (event) => {
        const heap = heapOf(), {values} = state, from = values.from ?? heap.input.first, to = values.to ?? heap.input.last;
        const width = to - from, seq = momentSeq(heap, values.at) ?? from;
        const moves = {ArrowLeft: {at: String(Math.max(from, Math.round(seq - width / 50)))}, ArrowRight: {at: String(Math.min(to - 1, Math.round(seq + width / 50)))},
            '+': {from: Math.floor(seq - width / 4), to: Math.ceil(seq + width / 4)}, '-': {from: Math.floor(from - width / 2), to: Math.ceil(to + width / 2)}, Escape: {from: null, to: null, low: null, high: null}};
        if (!moves[event.key])
            return;
        event.preventDefault();
        state.set(withinRun(heap, moves[event.key]));
    });
}

function withinRun(heap, change) {
    const {first, last} = heap.input;
    if (change.from === undefined || change.from === null)
        return change;
    const from = Math.max(first, change.from), to = Math.min(last, Math.max(change.to, from + 2));
    return from <= first && to >= last ? {from: null, to: null} : {from, to};
}

function drawTimeline(context, width, heap, values, drag) {
    const scale = scaleFor(heap, values, width), columns = columnsOf(heap.usage, scale), bottom = LINE_HEIGHT - LINE_BOTTOM;
    const most = Math.max(1, ...columns.live, ...columns.reserved), capacity = heap.capacity_bytes ?? 0;
    const ceiling = capacity > 0 && most > capacity * 0.5 ? Math.max(capacity, most) * 1.04 : most * 1.08;
    const toY = (bytes) => bottom - (bottom - LINE_TOP) * bytes / ceiling;
    context.clearRect(0, 0, width, LINE_HEIGHT);
    if (columns.reserved.some((value) => value > 0))
        drawArea(context, columns.reserved, scale, toY, colourOf('reserved'));
    drawArea(context, columns.live, scale, toY, colourOf('live'));
    drawGrid(context, scale, toY, ceiling, width, bottom);
    drawLine(context, columns.live, scale, toY, colourOf('accent'));
    if (ceiling > capacity && capacity > 0)
        drawCapacity(context, scale, toY(capacity), capacity);
    drawSteps(context, heap, scale, bottom + 22);
    drawMoments(context, heap, scale, LINE_TOP - 12, bottom);
    drawCursor(context, values, heap, scale, LINE_TOP - 6, bottom);
    drawBrush(context, drag, LINE_TOP, bottom);
}

function drawCapacity(context, scale, y, capacity) {
    context.strokeStyle = context.fillStyle = colourOf('bad');
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(scale.left, y);
    context.lineTo(scale.right, y);
    context.stroke();
    context.textAlign = 'right';
    context.fillText(`capacity ${formatBytes(capacity)}`, scale.right, y - 4);
}

export function drawBrush(context, drag, top, bottom) {
    if (!drag)
        return;
    context.fillStyle = colourOf('brush');
    context.fillRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), bottom - top);
}

function drawOverview(context, width, heap, values, drag) {
    const scale = scaleFor(heap, values, width, true), columns = columnsOf(heap.usage, scale), most = Math.max(1, ...columns.live);
    const toY = (bytes) => OVERVIEW_HEIGHT - 4 - (OVERVIEW_HEIGHT - 8) * bytes / most;
    context.clearRect(0, 0, width, OVERVIEW_HEIGHT);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colourOf('muted');
    context.fillText('whole run', 8, OVERVIEW_HEIGHT / 2 + 4);
    drawArea(context, columns.live, scale, toY, colourOf('reserved'));
    const from = scale.toX(values.from ?? scale.firstSeq), to = scale.toX(values.to ?? scale.lastSeq);
    context.fillStyle = colourOf('brush');
    context.fillRect(from, 0, Math.max(2, to - from), OVERVIEW_HEIGHT);
    drawBrush(context, drag, 0, OVERVIEW_HEIGHT);
}

function brushed(heap, values, canvas, isWhole, from, to) {
    const scale = scaleFor(heap, values, canvas.clientWidth, isWhole);
    const a = scale.toSeq(Math.min(from.x, to.x)), b = scale.toSeq(Math.max(from.x, to.x));
    return withinRun(heap, {from: Math.floor(a), to: Math.ceil(b)});
}

function usageNumbers(heap, clockOf) {
    const {usage} = heap, rows = [];
    for (let i = 0; i < usage.last_seq.length; i++)
        rows.push({seq: usage.last_seq[i], time: clockOf(usage.last_seq[i]), max: usage.max_live_bytes[i], live: usage.live_bytes[i], count: usage.live_count[i], reserved: usage.reserved_bytes[i]});
    return rows;
}

const NUMBER_COLUMNS = [
    {title: 'event', key: 'seq', isNumber: true, show: (row) => formatCount(row.seq)}, {title: 'time', key: 'time', isNumber: true},
    {title: 'most live', key: 'max', isNumber: true, show: (row) => formatBytes(row.max)}, {title: 'live', key: 'live', isNumber: true, show: (row) => formatBytes(row.live)},
    {title: 'blocks', key: 'count', isNumber: true, show: (row) => formatCount(row.count)}, {title: 'reserved', key: 'reserved', isNumber: true, show: (row) => formatBytes(row.reserved)},
];

/* "93.1 ms" of an event; empty where times are not known. */
export function clockOf(heap) {
    return (seq) => (heap.input.clock ? formatTime(timeAt(heap, seq)) : '');
}

/* By the clock of the input, which is interpolated between the buckets of its timelines. */
export function timeAt(heap, seq) {
    return interpolate(heap.input.clock.seqs, heap.input.clock.times, seq);
}

/* Of many processes one is looked at; where there is one alone there is nothing to choose. */
function makeProcessChoice(model, heap, state) {
    const processes = new Map(model.heaps.filter((one) => one.usage).map((one) => [one.process_id, one]));
    if (processes.size < 2)
        return null;
    const textOf = (one) => [one.rank === null ? null : `rank ${one.rank}`, one.host, one.pid === null ? null : `pid ${one.pid}`].filter((part) => part).join(' \u00b7 ');
    const choose = (event) => {
        const own = model.heaps.filter((one) => one.usage && one.process_id === Number(event.target.value));
        state.set({heap: (own.find((one) => one.level === heap.level) ?? own[0]).heap_id, from: null, to: null, low: null, high: null, block: null});
    };
    return make('select', {'aria-label': 'process', onchange: choose}, [...processes].map(([id, one]) => make('option', {value: id, selected: id === heap.process_id}, textOf(one))));
}

export function makeTimeline(model, state) {
    const heapOf = () => model.heapById.get(state.values.heap) ?? model.best;
    const tell = make('p', {class: 'tell', 'aria-live': 'polite'}), heaps = make('div', {class: 'heaps', role: 'tablist', 'aria-label': 'heaps'});
    const numbers = make('div'), tools = make('div', {class: 'row'});
    let drag = null, wholeDrag = null;
    const main = makeCanvas(LINE_HEIGHT, (context, width) => heapOf().usage && drawTimeline(context, width, heapOf(), state.values, drag), {id: 'timeline-canvas', tabindex: 0, role: 'img', class: 'chart'});
    const overview = makeCanvas(OVERVIEW_HEIGHT, (context, width) => heapOf().usage && drawOverview(context, width, heapOf(), state.values, wholeDrag), {class: 'chart', role: 'img', 'aria-label': 'the whole run: drag to pick a range'});
    const draw = () => {
        main.redraw();
        overview.redraw();
    };
    const show = (seq) => put(tell, seq === null || !heapOf().usage ? '' : describe(heapOf(), seq, clockOf(heapOf())));
    listenDrag(main.canvas, (from, to) => {
        drag = null;
        state.set(brushed(heapOf(), state.values, main.canvas, false, from, to));
    }, (at) => {
        drag = null;
        state.set({at: String(Math.round(scaleFor(heapOf(), state.values, main.canvas.clientWidth).toSeq(at.x)))});
    }, (at, start) => {
        drag = at && start ? {from: start.x, to: at.x} : null;
        show(at ? Math.round(scaleFor(heapOf(), state.values, main.canvas.clientWidth).toSeq(at.x)) : momentSeq(heapOf(), state.values.at));
        main.redraw();
    });
    listenDrag(overview.canvas, (from, to) => {
        wholeDrag = null;
        state.set(brushed(heapOf(), state.values, overview.canvas, true, from, to));
    }, () => {
        wholeDrag = null;
        state.set({from: null, to: null});
    }, (at, start) => {
        wholeDrag = at && start ? {from: start.x, to: at.x} : null;
        overview.redraw();
    });
    listenKeys(main.canvas, heapOf, state);
    const update = (values) => {
        const heap = heapOf();
        put(heaps, makeProcessChoice(model, heap, state), model.heaps.filter((one) => one.usage && one.process_id === heap.process_id).map((one) => make('button', {role: 'tab', 'aria-selected': String(one === heap), class: 'heap', onclick: () => state.set({heap: one.heap_id, low: null, high: null, block: null})},
            make('span', null, one.label), make('span', {class: 'note'}, `${formatBytes(one.peak?.peak_bytes)} peak`))));
        put(tools, heap.input.clock && [make('span', {class: 'note'}, say('across')), ['event', 'time'].map((axis) => makeChoice(axis, values.axis === axis, () => state.set({axis})))],
            make('span', {class: 'note'}, say('moment')), ['peak', 'end'].map((at) => makeChoice(at, values.at === at, () => state.set({at}))),
            values.from !== null && make('button', {class: 'plain', onclick: () => state.set({from: null, to: null})}, say('whole run')));
        main.canvas.setAttribute('aria-label', `live and reserved bytes of ${heap.label} over the run; peak ${formatBytes(heap.peak?.peak_bytes)}. Arrows move the moment, plus and minus the range.`);
        show(momentSeq(heap, values.at));
        draw();
    };
    const setNumbers = () => put(numbers, heapOf().usage && makeNumbers('Numbers of the timeline', NUMBER_COLUMNS, () => usageNumbers(heapOf(), clockOf(heapOf()))));
    setNumbers();
    let shownHeap = null;
    return {id: 'timeline', title: 'Timeline', note: 'drag to pick a range for all panels, click to pick the moment', element: make('div', null, heaps, tools, main.canvas, overview.canvas, tell, numbers), update: (values) => {
        if (shownHeap !== heapOf())
            setNumbers();
        shownHeap = heapOf();
        update(values);
    }};
}
