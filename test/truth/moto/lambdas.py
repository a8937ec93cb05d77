"""Functions are invoked where their bundles run: moto would start a container for each."""

import json
import os
import threading

import boto3
import moto.awslambda.models as models
import moto.stepfunctions.parser.asl.utils.boto_client as of_machines
from botocore.config import Config


def client():
    """As rules and queues invoke. The id of the key says so to the proxy."""
    return boto3.client(
        "lambda",
        region_name="us-east-1",
        endpoint_url=f"http://localhost:{os.environ['TRUTH_PROXY_PORT']}",
        aws_access_key_id="events",
        aws_secret_access_key="events",
        config=Config(retries={"total_max_attempts": 1}),
    )


def invoke_later(function_arn, event):
    """As a rule does, or a queue's mapping: whoever put the event does not wait for the function."""
    call = {"FunctionName": function_arn, "Payload": json.dumps(event), "InvocationType": "Event"}
    threading.Thread(target=lambda: client().invoke(**call), daemon=True).start()


def extend():
    # Clients of state machines go to this port. The id of their key is "ak".
    of_machines.moto_server_port = lambda: os.environ["TRUTH_PROXY_PORT"]
    models.LambdaVersion.get_cfn_attribute = lambda self, attribute: self.version

    def send_sqs_batch(self, function_arn, messages, queue_arn):
        for message in messages:
            record = {"messageId": message.id, "body": message.body, "eventSource": "aws:sqs"}
            invoke_later(function_arn, {"Records": [{**record, "eventSourceARN": queue_arn}]})
        return True

    models.LambdaBackend.send_sqs_batch = send_sqs_batch
