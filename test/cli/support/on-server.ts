import { beforeAll, beforeEach, vi } from "vitest";
import { runCommandLine } from "../../../packages/cli/src/main.ts";
import type { useApi } from "../../functions/api/support/api.ts";
import { Terminal } from "./terminal.ts";

export interface Ended {
  code: number;
  out: string;
  err: string;
}

/** Commands on the machine of an API, and as somebody types them who has its URL and the key of an admin. */
export function useServer(api: ReturnType<typeof useApi>) {
  let key: string;

  beforeAll(async () => {
    key = await api.key("admin");
  });

  beforeEach(() => {
    vi.stubEnv("NOVA_DATA_DIR", api.cloud.dataDir);
    vi.stubEnv("NO_COLOR", "1");
  });

  return { nova, onServer };

  async function nova(...argv: string[]): Promise<Ended> {
    const terminal = new Terminal();
    const code = await terminal.run(() => runCommandLine(argv));
    return { code, out: terminal.stdout.replace(/\n$/, ""), err: terminal.stderr };
  }

  /** The same with a server, whose key is the admin's. */
  async function onServer(...argv: string[]): Promise<Ended> {
    vi.stubEnv("NOVA_URL", api.url);
    vi.stubEnv("NOVA_API_KEY", key);
    try {
      return await nova(...argv);
    } finally {
      vi.stubEnv("NOVA_URL", "");
      vi.stubEnv("NOVA_API_KEY", "");
    }
  }
}
