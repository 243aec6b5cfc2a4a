#include "base/executor.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace orrery {
namespace {

class TbbExecutor final : public Executor {
public:
    explicit TbbExecutor(int threads) : arena_(threads > 0 ? threads : tbb::task_arena::automatic) {}
    void forEach(std::size_t count, const std::function<void(std::size_t)>& body) override {
        arena_.execute([&] { tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) { body(i); }); });
    }
    int threads() const override { return arena_.max_concurrency(); }

private:
    tbb::task_arena arena_;
};

}  // namespace

std::unique_ptr<Executor> makeTbbExecutor(int threads) {
    return std::make_unique<TbbExecutor>(threads);
}

}  // namespace orrery
