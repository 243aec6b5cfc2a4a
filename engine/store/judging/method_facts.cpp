#include "store/judging/method_facts.h"

#include "evaluation/assumptions.h"
#include "evaluation/holdout.h"
#include "evaluation/reference_checks.h"
#include "learning/calibration_hash.h"
#include "methods/adapter/adapter_method.h"
#include "workload/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

namespace orrery {

namespace {

constexpr std::size_t askedTwice = 4;  ///< rows
/// s of an answer, by what its card states: what is dearer is not asked again. Never by a clock: on a machine half as
/// fast the point would be lost, and the same numbers would have other bytes.
constexpr double dearestTwice = 0.25;
constexpr std::string_view packages = "Orrery builds from Debian packages alone";

const Adapter* adapterOf(std::string_view id) {
    for (const AdapterPtr& adapter : shippedAdapters().all) {
        if (adapter->id == id) return adapter.get();
    }
    return nullptr;
}

struct Learned {
    std::set<std::string> sources;
    std::size_t sections = 0, unnamed = 0, unsplit = 0;
};

Learned learnedBy(const std::vector<std::string>& methods, const CalibrationSet& calibrations) {
    Learned learned;
    for (const auto& calibration : calibrations.all()) {
        if (std::find(methods.begin(), methods.end(), calibration->method) == methods.end()) continue;
        for (const CalibrationSection& section : calibration->sections) {
            ++learned.sections;
            bool named = !section.sources.empty();
            for (const CalibrationSource& source : section.sources) {
                learned.sources.insert(source.name);
                named = named && !source.name.empty() && !source.hash.empty();
            }
            learned.unnamed += named ? 0 : 1;
            learned.unsplit += readHoldout(section.split) || !section.split.empty() ? 0 : 1;
        }
    }
    return learned;
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
                              const CalibrationSet& calibrations, bool imported) {
    MethodFacts facts;
    const Adapter* adapter = imported ? nullptr : adapterOf(card.id);
    const AdapterFound found = adapter && !adapter->program.recordedOnly ? lookFor(*adapter) : AdapterFound();
    const std::vector<std::string> parts = imported ? std::vector<std::string>() : standsOn(card, asked, tables, rows);
    const Learned learned = learnedBy(parts, calibrations);
    if (!imported) facts.samples = samplesBehindAll(card, asked, tables, rows, calibrations);
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
        facts.difficultyWhy = fmt::format("{} sections fitted to measurements ship with it", learned.sections);
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
    const bool packaged = adapter && adapter->program.install.find("apt install") != std::string::npos;
    give(names[1], !imported && (!adapter || packaged),
         imported  ? std::string("not known")
         : adapter ? adapter->program.install
                   : std::string(packages));
    const std::string version = imported ? std::string() : adapter ? found.version : std::string(card.version);
    give(names[2], !version.empty(), version.empty() ? "no version is known" : "version " + version);
    give(names[3], !card.lineage.empty(),
         card.lineage.empty() ? std::string("none") : fmt::format("{} on its card", card.lineage.size()));
    give(names[4], !imported && !card.failureMode.empty(),
         imported || card.failureMode.empty() ? "its limits are not stated" : "its card says where it breaks");
    give(names[5], !imported && learned.unnamed == 0,
         imported                ? std::string("not known")
         : learned.sections == 0 ? "nothing was fitted"
         : learned.unnamed == 0  ? fmt::format("{} tables by name and hash", learned.sources.size())
                                 : fmt::format("{} of {} sections do not say", learned.unnamed, learned.sections));
    give(names[6], !imported && learned.unsplit == 0,
         imported                ? std::string("not known")
         : learned.sections == 0 ? "nothing was fitted"
         : learned.unsplit == 0  ? "every section says which rows were kept for the test"
                                 : fmt::format("{} of {} sections do not say", learned.unsplit, learned.sections));
    const std::size_t judged = evaluation ? evaluation->rows.size() : 0;
    give(names[7], judged > 0,
         judged > 0 ? fmt::format("judged by {} rows of these references", judged)
                    : "it prices none of these references");
    const bool intervals = evaluation && statesIntervals(evaluation->rows);
    give(names[8], intervals, intervals ? "of every answer" : "no interval has been seen");
    facts.reproducibility.push_back(
        imported || adapter ? ReproducibilityPoint{std::string(names[9]), false, "another program is not asked twice"}
                            : sameBytes(asked, evaluation, tables, calibrations));
    return facts;
}

}  // namespace orrery
