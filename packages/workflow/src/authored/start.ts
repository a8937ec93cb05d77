import { z } from "zod";
import { nodeFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";
import { labels } from "./normalised.ts";

export const AuthoredStart = z
  .strictObject({ ...nodeFields, type: z.enum(["start", "StartNode"]).describe("Where a run begins.") })
  .describe("Where a run begins. A workflow has exactly one, with one edge out and none in.");
export type AuthoredStart = z.input<typeof AuthoredStart>;

export const startKind: PlainKind<typeof AuthoredStart> = {
  type: "start",
  schema: AuthoredStart,
  edgesIn: "none",
  edgesOut: "one",
  runsCode: false,
  normalise: (authored) => ({ ...labels(authored), type: "start" }),
};
