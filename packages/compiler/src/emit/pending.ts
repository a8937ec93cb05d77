import type { ChoiceRule, States, TaskState } from "../asl.ts";
import type { Failable, Way } from "../lower/plan.ts";
import type { Frame } from "./frame.ts";
import { goOn } from "./frame.ts";
import { expiredState, settledState } from "./names.ts";
import { untimedRetriers } from "./retry.ts";
import { afterFailure, failedWay, settledChoice, settleStates } from "./settle.ts";
import { catchTo, lambdaTask, nodeParameters } from "./task.ts";

/** A node whose outcome comes from outside. */
export interface Pending extends Failable {
  id: string;
  comment?: string;
  timeoutSeconds: number;
}

/** Where it goes on once the chain has the outcome. */
interface Answered {
  /** The state behind the task. */
  next: Way;
  /** The same where a settle found it: by its decision, or else on. */
  rules: readonly ChoiceRule[];
  otherwise: string;
}

/**
 * A task that ends when somebody sends its token back. A function keeps the token; when the time is over, another one
 * asks the chain: an answer that came before the timeout counts, even if Step Functions never heard of it.
 */
export function pendingStates(node: Pending, { next, rules, otherwise }: Answered, frame: Frame): States {
  const expired = lambdaTask(
    frame.functions.settleNode,
    { parameters: { ...nodeParameters(node.id), expired: true }, catchers: catchTo(frame.unsettled, frame) },
    settledState(node.id),
  );
  return {
    [node.id]: tokenTask(node, next, frame),
    [expiredState(node.id)]: expired,
    ...settleStates(node, rules, otherwise, frame),
    [settledState(node.id)]: settledChoice(failedWay(node.onError, frame), rules, otherwise),
  };
}

function tokenTask(node: Pending, next: Way, frame: Frame): TaskState {
  const expiry = { ErrorEquals: ["States.Timeout"], ResultPath: "$.error", Next: expiredState(node.id) };
  return {
    Type: "Task",
    ...(node.comment !== undefined && { Comment: node.comment }),
    Resource: "arn:aws:states:::lambda:invoke.waitForTaskToken",
    Parameters: {
      FunctionName: frame.functions.requestApproval,
      Payload: { ...nodeParameters(node.id), "token.$": "$$.Task.Token" },
    },
    TimeoutSeconds: node.timeoutSeconds,
    Retry: untimedRetriers,
    Catch: catchTo(afterFailure(node, frame), frame).toSpliced(1, 0, expiry),
    ...goOn(next),
  };
}
