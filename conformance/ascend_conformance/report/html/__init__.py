"""The report as one page of HTML that needs nothing else, and stays small whatever was found."""

from __future__ import annotations

from .extent import LARGEST as LARGEST
from .page import render as render
from .picture import picture_of_step as picture_of_step
