#include "store/judging/method_facts.h"

#include "evaluation/assumptions.h"
#include "evaluation/fit_cost.h"
#include "evaluation/holdout.h"
#include "evaluation/reference_checks.h"
#include "evaluation/shipped_rows.h"
#include "hardware/views/gpu_view.h"
#include "learning/calibration_hash.h"
#include "methods/adapter/adapter_method.h"
#include "workload/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

namespace orrery {

namespace {

constexpr std::size_t askedTwice = 4;  ///< rows
/// s of an answer, by what its card states: what is dearer is not asked again. Never by a clock: on a machine half as
/// fast the point would be lost, and the same numbers would have other bytes.
constexpr double dearestTwice = 0.25;

const Adapter* adapterOf(std::string_view id) {
    for (const AdapterPtr& adapter : shippedAdapters().all) {
        if (adapter->id == id) return adapter.get();
    }
    return nullptr;
}

struct Learned {
    std::set<std::string> sources;
    std::vector<DeviceFingerprint> devices;
    std::size_t sections = 0, unnamed = 0, unrepeated = 0, unshipped = 0;
    bool devicesKnown = true;
};

Learned learnedBy(const std::vector<std::string>& methods, const CalibrationSet& calibrations) {
    Learned learned;
    for (const auto& calibration : calibrations.all()) {
        if (std::find(methods.begin(), methods.end(), calibration->method) == methods.end()) continue;
        for (const CalibrationSection& section : calibration->sections) {
            ++learned.sections;
            bool named = !section.sources.empty(), ships = named;
            for (const CalibrationSource& source : section.sources) {
                learned.sources.insert(source.name);
                named = named && !source.name.empty() && !source.hash.empty();
                ships = ships && rowsShip(source, section.split);
            }
            learned.unnamed += named ? 0 : 1;
            learned.unshipped += ships ? 0 : 1;
            // Without a holdout all rows of the table were fitted.
            learned.unrepeated += readHoldout(section.split) || section.split == toText(Holdout()) ? 0 : 1;
            if (section.device) learned.devices.push_back(*section.device);
            learned.devices.insert(learned.devices.end(), section.devices.begin(), section.devices.end());
            learned.devicesKnown = learned.devicesKnown && (section.device || !section.devices.empty());
        }
    }
    return learned;
}

/// What the rows behind an evaluation are.
struct Judging {
    std::size_t rows = 0, measured = 0, shipped = 0, unseen = 0;
};

/// Whether the device, or the first one of a system, is one of these.
bool isAmong(const std::string& id, const std::vector<DeviceFingerprint>& devices) {
    if (devices.empty()) return false;
    const auto near = [](double a, double b) { return std::abs(a - b) <= 0.01 * std::abs(b); };
    const auto hardware = catalogueHardware(id);
    if (!hardware) return false;
    const auto gpu = gpuView(*hardware);
    return std::any_of(devices.begin(), devices.end(), [&](const DeviceFingerprint& each) {
        return each.id == id || (gpu && near(gpu->sms, each.sms) && near(gpu->dramBandwidth, each.dramBandwidth));
    });
}

Judging judgingOf(const Evaluation* evaluation, std::span<const ReferenceTable> tables,
                  const std::vector<DeviceFingerprint>& fitted) {
    Judging judging;
    if (!evaluation) return judging;
    std::map<std::string, bool> known;
    std::set<std::string> shipped;
    for (const ReferenceTable& table : shippedReferences()) shipped.insert(table.hash);
    for (const RowRef ref : evaluation->rows.ref) {
        const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
        const ReferenceRow& row = table.rows[static_cast<std::size_t>(ref.row)];
        ++judging.rows;
        judging.measured += table.kind == ReferenceKind::Measured ? 1 : 0;
        judging.shipped += shipped.contains(table.hash) ? 1 : 0;
        const std::string& device = table.devices[static_cast<std::size_t>(row.device)].catalogue;
        const auto [at, fresh] = known.try_emplace(device);
        if (fresh) at->second = isAmong(device, fitted);
        judging.unseen += at->second ? 0 : 1;
    }
    return judging;
}

std::string lacking(std::initializer_list<std::pair<const char*, bool>> parts) {
    std::string words;
    for (const auto& [word, given] : parts)
        if (!given) words.append(words.empty() ? "" : ", ").append(word);
    return words;
}

/// Of an answer about the row; nothing where the card cannot say.
std::optional<Seconds> statedCost(const Method& method, const ReferenceTable& table, std::size_t row) {
    const ReferenceRow& asked = table.rows[row];
    auto hardware = catalogueHardware(table.devices[static_cast<std::size_t>(asked.device)].catalogue);
    if (!hardware) return std::nullopt;
    if (!table.models.empty()) {
        const ModelRow& model = table.models[row];
        const auto workload = loadWorkload(model.recipe);
        if (!workload) return std::nullopt;
        return expectedCost(method, Scenario{std::move(hardware), *workload, model.plan, model.task});
    }
    auto workload = std::make_shared<Workload>();
    workload->id = workload->name = "one kernel";
    addOperator(workload->graph, asked.kernel, toText(asked.kernel));
    workload->costs = costTable(workload->graph);
    return expectedCost(method, Scenario{std::move(hardware), std::move(workload)});
}

bool statesIntervals(const EvaluatedRows& rows) {
    return !std::equal(rows.low.begin(), rows.low.end(), rows.high.begin(), rows.high.end());
}

bool sameBits(const EvaluatedRows& a, const EvaluatedRows& b) {
    const auto same = [](const std::vector<double>& x, const std::vector<double>& y) {
        return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
    };
    return a.ref == b.ref && same(a.predicted, b.predicted) && same(a.low, b.low) && same(a.high, b.high);
}

}  // namespace

int MethodFacts::points() const {
    return static_cast<int>(std::count_if(reproducibility.begin(), reproducibility.end(),
                                          [](const ReproducibilityPoint& point) { return point.given; }));
}

ReproducibilityPoint FactFinder::sameBytes(std::string_view asked, const Evaluation* evaluation,
                                           std::span<const ReferenceTable> tables, const CalibrationSet& calibrations) {
    const std::string name(reproducibilityPoints.back());
    const std::string key = fmt::format("{} {}", asked, calibrationsHash(calibrations));
    {
        const std::scoped_lock held(lock_);
        if (const auto found = known_.find(key); found != known_.end()) return found->second;
    }
    const Method* method = findMethod(asked);
    if (!evaluation || !method || evaluation->rows.size() == 0)
        return {name, false, "it answers none of these rows, so that it cannot be asked twice"};
    std::vector<RowRef> few;
    const std::size_t rows = evaluation->rows.size();
    for (std::size_t i = 0; i < std::min(askedTwice, rows); ++i) {
        const RowRef ref = evaluation->rows.ref[i * rows / std::min(askedTwice, rows)];
        const auto stated =
            statedCost(*method, tables[static_cast<std::size_t>(ref.table)], static_cast<std::size_t>(ref.row));
        if (stated && stated->value <= dearestTwice) few.push_back(ref);
    }
    if (few.empty()) return {name, false, "not asked twice: an answer takes too long, by what its card states"};
    const auto ask = [&](int threads) {
        const auto executor = makeThreadExecutor(threads);
        EvaluateOptions options;
        options.executor = executor.get();
        options.calibrations = &calibrations;
        if (const auto choice = methodChoice(asked, builtinMethods())) options.options = choice->options;
        return evaluate(*method, tables, few, options);
    };
    const auto one = ask(1), two = ask(2);
    const bool same = one && two && sameBits(one->rows, two->rows);
    ReproducibilityPoint point{
        name, same,
        same ? fmt::format("{} rows asked on one thread and on two", one->rows.size()) : "two askings differ"};
    const std::scoped_lock held(lock_);
    return known_.emplace(key, std::move(point)).first->second;
}

MethodFacts FactFinder::facts(std::string_view asked, const MethodCard& card, const Evaluation* evaluation,
                              std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                              const CalibrationSet& calibrations, bool imported, bool leaveDeviceOut) {
    MethodFacts facts;
    const Adapter* adapter = imported ? nullptr : adapterOf(card.id);
    const AdapterFound found = adapter && !adapter->program.recordedOnly ? lookFor(*adapter) : AdapterFound();
    const std::vector<std::string> parts = imported ? std::vector<std::string>() : standsOn(card, asked, tables, rows);
    const Learned learned = learnedBy(parts, calibrations);
    // What another program was fitted to is its own affair: nothing here proves that it is nothing.
    const bool foreign = imported || adapter;
    if (!foreign) {
        facts.samples = samplesBehindAll(card, asked, tables, rows, calibrations);
        facts.fitting = fittingTime(card, asked, tables, rows, calibrations);
    }
    for (const MethodOption& option : card.options)
        if (option.needed && !adapter) facts.files.emplace_back(option.key);
    if (adapter) facts.programs = adapter->program.find;
    if (adapter && adapter->program.recordedOnly) facts.files.emplace_back("recorded output");
    if (imported) facts.files.emplace_back("a file of its results");

    if (imported) {
        facts.difficulty = "not stated";
        facts.difficultyWhy = "another tool made these results; what it needs is not in their file";
    } else if (adapter) {
        facts.difficulty = "program";
        facts.difficultyWhy = adapter->program.install;
    } else if (!facts.files.empty()) {
        facts.difficulty = "own data";
        facts.difficultyWhy = fmt::format("answers nothing without a file of yours ({})", facts.files.front());
    } else if (learned.sections > 0) {
        facts.difficulty = "fitted";
        facts.difficultyWhy = learned.sections == 1
                                  ? std::string("a section fitted to measurements ships with it")
                                  : fmt::format("{} sections fitted to measurements ship with it", learned.sections);
    } else {
        facts.difficulty = "drawing";
        facts.difficultyWhy = "the drawing and the workload are enough";
    }

    const auto give = [&](std::string_view name, bool given, std::string why) {
        facts.reproducibility.push_back({std::string(name), given, std::move(why)});
    };
    const auto& names = reproducibilityPoints;
    const bool runs = imported ? false : adapter ? found.found() : facts.files.empty();
    give(names[0], runs,
         runs       ? std::string("nothing has to be brought along")
         : imported ? "only its results are here"
         : adapter  ? (adapter->program.recordedOnly ? std::string("only recorded output is read") : found.why)
                    : facts.difficultyWhy);
    const std::string version = imported ? std::string() : adapter ? found.version : std::string(card.version);
    const std::string absent = lacking({{"its version", !version.empty()},
                                        {"papers", !card.lineage.empty()},
                                        {"its limits", !imported && !card.failureMode.empty()}});
    give(names[1], absent.empty(),
         absent.empty() ? "version, papers and limits are on its card" : "not said: " + absent);
    // Of nothing fitted nothing can be missing.
    const auto fitted = [&](std::string_view name, std::size_t without, const std::string& all, const char* lacks) {
        give(name, !foreign && without == 0,
             foreign                 ? std::string("not known")
             : learned.sections == 0 ? "nothing was fitted"
             : without == 0          ? all
                                     : fmt::format("{} of {} sections {}", without, learned.sections, lacks));
    };
    fitted(names[2], learned.unnamed, fmt::format("{} tables by name and hash", learned.sources.size()),
           "do not name the rows behind them");
    fitted(names[3], learned.unshipped, "every row behind it ships", "were fitted to rows that do not ship");
    fitted(names[4], learned.unrepeated, "every section states the rule that chose its rows",
           "say in words alone which rows they were fitted to");
    const Judging judging =
        judgingOf(evaluation, tables, leaveDeviceOut ? std::vector<DeviceFingerprint>() : learned.devices);
    const auto judged = [&](std::string_view name, bool given, std::string why) {
        give(name, judging.rows > 0 && given,
             judging.rows > 0 ? std::move(why) : "it predicts none of these references");
    };
    judged(names[5], judging.shipped == judging.rows, fmt::format("{} of {} rows ship", judging.shipped, judging.rows));
    judged(names[6], 2 * judging.measured >= judging.rows,
           fmt::format("{} of {} rows were measured, not simulated or summed", judging.measured, judging.rows));
    const bool devicesKnown = !foreign && (leaveDeviceOut || learned.devicesKnown);
    judged(names[7], devicesKnown && judging.unseen >= enoughUnseen,
           devicesKnown ? fmt::format("{} of {} rows are of devices that nothing of it was fitted to", judging.unseen,
                                      judging.rows)
                        : std::string("it does not say on which devices it was fitted"));
    const bool intervals = evaluation && statesIntervals(evaluation->rows);
    judged(names[8], intervals && evaluation->figures.coverage90 >= intervalHolds,
           intervals ? fmt::format("{:.1f} % of {} rows lie inside its 90 % intervals",
                                   100 * evaluation->figures.coverage90, judging.rows)
                     : std::string("no interval has been seen"));
    facts.reproducibility.push_back(
        foreign ? ReproducibilityPoint{std::string(names[9]), false, "another program is not asked twice"}
                : sameBytes(asked, evaluation, tables, calibrations));
    return facts;
}

}  // namespace orrery
