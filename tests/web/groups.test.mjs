/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups, differences and histograms of blocks: small ones by hand, random ones against a slow count of each block by itself.
 */
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';

import {ageClass, ageName, agesOf} from '../../src/page/web/data/ages.mjs';
import {differenceOf, groupBlocks, GROUPINGS, groupingsOf, groupRows, growModules, keysOf, namerOf, namesOf, parentPath, splitBlocks} from '../../src/page/web/data/groups.mjs';
import {eachBorn, foldEmpty, histogramOf, histogramsOf, powerOf} from '../../src/page/web/pictures/histogram.mjs';
import {quoteWord, settingsTried, thinLeast, whatifCommand, worstStep} from '../../src/page/web/panels/hits.mjs';
import {blockTree, filesOfSites, groupPath, liveGroups} from '../../src/page/web/panels/live.mjs';
import {addBlocks, liveBlocks, withSegments} from '../../src/page/web/data/model.mjs';
import {momentText, namedMoments} from '../../src/page/web/panels/moment.mjs';
import {failureLevels, levelParts, stepLevels} from '../../src/page/web/panels/oom.mjs';
import {settingRows} from '../../src/page/web/panels/settings.mjs';
import {patternOf} from '../../src/page/web/data/search.mjs';
import {sayClauses, sayPlace, sayWith, setLanguage} from '../../src/page/web/state/words.mjs';

await import(process.env.NPUMEM_PAGE_CHINESE);

const FRAMES = new Map([[10, {label: 'one.py:1 f', file: '/a/one.py'}], [11, {label: 'one.py:1 f', file: '/b/one.py'}], [12, {label: 'lib.so+0x1 g', file: '/lib.so'}]]);
const SITES = new Map([[1, 10], [2, 10], [3, 11], [4, 12]]);

/* As makeStacks of model.mjs has it; each stack is main and its site. */
const stacks = {
    hasFiles: true, siteFrame: (id) => SITES.get(id) ?? NaN, label: (frame) => FRAMES.get(frame)?.label ?? null, siteOf: (id) => FRAMES.get(SITES.get(id))?.label ?? '(no stack)', fileOf: (id) => FRAMES.get(SITES.get(id))?.file ?? '(no stack)',
    walk: (id) => [{label: FRAMES.get(SITES.get(id)).label, isPlumbing: false}, {label: `main ${id}`, isPlumbing: false}],
};

function makeWorld(rows) {
    const columns = ['heap_id', 'born', 'life', 'size_bytes', 'stack_id', 'stream', 'category_id', 'private_pool'], table = {rows: rows.length};
    for (const name of columns)
        table[name] = Float64Array.from(rows, (row) => row[name] ?? NaN);
    for (const name of ['own_category', 'operation', 'module'])
        table[name] = rows.map((row) => row[name] ?? null);
    const heap = {heap_id: 1, place: 'p', steps: [], named: [], peak: {peak_seq: 50, peak_bytes: 7}, input: {detail: 'all', detail_begin_seq: null, first: 0, last: 101, clock: null}};
    const model = {kept: null, stacks, categories: new Map([[2, 'weight'], [3, 'weight'], [24, 'other']]), inferred: new Set([3]), byPlace: () => new Map()};
    addBlocks(model, table);
    return {model, heap};
}

function makeDice(seed) {
    let value = seed;
    return (most) => {
        value = value * 48271 % 2147483647;
        return value % most;
    };
}

function randomRows(dice) {
    const pick = (...values) => values[dice(values.length)];
    return Array.from({length: 200}, () => ({heap_id: 1, born: dice(20) === 0 ? -1 : dice(100), life: dice(5) === 0 ? undefined : 1 + dice(60), size_bytes: 1 + dice(1000), stack_id: pick(1, 2, 3, 4, undefined), stream: pick(0, 7, undefined), category_id: pick(2, 3, 24, undefined),
        private_pool: pick(undefined, 7, 2 ** 32 + 5), operation: pick(null, 'aclnnAdd', 'aclnnMul'), module: pick(null, 'm', 'm.a', 'm.a.b', 'n')})).sort((a, b) => a.born - b.born);
}

