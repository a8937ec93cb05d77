import { isReserved } from "../authored/field-check.ts";
import { at, type Finding, finding, formatValue } from "../findings/finding.ts";
import { checkSchema } from "../inputs/check-schema.ts";
import { isObject } from "../json/exact.ts";
import type { LockedCode } from "../lock/lock-file.ts";
import type { Document } from "../parse/document.ts";
import type { WorkflowSource } from "../parse/read.ts";
import { dueAfter, parseExpression } from "../schedule/expression.ts";
import { brokenGap, pathsIn, templateParts } from "../template/template.ts";
import { codeInDefinition, type Workflow } from "../workflow.ts";
import { executorOf, type Outline } from "./outline.ts";

/** Checks that `inputs` is the JSON schema of an object, with `secret` only where it takes effect. */
export function* checkInputs({ body, pathOf, exactly }: Document): Iterable<Finding> {
  const { inputs } = body;
  if (!isObject(inputs)) return;
  const path = pathOf("inputs");
  if (inputs.type !== undefined && inputs.type !== "object") {
    const message = `inputs: a context is an object, so type is "object" and not ${formatValue(inputs.type)} - remove type`;
    yield finding("NOVA501", at(path, "type"), message);
    return;
  }
  for (const key of isObject(inputs.properties) ? Object.keys(inputs.properties) : []) {
    if (!isReserved(key)) continue;
    yield finding("NOVA502", at(path, "properties", key), `inputs: the key "${key}" is reserved for NOVA - rename it`);
  }
  const { problems, secrets } = checkSchema(exactly(path));
  for (const { segments, message } of problems) yield finding("NOVA501", at(path, ...segments), `inputs: ${message}`);
  for (const segments of secrets) {
    // `secret` has an effect only on a whole key of the context: at `properties.<key>.secret`.
    if (segments[0] === "properties" && segments[2] === "secret") continue;
    const message = "secret has an effect only directly in properties.<key> - move it to the key that holds the value";
    yield finding("NOVA503", at(path, ...segments), `inputs: ${message}`);
  }
}

/** Returns the keys of the initial context that the workflow's `inputs` mark with `secret: true`. */
export function secretKeys({ inputs: written }: { inputs?: unknown }): Set<string> {
  const inputs: unknown = typeof written === "string" ? JSON.parse(written) : written;
  const properties = isObject(inputs) && isObject(inputs.properties) ? Object.entries(inputs.properties) : [];
  return new Set(properties.flatMap(([key, schema]) => (isObject(schema) && schema.secret === true ? [key] : [])));
}

/** Reports NOVA511: fields that name a secret input although NOVA stores their values unmasked. */
export function* checkSecretPaths(outlines: readonly Outline[], inputs: unknown): Iterable<Finding> {
  const secrets = isObject(inputs) ? [...secretKeys({ inputs })] : [];
  if (secrets.length === 0) return;
  for (const { id, node, path } of outlines.flatMap(({ nodes }) => nodes)) {
    if (node?.type !== "map" && !(node?.type === "wait" && node.for.kind === "event")) continue;
    const field = node.type === "map" ? "items are" : "event patterns are";
    for (const { place, shown: named, path: dotPath } of pathsIn(node, path)) {
      const secret = secrets.find((key) => dotPath === key || dotPath.startsWith(`${key}.`));
      if (secret === undefined) continue;
      const message = `node "${id}" names ${named}, but "${secret}" is a secret input and ${field} stored in the open - name a value that is not secret`;
      yield finding("NOVA511", place, message);
    }
  }
}

/** The parts of a requirement (PEP 508): a name with extras, then versions or an https address, then a marker. */
const name = "[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*";
const extras = `(?: *\\[ *(?:${name}(?: *, *${name})*)? *\\])?`;
const version = " *(?:===|[~=!<>]=|[<>]) *v?[0-9][A-Za-z0-9.*+!_-]*";
const versions = `${version}(?: *,${version})*`;
const marker = `(?:;[\\w .'"()<>=!~,+*-]+)?`;
const packaged = new RegExp(`^ *${name}${extras}(?:${versions}| *\\(${versions} *\\))? *${marker}$`);
const addressed = new RegExp(`^ *${name}${extras} *@ *https://[!-~]+(?: +${marker})?$`);

