import type { Branch, States } from "../asl.ts";
import { mostInBody } from "../events/inline-items.ts";
import type { PlannedMap } from "../lower/plan.ts";
import { elsewhere, ownExecutions } from "./distributed.ts";
import type { EmitFrame } from "./fork.ts";
import { type Frame, innerFrame } from "./frame.ts";
import { joinStates } from "./join.ts";
import { eachState, itemState, joinState } from "./names.ts";
import { onward } from "./onward.ts";
import { afterFailure, failedWay, settleStates } from "./settle.ts";
import { catchTo, lambdaTask, nodeParameters, position } from "./task.ts";

/** A task that makes items of a list, the body once for each of their numbers, and the join. */
export function emitMap(node: PlannedMap, frame: Frame, emitFrame: EmitFrame): States {
  const most = frame.inlineItems?.(node.id);
  const more = most === undefined ? { most_items: mostInBody(node) } : { inline_items: most };
  const each = most === undefined ? eachState(node.id) : sizeState(node.id);
  const catchers = catchTo(afterFailure(node, frame), frame);
  const details = { comment: node.comment, parameters: { ...nodeParameters(node.id), ...more }, catchers };
  return {
    [node.id]: lambdaTask(frame.functions.runNode, details, each),
    ...settleStates(node, [], each, frame, more),
    ...eachStates(node, frame, emitFrame),
    ...joinStates(node.id, { failed: failedWay(node.onError, frame), next: onward(node) }, frame),
  };
}

const sizeState = (map: string): string => `${map}.size`;

/** The body for each item, in the history of this execution or, where they are too many, each in one of its own. */
function eachStates(node: PlannedMap, frame: Frame, emitFrame: EmitFrame): States {
  const body = emitBody(node, frame, emitFrame);
  const common = {
    Type: "Map" as const,
    ItemSelector: { ...position, "index.$": "$$.Map.Item.Value" },
    MaxConcurrency: node.maxConcurrency,
    ResultPath: null,
    Catch: catchTo(joinState(node.id), frame),
    Next: joinState(node.id),
  };
  const [size, each] = [sizeState(node.id), eachState(node.id)];
  const inline: States = {
    [each]: {
      ...common,
      ItemsPath: "$.items",
      ItemProcessor: { ProcessorConfig: { Mode: "INLINE" }, ...body },
    },
  };
  if (!frame.inlineItems) return inline;
  const distributed = elsewhere(each);
  const isLarge = { Variable: "$.distributed", BooleanEquals: true, Next: distributed };
  return {
    [size]: { Type: "Choice", Choices: [isLarge], Default: each },
    ...inline,
    [distributed]: { ...common, ...ownExecutions(node.id, body) },
  };
}

function emitBody({ id, body, toleratesFailures }: PlannedMap, { functions }: Frame, emitFrame: EmitFrame): Branch {
  const name = itemState(id);
  const scope = `States.Format('{}/${id}@{}.{}', $.scope, $.seq, $.index)`;
  const begin = { "execution.$": "$.execution", "scope.$": scope, seq: 0 };
  const states = emitFrame(body, innerFrame(name, functions, { tolerant: toleratesFailures }));
  return {
    StartAt: name,
    States: { [name]: { Type: "Pass" as const, Parameters: begin, Next: body.entry }, ...states },
  };
}
