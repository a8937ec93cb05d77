import { AwsError, constraint, validation } from "../../aws-http/aws-error.ts";
import { isJson, isObject, type Json } from "../../json.ts";
import {
  type EventOperations,
  type EventService,
  eventVariable,
  findRule,
  readRuleName,
  ruleArn,
  ruleKey,
  rulesOf,
  type Target,
} from "../service.ts";

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

/** EventBridge's limit for the targets of a rule ("Quotas"). */
const maxTargets = 5;
const maxInput = 8192;

const targetId = /^[.\-_A-Za-z0-9]{1,64}$/;
const functionArn = /^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/;

export const targetOperations: EventOperations = {
  PutTargets(service, request) {
    const rule = findRule(service, request);
    const given = (request.list("Targets") ?? []).map(targetOf);
    const ids = new Set(given.map(({ Id }) => Id));
    const targets = [...rule.targets.filter(({ Id }) => !ids.has(Id)), ...given];
    if (targets.length > maxTargets) {
      throw new AwsError("LimitExceededException", "The requested resource exceeds the maximum number allowed.");
    }
    service.rules.put({ ...rule, targets });
    return { FailedEntryCount: 0, FailedEntries: [] };
  },

  RemoveTargets(service, request) {
    const rule = findRule(service, request);
    const ids = request.list("Ids") ?? [];
    service.rules.put({ ...rule, targets: rule.targets.filter(({ Id }) => !ids.includes(Id)) });
    return { FailedEntryCount: 0, FailedEntries: [] };
  },
};

function targetOf(value: Json): Target {
  const { Id, Arn, Input, InputTransformer } = isObject(value) ? value : {};
  if (typeof Id !== "string" || !targetId.test(Id)) {
    throw constraint("targets.1.member.id", Id, "must satisfy regular expression pattern: [\\.\\-_A-Za-z0-9]+");
  }
  if (typeof Arn !== "string" || !functionArn.test(Arn)) {
    throw validation(`Provided Arn is not in correct format, or is no function's, which alone are served here: ${Arn}`);
  }
  if (Input !== undefined) throw validation("The local EventBridge has no Input of a target - use InputTransformer.");
  return { Id, Arn, ...(InputTransformer !== undefined && { InputTransformer: transformerOf(Id, InputTransformer) }) };
}

function transformerOf(id: string, value: Json): { InputTemplate: string } {
  const { InputTemplate, InputPathsMap = {} } = isObject(value) ? value : {};
  if (typeof InputTemplate !== "string" || InputTemplate.length > maxInput) {
    throw validation(`Invalid InputTemplate for target ${id}.`);
  }
  // An event replaces the variable by JSON. So the template is valid if it is JSON after the variable is replaced by
  // any value, here 0.
  const filled = InputTemplate.replaceAll(eventVariable, "0");
  const [unserved] = [...Object.keys(InputPathsMap ?? {}), ...(filled.match(/<[^<>]+>/) ?? [])];
  if (unserved !== undefined) {
    throw validation(`Invalid InputTemplate for target ${id} : the local EventBridge does not fill in ${unserved}.`);
  }
  if (!isJson(filled)) throw validation(`Invalid InputTemplate for target ${id}.`);
  return { InputTemplate };
}
