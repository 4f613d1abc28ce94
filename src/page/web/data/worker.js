/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs beside the page and answers SQL: the end of one script with sql-wasm.js, whose initSqlJs() gives SQLite. A query that
 * never ends is ended with the worker, so nothing here looks at a clock. Messages, each answered by one:
 *
 *   {wasm, databases}             -> {}                                                  before anything else
 *   {sql, number, rowsMax}        -> {columns, rows, isCut}                              values as SQLite has them
 *   what fails                    -> {error}                                             a text
 *
 * A database is {database, tables}, of which a table is {name, rows, columns: [{name, kind, values}]}, whose rows are missing in the file. Where there
 * are two, each is 'base.db' for the other: queries that compare two attach a file of that name.
 *
 * Each question is asked of a copy of its own, which is gone after the answer: whatever it writes, attaches or sets there, the next one finds
 * the database as it was. What a PRAGMA sets for all of SQLite is gone with the worker: web/engine.mjs ends it.
 */
'use strict';

const ROWS_AT_ONCE = 200;

let library = null, images = []; /* of the databases, as files */

function quoteName(name) {
    return `"${name.replaceAll('"', '""')}"`;
}

/* As SQL writes it; kinds are those of page/columns.h. */
function literalOf(value, kind) {
    if (value === null || Number.isNaN(value))
        return 'NULL';
    if (kind === 'text')
        return `'${value.replaceAll("'", "''")}'`;
    if (kind !== 'real')
        return String(value);
    if (!Number.isFinite(value))
        return value > 0 ? '9e999' : '-9e999';
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value}.0` : String(value);
}

function fillTable(database, table) {
    const begin = `INSERT INTO ${quoteName(table.name)} (${table.columns.map((column) => quoteName(column.name)).join(', ')}) VALUES `;
    for (let first = 0; first < table.rows; first += ROWS_AT_ONCE) {
        const rows = [];
        for (let row = first; row < Math.min(table.rows, first + ROWS_AT_ONCE); row++)
            rows.push(`(${table.columns.map((column) => literalOf(column.values[row], column.kind)).join(',')})`);
        database.run(begin + rows.join(','));
    }
}

function makeImage({database, tables}) {
    const own = new library.Database(database);
    own.run('PRAGMA journal_mode = OFF; BEGIN');
    for (const table of tables)
        fillTable(own, table);
    own.run('COMMIT');
    const image = own.export();
    own.close();
    return image;
}

async function openDatabases({wasm, databases}) {
    library = await initSqlJs({wasmBinary: wasm});
    images = databases.map(makeImage);
    return {};
}

/* Integers come as BigInt: beyond 2 to the power of 53 a number is another one. */
function readRows(statement, rowsMax) {
    const rows = [];
    while (statement.step()) {
        if (rows.length === rowsMax)
            return {rows, isCut: true};
        rows.push(statement.get(null, {useBigInt: true}));
    }
    return {rows, isCut: false};
}

/* Of several statements the answer is that of the last one that has columns. */
function askStatements(asked, sql, rowsMax) {
    let answer = {columns: [], rows: [], isCut: false};
    for (const statement of asked.iterateStatements(sql)) {
        const columns = statement.getColumnNames(), read = readRows(statement, rowsMax);
        if (columns.length > 0)
            answer = {columns, ...read};
    }
    return answer;
}

function askDatabase({sql, number, rowsMax}) {
    const copies = (images.length > 1 && sql.includes("'base.db'") ? [number, 1 - number] : [number]).map((one) => new library.Database(images[one]));
    try {
        const [asked, other] = copies;
        asked.run('PRAGMA query_only = ON'); /* so that who means to write is told */
        return askStatements(asked, other ? sql.replaceAll("'base.db'", `'${other.filename}'`) : sql, rowsMax);
    } finally {
        copies.forEach((copy) => copy.close());
    }
}

self.onmessage = async ({data}) => {
    try {
        self.postMessage(data.sql === undefined ? await openDatabases(data) : askDatabase(data));
    } catch (error) {
        self.postMessage({error: String(error?.message ?? error)});
    }
};
