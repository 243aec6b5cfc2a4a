#include "evaluation/row_pricing.h"

#include "base/thread_clock.h"
#include "evaluation/left_out.h"
#include "evaluation/reference_checks.h"
#include "hardware/views/device_ref.h"
#include "learning/section_price.h"
#include "methods/model/foreign_stack.h"
#include "workload/costs.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace orrery {

namespace {

constexpr std::size_t kernelsPerStep = 1024;
constexpr std::size_t operatorsPerGraph = 256;
constexpr std::size_t modelsPerStep = 4;

struct DeviceRows {
    std::string id;                    // of the catalogue
    std::vector<std::size_t> numbers;  // into the rows asked
};

// What one row got; seconds 0 where it is not priced. Where no error is known, the same factor either way as in an
// answer about a whole model.
struct Answer {
    double seconds = 0, low = 0, high = 0;
    DomainVerdict domain = DomainVerdict::Inside;
    double flops = 0, bytes = 0;  // of a whole model
    double cost = 0;              // seconds of a processor, caches filled; 0: not timed
    bool given() const { return seconds > 0 && std::isfinite(seconds); }
    void guess() {
        if (low < high) return;
        low = seconds / unmeasuredFactor, high = seconds * unmeasuredFactor;
    }
    void doubt(const ForeignStack& stack, const Kernel& kernel) {
        KernelPrice price;
        price.seconds = seconds, price.low = low, price.high = high, price.domain = domain, price.priced = true;
        stack.doubt(kernel, price);
        low = price.low, high = price.high, domain = price.domain;
    }
};

// What each software of the rows makes of the sections that speak for a device: another engine than they were learned
// from, or another version of it.
class Stacks {
public:
    Stacks(std::string_view method, const CalibrationSet& calibrations, const HardwarePtr& hardware)
        : method_(method), calibrations_(calibrations) {
        if (auto gpu = gpuView(*hardware)) gpu_ = std::move(*gpu);
    }
    const ForeignStack& of(std::string_view software) const {
        const std::scoped_lock lock(mutex_);
        auto known = stacks_.find(software);
        if (known == stacks_.end()) {
            ForeignStack made = gpu_ ? ForeignStack(method_, calibrations_, *gpu_, software) : ForeignStack();
            known = stacks_.emplace(software, std::move(made)).first;
        }
        return known->second;
    }

private:
    std::string_view method_;
    const CalibrationSet& calibrations_;
    std::optional<GpuView> gpu_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, ForeignStack, std::less<>> stacks_;
};

// What may be asked about a device: all calibrations, or those that learned nothing from it.
CalibrationSet askedAbout(const std::string& device, const EvaluateOptions& options) {
    const CalibrationSet& all = options.calibrations ? *options.calibrations : shippedCalibrations().set;
    return options.leaveDeviceOut ? withoutDevice(all, device) : all;
}

// Prices numbers[begin, end) of one device into `answers` (one per row asked). Called from any thread.
using Pricing = std::function<void(std::span<const std::size_t>, std::vector<Answer>&)>;
// The pricing of one device. `fresh` makes one that remembers no kernel; null: the pricing clocks its answers itself.
struct Asking {
    Pricing price;
    std::function<Expected<Pricing>()> fresh = {};
};
// Makes the pricing of one device, or says why there is none.
using Binding = std::function<Expected<Asking>(const std::string& id)>;
// Makes the pricing of one device's whole models.
using ModelPricing = std::function<Asking(const std::string& id)>;

constexpr double worthRepeating = 5e-3;   // seconds: what is shorter is mostly the filling of caches at the first time
constexpr double longForAClock = 50e-6;   // seconds, of which reading the clock is some per cent
constexpr std::size_t clockedRows = 256;  // of one device: its median is well known by so many
constexpr int repeats = 3;

// Of processors: by this thread, and by other programs that a method had run and that have ended.
double workedSeconds() {
    rusage others{};
    getrusage(RUSAGE_CHILDREN, &others);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return threadSeconds() + seconds(others.ru_utime) + seconds(others.ru_stime);
}

// What workedSeconds() takes itself.
double clockSeconds() {
    static const double each = [] {
        constexpr int reads = 200;
        const double begun = workedSeconds();
        for (int i = 1; i < reads; ++i) (void)workedSeconds();
        return (workedSeconds() - begun) / reads;
    }();
    return each;
}

// Never 0, which would say that nothing was timed.
double clocked(const std::function<void()>& work) {
    const double begun = workedSeconds();
    work();
    return std::max(workedSeconds() - begun - clockSeconds(), 1e-9);
}

// Of a question that binds the method anew each time it is asked, so that only what all answers share is warm.
double clockedAnew(const std::function<void()>& work) {
    const double first = clocked(work);
    if (first >= worthRepeating) return first;
    std::array<double, repeats> all{};
    for (double& each : all) each = clocked(work);
    std::sort(all.begin(), all.end());
    return all[repeats / 2];
}

class RowPricer {
public:
    RowPricer(std::span<const ReferenceTable> tables, std::span<const RowRef> rows, const EvaluateOptions& options,
              Diagnostics& warnings)
        : tables_(tables), rows_(rows), options_(options), warnings_(warnings), answers_(rows.size()) {}

