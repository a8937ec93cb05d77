import type { Branch, States } from "../asl.ts";
import type { PlannedFork, PlannedFrame, Target } from "../lower/plan.ts";
import { branchName, type Frame, innerFrame, stateOf } from "./frame.ts";
import { settledChoice, settleTask } from "./settle.ts";
import { catchTo } from "./task.ts";

/** Emits the states of a frame's nodes, with the end states that they lead to. */
export type EmitFrame = (planned: PlannedFrame, frame: Frame) => States;

/** Emits all branches in parallel, then their join; `next` follows the join. */
export function emitFork(fork: PlannedFork, next: Target, frame: Frame, emitFrame: EmitFrame): States {
  const { node, branches } = fork;
  return {
    [stateOf(node, "fork")]: {
      Type: "Parallel",
      Branches: branches.map((branch) => emitBranch(node, branch, frame, emitFrame)),
      ResultPath: null,
      Catch: catchTo(stateOf(node, "join"), frame),
      Next: stateOf(node, "join"),
    },
    ...joinStates(node, { failed: frame.failed, next }, frame),
  };
}

function emitBranch(fork: string, branch: PlannedFrame, frame: Frame, emitFrame: EmitFrame): Branch {
  const name = branchName(fork, branch.entry);
  const scope = `States.Format('{}/${fork}@{}.${branch.entry}', $.scope, $.seq)`;
  const begin = { "execution.$": "$.execution", "scope.$": scope, seq: 0 };
  const first = { Type: "Pass", Parameters: begin, Next: branch.entry } as const;
  const inner = innerFrame(name, frame.functions, { tolerant: false, inlineItems: frame.inlineItems });
  return { StartAt: name, States: { [name]: first, ...emitFrame(branch, inner) } };
}

/**
 * Emits the task that writes one entry for all branches, failed or not, then a Choice. The whole state may contain
 * `$.error`.
 */
export function joinStates(fork: string, { failed, next }: { failed: string; next: Target }, frame: Frame): States {
  const joined = stateOf(fork, "joined");
  const join = settleTask({ join: fork, "at.$": "$" }, joined, frame);
  return { [stateOf(fork, "join")]: join, [joined]: settledChoice(failed, [], next ?? frame.done) };
}
