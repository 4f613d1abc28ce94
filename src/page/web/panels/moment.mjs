/* SPDX-License-Identifier: Apache-2.0
 *
 * Moments of a heap by name: its peak and end, failures, marks, the begins of steps, and whatever was clicked. A moment is named in the state as
 * 'peak', 'end' or the number of an event: what is meant is right after that event.
 */
import {make, makeChoice} from '../pictures/dom.mjs';
import {formatBytes, formatCount} from '../state/format.mjs';
import {stepAt} from '../data/model.mjs';
import {clockOf, hasPeak, momentSeq} from './timeline.mjs';
import {say, sayWith} from '../state/words.mjs';

const NAMED_MAX = 100;

const NAMES = {failure: 'failed allocation', 'device peak': 'peak of the device', reserve: 'the pool held most'};

/* What a moment is called: a mark by its own name. */
export function momentName(moment) {
    return moment.kind === 'mark' ? moment.name ?? say('mark') : say(NAMES[moment.kind]);
}

/* [{seq, text}] in their order: marks and failures of the process, when the pool held most, the peak of its device. Pure. */
export function namedMoments(heap) {
    const seen = new Set(), found = [];
    for (const moment of [...heap.named].sort((a, b) => a.seq - b.seq)) {
        const text = momentName(moment), key = `${moment.seq} ${text}`;
        if (seen.has(key))
            continue;
        seen.add(key);
        found.push({seq: moment.seq, text: sayWith('{text}, event {event}', {text, event: formatCount(moment.seq)})});
    }
    return found.slice(0, NAMED_MAX);
}

/* The moment in words. */
export function momentText(heap, at) {
    const seq = momentSeq(heap, at);
    if (at === 'peak' && hasPeak(heap))
        return sayWith('the peak ({bytes})', {bytes: formatBytes(heap.peak?.peak_bytes)});
    if (at === 'end' || at === 'peak' || seq === null)
        return say('the end');
    const step = stepAt(heap.steps, seq), time = clockOf(heap)(seq);
    return [sayWith('event {event}', {event: formatCount(seq)}), step && sayWith('step {step}', {step: formatCount(step.number)}), time].filter((part) => part).join(', ');
}

function chooseNamed(heap, value, label, onChoose) {
    const moments = namedMoments(heap);
    if (moments.length === 0)
        return null;
    const isOne = moments.some((moment) => String(moment.seq) === value);
    return make('select', {'aria-label': label, onchange: (event) => event.target.value !== '' && onChoose(event.target.value)},
        make('option', {value: '', selected: !isOne}, say('failures and marks')), moments.map((moment) => make('option', {value: String(moment.seq), selected: String(moment.seq) === value}, moment.text)));
}

/* The begin of a step, by its number. */
function chooseStep(heap, value, label, onChoose) {
    const steps = heap.steps.filter((step) => step.begin_seq !== null);
    if (steps.length === 0)
        return null;
    const chosen = steps.find((step) => String(step.begin_seq) === value);
    return make('label', {class: 'note'}, say('begin of step'), ' ', make('input', {type: 'number', class: 'step', 'aria-label': label, min: steps[0].number, max: steps[steps.length - 1].number, value: chosen?.number ?? null, onchange: (event) => {
        const step = steps.find((one) => one.number === Number(event.target.value));
        if (step)
            onChoose(String(step.begin_seq));
    }}));
}

/* What a moment can be picked by, beside a click on the timeline. `label` says which moment it is, for who cannot see it. */
export function makeMomentChoice(heap, value, label, onChoose) {
    return [hasPeak(heap) && makeChoice('the peak', value === 'peak', () => onChoose('peak')), makeChoice('the end', value === 'end', () => onChoose('end')),
        chooseNamed(heap, value, `${label}: ${say('failures and marks')}`, onChoose), chooseStep(heap, value, `${label}: ${say('begin of step')}`, onChoose)];
}
