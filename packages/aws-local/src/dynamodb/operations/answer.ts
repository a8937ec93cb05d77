/**
 * JSON text that a response contains unchanged. Stored items have this form, so they are returned without being parsed.
 */
export class JsonText {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** The fields of a response; undefined fields are left out. */
export type Answer = Record<string, unknown>;

export function answerText(answer: Answer): string {
  const fields: string[] = [];
  for (const [name, value] of Object.entries(answer)) {
    if (value === undefined) continue;
    fields.push(`"${name}":${value instanceof JsonText ? value.json : JSON.stringify(value)}`);
  }
  return `{${fields.join(",")}}`;
}

export function answerObject(answer: Answer): Answer {
  const object: Answer = {};
  for (const [name, value] of Object.entries(answer)) {
    if (value !== undefined) object[name] = value instanceof JsonText ? JSON.parse(value.json) : value;
  }
  return object;
}

export function jsonList(texts: readonly string[]): JsonText {
  return new JsonText(`[${texts.join(",")}]`);
}