    const Kernel& kernel(std::size_t number) const { return rowOf(number).kernel; }
    bool hostTimed(std::size_t number) const { return tableOf(number).hostTimed; }
    std::string_view software(std::size_t number) const { return tableOf(number).software; }
    std::size_t table(std::size_t number) const { return static_cast<std::size_t>(rows_[number].table); }
    /// Null where the row is a kernel.
    const ModelRow* model(std::size_t number) const {
        const ReferenceTable& table = tableOf(number);
        return table.models.empty() ? nullptr : &table.models[static_cast<std::size_t>(rows_[number].row)];
    }

    /// `models` prices the rows that are whole models.
    Expected<PricedRows> run(const Binding& bind, std::size_t step, const ModelPricing& models) {
        if (rows_.empty()) {
            return fail("reference.no-rows", "there are no rows to evaluate", "at least one row",
                        "let --where accept some, or name other references");
        }
        std::optional<Diagnostic> refusal;
        for (const DeviceRows& device : devices()) {
            auto pricing = bind(device.id);
            if (!pricing) {
                auto note = pricing.error();
                note.severity = Severity::Warning;
                note.message += fmt::format("; {} rows on {} are left out", device.numbers.size(), device.id);
                warnings_.push_back(std::move(note));
                if (!refusal) refusal = std::move(pricing.error());
                if (options_.progress) options_.progress->advance(device.numbers.size());
                continue;
            }
            bound_ += device.numbers.size();
            std::vector<std::size_t> kernels, whole;
            for (const std::size_t number : device.numbers) (model(number) ? whole : kernels).push_back(number);
            price(*pricing, kernels, step);
            if (!whole.empty()) price(models(device.id), whole, modelsPerStep);
            if (options_.stop.stop_requested()) return fail("study.cancelled", "the evaluation was stopped");
        }
        if (bound_ == 0) {
            if (refusal) return tl::unexpected(std::move(*refusal));
            return fail("reference.unknown-device", "no row's device is in the hardware catalogue",
                        "a device of the catalogue", "give its id with --device, or add a preset");
        }
        return collect();
    }

private:
    const ReferenceTable& tableOf(std::size_t number) const {
        return tables_[static_cast<std::size_t>(rows_[number].table)];
    }
    const ReferenceRow& rowOf(std::size_t number) const {
        return tableOf(number).rows[static_cast<std::size_t>(rows_[number].row)];
    }
    std::vector<DeviceRows> devices() {
        std::map<std::string, std::vector<std::size_t>> byDevice;
        std::map<std::string, std::size_t> unknown;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const auto& device = tableOf(i).devices[static_cast<std::size_t>(rowOf(i).device)];
            if (device.catalogue.empty()) {
                ++unknown[device.name];
            } else {
                byDevice[device.catalogue].push_back(i);
            }
        }
        for (const auto& [name, count] : unknown) {
            warnings_.push_back(
                warning("reference.unknown-device",
                        fmt::format("the hardware catalogue has no '{}'; its {} rows are left out", name, count),
                        "give its id with --device, or add a preset"));
            if (options_.progress) options_.progress->advance(count);
        }
        std::vector<DeviceRows> all;
        for (auto& [id, numbers] : byDevice) all.push_back({id, std::move(numbers)});
        return all;
    }
    void price(const Asking& asking, const std::vector<std::size_t>& numbers, std::size_t step) {
        const std::size_t steps = (numbers.size() + step - 1) / step;
        const std::size_t stride = (numbers.size() + clockedRows - 1) / clockedRows;
        options_.executor->forEach(steps, [&](std::size_t s) {
            const std::size_t begin = s * step, end = std::min(begin + step, numbers.size());
            const auto ask = [&](std::size_t from, std::size_t to) {
                if (from < to) asking.price(std::span(numbers).subspan(from, to - from), answers_);
            };
            if (options_.stop.stop_requested()) return;
            std::size_t asked = begin;
            for (std::size_t i = begin; asking.fresh && i < end; ++i) {
                if (i % stride != 0) continue;
                ask(asked, i);
                asked = i + 1;
                const double spent = clocked([&] { ask(i, i + 1); });
                answers_[numbers[i]].cost = spent;
            }
            ask(asked, end);
            if (options_.progress) options_.progress->advance(end - begin);
        });
        if (asking.fresh && !options_.stop.stop_requested()) clockKernels(asking, numbers);
    }

