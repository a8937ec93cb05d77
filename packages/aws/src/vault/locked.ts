/** A sealed text does not open: another key, another context, or it was changed. */
export class VaultLocked extends Error {
  override name = "VaultLocked";

  constructor(options?: ErrorOptions) {
    super("a sealed text does not open - it was changed, or sealed for something else or with another key", options);
  }
}
