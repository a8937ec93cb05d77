import { lookup } from "node:dns/promises";
import { type HostNames, NovaError } from "@nova/engine";

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
