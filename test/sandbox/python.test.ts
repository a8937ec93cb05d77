import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, test } from "vitest";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("./python", import.meta.url));
const python = process.env.NOVA_PYTHON ?? "python3";

/** These files use up all processes of the user, so they run alone. */
const alone = ["test_endings.py", "test_isolation.py"];
/** These files attack the isolation, or use up memory, disk space or the kernel's tables of processes and files. */
const attacking = [
  "test_escapes.py",
  "test_guard.py",
  "test_limits.py",
  "test_memory.py",
  "test_network.py",
  "test_shortages.py",
];
/** These files wait for processes and their ends, for about ten seconds each. */
const slow = ["test_children.py", "test_claims.py", "test_doors.py", "test_executions.py"];
const others = readdirSync(folder).filter(
  (name) => name.startsWith("test_") && ![...alone, ...attacking, ...slow].includes(name),
);

/** Runs a unittest file; a failure contains its output. */
async function runUnittest(file: string): Promise<void> {
  const options = { cwd: folder, maxBuffer: 16 << 20, timeout: 170_000, killSignal: "SIGKILL" } as const;
  await run(python, ["-m", "unittest", file], options);
}

describe("the Python harness in the sandbox", { timeout: 180_000 }, () => {
  test.each(alone)("passes the Python tests in %s", { tags: ["deep"] }, runUnittest);
  test.concurrent.each(attacking)("passes the Python tests in %s", { tags: ["deep"] }, runUnittest);
  test.concurrent.each(others)("passes the Python tests in %s", runUnittest);
});

// The attacks use up memory and processes that these tests need, so these tests run after the attacks.
describe("the Python harness in the sandbox", { timeout: 180_000 }, () => {
  test.concurrent.each(slow)("passes the Python tests in %s", { tags: ["deep"] }, runUnittest);
});
