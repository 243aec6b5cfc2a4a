#pragma once

// A method is data plus one function. To add one: write methods/<methodology>/<name>.{h,cpp} with a card and a
// function, add it to builtin_methods.cpp, and write its test. Nothing else changes.

#include "base/executor.h"
#include "base/progress.h"
#include "hardware/component.h"
#include "hardware/device_view.h"
#include "methods/estimate.h"
#include "workload/workload.h"

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class Methodology : std::uint8_t { Analytical, CycleAccurate, TraceDriven, Learned, Hybrid };
enum class MethodLevel : std::uint8_t { Kernel, Model, System };
std::string_view toText(Methodology methodology);
std::string_view toText(MethodLevel level);

/// Evidence that a method works for a class of workloads on a platform.
struct Evidence {
    std::string_view workloadClass;  ///< `matrix products`, `decoder inference`
    std::string_view platform;       ///< `GPU`
    std::string_view finding;        ///< with a number, and the data set that it was measured on
};

struct MethodCard {
    std::string_view id;  ///< `roofline`: in files, JSON, the command line
    std::string_view title;
    Methodology methodology;
    MethodLevel level;
    std::string_view summary;  ///< two sentences for a person choosing
    std::vector<std::string_view> platforms;
    std::vector<Evidence> evidence;
    std::vector<std::string_view> needs;    ///< attributes and inputs
    std::string_view failureMode;           ///< where it breaks
    std::vector<std::string_view> lineage;  ///< papers
    std::string_view expectedCost;          ///< `microseconds per thousand operators`
    std::string_view version;
    bool live;  ///< cheap enough to answer on every edit
};

using HardwarePtr = std::shared_ptr<const Hardware>;

/// One question.
struct Scenario {
    HardwarePtr hardware;
    WorkloadPtr workload;
    std::string name() const;  ///< `Llama-2 7B decode on H100 SXM`
};

struct EstimateContext {
    Executor& executor;
    std::stop_token stop;
    Progress* progress = nullptr;
    std::uint64_t seed = 0;
    bool wantTimeline = true;
};

struct Method {
    MethodCard card;
    /// Deterministic in (scenario, seed), whatever the thread count. Fails with a diagnostic that names what is
    /// missing; `study.cancelled` once the stop token is set.
    Expected<Estimate> (*estimate)(const Scenario&, EstimateContext&);
};

std::span<const Method> builtinMethods();
const Method* findMethod(std::string_view id);
/// Runs a method and fills in what is common: cost, provenance, checks in debug builds (interval contains the latency,
/// columns have equal lengths). Exceptions of third parties become diagnostics.
Expected<Estimate> estimate(const Method& method, const Scenario& scenario, EstimateContext& context);

}  // namespace orrery
