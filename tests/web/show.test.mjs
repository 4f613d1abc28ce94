/* SPDX-License-Identifier: Apache-2.0
 *
 * What is shown, as far as it is no picture: figures as the screen has them, places on axes, the address, the search, sums and trees.
 */
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {changeText, changeTree, counterpartOf, siteOfChange} from '../../src/page/web/panels/against.mjs';
import {assignColours, LEAK, mixPixel, partsOf, PALETTE, REST} from '../../src/page/web/pictures/colours.mjs';
import {formatAddress, formatBytes, formatCount, formatPercent, formatTime} from '../../src/page/web/state/format.mjs';
import {isCounted} from '../../src/page/web/data/groups.mjs';
import {makeTree, nodesAlong, pathOf, skipTrunk, splitName, sumFound} from '../../src/page/web/pictures/icicle.mjs';
import {thin} from '../../src/page/web/panels/leaks.mjs';
import {addBlocks, ANCHOR_KINDS, bestHeap, hasBlocksOf, heapOfRow, liveBlocks, makeClock, makeWindows, placeOf, rowsOf, stepAt, sumBlocks} from '../../src/page/web/data/model.mjs';
import {barParts} from '../../src/page/web/panels/oom.mjs';
import {withIndents} from '../../src/page/web/panels/verdicts.mjs';
import {openingRange} from '../../src/page/web/state/opening.mjs';
import {cutToRun, mostByColumn, OVERLAY_COLUMNS, shareOfEvents, shareOfSteps} from '../../src/page/web/pictures/overlay.mjs';
import {commandOf} from '../../src/page/web/panels/head.mjs';
import {devicesToShow, layCurves, rolesOfRanks, verdictOfRank} from '../../src/page/web/panels/ranks.mjs';
import {drawCells, drawRectangle, offsetOf} from '../../src/page/web/data/raster.mjs';
import {interpolate, makeScale, niceTicks} from '../../src/page/web/pictures/scale.mjs';
import {makeFilter} from '../../src/page/web/data/search.mjs';
import {makeState, readHash, writeHash} from '../../src/page/web/state/state.mjs';

test('figures are those of base/human.c', () => {
    assert.deepEqual([0, 512, 999, 1000, 1023, 6396314, 432013312, 29420000000].map(formatBytes), ['0 B', '512 B', '999 B', '1.0 KiB', '1.0 KiB', '6.1 MiB', '412 MiB', '27.4 GiB']);
    assert.deepEqual([0, 999, 1000, 412880, -1234567].map(formatCount), ['0', '999', '1,000', '412,880', '-1,234,567']);
    assert.deepEqual([0.058, 0.44, 1, 0.984, 0.9999].map(formatPercent), ['5.8 %', '44 %', '100 %', '98.4 %', '100 %']);
    assert.deepEqual([25000, 12e6, 81.3e9, 900e9, 9e12].map(formatTime), ['25.0 us', '12.0 ms', '81.3 s', '15.0 min', '2.5 h']);
    assert.equal(formatAddress(0x12c0c0000000), '0x12c0c0000000');
    for (const format of [formatBytes, formatCount, formatPercent, formatTime, formatAddress])
        assert.deepEqual([format(null), format(NaN), format(undefined)], ['\u2013', '\u2013', '\u2013']);
});

test('an axis of events is even, one of time goes by the clock, and both lead back', () => {
    const even = makeScale(100, 300, 50, 250, null), timed = makeScale(0, 100, 0, 1000, {seqs: [0, 50, 100], times: [0, 900, 1000]});
    assert.equal(even.toX(200), 150);
    assert.equal(even.toSeq(150), 200);
    assert.equal(even.toSeq(-1e9), 100);
    assert.equal(timed.toX(50), 900);
    assert.equal(timed.toSeq(900), 50);
    assert.equal(timed.toSeq(450), 25);
    assert.equal(interpolate([1, 2], [10, 20], 99), 20);
    assert.deepEqual(niceTicks(0, 100, 4, 10), [0, 50, 100]);
    assert.deepEqual(niceTicks(0, 80 * 2 ** 20, 4, 2), [0, 32 * 2 ** 20, 64 * 2 ** 20]);
    assert.deepEqual(niceTicks(5, 5, 4, 10), []);
});

