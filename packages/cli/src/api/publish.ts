import type { NovaClient, Schemas } from "@nova/client";
import { membersOf, RawJson } from "@nova/engine";
import type { WorkflowSource } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

const firstPauseMs = 200;
const longestPauseMs = 2_000;

/** The request body for a folder. It has the text as written, so that findings name its lines. */
export function publishBody(source: WorkflowSource, id: string): object {
  return { definition: new RawJson(withId(source.text, id)), files: source.files };
}

/** A workflow without an id takes the name of its folder, which the server cannot see. */
function withId(text: string, id: string): string {
  if (membersOf(text).some(({ key }) => key === "id" || key === "graph_definition")) return text;
  const at = text.indexOf("{") + 1;
  return `${text.slice(0, at)}"id":${JSON.stringify(id)},${text.slice(at)}`;
}

/** Publishes on the server, and waits until runs can use the version. Throws `ApiProblem`, `InvalidInput`. */
export async function publishOnServer(
  server: NovaClient,
  source: WorkflowSource,
  id: string,
): Promise<Schemas["PublishedWorkflow"]> {
  const published = await server.workflows.publish(publishBody(source, id));
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const { status, reason } =
      pauseMs === firstPauseMs ? published : await server.workflows.get(published.id, { version: published.version });
    if (status === "failed") throw new InvalidInput(`"${id}" cannot be published: ${reason} - correct it`);
    if (status === "ready") return { ...published, status };
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
