import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface RefusingServer extends AsyncDisposable {
  url: string;
  /** What was asked, such as `DynamoDB_20120810.Query`. */
  asked: string[];
}

/** An AWS that lets nobody in: the answer that no client tries again. */
export async function refusingServer(): Promise<RefusingServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(String(request.headers["x-amz-target"]));
    response.writeHead(400, { "content-type": "application/x-amz-json-1.0" });
    response.end(JSON.stringify({ __type: "com.amazon.coral.service#AccessDeniedException", message: "You may not." }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
