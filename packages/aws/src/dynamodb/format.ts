/** A stored record that this version of the code cannot read. */
export class UnknownFormat extends Error {
  override name = "UnknownFormat";
}

/** Number of the stored formats written today; older ones are read for ever. */
export const FORMAT = 1;

export function checkFormat(what: string, format: unknown): void {
  if (format === FORMAT) return;
  throw new UnknownFormat(`${what} is stored in format ${String(format)}, this version reads ${FORMAT} - update NOVA`);
}
