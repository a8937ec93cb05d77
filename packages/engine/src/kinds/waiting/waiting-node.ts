import { type ApprovalNode, conditionLabel, defaultLabel, defined, type Node, type WaitNode } from "@nova/workflow";
import type { Position } from "../../chain/position.ts";
import type { Member } from "../../json/text.ts";
import type { WaitingTask } from "../../ports/tasks.ts";
import { type NodeDefinition, takeEdge, wayTo } from "../../protocol/definition.ts";
import { type OutcomeFacts, type SuccessOutcome, succeeded } from "../../protocol/outcome.ts";

export type EventNode = WaitNode & { for: { kind: "event" } };

/** A node whose outcome comes from outside, with a task token. */
export type WaitingNode = ApprovalNode | EventNode;

export function isWaitingNode(node: Node): node is WaitingNode {
  return node.type === "approval" || (node.type === "wait" && node.for.kind === "event");
}

/** What both kinds say of their waiting. `into`: key of the context that the answer goes to. */
interface Terms extends Pick<WaitingTask, "kind" | "choices" | "to" | "form" | "forms"> {
  timeoutSeconds: number;
  into: string;
}

export function termsOf(node: WaitingNode): Terms {
  if (node.type === "wait") {
    const { timeoutSeconds, into } = node.for;
    return { kind: "event", timeoutSeconds, into, choices: [], to: [] };
  }
  const { timeoutSeconds, into, choices, to, form, forms } = node;
  return defined({ kind: "approval" as const, timeoutSeconds, into, choices, to, form, forms });
}

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