test('a clock never steps back, and one that stands still is none', () => {
    assert.deepEqual(makeClock(new Map([[3, 30], [1, 10], [2, 40]])), {seqs: [1, 2, 3], times: [10, 40, 40]});
    assert.equal(makeClock(new Map([[1, 5], [2, 5]])), null);
    assert.equal(makeClock(new Map()), null);
});

const DEFAULTS = {heap: 1, from: null, to: null, low: null, high: null, block: null, stack: null, at: 'peak', since: null, site: null, search: null, theme: null, axis: 'event', lang: 'en', group: 'site', colour: 'site'};

test('the address holds the state, and gives it back', () => {
    const values = {...DEFAULTS, from: 10, to: 20, site: 'a&b=c #</script>', search: '\u4e2d.*', at: '77'};
    assert.deepEqual({...DEFAULTS, ...readHash(`#${writeHash(values, DEFAULTS)}`)}, values);
    assert.equal(writeHash(DEFAULTS, DEFAULTS), '');
    assert.deepEqual(readHash('#from=x&constructor=1&to=Infinity'), {});
});

test('an address without a range is that on which the page opens, and "all" is none', () => {
    const defaults = {...DEFAULTS, from: 900, to: 1000};
    assert.equal(writeHash(defaults, defaults), '');
    assert.equal(writeHash({...defaults, from: null, to: null}, defaults), 'from=all&to=all');
    assert.deepEqual(readHash('#from=all&to=all&at=5'), {from: null, to: null, at: '5'});
    assert.equal(writeHash({...defaults, from: 5, to: 9}, defaults), 'from=5&to=9');
});

/* A heap of 1,000 events in buckets of ten, which holds what `liveAt` says. */
function heapOfEvents(liveAt, steps) {
    const ends = Array.from({length: 100}, (_, i) => 10 * i + 9);
    return {input: {first: 0, last: 1000}, steps, usage: {first_seq: Float64Array.from(ends, (end) => end - 9), last_seq: Float64Array.from(ends), max_live_bytes: Float64Array.from(ends, liveAt)}};
}

test('a page opens on the stretch in which memory filled up', () => {
    const steps = Array.from({length: 20}, (_, i) => ({number: i, begin_seq: 50 * i})), cliff = (seq) => (seq < 970 ? 10 : 100), failed = [{outcome: 'recovered', first_seq: 10}, {outcome: 'fatal', first_seq: 985, needed_bytes: 50, leaked_bytes: 5}];
    assert.deepEqual(openingRange(heapOfEvents(cliff, steps), failed), {from: 900, to: 997}, 'the step before, and an eighth behind');
    assert.deepEqual(openingRange(heapOfEvents(cliff, []), failed), {from: 953, to: 990}, 'without steps as much before as it took');
    assert.deepEqual(openingRange(heapOfEvents(cliff, [{begin_seq: 0}, {begin_seq: 500}]), failed), {from: 649, to: 1000}, 'a long step is cut');
    assert.equal(openingRange(heapOfEvents((seq) => seq, steps), failed), null, 'what grows all the time is a matter of the whole run');
    assert.equal(openingRange(heapOfEvents(() => 7, steps), failed), null, 'so is what is level');
    assert.equal(openingRange(heapOfEvents(cliff, steps), [{...failed[1], leaked_bytes: 50}]), null, 'and a leak without which it would have fitted');
    assert.equal(openingRange(heapOfEvents(cliff, steps), [failed[0]]), null);
    assert.equal(openingRange({...heapOfEvents(cliff, steps), usage: null}, failed), null);
});

test('who subscribes hears each change', () => {
    const state = makeState(DEFAULTS, {...DEFAULTS, at: 'end'}), heard = [];
    state.subscribe((now, before) => heard.push([before.at, now.at]));
    state.set({at: '5'});
    assert.deepEqual(heard, [['end', '5']]);
    assert.equal(state.hash(), 'at=5');
});

test('what another run has more and less of is a tree of files and sites, without sums and other levels', () => {
    const row = (level, path, line, change_bytes) => ({level, path, line, function: 'f', change_bytes}), rows = [row('pool', '(all)', null, 50), row('pool', 'a.py', 1, 60), row('pool', 'a.py', 2, 10), row('driver', 'a.py', 1, 99), row('pool', 'b.py', 7, -20), row('pool', '(stack cut)', null, null)];
    const more = changeTree(rows, 'pool', true), less = changeTree(rows, 'pool', false);
    assert.deepEqual([more.bytes, more.count, less.bytes, less.count], [70, 2, 20, 1]);
    assert.deepEqual(more.children.map((node) => [node.label, node.bytes, node.children.map((site) => [site.label, site.bytes])]), [['a.py', 70, [['a.py:1 f', 60], ['a.py:2 f', 10]]]]);
    assert.equal(changeTree(rows, 'pinned', true).bytes, 0);
});

