/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks as an icicle: the outermost caller on top, as wide as what was live below it.
 */
import {LEAK, PALETTE} from './colours.mjs';
import {make} from './dom.mjs';
import {formatBytes, formatCount, formatPercent} from '../state/format.mjs';
import {say, sayName, sayWith} from '../state/words.mjs';

/* What the whole is called, unless it has a name of its own. */
export const ROOT = 'all';
const ROW_HEIGHT = 22, NARROWEST = 0.004, DEPTH_MAX = 60;

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

/* Chains of single callers above the first fork say nothing: the picture begins there. Pure. */
export function skipTrunk(node) {
    let top = node;
    while (top.children.length === 1 && top.children[0].bytes === top.bytes && top.children[0].children.length > 0)
        top = top.children[0];
    return top;
}

function colourFor(label) {
    let hash = 0;
    for (let i = 0; i < label.length; i++)
        hash = (hash * 31 + label.charCodeAt(i)) >>> 0;
    return PALETTE[hash % PALETTE.length];
}

/* '+' and '-' stand before the name and before the bytes, so that nobody has to tell them by the picture. */
function cellTexts(node, tree, look) {
    const name = node === tree && node.label === ROOT ? say(ROOT) : sayName(node.label), amounts = {name, bytes: `${look.sign}${formatBytes(node.bytes)}`, share: formatPercent(node.bytes / tree.bytes), count: formatCount(node.count)};
    return {name: `${look.sign}${look.sign && ' '}${name}`, text: sayWith(look.text, amounts)};
}

function makeIcicleCell(node, tree, place, look) {
    const {name, text} = cellTexts(node, tree, look);
    return make('button', {class: `cell${look.filter(node.label) ? '' : ' dim'}${look.leaks.has(node.label) ? ' striped' : ''}`, role: 'treeitem', 'aria-level': place.level + 1, title: text, 'aria-label': text, tabindex: place.level === 0 ? 0 : -1, onclick: () => look.onChoose(node.label),
        style: `left:${(place.left * 100).toFixed(3)}%;width:${(place.width * 100).toFixed(3)}%;top:${place.level * ROW_HEIGHT}px;--cell:${place.colour}`}, place.width > 0.03 ? name : '');
}

function listenArrows(box) {
    box.addEventListener('keydown', (event) => {
        const cells = [...box.children], at = cells.indexOf(document.activeElement), next = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
        if (at < 0 || !next || !cells[at + next])
            return;
        event.preventDefault();
        cells[at + next].focus();
    });
}

const LIVE_LOOK = {label: 'what is live, each part below what it is part of', text: '{name}: {bytes}, {share}, {count} blocks', sign: ''};

/* A leak is red wherever it is; else as the look says of what is that far down, by what is above it, and without a word by its name. */
function colourBelow(look, node, level, above) {
    return level === 0 ? 'var(--muted)' : look.leaks.has(node.label) ? LEAK : look.colourOf ? look.colourOf(node.label, level, above) : colourFor(node.label);
}

/* look: {leaks, filter, onChoose(label), colourOf(label, level, colour above)}, and where it is not of what is live {label, text, sign, whole: the bytes that all the width stands for}. */
export function makeIcicle(tree, ownLook) {
    const look = {...LIVE_LOOK, whole: tree.bytes, ...ownLook}, box = make('div', {class: 'icicle', role: 'tree', 'aria-label': say(look.label)});
    let depth = 0;
    const place = (node, level, left, width, above) => {
        if (width < NARROWEST || level > DEPTH_MAX)
            return;
        depth = Math.max(depth, level);
        const colour = colourBelow(look, node, level, above);
        box.append(makeIcicleCell(node, tree, {level, left, width, colour}, look));
        let at = left;
        for (const child of node.children) {
            const share = look.whole > 0 ? child.bytes / look.whole : 0;
            place(child, level + 1, at, share, colour);
            at += share;
        }
    };
    place(tree, 0, 0, look.whole > 0 ? Math.max(NARROWEST, tree.bytes / look.whole) : 1, null);
    box.style.height = `${(depth + 1) * ROW_HEIGHT}px`;
    listenArrows(box);
    return box;
}

/* A heading and an icicle for what was added and one for what was taken away, as wide as their bytes beside each other. parts: [{id, sign, title, label, tree}];
 * a part without bytes is its title alone. */
export function makeSignedIcicles(parts, look) {
    const whole = Math.max(...parts.map((part) => part.tree.bytes));
    return parts.map(({id, sign, title, label, tree}) => make('div', {id}, make('h3', null, title), tree.bytes > 0 && makeIcicle(tree, {...look, whole, sign, label})));
}
