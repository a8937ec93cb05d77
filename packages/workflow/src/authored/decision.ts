import { z } from "zod";
import { nodeFields } from "./fields.ts";
import type { TaskKind } from "./kind.ts";
import { labels, taskSettings } from "./normalised.ts";
import { taskFields } from "./task.ts";

export const AuthoredDecision = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["decision", "DecisionNode"]).describe("Chooses the edge to go on with."),
    ...taskFields,
  })
  .describe(
    'Chooses the edge to go on with: its code sets `context["branch_decision"]`, and every edge out of it has a condition.',
  );
export type AuthoredDecision = z.input<typeof AuthoredDecision>;

export const decisionKind: TaskKind<typeof AuthoredDecision> = {
  type: "decision",
  schema: AuthoredDecision,
  edgesIn: "any",
  edgesOut: "conditions",
  holds: "code",
  normalise: (authored, source) => ({ ...labels(authored), type: "decision", ...taskSettings(authored, source) }),
};
