import { type Head, headOf } from "../chain/head.ts";
import { executionOf } from "../execution/record.ts";
import { sha256 } from "../json/hash.ts";
import type { ContentName, Link, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { CodeCheck } from "./code-check.ts";
import { ContentCheck, type LinkProblem } from "./content-check.ts";

/**
 * `open`: no close entry yet, every link so far holds. `complete`: closed, every link holds, but the close is not
 * signed by a key that is known here. `anchored`: closed, and the signature over its hash is valid.
 */
export interface Verification {
  state: "open" | "complete" | "anchored" | "broken";
  links: number;
  /** Contents that were erased on request; their digests still hold the chain together. */
  erased: { seq: number; content: ContentName }[];
  /**
   * The first link that was changed, dropped or added, or names what was, and how that shows; `blob` (a SHA-256) and
   * `key` (of the context) where what it names is a blob.
   */
  problem?: { seq: number; message: string; key?: string; blob?: string };
}

/**
 * Walks the chain and checks every hash, digest, step and edge, and what entries name by hash: blobs, each read once as
 * a stream, and code. Throws `ExecutionNotFound`.
 */
export async function verifyExecution(ports: Ports, id: string): Promise<Verification> {
  const record = await executionOf(ports, id);
  const contents = new ContentCheck(ports);
  const code = new CodeCheck(ports);
  const walk = new ChainWalk(contents.erased);
  for await (const link of ports.chain.links(id, "")) {
    if (!link.entry) continue;
    const next = walk.next(link, link.entry);
    const problem = "message" in next ? next : await namedProblem(ports, next.head, link.entry, contents, code);
    if (problem) return walk.report("broken", { seq: link.seq, ...problem });
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
  readonly #erased: Verification["erased"];

  constructor(erased: Verification["erased"]) {
    this.#erased = erased;
  }

  /** The link's head, or what is wrong with it by itself and behind the last one. */
  next(link: Link, entry: StoredEntry): { head: Head } | { message: string } {
    if (sha256(entry.head) !== entry.hash)
      return { message: "its head does not have the hash stored beside it: it was changed" };
    const head = headOf(entry);
    const message = this.#misfit(link, head);
    if (message !== undefined) return { message };
    this.links++;
    this.head = head;
    this.hash = entry.hash;
    this.signature = entry.signature;
    return { head };
  }

  #misfit({ seq }: Link, head: Head): string | undefined {
    const last = this.head;
    if (head.seq !== seq || seq !== this.links) return `link ${this.links} was dropped`;
    if (last?.close) return "it was added behind the close entry";
    if (head.prev !== (this.hash ?? null))
      return "it does not name the hash of the link before: one of the two was changed";
    if (last && !follows(last, head))
      return `node "${head.node_id}" does not follow node "${last.node_id}", whose edge leads to "${last.path_taken}"`;
    if (head.close && head.close.count !== seq + 1)
      return `the close entry counts ${head.close.count} links, the chain has ${seq + 1}`;
    return undefined;
  }

  report(state: Verification["state"], problem?: Verification["problem"]): Verification {
    return { state, links: this.links, erased: this.#erased, ...(problem && { problem }) };
  }
}

function follows(last: Head, head: Head): boolean {
  return head.node_type === "close" || last.path_taken === head.node_id;
}

/** What is wrong with what a sound head names by hash: steps, contents, blobs, code. */
async function namedProblem(
  ports: Ports,
  head: Head,
  entry: StoredEntry,
  contents: ContentCheck,
  code: CodeCheck,
): Promise<LinkProblem | undefined> {
  const message = (await stepProblem(ports, head)) ?? (await code.problemOf(head));
  return message === undefined ? contents.problemOf(head, entry) : { message };
}

async function stepProblem(ports: Ports, head: Head): Promise<string | undefined> {
  if (head.steps.length === 0) return undefined;
  const stored = await ports.chain.steps({ execution: head.execution_id, scope: head.scope, seq: head.seq });
  const changed = stored.find(({ text, hash }) => sha256(text) !== hash);
  if (changed) return `step ${changed.step} was changed`;
  const there = new Set(stored.map(({ hash }) => hash));
  return head.steps.every((hash) => there.has(hash)) ? undefined : "a step that it lists was changed or dropped";
}
