import type { RunErrorClass } from "@nova/workflow";
import { conditionLabel, defaultLabel } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import type { Turn } from "../../ports/chain.ts";
import type { Sandbox } from "../../ports/sandboxes.ts";
import { type NodeDefinition, wayOn, wayTo } from "../../protocol/definition.ts";
import { takeEdge } from "../../protocol/loops.ts";
import type { Outcome } from "../../protocol/outcome.ts";

/** When a node without code began and what is left of its scope's sandbox. */
export interface Times {
  turn: Turn | undefined;
  nowMs: number;
  warm?: Sandbox | null;
}

/** What an approval, a wait or their failure looks like beside runs of code. */
function facts({ turn, nowMs, warm = null }: Times) {
  const executionTimeMs = turn ? Math.max(0, nowMs - Date.parse(turn.since)) : 0;
  return { executionTimeMs, run: { attempt: turn?.attempt ?? 1, sandboxId: null, warm, code: null } };
}

/** Where a choice leads, as its entry will say it. */
type WayOfChoice = Pick<Outcome & { status: "success" }, "decision" | "next" | "more">;

/**
 * Where a choice leads: along its own edge, else the default one, else nowhere. An edge that leads back gives way to the
 * default one, and so does the decision, when it was taken `max` times.
 */
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

/** An answer by one of the choices, or the timeout that has an edge. `json` goes to `key`. */
export function chosen(way: WayOfChoice, set: { key: string; json: string }, times: Times) {
  const changes = { set: [set], delete: [] };
  return { ...facts(times), status: "success", changes, ...way, logs: "" } satisfies Outcome;
}

/** A wait is over, for an event with what it brought. */
export function goneOn(definition: NodeDefinition, set: { key: string; json: string }[], times: Times) {
  const next = wayOn(definition);
  return {
    ...facts(times),
    status: "success",
    changes: { set, delete: [] },
    decision: null,
    next,
    logs: "",
  } satisfies Outcome;
}

export function failed(
  { version, node }: NodeDefinition,
  reason: { class: RunErrorClass; message: string },
  times: Times,
): Outcome {
  const next = wayTo(version, "onError" in node ? node.onError : undefined);
  const failure = { message: reason.message };
  return { ...facts(times), status: "failed", class: reason.class, failure, next, logs: "" };
}
