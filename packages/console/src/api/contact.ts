import { useSyncExternalStore } from "react";

/**
 * This file records whether the server answers. While the server does not answer, no page shows old states as current
 * states.
 */

interface Contact {
  /** Whether at least two requests in a row got no answer. */
  isLost: boolean;
  /** The time of the last answer in milliseconds since 1970. */
  lastAnswerMs: number;
}

/** Number of requests in a row without an answer after which the contact counts as lost. */
const maxSilent = 2;
/** Statuses with which a gateway answers in place of a server that is down. */
const gatewayStatuses = new Set([502, 503, 504]);

let contact: Contact = { isLost: false, lastAnswerMs: Date.now() };
let silent = 0;
const listeners = new Set<() => void>();

/** Sends a request and notes whether the server answers it. */
export async function fetchNoted(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request);
    noteRequest(!gatewayStatuses.has(answer.status));
    return answer;
  } catch (error) {
    // The page aborts requests that it no longer needs, which says nothing about the server.
    if (!(error instanceof DOMException && error.name === "AbortError")) noteRequest(false);
    throw error;
  }
}

function noteRequest(isAnswered: boolean): void {
  silent = isAnswered ? 0 : silent + 1;
  const before = contact;
  contact = { isLost: silent >= maxSilent, lastAnswerMs: isAnswered ? Date.now() : before.lastAnswerMs };
  if (contact.isLost === before.isLost) return;
  for (const hear of listeners) hear();
}

/** Returns the current contact. The caller is not notified of later changes. */
export function readContact(): Contact {
  return contact;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns whether the server no longer answers. The calling component renders again when this changes. */
export function useIsLost(): boolean {
  return useSyncExternalStore(subscribe, () => contact.isLost);
}
