import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Trace, verifyExecution } from "@nova/engine";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newFolder, nova } from "../cli/support/nova.ts";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";

let cloud: TestCloud;
let cwd: string;
let trace: Trace;

beforeAll(async () => {
  cwd = await newFolder();
  cloud = await openTestCloud({ dataDir: join(cwd, ".nova") });
});

afterAll(async () => {
  await cloud.close();
  await rm(cwd, { recursive: true });
});

/** Runs a workflow that leaves a value, a page of the context, logs and the definition as objects in S3. */
beforeEach(async () => {
  const nodes = {
    value: "context['pdf'] = bytes(range(256)) * 4096",
    pages: "context.update({f'k{n}': 'v' * 300 for n in range(40)})",
    logs: `print('l' * 9000)  # ${"long ".repeat(2000)}`,
  };
  trace = await cloud.run(await cloud.publish(inARow("stored", nodes)));
});

/** Returns the paths of the files in which the local S3 keeps the objects of the run and its workflow. */
async function objects(): Promise<string[]> {
  const files = await readdir(join(cwd, ".nova", "s3"), { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  const mine = trace.execution.root.replaceAll(/[A-Z]/g, (letter) => `^${letter.toLowerCase()}`);
  return paths.filter((path) => path.includes(mine) || path.includes("workflows"));
}

async function objectThatHolds(part: string | Buffer): Promise<string> {
  for (const path of await objects()) if ((await readFile(path)).includes(part)) return path;
  throw new Error(`no object holds ${part.toString().slice(0, 20)}`);
}

/** Changes the last byte of `part` in a file. */
async function changeByte(path: string, part: string | Buffer): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.indexOf(part) + part.length - 1;
  bytes[at] = (bytes[at] as number) ^ 4;
  await writeFile(path, bytes);
}

describe("the command `nova verify`", { timeout: 60_000 }, () => {
  it.each<[string, string | Buffer, number, RegExp]>([
    ["a value", Buffer.from([253, 254, 255, 0, 1, 2]), 1, /^context\["pdf"\]: blob [0-9a-f]{64} /],
    ["a page of the context", '["k39",2,', 2, /^a page of its context: blob [0-9a-f]{64} /],
    ["logs", "l".repeat(9000), 3, /^its logs: blob [0-9a-f]{64} /],
  ])(
    "names the entry and the blob if one byte of %s was changed or the S3 object is missing",
    async (_what, part, seq, place) => {
      const verify = () => verifyExecution(cloud.ports, trace.execution.id);
      expect(await verify()).toMatchObject({ state: "anchored" });
      const path = await objectThatHolds(part);
      for (const [tamper, what] of [
        [changeByte, "was changed"],
        [(file: string) => rm(file), "is missing"],
      ] as const) {
        await tamper(path, part);
        const { state, problem } = await verify();
        expect([state, problem?.seq]).toEqual(["broken", seq]);
        expect(problem?.message).toMatch(place);
        expect(problem?.message).toContain(what);
      }
    },
  );

  it("exits with 1 and prints the faulty entry, key and blob", async () => {
    const id = trace.execution.id;
    await rm(await objectThatHolds(Buffer.from([253, 254, 255, 0, 1, 2])));
    const asJson = await nova(cwd, "verify", id, "--json");
    const { $blob } = JSON.parse(trace.context.text).pdf;
    expect({ code: asJson.code, ...JSON.parse(asJson.stdout) }).toMatchObject({
      code: 1,
      state: "broken",
      problem: { seq: 1, key: "pdf", blob: $blob.sha256 },
    });
    const printed = await nova(cwd, "verify", id);
    expect(printed.code).toBe(1);
    expect(printed.stdout).toContain(`entry 1: context["pdf"]: blob ${$blob.sha256} is missing`);
  });

  it("reports a change of code in the stored workflow definition", async () => {
    const code = "print('l' * 9000)";
    await changeByte(await objectThatHolds(code), code);
    const { code: exitCode, stdout } = await nova(cwd, "verify", trace.execution.id);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/entry 0: the definition that it ran, version \d+ of workflow "stored", was changed/);
  });
});
