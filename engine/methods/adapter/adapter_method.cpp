#include "methods/adapter/adapter_method.h"

#include "base/text/words.h"
#include "base/unit.h"
#include "hardware/files/catalogue.h"
#include "methods/adapter/adapter_run.h"
#include "methods/adapter/adapter_writers.h"
#include "methods/answer/answer.h"
#include "methods/answer/parts_used.h"
#include "methods/model/compose.h"
#include "methods/model/kernel_bound.h"
#include "methods/model/model_methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>

namespace orrery {

namespace {

/// What the pricers of one answer did, from any thread.
struct AdapterLedger {
    std::mutex mutex;
    AdapterTally tally;
    std::vector<std::string> missing;  // runs that recorded output does not have

    void add(const AdapterAnswer& answer) {
        const std::scoped_lock lock(mutex);
        answer.recorded ? ++tally.recorded : ++tally.runs;
        tally.seconds += answer.run.seconds;
        tally.peakBytes = std::max(tally.peakBytes, answer.run.peakBytes);
    }
};
using LedgerPtr = std::shared_ptr<AdapterLedger>;
/// Of the answer that this thread is giving; pricers are bound on it.
thread_local LedgerPtr openLedger;

std::string optionText(const OptionValues& options, std::string_view key) {
    const auto found = options.find(key);
    return found == options.end() ? std::string() : found->second;
}

/// As it stands, else in the folder of presets, so that examples can name theirs.
std::string recordedFolder(const std::string& path) {
    std::error_code problem;
    if (path.empty() || std::filesystem::exists(path, problem) || std::filesystem::path(path).is_absolute())
        return path;
    const std::string shipped = presetsFolder() + "/" + path;
    return std::filesystem::exists(shipped, problem) ? shipped : path;
}

struct AskedProgram {
    AdapterUse use;
    AdapterFound found;
};

Expected<AskedProgram> askedProgram(const Adapter& adapter, const OptionValues& options) {
    AskedProgram asked;
    asked.use.recorded = recordedFolder(optionText(options, "recorded"));
    std::error_code problem;
    if (!asked.use.recorded.empty() && !std::filesystem::is_directory(asked.use.recorded, problem))
        return fail("adapter.nothing-recorded", "there is no such folder of recorded output", "a folder", {},
                    Place{asked.use.recorded, 0, 0, {}});
    asked.use.keep = optionText(options, "keep");
    asked.use.mostSeconds = adapter.mostSeconds;
    if (const std::string limit = optionText(options, "limit"); !limit.empty()) {
        const auto seconds = parseMeasure(limit, Dimension::Time);
        if (!seconds || !(seconds->si > 0))
            return fail("method.bad-option", fmt::format("`{}` is no limit of time", limit), "a time, such as 60 s");
        asked.use.mostSeconds = seconds->si;
    }
    if (!asked.use.recorded.empty()) return asked;
    asked.found = lookFor(adapter, optionText(options, "program"));
    if (!asked.found.found())
        return fail(
            "adapter.not-found", fmt::format("{} cannot be asked: {}", adapter.title, asked.found.why),
            adapter.program.variable.empty()
                ? std::string("the program, or its recorded output")
                : fmt::format("the program, its path in {}, or its recorded output", adapter.program.variable),
            fmt::format("{}{}(recorded=FOLDER) reads what it said elsewhere",
                        adapter.program.install.empty() ? std::string() : adapter.program.install + "; ", adapter.id));
    asked.use.program = asked.found.program;
    return asked;
}

std::string whoSays(const Adapter& adapter, const AskedProgram& asked) {
    if (!asked.use.recorded.empty())
        return fmt::format("Recorded output of {} in {}: it was not run for this answer", adapter.title,
                           asked.use.recorded);
    return fmt::format("{}{}{} says it ({}), asked as {} describes", adapter.title,
                       asked.found.version.empty() ? "" : " ", asked.found.version, asked.found.program, adapter.file);
}

std::string noError(const Adapter& adapter) {
    return fmt::format("no error of {} against measurements is known here: a factor of two either way", adapter.title);
}

/// Equal runs are made once.
struct RunSlot {
    std::mutex mutex;
    std::optional<AdapterAnswer> answer;
    bool known = false;
};

class AdapterPricer final : public SlowPricer {
public:
    AdapterPricer(AdapterPtr adapter, AskedProgram asked, DeviceRef place, AdapterDevice device, LedgerPtr ledger)
        : adapter_(std::move(adapter)),
          asked_(std::move(asked)),
          place_(std::move(place)),
          device_(std::move(device)),
          ledger_(std::move(ledger)) {
        setDevice(values_, device_);
    }

