/* SPDX-License-Identifier: Apache-2.0
 *
 * The one place that holds what is being looked at. It stands in the address of the page, behind '#', so that a link shows the same
 * picture. Whoever changes it calls set(); whoever shows it subscribes.
 *
 *   heap    number of the heap that is drawn          from, to  range of events; null: all, as a word of the address "all"
 *   at      'peak', 'end' or the number of an event   low, high range of the map's addresses; null: all
 *   site    the site that is looked at, a text        block     number of an allocation
 *   search  a regular expression                      theme     'light' or 'dark'; null: as the system has it
 *   axis    'time', 'event' or 'step'                 lang      'en' or 'zh'
 *   group   how what is live is summed up             colour    what the map is coloured by
 *   ask     name of the query or view that is asked   with      values of its parameters, as "a=1&b=2"
 *   sql     its text, where it was changed              lay       what curves of ranks, or of two runs, go by
 *   database  which of two is asked: 'A' or 'B'
 *   since   a moment, as `at`: what is live is          stack     number of a stack: the row of what is live
 *           compared with that; null: with nothing                that is open
 *   stepa, stepb  places in the list of a heap's steps: two that are laid over each other; null: the median and the worst
 *   zoom    labels from the whole of the picture of
 *           what is live to its part that is shown, a line each
 *   layers  what the timeline is parted by             hide    keys of its layers that are not shown, a line each
 *   segment number of a segment that is open           rows    which blocks are in their table: 'live', 'range', 'kept' or 'segment'
 *   found   a number, not in the address: another one when the search has found more
 */
import {LINES, shown} from './shown.mjs';

const NUMBERS = ['heap', 'from', 'to', 'low', 'high', 'block', 'stack', 'stepa', 'stepb', 'segment'];
const TEXTS = ['at', 'since', 'site', 'search', 'zoom', 'layers', 'hide', 'theme', 'axis', 'lang', 'group', 'colour', 'ask', 'sql', 'with', 'lay', 'database', 'rows'];
const ALL = 'all';

export function readHash(hash) {
    const values = {}, words = new URLSearchParams(hash.replace(/^#/, ''));
    for (const name of NUMBERS)
        if (words.get(name) === ALL)
            values[name] = null;
        else if (words.has(name) && Number.isFinite(Number(words.get(name))))
            values[name] = Number(words.get(name));
    for (const name of TEXTS)
        if (words.has(name))
            values[name] = shown(words.get(name), LINES);
    return values;
}

export function writeHash(values, defaults) {
    const words = new URLSearchParams();
    for (const name of [...NUMBERS, ...TEXTS])
        if (values[name] !== null && values[name] !== defaults[name])
            words.set(name, String(values[name]));
    /* A page that opens on a range says in its links where that is not meant. */
    for (const name of ['from', 'to'])
        if (values[name] === null && isFinite(defaults[name] ?? NaN))
            words.set(name, ALL);
    return words.toString();
}

/* `values` are those at first. */
export function makeState(defaults, values) {
    const listeners = [];
    const state = {
        values,
        set(changes) {
            const before = state.values;
            state.values = {...before, ...changes};
            for (const listener of listeners)
                listener(state.values, before);
        },
        subscribe: (listener) => listeners.push(listener),
        hash: () => writeHash(state.values, defaults),
    };
    return state;
}
