import { createHash } from "node:crypto";
import {
  CreateStateMachineCommand,
  DeleteStateMachineCommand,
  DeleteStateMachineVersionCommand,
  DescribeExecutionCommand,
  ListStateMachineVersionsCommand,
  type ListStateMachineVersionsCommandOutput,
  type LogLevel,
  paginateListExecutions,
  SendTaskSuccessCommand,
  type SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
  UpdateStateMachineCommand,
} from "@aws-sdk/client-sfn";
import type { StateMachines } from "@nova/engine";
import type { MachineVersions } from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { reaching, unless } from "../clients/outage.ts";
import { consolePage } from "./console-page.ts";

export interface StateMachineOptions {
  client: SFNClient;
  /** What the state machines run as. */
  roleArn: string;
  /** Log group for what fails, as `...:*`; without one machines neither log nor are traced. */
  logGroupArn?: string | undefined;
}

const service = "Step Functions";

export function createStateMachines({ client, roleArn, logGroupArn }: StateMachineOptions): StateMachines {
  const described = (machineArn: string, name: string) => {
    const describing = new DescribeExecutionCommand({ executionArn: executionArn(machineArn, name) });
    return unless(unknown, null, () => reaching(service, () => client.send(describing)));
  };
  return {
    /** Update first: after the first time it is what is needed, and it answers a version of its own for each change. */
    async publish(workflow, definition, description) {
      const name = stateMachineName(workflow);
      const versionDescription = fitting(description);
      const machine = { definition, roleArn, publish: true, versionDescription, ...observed(logGroupArn) };
      const arn = stateMachineArn(homeOf(roleArn, await client.config.region()), name);
      const update = new UpdateStateMachineCommand({ stateMachineArn: arn, ...machine });
      const create = new CreateStateMachineCommand({ name, type: "STANDARD", ...machine });
      const { stateMachineVersionArn: version } = await reaching(
        service,
        async () =>
          (await unless(["StateMachineDoesNotExist"], null, () => client.send(update))) ?? client.send(create),
      );
      if (version) return version;
      throw new Error(`Step Functions published no version of state machine "${name}" - publish it again`);
    },
    /**
     * The same name and input is the same run, whether it still runs (Step Functions answers it) or is over (then it says
     * that the name is taken, and only the input tells which run took it).
     */
    async start(machineArn, name, input) {
      const starting = new StartExecutionCommand({ stateMachineArn: machineArn, name, input });
      const send = () => reaching(service, () => client.send(starting));
      if (await unless(["ExecutionAlreadyExists"], null, send)) return;
      if ((await described(machineArn, name))?.input === input) return;
      throw new Error(`run "${name}" exists with another input - start it under a new id`);
    },
    async stop(machineArn, name, error, cause) {
      const stopping = new StopExecutionCommand({ executionArn: executionArn(machineArn, name), error, cause });
      await unless(unknown, null, () => reaching(service, () => client.send(stopping)));
    },
    async answerTask(taskToken, output) {
      const success = new SendTaskSuccessCommand({ taskToken, output });
      return (await unless(nobodyWaits, null, () => reaching(service, () => client.send(success)))) !== null;
    },
    async running(machineArn) {
      const query = { stateMachineArn: unversioned(machineArn), statusFilter: "RUNNING", maxResults: 1000 } as const;
      const pages = await reaching(service, () => Array.fromAsync(paginateListExecutions({ client }, query)));
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
    page: (machineArn, name) => consolePage(executionArn(machineArn, name)),
  };
}

/** Logs without the data of runs, which only the chain holds. */
function observed(logGroupArn: string | undefined) {
  if (logGroupArn === undefined) return {};
  const destinations = [{ cloudWatchLogsLogGroup: { logGroupArn } }];
  const level: LogLevel = "ERROR";
  return {
    loggingConfiguration: { level, includeExecutionData: false, destinations },
    tracingConfiguration: { enabled: true },
  };
}

/** Step Functions: a description has at most 256; bytes are counted, to be safe. A cut character is left out. */
function fitting(description: string): string {
  return Buffer.from(description)
    .subarray(0, 256)
    .toString()
    .replace(/\ufffd+$/, "");
}

/** Timed out, stopped, or answered before: in every case nobody waits. */
const nobodyWaits = ["TaskTimedOut", "TaskDoesNotExist", "InvalidToken"];

const unknown = ["ExecutionDoesNotExist"];

const statuses = {
  RUNNING: "running",
  PENDING_REDRIVE: "running",
  SUCCEEDED: "succeeded",
  FAILED: "failed",
  TIMED_OUT: "timed_out",
  ABORTED: "aborted",
} as const;

/** The client is made by the first call: most functions make none. */
export function createMachineVersions(makeClient: () => SFNClient): MachineVersions {
  let client: SFNClient | undefined;
  const send = () => (client ??= makeClient());
  return {
    async list(versionArn) {
      const arns: string[] = [];
      let nextToken: string | undefined;
      do {
        const page = new ListStateMachineVersionsCommand({ stateMachineArn: unversioned(versionArn), nextToken });
        const found: ListStateMachineVersionsCommandOutput = await reaching(service, () => send().send(page));
        for (const { stateMachineVersionArn: arn } of found.stateMachineVersions ?? []) if (arn) arns.push(arn);
        nextToken = found.nextToken;
      } while (nextToken);
      return arns;
    },
    async remove(versionArn) {
      const removal = new DeleteStateMachineVersionCommand({ stateMachineVersionArn: versionArn });
      await reaching(service, () => send().send(removal));
    },
    async removeMachine(versionArn) {
      const removal = new DeleteStateMachineCommand({ stateMachineArn: unversioned(versionArn) });
      await reaching(service, () => send().send(removal));
    },
  };
}

/** Step Functions: at most 80 characters. */
const longest = 80;

/** Name of a state machine; one that does not fit is cut and told from others by a hash. */
export function stateMachineName(name: string): string {
  if (name.length <= longest) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, longest - 1 - hash.length)}-${hash}`;
}

export interface MachineHome {
  partition: string;
  region: string;
  account: string;
}

export function stateMachineArn({ partition, region, account }: MachineHome, name: string): string {
  return `arn:${partition}:states:${region}:${account}:stateMachine:${name}`;
}

/** `arn:aws:iam::123456789012:role/...` says where we are, but for the region. */
export function homeOf(roleArn: string, region: string): MachineHome {
  const [, partition = "aws", , , account = ""] = roleArn.split(":");
  return { partition, region, account };
}

/** ARN of the machine itself; `machineArn` may name a version or not. */
export function unversioned(machineArn: string): string {
  return machineArn.split(":").slice(0, 7).join(":");
}

/** ARN of a run; `machineArn` may name a version or not, the run's ARN never does. */
export function executionArn(machineArn: string, name: string): string {
  const [arn, partition, states, region, account, , machine] = machineArn.split(":");
  return [arn, partition, states, region, account, "execution", machine, name].join(":");
}
