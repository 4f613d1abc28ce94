/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite beside the page: a worker that is started with the first question, and ended where a question takes too long, so that no
 * query can hold the page. The next question starts another.
 */
const ROWS_MAX = 100000;
const SECONDS_MAX = 60;

/* Sends a message, and gives the answer to it. Whoever ends the worker calls `fail`. */
function post(engine, message) {
    return new Promise((resolve, reject) => {
        engine.fail = (text) => reject(new Error(text));
        engine.worker.onmessage = ({data}) => (data.error === undefined ? resolve(data) : reject(new Error(data.error)));
        engine.worker.onerror = (event) => reject(new Error(event.message ?? 'the worker does not run'));
        engine.worker.postMessage(message);
    });
}

/* A worker that runs a script of the page: a page has no other file. */
export function startScript(script) {
    const url = URL.createObjectURL(new Blob([script], {type: 'text/javascript'})), worker = new Worker(url);
    URL.revokeObjectURL(url);
    return worker;
}

async function startWorker(engine) {
    if (engine.worker !== null)
        return;
    engine.parts ??= await engine.open();
    engine.worker = startScript(engine.parts.engine);
    await post(engine, {wasm: engine.parts.wasm, databases: engine.parts.databases});
}

function endWorker(engine, text) {
    engine.worker?.terminate();
    engine.worker = null;
    engine.fail?.(text);
}

/* Some of what a PRAGMA sets holds for all that SQLite does from then on: a limit of memory, for one. */
function isLeftBehind(sql) {
    return /\bpragma\b/i.test(sql);
}

/*
 * open(): the parts of the page. ask(sql, number) asks the database of that number, from 0, and gives {columns, rows, isCut}: at most 100,000
 * rows, where isCut says that there are more; one question at a time, each of the database as it is in the page. stop() ends the one that runs.
 */
export function makeEngine(open) {
    const engine = {open, parts: null, worker: null, fail: null};
    return {
        async ask(sql, number) {
            const limit = setTimeout(() => endWorker(engine, `stopped after ${SECONDS_MAX} s`), 1000 * SECONDS_MAX);
            try {
                await startWorker(engine);
                return await post(engine, {sql, number, rowsMax: ROWS_MAX});
            } finally {
                clearTimeout(limit);
                if (isLeftBehind(sql))
                    endWorker(engine, '');
            }
        },
        stop: () => endWorker(engine, 'stopped'),
    };
}
