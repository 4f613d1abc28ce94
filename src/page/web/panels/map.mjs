/* SPDX-License-Identifier: Apache-2.0
 *
 * The map: every block of a heap as a rectangle of addresses (down) and time (right). A leak is a staircase, a block that pins a segment a
 * straggler, and reserved memory that nobody uses stays empty. From far away it is drawn from cells, whose number does not depend on that of
 * the blocks; where fewer are in view, each by itself.
 */
import {agesOf} from '../data/ages.mjs';
import {assignColours, categoryColours, paintOf, mixPixel, partsOf, LEAK, PALETTE, REST, siteColours} from '../pictures/colours.mjs';
import {colourOf, make, makeCanvas, makeChoice, put} from '../pictures/dom.mjs';
import {formatAddress, formatBytes, formatCount, formatTime, isKnown, NOTHING} from '../state/format.mjs';
import {BASELINE, groupingsOf, isBaseline, keysOf, namerOf, namesOf, NO_STACK} from '../data/groups.mjs';
import {ANCHOR_KINDS, blockOffsets, hasBlocksOf, liveBlocks, remember, stepAt} from '../data/model.mjs';
import {rolesOf} from './ranks.mjs';
import {partWord} from '../state/opening.mjs';
import {distanceTo, drawCells, drawPatterns, drawRectangle, offsetOf} from '../data/raster.mjs';
import {givenUpSeq, roundingOf, segmentOf, segmentsAt} from '../data/segments.mjs';
import {makeStack} from '../pictures/stack.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeNumbers} from '../pictures/table.mjs';
import {clockOf, drawCursor, drawPlaces, listenDrag, listenKeys, momentSeq, scaleFor, timeAt} from './timeline.mjs';
import {say, sayName, sayPlace, sayWith} from '../state/words.mjs';

const MAP_HEIGHT = 420, MAP_TOP = 8, MAP_BOTTOM = 26;
export const EXACT_MAX = 100000; /* more blocks in view are drawn from cells */

/* Blocks of a heap that the view shows at least in part: their numbers, or null where they are more than `most`. Pure. */
export function blocksInView(model, heap, view, most) {
    const {blocks} = model, range = model.blockRanges.get(heap.heap_id), found = [];
    for (let i = range?.begin ?? 0; range && i < range.end; i++) {
        if (blocks.alloc_seq[i] > view.scale.lastSeq)
            break;
        if (blocks.free_seq[i] < view.scale.firstSeq)
            continue;
        if (found.length === most)
            return null;
        found.push(i);
    }
    return found;
}

const REACH = 4; /* so many pixels beside a block still mean it */

/*
 * The block that is meant by a place of a pixelView: what was drawn there last, else what is nearest, no more than `reach` pixels away; -1: none.
 * Pure.
 */
export function blockAt(model, heap, view, x, y, reach) {
    const {blocks} = model, range = model.blockRanges.get(heap.heap_id), offsets = range && blockOffsets(model, heap.heap_id), far = reach + 1;
    const offsetAt = (row) => view.low + row * (view.high - view.low) / view.height, first = view.scale.toSeq(x - far), last = view.scale.toSeq(x + far), low = offsetAt(y - far), high = offsetAt(y + far);
    const {alloc_seq: births, free_seq: ends, size_bytes: sizes} = blocks ?? {};
    let found = -1, least = reach;
    for (let i = range?.begin ?? 0; range && i < range.end && !(births[i] > last); i++) {
        if (ends[i] < first)
            continue;
        const offset = offsets[i - range.begin];
        if (offset < 0 || offset > high || offset + sizes[i] < low)
            continue;
        const distance = distanceTo(view, bornSeqOf(blocks, i), endSeqOf(blocks, i), offset, sizes[i], x, y);
        if (distance <= least) {
            found = i;
            least = distance;
        }
    }
    return found;
}

/* Of the blocks that are live at an event and in view, the next one below another (step 1) or above it (-1), the first or the last where that is none of them; -1: none. Pure. */
export function blockBeside(model, heap, view, seq, number, step) {
    const range = model.blockRanges.get(heap.heap_id), offsets = range && blockOffsets(model, heap.heap_id), offsetOfBlock = (i) => offsets[i - range.begin];
    const isInView = (i) => offsetOfBlock(i) >= 0 && offsetOfBlock(i) < view.high && offsetOfBlock(i) + model.blocks.size_bytes[i] > view.low;
    const live = range ? liveBlocks(model, heap.heap_id, seq).filter(isInView).sort((a, b) => offsetOfBlock(a) - offsetOfBlock(b)) : [], at = live.indexOf(number);
    return (at < 0 ? live[step > 0 ? 0 : live.length - 1] : live[Math.min(live.length - 1, Math.max(0, at + step))]) ?? -1;
}

