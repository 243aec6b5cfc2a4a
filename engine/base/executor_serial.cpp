#include "base/executor.h"

namespace orrery {
namespace {

class SerialExecutor final : public Executor {
public:
    void forEach(std::size_t count, const std::function<void(std::size_t)>& body) override {
        for (std::size_t i = 0; i < count; ++i) body(i);
    }
    int threads() const override { return 1; }
};

}  // namespace

std::unique_ptr<Executor> makeSerialExecutor() {
    return std::make_unique<SerialExecutor>();
}

std::unique_ptr<Executor> makeDefaultExecutor(int threads) {
#ifdef ORRERY_THREAD_EXECUTOR
    return makeThreadExecutor(threads);
#else
    return makeTbbExecutor(threads);
#endif
}

}  // namespace orrery
