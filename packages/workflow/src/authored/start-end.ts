import { z } from "zod";
import { defined } from "../defined.ts";
import { fanOutFields, nodeFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";

export const AuthoredStart = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["start", "StartNode"]).describe("The first node of a run."),
    ...fanOutFields,
  })
  .describe("The first node of a run. A workflow has exactly one, without an incoming edge.");

export const startKind: PlainKind<typeof AuthoredStart> = {
  type: "start",
  schema: AuthoredStart,
  edgesIn: "none",
  edgesOut: "one",
  holds: "nothing",
  normalise: (same) => defined({ ...same, type: "start" as const }),
};

export const AuthoredEnd = z
  .strictObject({ ...nodeFields, type: z.enum(["end", "EndNode"]).describe("The last node of a run.") })
  .describe("The last node of a run. A workflow has at least one; no edge leaves it.");

export const endKind: PlainKind<typeof AuthoredEnd> = {
  type: "end",
  schema: AuthoredEnd,
  edgesIn: "any",
  edgesOut: "none",
  holds: "nothing",
  normalise: (same) => defined({ ...same, type: "end" as const }),
};
