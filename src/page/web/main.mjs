/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the page together: reads the data, makes the model, the state and the panels, and lets each show what the state says.
 */
import {makeAgainst} from './panels/against.mjs';
import {readPage} from './data/decode.mjs';
import {make, put} from './pictures/dom.mjs';
import {makeHead} from './panels/head.mjs';
import {makeLeaks} from './panels/leaks.mjs';
import {makeLive} from './panels/live.mjs';
import {makeMap} from './panels/map.mjs';
import {makeMisuse} from './panels/misuse.mjs';
import {addBlocks, makeModel} from './data/model.mjs';
import {makeFailures} from './panels/oom.mjs';
import {makePool} from './panels/pool.mjs';
import {makeRanks} from './panels/ranks.mjs';
import {makeBlocksPanel} from './panels/rows.mjs';
import {makeSegments} from './panels/segments.mjs';
import {makeSql} from './panels/sql.mjs';
import {beginSearching} from './data/search.mjs';
import {makeState, readHash} from './state/state.mjs';
import {makeSteps} from './panels/steps.mjs';
import {makeTimeline} from './panels/timeline.mjs';
import {makeVerdicts} from './panels/verdicts.mjs';
import {say, sayWith, setLanguage} from './state/words.mjs';

const PANELS = [makeVerdicts, makeAgainst, makeTimeline, makeMap, makeLive, makeSteps, makeLeaks, makePool, makeSegments, makeBlocksPanel, makeFailures, makeRanks, makeMisuse, makeSql];

/* That of the browser, if the page speaks it. */
function readersLanguage() {
    return /^zh\b/i.test(navigator.languages?.[0] ?? navigator.language ?? '') ? 'zh' : 'en';
}

/* The page is marked as being in it: for who has it read aloud, and for the glyphs of Chinese. */
function speak(language) {
    setLanguage(language);
    document.documentElement.lang = language === 'zh' ? 'zh' : 'en';
    put(document.querySelector('.skip'), say('to the verdicts'));
}

function defaultsOf(model) {
    return {heap: model.best?.heap_id ?? null, from: model.opening?.from ?? null, to: model.opening?.to ?? null, low: null, high: null, block: null, stack: null, at: 'peak', since: null, site: null, search: null, zoom: null, layers: 'component', hide: null, theme: null, axis: 'event', lang: readersLanguage(), group: 'site', colour: 'site', stepa: null, stepb: null, ask: null, sql: null, with: null, lay: null, database: null, segment: null, rows: 'live', found: 0};
}

function framePanel(panel) {
    const link = make('a', {href: `#${panel.id}`, onclick: (event) => {
        event.preventDefault();
        document.getElementById(panel.id).scrollIntoView();
    }}, say(panel.title));
    const section = make('section', {class: 'panel', id: panel.id, tabindex: -1, 'aria-label': say(panel.title)}, make('div', {class: 'title'}, make('h2', null, say(panel.title)), panel.note && make('p', {class: 'note'}, say(panel.note))), panel.element);
    return {section, link};
}

/* '/' goes to the search, as in other tools. */
function listenShortcuts() {
    document.addEventListener('keydown', (event) => {
        const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
        if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        document.getElementById('search').focus();
    });
}

/* Paper is light: pictures are drawn again for it. */
function listenPrint(state) {
    let theme = null;
    window.addEventListener('beforeprint', () => {
        theme = state.values.theme;
        state.set({theme: 'light'});
    });
    window.addEventListener('afterprint', () => state.set({theme}));
}

