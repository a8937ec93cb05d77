import { DomainName, SecurityPolicy } from "aws-cdk-lib/aws-apigatewayv2";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import type { Stack } from "../sst.ts";

/** Creates a custom domain name for the API if both variables are set. The stack output has the DNS record. */
export function createAddress(
  stack: Stack,
  { NOVA_API_DOMAIN: domainName, NOVA_API_CERTIFICATE_ARN: certificateArn }: NodeJS.ProcessEnv,
): DomainName | undefined {
  if (!domainName || !certificateArn) return undefined;
  const certificate = Certificate.fromCertificateArn(stack, "Certificate", certificateArn);
  const address = new DomainName(stack, "Address", { domainName, certificate, securityPolicy: SecurityPolicy.TLS_1_2 });
  stack.addOutputs({ Dns: `${domainName} CNAME ${address.regionalDomainName}` });
  return address;
}
