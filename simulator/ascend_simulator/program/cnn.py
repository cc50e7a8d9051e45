"""Training of an AlexNet-like network under DistributedDataParallel, as in fixtures-2025-01.

With 32 images of 224 pixels and 64 channels in FLOAT it is the network of those profiles, operator
by operator. Chips that are not made for training run it forward, and fetch the best answers.
"""

from __future__ import annotations

from ..choices import ModelChoice, Parallelism
from ..hardware.model import Machine
from .kernels import Operand
from .layers import cross_entropy, linear, reduce_sum, relu
from .model import Program
from .parallel import Pipeline
from .tape import Tape
from .training import Training
from .values import Parameter, Value
from .vision import NCHW, Vision, dropout, pooled

CLASSES = 1000
WINDOW = 3, 2
"""Size and stride of pooling."""
BEST = 5
"""Answers among which the right one is looked for."""
STACK_SCALE = 44
"""Eager mode under a profiler that records stacks, shapes and modules slows the main thread so."""
BUCKETS = (262_144, 6_553_600)
"""DistributedDataParallel's 1 MB and 25 MB, in elements of FLOAT."""
LOADING_NS = 7_700_000
LIST_SCRATCH = ((512,), "UINT8")
"""What an operator over lists needs in addition to its results."""
FRAMES = (
    "{project}/main.py(282): main_worker",
    "{project}/main.py(354): train",
)
GET_NEXT = "GetNext"
"""Takes a prepared batch from the queue on the device."""
ENCODED_PIXELS = 3, 8
"""So many Byte for so many pixels of an encoded picture (inferred: about 3 bits each)."""
READING_NS = 900_000
"""Of reading encoded pictures, which are not decoded."""
ANSWER_FRAME = "{project}/classify.py(57): classify"


