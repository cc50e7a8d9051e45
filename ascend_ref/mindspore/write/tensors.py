"""The tensors of operators, as files of the framework have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ascend_ref.capture import Capture
from ascend_ref.capture.model import NONE
from ascend_spec import mindspore_catalog

from .graph import Operator

NOT_COLLECTED = "N/A"

_TYPES = {"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64", "BF16": "FLOAT16"}
"""Names of types of elements that MindSpore has others for. No parser of these years knows
bfloat16, so that the model is one of float16 then (M80).
"""
_TEXT_FORMATS = {"NCHW": "DefaultFormat", "ND": "DefaultFormat", "FRACTAL_Z": "FracZ"}
_RECORD_FORMATS = {"FRACTAL_Z": "FRAC_Z", "FRACTAL_NZ": "FRAC_NZ"}
"""Names of formats, in text and in records."""


class Tensor(NamedTuple):
    """A tensor. ``side``: input or output. ``shape``: lengths of the axes."""

    side: str
    form: str
    data_type: str
    shape: tuple[int, ...]

    @property
    def text_format(self) -> str:
        """What text calls the format."""
        return _TEXT_FORMATS.get(self.form, self.form)

    def number_in(self, vocabulary: str) -> int:
        """The number of the type of its elements; 0 for one that MindSpore does not know."""
        return _number(vocabulary, self.data_type)

    @property
    def format_number(self) -> int:
        """The number of the format in records; 0 for one that they do not know."""
        return _number("framework_formats", _RECORD_FORMATS.get(self.form, self.form))


def tensors_of(capture: Capture, texts: list[str], operator: Operator) -> Iterator[Tensor]:
    """The inputs, then the outputs, of a kernel; none where they were not collected."""
    if operator.kind == NONE:
        return
    kinds, row = capture.kernel_kinds, operator.kind
    for side in ("input", "output"):
        shapes, formats, types = (
            texts[int(getattr(kinds, f"{side}_{what}")[row])]
            for what in ("shapes", "formats", "data_types")
        )
        if NOT_COLLECTED in (shapes, formats, types):
            continue
        for shape, form, data_type in zip(
            shapes.strip('"').split(";"), formats.split(";"), types.split(";"), strict=True
        ):
            axes = tuple(int(one) for one in shape.split(",") if one)
            plain = form.partition(":")[0].removeprefix("FORMAT_")
            named = data_type.removeprefix("DT_")
            yield Tensor(side, plain, _TYPES.get(named, named), axes)


def _number(vocabulary: str, name: str) -> int:
    members = mindspore_catalog().vocabularies[vocabulary].members
    return next((int(one.value) for one in members if one.name == name), 0)
