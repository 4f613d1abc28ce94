/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of browser.mjs for what is live and what changed, the pool, failures, the head and the search: each figure is compared with what plain
 * sqlite3 counts from single rows, and not from the views and sums that the page has it from.
 */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';

import {formatBytes, formatCount, formatPercent} from '../../src/page/web/state/format.mjs';

const GROUPS_HEAP = "(SELECT heap_id FROM z_heap_place WHERE level = 'pool')";

/* What a block is called, for each grouping. A part of a model and an operation are the innermost range that was open at the birth, by places in the order of events alone. */
const INNERMOST = (kind) => `(SELECT o.name FROM operation AS o WHERE ${kind} AND o.begin_seq < a.alloc_seq AND (o.end_seq IS NULL OR o.end_seq > a.alloc_seq) ORDER BY o.begin_seq DESC LIMIT 1)`;
const NAMES = {
    site: "coalesce(f.label, '(no stack)')", category: `coalesce((SELECT CASE WHEN c.name = 'other' THEN ${INNERMOST('o.kind = 4')} ELSE c.name END FROM z_category AS c WHERE c.category_id = a.category_id), 'unknown')`, file: "coalesce(f.file, f.module, f.label, '(no stack)')",
    operation: `coalesce(${INNERMOST('1')}, '(no operation)')`, stream: "coalesce('stream ' || a.stream, 'stream not known')",
    'private pool': "CASE WHEN a.private_pool IS NULL THEN 'no private pool' WHEN a.private_pool < 4294967296 THEN 'pool ' || a.private_pool ELSE 'pool ' || (a.private_pool >> 32) || ', ' || (a.private_pool & 4294967295) END",
    module: `coalesce(${INNERMOST('o.kind = 5')}, '(no module)')`,
};
/* What tells groups of one name apart: sites in files of one name, and what is told from what is inferred. */
const BESIDE = {site: 's.site_frame_id', category: 'a.category_id'};
const BLOCKS = `FROM allocation AS a LEFT JOIN stack AS s ON s.stack_id = a.stack_id LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE a.heap_id = ${GROUPS_HEAP} AND a.is_segment = 0`;
const LIVE_AT = (seq) => `(a.alloc_seq <= ${seq} AND (a.free_seq IS NULL OR a.free_seq > ${seq}))`;

/* Sums of innermost parts to sums of all parts: of each the sum of what begins with it. */
function growPaths(rows) {
    const paths = new Set(rows.flatMap((row) => (row.name === '(no module)' ? [row.name] : row.name.split('.').map((_, i, words) => words.slice(0, i + 1).join('.')))));
    return [...paths].map((path) => rows.filter((row) => row.name === path || row.name.startsWith(`${path}.`)).reduce((sum, row) => {
        for (const key of Object.keys(row))
            sum[key] = key === 'name' ? path : (sum[key] ?? 0) + row[key];
        return sum;
    }, {}));
}

function sorted(rows) {
    return rows.map((row) => row.map(String)).sort((a, b) => (a.join('\u0001') < b.join('\u0001') ? -1 : 1));
}

async function allCells(page, {cellsOf}, selector) {
    if (await page.locator(`${selector} .more .link`).count() > 0)
        await page.click(`${selector} .more .link`);
    return cellsOf(page, selector);
}

function liveRows(ask, kind, seq) {
    const rows = ask('groups', `SELECT ${NAMES[kind]} AS name, sum(a.size_bytes) AS bytes, count(*) AS count ${BLOCKS} AND ${LIVE_AT(seq)} GROUP BY 1, ${BESIDE[kind] ?? '1'}`);
    return (kind === 'module' ? growPaths(rows) : rows).map((row) => [row.name, formatBytes(row.bytes), formatCount(row.count)]);
}

/* What came, went and stayed, by what it is called. */
function askChange(ask, kind, from, to) {
    const part = (name, test) => `sum((${test}) * a.size_bytes) AS ${name}_bytes, sum(${test}) AS ${name}_count`, born = `a.alloc_seq > ${from} AND ${LIVE_AT(to)}`, gone = `${LIVE_AT(from)} AND NOT ${LIVE_AT(to)}`, kept = `${LIVE_AT(from)} AND ${LIVE_AT(to)}`;
    return ask('groups', `SELECT ${NAMES[kind]} AS name, ${part('came', born)}, ${part('went', gone)}, ${part('stayed', kept)} ${BLOCKS} AND (${LIVE_AT(from)} OR ${LIVE_AT(to)}) GROUP BY 1, ${BESIDE[kind] ?? '1'}`);
}

function changeRows(kind, rows) {
    return (kind === 'module' ? growPaths(rows) : rows).map((row) => [row.name, formatBytes(row.came_bytes), formatCount(row.came_count), formatBytes(row.went_bytes), formatCount(row.went_count), formatBytes(row.stayed_bytes), formatCount(row.stayed_count),
        `${row.came_bytes > row.went_bytes ? '+' : ''}${formatBytes(row.came_bytes - row.went_bytes)}`]);
}

const namePlain = (cells) => cells[0].replace(/(leak| inferred)+$/, '');

/* By each grouping at the peak, at a mark and at any event; the root of the picture is the sum. */
async function testGroups(browser, tools) {
    const {ask, open} = tools, [peak] = ask('groups', 'SELECT peak_seq AS seq, peak_bytes AS bytes FROM peak'), [mark] = ask('groups', "SELECT seq FROM moment WHERE name = 'after 8'");
    const {page, close} = await open(browser, 'groups');
    for (const [at, seq] of [['217', 217], [String(mark.seq), mark.seq], ['peak', peak.seq]]) {
        await tools.goTo(page, `#at=${at}`);
        const [{bytes}] = ask('groups', `SELECT sum(a.size_bytes) AS bytes ${BLOCKS} AND ${LIVE_AT(seq)}`);
        assert.ok(at !== 'peak' || bytes === peak.bytes, 'the peak is the sum of its blocks');
        for (const kind of Object.keys(NAMES)) {
            await page.click(`#live .row >> nth=0 >> text="${kind}"`);
            const cells = await allCells(page, tools, '#live'), rows = liveRows(ask, kind, seq);
            assert.ok(rows.length >= 3, `${kind} has ${rows.length} groups`);
            assert.deepEqual(sorted(cells.map((row) => [namePlain(row), row[1], row[3]])), sorted(rows), `${kind} at ${at}`);
            assert.ok((await page.getAttribute('#live .icicle .cell >> nth=0', 'aria-label')).includes(formatBytes(bytes)), `the picture of ${kind} at ${at} is of ${bytes} bytes`);
        }
    }
    await close();
    const modules = ask('groups', 'SELECT module, live_bytes, live_count FROM peak_by_module').map((row) => [row.module, formatBytes(row.live_bytes), formatCount(row.live_count)]);
    assert.deepEqual(sorted(liveRows(ask, 'module', peak.seq)), sorted(modules), 'the view says the same of the peak');
}

/* Of driver memory segments are a part, whatever the moment. */
async function testDriver(browser, tools) {
    const {ask, open} = tools, [heap] = ask('leak', "SELECT p.heap_id AS id, s.peak_seq AS peak, s.peak_bytes AS bytes FROM z_heap_place AS p JOIN z_heap_sum AS s USING (heap_id) WHERE p.level = 'driver'");
    const {page, close} = await open(browser, 'leak', `#heap=${heap.id}&at=0`);
    for (const [at, seq] of [['peak', heap.peak], [String(heap.peak), heap.peak], ['1500', 1500]]) {
        await tools.goTo(page, `#heap=${heap.id}&at=${at}`);
        const live = `FROM allocation AS a LEFT JOIN stack AS s ON s.stack_id = a.stack_id LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE a.heap_id = ${heap.id} AND ${LIVE_AT(seq)}`;
        const rows = ask('leak', `SELECT f.label AS name, sum(a.size_bytes) AS bytes, count(*) AS count ${live} GROUP BY s.site_frame_id`);
        assert.ok(seq !== heap.peak || rows.reduce((sum, row) => sum + row.bytes, 0) === heap.bytes);
        assert.ok(ask('leak', `SELECT sum(a.is_segment) AS count ${live}`)[0].count > 2);
        assert.deepEqual(sorted((await allCells(page, tools, '#live')).map((cells) => [namePlain(cells), cells[1], cells[3]])), sorted(rows.map((row) => [row.name, formatBytes(row.bytes), formatCount(row.count)])), `driver memory at ${at}`);
    }
    await close();
}

/* Whole stacks: two of one site are two rows. */
async function testStacks(browser, tools) {
    const {ask, open} = tools, {page, close} = await open(browser, 'groups', '#group=stack&at=217');
    const rows = ask('groups', `SELECT coalesce(f.label, '(no stack)') AS name, a.stack_id AS stack, sum(a.size_bytes) AS bytes, count(*) AS count ${BLOCKS} AND ${LIVE_AT(217)} GROUP BY a.stack_id ORDER BY 3 DESC`);
    assert.ok(rows.length > new Set(rows.map((row) => row.name)).size, 'a site has two stacks');
    assert.deepEqual((await allCells(page, tools, '#live')).map((cells) => [namePlain(cells), cells[1], cells[3]]), rows.map((row) => [row.name, formatBytes(row.bytes), formatCount(row.count)]));
    await page.click('#live tbody tr >> nth=0');
    const frames = ask('groups', `WITH RECURSIVE up(depth, stack_id) AS (SELECT 0, ${rows[0].stack} UNION ALL SELECT depth + 1, parent_id FROM up JOIN stack USING (stack_id) WHERE parent_id IS NOT NULL) SELECT f.label AS label FROM up JOIN stack AS s USING (stack_id) JOIN frame AS f ON f.frame_id = s.frame_id ORDER BY up.depth`);
    assert.deepEqual(await page.$$eval('#live .below .stack li', (lines) => lines.map((line) => line.textContent)), frames.map((row) => row.label));
    await page.waitForFunction(() => location.hash.includes('stack='));
    await close();
}

