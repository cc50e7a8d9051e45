#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = $buffers;
constexpr uint32_t COLUMNS = $columns;
constexpr uint32_t TILE_ROWS = $tile_rows;
constexpr uint32_t TILE_LENGTH = TILE_ROWS * COLUMNS;

class KernelSoftmax {
public:
    __aicore__ inline KernelSoftmax() {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t rows)
    {
        total_ = rows;  //@ prologue
        tileNum_ = DivideTiles(rows, TILE_ROWS, GetBlockNum(), GetBlockIdx());
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
        WholeReduceMax(work, x, COLUMNS, TILE_ROWS);  //@ compute-0
        Brcb(work, work, TILE_ROWS, {1, 8});  //@ compute-1
        Sub(x, x, work, TILE_LENGTH);  //@ compute-2
        Exp(x, x, TILE_LENGTH);  //@ compute-3
        WholeReduceSum(work, x, COLUMNS, TILE_ROWS);  //@ compute-4
        Brcb(work, work, TILE_ROWS, {1, 8});  //@ compute-5
        Div(y, x, work, TILE_LENGTH);  //@ compute-6
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

extern "C" __global__ __aicore__ void softmax_custom(GM_ADDR x, GM_ADDR y, uint32_t rows)
{
    KernelSoftmax op;  //@ entry
    op.Init(x, y, rows);
    op.Process();
}  //@ end
