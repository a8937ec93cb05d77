/** Matches variables that select an AWS account, keys or a NOVA server. `npm run truth` must not use any of these. */
const elsewhere = /^(AWS|NOVA|E2B|OPENAI|MOTO|SST)_(?!PYTHON$)/;

/**
 * Returns the shell's variables without those that select a real account. `NOVA_PYTHON` stays, because it names a
 * program.
 */
export function shell(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !elsewhere.test(name)));
}

export const region = "us-east-1";

/**
 * Returns variables with which AWS clients use a local endpoint, and ignore the credentials and settings in the user's
 * files.
 */
export function awsAt(endpoint: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: region,
    AWS_DEFAULT_REGION: region,
    AWS_ACCESS_KEY_ID: "truth",
    AWS_SECRET_ACCESS_KEY: "truth-secret",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
  };
}
