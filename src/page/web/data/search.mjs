/* SPDX-License-Identifier: Apache-2.0
 *
 * The search box as a test of texts. A regular expression may take for ever, and a link can hold any: (a+)+b does with forty letters. So it is
 * known of each, from how it is written, how many steps it takes at most for a text. Few are made at once. What may take more is asked of a worker,
 * and until that has answered the picture stays as it was; where it takes the worker too long, it is ended, and the search is looked for as it
 * stands.
 */
import {startScript} from './engine.mjs';

const STEPS_AT_ONCE = 1e7; /* some 20 ms */
const MS_AT_ONCE = 500; /* of all that is looked at in one go */
const MS_BESIDE = 2000; /* of a search in the worker, in all */

const FINDER = `onmessage = ({data: {search, texts}}) => {
    const pattern = new RegExp(search, 'i');
    postMessage(texts.map((text) => pattern.test(text)));
};
postMessage(null);`;

/* ---- How many steps ---- */

const QUANTIFIER = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y, GROUP = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/y;

/* Of a part of a regular expression: in how many ways it can be tried, as factor * length ** power, and how long one of them is. */
const ATOM = {factor: 1, power: 0, size: 1}, ENDLESS = {factor: Infinity, power: 0, size: 1};

function inTurn(a, b) {
    return {factor: a.factor * b.factor, power: a.power + b.power, size: a.size + b.size};
}

function eitherOf(a, b) {
    return {factor: a.factor + b.factor, power: Math.max(a.power, b.power), size: a.size + b.size};
}

/* Without an end only what can be tried in one way alone: each turn of (a+)+ or (a|a)+ has several. */
function repeated(part, least, most) {
    if (most === Infinity)
        return part.factor === 1 && part.power === 0 ? {factor: 1, power: 1, size: part.size * (1 + least)} : ENDLESS;
    return {factor: part.factor ** most * (most - least + 1), power: part.power * most, size: part.size * Math.max(most, 1)};
}

function matchAt(pattern, reader) {
    pattern.lastIndex = reader.at;
    const match = pattern.exec(reader.text);
    reader.at += match?.[0].length ?? 0;
    return match;
}

/* A character, one that is escaped, or a class. What stands for what a group has found is as long as that. */
function readAtom(reader) {
    const {text, at} = reader;
    if (text[at] === '\\') {
        reader.at += 2;
        return /[1-9k]/.test(text[at + 1] ?? '') ? ENDLESS : ATOM;
    }
    reader.at++;
    while (text[at] === '[' && reader.at < text.length && text[reader.at] !== ']')
        reader.at += text[reader.at] === '\\' ? 2 : 1;
    reader.at += text[at] === '[' ? 1 : 0;
    return ATOM;
}

function readPart(reader) {
    let part = ATOM;
    if (matchAt(GROUP, reader)) {
        part = readAlternatives(reader);
        reader.at++;
    } else {
        part = readAtom(reader);
    }
    const quantifier = matchAt(QUANTIFIER, reader);
    if (!quantifier)
        return part;
    const [text, least, comma, most] = quantifier, isOpen = least === undefined ? text[0] !== '?' : comma !== undefined && most === '';
    return repeated(part, Number(least ?? (text[0] === '+' ? 1 : 0)), isOpen ? Infinity : Number(most || least || 1));
}

function readSequence(reader) {
    let all = {...ATOM};
    while (reader.at < reader.text.length && !'|)'.includes(reader.text[reader.at]))
        all = inTurn(all, readPart(reader));
    return all;
}

function readAlternatives(reader) {
    let all = readSequence(reader);
    while (reader.text[reader.at] === '|') {
        reader.at++;
        all = eitherOf(all, readSequence(reader));
    }
    return all;
}

/* At most so many steps, as a function of the length of a text: it may begin at any letter of it. Pure. */
export function stepsOf(search) {
    const {factor, power, size} = readAlternatives({text: search, at: 0});
    return (length) => factor * size * (length + 1) ** (power + 1);
}

