import { Sandbox, type SandboxOpts } from "@e2b/code-interpreter";
import { afterAll, beforeAll } from "vitest";
import { type E2bOptions, type E2bServer, openE2b } from "../../packages/e2b-local/src/open.ts";

/** The packages that the tests import if this machine has them. */
export const modules = ["fitz", "pandas", "requests", "PIL", "psycopg"];

export const API_KEY = "e2b_test";

/** Opens a server for the tests of one file, and returns the options that point the unchanged SDK at it. */
export function useServer(options: Partial<E2bOptions> = {}) {
  const opened: { server: E2bServer; sandboxes: Sandbox[] } = {
    server: undefined as unknown as E2bServer,
    sandboxes: [],
  };

  beforeAll(async () => {
    opened.server = await openE2b({ apiKey: API_KEY, modules, ...options });
    await opened.server.ready();
  });
  afterAll(() => opened.server.close());

  const connection = () => ({ apiKey: API_KEY, apiUrl: opened.server.apiUrl, sandboxUrl: opened.server.sandboxUrl });
  return {
    server: () => opened.server,
    connection,
    create: (more: SandboxOpts = {}) => Sandbox.create("nova", { timeoutMs: 120_000, ...connection(), ...more }),
  };
}

/** Runs a cell and returns its output as one text. */
export async function printed(sandbox: Sandbox, code: string): Promise<string> {
  const execution = await sandbox.runCode(code);
  if (execution.error) throw new Error(`the cell failed: ${execution.error.traceback}`);
  return execution.logs.stdout.join("").trimEnd();
}

/** Checks a condition every `pauseMs` until it holds. Fails after ten seconds. */
export async function eventually(condition: () => boolean | Promise<boolean>, pauseMs = 10): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("the condition did not come true within ten seconds");
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** The option that writes a file as root: the local sandbox writes files only as root. */
export const asRoot = { user: "root" } as const;

export async function exists(sandbox: Sandbox, path: string): Promise<boolean> {
  return (await printed(sandbox, `import os; print(os.path.exists(${JSON.stringify(path)}))`)) === "True";
}
