import { AwsError, validation } from "../../aws-http/aws-error.ts";
import { arnOf, type Request } from "../../aws-http/request.ts";
import { isObject, type Json, type JsonObject } from "../../json.ts";
import { compileStateMachine } from "../asl/compile.ts";
import { DefinitionRejected } from "../asl/failure.ts";
import type { Machine, Revision, Version } from "../store/machines.ts";
import { arnError, assertName, parseStateMachineArn } from "./arns.ts";
import { pageOf } from "./page.ts";
import type { Operations, Service } from "./service.ts";

/** Step Functions' limit for the length of a definition. */
const DEFINITION_LIMIT_BYTES = 1024 * 1024;

const NO_LOGGING: JsonObject = { level: "OFF", includeExecutionData: false };
const NO_TRACING: JsonObject = { enabled: false };

export const machineOperations: Operations = {
  CreateStateMachine(service, request) {
    const name = request.text("name");
    assertName(name);
    if (request.choice("type", ["STANDARD", "EXPRESS"]) === "EXPRESS") {
      throw new AwsError("StateMachineTypeNotSupported", "The local Step Functions runs STANDARD state machines only");
    }
    if (request.list("tags")?.length) throw validation("The local Step Functions keeps no tags");
    const content = readContent(request, service.clock.now());
    const publish = readPublish(request);
    const existing = service.machines.get(name);
    const arn = stateMachineArn(name);
    if (existing && !isSame(existing.revision, content)) throw arnError("StateMachineAlreadyExists", arn);
    if (!existing) assertValid(content.definition);
    const machine = existing ?? service.machines.create(name, content);
    return { stateMachineArn: arn, creationDate: machine.at / 1000, ...publish(service, machine) };
  },

  UpdateStateMachine(service, request) {
    const { machine, version: qualified } = findMachine(service, request.text("stateMachineArn"));
    if (qualified) throw arnError("StateMachineDoesNotExist", request.text("stateMachineArn"));
    const publish = readPublish(request);
    const before = machine.revision;
    const content = readContent(request, service.clock.now(), before);
    if (!isSame(before, content) || before.roleArn !== content.roleArn) {
      if (content.definition !== before.definition) assertValid(content.definition);
      service.machines.update(machine.name, { ...content, id: crypto.randomUUID() });
    }
    return { updateDate: content.at / 1000, revisionId: machine.revision.id, ...publish(service, machine) };
  },

  DescribeStateMachine(service, request) {
    const arn = request.text("stateMachineArn");
    const { machine, version } = findMachine(service, arn);
    const { id, definition, roleArn, logging, tracing } = version?.revision ?? machine.revision;
    return {
      stateMachineArn: arn,
      name: machine.name,
      status: "ACTIVE",
      type: "STANDARD",
      creationDate: (version?.at ?? machine.at) / 1000,
      definition,
      roleArn,
      loggingConfiguration: logging,
      tracingConfiguration: tracing,
      revisionId: id,
      description: version?.description,
    };
  },

  ListStateMachines(service, request) {
    const all = service.machines.all().sort((a, b) => (a.name < b.name ? -1 : 1));
    const { items, ...rest } = pageOf(all, (machine) => machine.name, "machines", request);
    const stateMachines = items.map(({ name, at }) => {
      return { stateMachineArn: stateMachineArn(name), name, type: "STANDARD", creationDate: at / 1000 };
    });
    return { stateMachines, ...rest };
  },

  /**
   * Deletes a state machine, and stops its running executions immediately. In the cloud they end at their next
   * transition.
   */
  async DeleteStateMachine(service, request) {
    const { name, unqualified } = parseStateMachineArn(request.text("stateMachineArn"));
    if (!service.machines.get(name)) return {};
    service.machines.delete(name);
    const running = service.executions.list(unqualified).filter((one) => one.status === "RUNNING");
    await Promise.all(running.map((execution) => service.live.stop(execution, { kind: "aborted" })));
    return {};
  },

  /** Lists the latest version first. */
  ListStateMachineVersions(service, request) {
    const arn = request.text("stateMachineArn");
    const { machine } = findMachine(service, arn);
    const latestFirst = [...machine.versions.values()].reverse();
    const { items, ...rest } = pageOf(latestFirst, (version) => version.number, `versions of ${arn}`, request);
    const stateMachineVersions = items.map((version) => {
      return { stateMachineVersionArn: versionArn(machine, version), creationDate: version.at / 1000 };
    });
    return { stateMachineVersions, ...rest };
  },

  /** Deletes a version. Its running executions continue, because the revision that they run is not deleted. */
  DeleteStateMachineVersion(service, request) {
    const arn = request.text("stateMachineVersionArn");
    const { name, version } = parseStateMachineArn(arn);
    if (version === undefined) throw arnError("InvalidArn", `The ARN must name a version: ${arn}`);
    if (service.machines.get(name)?.versions.has(version)) service.machines.unpublish(name, version);
    return {};
  },
};

