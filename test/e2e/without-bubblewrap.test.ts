import { execFileSync } from "node:child_process";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { newFolder, nova, writeChain } from "../cli/support/nova.ts";

let cwd: string;

/** A PATH with a Python on it, and nothing else. */
beforeAll(async () => {
  cwd = await newFolder();
  await mkdir(join(cwd, "bin"));
  const python = execFileSync(process.env.NOVA_PYTHON ?? "python3", ["-c", "import sys; print(sys.executable)"]);
  await symlink(python.toString().trim(), join(cwd, "bin", "python3"));
  await writeChain(cwd, "by-hand", {
    one: "context['a'] = b'\\0' * 9000",
    two: "context['size'] = len(context['a'])",
  });
  vi.stubEnv("PATH", join(cwd, "bin"));
});

afterAll(() => rm(cwd, { recursive: true }));

it("runs code written by hand where there is no bubblewrap, and says once that nothing is walled off", async () => {
  const { code, stdout, stderr } = await nova(cwd, "run", "by-hand", "--json");
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, status: "completed", context: { size: 9000 } });
  expect(stderr).toMatch(/^[^\n]*sandboxes are not isolated from this machine, run only code that you trust[^\n]*\n$/);
});
