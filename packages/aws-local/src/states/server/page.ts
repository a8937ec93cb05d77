import type { Request } from "../../aws-http/request.ts";
import { arnError } from "./arns.ts";

/**
 * Returns one page of a list. The token of the page contains the last item of the page and the query (`question`). So
 * if an item is added meanwhile, no other item moves to another page. For another query the token is invalid.
 */
export function pageOf<T>(
  all: readonly T[],
  keyOf: (item: T) => string | number,
  question: string,
  request: Request,
): { items: T[]; nextToken?: string } {
  // 0 and an absent value mean 100.
  const size = Math.floor(request.number("maxResults", { most: 1000 }) || 100);
  const tokenOf = (item: T) => Buffer.from(JSON.stringify([question, keyOf(item)])).toString("base64url");
  const token = request.optionalText("nextToken", { most: 3096 });
  const from = token === undefined ? 0 : all.findIndex((item) => tokenOf(item) === token) + 1;
  if (token !== undefined && from === 0) throw arnError("InvalidToken", "Invalid token");
  const items = all.slice(from, from + size);
  const last = items.at(-1);
  return { items, ...(last !== undefined && from + size < all.length && { nextToken: tokenOf(last) }) };
}
