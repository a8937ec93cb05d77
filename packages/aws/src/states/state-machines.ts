import { createHash } from "node:crypto";
import * as sfn from "@aws-sdk/client-sfn";
import type { StateMachines } from "@nova/engine";
import type { MachineVersions } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { orOnError, reportOutage } from "../clients/outage.ts";

export interface StateMachineOptions {
  client: sfn.SFNClient;
  roleArn: string;
  /** Log group for failures, as `...:*`. If it is absent, state machines write no logs and send no traces. */
  logGroupArn?: string | undefined;
}

const service = "Step Functions";

export function createStateMachines({ client, roleArn, logGroupArn }: StateMachineOptions): StateMachines {
  const described = (machineArn: string, name: string) => {
    const describing = new sfn.DescribeExecutionCommand({ executionArn: executionArn(machineArn, name) });
    return orOnError(unknown, null, () => reportOutage(service, () => client.send(describing)));
  };
  return {
    /** Tries to update the machine first, because only the first publication of a workflow has to create it. */
    async publish(workflow, definition, description) {
      const name = stateMachineName(workflow);
      const versionDescription = cutDescription(description);
      const machine = { definition, roleArn, publish: true, versionDescription, ...loggingConfiguration(logGroupArn) };
      const arn = stateMachineArn(roleArn, await client.config.region(), name);
      const update = new sfn.UpdateStateMachineCommand({ stateMachineArn: arn, ...machine });
      const create = new sfn.CreateStateMachineCommand({ name, type: "STANDARD", ...machine });
      const send = async () =>
        (await orOnError(["StateMachineDoesNotExist"], null, () => client.send(update))) ?? client.send(create);
      const { stateMachineVersionArn: version } = await reportOutage(service, send);
      if (version) return version;
      throw new Error(`Step Functions published no version of state machine "${name}" - publish it again`);
    },
    /**
     * Starts a run. Succeeds, too, if a run with the same name and input exists. While that run is open, Step Functions
     * compares the inputs. After the end of that run, Step Functions only reports that the name is taken, so this
     * method compares the inputs.
     */
    async start(machineArn, name, input) {
      const starting = new sfn.StartExecutionCommand({ stateMachineArn: machineArn, name, input });
      const send = () => reportOutage(service, () => client.send(starting));
      if (await orOnError(["ExecutionAlreadyExists"], null, send)) return;
      if ((await described(machineArn, name))?.input === input) return;
      throw new Error(`run "${name}" exists with another input - start it under a new id`);
    },
    async stop(machineArn, name, error, cause) {
      const stopping = new sfn.StopExecutionCommand({ executionArn: executionArn(machineArn, name), error, cause });
      await orOnError(unknown, null, () => reportOutage(service, () => client.send(stopping)));
    },
    async answerTask(taskToken, output) {
      const success = new sfn.SendTaskSuccessCommand({ taskToken, output });
      return (await orOnError(notWaiting, null, () => reportOutage(service, () => client.send(success)))) !== null;
    },
    async running(machineArn) {
      const query = { stateMachineArn: unversioned(machineArn), statusFilter: "RUNNING", maxResults: 1000 } as const;
      const pages = await reportOutage(service, () => Array.fromAsync(sfn.paginateListExecutions({ client }, query)));
      const running = pages.flatMap(({ executions = [] }) => executions.flatMap(({ name }) => name ?? []));
      return new Set(running);
    },
    async describe(machineArn, name) {
      const run = await described(machineArn, name);
      if (!run) return null;
      return {
        status: statuses[run.status ?? "RUNNING"],
        ...defined({ error: run.error, cause: run.cause || undefined }),
      };
    },
    page: (machineArn, name) => executionPageUrl(executionArn(machineArn, name)),
  };
}

/**
 * Returns the settings of a state machine that log failures without the data of runs. Only the chain may hold these
 * data.
 */
function loggingConfiguration(logGroupArn: string | undefined) {
  if (logGroupArn === undefined) return {};
  const destinations = [{ cloudWatchLogsLogGroup: { logGroupArn } }];
  const level: sfn.LogLevel = "ERROR";
  return {
    loggingConfiguration: { level, includeExecutionData: false, destinations },
    tracingConfiguration: { enabled: true },
  };
}

