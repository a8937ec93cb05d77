/** Lower case, without accents, `camelCase` and `snake_case` as words: what the topics' patterns are written for. */
export function plainText(text: string): string {
  return text
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replaceAll("_", " ");
}
