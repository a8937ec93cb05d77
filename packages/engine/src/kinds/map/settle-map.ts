import type { MapNode } from "@nova/workflow";
import { secretKeys } from "@nova/workflow";
import { contextBefore } from "../../chain/item-input.ts";
import type { Position } from "../../chain/position.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { type NodeDefinition, wayTo } from "../../protocol/definition.ts";
import { turnFacts } from "../../protocol/outcome.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { redactorFor } from "../../secrets/secret-inputs.ts";

/** A map whose list was not read has failed. It runs no code, so nothing of it is alive. */
export async function settleMap(
  ports: SettlingPorts,
  position: Position,
  { node, version }: NodeDefinition & { node: MapNode },
  turn: Turn,
  reason: Reason,
): Promise<StoredEntry> {
  const kept = await contextBefore(ports, position);
  const read = (sha256: string) => ports.blobs.get(position.before, sha256);
  const redactor = await redactorFor(secretKeys(version.workflow), kept.context, read);
  return commitOutcome(
    ports,
    position,
    node,
    {
      status: "failed",
      class: reason.class,
      failure: { message: redactor.mask(reason.message) },
      logs: "",
      executionTimeMs: Math.max(0, ports.clock.now() - Date.parse(turn.since)),
      run: {
        ...turnFacts(turn),
        warm: position.before.warm?.id === turn.sandbox ? position.before.warm : null,
        code: null,
      },
      next: wayTo(version, node.onError),
    },
    kept,
  );
}
