/**
 * What is used of it, by name and from its parts: what its one package for Node exports cannot be left out of a bundle.
 * Loaded where there are credentials, and only then.
 */
export { buildDecrypt } from "@aws-crypto/decrypt-node";
export { buildEncrypt } from "@aws-crypto/encrypt-node";
export { KmsKeyringNode } from "@aws-crypto/kms-keyring-node";
export { AlgorithmSuiteIdentifier, CommitmentPolicy, MultiKeyringNode } from "@aws-crypto/material-management-node";
export { RawAesKeyringNode, RawAesWrappingSuiteIdentifier } from "@aws-crypto/raw-aes-keyring-node";
