/** Variables that select an account, keys or a NOVA server. This command must not reach any of them. */
const elsewhere = /^(AWS|NOVA|E2B|OPENAI|MOTO|SST)_(?!PYTHON$)/;

/**
 * Returns the variables of the shell without those of a real account. `NOVA_PYTHON` stays, because it names a program.
 */
export function shell(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !elsewhere.test(name)));
}

export const region = "us-east-1";

/** Returns variables that direct AWS clients to a local endpoint and away from the user's files. */
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
