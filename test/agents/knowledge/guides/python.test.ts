import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const folder = join(import.meta.dirname, "../python");
const modules = readdirSync(folder).filter((name) => /^test_.*\.py$/.test(name));

test("the guides have Python tests", () => {
  expect(modules).toContain("test_mail_guides.py");
});

// The tests run the guides' code against their own servers, and skip modules that this Python cannot import.
test.each(modules)("the guides pass %s", async (module) => {
  const run = promisify(execFile)(process.env.NOVA_PYTHON ?? "python3", ["-m", "unittest", "-q", module], {
    cwd: folder,
  });
  const { stderr } = await run.catch((error: { stderr: string }) => error);
  expect(stderr).toMatch(/Ran [1-9]\d* tests? in [\d.]+s\s+OK( \(skipped=\d+\))?\s*$/);
});
