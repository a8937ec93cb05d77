import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { withCloud, withDrivingCloud } from "../cloud.ts";
import { InvalidInput } from "../errors.ts";
import { thisUser } from "../this-user.ts";

type Work<T> = (nova: NovaClient) => Promise<T>;

/** Runs `work` with a client of the server in `NOVA_URL`, or else of this machine's cloud. */
export async function askApi<T>(work: Work<T>): Promise<T> {
  const server = await connectServer();
  return server ? work(server) : withCloud((cloud) => askCloud(cloud, work));
}

/** Runs `work`, which continues executions and returns their ids. On this machine it stays until they end or wait. */
export async function askApiAndStay(work: Work<string[]>): Promise<void> {
  const server = await connectServer();
  if (server) await work(server);
  else await withDrivingCloud((cloud) => askCloud(cloud, work));
}

/**
 * Runs `work` with a client of an open cloud, as the user of this machine. Throws `OwnerGone` if the owner process
 * ends.
 */
export async function askCloud<T>(cloud: LocalCloud, work: Work<T>): Promise<T> {
  return Promise.race([openClient(cloud).then(work), cloud.lost.then(throwOwnerGone)]);
}

export async function openClient(cloud: LocalCloud): Promise<NovaClient> {
  const [{ answerAs }, { clientAt }] = await Promise.all([import("@nova/local"), import("./client.ts")]);
  const { token, fetch } = await answerAs(cloud, thisUser());
  return clientAt({ url: "http://this-machine", apiKey: token, fetch });
}

export async function throwOwnerGone(): Promise<never> {
  const { OwnerGone } = await import("@nova/local");
  throw new OwnerGone();
}

/** A client of the server in `NOVA_URL`, with the key in `NOVA_API_KEY`; undefined: use this machine's cloud. */
export async function connectServer(): Promise<NovaClient | undefined> {
  const server = readServerVariables();
  if (!server) return undefined;
  const { limitSize, clientAt, maxAnswerBytes } = await import("./client.ts");
  return clientAt({ ...server, fetch: async (request) => limitSize(await fetch(request), maxAnswerBytes) });
}

/** Throws `InvalidInput` if only one of the two variables is set. An empty variable counts as unset. */
export function readServerVariables(): { url: string; apiKey: string } | undefined {
  const { NOVA_URL: url, NOVA_API_KEY: apiKey } = process.env;
  if (!url) return undefined;
  if (!URL.canParse(url)) throw new InvalidInput(`NOVA_URL is "${url}", which is not a URL - write https://host`);
  if (!apiKey) throw new InvalidInput("NOVA_URL names a server, but NOVA_API_KEY is not set - set both, or neither");
  return { url, apiKey };
}
