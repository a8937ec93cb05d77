import { z } from "zod";
import { text } from "./fields.ts";

const maxError = "must be a whole number from 1 to 1000";

export const AuthoredEdge = z
  .strictObject(
    {
      from: text("Id of the node that the edge leaves."),
      to: text("Id of the node that the edge leads to."),
      condition: z
        .union([z.string(), z.boolean(), z.number()], { error: "must be a text, a number, true or false" })
        .describe(
          "On edges out of a decision or an approval, and only there: the value of `branch_decision`, or the choice, that takes this edge. " +
            '`true` and `"true"` are the same; `"default"` catches every other value, `"timeout"` an approval that nobody answered in time.',
        )
        .optional(),
      max: z
        .int({ error: maxError })
        .min(1, { error: maxError })
        .max(1000, { error: maxError })
        .describe(
          "On an edge out of a decision or an approval that leads back to an earlier node, or into a detour that does, and only there: how often it may be taken, 1 to 1000, " +
            'before the run goes on along `"default"`, or fails where there is none.',
        )
        .optional(),
    },
    { error: 'must be an object such as { "from": "a", "to": "b" }' },
  )
  .describe("The way from one node to the next.");
export type AuthoredEdge = z.infer<typeof AuthoredEdge>;
