"""Where the example lies; importing this makes its lib importable, as the sandbox does for nodes."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
INVOICE = ROOT / "packages" / "examples" / "invoice"
FIXTURES = ROOT / "test" / "fixtures" / "invoices"

sys.path.insert(0, str(INVOICE / "lib"))
