/* SPDX-License-Identifier: Apache-2.0
 *
 * speedscope.mjs NODE_MODULES CHROMIUM SPEEDSCOPE RUN.folded RUN.pb: speedscope (of npm) opens both as its own command line lets a browser do it,
 * and what it has read is taken from the file that it saves. Folded stacks must be those of the file, with their bytes; of the profile, whose frames
 * are functions without lines, the bytes of each stack of functions.
 */
import assert from 'node:assert/strict';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {basename, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

const [modules, executablePath, speedscope, folded, profile] = process.argv.slice(2);
const {chromium} = createRequire(`${resolve(modules)}/`)('playwright-core');

/* Bytes by stack, of the events of a profile: a frame is opened and closed, and the stack that is open has the bytes between two events. */
function bytesByStack({shared, profiles}) {
    const sums = new Map(), open = [];
    let last = 0;
    for (const {type, frame, at} of profiles[0].events) {
        if (at > last)
            sums.set(open.join(';'), (sums.get(open.join(';')) ?? 0) + at - last);
        last = at;
        if (type === 'O')
            open.push(shared.frames[frame].name);
        else
            open.pop();
    }
    return sums;
}

async function openIn(browser, file) {
    const script = resolve(`${basename(file)}.speedscope.js`), page = await browser.newPage({acceptDownloads: true}), asked = [];
    page.on('request', (request) => request.url().startsWith('file:') || asked.push(request.url()));
    writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, ${JSON.stringify(readFileSync(file).toString('base64'))})`);
    await page.goto(`${pathToFileURL(`${resolve(speedscope)}/dist/release/index.html`)}#localProfilePath=${script}`);
    await page.waitForFunction((name) => document.title.startsWith(name), basename(file), {timeout: 30000});
    const [saved] = await Promise.all([page.waitForEvent('download', {timeout: 30000}), page.keyboard.press('Control+s')]), read = JSON.parse(readFileSync(await saved.path(), 'utf8'));
    assert.deepEqual(asked.filter((url) => !/^(data|blob):/.test(url)), []);
    await page.close();
    rmSync(script);
    return read;
}

function summedBy(entries, keyOf) {
    const sums = new Map();
    for (const [key, bytes] of entries)
        sums.set(keyOf(key), (sums.get(keyOf(key)) ?? 0) + bytes);
    return Object.fromEntries([...sums].sort());
}

/* "heap;a.py:1 f;b.py:2 g" -> "a.py:f;b.py:g" */
const functionsOf = (stack) => stack.split(';').slice(1).map((frame) => frame.replace(/:\d+ /, ':')).join(';');

const wanted = readFileSync(folded, 'utf8').trimEnd().split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]);
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking']});
try {
    const lines = await openIn(browser, folded), samples = await openIn(browser, profile);
    assert.deepEqual(summedBy(bytesByStack(lines), String), summedBy(wanted, String), 'folded stacks');
    assert.deepEqual(summedBy(bytesByStack(samples), String), summedBy(wanted, functionsOf), 'the profile');
    assert.equal(samples.profiles[0].unit, 'bytes');
} finally {
    await browser.close();
}