test('ranks lie on each other by events, steps, their time, or the clocks of their hosts', () => {
    const heap = (id, start, times, steps) => ({heap_id: id, steps: steps.map((begin_seq) => ({begin_seq})), input: {start_realtime_ns: start, last: 20, clock: times && {seqs: [0, 20], times}},
        usage: {first_seq: Float64Array.of(0, 11), last_seq: Float64Array.of(10, 20), max_seq: Float64Array.of(10, 20), max_live_bytes: Float64Array.of(5, 9), live_bytes: Float64Array.of(5, 9)}});
    const heaps = [heap(1, 1000e6, [0, 100e6], [0, 10]), heap(2, 1100e6, [50e6, 250e6], [0]), heap(3, null, [0, 50e6], []), heap(4, 1000e6, null, [0, 5, 10, 15])], at = (laid, id, share) => laid.curves.get(id)[Math.floor(share * OVERLAY_COLUMNS)];
    assert.deepEqual([...layCurves(heaps, 'event').curves.keys()], [1, 2, 3, 4]);
    assert.deepEqual([...layCurves(heaps, 'step').curves.keys()], [1, 4], 'without steps there is no curve');
    const own = layCurves(heaps, 'time'), wall = layCurves(heaps, 'clock');
    assert.deepEqual([...own.times], [[1, {begin: 0, end: 100e6}], [2, {begin: 0, end: 200e6}], [3, {begin: 0, end: 50e6}]]);
    assert.deepEqual([at(own, 1, 0.2), at(own, 1, 0.4), at(own, 1, 0.9)], [0, 5, NaN], 'behind its end there is nothing');
    assert.deepEqual([...wall.times], [[1, {begin: 1000e6, end: 1100e6}], [2, {begin: 1150e6, end: 1350e6}]], 'without a clock there is no place');
    assert.deepEqual([wall.begin, wall.end], ['1970-01-01 00:00:01.000 UTC', '1970-01-01 00:00:01.350 UTC']);
    assert.deepEqual([at(wall, 1, 0.2), at(wall, 1, 0.35), at(wall, 2, 0.35), at(wall, 2, 0.8)], [5, NaN, NaN, 5]);
    assert.deepEqual([...cutToRun(Float64Array.of(1, 2, 3, 4), 0.25, 0.5)], [NaN, 2, 3, NaN]);
    assert.deepEqual(layCurves([heaps[3]], 'clock').begin, '\u2013');
});

test('the search is a regular expression, or the text itself where it is none', () => {
    assert.ok(makeFilter('')('anything') && makeFilter(null)('anything'));
    assert.ok(makeFilter('^model.*forward$')('Model.py:88 forward'));
    assert.ok(!makeFilter('^forward')('model.py:88 forward'));
    assert.ok(makeFilter('a(')('NA(1)') && !makeFilter('a(')('na'));
});

test('rows have null for NULL of any kind, and keep a column called name', () => {
    assert.deepEqual(rowsOf({rows: 2, name: ['x', null], a: Float64Array.of(1, NaN)}), [{name: 'x', a: 1}, {name: null, a: null}]);
    assert.deepEqual(rowsOf(undefined), []);
    assert.notEqual(placeOf({host: 'a', rank: null, pid: 1, device: 0, heap: 'p', level: 'pool'}), placeOf({host: 'a', rank: 1, pid: null, device: 0, heap: 'p', level: 'pool'}));
});

