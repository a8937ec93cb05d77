import { listIssuerOrigins } from "@nova/console/serving";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  type FunctionAssociation,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  PriceClass,
  Function as RequestFunction,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from "aws-cdk-lib/aws-cloudfront";
import { HttpOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { Stack } from "sst/constructs";
import { explain } from "../findings.ts";
import { createHeaders } from "./headers.ts";
import { routePage } from "./route-page.ts";

export interface Addresses {
  pages: IBucket;
  apiHost: string;
  /** Where the page fetches blobs and sends uploads to, by signed addresses. */
  blobHost: string;
  env: NodeJS.ProcessEnv;
}

/**
 * One address for page and API: the page asks its own origin, as on a laptop, so no other origin has to be allowed. A name
 * of one's own needs both variables, and a certificate of ACM in us-east-1.
 */
export function createDistribution(stack: Stack, { pages, apiHost, blobHost, env }: Addresses) {
  const { NOVA_CONSOLE_DOMAIN: name, NOVA_CONSOLE_CERTIFICATE_ARN: certificateArn } = env;
  const own = name && certificateArn ? { name, certificateArn } : undefined;
  const routed = { functionAssociations: [createRouter(stack)] };
  const page: BehaviorOptions = {
    ...routed,
    origin: S3BucketOrigin.withOriginAccessControl(pages),
    cachePolicy: CachePolicy.CACHING_OPTIMIZED,
    responseHeadersPolicy: createHeaders(stack, `https://${blobHost}`, listIssuerOrigins(env)),
    viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
  };
  const distribution = new Distribution(stack, "Console", {
    defaultBehavior: { ...routed, ...toApi(apiHost) },
    additionalBehaviors: { "/console": page, "/console/*": page },
    httpVersion: HttpVersion.HTTP2_AND_3,
    minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
    priceClass: PriceClass.PRICE_CLASS_100,
    ...(own && {
      domainNames: [own.name],
      certificate: Certificate.fromCertificateArn(stack, "ConsoleCertificate", own.certificateArn),
    }),
  });
  explain(distribution, "AwsSolutions-CFR1", "Whose clients sit where is not ours to say; every request needs a key.");
  explain(distribution, "AwsSolutions-CFR2", "The API bounds requests by itself: per key, and of everybody together.");
  explain(distribution, "AwsSolutions-CFR3", "The API logs each request; the files of the page are public.");
  if (!own)
    explain(distribution, "AwsSolutions-CFR4", "CloudFront's own name comes with CloudFront's own certificate.");
  const { distributionDomainName: host } = distribution;
  return own
    ? { url: `https://${own.name}/console/`, dns: `${own.name} CNAME ${host}` }
    : { url: `https://${host}/console/`, dns: undefined };
}

/** What is no page is the API's, uncached and with every header but the host. */
function toApi(host: string): BehaviorOptions {
  return {
    origin: new HttpOrigin(host, { protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY }),
    allowedMethods: AllowedMethods.ALLOW_ALL,
    cachePolicy: CachePolicy.CACHING_DISABLED,
    originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    // Whoever sends a key in the clear by mistake is to see that it does not work.
    viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
  };
}

function createRouter(stack: Stack): FunctionAssociation {
  return {
    eventType: FunctionEventType.VIEWER_REQUEST,
    function: new RequestFunction(stack, "Router", {
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(routePage),
    }),
  };
}
