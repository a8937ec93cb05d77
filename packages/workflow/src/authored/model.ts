import { z } from "zod";
import type { ModelChoice } from "../workflow.ts";
import { filledText } from "./fields.ts";

const error = 'must be the id of a model, or an object such as { "code_generator": "gpt-5.1" }';

const forRole = (role: string) => filledText(`Model that ${role}.`).optional();

const byRole = z.strictObject(
  {
    input_analyzer: forRole("looks at the task and the shape of the data"),
    data_analyzer: forRole("writes code that looks at the data itself"),
    code_generator: forRole("writes the code"),
    output_validator: forRole("judges what the code has done"),
  },
  { error },
);

/** One model for every role, or some by role; comes out by role. */
export function modelChoice(description: string) {
  return z
    .union([z.string({ error }).regex(/\S/, { error }), byRole], { error })
    .transform((written, context): ModelChoice => {
      if (typeof written === "string") return { default: written };
      const roles = Object.entries(written).filter(([, model]) => model !== undefined);
      const isEmpty = roles.length === 0 && context.issues.length === 0;
      if (isEmpty) context.addIssue({ code: "custom", message: error, input: written });
      return Object.fromEntries(roles);
    })
    .describe(description);
}
