/** A stored record that this version of the code cannot read. */
export class UnknownFormat extends Error {
  override name = "UnknownFormat";
}

/** Number of the stored formats written today, but for those that say otherwise; older ones are read for ever. */
export const FORMAT = 1;

export function checkFormat(what: string, format: unknown, reads: readonly number[] = [FORMAT]): void {
  if (reads.some((known) => known === format)) return;
  const known = reads.join(" and ");
  throw new UnknownFormat(`${what} is stored in format ${String(format)}, this version reads ${known} - update NOVA`);
}

/** An item that has been read, with the number of its format as a literal. */
export function current<T extends { format: number }>(
  what: string,
  item: T,
): Omit<T, "format"> & { format: typeof FORMAT } {
  const { format, ...rest } = item;
  checkFormat(what, format);
  return { ...rest, format: FORMAT };
}
