import { z } from "zod";
import { nodeFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";
import { labels } from "./normalised.ts";

export const AuthoredEnd = z
  .strictObject({ ...nodeFields, type: z.enum(["end", "EndNode"]).describe("Where a run ends.") })
  .describe("Where a run ends. A workflow has at least one; no edge leaves it.");
export type AuthoredEnd = z.input<typeof AuthoredEnd>;

export const endKind: PlainKind<typeof AuthoredEnd> = {
  type: "end",
  schema: AuthoredEnd,
  edgesIn: "any",
  edgesOut: "none",
  holds: "nothing",
  normalise: (authored) => ({ ...labels(authored), type: "end" }),
};
