"""Operators of convolutional networks: compiled graphs, with changes of format around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .kernels import WIDTHS, Operand
from .model import OTHER_STREAM
from .tape import Tape
from .values import Parameter, Value
from .writer import COPIED_BYTES

NCHW = "NCHW"
BLOCKED = "NC1HWC0"
POOLED = "NC1HWC0:1"
FRACTAL = "FRACTAL_Z"
BLOCK_BYTES = 32
POOL_BLOCK = 16
"""Channels of a block: so many Byte for convolutions, so many elements for pooling."""
UNIFIED_BUFFER = 192 << 10
"""Byte that a vector core of A2 holds; the others hold more."""
CHANGES = ("TransData", "Cast")
"""Kernels that a compiled graph puts between its operators; they are numbered together."""
SIZES = Operand((4,), "INT32", NCHW)
"""The shape of what a graph makes, as an operand."""
Shape = tuple[int, ...]


@dataclass(slots=True)
class Graphs:
    """Numbers compiled graphs in the order of their first use, and what changes formats in them."""

    numbers: dict[tuple[str, object], int] = field(default_factory=dict)

    def name(self, kind: str, key: object) -> str:
        """Name of an operator of a graph."""
        number = self.numbers.setdefault((kind, key), self._next(kind))
        return f"trans_{kind}_{number}" if kind in CHANGES else f"{kind}{number}"

    def _next(self, kind: str) -> int:
        changes = kind in CHANGES
        return sum((found[0] in CHANGES) == changes for found in self.numbers) + (not changes)


@dataclass(slots=True)
class Vision:
    """Writes the operators of one network; blocks have ``BLOCK_BYTES``."""

    tape: Tape
    graphs: Graphs = field(default_factory=Graphs)

    def convolution(
        self, x: Value, weight: Parameter, bias: Parameter, stride: int, padding: int
    ) -> Value:
        """A convolution with bias of an NCHW tensor."""
        tape, kind = self.tape, x.data_type
        batch, _, height, width = x.shape
        out, _, rows, columns = weight.shape
        shape = (
            batch,
            out,
            (height + 2 * padding - rows) // stride + 1,
            (width + 2 * padding - columns) // stride + 1,
        )
        operands = (x, weight, bias)
        made = self._graph("Conv2D", operands, operands, (shape, kind), _blocked(shape, kind))

        def backward(gradient: Value) -> list[Value | None]:
            of_input, called = None, (gradient, x, weight)
            if x.wants_gradient:
                factors = (None, weight, gradient)
                own, result = "Conv2DBackpropInput", _blocked(x.shape, kind)
                of_input = self._graph(own, called, factors, x.like, result, shape)
            own, result = "Conv2DBackpropFilter", replace(_fractal(weight), data_type="FLOAT")
            like = weight.shape, kind
            of_weight = self._graph(own, called, (x, None, gradient), like, result, shape)
            of_bias = self._bias_gradient(gradient, bias)
            return [of_input, self._contiguous(of_weight), of_bias]

        return tape.differentiable(made, operands, backward)

    def _graph(
        self,
        kind: str,
        called: tuple[Value, Value, Value],
        operands: Sequence[Value | None],
        new: tuple[Shape, str],
        result: Operand,
        shape: Shape | None = None,
    ) -> Value:
        """A compiled graph: a product of operands in the cube's formats, its result as NCHW.

        operands: of the product, None for a list of sizes. new: shape and type of what the graph
        makes of ``result``, which the cube sums. shape: that of the convolution's result.
        """
        tape = self.tape
        weight = next(value for value in called if isinstance(value, Parameter))
        forms = {id(value): _form(value) for value in operands if value and len(value.shape) == 4}
        summed = replace(result, shape=new[0], layout=NCHW)
        narrows = summed.data_type != new[1]
        inside = [*forms.values(), result, *[summed] * narrows]
        (made,) = tape.call(
            "aten::conv2d" if kind == "Conv2D" else "aten::convolution_backward",
            kind,
            called,
            [new],
            two_phase=False,
            workspace=sum(operand.size for operand in inside),
            layout=NCHW,
        )
        inputs = []
        for value in operands:
            (seen,) = self._see(value) if value else (SIZES,)
            form = forms.get(id(value))
            inputs.append(self._change(seen, form, inside=True) if form else seen)
        name = self.graphs.name(kind, weight.shape)
        if result.layout == FRACTAL:
            tape.launch(tape.kernels.clear("", name, result.size))
        batch, _, height, width = shape or new[0]
        pixels = batch * height * width
        depth, columns, *block = _fractal(weight).shape
        padded = pixels * depth * columns * block[0] * block[1]
        products = pixels * weight.elements
        kernel = tape.kernels.convolution(kind, name, inputs, result, products, padded, batch)
        tape.launch(kernel, workspace=result.size)
        self._change(result, summed, inside=narrows)
        if narrows:
            name = self.graphs.name("Cast", (NCHW, summed.shape))
            narrow = replace(summed, data_type=new[1])
            tape.launch(tape.kernels.vector("Cast", "", [summed], [narrow], name))
        tape.see_new([made])
        return made

    def _contiguous(self, x: Value) -> Value:
        """A copy of a large gradient outside the graph's memory."""
        if x.size < COPIED_BYTES:
            return x
        tape, api = self.tape, "aclnnInplaceCopy"
        (made,) = tape.call("npu::npu_dtype_cast", api, (x,), [x.like], layout=NCHW)
        tape.vector("TensorMove", api, (x,), (made,))
        return made

    def _bias_gradient(self, gradient: Value, bias: Parameter) -> Value:
        """The sum over batch and pixels; its axes come from the host."""
        tape = self.tape
        (made,) = tape.call("aten::sum", "ReduceSum", (gradient,), [bias.like], two_phase=False)
        tape.copy_argument(16)
        tape.copy_argument(8)
        batch, channels, height, width = gradient.shape
        flat = Value((batch, channels, height * width), gradient.data_type, gradient.storage)
        name = self.graphs.name("ReduceSum", len(bias.shape))
        inputs = [*tape.see(flat), Operand((2,), "INT64")]
        written = tape.see_new([made])
        kernel = tape.kernels.vector("ReduceSum", "", inputs, written, name)
        tape.launch(kernel, workspace=made.size)
        return made

    def _see(self, *values: Value) -> list[Operand]:
        """Operands as kernels of images see them, whoever made them."""
        return [replace(operand, layout=NCHW) for operand in self.tape.see(*values)]

    def _change(self, source: Operand, made: Operand, *, inside: bool) -> Operand:
        """Bring an operand into another format, ``inside`` of the graph's memory or not."""
        name = self.graphs.name("TransData", (source.layout, made.layout, source.shape))
        kind = "TransDataFractal" if FRACTAL in (source.layout, made.layout) else "TransData"
        kernel = self.tape.kernels.vector(kind, "", [source], [made], name)
        self.tape.launch(kernel, workspace=made.size if inside else 0)
        return made

    def max_pool(self, x: Value, size: int, stride: int) -> Value:
        """Maxima of windows, with a mask for the way back."""
        tape, kind, api = self.tape, x.data_type, "aclnnMaxPool2dWithMask"
        batch, channels, height, width = x.shape
        rows, columns = (pooled(side, size, stride) for side in (height, width))
        shape = (batch, channels, rows, columns)
        places = -(-rows * columns // POOL_BLOCK) + 1
        blocks = -(-channels // POOL_BLOCK)
        mask_shape = (batch, blocks, size * size, places, POOL_BLOCK)
        whole, result = _pooled(x.shape, kind), _pooled(shape, kind)
        scratch = whole.size + result.size
        made, mask, _ = tape.call(
            "aten::max_pool2d",
            api,
            (x,),
            [(shape, kind), (mask_shape, "UINT16"), ((scratch,), "UINT8")],
            layout=NCHW,
        )
        (of_x,) = self._see(x)
        left = self._special(api, of_x, whole)
        written = Operand(mask_shape, "UINT16", POOLED)
        tape.launch(tape.kernels.vector("MaxPoolWithArgmaxV1", api, [left], [result, written]))
        self._special(api, result, Operand(shape, kind, NCHW))
        tape.see_new([made, mask])

        def backward(gradient: Value) -> list[Value | None]:
            own = f"{api}Backward"
            of_input, _ = tape.call(
                "aten::max_pool2d_with_indices_backward",
                own,
                (gradient, x, mask),
                [(x.shape, kind), ((2 * scratch,), "UINT8")],
                layout=NCHW,
            )
            of_gradient, of_x, _ = self._see(gradient, x, mask)
            answer = self._special(own, of_gradient, result)
            again = self._special(own, of_x, whole)
            hidden = Operand(
                (batch, channels, size * size, size * size, places, POOL_BLOCK),
                "UINT16",
                BLOCKED,
                moved=mask.size,
            )
            image = (height * width + rows * columns) * POOL_BLOCK * WIDTHS[kind]
            # An image that one core cannot hold is cut, and then each image is a block.
            halves = 2 * batch * blocks if tape.machine.chip.split and image > UNIFIED_BUFFER else 0
            kernel = "MaxPoolGradWithArgmaxV1"
            seen = [again, answer, hidden]
            tape.launch(tape.kernels.vector(kernel, own, seen, [whole], blocks=halves))
            self._special(own, whole, Operand(x.shape, kind, NCHW))
            tape.see_new([of_input])
            return [of_input]

        return tape.differentiable(made, (x,), backward)

    def _special(self, api: str, source: Operand, made: Operand) -> Operand:
        self.tape.launch(self.tape.kernels.vector("TransData", api, [source], [made]))
        return made

    def average_pool(self, x: Value) -> Value:
        """Adaptive averages of an NCHW tensor that has the wanted size already."""
        tape, kind, api = self.tape, x.data_type, "aclnnAdaptiveAvgPool2d"
        batch, channels, height, width = x.shape
        last = (batch, 1, height, width, channels)
        (made,) = tape.call("aten::adaptive_avg_pool2d", api, (x,), [(x.shape, kind)])
        kernels = tape.kernels
        (of_x,) = tape.see(Value((batch, channels, 1, height, width), kind, x.storage))
        axes, moved = Operand((5,), "INT64"), Operand(last, kind)
        tape.launch(kernels.vector("Transpose", api, [of_x, axes], [moved]))
        tape.launch(kernels.vector("AdaptiveAvgPool3d", api, [moved], [moved]))
        back = Operand((batch, channels, 1, height, width), kind)
        tape.launch(kernels.vector("Transpose", api, [moved, axes], [back]))
        tape.see_new([made])

        def backward(gradient: Value) -> list[Value | None]:
            own = f"{api}Backward"
            name = "aten::_adaptive_avg_pool2d_backward"
            (of_x,) = tape.call(name, own, (gradient, x), [(x.shape, kind)])
            joined = (batch * channels, 1, height, width)
            (seen, _) = self._see(Value(joined, kind, gradient.storage), x)
            four = Operand((4,), "INT64")
            turned = Operand((1, height, width, batch * channels), kind, NCHW)
            tape.launch(kernels.vector("Transpose", own, [seen, four], [turned]))
            shape = Operand((batch, channels, 1, height, width), kind)
            tape.launch(kernels.vector("AdaptiveAvgPool3dGrad", own, [turned, shape], [turned]))
            result = Operand(joined, kind, NCHW)
            tape.launch(kernels.vector("Transpose", own, [turned, four], [result]))
            tape.see_new([of_x])
            return [of_x]

        return tape.differentiable(made, (x,), backward)


def dropout(tape: Tape, x: Value) -> Value:
    """Random zeros; the mask comes from a unit (or the AI CPU) on another stream."""
    api, mask_api = "aclnnDropoutDoMask", "aclnnDropoutGenMaskV2"
    size = -(-x.elements // 1024) * 128
    (mask,) = tape.call("aten::dropout", mask_api, (), [((size,), "UINT8")])
    tape.copy_argument(32)
    kind = "DSAGenBitMask" if tape.machine.chip.random_unit else "DropOutGenMask"
    tape.launch(
        tape.kernels.vector(kind, mask_api, [], [Operand((size,), "UINT8")]), stream=OTHER_STREAM
    )

    def masked(name: str, whole: Value) -> list[Value]:
        kept = Operand((1,), x.data_type)
        return tape.run(name, api, "DropOutDoMask", (whole, mask), [x.like], extra=(kept,))

    (made,) = masked("npu::npu_dropout_do_mask", x)
    return tape.differentiable(
        made, (x,), lambda gradient: masked("npu::npu_dropout_backward", gradient)
    )


def pooled(side: int, size: int, stride: int) -> int:
    """Windows along a side; one that is larger than the picture covers all of it."""
    return max(1, (side - size) // stride + 1)


def _blocked(shape: Shape, data_type: str) -> Operand:
    """An NCHW tensor as the cube takes it."""
    return Operand(_blocks(shape, BLOCK_BYTES // WIDTHS[data_type]), data_type, BLOCKED)


def _fractal(weight: Value) -> Operand:
    """A weight as the cube takes it."""
    _, depth, rows, columns, block = _blocked(weight.shape, weight.data_type).shape
    shape = (depth * rows * columns, -(-weight.shape[0] // 16), 16, block)
    return Operand(shape, weight.data_type, FRACTAL)


def _form(value: Value) -> Operand:
    fractal = isinstance(value, Parameter)
    return _fractal(value) if fractal else _blocked(value.shape, value.data_type)


def _pooled(shape: Shape, data_type: str) -> Operand:
    """An NCHW tensor as pooling takes it."""
    return Operand(_blocks(shape, POOL_BLOCK), data_type, POOLED)


def _blocks(shape: Shape, block: int) -> Shape:
    batch, channels, height, width = shape
    return (batch, -(-channels // block), height, width, block)
