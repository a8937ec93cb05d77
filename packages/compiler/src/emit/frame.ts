import type { ChoiceRule, State, States, Transition } from "../asl.ts";
import type { HasNext, Target } from "../lower.ts";

/** ARNs of the Lambda functions that a state machine calls. */
export interface FunctionArns {
  runNode: string;
  settleNode: string;
  closeExecution: string;
  /** The function that stores the token of a task that a person or an event answers. */
  requestApproval: string;
}

/**
 * A part of a workflow for which the compiler emits states: the main line, a branch, or the body of a map. Most fields
 * name the state that follows when the frame ends in a certain way.
 */
export interface Frame {
  functions: FunctionArns;
  closed: string;
  /** The state that follows if a node has failed, no retry follows, and the failure is in the chain. */
  failed: string;
  unsettled: string;
  unfit: string;
  /**
   * The state to which a Choice leads at the end of the frame. States of other types end the frame with `End`, but a
   * Choice has no `End`.
   */
  done: string;
  /**
   * The state to which a loop leads if it continues in a further execution. Absent if no loop can continue in a further
   * execution, for example in a branch.
   */
  further?: string | undefined;
  /** The number of items that a map may run inline. Absent in the body of a map, where maps always run inline. */
  inlineItems?: InlineItems | undefined;
  /** True if the frame settles its failed nodes itself. False on the main line, where the close settles them. */
  settles: boolean;
}

export type InlineItems = (map: string) => number;

/** Returns the frame of the main line. The main line ends in end nodes, so none of its states leads to `done`. */
export function mainFrame(functions: FunctionArns, inlineItems: InlineItems, continues: boolean): Frame {
  const close = { failed: closeState, unsettled: closeState, unfit: closeState, done: closeState };
  const further = continues ? continueState : undefined;
  return { functions, closed: closedState, ...close, inlineItems, settles: false, further };
}

/** Builds the frame of a branch or an item. `name` is the prefix of the names of its end states. */
export function innerFrame(
  name: string,
  functions: FunctionArns,
  options: { tolerant: boolean; inlineItems?: InlineItems | undefined },
): Frame {
  const { tolerant, inlineItems } = options;
  const ends = { closed: `${name}.closed`, done: `${name}.done`, unfit: `${name}.unfit`, unsettled: `${name}.failed` };
  return { functions, ...ends, failed: `${name}.${tolerant ? "tolerated" : "failed"}`, inlineItems, settles: true };
}

export function transitionTo(way: Target): Transition {
  return way === null ? { End: true, OutputPath: null } : { Next: way };
}

/**
 * Returns the states in which a branch or an item ends. Leaves out the end states to which no state in `states` leads,
 * because Step Functions refuses unreachable states.
 */
export function endsOf(frame: Frame, states: States): States {
  const reached = new Set(Object.values(states).flatMap(targetsOf));
  const ends: States = {
    [frame.done]: { Type: "Pass", ...transitionTo(null) },
    // If failures are not tolerated, `failed` and `unsettled` are the same name, and the Fail state replaces this Pass
    // state.
    [frame.failed]: { Type: "Pass", ...transitionTo(null) },
    [frame.unsettled]: { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" },
    [frame.unfit]: unfitEnd,
    [frame.closed]: closedEnd,
  };
  return Object.fromEntries(Object.entries(ends).filter(([name]) => reached.has(name)));
}

/** The Fail state for a branch or an item in which a decision matches no edge. */
export const unfitEnd: State = {
  Type: "Fail",
  Error: "NodeFailed",
  Cause: "No edge fits the decision; the chain of work has it.",
};

/**
 * The Fail state for an execution in which a task found the run closed. The close entry says why the run was closed.
 */
export const closedEnd: State = {
  Type: "Fail",
  Error: "ExecutionClosed",
  Cause: "The execution was closed while this node was under way; its chain of work says why.",
};

function targetsOf(state: State): string[] {
  const handlers = "Catch" in state ? (state.Catch ?? []) : [];
  const rules: readonly ChoiceRule[] = state.Type === "Choice" ? state.Choices : [];
  const own = state.Type === "Choice" ? [state.Default] : "Next" in state && state.Next ? [state.Next] : [];
  return [...own, ...[...handlers, ...rules].map(({ Next }) => Next)];
}

/** Returns the state after a node: its fork, or the next node. */
export function stateAfter({ fork, next }: HasNext): Target {
  return fork ? stateOf(fork.node, "fork") : next;
}

/**
 * The names of states that belong to no node. Each name contains a dot. No node id contains a dot, so no state of a
 * node has the same name.
 */
export const closeState = "execution.close";
export const failedState = "execution.failed";
export const closedState = "execution.closed";
export const beginState = "execution.begin";
export const continueState = "execution.continue";

/** The suffix in the names of the further states of a node. It says what such a state does for the node. */
type Part =
  | ("branch" | "settle" | "settled" | "running" | "pause" | "expired" | "wait" | "waited" | "run" | "done")
  | ("fork" | "join" | "joined" | "size" | "each" | "item")
  | ("asked" | "call" | "begin");

export function stateOf(node: string, part: Part): string {
  return `${node}.${part}`;
}

/** Step Functions allows names of 80 characters. The other 8 are for the longest suffix of a state in the branch. */
const longestBranchName = 72;

/**
 * Returns the name of a branch's first state. This name is also the prefix of the names of the branch's other states.
 * An id has at most 64 characters.
 */
export function branchName(fork: string, entry: string): string {
  const name = `${stateOf(fork, "fork")}.${entry}`;
  return name.length <= longestBranchName ? name : `${entry}.begin`;
}
