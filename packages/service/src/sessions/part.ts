import type { WorkflowSource } from "@nova/workflow";
import type { Draft, DraftEdge, DraftNode } from "../ports/sessions.ts";
import type { Front } from "./compose.ts";
import { nextOf, stepsOf } from "./draft.ts";
import type { Shape } from "./shape.ts";

/** A workflow of some nodes of a draft. */
export interface Part {
  /** Ids of its steps, in order. */
  steps: string[];
  nodes: DraftNode[];
  edges: DraftEdge[];
}

/** Everything behind a front: what lies before it is in the context that the part begins with. */
export function partFrom(draft: Draft, shape: Shape, { entries, merge }: Pick<Front, "entries" | "merge">): Part {
  const next = nextOf({ nodes: draft.nodes, edges: shape.edges });
  const reached = new Set(entries);
  for (const id of reached) for (const to of next.get(id) ?? []) reached.add(to);
  const steps = shape.order.filter((id) => reached.has(id));
  const start = { id: shape.start.id, type: "start", ...(merge !== undefined && { merge }) };
  return {
    steps,
    nodes: [start, ...stepsOf(draft).filter(({ id }) => reached.has(id)), ...endsOf(shape, reached)],
    edges: [
      ...entries.map((to): DraftEdge => ({ from: start.id, to })),
      ...shape.edges.filter(({ from }) => reached.has(from)),
    ],
  };
}

/** Of a draft all, as it is published. */
export function wholeOf(draft: Draft, shape: Shape): Part {
  const { start, ends, edges, order } = shape;
  return { steps: order, nodes: [start, ...stepsOf(draft), ...ends], edges };
}

/** One node alone: each of its ways leads to an end. */
export function partAlone(shape: Shape, node: DraftNode): Part {
  const { merge: _, onError: __, ...alone } = node;
  const out = shape.edges.filter(({ from }) => from === node.id);
  const chooses = out.some(({ condition }) => condition !== undefined);
  const ways: DraftEdge[] = chooses ? out : [{ from: node.id, to: "" }];
  const [start, end] = ["start", "end"].map((id) => (id === node.id ? `${id}_` : id)) as [string, string];
  const ends = ways.map((_way, index) => ({ id: index === 0 ? end : `${end}_${index}`, type: "end" }));
  return {
    steps: [node.id],
    nodes: [{ id: start, type: "start" }, alone as DraftNode, ...ends],
    edges: [{ from: start, to: node.id }, ...ways.map((way, index) => ({ ...way, to: ends[index]?.id ?? end }))],
  };
}

/**
 * With something in the place of maps whose outcomes are on record: a map would read its list again, and go through it.
 */
export function withRecordedMaps(part: Part, isRecorded: (id: string) => boolean): Part {
  const nodes = part.nodes.map((node) => {
    if (!/^map/i.test(node.type) || !isRecorded(node.id)) return node;
    const { id, merge } = node;
    return { id, type: "action", code: "pass", effects: false, ...(merge !== undefined && { merge }) };
  });
  return { ...part, nodes };
}

function endsOf({ ends }: Shape, reached: ReadonlySet<string>): DraftNode[] {
  return ends.filter(({ id }) => reached.has(id));
}

/** What belongs to a published workflow and not to a draft that is run. */
const publishedOnly = new Set(["triggers", "on_failure", "warm", "timeout"]);

/**
 * As people write it. What a run of a part begins with was checked when the session was made, and nodes have set other
 * values since: of `inputs` only what is secret counts.
 */
export function sourceOfPart(draft: Draft, { nodes, edges }: Part, id: string): WorkflowSource {
  const kept = Object.entries(draft.settings).filter(([name]) => !publishedOnly.has(name) && name !== "inputs");
  const inputs = secretInputs(draft.settings.inputs);
  const fields = { id, name: "A draft", ...Object.fromEntries(kept), ...(inputs && { inputs }), nodes, edges };
  return { text: JSON.stringify(fields), fileName: "workflow.json", files: draft.files, isSent: true };
}

function secretInputs(inputs: unknown): object | undefined {
  const properties = (inputs as { properties?: Record<string, { secret?: unknown }> } | undefined)?.properties ?? {};
  const secret = Object.entries(properties).filter(([, schema]) => schema?.secret === true);
  if (secret.length === 0) return undefined;
  return { properties: Object.fromEntries(secret.map(([name]) => [name, { secret: true }])) };
}

/** The draft as a workflow that can be published. */
export function sourceOfWhole(draft: Draft, shape: Shape, named: { id?: string; name: string }): WorkflowSource {
  const { nodes, edges } = wholeOf(draft, shape);
  const fields = { ...named, ...draft.settings, nodes, edges };
  return { text: JSON.stringify(fields), fileName: "workflow.json", files: draft.files, isSent: true };
}
