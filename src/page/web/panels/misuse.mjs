/* SPDX-License-Identifier: Apache-2.0
 *
 * What was done to memory that must not be done. Only where something was.
 */
import {make} from '../pictures/dom.mjs';
import {formatBytes, formatCount} from '../state/format.mjs';
import {makeStack} from '../pictures/stack.mjs';
import {makeFilter} from '../data/search.mjs';
import {makeTable} from '../pictures/table.mjs';
import {say} from '../state/words.mjs';

export function makeMisuse(model) {
    const rows = model.rows('misuse');
    if (rows.length === 0)
        return null;
    let chosen = null, filter = () => true;
    const columns = [{title: 'what', key: 'kind', className: 'word', show: (row) => say(row.kind)}, {title: 'where', key: 'site', className: 'site'}, {title: 'size', key: 'size_bytes', isNumber: true, show: (row) => formatBytes(row.size_bytes)}, {title: 'address', key: 'address'},
        {title: 'event', key: 'seq', isNumber: true, show: (row) => formatCount(row.seq)}, {title: 'the block came from', key: 'other_site', className: 'site'}, {title: 'detail', key: 'detail', className: 'words', show: (row) => say(row.detail ?? '')}];
    const table = makeTable(columns, rows, {caption: 'misuse', isChosen: (row) => row === chosen, more: (row) => make('div', null, makeStack(model, row.stack_id)), onRow: (row) => {
        chosen = row === chosen ? null : row;
        table.update(filter);
    }});
    return {id: 'misuse', title: 'Misuse', uses: ['search'], element: table.element, update: (values) => {
        filter = makeFilter(values.search);
        table.update(filter);
    }};
}
