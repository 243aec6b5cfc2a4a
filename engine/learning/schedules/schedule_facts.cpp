// Features of schedules as a person reads them.

#include "learning/schedules/schedule_features.h"
#include "learning/schedules/schedule_loops.h"

#include <array>
#include <cmath>

namespace orrery {

namespace {

enum class As { Itself, Power, Bytes };   // a logarithm of base 2 is shown as what it is of
enum class Where { Anywhere, Cpu, Gpu };  // elsewhere it is 0 for want of a meaning
struct Kind {
    std::string_view group;
    As as = As::Power;
    Where where = Where::Anywhere;
};

constexpr std::string_view work = "work", loops = "loops", touch = "touch", reuse = "reuse", vectors = "vectorisation",
                           parallel = "parallelism", unrolling = "unrolling";

// In the order of scheduleFeatureNames(), from `unroll` on: before it stand the operator's extents and the splits.
constexpr std::array<Kind, scheduleFeatures - 20> kinds{{{unrolling, As::Itself},
                                                         {unrolling, As::Itself},
                                                         {loops},
                                                         {loops},
                                                         {touch},
                                                         {loops},
                                                         {reuse},
                                                         {parallel},
                                                         {loops, As::Itself},
                                                         {loops, As::Itself},
                                                         {loops, As::Itself},
                                                         {parallel, As::Itself},
                                                         {parallel, As::Power, Where::Gpu},
                                                         {parallel, As::Power, Where::Gpu},
                                                         {parallel, As::Power, Where::Gpu},
                                                         {parallel, As::Power, Where::Gpu},
                                                         {touch, As::Bytes},
                                                         {loops},
                                                         {loops},
                                                         {loops},
                                                         {reuse, As::Itself},
                                                         {parallel, As::Itself, Where::Gpu},
                                                         {parallel, As::Itself},
                                                         {parallel},
                                                         {touch, As::Bytes},
                                                         {vectors},
                                                         // machine_features.h: vectors
                                                         {vectors, As::Itself, Where::Cpu},
                                                         {vectors, As::Bytes, Where::Cpu},
                                                         {vectors, As::Itself, Where::Cpu},
                                                         {vectors, As::Itself, Where::Cpu},
                                                         {vectors, As::Power, Where::Cpu},
                                                         {vectors, As::Power, Where::Cpu},
                                                         {reuse, As::Itself, Where::Cpu},
                                                         {unrolling, As::Power, Where::Cpu},
                                                         {parallel},
                                                         {touch, As::Bytes},
                                                         {touch, As::Bytes},
                                                         {touch, As::Bytes},
                                                         {touch, As::Bytes},
                                                         {reuse},
                                                         {reuse},
                                                         {touch, As::Bytes},
                                                         {loops},
                                                         // machine_features.h: blocks
                                                         {parallel, As::Power, Where::Gpu},
                                                         {parallel, As::Power, Where::Gpu},
                                                         {parallel, As::Power, Where::Gpu},
                                                         {parallel, As::Power, Where::Gpu},
                                                         {reuse, As::Itself, Where::Gpu},
                                                         {parallel, As::Power, Where::Gpu},
                                                         {touch, As::Power, Where::Gpu},
                                                         {loops, As::Power, Where::Gpu},
                                                         {loops, As::Power, Where::Gpu},
                                                         {vectors, As::Power, Where::Gpu},
                                                         {vectors, As::Power, Where::Gpu},
                                                         {vectors, As::Power, Where::Gpu},
                                                         {vectors, As::Itself, Where::Gpu},
                                                         {loops, As::Power, Where::Gpu},
                                                         {loops, As::Power, Where::Gpu},
                                                         {reuse, As::Power, Where::Gpu},
                                                         {parallel, As::Power, Where::Gpu}}};

}  // namespace

std::vector<ScheduleFact> scheduleFactsOf(const TunedRow& row) {
    std::array<double, scheduleFeatures> values{};
    scheduleFeaturesOf(row, values);
    const auto names = scheduleFeatureNames();
    const bool gpu = loopsOf(row).gpu;
    std::vector<ScheduleFact> facts;
    for (std::size_t i = 0; i < scheduleFeatures; ++i) {
        const Kind kind = i < 4 ? Kind{work} : i < 20 ? Kind{loops} : kinds[i - 20];
        if (kind.where == (gpu ? Where::Cpu : Where::Gpu)) continue;
        facts.push_back(
            {i, names[i], kind.group, kind.as == As::Itself ? values[i] : std::exp2(values[i]), kind.as == As::Bytes});
    }
    return facts;
}

}  // namespace orrery
