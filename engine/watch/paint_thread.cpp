#include "engine/watch/paint_thread.h"

#include "engine/base/seconds_since.h"
#include "engine/view/array_picture.h"

#include <chrono>

namespace nacelle {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds drawing_patience{2};    // with a draw() when all is over

// An error in draw() costs only the picture: the arrays take its place.
DisplayList painted(const PaintThread::Order& order, std::string& note) {
    try {
        if (order.drawing) return order.drawing->paint(order.scene);
    } catch (const std::exception& wrong) {
        note = wrong.what();
    }
    return picture_of_arrays(order.scene);
}

void show(Viewer& viewer, const PaintThread::Order& order) {
    std::string note;
    const DisplayList list = painted(order, note);
    viewer.show("arrays", arrays_text(order.scene, order.arrays));
    viewer.show("picture",
                "{" + order.more + "\"note\":" + json_word(note) + "," + picture_text(list) + "}");
}

}

PaintThread::PaintThread(std::shared_ptr<Viewer> viewer) : shared_(std::make_shared<Shared>()) {
    shared_->viewer = std::move(viewer);
    thread_ = std::thread([shared = shared_] { run(shared); });
}

PaintThread::~PaintThread() {
    std::unique_lock lock(shared_->mutex);
    shared_->ends = true;
    shared_->wake.notify_all();
    const bool idle =
        shared_->wake.wait_for(lock, drawing_patience, [&] { return !shared_->works; });
    lock.unlock();
    if (idle) thread_.join();
    else thread_.detach();
}

bool PaintThread::busy() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->works || shared_->next;
}

double PaintThread::seconds() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->seconds;
}

void PaintThread::paint(Order order) {
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->works || shared_->next) return;
        shared_->next = std::move(order);
    }
    shared_->wake.notify_all();
}

void PaintThread::run(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock(shared->mutex);
    for (;;) {
        shared->wake.wait(lock, [&] { return shared->ends || shared->next; });
        if (shared->ends) return;
        std::optional<Order> order = std::exchange(shared->next, std::nullopt);
        shared->works = true;
        lock.unlock();
        const Clock::time_point start = Clock::now();
        try {
            show(*shared->viewer, *order);
        } catch (const std::exception&) {
            // No memory for this picture; the next may be smaller.
        }
        order.reset();
        const double seconds = seconds_since(start);
        lock.lock();
        shared->seconds = seconds;
        shared->works = false;
        shared->wake.notify_all();
    }
}

}
