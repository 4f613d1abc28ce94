/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks as an icicle: the outermost caller on top, as wide as what was live below it. A click makes a part the whole picture, and buttons
 * above it lead back.
 */
import {LEAK, PALETTE} from './colours.mjs';
import {make} from './dom.mjs';
import {formatBytes, formatCount, formatPercent} from '../state/format.mjs';
import {say, sayName, sayWith} from '../state/words.mjs';

/* What the whole is called, unless it has a name of its own. */
export const ROOT = 'all';
const ROW_HEIGHT = 22, NARROWEST = 0.004, DEPTH_MAX = 60, TAIL = 8;

/* A stack from its outermost frame to its site, without plumbing. Pure. */
export function pathOf(model, stackId) {
    const site = model.stacks.siteOf(stackId), path = [];
    for (const frame of model.stacks.walk(stackId)) {
        if (frame.isPlumbing && frame.label !== site)
            continue;
        path.push(frame.label);
    }
    const at = path.indexOf(site);
    const outwards = at < 0 ? [site, ...path] : path.slice(at);
    return outwards.reverse().slice(0, DEPTH_MAX);
}

/* sums: [{path, bytes, count}]. Nodes: {label, bytes, count, children}, the largest child first. Pure. */
export function makeTree(sums) {
    const root = {label: ROOT, bytes: 0, count: 0, children: new Map()};
    for (const {path, bytes, count} of sums) {
        let node = root;
        node.bytes += bytes;
        node.count += count;
        for (const label of path) {
            if (!node.children.has(label))
                node.children.set(label, {label, bytes: 0, count: 0, children: new Map()});
            node = node.children.get(label);
            node.bytes += bytes;
            node.count += count;
        }
    }
    return settle(root);
}

function settle(node) {
    node.children = [...node.children.values()].sort((a, b) => b.bytes - a.bytes || (a.label < b.label ? -1 : 1)).map(settle);
    return node;
}

/* Chains of single callers above the first fork say nothing: the picture begins there, and `above` is how many were left out. Pure. */
export function skipTrunk(node) {
    let top = node, above = 0;
    for (; top.children.length === 1 && top.children[0].bytes === top.bytes && top.children[0].children.length > 0; above++)
        top = top.children[0];
    return {...top, above: Math.max(0, above - 1)};
}

/* The nodes from the whole to the one that a path of labels leads to, as far as it does. Pure. */
export function nodesAlong(tree, path) {
    const nodes = [tree];
    for (const label of path) {
        const next = nodes[nodes.length - 1].children.find((child) => child.label === label);
        if (!next)
            break;
        nodes.push(next);
    }
    return nodes;
}

/* What of a tree passes a filter, with all that is below that: {bytes, count}. Pure. */
export function sumFound(node, filter) {
    if (filter(node.label))
        return {bytes: node.bytes, count: node.count};
    return node.children.map((child) => sumFound(child, filter)).reduce((sum, one) => ({bytes: sum.bytes + one.bytes, count: sum.count + one.count}), {bytes: 0, count: 0});
}

/* The two parts of a name of which the first is shortened at its end, so that all of it is in its middle. Pure. */
export function splitName(name, width) {
    const tail = width > 0.06 && name.length > 2 * TAIL ? TAIL : 0;
    return [name.slice(0, name.length - tail), name.slice(name.length - tail)];
}

function colourFor(label) {
    let hash = 0;
    for (let i = 0; i < label.length; i++)
        hash = (hash * 31 + label.charCodeAt(i)) >>> 0;
    return PALETTE[hash % PALETTE.length];
}

/* What the root of a picture is called. */
function rootName(tree) {
    return tree.label === ROOT ? say(ROOT) : sayName(tree.label);
}

/* '+' and '-' stand before the name and before the bytes, so that nobody has to tell them by the picture. */
function cellTexts(node, tree, look) {
    const name = node === tree ? rootName(tree) : sayName(node.label), amounts = {name, bytes: `${look.sign}${formatBytes(node.bytes)}`, share: formatPercent(node.bytes / tree.bytes), count: formatCount(node.count)};
    return {name: `${look.sign}${look.sign && ' '}${name}`, text: sayWith(look.text, amounts)};
}

function makeIcicleCell(node, tree, place, look) {
    const {name, text} = cellTexts(node, tree, look), isFound = look.filter(node.label), [head, tail] = splitName(place.level === 0 ? text : name, place.width);
    return make('button', {class: `cell${isFound ? look.isSearching ? ' found' : '' : ' dim'}${look.leaks.has(node.label) ? ' striped' : ''}`, role: 'treeitem', 'aria-level': place.level + 1, title: text, 'aria-label': text, tabindex: place.level === 0 ? 0 : -1, onclick: place.onclick,
        style: `left:${(place.left * 100).toFixed(3)}%;width:${(place.width * 100).toFixed(3)}%;top:${place.level * ROW_HEIGHT}px;--cell:${place.colour}`}, place.width > 0.03 && [make('span', {class: 'start'}, head), tail]);
}

