import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { withTestCloud } from "../../../packages/cli/src/tests/test-cloud.ts";

afterEach(() => vi.unstubAllEnvs());

it("the local cloud of nova test uses the Python packages and the documentation of packages in the user's data folder", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "nova-data-"));
  vi.stubEnv("NOVA_DATA_DIR", dataDir);
  for (const path of ["templates/nova-1/module.py", "docstrings/nova-1.json"]) {
    await mkdir(dirname(join(dataDir, path)), { recursive: true });
    await writeFile(join(dataDir, path), path);
  }
  const texts = await withTestCloud(() => {
    const docstrings = process.env.NOVA_DOCSTRINGS ?? "";
    const lent = [join(docstrings, "nova-1.json"), join(dirname(docstrings), "templates/nova-1/module.py")];
    return Promise.all(lent.map((path) => readFile(path, "utf8")));
  });
  expect(texts).toEqual(["docstrings/nova-1.json", "templates/nova-1/module.py"]);
  expect(await readFile(join(dataDir, "docstrings/nova-1.json"), "utf8")).toBe("docstrings/nova-1.json");
  await rm(dataDir, { recursive: true });
});
