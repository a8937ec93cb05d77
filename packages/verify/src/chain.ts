import { sha256 } from "./bytes.ts";
import { type Content, type Entry, type Head, type Proof, parseDigests, parseHead, type Run } from "./form.ts";
/** The names of the checks in docs/proof.md, in their order. */
export type Code =
  | ("file" | "head" | "place" | "branch" | "close" | "prev" | "constant" | "edge" | "steps" | "contents" | "join")
  | ("end" | "definition" | "key" | "signature" | "period" | "erasure" | "child" | "extra")
  | ("blobs" | "root" | "inclusion" | "stamp");
export type Place = { execution?: string; scope?: string; seq?: number };
/** The first check that failed, with the place of the failure if it is known. `message` is one plain sentence. */
export type Problem = Place & { code: Code; message: string };
export class Broken extends Error {
  override name = "Broken";
  readonly problem: Problem;
  constructor(code: Code, place: Place, message: string) {
    super(message);
    this.problem = { code, message, ...place };
  }
}

/** Throws `Broken` unless the condition holds. */
export function demand(condition: unknown, code: Code, place: Place, message: string): asserts condition {
  if (!condition) throw new Broken(code, place, message);
}

/** An entry whose own checks have passed. */
export type Checked = { head: Head; hash: string; at: Required<Place> };
/** `tips`: the last entry of each branch with the branch's fork, and of the votes on each approval with its place. */
export type CheckedRun = { run: Run; scopes: Map<string, Checked[]>; tips: { fork: object; tip: Checked }[] };
/** The numbers of entries and of contents that were checked so far. */
export type Counts = { entries: number; contents: { checked: number; withheld: number; erased: number } };
/** Checks each entry of a run by itself, and against the entry before it. Throws `Broken`. */
export async function checkEntries(proof: Proof, run: Run, counts: Counts): Promise<CheckedRun> {
  const known: CheckedRun = { run, scopes: new Map(), tips: [] };
  for (const { scope, entries } of run.scopes) {
    const checked: Checked[] = [];
    const hashes = await Promise.all(entries.map(({ head }) => sha256(head)));
    const { fork, voted } = findStart(known, scope);
    for (const [index, entry] of entries.entries()) {
      const at = { execution: run.execution, scope, seq: index + firstOf(scope) };
      const head = attempt("head", at, "The head of the entry is not valid", () => parseHead(entry.head, at.seq === 0));
      const isHere = head.execution_id === at.execution && head.scope === scope && head.seq === at.seq;
      demand(isHere, "place", at, "The entry belongs to another place, or an entry before it was dropped.");
      demand(fork || scope === "", "branch", at, "No fork that is listed before the branch leads to it.");
      demand((head.node_type === "vote") === !!voted, "branch", at, "A vote is not among the votes of an approval.");
      const branch = voted?.head.node_id ?? scope.slice(scope.lastIndexOf(".") + 1);
      demandFit(head, checked.at(-1) ?? fork, index === 0 && scope !== "" ? branch : undefined, at);
      await checkSteps(proof, run, entry, head, at, counts.contents);
      checked.push({ head, hash: hashes[index] as string, at });
      counts.entries += 1;
    }
    known.scopes.set(scope, checked);
    if (fork) known.tips.push({ fork: voted?.at ?? fork, tip: checked.at(-1) as Checked });
  }
  return known;
}

/** Returns the number of the first entry of a scope. */
const firstOf = (scope: string) => (scope === "" ? 0 : 1);
const isFork = ({ head }: Checked) => head.path_taken === `${head.node_id}.join`;

/** Finds the entry before the first entry of a scope. If the scope contains votes, also finds their approval. */
function findStart(known: CheckedRun, scope: string): { fork?: Checked | undefined; voted?: Checked } {
  const parent = scope.slice(0, Math.max(0, scope.lastIndexOf("/")));
  const segment = /^\/([^/@]+)@(0|[1-9]\d{0,14})\.([^/.]+)$/.exec(scope.slice(parent.length));
  const [list, index] = [known.scopes.get(parent) ?? [], Number(segment?.[2]) - firstOf(parent)];
  const [fork, voted] = [list[index - 1] ?? (index === 0 ? findStart(known, parent).fork : undefined), list[index]];
  if (!voted || voted.head.node_id !== segment?.[1]) return {};
  if (segment[3] === "(votes)" && voted.head.node_type === "approval") return { fork, voted };
  return isFork(voted) ? { fork: voted } : {};
}

/** Returns what a parser makes of a text. Throws `Broken` if the parser does not accept the text. */
export function attempt<T>(code: Code, at: Place, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new Broken(code, at, `${what}: ${(error as Error).message.replace(/\s+/g, " ")}.`);
  }
}

const constant = ["client", "root", "workflow_id", "workflow_version", "frozen", "sealed"] as const;

