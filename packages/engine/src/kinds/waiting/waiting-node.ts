import type { Member } from "@nova/workflow";
import { type ApprovalNode, defined, type Node, type WaitNode } from "@nova/workflow";
import type { WaitingTask } from "../../ports/tasks.ts";
import type { FollowedChoice } from "../../protocol/definition.ts";
import { type OutcomeFacts, type SuccessOutcome, succeeded } from "../../protocol/outcome.ts";

export type EventNode = WaitNode & { for: { kind: "event" } };

/** A node whose outcome comes from outside, with a task token. */
export type WaitingNode = ApprovalNode | EventNode;

export function isWaitingNode(node: Node): node is WaitingNode {
  return node.type === "approval" || (node.type === "wait" && node.for.kind === "event");
}

/** The fields that both kinds of waiting nodes share. `into` is the key of the context that takes the answer. */
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

/** The outcome for a choice, or for a timeout with an edge. */
export function chosen(way: FollowedChoice, set: Member, facts: OutcomeFacts): SuccessOutcome {
  return { ...succeeded(null, facts, [set]), ...way };
}
