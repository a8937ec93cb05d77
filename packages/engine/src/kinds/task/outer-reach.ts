import { isIPv4 } from "node:net";
import type { Node, TaskNode, Workflow } from "@nova/workflow";

/**
 * What any code that a sandbox will ever run may connect to, in words that E2B's own rules have: names for ports 80 and
 * 443, addresses and ranges. It holds for the sandbox from its first moment, since rules that changed from node to node
 * could be changed back by a late delivery of the node before. Undefined where code in it has no wall, or where its wall
 * has hosts that are known only when the node begins: those of credentials, and names on other ports.
 */
export function outerReach(node: TaskNode, workflow: Workflow): string[] | undefined {
  const isShared = ({ isolation }: TaskNode) => isolation !== "fresh";
  const sharing = isShared(node) ? [...tasksOf(workflow.nodes)].filter(isShared) : [node];
  const reach = new Set<string>();
  for (const { executor, credentials = workflow.credentials } of sharing) {
    if (executor.kind === "text") continue;
    if (!executor.allow || credentials === undefined || credentials.length > 0) return undefined;
    for (const entry of executor.allow) {
      const host = outerHost(entry);
      if (host === undefined) return undefined;
      reach.add(host);
    }
  }
  return [...reach].sort();
}

/** Nodes that run code, those in the bodies of maps as well. */
export function* tasksOf(nodes: readonly Node[]): Generator<TaskNode> {
  for (const node of nodes) {
    if (node.type === "action" || node.type === "decision") yield node;
    if (node.type === "map" && "body" in node) yield* tasksOf(node.body.nodes);
  }
}

/** Of a name without a port more than the web's ports are meant; what is on the sandbox itself needs no way out. */
function outerHost(entry: string): string | undefined {
  const [, host = "", port] = /^([^:[\]]+)(?::(\d+))?$/.exec(entry) ?? [];
  const address = host.split("/")[0] ?? "";
  if (isIPv4(address)) return address.startsWith("127.") ? undefined : host;
  const isWeb = port === "80" || port === "443";
  return isWeb && host !== "" && host !== "localhost" ? host : undefined;
}
