import { AwsError, constraint } from "../aws-http/aws-error.ts";
import type { Request } from "../aws-http/request.ts";
import { accountId } from "../aws-http/request.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { KeyedFile } from "../disk/whole-file.ts";
import { type Rule, ruleKey, type StandingRule } from "./rules.ts";

/** What the operations work on. */
export interface EventService {
  rules: KeyedFile<Rule>;
  standing: readonly StandingRule[];
  deliveries: Deliveries;
  /** Names of the buses that there are. */
  buses: readonly string[];
  region: string;
  now(): number;
}

export type EventOperation = (service: EventService, request: Request) => object;

/** EventBridge, "PutRule": what a name of a rule is. */
const ruleName = /^[.\-_A-Za-z0-9]{1,64}$/;

export function ruleNameIn(request: Request, field: "Name" | "Rule"): string {
  const name = request.text(field);
  if (ruleName.test(name)) return name;
  throw constraint(
    field,
    name,
    "must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+ and have 1 to 64 characters",
  );
}

/** Name of the bus, which may be given by its ARN. Throws `ResourceNotFoundException`. */
export function busIn({ buses }: Pick<EventService, "buses">, given = "default"): string {
  const name = given.startsWith("arn:") ? given.slice(given.indexOf("/") + 1) : given;
  if (buses.includes(name)) return name;
  throw absent(`Event bus ${name} does not exist.`);
}

export function rulesOf({ rules }: Pick<EventService, "rules">, bus: string): Rule[] {
  return rules.all().filter((rule) => rule.bus === bus);
}

/** Throws `ResourceNotFoundException`. */
export function ruleIn(service: EventService, request: Request, field: "Name" | "Rule"): Rule {
  const bus = busIn(service, request.optionalText("EventBusName"));
  const name = ruleNameIn(request, field);
  const rule = service.rules.get(ruleKey({ bus, name }));
  if (!rule) throw absent(`Rule ${name} does not exist on EventBus ${bus}.`);
  return rule;
}

export function busArn({ region }: EventService, name: string): string {
  return `arn:aws:events:${region}:${accountId}:event-bus/${name}`;
}

export function ruleArn({ region }: EventService, { bus, name }: Pick<Rule, "bus" | "name">): string {
  return `arn:aws:events:${region}:${accountId}:rule/${bus === "default" ? "" : `${bus}/`}${name}`;
}

function absent(message: string): AwsError {
  return new AwsError("ResourceNotFoundException", message);
}
