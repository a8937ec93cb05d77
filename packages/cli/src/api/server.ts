import type { NovaClient } from "@nova/client";
import { InvalidInput } from "../errors.ts";

/** The server that `NOVA_URL` names, whose key is in `NOVA_API_KEY`; undefined: what is asked is asked of this machine. */
export async function serverHere(): Promise<NovaClient | undefined> {
  const server = serverNamed();
  if (!server) return undefined;
  const { capped, clientAt, maxAnswerBytes } = await import("./client.ts");
  return clientAt({ ...server, fetch: async (request) => capped(await fetch(request), maxAnswerBytes) });
}

/** Throws `InvalidInput` where only one of the two variables is set; one that is empty is not set. */
export function serverNamed(): { url: string; apiKey: string } | undefined {
  const { NOVA_URL: url, NOVA_API_KEY: apiKey } = process.env;
  if (!url) return undefined;
  if (!URL.canParse(url)) throw new InvalidInput(`NOVA_URL is "${url}", which is no URL - write https://host`);
  if (!apiKey) throw new InvalidInput("NOVA_URL names a server, and NOVA_API_KEY no key for it - set both, or neither");
  return { url, apiKey };
}

/** For a command that no server has. */
export function refuseServer(what: string, why: string): void {
  if (process.env.NOVA_URL) throw new InvalidInput(`${what} knows no server: ${why}, or unset NOVA_URL`);
}
