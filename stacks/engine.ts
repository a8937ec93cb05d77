import { LogGroup } from "aws-cdk-lib/aws-logs";
import { eventArns, machineArns, parameterName } from "./access/arns.ts";
import type { Grantable } from "./access/grants.ts";
import { createLambdas } from "./engine/create-lambda.ts";
import { environmentOf } from "./engine/environment.ts";
import { createBus, createUndelivered, watchEnds } from "./engine/events.ts";
import { engineLambdas } from "./engine/lambdas.ts";
import { calledByMachines, createMachinesRole } from "./engine/machines-role.ts";
import { schedule } from "./engine/rule.ts";
import { sendersFrom } from "./engine/settings.ts";
import { type Stack, type StackContext, use } from "./sst.ts";
import { type Stage, stageOf } from "./stage.ts";
import { type Storage, storage } from "./storage.ts";

/** The functions that run workflows. Later stacks share `around` with this one. */
export function engine({ stack, app }: StackContext) {
  const stored = use(storage);
  const logs = createLogs(stack, "Logs", "/aws/lambda/nova", stageOf(app));
  const machineLogs = createLogs(stack, "MachineLogs", "/aws/vendedlogs/states/nova", stageOf(app));
  const granted = grantable(stack, stored);
  const { machines, undelivered } = granted;
  const environment = environmentOf(stack, { ...granted, machineLogs }, process.env);
  const around = { granted, logs, environment };
  const functions = createLambdas(stack, engineLambdas, around);

  const called = calledByMachines.map((name) => functions[name]);
  const machinesRole = createMachinesRole(stack, called, machines, stored.bucket);
  const bus = createBus(stack, functions["nova-deliver-event"], undelivered);
  watchEnds(stack, functions["nova-execution-status"], undelivered);
  // A lost start is repeated after half a minute at the earliest, and so after two minutes at the latest.
  schedule(stack, "Sweep", {
    description: "Closes what died, and repeats what was lost",
    every: "rate(1 minute)",
    work: functions["nova-sweep"],
  });
  return { functions, around, logs, machineLogs, machinesRole, bus, undelivered };
}

export type Engine = ReturnType<typeof engine>;

function createLogs(stack: Stack, id: string, logGroupName: string, stage: Stage): LogGroup {
  return new LogGroup(stack, id, { logGroupName, retention: stage.logRetention, removalPolicy: stage.removal });
}

function grantable(stack: Stack, stored: Storage): Grantable {
  const events = eventArns(stack);
  return {
    ...stored,
    events,
    undelivered: createUndelivered(stack, events),
    machines: machineArns(stack),
    senders: sendersFrom(process.env).map((identity) =>
      stack.formatArn({ service: "ses", resource: "identity", resourceName: identity }),
    ),
    parameter: (name) => stack.formatArn({ service: "ssm", resource: `parameter${parameterName(stack.stage, name)}` }),
  };
}
