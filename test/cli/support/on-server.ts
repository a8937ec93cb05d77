import { beforeAll, beforeEach, vi } from "vitest";
import { runCommandLine } from "../../../packages/cli/src/main.ts";
import type { useApi } from "../../functions/api/support/api.ts";
import { Terminal } from "./terminal.ts";

export interface Ended {
  code: number;
  out: string;
  err: string;
}

/**
 * Returns functions that run commands. `nova` runs a command in the data folder of the API. `onServer` and
 * `startOnServer` run a command of a remote user, who has only the URL of the API and a key (by default the key of an
 * admin).
 */
export function useServer(api: ReturnType<typeof useApi>, role: Parameters<typeof api.key>[0] = "admin") {
  let key: string;

  beforeAll(async () => {
    key = await api.key(role);
  });

  beforeEach(() => {
    vi.stubEnv("NOVA_DATA_DIR", api.cloud.dataDir);
    vi.stubEnv("NO_COLOR", "1");
  });

  return { nova: (...argv: string[]) => nova(argv), onServer: (...argv: string[]) => onServer(argv), startOnServer };

  async function nova(argv: string[], terminal = new Terminal()): Promise<Ended> {
    const code = await terminal.run(() => runCommandLine(argv));
    return { code, out: terminal.stdout.replace(/\n$/, ""), err: terminal.stderr };
  }

  /** Starts a command that keeps running. `terminal` has its output so far. */
  function startOnServer(...argv: string[]): { terminal: Terminal; ended: Promise<Ended> } {
    const terminal = new Terminal();
    return { terminal, ended: onServer(argv, terminal) };
  }

  /** Runs a command with the URL of the server and the key. */
  async function onServer(argv: string[], terminal?: Terminal): Promise<Ended> {
    vi.stubEnv("NOVA_URL", api.url);
    vi.stubEnv("NOVA_API_KEY", key);
    try {
      return await nova(argv, terminal);
    } finally {
      vi.stubEnv("NOVA_URL", "");
      vi.stubEnv("NOVA_API_KEY", "");
    }
  }
}