    // Of the kernels that were clocked when they were asked: a refusal is no answer, nor is a kernel that an equal one
    // went before, for it may be remembered. What was too short for the clock is clocked together with others.
    void clockKernels(const Asking& asking, const std::vector<std::size_t>& numbers) {
        std::vector<std::size_t> counted;
        std::set<std::uint64_t> known;
        const auto count = [&](std::size_t number) {
            const bool counts = answers_[number].given() && known.insert(kernelIdentity(kernel(number))).second;
            if (counts) counted.push_back(number);
            return counts;
        };
        for (const std::size_t number : numbers) {
            if (answers_[number].cost > 0 && !count(number)) answers_[number].cost = 0;
        }
        // All that were clocked may have been refused.
        for (const std::size_t number : numbers) {
            if (counted.size() >= clockedRows) break;
            if (answers_[number].cost == 0) count(number);
        }
        std::vector<std::size_t> brief;
        for (const std::size_t number : counted)
            if (answers_[number].cost < longForAClock) brief.push_back(number);
        // The first of a device also fills what its other kernels share.
        if (counted.size() > 1 && answers_[counted.front()].cost >= longForAClock) answers_[counted.front()].cost = 0;
        if (!brief.empty()) clockTogether(asking, brief);
    }

    // Kernels that a pricing has not met, after one that warms it up.
    void clockTogether(const Asking& asking, std::span<const std::size_t> brief) {
        std::vector<std::size_t> ends{std::min<std::size_t>(1, brief.size() - 1)};
        double together = 0;
        for (std::size_t i = ends.front(); i < brief.size(); ++i) {
            together += answers_[brief[i]].cost;
            if (together < longForAClock && i + 1 < brief.size()) continue;
            ends.push_back(i + 1);
            together = 0;
        }
        std::vector<std::array<double, repeats>> spent(ends.size() - 1);
        for (int r = 0; r < repeats; ++r) {
            auto pricing = asking.fresh();
            if (!pricing) return;
            (*pricing)(brief.first(ends.front()), answers_);
            for (std::size_t c = 0; c + 1 < ends.size(); ++c) {
                const auto part = brief.subspan(ends[c], ends[c + 1] - ends[c]);
                const double all = clocked([&] { (*pricing)(part, answers_); });
                spent[c][static_cast<std::size_t>(r)] = all / static_cast<double>(part.size());
            }
        }
        for (const std::size_t number : brief.first(ends.front())) answers_[number].cost = 0;
        for (std::size_t c = 0; c < spent.size(); ++c) {
            std::sort(spent[c].begin(), spent[c].end());
            for (std::size_t i = ends[c]; i < ends[c + 1]; ++i) answers_[brief[i]].cost = spent[c][repeats / 2];
        }
    }
    // Quartiles over the answers to kernels, or to models where no kernel was answered.
    std::array<double, 3> costs() const {
        std::vector<double> kernels, models;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Answer& answer = answers_[i];
            if (answer.given() && answer.cost > 0) (model(i) ? models : kernels).push_back(answer.cost);
        }
        std::vector<double>& spent = kernels.empty() ? models : kernels;
        std::sort(spent.begin(), spent.end());
        const auto quantile = [&](double share) {
            return spent.empty() ? 0.0 : spent[static_cast<std::size_t>(share * static_cast<double>(spent.size() - 1))];
        };
        return {quantile(0.25), quantile(0.5), quantile(0.75)};
    }
    PricedRows collect() const {
        PricedRows priced;
        priced.seconds = costs();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Answer& answer = answers_[i];
            if (!answer.given()) continue;
            ++kept;
            const ReferenceRow& row = rowOf(i);
            priced.rows.predicted.push_back(answer.seconds);
            priced.rows.low.push_back(answer.low);
            priced.rows.high.push_back(answer.high);
            priced.rows.measured.push_back(row.seconds);
            priced.rows.flops.push_back(model(i) ? answer.flops : row.kernel.flops);
            priced.rows.bytes.push_back(model(i) ? answer.bytes : row.kernel.bytes());
            priced.rows.domain.push_back(answer.domain);
            priced.rows.ref.push_back(rows_[i]);
        }
        priced.notCovered = bound_ - kept;
        return priced;
    }

    std::span<const ReferenceTable> tables_;
    std::span<const RowRef> rows_;
    const EvaluateOptions& options_;
    Diagnostics& warnings_;
    std::vector<Answer> answers_;
    std::size_t bound_ = 0;
};

