"""One sentence, without blame for an author, tells a lack of memory or threads and an uncaught exception."""
import shutil
import subprocess

from bench import CPU, case, main, plain_only, setting

# Fails one allocation or thread of the process 'nacelle', by its number, and writes the counts to the file COUNTED.
SHIM = r"""#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
extern "C" void* __libc_malloc(size_t);
namespace {
std::atomic<long> left_memory = -1, left_threads = -1, asked_memory = 0, asked_threads = 0;
std::atomic<bool> counts = false;
long number(const char* name) { return std::getenv(name) ? std::atol(std::getenv(name)) : -1; }
__attribute__((constructor)) void begin() {
    if (std::strcmp(program_invocation_short_name, "nacelle")) return;
    left_memory = number("FAILED_MEMORY");
    left_threads = number("FAILED_THREAD");
    counts = true;
}
__attribute__((destructor)) void end() {
    const char* const file = counts.exchange(false) ? std::getenv("COUNTED") : nullptr;
    if (FILE* const out = file ? std::fopen(file, "w") : nullptr) {
        std::fprintf(out, "%ld %ld", asked_memory.load(), asked_threads.load());
        std::fclose(out);
    }
}
}
extern "C" void* malloc(size_t bytes) {
    if (counts && asked_memory++ == left_memory) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_malloc(bytes);
}
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* with, void* (*function)(void*), void* its) {
    if (counts && asked_threads++ == left_threads) return EAGAIN;
    static const auto next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    return next(thread, with, function, its);
}
"""
RUN = ('train', 'cartpole', *CPU, '--threads', '2', '--quiet', '--episodes', '1',
       *setting(env__count=16, learner__horizon=16, learner__minibatches=2, policies__default__hidden='[16,16]', run__total_steps=1024,
                run__checkpoint_every=256, solved__return='null'))
MEMORY = 'there is not enough memory (end other programs, raise the memory limit, or take fewer environments or smaller networks)'
THREAD = "the system starts no more threads (end other programs, raise the limit of 'ulimit -u', or set a lower --threads)"


def built(bench, name, text, *arguments):
    subprocess.run(['c++', '-std=c++20', '-x', 'c++', '-', '-shared', '-fPIC', '-o', name, *arguments],
                   cwd=bench.folder, input=text, text=True, check=True)
    return bench.folder / name


def trained(bench, out, **changed):
    return bench.run(*RUN, '--out', out, LD_PRELOAD=str(bench.folder / 'shim.so'), **changed)


def counted(bench):
    """The number of allocations and of threads in such a run, after all compiles."""
    built(bench, 'shim.so', SHIM)
    for _ in range(2):
        result = trained(bench, 'counted', COUNTED='counts')
        assert result.status == 0, result
        shutil.rmtree(bench.folder / 'counted')
    return map(int, (bench.folder / 'counts').read_text().split())


@case
@plain_only('a sanitizer has a malloc of its own')
def any_allocation_that_fails_is_told_in_one_sentence(bench):
    memory, _ = counted(bench)
    told = 0
    for sample in range(120):
        # The first are those of the C++ library, before the program begins.
        result = trained(bench, f'memory-{sample}', FAILED_MEMORY=str(50 + (memory - 50) * sample // 120))
        assert result.status in (0, 1), result
        if result.status == 0:
            continue
        told += 1
        # The C library's own loader has words of its own.
        assert (MEMORY in result.err or 'Cannot allocate memory' in result.err) and len(result.err.splitlines()) == 1, result
    assert told > 60, told


@case
@plain_only('a sanitizer has a pthread_create of its own')
def any_thread_that_does_not_start_is_told_in_one_sentence(bench):
    _, threads = counted(bench)
    told = 0
    for one in range(threads):
        result = trained(bench, f'thread-{one}', FAILED_THREAD=str(one))
        assert result.status in (0, 1), result
        if result.status == 0:
            continue
        told += 1
        assert THREAD in result.err and len(result.err.splitlines()) == 1, result
    assert told > 1, told


# A plugin whose own thread fails, so that the engine cannot catch the exception.
LOST = """#include <nacelle/plugin/hook.h>
#include <nacelle/plugin/manifest.h>
#include <stdexcept>
#include <thread>
struct Lost {
    static constexpr const char* name = "lost";
    static void loaded(nacelle::plugin::Host, std::string_view, std::string_view) {
        std::thread([] { throw std::runtime_error("the wire is cut\\nat 0x1234"); }).join();
    }
};
NACELLE_PLUGIN("test.lost", "1.0.0", "Its thread fails", nacelle::plugin::Hook<Lost>)
"""


@case
def an_exception_on_a_thread_of_a_library_is_told_and_ends_the_run(bench):
    (bench.folder / 'lost').mkdir()
    built(bench, 'lost/lost.so', LOST, '-fvisibility=hidden', '-I', bench.root / 'sdk')
    result = bench.run(*RUN, '--plugins', 'lost', *setting(hooks='{"lost":{}}'), '--out', 'ended')
    assert result.status == 1 and result.err == 'nacelle: the wire is cut\n', result


if __name__ == '__main__':
    raise SystemExit(main())
