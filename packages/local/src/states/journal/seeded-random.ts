import { createHmac, randomBytes } from "node:crypto";

export function newSeed(): string {
  return randomBytes(32).toString("hex");
}

/** Random numbers from a seed: the same each time, and nobody without the seed can foresee them. */
export class SeededRandom {
  readonly #seed: Buffer;
  #drawn = 0;

  constructor(seed: string) {
    this.#seed = Buffer.from(seed, "hex");
  }

  /** 32 of them. */
  bytes(): Buffer {
    return createHmac("sha256", this.#seed)
      .update(String(this.#drawn++))
      .digest();
  }

  /** In [0, 1). */
  number(): number {
    return this.bytes().readUIntBE(0, 6) / 2 ** 48;
  }

  uuid(): string {
    const bytes = this.bytes();
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return bytes.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }
}
