import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createMcpServer } from "./server.ts";
import type { Caller } from "./tool.ts";

/** Serves the client at the other end of stdin and stdout, until it closes stdin. */
export async function serveMcpOnStdio(caller: Caller): Promise<void> {
  const over = Promise.withResolvers<void>();
  process.stdin.once("close", over.resolve).once("end", over.resolve);
  const served = serveStdio(() => createMcpServer(caller));
  await over.promise;
  await served.close();
}
