/** The local cloud cannot be had; the message says what to do. */
export class LocalCloudError extends Error {
  override name = "LocalCloudError";
}
