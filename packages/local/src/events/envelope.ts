/** An event on its way: what EventBridge puts around a detail. */
export interface Envelope {
  id: string;
  account: string;
  region: string;
  source: string;
  "detail-type": string;
  /** ISO 8601 to the second. */
  time: string;
  resources: string[];
}

/** The event's JSON text; the detail stays as it was written, digits and all. */
export function eventText({ id, source, account, region, time, resources, ...rest }: Envelope, detail: string): string {
  const head = { version: "0", id, "detail-type": rest["detail-type"], source, account, time, region, resources };
  return `${JSON.stringify(head).slice(0, -1)},"detail":${detail}}`;
}
