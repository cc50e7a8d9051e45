#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFER_NUM = $buffers;
constexpr uint32_t BASE_M = $tile_m;
constexpr uint32_t BASE_N = $tile_n;
constexpr uint32_t BASE_K = $tile_k;
constexpr uint32_t STEP_K = $step_k;

class KernelMatmul {
public:
    __aicore__ inline KernelMatmul() {}

    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c)
    {
        tiles_ = DivideTiles(CeilDiv($m, BASE_M) * CeilDiv($n, BASE_N), GetBlockNum(), GetBlockIdx());  //@ prologue
        aGm_.SetGlobalBuffer((__gm__ $type *)a);
        bGm_.SetGlobalBuffer((__gm__ $type *)b);
        cGm_.SetGlobalBuffer((__gm__ $result *)c);
        pipe_.InitBuffer(queueA1_, BUFFER_NUM, BASE_M * BASE_K * STEP_K * sizeof($type));
        pipe_.InitBuffer(queueB1_, BUFFER_NUM, BASE_K * STEP_K * BASE_N * sizeof($type));
        pipe_.InitBuffer(queueA2_, BUFFER_NUM, BASE_M * BASE_K * sizeof($type));
        pipe_.InitBuffer(queueB2_, BUFFER_NUM, BASE_K * BASE_N * sizeof($type));
        pipe_.InitBuffer(queueC_, 1, BASE_M * BASE_N * sizeof($accumulator));
    }

    __aicore__ inline void Process()
    {
        for (Tile tile : tiles_) {  //@ loop
            for (uint32_t k1 = 0; k1 < CeilDiv($k, BASE_K * STEP_K); ++k1) {  //@ loop-k
                CopyIn(tile, k1);
                for (uint32_t k0 = 0; k0 < STEP_K; ++k0) {  //@ loop-step
                    Split(k0);
                    Compute(k1 == 0 && k0 == 0);
                }
            }
            CopyOut(tile);
        }
    }

private:
    __aicore__ inline void CopyIn(const Tile &tile, uint32_t k1)
    {
        LocalTensor<$type> a1 = queueA1_.AllocTensor<$type>();  //@ l1-wait
        LocalTensor<$type> b1 = queueB1_.AllocTensor<$type>();
        DataCopy(a1, aGm_[tile.m * BASE_M * $k + k1 * BASE_K * STEP_K], Nd2NzA(tile));  //@ load-a
        DataCopy(b1, bGm_[k1 * BASE_K * STEP_K * $n + tile.n * BASE_N], Nd2NzB(tile));  //@ load-b
        queueA1_.EnQue(a1);
        queueB1_.EnQue(b1);  //@ l1-set
    }

    __aicore__ inline void Split(uint32_t k0)
    {
        LocalTensor<$type> a1 = queueA1_.DeQue<$type>();
        LocalTensor<$type> b1 = queueB1_.DeQue<$type>();  //@ l1-ready
        LocalTensor<$type> a2 = queueA2_.AllocTensor<$type>();
        LocalTensor<$type> b2 = queueB2_.AllocTensor<$type>();  //@ l0-wait
        LoadData(a2, a1[k0 * BASE_K * BASE_M], loadA_);  //@ split-a
        LoadDataWithTranspose(b2, b1[k0 * BASE_K * BASE_N], loadB_);  //@ split-b
        queueA1_.FreeTensor(a1);
        queueB1_.FreeTensor(b1);  //@ l1-free
        queueA2_.EnQue(a2);
        queueB2_.EnQue(b2);  //@ l0-set
    }

    __aicore__ inline void Compute(bool first)
    {
        LocalTensor<$type> a2 = queueA2_.DeQue<$type>();
        LocalTensor<$type> b2 = queueB2_.DeQue<$type>();  //@ l0-ready
        Mmad(c1_, a2, b2, {BASE_M, BASE_N, BASE_K, first});  //@ mmad
        queueA2_.FreeTensor(a2);
        queueB2_.FreeTensor(b2);  //@ l0-free
    }

    __aicore__ inline void CopyOut(const Tile &tile)
    {
        queueC_.EnQue(c1_);  //@ c-set
        c1_ = queueC_.DeQue<$accumulator>();  //@ c-ready
        $store  //@ store out-alloc compute-set out-wait out out-free
        queueC_.FreeTensor(c1_);  //@ c-free
        c1_ = queueC_.AllocTensor<$accumulator>();  //@ c-wait
    }

    TPipe pipe_;
    TQue<QuePosition::A1, BUFFER_NUM> queueA1_;
    TQue<QuePosition::B1, BUFFER_NUM> queueB1_;
    TQue<QuePosition::A2, BUFFER_NUM> queueA2_;
    TQue<QuePosition::B2, BUFFER_NUM> queueB2_;
    TQue<QuePosition::CO1, 1> queueC_;
    LocalTensor<$accumulator> c1_;
    GlobalTensor<$type> aGm_, bGm_;
    GlobalTensor<$result> cGm_;
    TileRange tiles_;
};

extern "C" __global__ __aicore__ void matmul_custom(GM_ADDR a, GM_ADDR b, GM_ADDR c)
{
    KernelMatmul op;  //@ entry
    op.Init(a, b, c);
    op.Process();
}  //@ end
