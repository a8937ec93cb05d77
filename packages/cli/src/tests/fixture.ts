import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import {
  deepestNesting,
  type ExactValue,
  isRawNumber,
  measureOf,
  parseExact,
  sha256,
  sha256 as sha256Of,
} from "@nova/engine";
import { defined, demandLeadsInside, isWorkflowFolder } from "@nova/workflow";
import { z } from "zod";
import { ignoredFolders } from "../dev/publisher.ts";
import { InvalidInput, InvalidWorkflow, throwInvalid } from "../errors.ts";
import { writeInside } from "../files.ts";
import { type ExactObject, mapMembers, mapValue } from "../input/context.ts";
import { readAndCompile, readAndParse, workflowPath } from "../input/workflow.ts";
import type { Checked } from "../run/request.ts";
import { formProblem, hasForm, markOf, type WholeValue } from "./values.ts";

const Values = z.record(z.string(), z.custom<ExactValue>());

const Outcome = z.strictObject({
  set: Values.default({}),
  delete: z.array(z.string()).default([]),
  decision: z.string().nullable().default(null),
  /**
   * The reply in which an agent's model requested calls of tools. In a test, NOVA checks this reply again and may run
   * the tools.
   */
  reply: z.custom<ExactValue>().optional(),
  error: z.strictObject({ class: z.string(), message: z.custom<ExactValue>() }).optional(),
});

/**
 * The content of a test file. References to other files are already replaced by the values in these files, except for
 * bytes, which are in `files` of the test.
 */
