/* SPDX-License-Identifier: Apache-2.0
 *
 * Why memory ran out: the verdict, what the device was full of as one bar, who held it, and the stack of the request.
 */
import {LEAK, PALETTE, REST} from './colours.mjs';
import {make, put} from './dom.mjs';
import {formatBytes, formatCount, formatPercent, formatTime} from './format.mjs';
import {makeStack} from './stack.mjs';
import {makeFilter} from './state.mjs';
import {makeBar, makeTable} from './table.mjs';
import {say} from './words.mjs';

const TOTAL = 'DEVICE USED', FREE = 'free on the device';

/* What the bar is made of: components with their colours, pools cut into what is used and what is free. Pure. */
export function barParts(failure, parts) {
    const shown = [];
    let next = 0;
    for (const part of parts.filter((row) => row.component !== TOTAL && row.bytes > 0)) {
        const colour = part.component === 'UNEXPLAINED' ? REST : PALETTE[next++ % PALETTE.length], name = part.heap ? `${part.heap} (${part.component})` : part.component;
        if (part.active_bytes !== null && part.free_bytes > 0) {
            shown.push({name: `${name}: in blocks`, bytes: part.active_bytes, colour});
            shown.push({name: `${name}: free inside`, bytes: part.free_bytes, colour: 'var(--free)'});
        } else
            shown.push({name, bytes: part.bytes, colour});
    }
    if (failure.free_bytes > 0)
        shown.push({name: FREE, bytes: failure.free_bytes, colour: 'var(--empty)'});
    return shown;
}

/* The device, and below it what was asked for, where its free part begins: what sticks out did not fit. */
function makeStackedBar(parts, total, asked) {
    const free = parts.find((part) => part.name === FREE)?.bytes ?? 0, used = Math.max(0, total - free), whole = Math.max(total, used + asked), share = (bytes) => `${(100 * bytes / whole).toFixed(3)}%`;
    const bar = make('div', {class: 'stacked', role: 'img', style: `width:${share(total)}`, 'aria-label': parts.map((part) => `${part.name} ${formatBytes(part.bytes)}`).join(', ')},
        parts.map((part) => make('span', {style: `width:${(100 * part.bytes / total).toFixed(3)}%;background:${part.colour}`, title: `${part.name}: ${formatBytes(part.bytes)}`})));
    const legend = make('ul', {class: 'legends'}, parts.map((part) => make('li', {class: 'legend'}, make('span', {class: 'swatch', style: `background:${part.colour}`}), `${part.name} `, make('b', null, formatBytes(part.bytes)))));
    const request = asked > 0 && make('div', {class: 'asked'}, make('b', null, `asked for: ${formatBytes(asked)}`), make('span', {style: `width:${share(asked)}`}));
    return make('div', null, bar, request, legend);
}

function siteTable(model, rows, state) {
    return makeTable([{title: 'site', key: 'site', className: 'site', show: (row) => make('span', null, row.site, model.leakSites.has(row.site) && make('b', {class: 'leaks'}, 'leak'))}, {title: 'heap', key: 'heap'},
        {title: 'live then', key: 'live_bytes', isNumber: true, show: (row) => formatBytes(row.live_bytes)}, {title: 'share', key: 'share_ratio', show: (row) => makeBar(row.share_ratio, formatPercent(row.share_ratio), model.leakSites.has(row.site) ? LEAK : PALETTE[0])},
        {title: 'blocks', key: 'live_count', isNumber: true, show: (row) => formatCount(row.live_count)}], rows, {caption: 'what was live when memory ran out', onRow: (row) => state.set({site: row.site})});
}

function showFailure(model, state, failure, tables) {
    const own = (name) => model.rows(name).filter((row) => row.out_of_memory_id === failure.out_of_memory_id), sites = siteTable(model, own('oom_site'), state), parts = barParts(failure, own('oom_part'));
    const asked = failure.tried_bytes ?? failure.at_least_tried_bytes ?? 0, whole = Math.max(failure.total_bytes ?? 0, parts.reduce((sum, part) => sum + part.bytes, 0), 1);
    tables.push(sites);
    return make('article', {class: 'failure'},
        make('h3', null, `${formatBytes(asked)} ${failure.outcome === 'recovered' ? 'only after a retry' : 'could not be had'}${failure.first_ns === null ? '' : `, at ${formatTime(failure.first_ns)}`}`, make('span', {class: `chip ${failure.outcome === 'recovered' ? 'warning' : 'danger'}`}, `${failure.verdict}${failure.outcome ? `, ${failure.outcome}` : ''}`)),
        make('p', null, failure.explanation ?? ''), makeStackedBar(parts, whole, asked),
        make('div', {class: 'pair'}, make('div', null, make('h4', null, say('Who held it')), sites.element), make('div', null, make('h4', null, `${say('Who asked')}${failure.thread ? ` (thread ${failure.thread})` : ''}`), makeStack(model, failure.stack_id))),
        failure.message && make('details', null, make('summary', null, say('in the words of torch_npu')), make('pre', null, failure.message)));
}

export function makeFailures(model, state) {
    const failures = model.rows('oom'), tables = [], body = make('div');
    const ordered = [...failures].sort((a, b) => Number(a.outcome === 'recovered') - Number(b.outcome === 'recovered') || (b.first_seq ?? 0) - (a.first_seq ?? 0));
    put(body, failures.length === 0 && make('p', {class: 'allgood'}, say('Every request for memory was served.')), ordered.slice(0, 5).map((failure) => showFailure(model, state, failure, tables)), failures.length > 5 && make('p', {class: 'note'}, `${failures.length - 5} more: view out_of_memory`));
    return {id: 'oom', title: 'Out of memory', uses: ['search'], element: body, update: (values) => tables.forEach((table) => table.update(makeFilter(values.search)))};
}
