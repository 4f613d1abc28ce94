/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL and its answers as text: the header of a query (CONTRIBUTING.md), parameters, values as the sqlite3 shell prints them, CSV.
 */
import {cellOf} from '../state/shown.mjs';

/* What in SQL can hold a colon that begins no parameter, then a parameter. */
const TOKEN = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|[:@$][A-Za-z_]\w*/g;
const DIGITS = 15;
/* What the sqlite3 shell puts into quotes, and RFC 4180 lets it: more than has to be. */
const QUOTED = /[^!#-&(-+\--~]/;

/* The text in front of a query: {question, parameters: name to what it says of it, body}. */
export function readHeader(text) {
    const lines = text.split('\n'), end = lines.findIndex((line) => !line.startsWith('--')), header = lines.slice(0, end < 0 ? lines.length : end).map((line) => line.slice(2).trim());
    const parts = {question: [], parameters: [], columns: []}, parameters = new Map();
    let part = 'question', name = null;
    for (const line of header) {
        const begin = /^(Parameters|Columns):\s*/.exec(line), rest = begin ? line.slice(begin[0].length) : line;
        part = begin ? begin[1].toLowerCase() : part;
        parts[part].push(rest);
    }
    for (const line of parts.parameters) {
        const begin = /^:(\w+)\s+(.*)$/.exec(line);
        name = begin ? begin[1] : name;
        if (name !== null)
            parameters.set(name, begin ? begin[2] : `${parameters.get(name)} ${line}`);
    }
    return {question: parts.question.join(' ').replace(/^\w+\.sql: /, ''), parameters, body: end < 0 ? '' : lines.slice(end).join('\n').trim()};
}

/* Names of the parameters in a text of SQL, without what they begin with, each once and in order. */
export function parametersOf(sql) {
    const names = (sql.match(TOKEN) ?? []).filter((token) => /^[:@$]/.test(token)).map((token) => token.slice(1));
    return [...new Set(names)];
}

/* What was typed for a parameter, as the shell's .parameter set takes it: nothing is NULL, a number one, all else text. */
export function literalFor(typed) {
    const text = (typed ?? '').trim();
    if (text === '')
        return 'NULL';
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text))
        return `(${text})`;
    return /^'(?:[^']|'')*'$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`;
}

/* The text with values in place of its parameters. Bound they would be no more than 53 bits of an integer. */
export function putValues(sql, typed) {
    return sql.replace(TOKEN, (token) => (/^[:@$]/.test(token) ? literalFor(typed.get(token.slice(1))) : token));
}

/* A real with 15 digits, and always as one: 0.1, 1.0, 1.0e+20. */
export function formatReal(value) {
    if (!Number.isFinite(value))
        return value > 0 ? 'Inf' : '-Inf';
    const [mantissa, power] = value.toExponential(DIGITS - 1).split('e'), exponent = Number(power), isShort = exponent >= -4 && exponent < DIGITS;
    const digits = isShort ? value.toFixed(DIGITS - 1 - exponent) : mantissa, dotted = digits.includes('.') ? digits : `${digits}.0`;
    const text = dotted.replace(/0+$/, '').replace(/\.$/, '.0').replace(/^-(0\.0)$/, '$1');
    return isShort ? text : `${text}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/* A value of SQLite as text. NULL is an empty one. */
export function valueText(value) {
    if (value === null || value === undefined)
        return '';
    if (typeof value === 'number')
        return formatReal(value);
    if (value instanceof Uint8Array)
        return `x'${[...value].map((byte) => byte.toString(16).padStart(2, '0')).join('')}'`;
    return String(value);
}

function csvField(value) {
    const text = typeof value === 'string' ? cellOf(value) : valueText(value);
    return value !== null && (text === '' || QUOTED.test(text)) ? `"${text.replaceAll('"', '""')}"` : text;
}

/* RFC 4180: a head, a line each, CR and LF at their ends. An empty text is in quotes, NULL is nothing, no text is a formula. */
export function csvOf(columns, rows) {
    return [columns, ...rows].map((row) => `${row.map(csvField).join(',')}\r\n`).join('');
}

/* "a=1&b=x" and back: what is typed for parameters, as the address has it. Nothing typed is nothing said. */
export function readTyped(text) {
    return new Map(new URLSearchParams(text ?? ''));
}

export function writeTyped(typed) {
    const said = [...typed].filter(([, value]) => value !== '');
    return said.length === 0 ? null : new URLSearchParams(said).toString();
}