/**
 * Cuts a description, because Step Functions allows at most 256 characters. The result has at most 256 bytes, without a
 * part of a character at its end.
 */
function cutDescription(description: string): string {
  return Buffer.from(description)
    .subarray(0, 256)
    .toString()
    .replace(/\ufffd+$/, "");
}

/** Names of errors for a task that no longer waits: it timed out, was stopped, or is already answered. */
const notWaiting = ["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"];

const unknown = ["ExecutionDoesNotExist"];

const statuses = {
  RUNNING: "running",
  PENDING_REDRIVE: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  TIMED_OUT: "timed_out",
  ABORTED: "aborted",
} as const;

/**
 * Returns access to versions of state machines. It creates the client at the first call, because most functions make no
 * call.
 */
export function createMachineVersions(makeClient: () => sfn.SFNClient): MachineVersions {
  let client: sfn.SFNClient | undefined;
  const send = () => (client ??= makeClient());
  return {
    async list(versionArn) {
      const arns: string[] = [];
      let nextToken: string | undefined;
      do {
        const page = new sfn.ListStateMachineVersionsCommand({ stateMachineArn: unversioned(versionArn), nextToken });
        const found: sfn.ListStateMachineVersionsCommandOutput = await reportOutage(service, () => send().send(page));
        for (const { stateMachineVersionArn: arn } of found.stateMachineVersions ?? []) if (arn) arns.push(arn);
        nextToken = found.nextToken;
      } while (nextToken);
      return arns;
    },
    async remove(versionArn) {
      const removal = new sfn.DeleteStateMachineVersionCommand({ stateMachineVersionArn: versionArn });
      await reportOutage(service, () => send().send(removal));
    },
    async removeMachine(versionArn) {
      const removal = new sfn.DeleteStateMachineCommand({ stateMachineArn: unversioned(versionArn) });
      await reportOutage(service, () => send().send(removal));
    },
  };
}

/** Step Functions allows names of at most 80 characters. */
const maxNameLength = 80;

/** Returns the name of a state machine. Cuts a name that is too long, and adds a hash that keeps the name unique. */
export function stateMachineName(name: string): string {
  if (name.length <= maxNameLength) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, maxNameLength - 1 - hash.length)}-${hash}`;
}

/** Returns the ARN of a machine in the partition and the account of a role. The ARN of a role has no region. */
export function stateMachineArn(roleArn: string, region: string, name: string): string {
  const [, partition = "aws", , , account = ""] = roleArn.split(":");
  return `arn:${partition}:states:${region}:${account}:stateMachine:${name}`;
}

/** Returns the ARN of the machine without a version. */
export function unversioned(machineArn: string): string {
  return machineArn.split(":").slice(0, 7).join(":");
}

/** Returns the ARN of an execution, which names no version. `machineArn` may name a version. */
export function executionArn(machineArn: string, name: string): string {
  const [arn, partition, states, region, account, , machine] = machineArn.split(":");
  return [arn, partition, states, region, account, "execution", machine, name].join(":");
}

/** Hosts of the AWS console by partition; `%` stands for the region. */
const hosts: Readonly<Record<string, string>> = {
  aws: "%.console.aws.amazon.com",
  "aws-us-gov": "console.amazonaws-us-gov.com",
  "aws-cn": "console.amazonaws.cn",
};

const executionPattern = /^arn:([\w-]+):states:([a-z0-9-]+):(\d{12}):execution:[\w-]+:[\w.-]+$/;

/** Account number of the local cloud. */
const localAccount = "000000000000";

/** Returns the URL of an execution in the Step Functions console; null for local executions and unknown partitions. */
export function executionPageUrl(executionArn: string): string | null {
  const [, partition = "", region = "", account] = executionPattern.exec(executionArn) ?? [];
  const host = hosts[partition];
  if (host === undefined || account === localAccount) return null;
  return `https://${host.replace("%", region)}/states/home?region=${region}#/v2/executions/details/${executionArn}`;
}