test('blocks are grouped as each of them is called', () => {
    const rows = randomRows(makeDice(7)), {model, heap} = makeWorld(rows), whole = rows.filter((row) => row.born <= 50 && !(row.born + row.life <= 50)), numbers = liveBlocks(model, 1, 50);
    assert.equal(numbers.length, whole.length);
    assert.deepEqual(groupingsOf(model, heap), GROUPINGS);
    for (const kind of GROUPINGS) {
        const nameOf = namerOf(model, kind), groups = groupBlocks(model, numbers, kind), names = new Set(numbers.map(nameOf));
        for (const name of names) {
            const own = groups.filter((group) => group.name === name), members = numbers.filter((i) => nameOf(i) === name);
            assert.equal(own.reduce((sum, group) => sum + group.count, 0), members.length, `${kind} ${name}`);
            assert.equal(own.reduce((sum, group) => sum + group.bytes, 0), members.reduce((sum, i) => sum + model.blocks.size_bytes[i], 0));
        }
        assert.ok(groups.every((group, i) => i === 0 || groups[i - 1].bytes >= group.bytes), 'the largest first');
        assert.equal(new Set(groups.map((group) => group.key)).size, groups.length);
    }
});

test('sites of two files of one name stay apart, and so does what is told from what is inferred', () => {
    const rows = [{heap_id: 1, born: 1, size_bytes: 4, stack_id: 1, category_id: 2}, {heap_id: 1, born: 2, size_bytes: 2, stack_id: 3, category_id: 3}, {heap_id: 1, born: 3, size_bytes: 1, stack_id: 2, category_id: 24, own_category: 'tables'}, {heap_id: 1, born: -1, size_bytes: 8}, {heap_id: 1, born: -1, size_bytes: 16, stack_id: 3, category_id: 3}];
    const {model} = makeWorld(rows), found = (kind, ...keys) => groupRows(model, [0, 1, 2, 3, 4], kind).map((row) => keys.map((key) => row[key]));
    assert.deepEqual(found('site', 'name', 'bytes', 'count', 'stack'), [['one.py:1 f', 18, 2, 3], ['(baseline)', 8, 1, null], ['one.py:1 f', 5, 2, 1]]);
    assert.deepEqual(found('file', 'name', 'bytes'), [['/b/one.py', 18], ['(baseline)', 8], ['/a/one.py', 5]]);
    assert.deepEqual(found('stack', 'name', 'stack', 'bytes'), [['one.py:1 f', 3, 18], ['(baseline)', null, 8], ['one.py:1 f', 1, 4], ['one.py:1 f', 2, 1]]);
    assert.deepEqual(found('category', 'name', 'isEstimate', 'bytes'), [['weight', true, 18], ['unknown', false, 8], ['weight', false, 4], ['tables', false, 1]]);
    assert.deepEqual(found('stream', 'name', 'bytes'), [['stream not known', 31]]);
});

