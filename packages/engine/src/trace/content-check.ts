import { createHash } from "node:crypto";
import { defined } from "@nova/workflow";
import type { Head } from "../chain/entry.ts";
import type { ItemPages } from "../chain/position.ts";
import type { StepText } from "../chain/step-record.ts";
import { loadStored, type Row, rowsIn } from "../context/context.ts";
import { ReferenceScan, referencesIn } from "../context/references.ts";
import type { BlobHome, BlobRef, BlobStore } from "../ports/blobs.ts";
import type { ContentName, StepContentName, StoredContent, StoredEntry, StoredStep } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { sha256 } from "../sha256.ts";

/**
 * A fault of an entry. `blob`, and for a value of the context also `key`, are set if the fault is in a blob that the
 * entry names.
 */
export type LinkProblem = Omit<BadBlob, "blob"> & { blob?: string };

/** A content that was erased on request, and the entry to which it belongs. */
export interface Erased extends LinkPlace {
  content: ContentName | StepContentName | "text";
  step?: number;
}

/**
 * Identifies an entry in the result of a check by its number. `scope` is set for an entry in a branch, and `execution`
 * for an entry of a child of the execution under check.
 */
export interface LinkPlace {
  seq: number;
  scope?: string;
  execution?: string;
}

export function placeOf({ seq, scope, execution_id: execution }: LinkOf, walked: string): LinkPlace {
  return { seq, ...(scope !== "" && { scope }), ...(execution !== walked && { execution }) };
}

type LinkOf = Pick<Head, "seq" | "scope" | "execution_id">;

type Contents = Partial<Record<ContentName | StepContentName, StoredContent>>;

/** Checks the contents of entries against their digests, and every blob that contents name against its hash. */
export class ContentCheck {
  readonly erased: Erased[] = [];
  readonly blobs: NamedBlobs;
  readonly #walked: string;
  readonly #erasures: Erasures;

  /**
   * `walked` is the execution under check. The nodes of `walked` may have run child executions. A problem in an entry
   * of a child names that child.
   */
  constructor(ports: Ports, walked: string, erasures: Erasures) {
    this.#walked = walked;
    this.#erasures = erasures;
    this.blobs = new NamedBlobs(ports.blobs);
  }

  problemOf(head: Head, { contents }: StoredEntry): Promise<LinkProblem | undefined> {
    return this.#problemIn(head, contents, head.digests);
  }

  /**
   * Checks the contents of a step. Callers must first check that an entry lists the step, and that the text of the step
   * is unchanged.
   */
  async stepProblem(head: Head, { step, text, contents = {} }: StoredStep): Promise<LinkProblem | undefined> {
    if (text === "") return this.#goneProblem(head, `the text of its step ${step}`, { step, content: "text" });
    return this.#problemIn(head, contents, (JSON.parse(text) as Partial<StepText>).digests ?? {}, step);
  }

