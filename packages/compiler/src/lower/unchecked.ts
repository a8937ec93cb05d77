/** A workflow reached the compiler's back end without having passed its findings. */
export class UncheckedWorkflow extends Error {
  override name = "UncheckedWorkflow";
}
