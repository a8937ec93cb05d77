import { type LookupAddress, lookup as lookUp } from "node:dns";
import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline, Readable, Transform } from "node:stream";
import { HostRefused, type OutgoingFetch } from "@nova/engine";
import type { IPv6 } from "ipaddr.js";
import ipaddr from "ipaddr.js";

/** IPv6 addresses that are handed out to the internet (IANA); everything else has a purpose of its own, or none yet. */
const unicast = [ipaddr.parse("2000::"), 3] as [IPv6, number];

/** Whether all the internet means one machine by it. IPv4 inside of IPv6 is IPv4: there the network leads. */
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

/** From the lookup of the name to the end of the answer. */
export const maxRequestMs = 10_000;
/** A token, a key set or a receipt has some thousands. */
export const maxAnswerBytes = 1024 * 1024;

/** How a host is found, and whether it may be. */
export interface Guard {
  /** Clients `admit` a host and connect to what `lookup` finds: no name can lead elsewhere after it was looked at. */
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

/** The way to servers that a user has named. */
export interface Outgoing extends Guard {
  /** Whether private addresses are reached, too. */
  allowsPrivate: boolean;
  fetch: OutgoingFetch;
}

export interface OutgoingOptions {
  /** Whether addresses of private networks are reached, as on a laptop. */
  allowsPrivate: boolean;
  /** For tests. */
  lookup?: typeof lookUp;
}

export function createOutgoing({ allowsPrivate, lookup: ask = lookUp }: OutgoingOptions): Outgoing {
  const isOpen = (address: string) => allowsPrivate || isPublicAddress(address);
  const lookup: LookupFunction = (host, how, done) =>
    ask(host, { ...how, all: true }, (error, found) => {
      const addresses = (found ?? []) as LookupAddress[];
      const [first] = addresses;
      // Names that do not exist are refused in the same words: nobody learns which names there are inside.
      const isNowhere = (!error || unknown.includes(error.code ?? "")) && !allowsPrivate;
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

const unknown = ["ENOTFOUND", "ENODATA"];

function refusal(host: string): HostRefused {
  return new HostRefused(`${host} leads to no public address - name a host that everybody reaches`);
}
