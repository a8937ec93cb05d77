import { crc32 } from "node:zlib";

export interface ZipEntry {
  name: string;
  data: Uint8Array;
}

const localHeader = 0x04034b50;
const centralHeader = 0x02014b50;
const endOfDirectory = 0x06054b50;
const version = 20;
const firstOfJanuary1980 = 0x21;

/** An archive without compression (APPNOTE 6.3, sections 4.3.7, 4.3.12, 4.3.16); the same entries give the same bytes. */
export function zip(entries: ZipEntry[]): ArrayBuffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data } of entries) {
    const path = Buffer.from(name);
    const facts = describe(path, data);
    const local = Buffer.concat([numbers([localHeader, 4], [version, 2]), facts, path, data]);
    const place = numbers([0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]);
    directory.push(Buffer.concat([numbers([centralHeader, 4], [version, 2], [version, 2]), facts, place, path]));
    files.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const count = entries.length;
  const end = numbers([endOfDirectory, 4], [0, 4], [count, 2], [count, 2], [central.length, 4], [offset, 4], [0, 2]);
  return new Uint8Array(Buffer.concat([...files, central, end])).buffer;
}

/** What both headers of an entry have in common: flags, method, time, date, checksum, sizes, length of the name. */
function describe(path: Buffer, data: Uint8Array): Buffer {
  const size = data.byteLength;
  return numbers(
    [0, 2],
    [0, 2],
    [0, 2],
    [firstOfJanuary1980, 2],
    [crc32(data), 4],
    [size, 4],
    [size, 4],
    [path.length, 2],
    [0, 2],
  );
}

/** Little-endian numbers, each with its width in bytes. */
function numbers(...all: [value: number, width: 2 | 4][]): Buffer {
  const bytes = Buffer.alloc(all.reduce((sum, [, width]) => sum + width, 0));
  let at = 0;
  for (const [value, width] of all) at = bytes.writeUIntLE(value, at, width);
  return bytes;
}
