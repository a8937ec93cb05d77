// @module-tag deep
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const minutes = 60_000;

/** A block of the worked example: a new file, a change of a file, or commands. */
interface Block {
  language: string;
  /** The file to which the block belongs: the last path in the text before it. */
  file: string;
  text: string;
}

let copy: string;
let example: Block[];

beforeAll(() => {
  copy = copyProject();
  const [, section = ""] = readFileSync(join(root, "CONTRIBUTING.md"), "utf8").split(/^## Worked example.*$/m);
  example = blocksOf(section.split(/^## /m)[0] ?? "");
}, minutes);

afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe("the worked example in CONTRIBUTING.md", () => {
  it(
    "makes the type check fail after its first three steps, in exactly the files that the fourth step changes",
    async () => {
      const [before, after] = splitAt(example, ({ language }) => language === "sh");
      for (const block of before) apply(block);
      const checkTypes = `${after.shift()?.text.trim()} --incremental --tsBuildInfoFile types`;
      const { stdout } = await run(checkTypes).catch((failure) => failure);
      const reported = new Set(Array.from(stdout.matchAll(/^(packages\/\S+?)\(/gm), ([, file]: string[]) => file));
      const [rest] = splitAt(after, ({ language }) => language === "sh");
      expect(reported).toEqual(new Set(rest.map(({ file }) => file)));
      for (const block of rest) apply(block);
      expect((await run(checkTypes)).stdout).toBe("");
      example = after.slice(rest.length);
    },
    10 * minutes,
  );

  it(
    "passes the test that the example adds, after the documents are generated",
    async () => {
      for (const block of example)
        if (block.language === "sh") await run(block.text);
        else apply(block);
      expect(readFileSync(join(copy, "docs/definition.md"), "utf8")).toContain("\n- `set`: Writes constants");
    },
    5 * minutes,
  );

  it(
    "contains code that is already formatted",
    async () => {
      await expect(
        run("npx biome check packages/workflow packages/compiler packages/engine test/e2e"),
      ).resolves.toBeTruthy();
    },
    minutes,
  );
});

/**
 * Copies the project to a folder. The `node_modules` of the copy leads to the copies of NOVA's packages, and to the
 * installed versions of all other packages.
 */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "nova-contributing-"));
  const left = new Set([".git", ".nova", "node_modules", "contributing.test.ts"]);
  cpSync(root, folder, { recursive: true, filter: (path) => !left.has(relative(dirname(path), path)) });
  const installed = join(root, "node_modules");
  mkdirSync(join(folder, "node_modules/@nova"), { recursive: true });
  for (const name of readdirSync(installed)) {
    if (!name.startsWith(".") && name !== "@nova")
      symlinkSync(join(installed, name), join(folder, "node_modules", name));
  }
  symlinkSync(join(installed, ".bin"), join(folder, "node_modules/.bin"));
  for (const name of readdirSync(join(installed, "@nova"))) {
    const source = relative(realpathSync(root), realpathSync(join(installed, "@nova", name)));
    symlinkSync(join(folder, source), join(folder, "node_modules/@nova", name));
  }
  for (const name of readdirSync(join(root, "packages"))) {
    const own = join("packages", name, "node_modules");
    if (existsSync(join(root, own))) symlinkSync(join(root, own), join(folder, own));
  }
  return folder;
}

function blocksOf(section: string): Block[] {
  let file = "";
  const blocks: Block[] = [];
  for (const [, before = "", language = "", text = ""] of section.matchAll(/(.*?)^```(\w+)\n(.*?)^```$/gms)) {
    file = Array.from(before.matchAll(/`([\w@./-]+\/[\w.-]+\.ts)`/g), ([, path = ""]) => path).at(-1) ?? file;
    blocks.push({ language, file, text });
  }
  return blocks;
}

/**
 * Applies a block: writes a new file, or replaces the lines of a difference in a file. The old lines must occur in the
 * file exactly once.
 */
function apply({ language, file, text }: Block): void {
  const path = join(copy, file);
  if (language === "ts") {
    writeFileSync(path, text, { flag: "wx" });
    return;
  }
  const lines = text.trimEnd().split("\n");
  const side = (mark: string) => lines.flatMap((line) => (line[0] === mark ? [] : [`${line.slice(1)}\n`])).join("");
  const parts = readFileSync(path, "utf8").split(side("+"));
  expect(parts, `the lines of "${side("+")}" in ${file}`).toHaveLength(2);
  writeFileSync(path, parts.join(side("-")));
}

function splitAt<T>(list: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  const at = list.findIndex(isFirst);
  return [list.slice(0, at), list.slice(at)];
}

/** Runs a command in the copy. If the command fails, rejects with the output of the command. */
function run(command: string): Promise<{ stdout: string }> {
  const environment = { ...process.env, PATH: `${join(root, "node_modules/node/bin")}:${process.env.PATH}` };
  return promisify(execFile)("bash", ["-c", command], { cwd: copy, env: environment, maxBuffer: 1e8 });
}
