import { type Head, headOf } from "../chain/head.ts";
import { executionOf } from "../execution/record.ts";
import { sha256 } from "../json/hash.ts";
import type { ContentName, Link, StoredContent, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";

/**
 * `open`: no close entry yet, every link so far holds. `complete`: closed, every link holds, but the close is not
 * signed by a key that is known here. `anchored`: closed, and the signature over its hash is valid.
 */
export interface Verification {
  state: "open" | "complete" | "anchored" | "broken";
  links: number;
  /** Contents that were erased on request; their digests still hold the chain together. */
  erased: { seq: number; content: ContentName }[];
  /** The first link that was changed, dropped or added, and how that shows. */
  problem?: { seq: number; message: string };
}

/** Walks the chain and checks every hash, digest, step and edge. Throws `ExecutionNotFound`. */
export async function verifyExecution(ports: Ports, id: string): Promise<Verification> {
  const record = await executionOf(ports, id);
  const walk = new ChainWalk();
  for await (const link of ports.chain.links(id)) {
    if (link.scope !== "" || !link.entry) continue;
    const problem =
      walk.next(link, link.entry) ??
      (await contentProblem(ports, walk, link.entry)) ??
      (await stepProblem(ports, walk.head, id));
    if (problem) return walk.report("broken", { seq: link.seq, message: problem });
  }
  if (!walk.head) return walk.report("broken", { seq: 0, message: "the chain has no link: link 0 was dropped" });
  if (!walk.head.close) {
    return record.tip
      ? walk.report("broken", {
          seq: walk.links,
          message: "the close entry was dropped: the record of the run knows its hash",
        })
      : walk.report("open");
  }
  if (record.tip !== undefined && record.tip !== walk.hash) {
    return walk.report("broken", {
      seq: walk.head.seq,
      message: "the close entry is not the one that the record of the run knows",
    });
  }
  const signed = walk.signature !== undefined && (await ports.signer.verify(walk.hash ?? "", walk.signature));
  if (walk.signature !== undefined && !signed) {
    return walk.report("broken", {
      seq: walk.head.seq,
      message: "the signature of the close entry is not valid: the chain was rewritten, or signed with another key",
    });
  }
  return walk.report(signed ? "anchored" : "complete");
}

class ChainWalk {
  links = 0;
  head: Head | undefined;
  hash: string | undefined;
  signature: string | undefined;
  readonly erased: Verification["erased"] = [];

  /** What is wrong with this link by itself and behind the last one. */
  next({ seq }: Link, entry: StoredEntry): string | undefined {
    const last = this.head;
    if (sha256(entry.head) !== entry.hash) return "its head does not have the hash stored beside it: it was changed";
    const head = headOf(entry);
    if (head.seq !== seq || seq !== this.links) return `link ${this.links} was dropped`;
    if (last?.close) return "it was added behind the close entry";
    if (head.prev !== (this.hash ?? null))
      return "it does not name the hash of the link before: one of the two was changed";
    if (last && !follows(last, head))
      return `node "${head.node_id}" does not follow node "${last.node_id}", whose edge leads to "${last.path_taken}"`;
    if (head.close && head.close.count !== seq + 1)
      return `the close entry counts ${head.close.count} links, the chain has ${seq + 1}`;
    this.links++;
    this.head = head;
    this.hash = entry.hash;
    this.signature = entry.signature;
    return undefined;
  }

  report(state: Verification["state"], problem?: Verification["problem"]): Verification {
    return { state, links: this.links, erased: this.erased, ...(problem && { problem }) };
  }
}

function follows(last: Head, head: Head): boolean {
  return head.node_type === "close" || last.path_taken === head.node_id;
}

async function contentProblem(ports: Ports, walk: ChainWalk, entry: StoredEntry): Promise<string | undefined> {
  const head = headOf(entry);
  for (const [name, digest] of Object.entries(head.digests) as [ContentName, string][]) {
    const content = entry.contents[name];
    const found = content && (await digestOf(ports, head, content));
    if (found === undefined) walk.erased.push({ seq: head.seq, content: name });
    else if (found !== digest) return `its ${name} was changed: the digest in its head is another`;
  }
  return undefined;
}

/** Undefined: erased. */
async function digestOf(ports: Ports, head: Head, content: StoredContent): Promise<string | undefined> {
  if ("text" in content) return sha256(content.text);
  try {
    return sha256(await ports.blobs.get(head, content.blob.sha256));
  } catch (error) {
    if (error instanceof Error && error.name === "BlobMissing") return undefined;
    throw error;
  }
}

async function stepProblem(ports: Ports, head: Head | undefined, execution: string): Promise<string | undefined> {
  if (!head || head.steps.length === 0) return undefined;
  const stored = await ports.chain.steps({ execution, scope: head.scope, seq: head.seq });
  const changed = stored.find(({ text, hash }) => sha256(text) !== hash);
  if (changed) return `step ${changed.step} was changed`;
  const there = new Set(stored.map(({ hash }) => hash));
  return head.steps.every((hash) => there.has(hash)) ? undefined : "a step that it lists was changed or dropped";
}