test('segments are among what the driver gave, and all of them have to be here', () => {
    const {model, heap} = makeWorld([{heap_id: 1, born: 1, life: 50, size_bytes: 4, stack_id: 1, operation: 'aclnnAdd', module: 'm'}, {heap_id: 2, born: 1, size_bytes: 64}]);
    const numbers = {heap_id: [1, 1, 3], born: [-1, 20, 0], life: [10, NaN, NaN], size_bytes: [100, 200, 400], stack_id: [NaN, 4, NaN], category_id: [2, 2, 2], stream: [NaN, NaN, NaN], private_pool: [NaN, NaN, NaN], operation: [NaN, NaN, NaN], module: [NaN, NaN, NaN]};
    model.tables = {segment_block: {rows: 3, own_category: [null, null, 'x'], ...Object.fromEntries(Object.entries(numbers).map(([name, values]) => [name, Float64Array.from(values)]))}};
    addBlocks(model, {rows: 2, ...model.blocks, born: model.blocks.alloc_seq, life: Float64Array.of(50, NaN)});
    assert.equal(withSegments(model, {heap_id: 2}), model);
    const whole = withSegments(model, heap), sums = (seq, kind) => groupRows(whole, liveBlocks(whole, 1, seq), kind).map((row) => [row.name, row.bytes]);
    assert.deepEqual(sums(5, 'site'), [['(baseline)', 100], ['one.py:1 f', 4]]);
    assert.deepEqual(sums(30, 'module'), [['(no module)', 200], ['m', 4]]);
    assert.deepEqual(sums(60, 'site'), [['lib.so+0x1 g', 200]]);
    assert.deepEqual(liveGroups(whole, heap, '30', 'operation').map((row) => [row.name, row.bytes]), [['(no operation)', 200], ['aclnnAdd', 4]]);
    model.tables.segment_block.rows = 200000;
    addBlocks(model, null);
    assert.equal(model.hasAllSegments, false);
    assert.equal(liveGroups(model, heap, '30', 'site'), null);
});

test('a way of grouping that says nothing of the heap is not offered', () => {
    const {model, heap} = makeWorld([{heap_id: 1, born: 1, size_bytes: 4, stack_id: 1}]);
    assert.deepEqual(groupingsOf(model, heap), ['site', 'category', 'file', 'stack']);
    addBlocks(model, null);
    assert.deepEqual(groupingsOf(model, heap), ['site', 'category', 'file', 'stack']);
});

test('parts of a model hold the parts in them', () => {
    assert.deepEqual(['m', 'm.a', 'm.a.b', 'm..b', 'm.', '.a'].map(parentPath), [null, 'm', 'm.a', 'm', 'm', '']);
    const rows = growModules([{name: 'm.a', bytes: 4, count: 1, stack: 1}, {name: 'm.b', bytes: 2, count: 2, stack: 2}, {name: '(no module)', bytes: 1, count: 1, stack: 3}]);
    assert.deepEqual(rows.map((row) => [row.name, row.parent, row.bytes, row.count]), [['m', null, 6, 3], ['m.a', 'm', 4, 1], ['m.b', 'm', 2, 2], ['(no module)', null, 1, 1]]);
});

test('what came, went and stayed adds up to both moments', () => {
    const {model} = makeWorld(randomRows(makeDice(11)));
    for (const [from, to] of [[0, 100], [20, 21], [50, 50], [-5, 40], [30, 200]]) {
        const before = new Set(liveBlocks(model, 1, from)), after = new Set(liveBlocks(model, 1, to)), {came, went, stayed} = splitBlocks(model, 1, from, to);
        assert.deepEqual(came, [...after].filter((i) => !before.has(i)));
        assert.deepEqual(went, [...before].filter((i) => !after.has(i)));
        assert.deepEqual(stayed, [...before].filter((i) => after.has(i)));
        for (const kind of GROUPINGS.filter((one) => one !== 'module')) {
            const {whole, rows} = differenceOf(model, 1, from, to, kind);
            for (const key of Object.keys(whole))
                assert.equal(rows.reduce((sum, row) => sum + row[key], 0), whole[key], `${kind} ${key}`);
            assert.equal(whole.net_bytes, [...after].reduce((sum, i) => sum + model.blocks.size_bytes[i], 0) - [...before].reduce((sum, i) => sum + model.blocks.size_bytes[i], 0));
        }
    }
});

