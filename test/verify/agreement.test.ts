import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyProof } from "../../packages/verify/src/index.ts";
import { addRoot } from "./support/add-root.ts";
import { keyAt, keySet, type Loose, makeProof, sha256 } from "./support/make-proof.ts";
import { type Job, verifyInPython } from "./support/python.ts";
import { Choices } from "./support/random.ts";
import { addStamp, openStampers, type Stampers, stampChanges } from "./support/stamps.ts";
import { changeHead, changes, textChanges } from "./support/tamper.ts";

let folder: string;
let stampers: Stampers;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-agreement-"));
  stampers = await openStampers();
});
afterAll(async () => {
  await stampers[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Case {
  name: string;
  data: string | Uint8Array;
  keys?: string;
  tsaCa?: string;
}

function makeValid(seed: number): Case & { proof: Loose } {
  const choices = new Choices(seed);
  const proof = makeProof(choices);
  if (choices.chance(0.7)) addRoot(proof, choices);
  if (proof.root && choices.chance(0.7)) addStamp(proof, choices, stampers);
  const keys = choices.chance(0.5) && { keys: JSON.stringify(keySet) };
  const tsaCa = choices.chance(0.5) && { tsaCa: stampers.anchors.at(-1) as string };
  return { name: `seed ${seed}`, proof, data: JSON.stringify(proof, null, choices.pick([0, 0, 1])), ...keys, ...tsaCa };
}

/**
 * Applies random changes to a valid proof until the file differs. `isResealed` is true if the changed proof was hashed
 * and signed again.
 */
function makeTampered(seed: number): Case & { isResealed: boolean } {
  const choices = new Choices(seed + 1_000_000);
  for (;;) {
    const { proof, keys, tsaCa } = makeValid(seed);
    const before = JSON.stringify(proof);
    const given = { ...(keys && { keys }), ...(tsaCa && { tsaCa: choices.pick(stampers.anchors) }) };
    if (proof.root && choices.chance(0.2)) {
      const [name, change] = choices.pick(Object.entries(stampChanges));
      change(proof, choices, stampers, choices.pick(stampers.good));
      return { name: `${name}, seed ${seed}`, data: JSON.stringify(proof), isResealed: false, ...given };
    }
    const isText = choices.chance(0.3);
    const isOfHead = !isText && choices.chance(0.4);
    const isResealed = !isText && choices.chance(isOfHead ? 0.9 : 0.3);
    const [name, change] = isOfHead ? (["changes a head", changeHead] as const) : choices.pick(Object.entries(changes));
    const [nameOfText, changeText] = choices.pick(Object.entries(textChanges));
    if (isResealed) changeAndReseal(proof, choices, (one) => change(one, choices));
    else if (!isText) change(proof, choices);
    const data = isText ? changeText(before, choices) : JSON.stringify(proof);
    const title = `${isText ? nameOfText : name}${isResealed ? " and signs again" : ""}`;
    if (data !== before) return { name: `${title}, seed ${seed}`, data, isResealed, ...given };
  }
}

/** Changes after which a proof may still be valid, because they do not change what the proof states. */
const harmless = [
  // Without a given key set, a verifier cannot know whose keys are in the file.
  "signs with a key of a stranger",
  ...[
    "changes the time of the file",
    "has other spaces",
    "changes a character",
    "drops characters",
    "nests a head deeply",
  ],
  ...[
    "changes the period of a key",
    "signs at the edge of a period",
    "drops a key",
    "swaps two scopes",
    "swaps two runs",
  ],
  ...["stamps at the edge of the tolerance", "writes the time of a stamp in another way", "changes bytes of a stamp"],
  ...["changes the parts around a stamp", "drops or repeats a signed attribute"],
  ...["drops the note of an erasure", "adds a note of an erasure", "drops the root or the path", "changes a content"],
  ...[
    "drops a blob",
    "changes a blob",
    "changes a definition",
    "changes the root",
    "changes a field of a key",
    "changes a field of a run",
  ],
];

/** Checks all cases with both verifiers. */
async function judge(cases: Case[]) {
  const jobs = await Promise.all(
    cases.map(async ({ data, keys, tsaCa }, index): Promise<Job> => {
      const write = async (name: string, text: Case["data"]) => {
        await writeFile(join(folder, name), text);
        return join(folder, name);
      };
      return {
        file: await write(`${index}.json`, data),
        ...(keys && { keys: await write("keys.json", keys) }),
        ...(tsaCa && { tsaCa: await write(`${stampers.anchors.indexOf(tsaCa)}.pem`, tsaCa) }),
      };
    }),
  );
  const python = await verifyInPython(jobs);
  return Promise.all(
    cases.map(async ({ name, data, keys, tsaCa }, index) => {
      const file = typeof data === "string" ? Buffer.from(data) : data;
      const { problem, ...verdict } = await verifyProof(file, { keys, tsaCa });
      if (!problem) return { name, message: "", own: verdict, other: python[index] };
      const { message, ...place } = problem;
      return { name, message, own: { ...verdict, problem: place }, other: python[index] };
    }),
  );
}

function testAgreement(count: number): void {
  it(`accept ${count} valid proofs, and find the same facts in them`, async () => {
    const all = await judge(Array.from({ length: count }, (_, seed) => makeValid(seed)));
    for (const { name, own, other } of all) expect({ name, ...other }).toEqual({ name, ...own });
    expect(all.filter(({ own }) => own.state !== "valid").map(({ name }) => name)).toEqual([]);
    const stamps = new Set(all.map(({ own }) => own.stamp?.trusted));
    expect(stamps).toEqual(new Set([undefined, false, true]));
  }, 300_000);

  it(`refuse ${count} changed proofs for the same reason at the same place`, async () => {
    const cases = Array.from({ length: count }, (_, seed) => makeTampered(seed));
    const all = await judge(cases);
    for (const { name, message, own, other } of all)
      expect({ name, message, ...other }).toEqual({ name, message, ...own });
    const broken = all.filter(({ own }) => own.state === "broken");
    expect(broken.length).toBeGreaterThan(count * 0.7);
    const sound = all.filter(({ own }, index) => own.state === "valid" && !cases[index]?.isResealed);
    expect(sound.map(({ name }) => name).filter((name) => !harmless.includes(name.split(",")[0] ?? ""))).toEqual([]);
    const codes = new Set(broken.map(({ own }) => ("problem" in own ? own.problem.code : undefined)));
    if (count >= 1000) expect([...codes].sort()).toEqual(everyCode);
    for (const { message } of broken) expect(message).toMatch(/^[A-Z][^\n]{10,500}\.$/s);
  }, 300_000);
}

const everyCode = [
  ...["blobs", "branch", "child", "close", "constant", "contents", "definition", "edge", "end", "erasure", "extra"],
  ...["file", "head", "inclusion", "join", "key", "period", "place", "prev", "root", "signature", "stamp", "steps"],
];

describe("the verifiers in TypeScript and in Python", () => {
  testAgreement(40);
});

describe("the verifiers in TypeScript and in Python", { tags: ["deep"] }, () => {
  testAgreement(1000);
});

/**
 * Changes heads and then hashes and signs everything again, as a forger with NOVA's key would. The checks other than
 * hashes and signatures have to notice the change.
 */
function changeAndReseal(proof: Loose, choices: Choices, change: (proof: Loose) => void): void {
  change(proof);
  const tips = new Map<string, string>();
  try {
    // A run comes before the runs that it started, and its entries contain the hashes of these runs. So the last run is
    // sealed first.
    for (const run of proof.runs.toReversed()) resealRun(run, tips, choices);
  } catch (error) {
    // A changed file that no longer has the form of a proof contains no hashes or signatures to correct.
    if (!(error instanceof TypeError)) throw error;
  }
}

function resealRun(run: Loose, tips: Map<string, string>, choices: Choices): void {
  const hashes = new Map<string, string>();
  const reseal = (scope: string, before: string | null): void => {
    const { entries = [] } = run.scopes.find((one: Loose) => one.scope === scope) ?? {};
    let prev = before;
    for (const [index, entry] of entries.entries()) {
      const head = parse(entry.head);
      if (head === undefined) continue;
      const seq = index + (scope === "" ? 0 : 1);
      head.prev = prev;
      if (head.child && tips.has(head.child.execution)) head.child.tip = tips.get(head.child.execution);
      if (head.digests?.branches && choices.chance(0.95))
        head.digests.branches = listBranches(run, scope, seq - 1, hashes);
      entry.head = JSON.stringify(head);
      prev = sha256(entry.head);
      hashes.set(scope, prev);
      for (const one of run.scopes) if (isBranchAt(one.scope, scope, seq)) reseal(one.scope, prev);
    }
  };
  reseal("", null);
  const last = run.scopes[0]?.entries.at(-1);
  const time = Date.parse(parse(last?.head ?? "")?.timestamp) / 1000;
  if (!last) return;
  tips.set(run.execution, sha256(last.head));
  run.signature = (keyAt(time) ?? keyAt(1.77e9))?.sign(`nova close v1\n${sha256(last.head)}`);
}

function parse(head: string): Loose {
  try {
    const value = JSON.parse(head);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isBranchAt(scope: string, parent: string, seq: number): boolean {
  return scope.startsWith(`${parent}/`) && new RegExp(`^/[^/@]+@${seq}\\.[^/]*$`).test(scope.slice(parent.length));
}

function listBranches(run: Loose, parent: string, seq: number, hashes: Map<string, string>): string {
  const ends = run.scopes
    .filter(({ scope }: Loose) => isBranchAt(scope, parent, seq))
    .map(({ scope, entries }: Loose) => ({ scope, seq: entries.length, hash: hashes.get(scope) }));
  return sha256(JSON.stringify(ends));
}
