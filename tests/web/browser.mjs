/* SPDX-License-Identifier: Apache-2.0
 *
 * browser.mjs FOLDER QUERY_FOLDER ON|OFF [PATTERN]: the pages that browser.sh has written, in Chromium. Everything that a page shows is compared with what plain sqlite3
 * says of its database. PATTERN: only tests whose names it fits, of pages that are there already. No page may ask for anything, say anything on the console, or take a name for markup.
 */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

import {formatBytes, formatCount, formatPercent, formatTime} from '../../src/page/web/state/format.mjs';
import {sayMemoryPart} from '../../src/page/web/state/words.mjs';
import {PANEL_TESTS} from './panels.mjs';
import {sqlTests} from './sqlpanel.mjs';

const require = createRequire(`${process.env.NPUMEM_NODE_MODULES}/`);
const {chromium} = require('playwright-core');
const folder = process.argv[2], AT_ONCE = 3;

function ask(name, sql) {
    const text = execFileSync('sqlite3', ['-json', `${folder}/${name}.db`, sql], {encoding: 'utf8', maxBuffer: 1 << 28});
    return text.trim() === '' ? [] : JSON.parse(text);
}

/* Pages keep nothing in a browser, so those without options share a window: to open one takes as long as to load a page. */
async function newContext({browser}, options) {
    const context = await browser.newContext({viewport: {width: 1440, height: 1000}, ...options});
    context.setDefaultTimeout(120000); /* of a machine that does other things beside */
    return context;
}

/* A page that is ready; what it asked for and said is in `faults`. */
async function open(lane, name, hash = '', options = {}) {
    const isPlain = Object.keys(options).length === 0, context = isPlain ? await (lane.plain ??= newContext(lane, {})) : await newContext(lane, options), page = await context.newPage(), faults = [];
    page.on('request', (request) => /^(file|data|blob):/.test(request.url()) || faults.push(`asks for ${request.url()}`));
    page.on('console', (message) => faults.push(`says ${message.text()}`));
    page.on('pageerror', (error) => faults.push(`fails: ${error.stack}`));
    await page.goto(pathToFileURL(`${folder}/${name}.html`).href + hash);
    if (options.javaScriptEnabled !== false)
        await page.waitForFunction(() => document.documentElement.dataset.ready, null, {timeout: 60000});
    return {page, faults, close: async () => {
        assert.deepEqual(faults, [], `${name}.html`);
        await (isPlain ? page : context).close();
    }};
}

/* Another picture of the page that is open, as its address says: no page is loaded for it. */
async function goTo(page, hash) {
    await page.evaluate((wanted) => new Promise((resolve) => {
        window.addEventListener('hashchange', () => requestAnimationFrame(resolve), {once: true});
        location.hash = wanted;
    }), hash);
}

/* For whoever looks at them: a whole page takes as long as to load one. */
async function picture(page, name) {
    if (process.env.NPUMEM_NIGHTLY)
        await page.screenshot({path: `${folder}/${name}.png`, fullPage: true});
}

