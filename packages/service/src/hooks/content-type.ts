const parameter = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))\s*/gy;

/** The parameters of a header such as content-type, names in lower case. Only `\"` is an escape: browsers send paths. */
export function parametersOf(header: string): Map<string, string> {
  const start = header.indexOf(";");
  const rest = start === -1 ? "" : header.slice(start);
  const found = rest.matchAll(parameter);
  return new Map(
    Array.from(found, ([, name = "", quoted, plain = ""]) => [
      name.toLowerCase(),
      quoted?.replaceAll('\\"', '"') ?? plain.trim(),
    ]),
  );
}

/** The charset that a content-type states; undefined if it states none. */
export function charsetOf(contentType: string): string | undefined {
  return parametersOf(contentType).get("charset")?.trim().toLowerCase() || undefined;
}
