#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = $buffers;
constexpr uint32_t TILE_LENGTH = $tile;

class KernelAdd {
public:
    __aicore__ inline KernelAdd() {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t totalLength)
    {
        total_ = totalLength;  //@ prologue
        tileNum_ = DivideTiles(totalLength, TILE_LENGTH, GetBlockNum(), GetBlockIdx());
        xGm_.SetGlobalBuffer((__gm__ $type *)x);
        yGm_.SetGlobalBuffer((__gm__ $type *)y);
        zGm_.SetGlobalBuffer((__gm__ $type *)z);
        pipe_.InitBuffer(inQueueX_, BUFFER_NUM, TILE_LENGTH * sizeof($type));
        pipe_.InitBuffer(inQueueY_, BUFFER_NUM, TILE_LENGTH * sizeof($type));
        pipe_.InitBuffer(outQueueZ_, BUFFER_NUM, TILE_LENGTH * sizeof($type));
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
        LocalTensor<$type> x = inQueueX_.AllocTensor<$type>();  //@ in-wait
        LocalTensor<$type> y = inQueueY_.AllocTensor<$type>();
        DataCopy(x, xGm_[progress * TILE_LENGTH], TILE_LENGTH);  //@ in-0
        DataCopy(y, yGm_[progress * TILE_LENGTH], TILE_LENGTH);  //@ in-1
        inQueueX_.EnQue(x);
        inQueueY_.EnQue(y);  //@ in-set
    }

    __aicore__ inline void Compute(uint32_t progress)
    {
        LocalTensor<$type> x = inQueueX_.DeQue<$type>();
        LocalTensor<$type> y = inQueueY_.DeQue<$type>();  //@ compute-wait
        LocalTensor<$type> z = outQueueZ_.AllocTensor<$type>();  //@ out-alloc
        Add(z, x, y, TILE_LENGTH);  //@ compute-0
        inQueueX_.FreeTensor(x);  //@ in-free
        inQueueY_.FreeTensor(y);
        outQueueZ_.EnQue(z);  //@ compute-set
    }

    __aicore__ inline void CopyOut(uint32_t progress)
    {
        LocalTensor<$type> z = outQueueZ_.DeQue<$type>();  //@ out-wait
        DataCopy(zGm_[progress * TILE_LENGTH], z, TILE_LENGTH);  //@ out
        outQueueZ_.FreeTensor(z);  //@ out-free
    }

    TPipe pipe_;
    TQue<QuePosition::VECIN, BUFFER_NUM> inQueueX_, inQueueY_;
    TQue<QuePosition::VECOUT, BUFFER_NUM> outQueueZ_;
    GlobalTensor<$type> xGm_, yGm_, zGm_;
    uint32_t total_;
    uint32_t tileNum_;
};

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length)
{
    KernelAdd op;  //@ entry
    op.Init(x, y, z, length);
    op.Process();
}  //@ end
