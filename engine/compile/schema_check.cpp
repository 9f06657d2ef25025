#include "engine/compile/schema_check.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

#include <cstring>
#include <limits>
#include <nacelle/view.h>

namespace nacelle {
namespace {

// A bound on the bytes of one environment: beyond any memory, and below 2^63 when multiplied by the most
// environments.
constexpr uint64_t most_bytes = uint64_t(1) << 33;
// A bound on the view (Params and addresses), which a GPU keeps in its 64 KiB of constant memory.
constexpr uint32_t most_view = uint32_t(1) << 24;
// Authors write sizes as an int.
constexpr uint32_t most_of_one = std::numeric_limits<int32_t>::max();

class Check final {
public:
    Check(const Header& header, const std::string& what) : header_(header), what_(what) {}

    void header() const {
        require(ends(header_.name) && header_.name[0], "its name");
        require(header_.groups >= 1 && header_.groups <= most_groups, "its number of groups");
        require(header_.policies <= most_policies, "its number of policies");
        for (const Group& group : std::span(header_.group, header_.groups)) {
            require(ends(group.name), "a group's name");
            require(group.count >= 1, "a group's number of agents");
        }
        for (const Decider& policy : std::span(header_.policy, header_.policies)) {
            require(ends(policy.name), "a policy's name");
            require(policy.group < header_.groups, "a policy's group");
        }
        require(header_.block_threads >= 1 && header_.env_threads >= 1 &&
                    header_.cluster_blocks >= 1,
                "how its kernels are launched");
        view();
    }

    // Its bytes in one environment.
    uint64_t field(const Field& field) const {
        require(ends(field.name), "a field's name");
        const std::string name = printable(field.name);
        const auto require = [&](bool good, const char* part) {
            Check::require(good, "the field '" + name + "': " + part);
        };
        require(field.name[0], "its name");
        require(field.role <= Role::bin && field.kind <= Kind::table && field.dtype <= Dtype::b8 &&
                    field.per <= Per::group && field.layout <= Layout::rows,
                "what it is");
        require(has_prefix(field), "its name");
        require(field.kind != Kind::discrete || field.choices >= 1, "its choices");
        require(field.kind != Kind::continuous || field.low <= field.high, "its bounds");
        require(field.per != Per::row || field.group < header_.groups, "its group");
        require(field.slot >= -1 && (field.slot < 0 || uint32_t(field.slot) < header_.slots),
                "its slot");
        require(has_good_dims(field), "its sizes");
        if (field.role == Role::param && field.slot < 0)
            require(lies_in_params(field), "its place");
        uint64_t bytes = field.count * uint64_t(dtype_size(field.dtype));
        if (field.per == Per::row &&
            __builtin_mul_overflow(bytes, header_.group[field.group].count, &bytes))
            bytes = most_bytes + 1;
        require(field.slot < 0 || bytes <= most_bytes, "its sizes");
        return field.slot < 0 ? 0 : bytes;
    }

    void require(bool good, const std::string& part) const {
        if (!good)
            throw Error(what_, "the environment's table is damaged: " + part + " cannot be right");
    }

private:
    template <size_t size> static bool ends(const char (&text)[size]) {
        return std::memchr(text, '\0', size) != nullptr;
    }

    // Head, Params and two lists of addresses, in this order.
    void view() const {
        const uint64_t list = uint64_t(header_.slots) * sizeof(void*);
        require(header_.view_size >= sizeof(ViewHead) && header_.view_size <= most_view &&
                    header_.params_offset >= sizeof(ViewHead) &&
                    uint64_t(header_.params_offset) + header_.params_size <= header_.array_offset &&
                    header_.array_offset % sizeof(void*) == 0 &&
                    header_.array_offset + list <= header_.pool_offset &&
                    header_.pool_offset % sizeof(void*) == 0 &&
                    header_.pool_offset + list <= header_.view_size,
                "the layout of its view");
    }

    // Names are shown without their prefix.
    static bool has_prefix(const Field& field) {
        const std::string_view name = field.name;
        if (field.role == Role::param) return name.starts_with("param.");
        return field.role != Role::log || name.starts_with("log.");
    }

    // The first size of a table is 0 where any number of rows is allowed.
    static bool has_good_dims(const Field& field) {
        const bool table = field.kind == Kind::table;
        if (field.rank > std::size(field.dims) || (table && field.rank == 0)) return false;
        uint64_t product = 1;
        for (uint32_t i = 0; i < field.rank; ++i) {
            if (field.dims[i] == 0 && !(table && i == 0)) return false;
            if (field.dims[i] > most_of_one) return false;
            if (__builtin_mul_overflow(product, field.dims[i], &product)) return false;
        }
        return field.count == product;
    }

    bool lies_in_params(const Field& field) const {
        constexpr uint64_t table_size = sizeof(void*) + 3 * sizeof(int32_t);
        if (field.kind == Kind::table) return field.offset + table_size <= header_.params_size;
        const uint64_t last = offset_of(field, field.count - uint64_t(1));
        return last + dtype_size(field.dtype) <= header_.params_size;
    }

    const Header& header_;
    const std::string& what_;
};

}

void require_sound(const Header& header, std::span<const Field> fields, const std::string& what) {
    const Check check(header, what);
    check.header();
    uint64_t bytes = header.workspace_bytes;
    for (const Field& field : fields) {
        bytes += check.field(field);
        check.require(bytes <= most_bytes, "the sizes of its fields");
    }
}

}
