export interface XmlFields {
  [name: string]: string | number | boolean | undefined | XmlFields | XmlFields[];
}

/** An element of fields; a list repeats its element, an absent field is left out. */
export function element(name: string, fields: XmlFields, attributes = ""): string {
  const inner = Object.entries(fields).map(([field, value]) => child(field, value));
  return `<${name}${attributes}>${inner.join("")}</${name}>`;
}

function child(name: string, value: XmlFields[string]): string {
  if (value === undefined) return "";
  if (Array.isArray(value)) return value.map((item) => element(name, item)).join("");
  if (typeof value === "object") return element(name, value);
  return `<${name}>${escapeXml(String(value))}</${name}>`;
}

/** The answer to an operation, in S3's namespace. */
export function resultDocument(name: string, fields: XmlFields): string {
  return xmlDocument(element(name, fields, ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'));
}

export function xmlDocument(root: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
}

/** Control characters have no place in XML 1.0, but S3 writes them as references and its clients read them. */
function escapeXml(text: string): string {
  return text.replace(/[&<>"\p{Cc}]/gu, (char) => `&#${char.charCodeAt(0)};`);
}

/** Contents of each `<name>...</name>` in turn; the two requests that have XML bodies are flat enough for that. */
export function elementsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?:\\s[^>]*)?>([^]*?)</${name}>`, "g"))].map((match) => match[1] ?? "");
}

export function textOf(xml: string, name: string): string | undefined {
  const [inner] = elementsOf(xml, name);
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
