/* SPDX-License-Identifier: Apache-2.0
 *
 * What happened round the moment that is picked, event by event, and the blocks of a heap as a table that sorts and filters. Of any number of blocks only those rows are made that
 * are shown.
 */
import {siteColours} from '../pictures/colours.mjs';
import {make, makeChoice, put} from '../pictures/dom.mjs';
import {formatAddress, formatBytes, formatCount, isKnown, NOTHING} from '../state/format.mjs';
import {groupingsOf, isCounted, namerOf} from '../data/groups.mjs';
import {makeSwatch, numberOfBlock, showBlock} from './map.mjs';
import {columnOf, hasEveryBlock, withSegments} from '../data/model.mjs';
import {momentName, momentText} from './moment.mjs';
import {eventsAround, passerBy, pickFirst, ranksBy} from '../data/pick.mjs';
import {makeFilter} from '../data/search.mjs';
import {roundingOf, segmentOf, segmentsAt} from '../data/segments.mjs';
import {makeTable} from '../pictures/table.mjs';
import {momentSeq} from './timeline.mjs';
import {say, sayName, sayPlace, sayWith} from '../state/words.mjs';

const EVENTS_EACH = 12; /* on each side of the moment */
const NAMED_BY = ['site', 'category', 'operation', 'module', 'stream', 'private pool'];

/* What of a block stands in a row: {title, key, isNumber, valueOf(model, i) to sort by, show(value)}. */
function blockColumn(title, key, valueOf, show) {
    return {title, key, isNumber: true, valueOf, show: (row) => show(row[key])};
}

const BLOCK_FIGURES = [blockColumn('size', 'size_bytes', ({blocks}, i) => blocks.size_bytes[i], formatBytes), blockColumn('rounding', 'rounding', ({blocks}, i) => roundingOf(blocks, i), formatBytes), blockColumn('born', 'born', ({blocks}, i) => blocks.alloc_seq[i], formatCount),
    blockColumn('freed', 'freed', ({blocks}, i) => blocks.free_seq[i], formatCount), blockColumn('events lived', 'life', ({blocks}, i) => blocks.free_seq[i] - blocks.alloc_seq[i], formatCount), blockColumn('address', 'address', ({blocks}, i) => blocks.address[i], formatAddress)];

/* The ways to name a block that say something of this heap. */
function namesThatTell(model, heap) {
    const kinds = groupingsOf(model, heap);
    return NAMED_BY.filter((kind) => kinds.includes(kind));
}

