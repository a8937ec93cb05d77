import type { JsonObject } from "../../../json.ts";

/** What an optimized integration adds to the answer of a service's API. */
export function sdkResponse(requestId: string, headers: Record<string, string>): JsonObject {
  const all = { ...headers, "x-amzn-RequestId": requestId };
  return {
    SdkHttpMetadata: {
      AllHttpHeaders: Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]])),
      HttpHeaders: all,
      HttpStatusCode: 200,
    },
    SdkResponseMetadata: { RequestId: requestId },
  };
}
