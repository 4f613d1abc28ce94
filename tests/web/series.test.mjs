/* SPDX-License-Identifier: Apache-2.0
 *
 * What the charts over time show: curves, the most of them in every pixel of many views, what a device held, and two steps laid over each
 * other; each compared with a loop over all events that is too slow for a page, or with figures worked out by hand.
 */
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {placeBetween, placeLabels, placeRanges} from '../../src/page/web/pictures/chart.mjs';
import {makeStepClock} from '../../src/page/web/data/model.mjs';
import {makeScale} from '../../src/page/web/pictures/scale.mjs';
import {alignCurves, findMost, firstFrom, heldBy, heldByLayer, keyOfLayer, liveOfUsage, makeCurve, makeMaxima, makePicture, mostByPixel, partingsOf, reservedOfUsage, valueAt} from '../../src/page/web/data/series.mjs';
import {differOfSteps, medianAndWorst, stepByPixel, worstOfStep} from '../../src/page/web/panels/steps.mjs';
import {lineByPixel, placesOf, stackByPixel} from '../../src/page/web/panels/timeline.mjs';

/* Numbers that look random and are the same each time. */
function makeRandom(seed) {
    let state = seed;
    return (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor(state / 2 ** 32 * below);
    };
}

/* Blocks with births in order, as the page has them: some there before, some never freed. */
function makeBlocksOf(random, count) {
    const blocks = Array.from({length: count}, (_, i) => {
        const born = i < 5 ? NaN : 10 + 3 * i + random(2);
        return {born, ended: random(10) === 0 ? NaN : (i < 5 ? 10 : born) + 1 + random(400), size: 1 + random(1000)};
    });
    const column = (name) => Float64Array.from(blocks, (block) => block[name]);
    return {blocks, births: column('born'), ends: column('ended'), sizes: column('size')};
}

function heldAt(blocks, seq) {
    return blocks.reduce((sum, block) => sum + (!(block.born > seq) && !(block.ended <= seq) ? block.size : 0), 0);
}

test('a curve holds at each event what a loop over all blocks finds', () => {
    const {blocks, births, ends, sizes} = makeBlocksOf(makeRandom(1), 300), curve = makeCurve(births, ends, sizes);
    for (let seq = 0; seq < 1500; seq++)
        assert.equal(valueAt(curve, seq), heldAt(blocks, seq), `at ${seq}`);
    assert.ok(curve.seqs.every((seq, i) => i === 0 || seq > curve.seqs[i - 1]), 'each event once, in order');
    const scale = (places) => places.map((place) => (place < 0 || Number.isNaN(place) ? place : 1000 * place)), wide = makeCurve(scale(births), scale(ends), sizes);
    assert.deepEqual([...wide.values], [...curve.values], 'however wide the places lie');
    assert.deepEqual([...wide.seqs], [...curve.seqs].map((seq) => (seq < 0 ? seq : 1000 * seq)));
    assert.deepEqual(makeCurve([], [], []), {seqs: new Float64Array(0), values: new Float64Array(0)});
    assert.deepEqual([...makeCurve([5], [5], [7]).values], [0], 'born and freed by one event');
});

test('the most between any two places is that of a loop, and the first of several', () => {
    const random = makeRandom(2);
    for (const count of [0, 1, 2, 15, 16, 17, 255, 256, 257, 700]) {
        const values = Float64Array.from({length: count}, () => random(40)), second = Float64Array.from({length: count}, () => random(3)), maxima = makeMaxima(values, second);
        for (let round = 0; round < 400; round++) {
            const begin = random(count + 1), end = begin + random(count + 2 - begin);
            let best = -1;
            for (let i = begin; i < Math.min(end, count); i++)
                if (best < 0 || values[i] > values[best] || (values[i] === values[best] && second[i] > second[best]))
                    best = i;
            assert.equal(findMost(maxima, begin, end), best, `${begin} to ${end} of ${count}`);
        }
    }
});

/* The events that a pixel shows are those whose place lies in it; what was held when it begins counts, too. */
function slowMost(curve, scale, count, x) {
    const from = x === 0 ? scale.firstSeq : scale.toSeq(scale.left + x), to = x + 1 === count ? Infinity : scale.toSeq(scale.left + x + 1);
    let most = -Infinity;
    curve.seqs.forEach((seq, i) => {
        const next = curve.seqs[i + 1] ?? Infinity;
        if (seq < Math.min(to, scale.lastSeq + 0.5) && next > from && (seq >= from || next >= from))
            most = Math.max(most, curve.values[i]);
    });
    return most;
}

