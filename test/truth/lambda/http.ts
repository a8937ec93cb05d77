import { once } from "node:events";
import type { IncomingMessage, Server } from "node:http";

export async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Starts the server and resolves with a function that closes it. */
export async function listen(server: Server, port: number): Promise<() => Promise<void>> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
}
