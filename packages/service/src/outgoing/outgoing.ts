import { type LookupAddress, lookup as lookUp } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { HostRefused, type OutgoingFetch } from "@nova/engine";
import { fetchThrough, type Guard } from "./fetch.ts";
import { isPublicAddress } from "./public-address.ts";

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