class AlexNet:
    """The weights, and one pass to the loss."""

    def __init__(self, tape: Tape, choice: ModelChoice) -> None:
        """Widths follow ``channels``: 64 gives the original network."""
        self.tape = tape
        self.choice = choice
        self.vision = Vision(tape)
        channels = choice.channels
        widths = (3, channels, 3 * channels, 6 * channels, 4 * channels, 4 * channels)
        sizes = (11, 5, 3, 3, 3)
        self.convolutions = [
            self._weight(out, inner, size, size)
            for inner, out, size in zip(widths[:-1], widths[1:], sizes, strict=True)
        ]
        self.side = _after_pools(choice.image)
        flat, hidden = widths[-1] * self.side**2, 64 * channels
        self.classifier = [
            self._weight(hidden, flat),
            self._weight(hidden, hidden),
            self._weight(CLASSES, hidden),
        ]

    def _weight(self, *shape: int) -> tuple[Parameter, Parameter]:
        kind, layout = self.choice.data_type, NCHW if len(shape) == 4 else "FORMAT_ND"
        weight = self.tape.parameter(*shape, data_type=kind, layout=layout)
        return weight, self.tape.parameter(shape[0], data_type=kind)

    def __call__(self, _: Value | None) -> Value:
        """One batch: up to the loss, and the accuracy."""
        tape = self.tape
        with tape.frame(FRAMES[0]), tape.frame(FRAMES[1]):
            images, labels = self._batch(2)
            tape.hold(images, labels, until=0)
            with tape.module("DistributedDataParallel"), tape.module("AlexNet"):
                scores = self._classify(self._features(images))
                tape.hold(scores)
            with tape.module("CrossEntropyLoss"):
                loss = cross_entropy(tape, scores, labels)
            accuracy(tape, scores, labels)
        return loss

    def answer(self) -> None:
        """One batch forward: the best answers go to the host."""
        tape, batch = self.tape, self.choice.batch
        with tape.frame(ANSWER_FRAME):
            (images,) = self._batch(1)
            with tape.module("AlexNet"):
                scores = self._classify(self._features(images), drops=False)
            new = ((batch,), "INT64")
            (best,) = tape.run("aten::argmax", "aclnnArgMax", "ArgMaxV2", (scores,), [new])
            tape.copy_out(best)

    def _batch(self, tensors: int) -> list[Value]:
        """Pictures, and as the second tensor their labels: from the host, or from the queue of
        prepared batches on the device, while the host sends the encoded pictures of a later one.
        """
        tape, choice = self.tape, self.choice
        shape = (choice.batch, 3, choice.image, choice.image)
        if choice.preprocess == "host":
            found = [tape.copy_in(*shape, data_type=choice.data_type, layout=NCHW)]
            if tensors > 1:
                found.append(tape.copy_in(choice.batch, data_type="INT64"))
            return found
        encoded = choice.batch * (choice.image**2 * ENCODED_PIXELS[0] // ENCODED_PIXELS[1])
        tape.copy_in(encoded, data_type="UINT8", pinned=True)
        news = [(shape, choice.data_type), ((choice.batch,), "INT64")][:tensors]
        found = tape.call("npu::get_next", "aclnnGetNext", (), news)
        found[0].layout = NCHW
        tape.vector(GET_NEXT, "aclnnGetNext", (), found)
        return found

    def _features(self, x: Value) -> Value:
        tape, vision = self.tape, self.vision
        steps = ((4, 2, True), (1, 2, True), (1, 1, False), (1, 1, False), (1, 1, True))
        with tape.module("Sequential"):
            for (weight, bias), (stride, padding, pools) in zip(
                self.convolutions, steps, strict=True
            ):
                with tape.module("Conv2d"):
                    x = vision.convolution(x, weight, bias, stride, padding)
                with tape.module("ReLU"):
                    x = relu(tape, x)
                if pools:
                    with tape.module("MaxPool2d"):
                        x = vision.max_pool(x, *WINDOW)
        with tape.module("AdaptiveAvgPool2d"):
            return vision.average_pool(x)

    def _classify(self, x: Value, *, drops: bool = True) -> Value:
        tape = self.tape
        x = x.view(x.shape[0], x.elements // x.shape[0])
        x.layout = "FORMAT_ND"
        with tape.module("Sequential"):
            for weight, bias in self.classifier[:-1]:
                if drops:
                    with tape.module("Dropout"):
                        x = dropout(tape, x)
                with tape.module("Linear"):
                    x = linear(tape, x, weight, bias)
                with tape.module("ReLU"):
                    x = relu(tape, x)
            with tape.module("Linear"):
                return linear(tape, x, *self.classifier[-1])


def _after_pools(image: int) -> int:
    """Pixels of a side before the classifier."""
    side = (image + 4 - 11) // 4 + 1
    for _ in range(3):
        side = pooled(side, *WINDOW)
    return side


def accuracy(tape: Tape, scores: Value, labels: Value) -> None:
    """How many of the best answers are right; many tiny operators."""
    batch, kind = scores.shape[0], scores.data_type
    values, indices = tape.call(
        "aten::topk", "aclnnTopk", (scores,), [((batch, BEST), kind), ((batch, BEST), "INT64")]
    )
    narrow = Operand((batch, BEST), "INT32")
    seen = [*tape.see(scores), Operand((), "INT32")]
    kernels = tape.kernels
    written = tape.see_new([values, indices])
    tape.launch(kernels.vector("TopKV2", "aclnnTopk", seen, [written[0], narrow]))
    tape.launch(kernels.vector("Cast", "aclnnTopk", [narrow], [written[1]]))
    (equal,) = tape.call("aten::eq", "aclnnEqTensor", (indices, labels), [((BEST, batch), "BOOL")])
    turned = Operand((BEST, batch), "INT64")
    two = Operand((2,), "INT64")
    tape.launch(kernels.vector("Transpose", "aclnnEqTensor", [written[1], two], [turned]))
    row = Operand((1, batch), "INT64")
    tape.launch(kernels.vector("BroadcastTo", "aclnnEqTensor", [row, two], [turned]))
    answer = tape.see_new([equal])
    tape.launch(kernels.vector("Equal", "aclnnEqTensor", [turned, turned], answer))
    for count in (batch, BEST * batch):
        _share(tape, equal, count)
    number = tape.constant(data_type="FLOAT")
    tape.synchronize()
    for _ in range(2):
        for name, api, kind_, kernel in METERS:
            new = [] if name.endswith("_") else [((), "FLOAT")]
            results = tape.call(name, api, (number,), new) or [number]
            factor = Operand((), "FLOAT")
            seen = [*tape.see(number), factor]
            tape.launch(kernels.vector(kind_, kernel, seen, tape.see_new(results)))
            if name == "aten::div":
                tape.hold(*results)


METERS = (
    ("aten::mul", "aclnnMuls", "Muls", "aclnnMuls"),
    ("aten::add_", "aclnnInplaceAdd", "Add", "aclnnAdd"),
    ("aten::div", "aclnnDivs", "RealDiv", "aclnnDivs"),
)
"""What keeps a mean up to date: operator, call, type, and the API in the kernel's name."""


def _share(tape: Tape, equal: Value, count: int) -> None:
    """Right answers among the first ones, as a share."""
    flat = Value((count,), equal.data_type, equal.storage)
    new = ((count,), "FLOAT")
    (numbers,) = tape.run("npu::npu_dtype_cast", "aclnnCast", "Cast", (flat,), [new])
    total, factor = reduce_sum(tape, numbers, 1), Operand((), "FLOAT")
    tape.hold(total)
    api = "aclnnInplaceMuls"
    tape.run("aten::mul_", api, "Muls", (total,), written=(total,), extra=(factor,))


def momentum(training: Training) -> None:
    """Stochastic gradient descent with momentum and weight decay over lists of tensors."""
    tape = training.tape
    weights: list[Value] = [
        parameter for parameter in tape.parameters if id(parameter) in training.gradients
    ]
    gradients = [training.gradients[id(parameter)] for parameter in weights]
    velocities: list[Value] = [
        tape.constant(*one.shape, data_type=one.data_type, layout=one.layout) for one in weights
    ]
    with tape.frame(FRAMES[0]), tape.frame(FRAMES[1]), tape.frame(SGD_FRAME):
        decayed = _over_lists(tape, "aten::_foreach_add", "AddList", [gradients, weights], True)
        _over_lists(tape, "aten::_foreach_mul_", "MulScalar", [velocities], False)
        _over_lists(tape, "aten::_foreach_add_", "AddList", [velocities, decayed], False)
        _over_lists(tape, "aten::_foreach_add_", "AddList", [weights, velocities], False)


SGD_FRAME = "{packages}/torch/optim/sgd.py(76): step"


def _over_lists(
    tape: Tape, name: str, kind: str, lists: list[list[Value]], makes: bool
) -> list[Value]:
    """One kernel over lists of tensors; it makes new ones or writes into the first list."""
    api = f"aclnnForeach{kind}V2"
    inputs = [value for values in lists for value in values]
    shapes = [(value.shape, value.data_type) for value in lists[0]] if makes else []
    *made, _ = tape.call(name, api, inputs, [*shapes, LIST_SCRATCH], lists=len(lists))
    for value, source in zip(made, lists[0], strict=False):
        value.layout = source.layout
    results = made or lists[0]
    seen = [*tape.see(*inputs), Operand((), results[0].data_type)]
    written = [
        Operand((operand.elements,), operand.data_type, operand.layout)
        for operand in tape.see_new(results)
    ]
    tape.launch(tape.kernels.vector(f"Foreach{kind}", api, seen, written))
    return results


def network(choice: ModelChoice, machine: Machine, parallelism: Parallelism) -> Program:
    """A training step, or on a chip for inference one batch of images."""
    loading = LOADING_NS if choice.preprocess == "host" else READING_NS
    if not machine.chip.trains:
        tape = Tape(machine, STACK_SCALE, differentiates=False)
        tape.prepare("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", loading)
        AlexNet(tape, choice).answer()
        tape.synchronize()
        return tape.program()
    tape = Tape(machine, STACK_SCALE)
    training = Training(
        tape,
        Pipeline(tape, 1, 0),
        {"dp": parallelism.data},
        1,
        BUCKETS,
        copies_back=True,
    )
    training.step(AlexNet(tape, choice), ((), ""), momentum, loading)
    for _ in range(3):
        tape.synchronize()
    return tape.program()
