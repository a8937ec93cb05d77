import { vi } from "vitest";

/**
 * Test files run in one process after another's: each begins with the variables and in the folder that the process
 * began with, and without the doubles of the file before.
 */
const began = Symbol.for("nova.tests.began");
const kept = globalThis as { [began]?: { environment: NodeJS.ProcessEnv; folder: string } };
kept[began] ??= { environment: { ...process.env, ...accountOfTests() }, folder: process.cwd() };

const { environment, folder } = kept[began];
for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
Object.assign(process.env, environment);
process.chdir(folder);
vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllGlobals();

/** Whatever account the shell is in, no test is. */
function accountOfTests(): NodeJS.ProcessEnv {
  return { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test-key", AWS_SECRET_ACCESS_KEY: "test-secret" };
}
