import { InvalidInput } from "../errors.ts";

/** The table and the bucket that a deployment made, with the shell's own AWS credentials. */
export async function deployedPorts() {
  const { NOVA_TABLE: table, NOVA_BUCKET: bucket } = process.env;
  if (!table || !bucket)
    throw new InvalidInput("--aws needs NOVA_TABLE and NOVA_BUCKET - name the table and the bucket");
  const { createServiceStores } = await import("@nova/aws");
  const { archive, formats } = createServiceStores({ table });
  return { archive, formats };
}
