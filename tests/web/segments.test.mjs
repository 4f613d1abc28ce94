/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments, events and rows that are picked: against a count of each byte, event and block by itself, of random ones.
 */
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {addBlocks} from '../../src/page/web/data/model.mjs';
import {eventsAround, passerBy, pickFirst, ranksBy} from '../../src/page/web/data/pick.mjs';
import {holdersOf, segmentOf, segmentsAt} from '../../src/page/web/data/segments.mjs';
import {servingBars, whyLines} from '../../src/page/web/panels/oom.mjs';
import {blockSource, wantedBlocks} from '../../src/page/web/panels/rows.mjs';
import {barPlace, blockOnBar} from '../../src/page/web/panels/segments.mjs';
import {setLanguage} from '../../src/page/web/state/words.mjs';

await import(process.env.NPUMEM_PAGE_CHINESE);

function makeDice(seed) {
    let value = seed;
    return (most) => {
        value = value * 48271 % 2147483647;
        return value % most;
    };
}

const COLUMNS = ['born', 'life', 'address', 'size_bytes', 'stack_id', 'allocation_id', 'stream', 'category_id', 'private_pool', 'rounding', 'given_up'], SITES = ['one', 'two', 'three', 'four'];

function makeWorld(rows, segments, size_basis = 'requested', more = {}) {
    const ordered = [...rows].sort((a, b) => a.born - b.born), table = {rows: rows.length, heap_id: Float64Array.from(rows, () => 1), ...Object.fromEntries(COLUMNS.map((name) => [name, Float64Array.from(ordered, (row) => row[name] ?? NaN)]))};
    const heap = {heap_id: 1, size_basis, place: 'p', steps: [], named: [], input: {detail: 'all', detail_begin_seq: null, first: 0, last: 1000}, peak: {peak_seq: 5}, ...more};
    const model = {stacks: {siteFrame: (id) => (Number.isNaN(id) ? NaN : id % 4), label: (frame) => SITES[frame] ?? null, siteOf: (id) => SITES[id % 4] ?? '(no stack)'}, categories: new Map([[0, 'weight'], [1, 'gradient']]), inferred: new Set(), byPlace: () => new Map(),
        offsets: new Map(), lanes: new Map(), segments: new Map([[1, segments]]), tables: {}};
    addBlocks(model, table);
    return {model, heap, rows: ordered};
}

const isLive = (row, seq) => row.born <= seq && !(row.born + row.life <= seq);

/* Blocks that do not overlap while they live, of 16 bytes and more in segments of 256; one block goes on over the end of its segment into the next, which is mapped behind it. */
function makeRandom(seed) {
    const dice = makeDice(seed), segments = Array.from({length: 6}, (_, i) => ({allocation_id: 900 + i, address: 4096 + 256 * i + (i > 3 ? 512 : 0), size_bytes: 256, alloc_seq: i === 0 ? null : dice(30), free_seq: i === 5 ? 600 : null})), rows = [];
    for (let born = 31, tries = 0; rows.length < 120 && tries < 4000; tries++) {
        const size = 1 + dice(60), rounding = Math.ceil(size / 16) * 16 - size, home = segments[dice(6)], address = home.address + 16 * dice(16), end = address + size + rounding, life = dice(9) === 0 ? NaN : 2 + dice(200);
        const row = {born: rows.length < 3 ? -1 : born, life, address, size_bytes: size, rounding, stack_id: dice(7) === 0 ? NaN : dice(8), allocation_id: 1 + rows.length, given_up: life > 20 && dice(3) === 0 ? Math.floor(life / 2) : NaN, category_id: dice(2)};
        const isInside = segments.some((one) => one.address === end - 1 - (end - 1 - 4096) % 256 || (end > one.address && end <= one.address + 256)), meets = (one) => one.address < end && one.address + one.size_bytes + one.rounding > address;
        if (!isInside || rows.some((one) => meets(one) && (Number.isNaN(one.life) || one.born + one.life > row.born) && (Number.isNaN(life) || row.born + life > one.born)))
            continue;
        rows.push(row);
        born += 1 + dice(3);
    }
    return {segments, rows};
}

