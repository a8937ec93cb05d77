import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { pipeline, Readable, Transform } from "node:stream";
import { HostRefused, type OutgoingFetch } from "@nova/engine";

/** From the lookup of the name to the end of the answer. */
export const maxRequestMs = 10_000;
/** A token, a key set or a receipt has some thousands. */
export const maxAnswerBytes = 1024 * 1024;

/** How a host is found, and whether it may be. */
export interface Guard {
  /**
   * For clients that connect by themselves: `admit` the host, and give them `lookup`. What it finds is what they connect
   * to, so no name can lead elsewhere after it was looked at.
   */
  lookup: LookupFunction;
  /** Throws `HostRefused` for an address inside, which no client looks up. */
  admit(host: string): void;
}

const bodiless = [204, 205, 304];

/**
 * No redirect is followed: it would carry a secret, or the request itself, to a place that nobody has looked at. Each
 * request has a connection of its own. No compression is asked for, so the bytes that are counted are all there are.
 */
export function fetchThrough({ lookup, admit }: Guard): OutgoingFetch {
  return async (url, init) => {
    const request = new Request(url, init);
    const { protocol, hostname } = new URL(url);
    const send = { "http:": overHttp, "https:": overHttps }[protocol];
    if (!send) throw new HostRefused(`${protocol} is not spoken here - name an address with https:`);
    admit(hostname.replace(/^\[|\]$/g, ""));
    const body = Buffer.from(await request.arrayBuffer());
    const headers = { "user-agent": "NOVA", ...Object.fromEntries(request.headers), "content-length": body.length };
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(maxRequestMs)]);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    send(url, { method: request.method, headers, lookup, agent: false, signal }, resolve).on("error", reject).end(body);
    const answer = await promise;
    const { statusCode: status = 0 } = answer;
    if (!bodiless.includes(status)) return new Response(capped(answer), { status });
    answer.destroy();
    return new Response(null, { status });
  };
}

/** Whoever cancels it, or gets too much, ends the connection. */
function capped(answer: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxAnswerBytes) done(null, chunk);
      else done(new RangeError(`the answer has more than ${maxAnswerBytes} bytes`));
    },
  });
  // What breaks reaches the reader.
  pipeline(answer, counted, () => undefined);
  return Readable.toWeb(counted) as ReadableStream<Uint8Array<ArrayBuffer>>;
}