    using SlowPricer::price;
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const override {
        if (context.stop.stop_requested()) return fail("study.cancelled", "cancelled");
        KernelPrice price = rooflinePrice(device_.view, kernel);
        const auto& takes = adapter_->takes;
        if (std::find(takes.begin(), takes.end(), kernel.kind) == takes.end()) return price;
        const std::string name = runName(toText(kernel));
        const auto slot = slotOf(name);
        const std::scoped_lock lock(slot->mutex);
        if (!slot->known) {
            AdapterValues values = values_;
            setKernel(values, device_, kernel);
            auto answer = runAdapter(*adapter_, asked_.use, std::move(values), name,
                                     kernelWriter(place_, kernel, context.stop), context.stop);
            if (!answer) return Unexpected(std::move(answer.error()));
            slot->answer = std::move(*answer);
            slot->known = true;
            if (slot->answer) {
                ledger_->add(*slot->answer);
            } else {
                const std::scoped_lock open(ledger_->mutex);
                ledger_->missing.push_back(name);
            }
        }
        if (!slot->answer) return price;
        price.seconds = price.low = price.high = slot->answer->seconds;
        price.joules = slot->answer->joules.value_or(-1);
        price.priced = true;
        price.errorKnown = false;
        price.stands = true;  // as the program says it, whatever the drawing's peaks say
        price.domain = DomainVerdict::Inside;
        price.bound = {};
        if (price.seconds < leastSeconds(device_.view, kernel) * (1 - 1e-9)) price.note = 0;
        return price;
    }
    std::vector<KernelNote> notes() const override {
        return {{"less than the peak rates of the drawing allow, as the program says it", "adapter.below-bound",
                 "Do the program and the drawing mean the same device?"}};
    }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> said{whoSays(*adapter_, asked_)};
        if (!adapter_->tried.empty())
            said.push_back(fmt::format("Adapter of {}: {}", adapter_->title, adapter_->tried));
        return said;
    }
    std::string basis() const override {
        std::string text = noError(*adapter_);
        text.front() = 'N';
        return text;
    }
    bool launchInside() const override { return true; }
    PartsRead used() const override { return device_.array ? device_.array->used : PartsRead{}; }
    double correlation(KernelKind) const override { return 1; }

private:
    std::shared_ptr<RunSlot> slotOf(const std::string& name) const {
        const std::scoped_lock lock(guard_);
        auto& slot = slots_[name];
        if (!slot) slot = std::make_shared<RunSlot>();
        return slot;
    }

    AdapterPtr adapter_;
    AskedProgram asked_;
    DeviceRef place_;
    AdapterDevice device_;
    LedgerPtr ledger_;
    AdapterValues values_;
    mutable std::mutex guard_;
    mutable std::map<std::string, std::shared_ptr<RunSlot>> slots_;
};

void addTally(Estimate& answer, const Adapter& adapter, const AdapterTally& tally) {
    if (tally.runs == 0) return;
    const std::string of = fmt::format(" of {}", adapter.title);
    answer.figures.push_back({"Runs" + of, static_cast<double>(tally.runs), Dimension::Count});
    answer.figures.push_back({"Run time" + of, tally.seconds, Dimension::Time});
    if (tally.peakBytes > 0) answer.figures.push_back({"Peak memory" + of, tally.peakBytes, Dimension::Data});
}

Diagnostic recordedNote(const Adapter& adapter, const std::string& folder) {
    return warning("adapter.recorded", fmt::format("{} was not run: this is its recorded output", adapter.title),
                   "It answers for the device and version that it was recorded with", Place{folder, 0, 0, {}});
}

Unexpected nothingRecorded(const Adapter& adapter, const std::string& folder, const std::vector<std::string>& missing) {
    std::vector<std::string> some(
        missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, missing.size())));
    return fail(
        "adapter.nothing-recorded",
        some.empty() ? fmt::format("{} prices none of these kernels", adapter.title)
                     : fmt::format("the folder has no output of {} for this question", adapter.title),
        some.empty() ? std::string("a workload with kernels that it takes")
                     : fmt::format("a folder for each run, such as {}", fmt::join(some, ", ")),
        fmt::format("`orrery-cli adapters {} --inputs FOLDER …` writes these folders with their inputs", adapter.id),
        Place{folder, 0, 0, {}});
}

