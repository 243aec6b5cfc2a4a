#pragma once

// A method is data plus one function. To add one: write methods/<room>/<name>.{h,cpp} with a card and a function, add
// it to builtin_methods.cpp, and write its test. Nothing else changes. One that prices kernel by kernel is a
// KernelMethod (kernel_method.h): it gets its Method by composition.

#include "base/executor.h"
#include "base/progress.h"
#include "hardware/component.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/device_view.h"
#include "mapping/plan.h"
#include "methods/cost_model.h"
#include "methods/estimate.h"
#include "methods/software.h"
#include "methods/task.h"
#include "workload/workload.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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

/// A choice that a method leaves to the person who asks.
struct MethodOption {
    std::string_view key;    ///< in files and on the command line: `launch`
    std::string_view title;  ///< `Launch`
    /// The words that it takes: `eager`, `graph`; `on`, `off` for a switch. None and no slot: any text, such as a file.
    std::vector<std::string_view> choices;
    std::string_view fallback;  ///< one of them
    std::string_view meaning;   ///< one sentence
    /// A slot: its value is a method of this level, with options of its own (`compute=tile-hybrid(launch=eager)`), and
    /// `choices` are examples. None: one of the choices.
    std::optional<MethodLevel> slot = {};
    bool older = false;              ///< read in older files, no longer offered
    std::string_view formerly = {};  ///< its key in older files, where that key has no such choice of its own today
    bool needed = false;             ///< of a text: nothing is answered without it
};
using OptionValues = std::map<std::string, std::string, std::less<>>;

class CalibrationSet;

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
    CostModel cost;                         ///< what an answer takes, as measured
    std::string_view version;
    bool live;  ///< cheap enough to answer on every edit
    std::vector<MethodOption> options = {};
    /// What it can be asked; others are refused with `method.task`.
    std::vector<TaskKind> tasks = {TaskKind::Pass, TaskKind::OneOperator};
    bool answers(TaskKind kind) const;
};

/// One question: a workload on a design, spread as the plan says, for a task.
struct Scenario {
    HardwarePtr hardware;
    WorkloadPtr workload;  ///< of a serving run: the model that it serves
    Plan plan = {};
    Task task = Pass{};
    Software software = {};    ///< that runs it; empty: as what the method has learned from
    std::string name() const;  ///< `Llama-2 7B decode on H100 SXM`, `Training step of ResNet-50 on DGX H100, dp=8`
};

struct EstimateContext {
    Executor& executor;
    std::stop_token stop;
    Progress* progress = nullptr;
    std::uint64_t seed = 0;
    bool wantTimeline = true;
    OptionValues options = {};                     ///< what is not named stands at its fallback
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
};

struct Method {
    MethodCard card;
    /// Deterministic in (scenario, seed), whatever the thread count. Fails with a diagnostic that names what is
    /// missing; `study.cancelled` once the stop token is set.
    std::function<Expected<Estimate>(const Scenario&, EstimateContext&)> estimate;
};
/// Answers nothing without a file of the user's: such a method stands in no list of all methods that are asked at once.
bool asksForFile(const MethodCard& card);
/// Value of an option, its fallback where the context does not name it.
std::string_view optionOf(const MethodCard& card, const EstimateContext& context, std::string_view key);

std::span<const Method> builtinMethods();
/// By its id, or by a choice that names it (`loop-nest(fusion=on)`); null if there is none.
const Method* findMethod(std::string_view idOrChoice);

/// A method as lists name it: an id, or an id with options, `tile-hybrid(launch=graph, fusion=off)`. Two fillings of
/// one method may stand side by side.
struct MethodChoice {
    std::string id;
    OptionValues options;
};
/// Fails with `method.unknown` or `method.bad-option`, naming what there is.
Expected<MethodChoice> methodChoice(std::string_view text, std::span<const Method> methods);
/// Options at their fallback are left out, the others stand in the card's order.
std::string toText(const MethodChoice& choice);
std::string toText(const MethodCard& card, const OptionValues& options);
/// Commas separate methods, but not between parentheses. Empty parts are kept, spaces at the ends are not.
std::vector<std::string> splitMethods(std::string_view list);
/// For people: the card's title, with the options of the choice (`Loop-nest model (fusion=on)`); the text itself if no
/// method goes by it.
std::string methodTitle(std::string_view choice);
/// Runs a method with the context's options and fills in what is common: the canonical text of the choice, cost,
/// provenance, checks in debug builds (interval contains the latency,
/// columns have equal lengths). Exceptions of third parties become diagnostics.
Expected<Estimate> estimate(const Method& method, const Scenario& scenario, EstimateContext& context);

}  // namespace orrery