/* Byte by byte. */
function countBytes(segment, live, seq) {
    const owner = Array.from({length: segment.size_bytes}, (_, k) => live.find((row) => segment.address + k >= row.address && segment.address + k < row.address + row.size_bytes + row.rounding) ?? null), runs = owner.map((one) => (one === null ? 'f' : 'u')).join('').match(/f+/g) ?? [];
    const inside = [...new Set(owner.filter((one) => one !== null))].sort((a, b) => a.address - b.address);
    return {inside, used_bytes: owner.filter((one) => one !== null).length, largest_bytes: Math.max(0, ...runs.map((run) => run.length)), gap_count: runs.length, pending_bytes: owner.filter((one) => one !== null && one.born + one.given_up <= seq).length,
        rounding_bytes: inside.reduce((sum, one) => sum + one.rounding, 0)};
}

test('segments at a moment are what each of their bytes says', () => {
    let seen = 0, pending = 0, over = 0;
    for (let seed = 1; seed <= 20; seed++) {
        const {segments, rows} = makeRandom(seed), {model, heap} = makeWorld(rows, segments);
        for (const seq of [0, 29, 60, 133, 300, 599, 600, 900]) {
            const found = segmentsAt(model, heap, seq), there = segments.filter((one) => (one.alloc_seq ?? -1) <= seq && (one.free_seq ?? Infinity) > seq), live = rows.filter((row) => isLive(row, seq));
            assert.deepEqual(found.map((one) => one.id), there.map((one) => one.allocation_id), `at ${seq}`);
            for (const [k, segment] of there.entries()) {
                const {inside, ...sums} = countBytes(segment, live, seq), one = found[k], free = 256 - sums.used_bytes;
                assert.deepEqual({...Object.fromEntries(Object.keys(sums).map((name) => [name, one[name]])), free: one.free_bytes, stuck: one.stuck_bytes, count: one.block_count}, {...sums, free, stuck: inside.length > 0 ? free : 0, count: inside.length}, `seed ${seed}, ${segment.allocation_id} at ${seq}`);
                assert.equal(one.parts.reduce((sum, part) => sum + part.to - part.from, 0), 256);
                const shares = new Map();
                inside.forEach((row, rank) => {
                    const site = Number.isNaN(row.stack_id) ? (row.born < 0 ? '(baseline)' : '(no stack)') : SITES[row.stack_id % 4];
                    shares.set(site, (shares.get(site) ?? 0) + (free - free % inside.length) / inside.length + (rank < free % inside.length ? 1 : 0));
                });
                assert.deepEqual(new Map(holdersOf(model, one).map((holder) => [holder.site, holder.hostage_bytes])), shares);
                seen += inside.length;
                pending += sums.pending_bytes;
                over += inside.some((row) => row.address + row.size_bytes + row.rounding > segment.address + 256);
            }
        }
    }
    assert.ok(seen > 1000 && pending > 1000 && over > 10, `${seen} blocks, ${pending} bytes pending, ${over} over an end`);
});

test('what a block occupies goes by what sums count; what is not known of one is not known of its segment, and what is not here of none', () => {
    const rows = [{born: 1, life: NaN, address: 4096, size_bytes: 100, rounding: 28, allocation_id: 1, stack_id: 0}, {born: 2, life: NaN, address: 4096 + 128, size_bytes: 64, allocation_id: 2, stack_id: 1}], segments = [{allocation_id: 9, address: 4096, size_bytes: 256, alloc_seq: 0, free_seq: null}];
    const [requested, block] = ['requested', 'block'].map((basis) => {
        const {model, heap} = makeWorld(rows, segments, basis);
        return segmentsAt(model, heap, 5)[0];
    });
    assert.deepEqual([requested.used_bytes, block.used_bytes, requested.rounding_bytes, requested.gap_count, block.gap_count], [192, 164, null, 1, 2]);
    assert.deepEqual([segmentOf([requested], 4096 + 255)?.id, segmentOf([requested], 4096 + 256), segmentOf(null, 4096)], [9, null, null]);
    const {model, heap} = makeWorld(rows, segments);
    assert.equal(segmentsAt({...model, hasAllBlocks: false}, heap, 5), null);
    assert.equal(segmentsAt(model, heap, null), null);
    assert.equal(segmentsAt(model, {...heap, input: {detail: 'live', detail_begin_seq: null}}, 5), null);
});

