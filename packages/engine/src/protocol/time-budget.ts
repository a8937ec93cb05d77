/** How long a part of a sweep may go on: it ends behind what it is at when the stint is `aborted`. A signal is one. */
export type Stint = Pick<AbortSignal, "aborted">;

/** Of whoever has all the time there is. */
export const endless: Stint = { aborted: false };
