/**
 * This file imports the parts of the Encryption SDK one by one, because a bundler cannot drop unused exports of the
 * combined package.
 */
export { buildDecrypt } from "@aws-crypto/decrypt-node";
export { buildEncrypt } from "@aws-crypto/encrypt-node";
export { KmsKeyringNode } from "@aws-crypto/kms-keyring-node";
export { AlgorithmSuiteIdentifier, CommitmentPolicy, MultiKeyringNode } from "@aws-crypto/material-management-node";
export { RawAesKeyringNode, RawAesWrappingSuiteIdentifier } from "@aws-crypto/raw-aes-keyring-node";
