/* SPDX-License-Identifier: Apache-2.0
 *
 * The segments of a pool at the moment that is picked: each a bar of its addresses, with what is free, pending and rounded up in it. A click opens one: who keeps it from going
 * back, what lies in it, and of each block its stack and life.
 */
import {paintOf, siteColours} from '../pictures/colours.mjs';
import {colourOf, make, makeCanvas, put} from '../pictures/dom.mjs';
import {formatAddress, formatBytes, formatCount, isKnown} from '../state/format.mjs';
import {namerOf} from '../data/groups.mjs';
import {makeSwatch, numberOfBlock, showBlock} from './map.mjs';
import {makeMomentChoice, momentText} from './moment.mjs';
import {makeFilter} from '../data/search.mjs';
import {givenUpSeq, holdersOf, roundingOf, segmentsAt} from '../data/segments.mjs';
import {makeTile} from '../data/raster.mjs';
import {makeStack} from '../pictures/stack.mjs';
import {makeTable} from '../pictures/table.mjs';
import {momentSeq} from './timeline.mjs';
import {say, sayName, sayPlace, sayWith} from '../state/words.mjs';

const BAR_HEIGHT = 18, FREE_HEIGHT = 6, RIM_HEIGHT = 4, REACH_BAR = 4; /* pixels */

/* What is drawn of a part of a segment on a bar: [left, right, where its rounding begins], a pixel wide at least. Pure. */
export function barPlace(segment, part, width, rounding) {
    const toX = (address) => width * (address - segment.address) / segment.size_bytes, left = Math.floor(toX(part.from)), right = Math.max(left + 1, Math.round(toX(part.to)));
    return [left, right, isKnown(rounding) && rounding > 0 ? Math.max(left, Math.min(right, Math.round(toX(part.to - rounding)))) : right];
}

/* The block that is meant by a place of a bar: the nearest within a few pixels; -1: none. Pure. */
export function blockOnBar(segment, x, width) {
    let found = -1, least = REACH_BAR;
    for (const part of segment.parts.filter((one) => one.block >= 0)) {
        const [left, right] = barPlace(segment, part, width, 0), distance = Math.max(0, left - Math.floor(x), Math.floor(x) - (right - 1));
        if (distance <= least && (distance < least || found < 0 || distance === 0)) {
            found = part.block;
            least = distance;
        }
    }
    return found;
}

/* What a canvas is filled with: a colour, or one with a pattern over it. */
function fillOf(context, {pattern, ground, line}, ratio) {
    if (!pattern)
        return ground;
    const {size, tile} = makeTile(pattern, ratio), square = new OffscreenCanvas(size, size), own = square.getContext('2d');
    own.fillStyle = ground;
    own.fillRect(0, 0, size, size);
    own.fillStyle = line;
    tile.forEach((has, at) => has && own.fillRect(at % size, Math.floor(at / size), 1, 1));
    const fill = context.createPattern(square, 'repeat');
    fill.setTransform(new DOMMatrix().scale(1 / ratio));
    return fill;
}

const PENDING = 'pending';

/* fill(site or PENDING): what a part of a bar is filled with. */
function makeFills(context, ratio, model, heap) {
    const known = new Map(), colours = siteColours(model, heap);
    return (name) => {
        if (!known.has(name))
            known.set(name, fillOf(context, name === PENDING ? {pattern: 'barred', ground: colourOf('stuck'), line: colourOf('card')} : paintOf(name, model.leakSites) ?? {ground: colours.of(name)}, ratio));
        return known.get(name);
    };
}

/* A block: what is rounded up is hollow, a line parts what is wide enough, and two go round the one that is chosen. */
function paintPart(context, [left, right, hollowFrom], fill, alpha, isChosen) {
    const card = colourOf('card');
    context.clearRect(left, 0, right - left, BAR_HEIGHT);
    context.globalAlpha = alpha;
    context.fillStyle = fill;
    context.fillRect(left, 0, right - left, BAR_HEIGHT);
    context.globalAlpha = 1;
    context.fillStyle = card;
    context.fillRect(hollowFrom, RIM_HEIGHT, right - hollowFrom, BAR_HEIGHT - 2 * RIM_HEIGHT);
    if (right - left > 3)
        context.fillRect(right - 1, 0, 1, BAR_HEIGHT);
    for (const [colour, within] of isChosen ? [[card, 3], [colourOf('ink'), 1]] : []) {
        context.strokeStyle = colour;
        context.lineWidth = 2;
        context.strokeRect(left + within, within, Math.max(1, right - left - 2 * within), BAR_HEIGHT - 2 * within);
    }
}

