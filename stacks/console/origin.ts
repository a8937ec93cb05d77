/** The origin of the page, for CORS of the bucket. CloudFront's generated name is unknown in advance. */
export function consoleOrigin({ NOVA_CONSOLE_DOMAIN: name }: NodeJS.ProcessEnv): string {
  return `https://${name || "*.cloudfront.net"}`;
}
