import { lookup } from "node:dns/promises";
import { type Clock, type HostNames, NovaError, type Timer } from "@nova/engine";

export const clock: Clock = { now: () => Date.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };

export const timer: Timer = { timeout: (ms) => AbortSignal.timeout(ms) };

/** Codes of a name that does not exist, or has no address. */
const noSuchName = ["ENOTFOUND", "ENODATA"];

/** Looks names up with the resolver of the system. */
export const hostNames: HostNames = {
  async addressesOf(host) {
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address);
    } catch (cause) {
      if (noSuchName.includes(String((cause as NodeJS.ErrnoException).code))) return [];
      throw new NovaError("SandboxUnavailable", `"${host}" of network.allow cannot be looked up for now`, { cause });
    }
  },
};
