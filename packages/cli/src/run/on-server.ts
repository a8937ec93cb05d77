import type { NovaClient, StartedExecution } from "@nova/client";
import { type Member, membersOf, objectText, RawJson } from "@nova/engine";
import { readWorkflowSource, writeWorkflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { publishOnServer } from "../api/publish.ts";
import { InvalidInput } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import type { RunRequest } from "./request.ts";

/**
 * Publishes a folder and its called workflows on a server, and starts a run. Null if the user pressed Ctrl-C before the
 * start.
 */
export async function publishAndStart(
  server: NovaClient,
  request: RunRequest,
  interrupt: Interrupt,
): Promise<StartedExecution | null> {
  const { path, workflow, called, isOneNode } = request;
  // Called workflows come before their callers, because the server requires them.
  for (const { place, id } of called.places.toReversed()) {
    await publishOnServer(server, await readWorkflowSource(place), id);
  }
  const source = isOneNode ? writeWorkflow(workflow) : await readWorkflowSource(path);
  const { id } = await publishOnServer(server, source, workflow.id);
  return startPublished(server, { ...request, workflow: id }, interrupt);
}

/** The start of a run of a published workflow. */
export interface StartRequest extends Pick<RunRequest, "context" | "files" | "frozen" | "fresh" | "client" | "reuse"> {
  workflow: string;
  /** Absent: the active version, or the one pinned for the client. */
  version?: number;
}

/** Starts a run of a published workflow. Null if the user pressed Ctrl-C before. Throws `ApiProblem`. */
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
