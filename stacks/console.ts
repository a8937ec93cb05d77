import { buildPageHeaders, listIssuerOrigins } from "@nova/console/serving";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import * as cloudfront from "aws-cdk-lib/aws-cloudfront";
import { HttpOrigin, S3BucketOrigin } from "aws-cdk-lib/aws-cloudfront-origins";
import { Bucket, type IBucket } from "aws-cdk-lib/aws-s3";
import { Duration } from "aws-cdk-lib/core";
import { explain } from "./access.ts";
import { api } from "./api.ts";
import { type Stage, stageOf } from "./settings.ts";
import { type Stack, type StackContext, use } from "./sst.ts";
import { privateBucket, storage } from "./storage.ts";

/**
 * Creates the stack of the console: the web page and the API at one address. `npm run deploy` uploads the built page
 * into the bucket.
 */
export function console({ stack, app }: StackContext) {
  const pages: Bucket = createPageBucket(stack, stageOf(app));
  const { url, dns } = createDistribution(stack, {
    pages,
    apiHost: use(api).host,
    blobHost: use(storage).bucket.bucketRegionalDomainName,
    env: process.env,
  });
  stack.addOutputs({ Url: url, Pages: pages.bucketName, ...(dns !== undefined && { Dns: dns }) });
}

/**
 * The code that CloudFront runs for each request, in a dialect close to ES 5.1. It redirects browsers from the paths
 * `/` and `/console` to the page, and answers every path of the page with the page itself.
 */
export const routePage = String.raw`
function handler(event) {
  var request = event.request;
  var accept = request.headers.accept;
  var wantsPage = request.method === 'GET' && accept !== undefined && accept.value.indexOf('text/html') >= 0;
  if (request.uri === '/console' || (request.uri === '/' && wantsPage)) {
    return {
      statusCode: 302,
      statusDescription: 'Found',
      headers: { location: { value: '/console/' }, 'cache-control': { value: 'no-store' } },
    };
  }
  var isFile = /^\/console\/((assets\/)?[\w-][\w.-]*\.(js|css|svg|woff2)|config\.json|verify\.html)$/.test(request.uri);
  if (request.uri.indexOf('/console/') === 0 && !isFile) request.uri = '/console/index.html';
  return request;
}
`;

interface Addresses {
  pages: IBucket;
  apiHost: string;
  /** The host from which the page fetches blobs, and to which it sends uploads, with signed addresses. */
  blobHost: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Creates one address for page and API. The page calls the API at its own origin, as on a laptop, so the API need not
 * allow other origins. A custom name must be configured together with an ACM certificate in us-east-1.
 */
function createDistribution(stack: Stack, { pages, apiHost, blobHost, env }: Addresses) {
  const { NOVA_CONSOLE_DOMAIN: name, NOVA_CONSOLE_CERTIFICATE_ARN: certificateArn } = env;
  const own = name && certificateArn ? { name, certificateArn } : undefined;
  const routed = { functionAssociations: [createRouter(stack)] };
  const page: cloudfront.BehaviorOptions = {
    ...routed,
    origin: S3BucketOrigin.withOriginAccessControl(pages),
    cachePolicy: cloudfront.CachePolicy.CACHING_OPTIMIZED,
    responseHeadersPolicy: createHeaders(stack, `https://${blobHost}`, listIssuerOrigins(env)),
    viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
  };
  const distribution = new cloudfront.Distribution(stack, "Console", {
    defaultBehavior: { ...routed, ...toApi(apiHost) },
    additionalBehaviors: { "/console": page, "/console/*": page },
    httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
    minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
    priceClass: cloudfront.PriceClass.PRICE_CLASS_100,
    ...(own && {
      domainNames: [own.name],
      certificate: Certificate.fromCertificateArn(stack, "ConsoleCertificate", own.certificateArn),
    }),
  });
  explain(distribution, "AwsSolutions-CFR1", "NOVA does not restrict countries; every request needs a key.");
  explain(distribution, "AwsSolutions-CFR2", "The API limits requests itself: per key, and of all callers together.");
  explain(distribution, "AwsSolutions-CFR3", "The API logs each request; the files of the page are public.");
  if (!own)
    explain(distribution, "AwsSolutions-CFR4", "CloudFront's own name comes with CloudFront's own certificate.");
  const { distributionDomainName: host } = distribution;
  return own
    ? { url: `https://${own.name}/console/`, dns: `${own.name} CNAME ${host}` }
    : { url: `https://${host}/console/`, dns: undefined };
}

/** Returns the settings that forward requests to the API, uncached and with every header except the host. */
function toApi(host: string): cloudfront.BehaviorOptions {
  return {
    origin: new HttpOrigin(host, { protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY }),
    allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
    cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
    originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
    // CloudFront refuses plain HTTP and does not redirect it, so that callers notice that they send their keys
    // unencrypted.
    viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
  };
}

function createRouter(stack: Stack): cloudfront.FunctionAssociation {
  return {
    eventType: cloudfront.FunctionEventType.VIEWER_REQUEST,
    function: new cloudfront.Function(stack, "Router", {
      runtime: cloudfront.FunctionRuntime.JS_2_0,
      code: cloudfront.FunctionCode.fromInline(routePage),
    }),
  };
}

/**
 * Creates the response headers of the page. They are the same as on a laptop, and also tell browsers to use only HTTPS.
 */
function createHeaders(stack: Stack, blobOrigin: string, issuers: readonly string[]): cloudfront.ResponseHeadersPolicy {
  const { "content-security-policy": contentSecurityPolicy = "", ...others } = buildPageHeaders(blobOrigin, issuers);
  const custom = Object.entries(others).filter(([name]) => !known.includes(name));
  return new cloudfront.ResponseHeadersPolicy(stack, "PageHeaders", {
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy, override: true },
      contentTypeOptions: { override: true },
      frameOptions: { frameOption: cloudfront.HeadersFrameOption.DENY, override: true },
      referrerPolicy: { referrerPolicy: cloudfront.HeadersReferrerPolicy.NO_REFERRER, override: true },
      strictTransportSecurity: { accessControlMaxAge: Duration.days(365), includeSubdomains: false, override: true },
    },
    customHeadersBehavior: { customHeaders: custom.map(([header, value]) => ({ header, value, override: true })) },
  });
}

/** Names of headers that CloudFront sets by its own settings, so they cannot be custom headers. */
const known = ["x-content-type-options", "referrer-policy", "x-frame-options", "strict-transport-security"];

/** Creates the bucket for the files of the built page. Each deployment uploads them again. */
function createPageBucket(stack: Stack, stage: Stage): Bucket {
  const bucket = new Bucket(stack, "Pages", { ...privateBucket(stage) });
  explain(bucket, "AwsSolutions-S1", "It holds the files of a public page, and no data of runs.");
  return bucket;
}
