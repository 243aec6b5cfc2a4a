#include "methods/provenance.h"

#include "base/hash.h"
#include "hardware/walk.h"

#include <bit>
#include <cstdint>
#include <span>
#include <variant>

namespace orrery {

namespace {

template <class... Ts>
struct Overloaded : Ts... {
    using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::uint64_t number(std::size_t value) {
    return static_cast<std::uint64_t>(value);
}

void addMeasure(Hash& hash, const Measure& measure) {
    hash.add(measure.si).add(number(measure.perCycle));
}

void addComponent(Hash& hash, const Component& component) {
    hash.add(number(static_cast<std::size_t>(component.kind))).add(component.name);
    hash.add(static_cast<std::uint64_t>(component.count)).add(number(component.mesh.size()));
    for (const auto extent : component.mesh) hash.add(static_cast<std::uint64_t>(extent));
    hash.add(number(component.attributes.size()));
    for (const auto& attribute : component.attributes) {
        hash.add(attribute.name);
        std::visit(Overloaded{[&](const Measure& measure) { addMeasure(hash, measure); },
                              [&](const std::string& text) { hash.add(text); },
                              [&](const std::vector<std::string>& list) {
                                  hash.add(number(list.size()));
                                  for (const auto& text : list) hash.add(text);
                              },
                              [&](const std::vector<TableRow>& rows) {
                                  hash.add(number(rows.size()));
                                  for (const auto& row : rows) addMeasure(hash.add(row.key), row.value);
                              }},
                   attribute.value);
    }
    hash.add(number(partsIn(component).size()));
    for (const Component& part : partsIn(component)) addComponent(hash, part);
}

// Four independent lanes, because a single chain of multiplications would take longer than the estimate itself.
std::uint64_t fold(std::span<const double> column) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ull;
    std::uint64_t lane[4] = {1, 2, 3, 4};
    std::size_t i = 0;
    for (; i + 4 <= column.size(); i += 4) {
        for (std::size_t j = 0; j < 4; ++j) {
            lane[j] = std::rotl((lane[j] ^ std::bit_cast<std::uint64_t>(column[i + j])) * odd, 29);
        }
    }
    for (; i < column.size(); ++i) {
        lane[i % 4] = std::rotl((lane[i % 4] ^ std::bit_cast<std::uint64_t>(column[i])) * odd, 29);
    }
    return (lane[0] * odd ^ lane[1]) * odd ^ (lane[2] * odd ^ lane[3]);
}

}  // namespace

std::string hardwareHash(const Hardware& hardware) {
    Hash hash;
    hash.add(hardware.name);
    addComponent(hash, hardware.root);
    return hash.hex();
}

std::string workloadHash(const Workload& workload) {
    const auto& options = workload.recipe.options;
    const auto& costs = workload.costs;
    Hash hash;
    hash.add(workload.id).add(workload.recipe.source);
    for (const auto value : {options.batch, options.sequence, options.image}) {
        hash.add(static_cast<std::uint64_t>(value));
    }
    hash.add(number(static_cast<std::size_t>(options.phase))).add(number(options.flashAttention));
    for (const auto type : {options.weights, options.activations, options.kv}) {
        hash.add(number(static_cast<std::size_t>(type)));
    }
    for (const Scaling scaling : {options.weightScaling, options.activationScaling}) {
        if (scaling != Scaling::Usual) hash.add(number(static_cast<std::size_t>(scaling)));
    }
    for (const auto& [symbol, value] : options.bindings) hash.add(symbol).add(static_cast<std::uint64_t>(value));
    hash.add(number(costs.size()));
    for (const auto* column : {&costs.repeat, &costs.macs, &costs.flops, &costs.weightBytes, &costs.kvReadBytes,
                               &costs.kvWriteBytes, &costs.inputBytes, &costs.outputBytes, &costs.scratchBytes}) {
        hash.add(fold(*column));
    }
    std::uint64_t kinds = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
        kinds = std::rotl(kinds, 5) * 3 + static_cast<std::uint64_t>(costs.kind[i]) * 16 +
                static_cast<std::uint64_t>(costs.type[i]);
    }
    return hash.add(kinds).hex();
}

}  // namespace orrery
