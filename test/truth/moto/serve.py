"""Starts moto's server with the additions that NOVA's deployment needs.

Usage: python serve.py <port>
TRUTH_PROXY_PORT   where state machines and rules ask AWS: the proxy that writes requests down
TRUTH_GAPS_FILE    gets one line of JSON for each resource that moto cannot make: {stack, id, type, reason}
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