test('a place of a bar is the block that is painted there, or the nearest within four pixels', () => {
    for (const [seed, width] of [[3, 300], [4, 97]]) {
        const {segments, rows} = makeRandom(seed), {model, heap} = makeWorld(rows, segments);
        for (const segment of segmentsAt(model, heap, 133)) {
            const pixels = new Array(width).fill(-1), blocks = segment.parts.filter((part) => part.block >= 0);
            for (const part of blocks) {
                const [left, right, pale] = barPlace(segment, part, width, model.blocks.rounding[part.block]);
                assert.ok(right > left && pale >= left && pale <= right && Math.abs((right - pale) - width * model.blocks.rounding[part.block] / 256) <= 2);
                pixels.fill(part.block, left, Math.min(width, right));
            }
            for (let x = 0; x < width; x++) {
                const far = (i) => Math.min(...pixels.flatMap((block, place) => (block === i ? [Math.abs(place - x)] : []))), near = blocks.map((part) => part.block).filter((i) => far(i) <= 4), best = Math.min(...near.map(far)), found = blockOnBar(segment, x + 0.5, width);
                assert.ok(pixels[x] >= 0 ? found === pixels[x] : near.length === 0 ? found === -1 : far(found) === best, `${found} at ${x} of ${width}`);
            }
        }
    }
});

test('the first of many are those of a list that is sorted whole', () => {
    const dice = makeDice(8), keys = Array.from({length: 20000}, () => (dice(50) === 0 ? NaN : dice(3000)));
    for (const isDown of [false, true])
        for (const most of [1, 12, 2012, 30000]) {
            const all = [...keys.keys()].filter((i) => i >= 5 && i % 3 > 0), order = (i) => (Number.isNaN(keys[i]) ? Infinity : isDown ? -keys[i] : keys[i]);
            const {shown, passing} = pickFirst(5, keys.length, (i) => i % 3 > 0, (i) => keys[i], isDown, most);
            assert.equal(passing, all.length);
            assert.deepEqual(shown, all.sort((a, b) => (order(a) === order(b) ? 0 : order(a) - order(b)) || a - b).slice(0, most), `${most} ${isDown}`);
        }
});

test('of a million blocks a table makes those rows alone that it shows', () => {
    const dice = makeDice(9), rows = Array.from({length: 1000000}, (_, i) => ({born: i, life: 1 + dice(100), address: 4096, size_bytes: 1 + dice(1 << 20), stack_id: dice(4), allocation_id: i + 1, rounding: 0})), {model, heap} = makeWorld(rows, []);
    let asked = 0;
    const source = blockSource(model, heap, (i) => i % 2 === 0, -1, () => true), filter = (text) => {
        asked++;
        return text === 'two' || text === 'three';
    };
    const {shown, passing} = source.pick({sort: null, isDown: true, most: 12, filter}), wanted = rows.filter((row, i) => i % 2 === 0 && [1, 2].includes(row.stack_id)).sort((a, b) => b.size_bytes - a.size_bytes || a.allocation_id - b.allocation_id);
    assert.deepEqual([passing, shown.map((row) => row.i + 1)], [wanted.length, wanted.slice(0, 12).map((row) => row.allocation_id)]);
    assert.ok(asked < 20, `${asked} names were asked`);
    const bySite = source.pick({sort: 'site', isDown: false, most: 3, filter: () => true}).shown;
    assert.deepEqual(bySite.map((row) => row.site), ['four', 'four', 'four']);
    const chosen = blockSource(model, heap, () => true, wanted[500].allocation_id - 1, () => false).pick({sort: null, isDown: true, most: 12, filter});
    assert.deepEqual([chosen.shown.length, chosen.shown[0].i], [13, wanted[500].allocation_id - 1], 'the one that is chosen is among them');
});

