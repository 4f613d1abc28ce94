/* SPDX-License-Identifier: Apache-2.0
 *
 * The map as a picture: what a place of it stands for.
 */
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {drawRectangle} from '../../src/page/web/data/raster.mjs';
import {blockAt, blockBeside, pixelView} from '../../src/page/web/panels/map.mjs';
import {addBlocks} from '../../src/page/web/data/model.mjs';
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
