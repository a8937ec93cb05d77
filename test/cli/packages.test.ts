import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readAndParse } from "../../packages/cli/src/input/workflow.ts";
import type { Asking } from "../../packages/cli/src/output/terminal.ts";
import { offerAll, offerPackages } from "../../packages/cli/src/packages.ts";
import { inARow } from "../support/cloud.ts";
import { nova } from "./support/nova.ts";

let folder: string;

/** A Python that lacks pandas and psycopg until pip has run. It writes pip's arguments to `pip`. */
const python = (place: string) => `#!/bin/sh
case "$*" in
  *"-m pip install"*) echo "$*" > ${place}/pip; exit 0;;
  *"-m compileall"*) exit 0;;
esac
missing='"pandas","psycopg"'
[ -e ${place}/pip ] && missing=''
echo "{\\"path\\": \\"${place}/python3\\", \\"version\\": \\"3.12.1\\", \\"missing\\": [$missing], \\"basePrefix\\": \\"/usr\\", \\"executable\\": \\"${place}/python3\\", \\"siteFolders\\": []}"
`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nova-packages-"));
  const path = join(folder, "python3");
  await writeFile(path, python(folder));
  await chmod(path, 0o755);
  vi.stubEnv("NOVA_PYTHON", path);
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  vi.stubEnv("NOVA_DATA_DIR", join(folder, "data"));
  const code = 'import numpy, requests\nimport fitz\ncontext["a"] = 1';
  await writeFile(join(folder, "uses.json"), JSON.stringify(inARow("uses", { table: code })));
  await writeFile(join(folder, "plain.json"), JSON.stringify(inARow("plain", { one: 'context["a"] = 1' })));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const said = 'node "table": line 1: "numpy" is in every sandbox, but not installed on this machine';

describe("Python packages that are missing on this machine", () => {
  it("are listed by nova packages, and by nova validate with the command that installs them", async () => {
    const before = await nova(folder, "validate", "uses.json");
    expect(before).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`NOVA609 ${said} - nova packages install`),
    });
    expect((await nova(folder, "packages")).stdout).toMatch(
      /pandas +pandas +missing\n.*requests +requests +installed\n/,
    );
    const installed = await nova(folder, "packages", "install", "--json");
    const python = { python: join(folder, "python3"), version: "3.12.1" };
    const there = { ...python, folder: join(folder, "cache/nova/python3.12"), missing: [] };
    expect(JSON.parse(installed.stdout)).toEqual(there);
    expect(await nova(folder, "validate", "uses.json")).toMatchObject({ stdout: "uses.json is valid\n" });
    expect(JSON.parse((await nova(folder, "packages", "--json")).stdout)).toEqual(there);
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  it("are listed by nova init, which does not offer to install them if there is no terminal", async () => {
    const { stdout, code } = await nova(folder, "init", "mine");
    expect(stdout).toMatch(/nova packages install installs the missing ones \(pandas, psycopg\)\.\n$/);
    expect([code, existsSync(join(folder, "pip"))]).toEqual([0, false]);
  });
});

describe("the offer of the command line to install missing Python packages", () => {
  const [asked, told] = [[] as string[], [] as string[]];
  beforeEach(() => void vi.spyOn(console, "error").mockImplementation((line) => told.push(line)));
  const answering = (yes: boolean): Asking => ({
    isInteractive: true,
    async ask(question) {
      asked.push(question);
      return yes;
    },
  });
  const parsed = async (name: string) => [await readAndParse(join(folder, name))];
  afterEach(() => {
    vi.restoreAllMocks();
    for (const list of [asked, told]) list.splice(0);
  });

  it("installs the packages after the answer yes", async () => {
    expect(await offerPackages(await parsed("uses.json"), answering(true))).toEqual([]);
    expect(asked).toEqual([expect.stringMatching(/packages pandas, psycopg are not installed here\. Install now/)]);
    expect(existsSync(join(folder, "pip"))).toBe(true);
  });

  it("changes nothing after the answer no, and the warnings about missing packages stay", async () => {
    const [found, ...others] = await offerPackages(await parsed("uses.json"), answering(false));
    expect([found?.message.startsWith(said), others, existsSync(join(folder, "pip"))]).toEqual([true, [], false]);
    expect(await offerAll(answering(false))).toContain("nova packages install");
  });

  it("is made if the code of a model may import the packages, but not if no code imports anything", async () => {
    await offerPackages(await parsed("plain.json"), answering(true));
    expect(asked).toEqual([]);
    const prompt = { id: "ai", type: "action", executor: "prompt", prompt: "Sum up." };
    const { nodes, ...rest } = inARow("ai", { one: "pass" }) as { nodes: { id: string }[] };
    const written = { ...rest, nodes: nodes.map((node) => (node.id === "one" ? { ...prompt, id: "one" } : node)) };
    await writeFile(join(folder, "ai.json"), JSON.stringify(written));
    expect(await offerPackages(await parsed("ai.json"), answering(true))).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it("ends with one sentence if pip fails, and the warnings about missing packages stay", async () => {
    vi.stubEnv("XDG_CACHE_HOME", join(folder, "python3"));
    expect(await offerPackages(await parsed("uses.json"), answering(true))).toHaveLength(1);
    expect(told.at(-1)).toMatch(
      /^nova: Python lacks pandas, psycopg and pip could not install it \(E.*\) - install pandas/,
    );
  });
});
