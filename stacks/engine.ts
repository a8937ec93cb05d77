import type { EventBus } from "aws-cdk-lib/aws-events";
import type { Role } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { type StackContext, use } from "sst/constructs";
import type { Grantable } from "./access/grants.ts";
import { machineArns } from "./access/machines.ts";
import { createLambda } from "./engine/create-lambda.ts";
import { busName, createBus, createUndelivered, watchEnds } from "./engine/events.ts";
import { type LambdaName, lambdas } from "./engine/lambdas.ts";
import { calledByMachines, createMachinesRole } from "./engine/machines-role.ts";
import { parameterName, settingsFrom } from "./engine/settings.ts";
import { scheduleSweep } from "./engine/sweep-schedule.ts";
import { stageOf } from "./stage.ts";
import { storage } from "./storage.ts";
import { withoutCustomResources } from "./without-custom-resources.ts";

/** What runs workflows. */
export interface Engine {
  /** Their aliases. */
  functions: Record<LambdaName, IFunction>;
  /** Of all functions; one stream each. */
  logs: LogGroup;
  /** Of the state machines, which say where it is when they are published. */
  machineLogs: LogGroup;
  /** What state machines run as. */
  machinesRole: Role;
  bus: EventBus;
  undelivered: Queue;
}

export function engine({ stack, app }: StackContext): Engine {
  withoutCustomResources(stack);
  const stored = use(storage);
  const { removal: removalPolicy, logRetention: retention } = stageOf(app);
  const logs = new LogGroup(stack, "Logs", { logGroupName: "/aws/lambda/nova", retention, removalPolicy });
  const machineLogs = new LogGroup(stack, "MachineLogs", {
    logGroupName: "/aws/vendedlogs/states/nova",
    retention,
    removalPolicy,
  });
  const undelivered = createUndelivered(stack);
  const granted: Grantable = {
    ...stored,
    undelivered,
    bus: stack.formatArn({ service: "events", resource: "event-bus", resourceName: busName }),
    machines: machineArns(stack),
    parameter: (name) => stack.formatArn({ service: "ssm", resource: `parameter${parameterName(stack.stage, name)}` }),
  };
  const environment = { ...settingsFrom(process.env), ...resourceNames(stored) };
  const around = { granted, logs, environment };
  const functions = Object.fromEntries(
    Object.entries(lambdas).map(([name, plan]) => [name, createLambda(stack, name as LambdaName, plan, around)]),
  ) as Record<LambdaName, IFunction>;

  const called = calledByMachines.map((name) => functions[name]);
  const machinesRole = createMachinesRole(stack, called, granted.machines, stored.bucket);
  const bus = createBus(stack, functions["nova-deliver-event"], undelivered);
  watchEnds(stack, functions["nova-execution-status"], undelivered);
  scheduleSweep(stack, functions["nova-sweep"]);
  stack.addOutputs({ MachinesRole: machinesRole.roleArn, MachineLogs: machineLogs.logGroupArn });
  return { functions, logs, machineLogs, machinesRole, bus, undelivered };
}

/** functions/environment.ts reads them. */
export function resourceNames({ table, bucket, keys }: Pick<Grantable, "table" | "bucket" | "keys">) {
  return {
    NOVA_TABLE: table.tableName,
    NOVA_BUCKET: bucket.bucketName,
    NOVA_SIGNING_KMS_KEY: keys.signing.keyId,
    NOVA_VAULT_KMS_KEY: keys.vault.keyId,
  };
}
