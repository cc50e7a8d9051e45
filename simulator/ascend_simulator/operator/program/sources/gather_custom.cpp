#include "kernel_operator.h"
#include "simt_api/asc_simt.h"

using namespace AscendC;

constexpr uint32_t THREADS = $threads;
constexpr uint32_t WIDTH = $width;

__simt_vf__ __launch_bounds__(THREADS) inline void GatherRows(
    __gm__ const $type *table, __gm__ const uint32_t *indices, __gm__ $type *result, uint32_t count)
{
    for (uint32_t i = threadIdx.x; i < count * WIDTH; i += THREADS) {  //@ simt-loop
        uint32_t row = indices[i / WIDTH];  //@ simt-index
        $type value = table[row * WIDTH + i % WIDTH];  //@ simt-load
        result[i] = value;  //@ simt-store
    }
}  //@ simt-end

extern "C" __global__ __aicore__ void gather_custom(GM_ADDR table, GM_ADDR indices, GM_ADDR result)
{
    uint32_t tiles = DivideTiles($count, $tile, GetBlockNum(), GetBlockIdx());  //@ entry prologue
    for (uint32_t i = 0; i < tiles; ++i) {  //@ loop
        asc_vf_call<GatherRows>(THREADS, table, indices + i * $tile, result + i * $tile * WIDTH, $tile);  //@ launch
    }
}  //@ end
