/* SPDX-License-Identifier: Apache-2.0
 *
 * The map as a picture: what a place of it stands for.
 */
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {drawRectangle} from '../../src/page/web/data/raster.mjs';
import {blockAt, blockBeside, drawMap, leakPlaces, legendNames, pixelView} from '../../src/page/web/panels/map.mjs';
import {addBlocks} from '../../src/page/web/data/model.mjs';
import {assignColours, LEAK, mixPixel, PALETTE, partsOf, REST, siteColours, STRIPE} from '../../src/page/web/pictures/colours.mjs';
import {makeScale} from '../../src/page/web/pictures/scale.mjs';

function makeDice(seed) {
    let value = seed;
    return (most) => {
        value = value * 48271 % 2147483647;
        return value % most;
    };
}

/* rows: [born, life, offset, size], of one lane that begins at address 4096. */
function makeWorld(rows) {
    const columns = {heap_id: () => 1, born: (row) => row[0], life: (row) => row[1], address: (row) => 4096 + row[2], size_bytes: (row) => row[3], allocation_id: (row) => 100 + rows.indexOf(row)};
    const model = {offsets: new Map(), cached: new Map(), lanes: new Map([[1, [{address: 4096, size_bytes: 1 << 20, offset: 0}]]])};
    addBlocks(model, {rows: rows.length, ...Object.fromEntries(Object.entries(columns).map(([name, valueOf]) => [name, Float64Array.from(rows, valueOf)]))});
    return {model, heap: {heap_id: 1}};
}

function makeView(ratio) {
    return pixelView({scale: makeScale(0, 1000, 86, 386, null), low: 0, high: 1 << 20}, 300, 200, ratio);
}

/* For each pixel the block that was drawn last: 0 is none, 1 the first. */
function paint(model, view, rows) {
    const pixels = new Uint32Array(view.width * view.height);
    rows.forEach(([born, life, offset, size], i) => drawRectangle(pixels, view, born < 0 ? -1 : born, life > 0 ? born + life : Infinity, offset, size, i + 1));
    return pixels;
}

test('each coloured pixel is a block, and the one that is seen there', () => {
    const dice = makeDice(29), rows = Array.from({length: 400}, () => [dice(1000), dice(20) === 0 ? NaN : 1 + dice(40), dice((1 << 20) - 8192), dice(4) === 0 ? 1 + dice(8192) : 1 + dice(64)]).sort((a, b) => a[0] - b[0]);
    for (const ratio of [1, 2]) {
        const {model, heap} = makeWorld(rows), view = makeView(ratio), pixels = paint(model, view, rows), coloured = [...pixels.keys()].filter((place) => pixels[place] > 0);
        assert.ok(coloured.length > 2000 && coloured.length < pixels.length / 2, `${coloured.length} of ${pixels.length}`);
        for (let i = 0; i < 200; i++) {
            const place = coloured[dice(coloured.length)], x = place % view.width + dice(10) / 10, y = Math.floor(place / view.width) + dice(10) / 10;
            assert.equal(blockAt(model, heap, view, x, y, 4 * ratio), pixels[place] - 1, `at ${x}, ${y}`);
        }
    }
});

test('beside a block the nearest is meant, no further than the reach', () => {
    const {model, heap} = makeWorld([[100, 100, 1 << 18, 1], [100, 100, 1 << 19, 1 << 15], [990, NaN, 0, 8]]), view = makeView(1); /* of 300 x 200: rows 50, and 100 to 106; columns 30 to 60; the third in the corner */
    const at = (x, y) => blockAt(model, heap, view, x, y, 4);
    assert.deepEqual([at(45, 50.5), at(45, 54.5), at(45, 55.5), at(45, 46), at(45, 45.9)], [0, 0, -1, 0, -1]);
    assert.deepEqual([at(30, 50), at(26, 50), at(25, 50), at(63.5, 50), at(64, 50), at(27, 53), at(26, 53)], [0, 0, -1, 0, -1, -1, -1], 'three beside and three below are more than four, two beside are not');
    assert.deepEqual([at(45, 103), at(45, 97), at(299, 0), at(0, 199)], [1, 1, 2, -1]);
    assert.deepEqual([at(28, 52), blockAt({...model, blockRanges: new Map()}, heap, view, 45, 50, 4)], [0, -1]);
});

