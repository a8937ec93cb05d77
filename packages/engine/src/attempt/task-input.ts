import {
  type InputKey,
  type Member,
  nodeIndex,
  objectText,
  secretKeys,
  type TaskNode,
  type Workflow,
} from "@nova/workflow";
import { inputBefore, type LoadedContext, type Position } from "../chain/position.ts";
import { type Context, linkLabel } from "../context/context.ts";
import { ReferenceScan, referenceKey, referencesIn } from "../context/references.ts";
import { NovaError } from "../errors.ts";
import type { BlobRef } from "../ports/blobs.ts";
import type { CredentialOverlay } from "../ports/credentials.ts";
import type { Ports } from "../ports/index.ts";
import type { CodeResult, RunIo } from "../ports/sandboxes.ts";
import { type KindPorts, type NodeDefinition, versionOf } from "../protocol/definition.ts";
import { restartKey } from "../protocol/recorded.ts";
import {
  changedOf,
  credentialOverlay,
  emptyOverlay,
  overlayAgain,
  withOverlay,
  withoutOverlay,
} from "../secrets/overlay.ts";
import { createCredentialMask } from "../secrets/redactor.ts";
import { redactorFor } from "../secrets/secret-inputs.ts";
import { findKnownNodes, type KnownNodes, wasWrittenBefore } from "./known-nodes.ts";

export interface Task<N extends TaskNode = TaskNode> extends NodeDefinition<N> {
  position: Position;
  retries?: number | undefined;
}

export interface TaskInput {
  kept: LoadedContext;
  /** The context that the code reads, including the values of credentials. */
  input: Context;
  overlay: CredentialOverlay;
  restartKey: string;
  io: NodeIo;
}

/** Reads the input of a node that runs code. A decision does not see the `branch_decision` of an earlier decision. */
export async function taskInput(ports: KindPorts, { position, node, version }: Task): Promise<TaskInput> {
  const { client, sealed } = position.before;
  const findOverlay = position.next.turn?.sandbox ? overlayAgain : credentialOverlay;
  const [{ kept, input: found }, overlay] = await Promise.all([
    inputBefore(ports, position),
    sealed ? emptyOverlay : findOverlay(ports, { client, version, node }),
  ]);
  const bound = await withInputKeys(ports, position, node, version.workflow, found);
  const input = withOverlay(node.type === "decision" ? bound.without("branch_decision") : bound, overlay);
  const io = await createNodeIo(ports, position, input, secretKeys(version.workflow), overlay);
  return { kept, input, overlay, io, restartKey: await restartKey(ports, position, node) };
}

/**
 * Adds the results of other nodes to the input, under the names in the node's `inputKeys`. Leaves out a name whose node
 * has no result.
 */
export async function withInputKeys(
  ports: Ports,
  position: Position,
  { id, inputKeys }: TaskNode,
  workflow: Workflow,
  input: Context,
): Promise<Context> {
  if (!inputKeys) return input;
  const known = await findKnownNodes(ports, position, workflow);
  const nodes = nodeIndex(workflow).values();
  const edges = [...(workflow.draftPrefix?.edges ?? []), ...nodes.flatMap((one) => one.edges)];
  const upstream = [...new Set(edges.flatMap(({ from, to }) => (to === id ? [from] : [])))];
  const bound = await Promise.all(
    Object.entries(inputKeys).map(async ([key, source]) => {
      const json = await boundValue(known, source, upstream);
      return json === undefined ? [] : [{ key, json }];
    }),
  );
  return input.apply({ set: bound.flat(), delete: [] }, linkLabel(position.at));
}

/**
 * Finds the value for one input key, as JSON text with references to blobs. If several nodes have set the key, the
 * value of the last node counts.
 */
async function boundValue(known: KnownNodes, { node, key }: InputKey, upstream: string[]): Promise<string | undefined> {
  let found: string | undefined;
  for (const id of node === undefined ? upstream : [node]) {
    const results = await known.findResults(id);
    if (results && key === undefined) found = objectText(results);
    else found = results?.find((one) => one.key === key)?.json ?? found;
  }
  return found;
}

export type NodeIo = Awaited<ReturnType<typeof createNodeIo>>;

/**
 * Builds the functions through which a run of code reads and stores data: the blobs of its input, and those results of
 * earlier nodes that its node may see. Also builds the checks and masks for its results.
 */
