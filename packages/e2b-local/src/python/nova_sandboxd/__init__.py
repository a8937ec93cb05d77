"""The Python side of the local E2B server: a started interpreter that is forked into sandboxes, standard library only."""
