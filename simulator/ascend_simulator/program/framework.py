"""What the framework shows of itself: operators inside operators, and the files of modules.

The nesting is that of fixtures-2025-01 where an operator occurs there, else that of its PyTorch
sources.
"""

from __future__ import annotations

Inner = tuple[tuple[int, str], ...]

CALLS = ""
"""Stands for what an operator calls: its new tensors, and what enters the queue."""

_SCALAR = ((1, "aten::item"), (2, "aten::_local_scalar_dense"))


def _transposed(depth: int) -> Inner:
    names = ("aten::t", "aten::transpose", "aten::as_strided")
    return tuple((depth + below, name) for below, name in enumerate(names))


def _chain(*names: str) -> Inner:
    """Operators that stand inside one another, around the calls."""
    return tuple(enumerate((*names, CALLS)))


_MEAN = "torch::distributed::reducer::mul_out"
_BACK = "torch.distributed.ddp.reducer::copy_bucket_to_grad"
_ACCUMULATE = "torch::autograd::AccumulateGrad"
INNER: dict[str, Inner] = {
    "aten::to": (
        (0, "aten::to"),
        (1, "aten::_to_copy"),
        (2, "aten::empty_strided"),
        (2, "aten::copy_"),
        (3, CALLS),
    ),
    "aten::linear": ((0, "aten::linear"), *_transposed(1), (1, "aten::addmm"), (2, CALLS)),
    "aten::matmul": ((0, "aten::matmul"), *_transposed(1)[:2], (1, "aten::mm"), (2, CALLS)),
    "aten::mm": (*_transposed(0), (0, "aten::mm"), (1, CALLS)),
    "aten::conv2d": _chain("aten::conv2d", "aten::convolution", "aten::_convolution"),
    "aten::convolution_backward": (
        (0, "aten::convolution_backward"),
        (1, "aten::empty"),
        (1, "aten::to"),
        (2, "aten::_to_copy"),
        (3, "aten::empty_strided"),
        (3, "aten::copy_"),
        (1, CALLS),
    ),
    "aten::max_pool2d": _chain("aten::max_pool2d", "aten::max_pool2d_with_indices"),
    "aten::adaptive_avg_pool2d": _chain("aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d"),
    "aten::dropout": _chain("aten::dropout", "npu::_npu_dropout"),
    "aten::log_softmax": _chain("aten::log_softmax", "aten::_log_softmax"),
    "aten::nll_loss_nd": _chain("aten::nll_loss_nd", "aten::nll_loss", "aten::nll_loss_forward"),
    "aten::ones_like": (
        (0, "aten::ones_like"),
        (1, "aten::empty_like"),
        (1, "aten::fill_"),
        (2, CALLS),
    ),
    "aten::eq": (
        *_transposed(0)[:2],
        (0, "aten::view"),
        (0, "aten::expand_as"),
        (1, "aten::expand"),
        (0, "aten::eq"),
        (1, CALLS),
    ),
    **{
        name: ((0, name), *_SCALAR, (1, CALLS)) for name in ("aten::mul", "aten::mul_", "aten::div")
    },
    "npu::npu_dtype_cast": _chain("npu::npu_dtype_cast", "aten::clone", "aten::copy_"),
    _MEAN: (
        (0, f"autograd::engine::evaluate_function: {_ACCUMULATE}"),
        (1, _ACCUMULATE),
        (2, "aten::detach"),
        (3, "detach"),
        (1, _MEAN),
        (2, "aten::mul"),
        (3, "aten::item"),
        (4, "aten::_local_scalar_dense"),
        (3, CALLS),
    ),
    _BACK: ((0, "aten::as_strided"), (0, _BACK), (1, "aten::copy_"), (2, CALLS)),
    "aten::reshape": _chain("aten::reshape", "aten::clone", "aten::copy_"),
    "aten::item": _chain("aten::item", "aten::_local_scalar_dense"),
    **{
        name: ((0, name), *((1, "aten::result_type"),) * 16, (1, CALLS))
        for name in ("aten::_foreach_add", "aten::_foreach_mul_", "aten::_foreach_add_")
    },
}
"""Operators around, before and inside of an operator, itself among them, in the order in which they
begin, with their depth; the last one stands for the calls.
"""

NODES = {
    "aten::linear": "AddmmBackward0",
    "aten::matmul": "MmBackward0",
    "aten::conv2d": "ConvolutionBackward0",
    "aten::max_pool2d": "MaxPool2DWithIndicesBackward0",
    "aten::adaptive_avg_pool2d": "AdaptiveAvgPool2DBackward0",
    "aten::nll_loss_nd": "NllLossBackward0",
    "npu::npu_dropout_do_mask": "NpuDropoutBackward0",
}
"""Autograd nodes that are called after an operator inside of theirs; the others have its name."""

_PACKAGES = "{packages}"
_MEGATRON = "{project}/megatron/core"
FRAMES = {
    "DistributedDataParallel": f"{_PACKAGES}/torch/nn/parallel/distributed.py(1519): forward",
    "AlexNet": f"{_PACKAGES}/torchvision/models/alexnet.py(51): forward",
    "Sequential": f"{_PACKAGES}/torch/nn/modules/container.py(215): forward",
    "Conv2d": f"{_PACKAGES}/torch/nn/modules/conv.py(460): forward",
    "ReLU": f"{_PACKAGES}/torch/nn/modules/activation.py(101): forward",
    "MaxPool2d": f"{_PACKAGES}/torch/nn/modules/pooling.py(166): forward",
    "AdaptiveAvgPool2d": f"{_PACKAGES}/torch/nn/modules/pooling.py(1194): forward",
    "Dropout": f"{_PACKAGES}/torch/nn/modules/dropout.py(58): forward",
    "Linear": f"{_PACKAGES}/torch/nn/modules/linear.py(114): forward",
    "CrossEntropyLoss": f"{_PACKAGES}/torch/nn/modules/loss.py(1179): forward",
    "BCELoss": f"{_PACKAGES}/torch/nn/modules/loss.py(618): forward",
    "VocabParallelEmbedding": f"{_MEGATRON}/tensor_parallel/layers.py(221): forward",
    "ColumnParallelLinear": f"{_MEGATRON}/tensor_parallel/layers.py(784): forward",
    "TransformerLayer": f"{_MEGATRON}/transformer/transformer_layer.py(389): forward",
    "SelfAttention": f"{_MEGATRON}/transformer/attention.py(401): forward",
    "MLP": f"{_MEGATRON}/transformer/mlp.py(116): forward",
    "MoELayer": f"{_MEGATRON}/transformer/moe/moe_layer.py(162): forward",
    "RMSNorm": f"{_MEGATRON}/fusions/fused_rms_norm.py(38): forward",
    "DLRM": "{project}/dlrm.py(402): forward",
    "EmbeddingBagCollection": "{project}/dlrm.py(274): forward",
    "InteractionArch": "{project}/dlrm.py(318): forward",
    "DecoderLayer": "{project}/models/llama.py(331): forward",
    "Attention": "{project}/models/llama.py(198): forward",
    "LogitsProcessor": "{project}/layers/logits_processor.py(62): forward",
}
"""Where the forward function of each module stands."""
