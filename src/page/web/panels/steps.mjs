/* SPDX-License-Identifier: Apache-2.0
 *
 * Two steps of a heap laid over each other, by the time since each began: any two, or at first the median and the worst, by the most that was
 * live in them; and which sites make the difference.
 */
import {makeChart} from '../pictures/chart.mjs';
import {PALETTE} from '../pictures/colours.mjs';
import {make, put} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatTime} from '../state/format.mjs';
import {BASELINE, isBaseline, isCounted} from '../data/groups.mjs';
import {liveBlocks, stepSumsOf, sumBlocks} from '../data/model.mjs';
import {makeScale, niceTicks} from '../pictures/scale.mjs';
import {findMost, firstFrom, mostByPixel, heldBy} from '../data/series.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeNumbers, makeTable} from '../pictures/table.mjs';
import {GUTTER_LEFT, GUTTER_RIGHT} from './timeline.mjs';
import {say, sayPlace, sayWith} from '../state/words.mjs';

const STEP_HEIGHT = 230, STEP_TOP = 10, STEP_BOTTOM = 24, STEP_PARTS = 100;

/* The median of steps by their most, the lower one of two, and the worst, the first of several: places in the list. Pure. */
export function medianAndWorst(steps) {
    const order = steps.map((_, i) => i).sort((a, b) => steps[a].peak_bytes - steps[b].peak_bytes || a - b), most = steps[order[order.length - 1]].peak_bytes;
    return {median: order[(order.length - 1) >> 1], worst: steps.findIndex((step) => step.peak_bytes === most)};
}

/* Events of a step: a step that has not ended goes on to the end of its input. */
function spanOf(heap, step) {
    return {from: step.begin_seq, to: step.end_seq ?? heap.input.last};
}

/* What an axis of a step counts: nanoseconds, or events where times are not known. */
function lengthOf(heap, step) {
    const {from, to} = spanOf(heap, step), scale = makeScale(from, to, 0, 1, heap.input.clock);
    return scale.end - scale.begin;
}

/* The most of a line within each of `count` parts of `length`, from the begin of a step on; null behind its end. Pure. */
export function stepByPixel(line, heap, step, length, count) {
    const {from, to} = spanOf(heap, step), own = Math.max(1, Math.min(count, Math.round(count * lengthOf(heap, step) / length)));
    const places = mostByPixel(line.curve.seqs, line.maxima, makeScale(from, to, 0, own, heap.input.clock), own);
    return Array.from({length: count}, (_, x) => (x >= own ? null : places[x] < 0 ? 0 : line.curve.values[places[x]]));
}

/* The event at which most was live in a step, what was there when it began included. Pure. */
export function worstOfStep(line, heap, step) {
    const {from, to} = spanOf(heap, step), begin = Math.max(0, firstFrom(line.curve.seqs, from + 0.5) - 1), place = findMost(line.maxima, begin, firstFrom(line.curve.seqs, to + 0.5));
    return place < 0 ? from : Math.max(from, line.curve.seqs[place]);
}

/* Sites of blocks as {site, bytes} in a Map. */
function sitesOf(model, numbers) {
    const siteOf = (i) => (isBaseline(model.blocks, i) ? BASELINE : model.stacks.siteOf(model.blocks.stack_id[i]));
    return new Map(sumBlocks(model.blocks, numbers, siteOf).map((sum) => [sum.key, sum.bytes]));
}

function bornIn(model, heap, step) {
    const {from, to} = spanOf(heap, step), range = model.blockRanges.get(heap.heap_id), found = [];
    for (let i = range.begin; i < range.end; i++)
        if (model.blocks.alloc_seq[i] >= from && model.blocks.alloc_seq[i] < to)
            found.push(i);
    return found;
}

/* What differs between two steps, by site, the largest difference first: live when most was live in each, and allocated in each. Pure. */
export function differOfSteps(model, heap, line, first, second) {
    const [a, b] = [first, second].map((step) => ({live: sitesOf(model, liveBlocks(model, heap.heap_id, worstOfStep(line, heap, step))), made: sitesOf(model, bornIn(model, heap, step))}));
    const sites = new Set([...a.live.keys(), ...b.live.keys(), ...a.made.keys(), ...b.made.keys()]), rows = [...sites].map((site) => {
        const live = [a.live.get(site) ?? 0, b.live.get(site) ?? 0];
        return {site, firstLive: live[0], secondLive: live[1], difference: live[1] - live[0], firstMade: a.made.get(site) ?? 0, secondMade: b.made.get(site) ?? 0};
    });
    return rows.sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference) || Math.abs(y.secondMade - y.firstMade) - Math.abs(x.secondMade - x.firstMade) || (x.site < y.site ? -1 : 1));
}

/* ---- The panel ---- */

/* Which two steps the state says, as places in the list. */
function chosenSteps(steps, values) {
    const {median, worst} = medianAndWorst(steps), within = (place, other) => (Number.isInteger(place) && place >= 0 && place < steps.length ? place : other);
    return [within(values.stepa, median), within(values.stepb, worst)];
}

function signed(bytes) {
    return bytes > 0 ? `+${formatBytes(bytes)}` : bytes < 0 ? `\u2212${formatBytes(-bytes)}` : formatBytes(0);
}

function differColumns(names) {
    const bytes = (title, key, format = formatBytes) => ({title, key, isNumber: true, show: (row) => format(row[key])});
    return [{title: 'site', key: 'site', className: 'site'}, bytes(`${say('live at most in')} ${names[0]}`, 'firstLive'), bytes(`${say('in')} ${names[1]}`, 'secondLive'), bytes('difference', 'difference', signed), bytes(`${say('allocated in')} ${names[0]}`, 'firstMade'), bytes(`${say('in')} ${names[1]}`, 'secondMade')];
}

