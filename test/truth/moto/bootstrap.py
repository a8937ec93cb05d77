"""Prepares a new moto server: bootstraps SST and CDK in its account and sets NOVA's secrets.

Usage: AWS_ENDPOINT_URL=... python bootstrap.py <E2B's key>

SST would bootstrap by itself, with change sets, but moto loses the outputs of change sets.
"""

import json
import os
import sys
import urllib.request

import boto3

ASSETS = "cdk-hnb659fds-assets-123456789012-us-east-1"
BUCKET = {"Type": "AWS::S3::Bucket"}
STACKS = {
    "CDKToolkit": {
        "Resources": {
            "Assets": {**BUCKET, "Properties": {"BucketName": ASSETS}},
            "Version": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {"Name": "/cdk-bootstrap/hnb659fds/version", "Type": "String", "Value": "30"},
            },
        },
        "Outputs": {"BootstrapVersion": {"Value": "30"}, "BucketName": {"Value": ASSETS}},
    },
    "SSTBootstrap": {
        "Resources": {"Bucket": BUCKET},
        "Outputs": {"Version": {"Value": "7.4"}, "BucketName": {"Value": {"Ref": "Bucket"}}},
    },
}


def configure(settings):
    url = f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/config"
    body = json.dumps(settings).encode()
    request = urllib.request.Request(url, data=body, headers={"content-type": "application/json"})
    urllib.request.urlopen(request).read()


configure({"lambda": {"use_docker": False}, "stepfunctions": {"execute_state_machine": True}})
stacks, parameters = boto3.client("cloudformation"), boto3.client("ssm")
for name, template in STACKS.items():
    stacks.create_stack(StackName=name, TemplateBody=json.dumps(template))
for name, value in {"E2B_API_KEY": sys.argv[1], "OPENAI_API_KEY": "never-asked"}.items():
    parameters.put_parameter(Name=f"/nova/production/{name}", Value=value, Type="SecureString")
