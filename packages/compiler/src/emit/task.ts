import type { Retry } from "@nova/workflow";
import type { Catcher, Parameters, TaskState } from "../asl.ts";
import type { Way } from "../lower/plan.ts";
import { type Frame, goOn } from "./frame.ts";
import { childRetriers, retriersOf } from "./retry.ts";

/** The longest that AWS Lambda lets a function run. */
const lambdaLimitSeconds = 900;

/** A Lambda task, with the retries that every one of ours has, behind those of its node. */
export function lambdaTask(
  resource: string,
  details: {
    comment?: string | undefined;
    parameters?: Parameters;
    catchers?: Catcher[];
    retry?: Retry | undefined;
  },
  next: Way,
): TaskState {
  return {
    Type: "Task",
    ...(details.comment !== undefined && { Comment: details.comment }),
    Resource: resource,
    ...(details.parameters && { Parameters: details.parameters }),
    TimeoutSeconds: lambdaLimitSeconds,
    Retry: retriersOf(details.retry),
    ...(details.catchers && { Catch: details.catchers }),
    ...goOn(next),
  };
}

/** Of a task that starts another execution and waits for its end: which one is said at `place`. */
export function anotherRun(place: string): Pick<TaskState, "Resource" | "Parameters" | "Retry"> {
  return {
    Resource: "arn:aws:states:::states:startExecution.sync:2",
    Parameters: { "StateMachineArn.$": `${place}.arn`, "Name.$": `${place}.name`, "Input.$": `${place}.input` },
    Retry: childRetriers,
  };
}

/** What running and settling a node need: who, and the link directly before. */
export function nodeParameters(node: string): Parameters {
  return { node, ...position };
}

/** The same for a node that runs code, whose chain of work says how often it came to nothing before. */
export function codeParameters(node: string): Parameters {
  return { ...nodeParameters(node), "retries.$": "$$.State.RetryCount" };
}

/** Where a run is. */
export const position: Parameters = { "execution.$": "$.execution", "scope.$": "$.scope", "seq.$": "$.seq" };

/** A run that was closed meanwhile goes straight to its Fail; everything else goes to `next`, with the link it knew. */
export function catchTo(next: string, { closed }: Frame): Catcher[] {
  return [
    { ErrorEquals: ["ExecutionClosed"], ResultPath: "$.error", Next: closed },
    { ErrorEquals: ["States.ALL"], ResultPath: "$.error", Next: next },
  ];
}
