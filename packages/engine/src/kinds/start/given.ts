import { randomUUID } from "node:crypto";
import {
  checkContext,
  deepestNesting,
  type Finding,
  finding,
  type Member,
  measureOf,
  membersOf,
  objectText,
  type Workflow,
} from "@nova/workflow";
import { atOnce } from "../../at-once.ts";
import { escapeReferences, referencesIn, referenceText } from "../../context/references.ts";
import type { BlobHome } from "../../ports/blobs.ts";
import type { Ports } from "../../ports/index.ts";

/** The initial context does not fit the workflow's `inputs`; one finding per misfit. */
export class InputsRefused extends Error {
  override name = "InputsRefused";
  readonly findings: Finding[];

  constructor(findings: Finding[]) {
    super(findings.map(({ message }) => message).join("\n"));
    this.findings = findings;
  }
}

/**
 * Rejects with `InputsRefused`. Values that come as files are bytes: their schema only checks that they are present.
 */
export async function refuseMisfits(
  workflow: Pick<Workflow, "inputs">,
  context: string,
  fileKeys: string[],
): Promise<void> {
  const findings = await checkContext(workflow, context, fileKeys);
  if (findings.length > 0) throw new InputsRefused(findings);
  if (measureOf(context).depth > deepestNesting) {
    const message = `the context is nested more than ${deepestNesting} levels deep - pass it as text, or as a file`;
    throw new InputsRefused([finding("NOVA506", "$", message)]);
  }
  const keys = [...fileKeys, ...(/\$|\\u0024/.test(context) ? membersOf(context).map(({ key }) => key) : [])];
  const mark = keys.find((key) => key.startsWith("$"));
  if (mark !== undefined) {
    const message = `the context has the key "${mark}" - such keys mark NOVA's references: use another name`;
    throw new InputsRefused([finding("NOVA502", "$", message)]);
  }
}

/** Checks stored values in the same way. The schema only checks that values in blobs are present. */
export function refuseMisfitsOf(workflow: Pick<Workflow, "inputs">, members: readonly Member[]): Promise<void> {
  const groups = Map.groupBy(members, ({ json }) => referencesIn(json).length > 0);
  const keysInBlobs = (groups.get(true) ?? []).map(({ key }) => key);
  return refuseMisfits(workflow, objectText(groups.get(false) ?? []), keysInBlobs);
}

interface Stored {
  sha256: string;
  bytes: number;
}

interface Bytes extends Stored {
  open(): AsyncIterable<Uint8Array>;
}

/** Bytes for a key of the initial context. They do not pass through memory. */
export interface FileInput extends Bytes {
  key: string;
}

/** Bytes that replace a text somewhere inside the initial context. */
export interface FileInPlace extends Bytes {
  /** A text of `newFileMark`, which occurs nowhere else. */
  mark: string;
}

/** Bytes that are a blob of the execution already, for a key or in place of a text. */
export type StoredFile = Stored & ({ key: string } | { mark: string });

export type StartFile = FileInput | FileInPlace | StoredFile;

/** The authors of parts of the context cannot guess this text. */
export function newFileMark(): string {
  return `nova-file-${randomUUID()}`;
}

const marks = /"nova-file-[0-9a-f-]{36}"/g;

/** Replaces the marks in a context by references. Other members that look like references are escaped. */
export function placeFiles(context: string, files: readonly (Stored & Pick<FileInPlace, "mark">)[]): string {
  const escaped = escapeReferences(context);
  if (files.length === 0) return escaped;
  const references = new Map(files.map((file) => [`"${file.mark}"`, referenceOf(file)]));
  return escaped.replaceAll(marks, (mark) => references.get(mark) ?? mark);
}

export function fileMembers(files: readonly (Stored & Pick<FileInput, "key">)[]): Member[] {
  return files.map((file) => ({ key: file.key, json: referenceOf(file) }));
}

/** Saves each content once, however many files have it. */
export async function saveFiles(
  { blobs }: Pick<Ports, "blobs">,
  home: BlobHome,
  files: readonly Bytes[],
): Promise<void> {
  const contents = [...new Map(files.map((file) => [file.sha256, file])).values()];
  await atOnce(contents, ({ sha256, bytes, open }) => blobs.put(home, { sha256, bytes, type: "bytes" }, open()));
}

function referenceOf({ sha256, bytes }: Stored): string {
  return referenceText({ sha256, bytes, type: "bytes" });
}
