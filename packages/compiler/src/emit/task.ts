import type { Catcher, Parameters, TaskState, Transition } from "../asl.ts";
import { closedState } from "./names.ts";
import { retriers } from "./retry.ts";

/** ARNs of the three Lambda functions that a state machine calls. */
export interface FunctionArns {
  runNode: string;
  settleNode: string;
  closeExecution: string;
}

/** The longest that AWS Lambda lets a function run. */
const lambdaLimitSeconds = 900;

/** A Lambda task, with the retries that every one of ours has. */
export function lambdaTask(
  resource: string,
  details: { comment?: string | undefined; parameters?: Parameters; catchers?: Catcher[] },
  transition: Transition,
): TaskState {
  return {
    Type: "Task",
    ...(details.comment !== undefined && { Comment: details.comment }),
    Resource: resource,
    ...(details.parameters && { Parameters: details.parameters }),
    TimeoutSeconds: lambdaLimitSeconds,
    Retry: retriers,
    ...(details.catchers && { Catch: details.catchers }),
    ...transition,
  };
}

/** What running and settling a node need: who, and the link directly before. */
export function nodeParameters(node: string): Parameters {
  return { node, "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" };
}

/** A run that was closed meanwhile goes straight to its Fail; everything else goes to `next`, with the link it knew. */
export function catchTo(next: string): Catcher[] {
  return [
    { ErrorEquals: ["ExecutionClosed"], ResultPath: "$.error", Next: closedState },
    { ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: next },
  ];
}
