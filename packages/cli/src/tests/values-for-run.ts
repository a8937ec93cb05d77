import {
  type BlobHome,
  type FileInPlace,
  newFileMark,
  objectText,
  type Ports,
  placeFiles,
  type StartRequest,
} from "@nova/engine";
import { ulid } from "ulid";
import { InvalidInput } from "../errors.ts";
import type { TestFiles } from "./fixture.ts";
import { textForRun, type WholeValue } from "./values.ts";

/** The recorded outcome of a place that does not run. */
export interface RecordedOutcome {
  set: Readonly<Record<string, WholeValue>>;
  delete: readonly string[];
  decision: string | null;
  error?: { class: string; message: string };
}

interface TestValues {
  input: Readonly<Record<string, WholeValue>>;
  outcomes: Readonly<Record<string, RecordedOutcome>>;
}

interface ForRun {
  id: string;
  home: BlobHome;
  start: Pick<StartRequest, "context" | "files">;
  /** The document of outcomes; the blobs that it names are stored. */
  document: string;
}

/** Converts a test's values for an execution, and stores its bytes as blobs of that execution. */
export async function valuesForRun(
  { blobs }: Pick<Ports, "blobs">,
  files: TestFiles,
  { input, outcomes }: TestValues,
): Promise<ForRun> {
  const id = `exec_${ulid()}`;
  const home = { client: "default", root: id };
  const ofInput = new Marks(files);
  const context = textForRun(input, (sha256) => ofInput.markOf(sha256));
  const ofOutcomes = new Marks(files);
  const written = Object.entries(outcomes).map(([key, outcome]) => ({ key, json: outcomeText(outcome, ofOutcomes) }));
  for (const { sha256, bytes, open } of ofOutcomes.files)
    await blobs.put(home, { sha256, bytes, type: "bytes" }, open());
  return { id, home, start: { context, files: ofInput.files }, document: objectText(written) };
}

function outcomeText({ set, delete: deleted, decision, error }: RecordedOutcome, marks: Marks): string {
  const text = textForRun(set, (sha256) => marks.markOf(sha256));
  return objectText([
    ...(error
      ? [{ key: "error", json: JSON.stringify(error) }]
      : [{ key: "set", json: placeFiles(text, marks.files) }]),
    { key: "delete", json: JSON.stringify(deleted) },
    { key: "decision", json: JSON.stringify(decision) },
  ]);
}

/** Marks in a text that stand for bytes. */
class Marks {
  readonly #all: TestFiles;
  readonly #used = new Map<string, FileInPlace>();

  constructor(all: TestFiles) {
    this.#all = all;
  }

  get files(): FileInPlace[] {
    return Array.from(this.#used.values());
  }

  markOf(sha256: string): string {
    const known = this.#used.get(sha256);
    if (known) return known.mark;
    const content = this.#all.get(sha256);
    if (!content) throw new InvalidInput(`a test has lost the bytes ${sha256} - record it again`);
    const open = async function* () {
      yield content;
    };
    const file = { mark: newFileMark(), sha256, bytes: content.length, open };
    this.#used.set(sha256, file);
    return file.mark;
  }
}
