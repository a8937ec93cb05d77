import type { EndNode } from "@nova/workflow";
import { closeExecution } from "../protocol/close.ts";
import { commitOutcome } from "../protocol/commit.ts";
import type { NodeDefinition } from "../protocol/definition.ts";
import type { EndAnswer, NodeEvent } from "../protocol/event.ts";
import { codeless, succeeded } from "../protocol/outcome.ts";
import type { KindPorts } from "../protocol/settling.ts";
import { closed, linkAfter, runUntilCommitted } from "../protocol/turn.ts";

/** An end node closes, each time it is delivered; the run has only ended well if the close entry says so. */
export async function runEnd(
  ports: KindPorts,
  event: NodeEvent,
  { node }: NodeDefinition<EndNode>,
): Promise<EndAnswer> {
  await runUntilCommitted(ports, event, (position) => {
    const outcome = succeeded(null, codeless(ports, undefined, position.before));
    return commitOutcome(ports, position, node, outcome);
  });
  const { execution, scope } = event;
  const close = await closeExecution(ports, { execution: execution.id, status: "completed" });
  if (close.status !== "completed") throw closed(execution.id);
  return { execution, scope, seq: linkAfter(event).seq, status: "completed", tip: close.tip };
}
