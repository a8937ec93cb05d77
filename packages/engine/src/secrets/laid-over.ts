import type { Credentials, LaidOver } from "../ports/credentials.ts";

export const nothingLaid: LaidOver = { members: [], secrets: [], hosts: [] };

/** For a cloud without any. */
export const noCredentials: Credentials = {
  forNode: async () => nothingLaid,
  secretsOf: async () => [],
};