/* What the address says counts first; the range that a page opens on is one of the events of that input. */
function valuesOf(model, hash) {
    const values = {...defaultsOf(model), ...readHash(hash)}, heap = model.heapById.get(values.heap), isOther = model.opening !== null && heap && heap.input !== model.best.input;
    return isOther && !/[#&](from|to)=/.test(hash) ? {...values, from: null, to: null} : values;
}

function keepHash(model, state) {
    let waits = null;
    state.subscribe(() => {
        clearTimeout(waits);
        waits = setTimeout(() => history.replaceState(null, '', `#${state.hash()}`), 120);
    });
    /* By now the address may be that of a change before it, which has waited till then. */
    window.addEventListener('hashchange', (event) => state.set(valuesOf(model, new URL(event.newURL).hash)));
}

/* What the first picture has: the rest is filled in when the blocks have come, a panel after the other. */
const EARLY = new Set(['verdicts', 'timeline', 'map']);

/* All of the page in one language: {head, panels}. */
function buildPage(model, state) {
    speak(state.values.lang);
    const head = makeHead(model, state), panels = PANELS.map((makePanel) => makePanel(model, state)).filter((panel) => panel !== null), frames = panels.map(framePanel);
    put(document.getElementById('top'), head.element, make('nav', {'aria-label': say('panels')}, frames.map((frame) => frame.link)));
    put(document.getElementById('main'), frames.map((frame) => frame.section));
    return {head, panels};
}

/* Lets the browser paint what is there. */
function nextPicture() {
    return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
}

/* Lets the browser see to the reader between two panels. */
function nextTask() {
    return new Promise((resolve) => {
        const {port1, port2} = new MessageChannel();
        port1.onmessage = resolve;
        port2.postMessage(null);
    });
}

function isInView(panel) {
    const box = panel.element.getBoundingClientRect();
    return box.bottom > 0 && box.top < window.innerHeight;
}

/* Shows what the first picture has. Gives what shows all of it, what is in view first. */
function showPage(model) {
    const state = makeState(defaultsOf(model), valuesOf(model, location.hash));
    beginSearching(() => state.set({found: state.values.found + 1}));
    let page = buildPage(model, state), isWhole = false;
    const show = (values, before) => {
        const hasChanged = (panel) => !before || panel.uses.some((name) => values[name] !== before[name] || (name === 'search' && values.found !== before.found));
        page.head.update(values);
        for (const panel of page.panels.filter((one) => (isWhole || EARLY.has(one.id)) && hasChanged(one)))
            panel.update(values);
    };
    show(state.values, null);
    state.subscribe((values, before) => {
        const isOther = values.lang !== before.lang;
        if (isOther)
            page = buildPage(model, state);
        show(values, isOther ? null : before);
    });
    keepHash(model, state);
    listenShortcuts();
    listenPrint(state);
    return async (tell) => {
        const panels = [...page.panels].sort((a, b) => Number(isInView(b)) - Number(isInView(a)));
        isWhole = true;
        for (const [i, panel] of panels.entries()) {
            panel.update(state.values);
            tell((i + 1) / (panels.length + 1));
            await nextTask();
        }
    };
}

/* A bar where it takes more than two seconds to show a page. Gives what tells it how much is done; 1 is all. */
function makeProgress() {
    const bar = make('progress', {id: 'progress', max: 1, value: 0, 'aria-label': say('the page is being made')}), waits = setTimeout(() => document.getElementById('top').append(bar), 2000);
    return (share) => {
        bar.value = share;
        if (share < 1)
            return;
        clearTimeout(waits);
        bar.remove();
    };
}

async function start(tell) {
    const began = performance.now(), page = await readPage(document), model = makeModel(page);
    if (model.best === null) {
        put(document.getElementById('main'), make('p', {class: 'allgood'}, say('No memory was recorded: the summary below is all there is.')));
        return;
    }
    document.documentElement.classList.add('scripted');
    const showAll = showPage(model);
    document.documentElement.dataset.first = String(Math.round(performance.now() - began));
    await nextPicture();
    addBlocks(model, await page.readBlocks(), model.rows('kept')[0], model.rows('anchor'));
    await showAll(tell);
    document.documentElement.dataset.ready = String(Math.round(performance.now() - began));
}

speak(readersLanguage());
const tellProgress = makeProgress();
start(tellProgress).catch((error) => put(document.getElementById('main'), make('p', {class: 'broken', role: 'alert'}, sayWith('The page could not be shown: {error}. The summary below holds what npumem ingest says.', {error: error.message})))).finally(() => tellProgress(1));
