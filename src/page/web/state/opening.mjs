/* SPDX-License-Identifier: Apache-2.0
 *
 * What a page opens on. Of a run that ran out of memory at its very end the whole is a flat line and a cliff as wide as a few pixels: such a
 * page opens on the stretch in which memory filled up, says so, and one button leads to the whole run.
 */
import {formatCount, formatPercent, isKnown} from './format.mjs';
import {sayWith} from './words.mjs';

const SHARE_MAX = 0.5; /* a stretch that is more of the run is no closer look */
const CONTEXT_MAX = 20; /* so many times as long as memory took to fill up, at most, is what is shown before that */
const AFTER_SHARE = 0.125; /* of what is before the failure is shown behind it, where there is something */

/* The number of the bucket that an event is in, or of the last one before it. */
function bucketBefore(usage, seq) {
    let found = -1;
    for (let i = 0; i < usage.last_seq.length && !(usage.first_seq[i] > seq); i++)
        found = i;
    return found;
}

/* The last event before a failure at which the heap held at most half of what it held then; null: there is none. */
function beginOfRise(usage, seq) {
    const at = bucketBefore(usage, seq), most = at < 0 ? NaN : usage.max_live_bytes[at];
    for (let i = at; i >= 0; i--)
        if (usage.max_live_bytes[i] <= most / 2 && isKnown(usage.last_seq[i]))
            return usage.last_seq[i];
    return null;
}

/* The begin of the step before the one in which an event is; null: there is none. */
function stepBefore(steps, seq) {
    const begun = steps.filter((step) => (step.begin_seq ?? -1) <= seq);
    return begun[begun.length - 2]?.begin_seq ?? null;
}

/*
 * {from, to}: from the begin of the last step before memory filled up to a little behind the failure. null, the whole run: nothing failed for good,
 * what leaked would have been enough (then the run is the story), or the stretch is most of the run. `failures` are rows of view out_of_memory of the
 * heap's process. Pure.
 */
export function openingRange(heap, failures) {
    const failure = failures.find((row) => row.outcome === 'fatal' && row.first_seq !== null), {first, last} = heap.input;
    if (!failure || !heap.usage || (failure.leaked_bytes ?? 0) >= (failure.needed_bytes ?? Infinity))
        return null;
    const rise = beginOfRise(heap.usage, failure.first_seq);
    if (rise === null)
        return null;
    const length = Math.max(1, failure.first_seq - rise), earliest = rise - CONTEXT_MAX * length, from = Math.max(first, earliest, stepBefore(heap.steps, rise) ?? rise - length);
    const to = Math.min(last, failure.first_seq + 1 + Math.ceil((failure.first_seq - from) * AFTER_SHARE));
    return to - from > SHARE_MAX * (last - first) ? null : {from, to};
}

/* Which part of the run the range of the state is; nothing where it is all of it. */
export function partWord(model, heap, values) {
    const {first, last} = heap.input, from = Math.max(first, values.from ?? first), to = Math.min(last, values.to ?? last), isOpening = model.opening !== null && values.from === model.opening.from && values.to === model.opening.to;
    if (values.from === null && values.to === null)
        return null;
    const amounts = {from: formatCount(from), to: formatCount(to), share: formatPercent((to - from) / (last - first))};
    return sayWith(isOpening ? 'The page opens where memory ran out: events {from} to {to}, {share} of the run.' : 'Events {from} to {to}: {share} of the run.', amounts);
}
