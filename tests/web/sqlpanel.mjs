/* SPDX-License-Identifier: Apache-2.0
 *
 * The panel that answers SQL, for browser.mjs. What SQLite as wasm says of the database in the page is compared with what plain sqlite3
 * says of the one that npumem-ingest --detail live makes of the same trace, and, where no single allocation counts, of the whole one.
 */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';

let suite = null;

const MARK = '---- end of an answer';

/* As the shell saves them: CSV of each answer. Nothing where there is no row. */
function askShellAll(database, texts, parameters = {}) {
    const set = Object.entries(parameters).map(([name, value]) => `.parameter set :${name} ${value}\n`).join(''), input = texts.map((sql) => `${sql}\n;\n.print '${MARK}'\n`).join('');
    const printed = execFileSync('sqlite3', [`${suite.folder}/${database}.db`], {input: `.mode csv\n.headers on\n${set}${input}`, encoding: 'utf8', maxBuffer: 1 << 28});
    return printed.split(`${MARK}\n`).slice(0, -1);
}

function askShell(database, sql, parameters) {
    return askShellAll(database, [sql], parameters)[0];
}

function readQuery(name) {
    return readFileSync(`${suite.queryFolder}/${name}`, 'utf8');
}

function sorted(csv) {
    return csv.split('\r\n').sort();
}

/* In a page: what it saves is kept there, and many questions can be asked in one go, as clicks and keys would. */
function installAsking() {
    const make = URL.createObjectURL, get = (selector) => document.querySelector(`#sql ${selector}`);
    URL.createObjectURL = (blob) => {
        window.saved = blob;
        return make.call(URL, blob);
    };
    const setTo = (element, value, ...events) => {
        element.value = value;
        for (const type of events)
            element.dispatchEvent(new Event(type, {bubbles: true}));
    };
    const answer = async ([choice, sql]) => {
        const [run, save] = [get('[data-do=run]'), get('[data-do=save]')];
        if (choice !== null)
            setTo(get('select'), choice, 'change');
        if (sql !== null)
            setTo(get('textarea'), sql, 'input', 'change');
        run.click();
        while (run.disabled)
            await new Promise((resolve) => setTimeout(resolve, 2));
        if (get('.broken'))
            return `error: ${get('.broken').textContent}`;
        save.click();
        return window.saved.text();
    };
    window.askAll = async (questions) => {
        const click = HTMLAnchorElement.prototype.click, answers = [];
        HTMLAnchorElement.prototype.click = () => {};
        for (const question of questions)
            answers.push(await answer(question));
        HTMLAnchorElement.prototype.click = click;
        return answers;
    };
}

async function openPanel(browser, name, hash, options) {
    const opened = await suite.open(browser, name, hash, options);
    await opened.page.waitForFunction(() => document.querySelectorAll('#sql option').length > 1);
    await opened.page.evaluate(installAsking);
    return opened;
}

/* The CSV of each answer, or "error: " and its text. A question is [what is chosen, text], either of them null. */
function askPanelAll(page, questions) {
    return page.evaluate((all) => window.askAll(all), questions);
}

async function askPanel(page, sql) {
    return (await askPanelAll(page, [[null, sql]]))[0];
}

/* Of what is shown already. */
async function saveShown(page) {
    await page.click('#sql button:text-is("save as CSV")');
    return page.evaluate(() => window.saved.text());
}

/* The rows of an answer, for where the shell is silent: it prints no head without them. */
function withoutHead(csv) {
    return csv.split('\r\n').length === 2 ? '' : csv;
}

/* Two versions of SQLite may differ in the last of fifteen digits, and so in how a half is rounded where a text has a figure with its unit. */
const REAL = /(\d+\.\d+(?:e[+-]?\d+)?)( (?:us|ms|s|min|h|[KMGT]iB|%))?/g;

