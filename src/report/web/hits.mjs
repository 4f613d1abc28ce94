/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a pool served by itself, step by step, and what could be done about a pool: the advice of the database, and the program that tries
 * other settings on the recorded requests.
 */
import {make, makeSparkline} from './dom.mjs';
import {formatCount, formatPercent, isKnown} from './format.mjs';
import {makeBar, makeNumbers, makeTable} from './table.mjs';
import {say, sayWith} from './words.mjs';

const CURVE_WIDTH = 620, CURVE_HEIGHT = 64;

/* No more points than `most`; of each group the least, so that no bad step is lost. Pure. */
export function thinLeast(values, most) {
    if (values.length <= most)
        return values;
    return Array.from({length: most}, (_, i) => Math.min(...values.slice(Math.floor(i * values.length / most), Math.floor((i + 1) * values.length / most))));
}

/* The step with the lowest rate; the later of two. Pure. */
export function worstStep(rows) {
    return rows.reduce((worst, row) => (worst === null || row.hit_rate <= worst.hit_rate ? row : worst), null);
}

const STEP_COLUMNS = [{title: 'step', key: 'step', isNumber: true, show: (row) => (isKnown(row.step) ? formatCount(row.step) : say('before the first'))}, {title: 'warm-up', key: 'is_warm_up', show: (row) => (row.is_warm_up === 1 ? say('yes') : '')},
    {title: 'requests', key: 'allocation_count', isNumber: true, show: (row) => formatCount(row.allocation_count)}, {title: 'misses', key: 'miss_count', isNumber: true, show: (row) => formatCount(row.miss_count)},
    {title: 'hit rate', key: 'hit_rate', show: (row) => makeBar(row.hit_rate, formatPercent(row.hit_rate), 'var(--good)')}];

/* rows of view _pool_by_step; null where there are no steps. */
export function showHits(rows) {
    const known = rows.filter((row) => isKnown(row.hit_rate)), warm = known.filter((row) => row.is_warm_up !== 1), worst = worstStep(warm);
    if (known.length < 2)
        return null;
    const values = known.map((row) => row.hit_rate), label = sayWith('hit rate of {count} steps, from {first} to {last}', {count: formatCount(known.length), first: formatPercent(values[0]), last: formatPercent(values[values.length - 1])});
    return make('div', {class: 'wide', id: 'pool-hits'}, make('h3', null, say('Hit rate by step')), makeSparkline(thinLeast(values, CURVE_WIDTH / 2), CURVE_WIDTH, CURVE_HEIGHT, label),
        make('p', {class: 'note'}, worst === null ? label : sayWith('{label}; lowest after the warm-up: {rate} in step {step}', {label, rate: formatPercent(worst.hit_rate), step: formatCount(worst.step)})),
        makeNumbers('Steps of the pool', STEP_COLUMNS, () => rows));
}

const SAFE_WORD = /^[\w./:=+@%-]+$/;

/* A word as a shell takes it. Pure. */
export function quoteWord(text) {
    return SAFE_WORD.test(text) && !text.startsWith('-') ? text : `'${(text.startsWith('-') ? './' : '') + text.replaceAll("'", "'\\''")}'`;
}

/* What is to be typed to try other settings on what was recorded. Pure. */
export function whatifCommand(input) {
    return `npumem whatif --suggest ${quoteWord((input?.path ?? 'run.zst').split('/').pop())}`;
}

/* {element, update(filter)}: health's advice on the heap, and how other settings are tried, for the database holds no results of that. */
export function makeAdvice(health, input) {
    const rows = health.filter((row) => row.advice), table = makeTable([{title: 'measure', key: 'measure'}, {title: 'verdict', key: 'verdict'}, {title: 'advice', key: 'advice', className: 'words'}], rows, {caption: 'Other settings'});
    const element = make('div', {class: 'wide', id: 'pool-whatif'}, make('h3', null, say('Other settings')), rows.length > 0 && table.element,
        make('p', {class: 'note'}, say('What other settings would have done to the same requests is not in a database; this says it:'), ' ', make('code', null, whatifCommand(input))));
    return {element, update: table.update};
}
