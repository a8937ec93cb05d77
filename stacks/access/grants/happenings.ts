import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { allow } from "../allow.ts";
import type { Grantable } from "../grantable.ts";
import { passedTo } from "./machines.ts";

const madeOfRules = ["PutRule", "RemoveTargets", "DeleteRule"];
const madeOfSchedules = ["CreateSchedule", "GetSchedule", "UpdateSchedule", "DeleteSchedule"];

/** What may be done with events, rules, schedules and mails. */
export const happeningGrants = {
  events: ({ happenings }) => allow("events", ["PutEvents"], [happenings.bus]),
  "undelivered events": ({ undelivered }) => allow("sqs", ["SendMessage"], [undelivered.queueArn]),
  "rules of triggers": ({ happenings }) => allow("events", madeOfRules, happenings.rules),
  /** `ForAllValues` holds for a call without targets, but there is no such call. */
  "targets of rules": ({ happenings }) =>
    allow("events", ["PutTargets"], happenings.rules, {
      "ForAllValues:ArnEquals": { "events:TargetArn": [happenings.firing] },
    }),
  schedules: ({ happenings }) => allow("scheduler", madeOfSchedules, [happenings.schedules]),
  "what schedules run as": ({ happenings }) =>
    allow("iam", ["PassRole"], [happenings.schedulesRole], passedTo("scheduler.amazonaws.com")),
  mails: ({ senders }) => allow("ses", ["SendEmail"], senders),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;
