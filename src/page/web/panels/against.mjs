/* SPDX-License-Identifier: Apache-2.0
 *
 * This run beside another: the figures and sites of npumem diff A B, A being the run of this page, and the curves of both on one picture.
 */
import {make, makeChoice, put} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatPercent, formatTime, isKnown, NOTHING} from '../state/format.mjs';
import {makeSignedIcicles, makeTree} from '../pictures/icicle.mjs';
import {makeUsage, placeOf} from '../data/model.mjs';
import {makeOverlay, mostByColumn, OVERLAY_COLUMNS, shareOfEvents, shareOfSteps} from '../pictures/overlay.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeTable} from '../pictures/table.mjs';
import {say, sayName, sayPlace, sayWith} from '../state/words.mjs';

const FORMATS = {bytes: formatBytes, ns: formatTime, ratio: formatPercent};
const MOMENTS = {peak: 'live at the peaks of the heaps', end: 'live at the end', step: 'allocated per step', failure: 'held when memory ran out'};

/* What changed, as npumem diff has it: bytes and times with their sign, shares in percentage points. Pure. */
export function changeText(unit, change) {
    if (!isKnown(change))
        return NOTHING;
    if (unit !== 'ratio')
        return `${change < 0 ? '-' : '+'}${FORMATS[unit](Math.abs(change))}`;
    const points = (100 * change).toFixed(1);
    return sayWith('{points} pp', {points: `${Number(points) < 0 ? '' : '+'}${Number(points) === 0 ? '0.0' : points}`});
}

/* "torch/optim/adamw.py:61 step" of a row of diff.sql. Pure. */
export function siteOfChange(row) {
    if (row.path === '(all)')
        return say('all sites');
    return sayName(`${row.path ?? ''}${isKnown(row.line) ? `:${row.line}` : ''}${row.path && row.function ? ' ' : ''}${row.function ?? ''}`);
}

/* The heap of the other run that a heap of this one is compared with: the same place as far as there is one. Pure. */
export function counterpartOf(heap, others) {
    const alike = ['level', 'rank', 'device', 'heap', 'host'], score = (other) => alike.reduce((sum, name, i) => sum + (other[name] === heap[name] ? 2 ** (alike.length - i) : 0), 0);
    return others.filter((other) => other.level === heap.level).reduce((best, other) => (best === null || score(other) > score(best) || (score(other) === score(best) && (other.peak_bytes ?? 0) > (best.peak_bytes ?? 0)) ? other : best), null);
}

function figureTable(model) {
    const value = (name) => (row) => (isKnown(row[name]) ? FORMATS[row.unit](row[name]) : NOTHING);
    return makeTable([{title: 'figure', key: 'figure', show: (row) => say(row.figure)}, {title: 'level', key: 'level', show: (row) => row.level ?? NOTHING}, {title: 'A', key: 'base_value', isNumber: true, show: value('base_value')},
        {title: 'B', key: 'run_value', isNumber: true, show: value('run_value')}, {title: 'change', key: 'change_value', isNumber: true, show: (row) => changeText(row.unit, row.change_value)}], model.rows('against_figure'), {caption: 'figures of both runs'});
}

function changedSites(rows, caption) {
    const bytes = (title, key) => ({title, key, isNumber: true, show: (row) => formatBytes(row[key])});
    return makeTable([{title: 'site', key: 'path', className: 'site', show: siteOfChange}, {title: 'level', key: 'level'}, bytes('A', 'base_bytes'), bytes('B', 'run_bytes'),
        {title: 'change', key: 'change_bytes', isNumber: true, show: (row) => changeText('bytes', row.change_bytes)}], rows, {caption, textOf: siteOfChange});
}

const SITES_SHOWN = 200; /* as page/against.c has it */

/* Sites of a level that hold more in B, or less, by their files, from rows of diff.sql. Pools lie in memory of the driver: levels have no sum. Pure. */
export function changeTree(rows, level, isMore) {
    const changed = rows.filter((row) => row.path !== '(all)' && row.level === level && (isMore ? row.change_bytes > 0 : row.change_bytes < 0));
    return makeTree(changed.map((row) => ({path: [...(row.path ? [row.path] : []), siteOfChange(row)], bytes: Math.abs(row.change_bytes), count: 1})));
}