/* Cells of a picture right below the whole: [sign and name, bytes and count as its text has them]. */
function cellsBelow(page, selector) {
    return page.$$eval(`${selector} [aria-level="2"]`, (cells) => cells.map((cell) => cell.getAttribute('aria-label').match(/^(.*): ([+-].*), [^,]* %, ([\d,]+) blocks$/).slice(1)));
}

/* Both pictures of a change are its blocks by SQL, with a sign: all that are wide enough to be seen, and the whole, on one scale. What is called the same is one cell. */
async function checkPictures(page, kind, changed) {
    const sumOf = (some, key) => some.reduce((sum, row) => sum + row[key], 0), rowsOfPart = (part) => [...new Set(changed.map((row) => row.name))].map((name) => changed.filter((row) => row.name === name)).map((some) => ({name: some[0].name, bytes: sumOf(some, `${part}_bytes`), count: sumOf(some, `${part}_count`)})).filter((row) => row.count > 0);
    const parts = [{part: 'came', sign: '+', rows: rowsOfPart('came')}, {part: 'went', sign: '-', rows: rowsOfPart('went')}], whole = Math.max(...parts.map(({rows}) => sumOf(rows, 'bytes')));
    for (const {part, sign, rows} of parts) {
        const all = rows.map((row) => [row.name, `${sign}${formatBytes(row.bytes)}`, formatCount(row.count)].join()), shown = (await cellsBelow(page, `#live-${part}`)).map((cell) => [cell[0].replace(/^[+-] /, ''), ...cell.slice(1)].join());
        if (kind !== 'stack')
            assert.deepEqual([shown.length, shown.filter((cell) => !all.includes(cell))], [rows.filter((row) => row.bytes >= 0.004 * whole).length, []], `${part} by ${kind}`);
        if (rows.length > 0)
            assert.ok((await page.getAttribute(`#live-${part} .cell >> nth=0`, 'aria-label')).includes(`${sign}${formatBytes(sumOf(rows, 'bytes'))}`), `all that ${part}`);
        assert.ok((await page.textContent(`#live-${part} h3`)).includes(`${sign}${formatBytes(sumOf(rows, 'bytes'))} in ${formatCount(sumOf(rows, 'count'))} blocks`));
    }
    const widths = await page.$$eval('#live-came .cell:first-child, #live-went .cell:first-child', (cells) => cells.map((cell) => cell.getBoundingClientRect().width / cell.parentElement.clientWidth));
    parts.map(({rows}) => sumOf(rows, 'bytes')).filter((sum) => sum > 0).forEach((sum, i) => assert.ok(Math.abs(widths[i] - Math.max(0.004, sum / whole)) < 0.01, `the width of ${sum} bytes`));
}

/* What came, went and stayed, by each grouping; the earlier moment is the begin, whichever was picked first. */
async function testChange(browser, tools) {
    const {ask, open} = tools, [peak] = ask('groups', 'SELECT peak_seq AS seq FROM peak'), [end] = ask('groups', 'SELECT last_seq AS seq FROM input');
    const {page, close} = await open(browser, 'groups');
    for (const [since, at, from, to] of [['90', '260', 90, 260], ['260', '90', 90, 260], ['peak', 'end', peak.seq, end.seq]]) {
        await tools.goTo(page, `#since=${since}&at=${at}`);
        for (const kind of Object.keys(NAMES)) {
            await page.click(`#live .row >> nth=0 >> text="${kind}"`);
            const changed = askChange(ask, kind, from, to), rows = changeRows(kind, changed);
            assert.deepEqual(sorted((await allCells(page, tools, '#live')).map((cells) => [namePlain(cells), ...cells.slice(1)])), sorted(rows), `${kind} from ${since} to ${at}`);
            if (kind !== 'module')
                await checkPictures(page, kind, changed);
        }
        const [whole] = ask('groups', `SELECT sum(a.alloc_seq > ${from} AND ${LIVE_AT(to)}) AS came, sum(${LIVE_AT(from)} AND NOT ${LIVE_AT(to)}) AS went, sum(${LIVE_AT(from)} AND ${LIVE_AT(to)}) AS stayed ${BLOCKS}`);
        assert.ok(whole.stayed > 0 && whole.came + whole.went > 0, 'something stayed, and something did not');
        for (const [part, count] of Object.entries(whole))
            assert.match(await page.textContent('#live-change'), new RegExp(`in ${count} blocks ${part}`));
    }
    await close();
}

/* Moments can be picked by name, by step, from the timeline and from the range; what is picked stands in the address. */
async function testPicks(browser, tools) {
    const {ask, open, picture} = tools, {page, close} = await open(browser, 'groups'), [mark] = ask('groups', "SELECT seq FROM moment WHERE name = 'after 4'"), [step] = ask('groups', 'SELECT begin_seq AS seq FROM step WHERE number = 7');
    const hashHas = (part) => page.waitForFunction((text) => location.hash.slice(1).split('&').includes(text), part);
    await page.selectOption('#live-since select', {label: `after 4, event ${formatCount(mark.seq)}`});
    await hashHas(`since=${mark.seq}`);
    await page.fill('#live-at input', '7');
    await page.keyboard.press('Enter');
    await hashHas(`at=${step.seq}`);
    assert.ok((await page.textContent('#live-change')).includes(`to event ${formatCount(step.seq)}, step 7`));
    await page.click('#live-since >> text=this moment');
    await hashHas(`since=${step.seq}`);
    await page.$eval('#timeline-chart', (canvas) => canvas.scrollIntoView({block: 'center'}));
    const box = await page.locator('#timeline-chart').boundingBox();
    await page.mouse.click(box.x + box.width * 0.8, box.y + 100);
    await page.waitForFunction((seq) => !location.hash.includes(`at=${seq}`), step.seq);
    const [, at] = (await page.evaluate(() => location.hash)).match(/at=(\d+)/);
    assert.deepEqual(sorted((await allCells(page, tools, '#live')).map((cells) => [namePlain(cells), ...cells.slice(1)])), sorted(changeRows('site', askChange(ask, 'site', step.seq, Number(at)))), 'a click on the timeline is a moment');
    await picture(page, 'groups-change');
    await close();
    const oom = await open(browser, 'oom'), [failed] = ask('oom', "SELECT min(seq) AS seq FROM moment AS m JOIN z_moment_kind AS k USING (kind) WHERE k.name = 'failure'");
    const named = ask('oom', "SELECT CASE k.name WHEN 'mark' THEN m.name WHEN 'failure' THEN 'failed allocation' ELSE 'peak of the device' END AS text, m.seq AS seq FROM moment AS m JOIN z_moment_kind AS k USING (kind) WHERE k.name IN ('mark', 'failure', 'device peak')");
    assert.ok(named.length >= 3);
    assert.deepEqual((await oom.page.$$eval('#live-at option', (options) => options.slice(1).map((option) => option.textContent))).sort(), named.map((row) => `${row.text}, event ${formatCount(row.seq)}`).sort());
    await oom.page.selectOption('#live-at select', {label: `failed allocation, event ${formatCount(failed.seq)}`});
    const held = ask('oom', `SELECT f.label AS name, sum(a.size_bytes) AS bytes, count(*) AS count FROM allocation AS a LEFT JOIN stack AS s USING (stack_id) LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE a.heap_id = ${GROUPS_HEAP} AND ${LIVE_AT(failed.seq)} GROUP BY s.site_frame_id`);
    assert.deepEqual(sorted((await allCells(oom.page, tools, '#live')).map((cells) => [namePlain(cells), cells[1], cells[3]])), sorted(held.map((row) => [row.name, formatBytes(row.bytes), formatCount(row.count)])), 'what was live when it failed');
    await oom.close();
    const ranged = await open(browser, 'groups', '#from=100&to=300');
    await ranged.page.click('#live-since >> text=begin and end of the range');
    assert.deepEqual(sorted((await allCells(ranged.page, tools, '#live')).map((cells) => [namePlain(cells), ...cells.slice(1)])), sorted(changeRows('site', askChange(ask, 'site', 100, 300))));
    await ranged.close();
    const sums = await open(browser, 'sums', '#since=end');
    assert.ok((await sums.page.textContent('#live')).includes('What changed is not known here'));
    await sums.close();
}

/* Counted from allocations and steps, not from the sums that the view has it from. */
async function testHits(browser, tools) {
    const {ask, open, cellsOf} = tools, {page, close} = await open(browser, 'leak');
    const rows = ask('leak', `SELECT (SELECT s.number FROM step AS s WHERE s.begin_seq <= a.alloc_seq ORDER BY s.begin_seq DESC LIMIT 1) AS step, count(*) AS count, sum(a.is_miss) AS missed FROM allocation AS a WHERE a.heap_id = 1 AND a.is_miss IS NOT NULL GROUP BY 1 ORDER BY 1`);
    assert.ok(rows.length > 50 && rows.some((row) => row.missed > 0));
    await page.click('#pool-hits summary');
    await page.waitForSelector('#pool-hits tbody tr'); /* it is made once it is asked for */
    if (await page.locator('#pool-hits .more .link').count() > 0)
        await page.click('#pool-hits .more .link');
    assert.deepEqual((await cellsOf(page, '#pool-hits')).map((cells) => [cells[0], ...cells.slice(2)]), rows.map((row) => [row.step === null ? 'before the first' : formatCount(row.step), formatCount(row.count), formatCount(row.missed), formatPercent(1 - row.missed / row.count)]));
    const points = await page.getAttribute('#pool-hits .spark polyline', 'points'), heights = points.split(' ').map((point) => Number(point.split(',')[1]));
    assert.deepEqual(heights, rows.map((row) => Number((62 - 60 * (1 - row.missed / row.count)).toFixed(1))), 'the curve is from 0 to 1');
    assert.equal(await page.textContent('#pool-whatif code'), 'npumem whatif --suggest leak.zst');
    assert.deepEqual(sorted((await cellsOf(page, '#pool-whatif')).map((cells) => [cells[0], cells[2]])), sorted(ask('leak', "SELECT measure, advice FROM health WHERE level = 'pool' AND advice IS NOT NULL").map((row) => [row.measure, row.advice])));
    await close();
}

