import { parsedOrNot, runText } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import type { Head } from "../chain/entry.ts";
import { votesScope } from "../chain/ids.ts";
import { recoverFrom } from "../errors.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { Link, StoredEntry, StoredStep } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { Inclusion } from "../proof/root.ts";
import { findOpenedFork, type OpenFork, opensFork } from "../protocol/branches.ts";
import { ProofContents, type RunSecrets, secretsOfRun } from "./proof-contents.ts";
import { branchParts } from "./run-heads.ts";

/**
 * The levels of contents in a proof file. `none`: only the heads of entries. `digests`: also the records of steps.
 * `all`: also values, code and logs.
 */
export const proofContents = ["none", "digests", "all"] as const;

export type ProofContentsLevel = (typeof proofContents)[number];

export interface ProofRequest {
  execution: string;
  home: BlobHome;
  contents: ProofContentsLevel;
  /** Null: no Merkle tree contains the run yet. */
  root: Inclusion | null;
  /** A time in ISO 8601. */
  madeAt: string;
}

type ProofPorts = Pick<Ports, "chain" | "workflows" | "blobs" | "keyPair">;

/**
 * Yields the text of the proof file of a closed run, in pieces. The file has the stored chain without corrections, so
 * the file of a changed chain does not verify.
 */
export async function* writeProof(ports: ProofPorts, request: ProofRequest): AsyncGenerator<string> {
  const { execution, contents, root, madeAt } = request;
  const begin = { kind: "nova-proof", format: 1, execution, made_at: madeAt, contents };
  yield `${JSON.stringify(begin).slice(0, -1)},"runs":[`;
  const runs = new RunsWriter(ports, request);
  yield* runs.write();
  yield "]";
  if (runs.contents) yield* listPieces(runs.contents.blobs(), ',"blobs":{', "}");
  const kids = new Set([...runs.signatures, ...(root ? [root.root.signature] : [])].map((text) => text.split(".")[0]));
  const keys = (await ports.keyPair.publicKeys()).filter(({ kid }) => kids.has(kid));
  const { inclusion = null, root: signed = null, stamp = null } = root ?? {};
  yield `,${JSON.stringify({ inclusion, root: signed, stamp, keys: { keys } }).slice(1)}`;
}

async function* listPieces(pieces: AsyncIterable<string>, open: string, end: string): AsyncGenerator<string> {
  let before = open;
  for await (const piece of pieces) {
    yield before + piece;
    before = ",";
  }
  yield before === open ? open + end : end;
}

/** The number of runs, or of branches of a fork, that are read at the same time. */
const readsAhead = 8;
/** The number of entries whose steps and contents are read at the same time. */
const entriesAtOnce = 16;

/** Writes the run and each run inside it, in the order of the entries that name these runs. */
class RunsWriter {
  readonly contents: ProofContents | undefined;
  /** The signatures in the file. */
  readonly signatures: string[] = [];
  /** The versions whose definitions are in the file. */
  readonly defined = new Set<string>();
  readonly #ports: ProofPorts;
  readonly #request: ProofRequest;

  constructor(ports: ProofPorts, request: ProofRequest) {
    this.#ports = ports;
    this.#request = request;
    if (request.contents === "all") this.contents = new ProofContents(ports.blobs, request.home);
  }

