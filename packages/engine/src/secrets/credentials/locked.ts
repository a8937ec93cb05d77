/** A credential does not open: sealed with a key that is not here, for something else, or changed. */
export class CredentialLocked extends Error {
  override name = "CredentialLocked";

  constructor(options?: ErrorOptions) {
    super("it does not open - it was changed, or sealed with a key that is not here; store it anew", options);
  }
}
