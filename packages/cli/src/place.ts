import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { withCloud, withDrivingCloud } from "./cloud.ts";
import { ownerGone } from "./run/in-place.ts";
import { serverAt, serverHere } from "./server/server.ts";

/** The same work for either place in which runs may be. */
export interface Work<T> {
  local(cloud: LocalCloud): Promise<T>;
  remote(server: NovaClient): Promise<T>;
}

/** Asks the server that `NOVA_URL` names, or else the cloud of this machine. */
export async function inPlace<T>({ local, remote }: Work<T>): Promise<T> {
  const server = await serverHere();
  return server ? remote(server) : withCloud(local);
}

/** For work that the API alone knows how to do: on this machine it is asked as a server is, by whoever typed the command. */
export function askApi<T>(work: (server: NovaClient) => Promise<T>): Promise<T> {
  return inPlace({ local: (cloud) => askHere(cloud, work), remote: work });
}

/** The same for work that lets an execution go on: on this machine the command stays until that is at rest again. */
export async function askApiToGoOn(work: (server: NovaClient) => Promise<{ execution_id: string }>): Promise<void> {
  const server = await serverHere();
  if (server) await work(server);
  else await withDrivingCloud(async (cloud) => [(await askHere(cloud, work)).execution_id]);
}

/**
 * Asks a cloud that is open as a server is asked, by whoever typed the command: what is refused is the same. Throws
 * `OwnerGone` where the process dies that had opened it.
 */
export async function askHere<T>(cloud: LocalCloud, work: (server: NovaClient) => Promise<T>): Promise<T> {
  const [{ answerAs }, { thisUser }] = await Promise.all([import("@nova/local"), import("./keys/this-user.ts")]);
  const api = await answerAs(cloud, thisUser());
  try {
    return await Promise.race([work(await serverAt(api.url, api.token)), cloud.lost.then(ownerGone)]);
  } finally {
    await Promise.race([api.close(), cloud.lost]);
  }
}
