#pragma once
#include <nacelle/platform.h>
// What a checked build (-DNACELLE_CHECKED, which `nacelle check` makes for the CPU) does about a
// fault in an author's code: it says one line to the process that waits for it, on the descriptor that
// NACELLE_REPORT names, and ends. With -DNACELLE_FAULTS_THROW, as draw() of a recording is built, the line is thrown
// instead: a fault in a stranger's recording then costs its picture, not the process. Other builds have none of this.

#if defined(NACELLE_CHECKED) && !NACELLE_GPU

// As <unistd.h> has them, without its many names.
extern "C" long write(int file, const void* bytes, size_t count);
extern "C" void _exit(int status) __attribute__((noreturn));
extern "C" char* getenv(const char* name) noexcept;
// Where this shared object lies: the linker defines it.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];

namespace nacelle::detail {

inline constexpr int fault_status = 86;    // the exit status of a process that ended by fault()

// A line of text with numbers, without the standard library.
class FaultLine {
public:
    FaultLine& add(const char* text) {
        while (*text && length_ < int(sizeof text_)) text_[length_++] = *text++;
        return *this;
    }
    FaultLine& add(long long number) {
        char digits[24];
        int at = int(sizeof digits);
        digits[--at] = 0;
        unsigned long long rest = number < 0 ? 0ull - (unsigned long long)number : number;
        do digits[--at] = char('0' + rest % 10);
        while (rest /= 10);
        if (number < 0) digits[--at] = '-';
        return add(digits + at);
    }
#ifdef NACELLE_FAULTS_THROW
    [[noreturn]] void end(const void*) {
        ended();
        throw *this;
    }
    const char* words() const { return text_; }
#else
    // For the process that reads it: a JSON object, with the place of the code in this file.
    [[noreturn]] void end(const void* place) {
        FaultLine line;
        line.add("\n{\"fault\": \"").add(ended()).add("\", \"offset\": ");
        line.add((long long)(static_cast<const char*>(place) - __ehdr_start)).add("}\n");
        for (int at = 0; at < line.length_;) {
            const long done = write(report(), line.text_ + at, size_t(line.length_ - at));
            if (done <= 0) break;
            at += int(done);
        }
        _exit(fault_status);
    }
#endif

private:
    // Standard error where nobody has started this process to hear it.
    static int report() {
        int number = 0;
        const char* digits = getenv("NACELLE_REPORT");
        if (!digits || !*digits) return 2;
        for (; *digits >= '0' && *digits <= '9'; ++digits) number = number * 10 + (*digits - '0');
        return number;
    }
    const char* ended() {
        text_[length_ < int(sizeof text_) ? length_ : int(sizeof text_) - 1] = 0;
        return text_;
    }
    char text_[480];
    int length_ = 0;
};

// Ends the process, or the drawing, with these words. The caller's place in the file goes with them.
[[noreturn]] __attribute__((noinline, cold)) inline void fault(const char* words) {
    FaultLine().add(words).end(__builtin_return_address(0));
}
[[noreturn]] __attribute__((noinline, cold)) inline void index_fault(const char* what, long long i,
                                                                     long long size) {
    FaultLine line;
    line.add("index ").add(i).add(" is outside ").add(what).add(" of size ").add(size);
    line.end(__builtin_return_address(0));
}
NACELLE_INLINE void check_index(const char* what, long long i, long long size) {
    if (i < 0 || i >= size) index_fault(what, i, size);
}
[[noreturn]] __attribute__((noinline, cold)) inline void mask_fault(const char* what, long long i,
                                                                    long long count) {
    FaultLine line;
    line.add("mask() names ").add(what).add(" ").add(i).add(" where ").add(count);
    line.add(count > 1 ? " are declared, 0 to " : " is declared, ").add(count - 1);
    line.end(__builtin_return_address(0));
}
// A choice, or a part of an array of them, that mask() is about.
NACELLE_INLINE void check_masked(const char* what, long long i, long long count) {
    if (i < 0 || i >= count) mask_fault(what, i, count);
}
[[noreturn]] __attribute__((noinline, cold)) inline void draw_fault(long long n) {
    FaultLine line;
    line.add("below(").add(n).add(") has no number to draw: below(n) draws one of 0 to n - 1");
    line.end(__builtin_return_address(0));
}
NACELLE_INLINE void check_drawn(long long n) {
    if (n < 1) draw_fault(n);
}

}

#else

namespace nacelle::detail {

// Nothing is checked in this build.
constexpr void check_index(const char*, long long, long long) {}
constexpr void check_masked(const char*, long long, long long) {}
constexpr void check_drawn(long long) {}

}

#endif
