import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";

const example = '"host" or "host:port" such as "imap.example.com:993"';

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

const Address = z.string({ error: `must be ${example}` }).transform((written, context) => {
  const text = written.trim().toLowerCase();
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text) ?? [];
  if ((isHost(host) || isRange(host)) && (port === undefined || isPort(port))) return text;
  context.addIssue({ code: "custom", message: whyNot(text, host), input: written });
  return z.NEVER;
});

/** With a zone, of a group, of nobody, or an IPv4 address in disguise. */
const notOneIPv6 = /%|^\[ff|^\[[0:]*\]$|^\[[0:]*:ffff:/;

/** Each is a host that can be told from all others before the code runs: what no wall can hold is not accepted. */
export const NetworkAllow = z
  .array(Address, { error: 'must be a list such as ["imap.example.com:993"]' })
  .max(50, { error: "must have at most 50 entries" })
  .describe('Hosts, each as `"host"` or `"host:port"`, or ranges of addresses: `"10.0.0.0/8"`, `"10.0.0.0/8:5432"`.');

function isHost(host: string): boolean {
  if (host.startsWith("[")) return isIPv6(host.slice(1, -1)) && !notOneIPv6.test(host);
  if (isIPv4(host)) return !/^(0|22[4-9]|2[34]\d|25\d)\./.test(host);
  return hostName.test(host) && !/(^|\.)\d+$/.test(host);
}

/** Smaller numbers would be more of the Internet than anybody means. */
const leastPrefix = 8;

/** `10.0.0.0/8`, `[2001:db8::/32]`: of hosts that can be reached one by one. */
function isRange(text: string): boolean {
  const [, address = "", bits = ""] = /^\[?([0-9a-f.:]+)\/(\d{1,3})\]?$/.exec(text) ?? [];
  const prefix = Number(bits);
  if (text.startsWith("[") !== text.endsWith("]") || prefix < leastPrefix) return false;
  if (text.startsWith("[")) return prefix <= 128 && isHost(`[${address}]`);
  return prefix <= 32 && isIPv4(address) && isHost(address);
}

function isPort(port: string): boolean {
  return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
}

function whyNot(text: string, host: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//.test(text)) return `must be ${example}, without a scheme`;
  if (text.includes("*")) return `must name one host each, as ${example}: a wildcard cannot be enforced`;
  if (text.includes("/")) return `must name one host each, as ${example}, without a path`;
  if (isIPv6(text)) return `must have an IPv6 address in brackets: "[${text}]:443"`;
  if (isHost(host)) return "must have a port from 1 to 65535 behind the colon";
  return `must be ${example}`;
}