/** Compares an entry with the entry before it. `branch` is set for the first entry of a branch. */
function demandFit(head: Head, before: Checked | undefined, branch: string | undefined, at: Required<Place>): void {
  const { close, seq, inner = 0, node_id: node, node_type: type } = head;
  demand(!before?.head.close, "close", at, "The entry was added after the close of the run.");
  demand((type === "close") === (close !== undefined), "close", at, "The entry is only half a close.");
  demand(!close || (before && at.scope === ""), "close", at, "A close is not at the end of the main line.");
  const sum = seq + 1 + inner;
  demand(!close || close.count === sum, "close", at, `The close counts ${close?.count} entries of ${sum}.`);
  const isWhole = close?.status !== "completed" || before?.head.node_type === "end";
  demand(isWhole, "close", at, "The close says that the run was completed, and no end node comes before it.");
  const isNext = head.prev === (before?.hash ?? null);
  demand(isNext, "prev", at, "The entry does not name the hash of the entry before it: one of the two was changed.");
  const other = before && constant.find((name) => head[name] !== before.head[name]);
  demand(other === undefined, "constant", at, `The ${other} of the entry is not that of the entry before it.`);
  if (!before || close || (branch !== undefined && /^[0-9]+$/.test(branch))) return;
  const due = branch ?? before.head.path_taken;
  demand(node === due, "edge", at, `The entry is of node "${node}", and the run continued at "${due}".`);
}

async function checkSteps(proof: Proof, run: Run, entry: Entry, head: Head, at: Place, counts: Counts["contents"]) {
  if (proof.contents === "none") return;
  const { steps = [] } = entry;
  demand(steps.length === head.steps.length, "steps", at, "The file does not have the steps that the entry lists.");
  const all = [{ contents: entry.contents, digests: head.digests, of: "the entry" }];
  for (const [index, { text, contents }] of steps.entries()) {
    const of = `step ${index + 1} of the entry`;
    demand(text !== null || run.erasure, "steps", at, `The text of ${of} is missing without a note of its erasure.`);
    counts.erased += text === null ? 1 : 0;
    if (text === null) continue;
    demand((await sha256(text)) === head.steps[index], "steps", at, `The text of ${of} was changed.`);
    all.push({
      contents,
      digests: attempt("steps", at, `The text of ${of} is not valid`, () => parseDigests(text)),
      of,
    });
  }
  for (const { contents = {}, digests, of } of proof.contents === "all" ? all : []) {
    const names = Object.keys(contents);
    const isSame = names.length === Object.keys(digests).length && names.every((name) => Object.hasOwn(digests, name));
    demand(isSame, "contents", at, `The file has other contents of ${of} than it has digests.`);
    for (const [name, content] of Object.entries(contents)) {
      const misfit = await contentMisfit(proof, run, content, digests[name] as string, counts);
      demand(!misfit, "contents", at, `The content "${name}" of ${of} ${misfit}.`);
    }
  }
}

async function contentMisfit(proof: Proof, run: Run, content: Content, digest: string, counts: Counts["contents"]) {
  const lack = "withheld" in content ? content.withheld : undefined;
  counts[lack === undefined ? "checked" : lack === "erased" ? "erased" : "withheld"] += 1;
  if (lack === "erased" && !run.erasure) return "is missing without a note of its erasure";
  if ("blob" in content && typeof proof.blobs?.[digest] !== "string") return "is a blob that the file does not have";
  return "text" in content && (await sha256(content.text)) !== digest ? "was changed" : undefined;
}

/** Checks that each join lists and counts its branches, and each approval its votes. Throws `Broken`. */
export async function checkJoins({ run: { execution }, scopes, tips }: CheckedRun): Promise<void> {
  const byFork = Map.groupBy(tips, ({ fork }) => fork);
  for (const [scope, entries] of scopes) {
    for (const [index, entry] of [...entries, undefined].entries()) {
      const [before, at] = [entries[index - 1], { execution, scope, seq: index + firstOf(scope) }];
      const lists = [before, entry?.at].map((one) => ((one && byFork.get(one)) ?? []).map(({ tip }) => tip));
      const isJoin = before && isFork(before) && entry?.head.node_type === "join";
      demand(isJoin || lists[0]?.length === 0, "join", at, "No join lists the branches before it.");
      if (!entry || at.seq === 0) continue;
      const [all, { digests, inner = 0, nodes }] = [lists.flat(), entry.head];
      const sum = all.reduce((sum, { head }) => sum + head.seq + (head.inner ?? 0), before?.head.inner ?? 0);
      demand(inner === sum, "join", at, `The entry counts ${inner} entries in branches of ${sum}.`);
      if (!isJoin && entry.head.node_type !== "approval") continue;
      const list = JSON.stringify(all.map(({ head: { seq }, hash, at: { scope } }) => ({ scope, seq, hash })));
      const isListed = digests.branches === (isJoin || all.length > 0 ? await sha256(list) : undefined);
      const isSum = !isJoin || nodes === all.reduce((sum, { head }) => sum + head.nodes, before.head.nodes);
      demand(isListed && isSum, "join", at, "The entry does not list and count the branches before it.");
    }
  }
}
