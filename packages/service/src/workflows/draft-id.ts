import type { Session } from "../ports/sessions.ts";

const pattern = /^draft-[0-9a-hjkmnp-tv-z]{26}$/;

/** Under which what a session runs is published. */
export function draftId({ id }: Pick<Session, "id">): string {
  return id.replace(/^ses_/, "draft-").toLowerCase();
}

/** Such an id belongs to a session: no workflow of people has it. */
export function isDraftId(id: string): boolean {
  return pattern.test(id);
}
