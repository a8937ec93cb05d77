import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ExactValue, isRawNumber, sha256 } from "@nova/engine";
import { defined, demandLeadsInside } from "@nova/workflow";
import { writeInside } from "../write-inside.ts";
import type { Fixture, FixtureOutcome, Test, TestFiles } from "./fixture.ts";
import { markOf } from "./forms.ts";
import type { WholeValue } from "./values.ts";

/** A longer text or value gets its own file, because people read tests. */
const maxInlineBytes = 1000;

/** Writes a test and its files, and removes its files that are no longer used. Throws `InvalidInput`. */
export async function writeTest(folder: string, test: Test, { replaces }: { replaces: boolean }): Promise<string> {
  const { name, fixture, files } = test;
  const written = new Writer(name, files);
  const text = `${pretty(written.fixture(fixture), "", 0)}\n`;
  const path = `tests/${name}.json`;
  await writeInside(folder, path, text, { replaces });
  for (const [file, content] of written.files) await writeInside(folder, `tests/${file}`, content, { replaces: true });
  await removeOthers(folder, name, written.files);
  return path;
}

async function removeOthers(folder: string, name: string, named: ReadonlyMap<string, unknown>): Promise<void> {
  // Through a link, files of another folder would be removed.
  await demandLeadsInside(folder, `tests/${name}`);
  const before = await readdir(join(folder, "tests", name)).catch(() => []);
  const gone = before.filter((file) => ours.test(file) && !named.has(`${name}/${file}`));
  await Promise.all(gone.map((file) => rm(join(folder, "tests", name, file), { force: true })));
}

/** Names of files that this function writes. Other files stay. */
const ours = /^[0-9a-f]{16}\.(txt|json|bin)$/;

class Writer {
  readonly files = new Map<string, string | Uint8Array>();
  readonly #name: string;
  readonly #bytes: TestFiles;

  constructor(name: string, bytes: TestFiles) {
    this.#name = name;
    this.#bytes = bytes;
  }

  fixture({ input, outcomes, expect, ...rest }: Fixture): ExactValue {
    const { format, workflow, recorded_from, code, prompts } = rest;
    const promptPart = Object.keys(prompts).length > 0 && { prompts };
    const written = Object.entries(outcomes).map(([place, outcome]) => [place, this.#outcome(outcome)]);
    // JSON has no `undefined`.
    return defined({
      format,
      workflow,
      recorded_from,
      input: this.#values(input),
      code,
      ...promptPart,
      outcomes: Object.fromEntries(written),
      expect: { ...expect, ...(expect.context && { context: this.#values(expect.context) }) },
    }) as ExactValue;
  }

  #outcome({ set, delete: deleted, decision, error }: FixtureOutcome): object {
    return {
      ...(!error && { set: this.#values(set) }),
      ...(deleted.length > 0 && { delete: deleted }),
      ...(decision !== null && { decision }),
      ...(error && { error }),
    };
  }

  #values(values: Readonly<Record<string, ExactValue>>): object {
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, this.#value(value)]));
  }

  #value(value: WholeValue): ExactValue {
    const small = this.#withoutTexts(value);
    const isSmall = Buffer.byteLength(JSON.stringify(small)) <= maxInlineBytes;
    return isSmall ? small : { $json: this.#keep(`${lineByLine(small)}\n`, "json") };
  }

  #withoutTexts(value: WholeValue): ExactValue {
    if (typeof value === "string")
      return Buffer.byteLength(value) <= maxInlineBytes || !value.isWellFormed()
        ? value
        : { $text: this.#keep(value, "txt") };
    if (value === null || typeof value !== "object" || isRawNumber(value)) return value;
    if (Array.isArray(value)) return value.map((one) => this.#withoutTexts(one));
    const mark = markOf(value);
    const bytes = typeof value.$file === "string" ? this.#bytes.get(value.$file) : undefined;
    if (bytes) return { $file: this.#keep(bytes, "bin") };
    if (mark !== undefined) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#withoutTexts(one)]));
  }

  #keep(content: string | Uint8Array, ending: string): string {
    const path = `${this.#name}/${sha256(content).slice(0, 16)}.${ending}`;
    this.files.set(path, content);
    return path;
  }
}

/** Writes each item or member on its own line, so that a diff shows the changed part. */
function lineByLine(value: ExactValue): string {
  const lines = (parts: string[], [open, close]: [string, string]) => `${open}\n${parts.join(",\n")}\n${close}`;
  if (Array.isArray(value)) {
    const items = value.map((one) => JSON.stringify(one));
    return lines(items, ["[", "]"]);
  }
  if (value === null || typeof value !== "object" || isRawNumber(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${JSON.stringify(one)}`);
  return lines(members, ["{", "}"]);
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
