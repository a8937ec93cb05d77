import { spawn } from "node:child_process";
import { mkdir, readFile, rm, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { ensurePython } from "@nova/local";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../support/imports.ts";
import { newFolder } from "./support/nova.ts";

const page = join(root, "docs/webhook-to-callback.md");
let cwd: string;

beforeAll(async () => {
  await ensurePython({ debian: true });
  cwd = await newFolder();
  await mkdir(join(cwd, ".bin"));
  await symlink(join(root, "packages/cli/bin/nova.js"), join(cwd, ".bin/nova"));
}, 300_000);
afterAll(() => rm(cwd, { recursive: true, force: true }));

it("the commands in docs/webhook-to-callback.md work unchanged, from the signed request to the callback", {
  tags: ["deep"],
  timeout: 240_000,
}, async () => {
  const written = await readFile(page, "utf8");
  const blocks = Array.from(written.matchAll(/^```sh\n(.*?)^```/gms), ([, block]) => block);
  expect(blocks).toHaveLength(11);
  const path = [join(cwd, ".bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path, NO_COLOR: "1", NOVA_DATA_DIR: "" };
  const shell = spawn("bash", ["-c", `set -eu\n${blocks.join("\n")}`], { cwd, env });
  const [out, errors, code] = await Promise.all([
    text(shell.stdout),
    text(shell.stderr),
    new Promise((resolve) => shell.on("close", resolve)),
  ]);
  expect({ code, errors, out }).toMatchObject({ code: 0 });
  const [, promised = ""] = /^```\n(503 .*?)^```/ms.exec(written) ?? [];
  const shop = await readFile(join(cwd, "shop.log"), "utf8");
  expect(shop.replaceAll(/exec_\w+/g, "exec_01M8...")).toBe(promised);
  const keys = shop.split("\n").map((line) => line.split(" ")[1]);
  expect(keys[0]).toBe(keys[1]);
  expect(out).toMatch(/^\{"execution_id":"exec_\w+","status":"running"\}$/m);
  expect(out).toMatch(/^anchored 12 entries/m);
  expect(out).not.toContain("a-secret-of-the-shop");
});
