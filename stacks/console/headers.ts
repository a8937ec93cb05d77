import { buildPageHeaders } from "@nova/console/serving";
import { HeadersFrameOption, HeadersReferrerPolicy, ResponseHeadersPolicy } from "aws-cdk-lib/aws-cloudfront";
import { Duration } from "aws-cdk-lib/core";
import type { Stack } from "../sst.ts";

/** The response headers of the page: the same as on a laptop, and HTTPS only. */
export function createHeaders(stack: Stack, blobOrigin: string, issuers: readonly string[]): ResponseHeadersPolicy {
  const { "content-security-policy": contentSecurityPolicy = "", ...others } = buildPageHeaders(blobOrigin, issuers);
  const custom = Object.entries(others).filter(([name]) => !known.includes(name));
  return new ResponseHeadersPolicy(stack, "PageHeaders", {
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy, override: true },
      contentTypeOptions: { override: true },
      frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
      referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
      strictTransportSecurity: { accessControlMaxAge: Duration.days(365), includeSubdomains: false, override: true },
    },
    customHeadersBehavior: { customHeaders: custom.map(([header, value]) => ({ header, value, override: true })) },
  });
}

/** CloudFront has separate settings for these headers. */
const known = ["x-content-type-options", "referrer-policy", "x-frame-options", "strict-transport-security"];
