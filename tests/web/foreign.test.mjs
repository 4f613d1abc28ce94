/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of others, as tests/support/foreign.txt has them: the page shows and saves them as the programs do (tests/unit/base/test_shown.c).
 */
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {make} from '../../src/page/web/pictures/dom.mjs';
import {cellOf, shown} from '../../src/page/web/state/shown.mjs';
import {csvOf} from '../../src/page/web/data/sqltext.mjs';
import {readHash} from '../../src/page/web/state/state.mjs';

const lines = readFileSync(fileURLToPath(new URL('../support/foreign.txt', import.meta.url)), 'latin1').split('\n');

/* The text in quotes, whose bytes are UTF-8. */
function unquote(text) {
    const bytes = text.replace(/\\x(..)|\\(.)/g, (all, code, character) => (code ? String.fromCharCode(parseInt(code, 16)) : character === 'n' ? '\n' : character));
    return new TextDecoder('utf-8', {ignoreBOM: true}).decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));
}

function textsOf(kind) {
    return lines.filter((line) => line.startsWith(`${kind} `)).map((line) => [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => unquote(text)));
}

test('each character is safe or not', () => {
    const ranges = lines.filter((line) => line.startsWith('unsafe ')).map((line) => line.split(' ').slice(1).map((code) => parseInt(code, 16)));
    assert.ok(ranges.length > 5);
    const isUnsafe = new Uint8Array(0x110000);
    for (const [first, last] of ranges)
        isUnsafe.fill(1, first, last + 1);
    const differing = [...isUnsafe.keys()].filter((code) => (shown(String.fromCodePoint(code)) === '?') !== (isUnsafe[code] === 1 || code === 0x3f));
    assert.deepEqual(differing, []);
});

test('no cell is a formula', () => {
    const cells = textsOf('cell');
    assert.ok(cells.length > 30);
    for (const [text, cell] of cells) {
        assert.equal(cellOf(text), cell, JSON.stringify(text));
        const quoted = `"${cell.replaceAll('"', '""')}"`;
        assert.ok([`a\r\n${quoted}\r\n`, `a\r\n${cell}\r\n`].includes(csvOf(['a'], [[text]])), JSON.stringify(text));
        assert.ok([`${quoted}\r\n`, `${cell}\r\n`].includes(csvOf([text], [])), 'a head is a text, too');
    }
    assert.equal(csvOf(['a'], [[-1n], [-0.5], [null]]), 'a\r\n-1\r\n-0.5\r\n\r\n', 'numbers are numbers');
});

/* As much of a document as make() needs. */
class FakeElement {
    attributes = new Map();
    setAttribute(name, value) {
        this.attributes.set(name, value);
    }
    replaceChildren(...children) {
        this.children = children;
    }
}

test('nothing gets into the page that is not safe to look at', () => {
    globalThis.document = {createElement: () => new FakeElement()};
    for (const [text] of [...textsOf('cell'), ...textsOf('name')]) {
        const element = make('p', {title: text}, text, [text, null]);
        for (const got of [element.attributes.get('title'), ...element.children])
            assert.equal(got, shown(text, '\t\r\n'));
        assert.doesNotMatch(element.children.join(''), /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e\u2066]/u);
        assert.equal(readHash(`#${new URLSearchParams({sql: text})}`).sql, shown(text, '\t\r\n'), 'nor by a link');
    }
});
