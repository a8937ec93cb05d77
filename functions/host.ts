import { lookup } from "node:dns/promises";
import { type Clock, type HostNames, NovaError, type Timer } from "@nova/engine";

export const clock: Clock = { now: () => Date.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };

export const timer: Timer = { timeout: (ms) => AbortSignal.timeout(ms) };

/** There is no such name, or nothing that it leads to. */
const noSuchName = ["ENOTFOUND", "ENODATA"];

/** As the system of the function looks names up. */
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
