import { vi } from "vitest";

/**
 * Resets the process before each test file, because test files share processes: restores the environment variables and
 * the current folder, and removes the test doubles of the previous file.
 */
/** The logger of the functions reads this when the first file of a process loads it. Later files get the same logger. */
const silent = { POWERTOOLS_LOG_LEVEL: "SILENT" };

const began = Symbol.for("nova.tests.began");
const kept = globalThis as { [began]?: { environment: NodeJS.ProcessEnv; folder: string } };
kept[began] ??= { environment: { ...process.env, ...accountOfTests(), ...silent }, folder: process.cwd() };

const { environment, folder } = kept[began];
for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
Object.assign(process.env, environment);
process.chdir(folder);
vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllGlobals();

/** Returns variables with invented AWS credentials, so that no test uses the account of the person who runs it. */
function accountOfTests(): NodeJS.ProcessEnv {
  return { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test-key", AWS_SECRET_ACCESS_KEY: "test-secret" };
}
