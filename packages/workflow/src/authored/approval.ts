import { z } from "zod";
import { defined } from "../defined.ts";
import { contextKey, duration, filledText, jsonSchema, NodeId, nodeFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";

export const AuthoredApproval = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["approval"]).describe("Asks people and continues with their answer."),
    message: filledText("The question. `{{dot.path}}` stands for a value of the context: `{{invoice.total}}`."),
    form: jsonSchema(
      "JSON schema of the data that comes with an answer; an answer that does not fit is refused.",
    ).optional(),
    forms: z
      .record(z.string(), jsonSchema("Form of this choice."), {
        error: "must have a JSON schema for each choice that it names",
      })
      .describe(
        'Forms of single choices, instead of `form`: `{"approved": {...}, "rejected": {...}}`. A choice without one has `form`.',
      )
      .optional(),
    choices: z
      .array(filledText("One possible answer."), { error: 'must be a list such as ["approved", "rejected"]' })
      .min(1, { error: "must have at least one choice" })
      .describe("The possible answers. Each has an edge with it as its condition, or a `default` edge catches it.")
      .prefault(["approved", "rejected"]),
    timeout: duration(
      "How long to wait for an answer: seconds, or `90s`, `15m`, `12h`, `3d`, at most a year. Then the edge `timeout` is taken, else `default`, else the node fails.",
    ).prefault("7d"),
    to: z
      .array(filledText("A name or address."), { error: 'must be a list such as ["manager@example.com"]' })
      .describe(
        "The people concerned. Mail addresses get a mail; lists of tasks and the event `execution.waiting` contain all of them.",
      )
      .prefault([]),
    into: contextKey(
      "Key of the answer in the context: `choice`, `data`, `by`, `at`, `from`. Absent: the node's id.",
    ).optional(),
    onError: NodeId.describe("Node that continues after a failure of this one, instead of failing the run.").optional(),
  })
  .describe("Asks people and waits for the answer, with no sandbox meanwhile; each choice has an edge.");

export const approvalKind: PlainKind<typeof AuthoredApproval> = {
  type: "approval",
  schema: AuthoredApproval,
  edgesIn: "any",
  edgesOut: "choices",
  holds: "nothing",
  codes: { choices: "NOVA410", form: "NOVA416", forms: "NOVA416", timeout: "NOVA409", into: "NOVA418" },
  normalise: ({ timeout, into, form, forms, ...same }, exactly) =>
    defined({
      ...same,
      form: form && exactly("form"),
      forms: forms && Object.fromEntries(Object.keys(forms).map((choice) => [choice, exactly("forms", choice)])),
      timeoutSeconds: timeout,
      into: into ?? same.id,
    }),
};
