import type { ChoiceRule, State, States, Transition } from "../asl.ts";
import type { GoesOn, Way } from "../lower/plan.ts";

/** ARNs of the Lambda functions that a state machine calls. */
export interface FunctionArns {
  runNode: string;
  settleNode: string;
  closeExecution: string;
  /** Keeps the token of a task that people or events answer. */
  requestApproval: string;
}

/** Where states are emitted: the main line, a branch, an item's body. Its ends are states of its own. */
export interface Frame {
  functions: FunctionArns;
  /** Somebody closed the run. */
  closed: string;
  /** A node failed for good, and the chain knows it. */
  failed: string;
  /** Not even that could be found out. */
  unsettled: string;
  /** No edge fits a decision. */
  unfit: string;
  /** Where a Choice goes that ends the frame; any other state just ends. */
  done: string;
  /** Where a loop leads that goes on in a further execution; absent where none does. */
  further?: string | undefined;
  /** How many items a map may have inline; absent in the body of a map, whose own maps always are. */
  inlineItems?: InlineItems | undefined;
  /** Behind the main line is the close, which settles; any other frame settles its nodes itself. */
  settles: boolean;
}

export type InlineItems = (map: string) => number;

/** The main line ends in its end nodes, so nothing in it leads to `done`. */
export function mainLine(functions: FunctionArns, inlineItems: InlineItems, continues: boolean): Frame {
  const close = { failed: closeState, unsettled: closeState, unfit: closeState, done: closeState };
  const further = continues ? continueState : undefined;
  return { functions, closed: closedState, ...close, inlineItems, settles: false, further };
}

/** A branch or an item, by the name of its first state. */
export function innerFrame(
  name: string,
  functions: FunctionArns,
  options: { tolerant: boolean; inlineItems?: InlineItems | undefined },
): Frame {
  const { tolerant, inlineItems } = options;
  const ends = { closed: `${name}.closed`, done: `${name}.done`, unfit: `${name}.unfit`, unsettled: `${name}.failed` };
  return { functions, ...ends, failed: `${name}.${tolerant ? "tolerated" : "failed"}`, inlineItems, settles: true };
}

export function goOn(way: Way): Transition {
  return way === null ? { End: true, OutputPath: null } : { Next: way };
}

/** The ends of an inner frame that `states` lead to: Step Functions refuses states that are never reached. */
export function endsOf(frame: Frame, states: States): States {
  const reached = new Set(Object.values(states).flatMap(targetsOf));
  const cause = (text: string): State => ({ Type: "Fail", Error: "NodeFailed", Cause: text });
  const ends: States = {
    [frame.done]: { Type: "Pass", ...goOn(null) },
    // Where failures are not tolerated the next line has the same name, and replaces this one.
    [frame.failed]: { Type: "Pass", ...goOn(null) },
    [frame.unsettled]: { Type: "Fail", ErrorPath: "$.error.Error", CausePath: "$.error.Cause" },
    [frame.unfit]: cause("No edge fits the decision; the chain of work has it."),
    [frame.closed]: closedEnd,
  };
  return Object.fromEntries(Object.entries(ends).filter(([name]) => reached.has(name)));
}

/** Where a task ends that found its run closed by somebody else; the close entry says why. */
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

/** The state behind a node's own: its fork, or the node it leads to. */
export function onward({ fork, next }: GoesOn): Way {
  return fork ? stateOf(fork.node, "fork") : next;
}

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