test('what is looked at first is where the trouble is, else the largest pool', () => {
    const heap = (rank, level, peak) => ({host: 'h', rank, pid: rank, device: 0, heap: level, level, place: placeOf({host: 'h', rank, pid: rank, device: 0, heap: level, level}), peak: {peak_bytes: peak}});
    const heaps = [heap(0, 'driver', 900), heap(0, 'pool', 5), heap(1, 'pool', 7), heap(2, 'pool', 6)], failure = {host: 'h', rank: 2, pid: 2, device: 0, heap: null, level: null};
    assert.equal(bestHeap(heaps, [], []), heaps[2]);
    assert.equal(bestHeap(heaps, [{...failure, outcome: 'fatal'}], []), heaps[3]);
    assert.equal(bestHeap(heaps, [{...failure, outcome: 'recovered'}], [heaps[1]]), heaps[1]);
    assert.equal(bestHeap([heaps[0]], [], []), heaps[0]);
    assert.equal(bestHeap([], [], []), null);
    assert.equal(heapOfRow(heaps, {...failure, rank: 9}), null);
});

test('what was live is counted only where every block is here', () => {
    const table = {rows: 3, heap_id: Float64Array.of(1, 1, 2), born: Float64Array.of(-1, 5, 6), life: Float64Array.of(11, NaN, 1), size_bytes: Float64Array.of(1, 2, 4)};
    const heap = {heap_id: 1, input: {detail: 'all', detail_begin_seq: null}}, model = {}, all = {block_count: 3, kept_count: 3, reach: null, kind_last: 0};
    addBlocks(model, table, all, []);
    assert.deepEqual([...model.blocks.alloc_seq], [NaN, 5, 6]);
    assert.deepEqual([...model.blocks.free_seq], [10, NaN, 7]);
    assert.deepEqual([4, 5, 9, 10].map((seq) => liveBlocks(model, 1, seq)), [[0], [0, 1], [0, 1], [1]]);
    assert.equal(isCounted(model, heap, 7), true);
    assert.equal(isCounted(model, {...heap, input: {detail: 'live', detail_begin_seq: null}}, 7), false);
    addBlocks(model, table, {...all, block_count: 4}, []);
    assert.equal(isCounted(model, heap, 7), false);
    addBlocks(model, table, {...all, block_count: 4, reach: 2}, [{heap_id: 1, kind: 0, seq: 7}]);
    assert.deepEqual([4, 5, 9, 10].map((seq) => isCounted(model, heap, seq)), [false, true, true, false]);
});

test('windows of one heap that touch are one, and anchors that were given up have none', () => {
    const anchors = [{heap_id: 2, kind: 0, seq: 50}, {heap_id: 1, kind: 0, seq: 10}, {heap_id: 1, kind: 1, seq: 90}, {heap_id: 1, kind: 3, seq: 21}, {heap_id: 1, kind: 2, seq: 16}];
    const windows = makeWindows(anchors, {reach: 5, kind_last: 3});
    assert.deepEqual(windows.get(1).map((window) => [window.from, window.to, window.anchors.map((anchor) => ANCHOR_KINDS[anchor.kind])]), [[5, 26, ['peak', 'failure', 'leak']], [85, 95, ['end']]]);
    assert.deepEqual(windows.get(2).map((window) => [window.from, window.to]), [[45, 55]]);
    assert.deepEqual(makeWindows(anchors, {reach: 4, kind_last: 1}).get(1).map((window) => [window.from, window.to]), [[6, 14], [86, 94]]);
    assert.equal(makeWindows(anchors, {reach: null, kind_last: 3}).size, 0);
    const model = {hasAllBlocks: false, windows};
    assert.deepEqual([[5, 26], [5, 27], [20, 90], [85, 95]].map(([from, to]) => hasBlocksOf(model, 1, from, to)), [true, false, false, true]);
    assert.equal(hasBlocksOf(model, 3, 5, 6), false);
});

test('a curve has the most of each column, and is what it was where nothing happened', () => {
    const usage = {first_seq: [0, 10, 80], last_seq: [9, 19, 100], max_seq: [4, 15, 99], max_live_bytes: [50, 99, 30], live_bytes: [20, 30, 10]};
    assert.deepEqual([...mostByColumn(usage, shareOfEvents(usage), 10)], [50, 99, 30, 30, 30, 30, 30, 30, 30, 30]);
    assert.equal(mostByColumn(usage, shareOfEvents(usage), 1)[0], 99);
    const place = shareOfSteps([10, 80], 100, 4);
    assert.deepEqual([0, 10, 45, 80, 90, 100].map(place), [0, 0, 0.125, 0.25, 0.375, 0.5]);
});

