import { conditionLabel, defaultLabel } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import type { Member } from "../../json/text.ts";
import { type NodeDefinition, wayTo } from "../../protocol/definition.ts";
import { takeEdge } from "../../protocol/loops.ts";
import { type OutcomeFacts, type SuccessOutcome, succeeded } from "../../protocol/outcome.ts";

/** Where a choice leads, as its entry will say it. */
type WayOfChoice = Pick<SuccessOutcome, "decision" | "next" | "more">;

/** Where a choice leads: its own edge, or the default one, also where its own was taken `max` times. */
export function wayOfChoice(definition: NodeDefinition, choice: string, { before }: Position): WayOfChoice | undefined {
  const { version, edges } = definition;
  const leads = (label: string) => edges.find(({ condition }) => conditionLabel(condition) === label);
  const edge = leads(choice) ?? leads(defaultLabel);
  const taken = edge && takeEdge(definition, edge, before.loops);
  if (!taken || "problem" in taken) return undefined;
  const isWornOut = edge.max !== undefined && !taken.loops;
  const more = taken.loops && { more: { loops: taken.loops } };
  return { decision: isWornOut ? taken.label : choice, next: wayTo(version, taken.to), ...more };
}

/** An answer by one of the choices, or the timeout that has an edge. */
export function chosen(way: WayOfChoice, set: Member, facts: OutcomeFacts): SuccessOutcome {
  return { ...succeeded(null, facts, [set]), ...way };
}
