/** The service behind a trigger takes it not: a `Refused` of the service by name, which has not to be loaded for it. */
export class TriggerRefused extends Error {
  override name = "Refused";
}
