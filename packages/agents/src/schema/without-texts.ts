import { Placeholder } from "./placeholder.ts";
import type { Summary } from "./summary.ts";

/**
 * What an analysis found, without texts of the data: where no samples may be shown, only texts and keys that the analysis
 * code itself spells out are; they are the model's own. Numbers stay: they are counts and sizes more often than values.
 */
export function withoutTexts(found: unknown, code: string): Summary {
  const isSpelt = (text: string) => code.includes(`"${text}"`) || code.includes(`'${text}'`);
  if (typeof found === "string") return isSpelt(found) ? found : new Placeholder(`string: ${found.length} chars`);
  if (Array.isArray(found)) return found.map((item) => withoutTexts(item, code));
  if (found === null || typeof found !== "object") return found as Summary;
  const members = Object.entries(found).map(([key, value], index): [string, Summary] => [
    isSpelt(key) ? key : `key ${index + 1}`,
    withoutTexts(value, code),
  ]);
  return Object.fromEntries(members);
}
