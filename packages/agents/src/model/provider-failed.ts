/** An answer with status 200 in which the provider says that it failed. */
export class ProviderFailed extends Error {
  override name = "ProviderFailed";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
