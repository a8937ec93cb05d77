import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "python");
const modules = readdirSync(folder).filter((name) => /^test_.*\.py$/.test(name));

test("the Python tests of the examples are in the folder in which this test looks for them", () => {
  expect(modules).toContain("test_totals.py");
});

// These tests need only Python and its standard library. Real PDFs are read in the end-to-end tests.
test.each(modules)("the Python test %s passes", async (module) => {
  const run = promisify(execFile)("python3", ["-m", "unittest", "-q", module.replace(/\.py$/, "")], { cwd: folder });
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  expect(stderr).toMatch(/Ran [1-9]\d* tests? in [\d.]+s\s+OK\s*$/);
});
