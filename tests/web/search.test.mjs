/* SPDX-License-Identifier: Apache-2.0
 *
 * The search: how long a regular expression may take is known before it is tried; what may take long is answered beside the page, and given up in
 * time. The worker is one of node's, with the page's own script in it.
 */
import assert from 'node:assert/strict';
import {after, test} from 'node:test';
import {Worker} from 'node:worker_threads';

import {beginSearching, isSlowSearch, makeFilter, patternOf, stepsOf} from '../../src/page/web/data/search.mjs';

const AT_ONCE = 1e7, LINE = 100, EVIL = `${'a'.repeat(60)}!`;
const started = [];
let changes = 0, tell = null;

/* What a page has: onmessage and postMessage are names of the worker itself. */
function startWorker(script) {
    const worker = new Worker(`const {parentPort} = require('node:worker_threads');
        globalThis.postMessage = (data) => parentPort.postMessage(data);
        parentPort.on('message', (data) => globalThis.onmessage({data}));
        ${script}`, {eval: true});
    worker.on('message', (data) => worker.onmessage({data}));
    started.push(worker);
    return worker;
}

after(() => started.forEach((worker) => worker.terminate()));

function nextChange() {
    return new Promise((resolve) => {
        tell = resolve;
    });
}

test('what is searched for as a rule is answered at once', () => {
    for (const search of ['model', 'model.py:88', '^model.*forward$', 'layer\\.[0-9]+\\.(attn|mlp)', '(a|b|c)d', 'x{2,5}y?', '[*+(]+', 'a\\+b\\*', '(?:ab)+', 'foo.*bar.*'])
        assert.ok(patternOf(search) && stepsOf(search)(LINE) <= AT_ONCE, search);
});

test('what may take for ever is known by how it is written', () => {
    for (const search of ['(a+)+b', '(a*)*b', '(a|a)*b', '(a?){40}b', '(.*a){12}', '([a-z]+)*$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$', 'a?'.repeat(40), '(a|b)'.repeat(40), '(.+)\\1+', '(?:){999999999}', '.*'.repeat(8), '(?<n>a+)+', '((a{9})+)*'])
        assert.ok(patternOf(search) && stepsOf(search)(LINE) > AT_ONCE, search);
});

test('steps are counted as they are', () => {
    assert.equal(stepsOf('b')(9), 10 * 2);
    assert.equal(stepsOf('b*')(9), 10 * 10 * 2);
    assert.equal(stepsOf('(a|b)?')(9), 10 * 4 * 5);
    assert.equal(stepsOf('(a+)+')(9), Infinity);
});

test('a search that takes too long is stopped, and is looked for as it stands', async () => {
    beginSearching(() => {
        changes++;
        tell?.();
    }, startWorker);
    const began = performance.now(), search = '(a+)+b', filter = makeFilter(search), change = nextChange();
    assert.equal(filter(EVIL), true, 'until it is known, all that there was stays');
    assert.ok(performance.now() - began < 1000);
    await change;
    assert.ok(isSlowSearch(search));
    assert.deepEqual([EVIL, 'x(A+)+b'].map(makeFilter(search)), [false, true]);
    assert.equal(changes, 1);
});

test('what may take long and does not is answered as it is, and asked for once', async () => {
    const search = '(model|data)+\\.py', texts = ['Model.py:88', 'datamodel.py', 'model_py', 'other.py'], change = nextChange(), before = changes;
    texts.forEach(makeFilter(search));
    texts.forEach(makeFilter(search));
    await change;
    assert.deepEqual(texts.map(makeFilter(search)), texts.map((text) => /(model|data)+\.py/i.test(text)));
    assert.equal(changes, before + 1);
    assert.ok(!isSlowSearch(search));
});

test('until there is an answer, the picture is that of the search before', async () => {
    assert.deepEqual(['a.py', 'b.py'].map(makeFilter('^a')), [true, false]);
    const search = '(b|c)+', change = nextChange();
    assert.deepEqual(['a.py', 'b.py'].map(makeFilter(search)), [true, false]);
    await change;
    assert.deepEqual(['a.py', 'b.py'].map(makeFilter(search)), [false, true]);
});

test('a search that is left is not waited for', async () => {
    makeFilter('(a+)+b')(EVIL);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const search = '(b|c)+', change = nextChange(), began = performance.now();
    makeFilter(search)('b');
    await change;
    assert.ok(makeFilter(search)('b') && !isSlowSearch(search));
    assert.ok(performance.now() - began < 2000);
});

test('without a worker what may take long is looked for as it stands', async () => {
    beginSearching(() => tell?.(), () => {
        throw new Error('there are none');
    });
    const search = '(a|b)+c', change = nextChange();
    makeFilter(search)('abc');
    await change;
    assert.ok(isSlowSearch(search) && !makeFilter(search)('abc') && makeFilter(search)('(a|b)+c'));
});