test('three ranks stand for all: the first to fail, the highest and the lower middle', () => {
    const rank = (process, peak, order) => ({process_id: process, rank: process, peak_bytes: peak, failure_order: order ?? null});
    assert.deepEqual([...rolesOfRanks([rank(1, 5), rank(2, 9, 'followed'), rank(3, 9), rank(4, 7, 'first'), rank(5, null)])], [[4, ['first', 'median']], [2, ['highest']]]);
    assert.deepEqual([...rolesOfRanks([rank(1, 5), rank(1, 5), rank(2, 9)])], [[1, ['highest']], [2, ['median']]]); /* two devices of one process */
    assert.deepEqual([...rolesOfRanks([rank(1, null), rank(2, null)])], []);
});

test('devices have a table where several hold memory of one, or they differ', () => {
    const of = (device, peak, capacity, holders) => ({device, peak_bytes: peak, capacity_bytes: capacity, holder_count: holders}), shown = (...rows) => devicesToShow(rows).map((row) => row.device);
    assert.deepEqual(shown(of(0, 9, 16, 1), of(1, 8, 16, 1)), []);
    assert.deepEqual(shown(of(0, 2, 16, 1), of(1, 17, 16, 4), of(2, 12, 16, 1)), [1, 2, 0]);
    assert.deepEqual(shown(of(0, 9, 32, 1), of(1, 8, 16, 1), of(2, 30, null, 1)), [1, 0, 2]);
});

test('the verdict of a rank is of its own rows', () => {
    const row = {host: 'h', rank: 3, pid: 7, failure: null, leak_bytes: 0}, of = (rank, severity, kind, count = null) => ({host: 'h', rank, pid: 7, severity, kind, count});
    const findings = [of(3, 'warning', 'hit rate'), of(3, 'warning', 'hit rate'), of(4, 'fault', 'fragmentation'), of(3, 'good', 'idle'), of(4, 'fault', 'misuse', 2), of(6, 'not judged', 'hit rate')];
    assert.deepEqual(verdictOfRank(row, findings), {level: 'warning', parts: ['hit rate']});
    assert.deepEqual(verdictOfRank({...row, rank: 4}, findings), {level: 'danger', parts: ['misuse (2)', 'fragmentation']});
    assert.deepEqual(verdictOfRank({...row, failure: 'signal', leak_bytes: 2048}, findings).parts, ['signal', 'leak of 2.0 KiB', 'hit rate']);
    assert.deepEqual(verdictOfRank({...row, rank: 5}, findings), {level: 'good', parts: []});
    assert.deepEqual(verdictOfRank({...row, rank: 6}, findings), {level: 'unknown', parts: []});
    assert.deepEqual(verdictOfRank({...row, rank: 5}, [...findings, {host: null, rank: null, pid: null, severity: 'not judged', kind: 'leak', count: null}]), {level: 'unknown', parts: []}, 'what is of the whole run is of each');
});

test('changes are written as npumem diff writes them', () => {
    assert.deepEqual([['bytes', 2048], ['bytes', -2048], ['bytes', 0], ['ns', -25000], ['ratio', -0.1234], ['ratio', 0.00001], ['ratio', -0.00001], ['bytes', null]].map(([unit, change]) => changeText(unit, change)),
        ['+2.0 KiB', '-2.0 KiB', '+0 B', '-25.0 us', '-12.3 pp', '+0.0 pp', '+0.0 pp', '\u2013']);
    assert.deepEqual([{path: '(all)', function: '', line: null}, {path: 'torch/adamw.py', line: 61, function: 'step'}, {path: '', line: null, function: 'f'}].map(siteOfChange), ['all sites', 'torch/adamw.py:61 step', 'f']);
    const heap = {level: 'pool', rank: 1, device: 0, heap: 'p', host: 'a'}, others = [{...heap, level: 'driver'}, {...heap, rank: 0, host: 'b'}, {...heap, host: 'b'}, {...heap, heap: 'q'}];
    assert.equal(counterpartOf(heap, others), others[2]);
    assert.equal(counterpartOf({...heap, level: 'pinned'}, others), null);
});

test('a step begins at its event and ends at the next', () => {
    const steps = [{number: 1, begin_seq: 10}, {number: 2, begin_seq: 20}];
    assert.deepEqual([9, 10, 19, 20, 999].map((seq) => stepAt(steps, seq)?.number ?? null), [null, 1, 1, 2, 2]);
});

