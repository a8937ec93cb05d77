import { createECDH, createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Choices } from "./random.ts";

/** A proof file as NOVA writes it, loosely typed because tests change it. */
// biome-ignore lint/suspicious/noExplicitAny: tests put values of any type into the file
export type Loose = any;

export type Mode = "none" | "digests" | "all";

export const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");

const day = 86_400;
export const startSeconds = Date.parse("2026-01-01T00:00:00.000Z") / 1000;

/**
 * The keys of one deployment. A new key starts every 30 days. Each key ends one day after the start of the next key;
 * the last key has no end.
 */
export const deployment: TestKey[] = [0, 1, 2, 3].map((n) =>
  makeKey(`nova ${n}`, startSeconds + n * 30 * day, n === 3 ? undefined : startSeconds + (n * 30 + 31) * day),
);
export const keySet = { keys: deployment.map(({ jwk }) => jwk) };
/** A key that NOVA never published. */
export const stranger = makeKey("stranger", startSeconds);

/** Returns the first key whose period includes the time; undefined for a time before all periods. */
export function keyAt(seconds: number): TestKey | undefined {
  return deployment.find(({ jwk }) => seconds >= jwk.nbf && seconds < (jwk.exp ?? Infinity));
}

interface Making {
  choices: Choices;
  mode: Mode;
  runs: Loose[];
  blobs: Record<string, Loose>;
  /** Blobs that the text of a content names. */
  insides: Map<string, string>;
  seconds: number;
  count: number;
  /** The number of entries that the generator may still add to the file. */
  left: number;
}

interface Scope {
  run: Loose;
  first: Loose;
  scope: string;
  entries: Loose[];
  seq: number;
  inner: number;
  nodes: number;
  prev: string | null;
}

/** Makes a valid proof file without a root. */
export function makeProof(choices: Choices, size = choices.between(4, 40)): Loose {
  const mode = choices.pick(["none", "digests", "all"] as const);
  const seconds = startSeconds + choices.between(0, 120 * day);
  const making: Making = { choices, mode, runs: [], blobs: {}, insides: new Map(), seconds, count: 0, left: size };
  const execution = newId(making);
  const common = { client: "acme", root: choices.chance(0.2) ? newId(making) : execution };
  makeRun(making, execution, common, choices.chance(0.2) ? { after: newId(making) } : undefined);
  return {
    ...{ kind: "nova-proof", format: 1, execution, made_at: timeAt(making), contents: mode, runs: making.runs },
    ...(mode === "all" && { blobs: making.blobs }),
    ...{ inclusion: null, root: null, stamp: null, keys: { keys: usedKeys(making.runs) } },
  };
}

/** Returns the keys that signed something in these runs. */
export function usedKeys(runs: Loose[], ...more: string[]): Loose[] {
  const signatures = [...runs.flatMap(({ signature, erasure }) => [signature, erasure]), ...more];
  return [...deployment, stranger]
    .map(({ jwk }) => ({ ...jwk }))
    .filter(({ kid }) => signatures.some((one) => one?.startsWith(kid)));
}

function newId({ choices, count }: Making): string {
  return `exec_${String(count).padStart(4, "0")}${choices.hex(20).toUpperCase()}`;
}

function timeAt(making: Making): string {
  making.seconds += making.choices.between(0, 60);
  return new Date(making.seconds * 1000 + making.choices.between(0, 999)).toISOString();
}

function makeRun(making: Making, execution: string, common: object, plan?: object, parent?: object): Loose {
  const { choices, mode } = making;
  making.count += 1;
  const run: Loose = { execution, signature: "", scopes: [] };
  making.runs.push(run);
  if (choices.chance(0.2)) run.erasure = choices.pick(deployment).sign(`nova erasure v1\n${execution}`);
  const definition = JSON.stringify({ id: `flow-${choices.between(1, 9)}`, nodes: ["ä", "\u2028", "😀"] });
  if (mode === "all" && choices.chance(0.7)) run.definition = definition;
  const first = {
    ...common,
    ...{ workflow_id: `wf_${choices.hex(8)}`, workflow_version: choices.between(1, 99) },
    ...(choices.chance(0.2) && { frozen: true }),
    ...(choices.chance(0.1) && { sealed: true }),
  };
  const main: Scope = { run, first, scope: "", entries: [], seq: -1, inner: 0, nodes: 0, prev: null };
  run.scopes.push({ scope: "", entries: main.entries });
  const isCompleted = choices.chance(0.8);
  const own = {
    machine: "arn:aws:states:x",
    definition: sha256(definition),
    ...(plan && { plan }),
    ...(parent && { parent }),
  };
  addNodes(making, main, "begin", isCompleted ? "done" : "never", own);
  if (isCompleted) addEntry(making, main, { node_id: "done", node_type: "end", path_taken: null });
  const status = isCompleted ? "completed" : choices.pick(["failed", "cancelled", "interrupted"]);
  const close = { status, count: main.seq + 2 + main.inner };
  addEntry(making, main, { node_id: "(close)", node_type: "close", path_taken: null, close });
  run.signature = keyAt(making.seconds)?.sign(`nova close v1\n${main.prev}`);
  return run;
}

