/** A value as a sentence can carry it: who logs in at an address is left out. */
export function shown(value: unknown): string {
  const text = (JSON.stringify(value) ?? "nothing").replaceAll(/:\/\/[^\s/"]*@/g, "://...@");
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
