"""Lets CloudFormation create resources that moto supports only in their own APIs. Reports resources that moto lacks."""

import json
import os
import re

import moto.cloudformation.parsing as parsing
from moto.awslambda.models import EventSourceMapping, Permission
from moto.core.common_models import CloudFormationModel
from moto.events.models import Rule
from moto.scheduler.models import scheduler_backends
from moto.sqs.models import Queue


class Missing(CloudFormationModel):
    """A placeholder for a resource that moto cannot create. Other resources can use its id and attributes."""

    __module__ = "moto.missing.models"  # moto reads the name of the service from the name of the module.

    def __init__(self, logical_id, type_, id_):
        self.type = self.cf_resource_type = type_
        self.logical_resource_id = logical_id
        self.physical_resource_id = self.id = id_

    @staticmethod
    def is_created():
        return True

    @classmethod
    def has_cfn_attr(cls, attr):
        return True

    def get_cfn_attribute(self, attribute):
        if attribute.endswith("Arn"):
            return f"arn:aws:missing:us-east-1:123456789012:{self.id}"
        return f"{self.id}.{attribute}"


def alias_arn(properties, account_id, region_name):
    """Returns the ARN of an alias, because moto cannot create aliases. Other resources need only the ARN."""
    return f"arn:aws:lambda:{region_name}:{account_id}:function:{properties['FunctionName']}:{properties['Name']}"


def schedule_group(properties, account_id, region_name):
    return scheduler_backends[account_id][region_name].create_schedule_group(properties["Name"], []).name


# Types that moto's CloudFormation does not know. Each function creates the resource and returns its id.
MADE = {"AWS::Lambda::Alias": alias_arn, "AWS::Scheduler::ScheduleGroup": schedule_group}


def unqualified(name, properties):
    """Replaces the alias in a mapping or a permission by the function's name, because moto does not find aliases."""
    function = re.sub(r"^((?:arn:.*:function:)?[^:]+):[\w$-]+$", r"\1", properties["FunctionName"])
    return name, {**properties, "FunctionName": function}


def named_bus(name, properties):
    """Replaces the bus by its name, because moto resolves a reference to a bus to the bus object."""
    bus = properties.get("EventBusName", "default")
    return name, {**properties, "EventBusName": getattr(bus, "name", bus)}


def fifo_name(name, properties):
    """Adds the suffix that the name of a FIFO queue needs, as CloudFormation does."""
    return (f"{name[:75]}.fifo" if properties.get("FifoQueue") else name), properties


MENDED = {Permission: unqualified, EventSourceMapping: unqualified, Rule: named_bus, Queue: fifo_name}


def mend(model, change):
    create = model.create_from_cloudformation_json.__func__

    def create_changed(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        name, properties = change(resource_name, cloudformation_json["Properties"])
        changed = {**cloudformation_json, "Properties": properties}
        return create(cls, name, changed, account_id, region_name, **kwargs)

    model.create_from_cloudformation_json = classmethod(create_changed)


def extend():
    for model, change in MENDED.items():
        mend(model, change)
    create = parsing.parse_and_create_resource
    gaps = open(os.environ["TRUTH_GAPS_FILE"], "a", buffering=1)

    def create_or_tell(logical_id, resource, resources, account_id, region_name):
        type_, properties = resource["Type"], resource.get("Properties", {})
        if type_ in MADE:
            given = parsing.clean_json(properties, resources)
            return Missing(logical_id, type_, MADE[type_](given, account_id, region_name))
        if type_ == "AWS::SSM::Parameter":  # moto expects a list of tags where CloudFormation has an object
            kept = {name: value for name, value in properties.items() if name != "Tags"}
            resource = {**resource, "Properties": kept}
        try:
            made = create(logical_id, resource, resources, account_id, region_name)
            reason = "moto does not know the type"
        except Exception as error:  # noqa: BLE001
            made, reason = None, f"{type(error).__name__}: {error}"
        if made is not None:
            return made
        stack = resources["AWS::StackName"]
        gaps.write(json.dumps({"stack": stack, "id": logical_id, "type": type_, "reason": reason}) + "\n")
        return Missing(logical_id, type_, f"missing-{logical_id.lower()}")

    parsing.parse_and_create_resource = create_or_tell
    # moto refuses a stack with outputs of resources whose type it does not know, so this check is skipped.
    parsing.ResourceMap.validate_outputs = lambda self: None
