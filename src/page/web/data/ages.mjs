/* SPDX-License-Identifier: Apache-2.0
 *
 * How old blocks became, in steps where steps are known, else in events; of what was never freed, how old it is at the end.
 */
import {formatCount, isKnown} from '../state/format.mjs';
import {countSteps, remember} from './model.mjs';

/* From young to old; none of them is a leak's red, and all differ from the grounds as PALETTE does. */
export const AGE_COLOURS = ['#838e9c', '#6d8ead', '#3d84a8', '#2f8a78', '#6c9935', '#a28a21', '#c27625', '#9e6447', '#7f6477', '#69687a'];
const AGES_MAX = AGE_COLOURS.length;

/* 0: within a step; 1: 1; 2: 2 to 3; 3: 4 to 7, and so on. Of events by powers of ten: 0: below 10. The last is without an end. Pure. */
export function ageClass(age, isSteps) {
    const power = isSteps ? (age < 1 ? 0 : Math.floor(Math.log2(age) + 1e-9) + 1) : age < 10 ? 0 : Math.floor(Math.log10(age) + 1e-9);
    return Math.min(power, AGES_MAX - 1);
}

/* Pure. */
export function ageName(number, isSteps) {
    const isLast = number === AGES_MAX - 1, low = isSteps ? 2 ** (number - 1) : 10 ** number, high = isSteps ? 2 ** number - 1 : 10 ** (number + 1) - 1;
    if (isLast)
        return `${formatCount(low)} ${isSteps ? 'steps' : 'events'} or more`;
    if (!isSteps)
        return `${number === 0 ? 'below 10' : `${formatCount(low)} to ${formatCount(high)}`} events`;
    return number === 0 ? 'within a step' : number === 1 ? '1 step' : `${formatCount(low)} to ${formatCount(high)} steps`;
}

function countAges(model, heap) {
    const {blocks} = model, {steps} = heap, isSteps = steps.length > 0, range = model.blockRanges.get(heap.heap_id), keys = new Uint8Array(blocks?.size_bytes.length ?? 0), seen = new Set();
    const placeOf = (seq) => (isSteps ? countSteps(steps, seq) : seq);
    for (let i = range?.begin ?? 0; range && i < range.end; i++) {
        const born = isKnown(blocks.alloc_seq[i]) ? blocks.alloc_seq[i] : heap.input.first, ended = isKnown(blocks.free_seq[i]) ? blocks.free_seq[i] : heap.input.last;
        keys[i] = ageClass(placeOf(ended) - placeOf(born), isSteps);
        seen.add(keys[i]);
    }
    return {keys, isSteps, names: [...seen].sort((a, b) => a - b).map((number) => ageName(number, isSteps))};
}

/* {keys, nameOf(i), colour(name), names}: what the map needs to colour by age. */
export function agesOf(model, heap) {
    const {keys, isSteps, names} = remember(model, `ages ${heap.heap_id}`, () => countAges(model, heap));
    const colours = new Map(AGE_COLOURS.map((colour, number) => [ageName(number, isSteps), colour]));
    return {keys, names, nameOf: (i) => ageName(keys[i], isSteps), colour: (name) => colours.get(name)};
}
