import { z } from "zod";
import { defined } from "../defined.ts";
import { fanOutFields, nodeFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";

export const AuthoredStart = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["start", "StartNode"]).describe("Where a run begins."),
    ...fanOutFields,
  })
  .describe("Where a run begins. A workflow has exactly one, with no edge in.");

export const startKind: PlainKind<typeof AuthoredStart> = {
  type: "start",
  schema: AuthoredStart,
  edgesIn: "none",
  edgesOut: "one",
  holds: "nothing",
  normalise: (same) => defined({ ...same, type: "start" as const }),
};

export const AuthoredEnd = z
  .strictObject({ ...nodeFields, type: z.enum(["end", "EndNode"]).describe("Where a run ends.") })
  .describe("Where a run ends. A workflow has at least one; no edge leaves it.");

export const endKind: PlainKind<typeof AuthoredEnd> = {
  type: "end",
  schema: AuthoredEnd,
  edgesIn: "any",
  edgesOut: "none",
  holds: "nothing",
  normalise: (same) => defined({ ...same, type: "end" as const }),
};
