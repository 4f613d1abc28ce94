// SPDX-License-Identifier: Apache-2.0
//
// Runs what each case of tests/sql asks, in the SQLite of sql.js, and compares with the case's expected.csv. Rows of a
// view are compared in any order. Only ATTACH is left out: sql.js has no files, so questions of two databases run on one.
'use strict';
const fs = require('fs');
const path = require('path');

const [work, source] = process.argv.slice(2);
const casesFolder = path.join(source, 'tests/sql');
const initSql = require(path.join(work, 'package/dist/sql-asm-memory-growth.js'));

function cell(value) {
    if (value === null) return '';
    if (typeof value === 'number' && !Number.isInteger(value)) return Number(value.toPrecision(12)).toString();
    return String(value);
}

// Between cells on both sides of a comparison: commas may stand in them.
const separator = '\u001f';

// The expected files hold no quote inside a cell.
function parse(line) {
    return (line.match(/("[^"]*"|[^,]*)(,|$)/g) || []).slice(0, line.endsWith(',') ? undefined : -1).map(
        text => text.replace(/,$/, '').replace(/^"(.*)"$/, '$1')).map(
        text => /^-?\d+\.\d+(e[-+]\d+)?$/.test(text) ? cell(Number(text)) : text).join(separator);
}

function rowsOf(file, isSorted) {
    const rows = fs.readFileSync(file, 'utf8').trimEnd().split('\n').map(parse);
    return isSorted ? [rows[0]].concat(rows.slice(1).sort()) : rows;
}

function traceOf(name) {
    const file = path.join(casesFolder, name, 'trace');
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : name;
}

function ask(db, sql, isSorted) {
    const results = db.exec(sql);
    if (results.length === 0) return [];
    const rows = results[0].values.map(row => row.map(cell).join(separator));
    return [results[0].columns.join(separator)].concat(isSorted ? rows.sort() : rows);
}

function isQuery(name) {
    return fs.existsSync(path.join(source, 'queries', name + '.sql'));
}

// An internal view has the name of its case behind z_.
function isInternal(db, name) {
    return db.exec("SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = 'z_" + name + "'").length > 0;
}

function sqlOf(db, name, isAsked) {
    const statement = path.join(casesFolder, name, 'statement.sql');
    if (isAsked) return fs.readFileSync(path.join(source, 'queries', name + '.sql'), 'utf8');
    return fs.existsSync(statement) ? fs.readFileSync(statement, 'utf8') : 'SELECT * FROM ' + (isInternal(db, name) ? 'z_' : '') + name;
}

// One database for all cases of a trace, which only read: to read its views takes longer than to ask one.
const last = {trace: null, db: null};
function databaseOf(SQL, trace) {
    if (last.trace !== trace) {
        if (last.db) last.db.close();
        last.trace = trace;
        last.db = new SQL.Database(fs.readFileSync(path.join(work, trace + '.trace', 'trace.db')));
    }
    return last.db;
}

// The query of that name, where there is one, and the view.
function compareCase(db, name) {
    let failures = compareWith(db, name, isQuery(name), 'expected.csv');
    if (fs.existsSync(path.join(casesFolder, name, 'expected_view.csv')))
        failures += compareWith(db, name, false, 'expected_view.csv');
    return failures;
}

function compareWith(db, name, isAsked, file) {
    const sql = sqlOf(db, name, isAsked);
    if (/^ATTACH/m.test(sql)) {
        db.run(sql.replace(/^ATTACH.*$/m, '').replace(/^DETACH.*$/m, '').replace(/\bbase\.(?=[a-z_]+\b(?!'))/g, 'main.'));
        return 0;
    }
    const actual = ask(db, sql, !isAsked).join('\n');
    const expected = rowsOf(path.join(casesFolder, name, file), !isAsked).join('\n');
    if (actual === expected) return 0;
    console.error(name + ' differs:\n--- expected\n' + expected + '\n--- actual\n' + actual);
    return 1;
}

const start = initSql();
function run(SQL) {
    const names = fs.readdirSync(casesFolder).filter(name => fs.existsSync(path.join(casesFolder, name, 'expected.csv'))).sort((a, b) => (traceOf(a) < traceOf(b) ? -1 : 1));
    const version = new SQL.Database().exec('SELECT sqlite_version()')[0].values[0][0];
    let failures = 0;
    for (const name of names) {
        try {
            failures += compareCase(databaseOf(SQL, traceOf(name)), name);
        } catch (error) {
            console.error(name + ': ' + error.message);
            failures++;
        }
    }
    console.log(names.length + ' cases in SQLite ' + version + ', ' + failures + ' failed');
    process.exit(failures === 0 ? 0 : 1);
}
if (start && typeof start.then === 'function') start.then(run);
else run(start);
