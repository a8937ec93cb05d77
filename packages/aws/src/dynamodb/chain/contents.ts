import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { StoredContent } from "@nova/engine";
import { type Item, numberIn, numberValue, textIn, textValue } from "./attributes.ts";

type Contents<Name extends string> = Partial<Record<Name, StoredContent>>;

/** A map of maps: each content is `{text}` or `{blob: {sha256, bytes}}`. */
export function contentsValue<Name extends string>(contents: Contents<Name>): AttributeValue {
  const values: Item = {};
  for (const [name, content] of Object.entries<StoredContent | undefined>(contents)) {
    if (content) values[name] = { M: contentValue(content) };
  }
  return { M: values };
}

function contentValue(content: StoredContent): Item {
  if ("text" in content) return { text: textValue(content.text) };
  const { sha256, bytes } = content.blob;
  return { blob: { M: { sha256: textValue(sha256), bytes: numberValue(bytes) } } };
}

/** Contents that were erased are not there. */
export function contentsOf<Name extends string>(value: AttributeValue | undefined): Contents<Name> {
  const contents: Contents<Name> = {};
  for (const [name, { M: content }] of Object.entries(value?.M ?? {})) {
    if (content) contents[name as Name] = contentOf(content);
  }
  return contents;
}

function contentOf(content: Item): StoredContent {
  const blob = content.blob?.M;
  if (!blob) return { text: textIn(content, "text") ?? "" };
  return { blob: { sha256: textIn(blob, "sha256") ?? "", bytes: numberIn(blob, "bytes") ?? 0 } };
}