/* The table is that of the command, figure by figure: it is read from what that prints. */
async function testWhatif(browser, tools) {
    const {open, cellsOf} = tools, {page, close} = await open(browser, 'leak');
    const lines = execFileSync(`${process.env.NPUMEM_BIN}/npumem-whatif`, ['--compare', `${process.argv[2]}/leak.db`], {encoding: 'utf8'}).split('\n'), begin = lines.findIndex((line) => line.startsWith('setting ')), wanted = lines.slice(begin + 1, lines.findIndex((line, i) => i > begin && line === '')).filter((line) => line !== 'simulated').map((line) => line.trim().replaceAll(/ -(?= |$)/g, ' \u2013').split(/ {2,}/));
    assert.ok(wanted.length > 3);
    assert.deepEqual((await cellsOf(page, '#pool-tried')).map((cells) => [cells[0], cells[1], cells[2], ...cells.slice(4)]), wanted.map(([name, reserved, beyond, stuck, rate, calls, , device, fits], i) => [name, i === 0 ? 'recorded' : 'simulated', reserved, beyond, stuck, rate, calls, device, fits]));
    const bytes = await page.$$eval('#pool-tried tbody tr', (rows) => rows.map((row) => row.cells[3].textContent));
    assert.deepEqual(bytes.slice(0, 2), ['\u2013', '0 B'], 'the recorded setting saves nothing');
    await close();
    const without = await open(browser, 'live');
    assert.ok((await without.page.textContent('#pool')).includes('npumem report --whatif'), 'what has no rows says how');
    await without.close();
}

function histogram(ask, name, value, where) {
    return ask(name, `WITH RECURSIVE power(low) AS (SELECT 1 UNION ALL SELECT low * 2 FROM power WHERE low < 1 << 50), block(value, size) AS (SELECT ${value}, a.size_bytes FROM allocation AS a LEFT JOIN stack AS s ON s.stack_id = a.stack_id LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE a.heap_id = ${GROUPS_HEAP} AND a.is_segment = 0 AND a.alloc_seq IS NOT NULL AND ${where}) SELECT low, count(*) AS count, sum(size) AS bytes FROM power JOIN block ON value >= low AND value < low * 2 GROUP BY low ORDER BY low`);
}

/* Of all, of a range, and of what the search finds. */
async function testHistograms(browser, tools) {
    const {ask, open, cellsOf} = tools;
    for (const [name, hash, where] of [['leak', '', '1'], ['groups', '#from=150&to=280', 'a.alloc_seq BETWEEN 150 AND 280'], ['groups', '#search=two%5C.py', "f.label LIKE '%two.py%'"]]) {
        const {page, close} = await open(browser, name, hash);
        for (const [id, value, format, more] of [['sizes', 'a.size_bytes', formatBytes, '1'], ['lifetimes', 'a.free_seq - a.alloc_seq', formatCount, 'a.free_seq IS NOT NULL']]) {
            const rows = histogram(ask, name, value, `${where} AND ${more}`), shown = (await cellsOf(page, `#pool-${id}`)).filter((cells) => cells[1] !== '0');
            assert.ok(rows.length > 3);
            assert.deepEqual(shown, rows.map((row) => [`${format(row.low)} to below ${format(2 * row.low)}`, formatCount(row.count), formatBytes(row.bytes)]), `${id} of ${name}${hash}`);
        }
        const [kept] = ask(name, `SELECT count(*) AS count, sum(a.size_bytes) AS bytes FROM allocation AS a LEFT JOIN stack AS s ON s.stack_id = a.stack_id LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE a.heap_id = ${GROUPS_HEAP} AND a.is_segment = 0 AND a.free_seq IS NULL AND ${where}`);
        assert.ok((await page.textContent('#pool-lifetimes .note')).includes(`${formatCount(kept.count)} blocks of ${formatBytes(kept.bytes)}`));
        await close();
    }
}

/* Both bars are as wide as their figures, which are those of the view and of the steps. */
async function testLevels(browser, tools) {
    const {ask, open, cellsOf} = tools, {page, close} = await open(browser, 'oom');
    const [failed] = ask('oom', "SELECT tried_bytes, allocated_bytes, active_bytes, reserved_bytes, own_bytes + module_bytes AS process, total_bytes - free_bytes AS used, total_bytes, first_seq FROM out_of_memory WHERE outcome = 'fatal'");
    const [before] = ask('oom', `SELECT number, end_seq FROM step WHERE end_seq <= ${failed.first_seq} ORDER BY begin_seq DESC LIMIT 1`), live = (level) => ask('oom', `SELECT sum(a.size_bytes) AS bytes FROM allocation AS a JOIN z_heap_place AS p USING (heap_id) WHERE p.level = '${level}' AND p.device IS NOT NULL AND a.alloc_seq <= ${before.end_seq} AND (a.free_seq IS NULL OR a.free_seq > ${before.end_seq})`)[0].bytes;
    const [{reserved}] = ask('oom', `SELECT peak_reserved_bytes AS reserved FROM step_total WHERE level = 'pool' AND step = ${before.number}`);
    const figures = [['when it failed', failed.tried_bytes, failed.allocated_bytes, failed.active_bytes, failed.reserved_bytes, failed.process, failed.used, failed.total_bytes], [`at the end of step ${before.number}`, null, null, live('pool'), reserved, live('driver'), null, failed.total_bytes]];
    assert.deepEqual(await cellsOf(page, '#oom .failure:first-of-type .levels'), figures.map(([when, ...bytes]) => [when, ...bytes.map(formatBytes)]));
    const widths = await page.$$eval('#oom .failure:first-of-type .levels .stacked', (bars) => bars.map((bar) => [...bar.children].map((part) => part.getBoundingClientRect().width / bar.clientWidth)));
    const levels = [[failed.allocated_bytes, failed.active_bytes, failed.reserved_bytes, failed.process, failed.used, failed.total_bytes], [live('pool'), reserved, live('driver'), failed.total_bytes]];
    levels.forEach((bytes, bar) => {
        const distinct = bytes.filter((value, i) => i === 0 || value > bytes[i - 1]);
        assert.equal(widths[bar].length, distinct.length);
        distinct.forEach((value, i) => assert.ok(Math.abs(widths[bar][i] - (value - (distinct[i - 1] ?? 0)) / failed.total_bytes) < 0.003, `part ${i} of bar ${bar}`));
    });
    await close();
}

/* A page of a run that died opens on its last steps and says so; a button leads to the whole run, and a link says what was looked at. */
async function testOpening(browser, tools) {
    const {ask, open} = tools, [failed] = ask('oom', "SELECT first_seq AS seq FROM out_of_memory WHERE outcome = 'fatal'"), [{begin, last}] = ask('oom', `SELECT (SELECT s.begin_seq FROM step AS s WHERE s.begin_seq < ${failed.seq} ORDER BY s.begin_seq DESC LIMIT 1 OFFSET 1) AS begin, (SELECT max(seq) + 1 FROM (SELECT max(last_seq) AS seq FROM usage UNION ALL SELECT max(seq) FROM moment WHERE kind = 4)) AS last`);
    const {page, close} = await open(browser, 'oom'), word = `The page opens where memory ran out: events ${formatCount(begin)} to ${formatCount(last)}, ${formatPercent((last - begin) / (last - ask('oom', 'SELECT min(first_seq) AS seq FROM usage')[0].seq))} of the run.`;
    assert.deepEqual(await page.$$eval('#timeline .part, #map .part', (parts) => parts.map((part) => part.textContent)), [word, word]);
    const inView = async () => Number((await page.textContent('#map .tell')).match(/^[\d,]+/)[0].replaceAll(',', ''));
    const blocksFrom = (from) => ask('oom', `SELECT count(*) AS count FROM allocation WHERE heap_id = ${GROUPS_HEAP} AND is_segment = 0 AND (free_seq IS NULL OR free_seq >= ${from})`)[0].count;
    assert.equal(await inView(), blocksFrom(begin), 'the map shows the same stretch');
    assert.equal(await page.evaluate(() => location.hash), '', 'it needs no word in the address');
    await page.locator('#timeline').screenshot({path: `${process.argv[2]}/oom-opening.png`});
    await page.click('#timeline >> text=whole run');
    assert.equal(await page.locator('#timeline .part').count(), 0);
    assert.equal(await inView(), blocksFrom(0));
    await page.waitForFunction(() => location.hash === '#from=all&to=all');
    await close();
    const again = await open(browser, 'oom', '#from=all&to=all');
    assert.equal(await again.page.locator('#timeline .part').count(), 0, 'a link to the whole run is one');
    for (const [hash, wanted] of [['#from=100&to=200', /^Events 100 to 200: /], ['#at=end', /^The page opens/]]) {
        await tools.goTo(again.page, hash);
        assert.match(await again.page.textContent('#timeline .part'), wanted);
    }
    await again.close();
    const leak = await open(browser, 'leak'), ranks = await open(browser, 'ranks'), [dead] = ask('ranks', "SELECT process_id AS id FROM z_rank_summary WHERE failure_order = 'first'"), [other] = ask('ranks', `SELECT heap_id AS id FROM heap WHERE process_id <> ${dead.id} AND heap_id IN (SELECT heap_id FROM usage)`);
    assert.equal(await leak.page.locator('.part').count(), 0, 'a run that ended by itself is shown as a whole');
    assert.match(await ranks.page.textContent('#timeline .part'), /^The page opens/, 'of ranks the one that died first');
    await tools.goTo(ranks.page, `#heap=${other.id}`);
    assert.equal(await ranks.page.locator('.part').count(), 0, 'its range is none of another rank');
    await leak.close();
    await ranks.close();
}