/* Free is low and dotted, so that it is seen without colour. */
function paintBar(context, width, ratio, model, heap, segment, values, seq) {
    const {blocks} = model, fill = makeFills(context, ratio, model, heap), nameOf = namerOf(model, 'site'), filter = makeFilter(values.search), chosen = numberOfBlock(model, values.block);
    context.clearRect(0, 0, width, BAR_HEIGHT);
    context.fillStyle = fillOf(context, {pattern: 'dotted', ground: colourOf('unused'), line: colourOf('muted')}, ratio);
    context.fillRect(0, BAR_HEIGHT - FREE_HEIGHT, width, FREE_HEIGHT);
    for (const part of segment.parts.filter((one) => one.block >= 0)) {
        const site = nameOf(part.block), isFound = filter(site) && (!values.site || values.site === site);
        paintPart(context, barPlace(segment, part, width, roundingOf(blocks, part.block)), fill(givenUpSeq(blocks, part.block) <= seq ? PENDING : site), isFound ? 1 : 0.2, part.block === chosen);
    }
}

function barText(segment) {
    return sayWith('{count} blocks, {used} in them, {free} free in {gaps} gaps', {count: formatCount(segment.block_count), used: formatBytes(segment.used_bytes), free: formatBytes(segment.free_bytes), gaps: formatCount(segment.gap_count)});
}

function makeSegmentBar(model, heap, segment, state, seq) {
    const nameOf = namerOf(model, 'site'), at = (event) => blockOnBar(segment, event.offsetX, event.target.clientWidth);
    const bar = makeCanvas(BAR_HEIGHT, (context, width, height, ratio) => paintBar(context, width, ratio, model, heap, segment, state.values, seq), {class: 'segment', role: 'img', 'aria-label': barText(segment), onclick: (event) => {
        event.stopPropagation();
        const number = at(event);
        state.set({segment: segment.id, block: number < 0 ? null : model.blocks.allocation_id[number]});
    }, onpointermove: (event) => {
        const number = at(event);
        event.target.title = number < 0 ? barText(segment) : `${formatBytes(model.blocks.size_bytes[number])} ${sayName(nameOf(number))}`;
    }});
    requestAnimationFrame(bar.redraw);
    return bar.canvas;
}

function sizeOf(title, key) {
    return {title, key, isNumber: true, show: (row) => formatBytes(row[key])};
}

function countOf(title, key) {
    return {title, key, isNumber: true, show: (row) => formatCount(row[key])};
}

/* A site with its colour, as elsewhere. */
function siteCell(model, heap, site) {
    return make('span', null, makeSwatch(model, siteColours(model, heap).of(site), site), sayName(site));
}

function keptBy(holders) {
    return holders.length === 0 ? '' : holders.length === 1 ? sayName(holders[0].site) : sayWith('{site} and {count} more', {site: sayName(holders[0].site), count: formatCount(holders.length - 1)});
}

/* Who keeps a segment: a click shows the stack. */
function makeHolders(model, heap, segment) {
    let chosen = null;
    const table = makeTable([{title: 'site', key: 'site', className: 'site', show: (row) => siteCell(model, heap, row.site)}, sizeOf('keeps from going back', 'hostage_bytes'), sizeOf('with blocks of', 'bytes'), countOf('blocks', 'count')], holdersOf(model, segment),
        {caption: 'Who keeps it from going back', isChosen: (row) => row === chosen, more: (row) => makeStack(model, row.stack), onRow: (row) => {
            chosen = chosen === row ? null : row;
            table.update();
        }});
    return table;
}

/* What lies in a segment, by address. */
function makeContents(model, heap, segment, state, seq) {
    const {blocks} = model, nameOf = namerOf(model, 'site');
    const rows = segment.parts.map(({from, to, block}) => ({offset: from - segment.address, bytes: to - from, block, what: block < 0 ? 'free' : givenUpSeq(blocks, block) <= seq ? 'pending' : 'block', site: block < 0 ? null : nameOf(block), rounding: block < 0 ? null : roundingOf(blocks, block), born: block < 0 ? null : blocks.alloc_seq[block]}));
    return makeTable([sizeOf('offset', 'offset'), {title: 'what', key: 'what', show: (row) => say(row.what)}, sizeOf('size', 'bytes'), sizeOf('rounding', 'rounding'), {title: 'site', key: 'site', className: 'site', show: (row) => (row.site === null ? '' : siteCell(model, heap, row.site))}, countOf('born', 'born')], rows,
        {caption: 'What lies in it, by address', isChosen: (row) => row.block >= 0 && blocks.allocation_id[row.block] === state.values.block, more: (row) => showBlock(model, heap, row.block, state),
            onRow: (row) => row.block >= 0 && state.set({block: state.values.block === blocks.allocation_id[row.block] ? null : blocks.allocation_id[row.block]})});
}

/* The stack of the call that got a segment. */
function stackOfSegment(model, segment) {
    const table = model.tables.segment_block, at = table?.allocation_id.indexOf(segment.id) ?? -1;
    return at < 0 ? null : table.stack_id[at];
}

