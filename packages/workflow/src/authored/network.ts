import { isIPv4, isIPv6 } from "node:net";
import { z } from "zod";

const example = '"host" or "host:port" such as "imap.example.com:993"';

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

const Address = z.string({ error: `must be ${example}` }).transform((written, context) => {
  const text = written.trim().toLowerCase();
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(text) ?? [];
  if (isHost(host) && (port === undefined || isPort(port))) return text;
  context.addIssue({ code: "custom", message: whyNot(text, host), input: written });
  return z.NEVER;
});

/** With a zone, of a group, of nobody, or an IPv4 address in disguise. */
const notOneIPv6 = /%|^\[ff|^\[[0:]*\]$|^\[[0:]*:ffff:/;

/** Each is a host that can be told from all others before the code runs: what no wall can hold is not accepted. */
export const NetworkAllow = z
  .array(Address, { error: 'must be a list such as ["imap.example.com:993"]' })
  .max(50, { error: "must have at most 50 entries" })
  .describe('Hosts, each as `"host"` or `"host:port"`.');

function isHost(host: string): boolean {
  if (host.startsWith("[")) return isIPv6(host.slice(1, -1)) && !notOneIPv6.test(host);
  if (isIPv4(host)) return !/^(0|22[4-9]|2[34]\d|25\d)\./.test(host);
  return hostName.test(host) && !/(^|\.)\d+$/.test(host);
}

function isPort(port: string): boolean {
  return /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535;
}

function whyNot(text: string, host: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//.test(text)) return `must be ${example}, without a scheme`;
  if (text.includes("*")) return `must name one host each, as ${example}: a wildcard cannot be enforced`;
  if (text.includes("/")) return `must name one host each, as ${example}, without a path or a range`;
  if (isIPv6(text)) return `must have an IPv6 address in brackets: "[${text}]:443"`;
  if (isHost(host)) return "must have a port from 1 to 65535 behind the colon";
  return `must be ${example}`;
}
