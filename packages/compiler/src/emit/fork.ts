import { createHash } from "node:crypto";
import type { Branch, ChoiceRule, DistributedMapState, MapState, PassState, States } from "../asl.ts";
import { maxItemsInBody } from "../events/history-budget.ts";
import type { PlannedAgent, PlannedFork, PlannedFrame, PlannedMap, Target } from "../lower.ts";
import { branchName, type Frame, innerFrame, stateAfter, stateOf, unfitEnd } from "./frame.ts";
import {
  afterFailure,
  catchTo,
  codeParameters,
  failureTarget,
  furtherRules,
  lambdaTask,
  nodeParameters,
  position,
  settledChoice,
  settleStates,
  settleTask,
} from "./nodes.ts";

/**
 * Emits the states of the main line, of a branch, or of the body of a map. These are the states of the nodes, and the
 * end states to which they lead.
 */
export type EmitFrame = (planned: PlannedFrame, frame: Frame) => States;

/** Emits the Parallel state with all branches, and then their join, which leads to `next`. */
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
  const inner = innerFrame(name, frame.functions, { tolerant: false, inlineItems: frame.inlineItems });
  return { StartAt: name, States: { [name]: beginScope(scope, branch.entry), ...emitFrame(branch, inner) } };
}

/** Emits the state that changes the position of the run to the start of an inner scope. */
function beginScope(scope: string, entry: string): PassState {
  return { Type: "Pass", Parameters: { "execution.$": "$.execution", "scope.$": scope, seq: 0 }, Next: entry };
}

/** Emits the task that writes the entry of the join, whether or not a branch failed, and the Choice after it. */
export function joinStates(fork: string, { failed, next }: { failed: string; next: Target }, frame: Frame): States {
  const joined = stateOf(fork, "joined");
  const join = settleTask({ join: fork, "at.$": "$" }, joined, frame);
  // The join of an agent leads back to the agent, where the run may continue in a further execution.
  const further = next === fork ? furtherRules(frame) : [];
  return { [stateOf(fork, "join")]: join, [joined]: settledChoice(failed, further, next ?? frame.done) };
}

/** Emits the task that splits the list into items, the Map that runs the body for each item number, and the join. */
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
 * Emits the Map over the items. It runs inline, or with an execution for each item if the history of this execution has
 * no room for all items.
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
  const states = emitFrame(body, innerFrame(name, functions, { tolerant: toleratesFailures }));
  return { StartAt: name, States: { [name]: beginScope(scope, body.entry), ...states } };
}

/** The longest label of a distributed Map in Step Functions. */
const longestLabel = 40;

/**
 * Returns the fields of a distributed Map: the reader of the item numbers in S3, and the processor that runs `body` for
 * each item in an execution.
 */
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

/** Renames all states of a copied body, because state names must be unique in a machine. */
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
/** The longest name of a state in Step Functions. */
const longestName = 80;
const digits = 8;

/**
 * Returns the name of a state in the copy of a body that runs each item in a separate execution. A long name ends with
 * a hash.
 */
function distributedName(name: string): string {
  if (name.length + ending.length <= longestName) return name + ending;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, digits);
  return `${name.slice(0, longestName - ending.length - digits - 1)}.${hash}${ending}`;
}

/**
 * Emits the task that asks the model, a Choice, the Map that runs each requested call, and the join. The join leads
 * back to the task. If the model requests no calls, its answer is final, and the node after the agent follows.
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

/** Emits the states of one call: a Choice that finds the tool, and then the nodes of the tool in a separate scope. */
function callStates({ id, tools }: PlannedAgent, { functions }: Frame, emitFrame: EmitFrame): Branch {
  const call = stateOf(id, "call");
  const scope = `States.Format('{}/${id}@{}.{}', $.scope, $.seq, $.index)`;
  const isTool = (entry: string) => ({ Variable: "$.tool", StringEquals: entry, Next: stateOf(entry, "begin") });
  const [first, ...others] = tools.map(({ entry }) => isTool(entry));
  if (!first) throw new RangeError(`agent "${id}" has no tools`);
  const inner = innerFrame(call, functions, { tolerant: true });
  const states: States = {
    [call]: { Type: "Choice", Choices: [first, ...others], Default: inner.unfit },
    [inner.unfit]: unfitEnd,
  };
  for (const tool of tools) {
    states[stateOf(tool.entry, "begin")] = beginScope(scope, tool.entry);
    Object.assign(states, emitFrame(tool, inner));
  }
  return { StartAt: call, States: states };
}
