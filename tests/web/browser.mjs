/* SPDX-License-Identifier: Apache-2.0
 *
 * browser.mjs FOLDER QUERY_FOLDER ON|OFF: the pages that browser.sh has written, in Chromium. Everything that a page shows is compared with what plain sqlite3
 * says of its database. No page may ask for anything, say anything on the console, or take a name for markup.
 */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

import {formatBytes, formatCount} from '../../src/report/web/format.mjs';
import {PANEL_TESTS} from './panels.mjs';
import {sqlTests} from './sqlpanel.mjs';

const require = createRequire(`${process.env.NPUMEM_NODE_MODULES}/`);
const {chromium} = require('playwright-core');
const folder = process.argv[2];

function ask(name, sql) {
    const text = execFileSync('sqlite3', ['-json', `${folder}/${name}.db`, sql], {encoding: 'utf8', maxBuffer: 1 << 28});
    return text.trim() === '' ? [] : JSON.parse(text);
}

/* A page that is ready; what it asked for and said is in `faults`. */
async function open(browser, name, hash = '', options = {}) {
    const context = await browser.newContext({viewport: {width: 1440, height: 1000}, ...options}), page = await context.newPage(), faults = [];
    page.on('request', (request) => /^(file|data|blob):/.test(request.url()) || faults.push(`asks for ${request.url()}`));
    page.on('console', (message) => faults.push(`says ${message.text()}`));
    page.on('pageerror', (error) => faults.push(`fails: ${error.stack}`));
    await page.goto(pathToFileURL(`${folder}/${name}.html`).href + hash);
    if (options.javaScriptEnabled !== false)
        await page.waitForFunction(() => document.documentElement.dataset.ready, null, {timeout: 60000});
    return {page, faults, close: async () => {
        assert.deepEqual(faults, [], `${name}.html`);
        await context.close();
    }};
}

async function picture(page, name) {
    await page.screenshot({path: `${folder}/${name}.png`, fullPage: true});
}

