const parameter = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))\s*/gy;

/** The parameters of a header such as content-type, with lower-case names. Only `\"` is an escape, since browsers send Windows paths. */
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

/** The charset of a content-type; undefined if it has none. */
export function charsetOf(contentType: string): string | undefined {
  return parametersOf(contentType).get("charset")?.trim().toLowerCase() || undefined;
}
