/* SPDX-License-Identifier: Apache-2.0
 *
 * Foreign text, safe to look at and safe as a cell of CSV: as base/shown.h has it, character by character. tests/support/foreign.txt holds
 * both to the same. What was no UTF-8 is U+FFFD here already.
 */
/* Control characters, what turns the direction of writing or is not seen, separators of lines, tags, halves of pairs. */
const UNSAFE = '\\0-\\x1f\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ud800-\\udfff\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}';
const EACH_UNSAFE = new RegExp(`[${UNSAFE}]`, 'gu');
/* = + - @, wide or not, behind blanks and what is not seen, where a cell may begin; and a tab or an end of a line at the front. */
const FORMULA = new RegExp(`(^|[\\t\\r\\n;])((?:[ \\xa0\\u2000-\\u200a\\u3000]|(?![\\t\\r\\n])[${UNSAFE}])*[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20])`, 'gu');
const FRONT = /^(?=[\t\r\n])/;
/* Ends of lines and tabs harm neither a cell nor a page. */
export const LINES = '\t\r\n';

/* A question mark for each character that is not safe, but for those in `kept`. */
export function shown(text, kept = '') {
    return text.replace(EACH_UNSAFE, (character) => (kept.includes(character) ? character : '?'));
}

/* The content of a cell of CSV, which no spreadsheet takes for a formula. */
export function cellOf(text) {
    return shown(text.replace(FORMULA, "$1'$2").replace(FRONT, "'"), LINES);
}
