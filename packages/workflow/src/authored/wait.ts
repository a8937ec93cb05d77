import { z } from "zod";
import { defined } from "../defined.ts";
import { asIfBound, checkPattern, type PatternProblem, replaceTexts } from "../event-pattern/pattern.ts";
import { at, checkOneOf, type Finding, finding, formatValue, type WrittenPlace } from "../findings/finding.ts";
import { isObject, type JsonObject, type Loose } from "../json/exact.ts";
import { timeOf } from "../schedule/expression.ts";
import { brokenGap, onlyPath, templateParts } from "../template/template.ts";
import { checkOutOfPlace, checkOwnKey, type FieldPlace } from "./field-check.ts";
import { contextKey, duration, eventPattern, fanOutFields, filledText, NodeId, nodeFields } from "./fields.ts";
import type { PlainKind } from "./kind.ts";

export const AuthoredWait = z
  .strictObject({
    ...nodeFields,
    type: z.enum(["wait"]).describe("Continues later."),
    seconds: duration("How long: seconds, or `90s`, `15m`, `12h`, `3d`, at most a year.").optional(),
    until: filledText(
      "Until when: an ISO time with its zone (`2026-01-31T09:00:00Z`), or the `{{dot.path}}` of one in the context.",
    ).optional(),
    event: eventPattern(
      "For an event that fits this EventBridge event pattern. `{{dot.path}}` in its texts stands for a value that the context has when the wait begins.",
    ).optional(),
    since: z
      .enum(["start"], { error: 'must be "start"' })
      .describe(
        "With `event`: an event counts that came after the run's start, even before the wait. Absent: it does not.",
      )
      .optional(),
    timeout: duration(
      "With `event`: how long to wait for it, as in `seconds`; then the node fails. Absent: 7d.",
    ).optional(),
    into: contextKey("With `event`: key of the event in the context. Absent: the node's id.").optional(),
    onError: NodeId.describe("Node that continues after a failure of this one, instead of failing the run.").optional(),
    ...fanOutFields,
  })
  .describe(
    "Continues later: after a time, at a time, or with an event. Exactly one of `seconds`, `until` and `event`.",
  );

const aWeekSeconds = 604_800;

export const waitKind: PlainKind<typeof AuthoredWait> = {
  type: "wait",
  schema: AuthoredWait,
  edgesOut: "one",
  holds: "nothing",
  check: checkWait,
  noRetry: "nothing runs while it waits; its timeout and onError say what happens when nothing comes",
  codes: {
    seconds: "NOVA409",
    until: "NOVA414",
    event: "NOVA415",
    timeout: "NOVA409",
    into: "NOVA418",
    since: "NOVA413",
  },
  // `checkWait` ensures that exactly one of `seconds`, `until` and `event` is present.
  normalise: ({ seconds = 0, until, event, timeout = aWeekSeconds, into, since, ...same }) => {
    const time = until === undefined ? { kind: "seconds" as const, seconds } : { kind: "until" as const, until };
    if (event === undefined) return defined({ ...same, for: time });
    const waited = { kind: "event" as const, pattern: event, timeoutSeconds: timeout, into: into ?? same.id, since };
    return defined({ ...same, for: defined(waited) });
  },
};

function* checkWait(node: Loose, place: FieldPlace): Iterable<Finding> {
  yield* checkOneOf("NOVA413", ["seconds", "until", "event"], "what it waits for", node, place);
  if (node.event !== undefined) yield* checkOwnKey(node, place);
  else yield* checkOutOfPlace("NOVA413", ["timeout", "into", "since"], ofEvent, [node, place]);
  yield* checkUntil(node.until, place);
  yield* checkEvent(node.event, place);
}

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
 * Returns true if a template in the pattern identifies the run. A template inside `anything-but` does not identify it,
 * because such a pattern matches the events of other runs.
 */
function namesItsRun(wanted: unknown): boolean {
  if (typeof wanted === "string") return templateParts(wanted).some(({ kind }) => kind === "path");
  if (Array.isArray(wanted)) return wanted.some(namesItsRun);
  return isObject(wanted) && Object.entries(wanted).some(([name, one]) => name !== "anything-but" && namesItsRun(one));
}

/** Reports templates in field names: they are never replaced, so no event would match. */
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
