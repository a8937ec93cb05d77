import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface RefusingServer extends AsyncDisposable {
  url: string;
  /** The requests that arrived, such as `DynamoDB_20120810.Query` or `S3.GET`. */
  asked: string[];
}

const inJson = JSON.stringify({
  __type: "com.amazon.coral.service#AccessDeniedException",
  message: "You may not.",
});
const inXml = "<Error><Code>AccessDeniedException</Code><Message>You may not.</Message></Error>";

/** Starts a server that denies access to every AWS request. AWS clients do not repeat such a request. */
export async function refusingServer(): Promise<RefusingServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const target = request.headers["x-amz-target"];
    asked.push(String(target ?? `S3.${request.method}`));
    response.writeHead(400, { "content-type": target ? "application/x-amz-json-1.0" : "application/xml" });
    response.end(target ? inJson : inXml);
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
