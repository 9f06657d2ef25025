// Shows which orders compute-sanitizer's racecheck follows. Every kernel but those whose names say so is free of races:
//     nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -lineinfo -o order tests/bench/racecheck.cu
//     compute-sanitizer --tool racecheck --racecheck-report analysis ./order KERNEL
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int stages = 2, rounds = 32, words = 1024, blocks = 2;

__device__ uint32_t address(const void* at) { return uint32_t(__cvta_generic_to_shared(at)); }
__device__ void begin(uint32_t barrier, uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}
__device__ void expect(uint32_t barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}
__device__ void arrive_in(uint32_t barrier, uint32_t rank) {
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(rank)
                 : "memory");
}
__device__ void await(uint32_t barrier, uint32_t phase) {
    asm volatile("{\n.reg .pred done;\nagain_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again_%=;\n}" ::"r"(barrier),
                 "r"(phase)
                 : "memory");
}
__device__ void bring(uint32_t to, const uint32_t* from, uint32_t bytes, uint32_t barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}
__device__ void meet_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

// A ring of two stages. One thread waits until all warps have left a stage, tells its number, and copies 4 kB into it.
__global__ void __cluster_dims__(blocks) mbarriers(const uint32_t* in, uint32_t* out) {
    __shared__ alignas(128) uint32_t stage[stages][words];
    __shared__ alignas(8) uint64_t full[stages], empty[stages];
    __shared__ uint32_t told[stages];
    if (threadIdx.x == 0) {
        for (int s = 0; s < stages; ++s) begin(address(&full[s]), 1), begin(address(&empty[s]), 16);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    meet_cluster();
    uint32_t sum = 0;
    for (int k = 0; k < rounds; ++k) {
        const int s = k % stages;
        const uint32_t phase = k / stages & 1;
        if (threadIdx.x == 256) {
            await(address(&empty[s]), phase ^ 1);
            told[s] = k;
            expect(address(&full[s]), words * 4);
            bring(address(stage[s]), in + k * words, words * 4, address(&full[s]));
        }
        if (threadIdx.x >= 256) continue;
        await(address(&full[s]), phase);
        sum += told[s];
        for (int i = threadIdx.x; i < words; i += 256) sum += stage[s][i];
        __syncwarp();
        if (threadIdx.x % 32 < blocks) arrive_in(address(&empty[s]), threadIdx.x % 32);
    }
    if (threadIdx.x < 256) out[blockIdx.x * 256 + threadIdx.x] = sum;
    __syncwarp();
    meet_cluster();
}

// 256 of 384 threads exchange numbers by barrier 2. `ahead`: the first 128 let the others go by barrier 1 before.
// `registers`: warps hand registers over. `again`: they meet a second time before the next round writes.
template <bool ahead, bool registers, bool again> __device__ void exchange(uint32_t* out) {
    __shared__ uint32_t meeting[256];
    if (threadIdx.x >= 256) {
        if (registers) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        return;
    }
    if (registers) asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    if (ahead && threadIdx.x < 128) asm volatile("bar.arrive 1, 256;" ::: "memory");
    if (ahead && threadIdx.x >= 128) asm volatile("bar.sync 1, 256;" ::: "memory");
    uint32_t sum = 0;
    for (int k = 0; k < rounds; ++k) {
        meeting[threadIdx.x] = threadIdx.x * k;
        asm volatile("bar.sync 2, 256;" ::: "memory");
        sum += meeting[255 - threadIdx.x];
        if (again) asm volatile("bar.sync 2, 256;" ::: "memory");
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}
using In = const uint32_t*;
__global__ void named_barriers(In, uint32_t* out) { exchange<false, false, true>(out); }
__global__ void barrier_arrivals(In, uint32_t* out) { exchange<true, false, true>(out); }
__global__ void __launch_bounds__(384, 1) handed_registers(In, uint32_t* out) {
    exchange<false, true, true>(out);
}
__global__ void a_race(In, uint32_t* out) { exchange<false, false, false>(out); }

int main(int argc, char** argv) {
    const struct {
        const char* name;
        void (*kernel)(In, uint32_t*);
        bool ring;
    } kernels[] = {{"mbarriers", mbarriers, true},
                   {"named_barriers", named_barriers, false},
                   {"barrier_arrivals", barrier_arrivals, false},
                   {"handed_registers", handed_registers, false},
                   {"a_race", a_race, false}};
    uint32_t *in, *out, got[blocks * 256], wanted[256] = {};
    static uint32_t numbers[rounds * words];
    for (int i = 0; i < rounds * words; ++i) numbers[i] = uint32_t(i) * 2654435761u;
    cudaMalloc(&in, sizeof numbers);
    cudaMalloc(&out, sizeof got);
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    for (const auto& one : kernels) {
        if (argc != 2 || std::strcmp(argv[1], one.name) != 0) continue;
        for (int t = 0; t < 256; ++t) {
            wanted[t] = one.ring ? 0 : uint32_t(255 - t) * (rounds * (rounds - 1) / 2);
            for (int k = 0; one.ring && k < rounds; ++k) {
                wanted[t] += uint32_t(k);
                for (int i = t; i < words; i += 256) wanted[t] += numbers[k * words + i];
            }
        }
        one.kernel<<<blocks, one.ring ? 288 : 384>>>(in, out);
        const cudaError_t error = cudaDeviceSynchronize();
        cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
        int wrong = 0;
        for (int i = 0; i < blocks * 256; ++i) wrong += got[i] != wanted[i % 256];
        std::printf("%s: %s, %d numbers of %d are wrong\n", one.name, cudaGetErrorString(error),
                    wrong, blocks * 256);
        return error != cudaSuccess;
    }
    std::printf(
        "name one of: mbarriers, named_barriers, barrier_arrivals, handed_registers, a_race\n");
    return 2;
}
