import { writeFile } from "node:fs/promises";
import { clientSchema } from "./client-schema.ts";

const file = new URL("../../../packages/client/src/schema.d.ts", import.meta.url);

await writeFile(file, await clientSchema());
