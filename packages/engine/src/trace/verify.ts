import { executionOf } from "../execution/record.ts";
import type { Ports } from "../ports/index.ts";
import type { Erased } from "./content-check.ts";
import { type Problem, ScopeCheck } from "./scope-check.ts";

/**
 * `open`: no close entry yet, every link so far holds. `complete`: closed, every link holds, but the close is not
 * signed by a key that is known here. `anchored`: closed, and the signature over its hash is valid.
 */
export interface Verification {
  state: "open" | "complete" | "anchored" | "broken";
  /** Those that hold, in branches and in the executions that nodes ran, too. */
  links: number;
  /** Contents that were erased on request; their digests still hold the chain together. */
  erased: Erased[];
  /**
   * The first link that was changed, dropped or added, or names what was, and how that shows; `scope` where it is in a
   * branch, `execution` where in one that a node ran, `blob` (a SHA-256) and `key` (of the context) where what it names
   * is a blob.
   */
  problem?: Problem;
}

/**
 * Walks the chain and checks every hash, digest, step and edge, that joins list the branches as they are, and what
 * entries name by hash: blobs, each read once as a stream, and code. Throws `ExecutionNotFound`.
 */
export async function verifyExecution(ports: Ports, id: string): Promise<Verification> {
  const record = await executionOf(ports, id);
  const check = new ScopeCheck(ports, id);
  const walked = await check.walk(id, "");
  const report = (state: Verification["state"], problem?: Problem): Verification => ({
    ...{ state, links: check.links, erased: check.contents.erased },
    ...(problem && { problem }),
  });
  const broken = (seq: number, message: string) => report("broken", { seq, message });
  if ("problem" in walked) return report("broken", walked.problem);
  if (!walked.tip) return broken(0, "the chain has no link: link 0 was dropped");
  const { head, entry } = walked.tip;
  if (!head.close) {
    return record.tip
      ? broken(head.seq + 1, "the close entry was dropped: the record of the run knows its hash")
      : report("open");
  }
  if (record.tip !== undefined && record.tip !== entry.hash)
    return broken(head.seq, "the close entry is not the one that the record of the run knows");
  if (entry.signature === undefined) return report("complete");
  return (await ports.signer.verify(entry.hash, entry.signature))
    ? report("anchored")
    : broken(
        head.seq,
        "the signature of the close entry is not valid: the chain was rewritten, or signed with another key",
      );
}
