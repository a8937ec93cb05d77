import { execFileSync } from "node:child_process";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { newFolder, nova, writeChain } from "../cli/support/nova.ts";

let cwd: string;

/** Sets a PATH in which only Python is found, as on a machine without bubblewrap. */
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

it("NOVA on a machine without bubblewrap runs handwritten code and warns once that the code is not isolated", async () => {
  const { code, stdout, stderr } = await nova(cwd, "run", "by-hand", "--json");
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, status: "completed", context: { size: 9000 } });
  expect(stderr).toMatch(/^[^\n]*sandboxes are not isolated from this machine, run only code that you trust[^\n]*\n$/);
});