/* What was there before is drawn from the left on, what was never freed to the right. */
function bornSeqOf(blocks, i) {
    return blocks.alloc_seq[i] >= 0 ? blocks.alloc_seq[i] : -1;
}

function endSeqOf(blocks, i) {
    return blocks.free_seq[i] >= 0 ? blocks.free_seq[i] : Infinity;
}

/*
 * What the map is coloured by: nameOf(block) and nameOfSite(frame of a cell; null: cells do not know it) give a name, colour(name) its colour.
 * Blocks with the same entry in `keys` have the same name; `names` are all of them, the heaviest first, or null. paintOf(name) is its pattern, or null.
 */
export function makeColouring(model, heap, values) {
    return {nameOfSite: null, paintOf: (name) => paintOf(name, new Set()), ...colouringBy(model, heap, values)};
}

function colouringBy(model, heap, values) {
    const {blocks, stacks} = model, kind = values.colour;
    if (kind === 'category') {
        const {names, of} = categoryColours(model, heap);
        return {nameOf: blocks && namerOf(model, kind), keys: blocks && remember(model, 'category keys', () => keysOf(model, kind)), colour: of, names};
    }
    if (kind === 'stream') {
        const nameOf = (i) => (isKnown(blocks.stream[i]) ? `stream ${blocks.stream[i]}` : 'stream not known');
        return {nameOf, keys: blocks?.stream, colour: (name) => PALETTE[Math.abs(Number(name.slice(7)) || 0) % PALETTE.length], names: null};
    }
    if (kind === 'age')
        return agesOf(model, heap);
    if (kind === 'private pool') {
        const names = blocks === null ? [] : remember(model, `pools ${heap.heap_id}`, () => namesOf(model, heap, kind, blocks.private_pool));
        return {nameOf: blocks && namerOf(model, kind), keys: blocks?.private_pool, colour: assignColours(names, new Set()).of, names};
    }
    const {names, of} = siteColours(model, heap), colour = kind === 'verdict' ? (name) => (model.leakSites.has(name) ? LEAK : REST) : of;
    const nameless = namelessOf(model, heap), siteKeys = blocks && remember(model, 'site keys', () => keysOf(model, 'site'));
    return {keys: siteKeys, nameOf: blocks && namerOf(model, 'site'), nameOfSite: (frame) => stacks.label(frame) ?? (nameless.length === 1 ? nameless[0] : NO_STACK), colour, names: [...names, ...nameless], paintOf: (name) => (kind === 'verdict' && !model.leakSites.has(name) ? null : paintOf(name, model.leakSites))};
}

/* What of the heap has no site, as far as blocks are here. */
function namelessOf(model, heap) {
    return remember(model, `nameless ${heap.heap_id}`, () => {
        const {blocks, stacks} = model, range = model.blockRanges.get(heap.heap_id), found = new Set();
        for (let i = range?.begin ?? 0; range && i < range.end && found.size < 2; i++)
            if (Number.isNaN(stacks.siteFrame(blocks.stack_id[i])))
                found.add(isBaseline(blocks, i) ? BASELINE : NO_STACK);
        return [...found];
    });
}

/* What of the picture stays in front: the site, or what else the colours stand for, that is chosen, and what the search finds. */
function makeEmphasis(values) {
    const filter = makeFilter(values.search);
    return (name, site) => (!values.site || name === values.site || site === values.site) && (filter(name) || filter(site));
}

/* What a share of a name and a site is painted with; `patterns` learns which colours have one. */
function makePixels(coloring, emphasis, back, patterns) {
    const known = new Map();
    return (name, site, share) => {
        const key = `${name}\u0001${site}\u0001${share >= 0.999 ? 16 : Math.floor(share * 16)}`;
        if (!known.has(key)) {
            const strength = (emphasis(name, site) ? 1 : 0.16) * (0.25 + 0.75 * share), look = coloring.paintOf(name);
            known.set(key, mixPixel(partsOf(coloring.colour(name)), back, strength));
            if (look !== null)
                patterns.set(known.get(key), {pattern: look.pattern, line: mixPixel(partsOf(look.line), back, strength)});
        }
        return known.get(key);
    };
}

