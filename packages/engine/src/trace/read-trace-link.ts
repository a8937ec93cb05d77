import { headOf } from "../chain/head.ts";
import { branchOf } from "../chain/scope.ts";
import type { LinkId } from "../ports/chain.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import { executionOf } from "../protocol/status.ts";
import { type Before, TraceReader } from "./read-trace.ts";
import type { TraceEntry } from "./trace-entry.ts";

/** One link as `readTrace` tells it, its branches included. Throws `ExecutionNotFound`. */
export async function readTraceLink(
  ports: Ports,
  id: string,
  { seq, scope, full }: { seq: number; scope: string; full: boolean },
): Promise<{ execution: Execution; entry?: TraceEntry }> {
  const execution = await executionOf(ports, id);
  const at = { execution: id, scope, seq };
  const { entry } = isScope(scope) ? await ports.chain.read(at) : {};
  if (!entry) return { execution };
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const reader = new TraceReader(ports, version, full);
  const { told } = await reader.link(at, entry, full ? await before(ports, reader, at) : undefined);
  return { execution, entry: told };
}

async function before(ports: Ports, reader: TraceReader, at: LinkId): Promise<Before | undefined> {
  const place = placeBefore(at);
  if (!place) return undefined;
  const { entry } = await ports.chain.read(place);
  if (!entry) return before(ports, reader, place);
  const head = headOf(entry);
  if (head.digests.context) return { entry, context: await reader.contextOf(entry, head) };
  return { entry, context: (await before(ports, reader, place))?.context ?? null };
}

/** Branches begin with link 1, behind their fork's. */
function placeBefore({ execution, scope, seq }: LinkId): LinkId | undefined {
  const branch = branchOf(scope);
  if (seq > (branch ? 1 : 0)) return { execution, scope, seq: seq - 1 };
  return branch ? { execution, scope: branch.parent, seq: branch.seq } : undefined;
}

/** Whether it leads from the main line to a branch, step by step, in letters that keys may have. */
export function isScope(scope: string): boolean {
  if (scope === "") return true;
  const branch = /^[!-~]{1,1000}$/.test(scope) && branchOf(scope);
  return branch !== false && branch !== null && isScope(branch.parent);
}
