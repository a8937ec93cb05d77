/** Returns the SHA-256 of bytes, or of a text in UTF-8, in hexadecimal digits. */
export async function sha256(data: string | Uint8Array): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data);
  return hexOf(await crypto.subtle.digest("SHA-256", bytes));
}

export function hexOf(bytes: ArrayBuffer | ArrayLike<number>): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Decodes base64 or base64url. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
}