/** Adds nodes in a row; the first is `first`, and the last one leads to `end`. */
function addNodes(making: Making, scope: Scope, first: string, end: string | null, own: object = {}): void {
  const { choices } = making;
  let node = first;
  let isStart = scope.scope === "";
  for (let left = choices.between(1, 5); left > 0; left--) {
    const next = left === 1 || making.left <= 0 ? end : `n${choices.between(1, 99)}`;
    const kind = isStart
      ? "start"
      : choices.pick(["action", "action", "prompt", "fork", "map", "workflow", "reuse", "decision", "approval"]);
    if (kind === "fork" || kind === "map") addFork(making, scope, node, next, kind);
    else if (kind === "workflow") addChild(making, scope, node, next);
    else if (kind === "approval") addApproval(making, scope, node, next);
    else {
      const reused_from = { execution: newId(making), scope: "", seq: choices.between(1, 9), hash: choices.hex(64) };
      const more = isStart ? own : kind === "reuse" ? { reused_from } : {};
      const type = { start: "start", prompt: "prompt", decision: "decision" }[kind as string] ?? "action";
      addEntry(making, scope, { node_id: node, node_type: type, path_taken: next, ...more }, kind === "action" ? 1 : 0);
    }
    isStart = false;
    if (next === end) return;
    node = next as string;
  }
}

function addFork(making: Making, scope: Scope, node: string, next: string | null, kind: "fork" | "map"): void {
  const { choices } = making;
  const fork = addEntry(making, scope, {
    node_id: node,
    node_type: kind === "map" ? "map" : "action",
    path_taken: `${node}.join`,
  });
  const names = Array.from({ length: choices.between(kind === "map" ? 0 : 2, 4) }, (_, n) =>
    kind === "map" ? `${n}` : `b${n}`,
  );
  const tips = names.flatMap((name): Scope[] => {
    if (making.left <= 0 || choices.chance(0.1)) return [];
    const place = `${scope.scope}/${node}@${fork.seq}.${name}`;
    const branch: Scope = { ...scope, scope: place, entries: [], seq: 0, inner: 0, nodes: 0, prev: sha256(fork.head) };
    scope.run.scopes.push({ scope: place, entries: branch.entries });
    addNodes(making, branch, kind === "map" ? "each" : name, null);
    return [branch];
  });
  scope.inner += tips.reduce((sum, { seq, inner }) => sum + seq + inner, 0);
  const branches = JSON.stringify(tips.map(({ scope, seq, prev }) => ({ scope, seq, hash: prev })));
  const nodes = tips.reduce((sum, tip) => sum + tip.nodes, 0);
  addEntry(making, scope, { node_id: `${node}.join`, node_type: "join", path_taken: next }, nodes, { branches });
}

/** Adds an approval, which may have votes. The votes come after the entry before the approval. */
function addApproval(making: Making, scope: Scope, node: string, next: string | null): void {
  const { choices } = making;
  const place = `${scope.scope}/${node}@${scope.seq + 1}.(votes)`;
  const votes: Scope = { ...scope, scope: place, entries: [], seq: 0, inner: 0, nodes: 0 };
  for (let left = choices.between(0, 3); left > 0; left--)
    addEntry(making, votes, { node_id: node, node_type: "vote", path_taken: left === 1 ? null : node });
  const branches = JSON.stringify([{ scope: place, seq: votes.seq, hash: votes.prev }]);
  scope.inner += votes.seq;
  const list = votes.seq > 0 ? { branches } : {};
  addEntry(making, scope, { node_id: node, node_type: "approval", path_taken: next }, 0, list);
  if (votes.seq > 0) scope.run.scopes.push({ scope: place, entries: votes.entries });
}

/**
 * Adds a node that started a child run. In some proofs, the entry reuses the outcome of a node in an earlier run, and
 * that node started the child run.
 */
function addChild(making: Making, scope: Scope, node: string, next: string | null): void {
  const { choices } = making;
  const isReused = choices.chance(0.4);
  const at = { execution: scope.run.execution, scope: scope.scope, seq: scope.seq + 1 };
  const starter = isReused ? { execution: newId(making), scope: "/x@1.y", seq: choices.between(1, 9) } : at;
  const child = { execution: newId(making), workflow: "wf_gone", version: 1, tip: choices.hex(64) };
  if (making.left > 0 && !(isReused && choices.chance(0.4))) {
    const { client, root } = scope.first;
    const run = makeRun(making, child.execution, { client, root }, undefined, { ...starter, depth: 1 });
    const [main] = run.scopes;
    const first = JSON.parse(main.entries[0].head);
    Object.assign(child, {
      workflow: first.workflow_id,
      version: first.workflow_version,
      tip: sha256(main.entries.at(-1).head),
    });
  }
  if (child.workflow === "wf_gone" && !isReused) {
    addEntry(making, scope, { node_id: node, node_type: "action", path_taken: next });
    return;
  }
  const reused = isReused && { reused_from: { ...starter, hash: choices.hex(64) } };
  addEntry(making, scope, { node_id: node, node_type: "workflow", path_taken: next, child, ...reused });
}

