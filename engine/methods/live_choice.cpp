#include "methods/live_choice.h"

#include <algorithm>

namespace orrery {

namespace {

struct Quick {
    std::string_view method, option, choice;
};
// The operators of a whole model within 20 ms, which `tst_core_prices` and `tst_soc_offload` measure.
constexpr Quick quick[] = {{"core-windows", "pass", "flow"}, {"soc-offload", "copies", "flow"}};

}  // namespace

bool answersLive(const MethodCard& card, const OptionValues& options) {
    return card.live || std::ranges::any_of(quick, [&](const Quick& one) {
               const auto found = options.find(one.option);
               return one.method == card.id && found != options.end() && found->second == one.choice;
           });
}

}  // namespace orrery
