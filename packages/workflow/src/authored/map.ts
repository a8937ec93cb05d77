import { z } from "zod";
import { defined } from "../defined.ts";
import { at, type Finding, finding, type WrittenPlace } from "../findings/finding.ts";
import type { Loose } from "../json/exact.ts";
import { checkKey, checkOutOfPlace, type FieldPlace } from "./field-check.ts";
import { contextKey, dotPath, fanOutFields, NodeId, nodeFields, numberBetween, textMatching } from "./fields.ts";
import type { BodyKind } from "./kind.ts";
import { childCodes, childFields } from "./workflow-node.ts";

const toleratedError = 'must be a whole number of items, or a share of them such as "10%"';

const Tolerated = z
  .union(
    [
      z.int({ error: toleratedError }).min(0, { error: toleratedError }),
      textMatching(/^(100|\d{1,2})%$/, toleratedError),
    ],
    { error: toleratedError },
  )
  .describe(
    'How many items may fail before the map does: a number, or a share such as `"10%"`. In the results a failed item is `{"error": ...}`.',
  );

export const AuthoredMap = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["map"]).describe("Runs nodes of its own once for every item of a list."),
    items: dotPath("Where the list is in the context, as a dot path: `email.attachments`."),
    as: contextKey("Key of the context under which the nodes find their item; its number is under `index`.").default(
      "item",
    ),
    into: contextKey(
      "Key of the list of results, in the order of the items: the keys that the nodes of each item set.",
    ).default("results"),
    nodes: z
      .array(z.unknown(), { error: "must be a list of nodes" })
      .describe(
        "The nodes of one item, of any kind but `start`. The item starts at the node without an incoming edge, and ends at a node without an outgoing edge or at an `end`.",
      )
      .optional(),
    edges: z
      .array(z.unknown(), { error: "must be a list of edges" })
      .describe("The edges between these nodes.")
      .optional(),
    workflow: childFields.workflow
      .describe("Instead of `nodes` and `edges`: id of a workflow that runs once for each item.")
      .optional(),
    version: childFields.version.describe("With `workflow`: the version to run. Absent: the latest one."),
    input: childFields.input.describe(
      'With `workflow`: its initial context in addition to the item (under `as`) and its number (`index`): keys, each with a dot path of the context here, or `"$"`.',
    ),
    output: childFields.output.describe(
      "With `workflow`: the item's result: keys, each with the dot path of a value in its last context, or `\"$\"`. Absent: all of it, under the map's id and `_item`.",
    ),
    max_concurrency: numberBetween("whole", 1, 1000)
      .describe("How many items run side by side, 1 to 1000; each has a sandbox of its own meanwhile.")
      .default(5),
    tolerated_failures: Tolerated.optional(),
    onError: NodeId.describe("Node that continues after a failure of the map, instead of failing the run.").optional(),
    ...fanOutFields,
  })
  .describe(
    "Runs `nodes` of its own, or another workflow, once for every item of a list in the context, several side by side.",
  );

export const mapKind: BodyKind<typeof AuthoredMap> = {
  type: "map",
  schema: AuthoredMap,
  edgesOut: "one",
  holds: "nodes",
  check: checkMap,
  noRetry: "give it to the nodes of its body, or tolerate failed items with tolerated_failures",
  codes: { ...childCodes, items: "NOVA418", as: "NOVA418", into: "NOVA418" },
  normalise: ({ id, type, name, description, items, as, into, onError, merge, ...other }, body) => {
    const same = { id, type, name, description, items, as, into, onError, merge };
    const toleratedFailures = toleranceOf(other.tolerated_failures);
    return defined({ ...same, body, maxConcurrency: other.max_concurrency, toleratedFailures });
  },
};

/**
 * Returns the number or percentage of failures that a map tolerates. Returns undefined for zero, so that a written zero
 * gives the workflow the same version as an absent field.
 */
function toleranceOf(failures: number | string | undefined) {
  const amount = Number.parseInt(String(failures ?? 0), 10);
  if (amount === 0) return undefined;
  return typeof failures === "string" ? { percent: amount } : { count: amount };
}

function* checkMap(node: Loose, place: FieldPlace): Iterable<Finding> {
  yield* checkKey(node, "as", place);
  yield* checkKey(node, "into", place);
  if (node.as === "index") {
    const message = `${place.name}: as is "index", which is the key of the item's number - use another key`;
    yield finding("NOVA502", at(place.path, "as"), message);
  }
  yield* node.workflow === undefined ? checkBody(node, place) : checkChild(node, place);
}

function* checkBody(node: Loose, place: WrittenPlace): Iterable<Finding> {
  const { name, path } = place;
  for (const list of ["nodes", "edges"].filter((field) => node[field] === undefined)) {
    yield finding("NOVA106", path, `${name} has no "${list}" - add it`);
  }
  const wayOut = "belongs to a map that runs a workflow - remove it, or add workflow instead of nodes and edges";
  yield* checkOutOfPlace("NOVA420", ["version", "input", "output"], wayOut, [node, place]);
}

/**
 * Checks that a map that runs a workflow has no nodes and edges. Its other fields are checked in the workflow node that
 * becomes its body.
 */
function* checkChild(node: Loose, { name, path }: WrittenPlace): Iterable<Finding> {
  for (const field of ["nodes", "edges"].filter((field) => node[field] !== undefined)) {
    const message = `${name} has both workflow and ${field} - keep workflow, or nodes and edges`;
    yield finding("NOVA420", at(path, field), message);
  }
}
