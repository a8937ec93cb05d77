import { writeFile } from "node:fs/promises";
import typesOf, { astToString } from "openapi-typescript";
import { openApiDocument } from "./openapi/document.ts";
import { routes } from "./routes/index.ts";

const [file] = process.argv.slice(2);
if (file === undefined) throw new RangeError("name the file that the types go into");

/** Writes the types that a client is made of. Nobody commits them: `npm ci` and `npm run check` make them. */
const document = openApiDocument(routes) as Parameters<typeof typesOf>[0];
const types = astToString(await typesOf(document, { alphabetize: true }));
await writeFile(
  file,
  `// Made by \`npm run client\` from the OpenAPI document: the types of every request and answer.\n\n${types}`,
);
