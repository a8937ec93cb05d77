/** States of our own hold a dot, which no node id can; so they never meet a node's state. */
export const closeState = "execution.close";
export const failedState = "execution.failed";
export const closedState = "execution.closed";
export const beginState = "execution.begin";
export const continueState = "execution.continue";

export const branchState = (node: string): string => `${node}.branch`;
export const settleState = (node: string): string => `${node}.settle`;
export const settledState = (node: string): string => `${node}.settled`;
export const runningState = (node: string): string => `${node}.running`;
export const pauseState = (node: string): string => `${node}.pause`;
export const expiredState = (node: string): string => `${node}.expired`;
export const pausedState = (node: string): string => `${node}.wait`;
export const waitedState = (node: string): string => `${node}.waited`;
export const runState = (node: string): string => `${node}.run`;
export const doneState = (node: string): string => `${node}.done`;

export const forkState = (node: string): string => `${node}.fork`;
export const joinState = (node: string): string => `${node}.join`;
export const joinedState = (node: string): string => `${node}.joined`;
export const sizeState = (map: string): string => `${map}.size`;
export const eachState = (map: string): string => `${map}.each`;
export const itemState = (map: string): string => `${map}.item`;

/** Step Functions takes 80 characters: what is left in front of the longest ending of a branch's states. */
const longestBranchName = 72;

/** First state of a branch, and the beginning of its other states' names. An id has at most 64 characters. */
export function branchName(fork: string, entry: string): string {
  const name = `${forkState(fork)}.${entry}`;
  return name.length <= longestBranchName ? name : `${entry}.begin`;
}
