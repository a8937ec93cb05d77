import { AwsError, validation } from "../../aws-http/aws-error.ts";
import { isObject, type Json } from "../../json.ts";
import { type EventOperations, type EventService, readRuleName, ruleArn, ruleKey, rulesOf } from "../service.ts";

/** EventBridge's limits ("Quotas"): the number of rules of a bus, and the characters of a pattern. */
const maxRules = 300;
const maxPattern = 4096;

export const ruleOperations: EventOperations = {
  PutRule(service, request) {
    const place = readRuleName(service, request, "Name");
    if (request.has("ScheduleExpression")) {
      throw validation("The local EventBridge has no rules on a schedule - use EventBridge Scheduler.");
    }
    const pattern = request.optionalText("EventPattern", { most: maxPattern });
    if (pattern === undefined) throw validation("Parameter(s) EventPattern or ScheduleExpression must be specified.");
    assertPattern(service, pattern);
    const before = service.rules.get(ruleKey(place));
    if (!before && rulesOf(service, place.bus).length >= maxRules) {
      const message = `The requested resource exceeds the maximum number allowed: ${maxRules}`;
      throw new AwsError("LimitExceededException", message);
    }
    const state = request.choice("State", ["ENABLED", "DISABLED"]) ?? "ENABLED";
    const targets = before?.targets ?? [];
    service.rules.put({ ...place, pattern, state, targets });
    return { RuleArn: ruleArn(place) };
  },

  DeleteRule(service, request) {
    const key = ruleKey(readRuleName(service, request, "Name"));
    if ((service.rules.get(key)?.targets.length ?? 0) > 0) {
      throw validation("Rule can't be deleted since it has targets.");
    }
    service.rules.remove(key);
    return {};
  },
};

function assertPattern({ patterns }: EventService, text: string): void {
  let pattern: Json;
  try {
    pattern = JSON.parse(text);
  } catch (error) {
    throw invalidPattern((error as SyntaxError).message);
  }
  if (!isObject(pattern)) throw invalidPattern("it is no JSON object");
  const [problem] = patterns.check(pattern);
  if (problem) throw invalidPattern(`it ${problem.message}`);
}

function invalidPattern(reason: string): AwsError {
  return new AwsError("InvalidEventPatternException", `Event pattern is not valid. Reason: ${reason}`);
}