// A graph method's answers for some rows; rows that a graph cannot hold stay without one.
void priceThroughGraph(const Method& method, const StatedErrors* errors, const std::shared_ptr<const Hardware>& device,
                       const CalibrationSet& calibrations, const RowPricer& pricer,
                       std::span<const std::size_t> numbers, const EvaluateOptions& options,
                       std::vector<Answer>& answers) {
    auto workload = std::make_shared<Workload>();
    workload->id = workload->name = "reference kernels";
    std::vector<std::size_t> held;
    for (const auto number : numbers) {
        if (pricer.kernel(number).kind == KernelKind::Collective) continue;
        addOperator(workload->graph, pricer.kernel(number), toText(pricer.kernel(number)));
        held.push_back(number);
    }
    if (held.empty() || workload->graph.operators.size() != held.size()) return;
    workload->costs = costTable(workload->graph);
    // Facts of no transformer in particular: they let the methods that answer for transformers price single kernels.
    workload->transformer = TransformerFacts{};
    const auto serial = makeSerialExecutor();
    EstimateContext context{*serial, options.stop};
    context.wantTimeline = false;
    context.options = options.options;
    context.calibrations = &calibrations;
    const Scenario scenario{device, workload};
    Expected<Estimate> estimated = fail("study.cancelled", "not asked");
    const double spent = clockedAnew([&] { estimated = estimate(method, scenario, context); });
    if (!estimated || estimated->operators.size() != held.size()) {
        // One operator that the method refuses must not take the others with it.
        if (held.size() == 1) return;
        const auto half = held.size() / 2;
        priceThroughGraph(method, errors, device, calibrations, pricer, std::span(held).first(half), options, answers);
        priceThroughGraph(method, errors, device, calibrations, pricer, std::span(held).subspan(half), options,
                          answers);
        return;
    }
    const bool bound = estimated->interval.kind == IntervalKind::Bound;
    const auto view = deviceView(*device);
    for (std::size_t i = 0; i < held.size(); ++i) {
        Answer& answer = answers[held[i]];
        answer.seconds = answer.low = answer.high = estimated->operators.seconds[i];
        answer.cost = spent / static_cast<double>(held.size());
        if (estimated->operators.lowSeconds.size() == held.size() &&
            estimated->operators.highSeconds.size() == held.size()) {
            answer.low = estimated->operators.lowSeconds[i];
            answer.high = estimated->operators.highSeconds[i];
            continue;
        }
        if (!errors) {
            answer.guess();
            continue;
        }
        const auto bounds = moved(errorBounds(*errors, familyOf(workload->costs, i), answer.seconds), answer.seconds,
                                  view && !bound ? statedShift(*view, workload->costs, i) : 0);
        answer.low = bounds.low;
        answer.high = bounds.high;
    }
}

// Each model once: building it takes longer than most answers about it.
Expected<WorkloadPtr> loadedOnce(const WorkloadRecipe& recipe) {
    static std::mutex mutex;
    static std::vector<std::pair<WorkloadRecipe, WorkloadPtr>> kept;
    constexpr std::size_t most = 256;
    const std::scoped_lock lock(mutex);
    const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& each) { return each.first == recipe; });
    if (found != kept.end()) return found->second;
    auto loaded = loadWorkload(recipe);
    if (loaded && kept.size() < most) kept.emplace_back(recipe, *loaded);
    return loaded;
}

