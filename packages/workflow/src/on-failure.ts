/**
 * The people and addresses that NOVA notifies of failed runs. Settings of the workflow and of the client both apply.
 */
export interface OnFailure {
  /** Mail addresses. */
  mail?: string[];
  webhook?: FailureWebhook;
}

export const addressPattern = /^[^\s@,<>]+@[^\s@,<>]+$/;
/** RFC 5321: 64 characters, the @, and 255 for the domain. */
const longestAddress = 320;

/** True for one mail address without characters that a mail's header could interpret. */
export function isMailAddress(text: string): boolean {
  return text.length <= longestAddress && addressPattern.test(text) && !/\p{Cc}/u.test(text);
}

/** The address for a POST about a failure. */
export interface FailureWebhook {
  url: string;
  /** Name of the credential whose secret signs the request; absent: it is not signed. */
  secret?: string;
}
