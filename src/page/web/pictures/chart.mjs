/* SPDX-License-Identifier: Apache-2.0
 *
 * A chart by uPlot (third_party/uplot, a script of its own in the page), which draws axes and series and tells of the mouse. What it draws
 * is settled by whoever uses it, a value for each pixel; it is made anew where its series or the colours are others than before.
 */
import {colourOf, make} from './dom.mjs';
import {formatBytes} from '../state/format.mjs';
import {niceTicks} from './scale.mjs';

const FONT = '11px system-ui, sans-serif';
export const CHART_LEFT = 86;
export const CHART_RIGHT = 14;

function seriesOf(one) {
    return {label: one.label, stroke: one.stroke ?? null, width: one.stroke ? one.width ?? 1.5 : 0, dash: one.dash, fill: one.fill ?? null, points: {show: false}, paths: one.isStepped ? globalThis.uPlot.paths.stepped({align: 1}) : undefined, spanGaps: false};
}

function axesOf(looks) {
    const muted = () => colourOf('muted'), line = () => colourOf('line');
    return [
        {size: () => looks.now.bottom, font: FONT, stroke: muted, gap: 2, grid: {show: false}, ticks: {stroke: line, size: 4, width: 1}, splits: () => looks.now.places.map((place) => place.value), values: () => looks.now.places.map((place) => place.text), space: 1},
        {size: CHART_LEFT, font: FONT, stroke: muted, gap: 4, grid: {stroke: line, width: 1}, ticks: {show: false}, splits: () => niceTicks(0, looks.now.ceiling, 4, 2), values: (_, splits) => splits.map(formatBytes), space: 1},
    ];
}

/* uPlot tells of a range that was dragged; what it has marked goes away again, for the chart is drawn for that range next. */
function hooksOf(looks, tells) {
    const select = (plot) => {
        const {left, width} = plot.select;
        plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
        if (width > 5)
            tells.onRange?.(left + CHART_LEFT, left + width + CHART_LEFT);
    };
    const draw = (plot) => {
        const {ctx} = plot, ratio = ctx.canvas.width / plot.width;
        ctx.save();
        ctx.scale(ratio, ratio);
        ctx.setLineDash([]);
        ctx.textBaseline = 'alphabetic';
        looks.now.drawOver?.(ctx, plot.bbox.top / ratio, (plot.bbox.top + plot.bbox.height) / ratio);
        ctx.restore();
    };
    return {setSelect: [select], draw: [draw], setCursor: [(plot) => tells.onMove?.(plot.cursor.left >= 0 ? plot.cursor.left + CHART_LEFT : null)]};
}

function optionsOf(looks, size, tells, width) {
    return {
        width, height: size.height, padding: [size.top, CHART_RIGHT, 0, 0], legend: {show: false}, focus: {alpha: 1}, series: [{}, ...looks.now.series.map(seriesOf)], axes: axesOf(looks),
        cursor: {y: false, points: {show: false}, drag: {x: Boolean(tells.onRange), y: false, setScale: false, dist: 5}}, hooks: hooksOf(looks, tells),
        scales: {x: {time: false, auto: false, range: () => looks.now.range}, y: {auto: false, range: () => [0, looks.now.ceiling]}},
    };
}

/*
 * size: {height, top}; attributes of the box. look(width) gives what is drawn: {key, series: [{label, stroke, dash, fill, isStepped}],
 * data: [places, values...], range: [from, to], ceiling, places: [{value, text}], bottom: room below, drawOver(context, top, bottom)}. tells: onRange(fromX, toX),
 * onClick(x), onMove(x or null), onDouble(), in units of the page from the left edge. Gives {element, redraw()}.
 */