function addEntry(making: Making, scope: Scope, fields: Loose, ranNodes = 0, known: Record<string, string> = {}) {
  const { choices, mode } = making;
  making.left -= 1;
  scope.seq += 1;
  scope.nodes += ranNodes;
  const texts = { ...makeTexts(making), ...known };
  const steps =
    fields.node_type === "prompt" ? Array.from({ length: choices.between(0, 3) }, () => makeStep(making, scope)) : [];
  const head = JSON.stringify({
    ...{ format: 1, execution_id: scope.run.execution, scope: scope.scope, seq: scope.seq, ...scope.first },
    ...{
      status: choices.chance(0.9) ? "success" : "failed",
      attempt: 1,
      decision_result: null,
      timestamp: timeAt(making),
    },
    ...{ execution_time_ms: choices.next() * 1000, sandbox_id: null, warm: null, code: null, nodes: scope.nodes },
    ...(scope.inner > 0 && { inner: scope.inner }),
    ...{ ...fields, prev: scope.prev, digests: digestsOf(texts), steps: steps.map(({ hash }) => hash) },
  });
  scope.prev = sha256(head);
  const entry: Loose = { head };
  if (mode !== "none" && steps.length > 0) entry.steps = steps.map(({ step }) => step);
  if (mode === "all") entry.contents = makeContents(making, scope.run, texts);
  scope.entries.push(entry);
  return { head, seq: scope.seq };
}

const words = [
  "",
  "{}",
  '{"total":850.0}',
  "äöü",
  "😀 \u2028",
  "line\nline",
  '"quoted"',
  "\u0000",
  "<b>x</b>",
  "a".repeat(300),
];

function makeTexts({ choices, insides }: Making): Record<string, string> {
  const names = ["context", "logs", "error", "items", "code"].filter(() => choices.chance(0.4));
  const texts = Object.fromEntries(names.map((name) => [name, choices.pick(words) + choices.hex(4)]));
  if (texts.items === undefined || choices.chance(0.6)) return texts;
  const page = `a page of items ${choices.hex(8)}`;
  insides.set(sha256(page), page);
  return { ...texts, items: JSON.stringify({ pages: [{ sha256: sha256(page) }] }) };
}

function digestsOf(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, sha256(text)]));
}

function makeStep(making: Making, { run }: Scope): { hash: string; step: Loose } {
  const { choices, mode } = making;
  const texts = makeTexts(making);
  const digests = choices.chance(0.9) ? digestsOf(texts) : undefined;
  const text = JSON.stringify({ format: 1, step_number: choices.between(1, 9), cost_usd: choices.next(), digests });
  if (run.erasure !== undefined && choices.chance(0.3)) return { hash: sha256(text), step: { text: null } };
  const contents = mode === "all" && { contents: makeContents(making, run, digests ? texts : {}) };
  return { hash: sha256(text), step: { text, ...contents } };
}

function makeContents({ choices, blobs, insides }: Making, run: Loose, texts: Record<string, string>): Loose {
  const withhold = (): Loose => {
    if (run.erasure !== undefined && choices.chance(0.3)) return { withheld: "erased" };
    return choices.chance(0.1) ? { withheld: choices.pick(["secret", "size"]) } : undefined;
  };
  const make = (text: string): Loose => {
    const reason = withhold();
    if (reason) return reason;
    const [inside] = Array.from(insides).filter(([name]) => text.includes(name));
    if (inside) blobs[inside[0]] = withhold() ?? Buffer.from(inside[1]).toString("base64");
    if (choices.chance(0.7)) return { text };
    blobs[sha256(text)] = Buffer.from(text).toString("base64");
    return { blob: true };
  };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, make(text)]));
}

/** A public key of NOVA in the form in which the key set contains it. */
interface Jwk {
  kty: string;
  crv: string;
  use: string;
  alg: string;
  x: string;
  y: string;
  kid: string;
  nbf: number;
  exp?: number;
}

interface TestKey {
  jwk: Jwk;
  /** Signs a text as docs/proof.md says. */
  sign(text: string): string;
}

/** Makes the key of a seed. `nbf` and `exp` are seconds since 1970. */
function makeKey(seed: string, nbf: number, exp?: number): TestKey {
  const ecdh = createECDH("prime256v1");
  const d = createHash("sha256").update(seed).digest();
  ecdh.setPrivateKey(d);
  const point = ecdh.getPublicKey();
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
  const kid = createHash("sha256").update(`{"crv":"P-256","kty":"EC","x":"${x}","y":"${y}"}`).digest("base64url");
  const own = { kty: "EC", crv: "P-256", x, y };
  const key: KeyObject = createPrivateKey({ key: { ...own, d: d.toString("base64url") }, format: "jwk" });
  return {
    jwk: { ...own, use: "sig", alg: "ES256", kid, nbf, ...(exp !== undefined && { exp }) },
    sign: (text) =>
      `${kid}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`,
  };
}