test('each pixel shows the most that was held in it, at every zoom and on every axis', () => {
    const {births, ends, sizes} = makeBlocksOf(makeRandom(3), 400), curve = makeCurve(births, ends, sizes), maxima = makeMaxima(curve.values), random = makeRandom(4);
    const clock = {seqs: [0, 300, 301, 900, 1700], times: [0, 10, 500, 510, 2000]}, steps = makeStepClock(Array.from({length: 40}, (_, i) => ({begin_seq: 20 + 31 * i, number: i})), {first: 0, last: 1700});
    for (const axis of [null, clock, steps])
        for (let round = 0; round < 40; round++) {
            const from = random(1500), to = from + 1 + random(1700 - from), count = 1 + random(300), scale = makeScale(from, to, 86, 86 + count, axis), places = mostByPixel(curve.seqs, maxima, scale, count);
            for (let x = 0; x < count; x++)
                assert.equal(places[x] < 0 ? -Infinity : curve.values[places[x]], slowMost(curve, scale, count, x), `pixel ${x} of ${count}, ${from} to ${to}`);
            const inView = [...curve.seqs.keys()].filter((i) => curve.seqs[i] >= from && curve.seqs[i] <= to), highest = Math.max(...inView.map((i) => curve.values[i]));
            assert.ok(inView.length === 0 || Math.max(...[...places].map((place) => (place < 0 ? 0 : curve.values[place]))) >= highest, 'no peak is lost');
        }
});

test('curves on the events of all keep their values', () => {
    const random = makeRandom(5), curves = [6, 7, 8].map((seed) => {
        const {births, ends, sizes} = makeBlocksOf(makeRandom(seed), 60 + random(40));
        return makeCurve(births, ends, sizes);
    }), aligned = alignCurves(curves);
    assert.ok(aligned.seqs.every((seq, i) => i === 0 || seq > aligned.seqs[i - 1]));
    aligned.seqs.forEach((seq, i) => curves.forEach((curve, k) => assert.equal(aligned.columns[k][i], valueAt(curve, seq))));
    assert.deepEqual([...new Set(curves.flatMap((curve) => [...curve.seqs]))].sort((a, b) => a - b), [...aligned.seqs]);
    assert.deepEqual([0, 10, 11, 30, 31].map((seq) => firstFrom([10, 20, 30], seq)), [0, 0, 1, 2, 3]);
});

const USAGE = {first_seq: Float64Array.of(NaN, 0, 10, 20), last_seq: Float64Array.of(NaN, 9, 19, 29), max_seq: Float64Array.of(NaN, 4, 15, 20), max_live_bytes: Float64Array.of(8, 50, 99, 30), live_bytes: Float64Array.of(8, 20, 30, 10), reserved_bytes: Float64Array.of(NaN, 64, 128, NaN)};

test('buckets give a curve with their maxima, and what is not known stays', () => {
    const live = liveOfUsage(USAGE), reserved = reservedOfUsage(USAGE), line = {curve: live, maxima: makeMaxima(live.values)}, wide = lineByPixel(line, makeScale(0, 30, 0, 30, null));
    assert.deepEqual([-1, 0, 3, 4, 9, 12, 15, 19, 20, 29, 99].map((seq) => valueAt(live, seq)), [8, 8, 8, 50, 20, 20, 99, 30, 30, 10, 10]);
    assert.deepEqual([0, 9, 18, 19, 40].map((seq) => valueAt(reserved, seq)), [0, 64, 64, 128, 128]);
    assert.deepEqual([wide[4], wide[15], wide[12], Math.max(...lineByPixel(line, makeScale(0, 30, 0, 2, null)))], [50, 99, 20, 99]);
    assert.equal(Math.max(...lineByPixel(line, makeScale(21, 30, 0, 9, null))), 30, 'what was live when the range begins');
});

