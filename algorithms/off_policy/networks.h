#pragma once
#include "algorithms/off_policy/programs.h"

namespace off_policy {

// The arrays of a learner's networks.
class Arrays final {
public:
    Arrays(nacelle::plugin::Host host, const Place& place) : host_(host), place_(place) {}

    template <class T>
    T* numbers(const std::string& name, std::initializer_list<uint64_t> shape,
               bool persistent) const;
    // Rows that go into products, or what comes out of them.
    Matrix into(const std::string& name, uint64_t width, uint64_t rows) const;
    Matrix out_of(const std::string& name, uint64_t width, uint64_t rows) const;
    const nacelle::plugin::Host& host() const { return host_; }
    const Place& place() const { return place_; }

private:
    nacelle::plugin::Host host_;
    Place place_;
};

// So many networks with layers of these widths, inputs first, and what their optimiser keeps. `number` tells their first
// weights apart from those of others; a gradient is a sum over so many rows, or there is none.
Networks make_networks(const Arrays& arrays, const std::string& name,
                       const std::vector<int64_t>& widths, uint32_t count, uint32_t number,
                       bool followed, uint64_t rows);

}
