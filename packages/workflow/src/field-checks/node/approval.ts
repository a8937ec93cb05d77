import { type Finding, finding } from "../../findings/finding.ts";
import { at } from "../../findings/text.ts";
import type { WrittenPlace } from "../../findings/written.ts";
import { defaultLabel, timeoutLabel } from "../../graph/edges.ts";
import { isObject } from "../../json/value.ts";
import { brokenGap } from "../../template/template.ts";
import { checkAnswerSchema, checkOwnKey, type FieldCheck, type FieldPlace } from "./field-check.ts";

export const checkApproval: FieldCheck = function* (node, place) {
  yield* checkTemplate(node.message, place);
  yield* checkChoices(node.choices, place);
  yield* checkForms(node, place);
  yield* checkOwnKey(node, place);
};

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

/** A task is one item of the table and holds all forms. */
const maxFormsCharacters = 100_000;

function* checkForms({ form, forms }: Record<string, unknown>, place: FieldPlace): Iterable<Finding> {
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