  async #problemIn(head: Head, contents: Contents, digests: Partial<Record<keyof Contents, string>>, step?: number) {
    const title = (name: string) => (step === undefined ? `its ${name}` : `the ${name} of its step ${step}`);
    const vouches = step === undefined ? "its head" : "the step";
    const added = Object.keys(contents).find((name) => !Object.hasOwn(digests, name));
    if (added !== undefined) return { message: `${title(added)} was added: ${vouches} has no digest of it` };
    for (const [name, digest] of Object.entries(digests) as [keyof Contents, string][]) {
      const content = contents[name];
      const problem = content
        ? await this.#contentProblem(head, title(name), digest, content, step === undefined ? name : undefined)
        : await this.#goneProblem(head, title(name), { ...defined({ step }), content: name });
      if (problem) return problem;
    }
    return undefined;
  }

  /**
   * Records a content that an erasure removed. If a content is missing without an erasure, returns a problem, because a
   * person then removed the content by direct access to the table.
   */
  async #goneProblem(head: Head, title: string, gone: Omit<Erased, "seq">): Promise<LinkProblem | undefined> {
    if (!(await this.#erasures.has(head.execution_id)))
      return { message: `${title} is gone, and no signed note says that it was erased: it was taken away` };
    this.erased.push({ ...placeOf(head, this.#walked), ...gone });
    return undefined;
  }

  /**
   * Checks one content. `name` is set for contents of an entry, but not for contents of a step. The contents "context",
   * "items" and "vote" name further blobs.
   */
  async #contentProblem(
    head: Head,
    place: string,
    digest: string,
    content: StoredContent,
    name: keyof Contents | undefined,
  ): Promise<LinkProblem | undefined> {
    const isStructure = name === "context" || name === "items" || name === "vote";
    const found = "text" in content ? sha256(content.text) : content.blob.sha256;
    if (found !== digest)
      return { message: `${place} was changed: the digest ${isStructure ? "in its head" : "beside it"} is another` };
    const blob = "blob" in content ? { place, ref: { sha256: digest }, bytes: content.blob.bytes } : undefined;
    if (!isStructure) return blob && this.blobs.firstBad(head, [blob]);
    const stored = blob ? await this.blobs.text(head, blob) : (content as { text: string });
    if ("bad" in stored) return stored.bad;
    if (stored.text === null) return undefined;
    if (name === "vote")
      return this.blobs.firstBad(
        head,
        referencesIn(stored.text).map((ref) => ({ place, ref })),
      );
    return name === "items" ? this.#itemsProblem(head, stored.text) : this.#contextProblem(head, stored.text);
  }

  async #contextProblem(head: Head, text: string): Promise<LinkProblem | undefined> {
    const { pages, inline } = loadStored(text);
    for (const { sha256 } of pages) {
      const page = await this.blobs.text(head, { place: "a page of its context", ref: { sha256 } });
      if ("bad" in page) return page.bad;
      const bad = page.text === null ? undefined : await this.#rowProblem(head, rowsIn(page.text));
      if (bad) return bad;
    }
    return this.#rowProblem(head, inline);
  }

  #itemsProblem(head: Head, text: string): Promise<BadBlob | undefined> {
    const { pages, inline = [] } = JSON.parse(text) as ItemPages;
    const named = pages.map(({ sha256 }) => ({ place: "a page of its items", ref: { sha256, type: "json" as const } }));
    const inItems = inline.flatMap(referencesIn).map((ref) => ({ place: "its items", ref }));
    return this.blobs.firstBad(head, [...named, ...inItems]);
  }

  #rowProblem(head: Head, rows: readonly Row[]): Promise<BadBlob | undefined> {
    const named = rows.flatMap(([key, , json]) =>
      referencesIn(json).map((ref) => ({ place: `context[${JSON.stringify(key)}]`, key, ref })),
    );
    return this.blobs.firstBad(head, named);
  }
}

/** Returns the text that is signed when the contents of an execution are erased on request. */
export function erasureText(execution: string): string {
  return `nova erasure v1\n${execution}`;
}

/**
 * Reads from the signed notes next to the chains which executions were erased on request. An attacker with access to
 * the table can remove a content, but cannot sign the note.
 */
export type Erasures = ReturnType<typeof createErasures>;

export function createErasures({ chain, keyPair }: Ports) {
  const known = new Map<string, Promise<boolean>>();
  const read = async (execution: string) => {
    const note = (await chain.notes(execution)).find(({ kind }) => kind === "erased");
    return note?.kind === "erased" && (await keyPair.verify(erasureText(execution), note.signature));
  };
  return {
    has(execution: string): Promise<boolean> {
      const isErased = known.get(execution) ?? read(execution);
      known.set(execution, isErased);
      return isErased;
    },
  };
}

/**
 * Names of the errors that NOVA throws for a stored item that lacks a field or has a wrong value. NOVA cannot have
 * written such an item.
 */
const unreadable: ReadonlySet<string> = new Set([
  "ChainBroken",
  "DamagedLink",
  "RangeError",
  "SyntaxError",
  "TypeError",
  "UnknownFormat",
  "UnreadableRecord",
]);

/**
 * Returns a problem if the error means that a stored item is invalid. Throws any other error again, for example the
 * error of a store that does not answer.
 */
export function unreadableProblem(error: unknown): LinkProblem {
  if (error instanceof Error && unreadable.has(error.name)) return { message: `it cannot be read: ${error.message}` };
  throw error;
}

/**
 * A blob, and the content that names its hash. `place` describes this content for people; `key` is the key of the
 * context whose value is the blob.
 */
interface NamedBlob {
  place: string;
  key?: string;
  ref: Pick<BlobRef, "sha256"> & { type?: BlobRef["type"] };
  /**
   * The length that is stored next to the hash. No hash protects this length, so the check compares it with the length
   * of the blob.
   */
  bytes?: number;
}

