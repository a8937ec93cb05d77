import { inPlace } from "../place.ts";
import type { Records } from "./records.ts";

/** For a command that reads what was recorded, here or on the server that `NOVA_URL` names. */
export function withRecords<T>(work: (records: Records) => Promise<T>): Promise<T> {
  return inPlace({
    local: async ({ ports }) => work((await import("./cloud-records.ts")).cloudRecords(ports)),
    remote: async (server) => work((await import("./server-records.ts")).serverRecords(server)),
  });
}
