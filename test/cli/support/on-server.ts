import { beforeAll, beforeEach, vi } from "vitest";
import { runCommandLine } from "../../../packages/cli/src/main.ts";
import type { useApi } from "../../functions/api/support/api.ts";
import { Terminal } from "./terminal.ts";

export interface Ended {
  code: number;
  out: string;
  err: string;
}

/** Commands on the machine of an API, and as somebody types them who has its URL and a key, mostly that of an admin. */
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

  /** One that goes on, and what it has written so far. */
  function startOnServer(...argv: string[]): { terminal: Terminal; ended: Promise<Ended> } {
    const terminal = new Terminal();
    return { terminal, ended: onServer(argv, terminal) };
  }

  /** The same with a server and the key. */
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
