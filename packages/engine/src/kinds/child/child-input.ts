import { secretKeys, type Workflow, type WorkflowNode } from "@nova/workflow";
import { inputBefore } from "../../chain/item-input.ts";
import type { Context, Slot } from "../../context/context.ts";
import { findValue, keyOfPath, type LoadJson } from "../../context/find-value.ts";
import { offloadMembers, savingTo } from "../../context/offload.ts";
import { blobPages } from "../../context/pages.ts";
import { referencesIn } from "../../context/references.ts";
import { type Member, objectText } from "../../json/text.ts";
import type { Ports } from "../../ports/index.ts";
import type { HeldNode } from "../../protocol/definition.ts";
import { decisionKey } from "../../protocol/merge-branches.ts";
import { redactorAt } from "../../secrets/secret-inputs.ts";
import { InputsRefused, refuseMisfits } from "../start/inputs.ts";

/** What the other workflow starts with, checked against its `inputs`. */
export async function childInput(
  ports: Ports,
  calling: Calling,
  target: Workflow,
): Promise<Member[] | { problem: string }> {
  const { position, node, version } = calling;
  const { before } = position;
  const { kept, input: context } = await inputBefore(ports, position);
  const secrets = secretKeys(version.workflow);
  const maySee = secretKeys(target);
  const pages = blobPages(ports.blobs, before);
  const source = {
    title: "the context",
    context,
    secrets,
    load: pages.load,
  };
  const members = node.input
    ? await mapped(node.input, source, maySee)
    : wholeMembers({ ...source, context: kept.context }, maySee);
  if ("problem" in members) return members;
  const misfit = await misfitOf(ports, calling, target, members, context);
  if (misfit !== undefined) return { problem: misfit };
  return offloadMembers(members, savingTo(ports, before));
}

/** Of values that lie in blobs the schema of `inputs` is asked no more than whether they are there. */
async function misfitOf(
  ports: Ports,
  { position: { before }, version }: Calling,
  target: Workflow,
  members: readonly Member[],
  context: Context,
): Promise<string | undefined> {
  const [inBlobs, inline] = [true, false].map((isBlob) =>
    members.filter(({ json }) => referencesIn(json).length > 0 === isBlob),
  ) as [Member[], Member[]];
  try {
    await refuseMisfits(
      target,
      objectText(inline),
      inBlobs.map(({ key }) => key),
    );
    return undefined;
  } catch (error) {
    if (!(error instanceof InputsRefused)) throw error;
    const redactor = await redactorAt(ports, before, version, context);
    return redactor.mask(`workflow "${target.id}" refuses what it is given: ${error.message.replaceAll("\n", "; ")}`);
  }
}

/** A workflow node that holds its turn. */
export type Calling = HeldNode<WorkflowNode>;

/** Instead of a path: all that there is. */
const whole = "$";

/** From which context values are taken, and what must not leave it. */
interface Source {
  /** `the context`, `the last context of workflow "billing"`: how a sentence names it. */
  title: string;
  context: Context;
  /** Keys that are secret there. */
  secrets: ReadonlySet<string>;
  load: LoadJson;
}

/** Values for the keys of a mapping; `maySee`: keys that are secret on the other side as well. */
export async function mapped(
  mapping: Readonly<Record<string, string>>,
  source: Source,
  maySee: ReadonlySet<string>,
): Promise<Member[] | { problem: string }> {
  const members: Member[] = [];
  for (const [key, path] of Object.entries(mapping)) {
    const secret = keyOfPath(source.secrets, path);
    if (secret !== undefined && !maySee.has(key)) {
      const advice = `mark "${key}" with "secret": true in the inputs of the workflow that takes it, or leave it out`;
      return { problem: `"${key}" takes the secret "${secret}" from ${source.title} - ${advice}` };
    }
    const json =
      path === whole
        ? objectText(wholeMembers(source, maySee.has(key) ? source.secrets : new Set()))
        : await findValue(source.context, path, source.load);
    if (json === undefined) {
      const advice = "set it before, or correct the path";
      return { problem: `"${key}" takes "${path}" from ${source.title}, which is not there - ${advice}` };
    }
    members.push({ key, json });
  }
  return members;
}

/** All keys under their own names; secrets only where they are secret on the other side too. */
function wholeMembers({ context, secrets }: Pick<Source, "context" | "secrets">, maySee: ReadonlySet<string>): Slot[] {
  return context.slots().filter(({ key }) => key !== decisionKey && (!secrets.has(key) || maySee.has(key)));
}
