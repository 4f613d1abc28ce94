/* SPDX-License-Identifier: Apache-2.0
 *
 * The panel that asks the database in the page: a query of queries/ or a view to begin with, values for its parameters, the text to
 * be changed, and the answer as a table and as CSV. Nothing runs before it is told to: a link may hold any text.
 */
import {make, makeChoice, put} from '../pictures/dom.mjs';
import {makeEngine} from '../data/engine.mjs';
import {formatCount, NOTHING} from '../state/format.mjs';
import {csvOf, parametersOf, putValues, readHeader, readTyped, valueText, writeTyped} from '../data/sqltext.mjs';
import {makeFilter} from '../data/search.mjs';
import {say, sayWith} from '../state/words.mjs';

const ROWS_ON_SCREEN = 200;

/* What can be chosen, by name, which of a query is that of its file: {name, question, parameters, body, isView, isComparison: it is asked of B, beside A}. */
async function readChoices(sql) {
    const {queries, views} = await sql.readQuestions(), choices = new Map();
    for (const {name, text} of queries)
        choices.set(name, {name, isView: false, isComparison: /^ATTACH /m.test(text), ...readHeader(text)});
    for (const [i, name] of views.name.entries())
        choices.set(name, {name, isView: true, isComparison: false, question: views.question[i], parameters: new Map(), body: `SELECT *\nFROM ${name};`});
    return choices;
}

function fillChooser(chooser, choices) {
    const option = (choice) => make('option', {value: choice.name}, `${choice.name} \u2013 ${choice.question}`), all = [...choices.values()];
    put(chooser, make('option', {value: ''}, say('choose a question')),
        make('optgroup', {label: say('queries')}, all.filter((choice) => !choice.isView).map(option)), make('optgroup', {label: say('views')}, all.filter((choice) => choice.isView).map(option)));
}

function makeAnswerCell(value) {
    if (value === null)
        return make('td', {class: 'faint'}, NOTHING);
    return make('td', {class: typeof value === 'string' ? 'sqltext' : 'number'}, valueText(value));
}

function rowsWord(answer, passing, shown) {
    const values = {count: formatCount(answer.rows.length), passing: formatCount(passing), shown: formatCount(shown)};
    const parts = [sayWith('{count} rows', values)];
    if (passing < answer.rows.length)
        parts.push(sayWith('{passing} of them fit the search', values));
    if (shown < passing)
        parts.push(sayWith('the first {shown} are shown, CSV has all', values));
    if (answer.isCut)
        parts.push(say('there are more: no more than these are read'));
    return parts.join('; ');
}

function showAnswer(parts, answer, filter) {
    const passing = answer.rows.filter((row) => filter(row.map(valueText).join(' '))), shown = passing.slice(0, ROWS_ON_SCREEN);
    put(parts.said, rowsWord(answer, passing.length, shown.length));
    put(parts.result, answer.columns.length > 0 && make('div', {class: 'tablebox', tabindex: 0, role: 'region', 'aria-label': say('answer')},
        make('table', null, make('caption', {class: 'hidden'}, say('answer')), make('thead', null, make('tr', null, answer.columns.map((name) => make('th', {scope: 'col'}, name)))),
            make('tbody', null, shown.map((row) => make('tr', null, row.map(makeAnswerCell)))))));
}

