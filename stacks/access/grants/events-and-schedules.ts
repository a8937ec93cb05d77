import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { allow } from "../allow.ts";
import type { Grantable } from "../grantable.ts";
import { passedTo } from "./machines.ts";

const madeOfRules = ["PutRule", "RemoveTargets", "DeleteRule"];
const madeOfSchedules = ["CreateSchedule", "GetSchedule", "UpdateSchedule", "DeleteSchedule"];

/** What may be done with events, rules, schedules and mails. */
export const eventGrants = {
  events: ({ events }) => allow("events", ["PutEvents"], [events.bus]),
  "undelivered events": ({ undelivered }) => allow("sqs", ["SendMessage"], [undelivered.queueArn]),
  "rules of triggers": ({ events }) => allow("events", madeOfRules, events.rules),
  /** `ForAllValues` holds for a call without targets, but there is no such call. */
  "targets of rules": ({ events }) =>
    allow("events", ["PutTargets"], events.rules, {
      "ForAllValues:ArnEquals": { "events:TargetArn": [events.firing] },
    }),
  schedules: ({ events }) => allow("scheduler", madeOfSchedules, [events.schedules]),
  "what schedules run as": ({ events }) =>
    allow("iam", ["PassRole"], [events.schedulesRole], passedTo("scheduler.amazonaws.com")),
  mails: ({ senders }) => allow("ses", ["SendEmail"], senders),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;
