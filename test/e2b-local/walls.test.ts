// @module-tag deep
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Sandbox } from "@e2b/code-interpreter";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type E2bServer, openE2b } from "../../packages/e2b-local/src/open.ts";
import { API_KEY } from "./server.ts";

const realPath = process.env.PATH;
let folder: string;
let server: E2bServer;
let warnings: string[];

/**
 * Installs a fake bubblewrap. It prints `sentence` and fails until the test removes the file `short`; then it runs the
 * real one.
 */
function speaking(sentence: string): void {
  const script = `#!/bin/sh\nif [ -e ${folder}/short ]; then echo "${sentence}" >&2; exit 1; fi\nPATH="${realPath}" exec bwrap "$@"\n`;
  writeFileSync(join(folder, "bwrap"), script);
  chmodSync(join(folder, "bwrap"), 0o755);
  writeFileSync(join(folder, "short"), "");
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nova-walls-"));
  chmodSync(folder, 0o755);
  process.env.PATH = `${folder}:${realPath}`;
});
afterEach(async () => {
  process.env.PATH = realPath;
  await server.close();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<void> {
  warnings = [];
  server = await openE2b({ apiKey: API_KEY, waits: true, warn: (sentence) => warnings.push(sentence) });
}

async function isEnclosed(): Promise<boolean> {
  const { apiUrl, sandboxUrl } = server;
  const sandbox = await Sandbox.create("nova", { apiKey: API_KEY, apiUrl, sandboxUrl });
  const { text } = await sandbox.runCode(`import os; os.path.exists(${JSON.stringify(folder)})`);
  return text === "False";
}

describe.runIf(process.platform === "linux")("the isolation of the sandboxes of a local E2B server", () => {
  test.each([
    "bwrap: Creating new namespace failed: Resource temporarily unavailable",
    "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
    "bwrap: Can't mount tmpfs on /newroot: Cannot allocate memory",
    "bwrap: Can't open /proc: Too many open files",
    "bwrap: pipe2: Too many open files in system",
    "OSError: [Errno 109] Too many references: cannot splice",
    "Killed",
  ])("is complete at the next attempt after this temporary error: %s", async (sentence) => {
    speaking(sentence);
    await open();
    await expect(isEnclosed()).rejects.toThrow(sentence.slice(-20));
    rmSync(join(folder, "short"));
    expect([await isEnclosed(), server.isolated, warnings]).toEqual([true, true, []]);
  });

  test.each([
    "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces",
    "bwrap: Creating new namespace failed: Operation not permitted",
    "bwrap: Creating new namespace failed: Function not implemented",
    "bwrap: Creating new namespace failed: Invalid argument",
    "bwrap: setting up uid map: Permission denied",
  ])("is missing on a machine that does not support it, and the server warns of this error: %s", async (sentence) => {
    speaking(sentence);
    await open();
    expect(await isEnclosed()).toBe(false);
    rmSync(join(folder, "short"));
    expect([await isEnclosed(), server.isolated]).toEqual([false, false]);
    expect(warnings).toEqual([expect.stringMatching(/^sandboxes are not isolated.*bwrap: .* - on Linux install/)]);
  });
});
