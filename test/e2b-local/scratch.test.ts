import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeScratch, writeToScratch } from "../../packages/e2b-local/src/scratch.ts";

test("a new local E2B server removes the scratch folders of killed servers, but not those of running servers", () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const left = join(tmpdir(), `nova-e2b-${pid}-left`);
  mkdirSync(join(left, "s0"), { recursive: true });
  const mine = makeScratch();
  const second = makeScratch();
  expect([existsSync(left), existsSync(mine), existsSync(second)]).toEqual([false, true, true]);
  for (const folder of [mine, second]) rmSync(folder, { recursive: true });
});

test("the error about a full disk names the scratch folder on that disk", () => {
  const full = () => {
    throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  };
  expect(() => writeToScratch(full)).toThrow(
    `${tmpdir()} has no room for what sandboxes need to start - free some space`,
  );
});
