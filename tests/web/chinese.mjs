/* SPDX-License-Identifier: Apache-2.0
 *
 * chinese.mjs PAGE.html...: each page as a reader sees it whose browser is Chinese, without a browser: the page's own script runs on elements that
 * are only kept. What it shows in all panels has no English in it but names of the recording, units and what is typed or asked for by name.
 */
import assert from 'node:assert/strict';
import {basename} from 'node:path';

import {readPage} from '../../src/page/web/data/decode.mjs';
import {makeModel} from '../../src/page/web/data/model.mjs';
import {Element, openPage} from './without_browser.mjs';

const {PAGE_CHINESE} = await import(process.env.NPUMEM_PAGE_CHINESE);

/* Tables of figures are made when they are opened. */
function openAll(element) {
    if (!(element instanceof Element))
        return;
    if (element.tag === 'details' && !element.attributes.has('open')) {
        element.open = true;
        element.listeners.filter((one) => one.name === 'toggle').forEach((one) => one.call({target: element}));
    }
    element.children.forEach(openAll);
}

/* What is read or said of an element and of those in it, but what is typed, frames of stacks, and messages of others. */
function textsOf(element, found = []) {
    if (['code', 'pre', 'script'].includes(element.tag) || element.attributes.get('class') === 'stack')
        return found;
    for (const name of ['aria-label', 'title', 'placeholder'])
        if (element.attributes.has(name))
            found.push(element.attributes.get(name));
    /* A cell of a picture cuts the name that its label has. */
    for (const child of element.attributes.get('role') === 'treeitem' ? [] : element.children)
        if (child instanceof Element)
            textsOf(child, found);
        else
            found.push(String(child));
    return found;
}

/* Names that others gave: columns of tables that hold nothing else. */
const NAMES = {input: ['path'], process: ['command', 'host'], heap: ['heap', 'module'], frame: ['label', 'file', 'module'], moment: ['name'], range: ['name'], setting: ['name', 'value'], meta: ['key', 'value'], oom: ['thread', 'operation', 'site', 'leaked_site'], misuse: ['site', 'other_site', 'thread'],
    finding: ['site'], leak: ['site'], suspect: ['site'], category: ['name'], peak_module: ['module', 'parent'], growth: ['site'], against_run: ['name'], against_site: ['path', 'function'], rank: ['host']};

/* Units, words of the command line and of views, and what is called so in Chinese too. */
const ALLOWED = new Set(['KiB', 'MiB', 'GiB', 'TiB', 'ns', 'us', 'ms', 'min', 'UTC', 'EN', 'rank', 'pid', 'NPU', 'KV', 'SQL', 'CSV', 'npumem', 'whatif', 'suggest', 'report', 'ingest', 'detail', 'all', 'max', 'size', 'diff', 'step', 'at', 'FUNCTION', 'torch', 'exec', 'db', 'CANN', 'HCCL',
    'driver', 'pool', 'pinned', 'registered', 'workspace', 'host', 'physical', 'imported', 'out_of_memory', 'misuse', 'torch_npu', 'compare', 'view', 'expandable_segments', 'True', 'empty_cache', 'suspect_by_site', 'leak_by_site', 'gpu_memory_utilization', 'peak', 'malloc', 'heaptrack', 'memray', 'pending_free', 'set_device', 'map_location']);
const CALLS = ['memory fraction', 'create event'];

/* Pure: words of a text that are neither. `names` are in order, the longest first. */
function wordsLeft(text, names) {
    const rest = [...CALLS, ...names].reduce((left, name) => left.replaceAll(name, ' '), text.replace(/\b0x[0-9a-f]+|\d+(?:\.\d+)? ?h\b/g, ' '));
    return [...rest.matchAll(/[A-Za-z_]{2,}/g)].map(([word]) => word).filter((word) => !ALLOWED.has(word));
}

async function namesOf() {
    const page = await readPage(globalThis.document), model = makeModel(page), blocks = await page.readBlocks(), own = ['own_category', 'operation', 'module'].flatMap((name) => [...new Set(blocks?.[name] ?? [])]);
    const all = [...own, ...Object.entries(NAMES).flatMap(([table, columns]) => model.rows(table).flatMap((row) => columns.map((column) => row[column])))].filter((name) => typeof name === 'string' && name.length > 1 && !Object.hasOwn(PAGE_CHINESE, name));
    return [...new Set(all.flatMap((name) => [name, name.split('/').pop()]))].filter((name) => name.length > 1).sort((a, b) => b.length - a.length);
}

const failures = [];
for (const [number, path] of process.argv.slice(2).entries()) {
    const page = openPage(path, '#block=1&group=category&layers=category&colour=age');
    const names = await namesOf();
    await import(`../../src/page/web/main.mjs?${number}`);
    assert.equal(page.root.lang, 'zh', `${path} says which language it is in, at once`);
    for (let i = 0; page.root.dataset.ready === undefined && i < 1000; i++)
        await new Promise((resolve) => setTimeout(resolve, 10));
    const elements = [page.skip, page.places.get('top'), page.places.get('main')];
    elements.forEach(openAll);
    const texts = elements.flatMap((element) => textsOf(element));
    assert.ok(page.root.dataset.ready !== undefined && texts.length > 100, `${path} is shown: ${texts.slice(0, 5)}`);
    for (const text of new Set(texts.filter((one) => wordsLeft(one, names).length > 0)))
        failures.push(`${basename(path)}: ${wordsLeft(text, names).join(' ')}: ${text}`);
}
assert.deepEqual(failures, []);
process.exit(0); /* the script's channels are open */
