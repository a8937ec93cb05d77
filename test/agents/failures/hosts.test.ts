import { describe, expect, it } from "vitest";
import { findUnreachableHost, hostsInCode, hostsInMessage } from "../../../packages/agents/src/failures/hosts.ts";

describe("hostsInMessage", () => {
  it.each([
    ["HTTPSConnectionPool(host='api.example', port=443): Max retries", ["api.example"]],
    ["503 Server Error: x for url: https://user:pw@API.example:8443/v1?host=no", ["api.example"]],
    ['connection to server at "db.example" (10.0.0.1), port 5432 failed', ["db.example"]],
    ['could not translate host name "db.example" to address', ["db.example"]],
    ["Failed to resolve 'api.example' ([Errno -2])", ["api.example"]],
    ["[Errno 111] Connect call failed ('10.0.0.1', 5432)", ["10.0.0.1"]],
    ["[Errno 111] Connection refused", []],
  ])("reads %s", (text, hosts) => {
    expect(hostsInMessage(text)).toEqual(hosts);
  });
});

describe("hostsInCode", () => {
  it.each([
    ['requests.get("https://api.example/v1")', ["api.example"]],
    ['imaplib.IMAP4_SSL("imap.example", 993)', ["imap.example"]],
    ['socket.create_connection(("smtp.example", 25))', ["smtp.example"]],
    ['smtp_server = "smtp.example"', ["smtp.example"]],
    ['psycopg.connect("host=db.example dbname=x")', ["db.example"]],
    ['psycopg.connect("postgresql://u:p@db.example:5432/x")', ["db.example"]],
    ['context.get("imap_host", "imap.example")', ["imap.example"]],
    ['context.get("known_host", "imap.example")', []],
    ['context.get("api_url", "https://api.example/v1")', ["api.example"]],
    ['open("invoice.pdf"); context["email.subject"]', []],
    ['requests.get(context["url"])', []],
    ['url = f"https://{host}/v1"', []],
    ["# https://docs.example/\nx = 1", []],
    ['ns = "http://www.w3.org/2000/svg"', []],
  ])("reads %s", (code, hosts) => {
    expect(hostsInCode(code, (key) => key === "known_host")).toEqual(hosts);
  });
});

const refused = "imap.example.com:993 cannot be reached: Connection refused";

it.each([
  [`hello\n[network] ${refused}\n`, refused],
  [`[network] a.example:80 cannot be reached: Name or service not known\n[network] ${refused}`, refused],
  [`the code says: [network] ${refused}`, ""],
  ["[network] something else\n", ""],
  ["", ""],
])("findUnreachableHost finds in the log %j the reason %j", (logs, reason) => {
  expect(findUnreachableHost(logs)).toBe(reason);
});
