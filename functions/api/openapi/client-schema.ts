import { routes } from "../routes/index.ts";
import { openApiDocument } from "./document.ts";

const title = "// Made by `npm run client` from the OpenAPI document: the types of every request and answer.\n\n";

/** The types that `packages/client` is made of, as the text of its `src/schema.d.ts`. */
export async function clientSchema(): Promise<string> {
  const { default: typesOf, astToString } = await import("openapi-typescript");
  const document = openApiDocument(routes) as Parameters<typeof typesOf>[0];
  return title + astToString(await typesOf(document, { alphabetize: true }));
}
