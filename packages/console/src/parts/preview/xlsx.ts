/** Larger parts are not unpacked completely: a small archive may expand to any size. */
const maxPartBytes = 8 * 1024 * 1024;

/** Reads the first rows of the first sheet of a workbook; undefined if the bytes are no workbook. */
export async function readSheet(bytes: Uint8Array<ArrayBuffer>, maxRows: number): Promise<string[][] | undefined> {
  const parts = readDirectory(bytes);
  const sheet = Array.from(parts.keys())
    .filter((name) => /^xl\/worksheets\/sheet\d+\.xml$/.test(name))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))[0];
  if (sheet === undefined) return undefined;
  const [cells, strings] = await Promise.all([
    parsePart(bytes, parts, sheet),
    parsePart(bytes, parts, "xl/sharedStrings.xml"),
  ]);
  if (cells === undefined) return undefined;
  return readRows(cells, strings === undefined ? [] : readStrings(strings), maxRows);
}

interface Part {
  at: number;
  packedBytes: number;
  isPacked: boolean;
}

const [directorySignature, endSignature] = [0x02014b50, 0x06054b50];

/** Reads the directory at the end of the archive. */
function readDirectory(bytes: Uint8Array<ArrayBuffer>): Map<string, Part> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts = new Map<string, Part>();
  const end = findDirectoryEnd(view);
  if (end === undefined) return parts;
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0 && at + 46 <= bytes.length; left--) {
    if (view.getUint32(at, true) !== directorySignature) break;
    const nameBytes = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameBytes));
    parts.set(name, {
      at: view.getUint32(at + 42, true),
      packedBytes: view.getUint32(at + 20, true),
      isPacked: view.getUint16(at + 10, true) === 8,
    });
    at += 46 + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return parts;
}

function findDirectoryEnd(view: DataView): number | undefined {
  const first = Math.max(0, view.byteLength - 22 - 65_535);
  for (let at = view.byteLength - 22; at >= first; at--) if (view.getUint32(at, true) === endSignature) return at;
  return undefined;
}

async function parsePart(
  bytes: Uint8Array<ArrayBuffer>,
  parts: Map<string, Part>,
  name: string,
): Promise<Document | undefined> {
  const part = parts.get(name);
  if (!part || part.at + 30 > bytes.length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = part.at + 30 + view.getUint16(part.at + 26, true) + view.getUint16(part.at + 28, true);
  const packed = bytes.subarray(start, start + part.packedBytes);
  const text = part.isPacked ? await unpackPart(packed) : new TextDecoder().decode(packed);
  return new DOMParser().parseFromString(text, "text/xml");
}

async function unpackPart(packed: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    bytes += next.value.length;
    text += decoder.decode(next.value, { stream: true });
    // Rows before the limit are complete; the text after the last row is cut off.
    if (bytes > maxPartBytes) {
      await reader.cancel();
      return text.slice(0, text.lastIndexOf("</row>") + 6);
    }
  }
  return text;
}

function readStrings(document: Document): string[] {
  return Array.from(document.getElementsByTagName("si"), (item) => item.textContent ?? "");
}

function readRows(sheet: Document, strings: readonly string[], maxRows: number): string[][] {
  return Array.from(sheet.getElementsByTagName("row"))
    .slice(0, maxRows)
    .map((row) => {
      const cells: string[] = [];
      for (const cell of row.getElementsByTagName("c")) {
        const column = parseColumn(cell.getAttribute("r") ?? "") ?? cells.length;
        if (column < maxColumns) cells[column] = readCellValue(cell, strings);
      }
      return Array.from(cells, (cell) => cell ?? "");
    });
}

const maxColumns = 200;

/** Returns the column of a reference: 2 for `C7`. */
function parseColumn(reference: string): number | undefined {
  const [letters] = /^[A-Z]{1,3}/.exec(reference) ?? [];
  return letters === undefined
    ? undefined
    : Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function readCellText(cell: Element, tag: string): string {
  return cell.getElementsByTagName(tag)[0]?.textContent ?? "";
}

function readCellValue(cell: Element, strings: readonly string[]): string {
  const type = cell.getAttribute("t");
  if (type === "inlineStr") return readCellText(cell, "is");
  const value = readCellText(cell, "v");
  return type === "s" ? (strings[Number(value)] ?? "") : value;
}
