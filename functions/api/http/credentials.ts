/** The key, from whichever of the two headers carries it. */
export function credentialsIn(headers: Record<string, string | undefined>): string | undefined {
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "") ?? [];
  return bearer ?? headers["x-api-key"]?.trim();
}
