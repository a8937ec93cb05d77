import type { NovaClient, StartedExecution } from "@nova/client";
import { type Member, membersOf, objectText, RawJson } from "@nova/engine";
import { readWorkflowSource, writeWorkflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { publishOnServer } from "../api/publish.ts";
import { InvalidInput } from "../errors.ts";
import type { Interrupt } from "../interrupt.ts";
import type { RunRequest } from "./request.ts";

/** Publishes a folder on a server, with what its nodes run, and starts a run. Null where Ctrl-C came before the start. */
export async function publishAndStart(
  server: NovaClient,
  request: RunRequest,
  interrupt: Interrupt,
): Promise<StartedExecution | null> {
  const { path, workflow, called, isOneNode } = request;
  // What is called comes before who calls it: a server wants it to be there.
  for (const { place, id } of called.places.toReversed()) {
    await publishOnServer(server, await readWorkflowSource(place), id);
  }
  const source = isOneNode ? writeWorkflow(workflow) : await readWorkflowSource(path);
  const { id } = await publishOnServer(server, source, workflow.id);
  return startPublished(server, { ...request, workflow: id }, interrupt);
}

/** What a run of a published workflow begins with. */
export interface StartRequest extends Pick<RunRequest, "context" | "files" | "frozen" | "fresh" | "client" | "reuse"> {
  workflow: string;
  /** Absent: the one that is active, or pinned for the client. */
  version?: number;
}

/** Starts a run of what is published. Null where Ctrl-C came before. Throws `ApiProblem`. */
export async function startPublished(
  server: NovaClient,
  request: StartRequest,
  interrupt: Interrupt,
): Promise<StartedExecution | null> {
  const context = await withUploads(server, request);
  if (interrupt.happened) return null;
  const { workflow, frozen, fresh, client, reuse, version } = request;
  const said = { frozen: frozen || undefined, fresh: fresh.length > 0 ? fresh : undefined };
  return server.executions.execute(workflow, defined({ context, ...said, client_slug: client, reuse, version }));
}

/** The context, in which what was uploaded stands for files. */
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
  if (clash) throw new InvalidInput(`"${clash.key}" is given by --file and in the context - leave one of them out`);
  return new RawJson(sent.length === 0 ? text : objectText([...membersOf(text), ...sent]));
}