test('blocks are summed by key, the largest first', () => {
    const blocks = {size_bytes: [1, 2, 4, 8]};
    assert.deepEqual(sumBlocks(blocks, [0, 1, 3], (i) => (i === 3 ? 'b' : 'a')), [{key: 'b', count: 1, bytes: 8}, {key: 'a', count: 2, bytes: 3}]);
});

test('a rectangle shows however small it is, and nothing outside of the picture is touched', () => {
    const view = {scale: makeScale(0, 100, 0, 10, null), low: 0, high: 100, width: 10, height: 10}, pixels = new Uint32Array(100);
    assert.equal(drawRectangle(pixels, view, 50, 50.1, 30, 0.1, 7), true);
    assert.equal(pixels[35], 7);
    assert.equal(pixels.filter((pixel) => pixel === 7).length, 1);
    assert.equal(drawRectangle(pixels, view, -50, Infinity, 90, 1e9, 8), true);
    assert.equal(pixels.filter((pixel) => pixel === 8).length, 10);
    assert.equal(drawRectangle(pixels, view, 100, 200, 0, 100, 9), false);
    assert.equal(drawRectangle(pixels, view, 0, 100, 100, 5, 9), false);
    assert.equal(pixels.includes(9), false);
});

test('cells are drawn where they lie', () => {
    const cells = {width: 2, height: 2, firstSeq: 0, lastSeq: 100, axisBytes: 100, used: [0, 255, 128, 0], site: [0, 5, 6, 0]};
    const view = {scale: makeScale(0, 100, 0, 4, null), low: 0, high: 100, width: 4, height: 4}, pixels = new Uint32Array(16);
    drawCells(pixels, view, cells, (site, used) => 1000 * site + used);
    assert.deepEqual([...pixels], [0, 0, 5255, 5255, 0, 0, 5255, 5255, 6128, 6128, 0, 0, 6128, 6128, 0, 0]);
});

test('addresses lie on the axis of their lanes', () => {
    const lanes = [{address: 1000, size_bytes: 100, offset: 0}, {address: 5000, size_bytes: 10, offset: 100}];
    assert.deepEqual([999, 1000, 1099, 1100, 5009, 5010].map((address) => offsetOf(lanes, address)), [-1, 0, 99, -1, 109, -1]);
});

test('a stack is a path from outside to its site, without plumbing', () => {
    const frames = [{label: 'malloc', isPlumbing: true}, {label: 'site', isPlumbing: false}, {label: 'torch', isPlumbing: true}, {label: 'main', isPlumbing: false}];
    assert.deepEqual(pathOf({stacks: {siteOf: () => 'site', walk: () => frames}}, 1), ['main', 'site']);
    assert.deepEqual(pathOf({stacks: {siteOf: () => 'backward of site', walk: () => frames}}, 1), ['main', 'site', 'backward of site']);
});

test('paths make a tree whose parts add up, and a trunk is skipped', () => {
    const tree = makeTree([{path: ['main', 'a'], bytes: 1, count: 1}, {path: ['main', 'b'], bytes: 4, count: 2}, {path: ['main', 'b', 'c'], bytes: 2, count: 1}]);
    assert.equal(tree.bytes, 7);
    assert.deepEqual(tree.children[0].children.map((node) => [node.label, node.bytes, node.count]), [['b', 6, 3], ['a', 1, 1]]);
    assert.deepEqual([skipTrunk(tree).label, skipTrunk(tree).above], ['main', 0]);
    const deep = makeTree([{path: ['start', 'main', 'a'], bytes: 1, count: 1}, {path: ['start', 'main', 'b'], bytes: 4, count: 2}]);
    assert.deepEqual([skipTrunk(deep).label, skipTrunk(deep).above, skipTrunk(deep).children.length], ['main', 1, 2], 'one caller is above it');
});

test('a path leads into a tree as far as there is one, and what the search finds is summed up once', () => {
    const tree = makeTree([{path: ['a', 'ab', 'a'], bytes: 4, count: 2}, {path: ['a', 'c'], bytes: 2, count: 1}, {path: ['b'], bytes: 1, count: 1}]);
    assert.deepEqual([['a', 'ab'], ['a', 'x', 'ab'], [], ['x']].map((path) => nodesAlong(tree, path).map((node) => node.label)), [['all', 'a', 'ab'], ['all', 'a'], ['all'], ['all']]);
    assert.deepEqual([(label) => label === 'a', (label) => label === 'ab', (label) => label === 'c' || label === 'b', () => false, () => true].map((filter) => sumFound(tree, filter)).map(({bytes, count}) => [bytes, count]), [[6, 3], [4, 2], [3, 2], [0, 0], [7, 4]]);
});