/* The texts of a table's rows in a panel, cell by cell. */
function cellsOf(page, selector) {
    return page.$$eval(`${selector} tbody tr:not(.below)`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
}

/* The colour of the map at the middle of a block, and where that is on the screen; `isClose`: after a closer look, in which it is some pixels high. */
async function mapPoint(page, name, allocationId, isClose) {
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
    const low = isClose ? Math.max(0, offset - 20 * row.size) : 0, high = isClose ? offset + 20 * row.size : whole;
    if (isClose)
        await goTo(page, `#low=${low}&high=${high}`);
    await page.locator('#map').scrollIntoViewIfNeeded();
    const box = await page.locator('#map-canvas').boundingBox();
    /* The gutters and the height are those of timeline.mjs and map.mjs. */
    const left = 86, right = box.width - 14, top = 8, height = 420 - 8 - 26;
    const x = left + (right - left) * ((row.born + life.freed) / 2 - range.first) / (range.last - range.first), y = top + height * (offset + row.size / 2 - low) / (high - low);
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

/* What the legend of the timeline says, by name: bytes as they are written. */
function legendOf(page) {
    return page.$$eval('#timeline-legend li', (items) => Object.fromEntries(items.filter((item) => item.querySelector('b')).map((item) => [item.querySelector('span:not(.swatch)').textContent, item.querySelector('b').textContent])));
}

/* What SQL says was live right after an event, of the rows of a condition. */
function sumAt(name, seq, condition) {
    return ask(name, `SELECT coalesce(sum(size_bytes), 0) AS bytes FROM allocation WHERE ${condition} AND coalesce(alloc_seq, -1) <= ${seq} AND (free_seq IS NULL OR free_seq > ${seq})`)[0].bytes;
}

/* The layers of the timeline at the peak and at other events, the picture in figures, and the device at its moments: all as SQL has them. */
async function testTimeline(browser) {
    const peak = ask('leak', "SELECT peak_seq AS seq FROM peak WHERE level = 'pool'")[0].seq, others = ask('leak', 'SELECT max_seq AS seq FROM usage WHERE heap_id = 1 AND max_seq % 211 < 2 ORDER BY max_seq LIMIT 9').map((row) => row.seq);
    assert.equal(others.length, 9);
    const {page, close} = await open(browser, 'leak', '#at=0');
    for (const seq of [peak, ...others]) {
        await goTo(page, `#at=${seq}`);
        const live = sumAt('leak', seq, 'heap_id = 1'), reserved = sumAt('leak', seq, 'is_segment = 1'), outside = sumAt('leak', seq, 'heap_id = 2 AND is_segment = 0'), pinned = sumAt('leak', seq, 'heap_id = 3');
        assert.deepEqual(await legendOf(page), {'caching pool: allocated': formatBytes(live), 'caching pool: free': formatBytes(reserved - live), 'device memory: outside of pools': formatBytes(outside), 'pinned host memory': formatBytes(pinned), together: formatBytes(reserved + outside)}, `at ${seq}`);
    }
    await page.click('#timeline .numbers >> nth=1 >> summary');
    await page.click('#timeline .numbers >> nth=1 >> .more button');
    const rows = await cellsOf(page, '#timeline .numbers:nth-child(2)');
    assert.ok(rows.length > 150);
    for (const [seq, , live, free, outside, together] of rows.filter((_, i) => i % 40 === 0)) {
        const event = Number(seq.replaceAll(',', '')), held = [sumAt('leak', event, 'heap_id = 1'), sumAt('leak', event, 'is_segment = 1'), sumAt('leak', event, 'heap_id = 2 AND is_segment = 0')];
        assert.deepEqual([live, free, outside, together], [held[0], held[1] - held[0], held[2], held[1] + held[2]].map(formatBytes), `at ${event}`);
    }
    const whole = ask('leak', "SELECT max(peak_bytes) AS most FROM peak WHERE level = 'driver'")[0].most;
    assert.ok(rows.some((cells) => cells[5] === formatBytes(whole)), 'the most that the device held is in it');
    await page.click('#timeline .numbers >> nth=2 >> summary');
    const device = ask('leak', 'SELECT moment, seq, component, heap, part, bytes FROM device_part ORDER BY host, rank, pid, device, seq, moment_id, component, heap, part LIMIT 12');
    assert.deepEqual((await cellsOf(page, '#timeline .numbers:nth-child(3)')).map((cells) => cells.slice(0, 4)), device.map((row) => [row.moment, formatCount(row.seq), sayMemoryPart(row), formatBytes(row.bytes)]));
    await close();
}

/* A device with pools, modules of CANN and memory of others: each component is what view device_memory says of its moments. */
async function testDevice(browser) {
    const heap = ask('device', "SELECT heap_id FROM z_heap_place WHERE heap = 'ptaCaching'")[0].heap_id, moments = ask('device', "SELECT DISTINCT seq FROM device_memory WHERE pid = 100 AND seq > 0 AND (moment_kind = 'mark' OR moment_heap IN ('device memory', 'HCCL'))").map((row) => row.seq), seen = new Set();
    assert.ok(moments.length > 3);
    const {page, close} = await open(browser, 'device', `#heap=${heap}&at=0`);
    for (const seq of moments) {
        await goTo(page, `#heap=${heap}&at=${seq}`);
        const held = new Map(await page.$$eval('#timeline-legend li', (items) => items.filter((item) => item.querySelector('b[title]')).map((item) => [item.querySelector('span:not(.swatch)').textContent, Number(item.querySelector('b').title.replace(/[, B]/g, ''))])));
        const bytesOf = (name) => held.get(name) ?? 0, rows = ask('device', `SELECT DISTINCT component, heap, bytes FROM device_memory WHERE pid = 100 AND seq = ${seq}`);
        for (const {component, heap: pool, bytes} of rows) {
            const shown = {POOL: () => bytesOf(`${pool}: allocated`) + bytesOf(`${pool}: free`), WORKSPACE: () => bytesOf(`${pool}: allocated`) + bytesOf(`${pool}: free`), APP: () => bytesOf('device memory: outside of pools'), HCCL: () => bytesOf('HCCL'), 'module 99': () => bytesOf('module 99')}[component];
            assert.equal(shown?.() ?? bytes, bytes, `${component} ${pool} at ${seq}`);
            if (shown && bytes > 0)
                seen.add(`${component} ${pool}`);
        }
    }
    assert.deepEqual([...seen].sort(), ['APP null', 'HCCL null', 'POOL atb', 'POOL ptaCaching', 'WORKSPACE ptaWorkspace', 'module 99 null']);
    const [sample] = ask('device', "SELECT seq, used_bytes FROM usage_sample WHERE pid = 100 AND kind = 'HBM' ORDER BY seq DESC LIMIT 1");
    await goTo(page, `#heap=${heap}&at=${sample.seq}&theme=dark`);
    assert.equal((await legendOf(page)).together, formatBytes(sample.used_bytes), 'with what nobody explains it is what the device said');
    await picture(page, 'device-dark');
    await goTo(page, `#heap=${ask('device', "SELECT heap_id FROM z_heap_place WHERE heap = 'atb'")[0].heap_id}`);
    assert.equal(await page.textContent('#map .side'), 'No block of this heap has an address in this input, so there is no map of it: the timeline says what it held.');
    assert.equal(await page.locator('#map .row button').count(), 0);
    await close();
}

/* A range of a few events has its own peak, however short it was; axes may be of time and of steps; paper is light. */
async function testViews(browser) {
    const [spike] = ask('leak', 'SELECT max_seq AS seq, max_live_bytes AS bytes FROM usage WHERE heap_id = 1 ORDER BY max_live_bytes DESC, max_seq LIMIT 1');
    const {page, close} = await open(browser, 'leak', '#theme=dark');
    for (const axis of ['event', 'time', 'step']) {
        await goTo(page, `#axis=${axis}&from=${spike.seq - 20}&to=${spike.seq + 20}&theme=dark`);
        assert.equal(await page.textContent('#timeline .plain.chosen >> nth=1'), axis);
        if (axis === 'event')
            await page.click('#timeline .numbers >> nth=1 >> summary');
        await page.waitForSelector('#timeline .numbers:nth-child(2) tbody tr'); /* what is open is filled anew */
        const live = (await cellsOf(page, '#timeline .numbers:nth-child(2)')).map((cells) => cells[2]);
        await page.click('#timeline .numbers >> nth=1 >> .more button').catch(() => {});
        assert.ok([...live, ...(await cellsOf(page, '#timeline .numbers:nth-child(2)')).map((cells) => cells[2])].includes(formatBytes(spike.bytes)), `the peak across ${axis}`);
        const shade = () => page.$eval('#timeline-chart canvas', (canvas) => {
            const copy = new OffscreenCanvas(1, 1).getContext('2d'); /* Chromium warns of a canvas that is read often */
            copy.drawImage(canvas, -canvas.width / 2, -canvas.height / 2);
            return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
        });
        const dark = await shade();
        await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
        await page.waitForTimeout(50);
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
        assert.notDeepEqual(await shade(), dark, 'pictures are drawn for paper');
        await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
        await page.waitForTimeout(50);
        assert.deepEqual(await shade(), dark);
    }
    await close();
}

/* Two steps, and what differs between them by site, as SQL counts it. */
async function testSteps(browser) {
    const steps = ask('leak', 'SELECT number, begin_seq, end_seq, peak_bytes FROM z_step_sum WHERE heap_id = 1 AND generation > 0 ORDER BY generation'), order = [...steps].sort((a, b) => a.peak_bytes - b.peak_bytes || a.number - b.number);
    const chosen = [order[(order.length - 1) >> 1], steps.find((step) => step.peak_bytes === order[order.length - 1].peak_bytes)], {page, close} = await open(browser, 'leak');
    const shown = () => page.$$eval('#steps input', (inputs) => inputs.map((input) => Number(input.value)));
    assert.deepEqual(await shown(), chosen.map((step) => step.number), 'the median and the worst at first');
    for (const [i, step] of chosen.entries())
        assert.ok((await page.textContent(`#steps label >> nth=${i}`)).includes(formatBytes(step.peak_bytes)));
    await page.fill('#steps input >> nth=0', '12');
    await page.press('#steps input >> nth=0', 'Enter');
    const first = steps.find((step) => step.number === 12), second = chosen[1], siteOf = 'JOIN stack AS s ON s.stack_id = a.stack_id JOIN frame AS f ON f.frame_id = s.site_frame_id';
    const worstSeq = (step) => {
        const events = ask('leak', `SELECT e.seq AS seq, sum(a.size_bytes) AS bytes FROM (SELECT alloc_seq AS seq FROM allocation WHERE heap_id = 1 AND alloc_seq >= ${step.begin_seq} AND alloc_seq < ${step.end_seq} UNION SELECT ${step.begin_seq}) AS e JOIN allocation AS a ON a.heap_id = 1 AND coalesce(a.alloc_seq, -1) <= e.seq AND (a.free_seq IS NULL OR a.free_seq > e.seq) GROUP BY e.seq ORDER BY e.seq`);
        assert.equal(Math.max(...events.map((event) => event.bytes)), step.peak_bytes);
        return events.find((event) => event.bytes === step.peak_bytes).seq;
    };
    const live = [first, second].map(worstSeq).map((seq) => new Map(ask('leak', `SELECT f.label AS site, sum(a.size_bytes) AS bytes FROM allocation AS a ${siteOf} WHERE a.heap_id = 1 AND a.alloc_seq <= ${seq} AND (a.free_seq IS NULL OR a.free_seq > ${seq}) GROUP BY f.label`).map((row) => [row.site, row.bytes])));
    const made = [first, second].map((step) => new Map(ask('leak', `SELECT f.label AS site, sum(a.size_bytes) AS bytes FROM allocation AS a ${siteOf} WHERE a.heap_id = 1 AND a.alloc_seq >= ${step.begin_seq} AND a.alloc_seq < ${step.end_seq} GROUP BY f.label`).map((row) => [row.site, row.bytes])));
    const rows = (await cellsOf(page, '#steps > div > div:last-child'));
    assert.ok(rows.length > 5);
    for (const [site, firstLive, secondLive, , firstMade, secondMade] of rows)
        assert.deepEqual([firstLive, secondLive, firstMade, secondMade], [live[0], live[1], made[0], made[1]].map((sums) => formatBytes(sums.get(site) ?? 0)), site);
    await page.waitForFunction(() => /stepa=\d+/.test(location.hash));
    const hash = await page.evaluate(() => location.hash);
    await close();
    const again = await open(browser, 'leak', hash);
    assert.equal(await again.page.inputValue('#steps input >> nth=0'), '12', 'a link shows the same steps');
    await again.close();
}

/* Blocks that were live at any event are counted by the page; SQL counts them anew. */
async function testMoments(browser) {
    const seqs = ask('leak', 'SELECT DISTINCT alloc_seq AS seq FROM allocation WHERE heap_id = 1 AND alloc_seq % 397 = 0 LIMIT 3').map((row) => row.seq);
    assert.equal(seqs.length, 3);
    const {page, close} = await open(browser, 'leak');
    for (const seq of seqs) {
        await goTo(page, `#at=${seq}`);
        const rows = ask('leak', `SELECT f.label AS site, sum(a.size_bytes) AS bytes, count(*) AS count FROM allocation AS a JOIN stack AS s ON s.stack_id = a.stack_id JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE a.heap_id = 1 AND a.is_segment = 0 AND a.alloc_seq <= ${seq} AND (a.free_seq IS NULL OR a.free_seq > ${seq}) GROUP BY f.label ORDER BY 2 DESC, 1 LIMIT 12`);
        assert.deepEqual((await cellsOf(page, '#live')).map((cells) => [cells[0].replace(/leak$/, ''), cells[1], cells[3]]), rows.map((row) => [row.site, formatBytes(row.bytes), formatCount(row.count)]));
    }
    await close();
}

async function testMap(browser) {
    const {page, close} = await open(browser, 'leak');
    const leaked = ask('leak', "SELECT l.allocation_id AS id, l.size_bytes AS size FROM leak AS l ORDER BY l.alloc_seq").map((row) => row.id);
    const chosen = leaked[Math.floor(leaked.length / 2)], point = await mapPoint(page, 'leak', chosen, true);
    assert.ok([[0xe0, 0x2b, 0x3c, 255], [255, 255, 255, 255]].some((colour) => String(colour) === String(point.colour)), 'a leaked block is red with white stripes');
    await page.mouse.move(point.x, point.y);
    const [site] = ask('leak', 'SELECT site FROM leak_by_site');
    assert.ok((await page.textContent('#map .tip')).includes(site.site), 'hovering names the site');
    assert.deepEqual(await page.$$eval('.maplabel', (labels) => labels.map((label) => label.textContent)), [`leak: ${site.site}`], 'so does a label over the picture');
    assert.equal(await page.evaluate(() => ['#map .legend', '#live tbody tr', '#live .icicle'].map((row) => [...document.querySelectorAll(row)].flatMap((one) => [...one.querySelectorAll('.striped')]).map((one) => getComputedStyle(one).getPropertyValue(one.matches('.cell') ? '--cell' : 'background-color'))).flat().map((colour) => (colour === '#e02b3c' ? 'rgb(224, 43, 60)' : colour)).join()), Array(3).fill('rgb(224, 43, 60)').join(), 'striped in legend, table and flame graph');
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
    const box = await page.locator('#timeline-chart').boundingBox(), all = await page.textContent('#map .tell');
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
    await page.locator('#timeline-chart').focus();
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

/* Is the first of these on the screen, as it stands? */
function isSeen(page, selector) {
    return page.$eval(selector, (element) => {
        const {top, bottom} = element.getBoundingClientRect();
        return bottom > top && top < innerHeight && bottom > document.getElementById('top').getBoundingClientRect().bottom;
    });
}

/* What a person who never saw the page wants to know, each within two clicks; what is found is on the screen then. */
async function testClicks(browser) {
    const leak = await open(browser, 'leak'), [site] = ask('leak', 'SELECT site, top_stack_id FROM leak_by_site'), frames = ask('leak', `WITH RECURSIVE up(depth, stack_id) AS (SELECT 0, ${site.top_stack_id} UNION ALL SELECT depth + 1, parent_id FROM up JOIN stack USING (stack_id) WHERE parent_id IS NOT NULL) SELECT f.label AS label FROM up JOIN stack AS s USING (stack_id) JOIN frame AS f ON f.frame_id = s.frame_id ORDER BY up.depth`).map((row) => row.label);
    await leak.page.click('#verdicts .card >> nth=0');
    assert.deepEqual(await leak.page.$$eval('#leaks .below .stack li', (lines) => lines.map((line) => line.textContent)), frames, 'one click: the leak and its stack');
    assert.ok(await isSeen(leak.page, '#leaks .below .stack'), 'the stack is on the screen');
    assert.ok(frames.includes(site.site));
    await leak.page.click('#top nav >> text=What is live');
    await leak.page.click('#live >> text=category');
    assert.ok(await isSeen(leak.page, '#live tbody tr'), 'categories are on the screen');
    assert.deepEqual((await cellsOf(leak.page, '#live')).map((cells) => [cells[0].replace(/ inferred$/, ''), cells[1]]), ask('leak', "SELECT category, live_bytes FROM peak_by_category WHERE level = 'pool' ORDER BY live_bytes DESC, category LIMIT 12").map((row) => [row.category, formatBytes(row.live_bytes)]), 'two clicks: the peak by category');
    const [blocker] = ask('leak', "SELECT site, hostage_bytes FROM fragmentation_blocker WHERE moment_kind = 'peak' ORDER BY hostage_bytes DESC, site LIMIT 1");
    const first = (await cellsOf(leak.page, '#pool .pair > div:nth-child(1)'))[0];
    assert.deepEqual([first[0], first[2]], [blocker.site, formatBytes(blocker.hostage_bytes)], 'what pins the pool');
    await leak.page.click('#top nav >> text=Fragmentation and pool');
    assert.ok(await isSeen(leak.page, '#pool .pair tbody tr'), 'one click: it is on the screen');
    await leak.close();
    const oom = await open(browser, 'oom', '', {colorScheme: 'dark'}), [failure] = ask('oom', "SELECT f.text, f.site FROM finding AS f JOIN out_of_memory AS o ON o.out_of_memory_id = f.source_id WHERE f.kind = 'out of memory' AND o.outcome = 'fatal'"), [gravest] = ask('oom', "SELECT text FROM finding ORDER BY finding_id LIMIT 1");
    assert.equal(await oom.page.textContent('#verdicts .card >> nth=0 >> .title'), failure.text, 'no click: what it died of');
    assert.ok((await oom.page.textContent('#verdicts .card >> nth=0 >> .text')).startsWith('WHY  '), 'no click: why');
    assert.deepEqual((await oom.page.textContent('#verdicts .card >> nth=0 >> .text')).split('\n').slice(0, 3).map((line) => line.split('  ')[0]), ['WHY', 'HELD', 'HOLDERS'], 'in the lines of the screen');
    assert.equal(await oom.page.textContent('#verdicts .card >> nth=0 >> code'), 'npumem stack oom.db oom', 'no click: the command that shows more');
    assert.equal(gravest.text, failure.text);
    await oom.page.click('#verdicts .card >> nth=0');
    assert.equal(await oom.page.evaluate(() => document.activeElement.id), 'oom', 'one click: the panel of it');
    assert.ok(await isSeen(oom.page, '#oom .failure .why') && await isSeen(oom.page, '#oom .stacked'), 'why it died, and what was full, are on the screen');
    assert.ok((await oom.page.textContent('#oom .stack')).includes(failure.site));
    const sites = ask('oom', 'SELECT site, heap, live_bytes FROM z_out_of_memory_site WHERE out_of_memory_id = 1 ORDER BY live_bytes DESC, heap, level, site LIMIT 12');
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
    assert.deepEqual(await page.$$eval('img, iframe, svg[onload], b:not([class])', (found) => found.map((one) => one.outerHTML).filter((text) => /taken|<b>h</.test(text))), []);
    const text = await page.textContent('body');
    for (const name of ['<img src=x onerror=window.taken=3>', 'onerror=window.taken=5>', 'window.taken=1', '<img src=x onerror=window.taken=8>', '<script>window.taken=11</script>'])
        assert.ok(text.includes(name), `${name} is shown as it is`);
    await picture(page, 'hostile');
    await close();
    const plain = await open(browser, 'hostile', '', {javaScriptEnabled: false});
    assert.ok(await plain.page.isVisible('.summary'), 'without script the summary is there');
    assert.deepEqual(await plain.page.locator('.summary:visible').evaluateAll((all) => all.map((one) => one.lang).sort()), ['en', 'zh']);
    assert.equal(await plain.page.locator('img').count(), 0);
    await plain.close();
}

async function testOthers(browser) {
    const fine = await open(browser, 'fine');
    const open_count = ask('fine', "SELECT count(*) AS n FROM finding WHERE severity = 'not judged'")[0].n;
    assert.equal(await fine.page.textContent('#verdicts p >> nth=0'), open_count === 0 ? 'Nothing wrong was found.' : 'Nothing wrong was found, but not all could be judged:');
    assert.equal(await fine.page.textContent('#leaks .allgood'), 'No leak.');
    await fine.close();
    const sums = await open(browser, 'sums'), peak = ask('sums', "SELECT site, live_bytes FROM peak_by_site WHERE level = 'pool' ORDER BY live_bytes DESC, site LIMIT 12");
    assert.deepEqual((await cellsOf(sums.page, '#live')).map((cells) => [cells[0].replace(/leak$/, ''), cells[1]]), peak.map((row) => [row.site, formatBytes(row.live_bytes)]), 'the peak is known without rows');
    assert.ok((await sums.page.textContent('#map .side')).includes('not in this database'));
    assert.deepEqual([await sums.page.locator('#map .row button').count(), await sums.page.locator('#live-since').count()], [0, 0], 'what cannot be shown cannot be asked for');
    await sums.page.click('#live >> text=the end');
    assert.ok((await sums.page.textContent('#live')).includes('Only the peak is known here'));
    await sums.close();
    const chinese = await open(browser, 'leak', '#lang=zh');
    assert.equal(await chinese.page.textContent('#leaks h2'), '\u6cc4\u6f0f');
    assert.equal(await chinese.page.evaluate(() => document.documentElement.lang), 'zh');
    await chinese.close();
    const reader = await open(browser, 'leak', '', {locale: 'zh-CN'});
    assert.equal(await reader.page.textContent('#leaks h2'), '\u6cc4\u6f0f', 'it opens in the language of the browser');
    assert.equal(await reader.page.evaluate(() => document.documentElement.lang), 'zh');
    assert.doesNotMatch(await reader.page.textContent('#map .tell'), /[A-Za-z]{2}/, 'what is said of the picture, which is not drawn without a browser');
    await reader.close();
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

/* Each rank has its row, its curve and its verdict; the heap of the one that is clicked is shown, with its map or a word why there is none. */
async function testRanks(browser) {
    const {page, close} = await open(browser, 'ranks'), rows = ask('ranks', 'SELECT rank, pid, peak_bytes, leak_bytes, failure, failure_order, process_id FROM z_rank_summary ORDER BY rank');
    const cells = await cellsOf(page, '#ranks');
    assert.deepEqual(cells.map((row) => [row[0], row[2], row[4], row[7]]), rows.map((row) => [String(row.rank), String(row.pid), formatBytes(row.peak_bytes), formatBytes(row.leak_bytes)]));
    for (const [i, row] of rows.entries()) {
        const bad = ask('ranks', `SELECT DISTINCT verdict, measure FROM health WHERE rank = ${row.rank} AND verdict IN ('danger', 'warning')`), open_count = ask('ranks', `SELECT count(*) AS n FROM finding WHERE severity = 'not judged' AND (rank = ${row.rank} OR pid IS NULL)`)[0].n;
        const level = row.failure || row.leak_bytes > 0 || bad.some((one) => one.verdict === 'danger') ? 'danger' : bad.length > 0 ? 'warning' : open_count > 0 ? 'not judged' : 'no fault';
        assert.ok(cells[i][8].startsWith(level), `${cells[i][8]}, not ${level}`);
        for (const {measure} of bad)
            assert.ok(cells[i][8].includes(measure), `${cells[i][8]} has no ${measure}`);
    }
    const byPeak = [...rows].sort((a, b) => a.peak_bytes - b.peak_bytes), first = rows.find((row) => row.failure_order === 'first'), highest = rows.find((row) => row.peak_bytes === byPeak[3].peak_bytes), chosen = [first, highest, byPeak[1]];
    assert.deepEqual(await page.$$eval('#ranks [data-role]', (found) => found.map((one) => one.textContent)), ['first to fail', 'highest peak', 'median peak'].map((role, i) => `${role}: rank ${chosen[i].rank}`));
    const peaks = ask('ranks', "SELECT rank, max(peak_bytes) AS bytes FROM peak WHERE level = 'pool' GROUP BY rank ORDER BY rank");
    assert.deepEqual((await page.$$eval('#ranks .curve', (found) => found.map((one) => one.dataset.name))).sort(), peaks.map((row) => `rank ${row.rank}: ${formatBytes(row.bytes)}`));
    const without = rows.find((row) => !chosen.includes(row));
    await page.click('#ranks [data-role=median]');
    assert.match(await page.textContent('#map .tell'), /blocks in view/);
    if (without) {
        await page.click(`#ranks tbody tr:nth-child(${rows.indexOf(without) + 1}) button`);
        assert.match(await page.textContent('#map .side'), /maps of the first that failed/);
        const [own] = ask('ranks', `SELECT site, live_bytes FROM peak_by_site WHERE rank = ${without.rank} AND level = 'pool' ORDER BY live_bytes DESC, site LIMIT 1`);
        assert.deepEqual((await cellsOf(page, '#live'))[0].slice(0, 2), [own.site, formatBytes(own.live_bytes)]);
    }
    await page.locator('#ranks').screenshot({path: `${folder}/ranks.png`});
    await close();
}

/* Ranks by the clocks of their hosts: each begins and ends where SQL says, and what has no clock is said to have none. */
async function testClocks(browser) {
    const {page, close} = await open(browser, 'ranks', '#lay=clock'), rows = ask('ranks', "SELECT p.rank AS rank, p.pid AS pid, i.start_realtime_ns + min(min(u.max_ns, u.last_ns)) AS begin, i.start_realtime_ns + max(max(u.max_ns, u.last_ns)) AS end FROM usage AS u JOIN heap AS h USING (heap_id) JOIN process AS p USING (process_id) JOIN input AS i USING (input_id) GROUP BY p.process_id ORDER BY p.rank");
    const text = (ns) => `${new Date(ns / 1e6).toISOString().slice(0, 23).replace('T', ' ')} UTC`, range = {begin: Math.min(...rows.map((row) => row.begin)), end: Math.max(...rows.map((row) => row.end))};
    assert.equal(await page.textContent('#ranks-lay .chosen'), 'wall clock');
    assert.deepEqual(await page.$$eval('#ranks .places span', (found) => found.map((one) => one.textContent)), [text(range.begin), text(range.end)]);
    const edges = await page.$$eval('#ranks .curve', (curves) => Object.fromEntries(curves.map((curve) => [curve.dataset.name.match(/^rank (\d+)/)[1], curve.getAttribute('points').split(' ').map((point) => Number(point.split(',')[0]))]))), columnOf = (ns) => Math.min(319, 320 * (ns - range.begin) / (range.end - range.begin));
    for (const row of rows) {
        const places = edges[row.rank];
        assert.ok(Math.abs(places[0] - columnOf(row.begin)) <= 2 && Math.abs(places[places.length - 1] - columnOf(row.end)) <= 3, `rank ${row.rank} from ${places[0]} to ${places[places.length - 1]}, not ${columnOf(row.begin)} to ${columnOf(row.end)}`);
    }
    await page.click('#ranks-picture .numbers summary');
    await page.waitForSelector('#ranks-picture .numbers tbody tr');
    assert.deepEqual((await cellsOf(page, '#ranks-picture .numbers')).map((cells) => cells.slice(0, 3)), rows.map((row) => [String(row.rank), String(row.pid), text(row.begin)]));
    assert.equal(await page.locator('#ranks-missing').count(), 0);
    await page.locator('#ranks').screenshot({path: `${folder}/ranks-clock.png`});
    for (const lay of ['step', 'time since its start', 'event']) {
        await page.click(`#ranks-lay >> text="${lay}"`);
        assert.equal(await page.locator('#ranks .curve').count(), rows.length, lay);
    }
    await page.waitForFunction(() => location.hash.includes('lay=event'));
    await close();
    const without = await open(browser, 'clockless', '#lay=clock');
    assert.equal(await without.page.textContent('#ranks-missing'), 'Not judged, for their clocks are not known: rank 3.');
    assert.deepEqual(await without.page.$$eval('#ranks .curve', (found) => found.map((one) => one.dataset.name.slice(0, 7))), ['rank 0:']);
    await without.close();
}

/* Figures and sites are those of queries/, asked here by plain sqlite3. */
async function testAgainst(browser) {
    const {page, close} = await open(browser, 'against'), text = (name) => require('node:fs').readFileSync(new URL(`../../queries/${name}`, import.meta.url), 'utf8');
    const compare = (name) => JSON.parse(execFileSync('sqlite3', ['-json', `${folder}/fine.db`], {input: `.parameter set :base "'${folder}/leak.db'"\n.parameter set :top 200\n${text(name)}`, encoding: 'utf8', maxBuffer: 1 << 28}));
    const unit = {bytes: formatBytes, ratio: formatPercent, ns: formatTime}, shown = (row, name) => (row[name] === null ? '\u2013' : unit[row.unit](row[name]));
    const figures = compare('diff_figures.sql');
    assert.ok(figures.length >= 5);
    assert.deepEqual((await page.$$eval('#against .tablebox >> nth=0', ([box]) => [...box.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent)))).map((cells) => cells.slice(0, 4)),
        figures.map((row) => [row.figure, row.level ?? '\u2013', shown(row, 'base_value'), shown(row, 'run_value')]));
    const sites = compare('diff.sql').filter((row) => row.moment === 'peak');
    assert.deepEqual((await cellsOf(page, '#against-peak')).map((cells) => [cells[1], cells[2], cells[3]]), sites.slice(0, 12).map((row) => [row.level, formatBytes(row.base_bytes), formatBytes(row.run_bytes)]));
    assert.equal(await page.locator('#against .curve').count(), 2);
    for (const moment of ['peak', 'end', 'step'])
        for (const [part, sign, isOf] of [['more', '+', (bytes) => bytes > 0], ['less', '-', (bytes) => bytes < 0]]) {
            const rows = compare('diff.sql').filter((row) => row.moment === moment && row.level === 'pool' && row.path !== '(all)' && isOf(row.change_bytes)), sum = (some) => `${sign}${formatBytes(Math.abs(some.reduce((total, row) => total + row.change_bytes, 0)))}`;
            assert.equal(await page.textContent(`#against-${moment}-${part} h3`), `${part === 'more' ? 'More' : 'Less'} in B, pool: ${sum(rows)} at ${formatCount(rows.length)} sites`);
            const files = await page.$$eval(`#against-${moment}-${part} [aria-level="2"]`, (cells) => cells.map((cell) => cell.getAttribute('aria-label').split(', ')[0]));
            assert.deepEqual(files.sort(), [...new Set(rows.map((row) => row.path))].map((path) => `${path}: ${sum(rows.filter((row) => row.path === path))}`).sort(), `what ${part} B has at ${moment}`);
        }
    assert.ok(await page.locator('#against-peak-less .cell').count() > 2, 'a run without a leak has less');
    const [a] = ask('leak', "SELECT peak_bytes FROM peak WHERE level = 'pool'"), [b] = ask('fine', "SELECT peak_bytes FROM peak WHERE level = 'pool'");
    assert.deepEqual(await page.$$eval('#against .curve', (found) => found.map((one) => one.dataset.name)), [`B: ${formatBytes(b.peak_bytes)}`, `A: ${formatBytes(a.peak_bytes)}`]);
    await page.locator('#against').screenshot({path: `${folder}/against.png`});
    await close();
}

/* What did not fit: the page says so, and in each of its ranges the map is exact, and so is what was live. */
async function testWindows(browser) {
    const {page, close} = await open(browser, 'large'), [whole] = ask('large', 'SELECT count(*) AS count FROM allocation WHERE is_segment = 0');
    const sentence = await page.textContent('#map-kept'), [, kept, all, reach] = sentence.match(/^([\d,]+) of ([\d,]+) blocks.*within ([\d,]+) events/).map((part) => Number(part.replaceAll(',', '')));
    assert.equal(all, whole.count);
    assert.ok(kept > 0 && kept < all && reach >= 0, sentence);
    assert.match(await page.textContent('#map .tell'), /Shares/);
    const count = await page.locator('#map-windows button').count(), heap = Number(await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('heap'))) || ask('large', "SELECT heap_id FROM z_heap_place WHERE level = 'pool'")[0].heap_id;
    assert.ok(count > 0);
    for (let i = 0; i < count; i++) {
        const before = await page.evaluate(() => location.hash);
        await page.click(`#map-windows button >> nth=${i}`);
        await page.waitForFunction((hash) => location.hash !== hash && /from=\d+&to=\d+/.test(location.hash), before);
        const [, from, to] = (await page.evaluate(() => location.hash)).match(/from=(\d+)&to=(\d+)/).map(Number);
        const [{found}] = ask('large', `SELECT count(*) AS found FROM allocation WHERE heap_id = ${heap} AND is_segment = 0 AND coalesce(alloc_seq, -1) <= ${to} AND (free_seq IS NULL OR free_seq >= ${from})`);
        const tell = await page.textContent('#map .tell');
        assert.ok(Math.abs(Number(tell.match(/^[\d,]+/)[0].replaceAll(',', '')) - found) <= 1, `${tell}, not ${found}`); /* one may be born at the edge */
        const seq = Math.round((from + to) / 2), [live] = ask('large', `SELECT sum(size_bytes) AS bytes, count(*) AS count FROM allocation WHERE heap_id = ${heap} AND is_segment = 0 AND coalesce(alloc_seq, -1) <= ${seq} AND (free_seq IS NULL OR free_seq > ${seq})`);
        await goTo(page, `#from=${from}&to=${to}&at=${seq}`);
        const counts = (await cellsOf(page, '#live')).map((cells) => Number(cells[3].replaceAll(',', '')));
        assert.equal(counts.reduce((a, b) => a + b, 0), live.count, `blocks live at event ${seq}`);
    }
    await close();
}

/* A link may hold any regular expression: one that would take for ever holds nothing up. */
async function testSlowSearch(browser) {
    const slow = '(.+)+~', {page, close} = await open(browser, 'leak', `#search=${encodeURIComponent(slow)}`);
    await page.waitForFunction((text) => document.querySelector('#search-word').textContent === `${text} takes too long as a regular expression and was stopped: it is looked for as it stands.`, slow);
    assert.equal(await page.getAttribute('#search', 'aria-invalid'), 'true');
    assert.deepEqual(await cellsOf(page, '#leaks'), []);
    assert.deepEqual(await cellsOf(page, '#live'), []);
    await page.fill('#search', '');
    const all = (await cellsOf(page, '#live')).map((cells) => cells[0].replace(/leak$/, '')), site = all[0].replace(/[^\w\s]/g, '\\$&');
    for (const search of [`^${site}`, `^(${site}|~)+`]) { /* the second one is looked for by the worker */
        const wanted = all.filter((text) => text === all[0]).length;
        assert.ok(wanted > 0 && wanted < all.length, `${search} finds ${wanted} of ${all.length}`);
        /* A busy machine may give the worker no time: then it is asked again. */
        for (let turn = 0, isStopped = true; isStopped; turn++) {
            assert.ok(turn < 20, `${search} was stopped each time`);
            await page.fill('#search', '');
            await page.fill('#search', search);
            await page.waitForFunction((count) => document.querySelectorAll('#live tbody tr:not(.below)').length === count
                || document.querySelector('#search-word').textContent !== '', wanted);
            isStopped = await page.textContent('#search-word') !== '';
        }
    }
    await close();
}

/* The longest, which ask in SQL, begin first, so that the rest runs beside them. */
const tests = [...(process.argv[4] === 'ON' ? sqlTests({open, ask, cellsOf, folder, queryFolder: process.argv[3]}) : []), testFigures, testTimeline, testDevice, testViews, testSteps, testMoments, testMap, testRange, testClicks, testNames, testOthers, testRanks, testClocks, testAgainst, testWindows, testAccess, testSlowSearch, ...PANEL_TESTS].filter((test) => new RegExp(process.argv[5] ?? '').test(test.name));
let failed = 0;

/* Several at once, for each waits most of its time; in a browser of their own, for what lies behind another page is seldom drawn. Scripts are
 * compiled when they are needed: to do it ahead, in threads, takes longer than these pages live. */
async function runTests(waiting) {
    const browser = await chromium.launch({executablePath: process.env.NPUMEM_BROWSER, args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--js-flags=--single-threaded']}), lane = {browser, plain: null};
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
        const begin = Date.now();
        try {
            await test(lane, {ask, open, goTo, picture, cellsOf, mapPoint, isSeen});
            console.log(`ok ${test.name}, ${((Date.now() - begin) / 1000).toFixed(1)} s`);
        } catch (error) {
            failed++;
            console.error(`FAILED ${test.name}: ${error.stack}`);
        }
    }
    await browser.close();
}

await Promise.all(Array.from({length: AT_ONCE}, () => runTests(tests)));
process.exit(failed === 0 ? 0 : 1);
