import type { PutTargetsResultEntry } from "@aws-sdk/client-eventbridge";
import { StoreUnavailable } from "@nova/engine";
import type { EventRule } from "@nova/service";
import { TriggerRefused } from "../triggers/refused.ts";

/** What passes: two changes of one rule at the same moment, and what `FailedEntries` may say of a target. */
const passing: readonly (string | undefined)[] = [
  "ConcurrentModificationException",
  "InternalException",
  "ThrottlingException",
];

/** What to throw where EventBridge does not take a rule: `Refused` where it never will. */
export function ruleRefused({ trigger, workflow }: EventRule, cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const { name, message } = cause;
  const what = `trigger "${trigger}" of workflow "${workflow}"`;
  if (passing.includes(name)) return new StoreUnavailable(`EventBridge was changing ${what} - try again`, { cause });
  if (name === "InvalidEventPatternException") {
    const reason = `EventBridge refuses the pattern of ${what}: ${message}`;
    return new TriggerRefused(`${reason} - correct the pattern`, { cause });
  }
  if (name !== "LimitExceededException") return cause;
  // Service Quotas of EventBridge, "Rules": 300 on a bus.
  const reason = `EventBridge has no room for the rule of ${what}: ${message}`;
  return new TriggerRefused(`${reason} - delete workflows with event triggers, or ask AWS for more rules`, { cause });
}

/** The same for its target, by what `FailedEntries` says of it. */
export function targetRefused({ trigger, workflow }: EventRule, failed: PutTargetsResultEntry): Error {
  const { ErrorCode, ErrorMessage } = failed;
  const reason = `the rule of trigger "${trigger}" of workflow "${workflow}" has no target (${ErrorCode}: ${ErrorMessage})`;
  if (passing.includes(ErrorCode)) return new StoreUnavailable(`${reason} - try again`);
  return new TriggerRefused(`${reason} - publish it again`);
}
