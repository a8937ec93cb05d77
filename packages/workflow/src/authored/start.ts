import { z } from "zod";
import { fanOutFields, nodeFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";
import { labels, optional } from "./normalised.ts";

export const AuthoredStart = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["start", "StartNode"]).describe("Where a run begins."),
    ...fanOutFields,
  })
  .describe("Where a run begins. A workflow has exactly one, with no edge in.");
export type AuthoredStart = z.input<typeof AuthoredStart>;

export const startKind: PlainKind<typeof AuthoredStart> = {
  type: "start",
  schema: AuthoredStart,
  edgesIn: "none",
  edgesOut: "one",
  holds: "nothing",
  normalise: (authored) => ({ ...labels(authored), type: "start", ...optional("merge", authored.merge) }),
};
