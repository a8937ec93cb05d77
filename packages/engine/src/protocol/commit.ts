import { defined, forksOf } from "@nova/workflow";
import { sealEntry } from "../chain/contents.ts";
import type { Head } from "../chain/head.ts";
import { contextBefore } from "../chain/item-input.ts";
import type { LoadedContext, Position } from "../chain/position.ts";
import { branchOf } from "../chain/scope.ts";
import { addSpendings } from "../chain/spending.ts";
import { linkLabel } from "../context/context.ts";
import { blobPages, storeContext } from "../context/pages.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { eventsAfter } from "./continuation.ts";
import { loopsAfter } from "./definition.ts";
import type { Outcome } from "./outcome.ts";
import { visitsAfter } from "./place-name.ts";

/** Writes a node's entry, if there is none. Answers the one that is there: ours or the winner's. */
export async function commitOutcome(
  ports: Ports,
  position: Position,
  node: { id: string; type: Head["node_type"] },
  outcome: Outcome,
  kept?: LoadedContext,
): Promise<StoredEntry> {
  const entry = await sealOutcome(ports, position, node, outcome, kept ?? (await contextBefore(ports, position)));
  if (await ports.chain.putEntry(position.at, entry)) {
    ports.tailCache.keep(position.at, entry, ports.clock.now());
    await spareSandboxes(ports, position, outcome);
    return entry;
  }
  const { entry: winner } = await ports.chain.read(position.at);
  if (!winner) throw chainBroken(`link ${position.at.seq} of ${position.at.execution} refuses an entry and has none`);
  return winner;
}

async function sealOutcome(
  ports: Ports,
  position: Position,
  node: { id: string; type: Head["node_type"] },
  outcome: Outcome,
  kept: LoadedContext,
): Promise<StoredEntry> {
  const { before, at } = position;
  const { status, run, more = {} } = outcome;
  const { generation, analysis, asked, count, child, reused, edited, visits } = more;
  const changes = status === "success" ? outcome.changes : { set: [], delete: [] };
  const context = kept.context.apply(changes, linkLabel(at));
  const stored = await storeContext(context, kept.stored, changes, blobPages(ports.blobs, before));
  return sealEntry(
    {
      ...inheritedHead(position),
      ...{ node_id: node.id, node_type: node.type, status, attempt: run.attempt, path_taken: outcome.next },
      decision_result: status === "success" ? outcome.decision : null,
      timestamp: new Date(ports.clock.now()).toISOString(),
      execution_time_ms: outcome.executionTimeMs,
      ...{ sandbox_id: run.sandboxId, warm: run.warm, code: run.code },
      nodes: before.nodes + (run.code === null ? 0 : 1) + (more.nodes ?? 0),
      ...spareOf(run.spare ?? before.spare),
      ...defined({
        ...{ generation, analysis, asked, count, child },
        ...{ addresses: run.addresses, failed_deliveries: run.failedDeliveries },
        error_class: status === "failed" ? outcome.class : undefined,
        cache_hit: more.cacheHit ? (true as const) : undefined,
        spent: addSpendings(before.spent, more.spent),
        inner: (before.inner ?? 0) + (more.inner ?? 0) || undefined,
        loops: more.loops ?? loopsAfter(before.loops, node.id),
        reused_from: reused,
        edited,
        visits: visits ?? visitsAfter(before, await versionAt(ports, before), node.id),
      }),
      ...(await eventsAfter(ports, position, node.id, outcome)),
      steps: more.steps ?? (await attemptsAt(ports, at, outcome)),
    },
    {
      context: JSON.stringify(stored),
      ...(status === "failed" && { error: JSON.stringify(outcome.failure) }),
      ...(outcome.logs !== "" && { logs: outcome.logs }),
      ...more.contents,
    },
    ports.blobs,
  );
}

function spareOf(spare: Head["spare"] = []): Pick<Head, "spare"> {
  return spare.length > 0 ? { spare } : {};
}

/** Those that failed, by their records; a success is no record of its own, whatever another delivery took it for. */
async function attemptsAt({ chain }: Ports, at: Position["at"], { status, run }: Outcome): Promise<string[]> {
  const last = status === "failed" ? run.attempt : run.attempt - 1;
  const stored = last > 0 ? await chain.steps(at) : [];
  return stored.flatMap(({ step, hash }) => (step <= last ? [hash] : []));
}

/** The sandboxes of a branch whose last entry this is serve other branches. */
async function spareSandboxes(ports: Ports, { at, before }: Position, { run, next }: Outcome): Promise<void> {
  const place = branchOf(at.scope);
  const left = [...(run.spare ?? before.spare ?? []), ...(run.warm ? [run.warm] : [])];
  if (!place || left.length === 0) return;
  const version = await versionAt(ports, before);
  const fork = version && forksOf(version.workflow).get(place.fork);
  const end = fork?.kind === "parallel" ? fork.next : null;
  if (next !== null && next !== end) return;
  ports.warmPool.forgetDead(ports.clock.now());
  for (const sandbox of left) ports.warmPool.offer(at, sandbox);
}

function versionAt({ workflows }: Ports, { workflow_id, workflow_version }: Head) {
  return workflows.get(workflow_id, workflow_version);
}

/** What an entry says because of its place, and as the one before it does. */
export function inheritedHead({ before, beforeEntry, at }: Position) {
  const { client, root, workflow_id, workflow_version, frozen, sealed, fresh } = before;
  const place = { execution_id: at.execution, scope: at.scope, seq: at.seq };
  return {
    ...place,
    ...defined({ client, root, workflow_id, workflow_version, frozen, sealed, fresh }),
    prev: beforeEntry.hash,
  };
}
