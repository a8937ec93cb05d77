import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";

export const eras = {
  "of 2026": { versionNegotiation: { mode: "auto" } },
  "of 2025": { versionNegotiation: { mode: "legacy" } },
} as const satisfies Record<string, ClientOptions>;
export type Era = keyof typeof eras;

/** A client of MCP's official SDK that is connected to a server. */
export interface Connected extends AsyncDisposable {
  client: Client;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the result
  call(name: string, asked?: Record<string, unknown>): Promise<any>;
  /** Calls a tool that must refuse the call. Returns the sentence with which the tool refuses it. */
  refusal(name: string, asked?: Record<string, unknown>): Promise<string>;
}

export async function connectThrough(transport: Transport, era: Era = "of 2026"): Promise<Connected> {
  const client = new Client({ name: "test", version: "1.0.0" }, eras[era]);
  await client.connect(transport);
  const ask = (name: string, asked: Record<string, unknown>) => client.callTool({ name, arguments: asked });
  const textOf = (content: unknown) => (content as { text?: string }[])[0]?.text ?? "";
  return {
    client,
    async call(name, asked = {}) {
      const { isError, content, structuredContent } = await ask(name, asked);
      if (isError) throw new Error(textOf(content));
      return structuredContent;
    },
    async refusal(name, asked = {}) {
      const { isError, content, structuredContent } = await ask(name, asked);
      if (!isError) throw new Error(`${name} was not refused: ${JSON.stringify(structuredContent)}`);
      return textOf(content);
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export function connectOverHttp(url: string, key: string, era: Era = "of 2026"): Promise<Connected> {
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  return connectThrough(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit }), era);
}
