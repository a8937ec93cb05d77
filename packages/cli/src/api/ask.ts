import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { withCloud, withDrivingCloud } from "../cloud.ts";
import { thisUser } from "../this-user.ts";
import { serverHere } from "./server.ts";

type Work<T> = (nova: NovaClient) => Promise<T>;

/** Asks the server that `NOVA_URL` names, or else the API of this machine's cloud: every command asks one of both. */
export async function askApi<T>(work: Work<T>): Promise<T> {
  const server = await serverHere();
  return server ? work(server) : withCloud((cloud) => askCloud(cloud, work));
}

/**
 * The same for work that lets executions go on, and answers which. On this machine the command stays until they are at
 * rest again.
 */
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
