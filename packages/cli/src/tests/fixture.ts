import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { deepestNesting, type ExactValue, measureOf, parseExact, sha256 as sha256Of } from "@nova/engine";
import { demandLeadsInside } from "@nova/workflow";
import { z } from "zod";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { type ExactObject, mapMembers, mapValue } from "../input/exact.ts";
import { formProblem, hasForm, markOf } from "./forms.ts";
import type { WholeValue } from "./values.ts";

const Values = z.record(z.string(), z.custom<ExactValue>());

const Outcome = z.strictObject({
  set: Values.default({}),
  delete: z.array(z.string()).default([]),
  decision: z.string().nullable().default(null),
  error: z.strictObject({ class: z.string(), message: z.custom<ExactValue>() }).optional(),
});

/** The content of a test file. Values from other files are in their places; `files` has the bytes. */
export const Fixture = z.strictObject({
  format: z.custom<ExactValue>((value) => JSON.stringify(value) === "1", "it is 1"),
  workflow: z.string(),
  recorded_from: z.string().optional(),
  input: Values,
  /** The code of nodes when their outcomes were recorded: the start of its SHA-256. */
  code: z.record(z.string(), z.string()).default({}),
  /** The prompts of nodes, in the same form; `code` has the code that models wrote, if it is known. */
  prompts: z.record(z.string(), z.string()).default({}),
  /** Recorded outcomes by place. */
  outcomes: z.record(z.string(), Outcome),
  expect: z.strictObject({
    status: z.enum(["completed", "failed"]).default("completed"),
    error: z.strictObject({ node: z.string(), class: z.string(), message: z.custom<ExactValue>() }).optional(),
    path: z.array(z.string()).optional(),
    decisions: z.record(z.string(), z.string()).optional(),
    context: Values.optional(),
  }),
});
export type Fixture = z.infer<typeof Fixture>;
export type FixtureOutcome = Fixture["outcomes"][string];

/** The files of a test, by the SHA-256 of their bytes. */
export type TestFiles = Map<string, Uint8Array>;

export interface Test {
  name: string;
  fixture: Fixture;
  files: TestFiles;
}

/** The files of a test must not be larger together. */
const maxFileBytes = 256 * 1024 * 1024;

/** Reads `tests/<name>.json` of a workflow folder. Throws `InvalidInput` with the path. */
export async function readTest(folder: string, name: string): Promise<Test> {
  const path = join(folder, "tests", `${name}.json`);
  const invalid = (why: string): never => {
    throw new InvalidInput(`"${path}" is not a valid test: ${why}`);
  };
  const text = (await readFile(path).catch(throwInvalid(`"${path}" cannot be read - make it readable`))).toString();
  const files: TestFiles = new Map();
  const raw = parseFixture(text);
  if (raw === undefined) return invalid("it is not JSON - correct it");
  const shaped = Fixture.safeParse(await new Reader(join(folder, "tests"), files, invalid).whole(raw));
  const [issue] = shaped.error?.issues ?? [];
  if (!shaped.success)
    return invalid(`${[...(issue?.path ?? []).map(String), issue?.message].join(": ")} - correct it`);
  const fixture = shaped.data;
  if (hasForm(fixture.input)) invalid("its input has a form - write the value that the run begins with");
  return { name, fixture, files };
}

/** Parses JSON text; undefined if it is not JSON or nested deeper than any context. */
function parseFixture(text: string): ExactValue | undefined {
  try {
    const value = parseExact(text);
    return measureOf(text).depth > deepestNesting ? undefined : value;
  } catch {
    return undefined;
  }
}

class Reader {
  readonly #folder: string;
  readonly #files: TestFiles;
  readonly #invalid: (why: string) => never;
  #left = maxFileBytes;

  constructor(folder: string, files: TestFiles, invalid: (why: string) => never) {
    this.#folder = folder;
    this.#files = files;
    this.#invalid = invalid;
  }

  /** Replaces file references by their content. Throws for an unknown form. */
  whole(value: ExactValue): Promise<WholeValue> {
    return mapValue(value, this.#object);
  }

  readonly #object = async (value: ExactObject): Promise<WholeValue> => {
    const mark = markOf(value);
    if (mark === undefined) return mapMembers(value, this.#object);
    if (mark === "$file" || mark === "$text" || mark === "$json") return this.#fileValue(mark, value);
    const problem = formProblem(value);
    return problem === undefined ? value : this.#invalid(problem);
  };

  async #fileValue(mark: "$file" | "$text" | "$json", value: ExactObject): Promise<WholeValue> {
    const path = value[mark];
    if (typeof path !== "string" || Object.keys(value).length !== 1) return this.#invalid(`write {"${mark}": "path"}`);
    const bytes = await this.#read(path);
    if (mark === "$text") return bytes.toString();
    if (mark === "$json") return this.whole(parseFixture(bytes.toString()) ?? this.#invalid(`"${path}" is not JSON`));
    const sha256 = sha256Of(bytes);
    this.#files.set(sha256, bytes);
    return { $file: sha256 };
  }

  /**
   * Accepts only files below the test folder, also after following links, because a test from another source must not
   * read other files of this machine.
   */
  async #read(path: string): Promise<Buffer> {
    await demandLeadsInside(this.#folder, path).catch((error: Error) => this.#invalid(error.message));
    const bytes = await readFile(join(this.#folder, path)).catch(() => this.#invalid(`there is no file "${path}"`));
    this.#left -= bytes.length;
    return this.#left < 0 ? this.#invalid(`its files have more than ${maxFileBytes} bytes`) : bytes;
  }
}