export async function createNodeIo(
  ports: KindPorts,
  position: Position,
  input: Context,
  secrets: ReadonlySet<string>,
  overlay: CredentialOverlay = emptyOverlay,
) {
  const { before } = position;
  let named: Set<string> | undefined;
  const inInput = () => {
    named ??= new Set(input.slots().flatMap(({ json }) => referencesIn(json).map(referenceKey)));
    return named;
  };
  /**
   * References to the blobs of this run of code: those that the code uploaded, and those named in results or JSON blobs
   * that it has read.
   */
  const met = new Set<string>();
  /** Hashes of the blobs that an earlier delivery has recorded as blobs of this run of code. */
  const metBefore = new Set<string>();
  const meetAll = (refs: Iterable<BlobRef>) => {
    for (const ref of refs) met.add(referenceKey(ref));
  };
  const leaking = new Set<string>();
  const maskCredentials = createCredentialMask();
  const redactor = await redactorFor(secrets, input, (sha256) => ports.blobs.get(before, sha256), overlay.secrets);
  const isKnown = (ref: BlobRef) =>
    inInput().has(referenceKey(ref)) || met.has(referenceKey(ref)) || metBefore.has(ref.sha256);

  const known = async () => {
    const { workflow } = await versionOf(ports, before);
    return findKnownNodes(ports, position, workflow, true);
  };

  const runIo: RunIo = {
    async openBlob(ref) {
      if (!isKnown(ref)) throw new NovaError("NodeFailed", `blob ${ref.sha256} is not part of the node's input`);
      const body = await ports.blobs.stream(before, ref.sha256);
      return ref.type === "json" ? meetingReferences(body, meetAll) : body;
    },
    async storeBlob(ref, body) {
      meetAll([ref]);
      const watched = redactor.isIdle ? body : redactor.refuse(body, () => leaking.add(ref.sha256));
      try {
        await ports.blobs.put(before, ref, ref.type === "json" ? meetingReferences(watched, meetAll) : watched);
      } catch (error) {
        // A blob that contains a secret is not stored. The upload does not fail here: the node fails later, at the key
        // that refers to the blob.
        if (!leaking.has(ref.sha256)) throw error;
      }
    },
    async outputs(node) {
      const results = await (await known()).findResults(node);
      if (!results) return null;
      const text = objectText(results);
      meetAll(referencesIn(text));
      return text;
    },
    outputNames: async () => (await known()).ids,
    taskUrl: (node) => ports.resumeUrl(position, node),
  };
  return {
    ...runIo,
    isPlain: secrets.size === 0 && overlay.members.length === 0,
    /**
     * Finds the first key that refers to a foreign blob. A blob is foreign if it is not in the input, this run of code
     * did not upload it, and no result that the code has read contains it.
     */
    async foreignReference(set: readonly Member[]) {
      for (const { key, json } of set) {
        for (const ref of referencesIn(json)) {
          if (!isKnown(ref) && !(await wasWrittenBefore(ports, position, ref))) return { key, ref };
        }
      }
      return undefined;
    },
    /** Whether this delivery knows that a result may refer to the blob, and that the blob holds no secret. */
    isOwn: (ref: BlobRef) => isKnown(ref) && !leaking.has(ref.sha256),
    /** Notes a blob that an earlier delivery has recorded as a blob of this run of code. */
    meet: (sha256: string) => void metBefore.add(sha256),
    withoutOverlay: (result: CodeResult) => withoutOverlay(result, overlay),
    changedCredential: (set: readonly Member[]) => changedOf(overlay, set),
    /** Finds the first key that contains a secret: in the key itself, in its value, or in a blob of the value. */
    leakedSecret(set: readonly Member[]) {
      if (redactor.isIdle) return undefined;
      return set.find(
        ({ key, json }) =>
          redactor.finds(key) || redactor.finds(json) || referencesIn(json).some(({ sha256 }) => leaking.has(sha256)),
      )?.key;
    },
    mask: (text: string) => maskCredentials(redactor.mask(text)),
    maskLogs: (text: string) => maskCredentials(redactor.maskTail(text)),
  };
}

/** Passes the bytes of a JSON blob through, and reports every reference in it. */
async function* meetingReferences(body: AsyncIterable<Uint8Array>, meet: (refs: readonly BlobRef[]) => void) {
  const scan = new ReferenceScan();
  for await (const chunk of body) {
    scan.look(chunk);
    yield chunk;
  }
  meet(scan.found);
}
