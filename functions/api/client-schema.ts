import { writeFile } from "node:fs/promises";
import typesOf, { astToString } from "openapi-typescript";
import { openApiDocument } from "./openapi/document.ts";
import { routes } from "./routes/index.ts";

const [file] = process.argv.slice(2);
if (file === undefined) throw new RangeError("name the file that the types go into");

/**
 * Generates the client's types from the routes of the API. The types are not in version control, because `npm ci` and
 * `npm run check` generate them.
 */
const document = openApiDocument(routes) as Parameters<typeof typesOf>[0];
const types = astToString(await typesOf(document, { alphabetize: true }));
await writeFile(
  file,
  `// Written by \`npm run client\` from the OpenAPI document: the types of every request and answer.\n\n${types}`,
);
