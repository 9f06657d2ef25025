#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gloo::rendezvous {

// What the process group's own stores override; it makes them, nobody here does.
class Store {
public:
    virtual ~Store() = default;
    virtual void set(const std::string& key, const std::vector<char>& data) = 0;
    virtual std::vector<char> get(const std::string& key) = 0;
    virtual void wait(const std::vector<std::string>& keys) = 0;
    virtual void wait(const std::vector<std::string>& keys,
                      const std::chrono::milliseconds& timeout) = 0;
};

}