async function testHead(browser, tools) {
    const {ask, open, cellsOf} = tools, {page, close} = await open(browser, 'groups');
    await page.click('#settings summary');
    assert.deepEqual(sorted((await cellsOf(page, '#settings')).map((cells) => cells.slice(0, 3))), sorted([...ask('groups', 'SELECT source, name, value FROM z_process_environment').map((row) => [row.source === 'version' ? 'version' : 'setting', row.name, row.value]), ...ask('groups', 'SELECT key, value FROM meta').map((row) => ['database', row.key, row.value])]));
    assert.ok((await page.textContent('#settings')).includes('max_split_size_mb:64'));
    await page.fill('#search', 'ALLOC_CONF');
    assert.equal((await cellsOf(page, '#settings')).length, 1);
    await close();
}

/* What is no regular expression is said so, and looked for as it stands; the search reaches verdicts, too. */
async function testSearch(browser, tools) {
    const {ask, open, cellsOf} = tools, {page, close} = await open(browser, 'leak'), cards = () => page.locator('#verdicts .card:visible').count(), all = await cards();
    assert.ok(all >= 1);
    assert.equal(await page.textContent('#search-word'), '');
    await page.fill('#search', 'leak_one(');
    assert.equal(await page.textContent('#search-word'), 'leak_one( is no regular expression: it is looked for as it stands.');
    assert.equal(await page.getAttribute('#search', 'aria-invalid'), 'true');
    assert.deepEqual(await cellsOf(page, '#leaks'), []);
    assert.equal(await cards(), 0);
    await page.fill('#search', 'leak_on[e]');
    assert.equal(await page.textContent('#search-word'), '');
    assert.equal((await cellsOf(page, '#leaks')).length, ask('leak', "SELECT count(*) AS n FROM leak_by_site WHERE site LIKE '%leak_one%'")[0].n);
    assert.ok(await cards() >= 1);
    await close();
    const chinese = await open(browser, 'leak', '#lang=zh&search=%5B');
    assert.equal(await chinese.page.textContent('#search-word'), '\u201c[\u201d \u4e0d\u662f\u6b63\u5219\u8868\u8fbe\u5f0f\uff1a\u6309\u539f\u6587\u641c\u7d22\u3002');
    await chinese.close();
}

function swatches(page) {
    return page.$$eval('#map .legend', (legends) => Object.fromEntries(legends.map((legend) => [legend.textContent, getComputedStyle(legend.querySelector('.swatch')).backgroundColor])));
}

/* {name: colour} of what is in a panel: of swatches, which stand before a name, or of the cells of a picture. */
function namedColours(page, selector, isPicture) {
    return page.$$eval(selector, (found, isCell) => {
        const probe = document.body.appendChild(document.createElement('i')), asColour = (text) => {
            probe.style.color = text;
            return getComputedStyle(probe).color;
        };
        const pairs = found.map((one) => (isCell ? [one.textContent, asColour(getComputedStyle(one).getPropertyValue('--cell'))] : [one.parentElement.textContent.replace(/leak$/, ''), getComputedStyle(one).backgroundColor]));
        probe.remove();
        return Object.fromEntries(pairs);
    }, isPicture);
}

/* A site has one colour, and one pattern, wherever it stands: in the legend of the map, the flame graph by sites and by stacks, what is live, the blocks in view, the table of blocks and in a segment. */
async function testOneColour(browser, {ask, open, goTo}) {
    for (const name of ['leak', 'torch']) {
        const [{heap, seq}] = ask(name, "SELECT p.heap_id AS heap, s.peak_seq AS seq FROM z_heap_place AS p JOIN z_heap_sum AS s USING (heap_id) WHERE p.level = 'pool' ORDER BY s.peak_bytes DESC LIMIT 1"), {page, close} = await open(browser, name, `#heap=${heap}&at=${seq}&group=site`);
        await page.click('#map .numbers summary');
        await page.click('#segments tbody .open >> nth=0');
        await page.waitForSelector('#segments .opened .swatch');
        const legend = await namedColours(page, '#map .legend .swatch', false), rest = legend['other sites'] ?? null, seen = new Map();
        const places = {blocks: ['#map .numbers td .swatch', false], segment: ['#segments .opened td .swatch', false], table: ['#rows-blocks td .swatch', false], picture: ['#live .icicle .cell[aria-level="2"]', true]};
        for (const [place, [selector, isPicture]] of Object.entries(places)) {
            const colours = Object.entries(await namedColours(page, selector, isPicture)).filter(([site]) => site !== '');
            assert.ok(colours.length > 0, `${place} has no site`);
            for (const [site, colour] of colours) {
                assert.equal(colour, legend[site] ?? rest, `${site} in ${place} of ${name}`);
                seen.set(site, (seen.get(site) ?? 0) + 1);
            }
        }
        assert.ok([...seen.values()].filter((count) => count > 2).length > (name === 'leak' ? 2 : 0), `sites in several places: ${[...seen]}`);
        for (const [site, colour] of await page.$$eval('#live tbody tr:has(.bar)', (rows) => rows.map((row) => [row.cells[0].textContent.replace(/leak$/, ''), getComputedStyle(row.querySelector('.bar')).backgroundColor])))
            assert.equal(colour, legend[site] ?? rest, `the bar of ${site} in ${name}`);
        await goTo(page, `#heap=${heap}&at=${seq}&group=stack`);
        const stacks = Object.entries(await namedColours(page, '#live .icicle .cell', true)).filter(([site]) => legend[site]);
        assert.ok(stacks.length > 0, "no site in the picture by stacks");
        for (const [site, colour] of stacks)
            assert.equal(colour, legend[site], `${site} in the picture by stacks of ${name}`);
        const looks = await page.$$eval('#map .legend .swatch, #map td .swatch, #segments td .swatch, #rows-blocks td .swatch', (all) => all.map((one) => [one.parentElement.textContent.replace(/leak$/, ''), one.className]));
        for (const site of new Set(looks.map(([one]) => one)))
            assert.equal(new Set(looks.filter(([one]) => one === site).map(([, look]) => look)).size, 1, `the pattern of ${site}`);
        await close();
    }
}

const asColour = ([red, green, blue]) => `rgb(${red}, ${green}, ${blue})`;

/* By age and by private pool the map has the colour that its legend gives what SQL says of the block. */
async function testColours(browser, tools) {
    const {ask, open, mapPoint} = tools, leak = await open(browser, 'leak');
    assert.equal(await leak.page.locator('#map .row >> text="private pool"').count(), 0, 'no private pool, no choice');
    await leak.page.click('#map .row >> text="age"');
    const ages = await swatches(leak.page), [old] = ask('leak', `SELECT a.allocation_id AS id, (SELECT count(*) FROM step AS s WHERE s.begin_seq > a.alloc_seq) AS age FROM leak AS l JOIN allocation AS a USING (allocation_id) ORDER BY a.alloc_seq LIMIT 1 OFFSET 30`);
    const low = 2 ** Math.floor(Math.log2(old.age));
    assert.equal(asColour((await mapPoint(leak.page, 'leak', old.id)).colour), ages[`${low} to ${2 * low - 1} steps`], `${old.age} steps old`);
    await leak.close();
    for (const [name, test] of [['pool 7', 'private_pool = 7'], ['pool 1, 5', 'private_pool > 7'], ['no private pool', 'private_pool IS NULL']]) {
        const groups = await open(browser, 'groups', '#colour=private+pool'), pools = await swatches(groups.page), [{id}] = ask('groups', `SELECT allocation_id AS id FROM allocation WHERE ${test} ORDER BY size_bytes * (coalesce(free_seq, 600) - alloc_seq) DESC LIMIT 1`);
        assert.deepEqual(Object.keys(pools), ['pool 7', 'pool 1, 5', 'no private pool']);
        assert.equal(asColour((await mapPoint(groups.page, 'groups', id)).colour), pools[name], name);
        await groups.close();
    }
}

