import { type Member, membersOf } from "@nova/workflow";
import type { SourcePlan } from "../chain/head.ts";
import { contextAfter } from "../chain/position.ts";
import { offloadMembers, savingTo } from "../context/offload.ts";
import { escapeReferences } from "../context/references.ts";
import { refuseMisfitsOf } from "../kinds/start/given.ts";
import { begin, newId, type StartRequest } from "../kinds/start/start.ts";
import type { BlobHome } from "../ports/blobs.ts";
import type { Execution } from "../ports/executions.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { originOf } from "../protocol/place-name.ts";
import { type Forecast, forecast } from "./forecast.ts";
import { isStep, partFrom, RestartRefused, shortList } from "./places.ts";
import { Source } from "./source.ts";

export interface RestartRequest {
  /** An execution that has ended. */
  source: Execution;
  /** What runs it; of the source's workflow. */
  version: WorkflowVersion;
  /** The places from which on everything runs; absent, or none: from what failed. */
  from?: string | readonly string[];
  /** JSON text of an object: keys of the initial context that are to be others. */
  patch?: string;
  /** Nodes that run again wherever they come up. */
  again?: readonly string[];
  /** Who asks, for the chain. */
  by: string;
}

/** What a restart comes to, before anything is written. */
export interface Restart {
  plan: SourcePlan;
  forecast: Forecast;
  /** The initial context. */
  set: Member[];
  /** The source was: no model is asked. */
  frozen: boolean;
}

export interface Restarted extends Restart {
  execution: Execution;
}

/**
 * A new execution that takes over what an earlier one came to, and shares its blobs. Throws `RestartRefused` and
 * `InputsRefused` before anything is written.
 */
export async function restartExecution(
  ports: Ports,
  request: RestartRequest & Pick<StartRequest, "id" | "queue">,
): Promise<Restarted> {
  const restart = await planRestart(ports, request);
  const { id = newId(ports), source, version } = request;
  const [misfit] = restart.forecast.misfits;
  const advice = "restart from before that, or with another version";
  if (misfit !== undefined)
    throw new RestartRefused(`version ${version.version} does not fit ${source.id}: ${misfit} - ${advice}`);
  const home: BlobHome = { client: source.client, root: source.root };
  const set = await offloadMembers(restart.set, savingTo(ports, home));
  const origin = await originOf(ports, { execution: source.id, root: source.root });
  const link = { id, version, home, set, frozen: restart.frozen, origin, plan: restart.plan };
  return { ...restart, execution: await begin(ports, link, request.queue) };
}

/** Reads the source and says what is taken over. Writes nothing. Throws `RestartRefused`, `InputsRefused`. */
export async function planRestart(ports: Ports, request: RestartRequest): Promise<Restart> {
  const { source: record, version, again = [], by } = request;
  // A record that has its tip can still be open: what follows an end may be going on.
  if (record.tip === undefined)
    throw new RestartRefused(`execution ${record.id} is open - wait for its end, or cancel it`);
  if (record.erased) throw new RestartRefused(`the contents of execution ${record.id} were erased - start a new one`);
  const source = await Source.read(ports, record.id);
  const stranger = again.find((id) => !source.links.values().some(({ head }) => head.node_id === id));
  if (stranger !== undefined) {
    const came = new Set(source.links.values().flatMap(({ head }) => (isStep(head.node_type) ? [head.node_id] : [])));
    throw new RestartRefused(
      `execution ${record.id} never came to a node "${stranger}" - it came to ${shortList([...came])}`,
    );
  }
  const part = await partFrom(ports, source, [request.from ?? []].flat(), record.id);
  const hasFailed = record.status !== "completed" || source.links.values().some(({ isTolerated }) => isTolerated);
  if (!hasFailed && !part.from && again.length === 0)
    throw new RestartRefused(`execution ${record.id} was completed - say from which node`);
  const patch = membersOf(escapeReferences(request.patch ?? "{}"));
  const plan: SourcePlan = {
    ...{ source: record.id, tip: record.tip ?? "" },
    ...part,
    ...(again.length > 0 && { again: [...again] }),
    ...(patch.length > 0 && { patch: { keys: patch.map(({ key }) => key), by } }),
  };
  const told = forecast(source, version, plan);
  const set = await initialContext(ports, request, patch, { source, told });
  return { plan, forecast: told, set, frozen: source.scope("")[0]?.head.frozen === true };
}

/** That of the source with other values for some keys, checked as that of any run. */
async function initialContext(
  ports: Ports,
  { source: { id }, version }: RestartRequest,
  patch: readonly Member[],
  { source, told }: { source: Source; told: Forecast },
): Promise<Member[]> {
  const { context } = await contextOf(ports, id, 0);
  if (patch.length > 0) await refuseOverwritten(ports, id, patch, { source, told });
  const patched = context.apply({ set: [...patch], delete: [] }, 0);
  const members = patched.slots().map(({ key, json }) => ({ key, json }));
  await refuseMisfitsOf(version.workflow, members);
  return members;
}

/** What nodes set whose outcomes are taken over hides what is patched. */
async function refuseOverwritten(
  ports: Ports,
  id: string,
  patch: readonly Member[],
  { source, told }: { source: Source; told: Forecast },
): Promise<void> {
  const reused = new Set(told.reused);
  const last = source.scope("").findLast(({ name }) => reused.has(name));
  if (!last) return;
  const { context } = await contextOf(ports, id, last.head.seq);
  const hidden = patch.find(({ key }) => (context.slot(key)?.by ?? 0) !== 0);
  if (hidden === undefined) return;
  const by = context.slot(hidden.key)?.by;
  const writer = [...source.links.values()].find(({ head }) => head.scope === "" && head.seq === by)?.name;
  const advice = writer === undefined ? "restart from an earlier node" : `restart from "${writer}", or before it`;
  throw new RestartRefused(`the patch sets "${hidden.key}", which a node sets that is not run again - ${advice}`);
}

async function contextOf(ports: Ports, execution: string, seq: number) {
  const { entry } = await ports.chain.read({ execution, scope: "", seq });
  if (!entry || !("context" in entry.contents))
    throw new RestartRefused(`the contents of execution ${execution} were erased - start a new one`);
  return contextAfter(entry, ports.blobs);
}
