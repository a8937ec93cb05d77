import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test } from "vitest";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("./python", import.meta.url));
const python = process.env.NOVA_PYTHON ?? "python3";

/** They take all the processes that the others' user may have. */
const alone = ["test_endings.py", "test_isolation.py"];
const files = readdirSync(folder).filter((name) => name.startsWith("test_"));

/** The harness's own tests are Python's; each file fails here with what unittest says. */
async function passes(file: string): Promise<void> {
  const options = { cwd: folder, maxBuffer: 16 << 20, timeout: 170_000, killSignal: "SIGKILL" } as const;
  await run(python, ["-m", "unittest", file], options);
}

test.each(alone)("python: %s", { timeout: 180_000 }, passes);
test.concurrent.each(files.filter((file) => !alone.includes(file)))("python: %s", { timeout: 180_000 }, passes);
