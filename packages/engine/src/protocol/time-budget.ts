/** How long a part of a sweep may go on: it ends behind what it is at when the budget is `aborted`. A signal is one. */
export type TimeBudget = Pick<AbortSignal, "aborted">;

/** Of whoever has all the time there is. */
export const endless: TimeBudget = { aborted: false };
