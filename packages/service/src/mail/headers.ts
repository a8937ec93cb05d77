/** A line of a mail's head, unfolded. */
export interface MailHeader {
  /** Lower case. */
  name: string;
  value: string;
}

/** A head of more than this is no mail's: SES itself takes none of a tenth of it. */
export const longestHeadBytes = 512 * 1024;

/**
 * The head of a mail as text; undefined where it has no end within the limit. Bytes above ASCII are taken as Latin-1:
 * what is looked for here (addresses, verdicts, ids) is ASCII.
 */
export function headText(raw: Uint8Array): string | undefined {
  const start = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, longestHeadBytes)).toString("latin1");
  const end = /\r?\n\r?\n/.exec(start)?.index ?? (raw.length < longestHeadBytes ? start.length : undefined);
  return end === undefined ? undefined : start.slice(0, end);
}

/** The headers of a mail, from the top; undefined where its head has no end. */
export function readHeaders(raw: Uint8Array): MailHeader[] | undefined {
  const lines = headText(raw)
    ?.replaceAll(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/);
  return lines?.flatMap((line) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:[ \t]*(.*)$/s.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name: name.toLowerCase(), value: value.trim() }];
  });
}

/** The first of a name. */
export function headerOf(headers: readonly MailHeader[], name: string): string | undefined {
  return headers.find((header) => header.name === name)?.value;
}
