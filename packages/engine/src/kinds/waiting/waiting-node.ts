import type { ApprovalNode, JsonObject, Node, WaitNode } from "@nova/workflow";

/** A wait for an event. */
export type EventNode = WaitNode & { for: { kind: "event" } };

/** A node whose outcome comes from outside, with a task token. */
export type WaitingNode = ApprovalNode | EventNode;

export function isWaitingNode(node: Node): node is WaitingNode {
  return node.type === "approval" || (node.type === "wait" && node.for.kind === "event");
}

/** What both kinds say of their waiting. */
export interface Terms {
  kind: "approval" | "event";
  timeoutSeconds: number;
  /** Key of the context that the answer goes to. */
  into: string;
  choices: string[];
  to: string[];
  form?: JsonObject;
  forms?: Record<string, JsonObject>;
}

export function termsOf(node: WaitingNode): Terms {
  if (node.type === "wait") {
    const { timeoutSeconds, into } = node.for;
    return { kind: "event", timeoutSeconds, into, choices: [], to: [] };
  }
  const { timeoutSeconds, into, choices, to, form, forms } = node;
  return { kind: "approval", timeoutSeconds, into, choices, to, ...(form && { form }), ...(forms && { forms }) };
}