export const Fixture = z.strictObject({
  format: z.custom<ExactValue>((value) => JSON.stringify(value) === "1", "it is 1"),
  workflow: z.string(),
  recorded_from: z.string().optional(),
  input: Values,
  /** For each node, the first characters of the SHA-256 of its code when its outcome was recorded. */
  code: z.record(z.string(), z.string()).default({}),
  /**
   * For each prompt node, the first characters of the SHA-256 of its prompt. If the code that a model wrote for the
   * node is known, the hash of this code is in `code`.
   */
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

/** The limit for the size of all files of a test together. */
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
  const whole = fileReader(join(folder, "tests"), files, invalid);
  const shaped = Fixture.safeParse(await whole(raw));
  const [issue] = shaped.error?.issues ?? [];
  if (!shaped.success)
    return invalid(`${[...(issue?.path ?? []).map(String), issue?.message].join(": ")} - correct it`);
  const fixture = shaped.data;
  if (hasForm(fixture.input)) invalid("its input has a form - write the value that the run begins with");
  return { name, fixture, files };
}

/** Parses JSON text. Returns undefined if the text is not JSON, or if it is nested deeper than any context. */
function parseFixture(text: string): ExactValue | undefined {
  try {
    const value = parseExact(text);
    return measureOf(text).depth > deepestNesting ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Makes a function that replaces the file references in a value by the content of the files. The made function throws
 * if a key starts with one `$` but has no known meaning, such as `$aprox` in `{"$aprox": 850}`.
 */
function fileReader(folder: string, files: TestFiles, invalid: (why: string) => never) {
  let left = maxFileBytes;
  const whole = (value: ExactValue): Promise<WholeValue> => mapValue(value, wholeObject);

  async function wholeObject(value: ExactObject): Promise<WholeValue> {
    const mark = markOf(value);
    if (mark === undefined) return mapMembers(value, wholeObject);
    if (mark === "$file" || mark === "$text" || mark === "$json") return fileValue(mark, value);
    const problem = formProblem(value);
    return problem === undefined ? value : invalid(problem);
  }

  async function fileValue(mark: "$file" | "$text" | "$json", value: ExactObject): Promise<WholeValue> {
    const path = value[mark];
    if (typeof path !== "string" || Object.keys(value).length !== 1) return invalid(`write {"${mark}": "path"}`);
    const bytes = await read(path);
    if (mark === "$text") return bytes.toString();
    if (mark === "$json") return whole(parseFixture(bytes.toString()) ?? invalid(`"${path}" is not JSON`));
    const sha256 = sha256Of(bytes);
    files.set(sha256, bytes);
    return { $file: sha256 };
  }

  /**
   * Accepts only files below the test folder, also after following links, because a test from another source must not
   * read other files of this machine.
   */
  async function read(path: string): Promise<Buffer> {
    await demandLeadsInside(folder, path).catch((error: Error) => invalid(error.message));
    const bytes = await readFile(join(folder, path)).catch(() => invalid(`there is no file "${path}"`));
    left -= bytes.length;
    return left < 0 ? invalid(`its files have more than ${maxFileBytes} bytes`) : bytes;
  }

  return whole;
}

export interface TestFolder extends Checked {
  path: string;
  folder: string;
  /** The tests in the order of their names. */
  tests: Test[];
}

/** Reads a workflow folder with its tests. Throws `InvalidInput`, `InvalidWorkflow`. */
export async function readTestFolder(path: string): Promise<TestFolder> {
  const folder = workflowFolderOf(path);
  const compiled = await readAndCompile(folder);
  if (!compiled.workflow) throw new InvalidWorkflow(path, compiled.findings);
  const names = await testNames(folder);
  if (names.length === 0)
    throw new InvalidInput(`"${path}" has no tests - nova test add <execution> makes one from a run`);
  const { workflow, definition, history } = compiled;
  const tests = await Promise.all(names.map((name) => readTest(folder, name)));
  const stranger = tests.find(({ fixture }) => fixture.workflow !== workflow.id);
  if (stranger)
    throw new InvalidInput(
      `the test "${stranger.name}" belongs to workflow "${stranger.fixture.workflow}" - move it there, or correct its "workflow"`,
    );
  return { path, folder, workflow, definition, history, tests };
}

/** Returns the folder of a workflow from the path of the folder or of the definition in it. Throws `InvalidInput`. */
export function workflowFolderOf(path: string): string {
  const folder = workflowPath(path);
  if (isWorkflowFolder(folder)) return folder;
  throw new InvalidInput(`"${path}" is not a workflow folder - name one with workflow.json or workflow.ts`);
}

async function testNames(folder: string): Promise<string[]> {
  const files = await readdir(join(folder, "tests")).catch(() => []);
  return files
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .sort();
}

/** Finds the folder of a workflow: the current folder, or a folder below it. Throws `InvalidInput`. */
export async function findWorkflowFolder(workflow: string, asked: string | undefined): Promise<string> {
  if (asked !== undefined) {
    const folder = workflowFolderOf(asked);
    if ((await idOf(folder)) === workflow) return folder;
    throw new InvalidInput(`"${asked}" does not have the workflow "${workflow}" of the execution - name its folder`);
  }
  const found: string[] = [];
  for await (const folder of foldersBelow(".", maxDepth))
    if (mayHold(folder, workflow) && (await idOf(folder)) === workflow) found.push(folder);
  const [first, second] = found;
  if (first === undefined)
    throw new InvalidInput(`there is no folder of the workflow "${workflow}" here - name it with --folder`);
  if (second === undefined) return resolve(first);
  throw new InvalidInput(`the workflow "${workflow}" is in "${first}" and in "${second}" - name one with --folder`);
}

const maxDepth = 3;

async function* foldersBelow(folder: string, depth: number): AsyncGenerator<string> {
  if (isWorkflowFolder(folder)) return yield folder;
  if (depth === 0) return;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isDirectory() && !ignoredFolders.test(entry.name))
      yield* foldersBelow(join(folder, entry.name), depth - 1);
}

/**
 * Returns whether the command may read the workflow id of a folder. To read the id from a program, NOVA runs the
 * program. So a folder without workflow.json must have the name of the workflow or be the current folder.
 */
function mayHold(folder: string, workflow: string): boolean {
  return existsSync(join(folder, "workflow.json")) || basename(resolve(folder)) === workflow || folder === ".";
}

async function idOf(folder: string): Promise<string | undefined> {
  return (await readAndParse(folder)).workflow?.id;
}

/**
 * The largest text or value inside a test file. A longer text or value gets a file of its own, because people read test
 * files.
 */
const maxInlineBytes = 1000;

/** Writes a test and its files, and removes its files that are no longer used. Throws `InvalidInput`. */
export async function writeTest(folder: string, test: Test, { replaces }: { replaces: boolean }): Promise<string> {
  const { name } = test;
  const { content, files } = splitTest(test);
  const path = `tests/${name}.json`;
  await writeInside(folder, path, `${pretty(content, "", 0)}\n`, { replaces });
  for (const [file, part] of files) await writeInside(folder, `tests/${file}`, part, { replaces: true });
  await removeOthers(folder, name, files);
  return path;
}

async function removeOthers(folder: string, name: string, named: ReadonlyMap<string, unknown>): Promise<void> {
  // The folder must not be a link, because files of another folder would be removed.
  await demandLeadsInside(folder, `tests/${name}`);
  const before = await readdir(join(folder, "tests", name)).catch(() => []);
  const gone = before.filter((file) => ours.test(file) && !named.has(`${name}/${file}`));
  await Promise.all(gone.map((file) => rm(join(folder, "tests", name, file), { force: true })));
}

/** Matches the names of files that `writeTest` writes. `writeTest` does not remove files with other names. */
const ours = /^[0-9a-f]{16}\.(txt|json|bin)$/;

/** Returns the content of a test file, and the files with the bytes, long texts and large values of the test. */
function splitTest({ name, fixture, files: bytes }: Test) {
  const { input, outcomes, expect, format, workflow, recorded_from, code, prompts } = fixture;
  const files = new Map<string, string | Uint8Array>();

  function writeOutcome({ set, delete: deleted, decision, error, reply }: FixtureOutcome): object {
    if (reply !== undefined) return { reply: writeValue(reply) };
    return {
      ...(!error && { set: mapValues(set, writeValue) }),
      ...(deleted.length > 0 && { delete: deleted }),
      ...(decision !== null && { decision }),
      ...(error && { error }),
    };
  }

  function writeValue(value: WholeValue): ExactValue {
    const small = withoutTexts(value);
    const isSmall = Buffer.byteLength(JSON.stringify(small)) <= maxInlineBytes;
    return isSmall ? small : { $json: keep(`${lineByLine(small)}\n`, "json") };
  }

  function withoutTexts(value: WholeValue): ExactValue {
    if (typeof value === "string")
      return Buffer.byteLength(value) <= maxInlineBytes || !value.isWellFormed()
        ? value
        : { $text: keep(value, "txt") };
    if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
    if (Array.isArray(value)) return value.map(withoutTexts);
    const content = typeof value.$file === "string" ? bytes.get(value.$file) : undefined;
    if (content) return { $file: keep(content, "bin") };
    return markOf(value) === undefined ? mapValues(value, withoutTexts) : value;
  }

  function keep(content: string | Uint8Array, ending: string): string {
    const path = `${name}/${sha256(content).slice(0, 16)}.${ending}`;
    files.set(path, content);
    return path;
  }

  // Undefined fields are left out, because JSON has no `undefined`.
  const content = defined({
    format,
    workflow,
    recorded_from,
    input: mapValues(input, writeValue),
    code,
    ...(Object.keys(prompts).length > 0 && { prompts }),
    outcomes: mapValues(outcomes, writeOutcome),
    expect: { ...expect, ...(expect.context && { context: mapValues(expect.context, writeValue) }) },
  });
  return { content: content as ExactValue, files };
}

function mapValues<Value, Mapped>(values: Readonly<Record<string, Value>>, map: (value: Value) => Mapped) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

/** Formats a value with each item or member on its own line, so that a diff shows only what has changed. */
function lineByLine(value: ExactValue): string {
  if (Array.isArray(value)) return `[\n${value.map((one) => JSON.stringify(one)).join(",\n")}\n]`;
  if (value === null || typeof value !== "object" || isRawNumber(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${JSON.stringify(one)}`);
  return `{\n${members.join(",\n")}\n}`;
}

/** Formats JSON as formatters do: a short list stays on one line. */
function pretty(value: ExactValue, indent: string, before: number): string {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return JSON.stringify(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((one) => pretty(one, inner, 0))
    : Object.entries(value).map(([key, one]) => {
        const name = `${JSON.stringify(key)}: `;
        return name + pretty(one, inner, name.length);
      });
  const line = `[${parts.join(", ")}]`;
  const fits = isList && !line.includes("\n") && indent.length + before + line.length < maxLineLength;
  const [open, close] = isList ? "[]" : "{}";
  if (fits || parts.length === 0) return isList ? line : "{}";
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

const maxLineLength = 120;
