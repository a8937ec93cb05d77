import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { outputsFile, sstDeploy } from "../../../stacks/deploy/sst.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nova-sst-"));
  mkdirSync(join(root, ".sst"));
  writeFileSync(outputsFile(root), "of the deployment before");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

/** A program in the place of SST. */
function sst(script: string): void {
  writeFileSync(join(root, "sst"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(root, "sst"), 0o755);
  vi.stubEnv("PATH", `${root}${delimiter}${process.env.PATH}`);
}

describe("a deployment", () => {
  it.each([
    ["fails where SST ends with 0 and has written no outputs", "exit 0", 1],
    ["fails where SST says that it failed", "exit 3", 3],
    ["stands where SST has written outputs", "echo {} > .sst/outputs.json", 0],
  ])("%s", async (_, script, code) => {
    sst(script);
    expect(await sstDeploy(root, ["--stage", "production"])).toBe(code);
  });
});
