/** Encrypts short texts: KMS in the cloud, AES-256-GCM with a key at hand on a laptop. */
export interface Vault {
  /** `context` is not secret; the text opens with exactly the same one only. At most 4,096 bytes (KMS Encrypt). */
  seal(text: string, context: Record<string, string>): Promise<string>;
  /** Throws `VaultLocked` where the key or the context is another one, or the text was changed. */
  open(sealed: string, context: Record<string, string>): Promise<string>;
}
