# SPDX-License-Identifier: Apache-2.0
"""A client of npumem-mcp that knows as much of the protocol as the tests need, and holds each answer to what tools/list says of it."""
import json
import subprocess

ANSWER_CHARACTERS_MAX = 8000
failures = []


def fail(words):
    failures.append(words)
    print("FAIL:", words[:1000])


def expect(what, value, wanted):
    """Of long lists where they begin to differ is told."""
    if isinstance(value, list) and isinstance(wanted, list) and value != wanted:
        same = next((i for i, pair in enumerate(zip(value, wanted)) if pair[0] != pair[1]), min(len(value), len(wanted)))
        what, value, wanted = "%s, from %d on" % (what, same), value[same:same + 3], wanted[same:same + 3]
    if value != wanted:
        fail("%s: %r, not %r" % (what, value, wanted))


def check_schema(what, schema, value, definitions):
    """As much of JSON Schema as tools.json uses; another word in it is a fault of the test."""
    if "$ref" in schema:
        return check_schema(what, definitions[schema["$ref"].rsplit("/", 1)[1]], value, definitions)
    unknown = set(schema) - {"type", "properties", "required", "additionalProperties", "items", "enum", "description", "$defs"}
    if unknown:
        fail("%s: the schema has %s, which this test does not know" % (what, unknown))
    if "enum" in schema and value not in schema["enum"]:
        fail("%s: %r is none of %s" % (what, value, schema["enum"]))
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, None: object}
    kind = types[schema.get("type")]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return fail("%s: %r is no %s" % (what, value, schema["type"]))
    if kind is list:
        for item in value:
            check_schema(what + "[]", schema.get("items", {}), item, definitions)
    if kind is dict:
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                fail("%s: there is no %s in %r" % (what, name, value))
        for name, member in value.items():
            if name in properties:
                check_schema("%s.%s" % (what, name), properties[name], member, definitions)
            elif schema.get("additionalProperties") is False:
                fail("%s: %s is not in its schema" % (what, name))


class Refused(Exception):
    """A tool that says why it cannot."""


class Client:
    def __init__(self, program, *arguments, folder="."):
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
        self.number, self.tools = 0, {}

    def send(self, text):
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def ask(self, method, **parameters):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method}
        self.send(json.dumps(dict(message, params=parameters) if parameters else message) + "\n")
        answer = self.receive()
        expect("id of the answer to " + method, (answer or {}).get("id"), self.number)
        expect("jsonrpc of the answer to " + method, answer.get("jsonrpc"), "2.0")
        if ("result" in answer) == ("error" in answer):
            fail("%s: an answer must be a result or an error: %r" % (method, answer))
        return answer

    def result(self, method, **parameters):
        answer = self.ask(method, **parameters)
        if "result" not in answer:
            fail("%s: %r" % (method, answer))
        return answer.get("result", {})

    def learn(self):
        self.tools = {tool["name"]: tool for tool in self.result("tools/list")["tools"]}

    def call(self, tool, **arguments):
        if not self.tools:
            self.learn()
        result = self.result("tools/call", name=tool, arguments=arguments)
        expect("blocks of " + tool, [block["type"] for block in result["content"]], ["text"])
        text = result["content"][0]["text"]
        if result["isError"]:
            if "structuredContent" in result or "\n" in text or not text:
                fail("%s: a failure must be one line: %r" % (tool, result))
            raise Refused(text)
        expect("the text of " + tool, json.loads(text), result["structuredContent"])
        if len(text) > ANSWER_CHARACTERS_MAX:
            fail("%s %r: an answer of %d characters" % (tool, arguments, len(text)))
        schema = self.tools[tool]["outputSchema"]
        check_schema(tool, schema, result["structuredContent"], schema.get("$defs", {}))
        return result["structuredContent"]

    def refused(self, words, tool, **arguments):
        try:
            fail("%s %r: is done, and not refused: %r" % (tool, arguments, self.call(tool, **arguments)))
        except Refused as refusal:
            if words not in str(refusal):
                fail("%s %r: says %r, not %r" % (tool, arguments, str(refusal), words))

    def pages(self, tool, **arguments):
        """All answers of a walk by the cursor."""
        pages = [self.call(tool, **arguments)]
        while "more" in pages[-1]:
            pages.append(self.call(tool, **dict(arguments, more=pages[-1]["more"])))
            if len(pages) > 1000:
                fail("%s %r: the cursor has no end" % (tool, arguments))
                break
        return pages

    def open(self, path):
        """Until it is loaded."""
        for _ in range(600):
            answer = self.call("open", path=path)
            if answer["state"] != "loading":
                return answer
        fail("%s: is loading without end" % path)
        return answer

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        said = self.process.stderr.read().decode()
        self.process.wait(timeout=60)
        return self.process.returncode, rest, said