// A whole model as `run` answers it. Where the row says how its software launched and fused, and `asMeasured` is set,
// the method is asked so, as far as its options allow and the person chose no other.
void priceModel(const Method& method, const HardwarePtr& device, const ModelRow& row, std::string_view software,
                const CalibrationSet& calibrations, const EvaluateOptions& options, Answer& answer) {
    const auto workload = loadedOnce(row.recipe);
    if (!workload) return;
    const auto serial = makeSerialExecutor();
    EstimateContext context{*serial, options.stop};
    context.wantTimeline = false;
    context.options = options.options;
    if (options.asMeasured) {
        for (const auto& [key, value] : settingsOf(method.card, row)) context.options.try_emplace(key, value);
    }
    context.calibrations = &calibrations;
    Scenario scenario{device, *workload, row.plan, row.task};
    // What a stack of training is fitted to are steps themselves: those are asked as of no software in particular.
    if (options.asMeasured && kindOf(row.task) == TaskKind::Pass) scenario.software.engine = software;
    // A simulator of kernels would be asked for thousands of iterations: by what its card states, not by a clock.
    if (kindOf(row.task) == TaskKind::ServingRun && !expectedCost(method, scenario)) return;
    Expected<Estimate> estimated = fail("study.cancelled", "not asked");
    const double spent = clockedAnew([&] { estimated = estimate(method, scenario, context); });
    if (!estimated) return;
    answer.seconds = estimated->latency.value;
    answer.low = estimated->interval.low.value;
    answer.high = estimated->interval.high.value;
    // What offline benchmarks measure is the whole run; its latency is that of the mean request.
    if (kindOf(row.task) == TaskKind::ServingRun) {
        const auto named = std::find_if(estimated->figures.begin(), estimated->figures.end(),
                                        [](const Figure& each) { return each.label == "Makespan"; });
        answer = {};
        if (named == estimated->figures.end()) return;
        answer.seconds = answer.low = answer.high = named->value;
        if (named->interval) std::tie(answer.low, answer.high) = *named->interval;
    }
    answer.guess();
    answer.cost = spent;
    answer.flops = (*workload)->totals.flops;
    answer.bytes = (*workload)->totals.activationBytes + (*workload)->totals.weightBytesRead;
    if (estimated->support && estimated->support->outside > 0.5) answer.domain = DomainVerdict::Outside;
}

ModelPricing modelPricing(const Method* method, const RowPricer& pricer, const EvaluateOptions& options) {
    return [method, &pricer, &options](const std::string& id) -> Asking {
        const auto hardware = catalogueHardware(id);
        const auto calibrations = std::make_shared<const CalibrationSet>(askedAbout(id, options));
        return {[method, hardware, calibrations, &pricer, &options](std::span<const std::size_t> numbers,
                                                                    std::vector<Answer>& answers) {
            if (!method || !hardware) return;
            for (const std::size_t number : numbers) {
                if (options.stop.stop_requested()) return;
                priceModel(*method, hardware, *pricer.model(number), pricer.software(number), *calibrations, options,
                           answers[number]);
            }
        }};
    };
}

// On the first device of a design on which the method answers.
Expected<KernelPricerPtr> bindFirst(const KernelMethod& method, const HardwarePtr& design, const BindContext& context) {
    const auto places = devicesOf(design);
    if (!places) return tl::unexpected(places.error());
    Expected<KernelPricerPtr> bound = fail("hardware.no-device", "no device computes");
    for (const DeviceRef& place : *places) {
        bound = method.bind(place, context);
        if (bound) break;
    }
    return bound;
}

}  // namespace

OptionValues settingsOf(const MethodCard& card, const ModelRow& row) {
    OptionValues settings;
    for (const MethodOption& option : card.options) {
        const std::string& said = option.key == "launch"   ? row.launch
                                  : option.key == "fusion" ? row.fusion
                                                           : std::string();
        if (!said.empty() && std::find(option.choices.begin(), option.choices.end(), said) != option.choices.end())
            settings.emplace(option.key, said);
    }
    return settings;
}

OptionValues settingsOf(std::span<const MethodOption> options, const ReferenceTable& table) {
    OptionValues settings;
    if (table.weightCopies < 1) return settings;
    for (const MethodOption& option : options) {
        if (option.key == "copies") settings.emplace(option.key, std::to_string(table.weightCopies));
    }
    return settings;
}

