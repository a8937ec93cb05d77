import type { NovaClient } from "@nova/client";
import { itemsOf, type RawJson, type TraceEntry } from "@nova/engine";
import type { Counters, LocalCloud, NodeEvent } from "@nova/local";
import { EntryReader } from "../api/entry-reader.ts";
import { readWhole, type ShownExecution } from "../api/recorded.ts";
import type { Interrupt } from "../interrupt.ts";
import { type OpenTask, WaitingTasks } from "./waiting-tasks.ts";

export interface EndedRun {
  execution: ShownExecution;
  /** Null: the run is on a server, which does not report calls. */
  counters: Counters | null;
  path: string[];
  context: RawJson;
}

/** Gets the events of a run. */
export interface RunListener {
  onEvent(event: NodeEvent): void;
  /** The run waits for this task. */
  onTask(task: OpenTask): void;
}

export interface Following {
  interrupt: Interrupt;
  listener: RunListener;
  /** This machine's cloud, if the run is in it: it reports each step immediately, and counts calls. */
  live?: Pick<LocalCloud, "untilEnd" | "counters"> | undefined;
}

/**
 * Reports a run until it ends, and returns its final state. Ctrl-C cancels the run, unless it waits for an answer: then
 * it stays open.
 */
export async function followRun(server: NovaClient, id: string, following: Following): Promise<EndedRun> {
  const { interrupt, listener, live } = following;
  const tasks = new WaitingTasks(server, (task) => listener.onTask(task), live);
  const isLeft = interrupt.requested().then(async () => {
    const left = await tasks.staysOpen(id);
    if (!left) await server.executions.cancel(id);
    return left;
  });
  const over = new AbortController();
  const telling = live
    ? live.untilEnd(id, (event) => {
        listener.onEvent(event);
        if (event.state === "waiting") tasks.lookInBackground(id);
      })
    : pollUntilEnd(server, id, { listener, tasks, signal: over.signal });
  if (await Promise.race([telling, isLeft])) over.abort();
  else await telling;
  // The counters come first, because reading the run adds calls.
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

async function pollUntilEnd(server: NovaClient, id: string, { listener, tasks, signal }: Asking): Promise<void> {
  const entries = new EntryReader(server, id, { full: false });
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const { execution, path, atWork } = await readWhole(server, id);
    for (const entry of await entries.readNew(path.length, !execution.open)) reportEntry(entry, listener);
    if (!execution.open) return;
    await tasks.look(id, atWork);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function reportEntry(entry: TraceEntry, listener: RunListener): void {
  const { scope, node_id, node_type, status, error_class, path_taken, reused_from, branches = [] } = entry;
  if (node_type === "start" || node_type === "close" || node_type === "join") return;
  // The entry of a node that was stopped because another one failed.
  if (error_class === "ExecutionClosed") return;
  const [state, place] = [status === "success" ? "succeeded" : "failed", itemsOf(scope)] as const;
  const isMap = branches.some(({ branch }) => /^\d+$/.test(branch));
  const more = { ...(isMap && { count: branches.length }), ...(reused_from && { message: "reused" }) };
  listener.onEvent({ node: node_id, state, ...place, ...more });
  // The item continues with the next node.
  if (place.items && path_taken) listener.onEvent({ node: path_taken, state: "started", ...place });
}