Expected<Estimate> estimateKernels(const KernelMethod& kernels, const Adapter& adapter, const MethodCard& card,
                                   const Scenario& scenario, EstimateContext& context) {
    const LedgerPtr before = std::exchange(openLedger, std::make_shared<AdapterLedger>());
    const LedgerPtr ledger = openLedger;
    auto answer = estimateComposed(scenario, kernels, card, context);
    openLedger = before;
    if (!answer) return answer;
    const std::string recorded = optionText(context.options, "recorded");
    if (ledger->tally.runs + ledger->tally.recorded == 0) return nothingRecorded(adapter, recorded, ledger->missing);
    if (ledger->tally.recorded > 0) answer->warnings.push_back(recordedNote(adapter, recorded));
    addTally(*answer, adapter, ledger->tally);
    return answer;
}

Expected<Estimate> estimateOnce(const Adapter& adapter, const Scenario& scenario, EstimateContext& context) {
    auto asked = askedProgram(adapter, context.options);
    if (!asked) return Unexpected(std::move(asked.error()));
    auto place = firstDevice(scenario.hardware);
    if (!place) return Unexpected(std::move(place.error()));
    auto device = adapterDevice(*place, adapter);
    if (!device) return Unexpected(std::move(device.error()));
    AdapterValues values;
    setDevice(values, *device);
    setQuestion(values, scenario);
    const std::string name = runName(scenario.name());
    auto said =
        runAdapter(adapter, asked->use, std::move(values), name, questionWriter(scenario, context), context.stop);
    if (!said) return Unexpected(std::move(said.error()));
    if (!*said) return nothingRecorded(adapter, asked->use.recorded, {name});
    const AdapterAnswer& program = **said;
    Estimate answer;
    answer.latency = Seconds(program.seconds);
    std::string basis = noError(adapter);
    basis.front() = 'N';
    answer.interval = {answer.latency, answer.latency, IntervalKind::StatedError, std::move(basis)};
    if (program.joules) answer.energy = Joules(*program.joules);
    answer.figures = program.figures;
    resizeColumns(answer.operators, scenario.workload->costs.size());
    answer.levels = {device->view.main().name};
    answer.assumptions = {whoSays(adapter, *asked),
                          fmt::format("{} tells the whole alone: no operator has a time of its own", adapter.title)};
    if (!adapter.tried.empty())
        answer.assumptions.push_back(fmt::format("Adapter of {}: {}", adapter.title, adapter.tried));
    answer.warnings = scenario.workload->warnings;
    if (program.recorded) answer.warnings.push_back(recordedNote(adapter, asked->use.recorded));
    addParts(answer, *scenario.hardware, device->view.used);
    if (!program.recorded) addTally(answer, adapter, {1, 0, program.run.seconds, program.run.peakBytes});
    return answer;
}

std::vector<MethodOption> adapterOptions(const Adapter* adapter) {
    std::vector<MethodOption> options{
        {.key = "recorded",
         .title = "Recorded output",
         .fallback = "",
         .meaning = "A folder with what the program said elsewhere: it is read, and the program is not run."},
        {.key = "program",
         .title = "Program",
         .fallback = "",
         .meaning = "Where the program is; without it the search path and the adapter's variable are looked at."},
        {.key = "keep",
         .title = "Keep runs in",
         .fallback = "",
         .meaning = "A folder in which inputs and outputs of all runs stay; it can be read as recorded output."},
        {.key = "limit",
         .title = "Limit of a run",
         .fallback = "",
         .meaning = "A run that takes longer is stopped: `60 s`."}};
    if (!adapter) {
        options.insert(options.begin(), {.key = "file",
                                         .title = "Adapter",
                                         .fallback = "",
                                         .meaning = "An adapter's file, or the id of one that ships.",
                                         .needed = true});
        return options;
    }
    const bool chakra = std::any_of(adapter->inputs.begin(), adapter->inputs.end(),
                                    [](const AdapterInput& input) { return input.writer == "chakra"; });
    if (chakra)
        options.push_back({.key = "compute",
                           .title = "Kernels",
                           .choices = {"tile-hybrid", "tile-wave", "forest"},
                           .fallback = "tile-hybrid",
                           .meaning = "Which kernel method prices computing in the traces that the program runs.",
                           .slot = MethodLevel::Kernel});
    return options;
}

