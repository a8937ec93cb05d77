import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that counts requests by path and answers each one with the new count. Code of nodes can call it. */
export interface CountingServer extends AsyncDisposable {
  url: string;
  /**
   * The `network` field for a workflow or node whose code calls this server. By default, code cannot reach its own
   * machine.
   */
  reach: { network: { allow: string[] } };
  count(path: string): number;
  counts(): Record<string, number>;
  /** Resolves after the first request to the path. */
  asked(path: string): Promise<void>;
}

export async function countingServer(): Promise<CountingServer> {
  const counts = new Map<string, number>();
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const asked = (path: string) => {
    const wait = waiting.get(path) ?? Promise.withResolvers<void>();
    waiting.set(path, wait);
    return wait;
  };
  const server = createServer(({ url = "" }, response) => {
    counts.set(url, (counts.get(url) ?? 0) + 1);
    asked(url).resolve();
    response.end(String(counts.get(url)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    reach: { network: { allow: [host] } },
    count: (path) => counts.get(path) ?? 0,
    counts: () => Object.fromEntries(counts),
    asked: (path) => asked(path).promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
