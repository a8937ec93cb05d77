"""Extends moto's Step Functions. Executions can start with a version of a state machine, and versions can be listed.
Executions can start child executions, and put an event on the bus when they end."""

import json
import threading

from moto.core.responses import ActionResult
from moto.events.models import events_backends
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_sfn import (
    StateTaskServiceSfn,
)
from moto.stepfunctions.parser.backend.execution import BaseExecutionWorkerCommunication
from moto.stepfunctions.parser.models import StepFunctionsParserBackend
from moto.stepfunctions.responses import StepFunctionResponse


def extend():
    start_versions()
    list_versions()
    start_children()
    tell_ends()


def start_versions():
    """Lets executions start with a version of a state machine. During the start, the state machine has the definition
    of this version."""
    start = StepFunctionsParserBackend.start_execution
    one_at_a_time = threading.Lock()

    def start_execution(self, state_machine_arn, *args, **kwargs):
        machine = self.describe_state_machine(state_machine_arn)
        if not hasattr(machine, "source_arn"):
            return start(self, state_machine_arn, *args, **kwargs)
        source = self.describe_state_machine(machine.source_arn)
        with one_at_a_time:
            newest, source.definition = source.definition, machine.definition
            try:
                return start(self, machine.source_arn, *args, **kwargs)
            finally:
                source.definition = newest

    StepFunctionsParserBackend.start_execution = start_execution


def list_versions():
    def list_state_machine_versions(self):
        machine = self.stepfunction_backend.describe_state_machine(self._get_param("stateMachineArn"))
        latest_first = sorted(machine.versions.values(), key=lambda version: -version.version)
        shown = [{"stateMachineVersionArn": one.arn, "creationDate": one.creation_date} for one in latest_first]
        return ActionResult({"stateMachineVersions": shown})

    StepFunctionResponse.list_state_machine_versions = list_state_machine_versions


def start_children():
    """Converts the parameter names of StartExecution, because they start with a capital letter in a state machine, but
    with a small letter in boto."""
    evaluate = StateTaskServiceSfn._eval_service_task

    def eval_service_task(self, env, resource_runtime_part, normalised_parameters, state_credentials):
        given = {name[0].lower() + name[1:]: value for name, value in normalised_parameters.items()}
        evaluate(self, env, resource_runtime_part, given, state_credentials)
        env.stack.append({name[0].upper() + name[1:]: value for name, value in env.stack.pop().items()})

    StateTaskServiceSfn._eval_service_task = eval_service_task


def tell_ends():
    """Puts an event on the account's bus when an execution ends, as Step Functions does."""
    terminated = BaseExecutionWorkerCommunication.terminated

    def terminated_and_told(self):
        terminated(self)
        execution = self.execution
        detail = {
            "executionArn": execution.exec_arn,
            "stateMachineArn": getattr(execution.state_machine, "source_arn", execution.state_machine.arn),
            "name": execution.name,
            "status": execution.exec_status,
        }
        entry = {
            "Source": "aws.states",
            "DetailType": "Step Functions Execution Status Change",
            "Detail": json.dumps(detail),
            "Resources": [execution.exec_arn],
        }
        events_backends[execution.account_id][execution.region_name].put_events([entry])

    BaseExecutionWorkerCommunication.terminated = terminated_and_told