MethodCard cardOf(const Adapter& adapter) {
    MethodCard card{
        .id = adapter.id,
        .title = adapter.title,
        .methodology = adapter.methodology,
        .level = adapter.level,
        .summary = adapter.summary,
        .failureMode = adapter.fails.empty() ? std::string_view("Not known here.") : std::string_view(adapter.fails),
        .version = adapter.version,
        .live = false,
        .options = adapterOptions(&adapter),
        .tasks = adapter.tasks};
    for (const std::string& each : adapter.platforms) card.platforms.push_back(each);
    for (const std::string& each : adapter.needs) card.needs.push_back(each);
    if (card.needs.empty()) card.needs = {"The program, or its recorded output"};
    for (const std::string& each : adapter.lineage) card.lineage.push_back(each);
    card.cost.fixed = std::min(0.99, adapter.secondsEach);
    if (adapter.level == MethodLevel::Kernel) card.cost.perKernel = std::min(0.99, adapter.secondsEach);
    return card;
}

KernelMethod kernelsOf(const Adapter& adapter) {
    KernelMethod kernels{.id = adapter.id, .version = adapter.version, .binder = bindAdapter};
    kernels.options = adapterOptions(&adapter);
    kernels.card = cardOf(adapter);
    return kernels;
}

Expected<Estimate> estimateByFile(const MethodCard& card, const Scenario& scenario, EstimateContext& context) {
    const std::string file = optionText(context.options, "file");
    if (file.empty())
        return fail("adapter.no-file", "`adapter` asks another program, and none is described",
                    "an adapter's file, or the id of one that ships", "adapter(file=FILE)");
    auto adapter = findAdapter(file);
    if (!adapter) return Unexpected(std::move(adapter.error()));
    if ((*adapter)->level == MethodLevel::Kernel) {
        const KernelMethod kernels{.id = card.id, .version = (*adapter)->version, .binder = bindAdapter};
        return estimateKernels(kernels, **adapter, card, scenario, context);
    }
    const auto& tasks = (*adapter)->tasks;
    if (std::find(tasks.begin(), tasks.end(), kindOf(scenario.task)) == tasks.end())
        return fail("method.not-applicable",
                    fmt::format("{} does not answer a {}", (*adapter)->title, toText(kindOf(scenario.task))),
                    "a task of its adapter's `tasks`");
    return estimateOnce(**adapter, scenario, context);
}

MethodCard anyAdapterCard() {
    return {
        .id = "adapter",
        .title = "Another program",
        .methodology = Methodology::Hybrid,
        .level = MethodLevel::Kernel,
        .summary =
            "Asks a program that an adapter's file describes, or reads what it said elsewhere. Ask it to set "
            "your own tool beside the methods that are here.",
        .platforms = {"Any"},
        .needs = {"An adapter's file", "The program, or its recorded output"},
        .failureMode = "As the program that it asks; kernels that the program does not take stand at their roofline.",
        .lineage = {"the program's own"},
        .cost = {.fixed = 0.1, .perKernel = 0.1},
        .version = "1",
        .live = false};
}

struct AdapterList {
    std::vector<KernelMethod> kernels;  // of `adapter`, and of each that is asked kernel by kernel
    std::vector<Method> methods;
};

