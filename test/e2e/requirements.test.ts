// @module-tag deep
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findPython } from "../../packages/local/src/cloud/python-packages.ts";
import { newFolder, nova } from "../cli/support/nova.ts";
import { makeWheel } from "../local/cloud/support/wheel.ts";
import { inARow } from "../support/cloud.ts";

let cwd: string;
let index: string;

/** Creates a package index in a folder, so that pip needs no network. */
beforeAll(async () => {
  cwd = await newFolder();
  index = join(cwd, "index");
  await mkdir(index);
  await makeWheel(await findPython([]), index);
  vi.stubEnv("PIP_NO_INDEX", "1");
  vi.stubEnv("PIP_FIND_LINKS", index);
});

afterAll(() => rm(cwd, { recursive: true }));

async function write(requirement: string): Promise<void> {
  const use = "import novatiny\ncontext['answer'] = novatiny.answer";
  const definition = inARow("needs", { use }, { requirements: [requirement] });
  await writeFile(join(cwd, "needs.json"), JSON.stringify(definition));
}

describe("the requirements of a workflow", { timeout: 120_000 }, () => {
  it("are installed from pip's index before the first run, and are not installed again for later runs", async () => {
    await write("novatiny==1.0");
    const first = await nova(cwd, "run", "needs.json", "--json");
    expect(JSON.parse(first.stdout), first.stderr).toMatchObject({ status: "completed", context: { answer: 42 } });
    await rm(index, { recursive: true });
    const second = await nova(cwd, "run", "needs.json", "--json");
    expect(JSON.parse(second.stdout), second.stderr).toMatchObject({ status: "completed", context: { answer: 42 } });
  });

  it("prevent the run with one sentence, one JSON object and exit code 1 if they are not available", async () => {
    await write("novatiny==2.0");
    const { code, stdout, stderr } = await nova(cwd, "run", "needs.json", "--json");
    const message =
      /^the requirements novatiny==2\.0 cannot be installed \(ERROR: .*novatiny==2\.0.*\) - correct them, or/;
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 1,
      execution_id: null,
      status: "failed",
      error: { node: null, class: "PythonMissing", message: expect.stringMatching(message) },
    });
    expect(stderr).toMatch(/^nova: the requirements .*\n$/);
    expect(JSON.parse((await nova(cwd, "executions", "--json")).stdout).items).toHaveLength(2);
  });
});
