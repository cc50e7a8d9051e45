"""Requests that are refused."""

from __future__ import annotations

from ascend_spec import mindspore_catalog
from ascend_spec.mindspore import Refusal

LONGEST = 500
"""Characters of the details, which may repeat what a client sent."""


class Refused(Exception):
    """A request is refused, by the name of a refusal in the spec; the text says why."""

    def __init__(self, name: str, details: str = "") -> None:
        super().__init__(details)
        self.name = name
        self.details = details if len(details) <= LONGEST else f"{details[:LONGEST]} …"

    @property
    def refusal(self) -> Refusal:
        """What the spec says of it."""
        return mindspore_catalog().refusals[self.name]

    @property
    def body(self) -> dict[str, str]:
        """The body of the answer."""
        refusal = self.refusal
        message = f"{refusal.message} {self.details}".rstrip()
        return {"error_code": refusal.code, "error_msg": message}
