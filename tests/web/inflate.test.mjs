/* SPDX-License-Identifier: Apache-2.0
 *
 * Our own inflate against zlib's deflate, as node has it: all three kinds of blocks, and data that are broken.
 */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import zlib from 'node:zlib';

import {inflate} from '../../src/page/web/data/inflate.mjs';

function noise(length, mask) {
    const bytes = new Uint8Array(length);
    for (let i = 0, seed = 1; i < length; i++)
        bytes[i] = (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 24 & mask;
    return bytes;
}

const SAMPLES = {nothing: new Uint8Array(0), 'one byte': new Uint8Array([65]), zeros: new Uint8Array(300000), noise: noise(100000, 255), words: noise(200000, 3)};

for (const [name, bytes] of Object.entries(SAMPLES))
    for (const options of [{level: 0}, {level: 1}, {level: 9}, {level: 9, strategy: zlib.constants.Z_FIXED}])
        test(`${name} of level ${options.level}${options.strategy ? ', fixed codes' : ''} come back`, () => {
            assert.deepEqual(Buffer.from(inflate(zlib.deflateRawSync(bytes, options))), Buffer.from(bytes));
        });

test('data that are cut are an error, and no endless loop', () => {
    const whole = zlib.deflateRawSync(noise(5000, 15));
    for (let length = 0; length < whole.length; length += 97)
        assert.throws(() => inflate(whole.subarray(0, length)), /end too soon/);
});

test('a copy from before the beginning is an error', () => {
    /* Fixed codes: length 3 (0000001), distance 1 (00000), with nothing before it. */
    assert.throws(() => inflate(new Uint8Array([0b00000011, 0b00000010, 0])), /before their beginning/);
});
