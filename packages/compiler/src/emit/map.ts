import type { States } from "../asl.ts";
import type { PlannedMap } from "../lower/plan.ts";
import type { EmitFrame } from "./fork.ts";
import { type Frame, innerFrame } from "./frame.ts";
import { joinStates } from "./join.ts";
import { eachState, itemState, joinState } from "./names.ts";
import { onward } from "./onward.ts";
import { afterFailure, failedWay, settleStates } from "./settle.ts";
import { catchTo, lambdaTask, nodeParameters, position } from "./task.ts";

/** A task that makes items of a list, the body once for each of their numbers, and the join. */
export function emitMap(node: PlannedMap, frame: Frame, emitFrame: EmitFrame): States {
  const each = eachState(node.id);
  const catchers = catchTo(afterFailure(node, frame), frame);
  const details = { comment: node.comment, parameters: nodeParameters(node.id), catchers };
  return {
    [node.id]: lambdaTask(frame.functions.runNode, details, each),
    ...settleStates(node, [], each, frame),
    [each]: {
      Type: "Map",
      ItemsPath: "$.items",
      ItemSelector: { ...position, "index.$": "$$.Map.Item.Value" },
      MaxConcurrency: node.maxConcurrency,
      ItemProcessor: { ProcessorConfig: { Mode: "INLINE" }, ...emitBody(node, frame, emitFrame) },
      ResultPath: null,
      Catch: catchTo(joinState(node.id), frame),
      Next: joinState(node.id),
    },
    ...joinStates(node.id, { failed: failedWay(node.onError, frame), next: onward(node) }, frame),
  };
}

function emitBody({ id, body, toleratesFailures }: PlannedMap, { functions }: Frame, emitFrame: EmitFrame) {
  const name = itemState(id);
  const scope = `States.Format('{}/${id}@{}.{}', $.scope, $.seq, $.index)`;
  const begin = { "execution.$": "$.execution", "scope.$": scope, seq: 0 };
  const states = emitFrame(body, innerFrame(name, functions, { tolerant: toleratesFailures }));
  return {
    StartAt: name,
    States: { [name]: { Type: "Pass" as const, Parameters: begin, Next: body.entry }, ...states },
  };
}
