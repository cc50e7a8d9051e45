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
BACKWARD = "aten::convolution_backward"
BLOCK_BYTES = 32
POOL_BLOCK = 16
"""Channels of a block: so many Byte for convolutions, so many elements for pooling."""
UNIFIED_BUFFER = 192 << 10
"""Byte that a vector core of A2 holds; the others hold more."""
CHANGES = ("TransData", "Cast")
"""Kernels that a compiled graph puts between its operators; they are numbered together."""
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
        inner, fractal, outer = _blocked(x.shape, kind), _fractal(weight), _blocked(shape, kind)
        space = _bytes(kind, inner, fractal, outer)
        made = self._graph("aten::conv2d", "Conv2D", (x, weight, bias), (shape, kind), space)
        of_x, of_weight, of_bias = self._see(x, weight, bias)
        left = self._change(of_x, inner, BLOCKED)
        right = self._change(of_weight, fractal, FRACTAL)
        result = Operand(outer, kind, BLOCKED)
        self._multiply("Conv2D", [left, right, of_bias], result, weight, shape)
        self._change(result, shape, NCHW)
        tape.see_new([made])

        def backward(gradient: Value) -> list[Value | None]:
            of_input = None
            if x.wants_gradient:
                of_input = self._input_gradient(gradient, weight, x)
            of_weight = self._weight_gradient(gradient, weight, x)
            of_bias = self._bias_gradient(gradient, bias)
            return [of_input, self._contiguous(of_weight), of_bias]

        return tape.differentiable(made, (x, weight, bias), backward)

    def _graph(
        self,
        name: str,
        kind: str,
        inputs: Sequence[Value],
        new: tuple[Shape, str],
        workspace: int,
    ) -> Value:
        """Call a compiled graph."""
        return self.tape.call(
            name, kind, inputs, [new], two_phase=False, workspace=workspace, layout=NCHW
        )[0]

    def _input_gradient(self, gradient: Value, weight: Parameter, x: Value) -> Value:
        tape, kind = self.tape, x.data_type
        fractal, outer = _fractal(weight), _blocked(gradient.shape, kind)
        inner = _blocked(x.shape, kind)
        space, operator = _bytes(kind, fractal, outer, inner), "Conv2DBackpropInput"
        made = self._graph(BACKWARD, operator, (gradient, x, weight), x.like, space)
        of_weight, of_gradient = self._see(weight, gradient)
        left = self._change(of_weight, fractal, FRACTAL)
        right = self._change(of_gradient, outer, BLOCKED)
        result = Operand(inner, kind, BLOCKED)
        sizes = Operand((4,), "INT32", NCHW)
        self._multiply(operator, [sizes, left, right], result, weight, gradient.shape)
        self._change(result, x.shape, NCHW)
        tape.see_new([made])
        return made

    def _weight_gradient(self, gradient: Value, weight: Parameter, x: Value) -> Value:
        tape, kind = self.tape, x.data_type
        fractal, outer = _fractal(weight), _blocked(gradient.shape, kind)
        inner = _blocked(x.shape, kind)
        summed_in = [fractal] if kind == "FLOAT" else [fractal, weight.shape]
        operator = "Conv2DBackpropFilter"
        space = _bytes(kind, outer, inner) + _bytes("FLOAT", *summed_in)
        made = self._graph(BACKWARD, operator, (gradient, x, weight), (weight.shape, kind), space)
        of_x, of_gradient = self._see(x, gradient)
        left = self._change(of_x, inner, BLOCKED)
        right = self._change(of_gradient, outer, BLOCKED)
        result = Operand(fractal, "FLOAT", FRACTAL)
        name = self.graphs.name(operator, weight.shape)
        tape.launch(tape.kernels.clear("", name, _bytes("FLOAT", fractal)))
        sizes = Operand((4,), "INT32", NCHW)
        self._multiply(operator, [left, sizes, right], result, weight, gradient.shape)
        narrows = kind != "FLOAT"
        summed = self._change(result, weight.shape, NCHW, inside=narrows)
        if narrows:
            self._narrow(summed, kind)
        tape.see_new([made])
        return made

    def _contiguous(self, x: Value) -> Value:
        """A copy of a large gradient outside the graph's memory."""
        if x.size < COPIED_BYTES:
            return x
        tape, api = self.tape, "aclnnInplaceCopy"
        new = [(x.shape, x.data_type)]
        (made,) = tape.call("npu::npu_dtype_cast", api, (x,), new, layout=NCHW)
        tape.vector("TensorMove", api, (x,), (made,))
        return made

    def _bias_gradient(self, gradient: Value, bias: Parameter) -> Value:
        """The sum over batch and pixels; its axes come from the host."""
        tape = self.tape
        (made,) = tape.call(
            "aten::sum",
            "ReduceSum",
            (gradient,),
            [(bias.shape, bias.data_type)],
            two_phase=False,
        )
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

    def _multiply(
        self,
        kind: str,
        inputs: Sequence[Operand],
        output: Operand,
        weight: Parameter,
        shape: Shape,
    ) -> None:
        """The cube's part of a graph; ``shape``: that of the convolution's result."""
        batch, _, height, width = shape
        pixels = batch * height * width
        depth, columns, *block = _fractal(weight)
        padded = pixels * depth * columns * block[0] * block[1]
        products = pixels * weight.elements
        name = self.graphs.name(kind, weight.shape)
        kernels = self.tape.kernels
        self.tape.launch(
            kernels.convolution(kind, name, inputs, output, products, padded, batch),
            workspace=output.size,
        )

    def _change(
        self, source: Operand, shape: Shape, layout: str, *, inside: bool | None = None
    ) -> Operand:
        """Bring an operand into another format, within a graph.

        inside: of the graph's memory; None: unless the format is that of its results.
        """
        made = Operand(shape, source.data_type, layout)
        name = self.graphs.name("TransData", (source.layout, layout, source.shape))
        inside = layout != NCHW if inside is None else inside
        fractal = FRACTAL in (source.layout, layout)
        kind = "TransDataFractal" if fractal else "TransData"
        self.tape.launch(
            self.tape.kernels.vector(kind, "", [source], [made], name),
            workspace=made.size if inside else 0,
        )
        return made

    def _narrow(self, source: Operand, data_type: str) -> None:
        """Round a sum, which the cube makes in FLOAT, to the graph's result."""
        name = self.graphs.name("Cast", (source.layout, source.shape))
        made = replace(source, data_type=data_type)
        self.tape.launch(self.tape.kernels.vector("Cast", "", [source], [made], name))

    def max_pool(self, x: Value, size: int, stride: int) -> Value:
        """Maxima of windows, with a mask for the way back."""
        tape, kind, api = self.tape, x.data_type, "aclnnMaxPool2dWithMask"
        batch, channels, height, width = x.shape
        rows, columns = (pooled(side, size, stride) for side in (height, width))
        shape = (batch, channels, rows, columns)
        places = -(-rows * columns // POOL_BLOCK) + 1
        blocks = -(-channels // POOL_BLOCK)
        mask_shape = (batch, blocks, size * size, places, POOL_BLOCK)
        scratch = _bytes(kind, _pooled(x.shape), _pooled(shape))
        made, mask, _ = tape.call(
            "aten::max_pool2d",
            api,
            (x,),
            [(shape, kind), (mask_shape, "UINT16"), ((scratch,), "UINT8")],
            layout=NCHW,
        )
        (of_x,) = self._see(x)
        left = self._special(api, of_x, _pooled(x.shape), POOLED)
        result = Operand(_pooled(shape), kind, POOLED)
        written = Operand(mask_shape, "UINT16", POOLED)
        tape.launch(tape.kernels.vector("MaxPoolWithArgmaxV1", api, [left], [result, written]))
        self._special(api, result, shape, NCHW)
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
            answer = self._special(own, of_gradient, _pooled(shape), POOLED)
            again = self._special(own, of_x, _pooled(x.shape), POOLED)
            hidden = Operand(
                (batch, channels, size * size, size * size, places, POOL_BLOCK),
                "UINT16",
                BLOCKED,
                moved=mask.size,
            )
            result = Operand(_pooled(x.shape), kind, POOLED)
            image = (height * width + rows * columns) * POOL_BLOCK * WIDTHS[kind]
            # An image that one core cannot hold is cut, and then each image is a block.
            halves = 2 * batch * blocks if tape.machine.chip.split and image > UNIFIED_BUFFER else 0
            tape.launch(
                tape.kernels.vector(
                    "MaxPoolGradWithArgmaxV1",
                    own,
                    [again, answer, hidden],
                    [result],
                    blocks=halves,
                )
            )
            self._special(own, result, x.shape, NCHW)
            tape.see_new([of_input])
            return [of_input]

        return tape.differentiable(made, (x,), backward)

    def _special(self, api: str, source: Operand, shape: Shape, layout: str) -> Operand:
        made = Operand(shape, source.data_type, layout)
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


def _block(data_type: str) -> int:
    return BLOCK_BYTES // WIDTHS[data_type]


def _blocked(shape: Shape, data_type: str) -> Shape:
    batch, channels, height, width = shape
    block = _block(data_type)
    return (batch, -(-channels // block), height, width, block)


def _pooled(shape: Shape) -> Shape:
    batch, channels, height, width = shape
    return (batch, -(-channels // POOL_BLOCK), height, width, POOL_BLOCK)


def _fractal(weight: Value) -> Shape:
    out, channels, rows, columns = weight.shape
    block = _block(weight.data_type)
    return (-(-channels // block) * rows * columns, -(-out // 16), 16, block)


def _bytes(data_type: str, *shapes: Shape) -> int:
    width = WIDTHS[data_type]
    return sum(Operand(shape, "UINT8").elements * width for shape in shapes)
