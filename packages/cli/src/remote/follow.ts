import type { ChainEntry, NovaClient } from "@nova/client";
import type { WaitingTask } from "@nova/engine";
import type { Interrupt } from "../interrupt.ts";
import { taskFrom } from "../records/shown.ts";
import type { RunListener } from "../run/execute.ts";

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/**
 * Tells what a run on a server does until it has ended. Ctrl-C cancels it, but leaves one that waits for an answer: that
 * one goes on where it is.
 */
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

interface Branched extends ChainEntry {
  branches?: { entries: Branched[] }[];
}

function flat(entries: readonly Branched[]): Branched[] {
  return entries.flatMap((entry) => [entry, ...(entry.branches ?? []).flatMap((branch) => flat(branch.entries))]);
}

function tellEntry({ scope, seq, node_id, node_type, status }: ChainEntry, told: Set<string>, listener: RunListener) {
  const key = `${scope}#${seq}`;
  if (told.has(key)) return;
  told.add(key);
  if (node_type === "start" || node_type === "close" || node_type === "join") return;
  const items = Array.from(scope.matchAll(/\.(\d+)(?=\/|$)/g), ([, number]) => Number(number));
  const state = status === "success" ? "succeeded" : "failed";
  listener.onEvent({ node: node_id, state, ...(items.length > 0 && { items }) });
}

async function tellTasks(server: NovaClient, id: string, told: Set<string>, listener: RunListener): Promise<void> {
  for await (const task of server.tasks.list()) {
    if (task.execution_id !== id || told.has(task.task_id)) continue;
    told.add(task.task_id);
    listener.onTask(taskFrom(task) as WaitingTask);
  }
}

function pause(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms));
}