function checkSame(answer, wanted, name, isInOrder) {
    const linesOf = (csv) => csv.split('\r\n').map((text) => ({text, words: text.replace(REAL, '#'), reals: [...text.matchAll(REAL)]})), order = (lines) => (isInOrder ? lines : lines.sort((a, b) => (a.words + a.text < b.words + b.text ? -1 : 1)));
    const [own, other] = [answer, wanted].map((csv) => order(linesOf(csv)));
    assert.deepEqual(own.map((line) => line.words), other.map((line) => line.words), name);
    own.forEach((line, i) => line.reals.forEach(([, real, unit], k) => {
        const there = other[i].reals[k][1], last = unit ? 1.001 * 10 ** -(there.split('.')[1].length) : 0;
        assert.ok(Math.abs(Number(real) - Number(there)) <= Math.max(last, 1e-11 * Number(there)), `${name}: ${line.text}, not ${other[i].text}`);
    }));
}

async function checkQueries(page) {
    const names = readdirSync(suite.queryFolder).filter((name) => name.endsWith('.sql') && !/^ATTACH /m.test(readQuery(name)));
    const views = suite.ask('leak', "SELECT name FROM catalog WHERE kind = 'view'").map((row) => row.name);
    assert.equal(await page.evaluate(() => performance.getEntriesByType('resource').length), 0);
    assert.equal(page.workers().length, 0, 'nothing runs before it is asked');
    assert.deepEqual(await page.$$eval('#sql option', (options) => options.map((option) => option.value)), ['', ...names.sort(), ...views]);
    const answers = (await askPanelAll(page, [...names, ...views].map((name) => [name, null]))).map(withoutHead), wanted = askShellAll('live', [...names.map(readQuery), ...views.map((name) => `SELECT * FROM ${name}`)]);
    for (const [i, name] of names.entries())
        checkSame(answers[i], wanted[i], name, true);
    for (const [i, name] of views.entries())
        checkSame(answers[names.length + i], wanted[names.length + i], name, false);
    assert.ok(wanted.filter((csv) => csv.split('\r\n').length > 2).length > 50, 'most questions have an answer');
    assert.equal(page.workers().length, 1);
}

/* Rows that stand beside the file of the database are back as they were. */
async function checkTables(page) {
    const moved = [...readFileSync(`${suite.folder}/leak.html`, 'utf8').matchAll(/"name":"sql_(\w+)","rows":(\d+)/g)].map(([, name, rows]) => [name, Number(rows)]);
    const tables = suite.ask('live', "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").map((row) => row.name);
    assert.ok(moved.some(([name, rows]) => name === 'z_allocation' && rows >= 64), JSON.stringify(moved));
    const texts = tables.map((name) => `SELECT * FROM ${name}`), answers = await askPanelAll(page, texts.map((sql) => [null, sql])), wanted = askShellAll('live', texts);
    assert.ok(tables.length > 50);
    for (const [i, name] of tables.entries())
        assert.deepEqual(sorted(withoutHead(answers[i])), sorted(wanted[i]), name);
    const sums = "SELECT site, leak_count, leak_bytes FROM leak_by_site ORDER BY leak_bytes DESC, site";
    assert.equal(await askPanel(page, sums), askShell('leak', sums), 'sums are those of the whole database');
}

/* Every query and view of a page, of its database that is chosen: what the shell says of the database that it is. */
async function checkAll(page, database) {
    const names = readdirSync(suite.queryFolder).filter((name) => name.endsWith('.sql') && !/^ATTACH /m.test(readQuery(name))), views = suite.ask('leak', "SELECT name FROM catalog WHERE kind = 'view'").map((row) => row.name);
    const answers = (await askPanelAll(page, [...names, ...views].map((name) => [name, null]))).map(withoutHead), wanted = askShellAll(database, [...names.map(readQuery), ...views.map((name) => `SELECT * FROM ${name}`)]);
    [...names, ...views].forEach((name, i) => checkSame(answers[i], wanted[i], `${name} of ${database}`, false));
    assert.ok(wanted.filter((csv) => csv.split('\r\n').length > 2).length > 50, 'most questions have an answer');
}