function parseColour(text) {
    return partsOf(text.startsWith('#') && text.length === 7 ? text : '#808080');
}

/* Draws into pixels, `ratio` of them as wide as one of the page; says how. */
export function drawMap(pixels, view, model, heap, values, shades, ratio) {
    const lanes = model.lanes.get(heap.heap_id) ?? [], reserved = mixPixel(shades.reserved, shades.reserved, 1), patterns = new Map([[reserved, {pattern: 'dotted', line: mixPixel(shades.dots, shades.dots, 1)}]]);
    const coloring = makeColouring(model, heap, values), pixelOf = makePixels(coloring, makeEmphasis(values), shades.reserved, patterns);
    pixels.fill(mixPixel(shades.empty, shades.empty, 1));
    const segments = model.segments.get(heap.heap_id) ?? [];
    for (const segment of segments)
        drawRectangle(pixels, view, segment.alloc_seq ?? -1, segment.free_seq ?? Infinity, offsetOf(lanes, segment.address), segment.size_bytes, reserved);
    const inView = hasBlocksOf(model, heap.heap_id, Math.floor(view.scale.firstSeq), Math.ceil(view.scale.lastSeq) - 1) ? blocksInView(model, heap, view, EXACT_MAX) : null, isCells = inView === null && heap.cells && coloring.nameOfSite;
    if (isCells)
        drawCells(pixels, view, heap.cells, rememberCells((site, used) => pixelOf(coloring.nameOfSite(site), coloring.nameOfSite(site), used / 255)));
    else
        drawBlocks(pixels, view, model, heap, inView ?? blocksInView(model, heap, view, Infinity), memoize(coloring.keys, model.blocks?.stack_id, (i) => pixelOf(coloring.nameOf(i), model.stacks.siteOf(model.blocks.stack_id[i]), 1)));
    drawPatterns(pixels, view, patterns, ratio);
    return {isExact: !isCells, count: isCells ? null : inView?.length ?? null};
}

/* A picture has more pixels than different cells: `used` is below 256. */
function rememberCells(pixelOfCell) {
    const known = new Map();
    return (site, used) => {
        const key = site * 256 + used;
        if (!known.has(key))
            known.set(key, pixelOfCell(site, used));
        return known.get(key);
    };
}

/* A function of blocks that is the same for those with the same key and stack. */
function memoize(keys, stacks, valueOf) {
    const known = new Map();
    return (i) => {
        if (!known.has(stacks[i]))
            known.set(stacks[i], new Map());
        const ofStack = known.get(stacks[i]), key = keys[i];
        if (!ofStack.has(key))
            ofStack.set(key, valueOf(i));
        return ofStack.get(key);
    };
}

function drawBlocks(pixels, view, model, heap, numbers, pixelOf) {
    const {blocks} = model, offsets = numbers.length > 0 ? blockOffsets(model, heap.heap_id) : null, first = model.blockRanges.get(heap.heap_id)?.begin;
    for (const i of numbers)
        if (offsets[i - first] >= 0)
            drawRectangle(pixels, view, bornSeqOf(blocks, i), endSeqOf(blocks, i), offsets[i - first], blocks.size_bytes[i], pixelOf(i));
}

function viewOf(heap, values, width) {
    const bytes = heap.cells?.axisBytes ?? 1;
    const scale = scaleFor(heap, values, width);
    return {scale, low: values.low ?? 0, high: values.high ?? bytes};
}

/* The pixels stand at 0, whatever the gutter is. */
export function pixelView(view, width, height, ratio) {
    const {scale} = view, shifted = {...scale, toX: (seq) => (scale.toX(seq) - scale.left) * ratio, toSeq: (x) => scale.toSeq(x / ratio + scale.left)};
    return {scale: shifted, low: view.low, high: view.high, width: Math.max(1, Math.round(width * ratio)), height: Math.max(1, Math.round(height * ratio))};
}

const LINES_MAX = 100; /* lanes: of more, lines between them would hide what lies in them */