/* A device with a pool of two segments, a module of CANN, a block of the program outside of the pool, pinned memory, and a device that was asked twice. */
function makeModelOf(hasAll) {
    const place = {host: 'h', rank: null, pid: 1, device: 0, process_id: 1}, input = {first: 0, last: 100, detail: 'all', detail_begin_seq: null, clock: null}, usage = {...USAGE};
    const heap = (heap_id, level, more) => ({...place, heap_id, level, heap: level, label: level, device_id: 7, module: null, input, usage, steps: [], ...more});
    const heaps = [heap(1, 'pool'), heap(2, 'driver', {module: 'APP'}), heap(3, 'driver', {module: 'HCCL'}), heap(4, 'pinned', {device: null, device_id: null}), heap(5, 'pool', {process_id: 2})];
    const blocks = {alloc_seq: Float64Array.of(10, 30, 6, 8, 3), free_seq: Float64Array.of(40, NaN, NaN, 50, NaN), size_bytes: Float64Array.of(100, 300, 5, 70, 9), stack_id: Float64Array.of(1, 2, 1, 1, 1)};
    const segments = [{allocation_id: 1, alloc_seq: 5, free_seq: null, size_bytes: 512}, {allocation_id: 2, alloc_seq: 29, free_seq: 60, size_bytes: 256}];
    return {heaps, blocks, cached: new Map(), hasAllBlocks: hasAll, blockRanges: new Map([[1, {begin: 0, end: 2}], [2, {begin: 2, end: 3}], [3, {begin: 3, end: 4}], [4, {begin: 4, end: 5}]]), segments: new Map([[1, segments]]), samples: new Map([[7, [{seq: 20, used_bytes: 1000}, {seq: 55, used_bytes: 773}]]]), stacks: {siteOf: (stack) => `site ${stack}`}};
}

test('a device is stacked by what holds it, and all together are what it held', () => {
    const model = makeModelOf(true), picture = makePicture(model, model.heaps[0]), at = (seq) => picture.layers.map((layer) => valueAt({seqs: picture.seqs, values: layer.values}, seq));
    assert.equal(picture.isExact, true);
    assert.deepEqual(picture.layers.map((layer) => [layer.heap?.heap_id ?? null, layer.part]), [[1, 'allocated'], [1, 'free'], [2, 'other'], [3, 'other'], [null, 'unexplained']]);
    assert.deepEqual(at(4), [0, 0, 0, 0, 0]);
    assert.deepEqual(at(9), [0, 512, 5, 70, 0], 'a segment is its pool\u2019s before a block lies in it');
    assert.deepEqual(at(29), [100, 668, 5, 70, 413]);
    assert.deepEqual(at(20), [100, 412, 5, 70, 413], 'the device was asked: 1000 in use');
    assert.deepEqual(at(35), [400, 368, 5, 70, 413], 'what else there is stays until it is asked again');
    assert.deepEqual(at(60), [300, 212, 5, 0, 0], 'at 55 no more was in use than is recorded');
    picture.seqs.forEach((_, i) => assert.equal(picture.total[i], picture.layers.reduce((sum, layer) => sum + layer.values[i], 0)));
    assert.deepEqual(picture.lines.map((line) => [line.heap.heap_id, Math.max(...line.curve.values)]), [[1, 400], [4, 9]], 'pinned memory is apart');
    const pixels = stackByPixel(picture, makeScale(0, 100, 0, 2, null));
    assert.deepEqual(pixels.layers.map((values) => [...values]), [[400, 300], [368, 468], [5, 5], [70, 0], [413, 413]], 'the moments with most in all: 30 and 50');
});

test('without all blocks the picture is made of buckets, and segments do not count twice', () => {
    const model = makeModelOf(false);
    model.samples.clear();
    const picture = makePicture(model, model.heaps[0]), at = (seq) => picture.layers.map((layer) => valueAt({seqs: picture.seqs, values: layer.values}, seq));
    assert.equal(picture.isExact, false);
    assert.deepEqual(picture.layers.map((layer) => [layer.heap.heap_id, layer.part]), [[1, 'allocated'], [1, 'free'], [2, 'other'], [3, 'other']]);
    assert.deepEqual(at(9), [20, 44, 0, 20], 'the program holds 20, the pool 64 of it by its own word');
    assert.deepEqual(at(4), [50, 0, 50, 50]);
    assert.deepEqual(makePicture(model, model.heaps[3]).layers.map((layer) => [layer.heap.heap_id, layer.part]), [[4, 'live']], 'of the host it is the heap alone');
    Object.assign(model, {heaps: [{...model.heaps[1], level: 'physical'}], hasAllBlocks: true});
    assert.deepEqual(makePicture(model, model.heaps[0]).layers.map((layer) => [layer.part, Math.max(...layer.values)]), [['live', 99]], 'and where nothing else of a device is known');
});

