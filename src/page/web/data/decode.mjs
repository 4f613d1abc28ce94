/* SPDX-License-Identifier: Apache-2.0
 *
 * From the blocks at the end of the page to tables: page/columns.h says how they are laid out. A table is {rows, and a
 * property for each column}: numbers as a Float64Array in which NaN is NULL, texts as an array of strings in which null is NULL.
 */
import {inflate} from './inflate.mjs';

export function fromBase64(text) {
    if (Uint8Array.fromBase64)
        return Uint8Array.fromBase64(text);
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++)
        bytes[i] = raw.charCodeAt(i);
    return bytes;
}

/* All that a stream gives, in one piece. */
async function readWhole(stream) {
    const reader = stream.getReader(), pieces = [];
    let length = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
        pieces.push(next.value);
        length += next.value.length;
    }
    const whole = new Uint8Array(length);
    for (const piece of pieces.reverse())
        whole.set(piece, length -= piece.length);
    return whole;
}

/* Nothing goes by a Blob, which is another process's: of fifty small blocks that takes longer than to inflate them. */
export async function inflateRaw(bytes) {
    let stream;
    try {
        stream = new DecompressionStream('deflate-raw');
    } catch {
        return inflate(bytes);
    }
    const writer = stream.writable.getWriter();
    const [whole] = await Promise.all([readWhole(stream.readable), writer.write(bytes), writer.close()]);
    return whole;
}

/* Codes from their planes. Up to three of them are put together as integers, which is quicker than sums. */
function codesOf(bytes, offset, rows, byteCount) {
    const codes = new Float64Array(rows), plane = (number) => (number < byteCount ? bytes.subarray(offset + number * rows, offset + (number + 1) * rows) : null), first = plane(0), second = plane(1), third = plane(2);
    if (third !== null)
        for (let row = 0; row < rows; row++)
            codes[row] = first[row] | second[row] << 8 | third[row] << 16;
    else if (second !== null)
        for (let row = 0; row < rows; row++)
            codes[row] = first[row] | second[row] << 8;
    else if (first !== null)
        for (let row = 0; row < rows; row++)
            codes[row] = first[row];
    for (let number = 3, weight = 2 ** 24; number < byteCount; number++, weight *= 256)
        for (let row = 0, own = plane(number); row < rows; row++)
            codes[row] += weight * own[row];
    return codes;
}

function realsOf(bytes, offset, rows) {
    const whole = new Uint8Array(8 * rows);
    for (let plane = 0; plane < 8; plane++)
        for (let row = 0; row < rows; row++)
            whole[8 * row + plane] = bytes[offset + plane * rows + row];
    return new Float64Array(whole.buffer);
}

function numbersOf(codes, kind, base) {
    let value = base;
    if (kind === 'int')
        for (let row = 0; row < codes.length; row++)
            codes[row] = codes[row] === 0 ? NaN : base + (codes[row] - 1);
    else if (kind === 'rise')
        for (let row = 0; row < codes.length; row++)
            codes[row] = value += codes[row];
    else
        for (let row = 0; row < codes.length; row++) {
            const code = codes[row];
            codes[row] = value += code % 2 === 1 ? -(code + 1) / 2 : code / 2;
        }
    return codes;
}

/* Of a column that says nothing there is no plane. */
function textsOf(codes, isEmpty, strings) {
    const texts = new Array(codes.length).fill(null);
    for (let row = 0; !isEmpty && row < codes.length; row++)
        if (codes[row] !== 0)
            texts[row] = strings[codes[row] - 1];
    return texts;
}

function decodeColumn(column, bytes, offset, rows, strings) {
    if (column.kind === 'real')
        return realsOf(bytes, offset, rows);
    const codes = codesOf(bytes, offset, rows, column.bytes);
    if (column.kind === 'text')
        return textsOf(codes, column.bytes === 0, strings);
    return numbersOf(codes, column.kind, column.base);
}

/* Columns as a list: {name, kind, values}. */
export function decodeColumns(head, bytes, strings) {
    let offset = 0;
    return head.columns.map(({name, kind, ...column}) => {
        const values = decodeColumn({kind, ...column}, bytes, offset, head.rows, strings);
        offset += column.bytes * head.rows;
        return {name, kind, values};
    });
}

export function decodeTable(head, bytes, strings) {
    const columns = decodeColumns(head, bytes, strings);
    return {rows: head.rows, ...Object.fromEntries(columns.map((column) => [column.name, column.values]))};
}

/* A table whose columns are decoded when each is first asked for; `unknown` are those that are NULL in each row, and no column. Pure. */
export function decodeLazily(head, bytes, strings) {
    const unknown = head.columns.filter((column) => column.bytes === 0 && (column.kind === 'int' || column.kind === 'text')).map((column) => column.name);
    const table = Object.defineProperty({rows: head.rows}, 'unknown', {value: new Set(unknown)});
    let offset = 0;
    for (const column of head.columns) {
        const begin = offset;
        let values = null;
        Object.defineProperty(table, column.name, {enumerable: true, get: () => values ??= decodeColumn(column, bytes, begin, head.rows, strings)});
        offset += column.bytes * head.rows;
    }
    return table;
}

