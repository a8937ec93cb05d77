import type { MapNode } from "@nova/workflow";
import { secretKeys } from "@nova/workflow";
import { atOnce } from "../../at-once.ts";
import { contextBefore } from "../../chain/item-input.ts";
import { storeItems } from "../../chain/item-pages.ts";
import { inputAfter, type LoadedContext, type Position } from "../../chain/position.ts";
import { blobPages } from "../../context/blob-pages.ts";
import { offloadLargeValues } from "../../context/offload.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { answerFor } from "../../protocol/answer.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { type NodeDefinition, wayOn, wayTo } from "../../protocol/definition.ts";
import type { TaskAnswer } from "../../protocol/event.ts";
import { holdTurn } from "../../protocol/held-turn.ts";
import { type MapEvent, mostItems } from "../../protocol/items-answer.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { producedEntry } from "../../protocol/produce-entry.ts";
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
    await outcomeOf(ports, position, definition, kept, mostItems(event)),
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