/** A fault of a blob: it is missing or was changed. */
interface BadBlob {
  message: string;
  key?: string;
  blob: string;
}

/**
 * The number of parallel reads. Reads run in parallel, because S3 needs more time to start an answer than to send a
 * blob.
 */
const readsAtOnce = 16;

/**
 * Compares the hash of each blob that a chain names with the hash in the chain. It reads each blob only once, as a
 * stream.
 */
export class NamedBlobs {
  readonly #blobs: BlobStore;
  readonly #read = new Set<string>();
  /** The lengths of the blobs that were read, by home and hash. */
  readonly #lengths = new Map<string, number>();

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** Checks these blobs, and the blobs that they name. Returns the first blob that is missing or was changed. */
  async firstBad(home: BlobHome, named: Iterable<NamedBlob>): Promise<BadBlob | undefined> {
    const waiting = Array.from(named);
    while (waiting.length > 0) {
      const batch = waiting.splice(0, readsAtOnce);
      const unread = batch.filter((blob) => this.#isNew(home, blob));
      const looks = await Promise.all(unread.map((blob) => this.#look(home, blob)));
      for (const { bad, inside } of looks) {
        if (bad) return bad;
        for (const blob of inside) waiting.push(blob);
      }
      const misfit = batch.find((blob) => this.#hasOtherLength(home, blob));
      if (misfit) return badBlob(misfit, otherLength);
    }
    return undefined;
  }

  /**
   * Checks a blob and returns its text, because the text may name further blobs. The text is null if the blob was read
   * before.
   */
  async text(home: BlobHome, blob: NamedBlob): Promise<{ text: string | null } | { bad: BadBlob }> {
    const chunks: Uint8Array[] = [];
    const isNew = this.#isNew(home, blob);
    const bad = isNew ? await this.#compare(home, blob, (chunk) => chunks.push(chunk)) : undefined;
    if (bad) return { bad };
    if (this.#hasOtherLength(home, blob)) return { bad: badBlob(blob, otherLength) };
    return { text: isNew ? Buffer.concat(chunks).toString() : null };
  }

  async #look(home: BlobHome, blob: NamedBlob): Promise<{ bad?: BadBlob; inside: NamedBlob[] }> {
    const scan = blob.ref.type === "json" ? new ReferenceScan() : undefined;
    const bad = await this.#compare(home, blob, (chunk) => scan?.look(chunk));
    return bad ? { bad, inside: [] } : { inside: (scan?.found ?? []).map((ref) => ({ ...blob, ref })) };
  }

  async #compare(home: BlobHome, blob: NamedBlob, look: (chunk: Uint8Array) => void): Promise<BadBlob | undefined> {
    const { sha256 } = blob.ref;
    const hash = createHash("sha256");
    let bytes = 0;
    const changed = "was changed: its bytes have another SHA-256";
    try {
      for await (const chunk of await this.#blobs.stream(home, sha256)) {
        hash.update(chunk);
        bytes += chunk.length;
        look(chunk);
      }
    } catch (error) {
      const name = error instanceof Error ? error.name : "";
      if (name === "BlobMissing") return badBlob(blob, "is missing");
      if (name === "BlobMismatch") return badBlob(blob, changed);
      throw error;
    }
    this.#lengths.set(keyOf(home, sha256), bytes);
    return hash.digest("hex") === sha256 ? undefined : badBlob(blob, changed);
  }

  #hasOtherLength(home: BlobHome, { ref: { sha256 }, bytes }: NamedBlob): boolean {
    return bytes !== undefined && this.#lengths.get(keyOf(home, sha256)) !== bytes;
  }

  /**
   * Returns whether this is the first call for the blob as this type. If the chain names a blob both as JSON and as
   * bytes, the check reads the blob once for each type, because only JSON can name other blobs.
   */
  #isNew(home: BlobHome, { ref: { sha256, type = "bytes" } }: NamedBlob): boolean {
    const key = `${keyOf(home, sha256)} ${type === "json"}`;
    return !this.#read.has(key) && this.#read.add(key) !== undefined;
  }
}

function keyOf({ client, root }: BlobHome, sha256: string): string {
  return `${client}/${root}/${sha256}`;
}

const otherLength = "has another length than is said beside its hash";

function badBlob({ place, key, ref: { sha256 } }: NamedBlob, what: string): BadBlob {
  return { message: `${place}: blob ${sha256} ${what}`, ...(key !== undefined && { key }), blob: sha256 };
}
