import { mkdirSync, writeFileSync } from "node:fs";
import { pages } from "./pages.ts";

for (const { file, text } of pages) {
  mkdirSync(new URL(".", file), { recursive: true });
  writeFileSync(file, text());
}
