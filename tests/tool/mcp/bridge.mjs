// SPDX-License-Identifier: Apache-2.0
//
// bridge.mjs PROGRAM ARGUMENT...: a server of the protocol on standard streams, put behind HTTP on this machine, for a client that knows
// nothing else. For tests alone: it trusts whoever asks. Prints where it listens.
import { spawn } from "node:child_process";
import http from "node:http";
import readline from "node:readline";

const [program, ...words] = process.argv.slice(2);
const server = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map(); // id of ours -> who asked, and by which id
let count = 0;

readline.createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  const asked = waiting.get(message.id);
  waiting.delete(message.id);
  asked.response.writeHead(200, { "Content-Type": "application/json" });
  asked.response.end(JSON.stringify({ ...message, id: asked.id }));
});

const bridge = http.createServer(async (request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  if (!/^(localhost|127\.0\.0\.1)(:\d+)?$/.test(request.headers.host ?? "")) return response.writeHead(403).end();
  if (request.headers.origin && !/^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/.test(request.headers.origin)) return response.writeHead(403).end();
  let body = "";
  for await (const part of request) body += part;
  const message = JSON.parse(body);
  if (message.id === undefined) {
    server.stdin.write(`${JSON.stringify(message)}\n`);
    return response.writeHead(202).end();
  }
  const id = ++count;
  waiting.set(id, { response, id: message.id });
  server.stdin.write(`${JSON.stringify({ ...message, id })}\n`);
});
bridge.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${bridge.address().port}/mcp`));