test('names pass and rank as each by itself does', () => {
    const {segments, rows} = makeRandom(11), {model} = makeWorld(rows, segments), named = (row) => (Number.isNaN(row.stack_id) ? (row.born < 0 ? '(baseline)' : '(no stack)') : SITES[row.stack_id % 4]), category = (row) => ['weight', 'gradient'][row.category_id];
    const passes = passerBy(model, ['site', 'category'], (text) => /^t|grad/.test(text)), rank = ranksBy(model, 'site'), ordered = [...rows].sort((a, b) => a.born - b.born);
    assert.deepEqual(ordered.map((_, i) => passes(i)), ordered.map((row) => /^t|grad/.test(named(row)) || /^t|grad/.test(category(row))));
    for (let i = 1; i < ordered.length; i++)
        assert.equal(Math.sign(rank(i) - rank(i - 1)), named(ordered[i]) < named(ordered[i - 1]) ? -1 : named(ordered[i]) === named(ordered[i - 1]) ? 0 : 1);
});

test('events round a moment are the last before and the first behind it, each with what was live then', () => {
    const {segments, rows} = makeRandom(12), more = {steps: [{begin_seq: 40, number: 1}, {begin_seq: 90, number: 2}, {begin_seq: null, number: 3}], named: [{seq: 61, kind: 'mark', name: 'x'}]}, {model, heap} = makeWorld(rows, segments, 'requested', more);
    const all = [...rows.flatMap((row, i) => [...(row.born >= 0 ? [[row.born, i, 'allocated']] : []), ...(row.given_up > 0 ? [[row.born + row.given_up, i, 'given up']] : []), ...(row.life > 0 ? [[row.born + row.life, i, 'freed']] : [])]),
        ...segments.flatMap((row, i) => [...(row.alloc_seq === null ? [] : [[row.alloc_seq, i, 'segment got']]), ...(row.free_seq === null ? [] : [[row.free_seq, i, 'segment given back']])]), [40, 0, 'step'], [90, 1, 'step'], [61, 0, 'moment']];
    const liveAt = (seq) => rows.filter((row) => isLive(row, seq)).reduce((sum, row) => sum + row.size_bytes, 0), text = (row) => row.join(' ');
    for (const seq of [-1, 0, 45, 61, 90, 133, 700, 5000])
        for (const most of [1, 8, 4000]) {
            const found = eventsAround(model, heap, seq, most, () => true, true), [before, after] = [found.filter((row) => row.seq <= seq), found.filter((row) => row.seq > seq)], [early, late] = [all.filter((row) => row[0] <= seq), all.filter((row) => row[0] > seq)];
            assert.deepEqual([before.length, after.length], [Math.min(most, early.length), Math.min(most, late.length)]);
            assert.deepEqual(before.map((row) => row.seq), early.map((row) => row[0]).sort((a, b) => a - b).slice(-most));
            assert.deepEqual(after.map((row) => row.seq), late.map((row) => row[0]).sort((a, b) => a - b).slice(0, most));
            assert.deepEqual(found.filter((row) => !all.some((one) => text(one) === text([row.seq, row.number, row.kind]))), []);
            assert.equal(new Set(found.map((row) => text([row.seq, row.number, row.kind]))).size, found.length, 'each once');
            assert.deepEqual(found.map((row) => row.live_bytes), found.map((row) => liveAt(row.seq)));
        }
    const own = eventsAround(model, heap, 133, 5, (i) => rows[i].stack_id === 2, false);
    assert.ok(own.length > 5 && own.every((row) => rows[row.number].stack_id === 2));
    assert.equal(eventsAround({...model, hasAllBlocks: false}, heap, 133, 5, () => true, true), null);
    const window = eventsAround({...model, hasAllBlocks: false, windows: new Map([[1, [{from: 100, to: 150}]]])}, heap, 133, 4000, () => true, true);
    assert.deepEqual([window[0].seq, window[window.length - 1].seq], [Math.min(...all.map((row) => row[0]).filter((seq) => seq >= 100)), Math.max(...all.map((row) => row[0]).filter((seq) => seq <= 150))], 'no further than all are known');
});

