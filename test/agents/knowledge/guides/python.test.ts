import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "../python");
const modules = readdirSync(folder).filter((name) => /^test_.*\.py$/.test(name));

test("finds the Python tests", () => {
  expect(modules).toContain("test_mail_guides.py");
});

// They run the guides' code against servers of their own; what this Python cannot import is skipped.
test.each(modules)("passes %s", async (module) => {
  const run = promisify(execFile)(process.env.NOVA_PYTHON ?? "python3", ["-m", "unittest", "-q", module], {
    cwd: folder,
  });
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  expect(stderr).toMatch(/Ran [1-9]\d* tests? in [\d.]+s\s+OK( \(skipped=\d+\))?\s*$/);
});
