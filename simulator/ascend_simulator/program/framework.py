"""What the framework shows of itself: operators inside operators, and the files of modules.

The nesting is that of fixtures-2025-01 where an operator occurs there, else that of its PyTorch
sources.
"""

from __future__ import annotations

Inner = tuple[tuple[int, str], ...]

_SCALAR = ((1, "aten::item"), (2, "aten::_local_scalar_dense"))
_TRANSPOSED = (
    (0, "aten::t"),
    (1, "aten::transpose"),
    (2, "aten::as_strided"),
)
_TO_COPY = ((1, "aten::_to_copy"), (2, "aten::empty_strided"), (2, "aten::copy_"))
INNER: dict[str, Inner] = {
    "aten::to": _TO_COPY,
    "aten::linear": (
        (1, "aten::t"),
        (2, "aten::transpose"),
        (3, "aten::as_strided"),
        (1, "aten::addmm"),
    ),
    "aten::matmul": ((1, "aten::t"), (2, "aten::transpose"), (1, "aten::mm")),
    "aten::mm": _TRANSPOSED,
    "aten::conv2d": ((1, "aten::convolution"), (2, "aten::_convolution")),
    "aten::convolution_backward": (
        (1, "aten::empty"),
        (1, "aten::to"),
        (2, "aten::_to_copy"),
        (3, "aten::empty_strided"),
        (3, "aten::copy_"),
    ),
    "aten::max_pool2d": ((1, "aten::max_pool2d_with_indices"),),
    "aten::adaptive_avg_pool2d": ((1, "aten::_adaptive_avg_pool2d"),),
    "aten::dropout": ((1, "npu::_npu_dropout"),),
    "aten::log_softmax": ((1, "aten::_log_softmax"),),
    "aten::nll_loss_nd": ((1, "aten::nll_loss"), (2, "aten::nll_loss_forward")),
    "aten::ones_like": ((1, "aten::empty_like"), (1, "aten::fill_")),
    "aten::eq": (
        (0, "aten::t"),
        (1, "aten::transpose"),
        (0, "aten::view"),
        (0, "aten::expand_as"),
        (1, "aten::expand"),
    ),
    "aten::mul": _SCALAR,
    "aten::mul_": _SCALAR,
    "aten::div": _SCALAR,
    "npu::npu_dtype_cast": ((1, "aten::clone"), (2, "aten::copy_")),
    "torch::distributed::reducer::mul_out": (
        (0, "torch::autograd::AccumulateGrad"),
        (1, "aten::detach"),
        (2, "detach"),
        (1, "aten::mul"),
        (2, "aten::item"),
        (3, "aten::_local_scalar_dense"),
    ),
    "torch.distributed.ddp.reducer::copy_bucket_to_grad": (
        (0, "aten::as_strided"),
        (1, "aten::copy_"),
    ),
    "aten::item": ((1, "aten::_local_scalar_dense"),),
    "aten::_foreach_add": ((1, "aten::result_type"),) * 16,
    "aten::_foreach_mul_": ((1, "aten::result_type"),) * 16,
    "aten::_foreach_add_": ((1, "aten::result_type"),) * 16,
}
"""Operators inside an operator, in the order in which they begin, with their depth below it.

Depth 0 stands before it: it is called by the same node or function.
"""

_PACKAGES = "/usr/local/lib/python3.11/site-packages"
CALL_FRAMES = (
    f"{_PACKAGES}/torch/nn/modules/module.py(1518): _wrapped_call_impl",
    f"{_PACKAGES}/torch/nn/modules/module.py(1527): _call_impl",
)
"""What stands between two modules in a Python stack."""
_MEGATRON = "/opt/train/megatron/core"
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
    "DLRM": "/opt/train/dlrm.py(402): forward",
    "EmbeddingBagCollection": "/opt/train/dlrm.py(274): forward",
    "InteractionArch": "/opt/train/dlrm.py(318): forward",
    "DecoderLayer": "/opt/serve/models/llama.py(331): forward",
    "Attention": "/opt/serve/models/llama.py(198): forward",
    "LogitsProcessor": "/opt/serve/layers/logits_processor.py(62): forward",
}
"""Where the forward function of each module stands."""
