/** States of our own hold a dot, which no node id can; so they never meet a node's state. */
export const closeState = "execution.close";
export const failedState = "execution.failed";
export const closedState = "execution.closed";

export const branchState = (node: string): string => `${node}.branch`;
export const settleState = (node: string): string => `${node}.settle`;
export const settledState = (node: string): string => `${node}.settled`;