function drawLanes(context, model, heap, view, plotHeight) {
    const lanes = model.lanes.get(heap.heap_id) ?? [], perByte = plotHeight / (view.high - view.low);
    const ground = colourOf('card'), muted = colourOf('muted'), hasLines = lanes.length < LINES_MAX;
    let taken = -Infinity;
    context.font = '11px ui-monospace, monospace';
    context.textAlign = 'right';
    for (const lane of lanes) {
        const y = MAP_TOP + (lane.offset - view.low) * perByte, tall = lane.size_bytes * perByte;
        if (y + tall < MAP_TOP || y > MAP_TOP + plotHeight)
            continue;
        if (hasLines) {
            context.fillStyle = ground;
            context.fillRect(view.scale.left, Math.round(y), view.scale.right - view.scale.left, 1);
        }
        const middle = Math.max(y, MAP_TOP) + Math.min(tall, plotHeight) / 2 + 4;
        if (middle - taken > 14 && tall > 8) {
            context.fillStyle = muted;
            context.fillText(formatBytes(lane.size_bytes), view.scale.left - 8, middle);
            taken = middle;
        }
    }
}

/* In two colours, one of which differs from whatever lies beside it. */
function outline(context, model, heap, view, plotHeight, number, inner, outer) {
    const {blocks} = model, perByte = plotHeight / (view.high - view.low), offset = offsetOf(model.lanes.get(heap.heap_id) ?? [], blocks.address[number]);
    const born = Math.max(isKnown(blocks.alloc_seq[number]) ? blocks.alloc_seq[number] : view.scale.firstSeq, view.scale.firstSeq), ended = Math.min(isKnown(blocks.free_seq[number]) ? blocks.free_seq[number] : view.scale.lastSeq, view.scale.lastSeq);
    const left = view.scale.toX(born), top = MAP_TOP + (offset - view.low) * perByte;
    const wide = Math.max(1, view.scale.toX(ended) - left), tall = Math.max(1, blocks.size_bytes[number] * perByte);
    for (const [colour, away] of [[inner, 1], [outer, 3]]) {
        context.strokeStyle = colour;
        context.lineWidth = 2;
        context.strokeRect(left - away, top - away, wide + 2 * away, tall + 2 * away);
    }
}

/* Facts about a block, in words. Pure. */
export function blockFacts(model, heap, number) {
    const {blocks} = model, born = blocks.alloc_seq[number], freed = blocks.free_seq[number], givenUp = givenUpSeq(blocks, number), clock = clockOf(heap);
    const bornStep = isKnown(born) ? stepAt(heap.steps, born) : null, freedStep = isKnown(freed) ? stepAt(heap.steps, freed) : null;
    const steps = bornStep && freedStep ? freedStep.number - bornStep.number : null;
    const life = isKnown(born) && isKnown(freed) ? [sayWith('{count} events', {count: formatCount(freed - born)}), steps !== null && sayWith('{count} steps', {count: formatCount(steps)}), heap.input.clock && sayWith('about {time}', {time: formatTime(timeAt(heap, freed) - timeAt(heap, born))})].filter((part) => part).join(', ') : NOTHING;
    const at = (seq, step) => (isKnown(seq) ? [sayWith('event {event}', {event: formatCount(seq)}), step && sayWith('step {step}', {step: formatCount(step.number)}), clock(seq)].filter((part) => part).join(', ') : null);
    return [['site', sayName(namerOf(model, 'site')(number))], ['size', `${formatBytes(blocks.size_bytes[number])} (${formatCount(blocks.size_bytes[number])} B)`], ...(isKnown(roundingOf(blocks, number)) ? [['rounding', formatBytes(roundingOf(blocks, number))]] : []), ['address', formatAddress(blocks.address[number])],
        ['born', at(born, bornStep) ?? say('before the recording')], ...(isKnown(givenUp) ? [['given up', at(givenUp, stepAt(heap.steps, givenUp))]] : []), ['freed', at(freed, freedStep) ?? say('never')], ['lived', life], ['category', sayName(namerOf(model, 'category')(number))],
        ['stream', isKnown(blocks.stream[number]) ? String(blocks.stream[number]) : NOTHING], ['allocation', formatCount(blocks.allocation_id[number])]];
}

/* Opens the segment of a block, at the moment that is looked at, or else at its birth. */
function openSegment(model, heap, number, state) {
    const {alloc_seq: births, free_seq: ends, address: addresses} = model.blocks, now = momentSeq(heap, state.values.at), isLive = now !== null && !(births[number] > now) && !(ends[number] <= now);
    const seq = isLive ? now : isKnown(births[number]) ? births[number] : 0, segment = segmentOf(segmentsAt(model, heap, seq), addresses[number]);
    state.set({segment: segment?.id ?? null, block: model.blocks.allocation_id[number], ...(isLive ? {} : {at: String(seq)})});
    document.getElementById('segments')?.querySelector('tr.chosen')?.scrollIntoView({block: 'start'});
}

