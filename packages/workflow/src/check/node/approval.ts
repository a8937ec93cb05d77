import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/path.ts";
import { defaultLabel, timeoutLabel } from "../../graph/condition.ts";
import { checkSchema } from "../../inputs/check-schema.ts";
import { isObject } from "../../parse/loose.ts";
import { brokenGap } from "../../template/template.ts";
import type { FieldCheck, NodePlace } from "./field-check.ts";
import { checkOwnKey } from "./key.ts";

export const checkApproval: FieldCheck = function* (node, place) {
  yield* checkTemplate(node.message, place);
  yield* checkChoices(node.choices, place);
  yield* checkForm(node.form, place);
  yield* checkOwnKey(node, place);
};

function* checkTemplate(message: unknown, { name, path }: NodePlace): Iterable<Finding> {
  const broken = typeof message === "string" ? brokenGap(message) : undefined;
  if (broken === undefined) return;
  const sentence = `${name}: message has ${JSON.stringify(broken)}, which is no {{dot.path}} - write such as {{invoice.total}}, or single braces`;
  yield finding("NOVA417", at(path, "message"), sentence);
}

function* checkChoices(choices: unknown, { name, path }: NodePlace): Iterable<Finding> {
  if (!Array.isArray(choices)) return;
  for (const [index, choice] of choices.entries()) {
    const place = at(path, "choices", index);
    if (choice === defaultLabel || choice === timeoutLabel) {
      const message = `${name}: the choice "${choice}" is the name of an edge that is taken without one - use another word`;
      yield finding("NOVA410", place, message);
    } else if (typeof choice === "string" && choices.indexOf(choice) < index) {
      yield finding("NOVA410", place, `${name}: the choice "${choice}" is there twice - remove one of the two`);
    }
  }
}

function* checkForm(form: unknown, { name, path }: NodePlace): Iterable<Finding> {
  if (!isObject(form)) return;
  const place = at(path, "form");
  const { problems, secrets } = checkSchema(form);
  for (const { segments, message } of problems) {
    yield finding("NOVA416", at(place, ...segments), `${name}: form: ${message}`);
  }
  for (const segments of secrets) {
    const message = `${name}: form: secret keeps nothing here, because answers are in the chain of work - remove it`;
    yield finding("NOVA416", at(place, ...segments), message);
  }
}
