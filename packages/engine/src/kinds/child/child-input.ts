import type { Workflow } from "@nova/workflow";
import { secretKeys } from "@nova/workflow";
import { contextBefore } from "../../chain/item-input.ts";
import { inputAfter } from "../../chain/position.ts";
import { blobPages } from "../../context/blob-pages.ts";
import type { Context } from "../../context/context.ts";
import { offloadLargeValues } from "../../context/offload.ts";
import { referencesIn } from "../../context/references.ts";
import { type Member, objectText } from "../../json/text.ts";
import type { Ports } from "../../ports/index.ts";
import { redactorFor } from "../../secrets/secret-inputs.ts";
import { InputsRefused, refuseMisfits } from "../start/inputs.ts";
import type { Calling } from "./calling.ts";
import { mapped, wholeMembers } from "./mapping.ts";

/** What the other workflow starts with, checked against its `inputs`. */
export async function childInput(
  ports: Ports,
  calling: Calling,
  target: Workflow,
): Promise<Member[] | { problem: string }> {
  const { position, node, definition } = calling;
  const { before, beforeEntry } = position;
  const { context: kept } = await contextBefore(ports, position);
  const context = await inputAfter(beforeEntry, kept, ports.blobs);
  const secrets = secretKeys(definition.version.workflow);
  const maySee = secretKeys(target);
  const pages = blobPages(ports.blobs, before);
  const source = {
    title: "the context",
    context,
    secrets,
    load: ({ sha256 }: { sha256: string }) => pages.load(sha256),
  };
  const members = node.input
    ? await mapped(node.input, source, maySee)
    : wholeMembers({ ...source, context: kept }, maySee);
  if ("problem" in members) return members;
  const misfit = await misfitOf(ports, calling, target, members, context);
  if (misfit !== undefined) return { problem: misfit };
  return Promise.all(members.map(async ({ key, json }) => ({ key, json: await offloaded(ports, calling, json) })));
}

function offloaded(ports: Ports, { position: { before } }: Calling, json: string): Promise<string> {
  return offloadLargeValues(json, (ref, body) => ports.blobs.put(before, ref, body));
}

/** Of values that lie in blobs the schema of `inputs` is asked no more than whether they are there. */
async function misfitOf(
  ports: Ports,
  { position: { before }, definition }: Calling,
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
    const secrets = secretKeys(definition.version.workflow);
    const redactor = await redactorFor(secrets, context, (sha256) => ports.blobs.get(before, sha256));
    return redactor.mask(`workflow "${target.id}" refuses what it is given: ${error.message.replaceAll("\n", "; ")}`);
  }
}
