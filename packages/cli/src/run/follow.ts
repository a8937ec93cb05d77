import type { NovaClient } from "@nova/client";
import { itemsOf, type RawJson, type TraceEntry } from "@nova/engine";
import type { Counters, LocalCloud, NodeEvent } from "@nova/local";
import { EntryReader } from "../api/entry-reader.ts";
import { readWhole, type ShownExecution } from "../api/recorded.ts";
import type { Interrupt } from "../interrupt.ts";
import { type OpenTask, WaitingTasks } from "./waiting-tasks.ts";

export interface Ran {
  execution: ShownExecution;
  /** Null: what a server has done for it is not known here. */
  counters: Counters | null;
  path: string[];
  context: RawJson;
}

/** What a run tells while it goes on. */
export interface RunListener {
  onEvent(event: NodeEvent): void;
  /** It waits for this. */
  onTask(task: OpenTask): void;
}

export interface Following {
  interrupt: Interrupt;
  listener: RunListener;
  /** The cloud in which it runs, where that is this machine's: it tells each step at once, and counts calls. */
  live?: Pick<LocalCloud, "untilEnd" | "counters"> | undefined;
}

/**
 * Tells what a run does until it has ended, and answers what became of it. Ctrl-C cancels the run, but not one that waits
 * for an answer: it is left.
 */
export async function followed(server: NovaClient, id: string, following: Following): Promise<Ran> {
  const { interrupt, listener, live } = following;
  const tasks = new WaitingTasks(server, (task) => listener.onTask(task), live);
  const isLeft = interrupt.wish().then(async () => {
    const left = await tasks.isLeft(id);
    if (!left) await server.executions.cancel(id);
    return left;
  });
  const over = new AbortController();
  const telling = live
    ? live.untilEnd(id, (event) => {
        listener.onEvent(event);
        if (event.state === "waiting") tasks.lookAside(id);
      })
    : askUntilEnd(server, id, { listener, tasks, signal: over.signal });
  if (await Promise.race([telling, isLeft])) over.abort();
  else await telling;
  // The counters first: reading the run is a call as well, and none of the run's.
  const counters = live ? await live.counters(id) : null;
  return { ...(await readWhole(server, id)), counters };
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

interface Asking {
  listener: RunListener;
  tasks: WaitingTasks;
  signal: AbortSignal;
}

async function askUntilEnd(server: NovaClient, id: string, { listener, tasks, signal }: Asking): Promise<void> {
  const entries = new EntryReader(server, id, { full: false });
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const { execution, path, atWork } = await readWhole(server, id);
    for (const entry of await entries.fresh(path.length, !execution.open)) tellEntry(entry, listener);
    if (!execution.open) return;
    await tasks.look(id, atWork);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function tellEntry(entry: TraceEntry, listener: RunListener): void {
  const { scope, node_id, node_type, status, error_class, path_taken, reused_from, branches = [] } = entry;
  if (node_type === "start" || node_type === "close" || node_type === "join") return;
  // It was stopped because another one failed.
  if (error_class === "ExecutionClosed") return;
  const [state, place] = [status === "success" ? "succeeded" : "failed", itemsOf(scope)] as const;
  const isMap = branches.some(({ branch }) => /^\d+$/.test(branch));
  const more = { ...(isMap && { count: branches.length }), ...(reused_from && { message: "reused" }) };
  listener.onEvent({ node: node_id, state, ...place, ...more });
  // An item is not done with a node behind which others come.
  if (place.items && path_taken) listener.onEvent({ node: path_taken, state: "started", ...place });
}
