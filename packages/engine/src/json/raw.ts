/** A value that is JSON text already; `renderJson` writes it as it is. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** `JSON.stringify` for values that hold `RawJson`: numbers inside those keep their digits. */
export function renderJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => renderJson(item === undefined ? null : item)).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const members = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${renderJson(item)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}