/* A click makes a part the whole picture, of the bytes that SQL says of it; buttons and Escape lead back, and a link shows the same. */
async function testZoom(browser, {ask, open, goTo}) {
    const {page, close} = await open(browser, 'groups', '#at=217'), cells = () => page.$$eval('#live .icicle .cell', (all) => all.map((cell) => [cell.getAttribute('aria-level'), cell.getAttribute('aria-label'), cell.textContent]));
    const [{name, bytes, count}] = ask('groups', `SELECT ${NAMES.site} AS name, sum(a.size_bytes) AS bytes, count(*) AS count ${BLOCKS} AND ${LIVE_AT(217)} AND name NOT LIKE '(%' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1`), [all] = ask('groups', `SELECT sum(a.size_bytes) AS bytes, count(*) AS count ${BLOCKS} AND ${LIVE_AT(217)}`);
    const whole = await cells(), text = (one, sum) => `${one}: ${formatBytes(sum.bytes)}, ${formatPercent(sum.bytes / all.bytes)}, ${formatCount(sum.count)} blocks`;
    assert.deepEqual(whole[0], ['1', text('all', all), text('all', all)], 'the root says what it is');
    assert.equal(await page.locator('#live .crumbs').count(), 0);
    await page.focus('#live .icicle .cell >> nth=0');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const part = await cells();
    assert.ok(part.length < whole.length && part[0][1].startsWith(`${name}: `), part[0][1]);
    assert.equal(part[0][1], text(name, {bytes, count}));
    assert.ok((await page.$eval('#live .icicle .cell', (cell) => cell.getBoundingClientRect().width / cell.parentElement.clientWidth)) > 0.99, 'it is the whole width');
    assert.equal((await page.textContent('#live .crumbs')).replace(/\s+/g, ' '), `all \u203a ${name}`);
    await page.waitForFunction(() => location.hash.includes('zoom='));
    await goTo(page, `${await page.evaluate(() => location.hash)}&search=${name.slice(0, 6)}`);
    assert.ok((await page.textContent('#live .crumbs + .tell')).includes(`${formatBytes(bytes)} in ${formatCount(count)} blocks of the picture, 100 %`));
    assert.ok((await page.locator('#live .cell.found').count()) > 0, 'what is found has a mark');
    await page.fill('#search', '');
    await page.focus('#live .icicle .cell >> nth=0');
    await page.keyboard.press('Escape');
    assert.deepEqual(await cells(), whole);
    await page.click('#live .icicle .cell >> nth=1');
    await page.click('#live .crumbs .link >> nth=0');
    assert.deepEqual(await cells(), whole, 'so does the first button');
    await close();
}

/* On a phone the head leaves room, nothing is wider than the window or reaches over the border of its panel, and a table that goes on shows it. */
async function testPhone(browser, {open, ask}) {
    const [opened] = ask('leak', `SELECT allocation_id AS block, segment_id AS segment FROM allocation AS a WHERE a.heap_id = 1 AND ${LIVE_AT(3745)} AND a.free_requested_seq <= 3745`);
    for (const [name, hash] of [['leak', '#block=400'], ['leak', `#at=3745&segment=${opened.segment}&block=${opened.block}&rows=segment`], ['oom', '#lang=zh&group=stack'], ['ranks', ''], ['against', '']]) {
        const {page, close} = await open(browser, name, hash, {viewport: {width: 390, height: 844}});
        const seen = await page.evaluate(() => {
            const {scrollWidth, clientWidth} = document.documentElement, boxes = [...document.querySelectorAll('.tablebox')], isOutside = (element) => element.getBoundingClientRect().right > element.closest('.panel').getBoundingClientRect().right - 1;
            return {scrollWidth, clientWidth, head: document.getElementById('top').getBoundingClientRect().height, outside: [...document.querySelectorAll('.panel *')].filter((element) => !element.closest('.tablebox > *, .icicle > *, .hidden, svg') && isOutside(element)).map((element) => `${element.closest('.panel').id} ${element.tagName}.${element.className}`),
                wide: boxes.filter((box) => box.scrollWidth > box.clientWidth).length, bare: boxes.filter((box) => getComputedStyle(box).backgroundImage.split('linear-gradient').length !== 5).length};
        });
        assert.equal(seen.scrollWidth, seen.clientWidth, `${name} is as wide as the window`);
        assert.ok(seen.head <= 0.15 * 844, `the head of ${name} has ${seen.head} pixels`);
        assert.deepEqual(seen.outside, [], name);
        assert.ok(seen.wide > 0 && seen.bare === 0, `${name}: ${seen.wide} tables go on, ${seen.bare} do not show it`);
        await close();
    }
}

/* The timeline by site: each layer is what SQL says was live, at the pointer too, and a layer that is hidden is in no sum. */
async function testLayers(browser, {ask, open, goTo}) {
    const {page, close} = await open(browser, 'groups', '#layers=site&at=0'), held = () => page.$$eval('#timeline-legend li', (items) => items.filter((item) => item.querySelector('b')).map((item) => [item.querySelector('span:not(.swatch)').textContent, item.querySelector('b').textContent]));
    for (const seq of [217, 90, 400]) {
        await goTo(page, `#layers=site&at=${seq}`);
        const rows = ask('groups', `SELECT CASE WHEN a.alloc_seq IS NULL AND a.stack_id IS NULL THEN '(baseline)' ELSE ${NAMES.site} END AS name, sum((${LIVE_AT(seq)}) * a.size_bytes) AS bytes ${BLOCKS} GROUP BY 1`), whole = rows.reduce((sum, row) => sum + row.bytes, 0);
        assert.ok(rows.length > 5 && rows.length <= 12, `${rows.length} sites`);
        assert.deepEqual(sorted(await held()), sorted([...rows.map((row) => [row.name, formatBytes(row.bytes)]), ['together', formatBytes(whole)]]), `at ${seq}`);
    }
    await goTo(page, '#layers=site&at=217');
    const [[name], ...others] = await held(), [{bytes}] = ask('groups', `SELECT sum(a.size_bytes) AS bytes ${BLOCKS} AND ${LIVE_AT(217)} AND ${NAMES.site} <> '${name}'`);
    await page.click('#timeline-legend button >> nth=0');
    assert.deepEqual(await held(), [...others.slice(0, -1), ['together', formatBytes(bytes)]]);
    await page.waitForFunction(() => location.hash.includes('hide='));
    assert.equal(await page.getAttribute('#timeline-legend button.off', 'aria-pressed'), 'false');
    const box = await page.locator('#timeline-chart').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 150);
    const tip = await page.locator('#timeline .tip').innerText(), seen = await held();
    assert.ok(seen.filter(([, amount]) => amount !== '0 B').slice(0, -1).every(([site, amount]) => tip.includes(`${amount} ${site}`)) && tip.includes(seen[seen.length - 1][1]) && !tip.includes(` ${name}`), `${tip} is ${seen.join(' ')}`);
    await page.click('#timeline-legend button.off');
    assert.equal((await held()).length, others.length + 1);
    await page.click('#timeline .row >> text="component"');
    assert.ok((await held())[0][0].endsWith('allocated'));
    await close();
}

/* On a machine on which a page takes more than two seconds a bar says how far it is; then it is gone. */
async function testProgress(browser, {open}) {
    const {page, close} = await open(browser, 'leak', '', {viewport: {width: 1440, height: 1000}}), session = await page.context().newCDPSession(page), barsSeen = () => page.evaluate(() => window.barsSeen.length);
    await page.addInitScript(() => {
        window.barsSeen = [];
        new MutationObserver(() => {
            const bar = document.getElementById('progress');
            if (bar && !window.barsSeen.includes(bar))
                window.barsSeen.push(bar);
        }).observe(document, {childList: true, subtree: true});
    });
    const load = async (rate) => {
        await session.send('Emulation.setCPUThrottlingRate', {rate});
        await page.reload();
        await page.waitForFunction(() => document.documentElement.dataset.ready, null, {timeout: 120000});
        return Number(await page.evaluate(() => document.documentElement.dataset.ready));
    };
    for (const isSlowed of [false, true]) {
        let took = await load(isSlowed ? 40 : 1);
        for (let rate = 80; isSlowed && took <= 5000 && rate <= 640; rate *= 2)
            took = await load(rate);
        assert.ok(!isSlowed || took > 5000, `${took} ms`);
        if (took < 1500 || took > 5000)
            assert.equal(await barsSeen(), took > 5000 ? 1 : 0, `a page of ${took} ms`);
        assert.equal(await page.locator('#progress').count(), 0);
    }
    await close();
}

/* Places of the map, by a fixed seed, whose colour is neither that of the ground nor of what is drawn over blocks: lines between lanes, labels and the cursor are of the page's own colours. */
function colouredPlaces(page, count) {
    return page.$eval('#map-canvas', (canvas, wanted) => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true}), style = getComputedStyle(document.documentElement), places = [];
        copy.drawImage(canvas, 0, 0);
        const {data} = copy.getImageData(0, 0, canvas.width, canvas.height), isOwn = (at) => ['empty', 'unused', 'card', 'ink', 'muted'].some((name) => style.getPropertyValue(`--${name}`).trim() === `#${[0, 1, 2].map((i) => data[at + i].toString(16).padStart(2, '0')).join('')}`);
        for (let seed = 29, tries = 0; places.length < wanted && tries < 100000; tries++) {
            seed = seed * 48271 % 2147483647;
            const x = 88 + seed % (canvas.width - 104), y = 9 + Math.floor(seed / 4096) % (canvas.height - 36);
            if (!isOwn((y * canvas.width + x) * 4))
                places.push({x, y});
        }
        return places;
    }, count);
}

/* Every coloured pixel stands for a block: the pointer beside it and a click say which, and both the same. */
async function testPixels(browser, {open, ask}) {
    for (const [name, heap] of [['leak', 'caching pool'], ['torch', 'ptaCaching']]) {
        const [{heap_id: id}] = ask(name, `SELECT heap_id FROM z_heap_place WHERE heap = '${heap}'`), {page, close} = await open(browser, name, `#heap=${id}&at=0`), places = await colouredPlaces(page, 200);
        assert.equal(places.length, 200);
        await page.locator('#map-canvas').scrollIntoViewIfNeeded();
        for (const [i, {x, y}] of places.entries()) {
            const box = await page.locator('#map-canvas').boundingBox(), at = [box.x + x + 0.5, box.y + y + 0.5];
            await page.mouse.move(...at);
            const tip = await page.$eval('#map .tip', (element) => (element.hidden ? null : element.querySelector('b').textContent));
            assert.ok(tip, `${name}: nothing at ${x}, ${y}`);
            if (i % 20 > 0)
                continue;
            await page.mouse.click(...at);
            assert.ok(tip.startsWith((await page.textContent('#map .side h3')).replace('Block of ', '')), `${name}: a click at ${x}, ${y} is of the block of the tip`);
        }
        await close();
    }
}

