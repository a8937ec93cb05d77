/** The last part of a path-like name, safe as a file name; empty if nothing remains. */
export function fileNameIn(path: string): string {
  const last = path.split(/[/\\]/).at(-1) ?? "";
  const name = last.replaceAll(/\p{Cc}/gu, "").trim();
  return name === "." || name === ".." ? "" : name;
}
