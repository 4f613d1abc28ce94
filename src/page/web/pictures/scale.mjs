/* SPDX-License-Identifier: Apache-2.0
 *
 * Places on an axis. Pictures of one input share the axis of its events; where times are known it may be one of time instead, and
 * everything else still speaks of events.
 */

/* Interpolates in a rising array; outside it is the nearest end. */
export function interpolate(from, to, value) {
    let low = 0, high = from.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (from[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    if (low === 0)
        return to[0];
    if (low === from.length)
        return to[to.length - 1];
    const width = from[low] - from[low - 1];
    return to[low - 1] + (to[low] - to[low - 1]) * (width > 0 ? (value - from[low - 1]) / width : 0);
}

/* clock: {seqs, times}, both rising, or null: places are events. With textOf(place) it is no clock of times: whole places have names. The
 * range is of events. */
export function makeScale(fromSeq, toSeq, left, right, clock) {
    const place = (seq) => (clock ? interpolate(clock.seqs, clock.times, seq) : seq);
    const begin = place(fromSeq), width = Math.max(place(toSeq) - begin, 1e-9), perUnit = (right - left) / width;
    return {
        firstSeq: fromSeq, lastSeq: toSeq, left, right, begin, end: begin + width, isTime: clock !== null && !clock.textOf, textOf: clock?.textOf ?? null,
        toX: (seq) => left + (place(seq) - begin) * perUnit,
        toSeq: (x) => {
            const value = begin + (x - left) / perUnit;
            return Math.min(toSeq, Math.max(fromSeq, clock ? interpolate(clock.times, clock.seqs, value) : value));
        },
        placeToX: (value) => left + (value - begin) * perUnit,
    };
}

/* Round values within a range, about `count` of them, never -0. base: 10 for counts and times, 2 for bytes. */
export function niceTicks(from, to, count, base) {
    const rough = (to - from) / Math.max(count, 1);
    if (!(rough > 0))
        return [];
    const power = base === 2 ? 2 ** Math.floor(Math.log2(rough)) : 10 ** Math.floor(Math.log10(rough));
    const factors = base === 2 ? [1, 2] : [1, 2, 5, 10];
    const step = power * factors.find((factor) => power * factor >= rough * 0.999);
    const ticks = [];
    for (let value = Math.ceil(from / step) * step + 0; value <= to + step * 1e-9 && ticks.length < 100; value += step)
        ticks.push(value);
    return ticks;
}
