import { z } from "zod";
import { type CredentialKind, hostOf, Secret, Text, WebAddress } from "../kind.ts";

const Http = z
  .strictObject({
    url: WebAddress,
    user: Text.optional(),
    password: Secret.optional(),
    token: Secret.optional(),
    /** Sent with each request, such as an `X-Api-Key`; their values are secret. */
    headers: z.record(Text, Secret).optional(),
  })
  .refine(({ password, token, headers }) => password ?? token ?? headers, {
    error: "needs a password, a token or headers",
  });

type Http = z.output<typeof Http>;

/** An API that takes a password, a token or a header. */
export const http: CredentialKind<Http> = {
  schema: Http,
  secretFields: ["password", "token", "headers"],
  flatten: (values) => Object.fromEntries(Object.entries(values).map(([field, value]) => [`http_${field}`, value])),
  hosts: ({ url }) => [hostOf(url)],
};
