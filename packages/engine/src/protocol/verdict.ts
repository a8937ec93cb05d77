import { nodeIndex, type RunErrorClass } from "@nova/workflow";
import type { FailureRecord, Head } from "../chain/head.ts";
import { failureOf } from "../chain/position.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { hasBegun, type OpenFork, type Tip } from "./branches.ts";
import type { Reason } from "./settling.ts";

/** `stopped`: by a close, or because another branch failed. `under way`: it has not ended, or not begun. */
export type BranchState = "done" | "failed" | "stopped" | "under way";

/** What became of a branch, by its tip. */
export function branchState({ version, end }: OpenFork, tip: Tip): BranchState {
  const { head } = tip;
  if (!hasBegun(tip) || head.path_taken !== (head.status === "failed" && !isCaught(version, head) ? null : end))
    return "under way";
  if (head.status === "success" || isCaught(version, head)) return "done";
  return head.error_class === "ExecutionClosed" ? "stopped" : "failed";
}

/** A failure whose `onError` leads on, even if that is the end of the branch. */
function isCaught({ workflow }: WorkflowVersion, { node_id, node_type }: Head): boolean {
  const node = nodeIndex(workflow).get(node_type === "join" ? node_id.replace(/\.join$/, "") : node_id)?.node;
  if (node_type === "join" && node?.type !== "map") return false;
  return node !== undefined && "onError" in node && node.onError !== undefined;
}

/** Why a join fails. */
export interface JoinFailure {
  class: RunErrorClass;
  failure: FailureRecord;
}

/** Why the branches cannot be joined, or null: the first that failed, else why they were stopped (`reason`). */
export async function failureOfBranches(
  ports: Ports,
  open: OpenFork,
  tips: readonly Tip[],
  reason: Reason,
): Promise<JoinFailure | null> {
  const states = tips.map((tip) => branchState(open, tip));
  const failed = states.flatMap((state, i) => (state === "failed" ? [i] : []));
  const first = failed[0];
  if (first !== undefined && failed.length > toleratedFailures(open)) {
    const { head, entry } = tips[first] as Tip;
    const inner = await failureOf(entry, ports.blobs);
    const failure = inBranch(open, first, head, inner);
    const count = open.map?.toleratedFailures ? countText(failed.length, open) : "";
    return { class: head.error_class ?? "NodeFailed", failure: { ...failure, message: failure.message + count } };
  }
  const isOver = states.every((state) => state === "done" || state === "failed");
  return isOver ? null : { class: reason.class, failure: { message: reason.message } };
}

function toleratedFailures({ map, branches }: OpenFork): number {
  const tolerated = map?.toleratedFailures;
  if (!tolerated) return 0;
  return "count" in tolerated ? tolerated.count : (tolerated.percent * branches.length) / 100;
}

function countText(failures: number, open: OpenFork): string {
  return ` (${failures} of ${open.branches.length} items failed, ${Math.floor(toleratedFailures(open))} may)`;
}

/** `node "x" in branch "y": it broke`; of a branch whose join failed, the node that failed in there. */
function inBranch({ map, branches }: OpenFork, index: number, { node_id }: Head, inner: FailureRecord): FailureRecord {
  const branch = map ? `item ${index}` : `branch "${branches[index]?.name}"`;
  const node = inner.node ?? node_id;
  const within = inner.within === undefined ? branch : `${inner.within} of ${branch}`;
  return { message: `node "${node}" in ${within}: ${ownWords(inner)}`, node, within };
}

/** What the node itself said, without where that was. */
export function ownWords({ message, node, within }: FailureRecord): string {
  return within === undefined ? message : message.slice(`node "${node}" in ${within}: `.length);
}