/** Matches names that pip takes for a local file. */
const archive = /\.(?:whl|zip|tgz|tar|tbz|txz|tlz|tar\.(?:gz|bz2|xz|lz|lzma)) *(?:\[|;|$)/i;
const wheel = /^\/\P{Cc}+\.whl$/u;

const wayOut = "write a package such as pandas==2.2, with extras and a marker where needed, or name @ https://...";

/**
 * Checks that every requirement asks for one package. A requirement must contain no option of pip, no line break and no
 * file on the server.
 */
export function* checkRequirements({ body, pathOf }: Document, source: WorkflowSource): Iterable<Finding> {
  if (!Array.isArray(body.requirements)) return;
  for (const [index, line] of body.requirements.entries()) {
    if (typeof line !== "string" || line.trim() === "" || asksForPackage(line)) continue;
    const isWheel = wheel.test(line);
    if (isWheel && !source.isSent) continue;
    const problem = isWheel ? "is a file, which a definition that was sent cannot name" : "is no pip requirement";
    yield finding(
      "NOVA114",
      at(pathOf("requirements"), index),
      `requirements: ${formatValue(line)} ${problem} - ${wayOut}`,
    );
  }
}

function asksForPackage(line: string): boolean {
  return addressed.test(line) || (packaged.test(line) && !archive.test(line));
}

/**
 * Warns of schedules that are never due after `nowMs`. The parser does not check this, so that a definition stays valid
 * for ever.
 */
export function pastTimes({ triggers = [] }: Pick<Workflow, "triggers">, nowMs: number): Finding[] {
  return triggers.flatMap((trigger, index) => {
    if (trigger.type !== "schedule" || trigger.when.kind === "every") return [];
    const { when, timezone: zone = "UTC" } = trigger;
    const [field, written] = when.kind === "at" ? ["at", when.at] : ["cron", when.cron];
    const expression = parseExpression(`${field}(${written})`, zone);
    if (!expression || dueAfter(expression, 0, nowMs) !== undefined) return [];
    const message = `trigger "${trigger.id}" is due at ${written} (${zone}), which is in the past - write a future time, or remove the trigger`;
    return [finding("NOVA129", `$.triggers[${index}].${field}`, message)];
  });
}

/** Reports NOVA417 and NOVA511: labels whose templates have wrong double braces or name a secret input. */
export function* checkLabels({ body, pathOf }: Document): Iterable<Finding> {
  if (!isObject(body.labels)) return;
  const secrets = secretKeys({ inputs: body.inputs });
  for (const [name, template] of Object.entries(body.labels)) {
    if (typeof template !== "string") continue;
    const place = at(pathOf("labels"), name);
    const broken = brokenGap(template);
    if (broken !== undefined) {
      const sentence = `label "${name}" has ${JSON.stringify(broken)}, which is not a {{dot.path}} - write one such as {{order.id}}`;
      yield finding("NOVA417", place, sentence);
    }
    for (const part of templateParts(template)) {
      if (part.kind !== "path") continue;
      const secret = [...secrets].find((key) => part.path === key || part.path.startsWith(`${key}.`));
      if (secret === undefined) continue;
      const message = `label "${name}" names {{${part.path}}}, but "${secret}" is a secret input and labels are stored in the open - name a value that is not secret`;
      yield finding("NOVA511", place, message);
    }
  }
}

/** Reports NOVA442: nodes that ask a model although the workflow or the server forbids models. */
export function* checkModels(
  outlines: readonly Outline[],
  models: false | undefined,
  { modelsOff }: WorkflowSource,
  locked: Readonly<Record<string, LockedCode>> = {},
): Iterable<Finding> {
  if (models !== false && !modelsOff) return;
  const why = models === false ? '"models": false of the workflow forbids that' : "NOVA_MODELS is off here";
  const otherwise = models === false ? "remove one of the two" : "unset NOVA_MODELS";
  for (const node of outlines.flatMap(({ nodes }) => nodes)) {
    const { id, path } = node;
    const executor = executorOf(node);
    const kind = executor?.kind ?? "code";
    if (codeInDefinition(executor) || kind === "code" || (kind === "prompt" && Object.hasOwn(locked, id))) continue;
    const wayOut = kind === "prompt" ? "lock its code with nova lock, or write it" : otherwise;
    yield finding("NOVA442", at(path, "executor"), `node "${id}" asks a model, and ${why} - ${wayOut}`);
  }
}
