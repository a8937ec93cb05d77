import type { NovaClient } from "@nova/client";
import type { LocalCloud } from "@nova/local";
import { withCloud } from "./cloud.ts";
import { serverHere } from "./remote/server.ts";

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