/* The texts of a table's rows in a panel, cell by cell. */
function cellsOf(page, selector) {
    return page.$$eval(`${selector} tbody tr:not(.below)`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
}

/* The colour of the map at an event and an address, and where that is on the screen. */
async function mapPoint(page, name, allocationId) {
    const [row] = ask(name, `SELECT a.address AS address, a.size_bytes AS size, coalesce(a.alloc_seq, 0) AS born, a.heap_id AS heap FROM allocation AS a WHERE a.allocation_id = ${allocationId}`);
    const lanes = ask(name, `SELECT DISTINCT s.address AS begin, s.address + s.size_bytes AS end FROM allocation AS a JOIN allocation AS s ON s.allocation_id = a.segment_id WHERE a.heap_id = ${row.heap} UNION SELECT address, address + size_bytes FROM allocation WHERE heap_id = ${row.heap} AND is_segment = 0 AND segment_id IS NULL ORDER BY 1, 2`);
    const merged = [];
    for (const lane of lanes)
        if (merged.length > 0 && lane.begin <= merged[merged.length - 1].end)
            merged[merged.length - 1].end = Math.max(merged[merged.length - 1].end, lane.end);
        else
            merged.push({...lane});
    let whole = 0, offset = 0;
    for (const lane of merged) {
        if (row.address >= lane.begin && row.address < lane.end)
            offset = whole + row.address - lane.begin;
        whole += lane.end - lane.begin;
    }
    const [range] = ask(name, 'SELECT min(first_seq) AS first, max(last_seq) + 1 AS last FROM usage');
    const [life] = ask(name, `SELECT coalesce(free_seq, ${range.last}) AS freed FROM allocation WHERE allocation_id = ${allocationId}`);
    await page.locator('#map').scrollIntoViewIfNeeded();
    const box = await page.locator('#map-canvas').boundingBox();
    /* The gutters and the height are those of timeline.mjs and map.mjs. */
    const left = 86, right = box.width - 14, top = 8, height = 420 - 8 - 26;
    const x = left + (right - left) * ((row.born + life.freed) / 2 - range.first) / (range.last - range.first), y = top + height * (offset + row.size / 2) / whole;
    const colour = await page.$eval('#map-canvas', (canvas, at) => [...canvas.getContext('2d').getImageData(Math.round(at.x * devicePixelRatio), Math.round(at.y * devicePixelRatio), 1, 1).data], {x, y});
    return {x: box.x + x, y: box.y + y, colour};
}

async function testFigures(browser) {
    const {page, close} = await open(browser, 'leak');
    const leaks = ask('leak', 'SELECT site, leak_bytes, leak_count, bytes_per_step FROM leak_by_site ORDER BY leak_bytes DESC');
    assert.equal(leaks.length, 1, 'the run leaks at one site');
    assert.deepEqual((await cellsOf(page, '#leaks')).map((cells) => cells.slice(0, 4)), leaks.map((row) => [row.site, formatBytes(row.leak_bytes), formatCount(row.leak_count), formatBytes(row.bytes_per_step)]));
    const peak = ask('leak', "SELECT site, live_bytes, live_count FROM peak_by_site WHERE level = 'pool' ORDER BY live_bytes DESC, site LIMIT 12");
    assert.deepEqual((await cellsOf(page, '#live')).map((cells) => [cells[0].replace(/leak$/, ''), cells[1], cells[3]]), peak.map((row) => [row.site, formatBytes(row.live_bytes), formatCount(row.live_count)]));
    const moments = ask('leak', "SELECT moment, reserved_bytes, free_bytes, stuck_bytes FROM fragmentation WHERE level = 'pool' ORDER BY seq, moment_id");
    assert.deepEqual((await cellsOf(page, '#pool .pair > div:nth-child(2)')).map((cells) => [cells[0], cells[1], cells[3], cells[4]]), moments.map((row) => [row.moment, formatBytes(row.reserved_bytes), formatBytes(row.free_bytes), formatBytes(row.stuck_bytes)]));
    const [whole] = ask('leak', "SELECT peak_bytes, live_count, reserved_at_peak_bytes, peak_seq FROM peak WHERE level = 'pool'");
    const tell = await page.textContent('#timeline .tell');
    for (const part of [`event ${formatCount(whole.peak_seq)}`, `at most ${formatBytes(whole.peak_bytes)}`])
        assert.ok(tell.includes(part), `${tell} has no ${part}`);
    await picture(page, 'leak-light');
    await close();
}

/* Blocks that were live at any event are counted by the page; SQL counts them anew. */
async function testMoments(browser) {
    const seqs = ask('leak', 'SELECT DISTINCT alloc_seq AS seq FROM allocation WHERE heap_id = 1 AND alloc_seq % 397 = 0 LIMIT 3').map((row) => row.seq);
    assert.equal(seqs.length, 3);
    for (const seq of seqs) {
        const {page, close} = await open(browser, 'leak', `#at=${seq}`);
        const rows = ask('leak', `SELECT f.label AS site, sum(a.size_bytes) AS bytes, count(*) AS count FROM allocation AS a JOIN stack AS s ON s.stack_id = a.stack_id JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE a.heap_id = 1 AND a.is_segment = 0 AND a.alloc_seq <= ${seq} AND (a.free_seq IS NULL OR a.free_seq > ${seq}) GROUP BY f.label ORDER BY 2 DESC, 1 LIMIT 12`);
        assert.deepEqual((await cellsOf(page, '#live')).map((cells) => [cells[0].replace(/leak$/, ''), cells[1], cells[3]]), rows.map((row) => [row.site, formatBytes(row.bytes), formatCount(row.count)]));
        await close();
    }
}

async function testMap(browser) {
    const {page, close} = await open(browser, 'leak');
    const leaked = ask('leak', "SELECT l.allocation_id AS id, l.size_bytes AS size FROM leak AS l ORDER BY l.alloc_seq").map((row) => row.id);
    const chosen = leaked[Math.floor(leaked.length / 2)], point = await mapPoint(page, 'leak', chosen);
    assert.deepEqual(point.colour, [0xe0, 0x2b, 0x3c, 255], 'a leaked block is red');
    await page.mouse.move(point.x, point.y);
    const [site] = ask('leak', 'SELECT site FROM leak_by_site');
    assert.ok((await page.textContent('.tip')).includes(site.site), 'hovering names the site');
    await page.mouse.click(point.x, point.y);
    assert.ok((await page.textContent('#map .side')).includes(`allocation${formatCount(chosen)}`), 'a click chooses the block that SQL names');
    assert.ok((await page.$$eval('#map .stack li.site', (lines) => lines.map((line) => line.textContent))).includes(site.site), 'its stack is shown');
    await page.waitForFunction(() => location.hash.includes('block='));
    const hash = await page.evaluate(() => location.hash);
    await picture(page, 'leak-block');
    await close();
    const again = await open(browser, 'leak', hash);
    assert.ok((await again.page.textContent('#map .side')).includes(`allocation${formatCount(chosen)}`), 'a link shows the same block');
    await again.close();
}

async function testRange(browser) {
    const {page, close} = await open(browser, 'leak');
    await page.locator('#timeline').scrollIntoViewIfNeeded();
    const box = await page.locator('#timeline-canvas').boundingBox(), all = await page.textContent('#map .tell');
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, box.y + 110, {steps: 4});
    await page.mouse.up();
    await page.waitForFunction(() => /from=\d+&to=\d+/.test(location.hash));
    const [, from, to] = (await page.evaluate(() => location.hash)).match(/from=(\d+)&to=(\d+)/).map(Number);
    const [{count}] = ask('leak', `SELECT count(*) AS count FROM allocation WHERE heap_id = 1 AND is_segment = 0 AND alloc_seq <= ${to} AND (free_seq IS NULL OR free_seq >= ${from})`);
    const tell = await page.textContent('#map .tell');
    assert.notEqual(tell, all);
    assert.ok(tell.startsWith(`${formatCount(count)} blocks`), `${tell}, not ${count}, from ${from} to ${to}`);
    await page.locator('#timeline-canvas').focus();
    await page.keyboard.press('Escape');
    assert.equal(await page.textContent('#map .tell'), all, 'Escape shows all');
    await page.keyboard.press('/');
    await page.keyboard.type('no such name');
    assert.deepEqual(await cellsOf(page, '#leaks'), []);
    assert.deepEqual(await cellsOf(page, '#live'), []);
    await page.fill('#search', 'leak_one');
    assert.equal((await cellsOf(page, '#leaks')).length, 1);
    await close();
}