const AdapterList& adapterList() {
    static const AdapterList list = [] {
        AdapterList made;
        KernelMethod any{.id = "adapter", .version = "1", .binder = bindAdapter};
        any.options = adapterOptions(nullptr);
        any.card = anyAdapterCard();
        Method byFile = modelMethod(any);
        byFile.estimate = [card = byFile.card](const Scenario& scenario, EstimateContext& context) {
            return estimateByFile(card, scenario, context);
        };
        made.methods.push_back(std::move(byFile));
        made.kernels.push_back(std::move(any));
        for (const AdapterPtr& adapter : shippedAdapters().all) {
            if (adapter->level != MethodLevel::Kernel) {
                made.methods.push_back(
                    {cardOf(*adapter), [adapter](const Scenario& scenario, EstimateContext& context) {
                         return estimateOnce(*adapter, scenario, context);
                     }});
                continue;
            }
            const KernelMethod kernels = kernelsOf(*adapter);
            Method method = modelMethod(kernels);
            method.estimate = [kernels, adapter, card = method.card](const Scenario& scenario,
                                                                     EstimateContext& context) {
                return estimateKernels(kernels, *adapter, card, scenario, context);
            };
            made.methods.push_back(std::move(method));
            made.kernels.push_back(kernels);
        }
        return made;
    }();
    return list;
}

}  // namespace

std::span<const Method> adapterMethods() {
    return adapterList().methods;
}

bool asksProgram(const Method& method) {
    const auto all = adapterMethods();
    return std::any_of(all.begin(), all.end(), [&](const Method& each) { return &each == &method; });
}

const KernelMethod* findAdapterKernels(std::string_view id) {
    for (const KernelMethod& each : adapterList().kernels)
        if (each.id == id) return &each;
    return nullptr;
}

Expected<KernelPricerPtr> bindAdapter(const DeviceRef& place, const BindContext& context) {
    const std::string named = optionText(context.options, "adapter");
    const std::string file = named.empty() ? optionText(context.options, "file") : named;
    if (file.empty())
        return fail("adapter.no-file", "`adapter` asks another program, and none is described",
                    "an adapter's file, or the id of one that ships", "adapter(file=FILE)");
    auto adapter = findAdapter(file);
    if (!adapter) return Unexpected(std::move(adapter.error()));
    if ((*adapter)->level != MethodLevel::Kernel)
        return fail("method.not-applicable", fmt::format("{} prices no kernels", (*adapter)->title),
                    "an adapter of the level kernel");
    auto device = adapterDevice(place, **adapter);
    if (!device) return Unexpected(std::move(device.error()));
    auto asked = askedProgram(**adapter, context.options);
    if (!asked) return Unexpected(std::move(asked.error()));
    const LedgerPtr ledger = openLedger ? openLedger : std::make_shared<AdapterLedger>();
    return KernelPricerPtr(
        std::make_shared<AdapterPricer>(std::move(*adapter), std::move(*asked), place, std::move(*device), ledger));
}

Expected<std::vector<std::string>> writeAdapterInputs(const Adapter& adapter, const Scenario& scenario,
                                                      const std::string& folder) {
    auto place = adapter.array ? firstArrayDevice(scenario.hardware) : firstDevice(scenario.hardware);
    if (!place) return Unexpected(std::move(place.error()));
    auto device = adapterDevice(*place, adapter);
    if (!device) return Unexpected(std::move(device.error()));
    AdapterValues values;
    setDevice(values, *device);
    std::vector<std::string> names;
    const auto serial = makeSerialExecutor();
    EstimateContext context{*serial};
    if (adapter.level != MethodLevel::Kernel) {
        setQuestion(values, scenario);
        names.push_back(runName(scenario.name()));
        auto written = writeInputs(adapter, values, folder, names.front(), questionWriter(scenario, context));
        if (!written) return Unexpected(std::move(written.error()));
        return names;
    }
    const auto list = kernelListOf(scenario.workload, {}, false);
    for (const Launch& launch : list->list.launches) {
        const auto& takes = adapter.takes;
        const std::string name = runName(toText(launch.kernel));
        if (std::find(takes.begin(), takes.end(), launch.kernel.kind) == takes.end()) continue;
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        AdapterValues of = values;
        setKernel(of, *device, launch.kernel);
        auto written = writeInputs(adapter, std::move(of), folder, name, kernelWriter(*place, launch.kernel, {}));
        if (!written) return Unexpected(std::move(written.error()));
        names.push_back(name);
    }
    return names;
}

}  // namespace orrery
