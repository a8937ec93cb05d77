import { type MapNode, secretKeys } from "@nova/workflow";
import { atOnce } from "../../at-once.ts";
import { contextBefore } from "../../chain/item-input.ts";
import { storeItems } from "../../chain/item-pages.ts";
import { inputAfter, type LoadedContext, type Position } from "../../chain/position.ts";
import { offloadLargeValues } from "../../context/offload.ts";
import { blobPages } from "../../context/pages.ts";
import type { StoredEntry, Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { answerFor } from "../../protocol/answer.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { type NodeDefinition, wayOn, wayTo } from "../../protocol/definition.ts";
import type { TaskAnswer } from "../../protocol/event.ts";
import { holdTurn } from "../../protocol/held-turn.ts";
import { type MapEvent, maxItems } from "../../protocol/items-answer.ts";
import { type Outcome, turnFacts } from "../../protocol/outcome.ts";
import { producedEntry } from "../../protocol/produce-entry.ts";
import type { Reason, SettlingPorts } from "../../protocol/settling.ts";
import { redactorFor } from "../../secrets/secret-inputs.ts";
import { findItems } from "./find-items.ts";

export async function runMap(
  ports: Ports,
  event: MapEvent,
  definition: NodeDefinition & { node: MapNode },
): Promise<TaskAnswer> {
  const entry = await producedEntry(ports, event, (position) => commitItems(ports, position, definition, event));
  return answerFor(entry, event, ports);
}

/**
 * The map's own entry: the list, taken apart into pages of items. It holds the turn meanwhile, because nothing may be
 * written behind a branch that somebody has closed. `"again"`: somebody else was faster.
 */
async function commitItems(
  ports: Ports,
  position: Position,
  definition: NodeDefinition & { node: MapNode },
  event: MapEvent,
): Promise<StoredEntry | "again"> {
  const { node } = definition;
  if (!(await holdTurn(ports, position, node.id))) return "again";
  const kept = await contextBefore(ports, position);
  return commitOutcome(
    ports,
    position,
    node,
    await outcomeOf(ports, position, definition, kept, maxItems(event)),
    kept,
  );
}

async function outcomeOf(
  ports: Ports,
  { before, beforeEntry }: Position,
  definition: NodeDefinition & { node: MapNode },
  kept: LoadedContext,
  most: number,
): Promise<Outcome> {
  const { node, version } = definition;
  const pages = blobPages(ports.blobs, before);
  const secrets = secretKeys(version.workflow);
  const secret = [...secrets].find((key) => node.items === key || node.items.startsWith(`${key}.`));
  const input = await inputAfter(beforeEntry, kept.context, ports.blobs);
  const found = await findItems(input, node.items, ({ sha256 }) => pages.load(sha256));
  const common = { logs: "", executionTimeMs: 0, run: { attempt: 1, sandboxId: null, warm: before.warm, code: null } };
  const fail = (message: string): Outcome => ({
    ...common,
    status: "failed",
    class: "NodeFailed",
    failure: { message },
    next: wayTo(version, node.onError),
  });
  if (secret !== undefined)
    return fail(`"items" leads into the secret input "${secret}", and items are not secret - map over something else`);
  if ("problem" in found) return fail(found.problem);
  if (found.length > most)
    return fail(
      `${node.items} has ${found.length} items, this map takes ${most} - split the list, or map over parts of it`,
    );
  const texts = await atOnce(found, (text) =>
    offloadLargeValues(text, (ref, body) => ports.blobs.put(before, ref, body)),
  );
  const items = await storeItems(texts, pages);
  return {
    ...common,
    status: "success",
    changes: { set: [], delete: [] },
    decision: null,
    next: wayOn(definition),
    more: { count: items.count, contents: { items: JSON.stringify(items) } },
  };
}

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