test('a tree of groups has their stacks below them', () => {
    const {model} = makeWorld([{heap_id: 1, born: 1, size_bytes: 4, stack_id: 1, stream: 3}, {heap_id: 1, born: 1, size_bytes: 2, stack_id: 4, stream: 3}, {heap_id: 1, born: 1, size_bytes: 1}]);
    const paths = (tree, path) => [[...path, tree.label].join(' > '), ...tree.children.flatMap((child) => paths(child, [...path, tree.label]))];
    assert.deepEqual(paths(blockTree(model, [0, 1, 2], 'stream'), []), ['all', 'all > stream 3', 'all > stream 3 > main 1', 'all > stream 3 > main 1 > one.py:1 f', 'all > stream 3 > main 4', 'all > stream 3 > main 4 > lib.so+0x1 g', 'all > stream not known', 'all > stream not known > (no stack)']);
    assert.deepEqual(groupPath(model, 'site', 'one.py:1 f', 1), ['one.py:1 f', 'main 1']);
    assert.deepEqual(groupPath(model, 'stack', 'one.py:1 f', 1), ['main 1', 'one.py:1 f']);
});

test('the peak is what views say, and everything else is counted or not known', () => {
    const {model, heap} = makeWorld([{heap_id: 1, born: 1, size_bytes: 4, stack_id: 1, stream: 3}]), row = {site: 'one.py:1 f', live_bytes: 5, live_count: 2, top_stack_id: 1};
    model.byPlace = (table) => new Map([['p', table === 'peak_site' ? [row, {...row, live_bytes: 1, top_stack_id: 2}, {...row, site: '(baseline)', top_stack_id: null}] : []]]);
    assert.deepEqual(liveGroups(model, heap, 'peak', 'file').map((one) => [one.name, one.bytes, one.count]), [['/a/one.py', 6, 4], ['(baseline)', 5, 2]]);
    assert.deepEqual(filesOfSites(model, []), []);
    assert.deepEqual(liveGroups(model, heap, 'peak', 'stream').map((one) => [one.name, one.bytes]), [['stream 3', 4]]);
    assert.deepEqual(liveGroups(model, heap, '0', 'site'), []);
    heap.input.detail = 'live';
    assert.equal(liveGroups(model, heap, 'end', 'site'), null);
    assert.equal(liveGroups(model, heap, 'peak', 'stream'), null);
    assert.equal(liveGroups(model, heap, 'peak', 'site').length, 3);
});

test('a power of two begins at it, however large', () => {
    assert.deepEqual([0, 0.5, 1, 2, 3, 4, 1023, 1024].map(powerOf), [-1, -1, 0, 1, 1, 2, 9, 10]);
    for (let power = 1; power < 53; power++)
        assert.deepEqual([2 ** power - 1, 2 ** power, 2 ** power + 1].map(powerOf), [power - 1, power, power + (power === 0 ? 1 : 0)]);
});

test('a histogram counts each block once', () => {
    const dice = makeDice(3), values = Array.from({length: 500}, () => dice(2 ** dice(20))), rows = histogramOf(values, values.map((value) => 2 * value));
    for (const row of rows) {
        const own = values.filter((value) => value >= row.at_least && value < row.below);
        assert.deepEqual([row.count, row.bytes], [own.length, own.reduce((sum, value) => sum + 2 * value, 0)]);
    }
    assert.equal(rows.reduce((sum, row) => sum + row.count, 0), 500);
    assert.ok(rows.every((row, i) => i === 0 || rows[i - 1].below === row.at_least), 'no power is left out');
    assert.deepEqual(histogramOf([], []), []);
});

