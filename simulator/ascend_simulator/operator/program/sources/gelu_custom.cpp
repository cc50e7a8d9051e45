#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = $buffers;
constexpr uint32_t TILE_LENGTH = $tile;

class KernelGelu {
public:
    __aicore__ inline KernelGelu() {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t totalLength)
    {
        total_ = totalLength;  //@ prologue
        tileNum_ = DivideTiles(totalLength, TILE_LENGTH, GetBlockNum(), GetBlockIdx());
        xGm_.SetGlobalBuffer((__gm__ $type *)x);
        yGm_.SetGlobalBuffer((__gm__ $type *)y);
        pipe_.InitBuffer(inQueue_, BUFFER_NUM, TILE_LENGTH * sizeof($type));
        pipe_.InitBuffer(outQueue_, BUFFER_NUM, TILE_LENGTH * sizeof($type));
        pipe_.InitBuffer(work_, TILE_LENGTH * sizeof($type));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < tileNum_; ++i) {  //@ loop
            CopyIn(i);
            Compute(i);
            CopyOut(i);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t progress)
    {
        LocalTensor<$type> x = inQueue_.AllocTensor<$type>();  //@ in-wait
        DataCopy(x, xGm_[progress * TILE_LENGTH], TILE_LENGTH);  //@ in-0
        inQueue_.EnQue(x);  //@ in-set
    }

    __aicore__ inline void Compute(uint32_t progress)
    {
        LocalTensor<$type> x = inQueue_.DeQue<$type>();  //@ compute-wait
        LocalTensor<$type> y = outQueue_.AllocTensor<$type>();  //@ out-alloc
        LocalTensor<$type> work = work_.Get<$type>();
        // x / (1 + exp(-1.59577 * (x + 0.044715 * x^3)))
        Mul(work, x, x, TILE_LENGTH);  //@ compute-0
        Mul(work, work, x, TILE_LENGTH);  //@ compute-1
        Muls(work, work, ($type)0.044715, TILE_LENGTH);  //@ compute-2
        Add(work, work, x, TILE_LENGTH);  //@ compute-3
        Muls(work, work, ($type)-1.59577, TILE_LENGTH);  //@ compute-4
        Exp(work, work, TILE_LENGTH);  //@ compute-5
        Adds(work, work, ($type)1, TILE_LENGTH);  //@ compute-6
        Div(y, x, work, TILE_LENGTH);  //@ compute-7
        inQueue_.FreeTensor(x);  //@ in-free
        outQueue_.EnQue(y);  //@ compute-set
    }

    __aicore__ inline void CopyOut(uint32_t progress)
    {
        LocalTensor<$type> y = outQueue_.DeQue<$type>();  //@ out-wait
        DataCopy(yGm_[progress * TILE_LENGTH], y, TILE_LENGTH);  //@ out
        outQueue_.FreeTensor(y);  //@ out-free
    }

    TPipe pipe_;
    TQue<QuePosition::VECIN, BUFFER_NUM> inQueue_;
    TQue<QuePosition::VECOUT, BUFFER_NUM> outQueue_;
    TBuf<QuePosition::VECCALC> work_;
    GlobalTensor<$type> xGm_, yGm_;
    uint32_t total_;
    uint32_t tileNum_;
};

extern "C" __global__ __aicore__ void gelu_custom(GM_ADDR x, GM_ADDR y, uint32_t length)
{
    KernelGelu op;  //@ entry
    op.Init(x, y, length);
    op.Process();
}  //@ end
