/* SPDX-License-Identifier: Apache-2.0
 *
 * What a heap was made of at a moment, and what came, went and stayed since another. At its peak the views know the most of it, whatever the
 * database holds of single allocations; everything else is counted block by block, which is exact where all of them are here.
 */
import {coloursBy, siteColours} from '../pictures/colours.mjs';
import {make, makeChoice, put} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatPercent} from '../state/format.mjs';
import {differenceOf, groupBlocks, groupRows, groupingsOf, isCounted, NO_STACK} from '../data/groups.mjs';
import {makeIcicle, makeSignedIcicles, makeTree, pathOf, ROOT, skipTrunk} from '../pictures/icicle.mjs';
import {isWhole, liveBlocks, withSegments} from '../data/model.mjs';
import {makeColouring} from './map.mjs';
import {makeMomentChoice, momentText} from './moment.mjs';
import {makeStack} from '../pictures/stack.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeBar, makeTable} from '../pictures/table.mjs';
import {momentSeq} from './timeline.mjs';
import {say, sayName, sayPlace, sayWith} from '../state/words.mjs';

function viewRows(model, heap, table, name) {
    return (model.byPlace(table).get(heap.place) ?? []).map((row) => ({key: row[name], name: row[name], bytes: row.live_bytes, count: row.live_count, stack: row.top_stack_id ?? null, stacks: null, isEstimate: row.is_estimate === 1, parent: row.parent ?? null}));
}