  async *write(): AsyncGenerator<string> {
    const known = new Set([this.#request.execution]);
    const waiting = [this.#request.execution];
    const open: { run: RunWriter; pieces: AsyncGenerator<string> }[] = [];
    let before = "";
    while (waiting.length > 0 || open.length > 0) {
      for (const id of waiting.splice(0, readsAhead - open.length)) {
        const run = new RunWriter(this.#ports, this.#request, id, this.contents);
        open.push({ run, pieces: readAhead(run.write()) });
      }
      const { run, pieces } = open.shift() as (typeof open)[number];
      for await (const piece of pieces) {
        yield before + piece;
        before = "";
      }
      if (!run.isThere) continue;
      yield await this.#endOf(run);
      before = ",";
      const children = run.children.filter((id) => !known.has(id));
      for (const id of children) if (known.size < known.add(id).size) waiting.push(id);
    }
  }

  async #endOf(run: RunWriter): Promise<string> {
    const { signature = "" } = run;
    const note = (await this.#ports.chain.notes(run.execution)).find(({ kind }) => kind === "erased");
    const erasure = note?.kind === "erased" ? note.signature : undefined;
    const definition = this.contents && this.#definitionOf(run);
    this.signatures.push(signature, ...(erasure === undefined ? [] : [erasure]));
    return `],${JSON.stringify({ signature, erasure, definition }).slice(1)}`;
  }

  /** Returns the definition of a run; undefined if an earlier run in the file has it, or if it was erased. */
  #definitionOf({ version, secrets }: RunWriter): string | undefined {
    if (!version) return undefined;
    const name = `${version.workflowId} ${version.version}`;
    const text = runText(version.workflow);
    if (this.defined.has(name) || secrets?.redactor.finds(text)) return undefined;
    this.defined.add(name);
    return text;
  }
}

/**
 * Writes one run up to its last scope. The fields that follow the scopes are known only after all scopes are written.
 */
class RunWriter {
  readonly execution: string;
  isThere = false;
  signature: string | undefined;
  /** The runs that entries of this run name, in order. */
  readonly children: string[] = [];
  version: WorkflowVersion | undefined;
  secrets: RunSecrets | undefined;
  readonly #ports: ProofPorts;
  readonly #request: ProofRequest;
  readonly #contents: ProofContents | undefined;

  constructor(ports: ProofPorts, request: ProofRequest, execution: string, contents: ProofContents | undefined) {
    this.#ports = ports;
    this.#request = request;
    this.execution = execution;
    this.#contents = contents;
  }

  /** Yields nothing if the run does not exist, or belongs to another client. */
  async *write(): AsyncGenerator<string> {
    const { execution } = this;
    let before = `${JSON.stringify({ execution }).slice(0, -1)},"scopes":[`;
    for await (const piece of this.#scope("", this.#ports.chain.links(execution, ""))) {
      yield before + piece;
      before = "";
    }
  }

  async *#scope(scope: string, links: AsyncIterable<Link> | Iterable<Link>): AsyncGenerator<string> {
    const forks: StoredEntry[] = [];
    const votes: string[] = [];
    let before = `${scope === "" ? "" : ","}${JSON.stringify({ scope }).slice(0, -1)},"entries":[`;
    let isBegun = false;
    for await (const group of groupItems(links, entriesAtOnce)) {
      const entries = group.flatMap(({ seq, entry }) => (entry ? [{ seq, entry, head: headIn(entry) }] : []));
      if (entries.length === 0) continue;
      if (!isBegun && scope === "" && !(await this.#begin(entries[0] as PlacedEntry))) return;
      for (const { entry, head } of entries) {
        if (head?.close) this.signature = entry.signature;
        if (typeof head?.child?.execution === "string") this.children.push(head.child.execution);
        if (head?.node_type === "approval" && head.digests.branches) votes.push(votesScope(head, head.node_id));
        if (head && opensFork(head)) forks.push({ ...entry, contents: {} });
      }
      yield before + (await atOnce(entries, (entry) => this.#entryText(scope, entry))).join(",");
      before = ",";
      isBegun = true;
    }
    if (!isBegun) return;
    yield "]}";
    for (const fork of forks) yield* this.#branches(fork);
    for (const inner of votes) yield* this.#scope(inner, this.#ports.chain.links(this.execution, inner));
  }

  /**
   * Reads the data that the writer needs before it writes the first entry. Returns false if the run belongs to another
   * client.
   */
  async #begin({ entry, head }: PlacedEntry): Promise<boolean> {
    const { home } = this.#request;
    this.isThere = this.execution === this.#request.execution || head?.client === home.client;
    if (!this.isThere || !this.#contents) return this.isThere;
    this.version = head ? await this.#versionOf(head) : undefined;
    this.secrets = await secretsOfRun(this.#ports.blobs, this.version, entry);
    if (this.execution === this.#request.execution) this.#contents.searchBlobsFor(this.secrets);
    return true;
  }

  /** Returns the stored version that the run executed; undefined if it was erased or cannot be read. */
  async #versionOf({ workflow_id, workflow_version }: Head): Promise<WorkflowVersion | undefined> {
    const reading = this.#ports.workflows.stored(workflow_id, workflow_version);
    return reading.catch(recoverFrom(["SyntaxError", "DefinitionMissing"], () => undefined));
  }

  async *#branches(entry: StoredEntry): AsyncGenerator<string> {
    const fork = await this.#forkOf(entry);
    if (!fork) return;
    const open: AsyncGenerator<string>[] = [];
    for await (const { part, linksOf } of branchParts(this.#ports, fork)) {
      for (const { scope } of part) {
        const links = linksOf(scope) ?? this.#ports.chain.links(this.execution, scope);
        open.push(readAhead(this.#scope(scope, links)));
        if (open.length >= readsAhead) yield* open.shift() as AsyncGenerator<string>;
      }
    }
    for (const branch of open) yield* branch;
  }

  /** Returns the fork of an entry; null if the workflow does not have it, so that the join does not verify. */
  async #forkOf(entry: StoredEntry): Promise<OpenFork | null> {
    return findOpenedFork(this.#ports, entry).catch(recoverFrom("ChainBroken", () => null));
  }

  async #entryText(scope: string, { seq, entry, head }: PlacedEntry): Promise<string> {
    const { contents } = this.#request;
    const parts = [`"head":${JSON.stringify(entry.head)}`];
    const listed = contents !== "none" && Array.isArray(head?.steps) ? head.steps : [];
    if (listed.length > 0) parts.push(`"steps":[${(await this.#stepTexts(scope, seq, listed)).join(",")}]`);
    if (this.#contents && this.secrets)
      parts.push(`"contents":${await this.#contents.textOf(entry.contents, head?.digests, this.secrets)}`);
    return `{${parts.join(",")}}`;
  }

  async #stepTexts(scope: string, seq: number, listed: readonly string[]): Promise<string[]> {
    const stored = await this.#ports.chain.steps({ execution: this.execution, scope, seq });
    const byHash = new Map(stored.map((step) => [step.hash, step]));
    return atOnce(listed, async (hash) => this.#stepText(byHash.get(hash)));
  }

  async #stepText(step: StoredStep | undefined): Promise<string> {
    if (!step || step.text === "") return '{"text":null}';
    const text = `"text":${JSON.stringify(step.text)}`;
    if (!this.#contents || !this.secrets) return `{${text}}`;
    const { digests } = (parsedOrNot(step.text) ?? {}) as { digests?: Record<string, string> };
    return `{${text},"contents":${await this.#contents.textOf(step.contents ?? {}, digests, this.secrets)}}`;
  }
}

/** An entry with its number. `head` is undefined if the text of the head was changed so that it is no object. */
interface PlacedEntry {
  seq: number;
  entry: StoredEntry;
  head: Head | undefined;
}

function headIn(entry: StoredEntry): Head | undefined {
  const head = parsedOrNot(entry.head);
  return typeof head === "object" && head !== null ? (head as Head) : undefined;
}

/**
 * Starts to read a sequence at once, and holds at most `max` of its items until the caller takes them. The items keep
 * their order. Drops items that the caller does not take.
 */
export function readAhead<T>(source: AsyncGenerator<T>, max = 2): AsyncGenerator<T> {
  const read = () => {
    const item = source.next();
    // The caller gets this error when it takes the item. Without a handler until then, Node.js would end the process.
    item.catch(() => undefined);
    return item;
  };
  const held = Array.from({ length: max }, read);
  return passOn(source, held, read);
}

async function* passOn<T>(
  source: AsyncGenerator<T>,
  held: Promise<IteratorResult<T>>[],
  read: () => Promise<IteratorResult<T>>,
): AsyncGenerator<T> {
  try {
    for (let item = await held.shift(); item && !item.done; item = await held.shift()) {
      held.push(read());
      yield item.value;
    }
  } finally {
    await source.return(undefined);
  }
}

/** Yields the items in groups of at most `size`. */
export async function* groupItems<T>(items: AsyncIterable<T> | Iterable<T>, size: number): AsyncGenerator<T[]> {
  let group: T[] = [];
  for await (const item of items) {
    if (group.push(item) < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
