import { userInfo } from "node:os";
import type { ItemOf, ListPath, NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import type { Principal } from "@nova/service";
import { withCloud, withDrivingCloud } from "../cloud.ts";
import { InvalidInput } from "../errors.ts";

type Work<T> = (nova: NovaClient) => Promise<T>;

/** Calls `work` with a client of the server in `NOVA_URL`, or of this machine's cloud if the variable is not set. */
export async function askApi<T>(work: Work<T>): Promise<T> {
  const server = await connectServer();
  return server ? work(server) : withCloud((cloud) => askCloud(cloud, work));
}

/**
 * Calls `work`, which continues executions and returns their ids. If they run on this machine, the process then stays
 * until each execution has ended, or until all open nodes of the execution wait.
 */
export async function askApiAndStay(work: Work<string[]>): Promise<void> {
  const server = await connectServer();
  if (server) await work(server);
  else await withDrivingCloud((cloud) => askCloud(cloud, work));
}

/**
 * Calls `work` with a client of an open cloud, as the user of this machine. Throws `OwnerGone` if the process that owns
 * the cloud ends.
 */
export async function askCloud<T>(cloud: LocalCloud, work: Work<T>): Promise<T> {
  return Promise.race([openClient(cloud).then(work), cloud.lost.then(throwOwnerGone)]);
}

export async function openClient(cloud: LocalCloud, exact: readonly string[] = []): Promise<NovaClient> {
  const [{ answerAs }, { createExactClient }] = await Promise.all([
    import("@nova/local"),
    import("@nova/mcp/exact-client"),
  ]);
  const { token, fetch } = await answerAs(cloud, thisUser());
  return createExactClient({ url: "http://this-machine", apiKey: token, fetch }, exact);
}

export async function throwOwnerGone(): Promise<never> {
  const { OwnerGone } = await import("@nova/local");
  throw new OwnerGone();
}

/**
 * Returns a client of the server in `NOVA_URL`, with the key in `NOVA_API_KEY`. Returns undefined if the variables are
 * not set; the caller then uses this machine's cloud. The client keeps contexts, and the members of answers that
 * `exact` names, as JSON text.
 */
export async function connectServer(exact: readonly string[] = []): Promise<NovaClient | undefined> {
  const server = readServerVariables();
  if (!server) return undefined;
  const [{ limitSize, maxAnswerBytes }, { createExactClient }] = await Promise.all([
    import("./client.ts"),
    import("@nova/mcp/exact-client"),
  ]);
  const limited = async (request: Request) => limitSize(await fetch(request), maxAnswerBytes);
  return createExactClient({ ...server, fetch: limited }, exact);
}

/**
 * Reads `NOVA_URL` and `NOVA_API_KEY`. Throws `InvalidInput` if only one of the two variables is set. An empty variable
 * counts as unset.
 */
export function readServerVariables(): { url: string; apiKey: string } | undefined {
  const { NOVA_URL: url, NOVA_API_KEY: apiKey } = process.env;
  if (!url) return undefined;
  if (!URL.canParse(url)) throw new InvalidInput(`NOVA_URL is "${url}", which is not a URL - write https://host`);
  if (!apiKey) throw new InvalidInput("NOVA_URL names a server, but NOVA_API_KEY is not set - set both, or neither");
  return { url, apiKey };
}

/** Returns the user of this machine, who is an administrator of its cloud. Audit records name this user. */
export function thisUser(): Principal {
  const { username } = userInfo();
  return { id: `user ${username}`, role: "admin", client: null, name: username };
}

/** The largest number of items on one page of an API list. */
const pageLimit = 200;

/** Returns the first `max` items of a list, and reads no further page. */
export async function firstItems<T>(max: number, items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) if (found.push(item) >= max) break;
  return found;
}

/** Reads an option whose value is a positive whole number. Throws `InvalidInput` for any other value. */
export function readCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidInput(`${option} ${text} is not a whole number above 0`);
}

/** Reads at most `max` items of an API list. */
export function readItems<Path extends ListPath>(path: Path, max: number, query: object = {}): Promise<ItemOf<Path>[]> {
  return askApi((nova) => listItems(nova, path, max, query));
}

export function listItems<Path extends ListPath>(
  nova: NovaClient,
  path: Path,
  max: number,
  query: object,
): Promise<ItemOf<Path>[]> {
  const asked = { query: { ...query, limit: Math.min(max, pageLimit) } };
  return firstItems(max, nova.list(path, asked as never));
}
