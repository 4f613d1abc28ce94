/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of rows: sorted by a click on a column's head, filtered by the search box, long ones cut with a word. Of very many only those are made that are shown.
 */
import {make, put} from './dom.mjs';
import {formatCount} from '../state/format.mjs';
import {say, sayName, sayWith} from '../state/words.mjs';

const ROWS_SHOWN = 12, ROWS_MORE = 2000;

function compare(a, b) {
    if (a === b)
        return 0;
    if (a === null || a === undefined)
        return 1;
    if (b === null || b === undefined)
        return -1;
    return a < b ? -1 : 1;
}

/* Sites and heaps that nobody named have a name of ours. */
function contentOf(column, row) {
    const content = column.show ? column.show(row) : /(?:site|heap)$/.test(column.key) ? sayName(row[column.key] ?? '') : row[column.key];
    return content instanceof Node ? content : String(content ?? '');
}

function makeCell(column, content) {
    return make('td', {class: column.isNumber ? 'number' : column.className}, content);
}

/* Rows that are all here, as makeTable asks for them: the chosen one is among those that are shown. */
function sourceOf(rows, textOf, isChosen) {
    return {count: rows.length, pick: ({sort, isDown, most, filter}) => {
        const passing = rows.filter((row) => filter(textOf(row)));
        if (sort !== null)
            passing.sort((a, b) => (isDown ? -1 : 1) * compare(a[sort], b[sort]));
        const chosen = isChosen ? passing.findIndex(isChosen) : -1;
        if (chosen >= most)
            passing.unshift(...passing.splice(chosen, 1));
        return {shown: passing.slice(0, most), passing: passing.length};
    }};
}

/*
 * columns: {title, key, show(row) gives a text or an element, isNumber, className}. rows: an array, or {count, pick({sort: a key or null, isDown, most, filter})}, which gives
 * {shown: the first rows, passing: how many there are}. options: {caption, onRow(row), isChosen(row), textOf(row) for the search, more(row): an element below the chosen row,
 * rowsShown before "more", classOf(row)}. update(filter) shows what passes.
 */
export function makeTable(columns, rows, options) {
    const body = make('tbody'), foot = make('p', {class: 'more'});
    const view = {sort: null, isDown: true, most: options.rowsShown ?? ROWS_SHOWN, filter: () => true};
    const source = Array.isArray(rows) ? sourceOf(rows, options.textOf ?? ((row) => columns.map((column) => row[column.key] ?? '').join(' ')), options.isChosen) : rows;
    let lines = [];

    function rowElements(row) {
        const isChosen = options.isChosen?.(row) ?? false;
        /* A click anywhere in the row counts; the keyboard has the button in its first cell. */
        const cells = columns.map((column, i) => makeCell(column, i > 0 || !options.onRow ? contentOf(column, row) : make('button', {class: 'open', 'aria-expanded': options.more ? String(isChosen) : null}, contentOf(column, row))));
        const line = make('tr', {class: `${options.onRow ? 'can' : ''}${isChosen ? ' chosen' : ''}${options.classOf?.(row) ?? ''}`, onclick: () => options.onRow?.(row)}, cells);
        lines.push(line);
        if (!isChosen || !options.more)
            return [line];
        return [line, make('tr', {class: 'below'}, make('td', {colspan: columns.length}, options.more(row)))];
    }

    function show() {
        const {shown, passing} = source.pick(view), active = document.activeElement, place = lines.findIndex((line) => line.contains(active)), isBelow = place < 0 && body.contains(active);
        lines = [];
        put(body, shown.flatMap(rowElements));
        put(foot, passing > shown.length && make('button', {class: 'link', onclick: () => {
            view.most += ROWS_MORE;
            show();
        }}, sayWith('{count} more', {count: formatCount(passing - shown.length)})), passing === 0 && source.count > 0 && say('nothing here fits the search'));
        /* Who goes by keys stays where he is. */
        if (place >= 0 || isBelow)
            (isBelow ? active : lines[place]?.querySelector('.open'))?.focus({preventScroll: true});
    }

    function headOf(column) {
        return make('th', {scope: 'col', class: column.isNumber ? 'number' : null}, make('button', {onclick: () => {
            view.isDown = view.sort === column.key ? !view.isDown : true;
            view.sort = column.key;
            show();
        }}, say(column.title)));
    }

    const element = make('div', {class: 'tablebox'},
        make('table', null, make('caption', {class: 'hidden'}, say(options.caption)), make('thead', null, make('tr', null, columns.map(headOf))), body), foot);
    show();
    return {element, update: (filter) => {
        view.filter = filter ?? view.filter;
        show();
    }};
}

/* A share as a bar beside its figure; that of a leak has stripes. */
export function makeBar(ratio, text, colour, isLeak) {
    const width = Math.max(0, Math.min(1, ratio || 0)) * 100;
    return make('span', {class: 'barbox'}, make('span', {class: `bar${isLeak ? ' striped' : ''}`, style: `width:${width.toFixed(1)}%;background-color:${colour}`}), make('span', {class: 'bartext'}, text));
}

/* The figures of a picture, for who cannot see it. */
export function makeNumbers(title, columns, rows) {
    const box = make('details', {class: 'numbers'}, make('summary', null, say(title)));
    box.addEventListener('toggle', () => {
        if (box.open && box.children.length === 1)
            box.append(makeTable(columns, rows(), {caption: title}).element);
    });
    return box;
}