/* ---- The test ---- */

/* The regular expression of the search box; null: it is none. */
export function patternOf(search) {
    try {
        return new RegExp(search, 'i');
    } catch {
        return null;
    }
}

/* The search that is looked at: its answers by text, those that are asked for, and whether it has taken too long. */
function beginSearch(search, before) {
    return {search, pattern: patternOf(search), stepsFor: stepsOf(search), before, spent: 0, left: MS_BESIDE, found: new Map(), queue: new Set(), isBusy: false, isSlow: false};
}

let current = null, finder = null;

/* Asks for what is in the queue, of one search at a time. */
async function askFinder(own) {
    if (own !== current || own.isBusy || own.queue.size === 0)
        return;
    const texts = [...own.queue], began = performance.now();
    own.queue.clear();
    own.isBusy = true;
    const answer = await finder.find(own.search, texts, own.left);
    own.isBusy = false;
    own.left -= performance.now() - began;
    own.isSlow = answer === null;
    texts.forEach((text, i) => answer && own.found.set(text, answer[i]));
    own.before = null;
    if (own === current) {
        finder.changed();
        askFinder(own);
    }
}

/* What is known without asking; undefined: nothing. What is no regular expression, or a slow one, is looked for as it is. */
function findAtOnce(own, text) {
    if (own.pattern === null || own.isSlow)
        return text.toLowerCase().includes(own.search.toLowerCase());
    if (finder === null)
        return own.pattern.test(text);
    if (own.spent > MS_AT_ONCE || own.stepsFor(text.length) > STEPS_AT_ONCE)
        return own.found.get(text);
    if (own.spent === 0)
        setTimeout(() => {
            own.spent = 0;
        });
    const began = performance.now(), isFound = own.pattern.test(text);
    own.spent += performance.now() - began;
    return isFound;
}

function findText(own, text) {
    const isFound = findAtOnce(own, text);
    if (isFound !== undefined)
        return isFound;
    if (own.queue.size === 0)
        setTimeout(() => askFinder(own));
    own.queue.add(text);
    return own.before === null || (findAtOnce(own.before, text) ?? true);
}

/* What the search box says, as a test of texts; all pass where it is empty. What waits for an answer passes as it did before. */
export function makeFilter(search) {
    if (current !== null && current.search !== search)
        finder?.stop();
    if (!search) {
        current = null;
        return () => true;
    }
    if (current?.search !== search)
        current = beginSearch(search, current === null ? null : {...current, before: null});
    const own = current;
    return (text) => findText(own, String(text));
}

/* Has this search, as a regular expression, been given up? */
export function isSlowSearch(search) {
    return current?.search === search && current.isSlow;
}

/* ---- The worker ---- */

/* find(search, texts, ms) gives a test of each; null: it took longer than that, or there is no worker. stop() ends one that is at it. */
function makeFinder(startWorker, changed) {
    let worker = null, give = null;
    const end = (answer) => {
        worker?.terminate();
        worker = null;
        give?.(answer);
    };
    const hear = () => new Promise((resolve) => {
        give = resolve;
        worker.onmessage = ({data}) => resolve(data);
        worker.onerror = () => end(null);
    });
    return {
        changed,
        stop: () => give && end(null),
        find: async (search, texts, ms) => {
            let limit = null;
            try {
                if (worker === null) {
                    worker = startWorker(FINDER);
                    await hear();
                }
                limit = setTimeout(() => end(null), Math.max(ms, 0));
                worker?.postMessage({search, texts});
                return worker === null ? null : await hear();
            } catch {
                return null;
            } finally {
                clearTimeout(limit);
                give = null;
            }
        },
    };
}

/* From now on what may take long is asked of a worker; changed() is called when there are answers. Without, all is made at once. */
export function beginSearching(changed, startWorker = startScript) {
    finder = makeFinder(startWorker, changed);
}
