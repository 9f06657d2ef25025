#pragma once
#include "engine/export/policy_tensors.h"
#include "engine/export/protobuf.h"

namespace nacelle {

// The numbers of a message's fields in onnx.proto, as far as they are written or read here.
namespace onnx {
namespace model {
inline constexpr uint32_t ir_version = 1, producer = 2, producer_version = 3, graph = 7, opset = 8,
                          metadata = 14;
}
namespace graph {
inline constexpr uint32_t node = 1, name = 2, initializer = 5, input = 11, output = 12;
}
namespace tensor {
inline constexpr uint32_t dims = 1, type = 2, name = 8, data = 9;
}
namespace entry {
inline constexpr uint32_t key = 1, value = 2;
}
enum Type : int32_t { f32 = 1, i64 = 7, boolean = 9 };

// Under this name the metadata has the hash of a GraphProto without its weights: it tells whether a tool has changed it.
inline constexpr const char* graph_hash_key = "graph";
}
std::string hash_of_graph(std::string_view graph, const std::string& where);

// A graph of ONNX that is being put together. A value is known by its name.
class OnnxGraph final {
public:
    using Value = std::string;
    using Values = std::vector<Value>;
    struct Attribute {
        std::string name;
        std::vector<int64_t> integers;
        bool list = true;    // else one integer
    };
    static Attribute integer(const std::string& name, int64_t value) {
        return {name, {value}, false};
    }

    // An array with a row for each row of observations.
    Value input(const std::string& name, onnx::Type type, int64_t width);
    void output(const Value& value, int64_t width);
    // A weight, which the file carries under this name.
    Value weight(const PolicyTensor& tensor);
    Value constant(const std::vector<float>& numbers, const std::vector<int64_t>& shape);
    Value constant(const std::vector<int64_t>& numbers);
    Value scalar(float number) { return constant(std::vector<float>{number}, {}); }

    // A node's one result, named `result` where that is given.
    Value node(const std::string& operation, const Values& inputs,
               const std::vector<Attribute>& attributes = {}, const Value& result = {});
    // The columns of a value, so many each.
    Values split(const Value& value, const std::vector<int64_t>& widths);
    // The reverse of split().
    Value join(const Values& values, const Value& result = {});
    // These columns of a value.
    Value columns(const Value& value, const std::vector<int64_t>& chosen);

    // The bytes of a GraphProto.
    std::string bytes(const std::string& name) const;

private:
    Value fresh(const std::string& operation);
    Value constant(const ProtoMessage& tensor);
    void add_node(const std::string& operation, const Values& inputs, const Values& outputs,
                  const std::vector<Attribute>& attributes);

    std::vector<ProtoMessage> nodes_, initializers_, inputs_, outputs_;
    size_t results_ = 0;
};

}