/* What B has more of, and what less, as pictures on one scale. */
function showChanged(model, rows, moment, values, state) {
    const {level} = model.heapById.get(values.heap) ?? model.best, trees = [changeTree(rows, level, true), changeTree(rows, level, false)], textOf = (text, sign, tree) => sayWith(text, {level, amount: sayWith('{bytes} at {count} sites', {bytes: `${sign}${formatBytes(tree.bytes)}`, count: formatCount(tree.count)})});
    const look = {leaks: model.leakSites, filter: makeFilter(values.search), onChoose: (label) => state.set({search: values.search ? null : label}), text: '{name}: {bytes}, {share}, {count} sites'};
    const isCut = rows.filter((row) => row.path !== '(all)').length >= SITES_SHOWN;
    return [makeSignedIcicles([{id: `against-${moment}-more`, sign: '+', title: textOf('More in B, {level}: {amount}', '+', trees[0]), label: 'what B has more of, each part below what it is part of', tree: trees[0]},
        {id: `against-${moment}-less`, sign: '-', title: textOf('Less in B, {level}: {amount}', '-', trees[1]), label: 'what B has less of, each part below what it is part of', tree: trees[1]}], look),
        isCut && make('p', {class: 'note'}, sayWith('These are the {count} sites that changed most.', {count: formatCount(SITES_SHOWN)}))];
}

/* Places of both runs by their steps, where both have some, else by events. */
function sharesOf(model, heap, other, across) {
    const own = heap.steps.map((step) => step.begin_seq).filter(isKnown), its = model.rows('against_step').filter((step) => step.process_id === other.process_id).map((step) => step.begin_seq), whole = Math.max(own.length, its.length);
    if (across === 'event' || own.length < 2 || its.length < 2)
        return [shareOfEvents(heap.usage), shareOfEvents(other.usage)];
    return [shareOfSteps(own, heap.input.last, whole), shareOfSteps(its, other.usage.last_seq[other.usage.last_seq.length - 1], whole)];
}

function drawBoth(model, heap, other, across) {
    const [own, its] = sharesOf(model, heap, other, across);
    const lines = [{name: `B: ${formatBytes(other.peak_bytes)}`, values: mostByColumn(other.usage, its, OVERLAY_COLUMNS), className: 'other'}, {name: `A: ${formatBytes(heap.peak?.peak_bytes)}`, values: mostByColumn(heap.usage, own, OVERLAY_COLUMNS), className: 'chosen'}];
    return makeOverlay(lines, `${say('live bytes of both runs')}: A ${formatBytes(heap.peak?.peak_bytes)}, B ${formatBytes(other.peak_bytes)}`, [say('begin'), say('end')]);
}

function showRuns(model) {
    return make('dl', {class: 'facts'}, model.rows('against_run').flatMap((run) => [make('dt', null, make('span', {class: `swatch ${run.letter === 'A' ? 'chosen' : 'other'}`}), ` ${run.letter}`),
        make('dd', null, `${run.name}: ${run.process_count === 1 ? say('1 process') : sayWith('{count} processes', {count: formatCount(run.process_count)})}, ${run.step_count === 1 ? say('1 step') : sayWith('{count} steps', {count: formatCount(run.step_count ?? 0)})}${run.lossy_count > 0 ? `, ${say('NOT COMPLETE')}` : ''}`)]));
}

export function makeAgainst(model, state) {
    if (!model.tables.against_run)
        return null;
    const usage = makeUsage(model.tables.against_usage), others = model.rows('against_heap').map((heap) => ({...heap, place: placeOf(heap), usage: usage.get(heap.heap_id) ?? null})).filter((heap) => heap.usage);
    const sites = model.rows('against_site'), moments = Object.keys(MOMENTS).filter((moment) => sites.some((row) => row.moment === moment)), figures = figureTable(model);
    const tables = moments.map((moment) => changedSites(sites.filter((row) => row.moment === moment), MOMENTS[moment])), picture = make('div', {id: 'against-picture'});
    const draw = () => {
        const heap = model.heapById.get(state.values.heap) ?? model.best, other = counterpartOf(heap, others), lay = state.values.lay === 'event' ? 'event' : 'step';
        put(picture, make('div', {class: 'row'}, make('span', {class: 'note'}, `${sayPlace(heap.label)}; ${say('across')}`), ['step', 'event'].map((across) => makeChoice(across, lay === across, () => state.set({lay: across})))), heap.usage && other ? drawBoth(model, heap, other, lay) : make('p', {class: 'note'}, say('The other run has no heap like this one.')));
    };
    const pictures = moments.map(() => make('div')), element = make('div', null, showRuns(model), figures.element, picture, moments.map((moment, i) => make('div', {id: `against-${moment}`}, make('h3', null, say(MOMENTS[moment])), pictures[i], tables[i].element)));
    return {id: 'against', title: 'Against another run', note: 'A is this run; what npumem diff A B says, and both curves', uses: ['search', 'heap', 'lay'], element, update: (values) => {
        draw();
        moments.forEach((moment, i) => put(pictures[i], showChanged(model, sites.filter((row) => row.moment === moment), moment, values, state)));
        for (const table of tables)
            table.update(makeFilter(values.search));
    }};
}
