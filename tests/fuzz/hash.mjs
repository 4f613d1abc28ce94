/* SPDX-License-Identifier: Apache-2.0
 *
 * hash.mjs SECONDS CORPUS_FOLDER PAGE.html...: what stands behind '#' in the address of a page, which anybody may send as a link. Each file of the
 * folder is one such text. Every page shows each (SECONDS 0), and then what comes of them when they are changed at random, until the time is over: no
 * panel fails, and what is read and written again is the same. The changes are the same each time, as far as they get.
 */
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';

import {openPage} from '../web/without_browser.mjs';
import {readHash, writeHash} from '../../src/page/web/state/state.mjs';

const [seconds, folder, ...pages] = process.argv.slice(2), seeds = readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`, 'utf8'));
const PIECES = ['all', 'NaN', '-1', '0', '1e308', '-1e308', '1e999', '9007199254740993', '-0', '0.5', '%', '%00', '%E2%80%AE', '%ED%A0%80', '%F0%9F%98%80', '%0A', '&', '=', '#', '+', '__proto__', 'constructor', '(a+)+b', '[', '\\', '%5C1', '<b>', "'", '"', 'peak', 'end', 'step',
    'heap=', 'from=', 'to=', 'at=', 'since=', 'low=', 'high=', 'block=', 'stack=', 'stepa=', 'stepb=', 'segment=', 'zoom=', 'group=', 'layers=', 'axis=', 'colour=', 'rows=', 'lay=', 'database=', 'ask=', 'with=', 'sql=', 'search=', 'hide=', 'lang=', 'theme=', 'site='];
let random = 20261129;

function below(limit) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    return Math.floor(random / 4294967296 * limit);
}

const pick = (list) => list[below(list.length)];

function changed(text) {
    for (let i = 1 + below(4); i > 0; i--) {
        const at = below(text.length + 1), to = below(text.length + 1), [from, until] = [Math.min(at, to), Math.max(at, to)];
        switch (below(5)) {
        case 0: text = text.slice(0, at) + pick(PIECES) + text.slice(at); break;
        case 1: text = text.slice(0, from) + text.slice(until); break;
        case 2: text = `${text}&${pick(PIECES)}${pick(PIECES)}`; break;
        case 3: text = text.slice(0, at) + String.fromCharCode(below(512)) + text.slice(at + 1); break;
        default: text = text.replace(/=[^&]*/, () => `=${pick(PIECES)}`);
        }
    }
    return text.slice(0, 2000);
}

/* What is said is a number or a text without what is not safe; and a link made of it says the same. */
function checkWords(hash) {
    const values = readHash(hash), again = readHash(`#${writeHash({...Object.fromEntries(['from', 'to', 'low', 'high'].map((name) => [name, null])), ...values}, {})}`);
    for (const [name, value] of Object.entries(values)) {
        assert.ok(value === null || Number.isFinite(value) || typeof value === 'string', `${name} is ${value}`);
        assert.ok(typeof value !== 'string' || !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(value), `${name} holds what is not safe`);
        assert.ok(value === null || Object.is(again[name] ?? null, value) || Object.is(value, -0), `${name} is ${value}, and in a link made of it ${again[name]}`);
    }
}

/* A panel that fails where nobody waits for it fails here. */
let failure = null;
process.on('unhandledRejection', (error) => {
    failure = error;
});

async function openOne(path, number) {
    const page = openPage(path, '');
    await import(`../../src/page/web/main.mjs?${number}`);
    for (let i = 0; page.root.dataset.ready === undefined && i < 3000; i++)
        await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(page.root.dataset.ready !== undefined, `${path} is shown`);
    return page;
}

function show(page, path, hash) {
    try {
        checkWords(hash);
        page.listeners.get('hashchange')({newURL: new URL(`#${hash}`, 'file:///run.html').href});
        if (failure !== null)
            throw failure;
    } catch (error) {
        console.error(`${path} with the address ${JSON.stringify(`#${hash}`)}: ${error.stack}`);
        process.exit(1);
    }
}

assert.ok(seeds.length > 3 && pages.length > 0);
let count = 0;
for (const [number, path] of pages.entries()) {
    const page = await openOne(path, number), until = performance.now() + Number(seconds) * 1000 / pages.length;
    for (const seed of seeds)
        show(page, path, seed.trim());
    for (; performance.now() < until; count++) {
        show(page, path, changed(pick(seeds).trim()));
        if (count % 50 === 0)
            await new Promise((resolve) => setTimeout(resolve, 0));
    }
}
console.log(`hash: ${seeds.length} addresses of the corpus and ${count} made of them, on ${pages.length} pages`);
process.exit(0); /* the script's channels are open */
