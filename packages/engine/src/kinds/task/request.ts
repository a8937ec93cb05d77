import type { Member } from "@nova/workflow";
import { defined } from "@nova/workflow";
import { linkName } from "../../chain/link-name.ts";
import type { Turn } from "../../ports/chain.ts";
import type { Claim, RunRequest } from "../../ports/sandboxes.ts";
import type { NodeIo } from "./run-io.ts";
import type { Task, TaskInput } from "./task.ts";

/** One run of code of a node. `step` tells runs at one link apart; code written by hand has one. */
export type NodeCode = Pick<RunRequest, "code" | "fileName" | "timeoutSeconds" | "network" | "near"> &
  Pick<Claim, "step">;

/** What the sandbox is asked for: the claim, the code, and what the code finds. */
export function requestFor(
  { node, position: { at }, restartKey }: Task & Pick<TaskInput, "restartKey">,
  { attempt }: Turn,
  { step, code, fileName, timeoutSeconds, network, near }: NodeCode,
  context: Member[],
  { isPlain }: Pick<NodeIo, "isPlain">,
): RunRequest {
  const link = linkName(at);
  return {
    execution: at.execution,
    claim: { link, step, attempt },
    node: node.id,
    nodeType: node.type,
    code,
    fileName,
    timeoutSeconds,
    context,
    ...defined({ network, near, isPlain: isPlain || undefined }),
    environment: {
      ...{ NOVA_IDEMPOTENCY_KEY: `${link}.${step}`, NOVA_RESTART_KEY: restartKey },
      ...{ NOVA_EXECUTION_ID: at.execution, NOVA_NODE_ID: node.id },
    },
  };
}
