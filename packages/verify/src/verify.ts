import { bytesOfBase64, hexOf, sha256 } from "./bytes.ts";
import * as chain from "./chain.ts";
import { Broken, type CheckedRun, type Code, demand, type Place } from "./chain.ts";
import { isTime, type Jwk, type KeySet, type Proof, parseKeys, parseProof } from "./form.ts";
import { checkToken, parseAuthorities } from "./stamp.ts";

/** The key set of the operator (JWKS), and the certificates of the time-stamp authority (PEM). */
export type Trusted = { keys?: Uint8Array | string | undefined; tsaCa?: Uint8Array | string | undefined };

/** `execution`: null if the file is no proof. `covers`: runs that the file proves. `names`: runs that it only names. */
export interface Verdict extends chain.Counts {
  state: "valid" | "broken";
  execution: string | null;
  covers: string[];
  names: { execution: string; relation: "reuses" | "restarts" | "child missing" }[];
  keys: "given" | "from the file";
  signed_at: string | null;
  root: { number: number; at: string } | null;
  stamp: { at: string; trusted: boolean } | null;
  problem?: chain.Problem;
}

/** Checks a proof as docs/proof.md says, up to the first problem. Throws `SyntaxError` only for a trusted file. */
export async function verifyProof(file: Uint8Array | string, { keys, tsaCa }: Trusted = {}): Promise<Verdict> {
  const given = keys === undefined ? undefined : parseKeys(keys);
  const authorities = tsaCa === undefined ? undefined : parseAuthorities(tsaCa);
  const counts: chain.Counts = { entries: 0, contents: { checked: 0, withheld: 0, erased: 0 } };
  const none = { execution: null, covers: [], names: [], signed_at: null, root: null, stamp: null };
  const verdict: Verdict = { state: "broken", ...none, keys: given ? "given" : "from the file", ...counts };
  try {
    const proof = chain.attempt("file", {}, "The file is not a proof", () => parseProof(file));
    verdict.execution = proof.execution;
    const ring = new Keys(proof.keys, given);
    const runs: CheckedRun[] = [];
    for (const run of proof.runs) runs.push(await chain.checkEntries(proof, run, verdict));
    for (const run of runs) await chain.checkJoins(run);
    for (const run of runs) await checkEnd(run, ring);
    checkChildren(runs);
    await checkBlobs(proof);
    const { head, hash } = lastOf(runs[0]);
    const root = await checkRoot(proof, hash, ring);
    const stamp = root && (await checkStamp(proof, root.at, authorities));
    const covers = runs.map(({ run }) => run.execution);
    return { ...verdict, state: "valid", covers, names: listNames(runs), signed_at: head.timestamp, root, stamp };
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { ...verdict, problem: error.problem };
  }
}

const firstOf = (run: CheckedRun) => run.scopes.get("")?.[0] as chain.Checked;
const lastOf = (run: CheckedRun | undefined) => run?.scopes.get("")?.at(-1) as chain.Checked;
const entriesOf = (runs: CheckedRun[]) => runs.flatMap(({ scopes }) => [...scopes.values()].flat());

async function checkEnd(run: CheckedRun, keys: Keys): Promise<void> {
  const { execution, definition, signature, erasure } = run.run;
  const [{ head, hash }, at] = [lastOf(run), { execution }];
  demand(head.close, "end", at, "The run has no close at its end: it was cut off, or the run is not over.");
  const isOwn = definition === undefined || (await sha256(definition)) === firstOf(run).head.definition;
  demand(isOwn, "definition", at, "The definition is not the one with which the run started.");
  await keys.demandSigned("close", signature, `nova close v1\n${hash}`, head.timestamp, at);
  if (erasure) await keys.demandSigned("erasure", erasure, `nova erasure v1\n${execution}`, undefined, at, "erasure");
}

