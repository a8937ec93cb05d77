import { ApiProblem, ApiUnreachable, type NovaClient, type Schemas } from "@nova/client";
import { membersOf, RawJson } from "@nova/engine";
import type { WorkflowSource } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/** Returns the result of a request; null if the server answers with status 404. */
export async function nullIfMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

/**
 * Throws `InvalidInput` if the address that a server has sent is no URL of HTTP or HTTPS. `what` names the content at
 * the address.
 */
export function demandUrl(address: string, what: string): void {
  if (/^https?:$/.test(URL.parse(address)?.protocol ?? "")) return;
  throw new InvalidInput(`the server sent no URL for ${what} - ask its operator`);
}

/**
 * Downloads the content at a signed URL, and returns the answer. `what` names the content in messages. Throws
 * `ApiUnreachable`, `ApiProblem`.
 */
export async function fetchSigned(address: string, what: string): Promise<Response> {
  const answer = await fetch(address).catch((cause: Error) => {
    const why = (cause.cause as NodeJS.ErrnoException | undefined)?.code ?? cause.message;
    throw new ApiUnreachable(
      `${URL.parse(address)?.origin ?? "the server"} cannot be reached (${why}) for ${what} - try again`,
      {
        cause,
      },
    );
  });
  if (answer.ok) return answer;
  throw new ApiProblem(answer.status, { detail: `${what} was answered with status ${answer.status} - try again` });
}

/**
 * The largest answer that a command reads. Every answer of NOVA is smaller: AWS Lambda sends at most 6 MB, and a server
 * on a laptop sends at most one page of a list.
 */
export const maxAnswerBytes = 256 * 1024 * 1024;

/**
 * Limits the length of an answer, because a server that is not trusted must not fill this machine's memory. The reader
 * of a longer answer gets an error.
 */
export function limitSize(answer: Response, maxBytes: number): Response {
  if (!answer.body) return answer;
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= maxBytes) controller.enqueue(chunk);
      else controller.error(new InvalidInput(`the server answered more than ${maxBytes} bytes - ask its operator`));
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counting), { status, statusText, headers });
}

const firstPauseMs = 200;
const longestPauseMs = 2_000;

/**
 * Builds the request body that publishes a folder. The body contains the text of the definition unchanged, so that
 * findings name the right lines.
 */
export function publishBody(source: WorkflowSource, id: string): object {
  return { definition: new RawJson(withId(source.text, id)), files: source.files };
}

/** Adds the name of the folder as id to a workflow without an id, because the server cannot see the folder. */
function withId(text: string, id: string): string {
  if (membersOf(text).some(({ key }) => key === "id" || key === "graph_definition")) return text;
  const at = text.indexOf("{") + 1;
  return `${text.slice(0, at)}"id":${JSON.stringify(id)},${text.slice(at)}`;
}

/**
 * Publishes a workflow on the server, and waits until runs can use the new version. Throws `ApiProblem`,
 * `InvalidInput`.
 */
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
