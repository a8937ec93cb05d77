import type { RunErrorClass } from "@nova/workflow";
import { conditionLabel, defaultLabel } from "@nova/workflow";
import { type NodeDefinition, wayOn, wayTo } from "../node/definition.ts";
import type { Outcome } from "../node/outcome.ts";
import type { Turn } from "../ports/chain.ts";
import type { Sandbox } from "../ports/sandboxes.ts";

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

/** Where a choice leads: its own edge, else the default one, else nowhere. */
export function wayOfChoice({ version, edges }: NodeDefinition, choice: string): { next: string | null } | undefined {
  const leads = (label: string) => edges.find(({ condition }) => conditionLabel(condition) === label);
  const edge = leads(choice) ?? leads(defaultLabel);
  return edge && { next: wayTo(version, edge.to) };
}

/** An answer by one of the choices, or the timeout that has an edge. `json` goes to `key`. */
export function chosen(way: { next: string | null }, choice: string, set: { key: string; json: string }, times: Times) {
  const changes = { set: [set], delete: [] };
  return { ...facts(times), status: "success", changes, decision: choice, ...way, logs: "" } satisfies Outcome;
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
