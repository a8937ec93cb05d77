/** Who hears of failed runs; what a workflow and a client say is both done. */
export interface OnFailure {
  /** Addresses. */
  mail?: string[];
  webhook?: FailureWebhook;
}

export const addressPattern = /^[^\s@,<>]+@[^\s@,<>]+$/;
/** RFC 5321: 64 characters, the @, and 255 for the domain. */
const longestAddress = 320;

/** Whether mail can be for it: one address, with nothing around it that a mail's head would read as more. */
export function isMailAddress(text: string): boolean {
  return text.length <= longestAddress && addressPattern.test(text) && !/\p{Cc}/u.test(text);
}

/** Where a failure is posted to. */
export interface FailureWebhook {
  url: string;
  /** Name of the credential whose secret signs it; absent: nothing does. */
  secret?: string;
}
