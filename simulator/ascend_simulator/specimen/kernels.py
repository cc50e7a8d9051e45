"""The operators of a specimen: one of each pair of task types in TASK and COMPUTE_TASK_INFO."""

from __future__ import annotations

from .world import Kernel

NOT_KNOWN = "N/A"
"""Attribute that an operator does not have."""

RELU = Kernel(
    framework="aten::relu_",
    api="aclnnInplaceRelu",
    name="aclnnInplaceRelu_Relu_Relu",
    op_type="Relu",
    core="AI_VECTOR_CORE",
    task_type="KERNEL_AIVEC",
    blocks=48,
    formats="NCHW",
    data_types="FLOAT",
    shapes='"32,64,55,55"',
)

KERNELS = (
    RELU,
    Kernel(
        framework="aten::conv2d",
        api="Conv2D",
        name="Conv2D1",
        op_type="Conv2D",
        core="AI_CORE",
        task_type="KERNEL_AICORE",
        blocks=16,
        formats="NC1HWC0;FRACTAL_Z;NCHW",
        data_types="FLOAT;FLOAT;FLOAT",
        shapes='"32,1,224,224,8;121,4,16,8;64"',
        dynamic="static",
        hf32="YES",
    ),
    Kernel(
        framework="npu::_npu_dropout",
        api="aclnnDropoutGenMaskV2",
        name="aclnnDropoutGenMaskV2_DSAGenBitMask_DSAGenBitMask",
        op_type="DSAGenBitMask",
        core="DSA_SQE",
        task_type="STARS_COMMON",
        blocks=0,
        formats="ND",
        data_types="INT64",
        shapes='""',
        dynamic="N/A",
        hf32="N/A",
    ),
    Kernel(
        framework="aten::sum",
        api="aclnnReduceSum",
        name="aclnnReduceSum_ReduceSumOpMultiSplit_ReduceSum",
        op_type="ReduceSum",
        core="MIX_AIV",
        task_type="MIX_AIV",
        blocks=40,
        formats="ND",
        data_types="FLOAT16",
        shapes='"32,4096"',
        subtask=True,
    ),
    Kernel(
        framework="aten::topk",
        api="aclnnTopk",
        name="aclnnTopk_TopKAiCpu_TopK",
        op_type="TopK",
        core="AI_CPU",
        task_type="KERNEL_AICPU",
        blocks=0,
        formats="ND;ND",
        data_types="FLOAT;INT32",
        shapes='"32,1000;1"',
        dynamic="N/A",
        hf32="N/A",
    ),
    Kernel(
        framework="npu::npu_fusion_attention",
        api="aclnnFlashAttentionScore",
        name="aclnnFlashAttentionScore_FlashAttentionScore_FlashAttentionScore",
        op_type="FlashAttentionScore",
        core="MIX_AIC",
        task_type="MIX_AIC",
        blocks=20,
        formats="ND;ND;ND",
        data_types="DT_BF16;DT_BF16;DT_BF16",
        shapes='"1,2048,512;1,2048,512;1,2048,512"',
        subtask=True,
    ),
    Kernel(
        framework="aten::mm",
        api="aclnnMm",
        name="aclnnMm_MatMulCommon_MatMulV2",
        op_type="MatMulV2",
        core="AI_CORE",
        task_type="KERNEL_AICORE",
        blocks=24,
        formats="ND;ND",
        data_types="FLOAT16;FLOAT16",
        shapes='"32,4096;4096,1000"',
        dynamic="static",
    ),
)


def output(kernel: Kernel) -> tuple[str, str, str]:
    """Format, data type and shape of the only output: those of the first input."""
    shape = kernel.shapes.strip('"').partition(";")[0]
    return kernel.formats.partition(";")[0], kernel.data_types.partition(";")[0], f'"{shape}"'