namespace {

// One device's prices, as each table had its kernels measured.
class BoundAsMeasured {
public:
    static Expected<BoundAsMeasured> bind(const KernelMethod& method, const HardwarePtr& device,
                                          std::shared_ptr<const CalibrationSet> calibrations,
                                          std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                          const EvaluateOptions& options) {
        BoundAsMeasured out;
        out.calibrations_ = std::move(calibrations);
        out.byTable_.resize(tables.size());
        std::map<OptionValues, KernelPricerPtr> bound;
        for (const RowRef row : rows) {
            const auto at = static_cast<std::size_t>(row.table);
            if (out.byTable_[at]) continue;
            OptionValues asked = options.options;
            if (options.asMeasured) asked.merge(settingsOf(method.options, tables[at]));
            auto& known = bound[asked];
            if (!known) {
                auto made = bindFirst(method, device, {*out.calibrations_, asked, 0});
                if (!made) return tl::unexpected(std::move(made.error()));
                known = std::move(*made);
            }
            out.byTable_[at] = known;
        }
        return out;
    }
    const KernelPricer& of(std::size_t table) const { return *byTable_[table]; }

private:
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::vector<KernelPricerPtr> byTable_;
};

void priceBound(const BoundAsMeasured& bound, const Stacks& stacks, const RowPricer& pricer,
                std::span<const std::size_t> numbers, const EvaluateOptions& options, std::vector<Answer>& answers) {
    const auto serial = makeSerialExecutor();
    PriceContext context{*serial, options.stop};
    for (const auto number : numbers) {
        const Kernel& kernel = pricer.kernel(number);
        const KernelPricer& prices = bound.of(pricer.table(number));
        const Expected<KernelPrice> price = pricer.hostTimed(number) ? prices.priceByHost(kernel)
                                            : prices.instant()       ? prices.price(kernel)
                                                                     : prices.price(kernel, context);
        if (options.stop.stop_requested()) return;
        if (!price || !price->priced) continue;
        Answer& answer = answers[number];
        answer.seconds = price->seconds, answer.low = price->low, answer.high = price->high;
        answer.domain = price->domain;
        answer.guess();
        answer.doubt(stacks.of(pricer.software(number)), kernel);
    }
}

}  // namespace

Expected<PricedRows> priceKernels(const KernelMethod& method, std::span<const ReferenceTable> tables,
                                  std::span<const RowRef> rows, const EvaluateOptions& options, Diagnostics& warnings) {
    RowPricer pricer(tables, rows, options, warnings);
    return pricer.run(
        [&](const std::string& id) -> Expected<Asking> {
            const auto hardware = catalogueHardware(id);
            if (!hardware) return fail("hardware.unknown", fmt::format("the device '{}' cannot be loaded", id));
            const auto calibrations = std::make_shared<const CalibrationSet>(askedAbout(id, options));
            const auto stacks = std::make_shared<const Stacks>(method.id, *calibrations, hardware);
            const auto fresh = [&method, &pricer, &options, tables, rows, hardware, calibrations,
                                stacks]() -> Expected<Pricing> {
                auto bound = BoundAsMeasured::bind(method, hardware, calibrations, tables, rows, options);
                if (!bound) return tl::unexpected(std::move(bound.error()));
                return Pricing([&pricer, &options, stacks, bound = std::move(*bound)](
                                   std::span<const std::size_t> numbers, std::vector<Answer>& answers) {
                    priceBound(bound, *stacks, pricer, numbers, options, answers);
                });
            };
            auto first = fresh();
            if (!first) return tl::unexpected(std::move(first.error()));
            return Asking{std::move(*first), fresh};
        },
        kernelsPerStep, modelPricing(findMethod(method.id), pricer, options));
}

Expected<PricedRows> priceRows(const Method& method, std::span<const ReferenceTable> tables,
                               std::span<const RowRef> rows, const EvaluateOptions& options, Diagnostics& warnings) {
    if (const KernelMethod* kernels = findKernelMethod(method.card.id)) {
        return priceKernels(*kernels, tables, rows, options, warnings);
    }
    RowPricer pricer(tables, rows, options, warnings);
    const StatedErrors* errors = statedErrors(method.card.id);
    return pricer.run(
        [&](const std::string& id) -> Expected<Asking> {
            const auto hardware = catalogueHardware(id);
            if (!hardware) return fail("hardware.unknown", fmt::format("the device '{}' cannot be loaded", id));
            const auto calibrations = std::make_shared<const CalibrationSet>(askedAbout(id, options));
            return Asking{
                [&, hardware, calibrations](std::span<const std::size_t> numbers, std::vector<Answer>& answers) {
                    priceThroughGraph(method, errors, hardware, *calibrations, pricer, numbers, options, answers);
                }};
        },
        operatorsPerGraph, modelPricing(&method, pricer, options));
}

}  // namespace orrery
