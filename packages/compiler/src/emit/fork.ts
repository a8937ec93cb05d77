import type { Branch, States } from "../asl.ts";
import type { PlannedFork, PlannedFrame, Way } from "../lower/plan.ts";
import { type Frame, innerFrame } from "./frame.ts";
import { branchName, forkState, joinedState, joinState } from "./names.ts";
import { settledChoice } from "./settle.ts";
import { catchTo, lambdaTask } from "./task.ts";

/** The states of a frame's nodes, with the ends that they lead to. */
export type EmitFrame = (planned: PlannedFrame, frame: Frame) => States;

/** All branches at once, then their join; `next` is what follows it. */
export function emitFork(fork: PlannedFork, next: Way, frame: Frame, emitFrame: EmitFrame): States {
  const { node, branches } = fork;
  return {
    [forkState(node)]: {
      Type: "Parallel",
      Branches: branches.map((branch) => emitBranch(node, branch, frame, emitFrame)),
      ResultPath: null,
      Catch: catchTo(joinState(node), frame),
      Next: joinState(node),
    },
    ...joinStates(node, { failed: frame.failed, next }, frame),
  };
}

function emitBranch(fork: string, branch: PlannedFrame, frame: Frame, emitFrame: EmitFrame): Branch {
  const name = branchName(fork, branch.entry);
  const scope = `States.Format('{}/${fork}@{}.${branch.entry}', $.scope, $.seq)`;
  return {
    StartAt: name,
    States: {
      [name]: {
        Type: "Pass",
        Parameters: { "execution.$": "$.execution", "scope.$": scope, seq: 0 },
        Next: branch.entry,
      },
      ...emitFrame(branch, innerFrame(name, frame.functions, { tolerant: false, inlineItems: frame.inlineItems })),
    },
  };
}

/**
 * The task that makes one entry of all branches, failed or not, then a Choice over what it found in the chain. It gets
 * the whole state, because `$.error` is there only if a branch failed.
 */
export function joinStates(fork: string, { failed, next }: { failed: string; next: Way }, frame: Frame): States {
  const join = lambdaTask(
    frame.functions.settleNode,
    { parameters: { join: fork, "at.$": "$" }, catchers: catchTo(frame.unsettled, frame) },
    joinedState(fork),
  );
  return { [joinState(fork)]: join, [joinedState(fork)]: settledChoice(failed, [], next ?? frame.done) };
}
