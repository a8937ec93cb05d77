import { join } from "node:path";

/** No file system takes names over 255 bytes; what is longer goes on in another folder. */
const longestName = 180;

/**
 * Where a key's object lies below its bucket: `blobs/a/B.txt` is `blobs/a/^b.txt$`. Every key has a path of its own,
 * also where names differ in case alone (macOS), and none leads out of the bucket. Folders can be told from objects by
 * the `$` that no encoded segment contains.
 */
export function keyPath(key: string): string {
  const segments = key.split("/").map(namesOf);
  const last = segments.pop() as string[];
  return join(...segments.flat(), ...last.slice(0, -1), `${last.at(-1)}$`);
}

/** The folder that all keys with this prefix are in: the one of its last `/`. */
export function prefixFolder(prefix: string): string {
  return join("", ...prefix.split("/").slice(0, -1).flatMap(namesOf));
}

/** What a file or folder name adds to the key. */
export function keyPart(name: string): { text: string; isObject: boolean } {
  if (name.endsWith("$")) return { text: decode(name.slice(0, -1)), isObject: true };
  if (name.endsWith("~")) return { text: decode(name.slice(0, -1)), isObject: false };
  return { text: `${decode(name)}/`, isObject: false };
}

function namesOf(segment: string): string[] {
  const names = [""];
  for (const character of encodedCharacters(segment)) {
    if ((names.at(-1) as string).length + character.length > longestName) names.push("");
    names.push(names.pop() + character);
  }
  return names.map((name, index) => (index < names.length - 1 ? `${name}~` : name));
}

/** Whole characters: a name that ended between the bytes of one could not be read by itself. */
function encodedCharacters(segment: string): string[] {
  if (segment === "") return ["%"];
  if (segment === "." || segment === "..") return ["%2e", ...segment.slice(1)];
  return Array.from(segment, (character) => {
    if (/[a-z0-9._=-]/.test(character)) return character;
    if (/[A-Z]/.test(character)) return `^${character.toLowerCase()}`;
    return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  });
}

function decode(name: string): string {
  if (name === "%") return "";
  const bytes = name.replace(/\^([a-z])|%([0-9a-f]{2})/g, (_, upper, hex) =>
    upper ? upper.toUpperCase() : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString();
}
