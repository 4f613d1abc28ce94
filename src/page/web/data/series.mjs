/* SPDX-License-Identifier: Apache-2.0
 *
 * What was held, as step functions over the order of events, and the most of them between any two places. A curve is {seqs, values}: from
 * event seqs[i] on it is values[i]. Where the page has every block, curves have a step for each event, so that no peak is lost however
 * close one looks; else they are made of the buckets of `usage`, whose maxima are exact.
 */
import {namerOf} from './groups.mjs';
import {hasEveryBlock, remember} from './model.mjs';

/* The first place in a rising array that is at `seq` or behind it. */
export function firstFrom(seqs, seq) {
    let low = 0, high = seqs.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (seqs[middle] < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The numbers of what has a place, in the order of the places. Numbers are sorted many times faster than by a function, so the place
 * goes above the number in one of them: that is exact while places times count stay below 2^53. NaN has no place, or is at `missing`. */
function orderOf(places, missing) {
    const above = 2 ** Math.ceil(Math.log2(places.length + 1)), keys = new Float64Array(places.length);
    let count = 0, isRising = true;
    for (let i = 0; i < places.length; i++) {
        const place = Number.isNaN(places[i]) ? missing : places[i];
        if (Number.isNaN(place))
            continue;
        keys[count] = place * above + i;
        isRising = isRising && (count === 0 || keys[count] > keys[count - 1]);
        count++;
    }
    const sorted = isRising ? keys : keys.subarray(0, count).sort(), numbers = new Uint32Array(count);
    for (let k = 0; k < count; k++) {
        const place = Math.floor(sorted[k] / above);
        numbers[k] = sorted[k] - place * above;
        sorted[k] = place;
    }
    return {places: sorted.subarray(0, count), numbers};
}

const DENSE_MAX = 8; /* places a block, up to which all places are counted through */

/* From where to where births and ends are. */
function rangeOfPlaces(births, ends) {
    let first = Infinity, last = -Infinity;
    for (const places of [births, ends])
        for (let i = 0; i < places.length; i++) {
            const place = places[i] !== places[i] ? -1 : places[i];
            first = place < first ? place : first;
            last = place > last ? place : last;
        }
    return {first, width: last >= first ? last - first + 1 : Infinity};
}

/* Where nearly each place has a birth or an end, what changes there is summed up in the order of the blocks, and nothing is sorted. */
function curveOfPlaces(births, ends, sizes, {first, width}) {
    const changes = new Float64Array(width), isTouched = new Uint8Array(width);
    for (let i = 0; i < births.length; i++) {
        const born = (births[i] !== births[i] ? -1 : births[i]) - first, ended = ends[i] - first;
        changes[born] += sizes[i];
        isTouched[born] = 1;
        if (ended >= 0) {
            changes[ended] -= sizes[i];
            isTouched[ended] = 1;
        }
    }
    const seqs = new Float64Array(width);
    let count = 0, held = 0;
    for (let at = 0; at < width; at++)
        if (isTouched[at] === 1) {
            seqs[count] = at + first;
            changes[count++] = held += changes[at]; /* what is before `at` has been read */
        }
    return {seqs: seqs.subarray(0, count), values: changes.subarray(0, count)};
}

/* What blocks held, from their births and ends (NaN: before the recording, which is at -1, and never). */
export function makeCurve(births, ends, sizes) {
    const span = rangeOfPlaces(births, ends);
    return span.width <= DENSE_MAX * births.length ? curveOfPlaces(births, ends, sizes, span) : curveOfOrder(births, ends, sizes);
}

/* The same from places that are few in a wide range. */
function curveOfOrder(births, ends, sizes) {
    const born = orderOf(births, -1), gone = orderOf(ends, NaN), seqs = new Float64Array(born.places.length + gone.places.length), values = new Float64Array(seqs.length);
    let count = 0, held = 0;
    for (let i = 0, j = 0; i < born.places.length || j < gone.places.length; count++) {
        const seq = Math.min(born.places[i] ?? Infinity, gone.places[j] ?? Infinity);
        for (; born.places[i] === seq; i++)
            held += sizes[born.numbers[i]];
        for (; gone.places[j] === seq; j++)
            held -= sizes[gone.numbers[j]];
        seqs[count] = seq;
        values[count] = held;
    }
    return {seqs: seqs.subarray(0, count), values: values.subarray(0, count)};
}

/* From points in order; of several at one place the last counts, and NaN changes nothing. */
function curveOfPoints(points) {
    const seqs = [], values = [];
    for (const [seq, value] of points) {
        if (Number.isNaN(value))
            continue;
        if (seq === seqs[seqs.length - 1])
            values.pop();
        else
            seqs.push(seq);
        values.push(value);
    }
    return {seqs: Float64Array.from(seqs), values: Float64Array.from(values)};
}

/* Of the buckets: what was live when one began, its exact maximum, and its end. */
export function liveOfUsage(usage) {
    const points = [];
    for (let i = 0, before = 0; usage && i < usage.last_seq.length; before = usage.live_bytes[i++]) {
        if (Number.isNaN(usage.last_seq[i])) {
            points.push([-1, usage.live_bytes[i]]);
            continue;
        }
        if (usage.first_seq[i] < usage.max_seq[i])
            points.push([usage.first_seq[i], before]);
        points.push([usage.max_seq[i], usage.max_live_bytes[i]]);
        if (usage.last_seq[i] > usage.max_seq[i])
            points.push([usage.last_seq[i], usage.live_bytes[i]]);
    }
    return curveOfPoints(points);
}

/* What the pool had reserved at the ends of buckets. */
export function reservedOfUsage(usage) {
    const points = [];
    for (let i = 0; usage && i < usage.last_seq.length; i++)
        points.push([Number.isNaN(usage.last_seq[i]) ? -1 : usage.last_seq[i], usage.reserved_bytes[i]]);
    return curveOfPoints(points);
}

export function valueAt(curve, seq) {
    const at = firstFrom(curve.seqs, seq + 0.5) - 1;
    return at < 0 ? 0 : curve.values[at];
}

/* Two rising arrays as one, what is in both once: the shorter one is put between pieces of the other. */
function unionOf(few, many) {
    const all = new Float64Array(few.length + many.length);
    let count = 0, copied = 0;
    for (const seq of few) {
        const at = firstFrom(many, seq);
        all.set(many.subarray(copied, at), count);
        count += at - copied;
        copied = at;
        if (many[at] !== seq)
            all[count++] = seq;
    }
    all.set(many.subarray(copied), count);
    return all.subarray(0, count + many.length - copied);
}

/* The values of a curve at each of `seqs`, among which are all of its own. */
function spreadOver(seqs, curve) {
    if (curve.seqs.length === seqs.length)
        return curve.values;
    const column = new Float64Array(seqs.length);
    if (16 * curve.seqs.length < seqs.length) {
        curve.seqs.forEach((seq, i) => column.fill(curve.values[i], firstFrom(seqs, seq), i + 1 < curve.seqs.length ? firstFrom(seqs, curve.seqs[i + 1]) : seqs.length));
        return column;
    }
    for (let i = 0, next = 0, held = 0; i < seqs.length; i++) {
        if (curve.seqs[next] === seqs[i])
            held = curve.values[next++];
        column[i] = held;
    }
    return column;
}

/* Several curves on the events of all of them: {seqs, columns}. */
export function alignCurves(curves) {
    const seqs = curves.map((curve) => curve.seqs).sort((a, b) => a.length - b.length).reduce((few, many) => (few.length === 0 ? many : unionOf(few, many)), new Float64Array(0));
    return {seqs, columns: curves.map((curve) => spreadOver(seqs, curve))};
}

/* ---- The most between two places ---- */

const FAN = 16;

/* Levels of which each has the place of the most of 16 below. Of places that are alike in `values` that with more of `second` counts. */
export function makeMaxima(values, second = values) {
    const isMore = (i, j) => values[i] > values[j] || (values[i] === values[j] && (second[i] > second[j] || (second[i] === second[j] && i < j)));
    const levels = [];
    for (let count = values.length, below = null; count > 1; count = below.length) {
        const level = new Uint32Array(Math.ceil(count / FAN));
        for (let at = 0, i = 0; at < level.length; at++) {
            let best = below === null ? i : below[i], most = values[best];
            for (const end = Math.min(count, i + FAN); i < end; i++) {
                const place = below === null ? i : below[i], value = values[place];
                if (value > most || (value === most && isMore(place, best))) {
                    best = place;
                    most = value;
                }
            }
            level[at] = best;
        }
        levels.push(below = level);
    }
    return {isMore, levels, count: values.length};
}

/* The place of the most of those from `begin` to before `end`, the first of several; -1: there are none. */
export function findMost(maxima, begin, end) {
    let best = -1, low = Math.max(0, begin), high = Math.min(end, maxima.count);
    const take = (place) => {
        best = best < 0 || maxima.isMore(place, best) ? place : best;
    };
    for (let level = -1; low < high; level++) {
        const placeOf = level < 0 ? (i) => i : (i) => maxima.levels[level][i], isTop = level + 1 >= maxima.levels.length;
        for (; low < high && (isTop || low % FAN !== 0); low++)
            take(placeOf(low));
        for (; low < high && high % FAN !== 0; high--)
            take(placeOf(high - 1));
        low /= FAN;
        high /= FAN;
    }
    return best;
}

/* For each column of pixels the place of the most that was held within it, what was held when it begins included; -1: nothing yet. */
export function mostByPixel(seqs, maxima, scale, count) {
    const places = new Int32Array(count);
    let from = scale.firstSeq, next = firstFrom(seqs, from);
    for (let x = 0; x < count; x++) {
        const to = x + 1 === count ? scale.lastSeq + 0.5 : scale.toSeq(scale.left + x + 1), begin = seqs[next] === from ? next : next - 1, end = Math.max(firstFrom(seqs, to), next);
        places[x] = findMost(maxima, begin, Math.max(end, begin + 1));
        from = to;
        next = end;
    }
    return places;
}

/* ---- What a device held ---- */

/* Where every block is here: from blocks and segments. Of several pools with blocks in a segment the one that is asked first has it: `seen`. */
function exactSource(model) {
    const {blocks} = model, seen = new Set();
    const live = (heap) => remember(model, `live ${heap.heap_id}`, () => {
        const {begin, end} = model.blockRanges.get(heap.heap_id) ?? {begin: 0, end: 0}, column = (name) => (blocks ? blocks[name].subarray(begin, end) : []);
        return makeCurve(column('alloc_seq'), column('free_seq'), column('size_bytes'));
    });
    const reserved = (heap) => {
        const rows = (model.segments.get(heap.heap_id) ?? []).filter((row) => !seen.has(row.allocation_id));
        rows.forEach((row) => seen.add(row.allocation_id));
        return rows.length > 0 ? makeCurve(rows.map((row) => row.alloc_seq ?? -1), rows.map((row) => row.free_seq ?? NaN), rows.map((row) => row.size_bytes)) : reservedOfUsage(heap.usage);
    };
    return {live, reserved, isExact: true, hasSegments: (heap) => model.segments.has(heap.heap_id)};
}

function usageSource(model) {
    const live = (heap) => remember(model, `live ${heap.heap_id}`, () => liveOfUsage(heap.usage));
    return {live, reserved: (heap) => reservedOfUsage(heap.usage), isExact: false, hasSegments: () => false};
}

export function sourceFor(model, heap) {
    return hasEveryBlock(model, heap.input) ? exactSource(model) : usageSource(model);
}

/* Which heaps make up the memory of the device that `heap` is of, itself first; of the host it is the heap alone. */
function heapsOfDevice(model, heap) {
    const isOf = (one, levels) => one !== heap && one.process_id === heap.process_id && one.device_id === heap.device_id && levels.includes(one.level) && one.usage;
    if (heap.device_id === null)
        return {pools: [], drivers: [], own: heap};
    const isPool = heap.level === 'pool' || heap.level === 'workspace', isDriver = heap.level === 'driver';
    return {pools: [...(isPool ? [heap] : []), ...model.heaps.filter((one) => isOf(one, ['pool', 'workspace']))], drivers: [...(isDriver ? [heap] : []), ...model.heaps.filter((one) => isOf(one, ['driver']))], own: heap};
}

/* What lies in the driver's memory and in no pool: pools that only stated what they hold, or of which segments are not known, are taken out. */
function leaveOut(driver, pools, count) {
    if (pools.length === 0)
        return driver;
    const rest = new Float64Array(driver);
    for (const pool of pools)
        for (let i = 0; i < count; i++)
            rest[i] -= pool[i];
    for (let i = 0; i < count; i++)
        rest[i] = rest[i] > 0 ? rest[i] : 0;
    return rest;
}

function less(held, live) {
    const rest = new Float64Array(held.length);
    for (let i = 0; i < held.length; i++)
        rest[i] = held[i] > live[i] ? held[i] - live[i] : 0;
    return rest;
}

/* In use by what the device said, and not recorded: as it was when the device was asked last. */
function othersOf(aligned, layers, samples) {
    const values = samples.values.map((bytes, k) => {
        const i = firstFrom(aligned.seqs, samples.seqs[k]);
        return Math.max(0, bytes - layers.reduce((sum, layer) => sum + layer.values[i], 0));
    });
    return spreadOver(aligned.seqs, {seqs: samples.seqs, values});
}

function samplesOf(model, heap) {
    return curveOfPoints((model.samples.get(heap.device_id) ?? []).map((row) => [row.seq, row.used_bytes]));
}

function totalOf(layers, count) {
    const total = new Float64Array(count);
    for (const {values} of layers)
        for (let i = 0; i < count; i++)
            total[i] += values[i];
    return total;
}

function layersOfDevice(model, heap, source) {
    const {pools, drivers} = heapsOfDevice(model, heap), samples = samplesOf(model, heap), live = pools.map(source.live), reserved = pools.map(source.reserved);
    const aligned = alignCurves([...live, ...reserved, ...drivers.map(source.live), samples]), {columns} = aligned, count = aligned.seqs.length, layers = [];
    pools.forEach((pool, i) => layers.push({heap: pool, part: 'allocated', values: columns[i]}, {heap: pool, part: 'free', values: less(columns[pools.length + i], columns[i])}));
    const outside = pools.map((pool, i) => (source.hasSegments(pool) ? null : columns[pools.length + i])).filter((column) => column !== null);
    drivers.forEach((driver, i) => {
        const values = columns[2 * pools.length + i], isProgram = driver.module === null || driver.module === 'APP';
        layers.push({heap: driver, part: pools.length > 0 ? 'other' : 'live', values: isProgram ? leaveOut(values, outside, count) : values});
    });
    if (samples.seqs.length > 0)
        layers.push({heap: null, part: 'unexplained', values: othersOf(aligned, layers, samples)});
    return {seqs: aligned.seqs, layers: layers.filter((layer, i) => i === 0 || layer.values.some((bytes) => bytes > 0))};
}

/*
 * All that the timeline shows of a heap: {seqs, layers: [{heap, part, values}] from below, total, maxima, lines: [{heap, curve, maxima}], isExact}.
 * Of the lines the first is what was live in the heap itself, others are memory that is not of the device.
 */
export function makePicture(model, heap) {
    const source = sourceFor(model, heap), lineOf = (one) => {
        const curve = source.live(one);
        return {heap: one, curve, maxima: makeMaxima(curve.values)};
    };
    const held = heap.device_id === null ? null : layersOfDevice(model, heap, source), own = heap.level === 'driver' || heap.level === 'physical' ? lineOfUsage(heap) : lineOf(heap);
    const {seqs, layers} = held && held.layers.length > 0 ? held : {seqs: own.curve.seqs, layers: [{heap, part: 'live', values: own.curve.values}]};
    const total = totalOf(layers, seqs.length), pinned = heap.device_id === null ? [] : model.heaps.filter((one) => one.level === 'pinned' && one.process_id === heap.process_id && one.usage);
    return {seqs, layers, total, maxima: makeMaxima(total, layers[0]?.values ?? total), lines: [own, ...pinned.map(lineOf)], isExact: source.isExact};
}

/* ---- What a heap was made of ---- */

const GROUP_LAYERS = 12; /* more groups than that are one layer, the rest */

/* What a picture can be parted by beside its components: not where blocks are missing, nor what is made of segments. Pure. */
export function partingsOf(model, heap, groupings) {
    const isCountable = model.blocks !== null && hasEveryBlock(model, heap.input) && model.blockRanges.has(heap.heap_id) && !['driver', 'physical'].includes(heap.level);
    return ['component', ...(isCountable ? groupings.filter((kind) => ['site', 'category', 'module'].includes(kind)) : [])];
}

/* What tells a layer apart from others of its picture, in the address too. */
export function keyOfLayer({part, name, heap}) {
    return part === 'group' ? name : part === 'rest' ? ':rest' : `${heap?.heap_id ?? ''}:${part}`;
}

/* Numbers of the blocks of each group of a heap: the groups that fill most of the picture, bytes times events, and behind them all others as one. */
function splitByGroup(model, heap, by) {
    const {blocks} = model, {begin, end} = model.blockRanges.get(heap.heap_id), {first, last} = heap.input, nameOf = namerOf(model, by), groups = new Map();
    for (let i = begin; i < end; i++) {
        const group = groups.get(nameOf(i)) ?? {name: nameOf(i), area: 0, numbers: []}, born = blocks.alloc_seq[i], freed = blocks.free_seq[i];
        group.area += blocks.size_bytes[i] * ((freed === freed ? freed : last) - (born === born ? born : first));
        group.numbers.push(i);
        groups.set(group.name, group);
    }
    const sorted = [...groups.values()].sort((a, b) => b.area - a.area || (a.name < b.name ? -1 : 1)), most = sorted.slice(0, GROUP_LAYERS), rest = sorted.slice(GROUP_LAYERS);
    return [...most.map(({name, numbers}) => ({part: 'group', name, numbers})), ...(rest.length > 0 ? [{part: 'rest', count: rest.length, numbers: rest.flatMap((group) => group.numbers)}] : [])];
}

function curveOfBlocks({blocks}, numbers) {
    return makeCurve(...['alloc_seq', 'free_seq', 'size_bytes'].map((name) => Float64Array.from(numbers, (i) => blocks[name][i])));
}

/* A picture as of makePicture, by what blocks are called; each of its layers has a curve of its own, which is read where the picture is drawn. */
function makeGroupPicture(model, heap, by) {
    const whole = heldBy(model, heap), {curve, maxima} = whole.lines[0], layers = splitByGroup(model, heap, by).map(({numbers, ...layer}) => ({...layer, curve: curveOfBlocks(model, numbers)}));
    return {seqs: curve.seqs, layers, total: curve.values, maxima, lines: whole.lines, isExact: whole.isExact};
}

/* What a layer held at a place of its picture. */
export function heldByLayer(picture, layer, at) {
    return at < 0 ? 0 : layer.curve ? valueAt(layer.curve, picture.seqs[at]) : layer.values[at];
}

/* The picture without some of its layers: where most was held is counted anew. */
function leaveLayers(picture, hidden) {
    const layers = picture.layers.filter((layer) => !hidden.includes(keyOfLayer(layer))), columns = layers.map((layer) => ({values: layer.curve ? spreadOver(picture.seqs, layer.curve) : layer.values}));
    const total = totalOf(columns, picture.seqs.length);
    return layers.length === 0 ? picture : {...picture, layers, total, maxima: makeMaxima(total), hidden: picture.layers.filter((layer) => !layers.includes(layer))};
}

/* The picture of a heap by one of its partings, without the layers whose keys are hidden: made when it is first asked for, and once more when the blocks have come. */
export function heldBy(model, heap, by = 'component', hidden = []) {
    const whole = remember(model, `held ${heap.heap_id} ${by}`, () => (by === 'component' ? makePicture(model, heap) : makeGroupPicture(model, heap, by)));
    if (hidden.length === 0)
        return whole;
    const key = hidden.join('\n'), last = model.cached.get('held but');
    if (last?.whole !== whole || last.key !== key)
        model.cached.set('held but', {whole, key, picture: leaveLayers(whole, hidden)});
    return model.cached.get('held but').picture;
}

/* Driver memory carries segments, which are no blocks of the page: what it held stands in its buckets. */
function lineOfUsage(heap) {
    const curve = liveOfUsage(heap.usage);
    return {heap, curve, maxima: makeMaxima(curve.values)};
}
