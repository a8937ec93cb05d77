import { createHash } from "node:crypto";
import type { Branch, DistributedMapState, States } from "../asl.ts";
import { maxItemsInBody } from "../events/inline-items.ts";
import type { PlannedMap } from "../lower/plan.ts";
import { type EmitFrame, joinStates } from "./fork.ts";
import { type Frame, innerFrame, stateAfter, stateOf } from "./frame.ts";
import { afterFailure, failureTarget, settleStates } from "./settle.ts";
import { catchTo, lambdaTask, nodeParameters, position } from "./task.ts";

/** Emits a task that makes items of a list, the body for each of their numbers, and the join. */
export function emitMap(node: PlannedMap, frame: Frame, emitFrame: EmitFrame): States {
  const maxInline = frame.inlineItems?.(node.id);
  const more = maxInline === undefined ? { most_items: maxItemsInBody(node) } : { inline_items: maxInline };
  const each = maxInline === undefined ? stateOf(node.id, "each") : stateOf(node.id, "size");
  const catchers = catchTo(afterFailure(node, frame), frame);
  const details = { comment: node.comment, parameters: { ...nodeParameters(node.id), ...more }, catchers };
  return {
    [node.id]: lambdaTask(frame.functions.runNode, details, each),
    ...settleStates(node, [], each, frame, more),
    ...eachStates(node, frame, emitFrame),
    ...joinStates(node.id, { failed: failureTarget(node.onError, frame), next: stateAfter(node) }, frame),
  };
}

/**
 * Emits the body for each item: in the history of this execution, or each in its own execution if there are too many
 * items.
 */
function eachStates(node: PlannedMap, frame: Frame, emitFrame: EmitFrame): States {
  const body = emitBody(node, frame, emitFrame);
  const common = {
    Type: "Map" as const,
    ItemSelector: { ...position, "index.$": "$$.Map.Item.Value" },
    MaxConcurrency: node.maxConcurrency,
    ResultPath: null,
    Catch: catchTo(stateOf(node.id, "join"), frame),
    Next: stateOf(node.id, "join"),
  };
  const [size, each] = [stateOf(node.id, "size"), stateOf(node.id, "each")];
  const inline: States = {
    [each]: { ...common, ItemsPath: "$.items", ItemProcessor: { ProcessorConfig: { Mode: "INLINE" }, ...body } },
  };
  if (!frame.inlineItems) return inline;
  const distributed = distributedName(each);
  const isLarge = { Variable: "$.distributed", BooleanEquals: true, Next: distributed };
  return {
    [size]: { Type: "Choice", Choices: [isLarge], Default: each },
    ...inline,
    [distributed]: { ...common, ...ownExecutions(node.id, body) },
  };
}

function emitBody({ id, body, toleratesFailures }: PlannedMap, { functions }: Frame, emitFrame: EmitFrame): Branch {
  const name = stateOf(id, "item");
  const scope = `States.Format('{}/${id}@{}.{}', $.scope, $.seq, $.index)`;
  const begin = { "execution.$": "$.execution", "scope.$": scope, seq: 0 };
  const states = emitFrame(body, innerFrame(name, functions, { tolerant: toleratesFailures }));
  const first = { Type: "Pass", Parameters: begin, Next: body.entry } as const;
  return { StartAt: name, States: { [name]: first, ...states } };
}

/** Step Functions: the longest label of a distributed Map. */
const longestLabel = 40;

/** Returns the parts of a distributed Map: the item numbers in S3, and an execution of `body` for each. */
function ownExecutions(map: string, body: Branch): Pick<DistributedMapState, "ItemReader" | "Label" | "ItemProcessor"> {
  return {
    ItemReader: {
      Resource: "arn:aws:states:::s3:getObject",
      ReaderConfig: { InputType: "JSON" },
      Parameters: { "Bucket.$": "$.manifest.bucket", "Key.$": "$.manifest.key" },
    },
    ...(map.length <= longestLabel && { Label: map }),
    ItemProcessor: { ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" }, ...renameStates(body) },
  };
}

const naming: ReadonlySet<string> = new Set(["StartAt", "Next", "Default"]);

/** Renames all states of a part, because state names are unique in a machine. */
function renameStates<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(renameStates) as Part;
  if (typeof part !== "object" || part === null) return part;
  const fields = Object.entries(part).map(([key, value]) => {
    if (naming.has(key)) return [key, distributedName(value)];
    const states =
      key === "States" && Object.entries(value).map(([name, state]) => [distributedName(name), renameStates(state)]);
    return [key, states ? Object.fromEntries(states) : renameStates(value)];
  });
  return Object.fromEntries(fields) as Part;
}

const ending = ".distributed";
/** Step Functions: the longest name of a state. */
const longestName = 80;
const digits = 8;

/** The name of a state for items with their own executions. A long name ends with a hash. */
export function distributedName(name: string): string {
  if (name.length + ending.length <= longestName) return name + ending;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, digits);
  return `${name.slice(0, longestName - ending.length - digits - 1)}.${hash}${ending}`;
}