function saveCsv(answer, name) {
    const url = URL.createObjectURL(new Blob([csvOf(answer.columns, answer.rows)], {type: 'text/csv'}));
    make('a', {href: url, download: `${name}.csv`}).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function makeParts(actions) {
    const button = (text, onclick, attributes) => make('button', {class: 'plain', onclick, ...attributes}, say(text));
    const parts = {
        chooser: make('select', {'aria-label': say('choose a question'), onchange: actions.choose}), question: make('p', {class: 'note'}), inputs: make('div'),
        text: make('textarea', {'aria-label': 'SQL', rows: 9, spellcheck: false, autocomplete: 'off', onchange: actions.edit, oninput: actions.ask, onkeydown: actions.key}),
        run: button(say('run'), actions.run, {title: 'Ctrl+Enter', 'data-do': 'run'}), stop: button(say('stop'), actions.stop, {hidden: true}),
        save: button(say('save as CSV'), actions.save, {hidden: true, 'data-do': 'save'}), copy: button(say('copy as CSV'), actions.copy, {hidden: true}),
        said: make('p', {class: 'tell', role: 'status'}), result: make('div'),
    };
    return parts;
}

/* An input for each parameter of the text. What was typed before stays. */
function showInputs(parts, choice, typed, actions) {
    const names = parametersOf(parts.text.value), has = [...parts.inputs.querySelectorAll('input')].map((input) => input.name);
    if (names.join(' ') === has.join(' '))
        return;
    put(parts.inputs, names.map((name) => make('label', {class: 'parameter'}, `:${name}`, make('input', {name, value: typed.get(name) ?? '', autocomplete: 'off', onchange: actions.edit, onkeydown: actions.key}), make('span', null, choice?.parameters.get(name) ?? ''))));
}

function typedIn(parts) {
    return new Map([...parts.inputs.querySelectorAll('input')].map((input) => [input.name, input.value]));
}

/* What the panel does with its parts: `view` is {choices, answer, isBusy, databases}, what it knows beside the state. */
function makeActions(state, engine, parts, view) {
    const current = () => view.choices?.get(state.values.ask) ?? null;
    const keep = () => state.set({sql: parts.text.value === (current()?.body ?? '') ? null : parts.text.value, with: writeTyped(typedIn(parts))});
    const show = () => {
        parts.run.disabled = view.isBusy;
        parts.stop.hidden = !view.isBusy;
        for (const button of [parts.save, parts.copy])
            button.hidden = view.answer === null || view.answer.columns.length === 0;
    };
    const fail = (error) => {
        view.answer = null;
        put(parts.said);
        put(parts.result, make('p', {class: 'broken', role: 'alert'}, error.message));
    };
    const actions = {
        choose: () => {
            view.answer = null;
            put(parts.said);
            put(parts.result);
            show();
            const asks = parts.chooser.value || null;
            state.set({ask: asks, sql: null, with: null, ...(view.choices?.get(asks)?.isComparison ? {database: 'B'} : {})});
        },
        edit: keep,
        ask: () => showInputs(parts, current(), readTyped(state.values.with), actions),
        key: (event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey || event.target.tagName === 'INPUT') && actions.run(event),
        stop: () => engine.stop(),
        save: () => saveCsv(view.answer, (state.values.ask ?? 'answer').replace(/\.sql$/, '')),
        copy: () => navigator.clipboard.writeText(csvOf(view.answer.columns, view.answer.rows)).then(() => put(parts.said, say('copied')), fail),
        run: async (event) => {
            event.preventDefault();
            if (view.isBusy)
                return;
            keep();
            view.isBusy = true;
            put(parts.said, say('the database is asked'));
            show();
            try {
                view.answer = await engine.ask(putValues(parts.text.value, typedIn(parts)), numberOf(view.databases, state.values));
                showAnswer(parts, view.answer, makeFilter(state.values.search));
            } catch (error) {
                fail(error);
            }
            view.isBusy = false;
            show();
        },
    };
    return actions;
}

const LETTERS = ['A', 'B'];

/* The number of the database that the state names; the first unless it names another one that is there. */
function numberOf(databases, values) {
    const number = LETTERS.indexOf(values.database);
    return number > 0 && databases[number]?.isLeftOut === false ? number : 0;
}

/* Which of two databases is asked; nothing where there is one alone. */
function makeDatabaseChoice(model, databases, values, state) {
    if (databases.length < 2)
        return null;
    const names = new Map(model.rows('against_run').map((run) => [run.letter, run.name])), isOut = (number) => databases[number].isLeftOut;
    return [make('span', {class: 'note'}, say('database')), LETTERS.map((letter, number) => !isOut(number) && makeChoice(names.has(letter) ? `${letter}: ${names.get(letter)}` : letter, numberOf(databases, values) === number, () => state.set({database: letter}))),
        make('span', {class: 'note'}, isOut(1) ? say('the database of B is too large to be in this page beside that of A: npumem report has --max-size') : say('each is base.db for the other, which diff queries attach'))];
}

/* Of what ranks the database has no single allocations. */
function wordOfRanks(model) {
    const inputs = [...model.inputs.values()], without = inputs.filter((input) => input.detail === 'none').length;
    return inputs.length > 1 && make('p', {class: 'note', id: 'sql-ranks'}, without > 0 ? sayWith('The database is that of all {all} inputs; of {count} of them it has sums and no single allocation.', {all: formatCount(inputs.length), count: formatCount(without)}) : sayWith('The database is that of all {all} inputs.', {all: formatCount(inputs.length)}));
}

/* What the state says, into the parts. */
function showState(parts, view, values, actions) {
    const choice = view.choices?.get(values.ask) ?? null, text = values.sql ?? choice?.body ?? '';
    parts.chooser.value = choice === null ? '' : choice.name;
    put(parts.question, choice?.question ?? '');
    if (parts.text.value !== text) {
        parts.text.value = text;
        put(parts.inputs);
    }
    showInputs(parts, choice, readTyped(values.with), actions);
}

export function makeSql(model, state) {
    const {sql} = model.page;
    if (!sql)
        return null;
    if (sql.databases[0].isLeftOut)
        return {id: 'sql', title: 'SQL', note: 'the database is too large to be in this page: npumem report has --max-size', uses: [], element: make('div'), update: () => {}};
    sql.engine ??= makeEngine(sql.readParts);
    const view = {choices: null, answer: null, isBusy: false, databases: sql.databases}, choice = make('div', {class: 'row', id: 'sql-database'}), actions = {}, parts = makeParts(Object.fromEntries(['choose', 'edit', 'ask', 'key', 'stop', 'save', 'copy', 'run'].map((name) => [name, (event) => actions[name](event)])));
    Object.assign(actions, makeActions(state, sql.engine, parts, view));
    sql.choices ??= readChoices(sql);
    sql.choices.then((choices) => {
        view.choices = choices;
        fillChooser(parts.chooser, choices);
        showState(parts, view, state.values, actions);
    });
    const element = make('div', null, wordOfRanks(model), choice, make('div', {class: 'row'}, parts.chooser), parts.question, parts.text, parts.inputs, make('div', {class: 'row'}, parts.run, parts.stop, parts.save, parts.copy), parts.said, parts.result);
    return {id: 'sql', title: 'SQL', note: 'the database in this page has all sums, and those single allocations that were live at a peak, a mark, a failure or the end', uses: ['ask', 'sql', 'with', 'search', 'database'], element, update: (values) => {
        put(choice, makeDatabaseChoice(model, sql.databases, values, state));
        showState(parts, view, values, actions);
        if (view.answer !== null)
            showAnswer(parts, view.answer, makeFilter(values.search));
    }};
}
