/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels in Chinese, by the English ones that stand in the code: a module that the build makes of src/say/page.def tells them. What the
 * database says in words (evidence, advice, verdicts) stays as it is.
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

/* Of what the database says in both, the one in the language that was set. */
export function inLanguage(english, chinese) {
    return spoken.language === 'zh' ? chinese ?? english : english;
}

/* A sentence with values in it: sayWith('{count} blocks', {count: '7'}). Values are put in once, as they are. */
export function sayWith(text, values) {
    return say(text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/* Names that we give, with a number in them: of groups, ages and places. */
const NUMBERED = ['stream {n}', 'pool {n}', '{n} step', '{n} to {m} steps', '{n} steps or more', 'below {n} events', '{n} to {m} events', '{n} events or more', 'device {n}', 'rank {n}'];
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

const MEMORY_PARTS = {used: '{heap} used', pending: '{heap} freed, pending', new: '{heap} just got', private: '{heap} private pools', idle: '{heap} free for idle streams', empty: '{heap} free segments', small: '{heap} free between small blocks', pinned: '{heap} free between blocks'};

/* A row of view device_part: of a pool its name and what the part is good for, else its component. */
export function sayMemoryPart(row) {
    const part = MEMORY_PARTS[row.part];
    return part ? sayWith(part, {heap: row.heap}) : row.heap ?? row.component;
}