/* Segments of a pool right after an event by the column segment_id, and not by addresses: with what is free, pending and rounded up, and the largest range between blocks. */
function askSegments(ask, name, heap, seq) {
    const live = `a.segment_id = s.allocation_id AND coalesce(a.alloc_seq, -1) <= ${seq} AND (a.free_seq IS NULL OR a.free_seq > ${seq})`, sum = (value) => `(SELECT coalesce(sum(${value}), 0) FROM allocation AS a WHERE ${live})`, extent = 'coalesce(a.block_bytes, a.size_bytes)';
    return ask(name, `SELECT s.allocation_id AS id, printf('0x%x', s.address) AS address, s.size_bytes AS size, s.size_bytes - ${sum(extent)} AS free, ${sum(`CASE WHEN a.free_requested_seq <= ${seq} THEN ${extent} ELSE 0 END`)} AS pending,
        (SELECT CASE WHEN count(*) = count(a.block_bytes - a.requested_bytes) THEN coalesce(sum(a.block_bytes - a.requested_bytes), 0) END FROM allocation AS a WHERE ${live}) AS rounding, (SELECT count(*) FROM allocation AS a WHERE ${live}) AS blocks,
        (SELECT max(gap) FROM (SELECT p.begin - coalesce(max(p.above) OVER (ORDER BY p.begin ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), s.address) AS gap FROM (SELECT a.address AS begin, a.address + ${extent} AS above FROM allocation AS a WHERE ${live} UNION ALL SELECT s.address + s.size_bytes, 0) AS p)) AS largest
        FROM allocation AS s WHERE s.allocation_id IN (SELECT segment_id FROM allocation WHERE heap_id = ${heap}) AND coalesce(s.alloc_seq, -1) <= ${seq} AND (s.free_seq IS NULL OR s.free_seq > ${seq})`);
}

const segmentCells = (row) => [row.address, '', formatBytes(row.size), formatBytes(row.free), formatBytes(row.largest), formatBytes(row.pending), formatBytes(row.rounding), formatCount(row.blocks)];

/* At the peak, at a mark and at any event each segment is what SQL says of it, and one that is open has its blocks by address, and who keeps it as the free bytes are split over them. */
async function testSegments(browser, tools) {
    const {ask, open, goTo, cellsOf} = tools, [leakPeak] = ask('leak', "SELECT peak_seq AS seq FROM peak WHERE level = 'pool'"), [torch] = ask('torch', "SELECT p.heap_id AS heap, s.peak_seq AS seq FROM z_heap_place AS p JOIN z_heap_sum AS s USING (heap_id) WHERE p.heap = 'ptaCaching'");
    let pending = 0, gaps = 0;
    for (const [name, heap, seqs] of [['leak', 1, [leakPeak.seq, 3745, 511, 1503, 7000]], ['torch', torch.heap, [torch.seq, torch.seq - 7]], ['oom', 1, [2000, 2437]]]) {
        const {page, close} = await open(browser, name, `#heap=${heap}&at=0`);
        for (const seq of seqs) {
            await goTo(page, `#heap=${heap}&at=${seq}`);
            const rows = askSegments(ask, name, heap, seq), cells = await allCells(page, tools, '#segments');
            assert.ok(rows.length > 1, `${rows.length} segments at ${seq}`);
            assert.deepEqual(sorted(cells.map((row) => row.slice(0, 8))), sorted(rows.map(segmentCells)), `${name} at ${seq}`);
            const word = await page.textContent('#segments .tell'), sum = (some, key) => formatBytes(some.reduce((all, row) => all + row[key], 0)), held = rows.filter((row) => row.blocks > 0);
            assert.ok(word.endsWith(` ${rows.length} segments of ${sum(rows, 'size')}: ${sum(rows, 'free')} free, ${sum(held, 'free')} of it beside blocks; ${rows.length - held.length} hold nothing.`), word);
            pending += rows.filter((row) => row.pending > 0).length;
            gaps += rows.filter((row) => row.largest > 0 && row.largest < row.free).length;
        }
        await close();
    }
    assert.ok(pending > 2 && gaps > 3, `${pending} segments have something pending, ${gaps} several gaps`);
    const {page, close} = await open(browser, 'leak', '#at=3745'), [one] = askSegments(ask, 'leak', 1, 3745).filter((row) => row.pending > 0), live = `a.segment_id = ${one.id} AND ${LIVE_AT(3745)}`;
    await page.click(`#segments tr:has-text("${one.address}") .open`);
    const blocks = ask('leak', `SELECT a.address AS begin, a.address + a.block_bytes AS above, a.block_bytes AS size, a.block_bytes - a.requested_bytes AS rounding, f.label AS site, a.alloc_seq AS born, coalesce(a.free_requested_seq <= 3745, 0) AS pending FROM allocation AS a JOIN stack AS s USING (stack_id) JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE ${live} ORDER BY a.address`);
    await page.locator('#segments').screenshot({path: `${process.argv[2]}/segments.png`});
    const contents = await allCells(page, tools, '#segments .opened > .tablebox:last-of-type'), begin = Number(one.address);
    assert.deepEqual(contents.filter((row) => row[1] !== 'free'), blocks.map((row) => [formatBytes(row.begin - begin), row.pending ? 'pending' : 'block', formatBytes(row.size), formatBytes(row.rounding), row.site, formatCount(row.born)]));
    const ends = [begin, ...blocks.map((row) => row.above)], free = ends.map((end, i) => [end - begin, (blocks[i]?.begin ?? begin + one.size) - end]).filter(([, size]) => size > 0);
    assert.deepEqual(contents.filter((row) => row[1] === 'free').map((row) => [row[0], row[2]]), free.map(([offset, size]) => [formatBytes(offset), formatBytes(size)]));
    const shares = ask('leak', `SELECT site, sum(${Math.floor(one.free / blocks.length)} + (place <= ${one.free % blocks.length})) AS held, count(*) AS count FROM (SELECT f.label AS site, row_number() OVER (ORDER BY a.address) AS place FROM allocation AS a JOIN stack AS s USING (stack_id) JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE ${live}) GROUP BY site`);
    assert.ok(shares.length > 1);
    assert.deepEqual(sorted((await cellsOf(page, '#segments .opened > .tablebox:first-of-type')).map((row) => [row[0], row[1], row[3]])), sorted(shares.map((row) => [row.site, formatBytes(row.held), formatCount(row.count)])));
    await close();
}

/* Without colour: what is free is low, and what is pending has lines of another lightness across it. */
async function checkBar(page, ask) {
    const [one] = askSegments(ask, 'leak', 1, 3745).filter((row) => row.pending > 0), places = ask('leak', `SELECT (a.address - s.address) * 1.0 / s.size_bytes AS from_share, (a.address + a.block_bytes - s.address) * 1.0 / s.size_bytes AS to_share, a.free_requested_seq <= 3745 AS pending FROM allocation AS a JOIN allocation AS s ON s.allocation_id = a.segment_id WHERE s.allocation_id = ${one.id} AND ${LIVE_AT(3745)} ORDER BY a.address`);
    const pixels = await page.$eval(`#segments tr:has-text("${one.address}") canvas`, (canvas) => {
        const {data, width} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), row = (y) => [...data.slice(4 * y * width, 4 * (y + 1) * width)];
        return {width, high: row(3), low: row(15), rows: Array.from({length: canvas.height}, (_, y) => row(y))};
    }), at = (row, share) => pixels[row].slice(4 * Math.floor(share * pixels.width)).slice(0, 4);
    const pending = places.find((row) => row.pending), plain = places.filter((row) => !row.pending && row.to_share - row.from_share > 0.02), gaps = places.slice(1).map((row, i) => [places[i].to_share, row.from_share]).filter(([from, to]) => to - from > 0.02), coloursOf = (row) => new Set(Array.from({length: 40}, (_, k) => at('high', row.from_share + (row.to_share - row.from_share) * (0.1 + k / 50)).join()));
    assert.ok(plain.length > 5 && gaps.length > 5);
    for (const [from, to] of gaps)
        assert.deepEqual([at('high', (from + to) / 2)[3], at('low', (from + to) / 2)[3]], [0, 255], 'free is low');
    const [dotsFrom, dotsTo] = gaps.reduce((most, gap) => (gap[1] - gap[0] > most[1] - most[0] ? gap : most)), dots = new Set([0, 1, 2, 3, 4, 5].flatMap((up) => Array.from({length: Math.floor((dotsTo - dotsFrom) * pixels.width) - 2}, (_, k) => pixels.rows[12 + up].slice(4 * (Math.ceil(dotsFrom * pixels.width) + 1 + k)).slice(0, 4).join())));
    assert.equal(dots.size, 2, 'and dotted');
    for (const row of plain)
        assert.deepEqual([at('high', (row.from_share + row.to_share) / 2)[3], coloursOf(row).size], [255, 1], 'a block is high and of one colour');
    assert.ok(coloursOf(pending).size > 1, 'lines across what is pending');
}

