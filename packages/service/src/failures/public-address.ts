import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Where nobody outside of a network can be: RFC 6890 and what has come to it, and clouds' metadata. */
const notPublic = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  notPublic.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  notPublic.addSubnet(network, prefix, "ipv6");
}

/** Of IPv6 addresses that carry one of IPv4 (mapped, NAT64) that one counts. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, "ipv4");
  if (!isIPv6(address)) return false;
  const inside = embeddedIPv4(address);
  return inside === undefined ? !notPublic.check(address, "ipv6") : isPublicAddress(inside);
}

function embeddedIPv4(address: string): string | undefined {
  const groups = groupsOf(address);
  const head = groups.slice(0, 6).join(":");
  if (head !== "0:0:0:0:0:ffff" && head !== "64:ff9b:0:0:0:0") return undefined;
  const [high = "0", low = "0"] = groups.slice(6);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(Number.parseInt(high, 16), 0);
  bytes.writeUInt16BE(Number.parseInt(low, 16), 2);
  return [...bytes].join(".");
}

/** The eight groups without leading zeros: URL writes an address in its shortest form, the last two as groups. */
function groupsOf(address: string): string[] {
  const short = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [front = "", back] = short.split("::");
  const left = front === "" ? [] : front.split(":");
  const right = back === undefined || back === "" ? [] : back.split(":");
  return back === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill("0"), ...right];
}
