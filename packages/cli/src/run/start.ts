import type { NovaClient, StartedExecution } from "@nova/client";
import { type Member, membersOf, objectText, publishWorkflow, RawJson, type WorkflowVersion } from "@nova/engine";
import type { LocalCloud } from "@nova/local";
import type { Call } from "@nova/service";
import { readWorkflowSource, type Workflow, writeWorkflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { ulid } from "ulid";
import { thisUser } from "../api/ask.ts";
import { publishOnServer } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import type { Checked, RunRequest } from "./request.ts";

/**
 * Publishes a folder on this machine and starts a trial run of it. The active version and the triggers stay unchanged,
 * and no quota delays the run. Returns null if the user pressed Ctrl-C before the start.
 */
export async function startHere(
  cloud: LocalCloud,
  request: RunRequest,
  interrupt: Interrupt,
): Promise<StartedExecution | null> {
  const { executeVersion } = await import("@nova/service");
  const { called, workflow, client, reuse, ...start } = request;
  for (const one of called.workflows) await publishHere(cloud, one);
  await demandCalled(cloud, called.calls, workflow);
  const version = await publishHere(cloud, request);
  if (interrupt.wasRequested) return null;
  const asked = { ...start, ulid: ulid(), namesUploads: true, ...defined({ client, reuse }) };
  const { id, status } = await executeVersion(cloud.service, thisUser(), version, asked);
  return { execution_id: id, status };
}

/** Publishes a checked workflow on this machine. The active version stays the same. Throws `PythonMissing`. */
export async function publishHere(
  cloud: Pick<LocalCloud, "ports" | "templateFor">,
  { workflow, definition, history }: Checked,
): Promise<WorkflowVersion> {
  const template = await cloud.templateFor(workflow);
  return publishWorkflow(cloud.ports, { workflow, stateMachine: definition, history, template });
}

/** Throws `InvalidInput` if a called workflow does not exist. */
async function demandCalled({ ports }: LocalCloud, calls: readonly Call[], caller: Workflow): Promise<void> {
  const { missingCall } = await import("@nova/service");
  for (const call of calls) {
    const missing = call.workflow === caller.id ? undefined : await missingCall(ports, call);
    if (!missing) continue;
    const advice = "put its folder next to this one, or run it once (nova run <folder>)";
    throw new InvalidInput(`${missing.message} - ${missing.latest ? `the latest is ${missing.latest}` : advice}`);
  }
}

/**
 * Publishes a folder and its called workflows on a server, and starts a run. Returns null if the user pressed Ctrl-C
 * before the start.
 */
export async function publishAndStart(
  server: NovaClient,
  request: RunRequest,
  interrupt: Interrupt,
): Promise<StartedExecution | null> {
  const { path, workflow, called, isOneNode } = request;
  // Called workflows are published before their callers, because the server refuses a call of an unknown workflow.
  for (const { place, id } of called.places.toReversed()) {
    await publishOnServer(server, await readWorkflowSource(place), id);
  }
  const source = isOneNode ? writeWorkflow(workflow) : await readWorkflowSource(path);
  const { id } = await publishOnServer(server, source, workflow.id);
  return startPublished(server, { ...request, workflow: id }, interrupt);
}

export interface StartRequest extends Pick<RunRequest, "context" | "files" | "frozen" | "fresh" | "client" | "reuse"> {
  workflow: string;
  /** The version to run. Absent: the active version, or the version that is pinned for the client. */
  version?: number;
}

/**
 * Starts a run of a published workflow. Returns null if the user pressed Ctrl-C before the start. Throws `ApiProblem`.
 */
export async function startPublished(
  server: NovaClient,
  request: StartRequest,
  interrupt: Interrupt,
): Promise<StartedExecution | null> {
  const context = await withUploads(server, request);
  if (interrupt.wasRequested) return null;
  const { workflow, frozen, fresh, client, reuse, version } = request;
  const said = { frozen: frozen || undefined, fresh: fresh.length > 0 ? fresh : undefined };
  return server.executions.execute(workflow, defined({ context, ...said, client_slug: client, reuse, version }));
}

/** Uploads the files, and returns the context with references to them. */
async function withUploads(server: NovaClient, { context, files, client }: StartRequest): Promise<RawJson> {
  let [text, sent] = [context, [] as Member[]];
  for (const file of files) {
    const { bytes, sha256, open } = file;
    const body = ReadableStream.from(open()) as ReadableStream<Uint8Array>;
    const json = JSON.stringify(await server.upload(body, defined({ bytes, sha256, client_slug: client })));
    if ("key" in file) sent.push({ key: file.key, json });
    else text = text.replace(JSON.stringify(file.mark), json);
  }
  const clash = membersOf(text).find(({ key }) => sent.some((file) => file.key === key));
  if (clash) throw new InvalidInput(`"${clash.key}" is in --file and in the context - leave one of them out`);
  return new RawJson(sent.length === 0 ? text : objectText([...membersOf(text), ...sent]));
}
