#include "engine/plugins/ranks_instance.h"

namespace nacelle {

using CallContext = HostServices::CallContext;

RanksInstance::RanksInstance(Plugins& plugins, const std::string& name, const RankPlace& place,
                             bool on_gpu, Stream& stream)
    : place_(place),
      library_(plugins.find({"communicator/1", name})),
      functions_(library_->table<nacelle_communicator>(
          {"communicator/1", name}, {{"create", offsetof(nacelle_communicator, create)},
                                     {"all_reduce", offsetof(nacelle_communicator, all_reduce)},
                                     {"broadcast", offsetof(nacelle_communicator, broadcast)},
                                     {"destroy", offsetof(nacelle_communicator, destroy)}})),
      services_(std::make_unique<HostServices>(name, plugins.log())),
      object_(nullptr, functions_.destroy) {
    const std::string text = config_text(name, {{"rank", place.rank},
                                                {"ranks", place.ranks},
                                                {"local_rank", place.local_rank},
                                                {"address", place.address},
                                                {"port", place.port},
                                                {"on_gpu", on_gpu}});
    stream.call([&] {    // a library may look for the context of this thread
        services_->call(CallContext::preparing, "create", [&] {
            object_.reset(functions_.create(services_->table(), text.c_str()));
            return object_ != nullptr;
        });
    });
}

void RanksInstance::reduce(Stream& stream, void* data, uint64_t count, uint32_t dtype,
                           Reduction reduction) {
    const uint32_t how = reduction == Reduction::sum ? NACELLE_SUM : NACELLE_MAX;
    stream.call([this, data, count, dtype, how, native = stream.native()] {
        const RankWait wait(progress());
        services_->call(CallContext::running, "all_reduce", [&] {
            return functions_.all_reduce(object_.get(), data, count, dtype, how, native) ==
                   NACELLE_OK;
        });
    });
}
void RanksInstance::all_reduce(Stream& stream, float* data, uint64_t count, Reduction reduction) {
    reduce(stream, data, count, NACELLE_F32, reduction);
}
void RanksInstance::all_reduce(Stream& stream, double* data, uint64_t count, Reduction reduction) {
    reduce(stream, data, count, NACELLE_F64, reduction);
}

void RanksInstance::broadcast(Stream& stream, void* data, uint64_t bytes, uint32_t from) {
    stream.call([this, data, bytes, from, native = stream.native()] {
        const RankWait wait(progress());
        services_->call(CallContext::running, "broadcast", [&] {
            return functions_.broadcast(object_.get(), data, bytes, from, native) == NACELLE_OK;
        });
    });
}

std::string RanksInstance::fault() {
    char text[512] = "";
    if (!functions_.fault || functions_.fault(object_.get(), text, sizeof text) == NACELLE_OK)
        return {};
    return *text ? text : "what connects the ranks has failed and does not say why";
}

}
