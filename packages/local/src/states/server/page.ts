import type { Request } from "../../aws-http/request.ts";
import { invalidToken } from "./aws-error.ts";

export interface Page<T> {
  items: T[];
  nextToken?: string;
}

/**
 * One page of a list whose items keep their order. A token names the last item shown and the question it belongs to:
 * what is added meanwhile shifts nothing, and a token for another question is invalid.
 */
export function pageOf<T>(
  all: readonly T[],
  keyOf: (item: T) => string | number,
  question: string,
  request: Request,
): Page<T> {
  const size = request.pageSize();
  const token = request.optionalText("nextToken", 3096);
  const from = token === undefined ? 0 : positionAfter(all, keyOf, question, token);
  const items = all.slice(from, from + size);
  const last = items.at(-1);
  if (last === undefined || from + size >= all.length) return { items };
  return { items, nextToken: Buffer.from(JSON.stringify([question, keyOf(last)])).toString("base64url") };
}

function positionAfter<T>(
  all: readonly T[],
  keyOf: (item: T) => string | number,
  question: string,
  token: string,
): number {
  const [asked, key] = decode(token);
  const position = asked === question ? all.findIndex((item) => keyOf(item) === key) : -1;
  if (position < 0) throw invalidToken("Invalid token");
  return position + 1;
}

function decode(token: string): unknown[] {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(token, "base64url").toString());
    return Array.isArray(decoded) ? decoded : [];
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidToken("Invalid token");
    throw error;
  }
}
