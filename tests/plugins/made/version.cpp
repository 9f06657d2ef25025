// A sink whose flush() fails with the version of its code and the writes it has seen.
#include <nacelle/plugin/sink.h>

namespace {

int writes_of_all = 0;    // fresh in every library that is opened

struct Version {
    static constexpr const char* name = "version";

    Version(nacelle::plugin::Host host, std::string_view) {
        host.log(NACELLE_WARNING, "version " VERSION " is made");
    }
    void write(uint64_t, std::span<const char* const>, std::span<const double>) {
        ++writes_;
        ++writes_of_all;
    }
    void flush() const {
        throw std::runtime_error("version " VERSION ", " + std::to_string(writes_) + " of " +
                                 std::to_string(writes_of_all));
    }

private:
    int writes_ = 0;
};

}

NACELLE_PLUGIN("test.version", VERSION, "", nacelle::plugin::Sink<Version>)
