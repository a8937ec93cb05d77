import { z } from "zod";
import { fanOutFields, nodeFields } from "./fields.ts";
import type { TaskKind } from "./kind.ts";
import { labels, optional, taskSettings } from "./normalised.ts";
import { taskFields } from "./task.ts";

export const AuthoredAction = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["action", "ActionNode"]).describe("One step of work."),
    ...taskFields,
    ...fanOutFields,
  })
  .describe("One step of work: its code reads and changes `context`.");
export type AuthoredAction = z.input<typeof AuthoredAction>;

export const actionKind: TaskKind<typeof AuthoredAction> = {
  type: "action",
  schema: AuthoredAction,
  edgesIn: "any",
  edgesOut: "one",
  holds: "code",
  normalise: (authored, source) => ({
    ...labels(authored),
    type: "action",
    ...taskSettings(authored, source),
    ...optional("merge", authored.merge),
  }),
};
