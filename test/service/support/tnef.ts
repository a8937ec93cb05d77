/** A MAPI property of a variable size: its type, its id and its bytes. */
export type MapiProperty = [type: number, id: number, value: Buffer];

export interface TnefPart {
  title?: string;
  data?: Buffer;
  properties?: MapiProperty[];
  /** A fixed and a named property come before the others. */
  crowded?: boolean;
}

/** A `winmail.dat` as Outlook writes it: a version, a body of the message, then the attachments. */
export function tnefOf(parts: TnefPart[]): Buffer {
  const attributes = [attribute(1, 0x00089006, Buffer.from([0, 0, 1, 0]))];
  for (const { title, data, properties, crowded } of parts) {
    attributes.push(attribute(2, 0x00069002, Buffer.alloc(14)));
    if (title !== undefined) attributes.push(attribute(2, 0x00018010, Buffer.from(`${title}\0`, "latin1")));
    if (data) attributes.push(attribute(2, 0x0006800f, data));
    if (properties) attributes.push(attribute(2, 0x00069005, propertyList(properties, crowded)));
  }
  return Buffer.concat([Buffer.from([0x78, 0x9f, 0x3e, 0x22, 1, 0]), ...attributes]);
}

function attribute(level: number, id: number, value: Buffer): Buffer {
  const sum = value.reduce((all, byte) => (all + byte) & 0xffff, 0);
  return Buffer.concat([Buffer.from([level]), u32(id), u32(value.length), value, u16(sum)]);
}

function propertyList(properties: MapiProperty[], crowded = false): Buffer {
  const fixed = [u16(3), u16(0x0e20), u32(7)];
  const name = Buffer.from("own\0", "utf16le");
  const named = [
    u16(0x1e),
    u16(0x8001),
    Buffer.alloc(16),
    u32(1),
    u32(name.length),
    name,
    u32(1),
    u32(3),
    padded("ab\0"),
  ];
  const variable = properties.flatMap(([type, id, value]) => [
    u16(type),
    u16(id),
    u32(1),
    u32(value.length),
    padded(value),
  ]);
  return Buffer.concat([u32(properties.length), ...(crowded ? [...fixed, ...named] : []), ...variable]);
}

function padded(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
