import { randomUUID } from "node:crypto";

/**
 * Who asks, in the provider's logs: its support finds a request by this header.
 * https://developers.openai.com/api/reference/overview
 */
export function requestId(role: string): Record<string, string> {
  return { "X-Client-Request-Id": `${role}.${randomUUID()}` };
}
