import { ApiProblem, ApiUnreachable, type ClientOptions, createClient, type NovaClient } from "@nova/client";
import { elementsOf, membersOf, RawJson, renderJson } from "@nova/engine";
import { InvalidInput } from "../errors.ts";

/** Creates a typed client whose contexts are `RawJson` in both directions. */
export function clientAt(at: Required<Pick<ClientOptions, "url" | "apiKey" | "fetch">>): NovaClient {
  return createClient({ ...at, parse: parseAnswer, stringify: renderJson });
}

/** Turns a 404 into null. */
export async function nullIfMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

/** Downloads from a signed URL; `what` names the content in messages. Throws `ApiUnreachable`, `ApiProblem`. */
export async function fetchSigned(address: string, what: string): Promise<Response> {
  const answer = await fetch(address).catch((cause: Error) => {
    const why = (cause.cause as NodeJS.ErrnoException | undefined)?.code ?? cause.message;
    throw new ApiUnreachable(`${new URL(address).origin} cannot be reached (${why}) for ${what} - try again`, {
      cause,
    });
  });
  if (answer.ok) return answer;
  throw new ApiProblem(answer.status, { detail: `${what} was answered with status ${answer.status} - try again` });
}

/** No NOVA API sends larger answers: AWS Lambda sends at most 6 MB, and a laptop's server one page of a list. */
export const maxAnswerBytes = 256 * 1024 * 1024;

/**
 * Limits the length of an answer, because a server that is not trusted must not fill this machine's memory. A longer
 * answer ends in an error.
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

/** Members with user data. They keep their JSON text, so that 12345678901234567890 and 850.0 stay exact. */
const exactMembers = new Set(["context", "set", "input_context", "output_result", "output", "pattern"]);

/** Members that contain such members. */
const nestingMembers = new Set(["items", "entries", "branches", "changes", "child", "outputs"]);

/** Parses an answer of the API; its contexts become `RawJson`. */
export function parseAnswer(text: string): unknown {
  return text.trimStart().startsWith("{") ? objectFrom(text) : JSON.parse(text);
}

function objectFrom(text: string): object {
  return Object.fromEntries(membersOf(text).map(({ key, json }) => [key, memberFrom(key, json)]));
}

function memberFrom(key: string, json: string): unknown {
  if (exactMembers.has(key) && json !== "null") return new RawJson(json);
  if (!nestingMembers.has(key)) return JSON.parse(json);
  if (json.startsWith("{")) return objectFrom(json);
  return json.startsWith("[") ? elementsOf(json).map(parseAnswer) : JSON.parse(json);
}