/* All blocks of a site are of one file, so that files are sums of sites. Pure. */
export function filesOfSites(model, sites) {
    const files = new Map();
    for (const row of sites) {
        const name = row.stack === null ? row.name : model.stacks.fileOf(row.stack), file = files.get(name) ?? {...row, name, bytes: 0, count: 0};
        file.bytes += row.bytes;
        file.count += row.count;
        files.set(name, file);
    }
    return [...files.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

/* What views say of the peak; null: they do not know. */
function peakRows(model, heap, kind) {
    if (kind === 'category' || kind === 'module')
        return viewRows(model, heap, `peak_${kind}`, kind);
    const sites = viewRows(model, heap, 'peak_site', 'site');
    return kind === 'site' ? sites : kind === 'file' ? filesOfSites(model, sites) : null;
}

/* Numbers of the blocks that are live at a moment; null: not all are here. */
function countedBlocks(model, heap, at) {
    const seq = momentSeq(heap, at);
    return seq !== null && isCounted(model, heap, seq) ? liveBlocks(model, heap.heap_id, seq) : null;
}

/* [{name, bytes, count, stack, isEstimate, parent}], the largest first; null: not known at this moment. Pure. */
export function liveGroups(model, heap, at, kind) {
    const known = at === 'peak' ? peakRows(model, heap, kind) : null;
    if (known !== null)
        return known;
    const numbers = countedBlocks(model, heap, at);
    if (numbers !== null)
        return groupRows(model, numbers, kind);
    return at === 'peak' && kind === 'stack' ? peakRows(model, heap, 'site') : null;
}

/* The path of a stack in an icicle: by site from the site outwards, by others below the group that it is in. Pure. */
export function groupPath(model, kind, name, stackId) {
    const path = Number.isNaN(stackId) || stackId === null ? [NO_STACK] : pathOf(model, stackId);
    if (kind === 'stack')
        return path;
    return kind === 'site' ? [name, ...path.slice(0, -1).reverse()] : [name, ...path];
}

/* Blocks as a tree: of groups, and of stacks below each. Pure. */
export function blockTree(model, numbers, kind) {
    const groups = groupBlocks(model, numbers, kind);
    const tree = makeTree(groups.flatMap(({name, stacks}) => [...stacks].map(([stackId, sum]) => ({path: groupPath(model, kind, name, stackId), ...sum}))));
    return kind === 'stack' ? skipTrunk(tree) : tree;
}

/* Where blocks are not here: sites by their largest stacks, other groups as they are. */
function rowTree(model, rows, kind) {
    const tree = makeTree(rows.map((row) => ({path: kind === 'stack' && row.stack !== null ? pathOf(model, row.stack) : [row.name], bytes: row.bytes, count: row.count})));
    return kind === 'stack' ? skipTrunk(tree) : tree;
}

function moduleTree(rows) {
    const nodes = new Map(rows.map((row) => [row.name, {label: row.name, bytes: row.bytes, count: row.count, children: []}])), root = {label: ROOT, bytes: 0, count: 0, children: []};
    for (const row of rows) {
        const parent = row.parent !== null && nodes.has(row.parent) ? nodes.get(row.parent) : root;
        parent.children.push(nodes.get(row.name));
        if (parent === root) {
            root.bytes += row.bytes;
            root.count += row.count;
        }
    }
    return root;
}

function treeOf(model, heap, values, rows) {
    if (values.group === 'module')
        return moduleTree(rows);
    const numbers = countedBlocks(model, heap, values.at);
    return numbers === null ? rowTree(model, rows, values.group) : blockTree(model, numbers, values.group);
}

/* Rows that are parts of others do not count twice. */
function sumOf(rows) {
    return rows.filter((row) => !row.parent).reduce((sum, row) => sum + row.bytes, 0);
}

const TITLES = {site: 'site', category: 'category', module: 'module', file: 'file', stack: 'stack', operation: 'operation', stream: 'stream', 'private pool': 'private pool'};

function nameColumn(model, kind) {
    return {title: TITLES[kind], key: 'name', className: 'site',
        show: (row) => make('span', null, sayName(row.name), model.leakSites.has(row.name) && make('b', {class: 'leaks'}, say('leak')), row.isEstimate && make('span', {class: 'note'}, ` ${say('inferred')}`))};
}

/* What a click on a row does, where rows are of code: its stack opens. */
function rowOptions(model, kind, values, state, caption) {
    if (kind === 'site')
        return {caption, isChosen: (row) => values.site === row.name, onRow: (row) => state.set({site: values.site === row.name ? null : row.name}), more: (row) => makeStack(model, row.stack)};
    if (kind === 'stack')
        return {caption, isChosen: (row) => values.stack !== null && values.stack === row.stack, onRow: (row) => state.set({stack: values.stack === row.stack ? null : row.stack}), more: (row) => makeStack(model, row.stack)};
    return {caption};
}

function bytesColumn(title, key) {
    return {title, key, isNumber: true, show: (row) => formatBytes(row[key])};
}

function countColumn(title, key) {
    return {title, key, isNumber: true, show: (row) => formatCount(row[key])};
}

/* What stands for a group: where the map can be coloured by it, the same. */
function groupColours(model, heap, kind, rows) {
    return ['stream', 'private pool'].includes(kind) ? makeColouring(model, heap, {colour: kind}).colour : coloursBy(model, heap, kind, rows.map((row) => row.name));
}

function groupTable(model, rows, colour, values, state) {
    const whole = sumOf(rows);
    const columns = [nameColumn(model, values.group), bytesColumn('size', 'bytes'), {title: 'share', key: 'bytes', show: (row) => makeBar(row.bytes / whole, formatPercent(row.bytes / whole), colour(row.name), model.leakSites.has(row.name))}, countColumn('blocks', 'count')];
    return makeTable(columns, rows, rowOptions(model, values.group, values, state, 'what is live'));
}

/* Of stacks each site has its colour and what calls it none; of all else what is below a group has that of the group. */
function icicleLook(model, heap, colour, values, state) {
    const sites = new Set(siteColours(model, heap).names), colourOf = (label, level, above) => (values.group === 'stack' ? (sites.has(label) ? colour(label) : 'var(--line)') : level === 1 ? colour(label) : above);
    const onZoom = (path) => state.set({zoom: path.join('\n') || null, site: path.findLast((label) => sites.has(label)) ?? null});
    return {leaks: model.leakSites, colourOf, filter: makeFilter(values.search), isSearching: Boolean(values.search), zoom: values.zoom?.split('\n') ?? [], onZoom};
}

/* What is live at one moment. */
function showMoment(model, heap, values, state) {
    const rows = liveGroups(model, heap, values.at, values.group);
    if (rows === null)
        return make('p', {class: 'note'}, say('Only the peak is known here, by site, file, category and module: not every single allocation is in this page.'));
    if (rows.length === 0)
        return make('p', {class: 'note'}, say('Nothing was live.'));
    const colour = groupColours(model, heap, values.group, rows), table = groupTable(model, rows, colour, values, state);
    table.update(makeFilter(values.search));
    return [makeIcicle(treeOf(model, heap, values, rows), icicleLook(model, heap, colour, values, state)), table.element];
}

function signedBytes(bytes) {
    return `${bytes > 0 ? '+' : ''}${formatBytes(bytes)}`;
}

const CHANGE_COLUMNS = [bytesColumn('came', 'came_bytes'), countColumn('blocks', 'came_count'), bytesColumn('went', 'went_bytes'), countColumn('blocks', 'went_count'), bytesColumn('stayed', 'stayed_bytes'), countColumn('blocks', 'stayed_count'),
    {title: 'difference', key: 'net_bytes', isNumber: true, show: (row) => signedBytes(row.net_bytes)}];

/* What came and what went, each as a picture with its sign. */
function showParts(model, heap, change, amounts, values, state) {
    const treeOfBlocks = (numbers) => (values.group === 'module' ? moduleTree(groupRows(model, numbers, 'module')) : blockTree(model, numbers, values.group));
    return makeSignedIcicles([{id: 'live-came', sign: '+', title: sayWith('What came: {amount}', {amount: `+${amounts.came}`}), label: 'what came, each part below what it is part of', tree: treeOfBlocks(change.came)},
        {id: 'live-went', sign: '-', title: sayWith('What went: {amount}', {amount: `-${amounts.went}`}), label: 'what went, each part below what it is part of', tree: treeOfBlocks(change.went)}], icicleLook(model, heap, groupColours(model, heap, values.group, change.rows), values, state));
}

/* What came, went and stayed from the earlier of two moments to the later. */
function showChange(model, heap, values, state) {
    const [from, to] = [values.since, values.at].sort((a, b) => momentSeq(heap, a) - momentSeq(heap, b)), ends = [from, to].map((at) => momentSeq(heap, at));
    if (ends.includes(null) || !ends.every((seq) => isCounted(model, heap, seq)))
        return make('p', {class: 'note'}, say('What changed is not known here: not every single allocation is in this page.'));
    const change = differenceOf(model, heap.heap_id, ...ends, values.group), {whole, rows} = change, table = makeTable([nameColumn(model, values.group), ...CHANGE_COLUMNS], rows, rowOptions(model, values.group, values, state, 'what came, went and stayed'));
    const amounts = Object.fromEntries(['came', 'went', 'stayed'].map((part) => [part, sayWith('{bytes} in {count} blocks', {bytes: formatBytes(whole[`${part}_bytes`]), count: formatCount(whole[`${part}_count`])})]));
    table.update(makeFilter(values.search));
    return [make('p', {id: 'live-change'}, sayWith('From {from} to {to}: {came} came, {went} went, {stayed} stayed; {net} in all.', {from: momentText(heap, from), to: momentText(heap, to), ...amounts, net: signedBytes(whole.net_bytes)})),
        showParts(model, heap, change, amounts, values, state), table.element];
}

function makeTools(model, heap, values, state) {
    const pick = (at) => state.set({at}), compare = (since) => state.set({since}), hasRange = values.from !== null && values.to !== null;
    return [make('div', {class: 'row'}, make('span', {class: 'note'}, say('by')), groupingsOf(model, heap).map((kind) => makeChoice(kind, values.group === kind, () => state.set({group: kind, zoom: null})))),
        make('div', {class: 'row', id: 'live-at'}, make('span', {class: 'note'}, say('at')), makeMomentChoice(heap, values.at, say('at'), pick)),
        (isWhole(heap.input) || values.since !== null) && make('div', {class: 'row', id: 'live-since'}, make('span', {class: 'note'}, say('compared with')), makeChoice('nothing', values.since === null, () => compare(null)), makeMomentChoice(heap, values.since, say('compared with'), compare),
            makeChoice('this moment', values.since !== null && values.since === values.at, () => compare(values.at)), hasRange && makeChoice('begin and end of the range', false, () => state.set({since: String(values.from), at: String(values.to)})))];
}

export function makeLive(model, state) {
    const body = make('div'), tools = make('div'), word = make('p', {class: 'tell', id: 'live-moment'});
    let known = '';
    const update = (values) => {
        const heap = model.heapById.get(values.heap) ?? model.best, whole = withSegments(model, heap), kinds = groupingsOf(whole, heap), own = {...values, group: kinds.includes(values.group) ? values.group : 'site'};
        const key = JSON.stringify([heap.heap_id, own.at, own.since, own.group, own.search, own.found, own.zoom, own.site, own.stack, own.theme, own.from, own.to, model.blocks !== null]);
        if (key === known)
            return;
        known = key;
        put(tools, makeTools(whole, heap, own, state));
        put(word, sayWith('{heap}, at {moment}', {heap: sayPlace(heap.label), moment: momentText(heap, own.at)}));
        const hadFocus = document.activeElement?.closest('.icicle, .crumbs') && body.contains(document.activeElement);
        put(body, own.since === null ? showMoment(whole, heap, own, state) : showChange(whole, heap, own, state));
        if (hadFocus)
            body.querySelector('.icicle .cell')?.focus();
    };
    return {id: 'live', title: 'What is live', note: 'at the moment that is picked; compared with another: what came, went and stayed', uses: ['heap', 'at', 'since', 'group', 'search', 'zoom', 'site', 'stack', 'theme', 'from', 'to'], element: make('div', null, tools, word, body), update};
}
