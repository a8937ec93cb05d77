import { type LookupAddress, lookup as lookUp } from "node:dns";
import { request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Poster } from "../ports/notices.ts";
import { isPublicAddress } from "./public-address.ts";

/** Nobody may be posted to there. */
export class AddressRefused extends Error {
  override name = "AddressRefused";
}

/** It was not taken. */
export class PostFailed extends Error {
  override name = "PostFailed";
}

export interface PosterOptions {
  /** Whether addresses of private networks are posted to, as on a laptop. */
  allowsPrivate: boolean;
  /** Pauses between the attempts, milliseconds. */
  pausesMs?: readonly number[];
  lookup?: typeof lookUp;
}

/** An answer is waited for so long. */
const timeoutMs = 10_000;

type Request = Parameters<Poster["post"]>[0];

/**
 * Posts, and follows no redirect. A host's name is resolved once, for the connection itself: what was looked at is what
 * is connected to, so no name can lead inside afterwards.
 */
export function createPoster(options: PosterOptions): Poster {
  const { allowsPrivate, pausesMs = [500, 2_000, 5_000], lookup = lookUp } = options;
  const checked: LookupFunction = (host, how, done) =>
    lookup(host, { ...how, all: true }, (error, found) => {
      const addresses = found as LookupAddress[];
      const inside = error ? undefined : addresses.find(({ address }) => !allowsPrivate && !isPublicAddress(address));
      const problem = error ?? (inside && refused(host, inside.address));
      const [first] = addresses ?? [];
      if (problem || !first) done(problem ?? refused(host, "nothing"), "");
      else if (how.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  return {
    async post(request) {
      const { hostname } = new URL(request.url);
      const host = hostname.replace(/^\[|\]$/g, "");
      // No name is looked up where the address itself is written.
      if (isIP(host) && !allowsPrivate && !isPublicAddress(host)) throw refused(host, host);
      for (const pauseMs of [...pausesMs, undefined]) {
        const problem = await attempt(request, checked);
        if (problem === undefined) return;
        if (!problem.passes || pauseMs === undefined) throw problem.error;
        await sleep(pauseMs);
      }
    },
  };
}

function refused(host: string, address: string): AddressRefused {
  return new AddressRefused(`${host} is ${address}, which is no public address - name a host that everybody reaches`);
}

interface Problem {
  error: Error;
  /** Tried again it may go well. */
  passes: boolean;
}

function attempt({ url, body, headers }: Request, lookup: LookupFunction): Promise<Problem | undefined> {
  const { promise, resolve } = Promise.withResolvers<Problem | undefined>();
  const send = new URL(url).protocol === "https:" ? overHttps : overHttp;
  const options = { method: "POST", lookup, agent: false, signal: AbortSignal.timeout(timeoutMs) } as const;
  const length = { "content-length": Buffer.byteLength(body) };
  const request = send(url, { ...options, headers: { "user-agent": "NOVA", ...headers, ...length } }, (response) => {
    response.destroy();
    resolve(problemOf(url, response.statusCode ?? 0));
  });
  request.on("error", (cause) => resolve(problemWith(url, cause)));
  request.end(body);
  return promise;
}

function problemOf(url: string, status: number): Problem | undefined {
  if (status >= 200 && status < 300) return undefined;
  const error = new PostFailed(`${new URL(url).host} answered ${status} - look there`);
  return { error, passes: status >= 500 || status === 408 || status === 429 };
}

function problemWith(url: string, cause: Error): Problem {
  if (cause instanceof AddressRefused) return { error: cause, passes: false };
  const error = new PostFailed(`${new URL(url).host} does not answer (${cause.message}) - look there`, { cause });
  return { error, passes: true };
}