/* What a person who never saw the page wants to know, each within two clicks. */
async function testClicks(browser) {
    const leak = await open(browser, 'leak'), [site] = ask('leak', 'SELECT site, top_stack_id FROM leak_by_site'), frames = ask('leak', `WITH RECURSIVE up(depth, stack_id) AS (SELECT 0, ${site.top_stack_id} UNION ALL SELECT depth + 1, parent_id FROM up JOIN stack USING (stack_id) WHERE parent_id IS NOT NULL) SELECT f.label AS label FROM up JOIN stack AS s USING (stack_id) JOIN frame AS f ON f.frame_id = s.frame_id ORDER BY up.depth`).map((row) => row.label);
    await leak.page.click('#verdicts .card >> nth=0');
    assert.deepEqual(await leak.page.$$eval('#leaks .below .stack li', (lines) => lines.map((line) => line.textContent)), frames, 'one click: the leak and its stack');
    assert.ok(frames.includes(site.site));
    await leak.page.click('#live >> text=category');
    assert.deepEqual((await cellsOf(leak.page, '#live')).map((cells) => [cells[0].replace(/ inferred$/, ''), cells[1]]), ask('leak', "SELECT category, live_bytes FROM peak_by_category WHERE level = 'pool' ORDER BY live_bytes DESC, category LIMIT 12").map((row) => [row.category, formatBytes(row.live_bytes)]), 'one click: the peak by category');
    const [blocker] = ask('leak', "SELECT site, hostage_bytes FROM fragmentation_blocker WHERE moment_kind = 'peak' ORDER BY hostage_bytes DESC, site LIMIT 1");
    const first = (await cellsOf(leak.page, '#pool .pair > div:nth-child(1)'))[0];
    assert.deepEqual([first[0], first[2]], [blocker.site, formatBytes(blocker.hostage_bytes)], 'no click: what pins the pool');
    await leak.close();
    const oom = await open(browser, 'oom', '', {colorScheme: 'dark'}), [failure] = ask('oom', "SELECT explanation, site FROM out_of_memory WHERE outcome = 'fatal'");
    assert.ok((await oom.page.textContent('#verdicts .card >> nth=0')).includes(failure.explanation), 'no click: why the job died');
    await oom.page.click('#verdicts .card >> nth=0');
    assert.equal(await oom.page.evaluate(() => document.activeElement.id), 'oom', 'one click: the panel of it');
    assert.ok((await oom.page.textContent('#oom .stack')).includes(failure.site));
    const sites = ask('oom', 'SELECT site, heap, live_bytes FROM _out_of_memory_site WHERE out_of_memory_id = 1 ORDER BY live_bytes DESC, heap, level, site LIMIT 12');
    assert.deepEqual((await cellsOf(oom.page, '#oom .pair')).map((cells) => [cells[0].replace(/leak$/, ''), cells[1], cells[2]]), sites.map((row) => [row.site, row.heap, formatBytes(row.live_bytes)]));
    assert.equal(await oom.page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await picture(oom.page, 'oom-dark');
    await oom.page.click('button[aria-label="light colours"]');
    assert.notEqual(await oom.page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(16, 20, 26)');
    await picture(oom.page, 'oom-light');
    await oom.close();
}

async function testNames(browser) {
    const {page, close} = await open(browser, 'hostile');
    await page.waitForTimeout(300);
    for (const kind of ['category', 'module', 'file', 'operation'])
        await page.click(`#live .row >> nth=0 >> text="${kind}"`);
    await page.click('#live-since >> text=the end');
    await page.click('#settings summary');
    await page.fill('#search', '<img src=x onerror=window.taken=12>(');
    await page.waitForTimeout(300);
    assert.ok((await page.textContent('#search-word')).includes('<img src=x'));
    await page.fill('#search', '');
    assert.equal(await page.evaluate(() => window.taken), undefined, 'no name was run');
    assert.deepEqual(await page.$$eval('img, iframe, svg[onload], b:not([class])', (found) => found.map((one) => one.outerHTML).filter((text) => /taken|<b>h/.test(text))), []);
    const text = await page.textContent('body');
    for (const name of ['<img src=x onerror=window.taken=3>', 'onerror=window.taken=5>', 'window.taken=1', '<img src=x onerror=window.taken=8>', '<script>window.taken=11</script>'])
        assert.ok(text.includes(name), `${name} is shown as it is`);
    await picture(page, 'hostile');
    await close();
    const plain = await open(browser, 'hostile', '', {javaScriptEnabled: false});
    assert.ok(await plain.page.isVisible('#summary'), 'without script the summary is there');
    assert.equal(await plain.page.locator('img').count(), 0);
    await plain.close();
}

async function testOthers(browser) {
    const fine = await open(browser, 'fine');
    assert.ok((await fine.page.textContent('#verdicts')).includes('No leak, no failure, no misuse'));
    assert.equal(await fine.page.textContent('#leaks .allgood'), 'No leak.');
    await fine.close();
    const sums = await open(browser, 'sums'), peak = ask('sums', "SELECT site, live_bytes FROM peak_by_site WHERE level = 'pool' ORDER BY live_bytes DESC, site LIMIT 12");
    assert.deepEqual((await cellsOf(sums.page, '#live')).map((cells) => [cells[0].replace(/leak$/, ''), cells[1]]), peak.map((row) => [row.site, formatBytes(row.live_bytes)]), 'the peak is known without rows');
    assert.ok((await sums.page.textContent('#map .side')).includes('not in this database'));
    await sums.page.click('#live >> text=the end');
    assert.ok((await sums.page.textContent('#live')).includes('Only the peak is known here'));
    await sums.close();
    const chinese = await open(browser, 'leak', '#lang=zh');
    assert.equal(await chinese.page.textContent('#leaks h2'), '\u6cc4\u6f0f');
    assert.equal(await chinese.page.evaluate(() => document.documentElement.lang), 'zh');
    await chinese.close();
    const dark = await open(browser, 'leak', '#theme=dark&group=stack');
    assert.ok((await dark.page.locator('.icicle .cell').count()) > 5);
    await picture(dark.page, 'leak-dark');
    await dark.close();
}

async function testAccess(browser) {
    const source = require.resolve('axe-core/axe.min.js');
    for (const theme of ['light', 'dark']) {
        const {page, close} = await open(browser, 'oom', `#theme=${theme}&${theme === 'light' ? 'group=stack' : 'group=category&since=0&at=end'}`);
        await page.click('#settings summary');
        await page.evaluate(require('node:fs').readFileSync(source, 'utf8'));
        const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
        const serious = found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${theme}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`);
        assert.deepEqual(serious, []);
        await close();
    }
}

const browser = await chromium.launch({executablePath: process.env.NPUMEM_BROWSER, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking']});
let failed = 0;
for (const test of [testFigures, testMoments, testMap, testRange, testClicks, testNames, testOthers, testAccess, ...PANEL_TESTS, ...(process.argv[4] === 'ON' ? sqlTests({open, ask, cellsOf, folder, queryFolder: process.argv[3]}) : [])])
    try {
        await test(browser, {ask, open, picture, cellsOf, mapPoint});
        console.log(`ok ${test.name}`);
    } catch (error) {
        failed++;
        console.error(`FAILED ${test.name}: ${error.stack}`);
    }
await browser.close();
process.exit(failed === 0 ? 0 : 1);