/* Of ranks the database is that of all of them, with rows of those that have a map. */
async function testRanksSql(browser) {
    const {page, close} = await openPanel(browser, 'ranks'), [{without}] = suite.ask('ranks_live', "SELECT sum(detail = 'none') AS without FROM input");
    assert.equal(await page.locator('#sql-database button').count(), 0, 'there is one to ask');
    assert.equal(await page.textContent('#sql-ranks'), `The database is that of all 4 inputs; of ${without} of them it has sums and no single allocation.`);
    await checkAll(page, 'ranks_live');
    const sums = 'SELECT rank, peak_bytes, leak_bytes, failure FROM z_rank_summary ORDER BY rank';
    assert.equal(await askPanel(page, sums), askShell('ranks', sums), 'sums are those of all of every rank');
    await close();
}

/* Either of two runs, and both by the queries of npumem diff. */
async function testAgainstSql(browser) {
    const {page, close} = await openPanel(browser, 'against'), run = 'SELECT count(*) AS steps, (SELECT max(peak_bytes) FROM peak) AS bytes FROM step';
    assert.deepEqual(await page.$$eval('#sql-database button', (buttons) => buttons.map((button) => [button.textContent, button.getAttribute('aria-pressed')])), [['A: leak.db', 'true'], ['B: fine.db', 'false']]);
    assert.equal(await askPanel(page, run), askShell('leak', run));
    await page.click('#sql-database >> text=B: fine.db');
    assert.equal(await askPanel(page, run), askShell('fine', run));
    await page.waitForFunction(() => location.hash.includes('database=B'));
    await checkAll(page, 'fine_live');
    const names = readdirSync(suite.queryFolder).filter((name) => name.endsWith('.sql') && /^ATTACH /m.test(readQuery(name)));
    assert.ok(names.length >= 4);
    await page.click('#sql-database >> text=A: leak.db');
    const answers = (await askPanelAll(page, names.map((name) => [name, null]))).map(withoutHead);
    names.forEach((name, i) => checkSame(answers[i], askShell('fine_live', readQuery(name), {base: `"'${suite.folder}/live.db'"`}), `${name} compares B with A, as npumem diff A B`, true));
    assert.equal(await page.getAttribute('#sql-database .chosen', 'aria-pressed'), 'true');
    assert.equal(await page.textContent('#sql-database .chosen'), 'B: fine.db', 'which is asked of B');
    await page.click('#sql-database >> text=A: leak.db');
    const both = "ATTACH 'base.db' AS base; SELECT (SELECT count(*) FROM main.step) AS own, (SELECT count(*) FROM base.step) AS other";
    for (let round = 0; round < 2; round++)
        assert.equal(await askPanel(page, both), `own,other\r\n${suite.ask('leak', 'SELECT count(*) AS n FROM step')[0].n},${suite.ask('fine', 'SELECT count(*) AS n FROM step')[0].n}\r\n`, 'and again');
    await page.locator('#sql').screenshot({path: `${suite.folder}/sql-against.png`});
    await close();
    const narrow = await openPanel(browser, 'narrow', '#database=B');
    assert.deepEqual(await narrow.page.$$eval('#sql-database button', (buttons) => buttons.map((button) => button.textContent[0])), ['A'], 'what does not fit cannot be asked');
    assert.match(await narrow.page.textContent('#sql-database'), /the database of B is too large to be in this page/);
    assert.equal(await askPanel(narrow.page, run), askShell('fine', run), 'a link to it asks the other');
    await narrow.close();
}

