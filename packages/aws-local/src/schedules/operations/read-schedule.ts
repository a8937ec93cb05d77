import { constraint, validation } from "../../aws-http/aws-error.ts";
import type { Request } from "../../aws-http/request.ts";
import { isJson, isObject, type JsonObject } from "../../json.ts";
import type { ScheduleExpressions, ScheduleTarget, StoredSchedule } from "../service.ts";

/**
 * The fields of a schedule that a client sends in the body: without the name, and without the times at which it was
 * created and fired.
 */
export type AskedSchedule = Omit<StoredSchedule, "name" | "group" | "createdMs" | "modifiedMs" | "startMs" | "doneMs">;

/** Fields that end or delete a schedule. A request with one of them is refused. */
const unserved = ["EndDate", "ActionAfterCompletion"];

/** Reads the fields of a schedule. Throws `ValidationException`. */
export function readSchedule(expressions: ScheduleExpressions, request: Request): AskedSchedule {
  for (const field of unserved) {
    if (request.has(field)) throw validation(`The local Scheduler does not serve ${field}.`);
  }
  const window = request.map("FlexibleTimeWindow");
  if (!window) throw constraint("flexibleTimeWindow", undefined, "must not be null");
  if (window.Mode !== "OFF") throw validation("The local Scheduler has no flexible windows - use the Mode OFF.");
  const expression = request.text("ScheduleExpression", { most: 256 });
  const timezone = request.optionalText("ScheduleExpressionTimezone", { most: 50 }) ?? "UTC";
  if (!expressions.isTimeZone(timezone)) throw validation("Provided ScheduleExpressionTimezone is not valid.");
  if (!expressions.read(expression, timezone)) throw validation(`Invalid Schedule Expression ${expression}.`);
  const description = request.optionalText("Description", { most: 512 });
  return {
    expression,
    timezone,
    state: request.choice("State", ["ENABLED", "DISABLED"]) ?? "ENABLED",
    ...(description && { description }),
    target: targetIn(request.map("Target")),
  };
}

const functionArn = /^arn:aws[\w-]*:lambda:[\w-]+:\d{12}:function:[\w-]+(:[\w$-]+)?$/;
const roleArn = /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/;
const queueArn = /^arn:aws[\w-]*:sqs:[\w-]+:\d{12}:[\w-]+$/;

function targetIn(target: JsonObject | undefined): ScheduleTarget {
  if (!target) throw constraint("target", undefined, "must not be null");
  const { Arn, RoleArn, Input, RetryPolicy, DeadLetterConfig } = target;
  return {
    Arn: matching("target.arn", Arn, functionArn),
    RoleArn: matching("target.roleArn", RoleArn, roleArn),
    ...(Input !== undefined && { Input: inputOf(Input) }),
    ...(isObject(RetryPolicy) && { RetryPolicy: retriesOf(RetryPolicy) }),
    ...(isObject(DeadLetterConfig) && {
      DeadLetterConfig: { Arn: matching("target.deadLetterConfig.arn", DeadLetterConfig.Arn, queueArn) },
    }),
  };
}

function matching(field: string, value: unknown, pattern: RegExp): string {
  if (typeof value === "string" && pattern.test(value)) return value;
  throw constraint(field, value, `must satisfy regular expression pattern: ${pattern.source}`);
}

function inputOf(input: unknown): string {
  if (typeof input === "string" && isJson(input)) return input;
  throw validation("Invalid RequestJson provided. Reason The input of a Lambda target must be JSON.");
}

function retriesOf({ MaximumEventAgeInSeconds: age = 86_400, MaximumRetryAttempts: attempts = 185 }: JsonObject) {
  if (!isWithin(age, 60, 86_400))
    throw constraint("target.retryPolicy.maximumEventAgeInSeconds", age, "must be 60 to 86400");
  if (!isWithin(attempts, 0, 185))
    throw constraint("target.retryPolicy.maximumRetryAttempts", attempts, "must be 0 to 185");
  return { MaximumEventAgeInSeconds: age, MaximumRetryAttempts: attempts };
}

function isWithin(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}
