/** The folder of this machine's cloud: `NOVA_DATA_DIR`, or `.nova`. As everywhere, a variable that is empty is not set. */
export function dataFolder(): string {
  return process.env.NOVA_DATA_DIR || ".nova";
}
