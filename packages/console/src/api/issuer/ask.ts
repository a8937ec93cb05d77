import { texts } from "../../texts.ts";

const { problems } = texts.signIn;

/** Longer answers are refused: an issuer's documents are small. */
const maxCharacters = 200_000;
const timeoutMs = 10_000;

/** A failed sign-in. The message is a sentence for the user that names the way out. */
export class SignInProblem extends Error {
  override name = "SignInProblem";
}

export interface Answer {
  isOk: boolean;
  body: Record<string, unknown>;
}

/** Fetches a JSON object from an issuer, without cookies, caches or redirects. Throws `SignInProblem`. */
export async function askIssuer(address: string, form?: Record<string, string>): Promise<Answer> {
  const { host } = new URL(address);
  let text: string;
  let isOk: boolean;
  try {
    const answer = await fetch(address, {
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    [text, isOk] = [await answer.text(), answer.ok];
  } catch (cause) {
    throw new SignInProblem(problems.unreachable(host), { cause });
  }
  const body = text.length > maxCharacters ? undefined : parseRecord(text);
  if (body === undefined) throw new SignInProblem(problems.noIssuer(host));
  return { isOk, body };
}

export function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the page may open an address: HTTPS only, except on this machine. */
export function isSafeAddress(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, hostname, username, password, hash } = new URL(value);
  if (username !== "" || password !== "" || hash !== "") return false;
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname));
}
