/** How bytes can be shown; `none`: only downloaded. */
export type Shown =
  | { as: "image"; type: string }
  | { as: "pdf" }
  | { as: "sheet" }
  | { as: "csv"; text: string }
  | { as: "json"; text: string }
  | { as: "text"; text: string }
  | { as: "none" };

/** What files of a kind begin with. */
const beginnings: [bytes: readonly number[], shown: Shown][] = [
  [[0x89, 0x50, 0x4e, 0x47], { as: "image", type: "image/png" }],
  [[0xff, 0xd8, 0xff], { as: "image", type: "image/jpeg" }],
  [[0x47, 0x49, 0x46, 0x38], { as: "image", type: "image/gif" }],
  [[0x25, 0x50, 0x44, 0x46, 0x2d], { as: "pdf" }],
  [[0x50, 0x4b, 0x03, 0x04], { as: "sheet" }],
];

/** By what the bytes are: nobody says a type that could be believed. */
export function shownAs(bytes: Uint8Array, name: string, type: string): Shown {
  const known = beginnings.find(([beginning]) => beginning.every((byte, index) => bytes[index] === byte));
  if (known) return known[1];
  if (isWebp(bytes)) return { as: "image", type: "image/webp" };
  const text = textOf(bytes);
  if (text === undefined) return { as: "none" };
  if (/^\s*(<\?xml[^>]*\?>\s*)?(<!--[\s\S]*?-->\s*)*<svg[\s>]/i.test(text))
    return { as: "image", type: "image/svg+xml" };
  if (type === "json" || isJson(text)) return { as: "json", text };
  return { as: /\.csv$/i.test(name) || looksLikeTable(text) ? "csv" : "text", text };
}

function isWebp(bytes: Uint8Array): boolean {
  const letters = (from: number, to: number) => String.fromCharCode(...bytes.slice(from, to));
  return letters(0, 4) === "RIFF" && letters(8, 12) === "WEBP";
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** To find out whether a longer text is JSON would stop the page. */
const longestGuess = 200_000;

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || text.length > longestGuess) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** As many commas or semicolons in each of its first lines. */
function looksLikeTable(text: string): boolean {
  const lines = text
    .slice(0, 4_000)
    .split(/\r?\n/)
    .slice(0, 5)
    .filter((line) => line !== "");
  return [",", ";", "\t"].some((mark) => {
    const counts = new Set(lines.map((line) => line.split(mark).length));
    return lines.length > 2 && counts.size === 1 && !counts.has(1);
  });
}