test('histograms are of what was born in the range, by sites that the search finds', () => {
    const {model, heap} = makeWorld([{heap_id: 1, born: -1, life: 5, size_bytes: 4, stack_id: 1}, {heap_id: 1, born: 10, life: 5, size_bytes: 4, stack_id: 1}, {heap_id: 1, born: 20, size_bytes: 9, stack_id: 4}, {heap_id: 1, born: 30, life: 1, size_bytes: 16, stack_id: 1}]);
    const all = () => true, range = (from, to) => ({from, to});
    const bornOf = (values, filter) => {
        const found = [];
        eachBorn(model, heap, values, filter, (i) => found.push(i));
        return found;
    };
    assert.deepEqual(bornOf(range(null, null), all), [1, 2, 3]);
    assert.deepEqual(bornOf(range(10, 20), all), [1, 2]);
    assert.deepEqual(bornOf(range(null, null), (site) => site.startsWith('lib')), [2]);
    const {sizes, lifetimes, kept} = histogramsOf(model, heap, range(null, 20), all);
    assert.deepEqual(sizes, [{at_least: 4, below: 8, count: 1, bytes: 4}, {at_least: 8, below: 16, count: 1, bytes: 9}]);
    assert.deepEqual(lifetimes, [{at_least: 4, below: 8, count: 1, bytes: 4}]);
    assert.deepEqual(kept, {count: 1, bytes: 9});
});

test('ages are classes without holes, in steps or in events', () => {
    assert.deepEqual([0, 1, 2, 3, 4, 7, 8, 511, 1e9].map((age) => ageName(ageClass(age, true), true)), ['within a step', '1 step', '2 to 3 steps', '2 to 3 steps', '4 to 7 steps', '4 to 7 steps', '8 to 15 steps', '256 steps or more', '256 steps or more']);
    assert.deepEqual([0, 9, 10, 99, 1000, 1e12].map((age) => ageName(ageClass(age, false), false)), ['below 10 events', 'below 10 events', '10 to 99 events', '10 to 99 events', '1,000 to 9,999 events', '1,000,000,000 events or more']);
    const {model, heap} = makeWorld([{heap_id: 1, born: -1, life: 12, size_bytes: 1}, {heap_id: 1, born: 11, life: 2, size_bytes: 1}, {heap_id: 1, born: 15, size_bytes: 1}]);
    heap.steps = [10, 20, 30, 40].map((begin_seq, i) => ({number: i, begin_seq}));
    const ages = agesOf(model, heap);
    assert.deepEqual([0, 1, 2].map(ages.nameOf), ['1 step', 'within a step', '2 to 3 steps']);
    assert.deepEqual(ages.names, ['within a step', '1 step', '2 to 3 steps']);
    assert.equal(new Set(ages.names.map(ages.colour)).size, 3);
});

test('names for colours are in order, each once', () => {
    const {model, heap} = makeWorld([{heap_id: 1, born: 1, size_bytes: 1, private_pool: 2 ** 32 + 5, category_id: 24, own_category: 'tables'}, {heap_id: 1, born: 1, size_bytes: 1, category_id: 3}, {heap_id: 1, born: 1, size_bytes: 1, private_pool: 7, category_id: 2}]);
    assert.deepEqual(namesOf(model, heap, 'private pool', model.blocks.private_pool), ['pool 7', 'pool 1, 5', 'no private pool']);
    assert.deepEqual(namesOf(model, heap, 'category', keysOf(model, 'category')), ['weight', 'tables']);
});

test('no bad step is lost in a thin curve', () => {
    const rates = Array.from({length: 1000}, (_, i) => (i === 617 ? 0.25 : 1));
    assert.equal(Math.min(...thinLeast(rates, 100)), 0.25);
    assert.equal(thinLeast(rates, 100).length, 100);
    assert.deepEqual(thinLeast([1, 0], 5), [1, 0]);
    assert.equal(worstStep([{step: 1, hit_rate: 0.5}, {step: 2, hit_rate: 0.5}, {step: 3, hit_rate: 0.9}]).step, 2);
    assert.equal(worstStep([]), null);
});

test('a command can be typed, whatever the file is called', () => {
    assert.equal(whatifCommand({path: '/data/run-1.zst'}), 'npumem whatif --suggest run-1.zst');
    assert.equal(whatifCommand({path: "a b'; rm x.zst"}), "npumem whatif --suggest 'a b'\\''; rm x.zst'");
    assert.equal(quoteWord('-x'), "'./-x'");
    assert.equal(whatifCommand(null), 'npumem whatif --suggest run.zst');
});