/* A block with its stack and life. */
export function showBlock(model, heap, number, state) {
    const facts = blockFacts(model, heap, number);
    const buttons = make('div', {class: 'row'}, model.segments.has(heap.heap_id) && make('button', {class: 'plain', onclick: () => openSegment(model, heap, number, state)}, say('its segment')), make('button', {class: 'plain', onclick: () => state.set({site: namerOf(model, 'site')(number)})}, say('highlight its site')), make('button', {class: 'plain', onclick: () => state.set({block: null, site: null})}, say('let go')));
    return make('div', {class: 'block'}, make('div', null, make('h3', null, sayWith('Block of {bytes}', {bytes: formatBytes(model.blocks.size_bytes[number])})), make('dl', null, facts.flatMap(([name, value]) => [make('dt', null, say(name)), make('dd', null, value)])), buttons),
        make('div', null, make('h4', null, say('Where it was allocated')), makeStack(model, model.blocks.stack_id[number])));
}

export function numberOfBlock(model, allocationId) {
    return allocationId === null ? -1 : model.blocks?.allocation_id.indexOf(allocationId) ?? -1;
}

const BLOCK_COLUMNS = [{title: 'site', key: 'site', className: 'site', show: (row) => make('span', null, row.mark, sayName(row.site))}, {title: 'size', key: 'bytes', isNumber: true, show: (row) => formatBytes(row.bytes)}, {title: 'address', key: 'address', show: (row) => formatAddress(row.address)},
    {title: 'born', key: 'born', isNumber: true, show: (row) => formatCount(row.born)}, {title: 'freed', key: 'freed', isNumber: true, show: (row) => formatCount(row.freed)}];

function largestBlocks(model, heap, view) {
    const found = blocksInView(model, heap, view, Infinity).slice().sort((a, b) => model.blocks.size_bytes[b] - model.blocks.size_bytes[a]).slice(0, 500);
    const nameOf = namerOf(model, 'site'), colours = siteColours(model, heap);
    return found.map((i) => ({site: nameOf(i), mark: makeSwatch(model, colours.of(nameOf(i)), nameOf(i)), bytes: model.blocks.size_bytes[i], address: model.blocks.address[i], born: model.blocks.alloc_seq[i], freed: model.blocks.free_seq[i]}));
}

/* What colours stand for: leaks first, then all that have a colour of their own, among them what has no site however little it is. Pure. */
export function legendNames(names, leaks) {
    const all = [...new Set(names)];
    let left = PALETTE.length;
    return [...all.filter((name) => leaks.has(name)).slice(0, PALETTE.length), ...all.filter((name) => !leaks.has(name) && ([BASELINE, NO_STACK].includes(name) || left-- > 0))];
}

export function makeSwatch(model, colour, name, look = paintOf(name, model.leakSites)) {
    return make('span', {class: `swatch${look === null ? '' : ` ${look.pattern}`}`, style: `background-color:${colour}${look === null ? '' : `;--second:${look.line}`}`});
}

function showLegend(model, heap, values, state) {
    const coloring = makeColouring(model, heap, values), names = legendNames(coloring.names ?? [], model.leakSites), hasMore = values.colour === 'site' && new Set(coloring.names).size > names.length;
    return [names.map((name) => make('button', {class: `legend${values.site === name ? ' chosen' : ''}`, 'aria-pressed': String(values.site === name), onclick: () => state.set({site: values.site === name ? null : name})},
        makeSwatch(model, coloring.colour(name), name, coloring.paintOf(name)), make('span', null, sayName(name)), model.leakSites.has(name) && make('b', {class: 'leaks'}, say('leak')))), hasMore && make('span', {class: 'legend'}, makeSwatch(model, REST, null), say('other sites')),
        model.segments.has(heap.heap_id) && make('span', {class: 'legend'}, make('span', {class: 'swatch dotted', style: 'background-color:var(--unused);--second:var(--muted)'}), say('reserved and free'))];
}

const LABELS_MAX = 6;

