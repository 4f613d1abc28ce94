/* SPDX-License-Identifier: Apache-2.0
 *
 * What the device of the heap that is looked at held over the run, by what held it. Each pixel shows the moment at which most was held within
 * it, and lines the most of single heaps, so no peak is lost however small the picture is. Dragging picks the range for all panels, a click
 * the moment.
 */
import {CHART_LEFT, CHART_RIGHT, drawText, makeChart, placeBetween, placeLabels, placeRanges} from '../pictures/chart.mjs';
import {coloursBy, PALETTE, REST} from '../pictures/colours.mjs';
import {colourOf, make, makeCanvas, makeChoice, put} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatTime} from '../state/format.mjs';
import {groupingsOf} from '../data/groups.mjs';
import {rangesOfProcess, stepAt} from '../data/model.mjs';
import {partWord} from '../state/opening.mjs';
import {interpolate, makeScale, niceTicks} from '../pictures/scale.mjs';
import {firstFrom, heldBy, heldByLayer, keyOfLayer, mostByPixel, partingsOf, valueAt} from '../data/series.mjs';
import {makeNumbers} from '../pictures/table.mjs';
import {say, sayMemoryPart, sayName, sayPlace, sayWith} from '../state/words.mjs';

export const GUTTER_LEFT = CHART_LEFT;
export const GUTTER_RIGHT = CHART_RIGHT;
const LINE_HEIGHT = 330, LINE_TOP = 34, LABEL_HEIGHT = 14, AXIS_HEIGHT = 24, STEPS_HEIGHT = 18, RANGE_HEIGHT = 14, RANGE_ROWS = 3, OVERVIEW_HEIGHT = 46, TABLE_PARTS = 200;
const RANGES_MAX = 50000; /* as tables.def has it */

/* What an axis goes by: the clock of times, that of steps, or null: events. */
function axisOf(heap, axis) {
    return axis === 'time' ? heap.input.clock : axis === 'step' ? heap.stepClock : null;
}

/* The scale of a picture of the heap, `width` wide, as the state has it. */
export function scaleFor(heap, values, width, isWhole) {
    const {first, last, clock} = heap.input;
    const from = isWhole ? first : Math.max(first, values.from ?? first), to = isWhole ? last : Math.min(last, values.to ?? last);
    return {...makeScale(from, Math.max(to, from + 1), GUTTER_LEFT, width - GUTTER_RIGHT, axisOf(heap, values.axis)), clock};
}

/* On an axis of events the time stands beside the event, where it is known. */
function placeText(scale, value) {
    if (scale.textOf)
        return scale.textOf(value);
    if (scale.isTime)
        return formatTime(value);
    return scale.clock ? `${formatCount(value)} \u00b7 ${formatTime(interpolate(scale.clock.seqs, scale.clock.times, value))}` : sayWith('event {event}', {event: formatCount(value)});
}

/* Round places of an axis with their texts; of steps whole ones. */
export function placesOf(scale) {
    const values = niceTicks(scale.begin, scale.end, Math.max(2, (scale.right - scale.left) / 130), 10).filter((value) => !scale.textOf || Number.isInteger(value));
    return values.map((value) => ({value, text: placeText(scale, value)})).filter((place) => place.text !== null);
}

