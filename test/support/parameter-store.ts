import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ParameterStore extends AsyncDisposable {
  url: string;
  /** The names of the requested parameters, in order. */
  asked: string[];
}

/** Starts a server that acts as AWS Systems Manager with only these parameters. */
export async function parameterStore(values: Record<string, string>): Promise<ParameterStore> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { Names }: { Names: string[] } = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
    asked.push(...Names);
    const Parameters = Names.flatMap((Name) => (values[Name] === undefined ? [] : [{ Name, Value: values[Name] }]));
    const InvalidParameters = Names.filter((name) => values[name] === undefined);
    response.writeHead(200, { "content-type": "application/x-amz-json-1.1" });
    response.end(JSON.stringify({ Parameters, InvalidParameters }));
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
