/** Where the page is, for the bucket that it fetches blobs from; CloudFront gives a name that nobody knows before. */
export function consoleOrigin({ NOVA_CONSOLE_DOMAIN: name }: NodeJS.ProcessEnv): string {
  return `https://${name || "*.cloudfront.net"}`;
}
