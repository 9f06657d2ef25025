// A compiler is a driver with children of its own. The system can end a process with the thread that started it
// (PR_SET_PDEATHSIG), but not that process's children. A guard in between ends them.
#include "engine/base/guarded.h"

#include "engine/base/argument_list.h"
#include "engine/base/descriptor.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace nacelle {
namespace {

// All data of the guard, allocated before fork(): after fork() in a process with threads nothing may allocate.
struct Start {
    const char* path;
    char* const* arguments;
    const char* work_folder;    // null: none
    int input, output;          // input: -1 is an empty one
    int report;                 // takes the reason why the program cannot be started
    pid_t parent;
};

constexpr int end_by_parent = SIGUSR1;
volatile pid_t guarded = 0;    // of the guard; -1 when it has ended
// Whether the thread that waits has ended. Its process may outlive it or end a moment later, so that the parent's
// process number does not tell.
volatile std::sig_atomic_t abandoned = 0;

// The system sends SIGTERM when that thread ends; end_guarded() sends its signal from the thread itself.
void end_program(int signal) {
    if (signal == SIGTERM) abandoned = 1;
    if (guarded == 0) ::_exit(128 + SIGTERM);
    if (guarded > 0) ::kill(-guarded, SIGKILL);
}

[[noreturn]] void leave(const Start& start, int status) {
    if ((abandoned || ::getppid() != start.parent) && start.work_folder) {
        // The threads of a killed process end one after the other, and each may send a signal.
        ::prctl(PR_SET_PDEATHSIG, 0);
        ::signal(SIGTERM, SIG_IGN);
        ::execl("/bin/rm", "rm", "-rf", "--", start.work_folder, static_cast<char*>(nullptr));
    }
    ::_exit(status);
}

void restore_signals() {
    for (int one = 1; one < NSIG; ++one) ::signal(one, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Only descriptors 0 to 3 stay open: a lock or a socket of the parent must not live on in the guard.
void take_descriptors(const Start& start) {
    ::dup2(start.input < 0 ? ::open("/dev/null", O_RDONLY) : start.input, 0);
    ::dup2(start.output, 1);
    ::dup2(start.output, 2);
    ::dup2(start.report, 3);
    ::fcntl(3, F_SETFD, FD_CLOEXEC);
    ::syscall(SYS_close_range, 4, ~0u, 0);
}

[[noreturn]] void become_program(const Start& start) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    restore_signals();
    ::execve(start.path, start.arguments, environ);
    const int why = errno;
    if (::write(3, &why, sizeof why) < 0) ::_exit(126);
    ::_exit(127);
}

int wait_for(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {}
    return status;
}

[[noreturn]] void guard(const Start& start) {
    ::setpgid(0, 0);
    restore_signals();
    sigset_t ends;
    sigemptyset(&ends);
    for (const int one : {SIGTERM, end_by_parent}) {
        sigaddset(&ends, one);
        ::signal(one, end_program);
    }
    ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    take_descriptors(start);
    if (::getppid() != start.parent) leave(start, 128 + SIGTERM);    // gone before the line above
    const pid_t program = ::fork();
    if (program == 0) become_program(start);
    const int why = errno;
    if (program < 0 && ::write(3, &why, sizeof why) < 0) ::_exit(126);
    if (program < 0) ::_exit(127);
    ::setpgid(program, program);    // whichever of the two comes first
    guarded = program;
    ::sigprocmask(SIG_UNBLOCK, &ends, nullptr);
    for (const int mine : {1, 2, 3}) ::close(mine);
    // While the guard held the input open, its writer would not see that the program has closed it.
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::close(1);
    const int status = wait_for(program);
    guarded = -1;
    leave(start, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}

pid_t start_guarded(const std::string& path, const std::vector<std::string>& command, int output,
                    const std::string& work_folder, int input) {
    const std::vector<char*> arguments = argument_list(command);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return -errno;
    const Descriptor ours(ends[0]);
    Descriptor theirs(ends[1]);
    const Start start{.path = path.c_str(),
                      .arguments = arguments.data(),
                      .work_folder = work_folder.empty() ? nullptr : work_folder.c_str(),
                      .input = input,
                      .output = output,
                      .report = theirs.get(),
                      .parent = ::getpid()};
    const pid_t process = ::fork();
    if (process == 0) guard(start);
    if (process < 0) return -errno;
    theirs.close();
    // Where the program has started, the pipe is closed without data.
    int why = 0;
    ssize_t got = 0;
    while ((got = ::read(ours.get(), &why, sizeof why)) < 0 && errno == EINTR) {}
    if (got != sizeof why) return process;
    wait_for(process);
    return -why;
}

void end_guarded(pid_t guard) { ::kill(guard, end_by_parent); }

}
