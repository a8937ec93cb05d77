import type { ServerResponse } from "node:http";
import { element, type XmlFields, xmlDocument } from "../aws-http/xml.ts";

/** Sends the result of an operation, in S3's namespace. */
export function sendResult(response: ServerResponse, name: string, fields: XmlFields): void {
  response.setHeader("content-type", "application/xml");
  response.end(xmlDocument(element(name, fields, ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"')));
}

/**
 * Returns the contents of each element `name`. Does not parse nested elements of the same name, because the two
 * requests with XML bodies have none.
 */
export function readElements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([^]*?)</${name}>`, "g"))].map((match) => match[1] ?? "");
}

export function textOf(xml: string, name: string): string | undefined {
  const [inner] = readElements(xml, name);
  return inner === undefined ? undefined : unescapeXml(inner);
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#([0-9]+)|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal) return String.fromCodePoint(Number(decimal));
    return entities[name] ?? whole;
  });
}