/* Where the name of a leak stands on the map: at its block in the middle of those in view, by their births. [{site, left, top}], the most blocks first. Pure. */
export function leakPlaces(model, heap, view) {
    const {blocks, stacks, leakSites} = model, range = model.blockRanges.get(heap.heap_id), offsets = range && leakSites.size > 0 ? blockOffsets(model, heap.heap_id) : null, found = new Map(), known = new Map();
    for (let i = range?.begin ?? 0; offsets && i < range.end && !(blocks.alloc_seq[i] >= view.scale.lastSeq); i++) {
        const stack = blocks.stack_id[i], offset = offsets[i - range.begin];
        if (!known.has(stack))
            known.set(stack, leakSites.has(stacks.siteOf(stack)) ? stacks.siteOf(stack) : null);
        if (known.get(stack) === null || offset < view.low || offset >= view.high || blocks.free_seq[i] <= view.scale.firstSeq)
            continue;
        const own = found.get(known.get(stack)) ?? [];
        own.push(i);
        found.set(known.get(stack), own);
    }
    return [...found].sort((a, b) => b[1].length - a[1].length).slice(0, LABELS_MAX).map(([site, own]) => {
        const i = own[own.length >> 1];
        return {site, left: Math.max(view.scale.left, view.scale.toX(bornSeqOf(blocks, i))), top: (offsets[i - range.begin] - view.low) / (view.high - view.low)};
    });
}

/* Over the picture, not in it: what is below is clicked through them. Those that are on others go down. */
function showLabels(box, model, heap, view, values) {
    const places = ['site', 'verdict'].includes(values.colour) ? leakPlaces(model, heap, view) : [];
    let taken = -Infinity;
    put(box, places.sort((a, b) => a.top - b.top).map(({site, left, top}) => {
        const isRight = left < (view.scale.left + view.scale.right) / 2;
        taken = Math.max(taken + 20, Math.min(MAP_HEIGHT - MAP_BOTTOM - 18, MAP_TOP + top * (MAP_HEIGHT - MAP_TOP - MAP_BOTTOM) - 9));
        return make('span', {class: 'maplabel', style: `top:${taken.toFixed(0)}px;${isRight ? `left:${(left + 6).toFixed(0)}px` : `right:calc(100% - ${(left - 6).toFixed(0)}px)`}`}, `${say('leak')}: ${sayName(site)}`);
    }));
}

function brushedArea(heap, values, canvas, from, to) {
    const view = viewOf(heap, values, canvas.clientWidth), plot = MAP_HEIGHT - MAP_TOP - MAP_BOTTOM, perPixel = (view.high - view.low) / plot;
    const change = {from: Math.floor(view.scale.toSeq(Math.min(from.x, to.x))), to: Math.ceil(view.scale.toSeq(Math.max(from.x, to.x)))};
    if (Math.abs(to.y - from.y) > 24) {
        change.low = Math.max(0, view.low + (Math.min(from.y, to.y) - MAP_TOP) * perPixel);
        change.high = view.low + (Math.max(from.y, to.y) - MAP_TOP) * perPixel;
    }
    change.to = Math.max(change.to, change.from + 2);
    return change;
}

/* Pixels, lanes, axis, cursor and the block that is chosen; gives the words below the picture. */
function paintMap(context, width, ratio, model, heap, values) {
    const view = viewOf(heap, values, width), plotHeight = MAP_HEIGHT - MAP_TOP - MAP_BOTTOM, area = pixelView(view, view.scale.right - view.scale.left, plotHeight, ratio);
    const image = new ImageData(area.width, area.height), pixels = new Uint32Array(image.data.buffer), chosen = numberOfBlock(model, values.block);
    const how = drawMap(pixels, area, model, heap, values, {empty: parseColour(colourOf('empty')), reserved: parseColour(colourOf('unused')), dots: parseColour(colourOf('muted'))}, ratio);
    context.putImageData(image, Math.round(view.scale.left * ratio), Math.round(MAP_TOP * ratio));
    drawLanes(context, model, heap, view, plotHeight);
    drawPlaces(context, view.scale, MAP_HEIGHT - MAP_BOTTOM + 4);
    drawCursor(context, values, heap, view.scale, MAP_TOP, MAP_HEIGHT - MAP_BOTTOM);
    if (values.since !== null)
        drawCursor(context, {at: values.since}, heap, view.scale, MAP_TOP, MAP_HEIGHT - MAP_BOTTOM);
    if (chosen >= 0)
        outline(context, model, heap, view, plotHeight, chosen, colourOf('card'), colourOf('ink'));
    if (!how.isExact && !model.hasAllBlocks && model.blocks !== null)
        return say('Shares of what was in use: outside of the ranges above not every block is in this page.');
    return how.isExact ? sayWith('{count} blocks in view, each drawn by itself.', {count: formatCount(how.count)}) : say('More blocks in view than pixels: shares of what was in use; a closer range draws each block.');
}

