/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions and settings of the run, folded away in the head.
 */
import {make} from '../pictures/dom.mjs';
import {formatCount} from '../state/format.mjs';
import {makeTable} from '../pictures/table.mjs';
import {say} from '../state/words.mjs';

const SOURCES = {environment: 'setting', version: 'version', database: 'database'};

/* [{source, name, value, process_count}]: what the processes said, and after it what the database says of itself. Pure. */
export function settingRows(settings, meta) {
    return [...settings, ...meta.map((row) => ({source: 'database', name: row.key, value: row.value, process_count: null}))];
}

/* {element, update(filter)}: the filter is that of the search box. */
export function makeSettings(model) {
    const rows = settingRows(model.rows('setting'), model.rows('meta'));
    const columns = [{title: 'what', key: 'source', show: (row) => say(SOURCES[row.source] ?? row.source)}, {title: 'name', key: 'name', className: 'site'}, {title: 'value', key: 'value', className: 'value'},
        {title: 'processes', key: 'process_count', isNumber: true, show: (row) => (row.process_count === null ? '' : formatCount(row.process_count))}];
    const table = makeTable(columns, rows, {caption: 'versions and settings', rowsShown: 100});
    return {element: make('details', {class: 'settings', id: 'settings'}, make('summary', null, say('versions and settings')), table.element), update: table.update};
}