test('the keyboard goes from block to block by addresses, and where it is a click finds the same', () => {
    const rows = [[0, NaN, 4000, 9000], [0, 20, 500000, 1], [5, NaN, 800000, 3], [30, NaN, 100000, 3]], {model, heap} = makeWorld(rows), view = makeView(1), beside = (seq, number, step) => blockBeside(model, heap, view, seq, number, step);
    assert.deepEqual([beside(10, -1, 1), beside(10, 0, 1), beside(10, 1, 1), beside(10, 2, 1), beside(10, -1, -1), beside(10, 1, -1), beside(10, 0, -1)], [0, 1, 2, 2, 2, 0, 0]);
    assert.deepEqual([beside(40, 0, 1), beside(40, 1, 1)], [3, 0], 'by then the second is gone');
    for (const number of [0, 1, 2])
        assert.equal(blockAt(model, heap, view, view.scale.toX(10), (rows[number][2] + rows[number][3] / 2) / (1 << 20) * view.height, 4), number);
    assert.equal(blockBeside(model, heap, {...view, low: 900000}, 10, -1, 1), -1);
});

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

test('a leak is seen by its stripes where its colour is not: 3 to 1 in lightness, and one of the two differs from each colour beside it', () => {
    const css = readFileSync(new URL('../../src/page/web/page.css', import.meta.url), 'utf8'), grounds = [...css.matchAll(/--(?:empty|unused): (#\w{6})/g)].map((found) => found[1]);
    assert.equal(grounds.length, 4, 'of light and dark');
    const beside = [...PALETTE, REST, ...['(baseline)', '(no stack)'].map(assignColours([], new Set()).of), ...grounds];
    for (const kind of Object.keys(SEEN)) {
        const [leak, stripe] = [LEAK, STRIPE].map((colour) => seenAs(colour, kind));
        assert.ok(contrastOf(leak, stripe) >= 3, `stripes in ${kind}: ${contrastOf(leak, stripe)}`);
        for (const colour of beside)
            assert.ok(Math.max(contrastOf(leak, seenAs(colour, kind)), contrastOf(stripe, seenAs(colour, kind))) >= 1.8, `${colour} in ${kind}`);
    }
    assert.ok(Math.abs(contrastOf([1, 1, 1], [0, 0, 0]) - 21) < 1e-9);
});

test('lines across what is pending are 3 to 1 in lightness, light and dark', () => {
    const css = readFileSync(new URL('../../src/page/web/page.css', import.meta.url), 'utf8'), valuesOf = (name) => [...css.matchAll(new RegExp(`--${name}: (#\\w{6})`, 'g'))].map((found) => found[1]), cards = valuesOf('card'), stuck = valuesOf('stuck');
    assert.equal(stuck.length, 2);
    for (const kind of Object.keys(SEEN))
        for (const i of [0, 1])
            assert.ok(contrastOf(seenAs(stuck[i], kind), seenAs(cards[i], kind)) >= 3, `${stuck[i]} on ${cards[i]} in ${kind}: ${contrastOf(seenAs(stuck[i], kind), seenAs(cards[i], kind))}`);
});

test('a leak is painted in stripes, at its whole strength and at a part of it, and nothing else is', () => {
    const {model, heap} = makeWorld([[0, NaN, 0, 1 << 19], [0, NaN, 1 << 19, 1 << 19]]), siteOf = (id) => ['keeps', 'works'][id];
    model.blocks.stack_id = Float64Array.from([0, 1]);
    Object.assign(model, {stacks: {siteFrame: (id) => id, siteOf, label: siteOf}, leakSites: new Set(['keeps']), byPlace: () => new Map([['p', [{site: 'works'}, {site: 'keeps'}]]]), segments: new Map(), hasAllBlocks: true});
    const view = makeView(1), pixels = new Uint32Array(view.width * view.height), countOf = (search, from, to) => {
        const colours = new Map();
        drawMap(pixels, view, model, {...heap, place: 'p', steps: []}, {colour: 'site', site: null, search}, {empty: [0, 0, 0], reserved: [9, 9, 9]}, 1);
        for (const colour of pixels.subarray(from * view.width, to * view.width))
            colours.set(colour, (colours.get(colour) ?? 0) + 1);
        return colours;
    };
    const whole = countOf(null, 0, 100), red = mixPixel(partsOf(LEAK), [0, 0, 0], 1), white = mixPixel(partsOf(STRIPE), [0, 0, 0], 1);
    assert.deepEqual([...whole.keys()].sort(), [red, white].sort());
    assert.deepEqual([whole.get(red), whole.get(white)], [15000, 15000], 'as much of one as of the other');
    assert.deepEqual([[0, 0], [2, 0], [3, 0], [0, 3], [1, 2], [3, 3]].map(([x, y]) => pixels[y * view.width + x]), [white, white, red, red, red, white]);
    assert.deepEqual([...countOf(null, 100, 200)], [[mixPixel(partsOf(PALETTE[0]), [0, 0, 0], 1), 30000]]);
    const dim = countOf('works', 0, 100);
    assert.equal(dim.size, 2);
    assert.ok(!dim.has(red) && !dim.has(white), 'what the search does not find steps back, stripes and all');
});

test('what has no site is in the legend, however many sites there are, and is two things', () => {
    const sites = Array.from({length: 30}, (_, i) => `s${i}`), names = legendNames([...sites, 'leaky', '(baseline)', '(no stack)'], new Set(['leaky'])), {of} = assignColours(sites, new Set(['leaky']));
    assert.deepEqual([names[0], names.length, ...names.slice(-3)], ['leaky', 3 + PALETTE.length, `s${PALETTE.length - 1}`, '(baseline)', '(no stack)']);
    assert.deepEqual(legendNames(['(no stack)', 'a', '(no stack)'], new Set()), ['(no stack)', 'a']);
    assert.equal(new Set(['(baseline)', '(no stack)', 's29', 'leaky', ...sites.slice(0, PALETTE.length)].map(of)).size, 4 + PALETTE.length, 'each has a colour of its own');
    assert.equal(of(`s${PALETTE.length}`), REST);
});

test('a site has its colour by the peak, and one that the peak did not see by what it asked for', () => {
    const {model, heap} = makeWorld([[0, 5, 0, 16], [0, 5, 64, 64], [9, NaN, 0, 1]]), sites = ['small', 'large', 'peak'];
    model.blocks.stack_id = Float64Array.from([0, 1, 2]);
    Object.assign(model, {stacks: {siteOf: (id) => sites[id]}, leakSites: new Set(), byPlace: () => new Map([['p', [{site: 'peak'}]]])});
    const {names, of} = siteColours(model, {...heap, place: 'p'});
    assert.deepEqual([[...new Set(names)], ['peak', 'large', 'small', 'none'].map(of)], [['peak', 'large', 'small'], [...PALETTE.slice(0, 3), REST]]);
});

test('the name of a leak stands at its block in the middle, and of what is not in view nowhere', () => {
    const {model, heap} = makeWorld([[100, NaN, 1 << 18, 16], [200, NaN, 1 << 19, 16], [300, NaN, 3 << 18, 16], [300, 5, 0, 16]]), view = {scale: makeScale(0, 1000, 86, 386, null), low: 0, high: 1 << 20};
    model.blocks.stack_id = Float64Array.from([0, 0, 0, 1]);
    Object.assign(model, {stacks: {siteOf: (id) => ['keeps', 'works'][id]}, leakSites: new Set(['keeps'])});
    assert.deepEqual(leakPlaces(model, heap, view), [{site: 'keeps', left: view.scale.toX(200), top: 0.5}]);
    assert.deepEqual(leakPlaces(model, heap, {...view, high: 1 << 18}), []);
    assert.deepEqual(leakPlaces({...model, leakSites: new Set()}, heap, view), []);
});
