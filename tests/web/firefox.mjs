/* SPDX-License-Identifier: Apache-2.0
 *
 * firefox.mjs NODE_MODULES FIREFOX FOLDER ON|OFF: the page FOLDER/leak.html in Firefox, told what to do by WebDriver BiDi, as Firefox speaks it without
 * another program. The page loads, asks for nothing, says nothing, and its figures are those of plain sqlite3.
 */
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

import {formatBytes, formatCount} from '../../src/page/web/state/format.mjs';

const [modules, program, folder, hasSql] = process.argv.slice(2), WebSocket = createRequire(`${modules}/`)('ws');

const LIMIT_MS = 420000; /* of a machine that is busy: some seconds are enough */

function ask(sql) {
    return JSON.parse(execFileSync('sqlite3', ['-json', `${folder}/leak.db`, sql], {encoding: 'utf8'}));
}

/* {call(method, params), faults, end()}: a browser of its own, without a window. */
async function startFirefox() {
    const child = spawn(program, ['--headless', '--no-remote', '--profile', `${folder}/profile`, '--remote-debugging-port=0'], {stdio: ['ignore', 'ignore', 'pipe']}), ended = new Promise((resolve) => child.on('exit', resolve));
    setTimeout(() => {
        console.error('firefox is not done yet: it is ended');
        child.kill('SIGKILL');
        process.exit(1);
    }, LIMIT_MS).unref();
    const address = await new Promise((resolve, reject) => {
        let said = '';
        child.stderr.on('data', (data) => {
            said += data;
            const found = said.match(/WebDriver BiDi listening on (ws:\S+)/);
            if (found)
                resolve(found[1]);
        });
        child.on('exit', (status) => reject(new Error(`firefox ends with ${status}: ${said}`)));
    });
    const socket = new WebSocket(`${address}/session`), waiting = new Map(), faults = [];
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    socket.on('message', (text) => {
        const message = JSON.parse(text);
        if (message.method === 'log.entryAdded')
            faults.push(`says ${message.params.text}`);
        else if (message.method === 'network.beforeRequestSent' && !/^(file|data|blob|about):/.test(message.params.request.url))
            faults.push(`asks for ${message.params.request.url}`);
        else if (waiting.has(message.id))
            waiting.get(message.id)(message);
    });
    const call = async (method, params) => {
        const id = waiting.size + 1, answer = await new Promise((resolve) => {
            waiting.set(id, resolve);
            socket.send(JSON.stringify({id, method, params}));
        });
        assert.notEqual(answer.type, 'error', `${method}: ${answer.message}`);
        return answer.result;
    };
    return {call, faults, end: async () => {
        await call('browser.close', {});
        await ended;
    }};
}

/* What an expression is in the page: a text, or a list of lists as JSON. */
async function evaluate({call}, context, expression) {
    const answer = await call('script.evaluate', {expression, target: {context}, awaitPromise: true});
    assert.equal(answer.type, 'success', answer.exceptionDetails?.text);
    return answer.result.value;
}

const untilReady = `new Promise((resolve) => {
    const look = () => (document.documentElement.dataset.ready ? resolve('ready') : setTimeout(look, 20));
    look();
})`;
const cellsOf = (panel) => `JSON.stringify([...document.querySelectorAll('${panel} tbody tr:not(.below)')].map((row) => [...row.cells].map((cell) => cell.textContent)))`;

/* An answer of SQLite in its worker, as a click on "run" brings it. */
const answerOf = (sql) => `new Promise((resolve) => {
    const [text, run] = [document.querySelector('#sql textarea'), document.querySelector('#sql button')];
    text.value = ${JSON.stringify(sql)};
    text.dispatchEvent(new Event('input', {bubbles: true}));
    run.click();
    const look = () => (run.disabled ? setTimeout(look, 20) : resolve(document.querySelector('#sql .broken')?.textContent ?? document.querySelector('#sql tbody').textContent));
    look();
})`;

async function testPage(firefox) {
    const [{context}] = (await firefox.call('browsingContext.getTree', {})).contexts, page = (expression) => evaluate(firefox, context, expression);
    await firefox.call('browsingContext.setViewport', {context, viewport: {width: 1440, height: 1000}});
    await firefox.call('browsingContext.navigate', {context, url: pathToFileURL(`${folder}/leak.html`).href, wait: 'complete'});
    assert.equal(await page(untilReady), 'ready');
    const [{count, heap}] = ask("SELECT count(*) AS count, heap_id AS heap FROM allocation WHERE is_segment = 0 AND heap_id = (SELECT heap_id FROM heap WHERE level = 2)");
    assert.match(await page(`document.querySelector('#map .tell').textContent`), new RegExp(`^${formatCount(count)} blocks in view`), `heap ${heap} has ${count} blocks`);
    const leaks = ask('SELECT site, leak_bytes, leak_count FROM leak_by_site ORDER BY leak_bytes DESC');
    assert.deepEqual(JSON.parse(await page(cellsOf('#leaks'))).map((cells) => cells.slice(0, 3)), leaks.map((row) => [row.site, formatBytes(row.leak_bytes), formatCount(row.leak_count)]));
    const peak = ask("SELECT site, live_bytes, live_count FROM peak_by_site WHERE level = 'pool' ORDER BY live_bytes DESC, site LIMIT 12");
    assert.deepEqual(JSON.parse(await page(cellsOf('#live'))).map((cells) => [cells[0].replace(/leak$/, ''), cells[1], cells[3]]), peak.map((row) => [row.site, formatBytes(row.live_bytes), formatCount(row.live_count)]));
    if (hasSql === 'ON')
        assert.equal(await page(answerOf('SELECT sum(allocation_count) FROM heap_total')), String(ask('SELECT sum(allocation_count) AS count FROM heap_total')[0].count));
    await page(`document.querySelector('#verdicts .card').click()`);
    assert.ok((await page(`document.querySelector('#leaks .below .stack').textContent`)).includes(leaks[0].site), 'a click on the verdict shows the stack of the leak');
    const {data} = await firefox.call('browsingContext.captureScreenshot', {context, origin: 'document'});
    writeFileSync(`${folder}/leak.png`, Buffer.from(data, 'base64'));
    assert.deepEqual(firefox.faults, [], 'the page asks for nothing, and says nothing');
}

const firefox = await startFirefox();
await firefox.call('session.new', {capabilities: {}});
await firefox.call('session.subscribe', {events: ['log.entryAdded', 'network.beforeRequestSent']});
try {
    await testPage(firefox);
} finally {
    await firefox.end();
}
