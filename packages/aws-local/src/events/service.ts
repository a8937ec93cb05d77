import { AwsError, constraint } from "../aws-http/aws-error.ts";
import { arnOf, type Request } from "../aws-http/request.ts";
import type { Deliveries } from "../deliveries.ts";
import type { KeyedFile } from "../disk/keyed-file.ts";
import type { JsonObject } from "../json.ts";

/**
 * Checks and matches event patterns. The emulator has no implementation of their language: the caller of `openEvents`
 * passes its own.
 */
export interface EventPatterns {
  /** Returns the problems of a pattern. Each message continues a sentence that starts with "it". */
  check(pattern: JsonObject): Iterable<{ message: string }>;
  matches(pattern: JsonObject, event: JsonObject): boolean;
}

/** A target of a rule, in EventBridge's own fields. */
export interface Target {
  Id: string;
  Arn: string;
  /** A text with the variable `<aws.events.event.json>`, in whose place the event is inserted. */
  InputTransformer?: { InputTemplate: string };
}

export interface Rule {
  name: string;
  bus: string;
  /** JSON text, as the client sent it. */
  pattern: string;
  state: "ENABLED" | "DISABLED";
  targets: Target[];
}

/** A rule that belongs to the deployment: no request changes it. */
export interface StandingRule {
  pattern: JsonObject;
  functionArn: string;
  /** Whether the function gets its events one after the other, as from a FIFO queue with one consumer. */
  inTurn?: boolean;
}

/** The state that operations work on. */
export interface EventService {
  rules: KeyedFile<Rule>;
  patterns: EventPatterns;
  /** The custom bus, in addition to `default`. */
  customBus: string;
  /** Rules of the custom bus that belong to the deployment: no request changes them. */
  standing: readonly StandingRule[];
  deliveries: Deliveries;
  now(): number;
}

/** Operations by their names in EventBridge's API. */
export type EventOperations = Record<string, (service: EventService, request: Request) => object>;

export function ruleKey({ bus, name }: Pick<Rule, "bus" | "name">): string {
  return `${bus}/${name}`;
}

/** A valid name of a rule (EventBridge, "PutRule"). */
const ruleName = /^[.\-_A-Za-z0-9]{1,64}$/;

/**
 * Returns the bus and the name of the rule in a request; `field` is the field with the name. Throws
 * `ResourceNotFoundException` if the bus is unknown.
 */
export function readRuleName(service: Pick<EventService, "customBus">, request: Request, field: "Name" | "Rule") {
  const bus = readBus(service, request.optionalText("EventBusName"));
  const name = request.text(field);
  if (ruleName.test(name)) return { bus, name };
  const rule = "must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+ and have 1 to 64 characters";
  throw constraint(field, name, rule);
}

/**
 * Returns the name of the bus that a request gives by its name or its ARN. Throws `ResourceNotFoundException` for an
 * unknown bus.
 */
export function readBus({ customBus }: Pick<EventService, "customBus">, given = "default"): string {
  const name = given.startsWith("arn:") ? given.slice(given.indexOf("/") + 1) : given;
  if ([customBus, "default"].includes(name)) return name;
  throw new AwsError("ResourceNotFoundException", `Event bus ${name} does not exist.`);
}

export function rulesOf({ rules }: Pick<EventService, "rules">, bus: string): Rule[] {
  return rules.all().filter((rule) => rule.bus === bus);
}

/** Returns the rule that the request names. Throws `ResourceNotFoundException`. */
export function findRule(service: EventService, request: Request): Rule {
  const place = readRuleName(service, request, "Rule");
  const rule = service.rules.get(ruleKey(place));
  if (rule) return rule;
  throw new AwsError("ResourceNotFoundException", `Rule ${place.name} does not exist on EventBus ${place.bus}.`);
}

export function ruleArn({ bus, name }: Pick<Rule, "bus" | "name">): string {
  return arnOf("events", `rule/${bus === "default" ? "" : `${bus}/`}${name}`);
}

/** The only variable of EventBridge that is served (User Guide, "Input transformation"): the event as JSON text. */
export const eventVariable = "<aws.events.event.json>";

/** Returns the target's input as JSON text. */
export function inputOf({ InputTransformer }: Target, event: string): string {
  return InputTransformer?.InputTemplate.replaceAll(eventVariable, () => event) ?? event;
}