/** Checks that the file contains every run that an entry started, complete, and no other runs. */
function checkChildren(runs: CheckedRun[]): void {
  const places = new Map(runs.map(({ run }, index) => [run.execution, index]));
  const isNamed = runs.map((_, index) => index === 0);
  for (const { head, at } of entriesOf(runs)) {
    const place = places.get(head.child?.execution ?? "") ?? -1;
    const [run, starter] = [runs[place], head.reused_from ?? at];
    if (!head.child || (!run && head.reused_from)) continue;
    const { execution, workflow, version, tip } = head.child;
    demand(run, "child", at, `The run ${execution}, which the entry started, is missing.`);
    if (place > (places.get(at.execution) ?? 0)) isNamed[place] = true;
    const { parent, ...first } = firstOf(run).head;
    const isParent = (["execution", "scope", "seq"] as const).every((name) => parent?.[name] === starter[name]);
    const isSame = first.workflow_id === workflow && first.workflow_version === version && lastOf(run).hash === tip;
    const isStarted = isParent && isSame && first.client === head.client && first.root === head.root;
    demand(isStarted, "child", at, `The run ${execution} is not the one that the entry started, or ended otherwise.`);
  }
  const extra = runs[isNamed.indexOf(false)]?.run;
  if (extra) throw new Broken("extra", { execution: extra.execution }, "No entry of an earlier run started the run.");
}

function listNames(runs: CheckedRun[]): Verdict["names"] {
  const covered = new Set<string | undefined>([...runs.map(({ run }) => run.execution), undefined]);
  const all = entriesOf(runs).flatMap(({ head, at }) => [
    { execution: at.seq === 0 ? head.plan?.after : undefined, relation: "restarts" },
    { execution: head.reused_from?.execution, relation: "reuses" },
    { execution: head.child?.execution, relation: "child missing" },
  ]);
  const names = all.filter(({ execution }) => !covered.has(execution)) as Verdict["names"];
  return [...new Map(names.map((name) => [JSON.stringify(name), name])).values()];
}

async function checkBlobs({ runs, blobs = {} }: Proof): Promise<void> {
  const unnamed = new Set(Object.keys(blobs));
  if (unnamed.size === 0) return;
  const entries = runs.flatMap(({ scopes }) => scopes.flatMap((scope) => scope.entries));
  const steps = entries.flatMap((entry) => entry.steps ?? []);
  const contents = [...entries, ...steps].flatMap((part) => Object.values(part.contents ?? {}));
  const shown = contents.map((content) => ("text" in content ? content.text : ""));
  const texts = [...runs.map((run) => run.definition), ...steps.map((step) => step.text), ...shown];
  for (const { head } of entries) texts.push(head);
  for (const [name, blob] of Object.entries(blobs)) {
    const isGone = typeof blob !== "string" && (blob.withheld !== "erased" || runs.some((run) => run.erasure));
    const isWhole = isGone || (typeof blob === "string" && (await sha256(bytesOfBase64(blob))) === name);
    demand(isWhole, "blobs", {}, `The blob ${name} was changed, or is missing without a note of its erasure.`);
    if (typeof blob === "string") texts.push(atob(blob));
  }
  for (const text of texts)
    for (const [name] of (text ?? "").matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g)) unnamed.delete(name);
  demand(unnamed.size === 0, "blobs", {}, `Nothing in the file names the blob ${[...unnamed][0]}: it was added.`);
}

const rootFields = ['"format":1', '"number":([1-9]\\d{0,14})', '"size":([1-9]\\d{0,14})', '"tree":"([0-9a-f]{64})"'];
const rootText = new RegExp(`^{${rootFields.join()},"at":"(.{24})","previous":(null|"[0-9a-f]{64}")}$`);
async function checkRoot({ root, inclusion }: Proof, close: string, keys: Keys): Promise<Verdict["root"]> {
  if (!root || !inclusion) return null;
  const [, number, size, tree, at = "", previous] = rootText.exec(root.text) ?? [];
  const isRoot = isTime(at) && (number === "1") === (previous === "null");
  demand(isRoot, "root", {}, "The text of the root does not have the form of a root.");
  await keys.demandSigned("root", root.signature, `nova root v1\n${root.text}`, at, {}, "root");
  const top = await hashPath(close, inclusion.index, Number(size), inclusion.path);
  demand(top === tree, "inclusion", {}, "The path does not lead from the run to the root.");
  return { number: Number(number), at };
}

