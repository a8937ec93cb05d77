import { triggerKindOf, triggerTypes } from "../authored/triggers/kinds.ts";
import { checkDedupe, checkNumbers, checkTriggerSize } from "../field-checks/trigger.ts";
import { type Finding, finding } from "../findings/finding.ts";
import { at, formatValue } from "../findings/text.ts";
import { unknownType } from "../findings/written.ts";
import type { Exactly } from "../json/exact.ts";
import { isObject } from "../json/value.ts";
import type { Trigger } from "../trigger.ts";
import type { Document } from "./document.ts";
import { findingsOf } from "./issues.ts";

const codes = { id: "NOVA121", client: "NOVA126" } as const;

/** Reads each trigger separately, then checks that they differ. Returns the correct ones. */
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

/** Returns the ids: as written, or the type and a number. */
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