/* A pool of 300 blocks of 20 sites, some from before the recording, some never freed. */
function makeSites(seed) {
    const random = makeRandom(seed), rows = Array.from({length: 300}, () => ({born: random(12) === 0 ? NaN : random(200), size: 1 + random(1000), stack: random(20) === 0 ? NaN : random(20)})).sort((a, b) => (a.born || -1) - (b.born || -1)).map((row) => ({...row, freed: random(6) === 0 ? NaN : (row.born || 0) + 1 + random(60)}));
    const columns = {alloc_seq: 'born', free_seq: 'freed', size_bytes: 'size', stack_id: 'stack'}, blocks = Object.fromEntries(Object.entries(columns).map(([name, key]) => [name, Float64Array.from(rows, (row) => row[key])]));
    const heap = {heap_id: 1, process_id: 1, device_id: null, level: 'pool', module: null, input: {first: 0, last: 260, detail: 'all', detail_begin_seq: null}, usage: {}};
    const model = {heaps: [heap], blocks, cached: new Map(), hasAllBlocks: true, blockRanges: new Map([[1, {begin: 0, end: 300}]]), segments: new Map(), samples: new Map(), stacks: {siteFrame: (id) => id, label: (id) => (Number.isNaN(id) ? null : `site ${id}`)}};
    const nameOf = (row) => (!Number.isNaN(row.stack) ? `site ${row.stack}` : Number.isNaN(row.born) ? '(baseline)' : '(no stack)'), isLive = (row, seq) => !(row.born > seq) && !(row.freed <= seq);
    return {model, heap, rows, nameOf, heldAt: (seq, isOf) => rows.filter((row) => isLive(row, seq) && isOf(nameOf(row))).reduce((sum, row) => sum + row.size, 0)};
}

test('parted by sites a heap is the twelve that fill most of the picture and the rest, at each event as a slow count has it', () => {
    const {model, heap, rows, nameOf, heldAt} = makeSites(5), picture = heldBy(model, heap, 'site'), names = [...new Set(rows.map(nameOf))];
    const areaOf = (name) => rows.filter((row) => nameOf(row) === name).reduce((sum, row) => sum + row.size * ((row.freed || 260) - (row.born || 0)), 0), most = [...names].sort((a, b) => areaOf(b) - areaOf(a)).slice(0, 12);
    assert.deepEqual(picture.layers.map((layer) => layer.name ?? layer.count), [...most, names.length - 12]);
    picture.seqs.forEach((seq, at) => {
        const held = picture.layers.map((layer) => heldByLayer(picture, layer, at));
        assert.deepEqual(held, [...most.map((name) => heldAt(seq, (one) => one === name)), heldAt(seq, (one) => !most.includes(one))], `at ${seq}`);
        assert.equal(held.reduce((sum, bytes) => sum + bytes, 0), picture.total[at]);
    });
    assert.deepEqual(partingsOf(model, heap, ['site', 'stack', 'module', 'file']), ['component', 'site', 'module']);
    for (const other of [{...model, hasAllBlocks: false}, {...model, blocks: null}, {...model, blockRanges: new Map()}])
        assert.deepEqual(partingsOf(other, heap, ['site']), ['component'], 'where blocks are missing there is nothing to count');
    assert.deepEqual(partingsOf(model, {...heap, level: 'driver'}, ['site']), ['component']);
});

test('without hidden layers each pixel has the most of the others', () => {
    const {model, heap, heldAt} = makeSites(8), whole = heldBy(model, heap, 'site'), hidden = [whole.layers[0], whole.layers[12]].map(keyOfLayer), picture = heldBy(model, heap, 'site', hidden);
    assert.deepEqual([hidden[1], picture.layers.length, picture.hidden.map(keyOfLayer)], [':rest', 11, hidden]);
    const kept = new Set(picture.layers.map((layer) => layer.name)), scale = makeScale(0, 260, 0, 13, null), drawn = stackByPixel(picture, scale);
    drawn.places.forEach((place, x) => {
        const most = Math.max(...Array.from({length: 20}, (_, i) => heldAt(20 * x + i, (name) => kept.has(name))));
        assert.equal(drawn.layers.reduce((sum, layer) => sum + layer[x], 0), most, `pixel ${x}`);
    });
    assert.equal(heldBy(model, heap, 'site', hidden), picture, 'made once');
    assert.equal(heldBy(model, heap, 'site', whole.layers.map(keyOfLayer)), whole, 'all hidden is none');
    const device = makeModelOf(true), all = heldBy(device, device.heaps[0]), less = heldBy(device, device.heaps[0], 'component', [keyOfLayer(all.layers[1])]);
    assert.deepEqual([less.layers.map((layer) => layer.part), all.total.map((bytes, i) => bytes - all.layers[1].values[i])], [['allocated', 'other', 'other', 'unexplained'], less.total]);
});

