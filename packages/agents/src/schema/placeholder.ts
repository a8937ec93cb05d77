/** Stands in a summary for what is not shown; no text of the data can be one. */
export class Placeholder {
  readonly text: string;

  constructor(description: string) {
    this.text = `<${description}>`;
  }

  toJSON(): string {
    return this.text;
  }
}
