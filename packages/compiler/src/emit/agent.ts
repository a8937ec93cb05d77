import type { Branch, ChoiceRule, MapState, States } from "../asl.ts";
import type { PlannedAgent } from "../lower.ts";
import { type EmitFrame, joinStates } from "./fork.ts";
import { type Frame, innerFrame, stateAfter, stateOf, unfitEnd } from "./frame.ts";
import { afterFailure, catchTo, codeParameters, failureTarget, lambdaTask, position, settleStates } from "./task.ts";

/**
 * Emits the task that asks the model, a Choice, the Map that runs each requested call, and the join, which leads back
 * to the task. Without calls the answer is final, and the node after the agent follows.
 */
export function emitAgent(node: PlannedAgent, frame: Frame, emitFrame: EmitFrame): States {
  const { id, comment, retry } = node;
  const [asked, each] = [stateOf(id, "asked"), stateOf(id, "each")];
  const catchers = catchTo(afterFailure(node, frame), frame);
  const behind = stateAfter(node) ?? frame.done;
  const called: ChoiceRule = { Variable: "$.items", IsPresent: true, Next: each };
  const details = { comment, parameters: codeParameters(id), catchers, retry };
  return {
    [id]: lambdaTask(frame.functions.runNode, details, asked),
    [asked]: { Type: "Choice", Choices: [called], Default: behind },
    ...settleStates(node, [called], behind, frame),
    [each]: callsMap(node, frame, emitFrame),
    ...joinStates(id, { failed: failureTarget(node.onError, frame), next: id }, frame),
  };
}

function callsMap(node: PlannedAgent, frame: Frame, emitFrame: EmitFrame): MapState {
  const join = stateOf(node.id, "join");
  return {
    Type: "Map",
    ItemsPath: "$.items",
    ItemSelector: { ...position, "index.$": "$$.Map.Item.Value.index", "tool.$": "$$.Map.Item.Value.tool" },
    MaxConcurrency: node.maxConcurrency,
    ResultPath: null,
    ItemProcessor: { ProcessorConfig: { Mode: "INLINE" }, ...callStates(node, frame, emitFrame) },
    Catch: catchTo(join, frame),
    Next: join,
  };
}

/** Emits the states of one call: a Choice that finds the tool, and then the nodes of the tool in a scope of their own. */
function callStates({ id, tools }: PlannedAgent, { functions }: Frame, emitFrame: EmitFrame): Branch {
  const call = stateOf(id, "call");
  const scope = `States.Format('{}/${id}@{}.{}', $.scope, $.seq, $.index)`;
  const begin = { "execution.$": "$.execution", "scope.$": scope, seq: 0 };
  const isTool = (entry: string): ChoiceRule => ({
    Variable: "$.tool",
    StringEquals: entry,
    Next: stateOf(entry, "begin"),
  });
  const [first, ...others] = tools.map(({ entry }) => isTool(entry));
  if (!first) throw new RangeError(`agent "${id}" has no tools`);
  const inner = innerFrame(call, functions, { tolerant: true });
  const states: States = {
    [call]: { Type: "Choice", Choices: [first, ...others], Default: inner.unfit },
    [inner.unfit]: unfitEnd,
  };
  for (const tool of tools) {
    states[stateOf(tool.entry, "begin")] = { Type: "Pass", Parameters: begin, Next: tool.entry };
    Object.assign(states, emitFrame(tool, inner));
  }
  return { StartAt: call, States: states };
}
