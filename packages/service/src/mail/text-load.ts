export interface TextLoad {
  /** Of lines that are not base64: what a parser has to look into letter by letter. */
  textBytes: number;
  /** Of those lines the ones of fewer than 20 letters: what parsers do per line adds up. */
  shortLines: number;
}

const newline = 10;
const shortBytes = 20;
/** Lines of base64 have 76 letters, the last of an attachment fewer. */
const leastBase64Bytes = 56;

const isBase64Letter = new Uint8Array(256);
for (const letter of Buffer.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r")) {
  isBase64Letter[letter] = 1;
}

export function textLoad(raw: Buffer): TextLoad {
  const load = { textBytes: 0, shortLines: 0 };
  for (let start = 0; start < raw.length; ) {
    const found = raw.indexOf(newline, start);
    const end = found === -1 ? raw.length : found;
    if (!isBase64(raw, start, end)) {
      load.textBytes += end - start + 1;
      if (end - start < shortBytes) load.shortLines += 1;
    }
    start = end + 1;
  }
  return load;
}

function isBase64(raw: Buffer, start: number, end: number): boolean {
  if (end - start < leastBase64Bytes) return false;
  for (let at = start; at < end; at++) if (isBase64Letter[raw[at] as number] !== 1) return false;
  return true;
}
