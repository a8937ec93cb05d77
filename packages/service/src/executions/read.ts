import { readTrace, readTraceLink, type Trace, type TraceEntry } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import { wholeContext } from "./whole-context.ts";

type ReadPorts = Pick<ServicePorts, keyof Parameters<typeof readTrace>[0]>;

/** How a run stands, and what it knows with large values in their places. Throws `ExecutionNotFound`. */
export async function readExecution(ports: ReadPorts, id: string): Promise<Trace> {
  const trace = await readTrace(ports, id);
  return { ...trace, context: await wholeContext(ports, trace.execution, trace.context) };
}

/** One link, in whatever branch; `full` with code, contexts and logs. Undefined where there is none. */
export async function readLink(
  ports: ReadPorts,
  id: string,
  place: { seq: number; scope: string; full: boolean },
): Promise<TraceEntry | undefined> {
  const { entry: found, execution } = await readTraceLink(ports, id, place);
  if (!found) return undefined;
  const { input_context: input, output_result: output } = found;
  return {
    ...found,
    ...(input && { input_context: await wholeContext(ports, execution, input) }),
    ...(output && { output_result: await wholeContext(ports, execution, output) }),
  };
}
