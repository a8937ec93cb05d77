/** The last part of a name that looks like a path, for code that writes a file of this name; empty if none is left. */
export function fileNameIn(path: string): string {
  const last = path.split(/[/\\]/).at(-1) ?? "";
  const name = last.replaceAll(/\p{Cc}/gu, "").trim();
  return name === "." || name === ".." ? "" : name;
}
