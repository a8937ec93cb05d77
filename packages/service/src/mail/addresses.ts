/**
 * What looks like addresses in a header, in lower case. In one pass: a header may be half a megabyte of anything, and a
 * pattern that tries each place of it would take minutes.
 */
export function addressesIn(value: string): string[] {
  return outsideQuotes(value)
    .split(/[\s<>,;:"()]+/)
    .filter((word) => /^[^@]{1,64}@[^@]{1,255}$/.test(word))
    .map((address) => address.toLowerCase());
}

/** Names in quotes may hold anything, an address among it. */
function outsideQuotes(value: string): string {
  return value
    .replaceAll(/\\./g, "")
    .split('"')
    .filter((_, at) => at % 2 === 0)
    .join(" ");
}
