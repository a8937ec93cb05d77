import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensurePython } from "@nova/local";
import { beforeAll, expect, test } from "vitest";
import { nova } from "../cli/support/nova.ts";

const folder = join(import.meta.dirname, "python");
const modules = readdirSync(folder).filter((name) => /^test_.*\.py$/.test(name));

test("the folder with the Python tests of the examples contains test files", () => {
  expect(modules).toContain("test_totals.py");
});

// These tests need only Python and its standard library. Real PDFs are read in the end-to-end tests.
test.each(modules)("the Python test %s passes", async (module) => {
  const run = promisify(execFile)("python3", ["-m", "unittest", "-q", module.replace(/\.py$/, "")], { cwd: folder });
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  expect(stderr).toMatch(/Ran [1-9]\d* tests? in [\d.]+s\s+OK\s*$/);
});

const invoice = join(import.meta.dirname, "../../packages/examples/invoice");

beforeAll(() => ensurePython({ debian: true }), 300_000);

test("the invoice example passes its own tests without a mail server and a database", {
  timeout: 120_000,
}, async () => {
  const names = readdirSync(join(invoice, "tests")).filter((file) => file.endsWith(".json"));
  expect(names).toEqual(["high.json", "low.json", "without-pdf.json"]);
  const { code, stdout } = await nova(invoice, "test", ".", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ passed: 3, failed: 0, stale: 0 });
  expect(code).toBe(0);
});
