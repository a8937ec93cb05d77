"""Paths of the examples. Importing this file makes the lib of the invoice example importable, as the sandbox does for nodes."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "packages" / "examples"
INVOICE = EXAMPLES / "invoice"
FIXTURES = ROOT / "test" / "fixtures" / "invoices"

sys.path.insert(0, str(INVOICE / "lib"))
