"""Prints a deployment as one JSON object: functions with their roles and environments, and the policies of roles.

Usage: AWS_ENDPOINT_URL=... python deployed.py
"""

import json

import boto3

functions, iam = boto3.client("lambda"), boto3.client("iam")


def pages(client, operation, field, **of):
    return client.get_paginator(operation).paginate(**of).build_full_result().get(field, [])


def policies(role):
    for name in pages(iam, "list_role_policies", "PolicyNames", RoleName=role):
        yield iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
    for attached in pages(iam, "list_attached_role_policies", "AttachedPolicies", RoleName=role):
        arn = attached["PolicyArn"]
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        yield iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]


print(
    json.dumps(
        {
            "functions": [
                {
                    "name": one["FunctionName"],
                    "role": one["Role"],
                    "environment": one.get("Environment", {}).get("Variables", {}),
                }
                for one in pages(functions, "list_functions", "Functions")
            ],
            "roles": {
                role["Arn"]: [statement for policy in policies(role["RoleName"]) for statement in policy["Statement"]]
                for role in pages(iam, "list_roles", "Roles")
            },
        }
    )
)
