import { type Member, objectText } from "@nova/workflow";
import { headOf } from "../../chain/head.ts";
import { contextAfter, type Position } from "../../chain/position.ts";
import { type Context, linkLabel } from "../../context/context.ts";
import { ReferenceScan, referenceKey, referencesIn } from "../../context/references.ts";
import { NovaError } from "../../errors.ts";
import type { BlobRef } from "../../ports/blobs.ts";
import type { StoredEntry } from "../../ports/chain.ts";
import type { CredentialOverlay } from "../../ports/credentials.ts";
import type { Ports } from "../../ports/index.ts";
import type { CodeResult, RunIo } from "../../ports/sandboxes.ts";
import { versionOf } from "../../protocol/definition.ts";
import { givenOutcomes } from "../../protocol/recorded-document.ts";
import { entriesBefore, wasWrittenBefore } from "../../protocol/scope-entries.ts";
import { changedOf, emptyOverlay, withoutOverlay } from "../../secrets/overlay.ts";
import { maskCredentials } from "../../secrets/process-credentials.ts";
import { redactorFor } from "../../secrets/secret-inputs.ts";
import { resumeUrl } from "../waiting/resume.ts";
import { knownNode, resultsOf } from "./results.ts";

/** What a run of code may reach: the blobs of its input, and what earlier nodes of its scope set. */
export interface NodeIo extends RunIo {
  /** Nothing in the node's input is secret. */
  isPlain: boolean;
  /** The first key whose value refers to a blob that neither the node's input, nor `outputs`, nor this run can have. */
  foreignReference(set: readonly Member[]): Promise<{ key: string; ref: BlobRef } | undefined>;
  /** Whether a result may refer to it so as far as this delivery knows, and it holds no secret. */
  isOwn(ref: BlobRef): boolean;
  /** An earlier delivery of the same run knew the blob as its own. */
  meet(sha256: string): void;
  /** A result without what credentials had laid over the context. */
  withoutOverlay(result: CodeResult): CodeResult;
  /** The first key of a credential that is set to something else. */
  changedCredential(set: readonly Member[]): string | undefined;
  /** The first key that contains a secret, itself or in its value or a blob of that. */
  leakedSecret(set: readonly Member[]): string | undefined;
  /** Text as people may read it. */
  mask(text: string): string;
  /** The same for the end of a log. */
  maskLogs(text: string): string;
}

export async function createNodeIo(
  ports: Ports,
  position: Position,
  input: Context,
  secrets: ReadonlySet<string>,
  overlay: CredentialOverlay = emptyOverlay,
): Promise<NodeIo> {
  const { before, at } = position;
  let named: Set<string> | undefined;
  const inInput = () => {
    named ??= new Set(input.slots().flatMap(({ json }) => referencesIn(json).map(referenceKey)));
    return named;
  };
  /** Uploaded by this run, or named inside results of other nodes or a JSON blob that crossed here. */
  const met = new Set<string>();
  /** Hashes that an earlier delivery has recorded, each of something that it knew as what it was referred to. */
  const metBefore = new Set<string>();
  const meetAll = (refs: Iterable<BlobRef>) => {
    for (const ref of refs) met.add(referenceKey(ref));
  };
  const leaking = new Set<string>();
  const redactor = await redactorFor(secrets, input, (sha256) => ports.blobs.get(before, sha256), overlay.secrets);
  const isKnown = (ref: BlobRef) =>
    inInput().has(referenceKey(ref)) || met.has(referenceKey(ref)) || metBefore.has(ref.sha256);

  const setBy = async (entry: StoredEntry) => {
    const { context } = await contextAfter(entry, ports.blobs);
    return context.writtenBy(linkLabel(headOf(entry)));
  };

  return {
    isPlain: secrets.size === 0 && overlay.members.length === 0,
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
        // What holds a secret is not stored: the key that refers to it fails the node.
        if (!leaking.has(ref.sha256)) throw error;
      }
    },
    async outputs(node) {
      let last: StoredEntry | undefined;
      for await (const found of entriesBefore(ports, at)) if (found.node === node) last = found.entry;
      const { workflow } = await versionOf(ports, before);
      const given = (await givenOutcomes(ports, position, workflow)).get(node);
      const set = given ?? (last && (await setBy(last)));
      if (!set) return null;
      const text = objectText(resultsOf(knownNode(workflow, node), set));
      meetAll(referencesIn(text));
      return text;
    },
    async outputNames() {
      const { workflow } = await versionOf(ports, before);
      const names = new Set((await givenOutcomes(ports, position, workflow)).keys());
      for await (const { node } of entriesBefore(ports, at)) if (node !== null) names.add(node);
      return Array.from(names);
    },
    taskUrl: (node) => resumeUrl(ports, position, node),
    async foreignReference(set) {
      for (const { key, json } of set) {
        for (const ref of referencesIn(json)) {
          if (!isKnown(ref) && !(await wasWrittenBefore(ports, position, ref))) return { key, ref };
        }
      }
      return undefined;
    },
    isOwn: (ref) => isKnown(ref) && !leaking.has(ref.sha256),
    meet: (sha256) => void metBefore.add(sha256),
    withoutOverlay: (result) => withoutOverlay(result, overlay),
    changedCredential: (set) => changedOf(overlay, set),
    leakedSecret(set) {
      if (redactor.isIdle) return undefined;
      return set.find(
        ({ key, json }) =>
          redactor.finds(key) || redactor.finds(json) || referencesIn(json).some(({ sha256 }) => leaking.has(sha256)),
      )?.key;
    },
    mask: (text) => maskCredentials(redactor.mask(text)),
    maskLogs: (text) => maskCredentials(redactor.maskTail(text)),
  };
}

/** Passes a JSON blob's bytes through and tells of every reference in it. */
async function* meetingReferences(
  body: AsyncIterable<Uint8Array>,
  meet: (refs: readonly BlobRef[]) => void,
): AsyncIterable<Uint8Array> {
  const scan = new ReferenceScan();
  for await (const chunk of body) {
    scan.look(chunk);
    yield chunk;
  }
  meet(scan.found);
}