/* Names that are none are not written. */
function nameCell(model, heap, kind, name) {
    if (kind !== 'site')
        return /^\(|not known$|^no private/.test(name) ? NOTHING : sayName(name);
    return make('span', null, makeSwatch(model, siteColours(model, heap).of(name), name), sayName(name));
}

function blockColumns(model, heap) {
    const named = namesThatTell(model, heap).map((kind) => ({title: kind, key: kind, className: kind === 'site' ? 'site' : 'word', show: (row) => nameCell(model, heap, kind, row[kind])}));
    return [named[0], ...BLOCK_FIGURES.filter((column) => column.key !== 'rounding' || columnOf(model.blocks, 'rounding')), ...named.slice(1)];
}

/* Which blocks are asked for, as a test of their numbers; null: it is not known. Pure. */
export function wantedBlocks(model, heap, which, values) {
    const {blocks} = model, seq = momentSeq(heap, values.at), from = values.from ?? -Infinity, to = values.to ?? Infinity;
    if (which === 'range')
        return (i) => !(blocks.alloc_seq[i] > to) && !(blocks.free_seq[i] < from);
    if (which === 'kept')
        return (i) => !isKnown(blocks.free_seq[i]);
    if (seq === null || !isCounted(model, heap, seq))
        return null;
    const isLive = (i) => !(blocks.alloc_seq[i] > seq) && !(blocks.free_seq[i] <= seq);
    if (which !== 'segment')
        return isLive;
    const segment = segmentsAt(model, heap, seq).find((one) => one.id === values.segment);
    return (i) => segment !== undefined && segmentOf([segment], blocks.address[i]) !== null && isLive(i);
}

/* The blocks of a heap as makeTable asks for rows: those that are wanted and whose names the search finds, the largest first or by the key of a column. `chosen` is among them. */
export function blockSource(model, heap, isWanted, chosen, isSearching) {
    const {begin, end} = model.blockRanges.get(heap.heap_id), kinds = namesThatTell(model, heap), namers = kinds.map((kind) => [kind, namerOf(model, kind)]);
    const rowOf = (i) => ({i, ...Object.fromEntries([...BLOCK_FIGURES.map(({key, valueOf}) => [key, valueOf(model, i)]), ...namers.map(([kind, nameOf]) => [kind, nameOf(i)])])});
    return {count: end - begin, pick: ({sort, isDown, most, filter}) => {
        const figure = BLOCK_FIGURES.find(({key}) => key === (sort ?? 'size_bytes')), keyOf = figure ? (i) => figure.valueOf(model, i) : ranksBy(model, sort);
        const isFound = isSearching() ? passerBy(model, kinds, filter) : () => true, passes = (i) => isWanted(i) && isFound(i), {shown, passing} = pickFirst(begin, end, passes, keyOf, isDown, most);
        const isHidden = chosen >= begin && chosen < end && !shown.includes(chosen) && passes(chosen);
        return {shown: (isHidden ? [chosen, ...shown] : shown).map(rowOf), passing};
    }};
}

const EVENT_COLUMNS = [{title: 'event', key: 'seq', isNumber: true, show: (row) => formatCount(row.seq)}, {title: 'what', key: 'what'}, {title: 'size', key: 'bytes', isNumber: true, show: (row) => (row.sign === null ? '' : `${row.sign}${formatBytes(row.bytes)}`)},
    {title: 'live then', key: 'live_bytes', isNumber: true, show: (row) => formatBytes(row.live_bytes)}, {title: 'address', key: 'address', show: (row) => formatAddress(row.address)}];
const SIGNS = {freed: '\u2212', allocated: '+', 'given up': ''};

/* An event with what it was of. Pure. */
export function eventRow(model, heap, event) {
    const {blocks} = model, {kind, number} = event, row = {...event, what: say(kind), block: -1, site: null, bytes: null, sign: null, address: null};
    if (kind in SIGNS)
        return {...row, block: number, site: namerOf(model, 'site')(number), bytes: blocks.size_bytes[number], sign: SIGNS[kind], address: blocks.address[number]};
    if (kind === 'step')
        return {...row, what: sayWith('step {step}', {step: formatCount(heap.steps[number].number)})};
    if (kind === 'moment')
        return {...row, what: momentName(heap.named[number])};
    const segment = model.segments.get(heap.heap_id)[number];
    return {...row, bytes: segment.size_bytes, sign: '', address: segment.address, segment: segment.allocation_id};
}

/* Tables open a block below its row. */
function blockOptions(model, heap, state, caption, numberOf) {
    const idOf = (row) => (numberOf(row) < 0 ? null : model.blocks.allocation_id[numberOf(row)]);
    return {caption, isChosen: (row) => idOf(row) !== null && idOf(row) === state.values.block, onRow: (row) => idOf(row) !== null && state.set({block: state.values.block === idOf(row) ? null : idOf(row)}), more: (row) => showBlock(model, heap, numberOf(row), state)};
}

/* Events round the moment, and buttons to those before and behind them; {element, update}. */
function makeEvents(model, heap, state, values, filter) {
    const seq = momentSeq(heap, values.at), site = {title: 'site', key: 'site', className: 'site', show: (row) => (row.site === null ? '' : nameCell(model, heap, 'site', row.site))};
    const events = seq === null || !isCounted(model, heap, seq) ? null : eventsAround(model, heap, seq, EVENTS_EACH, values.search ? passerBy(model, namesThatTell(model, heap), filter) : () => true, !values.search);
    if (events === null)
        return {element: make('p', {class: 'note'}, say('What happened then is not known event by event: not every single allocation is in this page.')), update: () => {}};
    const last = events.findLast((event) => event.seq <= seq), table = makeTable([...EVENT_COLUMNS, site], events.map((event) => ({...eventRow(model, heap, event), isLast: event === last})), {...blockOptions(model, heap, state, 'Events round the moment', (row) => row.block), rowsShown: 2 * EVENTS_EACH, textOf: () => '', classOf: (row) => (row.isLast ? ' now' : '')});
    const go = (text, event) => event && make('button', {class: 'plain', onclick: () => state.set({at: String(event.seq)})}, say(text));
    return {element: make('div', null, make('div', {class: 'row'}, go('earlier', events[0]), go('later', events[events.length - 1])), table.element), update: () => table.update()};
}

/* Blocks, and which of them; {element, update}. */
function makeBlockTable(model, heap, state, values) {
    const isWanted = wantedBlocks(model, heap, values.rows, values), choices = [['live', 'live at the moment'], ['range', 'in the range'], ['kept', 'never freed'], ...(values.segment === null ? [] : [['segment', 'in the open segment']])];
    const table = isWanted && makeTable(blockColumns(model, heap), blockSource(model, heap, isWanted, numberOfBlock(model, values.block), () => Boolean(state.values.search)), blockOptions(model, heap, state, 'Blocks', (row) => row.i));
    const element = make('div', null, make('div', {class: 'row'}, choices.map(([which, text]) => makeChoice(text, values.rows === which, () => state.set({rows: which})))), !hasEveryBlock(model, heap.input) && make('p', {class: 'note'}, say('Not every block is in this page: some are missing.')),
        table ? table.element : make('p', {class: 'note'}, say('What was live then is not known here: not every single allocation is in this page.')));
    return {element, update: (filter) => table?.update(filter)};
}

export function makeBlocksPanel(model, state) {
    const word = make('p', {class: 'tell'}), events = make('div', {id: 'rows-events'}), blocks = make('div', {id: 'rows-blocks'}), element = make('div', null, word, make('h3', null, say('Events round the moment')), events, make('h3', null, say('Blocks')), blocks);
    let known = [], parts = [];
    const update = (values) => {
        const heap = model.heapById.get(values.heap) ?? model.best, whole = withSegments(model, heap), filter = makeFilter(values.search), isThere = model.blockRanges.has(heap.heap_id);
        const common = [heap.heap_id, values.at, values.theme, model.blocks !== null], keys = [[...common, values.search, values.found], [...common, values.rows, values.from, values.to, values.rows === 'segment' ? values.segment : values.segment === null]].map((key) => JSON.stringify(key));
        put(word, isThere ? sayWith('{heap}, at {moment}', {heap: sayPlace(heap.label), moment: momentText(heap, values.at)}) : say('No single allocation of this heap is in this page.'));
        element.classList.toggle('empty', !isThere);
        [events, blocks].forEach((box, which) => {
            if (isThere && keys[which] !== known[which])
                put(box, (parts[which] = which === 0 ? makeEvents(whole, heap, state, values, filter) : makeBlockTable(whole, heap, state, values)).element);
            if (isThere)
                parts[which].update(filter);
        });
        known = isThere ? keys : [];
    };
    return {id: 'rows', title: 'Events and blocks', note: 'click a row: the stack and the life of its block', uses: ['heap', 'at', 'from', 'to', 'search', 'site', 'block', 'segment', 'rows', 'theme'], element, update};
}
