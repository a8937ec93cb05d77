import type { ChainEntry, NovaClient } from "@nova/client";
import { itemsOf } from "@nova/engine";
import { taskFrom } from "../api/recorded.ts";
import type { Interrupt } from "../interrupt.ts";
import type { RunListener } from "../run/execute.ts";

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Tells what a run does until it has ended. Ctrl-C cancels it, unless it waits for an answer: it goes on there. */
export async function followOnServer(
  server: NovaClient,
  id: string,
  interrupt: Interrupt,
  listener: RunListener,
): Promise<void> {
  const told = new Set<string>();
  let isWaiting = false;
  const wish = interrupt.wish();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const { status } = await server.executions.get(id);
    for (const entry of flat(await Array.fromAsync(server.executions.chain(id)))) tellEntry(entry, told, listener);
    isWaiting = status === "waiting";
    if (isWaiting) await tellTasks(server, id, told, listener);
    if (!isWaiting && status !== "running" && status !== "queued") return;
    const isOver = await Promise.race([wish.then(() => true), pause(pauseMs)]);
    if (isOver && isWaiting) return;
    if (isOver) await server.executions.cancel(id);
  }
}

function flat(entries: readonly ChainEntry[]): ChainEntry[] {
  return entries.flatMap((entry) => [entry, ...(entry.branches ?? []).flatMap((branch) => flat(branch.entries))]);
}

function tellEntry(entry: ChainEntry, told: Set<string>, listener: RunListener) {
  const { scope, seq, node_id, node_type, status, path_taken, reused_from, branches = [] } = entry;
  const key = `${scope}#${seq}`;
  if (told.has(key)) return;
  told.add(key);
  if (node_type === "start" || node_type === "close" || node_type === "join") return;
  const [state, place] = [status === "success" ? "succeeded" : "failed", itemsOf(scope)] as const;
  const isMap = branches.some(({ branch }) => /^\d+$/.test(branch));
  const more = { ...(isMap && { count: branches.length }), ...(reused_from && { message: "reused" }) };
  listener.onEvent({ node: node_id, state, ...place, ...more });
  // An item is not done with a node behind which others come.
  if (place.items && path_taken) listener.onEvent({ node: path_taken, state: "started", ...place });
}

async function tellTasks(server: NovaClient, id: string, told: Set<string>, listener: RunListener): Promise<void> {
  for await (const task of server.tasks.list()) {
    if (task.execution_id !== id || told.has(task.task_id)) continue;
    told.add(task.task_id);
    listener.onTask(taskFrom(task));
  }
}

function pause(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms));
}
