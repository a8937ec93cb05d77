import { z } from "zod";
import { defined } from "../defined.ts";
import { at, type Finding, finding, formatValue, type WrittenPlace } from "../findings/finding.ts";
import { defaultLabel, timeoutLabel } from "../graph/graph.ts";
import { isObject, type Loose } from "../json/exact.ts";
import { brokenGap } from "../template/template.ts";
import { AuthoredApprovers, approversOf, checkApprovers } from "./approvers.ts";
import { checkAnswerSchema, checkInputSchema, checkOwnKey, type FieldPlace } from "./field-check.ts";
import { contextKey, duration, filledText, jsonSchema, NodeId, nodeFields, toolFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";
import { PlainWebAddress } from "./on-failure.ts";

export const AuthoredApproval = z
  .strictObject({
    ...nodeFields,
    ...toolFields,
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
    approvers: AuthoredApprovers.describe(
      "Names the people who may answer, how many of them must, and who must not. NOVA proves who they are. Absent: any runner key may answer.",
    ).optional(),
    remind: z
      .array(duration("How long after the question: seconds, or `90s`, `15m`, `12h`, `3d`."), {
        error: 'must be a list such as ["1d", "3d"]',
      })
      .refine(({ length }) => length <= 10, { error: "must have at most 10 reminders" })
      .describe(
        "Times after the question at which NOVA reminds by mail those in `to` and the approvers without a vote.",
      )
      .optional(),
    notify: z
      .array(PlainWebAddress, { error: 'must be a list such as ["https://hooks.example.com/approvals"]' })
      .refine(({ length }) => length <= 10, { error: "must have at most 10 addresses" })
      .describe("Addresses to which NOVA posts the question as JSON, with a link to the task.")
      .optional(),
    into: contextKey(
      "Key of the answer in the context: `choice`, `data`, `by`, `at`, `from`. Absent: the node's id.",
    ).optional(),
    onError: NodeId.describe("Node that continues after a failure of this one, instead of failing the run.").optional(),
  })
  .describe("Asks people and waits for the answer, with no sandbox meanwhile; each choice has an edge.");

export const approvalKind: PlainKind<typeof AuthoredApproval> = {
  type: "approval",
  schema: AuthoredApproval,
  edgesOut: "choices",
  holds: "nothing",
  check: checkApproval,
  noRetry: "people answer it, and an answer is final; its timeout and onError say what happens without one",
  codes: {
    approvers: "NOVA431",
    remind: "NOVA409",
    choices: "NOVA410",
    form: "NOVA416",
    forms: "NOVA416",
    timeout: "NOVA409",
    into: "NOVA418",
  },
  normalise: ({ timeout, into, form, forms, approvers, remind, input_schema, ...same }, exactly) =>
    defined({
      ...same,
      inputSchema: input_schema && exactly("input_schema"),
      approvers: approvers && approversOf(approvers),
      remindSeconds: remind && [...new Set(remind)].sort((a, b) => a - b),
      form: form && exactly("form"),
      forms: forms && Object.fromEntries(Object.keys(forms).map((choice) => [choice, exactly("forms", choice)])),
      timeoutSeconds: timeout,
      into: into ?? same.id,
    }),
};

function* checkApproval(node: Loose, place: FieldPlace): Iterable<Finding> {
  yield* checkTemplate(node.message, place);
  yield* checkChoices(node.choices, place);
  yield* checkForms(node, place);
  yield* checkOwnKey(node, place);
  yield* checkApprovers(node.approvers, place);
  yield* checkReminders(node, place);
  yield* checkInputSchema(node, place);
}

function* checkReminders({ remind, timeout = "7d" }: Loose, { name, path }: WrittenPlace): Iterable<Finding> {
  const within = Seconds.safeParse(timeout).data;
  for (const [index, after] of Array.isArray(remind) ? remind.entries() : []) {
    const seconds = Seconds.safeParse(after).data;
    if (seconds === undefined || within === undefined || seconds < within) continue;
    const message = `${name}: a reminder after ${formatValue(after)} comes too late, because the timeout is ${formatValue(timeout)} - remind earlier`;
    yield finding("NOVA409", at(path, "remind", index), message);
  }
}

const Seconds = duration("Seconds.");

function* checkTemplate(message: unknown, { name, path }: WrittenPlace): Iterable<Finding> {
  const broken = typeof message === "string" ? brokenGap(message) : undefined;
  if (broken === undefined) return;
  const sentence = `${name}: message has ${JSON.stringify(broken)}, which is not a {{dot.path}} - write one such as {{invoice.total}}, or single braces`;
  yield finding("NOVA417", at(path, "message"), sentence);
}

function* checkChoices(choices: unknown, { name, path }: WrittenPlace): Iterable<Finding> {
  if (!Array.isArray(choices)) return;
  for (const [index, choice] of choices.entries()) {
    const place = at(path, "choices", index);
    if (choice === defaultLabel || choice === timeoutLabel) {
      const message = `${name}: the choice "${choice}" is the name of an edge that is taken without an answer - use another word`;
      yield finding("NOVA410", place, message);
    } else if (typeof choice === "string" && choices.indexOf(choice) < index) {
      yield finding("NOVA410", place, `${name}: the choice "${choice}" is there twice - remove one of the two`);
    }
  }
}

/**
 * Maximum number of characters of all forms together. The record of the task contains the forms, and is one DynamoDB
 * item.
 */
const maxFormsCharacters = 100_000;

function* checkForms({ form, forms }: Loose, place: FieldPlace): Iterable<Finding> {
  yield* checkForm(form, place, "form");
  if (!isObject(forms)) return;
  for (const [choice, own] of Object.entries(forms)) yield* checkForm(own, place, "forms", choice);
  const { length } = JSON.stringify([form, forms]);
  if (length <= maxFormsCharacters) return;
  const most = maxFormsCharacters.toLocaleString("en");
  const message = `${place.name}: its forms have ${length.toLocaleString("en")} characters, at most ${most} are taken - describe fewer fields`;
  yield finding("NOVA416", at(place.path, "forms"), message);
}

function* checkForm(form: unknown, { name, path, exactly }: FieldPlace, ...segments: string[]): Iterable<Finding> {
  if (!isObject(form)) return;
  const place = at(path, ...segments);
  yield* checkAnswerSchema("NOVA416", exactly(place), `${name}: ${segments.join(".")}`, place);
}