/* What is rounded up is hollow: of the block's colour above and below, of the ground between. */
async function checkHollow(page, ask) {
    const [one] = ask('leak', `SELECT printf('0x%x', s.address) AS segment, (a.address + a.block_bytes - s.address) * 1.0 / s.size_bytes AS end, (a.block_bytes - a.requested_bytes) * 1.0 / s.size_bytes AS rounding FROM allocation AS a JOIN allocation AS s ON s.allocation_id = a.segment_id WHERE a.heap_id = 1 AND ${LIVE_AT(3745)} ORDER BY rounding DESC, s.address LIMIT 1`);
    assert.ok(one.rounding > 0.2);
    const [ground, ...seen] = await page.$eval(`#segments tr:has-text("${one.segment}") canvas`, (canvas, [hollow, solid]) => {
        const {data, width} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), at = (share, y) => [...data.slice(4 * (y * width + Math.floor(share * width)))].slice(0, 3).map((part) => part.toString(16).padStart(2, '0')).join('');
        return [getComputedStyle(document.documentElement).getPropertyValue('--card').trim().slice(1), at(hollow, 1), at(hollow, 9), at(hollow, 16), at(solid, 1), at(solid, 9)];
    }, [one.end - one.rounding / 2, one.end - one.rounding - 0.05]);
    assert.ok(seen[4] !== ground);
    assert.deepEqual(seen, [seen[4], ground, seen[4], seen[4], seen[4]]);
}

/* A click on a bar is the block that lies there; keys open a segment and a block in it, and stay where they are. */
async function testBars(browser, {ask, open}) {
    const {page, close} = await open(browser, 'leak', '#at=3745'), [one] = ask('leak', `SELECT a.allocation_id AS id, (a.address + a.block_bytes / 2 - s.address) * 1.0 / s.size_bytes AS share, printf('0x%x', s.address) AS segment, f.label AS site FROM allocation AS a JOIN allocation AS s ON s.allocation_id = a.segment_id JOIN stack AS k ON k.stack_id = a.stack_id JOIN frame AS f ON f.frame_id = k.site_frame_id WHERE a.heap_id = 1 AND ${LIVE_AT(3745)} AND a.block_bytes > s.size_bytes / 50 ORDER BY a.address DESC LIMIT 1`);
    const bar = page.locator(`#segments tr:has-text("${one.segment}") canvas`);
    await bar.scrollIntoViewIfNeeded();
    const box = await bar.boundingBox();
    await page.mouse.move(box.x + box.width * one.share, box.y + 9);
    assert.ok((await bar.getAttribute('title')).endsWith(one.site));
    await page.mouse.click(box.x + box.width * one.share, box.y + 9);
    assert.ok((await page.textContent('#segments .opened .block')).includes(`allocation${formatCount(one.id)}`), 'its stack and life stand below it');
    assert.ok((await page.textContent('#map .side')).includes(`allocation${formatCount(one.id)}`), 'and beside the map');
    await page.waitForFunction(() => /segment=\d+/.test(location.hash) && /block=\d+/.test(location.hash));
    await checkBar(page, ask);
    await checkHollow(page, ask);
    await page.click('#segments .opened .block >> text=let go');
    await page.focus('#segments > div > div > .tablebox > table > tbody > tr:nth-child(1) .open');
    const focused = () => page.evaluate(() => [document.activeElement.textContent, document.activeElement.getAttribute('aria-expanded')]), [text, isOpen] = await focused();
    for (const wanted of isOpen === 'true' ? ['false', 'true'] : ['true', 'false', 'true']) {
        await page.keyboard.press('Enter');
        assert.deepEqual(await focused(), [text, wanted]);
    }
    while (await page.evaluate(() => !['block', 'pending'].includes(document.activeElement.closest('.opened tbody tr')?.cells[1].textContent)))
        await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('#segments .opened .block .stack').count(), 1);
    assert.ok(await page.evaluate(() => document.activeElement.closest('.opened tr.chosen') !== null), 'the key is where it was');
    await close();
}

/* Events round a moment: those that SQL has between the first and the last that are shown, each with what was live then. */
async function testEvents(browser, tools) {
    const {ask, open, goTo, cellsOf} = tools, number = (text) => Number(text.replaceAll(',', '')), name = "JOIN stack AS s USING (stack_id) JOIN frame AS f ON f.frame_id = s.site_frame_id WHERE a.heap_id = 1 AND a.is_segment = 0";
    const {page, close} = await open(browser, 'leak', '#at=0');
    const everything = (first, last, more) => ask('leak', `SELECT * FROM (SELECT a.alloc_seq AS seq, 'allocated' AS what, '+' || a.size_bytes AS bytes, f.label AS site FROM allocation AS a ${name} UNION ALL SELECT a.free_seq, 'freed', '-' || a.size_bytes, f.label FROM allocation AS a ${name}
        UNION ALL SELECT a.free_requested_seq, 'given up', '' || a.size_bytes, f.label FROM allocation AS a ${name} ${more}) WHERE seq BETWEEN ${first} AND ${last}`);
    const others = `UNION ALL SELECT s.alloc_seq, 'segment got', '' || s.size_bytes, '' FROM allocation AS s WHERE s.is_segment = 1 UNION ALL SELECT s.free_seq, 'segment given back', '' || s.size_bytes, '' FROM allocation AS s WHERE s.is_segment = 1 UNION ALL SELECT t.begin_seq, 'step ' || t.number, '', '' FROM step AS t UNION ALL SELECT m.seq, m.name, '', '' FROM moment AS m WHERE m.kind = 3`;
    const named = ['the pool held most', 'peak of the device'], seen = new Set();
    for (const [at, search, more] of [[ask('leak', 'SELECT begin_seq AS seq FROM step WHERE number = 30')[0].seq, '', others], [3745, '', others], [3679, '', others], [7290, '', others], [511, '', others], [3745, 'leak_one', '']]) {
        await goTo(page, `#at=${at}&search=${search}`);
        const cells = (await cellsOf(page, '#rows-events')).map((row) => [number(row[0]), ...row.slice(1)]), [first, last] = [cells[0][0], cells[cells.length - 1][0]];
        assert.equal(cells.length, 24);
        assert.deepEqual([cells[11][0] <= at, cells[12][0] > at, await page.$$eval('#rows-events tbody tr', (rows) => rows.findIndex((row) => row.classList.contains('now')))], [true, true, 11], 'twelve on each side of the line');
        const signed = (text) => (text === '' ? '' : `${text.match(/^[+-]?/)[0].replace('-', '\u2212')}${formatBytes(Number(text.replace(/^[+-]/, '')))}`), rows = everything(first + 1, last - 1, more).filter((row) => search === '' || row.site.includes(search));
        assert.ok(rows.length > 10);
        assert.deepEqual(sorted(cells.filter((row) => row[0] > first && row[0] < last && !named.includes(row[1])).map((row) => [row[0], row[1], row[2], row[5]])), sorted(rows.map((row) => [row.seq, row.what, signed(row.bytes), row.site])), `at ${at}`);
        const live = new Map(ask('leak', `SELECT q.seq AS seq, (SELECT coalesce(sum(a.size_bytes), 0) FROM allocation AS a WHERE a.heap_id = 1 AND a.is_segment = 0 AND ${LIVE_AT('q.seq')}) AS bytes FROM (${[...new Set(cells.map(([seq]) => seq))].map((seq) => `SELECT ${seq} AS seq`).join(' UNION ALL ')}) AS q`).map((row) => [row.seq, formatBytes(row.bytes)]));
        assert.deepEqual(cells.map((row) => row[3]), cells.map(([seq]) => live.get(seq)), `live round ${at}`);
        cells.forEach(([, what]) => seen.add(what));
    }
    assert.deepEqual(['allocated', 'freed', 'given up', 'segment got', 'segment given back', 'fragmented', 'step 30'].filter((what) => !seen.has(what)), []);
    await goTo(page, '#at=3745');
    const before = (await cellsOf(page, '#rows-events'))[0][0];
    await page.click('#rows-events >> text=earlier');
    await page.waitForFunction((seq) => location.hash.includes(`at=${seq}`), number(before));
    assert.equal((await cellsOf(page, '#rows-events'))[11][0], before, 'a button leads to those before');
    await close();
}

