/* SPDX-License-Identifier: Apache-2.0
 *
 * Which colour stands for what: the largest sites of a heap have one each in all pictures and tables, the rest share a grey, and red is a leak's
 * alone. Sites are 3 to 1 in lightness from the grounds of the map and of cards, light and dark; what else lies beside each other has a pattern of
 * its own, so that it is told apart without colours (tests/web/contrast.test.mjs).
 */
import {BASELINE, keysOf, namesOf, NO_STACK} from '../data/groups.mjs';
import {remember} from '../data/model.mjs';

export const PALETTE = ['#0c79a0', '#008e00', '#cb6b57', '#9762bc', '#009686', '#aa7600', '#916452', '#5778d4', '#c9609c', '#6c7400', '#7e973f', '#71638b'];
export const LEAK = '#e02b3c';
export const REST = '#838e9d';
/* What has a pattern: {pattern, ground, line}; a leak, what was there before without a stack, and what else has none. */
const LEAK_LOOK = {pattern: 'striped', ground: LEAK, line: '#ffffff'};
const NAMELESS = new Map([[BASELINE, {pattern: 'checked', ground: '#4f5a6b', line: '#b3bcc9'}], [NO_STACK, {pattern: 'lined', ground: '#cdbb98', line: '#5f5234'}]]);

/* The look of a name; null: a colour is all of it. */
export function paintOf(name, leaks) {
    return leaks.has(name) ? LEAK_LOOK : NAMELESS.get(name) ?? null;
}

/* Of names in the order of their weight. */
export function assignColours(names, leaks) {
    const colours = new Map([...NAMELESS].map(([name, {ground}]) => [name, ground]));
    let next = 0;
    for (const name of names)
        if (leaks.has(name))
            colours.set(name, LEAK);
        else if (!colours.has(name) && next < PALETTE.length)
            colours.set(name, PALETTE[next++]);
    return {of: (name) => (leaks.has(name) ? LEAK : colours.get(name) ?? REST)};
}

/* The sites of the blocks of a heap, those that asked for most first. */
function sitesOfBlocks({blocks, blockRanges, stacks}, heap) {
    const range = blocks && blockRanges.get(heap.heap_id), ofStack = new Map(), ofSite = new Map();
    for (let i = range?.begin ?? 0; range && i < range.end; i++)
        ofStack.set(blocks.stack_id[i], (ofStack.get(blocks.stack_id[i]) ?? 0) + blocks.size_bytes[i]);
    for (const [stack, bytes] of ofStack)
        ofSite.set(stacks.siteOf(stack), (ofSite.get(stacks.siteOf(stack)) ?? 0) + bytes);
    return [...ofSite].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([site]) => site);
}

/* {names: those of the peak and then all others, the heaviest first, of(name)}: what stands for each site of a heap. */
export function siteColours(model, heap) {
    return remember(model, `site colours ${heap.heap_id}`, () => {
        const names = [...(model.byPlace('peak_site').get(heap.place) ?? []).map((row) => row.site), ...sitesOfBlocks(model, heap)];
        return {names, ...assignColours(names, model.leakSites)};
    });
}

/* The same of its categories. */
export function categoryColours(model, heap) {
    return remember(model, `category colours ${heap.heap_id}`, () => {
        const names = model.blocks === null ? [] : namesOf(model, heap, 'category', remember(model, 'category keys', () => keysOf(model, 'category'))), {of} = assignColours(names, new Set());
        return {names, of: (name) => (name === 'unknown' ? REST : of(name))};
    });
}

/* What stands for each of `names` of a kind. */
export function coloursBy(model, heap, kind, names) {
    return kind === 'site' || kind === 'stack' ? siteColours(model, heap).of : kind === 'category' ? categoryColours(model, heap).of : assignColours(names, new Set()).of;
}

/* '#rrggbb' as [r, g, b] */
export function partsOf(colour) {
    const value = parseInt(colour.slice(1), 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
}

/* A pixel of ImageData's bytes read as one number (little-endian): `share` of a colour over another. */
export function mixPixel(over, under, share) {
    const mix = (i) => Math.round(under[i] + (over[i] - under[i]) * share);
    return (255 << 24 | mix(2) << 16 | mix(1) << 8 | mix(0)) >>> 0;
}
