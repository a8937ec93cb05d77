import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Authority, type AuthorityOptions, makeAuthority } from "./authority.ts";

/**
 * The answer to a request. `stamp`: like a real authority. `reject`: a valid answer without a token. `fail`: status
 * 503. `hang`: no answer.
 */
export type TsaConduct = "stamp" | "reject" | "fail" | "hang";

/** A time-stamp authority (RFC 3161 over HTTP) on this machine, with keys of its own. */
export interface Tsa extends AsyncDisposable {
  /** Address for NOVA_TSA_URL. */
  url: string;
  /** Certificate of the authority's root (PEM), for `--tsa-ca`. */
  ca: string;
  authority: Authority;
  /** The kind of answer that the authority gives. A test may change it at any time. */
  conduct: TsaConduct;
  /** The requests (DER) that arrived, in order. */
  queries: Buffer[];
}

/**
 * Starts a time-stamp authority on 127.0.0.1. OpenSSL makes the certificates and signs the stamps.
 *
 *     await using tsa = await openTsa();
 *     process.env.NOVA_TSA_URL = tsa.url;
 */
export async function openTsa(options: AuthorityOptions = {}): Promise<Tsa> {
  const authority = await makeAuthority(options);
  const server = createServer(async (request, response) => {
    const query = Buffer.concat(await Array.fromAsync(request));
    tsa.queries.push(query);
    const isQuery = request.method === "POST" && request.headers["content-type"] === "application/timestamp-query";
    if (tsa.conduct === "hang") return;
    if (tsa.conduct === "fail") return response.writeHead(503).end();
    if (!isQuery) return response.writeHead(415).end();
    const answer = tsa.conduct === "reject" ? rejection : await authority.answer(query).catch(() => rejection);
    response.writeHead(200, { "content-type": "application/timestamp-reply" }).end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const tsa: Tsa = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa`,
    ca: authority.ca,
    authority,
    conduct: "stamp",
    queries: [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await authority[Symbol.asyncDispose]();
    },
  };
  return tsa;
}

/** A TimeStampResp with the status "rejection" and no token. */
const rejection = Buffer.from([0x30, 0x05, 0x30, 0x03, 0x02, 0x01, 0x02]);
