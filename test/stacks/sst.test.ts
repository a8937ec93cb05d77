import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { outputsFile, sstDeploy } from "../../stacks/sst.ts";

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

/** Installs a program instead of SST. */
function sst(script: string): void {
  writeFileSync(join(root, "sst"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(root, "sst"), 0o755);
  vi.stubEnv("PATH", `${root}${delimiter}${process.env.PATH}`);
}

describe("a deployment", () => {
  it.each([
    ["fails if SST exits with 0 and writes no outputs", "exit 0", 1],
    ["fails if SST reports a failure", "exit 3", 3],
    ["succeeds if SST writes outputs", "echo {} > .sst/outputs.json", 0],
  ])("%s", async (_, script, code) => {
    sst(script);
    expect(await sstDeploy(root, ["--stage", "production"])).toBe(code);
  });
});
