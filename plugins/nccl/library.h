#pragma once
#include <cstddef>
#include <string>

// What is called of NCCL, as its documentation has it. The library is opened at run time.
namespace nccl {

struct Id {
    char bytes[128];
};
using Comm = void*;
enum Type : int { uint8 = 1, float32 = 7, float64 = 8 };
enum Result : int { success = 0, in_progress = 7 };
enum Operation : int { sum = 0, max = 2 };

class Library final {
public:
    // By NACELLE_NCCL, else the system's, else the one that 'tools/nacelle nccl' has installed. It is never closed: its
    // threads do not outlive that.
    Library();

    // Throws where a call has not succeeded.
    void check(int result, const char* purpose) const;

    int (*version)(int*);
    int (*unique_id)(Id*);
    int (*init_rank)(Comm*, int ranks, Id, int rank);
    int (*all_reduce)(const void* from, void* to, size_t count, int type, int operation, Comm,
                      void* stream);
    int (*broadcast)(const void* from, void* to, size_t count, int type, int root, Comm,
                     void* stream);
    int (*destroy)(Comm);
    int (*abort)(Comm);
    int (*async_error)(Comm, int* error);
    const char* (*error_text)(int);
    const char* (*last_error)(Comm);

private:
    void open(const std::string& file);
    template <class Function> void find(Function*& function, const char* symbol);

    void* library_ = nullptr;
    std::string file_;
};

}
