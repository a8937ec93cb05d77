import { InvalidInput } from "../errors.ts";

/** The number of a version. Throws `InvalidInput`. */
export function readVersion(text: string): number {
  const version = Number(text);
  if (Number.isSafeInteger(version) && version > 0) return version;
  throw new InvalidInput(`${text} is no version - nova versions <workflow> lists them: 1, 2, ...`);
}