test('levels are parts that add up to the highest, and what is not known is left out', () => {
    const now = failureLevels({tried_bytes: 40, at_least_tried_bytes: null, allocated_bytes: 10, active_bytes: 12, reserved_bytes: 30, own_bytes: 32, module_bytes: 3, total_bytes: 100, free_bytes: 20});
    assert.deepEqual(now, {requested: 40, allocated: 10, active: 12, reserved: 30, process: 35, used: 80, capacity: 100});
    assert.deepEqual(levelParts(now).map((part) => part.bytes), [10, 2, 18, 5, 45, 20]);
    assert.equal(levelParts(now)[5].name, 'free on the device');
    const before = stepLevels([{level: 'pool', live_bytes: 5, peak_reserved_bytes: 20}, {level: 'pool', live_bytes: 4, peak_reserved_bytes: 6}, {level: 'driver', live_bytes: 28, peak_reserved_bytes: null}], 100);
    assert.deepEqual(before, {requested: null, allocated: null, active: 9, reserved: 26, process: 28, used: null, capacity: 100});
    assert.deepEqual(levelParts(before).map((part) => [part.name, part.bytes]), [['in blocks', 9], ['free inside the pools', 17], ['the rest of this process', 2], ['not held by this process', 72]]);
    assert.deepEqual(stepLevels([{level: 'driver', live_bytes: 7, peak_reserved_bytes: null}], null), {requested: null, allocated: null, active: 7, reserved: null, process: 7, used: null, capacity: null});
    assert.equal(failureLevels({tried_bytes: null, at_least_tried_bytes: 5, total_bytes: null, free_bytes: 1, own_bytes: null}).used, null);
});

test('moments are called by what happened', () => {
    const {heap} = makeWorld([]);
    heap.named = [{kind: 'mark', name: 'warm', seq: 20}, {kind: 'device peak', name: null, seq: 50}, {kind: 'failure', name: null, seq: 10}, {kind: 'failure', name: null, seq: 10}, {kind: 'mark', name: null, seq: 30}];
    assert.deepEqual(namedMoments(heap), [{seq: 10, text: 'failed allocation, event 10'}, {seq: 20, text: 'warm, event 20'}, {seq: 30, text: 'mark, event 30'}, {seq: 50, text: 'peak of the device, event 50'}]);
    heap.steps = [{number: 4, begin_seq: 15}];
    assert.deepEqual(['peak', 'end', '20', '3'].map((at) => momentText(heap, at)), ['the peak (7 B)', 'the end', 'event 20, step 4', 'event 3']);
    assert.equal(momentText({...heap, total: {allocation_count: 0, free_count: 0}}, 'peak'), 'the end', 'of a snapshot without history');
    assert.equal(momentText({...heap, total: {allocation_count: 0, free_count: 1}}, 'peak'), 'the peak (7 B)');
});

test('settings come before what the database says of itself', () => {
    assert.deepEqual(settingRows([{source: 'version', name: 'CANN', value: '8', process_count: 2}], [{key: 'tool', value: 'x'}]), [{source: 'version', name: 'CANN', value: '8', process_count: 2}, {source: 'database', name: 'tool', value: 'x', process_count: null}]);
});

test('what is no regular expression is known to be none', () => {
    assert.deepEqual(['a(', '[', 'a{2,1}', '\\'].map(patternOf), [null, null, null, null]);
    assert.ok(patternOf('a.b').test('xAbB'));
});

test('values are put into a sentence once, in either language', () => {
    assert.equal(sayWith('{bytes} in {count} blocks', {bytes: '{count}', count: '$&'}), '{count} in $& blocks');
    setLanguage('zh');
    assert.equal(sayWith('{bytes} in {count} blocks', {bytes: '1 B', count: '2'}), '2 \u4e2a\u5757\u5171 1 B');
    setLanguage('en');
});

