import type { BusEvent } from "@nova/service";

/** EventBridge, "PutEvents": an entry has at most 256 KB; its time, where it has none, does not count. */
export const mostEntryBytes = 256 * 1024;

/** Size of an entry as EventBridge reckons it: source, type and detail in UTF-8. */
export function entryBytes({ source, type, detail }: BusEvent): number {
  return Buffer.byteLength(source) + Buffer.byteLength(type) + Buffer.byteLength(detail);
}
