import { ApiProblem, ApiUnreachable, type ClientOptions, createClient, type NovaClient } from "@nova/client";
import { elementsOf, membersOf, RawJson, renderJson } from "@nova/engine";
import { InvalidInput } from "../errors.ts";

/** The typed client, whose contexts are `RawJson` both ways. */
export function clientAt(at: Required<Pick<ClientOptions, "url" | "apiKey" | "fetch">>): NovaClient {
  return createClient({ ...at, parse: parseAnswer, stringify: renderJson });
}

/** Null where there is no such thing. */
export async function unlessMissing<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return null;
    throw error;
  }
}

/** What lies at an address that the server signed, `what`. Throws `ApiUnreachable`, `ApiProblem`. */
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

/** No API of NOVA answers more at once: AWS Lambda sends 6 MB, and a laptop's server what one page of a list may hold. */
export const maxAnswerBytes = 256 * 1024 * 1024;

/** The same answer, which ends in an error where it is longer: a server that is not trusted must not fill this machine. */
export function capped(answer: Response, maxBytes: number): Response {
  if (!answer.body) return answer;
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes <= maxBytes) controller.enqueue(chunk);
      else controller.error(new InvalidInput(`the server answered more than ${maxBytes} bytes - ask who runs it`));
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body.pipeThrough(counting), { status, statusText, headers });
}

/** Members that hold what users sent: their text is handed on, so that 12345678901234567890 and 850.0 stay as they are. */
const exact = new Set(["context", "set", "input_context", "output_result", "output", "pattern"]);

/** Members in which there are such members. */
const around = new Set(["items", "entries", "branches", "changes", "child", "outputs"]);

/** An answer of the API whose contexts are `RawJson`. */
export function parseAnswer(text: string): unknown {
  return text.trimStart().startsWith("{") ? objectFrom(text) : JSON.parse(text);
}

function objectFrom(text: string): object {
  return Object.fromEntries(membersOf(text).map(({ key, json }) => [key, memberFrom(key, json)]));
}

function memberFrom(key: string, json: string): unknown {
  if (exact.has(key) && json !== "null") return new RawJson(json);
  if (!around.has(key)) return JSON.parse(json);
  if (json.startsWith("{")) return objectFrom(json);
  return json.startsWith("[") ? elementsOf(json).map(parseAnswer) : JSON.parse(json);
}
