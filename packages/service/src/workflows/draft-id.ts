import type { Session } from "../ports/sessions.ts";

const pattern = /^draft-[0-9a-hjkmnp-tv-z]{26}$/;

/** The workflow id under which a session publishes drafts for its runs. */
export function draftId({ id }: Pick<Session, "id">): string {
  return id.replace(/^ses_/, "draft-").toLowerCase();
}

/** Whether the id belongs to a session. No other workflow may use such an id. */
export function isDraftId(id: string): boolean {
  return pattern.test(id);
}