test('which blocks are in the table', () => {
    const {segments, rows} = makeRandom(13), {model, heap} = makeWorld(rows, segments), picked = (which, values) => [...rows.keys()].filter(wantedBlocks(model, heap, which, {at: '133', from: null, to: null, segment: null, ...values}));
    const numbers = (test) => [...rows.keys()].filter((i) => test(rows[i]));
    assert.deepEqual(picked('live'), numbers((row) => isLive(row, 133)));
    const ended = rows.find((row) => row.life > 0), end = ended.born + ended.life, {born} = rows.find((row) => row.born > end);
    for (const [from, to] of [[60, 90], [end, born], [end + 1, born - 1]])
        assert.deepEqual(picked('range', {from, to}), numbers((row) => row.born <= to && !(row.born + row.life < from)), 'as the map has it');
    assert.deepEqual(picked('range').length, rows.length);
    assert.deepEqual(picked('kept'), numbers((row) => Number.isNaN(row.life)));
    const {address} = segments[1];
    assert.deepEqual(picked('segment', {segment: 901}), numbers((row) => isLive(row, 133) && row.address >= address && row.address < address + 256));
    assert.ok(picked('segment', {segment: 901}).length > 0 && picked('segment', {segment: 7}).length === 0);
    assert.equal(wantedBlocks({...model, hasAllBlocks: false}, heap, 'live', {at: '133'}), null);
});

test('why memory ran out has the labels of the screen, in both languages', () => {
    const finding = {kind: 'out of memory', source_id: 3, evidence: 'WHY  this\u240aHOLDERS  1 MiB  a.c:1 f\u240a2 MiB  b', evidence_zh: '\u539f\u56e0  \u8fd9', remedy: 'hold less', remedy_zh: '\u5c11\u5360'}, model = {byPlace: () => new Map([['\u0001\u0001\u0001\u0001\u0001', [finding]]])};
    assert.deepEqual(whyLines(model, {out_of_memory_id: 3}), [['WHY', 'this'], ['HOLDERS', '1 MiB  a.c:1 f'], ['', '2 MiB  b'], ['FIX', 'hold less']]);
    assert.deepEqual(whyLines(model, {out_of_memory_id: 4, explanation: 'It  was\nfull'}), [['It', 'was'], ['', 'full']]);
    setLanguage('zh');
    assert.deepEqual(whyLines(model, {out_of_memory_id: 3}), [['\u539f\u56e0', '\u8fd9'], ['\u89e3\u51b3', '\u5c11\u5360']]);
    setLanguage('en');
});

test('a budget is a bar for each device', () => {
    const row = (device, part, bytes) => ({host: 'h', rank: null, pid: 1, device, part, bytes}), [first, second] = servingBars([row(0, 'KV cache', 8), row(0, 'free', 4), row(0, 'largest KV cache', 12), row(0, 'said KV cache', 9), row(0, 'weights', 5), row(0, 'rest', 0), row(1, 'KV cache', 1), row(1, 'free', null), row(1, 'largest KV cache', null)]);
    assert.deepEqual([first.device, first.parts.map((part) => [part.name, part.bytes]), first.most, first.said], [0, [['model weights', 5], ['KV cache', 8], ['free on the device', 4]], 12, 9]);
    assert.deepEqual([second.parts.length, second.most, second.said], [1, null, null]);
    assert.equal(new Set(first.parts.map((part) => part.colour)).size, 3);
});
