/* SPDX-License-Identifier: Apache-2.0
 *
 * What lies beside each other on the map and on the bars of segments is told apart without colours: each pair differs by 3 to 1 in lightness, or by
 * patterns that are 3 to 1 in themselves; for three kinds of colour blindness and in grey, light and dark. Sites are no such pair: their names tell.
 */
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {AGE_COLOURS} from '../../src/page/web/data/ages.mjs';
import {makeTile, TILES} from '../../src/page/web/data/raster.mjs';
import {LEAK, paintOf, PALETTE, partsOf, REST} from '../../src/page/web/pictures/colours.mjs';

const LEAST = 3;

/* How much light a colour gives, and the ratio of two, as WCAG 2 defines them. */
const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
const lightOf = (rgb) => 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
const contrastOf = (a, b) => (Math.max(lightOf(a), lightOf(b)) + 0.05) / (Math.min(lightOf(a), lightOf(b)) + 0.05);

/* What is left of a colour without one kind of cones (Machado, Oliveira and Fernandes 2009, whole severity, on linear parts), and in grey. */
const SEEN = {
    all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    grey: [[0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722]],
};
const seenAs = (colour, kind) => SEEN[kind].map((row) => Math.min(1, Math.max(0, partsOf(colour).reduce((sum, part, i) => sum + row[i] * linear(part / 255), 0))));
const ratioIn = (kind, a, b) => contrastOf(seenAs(a, kind), seenAs(b, kind));

/* [light, dark]: the colours of page.css by name. */
const css = readFileSync(new URL('../../src/page/web/page.css', import.meta.url), 'utf8');
const THEMES = [':root {', ':root[data-theme="dark"] {'].map((head) => {
    const begin = css.indexOf(head), block = css.slice(begin, css.indexOf('}', begin));
    return Object.fromEntries([...block.matchAll(/--(\w+): (#\w{6})[;\s]/g)].map((found) => [found[1], found[2]]));
});

const flat = (name, colour) => ({name, pattern: null, colours: [colour]});
const SITES = [...PALETTE, REST, ...AGE_COLOURS];

/* {what lies on the map, what lies on a bar}, each [{name, pattern, colours}]; of blocks of sites those that have a stack from before the recording too. */
function placesOf(theme) {
    const named = ['leak', '(baseline)', '(no stack)'].map((name) => {
        const {pattern, ground, line} = paintOf(name, new Set(['leak']));
        return {name, pattern, colours: [ground, line]};
    });
    const sites = SITES.map((colour) => flat(`site ${colour}`, colour)), free = {name: 'free', pattern: 'dotted', colours: [theme.unused, theme.muted]};
    const hollow = SITES.map((colour) => ({name: `rounding of ${colour}`, pattern: 'hollow', colours: [colour, theme.card]}));
    return {map: [...named, ...sites, free, flat('not reserved', theme.empty)], bar: [...named, ...sites, ...hollow, free, {name: 'pending', pattern: 'barred', colours: [theme.stuck, theme.card]}, flat('the ground', theme.card)]};
}

/* How much two differ: by lightness, or by patterns, which count as much as the weaker one has in itself. */
function differenceIn(kind, a, b) {
    const inside = (one) => (one.pattern === null ? Infinity : ratioIn(kind, ...one.colours));
    return a.pattern === b.pattern ? Math.max(...a.colours.map((colour, i) => ratioIn(kind, colour, b.colours[i]))) : Math.min(inside(a), inside(b));
}

test('each pair that lies side by side differs by 3 to 1, or by its pattern', () => {
    let pairs = 0;
    for (const [number, theme] of THEMES.entries())
        for (const [where, all] of Object.entries(placesOf(theme)))
            for (const [i, a] of all.entries())
                for (const b of all.slice(i + 1).filter((one) => !(a.name.startsWith('site') && one.name.startsWith('site')) && !(a.pattern === 'hollow' && one.pattern === 'hollow')))
                    for (const kind of Object.keys(SEEN)) {
                        const difference = differenceIn(kind, a, b);
                        assert.ok(difference >= LEAST, `${['light', 'dark'][number]}, ${where}, ${kind}: ${a.name} and ${b.name} differ by ${difference}`);
                        pairs++;
                    }
    assert.ok(pairs > 5000, `${pairs} pairs`);
});

test('what is chosen has two lines around it, of which one differs by 3 to 1 from whatever lies there', () => {
    for (const theme of THEMES)
        for (const kind of Object.keys(SEEN)) {
            assert.ok(ratioIn(kind, theme.ink, theme.card) >= LEAST);
            for (const {name, colours} of Object.values(placesOf(theme)).flat())
                for (const colour of colours)
                    assert.ok(Math.max(ratioIn(kind, theme.ink, colour), ratioIn(kind, theme.card, colour)) >= LEAST, `${name} in ${kind}`);
        }
});

test('patterns are different ones, as small and as large as a screen makes them', () => {
    for (const ratio of [1, 1.25, 2, 3]) {
        const tiles = Object.keys(TILES).map((name) => [name, makeTile(name, ratio)]), at = ({size, tile}, x, y) => tile[y % size * size + x % size];
        for (const [name, one] of tiles) {
            const share = one.tile.reduce((sum, has) => sum + has, 0) / one.tile.length;
            assert.ok(share > 0.02 && share < 0.6, `${name}: ${share} of it are lines`);
            for (const [other, two] of tiles.filter(([also]) => also > name)) {
                let differ = 0;
                for (let y = 0; y < 120; y++)
                    for (let x = 0; x < 120; x++)
                        differ += Number(at(one, x, y) !== at(two, x, y));
                assert.ok(differ / 14400 > 0.15, `${name} and ${other} at ${ratio}: ${differ / 14400}`);
            }
        }
    }
});

test('sites differ from each other and from a leak as far as colours are seen', () => {
    const distance = (a, b) => Math.hypot(...partsOf(a).map((part, i) => part - partsOf(b)[i]));
    for (const colours of [[...PALETTE, REST, LEAK], AGE_COLOURS])
        for (const [i, one] of colours.entries())
            for (const other of colours.slice(i + 1))
                assert.ok(distance(one, other) > 20, `${one} and ${other}`);
});

test('black and white are 21 to 1, and who sees no red sees little of it', () => {
    assert.ok(Math.abs(contrastOf([1, 1, 1], [0, 0, 0]) - 21) < 1e-9);
    assert.ok(Math.abs(ratioIn('grey', '#777777', '#ffffff') - 4.478) < 0.001, 'as WCAG has it of this grey');
    assert.ok(lightOf(seenAs('#ff0000', 'protanopia')) < lightOf(seenAs('#ff0000', 'all')));
});
