/** A running checksum in the form that `createHash` gives them. */
export interface Checksum {
  update(chunk: Uint8Array): void;
  /** Big-endian bytes. */
  digest(): Buffer;
}

/** CRC-32C (Castagnoli), reflected polynomial 0x82f63b78. */
export function createCrc32c(): Checksum {
  let crc = 0xffffffff;
  return {
    update(chunk) {
      for (const byte of chunk) crc = (castagnoli[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE((crc ^ 0xffffffff) >>> 0);
      return bytes;
    },
  };
}

/** CRC-64/NVME, reflected polynomial 0x9a6c9329ac4bc9b5, in two halves: BigInt would take seconds for a large object. */
export function createCrc64Nvme(): Checksum {
  let high = 0xffffffff;
  let low = 0xffffffff;
  return {
    update(chunk) {
      for (const byte of chunk) {
        const index = (low ^ byte) & 0xff;
        low = ((low >>> 8) | (high << 24)) ^ (nvme.low[index] as number);
        high = (high >>> 8) ^ (nvme.high[index] as number);
      }
    },
    digest() {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE((high ^ 0xffffffff) >>> 0, 0);
      bytes.writeUInt32BE((low ^ 0xffffffff) >>> 0, 4);
      return bytes;
    },
  };
}

const castagnoli = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

const nvme = nvmeTable();

function nvmeTable(): { high: Int32Array; low: Int32Array } {
  const table = { high: new Int32Array(256), low: new Int32Array(256) };
  for (let byte = 0; byte < 256; byte++) {
    let crc = BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0x9a6c9329ac4bc9b5n : crc >> 1n;
    table.high[byte] = Number(BigInt.asIntN(32, crc >> 32n));
    table.low[byte] = Number(BigInt.asIntN(32, crc));
  }
  return table;
}