/* {segment, element, update}: one that is open. */
function openedSegment(model, heap, segment, state, seq) {
    const holders = segment.stuck_bytes > 0 ? makeHolders(model, heap, segment) : null, contents = makeContents(model, heap, segment, state, seq);
    const element = make('div', {class: 'opened'}, segment.block_count === 0 && make('p', {class: 'note'}, say('It holds nothing: emptying the cache gives it back.')),
        holders && [make('h4', null, say('Who keeps it from going back')), holders.element], make('h4', null, say('What lies in it, by address')), contents.element,
        make('details', null, make('summary', null, say('Where the pool got it')), makeStack(model, stackOfSegment(model, segment))));
    return {segment, element, update: () => contents.update()};
}

function wordOf(segments) {
    const sum = (key) => formatBytes(segments.reduce((all, segment) => all + segment[key], 0));
    return sayWith('{count} segments of {reserved}: {free} free, {stuck} of it beside blocks; {empty} hold nothing.', {count: formatCount(segments.length), reserved: sum('size_bytes'), free: sum('free_bytes'), stuck: sum('stuck_bytes'), empty: formatCount(segments.filter((one) => one.block_count === 0).length)});
}

function barLegend() {
    return make('p', {class: 'legends'}, [['unused', ' low dotted', 'muted', 'low: free'], ['stuck', ' barred', 'card', 'lines: pending, given up but still used by another stream'], ['accent', ' hollow', 'card', 'hollow: rounded up beyond what was asked for']]
        .map(([name, look, second, text]) => make('span', {class: 'legend'}, make('span', {class: `swatch${look}`, style: `background-color:var(--${name});--second:var(--${second})`}), say(text))));
}

/* Who keeps a segment, and all whose blocks are in it, by name. */
function withHolders(model, segment) {
    const all = holdersOf(model, segment);
    return {...segment, holders: segment.stuck_bytes > 0 ? all : [], sites: all.map((holder) => holder.site)};
}

export function makeSegments(model, state) {
    const tools = make('div', {class: 'row', id: 'segments-at'}), word = make('p', {class: 'tell'}), body = make('div'), heapOf = () => model.heapById.get(state.values.heap) ?? model.best;
    const element = make('div', null, tools, word, body);
    let shown = '', table = null, opened = null;

    function columnsOf(heap, seq) {
        return [{title: 'segment', key: 'address', className: 'word', show: (row) => formatAddress(row.address)}, {title: 'what lies in it', key: 'used_bytes', className: 'bars', show: (row) => makeSegmentBar(model, heap, row, state, seq)}, sizeOf('size', 'size_bytes'), sizeOf('free', 'free_bytes'), sizeOf('largest free', 'largest_bytes'), sizeOf('pending', 'pending_bytes'),
            sizeOf('rounding', 'rounding_bytes'), countOf('blocks', 'block_count'), {title: 'kept by', key: 'keeper', className: 'site', show: (row) => keptBy(row.holders)}];
    }

    function moreOf(heap, seq, row) {
        if (opened?.segment !== row)
            opened = openedSegment(model, heap, row, state, seq);
        return opened.element;
    }

    function rebuild(heap, seq) {
        const segments = segmentsAt(model, heap, seq), rows = segments?.map((one) => withHolders(model, one)).sort((a, b) => b.stuck_bytes - a.stuck_bytes || b.free_bytes - a.free_bytes || a.address - b.address);
        table = rows && makeTable(columnsOf(heap, seq), rows, {caption: 'Segments', textOf: (row) => row.sites.join(' '), isChosen: (row) => row.id === state.values.segment, more: (row) => moreOf(heap, seq, row),
            onRow: (row) => state.set({segment: state.values.segment === row.id ? null : row.id})});
        put(word, sayWith('{heap}, at {moment}', {heap: sayPlace(heap.label), moment: momentText(heap, state.values.at)}), rows && ` \u2013 ${wordOf(rows)}`);
        put(body, rows ? [barLegend(), table.element] : make('p', {class: 'note'}, say('What lay in segments then is not known here: not every single allocation is in this page.')));
    }

    const update = (values) => {
        const heap = heapOf(), isPool = model.segments.has(heap.heap_id), key = JSON.stringify([heap.heap_id, values.at, values.theme, model.blocks !== null]);
        put(tools, isPool && makeMomentChoice(heap, values.at, say('at'), (at) => state.set({at})));
        if (key !== shown)
            isPool ? rebuild(heap, momentSeq(heap, values.at)) : put(body, make('p', {class: 'note'}, say('This heap is no pool: pick one in the timeline.')));
        shown = key;
        element.classList.toggle('none', !isPool);
        if (!isPool)
            return;
        table?.update(makeFilter(values.search));
        opened?.update();
    };
    return {id: 'segments', title: 'Segments', note: 'what lies in each at the moment that is picked; click one: who keeps it from going back, and its blocks', uses: ['heap', 'at', 'site', 'search', 'block', 'segment', 'theme'], element, update};
}
