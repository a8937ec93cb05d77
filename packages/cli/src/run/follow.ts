import type { NovaClient } from "@nova/client";
import { type AtWork, itemsOf, type TraceEntry, type WaitingTask } from "@nova/engine";
import type { Counters, LocalCloud, NodeEvent } from "@nova/local";
import { entryReader, isOpen, readWhole, type ShownExecution } from "../api/recorded.ts";
import type { Interrupt } from "../interrupt.ts";

export interface EndedRun extends ShownExecution {
  /**
   * The numbers of calls to AWS and to sandboxes that the run made; null for a run on a server, because a server does
   * not report these numbers.
   */
  counters: Counters | null;
}

export interface RunListener {
  onEvent(event: NodeEvent): void;
  onTask(task: OpenTask): void;
}

export interface Following {
  interrupt: Interrupt;
  listener: RunListener;
  /** The cloud of this machine, if the run is in it. This cloud reports each step immediately, and counts calls. */
  live?: Pick<LocalCloud, "untilEnd" | "counters"> | undefined;
}

/**
 * Reports a run until it ends, and returns its final state. Ctrl-C cancels the run, but a run that waits for an answer
 * stays open.
 */
export async function followRun(server: NovaClient, id: string, following: Following): Promise<EndedRun> {
  const { interrupt, listener, live } = following;
  const tasks = watchTasks(server, (task) => listener.onTask(task), live);
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
  // The function reads the counters before it reads the run, because reading the run adds calls.
  const counters = live ? await live.counters(id) : null;
  return { ...(await readWhole(server, id)), counters };
}

const firstPauseMs = 100;
const longestPauseMs = 2_000;

async function pollUntilEnd(
  server: NovaClient,
  id: string,
  { listener, tasks, signal }: { listener: RunListener; tasks: ReturnType<typeof watchTasks>; signal: AbortSignal },
): Promise<void> {
  const readNew = entryReader(server, id, { full: false });
  for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const execution = await readWhole(server, id);
    for (const entry of await readNew(execution)) reportEntry(entry, listener);
    if (!isOpen(execution)) return;
    await tasks.look(id, execution.at_work);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function reportEntry(entry: TraceEntry, listener: RunListener): void {
  const { scope, node_id, node_type, status, error_class, path_taken, reused_from, branches = [] } = entry;
  if (node_type === "start" || node_type === "close" || node_type === "join") return;
  // NOVA stopped this node only because another node failed, so the failure of this node is not reported.
  if (error_class === "ExecutionClosed") return;
  const [state, place] = [status === "success" ? "succeeded" : "failed", itemsOf(scope)] as const;
  const isMap = branches.some(({ branch }) => /^\d+$/.test(branch));
  const more = { ...(isMap && { count: branches.length }), ...(reused_from && { message: "reused" }) };
  listener.onEvent({ node: node_id, state, ...place, ...more });
  // Reports that the next node of the map's item starts.
  if (place.items && path_taken) listener.onEvent({ node: path_taken, state: "started", ...place });
}

/** A task that must be answered before a run can continue. */
export type OpenTask = Pick<WaitingTask, "id" | "execution" | "node" | "kind" | "message" | "choices"> & {
  /** The end of the wait in ISO 8601. */
  until: string | null;
};

const restMs = 200;

/** Reports each task of a run and of its child executions once. */
export function watchTasks(server: NovaClient, onTask: (task: OpenTask) => void, live?: Pick<LocalCloud, "untilEnd">) {
  /** Ids of tasks that were reported, and of child executions to which a listener was added. */
  const seen = new Set<string>();
  /**
   * Executions that `lookInBackground` is reading. `again` means that the function must read the execution once more.
   */
  const looks = new Map<string, "on" | "again">();

  /**
   * Reports the open tasks of an execution, and returns whether the execution waits for an answer. `known` has the open
   * nodes of the execution if the caller has already read them.
   */
  async function look(execution: string, known?: AtWork): Promise<boolean> {
    const { nodes, count } = known ?? (await readWhole(server, execution)).at_work;
    let isAsked = false;
    for (const { node_id: node, waits_for: wait } of nodes) {
      if (wait?.kind === "workflow") isAsked = (await lookInto(wait.execution_id)) || isAsked;
      if (wait?.kind !== "approval" && wait?.kind !== "event") continue;
      isAsked = true;
      const { kind, until, task_id } = wait;
      const asked = wait.kind === "approval" ? wait : { message: "", choices: [] };
      report({ id: task_id, execution, node, kind, until, ...asked });
    }
    return (count > nodes.length && (await lookThroughTasks(execution))) || isAsked;
  }

  /** Finds the tasks of an execution in the task lists, because an execution lists only its first open nodes. */
  async function lookThroughTasks(execution: string): Promise<boolean> {
    let isAsked = false;
    for (const kind of ["approval", "event"] as const) {
      for await (const { task_id, execution_id, node, message, choices, expires_at: until } of server.tasks.list({
        kind,
      })) {
        if (execution_id !== execution) continue;
        isAsked = true;
        report({ id: task_id, execution, node, kind, until, message, choices });
      }
    }
    return isAsked;
  }

  /**
   * Reads a child execution, and adds a listener if this machine's cloud runs it. Without a listener, the
   * child is read again whenever the parent is read.
   */
  function lookInto(child: string): Promise<boolean> {
    if (live && isNew(child)) {
      live.untilEnd(child, ({ state }) => void (state === "waiting" && lookInBackground(child))).catch(() => {});
    }
    return look(child);
  }

  /**
   * Reads an execution in the background. Ignores a failure, because `nova tasks` still lists every task. The function
   * reads one execution only once at a time. If a thousand items of a map start to wait during a read, the next read
   * finds all their tasks.
   */
  function lookInBackground(execution: string): void {
    if (looks.has(execution)) looks.set(execution, "again");
    else void lookWhileAsked(execution);
  }

  async function lookWhileAsked(execution: string): Promise<void> {
    do {
      looks.set(execution, "on");
      await look(execution).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, restMs));
    } while (looks.get(execution) === "again");
    looks.delete(execution);
  }

  /** Returns whether the run stays open when this process ends, because it waits for an answer. */
  async function staysOpen(id: string): Promise<boolean> {
    const { status, at_work } = await readWhole(server, id);
    if (status !== "waiting") return false;
    const isWhole = at_work.count > 0 && at_work.count === at_work.nodes.length;
    return (await look(id, at_work)) || !isWhole;
  }

  function report(task: OpenTask): void {
    if (isNew(task.id)) onTask(task);
  }

  function isNew(id: string): boolean {
    return !seen.has(id) && seen.add(id) !== undefined;
  }

  return { look, lookInBackground, staysOpen };
}
