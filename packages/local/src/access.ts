/**
 * Local endpoints answer only to the access key that this data folder was created with: code in a sandbox shares the
 * machine's loopback, but never learns the key. The signature itself is not checked; the key id alone is a secret here.
 */
export function isSignedBy(request: { headers: { authorization?: string | undefined } }, accessKeyId: string): boolean {
  const credential = /Credential=([^/,\s]+)\//.exec(request.headers.authorization ?? "");
  return credential?.[1] === accessKeyId;
}
