// SPDX-License-Identifier: Apache-2.0
// json_schema.mjs MODULES SCHEMA FILE...: each line of each file is JSON of the schema, by ajv. Members that the schema does not name are
// faults here, so that none is forgotten there; who reads such JSON has to bear them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, schemaFile, ...files] = process.argv.slice(2);
const Ajv = createRequire(modules + "/")("ajv/dist/2020");
const schema = JSON.parse(readFileSync(schemaFile, "utf8"));

// The parts of programs stand beside each other in one object: what none of them names is `unevaluated`.
function close(part) {
    if (part === null || typeof part !== "object")
        return;
    for (const inner of Object.values(part))
        close(inner);
    if (part.properties && [].concat(part.type).includes("object"))
        part.unevaluatedProperties = false;
}
close(schema);

const validate = new Ajv.default({ strict: true, strictTypes: false, allErrors: true, allowUnionTypes: true, strictRequired: false }).compile(schema);
const seen = {};
let faults = 0;
for (const file of files) {
    for (const line of readFileSync(file, "utf8").split("\n").filter((text) => text !== "")) {
        const answer = JSON.parse(line);
        seen[answer.program] = (seen[answer.program] ?? 0) + 1;
        if (validate(answer))
            continue;
        faults++;
        for (const error of validate.errors.slice(0, 5))
            console.log(`${file}: ${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
    }
}
console.log(Object.entries(seen).sort().map(([program, count]) => `${program} ${count}`).join(", "));
process.exit(faults === 0 ? 0 : 1);
