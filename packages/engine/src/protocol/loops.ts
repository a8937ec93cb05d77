import { conditionLabel, defaultLabel, type Edge, nodesBefore } from "@nova/workflow";
import type { NodeDefinition } from "./definition.ts";

/** How often edges with a `max` were taken since their loops were entered, by `<from>-><label>`; absent: never. */
export type Loops = Readonly<Record<string, number>>;

export interface TakenEdge {
  /** What the entry says was decided. */
  label: string;
  to: string;
  /** The counts behind it, where it leads back. */
  loops?: Loops;
}

/** The edge that a decision takes: its own, or the default one where that was taken `max` times. */
export function takeEdge(definition: NodeDefinition, edge: Edge, before: Loops = {}): TakenEdge | { problem: string } {
  const label = conditionLabel(edge.condition);
  if (edge.max === undefined) return { label, to: edge.to };
  const taken = before[keyOf(edge)] ?? 0;
  if (taken < edge.max) return { label, to: edge.to, loops: goneRound(definition, edge, before) };
  const rest = definition.edges.find(({ condition }) => conditionLabel(condition) === defaultLabel);
  if (rest) return { label: defaultLabel, to: rest.to };
  const times = edge.max === 1 ? "once" : `${edge.max} times`;
  return {
    problem: `the edge from "${edge.from}" to "${edge.to}" for ${JSON.stringify(label)} was taken ${times}, which is its max - raise it, or add an edge with "default" for what follows then`,
  };
}

/** The counts behind an entry that leads on: its node's loops are over, and count anew when a run comes to them again. */
export function goneOut(before: Loops | undefined, node: string): Loops | undefined {
  const others = Object.entries(before ?? {}).filter(([key]) => !isOf(key, node));
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

/** One more of this edge; the loops that it goes round are entered anew. */
function goneRound({ version }: NodeDefinition, edge: Edge, before: Loops): Loops {
  const inside = [...nodesBefore(version.workflow, edge.from)];
  const kept = Object.entries(before).filter(([key]) => !inside.some((node) => isOf(key, node)));
  return { ...Object.fromEntries(kept), [keyOf(edge)]: (before[keyOf(edge)] ?? 0) + 1 };
}

function keyOf({ from, condition }: Edge): string {
  return `${from}->${conditionLabel(condition)}`;
}

function isOf(key: string, node: string): boolean {
  return key.startsWith(`${node}->`);
}