/* The box that is being dragged; a flat one is a range of time alone. */
function paintBox(context, drag) {
    if (!drag)
        return;
    const isFlat = Math.abs(drag.to.y - drag.from.y) <= 24;
    context.fillStyle = colourOf('brush');
    context.fillRect(Math.min(drag.from.x, drag.to.x), isFlat ? MAP_TOP : Math.min(drag.from.y, drag.to.y), Math.abs(drag.to.x - drag.from.x), isFlat ? MAP_HEIGHT - MAP_TOP - MAP_BOTTOM : Math.abs(drag.to.y - drag.from.y));
}

/* Beside the pointer, on the side where there is room. */
function showTip(tip, model, heap, number, at, width) {
    const facts = new Map(blockFacts(model, heap, number)), isRight = at.x > width / 2;
    put(tip, make('b', null, `${formatBytes(model.blocks.size_bytes[number])}  ${facts.get('site')}`), make('br'), `${say('born')} ${facts.get('born')}`, make('br'), `${say('freed')} ${facts.get('freed')}`);
    tip.style.left = isRight ? 'auto' : `${at.x + 14}px`;
    tip.style.right = isRight ? `${width - at.x + 14}px` : 'auto';
    tip.style.top = `${Math.max(0, at.y - 20)}px`;
}

const KIND_LABELS = {peak: 'peak', end: 'end', failure: 'failure', leak: 'leak'};

/* Not all blocks fitted: which are here, in words, and a button for each range of events of which all are. */
function showWindows(model, heap, state) {
    if (model.hasAllBlocks || model.blocks === null || model.kept === null)
        return null;
    const {kept_count: keptCount, block_count: blockCount, reach} = model.kept, windows = model.windows.get(heap.heap_id) ?? [];
    const amounts = {kept: formatCount(keptCount), all: formatCount(blockCount), reach: formatCount(reach)};
    const sentence = reach === null ? sayWith('None of {all} blocks fitted into this page one by one (npumem report --max-size): the map is shares of what was in use.', amounts)
        : sayWith('{kept} of {all} blocks are in this page one by one (npumem report --max-size): each that lived within {reach} events of the peak, the end, a failure or a leak, as far as the buttons go. There the map and what was live are exact.', amounts);
    const nameOf = (window) => [...new Set(window.anchors.map((anchor) => say(KIND_LABELS[ANCHOR_KINDS[anchor.kind]])))].join(', ');
    const rangeOf = (window) => ({from: Math.max(heap.input.first, window.from), to: Math.min(heap.input.last, window.to + 1)});
    return [make('p', {class: 'note', id: 'map-kept'}, sentence), make('div', {class: 'row', id: 'map-windows'}, windows.map((window) => make('button', {class: 'plain', onclick: () => state.set({...rangeOf(window), low: null, high: null})}, nameOf(window))))];
}

/* Why a heap has no map. */
function missingText(model, heap) {
    const roles = rolesOf(model);
    if (roles.size > 0 && ![...roles.keys()].includes(heap.process_id) && model.heaps.some((one) => one.cells !== null))
        return say('Of many ranks this page has maps of the first that failed, of the highest peak and of the median alone: npumem report with the database of this rank shows its own.');
    if (heap.input.detail === 'all' && !model.blockRanges.has(heap.heap_id))
        return say('No block of this heap has an address in this input, so there is no map of it: the timeline says what it held.');
    return say('Rows of single allocations are not in this database (npumem ingest --detail all), so there is no map of this heap.');
}