const hashHex = (text: string) => sha256(Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)));

/** Returns the hash of the tree to which a path leads; undefined for a path of another length (RFC 9162, 2.1.3.2). */
async function hashPath(leaf: string, index: number, size: number, path: string[]): Promise<string | undefined> {
  let [place, last, hash] = [index, size - 1, await hashHex(`00${leaf}`)];
  for (const other of path) {
    if (last === 0) return undefined;
    const isRight = place % 2 === 1 || place === last;
    hash = await hashHex(isRight ? `01${other}${hash}` : `01${hash}${other}`);
    while (isRight && place % 2 === 0 && place > 0) [place, last] = [place / 2, Math.floor(last / 2)];
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && index < size ? hash : undefined;
}

async function checkStamp({ stamp, root }: Proof, at: string, authorities: Parameters<typeof checkToken>[2]) {
  if (!stamp || !root) return null;
  const ms = await checkToken(stamp.token, root.text, authorities).catch((error: Error) => {
    throw new Broken("stamp", {}, `The time stamp is not valid: ${error.message}.`);
  });
  demand(ms >= Date.parse(at) - 300_000, "stamp", {}, "The time stamp is older than the root.");
  return { at: new Date(ms).toISOString(), trusted: authorities !== undefined };
}

const reasons = {
  key: "was made with a key that is not in the key set",
  signature: "is not valid: something was changed, or signed with another key",
  period: "is not from the period of its key",
};

/** Checks signatures with the keys of a file. If a key set was given, only keys in it count. */
class Keys {
  readonly #known: Map<string, Jwk>;
  constructor(own: KeySet, given: KeySet = own) {
    const trusted = new Map(given.keys.map((key) => [key.kid, key]));
    const isSame = ({ kid, x, y }: Jwk) => trusted.get(kid)?.x === x && trusted.get(kid)?.y === y;
    this.#known = new Map(own.keys.filter(isSame).map(({ kid }) => [kid, trusted.get(kid) as Jwk]));
  }

  /** Throws `Broken` unless the signature is valid. Without a code, the problem says which part is wrong. */
  async demandSigned(what: string, signature: string, text: string, time?: string, at: Place = {}, code?: Code) {
    const misfit = await this.#misfitOf(signature, text, time);
    if (misfit) throw new Broken(code ?? misfit, at, `The signature of the ${what} ${reasons[misfit]}.`);
  }

  /** Returns the reason why a signature is not valid. `time` must be in the period of the signature's key. */
  async #misfitOf(signature: string, text: string, time?: string): Promise<keyof typeof reasons | undefined> {
    const [kid = "", bytes = ""] = signature.split(".");
    const { x = "", y = "", nbf = 0, exp = Number.POSITIVE_INFINITY } = this.#known.get(kid) ?? {};
    const thumbprint = await sha256(`{"crv":"P-256","kty":"EC","x":"${x}","y":"${y}"}`);
    if (thumbprint !== hexOf(bytesOfBase64(kid))) return "key";
    const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
    const point = Uint8Array.of(4, ...bytesOfBase64(x), ...bytesOfBase64(y));
    const key = await crypto.subtle.importKey("raw", point, algorithm, false, ["verify"]).catch(() => null);
    if (!key) return "key";
    const isValid = crypto.subtle.verify(algorithm, key, bytesOfBase64(bytes), new TextEncoder().encode(text));
    if (!(await isValid)) return "signature";
    const ms = time === undefined ? nbf * 1000 : isTime(time) ? Date.parse(time) : Number.NaN;
    return ms >= (nbf - 300) * 1000 && ms < (exp + 300) * 1000 ? undefined : "period";
  }
}