test('the axis of steps has a whole number for each', () => {
    const clock = makeStepClock([{begin_seq: 10, number: 7}, {begin_seq: 20, number: 8}, {begin_seq: 60, number: 9}], {first: 0, last: 80}), scale = makeScale(0, 80, 0, 400, clock);
    assert.deepEqual([0, 10, 15, 20, 40, 60, 80].map(scale.toX), [0, 100, 150, 200, 250, 300, 400]);
    assert.equal(scale.toSeq(250), 40);
    assert.deepEqual(placesOf(scale), [{value: 0, text: '7'}, {value: 2, text: '9'}]);
    assert.equal(makeStepClock([], {first: 0, last: 1}), null);
});

test('labels never lie over each other, and ranges neither', () => {
    const random = makeRandom(9), items = Array.from({length: 60}, () => ({x: random(1000), width: 10 + random(80)})), placed = placeLabels(items, 1000, 2, 6);
    assert.ok(placed.filter((label) => label.row >= 0).length > 10);
    placed.forEach((a, i) => placed.forEach((b, j) => {
        if (i < j && a.row >= 0 && a.row === b.row)
            assert.ok(a.left + items[i].width <= b.left || b.left + items[j].width <= a.left, `${i} and ${j}`);
        if (i !== j && a.row >= 0 && b.row >= a.row)
            assert.ok(items[i].x <= b.left || items[i].x >= b.left + items[j].width, `the line of ${i} goes down beside the label of ${j}`);
    }));
    assert.equal(placeBetween([], 50, 6, 1000), 6);
    assert.equal(placeBetween([30, 70, 200], 50, 6, 1000), 76, 'the first room between lines');
    assert.equal(placeBetween([30, 90], 50, 6, 100), 6, 'where there is none, at the left');
    assert.equal(placed[0].row, 0, 'who comes first has the first choice');
    assert.deepEqual(placeLabels([{x: 990, width: 50}], 1000, 1, 6), [{row: 0, left: 937}], 'at the right edge it stands to the left');
    const ranges = [{name: 'a', begin_seq: 0, end_seq: 100}, {name: 'b', begin_seq: 5, end_seq: 20}, {name: 'c', begin_seq: 6, end_seq: 9}, {name: 'b', begin_seq: 20, end_seq: null}, {name: 'b', begin_seq: 50, end_seq: null}, {name: 'a', begin_seq: 100, end_seq: 110}];
    assert.deepEqual(placeRanges(ranges, 2).map((range) => [range.begin_seq, range.end_seq, range.row]), [[0, 100, 0], [5, 20, 1], [20, 50, 1], [50, Infinity, 1], [100, 110, 0]], 'without an end it goes on until another of its name begins');
});

test('two steps begin at one place, and a shorter one ends before', () => {
    const model = makeModelOf(true), heap = model.heaps[0], line = makePicture(model, heap).lines[0], first = {begin_seq: 5, end_seq: 35, number: 1, peak_bytes: 400}, second = {begin_seq: 35, end_seq: 50, number: 2, peak_bytes: 400};
    assert.deepEqual(stepByPixel(line, heap, first, 30, 6), [0, 100, 100, 100, 100, 400]);
    assert.deepEqual(stepByPixel(line, heap, second, 30, 6), [400, 300, 300, null, null, null]);
    assert.deepEqual([worstOfStep(line, heap, first), worstOfStep(line, heap, second)], [30, 35], 'what was live when it began counts');
    assert.deepEqual(differOfSteps(model, heap, line, first, {begin_seq: 45, end_seq: 60}), [{site: 'site 1', firstLive: 100, secondLive: 0, difference: -100, firstMade: 100, secondMade: 0}, {site: 'site 2', firstLive: 300, secondLive: 300, difference: 0, firstMade: 300, secondMade: 0}]);
    const steps = [5, 9, 1, 9, 7].map((peak_bytes) => ({peak_bytes}));
    assert.deepEqual(medianAndWorst(steps), {median: 4, worst: 1});
    assert.deepEqual(medianAndWorst(steps.slice(0, 2)), {median: 0, worst: 1});
});