function stepText(step) {
    return `${say('step')} ${formatCount(step.number)}`;
}

function stepColours() {
    return [PALETTE[0], PALETTE[2]];
}

function lookOfSteps(heap, line, steps, width) {
    const length = Math.max(...steps.map((step) => lengthOf(heap, step)), 1), count = Math.max(1, Math.floor(width - GUTTER_LEFT - GUTTER_RIGHT)), values = steps.map((step) => stepByPixel(line, heap, step, length, count));
    const format = heap.input.clock ? formatTime : (place) => `+${formatCount(place)}`, ceiling = values.flat().reduce((a, b) => Math.max(a, b ?? 0), 1) * 1.08;
    return {
        key: `${heap.heap_id} ${steps.length}`, range: [0, length], ceiling, data: [Array.from({length: count}, (_, x) => length * x / count), ...values], bottom: STEP_BOTTOM,
        series: steps.map((step, i) => ({label: stepText(step), stroke: stepColours()[i], width: 2, isStepped: true})), places: niceTicks(0, length, count / 130, 10).filter((place) => place < length * 0.96).map((value) => ({value, text: format(value)})),
    };
}

function stepRows(heap, line, steps) {
    const length = Math.max(...steps.map((step) => lengthOf(heap, step)), 1), values = steps.map((step) => stepByPixel(line, heap, step, length, STEP_PARTS)), format = heap.input.clock ? formatTime : formatCount;
    return Array.from({length: STEP_PARTS}, (_, x) => ({since: format(length * x / STEP_PARTS), first: values[0][x], second: values[1][x]}));
}

/* A step that nobody took leaves the picture as it is. */
function setStep(steps, name, number, state) {
    const place = steps.findIndex((step) => step.number === number);
    if (place >= 0)
        state.set({[name]: place});
}

function makeStepChoice(steps, chosen, state) {
    const choose = (name, i, label) => make('label', {class: 'row'}, make('span', {class: 'swatch', style: `background:${stepColours()[i]}`}), make('span', {class: 'note'}, say(label)),
        make('input', {type: 'number', class: 'count', name, value: steps[chosen[i]].number, min: steps[0].number, max: steps[steps.length - 1].number, onchange: (event) => setStep(steps, name, Number(event.target.value), state)}), make('span', null, `${say('at most')} ${formatBytes(steps[chosen[i]].peak_bytes)}`));
    return [choose('stepa', 0, 'step'), choose('stepb', 1, 'and step'), make('button', {class: 'plain', onclick: () => state.set({stepa: null, stepb: null})}, say('median and worst'))];
}

function makeDiffer(model, heap, line, steps) {
    if (!isCounted(model, heap))
        return {element: make('p', {class: 'note'}, say('What differs by site is not known here: not every single allocation is in this page.')), update: () => {}};
    return makeTable(differColumns(steps.map(stepText)), differOfSteps(model, heap, line, ...steps), {caption: 'What differs between the steps'});
}

function isWithSteps(model, heap) {
    const range = model.stepRanges.get(heap.heap_id);
    return Boolean(heap.usage && range && range.end - range.begin > 1);
}

export function makeSteps(model, state) {
    if (!model.heaps.some((heap) => isWithSteps(model, heap)))
        return null;
    const tools = make('div', {class: 'row'}), body = make('div'), numbers = make('div'), heapOf = () => model.heapById.get(state.values.heap) ?? model.best, none = make('p', {class: 'note'}, say('No two steps of this heap are known.'));
    let now = null, table = null, key = '', line = null;
    const chart = makeChart({height: STEP_HEIGHT, top: STEP_TOP}, {id: 'steps-chart', class: 'chart'}, (width) => lookOfSteps(heapOf(), line, now, width), {}), filled = [chart.element, numbers, body];
    const begin = (heap, values) => {
        const steps = stepSumsOf(model, heap.heap_id), chosen = chosenSteps(steps, values);
        now = chosen.map((place) => steps[place]);
        put(tools, makeStepChoice(steps, chosen, state));
        put(numbers, makeNumbers('Numbers of the picture', [{title: 'since the begin', key: 'since', isNumber: true}, ...now.map((step, i) => ({title: stepText(step), key: i === 0 ? 'first' : 'second', isNumber: true, show: (row) => formatBytes(i === 0 ? row.first : row.second)}))], () => stepRows(heap, line, now)));
        table = makeDiffer(model, heap, line, now);
        put(body, make('h3', null, say('What differs between the steps')), table.element);
        chart.element.setAttribute('aria-label', sayWith('live bytes of {heap} in {first}, at most {firstMost} and {second}, at most {secondMost}, by the time since each began', {heap: sayPlace(heap.label), first: stepText(now[0]), firstMost: formatBytes(now[0].peak_bytes), second: stepText(now[1]), secondMost: formatBytes(now[1].peak_bytes)}));
    };
    const update = (values) => {
        const heap = heapOf(), isKnown = isWithSteps(model, heap), wanted = JSON.stringify([heap.heap_id, values.stepa, values.stepb, model.blocks !== null]);
        for (const element of [tools, ...filled])
            element.hidden = !isKnown;
        none.hidden = isKnown;
        if (!isKnown)
            return;
        if (wanted !== key) {
            line = heldBy(model, heap).lines[0];
            begin(heap, values);
        }
        key = wanted;
        table.update(makeFilter(values.search));
        chart.redraw();
    };
    return {id: 'steps', title: 'Steps', note: 'two steps laid over each other, and what differs', uses: ['heap', 'stepa', 'stepb', 'search', 'theme'], element: make('div', null, tools, none, ...filled), update};
}
