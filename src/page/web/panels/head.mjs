/* SPDX-License-Identifier: Apache-2.0
 *
 * The head: which run this is, whether it is all there, and what is asked of all panels at once.
 */
import {make, put} from '../pictures/dom.mjs';
import {formatCount, formatTime} from '../state/format.mjs';
import {makeSettings} from './settings.mjs';
import {isSlowSearch, makeFilter, patternOf} from '../data/search.mjs';
import {say, sayWith} from '../state/words.mjs';

const WHOLE = {complete: 'complete', begun: 'complete, but it begins in the middle', kept: 'complete of what was kept', lossy: 'NOT COMPLETE', contradictory: 'CONTRADICTS ITSELF', cut: 'CUT OFF before its end',
    running: 'still recording: figures so far', killed: 'its recorder was KILLED: figures so far', unseen: 'its end MISSING: cut off, or still recording elsewhere',
    unreadable: 'its end MISSING: its rings belong to another user, whether it still runs cannot be seen'};

/* What ran: programs with memory first, then those that asked for some, then what the first process became in the end, which may have been reached through others in its place. Pure. */
export function commandOf(model) {
    const processes = model.rows('process'), of = (heaps) => new Set(heaps.map((heap) => heap.process_id)), holders = of(model.heaps.filter((heap) => heap.peak?.peak_bytes > 0)), asking = of(model.heaps);
    const own = processes.filter((row) => row.pid === processes[0].pid && row.end_kind !== 'exec');
    const commands = [...new Set([...processes.filter((row) => holders.has(row.process_id)), ...processes.filter((row) => asking.has(row.process_id)), ...own, ...processes].map((row) => row.command).filter((text) => text))];
    return commands.length === 0 ? null : commands.length === 1 ? commands[0] : sayWith('{name} and {count} more', {name: commands[0], count: String(commands.length - 1)});
}

function endOf(process, inputs) {
    if (process.end_kind === 'signal')
        return sayWith('killed by signal {signal}', {signal: String(process.end_status ?? '?')});
    if (process.end_kind === 'exit')
        return process.end_status === 0 ? say('ended by itself') : sayWith('ended with status {status}', {status: String(process.end_status)});
    if (process.end_kind !== 'running')
        return process.end_kind;
    return inputs.every((row) => ['ended', 'recovered', 'cut'].includes(row.state)) ? say('still running when the recording ended') : say('not ended so far');
}

function factsOf(model) {
    const inputs = model.rows('input'), processes = model.rows('process'), facts = [];
    const events = inputs.reduce((sum, row) => sum + (row.events_ingested ?? 0), 0);
    const ranks = new Set(processes.map((row) => row.rank).filter((rank) => rank !== null));
    facts.push([processes.length === 1 ? say('1 process') : sayWith('{count} processes', {count: formatCount(processes.length)}), ranks.size > 1 && sayWith('{count} ranks', {count: String(ranks.size)})].filter((text) => text).join(', '));
    facts.push(sayWith('{count} events', {count: formatCount(events)}));
    const length = Math.max(...processes.map((row) => (row.end_ns ?? 0)), 0);
    if (length > 0)
        facts.push(formatTime(length));
    if (processes.length === 1 && inputs.some((row) => row.kind === 'trace'))
        facts.push(endOf(processes[0], inputs));
    return facts;
}

function lossOf(model) {
    const inputs = model.rows('input'), worst = inputs.find((row) => row.verdict === 'running') ?? inputs.find((row) => row.verdict !== 'complete') ?? inputs[0];
    if (!worst)
        return null;
    const lost = ['dropped', 'damaged', 'unrecovered', 'late'].filter((kind) => worst[`events_${kind}`] > 0)
        .map((kind) => sayWith(`{count} events ${kind}`, {count: formatCount(worst[`events_${kind}`])}));
    const isGood = worst.verdict === 'complete';
    return make('span', {class: `chip ${isGood ? 'good' : worst.verdict === 'begun' || worst.verdict === 'kept' ? 'warning' : 'danger'}`},
        [say(WHOLE[worst.verdict] ?? 'completeness not known'), ...lost].join(', '));
}

/* What is missing for the sake of the page's size; nothing, as a rule. Pure. */
export function cutsOf(model) {
    const {count, kept} = model.page.texts ?? {}, texts = count > kept ? [{name: 'text', row_count: count, kept_count: kept}] : [];
    return [...model.rows('cut'), ...texts].map((row) => `${row.name} (${formatCount(row.row_count - row.kept_count)} of ${formatCount(row.row_count)})`);
}

function cutChip(model) {
    const cuts = cutsOf(model);
    return cuts.length > 0 && make('span', {class: 'chip warning', id: 'cuts'}, `${say('Left out, so that the page is no larger than was asked for:')} ${cuts.join(', ')}`);
}

function isDark(values) {
    return values.theme ? values.theme === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches;
}

export function makeHead(model, state) {
    const search = make('input', {type: 'search', id: 'search', placeholder: say('search (regular expression)'), 'aria-label': say('search in all panels: a regular expression'), 'aria-describedby': 'search-word',
        oninput: () => state.set({search: search.value})});
    const theme = make('button', {class: 'plain', onclick: () => state.set({theme: isDark(state.values) ? 'light' : 'dark'})});
    const language = make('button', {class: 'plain', title: say('labels in another language'), onclick: () => state.set({lang: state.values.lang === 'zh' ? 'en' : 'zh'})});
    const broken = make('p', {class: 'broken', id: 'search-word', role: 'status'}), settings = makeSettings(model);
    const inputs = model.rows('input'), meta = new Map(model.rows('meta').map((row) => [row.key, row.value]));
    const names = inputs.map((row) => (row.path ?? '').split('/').pop());
    const element = make('div', {class: 'head'},
        make('div', {class: 'titles'}, make('h1', null, names.length > 1 ? sayWith('{name} and {count} more', {name: names[0], count: String(names.length - 1)}) : names[0] ?? 'npumem'), make('p', {class: 'command'}, commandOf(model) ?? ''),
            make('p', {class: 'facts'}, lossOf(model), cutChip(model), factsOf(model).map((fact) => make('span', {class: 'fact'}, fact)), make('span', {class: 'fact faint'}, `npumem ${meta.get('tool_version') ?? ''}`))),
        make('div', {class: 'tools'}, search, theme, language), broken, settings.element);
    const update = (values) => {
        document.documentElement.dataset.theme = isDark(values) ? 'dark' : 'light';
        put(theme, isDark(values) ? '\u2600' : '\u263e');
        theme.setAttribute('aria-label', say(isDark(values) ? 'light colours' : 'dark colours'));
        put(language, values.lang === 'zh' ? 'EN' : '\u4e2d\u6587');
        if (search.value !== (values.search ?? ''))
            search.value = values.search ?? '';
        const isBroken = Boolean(values.search) && patternOf(values.search) === null, isSlow = isSlowSearch(values.search);
        search.setAttribute('aria-invalid', String(isBroken || isSlow));
        put(broken, isBroken && sayWith('{text} is no regular expression: it is looked for as it stands.', {text: values.search}),
            isSlow && sayWith('{text} takes too long as a regular expression and was stopped: it is looked for as it stands.', {text: values.search}));
        settings.update(makeFilter(values.search));
    };
    return {element, update};
}