function listenArrows(box, goUp) {
    box.addEventListener('keydown', (event) => {
        const cells = [...box.children], at = cells.indexOf(document.activeElement), next = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
        if (event.key === 'Escape')
            goUp();
        if (at < 0 || !next || !cells[at + next])
            return;
        event.preventDefault();
        cells[at + next].focus();
    });
}

/* Where the picture is in the whole, as buttons that lead back, and what of it the search finds. */
function makeCrumbs(tree, nodes, look) {
    const {bytes, count} = look.isSearching ? sumFound(nodes[nodes.length - 1], look.filter) : {}, isZoomed = nodes.length > 1;
    return [(isZoomed || tree.above > 0) && make('nav', {class: 'row crumbs', 'aria-label': say('where the picture is')}, tree.above > 0 && make('span', {class: 'note'}, sayWith('{count} callers of all of it \u203a', {count: formatCount(tree.above)})),
        isZoomed && nodes.map((node, i) => (i === nodes.length - 1 ? make('b', null, i === 0 ? rootName(tree) : sayName(node.label)) : [make('button', {class: 'link', onclick: () => look.onZoom(nodes.slice(1, i + 1).map((one) => one.label))}, i === 0 ? rootName(tree) : sayName(node.label)), ' \u203a ']))),
        look.isSearching && make('p', {class: 'tell'}, sayWith('The search finds {bytes} in {count} blocks of the picture, {share}.', {bytes: formatBytes(bytes), count: formatCount(count), share: formatPercent(bytes / nodes[nodes.length - 1].bytes)}))];
}

const LIVE_LOOK = {label: 'what is live, each part below what it is part of', text: '{name}: {bytes}, {share}, {count} blocks', sign: '', zoom: [], onZoom: null, isSearching: false};

/* A leak is red wherever it is; else as the look says of what is that far down, by what is above it, and without a word by its name. */
function colourBelow(look, node, level, above) {
    return level === 0 ? 'var(--muted)' : look.leaks.has(node.label) ? LEAK : look.colourOf ? look.colourOf(node.label, level, above) : colourFor(node.label);
}

/*
 * look: {leaks, filter, isSearching, colourOf(label, level, colour above), onChoose(label) or, where a click goes into the picture, zoom and onZoom(a path of labels)}, and
 * where it is not of what is live {label, text, sign, whole: the bytes that all the width stands for}.
 */
export function makeIcicle(tree, ownLook) {
    const look = {...LIVE_LOOK, ...ownLook}, nodes = nodesAlong(tree, look.zoom), top = nodes[nodes.length - 1], trunk = nodes.slice(1).map((node) => node.label), whole = look.whole ?? top.bytes, box = make('div', {class: 'icicle', role: 'tree', 'aria-label': say(look.label)});
    const goUp = () => look.onZoom && trunk.length > 0 && look.onZoom(trunk.slice(0, -1)), choose = (node, path) => (look.onZoom ? (node === top ? goUp() : look.onZoom(path)) : look.onChoose(node.label));
    let depth = 0;
    const place = (node, path, level, left, width, above) => {
        if (width < NARROWEST || level > DEPTH_MAX)
            return;
        depth = Math.max(depth, level);
        const colour = colourBelow(look, node, path.length, above);
        box.append(makeIcicleCell(node, tree, {level, left, width, colour, onclick: () => choose(node, path)}, look));
        let at = left;
        for (const child of node.children) {
            const share = whole > 0 ? child.bytes / whole : 0;
            place(child, [...path, child.label], level + 1, at, share, colour);
            at += share;
        }
    };
    place(top, trunk, 0, 0, whole > 0 ? Math.max(NARROWEST, top.bytes / whole) : 1, nodes.slice(0, -1).reduce((above, node, level) => colourBelow(look, node, level, above), null));
    box.style.height = `${(depth + 1) * ROW_HEIGHT}px`;
    listenArrows(box, goUp);
    return make('div', null, makeCrumbs(tree, nodes, look), box);
}

/* A heading and an icicle for what was added and one for what was taken away, as wide as their bytes beside each other. parts: [{id, sign, title, label, tree}];
 * a part without bytes is its title alone. */
export function makeSignedIcicles(parts, look) {
    const whole = Math.max(...parts.map((part) => nodesAlong(part.tree, look.zoom ?? []).pop().bytes));
    return parts.map(({id, sign, title, label, tree}) => make('div', {id}, make('h3', null, title), tree.bytes > 0 && makeIcicle(tree, {...look, whole, sign, label})));
}
