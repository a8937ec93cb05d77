import { vi } from "vitest";

/**
 * Test files share a process. Each file starts with the variables and the folder that the process started with, and
 * without the test doubles of the previous file.
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

/** Keeps tests away from the AWS account of the shell. */
function accountOfTests(): NodeJS.ProcessEnv {
  return { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test-key", AWS_SECRET_ACCESS_KEY: "test-secret" };
}
