import { AwsError, validation } from "../../aws-http/aws-error.ts";
import type { Request } from "../../aws-http/request.ts";
import type { JsonObject } from "../../json.ts";
import type { Machine, Revision, Version } from "../store/machines.ts";
import { assertName, assertRoleArn, parseStateMachineArn } from "./arns.ts";
import { invalidDefinition, stateMachineAlreadyExists, stateMachineDoesNotExist } from "./aws-error.ts";
import { checkDefinition } from "./definition-check.ts";
import { pageOf } from "./page.ts";
import { type Operation, type Service, seconds } from "./service.ts";

/** Step Functions: the longest definition. */
const DEFINITION_LIMIT_BYTES = 1024 * 1024;

const NO_LOGGING: JsonObject = { level: "OFF", includeExecutionData: false };
const NO_TRACING: JsonObject = { enabled: false };

export function stateMachineArn({ region, accountId }: Service, name: string): string {
  return `arn:aws:states:${region}:${accountId}:stateMachine:${name}`;
}

/** @throws InvalidArn, StateMachineDoesNotExist (also for a version that is not there) */
export function findMachine(service: Service, arn: string): { machine: Machine; version: Version | undefined } {
  const { name, version: number, unqualified } = parseStateMachineArn(arn);
  const machine = unqualified === stateMachineArn(service, name) ? service.machines.get(name) : undefined;
  const version = number === undefined ? undefined : machine?.versions.get(number);
  if (!machine || (number !== undefined && !version)) throw stateMachineDoesNotExist(arn);
  return { machine, version };
}

export const createStateMachine: Operation = (service, request) => {
  const name = request.text("name");
  assertName(name);
  if (request.choice("type", ["STANDARD", "EXPRESS"]) === "EXPRESS") {
    throw new AwsError("StateMachineTypeNotSupported", "The local Step Functions runs STANDARD state machines only");
  }
  if (request.list("tags").length > 0) throw validation("The local Step Functions keeps no tags");
  const content = readContent(request, service.clock.now());
  const publish = readPublish(request);
  const existing = service.machines.get(name);
  if (existing && !sameContent(existing.revision, content))
    throw stateMachineAlreadyExists(stateMachineArn(service, name));
  if (!existing) assertValid(content.definition);
  const machine = existing ?? service.machines.create(name, content);
  const version = publish && publishVersion(service, machine, publish.description);
  return {
    stateMachineArn: stateMachineArn(service, name),
    creationDate: seconds(machine.at),
    ...(version ? { stateMachineVersionArn: versionArn(service, machine, version) } : {}),
  };
};

export const updateStateMachine: Operation = (service, request) => {
  const { machine, version: qualified } = findMachine(service, request.text("stateMachineArn"));
  if (qualified) throw stateMachineDoesNotExist(request.text("stateMachineArn"));
  const publish = readPublish(request);
  const before = machine.revision;
  const content = readContent(request, service.clock.now(), before);
  if (!sameContent(before, content) || before.roleArn !== content.roleArn) {
    if (content.definition !== before.definition) assertValid(content.definition);
    service.machines.update(machine.name, { ...content, id: crypto.randomUUID() });
  }
  const version = publish && publishVersion(service, machine, publish.description);
  return {
    updateDate: seconds(content.at),
    ...(machine.revision.id === undefined ? {} : { revisionId: machine.revision.id }),
    ...(version ? { stateMachineVersionArn: versionArn(service, machine, version) } : {}),
  };
};

export const describeStateMachine: Operation = (service, request) => {
  const arn = request.text("stateMachineArn");
  const { machine, version } = findMachine(service, arn);
  const revision = version?.revision ?? machine.revision;
  return {
    stateMachineArn: arn,
    name: machine.name,
    status: "ACTIVE",
    type: "STANDARD",
    creationDate: seconds(version?.at ?? machine.at),
    ...describeRevision(revision),
    ...(version?.description === undefined ? {} : { description: version.description }),
  };
};

export const listStateMachines: Operation = (service, request) => {
  const all = service.machines.all().sort((a, b) => (a.name < b.name ? -1 : 1));
  const { items, ...rest } = pageOf(all, (machine) => machine.name, "machines", request);
  const stateMachines = items.map(({ name, at }) => ({
    stateMachineArn: stateMachineArn(service, name),
    name,
    type: "STANDARD",
    creationDate: seconds(at),
  }));
  return { stateMachines, ...rest };
};

/** The cloud ends running executions at their next transition; here they end at once. */
export const deleteStateMachine: Operation = async (service, request) => {
  const { name, unqualified } = parseStateMachineArn(request.text("stateMachineArn"));
  if (!service.machines.get(name)) return {};
  service.machines.delete(name);
  const running = service.executions.list(unqualified).filter((one) => one.status === "RUNNING");
  await Promise.all(running.map((execution) => service.live.stop(execution, { kind: "aborted" })));
  return {};
};

export function describeRevision({ id, definition, roleArn, logging, tracing }: Revision): object {
  return {
    definition,
    roleArn,
    loggingConfiguration: logging,
    tracingConfiguration: tracing,
    ...(id === undefined ? {} : { revisionId: id }),
  };
}

export function versionArn(service: Service, machine: Machine, version: Version): string {
  return `${stateMachineArn(service, machine.name)}:${version.number}`;
}

/** Publishing a revision that has a version answers that version. */
export function publishVersion(service: Service, machine: Machine, description: string | undefined): Version {
  const published = () => [...machine.versions.values()].findLast((one) => one.revision === machine.revision);
  if (!published()) service.machines.publish(machine.name, service.clock.now(), description);
  return published() as Version;
}

function readContent(request: Request, at: number, before?: Revision): Omit<Revision, "number"> {
  const definition = request.optionalText("definition", DEFINITION_LIMIT_BYTES) ?? before?.definition;
  const roleArn = request.optionalText("roleArn", 256) ?? before?.roleArn;
  const logging = request.optionalObject("loggingConfiguration");
  const tracing = request.optionalObject("tracingConfiguration");
  const content = {
    definition: definition ?? request.text("definition"),
    roleArn: roleArn ?? request.text("roleArn"),
    logging: logging ? { ...NO_LOGGING, ...logging } : (before?.logging ?? NO_LOGGING),
    tracing: tracing ? { ...NO_TRACING, ...tracing } : (before?.tracing ?? NO_TRACING),
    at,
  };
  assertRoleArn(content.roleArn);
  return content;
}

function readPublish(request: Request): { description: string | undefined } | undefined {
  const description = request.optionalText("versionDescription", 256);
  if (request.flag("publish", false)) return { description };
  if (description !== undefined) throw validation("Version description can only be set when publish is true");
  return undefined;
}

/** What CreateStateMachine compares: not the role. */
function sameContent(a: Omit<Revision, "number">, b: Omit<Revision, "number">): boolean {
  const text = ({ definition, logging, tracing }: Omit<Revision, "number">) =>
    JSON.stringify([definition, logging, tracing]);
  return text(a) === text(b);
}

function assertValid(definition: string): void {
  const finding = checkDefinition(definition);
  if (!finding) return;
  throw invalidDefinition(`${finding.code}: ${finding.message}${finding.location ? ` at ${finding.location}` : ""}`);
}
