import type { Execution, Ports, RawJson } from "@nova/engine";
import { cancelExecution, executionOf, publishWorkflow, readTrace, startExecution } from "@nova/engine";
import type { Counters, LocalCloud, NodeEvent } from "@nova/local";
import type { Interrupt } from "../interrupt.ts";
import type { RunRequest } from "./request.ts";

export interface Ran {
  execution: Execution;
  counters: Counters;
  path: string[];
  context: RawJson;
}

/** Publishes the workflow if it is new, runs it, waits. Ctrl-C cancels the run; null where it came before the start. */
export async function execute(
  cloud: LocalCloud,
  request: RunRequest,
  interrupt: Interrupt,
  onEvent: (event: NodeEvent) => void,
): Promise<Ran | null> {
  const { ports } = cloud;
  const { workflow, definition, context, files } = request;
  const template = await cloud.templateFor(workflow.requirements);
  const version = await publishWorkflow(ports, { workflow, stateMachine: definition, template });
  if (interrupt.happened) return null;
  const { id } = await startExecution(ports, { version, context, files });
  const ended = cloud.untilEnd(id, onEvent);
  await Promise.race([ended, interrupt.wish().then(() => cancelExecution(ports, id))]);
  await ended;
  return report(cloud, ports, id);
}

/** The counters first: reading the trace is a call as well, and none of the run's. */
async function report(cloud: LocalCloud, ports: Ports, id: string): Promise<Ran> {
  const counters = await cloud.counters(id);
  const execution = await executionOf(ports, id);
  const { path, context } = await readTrace(ports, id);
  return { execution, counters, path, context };
}
