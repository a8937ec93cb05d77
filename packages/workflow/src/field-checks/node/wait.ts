import { asIfBound, checkPattern, type PatternProblem, replaceTexts } from "../../event-pattern/pattern.ts";
import { type Finding, finding } from "../../findings/finding.ts";
import { at, formatValue } from "../../findings/text.ts";
import { checkOneOf, type WrittenPlace } from "../../findings/written.ts";
import { isObject } from "../../json/value.ts";
import { timeOf } from "../../schedule/zone.ts";
import { brokenGap, onlyPath, templateParts } from "../../template/template.ts";
import type { JsonObject } from "../../workflow.ts";
import { checkOutOfPlace, checkOwnKey, type FieldCheck } from "./field-check.ts";

export const checkWait: FieldCheck = function* (node, place) {
  yield* checkOneOf("NOVA413", ["seconds", "until", "event"], "what it waits for", node, place);
  if (node.event !== undefined) yield* checkOwnKey(node, place);
  else yield* checkOutOfPlace("NOVA413", ["timeout", "into", "since"], ofEvent, [node, place]);
  yield* checkUntil(node.until, place);
  yield* checkEvent(node.event, place);
};

const ofEvent = "belongs to a wait for an event - remove it, or add event";

function* checkUntil(until: unknown, { name, path }: WrittenPlace): Iterable<Finding> {
  if (typeof until !== "string" || until.trim() === "") return;
  if (onlyPath(until) !== undefined || timeOf(until) !== undefined) return;
  const message = `${name}: until is ${formatValue(until)}, which is not a time - write one such as 2026-01-31T09:00:00Z, or {{dot.path}} of one`;
  yield finding("NOVA414", at(path, "until"), message);
}

function* checkEvent(event: unknown, { name, path }: WrittenPlace): Iterable<Finding> {
  if (!isObject(event)) return;
  const problems = [...checkPattern(asIfBound(event as JsonObject)), ...templatesInNames(event)];
  for (const { segments, message } of problems) {
    yield finding("NOVA415", at(path, "event", ...segments), `${name}: the event pattern ${message}`);
  }
  const broken = brokenGapIn(event as JsonObject);
  if (broken !== undefined) {
    const message = `${name}: the event pattern has ${JSON.stringify(broken)}, which is not a {{dot.path}} - write one such as {{customer.id}}, or single braces`;
    yield finding("NOVA417", at(path, "event"), message);
  } else if (problems.length === 0 && !namesItsRun(event)) {
    const message = `${name}: one matching event wakes every run that waits here - add a field that identifies the run, such as "detail": { "customer": ["{{customer.id}}"] }`;
    yield finding("NOVA425", at(path, "event"), message);
  }
}

/**
 * True if the pattern contains a template. One inside `anything-but` does not count, because it matches the events of
 * all other runs.
 */
function namesItsRun(wanted: unknown): boolean {
  if (typeof wanted === "string") return templateParts(wanted).some(({ kind }) => kind === "path");
  if (Array.isArray(wanted)) return wanted.some(namesItsRun);
  return isObject(wanted) && Object.entries(wanted).some(([name, one]) => name !== "anything-but" && namesItsRun(one));
}

/** Reports templates in field names: only values are bound, so no event would match. */
function* templatesInNames(wanted: unknown, segments: PatternProblem["segments"] = []): Iterable<PatternProblem> {
  if (!isObject(wanted)) return;
  for (const [name, inner] of Object.entries(wanted)) {
    const place = [...segments, name];
    const wayOut = `write such as "customer": [${JSON.stringify(name)}]`;
    const message = `has a template as the name of a field, but templates are allowed only in values - ${wayOut}`;
    if (templateParts(name).some(({ kind }) => kind === "path")) yield { segments: place, message };
    yield* templatesInNames(inner, place);
  }
}

function brokenGapIn(pattern: JsonObject): string | undefined {
  let broken: string | undefined;
  replaceTexts(pattern, (text) => {
    broken ??= brokenGap(text);
    return text;
  });
  return broken;
}
