/* SPDX-License-Identifier: Apache-2.0
 *
 * Leaks, which are firm, and below them what cannot be judged, which is none. A click on a site shows its stack, and what of the map is its.
 */
import {make, makeSparkline, put} from '../pictures/dom.mjs';
import {formatBytes, formatCount, isKnown, NOTHING} from '../state/format.mjs';
import {findingOf, placeOf} from '../data/model.mjs';
import {makeStack} from '../pictures/stack.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeTable} from '../pictures/table.mjs';
import {inLanguage, say, sayClauses, sayPlace, sayWith} from '../state/words.mjs';

/* Live bytes of each site at the ends of steps, by heap and site. */
function growthOf(model) {
    const growth = new Map();
    for (const row of model.rows('growth')) {
        const key = `${placeOf(row)}\u0001${row.site}`;
        if (!growth.has(key))
            growth.set(key, []);
        growth.get(key).push(row.live_bytes);
    }
    return growth;
}

/* No more points than a small picture has pixels; of each group the last, as it is at the end of a step. Pure. */
export function thin(values, most) {
    if (values.length <= most)
        return values;
    return Array.from({length: most}, (_, i) => values[Math.round((i + 1) * values.length / most) - 1]);
}

function sparkOf(growth, row) {
    const values = growth.get(`${placeOf(row)}\u0001${row.site}`);
    if (!values || values.length < 2)
        return NOTHING;
    return makeSparkline(thin(values, 110), 116, 26, sayWith('live bytes at the ends of {count} steps, from {first} to {last}', {count: String(values.length), first: formatBytes(values[0]), last: formatBytes(values[values.length - 1])}));
}

function heapText(model, row) {
    return model.heaps.find((heap) => heap.place === placeOf(row))?.label ?? row.heap ?? '';
}

/* What speaks for a verdict: in Chinese of a leak what table finding says, of what is none the clauses of the view. */
export function evidenceText(model, row) {
    return row.evidence === null ? '' : inLanguage(row.evidence, findingOf(model, 'leak', row, ['site', 'verdict'])?.evidence_zh ?? sayClauses(row.evidence));
}

function leakColumns(model, growth) {
    return [
        {title: 'site', key: 'site', className: 'site'}, {title: 'leaked', key: 'leak_bytes', isNumber: true, show: (row) => formatBytes(row.leak_bytes)},
        {title: 'blocks', key: 'leak_count', isNumber: true, show: (row) => formatCount(row.leak_count)},
        {title: 'a step', key: 'bytes_per_step', isNumber: true, show: (row) => (isKnown(row.bytes_per_step) ? formatBytes(row.bytes_per_step) : NOTHING)},
        {title: 'live by step', key: 'leak_bytes', show: (row) => sparkOf(growth, row)}, {title: 'verdict', key: 'verdict', show: (row) => say(row.verdict)}, {title: 'evidence', key: 'evidence', className: 'words', show: (row) => evidenceText(model, row)},
    ];
}

function suspectColumns(model, growth) {
    return [
        {title: 'site', key: 'site', className: 'site'}, {title: 'size', key: 'size_bytes', isNumber: true, show: (row) => formatBytes(row.size_bytes)},
        {title: 'blocks', key: 'allocation_count', isNumber: true, show: (row) => formatCount(row.allocation_count)}, {title: 'live by step', key: 'size_bytes', show: (row) => sparkOf(growth, row)},
        {title: 'why not', key: 'reason', show: (row) => sayWith('{verdict}: {reason}', {verdict: say(row.verdict), reason: say(row.reason ?? '')})}, {title: 'evidence', key: 'evidence', className: 'words', show: (row) => evidenceText(model, row)},
    ];
}

function makeSiteTable(model, state, rows, columns, caption) {
    return makeTable(columns, rows, {caption, textOf: (row) => `${row.site} ${row.verdict} ${evidenceText(model, row)}`, isChosen: (row) => state.values.site === row.site,
        onRow: (row) => {
            const heap = model.heaps.find((one) => one.place === placeOf(row));
            state.set({site: state.values.site === row.site ? null : row.site, ...(heap ? {heap: heap.heap_id} : {})});
        },
        more: (row) => make('div', null, make('p', {class: 'note'}, sayWith('{heap} \u2013 highlighted on the map above', {heap: sayPlace(heapText(model, row))})), makeStack(model, row.top_stack_id))});
}

export function makeLeaks(model, state) {
    const leaks = model.rows('leak'), suspects = model.rows('suspect'), growth = growthOf(model), body = make('div');
    const leakTable = makeSiteTable(model, state, leaks, leakColumns(model, growth), 'leaks by site'), suspectTable = makeSiteTable(model, state, suspects, suspectColumns(model, growth), 'not judged');
    put(body, leaks.length === 0 ? make('p', {class: 'allgood'}, say('No leak.')) : leakTable.element,
        suspects.length > 0 && make('details', {open: leaks.length === 0}, make('summary', null, sayWith('{count} more sites: bounded, or not judged; no leak, and in no count', {count: formatCount(suspects.length)})), suspectTable.element));
    return {id: 'leaks', title: 'Leaks', note: 'click a site: its stack, and what of the map is its', uses: ['search', 'site'], element: body, update: (values) => {
        leakTable.update(makeFilter(values.search));
        suspectTable.update(makeFilter(values.search));
    }};
}
