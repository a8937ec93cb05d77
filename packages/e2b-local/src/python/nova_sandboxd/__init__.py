"""The Python part of the local E2B server: a started interpreter from which sandboxes are forked. It uses only the
standard library."""
