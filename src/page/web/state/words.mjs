/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels in Chinese, by the English ones that stand in the code: a module that the build makes of src/say/page.def tells them. What the
 * database says in words is that of table finding, which has both languages (inLanguage), or made of clauses that are known (sayClauses).
 */
const CHINESE = {};

export function learnChinese(words) {
    Object.assign(CHINESE, words);
}

const spoken = {language: 'en'};

/* Before the panels are made: they ask while they are made and shown. */
export function setLanguage(language) {
    spoken.language = language === 'zh' ? 'zh' : 'en';
}

/* A label in the language that was set; what has no translation is shown as it is. */
export function say(text) {
    return (spoken.language === 'zh' && CHINESE[text]) || text;
}

/* Heaps that npumem named: what the database says in Chinese has these names as they are. */
const OWN_HEAPS = ['device memory', 'pinned host memory', 'registered host memory', 'physical memory', 'memory of other processes', 'caching pool'];

/* Of what the database says in both, the one in the language that was set. */
export function inLanguage(english, chinese) {
    if (spoken.language === 'en' || chinese === null || chinese === undefined)
        return english;
    return OWN_HEAPS.reduce((text, name) => text.replaceAll(name, say(name)), chinese);
}

/* A sentence with values in it: sayWith('{count} blocks', {count: '7'}). Values are put in once, as they are. */
export function sayWith(text, values) {
    return say(text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/* Names that we give, with a number in them: of groups, ages and places. */
const NUMBERED = ['stream {n}', 'pool {n}', '{n} step', '{n} to {m} steps', '{n} steps or more', 'below {n} events', '{n} to {m} events', '{n} events or more', 'device {n}', 'rank {n}', 'module {n}'];
const PATTERNS = NUMBERED.map((text) => ({text, pattern: new RegExp(`^${text.replace(/\{(\w+)\}/g, '(?<$1>\\d[\\d, ]*)')}$`)}));

/* A name that we gave: that of what has none, or one of NUMBERED. What others named stays as it is. */
export function sayName(name) {
    const found = spoken.language === 'en' || CHINESE[name] ? undefined : PATTERNS.find(({pattern}) => pattern.test(name));
    return found ? sayWith(found.text, name.match(found.pattern).groups) : say(name);
}

/* "device 0 \u00b7 caching pool": each part by itself. */
export function sayPlace(label) {
    return label.split(' \u00b7 ').map(sayName).join(' \u00b7 ');
}

/* What view suspect_by_site says for a site, in the words for many; of one it is "block is" for "blocks are". */
const CLAUSES = ['{n} blocks born in {m} of {k} steps are live at the end', '{n} blocks born in {m} of {k} steps and before them are live at the end', '{n} blocks born before the first of {k} steps are live at the end',
    '{n} blocks born in {m} of 20 parts of the trace are live at its end', '{n} blocks were born in captures of graphs that live at the end ({m}), and held as long as they do', '{n} blocks are in private pools, as captured graphs have them',
    '{n} others were freed', '{n} others were freed, in what was kept', '{n} others were freed, {k} steps old at most', '{n} others were freed, {k} steps old at most, in what was kept', 'no other was freed', 'no other was freed in what was kept',
    '{n} older blocks of the site, {m} bytes, were there before the recording began'];
const OF_MANY = {blocks: 'blocks?', steps: 'steps?', others: 'others?', are: '(?:are|is)', were: '(?:were|was)'};
const CLAUSE_PATTERNS = CLAUSES.map((text) => ({text, pattern: new RegExp(`^${text.replace(/[()]/g, '\\$&').replace(/\b\w+\b/g, (word) => OF_MANY[word] ?? word).replace(/\{(\w+)\}/g, '(?<$1>\\d+)')}$`)}));

/* "1 block born in 1 of 20 steps is live at the end; no other was freed": each clause by itself. */
export function sayClauses(text) {
    if (spoken.language === 'en')
        return text;
    return text.split('; ').map((clause) => {
        const found = CLAUSE_PATTERNS.find(({pattern}) => pattern.test(clause));
        return found ? sayWith(found.text, clause.match(found.pattern).groups ?? {}) : clause;
    }).join('\uff1b');
}

const MEMORY_PARTS = {used: '{heap} used', pending: '{heap} freed, pending', new: '{heap} just got', private: '{heap} private pools', idle: '{heap} free for idle streams', empty: '{heap} free segments', small: '{heap} free between small blocks', pinned: '{heap} free between blocks'};

const COMPONENTS = {APP: 'program', PHYSICAL: 'physical, not mapped', 'PAGE ROUNDING': 'page rounding', 'RECORDED PROCESSES': 'other recorded processes', 'OTHER PROCESSES': 'other processes', UNEXPLAINED: 'unexplained'};

/* A row of view device_part, as the screen says it: of a pool its name and what the part is good for, else its component. */
export function sayMemoryPart(row) {
    const part = MEMORY_PARTS[row.part];
    return part ? sayWith(part, {heap: sayName(row.heap)}) : sayName(row.heap ?? COMPONENTS[row.component] ?? row.component);
}