export function makeMap(model, state) {
    const heapOf = () => model.heapById.get(state.values.heap) ?? model.best;
    const tip = make('div', {class: 'tip', hidden: true}), legend = make('div', {class: 'legends'}), side = make('div', {class: 'side', 'aria-live': 'polite'}), word = make('p', {class: 'tell'}), tools = make('div', {class: 'row'}), numbers = make('div'), kept = make('div'), labels = make('div');
    let drag = null;

    const draw = (context, width, height, ratio) => {
        context.clearRect(0, 0, width, height);
        if (heapOf().cells) {
            put(word, paintMap(context, width, ratio, model, heapOf(), state.values));
            showLabels(labels, model, heapOf(), viewOf(heapOf(), state.values, width), state.values);
        }
        paintBox(context, drag);
    };
    const picture = makeCanvas(MAP_HEIGHT, draw, {id: 'map-canvas', tabindex: 0, role: 'img', class: 'chart'});
    const numberAt = (at) => {
        const heap = heapOf(), view = viewOf(heap, state.values, picture.canvas.clientWidth);
        if (!heap.cells || at.x < view.scale.left || at.x > view.scale.right || at.y < MAP_TOP || at.y > MAP_HEIGHT - MAP_BOTTOM)
            return -1;
        const ratio = window.devicePixelRatio || 1, area = pixelView(view, view.scale.right - view.scale.left, MAP_HEIGHT - MAP_TOP - MAP_BOTTOM, ratio);
        return blockAt(model, heap, area, at.x * ratio - Math.round(view.scale.left * ratio), at.y * ratio - Math.round(MAP_TOP * ratio), REACH * ratio);
    };

    function hover(at, start) {
        drag = at && start ? {from: start, to: at} : null;
        const number = at && !start ? numberAt(at) : -1;
        tip.hidden = number < 0;
        if (number >= 0)
            showTip(tip, model, heapOf(), number, at, picture.canvas.clientWidth);
        if (start)
            picture.redraw();
    }

    listenDrag(picture.canvas, (from, to) => {
        drag = null;
        state.set(brushedArea(heapOf(), state.values, picture.canvas, from, to));
    }, (at) => {
        drag = null;
        const number = numberAt(at), heap = heapOf();
        state.set({block: number < 0 ? null : model.blocks.allocation_id[number], at: String(Math.round(viewOf(heap, state.values, picture.canvas.clientWidth).scale.toSeq(at.x)))});
    }, hover);
    listenKeys(picture.canvas, heapOf, state);
    picture.canvas.addEventListener('keydown', (event) => {
        const step = {ArrowDown: 1, ArrowUp: -1}[event.key], heap = heapOf(), seq = momentSeq(heap, state.values.at);
        if (!step || !heap.cells || seq === null)
            return;
        event.preventDefault();
        const number = blockBeside(model, heap, viewOf(heap, state.values, picture.canvas.clientWidth), seq, numberOfBlock(model, state.values.block), step);
        state.set({block: number < 0 ? null : model.blocks.allocation_id[number]});
    });

    const element = make('div', null, kept, tools, legend, make('div', {class: 'canvasbox'}, picture.canvas, labels, tip), word, side, numbers);
    const update = (values) => {
        const heap = heapOf(), has = heap.cells !== null;
        element.classList.toggle('none', !has);
        put(tools, has && make('span', {class: 'note'}, say('colour by')), has && ['site', 'verdict', 'category', 'age', ...groupingsOf(model, heap).filter((kind) => kind === 'stream' || kind === 'private pool')].map((kind) => makeChoice(kind, values.colour === kind, () => state.set({colour: kind}))),
            has && (values.low !== null || values.from !== null) && make('button', {class: 'plain', onclick: () => state.set({from: null, to: null, low: null, high: null})}, say('whole picture')), has && values.from !== null && make('span', {class: 'part'}, partWord(model, heap, values)));
        put(legend, has && showLegend(model, heap, values, state));
        const chosen = numberOfBlock(model, values.block);
        put(side, chosen >= 0 ? showBlock(model, heap, chosen, state) : make('p', {class: 'note'}, has ? say('Click a block: its stack and its life stand here.') : missingText(model, heap)));
        put(kept, has && showWindows(model, heap, state));
        put(numbers, has && makeNumbers('Largest blocks in view', BLOCK_COLUMNS, () => largestBlocks(model, heap, viewOf(heap, values, Math.max(200, picture.canvas.clientWidth)))));
        picture.canvas.setAttribute('aria-label', sayWith('map of {heap}: addresses down, time to the right; the largest blocks stand in the table below', {heap: sayPlace(heap.label)}));
        picture.redraw();
    };
    return {id: 'map', title: 'Map', note: 'address \u00d7 time; drag for a closer look, click a block for its stack', uses: ['heap', 'from', 'to', 'low', 'high', 'at', 'since', 'axis', 'colour', 'site', 'search', 'block', 'theme'], element, update};
}
