"""JSON Schemas as users get them."""

from __future__ import annotations

import json
from typing import Any

from ascend_ref.tools.spec.exports import Wanted, export
from ascend_ref.tools.spec.lookup import find


def exported_schema(address: str, at: str | None = None) -> Any:
    """What ``spec export ADDRESS --at AT`` writes."""
    return json.loads(export(find(address), Wanted("json-schema", at)).text)
