/** States of our own hold a dot, which no node id can; so they never meet a node's state. */
export const closeState = "execution.close";
export const failedState = "execution.failed";
export const closedState = "execution.closed";
export const beginState = "execution.begin";
export const continueState = "execution.continue";

/** What a state of our own is to its node. */
type Part =
  | ("branch" | "settle" | "settled" | "running" | "pause" | "expired" | "wait" | "waited" | "run" | "done")
  | ("fork" | "join" | "joined" | "size" | "each" | "item");

export function stateOf(node: string, part: Part): string {
  return `${node}.${part}`;
}

/** Step Functions takes 80 characters: what is left in front of the longest ending of a branch's states. */
const longestBranchName = 72;

/** First state of a branch, and the beginning of its other states' names. An id has at most 64 characters. */
export function branchName(fork: string, entry: string): string {
  const name = `${stateOf(fork, "fork")}.${entry}`;
  return name.length <= longestBranchName ? name : `${entry}.begin`;
}
