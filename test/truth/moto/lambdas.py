"""Lets moto invoke functions through the proxy, which runs each function in a process. moto would start containers."""

import json
import os
import threading

import boto3
import moto.awslambda.models as models
import moto.stepfunctions.parser.asl.utils.boto_client as of_machines
from botocore.config import Config


def client():
    """Returns a client for invocations by rules and queues. The proxy recognises the caller by the access key id."""
    return boto3.client(
        "lambda",
        region_name="us-east-1",
        endpoint_url=f"http://localhost:{os.environ['TRUTH_PROXY_PORT']}",
        aws_access_key_id="events",
        aws_secret_access_key="events",
        config=Config(retries={"total_max_attempts": 1}),
    )


def invoke_later(function_arn, event):
    """Invokes a function as a rule or a queue mapping does, and does not wait until the function ends."""
    call = {"FunctionName": function_arn, "Payload": json.dumps(event), "InvocationType": "Event"}
    threading.Thread(target=lambda: client().invoke(**call), daemon=True).start()


def extend():
    # AWS clients of state machines send their requests to the proxy. Their access key id is "ak".
    of_machines.moto_server_port = lambda: os.environ["TRUTH_PROXY_PORT"]
    models.LambdaVersion.get_cfn_attribute = lambda self, attribute: self.version

    def send_sqs_batch(self, function_arn, messages, queue_arn):
        for message in messages:
            record = {"messageId": message.id, "body": message.body, "eventSource": "aws:sqs"}
            invoke_later(function_arn, {"Records": [{**record, "eventSourceARN": queue_arn}]})
        return True

    models.LambdaBackend.send_sqs_batch = send_sqs_batch
