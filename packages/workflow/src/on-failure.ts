/** Who hears of failed runs; what a workflow and a client say is both done. */
export interface OnFailure {
  /** Addresses. */
  mail?: string[];
  webhook?: FailureWebhook;
}

/** Where a failure is posted to. */
export interface FailureWebhook {
  url: string;
  /** Name of the credential whose secret signs it; absent: nothing does. */
  secret?: string;
}
