/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL and its answers as text. Expected texts of values are those that sqlite3 3.40 printed with -csv.
 */
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';

import {decodeColumns, decodeQueries} from '../../src/page/web/data/decode.mjs';
import {csvOf, formatReal, literalFor, parametersOf, putValues, readHeader, readTyped, valueText, writeTyped} from '../../src/page/web/data/sqltext.mjs';

const folder = fileURLToPath(new URL('../../queries/', import.meta.url));
const queries = readdirSync(folder).filter((name) => name.endsWith('.sql')).map((name) => ({name: name.slice(0, -4), text: readFileSync(folder + name, 'utf8')}));

test('parameters are found where they are none of a text, a name or a comment', () => {
    assert.deepEqual(parametersOf("SELECT :a, ':b', \":c\", [:d], `:e`, -- :f\n @g, $h /* :i */, :a || 'it''s :j' || :k_1"), ['a', 'g', 'h', 'k_1']);
    assert.deepEqual(parametersOf('SELECT 1'), []);
});

test('what is typed is a number where it is one, and else text that nothing gets out of', () => {
    assert.deepEqual(['', ' ', undefined, '5', '-7', '9223372036854775807', '1.5', '.5e-3', 'late', "'7'", "it's", "'); DROP TABLE x; --", '0x10', '1 + 1', "'a' 'b'"].map(literalFor),
        ['NULL', 'NULL', 'NULL', '(5)', '(-7)', '(9223372036854775807)', '(1.5)', '(.5e-3)', "'late'", "'7'", "'it''s'", "'''); DROP TABLE x; --'", "'0x10'", "'1 + 1'", "'''a'' ''b'''"]);
    assert.equal(putValues("SELECT :a, ':a', :b -- :a", new Map([['a', '$&:b'], ['b', '2']])), "SELECT '$&:b', ':a', (2) -- :a");
});

test('each query says what it answers, and of each of its parameters what it is', () => {
    assert.ok(queries.length > 60);
    for (const {name, text} of queries) {
        const {question, parameters, body} = readHeader(text);
        assert.ok(question.length > 20 && !question.includes('Parameters:') && !question.startsWith(name), `${name}: ${question}`);
        assert.deepEqual(parametersOf(body).filter((parameter) => !parameters.has(parameter)), [], name);
        assert.deepEqual([...parameters.keys()].filter((parameter) => !parametersOf(body).includes(parameter)), [], name);
        assert.ok(text.trimEnd().endsWith(body), name);
        assert.match(body, /^(WITH|SELECT|ATTACH)\b/, name);
    }
    const {question, parameters} = readHeader('-- a.sql: one\n-- and two?\n-- Parameters: :x  first\n--             more of it (default 1)\n--             :y  second\n-- Columns:    z it\nSELECT :x, :y;\n');
    assert.deepEqual([question, [...parameters]], ['one and two?', [['x', 'first more of it (default 1)'], ['y', 'second']]]);
});

test('the build takes each query', () => {
    const build = readFileSync(`${folder}../src/page/CMakeLists.txt`, 'utf8'), list = build.slice(build.indexOf('set(page_queries'), build.indexOf('list(TRANSFORM page_queries')).match(/^ {4}\w+/gm).map((name) => name.trim());
    assert.deepEqual(list.sort(), queries.map(({name}) => name).sort());
});

test('reals are those of the shell', () => {
    assert.deepEqual([1, 0.1, 1e20, 1e15, 123456789012345678, 1 / 3, 1e-5, 0.0001, -0, 2e-10, 100 / 3, Infinity, -Infinity, 999999999999999.9, 12345678901234.56, -0.5].map(formatReal),
        ['1.0', '0.1', '1.0e+20', '1.0e+15', '1.23456789012346e+17', '0.333333333333333', '1.0e-05', '0.0001', '0.0', '2.0e-10', '33.3333333333333', 'Inf', '-Inf', '1.0e+15', '12345678901234.6', '-0.5']);
});

test('CSV is that of RFC 4180, quoted as the shell does it', () => {
    assert.deepEqual([null, 9223372036854775807n, 0.5, 'x', Uint8Array.of(0, 255)].map(valueText), ['', '9223372036854775807', '0.5', 'x', "x'00ff'"]);
    assert.equal(csvOf(['a', 'b c'], [[1n, null], ['', 'x"y'], ['a,b', "l'1\r\n2"], ['\u4e2d', 'plain#(+)~']]), 'a,"b c"\r\n1,\r\n"","x""y"\r\n"a,b","l\'1\r\n2"\r\n"\u4e2d",plain#(+)~\r\n');
});

test('the address holds what was typed', () => {
    const typed = new Map([['at', 'a&b=c'], ['top', ''], ['x', '5']]);
    assert.deepEqual([...readTyped(writeTyped(typed))], [['at', 'a&b=c'], ['x', '5']]);
    assert.equal(writeTyped(new Map([['top', '']])), null);
    assert.deepEqual([...readTyped(null)], []);
});

test('queries and columns come out of their blocks as they are', () => {
    assert.deepEqual(decodeQueries(new TextEncoder().encode('a.sql\0SELECT 1\0b.sql\0SELECT \u4e2d\0')), [{name: 'a.sql', text: 'SELECT 1'}, {name: 'b.sql', text: 'SELECT \u4e2d'}]);
    const columns = decodeColumns({rows: 2, columns: [{name: 'rows', kind: 'int', bytes: 1, base: -3}, {name: 't', kind: 'text', bytes: 1}]}, Uint8Array.of(0, 2, 1, 0), ['x']);
    assert.deepEqual(columns.map(({name, kind, values}) => [name, kind, [...values]]), [['rows', 'int', [NaN, -2]], ['t', 'text', ['x', null]]]);
});
