import { texts } from "../../texts.ts";

const { problems } = texts.signIn;

/** An answer of an issuer is small; one that is not is no answer. */
const maxCharacters = 200_000;
const timeoutMs = 10_000;

/** The issuer did not do what it was asked; the message is one sentence with the way out. */
export class SignInProblem extends Error {
  override name = "SignInProblem";
}

export interface Answer {
  isOk: boolean;
  body: Record<string, unknown>;
}

/** JSON of an issuer: no cookie goes there, nothing is kept, and no redirect is followed. Throws `SignInProblem`. */
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

/** By HTTPS, or on this machine. */
export function isSafeAddress(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, hostname, username, password, hash } = new URL(value);
  if (username !== "" || password !== "" || hash !== "") return false;
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname));
}
