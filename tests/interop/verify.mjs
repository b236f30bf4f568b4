// Has snarkjs verify what `cuzk export` wrote, and refuse it with one bit flipped in any part that
// the equation uses.
//
//     node verify.mjs FOLDER...        each with verification_key.json, proof-N.json, public-N.json
//
// Ends with `N passed, N failed`.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

// snarkjs lies in the folder of the build, not beside this file
const snarkjs = createRequire(path.join(process.cwd(), "package.json"))("snarkjs");

let passed = 0, failed = 0;
function expect(what, ok) {
    if (ok) passed++;
    else {
        failed++;
        console.log(`FAILED ${what}`);
    }
}

async function accepts(vk, inputs, proof) {
    try {
        return await snarkjs.groth16.verify(vk, inputs, proof);
    } catch (e) {
        return false; // a point off the curve, a number that is none
    }
}

// The paths of all decimal numbers below a value: [["vk_alpha_1", 0], …]
function numbers(value, at = []) {
    if (typeof value === "string")
        return /^\d+$/.test(value) ? [at] : [];
    if (typeof value !== "object")
        return [];
    return Object.entries(value).flatMap(([k, v]) => numbers(v, [...at, k]));
}

function flipped(value, at, bit) {
    const copy = structuredClone(value);
    let parent = copy;
    for (const key of at.slice(0, -1))
        parent = parent[key];
    const key = at[at.length - 1];
    parent[key] = (BigInt(parent[key]) ^ (1n << BigInt(bit))).toString();
    return copy;
}

let seed = 1;
const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;

for (const folder of process.argv.slice(2)) {
    const read = (name) => JSON.parse(fs.readFileSync(path.join(folder, name)));
    const vk = read("verification_key.json");
    const partitions = fs.readdirSync(folder).filter((n) => /^proof-\d+\.json$/.test(n)).length;
    expect(`${folder}: has proofs`, partitions > 0);
    for (let i = 0; i < partitions; i++) {
        const proof = read(`proof-${i}.json`), inputs = read(`public-${i}.json`);
        expect(`${folder}: proof ${i} is accepted`, await accepts(vk, inputs, proof));
        // affine coordinates: the third of a point is a constant
        for (const at of numbers(proof).filter((at) => at[1] !== "2"))
            expect(`${folder}: proof ${i}, ${at} flipped`,
                   !(await accepts(vk, inputs, flipped(proof, at, random(381)))));
        for (const at of numbers(inputs).slice(0, 5))
            expect(`${folder}: public ${i}, ${at} flipped`,
                   !(await accepts(vk, flipped(inputs, at, random(254)), proof)));
        expect(`${folder}: public ${i} cut`, !(await accepts(vk, inputs.slice(1), proof)));
    }
    const proof = read("proof-0.json"), inputs = read("public-0.json");
    const used = numbers(vk).filter((at) => at[0] !== "IC" ? at[1] !== "2"
        : at[2] !== "2" && (at[1] === "0" || inputs[at[1] - 1] !== "0")).slice(0, 24);
    for (const at of used)
        expect(`${folder}: key, ${at} flipped`,
               !(await accepts(flipped(vk, at, random(381)), inputs, proof)));
}
await globalThis.curve_bls12381?.terminate();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed !== 0 || passed === 0 ? 1 : 0);