async function testParameters(browser) {
    const {page, close} = await openPanel(browser, 'leak');
    await page.selectOption('#sql select', 'largest_live.sql');
    assert.deepEqual(await page.$$eval('#sql .parameter input', (inputs) => inputs.map((input) => input.name)), ['at_seq', 'at_ns', 'at', 'top']);
    assert.ok((await page.textContent('#sql .parameter >> nth=3')).includes('rows to return (default 20)'));
    await page.fill('#sql input[name=at]', 'peak');
    await page.fill('#sql input[name=top]', '3');
    await page.press('#sql input[name=top]', 'Enter');
    await page.waitForFunction(() => document.querySelectorAll('#sql tbody tr').length === 3);
    const wanted = askShell('live', readQuery('largest_live.sql'), {at: 'peak', top: 3});
    assert.equal(await saveShown(page), wanted);
    await page.waitForFunction(() => location.hash.includes('top'));
    const hash = await page.evaluate(() => location.hash);
    await close();
    const again = await openPanel(browser, 'leak', hash);
    assert.equal(again.page.workers().length, 0, 'a link runs nothing');
    await again.page.focus('#sql textarea');
    await again.page.keyboard.press('Control+Enter');
    await again.page.waitForFunction(() => document.querySelectorAll('#sql tbody tr').length === 3);
    assert.equal(await saveShown(again.page), wanted, 'a link asks the same');
    await again.page.fill('#search', 'no such name');
    assert.deepEqual(await suite.cellsOf(again.page, '#sql'), []);
    assert.match(await again.page.textContent('#sql .tell'), /^3 rows; 0 of them fit the search$/);
    await again.close();
}

async function checkAnswers(page) {
    await page.selectOption('#sql select', '');
    const values = "SELECT 1 AS a, 9223372036854775807 AS b, 0.1 AS c, NULL AS d, '' AS e, 'x\"y,''z' AS f, 'a' || char(10) || 'b' AS g, 1e20 AS h, 1.0 AS i, -5 AS j";
    assert.equal(await askPanel(page, values), askShell('leak', values));
    assert.equal(await askPanel(page, 'SELECT * FROM no_such_table'), 'error: no such table: no_such_table');
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('#sql .broken')).color), 'rgb(196, 35, 47)');
    assert.match(await askPanel(page, 'DELETE FROM z_allocation'), /^error: attempt to write a readonly database/);
    assert.match(await askPanel(page, 'SELEC 1'), /^error: near "SELEC": syntax error/);
    const many = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 120000) SELECT i FROM n';
    assert.equal((await askPanel(page, many)).split('\r\n').length, 100002, 'a head, 100,000 rows and the end');
    assert.equal(await page.textContent('#sql .tell'), '100,000 rows; the first 200 are shown, CSV has all; there are more: no more than these are read');
    assert.equal((await suite.cellsOf(page, '#sql')).length, 200);
    await page.fill('#sql textarea', 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n');
    await page.click('#sql button:text-is("run")');
    await page.click('#sql button:text-is("stop")');
    await page.waitForFunction(() => document.querySelector('#sql .broken')?.textContent === 'stopped');
    assert.equal(await askPanel(page, 'SELECT 7 AS after'), 'after\r\n7\r\n', 'the next question is answered');
    const download = page.waitForEvent('download');
    await page.click('#sql button:text-is("save as CSV")');
    const file = await download;
    assert.equal(file.suggestedFilename(), 'answer.csv');
    assert.equal(readFileSync(await file.path(), 'utf8'), askShell('leak', 'SELECT 7 AS after'));
}

