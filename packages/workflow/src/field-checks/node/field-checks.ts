import { contextKeyPattern } from "../../authored/fields.ts";
import { type ExecutorKind, executorKind } from "../../authored/task.ts";
import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/text.ts";
import type { WrittenPlace } from "../../findings/written.ts";
import { isObject } from "../../json/value.ts";
import { longestPromptSeconds } from "../../long-node.ts";
import type { NodeType } from "../../workflow.ts";
import { checkPorts } from "../ports.ts";
import { isReserved } from "../reserved.ts";
import { checkApproval } from "./approval.ts";
import { checkKey, checkOutOfPlace, type FieldCheck } from "./field-check.ts";
import { checkRetry } from "./retry.ts";
import { checkNoText, checkText } from "./text.ts";
import { checkWait } from "./wait.ts";

/** Checks an action or a decision: the meaning of its settings depends on its executor. */
const checkTask: FieldCheck = function* (node, place) {
  const kind = executorKind(node.executor) ?? "code";
  yield* checkRetry(node, place);
  yield* executorChecks[kind](node, place);
  if (kind !== "code") yield* checkModelTime(node, place);
  if (kind !== "text") yield* checkNoText(node, place);
  yield* checkPorts(node.network, place.name, (index) => at(place.path, "network", "allow", index));
};

const executorChecks: Record<ExecutorKind, FieldCheck> = {
  code: (...node) => {
    const wayOut = 'is for prompt nodes, and would do nothing here - remove it, or add "executor": "prompt"';
    return checkOutOfPlace("NOVA421", ["limits", "ai"], wayOut, node);
  },
  prompt: () => [],
  text: checkText,
};

const checkModelTime: FieldCheck = function* ({ timeout, executor }, { name, path }) {
  if (typeof timeout === "number" && timeout > longestPromptSeconds) {
    const message = `${name}: timeout of a ${executorKind(executor)} node must be seconds from 1 to ${longestPromptSeconds}, not ${timeout}`;
    yield finding("NOVA406", at(path, "timeout"), message);
  }
};

const checkMap: FieldCheck = function* (node, place) {
  yield* checkKey(node, "as", place);
  yield* checkKey(node, "into", place);
  if (node.as === "index") {
    const message = `${place.name}: as is "index", which is the key of the item's number - use another key`;
    yield finding("NOVA502", at(place.path, "as"), message);
  }
  yield* node.workflow === undefined ? checkBody(node, place) : checkChild(node, place);
};

function* checkBody(node: Record<string, unknown>, place: WrittenPlace): Iterable<Finding> {
  const { name, path } = place;
  for (const list of ["nodes", "edges"].filter((field) => node[field] === undefined)) {
    yield finding("NOVA106", path, `${name} has no "${list}" - add it`);
  }
  const wayOut = "belongs to a map that runs a workflow - remove it, or add workflow instead of nodes and edges";
  yield* checkOutOfPlace("NOVA420", ["version", "input", "output"], wayOut, [node, place]);
}

/** Checks a map that runs a workflow. Its workflow fields are checked in the body's node. */
function* checkChild(node: Record<string, unknown>, { name, path }: WrittenPlace): Iterable<Finding> {
  for (const field of ["nodes", "edges"].filter((field) => node[field] !== undefined)) {
    const message = `${name} has both workflow and ${field} - keep workflow, or nodes and edges`;
    yield finding("NOVA420", at(path, field), message);
  }
}

/** Checks the keys of `input` and `output`, or the node's id, which is the key without `output`. */
const checkWorkflowNode: FieldCheck = function* (node, place) {
  yield* checkMappings(node, place);
  if (node.output !== undefined || typeof node.id !== "string" || !isReserved(node.id)) return;
  const message = `${place.name}: its result would go to the key "${node.id}", which is reserved for NOVA - add "output" with other keys`;
  yield finding("NOVA502", at(place.path, "id"), message);
};

function* checkMappings(node: Record<string, unknown>, place: WrittenPlace): Iterable<Finding> {
  for (const field of ["input", "output"] as const) {
    const mapping = node[field];
    for (const key of isObject(mapping) ? Object.keys(mapping) : []) yield* checkMappedKey(key, field, place);
  }
}

function* checkMappedKey(key: string, field: "input" | "output", { name, path }: WrittenPlace): Iterable<Finding> {
  const where = at(path, field, key);
  if (isReserved(key)) {
    yield finding("NOVA502", where, `${name}: the key "${key}" is reserved for NOVA - use another one in ${field}`);
  } else if (!contextKeyPattern.test(key)) {
    const message = `${name}: ${field} has the key "${key}", which is not valid - begin with a letter or _, then letters, digits, _ or -`;
    yield finding("NOVA418", where, message);
  }
}

export const fieldChecks: Partial<Record<NodeType, FieldCheck>> = {
  action: checkTask,
  decision: checkTask,
  map: checkMap,
  approval: checkApproval,
  wait: checkWait,
  workflow: checkWorkflowNode,
};
