import { triggerKindOf, triggerTypes } from "../authored/triggers.ts";
import { at, type Finding, finding, formatValue, unknownType, type WrittenPlace } from "../findings/finding.ts";
import { type Exactly, isObject } from "../json/exact.ts";
import type { Trigger } from "../workflow.ts";
import type { Document } from "./document.ts";
import { findingsOf } from "./issues.ts";

const codes = { id: "NOVA121", client: "NOVA126" } as const;

/**
 * Reads each trigger separately, then checks that no two triggers have the same id or address. Returns the correct
 * triggers.
 */
export function readTriggers({ body, pathOf, exactly }: Document): { triggers: Trigger[]; findings: Finding[] } {
  const written = Array.isArray(body.triggers) ? body.triggers : [];
  const ids = idsOf(written);
  const read = written.map((one, index) => readTrigger(one, ids[index] ?? "", at(pathOf("triggers"), index), exactly));
  const findings = [...read.flatMap((one) => one.findings), ...checkAlike(read)];
  return { triggers: read.flatMap(({ trigger }) => trigger ?? []), findings };
}

interface ReadTrigger {
  path: string;
  trigger?: Trigger;
  findings: Finding[];
}

function readTrigger(value: unknown, id: string, path: string, exactly: Exactly): ReadTrigger {
  if (!isObject(value)) {
    const message = `a trigger must be an object such as { "type": "mail", "address": "invoices" }, not ${formatValue(value)}`;
    return { path, findings: [finding("NOVA104", path, message)] };
  }
  const name = typeof value.id === "string" ? `trigger "${value.id}"` : `the trigger at ${path}`;
  const kind = triggerKindOf(value.type);
  if (!kind) return { path, findings: [unknownType("NOVA120", value.type, triggerTypes, { name, path })] };
  const endless = [...checkNumbers(value, { name, path })];
  if (endless.length > 0) return { path, findings: endless };
  const parsed = kind.schema.safeParse(value);
  const subject = { name, value, path, schema: kind.schema, codes: { ...codes, ...kind.codes } };
  const findings = parsed.success ? [] : findingsOf(parsed.error.issues, subject);
  findings.push(...(kind.check?.(value, { name, path }) ?? []));
  if (!parsed.success) return { path, findings };
  const trigger = kind.normalise(parsed.data, id, (field) => exactly(at(path, field)));
  return { path, trigger, findings: [...findings, ...checkTriggerSize(trigger, path), ...checkDedupe(trigger, path)] };
}

function idsOf(written: unknown[]): string[] {
  const counts = new Map<unknown, number>();
  return written.map((one) => {
    const { id, type } = isObject(one) ? one : {};
    counts.set(type, (counts.get(type) ?? 0) + 1);
    return typeof id === "string" ? id : `${type}-${counts.get(type)}`;
  });
}

function checkAlike(read: ReadTrigger[]): Finding[] {
  const seen = new Set<string>();
  return read.flatMap(({ trigger, path }) => {
    if (!trigger) return [];
    const marks = [`the id "${trigger.id}"`, ...(trigger.type === "mail" ? [`the address "${trigger.address}"`] : [])];
    const twice = marks.find((mark) => seen.has(mark));
    for (const mark of marks) seen.add(mark);
    return twice === undefined ? [] : [finding("NOVA121", path, `two triggers have ${twice} - change one of them`)];
  });
}

/**
 * Warns if a signed webhook identifies its deliveries by a header. No signature covers headers, so anyone could repeat
 * a signed request with another header.
 */
function checkDedupe(trigger: Trigger, path: string): Finding[] {
  if (trigger.type !== "webhook" || !trigger.signature || !trigger.dedupe?.startsWith("headers.")) return [];
  const problem = `dedupe names ${trigger.dedupe}, and no signature is over headers, so the body counts`;
  const wayOut = "name an id in the body, or leave dedupe out where equal bodies are deliveries of their own";
  return [finding("NOVA132", at(path, "dedupe"), `trigger "${trigger.id}": ${problem} - ${wayOut}`)];
}

/** Reports numbers that no node could read: Python and JavaScript turn 1e400 into infinity. */
function* checkNumbers(value: unknown, { name, path }: WrittenPlace): Iterable<Finding> {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    const message = `${name} has a number beyond 1.8e308, which no node could read - write it as a text`;
    yield finding("NOVA104", path, message);
  } else if (typeof value === "object" && value !== null) {
    const steps = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [step, inside] of steps) yield* checkNumbers(inside, { name, path: at(path, step) });
  }
}

/**
 * Maximum number of bytes of a trigger as JSON in UTF-8. A DynamoDB item has at most 400 KB, and some values need 1.5
 * times as many bytes there.
 */
const longestBytes = 250_000;

function checkTriggerSize(trigger: Trigger, path: string): Finding[] {
  const bytes = Buffer.byteLength(JSON.stringify(trigger));
  if (bytes <= longestBytes) return [];
  const size = `${bytes.toLocaleString("en")} bytes, and NOVA keeps up to ${longestBytes.toLocaleString("en")}`;
  const message = `trigger "${trigger.id}" has ${size} - move long values into a node, or a file beside it`;
  return [finding("NOVA130", path, message)];
}
