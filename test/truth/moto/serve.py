"""Starts moto's server with the additions that NOVA's deployment needs.

Usage: python serve.py <port>
TRUTH_PROXY_PORT   the port of the proxy, which records the AWS requests of state machines and rules
TRUTH_GAPS_FILE    the file for one line of JSON for each resource that moto cannot create: {stack, id, type, reason}
"""

import sys

import cloudformation
import events
import kms
import lambdas
import states
from moto.server import main

for part in (cloudformation, kms, lambdas, states, events):
    part.extend()

main(["--host", "127.0.0.1", "--port", sys.argv[1]])
