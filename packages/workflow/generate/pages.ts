import { readFileSync } from "node:fs";
import { definitionPage } from "./definition-page.ts";
import { editorSchema } from "./editor-schema.ts";

const frame = new URL("definition-frame.md", import.meta.url);

/** Every generated file: where it lies, and what is in it. */
export const pages = [
  {
    file: new URL("../workflow.schema.json", import.meta.url),
    text: () => `${JSON.stringify(editorSchema(), null, 2)}\n`,
  },
  {
    file: new URL("../../../docs/definition.md", import.meta.url),
    text: () => definitionPage(readFileSync(frame, "utf8")),
  },
];
