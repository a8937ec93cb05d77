export interface XmlFields {
  [name: string]: string | number | boolean | undefined | XmlFields | XmlFields[];
}

/**
 * Writes an XML element whose fields are child elements. A list becomes one child per item. An undefined field becomes
 * no child.
 */
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

export function xmlDocument(root: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
}

/**
 * Writes control characters as character references, as S3 does. XML 1.0 forbids them even in this form, but clients of
 * S3 read them.
 */
function escapeXml(text: string): string {
  return text.replace(/[&<>"\p{Cc}]/gu, (char) => `&#${char.charCodeAt(0)};`);
}