/* Blocks sort by each column and are filtered: by when they lived, by the segment that is open, and by the search; a click shows stack and life. */
async function testBlocks(browser, tools) {
    const {ask, open, goTo} = tools, {page, close} = await open(browser, 'leak', '#at=3745&from=3000&to=4000'), pick = (text) => page.click(`#rows-blocks .row >> text="${text}"`);
    const all = (condition) => ask('leak', `SELECT a.allocation_id AS id, f.label AS site, a.size_bytes AS size, a.block_bytes - a.requested_bytes AS rounding, a.alloc_seq AS born, a.free_seq AS freed, a.free_seq - a.alloc_seq AS life, printf('0x%x', a.address) AS address, c.name AS category, coalesce(o.name, '') AS operation FROM allocation AS a JOIN stack AS s USING (stack_id) JOIN frame AS f ON f.frame_id = s.site_frame_id LEFT JOIN z_category AS c ON c.category_id = a.category_id LEFT JOIN operation AS o ON o.operation_id = a.operation_id WHERE a.heap_id = 1 AND a.is_segment = 0 AND ${condition}`);
    const [pinned] = askSegments(ask, 'leak', 1, 3745).filter((row) => row.blocks > 20), cellsOfRow = (row) => [row.site, formatBytes(row.size), formatBytes(row.rounding), formatCount(row.born), formatCount(row.freed), formatCount(row.life), row.address, row.category ?? 'unknown', row.operation || '\u2013'];
    await goTo(page, `#at=3745&from=3000&to=4000&segment=${pinned.id}`);
    for (const [text, condition] of [['live at the moment', LIVE_AT(3745)], ['in the range', 'a.alloc_seq <= 4000 AND (a.free_seq IS NULL OR a.free_seq >= 3000)'], ['never freed', 'a.free_seq IS NULL'], ['in the open segment', `a.segment_id = ${pinned.id} AND ${LIVE_AT(3745)}`]]) {
        await pick(text);
        const rows = all(condition);
        assert.ok(rows.length > 20 && rows.length < 2000, `${rows.length} ${text}`);
        assert.deepEqual(sorted((await allCells(page, tools, '#rows-blocks')).map((cells) => cells.slice(0, 9))), sorted(rows.map(cellsOfRow)), text);
    }
    await pick('in the range');
    const rows = all('a.alloc_seq <= 4000 AND (a.free_seq IS NULL OR a.free_seq >= 3000)'), keys = {site: 'site', size: 'size', rounding: 'rounding', born: 'born', freed: 'freed', 'events lived': 'life', category: 'category'};
    for (const [title, key] of Object.entries(keys))
        for (const isDown of [true, false]) {
            await page.click(`#rows-blocks th button >> text="${title}"`);
            const order = [...rows].sort((a, b) => (a[key] === null) - (b[key] === null) || (isDown ? -1 : 1) * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0)).slice(0, 12), at = Object.keys(keys).indexOf(title), place = [0, 1, 2, 3, 4, 5, 7][at];
            assert.deepEqual((await tools.cellsOf(page, '#rows-blocks')).map((cells) => cells[place]), order.map((row) => cellsOfRow(row)[place]), `${title} ${isDown}`);
        }
    await page.fill('#search', 'leak_one');
    const found = rows.filter((row) => row.site.includes('leak_one'));
    assert.ok(found.length > 3 && found.length < rows.length);
    assert.equal((await allCells(page, tools, '#rows-blocks')).length, found.length);
    await page.fill('#search', '');
    await page.click('#rows-blocks tbody tr >> nth=2');
    await page.locator('#rows').screenshot({path: `${process.argv[2]}/rows.png`});
    const below = await page.textContent('#rows-blocks .below .block'), [, id] = below.match(/allocation([\d,]+)/), frames = ask('leak', `WITH RECURSIVE up(depth, stack_id) AS (SELECT 0, stack_id FROM allocation WHERE allocation_id = ${id.replaceAll(',', '')} UNION ALL SELECT depth + 1, parent_id FROM up JOIN stack USING (stack_id) WHERE parent_id IS NOT NULL) SELECT f.label FROM up JOIN stack USING (stack_id) JOIN frame AS f USING (frame_id) ORDER BY depth`).map((row) => row.label);
    assert.deepEqual(await page.$$eval('#rows-blocks .below .stack li', (lines) => lines.map((line) => line.textContent)), frames);
    await close();
    const sums = await open(browser, 'sums');
    assert.equal(await sums.page.textContent('#rows .tell'), 'No single allocation of this heap is in this page.');
    assert.equal(await sums.page.locator('#rows button:visible').count(), 0, 'what cannot be shown cannot be asked for');
    await sums.close();
}

/* What else a person wants to know, and within how many clicks: who shares a segment with a block (2), what pins the pool, with its stack (2), and the peak by category (1). */
async function testFewClicks(browser, {ask, open, mapPoint, cellsOf, isSeen}) {
    const {page, close} = await open(browser, 'leak', '#at=3745'), [{id, segment}] = ask('leak', `SELECT a.allocation_id AS id, a.segment_id AS segment FROM allocation AS a WHERE a.heap_id = 1 AND ${LIVE_AT(3745)} AND a.size_bytes > 1048576 ORDER BY a.free_seq - a.alloc_seq DESC LIMIT 1`);
    const point = await mapPoint(page, 'leak', id);
    await page.mouse.click(point.x, point.y);
    await page.click('#map .side >> text=its segment');
    assert.ok(await isSeen(page, '#segments tr.chosen') && await isSeen(page, '#segments .opened'), 'two clicks: its segment is on the screen');
    await page.waitForFunction((wanted) => location.hash.includes(`segment=${wanted}`), segment);
    const at = Number(await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('at'))), sharing = ask('leak', `SELECT count(*) AS count FROM allocation AS a WHERE a.segment_id = ${segment} AND ${LIVE_AT(at)}`)[0].count;
    assert.equal((await page.textContent('#segments tr.chosen td:nth-child(8)')), formatCount(sharing), `who shares it at ${at}`);
    assert.ok((await cellsOf(page, '#segments .opened > .tablebox:last-of-type')).length > 0);
    await close();
    const leak = await open(browser, 'leak'), [blocker] = ask('leak', "SELECT site, worst_allocation_id AS id FROM fragmentation_blocker WHERE moment_kind = 'peak' ORDER BY hostage_bytes DESC, site LIMIT 1");
    await leak.page.click('#top nav >> text=Fragmentation and pool');
    await leak.page.click('#pool .pair tbody tr >> nth=0');
    const frames = ask('leak', `WITH RECURSIVE up(depth, stack_id) AS (SELECT 0, stack_id FROM allocation WHERE allocation_id = ${blocker.id} UNION ALL SELECT depth + 1, parent_id FROM up JOIN stack USING (stack_id) WHERE parent_id IS NOT NULL) SELECT f.label FROM up JOIN stack USING (stack_id) JOIN frame AS f USING (frame_id) ORDER BY depth`).map((row) => row.label);
    assert.ok(frames.includes(blocker.site));
    assert.deepEqual(await leak.page.$$eval('#pool .below .stack li', (lines) => lines.map((line) => line.textContent)), frames, 'two clicks: what pins the pool, and its stack');
    assert.ok(await isSeen(leak.page, '#pool .below .stack'));
    await leak.page.click('#live .row >> text="category"');
    assert.ok(await isSeen(leak.page, '#live .icicle') && (await cellsOf(leak.page, '#live'))[0][0].startsWith(ask('leak', "SELECT category FROM peak_by_category WHERE level = 'pool' ORDER BY live_bytes DESC LIMIT 1")[0].category), 'one click: the peak by category');
    await leak.close();
}

/* Why it died and what to do, without a click, in the lines of the screen; in the panel the same, with who is in the way and their stacks. */
async function testWhy(browser, {ask, open, cellsOf}) {
    const {page, close} = await open(browser, 'oom'), screen = execFileSync(`${process.env.NPUMEM_BIN}/npumem-ingest`, ['--quiet', '--force', '-o', `${process.argv[2]}/why.db`, `${process.argv[2]}/oom.zst`], {encoding: 'utf8'}) + execFileSync(`${process.env.NPUMEM_BIN}/npumem-ingest`, ['--force', '--lang', 'en', '-o', `${process.argv[2]}/why.db`, `${process.argv[2]}/oom.zst`], {encoding: 'utf8', env: {...process.env, COLUMNS: '400'}});
    const from = screen.split('\n').findIndex((line) => line.startsWith('WHY ')), to = screen.split('\n').findIndex((line, i) => i > from && /^(\d|LEAK|minor|PEAK)/.test(line)), said = screen.split('\n').slice(from, to).map((line) => line.replace(/\s+/g, ' ').trim());
    assert.ok(said.length >= 4 && said[said.length - 1].startsWith('FIX '), screen);
    const squeeze = (text) => text.replace(/\s+/g, ' ').trim();
    assert.deepEqual((await page.textContent('#verdicts .card >> nth=0 >> .text')).split('\n').map(squeeze), said, 'the first card is the screen');
    assert.deepEqual(await page.$$eval('#oom .failure:first-of-type .why dt', (labels) => labels.map((label) => `${label.textContent} ${label.nextSibling.textContent}`.replace(/\s+/g, ' ').trim())), said);
    const blockers = ask('oom', "SELECT site, hostage_bytes, worst_allocation_id AS id FROM fragmentation_blocker WHERE moment_kind = 'failure' AND seq = (SELECT first_seq FROM out_of_memory WHERE outcome = 'fatal') ORDER BY hostage_bytes DESC, site");
    assert.ok(blockers.length > 3);
    const selector = '#oom .failure:first-of-type > .tablebox';
    assert.deepEqual((await cellsOf(page, selector)).map((row) => [row[0], row[2]]), blockers.slice(0, 12).map((row) => [row.site, formatBytes(row.hostage_bytes)]));
    await page.click(`${selector} tbody tr >> nth=1`);
    assert.equal(await page.textContent(`${selector} .below .stack .site`), blockers[1].site);
    await close();
    const names = {weights: 'model weights', 'KV cache': 'KV cache', activations: 'activations and temporaries', communication: 'communication buffers', rest: 'the rest in use', free: 'free on the device'};
    const serving = await open(browser, 'serving'), rows = ask('serving', 'SELECT part, bytes FROM serving_budget'), bytes = Object.fromEntries(rows.map((row) => [row.part, row.bytes])), parts = rows.filter((row) => !/KV cache./.test(row.part) && row.part !== 'largest KV cache' && row.part !== 'said KV cache' && row.bytes > 0), whole = parts.reduce((sum, row) => sum + row.bytes, 0);
    const shown = await serving.page.$$eval('#oom-serving .stacked span', (spans) => spans.map((span) => [span.title, span.getBoundingClientRect().width / span.parentElement.clientWidth]));
    assert.deepEqual(sorted(shown.map(([title]) => [title])), sorted(parts.map((row) => [`${names[row.part]}: ${formatBytes(row.bytes)}`])));
    for (const [title, share] of shown)
        assert.ok(Math.abs(share - bytes[Object.keys(names).find((part) => names[part] === title.split(':')[0])] / whole) < 0.004, title);
    assert.ok((await serving.page.textContent('#oom-serving .note')).includes(`at most ${formatBytes(bytes['largest KV cache'])} would fit`));
    await serving.close();
}

export const PANEL_TESTS = [testGroups, testDriver, testStacks, testChange, testPicks, testHits, testWhatif, testHistograms, testLevels, testOpening, testHead, testSearch, testColours, testOneColour, testZoom, testPhone, testLayers, testProgress, testPixels, testSegments, testBars, testEvents, testBlocks, testFewClicks, testWhy];
