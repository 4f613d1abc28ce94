/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables from bytes that are laid out by hand, as page/columns.h says.
 */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import zlib from 'node:zlib';

import {decodeCells, decodeLazily, decodeStrings, decodeTable, fromBase64, inflateRaw} from '../../src/page/web/data/decode.mjs';

function table(kind, byteCount, base, rows, bytes, strings = []) {
    return decodeTable({name: 't', rows, columns: [{name: 'a', kind, bytes: byteCount, base}]}, new Uint8Array(bytes), strings).a;
}

test('integers are above the least, and 0 is NULL', () => {
    assert.deepEqual([...table('int', 2, 700, 4, [0x2d, 0, 1, 1, 1, 0, 0, 1])], [1000, NaN, 700, 956]);
});

test('what rises is added up', () => {
    assert.deepEqual([...table('rise', 2, 5000000, 4, [0, 1, 0, 0, 0, 0, 0, 1])], [5000000, 5000001, 5000001, 5000257]);
});

test('steps go both ways', () => {
    assert.deepEqual([...table('step', 1, 1000, 5, [0, 1, 2, 3, 4])], [1000, 999, 1000, 998, 1000]);
});

test('reals are IEEE doubles by planes, NaN is NULL', () => {
    const bytes = new Uint8Array(24), view = new DataView(bytes.buffer), planes = new Uint8Array(24);
    [0.5, NaN, -3e300].forEach((value, i) => view.setFloat64(8 * i, value, true));
    for (let row = 0; row < 3; row++)
        for (let plane = 0; plane < 8; plane++)
            planes[plane * 3 + row] = bytes[8 * row + plane];
    assert.deepEqual([...table('real', 8, 0, 3, planes)], [0.5, NaN, -3e300]);
});

test('texts are those with their numbers, from 1', () => {
    assert.deepEqual(table('text', 1, 0, 3, [2, 0, 1], ['a', 'b']), ['b', null, 'a']);
});

test('columns follow each other', () => {
    const head = {name: 't', rows: 2, columns: [{name: 'a', kind: 'int', bytes: 1, base: 10}, {name: 'none', kind: 'int', bytes: 0, base: 0}, {name: 'name', kind: 'text', bytes: 1, base: 0}]};
    const decoded = decodeTable(head, new Uint8Array([1, 2, 1, 0]), ['x']);
    assert.equal(decoded.rows, 2);
    assert.deepEqual([...decoded.a], [10, 11]);
    assert.deepEqual([...decoded.none], [NaN, NaN]);
    assert.deepEqual(decoded.name, ['x', null]);
    const lazy = decodeLazily(head, new Uint8Array([1, 2, 1, 0]), ['x']);
    assert.deepEqual([lazy.rows, lazy.name, [...lazy.a], Object.keys(lazy)], [2, ['x', null], [10, 11], ['rows', 'a', 'none', 'name']], 'whichever is asked for first');
    assert.equal(lazy.a, lazy.a, 'once');
    assert.deepEqual([...lazy.unknown], ['none']);
});

test('a number has as many planes as it needs', () => {
    for (let planes = 0; planes <= 6; planes++) {
        const codes = [0, 1, 200, 2 ** (8 * planes) - 1].map((code) => Math.min(code, 2 ** (8 * planes) - 1)), bytes = [];
        for (let plane = 0; plane < planes; plane++)
            bytes.push(...codes.map((code) => Math.floor(code / 256 ** plane) % 256));
        assert.deepEqual([...table('int', planes, 7, 4, bytes)], codes.map((code) => (code === 0 ? NaN : 6 + code)), `${planes} planes`);
    }
});

test('strings end with a zero byte each, and are UTF-8', () => {
    assert.deepEqual(decodeStrings(new TextEncoder().encode('a\0\0\u4e2d\0')), ['a', '', '\u4e2d']);
    assert.deepEqual(decodeStrings(new Uint8Array(0)), []);
});

test('cells are a plane of shares and three of the site', () => {
    const cells = decodeCells({heap: 7, width: 2, height: 1, first_seq: 0, last_seq: 9, axis_bytes: 5}, new Uint8Array([255, 0, 1, 0, 2, 0, 3, 0]));
    assert.deepEqual([...cells.used], [255, 0]);
    assert.deepEqual([...cells.site], [0x030201, 0]);
    assert.equal(cells.heap, 7);
});

test('base64 and the browser\u2019s inflate', async () => {
    const bytes = Uint8Array.from({length: 1000}, (_, i) => i * 7 & 255);
    assert.deepEqual(await inflateRaw(fromBase64(zlib.deflateRawSync(bytes).toString('base64'))), bytes);
});
