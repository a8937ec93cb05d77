import { vi } from "vitest";

/**
 * Resets the process before each test file, because test files share processes. Restores the environment variables and
 * the current folder. Removes the test doubles and the listeners for signals of the previous file.
 */

/**
 * A variable for the logger of the functions. The logger reads the variable when it is loaded. It is loaded once per
 * process, so later test files get the same logger.
 */
const silent = { POWERTOOLS_LOG_LEVEL: "SILENT" };

/**
 * The signals that end a command. A listener that outlives its test could end the process when a later test sends a
 * signal.
 */
const signals = ["SIGINT", "SIGTERM"] as const;

const began = Symbol.for("nova.tests.began");
const kept = globalThis as { [began]?: ReturnType<typeof stateOfProcess> };
kept[began] ??= stateOfProcess();

const { environment, folder, listeners } = kept[began];
for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
Object.assign(process.env, environment);
process.chdir(folder);
for (const signal of signals)
  for (const listener of process.listeners(signal)) if (!listeners.has(listener)) process.off(signal, listener);
vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllGlobals();

function stateOfProcess() {
  const environment: NodeJS.ProcessEnv = { ...process.env, ...accountOfTests(), ...silent };
  const listeners = new Set(signals.flatMap((signal) => process.listeners(signal)));
  return { environment, folder: process.cwd(), listeners };
}

/** Returns variables with invented AWS credentials, so that no test uses the account of the person who runs it. */
function accountOfTests(): NodeJS.ProcessEnv {
  return { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test-key", AWS_SECRET_ACCESS_KEY: "test-secret" };
}
