import { join } from "node:path";
import { toStateMachine } from "@nova/compiler";
import type { ServicePorts } from "@nova/service";
import { openInside, type Workflow } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { objectKey } from "./format.ts";

/** The fields of a stored version (in DynamoDB's JSON) that the import needs. */
interface VersionItem {
  workflowId: { S: string };
  version: { N: string };
  hash: { S: string };
  definition?: { S: string };
  stateMachineArn: { S: string };
  template: { S: string };
}

/**
 * Gives the latest version of each workflow a state machine and a template here. Other versions are only read, so they
 * need none.
 */
export async function addStateMachines(
  { stateMachines, templates }: Pick<ServicePorts, "stateMachines" | "templates">,
  folder: string,
  items: readonly string[],
): Promise<string[]> {
  const versions = items.map((item) => JSON.parse(item) as VersionItem);
  const latest = new Map<string, VersionItem>();
  for (const one of versions) {
    const id = one.workflowId.S;
    if (Number(latest.get(id)?.version.N ?? 0) < Number(one.version.N)) latest.set(id, one);
  }
  for (const one of latest.values()) {
    const workflow = await workflowOf(folder, one);
    const machine = JSON.stringify(toStateMachine(workflow));
    const name = `nova-${one.workflowId.S}`;
    one.stateMachineArn = { S: await stateMachines.publish(name, machine, `version ${one.version.N}`) };
    one.template = { S: await templates.of(workflow) };
  }
  return versions.map((one) => JSON.stringify(one));
}

async function workflowOf(folder: string, { workflowId, hash, definition }: VersionItem): Promise<Workflow> {
  if (definition) return JSON.parse(definition.S) as Workflow;
  const key = `workflows/${workflowId.S}/${hash.S}.json`;
  await using file = objectKey.test(key) ? await openInside(join(folder, "objects"), key) : undefined;
  if (file) return JSON.parse(await file.readFile("utf8")) as Workflow;
  throw new InvalidInput(`the export has no ${key}, which a version needs - export again`);
}
