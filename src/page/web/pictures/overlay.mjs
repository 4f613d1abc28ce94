/* SPDX-License-Identifier: Apache-2.0
 *
 * Many curves in one small picture: of ranks, or of two runs. Each run is its own measure from left to right, so that those of different
 * length lie on each other; or all go by steps, by the time since each began, or by the clocks on their walls.
 */
import {make, SVG} from './dom.mjs';
import {formatBytes} from '../state/format.mjs';
import {interpolate, niceTicks} from './scale.mjs';

export const OVERLAY_COLUMNS = 320;
const OVERLAY_HEIGHT = 160;

/*
 * The most that was live in each of `count` columns; placeOf(seq) is 0 at the left and 1 at the right. A column in which nothing happened is
 * what it was before. Pure.
 */
export function mostByColumn(usage, placeOf, count) {
    const most = new Float64Array(count).fill(-1), after = new Float64Array(count), columnOf = (seq) => Math.min(count - 1, Math.max(0, Math.floor(placeOf(seq) * count)));
    const raise = (seq, bytes) => {
        if (Number.isNaN(seq) || Number.isNaN(bytes))
            return;
        most[columnOf(seq)] = Math.max(most[columnOf(seq)], bytes);
        after[columnOf(seq)] = bytes;
    };
    for (let i = 0, before = 0; i < usage.last_seq.length; before = usage.live_bytes[i++]) {
        raise(usage.first_seq[i], before);
        raise(usage.max_seq[i], usage.max_live_bytes[i]);
        raise(usage.last_seq[i], usage.live_bytes[i]);
    }
    for (let x = 0, last = 0; x < count; x++) {
        last = most[x] < 0 ? last : after[x];
        most[x] = most[x] < 0 ? last : most[x];
    }
    return most;
}

/* Which events a curve has, as a share of them. Pure. */
export function shareOfEvents(usage) {
    const known = [...usage.first_seq, ...usage.last_seq].filter((seq) => !Number.isNaN(seq)), first = known.reduce((a, b) => Math.min(a, b), Infinity), last = known.reduce((a, b) => Math.max(a, b), -Infinity);
    return (seq) => (last > first ? (seq - first) / (last - first) : 0);
}

/* Where steps begin are even places, `whole` of them; what comes before the first is at the left. Pure. */
export function shareOfSteps(beginSeqs, lastSeq, whole) {
    const seqs = [...beginSeqs, Math.max(lastSeq, beginSeqs[beginSeqs.length - 1] + 1)];
    return (seq) => interpolate(seqs, seqs.map((_, i) => i), seq) / whole;
}

/* Places by clocks: of a time (of an event by `timeOf`) as a share of a range of times. Pure. */
export function shareOfTimes(timeOf, range) {
    return (seq) => (range.end > range.begin ? (timeOf(seq) - range.begin) / (range.end - range.begin) : 0);
}

/* The values of a curve, with NaN for where there is none yet, and none any more. Pure. */
export function cutToRun(values, begin, end) {
    const count = values.length;
    return values.map((value, x) => (x < Math.floor(begin * count) || x > Math.floor(end * count) ? NaN : value));
}

function linePoints(values, ceiling) {
    return [...values].map((value, x) => Number.isNaN(value) ? '' : `${x},${(OVERLAY_HEIGHT * (1 - value / ceiling)).toFixed(2)} ${x + 1},${(OVERLAY_HEIGHT * (1 - value / ceiling)).toFixed(2)}`).filter((point) => point !== '').join(' ');
}

function svgElement(name, attributes) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes))
        element.setAttribute(key, value);
    return element;
}

function drawCurve(line, ceiling) {
    const curve = svgElement('polyline', {points: linePoints(line.values, ceiling), class: `curve ${line.className}`, 'data-name': line.name}), title = svgElement('title', {});
    title.textContent = line.name;
    curve.append(title);
    if (line.onChoose)
        curve.addEventListener('click', line.onChoose);
    return curve;
}

/* lines: {name, values, className, onChoose}; the last is on top. */
export function makeOverlay(lines, label, places) {
    const ceiling = Math.max(1, ...lines.map((line) => line.values.reduce((a, b) => (b > a ? b : a), 0))) * 1.05;
    const svg = svgElement('svg', {viewBox: `0 0 ${OVERLAY_COLUMNS} ${OVERLAY_HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label});
    svg.append(...lines.map((line) => drawCurve(line, ceiling)));
    const ticks = niceTicks(0, ceiling, 4, 2).map((value) => make('span', {class: 'tick', style: `bottom:${(100 * value / ceiling).toFixed(2)}%`}, formatBytes(value)));
    return make('div', {class: 'overlay'}, make('div', {class: 'plot'}, ticks, svg), make('div', {class: 'places'}, places.map((place) => make('span', null, place))));
}
