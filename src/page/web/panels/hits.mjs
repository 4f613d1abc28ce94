/* SPDX-License-Identifier: Apache-2.0
 *
 * How often a pool served by itself, step by step, and what could be done about a pool: the advice of the database, and what other settings would
 * have made of the recorded requests, or the program that says it.
 */
import {make, makeSparkline} from '../pictures/dom.mjs';
import {formatBytes, formatCount, formatPercent, isKnown, NOTHING} from '../state/format.mjs';
import {findingOf, joinTexts} from '../data/model.mjs';
import {makeBar, makeNumbers, makeTable} from '../pictures/table.mjs';
import {inLanguage, say, sayWith} from '../state/words.mjs';

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

/* rows of view z_pool_by_step; null where there are no steps. */
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

const RECORDED = 'as recorded: ';

/* A setting by name: of the recorded one, and of defaults, that it is that. */
function settingName({name, isRecorded}) {
    if (isRecorded)
        return say('recorded');
    const plain = name.startsWith(RECORDED) ? name.slice(RECORDED.length) : name, shown = plain === 'default' ? say('default') : plain;
    return name === plain ? shown : sayWith('as recorded: {setting}', {setting: shown});
}

function fitWord(row) {
    if (row.isRecorded)
        return NOTHING;
    if (row.is_fit === 1)
        return row.capacity_bytes === null ? NOTHING : say('yes');
    return row.failure_seq === null ? say('no, at the beginning') : sayWith('no, at event {event}', {event: formatCount(row.failure_seq)});
}

/* The share of the most that was reserved which is beyond the most that was live. Pure. */
function beyondPeak(live, reserved) {
    return reserved > 0 ? Math.max(0, 1 - live / reserved) : null;
}

/*
 * Rows of table "whatif", the recorded setting first, with what each reserves less than that one, and its rates. A run that ended early reserved
 * less: nothing to compare with. Pure.
 */
export function settingsTried(rows) {
    return rows.map((row) => ({...row, saved_bytes: row.is_fit === 1 && rows[0].is_fit === 1 ? rows[0].reserved_bytes - row.reserved_bytes : null, hit_rate: row.request_count > 0 ? 1 - row.miss_count / row.request_count : 1,
        beyond_ratio: beyondPeak(row.live_bytes, row.reserved_bytes)}));
}

function settingColumn(title, key, format) {
    return {title, key, isNumber: true, show: (row) => format(row[key])};
}

const TRIED_COLUMNS = [{title: 'setting', key: 'name', className: 'site', show: settingName}, {title: 'basis', key: 'isRecorded', className: 'word', show: (row) => say(row.isRecorded ? 'recorded' : 'simulated')}, settingColumn('reserved', 'reserved_bytes', formatBytes), settingColumn('saved', 'saved_bytes', (bytes) => (bytes < 0 ? `\u2212${formatBytes(-bytes)}` : formatBytes(bytes))), settingColumn('beyond peak', 'beyond_ratio', formatPercent),
    settingColumn('stuck', 'stuck_bytes', formatBytes), settingColumn('hit rate', 'hit_rate', formatPercent), settingColumn('calls of the driver', 'call_count', formatCount), settingColumn('smallest device', 'device_bytes', formatBytes), {title: 'fits', key: 'is_fit', className: 'word', show: fitWord}];

/* What the pool did itself, beside what is simulated. */
function recordedRow(heap, facts) {
    return {isRecorded: true, reserved_bytes: heap.peak?.peak_reserved_bytes, saved_bytes: null, beyond_ratio: beyondPeak(heap.peak?.peak_bytes, heap.peak?.peak_reserved_bytes), stuck_bytes: null, hit_rate: facts?.hit_rate, call_count: null, device_bytes: null};
}

/* {element, update(filter)} */
function makeTried(rows, recorded) {
    if (rows.length === 0)
        return {element: make('p', {class: 'note'}, say('A page has the table of them by this, for one database:'), ' ', make('code', null, 'npumem report --whatif')), update: () => {}};
    const table = makeTable(TRIED_COLUMNS, [recorded, ...settingsTried(rows)], {caption: 'The same requests with other settings', rowsShown: 100});
    return {element: make('div', {id: 'pool-tried'}, make('h3', null, say('The same requests with other settings')), table.element,
        make('p', {class: 'note'}, say('Replayed on a simulated allocator (npumem whatif --compare); saved: less reserved than in the replay of the recorded settings.'))), update: table.update};
}

/* In Chinese what table finding says of the measure. */
export function adviceText(model, row) {
    const finding = findingOf(model, row.measure, row, ['verdict']);
    return inLanguage(row.advice, finding ? joinTexts(finding.text_zh, finding.evidence_zh, finding.remedy_zh) : null);
}

/* {element, update(filter)}: health's advice on the heap, the settings that were tried, and how others are. */
export function makeAdvice(model, heap, health, settings, facts) {
    const rows = health.filter((row) => row.advice), table = makeTable([{title: 'measure', key: 'measure', show: (row) => say(row.measure)}, {title: 'verdict', key: 'verdict', show: (row) => say(row.verdict)}, {title: 'advice', key: 'advice', className: 'words', show: (row) => adviceText(model, row)}], rows, {caption: 'Other settings'}), tried = makeTried(settings, recordedRow(heap, facts));
    const element = make('div', {class: 'wide'}, make('div', {id: 'pool-whatif'}, make('h3', null, say('Other settings')), rows.length > 0 && table.element,
        make('p', {class: 'note'}, say('Which settings this run would have needed least with, this says:'), ' ', make('code', null, whatifCommand(heap.input)))), tried.element);
    return {element, update: (filter) => {
        table.update(filter);
        tried.update(filter);
    }};
}
