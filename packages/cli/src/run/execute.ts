import {
  cancelExecution,
  executionOf,
  publishWorkflow,
  type RawJson,
  readTrace,
  reuseProblem,
  startExecution,
  unchangedNodes,
  type WaitingTask,
  type WorkflowVersion,
} from "@nova/engine";
import type { Counters, LocalCloud, NodeEvent } from "@nova/local";
import { defined } from "@nova/workflow/defined";
import { ulid } from "ulid";
import type { ShownExecution } from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import { publishCalled } from "./called.ts";
import type { RunRequest } from "./request.ts";
import { isWaiting, WaitingTasks } from "./waiting-tasks.ts";

export interface Ran {
  execution: ShownExecution;
  /** Null: what a server has done for it is not known here. */
  counters: Counters | null;
  path: string[];
  context: RawJson;
}

/** What a run tells while it goes on. */
export interface RunListener {
  /** A server has taken the run: whatever happens to it or to the way there, this is how it is found again. */
  onAccepted?(execution: string, status: string): void;
  onEvent(event: NodeEvent): void;
  /** It waits for this. */
  onTask(task: WaitingTask): void;
}

/** Publishes, runs, waits; null: Ctrl-C came first. Later it cancels the run, unless that waits for an answer. */
export async function execute(
  cloud: LocalCloud,
  request: RunRequest,
  interrupt: Interrupt,
  listener: RunListener,
): Promise<Ran | null> {
  const { ports } = cloud;
  const { workflow, definition, history, called, context, files, frozen, fresh, client } = request;
  await publishCalled(cloud, called, workflow);
  const template = await cloud.templateFor(workflow.requirements);
  const whole = client === undefined ? context : await withClientsVariables(cloud, client, context);
  const version = await publishWorkflow(ports, { workflow, stateMachine: definition, history, template });
  if (interrupt.happened) return null;
  const id = `exec_${ulid()}`;
  const reuse = request.reuse === undefined ? undefined : await reusable(cloud, request.reuse, version, client);
  const placed = await withUploads(cloud, reuse?.source.root ?? id, whole, client);
  await startExecution(ports, {
    id,
    version,
    context: placed.context,
    files: [...files, ...placed.files],
    frozen,
    fresh,
    ...defined({ client, reuse }),
  });
  const tasks = new WaitingTasks(cloud, listener.onTask);
  const ended = cloud.untilEnd(id, (event) => {
    listener.onEvent(event);
    if (event.state === "waiting") tasks.look(id, event.node);
  });
  const interrupted = interrupt.wish().then(async () => {
    const isLeft = await isWaiting(ports, id);
    if (!isLeft) await cancelExecution(ports, id);
    return isLeft;
  });
  if ((await Promise.race([ended, interrupted])) !== true) await ended;
  // The counters first: reading the trace is a call as well, and none of the run's.
  const counters = await cloud.counters(id);
  const { execution, path, context: known } = await readTrace(ports, id);
  return { execution, counters, path, context: known };
}

/** What a run takes over of an earlier one. Throws `InvalidInput`. */
async function reusable({ ports }: LocalCloud, id: string, version: WorkflowVersion, client = "default") {
  const source = await executionOf(ports, id);
  const problem = reuseProblem(source, version, client);
  if (problem !== null) throw new InvalidInput(problem);
  const earlier = await ports.workflows.get(source.workflowId, source.version);
  const { keysLookedUp } = await import("@nova/python");
  const unchanged = earlier ? await unchangedNodes(version, earlier, async (code) => keysLookedUp(code)) : {};
  return { source, unchanged };
}

/** A client without a record is a slip of the keyboard: it has no credentials either. Throws `NotFound`. */
async function withClientsVariables({ service }: LocalCloud, client: string, context: string): Promise<string> {
  const { demandClient, withVariables } = await import("@nova/service");
  return withVariables((await demandClient(service, null, client))?.variables, context);
}

/** As the API does it: an upload that is not there is refused, and never plain data. Throws `Refused`, `Conflict`. */
async function withUploads({ service }: LocalCloud, id: string, context: string, client?: string) {
  if (!context.includes('"$upload"')) return { context, files: [] };
  const { defaultClient, placeUploads } = await import("@nova/service");
  return placeUploads(service, { client: client ?? defaultClient, root: id }, context);
}
