import { asReference, type BlobRef } from "@nova/engine";

/** The reference that an object with exact numbers is, when it is one. */
export function referenceAt(value: object): BlobRef | undefined {
  return Object.hasOwn(value, "$blob") ? asReference(JSON.parse(JSON.stringify(value))) : undefined;
}
