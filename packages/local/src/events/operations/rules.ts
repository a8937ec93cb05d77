import { checkPattern } from "@nova/workflow";
import { AwsError, validation } from "../../aws-http/aws-error.ts";
import { isObject, type Json } from "../../json.ts";
import { type Rule, ruleKey } from "../rules.ts";
import {
  busArn,
  busIn,
  type EventOperation,
  type EventService,
  ruleArn,
  ruleIn,
  ruleNameIn,
  rulesOf,
} from "../service.ts";

/** EventBridge, "Quotas": rules of a bus; the longest pattern. */
const maxRules = 300;
const maxPattern = 4096;
const maxDescription = 512;

export const putRule: EventOperation = (service, request) => {
  const bus = busIn(service, request.optionalText("EventBusName"));
  const name = ruleNameIn(request, "Name");
  if (request.optionalText("ScheduleExpression") !== undefined) {
    throw validation("The local EventBridge has no rules on a schedule - use EventBridge Scheduler.");
  }
  const pattern = request.optionalText("EventPattern", maxPattern);
  if (pattern === undefined) throw validation("Parameter(s) EventPattern or ScheduleExpression must be specified.");
  assertPattern(pattern);
  const description = request.optionalText("Description", maxDescription);
  const before = service.rules.get(ruleKey({ bus, name }));
  if (!before && rulesOf(service, bus).length >= maxRules) {
    throw new AwsError(
      "LimitExceededException",
      `The requested resource exceeds the maximum number allowed: ${maxRules}`,
    );
  }
  const state = request.choice("State", ["ENABLED", "DISABLED"]) ?? "ENABLED";
  const rule: Rule = { name, bus, pattern, state, ...(description && { description }), targets: before?.targets ?? [] };
  service.rules.put(rule);
  return { RuleArn: ruleArn(service, rule) };
};

function assertPattern(text: string): void {
  const pattern = parsed(text);
  if (!isObject(pattern)) throw invalidPattern("it is no JSON object");
  const [problem] = checkPattern(pattern);
  if (problem) throw invalidPattern(`it ${problem.message}`);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidPattern(error.message);
    throw error;
  }
}

function invalidPattern(reason: string): AwsError {
  return new AwsError("InvalidEventPatternException", `Event pattern is not valid. Reason: ${reason}`);
}

export const deleteRule: EventOperation = (service, request) => {
  const bus = busIn(service, request.optionalText("EventBusName"));
  const name = ruleNameIn(request, "Name");
  if ((service.rules.get(ruleKey({ bus, name }))?.targets.length ?? 0) > 0) {
    throw validation("Rule can't be deleted since it has targets.");
  }
  service.rules.remove(ruleKey({ bus, name }));
  return {};
};

export const describeRule: EventOperation = (service, request) => shown(service, ruleIn(service, request, "Name"));

export const listRules: EventOperation = (service, request) => {
  const bus = busIn(service, request.optionalText("EventBusName"));
  const prefix = request.optionalText("NamePrefix") ?? "";
  const found = rulesOf(service, bus).filter(({ name }) => name.startsWith(prefix));
  return { Rules: found.map((rule) => shown(service, rule)) };
};

function shown(service: EventService, rule: Rule): object {
  const { name: Name, bus: EventBusName, pattern: EventPattern, state: State, description } = rule;
  const Arn = ruleArn(service, rule);
  return { Name, Arn, EventBusName, EventPattern, State, ...(description && { Description: description }) };
}

export const listEventBuses: EventOperation = (service, request) => {
  const prefix = request.optionalText("NamePrefix") ?? "";
  const names = service.buses.filter((name) => name.startsWith(prefix)).sort();
  return { EventBuses: names.map((Name) => ({ Name, Arn: busArn(service, Name) })) };
};

export const describeEventBus: EventOperation = (service, request) => {
  const Name = busIn(service, request.optionalText("Name"));
  return { Name, Arn: busArn(service, Name) };
};