/* Whatever a question does, the next one is answered as before. */
async function checkUnchanged(page) {
    const all = "SELECT (SELECT count(*) FROM allocation) AS rows, (SELECT count(*) FROM sqlite_schema) AS names, (SELECT group_concat(name) FROM temp.sqlite_schema) AS own, 'A' LIKE 'a' AS folds";
    const before = await askPanel(page, all), attacks = [
        'PRAGMA query_only = OFF; DELETE FROM z_allocation', 'PRAGMA query_only = OFF; DROP VIEW peak; DROP TABLE memory_sample', "PRAGMA query_only = 0; PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'allocation'",
        'CREATE TEMP TABLE peak AS SELECT 1 AS bytes', 'PRAGMA query_only = OFF; CREATE TEMP VIEW allocation AS SELECT 1 AS n', 'PRAGMA query_only = OFF; BEGIN; DELETE FROM z_allocation', 'PRAGMA case_sensitive_like = ON', 'PRAGMA hard_heap_limit = 300000',
        'PRAGMA query_only = OFF; PRAGMA user_version = 3; VACUUM', "PRAGMA query_only = OFF; ATTACH (SELECT file FROM pragma_database_list WHERE name = 'main') AS again; DELETE FROM again.z_allocation",
        'PRAGMA/**/query_only = OFF; CREATE TEMP TRIGGER t AFTER INSERT ON process BEGIN DELETE FROM z_allocation; END; INSERT INTO process SELECT * FROM process LIMIT 0',
    ];
    assert.match(before, /^rows,names,own,folds\r\n[1-9]\d*,[1-9]\d*,,1\r\n$/);
    for (const sql of attacks) {
        await askPanel(page, sql);
        assert.equal(await askPanel(page, all), before, sql);
    }
    assert.match(await askPanel(page, 'PRAGMA query_only = OFF; DELETE FROM z_allocation; SELECT count(*) AS n FROM allocation'), /^n\r\n0\r\n$/, 'which have worked');
}

/* One page for all that changes nothing in it: to start SQLite takes longer than most questions. */
async function testSql(browser) {
    const {page, close} = await openPanel(browser, 'leak');
    await checkQueries(page);
    await checkTables(page);
    await checkAnswers(page);
    await checkUnchanged(page);
    await close();
}

async function testForeign(browser) {
    const {page, close} = await openPanel(browser, 'hostile');
    const sql = 'SELECT host, command FROM process UNION ALL SELECT label, file FROM frame ORDER BY 1';
    assert.equal(await askPanel(page, sql), askShell('hostile', sql));
    const text = await page.textContent('#sql tbody');
    for (const name of ['<b>h</b>', '<script>window.taken=1</script>', 'onerror=window.taken=5>'])
        assert.ok(text.includes(name), `${name} is shown as it is`);
    assert.equal(await page.locator('#sql tbody img, #sql tbody script, #sql tbody b').count(), 0);
    assert.equal(await page.evaluate(() => window.taken), undefined);
    assert.equal(await askPanel(page, "SELECT '=cmd|x' AS \"@a\", '+1' AS b, 'a' || char(27) || '[31m' || char(8238) AS c, -1 AS d"), '"\'@a",b,c,d\r\n"\'=cmd|x","\'+1",a?[31m?,-1\r\n', 'no cell is a formula');
    assert.deepEqual(await suite.cellsOf(page, '#sql'), [['=cmd|x', '+1', 'a?[31m?', '-1']]);
    await page.locator('#sql').screenshot({path: `${suite.folder}/sql-light.png`});
    await close();
}

async function testWithout(browser) {
    const {page, close} = await suite.open(browser, 'without'), text = readFileSync(`${suite.folder}/without.html`, 'utf8');
    assert.equal(await page.locator('#sql, script.sql').count(), 0);
    assert.ok(!text.includes('wasm-unsafe-eval') && !text.includes('class="sql"'));
    await close();
    const chinese = await openPanel(browser, 'fine', '#lang=zh&ask=peak', {colorScheme: 'dark'});
    await chinese.page.click('#sql button:text-is("\u8fd0\u884c")');
    await chinese.page.waitForFunction(() => /^\d+ \u884c$/.test(document.querySelector('#sql .tell').textContent));
    await chinese.page.locator('#sql').screenshot({path: `${suite.folder}/sql-dark.png`});
    await chinese.close();
}

/* with: what browser.mjs has: {open, ask, cellsOf, folder, queryFolder}. */
export function sqlTests(tools) {
    suite = tools;
    return [testSql, testRanksSql, testAgainstSql, testParameters, testForeign, testWithout];
}