test('settings that were tried are compared with the recorded one', () => {
    const row = (is_fit, reserved_bytes, request_count, miss_count) => ({is_fit, reserved_bytes, live_bytes: 80, request_count, miss_count});
    assert.deepEqual(settingsTried([row(1, 100, 10, 1), row(1, 160, 10, 2), row(0, 50, 0, 0)]).map((one) => [one.saved_bytes, one.hit_rate, Number(one.beyond_ratio.toFixed(3))]), [[0, 0.9, 0.2], [-60, 0.8, 0.5], [null, 1, 0]]);
    assert.deepEqual(settingsTried([row(0, 100, 10, 1), row(1, 90, 10, 1)]).map((one) => one.saved_bytes), [null, null], 'a run that ended early reserved less');
    assert.deepEqual(settingsTried([]), []);
});

test('powers without blocks are one row where they are many', () => {
    const rows = [1, 0, 0, 2, 0, 0, 0, 3].map((count, i) => ({at_least: 2 ** i, below: 2 ** (i + 1), count, bytes: count}));
    assert.deepEqual(foldEmpty(rows).map((row) => [row.at_least, row.below, row.count]), [[1, 2, 1], [2, 4, 0], [4, 8, 0], [8, 16, 2], [16, 128, 0], [128, 256, 3]]);
    assert.deepEqual(foldEmpty([]), []);
});

test('names that are ours are said in Chinese, others stay', () => {
    const names = ['(no stack)', 'within a step', '1 step', '4 to 7 steps', '1,000 to 9,999 events', 'stream 7', 'pool 0, 1', 'device 0 \u00b7 caching pool', 'device 0 \u00b7 ptaCaching', 'train.py:9 stream 7'];
    assert.deepEqual(names.map(sayPlace), names);
    setLanguage('zh');
    assert.deepEqual(names.map(sayPlace), ['\uff08\u65e0\u8c03\u7528\u6808\uff09', '\u4e00\u6b65\u4e4b\u5185', '1 \u6b65', '4 \u81f3 7 \u6b65', '1,000 \u81f3 9,999 \u4e2a\u4e8b\u4ef6', '\u6d41 7', '\u5185\u5b58\u6c60 0, 1', '\u8bbe\u5907 0 \u00b7 \u7f13\u5b58\u5185\u5b58\u6c60', '\u8bbe\u5907 0 \u00b7 ptaCaching', 'train.py:9 stream 7']);
    setLanguage('en');
});

test('each clause that view suspect_by_site is made of has its Chinese, of one and of many', () => {
    const rows = [...readFileSync(new URL('../../docs/sentences.txt', import.meta.url), 'utf8').matchAll(/^suspect\.\w+\n {4}(.*)$/gm)].map(([, text]) => text), tails = rows.filter((text) => text.startsWith(', ')), heads = rows.filter((text) => !text.startsWith(', '));
    const forms = (text) => ['$1', '$2'].map((word) => text.replace('[ and before them/]', ' and before them').replace(/\[([^/\]]*)\/([^\]]*)\]/g, word).replace(/\{n\}/g, '7').replace('{end}', '').replace(/^; /, ''));
    const clauses = heads.flatMap(forms), kept = clauses.filter((text) => / freed\b/.test(text) && /^7 other/.test(text)).flatMap((text) => tails.map((tail) => text + tail));
    assert.deepEqual([tails.length, clauses.length, kept.length], [1, 20, 4]);
    setLanguage('zh');
    assert.deepEqual([...clauses, ...kept].filter((text) => /[a-z]/.test(sayClauses(text))), []);
    assert.equal(sayClauses('1 block born in 2 of 3 steps is live at the end; no other was freed'), '3 \u6b65\u4e2d\u6709 2 \u6b65\u4ea7\u751f\u7684 1 \u4e2a\u5757\u5728\u7ed3\u675f\u65f6\u5b58\u6d3b\uff1b\u6ca1\u6709\u5176\u4ed6\u5757\u91ca\u653e');
    setLanguage('en');
});