export function decodeStrings(bytes) {
    const strings = new TextDecoder().decode(bytes).split('\0');
    strings.pop();
    return strings;
}

/* Cells of page/cells.h: `used` 0 to 255, `site` the number of a frame or 0. */
export function decodeCells(head, bytes) {
    const count = head.width * head.height, site = new Uint32Array(count);
    for (let i = 0; i < count; i++)
        site[i] = bytes[count + i] | bytes[2 * count + i] << 8 | bytes[3 * count + i] << 16;
    return {heap: head.heap, width: head.width, height: head.height, firstSeq: head.first_seq, lastSeq: head.last_seq,
            axisBytes: head.axis_bytes, used: bytes.subarray(0, count), site};
}

/* The block's bytes; its text is given up, for it may be large. */
async function readBlock(element) {
    const bytes = await inflateRaw(fromBase64(element.textContent));
    element.remove();
    return bytes;
}

async function readTable(element, strings) {
    return decodeLazily(JSON.parse(element.dataset.head), await readBlock(element), strings);
}

/* "name", text, "name", text, a zero behind each. */
export function decodeQueries(bytes) {
    const texts = decodeStrings(bytes), queries = [];
    for (let i = 0; i + 1 < texts.length; i += 2)
        queries.push({name: texts[i], text: texts[i + 1]});
    return queries;
}

async function readSqlTable(element, strings) {
    const {name, ...head} = JSON.parse(element.dataset.head);
    return {name: name.replace(/^sql_(2_)?/, ''), rows: head.rows, columns: decodeColumns(head, await readBlock(element), strings)};
}

/* A database of the page: {isLeftOut, read()}: what web/worker.js makes it of. `mark` is that of page/sql.h. */
function findDatabase(parts, tables, strings, mark) {
    const own = [...tables].filter(([name]) => name.startsWith('sql_2_') === (mark !== '')).map(([, element]) => element);
    return {isLeftOut: parts.has(`left_out${mark}`), read: async () => ({database: await readBlock(parts.get(`database${mark}`)), tables: await Promise.all(own.map((element) => readSqlTable(element, strings)))})};
}

/*
 * What answers SQL (page/sql.h), none of it decoded before it is wanted; null where the page has none. readQuestions() gives
 * {queries, views}; readParts() what web/worker.js is and asks for. Each once. `databases` are one, or two where runs are compared.
 */
function findSql(document, tables, strings) {
    const parts = new Map([...document.querySelectorAll('script.sql')].map((element) => [JSON.parse(element.dataset.head).name, element]));
    if (parts.size === 0)
        return null;
    const views = tables.get('sql_view');
    tables.delete('sql_view');
    const databases = ['', '_2'].filter((mark) => parts.has(`database${mark}`) || parts.has(`left_out${mark}`)).map((mark) => findDatabase(parts, tables, strings, mark)), there = databases.filter((one) => !one.isLeftOut);
    return {
        databases,
        readQuestions: async () => ({queries: decodeQueries(await readBlock(parts.get('queries'))), views: await readTable(views, strings)}),
        readParts: async () => ({engine: await readBlock(parts.get('engine')), wasm: await readBlock(parts.get('wasm')), databases: await Promise.all(there.map((one) => one.read()))}),
    };
}

/* {tables by name, cells by the number of their heap, readBlocks(): the largest table, which the first picture does without, sql: findSql} */
export async function readPage(document) {
    const stringBlock = document.querySelector('script.strings');
    const strings = decodeStrings(await readBlock(stringBlock));
    const page = {tables: {}, cells: new Map(), texts: JSON.parse(stringBlock.dataset.head), readBlocks: null, sql: null}, isLate = (element) => JSON.parse(element.dataset.head).name === 'block';
    const all = [...document.querySelectorAll('script.table')].map((element) => [JSON.parse(element.dataset.head).name, element]), ofSql = new Map(all.filter(([name]) => name.startsWith('sql_')));
    const elements = all.filter(([name]) => !ofSql.has(name)).map(([, element]) => element), late = elements.find(isLate);
    page.sql = findSql(document, ofSql, strings);
    await Promise.all([...elements.filter((one) => one !== late).map(async (element) => {
        page.tables[JSON.parse(element.dataset.head).name] = await readTable(element, strings);
    }), ...[...document.querySelectorAll('script.cells')].map(async (element) => {
        const head = JSON.parse(element.dataset.head);
        page.cells.set(head.heap, decodeCells(head, await readBlock(element)));
    })]);
    page.readBlocks = () => (late ? readTable(late, strings) : null);
    return page;
}
