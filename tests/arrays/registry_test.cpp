#include "engine/arrays/registry.h"
#include "engine/base/error.h"

#include <doctest/doctest.h>

using namespace nacelle;

namespace {

struct Place {
    std::shared_ptr<Device> device = open_device("cpu", 1).device;
    std::unique_ptr<Stream> stream = device->stream();

    NamedArray make(const std::string& name, Dtype dtype, std::vector<int64_t> shape,
                    Role role = Role::state) {
        size_t count = 1;
        for (const int64_t size : shape) count *= static_cast<size_t>(size);
        return NamedArray(name, dtype, std::move(shape), role, 0,
                          Buffer(device, count * dtype_size(dtype)), *stream);
    }
};

std::string complaint(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

template <class T> std::span<const T> all(const std::vector<T>& values) { return values; }

}

TEST_CASE("what is written to an array is read from it, as its type and as doubles") {
    Place place;
    NamedArray array = place.make("state.x", Dtype::i16, {2, 3});
    const std::vector<int16_t> values{1, -2, 3, 32767, -32768, 0};
    array.write(all(values));
    CHECK(array.host<int16_t>() == values);
    CHECK(array.numbers() == std::vector<double>{1, -2, 3, 32767, -32768, 0});
    CHECK(static_cast<int16_t*>(array.device())[3] == 32767);
    CHECK(array.form() == "i16 [2, 3]");
    CHECK(array.bytes() == 12);
}

TEST_CASE("flags are read as bools") {
    Place place;
    NamedArray array = place.make("terminated", Dtype::b8, {3});
    const bool values[] = {true, false, true};
    array.write(std::span<const bool>(values));
    CHECK(array.host<bool>() == std::vector<bool>{true, false, true});
}

TEST_CASE("a wrong type and a wrong count are refused with what the array is") {
    Place place;
    NamedArray array = place.make("obs", Dtype::f32, {4, 2});
    CHECK(complaint([&] { array.host<double>(); }) == "obs: is f32 [4, 2], not f64");
    CHECK(complaint([&] { array.write(all(std::vector<float>(7))); }) ==
          "obs: is f32 [4, 2] and takes 8 elements, not 7");
    CHECK(complaint([&] { array.write(all(std::vector<int32_t>(8))); }) ==
          "obs: is f32 [4, 2], not i32");
}

TEST_CASE("a registry finds arrays by name and names the nearest where there is none") {
    Place place;
    Registry registry("CartPole");
    registry.add(place.make("state.theta", Dtype::f32, {4}));
    registry.add(place.make("reward", Dtype::f32, {4}));
    CHECK(registry["reward"].count() == 4);
    CHECK(registry.bytes() == 32);
    CHECK(registry.find("nothing") == nullptr);
    CHECK(complaint([&] { registry["state.thet"]; }) ==
          "CartPole: there is no array 'state.thet' (did you mean 'state.theta'?)");
    CHECK(complaint([&] { registry.add(place.make("reward", Dtype::f32, {4})); }) ==
          "CartPole: there is an array 'reward' already");
}

TEST_CASE("registries exchange their arrays but for what both have in the same form") {
    Place place;
    Registry running("CartPole"), fresh("CartPole");
    const auto names = [](const Registry& registry) {
        std::string all;
        for (const NamedArray& array : registry.all())
            all += array.form() + " " + array.name() + ";";
        return all;
    };
    running.add(place.make("state.x", Dtype::f32, {4}));
    running.add(place.make("state.gone", Dtype::f32, {4}));
    running.add(place.make("state.wider", Dtype::f32, {4}));
    running.add(place.make("ppo.weights", Dtype::f32, {9}, Role::plugin));
    fresh.add(place.make("state.fresh", Dtype::i32, {4}));
    fresh.add(place.make("state.wider", Dtype::f32, {2, 4}));
    fresh.add(place.make("state.x", Dtype::f32, {4}));
    const std::string before = names(running), after = names(fresh);
    NamedArray* const x = running.find("state.x");
    NamedArray* const weights = running.find("ppo.weights");
    void* const memory = x->device();
    running.exchange(fresh);
    CHECK(names(running) == after + "f32 [9] ppo.weights;");
    CHECK(running.find("state.x") == x);
    CHECK(running.find("ppo.weights") == weights);
    CHECK(x->device() == memory);
    CHECK(fresh.find("state.x") != nullptr);
    CHECK(fresh.find("ppo.weights") == nullptr);
    running.exchange(fresh);
    CHECK(names(running) == before);
    CHECK(names(fresh) == after);
    CHECK(running.find("state.x") == x);
}

TEST_CASE("a number of any type travels through a double, whole ones rounded") {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::u32, Dtype::i64,
                              Dtype::u64, Dtype::i16, Dtype::u16, Dtype::i8, Dtype::u8}) {
        CAPTURE(std::string(dtype_name(dtype)));
        unsigned char bytes[8];
        write_number(dtype, bytes, 41.6);
        const bool real = dtype == Dtype::f32 || dtype == Dtype::f64;
        CHECK(read_number(dtype, bytes) == doctest::Approx(real ? 41.6 : 42));
    }
}