test('a name is shortened in its middle where there is room for both ends', () => {
    assert.deepEqual([splitName('train_model.py:232 allocate_state', 0.2), splitName('train_model.py:232 allocate_state', 0.05), splitName('short.py:1 f', 0.2)], [['train_model.py:232 alloca', 'te_state'], ['train_model.py:232 allocate_state', ''], ['short.py:1 f', '']]);
});

test('red is a leak\u2019s alone', () => {
    const colours = assignColours(['a', 'leaky', 'b'], new Set(['leaky']));
    assert.deepEqual([colours.of('a'), colours.of('leaky'), colours.of('b'), colours.of('other')], [PALETTE[0], LEAK, PALETTE[1], REST]);
    assert.ok(!PALETTE.includes(LEAK));
    assert.deepEqual(partsOf('#0180ff'), [1, 128, 255]);
    assert.equal(mixPixel([255, 0, 0], [0, 0, 0], 1), 0xff0000ff);
    assert.equal(mixPixel([255, 0, 0], [0, 0, 255], 0), 0xffff0000);
});

test('the bar of a failure adds up to the device', () => {
    const parts = [{component: 'POOL', heap: 'pool', part: 'used', bytes: 20}, {component: 'POOL', heap: 'pool', part: 'pinned', bytes: 10}, {component: 'APP', heap: null, part: 'whole', bytes: 5}, {component: 'DEVICE USED', heap: null, part: 'whole', bytes: 35}];
    assert.deepEqual(barParts({free_bytes: 15}, parts).map((part) => [part.name, part.bytes]), [['pool used', 20], ['pool free between blocks', 10], ['program', 5], ['free on the device', 15]], 'in the words of the screen');
    assert.deepEqual(barParts({free_bytes: 15}, [...parts, {component: 'pool', part: 'pending', bytes: 3}]).map((part) => part.look), [null, 'dotted', null, 'barred', null], 'what is not in use has a pattern');
});

test('a thin line keeps its end', () => {
    assert.deepEqual(thin([1, 2, 3], 5), [1, 2, 3]);
    const values = thin(Array.from({length: 1000}, (_, i) => i), 10);
    assert.equal(values.length, 10);
    assert.equal(values[9], 999);
});

/* A shell in whose place Python comes, a helper of it, and the program that has memory. */
test('a run is called by who has memory, and not by who started it', () => {
    const processes = [{process_id: 1, pid: 100, end_kind: 'exec', command: 'bash shim'}, {process_id: 2, pid: 101, end_kind: 'exit', command: 'helper'}, {process_id: 3, pid: 100, end_kind: 'exit', command: 'python3 launch.py'}, {process_id: 4, pid: 102, end_kind: 'exit', command: 'python3 asks.py'}, {process_id: 5, pid: 103, end_kind: 'exit', command: 'python3 train.py'}];
    const named = (...heaps) => commandOf({heaps, rows: () => processes}), asks = {process_id: 4, peak: {peak_bytes: 0}}, holds = {process_id: 5, peak: {peak_bytes: 8}};
    assert.equal(named(asks, holds), 'python3 train.py and 4 more');
    assert.equal(named(asks), 'python3 asks.py and 4 more');
    assert.equal(named(), 'python3 launch.py and 4 more');
    assert.equal(commandOf({heaps: [], rows: () => []}), null);
});

test('lines below a label are indented, and where none has one they are not', () => {
    assert.deepEqual(withIndents(['WHY  it was full', 'HOLDERS  1 GiB  a.py:1 f, 2 live', '5.6 MiB  b.py:2 g, 60 live', '\u89e3\u51b3  \u51cf\u5c11']), ['WHY  it was full', 'HOLDERS  1 GiB  a.py:1 f, 2 live', '    5.6 MiB  b.py:2 g, 60 live', '\u89e3\u51b3  \u51cf\u5c11']);
    assert.deepEqual(withIndents(['60 blocks born', 'none freed']), ['60 blocks born', 'none freed']);
});
