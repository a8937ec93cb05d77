"""Lets rules invoke functions. moto itself supports only queues, logs and other buses as targets of rules."""

import copy
import json

import moto.events.models as models
from moto.core.utils import iso_8601_datetime_without_milliseconds, utcfromtimestamp

import lambdas


def extend():
    send = models.Rule.send_to_targets

    def send_to_targets(self, original_event, transform_input=True):
        if self.state != "ENABLED" or not self.event_pattern.matches_event(original_event):
            return
        functions = [target for target in self.targets if ":lambda:" in target["Arn"]]
        for target in functions:
            lambdas.invoke_later(target["Arn"], input_of(self, target, event_of(original_event)))
        others = copy.copy(self)
        others.targets = [target for target in self.targets if target not in functions]
        send(others, original_event, transform_input)

    models.Rule.send_to_targets = send_to_targets


def event_of(event):
    time = event["time"]
    if not isinstance(time, str):
        time = iso_8601_datetime_without_milliseconds(utcfromtimestamp(time))
    return {**{name: value for name, value in event.items() if name != "ingestion-time"}, "time": time}


def input_of(rule, target, event):
    """Returns the input of a target. Replaces only EventBridge's own variables, because NOVA's rules use no others."""
    if "Input" in target:
        return json.loads(target["Input"])
    if "InputTransformer" not in target:
        return event
    text = target["InputTransformer"]["InputTemplate"]
    for name, value in {
        "aws.events.rule-name": rule.name,
        "aws.events.rule-arn": rule.arn,
        "aws.events.event.json": json.dumps(event),
        "aws.events.event.ingestion-time": event["time"],
    }.items():
        text = text.replace(f"<{name}>", value)
    return json.loads(text)
