#pragma once

// PTX, which every driver compiles by itself. It ends with a zero, as the driver wants it.
//   write_value: if (i < count) out[i] = value;
//   last_shared_word: shared[count] = value; out[0] = shared[count];    count in bytes
inline constexpr char gpu_kernels[] = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .global .align 4 .u32 numbers[3];
.extern .shared .align 16 .b8 scratch[];

.visible .entry write_value(.param .align 8 .b8 args[16])
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [args];
    ld.param.u32 %r1, [args+8];
    ld.param.u32 %r2, [args+12];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r3, %r3, %r4, %r5;
    setp.ge.u32 %p, %r3, %r2;
    @%p ret;
    cvta.to.global.u64 %rd1, %rd1;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}

.visible .entry last_shared_word(.param .align 8 .b8 args[16])
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [args];
    ld.param.u32 %r1, [args+8];
    ld.param.u32 %r2, [args+12];
    mov.u32 %r3, scratch;
    add.u32 %r4, %r3, %r2;
    st.volatile.shared.u32 [%r4], %r1;
    ld.volatile.shared.u32 %r5, [%r4];
    cvta.to.global.u64 %rd1, %rd1;
    st.global.u32 [%rd1], %r5;
    ret;
}

.visible .entry two_parameters(.param .u64 first, .param .u64 second)
{
    ret;
}
)";
