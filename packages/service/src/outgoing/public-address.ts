import { isIP } from "node:net";
import ipaddr, { type IPv6 } from "ipaddr.js";

/** IPv6 addresses that are handed out to the internet (IANA); everything else has a purpose of its own, or none yet. */
const unicast = [ipaddr.parse("2000::"), 3] as [IPv6, number];

/**
 * Whether everybody on the internet means the same machine by an address. IPv4 inside of IPv6 (mapped, NAT64) counts as
 * IPv4: the network would lead there.
 */
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
