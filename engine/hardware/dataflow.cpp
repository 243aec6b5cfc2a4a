#include "hardware/dataflow.h"

namespace orrery {

namespace {

struct DataflowWords {
    std::string_view abbreviation, title;
};
constexpr std::array<DataflowWords, dataflowNames.size()> dataflowWords{
    {{"ws", "weight stationary"}, {"os", "output stationary"}, {"is", "input stationary"}, {"rs", "row stationary"}}};

}  // namespace

std::string_view abbreviation(Dataflow dataflow) {
    return dataflowWords[static_cast<std::size_t>(dataflow)].abbreviation;
}

std::string_view title(Dataflow dataflow) {
    return dataflowWords[static_cast<std::size_t>(dataflow)].title;
}

std::optional<Dataflow> dataflow(std::string_view text) {
    for (std::size_t i = 0; i < dataflowNames.size(); ++i) {
        if (text == dataflowNames[i] || text == dataflowWords[i].abbreviation) return static_cast<Dataflow>(i);
    }
    return std::nullopt;
}

}  // namespace orrery
