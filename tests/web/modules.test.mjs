/* SPDX-License-Identifier: Apache-2.0
 *
 * The modules as source: they can be joined into one script, ask nobody for anything, take no markup, and keep to the limits of CONTRIBUTING.
 */
import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {test} from 'node:test';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

import {say, setLanguage} from '../../src/page/web/state/words.mjs';

const {PAGE_CHINESE} = await import(process.env.NPUMEM_PAGE_CHINESE);

const folder = fileURLToPath(new URL('../../src/page/web/', import.meta.url));
const rooms = ['state', 'data', 'pictures', 'panels'];
const files = ['', ...rooms.map((room) => `${room}/`)].flatMap((room) => readdirSync(folder + room).filter((name) => name.endsWith('.mjs')).map((name) => room + name));
const worker = ['data/worker.js', readFileSync(`${folder}data/worker.js`, 'utf8')];
const texts = new Map(files.map((name) => [name, readFileSync(folder + name, 'utf8')]));

function topNames(text) {
    return [...text.matchAll(/^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/gm)].map((match) => match[1]);
}

test('no name stands for two things', () => {
    const owners = new Map();
    for (const [file, text] of texts)
        for (const name of topNames(text)) {
            assert.equal(owners.get(name), undefined, `${name} is in ${owners.get(name)} and ${file}`);
            owners.set(name, file);
        }
    assert.ok(owners.size > 100);
});

test('what is imported is exported there, and used', () => {
    for (const [file, text] of texts)
        for (const [line, names, from] of text.matchAll(/^import \{(.*)\} from '(.*)';$/gm))
            for (const name of names.split(', ')) {
                assert.match(texts.get(join(dirname(file), from)) ?? '', new RegExp(`^export (async )?(function|const) ${name}\\b`, 'm'), `${file} imports ${name} from ${from}`);
                assert.ok(text.split(line).join('').match(new RegExp(`\\b${name}\\b`)), `${file} does not use ${name}`);
            }
});

test('an import is one line, and nothing else is imported', () => {
    for (const [file, text] of texts)
        for (const [line] of text.matchAll(/^.*\bimport\b.*$/gm))
            assert.ok(/^import \{.*\} from '\.\.?\/(\w+\/)?\w+\.mjs';$/.test(line) || !/\bimport\s*[({'"]/.test(line), `${file}: ${line}`);
});

test('a room uses itself and those before it alone', () => {
    for (const [file, text] of texts)
        for (const [, from] of text.matchAll(/^import \{.*\} from '(.*)';$/gm)) {
            const here = rooms.indexOf(dirname(file)), there = rooms.indexOf(dirname(join(dirname(file), from)));
            assert.ok(file === 'main.mjs' || there >= 0 && there <= here, `${file} imports ${from}`);
        }
});

test('each module is in the list of the build', () => {
    const build = readFileSync(`${folder}../CMakeLists.txt`, 'utf8'), listed = build.slice(build.indexOf('set(page_modules'), build.indexOf('list(TRANSFORM')).match(/^ {4}[\w/]+/gm).map((name) => `${name.trim()}.mjs`);
    assert.deepEqual(listed.sort(), files.slice().sort());
});

test('nothing becomes markup, and nothing is fetched', () => {
    for (const [file, text] of [...texts, worker, ['body.html', readFileSync(`${folder}body.html`, 'utf8')], ['page.css', readFileSync(`${folder}page.css`, 'utf8')]]) {
        assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|\beval\(|new Function|setTimeout\(['"`]/, file);
        assert.doesNotMatch(text, /\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|EventSource|@import|url\(|https?:\/\/(?!www\.w3\.org\/2000\/svg)/, file);
    }
});

const plain = (text) => text.replace(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
const labelPatterns = [/\btitle: '([^']+)', (?:key|note|element|uses)/g, /\bfigure\('([^']+)'/g, /\bmakeChoice\('([^']+)'/g, /\b(?:bytes|count|setting)Column\('([^']+)'/g, /\bbutton\('([^']+)'/g, /\bnote: '([^']+)'/g, /makeNumbers\('([^']+)'/g];

/* What a call that says something is given: one text or one of several, but not what those are compared with. */
function saidIn(text) {
    return [...text.matchAll(/\bsay(?:With|Name)?\(((?:'[^']*'|[^'(),{`])*)/g)].flatMap(([, argument]) => [...argument.matchAll(/([=!]== )?'([^']+)'/g)].filter((found) => !found[1]).map((found) => found[2]));
}

test('each label has its Chinese', () => {
    const labels = new Set();
    for (const [file, text] of texts)
        for (const label of file === 'state/words.mjs' ? [] : [...saidIn(text), ...labelPatterns.flatMap((pattern) => [...text.matchAll(pattern)].map((found) => found[1]))])
            labels.add(plain(label));
    assert.ok(labels.size > 250, `${labels.size}`);
    assert.deepEqual([...labels].filter((label) => !Object.hasOwn(PAGE_CHINESE, label)), []);
    setLanguage('zh');
    assert.equal(say('Leaks'), '\u6cc4\u6f0f');
    setLanguage('en');
    assert.equal(say('Leaks'), 'Leaks');
});

test('each row of page.def is said: it stands in the code, or is a word of the database', () => {
    const code = [...texts.values()].map(plain).join('\n'), sql = ['schema/', 'queries/', 'src/page/'].flatMap((room) => readdirSync(`${folder}../../../${room}`).filter((name) => /\.(sql|def)$/.test(name)).map((name) => readFileSync(`${folder}../../../${room}${name}`, 'utf8'))).join('\n');
    const words = ['analysis', 'hook', 'record', 'source', 'store/verdicts'].flatMap((room) => readdirSync(`${folder}../../${room}`).filter((name) => /\.[ch]$/.test(name)).map((name) => readFileSync(`${folder}../../${room}/${name}`, 'utf8'))).join('\n');
    const made = [...code.matchAll(/\bsayWith\(`([^`]+)`/g)].map(([, text]) => new RegExp(`^${text.replace(/\$\{\w+\}/g, '\\w+').replace(/(?<!\\w\+)[{}]/g, '\\$&')}$`));
    const rows = Object.keys(PAGE_CHINESE);
    assert.ok(rows.length > 300 && made.length > 0);
    assert.deepEqual(rows.filter((text) => !code.includes(`'${text}'`) && !sql.includes(`'${text}'`) && !words.includes(`"${text}"`) && !made.some((pattern) => pattern.test(text))), []);
});

test('functions are small', () => {
    let count = 0, over = 0;
    for (const [file, text] of [...texts, worker])
        for (const [body] of text.matchAll(/^(?:export )?(?:async )?function [\s\S]*?^}$/gm)) {
            const lines = body.split('\n').length;
            assert.ok(lines <= 80, `${file}: ${body.split('\n')[0]} has ${lines} lines`);
            count++;
            over += lines > 40;
        }
    assert.ok(count > 100 && over / count <= 0.05, `${over} of ${count} functions have more than 40 lines`);
});

test('each file begins with its licence and says what it is for', () => {
    for (const [file, text] of [...texts, worker])
        assert.match(text, /^\/\* SPDX-License-Identifier: Apache-2\.0\n \*\n \* \S/, file);
});
