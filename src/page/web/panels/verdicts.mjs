/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong, worst first, as the terminal says it: the words and figures are those of the views. A click leads to the panel that has the
 * evidence.
 */
import {make} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatPercent, formatTime, isKnown} from '../state/format.mjs';
import {heapOfRow, poolOfRow} from '../data/model.mjs';
import {makeFilter} from '../data/search.mjs';
import {say, sayPlace, sayWith} from '../state/words.mjs';

function leakCard(row) {
    const growth = isKnown(row.bytes_per_step) ? sayWith(', +{bytes} a step', {bytes: formatBytes(row.bytes_per_step)}) : isKnown(row.bytes_per_hour) ? sayWith(', +{bytes} an hour', {bytes: formatBytes(row.bytes_per_hour)}) : '';
    return {row, level: 'danger', kind: 'leak', title: `${formatBytes(row.leak_bytes)}${growth}`, where: row.site, panel: 'leaks', choice: {site: row.site},
        text: sayWith('{count} blocks, {verdict}. {evidence}', {count: formatCount(row.leak_count), verdict: say(row.verdict), evidence: row.evidence ?? ''}), weight: 2e15 + row.leak_bytes};
}

function failureCard(row) {
    const isFatal = row.outcome !== 'recovered';
    return {row, level: isFatal ? 'danger' : 'warning', kind: 'out of memory', title: sayWith(isFatal ? '{bytes} could not be had' : '{bytes} only after a retry', {bytes: formatBytes(row.tried_bytes ?? row.at_least_tried_bytes)}),
        where: row.site, panel: 'oom', choice: {}, text: row.explanation ?? row.verdict, weight: isFatal ? 3e15 : 1e15};
}

function healthValue(row) {
    if (!isKnown(row.value))
        return say(row.measure);
    return `${say(row.measure)} ${row.unit === 'ns' ? formatTime(row.value) : formatPercent(row.value)}`;
}

function healthCard(row) {
    return {row: row.heap === null ? null : row, level: row.verdict, kind: row.heap ?? 'device', title: healthValue(row), where: null, panel: 'pool', choice: {}, text: row.advice,
        weight: row.verdict === 'danger' ? 1e15 : 1e14};
}

function misuseCards(rows) {
    const kinds = new Map();
    for (const row of rows)
        kinds.set(row.kind, [...(kinds.get(row.kind) ?? []), row]);
    return [...kinds].map(([kind, found]) => ({level: 'danger', kind: 'misuse', title: `${formatCount(found.length)} \u00d7 ${kind}`, where: found[0].site, panel: 'misuse', choice: {},
        text: found[0].detail ?? '', weight: 5e14 + found.length}));
}

/* Pure, for tests: what is shown, the worst first. */
export function collectVerdicts(model) {
    const health = model.rows('health');
    const faults = [...model.rows('leak').map(leakCard), ...model.rows('oom').map(failureCard), ...misuseCards(model.rows('misuse')),
        ...health.filter((row) => row.verdict === 'warning' || row.verdict === 'danger').map(healthCard)];
    for (const card of faults.filter((one) => one.row)) {
        const heap = card.panel === 'oom' ? poolOfRow(model.heaps, card.row) : heapOfRow(model.heaps, card.row);
        card.choice = heap ? {...card.choice, heap: heap.heap_id} : card.choice;
        card.kind = model.rows('process').length > 1 && heap ? `${card.kind} \u00b7 ${heap.label}` : card.kind;
    }
    faults.sort((a, b) => b.weight - a.weight);
    const fine = health.filter((row) => row.verdict === 'good' || row.verdict === 'minor').map(healthCard);
    const open = health.filter((row) => row.verdict === 'unknown').map((row) => ({...healthCard(row), text: row.advice ?? row.reason}));
    return {faults, fine, open, suspects: model.rows('suspect')};
}

function showCard(card, state, number) {
    return make('li', null, make('button', {class: `card ${card.level}`, onclick: () => {
        state.set(card.choice);
        document.getElementById(card.panel)?.scrollIntoView({behavior: 'auto', block: 'start'});
        document.getElementById(card.panel)?.focus({preventScroll: true});
    }}, make('span', {class: 'kind'}, `${number} ${sayPlace(card.kind)}`), make('span', {class: 'title'}, card.title), card.where && make('span', {class: 'where'}, card.where), make('span', {class: 'text'}, card.text ?? '')));
}

function showSmall(card) {
    return make('li', {class: card.level}, make('b', null, card.title), make('span', {class: 'note'}, ` ${sayPlace(card.kind)} \u2013 ${card.text ?? ''}`));
}

export function makeVerdicts(model, state) {
    const {faults, fine, open, suspects} = collectVerdicts(model);
    const rest = [...fine, ...open];
    const element = make('div', null,
        faults.length === 0 && make('p', {class: 'allgood'}, say('No leak, no failure, no misuse, and nothing that health would warn of.')),
        make('ol', {class: 'cards'}, faults.slice(0, 12).map((card, i) => showCard(card, state, i + 1))),
        faults.length > 12 && make('p', {class: 'note'}, sayWith('{count} more: see the panels below.', {count: String(faults.length - 12)})),
        suspects.length > 0 && make('p', {class: 'note'}, make('a', {href: '#', onclick: (event) => {
            event.preventDefault();
            document.getElementById('leaks')?.scrollIntoView();
        }}, suspects.length === 1 ? say('1 site cannot be judged or only may grow') : sayWith('{count} sites cannot be judged or only may grow', {count: formatCount(suspects.length)})), say(': no leak, and in no count.')),
        rest.length > 0 && make('details', {class: 'rest', open: faults.length === 0}, make('summary', null, sayWith('{count} more measures: {fine} fine, {open} not judged', {count: formatCount(rest.length), fine: String(fine.length), open: String(open.length)})), make('ul', {class: 'small'}, rest.map(showSmall))));
    const shown = [...element.querySelectorAll('.cards > li, .small > li')];
    return {id: 'verdicts', title: 'Verdicts', uses: ['search'], element, update: (values) => {
        const filter = makeFilter(values.search);
        for (const item of shown)
            item.hidden = !filter(item.textContent);
    }};
}
