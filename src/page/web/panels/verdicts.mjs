/* SPDX-License-Identifier: Apache-2.0
 *
 * What is wrong, worst first, as the terminal says it: in the words of table finding. A click leads to the panel that has the evidence.
 */
import {make} from '../pictures/dom.mjs';
import {formatCount} from '../state/format.mjs';
import {heapOfRow, poolOfRow} from '../data/model.mjs';
import {makeFilter} from '../data/search.mjs';
import {inLanguage, say, sayPlace, sayWith} from '../state/words.mjs';

const KIND_PANELS = {leak: 'leaks', 'out of memory': 'oom', misuse: 'misuse', 'host growth': 'timeline', 'cache growth': 'timeline', 'shared device': 'ranks', 'uneven rank': 'ranks'};
const SEVERITY_LEVELS = {fault: 'danger', 'not judged': 'unknown'};

/* What speaks for a finding and what helps, a line each. Why memory ran out is said as on the screen, where lines have labels. Pure. */
export function findingLines(row) {
    const evidence = inLanguage(row.evidence, row.evidence_zh)?.split('\u240a') ?? [], remedy = inLanguage(row.remedy, row.remedy_zh);
    return remedy === null ? evidence : [...evidence, row.kind === 'out of memory' ? `${say('FIX')}  ${remedy}` : remedy];
}

/* Lines without a label stand below the one that has it, as on the screen. Pure. */
export function withIndents(lines) {
    const hasLabel = (line) => /^\p{L}+ {2}/u.test(line), isLabelled = lines.some(hasLabel);
    return lines.map((line) => (isLabelled && !hasLabel(line) ? `    ${line}` : line));
}

/* A finding in the language of the page; what is not judged says why in its evidence. */
function makeFindingCard(model, row) {
    const panel = KIND_PANELS[row.kind] ?? 'pool', heap = row.heap === null ? null : panel === 'oom' ? poolOfRow(model.heaps, row) : heapOfRow(model.heaps, row);
    const title = inLanguage(row.text, row.text_zh);
    const place = heap && model.rows('process').length > 1 ? heap.label : row.heap;
    return {row, level: SEVERITY_LEVELS[row.severity] ?? row.severity, kind: place === null ? row.kind : `${row.kind} \u00b7 ${place}`, title, panel,
        choice: {...(row.kind === 'leak' && {site: row.site}), ...(heap && {heap: heap.heap_id})}, text: withIndents(findingLines(row)).join('\n'), command: row.next_command};
}

/* Pure, for tests: what is shown, the worst first, as table finding has it. */
export function collectVerdicts(model) {
    const of = (...severities) => model.rows('finding').filter((row) => severities.includes(row.severity)).map((row) => makeFindingCard(model, row));
    return {faults: of('fault', 'warning'), fine: of('good', 'minor'), open: of('not judged'), suspects: model.rows('suspect')};
}

function showCard(card, state, number) {
    return make('li', null, make('button', {class: `card ${card.level}`, onclick: () => {
        state.set(card.choice);
        document.getElementById(card.panel)?.scrollIntoView({behavior: 'auto', block: 'start'});
        document.getElementById(card.panel)?.focus({preventScroll: true});
    }}, make('span', {class: 'kind'}, `${number} ${sayPlace(card.kind)}`), make('span', {class: 'title'}, card.title), make('span', {class: 'text'}, card.text ?? ''), card.command !== null && make('code', null, card.command)));
}

function showSmall(card) {
    return make('li', {class: card.level}, make('b', null, card.title), make('span', {class: 'note'}, ` ${sayPlace(card.kind)} \u2013 ${card.text ?? ''}`));
}

export function makeVerdicts(model, state) {
    const {faults, fine, open, suspects} = collectVerdicts(model);
    const rest = [...open, ...fine];
    const element = make('div', null,
        faults.length === 0 && make('p', {class: open.length === 0 ? 'allgood' : 'note'}, say(open.length === 0 ? 'Nothing wrong was found.' : 'Nothing wrong was found, but not all could be judged:')),
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
