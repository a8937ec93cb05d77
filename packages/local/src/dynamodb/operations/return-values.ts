import { invalid } from "../errors.ts";
import type { Input } from "../request/input.ts";

const all = ["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"] as const;

export type ReturnValues = (typeof all)[number];

export function returnValues(input: Input): ReturnValues {
  return input.choice("ReturnValues", all) ?? "NONE";
}

/** Whether a put or a delete answers the item that was there. */
export function returnsOld(input: Input): boolean {
  const wanted = returnValues(input);
  if (wanted === "ALL_OLD" || wanted === "NONE") return wanted === "ALL_OLD";
  throw invalid("ReturnValues can only be ALL_OLD or NONE");
}
