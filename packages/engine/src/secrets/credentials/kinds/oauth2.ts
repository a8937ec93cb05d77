import { z } from "zod";
import { type CredentialKind, hostOf, Secret, Text, WebAddress } from "../kind.ts";

export const OAuth2 = z.strictObject({
  /** Where access tokens come from; code never needs it. */
  token_url: WebAddress,
  client_id: Text,
  client_secret: Secret.optional(),
  /** Absent: the client asks for itself (`client_credentials`). */
  refresh_token: Secret.optional(),
  scope: Text.optional(),
  /** The API that the tokens are for. */
  api_url: WebAddress.optional(),
  access_token: Secret.optional(),
  /** ISO 8601. Absent: a token that is there does not end. */
  expires_at: z.iso.datetime({ offset: true }).optional(),
});

export type OAuth2 = z.output<typeof OAuth2>;

/** Access tokens that are got anew before they end. Code finds the token of the moment and nothing that gets others. */
export const oauth2: CredentialKind<OAuth2> = {
  schema: OAuth2,
  secretFields: ["client_secret", "refresh_token", "access_token"],
  flatten: ({ access_token, expires_at, api_url }) => ({
    oauth2_access_token: access_token,
    ...(expires_at !== undefined && { oauth2_expires_at: expires_at }),
    ...(api_url !== undefined && { oauth2_api_url: api_url }),
  }),
  hosts: ({ api_url }) => (api_url === undefined ? [] : [hostOf(api_url)]),
};