export function stateMachineArn(name: string): string {
  return arnOf("states", `stateMachine:${name}`);
}

export function versionArn(machine: Machine, version: Version): string {
  return `${stateMachineArn(machine.name)}:${version.number}`;
}

/**
 * Finds a state machine and, if the ARN names one, its version.
 * @throws InvalidArn, StateMachineDoesNotExist (also for an unknown version)
 */
export function findMachine(service: Service, arn: string): { machine: Machine; version: Version | undefined } {
  const { name, version: number, unqualified } = parseStateMachineArn(arn);
  const machine = unqualified === stateMachineArn(name) ? service.machines.get(name) : undefined;
  const version = number === undefined ? undefined : machine?.versions.get(number);
  if (!machine || (number !== undefined && !version)) throw arnError("StateMachineDoesNotExist", arn);
  return { machine, version };
}

function readContent(request: Request, at: number, before?: Revision): Omit<Revision, "number"> {
  const definition = request.optionalText("definition", { most: DEFINITION_LIMIT_BYTES }) ?? before?.definition;
  const roleArn = request.optionalText("roleArn", { most: 256 }) ?? before?.roleArn ?? request.text("roleArn");
  if (!/^arn:aws[\w-]*:iam::\d{12}:role\/.+/.test(roleArn)) {
    throw arnError("InvalidArn", `Invalid ARN prefix: ${roleArn}`);
  }
  return {
    definition: definition ?? request.text("definition"),
    roleArn,
    logging: { ...NO_LOGGING, ...(request.map("loggingConfiguration") ?? before?.logging) },
    tracing: { ...NO_TRACING, ...(request.map("tracingConfiguration") ?? before?.tracing) },
    at,
  };
}

/**
 * Reads whether a request wants to publish a version. Returns a function that publishes the version and returns the
 * fields for the response. A revision that already has a version gets no second one.
 */
function readPublish(request: Request): (service: Service, machine: Machine) => { stateMachineVersionArn?: string } {
  const description = request.optionalText("versionDescription", { most: 256 });
  if (!request.flag("publish")) {
    if (description === undefined) return () => ({});
    throw validation("Version description can only be set when publish is true");
  }
  return (service, machine) => {
    const published = () => [...machine.versions.values()].findLast((one) => one.revision === machine.revision);
    if (!published()) service.machines.publish(machine.name, service.clock.now(), description);
    return { stateMachineVersionArn: versionArn(machine, published() as Version) };
  };
}

/** Returns whether CreateStateMachine treats two revisions as the same. It compares everything except the role. */
function isSame(...revisions: [Omit<Revision, "number">, Omit<Revision, "number">]): boolean {
  const [a, b] = revisions.map(({ definition, logging, tracing }) => JSON.stringify([definition, logging, tracing]));
  return a === b;
}

/**
 * Checks a definition.
 * @throws InvalidDefinition with its first problem: AWS would refuse it, or it is not served
 */
function assertValid(definition: string): void {
  try {
    const value: Json = definition.trim() === "" ? null : JSON.parse(definition);
    if (!isObject(value)) throw new DefinitionRejected("", "Definition must be a valid JSON object");
    compileStateMachine(value);
  } catch (error) {
    if (error instanceof SyntaxError) throw arnError("InvalidDefinition", `INVALID_JSON_DESCRIPTION: ${error.message}`);
    if (!(error instanceof DefinitionRejected)) throw error;
    throw arnError("InvalidDefinition", `${error.code}: ${error.message} at ${error.at}`);
  }
}
