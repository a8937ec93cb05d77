import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { withCloud, withDrivingCloud } from "../cloud.ts";
import { InvalidInput } from "../errors.ts";
import { thisUser } from "../this-user.ts";

type Work<T> = (nova: NovaClient) => Promise<T>;

/** Asks the server that `NOVA_URL` names, or else the API of this machine's cloud: every command asks one of both. */
export async function askApi<T>(work: Work<T>): Promise<T> {
  const server = await serverHere();
  return server ? work(server) : withCloud((cloud) => askCloud(cloud, work));
}

/** The same for work that lets executions go on, and answers which: here it stays until they are at rest. */
export async function askApiToGoOn(work: Work<string[]>): Promise<void> {
  const server = await serverHere();
  if (server) await work(server);
  else await withDrivingCloud((cloud) => askCloud(cloud, work));
}

/** Asks the API of a cloud that is open, as whoever typed the command. Throws `OwnerGone` where its owner dies. */
export async function askCloud<T>(cloud: LocalCloud, work: Work<T>): Promise<T> {
  return Promise.race([clientOf(cloud).then(work), cloud.lost.then(ownerGone)]);
}

export async function clientOf(cloud: LocalCloud): Promise<NovaClient> {
  const [{ answerAs }, { clientAt }] = await Promise.all([import("@nova/local"), import("./client.ts")]);
  const { token, fetch } = await answerAs(cloud, thisUser());
  return clientAt({ url: "http://this-machine", apiKey: token, fetch });
}

export async function ownerGone(): Promise<never> {
  const { OwnerGone } = await import("@nova/local");
  throw new OwnerGone();
}

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
