import { z } from "zod";
import { defined } from "../defined.ts";
import { at, type Finding, finding, type WrittenPlace } from "../findings/finding.ts";
import { isObject, type Loose } from "../json/exact.ts";
import { dotPathPattern } from "../template/template.ts";
import { checkInputSchema, type FieldPlace, isReserved } from "./field-check.ts";
import { contextKeyPattern, fanOutFields, NodeId, nodeFields, textMatching, toolFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";

export const wholeContext = "$";

const idError = "must be the id of a workflow: lower case letters, digits and dashes, at most 64 in all";
const versionError = "must be the number of a version, a whole number from 1";
const sourceError = 'must be a dot path such as invoice.total, or "$" for the whole context';

const isSource = (text: string) => text === wholeContext || (dotPathPattern.test(text) && !text.startsWith("$"));
const Source = z.string({ error: sourceError }).refine(isSource, { error: sourceError });

const mapping = (description: string, example: string) =>
  z.record(z.string(), Source, { error: `must be an object such as ${example}` }).describe(description);

export const childFields = {
  workflow: textMatching(/^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/, idError).describe(
    "Id of the workflow to run. `nova run` publishes it on the way where its folder lies beside this one.",
  ),
  version: z
    .int({ error: versionError })
    .min(1, { error: versionError })
    .describe("The version to run. Absent: the latest one at the moment when the node begins.")
    .optional(),
  input: mapping(
    'Its initial context: its keys, each with the dot path of a value in the context here, or `"$"` for the whole. Absent: the whole context.',
    '{ "invoice": "email.invoice" }',
  ).optional(),
  output: mapping(
    'Its result: keys of the context here, each with the dot path of a value in its last context, or `"$"` for the whole. Absent: the whole, under the node\'s id.',
    '{ "total": "invoice.total" }',
  ).optional(),
};

export const childCodes = { workflow: "NOVA419", version: "NOVA419", input: "NOVA418", output: "NOVA418" } as const;

export const AuthoredWorkflowNode = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["workflow", "WorkflowNode"]).describe("Runs another workflow."),
    ...toolFields,
    ...childFields,
    onError: NodeId.describe(
      "Node that continues after a failure of the other workflow, instead of failing the run.",
    ).optional(),
    ...fanOutFields,
  })
  .describe("Runs another workflow and waits for its end; it has an execution and a chain of work of its own.");

export const workflowKind: PlainKind<typeof AuthoredWorkflowNode> = {
  type: "workflow",
  schema: AuthoredWorkflowNode,
  edgesOut: "one",
  holds: "nothing",
  check: checkWorkflowNode,
  noRetry: "give it to the nodes of the workflow that it runs",
  codes: childCodes,
  normalise: ({ output, input_schema, ...same }, exactly) =>
    defined({
      ...same,
      inputSchema: input_schema && exactly("input_schema"),
      type: "workflow" as const,
      output: output ?? { [same.id]: wholeContext },
    }),
};

/**
 * Checks the keys of `input` and `output`. Without `output` the result is stored under the node's id, so the id is
 * checked.
 */
function* checkWorkflowNode(node: Loose, place: FieldPlace): Iterable<Finding> {
  yield* checkMappings(node, place);
  yield* checkInputSchema(node, place);
  if (node.output !== undefined || typeof node.id !== "string" || !isReserved(node.id)) return;
  const message = `${place.name}: its result would go to the key "${node.id}", which is reserved for NOVA - add "output" with other keys`;
  yield finding("NOVA502", at(place.path, "id"), message);
}

function* checkMappings(node: Loose, place: WrittenPlace): Iterable<Finding> {
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
