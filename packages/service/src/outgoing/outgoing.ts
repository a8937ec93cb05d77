import { type LookupAddress, lookup as lookUp } from "node:dns";
import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline, Readable, Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { HostRefused, type OutgoingFetch } from "@nova/engine";
import ipaddr, { type IPv6 } from "ipaddr.js";
import type { Poster } from "../ports/triggers.ts";

/** The IPv6 range assigned to the internet (IANA). All other ranges are reserved or special. */
const unicast = [ipaddr.parse("2000::"), 3] as [IPv6, number];

/** Returns whether the address identifies one machine on the internet. IPv4 inside IPv6 is checked as IPv4. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.kind() === "ipv4") return parsed.range() === "unicast";
  const v6 = parsed as IPv6;
  if (v6.isIPv4MappedAddress()) return isPublicAddress(v6.toIPv4Address().toString());
  const bytes = v6.toByteArray();
  if (v6.range() === "rfc6052" && bytes[4] === 0 && bytes[5] === 0) return isPublicAddress(bytes.slice(12).join("."));
  return v6.range() === "unicast" && v6.match(unicast);
}

/** Time limit of a request, from the lookup of the host name to the end of the answer. */
export const maxRequestMs = 10_000;
/** Maximum size of an answer. Tokens, key sets and receipts have a few kilobytes. */
export const maxAnswerBytes = 1024 * 1024;

/** Looks up the addresses of hosts, and refuses forbidden hosts. */
export interface Guard {
  /**
   * An HTTP client calls `admit` for the host, and connects to the address that `lookup` returns. So DNS cannot return
   * another address for the name after the check.
   */
  lookup: LookupFunction;
  /**
   * Throws `HostRefused` for a private IP address. This check is needed because an HTTP client calls `lookup` only for
   * names.
   */
  admit(host: string): void;
}

const bodiless = [204, 205, 304];

/**
 * Builds a `fetch` for hosts that users name. This `fetch` follows no redirect, because a redirect could carry the
 * request and its secrets to an unchecked host. Each request has its own connection. The `fetch` requests no
 * compression, so the byte limit applies to the real size.
 */
function fetchThrough({ lookup, admit }: Guard): OutgoingFetch {
  return async (url, init) => {
    const request = new Request(url, init);
    const { protocol, hostname } = new URL(url);
    const send = { "http:": overHttp, "https:": overHttps }[protocol];
    if (!send) throw new HostRefused(`${protocol} is not supported - use an https: address`);
    admit(hostname.replace(/^\[|\]$/g, ""));
    const body = Buffer.from(await request.arrayBuffer());
    const headers = { "user-agent": "NOVA", ...Object.fromEntries(request.headers), "content-length": body.length };
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(maxRequestMs)]);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    send(url, { method: request.method, headers, lookup, agent: false, signal }, resolve).on("error", reject).end(body);
    const answer = await promise;
    const { statusCode: status = 0 } = answer;
    if (!bodiless.includes(status)) return new Response(limitAnswer(answer), { status });
    answer.destroy();
    return new Response(null, { status });
  };
}

/**
 * Returns the body of an answer as a stream, which fails if the body exceeds `maxAnswerBytes`. If the reader cancels
 * the stream, or the stream fails, the connection closes.
 */
function limitAnswer(answer: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= maxAnswerBytes) done(null, chunk);
      else done(new RangeError(`the answer has more than ${maxAnswerBytes} bytes`));
    },
  });
  // Errors are ignored here, since the reader of the stream receives them.
  pipeline(answer, counted, () => undefined);
  return Readable.toWeb(counted) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Access to servers that users name. */
export interface Outgoing extends Guard {
  allowsPrivate: boolean;
  fetch: OutgoingFetch;
}

export interface OutgoingOptions {
  /** Whether addresses of private networks are allowed, as on a laptop. */
  allowsPrivate: boolean;
  lookup?: typeof lookUp;
}

export function createOutgoing({ allowsPrivate, lookup: ask = lookUp }: OutgoingOptions): Outgoing {
  const isOpen = (address: string) => allowsPrivate || isPublicAddress(address);
  const lookup: LookupFunction = (host, how, done) =>
    ask(host, { ...how, all: true }, (error, found) => {
      const addresses = (found ?? []) as LookupAddress[];
      const [first] = addresses;
      // Unknown names get the same refusal, so a caller cannot find out which private names exist.
      const isNowhere = (!error || unknownHostCodes.includes(error.code ?? "")) && !allowsPrivate;
      if (error) done(isNowhere ? refusal(host) : error, "");
      else if (!first || !addresses.every(({ address }) => isOpen(address))) done(refusal(host), "");
      else if (how.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  const admit = (host: string) => {
    if (isIP(host) && !isOpen(host)) throw refusal(host);
  };
  return { allowsPrivate, lookup, admit, fetch: fetchThrough({ lookup, admit }) };
}

const unknownHostCodes = ["ENOTFOUND", "ENODATA"];

function refusal(host: string): HostRefused {
  return new HostRefused(`${host} leads to no public address - use a host that is reachable from the internet`);
}

export class PostFailed extends Error {
  override name = "PostFailed";
}

/** Builds a poster that retries temporary failures after each of `pausesMs` (milliseconds). */
export function createPoster(outgoing: Pick<Outgoing, "fetch">, pausesMs = [500, 2_000, 5_000]): Poster {
  return {
    async post(request) {
      for (const pauseMs of [...pausesMs, undefined]) {
        const problem = await attempt(request, outgoing);
        if (problem === undefined) return;
        if (!problem.passes || pauseMs === undefined) throw problem.error;
        await sleep(pauseMs);
      }
    },
  };
}

async function attempt({ url, body, headers }: Parameters<Poster["post"]>[0], outgoing: Pick<Outgoing, "fetch">) {
  const { host } = new URL(url);
  try {
    const answer = await outgoing.fetch(url, { method: "POST", body, headers });
    await answer.body?.cancel();
    if (answer.ok) return undefined;
    const error = new PostFailed(`${host} answered ${answer.status} - look there`);
    return { error, passes: answer.status >= 500 || answer.status === 408 || answer.status === 429 };
  } catch (cause) {
    if (cause instanceof HostRefused) return { error: cause, passes: false };
    const why = cause instanceof Error ? cause.message : String(cause);
    return { error: new PostFailed(`${host} does not answer (${why}) - look there`, { cause }), passes: true };
  }
}
