import { AwsError, constraint } from "../aws-http/aws-error.ts";
import type { Request } from "../aws-http/request.ts";
import { arnOf } from "../aws-http/request.ts";
import type { Deliveries } from "../deliveries.ts";
import type { KeyedFile } from "../disk/keyed-file.ts";
import type { JsonObject } from "../json.ts";

/** Reads event patterns: the caller owns the language, the emulator has none of its own. */
export interface EventPatterns {
  /** Problems of a pattern; each message continues the sentence "it ...". */
  check(pattern: JsonObject): Iterable<{ message: string }>;
  matches(pattern: JsonObject, event: JsonObject): boolean;
}

/** What a rule invokes. */
export interface Target {
  Id: string;
  Arn: string;
  /** Text with `<aws.events...>` in the places of what only the event says. */
  InputTransformer?: { InputTemplate: string };
}

export interface Rule {
  name: string;
  bus: string;
  /** JSON text, as it was put. */
  pattern: string;
  state: "ENABLED" | "DISABLED";
  targets: Target[];
}

/** A rule that is part of a deployment: no call changes it. */
export interface StandingRule {
  pattern: JsonObject;
  functionArn: string;
  /** One delivery after the other, as of a FIFO queue with one consumer. */
  inTurn?: boolean;
}

/** What the operations work on. */
export interface EventService {
  rules: KeyedFile<Rule>;
  patterns: EventPatterns;
  /** The custom bus, beside `default`. */
  customBus: string;
  /** Rules of the custom bus that no call changes. */
  standing: readonly StandingRule[];
  deliveries: Deliveries;
  now(): number;
}

/** By the names that the API of EventBridge has for them. */
export type EventOperations = Record<string, (service: EventService, request: Request) => object>;

export function ruleKey({ bus, name }: Pick<Rule, "bus" | "name">): string {
  return `${bus}/${name}`;
}

/** EventBridge, "PutRule": what a name of a rule is. */
const ruleName = /^[.\-_A-Za-z0-9]{1,64}$/;

/** Bus and name of the rule that `field` names. Throws `ResourceNotFoundException` for a bus that is not there. */
export function placeIn(service: Pick<EventService, "customBus">, request: Request, field: "Name" | "Rule") {
  const bus = busIn(service, request.optionalText("EventBusName"));
  const name = request.text(field);
  if (ruleName.test(name)) return { bus, name };
  const rule = "must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+ and have 1 to 64 characters";
  throw constraint(field, name, rule);
}

/** Name of the bus, which may be given by its ARN. Throws `ResourceNotFoundException`. */
export function busIn({ customBus }: Pick<EventService, "customBus">, given = "default"): string {
  const name = given.startsWith("arn:") ? given.slice(given.indexOf("/") + 1) : given;
  if ([customBus, "default"].includes(name)) return name;
  throw new AwsError("ResourceNotFoundException", `Event bus ${name} does not exist.`);
}

export function rulesOf({ rules }: Pick<EventService, "rules">, bus: string): Rule[] {
  return rules.all().filter((rule) => rule.bus === bus);
}

/** Throws `ResourceNotFoundException`. */
export function ruleIn(service: EventService, request: Request): Rule {
  const place = placeIn(service, request, "Rule");
  const rule = service.rules.get(ruleKey(place));
  if (rule) return rule;
  throw new AwsError("ResourceNotFoundException", `Rule ${place.name} does not exist on EventBus ${place.bus}.`);
}

export function ruleArn({ bus, name }: Pick<Rule, "bus" | "name">): string {
  return arnOf("events", `rule/${bus === "default" ? "" : `${bus}/`}${name}`);
}
