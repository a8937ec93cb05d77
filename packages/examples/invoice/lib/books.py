"""The table of booked invoices."""

from __future__ import annotations

import os

import psycopg

SECONDS = 20

INSERT = """
INSERT INTO invoices (id, execution_id, file, sender, subject, amount, currency, branch)
VALUES (%(id)s, %(execution_id)s, %(file)s, %(sender)s, %(subject)s, %(amount)s, %(currency)s, %(branch)s)
ON CONFLICT (id) DO NOTHING
"""


def book(context: dict, record: dict) -> str:
    """Inserts the record and returns its id. All restarts of a run have the same id, so the invoice is booked only once."""
    row = {**record, "id": os.environ["NOVA_RESTART_KEY"], "execution_id": os.environ["NOVA_EXECUTION_ID"]}
    try:
        with _connect(context) as connection:
            connection.execute(INSERT, row)
    except psycopg.Error as error:
        raise RuntimeError(
            f"the database {context['db_name']} at {context['db_host']} did not take the invoice: {error}"
        ) from error
    return row["id"]


def _connect(context: dict) -> psycopg.Connection:
    return psycopg.connect(
        host=context["db_host"],
        port=context["db_port"],
        dbname=context["db_name"],
        user=context["db_user"],
        password=context["db_password"],
        sslmode=context.get("db_sslmode", "prefer"),
        connect_timeout=SECONDS,
    )
