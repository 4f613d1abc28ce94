/* SPDX-License-Identifier: Apache-2.0
 *
 * The map as a picture: what a place of it stands for.
 */
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {drawRectangle} from '../../src/page/web/data/raster.mjs';
import {blockAt, blockBeside, drawMap, leakPlaces, legendNames, pixelView} from '../../src/page/web/panels/map.mjs';
import {addBlocks} from '../../src/page/web/data/model.mjs';
import {assignColours, LEAK, paintOf, mixPixel, PALETTE, partsOf, REST, siteColours} from '../../src/page/web/pictures/colours.mjs';
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

/* Of a heap of four blocks, each a quarter of its addresses, the colours of each with their counts: a leak, a site, what was there before and has no stack, and what else has none. */
function paintFour(values, heapOf = (heap) => heap) {
    const {model, heap} = makeWorld([[-1, NaN, 1 << 19, 1 << 18], [0, NaN, 0, 1 << 18], [0, NaN, 1 << 18, 1 << 18], [0, NaN, 3 << 18, 1 << 18]]), sites = [null, 'keeps', 'works', null];
    model.blocks.alloc_seq[0] = NaN;
    model.blocks.stack_id = Float64Array.from([NaN, 1, 2, 3]);
    Object.assign(model, {stacks: {siteFrame: (id) => (sites[id] ? id : NaN), siteOf: (id) => sites[id] ?? '(no stack)', label: (id) => sites[id]}, leakSites: new Set(['keeps']), byPlace: () => new Map([['p', [{site: 'works'}, {site: 'keeps'}]]]), segments: new Map(), hasAllBlocks: true});
    const view = makeView(1), pixels = new Uint32Array(view.width * view.height);
    drawMap(pixels, view, model, heapOf({...heap, place: 'p', steps: []}), {colour: 'site', site: null, search: null, ...values}, {empty: [0, 0, 0], reserved: [9, 9, 9], dots: [99, 99, 99]}, 1);
    const quarters = [0, 50, 100, 150].map((top) => pixels.slice(top * view.width, (top + 50) * view.width)), counts = quarters.map((quarter) => quarter.reduce((known, colour) => known.set(colour, (known.get(colour) ?? 0) + 1), new Map()));
    return {pixels, view, counts};
}

const asPixel = (colour) => mixPixel(partsOf(colour), [0, 0, 0], 1);

test('a leak is painted in stripes, what was there before in checks, what has no stack in lines the other way, and a site in its colour alone', () => {
    const {pixels, view, counts} = paintFour({}), looks = ['keeps', null, '(baseline)', '(no stack)'].map((name) => name && paintOf(name, new Set(['keeps']))), at = (x, y) => pixels[y * view.width + x];
    assert.deepEqual(counts[1], new Map([[asPixel(PALETTE[0]), 15000]]));
    for (const [i, share] of [[0, 1 / 2], [2, 1 / 2], [3, 1 / 4]]) {
        assert.deepEqual([...counts[i].keys()].sort(), [looks[i].ground, looks[i].line].map(asPixel).sort(), `quarter ${i}`);
        assert.ok(Math.abs(counts[i].get(asPixel(looks[i].line)) / 15000 - share) < 0.01, `lines of quarter ${i}`);
    }
    const red = asPixel(LEAK), white = asPixel('#ffffff');
    assert.deepEqual([[0, 0], [2, 0], [3, 0], [0, 3], [1, 2], [3, 3]].map(([x, y]) => at(x, y)), [white, white, red, red, red, white]);
    const isLine = (i, x, y) => at(x, y) === asPixel(looks[i].line);
    assert.deepEqual([[0, 100], [4, 104], [5, 100], [0, 105], [5, 105]].map(([x, y]) => isLine(2, x, y)), [true, true, false, false, true], 'squares of five pixels');
    assert.deepEqual([[0, 152], [1, 152], [2, 152], [1, 153], [2, 153], [0, 153]].map(([x, y]) => isLine(3, x, y)), [true, true, false, true, true, false], 'lines that go down to the right');
    const dim = paintFour({search: 'works'}).counts[0];
    assert.equal(dim.size, 2);
    assert.ok(!dim.has(red) && !dim.has(white), 'what the search does not find steps back, stripes and all');
    assert.deepEqual(paintFour({colour: 'verdict'}).counts.map((one) => one.size), [2, 1, 1, 1], 'by verdict a leak alone has a pattern');
});

test('what is reserved and free has dots, what is not reserved has none, and a screen with more pixels larger ones', () => {
    for (const ratio of [1, 2]) {
        const {model, heap} = makeWorld([[0, NaN, 0, 1]]), view = makeView(ratio), pixels = new Uint32Array(view.width * view.height), reserved = mixPixel([9, 9, 9], [0, 0, 0], 1), dots = mixPixel([99, 99, 99], [0, 0, 0], 1);
        Object.assign(model, {stacks: {siteFrame: () => 0, siteOf: () => 'works', label: () => 'works'}, leakSites: new Set(), byPlace: () => new Map(), segments: new Map([[1, [{alloc_seq: null, free_seq: null, address: 4096, size_bytes: 1 << 19}]]]), hasAllBlocks: true});
        model.blocks.stack_id = Float64Array.from([0]);
        drawMap(pixels, view, model, {...heap, place: 'p', steps: []}, {colour: 'site', site: null, search: null}, {empty: [1, 1, 1], reserved: [9, 9, 9], dots: [99, 99, 99]}, ratio);
        const low = pixels.subarray(4 * ratio * view.width, pixels.length / 2), dotted = low.reduce((sum, colour) => sum + Number(colour === dots), 0);
        assert.deepEqual(new Set(low), new Set([reserved, dots]));
        assert.ok(Math.abs(dotted / low.length - 1 / 32) < 0.003, `${dotted} of ${low.length}`);
        assert.deepEqual(new Set(pixels.subarray(pixels.length / 2)), new Set([mixPixel([1, 1, 1], [0, 0, 0], 1)]));
    }
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
