import { z } from "zod";
import { numberBetween, text } from "./fields.ts";

const conditionError = "must be a text, a number below 1e15, true or false";

/** Below this limit every whole number is an exact double. */
const ConditionNumber = z
  .number({ error: conditionError })
  .gt(-1e15, { error: conditionError })
  .lt(1e15, { error: conditionError });

export const AuthoredEdge = z
  .strictObject(
    {
      from: text("Id of the node that the edge leaves."),
      to: text("Id of the node that the edge leads to."),
      condition: z
        .union([z.string(), z.boolean(), ConditionNumber], { error: conditionError })
        .describe(
          "On edges out of a decision or an approval, and only there: the value of `branch_decision`, or the choice, that takes this edge. " +
            '`true` and `"true"` are the same; `"default"` catches every other value, `"timeout"` an approval without an answer in time.',
        )
        .optional(),
      max: numberBetween("whole", 1, 1000, "must be a whole number from 1 to 1000")
        .describe(
          "On an edge out of a decision or an approval that leads back to an earlier node, or into a detour that does, and only there: how often it may be taken, 1 to 1000, " +
            'before the run continues along `"default"`, or fails without such an edge.',
        )
        .optional(),
    },
    { error: 'must be an object such as { "from": "a", "to": "b" }' },
  )
  .describe("The way from one node to the next.");
export type AuthoredEdge = z.infer<typeof AuthoredEdge>;
