#pragma once

// Where parallel work runs. The engine runs on TBB inside its own arena; the std::thread executor gives the thread
// sanitiser code that it understands, the serial one gives tests a single stack. Results must not depend on which.

#include <cstddef>
#include <functional>
#include <memory>

namespace orrery {

class Executor {
public:
    virtual ~Executor() = default;
    /// Calls body(i) for every i in [0, count), in any order, on any of the executor's threads; returns when all are
    /// done. An exception from a body is thrown again here after the others have ended. May be nested.
    virtual void forEach(std::size_t count, const std::function<void(std::size_t)>& body) = 0;
    virtual int threads() const = 0;
};

std::unique_ptr<Executor> makeSerialExecutor();
std::unique_ptr<Executor> makeThreadExecutor(int threads = 0);  ///< 0: one per core
std::unique_ptr<Executor> makeTbbExecutor(int threads = 0);     ///< 0: one per core
/// TBB, or std::thread in builds for the thread sanitiser.
std::unique_ptr<Executor> makeDefaultExecutor(int threads = 0);

}  // namespace orrery