export function drawPlaces(context, scale, y) {
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colourOf('muted');
    context.textAlign = 'center';
    for (const {value, text} of placesOf(scale)) {
        const x = Math.round(scale.placeToX(value)) + 0.5, half = context.measureText(text).width / 2;
        context.fillRect(x, y, 1, 4);
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
        context.fillText(say('steps'), 8, y + 10);
    for (const step of steps)
        if (step.number % every === 0) {
            context.fillRect(Math.round(scale.toX(step.begin_seq)), y, 1, 12);
            context.fillText(formatCount(step.number), Math.round(scale.toX(step.begin_seq)) + 3, y + 10);
        }
}

function markText(moment) {
    return moment.kind === 'mark' ? moment.name ?? 'mark' : moment.kind === 'failure' ? say('failed') : say(moment.kind);
}

/* Failures first, then the peak: where there is no room for all labels, theirs are there. */
function momentsInView(heap, scale) {
    const ranks = {failure: 0, peak: 1}, seen = new Set();
    const isNew = (moment) => {
        const key = `${moment.kind} ${moment.name} ${Math.round(scale.toX(moment.seq))}`;
        return !seen.has(key) && seen.add(key);
    };
    return heap.moments.filter((moment) => moment.seq >= scale.firstSeq && moment.seq <= scale.lastSeq && moment.kind !== 'end' && moment.kind !== 'device peak' && isNew(moment))
        .sort((a, b) => (ranks[a.kind] ?? 2) - (ranks[b.kind] ?? 2) || a.seq - b.seq);
}

function drawMoments(context, heap, scale, bottom) {
    const moments = momentsInView(heap, scale), rows = Math.floor(LINE_TOP / LABEL_HEIGHT);
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'left';
    const places = placeLabels(moments.map((moment) => ({x: scale.toX(moment.seq), width: context.measureText(markText(moment)).width})), scale.right + GUTTER_RIGHT, rows, 6);
    const colours = moments.map((moment) => colourOf(moment.kind === 'failure' ? 'bad' : moment.kind === 'peak' ? 'accent' : 'muted'));
    context.setLineDash([3, 3]);
    moments.forEach((moment, i) => {
        const x = Math.round(scale.toX(moment.seq)) + 0.5;
        context.strokeStyle = colours[i];
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(x, places[i].row < 0 ? LINE_TOP : 2 + places[i].row * LABEL_HEIGHT);
        context.lineTo(x, bottom);
        context.stroke();
    });
    context.setLineDash([]);
    moments.forEach((moment, i) => places[i].row >= 0 && drawText(context, markText(moment), places[i].left, 12 + places[i].row * LABEL_HEIGHT, colours[i]));
}

/* Ranges of the program as bars below each other; of those narrower than a pixel one a pixel. */
function drawRanges(context, ranges, scale, y) {
    const taken = Array(RANGE_ROWS).fill(-Infinity);
    context.save();
    context.beginPath();
    context.rect(scale.left, y, scale.right - scale.left, RANGE_ROWS * RANGE_HEIGHT);
    context.clip();
    for (const range of ranges) {
        if (range.begin_seq > scale.lastSeq)
            break;
        if (range.end_seq < scale.firstSeq)
            continue;
        const from = Math.max(scale.left - 1, scale.toX(range.begin_seq)), to = Math.min(scale.right + 1, scale.toX(Math.min(range.end_seq, scale.lastSeq))), width = Math.max(1, to - from);
        if (from + width < taken[range.row] + 1)
            continue;
        taken[range.row] = from + width;
        drawRange(context, range, from, width, y + range.row * RANGE_HEIGHT);
    }
    context.restore();
}

function drawRange(context, range, x, width, y) {
    context.globalAlpha = 0.45;
    context.fillStyle = PALETTE[range.kind % PALETTE.length];
    context.fillRect(x, y, Math.max(1, width - 0.5), RANGE_HEIGHT - 2);
    context.globalAlpha = 1;
    if (width <= 24 || !range.name || context.measureText(range.name).width + 6 > width)
        return;
    context.fillStyle = colourOf('ink');
    context.textAlign = 'left';
    context.fillText(range.name, x + 3, y + 9.5);
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

/* Nobody knows the peak of a heap of which neither an allocation nor a free was seen. Pure. */
export function hasPeak(heap) {
    return !heap.total || heap.total.allocation_count + heap.total.free_count > 0;
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

function describe(heap, seq, clockOf, ranges) {
    const bucket = bucketAt(heap.usage, seq), step = stepAt(heap.steps, seq), time = clockOf(seq);
    if (bucket < 0)
        return '';
    const parts = [time, `${say('event')} ${formatCount(seq)}`];
    if (step)
        parts.push(`${say('step')} ${formatCount(step.number)}`);
    parts.push(`${say('live')} ${formatBytes(heap.usage.live_bytes[bucket])} (${say('at most')} ${formatBytes(heap.usage.max_live_bytes[bucket])}), ${sayWith('{count} blocks', {count: formatCount(heap.usage.live_count[bucket])})}`);
    if (!Number.isNaN(heap.usage.reserved_bytes[bucket]))
        parts.push(`${say('reserved')} ${formatBytes(heap.usage.reserved_bytes[bucket])}`);
    const around = ranges.filter((range) => range.begin_seq <= seq && range.end_seq > seq).map((range) => range.name);
    if (around.length > 0)
        parts.push(around.slice(0, 3).join(' > '));
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

/* ---- What the chart is told to draw ---- */

function partText(layer) {
    if (layer.part === 'unexplained')
        return say('others and unexplained');
    if (layer.part === 'group' || layer.part === 'rest')
        return layer.part === 'group' ? sayName(layer.name) : sayWith('{count} more', {count: formatCount(layer.count)});
    const name = sayName(layer.heap.heap ?? layer.heap.level);
    if (layer.heap.module && layer.heap.module !== 'APP')
        return sayName(layer.heap.module);
    return layer.part === 'live' ? name : `${name}: ${say(layer.part === 'allocated' ? 'allocated' : layer.part === 'free' ? 'free' : 'outside of pools')}`;
}

/* Groups have the colours that they have elsewhere; of other layers the first two are those of the heap itself. */
function layerColours(layers, ofName) {
    let next = 4;
    return layers.map((layer, i) => {
        if (layer.part === 'unexplained' || layer.part === 'rest')
            return REST;
        if (layer.part === 'group')
            return ofName(layer.name);
        return i < 2 && layer.part !== 'other' ? colourOf(layer.part === 'free' ? 'reserved' : 'live') : PALETTE[next++ % PALETTE.length];
    });
}

/* The colour of a layer, the same whichever of them are hidden. */
function coloursOf(model, heap, values) {
    const by = partingOf(model, heap, values), {layers} = heldBy(model, heap, by), colours = layerColours(layers, coloursBy(model, heap, by, layers.map((layer) => layer.name)));
    return (layer) => colours[layers.findIndex((one) => keyOfLayer(one) === keyOfLayer(layer))];
}

/* What the picture is parted by: as the state says, where that can be. */
function partingOf(model, heap, values) {
    return partingsOf(model, heap, groupingsOf(model, heap)).includes(values.layers) ? values.layers : 'component';
}

function hiddenOf(values) {
    return values.hide?.split('\n') ?? [];
}

function pictureOf(model, heap, values) {
    return heldBy(model, heap, partingOf(model, heap, values), hiddenOf(values));
}

function lineLooks(picture) {
    return picture.lines.map((line, i) => ({label: line.heap.label, stroke: colourOf(i === 0 ? 'accent' : 'warn'), dash: i === 0 ? undefined : [5, 4]}));
}

/* For each pixel of a scale what each layer held, at the moment at which all of them together held most. Pure. */
export function stackByPixel(picture, scale) {
    const count = Math.max(1, Math.ceil(scale.right - scale.left)), places = mostByPixel(picture.seqs, picture.maxima, scale, count);
    return {places, layers: picture.layers.map((layer) => Float64Array.from(places, (place) => heldByLayer(picture, layer, place)))};
}

/* For each pixel the most of a line. Pure. */
export function lineByPixel(line, scale) {
    const count = Math.max(1, Math.ceil(scale.right - scale.left));
    return Float64Array.from(mostByPixel(line.curve.seqs, line.maxima, scale, count), (place) => (place < 0 ? 0 : line.curve.values[place]));
}

/* Sums from below, the highest first: the chart draws them over each other. A last value holds to the right edge. */
function sumsFromBelow(layers) {
    const sums = [];
    for (const values of layers)
        sums.unshift(sums.length === 0 ? values : values.map((value, x) => value + sums[0][x]));
    return sums;
}

function ceilingOf(values, capacity) {
    const most = values.reduce((best, column) => column.reduce((a, b) => Math.max(a, b), best), 1);
    return capacity > 0 && most > capacity * 0.5 ? Math.max(capacity, most) * 1.06 : most * 1.08;
}

const toEdge = (values) => Array.from({length: values.length + 1}, (_, x) => values[Math.min(x, values.length - 1)]);

function rowsOfRanges(ranges) {
    return ranges.reduce((most, range) => Math.max(most, range.row + 1), 0);
}

function lookOf(picture, colourOfLayer, heap, values, width, ranges) {
    const scale = scaleFor(heap, values, width), stack = stackByPixel(picture, scale), sums = sumsFromBelow(stack.layers), lines = picture.lines.map((line) => lineByPixel(line, scale));
    const perPixel = (scale.end - scale.begin) / (scale.right - scale.left), capacity = heap.capacity_bytes ?? 0, ceiling = ceilingOf([sums[0], ...lines], capacity);
    const places = toEdge(sums[0]).map((_, x) => Math.min(scale.end, scale.begin + x * perPixel)), hasSteps = heap.steps.length > 0;
    return {
        key: `${heap.heap_id} ${picture.isExact} ${hasSteps} ${ranges.length} ${picture.layers.map(keyOfLayer).join('\n')}`, range: [scale.begin, scale.end], ceiling, data: [places, ...[...sums, ...lines].map(toEdge)],
        series: [...picture.layers.map((layer) => ({label: partText(layer), fill: colourOfLayer(layer), stroke: layer.curve ? colourOf('card') : null, width: 0.7, isStepped: true})).reverse(), ...lineLooks(picture).map((one) => ({...one, isStepped: true}))],
        places: placesOf(scale).filter((place) => scale.placeToX(place.value) + 3 * place.text.length < scale.right + GUTTER_RIGHT),
        bottom: AXIS_HEIGHT + (hasSteps ? STEPS_HEIGHT : 0) + rowsOfRanges(ranges) * RANGE_HEIGHT,
        drawOver: (context, top, bottom) => drawOver(context, heap, values, scale, {top, bottom, ranges, capacity, ceiling}),
    };
}

function drawOver(context, heap, values, scale, place) {
    const {top, bottom, ranges, capacity, ceiling} = place;
    if (ceiling > capacity && capacity > 0)
        drawCapacity(context, scale, bottom - (bottom - top) * capacity / ceiling, capacity, linesOf(heap, values, scale));
    context.font = '11px system-ui, sans-serif';
    drawSteps(context, heap, scale, bottom + AXIS_HEIGHT);
    drawRanges(context, ranges, scale, bottom + AXIS_HEIGHT + (heap.steps.length > 0 ? STEPS_HEIGHT : 0));
    drawMoments(context, heap, scale, bottom);
    drawCursor(context, values, heap, scale, top, bottom);
}

/* Where lines go down through the picture: of moments, and the one that is picked. */
function linesOf(heap, values, scale) {
    const picked = momentSeq(heap, values.at);
    return [...momentsInView(heap, scale).map((moment) => moment.seq), ...(picked === null ? [] : [picked])].filter((seq) => seq >= scale.firstSeq && seq <= scale.lastSeq).map(scale.toX);
}

/* Its words stand below the line, for the labels of moments are above, and where no line goes through them. */
function drawCapacity(context, scale, y, capacity, lines) {
    const text = `${say('capacity')} ${formatBytes(capacity)}`;
    context.strokeStyle = colourOf('bad');
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(scale.left, y);
    context.lineTo(scale.right, y);
    context.stroke();
    context.font = '11px system-ui, sans-serif';
    context.textAlign = 'left';
    drawText(context, text, placeBetween(lines, context.measureText(text).width, scale.left + 6, scale.right), y + 14, colourOf('bad'));
}

export function drawBrush(context, drag, top, bottom) {
    if (!drag)
        return;
    context.fillStyle = colourOf('brush');
    context.fillRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), bottom - top);
}

function drawOverview(context, width, heap, values, drag, line) {
    const scale = scaleFor(heap, values, width, true), most = lineByPixel(line, scale), ceiling = most.reduce((a, b) => Math.max(a, b), 1);
    context.clearRect(0, 0, width, OVERVIEW_HEIGHT);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colourOf('muted');
    context.fillText(say('whole run'), 8, OVERVIEW_HEIGHT / 2 + 4);
    context.fillStyle = colourOf('reserved');
    most.forEach((bytes, x) => {
        const height = (OVERVIEW_HEIGHT - 8) * bytes / ceiling;
        context.fillRect(scale.left + x, OVERVIEW_HEIGHT - 4 - height, 1, height);
    });
    const from = scale.toX(values.from ?? scale.firstSeq), to = scale.toX(values.to ?? scale.lastSeq);
    context.fillStyle = colourOf('brush');
    context.fillRect(from, 0, Math.max(2, to - from), OVERVIEW_HEIGHT);
    drawBrush(context, drag, 0, OVERVIEW_HEIGHT);
}

function brushed(heap, values, width, isWhole, from, to) {
    const scale = scaleFor(heap, values, width, isWhole), a = scale.toSeq(Math.min(from, to)), b = scale.toSeq(Math.max(from, to));
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
    return make('select', {'aria-label': say('process'), onchange: choose}, [...processes].map(([id, one]) => make('option', {value: id, selected: id === heap.process_id}, textOf(one))));
}

/* ---- Figures beside the picture ---- */

/* What each layer and line held at an event, as a list with the colours of the picture. A click hides a layer, or shows it again: the last one stays. */
function makeLegend(picture, colourOfLayer, seq, isCut, state) {
    const at = firstFrom(picture.seqs, seq + 0.5) - 1, looks = lineLooks(picture), hidden = picture.hidden ?? [], keys = hidden.map(keyOfLayer);
    const one = (colour, text, bytes, kind) => [make('span', {class: `swatch ${kind}`, style: `background:${colour}`}), make('span', null, text), bytes !== null && make('b', {title: `${formatCount(bytes)} B`}, formatBytes(bytes))];
    const hide = (layer, isShown) => state.set({hide: (isShown ? [...keys, keyOfLayer(layer)] : keys.filter((key) => key !== keyOfLayer(layer))).join('\n') || null});
    const toggle = (layer, isShown) => make('li', null, make('button', {class: `legend${isShown ? '' : ' off'}`, 'aria-pressed': String(isShown), disabled: isShown && picture.layers.length === 1, onclick: () => hide(layer, isShown)}, one(colourOfLayer(layer), partText(layer), isShown ? heldByLayer(picture, layer, at) : null, 'layer')));
    const lines = picture.lines.slice(1).map((line, i) => make('li', {class: 'legend'}, one(looks[i + 1].stroke, sayName(line.heap.heap ?? line.heap.level), valueAt(line.curve, seq), 'line')));
    return [picture.layers.map((layer) => toggle(layer, true)), hidden.map((layer) => toggle(layer, false)), lines, picture.layers.length > 1 && make('li', {class: 'legend total'}, make('span', null, say('together')), make('b', null, formatBytes(at < 0 ? 0 : picture.total[at]))),
        isCut && make('li', {class: 'legend note'}, say('only the longest ranges are here')),
        make('li', {class: 'legend note'}, picture.isExact ? say('every event counts') : say('from buckets, whose maxima are exact for each heap'))];
}

const TIP_LAYERS = 8;

/* At the pointer: the moment, and what held most then. */
function showReadout(tip, picture, colourOfLayer, heap, seq, x, width) {
    const at = firstFrom(picture.seqs, seq + 0.5) - 1, held = picture.layers.map((layer) => ({layer, bytes: heldByLayer(picture, layer, at)})).filter(({bytes}) => bytes > 0).sort((a, b) => b.bytes - a.bytes), isRight = x > width / 2;
    put(tip, make('b', null, [clockOf(heap)(seq), sayWith('event {event}', {event: formatCount(seq)}), formatBytes(at < 0 ? 0 : picture.total[at])].filter((text) => text).join(' \u00b7 ')),
        held.slice(0, TIP_LAYERS).map(({layer, bytes}) => make('div', null, make('span', {class: 'swatch', style: `background:${colourOfLayer(layer)}`}), ` ${formatBytes(bytes)}  ${partText(layer)}`)), held.length > TIP_LAYERS && make('div', null, sayWith('{count} more', {count: formatCount(held.length - TIP_LAYERS)})));
    tip.style.left = isRight ? 'auto' : `${x + 14}px`;
    tip.style.right = isRight ? `${width - x + 14}px` : 'auto';
}

/* The picture in figures: the range in parts, of each the moment at which most was held. */
function pictureRows(picture, heap, values) {
    const whole = scaleFor(heap, values, GUTTER_LEFT + GUTTER_RIGHT + TABLE_PARTS), stack = stackByPixel(picture, whole), clock = clockOf(heap), rows = [];
    stack.places.forEach((place, x) => place >= 0 && place !== stack.places[x - 1] && rows.push({seq: picture.seqs[place], time: clock(picture.seqs[place]), total: picture.total[place], ...Object.fromEntries(stack.layers.map((layer, i) => [`layer${i}`, layer[x]]))}));
    return rows;
}

function pictureColumns(picture) {
    const bytes = (title, key) => ({title, key, isNumber: true, show: (row) => formatBytes(row[key])});
    return [...NUMBER_COLUMNS.slice(0, 2), ...picture.layers.map((layer, i) => bytes(partText(layer), `layer${i}`)), bytes('together', 'total')];
}

const DEVICE_COLUMNS = [
    {title: 'moment', key: 'moment', show: (row) => say(row.moment ?? '')}, {title: 'event', key: 'seq', isNumber: true, show: (row) => formatCount(row.seq)}, {title: 'what', key: 'component', show: sayMemoryPart},
    {title: 'size', key: 'bytes', isNumber: true, show: (row) => formatBytes(row.bytes)}, {title: 'certain', key: 'is_estimate', show: (row) => (row.is_estimate === 1 ? say('estimate') : '')},
];

/* Rows of view device_part of the device of a heap. */
function deviceRows(model, heap) {
    return model.rows('device_part').filter((row) => ['host', 'rank', 'pid', 'device'].every((name) => row[name] === heap[name]));
}

function makeFigures(model, heap, picture, values) {
    const device = heap.device_id === null ? [] : deviceRows(model, heap);
    return [makeNumbers('Numbers of the timeline', NUMBER_COLUMNS, () => usageNumbers(heap, clockOf(heap))), makeNumbers('Numbers of the picture', pictureColumns(picture), () => pictureRows(picture, heap, values())),
        device.length > 0 && makeNumbers('What the device held at its moments', DEVICE_COLUMNS, () => device)];
}

/* Figures of another range: what was open is again. */
function putOpen(box, figures) {
    const isOpen = [...box.children].map((one) => one.open);
    put(box, figures);
    [...box.children].forEach((one, i) => {
        one.open = isOpen[i] === true;
    });
}

function makeHeapChoice(model, heap, state) {
    return [makeProcessChoice(model, heap, state), model.heaps.filter((one) => one.usage && one.process_id === heap.process_id).map((one) => make('button', {role: 'tab', 'aria-selected': String(one === heap), class: 'heap', onclick: () => state.set({heap: one.heap_id, low: null, high: null, block: null})},
        make('span', null, sayPlace(one.label)), make('span', {class: 'note'}, hasPeak(one) ? sayWith('{bytes} peak', {bytes: formatBytes(one.peak?.peak_bytes)}) : formatBytes(one.peak?.peak_bytes))))];
}

function makeAxisChoice(model, heap, values, state) {
    const axes = ['event', ...(heap.input.clock ? ['time'] : []), ...(heap.stepClock ? ['step'] : [])];
    const partings = partingsOf(model, heap, groupingsOf(model, heap)), by = partingOf(model, heap, values);
    return [partings.length > 1 && [make('span', {class: 'note'}, say('by')), partings.map((kind) => makeChoice(kind, kind === by, () => state.set({layers: kind, hide: null})))],
        axes.length > 1 && [make('span', {class: 'note'}, say('across')), axes.map((axis) => makeChoice(axis, values.axis === axis, () => state.set({axis})))],
        make('span', {class: 'note'}, say('moment')), ['peak', 'end'].filter((at) => at === 'end' || hasPeak(heap)).map((at) => makeChoice(at, values.at === at, () => state.set({at}))),
        values.from !== null && [make('button', {class: 'plain', onclick: () => state.set({from: null, to: null})}, say('whole run')), make('span', {class: 'part'}, partWord(model, heap, values))]];
}

function makeOverview(heapOf, state, lineOf) {
    let drag = null;
    const overview = makeCanvas(OVERVIEW_HEIGHT, (context, width) => heapOf().usage && drawOverview(context, width, heapOf(), state.values, drag, lineOf(heapOf())), {class: 'chart', role: 'img', 'aria-label': say('the whole run: drag to pick a range')});
    listenDrag(overview.canvas, (from, to) => {
        drag = null;
        state.set(brushed(heapOf(), state.values, overview.canvas.clientWidth, true, from.x, to.x));
    }, () => {
        drag = null;
        state.set({from: null, to: null});
    }, (at, start) => {
        drag = at && start ? {from: start.x, to: at.x} : null;
        overview.redraw();
    });
    return overview;
}

function makeMainChart(model, heapOf, state, rangesOf, show) {
    const widthOf = () => chart.element.clientWidth, seqAt = (x) => Math.round(scaleFor(heapOf(), state.values, widthOf()).toSeq(x));
    const chart = makeChart({height: LINE_HEIGHT, top: LINE_TOP}, {id: 'timeline-chart', tabindex: 0, class: 'chart'}, (width) => lookOf(pictureOf(model, heapOf(), state.values), coloursOf(model, heapOf(), state.values), heapOf(), state.values, width, rangesOf(heapOf())), {
        onRange: (from, to) => state.set(brushed(heapOf(), state.values, widthOf(), false, from, to)), onClick: (x) => state.set({at: String(seqAt(x))}), onDouble: () => state.set({from: null, to: null}),
        onMove: (x) => show(x === null ? momentSeq(heapOf(), state.values.at) : seqAt(x), x, widthOf()),
    });
    listenKeys(chart.element, heapOf, state);
    return chart;
}

export function makeTimeline(model, state) {
    const heapOf = () => model.heapById.get(state.values.heap) ?? model.best, ranges = new Map();
    const tell = make('p', {class: 'tell', 'aria-live': 'polite'}), heaps = make('div', {class: 'heaps', role: 'tablist', 'aria-label': say('heaps')}), legend = make('ul', {class: 'legends', id: 'timeline-legend'}), numbers = make('div'), tools = make('div', {class: 'row'});
    const rangesOf = (heap) => {
        if (!ranges.has(heap.process_id))
            ranges.set(heap.process_id, placeRanges(rangesOfProcess(model, heap.process_id), RANGE_ROWS));
        return ranges.get(heap.process_id);
    };
    const tip = make('div', {class: 'tip', hidden: true});
    const show = (seq, x, width) => {
        const heap = heapOf(), isAt = x !== null && x !== undefined;
        tip.hidden = !isAt || !heap.usage;
        if (!heap.usage)
            return;
        const picture = pictureOf(model, heap, state.values), colourOfLayer = coloursOf(model, heap, state.values);
        if (isAt)
            showReadout(tip, picture, colourOfLayer, heap, seq, x, width);
        put(tell, seq === null ? '' : describe(heap, seq, clockOf(heap), rangesOf(heap)));
        put(legend, makeLegend(picture, colourOfLayer, seq ?? heap.input.first, model.tables.range?.rows >= RANGES_MAX, state));
    };
    const main = makeMainChart(model, heapOf, state, rangesOf, show), overview = makeOverview(heapOf, state, (heap) => heldBy(model, heap).lines[0]);
    let shown = [];
    const update = (values) => {
        const heap = heapOf(), picture = heap.usage && pictureOf(model, heap, values);
        put(heaps, makeHeapChoice(model, heap, state));
        put(tools, makeAxisChoice(model, heap, values, state));
        if (!picture)
            return;
        const what = [picture, values.from, values.to, values.axis];
        if (what.some((one, i) => one !== shown[i]))
            putOpen(numbers, makeFigures(model, heap, picture, () => state.values));
        shown = what;
        main.element.setAttribute('aria-label', sayWith('memory of {heap} and of its device over the run; peak {bytes}. Arrows move the moment, plus and minus the range.', {heap: sayPlace(heap.label), bytes: formatBytes(heap.peak?.peak_bytes)}));
        show(momentSeq(heap, values.at));
        main.redraw();
        overview.redraw();
    };
    return {id: 'timeline', title: 'Timeline', note: 'drag to pick a range for all panels, click to pick the moment', uses: ['heap', 'from', 'to', 'at', 'axis', 'layers', 'hide', 'theme'], element: make('div', null, heaps, tools, make('div', {class: 'canvasbox'}, main.element, tip), overview.canvas, legend, tell, numbers), update};
}