export function makeChart(size, attributes, look, tells) {
    const element = make('div', {style: `height:${size.height}px`, role: 'img', ...attributes}), looks = {now: null};
    let plot = null, key = null, drawnWidth = null;
    const begin = (width) => {
        plot?.destroy();
        plot = new globalThis.uPlot(optionsOf(looks, size, tells, width), looks.now.data, element);
        plot.over.addEventListener('click', (event) => tells.onClick?.(event.clientX - element.getBoundingClientRect().left));
        plot.over.addEventListener('dblclick', () => tells.onDouble?.());
    };
    const redraw = () => {
        const width = element.clientWidth;
        drawnWidth = width;
        if (width === 0)
            return;
        looks.now = look(width);
        const wanted = `${looks.now.key} ${width} ${colourOf('muted')}`;
        if (wanted !== key)
            begin(width);
        else
            plot.setData(looks.now.data, true);
        key = wanted;
    };
    /* It tells of the first size, too: what is drawn in it is there, and what nobody has shown yet is not. */
    new ResizeObserver(() => drawnWidth !== null && element.clientWidth !== drawnWidth && redraw()).observe(element);
    return {element, redraw};
}

/* A text that can be read over lines and areas. */
export function drawText(context, text, x, y, colour) {
    context.lineWidth = 4;
    context.lineJoin = 'round';
    context.strokeStyle = colourOf('card');
    context.strokeText(text, x, y);
    context.fillStyle = colour;
    context.fillText(text, x, y);
}

/* Is there room for a label in a row? Lines go down from their label's row on, through the rows below. */
function hasRoom(rows, number, label, gap) {
    const isThrough = (x, one) => x > one.begin - 2 && x < one.end + 2;
    return rows[number].every((other) => label.begin >= other.end + gap || label.end + gap <= other.begin) && rows.slice(0, number + 1).flat().every((other) => !isThrough(other.x, label)) &&
        rows.slice(number).flat().every((other) => !isThrough(label.x, other));
}

/* In which row each of several labels stands, and where it begins, right or left of its line, so that none lies over another or is crossed by the line of
 * another: those that come first have the first choice. items: [{x, width}]; a row of -1 has no room. Pure. */
export function placeLabels(items, right, rowCount, gap) {
    const rows = Array.from({length: rowCount}, () => []);
    return items.map(({x, width}) => {
        const sides = [x + 3, x - 3 - width].filter((begin) => begin + width <= right).map((begin) => ({x, begin, end: begin + width}));
        for (let row = 0; row < rowCount; row++)
            for (const label of sides)
                if (hasRoom(rows, row, label, gap)) {
                    rows[row].push(label);
                    return {row, left: label.begin};
                }
        return {row: -1, left: x + 3};
    });
}

/* Where a text of that width begins so that no line goes through it: the first room from `left` on, or `left` where there is none. Pure. */
export function placeBetween(lines, width, left, right) {
    const gap = 5, isFree = (begin) => begin + width <= right && lines.every((x) => x < begin - gap || x > begin + width + gap);
    return [left, ...lines.map((x) => x + gap + 1)].sort((a, b) => a - b).find((begin) => begin >= left && isFree(begin)) ?? left;
}

/* Where a range ends: of one whose end was not seen, where another of its name begins. In order of their begin. Pure. */
function endsOf(ranges) {
    const next = new Map(), ends = Array(ranges.length);
    for (let i = ranges.length - 1; i >= 0; i--) {
        ends[i] = ranges[i].end_seq ?? next.get(ranges[i].name) ?? Infinity;
        next.set(ranges[i].name, ranges[i].begin_seq);
    }
    return ends;
}

/* Ranges below each other: each in the first row whose last one has ended; what finds none is left out. `kind` is the number of its name. In
 * order of their begin. Pure. */
export function placeRanges(ranges, rowCount) {
    const rows = Array(rowCount).fill(-Infinity), ends = endsOf(ranges), kinds = new Map(), placed = [];
    ranges.forEach((range, i) => {
        if (!kinds.has(range.name))
            kinds.set(range.name, kinds.size);
        const row = rows.findIndex((end) => end <= range.begin_seq);
        if (row < 0)
            return;
        rows[row] = ends[i];
        placed.push({name: range.name, begin_seq: range.begin_seq, end_seq: ends[i], row, kind: kinds.get(range.name)});
    });
    return placed;
}
